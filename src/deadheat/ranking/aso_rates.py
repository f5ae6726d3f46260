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
        2: ((0.3495, 0.579), (0.3495, 0.4825), (0.3495, 0.352)),
        3: ((0.2205, 0.605), (0.188, 0.4345), (0.1515, 0.2885)),
        5: ((0.145, 0.574), (0.1095, 0.396), (0.0755, 0.225)),
        10: ((0.115, 0.56), (0.0755, 0.3965), (0.048, 0.2155)),
        20: ((0.0815, 0.52), (0.044, 0.3615), (0.0215, 0.1695)),
        50: ((0.0765, 0.483), (0.0435, 0.337), (0.021, 0.1635)),
    },
    3: {
        2: ((0.6035, 0.7505), (0.6035, 0.647), (0.6035, 0.6035)),
        3: ((0.358, 0.6595), (0.328, 0.5935), (0.302, 0.4975)),
        5: ((0.2255, 0.594), (0.1985, 0.5085), (0.159, 0.3905)),
        10: ((0.154, 0.575), (0.125, 0.4715), (0.091, 0.324)),
        20: ((0.1205, 0.555), (0.092, 0.4465), (0.059, 0.3085)),
        50: ((0.0855, 0.542), (0.063, 0.422), (0.035, 0.26)),
    },
    5: {
        2: ((0.88, 0.882), (0.88, 0.88), (0.88, 0.88)),
        3: ((0.5925, 0.8275), (0.58, 0.7935), (0.56, 0.7355)),
        5: ((0.394, 0.751), (0.365, 0.7025), (0.3275, 0.621)),
        10: ((0.256, 0.708), (0.23, 0.6425), (0.179, 0.546)),
        20: ((0.1765, 0.68), (0.1505, 0.615), (0.1135, 0.4895)),
        50: ((0.1325, 0.6625), (0.111, 0.5725), (0.076, 0.435)),
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
        10: ((0.946, 0.994), (0.93, 0.994), (0.918, 0.988)),
        20: ((0.946, 0.994), (0.93, 0.994), (0.918, 0.988)),
        50: ((0.946, 0.994), (0.93, 0.994), (0.918, 0.988)),
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
    (0.37, 0.70)
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
