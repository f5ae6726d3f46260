"""Counts of many runs as one array."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.study.cells import DONE
from deadheat.study.packing import Packed, unpacked
from deadheat.study.schema import Broken
from deadheat.text import pluralize

AT_ONCE = 500  # values of one query; older builds of SQLite take 999


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which counts: of these runs, on this part, by this metric, and which fields if not all."""

    keys: Sequence[str]
    part: str
    metric: str
    fields: Sequence[int] | None = None


def read_counts(connection: sqlite3.Connection, path: Path, wanted: Wanted, dtype: DTypeLike) -> NDArray[Any]:
    """Runs by units by fields, in the order of the keys."""
    rows = _column_numbers(connection, path, wanted)
    if wanted.fields is not None:
        rows = [_chosen(path, wanted, row) for row in rows]
    columns = _columns(connection, {number for row in rows for number in row})
    _check_shapes(path, wanted, rows, columns)
    units, fields = (len(columns[rows[0][0]]), len(rows[0])) if rows else (0, 0)
    used = np.result_type(*(column.dtype for column in columns.values())) if columns else np.dtype("u1")
    if not np.can_cast(used, dtype):
        raise InputError(f"{path}: counts of {wanted.metric} need {used}; expected a type that holds them, not {dtype}")
    counts_RNF = np.empty((len(rows), units, fields), dtype)
    for into_NF, row in zip(counts_RNF, rows, strict=True):
        for field, number in enumerate(row):
            into_NF[:, field] = columns[number]
    return counts_RNF


def _column_numbers(connection: sqlite3.Connection, path: Path, wanted: Wanted) -> list[tuple[int, ...]]:
    """For every run the numbers of its columns."""
    names = dict(connection.execute("SELECT name, id FROM names WHERE name IN (?, ?)", (wanted.part, wanted.metric)))
    asked = (names.get(wanted.part, 0), names.get(wanted.metric, 0))
    found: dict[str, str] = {}
    for some in _blocks(wanted.keys):
        query = f"""SELECT r.key, s.columns FROM runs r JOIN scores s ON s.run = r.id
                    WHERE s.part = ? AND s.metric = ? AND r.key IN ({_marks(some)})"""
        found.update(connection.execute(query, (*asked, *some)).fetchall())
    for key in wanted.keys:
        if not found.get(key):
            _check_name(connection, path, "part", wanted.part)
            _check_name(connection, path, "metric", wanted.metric)
            raise InputError(f"{path}: run {key} {_lack(connection, key, wanted)}")
    try:
        return [tuple(map(int, found[key].split())) for key in wanted.keys]
    except ValueError:
        raise Broken("a score does not say where its counts are") from None


def _chosen(path: Path, wanted: Wanted, row: Sequence[int]) -> tuple[int, ...]:
    fields = wanted.fields or ()
    if not fields or not all(0 <= field < len(row) for field in fields):
        raise InputError(f"{path}: fields {list(fields)} of {wanted.metric}; expected some of 0 to {len(row) - 1}")
    return tuple(row[field] for field in fields)


def _columns(connection: sqlite3.Connection, numbers: set[int]) -> dict[int, NDArray[np.integer]]:
    columns: dict[int, NDArray[np.integer]] = {}
    for some in _blocks(sorted(numbers)):
        query = f"SELECT id, kind, units, data FROM columns WHERE id IN ({_marks(some)})"
        for number, *stored in connection.execute(query, tuple(some)):
            try:
                columns[number] = unpacked(Packed(*stored))
            except (TypeError, ValueError) as error:
                raise Broken(f"column {number} of counts: {error}") from None
    if missing := numbers - set(columns):
        raise Broken(f"column {min(missing)} of counts is gone")
    return columns


def _check_shapes(
    path: Path, wanted: Wanted, rows: Sequence[Sequence[int]], columns: dict[int, NDArray[np.integer]]
) -> None:
    for key, row in zip(wanted.keys, rows, strict=True):
        if len({len(columns[number]) for number in row}) > 1:
            raise Broken(f"columns of run {key} differ in length")
        mine, first = len(columns[row[0]]), len(columns[rows[0][0]])
        if mine != first or len(row) != len(rows[0]):
            told = f"{pluralize(mine, 'unit')} by {pluralize(len(row), 'field')}"
            other = f"{first:,} by {len(rows[0])}"
            told = f"run {key} has {told}, run {wanted.keys[0]} {other}"
            raise InputError(f"{path}: {told}; expected runs on the same sentences")


def _check_name(connection: sqlite3.Connection, path: Path, kind: str, name: str) -> None:
    """Refuse a part or metric that no run has, and say which one was probably meant."""
    query = f"SELECT name FROM names WHERE id IN (SELECT DISTINCT {kind} FROM scores)"
    known = [each for (each,) in connection.execute(query)]
    if name not in known:
        raise NameUnknown(f"{path}: {kind}", name, known)


def _lack(connection: sqlite3.Connection, key: str, wanted: Wanted) -> str:
    status = connection.execute("SELECT status FROM runs WHERE key = ?", (key,)).fetchone()
    if status is None:
        return "is not there; expected the key of a run"
    if status[0] != DONE:
        return f"has no counts ({status[0]}); expected runs that are done"
    return f"has no counts of {wanted.metric} on {wanted.part}; expected runs that were scored by it"


def _blocks(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (values[start : start + AT_ONCE] for start in range(0, len(values), AT_ONCE))


def _marks(values: Iterable[Any]) -> str:
    return ", ".join("?" for _ in values)
