"""Lines over a quantity: how ranking, score or error change with the size of a set or the time of training."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from deadheat.charts.chart import Chart, Datum, Layout
from deadheat.charts.drawing import label, line, polygon, polyline, shape, text, text_width
from deadheat.charts.named_rows import datum, nothing
from deadheat.charts.scales import Scale, bottom_axis, brief, decimals_for, extent, fixed, left_axis, left_room, spread
from deadheat.charts.theme import SERIES, SMALL
from deadheat.text import pluralize

HEADER = ("series", "x", "y", "low", "high")
_BOLD_FONT = 1.1  # bold names need so much more room
MOST_MARKS = 24  # of a line; of longer lines every so many points have one


@dataclass(frozen=True, slots=True)
class Curve:
    """A line, with the band about it where bounds are given; NaN where a value is missing."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    lows: Sequence[float] | None = None
    highs: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class _Point:
    x: float
    y: float
    low: float
    high: float

    @property
    def known(self) -> bool:
        return math.isfinite(self.y)

    @property
    def banded(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True, slots=True)
class _Plane:
    """The two scales of a plot; many series are drawn soft, for eight at most are told apart."""

    across: Scale
    up: Scale
    layout: Layout
    soft: bool


def curves(
    series: Sequence[Curve],
    layout: Layout,
    *,
    title: str,
    x_axis: str,
    y_axis: str,
    log_x: bool = False,
    target: float | None = None,
) -> Chart:
    """A line for each series, named at its end; a dashed level line at the target.

    Examples
    --------
    >>> from deadheat.charts.chart import WIDE
    >>> tau = [Curve("random", [50, 500, 5000], [0.4, 0.7, 0.95]), Curve("in order", [50, 500, 5000], [0.2, 0.5, 0.9])]
    >>> chart = curves(tau, WIDE, title="Tau", x_axis="sentences", y_axis="Kendall's tau", log_x=True, target=0.9)
    >>> print(chart.description.partition(". ")[0])
    Kendall's tau over sentences (logarithmic) for 2 series, with a target of 0.9
    """
    if not series:
        return nothing(title, layout, HEADER)
    points = [_points(each, log=log_x) for each in series]
    plane = _plane(series, points, layout, log=log_x, target=target)
    bottom, left, font = plane.up.start, plane.across.start, layout.font
    drawn = [
        bottom_axis(plane.across, bottom, plane.up.end, font, title=x_axis, most=9),
        left_axis(plane.up, left, plane.across.end, font, title=y_axis, most=6),
        line("axis", left, bottom, plane.across.end, bottom),
    ]
    if not plane.soft:
        drawn += [_band(i, each, plane) for i, each in enumerate(points)]
    if target is not None:
        drawn.append(_target(target, points, plane))
    decimals = decimals_for(plane.up.low, plane.up.high)
    named = enumerate(zip(series, points, strict=True))
    drawn += [_line(i, each.name, found, plane, decimals) for i, (each, found) in named]
    drawn.append(_names(series, points, plane))
    height = bottom + (3.3 if x_axis else 1.8) * font
    about = f"{y_axis} over {x_axis}{' (logarithmic)' if log_x else ''} for {len(series)} series"
    goal = f", with a target of {brief(target)}" if target is not None else ""
    said = f"{about}{goal}. {_description(series, points, decimals)}"
    return Chart(title, said, layout.width, height, "".join(drawn), HEADER, tuple(_table(series)))


def _points(curve: Curve, *, log: bool) -> list[_Point]:
    """The points from left to right; those without a place on the axis are left out."""
    none = [math.nan] * len(curve.xs)
    lows, highs = (none if each is None else each for each in (curve.lows, curve.highs))
    found = [_Point(*map(float, each)) for each in zip(curve.xs, curve.ys, lows, highs, strict=True)]
    return sorted((p for p in found if math.isfinite(p.x) and (p.x > 0 or not log)), key=lambda p: p.x)


def _table(series: Sequence[Curve]) -> Iterator[tuple[Datum, ...]]:
    for each in series:
        for i, x in enumerate(each.xs):
            bounds = (None if values is None else datum(values[i]) for values in (each.lows, each.highs))
            yield each.name, datum(x), datum(each.ys[i]), *bounds


def _plane(
    series: Sequence[Curve],
    points: Sequence[Sequence[_Point]],
    layout: Layout,
    *,
    log: bool,
    target: float | None,
) -> _Plane:
    font, everything = layout.font, [point for each in points for point in each]
    values = [value for point in everything for value in (point.y, point.low, point.high)]
    low, high = extent(values, margin=0.06, include=() if target is None else (target,))
    top, tall = 2.4 * font, min(max(0.58 * layout.width, 14 * font), 25 * font)
    up = Scale(low, high, top + tall, top)
    names = [_end_name(*each) for each in zip(series[:SERIES], points, strict=False)]
    widest = max(text_width(name, font, bold=True) for name in names)
    right = layout.width - min(1.03 * widest + 2.6 * font, 0.33 * layout.width)
    first, last = extent([point.x for point in everything], margin=0.03, log=log)
    across = Scale(first, last, left_room(up, font, 6), right, log)
    return _Plane(across, up, layout, soft=len(series) > SERIES)


def _end_name(curve: Curve, points: Sequence[_Point]) -> str:
    return curve.name if any(point.known for point in points) else f"{curve.name} (no values)"


def _runs(points: Sequence[_Point], which: str) -> Iterator[list[_Point]]:
    """Stretches of points without a gap."""
    for there, run in groupby(points, key=lambda point: bool(getattr(point, which))):
        if there:
            yield list(run)


def _band(i: int, points: Sequence[_Point], plane: _Plane) -> str:
    drawn = []
    for run in _runs(points, "banded"):
        there = [plane.across(p.x) for p in run]
        edges = [plane.up(p.high) for p in run] + [plane.up(p.low) for p in reversed(run)]
        drawn.append(polygon(f"b{i}", there + there[::-1], edges))
    return "".join(drawn)


def _line(i: int, name: str, points: Sequence[_Point], plane: _Plane, decimals: int) -> str:
    font = plane.layout.font
    kind = "faint" if plane.soft else f"l{i}"
    known = [point for point in points if point.known]
    drawn = [
        polyline(kind, [plane.across(p.x) for p in run], [plane.up(p.y) for p in run], name)
        for run in _runs(points, "known")
        if len(run) > 1
    ]
    if plane.soft and len(known) > 1:
        return "".join(drawn)
    every = math.ceil(len(known) / MOST_MARKS)
    for at, p in enumerate(known):
        if (len(known) - 1 - at) % max(every, 1) == 0:
            bounds = f" [{fixed(p.low, decimals)}, {fixed(p.high, decimals)}]" if p.banded else ""
            told = f"{name}: {fixed(p.y, decimals)}{bounds} at {brief(p.x)}"
            drawn.append(shape(7 if plane.soft else i, plane.across(p.x), plane.up(p.y), 0.27 * font, told))
    return "".join(drawn)


def _names(series: Sequence[Curve], points: Sequence[Sequence[_Point]], plane: _Plane) -> str:
    """The names of the first eight at the ends of their lines, pushed apart, with a thread where they are far off."""
    font, right = plane.layout.font, plane.across.end
    ends = [next((p for p in reversed(each) if p.known), None) for each in points[:SERIES]]
    wanted = [plane.up.start if p is None else plane.up(p.y) for p in ends]
    levels = spread(wanted, 1.25 * font, plane.up.end, plane.up.start)
    x = right + (1.2 if plane.soft else 2) * font
    room = plane.layout.width - x - 0.2 * font
    drawn = []
    for i, (end, level) in enumerate(zip(ends, levels, strict=True)):
        kind = "soft" if end is None else "" if plane.soft else f"t{i}"
        if end is not None:
            start, y = plane.across(end.x) + 0.5 * font, plane.up(end.y)
            drawn.append(line("lead", start, y, right + font, level))
        if kind.startswith("t"):
            drawn.append(shape(i, right + 1.3 * font, level, 0.27 * font))
        wide = _BOLD_FONT * font if kind.startswith("t") else font
        drawn.append(label(x, level + 0.34 * font, _end_name(series[i], points[i]), room, wide, kind=kind))
    return "".join(drawn)


def _target(target: float, points: Sequence[Sequence[_Point]], plane: _Plane) -> str:
    """A dashed level line, with its name where the fewest lines run."""
    font, y = plane.layout.font, plane.up(target)
    said = f"target {brief(target)}"
    wide, left, right = text_width(said, SMALL * font), plane.across.start + 0.4 * font, plane.across.end - 0.4 * font
    starts = (left, (left + right - wide) / 2, right - wide)
    above, below = y - 0.45 * font, y + 1.05 * font
    places = [(x, base) for base in (above, below) for x in starts]

    def crossed(place: tuple[float, float]) -> int:
        x, base = place
        box = x - 0.3 * font, x + wide + 0.3 * font, base - 0.9 * font, base + 0.3 * font
        return sum(_passes(each, plane, box) for each in points) + 9 * (
            box[2] < plane.up.end or box[3] > plane.up.start
        )

    x, base = min(places, key=crossed)
    drawn = line("axis", plane.across.start, y, plane.across.end, y, said, dash="6 4")
    return drawn + text(x, base, said, kind="soft small halo")


def _passes(points: Sequence[_Point], plane: _Plane, box: tuple[float, float, float, float]) -> bool:
    """Whether a line runs through a box: looked at on sixteen places."""
    left, right, top, bottom = box
    for run in _runs(points, "known"):
        xs, ys = [plane.across(p.x) for p in run], [plane.up(p.y) for p in run]
        for i in range(17):
            x = left + (right - left) * i / 16
            if xs[0] <= x <= xs[-1] and top <= _between(xs, ys, x) <= bottom:
                return True
    return False


def _between(xs: Sequence[float], ys: Sequence[float], x: float) -> float:
    after = next(i for i, each in enumerate(xs) if each >= x)
    if after == 0 or xs[after] == xs[after - 1]:
        return ys[after]
    share = (x - xs[after - 1]) / (xs[after] - xs[after - 1])
    return ys[after - 1] + share * (ys[after] - ys[after - 1])


def _description(series: Sequence[Curve], points: Sequence[Sequence[_Point]], decimals: int) -> str:
    parts = []
    for each, found in list(zip(series, points, strict=True))[:SERIES]:
        known = [point for point in found if point.known]
        if not known:
            parts.append(f"{each.name} has no values")
        else:
            first, last = (f"{fixed(p.y, decimals)} at {brief(p.x)}" for p in (known[0], known[-1]))
            parts.append(f"{each.name} goes from {first} to {last}" if len(known) > 1 else f"{each.name} is {first}")
    said = "; ".join(parts) + "."
    if len(series) > SERIES:
        said += f" {pluralize(len(series) - SERIES, 'more line')} without a name; all are in the data."
    return said
