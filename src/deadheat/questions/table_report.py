"""A table of scores that somebody else made: runs of systems on data sets, and what can be said of them."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from deadheat.errors import InputError, NameUnknown
from deadheat.questions.score_selection import ScoreSelection, SourceReport
from deadheat.results.format import Scale
from deadheat.results.score import ScoreTable, SystemMeans
from deadheat.tables.table import DATASETS, METRICS, SCORES, SYSTEMS, Table, read_table
from deadheat.text import join_names

ALPHA = 0.05
TEST, ONLY = "test", "all"
SEEDS = ("seed", "run", "key", "split_seed")  # columns that may differ between runs of one system on one data set
SIZES = ("sentences", "words")
UNNAMED = "score"  # what a score is called whose table does not say
EXPECTED = (
    f"expected columns of systems ({', '.join(SYSTEMS[:3])}, ...) and of scores ({', '.join(SCORES)}, or the one that "
    "--metric names), or data sets in the first column and a column of scores for each system"
)


def table_report(path: str | os.PathLike[str], *, metric: str = "") -> SourceReport:
    """Read a table of scores; rows that agree in system, data set and metric are runs.

    Long tables have a column of systems and one of scores, and perhaps of data sets and of metrics. Wide tables have
    data sets in the first column and systems in the others. Where there are columns `part`, `split` and `number`, as in
    what `deadheat export` writes, test is taken before dev, and the standard split before others.

    Parameters
    ----------
    metric
        Which of several; the first of the table by default.

    Raises
    ------
    InputError
        If it is not a table of scores, or a score is not a number, with its line.
    """
    table = read_table(path)
    system, score = table.guess(SYSTEMS, what="systems"), table.guess(SCORES, what="scores")
    if system and not score and metric.lower() in [name.lower() for name in table.frame.columns]:
        score = table.column(metric)
    frame, column, ignored = _long(table, system, score) if system and score else _wide(table)
    metrics = frame["metric"].unique(maintain_order=True).to_list()
    if not metrics:
        raise InputError(f"{table.path}: no score in any row; expected some")
    wanted = _metric(table, metric, metrics)
    selection = ScoreSelection.of(table.path, frame, metric=wanted)
    assert selection is not None  # there are rows
    parts = frame["part"].unique(maintain_order=True).to_list()
    notes = [*_ignored(ignored), *_others("by", wanted, metrics), *_others("on", selection.part, parts)]
    if not selection.scores.height:
        raise InputError(f"{table.path}: no score by {wanted} on {selection.part}; expected some")
    by = f"{column} (data set)" if column in ("system", "score") else column
    named = replace(selection, noun="data sets", column=by)
    report = SourceReport(Path(path).stem, (_summary(named),), tuple(notes))
    return report + named.over_seeds(ALPHA) + named.over_corpora(ALPHA)


def _summary(selection: ScoreSelection) -> ScoreTable:
    """The mean of every system on every data set, best system first."""
    means = selection.scores.group_by("system", "corpus", maintain_order=True).agg(pl.col("value").mean(), pl.len())
    datasets = means["corpus"].unique(maintain_order=True).to_list()
    cells = {(system, corpus): (value, runs) for system, corpus, value, runs in means.iter_rows()}
    systems = tuple(
        SystemMeans(
            system,
            tuple(cells.get((system, name), (math.nan, 0))[0] for name in datasets),
            tuple(cells.get((system, name), (math.nan, 0))[1] for name in datasets),
        )
        for system in means["system"].unique(maintain_order=True).to_list()
    )
    values = selection.scores["value"]
    scale = Scale.of([float(values.min()), float(values.max())])  # type: ignore[arg-type]
    table = ScoreTable(selection.metric, selection.column, tuple(datasets), systems, scale)
    averages = {row.system: table.average(row) for row in systems}
    ranked = sorted(
        systems, key=lambda row: -averages[row.system] if averages[row.system] == averages[row.system] else math.inf
    )
    return replace(table, systems=tuple(ranked))


def _long(table: Table, system: str, score: str) -> tuple[pl.DataFrame, str, list[str]]:
    """One row per score; the column of data sets; columns that are ignored."""
    dataset = table.guess(DATASETS, what="data sets")
    metric = table.guess(METRICS, what="metrics")
    part, split, number = (table.guess((name,), what=f"{name}s") for name in ("part", "split", "number"))
    split, number = (split, number) if split and number else ("", "")
    used = {system, score, dataset, metric, part, split, number}
    ignored = [name for name in table.frame.columns if name not in used and name.lower() not in (*SEEDS, *SIZES)]
    columns = {
        "system": _names(table, system, "system"),
        "corpus": _names(table, dataset, "data set") if dataset else _same(table, ONLY),
        "metric": table.texts(metric).fill_null(UNNAMED) if metric else _same(table, _measure(score)),
        "part": table.texts(part).fill_null(TEST) if part else _same(table, TEST),
        "split": table.texts(split).fill_null("") if split else _same(table, ""),
        "number": table.numbers(number).fill_null(0) if number else pl.repeat(0.0, table.frame.height, eager=True),
        "value": table.numbers(score, what="score"),
    }
    frame = pl.DataFrame({name: series.alias(name) for name, series in columns.items()})
    return frame.filter(pl.col("value").is_not_null()), dataset, ignored


def _measure(score: str) -> str:
    return UNNAMED if score.lower() in SCORES else score


def _wide(table: Table) -> tuple[pl.DataFrame, str, list[str]]:
    metric = table.guess(METRICS, what="metrics")
    columns = [name for name in table.frame.columns if name != metric]
    dataset, systems = columns[0], columns[1:]
    if dataset.lower() in SYSTEMS:
        raise InputError(f"{table.path}: systems in rows (first column {dataset!r}), no column of scores; {EXPECTED}")
    if not systems:
        raise InputError(f"{table.path}: one column, {dataset}; {EXPECTED}")
    if not any(_is_numeric(table.frame[name]) for name in systems):
        raise InputError(f"{table.path}: no column of scores; {EXPECTED}")
    values = [table.numbers(name, what=f"score of {name}") for name in systems]
    names = _names(table, dataset, "data set")
    metrics = table.texts(metric).fill_null(UNNAMED) if metric else _same(table, UNNAMED)
    frame = pl.DataFrame(
        {
            "system": pl.Series(np.repeat(np.array(systems, object), table.frame.height), dtype=pl.String),
            "corpus": pl.concat([names.alias("corpus")] * len(systems)),
            "metric": pl.concat([metrics.alias("metric")] * len(systems)),
            "value": pl.concat([series.alias("value") for series in values]),
        }
    ).with_columns(part=pl.lit(TEST), split=pl.lit(""), number=pl.lit(0.0))
    return frame.filter(pl.col("value").is_not_null()), dataset, []


def _is_numeric(series: pl.Series) -> bool:
    """Whether some cell is a number; a column without any is not a column of scores."""
    return bool(series.cast(pl.Float64, strict=False).is_not_null().any())


def _same(table: Table, value: str) -> pl.Series:
    return pl.Series([value]).new_from_index(0, table.frame.height)


def _names(table: Table, column: str, kind: str) -> pl.Series:
    """A column in which every row needs a name."""
    texts = table.texts(column)
    if texts.null_count():
        row = int(texts.is_null().arg_true()[0])
        raise InputError(f"{table.place(row)}: no {kind}; expected a name in column {column}")
    return texts


def _metric(table: Table, metric: str, known: Sequence[str]) -> str:
    if not metric:
        return known[0]
    for name in (metric, *(name for name in known if name.lower() == metric.lower())):
        if name in known:
            return name
    raise NameUnknown(f"{table.path}: metric", metric, known)


def _others(preposition: str, chosen: str, names: Sequence[str]) -> list[str]:
    others = [name for name in names if name != chosen]
    return [f"scores are {preposition} {chosen}; the table also has {join_names(others, limit=6)}"] if others else []


def _ignored(columns: Sequence[str]) -> list[str]:
    if not columns:
        return []
    noun = "column" if len(columns) == 1 else "columns"
    meaning = "rows that agree in system, data set and metric count as runs of one system"
    return [f"{noun} {join_names(columns, limit=6)} ignored: {meaning}"]
