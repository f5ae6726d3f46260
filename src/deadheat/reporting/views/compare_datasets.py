"""Systems on several data sets: scores by data set, and how each pair differs on every one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from deadheat.charts.comparisons import IntervalPlot, IntervalRow
from deadheat.reporting import model as m
from deadheat.reporting.verdict import MARKS, mark_meanings
from deadheat.results.compare import Comparison, PairwiseTest, RunSummary
from deadheat.results.format import NAME, P_VALUE, Scale, correction_words, interval_name, name_of_test, unit_names
from deadheat.text import pluralize

FORESTS = 3  # pairs whose differences by data set are drawn
ROWS = 15  # of a table that is not folded
LISTED = 45  # pairs whose differences by data set are listed: all of ten systems


def dataset_table(result: Comparison) -> m.Table:
    """Mean scores of the systems on every data set, with their standard deviations over runs, and averages."""
    scale, systems = result.scale, [row.system for row in result.ranked]
    spread, lowest = result.runs > 1, result.lower_is_better
    rows: list[m.Row] = []
    for dataset in result.datasets:
        summaries = {row.system: row for row in dataset.systems}
        values = [summaries[name].mean if name in summaries else math.nan for name in systems]
        merits = [-value if lowest else value for value in values]
        best = systems[max(range(len(merits)), key=lambda at: -math.inf if math.isnan(merits[at]) else merits[at])]
        cells = m.best_cells(
            values, scale.score, lowest=lowest, marks=[_mark_on(result, dataset.dataset, best, a) for a in systems]
        )
        if spread:
            cells = [_with_sd(cell, summaries.get(name), scale) for cell, name in zip(cells, systems, strict=True)]
        rows.append((dataset.dataset, *cells))
    means = [row.value for row in result.ranked]
    marks = marks_against(result, systems[0], systems[1:])
    rows.append((m.Cell("average", strong=True), *m.best_cells(means, scale.score, lowest=lowest, marks=marks)))
    what = "Mean (standard deviation over runs)" if spread else "Scores"
    complete = sum(len(dataset.systems) == len(systems) for dataset in result.datasets)
    partly = 0 < complete < len(result.datasets)
    over = f" The average is over {pluralize(complete, 'data set')} with scores of all systems." if partly else ""
    columns = [m.Column("data set"), *m.columns(scale.score, *systems)]
    test = f" ({name_of_test(result.test)}, corrected for all pairs on all data sets)"
    caption = f"{what} of {result.metric}{' (lower is better)' * lowest}.{over}"
    return m.Table(columns, rows, "systems", caption, mark_meanings(test, unit_names(result.unit)))


def marks_against(result: Comparison, best: str, others: Sequence[str]) -> list[str]:
    """No mark for the best system, and for each other one what its test against the best says."""
    pairs = (pair for pair in result.pairs if best in (pair.a, pair.b))
    tests = {pair.b if pair.a == best else pair.a: MARKS[pair.state(result.settings.alpha)] for pair in pairs}
    return ["", *(tests.get(name, m.CIRCLE) for name in others)]


def _with_sd(cell: m.Cell, summary: RunSummary | None, scale: Scale) -> m.Cell:
    if summary is None or math.isnan(summary.sd):
        return cell
    return replace(cell, value=m.text("{} ({})", m.score(summary.mean, scale), m.size_of(summary.sd, scale)))


def _mark_on(result: Comparison, dataset: str, best: str, system: str) -> str:
    """Whether a system is told apart from the best on one data set."""
    for pair in result.pairs:
        if {pair.a, pair.b} == {best, system}:
            row = next((row for row in pair.by_dataset if row.dataset == dataset), None)
            if row is None:
                return m.CIRCLE
            if math.isnan(row.p_corrected):
                return m.DOUBLE_DAGGER
            return "" if row.p_corrected <= result.settings.alpha else m.DAGGER
    return "" if system == best else m.CIRCLE


def forests(result: Comparison, pairs: Sequence[PairwiseTest], file: str = "compare") -> Iterator[m.Figure | m.Table]:
    """The difference of every pair on every data set, and a forest plot of the first pairs."""
    factor, scale, level = result.scale.factor, result.scale, interval_name(result.settings.alpha)
    for at, pair in enumerate(pairs[:FORESTS], start=1):
        forward = pair if pair.difference >= 0 else pair.turned()
        names = [*(row.dataset for row in forward.by_dataset), "these data sets", "data sets like these"]
        values = [*(row.difference for row in forward.by_dataset), forward.difference, forward.difference]
        intervals = [*(row.interval for row in forward.by_dataset), forward.interval]
        intervals += [forward.elsewhere.interval] if forward.elsewhere else []
        drawn = tuple(
            IntervalRow(name, factor * value, factor * interval.low, factor * interval.high)
            for name, value, interval in zip(names, values, intervals, strict=False)
        )
        axis = f"difference in {result.metric}{scale.in_points}"
        title = f"{forward.a} - {forward.b} by data set, with {level}"
        bars = text_intervals(drawn)
        rows: list[m.Row] = [
            (name, value, interval.bounds, bar)
            for name, value, interval, bar in zip(names, values, intervals, bars, strict=False)
        ]
        columns = [m.Column("data set"), m.Column("difference", scale.difference)]
        columns += [m.Column(level, scale.difference_interval), m.Column("")]
        caption = m.text("{} - {} by data set.", forward.a, forward.b)
        alternative = m.Table(columns, rows, caption=caption)
        yield m.figure(
            f"{file}-forest-{at}", IntervalPlot(drawn, title, axis, zero=True), alternative=alternative, detail=False
        )
    name = "differences" if file == "compare" else f"{file}-differences"
    yield replace(_by_dataset(result, pairs[:LISTED], level), name=name)


def text_intervals(rows: Sequence[IntervalRow], width: int = 33) -> list[str]:
    """Intervals drawn with characters on a common scale; `|` is zero.

    Examples
    --------
    >>> rows = [IntervalRow("a", 1, 0.5, 1.5), IntervalRow("b", 0.25, -0.5, 1)]
    >>> for line in text_intervals(rows, width=21):
    ...     print(line)
         |    (----o----)
    (----|--o------)
    """
    ends = [value for row in rows for value in (row.value, row.low, row.high, 0.0) if math.isfinite(value)]
    low, high = min(ends), max(ends)
    span = high - low

    def position(value: float) -> int:
        return round((value - low) / span * (width - 1)) if span > 0 else 0

    lines = []
    for row in rows:
        drawn = [" "] * width
        bounds = [position(end) for end in (row.low, row.high) if math.isfinite(end)]
        if len(bounds) == 2:
            drawn[bounds[0] : bounds[1] + 1] = ["-"] * (bounds[1] - bounds[0] + 1)
            drawn[bounds[0]], drawn[bounds[1]] = "(", ")"
        drawn[position(0.0)] = "|"
        if math.isfinite(row.value):
            drawn[position(row.value)] = "o"
        lines.append("".join(drawn).rstrip())
    return lines


def _by_dataset(result: Comparison, pairs: Sequence[PairwiseTest], level: str) -> m.Table:
    """All pairs on all data sets, for pages and papers."""
    scale = result.scale
    columns = [*m.columns(NAME, "pair", "data set"), m.Column("difference", scale.difference)]
    columns += [m.Column(level, scale.difference_interval), *m.columns(P_VALUE, "p", "p corrected")]
    rows: list[m.Row] = [
        (m.text("{} - {}", pair.a, pair.b), row.dataset, row.difference, row.interval.bounds, row.p, row.p_corrected)
        for pair in pairs
        for row in pair.by_dataset
    ]
    corrected = correction_words(result.settings.correction, len(rows))
    caption = f"Differences by data set; intervals are widened as p-values are corrected; p-values {corrected}."
    return m.Table(columns, rows, "differences", caption, labels=2, folded=len(rows) > ROWS, detail=True)
