from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from deadheat.errors import InputError
from deadheat.ranking.integers import integer_scores, ranks_of


@given(
    st.lists(st.lists(st.integers(-(10**6), 10**6), min_size=3, max_size=3), min_size=2, max_size=4), st.integers(0, 6)
)
def test_decimal_scores_keep_their_differences_exactly(steps: list[list[int]], decimals: int) -> None:
    texts = [[str(Decimal(step).scaleb(-decimals)) for step in row] for row in steps]
    result = integer_scores([[float(text) for text in row] for row in texts])
    assert result.exact
    for row, others in zip(result.above_SD.tolist(), texts, strict=True):
        for position, (own, text) in enumerate(zip(row, others, strict=True)):
            lowest = min(Decimal(item[position]) for item in texts)
            assert Decimal(own) / Decimal(result.unit) == Decimal(text) - lowest


def test_scores_without_an_end_are_rounded_and_marked_so() -> None:
    result = integer_scores([[1 / 3, 2 / 3], [1 / 23, 5 / 7]])
    assert not result.exact
    differences = (result.above_SD[0] - result.above_SD[1]) / result.unit
    assert differences == pytest.approx([1 / 3 - 1 / 23, 2 / 3 - 5 / 7], abs=1e-8)


@pytest.mark.parametrize("runs", [3, 6, 7, 9, 12, 17, 19, 20])
def test_means_of_some_runs_that_add_up_to_the_same_are_ties(runs: int) -> None:
    rng = np.random.default_rng(runs)
    sums = rng.integers(runs * 6000, runs * 9000, (2, 10))  # in hundredths, so that means of 3 runs end in thirds
    sums[1, -1] += sums[0].sum() - sums[1].sum()
    result = integer_scores(sums / runs / 100)
    assert result.exact
    assert result.above_SD[0].sum() == result.above_SD[1].sum()
    assert (result.above_SD[0] - result.above_SD[1]) / result.unit == pytest.approx((sums[0] - sums[1]) / runs / 100)
    sums[1, 0] += 1
    ahead = integer_scores(sums / runs / 100).above_SD.sum(axis=1)
    assert ahead[1] > ahead[0]


def test_equal_scores_everywhere_are_level() -> None:
    assert integer_scores([[1 / 3], [1 / 3]]).above_SD.tolist() == [[0], [0]]


@pytest.mark.parametrize("scores", [[1, 2], [[[1]]], np.empty((0, 3))])
def test_what_is_not_a_table_is_refused(scores: ArrayLike) -> None:
    with pytest.raises(InputError, match="expected one row per system and one column per data set"):
        integer_scores(scores)


def test_a_score_that_is_not_a_number_is_named() -> None:
    with pytest.raises(InputError, match="system 2 on data set 1: score is not a number"):
        integer_scores([[1.0, 2.0], [float("nan"), 3.0]])


def test_equal_sums_share_the_better_rank() -> None:
    assert ranks_of(np.array([[5, 9, 5, 2, 9]])).tolist() == [[3, 1, 3, 5, 1]]
