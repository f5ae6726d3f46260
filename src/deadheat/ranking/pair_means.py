"""Mean differences of all pairs of systems over data sets, with Student's intervals and corrected p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.ranking.integers import IntegerScores
from deadheat.stats.checks import Values
from deadheat.stats.families import Family


@dataclass(frozen=True, slots=True)
class PairMean:
    """The mean difference of two systems, of the first minus the second in the ranking."""

    first: int  # position in the ranking
    second: int
    difference: float
    low: float  # of an interval as wide as the correction asks for; NaN with one data set
    high: float
    p: float  # corrected for all pairs
    detectable: float  # the smallest difference that as many data sets would show with power 0.8
    ahead: int  # data sets on which the first is ahead


def selected_pairs(scores: IntegerScores, order: Sequence[int], *, alpha: float, correction: str) -> list[PairMean]:
    """The best system against each other one, then the other neighbours in the ranking; `order` has the best first.

    Student's t-test of the mean over data sets, each with equal weight. Which systems are the best and neighbours was
    seen in the same scores, and so p-values and intervals are corrected for all pairs of systems: corrected for the
    2S - 3 selected pairs alone, something is shown for 8% of tables with 10 equal systems on 20 data sets.
    """
    ranked_SD = scores.above_SD[np.asarray(order)]
    systems, datasets = ranked_SD.shape
    means, errors = [], []
    for first in range(systems - 1):
        row_means, row_errors = _means(ranked_SD[first] - ranked_SD[first + 1 :], scores.unit)
        means.append(row_means)
        errors.append(row_errors)
    means_P, errors_P = np.concatenate(means), np.concatenate(errors)
    pairs = [(0, other) for other in range(1, systems)] + [(at, at + 1) for at in range(1, systems - 1)]
    places = [first * systems - first * (first + 1) // 2 + second - first - 1 for first, second in pairs]
    freedom_P, shown = np.full(len(means_P), datasets - 1.0), np.zeros(len(means_P), bool)
    shown[places] = True
    family = Family.of_arrays(means_P, errors_P, freedom_P, correction, alpha, shown=shown)
    result = []
    for (first, second), at in zip(pairs, places, strict=True):
        low, high, p, detectable = (
            float(column[at]) for column in (family.low_P, family.high_P, family.corrected_P, family.detectable_P)
        )
        ahead = int((ranked_SD[first] > ranked_SD[second]).sum())
        result.append(PairMean(first, second, float(means_P[at]), low, high, p, detectable, ahead))
    return result


def _means(steps_PD: np.ndarray, unit: float) -> tuple[Values, Values]:
    """The mean of each row and its standard error, which is NaN with one data set."""
    datasets = steps_PD.shape[1]
    means_P = steps_PD.sum(axis=1) / (datasets * unit)
    if datasets < 2:
        return means_P, np.full(len(means_P), math.nan)
    errors_P = (steps_PD / unit).std(axis=1, ddof=1) / math.sqrt(datasets)
    errors_P[np.ptp(steps_PD, axis=1) == 0] = 0.0
    return means_P, errors_P
