"""Distributions of scores over seeds: their shape, tests of pairs of systems, and dev scores as predictors of test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InputError
from deadheat.ranking.seed_power import SeedPower, detectable_difference, mean_difference, seeds_needed
from deadheat.stats.aggregates import win_share
from deadheat.stats.aso import Aso, aso_matrix
from deadheat.stats.checks import Values, check_scores
from deadheat.stats.corrections import correct_defined, decision_levels
from deadheat.stats.distributions import DistributionTest, brown_forsythe, kolmogorov_smirnov, mann_whitney, spearman
from deadheat.stats.estimates import Estimate
from deadheat.stats.intervals import Interval, normal_quantile
from deadheat.stats.ranks import expected_range, studentized_range_quantile

GRID_POINTS = 101
DETECTABLE_POWER = 0.8  # with which runs would show a difference, where they show none
MOST_PAIRS = 5_000_000  # of runs of the same configuration whose differences are computed
MARGIN = 3  # bandwidths by which the grid of a density extends beyond the scores


@dataclass(frozen=True, slots=True)
class Density:
    """A kernel density estimate on a grid of scores; empty where the scores do not vary."""

    scores: tuple[float, ...]
    density: tuple[float, ...]
    bandwidth: float


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The difference of two systems' mean scores by Welch's test, corrected for all pairs of systems.

    The interval is as wide as the correction asks for: it excludes 0 exactly where the corrected p-value is at most
    alpha. All but the value is NaN where a system has one run.
    """

    estimate: Estimate
    interval: Interval
    p: float
    p_corrected: float


@dataclass(frozen=True, slots=True)
class SystemPair:
    """Two systems compared by their scores over runs; p-values are corrected for all pairs of systems."""

    a: str
    b: str
    means: MeanDifference  # of a minus that of b
    a_better: float  # probability that a run of a scores higher than a run of b; ties count half
    mann_whitney: DistributionTest
    kolmogorov_smirnov: DistributionTest
    brown_forsythe: DistributionTest
    mann_whitney_p_corrected: float
    kolmogorov_smirnov_p_corrected: float
    brown_forsythe_p_corrected: float
    aso_a: Aso  # almost stochastic order in favour of a
    aso_b: Aso
    power: SeedPower
    detectable: float  # the smallest difference of means that the runs at hand would show with power 0.8

    @property
    def difference(self) -> float:
        """Mean of a minus mean of b."""
        return self.means.estimate.value

    @property
    def winner(self) -> str:
        """Which is shown to have the higher mean on this test set; empty if neither is."""
        if self.means.interval.low > 0:
            return self.a
        return self.b if self.means.interval.high < 0 else ""


@dataclass(frozen=True, slots=True)
class RunRange:
    """The best and the worst run of a system, and how far apart they are expected to be by chance.

    As many runs with the same normal distribution have an expected range of d2(n) standard deviations, which grows with
    their number, and stay within the 95% quantile in 95 of 100 cases. The standard deviation is that of the runs.
    """

    runs: int
    observed: float
    expected: float
    p95: float


@dataclass(frozen=True, slots=True)
class SeedDifferences:
    """Differences between two runs of one configuration, and the range of all its runs, over configurations."""

    configurations: int  # with at least two runs
    runs: int
    median: float
    p95: float
    maximum: float
    range_median: float
    range_p95: float
    range_maximum: float


@dataclass(frozen=True, slots=True)
class DevTest:
    """How dev and test scores of runs correlate, and the test score of the run that is best on dev."""

    runs: int
    pearson: DistributionTest
    pearson_interval: Interval
    spearman: DistributionTest
    spearman_interval: Interval
    best_dev: float
    selected: float  # test score of the run with the best dev score; the mean if several share it
    mean: float
    best: float


def density(scores: ArrayLike) -> Density:
    """Gaussian kernel density of scores, on an even grid that extends three bandwidths beyond them.

    The bandwidth is Silverman's: 0.9 min(sd, IQR / 1.34) n^(-1/5) (Silverman 1986), with the standard deviation alone
    where the quartiles are equal.
    """
    values = check_scores("density", scores)
    sd = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    quartiles = np.quantile(values, [0.25, 0.75])
    spread = min(sd, float(quartiles[1] - quartiles[0]) / 1.34) or sd
    width = 0.9 * spread * len(values) ** -0.2
    if not width > 1e-12 * max(1e-300, float(np.abs(values).max())):
        return Density((), (), 0.0)
    grid = np.linspace(values.min() - MARGIN * width, values.max() + MARGIN * width, GRID_POINTS)
    kernels = np.exp(-0.5 * ((grid[:, None] - values[None, :]) / width) ** 2)
    heights = kernels.sum(axis=1) / (len(values) * width * math.sqrt(2 * math.pi))
    return Density(tuple(grid.tolist()), tuple(heights.tolist()), width)


def system_pairs(
    scores: Mapping[str, ArrayLike],
    *,
    rng: np.random.Generator,
    alpha: float = 0.05,
    correction: str = "holm",
    resamples: int = 1000,
    difference: float | None = None,
    target: float = 0.8,
) -> tuple[SystemPair, ...]:
    """Compare every two systems by their scores over seeds.

    `mean_differences` is what verdicts are made of. Kolmogorov-Smirnov (any difference), Mann-Whitney (who tends to be
    higher) and Brown-Forsythe (spread) describe the distributions, and are each corrected for all pairs; almost
    stochastic order divides alpha by the number of pairs. For `difference` and `target` see `seeds_needed`.
    """
    names = list(scores)
    values = [check_scores(f"runs of {name}", scores[name]) for name in names]
    if len(names) < 2:
        return ()
    indices = list(combinations(range(len(names)), 2))
    ranks, shapes, spreads = (
        [test(values[i], values[j]) for i, j in indices] for test in (mann_whitney, kolmogorov_smirnov, brown_forsythe)
    )
    corrected = [correct_defined([test.p for test in tests], correction).tolist() for tests in (ranks, shapes, spreads)]
    means = mean_differences(values, alpha=alpha, correction=correction)
    order = aso_matrix(values, rng=rng, alpha=alpha, resamples=resamples)
    comparisons = _comparisons(len(indices), correction)
    pairs = []
    for k, (i, j) in enumerate(indices):
        a, b = values[i], values[j]
        power = seeds_needed(a, b, rng=rng, difference=difference, alpha=alpha, comparisons=comparisons, target=target)
        pair = SystemPair(
            names[i],
            names[j],
            means[k],
            win_share(a, b),
            *(ranks[k], shapes[k], spreads[k]),
            *(corrected[0][k], corrected[1][k], corrected[2][k]),
            order.pair(i, j),
            order.pair(j, i),
            power,
            power.detectable_difference if target == DETECTABLE_POWER else _detectable(a, b, power),
        )
        pairs.append(pair)
    return tuple(pairs)


def mean_differences(values: Sequence[Values], *, alpha: float, correction: str) -> list[MeanDifference]:
    """The differences of the means of every two systems' runs, first minus second, corrected for all pairs."""
    indices = list(combinations(range(len(values)), 2))
    level = alpha / _comparisons(len(indices), correction)
    estimates = [mean_difference(values[i], values[j], level) for i, j in indices]
    p_values = [estimate.p for estimate in estimates]
    corrected, levels = correct_defined(p_values, correction), decision_levels(p_values, correction, alpha)
    return [
        MeanDifference(estimate, _interval(estimate, 1 - float(level), alpha), estimate.p, float(p))
        for estimate, p, level in zip(estimates, corrected, levels, strict=True)
    ]


def _interval(estimate: Estimate, level: float, alpha: float) -> Interval:
    return Interval(math.nan, math.nan, 1 - alpha, "t") if math.isnan(level) else estimate.interval(level)


def _detectable(a: Values, b: Values, power: SeedPower) -> float:
    """The smallest difference that the runs at hand would show with power 0.8; NaN where a system has one run."""
    if min(len(a), len(b)) < 2:
        return math.nan
    variances, sizes = (float(a.var(ddof=1)), float(b.var(ddof=1))), (len(a), len(b))
    return detectable_difference(variances, sizes, power.alpha / power.comparisons, DETECTABLE_POWER)


def _comparisons(pairs: int, correction: str) -> int:
    """How many pairs share alpha."""
    return 1 if correction == "none" else max(1, pairs)


def run_range(scores: ArrayLike) -> RunRange:
    """The difference between the best and the worst run, and what chance alone leads one to expect."""
    values = check_scores("range of runs", scores)
    if len(values) < 2:
        raise InputError("range of runs: one run; expected at least two")
    sd, runs = float(values.std(ddof=1)), len(values)
    return RunRange(runs, float(np.ptp(values)), expected_range(runs) * sd, studentized_range_quantile(0.05, runs) * sd)


def seed_differences(keys_N: NDArray[np.int64], scores_N: ArrayLike) -> SeedDifferences:
    """Differences between runs of the same configuration, which `keys_N` gives for every run.

    Two runs are drawn from a configuration that is drawn at random: every configuration counts the same, however many
    runs it has. With more than five million pairs, large configurations are represented by quantiles of their scores.
    Quantiles are the smallest value that the wanted share does not exceed. The range, the highest minus
    the lowest score of a configuration, grows with its number of runs.
    """
    scores = check_scores("seed differences", scores_N)
    order = np.lexsort((scores, keys_N))
    groups = np.split(scores[order], np.flatnonzero(np.diff(keys_N[order])) + 1)
    repeated = [group for group in groups if len(group) > 1]
    if not repeated:
        raise InputError("seed differences: every configuration has one run; expected some with two or more")
    gaps = [(group[None, :] - group[:, None])[np.triu_indices(len(group), 1)] for group in _thinned(repeated)]
    weights = np.concatenate([np.full(len(gap), 1 / len(gap)) for gap in gaps])
    ranges = np.array([group[-1] - group[0] for group in repeated])
    return SeedDifferences(
        len(repeated),
        sum(map(len, repeated)),
        *_quantiles(np.concatenate(gaps), weights),
        *_quantiles(ranges, np.ones(len(ranges))),
    )


def _thinned(groups: Sequence[Values]) -> Sequence[Values]:
    """Groups of sorted scores with at most so many pairs in all; larger groups are represented by their quantiles."""
    if sum(len(group) * (len(group) - 1) // 2 for group in groups) <= MOST_PAIRS:
        return groups
    most = max(2, math.isqrt(2 * MOST_PAIRS // len(groups)))
    places = (np.linspace(0, len(group) - 1, min(len(group), most)).round().astype(int) for group in groups)
    return [group[kept] for group, kept in zip(groups, places, strict=True)]


def _quantiles(values: Values, weights: Values) -> tuple[float, float, float]:
    """Median, 95th percentile and maximum of weighted values."""
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order]) / weights.sum()
    median, p95 = (int(np.searchsorted(cumulative, share - 1e-12)) for share in (0.5, 0.95))
    return float(values[order[median]]), float(values[order[p95]]), float(values.max())


def dev_test(dev: ArrayLike, test: ArrayLike, *, level: float = 0.95) -> DevTest:
    """How well development scores of runs predict their test scores.

    Pearson's r is tested by r √((n - 2) / (1 - r²)), Student's on n - 2 degrees of freedom; ρ by `spearman`. The
    intervals are by Fisher's z = atanh(r), with variance 1 / (n - 3), and (1 + ρ²/2) / (n - 3) for ρ (Bonett & Wright
    2000); NaN with fewer than four runs.
    """
    ranked = spearman(dev, test)
    first, second = check_scores("dev scores", dev), check_scores("test scores", test)
    linear = _pearson(first, second)
    r, rho = linear.statistic, ranked.statistic
    pearson = (linear, _fisher(r, len(first), 1.0, level))
    by_rank = (ranked, _fisher(rho, len(first), 1 + rho * rho / 2, level))
    selected = second[first == first.max()].mean()
    scores = (float(first.max()), float(selected), float(second.mean()), float(second.max()))
    return DevTest(len(first), *pearson, *by_rank, *scores)


def _pearson(first: Values, second: Values) -> DistributionTest:
    x, y = first - first.mean(), second - second.mean()
    norm = math.sqrt(float((x * x).sum() * (y * y).sum()))
    n = len(first)
    if n < 3 or norm == 0:
        note = "fewer than three runs" if n < 3 else "a score that is the same in all runs"
        return DistributionTest("Pearson", "r", math.nan, math.nan, "t", note)
    from scipy.special import stdtr

    r = min(1.0, max(-1.0, float(x @ y) / norm))
    p = 2 * float(stdtr(n - 2, -abs(r) * math.sqrt((n - 2) / (1 - r * r)))) if abs(r) < 1 else 0.0
    return DistributionTest("Pearson", "r", r, p, "t")


def _fisher(r: float, runs: int, variance: float, level: float) -> Interval:
    if runs < 4 or not abs(r) < 1:
        return Interval(math.nan, math.nan, level, "fisher")
    margin = normal_quantile((1 + level) / 2) * math.sqrt(variance / (runs - 3))
    return Interval(math.tanh(math.atanh(r) - margin), math.tanh(math.atanh(r) + margin), level, "fisher")
