"""Tables in Parquet, and how much they decode to: a few kilobytes may hold a billion zeros, or a million long texts.

The footer has the number of values and the size of the pages. Where a column refers to the texts of a dictionary, so
does what polars makes of it, and only the sum of the lengths of all values tells how long they are.
"""

from __future__ import annotations

import io
import json
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import polars as pl

from deadheat.errors import InputError
from deadheat.files import FileError, check_size

PARQUET = b"PAR1"

WORD = 8  # bytes of a number
LENGTH = struct.Struct("<I")
# Types of Thrift's compact protocol.
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
INTEGERS = (4, 5, 6)
# Bytes for each unit of row groups > columns > metadata > number of values, and > size of the decompressed pages.
SIZES: Mapping[tuple[int, ...], int] = {(4, 1, 3, 5): 8, (4, 1, 3, 6): 1}


def read_parquet(path: str, raw: bytes) -> pl.DataFrame:
    """The rows of a file, if they are not too many for the limit; what is neither number nor truth is text."""
    try:
        with _without_stderr():  # where polars reports its panics
            check_size(path, len(raw), decoded_size(memoryview(raw)))
            frame = pl.read_parquet(io.BytesIO(raw))
            check_size(path, len(raw), sum(map(text_size, frame)))
            texts = [name for name, kind in frame.schema.items() if not kind.is_numeric() and kind != pl.Boolean]
            return frame.with_columns([_cells(frame[name]) for name in texts])
    except FileError:
        raise
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise InputError(f"{path}: corrupt Parquet file ({str(error).partition(chr(10))[0].lower()})") from error


@contextmanager
def _without_stderr() -> Iterator[None]:
    """Discard what compiled code prints on standard error."""
    try:
        saved = os.dup(2)
    except OSError:  # closed
        yield
        return
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


def _cells(series: pl.Series) -> pl.Series:
    if series.dtype.is_nested():
        return pl.Series(series.name, [json_text(value) for value in series.to_list()], dtype=pl.String)
    return series.cast(pl.String)


def json_text(value: object) -> str | None:
    """A value as the text of a cell; text and nothing are as they are."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def decoded_size(content: memoryview) -> int:
    """The bytes that all values of a file take at least, by its footer; raise `ValueError` if that is corrupt."""
    try:
        length = LENGTH.unpack(content[-8:-4])[0]
        numbers = list(_Footer(bytes(content[-8 - length : -8])).numbers())
    except (IndexError, RecursionError, struct.error) as error:
        raise ValueError("corrupt footer") from error
    return sum(max(number, 0) * SIZES.get(path, 0) for path, number in numbers)


def text_size(series: pl.Series) -> int:
    """The bytes that the values of a column take as text, about; computed without making the text."""
    kind = series.dtype
    if kind == pl.String:
        return int(series.str.len_bytes().cast(pl.Int64).sum())
    if kind == pl.Binary:
        return int(series.bin.size().cast(pl.Int64).sum())
    if isinstance(kind, pl.List | pl.Array):
        return WORD * len(series) + text_size(series.explode())
    if isinstance(kind, pl.Struct):
        names = sum(map(len, series.struct.fields)) * len(series)
        return names + sum(text_size(series.struct.field(name)) for name in series.struct.fields)
    if isinstance(kind, pl.Categorical | pl.Enum):
        values = series.drop_nulls().alias("text").value_counts()
        lengths = values["text"].cast(pl.String).str.len_bytes().cast(pl.Int64)
        return int((lengths * values["count"]).sum())
    return WORD * len(series)


class _Footer:
    """A reader of Thrift's compact protocol, as far as Parquet's footer uses it."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def numbers(self, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], int]]:
        """The integers of a structure, with the fields that lead to them."""
        field = 0
        while header := self._byte():
            field = field + (header >> 4) if header >> 4 else self._integer()
            yield from self._value(header & 15, (*path, field))

    def _value(self, kind: int, path: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], int]]:
        if kind in INTEGERS:
            yield path, self._integer()
        elif kind == STRUCT:
            yield from self.numbers(path)
        elif kind in (LIST, SET):
            header = self._byte()
            number = header >> 4 if header >> 4 < 15 else self._unsigned()
            if header & 15 in (TRUE, FALSE):
                self.at += number
                return
            for _ in range(number):
                yield from self._value(header & 15, path)
        elif kind == BINARY:
            size = self._unsigned()
            self.at += size
        elif kind in (BYTE, DOUBLE):
            self.at += 1 if kind == BYTE else 8
        elif kind not in (TRUE, FALSE):
            raise ValueError(f"corrupt footer (type {kind})")

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _unsigned(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("corrupt footer (an integer of more than 64 bits)")

    def _integer(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
