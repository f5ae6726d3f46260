"""Tables for a terminal, and the same without ornament for whatever else reads them."""

from __future__ import annotations

import math
import sys
import unicodedata
from collections.abc import Sequence

from deadheat.questions.score import Scores
from deadheat.screen import Screen, columns, encodable, encoding, is_drawn_on, shows_color, visible

WIDEST = 110  # characters of a line of words, where no terminal says how many it has


class Toned(str):
    """A cell that says something a reader looks for: as `win`, `tie`, `alarm`, `wrong` or `strong`.

    The tone repeats in weight and colour what the words say, and is lost where nothing shows it.
    """

    __slots__ = ("tone",)
    tone: str

    def __new__(cls, text: str, tone: str) -> Toned:
        made = super().__new__(cls, text)
        made.tone = tone
        return made


def percent(value: float) -> str:
    """A score between 0 and 1 as percent with two decimals; a dash where there is none."""
    return "-" if math.isnan(value) else f"{100 * value:.2f}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Columns under their headings: the first `left` of them to the left, the others to the right.

    Examples
    --------
    >>> print(table(["file", "LAS"], [["a", "89.19"], ["longer", "7.00"]]))
    file      LAS
    a       89.19
    longer   7.00
    """
    header, rows = [_cell(cell) for cell in header], [[_cell(cell) for cell in row] for row in rows]
    if is_drawn_on(sys.stdout):
        from deadheat.terminal.drawn import drawn_table  # rich, which nobody waits for in vain

        return drawn_table(header, rows, left=left, screen=Screen.of(sys.stdout))
    widths = [max(map(width, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for row in (header, *rows):
        cells = [_padded(cell, size, to_left=i < left) for i, (cell, size) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def word_rows(words: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The words of a sentence in a line, and under each of them what every named row says of it.

    Examples
    --------
    >>> print(word_rows(["Hello", "you"], [("gold", ["INTJ", "PRON"]), ("mine", [".", "X"])]))
            Hello  you
      gold  INTJ   PRON
      mine  .      X
    """
    lines = [("", [_cell(word) for word in words]), *((_cell(name), [_cell(each) for each in of]) for name, of in rows)]
    if is_drawn_on(sys.stdout):
        from deadheat.terminal.drawn import drawn_table

        (_, top), *below = lines
        cells = [[name, *each] for name, each in below]
        return drawn_table(["", *top], cells, left=1, screen=Screen.of(sys.stdout), whole_words=True)
    widths = [max(map(len, column)) for column in zip(*(row for _, row in lines), strict=True)]
    margin = max(len(name) for name, _ in lines)
    shown = []
    for name, row in lines:
        text = "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip()
        shown.append(f"  {name:<{margin}}  {text if len(text) <= WIDEST else text[: WIDEST - 3] + '...'}")
    return "\n".join(shown)


def width(text: str) -> int:
    """Places a text takes on a terminal: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def emphasis(text: str) -> str:
    """Bold on a terminal that shows it, plain elsewhere."""
    text = quotable(text)
    return f"\x1b[1m{text}\x1b[0m" if shows_color(sys.stdout) else text


def quotable(text: str) -> str:
    """A text as standard output can show it, without effects of what is in the names of files and systems."""
    return encodable(visible(text), encoding(sys.stdout))


def prose(text: str) -> str:
    """Sentences, which a terminal shows with whole words on each line."""
    shown = quotable(text)
    if not is_drawn_on(sys.stdout):
        return shown
    from textwrap import TextWrapper

    wrapper = TextWrapper(columns(sys.stdout), break_long_words=False, break_on_hyphens=False)
    lines = []
    for line in shown.replace(" %", "\u00a0%").split("\n"):  # a number keeps its sign
        wrapper.subsequent_indent = " " * (len(line) - len(line.lstrip(" ")))
        lines += wrapper.wrap(line) or [""]
    return "\n".join(lines).replace("\u00a0%", " %")


def paragraph(text: str) -> str:
    """A text of several lines, which a terminal breaks where it likes."""
    return prose(text.replace("\n", " ") if is_drawn_on(sys.stdout) else text)


def _cell(text: str) -> str:
    shown = quotable(text).replace("\n", "\\n")
    return Toned(shown, text.tone) if isinstance(text, Toned) else shown


def _padded(text: str, size: int, *, to_left: bool) -> str:
    gap = " " * (size - width(text))
    return text + gap if to_left else gap + text


def score_table(scores: Scores) -> str:
    """One row a file and metric, with the interval, the counts and the line to quote."""
    classes = scores.by in ("relation", "tag")
    levels = {row.interval.level for row in scores.rows}
    level = f"{100 * levels.pop():.4g} % interval" if len(levels) == 1 else "interval"
    names = ["file", "metric", *([scores.by] if scores.by else [])]
    measures = ["score", level, *(["precision", "recall"] if classes else []), "correct", "gold", "predicted"]
    rows = []
    for row in scores.rows:
        shown = [row.file, row.metric.label, *([row.group] if scores.by else [])]
        bounds = f"{percent(row.interval.low)} - {percent(row.interval.high)}"
        extra = [percent(row.precision), percent(row.recall)] if classes else []
        counts = [f"{count:,}" for count in (row.correct, row.gold, row.predicted)]
        rows.append([*shown, percent(row.value), bounds, *extra, *counts])
    return table([*names, *measures], rows, left=len(names)) + "\n\n" + quotable(scores.signature)
