"""Scores as sections of a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from deadheat.charts.chart import Figure
from deadheat.charts.intervals import IntervalPlot, IntervalRow
from deadheat.documents import Document, plain
from deadheat.pages.section import Section, Table
from deadheat.pages.wording import file_name, known, shown, span
from deadheat.text import pluralize

USUAL = ("LAS", "UAS", "UPOS")  # what most people look at first
MOST_FIGURES = 3  # metrics, or files of a breakdown
MOST_GROUPS = 20  # in a figure
NO_GROUP = "(none)"  # a group without a name, such as sentences before the first that has a genre
CLASSES = ("relation", "tag")  # groups of words, which a system may find too often
WILSON = "Wilson's interval, for scores that are proportions, takes words for independent of each other."
BOOTSTRAP = "Intervals by bootstrap draw the units again and again."

Row = dict[str, Any]


def sections(document: Document) -> list[Section]:
    """Systems by metrics; of scores that are broken down, a section a metric."""
    told = plain(document)
    rows: list[Row] = told["scores"]
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    if any("group" in row for row in rows):
        return [_breakdown(told, [row for row in rows if row["metric"] == metric], metric) for metric in metrics]
    return [_scores(told, rows, metrics)] if rows else []


def level_text(document: Document) -> str:
    """What the intervals are called; their level is told in the signature."""
    found = re.search(r"\| ([\d.]+) (?:wilson or )?bootstrap \d+ \|", document["signature"])
    return f"{100 * float(found[1]):.4g} % interval" if found else "interval"


def _scores(document: Document, rows: Sequence[Row], metrics: Sequence[str]) -> Section:
    files = list(dict.fromkeys(row["file"] for row in rows))
    level = level_text(document)
    known_metrics = dict.fromkeys(row["metric"] for row in rows if row["value"] is not None)
    drawn = list(dict.fromkeys([*(each for each in USUAL if each in known_metrics), *known_metrics]))[:MOST_FIGURES]
    figures = [
        Figure(
            file_name("score", metric),
            _drawn(
                rows=[(row["file"], row) for row in rows if row["metric"] == metric],
                metric=metric,
                level=level,
            ),
        )
        for metric in drawn
    ]
    every = _table(document, rows, folded=len(files) > 1)
    said = [
        f"Scores are in percent, and more is better. The {level} says how far a score may be from what the system "
        "reaches on all text of this kind."
    ]
    if len(files) > 1:
        said.append(
            "Whether one system is better than another cannot be read off these intervals: all were scored on the "
            "same text, and a test of the difference takes that into account."
        )
    return Section(
        f"Scores of {pluralize(len(files), 'system')}" if len(files) > 1 else f"Scores of {files[0]}",
        tuple(said),
        tuple(figures) if len(files) > 1 else (),
        (_matrix(rows, files, metrics), every) if len(files) > 1 else (every,),
        _notes(document),
    )


def _drawn(*, rows: Sequence[tuple[str, Row]], metric: str, level: str, of: str = "each system") -> IntervalPlot:
    reaches = []
    for name, row in rows:
        if row["value"] is None:
            continue
        value, low, high = (100 * known(row[each]) for each in ("value", "low", "high"))
        reaches.append(IntervalRow(name, value, low, high, f"{row['correct']:,} of {row['gold']:,}"))
    return IntervalPlot(tuple(reaches), title=f"{metric} of {of}, with {level}s", axis=f"{metric} in percent")


def _matrix(rows: Sequence[Row], files: Sequence[str], metrics: Sequence[str]) -> Table:
    found = {(row["file"], row["metric"]): shown(row["value"], scale=100) for row in rows}
    cells = tuple((file, *(found.get((file, metric), "") for metric in metrics)) for file in files)
    return Table(("system", *metrics), cells, caption="All scores, in percent.")


def _table(document: Document, rows: Sequence[Row], *, folded: bool, by: str = "") -> Table:
    """A row a file and metric (and group) with the interval and the counts, as on a terminal."""
    classes = by in CLASSES
    names = ("system", "metric", *([by] if by else []))
    measures = ("score", level_text(document), *(("precision", "recall") if classes else ()))
    cells = []
    for row in rows:
        own = [row["file"], row["metric"], *([_group(row)] if by else [])]
        shares = [_share(row["correct"], row[whole]) for whole in ("predicted", "gold")] if classes else []
        counts = [f"{row[name]:,}" for name in ("correct", "gold", "predicted")]
        cells.append((*own, shown(row["value"], scale=100), span(row["low"], row["high"], scale=100), *shares, *counts))
    return Table(
        (*names, *measures, "correct", "gold", "predicted"),
        tuple(cells),
        left=len(names),
        caption="Scores in percent, with what was counted.",
        folded=folded,
    )


def _group(row: Row) -> str:
    return row.get("group") or NO_GROUP


def _share(part: int, whole: int) -> str:
    return shown(part / whole if whole else None, scale=100)


def _breakdown(document: Document, rows: Sequence[Row], metric: str) -> Section:
    """One metric by groups."""
    found = re.search(r"\| by (\w+) \|", document["signature"])
    by = found[1] if found else "group"
    files = list(dict.fromkeys(row["file"] for row in rows))
    cells = {(row["file"], _group(row)): row for row in rows}
    sizes = dict(sorted({_group(row): row["gold"] for row in rows}.items(), key=lambda each: -each[1]))

    def value(group: str) -> float:
        own = cells.get((files[0], group), {}).get("value")
        return -1.0 if own is None else own

    drawn = sorted(list(sizes)[:MOST_GROUPS], key=value, reverse=True)
    level = level_text(document)
    figures = [
        Figure(
            file_name("score", metric, by, file if len(files) > 1 else ""),
            _drawn(
                rows=[(group, cells[file, group]) for group in drawn if (file, group) in cells],
                metric=metric,
                level=level,
                of=f"{file} by {by}",
            ),
        )
        for file in files[:MOST_FIGURES]
    ]
    groups = list(sizes)
    few = f"the {len(drawn)} of which there is most, " if len(groups) > len(drawn) else ""
    said = (
        f"The table begins with the groups of which there is most in gold; the figure shows {few}those first on which "
        f"{files[0]} is best. A group of which there is little has a wide interval: its score says little."
    )
    body = tuple(
        (
            group,
            *(shown(cells.get((file, group), {}).get("value"), scale=100) for file in files),
            f"{sizes[group]:,}",
        )
        for group in groups
    )
    compact = Table((by, *files, "in gold"), body, caption=f"{metric} by {by}, in percent.")
    ordered = [cells[file, group] for group in groups for file in files if (file, group) in cells]
    every = _table(document, ordered, folded=len(files) > 1, by=by)
    return Section(
        f"{metric} by {by}",
        (said,),
        tuple(figures),
        (compact, every) if len(files) > 1 else (every,),
        _notes(document),
    )


def _notes(document: Document) -> tuple[str, ...]:
    how = (WILSON, BOOTSTRAP) if "wilson or bootstrap" in document["signature"] else (BOOTSTRAP,)
    return (" ".join(how), *document.get("notes", ()), document["signature"])
