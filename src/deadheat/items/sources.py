"""Whatever scores of items come in, as one item table: files of tables, logs of evaluations, DataFrames."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import polars as pl

from deadheat.compression import without_suffix
from deadheat.errors import InputError
from deadheat.items.columns import NAMES, find_items
from deadheat.items.detection import ITEM_NAMES, plain_name
from deadheat.items.logs.mteb import is_mteb
from deadheat.items.logs.read import is_log, read_logs
from deadheat.items.options import ATTEMPTS, RUNS, ItemColumns, ItemSource
from deadheat.items.table import ItemMetric, ItemTable, item_table, join_sources
from deadheat.tables.frames import is_column, is_frame
from deadheat.tables.table import Table, read_table
from deadheat.text import join_names


def open_items(source: ItemSource, *, partial: bool = False, **columns: Unpack[ItemColumns]) -> ItemTable:
    """An item table as it is, from a DataFrame or rows, or from files and folders.

    Files are tables, logs of evaluation harnesses, or folders of logs, one or several. A dictionary of them names the
    system of each. With `partial`, logs of runs that did not finish are read too.
    """
    if isinstance(source, ItemTable):
        return source
    if isinstance(source, str | os.PathLike):
        return _open_files([os.fspath(source)], {}, columns, partial=partial)
    if isinstance(source, Mapping) and source and all(map(_are_paths, source.values())):
        return _open_files([], _names_by_path(source), columns, partial=partial)
    if isinstance(source, Sequence) and source and all(map(_is_path, source)):
        return _open_files([os.fspath(path) for path in source], {}, columns, partial=partial)
    source = _without_items(source, columns)
    if isinstance(source, Table) or is_frame(source):
        table = read_table(source)
        title = _titles([table.path])[table.path] if isinstance(source, Table) else ""
        return replace(find_items(table, columns, title=title), paths=(table.path,) if title else ())
    raise InputError(f"{type(source).__name__}; expected a DataFrame, rows of a table, or files")


def _without_items(source: Any, columns: ItemColumns) -> Any:
    """Scores without a column of items as a table that has one: items are the keys, or positions, of the scores.

    These are scores by system and item, arrays or lists by system, and an array with a row for every item and a column
    for every system.
    """
    if isinstance(source, np.ndarray) and source.dtype.names is None:
        if source.ndim != 2:
            raise InputError(f"an array of {source.ndim} dimensions; expected a row per item and a column per system")
        source = {f"system {number}": column for number, column in enumerate(source.T, start=1)}
    if not isinstance(source, Mapping) or not source:
        return source
    if all(isinstance(scores, Mapping) for scores in source.values()):
        rows = [(str(name), str(item), score) for name, scores in source.items() for item, score in scores.items()]
        names, items, scores = (list(part) for part in zip(*rows, strict=True)) if rows else ([], [], [])
        return {"system": names, "item": items, "score": scores}
    if columns.get("item") or not all(map(is_column, source.values())):
        return source
    known = {plain_name(str(name)) for name in source} & {*ITEM_NAMES, *NAMES["system"], *NAMES["score"]}
    numbers = {len(values) for values in source.values()}
    if known or len(numbers) != 1 or not all(map(_are_numbers, source.values())):
        return source
    return {"item": [str(number) for number in range(numbers.pop())], **source}


def _are_numbers(values: Any) -> bool:
    return np.asarray(values).dtype.kind in "biuf" and np.ndim(values) == 1


def join_items(tables: Sequence[ItemTable]) -> ItemTable:
    """Several tables as one; they agree on metrics, and on what repeats and clusters are."""
    if len(tables) == 1:
        return tables[0]
    metrics: dict[str, ItemMetric] = {}
    for table in tables:
        for name in table.metric_names:
            metric = table.metric(name)
            if metrics.setdefault(name, metric) != metric:
                raise InputError(f"{table.source}: {name} is another metric than in the other files; expected the same")
    kinds = {table.repeats for table in tables if table.frame["repeat"].n_unique() > 1}
    if len(kinds) > 1:
        raise InputError(f"{tables[0].source}: {RUNS} in one file are {ATTEMPTS} in another; expected one kind")
    clusters = list(dict.fromkeys(table.cluster for table in tables if table.cluster))
    details = {
        "metrics": metrics,
        "repeats": next(iter(kinds), tables[0].repeats),
        "cluster": "" if not clusters else clusters[0] if len(clusters) == 1 else "cluster",
        "fields": tuple(dict.fromkeys(name for table in tables for name in table.fields)),
        "notes": tuple(dict.fromkeys(note for table in tables for note in table.notes)),
    }
    hashes = [table.hashes for table in tables if table.hashes is not None]
    known = pl.concat(hashes).unique(["task", "item"], keep="first") if hashes else None
    frame = pl.concat([table.frame for table in tables], how="diagonal")
    return item_table(join_sources([table.source for table in tables]), frame, hashes=known, **details)


def _are_paths(source: object) -> bool:
    """Whether a system has a file, or several, which are its repeats; a column of texts is none."""
    return _is_path(source) or (isinstance(source, list) and all(map(_is_file, source)))


def _is_file(source: object) -> bool:
    return isinstance(source, str | os.PathLike) and os.path.exists(source)


def _is_path(source: object) -> bool:
    return isinstance(source, str | os.PathLike)


def _names_by_path(source: Mapping[str, Any]) -> dict[str, str]:
    names: dict[str, str] = {}
    for name, paths in source.items():
        for path in paths if isinstance(paths, list) else [paths]:
            other = names.setdefault(os.fspath(path), str(name))
            if other != str(name):
                raise InputError(f"{os.fspath(path)}: the scores of {other} and of {name}; expected one system")
    return names


def _open_files(paths: Sequence[str], names: Mapping[str, str], columns: ItemColumns, *, partial: bool) -> ItemTable:
    """Tables by themselves, and all logs together."""
    every = [*paths, *names]
    logs = [path for path in every if holds_logs(path)]
    files = [path for path in every if path not in logs]
    titles = _titles(files)
    tables = [_named(find_items(read_table(path), columns, title=titles[path]), names.get(path, "")) for path in files]
    named = [f"--{kind.replace('_', '-')}" for kind, column in columns.items() if column]
    if named and not tables:
        raise InputError(f"{logs[0]}: {join_names(named)} for a log; expected columns to be named for tables only")
    if logs:
        systems: dict[str, str] = {path: name for path, name in names.items() if path in logs}
        tables.append(read_logs([path for path in paths if path in logs], systems=systems, partial=partial))
    return replace(join_items(tables), paths=tuple(every))


def holds_logs(path: str) -> bool:
    """Whether a path is read as logs: a folder, or a file that a harness wrote."""
    return os.path.isdir(path) or (os.path.exists(path) and (is_log(path) or is_mteb(path)))


def _titles(paths: Sequence[str]) -> dict[str, str]:
    """What systems are called whose tables do not name them: as the files, without folders where these differ."""
    stems = {path: os.path.basename(without_suffix(path)).rpartition(".")[0] or path for path in paths}
    return stems if len(set(stems.values())) == len(stems) else {path: path for path in paths}


def _named(table: ItemTable, name: str) -> ItemTable:
    """The table of one system under the name that is given for its file."""
    if not name:
        return table
    if len(table.systems) > 1:
        listed = join_names(table.systems, 5)
        raise InputError(f"{table.source}: scores of {listed}; expected one system, or no name for it ({name})")
    return replace(table, frame=table.frame.with_columns(pl.lit(name).alias("system")))
