"""Counts as bytes: every column by itself in the smallest integers that hold it, compressed.

Nothing but numbers can come out: what is read back is checked against its length and kind before it is decompressed.
Columns are kept apart because runs share them. Gold is the same for every system on a test set, so a run adds only what
it got right. Real counts of three systems on English EWT (LAS, 2,000 sentences, three fields) take a run

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
from deadheat.study.store.database import Broken
from deadheat.text import pluralize

COUNTS, TEXT = LEVELS = 1, 3  # of compression
# From small to large: the first that holds all values is taken.
KINDS = ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<i8")


@dataclass(frozen=True, slots=True)
class Packed:
    """One column of counts: its kind of integers, how many, and their compressed bytes."""

    kind: str
    units: int
    data: bytes


def kind_of(column_N: NDArray[np.integer]) -> str:
    """The smallest kind of integers that holds a column.

    Examples
    --------
    >>> [kind_of(np.array(column, int)) for column in ([0, 255], [0, 256], [-1, 127], [])]
    ['|u1', '<u2', '|i1', '|u1']
    """
    low, high = (int(column_N.min()), int(column_N.max())) if len(column_N) else (0, 0)
    for kind in KINDS:
        limits = np.iinfo(kind)
        if limits.min <= low and high <= limits.max:
            return kind
    raise InputError(f"counts: {high:,} is too large; expected less than 2**63")


def plain(column_N: NDArray[np.integer]) -> tuple[str, bytes]:
    """A column in its smallest kind, before it is compressed."""
    kind = kind_of(column_N)
    return kind, column_N.astype(kind).tobytes()


def fingerprint(kind: str, raw: bytes) -> bytes:
    """What a column is known by; equal columns are stored once."""
    return hashlib.sha256(kind.encode() + raw).digest()[:16]


def packed(column_N: NDArray[np.integer]) -> Packed:
    """A column as it is stored.

    Examples
    --------
    >>> column = np.array([3, 0, 300])
    >>> unpacked(packed(column)).tolist()
    [3, 0, 300]
    """
    kind, raw = plain(column_N)
    return Packed(kind, len(column_N), compressed(raw))


def compressed(raw: bytes, *, level: int = COUNTS) -> bytes:
    """One frame with its length and a checksum."""
    return _TOOLS.shrink[level].compress(raw)


def unpacked(column: Packed) -> NDArray[np.integer]:
    """The integers again, not to be written to.

    Raises
    ------
    ValueError
        If they are not what the column says it is.
    """
    if column.kind not in KINDS:
        raise ValueError(f"integers of kind {column.kind!r}; expected one of {', '.join(KINDS)}")
    kind = np.dtype(column.kind)
    return np.frombuffer(decompressed(column.data, column.units * kind.itemsize), kind)


def decompressed(data: bytes, size: int) -> bytes:
    """The bytes of one frame that must hold so many; its own word for it is checked before memory is asked for.

    Raises
    ------
    ValueError
        If there are more or fewer, or the frame is broken.
    """
    try:
        said = zstandard.frame_content_size(data)
        if said != size:
            raise ValueError(f"{said:,} bytes; expected {size:,}")
        return _TOOLS.expand.decompress(data, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise ValueError(str(error).lower()) from None


class _Tools(threading.local):
    """Made once a thread: making one takes longer than using it, and two threads must not use the same."""

    def __init__(self) -> None:
        self.expand = zstandard.ZstdDecompressor()
        self.shrink = {level: zstandard.ZstdCompressor(level=level, write_checksum=True) for level in LEVELS}


_TOOLS = _Tools()


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
