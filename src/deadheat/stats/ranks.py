"""Many systems over many data sets: average ranks, Friedman's test, and pairwise tests.

A table `scores_SD` has one row per system and one column per data set, and higher is better (negate error rates).
Rank 1 is the best; tied systems have their mean rank.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.stats.agreement import doubled_ranks
from deadheat.stats.checks import Values, check_alpha, distinct_names
from deadheat.stats.corrections import holm
from deadheat.stats.differences import paired_differences, signed_rank_rows
from deadheat.stats.intervals import bisect

Names: TypeAlias = Sequence[str] | None

MISSING = ("refuse", "drop")
MAX_CLIQUES = 1000
BLOCK = 1 << 12  # tails that are computed together
EXACT, IMAN_DAVENPORT = "exact", "iman-davenport"
MAX_DATA_SETS_EXACT = {2: 1000, 3: 100, 4: 25, 5: 10, 6: 5, 7: 2, 8: 2}  # by systems; two seconds at most
STEP = 1 / 8  # of the quadrature; relative errors are below 1e-14 up to 300 systems, 1e-11 for 2000


@dataclass(frozen=True, slots=True, eq=False)
class Friedman:
    """Friedman's test that all systems are equally good: exact in small tables, else by Iman and Davenport's F."""

    chi_square: float
    p_chi_square: float
    f: float
    p: float
    method: str  # of p: `EXACT` or `IMAN_DAVENPORT`
    average_ranks_S: Values
    data_sets: int
    dropped: int

    def __str__(self) -> str:
        systems = len(self.average_ranks_S)
        degrees = f"{systems - 1}, {(systems - 1) * (self.data_sets - 1)}"
        f = f"Iman-Davenport F({degrees}) = {self.f:.3f}" + ("" if self.method == EXACT else f", p = {self.p:.4g}")
        chi = f"Friedman chi-square({systems - 1}) = {self.chi_square:.3f}, p = {self.p_chi_square:.4g}"
        exact = f"exact p = {self.p:.4g}; " if self.method == EXACT else ""
        return f"{exact}{f}; {chi}; {_sizes(self)}"


@dataclass(frozen=True, slots=True, eq=False)
class Pairwise:
    """All pairs of systems: corrected p-values, symmetric and 1 on the diagonal, in the order of `names`.

    `critical_difference` is the significant difference between average ranks; None for `wilcoxon-holm`.
    """

    method: str
    names: tuple[str, ...]
    average_ranks_S: Values
    p_values_SS: Values
    critical_difference: float | None
    alpha: float
    data_sets: int
    dropped: int

    def __str__(self) -> str:
        first, second = np.triu_indices(len(self.names), 1)
        significant = int((self.p_values_SS[first, second] <= self.alpha).sum())
        distance = "" if self.critical_difference is None else f", critical difference {self.critical_difference:.3f}"
        return f"{self.method}: {significant} of {len(first)} pairs differ at {self.alpha:g}{distance}; {_sizes(self)}"


@dataclass(frozen=True, slots=True, eq=False)
class CriticalDifference:
    """The data of a critical-difference diagram: average ranks, and cliques of systems without significant differences.

    A clique is a maximal set of two or more systems, best first, of which no two differ significantly. With
    "wilcoxon-holm", a system ranked between those of a clique need not belong to it.
    """

    pairs: Pairwise
    friedman: Friedman
    cliques: tuple[tuple[str, ...], ...]

    @property
    def friedman_method(self) -> str:
        """How the p-value of Friedman's test was computed, in words."""
        return {EXACT: "exact", IMAN_DAVENPORT: "Iman and Davenport's form"}[self.friedman.method]

    def __str__(self) -> str:
        ranked = sorted(zip(self.pairs.average_ranks_S.tolist(), self.pairs.names, strict=True), key=lambda r: r[0])
        listed = ", ".join(f"{name} {rank:.2f}" for rank, name in ranked)
        level = "; ".join(" = ".join(clique) for clique in self.cliques) or "none"
        return f"average ranks: {listed}; no significant difference: {level} ({self.pairs})"


def friedman(scores_SD: ArrayLike, *, names: Names = None, datasets: Names = None, missing: str = "refuse") -> Friedman:
    """Friedman's test of whether some systems are better than others over the data sets.

    Notes
    -----
    With R_j the mean rank of system j of S over D data sets, χ² = (S - 1) D² Σ(R_j - (S+1)/2)² / Σ(r_ij - (S+1)/2)²,
    which is Friedman's (1937) statistic corrected for ties, and F = (D - 1) χ² / (D (S - 1) - χ²) with S - 1 and
    (S - 1)(D - 1) degrees of freedom (Iman and Davenport 1980).

    In small tables p is exact: the share of all arrangements of the ranks within each data set (S! of them unless some
    are tied) whose statistic is at least as great. They are counted by rank sums, one data set after the other, for up
    to 1000 data sets with 2 systems, 100 with 3, 25 with 4, 10 with 5, 5 with 6, and 2 with 7 or 8. In larger tables p
    is that of F, which errs in up to 6.3% there at a level of 5% (10 systems, 2 data sets). In smaller ones it can be
    far too small: if five of six data sets rank three systems alike and the sixth swaps the last two, it gives 5.2e-05,
    and the exact p-value is 0.0017. If all data sets have the same ranking, F is infinite, and p is always exact. If
    all systems are tied on every data set, both statistics are 0 and p is 1.

    Examples
    --------
    >>> table = [[0.9, 0.8, 0.9, 0.7], [0.8, 0.7, 0.8, 0.8], [0.7, 0.6, 0.5, 0.6]]
    >>> print(friedman(table))
    exact p = 0.04167; Iman-Davenport F(2, 6) = 13.000; Friedman chi-square(2) = 6.500, p = 0.03877; 4 data sets
    """
    from scipy.special import chdtrc, fdtrc

    scores, _, dropped = _check_table(scores_SD, names, datasets, missing)
    ranks_DS = doubled_ranks(-scores.T)
    data_sets, systems = ranks_DS.shape
    if data_sets < 2:
        raise InputError(f"friedman: {data_sets} data sets with all scores; expected at least 2")
    # Four times the usual sums of squares, which are integers, so that comparisons are exact.
    centred = ranks_DS - (systems + 1)
    between, total = int((centred.sum(axis=0) ** 2).sum()), int((centred**2).sum())
    chi_square = (systems - 1) * between / total if total else 0.0
    rest = data_sets * total - between
    f = (data_sets - 1) * between / rest if rest else math.inf if total else 0.0
    method = EXACT
    if not rest:
        p = _same_ranking_p(ranks_DS[0], data_sets) if total else 1.0
    elif data_sets <= MAX_DATA_SETS_EXACT.get(systems, 0):
        p = _exact_friedman_p(centred, between)
    else:
        p, method = float(fdtrc(systems - 1, (systems - 1) * (data_sets - 1), f)), IMAN_DAVENPORT
    p_chi_square = float(chdtrc(systems - 1, chi_square))
    return Friedman(chi_square, p_chi_square, f, p, method, average_ranks(scores), data_sets, dropped)


def _same_ranking_p(ranks_S: NDArray[np.int64], data_sets: int) -> float:
    """The probability that all data sets have the same ranking."""
    alike = math.prod(math.factorial(n) for n in np.unique(ranks_S, return_counts=True)[1].tolist())
    return math.exp((data_sets - 1) * -math.log(math.factorial(len(ranks_S)) // alike))


def _exact_friedman_p(centred_DS: NDArray[np.int64], between: int) -> float:
    """The share of arrangements with a sum of squared rank sums of at least `between`.

    Systems are exchangeable, so that rank sums are kept in ascending order, each vector of them with its probability.
    """
    data_sets, systems = centred_DS.shape
    base = 2 * int(np.abs(centred_DS).max()) * data_sets + 1
    orders = sorted((_arrangements(tuple(sorted(row))) for row in centred_DS.tolist()), key=len, reverse=True)
    sums_MS: NDArray[np.int32] = orders[0][:1]
    probabilities_M: Values = np.ones(1)
    for at, orders_AS in enumerate(orders[1:], start=2):
        sums_MS = (sums_MS[:, None, :] + orders_AS).reshape(-1, systems)
        probabilities_M = np.repeat(probabilities_M / len(orders_AS), len(orders_AS))
        if at < data_sets:
            sums_MS.sort(axis=1)
            keys_M: NDArray[np.int64] = np.zeros(len(sums_MS), np.int64)
            for column_M in sums_MS.T[1:]:  # the first follows from the others, because all sums together are 0
                keys_M = keys_M * base + column_M
            _, firsts, indices = np.unique(keys_M, return_index=True, return_inverse=True)
            sums_MS, probabilities_M = sums_MS[firsts], np.bincount(indices, probabilities_M).astype(np.float64)
    squares_M = np.einsum("ms,ms->m", sums_MS, sums_MS, dtype=np.int64)
    return min(1.0, float(probabilities_M[squares_M >= between].sum()))


@cache
def _arrangements(ranks: tuple[int, ...]) -> NDArray[np.int32]:
    """All distinct orders of the ranks on a data set, which are equally likely; the ascending one first."""
    return np.array(sorted(set(permutations(ranks))), np.int32)


def nemenyi(
    scores_SD: ArrayLike, *, names: Names = None, datasets: Names = None, alpha: float = 0.05, missing: str = "refuse"
) -> Pairwise:
    """Nemenyi's test of all pairs of systems by their average ranks.

    Notes
    -----
    Two of S systems over D data sets differ if their average ranks are at least q √(S(S+1)/6D) apart, with √2 q the
    upper alpha quantile of the studentized range of S normal variables (Nemenyi 1963; Demšar 2006). The p-values are
    corrected for all pairs. Whether a pair differs depends on the other systems in the table.

    Examples
    --------
    >>> table = [[0.9, 0.8, 0.9, 0.7], [0.8, 0.7, 0.8, 0.8], [0.7, 0.6, 0.5, 0.6]]
    >>> print(nemenyi(table))
    nemenyi: 1 of 3 pairs differ at 0.05, critical difference 1.657; 4 data sets
    """
    scores, systems, dropped = _check_table(scores_SD, names, datasets, missing)
    check_alpha(alpha)
    ranks, (count, data_sets) = average_ranks(scores), scores.shape
    unit = math.sqrt(count * (count + 1) / (12 * data_sets))
    first, second = np.triu_indices(count, 1)
    halves = 2 * data_sets  # ranks are multiples of its inverse
    gaps, places = np.unique(np.rint(halves * np.abs(ranks[first] - ranks[second])), return_inverse=True)
    gaps /= halves * unit
    tails = [studentized_range_tail(some, count) for some in np.array_split(gaps, len(gaps) // BLOCK + 1)]
    p_SS = _symmetric(np.concatenate(tails)[places], count)
    distance = unit * studentized_range_quantile(alpha, count)
    return Pairwise("nemenyi", systems, ranks, p_SS, distance, alpha, data_sets, dropped)


def wilcoxon_holm(
    scores_SD: ArrayLike, *, names: Names = None, datasets: Names = None, alpha: float = 0.05, missing: str = "refuse"
) -> Pairwise:
    """The signed-rank test of all pairs of systems, corrected by Holm.

    Notes
    -----
    One signed-rank test per pair over the data sets (`signed_rank`), then `holm` over all pairs, as recommended by
    Benavoli, Corani and Mangili (2016): the result of a pair does not depend on the ranks of other systems.

    Examples
    --------
    >>> table = [[0.9, 0.8, 0.9, 0.7], [0.8, 0.7, 0.8, 0.8], [0.7, 0.6, 0.5, 0.6]]
    >>> print(wilcoxon_holm(table))
    wilcoxon-holm: 0 of 3 pairs differ at 0.05; 4 data sets
    """
    scores, systems, dropped = _check_table(scores_SD, names, datasets, missing)
    check_alpha(alpha)
    first, second = np.triu_indices(len(scores), 1)
    tests = signed_rank_rows(paired_differences(scores[first], scores[second]))
    p_SS = _symmetric(holm([test.p for test in tests]), len(scores))
    ranks, data_sets = average_ranks(scores), scores.shape[1]
    return Pairwise("wilcoxon-holm", systems, ranks, p_SS, None, alpha, data_sets, dropped)


def critical_difference(
    scores_SD: ArrayLike,
    *,
    names: Names = None,
    datasets: Names = None,
    alpha: float = 0.05,
    method: str = "nemenyi",
    missing: str = "refuse",
) -> CriticalDifference:
    """The data of a critical-difference diagram (Demšar 2006).

    Notes
    -----
    Pairs are compared by `nemenyi` or `wilcoxon_holm`, and differ if their corrected p-value is at most alpha. The
    result includes `friedman`, because pairwise tests mean little if it is not significant.

    Examples
    --------
    >>> table = [[0.9, 0.8, 0.9, 0.7], [0.8, 0.7, 0.8, 0.8], [0.7, 0.6, 0.5, 0.6]]
    >>> critical_difference(table, names=["a", "b", "c"]).cliques
    (('a', 'b'), ('b', 'c'))
    """
    methods = {"nemenyi": nemenyi, "wilcoxon-holm": wilcoxon_holm}
    if method not in methods:
        raise NameUnknown("comparison of pairs", method, methods)
    pairs = methods[method](scores_SD, names=names, datasets=datasets, alpha=alpha, missing=missing)
    cliques = _cliques(pairs.p_values_SS > alpha, np.argsort(pairs.average_ranks_S, kind="stable"))
    named = tuple(tuple(pairs.names[system] for system in clique) for clique in cliques)
    test = friedman(scores_SD, names=names, datasets=datasets, missing=missing)
    return CriticalDifference(pairs, test, named)


def studentized_range_tail(quantiles: ArrayLike, groups: int) -> Values:
    """Return the upper tail of the range of standard normal variables, by quadrature.

    For k variables, 1 - k ∫ φ(z) [Φ(z) - Φ(z - q)]^(k-1) dz. Because k ∫ φ(z) Φ(z)^(k-1) dz is 1, that is the integral
    of a difference of powers, which is precise also for small tails. The integrand and all its derivatives vanish at
    both ends, so the trapezoidal rule converges faster than any power of the step.
    """
    from scipy.special import log_ndtr

    z = np.arange(-9, 39, STEP)
    q = np.asarray(quantiles, dtype=np.float64)[..., None]
    whole = log_ndtr(z)
    with np.errstate(divide="ignore"):  # logarithm of 0
        lost = -np.expm1((groups - 1) * np.log1p(-np.exp(np.minimum(0.0, log_ndtr(z - q) - whole))))
    density = np.exp((groups - 1) * whole - z * z / 2) / math.sqrt(2 * math.pi)
    tail: Values = np.minimum(1.0, groups * (density * lost).sum(axis=-1) * STEP)
    return tail


@cache
def studentized_range_quantile(alpha: float, groups: int) -> float:
    """Return the upper alpha quantile of the range of standard normal variables."""
    return bisect(lambda q: bool(studentized_range_tail(q, groups) > alpha), 0.0, 80.0)


@cache
def expected_range(groups: int) -> float:
    """Return the expected range of standard normal variables: ∫ 1 - Φ(z)^k - (1 - Φ(z))^k dz (Tippett 1925).

    Examples
    --------
    >>> [round(expected_range(runs), 3) for runs in (2, 5, 10, 25)]
    [1.128, 2.326, 3.078, 3.931]
    """
    from scipy.special import log_ndtr

    z = np.arange(-9, 9, STEP)
    tails = np.exp(groups * log_ndtr(z)) + np.exp(groups * log_ndtr(-z))
    return float((1 - tails).sum() * STEP)


def average_ranks(scores_SD: Values) -> Values:
    """Return the mean rank of each system over the data sets."""
    ranks: Values = doubled_ranks(-scores_SD.T).mean(axis=0) / 2
    return ranks


def _symmetric(p_values: Values, systems: int) -> Values:
    p_SS = np.ones((systems, systems))
    first, second = np.triu_indices(systems, 1)
    p_SS[first, second] = p_SS[second, first] = p_values
    return p_SS


def _cliques(alike_SS: np.ndarray, order: np.ndarray) -> list[tuple[int, ...]]:
    """Return maximal cliques of two or more systems, by Bron and Kerbosch (1973) with pivots.

    Where systems between two that are alike are alike as well, they are the longest stretches of such systems.
    """
    size = len(order)
    ordered_SS = alike_SS[np.ix_(order, order)] | np.eye(size, dtype=bool)
    lasts = size - 1 - np.argmax(ordered_SS[:, ::-1], axis=1)
    at, rising = np.arange(size), bool((np.diff(lasts) >= 0).all())
    if rising and np.array_equal(ordered_SS, (at <= lasts[:, None]) & (at[:, None] <= lasts)):
        maximal = (lasts > at) & (lasts > np.concatenate([[-1], lasts[:-1]]))
        return [tuple(order[first : lasts[first] + 1].tolist()) for first in np.flatnonzero(maximal)]
    neighbours = [{j for j in range(size) if j != i and alike_SS[order[i], order[j]]} for i in range(size)]
    cliques: list[list[int]] = []

    def extend(clique: list[int], open_: set[int], closed: set[int]) -> None:
        if not open_ and not closed and len(clique) > 1:
            cliques.append(sorted(clique))
        if len(cliques) > MAX_CLIQUES:
            raise InputError(f"cliques: more than {MAX_CLIQUES} groups of systems; expected method 'nemenyi'")
        if not open_:
            return
        pivot = max(open_ | closed, key=lambda i: len(neighbours[i] & open_))
        for i in sorted(open_ - neighbours[pivot]):
            extend([*clique, i], open_ & neighbours[i], closed & neighbours[i])
            open_ = open_ - {i}
            closed = closed | {i}

    extend([], set(range(size)), set())
    return [tuple(order[clique].tolist()) for clique in sorted(cliques)]


def _check_table(
    scores_SD: ArrayLike, names: Names, datasets: Names, missing: str
) -> tuple[Values, tuple[str, ...], int]:
    """Return the scores of the data sets with all systems, the names of the systems, and the number of other sets."""
    scores = np.asarray(scores_SD, dtype=np.float64)
    if missing not in MISSING:
        raise NameUnknown("missing", missing, MISSING)
    if scores.ndim != 2 or scores.shape[0] < 2 or scores.shape[1] < 1:
        raise InputError(f"scores: shape {scores.shape}; expected two or more systems in rows, data sets in columns")
    systems = distinct_names(names, scores.shape[0], "system")
    sets = distinct_names(datasets, scores.shape[1], "data set")
    infinite, absent = np.argwhere(np.isinf(scores)).tolist(), np.argwhere(np.isnan(scores)).tolist()
    if infinite:
        (s, d), *_ = infinite
        raise InputError(f"score of {systems[s]} on {sets[d]}: {scores[s, d]}; expected a finite number")
    if absent and missing == "refuse":
        (s, d), *others = absent
        more = f" (and {len(others)} more)" if others else ""
        raise InputError(f"score of {systems[s]} on {sets[d]}{more}: missing; expected one, or missing='drop'")
    kept = scores[:, ~np.isnan(scores).any(axis=0)]
    if not kept.shape[1]:
        raise InputError("scores: no data set has scores of all systems; expected at least one")
    return kept, systems, scores.shape[1] - kept.shape[1]


def _sizes(result: Friedman | Pairwise) -> str:
    return f"{result.data_sets} data sets" + (f", {result.dropped} dropped" if result.dropped else "")
