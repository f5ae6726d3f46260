"""Plain tables for a terminal."""

from __future__ import annotations

import math
import os
import sys
import unicodedata
from collections.abc import Sequence

from deadheat.analyses.score import Scores


def percent(value: float) -> str:
    """A score between 0 and 1 as percent with two decimals; a dash where there is none."""
    return "-" if math.isnan(value) else f"{100 * value:.2f}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Columns under their headings: the first `left` of them to the left, the others to the right.

    Examples
    --------
    >>> print(table(["file", "LAS"], [["a", "89.19"], ["longer", "7.00"]]))
    file      LAS
    a       89.19
    longer   7.00
    """
    widths = [max(map(width, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for row in (header, *rows):
        cells = [_padded(cell, size, to_left=i < left) for i, (cell, size) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    lines[0] = emphasis(lines[0])
    return "\n".join(lines)


def width(text: str) -> int:
    """Places a text takes on a terminal: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def emphasis(text: str) -> str:
    """Bold on a terminal that shows it, plain elsewhere."""
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return text
    return f"\x1b[1m{text}\x1b[0m"


def _padded(text: str, size: int, *, to_left: bool) -> str:
    gap = " " * (size - width(text))
    return text + gap if to_left else gap + text


def score_matrix(scores: Scores) -> tuple[list[str], list[list[str]]]:
    """Files by metrics, in percent: the header and the rows."""
    labels = list(dict.fromkeys(row.metric.label for row in scores.rows))
    found = {(row.file, row.metric.label): percent(row.value) for row in scores.rows}
    files = list(dict.fromkeys(row.file for row in scores.rows))
    return ["system", *labels], [[file, *(found[file, label] for label in labels)] for file in files]


def score_table(scores: Scores) -> str:
    """One row a file and metric, with the interval, the counts and the line to quote."""
    classes = scores.by in ("relation", "tag")
    levels = {row.interval.level for row in scores.rows}
    level = f"{100 * levels.pop():.4g} % interval" if len(levels) == 1 else "interval"
    names = ["file", "metric", *([scores.by] if scores.by else [])]
    measures = ["score", level, *(["precision", "recall"] if classes else []), "correct", "gold", "predicted"]
    rows = []
    for row in scores.rows:
        shown = [row.file, row.metric.label, *([row.group] if scores.by else [])]
        bounds = f"{percent(row.interval.low)} - {percent(row.interval.high)}"
        extra = [percent(row.precision), percent(row.recall)] if classes else []
        counts = [f"{count:,}" for count in (row.correct, row.gold, row.predicted)]
        rows.append([*shown, percent(row.value), bounds, *extra, *counts])
    return table([*names, *measures], rows, left=len(names)) + "\n\n" + scores.signature
