"""Vocabularies (numbered strings) and columns (one code per word)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.kernels.strings import match

Codes: TypeAlias = NDArray[np.int32]
Bytes: TypeAlias = NDArray[np.uint8]
Indices: TypeAlias = NDArray[np.int64]

PADDING = 8  # kernels read eight bytes at a time, also past the last string


def offsets_of(lengths: ArrayLike) -> Indices:
    """Return where consecutive items of these lengths begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def ranges(starts: Indices, lengths: Indices) -> Indices:
    """Return the numbers of several ranges, one range after the other."""
    return np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(int(lengths.sum()))


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Numbered strings, kept as bytes and decoded on demand."""

    blob: Bytes
    offsets: Indices

    @classmethod
    def of(cls, strings: Sequence[str]) -> Vocabulary:
        encoded = [string.encode() for string in strings]
        blob = np.frombuffer(b"".join(encoded) + bytes(PADDING), np.uint8)
        return cls(blob, offsets_of([len(string) for string in encoded]))

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
        """Return the code of every string of another vocabulary, or -1 where it is missing."""
        codes = np.empty(len(other), np.int32)
        if other is self:
            codes[:] = np.arange(len(self))
            return codes
        slots = 1 << max(4, (2 * len(self)).bit_length())
        match(self.blob, self.offsets, other.blob, other.offsets, np.zeros(slots, np.int32), codes)
        return codes

    def find(self, string: str) -> int:
        """Return the code of a string, or -1."""
        return int(self.codes_of(Vocabulary.of([string]))[0])


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One code per word, and the strings they stand for."""

    codes: Codes
    vocabulary: Vocabulary

    @classmethod
    def of(cls, strings: Sequence[str]) -> Column:
        """Make a column from strings."""
        distinct = list(dict.fromkeys(["_", *strings]))
        number = {string: code for code, string in enumerate(distinct)}
        return cls(np.array([number[string] for string in strings], np.int32), Vocabulary.of(distinct))

    def __len__(self) -> int:
        return len(self.codes)

    def strings(self) -> list[str]:
        """Return the string of every word; meant for small corpora."""
        return [self.vocabulary.strings[code] for code in self.codes.tolist()]

    def which(self, holds: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Return for every word whether its string meets a condition, which is asked once per distinct string."""
        return np.fromiter(map(holds, self.vocabulary.strings), bool, len(self.vocabulary))[self.codes]

    def frequencies(self) -> Indices:
        """How often each string of the vocabulary occurs."""
        return np.bincount(self.codes, minlength=len(self.vocabulary)).astype(np.int64)


def shared_keys(gold: Vocabulary, predicted: Vocabulary, key: Callable[[str], object]) -> tuple[Codes, Codes]:
    """Number the keys of all strings of two vocabularies, equal keys by the same number.

    Keys such as labels cut at `:` or lower-cased forms are computed once per distinct string.
    """
    numbers: dict[object, int] = {}
    both = [
        np.array([numbers.setdefault(key(string), len(numbers)) for string in vocabulary.strings], np.int32)
        for vocabulary in (gold, predicted)
    ]
    return both[0], both[1]


def recode(column: Column, vocabulary: Vocabulary) -> Codes:
    """Return a column in the codes of another vocabulary; -1 for strings that it lacks."""
    return np.take(vocabulary.codes_of(column.vocabulary), column.codes)
