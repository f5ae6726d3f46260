"""gzip, xz and zstd: detected by the first bytes when reading, by the file name when writing."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

GZIP, XZ, ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
SUFFIXES = (".gz", ".xz", ".zst")


class BrokenError(Exception):
    """Compressed data that is corrupt or incomplete."""


def decompress(raw: bytes | memoryview) -> bytes | None:
    """Return the decompressed data, or None if the data is not compressed."""
    if _decompressor(bytes(raw[:6])) is None:
        return None
    return b"".join(decompress_pieces([bytes(raw)]))


def decompress_pieces(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress consecutive streams piece by piece, maybe with zeros between them.

    Data that is not compressed passes unchanged.
    """
    pieces = iter(pieces)
    head = next(pieces, b"")
    start = _decompressor(head)
    if start is None:
        yield from chain([head], pieces)
        return
    stream = None
    for piece in chain([head], pieces):
        rest = piece
        while rest := rest if stream else rest.lstrip(b"\0"):
            try:
                stream = stream or start()
                data = stream.decompress(rest)
            except Exception as error:  # the three libraries raise different exceptions
                raise BrokenError(f"corrupt compressed data ({str(error).rstrip('.').lower()})") from error
            yield data
            rest = b""
            if stream.eof:
                rest, stream = stream.unused_data, None
    if stream is not None:  # which the libraries do not notice
        raise BrokenError("corrupt compressed data (compressed data ended before the end-of-stream marker was reached)")


def _decompressor(head: bytes) -> Callable[[], Any] | None:
    """What makes a decompressor of one stream, for data that begins so; None if it is not compressed."""
    if head.startswith(GZIP):
        return lambda: zlib.decompressobj(zlib.MAX_WBITS | 16)
    if head.startswith(XZ):
        import lzma

        return lzma.LZMADecompressor
    if head.startswith(ZSTD):
        import zstandard

        return lambda: zstandard.ZstdDecompressor().decompressobj()
    return None


def compress(data: bytes, suffix: str) -> bytes:
    """Compress data as the suffix of a file name says; the output is deterministic."""
    if suffix == ".gz":
        import gzip

        return gzip.compress(data, mtime=0)
    if suffix == ".xz":
        import lzma

        return lzma.compress(data)
    if suffix == ".zst":
        import zstandard

        return zstandard.ZstdCompressor(write_checksum=True).compress(data)
    return data


def without_suffix(name: str) -> str:
    """Remove the suffix of a compressed file."""
    return next((name.removesuffix(ending) for ending in SUFFIXES if name.endswith(ending)), name)
