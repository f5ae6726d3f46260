"""Boxes of ranks, how often each rank is taken, and mean ranks with bars over those that do not differ."""

import re
from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from deadheat.charts.chart import COLUMN, FULL, NARROW, WIDE, Chart, Layout
from deadheat.charts.ranks import CriticalDifferenceDiagram, RankBoxes, RankHeatmap, RankRow
from deadheat.errors import InputError
from deadheat.results.format import SHARE, show
from tests.charts.svg_reading import (
    LAYOUTS,
    NAN,
    Box,
    about,
    across,
    assert_sound,
    boxes,
    cells,
    layouts,
    only,
    root_of,
    said,
    texts,
)

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


NAMES = ["biaffine", "pointer", "arc-hybrid", "2-planar", "baseline"]
RANKS = [1.4, 2.1, 3.0, 3.5, 5.0]
GROUPS = [(0, 1), (1, 2, 3)]


def critical_difference(
    names: list[str], ranks: list[float], groups: list[tuple[int, ...]], layout: Layout, difference: float | None = None
) -> Chart:
    return CriticalDifferenceDiagram(tuple(names), tuple(ranks), tuple(groups), "Ranks", difference).draw(layout)


def diagram(layout: Layout, *, difference: float | None = 1.2) -> Chart:
    return critical_difference(NAMES, RANKS, GROUPS, layout, difference)


def axis_places(chart: Chart, layout: Layout) -> dict[float, float]:
    """Where the whole ranks stand, by the numbers above the axis."""
    axis = max((b for b in boxes(chart, layout) if b.kinds == {"axis"}), key=lambda box: box.right - box.left)
    numbers = [
        b for b in texts(chart, layout) if b.content.isdigit() and axis.top - 2 * layout.font < b.bottom < axis.top
    ]
    return {float(box.content): box.middle[0] for box in numbers}


def place(chart: Chart, layout: Layout, rank: float) -> float:
    known = axis_places(chart, layout)
    first, last = min(known), max(known)
    return known[first] + (rank - first) / (last - first) * (known[last] - known[first])


def bars(chart: Chart, layout: Layout) -> list[Box]:
    return [box for box in boxes(chart, layout) if box.kinds == {"thick"}]


def elbows(chart: Chart, layout: Layout) -> dict[str, Box]:
    return {box.tooltip.partition(":")[0]: box for box in boxes(chart, layout) if box.kinds == {"elbow"}}


def cliques(ranks: list[float], reach: float) -> list[tuple[int, ...]]:
    """Every longest run of systems that lie within `reach` of each other, in the order of their ranks."""
    order = sorted(range(len(ranks)), key=lambda i: ranks[i])
    runs = [tuple(j for j in order if 0 <= ranks[j] - ranks[i] <= reach) for i in order]
    return [run for run in dict.fromkeys(runs) if len(run) > 1 and not any(set(run) < set(other) for other in runs)]


@layouts
@pytest.mark.parametrize("count", [1, 2, 3, 7, 16, 40])
def test_two_to_forty_systems_fit_and_no_bar_touches_another(count: int, layout: Layout) -> None:
    rng = np.random.default_rng(count)
    ranks = (1 + (count - 1) * np.clip(rng.normal(0.5, 0.2, count), 0, 1)).round(2).tolist()
    groups = cliques(ranks, 0.15 * count)
    names = [f"system with a name {i}" for i in range(count)]
    chart = critical_difference(names, ranks, groups, layout, difference=0.15 * count)
    assert_sound(chart, layout)
    drawn = bars(chart, layout)
    assert len(drawn) == len(groups)
    for a, b in combinations(drawn, 2):
        if abs(a.top - b.top) < 5:
            assert max(a.left, b.left) - min(a.right, b.right) > 2
    assert len(elbows(chart, layout)) == count


@layouts
def test_every_line_starts_at_its_rank_and_the_axis_runs_from_one_to_the_number_of_systems(layout: Layout) -> None:
    chart = diagram(layout)
    known = axis_places(chart, layout)
    assert min(known) == 1
    assert max(known) == len(NAMES)
    for name, rank in zip(NAMES, RANKS, strict=True):
        box = elbows(chart, layout)[name]
        there = place(chart, layout, rank)
        assert min(abs(box.left - there), abs(box.right - there)) < 0.05
        assert box.tooltip == f"{name}: mean rank {rank:.2f}"


@layouts
def test_a_bar_covers_its_group_and_no_other(layout: Layout) -> None:
    chart = diagram(layout)
    for group, bar in zip(GROUPS, bars(chart, layout), strict=True):
        covered = [i for i, rank in enumerate(RANKS) if bar.left <= place(chart, layout, rank) <= bar.right]
        assert covered == list(group)
        assert bar.tooltip == "not significantly different: " + ", ".join(NAMES[i] for i in group)


@layouts
def test_no_line_crosses_another(layout: Layout) -> None:
    chart = diagram(layout)
    ways = []  # down from the axis at `drop` to `level`, and there on to `end`
    for name, rank in zip(NAMES, RANKS, strict=True):
        box, drop = elbows(chart, layout)[name], place(chart, layout, rank)
        ways.append((drop, box.bottom, box.left if abs(box.left - drop) > 0.05 else box.right))
    for (drop, level, _), (other, height, end) in permutations(ways, 2):
        passes = min(other, end) < drop < max(other, end)
        assert not (passes and height < level)


@layouts
def test_each_name_stands_at_the_end_of_its_line_with_its_rank(layout: Layout) -> None:
    chart = diagram(layout)
    for name, rank in zip(NAMES, RANKS, strict=True):
        written = only(box for box in texts(chart, layout) if box.content == name)
        numbers = [box for box in texts(chart, layout) if box.content == f"{rank:.2f}"]
        line = elbows(chart, layout)[name]
        assert written.middle[1] == pytest.approx(line.bottom, abs=0.3 * layout.font)
        assert any(abs(box.middle[1] - line.bottom) < 0.3 * layout.font for box in numbers)
        assert written.right < line.left or written.left > line.right


def test_names_stand_on_both_sides_where_there_is_room_and_on_one_elsewhere() -> None:
    for layout, sides in ((WIDE, 2), (FULL, 2), (NARROW, 1), (COLUMN, 1)):
        words = [box for box in texts(diagram(layout), layout) if box.content in NAMES]
        assert len({box.left > layout.width / 2 for box in words}) == sides


def test_the_critical_difference_is_as_long_as_it_is() -> None:
    chart = diagram(WIDE)
    bracket = only(box for box in boxes(chart, WIDE) if box.tooltip.startswith("critical difference"))
    assert bracket.left == pytest.approx(place(chart, WIDE, 1), abs=0.05)
    assert bracket.right == pytest.approx(place(chart, WIDE, 2.2), abs=0.05)
    assert "CD = 1.20" in said(chart)
    assert len([box for box in boxes(chart, WIDE) if box.kinds == {"rule"}]) == 3


@layouts
def test_a_critical_difference_longer_than_the_line_ends_with_it_and_stays_open(layout: Layout) -> None:
    chart = diagram(layout, difference=9)
    assert_sound(chart, layout)
    assert len([box for box in boxes(chart, layout) if box.kinds == {"rule"}]) == 2
    assert "CD = 9.00" in said(chart, layout)


@layouts
@pytest.mark.parametrize("difference", [None, NAN])
def test_without_a_critical_difference_there_is_none(difference: float | None, layout: Layout) -> None:
    chart = diagram(layout, difference=difference)
    assert_sound(chart, layout)
    assert not [box for box in boxes(chart, layout) if box.kinds == {"rule"}]
    assert "CD" not in chart.marks
    assert "critical" not in chart.description


@layouts
def test_a_system_without_ranks_is_listed_without_a_line(layout: Layout) -> None:
    chart = critical_difference(["a", "b", "c"], [1.2, NAN, 1.8], [(0, 1, 2), (1, 2)], layout)
    assert_sound(chart, layout)
    assert set(elbows(chart, layout)) == {"a", "c"}
    written = said(chart, layout)
    assert {"a", "b", "c"} <= set(written)
    assert "–" in written
    assert [box.tooltip for box in bars(chart, layout)] == ["not significantly different: a, c"]
    assert cells(chart)[1] == {"system": "b", "mean rank": "", "groups": "1 2"}


@given(st.lists(st.floats(1, 12), min_size=1, max_size=12), st.floats(0, 3), st.sampled_from([*LAYOUTS]))
@settings(max_examples=60)
def test_any_ranks_are_drawn_inside_and_given_in_the_data(ranks: list[float], reach: float, where: str) -> None:
    layout = LAYOUTS[where]
    names = [f"s{i}" for i in range(len(ranks))]
    chart = critical_difference(names, ranks, cliques(ranks, reach), layout, difference=reach)
    assert_sound(chart, layout)
    assert [(each["system"], float(each["mean rank"])) for each in cells(chart)] == list(zip(names, ranks, strict=True))


def test_groups_are_said_in_words_and_given_by_number() -> None:
    chart = diagram(WIDE)
    assert chart.description == (
        "Mean ranks of 5 systems, 1 is best: biaffine 1.40, pointer 2.10, arc-hybrid 3.00, 2-planar 3.50, "
        "baseline 5.00. Not significantly different: biaffine, pointer; pointer, arc-hybrid, 2-planar. "
        "The critical difference is 1.20."
    )
    assert [each["groups"] for each in cells(chart)] == ["1", "1 2", "2", "2", ""]
