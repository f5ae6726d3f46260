"""Mean ranks on a line, with bars over those that are not told apart."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.charts.chart import COLUMN, FULL, NARROW, WIDE, Chart, Layout
from deadheat.charts.ranks import CriticalDifferenceDiagram
from tests.charts.svg_reading import (
    LAYOUTS,
    NAN,
    Box,
    assert_sound,
    boxes,
    cells,
    layouts,
    only,
    said,
    texts,
)  # fmt: skip

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
