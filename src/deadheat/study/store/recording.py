"""How outcomes become rows of a store."""

from __future__ import annotations

import contextlib
import getpass
import hashlib
import json
import os
import platform
import re
import socket
import sqlite3
import subprocess
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError, reason
from deadheat.study.plan.cells import DONE, FAILED, KILLED, TIMED_OUT, Outcome, PartScores
from deadheat.study.store.counts import TEXT, compressed, decompressed, fingerprint, plain
from deadheat.study.store.database import Broken
from deadheat.version import __version__

STATUSES = (DONE, FAILED, TIMED_OUT, KILLED)
NO_COUNTS = np.empty((0, 0), np.int64)
BELONGINGS = ("logs", "scores", "predictions")  # tables whose rows belong to a run


class Recorder:
    """Writes outcomes in the caller's transaction, and knows which names are there already."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[tuple[str, str], int] = {}

    def forget(self) -> None:
        """What was learned in a transaction that failed does not hold."""
        self._known.clear()

    def add(self, outcome: Outcome) -> bool:
        """Write an outcome unless its cell is done already; one that failed before is replaced."""
        cell, key, execute = outcome.cell, outcome.cell.key, self._connection.execute
        check(outcome, key)
        before = execute("SELECT id, status FROM runs WHERE key = ?", (key,)).fetchone()
        if before is not None:
            if before[1] == DONE:
                return False
            drop(self._connection, "id = ?", (before[0],))
        made_with = json.dumps(dict(outcome.provenance), sort_keys=True, default=str)
        row = {
            "key": key,
            "corpus": self._name(cell.corpus),
            "corpus_hash": self._name(cell.corpus_hash),
            "split": self._name(cell.split),
            "split_seed": cell.split_seed,
            "number": cell.number,
            "system": self._name(cell.system),
            "seed": cell.seed,
            "status": outcome.status,
            "started": outcome.started,
            "wall_s": outcome.wall_s,
            "cpu_s": outcome.cpu_s,
            "peak_mb": outcome.peak_mb,
            "error": _text(outcome.error),
            "provenance": self._number("provenance", "text", made_with),
            "setup": cell.setup,
        }
        places = ", ".join(f":{name}" for name in row)
        run = execute(f"INSERT INTO runs ({', '.join(row)}) VALUES ({places})", row).lastrowid
        assert run is not None
        if outcome.log:
            raw = outcome.log.encode("utf-8", "backslashreplace")
            execute("INSERT INTO logs VALUES (?, ?, ?)", (run, len(raw), compressed(raw, level=TEXT)))
        for scored in outcome.scores:
            self._scores(run, scored)
        rows = [(run, part, kept["file"], kept["sha256"], kept["bytes"]) for part, kept in outcome.predictions.items()]
        self._connection.executemany("INSERT INTO predictions VALUES (?, ?, ?, ?, ?)", rows)
        return True

    def study(self, text: str) -> None:
        """Write down the study file of a run, if it is not the last one again."""
        last = self._connection.execute("SELECT text FROM studies ORDER BY id DESC LIMIT 1").fetchone()
        if last is None or last[0] != text:
            self._connection.execute("INSERT INTO studies (time, text) VALUES (?, ?)", (time.time(), text))

    def result(self, text: str) -> None:
        """Write down what the study found; of several results the last one is kept."""
        self._connection.execute("DELETE FROM results")
        self._connection.execute("INSERT INTO results (time, text) VALUES (?, ?)", (time.time(), text))

    def _scores(self, run: int, scored: PartScores) -> None:
        part = self._name(scored.part)
        for metric, value in scored.values.items():
            counts_NF = scored.counts.get(metric, NO_COUNTS)
            columns = [self._column(column_N) for column_N in np.ascontiguousarray(counts_NF.T)]
            sizes = (int(scored.sentences), int(scored.words), len(counts_NF), len(columns))
            row = (run, part, self._name(metric), float(value), *sizes, " ".join(map(str, columns)))
            self._connection.execute("INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def _column(self, column_N: NDArray[np.integer]) -> int:
        """The number of a column of counts, which is written if no run had the same."""
        kind, raw = plain(column_N)
        known_by = fingerprint(kind, raw)
        found = self._connection.execute("SELECT id FROM columns WHERE fingerprint = ?", (known_by,)).fetchone()
        if found is not None:
            return int(found[0])
        row = (known_by, kind, len(column_N), compressed(raw))
        made = self._connection.execute("INSERT INTO columns (fingerprint, kind, units, data) VALUES (?, ?, ?, ?)", row)
        return int(made.lastrowid or 0)

    def _name(self, name: str) -> int:
        return self._number("names", "name", _text(name))

    def _number(self, table: str, column: str, text: str) -> int:
        """The number of a text that is kept once."""
        known = self._known.get((table, text))
        if known is None:
            self._connection.execute(f"INSERT OR IGNORE INTO {table} ({column}) VALUES (?)", (text,))
            found = self._connection.execute(f"SELECT id FROM {table} WHERE {column} = ?", (text,)).fetchone()
            if found is None:
                raise Broken(f"{table} that cannot be found again")
            known = self._known[table, text] = int(found[0])
        return known


def drop(connection: sqlite3.Connection, where: str, values: tuple[Any, ...]) -> int:
    """Take runs away with all that belongs to them."""
    for table in BELONGINGS:
        connection.execute(f"DELETE FROM {table} WHERE run IN (SELECT id FROM runs WHERE {where})", values)
    return connection.execute(f"DELETE FROM runs WHERE {where}", values).rowcount


def check(outcome: Outcome, key: str) -> None:
    """Refuse an outcome that a store could not give back as it is."""
    cell = outcome.cell
    where = f"outcome of {key}"
    if outcome.status not in STATUSES:
        raise InputError(f"{where}: status {outcome.status!r}; expected {', '.join(STATUSES)}")
    if outcome.status != DONE and (outcome.scores or outcome.predictions):
        raise InputError(f"{where}: {outcome.status}, with scores or predictions; expected them of done cells alone")
    for name in ("split_seed", "number", "seed"):
        if not -(2**63) <= getattr(cell, name) < 2**63:
            raise InputError(f"{where}: {name} {getattr(cell, name)}; expected less than 2**63")
    for name in ("started", "wall_s", "cpu_s", "peak_mb"):
        if not np.isfinite(getattr(outcome, name)):
            raise InputError(f"{where}: {name} is {getattr(outcome, name)}; expected a number")
    _check_scores(where, outcome.scores)
    for part, kept in outcome.predictions.items():
        place = place_of(key, part)
        if not {"file", "sha256", "bytes"} <= set(kept) or kept["file"] != place:
            told = f"prediction of part {part}: {dict(kept)}"
            raise InputError(f"{where}: {told}; expected what write_prediction returned for {place}")


def _check_scores(where: str, scores: Sequence[PartScores]) -> None:
    parts = [scored.part for scored in scores]
    if len(set(parts)) < len(parts):
        raise InputError(f"{where}: parts {', '.join(parts)}; expected each once")
    for scored in scores:
        if not set(scored.counts) <= set(scored.values):
            raise InputError(
                f"{where}: counts without a value in part {scored.part}; expected a value for every metric"
            )
        for metric, counts_NF in scored.counts.items():
            if counts_NF.ndim != 2 or counts_NF.shape[1] == 0 or not np.issubdtype(counts_NF.dtype, np.integer):
                told = f"counts of {metric} are {counts_NF.dtype} of shape {counts_NF.shape}"
                raise InputError(f"{where}: {told}; expected integers, units by fields")


def _text(text: str) -> str:
    """Text that a database takes: what is not Unicode, as in some file names, is written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


UNFINISHED = "unfinished"
_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*")


def predictions_folder(store: str | os.PathLike[str]) -> Path:
    """Where the predictions of a store lie."""
    path = Path(os.path.realpath(store))
    return path.with_name(f"{path.name}.predictions")


def place_of(key: str, part: str) -> str:
    """A prediction's file, relative to the folder of all; names that could lead out of it are refused.

    Examples
    --------
    >>> place_of("ab12", "test")
    'ab/ab12.test.zst'
    """
    for what, name in (("key", key), ("part", part)):
        if not _NAME.fullmatch(name):
            raise InputError(f"prediction: {what} {name!r}; expected letters, digits, _ and - alone")
    return f"{key[:2]}/{key}.{part}.zst"


def write_prediction(folder: str | os.PathLike[str], key: str, part: str, data: bytes) -> dict[str, Any]:
    r"""Write a prediction and return what a store has to know of it; worker processes call this.

    Raises
    ------
    InputError
        If it cannot be written; then there is no file, or the one from before.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.mkdtemp()
    >>> kept = write_prediction(folder, "ab12", "test", b"1\tHi\n")
    >>> kept["file"], kept["bytes"], read_prediction(Path(folder), kept)
    ('ab/ab12.test.zst', 5, b'1\tHi\n')
    """
    file = place_of(key, part)
    target = Path(folder) / file
    scratch = Path(folder) / UNFINISHED / f"{key}.{part}.{os.getpid()}"
    try:
        for each in (target.parent, scratch.parent):
            each.mkdir(parents=True, exist_ok=True)
        try:
            with scratch.open("wb") as out:
                out.write(compressed(data, level=TEXT))
                out.flush()
                os.fsync(out.fileno())
            scratch.replace(target)
            _sync_folder(target.parent)
        finally:
            scratch.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({reason(error)})") from error
    return {"file": file, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def read_prediction(folder: Path, kept: Mapping[str, Any]) -> bytes:
    """A prediction as it was written; one that is gone or not the same is refused."""
    target = folder / str(kept["file"])
    try:
        if not target.resolve().is_relative_to(folder.resolve()):
            raise InputError(f"{target}: outside the store's folder; expected a file in it")
        raw = target.read_bytes()
    except OSError as error:
        raise InputError(f"{target}: cannot be read ({reason(error)})") from error
    try:
        data = decompressed(raw, int(kept["bytes"]))
    except ValueError as error:
        raise InputError(f"{target}: changed since it was written ({error})") from None
    if hashlib.sha256(data).hexdigest() != kept["sha256"]:
        raise InputError(
            f"{target}: changed since it was written; expected what has the hash {str(kept['sha256'])[:12]}"
        )
    return data


def clear_unfinished(folder: Path) -> None:
    """Take away what killed processes left."""
    with contextlib.suppress(OSError):
        for each in (folder / UNFINISHED).iterdir():
            each.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make sure that the name outlives a power cut too."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


PACKAGES = ("numpy", "scipy", "numba")
GIT_LIMIT_S = 3.0


def provenance(folder: str | os.PathLike[str] = ".") -> dict[str, Any]:
    """All that is worth knowing of a run besides what is in its cells; the revision is that of `folder`.

    Examples
    --------
    >>> found = provenance()
    >>> found["deadheat"] == __version__, "host" in found
    (True, True)
    """
    return {
        "deadheat": __version__,
        "python": platform.python_version(),
        **{name: found for name in PACKAGES if (found := _installed(name))},
        "platform": platform.platform(),
        "processors": os.cpu_count() or 0,
        "host": socket.gethostname(),
        "user": _user(),
        **revision(folder),
    }


def revision(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The git revision of a folder, and whether tracked files differ from it; nothing where git tells none."""
    found = _git(folder, "rev-parse", "--verify", "HEAD")
    if not found:
        return {}
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"revision": found, **({} if changes is None else {"changed": bool(changes)})}


def _git(folder: str | os.PathLike[str], *arguments: str) -> str | None:
    """What git prints, or None if there is no git, no repository, or no answer in time."""
    try:
        done = subprocess.run(
            ["git", "-C", os.fspath(folder), *arguments],
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=GIT_LIMIT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a number without a name, as in containers
        return str(os.getuid())
