"""Distributions of scores over runs: by hand, by listing every order, by scipy."""

import math
from collections.abc import Callable
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from deadheat.errors import InputError
from deadheat.kernels.statistics import crossing_probability
from deadheat.stats.distributions import (
    DistributionTest,
    brown_forsythe,
    cliffs_delta,
    cohens_d,
    kolmogorov_smirnov,
    mann_whitney,
    paired_brown_forsythe,
    spearman,
    summary,
)

OF_TWO_SAMPLES = (kolmogorov_smirnov, mann_whitney, brown_forsythe, cliffs_delta, cohens_d, spearman)
TIED = st.lists(st.integers(0, 5), min_size=1, max_size=5)
FLOATS = st.lists(st.integers(-1000, 1000).map(lambda i: i / 8), min_size=2, max_size=30)


def distinct(seed: int, n: int, m: int, shift: float = 0.5) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(seed)
    return rng.normal(shift, 1, n).tolist(), rng.normal(0, 1.5, m).tolist()


def splits(a: list[int], b: list[int]) -> list[tuple[list[int], list[int]]]:
    """Every way to give the scores to two systems of the same sizes."""
    pooled = [*a, *b]
    chosen = combinations(range(len(pooled)), len(a))
    return [([pooled[i] for i in c], [pooled[i] for i in range(len(pooled)) if i not in c]) for c in chosen]


def test_a_summary_worked_out_by_hand() -> None:
    result = summary([3, 1, 2, 6])
    assert (result.n, result.minimum, result.maximum, result.mean, result.median) == (4, 1, 6, 3, 2.5)
    # Positions 0.75 and 2.25 between 1, 2, 3, 6.
    assert (result.lower_quartile, result.upper_quartile) == (1.75, 3.75)
    assert result.sd == pytest.approx(math.sqrt((0 + 4 + 1 + 9) / 3))


def test_one_run_has_no_deviation() -> None:
    result = summary([0.9])
    assert math.isnan(result.sd)
    assert result.median == 0.9
    assert "one run" in str(result)


def distance_of_distributions(a: list[int], b: list[int]) -> float:
    return max(abs(sum(x <= v for x in a) / len(a) - sum(x <= v for x in b) / len(b)) for v in [*a, *b])


@given(TIED, TIED)
@settings(max_examples=60)
def test_kolmogorov_smirnov_counts_every_order_ties_included(a: list[int], b: list[int]) -> None:
    result = kolmogorov_smirnov(a, b)
    observed = distance_of_distributions(a, b)
    orders = [distance_of_distributions(x, y) for x, y in splits(a, b)]
    assert result.statistic == pytest.approx(observed, abs=1e-12)
    assert result.p == pytest.approx(np.mean([item >= observed - 1e-9 for item in orders]), rel=1e-12)


@pytest.mark.parametrize(
    ("test", "reference", "sizes"),
    [
        (kolmogorov_smirnov, stats.ks_2samp, ((1, 1), (3, 7), (5, 6), (8, 5), (40, 25), (86, 41), (300, 400))),
        (mann_whitney, stats.mannwhitneyu, ((1, 1), (2, 3), (5, 5), (8, 3), (12, 20), (25, 25))),
    ],
)
def test_tests_without_ties_are_the_exact_ones_of_scipy(
    test: Callable[..., DistributionTest], reference: Callable[..., Any], sizes: tuple[tuple[int, int], ...]
) -> None:
    for (n, m), seed in product(sizes, range(3)):
        a, b = distinct(seed, n, m)
        result, expected = test(a, b), reference(a, b, method="exact")
        assert result.method == "exact"
        assert result.statistic == pytest.approx(expected.statistic, abs=1e-12)
        assert result.p == pytest.approx(expected.pvalue, rel=1e-8 if test is kolmogorov_smirnov else 1e-10)


def test_small_chances_of_kolmogorov_smirnov_are_exact() -> None:
    # Complete separation: two orders of all.
    n, m = 60, 50
    p = kolmogorov_smirnov(np.arange(n), np.arange(m) + 1000).p
    assert p == pytest.approx(2 / math.comb(n + m, n), rel=1e-12)


def test_kolmogorov_smirnov_of_very_many_runs_takes_the_limit() -> None:
    a, b = distinct(0, 4000, 3000, 0.03)
    result = kolmogorov_smirnov(a, b)
    assert result.method == "asymptotic"
    assert result.p == pytest.approx(stats.ks_2samp(a, b, method="asymp").pvalue, rel=0.05)


def test_the_kernel_of_paths_in_plain_python_gives_the_same() -> None:
    ends = np.array([1, 0, 1, 1, 0, 1, 1])
    outcomes = []
    for function in (crossing_probability, crossing_probability.python):
        p = np.zeros(1)
        function(ends, 4, 3, 8, np.empty(4), p)
        outcomes.append(p[0])
    assert outcomes[0] == outcomes[1]
    assert 0 < outcomes[0] < 1


@pytest.mark.parametrize("sizes", [(5, 5), (3, 9), (4, 6, 12), (30, 40, 7, 5)])
def test_brown_forsythe_is_that_of_scipy(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(sizes))
    groups = [rng.normal(0.9, 0.01 * (i + 1), n) for i, n in enumerate(sizes)]
    result, expected = brown_forsythe(*groups), stats.levene(*groups, center="median")
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-10)
    assert result.p == pytest.approx(expected.pvalue, rel=1e-10)


def test_paired_brown_forsythe_is_the_paired_t_test_of_distances_from_medians() -> None:
    first, second = np.random.default_rng(3).normal(size=(2, 11))
    expected = stats.ttest_rel(abs(first - np.median(first)), abs(second - np.median(second)))
    result = paired_brown_forsythe(first, second)
    assert (result.statistic, result.p) == pytest.approx((expected.statistic, expected.pvalue))
    # By hand: distances 2, 1, 0, 1, 2 and 6, 3, 0, 3, 6; differences -4, -2, 0, -2, -4 with mean -2.4, variance 2.8.
    assert paired_brown_forsythe(range(5), range(0, 15, 3)).statistic == pytest.approx(-2.4 / math.sqrt(2.8 / 5))


def test_paired_brown_forsythe_of_too_few_or_of_equal_distances() -> None:
    few = paired_brown_forsythe([1, 2, 3, 4], [1, 4, 2, 8])
    assert math.isnan(few.p)
    assert "4 pairs, which are fewer than 5" in str(few)
    shifted = paired_brown_forsythe([0.3, 0.5, 0.7, 0.8, 1.7], [0.4, 0.6, 0.8, 0.9, 1.8])
    assert (shifted.statistic, shifted.p) == (0, 1)
    with pytest.raises(InputError, match="paired_brown_forsythe: 3 and 2 scores; expected pairs"):
        paired_brown_forsythe([1, 2, 3], [1, 2])


def test_brown_forsythe_of_groups_without_variation_says_why_it_is_nothing() -> None:
    for groups in ([[0.901, 0.907], [0.71, 0.92]], [[0.9, 0.9, 0.9], [0.8, 0.8]], [[0.1], [0.2]]):
        result = brown_forsythe(*groups)
        assert math.isnan(result.p)
        assert math.isnan(result.statistic)
        assert "do not vary" in str(result)


@given(st.permutations(range(8)), st.integers(1, 7))
@settings(max_examples=40)
def test_mann_whitney_counts_every_order(order: list[int], n: int) -> None:
    a, b = order[:n], order[n:]

    def wins(x: list[int], y: list[int]) -> int:
        return sum(i > j for i in x for j in y)

    middle = n * (8 - n) / 2
    far = abs(wins(a, b) - middle)
    expected = np.mean([abs(wins(x, y) - middle) >= far for x, y in splits(a, b)])
    assert mann_whitney(a, b).p == pytest.approx(expected, rel=1e-12)


def test_tied_scores_of_few_runs_have_the_exact_chance() -> None:
    # Two of the twenty ways to split 1 1 1 2 2 2 in threes part them.
    result = mann_whitney([1, 1, 1], [2, 2, 2])
    assert (result.p, result.method) == (0.1, "exact")


@given(TIED, TIED)
def test_mann_whitney_counts_every_order_of_ties(a: list[int], b: list[int]) -> None:
    def far(x: list[int], y: list[int]) -> float:
        return abs(sum((i > j) - (i < j) for i in x for j in y))

    expected = np.mean([far(x, y) >= far(a, b) for x, y in splits(a, b)])
    result = mann_whitney(a, b)
    assert result.method == "exact"
    assert result.p == pytest.approx(expected, rel=1e-12)


def test_many_tied_scores_have_nearly_the_normal_chance() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 20, 25), rng.integers(2, 22, 25)
    result = mann_whitney(a, b)
    assert result.method == "exact"
    assert result.p == pytest.approx(stats.mannwhitneyu(a, b, method="asymptotic").pvalue, rel=0.05)


@pytest.mark.parametrize(("n", "m", "levels"), [(1, 1000, 8), (60, 50, 1000), (40, 40, 10**6)])
def test_mann_whitney_of_many_runs_is_the_corrected_normal_one_of_scipy(n: int, m: int, levels: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.integers(0, levels, n), rng.integers(0, levels, m) + levels // 5
    result, expected = mann_whitney(a, b), stats.mannwhitneyu(a, b, method="asymptotic")
    assert result.method == "asymptotic"
    assert result.statistic == expected.statistic
    assert result.p == pytest.approx(expected.pvalue, rel=1e-10)


def test_scores_that_are_all_alike_surprise_nobody() -> None:
    assert mann_whitney([1, 1, 1], [1, 1]).p == 1
    assert kolmogorov_smirnov([1, 1, 1], [1, 1]).p == 1


@given(TIED, TIED)
def test_cliffs_delta_counts_pairs(a: list[int], b: list[int]) -> None:
    pairs = [(x > y) - (x < y) for x in a for y in b]
    assert cliffs_delta(a, b).value == pytest.approx(np.mean(pairs), abs=1e-15)


def test_cohens_d_worked_out_by_hand() -> None:
    # Means 3 and 6; squares about them 2 and 8 on 2 + 1 degrees of freedom.
    assert cohens_d([2, 3, 4], [4, 8]).value == pytest.approx(-3 / math.sqrt((2 + 8) / 3))


def test_cohens_d_of_scores_that_do_not_vary_is_nothing() -> None:
    for a, b in (([0.1] * 3, [0.2] * 4), ([0.1], [0.3])):
        result = cohens_d(a, b)
        assert math.isnan(result.value)
        assert "vary" in str(result)
    assert math.isfinite(cohens_d([0.1], [0.3, 0.4]).value)


@pytest.mark.parametrize("n", [9, 12, 50, 500])
def test_spearman_of_many_runs_is_that_of_scipy_with_ties(n: int) -> None:
    rng = np.random.default_rng(n)
    dev = rng.integers(0, n, n)
    test = dev // 2 + rng.integers(0, n, n)
    result, expected = spearman(dev, test), stats.spearmanr(dev, test)
    assert result.method == "asymptotic"
    assert result.statistic == pytest.approx(expected.statistic, abs=1e-12)
    assert result.p == pytest.approx(expected.pvalue, rel=1e-9)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=6))
@settings(max_examples=50)
def test_spearman_of_few_runs_lists_every_order(runs: list[tuple[int, int]]) -> None:
    dev, test = (np.array(column) for column in zip(*runs, strict=True))
    assume(len(set(dev)) > 1 and len(set(test)) > 1)
    result = spearman(dev, test)
    ranks, others = stats.rankdata(dev), stats.rankdata(test)
    observed = np.corrcoef(ranks, others)[0, 1]
    orders = [abs(np.corrcoef(ranks, order)[0, 1]) for order in permutations(others)]
    assert result.statistic == pytest.approx(observed, abs=1e-12)
    assert result.p == pytest.approx(np.mean(np.array(orders) >= abs(observed) - 1e-9), rel=1e-12)


def test_perfect_agreement_is_as_rare_as_one_order_either_way() -> None:
    for n in (3, 5, 8, 9, 12):
        assert spearman(range(n), range(n)).p == pytest.approx(2 / math.factorial(n))
        assert spearman(range(n), range(n, 0, -1)).statistic == -1


def test_spearman_of_nothing_to_rank_says_so() -> None:
    assert "fewer than three" in str(spearman([1, 2], [3, 4]))
    assert "the same in all" in str(spearman([1, 1, 1], [3, 4, 5]))
    assert math.isnan(spearman([1, 1, 1], [3, 4, 5]).p)


def test_too_few_groups_and_scores_are_refused() -> None:
    with pytest.raises(InputError, match="3 dev and 2 test scores"):
        spearman([1, 2, 3], [1, 2])
    with pytest.raises(InputError, match="expected at least two"):
        brown_forsythe([1, 2, 3])


@given(FLOATS, FLOATS)
@settings(max_examples=40)
def test_swapping_the_systems_changes_signs_only(a: list[float], b: list[float]) -> None:
    for test in (kolmogorov_smirnov, mann_whitney, brown_forsythe):
        assert test(a, b).p == pytest.approx(test(b, a).p, rel=1e-9, nan_ok=True)
    assert mann_whitney(a, b).statistic + mann_whitney(b, a).statistic == len(a) * len(b)
    for size in (cliffs_delta, cohens_d):
        assert size(a, b).value == pytest.approx(-size(b, a).value, nan_ok=True)


@given(FLOATS, FLOATS)
@settings(max_examples=40)
def test_ranks_alone_matter(a: list[float], b: list[float]) -> None:
    cubes = np.array(a) ** 3, np.array(b) ** 3
    for item in (kolmogorov_smirnov, mann_whitney, cliffs_delta):
        assert item(*cubes) == item(a, b)


@pytest.mark.parametrize("function", OF_TWO_SAMPLES)
@pytest.mark.parametrize("wrong", [[], [1.0, math.nan, 2.0], [1.0, 2.0, math.inf], [[1.0, 2.0, 3.0]], ["a"], None])
def test_wrong_scores_are_refused(function: Callable[[object, object], object], wrong: object) -> None:
    with pytest.raises(InputError, match=f"{function.__name__}, .*; expected"):
        function(wrong, [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match=f"{function.__name__}, .*; expected"):
        function([1.0, 2.0, 3.0], wrong)


def test_results_print_as_one_line() -> None:
    a, b = [0.91, 0.92, 0.93], [0.90, 0.92, 0.91]
    for result in (summary(a), *(function(a, b) for function in OF_TWO_SAMPLES)):
        assert "\n" not in str(result)


@pytest.mark.slow
@pytest.mark.parametrize("test", [kolmogorov_smirnov, mann_whitney, brown_forsythe])
def test_equal_systems_are_found_to_differ_as_rarely_as_claimed(test: Callable[..., object]) -> None:
    rng, simulations, level = np.random.default_rng(5), 4000, 0.05
    hits = sum(test(*rng.normal(size=(2, 10))).p <= level for _ in range(simulations))  # type: ignore[attr-defined]
    # No more often than binomial(4000, 0.05) would, but for one case in 30,000.
    assert hits <= level * simulations + 4 * math.sqrt(simulations * level * (1 - level))
