"""Values of sums of counts: F1, precision, recall, accuracy, and what follows from two of them."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadheat.metrics import error_reduction
from deadheat.metrics.metric import Counts, Values, accuracy, f1, is_proportion, precision, ratio, recall

counts = st.integers(0, 10**9)


def test_values_by_hand() -> None:
    summed = np.array([3, 4, 6])
    assert (float(precision(summed)), float(recall(summed)), float(accuracy(summed))) == (0.5, 0.75, 0.75)
    assert float(f1(summed)) == 0.6


def test_with_nothing_to_divide_by_f1_is_zero_as_officially_and_accuracy_is_not_a_number() -> None:
    nothing = np.zeros(3, np.int64)
    assert [float(item(nothing)) for item in (f1, precision, recall)] == [0.0, 0.0, 0.0]
    assert math.isnan(float(accuracy(nothing)))
    assert float(precision(np.array([0, 4, 0]))) == float(recall(np.array([0, 0, 4]))) == 0.0


@given(counts, counts, counts)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(correct: int, missed: int, superfluous: int) -> None:
    gold, predicted = correct + missed, correct + superfluous
    summed = np.array([correct, gold, predicted])
    if correct:
        exact = 2 / (1 / Fraction(correct, gold) + 1 / Fraction(correct, predicted))
        assert float(f1(summed)) == pytest.approx(float(exact), rel=1e-15)
    else:
        assert float(f1(summed)) == 0.0


@pytest.mark.parametrize("value", [f1, precision, recall, accuracy])
def test_many_sums_are_one_call(value: Callable[[Counts], Values]) -> None:
    rng = np.random.default_rng(0)
    sums = rng.integers(0, 5, size=(7, 3, 4))
    together = value(sums)
    assert together.shape == (7, 3)
    for at in np.ndindex(7, 3):
        np.testing.assert_equal(together[at], float(value(sums[at])))


def test_a_ratio_has_a_value_of_its_own_where_there_is_nothing() -> None:
    assert ratio(np.array([1, 0, 2]), np.array([2, 0, 0]), empty=-1.0).tolist() == [0.5, -1.0, -1.0]


@pytest.mark.parametrize(
    ("rows", "holds"),
    [
        ([[3, 4, 4], [0, 4, 4], [4, 4, 4], [0, 0, 0]], True),
        ([], True),
        ([[3, 4, 4, 4], [1, 2, 2, 0]], True),  # the number of aligned words plays no part
        ([[3, 4, 5]], False),
        ([[3, 5, 4]], False),
        ([[5, 4, 4], [1, 4, 4]], False),  # more right than there is: the official count of repeated edges
        ([[3, 4, 5], [3, 5, 4]], False),  # equal in sum only
    ],
)
def test_a_proportion_is_so_many_right_of_so_many_tried_in_every_unit(*, rows: list[list[int]], holds: bool) -> None:
    assert is_proportion(np.array(rows, np.int64).reshape(len(rows), -1 if rows else 3)) is holds


def test_error_reduction_by_hand() -> None:
    # Of 10 errors in a hundred, 2 are gone; and the other way about 2 are added to 8.
    assert error_reduction(0.90, 0.92) == pytest.approx(0.2, abs=1e-12)
    assert error_reduction(0.92, 0.90) == pytest.approx(-0.25, abs=1e-12)
    assert error_reduction(0.5, 0.5) == 0.0
    assert error_reduction(0.5, 1.0) == 1.0
    assert error_reduction(0.0, 0.25) == 0.25


def test_where_there_are_no_errors_none_can_be_reduced() -> None:
    assert math.isnan(error_reduction(1.0, 1.0))
    assert math.isnan(error_reduction(1.0, 0.5))


@given(st.integers(1, 1000), st.integers(0, 1000), st.integers(0, 1000))
def test_error_reduction_is_the_share_of_errors_that_are_gone(size: int, some: int, other: int) -> None:
    errors, fewer = 1 + some % size, other % (size + 1)
    result = error_reduction(1 - errors / size, 1 - fewer / size)
    assert result == pytest.approx(float(Fraction(errors - fewer, errors)), abs=1e-9 * size)
