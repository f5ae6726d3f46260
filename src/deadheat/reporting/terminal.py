"""Blocks on a terminal, and the same without ornament for whatever else reads them."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import accumulate

from deadheat.reporting import model
from deadheat.reporting.model import Block, Cell, Table, brief, cell_text
from deadheat.screen import Screen, encodable, encoding, is_drawn_on, visible

PLAIN = Screen(10_000, color=False)


def print_blocks(blocks: Iterable[Block], *, most_lines: int | None = None) -> None:
    """Print blocks on standard output, as that can show them."""
    screen = Screen.of(sys.stdout) if is_drawn_on(sys.stdout) else None
    text = render(blocks, screen=screen, most_lines=most_lines)
    print(encodable(text, encoding(sys.stdout)))  # noqa: T201


def render(blocks: Iterable[Block], *, screen: Screen | None = None, most_lines: int | None = None) -> str:
    """Blocks below each other; without a screen, as plain text of any width.

    Beyond `most_lines`, whole blocks are left out at the end, but never the verdict, the first block below it, and the
    signature.

    Examples
    --------
    >>> from deadheat.reporting.model import Column
    >>> from deadheat.results.format import PERCENT
    >>> columns = (Column("file"), Column("LAS", PERCENT.score))
    >>> print(render([Table(columns, (("a", 0.8919), ("longer", 0.07)))]))
    file      LAS
    a       89.19
    longer   7.00
    """
    shown = [(block, text) for block in brief(blocks) if (text := _block(block, screen))]
    if most_lines is not None:
        shown = _abridged(shown, most_lines)
    return "\n\n".join(text for _, text in shown)


def _abridged(shown: Sequence[tuple[Block, str]], most_lines: int) -> list[tuple[Block, str]]:
    """The first blocks that fit, without a heading at their end, and the signature."""
    signature = [item for item in shown if isinstance(item[0], model.Signature)]
    body = [item for item in shown if not isinstance(item[0], model.Signature)]
    sizes = list(accumulate(text.count("\n") + 2 for _, text in body))
    kept = max(2, sum(size <= most_lines for size in sizes))
    while kept < len(body) and isinstance(body[kept - 1][0], model.Heading):
        kept -= 1
    if kept >= len(body):
        return [*body, *signature]
    left = sum(text.count("\n") + 1 for _, text in body[kept:])
    more = model.Paragraph(f"{left:,} more lines: --full.")
    return [*body[:kept], (more, str(more.text)), *signature]


def _block(block: Block, screen: Screen | None) -> str:
    match block:
        case model.Heading():
            return _emphasis(str(block.text), screen)
        case model.Paragraph():
            return _prose(str(block.text), screen)
        case model.Note():
            return _prose(f"note: {block.text}", screen)
        case Table():
            return _table(block, screen)
        case model.Figure():
            return _table(block.alternative, screen) if block.alternative is not None else ""
        case model.Verdict():
            claims = [_table(block.claims, screen)] if block.claims is not None else []
            remarks = [_prose(str(remark), screen) for remark in block.below_claims()]
            return "\n\n".join([_emphasis(_prose(str(block.headline), screen), screen), *claims, *remarks])
        case model.Signature():
            return _quotable(block.text, screen)


def _table(table: Table, screen: Screen | None) -> str:
    header = [_quotable(column.heading, screen) for column in table.columns]
    cells = list(table.cells())
    marked = [any(row[i].mark for row in cells) for i in range(len(table.columns))]
    rows = [[_cell(cell, screen, pad=marked[i]) for i, cell in enumerate(row)] for row in cells]
    if screen is None:
        grid = _plain_table(header, rows, table.textual)
    else:
        from deadheat.reporting.rich_tables import rich_table  # rich is loaded for terminals only

        grid = rich_table(header, rows, labels=table.labels, textual=table.textual, screen=screen)
    above = [_prose(str(table.caption), screen)] if table.caption else []
    below = [_prose(f"{mark.symbol} {mark.meaning}", screen) for mark in table.used_marks()]
    return "\n".join([*above, grid, *below])


def _cell(cell: Cell, screen: Screen | None, *, pad: bool) -> str:
    """The text of a cell; in a column with marks, numbers without one keep its room free."""
    text = _quotable(cell_text(cell), screen).replace("\n", "\\n") + (cell.mark or " " * pad)
    tone = cell.tone or ("strong" if cell.strong else "")
    if screen is None or not tone:
        return text
    from deadheat.reporting.rich_tables import Toned

    return Toned(text, tone)


def _plain_table(header: Sequence[str], rows: Sequence[Sequence[str]], textual: Sequence[bool]) -> str:
    widths = [max(map(width, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for row in (header, *rows):
        cells = []
        for text, size, left in zip(row, widths, textual, strict=True):
            gap = " " * (size - width(text))
            cells.append(text + gap if left else gap + text)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def width(text: str) -> int:
    """Columns that a text takes on a terminal: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _emphasis(text: str, screen: Screen | None) -> str:
    shown = _quotable(text, screen)
    return f"\x1b[1m{shown}\x1b[0m" if screen is not None and screen.color else shown


def _quotable(text: str, screen: Screen | None) -> str:
    """A text that the output can encode, without effects of control characters in names of files and systems."""
    return encodable(visible(text), (screen or PLAIN).encoding)


def _prose(text: str, screen: Screen | None) -> str:
    """Sentences, broken between words at the width of the screen."""
    shown = _quotable(text, screen)
    if screen is None:
        return shown
    from textwrap import TextWrapper

    wrapper = TextWrapper(screen.columns, break_long_words=False, break_on_hyphens=False)
    lines: list[str] = []
    for line in shown.split("\n"):
        wrapper.subsequent_indent = " " * (len(line) - len(line.lstrip(" ")))
        lines += wrapper.wrap(line) or [""]
    return "\n".join(lines)
