"""All pairs of systems: who is better than whom, by how much, and whether it is told apart from chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from deadheat.charts.chart import Chart, Layout
from deadheat.charts.drawing import label, rect, text, text_width, triangle
from deadheat.charts.named_rows import Entry, datum, legend, nothing
from deadheat.charts.scales import decimals_for, fixed
from deadheat.charts.theme import SMALL
from deadheat.errors import NameUnknown
from deadheat.text import pluralize

HEADER = ("row", "column", "difference", "p", "told apart")
# The deepest fill on which text, and where there is none a triangle, is still seen with ease, on either paper.
DEEPEST, DEEPEST_BARE = 0.4, 0.6
MOST_WITH_NUMBERS = 12
NARROWEST = 6.0  # a cell; the drawing gets wider than the room rather than that


@dataclass(frozen=True, slots=True)
class PairCell:
    """Two systems: the score of `a` less that of `b`, its p-value (NaN if there is none), and whether it is clear."""

    a: str
    b: str
    difference: float
    p: float
    clear: bool
    told: str = ""


@dataclass(frozen=True, slots=True)
class _Grid:
    """Where the cells lie, and what is written into them and above them."""

    font: float
    left: float
    top: float
    width: float  # of a cell
    height: float
    heads: str  # "level" names, "turned" names, or "numbers"
    decimals: int
    written: int  # lines of numbers in a cell: the difference, and p

    def corner(self, row: int, column: int) -> tuple[float, float]:
        return self.left + column * self.width, self.top + row * self.height


def pair_matrix(names: Sequence[str], pairs: Sequence[PairCell], layout: Layout, *, title: str, axis: str) -> Chart:
    """A cell for every pair, the row less the column, the deeper the larger; a triangle where the pair is told apart.

    Examples
    --------
    >>> from deadheat.charts.chart import WIDE
    >>> chart = pair_matrix(["a", "b"], [PairCell("a", "b", 1.5, 0.01, True)], WIDE, title="Pairs", axis="LAS")
    >>> print(chart.description)
    LAS, the row less the column, for 2 systems. Told apart: 1 of 1 pair. The largest difference: a is 1.50 above b.
    """
    if not names:
        return nothing(title, layout, HEADER)
    cells = _both_ways(names, pairs)
    largest = max((abs(cell.difference) for cell in pairs if math.isfinite(cell.difference)), default=0.0)
    key, top = legend(_meanings(layout.font), layout)
    grid = _grid(names, pairs, layout, top, decimals_for(0, largest or 1.0))
    drawn = [key]
    for i, row in enumerate(names):
        drawn += [_heading(i, row, grid, len(names)), _row_name(i, row, grid, len(names))]
        drawn += [_cell(cells.get((row, column)), (i, j), grid, largest) for j, column in enumerate(names)]
    right, bottom = grid.corner(len(names), len(names))
    table = tuple((c.a, c.b, datum(c.difference), datum(c.p), "yes" if c.clear else "no") for c in pairs)
    description = _description(names, pairs, axis, grid.decimals)
    size = max(layout.width, right + 0.5 * layout.font), bottom + 0.4 * layout.font
    return Chart(title, description, *size, "".join(drawn), HEADER, table)


def _both_ways(names: Sequence[str], pairs: Sequence[PairCell]) -> dict[tuple[str, str], PairCell]:
    """Every pair, and the same seen from the other side."""
    known = set(names)
    for pair in pairs:
        for name in (pair.a, pair.b):
            if name not in known:
                raise NameUnknown("system", name, names)
    mirrored = {(pair.b, pair.a): replace(pair, a=pair.b, b=pair.a, difference=-pair.difference) for pair in pairs}
    return mirrored | {(pair.a, pair.b): pair for pair in pairs}


def _meanings(font: float) -> list[Entry]:
    def swatch(kind: str) -> Callable[[float, float], str]:
        return lambda x, y: rect(kind, x - 0.5 * font, y - 0.4 * font, font, 0.8 * font, opacity=DEEPEST)

    def triangles(x: float, y: float) -> str:
        return _triangle(x - 0.45 * font, y, font, up=True) + _triangle(x + 0.45 * font, y, font, up=False)

    return [
        Entry(swatch("gain"), font, "row above column"),
        Entry(swatch("loss"), font, "row below column"),
        Entry(triangles, 1.5 * font, "and told apart"),
    ]


def _grid(names: Sequence[str], pairs: Sequence[PairCell], layout: Layout, top: float, decimals: int) -> _Grid:
    font, small, count = layout.font, SMALL * layout.font, len(names)
    widest = max(text_width(name, font) for name in names)
    side = min(1.03 * widest, 0.3 * layout.width) + 0.8 * font
    widest_cell, margin = 6.5 * font, 0.5 * font
    width = min((layout.width - side - margin) / count, widest_cell)
    heads = "level" if 1.03 * SMALL * widest <= width - 4 else "turned" if SMALL * widest <= 8 * font else "numbers"
    if heads == "turned" and width < 1.3 * small:
        heads = "numbers"
    if heads == "numbers":
        side += text_width(str(count), small) + 0.6 * font
        width = min((layout.width - side - margin) / count, widest_cell)
    width = max(width, NARROWEST)
    head = SMALL * widest if heads == "turned" else small
    written = _lines(pairs, width, font, decimals, count)
    height = (min(max(width, 1.35 * font), 2.4 * font), 2.5 * font, 3.3 * font)[written]
    return _Grid(font, side, top + head + 0.9 * font, width, height, heads, decimals, written)


def _lines(pairs: Sequence[PairCell], width: float, font: float, decimals: int, count: int) -> int:
    """How many numbers there is room for in a cell so wide: none, the difference, or p as well."""
    differences = [fixed(sign * pair.difference, decimals, sign=True) for pair in pairs for sign in (1, -1)]
    if count > MOST_WITH_NUMBERS or any(text_width(each, font, bold=True) > width - 0.5 * font for each in differences):
        return 0
    if any(text_width(_p(pair.p), SMALL * font) > width - 0.5 * font for pair in pairs):
        return 1
    return 2


def _p(p: float) -> str:
    if not math.isfinite(p):
        return ""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _heading(i: int, name: str, grid: _Grid, count: int) -> str:
    """What stands above a column; of many numbers only as many as there is room for."""
    font, small = grid.font, SMALL * grid.font
    middle, y = grid.left + (i + 0.5) * grid.width, grid.top - 0.5 * font
    if grid.heads == "turned":
        return text(middle + 0.35 * small, y, name, kind="small", turn=-90)
    if grid.heads == "level":
        return text(middle, y, name, kind="small", anchor="middle")
    need = text_width(str(count), small) + 0.4 * font
    step = next(each for each in (1, 2, 5, 10, 20, 50, 100, count) if each * grid.width >= need or each == count)
    wanted = (i + 1) % step == 0 or (i == 0 and (step - 1) * grid.width >= need)
    return text(middle, y, str(i + 1), kind="soft small", anchor="middle") if wanted else ""


def _row_name(i: int, name: str, grid: _Grid, count: int) -> str:
    font, small = grid.font, SMALL * grid.font
    end, y = grid.left - 0.6 * font, grid.top + (i + 0.5) * grid.height + 0.34 * font
    if grid.heads != "numbers":
        return label(end, y, name, end, font, anchor="end")
    drawn = text(end, y - 0.02 * font, str(i + 1), kind="soft small", anchor="end")
    end -= text_width(str(count), small) + 0.6 * font
    return drawn + label(end, y, name, end, font, anchor="end")


def _cell(pair: PairCell | None, place: tuple[int, int], grid: _Grid, largest: float) -> str:
    font, (x, y) = grid.font, grid.corner(*place)
    size = x + 0.5, y + 0.5, grid.width - 1, grid.height - 1
    if pair is None:
        return rect("none", *size, opacity=0.5) if place[0] == place[1] else rect("frame", *size)
    known = math.isfinite(pair.difference)
    kind = "none" if not pair.difference or not known else "gain" if pair.difference > 0 else "loss"
    deepest = DEEPEST if grid.written else DEEPEST_BARE
    depth = 0.5 if kind == "none" else 0.06 + (deepest - 0.06) * abs(pair.difference) / largest
    drawn = [rect(kind, *size, _told(pair, grid.decimals), opacity=depth)]
    middle, clear = x + grid.width / 2, pair.clear and known
    if grid.written:
        level = y + grid.height / 2 + (-0.1 if grid.written == 2 else 0.42) * font
        said = fixed(pair.difference, grid.decimals, sign=True)
        drawn.append(text(middle, level, said, kind="strong" if clear else "", anchor="middle"))
        if grid.written == 2:
            drawn.append(text(middle, level + 1.15 * font, _p(pair.p), kind="small", anchor="middle"))
    if clear:
        at = (x + grid.width - 0.6 * font, y + 0.6 * font) if grid.written else (middle, y + grid.height / 2)
        drawn.append(_triangle(*at, min(font, grid.width * 1.6), up=pair.difference > 0))
    return "".join(drawn)


def _triangle(x: float, y: float, font: float, *, up: bool) -> str:
    return triangle("ink", x, y, 0.26 * font, up=up)


def _told(pair: PairCell, decimals: int) -> str:
    p = f", p = {pair.p:.4g}" if math.isfinite(pair.p) else ""
    clear = "told apart" if pair.clear else "not told apart"
    extra = f". {pair.told}" if pair.told else ""
    return f"{pair.a} less {pair.b}: {fixed(pair.difference, decimals, sign=True)}{p}, {clear}{extra}"


def _description(names: Sequence[str], pairs: Sequence[PairCell], axis: str, decimals: int) -> str:
    said = f"{axis}, the row less the column, for {pluralize(len(names), 'system')}."
    said += f" Told apart: {sum(pair.clear for pair in pairs)} of {pluralize(len(pairs), 'pair')}."
    known = [pair for pair in pairs if math.isfinite(pair.difference)]
    if known:
        most = max(known, key=lambda pair: abs(pair.difference))
        above, below = (most.a, most.b) if most.difference >= 0 else (most.b, most.a)
        said += f" The largest difference: {above} is {fixed(abs(most.difference), decimals)} above {below}."
    return said
