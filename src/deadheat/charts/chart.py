"""A chart (SVG marks, data, description), the protocol of plots that draw one, and named figures."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Protocol

from deadheat.charts.drawing import PRINT, style, text, xml_text
from deadheat.screen import spreadsheet_cell

Datum = str | int | float | None


@dataclass(frozen=True, slots=True)
class Layout:
    """The width of a drawing and the size of its text, in CSS pixels (1/96 inch)."""

    name: str
    width: float
    font: float


WIDE = Layout("wide", 720, 13)  # a page on a screen
NARROW = Layout("narrow", 343, 12)  # a page on a phone
COLUMN = Layout("column", 316, 10)  # a column of a two-column paper: 3.3 inches, text of 7.5 points
FULL = Layout("page", 605, 10.7)  # both columns: 6.3 inches, text of 8 points


@dataclass(frozen=True, slots=True)
class Chart:
    r"""A drawing with its data.

    Examples
    --------
    >>> dot = Chart("Dots", "One dot.", 20, 20, '<circle class="mark" cx="10" cy="10" r="4"/>', ("x",), ((10,),))
    >>> dot.csv()
    'x\n10\n'
    >>> dot.inline().startswith('<svg class="chart" viewBox="0 0 20 20"')
    True
    """

    title: str  # above the drawing, and in lists of figures
    description: str  # one or two sentences for readers who cannot see the drawing
    width: float
    height: float
    marks: str  # SVG elements
    header: tuple[str, ...]
    rows: tuple[tuple[Datum, ...], ...]

    def inline(self) -> str:
        """An SVG element for a page that defines colours and font size."""
        label = escape(xml_text(f"{self.title}. {self.description}"), quote=True)
        return (
            f'<svg class="chart" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'role="img" aria-label="{label}">{self.marks}</svg>'
        )

    def svg(self, *, font: float, fonts: str = "", scale: float = 1.0, unit: str = "") -> str:
        """A standalone SVG file with colours for print; `fonts` are CSS rules that embed the font."""
        size = f'width="{self.width * scale:.6g}{unit}" height="{self.height * scale:.6g}{unit}"'
        box = f'viewBox="0 0 {self.width:g} {self.height:g}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} class="chart">'
            f"<title>{escape(xml_text(self.title))}</title><desc>{escape(xml_text(self.description))}</desc>"
            f"<style>{fonts}{style(PRINT, font)}</style>"
            f'<rect class="paper" width="100%" height="100%"/>{self.marks}</svg>\n'
        )

    def csv(self) -> str:
        """The data as CSV, safe to open in a spreadsheet; missing values are empty cells."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(map(spreadsheet_cell, self.header))
        writer.writerows(
            [None if isinstance(cell, float) and math.isnan(cell) else spreadsheet_cell(cell) for cell in row]
            for row in self.rows
        )
        return buffer.getvalue()


class Plot(Protocol):
    """A typed description of what to draw."""

    @property
    def title(self) -> str: ...

    def draw(self, layout: Layout) -> Chart: ...


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot with a name, which is a file name without its extension."""

    name: str
    plot: Plot

    def draw(self, layout: Layout) -> Chart:
        """Draw the plot for a layout."""
        return self.plot.draw(layout)


def unique(figures: Sequence[Figure]) -> list[Figure]:
    """Figures with distinct names: repeated names get a number."""
    taken = {figure.name for figure in figures}
    seen: set[str] = set()
    renamed = []
    for figure in figures:
        name, count = figure.name, 1
        while name in seen or (count > 1 and name in taken):
            count += 1
            name = f"{figure.name}-{count}"
        seen.add(name)
        renamed.append(replace(figure, name=name))
    return renamed


def empty_chart(title: str, layout: Layout, header: tuple[str, ...]) -> Chart:
    """A chart without data, which says so."""
    height = 4 * layout.font
    note = text(layout.width / 2, height / 2 + 0.3 * layout.font, "no data", kind="soft", anchor="middle")
    return Chart(title, "No data.", layout.width, height, note, header, ())


def datum(value: float | None) -> Datum:
    """A number for the data table; None where it is missing or not finite."""
    if value is None or not math.isfinite(value):
        return None
    return value if isinstance(value, int) else float(value)
