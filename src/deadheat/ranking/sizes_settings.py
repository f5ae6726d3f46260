"""How samples of a test set are drawn and judged."""

from __future__ import annotations

from dataclasses import dataclass

from deadheat.errors import InputError, NameUnknown
from deadheat.splits.drawing import SAMPLING_METHODS
from deadheat.stats.checks import check_number

SIZES = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)  # those of van der Goot et al. (2024), before everything
AGAINST = ("all", "rest")
SEEDS = ("average", "separate")
EXPECTED_SIZES = "rising numbers of words, such as 100,200,500, and all at the end if wanted"


@dataclass(frozen=True, slots=True)
class SizeSettings:
    """How samples of a test set are drawn, what their rankings are held against, and what is asked of them."""

    sizes: tuple[int, ...] = SIZES
    whole: bool = True  # everything is shown as a size too, except against the rest
    ways: tuple[str, ...] = SAMPLING_METHODS
    draws: int = 100
    seeds: str = "average"  # runs of a system: their mean, or each as a system of its own
    against: str = "all"  # the ranking on everything, or on what is not in the sample
    threshold: float = 0.9
    confidence: float = 0.95
    seed: int = 0
    aso_draws: int = 20  # draws for which almost stochastic order is worked out, where systems have runs

    def __post_init__(self) -> None:
        if not self.sizes or self.sizes[0] < 1 or any(a >= b for a, b in zip(self.sizes, self.sizes[1:], strict=False)):
            shown = ",".join(map(str, self.sizes))
            raise InputError(f"sizes {shown!r}; expected {EXPECTED_SIZES}")
        for way in self.ways:
            if way not in SAMPLING_METHODS:
                raise NameUnknown("way to sample", way, SAMPLING_METHODS)
        if not self.ways or len(set(self.ways)) < len(self.ways):
            raise InputError(f"ways {','.join(self.ways)!r}; expected some of {', '.join(SAMPLING_METHODS)}, each once")
        for kind, value, known in (("seeds", self.seeds, SEEDS), ("against", self.against, AGAINST)):
            if value not in known:
                raise NameUnknown(kind, value, known)
        check_number("size", "draws", self.draws, least=1)
        check_number("size", "aso draws", self.aso_draws, least=0)
        if not -1 < self.threshold <= 1:
            raise InputError(f"threshold {self.threshold}; expected a tau above -1 and at most 1, such as 0.9")
        if not 0 < self.confidence < 1:
            raise InputError(f"confidence {self.confidence}; expected between 0 and 1, such as 0.95")


def parse_sizes(text: str) -> tuple[tuple[int, ...], bool]:
    """Sizes in words, and whether everything is one of them.

    Examples
    --------
    >>> parse_sizes("100,2000,all")
    ((100, 2000), True)
    """
    pieces = [piece.strip().replace("_", "") for piece in text.split(",")]
    whole = pieces[-1].lower() == "all"
    numbers = pieces[:-1] if whole else pieces
    if not numbers or not all(piece.isascii() and piece.isdigit() for piece in numbers):
        raise InputError(f"sizes {text!r}; expected {EXPECTED_SIZES}")
    return tuple(map(int, numbers)), whole
