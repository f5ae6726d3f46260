"""From values to places on a drawing, and the round numbers of an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.charts.drawing import line, number, text


@dataclass(frozen=True, slots=True)
class Scale:
    """Values between `low` and `high` between the places `start` and `end`; logarithmic if asked."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value."""
        low, high, at = (math.log(each) if self.log else each for each in (self.low, self.high, value))
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    def ticks(self, most: int = 7) -> list[float]:
        """Round numbers on the scale, at most so many."""
        return log_places(self.low, self.high, most) if self.log else round_places(self.low, self.high, most)


def extent(values: Iterable[float], *, margin: float = 0.05, include: Sequence[float] = ()) -> tuple[float, float]:
    """The least and the most of the finite values, with a margin; never empty.

    Examples
    --------
    >>> extent([1.0, float("nan"), 3.0], margin=0.1)
    (0.8, 3.2)
    >>> extent([])
    (0.0, 1.0)
    """
    known = np.fromiter((v for v in (*values, *include) if math.isfinite(v)), dtype=float)
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    room = (high - low) * margin or max(abs(high) * 0.01, 1e-6)
    return low - room, high + room


def round_places(low: float, high: float, most: int = 7) -> list[float]:
    """Round numbers between two, as many as there is room for.

    Examples
    --------
    >>> round_places(82.63, 84.75)
    [83.0, 83.5, 84.0, 84.5]
    >>> round_places(0, 1, 3)
    [0.0, 0.5, 1.0]
    """
    span = high - low
    power = 10.0 ** math.floor(math.log10(span / max(most, 1)))
    step = power * next((part for part in (1, 2, 5, 10, 20) if span / (power * part) <= most), 50)
    while math.floor(high / step) - math.ceil(low / step) + 1 > most:
        step *= 2
    return [round(step * i, 12) + 0.0 for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def log_places(low: float, high: float, most: int = 7) -> list[float]:
    """Powers of ten with twos and fives where there is room.

    Examples
    --------
    >>> log_places(40, 3000)
    [50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0]
    """
    tens = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for parts in ((1, 2, 5), (1, 3), (1,)):
        found = [part * 10.0**ten for ten in tens for part in parts]
        found = [each for each in found if low <= each <= high]
        if len(found) <= most:
            return found
    return found[:: math.ceil(len(found) / most)]


def shown(value: float, ticks: Sequence[float] = ()) -> str:
    """A number of an axis, with the decimals that tell it from its neighbours.

    Examples
    --------
    >>> shown(83.0, [83.0, 83.5]), shown(83.5, [83.0, 83.5]), shown(2000.0)
    ('83.0', '83.5', '2,000')
    """
    decimals = max((len(f"{each:.10g}".partition(".")[2]) for each in (*ticks, value)), default=0)
    return f"{value:,.{decimals}f}"


def bottom_axis(scale: Scale, y: float, top: float, font: float, *, title: str = "", most: int = 7) -> str:
    """Upright lines from `top` to `y` at round numbers, the numbers below them, and below these what they are."""
    ticks = scale.ticks(most)
    drawn = [line("grid", scale(each), top, scale(each), y) for each in ticks]
    drawn += [
        text(scale(each), y + 1.25 * font, shown(each, ticks), kind="soft small", anchor="middle") for each in ticks
    ]
    if title:
        drawn.append(text((scale.start + scale.end) / 2, y + 2.7 * font, title, kind="soft", anchor="middle"))
    return "".join(drawn)


def left_axis(scale: Scale, x: float, right: float, font: float, *, title: str = "", most: int = 7) -> str:
    """Level lines from `x` to `right` at round numbers, the numbers beside them, and above them what they are."""
    ticks = scale.ticks(most)
    drawn = [line("grid", x, scale(each), right, scale(each)) for each in ticks]
    drawn += [
        text(x - 0.5 * font, scale(each) + 0.32 * font, shown(each, ticks), kind="soft small", anchor="end")
        for each in ticks
    ]
    if title:
        drawn.append(text(0, min(scale.start, scale.end) - 0.9 * font, title, kind="soft"))
    return "".join(drawn)


def places(values: Sequence[float]) -> str:
    """Coordinates one after the other."""
    return " ".join(map(number, values))
