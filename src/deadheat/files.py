"""Read the files of others within limits: whole files, pipes and standard input, plain or compressed.

A small file may decompress to more than the memory holds, and a device or a pipe may never end. So there is a limit on
decompressed data and on streams, which `--max-size` or `$DEADHEAT_MAX_SIZE` sets.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from deadheat.compression import DecompressionError, decompress, too_large
from deadheat.errors import InputError, reason
from deadheat.text import format_size, parse_size

STDIN = "-"
VARIABLE, OPTION = "DEADHEAT_MAX_SIZE", "--max-size"
DEFAULT_LIMIT = 2 << 30
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
    except (OSError, ValueError) as error:  # a name with a null character is a ValueError
        problem = reason(error) if isinstance(error, OSError) else str(error)
        raise FileError(name, f"cannot be read ({problem})") from error
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
        status = os.fstat(file.fileno())
        if (stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)) and not file.isatty():
            raise OSError(0, "it is a device; expected a file")
        if not stat.S_ISREG(status.st_mode):
            return padded(_read_stream(file), padding)
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
    return padded(_read_stream(sys.stdin.buffer), padding)


def _read_stream(file: BinaryIO) -> bytes:
    """Read a stream to its end, unless it has none."""
    limit = size_limit(DEFAULT_LIMIT)
    pieces, size = [], 0
    while piece := file.read(1 << 20):
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            raise ValueError(f"more than {format_size(limit)}; {OPTION} sets the limit")
    return b"".join(pieces)


def padded(raw: bytes, padding: int) -> NDArray[np.uint8]:
    """Return data as an array, followed by zeros."""
    buffer = np.zeros(len(raw) + padding, np.uint8)
    buffer[: len(raw)] = np.frombuffer(raw, np.uint8)
    return buffer
