"""Counts as compressed columns of small integers, and counts of many runs as one array.

Only numbers can come out: data are checked against their length and type before they are decompressed. Runs share
columns: the gold counts are the same for every system on a test set, so a run adds only its correct ones. Real counts
of three systems on English EWT (LAS, 2,000 sentences, three fields) take, per run,

    as 64-bit rows                      5,278 bytes        as columns of small integers   2,371 bytes
    as rows of small integers           3,218 bytes        ... that runs share            1,267 bytes

at level 1. Level 19 saves 3 % of the columns, and takes twenty times as long.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import DTypeLike, NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.study.plan.cells import DONE
from deadheat.study.store.database import CorruptStore
from deadheat.text import pluralize

COUNTS, TEXT = LEVELS = 1, 3  # of compression
KINDS = ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<i8")  # from small to large; the first that fits is used
QUERY_VALUES = 500  # in one query; older builds of SQLite take 999


def kind_of(column_N: NDArray[np.integer]) -> str:
    """The smallest integer type that holds a column."""
    low, high = (int(column_N.min()), int(column_N.max())) if len(column_N) else (0, 0)
    for kind in KINDS:
        limits = np.iinfo(kind)
        if limits.min <= low and high <= limits.max:
            return kind
    raise InputError(f"counts: {high:,} is too large; expected less than 2**63")


def column_bytes(column_N: NDArray[np.integer]) -> tuple[str, bytes]:
    """A column in its smallest integer type, before compression."""
    kind = kind_of(column_N)
    return kind, column_N.astype(kind).tobytes()


def fingerprint(kind: str, raw: bytes) -> bytes:
    """The identity of a column; equal columns are stored once."""
    return hashlib.sha256(kind.encode() + raw).digest()[:16]


def compress(raw: bytes, *, level: int = COUNTS) -> bytes:
    """One zstd frame with its length and a checksum."""
    return _ZSTD.compressors[level].compress(raw)


def unpack(kind: str, units: int, data: bytes) -> NDArray[np.integer]:
    """The integers of a stored column, read-only; raises ValueError if type or length are wrong."""
    if kind not in KINDS:
        raise ValueError(f"integers of kind {kind!r}; expected one of {', '.join(KINDS)}")
    dtype = np.dtype(kind)
    return np.frombuffer(decompress(data, units * dtype.itemsize), dtype)


def decompress(data: bytes, size: int) -> bytes:
    """The bytes of one frame of known size, checked before memory is allocated; raises ValueError if it is broken."""
    try:
        actual = zstandard.frame_content_size(data)
        if actual != size:
            raise ValueError(f"{actual:,} bytes; expected {size:,}")
        return _ZSTD.decompressor.decompress(data, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise ValueError(str(error).lower()) from None


class _Zstd(threading.local):
    """One set per thread: making one takes longer than using it, and threads must not share it."""

    def __init__(self) -> None:
        self.decompressor = zstandard.ZstdDecompressor()
        self.compressors = {level: zstandard.ZstdCompressor(level=level, write_checksum=True) for level in LEVELS}


_ZSTD = _Zstd()


@dataclass(frozen=True, slots=True)
class CountsQuery:
    """Which counts: of these runs, on this part, by this metric, and which fields if not all."""

    keys: Sequence[str]
    part: str
    metric: str
    fields: Sequence[int] | None = None


def read_counts(connection: sqlite3.Connection, path: Path, query: CountsQuery, dtype: DTypeLike) -> NDArray[Any]:
    """An array of runs by units by fields, in the order of the keys."""
    rows = _column_ids(connection, path, query)
    if query.fields is not None:
        rows = [_select_fields(path, query, row) for row in rows]
    columns = _read_columns(connection, {number for row in rows for number in row})
    _check_shapes(path, query, rows, columns)
    units, fields = (len(columns[rows[0][0]]), len(rows[0])) if rows else (0, 0)
    needed = np.result_type(*(column.dtype for column in columns.values())) if columns else np.dtype("u1")
    if not np.can_cast(needed, dtype):
        raise InputError(f"{path}: counts of {query.metric} need {needed}; expected a type that fits, not {dtype}")
    counts_RNF = np.empty((len(rows), units, fields), dtype)
    for counts_NF, row in zip(counts_RNF, rows, strict=True):
        for field, number in enumerate(row):
            counts_NF[:, field] = columns[number]
    return counts_RNF


def _column_ids(connection: sqlite3.Connection, path: Path, query: CountsQuery) -> list[tuple[int, ...]]:
    """The ids of the columns of every run."""
    names = dict(connection.execute("SELECT name, id FROM names WHERE name IN (?, ?)", (query.part, query.metric)))
    part, metric = names.get(query.part, 0), names.get(query.metric, 0)
    columns: dict[str, str] = {}
    for keys in _blocks(query.keys):
        sql = f"""SELECT r.key, s.columns FROM runs r JOIN scores s ON s.run = r.id
                  WHERE s.part = ? AND s.metric = ? AND r.key IN ({_placeholders(keys)})"""
        columns.update(connection.execute(sql, (part, metric, *keys)).fetchall())
    for key in query.keys:
        if not columns.get(key):
            _check_name(connection, path, "part", query.part)
            _check_name(connection, path, "metric", query.metric)
            raise InputError(f"{path}: run {key} {_why_no_counts(connection, key, query)}")
    try:
        return [tuple(map(int, columns[key].split())) for key in query.keys]
    except ValueError:
        raise CorruptStore("a score without references to its counts") from None


def _select_fields(path: Path, query: CountsQuery, row: Sequence[int]) -> tuple[int, ...]:
    fields = query.fields or ()
    if not fields or not all(0 <= field < len(row) for field in fields):
        raise InputError(f"{path}: fields {list(fields)} of {query.metric}; expected some of 0 to {len(row) - 1}")
    return tuple(row[field] for field in fields)


def _read_columns(connection: sqlite3.Connection, ids: set[int]) -> dict[int, NDArray[np.integer]]:
    columns: dict[int, NDArray[np.integer]] = {}
    for block in _blocks(sorted(ids)):
        sql = f"SELECT id, kind, units, data FROM columns WHERE id IN ({_placeholders(block)})"
        for number, *stored in connection.execute(sql, tuple(block)):
            try:
                columns[number] = unpack(*stored)
            except (TypeError, ValueError) as error:
                raise CorruptStore(f"column {number} of counts: {error}") from None
    if missing := ids - set(columns):
        raise CorruptStore(f"column {min(missing)} of counts is missing")
    return columns


def _check_shapes(
    path: Path, query: CountsQuery, rows: Sequence[Sequence[int]], columns: dict[int, NDArray[np.integer]]
) -> None:
    for key, row in zip(query.keys, rows, strict=True):
        if len({len(columns[number]) for number in row}) > 1:
            raise CorruptStore(f"columns of run {key} differ in length")
        units, first = len(columns[row[0]]), len(columns[rows[0][0]])
        if units != first or len(row) != len(rows[0]):
            shape = f"run {key} has {pluralize(units, 'unit')} by {pluralize(len(row), 'field')}"
            other = f"run {query.keys[0]} {first:,} by {len(rows[0])}"
            raise InputError(f"{path}: {shape}, {other}; expected runs on the same sentences")


def _check_name(connection: sqlite3.Connection, path: Path, kind: str, name: str) -> None:
    """Refuse a part or metric that no run has, with the nearest one."""
    sql = f"SELECT name FROM names WHERE id IN (SELECT DISTINCT {kind} FROM scores)"
    known = [known for (known,) in connection.execute(sql)]
    if name not in known:
        raise NameUnknown(f"{path}: {kind}", name, known)


def _why_no_counts(connection: sqlite3.Connection, key: str, query: CountsQuery) -> str:
    status = connection.execute("SELECT status FROM runs WHERE key = ?", (key,)).fetchone()
    if status is None:
        return "is unknown; expected the key of a run"
    if status[0] != DONE:
        return f"has no counts ({status[0]}); expected runs that are done"
    return f"has no counts of {query.metric} on {query.part}; expected runs that were scored by it"


def _blocks(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (values[start : start + QUERY_VALUES] for start in range(0, len(values), QUERY_VALUES))


def _placeholders(values: Iterable[Any]) -> str:
    return ", ".join("?" for _ in values)
