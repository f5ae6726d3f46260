from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from deadheat.errors import InputError
from deadheat.ranking.integers import ranks_of, whole_scores


@given(
    st.lists(st.lists(st.integers(-(10**6), 10**6), min_size=3, max_size=3), min_size=2, max_size=4), st.integers(0, 6)
)
def test_decimal_scores_keep_their_differences_exactly(steps: list[list[int]], decimals: int) -> None:
    texts = [[str(Decimal(step).scaleb(-decimals)) for step in row] for row in steps]
    found = whole_scores([[float(text) for text in row] for row in texts])
    assert found.exact
    for row, others in zip(found.above_SD.tolist(), texts, strict=True):
        for place, (own, text) in enumerate(zip(row, others, strict=True)):
            lowest = min(Decimal(each[place]) for each in texts)
            assert Decimal(own) / Decimal(found.unit) == Decimal(text) - lowest


def test_scores_without_an_end_are_rounded_and_it_is_said() -> None:
    found = whole_scores([[1 / 3, 2 / 3], [1 / 7, 5 / 7]])
    assert not found.exact
    differences = (found.above_SD[0] - found.above_SD[1]) / found.unit
    assert differences == pytest.approx([1 / 3 - 1 / 7, 2 / 3 - 5 / 7], abs=1e-8)


def test_equal_scores_everywhere_are_level() -> None:
    assert whole_scores([[1 / 3], [1 / 3]]).above_SD.tolist() == [[0], [0]]


@pytest.mark.parametrize("scores", [[1, 2], [[[1]]], np.empty((0, 3))])
def test_what_is_no_table_is_refused(scores: ArrayLike) -> None:
    with pytest.raises(InputError, match="expected a row a system and a column a data set"):
        whole_scores(scores)


def test_a_score_that_is_no_number_is_named() -> None:
    with pytest.raises(InputError, match="system 2 on data set 1: a score that is no number"):
        whole_scores([[1.0, 2.0], [float("nan"), 3.0]])


def test_equal_sums_share_the_better_rank() -> None:
    assert ranks_of(np.array([[5, 9, 5, 2, 9]])).tolist() == [[3, 1, 3, 5, 1]]
