"""Aggregate scores of runs over data sets, with stratified bootstrap intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deadheat.errors import InputError
from deadheat.kernels.resampling import draw_weights, resampled_interquartile_means
from deadheat.stats.checks import BLOCK, ScoreLists, Values, check_level, check_number, check_score_lists
from deadheat.stats.intervals import Interval, percentiles

ONE_RUN = "a data set with one run has nothing to resample"


@dataclass(frozen=True, slots=True)
class InterquartileMean:
    """The mean of the middle half of all scores; `note` says why the interval is NaN, if it is."""

    value: float
    interval: Interval
    datasets: int
    runs: int  # of all data sets together
    resamples: int
    note: str = ""

    def __str__(self) -> str:
        return f"interquartile mean {self.value:.4f} {_shown(self)}, {self.runs} runs on {self.datasets} data sets"


@dataclass(frozen=True, slots=True)
class Improvement:
    """The probability that a run of A scores higher than one of B; `note` says why the interval is NaN, if it is."""

    value: float
    interval: Interval
    by_dataset: tuple[float, ...]
    resamples: int
    note: str = ""

    def __str__(self) -> str:
        sets = "one data set" if len(self.by_dataset) == 1 else f"{len(self.by_dataset)} data sets"
        return f"P(A > B) = {self.value:.4f} {_shown(self)}, {sets}"


def interquartile_mean(
    scores_DR: ScoreLists, *, rng: Generator, level: float = 0.95, resamples: int = 2000
) -> InterquartileMean:
    """Return the interquartile mean of one system over data sets and runs.

    Parameters
    ----------
    scores_DR
        One row of scores per data set, on one scale; rows may have different lengths.

    Notes
    -----
    All N scores are pooled, and the mean is taken without the ⌊N / 4⌋ lowest and highest ones. For the interval, runs
    are drawn with replacement within each data set, so it reflects the variation over seeds on the same data sets
    (Agarwal et al. 2021). NaN if a data set has one run.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.91, 0.92, 0.90], [0.81, 0.84, 0.83], [0.71, 0.60, 0.75], [0.95, 0.96, 0.95]])
    >>> print(interquartile_mean(scores, rng=np.random.default_rng(0)))
    interquartile mean 0.8683 [0.8600, 0.8767] (95 % bootstrap), 12 runs on 4 data sets
    """
    check_level(level)
    check_number("interquartile_mean", "resamples", resamples, least=1)
    rows_DR = check_score_lists("interquartile_mean", scores_DR, "data set")
    scores = np.concatenate(rows_DR)
    order = np.argsort(scores, kind="stable")
    cut, ordered = len(scores) // 4, scores[order]
    value = float(ordered[cut : len(ordered) - cut].mean())
    key = rng.integers(0, 2**64, size=1, dtype=np.uint64)
    if min(map(len, rows_DR)) < 2:
        return InterquartileMean(value, _no_interval(level), len(rows_DR), len(scores), resamples, ONE_RUN)
    positions = np.empty(len(order), dtype=np.int64)
    positions[order] = np.arange(len(order))
    starts = np.cumsum([0, *map(len, rows_DR)], dtype=np.int64)
    means_B = np.empty(resamples)
    resampled_interquartile_means(key, ordered, positions, starts, np.empty_like(positions), means_B)
    return InterquartileMean(value, percentiles(means_B, level=level), len(rows_DR), len(scores), resamples)


def probability_of_improvement(
    a_DR: ScoreLists, b_DR: ScoreLists, *, rng: Generator, level: float = 0.95, resamples: int = 2000
) -> Improvement:
    """Return the probability that a run of A scores higher than a run of B on the same data set.

    Parameters
    ----------
    a_DR, b_DR
        One row of scores per data set, or the scores of a single data set. Numbers of runs may differ.

    Notes
    -----
    On each data set #{a > b} / nm + #{a = b} / 2nm over all pairs of runs, and the mean of that over data sets. For the
    interval, runs are drawn with replacement within each data set and system (Agarwal et al. 2021). NaN if a data set
    has one run.

    Examples
    --------
    >>> import numpy as np
    >>> print(probability_of_improvement([0.91, 0.92, 0.93], [0.90, 0.92, 0.89], rng=np.random.default_rng(0)))
    P(A > B) = 0.8333 [0.4444, 1.0000] (95 % bootstrap), one data set
    """
    where = "probability_of_improvement"
    check_level(level)
    check_number(where, "resamples", resamples, least=1)
    a, b = (_rows(f"{where}, {which} system", rows) for which, rows in (("first", a_DR), ("second", b_DR)))
    if len(a) != len(b):
        raise InputError(f"{where}: {len(a)} and {len(b)} data sets; expected the same for both")
    by_dataset = tuple(win_share(*pair) for pair in zip(a, b, strict=True))
    value = math.fsum(by_dataset) / len(by_dataset)
    if min(map(len, [*a, *b])) < 2:
        return Improvement(value, _no_interval(level), by_dataset, resamples, ONE_RUN)
    keys_D2 = rng.integers(0, 2**64, size=(len(a), 2), dtype=np.uint64)
    total_B = np.zeros(resamples)
    for first, second, keys in zip(a, b, keys_D2, strict=True):
        total_B += _resampled_win_shares(first, second, keys, resamples)
    return Improvement(value, percentiles(total_B / len(a), level=level), by_dataset, resamples)


def win_share(a: Values, b: Values) -> float:
    """Return the share of pairs in which the first is higher, plus half of the ties."""
    return doubled_wins(a, b) / (2 * len(a) * len(b))


def doubled_wins(a: Values, b: Values) -> int:
    """Return twice the number of pairs in which the first is higher, plus the number of ties."""
    ordered = np.sort(b)
    below, upto = np.searchsorted(ordered, a, side="left"), np.searchsorted(ordered, a, side="right")
    return int(below.sum() + upto.sum())


def _resampled_win_shares(a: Values, b: Values, keys: NDArray[np.uint64], resamples: int) -> Values:
    """Return the `win_share` of each resample, by cumulative sums of the weights of B's scores."""
    ordered = np.sort(b)
    below, upto = np.searchsorted(ordered, a, side="left"), np.searchsorted(ordered, a, side="right")
    share_B = np.empty(resamples)
    rows = max(1, min(resamples, BLOCK // (len(a) + len(b))))
    for first in range(0, resamples, rows):
        size = min(rows, resamples - first)
        weights_a, weights_b = np.empty((size, len(a))), np.empty((size, len(b)))
        draw_weights(keys[:1], first, size, len(a), weights_a.reshape(-1))
        draw_weights(keys[1:], first, size, len(b), weights_b.reshape(-1))
        under = np.concatenate([np.zeros((size, 1)), np.cumsum(weights_b, axis=1)], axis=1)
        # Sums of integers are exact in any order.
        share_B[first : first + size] = (weights_a * (under[:, below] + under[:, upto])).sum(axis=1)
    return share_B / (2 * len(a) * len(b))


def _rows(where: str, rows: ScoreLists) -> list[Values]:
    """Return rows of scores; a single row of numbers is one data set."""
    single = len(rows) > 0 and all(np.ndim(row) == 0 for row in rows)
    return check_score_lists(where, [np.asarray(rows)] if single else rows, "data set")


def _no_interval(level: float) -> Interval:
    return Interval(math.nan, math.nan, level, "bootstrap")


def _shown(result: InterquartileMean | Improvement) -> str:
    return f"(no interval: {result.note})" if result.note else str(result.interval)


def pass_at_k(attempts_N: Values, correct_N: Values, k: int) -> Values:
    """The chance that at least one of k attempts is right, by item, without bias (Chen et al. 2021).

    It is 1 - C(n - c, k) / C(n, k) with c of n attempts right: the share of the ways to choose k of them that contain
    a right one. NaN with fewer than k attempts.

    Examples
    --------
    >>> pass_at_k(np.array([4, 4, 4, 1]), np.array([0, 1, 4, 1]), 2)
    array([0. , 0.5, 1. , nan])
    """
    if k < 1:
        raise InputError(f"pass@{k}; expected at least 1 attempt")
    attempts_N, wrong_N = np.asarray(attempts_N, float), np.asarray(attempts_N - correct_N, float)
    chance_N = np.ones(len(attempts_N))  # that all k are wrong
    with np.errstate(invalid="ignore", divide="ignore"):
        for i in range(k):
            chance_N *= np.maximum(wrong_N - i, 0.0) / (attempts_N - i)
    return np.where(attempts_N < k, np.nan, 1 - chance_N)
