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
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.registry import base_name
from deadheat.study.plan.cells import DONE, Outcome, PartScores, PredictionFile
from deadheat.study.store import database
from deadheat.study.store.checking import LISTED, PREDICTIONS, StoreCheck, check_store, row_faults
from deadheat.study.store.recording import (
    OutcomeWriter,
    clear_unfinished,
    decompress,
    delete_run,
    predictions_folder,
    read_prediction,
)
from deadheat.study.store.tables import CountsQuery, read_counts, runs_frame, scores_frame
from deadheat.text import join_names, pluralize

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
    >>> cell = Cell("english", "0f" * 32, "random.v1", 0, 1, "perceptron.v2", seed=3)
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
        self._identity = database.identity(path)
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

    def add_scores(self, scores: Mapping[str, Sequence[PartScores]], made_with: Mapping[str, Any]) -> None:
        """Add scores of stored predictions to cells that are done, all or none; the rest of their outcomes stays."""
        with self._writing():
            for key, of_cell in scores.items():
                self._writer.add_scores(key, of_cell, made_with)

    def set_study(self, text: str) -> None:
        """Save the text of the study file, unless it is that of the last one; the earlier ones are kept too."""
        if not (studies := self.studies()) or studies[-1][1] != text:
            self._add_text("study", text)

    def study(self) -> str:
        """The text of the last study file; empty if there is none."""
        return next((text for _, text in reversed(self.studies())), "")

    def studies(self) -> list[tuple[float, str]]:
        """Every study file that was run: the time (seconds since 1970), and its text."""
        return self._rows("SELECT time, text FROM studies ORDER BY id")

    def set_result(self, result: StudyResult) -> None:
        """Save the result of the study, in place of an earlier one."""
        self._add_text("result", result.to_json(), alone=True)

    def _add_text(self, kind: str, text: str, *, alone: bool = False) -> None:
        """Write a row of time and text, in place of the earlier ones if it is to be alone."""
        table, execute = database.ROW_TABLES[kind], self._connection.execute
        with self._writing():
            if alone:
                execute(f"DELETE FROM {table}")
                execute("DELETE FROM checksums WHERE kind = ?", (kind,))
            row = execute(f"INSERT INTO {table} (time, text) VALUES (?, ?)", (time.time(), text)).lastrowid
            database.write_checksum(self._connection, kind, row or 0)

    def result(self) -> StudyResult | None:
        """The result of the last complete run; None if there is none."""
        rows = self._rows("SELECT text FROM results ORDER BY id DESC LIMIT 1")
        if not rows:
            return None
        from deadheat.results.base import from_document
        from deadheat.results.study import StudyResult

        what, again = "the result of its study", "run deadheat run on the study again (finished cells are kept)"
        with self._broken_values(what):
            document = dict(json.loads(rows[0][0]))
        if "schema" not in document:
            raise InputError(f"{self.path}: {what} was written by Deadheat 0.1; {again}")
        if document.get("kind") != "study":
            raise InputError(f"{self.path}: broken ({what} is of kind {str(document.get('kind'))[:40]!r}); {again}")
        with self._broken_values(what):
            result = from_document(document, source=f"{self.path}: {what}")
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

    def labels(self, systems: Iterable[str]) -> dict[str, str]:
        """What systems are called in the study, by their names; other systems keep their names where these collide.

        The labels are those of its result, or else those that its runs recorded.
        """
        recorded = [made_with.get("labels", {}) for made_with in self.provenances()]
        earlier = {name: label for names in recorded if isinstance(names, dict) for name, label in names.items()}
        names, result = dict.fromkeys(systems), None
        with contextlib.suppress(InputError):  # of an earlier version
            result = self.result()
        current = {system.name: system.label for system in (result.systems if result else ()) if system.name in names}
        others = {name: earlier.get(name, base_name(name)) for name in names if name not in current}
        counts = Counter([*current.values(), *others.values()])
        return current | {name: label if counts[label] == 1 else name for name, label in others.items()}

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

    def prediction_files(self) -> dict[str, dict[str, PredictionFile]]:
        """The files of predictions, by key and part."""
        files: dict[str, dict[str, PredictionFile]] = {}
        sql = "SELECT key, part, file, sha256, bytes FROM runs r JOIN predictions p ON p.run = r.id"
        for key, part, *file in self._rows(sql):
            files.setdefault(key, {})[part] = PredictionFile(*file)
        return files

    def prediction_hashes(self) -> dict[str, dict[str, str]]:
        """The hashes of all predictions, by the key of the run and the part."""
        files = self.prediction_files()
        return {key: {part: file.sha256 for part, file in of_run.items()} for key, of_run in files.items()}

    def verify(self) -> list[str]:
        """All that is missing or has changed, one line each: in the file itself, rows, counts, scores, predictions."""
        return [
            fault.message if fault.kind == PREDICTIONS else f"{self.path}: {fault.message}"
            for fault in self.check().faults
        ]

    def check(self) -> StoreCheck:
        """Compare all that is stored with its checksums, and scores with their counts."""
        with self._reading():
            return check_store(self._connection, self.path, self.predictions)

    def check_rows(self, *, replaced: str = "") -> None:
        """Refuse a store with changed rows, but for those of a kind that will be replaced.

        Counts and predictions have checksums that are checked when they are read.
        """
        with self._reading():
            names = [fault.name for fault in row_faults(self._connection)]
        changed = [name for name in names if name.partition(" ")[0] != replaced]
        if changed:
            rows = f"{pluralize(len(changed), 'row')} ({join_names(changed, LISTED)})"
            expected = f"{database.EXPECTED}, unchanged ('deadheat verify' lists all faults)"
            raise InputError(f"{self.path}: {rows} changed since the store was written; {expected}")

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
        except (TypeError, ValueError, RecursionError) as error:
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
        if database.identity(self.path) != self._identity:
            problem = "deleted or replaced while it was open, and what was written to it since is lost"
            raise InputError(f"{self.path}: {problem}; expected it to stay until the end of the study")


def open_store(path: AnyPath) -> Store:
    """Open a store for reading: `runs()` and `scores()` are polars frames, `counts()` is an array.

    Raises
    ------
    InputError
        If it is missing, not a store, broken, or from a newer version.
    """
    return Store.read(path)
