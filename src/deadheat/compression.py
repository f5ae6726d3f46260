"""gzip, xz and zstd: detected by the first bytes when reading, by the file name when writing."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from deadheat.text import format_size

GZIP, XZ, ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
SUFFIXES = (".gz", ".xz", ".zst")
SLICE = 1 << 11  # zstd can expand four bytes to 128 KB; larger slices are not faster


class DecompressionError(Exception):
    """Compressed data that is corrupt, incomplete or too large."""


def decompress(raw: bytes | memoryview, *, limit: int) -> bytes | None:
    """Return the decompressed data, at most `limit` bytes, or None if the data is not compressed."""
    if _decompressor(bytes(raw[:6])) is None:
        return None
    return b"".join(decompress_pieces([raw], limit=limit))


def decompress_pieces(pieces: Iterable[bytes | memoryview], *, limit: int | None = None) -> Iterator[bytes]:
    """Decompress consecutive streams piece by piece, maybe with zeros between them.

    Data that is not compressed passes unchanged.
    """
    pieces = iter(pieces)
    head = next(pieces, b"")
    start = _decompressor(bytes(head[:6]))
    if start is None:
        yield from map(bytes, chain([head], pieces))
        return
    stream, size = None, 0
    for piece in chain.from_iterable(map(_slices, chain([head], pieces))):
        rest = piece
        while rest := rest if stream else rest.lstrip(b"\0"):
            try:
                stream = stream or start()
                data = stream.decompress(rest)
            except MemoryError:
                raise
            except Exception as error:  # the three libraries raise different exceptions
                raise DecompressionError(f"corrupt compressed data ({str(error).rstrip('.').lower()})") from error
            size += len(data)
            if limit is not None and size > limit:
                raise too_large(limit)
            yield data
            rest = b""
            if stream.eof:
                rest, stream = stream.unused_data, None
    if stream is not None:  # which the libraries do not notice
        raise DecompressionError(
            "corrupt compressed data (compressed data ended before the end-of-stream marker was reached)"
        )


def too_large(limit: int) -> DecompressionError:
    """What is raised for data that decompresses to more than a limit."""
    return DecompressionError(f"decompresses to more than {format_size(limit)}; --max-size sets the limit")


def _slices(piece: bytes | memoryview) -> Iterator[bytes]:
    """Split data into slices that cannot decompress to more than 64 MB each."""
    for start in range(0, len(piece), SLICE):
        yield bytes(piece[start : start + SLICE])


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
