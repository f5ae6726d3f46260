"""The distinct strings of a column, numbered; and a column: one number a word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.kernels.interning import match

Codes: TypeAlias = NDArray[np.int32]
Bytes: TypeAlias = NDArray[np.uint8]
Indices: TypeAlias = NDArray[np.int64]

PADDING = 8  # kernels look at eight bytes together and may look past the last string


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Numbered strings, kept as bytes and decoded only when asked for.

    Examples
    --------
    >>> words = Vocabulary.of(["_", "heat", "dead"])
    >>> len(words), words[1], list(words)
    (3, 'heat', ['_', 'heat', 'dead'])
    """

    blob: Bytes
    offsets: Indices

    @classmethod
    def of(cls, strings: Sequence[str]) -> Vocabulary:
        encoded = [string.encode() for string in strings]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(each) for each in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded) + bytes(PADDING), np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, code: int) -> str:
        return bytes(self.blob[self.offsets[code] : self.offsets[code + 1]]).decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self.strings)

    @cached_property
    def strings(self) -> tuple[str, ...]:
        """All strings, in the order of their codes."""
        blob, bounds = self.blob.tobytes(), self.offsets.tolist()
        return tuple(blob[a:b].decode() for a, b in pairwise(bounds))

    def codes_of(self, other: Vocabulary) -> Codes:
        """For every string of another vocabulary its code here, or -1 where it is unknown here."""
        found = np.empty(len(other), np.int32)
        if other is self:
            found[:] = np.arange(len(self))
            return found
        slots = 1 << max(4, (2 * len(self)).bit_length())
        match(self.blob, self.offsets, other.blob, other.offsets, np.zeros(slots, np.int32), found)
        return found

    def find(self, string: str) -> int:
        """The code of a string, or -1."""
        return int(self.codes_of(Vocabulary.of([string]))[0])

    def which(self, holds: Callable[[str], bool]) -> NDArray[np.bool_]:
        """For every code whether its string has a property."""
        return np.fromiter(map(holds, self.strings), bool, len(self))


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One code a word, and what the codes stand for."""

    codes: Codes
    vocabulary: Vocabulary

    @classmethod
    def of(cls, strings: Sequence[str]) -> Column:
        """A column from plain strings, for tests and small things."""
        distinct = list(dict.fromkeys(["_", *strings]))
        number = {string: code for code, string in enumerate(distinct)}
        return cls(np.array([number[string] for string in strings], np.int32), Vocabulary.of(distinct))

    def __len__(self) -> int:
        return len(self.codes)

    def strings(self) -> list[str]:
        """The column spelled out: an object a word, so for small corpora and for looking."""
        return [self.vocabulary.strings[code] for code in self.codes.tolist()]

    def frequencies(self) -> Indices:
        """How often each string of the vocabulary occurs."""
        return np.bincount(self.codes, minlength=len(self.vocabulary)).astype(np.int64)


def shared_keys(gold: Vocabulary, predicted: Vocabulary, key: Callable[[str], object]) -> tuple[Codes, Codes]:
    """Number what a function makes of the strings of two vocabularies, the same thing by the same number.

    Labels cut at `:`, features filtered, forms lower-cased: the work is done once a distinct string.
    """
    numbers: dict[object, int] = {}
    both = [
        np.array([numbers.setdefault(key(string), len(numbers)) for string in vocabulary.strings], np.int32)
        for vocabulary in (gold, predicted)
    ]
    return both[0], both[1]


def recoded(column: Column, vocabulary: Vocabulary) -> Codes:
    """A column by the codes of another vocabulary; -1 for strings that it has not."""
    return np.take(vocabulary.codes_of(column.vocabulary), column.codes)
