"""What a chart is: marks on a surface, its data, and what it shows in words."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape

from deadheat.charts.drawing import plain
from deadheat.charts.theme import PRINT, style

Datum = str | int | float | None
_FORMULA = re.compile(r"[=+\-@\t\r\n].", re.DOTALL)
_NUMBER = re.compile(r"[+-]?[\d,]*\.?\d+(?:[eE][+-]?\d+)?\s*%?")


@dataclass(frozen=True, slots=True)
class Layout:
    """How much room there is: the width of the drawing, and the size of its text, in CSS pixels (1/96 inch)."""

    name: str
    width: float
    font: float


WIDE = Layout("wide", 720, 13)  # a page on a screen
NARROW = Layout("narrow", 343, 12)  # a page on a phone
COLUMN = Layout("column", 316, 10)  # a column of a two-column paper: 3.3 inches, text of 7.5 points
FULL = Layout("page", 605, 10.7)  # both columns: 6.3 inches, text of 8 points
LAYOUTS = {each.name: each for each in (WIDE, NARROW, COLUMN, FULL)}


@dataclass(frozen=True, slots=True)
class Chart:
    r"""One drawing with its data.

    Examples
    --------
    >>> dot = Chart("Dots", "One dot.", 20, 20, '<circle class="mark" cx="10" cy="10" r="4"/>', ("x",), ((10,),))
    >>> dot.csv()
    'x\n10\n'
    >>> dot.inline().startswith('<svg class="chart" viewBox="0 0 20 20"')
    True
    """

    title: str  # above the drawing, and in lists of figures
    description: str  # what one sees, in a sentence or two; for those who do not see it
    width: float
    height: float
    marks: str  # SVG elements
    header: tuple[str, ...]
    rows: tuple[tuple[Datum, ...], ...]

    def inline(self) -> str:
        """An element for a page, which brings the colours and the size."""
        told = escape(plain(f"{self.title}. {self.description}"), quote=True)
        return (
            f'<svg class="chart" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'role="img" aria-label="{told}">{self.marks}</svg>'
        )

    def svg(self, *, font: float, fonts: str = "") -> str:
        """A file of its own with colours for print; `fonts` are rules of CSS that bring the font along."""
        size = f'width="{self.width:g}" height="{self.height:g}" viewBox="0 0 {self.width:g} {self.height:g}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="chart">'
            f"<title>{escape(plain(self.title))}</title><desc>{escape(plain(self.description))}</desc>"
            f"<style>{fonts}{style(PRINT, font)}</style>"
            f'<rect class="paper" width="100%" height="100%"/>{self.marks}</svg>\n'
        )

    def csv(self) -> str:
        """The data of the drawing, safe to open in a spreadsheet; what is missing is an empty cell."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(harmless, self.header))
        writer.writerows([None if _missing(cell) else harmless(cell) for cell in row] for row in self.rows)
        return text.getvalue()


def harmless(cell: Datum) -> Datum:
    """A cell that no spreadsheet takes for a formula: a text that looks like one begins with an apostrophe.

    Examples
    --------
    >>> harmless("=HYPERLINK(1)"), harmless("-0.5"), harmless(-0.5), harmless("-")
    ("'=HYPERLINK(1)", '-0.5', -0.5, '-')
    """
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return "'" + cell
    return cell


def _missing(cell: Datum) -> bool:
    return isinstance(cell, float) and math.isnan(cell)


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart that can be drawn for any room; `name` is a file name without ending."""

    name: str
    draw: Callable[[Layout], Chart]

    def named(self, name: str) -> Figure:
        """The same drawing under another name."""
        return replace(self, name=name)


def unique(figures: Sequence[Figure]) -> list[Figure]:
    """Figures with names that differ: the second of a name gets a number.

    Examples
    --------
    >>> [each.name for each in unique([Figure("a", None), Figure("b", None), Figure("a", None)])]
    ['a', 'b', 'a-2']
    """
    taken = {figure.name for figure in figures}
    seen: set[str] = set()
    found = []
    for figure in figures:
        name, count = figure.name, 1
        while name in seen or (count > 1 and name in taken):
            count += 1
            name = f"{figure.name}-{count}"
        seen.add(name)
        found.append(figure if count == 1 else figure.named(name))
    return found
