"""Mean differences of all pairs of systems over data sets, with Student's intervals and corrected p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.ranking.integers import IntegerScores
from deadheat.stats.checks import Values
from deadheat.stats.corrections import correct_defined, decision_levels
from deadheat.stats.estimates import Estimate


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
    means_SS, errors_SS, p_SS = (np.full((systems, systems), math.nan) for _ in range(3))
    for first in range(systems - 1):
        rest = slice(first + 1, None)
        means_SS[first, rest], errors_SS[first, rest] = _means(ranked_SD[first] - ranked_SD[rest], scores.unit)
        p_SS[first, rest] = _p_values(means_SS[first, rest], errors_SS[first, rest], datasets - 1)
    every = np.triu_indices(systems, 1)
    levels_SS, corrected_SS = np.full_like(p_SS, math.nan), np.full_like(p_SS, math.nan)
    levels_SS[every] = decision_levels(p_SS[every], correction, alpha)
    corrected_SS[every] = correct_defined(p_SS[every], correction)
    pairs = [(0, other) for other in range(1, systems)] + [(at, at + 1) for at in range(1, systems - 1)]
    result = []
    for first, second in pairs:
        level = float(levels_SS[first, second])
        mean, error = float(means_SS[first, second]), float(errors_SS[first, second])
        low, high, detectable = math.nan, math.nan, math.nan
        if not math.isnan(level):
            estimate = Estimate(mean, error, datasets - 1)
            bounds = estimate.interval(1 - level)
            low, high, detectable = bounds.low, bounds.high, estimate.detectable(level)
        ahead = int((ranked_SD[first] > ranked_SD[second]).sum())
        p = float(corrected_SS[first, second])
        result.append(PairMean(first, second, mean, low, high, p, detectable, ahead))
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


def _p_values(means_P: Values, errors_P: Values, freedom: int) -> Values:
    """As `Estimate.p` of each mean."""
    from scipy.special import stdtr

    with np.errstate(divide="ignore", invalid="ignore"):
        p_P: Values = 2 * stdtr(freedom, -np.abs(means_P) / errors_P)
    same = errors_P == 0
    p_P[same] = np.where(means_P[same] == 0, 1.0, 2.0**-freedom)
    return p_P
