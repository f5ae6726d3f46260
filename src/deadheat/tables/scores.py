"""Read tables of scores, long or wide, and tables of attributes and subsets of data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

import numpy as np
import polars as pl

from deadheat.errors import InputError, NameUnknown
from deadheat.tables.matrix import ScoreTable, TableOptions, complete
from deadheat.tables.table import (
    DATASETS,
    METRICS,
    SCORES,
    SUBSETS,
    SYSTEMS,
    Numbers,
    Path,
    Table,
    codes_of,
    read_table,
)

# Columns that may differ between runs of one system on one data set, or say how large the test set is.
RUN_COLUMNS = ("seed", "run", "key", "split_seed", "sentences", "words")
Attributes = dict[str, tuple[str, ...] | Numbers]


def read_score_table(path: Path, *, metric: str = "", **options: Unpack[TableOptions]) -> ScoreTable:
    """Read the scores by one metric, in any case; it must be named if the table has several.

    Long tables have columns of systems, data sets and scores, and perhaps of metrics; these are recognised by name
    (`system`, `treebank`, `score`, `metric`, ...) or given as options. Wide tables have data sets in the first column
    and systems in the others.
    """
    table, cells = _read_cells(path, options)
    metrics = cells["metric"].unique(maintain_order=True).to_list()
    if not metric and len(metrics) > 1:
        listed = ", ".join(sorted(metrics))
        raise InputError(f"{table.path}: several metrics ({listed}); expected one to be named by --metric")
    if metrics == [""]:
        return _score_table(table, cells, "", options, label=metric)
    wanted = find_metric(table, metric, metrics)
    return _score_table(table, cells, wanted, options, label=wanted)


def read_score_tables(
    path: Path, *, metrics: Sequence[str] = (), **options: Unpack[TableOptions]
) -> dict[str, ScoreTable]:
    """Read the scores by several metrics, by default all of the table; see `read_score_table`."""
    table, cells = _read_cells(path, options)
    names = cells["metric"].unique(maintain_order=True).to_list()
    wanted = [find_metric(table, metric, names) for metric in metrics] or names
    return {metric: _score_table(table, cells, metric, options, label=metric) for metric in wanted}


def find_metric(table: Table, metric: str, metrics: Sequence[str]) -> str:
    """Return the metric of this name in any case, or the first of the table if none is named."""
    for candidate in (metric or metrics[0], *(name for name in metrics if name.lower() == metric.lower())):
        if candidate in metrics:
            return candidate
    raise NameUnknown(f"{table.path}: metric", metric, [name for name in metrics if name])


def _read_cells(path: Path, options: TableOptions) -> tuple[Table, pl.DataFrame]:
    """Return the table, and its cells: columns system, dataset, metric, score (null where empty) and row."""
    table = read_table(path)
    system, dataset, score = options.get("system", ""), options.get("dataset", ""), options.get("score", "")
    metric = table.find("", METRICS, what="metrics")
    scores = table.find(score, SCORES, what="scores", option="--score")
    if not scores and not system:
        return table, _wide_cells(table, table.column(dataset) if dataset else "", metric)
    columns = {
        "system": table.find(system, SYSTEMS, what="systems", option="--system"),
        "dataset": table.find(dataset, DATASETS, what="data sets", option="--dataset"),
        "score": scores,
    }
    if all(columns.values()):
        cells = {
            "system": table.names(columns["system"], "system"),
            "dataset": table.names(columns["dataset"], "data set"),
            "metric": table.texts_or(metric, ""),
            "score": table.numbers(columns["score"], what="score"),
        }
        return table, pl.DataFrame(cells).with_row_index("row")
    if system or score:
        kind = next(kind for kind, column in columns.items() if not column)
        raise InputError(f"{table.path}: no column of {kind}s recognised; expected it to be named by --{kind}")
    return table, _wide_cells(table, columns["dataset"] if dataset else "", metric)


def _wide_cells(table: Table, dataset: str, metric: str) -> pl.DataFrame:
    columns = table.frame.columns
    dataset = dataset or next((name for name in columns if name != metric), metric)
    systems = [name for name in columns if name not in (dataset, metric)]
    if dataset.lower() in SYSTEMS:
        problem = f"systems in rows (the first column is {dataset!r})"
        raise InputError(
            f"{table.path}:1: {problem}; expected data sets in rows and systems in columns, or a long table"
        )
    if not systems:
        raise InputError(f"{table.path}: only one column, {dataset}; expected data sets and scores of systems")
    refuse_run_columns(table, systems)
    datasets = table.names(dataset, "data set")
    rows = pl.DataFrame({"dataset": datasets, "metric": table.texts_or(metric, "")}).with_row_index("row")
    _refuse_duplicates(table, rows, ["metric", "dataset"], "row of {1}")
    return stack_systems(rows, {name: table.numbers(name, what="score") for name in systems})


def refuse_run_columns(table: Table, systems: Sequence[str]) -> None:
    """Raise if what should be systems in a wide table are seeds or sizes."""
    for name in systems:
        if name.lower() in RUN_COLUMNS:
            problem = f"column {name} among those of systems"
            raise InputError(
                f"{table.path}: {problem}; expected scores alone, or a long table with a column of systems"
            )


def stack_systems(rows: pl.DataFrame, scores: Mapping[str, pl.Series]) -> pl.DataFrame:
    """Turn a wide table into a long one: its rows once for each system, with the columns system and score."""
    return pl.concat(rows.with_columns(values.alias("score"), system=pl.lit(name)) for name, values in scores.items())


def _refuse_duplicates(table: Table, cells: pl.DataFrame, key: Sequence[str], description: str) -> None:
    """Raise if two cells, which are in the order of their rows, have the same key."""
    repeated = cells.filter(cells.select(key).is_duplicated())
    seen: dict[tuple[str, ...], int] = {}
    for row, *values in repeated.select("row", *key).iter_rows():
        first = seen.setdefault(tuple(values), row)
        if first != row:
            which = f"{description.format(*values)} (the first is in {table.line(first)})"
            raise InputError(f"{table.location(row)}: a second {which}; expected one")


def _score_table(table: Table, cells: pl.DataFrame, metric: str, options: TableOptions, *, label: str) -> ScoreTable:
    cells = cells.filter(metric=metric)
    filled = cells.drop_nulls("score")
    _refuse_duplicates(table, filled, ["system", "dataset"], "score of {0} on {1}")
    systems, datasets = (cells[name].unique(maintain_order=True) for name in ("system", "dataset"))
    scores_SD = np.full((len(systems), len(datasets)), np.nan)
    scores_SD[codes_of(filled["system"], systems), codes_of(filled["dataset"], datasets)] = filled["score"].to_numpy()
    missing = options.get("missing", "refuse")
    return complete(f"{table.path}: ", label, systems.to_list(), datasets.to_list(), scores_SD, missing)


def read_attributes(path: Path, datasets: Sequence[str]) -> Attributes:
    """Read attributes of data sets: a column of numbers as an array, any other as text.

    The column of data sets is the one with such a name, or else the first. Values are in the order of `datasets`; an
    empty cell is NaN among numbers and "" among text. Rows of other data sets are ignored.
    """
    table = read_table(path)
    column = table.find("", DATASETS, what="data sets") or table.frame.columns[0]
    names = table.names(column, "data set")
    _refuse_duplicates(table, pl.DataFrame({"name": names}).with_row_index("row"), ["name"], "row of {0}")
    positions = {name: row for row, name in enumerate(names.to_list())}
    missing = [name for name in datasets if name not in positions]
    if missing:
        more = f", the first of {len(missing)} such data sets" if len(missing) > 1 else ""
        raise InputError(f"{table.path}: no row of {missing[0]}{more}; expected one for every data set")
    rows = table.frame[[positions[name] for name in datasets]]
    return {name: _attribute(rows[name]) for name in rows.columns if name != column}


def _attribute(series: pl.Series) -> tuple[str, ...] | Numbers:
    numbers = series.cast(pl.Float64, strict=False)
    if numbers.null_count() == series.null_count() < len(series):
        return numbers.fill_null(np.nan).to_numpy()
    return tuple(series.cast(pl.String).fill_null("").to_list())


def read_subsets(path: Path) -> dict[str, tuple[str, ...]]:
    """Read named subsets of data sets from a table with one row per subset and data set."""
    table, columns = read_table(path), {}
    for kind, names, label in (("subset", SUBSETS, "subset"), ("dataset", DATASETS, "data set")):
        column = table.find("", names, what=f"{label}s")
        if not column:
            listed = ", ".join(table.frame.columns)
            raise InputError(f"{table.path}: no column of {kind}s among {listed}; expected one called {kind}")
        columns[kind] = table.names(column, label)
    rows = pl.DataFrame(columns).with_row_index("row")
    _refuse_duplicates(table, rows, ["subset", "dataset"], "row of {1} in {0}")
    subsets = rows.group_by("subset", maintain_order=True).agg("dataset")
    return {name: tuple(members) for name, members in subsets.iter_rows()}
