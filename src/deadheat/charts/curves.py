"""Two quantities against each other: curves over the size of a set, and points around the diagonal (dev and test)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

import numpy as np

from deadheat.charts.chart import Chart, Datum, Layout, datum, empty_chart
from deadheat.charts.drawing import (
    BOLD,
    SERIES,
    SMALL,
    circle,
    label,
    line,
    polygon,
    polyline,
    shape,
    shorten,
    text,
    text_width,
)
from deadheat.charts.scales import (
    LegendEntry,
    Scale,
    bottom_axis,
    brief,
    extent,
    left_axis,
    left_margin,
    legend,
    spread,
    thin,
)
from deadheat.text import capitalize, join_names, pluralize

CURVE_HEADER = ("series", "x", "y", "low", "high")
MOST_MARKS = 24  # on a curve; longer curves have a mark at every n-th point
MOST_POINTS = 3000  # drawn around the diagonal; of more, evenly spaced ones
DIAGONAL = "equal on both"


@dataclass(frozen=True, slots=True)
class Curve:
    """A line, with a band if there are bounds; NaN where a value is missing."""

    name: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    lows: tuple[float, ...] | None = None
    highs: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class CurvePlot:
    """A line for each curve, named at its end, a dashed line at the target, and vertical ones at `marked`."""

    curves: tuple[Curve, ...]
    title: str
    x_axis: str
    y_axis: str
    log_x: bool = False
    target: float | None = None
    marked: tuple[float, ...] = ()  # values on the x axis

    def draw(self, layout: Layout) -> Chart:
        if not self.curves:
            return empty_chart(self.title, layout, CURVE_HEADER)
        lines = [_curve_points(curve, log=self.log_x) for curve in self.curves]
        plane = _plane(self, lines, layout)
        bottom, left, font = plane.up.start, plane.across.start, layout.font
        drawn = [
            bottom_axis(plane.across, bottom, plane.up.end, font, title=self.x_axis, most=9),
            left_axis(plane.up, left, plane.across.end, font, title=self.y_axis, most=6),
            line("axis", left, bottom, plane.across.end, bottom),
        ]
        if not plane.anonymous:
            drawn += [_band(i, points, plane) for i, points in enumerate(lines)]
        drawn += [_marked(value, plane) for value in self.marked]
        if self.target is not None:
            drawn.append(_target(self.target, lines, plane))
        named = enumerate(zip(self.curves, lines, strict=True))
        drawn += [_line(i, curve.name, points, plane) for i, (curve, points) in named]
        drawn.append(_end_names(self.curves, lines, plane))
        height = bottom + (3.3 if self.x_axis else 1.8) * font
        description = _curve_description(self, lines, plane.up)
        table = tuple(row for curve in self.curves for row in _curve_rows(curve))
        return Chart(self.title, description, layout.width, height, "".join(drawn), CURVE_HEADER, table)


@dataclass(frozen=True, slots=True)
class _Point:
    x: float
    y: float
    low: float
    high: float

    @property
    def has_value(self) -> bool:
        return math.isfinite(self.y)

    @property
    def has_band(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True, slots=True)
class _Plane:
    """The two scales of a plot; with more than eight series all are drawn alike."""

    across: Scale
    up: Scale
    layout: Layout
    anonymous: bool


def _curve_points(curve: Curve, *, log: bool) -> list[_Point]:
    """The points from left to right, without those that have no position on the x axis."""
    missing = (math.nan,) * len(curve.xs)
    columns = (curve.xs, curve.ys, curve.lows or missing, curve.highs or missing)
    points = (_Point(*map(float, values)) for values in zip(*columns, strict=True))
    return sorted((p for p in points if math.isfinite(p.x) and (p.x > 0 or not log)), key=lambda p: p.x)


def _curve_rows(curve: Curve) -> Iterator[tuple[Datum, ...]]:
    for i, x in enumerate(curve.xs):
        bounds = (None if values is None else datum(values[i]) for values in (curve.lows, curve.highs))
        yield curve.name, datum(x), datum(curve.ys[i]), *bounds


def _plane(plot: CurvePlot, lines: Sequence[Sequence[_Point]], layout: Layout) -> _Plane:
    font, points = layout.font, [point for line in lines for point in line]
    values = [value for point in points for value in (point.y, point.low, point.high)]
    low, high = extent(values, margin=0.06, include=() if plot.target is None else (plot.target,))
    top, height = 2.4 * font, min(max(0.58 * layout.width, 14 * font), 25 * font)
    up = Scale(low, high, top + height, top)
    names = [_end_name(curve, line) for curve, line in zip(plot.curves[:SERIES], lines, strict=False)]
    widest = max(text_width(name, font, bold=True) for name in names)
    right = layout.width - min(1.03 * widest + 2.6 * font, 0.33 * layout.width)
    first, last = extent([point.x for point in points], margin=0.03, include=plot.marked, log=plot.log_x)
    across = Scale(first, last, left_margin(up, font, 6), right, plot.log_x)
    return _Plane(across, up, layout, anonymous=len(plot.curves) > SERIES)


def _end_name(curve: Curve, points: Sequence[_Point]) -> str:
    return curve.name if any(point.has_value for point in points) else f"{curve.name} (no values)"


def _runs(points: Sequence[_Point], attribute: str) -> Iterator[list[_Point]]:
    """Stretches of points without a gap."""
    for present, run in groupby(points, key=lambda point: bool(getattr(point, attribute))):
        if present:
            yield list(run)


def _band(i: int, points: Sequence[_Point], plane: _Plane) -> str:
    drawn = ""
    for run in _runs(points, "has_band"):
        xs = [plane.across(p.x) for p in run]
        edges = [plane.up(p.high) for p in run] + [plane.up(p.low) for p in reversed(run)]
        drawn += polygon(f"b{i}", xs + xs[::-1], edges)
    return drawn


def _line(i: int, name: str, points: Sequence[_Point], plane: _Plane) -> str:
    kind = "faint" if plane.anonymous else f"l{i}"
    valued = [point for point in points if point.has_value]
    drawn = [
        polyline(kind, [plane.across(p.x) for p in run], [plane.up(p.y) for p in run], name)
        for run in _runs(points, "has_value")
        if len(run) > 1
    ]
    if plane.anonymous and len(valued) > 1:
        return "".join(drawn)
    step = max(math.ceil(len(valued) / MOST_MARKS), 1)
    for p in reversed(valued[::-1][::step]):
        bounds = f" {plane.up.interval(p.low, p.high)}" if p.has_band else ""
        tooltip = f"{name}: {plane.up.format(p.y)}{bounds} at {brief(p.x)}"
        mark = 7 if plane.anonymous else i
        drawn.append(shape(mark, plane.across(p.x), plane.up(p.y), 0.27 * plane.layout.font, tooltip))
    return "".join(drawn)


def _end_names(curves: Sequence[Curve], lines: Sequence[Sequence[_Point]], plane: _Plane) -> str:
    """The names of the first eight curves at their ends, pushed apart, each with a thin line to its curve."""
    font, right = plane.layout.font, plane.across.end
    ends = [next((p for p in reversed(points) if p.has_value), None) for points in lines[:SERIES]]
    wanted = [plane.up.start if p is None else plane.up(p.y) for p in ends]
    levels = spread(wanted, 1.25 * font, plane.up.end, plane.up.start)
    x = right + (1.2 if plane.anonymous else 2) * font
    width = plane.layout.width - x - 0.2 * font
    drawn = []
    for i, (end, level) in enumerate(zip(ends, levels, strict=True)):
        coloured = end is not None and not plane.anonymous
        kind = f"t{i}" if coloured else "soft" if end is None else ""
        if end is not None:
            drawn.append(line("lead", plane.across(end.x) + 0.5 * font, plane.up(end.y), right + font, level))
        if coloured:
            drawn.append(shape(i, right + 1.3 * font, level, 0.27 * font))
        size = BOLD * font if coloured else font
        drawn.append(label(x, level + 0.34 * font, _end_name(curves[i], lines[i]), width, size, kind=kind))
    return "".join(drawn)


def _marked(value: float, plane: _Plane) -> str:
    """A dashed vertical line, with its label beside its upper end."""
    x, font, name = plane.across(value), plane.layout.font, brief(value)
    label_width = text_width(name, SMALL * font)
    drawn = line("axis", x, plane.up.start, x, plane.up.end, name, dash="2 3")
    return drawn + text(x - 0.3 * font - label_width, plane.up.end + 0.9 * font, name, kind="soft small halo")


def _target(target: float, lines: Sequence[Sequence[_Point]], plane: _Plane) -> str:
    """A dashed horizontal line, with its label where it crosses the fewest curves."""
    font, y = plane.layout.font, plane.up(target)
    name = f"target {brief(target)}"
    width, left, right = text_width(name, SMALL * font), plane.across.start + 0.4 * font, plane.across.end - 0.4 * font
    starts = (left, (left + right - width) / 2, right - width)
    above, below = y - 0.45 * font, y + 1.05 * font

    def crossings(position: tuple[float, float]) -> int:
        x, base = position
        box = x - 0.3 * font, x + width + 0.3 * font, base - 0.9 * font, base + 0.3 * font
        outside = box[2] < plane.up.end or box[3] > plane.up.start
        return sum(_crosses(points, plane, box) for points in lines) + 9 * outside

    x, base = min(((x, base) for base in (above, below) for x in starts), key=crossings)
    drawn = line("axis", plane.across.start, y, plane.across.end, y, name, dash="6 4")
    return drawn + text(x, base, name, kind="soft small halo")


def _crosses(points: Sequence[_Point], plane: _Plane, box: tuple[float, float, float, float]) -> bool:
    """Whether a curve runs through a box, checked at 17 positions."""
    left, right, top, bottom = box
    for run in _runs(points, "has_value"):
        xs, ys = [plane.across(p.x) for p in run], [plane.up(p.y) for p in run]
        levels = np.interp(np.linspace(left, right, 17), xs, ys, left=np.nan, right=np.nan)
        if ((top <= levels) & (levels <= bottom)).any():
            return True
    return False


def _curve_description(plot: CurvePlot, lines: Sequence[Sequence[_Point]], scale: Scale) -> str:
    parts = []
    for curve, points in zip(plot.curves[:SERIES], lines, strict=False):
        ends = [f"{scale.format(p.y)} at {brief(p.x)}" for p in points if p.has_value]
        if not ends:
            parts.append(f"{curve.name} has no values")
        elif len(ends) == 1:
            parts.append(f"{curve.name} is {ends[0]}")
        else:
            parts.append(f"{curve.name} goes from {ends[0]} to {ends[-1]}")
    log = " (logarithmic)" if plot.log_x else ""
    target = f", with a target of {brief(plot.target)}" if plot.target is not None else ""
    target += f", marked at {join_names(map(brief, plot.marked))}" if plot.marked else ""
    axes = f"{capitalize(plot.y_axis)} over {plot.x_axis}{log}"
    description = f"{axes} for {len(plot.curves)} series{target}. {'; '.join(parts)}."
    if len(plot.curves) > SERIES:
        description += f" {pluralize(len(plot.curves) - SERIES, 'more line')} without a name; all are in the data."
    return description


@dataclass(frozen=True, slots=True)
class Gap:
    """One run or system; points with the same name are one series, and `note` is added to the tooltip."""

    name: str
    x: float
    y: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class GapPlot:
    """Points in a square with the same scale on both axes; on the diagonal both values are equal."""

    points: tuple[Gap, ...]
    title: str
    x_axis: str
    y_axis: str

    def draw(self, layout: Layout) -> Chart:
        header = ("name", self.x_axis, self.y_axis, "note")
        points = [point for point in self.points if math.isfinite(point.x) and math.isfinite(point.y)]
        if not points:
            return empty_chart(self.title, layout, header)
        font, names = layout.font, list(dict.fromkeys(point.name for point in points))
        names = [*sorted(names[:SERIES]), *names[SERIES:]]  # so that a system looks the same in all figures of a page
        series = {name: i for i, name in enumerate(names)}
        key, top = ("", 0.0) if len(names) == 1 else legend(_gap_legend(names, font), layout)
        low, high = extent((value for point in points for value in (point.x, point.y)), margin=0.06)
        left = left_margin(Scale(low, high, 0, 1), font) + 0.3 * font
        side = min(layout.width - left - font, 28 * font)
        top += 2.2 * font
        across, up = Scale(low, high, left, left + side), Scale(low, high, top + side, top)
        drawn = [key, _square(across, up, font, self.x_axis, self.y_axis)]
        for point in thin(points, MOST_POINTS):
            x, y = up.format(point.x), up.format(point.y)
            tooltip = f"{point.name}: {self.x_axis} {x}, {self.y_axis} {y}{f' ({point.note})' if point.note else ''}"
            drawn.append(_gap_mark(series[point.name], across(point.x), up(point.y), 0.32 * font, tooltip))
        height = top + side + 3.3 * font
        table = tuple((point.name, datum(point.x), datum(point.y), point.note) for point in self.points)
        return Chart(self.title, _gap_description(self, points), layout.width, height, "".join(drawn), header, table)


def _square(across: Scale, up: Scale, font: float, x_axis: str, y_axis: str) -> str:
    """Both axes and the diagonal, whose label is above its end, where there are no points."""
    bottom, width = up.start, across.end - text_width(DIAGONAL, SMALL * font) - font
    return (
        left_axis(up, across.start, across.end, font, title=shorten(y_axis, width, font))
        + bottom_axis(across, bottom, up.end, font, title=x_axis)
        + line("axis", across.start, bottom, across.end, bottom)
        + line("axis", across.start, up.end, across.start, bottom)
        + line("axis", across.start, bottom, across.end, up.end, DIAGONAL, dash="4 3")
        + text(across.end, up.end - 0.5 * font, DIAGONAL, kind="soft small", anchor="end")
    )


def _gap_mark(series: int, x: float, y: float, r: float, tooltip: str = "") -> str:
    """The mark of a series; series after the eighth share a small grey dot."""
    return shape(series, x, y, r, tooltip) if series < SERIES else circle("soft", x, y, 0.55 * r, tooltip)


def _gap_legend(names: Sequence[str], font: float) -> list[LegendEntry]:
    """At most eight names, and the number of the others."""
    others = [pluralize(len(names) - SERIES, "other")] if len(names) > SERIES else []
    entries = enumerate([*names[:SERIES], *others])
    return [LegendEntry(partial(_gap_mark, i, r=0.32 * font), 0.8 * font, name) for i, name in entries]


def _gap_description(plot: GapPlot, points: Sequence[Gap]) -> str:
    below, above = (sum(sign * (point.y - point.x) > 0 for point in points) for sign in (-1, 1))
    systems = pluralize(len({point.name for point in points}), "system")
    description = f"{pluralize(len(points), 'point')} of {systems}; {below} below the diagonal "
    description += f"({plot.y_axis} less than {plot.x_axis}), {above} above it."
    missing = len(plot.points) - len(points)
    if missing:
        description += f" {missing} without both values {'is' if missing == 1 else 'are'} left out."
    if len(points) > MOST_POINTS:
        description += f" {MOST_POINTS:,} of the points are drawn."
    return description
