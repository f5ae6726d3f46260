"""A table of scores: means of systems over all data sets and on each of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from operator import itemgetter

from deadheat.charts.chart import Plot
from deadheat.charts.comparisons import IntervalPlot, IntervalRow
from deadheat.charts.distributions import Sample, ViolinPlot
from deadheat.reporting import model as m
from deadheat.results.format import COUNT
from deadheat.results.score import ScoreTable
from deadheat.text import pluralize, slug

DRAWN = 40  # systems in a figure
ROWS = 30  # of a table that is not folded
CELLS = 10_000  # of the table of every data set


def view(result: ScoreTable) -> Iterator[m.Block]:
    """Who has the highest mean, and every score."""
    several = len(result.datasets) > 1
    yield m.Verdict(_headline(result))
    yield m.Heading(m.text("{} of every system", result.metric), detail=True)
    yield m.explanation("{}", _size(result))
    if several:
        yield m.explanation(
            "A violin shows the mean scores of a system on the data sets; every data set has the same weight."
        )
    yield m.figure(slug("table", result.metric), _plot(result))
    if len(result.systems) > DRAWN:
        yield m.Note(f"The figure shows the {DRAWN} systems with the highest means; the table has all.")
    yield _summary(result)
    cells = len(result.systems) * len(result.datasets)
    if several and cells <= CELLS:
        yield _every_dataset(result)
    elif several:
        yield m.Note(f"The table of every data set would have {cells:,} cells and is left out.")
    if result.missing:
        over = f"the {len(result.complete):,} data sets that have all" if result.complete else "those there are"
        yield m.Note(
            f"{result.missing:,} of {cells:,} pairs of a system and a data set have no score; means are over {over}."
        )


def _headline(result: ScoreTable) -> m.Text:
    first, *others = zip(result.systems, result.averages, strict=True)
    system, value = first[0].system, m.score(first[1], result.scale)
    if not others:
        return m.text("The mean {} of {} is {}.", result.metric, system, value)
    gap = m.size_of(first[1] - others[0][1], result.scale)
    where = None
    if len(result.datasets) > 1:
        where = m.text(", and is first on {} of {}", result.firsts()[0], m.count(len(result.datasets), "data set"))
    words = "{} has the highest mean {}, {}{}; {} is {} behind."
    return m.text(words, system, result.metric, value, where, others[0][0].system, gap)


def _size(result: ScoreTable) -> m.Text:
    runs = [number for row in result.systems for number in row.runs if number]
    least = m.text("{} to ", min(runs)) if min(runs) < max(runs) else None
    where = m.text(" on {}", m.count(len(result.datasets), "data set")) if result.column else None
    scores, systems = m.count(sum(runs), "score"), m.count(len(result.systems), "system")
    words = "The table has {} by {}: {}{}, with {}{} each."
    return m.text(words, scores, result.metric, systems, where, least, m.count(max(runs), "run"))


def _plot(result: ScoreTable) -> Plot:
    factor, axis = result.scale.factor, f"{result.metric}{result.scale.unit}"
    drawn = result.systems[:DRAWN]
    if len(result.datasets) > 1:
        samples = tuple(Sample(row.system, tuple(factor * mean for mean in row.means if mean == mean)) for row in drawn)
        return ViolinPlot(samples, f"{result.metric}: each system over {len(result.datasets):,} data sets", axis)
    means = zip(drawn, result.averages, strict=False)
    rows = tuple(IntervalRow(row.system, factor * mean, math.nan, math.nan) for row, mean in means)
    return IntervalPlot(rows, f"{result.metric} of every system", axis)


def _summary(result: ScoreTable) -> m.Table:
    several, form, mean = len(result.datasets) > 1, result.scale.score, itemgetter(0)
    columns = [m.Column("system"), m.Column("mean", form)]
    if several:
        columns += [m.Column("min", form), m.Column("on"), m.Column("max", form), m.Column("on")]
    columns += m.columns(COUNT, *(["first on", "data sets"] if several else []), "scores")
    rows: list[m.Row] = []
    for row, average, firsts in zip(result.systems, result.averages, result.firsts(), strict=True):
        cells: list[m.Content] = [row.system, average]
        if several:
            scores = [pair for pair in zip(row.means, result.datasets, strict=True) if pair[0] == pair[0]]
            cells += [*min(scores, key=mean), *max(scores, key=mean)] if scores else [None] * 4
            cells += [firsts, len(scores)]
        rows.append((*cells, sum(row.runs)))
    datasets = pluralize(len(result.datasets), "data set")
    caption = f"Mean {result.metric}{result.scale.unit} of every system over {datasets}."
    return m.Table(columns, rows, "means", caption, folded=len(rows) > 2 * ROWS)


def _every_dataset(result: ScoreTable) -> m.Table:
    systems = m.columns(result.scale.score, *(row.system for row in result.systems))
    columns = (m.Column(result.column or "data set"), *systems)
    rows = list(zip(result.datasets, *(row.means for row in result.systems), strict=True))
    caption = m.text(f"Mean {{}}{result.scale.unit} on every data set.", result.metric)
    return m.Table(columns, rows, caption=caption, folded=len(rows) > ROWS, detail=True)
