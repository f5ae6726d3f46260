"""Places of values, round numbers, and places pushed apart."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.charts.drawing import SMALL, text_width
from deadheat.charts.scales import (
    Scale,
    _axis_title,
    bottom_axis,
    brief,
    decimals_for,
    extent,
    fitting_ticks,
    fixed,
    left_axis,
    left_margin,
    log_ticks,
    round_ticks,
    spread,
    tick_labels,
)
from tests.charts.svg_reading import NAN

numbers = st.floats(-1e9, 1e9).map(lambda value: float(f"{value:.9g}"))
ranges = st.tuples(numbers, st.floats(1e-6, 1e9)).map(lambda pair: (pair[0], pair[0] + pair[1])).filter(
    lambda pair: pair[1] - pair[0] > 1e-7 * max(map(abs, pair))
)  # fmt: skip
positive = st.tuples(st.floats(1e-6, 1e9), st.floats(1.001, 1e6)).map(lambda pair: (pair[0], pair[0] * pair[1]))


@given(ranges, st.floats(0, 1), st.floats(-500, 500), st.floats(-500, 500))
def test_a_scale_puts_ends_at_ends_and_shares_at_shares(
    ends: tuple[float, float], share: float, start: float, end: float
) -> None:
    scale = Scale(*ends, start, end)
    assert scale(ends[0]) == start
    assert scale(ends[1]) == pytest.approx(end)
    value = ends[0] + share * (ends[1] - ends[0])
    assert scale(value) == pytest.approx(start + share * (end - start), abs=1e-3 * (1 + abs(end - start)))


@given(positive, st.floats(0, 1))
def test_equal_ratios_are_equal_lengths_on_a_log_scale(ends: tuple[float, float], share: float) -> None:
    scale = Scale(*ends, 0, 100, log=True)
    assert scale(ends[0] * (ends[1] / ends[0]) ** share) == pytest.approx(100 * share, abs=1e-6)


def test_a_scale_of_one_value_puts_it_in_the_middle_with_one_tick() -> None:
    assert Scale(3, 3, 10, 20)(3) == 15
    assert round_ticks(5, 5) == [5]


@given(ranges, st.integers(1, 12))
def test_ticks_are_round_evenly_spaced_inside_and_no_more_than_asked(ends: tuple[float, float], most: int) -> None:
    low, high = ends
    ticks = round_ticks(low, high, most)
    assert len(ticks) <= most
    slack = 1e-6 * (high - low)
    assert all(low - slack <= tick <= high + slack for tick in ticks)
    if most >= 2:
        assert ticks
    if len(ticks) >= 2:
        steps = np.diff(ticks)
        assert steps == pytest.approx(steps[0], rel=1e-6)
        size = 10.0 ** math.floor(math.log10(steps[0]) + 1e-9)
        assert min(abs(steps[0] / size - part) for part in (1, 2, 5)) < 1e-6
        # As many as there is room for: the next finer step would give too many.
        assert (high - low) / steps[0] * 2.5 >= most - 1


@given(positive, st.integers(2, 12))
def test_ticks_of_a_log_scale_are_inside_in_order_and_no_more_than_asked(ends: tuple[float, float], most: int) -> None:
    ticks = log_ticks(*ends, most)
    assert 1 <= len(ticks) <= most
    assert ticks == sorted(set(ticks))
    assert ends[0] * (1 - 1e-6) <= ticks[0]
    assert ticks[-1] <= ends[1] * (1 + 1e-6)


@given(ranges)
def test_the_names_of_ticks_differ_and_say_the_tick(ends: tuple[float, float]) -> None:
    ticks = round_ticks(*ends)
    names = list(tick_labels(ticks).values())
    assert len(set(names)) == len(names)
    assert len({len(name.partition(".")[2]) for name in names}) <= 1
    read = [float(name.replace(",", "").replace("−", "-")) for name in names]
    assert read == pytest.approx(ticks, rel=1e-9, abs=1e-12)


def test_round_bounds_are_ticks_themselves() -> None:
    assert round_ticks(0.1, 0.3, 3) == [0.1, 0.2, 0.3]
    assert round_ticks(0, 1, 6) == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), max_size=8))
def test_an_extent_holds_all_that_is_finite_and_is_never_empty(values: list[float]) -> None:
    low, high = extent(values)
    assert low < high
    assert all(low <= value <= high for value in values if math.isfinite(value))
    low, high = extent(values, log=True)
    assert 0 < low < high
    assert all(low <= value <= high for value in values if math.isfinite(value) and value > 0)


def test_an_extent_of_the_smallest_and_largest_numbers_has_ticks_and_includes_what_it_must() -> None:
    low, high = extent([2, 3], include=(0,))
    assert low < 0 < 3 < high
    for values in ([5e-324], [5e-324, 1e-320], [1e-320, 1e12]):
        low, high = extent(values, log=True)
        assert 0 < low <= min(values)
        assert log_ticks(low, high)


def test_numbers_are_written_with_a_real_minus_and_without_minus_nought() -> None:
    assert fixed(-0.26, 1, sign=True) == "−0.3"
    assert fixed(-0.001, 2) == "0.00"
    assert fixed(-0.001, 2, sign=True) == "0.00"
    assert fixed(0.26, 1, sign=True) == "+0.3"
    assert fixed(-math.inf, 2) == fixed(NAN, 2) == "–"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_on_its_own_is_short_and_right_to_six_digits(value: float) -> None:
    written = brief(value)
    assert len(written) <= 21
    assert float(written.replace(",", "").replace("−", "-")) == pytest.approx(value, rel=1e-5)


@given(ranges)
def test_decimals_tell_ends_of_a_range_apart(ends: tuple[float, float]) -> None:
    decimals = decimals_for(*ends)
    assert 0 <= decimals <= 8
    if ends[1] - ends[0] < 1000:
        assert fixed(ends[0], decimals) != fixed(ends[1], decimals)


@given(st.lists(st.floats(-50, 150), min_size=1, max_size=9), st.floats(0.1, 20))
def test_places_pushed_apart_keep_gaps_bounds_and_order(wanted: list[float], gap: float) -> None:
    found = spread(wanted, gap, 0, 100)
    assert len(found) == len(wanted)
    assert all(-1e-6 <= place <= 100 + 1e-6 for place in found)
    kept = min(gap, 100 / max(len(wanted) - 1, 1))
    assert all(b - a >= kept - 1e-6 for a, b in pairwise(sorted(found)))
    for i, j in zip(*np.triu_indices(len(wanted), 1), strict=True):
        if wanted[i] < wanted[j]:
            assert found[i] < found[j]


@given(st.lists(st.integers(0, 12), min_size=2, max_size=3), st.integers(1, 4))
@settings(max_examples=25)
def test_no_other_places_are_nearer_to_the_wanted_ones(wanted: list[int], gap: int) -> None:
    def distance(found: list[float]) -> float:
        return sum((a - b) ** 2 for a, b in zip(found, wanted, strict=True))

    best = distance(spread(wanted, gap, 0, 12))
    others = map(list, product([i / 2 for i in range(25)], repeat=len(wanted)))
    allowed = (positions for positions in others if all(b - a >= gap for a, b in pairwise(sorted(positions))))
    assert best <= min(map(distance, allowed)) + 1e-9
    assert spread([], 4, 0, 100) == []


@given(positive, st.booleans(), st.floats(60, 700), st.integers(2, 12))
def test_numbers_of_an_axis_never_touch(ends: tuple[float, float], log: bool, width: float, most: int) -> None:  # noqa: FBT001
    scale, font = Scale(*ends, 0, width, log), 12.0
    ticks = fitting_ticks(scale, font, most)
    sides = [(scale(tick), text_width(label, SMALL * font) / 2) for tick, label in ticks.items()]
    assert all(a + half < b - other for (a, half), (b, other) in pairwise(sides))


def test_an_axis_has_a_line_and_a_number_for_every_tick() -> None:
    scale = Scale(0, 10, 50, 250)
    drawn = bottom_axis(scale, 100, 20, 10, title="words", most=3)
    for tick, x in ((0, 50), (5, 150), (10, 250)):
        assert f'<line class="grid" x1="{x}" y1="20" x2="{x}" y2="100"/>' in drawn
        assert f'<text class="soft small" x="{x}" y="112.5" text-anchor="middle">{tick}</text>' in drawn
    assert '<text class="soft" x="150" y="127" text-anchor="middle">words</text>' in drawn


def test_an_upright_axis_has_its_numbers_at_its_left_and_its_name_above() -> None:
    scale = Scale(0, 10, 100, 20)
    drawn = left_axis(scale, 40, 300, 10, title="score", most=3)
    assert '<line class="grid" x1="40" y1="60" x2="300" y2="60"/>' in drawn
    assert '<text class="soft small" x="35" y="63.2" text-anchor="end">5</text>' in drawn
    assert '<text class="soft" x="0" y="11">score</text>' in drawn
    assert left_margin(scale, 10, 3) >= text_width("10", SMALL * 10) + 5


def test_a_name_of_an_axis_that_is_too_wide_ends_with_the_axis() -> None:
    scale = Scale(0, 1, 100, 160)
    assert 'x="160" y="9" text-anchor="end">accuracy on words</text>' in _axis_title(scale, 9, 10, "accuracy on words")
    long = _axis_title(scale, 9, 10, "accuracy on all the words there are in the world")
    assert "…" in long
    assert "<title>accuracy on all the words there are in the world</title>" in long
