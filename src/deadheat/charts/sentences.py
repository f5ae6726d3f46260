"""One sentence with gold labels and those of systems: rows of tags, or dependency trees."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from deadheat.charts.chart import Chart, Datum, Layout, empty_chart
from deadheat.charts.drawing import (
    BOLD,
    ELLIPSIS,
    SMALL,
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
CROSS = ((0, -0.5), (0.6, -1.1), (1.1, -0.6), (0.5, 0), (1.1, 0.6), (0.6, 1.1))  # half of its outline


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
    def table(self) -> tuple[tuple[Datum, ...], ...]:
        columns = (self.words, *(row.labels for row in self.rows))
        return tuple((i, *row) for i, row in enumerate(zip(*columns, strict=True), start=1))

    @property
    def right_to_left(self) -> bool:
        """Whether most words that have a direction run from right to left."""
        directions = [map(unicodedata.bidirectional, word) for word in self.words]
        first = [next((kind for kind in word if kind in ("L", "R", "AL")), "") for word in directions]
        return first.count("R") + first.count("AL") > first.count("L")

    def description(self) -> str:
        """The mistakes of every system."""
        sentences = [f"{pluralize(len(self.words), 'word')}.", *map(self._mistakes, self.systems)]
        return " ".join([*sentences, *(["Words run from right to left."] if self.right_to_left else [])])

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
        drawn, y = [], 0.2 * font
        for columns in _wrap(sentence, positions, left, layout):
            for i, name in enumerate(names):
                end, level = left - font, _base_line(i, y, font)
                drawn.append(label(end, level, name, end - 0.1 * font, SMALL * font, kind="soft small", anchor="end"))
            drawn += [_tag_column(sentence, column, y, font) for column in columns]
            y += (WORD_HEIGHT + TAG_HEIGHT * len(names) + 1.3) * font
        description = sentence.description() + window
        size = layout.width, y - 0.6 * font
        return Chart(self.title, description, *size, "".join(drawn), sentence.header, sentence.table)


@dataclass(frozen=True, slots=True)
class _Column:
    """The horizontal position of a word; `position` is -1 for an ellipsis, where words are left out."""

    position: int
    left: float
    width: float
    mirrored: bool  # words run from right to left

    @property
    def anchor(self) -> str:
        return "end" if self.mirrored else "start"

    @property
    def x(self) -> float:
        """Where text starts."""
        return self.left + self.width if self.mirrored else self.left


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
    mirrored = sentence.right_to_left
    lines, x = [list[_Column]()], left
    widest = min(WIDEST_COLUMN * font, 0.45 * (right - left))
    for i, position in enumerate(positions):
        width = min(_column_width(sentence, position, font), widest)
        before_ellipsis = i + 1 < len(positions) and positions[i + 1] < 0  # an ellipsis does not begin a line
        if lines[-1] and x + width + (gap + font if before_ellipsis else 0) > right and position >= 0:
            lines.append([])
            x = left
        lines[-1].append(_Column(position, left + right - x - width if mirrored else x, width, mirrored))
        x += width + gap
    return lines


def _column_width(sentence: LabelledSentence, position: int, font: float) -> float:
    if position < 0:
        return font
    tags = max(text_width(row.labels[position], SMALL * font, bold=True) for row in sentence.rows)
    return max(1.04 * text_width(sentence.words[position], font), tags, font) + 1


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
            left = column.x - (width if column.mirrored else 0)
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
        size = words.width, y
        return Chart(self.title, sentence.description(), *size, "".join(drawn), sentence.header, sentence.table)


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
        is_root = arcs[i].head == ROOT
        below = (
            levels[j]
            for j in order[:index]
            if (spans[j][0] <= left <= spans[j][1] if is_root else max(left, spans[j][0]) < min(right, spans[j][1]))
        )
        levels[i] = 1 + max(below, default=0)
    return levels


def _centres(widths: Sequence[float], distances: Sequence[tuple[int, int, float]], gap: float) -> list[float]:
    """Centres of words of some widths, with at least the given distances (from, to, distance)."""
    centres: list[float] = []
    for i, width in enumerate(widths):
        least = centres[-1] + (widths[i - 1] + width) / 2 + gap if centres else width / 2
        wanted = (centres[left] + distance for left, right, distance in distances if right == i and left < i)
        centres.append(max([least, *wanted]))
    return centres


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
                side = 0 if distance < 0 else 1 if distance == 0 else 2
                ends.setdefault(word, []).append((side, -distance, i))
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
    margin = 0.4 * font
    centres = tuple(margin + centre for centre in _centres(widths, distances, gap=0.8 * font))
    width = max(layout.width, centres[-1] + widths[-1] / 2 + margin)
    return _Words(sentence, shortened, centres, width, font)


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
    order = sorted(range(len(arcs)), key=lambda i: wrong_head[i])  # strong lines over faint ones
    tooltips = [_arc_tooltip(name, arc, right, words.sentence) for arc, right in zip(arcs, gold, strict=True)]
    tops = [base - LEVEL * font * level for level in levels]
    for i in order:
        kind = "rule" if wrong_head[i] else "elbow" if is_gold else "faint"
        drawn.append(_arc_line(arcs[i], ports[i], base, tops[i], words, kind, tooltips[i]))
    drawn += [_relation(arcs[i], ports[i], tops[i], words, tooltips[i], wrong=wrong[i], is_gold=is_gold) for i in order]
    for i, word in enumerate(words.shortened):
        kind = "strong" if wrong[i] else "" if is_gold else "soft"
        tooltip = f"{i + 1}: {words.sentence.words[i]}"
        drawn.append(text(words.x(i), base + 1.15 * font, word, kind=kind, anchor="middle", tooltip=tooltip))
    return "".join(drawn), base + 2.2 * font


def _arc_line(
    arc: _Arc, ports: tuple[float, float], base: float, level: float, words: _Words, kind: str, tooltip: str
) -> str:
    """An arc from head to dependent with an arrow at the dependent; the arc of a root comes from above."""
    font = words.font
    x, tip = words.x(arc.dependent, ports[0]), base - 0.1 * font
    fill = {"rule": "loss", "elbow": "ink"}.get(kind, "soft")
    arrow = polygon(fill, [x - 0.24 * font, x + 0.24 * font, x], [tip - 0.45 * font, tip - 0.45 * font, tip])
    if arc.head == ROOT:
        return path(kind, f"M{number(x)} {number(level + 0.5 * font)}V{number(tip - 0.4 * font)}", tooltip) + arrow
    start = words.x(arc.head, ports[1])
    radius = min(0.8 * font, abs(x - start) / 2)
    side, sweep = (radius, 1) if x > start else (-radius, 0)
    corner = f"a{number(radius)} {number(radius)} 0 0 {sweep} {number(side)}"
    d = f"M{number(start)} {number(base)}V{number(level + radius)}{corner} {number(-radius)}"
    d += f"H{number(x - side)}{corner} {number(radius)}V{number(tip - 0.4 * font)}"
    return path(kind, d, tooltip) + arrow


def _relation(
    arc: _Arc, ports: tuple[float, float], level: float, words: _Words, tooltip: str, *, wrong: bool, is_gold: bool
) -> str:
    """The relation in a gap of the arc; a wrong one is bold and has a cross before it."""
    font = words.font
    if not wrong and not arc.relation:
        return ""
    x = words.x(arc.dependent, ports[0])
    if arc.head != ROOT:
        x = (x + words.x(arc.head, ports[1])) / 2
    width = text_width(arc.relation, SMALL * font, bold=wrong)
    mark = 0.75 * font if wrong else 0.0
    left = x - (width + mark) / 2
    drawn = rect("paper", left - 0.2 * font, level - 0.5 * font, width + mark + 0.4 * font, font)
    if wrong:
        outline = [*CROSS, *((-a, -b) for a, b in CROSS)]
        r = 0.26 * font
        drawn += polygon("loss", [left + r + r * a for a, _ in outline], [level + r * b for _, b in outline], tooltip)
    kind = "loss strong small" if wrong else "small" if is_gold else "soft small"
    return drawn + text(x + mark / 2, level + 0.3 * font, arc.relation, kind=kind, anchor="middle", tooltip=tooltip)


def _arc_tooltip(name: str, arc: _Arc, gold: _Arc, sentence: LabelledSentence) -> str:
    correct = "" if arc == gold else f"; gold: {_arc_text(gold, sentence)}"
    return f"{name}: {_arc_text(arc, sentence)}{correct}"


def _arc_text(arc: _Arc, sentence: LabelledSentence) -> str:
    head = "the root" if arc.head == ROOT else f"{sentence.words[arc.head]} ({arc.head + 1})"
    relation = f", {arc.relation}" if arc.relation else ""
    return f"{sentence.words[arc.dependent]} ({arc.dependent + 1}) from {head}{relation}"
