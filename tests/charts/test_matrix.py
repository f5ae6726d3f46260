"""Every pair of systems in a cell."""

import re
from dataclasses import replace

import pytest

from deadheat.charts.chart import COLUMN, NARROW, WIDE, Chart, Layout
from deadheat.charts.comparisons import MOST_WITH_NUMBERS, PairCell, PairMatrix
from deadheat.errors import NameUnknown
from tests.charts.svg_reading import LAYOUTS, NAN, Box, assert_sound, boxes, cells, only, texts

layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


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
    chart = matrix(["a", "b", "c"], WIDE)
    marks = chart.marks.partition("a minus c")[2]
    first = marks.partition('points="')[2].partition('"')[0]
    ys = [float(pair.split(",")[1]) for pair in first.split()]
    assert ys.count(min(ys)) == 1


@pytest.mark.parametrize("count", [MOST_WITH_NUMBERS, MOST_WITH_NUMBERS + 1])
def test_differences_are_written_up_to_a_dozen_systems(count: int) -> None:
    chart = matrix([f"s{i}" for i in range(count)], WIDE)
    said = [box.content for box in texts(chart, WIDE)]
    assert said.count("+0.60") == (count - 2 if count <= MOST_WITH_NUMBERS else 0)


def test_p_goes_first_where_there_is_little_room_then_the_difference() -> None:
    names = [f"s{i}" for i in range(8)]
    said = {layout.name: {box.content for box in texts(matrix(names, layout), layout)} for layout in (WIDE, COLUMN)}
    assert {"+0.60", "p = 0.0500"} <= said["wide"]
    assert "+0.60" in said["column"]
    assert "p = 0.0500" not in said["column"]
    crowded = {box.content for box in texts(matrix([f"s{i}" for i in range(12)], NARROW), NARROW)}
    assert "+0.60" not in crowded


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
    assert [box.content for box in texts(chart, WIDE)].count("–") == 2
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
    said = [box.content for box in texts(chart, WIDE)]
    assert all(said.count(str(i + 1)) == 2 for i in range(5))


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
