"""The data behind a chart as a table to look at."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deadheat.charts.chart import Chart, Datum
from deadheat.report.model import Cell, Column, Table
from deadheat.results.format import NAME, number_format

LIMIT = 200  # rows on the page; the CSV has all


def chart_data(chart: Chart) -> tuple[Table, int]:
    """The first rows of the data of a chart, and how many more there are."""
    rows = chart.rows[:LIMIT]
    columns = [column_text(column) for column in zip(*rows, strict=True)]
    heads = tuple(
        Column(heading, NAME if _is_text(column) else number_format())
        for heading, column in zip(
            chart.header, zip(*rows, strict=True) if rows else [()] * len(chart.header), strict=True
        )
    )
    cells = tuple(tuple(Cell(text) for text in row) for row in zip(*columns, strict=True))
    return Table(heads, cells), len(chart.rows) - len(rows)


def _is_text(column: Sequence[Datum]) -> bool:
    return any(isinstance(datum, str) for datum in column)


def column_text(column: Sequence[Datum]) -> list[str]:
    """The cells of a column, numbers to the same decimals: at most four, or three digits where numbers are small.

    Examples
    --------
    >>> column_text([0.5, 0.123456, None]), column_text([3, 12]), column_text([0.00012345, 0.5]), column_text(["a", 1])
    (['0.5000', '0.1235', '-'], ['3', '12'], ['0.000123', '0.5'], ['a', '1'])
    """
    real = [datum for datum in column if isinstance(datum, float) and math.isfinite(datum) and datum]
    if any(abs(datum) < 1e-3 for datum in real):
        return [_datum_text(datum, ".3g") for datum in column]
    decimals = max((len(f"{datum:.4f}".rstrip("0").partition(".")[2]) for datum in real), default=0)
    return [_datum_text(datum, f".{decimals}f") for datum in column]


def _datum_text(datum: Datum, form: str) -> str:
    if datum is None or (isinstance(datum, float) and math.isnan(datum)):
        return "-"
    return format(datum, form) if isinstance(datum, float) else str(datum)
