"""Sets that are alike, against comparing all pairs; by machine code and in plain Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.kernels.alignment import nearest_like

Sets = list[set[int]]
sets = st.lists(st.sets(st.integers(0, 25), max_size=12), max_size=12)


def packed(given: Sets, number: dict[int, int]) -> tuple[np.ndarray, np.ndarray]:
    rows = [sorted(number[item] for item in each) for each in given]
    offsets = np.cumsum([0, *map(len, rows)])
    return np.array([item for row in rows for item in row], np.int64), offsets.astype(np.int64)


def found_by(kernel: Callable[..., object], left: Sets, right: Sets, percent: int) -> list[int]:
    everything = [item for each in [*left, *right] for item in each]
    rarest_first = sorted(set(everything), key=lambda item: (everything.count(item), item))
    number = {item: i for i, item in enumerate(rarest_first)}
    (a, a_offsets), (b, b_offsets) = packed(left, number), packed(right, number)
    found = np.full(len(left), 99, np.int64)
    room = np.empty(len(number), np.int64), np.empty(len(b), np.int64), np.empty(len(right), np.int64)
    kernel(a, a_offsets, b, b_offsets, percent, *room, found)
    return found.tolist()


@pytest.mark.parametrize("kernel", [nearest_like, nearest_like.python], ids=["compiled", "plain"])
@settings(max_examples=40)
@given(sets, sets, st.sampled_from([1, 20, 50, 60, 67, 80, 99, 100]))
def test_all_that_are_alike_are_found_and_no_others(
    kernel: Callable[..., object], left: Sets, right: Sets, percent: int
) -> None:
    found = found_by(kernel, left, right, percent)
    for each, at in zip(left, found, strict=True):
        like = [100 * len(each & other) >= percent * len(each | other) > 0 for other in right]
        assert (at >= 0) == any(like)
        assert at < 0 or like[at]


@pytest.mark.parametrize("percent", [50, 60, 75])
def test_sets_that_are_alike_by_the_whole_percent_count(percent: int) -> None:
    """Of twenty items, exactly so many percent of the union are shared, or one fewer."""
    shared = percent // 5
    left = [set(range(20))]
    assert found_by(nearest_like, left, [set(range(shared))], percent) == [0]
    assert found_by(nearest_like, left, [set(range(shared - 1))], percent) == [-1]


def test_a_set_that_was_looked_at_for_one_is_looked_at_for_the_next() -> None:
    """And for the first as for all others: room for the work may hold anything before."""
    same = {1, 2, 3, 4, 5}
    assert found_by(nearest_like, [same] * 3, [{7, 8}, same], 60) == [1, 1, 1]
