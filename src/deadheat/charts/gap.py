"""One score against another, such as dev against test, with the line on which they are equal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from deadheat.charts.chart import Chart, Layout
from deadheat.charts.drawing import circle, label, line, shape, shortened, text, text_width
from deadheat.charts.named_rows import Entry, datum, legend, nothing, told
from deadheat.charts.scales import Scale, bottom_axis, extent, left_axis, left_room
from deadheat.charts.theme import SERIES, SMALL
from deadheat.text import pluralize

MOST_POINTS = 3000  # that are drawn; of more, so many at even distances in the order given
ROOMY = 500  # width from which names stand beside the square, not above it
EQUAL = "the same on both"


@dataclass(frozen=True, slots=True)
class Gap:
    """One run or system: what goes by a name is one series."""

    name: str
    x: float
    y: float
    told: str = ""  # shown besides when one points at it


def gaps(points: Sequence[Gap], layout: Layout, *, title: str, x_axis: str, y_axis: str) -> Chart:
    """Draw points on a square with one scale for both axes, so that the diagonal is where both are equal.

    Examples
    --------
    >>> from deadheat.charts.chart import WIDE
    >>> runs = [Gap("a", 91.0, 90.2), Gap("a", 91.4, 90.1), Gap("b", 90.0, 90.5)]
    >>> print(gaps(runs, WIDE, title="Dev and test", x_axis="dev", y_axis="test").description)
    3 points of 2 systems; 2 below the diagonal (test less than dev), 1 above it.
    """
    header = ("name", x_axis, y_axis, "told")
    data = tuple((each.name, datum(each.x), datum(each.y), each.told) for each in points)
    known = [each for each in points if math.isfinite(each.x) and math.isfinite(each.y)]
    if not known:
        return nothing(title, layout, header)
    font, names = layout.font, list(dict.fromkeys(each.name for each in known))
    series = {name: i for i, name in enumerate(names)}
    beside = layout.width >= ROOMY
    key, top = ("", 0.0) if beside or len(names) == 1 else legend(_signs(names, font), layout)
    low, high = extent((value for each in known for value in (each.x, each.y)), margin=0.06)
    left = left_room(Scale(low, high, 0, 1), font) + 0.3 * font
    side = min(layout.width - left - font, (26 if beside else 30) * font)
    top += 2.2 * font
    across, up = Scale(low, high, left, left + side), Scale(low, high, top + side, top)
    drawn = [key, _square(across, up, layout, x_axis, y_axis), _diagonal(across, up, font)]
    drawn += [_point(each, series[each.name], across, up, (x_axis, y_axis), font) for each in _thinned(known)]
    height = top + side + 3.3 * font
    if beside and len(names) > 1:
        drawn.append(_names_beside(names, left + side + 2.5 * font, top, layout))
        height = max(height, top + 1.7 * font * (min(len(names), SERIES + 1) + 0.5))
    said = _description(len(points), known, x_axis, y_axis)
    return Chart(title, said, layout.width, height, "".join(drawn), header, data)


def _square(across: Scale, up: Scale, layout: Layout, x_axis: str, y_axis: str) -> str:
    font, bottom = layout.font, up.start
    beside = across.end - text_width(EQUAL, SMALL * font) - font
    y_title = shortened(y_axis, beside, font)
    drawn = left_axis(up, across.start, across.end, font, title=y_title)
    drawn += bottom_axis(across, bottom, up.end, font, title=x_axis)
    return (
        drawn
        + line("axis", across.start, bottom, across.end, bottom)
        + line("axis", across.start, up.end, across.start, bottom)
    )


def _diagonal(across: Scale, up: Scale, font: float) -> str:
    """The line of equal values; its words stand above its end, where no point can be."""
    drawn = line("axis", across.start, up.start, across.end, up.end, EQUAL, dash="4 3")
    return drawn + text(across.end, up.end - 0.5 * font, EQUAL, kind="soft small", anchor="end")


def _point(each: Gap, series: int, across: Scale, up: Scale, axes: tuple[str, str], font: float) -> str:
    said = f"{each.name}: {axes[0]} {told(each.x)}, {axes[1]} {told(each.y)}"
    said += f" ({each.told})" if each.told else ""
    return _mark(series, across(each.x), up(each.y), 0.32 * font, said)


def _mark(series: int, x: float, y: float, r: float, said: str = "") -> str:
    """The mark of a series; those past the eighth share a small grey dot."""
    return shape(series, x, y, r, said) if series < SERIES else circle("soft", x, y, 0.55 * r, said)


def _named(names: Sequence[str]) -> list[str]:
    """What a legend says: eight names at most, and how many others there are."""
    others = len(names) - SERIES
    return [*names[:SERIES], *([pluralize(others, "other")] if others > 0 else [])]


def _signs(names: Sequence[str], font: float) -> list[Entry]:
    return [Entry(partial(_mark, i, r=0.32 * font), 0.8 * font, name) for i, name in enumerate(_named(names))]


def _names_beside(names: Sequence[str], x: float, top: float, layout: Layout) -> str:
    font, drawn = layout.font, []
    for i, name in enumerate(_named(names)):
        y = top + 1.7 * font * (i + 0.5)
        drawn.append(_mark(i, x, y - 0.32 * font, 0.32 * font))
        drawn.append(label(x + font, y, name, layout.width - x - 1.3 * font, font))
    return "".join(drawn)


def _thinned(points: Sequence[Gap]) -> list[Gap]:
    if len(points) <= MOST_POINTS:
        return list(points)
    chosen = np.linspace(0, len(points) - 1, MOST_POINTS).round().astype(np.int64).tolist()
    return [points[i] for i in chosen]


def _description(given: int, known: Sequence[Gap], x_axis: str, y_axis: str) -> str:
    below, above = (sum(sign * (each.y - each.x) > 0 for each in known) for sign in (-1, 1))
    systems = pluralize(len({each.name for each in known}), "system")
    said = f"{pluralize(len(known), 'point')} of {systems}; {below} below the diagonal ({y_axis} less than {x_axis}), "
    said += f"{above} above it."
    if given > len(known):
        said += f" {given - len(known)} without both numbers are left out."
    if len(known) > MOST_POINTS:
        said += f" {MOST_POINTS:,} of the points are drawn."
    return said
