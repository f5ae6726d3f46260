"""The data behind a figure: as a table to look at, and as a file of CSV inside a link."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Sequence
from urllib.parse import quote

from deadheat.charts.chart import Chart, Datum
from deadheat.pages.markup import table
from deadheat.text import pluralize

MOST_ROWS = 200  # of the data of a figure, on the page; the file has all
_AS_IT_IS = "!$'()*+,/:;=?@"  # what a link to data need not spell out


def csv_link(chart: Chart) -> str:
    """An address that holds the data itself.

    Examples
    --------
    >>> csv_link(Chart("Dots", "One dot.", 20, 20, "", ("x",), ((10,),)))
    'data:text/csv;charset=utf-8,x%0A10%0A'
    """
    text = chart.csv()
    spelt = "," + quote(text, safe=_AS_IT_IS, errors="replace")
    coded = ";base64," + b64encode(text.encode(errors="replace")).decode()
    return "data:text/csv;charset=utf-8" + min(spelt, coded, key=len)


def data_table(chart: Chart) -> str:
    """The first rows of the data of a chart, and how many more there are."""
    rows = chart.rows[:MOST_ROWS]
    columns = [column_text(column) for column in zip(*rows, strict=True)]
    shown = table(chart.header, list(zip(*columns, strict=True)), label=f"Data of: {chart.title}")
    more = len(chart.rows) - len(rows)
    return shown + (f'<p class="more">{pluralize(more, "more row")} in the CSV.</p>' if more else "")


def column_text(column: Sequence[Datum]) -> list[str]:
    """The cells of a column as they are shown, numbers to the same decimals.

    These are no more than four, or three digits where numbers are small.

    Examples
    --------
    >>> column_text([0.5, 0.123456, None]), column_text([3, 12]), column_text([0.00012345, 0.5]), column_text(["a", 1])
    (['0.5000', '0.1235', '-'], ['3', '12'], ['0.000123', '0.5'], ['a', '1'])
    """
    real = [each for each in column if isinstance(each, float) and math.isfinite(each) and each]
    if any(abs(each) < 1e-3 for each in real):
        return [_cell_text(each, ".3g") for each in column]
    decimals = max((len(f"{each:.4f}".rstrip("0").partition(".")[2]) for each in real), default=0)
    return [_cell_text(each, f".{decimals}f") for each in column]


def _cell_text(cell: Datum, form: str) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "-"
    return format(cell, form) if isinstance(cell, float) else str(cell)
