"""What a run leaves behind: its outcome as rows of a store, its predictions as files, and its provenance.

Counts are compressed columns of small integers, and runs share columns: the gold counts are the same for every system
on a test set, so a run adds only its correct ones. Real counts of three systems on English EWT (LAS, 2,000 sentences,
three fields) take, per run,

    as 64-bit rows                      5,278 bytes        as columns of small integers   2,371 bytes
    as rows of small integers           3,218 bytes        ... that runs share            1,267 bytes

at level 1. Level 19 saves 3 % of the columns, and takes twenty times as long.

The predictions of a store are compressed files `STORE.predictions/ab/KEY.PART.zst`, where `ab` are the first two
digits of the key. A file is first written to a folder for unfinished ones, which the next study empties.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from deadheat.corpus.writing import replace_file
from deadheat.errors import InputError, reason
from deadheat.study.plan.cells import DONE, FAILED, KILLED, TIMED_OUT, Outcome, PartScores, PredictionFile
from deadheat.study.store.database import ROW_TABLES, CorruptStore, checksum, write_checksum
from deadheat.study.store.provenance import with_added_scores

COUNTS, TEXT = LEVELS = 1, 3  # of compression
KINDS = ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<i8")  # from small to large; the first that fits is used
STATUSES = (DONE, FAILED, TIMED_OUT, KILLED)
NO_COUNTS = np.empty((0, 0), np.int64)
CELL_NUMBERS, OUTCOME_NUMBERS = ("split_seed", "number", "seed"), ("started", "wall_s", "cpu_s", "peak_mb")
TEXT_COLUMNS = {"name": "name", "provenance": "text"}  # by kind of row
RUN_TABLES = ("logs", "scores", "predictions")  # tables whose rows belong to a run
UNFINISHED = "unfinished"
_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*")


class OutcomeWriter:
    """Writes outcomes in the caller's transaction; caches the ids of names."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.ids: dict[tuple[str, str], int] = {}  # of texts; cleared after a failed transaction

    def add(self, outcome: Outcome) -> bool:
        """Write an outcome unless its cell is done already; a failed one is replaced."""
        cell, key, execute = outcome.cell, outcome.cell.key, self._connection.execute
        _check_outcome(outcome)
        before = execute("SELECT id, status FROM runs WHERE key = ?", (key,)).fetchone()
        if before is not None:
            if before[1] == DONE:
                return False
            delete_run(self._connection, key)
        made_with = json.dumps(dict(outcome.provenance), sort_keys=True, default=str)
        row: dict[str, Any] = {
            name: self.text_id("name", getattr(cell, name)) for name in ("corpus", "corpus_hash", "split", "system")
        }
        row |= {name: getattr(cell, name) for name in (*CELL_NUMBERS, "setup", "key")}
        row |= {name: getattr(outcome, name) for name in ("status", *OUTCOME_NUMBERS)}
        row |= {"error": _unicode(outcome.error), "provenance": self.text_id("provenance", made_with)}
        placeholders = ", ".join(f":{name}" for name in row)
        run = execute(f"INSERT INTO runs ({', '.join(row)}) VALUES ({placeholders})", row).lastrowid
        assert run is not None
        if outcome.log:
            raw = outcome.log.encode("utf-8", "backslashreplace")
            execute("INSERT INTO logs VALUES (?, ?, ?)", (run, len(raw), compress(raw, level=TEXT)))
        for scores in outcome.scores:
            self._add_scores(run, scores)
        files = [(run, part, *astuple(file)) for part, file in outcome.predictions.items()]
        self._connection.executemany("INSERT INTO predictions VALUES (?, ?, ?, ?, ?)", files)
        write_checksum(self._connection, "run", run)
        return True

    def add_scores(self, key: str, all_scores: Sequence[PartScores], made_with: Mapping[str, Any]) -> None:
        """Add scores to a run that is done; all else of it stays, and its provenance says what was added."""
        execute = self._connection.execute
        sql = "SELECT r.id, r.status, p.text FROM runs r JOIN provenance p ON p.id = r.provenance WHERE r.key = ?"
        run, status, text = execute(sql, (key,)).fetchone() or (0, "", "")
        problem = next(_score_problems(all_scores), "")
        if status != DONE or problem:
            raise InputError(f"scores of {key}: {problem or 'no run that is done; expected one'}")
        stored = execute("SELECT digest FROM checksums WHERE kind = 'run' AND id = ?", (run,)).fetchone()
        if stored is None or stored[0] not in (b"", checksum(self._connection, "run", run)):
            raise CorruptStore(f"run {key} has changed")
        for scores in all_scores:
            ids = [(run, self.text_id("name", scores.part), self.text_id("name", metric)) for metric in scores.values]
            # A score without counts is replaced; one with counts would break a constraint of the table.
            sql = "DELETE FROM scores WHERE run = ? AND part = ? AND metric = ? AND fields = 0"
            self._connection.executemany(sql, ids)
            self._add_scores(run, scores)
        added = [(scores.part, metric) for scores in all_scores for metric in scores.values]
        made = json.dumps(with_added_scores(provenance_record(text), added, made_with), sort_keys=True, default=str)
        execute("UPDATE runs SET provenance = ? WHERE id = ?", (self.text_id("provenance", made), run))
        if stored[0]:  # a row of an earlier version has none, and one computed now would vouch for it
            write_checksum(self._connection, "run", run)

    def _add_scores(self, run: int, scores: PartScores) -> None:
        part = self.text_id("name", scores.part)
        for metric, value in scores.values.items():
            counts_NF = scores.counts.get(metric, NO_COUNTS)
            columns = [self._column_id(column_N) for column_N in np.ascontiguousarray(counts_NF.T)]
            sizes = (int(scores.sentences), int(scores.words), len(counts_NF), len(columns))
            row = (run, part, self.text_id("name", metric), float(value), *sizes, " ".join(map(str, columns)))
            self._connection.execute("INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def _column_id(self, column_N: NDArray[np.integer]) -> int:
        """The id of a column of counts, which is written if no run has the same."""
        kind, raw = column_bytes(column_N)
        identity = fingerprint(kind, raw)
        stored = self._connection.execute("SELECT id FROM columns WHERE fingerprint = ?", (identity,)).fetchone()
        if stored is not None:
            return int(stored[0])
        row = (identity, kind, len(column_N), compress(raw))
        sql = "INSERT INTO columns (fingerprint, kind, units, data) VALUES (?, ?, ?, ?)"
        return int(self._connection.execute(sql, row).lastrowid or 0)

    def text_id(self, kind: str, text: str) -> int:
        """The id of a name or a provenance, which is stored once."""
        text = _unicode(text)
        table, column, number = ROW_TABLES[kind], TEXT_COLUMNS[kind], self.ids.get((kind, text))
        if number is None:
            added = self._connection.execute(f"INSERT OR IGNORE INTO {table} ({column}) VALUES (?)", (text,)).rowcount
            row = self._connection.execute(f"SELECT id FROM {table} WHERE {column} = ?", (text,)).fetchone()
            if row is None:
                raise CorruptStore(f"{table} that cannot be found again")
            number = self.ids[kind, text] = int(row[0])
            if added:
                write_checksum(self._connection, kind, number)
        return number


def provenance_record(text: str) -> dict[str, Any]:
    """A provenance as it was stored."""
    try:
        return dict(json.loads(text))
    except (TypeError, ValueError, RecursionError) as error:
        raise CorruptStore(f"a provenance: {error}") from None


def delete_run(connection: sqlite3.Connection, key: str) -> None:
    """Delete a run with all rows that belong to it."""
    connection.execute("DELETE FROM checksums WHERE kind = 'run' AND id IN (SELECT id FROM runs WHERE key = ?)", (key,))
    for table in RUN_TABLES:
        connection.execute(f"DELETE FROM {table} WHERE run IN (SELECT id FROM runs WHERE key = ?)", (key,))
    connection.execute("DELETE FROM runs WHERE key = ?", (key,))


def _check_outcome(outcome: Outcome) -> None:
    """Refuse an outcome that a store could not return unchanged."""
    if problem := next(_problems(outcome, outcome.cell.key), ""):
        raise InputError(f"outcome of {outcome.cell.key}: {problem}")


def _problems(outcome: Outcome, key: str) -> Iterator[str]:
    if outcome.status not in STATUSES:
        yield f"status {outcome.status!r}; expected {', '.join(STATUSES)}"
    if outcome.status != DONE and (outcome.scores or outcome.predictions):
        yield f"{outcome.status}, with scores or predictions; expected them of done cells only"
    for name in CELL_NUMBERS:
        if not -(2**63) <= getattr(outcome.cell, name) < 2**63:
            yield f"{name} {getattr(outcome.cell, name)}; expected less than 2**63"
    for name in OUTCOME_NUMBERS:
        if not np.isfinite(getattr(outcome, name)):
            yield f"{name} is {getattr(outcome, name)}; expected a number"
    for part, file in outcome.predictions.items():
        if file.file != (expected := prediction_file(key, part)):
            yield f"prediction of part {part}: {file.file}; expected {expected}"
    yield from _score_problems(outcome.scores)


def _score_problems(all_scores: Sequence[PartScores]) -> Iterator[str]:
    parts = [scores.part for scores in all_scores]
    if len(set(parts)) < len(parts):
        yield f"parts {', '.join(parts)}; expected each once"
    for scores in all_scores:
        if not set(scores.counts) <= set(scores.values):
            yield f"counts without a value in part {scores.part}; expected a value for every metric"
        for metric, counts in scores.counts.items():
            if counts.ndim != 2 or counts.shape[1] == 0 or not np.issubdtype(counts.dtype, np.integer):
                shape = f"{counts.dtype} of shape {counts.shape}"
                yield f"counts of {metric} are {shape}; expected integers, units by fields"


def _unicode(text: str) -> str:
    """Text that a database accepts: bytes that are not Unicode, as in some file names, are escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def column_bytes(column_N: NDArray[np.integer]) -> tuple[str, bytes]:
    """A column in the smallest integer type that holds it, before compression."""
    low, high = (int(column_N.min()), int(column_N.max())) if len(column_N) else (0, 0)
    for kind in KINDS:
        limits = np.iinfo(kind)
        if limits.min <= low and high <= limits.max:
            return kind, column_N.astype(kind).tobytes()
    raise InputError(f"counts: {high:,} is too large; expected less than 2**63")


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


def predictions_folder(store: str | os.PathLike[str]) -> Path:
    """The folder of the predictions of a store."""
    path = Path(os.path.realpath(store))
    return path.with_name(f"{path.name}.predictions")


def prediction_file(key: str, part: str) -> str:
    """The file of a prediction, relative to the folder; names that could lead out of it are refused."""
    for what, name in (("key", key), ("part", part)):
        if not _NAME.fullmatch(name):
            raise InputError(f"prediction: {what} {name!r}; expected only letters, digits, _ and -")
    return f"{key[:2]}/{key}.{part}.zst"


def write_prediction(folder: str | os.PathLike[str], key: str, part: str, data: bytes) -> PredictionFile:
    """Write a prediction, in whole or not at all, and return its record for the store; worker processes call this.

    Raises
    ------
    InputError
        If it cannot be written; then there is no file, or the one from before.
    """
    file = record_prediction(key, part, data)
    write_compressed(folder, file, compress(data, level=TEXT))
    return file


def record_prediction(key: str, part: str, data: bytes) -> PredictionFile:
    """What a store says of the file of a prediction."""
    return PredictionFile(prediction_file(key, part), hashlib.sha256(data).hexdigest(), len(data))


def write_compressed(folder: str | os.PathLike[str], file: PredictionFile, compressed: bytes) -> None:
    """Write a prediction that is compressed already; see `write_prediction`."""
    target = Path(folder) / file.file
    scratch = Path(folder) / UNFINISHED / f"{target.stem}.{os.getpid()}"
    try:
        for parent in (target.parent, scratch.parent):
            parent.mkdir(parents=True, exist_ok=True)
        with replace_file(target, scratch, sync=True):
            scratch.write_bytes(compressed)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({reason(error)})") from error


def read_prediction(folder: Path, prediction: PredictionFile) -> bytes:
    """A prediction as it was written; one that is missing or has changed is refused."""
    target = folder / prediction.file
    try:
        if not Path(os.path.realpath(target)).is_relative_to(os.path.realpath(folder)):  # also of links in a circle
            raise InputError(f"{target}: outside the store's folder; expected a file in it")
        if not target.is_file():  # reading a pipe would block
            raise FileNotFoundError(errno.ENOENT, "no such file")
        raw = target.read_bytes()
    except OSError as error:
        raise InputError(f"{target}: cannot be read ({reason(error)})") from error
    try:
        data = decompress(raw, prediction.bytes)
    except ValueError as error:
        raise InputError(f"{target}: changed since it was written ({error})") from None
    if hashlib.sha256(data).hexdigest() != prediction.sha256:
        expected = f"expected content with the hash {prediction.sha256[:12]}"
        raise InputError(f"{target}: changed since it was written; {expected}")
    return data


def clear_unfinished(folder: Path) -> None:
    """Delete the files that killed processes left unfinished."""
    with contextlib.suppress(OSError):
        for file in (folder / UNFINISHED).iterdir():
            file.unlink(missing_ok=True)
