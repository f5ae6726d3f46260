"""Wilcoxon's signed-rank test and the sign test, over units or data sets."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.kernels.statistics import signed_rank_tails
from deadheat.stats.checks import Values
from deadheat.stats.rankings import doubled_ranks

ZEROS = ("wilcoxon", "pratt")
METHODS = ("auto", "exact", "normal")
EXACT_LIMIT = 60  # differences; beyond, the error of the normal approximation is 0.1 % at p = 0.05, 25 % at 0.001
EXACT_CELLS = 1 << 22  # of the table of sums; only Pratt's rule with many zeros needs more
RESOLUTION = 2.0**-40  # of the greatest score; smaller differences are rounding errors


@dataclass(frozen=True, slots=True)
class SignedRank:
    """Wilcoxon's signed-rank test: the rank sums of positive and negative differences, and the p-value.

    `n` counts the nonzero differences.
    """

    positive: float
    negative: float
    p: float
    n: int
    zeros: int
    method: str

    @property
    def statistic(self) -> float:
        """The smaller of the two rank sums."""
        return min(self.positive, self.negative)

    @property
    def effect(self) -> float:
        """Matched-pairs rank biserial correlation, from -1 to 1 (Kerby 2014); 0 if there is no difference."""
        total = self.positive + self.negative
        return (self.positive - self.negative) / total if total else 0.0

    def __str__(self) -> str:
        p = f"p = {self.p:.4g} ({self.method})"
        return f"signed-rank W = {self.statistic:g}, {p}, effect {self.effect:+.2f}, n = {self.n}"


@dataclass(frozen=True, slots=True)
class SignTest:
    """The sign test: the numbers of positive, negative and zero differences, and the p-value."""

    positive: int
    negative: int
    zeros: int
    p: float

    @property
    def statistic(self) -> int:
        """The smaller of the two counts."""
        return min(self.positive, self.negative)

    @property
    def n(self) -> int:
        """Number of nonzero differences."""
        return self.positive + self.negative

    @property
    def effect(self) -> float:
        """Share of positive minus share of negative differences, from -1 to 1; 0 if there is no difference."""
        return (self.positive - self.negative) / self.n if self.n else 0.0

    def __str__(self) -> str:
        counts = f"{self.positive} up, {self.negative} down, {self.zeros} equal"
        return f"sign test: {counts}, p = {self.p:.4g}, effect {self.effect:+.2f}"


def paired_differences(first: ArrayLike, second: ArrayLike) -> Values:
    """Subtract scores so that differences that are equal in decimals are equal.

    In binary, 90.3 - 90.1 exceeds 60.3 - 60.1, which would matter to a test on ranks. Differences are rounded to
    multiples of 2^-40 (about 12 digits) of the first power of two above the scores.
    """
    left, right = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if left.shape != right.shape:
        raise InputError(f"paired scores: shapes {left.shape} and {right.shape}; expected equal shapes")
    for name, scores in (("first", left), ("second", right)):
        wrong = np.argwhere(~np.isfinite(scores))
        if len(wrong):
            position = ", ".join(str(i + 1) for i in wrong[0])
            raise InputError(f"{name} score {position}: {scores[tuple(wrong[0])]}; expected a finite number")
    greatest = max(np.abs(left).max(initial=0.0), np.abs(right).max(initial=0.0))
    step = math.ldexp(RESOLUTION, math.frexp(greatest)[1])
    # The step is 0 for scores near the smallest floats.
    return np.round((left - right) / step) * step if step > 0 else left - right


def signed_rank(
    differences_N: ArrayLike, *, zeros: str = "wilcoxon", method: str = "auto", continuity: bool = False
) -> SignedRank:
    """Two-sided signed-rank test of whether paired differences are symmetric about zero.

    Parameters
    ----------
    differences_N
        One per unit or data set; `paired_differences` computes them from scores.
    zeros
        "wilcoxon" drops zero differences; "pratt" drops them after ranking.
    method
        "exact", "normal", or "auto": exact up to 60 nonzero differences.
    continuity
        Whether to use a continuity correction in the normal approximation. Without ties it is more precise for
        p-values above 0.1, and conservative below 0.05.

    Notes
    -----
    W is the sum of the mean ranks of the positive among the absolute differences (Wilcoxon 1945). Exact: twice the
    share of all 2^n signs of the ranks with a sum at most the smaller one, by dynamic programming. Normal: W has mean
    Σr/2 and variance Σr²/4, which includes the usual corrections for ties and for zeros (Pratt 1959). Without any
    difference p is 1.

    Examples
    --------
    >>> print(signed_rank([1.2, 0.5, -0.1, 2.0, 0.7, 0.3]))
    signed-rank W = 1, p = 0.0625 (exact), effect +0.90, n = 6
    """
    rows = _check_differences(differences_N, dimensions=1)[None]
    return signed_rank_rows(rows, zeros=zeros, method=method, continuity=continuity)[0]


def signed_rank_rows(
    differences_BN: ArrayLike, *, zeros: str = "wilcoxon", method: str = "auto", continuity: bool = False
) -> list[SignedRank]:
    """Signed-rank test of every row: many pairs of systems over the same units."""
    for kind, value, choices in (("rule for zeros", zeros, ZEROS), ("method", method, METHODS)):
        if value not in choices:
            raise NameUnknown(kind, value, choices)
    differences = _check_differences(differences_BN, dimensions=2)
    nonzero = differences != 0
    sizes = nonzero.sum(axis=1)
    ranks = doubled_ranks(np.abs(differences))
    if zeros == "wilcoxon":
        ranks -= 2 * (nonzero.shape[1] - sizes)[:, None]
    ranks[~nonzero] = 0
    positive = np.where(differences > 0, ranks, 0).sum(axis=1)
    totals = ranks.sum(axis=1)
    smaller = np.minimum(positive, totals - positive)
    exact = _test_exactly(sizes, smaller, method)
    p_values = np.empty(len(ranks))
    p_values[exact] = _exact_p(ranks[exact], sizes[exact], smaller[exact])
    p_values[~exact] = _normal_p(ranks[~exact], smaller[~exact], continuity=continuity)
    columns = zip(positive, totals, p_values, sizes, exact, strict=True)
    return [
        SignedRank(
            positive=up / 2,
            negative=(total - up) / 2,
            p=float(p),
            n=int(size),
            zeros=nonzero.shape[1] - int(size),
            method="exact" if is_exact else "normal",
        )
        for up, total, p, size, is_exact in columns
    ]


def sign_test(differences_N: ArrayLike) -> SignTest:
    """Two-sided exact sign test of whether paired differences are as often positive as negative.

    Notes
    -----
    The number of positive among the nonzero differences is binomial with probability 1/2; p is twice the probability of
    the smaller of both counts or less (Arbuthnott 1710). Without any difference p is 1.

    Examples
    --------
    >>> print(sign_test([0.3, 0.1, -0.2, 0.4, 0.0, 0.8, 0.1]))
    sign test: 5 up, 1 down, 1 equal, p = 0.2188, effect +0.67
    """
    differences = _check_differences(differences_N, dimensions=1)
    positive, negative = int((differences > 0).sum()), int((differences < 0).sum())
    n, fewer = positive + negative, min(positive, negative)
    if n <= 1000:
        p = sum(math.comb(n, k) for k in range(fewer + 1)) / 2 ** max(0, n - 1)
    else:
        from scipy.special import bdtr

        p = 2 * float(bdtr(fewer, n, 0.5))
    return SignTest(positive=positive, negative=negative, zeros=len(differences) - n, p=min(1.0, p))


def _test_exactly(sizes_B: NDArray[np.int64], smaller_B: NDArray[np.int64], method: str) -> NDArray[np.bool_]:
    """Return which rows to test exactly."""
    if method == "normal":
        return np.zeros(len(sizes_B), dtype=bool)
    possible = (sizes_B <= 1000) & (smaller_B < EXACT_CELLS)
    if method == "exact" and not possible.all():
        size = sizes_B[~possible][0]
        raise InputError(f"exact signed-rank test: {size} differences, or too many zeros; expected method 'normal'")
    return possible & ((sizes_B <= EXACT_LIMIT) | (method == "exact"))


def _exact_p(ranks_BN: NDArray[np.int64], sizes_B: NDArray[np.int64], smaller_B: NDArray[np.int64]) -> Values:
    counts = np.empty(len(ranks_BN))
    workspace = np.empty(smaller_B.max(initial=0) + 1)
    ordered = np.sort(ranks_BN, axis=1)
    signed_rank_tails(ordered.ravel(), ordered.shape[1], np.ascontiguousarray(smaller_B), workspace, counts)
    return np.minimum(1.0, np.ldexp(counts, 1 - sizes_B))


def _normal_p(ranks_BN: NDArray[np.int64], smaller_B: NDArray[np.int64], *, continuity: bool) -> Values:
    """Compute p-values from doubled ranks, in which half a rank is 1."""
    squares = (ranks_BN.astype(np.float64) ** 2).sum(axis=1)
    below = ranks_BN.sum(axis=1) - 2 * smaller_B  # four times the distance of W from its mean
    if continuity:
        below = np.maximum(0, below - 2)
    pairs = zip(below.tolist(), squares.tolist(), strict=True)
    return np.array([math.erfc(gap / math.sqrt(2 * square)) if square else 1.0 for gap, square in pairs])


def _check_differences(values: ArrayLike, *, dimensions: int) -> Values:
    differences = np.asarray(values, dtype=np.float64)
    if differences.ndim != dimensions:
        raise InputError(f"differences: an array of shape {differences.shape}; expected {dimensions} dimensions")
    wrong = np.argwhere(~np.isfinite(differences))
    if len(wrong):
        position = ", ".join(str(i + 1) for i in wrong[0])
        raise InputError(f"difference {position}: {differences[tuple(wrong[0])]}; expected a finite number")
    return differences
