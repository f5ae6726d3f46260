"""Blocks as Markdown, for pull requests and README files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from deadheat.reporting import model
from deadheat.reporting.model import Block, Cell, Table, brief, cell_text
from deadheat.screen import visible

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$@])")
_LINE_START = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)")


def markdown(blocks: Iterable[Block], *, notes: Sequence[str] = ()) -> str:
    r"""Blocks below each other, with notes as a list before the signature.

    Examples
    --------
    >>> from deadheat.reporting.model import Column
    >>> from deadheat.results.format import PERCENT
    >>> print(markdown([Table((Column("file"), Column("LAS", PERCENT.score)), (("a_1", 0.8919),))]))
    | file | LAS |
    | :--- | ---: |
    | a\_1 | 89.19 |
    """
    shown = brief(blocks)
    texts = list(filter(None, map(_block, shown)))
    if notes:
        end = len(texts) - isinstance(shown[-1], model.Signature) if shown else 0
        texts.insert(end, "\n".join(f"- {escape(note)}" for note in notes))
    return "\n\n".join(texts)


def escape(text: str) -> str:
    """Text whose characters mean nothing to Markdown."""
    plain = _SPECIAL.sub(r"\\\1", visible(text).replace("\n", " "))
    plain = _LINE_START.sub(r"\1\\\2", plain)
    blanks = len(plain) - len(plain.lstrip(" "))  # that a drawing of characters begins with
    return "&nbsp;" * blanks + plain[blanks:]


def _block(block: Block) -> str:
    match block:
        case model.Heading():
            return f"{'#' * (block.level + 1)} {escape(str(block.text))}"
        case model.Paragraph():
            return escape(str(block.text))
        case model.Note():
            return f"Note: {escape(str(block.text))}"
        case Table():
            return _table(block)
        case model.Figure():
            return _table(block.alternative) if block.alternative is not None else ""
        case model.Verdict():
            claims = [_table(block.claims)] if block.claims is not None else []
            remarks = [escape(str(remark)) for remark in block.below_claims()]
            return "\n\n".join([f"**{escape(str(block.headline))}**", *claims, *remarks])
        case model.Signature():
            fence = "`" * (1 + max((len(run) for run in re.findall("`+", block.text)), default=0))
            return f"{fence} {visible(block.text)} {fence}" if "`" in block.text else f"`{visible(block.text)}`"


def _table(table: Table) -> str:
    sides = [":---" if textual else "---:" for textual in table.textual]
    lines = [_row(escape(column.heading) for column in table.columns), _row(sides)]
    lines += [_row(map(_cell, row)) for row in table.cells()]
    explained = table.explained()
    return "\n".join([*([escape(str(explained)), ""] if explained else []), *lines])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    text = escape(cell_text(cell))
    return (f"**{text}**" if cell.strong else text) + escape(cell.mark)
