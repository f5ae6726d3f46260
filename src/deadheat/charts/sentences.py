"""One sentence with gold labels and those of systems: rows of tags, or dependency trees."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from deadheat.charts.chart import Chart, Layout, empty_chart
from deadheat.charts.drawing import (
    BOLD,
    ELLIPSIS,
    SMALL,
    cross,
    label,
    line,
    number,
    path,
    polygon,
    rect,
    shorten,
    text,
    text_width,
)
from deadheat.errors import InputError
from deadheat.text import pluralize

GOLD = "gold"
MOST_MISTAKES = 5  # of a system that a description lists
MOST_WORDS = 60  # of a sentence with tags that are drawn; of more, those around the mistakes
NAMES_SHARE = 0.26  # of the width, at most, for the names of systems
WIDEST_COLUMN = 12  # in multiples of the font size, as all sizes below
WORD_HEIGHT, TAG_HEIGHT = 1.7, 1.45
ROOT = -1
LEVEL = 1.55  # height of a level of arcs
STEP = 0.55  # between arcs that end on the same word
WIDEST_WORD = 14  # in a tree


@dataclass(frozen=True, slots=True)
class SystemLabels:
    """The labels of one system, one per word."""

    name: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """A sentence with gold labels and those of systems, one per word."""

    words: tuple[str, ...]
    gold: tuple[str, ...]
    systems: tuple[SystemLabels, ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.labels) != len(self.words):
                counts = f"{pluralize(len(row.labels), 'label')} for {pluralize(len(self.words), 'word')}"
                raise InputError(f"{row.name}: {counts}; expected one label per word")

    @property
    def rows(self) -> tuple[SystemLabels, ...]:
        """Gold, then the systems."""
        return (SystemLabels(GOLD, self.gold), *self.systems)

    @property
    def header(self) -> tuple[str, ...]:
        return ("position", "word", *(row.name for row in self.rows))

    @property
    def right_to_left(self) -> bool:
        """Whether most words that have a direction run from right to left."""
        directions = [map(unicodedata.bidirectional, word) for word in self.words]
        first = [next((kind for kind in word if kind in ("L", "R", "AL")), "") for word in directions]
        return first.count("R") + first.count("AL") > first.count("L")

    def chart(self, title: str, marks: str, width: float, height: float, note: str = "") -> Chart:
        """A drawing of the sentence with its labels as a table, and a description of the mistakes of every system."""
        description = " ".join([f"{pluralize(len(self.words), 'word')}.", *map(self._mistakes, self.systems)])
        description += " Words run from right to left." if self.right_to_left else ""
        columns = (range(1, len(self.words) + 1), self.words, *(row.labels for row in self.rows))
        return Chart(title, description + note, width, height, marks, self.header, tuple(zip(*columns, strict=True)))

    def _mistakes(self, system: SystemLabels) -> str:
        columns = zip(self.words, system.labels, self.gold, strict=True)
        wrong = [f"{word} {tag} for {gold}" for word, tag, gold in columns if tag != gold]
        if not wrong:
            return f"{system.name} makes no mistakes."
        more = [f"{len(wrong) - MOST_MISTAKES} more"] if len(wrong) > MOST_MISTAKES else []
        listed = ", ".join([*wrong[:MOST_MISTAKES], *more])
        return f"{system.name} is wrong on {pluralize(len(wrong), 'word')}: {listed}."


@dataclass(frozen=True, slots=True)
class TagRows:
    """Words with their tags below them, one row per system after gold; wrong tags are bold and underlined."""

    sentence: LabelledSentence
    title: str

    def draw(self, layout: Layout) -> Chart:
        sentence, font = self.sentence, layout.font
        if not sentence.words:
            return empty_chart(self.title, layout, sentence.header)
        names = [row.name for row in sentence.rows]
        widest = max(text_width(name, SMALL * font) for name in names)
        left = min(1.03 * widest, NAMES_SHARE * layout.width) + 1.3 * font
        positions, window = _window(sentence)
        drawn, y, end = [], 0.2 * font, left - font
        for columns in _wrap(sentence, positions, left, layout):
            for i, name in enumerate(names):
                level = _base_line(i, y, font)
                drawn.append(label(end, level, name, end - 0.1 * font, SMALL * font, kind="soft small", anchor="end"))
            drawn += [_tag_column(sentence, column, y, font) for column in columns]
            y += (WORD_HEIGHT + TAG_HEIGHT * len(names) + 1.3) * font
        return sentence.chart(self.title, "".join(drawn), layout.width, y - 0.6 * font, window)


@dataclass(frozen=True, slots=True)
class _Column:
    """The horizontal position of a word; `position` is -1 for an ellipsis, where words are left out."""

    position: int
    left: float
    width: float
    x: float  # where text starts: at the right end where words run from right to left
    anchor: str


def _window(sentence: LabelledSentence) -> tuple[list[int], str]:
    """The positions to draw, -1 for an ellipsis, and a note: the window with the most words that are wrong."""
    count = len(sentence.words)
    if count <= MOST_WORDS:
        return list(range(count)), ""
    columns = enumerate(zip(*(row.labels for row in sentence.rows), strict=True))
    wrong = [i for i, tags in columns if len(set(tags)) > 1] or [0]
    first = max(wrong, key=lambda start: sum(start <= i < start + MOST_WORDS for i in wrong))
    last = max(i for i in wrong if i < first + MOST_WORDS)
    start = min(max(0, first - (MOST_WORDS - (last - first + 1)) // 2), count - MOST_WORDS)
    end = start + MOST_WORDS
    positions = [*([-1] if start else []), *range(start, end), *([-1] if end < count else [])]
    return positions, f" Only words {start + 1} to {end} are drawn, around the mistakes."


def _wrap(sentence: LabelledSentence, positions: Sequence[int], left: float, layout: Layout) -> list[list[_Column]]:
    """Columns one after the other, on as many lines as necessary."""
    font, right, gap = layout.font, layout.width - 0.3 * layout.font, 0.9 * layout.font
    lines, x = [list[_Column]()], left
    widest = min(WIDEST_COLUMN * font, 0.45 * (right - left))
    for i, position in enumerate(positions):
        width = font
        if position >= 0:
            tags = (text_width(row.labels[position], SMALL * font, bold=True) for row in sentence.rows)
            width = min(max(1.04 * text_width(sentence.words[position], font), *tags, font) + 1, widest)
        before_ellipsis = i + 1 < len(positions) and positions[i + 1] < 0  # an ellipsis does not begin a line
        if lines[-1] and x + width + (gap + font if before_ellipsis else 0) > right and position >= 0:
            lines.append([])
            x = left
        if sentence.right_to_left:
            lines[-1].append(_Column(position, left + right - x - width, width, left + right - x, "end"))
        else:
            lines[-1].append(_Column(position, x, width, x, "start"))
        x += width + gap
    return lines


def _base_line(row: int, y: float, font: float) -> float:
    """The base line of a row of tags; gold is row 0."""
    return y + (WORD_HEIGHT + TAG_HEIGHT * (row + 0.72)) * font


def _tag_column(sentence: LabelledSentence, column: _Column, y: float, font: float) -> str:
    if column.position < 0:
        return text(column.x, y + 1.1 * font, ELLIPSIS, kind="soft", anchor=column.anchor)
    word, gold = sentence.words[column.position], sentence.gold[column.position]
    short, tooltip = shorten(word, column.width, font), f"{column.position + 1}: {word}"
    drawn = text(column.x, y + 1.1 * font, short, anchor=column.anchor, tooltip=tooltip)
    level = y + WORD_HEIGHT * font
    drawn += line("grid", column.left, level, column.left + column.width, level)
    for i, row in enumerate(sentence.rows):
        tag = row.labels[column.position]
        kind = "loss strong small" if tag != gold else "soft small" if i else "small"
        tooltip = f"{row.name}: {word} {tag}" + ("" if tag == gold else f", wrong; gold is {gold}")
        level = _base_line(i, y, font)
        short = shorten(tag, column.width / (1 if tag == gold else BOLD), SMALL * font)
        drawn += text(column.x, level, short, kind=kind, anchor=column.anchor, tooltip=tooltip)
        if tag != gold:
            width = min(text_width(short, SMALL * font, bold=True), column.width)
            left = column.x - (width if column.anchor == "end" else 0)
            drawn += rect("loss", left, level + 0.16 * font, width, 0.12 * font)
    return drawn


@dataclass(frozen=True, slots=True)
class DependencyTree:
    """The gold tree, and the tree of each system below it; labels are HEAD:relation, and heads count from 1.

    Wrong arcs of a system are strong and have a cross; where only the relation is wrong, only its name does. The
    drawing is as wide as the sentence needs.
    """

    sentence: LabelledSentence
    title: str

    def __post_init__(self) -> None:
        for row in self.sentence.rows:
            _arcs(row)

    def draw(self, layout: Layout) -> Chart:
        sentence = self.sentence
        if not sentence.words:
            return empty_chart(self.title, layout, sentence.header)
        trees = [_arcs(row) for row in sentence.rows]
        words = _place_words(sentence, trees, layout)
        drawn, y = [], 0.0
        for i, row in enumerate(sentence.rows):
            marks, y = _tree(row.name, trees[i], trees[0], words, y, is_gold=i == 0)
            drawn.append(marks)
        return sentence.chart(self.title, "".join(drawn), words.width, y)


@dataclass(frozen=True, slots=True)
class _Arc:
    """From a head to a dependent, indices from 0; the head of a root is ROOT."""

    dependent: int
    head: int
    relation: str

    @property
    def ends(self) -> tuple[int, int]:
        """From left to right; the same word twice for a root."""
        if self.head == ROOT:
            return self.dependent, self.dependent
        return min(self.dependent, self.head), max(self.dependent, self.head)

    def describe(self, sentence: LabelledSentence) -> str:
        head = "the root" if self.head == ROOT else f"{sentence.words[self.head]} ({self.head + 1})"
        relation = f", {self.relation}" if self.relation else ""
        return f"{sentence.words[self.dependent]} ({self.dependent + 1}) from {head}{relation}"


def _arcs(row: SystemLabels) -> list[_Arc]:
    """One arc per word, from labels HEAD:relation or HEAD; head 0 is the root."""
    arcs = []
    for i, tag in enumerate(row.labels):
        head, _, relation = tag.partition(":")
        if not head.isdecimal() or int(head) > len(row.labels) or int(head) == i + 1:
            expected = f"HEAD:relation with the number of another word up to {len(row.labels)}, or 0"
            raise InputError(f"{row.name}: word {i + 1} has the label {tag!r}; expected {expected}")
        arcs.append(_Arc(i, int(head) - 1, relation))
    return arcs


def _levels(arcs: Sequence[_Arc]) -> list[int]:
    """The height of each arc: above all shorter arcs that it covers or crosses; roots above all arcs over them.

    Arcs on the same level share at most an end, so that their names do not overlap.
    """
    levels = [0] * len(arcs)
    spans = [arc.ends for arc in arcs]
    order = sorted(range(len(arcs)), key=lambda i: (arcs[i].head == ROOT, spans[i][1] - spans[i][0], spans[i][0]))
    for index, i in enumerate(order):
        left, right = spans[i]
        slack = 0.5 if arcs[i].head == ROOT else 0  # a root has no width
        shared = (j for j in order[:index] if max(left - slack, spans[j][0]) < min(right + slack, spans[j][1]))
        levels[i] = 1 + max((levels[j] for j in shared), default=0)
    return levels


def _ports(arcs: Sequence[_Arc]) -> list[tuple[float, float]]:
    """Where each arc ends on its dependent and on its head, in steps from the middle of the word.

    From left to right: arcs to the left, the shortest first; the root; arcs to the right, the longest first. So no two
    arcs cross unless they have to.
    """
    ends: dict[int, list[tuple[int, int, int]]] = {}
    for i, arc in enumerate(arcs):
        for word, other in ((arc.dependent, arc.head), (arc.head, arc.dependent)):
            if word != ROOT:
                distance = 0 if other == ROOT else other - word
                ends.setdefault(word, []).append(((distance > 0) - (distance < 0), -distance, i))
    steps: dict[tuple[int, int], float] = {}
    for word, ending in ends.items():
        for index, (_, _, i) in enumerate(sorted(ending)):
            steps[word, i] = index - (len(ending) - 1) / 2
    return [(steps[arc.dependent, i], steps.get((arc.head, i), steps[arc.dependent, i])) for i, arc in enumerate(arcs)]


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a sentence with their positions."""

    sentence: LabelledSentence
    shortened: tuple[str, ...]
    centres: tuple[float, ...]
    width: float
    font: float

    def x(self, word: int, step: float = 0.0) -> float:
        at = self.centres[word] + step * STEP * self.font
        return self.width - at if self.sentence.right_to_left else at


def _place_words(sentence: LabelledSentence, trees: Sequence[Sequence[_Arc]], layout: Layout) -> _Words:
    font = layout.font
    shortened = tuple(shorten(word, WIDEST_WORD * font, font) for word in sentence.words)
    widths = [text_width(word, font, bold=True) for word in shortened]
    distances = []
    for arcs in trees:
        for arc, (dependent, head) in zip(arcs, _ports(arcs), strict=True):
            left, right = arc.ends
            width = text_width(arc.relation, SMALL * font, bold=True) + 2.6 * font
            if arc.head == ROOT:
                widths[left] = max(widths[left], width - 1.6 * font + 2 * abs(dependent) * STEP * font)
            else:
                distances.append((left, right, width + (abs(dependent) + abs(head)) * STEP * font))
        for word in range(len(widths)):
            count = sum(word in (arc.dependent, arc.head) for arc in arcs)
            widths[word] = max(widths[word], count * STEP * font)
    centres = [0.4 * font + widths[0] / 2]
    for i in range(1, len(widths)):
        beside = centres[-1] + (widths[i - 1] + widths[i]) / 2 + 0.8 * font
        centres.append(max([beside, *(centres[left] + distance for left, right, distance in distances if right == i)]))
    width = max(layout.width, centres[-1] + widths[-1] / 2 + 0.4 * font)
    return _Words(sentence, shortened, tuple(centres), width, font)


def _tree(
    name: str, arcs: Sequence[_Arc], gold: Sequence[_Arc], words: _Words, y: float, *, is_gold: bool
) -> tuple[str, float]:
    """One tree below its name, and where it ends."""
    font, levels, ports = words.font, _levels(arcs), _ports(arcs)
    base = y + (2.4 + LEVEL * max(levels)) * font
    wrong_head = [arc.head != right.head for arc, right in zip(arcs, gold, strict=True)]
    wrong = [arc != right for arc, right in zip(arcs, gold, strict=True)]
    short, start = shorten(name, 0.6 * words.width, BOLD * font), 0.2 * font
    drawn = [text(start, y + 1.2 * font, short, kind="strong", tooltip="" if short == name else name)]
    if not is_gold:
        start += text_width(short, font, bold=True) + 0.9 * font
        mistakes = f"{sum(wrong)} of {pluralize(len(wrong), 'word')} wrong"
        drawn.append(text(start, y + 1.2 * font, mistakes, kind="soft small"))
    lines, relations = [], []
    for i in sorted(range(len(arcs)), key=lambda i: wrong_head[i]):  # strong lines over faint ones
        arc, top = arcs[i], base - LEVEL * font * levels[i]
        tooltip = f"{name}: {arc.describe(words.sentence)}"
        tooltip += f"; gold: {gold[i].describe(words.sentence)}" if wrong[i] else ""
        kind = "rule" if wrong_head[i] else "elbow" if is_gold else "faint"
        end = words.x(arc.dependent, ports[i][0])
        start = end if arc.head == ROOT else words.x(arc.head, ports[i][1])
        lines.append(_arc_line(start, end, base, top, font, kind, tooltip))
        kind = "loss strong small" if wrong[i] else "small" if is_gold else "soft small"
        if wrong[i] or arc.relation:
            relations.append(_relation(arc.relation, (start + end) / 2, top, font, kind, tooltip, wrong=wrong[i]))
    drawn += lines + relations
    for i, word in enumerate(words.shortened):
        kind = "strong" if wrong[i] else "" if is_gold else "soft"
        tooltip = f"{i + 1}: {words.sentence.words[i]}"
        drawn.append(text(words.x(i), base + 1.15 * font, word, kind=kind, anchor="middle", tooltip=tooltip))
    return "".join(drawn), base + 2.2 * font


def _arc_line(start: float, end: float, base: float, top: float, font: float, kind: str, tooltip: str) -> str:
    """An arc from head to dependent with an arrow at the dependent; the arc of a root comes from above."""
    tip = base - 0.1 * font
    fill = {"rule": "loss", "elbow": "ink"}.get(kind, "soft")
    arrow = polygon(fill, [end - 0.24 * font, end + 0.24 * font, end], [tip - 0.45 * font, tip - 0.45 * font, tip])
    if start == end:
        return path(kind, f"M{number(end)} {number(top + 0.5 * font)}V{number(tip - 0.4 * font)}", tooltip) + arrow
    radius = min(0.8 * font, abs(end - start) / 2)
    side, sweep = (radius, 1) if end > start else (-radius, 0)
    corner = f"a{number(radius)} {number(radius)} 0 0 {sweep} {number(side)}"
    d = f"M{number(start)} {number(base)}V{number(top + radius)}{corner} {number(-radius)}"
    d += f"H{number(end - side)}{corner} {number(radius)}V{number(tip - 0.4 * font)}"
    return path(kind, d, tooltip) + arrow


def _relation(relation: str, x: float, y: float, font: float, kind: str, tooltip: str, *, wrong: bool) -> str:
    """The relation in a gap of the arc; a wrong one is bold and has a cross before it."""
    width, mark = text_width(relation, SMALL * font, bold=wrong), 0.75 * font if wrong else 0.0
    left = x - (width + mark) / 2
    drawn = rect("paper", left - 0.2 * font, y - 0.5 * font, width + mark + 0.4 * font, font)
    if wrong:
        drawn += cross("loss", left + 0.26 * font, y, 0.24 * font, tooltip)
    return drawn + text(x + mark / 2, y + 0.3 * font, relation, kind=kind, anchor="middle", tooltip=tooltip)
