"""Scores or differences with their intervals, one row each, on a common scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from deadheat.charts.chart import Chart, Layout, datum, empty_chart
from deadheat.charts.drawing import circle, line, text, text_width
from deadheat.charts.scales import LegendEntry, Rows, Scale, extent, finite, legend, place_rows
from deadheat.charts.theme import SMALL
from deadheat.text import pluralize

HEADER = ("name", "value", "low", "high")
WIDTH_FOR_BOUNDS = 500  # from this width on the bounds are written out


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """A value with its interval, NaN where missing; `note` is added to the tooltip."""

    name: str
    value: float
    low: float
    high: float
    note: str = ""

    @property
    def bounds(self) -> list[float]:
        return finite((self.low, self.high))

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class IntervalPlot:
    """A dot with its interval for each row.

    Parameters
    ----------
    zero
        Draw a line at 0, and fill the dots whose interval excludes 0.
    description
        Replaces the description that is written from the rows.

    Examples
    --------
    >>> from deadheat.charts.chart import WIDE
    >>> rows = (IntervalRow("a", 83.2, 82.6, 83.8), IntervalRow("b", 81, 80, 82))
    >>> print(IntervalPlot(rows, title="LAS", axis="LAS in %").draw(WIDE).description)
    2 values with intervals. The highest is a with 83.20 [82.60, 83.80]; the lowest is b with 81.00 [80.00, 82.00].
    """

    rows: tuple[IntervalRow, ...]
    title: str
    axis: str
    zero: bool = False
    description: str = ""

    def draw(self, layout: Layout) -> Chart:
        if not self.rows:
            return empty_chart(self.title, layout, HEADER)
        font = layout.font
        values = [value for row in self.rows for value in (row.value, *row.bounds)]
        low, high = extent(values, margin=0.04, include=(0.0,) if self.zero else ())
        key, top = legend(_legend_entries(font), layout) if self.zero else ("", 0.3 * font)
        rows = place_rows([row.name for row in self.rows], layout, top=top, height=2 * font)
        rows, numbers = self._numbers(rows, Scale(low, high, 0, 1))
        scale = Scale(low, high, rows.left, rows.right)
        drawn = [key, rows.axis(scale, self.axis), rows.labels(), numbers]
        if self.zero:
            drawn.append(line("axis", scale(0), rows.top, scale(0), rows.bottom))
        drawn += [_mark(row, scale, rows.middle(i), font, zero=self.zero) for i, row in enumerate(self.rows)]
        table = tuple((row.name, datum(row.value), datum(row.low), datum(row.high)) for row in self.rows)
        description = self.description or _description(self.rows, scale, zero=self.zero)
        return Chart(self.title, description, layout.width, rows.end, "".join(drawn), HEADER, table)

    def _numbers(self, rows: Rows, scale: Scale) -> tuple[Rows, str]:
        """Rows that leave space for values and, if there is enough, their bounds at the right; and these numbers."""
        font, wide = rows.layout.font, rows.layout.width >= WIDTH_FOR_BOUNDS
        values = [scale.format(row.value, sign=self.zero) for row in self.rows]
        bounds = [
            scale.interval(row.low, row.high, sign=self.zero) if wide and len(row.bounds) == 2 else ""
            for row in self.rows
        ]
        bounds_width = max(text_width(interval, SMALL * font) for interval in bounds)
        end = rows.layout.width - 0.2 * font
        middle = end - bounds_width - (0.7 * font if bounds_width else 0)
        drawn = ""
        for i, (value, interval) in enumerate(zip(values, bounds, strict=True)):
            drawn += text(middle, rows.middle(i) + 0.34 * font, value, anchor="end")
            if interval:
                drawn += text(end, rows.middle(i) + 0.32 * font, interval, kind="soft small", anchor="end")
        return replace(rows, right=middle - max(text_width(value, font) for value in values) - 1.6 * font), drawn


def _legend_entries(font: float) -> list[LegendEntry]:
    r = 0.34 * font
    return [
        LegendEntry(partial(circle, "mark", r=r), 2 * r, "interval excludes zero"),
        LegendEntry(partial(circle, "hollow", r=r), 2 * r, "interval includes zero"),
    ]


def _mark(row: IntervalRow, scale: Scale, y: float, font: float, *, zero: bool) -> str:
    numbers = finite((row.value, row.low, row.high))
    if not numbers:
        return text(scale.start + 0.3 * font, y + 0.32 * font, "no value", kind="soft small halo")
    tooltip = f"{row.name}: {_value_and_bounds(row, scale)}{'. ' + row.note if row.note else ''}"
    start, end, cap = scale(min(numbers)), scale(max(numbers)), 0.3 * font
    drawn = [line("interval", start, y, end, y, tooltip)] if end > start else []
    drawn += [line("interval", scale(bound), y - cap, scale(bound), y + cap) for bound in row.bounds]
    if math.isfinite(row.value):
        kind = "hollow" if zero and not row.excludes_zero else "mark"
        drawn.append(circle(kind, scale(row.value), y, 0.36 * font, tooltip))
    return "".join(drawn)


def _value_and_bounds(row: IntervalRow, scale: Scale) -> str:
    return scale.format(row.value) + (f" {scale.interval(row.low, row.high)}" if row.bounds else "")


def _description(rows: Sequence[IntervalRow], scale: Scale, *, zero: bool) -> str:
    scored = [row for row in rows if math.isfinite(row.value)]
    sentences = [f"{pluralize(len(rows), 'difference' if zero else 'value')} with intervals."]
    if zero:
        sentences.append(f"{sum(row.excludes_zero for row in rows)} of {len(rows)} intervals exclude zero.")
    if scored:
        highest, lowest = max(scored, key=lambda row: row.value), min(scored, key=lambda row: row.value)
        extremes = f"The highest is {highest.name} with {_value_and_bounds(highest, scale)}"
        if highest is not lowest:
            extremes += f"; the lowest is {lowest.name} with {_value_and_bounds(lowest, scale)}"
        sentences.append(f"{extremes}.")
    if len(scored) < len(rows):
        sentences.append(f"{len(rows) - len(scored)} without a value.")
    return " ".join(sentences)
