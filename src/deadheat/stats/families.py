"""Many estimates that are tested together: corrected p-values, and intervals that agree with them.

The same as `Estimate` one at a time, for half a million pairs of a thousand systems.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.stats.checks import Values
from deadheat.stats.corrections import correct_defined, decision_levels
from deadheat.stats.estimates import FAR, Estimate
from deadheat.stats.intervals import Interval

MOST_FREEDOM = 1e6  # degrees of freedom from which on the noncentral t distribution is normal
TARGET_POWER = 0.8


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Estimates with their p-values, corrected for their number; the level of each interval is that of its test."""

    p_P: Values
    corrected_P: Values
    levels_P: Values
    low_P: Values
    high_P: Values
    detectable_P: Values  # the smallest true value that is shown with power 0.8

    @classmethod
    def of(
        cls, estimates: Sequence[Estimate], correction: str, alpha: float, *, p_values: ArrayLike | None = None
    ) -> Family:
        """From all estimates, and the p-values of other tests if those decide."""
        table = np.array([(item.value, item.error, item.freedom) for item in estimates]).reshape(-1, 3)
        values_P, errors_P, freedom_P = table.T
        return cls.of_arrays(values_P, errors_P, freedom_P, correction, alpha, p_values=p_values)

    @classmethod
    def of_arrays(
        cls,
        values_P: Values,
        errors_P: Values,
        freedom_P: Values,
        correction: str,
        alpha: float,
        *,
        p_values: ArrayLike | None = None,
        shown: NDArray[np.bool_] | None = None,
    ) -> Family:
        """From the values, standard errors and degrees of freedom of all estimates; intervals of all, or of some."""
        from scipy.special import nctdtrinc, stdtrit

        own_P = two_sided_p(values_P, errors_P, freedom_P)
        p_P = own_P if p_values is None else np.asarray(p_values, np.float64)
        levels_P = decision_levels(p_P, correction, alpha)
        levels_P = np.where(np.isnan(levels_P), alpha, levels_P)
        confidence_P, defined_P = 1 - levels_P, ~np.isnan(own_P) & (True if shown is None else shown)
        reach_P = np.full(len(p_P), math.nan)
        bounded_P = defined_P & ~((errors_P == 0) & (values_P != 0) & (own_P > 1 - confidence_P))
        reach_P[bounded_P] = stdtrit(freedom_P[bounded_P], (1 + confidence_P[bounded_P]) / 2) * errors_P[bounded_P]
        detectable_P, varied_P = np.full(len(p_P), math.nan), defined_P & (errors_P > 0)
        bound_P = np.full(len(p_P), math.inf)
        bound_P[varied_P] = stdtrit(freedom_P[varied_P], 1 - levels_P[varied_P] / 2)
        near_P = bound_P <= FAR
        freedom, bound = freedom_P[near_P], bound_P[near_P]
        shift = nctdtrinc(np.minimum(freedom, MOST_FREEDOM), 1 - TARGET_POWER, bound)
        shift = np.where(np.isfinite(shift), shift, bound + stdtrit(freedom, TARGET_POWER))
        detectable_P[near_P] = shift * errors_P[near_P]
        corrected_P = correct_defined(p_P, correction)
        return cls(p_P, corrected_P, levels_P, values_P - reach_P, values_P + reach_P, detectable_P)

    def intervals(self, most: float = math.inf) -> Iterator[Interval]:
        """All intervals, which do not go beyond what is possible."""
        bounds = np.maximum(self.low_P, -most), np.minimum(self.high_P, most), 1 - self.levels_P
        for low, high, level in zip(*(column.tolist() for column in bounds), strict=True):
            yield Interval(low, high, level, "t")


def two_sided_p(values_P: Values, errors_P: Values, freedom_P: Values) -> Values:
    """As `Estimate.p` of each."""
    from scipy.special import stdtr

    with np.errstate(divide="ignore", invalid="ignore"):
        p_P: Values = 2 * stdtr(freedom_P, -np.abs(values_P) / errors_P)
    same_P = errors_P == 0
    p_P[same_P] = np.where(values_P[same_P] == 0, 1.0, 2.0 ** -freedom_P[same_P])
    p_P[~(np.isfinite(values_P) & (errors_P >= 0) & (freedom_P > 0))] = math.nan
    return p_P


def mean_estimates(values_PD: Values) -> list[Estimate]:
    """As `mean_estimate` of each row."""
    rows, number = values_PD.shape
    means_P = values_PD.mean(axis=1)
    if number < 2:
        return [Estimate(mean, math.nan, math.nan) for mean in means_P.tolist()]
    varied_P = np.ptp(values_PD, axis=1) > 1e-12 * np.abs(values_PD).max(axis=1)
    errors_P = np.zeros(rows)
    errors_P[varied_P] = values_PD[varied_P].std(axis=1, ddof=1)
    errors_P /= math.sqrt(number)
    return [Estimate(mean, error, number - 1) for mean, error in zip(means_P.tolist(), errors_P.tolist(), strict=True)]
