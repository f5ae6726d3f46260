"""Where the bytes of a table come from: a file or standard input; plain, gzip, xz or zstd."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from deadheat.compression import BrokenError, decompress
from deadheat.errors import InputError, reason

STDIN = "-"


def table_bytes(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a file or of standard input, decompressed."""
    name = os.fspath(path)
    try:
        raw = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({reason(error)})") from error
    try:
        found = decompress(raw)
    except BrokenError as error:
        raise InputError(f"{name}: {error}") from error
    return raw if found is None else found
