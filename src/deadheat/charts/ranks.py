"""Ranks of systems over subsets of data sets (Alonso-Alonso et al. 2022, figure 1), and mean ranks (Demšar 2006)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from deadheat.charts.chart import Chart, Layout, datum, empty_chart
from deadheat.charts.drawing import (
    SMALL,
    capped_line,
    circle,
    diamond,
    label,
    line,
    number,
    path,
    rect,
    shorten,
    text,
    text_width,
)
from deadheat.charts.scales import LegendEntry, Rows, Scale, brief, finite, fixed, legend, place_rows
from deadheat.errors import InputError
from deadheat.results.format import SHARE, show
from deadheat.text import pluralize

STRONGEST = 0.54  # opacity of a share of 1 on which text is still readable, in light and dark themes
STRONGEST_BARE = 0.95  # the same for cells without text
WEAKEST = 0.03  # opacity of the smallest share above 0
EXPONENT = 0.6  # opacity grows with this power of a share, because most shares of many ranks are small
NEARLY_ALL = ">99"  # percent, but not all
MEAN_HEADER = ("system", "mean rank", "groups")
WIDTH_FOR_BOTH_SIDES = 500  # from this width on the diagram of mean ranks has names on the left and on the right
AXIS_TITLE = "mean rank, 1 is best"
MOST_LISTED = 10  # systems that the description lists
BOX_HEADER = ("name", "best", "lower", "median", "upper", "worst", "mean", "possible_best", "possible_worst")


@dataclass(frozen=True, slots=True)
class RankRow:
    """The ranks of a system over sampled subsets, and its best and worst possible rank over all subsets if known."""

    name: str
    best: float
    lower: float  # quartile
    median: float
    upper: float  # quartile
    worst: float
    mean: float
    possible_best: int | None = None
    possible_worst: int | None = None

    @property
    def ranks(self) -> tuple[float, ...]:
        return (self.best, self.lower, self.median, self.upper, self.worst, self.mean)

    @property
    def possible(self) -> tuple[int | None, int | None]:
        return (self.possible_best, self.possible_worst)


@dataclass(frozen=True, slots=True)
class RankBoxes:
    """A box for each system over an axis of ranks, rank 1 to the left."""

    rows: tuple[RankRow, ...]
    title: str

    def draw(self, layout: Layout) -> Chart:
        if not self.rows:
            return empty_chart(self.title, layout, BOX_HEADER)
        font, count = layout.font, len(self.rows)
        key, top = legend(_box_legend(self.rows, font), layout)
        height = 2.4 if count <= 8 else 2.0 if count <= 16 else 1.75
        rows = place_rows([row.name for row in self.rows], layout, top=top, height=height * font)
        last = max([count, *finite(number for row in self.rows for number in (*row.ranks, *row.possible))])
        scale = Scale(0.5, last + 0.5, rows.left, rows.right)
        grid = [line("grid", scale(rank), rows.top, scale(rank), rows.bottom) for rank in _ticks(rows, int(last))]
        labels = _rank_labels(rows, scale, int(last), rows.bottom + 1.25 * font, 1.45 * font)
        drawn = [key, *grid, labels, rows.labels()]
        drawn += [_box(row, scale, rows.middle(i), rows.height, font) for i, row in enumerate(self.rows)]
        ranges = [
            f"{row.name}: {brief(row.best, 4)} to {brief(row.worst, 4)}, median {brief(row.median, 4)}"
            for row in self.rows
        ]
        table = tuple((row.name, *map(datum, (*row.ranks, *row.possible))) for row in self.rows)
        description = f"{pluralize(count, 'system')}. Ranks of {'; '.join(ranges)}."
        return Chart(self.title, description, layout.width, rows.end, "".join(drawn), BOX_HEADER, table)


@dataclass(frozen=True, slots=True)
class RankHeatmap:
    """How often each system (row) has each rank (column), by the strength of the fill."""

    names: tuple[str, ...]
    shares: tuple[tuple[float, ...], ...]  # of systems by ranks
    title: str

    def __post_init__(self) -> None:
        lengths = sorted({len(row) for row in self.shares})
        if len(self.shares) != len(self.names) or len(lengths) > 1 or lengths == [0]:
            shape = f"{len(self.shares)} rows of {' or '.join(map(str, lengths)) or 'no'} shares"
            expected = f"a row of equal length for each of {len(self.names)} names"
            raise InputError(f"rank heat map: {shape}; expected {expected}")

    def draw(self, layout: Layout) -> Chart:
        if not self.names:
            return empty_chart(self.title, layout, ("name",))
        font, ranks = layout.font, len(self.shares[0])
        height = 2.0 if len(self.names) <= 16 else 1.6
        rows = place_rows(self.names, layout, top=2.9 * font, height=height * font)
        scale = Scale(0.5, ranks + 0.5, rows.left, rows.right)
        with_text = scale(2) - scale(1) >= text_width(NEARLY_ALL, SMALL * font) + 0.3 * font
        drawn = [rows.labels(), _rank_labels(rows, scale, ranks, rows.top - 0.5 * font, -1.25 * font)]
        drawn += [
            _cells(name, shares, scale, rows, i, with_text=with_text)
            for i, (name, shares) in enumerate(zip(self.names, self.shares, strict=True))
        ]
        drawn.append(_opacity_legend(rows, with_text=with_text))
        header = ("name", *(f"rank {rank}" for rank in range(1, ranks + 1)))
        table = tuple((name, *map(datum, row)) for name, row in zip(self.names, self.shares, strict=True))
        description = f"{pluralize(len(self.names), 'system')} by {pluralize(ranks, 'rank')}. "
        description += f"Most frequent ranks: {', '.join(map(_most_frequent, self.names, self.shares))}."
        return Chart(self.title, description, layout.width, rows.bottom + 3.4 * font, "".join(drawn), header, table)


def _box(row: RankRow, scale: Scale, y: float, height: float, font: float) -> str:
    best, lower, median, upper, worst, mean = (brief(rank, 4) for rank in row.ranks)
    tooltip = f"{row.name}: ranks {best} to {worst}, quartiles {lower} and {upper}, median {median}, mean {mean}"
    half, drawn = 0.3 * height, []
    if math.isfinite(row.best + row.worst):
        drawn.append(line("rule", scale(row.best), y, scale(row.worst), y, tooltip))
        for end, possible in zip((row.best, row.worst), row.possible, strict=True):
            if end != possible:  # otherwise there is a hollow mark
                drawn.append(line("rule", scale(end), y - 0.5 * half, scale(end), y + 0.5 * half))
                if possible is not None:
                    drawn.append(line("axis", scale(end), y, scale(possible), y, tooltip, dash="2 3"))
    if math.isfinite(row.lower + row.upper):
        drawn.append(rect("box", scale(row.lower), y - half, scale(row.upper) - scale(row.lower), 2 * half, tooltip))
    if math.isfinite(row.median):
        drawn.append(line("rule", scale(row.median), y - 1.25 * half, scale(row.median), y + 1.25 * half, tooltip))
    for end in finite(row.possible):
        tooltip = f"{row.name}: rank {brief(end, 4)} is possible over all subsets"
        drawn.append(circle("hollow", scale(end), y, 0.24 * font, tooltip))
    if math.isfinite(row.mean):
        drawn.append(diamond("mark", scale(row.mean), y, 0.27 * font, f"{row.name}: mean rank {mean}"))
    return "".join(drawn)


def _box_legend(rows: Sequence[RankRow], font: float) -> list[LegendEntry]:
    width = 2.4 * font

    def box(x: float, y: float) -> str:
        drawn = rect("box", x - width / 2, y - 0.4 * font, width, 0.8 * font)
        return drawn + line("rule", x, y - 0.5 * font, x, y + 0.5 * font)

    def whisker(x: float, y: float) -> str:
        return capped_line("rule", x - width / 2, x + width / 2, y, 0.25 * font)

    entries = [
        LegendEntry(box, width, "quartiles and median"),
        LegendEntry(partial(diamond, "mark", r=0.27 * font), 0.6 * font, "mean"),
        LegendEntry(whisker, width, "best to worst"),
    ]
    if any(finite(row.possible) for row in rows):
        ring = partial(circle, "hollow", r=0.24 * font)
        entries.append(LegendEntry(ring, 0.6 * font, "possible over all subsets"))
    return entries


def _ticks(rows: Rows, ranks: int) -> list[int]:
    """The ranks that are labelled: all of them, or the first and round ones."""
    for step in (1, 5, *(digit * 10**power for power in range(1, 18) for digit in (1, 2, 5))):
        if ranks / step * 1.9 * rows.layout.font <= rows.right - rows.left:
            break
    return [1, *range(step if step > 1 else 2, ranks + 1, step)]


def _rank_labels(rows: Rows, scale: Scale, ranks: int, y: float, title: float) -> str:
    """The numbers of the ranks at level `y`, and the title of the axis `title` below it."""
    drawn = [text(scale(rank), y, str(rank), kind="soft small", anchor="middle") for rank in _ticks(rows, ranks)]
    drawn.append(text((rows.left + rows.right) / 2, y + title, "rank", kind="soft", anchor="middle"))
    return "".join(drawn)


def _cells(name: str, shares: Sequence[float], scale: Scale, rows: Rows, row: int, *, with_text: bool) -> str:
    font, width, top = rows.layout.font, scale(2) - scale(1), rows.top + row * rows.height
    gap = min(1.0, 0.08 * width)
    drawn = [line("grid", rows.left, top, rows.right, top)]
    for rank, share in enumerate(shares, start=1):
        left, tooltip = scale(rank - 0.5), f"{name}: rank {rank} on {show(share, SHARE)} of the subsets"
        if share > 0:
            size = (width - gap, rows.height - 1)
            opacity = _opacity(share, with_text=with_text)
            drawn.append(rect("mark", left + gap / 2, top + 0.5, *size, tooltip, opacity=opacity))
        else:
            drawn.append(rect("hit", left, top, width, rows.height, tooltip))
        if with_text and share >= 0.005:
            y = top + 0.5 * rows.height + 0.3 * font
            percent = NEARLY_ALL if 0.995 <= share < 1 else f"{100 * share:.0f}"
            drawn.append(text(scale(rank), y, percent, kind="small", anchor="middle", tooltip=tooltip))
    return "".join(drawn)


def _opacity(share: float, *, with_text: bool) -> float:
    return max(WEAKEST, (STRONGEST if with_text else STRONGEST_BARE) * math.pow(min(share, 1.0), EXPONENT))


def _opacity_legend(rows: Rows, *, with_text: bool) -> str:
    """Which opacity stands for which share."""
    font = rows.layout.font
    y, width = rows.bottom + 1.2 * font, 2.0 * font
    drawn, x = [], rows.right - 5 * width
    for i, percent in enumerate((5, 25, 50, 75, 100)):
        left, opacity = x + i * width, _opacity(percent / 100, with_text=with_text)
        drawn.append(rect("mark", left, y, width - 1, 0.8 * font, opacity=opacity))
        drawn.append(text(left + width / 2, y + 1.75 * font, str(percent), kind="soft small", anchor="middle"))
    drawn.append(text(x - 0.6 * font, y + 0.72 * font, "share of subsets (%)", kind="soft small", anchor="end"))
    return "".join(drawn)


def _most_frequent(name: str, shares: Sequence[float]) -> str:
    rank = max(range(len(shares)), key=lambda i: shares[i] if math.isfinite(shares[i]) else -1.0)
    return f"{name} {rank + 1} ({show(shares[rank], SHARE)})"


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
            return empty_chart(self.title, layout, MEAN_HEADER)
        order = [i for i in sorted(range(len(names)), key=lambda i: ranks[i]) if math.isfinite(ranks[i])]
        slots = _slots(order, len(names), both_sides=layout.width >= WIDTH_FOR_BOTH_SIDES)
        left, right = (
            _side_width(self, [slot for slot in slots if slot.right is side], layout) for side in (False, True)
        )
        last = max([2.0, len(names), *(ranks[i] for i in order)])
        scale = Scale(1, last, left, layout.width - max(right, 0.9 * font))
        head, y = _diagram_head(scale, font, self.difference)
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
        description = _mean_description(self, order, groups)
        return Chart(self.title, description, layout.width, height, "".join(drawn), MEAN_HEADER, table)


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


def _diagram_head(scale: Scale, font: float, difference: float | None) -> tuple[str, float]:
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


def _group_text(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} systems from {names[0]} to {names[-1]}"


def _mean_description(diagram: CriticalDifferenceDiagram, order: Sequence[int], groups: Sequence[Sequence[int]]) -> str:
    names, difference = diagram.names, diagram.difference
    ranks = ", ".join(f"{names[i]} {fixed(diagram.ranks[i], 2)}" for i in order[:MOST_LISTED])
    more = f", and {len(order) - MOST_LISTED} more" if len(order) > MOST_LISTED else ""
    description = f"Mean ranks of {pluralize(len(names), 'system')}, 1 is best: {ranks}{more}."
    if groups:
        listed = "; ".join(_group_text([names[i] for i in group]) for group in groups[:MOST_LISTED])
        description += f" Not significantly different: {listed}."
    else:
        description += " All differ significantly."
    if difference is not None and math.isfinite(difference):
        description += f" The critical difference is {fixed(difference, 2)}."
    return description
