"""gzip, xz and zstd: detected by the first bytes when reading, by the file name when writing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

GZIP, XZ, ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
SUFFIXES = (".gz", ".xz", ".zst")


class BrokenError(Exception):
    """Compressed data that is corrupt or incomplete."""


def decompress(raw: bytes | memoryview) -> bytes | None:
    """Return the decompressed data, or None if the data is not compressed."""
    start = bytes(raw[:6])
    if not start.startswith((GZIP, XZ, ZSTD)):
        return None
    try:
        if start.startswith(GZIP):
            import gzip

            return gzip.decompress(raw)
        if start.startswith(XZ):
            import lzma

            return _decompress_streams(raw, lzma.LZMADecompressor, gap=b"\0")
        import zstandard

        return _decompress_streams(raw, lambda: zstandard.ZstdDecompressor().decompressobj())
    except Exception as error:  # the three libraries raise different exceptions
        raise BrokenError(f"corrupt compressed data ({str(error).rstrip('.').lower()})") from error


class _Stream(Protocol):
    """A decompressor of one stream of xz or one frame of zstd."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def _decompress_streams(raw: bytes | memoryview, start: Callable[[], _Stream], *, gap: bytes = b"") -> bytes:
    """Decompress consecutive streams; raise if the last one is incomplete, which the libraries do not notice."""
    pieces, rest = [], bytes(raw)
    while rest:
        stream = start()
        pieces.append(stream.decompress(rest))
        if not stream.eof:
            raise EOFError("compressed data ended before the end-of-stream marker was reached")
        rest = stream.unused_data.lstrip(gap) if gap else stream.unused_data
    return b"".join(pieces)


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
