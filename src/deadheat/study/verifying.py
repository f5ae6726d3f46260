"""Whether a store is what it was: the file, every column of counts, every prediction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from deadheat.errors import InputError
from deadheat.study.packing import Packed, fingerprint, unpacked
from deadheat.study.predictions import read_prediction
from deadheat.study.schema import refusing


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
