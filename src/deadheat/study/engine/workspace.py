"""The folder for the temporary files of a run: models, training data and output of programs.

The run holds a lock on the folder (`flock`, which ends with the process), so that whatever is not locked was left by a
run that was killed. The next run removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

PREFIX = "deadheat-run-"


class Workspace:
    """A folder that is removed when it is closed. Every worker has a folder in it, by its number."""

    def __init__(self) -> None:
        remove_abandoned()
        lock = None
        while lock is None:  # another run may remove the folder before it is locked
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            lock = _lock(self.path, wait=True)
        self._lock = lock

    def remove(self, number: int) -> None:
        """Remove the files of a dead worker."""
        shutil.rmtree(self.path / str(number), ignore_errors=True)

    def close(self) -> None:
        if self._lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


def remove_abandoned() -> None:
    """Remove the folders of runs of this user that were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if path.lstat().st_uid == os.geteuid() and (lock := _lock(path, wait=False)) is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(lock)


def enter(workspace: str, number: int) -> None:
    """Let this worker process, and the programs that it starts, have their temporary files in its own folder."""
    folder = os.path.join(workspace, str(number))
    os.mkdir(folder)
    os.environ["TMPDIR"] = tempfile.tempdir = folder


def _lock(path: Path, *, wait: bool) -> int | None:
    """A descriptor that holds the lock of a folder; None if another process has it, or has removed the folder."""
    descriptor = -1
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        if os.path.samestat(os.fstat(descriptor), path.lstat()):
            return descriptor
    except (BlockingIOError, FileNotFoundError, NotADirectoryError):
        pass
    if descriptor >= 0:
        os.close(descriptor)
    return None
