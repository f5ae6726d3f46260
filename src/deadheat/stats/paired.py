"""Two systems on one test set: tests on counts, one row of integers per unit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from deadheat.errors import InputError, NameUnknown, check_work
from deadheat.kernels.resampling import swap_sums, tabulate
from deadheat.stats.checks import Values, check_number
from deadheat.stats.intervals import Counts, Value, resampled_sums

CLUSTERED_T = "clustered-t"  # Student's t on jackknifed units and runs, see `stats.estimates`
# Tests of two systems on counts of the same units.
NAMED_TESTS = ("mcnemar-midp", "mcnemar-exact", "bootstrap", "randomization", "permutation-exact", "sign", "wilcoxon")
TESTS = (CLUSTERED_T, *NAMED_TESTS)
MCNEMAR_METHODS = ("exact", "midp", "asymptotic", "corrected")
CORRECT, GOLD, PREDICTED = range(3)
BLOCK = 1 << 16  # resamples at a time, to save memory
MAX_LATTICE = 1 << 26  # half a gigabyte
FEW = 16  # units whose swaps can be enumerated
DIRECT_LIMIT = 1 << 29  # multiplications; larger convolutions use the fast Fourier transform
TOLERANCE = 1e-12  # relative; smaller differences between scores are rounding errors


@dataclass(frozen=True, slots=True)
class McNemar:
    """The number of items that only one of two systems gets right, and the p-value."""

    only_first: int
    only_second: int
    p: float
    method: str

    @property
    def odds_ratio(self) -> float:
        """Ratio of the two counts; infinite if only the first system gets items right."""
        if self.only_second == 0:
            return float("nan") if self.only_first == 0 else float("inf")
        return self.only_first / self.only_second

    def __str__(self) -> str:
        return f"McNemar {self.method}: {self.only_first} against {self.only_second}, p = {self.p:.4g}"


def mcnemar(only_first: int, only_second: int, *, method: str = "midp") -> McNemar:
    """McNemar's test of whether two systems are right equally often.

    Notes
    -----
    With b and c discordant items and n = b + c, `exact` is the two-sided binomial test of b in n at 1/2.
    `midp` counts half of the probability of what was observed: 2 P(X <= min(b, c)) - P(X = b), and 1 - P(X = b)/2
    where b = c (Fagerland, Lydersen & Laake 2013). `asymptotic` refers (b - c)²/n to chi-square with one degree of
    freedom, `corrected` (|b - c| - 1)²/n (Edwards 1948). Without discordant items every p is 1.

    Examples
    --------
    >>> print(mcnemar(10, 3))
    McNemar midp: 10 against 3, p = 0.05737
    """
    if method not in MCNEMAR_METHODS:
        raise NameUnknown("McNemar's test", method, MCNEMAR_METHODS)
    if only_first < 0 or only_second < 0:
        raise InputError(f"McNemar's test: {only_first} and {only_second} discordant items; expected none negative")
    return McNemar(only_first, only_second, _mcnemar_p(only_first, only_second, method), method)


def _mcnemar_p(b: int, c: int, method: str) -> float:
    n, smaller = b + c, min(b, c)
    if n == 0:
        return 1.0
    from scipy.special import bdtr, chdtrc

    if method == "asymptotic":
        return float(chdtrc(1, (b - c) ** 2 / n))
    if method == "corrected":
        return float(chdtrc(1, max(0, abs(b - c) - 1) ** 2 / n))
    below = float(bdtr(smaller, n, 0.5))
    observed = below - (float(bdtr(smaller - 1, n, 0.5)) if smaller else 0.0)
    if method == "exact":
        return min(1.0, 2 * below)
    return 1 - observed / 2 if b == c else 2 * below - observed


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The p-value of the difference between two systems."""

    test: str
    difference: float
    p: float
    units: int
    resamples: int = 0  # 0: the p-value is exact

    def __str__(self) -> str:
        how = f"{self.resamples:,} resamples" if self.resamples else "exact"
        return f"{self.test}: difference {self.difference:+.4f}, p = {self.p:.4g} ({self.units:,} units, {how})"


def check_pair(first_NF: Counts, second_NF: Counts) -> None:
    """Raise unless two tables of counts can be compared."""
    if first_NF.ndim != 2 or first_NF.shape != second_NF.shape:
        raise InputError(f"counts of shape {first_NF.shape} and {second_NF.shape}; expected the same units for both")
    if len(first_NF) < 2:
        raise InputError(f"{len(first_NF)} unit; expected at least two to compare systems")
    for counts in (first_NF, second_NF):
        if not np.issubdtype(counts.dtype, np.integer):
            raise InputError(f"counts of type {counts.dtype}; expected integers")
        if counts.min() < 0:
            row = int(np.argmin(counts.min(axis=1)))
            raise InputError(f"unit {row + 1}: a negative count; expected none below zero")


def is_additive(first_NF: Counts, second_NF: Counts) -> bool:
    """Return whether both systems have the same totals, so that the score is correct items over a constant."""
    totals = first_NF[:, GOLD], first_NF[:, PREDICTED], second_NF[:, GOLD], second_NF[:, PREDICTED]
    return all(np.array_equal(totals[0], other) for other in totals[1:])


def reaches(resampled: Values, scores: Values) -> int:
    """Count resampled differences at least as large as the observed one, including undefined ones."""
    slack = TOLERANCE * max(1.0, float(np.max(np.abs(scores))))
    return int(np.count_nonzero(~(np.abs(resampled) < abs(scores[0] - scores[1]) - slack)))


def scores_of(first_NF: Counts, second_NF: Counts, value: Value) -> Values:
    """Return the scores of both systems."""
    return np.array([float(value(counts.sum(axis=0).astype(float))) for counts in (first_NF, second_NF)])


def _sampled_test(test: str, scores: Values, hits: int, units: int, resamples: int) -> PairedTest:
    """Return the result of a test by resampling, given how many resampled differences reach the observed one."""
    difference = float(scores[0] - scores[1])
    p = math.nan if math.isnan(difference) else (1 + hits) / (1 + resamples)
    return PairedTest(test, difference, p, units, resamples)


def paired_bootstrap(
    first_NF: Counts, second_NF: Counts, value: Value, *, rng: Generator, resamples: int = 10_000
) -> PairedTest:
    """Paired bootstrap test, centred and two-sided.

    Notes
    -----
    Units are drawn with replacement, both systems' rows together. With d the observed difference and d* that of a
    resample, the distribution of d* - d estimates that of the difference under the null hypothesis, and
    p = (1 + #{|d* - d| >= |d|}) / (1 + resamples) (Efron & Tibshirani 1993, ch. 16).

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([[2, 2, 2], [1, 2, 2]] * 20), np.array([[1, 2, 2], [1, 2, 2]] * 20)
    >>> print(paired_bootstrap(a, b, lambda sums: sums[..., 0] / sums[..., 1], rng=np.random.default_rng(0)))
    bootstrap: difference +0.2500, p = 9.999e-05 (40 units, 10,000 resamples)
    """
    check_pair(first_NF, second_NF)
    fields = first_NF.shape[1]
    sums_BF = resampled_sums(np.concatenate([first_NF, second_NF], axis=1), resamples=resamples, rng=rng)
    scores = scores_of(first_NF, second_NF, value)
    resampled = value(sums_BF[:, :fields]) - value(sums_BF[:, fields:])
    hits = reaches(resampled - float(scores[0] - scores[1]), scores)
    return _sampled_test("bootstrap", scores, hits, len(first_NF), resamples)


def randomization(
    first_NF: Counts, second_NF: Counts, value: Value, *, rng: Generator, resamples: int = 10_000
) -> PairedTest:
    """Paired approximate randomization test, two-sided, for any metric.

    Notes
    -----
    Each resample swaps the systems on every unit with probability 1/2; p = (1 + #{|d*| >= |d|}) / (1 + resamples)
    (Noreen 1989; Yeh 2000). Resample b depends on one number from `rng` and on b only.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([[2, 2, 2], [1, 2, 2]] * 20), np.array([[1, 2, 2], [1, 2, 2]] * 20)
    >>> print(randomization(a, b, lambda sums: sums[..., 0] / sums[..., 1], rng=np.random.default_rng(0)))
    randomization: difference +0.2500, p = 9.999e-05 (40 units, 10,000 resamples)
    """
    check_pair(first_NF, second_NF)
    check_number("randomization", "resamples", resamples, least=1)
    check_work("resamples", resamples, nanoseconds=5 * len(first_NF))
    first_NF, second_NF = first_NF.astype(np.int64), second_NF.astype(np.int64)
    scores = scores_of(first_NF, second_NF, value)
    first, second = first_NF.sum(axis=0), second_NF.sum(axis=0)
    gap_NF = (second_NF - first_NF)[np.any(first_NF != second_NF, axis=1)]
    key = rng.integers(0, 2**64, size=1, dtype=np.uint64)
    used = np.any(gap_NF != 0, axis=0)  # fields in which the systems differ
    units, fields = len(gap_NF), int(used.sum())
    tables = np.empty((units + 7) // 8 * 256 * fields, np.int64)
    groups = tabulate(np.ascontiguousarray(gap_NF[:, used]).reshape(-1), units, fields, tables)
    hits = 0
    for start in range(0, resamples, BLOCK):
        size = min(BLOCK, resamples - start)
        moved = np.zeros((size, len(first)))
        if groups:
            sums = np.empty(size * fields, np.int64)
            swap_sums(key, start, size, groups, fields, tables, sums)
            moved[:, used] = sums.reshape(size, -1)
        swapped = value(first + moved) - value(second - moved)
        hits += reaches(swapped, scores)
    return _sampled_test("randomization", scores, hits, len(first_NF), resamples)


def permutation_exact(first_NF: Counts, second_NF: Counts) -> PairedTest:
    """Exact paired permutation test for additive metrics: all 2^N swaps, by dynamic programming.

    Notes
    -----
    With g_i the difference in correct items on unit i, the test asks how often |sum of ±g_i| >= |sum of g_i| over
    all signs. Half of (sum ±g_i + sum |g_i|) is a sum of independent variables |g_i| · Bernoulli(1/2); units of
    equal |g_i| are one binomial on a lattice of that step, and the distribution of the whole is the convolution of
    those. All terms are positive, so even the smallest p-values are precise. Beyond about a million units of many
    sizes, the convolution uses the fast Fourier transform, and p has an error of about 1e-12.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([[2, 2, 2], [1, 2, 2]] * 5), np.array([[1, 2, 2], [1, 2, 2]] * 5)
    >>> print(permutation_exact(a, b))
    permutation-exact: difference +0.2500, p = 0.0625 (10 units, exact)
    """
    check_pair(first_NF, second_NF)
    if not is_additive(first_NF, second_NF):
        raise InputError("permutation-exact: totals differ between the systems; expected an additive metric")
    gaps = first_NF[:, CORRECT].astype(np.int64) - second_NF[:, CORRECT].astype(np.int64)
    total = int(first_NF[:, GOLD].sum())
    difference = float(gaps.sum() / total) if total else math.nan
    return PairedTest("permutation-exact", difference, lattice_p(gaps), len(gaps))


def lattice_p(gaps: np.ndarray) -> float:
    """Return the probability that integers with random signs have an absolute sum at least as large."""
    gaps = gaps // max(1, int(np.gcd.reduce(np.abs(gaps))))
    sizes, times = np.unique(np.abs(gaps[gaps != 0]), return_counts=True)
    reach = int((sizes * times).sum())
    distance = abs(int(gaps.sum()))
    if distance == 0:
        return 1.0
    if reach > MAX_LATTICE:
        if times.sum() > FEW:
            raise InputError(f"permutation-exact: differences add up to {reach:,}; expected at most {MAX_LATTICE:,}")
        sums = np.zeros(1, np.int64)
        for gap in gaps[gaps != 0].tolist():
            sums = np.concatenate([sums + gap, sums - gap])
        return float(np.mean(np.abs(sums) >= distance))
    # P(T >= (reach + distance) / 2), T the sum of |g| over units with a plus; both tails are equal.
    wanted = (reach + distance) // 2
    chances, lowest = np.ones(1), 0  # of T = lowest, lowest + 1, ..., without the tails below 1e-300
    groups = zip(sizes.tolist(), times.tolist(), strict=True)
    for size, count in sorted(groups, key=lambda group: group[0] * group[1]):
        binomial, start = _binomial(count)
        chances = _convolve(chances, binomial, size)
        lowest += start * size
    return min(1.0, 2 * float(np.sort(chances[max(0, wanted - lowest) :]).sum()))


def _binomial(count: int) -> tuple[Values, int]:
    """Return Binomial(count, 1/2) where it is above 1e-300 of its peak, and its lowest value."""
    peak = count // 2
    k = np.arange(peak, count)
    with np.errstate(under="ignore"):
        above = np.cumprod((count - k) / (k + 1.0))
    above = above[above > 1e-300]
    # The distribution is symmetric.
    below = (above if count % 2 == 0 else above[1:])[::-1]
    chances = np.concatenate([below, [1.0], above])
    return chances / chances.sum(), peak - len(below)


def _convolve(chances: Values, binomial: Values, step: int) -> Values:
    """Convolve a lattice distribution with a binomial of this step."""
    size = len(chances) + (len(binomial) - 1) * step
    if len(chances) * len(binomial) > DIRECT_LIMIT:
        from scipy.fft import irfft, next_fast_len, rfft

        spread = np.zeros((len(binomial) - 1) * step + 1)
        spread[::step] = binomial
        fast = next_fast_len(size, real=True)
        product: Values = irfft(rfft(chances, fast) * rfft(spread, fast), fast)[:size]
        return np.maximum(product, 0.0)
    if step == 1:
        return np.convolve(chances, binomial)
    result = np.zeros(size)
    if len(binomial) <= step:
        for times, chance in enumerate(binomial.tolist()):
            result[times * step : times * step + len(chances)] += chance * chances
        return result
    for residue in range(min(step, len(chances))):
        part = np.convolve(chances[residue::step], binomial)
        result[residue : residue + (len(part) - 1) * step + 1 : step] = part
    return result
