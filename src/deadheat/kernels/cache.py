"""The cache of compiled programs: machine code is executed, so only what nobody else could have written is read.

A folder or file is trusted if it belongs to the user or to root and nobody else may write to it. Files are opened
relative to the folder that was checked, so that it cannot be exchanged in between.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

CHECKSUM_SIZE = 32
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


@cache
def cache_folder() -> Path:
    """Where compiled programs are cached: `$DEADHEAT_CACHE`, else the user's cache folder."""
    folder = os.environ.get("DEADHEAT_CACHE")
    if folder:
        return Path(folder)
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home
        base = Path(os.devnull)
    return base / "deadheat"


def create_folder(name: str) -> Path | None:
    """Create a folder of the cache if necessary; None if it cannot be created or trusted."""
    base = cache_folder()
    with suppress(OSError):
        base.parent.mkdir(parents=True, exist_ok=True)
        for folder in (base, base / name):
            folder.mkdir(mode=0o700, exist_ok=True)
        return None if distrust(name) else base / name
    return None


def distrust(name: str) -> str:
    """Why a folder of the cache is not used; "" if it is trusted or does not exist."""
    base = cache_folder()
    for folder in (base, base / name):
        with suppress(OSError):
            problem = _distrust(folder.stat())
            if problem:
                return f"{folder} {problem}"
    return ""


def read_cached(folder: str, name: str) -> bytes | None:
    """Return a file of the cache, if it is there, complete and trusted."""
    try:
        with _trusted_folder(folder) as directory:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
            with open(file, "rb") as stream:
                _check(os.fstat(file))
                stored = stream.read()
    except OSError:
        return None
    content = stored[CHECKSUM_SIZE:]
    return content if hashlib.sha256(content).digest() == stored[:CHECKSUM_SIZE] else None


def write_cached(folder: str, name: str, content: bytes) -> None:
    """Write a file to the cache if possible; otherwise programs are compiled again next time."""
    scratch = f"{name}.{secrets.token_hex(8)}"
    if create_folder(folder) is None:
        return
    with suppress(OSError), _trusted_folder(folder) as directory:
        try:
            file = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=directory)
            with open(file, "wb") as stream:
                stream.write(hashlib.sha256(content).digest() + content)
            os.replace(scratch, name, src_dir_fd=directory, dst_dir_fd=directory)
        except OSError:
            os.unlink(scratch, dir_fd=directory)


@contextmanager
def locked(folder: str, name: str) -> Iterator[None]:
    """Let one process after the other do something for the cache; without a lock where the cache cannot be used."""
    with ExitStack() as opened:
        with suppress(OSError):
            directory = opened.enter_context(_trusted_folder(folder)) if create_folder(folder) is not None else None
            if directory is not None:
                flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
                file = os.open(name, flags, 0o600, dir_fd=directory)
                opened.callback(os.close, file)
                fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
        yield


def trim_folder(folder: Path, limit: int) -> int:
    """Delete the files that were used longest ago until a folder takes at most `limit` bytes; returns what it takes.

    Another process may use the folder meanwhile: a program that is deleted before it is read is compiled again. Time of
    use is that of the last read where the file system keeps it, else that of writing.
    """
    files: list[tuple[float, int, str]] = []
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            with suppress(OSError):
                status = os.stat(path, follow_symlinks=False)
                files.append((max(status.st_atime, status.st_mtime), status.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= limit:
            break
        with suppress(OSError):
            os.unlink(path)
            total -= size
    return total


@contextmanager
def _trusted_folder(name: str) -> Iterator[int]:
    """Open a folder of the cache; raises if it, or the cache itself, is not trusted."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    with ExitStack() as opened:
        directory = None
        for part in (str(cache_folder()), name):
            directory = os.open(part, flags, dir_fd=directory)
            opened.callback(os.close, directory)
            _check(os.fstat(directory))
        assert directory is not None
        yield directory


def _check(status: os.stat_result) -> None:
    problem = _distrust(status)
    if problem:
        raise PermissionError(problem)


def _distrust(status: os.stat_result) -> str:
    if status.st_uid not in (0, os.geteuid()):
        return "belongs to another user"
    return "is writable by other users" if status.st_mode & WRITABLE_BY_OTHERS else ""
