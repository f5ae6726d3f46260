"""Reads tables back from what renderers wrote, cell by cell."""

import re
from collections.abc import Sequence
from html.parser import HTMLParser

from deadheat.reporting.html import fragment
from deadheat.reporting.latex import tabular
from deadheat.reporting.markdown import markdown
from deadheat.reporting.model import CIRCLE, DAGGER, DOUBLE_DAGGER, EQUALS, STAR, Table
from deadheat.reporting.terminal import render

Grid = list[list[str]]
_POWER = re.compile(r"\$(<?)([\d.]+)\\times10\^\{(-?\d+)\}\$")
_MARKS = "".join((CIRCLE, DAGGER, DOUBLE_DAGGER, EQUALS, STAR))


def read_all(table: Table) -> dict[str, Grid]:
    """The body of a table as every renderer shows it."""
    return {
        "terminal": _terminal(table),
        "html": _html(table),
        "latex": _latex(table),
        "markdown": _markdown(table),
    }


def _terminal(table: Table) -> Grid:
    """Cells stand at least two blanks apart; the table comes after its caption and before its marks."""
    lines = render([Table(table.columns, table.rows, labels=table.labels)]).split("\n")
    return [[cell.rstrip(_MARKS) for cell in re.split(r" {2,}", line.strip()) if cell] for line in lines[1:]]


class _Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: Grid = []
        self._open = False
        self._mark = False

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._open = True
        self._mark = tag == "sup"

    def handle_endtag(self, tag: str) -> None:
        self._open = self._open and tag not in ("td", "th")
        self._mark = False

    def handle_data(self, data: str) -> None:
        if self._open and not self._mark:
            self.rows[-1][-1] += data


def _html(table: Table) -> Grid:
    cells = _Cells()
    cells.feed(fragment([Table(table.columns, table.rows, labels=table.labels)]))
    return cells.rows[1:]


def _markdown(table: Table) -> Grid:
    lines = markdown([Table(table.columns, table.rows, labels=table.labels)]).split("\n")[2:]
    rows = [re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |")) for line in lines]
    return [[re.sub(r"\\(.)", r"\1", cell).replace("**", "").rstrip(_MARKS) for cell in row] for row in rows]


def _latex(table: Table) -> Grid:
    lines = tabular(table).split("\n")
    body = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    return [[plain_latex(cell) for cell in line.removesuffix(r" \\").split(" & ")] for line in body]


def plain_latex(latex: str) -> str:
    """LaTeX without the commands that the renderer writes."""
    plain = re.sub(r"\\rlap\{\$\^\{.*?\}\$\}", "", latex)
    plain = _POWER.sub(lambda power: f"{power[1]}{power[2]}e{int(power[3]):+03d}", plain)
    plain = re.sub(r"\\textbf\{(.*)\}$", r"\1", plain).replace("$-$", "-").replace(r"\%", "%")
    plain = plain.replace(r"\textless{}", "<").replace(r"\textgreater{}", ">").replace("{[}", "[")
    return plain.replace("-{}-", "--").replace(r"\char34{}", '"').replace(r"\char96{}", "`")
