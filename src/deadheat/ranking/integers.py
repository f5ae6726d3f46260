"""Scores as integers, so that ties are exact and do not depend on rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InputError

DECIMALS = 9  # scores with up to this many decimals are represented exactly
DIGITS = 9  # finer scores are rounded to this many digits of their range
# Means of up to 20 runs are exact too: those of 4 runs have two more decimals, those of 6 runs are multiples of 1/3.
RUNS = (1, 3, 7, 9, 11, 13, 17, 19)
Integers = NDArray[np.int64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class IntegerScores:
    """Scores in steps of 1 / unit above the lowest score on each data set; differences between systems are kept."""

    above_SD: Integers
    unit: float
    exact: bool  # whether no digit was lost

    @property
    def systems(self) -> int:
        return int(self.above_SD.shape[0])

    @property
    def datasets(self) -> int:
        return int(self.above_SD.shape[1])

    @property
    def sums_S(self) -> Integers:
        """The sum of each system over all data sets."""
        sums: Integers = self.above_SD.sum(axis=1)
        return sums


def integer_scores(scores_SD: ArrayLike) -> IntegerScores:
    """Scores as integers at their decimals; higher is better.

    The mean of n runs is a multiple of 1 / (n 10^d), where the runs have d decimals. If this holds for all scores, for
    some n up to 20, nothing is rounded. Otherwise each score is off by up to half a step, and a tie may be missed.
    """
    values = np.asarray(scores_SD, dtype=np.float64)
    if values.ndim != 2 or not values.size:
        shape = f"an array of shape {values.shape}"
        raise InputError(f"scores: {shape}; expected one row per system and one column per data set")
    if not np.isfinite(values).all():
        system, dataset = np.argwhere(~np.isfinite(values))[0]
        raise InputError(f"system {system + 1} on data set {dataset + 1}: score is not a number; expected one")
    largest = float(np.abs(values).max())
    units = (runs * 10.0**decimals for runs in RUNS for decimals in range(DECIMALS + 1))
    for unit in (unit for unit in units if largest * unit <= 2**53):
        scaled = values * unit
        # A decimal number times a power of ten misses its integer by a few units in the last place.
        if (np.abs(scaled - np.round(scaled)) <= 4e-16 * np.maximum(np.abs(scaled), 1) * 4).all():
            exact = True
            break
    else:
        spread = float(np.ptp(values, axis=0).max())
        unit = 10.0 ** (DIGITS - math.ceil(math.log10(spread))) if spread else 1.0
        scaled, exact = (values - values.min(axis=0)) * unit, False
    steps_SD = np.round(scaled).astype(np.int64)
    return IntegerScores(steps_SD - steps_SD.min(axis=0), unit, exact)


def ranks_of(sums: Integers) -> Integers:
    """Rank of every system by its sum, along the last axis: 1 plus the number of systems that are ahead of it."""
    ranks: Integers = 1 + (sums[..., None, :] > sums[..., :, None]).sum(axis=-1)
    return ranks
