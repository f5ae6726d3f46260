"""Power of a test set: the probability to find a difference, the smallest detectable difference, the size needed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

from deadheat.errors import InputError
from deadheat.stats.intervals import Counts, Value, normal_cdf, normal_quantile
from deadheat.stats.paired import CORRECT, check_pair, is_additive, lattice_p, mcnemar, scores_of

BLOCK = 1 << 20  # units drawn at a time
POINTS = 25  # of a curve
Curve: TypeAlias = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class PowerAnalysis:
    """The power to find a difference, the smallest detectable difference, and the size needed."""

    difference: float
    units: int
    alpha: float
    power: float  # by the normal approximation
    simulated: float  # by simulation; NaN without one
    smallest: float  # smallest detectable difference at the target power
    needed: float  # units needed to find this difference with the target power
    target: float = 0.8
    by_units: Curve = ()  # power to find this difference by size of the test set
    by_difference: Curve = ()  # power of this test set by difference

    def __str__(self) -> str:
        text = f"power {self.power:.3f} to find a difference of {self.difference:+.4f} with {self.units:,} units"
        if math.isnan(self.smallest) or math.isinf(self.needed):
            return f"{text} at alpha {self.alpha:g}"
        needs = f"{self.target:.0%} power needs {self.smallest:.4f} or {self.needed:,.0f} units"
        return f"{text} at alpha {self.alpha:g}; {needs}"


def mcnemar_power(
    items: int, only_first: float, only_second: float, *, alpha: float = 0.05, target: float = 0.8
) -> PowerAnalysis:
    """Power of McNemar's test in closed form.

    Parameters
    ----------
    items
        Size of the test set.
    only_first, only_second
        The probabilities that only one of the systems gets an item right.

    Notes
    -----
    With d = p₁ - p₂ and s = p₁ + p₂, power is Φ((√n |d| - z √s) / √(s - d²)) and the other tail, z the normal
    quantile of 1 - alpha/2 (Connor 1987). The smallest difference solves this for |d| with s as it is; the size for n.

    Examples
    --------
    >>> print(mcnemar_power(1000, 0.06, 0.04))
    power 0.516 to find a difference of +0.0200 with 1,000 units at alpha 0.05; 80% power needs 0.0280 or 1,960 units
    """
    _check(alpha, target)
    if min(only_first, only_second) < 0 or only_first + only_second > 1 or items < 1:
        raise InputError(
            f"{items} items, probabilities {only_first:g} and {only_second:g} of being right alone; expected at least "
            "one item, and probabilities that sum to at most 1"
        )
    gap, discordant = only_first - only_second, only_first + only_second
    power = _mcnemar(items, abs(gap), discordant, alpha)
    smallest = _bisect(lambda d: _mcnemar(items, d, discordant, alpha), target, discordant)
    reach, wanted = normal_quantile(1 - alpha / 2), normal_quantile(target)
    needed = math.inf
    if gap:
        spread = reach * math.sqrt(discordant) + wanted * math.sqrt(discordant - gap**2)
        needed = float(math.ceil((spread / gap) ** 2))
    result = PowerAnalysis(gap, items, alpha, power, math.nan, smallest, needed, target)
    return _with_curves(result, lambda size, d: _mcnemar(size, d, discordant, alpha), most=discordant)


def _with_curves(
    result: PowerAnalysis, power_of: Callable[[int, float], float], *, most: float = math.inf
) -> PowerAnalysis:
    """Add curves of power by size, and by difference up to the greatest possible."""
    if math.isinf(result.needed):
        by_units: Curve = ()
    else:
        ends = max(2, min(result.units, result.needed) / 10), 3 * max(result.units, result.needed)
        sizes = sorted({*np.geomspace(*ends, POINTS).round().astype(int).tolist(), result.units})
        by_units = tuple((float(size), power_of(size, abs(result.difference))) for size in sizes)
    widest = min(most, 1.5 * max(abs(result.difference), most if math.isnan(result.smallest) else result.smallest))
    gaps = np.linspace(0, widest, POINTS).tolist() if widest > 0 else []
    return replace(result, by_units=by_units, by_difference=tuple((gap, power_of(result.units, gap)) for gap in gaps))


def _mcnemar(items: int, gap: float, discordant: float, alpha: float) -> float:
    if discordant == 0:
        return 0.0
    reach = normal_quantile(1 - alpha / 2)
    spread = discordant - gap**2
    shift, needed = math.sqrt(items) * gap, reach * math.sqrt(discordant)
    if spread <= 0:
        return float(shift > needed)
    return normal_cdf((shift - needed) / math.sqrt(spread)) + normal_cdf((-shift - needed) / math.sqrt(spread))


def _bisect(power_of: Callable[[float], float], target: float, most: float) -> float:
    """Return the smallest argument up to `most` at which power reaches the target, or NaN."""
    if power_of(most) < target:
        return math.nan
    low, high = 0.0, most
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if power_of(middle) < target else (low, middle)
    return high


def simulate_mcnemar_power(
    items: int, only_first: float, only_second: float, *, rng: Generator, alpha: float = 0.05, simulations: int = 2000
) -> float:
    """Return the share of simulated test sets on which the mid-p test is significant (Card et al. 2020)."""
    draws = rng.multinomial(items, [only_first, only_second, max(0.0, 1 - only_first - only_second)], size=simulations)
    pairs, times = np.unique(draws[:, :2], axis=0, return_counts=True)
    significant = [mcnemar(int(b), int(c)).p <= alpha for b, c in pairs]
    return float(times[significant].sum() / simulations)


def paired_power(  # noqa: PLR0913 (what a person would vary)
    first_NF: Counts,
    second_NF: Counts,
    value: Value,
    *,
    rng: Generator,
    alpha: float = 0.05,
    target: float = 0.8,
    simulations: int = 500,
    units: int | None = None,
) -> PowerAnalysis:
    """Power of a paired test on units like these, for any metric.

    Parameters
    ----------
    units
        Size of the test set; by default that of the counts.

    Notes
    -----
    The observed units are taken as the population. The standard error s/√n of the difference is that of its jackknife
    linearisation, so power is Φ(|d| √n / s - z) + Φ(-|d| √n / s - z). The simulation draws test sets of `units` units
    with replacement and tests each: by the exact permutation test where both systems have the same totals, else by the
    t-test of the linearised difference.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> total = np.full(500, 20)
    >>> counts = [np.stack([rng.binomial(20, p, 500), total, total], axis=1) for p in (0.90, 0.89)]
    >>> print(paired_power(*counts, lambda sums: sums[..., 0] / sums[..., 1], rng=rng))
    power 0.132 to find a difference of +0.0036 with 500 units at alpha 0.05; 80% power needs 0.0121 or 5,692 units
    """
    check_pair(first_NF, second_NF)
    _check(alpha, target)
    size = len(first_NF) if units is None else units
    if size < 2:
        raise InputError(f"{size} units; expected at least two")
    first, second = scores_of(first_NF, second_NF, value).tolist()
    difference = float(first - second)
    influence = _influence(first_NF, value) - _influence(second_NF, value)
    deviation = float(np.sqrt((influence**2).mean()))
    reach, wanted = normal_quantile(1 - alpha / 2), normal_quantile(target)
    if deviation == 0:
        certain = float(difference != 0)
        return PowerAnalysis(
            difference, size, alpha, certain, certain, math.nan, 2.0 if difference else math.inf, target
        )

    def power_of(size: int, gap: float) -> float:
        shift = gap * math.sqrt(size) / deviation
        return normal_cdf(shift - reach) + normal_cdf(-shift - reach)

    needed = max(2.0, float(math.ceil(((reach + wanted) * deviation / difference) ** 2))) if difference else math.inf
    if is_additive(first_NF, second_NF):
        gaps = first_NF[:, CORRECT].astype(np.int64) - second_NF[:, CORRECT].astype(np.int64)
        draws = (gaps[rng.integers(0, len(gaps), size)] for _ in range(simulations))
        simulated = sum(lattice_p(drawn) <= alpha for drawn in draws) / simulations
    else:
        simulated = _simulate_t_test(difference, influence, size, alpha, simulations, rng)
    power, smallest = power_of(size, abs(difference)), (reach + wanted) * deviation / math.sqrt(size)
    return _with_curves(PowerAnalysis(difference, size, alpha, power, simulated, smallest, needed, target), power_of)


def _influence(counts_NF: Counts, value: Value) -> np.ndarray:
    """Return the influence of each unit on the score (jackknife)."""
    total = counts_NF.sum(axis=0).astype(np.float64)
    left_out = value(total - counts_NF)
    return np.asarray((len(counts_NF) - 1) * (left_out.mean() - left_out))


def _simulate_t_test(
    difference: float, influence: np.ndarray, size: int, alpha: float, simulations: int, rng: Generator
) -> float:
    from scipy.special import stdtrit

    reach = float(stdtrit(size - 1, 1 - alpha / 2))
    significant = 0
    block = max(1, BLOCK // size)
    for start in range(0, simulations, block):
        drawn = influence[rng.integers(0, len(influence), (min(block, simulations - start), size))]
        mean, error = difference + drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / math.sqrt(size)
        significant += int(np.count_nonzero(np.abs(mean) > reach * error))
    return significant / simulations


def _check(alpha: float, target: float) -> None:
    for name, value in (("alpha", alpha), ("power", target)):
        if not 0 < value < 1:
            raise InputError(f"{name} {value}; expected between 0 and 1")
