"""Boxes of ranks and the map of how often each is taken."""

import re
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import ArrayLike

from deadheat.charts.chart import WIDE, Chart, Layout
from deadheat.charts.ranks import RankBoxes, RankHeatmap, RankRow
from deadheat.errors import InputError
from deadheat.results.format import SHARE, show
from tests.charts.svg_reading import NAN, about, across, assert_sound, boxes, cells, layouts, only, root_of, texts

FOUR = [
    RankRow("a", 1, 1, 1, 2, 3, 1.4, 1, 4),
    RankRow("b", 1, 1.5, 2, 3, 4, 2.25, 1, 4),
    RankRow("c", 2, 2, 3, 3, 4, 2.9),
    RankRow("d", 4, 4, 4, 4, 4, 4.0, 3, 4),
]


def rank_boxes(rows: Sequence[RankRow], layout: Layout = WIDE) -> Chart:
    return RankBoxes(tuple(rows), "Ranks").draw(layout)


def rank_heat(names: Sequence[str], shares_SS: ArrayLike, layout: Layout = WIDE) -> Chart:
    shares = tuple(map(tuple, np.asarray(shares_SS, dtype=float).tolist()))
    return RankHeatmap(tuple(names), shares, "Ranks").draw(layout)


def sampled(systems: int, seed: int = 0) -> tuple[list[RankRow], np.ndarray]:
    """Rows and shares of ranks over 500 made-up subsets."""
    rng = np.random.default_rng(seed)
    ranks_BS = (rng.normal(size=(500, systems)) * 2 + np.arange(systems)).argsort(axis=1).argsort(axis=1) + 1
    rows = [
        RankRow(f"system {i}", best, lower, median, upper, worst, float(ranks.mean()), 1, systems)
        for i, ranks in enumerate(ranks_BS.T)
        for best, lower, median, upper, worst in [np.quantile(ranks, [0, 0.25, 0.5, 0.75, 1]).tolist()]
    ]
    return rows, np.stack([np.bincount(ranks - 1, minlength=systems) / 500 for ranks in ranks_BS.T])


@layouts
def test_boxes_whiskers_median_and_mean_are_in_their_places(layout: Layout) -> None:
    chart = rank_boxes(FOUR, layout)
    place = across(chart, layout)
    for row in FOUR:
        mine = about(chart, layout, f"{row.name}: ranks ")
        box = only(mark for mark in mine if mark.tag == "rect")
        assert (box.left, box.right) == pytest.approx((place(row.lower), place(row.upper)), abs=0.1)
        lines = [mark for mark in mine if mark.tag == "line" and mark.kinds == {"rule"}]
        level, upright = sorted(lines, key=lambda mark: mark.bottom - mark.top)
        assert (level.left, level.right) == pytest.approx((place(row.best), place(row.worst)), abs=0.1)
        assert upright.left == upright.right == pytest.approx(place(row.median), abs=0.1)
        mean = only(about(chart, layout, f"{row.name}: mean rank"))
        assert mean.middle[0] == pytest.approx(place(row.mean), abs=0.1)


@layouts
def test_hollow_marks_stand_where_a_rank_is_possible_and_dots_lead_there(layout: Layout) -> None:
    chart = rank_boxes(FOUR, layout)
    place = across(chart, layout)
    hollow = [box for box in boxes(chart, layout) if "possible over all subsets" in box.tooltip and box.tag == "circle"]
    assert all(box.kinds == {"hollow"} for box in hollow)
    wanted = [("a", 1), ("a", 4), ("b", 1), ("b", 4), ("d", 3), ("d", 4)]
    assert [box.tooltip[0] for box in hollow] == [name for name, _ in wanted]
    assert [box.middle[0] for box in hollow] == pytest.approx([place(rank) for _, rank in wanted], abs=0.1)
    # Beyond what was sampled: a from 3 to 4, and d from 4 to 3.
    dotted = [line for line in root_of(chart, layout).iter() if line.get("stroke-dasharray")]
    ends = [[float(line.attrib[name]) for name in ("x1", "x2")] for line in dotted]
    assert np.ravel(ends) == pytest.approx([place(3), place(4), place(4), place(3)], abs=0.1)


def test_the_axis_reaches_to_the_last_rank_although_fewer_rows_are_shown() -> None:
    chart = rank_boxes([RankRow("a", 20, 21, 22, 23, 24, 22.0, 18, 26)], WIDE)
    assert_sound(chart, WIDE)
    assert across(chart, WIDE)(26) < WIDE.width


@layouts
def test_the_first_rank_is_named_and_others_are_round(layout: Layout) -> None:
    chart = rank_boxes(sampled(26)[0], layout)
    named = [int(box.content) for box in texts(chart, layout) if box.content.isdigit()]
    assert named == [1, 5, 10, 15, 20, 25]


@layouts
def test_rows_are_at_even_distances_between_the_ends_of_the_lines(layout: Layout) -> None:
    rows, _ = sampled(7)
    chart = rank_boxes(rows, layout)
    grid = [box for box in boxes(chart, layout) if box.kinds == {"grid"}]
    top, bottom = grid[0].top, grid[0].bottom
    expected = [top + (bottom - top) * (i + 0.5) / 7 for i in range(7)]
    names = [box.middle[1] for box in texts(chart, layout) if box.content.startswith("system")]
    boxed = [box.middle[1] for box in boxes(chart, layout) if box.tag == "rect" and box.tooltip]
    assert boxed == pytest.approx(expected, abs=0.1)
    assert names == pytest.approx(expected, abs=0.2 * layout.font)


def test_where_a_hollow_mark_stands_on_the_end_of_a_whisker_it_has_no_other_end() -> None:
    chart = rank_boxes(FOUR[1:3], WIDE)
    place = across(chart, WIDE)
    ends = [box for box in boxes(chart, WIDE) if box.tag == "line" and box.kinds == {"rule"} and not box.tooltip]
    ends = [box for box in ends if box.top > 2 * WIDE.font]  # below the legend
    # b ends at 1 and at 4, where hollow marks stand; c at 2 and at 4, where none do.
    assert [box.left for box in ends] == pytest.approx([place(2), place(4)], abs=0.1)


def test_every_number_of_a_box_stands_in_the_table() -> None:
    rows = cells(rank_boxes(FOUR, WIDE))
    assert list(rows[1].values()) == ["b", "1", "1.5", "2", "3", "4", "2.25", "1", "4"]
    assert (rows[2]["possible_best"], rows[2]["possible_worst"]) == ("", "")


@layouts
def test_ranks_that_are_not_known_are_left_out(layout: Layout) -> None:
    rows = [RankRow("x", NAN, NAN, NAN, NAN, NAN, NAN), RankRow("y", 1, NAN, 2, NAN, 2, NAN)]
    chart = rank_boxes(rows, layout)
    assert_sound(chart, layout)
    assert not about(chart, layout, "x: ")
    assert {box.tag for box in about(chart, layout, "y: ")} == {"line"}


@layouts
def test_every_cell_of_a_map_lies_in_its_row_and_column_and_shows_its_share(layout: Layout) -> None:
    rows, shares_SS = sampled(6)
    names = [row.name for row in rows]
    chart = rank_heat(names, shares_SS, layout)
    above = [box for box in texts(chart, layout) if box.top < 3 * layout.font]
    heads = {box.content: box.middle[0] for box in above}
    levels = {box.content: box.middle[1] for box in texts(chart, layout) if box.content in names}
    for i, name in enumerate(names):
        for rank in range(1, 7):
            told = f"{name}: rank {rank} on "
            cell = only(box for box in about(chart, layout, told) if box.tag == "rect")
            assert cell.tooltip == f"{told}{show(shares_SS[i, rank - 1], SHARE)} of the subsets"
            assert cell.left < heads[str(rank)] < cell.right
            assert cell.top < levels[name] < cell.bottom


@layouts
@pytest.mark.parametrize("systems", [5, 40])
def test_the_more_often_a_rank_is_taken_the_stronger_its_cell(layout: Layout, systems: int) -> None:
    rows, shares_SS = sampled(systems)
    chart = rank_heat([row.name for row in rows], shares_SS, layout)
    strengths = {}
    for element in root_of(chart, layout).iter():
        told = element.findtext("{http://www.w3.org/2000/svg}title", "")
        if element.tag.endswith("rect") and " rank " in told:
            opacity = 0.0 if element.get("class") == "hit" else float(element.attrib["fill-opacity"])
            name, rank = re.fullmatch(r"system (\d+): rank (\d+) on .*", told, re.S).groups()  # type: ignore[union-attr]
            strengths[int(name), int(rank)] = opacity
    assert len(strengths) == systems**2
    ordered = sorted(strengths, key=lambda each: shares_SS[each[0], each[1] - 1])
    found = [strengths[each] for each in ordered]
    assert found == sorted(found)
    assert all((shares_SS[i, rank - 1] > 0) == (strengths[i, rank] > 0) for i, rank in strengths)


@layouts
def test_numbers_stand_in_the_cells_only_while_there_is_room(layout: Layout) -> None:
    for systems, roomy in ((5, True), (40, False)):
        rows, shares_SS = sampled(systems)
        chart = rank_heat([row.name for row in rows], shares_SS, layout)
        numbers = [box for box in texts(chart, layout) if " rank " in box.tooltip]
        assert bool(numbers) == roomy
        for number in numbers:
            cell = only(box for box in boxes(chart, layout) if box.tooltip == number.tooltip and box.tag == "rect")
            assert cell.left < number.left
            assert number.right < cell.right
            system, rank = map(int, re.findall(r"system (\d+): rank (\d+)", number.tooltip)[0])
            assert number.content == f"{100 * shares_SS[system, rank - 1]:.0f}"


def test_nearly_all_and_nearly_none_are_not_shown_as_all_and_none() -> None:
    shares_SS = np.array([[0.9996, 0.0004], [0.0004, 0.9996]])
    chart = rank_heat(["A", "B"], shares_SS, WIDE)
    told = {box.tooltip: box.content for box in texts(chart, WIDE) if " rank " in box.tooltip}
    assert told["A: rank 1 on >99.9% of the subsets"] == ">99"
    assert [box.tooltip for box in about(chart, WIDE, "A: rank 2")] == ["A: rank 2 on <0.1% of the subsets"]
    assert "A 1 (>99.9%)" in chart.description
    whole = rank_heat(["A", "B"], np.eye(2), WIDE)
    assert {box.content for box in texts(whole, WIDE) if " rank " in box.tooltip} == {"100"}


def test_every_share_stands_in_the_table() -> None:
    chart = rank_heat(["a", "b"], [[0.9, 0.1], [NAN, 0.25]], WIDE)
    assert_sound(chart, WIDE)
    assert chart.header == ("name", "rank 1", "rank 2")
    assert chart.rows == (("a", 0.9, 0.1), ("b", None, 0.25))


@pytest.mark.parametrize("shares", [((1.0,),), ((1.0,), (0.5,), (0.5,)), ((1.0,), (0.5, 0.5)), ((), ())])
def test_shares_that_do_not_fit_the_names_are_refused(shares: tuple[tuple[float, ...], ...]) -> None:
    with pytest.raises(InputError, match=r"^rank heat map: .*; expected a row of equal length for each of 2 names$"):
        RankHeatmap(("a", "b"), shares, "Ranks")
