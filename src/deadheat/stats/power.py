"""Power of a test: the probability to show a difference, the smallest detectable difference, the units needed.

`mcnemar_power` is for two assumed accuracies. `plan_power` is for two systems whose noise was measured: the variance of
their difference over units and over runs, from which follow the standard errors of other test sets and other numbers of
runs. The observed difference plays no part: power at the observed difference only restates the p-value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

from deadheat.errors import InputError
from deadheat.stats.checks import Values, check_alpha
from deadheat.stats.estimates import RunsEstimate, run_share
from deadheat.stats.intervals import normal_cdf, normal_quantile
from deadheat.stats.noise import Noise
from deadheat.stats.paired import mcnemar

POINTS = 25  # of a curve
NODES = 1024  # at which the power of a design with runs is averaged
SIMULATIONS = 10_000
MOST_UNITS = 1 << 50  # needed; more are no number at all
MOST_FREEDOM = 1e8  # degrees of freedom from which on Student's t is normal
LEAST_UNITS = 1.5  # of equal weight, from which on there are degrees of freedom
FAR = 5.0  # standard errors from zero, where no test errs in the direction of the difference
ATTEMPTS = (1, 2, 4, 8, 16, math.inf)  # numbers of attempts that are compared
Curve: TypeAlias = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class PowerAnalysis:
    """The power to show a difference, the smallest detectable difference, and the units needed."""

    difference: float
    units: int
    alpha: float
    power: float
    simulated: float  # by simulation; NaN without one
    smallest: float  # smallest detectable difference at the target power
    needed: float  # units needed to show this difference with the target power
    target: float = 0.8
    needed_low: float = math.nan  # with the lowest and the highest variance in its 95% interval
    needed_high: float = math.nan
    error: float = math.nan  # standard error of the difference
    freedom: float = math.nan  # and its degrees of freedom
    run_share: float = math.nan  # share of the variance that is due to runs
    by_units: Curve = ()  # power to show this difference by size of the test set
    by_difference: Curve = ()  # power of this test set by difference

    def __str__(self) -> str:
        text = f"power {self.power:.3f} to show a difference of {self.difference:.4f} with {self.units:,} units"
        if math.isnan(self.smallest) or math.isinf(self.needed):
            return f"{text} at alpha {self.alpha:g}"
        needs = f"{self.target:.0%} power needs {self.smallest:.4f} or {self.needed:,.0f} units"
        return f"{text} at alpha {self.alpha:g}; {needs}"


def design_power(design: RunsEstimate, alpha: float = 0.05) -> Callable[[float], float]:
    """Return the probability of a p-value of at most alpha as a function of the true difference; NaN if untestable.

    Notes
    -----
    Where units alone vary, the difference divided by its standard error has a noncentral t distribution. With runs, the
    parts of the variance are taken to be chi-square. They decide the standard error and Satterthwaite's degrees of
    freedom, and so which differences are significant; the normal probability of these is averaged over 1,024 points of
    an additive recurrence on the quantiles of the parts (Roberts 2018).

    Examples
    --------
    >>> from deadheat.stats.estimates import VariancePart
    >>> round(design_power(RunsEstimate(0.0, (VariancePart("units", 0.04, 24),)))(0.5), 4)
    0.6697
    """
    from scipy.special import ndtr

    estimate = design.estimate
    if not (estimate.error >= 0 and estimate.freedom > 0):
        return lambda _: math.nan
    if estimate.error == 0:
        return lambda gap: float(gap != 0)
    if len(design.parts) == 1:
        return lambda gap: _noncentral(abs(gap) / estimate.error, estimate.freedom, alpha)
    bounds_B = _significant_shifts(design, alpha)

    def power(gap: float) -> float:
        shift = abs(gap) / estimate.error
        return float((ndtr(shift - bounds_B) + ndtr(-shift - bounds_B)).mean())

    return power


def _noncentral(shift: float, freedom: float, alpha: float) -> float:
    from scipy.special import nctdtr, stdtrit

    freedom = min(freedom, MOST_FREEDOM)
    reach = float(stdtrit(freedom, 1 - alpha / 2))
    # Far from zero the other tail is too small for scipy; farther still, so is what is missing to 1.
    opposite = float(nctdtr(freedom, shift, -reach)) if shift < FAR else 0.0
    below = float(nctdtr(freedom, shift, reach))
    return 1.0 if math.isnan(below) else min(1.0, 1 - below + opposite)


def _significant_shifts(design: RunsEstimate, alpha: float) -> Values:
    """Return how many true standard errors a difference needs to be significant, for 1,024 estimates of its parts."""
    from scipy.special import chdtri, stdtrit

    ratio = 1.0
    for _ in range(60):  # the root of x^(d + 1) = x + 1, d the number of parts
        ratio = (1 + ratio) ** (1 / (len(design.parts) + 1))
    steps, shares = np.arange(1, NODES + 1), list[Values]()
    for number, part in enumerate(design.parts, start=1):
        freedom = min(part.freedom, MOST_FREEDOM)
        shares.append(chdtri(freedom, (0.5 + steps * ratio**-number) % 1) / freedom)
    variance_B, freedom_B = _satterthwaite(design, shares)
    shifts_B: Values = -stdtrit(freedom_B, alpha / 2) * np.sqrt(variance_B) / design.estimate.error
    return shifts_B


def _satterthwaite(design: RunsEstimate, shares: Sequence[Values]) -> tuple[Values, Values]:
    """Return the variance and its degrees of freedom, if these are the estimates of the parts as shares of the truth.

    This is `RunsEstimate.estimate` for many experiments at once.
    """
    units_B, runs_B, spread_B = (np.zeros(len(shares[0])) for _ in range(3))
    for part, share_B in zip(design.parts, shares, strict=True):
        drawn_B = part.variance * share_B
        spread_B += drawn_B**2 / part.freedom
        if part.source == "units":
            units_B += drawn_B
        else:
            runs_B += drawn_B
    variance_B = np.maximum(units_B, units_B + runs_B - design.shared)
    return variance_B, np.minimum(np.maximum(1.0, variance_B**2 / spread_B), design.most_freedom)


def plan_power(
    noise: Noise,
    difference: float,
    *,
    rng: Generator,
    units: int | None = None,
    runs: tuple[int, int] | None = None,
    alpha: float = 0.05,
    target: float = 0.8,
) -> PowerAnalysis:
    """Power to show a difference, for systems that vary as these do.

    Parameters
    ----------
    difference
        The true difference that should be shown.
    units, runs
        Size of the test set and runs of each system; by default those at hand.

    Notes
    -----
    The standard error of a design follows from the variance components, and power from `design_power`. The units needed
    are the smallest number with the target power, with runs as they are; the ends of their interval are those for the
    ends of the 95% interval of the variance. The simulation draws differences (normal) with the parts of their variance
    (chi-square), and tests each.

    Examples
    --------
    >>> import numpy as np
    >>> from deadheat.stats.noise import RunNoise
    >>> noise = Noise(500, 500, 0.04, 499, (RunNoise(1), RunNoise(1)))
    >>> print(plan_power(noise, 0.02, rng=np.random.default_rng(0)))
    power 0.607 to show a difference of 0.0200 with 500 units at alpha 0.05; 80% power needs 0.0251 or 787 units
    """
    _check(alpha, target)
    size, numbers = noise.units if units is None else units, noise.runs if runs is None else runs
    effective = noise.effective * size / noise.units
    if size < 2 or effective < LEAST_UNITS:
        raise InputError(f"{size} units, which weigh as much as {effective:.1f} equal ones; expected at least two")
    if not (math.isfinite(difference) and difference):
        raise InputError(f"difference {difference:g}; expected a number other than 0")

    def power_of(noise: Noise, units: float, gap: float) -> float:
        return design_power(noise.design(gap, units, numbers), alpha)(gap)

    def needed_with(noise: Noise) -> float:
        return _needed(lambda units: power_of(noise, units, gap), target)

    gap = abs(difference)
    design = noise.design(gap, size, numbers)
    estimate, power = design.estimate, design_power(design, alpha)
    needed = needed_with(noise)
    bounds = noise.variance_bounds(needed, numbers)
    low, high = (math.nan if math.isnan(factor) else needed_with(noise.times(factor)) for factor in bounds)
    simulated, smallest = simulate_power(design, rng=rng, alpha=alpha), _smallest(estimate.error, power, target)
    outcome = (power(gap), simulated, smallest, needed, target, low, high)
    result = PowerAnalysis(gap, size, alpha, *outcome, estimate.error, estimate.freedom, run_share([design]))
    return _with_curves(result, lambda units, gap: power(gap) if units == size else power_of(noise, units, gap))


@dataclass(frozen=True, slots=True)
class AttemptsPlan:
    """What a number of attempts at each unit can show."""

    attempts: float  # of each system; infinite for what no number of them exceeds
    power: float
    power_twice: float  # with twice the units
    needed: float  # units, with the target power


def plan_attempts(
    noise: Noise, difference: float, *, units: int, more: int = 1, alpha: float = 0.05, target: float = 0.8
) -> tuple[AttemptsPlan, ...]:
    """What more attempts and more units would buy: the power of several numbers of attempts, and of `more` of them."""
    gap, plans = abs(difference), list[AttemptsPlan]()

    def power_of(units: float, attempts: float) -> float:
        return design_power(noise.design(gap, units, (attempts, attempts)), alpha)(gap)

    for number in sorted({*ATTEMPTS, more}):
        needed = _needed(lambda size, number=number: power_of(size, number), target)  # type: ignore[misc]
        plans.append(AttemptsPlan(float(number), power_of(units, number), power_of(2 * units, number), needed))
    return tuple(plans)


def _needed(power_of: Callable[[float], float], target: float) -> float:
    """Return the smallest number of units, two or more, with the target power; infinite if none has it."""
    if not power_of(math.inf) >= target:
        return math.inf
    low, high = 1, 2
    while not power_of(high) >= target:
        low, high = high, 2 * high
        if high > MOST_UNITS:
            return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(middle) >= target else (middle, high)
    return float(high)


def _smallest(error: float, power_of: Callable[[float], float], target: float) -> float:
    """Return the smallest difference that is shown with the target power; NaN where there is no error to measure by."""
    if not error > 0 or math.isnan(power_of(error)):
        return math.nan
    most = error
    while power_of(most) < target:
        most *= 2
    return _bisect(power_of, target, most)


def simulate_power(
    design: RunsEstimate, *, rng: Generator, alpha: float = 0.05, simulations: int = SIMULATIONS
) -> float:
    """Return the share of simulated experiments of a design in which the p-value is at most alpha."""
    from scipy.special import stdtr

    error = design.estimate.error
    if not error > 0 or any(not part.freedom > 0 for part in design.parts):
        return math.nan
    shares = [rng.chisquare(part.freedom, simulations) / part.freedom for part in design.parts]
    variance_B, freedom_B = _satterthwaite(design, shares)
    values_B = rng.normal(design.value, error, simulations)
    p_values_B = 2 * stdtr(freedom_B, -np.abs(values_B) / np.sqrt(variance_B))
    return float(np.count_nonzero(p_values_B <= alpha) / simulations)


def mcnemar_power(
    items: int,
    only_first: float,
    only_second: float,
    *,
    alpha: float = 0.05,
    target: float = 0.8,
    design_effect: float = 1.0,
) -> PowerAnalysis:
    """Power of McNemar's test in closed form.

    Parameters
    ----------
    items
        Size of the test set.
    only_first, only_second
        The probabilities that only one of the systems gets an item right.
    design_effect
        How many times as large the variance is because items of one document are alike: the test set counts for as
        many independent items as its size divided by this.

    Notes
    -----
    With d = p₁ - p₂ and s = p₁ + p₂, power is Φ((√n |d| - z √s) / √(s - d²)) and the other tail, z the normal
    quantile of 1 - alpha/2 (Connor 1987). The smallest difference solves this for |d| with s as it is; the size for n.

    Examples
    --------
    >>> print(mcnemar_power(1000, 0.06, 0.04))
    power 0.516 to show a difference of 0.0200 with 1,000 units at alpha 0.05; 80% power needs 0.0280 or 1,960 units
    """
    _check(alpha, target)
    if min(only_first, only_second) < 0 or only_first + only_second > 1 or items < 1:
        raise InputError(
            f"{items} items, probabilities {only_first:g} and {only_second:g} of being right alone; expected at least "
            "one item, and probabilities that sum to at most 1"
        )
    if not (math.isfinite(design_effect) and design_effect > 0):
        raise InputError(f"design effect {design_effect:g}; expected a number above 0, 1 for independent items")
    gap, discordant = only_first - only_second, only_first + only_second

    def power_of(size: float, gap: float) -> float:
        return _mcnemar(size / design_effect, gap, discordant, alpha)

    smallest = _bisect(lambda gap: power_of(items, gap), target, discordant)
    reach, wanted = normal_quantile(1 - alpha / 2), normal_quantile(target)
    needed = math.inf
    if gap:
        spread = reach * math.sqrt(discordant) + wanted * math.sqrt(discordant - gap**2)
        needed = float(math.ceil(design_effect * (spread / gap) ** 2))
    power, error = power_of(items, abs(gap)), math.sqrt(design_effect * (discordant - gap**2) / items)
    result = PowerAnalysis(abs(gap), items, alpha, power, math.nan, smallest, needed, target, error=error)
    return _with_curves(result, power_of, most=discordant)


def _with_curves(
    result: PowerAnalysis, power_of: Callable[[float, float], float], *, most: float = math.inf
) -> PowerAnalysis:
    """Add curves of power by size, and by difference up to the greatest possible."""
    if math.isinf(result.needed):
        by_units: Curve = ()
    else:
        ends = max(2, min(result.units, result.needed) / 10), 3 * max(result.units, result.needed)
        sizes = sorted({*np.geomspace(*ends, POINTS).round().astype(int).tolist(), result.units})
        by_units = tuple((float(size), power_of(size, result.difference)) for size in sizes)
    smallest = (most if math.isfinite(most) else 0.0) if math.isnan(result.smallest) else result.smallest
    widest = min(most, 1.5 * max(result.difference, smallest))
    gaps = np.linspace(0, widest, POINTS).tolist() if widest > 0 else []
    return replace(result, by_units=by_units, by_difference=tuple((gap, power_of(result.units, gap)) for gap in gaps))


def _mcnemar(items: float, gap: float, discordant: float, alpha: float) -> float:
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


def _check(alpha: float, target: float) -> None:
    check_alpha(alpha)
    if not 0 < target < 1:
        raise InputError(f"power {target}; expected between 0 and 1")
