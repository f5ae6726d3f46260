"""Points against the diagonal, on one scale for both axes."""

import math
import re

import numpy as np
import pytest

from deadheat.charts.chart import WIDE, Chart, Layout
from deadheat.charts.curves import DIAGONAL, MOST_POINTS, Gap, GapPlot
from tests.charts.axis_reading import across, upward
from tests.charts.svg_reading import LAYOUTS, NAN, Box, assert_sound, boxes, cells, only, root_of, texts

layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)

RUNS = [Gap("a", 91.0, 90.2, "seed 1"), Gap("a", 91.4, 90.1, "seed 2"), Gap("b", 90.0, 90.5), Gap("b", 90.0, 90.0)]


def drawn(points: list[Gap], layout: Layout = WIDE) -> Chart:
    return GapPlot(tuple(points), title="Dev and test", x_axis="dev", y_axis="test").draw(layout)


def spread(names: list[str], each: int) -> list[Gap]:
    rng = np.random.default_rng(0)
    pairs = rng.normal(90, 1, (len(names) * each, 2)).tolist()
    return [Gap(names[i // each], x, y) for i, (x, y) in enumerate(pairs)]


def points_of(chart: Chart, layout: Layout) -> list[Box]:
    return [box for box in boxes(chart, layout) if re.search(r": dev .*, test ", box.tooltip)]


@layouts
def test_points_are_in_their_places(layout: Layout) -> None:
    chart = drawn(RUNS, layout)
    x, y = across(chart, layout), upward(chart, layout)
    found = points_of(chart, layout)
    assert [box.middle for box in found] == [pytest.approx((x(each.x), y(each.y)), abs=0.2) for each in RUNS]
    assert found[0].tooltip == "a: dev 91.00, test 90.20 (seed 1)"


@layouts
def test_both_axes_have_one_scale_and_the_diagonal_is_where_both_are_equal(layout: Layout) -> None:
    chart = drawn(spread(["a", "b"], 20), layout)
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
    chart = drawn(spread([f"system {i}" for i in range(11)], 1))
    marks = {}
    for element in root_of(chart, WIDE).iter():
        told = element.findtext("{http://www.w3.org/2000/svg}title", "")
        if found := re.match(r"system (\d+): dev", told):
            if element.tag.endswith("circle"):
                outline = "circle " + element.attrib["r"]
            else:
                numbers = [float(n) for n in re.findall(r"-?[\d.]+", element.get("points") or element.attrib["d"])]
                outline = f"{element.tag} {np.diff(numbers[::2]).round(0)} {np.diff(numbers[1::2]).round(0)}"
            marks[int(found[1])] = outline
    assert len({marks[i] for i in range(8)}) == 8
    assert len({marks[i] for i in range(8, 11)} - {marks[i] for i in range(8)}) == 1
    said = [box.content for box in texts(chart, WIDE)]
    assert "3 others" in said
    assert "system 7" in said
    assert "system 8" not in said


def test_one_system_needs_no_legend() -> None:
    assert "a" not in {box.content for box in texts(drawn(RUNS[:2]), WIDE)}
    assert {"a", "b"} <= {box.content for box in texts(drawn(RUNS), WIDE)}


def test_every_value_stands_in_the_table() -> None:
    chart = drawn([*RUNS, Gap("c", NAN, 90.0)])
    rows = cells(chart)
    assert [(row["name"], row["dev"], row["test"]) for row in rows] == [
        ("a", "91.0", "90.2"),
        ("a", "91.4", "90.1"),
        ("b", "90.0", "90.5"),
        ("b", "90.0", "90.0"),
        ("c", "", "90.0"),
    ]
    assert rows[0]["note"] == "seed 1"


def test_the_description_counts_the_sides_of_the_diagonal_and_what_is_left_out() -> None:
    assert drawn([*RUNS, Gap("c", NAN, 90.0)]).description == (
        "4 points of 2 systems; 2 below the diagonal (test less than dev), 1 above it. "
        "1 without both values is left out."
    )


@layouts
def test_one_point_and_points_that_are_all_the_same_have_a_place(layout: Layout) -> None:
    for count in (1, 4):
        chart = drawn([Gap("a", 90.0, 90.0)] * count, layout)
        assert_sound(chart, layout)
        assert len(points_of(chart, layout)) == count


def test_of_very_many_points_some_are_drawn_and_all_are_listed() -> None:
    chart = drawn(spread(["a"], MOST_POINTS + 500))
    assert len(points_of(chart, WIDE)) == MOST_POINTS
    assert f"{MOST_POINTS:,} of the points are drawn." in chart.description
    assert len(chart.rows) == MOST_POINTS + 500
