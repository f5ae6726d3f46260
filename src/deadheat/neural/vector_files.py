"""Text files too large for memory, as blocks of whole lines; plain, gzip, xz or zstd."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any, BinaryIO

from deadheat.compression import GZIP, XZ, ZSTD, BrokenError
from deadheat.errors import InputError

PIECE = 1 << 19  # bytes that are looked at together: they stay in the processor's cache
INSPECTED = 1 << 16  # bytes at the beginning that show whether a file is text
LONGEST_LINE = 1 << 24
BYTE_ORDER_MARK, ZIP = b"\xef\xbb\xbf", b"PK\x03\x04"
EXPECTED = "a word and its numbers on every line"


def blocks_of(name: str, file: BinaryIO, see: Callable[[bytes], object]) -> Iterator[bytes]:
    """Whole lines, many at a time, the last one with an end even if the file lacks it; `see` gets the text as it is.

    Raises
    ------
    InputError
        If the file is empty, or no text.
    BrokenError
        If it is compressed and not whole.
    """
    pieces = _text(file, see)
    first = next(pieces, b"")
    if not first:
        raise InputError(f"{name}: an empty file; expected {EXPECTED}")
    if first.startswith(ZIP):
        raise InputError(
            f"{name}: a zip archive; expected the text file in it, plain or compressed by gzip, xz or zstd"
        )
    if b"\0" in first[:INSPECTED]:
        raise not_text(name)
    rest = b""
    for piece in chain([first.removeprefix(BYTE_ORDER_MARK)], pieces):
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield rest + piece[:cut]
            rest = piece[cut:]
        else:
            rest += piece
        if len(rest) > LONGEST_LINE:
            raise InputError(f"{name}: a line of more than {LONGEST_LINE >> 20} MB; expected {EXPECTED}")
    if rest:
        yield rest + b"\n"


def not_text(name: str) -> InputError:
    """The error for word2vec's binary format, for models and other things that are no text."""
    return InputError(f"{name}: a binary file; expected the text format, {EXPECTED}")


def _text(file: BinaryIO, see: Callable[[bytes], object]) -> Iterator[bytes]:
    """The text in a file piece by piece, none of them empty."""
    head = file.read(PIECE)
    raw = chain([head], iter(partial(file.read, PIECE), b""))
    start = _decompressor(head)
    for piece in _decompressed(raw, start) if start else raw:
        if piece:
            see(piece)
            yield piece


def _decompressed(raw: Iterator[bytes], start: Callable[[], Any]) -> Iterator[bytes]:
    """What is inside of streams that follow each other, all of them whole, maybe with zeros between them."""
    stream = None
    for piece in raw:
        rest = piece
        while rest := rest if stream else rest.lstrip(b"\0"):
            try:
                stream = stream or start()
                inside = stream.decompress(rest)
            except Exception as error:  # each of the three libraries has its own exceptions
                raise BrokenError(f"corrupt compressed data ({str(error).rstrip('.').lower()})") from error
            yield inside
            rest = b""
            if stream.eof:
                rest, stream = stream.unused_data, None
    if stream is not None:
        raise BrokenError("corrupt compressed data (it ends too early)")


def _decompressor(head: bytes) -> Callable[[], Any] | None:
    """What makes decompressors of single streams, for a file that begins so; None if it is not compressed."""
    if head.startswith(GZIP):
        return partial(zlib.decompressobj, zlib.MAX_WBITS | 16)
    if head.startswith(XZ):
        import lzma

        return lzma.LZMADecompressor
    if head.startswith(ZSTD):
        import zstandard

        return lambda: zstandard.ZstdDecompressor().decompressobj()
    return None
