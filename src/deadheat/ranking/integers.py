"""Scores as integers, so that ties are ties and not a matter of rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InputError
from deadheat.stats.checks import Values

DECIMALS = 9  # scores of so many decimals are taken as they stand
DIGITS = 9  # finer ones are rounded to so many digits of their range
# Means of up to 20 runs are taken as they stand too: those of 4 have two more decimals, those of 6 are such thirds.
RUNS = (1, 3, 7, 9, 11, 13, 17, 19)
Whole = NDArray[np.int64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class WholeScores:
    """Scores counted in steps of 1 / unit, from the least score of each data set on: differences are what they were."""

    above_SD: Whole
    unit: float
    exact: bool  # whether no digit was lost

    @property
    def systems(self) -> int:
        return int(self.above_SD.shape[0])

    @property
    def datasets(self) -> int:
        return int(self.above_SD.shape[1])


def whole_scores(scores_SD: ArrayLike) -> WholeScores:
    """Scores as integers at their decimals; more is better.

    Notes
    -----
    The mean of n runs is a whole number of steps of 1 / (n 10^d), where the runs have d decimals. Where that holds of
    all scores, for n up to 20, nothing is rounded. Else each is off by up to half a step, and a tie may be missed.

    Examples
    --------
    >>> found = whole_scores([[90.1, 80.25], [90.3, 80.2]])
    >>> found.above_SD, found.unit
    (array([[ 0,  5],
           [20,  0]]), 100.0)
    """
    values = np.asarray(scores_SD, dtype=np.float64)
    if values.ndim != 2 or not values.size:
        raise InputError(f"scores: an array of shape {values.shape}; expected a row a system and a column a data set")
    if not np.isfinite(values).all():
        system, dataset = np.argwhere(~np.isfinite(values))[0]
        raise InputError(f"system {system + 1} on data set {dataset + 1}: a score that is no number; expected one")
    greatest = float(np.abs(values).max())
    for unit in (runs * 10.0**decimals for runs in RUNS for decimals in range(DECIMALS + 1)):
        scaled = values * unit
        if greatest * unit > 2**53:
            continue
        # A decimal number times a power of ten misses its integer by a few units in the last place.
        if (np.abs(scaled - np.round(scaled)) <= 4e-16 * np.maximum(np.abs(scaled), 1) * 4).all():
            return _above(np.round(scaled).astype(np.int64), unit, exact=True)
    return _rounded(values)


def _rounded(values_SD: Values) -> WholeScores:
    spread = float(np.ptp(values_SD, axis=0).max())
    unit = 10.0 ** (DIGITS - math.ceil(math.log10(spread))) if spread else 1.0
    steps = np.round((values_SD - values_SD.min(axis=0)) * unit)
    return _above(steps.astype(np.int64), unit, exact=False)


def _above(whole_SD: Whole, unit: float, *, exact: bool) -> WholeScores:
    return WholeScores(whole_SD - whole_SD.min(axis=0), unit, exact)


def ranks_of(sums: NDArray[np.int64]) -> Whole:
    """Rank of every system by its sum, along the last axis: 1 and the number of systems that are ahead of it.

    Examples
    --------
    >>> ranks_of(np.array([5, 9, 5, 2]))
    array([2, 1, 2, 4])
    """
    ranks: Whole = 1 + (sums[..., None, :] > sums[..., :, None]).sum(axis=-1)
    return ranks
