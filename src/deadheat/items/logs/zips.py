"""Members of zip archives in memory: stored, deflated, or compressed with zstd, which `zipfile` reads since 3.14 only.

Nothing is extracted to disk, so that the names of members do not matter.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator

from deadheat.compression import DecompressionError, decompress_pieces, too_large
from deadheat.errors import InputError
from deadheat.files import FileError, size_limit

PIECE = 1 << 24  # bytes that are decompressed at once
MAGIC, HEADER_SIZE, ENCRYPTED = b"PK\x03\x04", 30, 1
STORED, DEFLATED, ZSTD = 0, 8, 93


class Archive:
    """A zip archive; `names` are those of its members."""

    def __init__(self, path: str, content: memoryview) -> None:
        self.path, self._content = path, content
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                self._members = {info.filename: info for info in archive.infolist()}
        except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error, OSError) as error:
            problem = f"corrupt or incomplete zip archive ({str(error).rstrip('.').lower()[:100]})"
            raise FileError(path, problem) from error
        self.names = tuple(self._members)

    def read(self, name: str) -> memoryview:
        """The content of a member."""
        where, info = f"{self.path}: {name[:100]}", self._members.get(name)
        if info is None:
            raise InputError(f"{where} is missing; expected it in the log")
        start = info.header_offset + HEADER_SIZE
        header = bytes(self._content[info.header_offset : start])
        if len(header) < HEADER_SIZE or not header.startswith(MAGIC) or info.flag_bits & ENCRYPTED:
            raise FileError(where, "corrupt zip archive (no such member where the directory says)")
        start += sum(struct.unpack("<HH", header[26:30]))
        raw = self._content[start : start + info.compress_size]
        limit = size_limit(info.compress_size)
        if info.file_size > limit:
            raise FileError(where, str(too_large(limit)))
        try:
            data = _decompressed(raw, info.compress_type, min(limit, info.file_size))
        except (DecompressionError, zlib.error) as error:
            raise FileError(where, str(error)) from error
        except MemoryError as error:
            raise FileError(where, "not enough memory to decompress it") from error
        if data is None or len(raw) != info.compress_size or zlib.crc32(data) != info.CRC:
            raise FileError(where, "corrupt zip archive (the checksum is another one)")
        return data


def _decompressed(raw: memoryview, method: int, limit: int) -> memoryview | None:
    """The content of a member in one piece of memory; None if it is longer than the directory says."""
    if method == STORED:
        return raw
    if method not in (DEFLATED, ZSTD):
        raise DecompressionError(f"zip method {method}; expected deflate or zstd")
    data = bytearray()
    for piece in _inflated(raw) if method == DEFLATED else decompress_pieces([raw]):
        if len(data) + len(piece) > limit:
            return None
        data += piece
    return memoryview(data)


def _inflated(raw: memoryview) -> Iterator[bytes]:
    stream, rest = zlib.decompressobj(-zlib.MAX_WBITS), bytes(raw)
    while rest and not stream.eof:
        yield stream.decompress(rest, PIECE)
        rest = stream.unconsumed_tail
    yield stream.flush()
