"""Scores or differences with their intervals, one row each, and the matrix of all differences between systems."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from deadheat.charts.chart import Chart, Layout, datum, empty_chart
from deadheat.charts.drawing import SMALL, circle, label, line, rect, text, text_width, triangle
from deadheat.charts.scales import LegendEntry, Rows, Scale, decimals_for, extent, finite, fixed, legend, place_rows
from deadheat.errors import NameUnknown
from deadheat.results.format import P_VALUE, show
from deadheat.text import capitalize, pluralize

INTERVAL_HEADER = ("name", "value", "low", "high")
PAIR_HEADER = ("row", "column", "difference", "p", "significant")
WIDTH_FOR_BOUNDS = 500  # from this width on the bounds are written out
# The strongest fill on which text, or a triangle alone, has enough contrast on light and dark backgrounds.
STRONGEST, STRONGEST_BARE = 0.4, 0.6
MOST_WITH_NUMBERS = 12
TRIANGLE = 0.26  # size, in multiples of the font size
NARROWEST = 6.0  # width of a cell; with many systems the drawing is wider than the layout instead


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
            return empty_chart(self.title, layout, INTERVAL_HEADER)
        font = layout.font
        values = [value for row in self.rows for value in (row.value, *row.bounds)]
        low, high = extent(values, margin=0.04, include=(0.0,) if self.zero else ())
        key, top = legend(_interval_legend(font), layout) if self.zero else ("", 0.3 * font)
        rows = place_rows([row.name for row in self.rows], layout, top=top, height=2 * font)
        rows, numbers = self._numbers(rows, Scale(low, high, 0, 1))
        scale = Scale(low, high, rows.left, rows.right)
        drawn = [key, rows.axis(scale, self.axis), rows.labels(), numbers]
        if self.zero:
            drawn.append(line("axis", scale(0), rows.top, scale(0), rows.bottom))
        drawn += [_interval_mark(row, scale, rows.middle(i), font, zero=self.zero) for i, row in enumerate(self.rows)]
        table = tuple((row.name, datum(row.value), datum(row.low), datum(row.high)) for row in self.rows)
        description = self.description or _interval_description(self.rows, scale, zero=self.zero)
        return Chart(self.title, description, layout.width, rows.end, "".join(drawn), INTERVAL_HEADER, table)

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


def _interval_legend(font: float) -> list[LegendEntry]:
    r = 0.34 * font
    return [
        LegendEntry(partial(circle, "mark", r=r), 2 * r, "interval excludes zero"),
        LegendEntry(partial(circle, "hollow", r=r), 2 * r, "interval includes zero"),
    ]


def _interval_mark(row: IntervalRow, scale: Scale, y: float, font: float, *, zero: bool) -> str:
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


def _interval_description(rows: Sequence[IntervalRow], scale: Scale, *, zero: bool) -> str:
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


@dataclass(frozen=True, slots=True)
class PairCell:
    """The score of `a` minus that of `b`, its p-value (NaN if there is none); `note` is added to the tooltip."""

    a: str
    b: str
    difference: float
    p: float
    significant: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class PairMatrix:
    """A cell for every pair, row minus column; strong colours are large differences, triangles significant ones.

    Examples
    --------
    >>> from deadheat.charts.chart import WIDE
    >>> matrix = PairMatrix(("a", "b"), (PairCell("a", "b", 1.5, 0.01, True),), title="Pairs", axis="LAS")
    >>> print(matrix.draw(WIDE).description)
    LAS, row minus column, for 2 systems. 1 of 1 pair differs significantly. Largest difference: a is 1.50 above b.
    """

    names: tuple[str, ...]
    pairs: tuple[PairCell, ...]
    title: str
    axis: str

    def __post_init__(self) -> None:
        known = set(self.names)
        for name in (name for pair in self.pairs for name in (pair.a, pair.b)):
            if name not in known:
                raise NameUnknown("system", name, self.names)

    def draw(self, layout: Layout) -> Chart:
        if not self.names:
            return empty_chart(self.title, layout, PAIR_HEADER)
        cells = {
            (pair.b, pair.a): replace(pair, a=pair.b, b=pair.a, difference=-pair.difference) for pair in self.pairs
        }
        cells |= {(pair.a, pair.b): pair for pair in self.pairs}
        largest = max(map(abs, finite(pair.difference for pair in self.pairs)), default=0.0)
        key, top = legend(_pair_legend(layout.font), layout)
        grid = _grid(self.names, self.pairs, layout, top, decimals_for(0, largest or 1.0))
        drawn = [key]
        for i, row in enumerate(self.names):
            drawn += [_column_name(i, row, grid, len(self.names)), _row_name(i, row, grid, len(self.names))]
            drawn += [_cell(cells.get((row, name)), (i, j), grid, largest) for j, name in enumerate(self.names)]
        right, bottom = grid.corner(len(self.names), len(self.names))
        table = tuple(
            (pair.a, pair.b, datum(pair.difference), datum(pair.p), "yes" if pair.significant else "no")
            for pair in self.pairs
        )
        description = _pair_description(self, grid.decimals)
        size = max(layout.width, right + 0.5 * layout.font), bottom + 0.4 * layout.font
        return Chart(self.title, description, *size, "".join(drawn), PAIR_HEADER, table)


@dataclass(frozen=True, slots=True)
class _Grid:
    """Positions of the cells, and what is written in and above them."""

    font: float
    left: float
    top: float
    width: float  # of a cell
    height: float
    heads: str  # "horizontal" or "vertical" names, or "numbers"
    decimals: int
    lines: int  # lines of text in a cell: the difference, and p

    def corner(self, row: int, column: int) -> tuple[float, float]:
        return self.left + column * self.width, self.top + row * self.height


def _pair_legend(font: float) -> list[LegendEntry]:
    def swatch(kind: str) -> Callable[[float, float], str]:
        return lambda x, y: rect(kind, x - 0.5 * font, y - 0.4 * font, font, 0.8 * font, opacity=STRONGEST)

    def triangles(x: float, y: float) -> str:
        r = TRIANGLE * font
        return triangle("ink", x - 0.45 * font, y, r, up=True) + triangle("ink", x + 0.45 * font, y, r, up=False)

    return [
        LegendEntry(swatch("gain"), font, "row above column"),
        LegendEntry(swatch("loss"), font, "row below column"),
        LegendEntry(triangles, 1.5 * font, "significant"),
    ]


def _grid(names: Sequence[str], pairs: Sequence[PairCell], layout: Layout, top: float, decimals: int) -> _Grid:
    font, small, count = layout.font, SMALL * layout.font, len(names)
    widest = max(text_width(name, font) for name in names)
    side = min(1.03 * widest, 0.3 * layout.width) + 0.8 * font
    widest_cell, margin = 6.5 * font, 0.5 * font
    width = min((layout.width - side - margin) / count, widest_cell)
    if 1.03 * SMALL * widest <= width - 4:
        heads = "horizontal"
    else:
        heads = "vertical" if SMALL * widest <= 8 * font and width >= 1.3 * small else "numbers"
    if heads == "numbers":
        side += text_width(str(count), small) + 0.6 * font
        width = min((layout.width - side - margin) / count, widest_cell)
    width = max(width, NARROWEST)
    head = SMALL * widest if heads == "vertical" else small
    lines = _lines(pairs, width - 0.5 * font, font, decimals, count)
    height = (min(max(width, 1.35 * font), 2.4 * font), 2.5 * font, 3.3 * font)[lines]
    return _Grid(font, side, top + head + 0.9 * font, width, height, heads, decimals, lines)


def _lines(pairs: Sequence[PairCell], width: float, font: float, decimals: int, count: int) -> int:
    """How many numbers fit into a cell: none, the difference, or the p-value as well."""
    differences = [fixed(sign * pair.difference, decimals, sign=True) for pair in pairs for sign in (1, -1)]
    if count > MOST_WITH_NUMBERS or any(text_width(number, font, bold=True) > width for number in differences):
        return 0
    return 1 if any(text_width(_p(pair.p), SMALL * font) > width for pair in pairs) else 2


def _p(p: float) -> str:
    if not math.isfinite(p):
        return ""
    shown = show(p, P_VALUE)
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"


def _column_name(i: int, name: str, grid: _Grid, count: int) -> str:
    """The name or number above a column; numbers are left out where they do not fit."""
    font, small = grid.font, SMALL * grid.font
    middle, y = grid.left + (i + 0.5) * grid.width, grid.top - 0.5 * font
    if grid.heads == "vertical":
        return text(middle + 0.35 * small, y, name, kind="small", rotate=-90)
    if grid.heads == "horizontal":
        return text(middle, y, name, kind="small", anchor="middle")
    width = text_width(str(count), small) + 0.4 * font
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, count) if step * grid.width >= width or step == count)
    wanted = (i + 1) % step == 0 or (i == 0 and (step - 1) * grid.width >= width)
    return text(middle, y, str(i + 1), kind="soft small", anchor="middle") if wanted else ""


def _row_name(i: int, name: str, grid: _Grid, count: int) -> str:
    font, small = grid.font, SMALL * grid.font
    end, y = grid.left - 0.6 * font, grid.top + (i + 0.5) * grid.height + 0.34 * font
    if grid.heads != "numbers":
        return label(end, y, name, end, font, anchor="end")
    drawn = text(end, y - 0.02 * font, str(i + 1), kind="soft small", anchor="end")
    end -= text_width(str(count), small) + 0.6 * font
    return drawn + label(end, y, name, end, font, anchor="end")


def _cell(pair: PairCell | None, position: tuple[int, int], grid: _Grid, largest: float) -> str:
    font, (x, y) = grid.font, grid.corner(*position)
    size = x + 0.5, y + 0.5, grid.width - 1, grid.height - 1
    if pair is None:
        return rect("none", *size, opacity=0.5) if position[0] == position[1] else rect("frame", *size)
    missing = not math.isfinite(pair.difference)
    kind = "none" if not pair.difference or missing else "gain" if pair.difference > 0 else "loss"
    strongest = STRONGEST if grid.lines else STRONGEST_BARE
    opacity = 0.5 if kind == "none" else 0.06 + (strongest - 0.06) * abs(pair.difference) / largest
    drawn = [rect(kind, *size, _pair_tooltip(pair, grid.decimals), opacity=opacity)]
    middle, significant = x + grid.width / 2, pair.significant and not missing
    if grid.lines:
        level = y + grid.height / 2 + (-0.1 if grid.lines == 2 else 0.42) * font
        difference = fixed(pair.difference, grid.decimals, sign=True)
        drawn.append(text(middle, level, difference, kind="strong" if significant else "", anchor="middle"))
        if grid.lines == 2:
            drawn.append(text(middle, level + 1.15 * font, _p(pair.p), kind="small", anchor="middle"))
    if significant:
        at = (x + grid.width - 0.6 * font, y + 0.6 * font) if grid.lines else (middle, y + grid.height / 2)
        drawn.append(triangle("ink", *at, TRIANGLE * min(font, grid.width * 1.6), up=pair.difference > 0))
    return "".join(drawn)


def _pair_tooltip(pair: PairCell, decimals: int) -> str:
    parts = [fixed(pair.difference, decimals, sign=True), _p(pair.p)]
    parts.append("significant" if pair.significant else "not significant")
    note = f". {pair.note}" if pair.note else ""
    return f"{pair.a} minus {pair.b}: {', '.join(filter(None, parts))}{note}"


def _pair_description(matrix: PairMatrix, decimals: int) -> str:
    pairs = matrix.pairs
    significant = sum(pair.significant for pair in pairs)
    verb = "differs" if significant == 1 else "differ"
    description = f"{capitalize(matrix.axis)}, row minus column, for {pluralize(len(matrix.names), 'system')}."
    description += f" {significant} of {pluralize(len(pairs), 'pair')} {verb} significantly."
    differences = [pair for pair in pairs if math.isfinite(pair.difference)]
    if differences:
        largest = max(differences, key=lambda pair: abs(pair.difference))
        above, below = (largest.a, largest.b) if largest.difference >= 0 else (largest.b, largest.a)
        description += f" Largest difference: {above} is {fixed(abs(largest.difference), decimals)} above {below}."
    return description
