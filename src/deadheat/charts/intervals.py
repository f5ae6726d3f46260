"""Scores or differences with their intervals, one row each, on a common scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from deadheat.charts.chart import Chart, Layout
from deadheat.charts.drawing import circle, line, text, text_width
from deadheat.charts.named_rows import Entry, Rows, datum, legend, nothing, rows_of
from deadheat.charts.scales import Scale, decimals_for, extent, fixed
from deadheat.charts.theme import SMALL
from deadheat.text import pluralize

HEADER = ("name", "value", "low", "high")
ROOM_FOR_BOUNDS = 500  # from this width on the bounds are written out


@dataclass(frozen=True, slots=True)
class Reach:
    """A value with its interval; what is not known is NaN. `told` is added to what pointing at it shows."""

    name: str
    value: float
    low: float
    high: float
    told: str = ""

    @property
    def bounds(self) -> list[float]:
        """Those that are known."""
        return [each for each in (self.low, self.high) if math.isfinite(each)]

    @property
    def leaves_out_zero(self) -> bool:
        return self.low > 0 or self.high < 0


def intervals(rows: Sequence[Reach], layout: Layout, *, title: str, axis: str, zero: bool = False) -> Chart:
    """A dot with its interval for each row; with `zero` a line at 0, and filled dots where the interval leaves it out.

    Examples
    --------
    >>> from deadheat.charts.chart import WIDE
    >>> chart = intervals([Reach("a", 83.2, 82.6, 83.8), Reach("b", 81, 80, 82)], WIDE, title="LAS", axis="LAS in %")
    >>> print(chart.description)
    2 values with intervals. The highest is a with 83.20 [82.60, 83.80]; the lowest is b with 81.00 [80.00, 82.00].
    """
    if not rows:
        return nothing(title, layout, HEADER)
    font = layout.font
    low, high = extent(_numbers(rows), margin=0.04, include=(0.0,) if zero else ())
    decimals = decimals_for(low, high)
    key, top = legend(_meanings(font), layout) if zero else ("", 0.3 * font)
    lying = rows_of([row.name for row in rows], layout, top=top, height=2 * font)
    written = [_written(row, decimals, layout, sign=zero) for row in rows]
    lying, said = _with_numbers(lying, written)
    scale = Scale(low, high, lying.left, lying.right)
    drawn = [key, lying.axis(scale, axis), lying.labels(), said]
    if zero:
        drawn.append(line("axis", scale(0), lying.top, scale(0), lying.bottom))
    drawn += [_mark(row, scale, lying.middle(i), font, decimals, zero=zero) for i, row in enumerate(rows)]
    table = tuple((row.name, datum(row.value), datum(row.low), datum(row.high)) for row in rows)
    return Chart(title, _description(rows, decimals, zero=zero), layout.width, lying.end, "".join(drawn), HEADER, table)


def _numbers(rows: Sequence[Reach]) -> list[float]:
    return [each for row in rows for each in (row.value, *row.bounds)]


def _meanings(font: float) -> list[Entry]:
    r = 0.34 * font
    return [
        Entry(partial(circle, "mark", r=r), 2 * r, "the interval leaves out zero"),
        Entry(partial(circle, "hollow", r=r), 2 * r, "zero is within it"),
    ]


def _written(row: Reach, decimals: int, layout: Layout, *, sign: bool) -> tuple[str, str]:
    """The value and, where there is room, its bounds, in numbers."""
    bounds = row.bounds if layout.width >= ROOM_FOR_BOUNDS else []
    shown = ", ".join(fixed(each, decimals, sign=sign) for each in bounds)
    return fixed(row.value, decimals, sign=sign), f"[{shown}]" if len(bounds) == 2 else ""


def _with_numbers(rows: Rows, written: Sequence[tuple[str, str]]) -> tuple[Rows, str]:
    """Rows with a column of numbers at their right, and that column."""
    font, width = rows.layout.font, rows.layout.width
    bounds = max(text_width(second, SMALL * font) for _, second in written)
    values = max(text_width(first, font) for first, _ in written)
    end = width - 0.2 * font
    middle = end - bounds - (0.7 * font if bounds else 0)
    drawn = [
        text(middle, rows.middle(i) + 0.34 * font, first, anchor="end")
        + (text(end, rows.middle(i) + 0.32 * font, second, kind="soft small", anchor="end") if second else "")
        for i, (first, second) in enumerate(written)
    ]
    return replace(rows, right=middle - values - 1.6 * font), "".join(drawn)


def _mark(row: Reach, scale: Scale, y: float, font: float, decimals: int, *, zero: bool) -> str:
    known = [each for each in (row.value, *row.bounds) if math.isfinite(each)]
    if not known:
        return text(scale.start + 0.3 * font, y + 0.32 * font, "no value", kind="soft small halo")
    told = f"{row.name}: {_in_numbers(row, decimals)}{'. ' + row.told if row.told else ''}"
    start, end, cap = scale(min(known)), scale(max(known)), 0.3 * font
    drawn = [line("reach", start, y, end, y, told)] if end > start else []
    drawn += [line("reach", scale(each), y - cap, scale(each), y + cap) for each in row.bounds]
    if math.isfinite(row.value):
        kind = "hollow" if zero and not row.leaves_out_zero else "mark"
        drawn.append(circle(kind, scale(row.value), y, 0.36 * font, told))
    return "".join(drawn)


def _in_numbers(row: Reach, decimals: int) -> str:
    bounds = ", ".join(fixed(each, decimals) for each in (row.low, row.high))
    return fixed(row.value, decimals) + (f" [{bounds}]" if row.bounds else "")


def _description(rows: Sequence[Reach], decimals: int, *, zero: bool) -> str:
    known = [row for row in rows if math.isfinite(row.value)]
    said = [f"{pluralize(len(rows), 'difference' if zero else 'value')} with intervals."]
    if zero:
        away = sum(row.leaves_out_zero for row in rows)
        said.append(f"{away} of {len(rows)} intervals leave out zero.")
    if known:
        most, least = max(known, key=lambda row: row.value), min(known, key=lambda row: row.value)
        said.append(f"The highest is {most.name} with {_in_numbers(most, decimals)}")
        said[-1] += f"; the lowest is {least.name} with {_in_numbers(least, decimals)}." if most is not least else "."
    if len(known) < len(rows):
        said.append(f"{len(rows) - len(known)} without a value.")
    return " ".join(said)
