"""What a study of test set sizes found: curves of every test set, in words, beside what was published."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from deadheat.metrics import Metric
from deadheat.ranking.sizes import SetSizes, SizeCurve, SizePoint
from deadheat.ranking.sizes_settings import SizeSettings
from deadheat.stats.checks import Values
from deadheat.study.tally import Tally
from deadheat.text import pluralize
from deadheat.version import __version__


@dataclass(frozen=True, slots=True)
class Published:
    """A size that van der Goot et al. (2024) found to be enough, and for what."""

    words: int
    setup: str


PUBLISHED = (
    Published(2_000, "another language than that of training"),
    Published(5_000, "the same language, the same or another domain, test data distant from training data"),
    Published(10_000, "the same language, test data that may be close to training data"),
)


# Why no size is called enough.
ONE_SAMPLE = "one sample only"
NONE_ENOUGH = "no size tried is enough"


@dataclass(frozen=True, slots=True, eq=False)
class SizeStudy:
    """Rankings on samples of test sets against the rankings on everything, or on the rest."""

    metric: Metric
    settings: SizeSettings
    sets: tuple[SetSizes, ...]
    overall: SetSizes | None = None  # of the mean score over all sets
    between_DD: Values | None = None  # tau of the whole rankings of every two sets, where they rank the same systems
    runs: int = 0
    alignment: str = ""
    notes: tuple[str, ...] = ()
    looks: tuple[Tally, ...] = ()  # how often the test sets were looked at, this time included

    @property
    def blocks(self) -> tuple[SetSizes, ...]:
        """Every set, then all together."""
        return self.sets if self.overall is None else (*self.sets, self.overall)

    @property
    def signature(self) -> str:
        """All that the numbers depend on, to quote in a paper."""
        own = self.settings
        return " | ".join(
            [
                f"deadheat {__version__}",
                self.metric.name,
                *([f"align {self.alignment}"] if self.alignment else []),
                f"{pluralize(len(self.sets), 'test set')}, {pluralize(self.runs, 'run')}",
                f"seeds {own.seeds}",
                f"weighted tau against {own.against}",
                f"{own.draws} draws of {' '.join(own.ways)}",
                f"tau >= {own.threshold:g} in {100 * own.confidence:g} %",
                f"seed {own.seed}",
            ]
        )

    def smallest(self, curve: SizeCurve) -> SizePoint | None:
        """The smallest size of a curve that is enough, by the threshold and the confidence asked for."""
        return curve.smallest(threshold=self.settings.threshold, confidence=self.settings.confidence)

    def enough_everywhere(self, way: str) -> int | None:
        """The smallest number of words that is enough in every test set; None if in one no size is."""
        found = [self.smallest(curve) for each in self.sets for curve in each.curves if curve.way == way]
        return max(point.size for point in found if point) if all(found) else None

    def answers(self, block: SetSizes) -> list[str]:
        """For each way, in words, how much is enough, and what the published sizes are beside it."""
        return [self._answer(block, curve) for curve in block.curves]

    def _answer(self, block: SetSizes, curve: SizeCurve) -> str:
        own = self.settings
        other = f"all {block.words:,} words" if own.against == "all" else "the rest"
        each = " of each set" if block is self.overall else ""
        found = self.smallest(curve)
        if found is None:
            largest = [point for point in curve.points if not point.whole][-1]
            at = f"at {largest.size:,} words{each} tau with the ranking on {other} is"
            if curve.draws == 1:
                tau = "undefined" if math.isnan(largest.mean) else f"{largest.mean:.3f}"
                return f"{curve.way}: {ONE_SAMPLE}; no claim; {at} {tau}"
            return f"{curve.way}: {NONE_ENOUGH}; {at} at least {own.threshold:g} {self._hits(largest)}"
        near = own.against == "all" and self._mostly_everything(block, found)
        doubt = " (more than half of everything, and so like it by construction)" if near else ""
        return (
            f"{curve.way}: {found.size:,} words{each} are enough{doubt}; tau with the ranking on {other} is at least "
            f"{own.threshold:g} {self._hits(found)}, and stays so at every larger size; {beside_published(found.size)}"
        )

    def _hits(self, point: SizePoint) -> str:
        """In how many draws the threshold is reached, and what share of all possible draws that may stand for."""
        low, high = point.share(self.settings.threshold).bounds
        hits = f"{point.reached(self.settings.threshold)} of {pluralize(len(point.tau_B), 'draw')}"
        return f"in {hits} ({100 * low:.0f} to {100 * high:.0f} %)"

    def reason(self, curve: SizeCurve) -> str | None:
        """Why no size of a curve is called enough; None if one is."""
        if self.smallest(curve):
            return None
        return ONE_SAMPLE if curve.draws == 1 else NONE_ENOUGH

    def _mostly_everything(self, block: SetSizes, point: SizePoint) -> bool:
        """Whether a sample has more than half of all words; of all sets together it takes so many of each."""
        sets = self.sets if block is self.overall else (block,)
        return 2 * sum(min(point.size, each.words) for each in sets) > sum(each.words for each in sets)

    def published(self, block: SetSizes) -> list[dict[str, Any]]:
        """What the published sizes would have given here: tau and the share of draws above the threshold, a way."""
        rows: list[dict[str, Any]] = []
        for known in PUBLISHED:
            row: dict[str, Any] = {"words": known.words, "setup": known.setup}
            for curve in block.curves:
                at = next((point for point in curve.points if point.size == known.words and not point.whole), None)
                shares = at and {"tau": at.mean, "share": at.reached(self.settings.threshold) / len(at.tau_B)}
                row[curve.way] = shares
            rows.append(row)
        return rows

    def __str__(self) -> str:
        lines = [line for block in self.blocks for line in (str(block), *self.answers(block))]
        return "\n".join([*lines, self.signature])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the command prints them under `--json`."""
        own = self.settings
        found = {
            "kind": "size",
            "metric": self.metric.name,
            "threshold": own.threshold,
            "confidence": own.confidence,
            "seeds": own.seeds,
            "against": own.against,
            "draws": own.draws,
            "seed": own.seed,
            "sets": [self._block(each) for each in self.sets],
            "overall": self._block(self.overall) if self.overall else None,
            "enough_in_every_set": {way: self.enough_everywhere(way) for way in own.ways},
            "between_sets": None if self.between_DD is None else self.between_DD.tolist(),
            "signature": self.signature,
            "notes": list(self.notes),
        }
        return found | ({"looks": [each.to_dict() for each in self.looks]} if self.looks else {})

    def _block(self, block: SetSizes) -> dict[str, Any]:
        systems = [{"system": block.systems[at], "score": float(block.scores_S[at])} for at in block.order]
        ways = []
        for curve, answer in zip(block.curves, self.answers(block), strict=True):
            enough = self.smallest(curve)
            points = [point.to_dict(self.settings) for point in curve.points]
            told = {"enough": enough and enough.size, "reason": self.reason(curve), "answer": answer}
            ways.append({"way": curve.way, **told, "sizes": points})
        return {
            "set": block.name,
            "words": block.words,
            "units": block.units,
            "unit": block.unit,
            "systems": systems,
            "ways": ways,
            "published": self.published(block),
        }

    def to_latex(self) -> str:
        """Mean tau by test set, way and size, what is enough in bold, for the booktabs package."""
        from deadheat.analyses.latex import joined
        from deadheat.analyses.latex_tables import size_tables

        return joined(size_tables(self.to_dict()))


def beside_published(size: int) -> str:
    """How a size compares with the published ones.

    Examples
    --------
    >>> beside_published(5_000)
    'that is more than 2,000, as much as 5,000 and less than 10,000 (van der Goot et al. 2024)'
    """
    relations = ("more than", "as much as", "less than")
    told = [f"{relations[1 + (known.words > size) - (known.words < size)]} {known.words:,}" for known in PUBLISHED]
    return f"that is {', '.join(told[:-1])} and {told[-1]} (van der Goot et al. 2024)"
