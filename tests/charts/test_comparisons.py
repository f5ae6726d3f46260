"""Values with intervals on a common scale, and every pair of systems in a cell."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.charts.chart import COLUMN, NARROW, WIDE, Chart, Layout
from deadheat.charts.comparisons import MOST_WITH_NUMBERS, IntervalPlot, IntervalRow, PairCell, PairMatrix
from deadheat.errors import NameUnknown
from tests.charts.svg_reading import LAYOUTS, NAN, Box, assert_sound, boxes, cells, layouts, only, said, texts

SCORES = [
    IntervalRow(*row)
    for row in (("biaffine", 91.24, 90.6, 91.9), ("pointer", 90.98, 90.3, 91.7), ("arcs", 88.3, 87.6, 89))
]
DIFFERENCES = [
    IntervalRow(*row) for row in (("a − b", 2.0, 1.0, 3.0), ("a − c", 0.5, -0.5, 1.5), ("b − c", -1.5, -2.5, -0.5))
]
values = st.one_of(st.just(NAN), st.floats(-1e6, 1e6))


def intervals(rows: Sequence[IntervalRow], layout: Layout = WIDE, *, zero: bool = False) -> Chart:
    return IntervalPlot(tuple(rows), "LAS", "LAS in %", zero).draw(layout)


@given(st.lists(st.tuples(values, values, values), min_size=1, max_size=6), st.booleans(), st.sampled_from([*LAYOUTS]))
@settings(max_examples=60)
def test_any_values_are_drawn_inside_and_given_in_the_data(
    numbers: list[tuple[float, float, float]],
    zero: bool,  # noqa: FBT001
    where: str,
) -> None:
    rows = [IntervalRow(f"system {i}", *each) for i, each in enumerate(numbers)]
    layout = LAYOUTS[where]
    chart = intervals(rows, layout, zero=zero)
    assert_sound(chart, layout)
    for row, cell in zip(rows, cells(chart), strict=True):
        assert cell["name"] == row.name
        for key in ("value", "low", "high"):
            given = getattr(row, key)
            assert cell[key] == ("" if math.isnan(given) else str(given))


@layouts
def test_dots_and_ends_lie_on_one_scale(layout: Layout) -> None:
    chart = intervals(SCORES, layout)
    dots = [box for box in boxes(chart, layout) if box.tag == "circle"]
    lines = [box for box in boxes(chart, layout) if box.kinds == {"interval"} and box.tooltip]
    unit = (dots[0].middle[0] - dots[2].middle[0]) / (91.24 - 88.3)
    for row, dot, reach in zip(SCORES, dots, lines, strict=True):
        assert dot.middle[0] - reach.left == pytest.approx(unit * (row.value - row.low), abs=0.03)
        assert reach.right - dot.middle[0] == pytest.approx(unit * (row.high - row.value), abs=0.03)
        assert dot.middle[1] == pytest.approx(reach.top, abs=0.01)


@layouts
def test_zero_is_where_zero_is(layout: Layout) -> None:
    chart = intervals(DIFFERENCES, layout, zero=True)
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
    chart = intervals(DIFFERENCES, WIDE, zero=True)
    dots = {
        box.tooltip.partition(":")[0]: box.kinds for box in boxes(chart, WIDE) if box.tag == "circle" and box.tooltip
    }
    assert dots == {"a − b": {"mark"}, "a − c": {"hollow"}, "b − c": {"mark"}}
    assert "2 of 3 intervals exclude zero." in chart.description


@pytest.mark.parametrize(("low", "high"), [(0.0, 2.0), (-1.0, 0.0), (NAN, NAN)])
def test_an_interval_that_touches_zero_or_is_missing_has_a_hollow_dot(low: float, high: float) -> None:
    chart = intervals([IntervalRow("x", 1.0, low, high)], WIDE, zero=True)
    assert only(b for b in boxes(chart, WIDE) if b.tag == "circle" and b.tooltip).kinds == {"hollow"}


def test_what_is_missing_is_said_and_not_drawn() -> None:
    rows = [
        IntervalRow("here", 1.5, 1.0, 2.0),
        IntervalRow("gone", NAN, NAN, NAN),
        IntervalRow("endless", 1.2, 1.0, math.inf),
    ]
    chart = intervals(rows, WIDE)
    assert len([box for box in boxes(chart, WIDE) if box.tag == "circle"]) == 2
    written = said(chart)
    assert written.count("no value") == 1
    assert written.count("–") == 1
    assert "1 without a value." in chart.description
    assert cells(chart)[2]["high"] == ""


def test_bounds_are_written_where_there_is_room_and_always_told() -> None:
    for layout, written in ((WIDE, True), (NARROW, False)):
        chart = intervals(SCORES, layout)
        assert ("[90.60, 91.90]" in said(chart, layout)) is written
        assert "biaffine: 91.24 [90.60, 91.90]" in [box.tooltip for box in boxes(chart, layout)]


def test_more_words_are_told_with_the_mark() -> None:
    chart = intervals([IntervalRow("a", 1, 0, 2, note="p = 0.03")], WIDE)
    assert {box.tooltip for box in boxes(chart, WIDE) if box.tooltip} == {"a: 1.00 [0.00, 2.00]. p = 0.03"}


def all_pairs(names: list[str]) -> list[PairCell]:
    """System i is 0.3 above system i + 1, and two steps apart is significant."""
    numbers = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    return [PairCell(names[i], names[j], 0.3 * (j - i), 0.2 / 4 ** (j - i), j - i >= 2) for i, j in numbers]


def matrix(names: list[str], layout: Layout, pairs: list[PairCell] | None = None) -> Chart:
    chosen = all_pairs(names) if pairs is None else pairs
    return PairMatrix(tuple(names), tuple(chosen), title="Pairs", axis="LAS").draw(layout)


def filled(chart: Chart, layout: Layout) -> dict[str, Box]:
    """Cells by what is told of them, up to the colon."""
    return {box.tooltip.partition(":")[0]: box for box in boxes(chart, layout) if box.tag == "rect" and box.tooltip}


@layouts
@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 12, 13, 25, 40])
def test_two_to_forty_systems_fit_into_every_room(count: int, layout: Layout) -> None:
    names = [f"system {i}" for i in range(count)]
    chart = matrix(names, layout)
    assert_sound(chart, layout)
    assert chart.width == layout.width
    assert len(filled(chart, layout)) == count * (count - 1)


@layouts
def test_more_than_forty_get_a_wider_drawing_rather_than_no_room(layout: Layout) -> None:
    names = [f"s{i}" for i in range(130)]
    chart = matrix(names, layout, all_pairs(names)[:20])
    assert_sound(chart, layout)
    assert chart.width > layout.width
    assert min(box.right - box.left for box in filled(chart, layout).values()) > 4.9


def test_cells_below_the_diagonal_are_what_stands_above_it_turned_round() -> None:
    chart = matrix(["a", "b", "c"], WIDE)
    drawn = filled(chart, WIDE)
    assert drawn["a minus c"].tooltip == "a minus c: +0.60, p = 0.0125, significant"
    assert drawn["c minus a"].tooltip == "c minus a: −0.60, p = 0.0125, significant"
    assert drawn["a minus c"].kinds == {"gain"}
    assert drawn["c minus a"].kinds == {"loss"}
    a_c, c_a, a_b = drawn["a minus c"], drawn["c minus a"], drawn["a minus b"]
    assert a_c.top == a_b.top < c_a.top
    assert c_a.left < a_b.left < a_c.left
    heads = {box.content: box for box in texts(chart, WIDE) if box.bottom < a_c.top}
    assert heads["c"].middle[0] == pytest.approx(a_c.middle[0], abs=0.02)
    rows = {box.content: box for box in texts(chart, WIDE) if box.right < c_a.left}
    assert rows["a"].middle[1] == pytest.approx(a_c.middle[1], abs=WIDE.font / 2)


@layouts
@pytest.mark.parametrize("count", [4, 8, 12, 20])
def test_a_triangle_is_in_every_cell_that_is_significant_and_points_the_right_way(count: int, layout: Layout) -> None:
    names = [f"s{i:02}" for i in range(count)]
    chart = matrix(names, layout)
    top = min(box.top for box in filled(chart, layout).values())
    signs = [box for box in boxes(chart, layout) if box.tag == "polygon" and box.top >= top]
    significant = {told for told, box in filled(chart, layout).items() if ", significant" in box.tooltip}
    assert len(signs) == len(significant) == (count - 1) * (count - 2)
    marked = {told for told, box in filled(chart, layout).items() if any(sign.overlaps(box) for sign in signs)}
    assert marked == significant
    words = texts(chart, layout)
    assert not any(sign.overlaps(word) for sign in signs for word in words)


def test_triangles_point_up_for_rows_that_are_above() -> None:
    marks = matrix(["a", "b", "c"], WIDE).marks.partition("a minus c")[2]
    ys = [float(pair.split(",")[1]) for pair in re.findall(r'points="([^"]*)"', marks)[0].split()]
    assert ys.count(min(ys)) == 1


@pytest.mark.parametrize("count", [MOST_WITH_NUMBERS, MOST_WITH_NUMBERS + 1])
def test_differences_are_written_up_to_a_dozen_systems(count: int) -> None:
    chart = matrix([f"s{i}" for i in range(count)], WIDE)
    written = said(chart)
    assert written.count("+0.60") == (count - 2 if count <= MOST_WITH_NUMBERS else 0)


def test_p_goes_first_where_there_is_little_room_then_the_difference() -> None:
    names = [f"s{i}" for i in range(8)]
    assert {"+0.60", "p = 0.0500"} <= set(said(matrix(names, WIDE)))
    assert {"+0.60", "p = 0.0500"} & set(said(matrix(names, COLUMN), COLUMN)) == {"+0.60"}
    assert "+0.60" not in said(matrix([f"s{i}" for i in range(12)], NARROW), NARROW)


def test_larger_differences_are_deeper_and_bold_where_significant() -> None:
    chart = matrix(["a", "b", "c", "d"], WIDE)
    row_a = chart.marks.partition("b minus a")[0]
    depths = [float(each) for each in re.findall(r'class="gain" [^>]*fill-opacity="([^"]+)"><title>', row_a)]
    assert len(set(depths)) == 3
    assert depths == sorted(depths)
    bold = {box.content for box in texts(chart, WIDE) if "strong" in box.kinds}
    assert bold == {"+0.60", "−0.60", "+0.90", "−0.90"}


def test_pairs_that_were_not_compared_or_have_no_number_are_shown_as_such() -> None:
    names = ["a", "b", "c"]
    pairs = [replace(all_pairs(names)[0], difference=NAN, p=NAN), all_pairs(names)[1]]
    chart = matrix(names, WIDE, pairs)
    assert_sound(chart, WIDE)
    drawn = filled(chart, WIDE)
    assert set(drawn) == {"a minus b", "b minus a", "a minus c", "c minus a"}
    assert drawn["a minus b"].kinds == {"none"}
    assert said(chart).count("–") == 2
    assert len([box for box in boxes(chart, WIDE) if box.kinds == {"frame"}]) == 2
    assert cells(chart)[0] == {"row": "a", "column": "b", "difference": "", "p": "", "significant": "no"}


def test_equal_systems_have_no_colour() -> None:
    chart = matrix(["a", "b"], WIDE, [PairCell("a", "b", 0.0, 1.0, False)])
    assert {box.kinds for box in filled(chart, WIDE).values()} == {frozenset({"none"})}
    assert_sound(chart, WIDE)


def test_data_are_the_pairs_that_were_given() -> None:
    names = ["a", "b", "c"]
    assert [tuple(each.values()) for each in cells(matrix(names, WIDE))] == [
        ("a", "b", "0.3", "0.05", "no"),
        ("a", "c", "0.6", "0.0125", "yes"),
        ("b", "c", "0.3", "0.05", "no"),
    ]


def test_long_names_give_columns_numbers_that_stand_with_the_rows_too() -> None:
    chart = matrix([f"a rather long name of a system {i}" for i in range(5)], WIDE)
    written = said(chart)
    assert all(written.count(str(i + 1)) == 2 for i in range(5))


def test_names_of_middling_length_are_turned() -> None:
    chart = matrix([f"system-{i}" for i in range(10)], NARROW)
    head = only(box for box in texts(chart, NARROW) if box.content == "system-3" and box.bottom - box.top > 30)
    assert head.right - head.left < NARROW.font


def test_a_pair_of_an_unknown_system_is_refused_with_the_nearest() -> None:
    with pytest.raises(NameUnknown, match=r"system 'parsr' is unknown; did you mean 'parser'\?"):
        matrix(["parser", "tagger"], WIDE, [PairCell("parsr", "tagger", 1, 0.1, False)])


def test_the_largest_difference_is_said_in_words_from_the_better_side() -> None:
    chart = matrix(["a", "b"], WIDE, [PairCell("a", "b", -1.25, 0.01, True)])
    assert "1 of 1 pair differs significantly. Largest difference: b is 1.25 above a." in chart.description
