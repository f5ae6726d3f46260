"""Ranks over subsets of data sets (Alonso-Alonso et al. 2022, figure 1): boxes, and how often each rank is taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.charts.chart import Chart, Layout
from deadheat.charts.drawing import circle, line, rect, text, text_width
from deadheat.charts.named_rows import Entry, Rows, datum, diamond, legend, nothing, rows_of
from deadheat.charts.scales import Scale
from deadheat.charts.theme import SMALL
from deadheat.errors import InputError
from deadheat.text import pluralize

STRONGEST = 0.54  # opacity of a share of 1, on which words can still be read, on light and on dark paper
STRONGEST_BARE = 0.95  # where there is no room for words
WEAKEST = 0.03  # opacity of the least share that is not 0
BEND = 0.6  # opacity grows with this power of a share, for most shares of many ranks are small
NEARLY_ALL = ">99"  # percent that are not all
BOX_HEADER = ("name", "best", "lower", "median", "upper", "worst", "mean", "possible_best", "possible_worst")


@dataclass(frozen=True, slots=True)
class RankRow:
    """The ranks of one name over the subsets that were sampled, and the ends of what all subsets allow, where known."""

    name: str
    best: float
    lower: float  # quartile
    median: float
    upper: float  # quartile
    worst: float
    mean: float
    possible_best: int | None = None
    possible_worst: int | None = None


def rank_boxes(rows: Sequence[RankRow], layout: Layout, *, title: str) -> Chart:
    """Draw a box a name over an axis of ranks, the first to the left.

    Examples
    --------
    >>> from deadheat.charts.chart import WIDE
    >>> two = [RankRow("a", 1, 1, 1, 1, 2, 1.1, 1, 2), RankRow("b", 1, 2, 2, 2, 2, 1.9)]
    >>> print(rank_boxes(two, WIDE, title="Ranks").description)
    2 systems. Ranks of a: 1 to 2, median 1; b: 1 to 2, median 2.
    """
    if not rows:
        return nothing(title, layout, BOX_HEADER)
    font = layout.font
    key, top = legend(_signs(rows, font), layout)
    high = 2.4 if len(rows) <= 8 else 2.0 if len(rows) <= 16 else 1.75
    placed = rows_of([row.name for row in rows], layout, top=top, height=high * font)
    last = max([len(rows), *(v for row in rows for v in _numbers(row)[:5] + _numbers(row)[6:] if math.isfinite(v))])
    scale = Scale(0.5, last + 0.5, placed.left, placed.right)
    drawn = [key, _rank_axis(placed, scale, int(last)), placed.labels()]
    drawn += [_box(row, scale, placed.middle(i), placed.height, font) for i, row in enumerate(rows)]
    told = "; ".join(
        f"{row.name}: {_shown(row.best)} to {_shown(row.worst)}, median {_shown(row.median)}" for row in rows
    )
    data = tuple((row.name, *map(datum, _given(row))) for row in rows)
    said = f"{pluralize(len(rows), 'system')}. Ranks of {told}."
    return Chart(title, said, layout.width, placed.end, "".join(drawn), BOX_HEADER, data)


def rank_heat(
    names: Sequence[str], chances_SS: Sequence[Sequence[float]] | NDArray[np.float64], layout: Layout, *, title: str
) -> Chart:
    """Draw how often each name (a row) takes each rank (a column), by strength of fill.

    Examples
    --------
    >>> from deadheat.charts.chart import WIDE
    >>> print(rank_heat(["a", "b"], [[0.9, 0.1], [0.1, 0.9]], WIDE, title="Ranks").description)
    2 systems by 2 ranks. Most often, a is rank 1 (90 %), b is rank 2 (90 %).
    """
    if not len(names):
        return nothing(title, layout)
    shares_SS = np.asarray(chances_SS, dtype=np.float64)
    if shares_SS.ndim != 2 or len(shares_SS) != len(names) or not shares_SS.shape[1]:
        raise InputError(
            f"rank heat map: shares of shape {shares_SS.shape}; expected a row for each of {len(names)} names"
        )
    font, ranks = layout.font, shares_SS.shape[1]
    high = 2.0 if len(names) <= 16 else 1.6
    placed = rows_of(names, layout, top=2.9 * font, height=high * font)
    scale = Scale(0.5, ranks + 0.5, placed.left, placed.right)
    drawn = [placed.labels(), _rank_heads(placed, scale, ranks)]
    drawn += [_cells(name, shares_SS[i], scale, placed, i) for i, name in enumerate(names)]
    drawn.append(_strengths(placed, roomy=_roomy(scale, font)))
    header = ("name", *(f"rank {rank}" for rank in range(1, ranks + 1)))
    data = tuple((name, *map(datum, row)) for name, row in zip(names, shares_SS.tolist(), strict=True))
    said = (
        f"{pluralize(len(names), 'system')} by {pluralize(ranks, 'rank')}. Most often, {_favourites(names, shares_SS)}."
    )
    return Chart(title, said, layout.width, placed.bottom + 3.4 * font, "".join(drawn), header, data)


def _given(row: RankRow) -> tuple[float | None, ...]:
    ends = (row.possible_best, row.possible_worst)
    return (row.best, row.lower, row.median, row.upper, row.worst, row.mean, *ends)


def _numbers(row: RankRow) -> tuple[float, ...]:
    """What is given, with NaN for what is not known."""
    return tuple(math.nan if value is None else float(value) for value in _given(row))


def _shown(rank: float) -> str:
    return f"{rank:.4g}" if math.isfinite(rank) else "none"


def _box(row: RankRow, scale: Scale, y: float, height: float, font: float) -> str:
    best, lower, median, upper, worst, mean, least, most = _numbers(row)
    said = f"{row.name}: ranks {_shown(best)} to {_shown(worst)}, quartiles {_shown(lower)} and {_shown(upper)}, "
    said += f"median {_shown(median)}, mean {_shown(mean)}"
    half = 0.3 * height
    drawn = _whiskers(row, scale, y, half, said)
    if math.isfinite(lower + upper):
        drawn.append(rect("box", scale(lower), y - half, scale(upper) - scale(lower), 2 * half, said))
    if math.isfinite(median):
        drawn.append(line("rule", scale(median), y - 1.25 * half, scale(median), y + 1.25 * half, said))
    for end in (least, most):
        if math.isfinite(end):
            possible = f"{row.name}: rank {_shown(end)} is possible over all subsets"
            drawn.append(circle("hollow", scale(end), y, 0.24 * font, possible))
    if math.isfinite(mean):
        drawn.append(diamond("mark", scale(mean), y, 0.27 * font, f"{row.name}: mean rank {_shown(mean)}"))
    return "".join(drawn)


def _whiskers(row: RankRow, scale: Scale, y: float, half: float, said: str) -> list[str]:
    """A line from best to worst, and a dotted one on to what is possible."""
    best, worst, least, most = (_numbers(row)[i] for i in (0, 4, 6, 7))
    if not math.isfinite(best + worst):
        return []
    drawn = [line("rule", scale(best), y, scale(worst), y, said)]
    for end, farther in ((best, least), (worst, most)):
        if end != farther:  # else a hollow mark stands there
            drawn.append(line("rule", scale(end), y - 0.5 * half, scale(end), y + 0.5 * half))
        if math.isfinite(farther) and end != farther:
            drawn.append(line("axis", scale(end), y, scale(farther), y, said, dash="2 3"))
    return drawn


def _signs(rows: Sequence[RankRow], font: float) -> list[Entry]:
    wide = 2.4 * font

    def box(x: float, y: float) -> str:
        drawn = rect("box", x - wide / 2, y - 0.4 * font, wide, 0.8 * font)
        return drawn + line("rule", x, y - 0.5 * font, x, y + 0.5 * font)

    def whisker(x: float, y: float) -> str:
        ends = [line("rule", at, y - 0.25 * font, at, y + 0.25 * font) for at in (x - wide / 2, x + wide / 2)]
        return line("rule", x - wide / 2, y, x + wide / 2, y) + "".join(ends)

    entries = [
        Entry(box, wide, "middle half and median"),
        Entry(lambda x, y: diamond("mark", x, y, 0.27 * font), 0.6 * font, "mean"),
        Entry(whisker, wide, "best to worst"),
    ]
    if any(math.isfinite(end) for row in rows for end in _numbers(row)[6:]):
        ring = Entry(lambda x, y: circle("hollow", x, y, 0.24 * font), 0.6 * font, "possible over all subsets")
        entries.append(ring)
    return entries


def _rank_ticks(ranks: int, room: float, font: float) -> list[int]:
    """Ranks that are named: all of them, or the first and round ones."""
    for step in (1, 5, 10, 20, 50, 100):
        if ranks / step * 1.9 * font <= room:
            break
    return [1, *range(step if step > 1 else 2, ranks + 1, step)]


def _rank_axis(placed: Rows, scale: Scale, last: int) -> str:
    font, y = placed.layout.font, placed.bottom
    ticks = _rank_ticks(last, placed.right - placed.left, font)
    drawn = [line("grid", scale(rank), placed.top, scale(rank), y) for rank in ticks]
    drawn += [text(scale(rank), y + 1.25 * font, str(rank), kind="soft small", anchor="middle") for rank in ticks]
    drawn.append(text((placed.left + placed.right) / 2, y + 2.7 * font, "rank", kind="soft", anchor="middle"))
    return "".join(drawn)


def _rank_heads(placed: Rows, scale: Scale, ranks: int) -> str:
    """The numbers of the ranks above their columns."""
    font, y = placed.layout.font, placed.top - 0.5 * placed.layout.font
    ticks = _rank_ticks(ranks, placed.right - placed.left, font)
    drawn = [text(scale(rank), y, str(rank), kind="soft small", anchor="middle") for rank in ticks]
    drawn.append(text((placed.left + placed.right) / 2, y - 1.25 * font, "rank", kind="soft", anchor="middle"))
    return "".join(drawn)


def _roomy(scale: Scale, font: float) -> bool:
    """Whether a number has room in a cell."""
    return scale(2) - scale(1) >= text_width(NEARLY_ALL, SMALL * font) + 0.3 * font


def _cells(name: str, shares: NDArray[np.float64], scale: Scale, placed: Rows, row: int) -> str:
    font, wide, top = placed.layout.font, scale(2) - scale(1), placed.top + row * placed.height
    roomy = _roomy(scale, font)
    drawn = [line("grid", placed.left, top, placed.right, top)]
    for rank, share in enumerate(shares.tolist(), start=1):
        left, said = scale(rank - 0.5), f"{name}: rank {rank} on {_percent(share)} of the subsets"
        gap = min(1.0, 0.08 * wide)
        if share > 0:
            size = (wide - gap, placed.height - 1)
            drawn.append(rect("mark", left + gap / 2, top + 0.5, *size, said, opacity=_strength(share, roomy=roomy)))
        else:
            drawn.append(rect("hit", left, top, wide, placed.height, said))
        if roomy and share >= 0.005:
            y = top + 0.5 * placed.height + 0.3 * font
            number = NEARLY_ALL if 0.995 <= share < 1 else f"{100 * share:.0f}"
            drawn.append(text(scale(rank), y, number, kind="small", anchor="middle", told=said))
    return "".join(drawn)


def _strength(share: float, *, roomy: bool) -> float:
    return max(WEAKEST, (STRONGEST if roomy else STRONGEST_BARE) * math.pow(min(share, 1.0), BEND))


def _percent(share: float) -> str:
    if not math.isfinite(share):
        return "an unknown share"
    if 0.9995 <= share < 1:
        return "> 99.9 %"
    return "< 0.1 %" if 0 < share < 0.0005 else f"{100 * share:.3g} %"


def _strengths(placed: Rows, *, roomy: bool) -> str:
    """Which strength stands for which share."""
    font = placed.layout.font
    y, wide = placed.bottom + 1.2 * font, 2.0 * font
    drawn, x = [], placed.right - 5 * wide
    for i, share in enumerate((0.05, 0.25, 0.5, 0.75, 1.0)):
        left = x + i * wide
        drawn.append(rect("mark", left, y, wide - 1, 0.8 * font, opacity=_strength(share, roomy=roomy)))
        said = f"{100 * share:.0f}"
        drawn.append(text(left + wide / 2, y + 1.75 * font, said, kind="soft small", anchor="middle"))
    drawn.append(text(x - 0.6 * font, y + 0.72 * font, "share of subsets (%)", kind="soft small", anchor="end"))
    return "".join(drawn)


def _favourites(names: Sequence[str], shares_SS: NDArray[np.float64]) -> str:
    known_SS = np.nan_to_num(shares_SS, nan=-1.0)
    best = known_SS.argmax(axis=1).tolist()
    return ", ".join(
        f"{name} is rank {rank + 1} ({_percent(float(shares_SS[i, rank]))})"
        for i, (name, rank) in enumerate(zip(names, best, strict=True))
    )
