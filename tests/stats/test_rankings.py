"""Correlations of rankings: by counting pairs, by scipy, by what must not matter."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from deadheat.errors import InputError, NameUnknown
from deadheat.kernels.statistics import tau_sums
from deadheat.stats.agreement import (
    doubled_ranks,
    kendall,
    kendall_rows,
    spearman,
    spearman_rows,
    weighted_kendall,
    weighted_kendall_rows,
)

ROWS = {"kendall": kendall_rows, "weighted": weighted_kendall_rows, "spearman": spearman_rows}
ONE = {"kendall": kendall, "weighted": weighted_kendall, "spearman": spearman}


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    size = draw(st.integers(2, 8))
    scores = st.lists(st.integers(0, 5), min_size=size, max_size=size)
    return draw(scores), draw(scores)


def sign(difference: int) -> int:
    return (difference > 0) - (difference < 0)


def obvious_tau(x: list[int], y: list[int], weights: list[float]) -> float:
    """Over all pairs: how far they are ordered alike, and how many either orders."""
    both = by_x = by_y = 0.0
    for i, j in combinations(range(len(x)), 2):
        weight, in_x, in_y = weights[i] + weights[j], sign(x[i] - x[j]), sign(y[i] - y[j])
        both += weight * in_x * in_y
        by_x += weight * abs(in_x)
        by_y += weight * abs(in_y)
    return both / math.sqrt(by_x * by_y) if by_x and by_y else math.nan


def hyperbolic(x: list[int], y: list[int]) -> list[float]:
    """One over the place of each item when the greatest x, and then y, comes first."""
    order = sorted(range(len(x)), key=lambda i: (x[i], y[i]), reverse=True)
    return [1 / (order.index(i) + 1) for i in range(len(x))]


@given(pairs())
def test_kendall_counts_pairs(pair: tuple[list[int], list[int]]) -> None:
    assert kendall(*pair) == pytest.approx(obvious_tau(*pair, [0.5] * len(pair[0])), nan_ok=True)


@given(pairs())
def test_the_weighted_tau_counts_pairs_by_their_ranks(pair: tuple[list[int], list[int]]) -> None:
    x, y = pair
    by_first, by_second = obvious_tau(x, y, hyperbolic(x, y)), obvious_tau(x, y, hyperbolic(y, x))
    assert weighted_kendall(x, y, ranked_by="first") == pytest.approx(by_first, nan_ok=True)
    assert weighted_kendall(x, y, ranked_by="second") == pytest.approx(by_second, nan_ok=True)
    assert weighted_kendall(x, y) == pytest.approx((by_first + by_second) / 2, nan_ok=True)


@pytest.mark.parametrize("kinds", [3, 30, 10**9], ids=["many ties", "some ties", "no ties"])
@pytest.mark.parametrize("size", [2, 5, 26, 80])
@pytest.mark.filterwarnings("ignore:An input array is constant")
def test_scipy_finds_the_same(size: int, kinds: int) -> None:
    from scipy import stats

    rng = np.random.default_rng(size)
    many, others = rng.integers(0, kinds, (2, 12, size)).astype(float)
    theirs = {"kendall": stats.kendalltau, "weighted": stats.weightedtau, "spearman": stats.spearmanr}
    with np.errstate(invalid="ignore"):
        for name, function in theirs.items():
            row_by_row = [function(x, y).statistic for x, y in zip(many, others, strict=True)]
            assert ROWS[name](many, others) == pytest.approx(row_by_row, abs=1e-12, nan_ok=True)
            with_one = [function(x, others[0]).statistic for x in many]
            assert ROWS[name](many, others[0]) == pytest.approx(with_one, abs=1e-12, nan_ok=True)
        by_first = [stats.weightedtau(x, others[0], rank=None).statistic for x in many]
    assert weighted_kendall_rows(many, others[0], ranked_by="first") == pytest.approx(by_first, abs=1e-12, nan_ok=True)


def test_the_top_weighs_more() -> None:
    # Of 4 systems, swapping the two best leaves 5 of 6 pairs; the pair weighs 1 + 1/2 of (1 + 1/2 + 1/3 + 1/4) * 3.
    total = 3 * (1 + 1 / 2 + 1 / 3 + 1 / 4)
    assert weighted_kendall([4, 3, 2, 1], [3, 4, 2, 1]) == pytest.approx(1 - 2 * 1.5 / total)
    assert weighted_kendall([4, 3, 2, 1], [4, 3, 1, 2]) == pytest.approx(1 - 2 * (1 / 3 + 1 / 4) / total)
    assert kendall([4, 3, 2, 1], [3, 4, 2, 1]) == kendall([4, 3, 2, 1], [4, 3, 1, 2]) == pytest.approx(2 / 3)
    assert spearman([4, 3, 2, 1], [3, 4, 2, 1]) == pytest.approx(0.8)


@pytest.mark.parametrize("name", ROWS)
@given(pair=pairs())
def test_what_must_hold_of_every_correlation(name: str, pair: tuple[list[int], list[int]]) -> None:
    correlation = ONE[name]
    x, y = pair
    value = correlation(x, y)
    assert math.isnan(value) == (len(set(x)) == 1 or len(set(y)) == 1)
    if math.isnan(value):
        return
    assert -1 <= value <= 1
    assert correlation(y, x) == pytest.approx(value, abs=1e-15)
    assert correlation([v**3 + 1 for v in x], y) == value
    assert correlation(x[::-1], y[::-1]) == pytest.approx(value, abs=1e-12)
    assert correlation(x, x) == 1
    if name != "weighted":
        assert correlation([-v for v in x], y) == -value
    if len(set(x)) == len(x):
        assert correlation(x, [-v for v in x]) == -1


@settings(max_examples=20)
@given(hnp.arrays(float, (3, 6), elements=st.integers(0, 4).map(float)), st.sampled_from([0, 6]))
def test_the_kernel_in_plain_python_finds_the_same(scores: np.ndarray, step: int) -> None:
    others = scores[::-1].copy() if step else scores[1]
    weights = 1 / np.arange(1.0, 7)
    sums = [np.empty(18), np.empty(18)]
    tau_sums(scores.ravel(), others.ravel(), 3, 6, step, weights, sums[0])
    tau_sums.python(scores.ravel(), others.ravel(), 3, 6, step, weights, sums[1])
    assert sums[0] == pytest.approx(sums[1], rel=1e-14)


@given(
    hnp.arrays(
        float,
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=7),
        elements=st.sampled_from([0.5, -0.0, 0.0, 1, 3]),
    )
)
def test_ranks_are_those_of_counting(values: np.ndarray) -> None:
    ranks = doubled_ranks(values)
    for row, result in zip(values.tolist(), ranks.tolist(), strict=True):
        assert result == [2 * sum(v < mine for v in row) + sum(v == mine for v in row) + 1 for mine in row]


@pytest.mark.parametrize("name", ROWS)
def test_no_ranking_gives_no_correlation(name: str) -> None:
    assert ROWS[name](np.empty((0, 4)), np.arange(4)).tolist() == []
    assert ROWS[name](np.empty((0, 4)), np.empty((0, 4))).tolist() == []


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_what_is_no_score_is_refused_with_its_position(name: str, wrong: float) -> None:
    with pytest.raises(InputError, match=r"first rankings, row 2, system 3: score .*; expected a finite number"):
        ROWS[name](np.array([[1, 2, 3], [1, 2, wrong]]), [1, 2, 3])
    with pytest.raises(InputError, match="second rankings, row 1, system 1"):
        ONE[name]([1, 2, 3], [wrong, 2, 3])


@pytest.mark.parametrize("name", ROWS)
def test_shapes_that_do_not_fit_are_refused(name: str) -> None:
    for first, second in ([[1, 2, 3]], [1, 2]), ([[1, 2], [3, 4]], [[1, 2]]), ([1, 2], [1, 2]), ([[1, 2]], [[[1, 2]]]):
        with pytest.raises(InputError, match="arrays of shapes"):
            ROWS[name](first, second)
    with pytest.raises(InputError, match="of 1 systems; expected at least 2"):
        ONE[name]([1], [1])
    with pytest.raises(InputError, match="expected one score per system"):
        ONE[name]([[1, 2]], [1, 2])


def test_ranks_come_from_a_ranking_that_exists() -> None:
    with pytest.raises(NameUnknown, match="did you mean 'first'"):
        weighted_kendall([1, 2], [1, 2], ranked_by="frist")
