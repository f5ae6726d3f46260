"""gzip, xz and zstd: told by the first bytes when reading, by the name when writing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

GZIP, XZ, ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
SUFFIXES = (".gz", ".xz", ".zst")


class BrokenError(Exception):
    """Data that begins as if it were compressed and is not, or not to its end."""


def decompress(raw: bytes | memoryview) -> bytes | None:
    """What is inside, or None if the data is not compressed.

    Examples
    --------
    >>> import gzip
    >>> decompress(gzip.compress(b"heat")), decompress(b"heat")
    (b'heat', None)
    """
    start = bytes(raw[:6])
    if not start.startswith((GZIP, XZ, ZSTD)):
        return None
    try:
        if start.startswith(GZIP):
            import gzip

            return gzip.decompress(raw)
        if start.startswith(XZ):
            import lzma

            return _all_streams(raw, lzma.LZMADecompressor, gap=b"\0")
        import zstandard

        return _all_streams(raw, lambda: zstandard.ZstdDecompressor().decompressobj())
    except Exception as error:  # each of the three libraries has its own exceptions
        raise BrokenError(f"compressed, but broken ({str(error).rstrip('.').lower()})") from error


class _Stream(Protocol):
    """What decompresses one stream of xz or one frame of zstd."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def _all_streams(raw: bytes | memoryview, start: Callable[[], _Stream], *, gap: bytes = b"") -> bytes:
    """Everything in the streams that follow each other, all of them whole.

    The short cuts of both libraries return what they have when the last stream is cut off or broken.
    """
    found, rest = [], bytes(raw)
    while rest:
        stream = start()
        found.append(stream.decompress(rest))
        if not stream.eof:
            raise EOFError("compressed data ended before the end-of-stream marker was reached")
        rest = stream.unused_data.lstrip(gap) if gap else stream.unused_data
    return b"".join(found)


def compress(data: bytes, suffix: str) -> bytes:
    """The data as a file whose name ends so should hold it; the same bytes every time."""
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
    """A name without the ending that tells how it is compressed."""
    return next((name.removesuffix(ending) for ending in SUFFIXES if name.endswith(ending)), name)
