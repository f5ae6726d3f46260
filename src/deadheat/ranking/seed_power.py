"""How many seeds it takes to show that two systems differ."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from deadheat.errors import InputError
from deadheat.stats.checks import Values, check_scores
from deadheat.stats.estimates import Estimate, welch_estimate

MAX_SEEDS = 100_000
SIMULATIONS = 2000
MAX_SIMULATED = 5000  # seeds per system; with more, normal theory needs no check
TAIL = 1e-13  # probability left out at either end of a distribution
VARIANCE_RATIOS = (0.25, 0.5, 1.0, 2.0, 4.0)  # between systems, for which Welch's test must keep its level
TOLERANCE = 1.25  # times the level that it may reach
NODES, WEIGHTS = np.polynomial.legendre.leggauss(32)
NODES = (NODES + 1) / 2  # from 0 to 1


@dataclass(frozen=True, slots=True)
class SeedPower:
    """How many seeds each system needs for Welch's test to find a difference, and what the runs at hand can find."""

    difference: float
    alpha: float
    comparisons: int  # that share alpha
    target: float
    seeds: float  # of each system; infinite where no number is enough, NaN where a system has one run
    seeds_low: float  # with the lowest and the highest variance in its 95% confidence interval
    seeds_high: float
    power: float  # with so many seeds, by normal theory
    simulated: float  # with so many seeds drawn from the scores at hand; NaN where they are more than 5,000
    power_now: float  # with the runs at hand
    detectable_difference: float  # the smallest that the runs at hand would find with the wanted power


def seeds_needed(  # noqa: PLR0913 (the options of the command)
    a: ArrayLike,
    b: ArrayLike,
    *,
    rng: np.random.Generator,
    difference: float | None = None,
    alpha: float = 0.05,
    comparisons: int = 1,
    target: float = 0.8,
    simulations: int = SIMULATIONS,
) -> SeedPower:
    """The smallest number of seeds of each system with which Welch's t-test finds a difference of the means.

    Without a difference, it is that between the means of the runs at hand. Each of several comparisons is tested at
    `alpha` divided by their number; `target` is the wanted power.

    Normal theory: `welch_power` with the variances of the runs at hand. The interval of the number has the sum s² + t²
    of the two variances, taken to be chi-square on (s² + t²)² / (s⁴ / (k - 1) + t⁴ / (l - 1)) degrees of freedom with k
    and l runs, at the ends of its 95% interval; the difference is taken as given. For the simulation, n scores are
    drawn with replacement from either system's runs, shifted to the wanted difference and scaled by √(k / (k - 1)); the
    power is the share of draws in which the test finds the difference.
    """
    first, second = check_scores("seeds needed, first system", a), check_scores("seeds needed, second system", b)
    if not (0 < alpha < 1 and 0 < target < 1):
        raise InputError(f"alpha {alpha:g} and power {target:g}; expected both between 0 and 1")
    gap = float(first.mean() - second.mean()) if difference is None else float(difference)
    if not math.isfinite(gap) or (difference is not None and gap == 0):
        raise InputError(f"difference {gap:g}; expected a number other than 0")
    options, nan = (gap, alpha, comparisons, target), math.nan
    if min(len(first), len(second)) < 2:
        return SeedPower(*options, nan, nan, nan, nan, nan, nan, nan)
    variances = float(first.var(ddof=1)), float(second.var(ddof=1))
    sizes = len(first), len(second)
    level = alpha / comparisons
    now = welch_power(gap, variances, sizes, level, freedom=fixed_freedom(sizes, level))
    detectable = detectable_difference(variances, sizes, level, target)
    less, more = _variance_factors(variances, sizes)
    low, seeds, high = (
        _smallest_number(gap, (variances[0] * factor, variances[1] * factor), level, target)
        for factor in (less, 1.0, more)
    )
    if math.isinf(seeds):
        return SeedPower(*options, seeds, low, high, nan, nan, now, detectable)
    n = int(seeds)
    power = welch_power(gap, variances, (n, n), level)
    simulated = nan
    if n <= MAX_SIMULATED and sum(variances) > 0:
        simulated = simulate_welch(first, second, gap, n, rng=rng, alpha=level, simulations=simulations)
    return SeedPower(*options, seeds, low, high, power, simulated, now, detectable)


def mean_difference(first: Values, second: Values, level: float) -> Estimate:
    """The difference of the means of two systems' runs, to be tested at a level, with Welch's degrees of freedom.

    Where these would let the test exceed its level, with the fewer ones of `fixed_freedom`.
    """
    estimate = welch_estimate(first, second)
    freedom = fixed_freedom((len(first), len(second)), level)
    return estimate if freedom is None or not estimate.error > 0 else replace(estimate, freedom=freedom)


@cache
def fixed_freedom(sizes: tuple[int, int], level: float) -> float | None:
    """Degrees of freedom for runs so unequal in number that Welch's would be too many; None if Welch's will do.

    Two runs of one system may be alike by chance: against 50 runs of another, Welch's test at 0.05 finds equal systems
    to differ in 12 % of cases. Where it exceeds 1.25 times its level for some ratio of variances between 1/4 and 4, the
    degrees of freedom are those of the system with fewer runs, with which the test never exceeds its level (Mickey and
    Brown 1966). With equal numbers of runs, Welch's will do.
    """
    fewest = min(sizes)
    if sizes[0] == sizes[1] or fewest < 2:
        return None
    rates = (welch_power(0.0, (ratio, 1.0), sizes, level) for ratio in VARIANCE_RATIOS)
    return float(fewest - 1) if max(rates) > TOLERANCE * level else None


def _variance_factors(variances: tuple[float, float], sizes: tuple[int, int]) -> tuple[float, float]:
    """The ends of the 95% confidence interval of the sum of the variances, as multiples of the estimate."""
    from scipy.special import chdtri

    if sum(variances) == 0:
        return 1.0, 1.0
    shares = [variance / sum(variances) for variance in variances]
    freedom = 1 / sum(share**2 / (size - 1) for share, size in zip(shares, sizes, strict=True))
    return freedom / float(chdtri(freedom, 0.025)), freedom / float(chdtri(freedom, 0.975))


def welch_power(
    difference: float,
    variances: tuple[float, float],
    sizes: tuple[int, int],
    alpha: float,
    *,
    freedom: float | None = None,
) -> float:
    """Power of Welch's two-sided test to find a difference of means of normal scores.

    With `freedom`, the test has these degrees of freedom instead of Welch's.

    Exact but for the quadrature. With f and g degrees of freedom, the two sums of squares about the means, each divided
    by its variance, add up to Q, chi-square on f + g, of which the first is a share B that is independent of Q and
    distributed as Beta(f/2, g/2). B alone decides Welch's degrees of freedom, and so the bound c(B): the difference of
    means must exceed √Q c(B) standard errors.
    """
    from scipy.special import stdtrit

    error = variances[0] / sizes[0] + variances[1] / sizes[1]
    if error == 0:  # without any variation, the test is whether random signs would agree, as `Estimate.p` has it
        return float(difference != 0 and 2.0 ** -(sizes[0] + sizes[1] - 2) <= alpha)
    first, second = sizes[0] - 1, sizes[1] - 1
    shares_B, weights_B = _shares(first, second)
    errors_B = (
        variances[0] / sizes[0] / error * shares_B / first,
        variances[1] / sizes[1] / error * (1 - shares_B) / second,
    )
    error_B = errors_B[0] + errors_B[1]
    welch_B = error_B**2 / (errors_B[0] ** 2 / first + errors_B[1] ** 2 / second)
    freedom_B = welch_B if freedom is None else np.full_like(welch_B, freedom)
    bounds_B = -stdtrit(freedom_B, alpha / 2) * np.sqrt(error_B)
    powers_B = _exceedance(abs(difference) / math.sqrt(error), bounds_B, first + second)
    return min(1.0, float(weights_B @ powers_B))


def _shares(first: int, second: int) -> tuple[Values, Values]:
    """Nodes and weights of Beta(first / 2, second / 2); on the angle whose squared sine is the share, it is smooth."""
    from scipy.special import betaincinv

    ends = np.arcsin(np.sqrt(betaincinv(first / 2, second / 2, [TAIL, 1 - TAIL])))
    angles = ends[0] + (ends[1] - ends[0]) * NODES
    logs = (first - 1) * np.log(np.sin(angles)) + (second - 1) * np.log(np.cos(angles))
    return np.sin(angles) ** 2, _quadrature_weights(logs)


def _exceedance(shift: float, bounds_B: Values, freedom: int) -> Values:
    """Probability that a normal value shifted by `shift` is farther from 0 than a bound times a chi value.

    The one of the two that matters less in the difference is integrated, so that the integrand is smooth.
    """
    from scipy.special import chdtr, chdtri, ndtr

    exceedance_B = np.empty(len(bounds_B))
    wide = bounds_B > 1
    normal = 8 * (2 * NODES - 1)
    scaled = np.square((shift + normal) / bounds_B[wide, None])
    exceedance_B[wide] = chdtr(freedom, scaled) @ _quadrature_weights(-normal * normal / 2)
    ends = np.sqrt(chdtri(freedom, [1 - TAIL, TAIL]))
    chi = ends[0] + (ends[1] - ends[0]) * NODES
    needed = bounds_B[~wide, None] * chi
    exceedance_B[~wide] = (ndtr(shift - needed) + ndtr(-shift - needed)) @ _quadrature_weights(
        (freedom - 1) * np.log(chi) - chi**2 / 2
    )
    return exceedance_B


def _quadrature_weights(logs: Values) -> Values:
    """Weights at the quadrature nodes, for densities given by their logarithms."""
    weights = WEIGHTS * np.exp(logs - logs.max())
    normalized: Values = weights / weights.sum()
    return normalized


def _smallest_number(difference: float, variances: tuple[float, float], alpha: float, target: float) -> float:
    """The smallest number of seeds by which power reaches the target."""
    if difference == 0:
        return math.inf
    low, high = 1, 2
    while welch_power(difference, variances, (high, high), alpha) < target:
        low, high = high, 2 * high
        if high > MAX_SEEDS:
            return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        enough = welch_power(difference, variances, (middle, middle), alpha) >= target
        low, high = (low, middle) if enough else (middle, high)
    return float(high)


def detectable_difference(variances: tuple[float, float], sizes: tuple[int, int], alpha: float, target: float) -> float:
    """The smallest difference that the test finds with the wanted power."""
    if sum(variances) == 0:
        return 0.0
    freedom = fixed_freedom(sizes, alpha)
    low, high = 0.0, math.sqrt(variances[0] / sizes[0] + variances[1] / sizes[1])
    while welch_power(high, variances, sizes, alpha, freedom=freedom) < target:
        low, high = high, 2 * high
    for _ in range(20):
        middle = (low + high) / 2
        enough = welch_power(middle, variances, sizes, alpha, freedom=freedom) >= target
        low, high = (low, middle) if enough else (middle, high)
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
    """Share of draws from the scores at hand, shifted to a difference, in which Welch's test finds it.

    Draws that do not vary cannot be tested and find nothing.
    """
    from scipy.special import stdtr

    hits = done = 0
    rows = max(1, min(simulations, (1 << 21) // seeds))
    pools = [(scores - scores.mean()) * math.sqrt(len(scores) / (len(scores) - 1)) for scores in (a, b)]
    while done < simulations:
        size = min(rows, simulations - done)
        x, y = (pool[rng.integers(0, len(pool), (size, seeds))] for pool in pools)
        parts = [draws.var(axis=1, ddof=1) / seeds for draws in (x, y)]
        error = parts[0] + parts[1]
        gaps = np.abs(x.mean(axis=1) - y.mean(axis=1) + difference)
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = (seeds - 1) * error**2 / (parts[0] ** 2 + parts[1] ** 2)
            p = 2 * stdtr(freedom, -gaps / np.sqrt(error))
        varies = (x != x[:, :1]).any(axis=1) | (y != y[:, :1]).any(axis=1)
        hits += int((p[varies] <= alpha).sum())
        done += size
    return hits / simulations
