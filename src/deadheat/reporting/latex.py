"""Tables as LaTeX for the booktabs package, and text made safe for LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from deadheat.reporting.model import (
    CIRCLE,
    DAGGER,
    DOUBLE_DAGGER,
    Block,
    Cell,
    Citation,
    Shown,
    Table,
    Text,
    Words,
    cell_text,
)
from deadheat.results.format import Format, Kind, show

if TYPE_CHECKING:
    from deadheat.results.base import Result

COLUMN_CHARACTERS = 46  # of small text that fit into one column of two
PAGE_CHARACTERS = 100  # that fit into the width of a page
MARKS = {DAGGER: r"\dagger", DOUBLE_DAGGER: r"\ddagger", CIRCLE: r"\circ"}

# `"` is active in several languages of babel, and `<`, `>` and `|` are other characters in LaTeX's first encoding.
_SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\char34{}", "`": r"\char96{}"}
)
_LIGATURES = re.compile(r"(?<=-)(?=-)|(?<=')(?=')|(?<=,)(?=,)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_MINUS = re.compile(r"(?<![\w.-])-(?=\.?\d)")
_POWER = re.compile(r"^(<?)(\d+(?:\.\d+)?)e([+-]\d+)$")


def result_latex(result: Result) -> str:
    """All tables of a result that have a name, each with its caption above it as a comment where there are several."""
    from deadheat.reporting.views import view

    tables = paper_tables(view(result))
    if len(tables) == 1:
        return tabular(tables[0])
    return "\n\n".join(f"% {one_line(caption(table))}\n{tabular(table)}" for table in tables)


def paper_tables(blocks: Iterable[Block]) -> list[Table]:
    """The tables that go into a paper."""
    return [block for block in blocks if isinstance(block, Table) and block.name]


def tabular(table: Table) -> str:
    """The table itself, for the booktabs package."""
    sides = "".join("l" if textual else "r" for textual in table.textual)
    lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
    lines += [" & ".join(escape(column.heading) for column in table.columns) + r" \\", r"\midrule"]
    lines += [" & ".join(map(_cell, row)) + r" \\" for row in table.cells()]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def caption(table: Table) -> str:
    """The caption with the meanings of all marks."""
    parts = [words(table.caption)] if table.caption else []
    parts += [f"{_mark(mark.symbol)}: {words(mark.meaning)}." for mark in table.used_marks()]
    return " ".join(parts)


def table_width(table: Table) -> int:
    """How many characters wide a table is."""
    rows = [[column.heading for column in table.columns], *([cell_text(cell) for cell in row] for row in table.cells())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return sum(widths) + 2 * (len(widths) - 1)


def words(given: Words) -> str:
    """Sentences; the values in them are set as numbers."""
    if isinstance(given, str):
        return escape(given)
    return "".join(
        _shown(piece) if isinstance(piece, Shown) else escape(piece, opening=not at)
        for at, piece in enumerate(given.pieces)
    )


def escape(text: str, *, opening: bool = True) -> str:
    r"""Text with the characters that mean something to LaTeX made plain; others stay as they are, whatever the script.

    Signs that LaTeX would draw as one (`--`) are kept apart, and what would be read as an option of the line before
    (`[`, `*`) does not stand at the beginning.

    Examples
    --------
    >>> escape("a_b 5%")
    'a\\_b 5\\%'
    >>> print(escape("[x]--y"))
    {[}x]-{}-y
    """
    pieces = _LIGATURES.split(_CONTROL.sub(" ", text))
    plain = "{}".join(piece.translate(_SPECIAL) for piece in pieces)
    return f"{{{plain[0]}}}{plain[1:]}" if opening and plain[:1] in ("[", "*") else plain


def one_line(latex: str) -> str:
    """LaTeX for a comment."""
    return " ".join(latex.split())


def _shown(shown: Shown) -> str:
    if isinstance(shown, Citation):
        return rf" \citep{{{','.join(shown.keys)}}}"
    return (
        escape(shown.prefix)
        + _value(show(shown.value, shown.format), shown.format)
        + escape(shown.suffix, opening=False)
    )


def _value(text: str, form: Format) -> str:
    """Numbers with a minus sign, and powers of ten."""
    if form.kind is Kind.NAME:
        return escape(text)
    if power := _POWER.match(text):
        return rf"${power[1]}{power[2]}\times10^{{{int(power[3])}}}$"
    return _MINUS.sub("$-$", escape(text))


def _cell(cell: Cell) -> str:
    if isinstance(cell.value, Text):
        latex = words(cell.value)
    else:
        assert cell.format is not None
        latex = _value(cell_text(cell), cell.format)
    latex = rf"\textbf{{{latex}}}" if cell.strong else latex
    # A mark takes no room, so that numbers stay under each other.
    return latex + (rf"\rlap{{{_mark(cell.mark)}}}" if cell.mark else "")


def _mark(symbol: str) -> str:
    return f"$^{{{MARKS.get(symbol, symbol)}}}$"


def float_environment(table: Table, label: str) -> str:
    """A table with caption and label, over one or both columns."""
    width = table_width(table)
    environment = "table*" if width > COLUMN_CHARACTERS else "table"
    size = r"\scriptsize" if width > PAGE_CHARACTERS else r"\small"
    return "\n".join(
        [
            rf"\begin{{{environment}}}",
            rf"\centering{size}",
            tabular(table),
            rf"\caption{{{caption(table)}}}",
            rf"\label{{{label}}}",
            rf"\end{{{environment}}}",
        ]
    )
