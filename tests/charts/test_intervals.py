"""Values with intervals on a common scale."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.charts.chart import NARROW, WIDE, Chart, Layout
from deadheat.charts.comparisons import IntervalPlot, IntervalRow
from tests.charts.svg_reading import LAYOUTS, NAN, assert_sound, boxes, cells, only, texts

layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
SCORES = [
    IntervalRow(*row)
    for row in (("biaffine", 91.24, 90.6, 91.9), ("pointer", 90.98, 90.3, 91.7), ("arcs", 88.3, 87.6, 89))
]
DIFFERENCES = [
    IntervalRow(*row) for row in (("a − b", 2.0, 1.0, 3.0), ("a − c", 0.5, -0.5, 1.5), ("b − c", -1.5, -2.5, -0.5))
]
values = st.one_of(st.just(NAN), st.floats(-1e6, 1e6))


def intervals(rows: Sequence[IntervalRow], layout: Layout, *, title: str, axis: str, zero: bool = False) -> Chart:
    return IntervalPlot(tuple(rows), title, axis, zero).draw(layout)


@given(st.lists(st.tuples(values, values, values), min_size=1, max_size=6), st.booleans(), st.sampled_from([*LAYOUTS]))
@settings(max_examples=60)
def test_any_values_are_drawn_inside_and_given_in_the_data(
    numbers: list[tuple[float, float, float]],
    zero: bool,  # noqa: FBT001
    where: str,
) -> None:
    rows = [IntervalRow(f"system {i}", *each) for i, each in enumerate(numbers)]
    layout = LAYOUTS[where]
    chart = intervals(rows, layout, title="LAS", axis="LAS", zero=zero)
    assert_sound(chart, layout)
    for row, cell in zip(rows, cells(chart), strict=True):
        assert cell["name"] == row.name
        for key in ("value", "low", "high"):
            given = getattr(row, key)
            assert cell[key] == ("" if math.isnan(given) else str(given))


@layouts
def test_dots_and_ends_lie_on_one_scale(layout: Layout) -> None:
    chart = intervals(SCORES, layout, title="LAS", axis="LAS in %")
    dots = [box for box in boxes(chart, layout) if box.tag == "circle"]
    lines = [box for box in boxes(chart, layout) if box.kinds == {"interval"} and box.tooltip]
    unit = (dots[0].middle[0] - dots[2].middle[0]) / (91.24 - 88.3)
    for row, dot, reach in zip(SCORES, dots, lines, strict=True):
        assert dot.middle[0] - reach.left == pytest.approx(unit * (row.value - row.low), abs=0.03)
        assert reach.right - dot.middle[0] == pytest.approx(unit * (row.high - row.value), abs=0.03)
        assert dot.middle[1] == pytest.approx(reach.top, abs=0.01)


@layouts
def test_zero_is_where_zero_is(layout: Layout) -> None:
    chart = intervals(DIFFERENCES, layout, title="Pairs", axis="points", zero=True)
    rows = [box for box in boxes(chart, layout) if box.tooltip]
    first, last = (
        only(b for b in rows if b.tag == "circle" and b.tooltip.startswith(name)) for name in ("a − b", "b − c")
    )
    line = only(box for box in boxes(chart, layout) if box.kinds == {"axis"})
    unit = (first.middle[0] - last.middle[0]) / 3.5
    assert line.left == line.right == pytest.approx(first.middle[0] - 2 * unit, abs=0.03)
    assert line.top < first.top
    assert line.bottom > last.bottom


def test_only_intervals_that_exclude_zero_have_filled_dots() -> None:
    chart = intervals(DIFFERENCES, WIDE, title="Pairs", axis="points", zero=True)
    dots = {
        box.tooltip.partition(":")[0]: box.kinds for box in boxes(chart, WIDE) if box.tag == "circle" and box.tooltip
    }
    assert dots == {"a − b": {"mark"}, "a − c": {"hollow"}, "b − c": {"mark"}}
    assert "2 of 3 intervals exclude zero." in chart.description
    said = [box.content for box in texts(chart, WIDE)]
    assert "interval excludes zero" in said
    assert "interval includes zero" in said


@pytest.mark.parametrize(("low", "high", "kind"), [(0.0, 2.0, "hollow"), (-1.0, 0.0, "hollow"), (NAN, NAN, "hollow")])
def test_an_interval_that_touches_zero_or_is_not_known_leaves_nothing_out(low: float, high: float, kind: str) -> None:
    chart = intervals([IntervalRow("x", 1.0, low, high)], WIDE, title="Pairs", axis="points", zero=True)
    assert only(b for b in boxes(chart, WIDE) if b.tag == "circle" and b.tooltip).kinds == {kind}


def test_what_is_missing_is_said_and_not_drawn() -> None:
    rows = [
        IntervalRow("here", 1.5, 1.0, 2.0),
        IntervalRow("gone", NAN, NAN, NAN),
        IntervalRow("endless", 1.2, 1.0, math.inf),
    ]
    chart = intervals(rows, WIDE, title="LAS", axis="LAS")
    assert len([box for box in boxes(chart, WIDE) if box.tag == "circle"]) == 2
    said = [box.content for box in texts(chart, WIDE)]
    assert said.count("no value") == 1
    assert said.count("–") == 1
    assert "1 without a value." in chart.description
    assert cells(chart)[2]["high"] == ""


def test_bounds_are_written_where_there_is_room_and_always_told() -> None:
    for layout, written in ((WIDE, True), (NARROW, False)):
        chart = intervals(SCORES, layout, title="LAS", axis="LAS in %")
        assert ("[90.60, 91.90]" in [box.content for box in texts(chart, layout)]) is written
        assert "biaffine: 91.24 [90.60, 91.90]" in [box.tooltip for box in boxes(chart, layout)]


def test_more_words_are_told_with_the_mark() -> None:
    chart = intervals([IntervalRow("a", 1, 0, 2, note="p = 0.03")], WIDE, title="LAS", axis="LAS")
    assert {box.tooltip for box in boxes(chart, WIDE) if box.tooltip} == {"a: 1.00 [0.00, 2.00]. p = 0.03"}
