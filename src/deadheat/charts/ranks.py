"""Ranks over subsets of data sets (Alonso-Alonso et al. 2022, figure 1): boxes, and how often each rank occurs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from deadheat.charts.chart import Chart, Layout, datum, empty_chart
from deadheat.charts.drawing import circle, diamond, line, rect, text, text_width
from deadheat.charts.scales import LegendEntry, Rows, Scale, brief, finite, legend, place_rows
from deadheat.charts.theme import SMALL
from deadheat.errors import InputError
from deadheat.text import pluralize

STRONGEST = 0.54  # opacity of a share of 1 on which text is still readable, in light and dark themes
STRONGEST_BARE = 0.95  # the same for cells without text
WEAKEST = 0.03  # opacity of the smallest share above 0
EXPONENT = 0.6  # opacity grows with this power of a share, because most shares of many ranks are small
NEARLY_ALL = ">99"  # percent, but not all
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
    def numbers(self) -> tuple[float | None, ...]:
        """All numbers, in the order of the data table."""
        possible = (self.possible_best, self.possible_worst)
        return (self.best, self.lower, self.median, self.upper, self.worst, self.mean, *possible)


@dataclass(frozen=True, slots=True)
class RankBoxes:
    """A box for each system over an axis of ranks, rank 1 to the left.

    Examples
    --------
    >>> from deadheat.charts.chart import WIDE
    >>> rows = (RankRow("a", 1, 1, 1, 1, 2, 1.1, 1, 2), RankRow("b", 1, 2, 2, 2, 2, 1.9))
    >>> print(RankBoxes(rows, title="Ranks").draw(WIDE).description)
    2 systems. Ranks of a: 1 to 2, median 1; b: 1 to 2, median 2.
    """

    rows: tuple[RankRow, ...]
    title: str

    def draw(self, layout: Layout) -> Chart:
        if not self.rows:
            return empty_chart(self.title, layout, BOX_HEADER)
        font, count = layout.font, len(self.rows)
        key, top = legend(_box_legend(self.rows, font), layout)
        height = 2.4 if count <= 8 else 2.0 if count <= 16 else 1.75
        rows = place_rows([row.name for row in self.rows], layout, top=top, height=height * font)
        last = max([count, *finite(number for row in self.rows for number in row.numbers)])
        scale = Scale(0.5, last + 0.5, rows.left, rows.right)
        grid = [line("grid", scale(rank), rows.top, scale(rank), rows.bottom) for rank in _ticks(rows, int(last))]
        labels = _rank_labels(rows, scale, int(last), rows.bottom + 1.25 * font, 1.45 * font)
        drawn = [key, *grid, labels, rows.labels()]
        drawn += [_box(row, scale, rows.middle(i), rows.height, font) for i, row in enumerate(self.rows)]
        ranges = "; ".join(
            f"{row.name}: {_rank(row.best)} to {_rank(row.worst)}, median {_rank(row.median)}" for row in self.rows
        )
        table = tuple((row.name, *map(datum, row.numbers)) for row in self.rows)
        description = f"{pluralize(count, 'system')}. Ranks of {ranges}."
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


def _rank(rank: float) -> str:
    return brief(rank, 4)


def _box(row: RankRow, scale: Scale, y: float, height: float, font: float) -> str:
    tooltip = f"{row.name}: ranks {_rank(row.best)} to {_rank(row.worst)}, "
    tooltip += (
        f"quartiles {_rank(row.lower)} and {_rank(row.upper)}, median {_rank(row.median)}, mean {_rank(row.mean)}"
    )
    half = 0.3 * height
    drawn = _whiskers(row, scale, y, half, tooltip)
    if math.isfinite(row.lower + row.upper):
        drawn.append(rect("box", scale(row.lower), y - half, scale(row.upper) - scale(row.lower), 2 * half, tooltip))
    if math.isfinite(row.median):
        drawn.append(line("rule", scale(row.median), y - 1.25 * half, scale(row.median), y + 1.25 * half, tooltip))
    for end in finite((row.possible_best, row.possible_worst)):
        possible = f"{row.name}: rank {_rank(end)} is possible over all subsets"
        drawn.append(circle("hollow", scale(end), y, 0.24 * font, possible))
    if math.isfinite(row.mean):
        drawn.append(diamond("mark", scale(row.mean), y, 0.27 * font, f"{row.name}: mean rank {_rank(row.mean)}"))
    return "".join(drawn)


def _whiskers(row: RankRow, scale: Scale, y: float, half: float, tooltip: str) -> list[str]:
    """A line from best to worst, and dotted lines to what is possible."""
    if not math.isfinite(row.best + row.worst):
        return []
    drawn = [line("rule", scale(row.best), y, scale(row.worst), y, tooltip)]
    for end, possible in ((row.best, row.possible_best), (row.worst, row.possible_worst)):
        if end != possible:  # otherwise there is a hollow mark
            drawn.append(line("rule", scale(end), y - 0.5 * half, scale(end), y + 0.5 * half))
            if possible is not None:
                drawn.append(line("axis", scale(end), y, scale(possible), y, tooltip, dash="2 3"))
    return drawn


def _box_legend(rows: Sequence[RankRow], font: float) -> list[LegendEntry]:
    width = 2.4 * font

    def box(x: float, y: float) -> str:
        drawn = rect("box", x - width / 2, y - 0.4 * font, width, 0.8 * font)
        return drawn + line("rule", x, y - 0.5 * font, x, y + 0.5 * font)

    def whisker(x: float, y: float) -> str:
        ends = [line("rule", at, y - 0.25 * font, at, y + 0.25 * font) for at in (x - width / 2, x + width / 2)]
        return line("rule", x - width / 2, y, x + width / 2, y) + "".join(ends)

    entries = [
        LegendEntry(box, width, "quartiles and median"),
        LegendEntry(partial(diamond, "mark", r=0.27 * font), 0.6 * font, "mean"),
        LegendEntry(whisker, width, "best to worst"),
    ]
    if any(finite((row.possible_best, row.possible_worst)) for row in rows):
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
        left, tooltip = scale(rank - 0.5), f"{name}: rank {rank} on {_percent(share)} of the subsets"
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


def _percent(share: float) -> str:
    if not math.isfinite(share):
        return "an unknown share"
    if 0.9995 <= share < 1:
        return "> 99.9 %"
    return "< 0.1 %" if 0 < share < 0.0005 else f"{100 * share:.3g} %"


def _opacity_legend(rows: Rows, *, with_text: bool) -> str:
    """Which opacity stands for which share."""
    font = rows.layout.font
    y, width = rows.bottom + 1.2 * font, 2.0 * font
    drawn, x = [], rows.right - 5 * width
    for i, share in enumerate((0.05, 0.25, 0.5, 0.75, 1.0)):
        left = x + i * width
        drawn.append(rect("mark", left, y, width - 1, 0.8 * font, opacity=_opacity(share, with_text=with_text)))
        percent = f"{100 * share:.0f}"
        drawn.append(text(left + width / 2, y + 1.75 * font, percent, kind="soft small", anchor="middle"))
    drawn.append(text(x - 0.6 * font, y + 0.72 * font, "share of subsets (%)", kind="soft small", anchor="end"))
    return "".join(drawn)


def _most_frequent(name: str, shares: Sequence[float]) -> str:
    rank = max(range(len(shares)), key=lambda i: shares[i] if math.isfinite(shares[i]) else -1.0)
    return f"{name} {rank + 1} ({_percent(shares[rank])})"
