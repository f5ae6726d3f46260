"""Confidence intervals: Wilson's for proportions, the bootstrap for all metrics."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError, NameUnknown, check_work
from deadheat.kernels.resampling import sum_draws
from deadheat.stats.checks import Values, check_level, check_number

Counts: TypeAlias = NDArray[np.integer[Any]]
Value: TypeAlias = Callable[[Values], Values]


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval and its method."""

    low: float
    high: float
    level: float
    method: str

    @property
    def bounds(self) -> tuple[float, float]:
        return self.low, self.high

    def __str__(self) -> str:
        return f"[{self.low:.4f}, {self.high:.4f}] ({100 * self.level:.10g} % {self.method})"


def bisect(is_below: Callable[[float], bool], low: float, high: float) -> float:
    """Return the number at which a condition turns false, exact to the last bits."""
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        low, high = (middle, high) if is_below(middle) else (low, middle)


def normal_quantile(probability: float) -> float:
    """Return the standard normal quantile."""
    if probability > 0.5:  # the lower tail is more precise
        return -normal_quantile(1 - probability)
    return bisect(lambda z: normal_cdf(z) < probability, -40.0, 40.0)


def normal_cdf(z: float) -> float:
    """Return the standard normal distribution function."""
    return math.erfc(-z / math.sqrt(2)) / 2


def wilson(correct: int, total: int, *, level: float = 0.95) -> Interval:
    """Wilson's score interval for a proportion.

    Notes
    -----
    With z the normal quantile of (1 + level) / 2 and p = correct / total, the bounds are
    (p + z²/2n ± z √(p(1 - p)/n + z²/4n²)) / (1 + z²/n) (Wilson 1927). NaN if nothing was tried.

    Examples
    --------
    >>> print(wilson(81, 263))
    [0.2553, 0.3662] (95 % wilson)
    """
    check_level(level)
    if not 0 <= correct <= total:
        raise InputError(f"wilson: {correct} correct of {total}; expected between 0 and {total}")
    if total == 0:
        return Interval(math.nan, math.nan, level, "wilson")
    z, p = normal_quantile((1 + level) / 2), correct / total
    centre = p + z * z / (2 * total)
    reach = z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    low = 0.0 if correct == 0 else (centre - reach) / scale
    high = 1.0 if correct == total else (centre + reach) / scale
    return Interval(low, high, level, "wilson")


def tango(only_first: int, only_second: int, items: int, *, level: float = 0.95) -> Interval:
    """Tango's score interval for the difference of two proportions of the same items.

    Notes
    -----
    With b and c items that only the first and only the second system has right, of n, the interval holds all d with
    |b - c - n d| ≤ z √(n (2q + d(1 - d))), where z is the normal quantile of (1 + level) / 2, and q the most likely
    chance that only the second is right if the difference is d: the greater root of 2n q² + (d (2n - b + c) - b - c) q
    = c d (1 - d) (Tango 1998). It excludes 0 exactly where McNemar's asymptotic test is significant.

    Examples
    --------
    >>> print(tango(1, 7, 21))
    [-0.5172, -0.0260] (95 % tango)
    """
    check_level(level)
    if min(only_first, only_second) < 0 or only_first + only_second > items:
        discordant = f"{only_first} and {only_second} items that one system alone has right"
        raise InputError(f"tango: {discordant}, of {items}; expected at most as many")
    if not items:
        return Interval(math.nan, math.nan, level, "tango")
    z, estimate = normal_quantile((1 + level) / 2), (only_first - only_second) / items

    def statistic(gap: float) -> float:
        linear = gap * (2 * items - only_first + only_second) - only_first - only_second
        root = math.sqrt(max(0.0, linear**2 + 8 * items * only_second * gap * (1 - gap)))
        variance = items * ((root - linear) / (2 * items) + gap * (1 - gap))
        return (only_first - only_second - items * gap) / math.sqrt(max(variance, 1e-300))

    low = -1.0 if estimate == -1 else bisect(lambda gap: statistic(gap) > z, -1.0, estimate)
    high = 1.0 if estimate == 1 else bisect(lambda gap: statistic(gap) > -z, estimate, 1.0)
    return Interval(low, high, level, "tango")


def resampled_sums(counts_NF: Counts, *, resamples: int, rng: np.random.Generator) -> Values:
    """Return sums of counts over units drawn with replacement, one row per resample.

    Sums of integers in float64 are exact, so the result does not depend on the order of addition. Resample b depends on
    one number from `rng` and on b only.
    """
    if not np.issubdtype(counts_NF.dtype, np.integer) or (counts_NF.size and counts_NF.min() < 0):
        raise InputError(f"counts of type {counts_NF.dtype}; expected integers, none below zero")
    units, fields = counts_NF.shape
    check_number("bootstrap", "resamples", resamples, least=1)
    check_work("resamples", resamples, nanoseconds=5 * units, size=32 * fields)
    key = rng.integers(0, 2**64, size=1, dtype=np.uint64)
    different_FN, column = np.unique(counts_NF.T, axis=0, return_inverse=True)  # totals are often equal
    rows_NW, slots = _packed(different_FN.astype(np.uint64))
    sums = np.empty(resamples * rows_NW.shape[1], np.uint64)
    sum_draws(key, 0, resamples, units, rows_NW.reshape(-1), sums)
    sums_BW = sums.reshape(resamples, -1)
    unpacked = [(sums_BW[:, word] >> np.uint64(shift)) & np.uint64(2**bits - 1) for word, shift, bits in slots]
    return np.stack(unpacked, axis=1).astype(np.float64)[:, column.reshape(-1)]


def _packed(fields_FN: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], list[tuple[int, int, int]]]:
    """Pack the counts of a unit into 64-bit words with space for their sums; also return word, shift and width."""
    slots: list[tuple[int, int, int]] = []
    word, shift = 0, 0
    for field in fields_FN:
        bits = max(1, (int(field.max(initial=0)) * len(field)).bit_length())
        if shift + bits > 64:
            word, shift = word + 1, 0
        slots.append((word, shift, bits))
        shift += bits
    rows_NW = np.zeros((fields_FN.shape[1], word + 1), np.uint64)
    for field, (at, left, _) in zip(fields_FN, slots, strict=True):
        rows_NW[:, at] |= field << np.uint64(left)
    return rows_NW, slots


def bootstrap(
    counts_NF: Counts,
    value: Value,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 2000,
    method: str = "percentile",
) -> Interval:
    """Bootstrap confidence interval of a metric over units.

    Notes
    -----
    Units (rows) are drawn with replacement as often as there are units; the bounds of `percentile` are the
    (1 - level)/2 and (1 + level)/2 quantiles of the metric's value of the summed counts (Efron 1979). `bca` moves
    these two probabilities by the bias z0 of the resamples and the acceleration a from leaving out one unit at a
    time, to Φ(z0 + (z0 + z)/(1 - a (z0 + z))) (Efron 1987). NaN with fewer than two units.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[1, 2], [2, 2], [0, 1], [3, 3]] * 25)
    >>> print(bootstrap(counts, lambda sums: sums[..., 0] / sums[..., 1], rng=np.random.default_rng(0)))
    [0.6811, 0.8038] (95 % bootstrap)
    """
    check_level(level)
    if method not in ("percentile", "bca"):
        raise NameUnknown("bootstrap interval", method, ("percentile", "bca"))
    if len(counts_NF) < 2:
        return Interval(math.nan, math.nan, level, "bootstrap")
    values_B = value(resampled_sums(counts_NF, resamples=resamples, rng=rng))
    if method == "percentile":
        return percentiles(values_B, level=level)
    total = counts_NF.sum(axis=0).astype(np.float64)
    return _bca(values_B, float(value(total)), value(total - counts_NF), level=level)


def _bca(values_B: Values, observed: float, left_out_N: Values, *, level: float) -> Interval:
    values_B = values_B[~np.isnan(values_B)]
    below = np.mean(values_B < observed) + np.mean(values_B == observed) / 2 if len(values_B) else math.nan
    pull = left_out_N.mean() - left_out_N
    spread = float((pull**2).sum()) ** 1.5
    plain = Interval(*percentiles(values_B, level=level).bounds, level, "bootstrap bca")
    if not 0 < below < 1 or not spread > 0:
        return plain
    bias, acceleration = normal_quantile(float(below)), float((pull**3).sum()) / (6 * spread)
    bounds = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        moved = bias + normal_quantile(tail)
        if acceleration * moved >= 1:  # the correction is undefined
            return plain
        bounds.append(normal_cdf(bias + moved / (1 - acceleration * moved)))
    low, high = np.quantile(values_B, bounds)
    return Interval(float(low), float(high), level, "bootstrap bca")


def difference(
    first_NF: Counts,
    second_NF: Counts,
    value: Value,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 2000,
) -> Interval:
    """Paired percentile bootstrap interval of the difference between two systems, over the same resampled units.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([[2, 2], [1, 2]] * 50), np.array([[1, 2], [1, 2]] * 50)
    >>> print(difference(a, b, lambda sums: sums[..., 0] / sums[..., 1], rng=np.random.default_rng(0)))
    [0.2050, 0.3000] (95 % bootstrap)
    """
    check_level(level)
    if first_NF.shape != second_NF.shape:
        raise InputError(f"counts of {len(first_NF)} and {len(second_NF)} units; expected the same units for both")
    if len(first_NF) < 2:
        return Interval(math.nan, math.nan, level, "bootstrap")
    fields = first_NF.shape[1]
    sums = resampled_sums(np.concatenate([first_NF, second_NF], axis=1), resamples=resamples, rng=rng)
    return percentiles(value(sums[:, :fields]) - value(sums[:, fields:]), level=level)


def percentiles(values_B: Values, *, level: float) -> Interval:
    """Return the percentile interval of resampled values, ignoring NaN."""
    kept = values_B[~np.isnan(values_B)]
    if not len(kept):
        return Interval(math.nan, math.nan, level, "bootstrap")
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, "bootstrap")
