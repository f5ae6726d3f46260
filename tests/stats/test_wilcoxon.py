"""Signed ranks and signs: by every way to sign the differences, by scipy, by hand."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.errors import InputError, NameUnknown
from deadheat.kernels.statistics import signed_rank_tails
from deadheat.stats.differences import paired_differences, sign_test, signed_rank, signed_rank_rows

small = st.lists(st.integers(-4, 4).map(float), max_size=9)


def plain_ranks(values: list[float]) -> list[float]:
    """The average place of each value among all, counted one by one."""
    return [sum(other < v for other in values) + (sum(other == v for other in values) + 1) / 2 for v in values]


def by_every_sign(differences: list[float], *, zeros: str) -> tuple[float, float, float]:
    """Both rank sums, and the share of sign patterns at least as uneven on the smaller side, doubled."""
    kept = [d for d in differences if d] if zeros == "wilcoxon" else differences
    ranks = [(rank, d) for rank, d in zip(plain_ranks([abs(d) for d in kept]), kept, strict=True) if d]
    up = sum(rank for rank, d in ranks if d > 0)
    down = sum(rank for rank, d in ranks if d < 0)
    sums = [
        sum(rank for (rank, _), sign in zip(ranks, signs, strict=True) if sign)
        for signs in product([0, 1], repeat=len(ranks))
    ]
    share = sum(total <= min(up, down) for total in sums) / len(sums)
    return up, down, min(1.0, 2 * share)


@settings(max_examples=60)
@given(small, st.sampled_from(["wilcoxon", "pratt"]))
def test_the_exact_p_value_counts_every_way_to_sign_the_ranks(differences: list[float], zeros: str) -> None:
    result = signed_rank(differences, zeros=zeros)
    assert (result.positive, result.negative, result.p) == by_every_sign(differences, zeros=zeros)
    assert result.method == "exact"
    assert result.n + result.zeros == len(differences)


@pytest.mark.parametrize("size", [1, 2, 5, 10, 25, 50, 60])
def test_scipy_finds_the_same_without_ties(size: int) -> None:
    from scipy.stats import wilcoxon

    differences = np.random.default_rng(size).normal(0.3, 1, size)
    result, other = signed_rank(differences), wilcoxon(differences, method="exact")
    assert result.statistic == other.statistic
    assert result.p == pytest.approx(float(other.pvalue), rel=1e-12)


@pytest.mark.parametrize("continuity", [False, True])
@pytest.mark.parametrize(("zeros", "theirs"), [("wilcoxon", "wilcox"), ("pratt", "pratt")])
def test_scipy_finds_the_same_by_the_normal_approximation(zeros: str, theirs: str, *, continuity: bool) -> None:
    from scipy.stats import wilcoxon

    for seed in range(5):
        differences = np.random.default_rng(seed).integers(-4, 6, 150).astype(float)
        result = signed_rank(differences, zeros=zeros, continuity=continuity)
        other = wilcoxon(differences, zero_method=theirs, correction=continuity, method="asymptotic")
        assert result.method == "normal"
        assert (result.statistic, result.p) == pytest.approx((other.statistic, other.pvalue), rel=1e-10)


def test_by_hand() -> None:
    # Ranks 1, 2.5, 2.5, 4; sums at most 1 are {} and {1}: 2 of 16, twice.
    result = signed_rank([0.0, 3, 5, 3, -2])
    assert (result.statistic, result.positive, result.negative, result.n, result.zeros) == (1, 9, 1, 4, 1)
    assert result.p == 0.25
    assert result.effect == 0.8
    assert str(result) == "signed-rank W = 1, p = 0.25 (exact), effect +0.80, n = 4"


def test_pratts_rule_keeps_the_ranks_that_zeros_take() -> None:
    # Of 0, 0, 1, -2, 3 the ranks are 1.5, 1.5, 3, 4, 5: the negative sum is 4, against 2 without the zeros.
    differences = [0.0, 0, 1, -2, 3]
    assert signed_rank(differences, zeros="pratt").negative == 4
    assert signed_rank(differences).negative == 2
    assert signed_rank(differences, zeros="pratt").n == 3


def test_pratts_rule_with_very_many_zeros_is_exact_as_long_as_there_is_room() -> None:
    differences = np.zeros(5000)
    differences[:8] = [1, 2, 3, 4, 5, 6, 7, -8]
    # The zeros take so many ranks that only the number of negatives counts, and of those with one the last is largest.
    assert signed_rank(differences, zeros="pratt").p == 2 * 9 / 256
    many = np.zeros(80_000)
    many[:60] = [1, -2] * 30
    assert signed_rank(many, zeros="pratt").method == "normal"
    with pytest.raises(InputError, match="exact signed-rank test"):
        signed_rank(many, zeros="pratt", method="exact")


@pytest.mark.parametrize("differences", [[], [0.0], [0.0, -0.0, 0.0]])
@pytest.mark.parametrize("zeros", ["wilcoxon", "pratt"])
@pytest.mark.parametrize("method", ["exact", "normal"])
def test_without_any_difference_p_is_1(differences: list[float], zeros: str, method: str) -> None:
    result = signed_rank(differences, zeros=zeros, method=method)
    assert (result.p, result.effect, result.statistic, result.n) == (1, 0, 0, 0)
    signs = sign_test(differences)
    assert (signs.p, signs.effect, signs.statistic, signs.n) == (1, 0, 0, 0)


def test_a_rank_sum_at_its_mean_gives_p_1_whatever_the_method() -> None:
    balanced = [1.0, -1.0] * 50
    for continuity in (False, True):
        assert signed_rank(balanced, continuity=continuity).p == 1
    assert signed_rank(balanced, method="exact").p == 1


def test_the_normal_approximation_is_near_the_exact_test_where_it_takes_over() -> None:
    # W = 673 of 61 differences has p = 0.0503.
    differences = np.arange(1.0, 62)
    negative = 673
    for rank in range(61, 0, -1):
        if rank <= negative:
            differences[rank - 1], negative = -rank, negative - rank
    exact, normal = (signed_rank(differences, method=method) for method in ("exact", "normal"))
    assert exact.statistic == 673
    assert exact.p == pytest.approx(0.0502597, abs=1e-7)
    assert normal.p == pytest.approx(exact.p, rel=0.002)
    assert signed_rank(differences).method == "normal"
    assert signed_rank(differences[1:]).method == "exact"


@given(small)
def test_swapping_systems_turns_the_effect_and_keeps_p(differences: list[float]) -> None:
    result, swapped = signed_rank(differences), signed_rank([-d for d in differences])
    assert (swapped.p, swapped.effect) == (result.p, -result.effect)
    assert sign_test([-d for d in differences]).p == sign_test(differences).p


@given(small, st.integers(-3, 3))
def test_order_and_scale_do_not_matter(differences: list[float], power: int) -> None:
    assert signed_rank([d * 2.0**power for d in sorted(differences)]) == signed_rank(differences)
    assert sign_test([d * 2.0**power for d in sorted(differences)]) == sign_test(differences)


@given(st.lists(st.lists(st.integers(-3, 3).map(float), min_size=5, max_size=5), min_size=1, max_size=6))
def test_rows_are_tested_as_if_alone(rows: list[list[float]]) -> None:
    assert signed_rank_rows(np.array(rows)) == [signed_rank(row) for row in rows]


def test_the_kernel_in_plain_python_counts_the_same() -> None:
    ranks = np.array([0, 2, 5, 5, 8, 0, 0, 2, 4, 6])
    limits = np.array([10, 6])
    counts = [np.empty(2), np.empty(2)]
    signed_rank_tails(ranks, 5, limits, np.empty(11), counts[0])
    signed_rank_tails.python(ranks, 5, limits, np.empty(11), counts[1])
    # Sums at most 10 of 2, 5, 5, 8: {}, 2, 5, 5, 8, 2+5, 2+5, 2+8, 5+5; at most 6 of 2, 4, 6: {}, 2, 4, 6, 2+4.
    assert counts[0].tolist() == counts[1].tolist() == [9, 5]


def test_the_sign_test_by_hand_and_by_scipy() -> None:
    from scipy.stats import binomtest

    result = sign_test([1.0, 2, -1, 0, 3, 4])
    assert (result.positive, result.negative, result.zeros, result.n, result.statistic) == (4, 1, 1, 5, 1)
    assert result.p == 2 * (1 + 5) / 32
    assert result.effect == 0.6
    assert str(result) == "sign test: 4 up, 1 down, 1 equal, p = 0.375, effect +0.60"
    for up, down in [(0, 1), (7, 7), (3, 11), (600, 520), (499, 501), (1200, 1000)]:
        signs = [1.0] * up + [-1.0] * down
        assert sign_test(signs).p == pytest.approx(binomtest(up, up + down).pvalue, rel=1e-10)


def test_differences_that_are_equal_in_decimals_are_equal() -> None:
    hundredths = np.random.default_rng(0).integers(5000, 9900, 200)
    gaps = np.random.default_rng(1).integers(-20, 20, 200)
    first, second = (hundredths + gaps) / 100, hundredths / 100
    assert len(np.unique(first - second)) > len(np.unique(gaps))
    differences = paired_differences(first, second)
    assert len(np.unique(differences)) == len(np.unique(gaps))
    assert np.allclose(differences, gaps / 100, rtol=0, atol=1e-10)
    assert signed_rank(differences) == signed_rank(gaps.astype(float))


def test_differences_of_scores_of_any_size_survive() -> None:
    for scale in (0.0, 5e-324, 1e-300, 1.0, 1e300):
        assert paired_differences([scale, 0.0], [0.0, scale]).tolist() == pytest.approx(
            [scale, -scale], rel=1e-11, abs=0
        )


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_what_is_no_number_is_refused_with_its_position(wrong: float) -> None:
    for call in (signed_rank, sign_test):
        with pytest.raises(InputError, match=r"difference 2: .*; expected a finite number"):
            call([0.5, wrong])
    with pytest.raises(InputError, match=r"difference 2, 1: .*; expected a finite number"):
        signed_rank_rows([[0.5], [wrong]])
    with pytest.raises(InputError, match="second score 1: "):
        paired_differences([0.5], [wrong])


def test_settings_that_do_not_exist_are_refused() -> None:
    with pytest.raises(NameUnknown, match="rule for zeros 'prat' is unknown; did you mean 'pratt'"):
        signed_rank([1.0], zeros="prat")
    with pytest.raises(NameUnknown, match="method 'exakt'"):
        signed_rank([1.0], method="exakt")
    with pytest.raises(InputError, match=r"shape \(1, 1\)"):
        signed_rank([[1.0]])
    with pytest.raises(InputError, match="expected equal shapes"):
        paired_differences([1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="1001 differences"):
        signed_rank(np.ones(1001), method="exact")


@pytest.mark.parametrize("values", ["uniform", "tied"])
def test_under_the_null_the_test_rejects_no_more_often_than_promised(values: str) -> None:
    rng = np.random.default_rng(7)
    sizes = rng.integers(1, 4, (2000, 15)) if values == "tied" else rng.random((2000, 15))
    tests = signed_rank_rows(sizes * rng.choice([-1.0, 1.0], (2000, 15)))
    rejected = sum(test.p <= 0.05 for test in tests)
    # Binomial with 2000 trials: beyond 131 has chance 0.001.
    assert 40 <= rejected <= 131
