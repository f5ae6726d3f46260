"""Small multiples: a grid of panels with the same curves over the same axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from deadheat.charts.chart import Chart, Layout, datum, empty_chart
from deadheat.charts.curves import Curve
from deadheat.charts.drawing import SERIES, SMALL, label, line, polyline, rect, shape, text, text_width
from deadheat.charts.scales import LegendEntry, Scale, brief, extent, fitting_ticks, legend, tick_labels
from deadheat.text import capitalize, join_names, pluralize

GAP = 0.5  # between panels, in multiples of the font size
NAMES_SHARE = 0.2  # of the width, at most, for the names of the rows
MOST = 12  # rows and columns that are drawn


@dataclass(frozen=True, slots=True)
class Panel:
    """The curves of one row and column; curves of the same name are one series in all panels."""

    row: str
    column: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class PanelGrid:
    """A panel for each row and column, all with the same scales; a dashed line at the target."""

    panels: tuple[Panel, ...]
    title: str
    x_axis: str
    y_axis: str
    rows: str  # what the rows are, such as "sample of"
    columns: str
    log_x: bool = False
    target: float | None = None

    def draw(self, layout: Layout) -> Chart:
        header = (self.rows, self.columns, "series", "x", "y")
        points = [(x, y) for panel in self.panels for curve in panel.curves for x, y in _points(curve, log=self.log_x)]
        if not points:
            return empty_chart(self.title, layout, header)
        rows = list(dict.fromkeys(panel.row for panel in self.panels))[:MOST]
        columns = list(dict.fromkeys(panel.column for panel in self.panels))[:MOST]
        panels = [panel for panel in self.panels if panel.row in rows and panel.column in columns]
        series = list(dict.fromkeys(curve.name for panel in self.panels for curve in panel.curves))
        across = extent([x for x, _ in points], margin=0.08, log=self.log_x)
        up = extent([y for _, y in points], margin=0.08, include=() if self.target is None else (self.target,))
        key, top = legend(_entries(series, layout.font), layout)
        grid = _grid(self, rows, columns, Scale(*across, 0, 1, self.log_x), Scale(*up, 1, 0), layout, top)
        drawn = [key, _names(self, rows, columns, grid)]
        drawn += [_panel(self, panel, series, *grid.scales(rows, columns, panel), grid) for panel in panels]
        drawn.append(_axes(self, rows, columns, grid))
        table = tuple(
            (panel.row, panel.column, curve.name, datum(x), datum(y))
            for panel in self.panels
            for curve in panel.curves
            for x, y in zip(curve.xs, curve.ys, strict=True)
        )
        height = grid.top + len(rows) * grid.height + 3.1 * layout.font
        return Chart(
            self.title, _description(self, series, len(panels)), layout.width, height, "".join(drawn), header, table
        )


@dataclass(frozen=True, slots=True)
class _Grid:
    """Where the panels are: the corner of the first one, the width and height of each with its gap, and the scales."""

    left: float
    top: float
    width: float
    height: float
    across: Scale
    up: Scale
    layout: Layout

    def scales(self, rows: Sequence[str], columns: Sequence[str], panel: Panel) -> tuple[Scale, Scale]:
        """The scales of a panel."""
        return self.column_scale(columns.index(panel.column)), self.row_scale(rows.index(panel.row))

    def column_scale(self, column: int) -> Scale:
        x, gap = self.left + column * self.width, GAP * self.layout.font
        return Scale(self.across.low, self.across.high, x, x + self.width - gap, self.across.log)

    def row_scale(self, row: int) -> Scale:
        y, gap = self.top + row * self.height, GAP * self.layout.font
        return Scale(self.up.low, self.up.high, y + self.height - gap, y)


def _points(curve: Curve, *, log: bool) -> list[tuple[float, float]]:
    """The points that can be drawn."""
    points = zip(curve.xs, curve.ys, strict=True)
    return [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y) and (x > 0 or not log)]


def _grid(
    plot: PanelGrid, rows: Sequence[str], columns: Sequence[str], across: Scale, up: Scale, layout: Layout, top: float
) -> _Grid:
    font = layout.font
    widest = max(text_width(name, SMALL * font) for name in (*rows, plot.rows))
    ticks = max(text_width(name, SMALL * font) for name in tick_labels(up.ticks(3)).values())
    left = min(1.03 * widest, NAMES_SHARE * layout.width) + ticks + 1.4 * font
    width = (layout.width - left - 0.5 * font) / len(columns)
    height = min(max(0.7 * width, 3.2 * font), 9 * font)
    return _Grid(left, top + 4.4 * font, width, height, across, up, layout)


def _entries(series: Sequence[str], font: float) -> list[LegendEntry]:
    """A line with its mark for every series; those after the eighth are drawn alike."""
    return [
        LegendEntry(partial(_sample, i, font), 2.2 * font, name)
        for i, name in enumerate([*series[:SERIES], *(["others"] if len(series) > SERIES else [])])
    ]


def _sample(i: int, font: float, x: float, y: float) -> str:
    drawn = polyline(f"l{i}" if i < SERIES else "faint", [x - 1.1 * font, x + 1.1 * font], [y, y])
    return drawn + (shape(i, x, y, 0.24 * font) if i < SERIES else "")


def _names(plot: PanelGrid, rows: Sequence[str], columns: Sequence[str], grid: _Grid) -> str:
    """What rows and columns are, and their names."""
    font, top = grid.layout.font, grid.top
    drawn = text(0.2 * font, top - 0.6 * font, f"{plot.rows} ↓", kind="soft small")
    drawn += text(grid.left, top - 2.4 * font, f"{plot.columns} →", kind="soft small")
    room = grid.left - 1.4 * font
    for i, name in enumerate(rows):
        middle = top + (i + 0.5) * grid.height
        drawn += label(0.2 * font, middle, name, room, SMALL * font, kind="small")
    for i, name in enumerate(columns):
        room, centre = grid.width - GAP * font, grid.left + (i + 0.5) * grid.width - GAP * font / 2
        drawn += label(centre, top - 0.6 * font, name, room, SMALL * font, kind="small", anchor="middle")
    return drawn


def _panel(plot: PanelGrid, panel: Panel, series: Sequence[str], across: Scale, up: Scale, grid: _Grid) -> str:
    font = grid.layout.font
    drawn = rect("frame", across.start, up.end, across.end - across.start, up.start - up.end)
    if plot.target is not None:
        y = up(plot.target)
        drawn += line("axis", across.start, y, across.end, y, f"target {brief(plot.target)}", dash="4 3")
    for curve in panel.curves:
        i, points = series.index(curve.name), _points(curve, log=plot.log_x)
        xs, ys = [across(x) for x, _ in points], [up(y) for _, y in points]
        where = f"{plot.rows} {panel.row}, {plot.columns} {panel.column}, {curve.name}"
        if len(points) > 1:
            ends = " to ".join(f"{up.format(y)} at {brief(x)}" for x, y in (points[0], points[-1]))
            drawn += polyline(f"l{i}" if i < SERIES else "faint", xs, ys, f"{where}: {ends}")
        if i < SERIES:
            for x, y, (size, value) in zip(xs, ys, points, strict=True):
                drawn += shape(i, x, y, 0.17 * font, f"{where}: {up.format(value)} at {brief(size)}")
    return drawn


def _axes(plot: PanelGrid, rows: Sequence[str], columns: Sequence[str], grid: _Grid) -> str:
    """Labels to the left of every row and below the last one, and the titles of the axes."""
    font, drawn = grid.layout.font, []
    for row in range(len(rows)):
        up = grid.row_scale(row)
        for value, name in tick_labels(up.ticks(3)).items():
            drawn.append(line("axis", grid.left - 0.25 * font, up(value), grid.left, up(value)))
            drawn.append(text(grid.left - 0.4 * font, up(value) + 0.3 * font, name, kind="soft small", anchor="end"))
    bottom = grid.top + len(rows) * grid.height - GAP * font
    for column in range(len(columns)):
        across = grid.column_scale(column)
        for value, x, name in _fitting(across, font):
            drawn.append(line("axis", across(value), bottom, across(value), bottom + 0.25 * font))
            drawn.append(text(x, bottom + 1.2 * font, name, kind="soft small", anchor="middle"))
    drawn.append(text(grid.left, bottom + 2.8 * font, f"{plot.x_axis}; {plot.y_axis}", kind="soft small"))
    return "".join(drawn)


def _fitting(scale: Scale, font: float) -> list[tuple[float, float, str]]:
    """Round numbers with the positions of their labels, which do not touch or reach into the next panel.

    If no label fits centred below its number, the last number has one that is moved to the side.
    """
    fitting = []
    for value, name in fitting_ticks(scale, font, 3).items():
        half, gap = text_width(name, SMALL * font) / 2, GAP * font / 2
        lowest, highest = scale.start - gap + half, scale.end + gap - half
        if lowest <= highest:
            fitting.append((value, min(max(scale(value), lowest), highest), name))
    inside = [tick for tick in fitting if tick[1] == scale(tick[0])]
    return inside or fitting[-1:]


def _description(plot: PanelGrid, series: Sequence[str], drawn: int) -> str:
    log = " (logarithmic)" if plot.log_x else ""
    target = f", with a target of {brief(plot.target)}" if plot.target is not None else ""
    description = f"{capitalize(plot.y_axis)} over {plot.x_axis}{log} in {pluralize(drawn, 'panel')}{target}."
    description += f" Rows are {plot.rows}, columns {plot.columns}; the series are {join_names(series)}."
    others = len(plot.panels) - drawn
    return description + (f" {pluralize(others, 'more panel')} in the data." if others else "")
