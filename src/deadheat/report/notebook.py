"""A result as the output of a notebook cell: its verdict, its first table and its first figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadheat.charts.chart import WIDE
from deadheat.report.html import fragment, printable
from deadheat.report.model import Figure, Table, Verdict

if TYPE_CHECKING:
    from deadheat.results.base import Result


def result_html(result: Result) -> str:
    """HTML that needs neither scripts nor a style sheet of the notebook's."""
    from deadheat.report.views import view

    blocks = view(result)
    first = [next((block for block in blocks if isinstance(block, kind)), None) for kind in (Verdict, Table)]
    figure = next((block for block in blocks if isinstance(block, Figure)), None)
    parts = [fragment([block for block in first if block is not None])]
    if figure is not None:
        parts.append(printable(figure.drawing.draw(WIDE).svg(font=WIDE.font)))
    return f'<div class="deadheat">{"".join(parts)}</div>'
