"""Where the bytes of a table come from: a file or standard input; plain, gzip, xz or zstd."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from deadheat.errors import InputError

STDIN = "-"
GZIP, XZ, ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"


def table_bytes(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a file or of standard input, decompressed."""
    name = os.fspath(path)
    try:
        raw = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({(error.strerror or str(error)).lower()})") from error
    try:
        return _decompressed(raw)
    except Exception as error:  # each of the three libraries has its own exceptions
        raise InputError(f"{name}: compressed, but broken ({str(error).rstrip('.').lower()})") from error


def _decompressed(raw: bytes) -> bytes:
    if raw.startswith(GZIP):
        import gzip

        return gzip.decompress(raw)
    if raw.startswith(XZ):
        import lzma

        return lzma.decompress(raw, format=lzma.FORMAT_XZ)
    return _zstd_frames(raw) if raw.startswith(ZSTD) else raw


def _zstd_frames(raw: bytes) -> bytes:
    """What is in the frames that follow each other; the library's short cuts take one that is cut off for whole."""
    import zstandard

    found = []
    while raw:
        frame = zstandard.ZstdDecompressor().decompressobj()
        found.append(frame.decompress(raw))
        if not frame.eof:
            raise EOFError("compressed data ended before the end-of-stream marker was reached")
        raw = frame.unused_data
    return b"".join(found)
