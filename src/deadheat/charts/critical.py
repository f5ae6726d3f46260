"""The critical difference diagram: mean ranks on a line, and bars over those that are not told apart (Demšar 2006)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from deadheat.charts.chart import Chart, Layout
from deadheat.charts.drawing import label, line, number, path, shortened, text, text_width
from deadheat.charts.named_rows import datum, nothing
from deadheat.charts.scales import Scale, fixed, shown
from deadheat.charts.theme import SMALL
from deadheat.text import pluralize

HEADER = ("system", "mean rank", "groups")
ROOM_FOR_BOTH_SIDES = 500  # from this width on names stand left and right
AXIS_TITLE = "mean rank, 1 is best"
MOST_LISTED = 10  # systems that the description names


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the name of a system stands: the row, and the side."""

    system: int  # its position
    row: int
    right: bool = False


def critical_difference(
    names: Sequence[str],
    mean_ranks: Sequence[float],
    groups: Sequence[Sequence[int]],
    layout: Layout,
    *,
    title: str,
    difference: float | None = None,
) -> Chart:
    """Systems by mean rank; a bar joins those of a group, which are not told apart. `groups` hold positions of names.

    Examples
    --------
    >>> from deadheat.charts.chart import WIDE
    >>> chart = critical_difference(["a", "b", "c"], [1.2, 1.9, 2.9], [(0, 1)], WIDE, title="Ranks", difference=1.1)
    >>> print(chart.description)
    Mean ranks of 3 systems, 1 is best: a 1.20, b 1.90, c 2.90. Not told apart: a, b. The critical difference is 1.10.
    """
    if not names:
        return nothing(title, layout, HEADER)
    font = layout.font
    known = [i for i in sorted(range(len(names)), key=lambda i: mean_ranks[i]) if math.isfinite(mean_ranks[i])]
    placed = _placed(known, len(names), both_sides=layout.width >= ROOM_FOR_BOTH_SIDES)
    left, right = (_room(names, mean_ranks, [p for p in placed if p.right is side], layout) for side in (False, True))
    most = max([2.0, len(names), *(mean_ranks[i] for i in known)])
    scale = Scale(1, most, left, layout.width - max(right, 0.9 * font))
    head, y = _head(scale, font, difference)
    joined = [[i for i in group if math.isfinite(mean_ranks[i])] for group in groups]
    bars, levels = _bars(names, mean_ranks, [group for group in joined if len(group) > 1], scale, y, font)
    first = y + (1.9 + 0.8 * levels) * font
    drawn = [head, _axis(scale, y, font)]
    drawn += [_system(names[p.system], mean_ranks[p.system], p, scale, (y, first), layout) for p in placed]
    drawn.append(bars)  # above the lines, so that the bars are not cut up
    height = first + 1.6 * font * max(p.row for p in placed) + 0.9 * font
    table = tuple((name, datum(mean_ranks[i]), _memberships(i, groups)) for i, name in enumerate(names))
    description = _description(names, mean_ranks, known, joined, difference)
    return Chart(title, description, layout.width, height, "".join(drawn), HEADER, table)


def _placed(order: Sequence[int], count: int, *, both_sides: bool) -> list[_Place]:
    """Names by rank from the top left to the bottom, then up on the right: so no line crosses another."""
    left = math.ceil(len(order) / 2) if both_sides else len(order)
    placed = [_Place(i, row) for row, i in enumerate(order[:left])]
    placed += [_Place(i, row, right=True) for row, i in enumerate(reversed(order[left:]))]
    unknown = [i for i in range(count) if i not in order]
    return placed + [_Place(i, left + row) for row, i in enumerate(unknown)]


def _room(names: Sequence[str], ranks: Sequence[float], placed: Sequence[_Place], layout: Layout) -> float:
    """How much of the width the names of one side take, with their ranks."""
    if not placed:
        return 0.0
    share = 0.3 if layout.width >= ROOM_FOR_BOTH_SIDES else 0.45
    widest = max(text_width(names[p.system], layout.font) for p in placed)
    numbers = max(text_width(fixed(ranks[p.system], 2), SMALL * layout.font) for p in placed)
    return min(1.03 * widest + numbers + 1.4 * layout.font, share * layout.width)


def _head(scale: Scale, font: float, difference: float | None) -> tuple[str, float]:
    """What the line shows and how long a critical difference is; and the level of the line below."""
    said = shortened(AXIS_TITLE, scale.end - scale.start, SMALL * font)
    drawn = [text(scale.end, font, said, kind="soft small", anchor="end")]
    if difference is None or not math.isfinite(difference):
        return "".join(drawn), 3.1 * font
    length = f"CD = {difference:.2f}"
    taken = text_width(length, SMALL * font) + text_width(said, SMALL * font) + font
    y = font if taken <= scale.end - scale.start else 2.4 * font
    start, end = scale(1), scale(min(1 + difference, scale.high))
    bracket, tick = y + 0.7 * font, 0.25 * font
    drawn.append(text(start, y, length, kind="small"))
    drawn.append(line("rule", start, bracket, end, bracket, f"critical difference: {difference:.4g}"))
    drawn.append(line("rule", start, bracket - tick, start, bracket + tick))
    if 1 + difference <= scale.high:  # a difference longer than the line has no end
        drawn.append(line("rule", end, bracket - tick, end, bracket + tick))
    return "".join(drawn), y + 3.1 * font


def _axis(scale: Scale, y: float, font: float) -> str:
    """The line, with whole ranks above it, the first and the last among them, and others where there is room."""
    last = math.floor(scale.high)
    need = text_width(shown(last), SMALL * font) + 0.7 * font
    unit = (scale.end - scale.start) / (scale.high - 1)
    step = next((each for each in (1, 2, 5, 10, 20, 50) if each * unit >= need), last)
    roomy = [rank for rank in range(step if step > 1 else 2, last, step) if min(rank - 1, last - rank) * unit >= need]
    drawn = [line("axis", scale.start, y, scale.end, y)]
    for rank in (1, *roomy, last):
        drawn.append(line("axis", scale(rank), y - 0.4 * font, scale(rank), y))
        drawn.append(text(scale(rank), y - 0.7 * font, shown(rank), kind="soft small", anchor="middle"))
    return "".join(drawn)


def _bars(
    names: Sequence[str], ranks: Sequence[float], groups: Sequence[Sequence[int]], scale: Scale, y: float, font: float
) -> tuple[str, int]:
    """Thick bars below the line, no two of them touching; and how many levels they take."""
    ends: list[float] = []  # of the last bar of every level
    drawn = []
    for group in sorted(groups, key=lambda each: (min(ranks[i] for i in each), -max(ranks[i] for i in each))):
        start = scale(min(ranks[i] for i in group)) - 0.35 * font
        end = scale(max(ranks[i] for i in group)) + 0.35 * font
        level = next((i for i, taken in enumerate(ends) if taken + 0.4 * font <= start), len(ends))
        ends[level : level + 1] = [end]
        at = y + (1 + 0.8 * level) * font
        told = "not told apart: " + ", ".join(names[i] for i in sorted(group, key=lambda i: ranks[i]))
        drawn.append(line("thick", start, at, end, at, told))
    return "".join(drawn), len(ends)


def _system(name: str, rank: float, place: _Place, scale: Scale, levels: tuple[float, float], layout: Layout) -> str:
    """The name with its rank, and the line from it to its place."""
    axis, first = levels
    font, y = layout.font, first + 1.6 * layout.font * place.row
    side, way = (scale.end + 0.3 * font, 1) if place.right else (scale.start - 0.3 * font, -1)
    anchor = "start" if place.right else "end"
    written = fixed(rank, 2)
    beside = side + way * (text_width(written, SMALL * font) + 0.9 * font)
    room = layout.width - beside if place.right else beside
    drawn = [
        text(side + way * 0.3 * font, y + 0.3 * font, written, kind="soft small", anchor=anchor),
        label(beside, y + 0.34 * font, name, room, font, anchor=anchor),
    ]
    if math.isfinite(rank):
        d = f"M{number(scale(rank))} {number(axis)}V{number(y)}H{number(side)}"
        drawn.insert(0, path("elbow", d, f"{name}: mean rank {written}"))
    return "".join(drawn)


def _memberships(system: int, groups: Sequence[Sequence[int]]) -> str:
    return " ".join(str(number) for number, group in enumerate(groups, 1) if system in group)


def _in_words(names: Sequence[str], group: Sequence[int]) -> str:
    if len(group) <= 3:
        return ", ".join(names[i] for i in group)
    return f"{len(group)} systems from {names[group[0]]} to {names[group[-1]]}"


def _description(
    names: Sequence[str],
    ranks: Sequence[float],
    order: Sequence[int],
    groups: Sequence[Sequence[int]],
    difference: float | None,
) -> str:
    listed = ", ".join(f"{names[i]} {ranks[i]:.2f}" for i in order[:MOST_LISTED])
    more = f", and {len(order) - MOST_LISTED} more" if len(order) > MOST_LISTED else ""
    said = f"Mean ranks of {pluralize(len(names), 'system')}, 1 is best: {listed}{more}."
    joined = [_in_words(names, sorted(group, key=lambda i: ranks[i])) for group in groups if len(group) > 1]
    said += f" Not told apart: {'; '.join(joined[:MOST_LISTED])}." if joined else " All are told apart."
    if difference is not None and math.isfinite(difference):
        said += f" The critical difference is {difference:.2f}."
    return said
