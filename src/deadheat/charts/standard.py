"""The standard split's score beside those of random splits (Gorman & Bedrick 2019, figure 1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from deadheat.charts.chart import Chart, Datum, Layout
from deadheat.charts.drawing import circle, line, rect
from deadheat.charts.named_rows import Entry, datum, diamond, legend, nothing, rows_of, told
from deadheat.charts.scales import Scale
from deadheat.stats.checks import Values
from deadheat.text import pluralize

MOST_POINTS = 200  # random splits of a name that are drawn one by one
HEADER = ("name", "split", "value", "low", "high")


@dataclass(frozen=True, slots=True, eq=False)
class SplitRange:
    """What one name scores on the standard split, with an interval, and on random splits; each may be missing."""

    name: str
    standard: float | None
    low: float | None
    high: float | None
    random: Sequence[float] | NDArray[np.float64] = ()


def standard_and_random(rows: Sequence[SplitRange], layout: Layout, *, title: str, axis: str) -> Chart:
    """Draw for each name the standard split's score with its interval and, below it, those of random splits.

    Examples
    --------
    >>> from deadheat.charts.chart import WIDE
    >>> taggers = [SplitRange("TnT", 96.46, 96.36, 96.56, [96.2, 96.3]), SplitRange("Flair", 97.7, 97.6, 97.8, [97.6])]
    >>> print(standard_and_random(taggers, WIDE, title="Splits", axis="accuracy").description)
    2 systems; the standard split's score is higher than on every random split for 2 of 2, lower for 0.
    """
    random = [np.sort(_finite(each.random)) for each in rows]
    shown = [v for each in rows for v in (each.standard, each.low, each.high) if _known(v)]
    shown += [float(end) for values in random if len(values) for end in (values[0], values[-1])]
    data = tuple(row for each in rows for row in _data(each))
    if not shown:
        return nothing(title, layout, HEADER)
    font = layout.font
    key, top = legend(_signs(font), layout)
    high = 3.4 if len(rows) <= 8 else 2.8 if len(rows) <= 16 else 2.5
    placed = rows_of([each.name for each in rows], layout, top=top, height=high * font)
    scale = placed.scale(shown)
    drawn = [key, placed.axis(scale, axis), placed.labels()]
    for i, (each, values) in enumerate(zip(rows, random, strict=True)):
        middle, apart = placed.middle(i), 0.19 * placed.height
        drawn.append(_random(each.name, values, scale, middle + apart, font))
        drawn.append(_standard(each, scale, middle - apart, font))
    said = _description(rows, random)
    return Chart(title, said, layout.width, placed.end, "".join(drawn), HEADER, data)


def _standard(row: SplitRange, scale: Scale, y: float, font: float) -> str:
    """A diamond on a line with ends."""
    said = f"{row.name}, standard split: "
    said += told(row.standard) if _known(row.standard) else "no score"
    drawn = ""
    if _known(row.low) and _known(row.high):
        said += f", interval {told(row.low)} to {told(row.high)}"
        drawn += _reach(scale(row.low), scale(row.high), y, font, said)
    if _known(row.standard):
        drawn += diamond("ink", scale(row.standard), y, 0.38 * font, said)
    return drawn


def _reach(left: float, right: float, y: float, font: float, said: str = "") -> str:
    drawn = line("rule", left, y, right, y, said)
    return drawn + "".join(line("rule", x, y - 0.26 * font, x, y + 0.26 * font) for x in (left, right))


def _random(name: str, values: Values, scale: Scale, y: float, font: float) -> str:
    """A band from the least to the greatest, with a dot for each."""
    if not len(values):
        return ""
    left, right, high = scale(values[0]), scale(values[-1]), 0.78 * font
    ends = f"{told(values[0])} to {told(values[-1])}, mean {told(float(values.mean()))}"
    said = f"{name}, {pluralize(len(values), 'random split')}: {ends}"
    drawn = rect("band", left, y - high / 2, right - left, high, said)
    for value in _thinned(values).tolist():
        drawn += circle("mark", scale(value), y, 0.15 * font, f"{name}, random split: {told(value)}")
    return drawn


def _thinned(values: Values) -> Values:
    if len(values) <= MOST_POINTS:
        return values
    return values[np.linspace(0, len(values) - 1, MOST_POINTS).round().astype(np.int64)]


def _signs(font: float) -> list[Entry]:
    wide = 2.4 * font

    def standard(x: float, y: float) -> str:
        return _reach(x - wide / 2, x + wide / 2, y, font) + diamond("ink", x, y, 0.38 * font)

    def random(x: float, y: float) -> str:
        dots = "".join(circle("mark", x + part * wide, y, 0.15 * font) for part in (-0.3, -0.05, 0.12, 0.3))
        return rect("band", x - wide / 2, y - 0.39 * font, wide, 0.78 * font) + dots

    return [
        Entry(standard, wide, "standard split, with its interval"),
        Entry(random, wide, "random splits, each and their range"),
    ]


def _data(row: SplitRange) -> list[tuple[Datum, ...]]:
    first: tuple[Datum, ...] = (row.name, "standard", datum(row.standard), datum(row.low), datum(row.high))
    values = np.asarray(row.random, dtype=np.float64).ravel().tolist()
    return [first, *((row.name, f"random {i}", datum(value), None, None) for i, value in enumerate(values, start=1))]


def _description(rows: Sequence[SplitRange], random: Sequence[Values]) -> str:
    both = [(each.standard, values) for each, values in zip(rows, random, strict=True) if len(values)]
    judged = [(score, values) for score, values in both if _known(score)]
    above = sum(score > values[-1] for score, values in judged)
    below = sum(score < values[0] for score, values in judged)
    said = f"{pluralize(len(rows), 'system')}"
    if judged:
        said += f"; the standard split's score is higher than on every random split for {above} of {len(judged)}"
        said += f", lower for {below}"
    said += "."
    if any(len(values) > MOST_POINTS for values in random):
        said += f" Of more than {MOST_POINTS} random splits, {MOST_POINTS} evenly spaced ones are drawn."
    return said


def _finite(values: Sequence[float] | NDArray[np.float64]) -> Values:
    found = np.asarray(values, dtype=np.float64).ravel()
    return found[np.isfinite(found)]


def _known(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)
