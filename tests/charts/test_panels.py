"""Small multiples: the same scales in all panels, each at its row and column."""

from __future__ import annotations

import math
import re

from deadheat.charts.chart import WIDE
from deadheat.charts.curves import Curve
from deadheat.charts.panels import MOST, Panel, PanelGrid
from tests.charts.svg_reading import assert_sound


def grid(*panels: Panel, target: float | None = None) -> PanelGrid:
    return PanelGrid(panels, "Tau", "words", "tau", "sample of", "ranking on", log_x=True, target=target)


def panel(row: str, column: str, *ys: float) -> Panel:
    return Panel(row, column, (Curve("rand", (10, 100, 1000)[: len(ys)], ys),))


def lines_of(marks: str) -> list[list[tuple[float, float]]]:
    """The points of every curve; the first line is that of the legend."""
    found = re.findall(r'<polyline[^>]* points="([^"]+)"', marks)
    return [[(float(x), float(y)) for x, y in (point.split(",") for point in points.split())] for points in found][1:]


def test_panels_have_the_same_scales_and_stand_at_their_row_and_column() -> None:
    chart = grid(panel("a", "x", 0, 1, 0.5), panel("a", "y", 0, 1), panel("b", "x", 0, 1), panel("b", "y", 1, 1)).draw(
        WIDE
    )
    first, right, below, last = lines_of(chart.marks)
    step_x, step_y = right[0][0] - first[0][0], below[0][1] - first[0][1]
    assert step_x > 0
    assert step_y > 0
    for there, here in zip(right, first, strict=False):
        assert (round(there[0] - here[0] - step_x, 1), round(there[1] - here[1], 1)) == (0, 0)
    assert round(first[2][1] - (first[0][1] + first[1][1]) / 2, 1) == 0  # 0.5 is between 0 and 1
    assert round(2 * first[1][0] - first[0][0] - first[2][0], 1) == 0  # 100 is between 10 and 1,000 on a log scale
    assert round(last[0][1] - last[1][1], 1) == 0


def test_missing_values_and_panels_are_left_out_but_in_the_data() -> None:
    plot = grid(panel("a", "x", 0.5, math.nan, 1), panel("b", "y", math.nan), target=0.9)
    chart = plot.draw(WIDE)
    assert_sound(chart, WIDE)
    assert [len(points) for points in lines_of(chart.marks)] == [2]
    assert chart.rows[1] == ("a", "x", "rand", 100.0, None)
    assert chart.rows[3] == ("b", "y", "rand", 10.0, None)
    assert "with a target of 0.9" in chart.description


def test_of_very_many_panels_some_are_drawn_and_all_are_in_the_data() -> None:
    names = [f"set {i}" for i in range(MOST + 2)]
    chart = grid(*(panel(row, column, 0.1, 0.2) for row in names for column in names)).draw(WIDE)
    assert len(lines_of(chart.marks)) == MOST * MOST
    assert len(chart.rows) == 2 * (MOST + 2) ** 2
    assert f"{(MOST + 2) ** 2 - MOST**2} more panels in the data" in chart.description
