"""Tests of paired score differences over units, data sets or splits.

The signed-rank test, its Bayesian form, the sign test, and the corrected resampled t-test.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.kernels.statistics import pair_mass, signed_rank_tails
from deadheat.stats.agreement import doubled_ranks
from deadheat.stats.checks import BLOCK, Values, check_alpha, check_finite, check_number, check_two_systems
from deadheat.stats.estimates import Estimate, mean_estimate

ZEROS = ("wilcoxon", "pratt")
METHODS = ("auto", "exact", "normal")
EXACT_LIMIT = 60  # differences; beyond, the error of the normal approximation is 0.1 % at p = 0.05, 25 % at 0.001
EXACT_CELLS = 1 << 22  # of the table of sums; only Pratt's rule with many zeros needs more
RESOLUTION = 2.0**-40  # of the greatest score; smaller differences are rounding errors
ROUNDING = 8 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class SignedTest:
    """A two-sided test of the signs of paired differences.

    `positive` and `negative` are the rank sums of such differences for the signed-rank test, and their numbers for the
    sign test. `n` counts the nonzero differences.
    """

    test: str
    positive: float
    negative: float
    p: float
    n: int
    zeros: int
    method: str = "exact"

    @property
    def statistic(self) -> float:
        """The smaller of `positive` and `negative`."""
        return min(self.positive, self.negative)

    @property
    def effect(self) -> float:
        """Difference of `positive` and `negative` over their sum, from -1 to 1; 0 if there is no difference.

        For the signed-rank test this is the matched-pairs rank biserial correlation (Kerby 2014).
        """
        total = self.positive + self.negative
        return (self.positive - self.negative) / total if total else 0.0

    def __str__(self) -> str:
        if self.test == "sign":
            counts = f"{self.positive:.0f} up, {self.negative:.0f} down, {self.zeros} equal"
            return f"sign test: {counts}, p = {self.p:.4g}, effect {self.effect:+.2f}"
        p = f"p = {self.p:.4g} ({self.method})"
        return f"signed-rank W = {self.statistic:g}, {p}, effect {self.effect:+.2f}, n = {self.n}"


def paired_differences(first: ArrayLike, second: ArrayLike) -> Values:
    """Subtract scores so that differences that are equal in decimals are equal.

    In binary, 90.3 - 90.1 exceeds 60.3 - 60.1, which would matter to a test on ranks. Differences are rounded to
    multiples of 2^-40 (about 12 digits) of the first power of two above the scores.
    """
    left, right = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if left.shape != right.shape:
        raise InputError(f"paired scores: shapes {left.shape} and {right.shape}; expected equal shapes")
    check_finite("first score", left)
    check_finite("second score", right)
    greatest = max(np.abs(left).max(initial=0.0), np.abs(right).max(initial=0.0))
    step = math.ldexp(RESOLUTION, math.frexp(greatest)[1])
    # The step is 0 for scores near the smallest floats.
    return np.round((left - right) / step) * step if step > 0 else left - right


def signed_rank(
    differences_N: ArrayLike, *, zeros: str = "wilcoxon", method: str = "auto", continuity: bool = False
) -> SignedTest:
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
) -> list[SignedTest]:
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
    methods = np.where(exact, "exact", "normal")
    columns = (positive / 2, (totals - positive) / 2, p_values, sizes, nonzero.shape[1] - sizes, methods)
    return [SignedTest("signed-rank", *row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def sign_test(differences_N: ArrayLike) -> SignedTest:
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
    return SignedTest("sign", positive, negative, min(1.0, p), n, len(differences) - n)


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
    check_finite("difference", differences)
    return differences


@dataclass(frozen=True, slots=True, eq=False)
class SignedRankPosterior:
    """The probabilities that A is better (left), that both are practically equivalent, and that B is better (right).

    `theta_B3` has one row per sample of the posterior, with the probabilities that a pair of data sets favours A,
    neither, or B. `note` says why the probabilities are NaN, if they are.
    """

    left: float
    equivalent: float
    right: float
    rope: float
    prior: float
    datasets: int
    theta_B3: Values = field(repr=False)
    note: str = ""

    def __str__(self) -> str:
        if self.note:
            return f"no probabilities: {self.note}"
        return (
            f"P(A better) = {self.left:.4f}, P(within {self.rope:g}) = {self.equivalent:.4f}, "
            f"P(B better) = {self.right:.4f} ({self.datasets} data sets, {len(self.theta_B3):,} samples)"
        )


def bayesian_signed_rank(
    a_D: ArrayLike, b_D: ArrayLike, *, rng: Generator, rope: float = 0.01, prior: float = 0.6, samples: int = 50_000
) -> SignedRankPosterior:
    """Bayesian signed-rank test of two systems on several data sets, with a region of practical equivalence.

    Parameters
    ----------
    a_D, b_D
        The scores of both systems, one per data set.
    rope
        Differences up to this are practically equivalent; 0 for no such region.
    prior
        Strength s of the prior, a data set without a difference; 0 is the Bayesian bootstrap.

    Notes
    -----
    Let z_1..z_n be the differences b - a and z_0 = 0. The posterior of a Dirichlet process gives them weights w ~
    Dirichlet(s, 1, ..., 1), drawn as gamma variates over their sum, and with them the probabilities

        θ_left = Σ_i Σ_j w_i w_j H(-2 rope - z_i - z_j),   θ_right = Σ_i Σ_j w_i w_j H(z_i + z_j - 2 rope)

    that the mean of two differences is outside of the region on either side; H(0) = 1/2. The probability of left,
    equivalent or right is how often it is the greatest of the three θ, over `samples` draws (Benavoli, Corani, Demšar &
    Zaffalon 2017). Ties are shared, so that swapping the systems swaps left and right exactly. NaN with one data set.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = [0.91, 0.85, 0.78, 0.93, 0.88, 0.81], [0.89, 0.84, 0.75, 0.93, 0.85, 0.79]
    >>> print(bayesian_signed_rank(a, b, rope=0.005, rng=np.random.default_rng(0)))
    P(A better) = 0.9894, P(within 0.005) = 0.0106, P(B better) = 0.0000 (6 data sets, 50,000 samples)
    """
    where = "bayesian_signed_rank"
    first, second = check_two_systems(where, a_D, b_D)
    if len(first) != len(second):
        raise InputError(f"{where}: {len(first)} and {len(second)} scores; expected both systems on every data set")
    for name, value in (("rope", rope), ("prior", prior)):
        if not 0 <= value < math.inf:
            raise InputError(f"{where}: {name} {value}; expected zero or more")
    check_number(where, "samples", samples, least=1)
    if len(first) < 2:
        nothing = np.empty((0, 3))
        note = "one data set is not enough"
        return SignedRankPosterior(math.nan, math.nan, math.nan, rope, prior, len(first), nothing, note)
    slack = ROUNDING * float(np.abs([first, second]).max())
    theta_B3 = _sample(second - first, rope, slack, prior=prior, samples=samples, rng=rng)
    greatest = theta_B3 == theta_B3.max(axis=1, keepdims=True)
    left, equivalent, right = (greatest / greatest.sum(axis=1, keepdims=True)).mean(axis=0).tolist()
    return SignedRankPosterior(left, equivalent, right, rope, prior, len(first), theta_B3)


def _sample(differences: Values, rope: float, slack: float, *, prior: float, samples: int, rng: Generator) -> Values:
    """Draw θ of left, equivalent and right; sample b depends on two numbers from `rng` and on b only."""
    z = np.append(differences, 0.0)
    # Two generators, so that the result does not depend on the size of blocks.
    of_data, of_prior = (np.random.default_rng(int(key)) for key in rng.integers(0, 2**64, size=2, dtype=np.uint64))
    theta_B3 = np.empty((samples, 3))
    rows = max(1, BLOCK // len(z))
    for start in range(0, samples, rows):
        size = min(rows, samples - start)
        weights = np.empty((size, len(z)))
        weights[:, :-1] = of_data.standard_exponential((size, len(differences)))
        weights[:, -1] = of_prior.standard_gamma(prior, size)
        left, right = _mass_beyond(z, weights, rope, slack), _mass_beyond(-z, weights, rope, slack)
        theta_B3[start : start + size] = np.stack([left, np.maximum(0.0, 1 - (left + right)), right], axis=1)
    return theta_B3


def _mass_beyond(z: Values, weights: Values, rope: float, slack: float) -> Values:
    """Return the weighted share of pairs with a sum below -2 rope, plus half of those equal to it.

    In the order of z, the partners of a difference with a sum below a bound come first, so their weight is a cumulative
    sum.
    """
    order = np.argsort(z, kind="stable")
    ordered = z[order]
    below = np.searchsorted(ordered, -2 * rope - slack - ordered, side="left")
    reached = np.searchsorted(ordered, -2 * rope + slack - ordered, side="right")
    mass = np.empty(len(weights))
    pair_mass(weights.reshape(-1), order, below, reached, np.empty(len(z) + 1), mass)
    return mass


@dataclass(frozen=True, slots=True)
class ResampledT:
    """The mean difference over splits, its confidence interval, and the p-value of no difference."""

    difference: float
    low: float
    high: float
    t: float
    degrees_of_freedom: int
    p: float

    def __str__(self) -> str:
        tested = f"t({self.degrees_of_freedom}) = {self.t:.3f}, p = {self.p:.4g}"
        return f"{self.difference:+.4f} [{self.low:+.4f}, {self.high:+.4f}], {tested}"


def corrected_resampled_t(differences_P: ArrayLike, *, test_share: float, alpha: float = 0.05) -> ResampledT:
    """Test whether two systems differ on average over random splits of the same data.

    Parameters
    ----------
    differences_P
        The difference of the two systems on each split.
    test_share
        Size of the test part divided by that of the training part, n_test / n_train.
    alpha
        The interval covers the true difference with probability 1 - alpha.

    Returns
    -------
    ResampledT
        With fewer than two splits, interval and p-value are NaN.

    Notes
    -----
    With k differences of mean d and variance s² (divisor k - 1)::

        t = d / sqrt((1 / k + n_test / n_train) s²)

    has about a t distribution with k - 1 degrees of freedom if the systems are equally good (Nadeau and Bengio 2003,
    *Machine Learning* 52). The training sets of the splits overlap, so that the differences depend on each other; the
    ordinary t-test, which lacks the term n_test / n_train, rejects far too often. If all differences are equal but
    not zero, p is 2^(1 - k), as for k random signs that agree.

    Examples
    --------
    >>> print(corrected_resampled_t([0.02, 0.01, 0.03, 0.02, 0.02], test_share=0.25))
    +0.0200 [+0.0068, +0.0332], t(4) = 4.216, p = 0.01352
    """
    differences = np.asarray(differences_P, dtype=np.float64)
    check_alpha(alpha)
    if differences.ndim != 1 or not np.isfinite(differences).all():
        raise InputError("corrected_resampled_t: expected one finite difference per split")
    if not test_share > 0:
        raise InputError(f"test_share {test_share}; expected the size of test divided by that of train, above 0")
    estimate = resampled_estimate(differences, test_share)
    interval = estimate.interval(1 - alpha)
    t = estimate.value / estimate.error if estimate.error else math.copysign(math.inf, estimate.value or 1.0)
    t = 0.0 if estimate.value == 0 == estimate.error else t
    return ResampledT(estimate.value, *interval.bounds, t, max(len(differences) - 1, 0), estimate.p)


def resampled_estimate(differences_P: Values, test_share: float, documents: Estimate | None = None) -> Estimate:
    """The mean difference over random splits.

    The standard error is that of `corrected_resampled_t`. It does not know of documents that have sentences in train
    and in test, whose errors go together on every split: given an estimate with the documents of all test sets as
    units, it is the greater error of the two, on its own degrees of freedom.
    """
    mean = mean_estimate(differences_P)
    error = mean.error * math.sqrt(1 + len(differences_P) * test_share)
    if documents is not None and documents.error > error:
        return Estimate(mean.value, documents.error, documents.freedom)
    return replace(mean, error=error)
