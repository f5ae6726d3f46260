"""A table of scores as sections of a page: who stands where, on average and on every data set."""

from __future__ import annotations

from functools import partial

import numpy as np

from deadheat.charts.chart import Chart, Figure, Layout
from deadheat.charts.intervals import Reach, intervals
from deadheat.charts.violins import Sample, violins
from deadheat.pages.section import Section, Table
from deadheat.pages.wording import NONE, file_name, share_scale, shown
from deadheat.questions.sources import Tabled
from deadheat.text import pluralize

MOST_DRAWN = 40  # systems in a figure
MOST_ROWS = 30  # of a table that is not folded
MOST_CELLS = 10_000  # of the table of every data set


def scores_section(found: Tabled) -> Section:
    """The systems over all data sets, and on each of them."""
    scale = share_scale(found.means_SD[np.isfinite(found.means_SD)].tolist())
    unit = " in percent" if scale == 100 else ""
    several = len(found.datasets) > 1
    said = [_size_text(found), *_leader_text(found, scale)]
    figures: tuple[Figure, ...] = ()
    if several:
        said.append("A violin shows the mean scores of a system on the data sets; one counts as much as another.")
        figures = (Figure(file_name("table", found.metric), partial(_violins, found=found, scale=scale)),)
    elif not any(document["kind"] == "seeds" for document in found.documents):
        figures = (Figure(file_name("table", found.metric), partial(_dots, found=found, scale=scale)),)
    if len(found.systems) > MOST_DRAWN and figures:
        said.append(f"Drawn are the {MOST_DRAWN} systems of the highest mean; the table has all.")
    tables = [_summary(found, scale, unit)]
    notes = []
    if several and found.means_SD.size <= MOST_CELLS:
        tables.append(_every(found, scale, unit))
    elif several:
        notes.append(f"The table of every data set would have {found.means_SD.size:,} cells, and is left out.")
    lacking = int(np.isnan(found.means_SD).sum())
    if lacking:
        whole = int(np.isfinite(found.means_SD).all(axis=0).sum())
        told = f"Of {found.means_SD.size:,} pairs of a system and a data set, {lacking:,} have no score"
        notes.append(
            f"{told}; means are over {f'the {whole:,} data sets that have all' if whole else 'those there are'}."
        )
    return Section(f"{found.metric} of every system", tuple(said), figures, tuple(tables), tuple(notes))


def _averages(found: Tabled) -> list[float]:
    """Means over the data sets that all systems have, or over each system's own where there are none."""
    known = np.isfinite(found.means_SD)
    whole = known.all(axis=0)
    used = known & whole if whole.any() else known
    sums, counts = np.where(used, found.means_SD, 0).sum(axis=1), used.sum(axis=1)
    averages: list[float] = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0).tolist()
    return averages


def _firsts(found: Tabled) -> list[int]:
    """On how many data sets each system has the highest score, alone or with others."""
    known = np.where(np.isfinite(found.means_SD), found.means_SD, -np.inf)
    counts: list[int] = (np.isfinite(found.means_SD) & (known == known.max(axis=0))).sum(axis=1).tolist()
    return counts


def _size_text(found: Tabled) -> str:
    runs = found.runs_SD[found.runs_SD > 0]
    least, most = int(runs.min()), int(runs.max())
    each = pluralize(least, "run") if least == most else f"{least:,} to {most:,} runs"
    where = f" on {pluralize(len(found.datasets), 'data set')}" if found.column else ""
    return (
        f"The table has {pluralize(int(runs.sum()), 'score')} by {found.metric}: "
        f"{pluralize(len(found.systems), 'system')}{where}, {each} each."
    )


def _leader_text(found: Tabled, scale: float) -> list[str]:
    averages, firsts = _averages(found), _firsts(found)
    first = found.systems[0]
    told = f"{first} has the highest mean, {shown(averages[0], scale=scale)}"
    if len(found.datasets) > 1:
        told += f", and the highest score of all on {firsts[0]:,} of {len(found.datasets):,} data sets"
    if len(found.systems) == 1:
        return [f"The mean of {first} is {shown(averages[0], scale=scale)}."]
    apart = shown(averages[0] - averages[1], scale=scale)
    return [f"{told}; {found.systems[1]} follows, {apart} behind."]


def _violins(layout: Layout, *, found: Tabled, scale: float) -> Chart:
    rows = zip(found.systems[:MOST_DRAWN], scale * found.means_SD, strict=False)
    samples = [Sample(name, row[np.isfinite(row)]) for name, row in rows]
    title = f"{found.metric}: each system over {len(found.datasets):,} data sets"
    return violins(samples, layout, title=title, axis=found.metric + (" in percent" if scale == 100 else ""))


def _dots(layout: Layout, *, found: Tabled, scale: float) -> Chart:
    values = zip(found.systems[:MOST_DRAWN], _averages(found), strict=False)
    rows = [Reach(name, scale * value, float("nan"), float("nan")) for name, value in values]
    axis = found.metric + (" in percent" if scale == 100 else "")
    return intervals(rows, layout, title=f"{found.metric} of every system", axis=axis)


def _summary(found: Tabled, scale: float, unit: str) -> Table:
    several = len(found.datasets) > 1
    rows = []
    for name, row, runs, average, firsts in zip(
        found.systems, found.means_SD, found.runs_SD, _averages(found), _firsts(found), strict=True
    ):
        known = np.flatnonzero(np.isfinite(row))
        least, most = (int(known[find(row[known])]) if several and len(known) else 0 for find in (np.argmin, np.argmax))
        ends = [f"{shown(float(row[place]), scale=scale)} ({found.datasets[place]})" for place in (least, most)]
        cells = [*(ends if len(known) else [NONE] * 2), f"{firsts:,}", f"{len(known):,}"] if several else []
        rows.append((name, shown(average, scale=scale), *cells, f"{int(runs.sum()):,}"))
    header = ("system", "mean", *(("least", "most", "first on", "data sets") if several else ()), "scores")
    return Table(header, tuple(rows), caption=f"{found.metric}{unit}.", folded=len(rows) > 2 * MOST_ROWS)


def _every(found: Tabled, scale: float, unit: str) -> Table:
    rows = [
        (name, *(shown(each, scale=scale) for each in column.tolist()))
        for name, column in zip(found.datasets, found.means_SD.T, strict=True)
    ]
    caption = f"Mean {found.metric}{unit} on every data set."
    return Table((found.column, *found.systems), tuple(rows), caption=caption, folded=len(rows) > MOST_ROWS)
