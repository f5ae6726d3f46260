"""Finds sections, tables and figures among the blocks of a view."""

from collections.abc import Sequence

from deadheat.charts.chart import Chart
from deadheat.reporting.model import Block, Figure, Heading, Note, Paragraph, Table, View, cell_text
from tests.charts.svg_reading import LAYOUTS


def headings(blocks: View) -> list[str]:
    return [str(block.text) for block in blocks if isinstance(block, Heading)]


def section(blocks: View, start: str) -> list[Block]:
    """The blocks under the one heading that starts so."""
    (first,) = [i for i, block in enumerate(blocks) if isinstance(block, Heading) and str(block.text).startswith(start)]
    rest = [i for i, block in enumerate(blocks) if isinstance(block, Heading) and i > first]
    return list(blocks[first + 1 : rest[0] if rest else len(blocks)])


def tables(blocks: Sequence[Block]) -> list[Table]:
    return [block for block in blocks if isinstance(block, Table)]


def rows(table: Table) -> list[list[str]]:
    """The cells of a table as text, without marks."""
    return [[cell_text(cell) for cell in row] for row in table.cells()]


def column(table: Table, heading: str) -> dict[str, str]:
    """A column of a table by the first cell of each row."""
    at = [item.heading for item in table.columns].index(heading)
    return {row[0]: row[at] for row in rows(table)}


def marks(table: Table) -> dict[str, str]:
    """The marks of the second column by the first cell of each row."""
    return {cell_text(row[0]): row[1].mark for row in table.cells()}


def texts(blocks: Sequence[Block]) -> list[str]:
    return [str(block.text) for block in blocks if isinstance(block, Paragraph | Note)]


def drawn(blocks: Sequence[Block]) -> dict[str, Chart]:
    """Every figure by its name, drawn for every layout; names are unique."""
    charts: dict[str, Chart] = {}
    for block in blocks:
        if isinstance(block, Figure):
            assert block.drawing.name not in charts
            for layout in LAYOUTS.values():
                charts[block.drawing.name] = block.drawing.draw(layout)
                assert charts[block.drawing.name].rows
    return charts


def data(chart: Chart) -> list[dict[str, object]]:
    """The data behind a figure."""
    return [dict(zip(chart.header, row, strict=True)) for row in chart.rows]
