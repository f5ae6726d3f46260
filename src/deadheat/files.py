"""Read the files of others within limits: whole files, pipes and standard input, plain or compressed.

A small file may decompress to more than the memory holds, and a device or a pipe may never end. So there is a limit on
decompressed data and on streams, which `--max-size` or `$DEADHEAT_MAX_SIZE` sets.
"""

from __future__ import annotations

import glob
import hashlib
import os
import stat
import sys
from typing import IO

import numpy as np
from numpy.typing import NDArray

from deadheat.compression import DecompressionError, decompress, too_large
from deadheat.errors import InputError, reason
from deadheat.text import format_size, parse_size

STDIN = "-"
VARIABLE, OPTION = "DEADHEAT_MAX_SIZE", "--max-size"
DEFAULT_LIMIT = 2 << 30
SMALL_LIMIT = 4 << 20  # of study files and programs
LONGEST_PATH = 4096
# What data may have decompressed to without suspicion: text is rarely compressed to less than a fiftieth.
HARMLESS_SIZE, HARMLESS_RATIO = 64 << 20, 250


class FileError(InputError):
    """A file that cannot be read."""

    def __init__(self, path: str, problem: str) -> None:
        self.path, self.problem = path, problem
        super().__init__(f"{path}: {problem}")


def read_bytes(path: str | os.PathLike[str], *, padding: int = 0) -> NDArray[np.uint8]:
    """Read all bytes of a file, a pipe or standard input (`-`), decompressed and followed by zeros."""
    name = os.fspath(path)
    try:
        raw = _read_stdin(padding) if name == STDIN else _read_file(name, padding)
    except (OSError, ValueError) as error:
        raise FileError(name, f"cannot be read ({_problem(error)})") from error
    except MemoryError as error:
        raise FileError(name, "not enough memory to read it") from error
    try:
        content = decompress(raw.data[: len(raw) - padding], limit=size_limit(len(raw)))
    except DecompressionError as error:
        raise FileError(name, str(error)) from error
    except MemoryError as error:
        raise FileError(name, "not enough memory to decompress it") from error
    return raw if content is None else padded(content, padding)


def read_content(path: str | os.PathLike[str]) -> bytes:
    """Read all bytes of a file, a pipe or standard input (`-`), decompressed."""
    return read_bytes(path).tobytes()


def read_small(path: str | os.PathLike[str]) -> bytes:
    """Read a file that a person can read, such as a study file or a program; refuse devices and huge files."""
    name = os.fspath(path)
    try:
        with open(name, "rb", buffering=0) as file:
            _refuse_device(file)
            return _read_stream(file, SMALL_LIMIT, remedy="")
    except (OSError, ValueError) as error:
        raise FileError(name, f"cannot be read ({_problem(error)})") from error


def read_start(path: str | os.PathLike[str], size: int) -> bytes:
    """Read the first bytes of a file, by which its format is recognized; a pipe or a device has none."""
    name = os.fspath(path)
    try:
        if not stat.S_ISREG(os.stat(name).st_mode):
            return b""
        with open(name, "rb") as file:
            return file.read(size)
    except (OSError, ValueError) as error:
        raise FileError(name, f"cannot be read ({_problem(error)})") from error


def hash_content(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file of any size; raises OSError for what is no file, since a device may never end."""
    with open(path, "rb") as file:
        _refuse_device(file)
        return hashlib.file_digest(file, "sha256").hexdigest()


def match_files(pattern: str, folder: str | os.PathLike[str] | None = None, *, recursive: bool = False) -> list[str]:
    """The paths that match a pattern; none match one that is longer than a path, for which this would take minutes."""
    if len(pattern) > LONGEST_PATH:
        return []
    return glob.glob(pattern, root_dir=folder, recursive=recursive)


def size_limit(compressed: int) -> int:
    """The most bytes that data of this size may decompress to."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        limit = parse_size(chosen)
        if limit is None:
            raise InputError(f"{VARIABLE}: {chosen!r}; expected a size such as 8G")
        return limit
    return min(DEFAULT_LIMIT, max(HARMLESS_SIZE, HARMLESS_RATIO * compressed))


def check_size(path: str, compressed: int, size: int) -> None:
    """Raise if a file that says how much it decompresses to exceeds the limit."""
    limit = size_limit(compressed)
    if size > limit:
        raise FileError(path, str(too_large(limit)))


def _read_file(path: str, padding: int) -> NDArray[np.uint8]:
    with open(path, "rb", buffering=0) as file:
        _refuse_device(file)
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return padded(_read_stream(file, size_limit(DEFAULT_LIMIT)), padding)
        buffer = np.empty(status.st_size + padding, np.uint8)
        view, filled = buffer.data, 0
        while filled < status.st_size:
            got = file.readinto(view[filled : status.st_size])
            if not got:
                raise OSError(0, f"file shrank while being read, from {status.st_size} bytes to {filled}")
            filled += got
        buffer[filled:] = 0
        return buffer


def _read_stdin(padding: int) -> NDArray[np.uint8]:
    if sys.stdin is None:
        raise OSError(0, "standard input is closed")
    return padded(_read_stream(sys.stdin.buffer, size_limit(DEFAULT_LIMIT)), padding)


def _refuse_device(file: IO[bytes]) -> None:
    """Raise if a file is a device, which may never end; a terminal may."""
    mode = os.fstat(file.fileno()).st_mode
    if (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and not file.isatty():
        raise OSError(0, "it is a device; expected a file")


def _read_stream(file: IO[bytes], limit: int, *, remedy: str = f"; {OPTION} sets the limit") -> bytes:
    """Read a stream to its end, unless it has none."""
    pieces, size = [], 0
    while piece := file.read(1 << 20):
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            raise ValueError(f"more than {format_size(limit)}{remedy}")
    return b"".join(pieces)


def _problem(error: OSError | ValueError) -> str:
    """What is wrong with a file; a name with a null character is a ValueError."""
    return reason(error) if isinstance(error, OSError) else str(error)


def padded(raw: bytes, padding: int) -> NDArray[np.uint8]:
    """Return data as an array, followed by zeros."""
    buffer = np.zeros(len(raw) + padding, np.uint8)
    buffer[: len(raw)] = np.frombuffer(raw, np.uint8)
    return buffer
