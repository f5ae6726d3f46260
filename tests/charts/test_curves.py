"""Lines over a quantity, named at their ends, and points against the diagonal, on one scale for both axes."""

import math
import re
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.charts.chart import WIDE, Chart, Layout
from deadheat.charts.curves import DIAGONAL, MOST_MARKS, Curve, CurvePlot, Gap, GapPlot
from deadheat.charts.drawing import SERIES
from tests.charts.svg_reading import (
    LAYOUTS,
    NAN,
    Box,
    across,
    assert_sound,
    boxes,
    cells,
    layouts,
    only,
    root_of,
    said,
    texts,
    upward,
)

SIZES = [50, 100, 200, 500, 1000, 2000, 5000]


def tau(name: str, rate: float) -> Curve:
    ys = [1 - math.exp(-rate * (i + 1)) for i in range(len(SIZES))]
    return curve(name, SIZES, ys, [y - 0.1 for y in ys], [y + 0.1 for y in ys])


def curve(name: str, *columns: Iterable[float]) -> Curve:
    return Curve(name, *map(tuple, columns))


def chart_of(series: list[Curve], layout: Layout, *, log_x: bool = True, target: float | None = None) -> Chart:
    return CurvePlot(tuple(series), "Tau", "sentences", "Kendall's tau", log_x, target).draw(layout)


def lines_of(chart: Chart, layout: Layout) -> list[list[tuple[float, float]]]:
    found = root_of(chart, layout).iter("{http://www.w3.org/2000/svg}polyline")
    pairs = [[pair.split(",") for pair in each.attrib["points"].split()] for each in found]
    return [[(float(x), float(y)) for x, y in each] for each in pairs]


def marks_of(chart: Chart, layout: Layout) -> list[Box]:
    return [box for box in boxes(chart, layout) if " at " in box.tooltip and box.tag != "polyline"]


@layouts
@pytest.mark.parametrize("count", [1, 2, 5, 8, 9, 30])
def test_lines_that_end_at_one_place_have_names_that_do_not_touch(count: int, layout: Layout) -> None:
    chart = chart_of([tau(f"strategy {i}", 0.8 + 0.01 * i) for i in range(count)], layout, target=0.95)
    assert_sound(chart, layout)
    names = [box for box in texts(chart, layout) if box.content.startswith("strategy")]
    assert len(names) == min(count, SERIES)
    assert all(b.top >= a.bottom - 0.5 for a, b in pairwise(sorted(names, key=lambda box: box.top)))


def test_names_are_in_the_order_of_the_ends_of_their_lines() -> None:
    chart = chart_of([tau("slow", 0.3), tau("fast", 0.9), tau("middle", 0.6)], WIDE)
    names = sorted((b for b in texts(chart, WIDE) if b.content in ("slow", "fast", "middle")), key=lambda box: box.top)
    assert [box.content for box in names] == ["fast", "middle", "slow"]


@layouts
@pytest.mark.parametrize(("log", "xs"), [(True, [10, 100, 1000]), (False, [1, 2, 3])])
def test_equal_ratios_or_equal_steps_are_equal_lengths(log: bool, xs: list[float], layout: Layout) -> None:  # noqa: FBT001
    ((a, b, c),) = lines_of(chart_of([curve("a", xs, [1, 2, 4])], layout, log_x=log), layout)
    assert b[0] - a[0] == pytest.approx(c[0] - b[0], abs=0.02)
    assert (b[1] - c[1]) == pytest.approx(2 * (a[1] - b[1]), abs=0.03)


@layouts
def test_the_target_lies_at_its_value_and_is_named(layout: Layout) -> None:
    chart = chart_of([curve("a", [10, 100, 1000], [0.5, 0.7, 0.9])], layout, target=0.8)
    ((_, b, c),) = lines_of(chart, layout)
    line = only(box for box in boxes(chart, layout) if box.tooltip == "target 0.8")
    assert line.top == line.bottom == pytest.approx((b[1] + c[1]) / 2, abs=0.02)
    assert said(chart, layout).count("target 0.8") == 1
    assert "stroke-dasharray" in chart.marks
    assert "with a target of 0.8" in chart.description


@layouts
@pytest.mark.parametrize("ys", [[0.82, 0.82, 0.5, 0.2], [0.2, 0.5, 0.82, 0.82], [0.3, 0.81, 0.83, 0.3]])
def test_the_name_of_the_target_keeps_away_from_lines(ys: list[float], layout: Layout) -> None:
    chart = chart_of([curve("a", [1, 10, 100, 1000], ys)], layout, target=0.8)
    name = only(box for box in texts(chart, layout) if box.content == "target 0.8")
    (line,) = lines_of(chart, layout)
    xs = np.linspace(line[0][0], line[-1][0], 1000)
    levels = np.interp(xs, *np.array(line).T)
    covered = (xs > name.left) & (xs < name.right) & (levels > name.top) & (levels < name.bottom)
    assert not covered.any()


@layouts
def test_a_target_beyond_all_values_is_still_inside(layout: Layout) -> None:
    for target in (-3.0, 0.0, 7.0):
        assert_sound(chart_of([tau("a", 0.5)], layout, target=target), layout)


def test_series_differ_in_colour_dash_and_shape() -> None:
    chart = chart_of([tau(f"s{i}", 0.2 + 0.1 * i) for i in range(SERIES)], WIDE)
    assert set(re.findall(r'<polyline class="(l\d)"', chart.marks)) == {f"l{i}" for i in range(SERIES)}
    assert {kind for box in marks_of(chart, WIDE) for kind in box.kinds} == {f"f{i}" for i in range(SERIES)}
    names = {box.content: box.kinds for box in texts(chart, WIDE)}
    assert all(names[f"s{i}"] == {f"t{i}"} for i in range(SERIES))


def test_more_than_eight_are_all_drawn_alike_and_eight_are_named() -> None:
    chart = chart_of([tau(f"s{i:02}", 0.2 + 0.02 * i) for i in range(12)], WIDE)
    assert len(lines_of(chart, WIDE)) == 12
    assert set(re.findall(r'<polyline class="(\w+)"', chart.marks)) == {"faint"}
    assert [content for content in said(chart) if re.fullmatch(r"s\d\d", content)] == [f"s{i:02}" for i in range(8)]
    assert "4 more lines without a name" in chart.description
    assert "s07 goes from" in chart.description
    assert "s08" not in chart.description
    assert {box.tooltip for box in boxes(chart, WIDE) if box.tag == "polyline"} == {f"s{i:02}" for i in range(12)}


def test_a_gap_breaks_the_line_and_its_band() -> None:
    ys = [1.0, 2.0, NAN, 4.0, 5.0, NAN, 6.0]
    series = curve("a", range(1, 8), ys, [y - 1 for y in ys], [y + 1 for y in ys])
    chart = chart_of([series], WIDE, log_x=False)
    assert_sound(chart, WIDE)
    assert [len(each) for each in lines_of(chart, WIDE)] == [2, 2]
    assert len(marks_of(chart, WIDE)) == 5
    assert len([box for box in boxes(chart, WIDE) if box.kinds == {"b0"}]) == 3
    assert [each["y"] for each in cells(chart)] == ["1.0", "2.0", "", "4.0", "5.0", "", "6.0"]


def test_a_band_reaches_from_low_to_high() -> None:
    chart = chart_of([curve("a", [1, 2], [5, 5], [3, 4], [7, 8])], WIDE, log_x=False)
    ((a, _),) = lines_of(chart, WIDE)
    band = only(box for box in boxes(chart, WIDE) if box.kinds == {"b0"})
    assert band.top < a[1] < band.bottom
    assert (band.bottom - a[1]) / (a[1] - band.top) == pytest.approx(2 / 3, rel=0.01)


@layouts
def test_a_line_that_ends_early_is_tied_to_its_name_and_one_without_values_is_named(layout: Layout) -> None:
    series = [
        curve("long", [1, 2, 3, 4], [1, 2, 3, 4]),
        curve("short", [1, 2], [1, 1.5]),
        curve("none", [1, 2], [NAN, NAN]),
    ]
    chart = chart_of(series, layout, log_x=False)
    assert_sound(chart, layout)
    ends = [each[-1] for each in lines_of(chart, layout)]
    threads = [box for box in boxes(chart, layout) if box.kinds == {"lead"}]
    for x, y in ends:
        assert any(abs(box.left - x) < layout.font and box.top - 0.1 <= y <= box.bottom + 0.1 for box in threads)
    assert any("none" in box.content + box.tooltip for box in texts(chart, layout))
    assert "none has no values" in chart.description


def test_places_that_a_log_axis_does_not_have_are_left_out_of_the_drawing_and_kept_in_the_data() -> None:
    chart = chart_of([curve("a", [0, -1, 10, 100], [1, 2, 3, 4])], WIDE)
    assert_sound(chart, WIDE)
    assert [len(each) for each in lines_of(chart, WIDE)] == [2]
    assert [each["x"] for each in cells(chart)] == ["0", "-1", "10", "100"]


def test_every_mark_tells_its_value_and_long_lines_have_fewer_marks() -> None:
    chart = chart_of([curve("a", [10, 100], [0.5, 0.75], [0.4, 0.7], [0.6, 0.8])], WIDE)
    assert [box.tooltip for box in marks_of(chart, WIDE)] == [
        "a: 0.50 [0.40, 0.60] at 10",
        "a: 0.75 [0.70, 0.80] at 100",
    ]
    long = chart_of([curve("a", range(1, 1001), [math.sqrt(i) for i in range(1, 1001)])], WIDE, log_x=False)
    assert MOST_MARKS / 2 <= len(marks_of(long, WIDE)) <= MOST_MARKS
    assert marks_of(long, WIDE)[-1].tooltip.endswith(" at 1,000")
    assert len(cells(long)) == 1000
    assert [len(each) for each in lines_of(long, WIDE)] == [1000]


def test_points_are_joined_from_left_to_right_whatever_their_order() -> None:
    a = chart_of([curve("a", [100, 10, 1000], [2, 1, 3])], WIDE)
    b = chart_of([curve("a", [10, 100, 1000], [1, 2, 3])], WIDE)
    assert a.marks == b.marks


values = st.one_of(st.just(NAN), st.floats(-1e5, 1e5))


@given(
    st.lists(st.lists(st.tuples(st.floats(0.01, 1e6), values, values, values), min_size=1, max_size=5), max_size=10),
    st.booleans(),
    st.one_of(st.none(), st.floats(-1e5, 1e5)),
    st.sampled_from([*LAYOUTS]),
)
@settings(max_examples=80)
def test_any_values_are_drawn_inside_and_given_in_the_data(
    numbers: list[list[tuple[float, float, float, float]]],
    log_x: bool,  # noqa: FBT001
    target: float | None,
    where: str,
) -> None:
    layout = LAYOUTS[where]
    series = [curve(f"s{i}", *zip(*points, strict=True)) for i, points in enumerate(numbers)]
    chart = chart_of(series, layout, log_x=log_x, target=target)
    assert_sound(chart, layout)
    expected = [
        [f"s{i}", *("" if math.isnan(value) else str(value) for value in point)]
        for i, points in enumerate(numbers)
        for point in points
    ]
    assert [list(each.values()) for each in cells(chart)] == expected


def test_lengths_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        chart_of([curve("a", [1, 2], [1])], WIDE)


RUNS = [Gap("a", 91.0, 90.2, "seed 1"), Gap("a", 91.4, 90.1, "seed 2"), Gap("b", 90.0, 90.5), Gap("b", 90.0, 90.0)]


def gaps(points: list[Gap], layout: Layout = WIDE) -> Chart:
    return GapPlot(tuple(points), title="Dev and test", x_axis="dev", y_axis="test").draw(layout)


def random_gaps(names: list[str], each: int) -> list[Gap]:
    rng = np.random.default_rng(0)
    pairs = rng.normal(90, 1, (len(names) * each, 2)).tolist()
    return [Gap(names[i // each], x, y) for i, (x, y) in enumerate(pairs)]


def points_of(chart: Chart, layout: Layout) -> list[Box]:
    return [box for box in boxes(chart, layout) if re.search(r": dev .*, test ", box.tooltip)]


@layouts
def test_points_are_in_their_places(layout: Layout) -> None:
    chart = gaps(RUNS, layout)
    x, y = across(chart, layout), upward(chart, layout)
    found = points_of(chart, layout)
    assert [box.middle for box in found] == [pytest.approx((x(each.x), y(each.y)), abs=0.2) for each in RUNS]
    assert found[0].tooltip == "a: dev 91.00, test 90.20 (seed 1)"


@layouts
def test_both_axes_have_one_scale_and_the_diagonal_is_where_both_are_equal(layout: Layout) -> None:
    chart = gaps(random_gaps(["a", "b"], 20), layout)
    x, y = across(chart, layout), upward(chart, layout)
    assert x(91) - x(90) == pytest.approx(y(90) - y(91), rel=1e-3)
    (line,) = (each for each in root_of(chart, layout).iter() if each.get("stroke-dasharray"))
    x1, y1, x2, y2 = (float(line.attrib[name]) for name in ("x1", "y1", "x2", "y2"))
    low = 90 + (x1 - x(90)) / (x(91) - x(90))
    high = 90 + (x2 - x(90)) / (x(91) - x(90))
    assert (y1, y2) == pytest.approx((y(low), y(high)), abs=0.2)
    words = only(box for box in texts(chart, layout) if box.content == DIAGONAL)
    assert math.hypot(words.right - x2, words.bottom - y2) < layout.font
    assert all(box.top >= y2 - 1 for box in points_of(chart, layout)), "no point reaches the words above the square"


def test_eight_systems_differ_by_shape_and_the_others_share_a_mark_that_the_legend_counts() -> None:
    chart = gaps(random_gaps([f"system {i}" for i in range(11)], 1))
    marks = {box.tooltip.partition(":")[0]: (box.tag, *box.kinds) for box in points_of(chart, WIDE)}
    assert [marks[f"system {i}"][1] for i in range(8)] == [f"f{i}" for i in range(8)]
    assert {marks[f"system {i}"] for i in range(8, 11)} == {("circle", "soft")}
    written = said(chart)
    assert "3 others" in written
    assert "system 7" in written
    assert "system 8" not in written


def test_one_system_needs_no_legend() -> None:
    assert "a" not in {box.content for box in texts(gaps(RUNS[:2]), WIDE)}
    assert {"a", "b"} <= {box.content for box in texts(gaps(RUNS), WIDE)}


def test_every_point_is_in_the_table() -> None:
    chart = gaps([*RUNS, Gap("c", NAN, 90.0)])
    rows = cells(chart)
    points = [" ".join((row["name"], row["dev"], row["test"])) for row in rows]
    assert points == ["a 91.0 90.2", "a 91.4 90.1", "b 90.0 90.5", "b 90.0 90.0", "c  90.0"]
    assert rows[0]["note"] == "seed 1"


def test_the_description_counts_the_sides_of_the_diagonal_and_what_is_left_out() -> None:
    assert gaps([*RUNS, Gap("c", NAN, 90.0)]).description == (
        "4 points of 2 systems; 2 below the diagonal (test less than dev), 1 above it. "
        "1 without both values is left out."
    )
