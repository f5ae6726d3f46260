"""Runs on several data sets as one number a system, with stratified bootstrap intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError
from deadheat.kernels.resampling import draw_weights, resampled_interquartile_means
from deadheat.stats.intervals import Interval, percentiles
from deadheat.stats.scores import BLOCK, ScoreLists, Values, check_number, check_score_lists

ONE_RUN = "a data set with one run has nothing to resample"


@dataclass(frozen=True, slots=True)
class InterquartileMean:
    """The mean of the middle half of all scores, with its interval; `note` says why the interval is NaN if it is."""

    value: float
    interval: Interval
    datasets: int
    runs: int  # of all data sets together
    resamples: int
    note: str = ""

    def __str__(self) -> str:
        return f"interquartile mean {self.value:.4f} {_shown(self)}, {self.runs} runs on {self.datasets} data sets"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Improvement:
    """The chance that a run of A scores higher than one of B; `note` says why the interval is NaN if it is."""

    value: float
    interval: Interval
    by_dataset: tuple[float, ...]
    resamples: int
    note: str = ""

    def __str__(self) -> str:
        sets = "one data set" if len(self.by_dataset) == 1 else f"{len(self.by_dataset)} data sets"
        return f"P(A > B) = {self.value:.4f} {_shown(self)}, {sets}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "by_dataset": list(self.by_dataset)}


def interquartile_mean(
    scores_DR: ScoreLists, *, rng: np.random.Generator, level: float = 0.95, resamples: int = 2000
) -> InterquartileMean:
    """The interquartile mean of one system's scores over data sets and runs.

    Parameters
    ----------
    scores_DR
        A row of scores a data set, on one scale; rows may be of different lengths.

    Notes
    -----
    All N scores are put together, the lowest and the highest ⌊N / 4⌋ are left out, and the mean is taken of the rest.
    For the interval, runs are drawn with replacement within each data set, so that it says what other seeds would
    have given on the same data sets (Agarwal et al. 2021). NaN if a data set has one run.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.91, 0.92, 0.90], [0.81, 0.84, 0.83], [0.71, 0.60, 0.75], [0.95, 0.96, 0.95]])
    >>> print(interquartile_mean(scores, rng=np.random.default_rng(0)))
    interquartile mean 0.8683 [0.8600, 0.8767] (95 % bootstrap), 12 runs on 4 data sets
    """
    return interquartile_means([scores_DR], rng=rng, level=level, resamples=resamples)[0]


def interquartile_means(
    scores_SDR: Sequence[ScoreLists] | NDArray[Any],
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 2000,
) -> tuple[InterquartileMean, ...]:
    """The interquartile means of several systems, each as `interquartile_mean`.

    Notes
    -----
    Resample b of a system depends on one number from `rng` and on b alone; systems are resampled independently, for
    their runs are.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.random.default_rng(1).normal(0.9, 0.02, (2, 4, 5))
    >>> for mean in interquartile_means(scores, rng=np.random.default_rng(0)):
    ...     print(mean)
    interquartile mean 0.9023 [0.8958, 0.9072] (95 % bootstrap), 20 runs on 4 data sets
    interquartile mean 0.9002 [0.8907, 0.9078] (95 % bootstrap), 20 runs on 4 data sets
    """
    _check_settings("interquartile_means", level, resamples)
    if not len(scores_SDR):
        raise InputError("interquartile_means: no systems; expected at least one")
    scores = [
        check_score_lists(f"interquartile_means, system {i + 1}", rows_DR, "data set")
        for i, rows_DR in enumerate(scores_SDR)
    ]
    keys_S = rng.integers(0, 2**64, size=len(scores), dtype=np.uint64)
    return tuple(_interquartile_mean(rows_DR, keys_S[i : i + 1], level, resamples) for i, rows_DR in enumerate(scores))


def probability_of_improvement(
    a_DR: ScoreLists,
    b_DR: ScoreLists,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 2000,
) -> Improvement:
    """The chance that a run of A scores higher than a run of B on the same data set.

    Parameters
    ----------
    a_DR, b_DR
        A row of scores a data set, or the scores of one data set alone. The systems may have different numbers of runs.

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
    _check_settings(where, level, resamples)
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
    """The share of pairs in which the first is higher, and half of those that are tied."""
    return doubled_wins(a, b) / (2 * len(a) * len(b))


def doubled_wins(a: Values, b: Values) -> int:
    """Twice the number of pairs in which the first is higher, and once that of those that are tied."""
    ordered = np.sort(b)
    below, upto = np.searchsorted(ordered, a, side="left"), np.searchsorted(ordered, a, side="right")
    return int(below.sum() + upto.sum())


def _interquartile_mean(
    rows_DR: list[Values], key: NDArray[np.uint64], level: float, resamples: int
) -> InterquartileMean:
    scores = np.concatenate(rows_DR)
    order = np.argsort(scores, kind="stable")
    cut, ordered = len(scores) // 4, scores[order]
    value = float(ordered[cut : len(ordered) - cut].mean())
    if min(map(len, rows_DR)) < 2:
        return InterquartileMean(value, _no_interval(level), len(rows_DR), len(scores), resamples, ONE_RUN)
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    starts = np.cumsum([0, *map(len, rows_DR)], dtype=np.int64)
    means_B = np.empty(resamples)
    resampled_interquartile_means(key, ordered, places, starts, np.empty_like(places), means_B)
    return InterquartileMean(value, percentiles(means_B, level=level), len(rows_DR), len(scores), resamples)


def _resampled_win_shares(a: Values, b: Values, keys: NDArray[np.uint64], resamples: int) -> Values:
    """`win_share` of as many resamples of both: the weight of B's scores below each of A's, by cumulative sums."""
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
        # Sums of whole numbers, and so exact in any order.
        share_B[first : first + size] = (weights_a * (under[:, below] + under[:, upto])).sum(axis=1)
    return share_B / (2 * len(a) * len(b))


def _rows(where: str, rows: ScoreLists) -> list[Values]:
    """Rows of scores, where a row of numbers alone is one data set."""
    single = len(rows) > 0 and all(np.ndim(row) == 0 for row in rows)
    return check_score_lists(where, [np.asarray(rows)] if single else rows, "data set")


def _check_settings(where: str, level: float, resamples: int) -> None:
    if not 0 < level < 1:
        raise InputError(f"{where}: level {level}; expected between 0 and 1, such as 0.95")
    check_number(where, "resamples", resamples, least=1)


def _no_interval(level: float) -> Interval:
    return Interval(math.nan, math.nan, level, "bootstrap")


def _shown(result: InterquartileMean | Improvement) -> str:
    return f"(no interval: {result.note})" if result.note else str(result.interval)
