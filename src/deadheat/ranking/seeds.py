"""Distributions of scores over seeds: what they look like, which differ, and what dev scores say of test scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InputError
from deadheat.ranking.seed_power import least_p
from deadheat.stats.aggregates import win_share
from deadheat.stats.aso import Aso, aso_matrix
from deadheat.stats.checks import Values, check_scores
from deadheat.stats.corrections import correct
from deadheat.stats.distributions import (
    DistributionTest,
    brown_forsythe,
    kolmogorov_smirnov,
    mann_whitney,
    spearman,
)
from deadheat.stats.intervals import Interval, normal_quantile
from deadheat.text import pluralize

GRID = 101  # points at which a density is told
REACH = 3  # bandwidths that it is told beyond the least and the greatest score


@dataclass(frozen=True, slots=True, eq=False)
class Density:
    """A smooth density of scores on a grid, for a violin; empty where the scores do not vary."""

    scores: Values
    density: Values
    bandwidth: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"scores": self.scores.tolist(), "density": self.density.tolist(), "bandwidth": self.bandwidth}


@dataclass(frozen=True, slots=True)
class SystemPair:
    """Two systems' distributions; p-values corrected for all pairs. `a_better` is the chance that a's run is better."""

    a: str
    b: str
    difference: float  # of the means
    a_better: float
    kolmogorov_smirnov: DistributionTest
    mann_whitney: DistributionTest
    brown_forsythe: DistributionTest
    corrected: Mapping[str, float]  # p-values by test
    least_p: float  # the least corrected p-value that Mann-Whitney's test can give so many runs of all systems
    aso_a: Aso  # almost stochastic order in favour of a
    aso_b: Aso

    def winner(self, alpha: float) -> str:
        """Who tends to score higher, by the corrected Mann-Whitney test; empty where none is shown to."""
        if self.corrected["mann_whitney"] > alpha or self.a_better == 0.5:
            return ""
        return self.a if self.a_better > 0.5 else self.b

    def __str__(self) -> str:
        p = self.corrected["mann_whitney"]
        return f"{self.a} - {self.b}: {self.difference:+.4f}, P(A > B) = {self.a_better:.3f}, Mann-Whitney p = {p:.4g}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "a": self.a,
            "b": self.b,
            "difference": self.difference,
            "a_better": self.a_better,
            "least_p": self.least_p,
            **{name: {**getattr(self, name).to_dict(), "p_corrected": p} for name, p in self.corrected.items()},
            "aso": {"a": self.aso_a.to_dict(), "b": self.aso_b.to_dict()},
        }


@dataclass(frozen=True, slots=True)
class SeedDifferences:
    """How far two runs of one configuration are apart, and the range of all its runs, over configurations."""

    configurations: int  # with at least two runs
    runs: int
    median: float
    p95: float
    maximum: float
    range_median: float
    range_p95: float
    range_maximum: float

    def __str__(self) -> str:
        told = f"median {self.median:.4f}, 95th percentile {self.p95:.4f}, maximum {self.maximum:.4f}"
        return f"two seeds differ by {told} ({pluralize(self.configurations, 'configuration')})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class DevTest:
    """What development scores say of test scores, and what choosing a run by them gives on test."""

    runs: int
    pearson: DistributionTest
    pearson_interval: Interval
    spearman: DistributionTest
    spearman_interval: Interval
    best_dev: float
    chosen: float  # test score of the run with the best dev score; the mean of several
    mean: float
    best: float

    def __str__(self) -> str:
        told = f"best on dev gives {self.chosen:.4f} (mean {self.mean:.4f}, best {self.best:.4f})"
        return f"rho = {self.spearman.statistic:.3f}, p = {self.spearman.p:.4g}; {told}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def density(scores: ArrayLike) -> Density:
    """A Gaussian kernel density of scores, on an even grid three bandwidths beyond them.

    Notes
    -----
    The bandwidth is Silverman's: 0.9 min(sd, IQR / 1.34) n^(-1/5) (Silverman 1986), with the standard deviation alone
    where the quartiles are equal.

    Examples
    --------
    >>> found = density([0.905, 0.911, 0.900, 0.908, 0.906])
    >>> print(round(float(np.trapezoid(found.density, found.scores)), 2))
    1.0
    """
    values = check_scores("density", scores)
    sd = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    quartiles = np.quantile(values, [0.25, 0.75])
    spread = min(sd, float(quartiles[1] - quartiles[0]) / 1.34) or sd
    width = 0.9 * spread * len(values) ** -0.2
    if not width > 1e-12 * max(1e-300, float(np.abs(values).max())):
        return Density(np.empty(0), np.empty(0), 0.0)
    grid = np.linspace(values.min() - REACH * width, values.max() + REACH * width, GRID)
    bumps = np.exp(-0.5 * ((grid[:, None] - values[None, :]) / width) ** 2)
    return Density(grid, bumps.sum(axis=1) / (len(values) * width * math.sqrt(2 * math.pi)), width)


def system_pairs(
    scores: Mapping[str, ArrayLike],
    *,
    rng: np.random.Generator,
    alpha: float = 0.05,
    correction: str = "holm",
    resamples: int = 1000,
) -> tuple[SystemPair, ...]:
    """Every two systems by their distributions of scores over seeds.

    Notes
    -----
    Kolmogorov-Smirnov (any difference), Mann-Whitney (who tends to be higher) and Brown-Forsythe (spread) are each
    corrected for all pairs; almost stochastic order divides alpha by the number of pairs. The least p-value is what is
    left of 2 / C(n + m, n), the runs of every two systems being fully apart.

    Examples
    --------
    >>> runs = {"A": [0.91, 0.92, 0.93, 0.94, 0.95], "B": [0.86, 0.87, 0.88, 0.89, 0.90]}
    >>> print(system_pairs(runs, rng=np.random.default_rng(0))[0])
    A - B: +0.0500, P(A > B) = 1.000, Mann-Whitney p = 0.007937
    """
    names = list(scores)
    values = [check_scores(f"runs of {name}", scores[name]) for name in names]
    if len(names) < 2:
        return ()
    places = list(combinations(range(len(names)), 2))
    tests = {
        "kolmogorov_smirnov": [kolmogorov_smirnov(values[i], values[j]) for i, j in places],
        "mann_whitney": [mann_whitney(values[i], values[j]) for i, j in places],
        "brown_forsythe": [brown_forsythe(values[i], values[j]) for i, j in places],
    }
    corrected = {name: _corrected([test.p for test in found], correction) for name, found in tests.items()}
    least = _corrected([least_p(len(values[i]), len(values[j])) for i, j in places], correction)
    order = aso_matrix(values, rng=rng, alpha=alpha, resamples=resamples)
    return tuple(
        SystemPair(
            names[i],
            names[j],
            float(values[i].mean() - values[j].mean()),
            win_share(values[i], values[j]),
            **{name: found[k] for name, found in tests.items()},
            corrected={name: float(p[k]) for name, p in corrected.items()},
            least_p=float(least[k]),
            aso_a=order.pair(i, j),
            aso_b=order.pair(j, i),
        )
        for k, (i, j) in enumerate(places)
    )


def _corrected(p_values: Sequence[float], correction: str) -> Values:
    """P-values corrected for the tests that could be made."""
    found = np.array(p_values, dtype=np.float64)
    made = np.isfinite(found)
    found[made] = correct(found[made], correction)
    return found


def seed_differences(keys_N: NDArray[np.int64], scores_N: ArrayLike) -> SeedDifferences:
    """How far runs of the same configuration are apart.

    Parameters
    ----------
    keys_N
        The configuration of every run.

    Notes
    -----
    Two runs are drawn from a configuration that is drawn at random: every configuration counts the same, however many
    runs it has. Quantiles are the least value that the wanted share does not exceed. The range, the greatest less the
    least score of a configuration, grows with its number of runs.

    Examples
    --------
    >>> print(seed_differences(np.array([0, 0, 1, 1, 2]), [0.90, 0.92, 0.85, 0.86, 0.7]))
    two seeds differ by median 0.0100, 95th percentile 0.0200, maximum 0.0200 (2 configurations)
    """
    scores = check_scores("seed differences", scores_N)
    order = np.lexsort((scores, keys_N))
    groups = np.split(scores[order], np.flatnonzero(np.diff(keys_N[order])) + 1)
    repeated = [group for group in groups if len(group) > 1]
    if not repeated:
        raise InputError("seed differences: every configuration has one run; expected some with two or more")
    gaps = [(group[None, :] - group[:, None])[np.triu_indices(len(group), 1)] for group in repeated]
    values = np.concatenate(gaps)
    weights = np.concatenate([np.full(len(gap), 1 / len(gap)) for gap in gaps])
    ranges = np.array([group[-1] - group[0] for group in repeated])
    return SeedDifferences(
        len(repeated),
        sum(map(len, repeated)),
        *_quantiles(values, weights),
        *_quantiles(ranges, np.ones(len(ranges))),
    )


def _quantiles(values: Values, weights: Values) -> tuple[float, float, float]:
    """Median, 95th percentile and maximum of weighted values."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    middle, high = (int(np.searchsorted(reached, share - 1e-12)) for share in (0.5, 0.95))
    return float(values[order[middle]]), float(values[order[high]]), float(values.max())


def dev_test(dev: ArrayLike, test: ArrayLike, *, level: float = 0.95) -> DevTest:
    """How well development scores of runs foretell their test scores.

    Notes
    -----
    Pearson's r is tested by r √((n - 2) / (1 - r²)), Student's on n - 2 degrees of freedom; `spearman` tells of ρ. The
    intervals are by Fisher's z = atanh(r), with variance 1 / (n - 3), and (1 + ρ²/2) / (n - 3) for ρ (Bonett & Wright
    2000); NaN with fewer than four runs.

    Examples
    --------
    >>> print(dev_test([0.941, 0.944, 0.939, 0.942, 0.940], [0.903, 0.905, 0.901, 0.902, 0.904]))
    rho = 0.600, p = 0.35; best on dev gives 0.9050 (mean 0.9030, best 0.9050)
    """
    ranked = spearman(dev, test)
    first, second = check_scores("dev scores", dev), check_scores("test scores", test)
    linear = _pearson(first, second)
    rho = ranked.statistic
    return DevTest(
        len(first),
        linear,
        _fisher(linear.statistic, len(first), 1.0, level),
        ranked,
        _fisher(rho, len(first), 1 + rho * rho / 2, level),
        float(first.max()),
        float(second[first == first.max()].mean()),
        float(second.mean()),
        float(second.max()),
    )


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
    reach = normal_quantile((1 + level) / 2) * math.sqrt(variance / (runs - 3))
    return Interval(math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach), level, "fisher")
