"""How often almost stochastic order finds a better system where there is none: a table made by simulation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

TAUS = (0.2, 0.5)
ALPHAS = (0.05, 0.01, 0.001, 0.0001)

# Runs of either system -> alpha -> how often the bound lies below 0.2 and below 0.5 where both systems have the same
# normal distribution. Made by {n: null_rates(n, simulations=100_000, rng=np.random.default_rng(n)) for n in NULL_RATES}
# with `null_rates` of deadheat.stats.aso; the standard error of a rate is 0.0013 at most.
NULL_RATES: Mapping[int, Mapping[float, tuple[float, ...]]] = {
    3: {0.05: (0.09092, 0.21628), 0.01: (0.07333, 0.14507), 0.001: (0.06659, 0.11111), 0.0001: (0.06255, 0.09736)},
    5: {0.05: (0.05530, 0.19720), 0.01: (0.03871, 0.11555), 0.001: (0.03017, 0.07804), 0.0001: (0.02611, 0.06228)},
    10: {0.05: (0.03520, 0.18990), 0.01: (0.02033, 0.09927), 0.001: (0.01328, 0.05842), 0.0001: (0.01030, 0.04216)},
    20: {0.05: (0.02759, 0.18478), 0.01: (0.01437, 0.09246), 0.001: (0.00803, 0.05176), 0.0001: (0.00568, 0.03465)},
    50: {0.05: (0.02126, 0.17829), 0.01: (0.00992, 0.08676), 0.001: (0.00487, 0.04416), 0.0001: (0.00329, 0.02832)},
}


@dataclass(frozen=True, slots=True)
class NullRate:
    """How often, with so many runs and this alpha, the bound of equal systems lies below tau."""

    runs: int
    alpha: float
    tau: float
    rate: float

    def __str__(self) -> str:
        return f"eps_min < {self.tau:g} in {100 * self.rate:.1f} %"


def nearest_null_rates(runs: tuple[int, int], alpha: float) -> tuple[NullRate, ...]:
    """The entries nearest to two numbers of runs, by their harmonic mean, and to alpha: one for each of TAUS.

    Examples
    --------
    >>> print(*nearest_null_rates((4, 7), 0.03), sep=", ")
    eps_min < 0.2 in 5.5 %, eps_min < 0.5 in 19.7 %
    """
    mean = 2 / (1 / runs[0] + 1 / runs[1])
    entry = min(NULL_RATES, key=lambda known: abs(math.log(known / mean)))
    level = min(ALPHAS, key=lambda known: abs(math.log(known / alpha)))
    rates = NULL_RATES[entry][level]
    return tuple(NullRate(entry, level, tau, rate) for tau, rate in zip(TAUS, rates, strict=True))
