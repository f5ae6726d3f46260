"""How much a Parquet file decodes to, by its footer: a few kilobytes of pages may hold a list of a billion zeros."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

LENGTH = struct.Struct("<I")
# Types of Thrift's compact protocol; and what row groups > columns > metadata > number of values, or size, stand for.
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
INTEGERS = (4, 5, 6)
SIZES: Mapping[tuple[int, ...], int] = {
    (4, 1, 3, 5): 8,
    (4, 1, 3, 6): 1,
}  # bytes of a decoded value, and of the decompressed pages


def decoded_size(content: memoryview) -> int:
    """The bytes that all values of a file take at least, by its footer; raise `ValueError` if that is corrupt."""
    try:
        length = LENGTH.unpack(content[-8:-4])[0]
        numbers = list(_Footer(bytes(content[-8 - length : -8])).numbers())
    except (IndexError, RecursionError, struct.error) as error:
        raise ValueError("corrupt footer") from error
    return sum(max(number, 0) * SIZES.get(path, 0) for path, number in numbers)


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
