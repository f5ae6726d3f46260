"""All values that go by a name on one line, and among them the one that was chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.charts.chart import Chart, Datum, Layout
from deadheat.charts.drawing import circle, line, rect, text
from deadheat.charts.named_rows import Entry, datum, diamond, legend, nothing, rows_of, told
from deadheat.charts.scales import Scale
from deadheat.text import pluralize

MOST_POINTS = 300  # of a row that are drawn one by one, besides the one that was chosen
HEADER = ("name", "what", "value", "chosen")


@dataclass(frozen=True, slots=True)
class Strip:
    """One row: values, what each of them is of, and which was chosen, if one was."""

    name: str
    values: tuple[float, ...]
    labels: tuple[str, ...]
    chosen: int | None = None

    @property
    def known(self) -> list[float]:
        """The values that are numbers."""
        return [value for value in self.values if math.isfinite(value)]

    @property
    def winner(self) -> float:
        """The value that was chosen; NaN if none was."""
        return math.nan if self.chosen is None else self.values[self.chosen]


def strips(rows: Sequence[Strip], layout: Layout, *, title: str, axis: str) -> Chart:
    """Draw for each name its values as dots on the range of them, the median, and the one that was chosen as a diamond.

    Examples
    --------
    >>> from deadheat.charts.chart import WIDE
    >>> found = [Strip("small", (90.5, 91.0, 90.1), ("a", "b", "c"), 1), Strip("large", (94.0, 93.0), ("a", "b"), 1)]
    >>> print(strips(found, WIDE, title="Settings", axis="LAS in percent").description)
    2 rows, 5 values; what was chosen is the highest of its row in 1 of 2.
    """
    data = tuple(cells for row in rows for cells in _data(row))
    known = [value for row in rows for value in row.known]
    if not known:
        return nothing(title, layout, HEADER)
    font = layout.font
    key, top = legend(_signs(font), layout)
    placed = rows_of([row.name for row in rows], layout, top=top, height=(2.6 if len(rows) <= 12 else 2.0) * font)
    scale = placed.scale(known)
    drawn = [key, placed.axis(scale, axis), placed.labels()]
    drawn += [_row(row, scale, placed.middle(i), font) for i, row in enumerate(rows)]
    return Chart(title, _description(rows), layout.width, placed.end, "".join(drawn), HEADER, data)


def _row(row: Strip, scale: Scale, y: float, font: float) -> str:
    known = row.known
    if not known:
        return text(scale.start + 0.3 * font, y + 0.32 * font, "no value", kind="soft small halo")
    low, high, middle = min(known), max(known), float(np.median(known))
    said = f"{row.name}: {pluralize(len(known), 'value')} from {told(low)} to {told(high)}, median {told(middle)}"
    tall = 0.9 * font
    drawn = rect("band", scale(low), y - tall / 2, scale(high) - scale(low), tall, said)
    drawn += line("rule", scale(middle), y - tall / 2, scale(middle), y + tall / 2, said)
    for at in _thinned([i for i, value in enumerate(row.values) if math.isfinite(value) and i != row.chosen]):
        value = row.values[at]
        drawn += circle("mark", scale(value), y, 0.17 * font, f"{row.name}, {row.labels[at]}: {told(value)}")
    if row.chosen is not None and math.isfinite(row.winner):
        what = f"{row.name}, chosen, {row.labels[row.chosen]}: {told(row.winner)}"
        drawn += diamond("ink", scale(row.winner), y, 0.42 * font, what)
    return drawn


def _thinned(places: Sequence[int]) -> list[int]:
    if len(places) <= MOST_POINTS:
        return list(places)
    return [places[i] for i in np.linspace(0, len(places) - 1, MOST_POINTS).round().astype(int).tolist()]


def _signs(font: float) -> list[Entry]:
    wide, tall = 2.4 * font, 0.9 * font

    def every(x: float, y: float) -> str:
        drawn = rect("band", x - wide / 2, y - tall / 2, wide, tall)
        drawn += line("rule", x, y - tall / 2, x, y + tall / 2)
        return drawn + "".join(circle("mark", x + part * wide, y, 0.17 * font) for part in (-0.4, -0.2, 0.15, 0.35))

    chosen = Entry(lambda x, y: diamond("ink", x, y, 0.42 * font), 0.84 * font, "the one that was chosen")
    return [Entry(every, wide, "all, their range and median"), chosen]


def _data(row: Strip) -> list[tuple[Datum, ...]]:
    return [
        (row.name, label, datum(value), "yes" if at == row.chosen else "")
        for at, (label, value) in enumerate(zip(row.labels, row.values, strict=True))
    ]


def _description(rows: Sequence[Strip]) -> str:
    judged = [row for row in rows if math.isfinite(row.winner)]
    first = sum(row.winner == max(row.known) for row in judged)
    said = f"{pluralize(len(rows), 'row')}, {pluralize(sum(len(row.known) for row in rows), 'value')}"
    if judged:
        said += f"; what was chosen is the highest of its row in {first} of {len(judged)}"
    if any(len(row.known) > MOST_POINTS for row in rows):
        said += f". Of more than {MOST_POINTS} of a row, so many are drawn"
    return f"{said}."
