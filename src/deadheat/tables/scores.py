"""Read tables of scores, long or wide, and tables of attributes and subsets of data sets."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.tables.matrix import ScoreTable, complete
from deadheat.tables.table import DATASETS, METRICS, SCORES, SUBSETS, SYSTEMS, Numbers, Path, Table, read_table

__all__ = ["ScoreTable", "read_attributes", "read_score_table", "read_score_tables", "read_subsets"]

Attributes = dict[str, tuple[str, ...] | Numbers]


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The cells of a long or wide table of scores, one per row."""

    table: Table
    metric: pl.Series
    system: pl.Series
    dataset: pl.Series
    score: pl.Series  # numbers, null where a cell is empty
    row: NDArray[np.int64]


def read_score_table(
    path: Path, *, metric: str = "", system: str = "", dataset: str = "", score: str = "", missing: str = "refuse"
) -> ScoreTable:
    """Read the scores by one metric; it must be named if the table has several.

    Long tables have columns of systems, data sets and scores, and perhaps of metrics; these are recognised by name
    (`system`, `treebank`, `score`, `metric`, ...) or given as arguments. Wide tables have data sets in the first column
    and systems in the others.

    Parameters
    ----------
    path
        CSV, TSV, JSONL or Parquet, plain or compressed by gzip, xz or zstd; `-` is standard input.
    metric
        Name of the metric; case does not matter.
    system, dataset, score
        Columns of a long table.
    missing
        `refuse` tables with missing scores, or `drop` data sets without scores of all systems.
    """
    cells = _read_cells(path, system, dataset, score)
    metrics = cells.metric.unique(maintain_order=True).to_list()
    if not metric and len(metrics) > 1:
        listed = ", ".join(sorted(metrics))
        raise InputError(f"{os.fspath(path)}: several metrics ({listed}); expected one to be named by --metric")
    wanted = metrics[0] if metrics == [""] or not metric else _find_metric(cells, metric, metrics)
    return _score_table(cells, wanted, missing, label=metric if metrics == [""] else wanted)


def read_score_tables(
    path: Path,
    *,
    metrics: Sequence[str] = (),
    system: str = "",
    dataset: str = "",
    score: str = "",
    missing: str = "refuse",
) -> dict[str, ScoreTable]:
    """Read the scores by several metrics, by default all of the table; see `read_score_table`."""
    cells = _read_cells(path, system, dataset, score)
    names = cells.metric.unique(maintain_order=True).to_list()
    wanted = [_find_metric(cells, metric, names) for metric in metrics] or names
    return {metric: _score_table(cells, metric, missing, label=metric) for metric in wanted}


def _find_metric(cells: _Cells, metric: str, metrics: list[str]) -> str:
    for candidate in (metric, *(name for name in metrics if name.lower() == metric.lower())):
        if candidate in metrics:
            return candidate
    raise NameUnknown(f"{cells.table.path}: metric", metric, [name for name in metrics if name])


def _read_cells(path: Path, system: str, dataset: str, score: str) -> _Cells:
    table = read_table(path)
    metric = table.guess(METRICS, what="metrics")
    scores = table.column(score) if score else table.guess(SCORES, what="scores", option="--score")
    if not scores and not system:
        return _wide_cells(table, table.column(dataset) if dataset else "", metric)
    columns = {
        "system": table.column(system) if system else table.guess(SYSTEMS, what="systems", option="--system"),
        "dataset": table.column(dataset) if dataset else table.guess(DATASETS, what="data sets", option="--dataset"),
        "score": scores,
    }
    if all(columns.values()):
        return _long_cells(table, columns, metric)
    if system or score:
        kind = next(kind for kind, column in columns.items() if not column)
        raise InputError(f"{table.path}: no column of {kind}s recognised; expected it to be named by --{kind}")
    return _wide_cells(table, columns["dataset"] if dataset else "", metric)


def _long_cells(table: Table, columns: Mapping[str, str], metric: str) -> _Cells:
    system, dataset = _names(table, columns["system"], "system"), _names(table, columns["dataset"], "data set")
    scores = table.numbers(columns["score"], what="score")
    return _Cells(table, _metrics(table, metric), system, dataset, scores, np.arange(table.frame.height))


def _wide_cells(table: Table, dataset: str, metric: str) -> _Cells:
    columns = table.frame.columns
    dataset = dataset or next(name for name in columns if name != metric)
    systems = [name for name in columns if name not in (dataset, metric)]
    if dataset.lower() in SYSTEMS:
        problem = f"systems in rows (the first column is {dataset!r})"
        raise InputError(
            f"{table.path}:1: {problem}; expected data sets in rows and systems in columns, or a long table"
        )
    if not systems:
        raise InputError(f"{table.path}: only one column, {dataset}; expected data sets and scores of systems")
    datasets, metrics = _names(table, dataset, "data set"), _metrics(table, metric)
    _refuse_duplicates(table, [metrics, datasets], np.arange(table.frame.height), "row of {1}")
    height = table.frame.height
    return _Cells(
        table,
        pl.concat([metrics] * len(systems)),
        pl.Series(np.repeat(np.array(systems, object), height), dtype=pl.String),
        pl.concat([datasets] * len(systems)),
        pl.concat([table.numbers(name, what="score").rename("") for name in systems]),
        np.tile(np.arange(height), len(systems)),
    )


def _names(table: Table, column: str, kind: str) -> pl.Series:
    """Return a column of names, none of them empty."""
    texts = table.texts(column)
    if texts.null_count():
        row = int(texts.is_null().arg_true()[0])
        raise InputError(f"{table.place(row)}: no {kind}; expected a name in column {column}")
    return texts


def _metrics(table: Table, column: str) -> pl.Series:
    return table.texts(column).fill_null("") if column else pl.Series([""]).new_from_index(0, table.frame.height)


def _refuse_duplicates(table: Table, keys: Sequence[pl.Series], rows: NDArray[np.int64], description: str) -> None:
    """Raise if two rows have the same key."""
    frame = pl.DataFrame({str(i): key for i, key in enumerate(keys)})
    if not frame.is_duplicated().any():
        return
    seen: dict[tuple[str, ...], int] = {}
    for row, key in zip(rows.tolist(), frame.iter_rows(), strict=True):
        if key in seen:
            first = table.place(seen[key]).rpartition(":")[2].strip()
            which = f"the first is in {first if first.startswith('row') else f'line {first}'}"
            raise InputError(f"{table.place(row)}: a second {description.format(*key)} ({which}); expected one")
        seen[key] = row


def _score_table(cells: _Cells, metric: str, missing: str, *, label: str) -> ScoreTable:
    chosen = (cells.metric == metric).to_numpy()
    system, dataset, score = (series.filter(chosen) for series in (cells.system, cells.dataset, cells.score))
    filled = score.is_not_null().to_numpy()
    _refuse_duplicates(
        cells.table, [system.filter(filled), dataset.filter(filled)], cells.row[chosen][filled], "score of {0} on {1}"
    )
    systems, datasets = (series.unique(maintain_order=True) for series in (system, dataset))
    places_S, places_D = ({name: i for i, name in enumerate(series.to_list())} for series in (systems, datasets))
    scores_SD = np.full((len(systems), len(datasets)), np.nan)
    rows = system.filter(filled).replace_strict(places_S, return_dtype=pl.Int64).to_numpy()
    columns = dataset.filter(filled).replace_strict(places_D, return_dtype=pl.Int64).to_numpy()
    scores_SD[rows, columns] = score.filter(filled).to_numpy()
    return complete(f"{cells.table.path}: ", label, systems.to_list(), datasets.to_list(), scores_SD, missing)


def read_attributes(path: Path, datasets: Sequence[str], *, key: str = "") -> Attributes:
    """Read attributes of data sets: a column of numbers as an array, any other as text.

    The column of data sets is `key`, or the one with such a name, or else the first. Values are in the order of
    `datasets`; an empty cell is NaN among numbers and "" among text. Rows of other data sets are ignored.
    """
    table = read_table(path)
    column = table.column(key) if key else table.guess(DATASETS, what="data sets", option="--key")
    column = column or table.frame.columns[0]
    names = _names(table, column, "data set")
    _refuse_duplicates(table, [names], np.arange(len(names)), "row of {0}")
    places = {name: row for row, name in enumerate(names.to_list())}
    missing = [name for name in datasets if name not in places]
    if missing:
        more = f", the first of {len(missing)} such data sets" if len(missing) > 1 else ""
        raise InputError(f"{table.path}: no row of {missing[0]}{more}; expected one for every data set")
    rows = table.frame[[places[name] for name in datasets]]
    return {name: _attribute(rows[name]) for name in rows.columns if name != column}


def _attribute(series: pl.Series) -> tuple[str, ...] | Numbers:
    numbers = series.cast(pl.Float64, strict=False)
    if numbers.null_count() == series.null_count() < len(series):
        return numbers.fill_null(np.nan).to_numpy()
    return tuple(series.cast(pl.String).fill_null("").to_list())


def read_subsets(path: Path, *, subset: str = "", dataset: str = "") -> dict[str, tuple[str, ...]]:
    """Read named subsets of data sets from a table with one row per subset and data set."""
    table = read_table(path)
    columns = (
        table.column(subset) if subset else table.guess(SUBSETS, what="subsets", option="--subset"),
        table.column(dataset) if dataset else table.guess(DATASETS, what="data sets", option="--dataset"),
    )
    for kind, column in zip(("subset", "dataset"), columns, strict=True):
        if not column:
            listed = ", ".join(table.frame.columns)
            raise InputError(f"{table.path}: no column of {kind}s among {listed}; expected one called {kind}")
    names = [_names(table, column, kind) for column, kind in zip(columns, ("subset", "data set"), strict=True)]
    _refuse_duplicates(table, names, np.arange(table.frame.height), "row of {1} in {0}")
    subsets: dict[str, list[str]] = {}
    for name, dataset_name in zip(*names, strict=True):
        subsets.setdefault(name, []).append(dataset_name)
    return {name: tuple(members) for name, members in subsets.items()}
