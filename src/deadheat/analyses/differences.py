"""By how much one system exceeds another on the same test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from deadheat.analyses.score import Score
from deadheat.errors import InputError
from deadheat.metrics import error_reduction
from deadheat.stats.intervals import Interval, difference

WIN, DEAD_HEAT = "a win", "a dead heat"


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """Two scores of one metric, the better first, and the interval of what lies between them."""

    better: Score
    worse: Score
    interval: Interval

    @property
    def value(self) -> float:
        return self.better.value - self.worse.value

    @property
    def error_reduction(self) -> float:
        return error_reduction(self.worse.value, self.better.value)

    @property
    def verdict(self) -> str:
        """A win if the interval leaves zero out."""
        return WIN if self.interval.low > 0 else DEAD_HEAT

    def __str__(self) -> str:
        return (
            f"{self.better.file} - {self.worse.file}: {self.value:+.4f} {self.interval} {self.better.metric.label}, "
            f"{self.verdict}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "better": self.better.file,
            "worse": self.worse.file,
            "metric": self.better.metric.label,
            "difference": self.value,
            "low": self.interval.low,
            "high": self.interval.high,
            "error_reduction": self.error_reduction,
            "verdict": self.verdict,
        }


def differences(
    scores: Sequence[Score], *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> tuple[Difference, ...]:
    """Paired bootstrap of every two scores of one metric over the same units.

    Each pair stands alone here: with many systems the chance that one of the intervals misses grows.
    """
    if len({score.metric.name for score in scores}) > 1:
        raise InputError("differences between several metrics; expected scores of one")
    ranked = sorted(scores, key=lambda score: -score.value)
    return tuple(
        Difference(
            a,
            b,
            difference(
                a.counts_NF,
                b.counts_NF,
                a.metric.value,
                rng=np.random.default_rng(seed),
                level=level,
                resamples=resamples,
            ),
        )
        for a, b in combinations(ranked, 2)
    )
