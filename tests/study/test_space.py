"""Settings that are tried: grids listed by hand, ranges at known places, draws that are the same every time."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadheat.errors import InputError, NameUnknown
from deadheat.study.search.space import Range, Space, grid


def test_a_grid_is_every_combination_in_the_order_of_the_file() -> None:
    assert grid({"epochs": [5, 10], "column": "upos", "order": [2, 3]}) == [
        {"epochs": 5, "column": "upos", "order": 2},
        {"epochs": 5, "column": "upos", "order": 3},
        {"epochs": 10, "column": "upos", "order": 2},
        {"epochs": 10, "column": "upos", "order": 3},
    ]
    assert grid({}) == [{}]
    assert Space({"epochs": [5, 10], "column": "upos"}).all() == grid({"epochs": [5, 10], "column": "upos"})


def test_what_may_differ_is_what_has_several_values() -> None:
    space = Space({"rate": {"low": 0.1, "high": 1.0}, "column": "upos", "order": [2], "epochs": [5, 10]})
    assert space.varied == ["rate", "epochs"]


@pytest.mark.parametrize(
    ("low", "high", "log", "share", "expected"),
    [
        (0.0, 1.0, False, 0.25, 0.25),
        (0.001, 0.1, True, 0.5, 0.01),  # the middle between two powers of ten is the power between them
        (0.001, 0.1, True, 0.0, 0.001),
        (1, 4, False, 0.0, 1),
        (1, 4, False, 0.24, 1),  # four numbers have a quarter each
        (1, 4, False, 0.26, 2),
        (1, 4, False, 0.99, 4),
        (1, 3, True, 0.49, 1),  # from 1 to below 4: below the middle of logarithms is what lies below 2
        (1, 3, True, 0.51, 2),
        (1, 3, True, 0.79, 2),  # 4 ** 0.79 is 2.99
        (1, 3, True, 0.80, 3),
    ],
)
def test_a_range_is_known_by_its_shares(low: float, high: float, log: bool, share: float, expected: float) -> None:  # noqa: FBT001
    value = Range(low, high, log=log).quantile(share)
    assert value == pytest.approx(expected)
    assert isinstance(value, type(expected))


@given(st.floats(1e-6, 1e6), st.floats(1e-9, 10.0), st.booleans(), st.floats(0, 1, exclude_max=True))
def test_no_draw_leaves_its_range(low: float, more: float, log: bool, share: float) -> None:  # noqa: FBT001
    high = low * (1 + more)
    if high > low:
        assert low <= Range(low, high, log=log).quantile(share) <= high


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.booleans(), st.floats(0, 1, exclude_max=True))
def test_no_whole_number_leaves_its_range(low: int, more: int, log: bool, share: float) -> None:  # noqa: FBT001
    value = Range(low, low + more, log=log).quantile(share)
    assert isinstance(value, int)
    assert low <= value <= low + more


def test_whole_numbers_are_drawn_alike_and_logarithms_evenly() -> None:
    even = Counter(
        settings["n"] for settings in (Space({"n": {"low": 1, "high": 4}}).quantile([i / 4000]) for i in range(4000))
    )
    assert even == {1: 1000, 2: 1000, 3: 1000, 4: 1000}
    # From 1 to 8, shares of logarithms of 9: log(2)/log(9) of the draws are 1, and so on.
    steps = Counter(Range(1, 8, log=True).quantile(i / 90000) for i in range(90000))
    for n in range(1, 9):
        assert steps[n] == pytest.approx(90000 * (math.log(n + 1) - math.log(n)) / math.log(9), abs=2)


def test_draws_are_the_same_for_a_seed_and_others_for_another() -> None:
    space = Space({"rate": {"low": 0.001, "high": 0.1, "log": True}, "order": [2, 3], "column": "upos"})
    first = space.sample(20, 7)
    assert first == space.sample(20, 7)
    assert first != space.sample(20, 8)
    assert len({repr(settings) for settings in first}) == 20
    for settings in first:
        assert 0.001 <= settings["rate"] <= 0.1
        assert (settings["order"] in (2, 3), settings["column"]) == (True, "upos")


def test_more_draws_keep_the_first_ones() -> None:
    space = Space({"rate": {"low": 0.0, "high": 1.0}, "order": [2, 3]})
    assert space.sample(50, 3)[:10] == space.sample(10, 3)


def test_a_small_space_is_drawn_whole_and_no_more() -> None:
    samples = Space({"order": [2, 3], "n": {"low": 1, "high": 3}}).sample(100, 0)
    assert sorted((settings["order"], settings["n"]) for settings in samples) == list(product((2, 3), (1, 2, 3)))


def test_a_grid_of_a_range_is_refused() -> None:
    with pytest.raises(InputError, match=r"^rate has a range; expected lists of values for a grid$"):
        Space({"rate": {"low": 0.1, "high": 1.0}}).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": []}, "epochs has no values; expected at least one"),
        ({"epochs": 5}, "nothing to search; expected several values or a range for some setting"),
        ({"epochs": [5]}, "nothing to search; expected several values or a range for some setting"),
        ({}, "nothing to search; expected several values or a range for some setting"),
        ({"rate": {"low": 0.1}}, "rate = {'low': 0.1}; expected a range such as {low = 0.001, high = 0.01}"),
        ({"rate": {"low": 1, "high": True}}, "rate = {'low': 1, 'high': True}; expected a range such as"),
        ({"rate": {"low": 2, "high": 1}}, "rate: low 2, high 1; expected low to be less than high"),
        ({"rate": {"low": 1, "high": 1}}, "rate: low 1, high 1; expected low to be less than high"),
        ({"rate": {"low": 0.0, "high": math.inf}}, "rate: low 0, high inf; expected low to be less than high"),
        ({"rate": {"low": 0, "high": 1, "log": True}}, "rate: low 0; expected more than 0 with log = true"),
        ({"rate": {"low": 1, "high": 2, "log": "yes"}}, "rate: log = 'yes'; expected true or false"),
    ],
)
def test_what_cannot_be_searched_is_refused_in_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        Space(settings).check()
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


def test_a_key_that_no_range_has_is_told_with_the_nearest() -> None:
    with pytest.raises(NameUnknown, match="rate: key of a range 'hihg' is unknown; did you mean 'high'"):
        Space({"rate": {"low": 0.1, "hihg": 1.0}}).check()
