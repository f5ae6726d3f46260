"""A table of scores: means of systems over all data sets and on each of them."""

from __future__ import annotations

from collections.abc import Iterator

from deadheat.charts.chart import Figure as Drawing
from deadheat.charts.chart import Plot
from deadheat.charts.comparisons import IntervalPlot, IntervalRow
from deadheat.charts.distributions import Sample, ViolinPlot
from deadheat.report.model import (
    Block,
    Column,
    Content,
    Figure,
    Heading,
    Note,
    Paragraph,
    Shown,
    Signature,
    Table,
    Text,
    Verdict,
    View,
    count,
    score,
    size_of,
    text,
)
from deadheat.results.format import COUNT, score_format
from deadheat.results.score import ScoreTable
from deadheat.text import pluralize, slug

DRAWN = 40  # systems in a figure
ROWS = 30  # of a table that is not folded
CELLS = 10_000  # of the table of every data set


def view(result: ScoreTable) -> View:
    """Who has the highest mean, and every score."""
    return (Verdict(_headline(result)), *_blocks(result), Signature(result.signature))


def _headline(result: ScoreTable) -> Text:
    first = result.systems[0]
    average = result.average(first)
    if len(result.systems) == 1:
        return text("The mean {} of {} is {}.", result.metric, first.system, score(average, result.scale))
    second = result.systems[1]
    gap = size_of(average - result.average(second), result.scale)
    where = Text(())
    if len(result.datasets) > 1:
        where = text(
            ", and is first on {} of {}", Shown(result.firsts()[0], COUNT), count(len(result.datasets), "data set")
        )
    return text(
        "{} has the highest mean {}, {}{}; {} is {} behind.",
        first.system,
        result.metric,
        score(average, result.scale),
        where,
        second.system,
        gap,
    )


def _blocks(result: ScoreTable) -> Iterator[Block]:
    several = len(result.datasets) > 1
    yield Heading(text("{} of every system", result.metric), detail=True)
    yield Paragraph(_size(result), detail=True)
    if several:
        yield Paragraph(
            "A violin shows the mean scores of a system on the data sets; every data set has the same weight.",
            detail=True,
        )
    yield Figure(Drawing(slug("table", result.metric), _plot(result)))
    if len(result.systems) > DRAWN:
        yield Note(f"The figure shows the {DRAWN} systems with the highest means; the table has all.")
    yield _summary(result)
    cells = len(result.systems) * len(result.datasets)
    if several and cells <= CELLS:
        yield _every_dataset(result)
    elif several:
        yield Note(f"The table of every data set would have {cells:,} cells and is left out.")
    if result.missing:
        over = f"the {len(result.complete):,} data sets that have all" if result.complete else "those there are"
        yield Note(
            f"{result.missing:,} of {cells:,} pairs of a system and a data set have no score; means are over {over}."
        )
    for note in result.notes:
        yield Note(note)


def _size(result: ScoreTable) -> Text:
    runs = [number for row in result.systems for number in row.runs if number]
    per_pair = (
        text("{}", count(runs[0], "run"))
        if min(runs) == max(runs)
        else text("{} to {} runs", Shown(min(runs), COUNT), Shown(max(runs), COUNT))
    )
    where = text(" on {}", count(len(result.datasets), "data set")) if result.column else Text(())
    return text(
        "The table has {} by {}: {}{}, with {} each.",
        count(sum(runs), "score"),
        result.metric,
        count(len(result.systems), "system"),
        where,
        per_pair,
    )


def _plot(result: ScoreTable) -> Plot:
    factor, axis = result.scale.factor, f"{result.metric}{result.scale.unit}"
    drawn = result.systems[:DRAWN]
    if len(result.datasets) > 1:
        samples = tuple(Sample(row.system, tuple(factor * mean for mean in row.means if mean == mean)) for row in drawn)
        return ViolinPlot(samples, f"{result.metric}: each system over {len(result.datasets):,} data sets", axis)
    nan = float("nan")
    rows = tuple(IntervalRow(row.system, factor * result.average(row), nan, nan) for row in drawn)
    return IntervalPlot(rows, f"{result.metric} of every system", axis)


def _summary(result: ScoreTable) -> Table:
    several = len(result.datasets) > 1
    form = score_format(result.scale)
    columns = [Column("system"), Column("mean", form)]
    if several:
        columns += [Column("min", form), Column("on"), Column("max", form), Column("on")]
        columns += [Column("first on", COUNT), Column("data sets", COUNT)]
    rows: list[tuple[Content, ...]] = []
    for row, firsts in zip(result.systems, result.firsts(), strict=True):
        cells: list[Content] = [row.system, result.average(row)]
        known = [at for at, mean in enumerate(row.means) if mean == mean]
        if several:
            for choose in (min, max):
                at = choose(known, key=lambda i: row.means[i]) if known else None
                cells += [None, None] if at is None else [row.means[at], result.datasets[at]]
            cells += [firsts, len(known)]
        rows.append((*cells, sum(row.runs)))
    caption = (
        f"Mean {result.metric}{result.scale.unit} of every system over {pluralize(len(result.datasets), 'data set')}."
    )
    return Table(
        (*columns, Column("scores", COUNT)), tuple(rows), name="means", caption=caption, folded=len(rows) > 2 * ROWS
    )


def _every_dataset(result: ScoreTable) -> Table:
    form = score_format(result.scale)
    columns = (Column(result.column or "data set"), *(Column(row.system, form) for row in result.systems))
    rows: list[tuple[Content, ...]] = [
        (name, *(row.means[at] for row in result.systems)) for at, name in enumerate(result.datasets)
    ]
    caption = text(
        "Mean {}{} on every data set.", result.metric, Text((result.scale.unit,)) if result.scale.unit else Text(())
    )
    return Table(columns, tuple(rows), caption=caption, folded=len(rows) > ROWS, detail=True)
