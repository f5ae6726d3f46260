"""How often almost stochastic order finds a difference among several systems that are all equal."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deadheat.errors import InputError
from deadheat.stats.aso import TAUS

SYSTEMS, RUNS = (2, 3, 5, 10, 20), (2, 3, 5, 10, 20, 50)
ALPHAS = (0.1, 0.05, 0.01)
RESAMPLES = 1000  # of the bootstrap; with fewer, there are more false alarms

# Number of systems -> runs of each -> for every one of ALPHAS, how often some pair has a bound below 0.2 and below 0.5,
# where all scores have the same normal distribution and alpha is divided by the number of pairs. By simulation, 10,000
# tables for up to 5 systems, 2,000 for 10 and 500 for 20 (tests/ranking/test_aso_rates.py); standard errors are at most
# 0.005, 0.011 and 0.022.
FALSE_ALARMS: Mapping[int, Mapping[int, tuple[tuple[float, float], ...]]] = {
    2: {
        2: ((0.3389, 0.5922), (0.3389, 0.4839), (0.3389, 0.3412)),
        3: ((0.2167, 0.5901), (0.1807, 0.4318), (0.1438, 0.2902)),
        5: ((0.1472, 0.5704), (0.1058, 0.3904), (0.073, 0.2299)),
        10: ((0.1099, 0.5451), (0.0698, 0.3795), (0.0404, 0.2014)),
        20: ((0.0877, 0.5239), (0.0532, 0.3669), (0.0273, 0.1832)),
        50: ((0.076, 0.4885), (0.042, 0.3446), (0.0191, 0.1694)),
    },
    3: {
        2: ((0.6013, 0.7444), (0.6013, 0.639), (0.6013, 0.6013)),
        3: ((0.3636, 0.6571), (0.3396, 0.5928), (0.3143, 0.4938)),
        5: ((0.2239, 0.6021), (0.1991, 0.5046), (0.1621, 0.383)),
        10: ((0.1453, 0.5666), (0.1184, 0.4619), (0.0841, 0.3189)),
        20: ((0.1087, 0.5469), (0.0824, 0.4324), (0.0532, 0.2845)),
        50: ((0.0854, 0.5497), (0.0632, 0.4328), (0.0384, 0.2731)),
    },
    5: {
        2: ((0.8749, 0.8779), (0.8749, 0.875), (0.8749, 0.8749)),
        3: ((0.6013, 0.8326), (0.5885, 0.7995), (0.5696, 0.7451)),
        5: ((0.3991, 0.7578), (0.3728, 0.7071), (0.3302, 0.6263)),
        10: ((0.2522, 0.7096), (0.2245, 0.6412), (0.1782, 0.5309)),
        20: ((0.1778, 0.6729), (0.1517, 0.6), (0.1156, 0.4738)),
        50: ((0.1278, 0.6529), (0.1046, 0.5677), (0.0714, 0.425)),
    },
    10: {
        2: ((0.995, 0.995), (0.995, 0.995), (0.995, 0.995)),
        3: ((0.908, 0.9785), (0.906, 0.9745), (0.895, 0.9665)),
        5: ((0.719, 0.9345), (0.701, 0.9195), (0.667, 0.8935)),
        10: ((0.506, 0.9035), (0.4775, 0.8765), (0.434, 0.8285)),
        20: ((0.3535, 0.863), (0.3225, 0.8295), (0.263, 0.761)),
        50: ((0.2615, 0.8625), (0.2345, 0.8175), (0.188, 0.726)),
    },
    20: {
        2: ((1, 1), (1, 1), (1, 1)),
        3: ((0.994, 1), (0.994, 1), (0.994, 1)),
        5: ((0.946, 0.994), (0.93, 0.994), (0.918, 0.988)),
        10: ((0.786, 0.988), (0.766, 0.986), (0.72, 0.976)),
        20: ((0.628, 0.974), (0.604, 0.968), (0.57, 0.944)),
        50: ((0.472, 0.978), (0.438, 0.956), (0.388, 0.932)),
    },
}


@dataclass(frozen=True, slots=True)
class AsoFalseAlarms:
    """How often some pair of as many equal systems has a bound below 0.2 and below 0.5, with 1,000 resamples."""

    systems: int
    fewest_runs: int
    most_runs: int
    alpha: float  # of the table, the nearest to the one that was asked for
    below_02: float
    below_05: float


def aso_false_alarms(runs: Sequence[int], alpha: float) -> AsoFalseAlarms | None:
    """The rates for systems with these numbers of runs; None where a system has one run, and so no bound.

    Interpolated in the logarithms of the number of systems and of the harmonic mean of the numbers of runs; outside the
    table, the nearest entry.

    Examples
    --------
    >>> rates = aso_false_alarms([5] * 5, 0.05)
    >>> round(rates.below_02, 2), round(rates.below_05, 2)
    (0.37, 0.71)
    """
    if len(runs) < 2:
        raise InputError(f"false alarms of {len(runs)} system; expected at least two to compare")
    if min(runs) < 2:
        return None
    at = min(range(len(ALPHAS)), key=lambda i: abs(math.log(ALPHAS[i] / alpha)))
    mean = len(runs) / sum(1 / number for number in runs)
    rates = [
        sum(
            weight * share * FALSE_ALARMS[systems][number][at][tau]
            for systems, weight in _neighbours(SYSTEMS, len(runs))
            for number, share in _neighbours(RUNS, mean)
        )
        for tau in range(len(TAUS))
    ]
    return AsoFalseAlarms(len(runs), min(runs), max(runs), ALPHAS[at], *rates)


def _neighbours(entries: Sequence[int], value: float) -> list[tuple[int, float]]:
    """The entries on either side of a value, with their weights by its logarithm."""
    inside = min(max(value, entries[0]), entries[-1])
    above = min(bisect_right(entries, inside), len(entries) - 1)
    low, high = entries[above - 1], entries[above]
    weight = math.log(inside / low) / math.log(high / low)
    return [(low, 1 - weight), (high, weight)]
