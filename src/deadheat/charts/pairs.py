"""Pairs of systems: a matrix of all differences, and the critical difference diagram of mean ranks (Demšar 2006)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from deadheat.charts.chart import Chart, Layout, datum, empty_chart
from deadheat.charts.drawing import label, line, number, path, rect, shorten, text, text_width, triangle
from deadheat.charts.scales import LegendEntry, Scale, brief, decimals_for, finite, fixed, legend
from deadheat.charts.theme import SMALL
from deadheat.errors import NameUnknown
from deadheat.text import capitalize, pluralize

PAIR_HEADER = ("row", "column", "difference", "p", "significant")
RANK_HEADER = ("system", "mean rank", "groups")
# The strongest fill on which text, or a triangle alone, has enough contrast on light and dark backgrounds.
STRONGEST, STRONGEST_BARE = 0.4, 0.6
MOST_WITH_NUMBERS = 12
TRIANGLE = 0.26  # size, in multiples of the font size
NARROWEST = 6.0  # width of a cell; with many systems the drawing is wider than the layout instead
WIDTH_FOR_BOTH_SIDES = 500  # from this width on the diagram has names on the left and on the right
AXIS_TITLE = "mean rank, 1 is best"
MOST_LISTED = 10  # systems that the description lists


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
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


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


@dataclass(frozen=True, slots=True)
class CriticalDifferenceDiagram:
    """Systems on a line of mean ranks; a bar joins each group of systems that do not differ significantly.

    Parameters
    ----------
    groups
        Indices into `names`.
    difference
        The critical difference, drawn as a bracket above the line.
    """

    names: tuple[str, ...]
    ranks: tuple[float, ...]
    groups: tuple[tuple[int, ...], ...]
    title: str
    difference: float | None = None

    def draw(self, layout: Layout) -> Chart:
        names, ranks, font = self.names, self.ranks, layout.font
        if not names:
            return empty_chart(self.title, layout, RANK_HEADER)
        order = [i for i in sorted(range(len(names)), key=lambda i: ranks[i]) if math.isfinite(ranks[i])]
        slots = _slots(order, len(names), both_sides=layout.width >= WIDTH_FOR_BOTH_SIDES)
        left, right = (
            _side_width(self, [slot for slot in slots if slot.right is side], layout) for side in (False, True)
        )
        last = max([2.0, len(names), *(ranks[i] for i in order)])
        scale = Scale(1, last, left, layout.width - max(right, 0.9 * font))
        head, y = _head(scale, font, self.difference)
        groups = [sorted((i for i in group if i in order), key=lambda i: ranks[i]) for group in self.groups]
        groups = [group for group in groups if len(group) > 1]
        bars, levels = _bars(self, groups, scale, y, font)
        first = y + (1.9 + 0.8 * levels) * font
        drawn = [head, _rank_axis(scale, y, font)]
        drawn += [_system(names[slot.system], ranks[slot.system], slot, scale, (y, first), layout) for slot in slots]
        drawn.append(bars)  # last, so that no line cuts a bar
        height = first + 1.6 * font * max(slot.row for slot in slots) + 0.9 * font
        table = tuple(
            (name, datum(ranks[i]), " ".join(str(n) for n, group in enumerate(self.groups, 1) if i in group))
            for i, name in enumerate(names)
        )
        description = _rank_description(self, order, groups)
        return Chart(self.title, description, layout.width, height, "".join(drawn), RANK_HEADER, table)


@dataclass(frozen=True, slots=True)
class _Slot:
    """The row and side of the name of a system."""

    system: int  # index
    row: int
    right: bool = False


def _slots(order: Sequence[int], count: int, *, both_sides: bool) -> list[_Slot]:
    """Names by rank from top to bottom on the left, then from bottom to top on the right: no two lines cross."""
    left = math.ceil(len(order) / 2) if both_sides else len(order)
    slots = [_Slot(i, row) for row, i in enumerate(order[:left])]
    slots += [_Slot(i, row, right=True) for row, i in enumerate(reversed(order[left:]))]
    unranked = [i for i in range(count) if i not in order]
    return slots + [_Slot(i, left + row) for row, i in enumerate(unranked)]


def _side_width(diagram: CriticalDifferenceDiagram, slots: Sequence[_Slot], layout: Layout) -> float:
    """The width of the names and ranks of one side."""
    if not slots:
        return 0.0
    share = 0.3 if layout.width >= WIDTH_FOR_BOTH_SIDES else 0.45
    widest = max(text_width(diagram.names[slot.system], layout.font) for slot in slots)
    numbers = max(text_width(fixed(diagram.ranks[slot.system], 2), SMALL * layout.font) for slot in slots)
    return min(1.03 * widest + numbers + 1.4 * layout.font, share * layout.width)


def _head(scale: Scale, font: float, difference: float | None) -> tuple[str, float]:
    """The title of the axis, the bracket of the critical difference, and the level of the axis below."""
    title = shorten(AXIS_TITLE, scale.end - scale.start, SMALL * font)
    drawn = [text(scale.end, font, title, kind="soft small", anchor="end")]
    if difference is None or not math.isfinite(difference):
        return "".join(drawn), 3.1 * font
    bracket_label = f"CD = {fixed(difference, 2)}"
    width = text_width(bracket_label, SMALL * font) + text_width(title, SMALL * font) + font
    y = font if width <= scale.end - scale.start else 2.4 * font
    start, end = scale(1), scale(min(1 + difference, scale.high))
    bracket, tick = y + 0.7 * font, 0.25 * font
    drawn.append(text(start, y, bracket_label, kind="small"))
    drawn.append(line("rule", start, bracket, end, bracket, f"critical difference: {brief(difference, 4)}"))
    drawn.append(line("rule", start, bracket - tick, start, bracket + tick))
    if 1 + difference <= scale.high:  # a difference longer than the axis has no end
        drawn.append(line("rule", end, bracket - tick, end, bracket + tick))
    return "".join(drawn), y + 3.1 * font


def _rank_axis(scale: Scale, y: float, font: float) -> str:
    """The axis with integer ranks: the first, the last, and those between that fit."""
    last = math.floor(scale.high)
    width = text_width(str(last), SMALL * font) + 0.7 * font
    unit = (scale.end - scale.start) / (scale.high - 1)
    step = next((step for step in (1, 2, 5, 10, 20, 50) if step * unit >= width), last)
    between = range(step if step > 1 else 2, last, step)
    drawn = [line("axis", scale.start, y, scale.end, y)]
    for rank in (1, *(rank for rank in between if min(rank - 1, last - rank) * unit >= width), last):
        drawn.append(line("axis", scale(rank), y - 0.4 * font, scale(rank), y))
        drawn.append(text(scale(rank), y - 0.7 * font, str(rank), kind="soft small", anchor="middle"))
    return "".join(drawn)


def _bars(
    diagram: CriticalDifferenceDiagram, groups: Sequence[Sequence[int]], scale: Scale, y: float, font: float
) -> tuple[str, int]:
    """A thick bar below the axis for each group, no two touching, and the number of levels they take."""
    ends: list[float] = []  # of the last bar of every level
    drawn, ranks = [], diagram.ranks
    for group in sorted(groups, key=lambda group: (ranks[group[0]], -ranks[group[-1]])):
        start, end = scale(ranks[group[0]]) - 0.35 * font, scale(ranks[group[-1]]) + 0.35 * font
        level = next((i for i, taken in enumerate(ends) if taken + 0.4 * font <= start), len(ends))
        ends[level : level + 1] = [end]
        at = y + (1 + 0.8 * level) * font
        tooltip = "not significantly different: " + ", ".join(diagram.names[i] for i in group)
        drawn.append(line("thick", start, at, end, at, tooltip))
    return "".join(drawn), len(ends)


def _system(name: str, rank: float, slot: _Slot, scale: Scale, levels: tuple[float, float], layout: Layout) -> str:
    """A name with its rank, and the line from it to the axis."""
    axis, first = levels
    font, y = layout.font, first + 1.6 * layout.font * slot.row
    side, outward = (scale.end + 0.3 * font, 1) if slot.right else (scale.start - 0.3 * font, -1)
    anchor = "start" if slot.right else "end"
    written = fixed(rank, 2)
    beside = side + outward * (text_width(written, SMALL * font) + 0.9 * font)
    width = layout.width - beside if slot.right else beside
    drawn = [
        text(side + outward * 0.3 * font, y + 0.3 * font, written, kind="soft small", anchor=anchor),
        label(beside, y + 0.34 * font, name, width, font, anchor=anchor),
    ]
    if math.isfinite(rank):
        d = f"M{number(scale(rank))} {number(axis)}V{number(y)}H{number(side)}"
        drawn.insert(0, path("elbow", d, f"{name}: mean rank {written}"))
    return "".join(drawn)


def _group_text(names: Sequence[str], group: Sequence[int]) -> str:
    if len(group) <= 3:
        return ", ".join(names[i] for i in group)
    return f"{len(group)} systems from {names[group[0]]} to {names[group[-1]]}"


def _rank_description(diagram: CriticalDifferenceDiagram, order: Sequence[int], groups: Sequence[Sequence[int]]) -> str:
    names, difference = diagram.names, diagram.difference
    ranks = ", ".join(f"{names[i]} {fixed(diagram.ranks[i], 2)}" for i in order[:MOST_LISTED])
    more = f", and {len(order) - MOST_LISTED} more" if len(order) > MOST_LISTED else ""
    description = f"Mean ranks of {pluralize(len(names), 'system')}, 1 is best: {ranks}{more}."
    if groups:
        listed = "; ".join(_group_text(names, group) for group in groups[:MOST_LISTED])
        description += f" Not significantly different: {listed}."
    else:
        description += " All differ significantly."
    if difference is not None and math.isfinite(difference):
        description += f" The critical difference is {fixed(difference, 2)}."
    return description
