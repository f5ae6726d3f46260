"""Scores with confidence intervals, whole or broken down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deadheat.report.model import (
    Block,
    Cell,
    Column,
    Content,
    Figure,
    Heading,
    Note,
    Paragraph,
    Signature,
    Table,
    Text,
    Verdict,
    View,
    best_cells,
    interval,
    names,
    score,
    text,
)
from deadheat.results.format import COUNT, MISSING, PERCENT, interval_format, interval_name, score_format
from deadheat.results.score import Score, Scores
from deadheat.text import pluralize, slug

USUAL = ("LAS", "UAS", "UPOS")  # what most people look at first
FIGURES = 3  # metrics, or systems of a breakdown, that are drawn
GROUPS = 20  # that are drawn
NO_GROUP = "(none)"  # a group without a name, such as sentences before the first that has a genre
SCORE = score_format(PERCENT)


def brief_view(result: Scores) -> View:
    """What a terminal shows, without the modules that draw: this command is to start fast."""
    if not result.rows:
        return view(result)
    return (Verdict(_headline(result)), _all_rows(result, result.rows), Signature(result.signature))


def view(result: Scores) -> View:
    """The highest score, all scores, and figures of the usual metrics."""
    if not result.rows:
        return (Verdict("Nothing was scored."), Signature(result.signature))
    body = _breakdown(result) if result.settings.by else _whole(result)
    return (Verdict(_headline(result)), *body, *_notes(result), Signature(result.signature))


def _headline(result: Scores) -> Text:
    metric = result.rows[0].metric
    rows = [row for row in result.rows if row.metric == metric and row.value == row.value]
    if not rows:
        return text("There is nothing to score by {}.", metric)
    best = max(rows, key=lambda row: row.value)
    bounds = Text(())
    if best.interval.low == best.interval.low:
        level = interval_name(1 - best.interval.level)
        bounds = text(" ({} {})", Text((level,)), interval(best.interval.bounds, PERCENT))
    where = text(" on {}", best.group or NO_GROUP) if result.settings.by else Text(())
    if len(rows) == 1:
        return text("{} has {} {}{}.", best.system, metric, score(best.value, PERCENT), bounds)
    level_with = list(dict.fromkeys(row.system for row in rows if row.value == best.value))
    if len(level_with) > 1 and not result.settings.by:
        return text(
            "{} have the same {}, the highest: {}{}.", names(level_with), metric, score(best.value, PERCENT), bounds
        )
    return text("{} has the highest {}{}: {}{}.", best.system, metric, where, score(best.value, PERCENT), bounds)


def _whole(result: Scores) -> Iterator[Block]:
    rows = result.rows
    systems = list(dict.fromkeys(row.system for row in rows))
    yield Heading(f"Scores of {pluralize(len(systems), 'system')}" if len(systems) > 1 else "Scores", detail=True)
    yield Paragraph(f"Scores are in percent; higher is better. {_interval_meaning(result)}", detail=True)
    if len(systems) > 1:
        yield Paragraph(
            "Overlapping intervals do not tell whether one system is better than another: all systems were scored on the "
            "same text, and deadheat compare takes that into account.",
            detail=True,
        )
        scored = dict.fromkeys(row.metric for row in rows if row.value == row.value)
        for metric in list(dict.fromkeys([*(name for name in USUAL if name in scored), *scored]))[:FIGURES]:
            own = [(row.system, row) for row in rows if row.metric == metric]
            yield _figure(result, own, f"{metric} of each system", metric, slug("score", metric))
        yield _matrix(rows, systems)
    yield _all_rows(result, rows, name="" if len(systems) > 1 else "scores")


def _matrix(rows: Sequence[Score], systems: Sequence[str]) -> Table:
    """Systems by metrics, for papers and pages."""
    metrics = list(dict.fromkeys(row.metric for row in rows))
    found = {(row.system, row.metric): row.value for row in rows}
    columns = [
        best_cells([found.get((system, metric), float("nan")) for system in systems], SCORE) for metric in metrics
    ]
    return Table(
        (Column("system"), *(Column(metric, SCORE) for metric in metrics)),
        tuple((system, *cells) for system, *cells in zip(systems, *columns, strict=True)),
        name="scores",
        caption="Scores in percent; the best is in bold, differences were not tested.",
        detail=True,
    )


def _all_rows(result: Scores, rows: Sequence[Score], *, name: str = "") -> Table:
    """One row per system and metric (and group), with the interval and the counts."""
    by = result.settings.by
    classes = by in ("relation", "tag")
    labels = (Column("system"), Column("metric"), *((Column(by),) if by else ()))
    extra = (Column("precision", SCORE), Column("recall", SCORE)) if classes else ()
    columns = (
        *labels,
        Column("score", SCORE),
        Column(_interval_name(result), interval_format(PERCENT)),
        *extra,
        *(Column(heading, COUNT) for heading in ("correct", "gold", "predicted")),
    )
    cells: list[tuple[Content, ...]] = [
        (
            row.system,
            row.metric,
            *((row.group or NO_GROUP,) if by else ()),
            row.value,
            row.interval.bounds,
            *((row.precision, row.recall) if classes else ()),
            row.correct,
            row.gold,
            row.predicted,
        )
        for row in rows
    ]
    return Table(columns, tuple(cells), name=name, labels=len(labels))


def _breakdown(result: Scores) -> Iterator[Block]:
    by = result.settings.by
    yield _all_rows(result, result.rows)
    for metric in dict.fromkeys(row.metric for row in result.rows):
        rows = [row for row in result.rows if row.metric == metric]
        systems = list(dict.fromkeys(row.system for row in rows))
        cells = {(row.system, row.group): row for row in rows}
        sizes = dict(sorted({row.group: row.gold for row in rows}.items(), key=lambda item: -item[1]))
        drawn = sorted(list(sizes)[:GROUPS], key=lambda group: -_value(cells.get((systems[0], group))))
        yield Heading(text("{} by {}", metric, by), detail=True)
        yield Paragraph(
            "The table begins with the groups that are largest in gold. A small group has a wide interval: its score says little.",
            detail=True,
        )
        for system in systems[:FIGURES]:
            own = [(group or NO_GROUP, cells[system, group]) for group in drawn if (system, group) in cells]
            title = f"{metric} of {system} by {by}"
            yield _figure(result, own, title, metric, slug("score", metric, by, system if len(systems) > 1 else ""))
        yield Table(
            (Column(by), *(Column(system, SCORE) for system in systems), Column("in gold", COUNT)),
            tuple(
                (
                    group or NO_GROUP,
                    *(cells[system, group].value if (system, group) in cells else Cell(MISSING) for system in systems),
                    size,
                )
                for group, size in sizes.items()
            ),
            name=slug("scores", metric, by),
            caption=text("{} by {}, in percent.", metric, by),
            detail=True,
        )


def _value(row: Score | None) -> float:
    return row.value if row is not None and row.value == row.value else -1.0


def _figure(result: Scores, rows: Sequence[tuple[str, Score]], title: str, metric: str, name: str) -> Figure:
    from deadheat.charts.chart import Figure as Drawing
    from deadheat.charts.comparisons import IntervalPlot, IntervalRow

    plot = IntervalPlot(
        tuple(
            IntervalRow(
                label,
                100 * row.value,
                100 * row.interval.low,
                100 * row.interval.high,
                f"{row.correct:,} of {row.gold:,}",
            )
            for label, row in rows
            if row.value == row.value
        ),
        f"{title}, with {_interval_name(result)}",
        f"{metric} in percent",
    )
    return Figure(Drawing(name, plot))


def _interval_name(result: Scores) -> str:
    return interval_name(1 - result.settings.level)


def _interval_meaning(result: Scores) -> str:
    return f"The {_interval_name(result)} says how far a score may be from what the system reaches on all text of this kind."


def _notes(result: Scores) -> Iterator[Note]:
    if result.settings.interval == "auto":
        yield Note(
            "Scores that are proportions have Wilson's interval, which treats words as independent of each other."
        )
    yield Note(f"Bootstrap intervals resample {result.settings.unit}s.")
    for note in result.notes:
        yield Note(note)
