"""Scores with confidence intervals, whole or broken down."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from deadheat.reporting import model as m
from deadheat.results.format import COUNT, NAME, PERCENT, interval_name, unit_names
from deadheat.results.score import Score, Scores
from deadheat.text import pluralize, slug

USUAL = ("LAS", "UAS", "UPOS")  # what most people look at first
FIGURES = 3  # metrics, or systems of a breakdown, that are drawn
LONG = 30  # scores that are listed one below the other
GROUPS = 20  # that are drawn
NO_GROUP = "(none)"  # a group without a name, such as sentences before the first that has a genre
SCORE = PERCENT.score
JACKKNIFE = "the jackknife over {0}, in Wilson's form"
INTERVAL_NOTES = {
    "clustered": f"Intervals are by {JACKKNIFE}: {{0}} are independent of each other, and words within them need not "
    "be.",
    "bootstrap": "Bootstrap intervals resample {0}.",
    "wilson": "Scores that are proportions have Wilson's interval, which treats words as independent of each other; "
    f"other intervals are by {JACKKNIFE}.",
}


def brief_view(result: Scores, *, full: bool = True) -> Iterator[m.Block]:
    """What a terminal shows, without the modules that draw: this command is to start fast.

    Without `full`, many scores of several systems are systems by metrics, without intervals and counts.
    """
    yield m.Verdict(_headline(result))
    systems = list(dict.fromkeys(row.system for row in result.rows))
    if not full and len(systems) > 1 and len(result.rows) > LONG and not result.settings.by:
        yield replace(_matrix(result.rows, systems), caption="", detail=False)
        yield m.Paragraph(f"Intervals and counts of all {len(result.rows):,} scores: --full.")
    elif result.rows:
        yield _all_rows(result)


def view(result: Scores) -> Iterator[m.Block]:
    """The highest score, all scores, and figures of the usual metrics."""
    yield m.Verdict(_headline(result))
    if not result.rows:
        return
    yield from _breakdown(result) if result.settings.by else _whole(result)
    if result.settings.interval in INTERVAL_NOTES:
        yield m.Note(INTERVAL_NOTES[result.settings.interval].format(unit_names(result.settings.unit)))


def _headline(result: Scores) -> m.Words:
    if not result.rows:
        return "Nothing was scored."
    metric = next(iter(_usual_first(result)), "")
    rows = [row for row in result.rows if row.metric == metric and row.value == row.value]
    if not rows:
        return m.text("There is nothing to score by {}.", result.rows[0].metric)
    best = max(rows, key=lambda row: row.value)
    value = m.text("{}", m.score(best.value, PERCENT))
    if best.interval.low == best.interval.low:
        level = interval_name(1 - best.interval.level)
        value += m.text(f" ({level} {{}})", m.interval(best.interval.bounds, PERCENT))
    if len(rows) == 1:
        return m.text("{} has {} {}.", best.system, metric, value)
    if result.settings.by:
        return m.text("{} has the highest {} on {}: {}.", best.system, metric, best.group or NO_GROUP, value)
    tied = list(dict.fromkeys(row.system for row in rows if row.value == best.value))
    if len(tied) > 1:
        return m.text("{} have the same {}, the highest: {}.", m.names(tied), metric, value)
    return m.text("{} has the highest {}: {}.", best.system, metric, value)


def _usual_first(result: Scores) -> list[str]:
    """The metrics that have a score, those that most people look at first."""
    scored = dict.fromkeys(row.metric for row in result.rows if row.value == row.value)
    return [*(metric for metric in USUAL if metric in scored), *(metric for metric in scored if metric not in USUAL)]


def _whole(result: Scores) -> Iterator[m.Block]:
    rows = result.rows
    systems = list(dict.fromkeys(row.system for row in rows))
    yield m.Heading(f"Scores of {pluralize(len(systems), 'system')}" if len(systems) > 1 else "Scores", detail=True)
    yield m.explanation(
        f"Scores are in percent; higher is better. The {_interval_name(result)} says how far a score may be from what "
        "the system reaches on all text of this kind."
    )
    if len(systems) > 1:
        yield m.explanation(
            "Overlapping intervals do not tell whether one system is better than another: all systems were scored on "
            "the same text, and deadheat compare takes that into account."
        )
        for metric in _usual_first(result)[:FIGURES]:
            by_system = [(row.system, row) for row in rows if row.metric == metric]
            yield _figure(result, by_system, f"{metric} of each system", slug("score", metric))
        yield _matrix(rows, systems)
    yield _all_rows(result, name="" if len(systems) > 1 else "scores")


def _matrix(rows: Sequence[Score], systems: Sequence[str]) -> m.Table:
    """Systems by metrics, for papers and pages."""
    metrics = list(dict.fromkeys(row.metric for row in rows))
    values = {(row.system, row.metric): row.value for row in rows}
    cells = [m.best_cells([values.get((system, metric), math.nan) for system in systems], SCORE) for metric in metrics]
    columns = (m.Column("system"), *m.columns(SCORE, *metrics))
    caption = "Scores in percent; the best is in bold, differences were not tested."
    return m.Table(columns, list(zip(systems, *cells, strict=True)), "scores", caption, detail=True)


def _all_rows(result: Scores, *, name: str = "") -> m.Table:
    """One row per system and metric (and group), with the interval and the counts."""
    by = result.settings.by
    classes = by in ("relation", "tag")
    columns = [*m.columns(NAME, "system", "metric", by), m.Column("score", SCORE)]
    columns.append(m.Column(_interval_name(result), PERCENT.interval))
    columns += m.columns(SCORE, *(("precision", "recall") if classes else ("", "")))
    columns += m.columns(COUNT, "correct", "gold", "predicted")
    rows: list[m.Row] = []
    for row in result.rows:
        scores = row.value, row.interval.bounds, row.precision, row.recall
        counts = (row.correct, row.gold, row.predicted) if row.gold or not result.settings.items else (None,) * 3
        rows.append((row.system, row.metric, row.group or NO_GROUP, *scores, *counts))
    return m.Table(columns, rows, name, labels=3).without_unnamed()


def _breakdown(result: Scores) -> Iterator[m.Block]:
    by = result.settings.by
    yield _all_rows(result)
    for metric in dict.fromkeys(row.metric for row in result.rows):
        rows = [row for row in result.rows if row.metric == metric]
        systems = list(dict.fromkeys(row.system for row in rows))
        cells = {(row.system, row.group): row for row in rows}
        sizes = dict(sorted({row.group: row.gold for row in rows}.items(), key=lambda item: -item[1]))
        drawn = sorted(list(sizes)[:GROUPS], key=lambda group: -_value(cells.get((systems[0], group))))
        yield m.Heading(m.text("{} by {}", metric, by), detail=True)
        yield m.explanation(
            "The table begins with the groups that are largest in gold. A small group has a wide interval: its score "
            "says little."
        )
        for system in systems[:FIGURES]:
            by_group = [(group or NO_GROUP, cells[system, group]) for group in drawn if (system, group) in cells]
            name = slug("score", metric, by, system if len(systems) > 1 else "")
            yield _figure(result, by_group, f"{metric} of {system} by {by}", name)
        table: list[m.Row] = []
        for group, size in sizes.items():
            scores = [cells[system, group].value if (system, group) in cells else None for system in systems]
            table.append((group or NO_GROUP, *scores, size))
        columns = (m.Column(by), *m.columns(SCORE, *systems), m.Column("in gold", COUNT))
        caption = m.text("{} by {}, in percent.", metric, by)
        yield m.Table(columns, table, slug("scores", metric, by), caption, detail=True)


def _value(row: Score | None) -> float:
    return row.value if row is not None and row.value == row.value else -1.0


def _figure(result: Scores, scores: Sequence[tuple[str, Score]], title: str, name: str) -> m.Figure:
    from deadheat.charts.comparisons import IntervalPlot, IntervalRow

    rows = []
    for label, row in scores:
        if row.value == row.value:
            value, low, high = 100 * row.value, 100 * row.interval.low, 100 * row.interval.high
            rows.append(IntervalRow(label, value, low, high, f"{row.correct:,} of {row.gold:,}"))
    axis = f"{scores[0][1].metric} in percent"
    plot = IntervalPlot(tuple(rows), f"{title}, with {_interval_name(result)}", axis)
    return m.figure(name, plot)


def _interval_name(result: Scores) -> str:
    return interval_name(1 - result.settings.level)
