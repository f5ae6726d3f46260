"""The store of a study: one SQLite file with scores and counts, and predictions in files beside it.

One process writes, any number may read at the same time. Every outcome is one transaction, and a commit waits for the
disk: whatever kills the writer, the store opens again and has every outcome that was added, in whole and once. Nothing
in it is ever unpickled or evaluated. While a study runs, SQLite's log (`STORE-wal`) is part of the store, and all
processes that use it have to be on one machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.study.plan.cells import DONE, Outcome, PredictionFile
from deadheat.study.store import database
from deadheat.study.store.recording import (
    OutcomeWriter,
    clear_unfinished,
    decompress,
    delete_run,
    fingerprint,
    predictions_folder,
    read_prediction,
    unpack,
)
from deadheat.study.store.tables import CountsQuery, read_counts, runs_frame, scores_frame

if TYPE_CHECKING:
    import polars as pl

    from deadheat.results.study import StudyResult

AnyPath = str | os.PathLike[str]


class Store:
    """An open store; `Store.open` and `Store.read` make one. It closes at the end of a `with` block.

    Examples
    --------
    >>> import tempfile
    >>> from deadheat.study.plan.cells import Cell, PartScores
    >>> counts = np.array([[7, 8, 8], [3, 3, 3]])
    >>> cell = Cell("english", "0f" * 32, "random.v1", 0, 1, "perceptron.v1", seed=3)
    >>> scores = PartScores("test", 2, 11, {"upos.v1": 10 / 11}, {"upos.v1": counts})
    >>> with Store.open(tempfile.mkdtemp() + "/study.db", create=True) as store:
    ...     store.add(Outcome(cell, "done", scores=(scores,)))
    ...     print(store.done() == {cell.key}, store.counts([cell.key], part="test", metric="upos.v1").tolist())
    True
    True [[[7, 8, 8], [3, 3, 3]]]
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: database.WriterLock | None) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._writer = OutcomeWriter(connection)

    @classmethod
    def open(cls, path: AnyPath, *, create: bool = False) -> Store:
        """Open a store for writing; with `create`, a missing one is made.

        Raises
        ------
        InputError
            If it is missing or not a store, comes from a newer version, or is being written to.
        """
        target = Path(path)
        if not create and not target.exists():
            raise InputError(f"{target}: no such store; {database.EXPECTED}")
        lock = database.WriterLock(target)
        try:
            if create and not os.path.lexists(target):
                database.create(target)
            store = cls(target, database.open_writing(target), lock)
            clear_unfinished(store.predictions)
            return store
        except BaseException:
            lock.release()
            raise

    @classmethod
    def read(cls, path: AnyPath, *, any_thread: bool = False) -> Store:
        """Open a store for reading, even while a study is writing to it."""
        return cls(Path(path), database.open_reading(Path(path), any_thread=any_thread), None)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and release the lock for writing."""
        self._connection.close()
        if self._lock is not None:
            self._lock.release()

    @property
    def predictions(self) -> Path:
        """The folder of the predictions, for `write_prediction`."""
        return predictions_folder(self.path)

    def add(self, outcome: Outcome) -> bool:
        """Write an outcome, in place of one that failed; False, and no change, if its cell is done already."""
        return self.add_many((outcome,)) == 1

    def add_many(self, outcomes: Iterable[Outcome]) -> int:
        """Write several outcomes, all or none; returns how many were new."""
        with self._writing():
            return sum(self._writer.add(outcome) for outcome in outcomes)

    def replace(self, outcome: Outcome) -> bool:
        """Write an outcome in place of that of the same cell, even if that was done."""
        with self._writing():
            delete_run(self._connection, outcome.cell.key)
            return self._writer.add(outcome)

    def set_study(self, text: str) -> None:
        """Save the text of the study file, unless it is that of the last one; the earlier ones are kept too."""
        if not (studies := self.studies()) or studies[-1][1] != text:
            with self._writing():
                self._connection.execute("INSERT INTO studies (time, text) VALUES (?, ?)", (time.time(), text))

    def study(self) -> str:
        """The text of the last study file; empty if there is none."""
        return next((text for _, text in reversed(self.studies())), "")

    def studies(self) -> list[tuple[float, str]]:
        """Every study file that was run: the time (seconds since 1970), and its text."""
        return self._rows("SELECT time, text FROM studies ORDER BY id")

    def set_result(self, result: StudyResult) -> None:
        """Save the result of the study, in place of an earlier one."""
        with self._writing():
            self._connection.execute("DELETE FROM results")
            row = (time.time(), result.to_json())
            self._connection.execute("INSERT INTO results (time, text) VALUES (?, ?)", row)

    def result(self) -> StudyResult | None:
        """The result of the last complete run; None if there is none."""
        rows = self._rows("SELECT text FROM results ORDER BY id DESC LIMIT 1")
        if not rows:
            return None
        from deadheat.results.base import from_document
        from deadheat.results.study import StudyResult

        with self._broken_values("the result of its study"):
            document = dict(json.loads(rows[0][0]))
        if "schema" not in document:
            problem = "the result of its study was written by Deadheat 0.1"
            raise InputError(f"{self.path}: {problem}; run deadheat run on the study again (finished cells are kept)")
        result = from_document(document, source=f"{self.path}: the result of its study")
        assert isinstance(result, StudyResult)
        return result

    def done(self) -> set[str]:
        """Keys of the cells that are done."""
        return {key for (key,) in self._rows("SELECT key FROM runs WHERE status = ?", DONE)}

    def failed(self) -> dict[str, str]:
        """Keys of the cells that failed, with their status: failed, timed out, killed."""
        return dict(self._rows("SELECT key, status FROM runs WHERE status != ? ORDER BY id", DONE))

    def runs(self) -> pl.DataFrame:
        """One row per cell: its identity, status, start (UTC), and resources."""
        with self._reading():
            return runs_frame(self._connection)

    def scores(self) -> pl.DataFrame:
        """One row per run, part and metric."""
        with self._reading():
            return scores_frame(self._connection).drop("units", "fields")

    def count_shapes(self) -> pl.DataFrame:
        """The counts that are stored: key, part, metric, units, fields."""
        with self._reading():
            frame = scores_frame(self._connection)
        return frame.filter(frame["fields"] > 0).select("key", "part", "metric", "units", "fields")

    def counts(
        self,
        keys: Sequence[str],
        *,
        part: str,
        metric: str,
        fields: Sequence[int] | None = None,
        dtype: DTypeLike = np.int64,
    ) -> NDArray[Any]:
        """An array of runs by units by fields, in the order of the keys.

        Fewer fields (0 is the correct ones) or a smaller `dtype` save memory and time; a type that may not hold the
        counts is refused.

        Raises
        ------
        InputError
            If a run has no such counts, or if the runs differ in their units.
        """
        with self._reading():
            return read_counts(self._connection, self.path, CountsQuery(list(keys), part, metric, fields), dtype)

    def provenance(self, key: str) -> dict[str, Any]:
        """The versions, machine and revision of a run."""
        row = self._run_row(key, "SELECT p.text FROM runs r JOIN provenance p ON p.id = r.provenance WHERE r.key = ?")
        with self._broken_values(f"provenance of run {key}"):
            return dict(json.loads(row[0])) if row else {}

    def provenances(self) -> list[dict[str, Any]]:
        """The distinct provenances of all runs."""
        rows = self._rows("SELECT text FROM provenance ORDER BY id")
        with self._broken_values("provenance"):
            return [dict(json.loads(text)) for (text,) in rows]

    def outcome_log(self, key: str) -> str:
        """The output of a run."""
        row = self._run_row(key, "SELECT l.size, l.data FROM runs r JOIN logs l ON l.run = r.id WHERE r.key = ?")
        with self._broken_values(f"log of run {key}"):
            return decompress(row[1], row[0]).decode("utf-8") if row else ""

    def prediction(self, key: str, part: str) -> bytes:
        """A prediction as it was written.

        Raises
        ------
        InputError
            If there is none, or if its file is missing or has changed.
        """
        sql = "SELECT part, file, sha256, bytes FROM runs r JOIN predictions p ON p.run = r.id WHERE r.key = ?"
        files = {row[0]: PredictionFile(*row[1:]) for row in self._rows(sql, key)}
        if part not in files:
            self._run_row(key, "SELECT 1 FROM runs WHERE key = ?")
            raise NameUnknown(f"{self.path}: run {key}: prediction of part", part, list(files))
        return read_prediction(self.predictions, files[part])

    def verify(self) -> list[str]:
        """All that is missing or has changed, one line each: in the file itself, in counts, in predictions."""
        try:
            with database.readable_errors(self.path):
                return [
                    *(f"{self.path}: broken ({message})" for message in _integrity_errors(self._connection)),
                    *(f"{self.path}: {message}" for message in _count_errors(self._connection)),
                    *_prediction_errors(self._connection, self.predictions),
                ]
        except InputError as error:  # too broken to be read to the end
            return [str(error)]

    def _run_row(self, key: str, query: str) -> tuple[Any, ...] | None:
        """The row of a run, or None; an unknown run is refused."""
        rows = self._rows(query, key)
        if not rows and not self._rows("SELECT 1 FROM runs WHERE key = ?", key):
            raise InputError(f"{self.path}: no run {key}; expected the key of one")
        return tuple(rows[0]) if rows else None

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with self._reading():
            return self._connection.execute(query, values).fetchall()

    @contextlib.contextmanager
    def _broken_values(self, what: str) -> Iterator[None]:
        """Report values that cannot be decoded."""
        try:
            yield
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.path}: broken ({what}: {error})") from None

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Read from one snapshot, with errors in one line."""
        with database.readable_errors(self.path):
            outermost = not self._connection.in_transaction
            if outermost:
                self._connection.execute("BEGIN")
            try:
                yield
            finally:
                if outermost and self._connection.in_transaction:  # some errors end it
                    self._connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        if self._lock is None:
            raise InputError(f"{self.path}: open for reading; expected Store.open to write to it")
        if not self._lock.is_owner():
            raise InputError(f"{self.path}: opened by another process; expected only that process to write to it")
        try:
            with database.readable_errors(self.path), database.transaction(self._connection):
                yield
        except BaseException:
            self._writer.ids.clear()
            raise


def open_store(path: AnyPath) -> Store:
    """Open a store for reading: `runs()` and `scores()` are polars frames, `counts()` is an array.

    Raises
    ------
    InputError
        If it is missing, not a store, broken, or from a newer version.
    """
    return Store.read(path)


def _integrity_errors(connection: sqlite3.Connection) -> Iterator[str]:
    for (message,) in connection.execute("PRAGMA integrity_check"):
        yield from (line for line in str(message).splitlines() if line != "ok" and not line.startswith("***"))


def _count_errors(connection: sqlite3.Connection) -> Iterator[str]:
    """Columns of counts that have changed or are missing."""
    ids = set()
    sql = "SELECT id, fingerprint, kind, units, data FROM columns"
    for number, expected, kind, units, data in connection.execute(sql):
        ids.add(str(number))
        try:
            same = fingerprint(kind, unpack(kind, units, data).tobytes()) == expected
        except (AttributeError, TypeError, ValueError):
            same = False
        if not same:
            yield f"column {number} of counts has changed"
    for key, columns in connection.execute("SELECT r.key, s.columns FROM scores s JOIN runs r ON r.id = s.run"):
        if not ids.issuperset(columns.split()):
            yield f"run {key} lacks counts"


def _prediction_errors(connection: sqlite3.Connection, folder: Path) -> Iterator[str]:
    for row in connection.execute("SELECT file, sha256, bytes FROM predictions"):
        try:
            read_prediction(folder, PredictionFile(*row))
        except InputError as error:
            yield str(error)
