"""Word vectors

Word vectors from a text file: word2vec's text format, GloVe's, fastText's `.vec`; plain, gzip, xz or zstd.

The file is streamed. Of every line only the separators are counted; numbers are read for wanted words alone.

Word vectors from a file for the words of a text.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.compression import BrokenError
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError, pluralize, reason
from deadheat.neural.text import Lexicon, normalised
from deadheat.neural.vector_files import EXPECTED, blocks_of, not_text

NEWLINE, RETURN, SPACE, TAB = b"\n\r \t"
BLANKS = b" \t"

Flags: TypeAlias = NDArray[np.bool_]
Rows: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """The vectors of wanted words: a row for each, of NaN where the file has none."""

    name: str  # of the file
    size: int  # numbers a word
    words: int  # in the file
    sha256: str  # of the text, however it was compressed
    found: Flags
    rows: Rows

    @property
    def coverage(self) -> float:
        """The share of the wanted words that were found; NaN if none were wanted."""
        return float(self.found.mean()) if len(self.found) else math.nan

    def __str__(self) -> str:
        found = int(self.found.sum())
        share = f" ({self.coverage:.1%})" if len(self.found) else ""
        return (
            f"{self.name}: {self.size} numbers a word, {found:,} of {pluralize(len(self.found), 'word')} found{share}"
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "file": self.name,
            "sha256": self.sha256,
            "size": self.size,
            "words": self.words,
            "wanted": len(self.found),
            "found": int(self.found.sum()),
            "coverage": self.coverage if len(self.found) else None,
        }


def read_vectors(path: str | os.PathLike[str], wanted: Sequence[str]) -> Vectors:
    r"""The vectors of some words from a file.

    Parameters
    ----------
    path
        A text file in UTF-8, maybe compressed by gzip, xz or zstd, with a word and its numbers on every line, parted by
        single spaces or tabs. A first line of two whole numbers is a header: how many words, and how many numbers a
        word. A word may have spaces in it; but of its parts only the first may be a number like 0.5 or -1, else
        the line is taken to have a column too many.
    wanted
        Words to look for, as they are, else in lower case. Of a word that stands in the file twice the first counts.

    Raises
    ------
    InputError
        With the line: at a wrong number of columns anywhere, at a value of a wanted word that is no finite number, and
        where fewer or more words follow than the header announces. Also for files that are empty or binary.

    Notes
    -----
    Values of words that are not wanted are counted, not read. A word that is not UTF-8 is passed over, and so are
    numbers without a word, which some files have; the empty string is never found.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "small.vec"
    >>> _ = path.write_text("2 3\nheat 0.5 -1 2\nDead 1 1 0\n")
    >>> vectors = read_vectors(path, ["Heat", "dead", "Dead"])
    >>> vectors.rows.tolist()
    [[0.5, -1.0, 2.0], [nan, nan, nan], [1.0, 1.0, 0.0]]
    >>> round(vectors.coverage, 3)
    0.667
    """
    name = os.fspath(path)
    digest = hashlib.sha256()
    asked = _Wanted(wanted)
    try:
        with open(name, "rb") as file:
            layout, words = _read(name, blocks_of(name, file, digest.update), asked)
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({reason(error)})") from error
    except BrokenError as error:
        raise InputError(f"{name}: {error}") from error
    return Vectors(name, layout.size, words, digest.hexdigest(), *asked.outcome(layout.size))


def _read(name: str, blocks: Iterator[bytes], wanted: _Wanted) -> tuple[_Layout, int]:
    """Go through a file; returns what its first line says, and the number of words."""
    block = next(blocks, b"\n")  # nothing but a byte order mark
    layout = _layout(name, block[: block.index(b"\n")])
    header = layout.announced is not None
    if header:
        block = block.partition(b"\n")[2]
    before = int(header)
    for each in chain([block] if block else [], blocks):
        before += _take(each, before, layout, wanted)
    words = before - header
    if layout.announced is not None and layout.announced != words:
        announced = f"{pluralize(layout.announced, 'word')} of {pluralize(layout.size, 'number')}"
        raise layout.fault(1, f"the header announces {announced}; {words:,} follow")
    return layout, words


def _take(block: bytes, before: int, layout: _Layout, wanted: _Wanted) -> int:
    """Look at some whole lines, with so many before them, up to the first that is wrong; returns how many they are."""
    lines = _split(block, layout.size)
    wrong = len(lines.starts)
    for at in np.flatnonzero(lines.columns[:wrong] > layout.size + 1).tolist():
        word = block[lines.starts[at] : lines.words[at]]
        if any(not part.isdigit() and _is_finite(part) for part in _fields(word)[1:]):
            wrong = at
            break
        lines.starts[at] += len(word) - len(word.lstrip(BLANKS))
        lines.words[at] -= len(word) - len(word.rstrip(BLANKS))
    waiting = wanted.waiting
    places = zip(lines.starts[:wrong].tolist(), lines.words[:wrong].tolist(), strict=True)
    hits: dict[bytes, int] = {}
    for at in [at for at, (start, end) in enumerate(places) if block[start:end] in waiting]:
        hits.setdefault(block[lines.starts[at] : lines.words[at]], at)
    values = [block[lines.values[at] : lines.ends[at]] for at in hits.values()]
    rows = _rows(values, layout.size)
    if rows is None:
        raise next(filter(None, map(layout.wrong_value, (before + at + 1 for at in hits.values()), hits, values)))
    for word, row in zip(hits, rows, strict=True):
        wanted.give(word, row)
    if wrong < len(lines.columns):
        line = block.split(b"\n", wrong + 1)[wrong]
        raise layout.wrong_columns(before + wrong + 1, line, int(lines.columns[wrong]))
    return len(lines.columns)


class _Lines(NamedTuple):
    """Where things are in a block, line by line; the first three only up to the first line with too few columns."""

    starts: Indices
    words: Indices  # where the word ends
    values: Indices  # where the first number begins
    ends: Indices  # where the last number ends
    columns: Indices


def _split(block: bytes, size: int) -> _Lines:
    text = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(text == NEWLINE)
    starts = np.append(0, ends[:-1] + 1)
    ends -= text[ends - 1] == RETURN
    separators = np.flatnonzero((text == SPACE) | (text == TAB))
    # word2vec and fastText end lines by a space.
    last_byte = text[ends - 1]
    trailing = (last_byte == SPACE) | (last_byte == TAB)
    last = np.searchsorted(separators, ends) - trailing
    columns = last - np.searchsorted(separators, starts) + 1
    enough = columns > size
    good = len(columns) if enough.all() else int(np.argmin(enough))
    words = separators[last[:good] - size]
    return _Lines(starts[:good], words, words + 1, ends - trailing, columns)


class _Wanted:
    """The words that are still looked for, and the vectors of those that were found."""

    def __init__(self, words: Sequence[str]) -> None:
        self.waiting: dict[bytes, tuple[list[int], list[int]]] = {}  # who wants it as it is, and who in lower case
        for at, word in enumerate(words):
            if not word:
                continue
            own, lowered = (each.encode(errors="surrogatepass") for each in (word, word.lower()))
            self.waiting.setdefault(own, ([], []))[0].append(at)
            if lowered != own:
                self.waiting.setdefault(lowered, ([], []))[1].append(at)
        self._exact, self._found = np.zeros((2, len(words)), bool)
        self._rows: Rows | None = None

    def give(self, word: bytes, row: Rows) -> None:
        """Hand out the vector of a word that is waited for."""
        own, lowered = self.waiting.pop(word)
        rows = self._allocated(len(row))
        self._exact[own] = True
        for at in (*own, *(each for each in lowered if not self._exact[each])):
            rows[at] = row
            self._found[at] = True

    def outcome(self, size: int) -> tuple[Flags, Rows]:
        return self._found, self._allocated(size)

    def _allocated(self, size: int) -> Rows:
        # Not before a line has that many numbers: a header may announce any.
        if self._rows is None:
            self._rows = np.full((len(self._found), size), np.nan, np.float32)
        return self._rows


@dataclass(frozen=True, slots=True)
class _Layout:
    """What the first line says of all the others."""

    name: str
    size: int
    announced: int | None = None

    def fault(self, line: int, message: str) -> InputError:
        return InputError(f"{self.name}:{line}: {message}")

    def wrong_columns(self, number: int, line: bytes, columns: int) -> InputError:
        first = 1 if self.announced is None else 2
        if number == first and not _is_text(line):
            return not_text(self.name)
        found = pluralize(columns, "column") if line.strip(b" \t\r") else "an empty line"
        told = "on line 1" if self.announced is None else "the header says"
        numbers = pluralize(self.size, "number")
        return self.fault(number, f"{found}; expected {self.size + 1:,}, a word and {numbers}, as {told}")

    def wrong_value(self, number: int, word: bytes, values: bytes) -> InputError | None:
        for at, field in enumerate(_fields(values), 1):
            if not _is_finite(field):
                told = f"number {at} of {_shown(word)} is {_shown(field)}; expected a finite number"
                return self.fault(number, told)
        return None


def _layout(name: str, first: bytes) -> _Layout:
    line = first.removesuffix(b"\r")
    fields = _fields(line[:-1] if line[-1:] in BLANKS else line)
    if len(fields) == 2 and all(each.isdigit() and len(each) < 19 for each in fields):
        announced, size = map(int, fields)
        if not announced or not size:
            raise InputError(
                f"{name}:1: the header announces 0 {'numbers a word' if announced else 'words'}; expected some"
            )
        return _Layout(name, size, announced)
    if len(fields) == 1:
        found = f"{_shown(first)} alone" if fields[0] else "an empty line"
        raise InputError(f"{name}:1: {found}; expected {EXPECTED}")
    # The first field is the word, even if it is a number; the others up to the last that is no number belong to it.
    strange = [at for at, each in enumerate(fields) if at and not _is_number(each)]
    spaces = strange[-1] if strange else 0
    if spaces == len(fields) - 1 or len(strange) < spaces:
        raise InputError(f"{name}:1: {_shown(fields[strange[0]])} in column {strange[0] + 1}; expected a finite number")
    return _Layout(name, len(fields) - 1 - spaces)


def _rows(values: Sequence[bytes], size: int) -> Rows | None:
    """The numbers of some words, a row each; None if one of them is no finite number."""
    text = b" ".join(values)
    if b"_" in text:  # Python would take 1_000 for a number
        return None
    with suppress(ValueError), np.errstate(over="ignore"):
        rows = np.array(list(map(float, _fields(text) if values else [])), np.float32)
        if np.isfinite(rows).all():
            return rows.reshape(len(values), size)
    return None


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def _is_finite(field: bytes) -> bool:
    with np.errstate(over="ignore"):
        return _is_number(field) and bool(np.isfinite(np.float32(float(field))))


def _fields(line: bytes) -> list[bytes]:
    return line.replace(b"\t", b" ").split(b" ")


def _shown(text: bytes) -> str:
    spelled = text.decode(errors="replace")
    return repr(spelled if len(spelled) <= 40 else spelled[:40] + "…")


def _is_text(line: bytes) -> bool:
    try:
        return all(letter >= " " or letter in "\t\r" for letter in line.decode())
    except UnicodeDecodeError:
        return False


@dataclass(frozen=True, slots=True, eq=False)
class Pretrained:
    """What a file has for some forms: as they stand, else in lower case, else with digits made alike."""

    vectors: Vectors
    place: dict[str, int]  # of each string that was looked up
    keys: dict[str, str]  # forms -> the string that has a vector

    @classmethod
    def of(cls, path: str, forms: Sequence[str]) -> Pretrained:
        """Look up forms in a file."""
        spellings = [(form, form.lower(), normalised(form)) for form in forms]
        place = {string: at for at, string in enumerate(dict.fromkeys(each for three in spellings for each in three))}
        vectors = read_vectors(path, list(place))
        keys: dict[str, str] = {}
        for form, lower, normal in spellings:
            # A form that is not in the file itself is found by its lower case, and has the same vector.
            as_lower = np.array_equal(vectors.rows[place[form]], vectors.rows[place[lower]])
            found = lower if as_lower or not vectors.found[place[form]] else form
            keys[form] = found if vectors.found[place[found]] else normal
        return cls(vectors, place, keys)

    def __contains__(self, word: str) -> bool:
        return word in self.place and bool(self.vectors.found[self.place[word]])

    def rows(self, lexicon: Lexicon) -> NDArray[np.float32]:
        """A row for every word of a lexicon, of NaN where the file has none."""
        rows = np.full((len(lexicon.words), self.vectors.size), np.nan, np.float32)
        for at, word in enumerate(lexicon.words):
            if word in self:
                rows[at] = self.vectors.rows[self.place[word]]
        return rows
