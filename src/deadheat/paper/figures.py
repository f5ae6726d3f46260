"""Figures as files: SVG with embedded fonts, PDF and PNG of the exact width of a column or a page, and their data."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from deadheat.charts.chart import COLUMN, Chart, Figure, Layout, unique
from deadheat.corpus.writing import write_bytes
from deadheat.errors import InputError, NameUnknown, reason
from deadheat.paper.fonts import typeset
from deadheat.text import slug

FORMATS = ("svg", "pdf", "png")
INCHES = {"column": 3.3, "page": 6.3}
PPI = 300.0
POINTS = 72  # an inch
EXTRA = "pip install 'deadheat[figures]'"


def write_figures(
    figures: Sequence[Figure],
    folder: str | os.PathLike[str],
    *,
    formats: Iterable[str] = FORMATS,
    layout: Layout = COLUMN,
    ppi: float = PPI,
) -> list[Path]:
    """Write every figure in every format, and the data of each as CSV beside it.

    Nothing is written unless all can be drawn, and each file is written whole or not at all. A file of the same name is
    replaced.

    Parameters
    ----------
    formats
        Some of `svg`, `pdf` and `png`. The last two need the extra `deadheat[figures]`.
    layout
        `COLUMN` makes charts 3.3 inches wide, and `FULL` 6.3.
    ppi
        Pixels per inch of PNG.

    Returns
    -------
    list of Path
        The files, in the order of the figures.
    """
    files = figure_files(figures, formats=formats, layout=layout, ppi=ppi)
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{target}: cannot be created ({reason(error)})") from error
    for name, data in files.items():
        write_bytes(target / name, data)
    return [target / name for name in files]


def figure_files(
    figures: Sequence[Figure], *, formats: Iterable[str] = FORMATS, layout: Layout = COLUMN, ppi: float = PPI
) -> dict[str, bytes]:
    """Draw every figure in every format; see `write_figures`."""
    formats = list(dict.fromkeys(formats))
    for kind in formats:
        if kind not in FORMATS:
            raise NameUnknown("format of figures", kind, FORMATS)
    if not 1 <= ppi <= 10_000:
        raise InputError(f"{ppi:g} pixels per inch; expected 1 to 10,000")
    converter = _converter([kind for kind in formats if kind != "svg"])
    files: dict[str, bytes] = {}
    for figure in unique([figure.named(_safe(figure.name)) for figure in figures]):
        chart = figure.draw(layout)
        drawn = typeset(chart.marks)
        chart = replace(chart, marks=drawn.marks)
        for kind in formats:
            if kind == "svg":
                data = _svg(chart, layout, drawn.rules, drawn.note).encode()
            else:
                assert converter is not None
                data = _converted(converter, chart, layout, kind, ppi)
            files[f"{figure.name}.{kind}"] = data
        files[f"{figure.name}.csv"] = chart.csv().encode()
    return files


def _safe(name: str) -> str:
    return name if re.fullmatch(r"\w[\w.-]*", name) else slug(name) or "figure"


def scale(layout: Layout) -> float:
    """Inches per pixel, so that a chart is exactly as wide as a column or page of the paper."""
    return INCHES.get(layout.name, layout.width / 96) / layout.width


def _svg(chart: Chart, layout: Layout, rules: str, note: str) -> str:
    inch = scale(layout)
    sized = _sized(chart.svg(font=layout.font, fonts=rules), chart, inch, "in")
    return sized if not note else f"{sized.rstrip()}\n<!-- {note.replace('--', '- -')} -->\n"


def _sized(svg: str, chart: Chart, factor: float, unit: str) -> str:
    """The same drawing at another size on paper."""
    old = f'width="{chart.width:g}" height="{chart.height:g}" viewBox='
    assert svg.count(old) == 1
    return svg.replace(
        old, f'width="{chart.width * factor:.6g}{unit}" height="{chart.height * factor:.6g}{unit}" viewBox='
    )


def _converter(formats: Sequence[str]) -> ModuleType | None:
    """The module that makes PDF and PNG; None where neither is needed."""
    if not formats:
        return None
    missing = []
    try:
        import fontTools.subset
    except ImportError:
        missing.append("fonttools")
    try:
        import vl_convert
    except ImportError:
        missing.append("vl-convert-python")
    if missing:
        kinds = " and ".join(kind.upper() for kind in formats)
        raise InputError(
            f"figures as {kinds}: {' and '.join(missing)} not installed; expected {EXTRA} (SVG needs neither)"
        )
    assert fontTools.subset
    converter: ModuleType = vl_convert
    return converter


def _converted(converter: ModuleType, chart: Chart, layout: Layout, kind: str, ppi: float) -> bytes:
    # The converter takes a pixel for a point.
    svg = _sized(chart.svg(font=layout.font), chart, POINTS * scale(layout), "")
    data: bytes = converter.svg_to_pdf(svg) if kind == "pdf" else converter.svg_to_png(svg, ppi=ppi)
    return data
