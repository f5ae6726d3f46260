"""One writer at a time: a lock that ends with the process that holds it, however it ends, and says who that is."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import time
from pathlib import Path

from deadheat.errors import InputError, reason

_HELD: set[str] = set()  # by this process: a lock of the system's kind does not keep a process from itself


class WriterLock:
    """Held from its making until it is released.

    Locks by `lockf` belong to the process: worker processes do not inherit them, so a study that is killed leaves no
    lock behind although its workers may live a moment longer.
    """

    def __init__(self, path: Path) -> None:
        """Take the lock of a store.

        Raises
        ------
        InputError
            If somebody holds it, or if the lock file cannot be written.
        """
        self._path = os.path.realpath(path)
        if self._path in _HELD:
            raise InputError(f"{path}: this process writes to it already; expected one writer at a time")
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
            told = f"another study writes to it ({holder or 'just started'})"
            raise InputError(f"{path}: {told}; expected one at a time") from None
        _HELD.add(self._path)
        self._owner = os.getpid()
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        with contextlib.suppress(OSError):  # a full disk: the lock holds all the same
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"process {self._owner} on {socket.gethostname()} since {now}\n".encode(), 0)

    def mine(self) -> bool:
        """Whether this is the process that took it, and not a copy of that process."""
        return self._owner == os.getpid()

    def release(self) -> None:
        """Let others write; the file stays, as taking it away could hit the next holder's."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
            _HELD.discard(self._path)
