"""The SQLite file of a store: its tables, migrations, errors, and the lock that admits one writer at a time.

The application id identifies a store, and the user version its layout; both are in the first page of the file.
Names that many rows share (corpora, systems, metrics) are stored once, and so are columns of counts.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import socket
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from deadheat.errors import InputError, reason

APPLICATION = 0x44484541
VERSION = 4
MAGIC = b"SQLite format 3\x00"
WAIT_S = 20.0  # for another process to release the file; each holds it for milliseconds
MAX_MESSAGE = 100  # characters of a message of SQLite
EXPECTED = "expected a store that deadheat run wrote"
_LOCKED: set[str] = set()  # by this process, which the system would let lock a file twice

ROW_TABLES = {"name": "names", "provenance": "provenance", "study": "studies", "result": "results"}  # by kind of row

TABLES = """
CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE provenance (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
    corpus INTEGER NOT NULL, corpus_hash INTEGER NOT NULL, split INTEGER NOT NULL, split_seed INTEGER NOT NULL,
    number INTEGER NOT NULL, system INTEGER NOT NULL, seed INTEGER NOT NULL,
    status TEXT NOT NULL, started REAL NOT NULL, wall_s REAL NOT NULL, cpu_s REAL NOT NULL,
    error TEXT NOT NULL, provenance INTEGER NOT NULL, peak_mb REAL NOT NULL DEFAULT 0,
    setup TEXT NOT NULL DEFAULT ''
);
CREATE TABLE logs (run INTEGER PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE columns (
    id INTEGER PRIMARY KEY, fingerprint BLOB NOT NULL UNIQUE,
    kind TEXT NOT NULL, units INTEGER NOT NULL, data BLOB NOT NULL
);
CREATE TABLE scores (
    run INTEGER NOT NULL, part INTEGER NOT NULL, metric INTEGER NOT NULL,
    value REAL, sentences INTEGER NOT NULL, words INTEGER NOT NULL,
    units INTEGER NOT NULL, fields INTEGER NOT NULL, columns TEXT NOT NULL,
    PRIMARY KEY (run, part, metric)
) WITHOUT ROWID;
CREATE TABLE predictions (
    run INTEGER NOT NULL, part TEXT NOT NULL, file TEXT NOT NULL, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL,
    PRIMARY KEY (run, part)
) WITHOUT ROWID;
CREATE TABLE studies (id INTEGER PRIMARY KEY, time REAL NOT NULL, text TEXT NOT NULL);
CREATE TABLE results (id INTEGER PRIMARY KEY, time REAL NOT NULL, text TEXT NOT NULL);
CREATE TABLE checksums (
    kind TEXT NOT NULL, id INTEGER NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (kind, id)
) WITHOUT ROWID;
"""
# The rows that one checksum covers, by kind: all that is stored, but for counts, which have fingerprints. A migration
# that changes one of these tables has to replace the checksums.
CHECKED: dict[str, Sequence[str]] = {
    "run": (
        "SELECT * FROM runs WHERE id = ?",
        "SELECT * FROM logs WHERE run = ?",
        "SELECT * FROM scores WHERE run = ? ORDER BY part, metric",
        "SELECT * FROM predictions WHERE run = ? ORDER BY part",
    ),
    **{name: (f"SELECT * FROM {table} WHERE id = ?",) for name, table in ROW_TABLES.items()},
}

# Statements that turn a store of this version into one of the next.
MIGRATIONS: dict[int, Sequence[str]] = {
    0: (
        "ALTER TABLE runs ADD COLUMN peak_mb REAL NOT NULL DEFAULT 0",
        "CREATE TABLE studies (id INTEGER PRIMARY KEY, time REAL NOT NULL, text TEXT NOT NULL)",
    ),
    1: ("CREATE TABLE results (id INTEGER PRIMARY KEY, time REAL NOT NULL, text TEXT NOT NULL)",),
    2: ("ALTER TABLE runs ADD COLUMN setup TEXT NOT NULL DEFAULT ''",),
    3: (
        "CREATE TABLE checksums (kind TEXT NOT NULL, id INTEGER NOT NULL, digest BLOB NOT NULL, "
        "PRIMARY KEY (kind, id)) WITHOUT ROWID",
        # The rows that are there have no checksum. One computed now would vouch for what may have changed before.
        "INSERT INTO checksums SELECT 'run', id, x'' FROM runs",
        *(f"INSERT INTO checksums SELECT '{kind}', id, x'' FROM {table}" for kind, table in ROW_TABLES.items()),
    ),
}


class CorruptStore(Exception):
    """A row has impossible values."""


class StoreError(InputError):
    """The file of a store is broken, or cannot be read or written."""


@contextlib.contextmanager
def readable_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into one line about the file; our own programming errors stay as they are."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {_explain(error)}") from error
    except (CorruptStore, UnicodeDecodeError) as error:  # even a message of SQLite may not be text
        problem = error if isinstance(error, CorruptStore) else "text that is not Unicode"
        raise StoreError(f"{path}: broken ({problem}); {EXPECTED}, unchanged") from error


def _explain(error: sqlite3.Error) -> str:
    message = " ".join(str(error).split())[:MAX_MESSAGE].rstrip(".").lower()
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code == sqlite3.SQLITE_NOTADB:
        return f"not a store; {EXPECTED}"
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return f"cannot be written or read ({message}); what was added before is kept"
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return f"cannot be opened or written ({message}); expected a file and a folder with write permission"
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"locked by another program for {WAIT_S:.0f} s ({message}); expected it to be free"
    return f"broken ({message}); {EXPECTED}, unchanged"


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, even if the process is killed."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it already
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise


def checksum(connection: sqlite3.Connection, kind: str, number: int) -> bytes:
    """The checksum of what is stored under an id."""
    rows = [connection.execute(query, (number,)).fetchall() for query in CHECKED[kind]]
    return hashlib.blake2b(repr(rows).encode("utf-8", "backslashreplace"), digest_size=8).digest()


def write_checksum(connection: sqlite3.Connection, kind: str, number: int) -> None:
    """Store the checksum of what was written under an id, in the same transaction."""
    row = (kind, number, checksum(connection, kind, number))
    connection.execute("INSERT OR REPLACE INTO checksums VALUES (?, ?, ?)", row)


def create(path: Path) -> None:
    """Make an empty store, in whole or not at all; the caller holds the lock."""
    log = path.with_name(path.name + "-wal")
    if log.exists():
        raise InputError(f"{path}: missing, but its last changes are in {log.name}; expected both files, or neither")
    scratch = path.with_name(path.name + ".new")
    try:
        for file in (scratch, *(scratch.with_name(scratch.name + end) for end in ("-wal", "-shm", "-journal"))):
            file.unlink(missing_ok=True)
        with readable_errors(path), contextlib.closing(_connect(scratch, "rwc")) as connection:
            connection.executescript(
                f"BEGIN;{TABLES}PRAGMA application_id={APPLICATION};PRAGMA user_version={VERSION};COMMIT;"
                "PRAGMA journal_mode=WAL;"
            )
        scratch.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be made ({reason(error)})") from error
    finally:
        with contextlib.suppress(OSError):
            scratch.unlink(missing_ok=True)


def identity(path: Path) -> tuple[int, int] | None:
    """The device and inode of a file; None if it is missing."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def open_writing(path: Path) -> sqlite3.Connection:
    """Open a store for writing; one of an older version is migrated."""
    _check_file(path)
    with readable_errors(path), _closed_on_error(_connect(path, "rw")) as connection:
        version = _version(path, connection)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")  # a commit survives a power failure
        with transaction(connection):  # fails at once without write permission
            _migrate(connection, version)
    return connection


def open_reading(path: Path, *, any_thread: bool = False) -> sqlite3.Connection:
    """Open a store for reading, even while it is written; one of an older version is read from a copy."""
    with readable_errors(path):
        connection = _readable(path, any_thread=any_thread)
        with _closed_on_error(connection):
            version = _version(path, connection)
            if version == VERSION:
                return connection
            # In memory, or in a temporary file if it is large.
            copy = sqlite3.connect("", isolation_level=None, check_same_thread=not any_thread)
            connection.backup(copy)
        connection.close()
        with transaction(copy):
            _migrate(copy, version)
    return copy


def _readable(path: Path, *, any_thread: bool) -> sqlite3.Connection:
    """A connection that cannot write.

    With write permission the file is opened for writing, so that SQLite removes its log with the last reader. In a
    read-only folder it can only be opened as immutable, which is right if there is no log beside it.
    """
    _check_file(path)
    log = path.with_name(path.name + "-wal")
    no_log = not log.exists() or log.stat().st_size == 0
    message = ""
    for mode in ("rw", "ro", *(["ro&immutable=1"] if no_log else [])):
        try:
            with _closed_on_error(_connect(path, mode, any_thread=any_thread)) as connection:
                connection.execute("PRAGMA query_only=ON")
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                return connection
        except sqlite3.OperationalError as error:
            message = str(error)
    problem = "cannot be read in its folder" if no_log else f"cannot be read together with {log.name}"
    raise InputError(f"{path}: {problem} ({message}); expected a folder with write permission, or a copy in one")


@contextlib.contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def _connect(path: Path, mode: str, *, any_thread: bool = False) -> sqlite3.Connection:
    address = f"file:{quote(os.path.abspath(path))}?mode={mode}"
    return sqlite3.connect(address, uri=True, isolation_level=None, timeout=WAIT_S, check_same_thread=not any_thread)


def _check_file(path: Path) -> None:
    try:
        if not path.is_file():
            what = "not a file" if path.exists() else "no such store"
            raise InputError(f"{path}: {what}; {EXPECTED}")
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from error
    if start != MAGIC:
        raise InputError(f"{path}: {'not a store' if start else 'an empty file'}; {EXPECTED}")


def _version(path: Path, connection: sqlite3.Connection) -> int:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION:
        raise InputError(f"{path}: a database, but not a store; {EXPECTED}")
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version not in (*MIGRATIONS, VERSION):
        problem = f"a store of layout {version}; this version of Deadheat knows layouts up to {VERSION}"
        raise InputError(f"{path}: {problem}, expected the version that wrote it or a later one")
    return version


def _migrate(connection: sqlite3.Connection, version: int) -> None:
    for step in range(version, VERSION):
        for statement in MIGRATIONS[step]:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version={step + 1}")


class WriterLock:
    """The lock of a store, held from its creation until it is released or the process ends.

    Locks by `lockf` belong to the process: workers do not inherit them, so a killed study leaves no lock behind even
    if its workers live a moment longer.
    """

    def __init__(self, path: Path) -> None:
        """Take the lock; raises InputError if it is held, or if the lock file cannot be written."""
        self._path = os.path.realpath(path)
        if self._path in _LOCKED:
            raise InputError(f"{path}: already open for writing in this process; expected one writer at a time")
        lock = f"{self._path}.lock"
        try:
            self._file = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise InputError(f"{lock}: cannot be written ({reason(error)})") from error
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._file, 200, 0).decode("utf-8", "replace").strip()
            os.close(self._file)
            if error.errno not in (errno.EACCES, errno.EAGAIN):
                raise InputError(f"{lock}: cannot be locked ({reason(error)})") from error
            problem = f"another study writes to it ({holder or 'just started'})"
            raise InputError(f"{path}: {problem}; expected one at a time") from None
        _LOCKED.add(self._path)
        self._owner = os.getpid()
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        with contextlib.suppress(OSError):  # the lock works even if the disk is full
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"process {self._owner} on {socket.gethostname()} since {now}\n".encode(), 0)

    def is_owner(self) -> bool:
        """Whether this is the process that took the lock, and not a fork of it."""
        return self._owner == os.getpid()

    def release(self) -> None:
        """Let others write; the file stays, since deleting it could hit that of the next writer."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
            _LOCKED.discard(self._path)
