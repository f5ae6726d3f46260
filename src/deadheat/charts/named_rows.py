"""Charts of one row a name: names to the left, a common scale below, and a legend in words above."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from deadheat.charts.chart import Chart, Datum, Layout
from deadheat.charts.drawing import label, number, path, shortened, text, text_width
from deadheat.charts.scales import Scale, bottom_axis, extent, fixed
from deadheat.charts.theme import SMALL

NOTHING = "nothing to show"
NAMES_SHARE = 0.36  # of the width, at most, for the names


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a legend: a sign `width` wide, drawn about a place, and what it means."""

    sign: Callable[[float, float], str]
    width: float
    said: str


@dataclass(frozen=True, slots=True)
class Rows:
    """Where rows lie: each `height` high, from `top` on, between `left` and `right`."""

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
        """Where a chart with an axis of two lines of text ends."""
        return self.bottom + 3.3 * self.layout.font

    def middle(self, row: int) -> float:
        """The level of a row."""
        return self.top + self.height * (row + 0.5)

    def labels(self) -> str:
        """The names of the rows."""
        font, room = self.layout.font, self.left - 1.1 * self.layout.font
        return "".join(
            label(self.left - 0.8 * font, self.middle(i) + 0.34 * font, name, room, font, anchor="end")
            for i, name in enumerate(self.names)
        )

    def scale(self, values: Iterable[float]) -> Scale:
        """From values to places between the sides."""
        low, high = extent(values, margin=0.04)
        return Scale(low, high, self.left, self.right)

    def axis(self, scale: Scale, title: str) -> str:
        """Upright lines at round numbers, the numbers, and what they are."""
        return bottom_axis(scale, self.bottom, self.top, self.layout.font, title=title)


def rows_of(names: Sequence[str], layout: Layout, *, top: float, height: float) -> Rows:
    """Rows with as much room for their names as these need, up to a share of the width."""
    font = layout.font
    widest = max(text_width(name, font) for name in names)
    left = min(max(1.03 * widest, font), NAMES_SHARE * layout.width) + 1.1 * font
    return Rows(tuple(names), layout, left, layout.width - 1.5 * font, top, height)


def legend(entries: Sequence[Entry], layout: Layout) -> tuple[str, float]:
    """Signs with their meanings, on as many lines as they take, and the height of all of them."""
    font = layout.font
    start = 0.3 * font
    x, y, drawn = start, 1.2 * font, []
    for entry in entries:
        said = shortened(entry.said, layout.width - start - entry.width - 0.6 * font, SMALL * font)
        wide = entry.width + 0.6 * font + text_width(said, SMALL * font)
        if x > start and x + wide > layout.width:
            x, y = start, y + 1.6 * font
        drawn.append(entry.sign(x + entry.width / 2, y - 0.32 * font))
        told = "" if said == entry.said else entry.said
        drawn.append(text(x + entry.width + 0.6 * font, y, said, kind="soft small", told=told))
        x += wide + 1.8 * font
    return "".join(drawn), y + 0.9 * font


def nothing(title: str, layout: Layout, header: tuple[str, ...] = ("name",)) -> Chart:
    """A chart of no data, which says so.

    Examples
    --------
    >>> from deadheat.charts.chart import WIDE
    >>> nothing("Scores", WIDE).description
    'Nothing to show.'
    """
    height = 4 * layout.font
    said = text(layout.width / 2, height / 2 + 0.3 * layout.font, NOTHING, kind="soft", anchor="middle")
    return Chart(title, "Nothing to show.", layout.width, height, said, header, ())


def diamond(kind: str, x: float, y: float, r: float, said: str = "") -> str:
    """A square on its corner."""
    left, right, up, down = map(number, (x - r, x + r, y - r, y + r))
    return path(kind, f"M{number(x)} {up}L{right} {number(y)}L{number(x)} {down}L{left} {number(y)}Z", said)


def told(value: float) -> str:
    """A value for a tip.

    Examples
    --------
    >>> told(90.6412), told(0.00123), told(12345.6), told(float("nan"))
    ('90.64', '0.00123', '12,345.60', '–')
    """
    return f"{value:.3g}" if 0 < abs(value) < 0.1 else fixed(value, 2)


def datum(value: float | None) -> Datum:
    """A value for a table; what is no number is left out.

    Examples
    --------
    >>> datum(3), datum(2.5), datum(float("nan")), datum(None)
    (3, 2.5, None, None)
    """
    if value is None or not math.isfinite(value):
        return None
    return value if isinstance(value, int) else float(value)
