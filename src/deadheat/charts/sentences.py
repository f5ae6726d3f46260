"""One sentence with the labels of gold and of systems: tags below the words, or trees above them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deadheat.charts.chart import Chart, Layout
from deadheat.charts.drawing import ELLIPSIS, label, line, rect, shortened, text, text_width
from deadheat.charts.named_rows import nothing
from deadheat.charts.theme import SMALL
from deadheat.charts.trees import tree
from deadheat.charts.words import Labelled, labelled, right_to_left

__all__ = ["tag_rows", "tree"]

MOST_WORDS = 60  # that are drawn; of more, those around the words that are disputed
NAMES_SHARE = 0.26  # of the width, at most, for the names of systems
WIDEST = 12  # a column at most, in sizes of the font
WORD, LABEL = 1.7, 1.45  # heights of lines, in sizes of the font


@dataclass(frozen=True, slots=True)
class _Column:
    """A word and where its labels stand; position -1 is a gap, where words are left out."""

    position: int
    left: float
    width: float
    mirrored: bool = False  # words run from right to left

    @property
    def anchor(self) -> str:
        return "end" if self.mirrored else "start"

    @property
    def x(self) -> float:
        """Where text begins."""
        return self.left + self.width if self.mirrored else self.left


def tag_rows(
    words: Sequence[str], gold: Sequence[str], systems: Mapping[str, Sequence[str]], layout: Layout, *, title: str
) -> Chart:
    """Draw words with their labels below them, gold first, then a row a system; wrong labels are bold and underlined.

    Examples
    --------
    >>> from deadheat.charts.chart import WIDE
    >>> chart = tag_rows(["a", "dog"], ["DT", "NN"], {"x": ["DT", "VB"], "y": ["DT", "NN"]}, WIDE, title="Tags")
    >>> print(chart.description)
    2 words. x is wrong on 1 word: dog VB for NN. y is right throughout.
    """
    sentence = labelled(words, gold, systems)
    if not sentence.words:
        return nothing(title, layout, sentence.header)
    font = layout.font
    names = ["gold", *sentence.systems]
    widest = max(text_width(name, SMALL * font) for name in names)
    left = min(1.03 * widest, NAMES_SHARE * layout.width) + 1.3 * font
    shown, cut = _window(sentence)
    blocks = _wrapped(sentence, shown, left, layout)
    high = (WORD + LABEL * len(names)) * font
    drawn, y = [], 0.2 * font
    mirrored = right_to_left(sentence.words)
    for block in blocks:
        if mirrored:
            far = left + layout.width - 0.3 * font
            block = [_Column(each.position, far - each.left - each.width, each.width, mirrored) for each in block]
        drawn.append(_names(names, left, y, font))
        drawn += [_column(sentence, each, y, font) for each in block]
        y += high + 1.3 * font
    said = sentence.mistakes() + cut + (" Words run from right to left." if mirrored else "")
    return Chart(title, said, layout.width, y - 0.6 * font, "".join(drawn), sentence.header, sentence.rows)


def _window(sentence: Labelled) -> tuple[list[int], str]:
    """The positions to show, -1 for a gap, and what is to be said of it: the window with the most disputed words."""
    count = len(sentence.words)
    if count <= MOST_WORDS:
        return list(range(count)), ""
    disputed = sentence.disputed or [0]
    held = {first: sum(first <= each < first + MOST_WORDS for each in disputed) for first in disputed}
    first = max(held, key=lambda each: held[each])
    last = max(each for each in disputed if each < first + MOST_WORDS)
    start = min(max(0, first - (MOST_WORDS - (last - first + 1)) // 2), count - MOST_WORDS)
    end = start + MOST_WORDS
    shown = [*([-1] if start else []), *range(start, end), *([-1] if end < count else [])]
    return shown, f" Shown are words {start + 1} to {end}, around those that are disputed."


def _wrapped(sentence: Labelled, shown: Sequence[int], left: float, layout: Layout) -> list[list[_Column]]:
    """Columns one after the other on as many lines as they take."""
    font, right, gap = layout.font, layout.width - 0.3 * layout.font, 0.9 * layout.font
    blocks, x = [list[_Column]()], left
    most = min(WIDEST * font, 0.45 * (right - left))
    for place, position in enumerate(shown):
        width = min(_needed(sentence, position, font), most)
        before_gap = place + 1 < len(shown) and shown[place + 1] < 0  # the sign of a gap does not begin a line
        if blocks[-1] and x + width + (gap + font if before_gap else 0) > right and position >= 0:
            blocks.append([])
            x = left
        blocks[-1].append(_Column(position, x, width))
        x += width + gap
    return blocks


def _needed(sentence: Labelled, position: int, font: float) -> float:
    if position < 0:
        return font
    labels = [sentence.gold[position], *(each[position] for each in sentence.systems.values())]
    widest = max(text_width(each, SMALL * font, bold=True) for each in labels)
    return max(1.04 * text_width(sentence.words[position], font), widest, font) + 1


def _names(names: Sequence[str], left: float, y: float, font: float) -> str:
    room = left - 1.1 * font
    return "".join(
        label(left - font, _level(row, y, font), name, room, SMALL * font, kind="soft small", anchor="end")
        for row, name in enumerate(names)
    )


def _level(row: int, y: float, font: float) -> float:
    """The base line of a row of labels; gold is row 0."""
    return y + (WORD + LABEL * (row + 0.72)) * font


def _column(sentence: Labelled, column: _Column, y: float, font: float) -> str:
    if column.position < 0:
        return text(column.x, y + 1.1 * font, ELLIPSIS, kind="soft", anchor=column.anchor)
    word, gold = sentence.words[column.position], sentence.gold[column.position]
    shown = shortened(word, column.width, font)
    drawn = text(column.x, y + 1.1 * font, shown, anchor=column.anchor, told=f"{column.position + 1}: {word}")
    drawn += line("grid", column.left, y + WORD * font, column.left + column.width, y + WORD * font)
    drawn += _label(gold, column, _level(0, y, font), font, kind="small", said=f"gold: {word} {gold}")
    for row, (name, labels) in enumerate(sentence.systems.items(), start=1):
        found = labels[column.position]
        right = found == gold
        kind = "soft small" if right else "loss strong small"
        said = f"{name}: {word} {found}" + ("" if right else f", wrong; gold is {gold}")
        drawn += _label(found, column, _level(row, y, font), font, kind=kind, said=said)
    return drawn


def _label(found: str, column: _Column, y: float, font: float, *, kind: str, said: str) -> str:
    bold = "strong" in kind
    shown = shortened(found, column.width / (1.1 if bold else 1), SMALL * font)
    drawn = text(column.x, y, shown, kind=kind, anchor=column.anchor, told=said)
    if bold:
        width = min(text_width(shown, SMALL * font, bold=True), column.width)
        drawn += rect("loss", column.x - (width if column.mirrored else 0), y + 0.16 * font, width, 0.12 * font)
    return drawn
