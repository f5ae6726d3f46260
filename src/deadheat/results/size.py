"""How much of a test set is sufficient to rank systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from deadheat.ranking.size_samples import SizeSettings
from deadheat.results.base import Result
from deadheat.results.format import Scale
from deadheat.results.ledger import Tally
from deadheat.text import pluralize


@dataclass(frozen=True, slots=True)
class AsoAgreement:
    """How far almost stochastic order over runs differs between samples and the data they are compared with.

    `disagreement` is the share of ordered pairs of systems for which eps_min < 0.5 on one side only, `distance` the
    mean absolute difference of eps_min; both are means over draws.
    """

    draws: int
    systems: int  # with at least two runs
    disagreement: float
    distance: float
    largest_disagreement: float


@dataclass(frozen=True, slots=True)
class SizePoint:
    """Samples of one size, and weighted Kendall's tau of their rankings with the ranking they are compared with."""

    words: int
    whole: bool  # the size is the whole test set
    units: float  # in a sample, on average
    draws: int
    tau: float  # mean over draws
    low: float  # the middle of the draws lies between low and high, as many as the confidence says
    high: float
    undefined: int  # draws without a tau, because all systems are tied
    reached: int  # draws whose tau is at least the threshold
    share_low: float  # Wilson's 95% interval for the share of all possible draws that reach the threshold
    share_high: float
    aso: AsoAgreement | None = None

    @property
    def share(self) -> float:
        """Of draws that reach the threshold."""
        return self.reached / self.draws


@dataclass(frozen=True, slots=True)
class SizeCurve:
    """One sampling strategy, from the smallest size to the largest."""

    strategy: str
    points: tuple[SizePoint, ...]
    sufficient: int | None  # the smallest sufficient size in words; None if no size is, or there is a single draw

    @property
    def draws(self) -> int:
        return self.points[0].draws

    @property
    def samples(self) -> list[SizePoint]:
        """The sizes below the whole test set."""
        return [point for point in self.points if not point.whole]

    def at(self, words: int) -> SizePoint | None:
        """The samples of a size, if there are any."""
        return next((point for point in self.samples if point.words == words), None)


@dataclass(frozen=True, slots=True)
class SystemScore:
    """A system and its score on a whole test set."""

    system: str
    score: float


@dataclass(frozen=True, slots=True)
class SetSizes:
    """A test set, or all of them together: the ranking on all of it, and one curve per sampling strategy."""

    name: str
    words: int
    units: int
    unit: str
    systems: tuple[SystemScore, ...]  # best first
    curves: tuple[SizeCurve, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SizeStudy(Result):
    """Rankings on samples of test sets, compared with the rankings on all of them or on the rest."""

    kind: ClassVar[str] = "size"

    metric: str
    metric_name: str
    settings: SizeSettings
    sets: tuple[SetSizes, ...]
    scale: Scale
    overall: SetSizes | None = None  # by the mean score over all test sets
    # Tau of the rankings on any two whole test sets, if systems are the same.
    between: tuple[tuple[float, ...], ...] = ()
    runs: int = 0
    align: str = ""
    notes: tuple[str, ...] = ()
    evaluations: tuple[Tally, ...] = ()

    def sufficient_everywhere(self) -> Mapping[str, int | None]:
        """For each strategy, the smallest size that is sufficient on every test set; None if some set has none."""
        sizes: dict[str, int | None] = {}
        for at, strategy in enumerate(self.settings.strategies):
            smallest = [test_set.curves[at].sufficient for test_set in self.sets]
            sizes[strategy] = None if None in smallest else max(size for size in smallest if size is not None)
        return sizes

    def signature_parts(self) -> Iterable[str]:
        settings = self.settings
        return (
            self.metric_name,
            self.align and f"align {self.align}",
            f"{pluralize(len(self.sets), 'test set')}, {pluralize(self.runs, 'run')}",
            f"runs {settings.runs}",
            f"weighted tau against {settings.against}",
            f"{settings.draws} draws of {' '.join(settings.strategies)}",
            f"tau >= {settings.threshold:g} in {100 * settings.confidence:g}%",
            f"seed {settings.seed}",
        )
