"""Whether a store is as it was written: its file, rows, counts, scores, and the files of predictions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError
from deadheat.metrics import METRICS
from deadheat.study.plan.cells import PredictionFile
from deadheat.study.store.database import CHECKED, ROW_TABLES, TABLES, CorruptStore, checksum, readable_errors
from deadheat.study.store.recording import fingerprint, read_prediction, unpack
from deadheat.text import join_names, pluralize

BROKEN, ROWS, COUNTS = "damage in the file", "changed rows", "changed counts"
VALUES, PREDICTIONS = "scores that differ from their counts", "changed predictions"
TOLERANCE = 1e-9  # relative; another version of numpy may round differently
LISTED = 3  # faults of a kind


@dataclass(frozen=True, slots=True)
class StoreFault:
    """Something in a store that is not as it was written."""

    kind: str
    name: str  # what it is about
    message: str  # one line, without the path of the store


@dataclass(frozen=True, slots=True)
class StoreCheck:
    """What was found in a store."""

    path: Path
    rows: dict[str, int]  # how many, by table
    faults: tuple[StoreFault, ...]
    notes: tuple[str, ...]  # what could not be checked

    def by_kind(self) -> dict[str, list[str]]:
        """What the faults are about."""
        names: dict[str, list[str]] = {}
        for fault in self.faults:
            names.setdefault(fault.kind, []).append(fault.name)
        return names

    def __str__(self) -> str:
        if not self.faults:
            counts = ", ".join(pluralize(number, table.rstrip("s")) for table, number in self.rows.items())
            return f"{self.path}: unchanged ({counts})"
        groups = self.by_kind().items()
        return "\n".join(f"{self.path}: {kind}: {len(names):,} ({join_names(names, LISTED)})" for kind, names in groups)


def check_store(connection: sqlite3.Connection, path: Path, folder: Path) -> StoreCheck:
    """Check all of a store; `folder` has its predictions."""
    faults: list[StoreFault] = []
    notes: list[str] = []
    rows: dict[str, int] = {}
    steps: tuple[Callable[[], Iterator[StoreFault]], ...] = (
        lambda: _file_faults(connection),
        lambda: row_faults(connection, notes),
        lambda: _count_faults(connection, notes),
        lambda: _prediction_faults(connection, folder),
    )
    for step in steps:
        try:
            with readable_errors(path):
                faults.extend(step())
        except InputError as error:  # too broken to be read to the end
            message = str(error).removeprefix(f"{path}: ")
            faults.append(StoreFault(BROKEN, message, message))
    if not faults:
        for table in ("runs", "scores", "predictions"):
            (rows[table],) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return StoreCheck(path, rows, tuple(dict.fromkeys(faults)), tuple(notes))


def _file_faults(connection: sqlite3.Connection) -> Iterator[StoreFault]:
    for (text,) in connection.execute("PRAGMA integrity_check"):
        for line in str(text).splitlines():
            if line != "ok" and not line.startswith("***"):
                yield StoreFault(BROKEN, line, f"broken ({line})")
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(TABLES)
        for (table,) in empty.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
            layouts = [other.execute(f"PRAGMA table_info({table})").fetchall() for other in (connection, empty)]
            if layouts[0] != layouts[1]:
                yield StoreFault(BROKEN, f"table {table}", f"broken (table {table} has other columns)")


def row_faults(connection: sqlite3.Connection, notes: list[str] | None = None) -> Iterator[StoreFault]:
    """Rows that differ from their checksums, or have been added or deleted since."""
    digests = {(kind, number): digest for kind, number, digest in connection.execute("SELECT * FROM checksums")}
    unchecked = sum(digest == b"" for digest in digests.values())
    if unchecked and notes is not None:
        written = f"{pluralize(unchecked, 'row')} from an earlier version have no checksum"
        notes.append(f"{written}; only their counts, scores and predictions were checked")
    for kind in CHECKED:
        name = "key" if kind == "run" else "id"
        for number, text in connection.execute(f"SELECT id, {name} FROM {ROW_TABLES.get(kind, 'runs')}"):
            digest = digests.pop((kind, number), None)
            if digest != b"" and digest != _checksum(connection, kind, number):
                yield StoreFault(ROWS, f"{kind} {text}", f"{kind} {text} has changed")
    for kind, number in digests:
        yield StoreFault(ROWS, f"{kind} {number}", f"{kind} {number} is missing")


def _checksum(connection: sqlite3.Connection, kind: str, number: int) -> bytes:
    try:
        return checksum(connection, kind, number)
    except sqlite3.OperationalError:  # text that is not Unicode
        return b"unreadable"


def _count_faults(connection: sqlite3.Connection, notes: list[str]) -> Iterator[StoreFault]:
    """Columns of counts that have changed or are missing, and scores that do not follow from them."""
    sums: dict[str, tuple[int, int]] = {}  # units and sum of a column, by id
    broken = set()
    for number, expected, kind, units, data in connection.execute(
        "SELECT id, fingerprint, kind, units, data FROM columns"
    ):
        try:
            column_N = unpack(kind, units, data)
            if fingerprint(kind, column_N.tobytes()) != expected:
                raise ValueError("another fingerprint")
            sums[str(number)] = units, int(column_N.sum(dtype=np.int64))
        except (AttributeError, TypeError, ValueError, OverflowError):
            broken.add(str(number))
            yield StoreFault(COUNTS, f"column {number}", f"column {number} of counts has changed")
    unknown: set[str] = set()
    sql = """SELECT r.key, n.name, p.name, s.value, s.units, s.fields, s.columns
             FROM scores s JOIN runs r ON r.id = s.run
             LEFT JOIN names n ON n.id = s.metric LEFT JOIN names p ON p.id = s.part"""
    for key, metric, part, value, units, fields, columns in connection.execute(sql):
        ids = str(columns).split()
        if missing := set(ids) - sums.keys():
            if missing - broken:
                yield StoreFault(COUNTS, f"run {key}", f"run {key} lacks counts")
        elif len(ids) != fields or any(sums[number][0] != units for number in ids):
            yield StoreFault(COUNTS, f"run {key}", f"counts of run {key} have another shape")
        elif ids and not _follows(metric, value, np.array([sums[number][1] for number in ids]), unknown):
            text = f"{metric} on {part} of run {key}"
            yield StoreFault(VALUES, text, f"{text} is {value}, which differs from its counts")
    if unknown:
        notes.append(f"scores by {join_names(sorted(unknown))} were not compared with their counts: unknown metrics")


def _follows(metric: str | None, value: float | None, sums_F: NDArray[np.int64], unknown: set[str]) -> bool:
    """Whether a score is that of the sums of its counts; true for a metric that is unknown."""
    if metric is None:
        return False
    try:
        expected = float(METRICS.make(metric).value(sums_F))
    except InputError:
        unknown.add(metric)
        return True
    except (ArithmeticError, IndexError, TypeError, ValueError):
        return False
    try:
        return bool(np.isclose(float("nan") if value is None else value, expected, TOLERANCE, 0, equal_nan=True))
    except TypeError:
        return False


def _prediction_faults(connection: sqlite3.Connection, folder: Path) -> Iterator[StoreFault]:
    for row in connection.execute("SELECT file, sha256, bytes FROM predictions"):
        try:
            read_prediction(folder, PredictionFile(*row))
        except InputError as error:
            yield StoreFault(PREDICTIONS, str(row[0]), str(error))
        except (TypeError, ValueError):  # a name with a NUL, a size that is text
            raise CorruptStore("the record of a prediction has the wrong type") from None
