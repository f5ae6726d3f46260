"""Write the cells of several stores into a new one: rows under new ids, and files of predictions."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any

from deadheat.corpus.writing import replace_file
from deadheat.errors import InputError
from deadheat.study.plan.cells import PredictionFile
from deadheat.study.store.database import ROW_TABLES, CorruptStore, readable_errors, write_checksum
from deadheat.study.store.merge_plan import MergedCell, MergeSource, ScoreName
from deadheat.study.store.provenance import with_added_scores
from deadheat.study.store.recording import (
    TEXT_COLUMNS,
    OutcomeWriter,
    fingerprint,
    prediction_file,
    provenance_record,
    read_prediction,
    unpack,
)

NAMED = ("corpus", "corpus_hash", "split", "system")  # columns of runs that are ids of names
RUN = (
    *("key", *NAMED, "split_seed", "number", "seed", "status", "started", "wall_s", "cpu_s", "error", "provenance"),
    *("peak_mb", "setup"),
)
UNCHECKED = b""  # the checksum of a row of a version without checksums; one computed now would vouch for it


class StoreWriter:
    """Copies the rows of sources to a new store, in the caller's transaction, and links or copies predictions."""

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._connection, self._folder = connection, folder
        self._texts = OutcomeWriter(connection)
        self._columns: dict[bytes, int] = {}  # ids by fingerprint
        self.last_studies: list[str] = []  # the text of the last study file of each source

    def write(self, sources: Sequence[MergeSource], cells: Iterable[MergedCell]) -> None:
        """Write all cells and study files."""
        for cell in cells:
            run = self._copy_run(cell)
            self._copy_scores(run, cell.source, cell.key)
            for source, names in cell.added:
                self._copy_scores(run, source, cell.key, names)
            for part, files in cell.files.items():
                self._copy_prediction(run, cell.key, part, files)
            self._write_checksum("run", run, _digest(cell.source, "run", cell.source.runs[cell.key][0]))
        self._keep_unchecked(sources)
        self._copy_studies(sources)

    def _copy_run(self, cell: MergedCell) -> int:
        """The row of a run and its log; its provenance says which scores are from other stores."""
        source, old = cell.source, cell.source.runs[cell.key][0]
        (values,) = source.rows(f"SELECT {', '.join(RUN)} FROM runs WHERE id = ?", old)
        row: dict[str, Any] = dict(zip(RUN, values, strict=True))
        text = _provenance(source, cell.key)
        with readable_errors(source.path):
            for other, names in cell.added:
                made_with = provenance_record(_provenance(other, cell.key))
                text = json.dumps(with_added_scores(provenance_record(text), names, made_with), sort_keys=True)
            if unknown := {row[name] for name in NAMED} - source.names.keys():
                raise CorruptStore(f"run {cell.key} refers to a name {unknown.pop()} that is missing")
        logs = source.rows("SELECT size, data FROM logs WHERE run = ?", old)
        row |= {name: self._texts.text_id("name", source.names[row[name]]) for name in NAMED}
        row["provenance"] = self._texts.text_id("provenance", text)
        sql = f"INSERT INTO runs ({', '.join(RUN)}) VALUES ({', '.join('?' * len(RUN))})"
        run = int(self._connection.execute(sql, tuple(row.values())).lastrowid or 0)
        self._connection.executemany("INSERT INTO logs VALUES (?, ?, ?)", [(run, *log) for log in logs])
        return run

    def _copy_scores(self, run: int, source: MergeSource, key: str, only: Sequence[ScoreName] | None = None) -> None:
        for (part, metric), score in source.scores(key).items():
            if only is not None and (part, metric) not in only:
                continue
            ids = [self._texts.text_id("name", name) for name in (part, metric)]
            columns = [self._column_id(source, identity) for identity in score.columns]
            sizes = (score.sentences, score.words, score.units, len(columns))
            row = (run, *ids, score.value, *sizes, " ".join(map(str, columns)))
            self._connection.execute("INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def _column_id(self, source: MergeSource, identity: bytes) -> int:
        """The id of a column of counts, which is copied if it is new, and checked."""
        if identity not in self._columns:
            stored = source.rows("SELECT kind, units, data FROM columns WHERE fingerprint = ?", identity)
            with readable_errors(source.path):
                try:
                    kind, units, data = stored[0]
                    if fingerprint(kind, unpack(kind, units, data).tobytes()) != identity:
                        raise ValueError("another fingerprint")
                except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
                    raise CorruptStore(f"counts: {error}") from None
            sql = "INSERT INTO columns (fingerprint, kind, units, data) VALUES (?, ?, ?, ?)"
            self._columns[identity] = int(self._connection.execute(sql, (identity, kind, units, data)).lastrowid or 0)
        return self._columns[identity]

    def _copy_prediction(
        self, run: int, key: str, part: str, files: Sequence[tuple[MergeSource, PredictionFile]]
    ) -> None:
        """One of several equal predictions; the first that has not changed since it was written."""
        problems: list[InputError] = []
        for source, file in files:
            try:
                if file.file != prediction_file(key, part):
                    raise InputError(f"{source.path}: prediction {file.file}; expected {prediction_file(key, part)}")
                read_prediction(source.folder, file)
            except InputError as error:
                problems.append(error)
                continue
            except (TypeError, ValueError):  # a name with a NUL, a size that is text
                problems.append(InputError(f"{source.path}: broken (the record of a prediction has the wrong type)"))
                continue
            link_or_copy((source.folder / file.file).resolve(), self._folder / file.file)
            self._connection.execute("INSERT INTO predictions VALUES (?, ?, ?, ?, ?)", (run, part, *astuple(file)))
            return
        again = "expected it unchanged; deadheat run on the study and its store runs its cell again"
        raise InputError(f"{problems[0]}; {again}") from problems[0]

    def _keep_unchecked(self, sources: Sequence[MergeSource]) -> None:
        """Leave names and provenances without a checksum that have one in no source."""
        for kind, column in TEXT_COLUMNS.items():
            table = ROW_TABLES[kind]
            sql = f"SELECT t.{column}, c.digest FROM {table} t JOIN checksums c ON c.kind = '{kind}' AND c.id = t.id"
            rows = [row for source in sources for row in source.rows(sql)]
            checked = {text for text, digest in rows if digest != UNCHECKED}
            number = f"SELECT id FROM {table} WHERE {column} = ?"
            for text in {text for text, _ in rows} - checked:
                statement = f"UPDATE checksums SET digest = ? WHERE kind = ? AND id IN ({number})"
                self._connection.execute(statement, (UNCHECKED, kind, text))

    def _copy_studies(self, sources: Iterable[MergeSource]) -> None:
        """Every study file once, with the last time at which it was run, the last one at the end."""
        latest: dict[str, tuple[float, bytes]] = {}
        for source in sources:
            rows = source.rows("SELECT id, time, text FROM studies ORDER BY id")
            self.last_studies.append(rows[-1][2] if rows else "")
            for number, time, text in rows:
                if text not in latest or latest[text][0] <= time:
                    latest[text] = (time, _digest(source, "study", number))
        for text, (time, digest) in sorted(latest.items(), key=lambda item: item[1][0]):
            sql = "INSERT INTO studies (time, text) VALUES (?, ?)"
            self._write_checksum("study", int(self._connection.execute(sql, (time, text)).lastrowid or 0), digest)

    def _write_checksum(self, kind: str, number: int, before: bytes) -> None:
        """The checksum of a copied row, unless its original had none."""
        if before != UNCHECKED:
            write_checksum(self._connection, kind, number)
        else:
            self._connection.execute("INSERT INTO checksums VALUES (?, ?, ?)", (kind, number, UNCHECKED))


def _digest(source: MergeSource, kind: str, number: int) -> bytes:
    sql = "SELECT digest FROM checksums WHERE kind = ? AND id = ?"
    return bytes(source.rows(sql, kind, number)[0][0])


def _provenance(source: MergeSource, key: str) -> str:
    sql = "SELECT p.text FROM runs r JOIN provenance p ON p.id = r.provenance WHERE r.key = ?"
    for (text,) in source.rows(sql, key):
        return str(text)
    with readable_errors(source.path):
        raise CorruptStore(f"run {key} refers to a provenance that is missing")


def link_or_copy(file: Path, target: Path) -> None:
    """Another name for a file, or a copy of it on another file system."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError):
        os.link(file, target)
        return
    with replace_file(target, sync=True) as scratch:
        shutil.copyfile(file, scratch)
