"""Estimates with standard errors: one source of the interval, the p-value, the equivalence test and the power.

An `Estimate` is a number, its standard error and degrees of freedom. All that a verdict says follows from these three
by Student's t, so that an interval excludes zero exactly where the p-value is at most alpha. `RunScores` are the runs
of a system on one test set; the difference of two of them, and the average of such differences over test sets, are
estimates whose error has a part from the units (sentences, documents) and a part from the runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deadheat.errors import InputError
from deadheat.stats.checks import Values, check_alpha, check_level
from deadheat.stats.intervals import Counts, Interval, Value
from deadheat.stats.student import student_quantile

GOLD, PREDICTED = 1, 2
SAME = 1.5  # standard error of a difference that no unit shows, times the number of units
FAR = 1e4  # quantiles beyond which the noncentral t distribution cannot be inverted


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its standard error and degrees of freedom; both are NaN where they cannot be estimated.

    Examples
    --------
    >>> estimate = Estimate(0.012, 0.004, 40)
    >>> round(estimate.p, 4), str(estimate.interval())
    (0.0046, '[0.0039, 0.0201] (95 % t)')
    >>> round(estimate.detectable(), 4)
    0.0115
    """

    value: float
    error: float
    freedom: float

    @property
    def p(self) -> float:
        """The two-sided p-value of a true value of 0; NaN where nothing can be tested.

        Without any variation, it is the probability that as many units with random signs all agree.
        """
        if not self._is_defined:
            return math.nan
        if self.error == 0:
            return 1.0 if self.value == 0 else 2.0**-self.freedom
        from scipy.special import stdtr

        return float(2 * stdtr(self.freedom, -abs(self.value) / self.error))

    def interval(self, level: float = 0.95) -> Interval:
        """The confidence interval by Student's t."""
        check_level(level)
        if not self._is_defined or (self.error == 0 and self.value != 0 and self.p > 1 - level):
            return Interval(math.nan, math.nan, level, "t")
        reach = self._quantile((1 + level) / 2) * self.error
        return Interval(self.value - reach, self.value + reach, level, "t")

    def bounded_interval(self, units: float, level: float = 0.95) -> Interval:
        """The confidence interval of a score between 0 and 1, which it does not leave.

        Wilson's interval with the number of independent trials that would give this standard error, and Student's
        quantile. Where a score of 0 or 1 has no error, there are as many trials as units.
        """
        check_level(level)
        nothing = Interval(math.nan, math.nan, level, "clustered wilson")
        if not self._is_defined or not 0 <= self.value <= 1:
            return nothing
        spread = self.value * (1 - self.value)
        trials = spread / self.error**2 if self.error and spread else units
        if not trials > 0:
            return nothing
        square = student_quantile((1 + level) / 2, self.freedom) ** 2
        centre, scale = self.value + square / (2 * trials), 1 + square / trials
        reach = math.sqrt(square * (spread / trials + square / (4 * trials**2)))
        low, high = (centre - reach) / scale, (centre + reach) / scale
        return Interval(0.0 if self.value == 0 else low, 1.0 if self.value == 1 else high, level, "clustered wilson")

    def detectable(self, alpha: float = 0.05, power: float = 0.8) -> float:
        """The smallest true value that data of this precision show with the given power; NaN if unknown.

        By the noncentral t distribution: the shift at which a t of these degrees of freedom is significant with this
        probability, times the standard error.
        """
        check_alpha(alpha)
        if not self._is_defined or self.error == 0:
            return math.nan
        from scipy.special import nctdtrinc

        bound = self._quantile(1 - alpha / 2)
        if bound > FAR:
            return math.nan
        shift = float(nctdtrinc(min(self.freedom, 1e6), 1 - power, bound))
        return (shift if math.isfinite(shift) else bound + self._quantile(power)) * self.error

    def negated(self) -> Estimate:
        """The same of the difference the other way round."""
        return Estimate(-self.value, self.error, self.freedom)

    @property
    def _is_defined(self) -> bool:
        return math.isfinite(self.value) and self.error >= 0 and self.freedom > 0

    def _quantile(self, probability: float) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(self.freedom, probability))


@dataclass(frozen=True, slots=True)
class VariancePart:
    """A part of the variance of an estimate, and the degrees of freedom that it is estimated with."""

    source: str  # "units" or "runs"
    variance: float
    freedom: float


@dataclass(frozen=True, slots=True)
class RunsEstimate:
    """A score, or a difference of scores, whose error comes from units and from runs.

    `shared` is the variance that both parts contain, because a run differs from the others on single units: it is
    subtracted once.
    """

    value: float
    parts: tuple[VariancePart, ...]
    shared: float = 0.0
    most_freedom: float = math.inf  # few runs cannot be made up for by many units, see `run_freedom`

    @property
    def estimate(self) -> Estimate:
        """The estimate with Satterthwaite's degrees of freedom."""
        units = self.variance_of("units")
        variance = max(units, units + self.variance_of("runs") - self.shared)
        if not self.parts or any(math.isnan(part.variance) for part in self.parts):
            return Estimate(self.value, math.nan, math.nan)
        spread = sum(part.variance**2 / part.freedom for part in self.parts if part.variance and part.freedom > 0)
        least = min((part.freedom for part in self.parts if part.source == "units"), default=math.nan)
        freedom = max(1.0, variance**2 / spread) if spread else least
        return Estimate(self.value, math.sqrt(variance), min(freedom, self.most_freedom))

    def variance_of(self, source: str) -> float:
        """The variance from units or from runs, as far as it was estimated."""
        return math.fsum(part.variance for part in self.parts if part.source == source)


@dataclass(frozen=True, slots=True, eq=False)
class RunScores:
    """The runs of one system on one test set: their scores, and the influence of every unit on their mean."""

    scores_R: Values
    influence_N: Values  # mean over runs
    means_NF: Values  # counts of every unit, means over runs
    run_variance: float = math.nan  # of the scores; NaN for a single run
    shared_variance: float = 0.0  # of the mean over runs, the part that is in the variance from units as well
    is_fixed: bool = False  # all runs of the system are the same, so that one run is all there is

    @classmethod
    def of(cls, counts_RNF: Counts | Values, value: Value, *, is_fixed: bool = False) -> RunScores:
        """From the counts of every run and unit.

        The influence is that of the jackknife: (N - 1) times the mean of the scores without one unit, minus the score
        without this unit. The variance that runs and units share is that of their interaction.
        """
        if counts_RNF.ndim != 3:
            raise InputError(f"counts of shape {counts_RNF.shape}; expected runs, units and fields")
        totals_RF = counts_RNF.sum(axis=1, dtype=np.float64)
        scores_R, (runs, units) = value(totals_RF), counts_RNF.shape[:2]
        with np.errstate(invalid="ignore", divide="ignore"):
            left_out_RN = value(totals_RF[:, None, :] - counts_RNF)
        left_out_RN = np.where(np.isfinite(left_out_RN), left_out_RN, scores_R[:, None])
        influence_RN = (units - 1) * (left_out_RN.mean(axis=1, keepdims=True) - left_out_RN)
        influence_N, shared = influence_RN.mean(axis=0), 0.0
        if runs > 1 and units > 1:
            rest_RN = influence_RN - influence_N  # the rows of influences have mean 0
            shared = float((rest_RN**2).sum() / ((runs - 1) * (units - 1) * runs * units))
        variance = float(scores_R.var(ddof=1)) if runs > 1 else math.nan
        return cls(scores_R, influence_N, counts_RNF.mean(axis=0), variance, shared, is_fixed)

    @classmethod
    def joined(cls, parts: Sequence[RunScores]) -> RunScores:
        """The mean over several test sets, each run of the system being one model on all of them.

        Every test set has the same weight, and so its units have weights that are inverse to their number. A run that
        is good on all test sets is one good run, which averages over independent runs would take for many. The
        variances of the test sets with N units add up, each on N - 1 degrees of freedom; that of a single unit is NaN.
        """
        sets, units = len(parts), sum(part.units for part in parts)
        scores_R = np.mean([part.scores_R for part in parts], axis=0)
        freedoms = [(units - 1) / units * part.units / (part.units - 1 or math.nan) for part in parts]
        weights = [units / (sets * part.units) * math.sqrt(f) for part, f in zip(parts, freedoms, strict=True)]
        influence_N = np.concatenate([part.influence_N * weight for part, weight in zip(parts, weights, strict=True)])
        shares = [part.means_NF / max(_sizes(part.means_NF).sum(), 1e-300) / sets for part in parts]
        variance = float(scores_R.var(ddof=1)) if len(scores_R) > 1 else math.nan
        shared = math.fsum(part.shared_variance for part in parts) / sets**2
        return cls(scores_R, influence_N, np.concatenate(shares), variance, shared, all(p.is_fixed for p in parts))

    @property
    def runs(self) -> int:
        return len(self.scores_R)

    @property
    def has_one_run(self) -> bool:
        """Whether the score is that of one trained model of many that there could be."""
        return self.runs == 1 and not self.is_fixed

    @property
    def units(self) -> int:
        return len(self.influence_N)

    @property
    def mean(self) -> float:
        return float(self.scores_R.mean())

    def _run_parts(self) -> list[VariancePart]:
        return [VariancePart("runs", self.run_variance / self.runs, self.runs - 1)] if self.runs > 1 else []

    def estimate(self) -> RunsEstimate:
        """The mean score over runs."""
        units = _unit_part(self.influence_N, effective_units(_sizes(self.means_NF)))
        few = 2 * self.runs if 1 < self.runs < 5 else math.inf  # degrees of freedom, as in `run_freedom`
        return RunsEstimate(self.mean, (units, *self._run_parts()), self.shared_variance, few)

    def minus(self, other: RunScores) -> RunsEstimate:
        """The difference of the mean scores of two systems on the same units.

        Notes
        -----
        The variance of the difference of means over R and S runs on N units is estimated by

            V_units + V_runs - V_shared

        V_units is the variance over units of the difference of mean influences, divided by N (the jackknife); V_runs
        the variance of each system's scores divided by its runs; V_shared the interaction of runs and units of each
        system over (R - 1)(N - 1) degrees of freedom, divided by R N, which is in both. It is at least V_units. The
        degrees of freedom of V_units are the effective number of units 1 / Σ w² (Kish 1965), w their shares in what is
        counted, or the number of units on which the systems differ if that is smaller, minus 1; those of V_runs R - 1
        and S - 1; together Satterthwaite's, within the limit of `run_freedom`.

        If one of the systems has a single run, its variance over runs is taken to be that of the other, unless all its
        runs would be the same. If both have, there is no V_runs, and the difference is that of these two runs. If the
        systems differ on one unit at most, the standard error is at least 1.5 / N: the interval is then about as wide
        as the rule of three says of what was never seen.
        """
        if self.units != other.units:
            raise InputError(f"{self.units} and {other.units} units; expected the same units for both systems")
        parts, shared = self._run_parts() + other._run_parts(), self.shared_variance + other.shared_variance
        single, several = sorted((self, other), key=lambda scores: scores.runs)
        if single.runs == 1 < several.runs and not single.is_fixed:
            parts = [VariancePart("runs", several.run_variance * (1 + 1 / several.runs), several.runs - 1)]
            shared *= 1.0 + several.runs
        differs_N = np.zeros(self.units, bool)
        for field_N, other_N in zip(self.means_NF.T, other.means_NF.T, strict=True):
            differs_N |= field_N != other_N
        gold_N, predicted_N = (self.means_NF[:, at] + other.means_NF[:, at] for at in (GOLD, PREDICTED))
        effective = effective_units(gold_N + predicted_N)
        if (different := int(differs_N.sum())) > 1:
            units = _unit_part(self.influence_N - other.influence_N, min(effective, float(different)))
        else:
            units = _unit_part(self.influence_N - other.influence_N, effective)
            units = replace(units, variance=max(units.variance, (SAME / effective) ** 2))
        numbers = [scores.runs for scores in (self, other) if not scores.is_fixed]
        varying = shared > 0 or any(part.variance > 0 for part in parts)  # runs that are all the same limit nothing
        limit = run_freedom(*numbers) if varying else math.inf
        return RunsEstimate(self.mean - other.mean, (units, *parts), shared, limit)


def run_freedom(*runs: float) -> float:
    """The most degrees of freedom that an estimate may have whose error comes from so many runs of each system.

    Satterthwaite's degrees of freedom are too many where the variance over few runs happens to be estimated small. In
    simulations of all shares of the runs in the variance and of standard deviations that differ by a factor of two,
    tests at 5% then err in up to 13%; with these limits in up to 6.2% (2 runs against 3), mostly in less than 5%.

    Examples
    --------
    >>> run_freedom(3, 3), run_freedom(2, 2), run_freedom(1, 3), run_freedom(2, 10), run_freedom(4)
    (11, 4, 2, 1, 3)
    """
    few, many = min(runs), max(runs)
    if few == 1:
        return many - 1
    if few < 5 and (len(runs) == 1 or many >= 2 * few):
        return few - 1
    if few < 5 and many > few:
        return 2 * few - 1
    return 4 if few == 2 else 5 * few - 4


def effective_units(sizes_N: Values) -> float:
    """How many units of equal size would weigh as evenly as these: 1 / Σ w² of their shares (Kish 1965).

    Examples
    --------
    >>> import numpy as np
    >>> effective_units(np.array([10.0, 10, 10])), round(effective_units(np.array([100.0, 10, 10])), 2)
    (3.0, 1.41)
    """
    total, squares = float(sizes_N.sum()), float((sizes_N**2).sum())
    return total**2 / squares if squares else float(len(sizes_N))


def _sizes(means_NF: Values) -> Values:
    """How much of every unit is counted, in gold and predictions."""
    return np.asarray(means_NF[:, GOLD] + means_NF[:, PREDICTED])


def _unit_part(influence_N: Values, effective: float) -> VariancePart:
    """The variance of a mean over units; at least two of them must matter for it to have degrees of freedom."""
    units = len(influence_N)
    if units < 2 or effective < 1.5 or np.isnan(influence_N).any():
        return VariancePart("units", math.nan, math.nan)
    rounding = 1e-13 * units * max(1.0, float(np.abs(influence_N).max()))
    variance = float(influence_N.var(ddof=1)) / units if float(np.ptp(influence_N)) > rounding else 0.0
    return VariancePart("units", variance, effective - 1)


def run_share(estimates: Sequence[RunsEstimate]) -> float:
    """The share of the variance that more runs would reduce; NaN where all systems have one run."""
    if not any(part.source == "runs" for item in estimates for part in item.parts):
        return math.nan
    runs = math.fsum(item.variance_of("runs") for item in estimates)
    units = math.fsum(max(item.variance_of("units") - item.shared, 0.0) for item in estimates)
    return runs / (runs + units) if runs + units > 0 else math.nan


def average(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of independent estimates, such as differences on several test sets that are taken as they are.

    Its variance is the sum of theirs divided by the square of their number, on Satterthwaite's degrees of freedom.
    """
    number = len(estimates)
    value = math.fsum(item.value for item in estimates) / number if number else math.nan
    variances = [item.error**2 for item in estimates]
    total = math.fsum(variances)
    if not number or math.isnan(total):
        return Estimate(value, math.nan, math.nan)
    spread = sum(v**2 / item.freedom for v, item in zip(variances, estimates, strict=True) if v)
    freedom = total**2 / spread if spread else min(item.freedom for item in estimates)
    return Estimate(value, math.sqrt(total) / number, freedom)


def average_elsewhere(estimates: Sequence[Estimate], over_these: Estimate | None = None) -> Estimate | None:
    """The mean over all test sets like these, of which these are a sample; None of a single one.

    Its standard error is that of the mean of the values, or that over these test sets if it is greater, on one degree
    of freedom less than test sets: what is shown of others is shown of these.
    """
    if len(estimates) < 2:
        return None
    here, spread = over_these or average(estimates), mean_estimate(np.array([item.value for item in estimates]))
    error = spread.error if math.isnan(here.error) else max(spread.error, here.error)
    freedom = spread.freedom if math.isnan(here.freedom) else min(spread.freedom, here.freedom)
    return Estimate(spread.value, error, freedom)


def mean_estimate(values: Values) -> Estimate:
    """The mean of a sample, such as differences on test sets that stand for others like them.

    Examples
    --------
    >>> import numpy as np
    >>> round(mean_estimate(np.array([0.01, 0.03, 0.02, 0.02])).p, 4)
    0.0163
    """
    number = len(values)
    if number < 2:
        return Estimate(float(values.mean()) if number else math.nan, math.nan, math.nan)
    spread = float(values.std(ddof=1)) if float(np.ptp(values)) > 1e-12 * float(np.abs(values).max()) else 0.0
    return Estimate(float(values.mean()), spread / math.sqrt(number), number - 1)


def welch_estimate(first: Values, second: Values) -> Estimate:
    """The difference of the means of two independent samples, such as runs of two systems (Welch 1947).

    Examples
    --------
    >>> import numpy as np
    >>> estimate = welch_estimate(np.array([0.91, 0.92, 0.90]), np.array([0.88, 0.89, 0.885]))
    >>> round(estimate.p, 4), round(estimate.freedom, 2)
    (0.0316, 2.94)
    """
    difference = float(first.mean() - second.mean())
    if min(len(first), len(second)) < 2:
        return Estimate(difference, math.nan, math.nan)
    parts = [(float(sample.var(ddof=1)) / len(sample), len(sample) - 1) for sample in (first, second)]
    variance = sum(part for part, _ in parts)
    if variance <= (1e-12 * max(float(np.abs(first).max()), float(np.abs(second).max()))) ** 2:
        return Estimate(difference, 0.0, float(len(first) + len(second) - 2))
    freedom = variance**2 / sum(part**2 / degrees for part, degrees in parts)
    return Estimate(difference, math.sqrt(variance), freedom)
