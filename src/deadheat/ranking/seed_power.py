"""How many seeds it takes to tell two systems apart."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.errors import InputError
from deadheat.stats.scores import Values, check_scores

MOST = 100_000  # seeds; nobody runs more
SIMULATIONS = 2000
MOST_DRAWN = 5000  # seeds a system; with more, normal theory needs no check


@dataclass(frozen=True, slots=True)
class SeedPower:
    """Seeds a system needs so that Welch's test finds a difference, and what the runs at hand can find."""

    difference: float
    alpha: float
    target: float
    seeds: float  # of each system; infinite where no number is enough, NaN where a system has one run
    power: float  # with so many seeds, by normal theory
    simulated: float  # with so many seeds drawn from the scores at hand; NaN where they are more than 5,000
    power_now: float  # with the runs at hand
    smallest_now: float  # the least difference that the runs at hand find with the wanted power

    def __str__(self) -> str:
        if math.isnan(self.seeds):
            return "a system with one run has no spread to reckon with"
        if math.isinf(self.seeds):
            return f"no number of seeds tells a difference of {self.difference:+.4f}"
        told = f"{self.seeds:.0f} seeds each find a difference of {self.difference:+.4f} with power {self.power:.3f}"
        return f"{told} (simulated {self.simulated:.3f}) at alpha {self.alpha:g}; now {self.power_now:.3f}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def seeds_needed(
    a: ArrayLike,
    b: ArrayLike,
    *,
    rng: np.random.Generator,
    difference: float | None = None,
    alpha: float = 0.05,
    target: float = 0.8,
    simulations: int = SIMULATIONS,
) -> SeedPower:
    """The least number of seeds of each system with which Welch's t-test finds a difference of the means.

    Parameters
    ----------
    difference
        The difference to be found; without it, the one between the means of the runs at hand.
    target
        The wanted chance to find it.

    Notes
    -----
    Normal theory: with n seeds each and the standard deviations s and t of the runs at hand, Welch's statistic has a
    noncentral t distribution with shift √n |d| / √(s² + t²) and (n - 1)(s² + t²)² / (s⁴ + t⁴) degrees of freedom. The
    check: n scores are drawn with replacement from either system's runs, moved to the wanted difference and spread by
    √(k / (k - 1)), k runs, and the share of draws in which the test finds the difference is counted.

    Examples
    --------
    >>> a, b = [0.905, 0.911, 0.900, 0.908, 0.906], [0.901, 0.905, 0.897, 0.906, 0.903]
    >>> print(seeds_needed(a, b, rng=np.random.default_rng(0)))
    19 seeds each find a difference of +0.0036 with power 0.805 (simulated 0.801) at alpha 0.05; now 0.258
    """
    first, second = check_scores("seeds needed, first system", a), check_scores("seeds needed, second system", b)
    if not (0 < alpha < 1 and 0 < target < 1):
        raise InputError(f"alpha {alpha:g} and power {target:g}; expected both between 0 and 1")
    gap = float(first.mean() - second.mean()) if difference is None else float(difference)
    if not math.isfinite(gap) or (difference is not None and gap == 0):
        raise InputError(f"difference {gap:g}; expected a number other than 0")
    nan = math.nan
    if min(len(first), len(second)) < 2:
        return SeedPower(gap, alpha, target, nan, nan, nan, nan, nan)
    variances = float(first.var(ddof=1)), float(second.var(ddof=1))
    sizes = len(first), len(second)
    now = welch_power(gap, variances, sizes, alpha)
    smallest = _smallest(variances, sizes, alpha, target)
    seeds = _least(gap, variances, alpha, target)
    if math.isinf(seeds):
        return SeedPower(gap, alpha, target, seeds, nan, nan, now, smallest)
    n = int(seeds)
    power = welch_power(gap, variances, (n, n), alpha)
    simulated = nan
    if n <= MOST_DRAWN:
        simulated = simulate_welch(first, second, gap, n, rng=rng, alpha=alpha, simulations=simulations)
    return SeedPower(gap, alpha, target, seeds, power, simulated, now, smallest)


def welch_power(difference: float, variances: tuple[float, float], sizes: tuple[int, int], alpha: float) -> float:
    """The chance that Welch's two-sided test finds a difference of normal scores.

    Examples
    --------
    >>> print(round(welch_power(1.0, (1.0, 1.0), (17, 17), 0.05), 3))
    0.807
    """
    from scipy.special import nctdtr, stdtrit

    parts = variances[0] / sizes[0], variances[1] / sizes[1]
    error = sum(parts)
    if error == 0:
        return float(difference != 0)
    freedom = error**2 / sum(part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True))
    shift = abs(difference) / math.sqrt(error)
    if shift > 37:  # past what the noncentral distribution can be reckoned for, and beyond doubt
        return 1.0
    bound = float(stdtrit(freedom, 1 - alpha / 2))
    above, below = 1 - float(nctdtr(freedom, shift, bound)), float(nctdtr(freedom, shift, -bound))
    return min(1.0, above + (below if math.isfinite(below) else 0.0))


def _least(difference: float, variances: tuple[float, float], alpha: float, target: float) -> float:
    """The least number of seeds by which power reaches the target."""
    if difference == 0:
        return math.inf
    low, high = 1, 2
    while welch_power(difference, variances, (high, high), alpha) < target:
        low, high = high, 2 * high
        if high > MOST:
            return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if welch_power(difference, variances, (middle, middle), alpha) >= target else (middle, high)
        )
    return float(high)


def _smallest(variances: tuple[float, float], sizes: tuple[int, int], alpha: float, target: float) -> float:
    """The least difference that is found with the wanted power."""
    if sum(variances) == 0:
        return 0.0
    unit = math.sqrt(variances[0] / sizes[0] + variances[1] / sizes[1])
    low, high = 0.0, unit
    while welch_power(high, variances, sizes, alpha) < target:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if welch_power(middle, variances, sizes, alpha) >= target else (middle, high)
    return high


def simulate_welch(
    a: Values,
    b: Values,
    difference: float,
    seeds: int,
    *,
    rng: np.random.Generator,
    alpha: float = 0.05,
    simulations: int = SIMULATIONS,
) -> float:
    """The share of draws from the scores at hand, moved to a difference, in which Welch's test finds one."""
    from scipy.special import stdtr

    hits = done = 0
    rows = max(1, min(simulations, (1 << 21) // seeds))
    pools = [(each - each.mean()) * math.sqrt(len(each) / (len(each) - 1)) for each in (a, b)]
    while done < simulations:
        size = min(rows, simulations - done)
        x, y = (pool[rng.integers(0, len(pool), (size, seeds))] for pool in pools)
        parts = [each.var(axis=1, ddof=1) / seeds for each in (x, y)]
        error = parts[0] + parts[1]
        gaps = np.abs(x.mean(axis=1) - y.mean(axis=1) + difference)
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = (seeds - 1) * error**2 / (parts[0] ** 2 + parts[1] ** 2)
            p = 2 * stdtr(freedom, -gaps / np.sqrt(error))
        hits += int(np.where(error > 0, p <= alpha, gaps > 0).sum())
        done += size
    return hits / simulations
