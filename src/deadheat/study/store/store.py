"""The store of runs: one SQLite file with scores and counts, predictions beside it.

One process writes, any number may read at the same time. Every outcome is one transaction, and a commit waits for the
disk: whatever kills the writer, the store opens again and has every outcome that was added, whole and once. Nothing in
it is ever unpickled or evaluated. SQLite's log (`STORE-wal`) belongs to the file while a study runs, and all who use
the store then have to be on one machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.study.plan.cells import DONE, Outcome
from deadheat.study.store import database
from deadheat.study.store.counts import Packed, Wanted, decompressed, fingerprint, read_counts, unpacked
from deadheat.study.store.database import WriterLock, refusing
from deadheat.study.store.recording import (
    Recorder,
    clear_unfinished,
    drop,
    predictions_folder,
    read_prediction,
    write_prediction,
)
from deadheat.study.store.tables import runs_frame, scores_frame

if TYPE_CHECKING:
    import polars as pl

    from deadheat.results.study import StudyResult

__all__ = ["Store", "open_store", "predictions_folder", "write_prediction"]

AnyPath = str | os.PathLike[str]


class Store:
    """A store that is open; `Store.open` and `Store.read` make one. It closes at the end of a `with` block.

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

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriterLock | None) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._recorder = Recorder(connection)

    @classmethod
    def open(cls, path: AnyPath, *, create: bool = False) -> Store:
        """Open a store to write to it; with `create`, one that is not there is made.

        Raises
        ------
        InputError
            If it is not there or not a store, comes from a newer version, is being written to, or cannot be.
        """
        place = Path(path)
        if not create and not place.exists():
            raise InputError(f"{place}: no such store; {database.EXPECTED}")
        lock = WriterLock(place)
        try:
            if create and not os.path.lexists(place):
                database.create(place)
            store = cls(place, database.open_writing(place), lock)
            clear_unfinished(store.predictions)
            return store
        except BaseException:
            lock.release()
            raise

    @classmethod
    def read(cls, path: AnyPath) -> Store:
        """Open a store to look at it, also while a study is writing to it."""
        place = Path(path)
        return cls(place, database.open_reading(place), None)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file, and of the right to write to it."""
        self._connection.close()
        if self._lock is not None:
            self._lock.release()

    @property
    def predictions(self) -> Path:
        """The folder of the predictions, which `write_prediction` wants to know."""
        return predictions_folder(self.path)

    def add(self, outcome: Outcome) -> bool:
        """Write an outcome; False if its cell was done already, and then nothing changes.

        A cell that failed before is replaced.
        """
        return self.add_many((outcome,)) == 1

    def add_many(self, outcomes: Iterable[Outcome]) -> int:
        """Write several outcomes, all or none; returns how many were new."""
        with self._writing():
            return sum(self._recorder.add(outcome) for outcome in outcomes)

    def replace(self, outcome: Outcome) -> bool:
        """Put an outcome in the place of that of the same cell, at once, also if that was done."""
        with self._writing():
            drop(self._connection, "key = ?", (outcome.cell.key,))
            return self._recorder.add(outcome)

    def forget_failed(self) -> int:
        """Take away every cell that is not done, so that it is run again; returns how many there were."""
        with self._writing():
            return drop(self._connection, "status != ?", (DONE,))

    def set_study(self, text: str) -> None:
        """Keep the text of the study file that is being run; the earlier ones are kept too."""
        with self._writing():
            self._recorder.study(text)

    def study(self) -> str:
        """The text of the last study file, or nothing."""
        history = self.studies()
        return history[-1][1] if history else ""

    def studies(self) -> list[tuple[float, str]]:
        """Every study file that was run: when (seconds since 1970), and its text."""
        return self._rows("SELECT time, text FROM studies ORDER BY id")

    def set_result(self, result: StudyResult) -> None:
        """Keep the result of the study, in place of the one before."""
        with self._writing():
            self._recorder.result(result.to_json())

    def result(self) -> StudyResult | None:
        """The result of the study when it was last run to its end; None if it never was."""
        rows = self._rows("SELECT text FROM results ORDER BY id DESC LIMIT 1")
        if not rows:
            return None
        from deadheat.results.base import from_document
        from deadheat.results.study import StudyResult

        try:
            document = dict(json.loads(rows[0][0]))
        except (TypeError, ValueError):
            raise InputError(f"{self.path}: broken (the result of its study)") from None
        if "schema" not in document:
            again = "expected `deadheat run` to be run again with this version, which trains nothing twice"
            raise InputError(f"{self.path}: its result was written by Deadheat 0.1; {again}")
        result = from_document({"kind": "study", **document}, source=f"{self.path}: the result of its study")
        if not isinstance(result, StudyResult):
            raise InputError(f"{self.path}: broken (the result of its study is of kind {result.kind})")
        return result

    def done(self) -> set[str]:
        """Keys of the cells that need not be run again."""
        return {key for (key,) in self._rows("SELECT key FROM runs WHERE status = ?", DONE)}

    def failed(self) -> dict[str, str]:
        """Keys of the cells that came to nothing, and how: failed, timed out, killed."""
        return dict(self._rows("SELECT key, status FROM runs WHERE status != ? ORDER BY id", DONE))

    def runs(self) -> pl.DataFrame:
        """One row a cell: what it is, how it ended, when it started (UTC), what it took."""
        with self._reading():
            return runs_frame(self._connection)

    def scores(self) -> pl.DataFrame:
        """One row a run, part and metric."""
        with self._reading():
            return scores_frame(self._connection).drop("units", "fields")

    def counted(self) -> pl.DataFrame:
        """Of which runs, parts and metrics there are counts, and how many: key, part, metric, units, fields."""
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
        """Runs by units by fields, in the order of the keys.

        Some of the fields (0 is what is correct) or a smaller `dtype` save memory and time; a type is refused unless it
        surely holds the counts.

        Raises
        ------
        InputError
            If a run has no such counts, or if the runs differ in their units.
        """
        with self._reading():
            return read_counts(self._connection, self.path, Wanted(list(keys), part, metric, fields), dtype)

    def provenance(self, key: str) -> dict[str, Any]:
        """What a run was made with."""
        text = self._of_run(key, "SELECT p.text FROM runs r JOIN provenance p ON p.id = r.provenance WHERE r.key = ?")
        try:
            return dict(json.loads(text[0])) if text else {}
        except (TypeError, ValueError):
            raise InputError(f"{self.path}: broken (provenance of run {key})") from None

    def provenances(self) -> list[dict[str, Any]]:
        """What runs were made with, each way once: one a machine, version and revision."""
        try:
            return [dict(json.loads(text)) for (text,) in self._rows("SELECT text FROM provenance ORDER BY id")]
        except (TypeError, ValueError):
            raise InputError(f"{self.path}: broken (provenance)") from None

    def outcome_log(self, key: str) -> str:
        """What a run printed."""
        row = self._of_run(key, "SELECT l.size, l.data FROM runs r JOIN logs l ON l.run = r.id WHERE r.key = ?")
        try:
            return decompressed(row[1], row[0]).decode("utf-8") if row else ""
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.path}: broken (log of run {key}: {error})") from None

    def prediction(self, key: str, part: str) -> bytes:
        """A prediction as it was written.

        Raises
        ------
        InputError
            If there is none, or if its file is gone or is not what it was.
        """
        query = "SELECT part, file, sha256, bytes FROM runs r JOIN predictions p ON p.run = r.id WHERE r.key = ?"
        kept = {row[0]: dict(zip(("file", "sha256", "bytes"), row[1:], strict=True)) for row in self._rows(query, key)}
        if part not in kept:
            self._of_run(key, "SELECT 1 FROM runs WHERE key = ?")
            raise NameUnknown(f"{self.path}: run {key}: prediction of part", part, list(kept))
        return read_prediction(self.predictions, kept[part])

    def verify(self) -> list[str]:
        """All that is missing or changed, one line each: in the file itself, in counts, in predictions."""
        return faults_of(self._connection, self.path, self.predictions)

    def _of_run(self, key: str, query: str) -> tuple[Any, ...] | None:
        """The row of a run, None if it has none; a run that is not there is refused."""
        rows = self._rows(query, key)
        if not rows and not self._rows("SELECT 1 FROM runs WHERE key = ?", key):
            raise InputError(f"{self.path}: no run {key}; expected the key of one")
        return tuple(rows[0]) if rows else None

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with self._reading():
            return self._connection.execute(query, values).fetchall()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """What cannot be read becomes one line; all that is read belongs to one moment."""
        with database.refusing(self.path):
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
        if not self._lock.mine():
            raise InputError(f"{self.path}: opened by another process; expected that process alone to write to it")
        try:
            with database.refusing(self.path), database.transaction(self._connection):
                yield
        except BaseException:
            self._recorder.forget()
            raise


def open_store(path: AnyPath) -> Store:
    """A store to look at: `runs()` and `scores()` are polars frames, `counts()` is an array.

    Raises
    ------
    InputError
        If it is not there, not a store, broken, or from a newer version.
    """
    return Store.read(path)


def faults_of(connection: sqlite3.Connection, path: Path, folder: Path) -> list[str]:
    """One line for everything that is missing or changed."""
    try:
        with refusing(path):
            found = [f"{path}: broken ({said})" for said in _file(connection)]
            return [*found, *(f"{path}: {said}" for said in _columns(connection)), *_predictions(connection, folder)]
    except InputError as error:  # broken so badly that it cannot be looked through
        return [str(error)]


def _file(connection: sqlite3.Connection) -> Iterator[str]:
    for (said,) in connection.execute("PRAGMA integrity_check"):
        yield from (line for line in str(said).splitlines() if line != "ok" and not line.startswith("***"))


def _columns(connection: sqlite3.Connection) -> Iterator[str]:
    """Columns of counts that are not what they are known by, or are gone."""
    known = set()
    for number, known_by, kind, units, data in connection.execute(
        "SELECT id, fingerprint, kind, units, data FROM columns"
    ):
        known.add(str(number))
        try:
            same = fingerprint(kind, unpacked(Packed(kind, units, data)).tobytes()) == known_by
        except (AttributeError, TypeError, ValueError):
            same = False
        if not same:
            yield f"column {number} of counts is not what it was"
    for key, columns in connection.execute("SELECT r.key, s.columns FROM scores s JOIN runs r ON r.id = s.run"):
        if not known.issuperset(columns.split()):
            yield f"run {key} lacks counts"


def _predictions(connection: sqlite3.Connection, folder: Path) -> Iterator[str]:
    for file, digest, size in connection.execute("SELECT file, sha256, bytes FROM predictions"):
        try:
            read_prediction(folder, {"file": file, "sha256": digest, "bytes": size})
        except InputError as error:
            yield str(error)
