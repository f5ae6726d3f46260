"""Word vectors from a text file: word2vec's text format, GloVe's, fastText's `.vec`; plain, gzip, xz or zstd.

The file is streamed in blocks of whole lines. Of every line only the separators are counted; numbers are parsed for
requested words only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.compression import DecompressionError, decompress_pieces
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError, reason
from deadheat.neural.text import Lexicon, normalize_form
from deadheat.text import pluralize

NEWLINE, RETURN, SPACE, TAB = b"\n\r \t"
BLANKS = b" \t"
BLOCK_SIZE = 1 << 19  # bytes read at a time: they stay in the processor's cache
INSPECTED = 1 << 16  # bytes at the beginning that show whether a file is text
LONGEST_LINE = 1 << 24
BYTE_ORDER_MARK, ZIP = b"\xef\xbb\xbf", b"PK\x03\x04"
EXPECTED = "a word and its numbers on every line"

Rows: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class PretrainedVectors:
    """The vectors of a file for some forms: as they are, else in lower case, else with digits replaced."""

    size: int  # numbers per word
    vectors: dict[str, Rows]  # of all spellings of the forms that are in the file
    keys: dict[str, str]  # forms -> the string that has a vector

    @classmethod
    def of(cls, path: str, forms: Sequence[str]) -> PretrainedVectors:
        """Look up forms in a file."""
        spellings = [(form, form.lower(), normalize_form(form)) for form in forms]
        strings = list(dict.fromkeys(chain.from_iterable(spellings)))
        rows = read_vectors(path, strings)
        vectors = {string: row for string, row in zip(strings, rows, strict=True) if not np.isnan(row[0])}
        keys: dict[str, str] = {}
        for form, lower, normalized in spellings:
            # A form that is not in the file itself was looked up in lower case, and has the same vector.
            by_itself = form in vectors and not (lower in vectors and np.array_equal(vectors[form], vectors[lower]))
            key = form if by_itself else lower
            keys[form] = key if key in vectors else normalized
        return cls(rows.shape[1], vectors, keys)

    def rows(self, lexicon: Lexicon) -> Rows:
        """One row per word of a lexicon, which is NaN where the file has none."""
        missing = np.full(self.size, np.nan, np.float32)
        return np.stack([self.vectors.get(word, missing) for word in lexicon.words])


def read_vectors(path: str | os.PathLike[str], words: Sequence[str]) -> Rows:
    """The vectors of some words from a file, a row each, which is NaN where the file has none.

    Words are looked up as they are, else in lower case.

    The file is UTF-8 text, maybe compressed by gzip, xz or zstd, with a word and its numbers on every line, separated
    by single spaces or tabs. A first line of two whole numbers is a header: the numbers of words, and of numbers per
    word. A word may contain spaces, but of its parts only the first may be a number like 0.5 or -1; otherwise the line
    counts as having a column too many. The first of duplicate lines counts. Values of other words are not parsed. Words
    that are not UTF-8 and numbers without a word, which some files have, are skipped.

    Raises
    ------
    InputError
        With the line: at a wrong number of columns anywhere, at a value of a requested word that is not a finite
        number, and where the number of words differs from the header. Also for files that are empty or binary.
    """
    name = os.fspath(path)
    wanted = _WantedWords(words)
    try:
        with open(name, "rb") as file:
            size = _read(name, _blocks(name, file), wanted)
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({reason(error)})") from error
    except DecompressionError as error:
        raise InputError(f"{name}: {error}") from error
    return wanted.rows(size)


def _read(name: str, blocks: Iterator[bytes], wanted: _WantedWords) -> int:
    """Go through a file; returns the size of its vectors."""
    block = next(blocks, b"\n")  # nothing but a byte order mark
    layout = _layout(name, block[: block.index(b"\n")])
    header = layout.announced is not None
    if header:
        block = block.partition(b"\n")[2]
    lines = int(header)
    for part in chain([block] if block else [], blocks):
        lines += _read_block(part, lines, layout, wanted)
    if layout.announced is not None and layout.announced != lines - header:
        announced = f"{pluralize(layout.announced, 'word')} of {pluralize(layout.size, 'number')}"
        raise layout.fault(1, f"the header announces {announced}; {lines - header:,} follow")
    return layout.size


def _read_block(block: bytes, before: int, layout: _Layout, wanted: _WantedWords) -> int:
    """Read some whole lines, with so many before them, up to the first that is wrong; returns their number."""
    starts, word_ends, ends, columns = _split(block, layout.size)
    values, wrong = word_ends + 1, len(starts)
    for at in np.flatnonzero(columns[:wrong] > layout.size + 1).tolist():
        word = block[starts[at] : word_ends[at]]
        if any(not part.isdigit() and _is_finite(part) for part in _fields(word)[1:]):
            wrong = at
            break
        starts[at] += len(word) - len(word.lstrip(BLANKS))
        word_ends[at] -= len(word) - len(word.rstrip(BLANKS))
    waiting = wanted.waiting
    spans = zip(starts[:wrong].tolist(), word_ends[:wrong].tolist(), strict=True)
    for at in [at for at, (start, end) in enumerate(spans) if block[start:end] in waiting]:
        word = block[starts[at] : word_ends[at]]
        if word in waiting:  # not read from a line before
            wanted.add(word, layout.parse(before + at + 1, word, block[values[at] : ends[at]]))
    if wrong < len(columns):
        line = block.split(b"\n", wrong + 1)[wrong]
        raise layout.wrong_columns(before + wrong + 1, line, int(columns[wrong]))
    return len(columns)


def _split(block: bytes, size: int) -> tuple[Indices, Indices, Indices, Indices]:
    """Where each line and its word begin and end, where its last number ends, and how many columns it has.

    The first two only up to the first line with too few columns.
    """
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
    return starts[:good], separators[last[:good] - size], ends - trailing, columns


class _WantedWords:
    """The words still to be read, and the vectors of all others."""

    def __init__(self, words: Sequence[str]) -> None:
        self.waiting: dict[bytes, tuple[list[int], list[int]]] = {}  # rows that want it as it is, or in lower case
        for row, word in enumerate(words):
            if not word:
                continue
            exact, lowered = (string.encode(errors="surrogatepass") for string in (word, word.lower()))
            self.waiting.setdefault(exact, ([], []))[0].append(row)
            if lowered != exact:
                self.waiting.setdefault(lowered, ([], []))[1].append(row)
        self._exact = np.zeros(len(words), bool)
        self._rows: Rows | None = None

    def add(self, word: bytes, values: Rows) -> None:
        """Store the vector of a word."""
        exact, lowered = self.waiting.pop(word)
        rows = self.rows(len(values))
        self._exact[exact] = True
        rows[exact] = values
        rows[[row for row in lowered if not self._exact[row]]] = values

    def rows(self, size: int) -> Rows:
        # Not allocated before a line has that many numbers: a header may announce any.
        if self._rows is None:
            self._rows = np.full((len(self._exact), size), np.nan, np.float32)
        return self._rows


@dataclass(frozen=True, slots=True)
class _Layout:
    """What the first line says about all others."""

    name: str
    size: int
    announced: int | None = None

    def fault(self, line: int, message: str) -> InputError:
        return InputError(f"{self.name}:{line}: {message}")

    def wrong_columns(self, number: int, line: bytes, columns: int) -> InputError:
        if number == (1 if self.announced is None else 2) and not _is_text(line):
            return _not_text(self.name)
        has = pluralize(columns, "column") if line.strip(b" \t\r") else "an empty line"
        source = "on line 1" if self.announced is None else "the header says"
        numbers = pluralize(self.size, "number")
        return self.fault(number, f"{has}; expected {self.size + 1:,}, a word and {numbers}, as {source}")

    def parse(self, number: int, word: bytes, values: bytes) -> Rows:
        """The vector of a word, from a line of this number."""
        fields = _fields(values)
        try:
            with np.errstate(over="ignore"):
                row = np.array([float(field) for field in fields], np.float32)
            if np.isfinite(row).all() and b"_" not in values:  # Python would take 1_000 for a number
                return row
        except ValueError:
            pass
        at, value = next((at, value) for at, value in enumerate(fields, 1) if not _is_finite(value))
        raise self.fault(number, f"number {at} of {_quote(word)} is {_quote(value)}; expected a finite number")


def _layout(name: str, first: bytes) -> _Layout:
    line = first.removesuffix(b"\r")
    fields = _fields(line[:-1] if line[-1:] in BLANKS else line)
    if len(fields) == 2 and all(number.isdigit() and len(number) < 19 for number in fields):
        announced, size = map(int, fields)
        if not announced or not size:
            missing = "numbers a word" if announced else "words"
            raise InputError(f"{name}:1: the header announces 0 {missing}; expected some")
        return _Layout(name, size, announced)
    if len(fields) == 1:
        has = f"{_quote(first)} alone" if fields[0] else "an empty line"
        raise InputError(f"{name}:1: {has}; expected {EXPECTED}")
    # The first field is the word, even if it is a number; the others up to the last that is no number belong to it.
    strange = [at for at, field in enumerate(fields) if at and not _is_number(field)]
    spaces = strange[-1] if strange else 0
    if spaces == len(fields) - 1 or len(strange) < spaces:
        raise InputError(f"{name}:1: {_quote(fields[strange[0]])} in column {strange[0] + 1}; expected a finite number")
    return _Layout(name, len(fields) - 1 - spaces)


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


def _quote(text: bytes) -> str:
    string = text.decode(errors="replace")
    return repr(string if len(string) <= 40 else string[:40] + "…")


def _is_text(line: bytes) -> bool:
    try:
        return all(letter >= " " or letter in "\t\r" for letter in line.decode())
    except UnicodeDecodeError:
        return False


def _not_text(name: str) -> InputError:
    """The error for word2vec's binary format, for models and other things that are no text."""
    return InputError(f"{name}: a binary file; expected the text format, {EXPECTED}")


def _blocks(name: str, file: BinaryIO) -> Iterator[bytes]:
    """Whole lines, many at a time; the last one gets a line feed if it has none."""
    pieces = filter(None, decompress_pieces(iter(partial(file.read, BLOCK_SIZE), b"")))
    first = next(pieces, b"")
    if not first:
        raise InputError(f"{name}: an empty file; expected {EXPECTED}")
    if first.startswith(ZIP):
        expected = "the text file in it, plain or compressed by gzip, xz or zstd"
        raise InputError(f"{name}: a zip archive; expected {expected}")
    if b"\0" in first[:INSPECTED]:
        raise _not_text(name)
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
