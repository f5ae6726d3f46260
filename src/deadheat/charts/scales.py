"""From values to places on a drawing, and the round numbers of an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from deadheat.charts.drawing import line, number, shortened, text, text_width
from deadheat.charts.theme import SMALL


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
        if low == high:
            return (self.start + self.end) / 2
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    def ticks(self, most: int = 7) -> list[float]:
        """Round numbers on the scale, at most so many."""
        return log_places(self.low, self.high, most) if self.log else round_places(self.low, self.high, most)


def extent(
    values: Iterable[float], *, margin: float = 0.05, include: Sequence[float] = (), log: bool = False
) -> tuple[float, float]:
    """The least and the most of the finite values, with a margin; never empty. On a log scale of the positive ones.

    Examples
    --------
    >>> extent([1.0, float("nan"), 3.0], margin=0.1)
    (0.8, 3.2)
    >>> extent([])
    (0.0, 1.0)
    >>> extent([10, 1000, 0], margin=0.5, log=True)
    (1.0, 10000.0)
    """
    known = [float(v) for v in (*values, *include) if math.isfinite(v) and (v > 0 or not log)]
    if not known:
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = min(known), max(known)
    least = max(1e-8 * max(abs(low), abs(high)), 0.0 if log else 1e-12)  # less is not seen in the numbers of an axis
    same = high - low <= least
    if log:
        factor = 2.0 if same else (high / low) ** margin
        return low / factor, high * factor
    room = max(abs(high) * 0.01, 1e-6) if same else (high - low) * margin
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
    if not low < high:
        return [low]
    for part, power in _steps(math.floor(math.log10((high - low) / max(most, 1))) - 1):
        step = part * 10.0**power
        # Bounds that are round themselves count, whatever is lost in the division.
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    # Whole numbers are divided once, so that the tick is the number one would write.
    return [float(i * part * 10**power) if power >= 0 else i * part / 10**-power for i in range(first, last + 1)]


def _steps(power: int) -> Iterator[tuple[int, int]]:
    while True:
        yield from ((1, power), (2, power), (5, power))
        power += 1


def log_places(low: float, high: float, most: int = 7) -> list[float]:
    """Powers of ten with twos and fives where there is room; within less than a power of ten as `round_places`.

    Examples
    --------
    >>> log_places(40, 3000)
    [50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0]
    >>> log_places(120, 180, 4)
    [120.0, 140.0, 160.0, 180.0]
    """
    tens = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for parts in ((1, 2, 5), (1, 3), (1,)):
        found = [float(f"{part}e{ten}") for ten in tens for part in parts]
        found = [each for each in found if low <= each <= high]
        if len(found) < 2:
            return round_places(low, high, most)
        if len(found) <= most:
            return found
    return found[:: math.ceil(len(found) / most)]


def shown(value: float, ticks: Sequence[float] = ()) -> str:
    """A number of an axis, with the decimals that tell it from its neighbours.

    Examples
    --------
    >>> shown(83.0, [83.0, 83.5]), shown(83.5, [83.0, 83.5]), shown(2000.0), shown(-0.5), shown(0.00001)
    ('83.0', '83.5', '2,000', '−0.5', '0.00001')
    """
    return fixed(value, max(map(_decimals, (*ticks, value))))


def _decimals(value: float) -> int:
    exponent = Decimal(f"{value:.10g}").normalize().as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def fixed(value: float, decimals: int, *, sign: bool = False) -> str:
    """A number with so many decimals and a real minus; a dash where there is none.

    Examples
    --------
    >>> fixed(-1234.5, 2), fixed(0.004, 1, sign=True), fixed(0.26, 1, sign=True), fixed(float("nan"), 2)
    ('−1,234.50', '0.0', '+0.3', '–')
    """
    if not math.isfinite(value):
        return "–"
    value = round(value, decimals) + 0.0
    return f"{value:{'+' if sign and value else ''},.{decimals}f}".replace("-", "−")


def brief(value: float) -> str:
    """A number on its own, with the digits it has, up to six.

    Examples
    --------
    >>> brief(5000), brief(0.9), brief(-1234567.8), brief(1 / 3), brief(2e-9)
    ('5,000', '0.9', '−1,234,568', '0.333333', '2e−09')
    """
    if not math.isfinite(value):
        return "–"
    whole = abs(value) < 1e15 and (abs(value) >= 1e5 or value == round(value))
    written = f"{value:,.0f}" if whole else f"{value:,.6g}"
    return written.replace("-", "−") if value else "0"


def decimals_for(low: float, high: float) -> int:
    """How many decimals to write of values within a range: two for percent, more where the range is narrow.

    Examples
    --------
    >>> decimals_for(82.6, 84.7), decimals_for(0.2, 1), decimals_for(0.81, 0.86), decimals_for(100, 5000)
    (2, 2, 4, 0)
    """
    size = math.floor(math.log10(max(high - low, 1e-9)))
    if size < -1:
        return min(2 - size, 8)
    return 2 if size < 2 else max(0, 2 - size)


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places as near as can be to the wanted ones (least squares), each `gap` from the next, between two bounds.

    Where there is no room for all, gaps are smaller. Equal wishes keep their order.

    Examples
    --------
    >>> spread([10, 10, 30], 4, 0, 100)
    [8.0, 12.0, 30.0]
    """
    if not wanted:
        return []
    gap = min(gap, (high - low) / max(len(wanted) - 1, 1))
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    # Without their gaps the places have only to be in order: neighbours that are not are put together at their mean.
    blocks: list[tuple[float, int]] = []
    for rank, i in enumerate(order):
        mean, size = float(wanted[i]) - rank * gap, 1
        while blocks and blocks[-1][0] > mean:
            before, count = blocks.pop()
            mean, size = (mean * size + before * count) / (size + count), size + count
        blocks.append((mean, size))
    top = high - (len(wanted) - 1) * gap
    level = [min(max(mean, low), max(top, low)) for mean, size in blocks for _ in range(size)]
    places = [0.0] * len(wanted)
    for rank, i in enumerate(order):
        places[i] = level[rank] + rank * gap
    return places


def fitting_ticks(scale: Scale, font: float, most: int = 7) -> list[float]:
    """Round numbers whose names do not touch each other on a level axis."""
    for count in range(most, 1, -1):
        ticks = scale.ticks(count)
        sides = [(scale(t), text_width(shown(t, ticks), SMALL * font) / 2) for t in ticks]
        if all(abs(b - a) >= half_a + half_b + 0.6 * font for (a, half_a), (b, half_b) in pairwise(sides)):
            return ticks
    return scale.ticks(1)


def bottom_axis(scale: Scale, y: float, top: float, font: float, *, title: str = "", most: int = 7) -> str:
    """Upright lines from `top` to `y` at round numbers, the numbers below them, and below these what they are."""
    ticks = fitting_ticks(scale, font, most)
    drawn = [line("grid", scale(each), top, scale(each), y) for each in ticks]
    drawn += [
        text(scale(each), y + 1.25 * font, shown(each, ticks), kind="soft small", anchor="middle") for each in ticks
    ]
    if title:
        drawn.append(axis_title(scale, y + 2.7 * font, font, title))
    return "".join(drawn)


def axis_title(scale: Scale, y: float, font: float, title: str) -> str:
    """What a level axis shows, below its middle; one that is wider than the axis ends with it instead."""
    left, right = sorted((scale.start, scale.end))
    if text_width(title, font) <= right - left:
        return text((left + right) / 2, y, title, kind="soft", anchor="middle")
    said = shortened(title, right, font)
    return text(right, y, said, kind="soft", anchor="end", told="" if said == title else title)


def left_axis(scale: Scale, x: float, right: float, font: float, *, title: str = "", most: int = 7) -> str:
    """Level lines from `x` to `right` at round numbers, the numbers beside them, and above them what they are."""
    ticks = scale.ticks(most)
    drawn = [line("grid", x, scale(each), right, scale(each)) for each in ticks]
    drawn += [
        text(x - 0.5 * font, scale(each) + 0.32 * font, shown(each, ticks), kind="soft small", anchor="end")
        for each in ticks
    ]
    if title:
        said = shortened(title, right, font)
        told = "" if said == title else title
        drawn.append(text(0, min(scale.start, scale.end) - 0.9 * font, said, kind="soft", told=told))
    return "".join(drawn)


def left_room(scale: Scale, font: float, most: int = 7) -> float:
    """How much room the numbers of `left_axis` take."""
    ticks = scale.ticks(most)
    return max((text_width(shown(each, ticks), SMALL * font) for each in ticks), default=0.0) + 0.6 * font


def places(values: Sequence[float]) -> str:
    """Coordinates one after the other."""
    return " ".join(map(number, values))
