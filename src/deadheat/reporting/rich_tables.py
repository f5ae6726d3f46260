"""Tables as a terminal shows them: within its width, with a rule under the headings, bold and colours where wanted.

Columns of figures are never cut. Where a table is too wide, headings go over several lines first, then names; then the
columns are folded into tables below each other, which repeat the names; and at last every row becomes a list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rich.cells import cell_len
from rich.style import Style

from deadheat.screen import Screen

GAP = 2
NAME = 12  # how narrow a column of names may become
LINES = 3  # over which one word is broken; of a longer one the middle is left out
MOST_KEYS = 3  # columns that say what a row is, and are repeated where a table is folded
LONGEST_FIGURE = 40
DOTS = "..."
TONES = {
    "good": Style.parse("bold green"),
    "muted": Style.parse("dim"),
    "bad": Style.parse("bold red"),
    "strong": Style.parse("bold"),
    "rule": Style.parse("dim"),
}
_BREAKS = "/\\_-.:;=+|"


class Toned(str):
    """The text of a cell with a tone, which repeats in weight and colour what the words say."""

    __slots__ = ("tone",)
    tone: str

    def __new__(cls, text: str, tone: str) -> Toned:
        toned = super().__new__(cls, text)
        toned.tone = tone
        return toned


def rich_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, labels: int, textual: Sequence[bool], screen: Screen
) -> str:
    """A table within the width of a screen.

    Parameters
    ----------
    labels
        How many columns at the left say what a row is; they are repeated where a table is folded.
    textual
        Which columns hold words, and may be broken over several lines.

    Examples
    --------
    >>> rows = [["a", "89.19"], ["longer", "7.00"]]
    >>> print(rich_table(["file", "LAS"], rows, labels=1, textual=[True, False], screen=Screen(40, color=False)))
    file      LAS
    ─────────────
    a       89.19
    longer   7.00
    """
    columns = [Column(heading, tuple(row[i] for row in rows), textual[i]) for i, heading in enumerate(header)]
    if widths := fitted(columns, screen.columns):
        return _panel(columns, widths, screen)
    keys = labels if labels <= MOST_KEYS else 1
    # Where all columns are labels, none of them says what the row is.
    panels = folded(columns, keys, screen.columns) if labels < len(header) else []
    if not panels:
        return "\n\n".join(_record(header, row, screen) for row in rows)
    fits = [fitted(panel, screen.columns) for panel in panels]
    same = [min(widths[i] for widths in fits) for i in range(keys)]
    return "\n\n".join(
        _panel(panel, [*same, *widths[keys:]], screen) for panel, widths in zip(panels, fits, strict=True)
    )


@dataclass(frozen=True)
class Column:
    """The cells of a column, and how narrow it can be made."""

    heading: str
    cells: tuple[str, ...]
    textual: bool = False  # words, at the left side; else figures, at the right

    @cached_property
    def widest(self) -> int:
        """With nothing broken."""
        return max(cell_len(self.heading), self._content)

    @cached_property
    def narrower(self) -> int:
        """With the heading over several lines."""
        return max(_least(self.heading), self._content)

    @cached_property
    def narrowest(self) -> int:
        """With names over several lines too; figures stay whole."""
        cells = (cell_len(cell) if self.is_figure(cell) else _least(cell) for cell in self.cells)
        return max(_least(self.heading), max(cells, default=0))

    @cached_property
    def _content(self) -> int:
        return max(map(cell_len, self.cells), default=0)

    def is_figure(self, cell: str) -> bool:
        """Whether a cell is a number or an interval, which must stay on one line."""
        return not self.textual and len(cell) <= LONGEST_FIGURE

    def lines(self, width: int) -> list[list[str]]:
        """Each cell as the lines it takes; cells that differ are never shortened to the same."""
        short = [[cell] if self.is_figure(cell) else wrapped(cell, width) for cell in self.cells]
        if len(set(map(tuple, short))) == len(set(self.cells)):
            return short
        return [wrapped(cell, width, shorten=False) for cell in self.cells]


def fitted(columns: Sequence[Column], room: int) -> list[int]:
    """How wide each column gets; none if they do not fit."""
    widths = [column.widest for column in columns]
    over = sum(widths) + GAP * (len(columns) - 1) - room
    for least in ([column.narrower for column in columns], [column.narrowest for column in columns]):
        while over > 0:
            broad = [at for at in range(len(widths)) if widths[at] > least[at]]
            if not broad:
                break
            widths[max(broad, key=lambda at: widths[at])] -= 1
            over -= 1
    return widths if over <= 0 else []


def folded(columns: Sequence[Column], named: int, room: int) -> list[list[Column]]:
    """The columns in groups that fit, each after the first, which name the rows; none if one of them does not fit."""
    keys, others = list(columns[:named]), list(columns[named:])
    ample = sum(min(key.widest, max(key.narrowest, room // (3 * len(keys)))) + GAP for key in keys)
    groups = _groups(others, room - ample, len(others))
    even = _groups(others, room - ample, -(-len(others) // len(groups)))
    panels = [[*keys, *group] for group in (even if len(even) == len(groups) else groups)]
    return panels if all(fitted(panel, room) for panel in panels) else []


def _groups(columns: Sequence[Column], room: int, most: int) -> list[list[Column]]:
    """As many columns in a group as have room, and not more than `most`."""
    groups: list[list[Column]] = [[]]
    for belonging in _belonging(columns):
        wider = [*groups[-1], *belonging]
        taken = sum(min(column.narrower, room) + GAP for column in wider) - GAP
        if groups[-1] and (len(wider) > most or taken > room):
            groups.append([])
        groups[-1] += belonging
    return groups


def _belonging(columns: Sequence[Column]) -> list[list[Column]]:
    """Columns that must stay together: one whose heading occurs twice says something about the column before it."""
    headings = Counter(column.heading for column in columns)
    groups: list[list[Column]] = []
    for column in columns:
        if groups and headings[column.heading] > 1 and column.heading != groups[-1][-1].heading:
            groups[-1].append(column)
        else:
            groups.append([column])
    return groups


def wrapped(text: str, width: int, *, shorten: bool = True) -> list[str]:
    """A text in lines of a width: between words where it can, else within one."""
    if cell_len(text) <= width:
        return [text]
    indent = " " * min(len(text) - len(text.lstrip(" ")), width // 2)
    width -= len(indent)
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= width:
            lines[-1] = joined
            continue
        whole = not shorten or cell_len(word) <= LINES * width
        lines += _pieces(word, width, _BREAKS) if whole else _pieces(shortened(word, LINES * width), width, "")
    return [indent + line for line in lines if line] or [""]


def shortened(text: str, width: int) -> str:
    """A text without its middle, if it is too long."""
    if cell_len(text) <= width:
        return text
    kept = max(2, width - len(DOTS))
    head, tail = _start(text, kept // 2), _start(text[::-1], kept - kept // 2)
    return f"{head}{DOTS}{tail[::-1]}"


def _start(text: str, width: int) -> str:
    """As much of the beginning of a text as has room."""
    end = min(len(text), width)
    while end > 1 and cell_len(text[:end]) > width:
        end -= 1
    while end < len(text) and cell_len(text[: end + 1]) <= width:  # marks that take no room
        end += 1
    return text[:end]


def _pieces(word: str, width: int, marks: str) -> list[str]:
    """A word in pieces, where it can be after a mark."""
    pieces = []
    while cell_len(word) > width:
        piece = _start(word, width)
        after = 1 + max((piece.rfind(mark) for mark in marks), default=-1)
        piece = piece[:after] if 2 * after >= len(piece) else piece
        pieces.append(piece)
        word = word[len(piece) :]
    return [*pieces, word]


def _least(text: str) -> int:
    return min(NAME, max(map(cell_len, text.split()), default=0))


def _panel(columns: Sequence[Column], widths: Sequence[int], screen: Screen) -> str:
    headings = [wrapped(column.heading, width) for column, width in zip(columns, widths, strict=True)]
    height = max(map(len, headings))
    headings = [[""] * (height - len(lines)) + lines for lines in headings]  # they stand on the rule
    shown = []
    if any(column.heading for column in columns):
        shown += _row(columns, widths, headings, ["strong"] * len(columns), screen)
        rule = "─" if screen.can_show("─") else "-"
        shown.append(_styled(rule * (sum(widths) + GAP * (len(widths) - 1)), "rule", screen))
    wrapped_columns = [column.lines(width) for column, width in zip(columns, widths, strict=True)]
    cells = zip(*(column.cells for column in columns), strict=True)
    for row, lines in zip(cells, zip(*wrapped_columns, strict=True), strict=True):
        shown += _row(columns, widths, lines, [getattr(cell, "tone", "") for cell in row], screen)
    return "\n".join(shown)


def _row(
    columns: Sequence[Column], widths: Sequence[int], cells: Sequence[list[str]], tones: Sequence[str], screen: Screen
) -> list[str]:
    """The lines of a row."""
    shown = []
    for at in range(max(map(len, cells))):
        line, gap = "", 0
        for column, width, lines, tone in zip(columns, widths, cells, tones, strict=True):
            text = lines[at] if at < len(lines) else ""
            rest = max(0, width - cell_len(text))
            gap, after = (gap, rest) if column.textual else (gap + rest, 0)
            if text:
                line += " " * gap + _styled(text, tone, screen)
                gap = 0
            gap += after + GAP
        shown.append(line)
    return shown


def _record(header: Sequence[str], row: Sequence[str], screen: Screen) -> str:
    """A row as a list of its cells, each after its heading."""
    sides = Column("", tuple(header), textual=True), Column("", tuple(row), textual=True)
    third = screen.columns // 3
    widths = fitted(sides, screen.columns) or [third, screen.columns - third - GAP]
    shown = []
    for name, lines, cell in zip(sides[0].lines(widths[0]), sides[1].lines(widths[1]), row, strict=True):
        shown += _row(sides, widths, [name, lines], ["strong", getattr(cell, "tone", "")], screen)
    return "\n".join(shown)


def _styled(text: str, tone: str, screen: Screen) -> str:
    return TONES[tone].render(text) if tone and screen.color else text
