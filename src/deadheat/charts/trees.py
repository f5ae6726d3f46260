"""Dependency trees of one sentence: gold's, and below it one a system, with what is wrong in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deadheat.charts.arcs import ROOT, Arc, arcs_of, levels, places, ports
from deadheat.charts.chart import Chart, Layout
from deadheat.charts.drawing import number, path, polygon, rect, shortened, text, text_width
from deadheat.charts.named_rows import nothing
from deadheat.charts.theme import SMALL
from deadheat.charts.words import Labelled, labelled, right_to_left
from deadheat.text import pluralize

LEVEL = 1.55  # height of a level, in sizes of the font
STEP = 0.55  # between arcs that end on one word
LONGEST = 14  # a word at most
CROSS = ((0, -0.5), (0.6, -1.1), (1.1, -0.6), (0.5, 0), (1.1, 0.6), (0.6, 1.1))  # one half of it


@dataclass(frozen=True, slots=True)
class _Placed:
    """The words of a sentence on a drawing."""

    sentence: Labelled
    shown: tuple[str, ...]
    middles: tuple[float, ...]
    width: float
    font: float
    mirrored: bool

    def x(self, word: int, step: float = 0.0) -> float:
        at = self.middles[word] + step * STEP * self.font
        return self.width - at if self.mirrored else at


def tree(
    words: Sequence[str], gold: Sequence[str], systems: Mapping[str, Sequence[str]], layout: Layout, *, title: str
) -> Chart:
    """Draw the gold tree and each system's below it; labels are HEAD:relation, heads counted from 1.

    A system's wrong arcs are strong and have a cross; where only the relation is wrong, it alone is. The drawing is as
    wide as the sentence needs.

    Examples
    --------
    >>> from deadheat.charts.chart import WIDE
    >>> chart = tree(["I", "see"], ["2:nsubj", "0:root"], {"x": ["0:root", "1:obj"]}, WIDE, title="Trees")
    >>> print(chart.description)
    2 words. x is wrong on 2 words: I 0:root for 2:nsubj, see 1:obj for 0:root.
    """
    sentence = labelled(words, gold, systems)
    trees = [arcs_of(name, labels) for name, labels in sentence.rows_of_labels]
    if not sentence.words:
        return nothing(title, layout, sentence.header)
    placed = _placed(sentence, trees, layout)
    drawn, y = [], 0.0
    for row, (name, arcs) in enumerate(zip(["gold", *sentence.systems], trees, strict=True)):
        marks, y = _panel(name, arcs, trees[0], placed, y, first=row == 0)
        drawn.append(marks)
    said = sentence.mistakes() + (" Words run from right to left." if placed.mirrored else "")
    return Chart(title, said, placed.width, y, "".join(drawn), sentence.header, sentence.rows)


def _placed(sentence: Labelled, trees: Sequence[Sequence[Arc]], layout: Layout) -> _Placed:
    font = layout.font
    shown = tuple(shortened(word, LONGEST * font, font) for word in sentence.words)
    widths = [text_width(word, font, bold=True) for word in shown]
    needs = []
    for arcs in trees:
        for arc, (here, there) in zip(arcs, ports(arcs), strict=True):
            left, right = arc.ends
            far = text_width(arc.relation, SMALL * font, bold=True) + 2.6 * font
            if arc.head == ROOT:
                widths[left] = max(widths[left], far - 1.6 * font + 2 * abs(here) * STEP * font)
            else:
                inward = abs(here) + abs(there)
                needs.append((left, right, far + inward * STEP * font))
        for word in range(len(widths)):
            count = sum(word in (arc.dependent, arc.head) for arc in arcs)
            widths[word] = max(widths[word], count * STEP * font)
    side = 0.4 * font
    middles = [side + each for each in places(widths, needs, gap=0.8 * font)]
    width = max(layout.width, middles[-1] + widths[-1] / 2 + side)
    return _Placed(sentence, shown, tuple(middles), width, font, right_to_left(sentence.words))


def _panel(
    name: str, arcs: Sequence[Arc], gold: Sequence[Arc], placed: _Placed, y: float, *, first: bool
) -> tuple[str, float]:
    """One tree under its name, and where it ends."""
    font = placed.font
    found = levels(arcs)
    base = y + (2.4 + LEVEL * max(found)) * font
    wrong = [arc.head != right.head for arc, right in zip(arcs, gold, strict=True)]
    misnamed = [arc.relation != right.relation for arc, right in zip(arcs, gold, strict=True)]
    drawn = [
        _heading(name, placed, y + 1.2 * font, sum(a or b for a, b in zip(wrong, misnamed, strict=True)), first=first)
    ]
    ends = ports(arcs)
    order = sorted(range(len(arcs)), key=lambda i: wrong[i])  # strong ones over soft ones
    tips = [_told(name, arc, right, placed.sentence) for arc, right in zip(arcs, gold, strict=True)]
    for i in order:
        kind = "rule" if wrong[i] else "elbow" if first else "faint"
        drawn.append(_line(arcs[i], ends[i], base, base - LEVEL * font * found[i], placed, kind, tips[i]))
    for i in order:
        level = base - LEVEL * font * found[i]
        drawn.append(_relation(arcs[i], ends[i], level, placed, tips[i], wrong=wrong[i] or misnamed[i], first=first))
    for i, word in enumerate(placed.shown):
        strong = wrong[i] or misnamed[i]
        kind = "strong" if strong else "" if first else "soft"
        told = f"{i + 1}: {placed.sentence.words[i]}"
        drawn.append(text(placed.x(i), base + 1.15 * font, word, kind=kind, anchor="middle", told=told))
    return "".join(drawn), base + 2.2 * font


def _heading(name: str, placed: _Placed, y: float, mistakes: int, *, first: bool) -> str:
    font = placed.font
    of = f"{mistakes} of {pluralize(len(placed.shown), 'word')} wrong" if not first else ""
    shown = shortened(name, 0.6 * placed.width, 1.1 * font)
    start = 0.2 * font
    drawn = text(start, y, shown, kind="strong", told="" if shown == name else name)
    after = start + text_width(shown, font, bold=True) + 0.9 * font
    return drawn + (text(after, y, of, kind="soft small") if of else "")


def _line(arc: Arc, ends: tuple[float, float], base: float, level: float, placed: _Placed, kind: str, said: str) -> str:
    """An arc from head to dependent with an arrow at the dependent; a root's comes from above."""
    font = placed.font
    x = placed.x(arc.dependent, ends[0])
    tip = base - 0.1 * font
    fill = {"rule": "loss", "elbow": "ink"}.get(kind, "soft")
    arrow = polygon(fill, [x - 0.24 * font, x + 0.24 * font, x], [tip - 0.45 * font, tip - 0.45 * font, tip])
    if arc.head == ROOT:
        return path(kind, f"M{number(x)} {number(level + 0.5 * font)}V{number(tip - 0.4 * font)}", said) + arrow
    start = placed.x(arc.head, ends[1])
    turn = min(0.8 * font, abs(x - start) / 2)
    side, sweep = (turn, 1) if x > start else (-turn, 0)
    corner = f"a{number(turn)} {number(turn)} 0 0 {sweep} {number(side)}"
    d = f"M{number(start)} {number(base)}V{number(level + turn)}{corner} {number(-turn)}"
    d += f"H{number(x - side)}{corner} {number(turn)}V{number(tip - 0.4 * font)}"
    return path(kind, d, said) + arrow


def _relation(
    arc: Arc, ends: tuple[float, float], level: float, placed: _Placed, said: str, *, wrong: bool, first: bool
) -> str:
    """The name of an arc in a gap of its line; a wrong one is bold, after a cross."""
    font = placed.font
    x = placed.x(arc.dependent, ends[0])
    if arc.head != ROOT:
        x = (x + placed.x(arc.head, ends[1])) / 2
    if not wrong and not arc.relation:
        return ""
    width = text_width(arc.relation, SMALL * font, bold=wrong)
    mark = 0.75 * font if wrong else 0.0
    left = x - (width + mark) / 2
    drawn = rect("paper", left - 0.2 * font, level - 0.5 * font, width + mark + 0.4 * font, font)
    if wrong:
        half = [(a, b) for a, b in CROSS] + [(-a, -b) for a, b in CROSS]
        xs, ys = zip(*half, strict=True)
        r = 0.26 * font
        drawn += polygon("loss", [left + r + r * a for a in xs], [level + r * b for b in ys], said)
    kind = "loss strong small" if wrong else "small" if first else "soft small"
    return drawn + text(x + mark / 2, level + 0.3 * font, arc.relation, kind=kind, anchor="middle", told=said)


def _told(name: str, arc: Arc, right: Arc, sentence: Labelled) -> str:
    said = f"{name}: {_in_words(arc, sentence)}"
    if (arc.head, arc.relation) == (right.head, right.relation):
        return said
    return f"{said}; gold: {_in_words(right, sentence)}"


def _in_words(arc: Arc, sentence: Labelled) -> str:
    head = "the root" if arc.head == ROOT else f"{sentence.words[arc.head]} ({arc.head + 1})"
    relation = f", {arc.relation}" if arc.relation else ""
    return f"{sentence.words[arc.dependent]} ({arc.dependent + 1}) from {head}{relation}"
