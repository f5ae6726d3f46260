"""From values to positions: scales, ticks, axes, legends, and rows with names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import count, pairwise
from typing import TypeVar

import numpy as np

from deadheat.charts.chart import Layout
from deadheat.charts.drawing import SMALL, label, line, shorten, text, text_width

T = TypeVar("T")
NAMES_SHARE = 0.36  # of the width, at most, for the names of rows


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values between `low` and `high` to positions between `start` and `end`, linearly or logarithmically."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The position of a value."""
        low, high, at = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        if low == high:
            return (self.start + self.end) / 2
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    def format(self, value: float, *, sign: bool = False) -> str:
        """A value with the decimals that suit the range of the scale."""
        return fixed(value, decimals_for(self.low, self.high), sign=sign)

    def interval(self, low: float, high: float, *, sign: bool = False) -> str:
        """An interval in brackets."""
        return f"[{self.format(low, sign=sign)}, {self.format(high, sign=sign)}]"

    def ticks(self, most: int = 7) -> list[float]:
        """Round numbers on the scale, at most `most`."""
        return log_ticks(self.low, self.high, most) if self.log else round_ticks(self.low, self.high, most)


def finite(values: Iterable[float | None]) -> list[float]:
    """The values that are finite numbers."""
    return [float(value) for value in values if value is not None and math.isfinite(value)]


def thin(items: Sequence[T], most: int) -> list[T]:
    """At most `most` evenly spaced items, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]


def extent(
    values: Iterable[float], *, margin: float = 0.05, include: Sequence[float] = (), log: bool = False
) -> tuple[float, float]:
    """Minimum and maximum of the finite values with a margin; on a log scale, of the positive ones."""
    numbers = [value for value in finite((*values, *include)) if value > 0 or not log]
    if not numbers:
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = min(numbers), max(numbers)
    least = max(1e-8 * max(abs(low), abs(high)), 0.0 if log else 1e-12)  # less is not visible in tick labels
    same = high - low <= least
    if log:
        factor = 2.0 if same else math.exp(margin * (math.log(high) - math.log(low)))
        return low / factor or low, high * factor  # the smallest numbers cannot be divided
    padding = max(abs(high) * 0.01, 1e-6) if same else (high - low) * margin
    return low - padding, high + padding


def round_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Round numbers between two, at most `most`."""
    if not low < high:
        return [low]
    lowest = math.floor(math.log10((high - low) / max(most, 1))) - 1
    for i in count():
        factor, power = (1, 2, 5)[i % 3], lowest + i // 3
        step = factor * 10.0**power
        # The tolerance keeps bounds that are round numbers themselves.
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    # One division of integers, so that 0.3 is 0.3 and not 0.30000000000000004.
    return [float(i * factor * 10**power) if power >= 0 else i * factor / 10**-power for i in range(first, last + 1)]


def log_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Powers of ten, with twos and fives where they fit; `round_ticks` within less than a power of ten."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        ticks = [float(f"{factor}e{power}") for power in powers for factor in factors]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) < 2:
            return round_ticks(low, high, most)
        if len(ticks) <= most:
            return ticks
    return ticks[:: math.ceil(len(ticks) / most)]


def tick_labels(ticks: Sequence[float]) -> dict[float, str]:
    """Ticks with their labels, which all have the decimals of the most precise one."""
    decimals = max(map(_decimals, ticks), default=0)
    return {tick: fixed(tick, decimals) for tick in ticks}


def _decimals(value: float) -> int:
    exponent = Decimal(f"{value:.10g}").normalize().as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def fixed(value: float, decimals: int, *, sign: bool = False) -> str:
    """A number with fixed decimals and a real minus sign; a dash where it is missing."""
    if not math.isfinite(value):
        return "–"
    value = round(value, decimals) + 0.0
    return f"{value:{'+' if sign and value else ''},.{decimals}f}".replace("-", "−")


def brief(value: float, digits: int = 6) -> str:
    """A number with the digits it has, at most `digits`."""
    if not math.isfinite(value):
        return "–"
    whole = abs(value) < 1e15 and (abs(value) >= 1e5 or value == round(value))
    written = f"{value:,.0f}" if whole else f"{value:,.{digits}g}"
    return written.replace("-", "−") if value else "0"


def decimals_for(low: float, high: float) -> int:
    """Decimals for values within a range: two for percent, more where the range is narrow."""
    size = math.floor(math.log10(max(high - low, 1e-9)))
    if size < -1:
        return min(2 - size, 8)
    return 2 if size < 2 else max(0, 2 - size)


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions nearest to the wanted ones (least squares), at least `gap` apart, between two bounds.

    Where there is not enough space the gaps are smaller. Equal wishes keep their order.
    """
    from scipy.optimize import isotonic_regression

    if not wanted:
        return []
    gaps = np.arange(len(wanted)) * min(gap, (high - low) / max(len(wanted) - 1, 1))
    order = np.argsort(wanted, kind="stable")
    levels = isotonic_regression(np.asarray(wanted, dtype=float)[order] - gaps).x
    positions = np.empty(len(wanted))
    positions[order] = np.clip(levels, low, max(high - gaps[-1], low)) + gaps
    return list(positions.tolist())


def fitting_ticks(scale: Scale, font: float, most: int = 7) -> dict[float, str]:
    """Round numbers whose labels do not touch on a horizontal axis."""
    for fewer in range(most, 1, -1):
        ticks = tick_labels(scale.ticks(fewer))
        sides = [(scale(tick), text_width(label, SMALL * font) / 2) for tick, label in ticks.items()]
        if all(abs(b - a) >= half_a + half_b + 0.6 * font for (a, half_a), (b, half_b) in pairwise(sides)):
            return ticks
    return tick_labels(scale.ticks(1))


def bottom_axis(scale: Scale, y: float, top: float, font: float, *, title: str = "", most: int = 7) -> str:
    """Vertical grid lines from `top` to `y`, their labels below, and the title of the axis below these."""
    ticks = fitting_ticks(scale, font, most)
    drawn = [line("grid", scale(tick), top, scale(tick), y) for tick in ticks]
    for tick, number in ticks.items():
        drawn.append(text(scale(tick), y + 1.25 * font, number, kind="soft small", anchor="middle"))
    if title:
        drawn.append(_axis_title(scale, y + 2.7 * font, font, title))
    return "".join(drawn)


def _axis_title(scale: Scale, y: float, font: float, title: str) -> str:
    """Centred below the axis; a title wider than the axis is aligned to its right end."""
    left, right = sorted((scale.start, scale.end))
    if text_width(title, font) <= right - left:
        return text((left + right) / 2, y, title, kind="soft", anchor="middle")
    return label(right, y, title, right, font, kind="soft", anchor="end")


def left_axis(scale: Scale, x: float, right: float, font: float, *, title: str = "", most: int = 7) -> str:
    """Horizontal grid lines from `x` to `right`, their labels to the left, and the title of the axis above."""
    ticks = tick_labels(scale.ticks(most))
    drawn = [line("grid", x, scale(tick), right, scale(tick)) for tick in ticks]
    for tick, number in ticks.items():
        drawn.append(text(x - 0.5 * font, scale(tick) + 0.32 * font, number, kind="soft small", anchor="end"))
    if title:
        drawn.append(label(0, min(scale.start, scale.end) - 0.9 * font, title, right, font, kind="soft"))
    return "".join(drawn)


def left_margin(scale: Scale, font: float, most: int = 7) -> float:
    """The width of the labels of `left_axis`."""
    labels = tick_labels(scale.ticks(most)).values()
    return max((text_width(label, SMALL * font) for label in labels), default=0.0) + 0.6 * font


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A symbol, drawn around a point and `width` wide, and its meaning."""

    symbol: Callable[[float, float], str]
    width: float
    meaning: str


def legend(entries: Sequence[LegendEntry], layout: Layout) -> tuple[str, float]:
    """Symbols with their meanings, on as many lines as necessary, and the height of the legend."""
    font, start = layout.font, 0.3 * layout.font
    x, y, drawn = start, 1.2 * font, []
    for entry in entries:
        meaning = shorten(entry.meaning, layout.width - start - entry.width - 0.6 * font, SMALL * font)
        width = entry.width + 0.6 * font + text_width(meaning, SMALL * font)
        if x > start and x + width > layout.width:
            x, y = start, y + 1.6 * font
        drawn.append(entry.symbol(x + entry.width / 2, y - 0.32 * font))
        tooltip = "" if meaning == entry.meaning else entry.meaning
        drawn.append(text(x + entry.width + 0.6 * font, y, meaning, kind="soft small", tooltip=tooltip))
        x += width + 1.8 * font
    return "".join(drawn), y + 0.9 * font


@dataclass(frozen=True, slots=True)
class Rows:
    """Named rows, each `height` high, from `top` on, between `left` and `right`."""

    names: tuple[str, ...]
    layout: Layout
    left: float
    right: float
    top: float
    height: float

    @property
    def bottom(self) -> float:
        return self.top + self.height * len(self.names)

    @property
    def end(self) -> float:
        """The height of a chart with an axis below the rows."""
        return self.bottom + 3.3 * self.layout.font

    def middle(self, row: int) -> float:
        """The vertical centre of a row."""
        return self.top + self.height * (row + 0.5)

    def labels(self) -> str:
        """The names of the rows."""
        font, width = self.layout.font, self.left - 1.1 * self.layout.font
        return "".join(
            label(self.left - 0.8 * font, self.middle(i) + 0.34 * font, name, width, font, anchor="end")
            for i, name in enumerate(self.names)
        )

    def axis(self, scale: Scale, title: str) -> str:
        """The axis below the rows."""
        return bottom_axis(scale, self.bottom, self.top, self.layout.font, title=title)


def place_rows(names: Sequence[str], layout: Layout, *, top: float, height: float) -> Rows:
    """Rows with as much space for their names as these need, up to a share of the width."""
    font = layout.font
    widest = max(text_width(name, font) for name in names)
    left = min(max(1.03 * widest, font), NAMES_SHARE * layout.width) + 1.1 * font
    return Rows(tuple(names), layout, left, layout.width - 1.5 * font, top, height)
