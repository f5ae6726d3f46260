"""Parsers of CoNLL-U, CoNLL-X, column files (CoNLL-2000, CoNLL-2003, tagged columns) and `word_TAG` text."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.corpus import Comments, Corpus, Extras, Layout, Part
from deadheat.corpus.parse_errors import COLUMN_WORDS, MOST, describe, tagged_words
from deadheat.corpus.parse_errors import WORDS as FAULT_WORDS
from deadheat.corpus.vocabulary import PADDING as BLOB_PADDING
from deadheat.corpus.vocabulary import Bytes, Codes, Column, Indices, Vocabulary
from deadheat.errors import CorpusError, Fault, InputError
from deadheat.kernels import columns as kernels
from deadheat.kernels import conllu as k
from deadheat.kernels.conllu import CRLF, FAULT_SIZE, FAULTS, LINES, OUT_SIZE, SENTENCES, TAIL
from deadheat.kernels.interning import FIRST_MASK, gather
from deadheat.text import pluralize

PADDING = 16  # kernels read ahead; a missing final newline is put there too
BOM = b"\xef\xbb\xbf"


def checked_text(path: str, buffer: Bytes) -> Bytes:
    """The bytes without their padding, if they are UTF-8 text that ends in a newline; else a fault.

    A missing final newline is put into the padding, so that scanners need no special case at the end.
    """
    data = buffer[: len(buffer) - PADDING]
    start = data[:8192].tobytes()
    if start.startswith(BOM):
        raise CorpusError([Fault(path, 1, "starts with a byte order mark; expected plain UTF-8")])
    if b"\0" in start:
        raise CorpusError([Fault(path, 0, "a binary file; expected text")])
    _check_utf8(path, data)
    if len(data) and data[-1] != 10:
        newlines = np.flatnonzero(data == 10)
        crlf = len(newlines) and newlines[0] and data[newlines[0] - 1] == 13 and data[-1] != 13
        end = np.frombuffer(b"\r\n" if crlf else b"\n", np.uint8)
        buffer[len(data) : len(data) + len(end)] = end
        data = buffer[: len(data) + len(end)]
    return data


def _check_utf8(path: str, data: Bytes) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    view, block = data.data, 1 << 14
    for start in range(0, len(data), block):
        pending = len(decoder.getstate()[0])
        bytes_here = data[start : start + block]
        if not pending and bytes_here.max() < 128 and bytes_here.min() > 0:
            continue
        try:
            text = decoder.decode(view[start : start + block], final=start + block >= len(data))
        except UnicodeDecodeError as error:
            at = start - pending + error.start
            line = int(np.count_nonzero(data[:at] == 10)) + 1
            message = f"byte 0x{data[at]:02x} is not UTF-8 text ({error.reason})"
            raise CorpusError([Fault(path, line, message)]) from None
        if "\0" in text:
            at = start + int(np.argmax(bytes_here == 0))
            raise CorpusError([Fault(path, int(np.count_nonzero(data[:at] == 10)) + 1, "a NUL byte; expected text")])


def count_lines(data: Bytes) -> int:
    """How many lines there are, looked at in pieces so that no second array of the size of the file is made."""
    block = 1 << 20
    return sum(int(np.count_nonzero(data[start : start + block] == 10)) for start in range(0, len(data), block))


@dataclass(slots=True)
class Room:
    """Arrays that a scanner fills: as large as a file of so many lines can need, touched only where used."""

    rows: int
    width: int
    codes: Codes = field(init=False)
    tables: tuple[Codes, int, Indices, Indices, Indices, Codes, NDArray[np.uint32]] = field(init=False)
    sizes: Indices = field(init=False)
    starts: Indices = field(init=False)
    lengths: Codes = field(init=False)
    ends: Indices = field(init=False)
    comments: Indices = field(init=False)
    newdoc: Bytes = field(init=False)
    faults: Indices = field(init=False)
    out: Indices = field(init=False)

    def __post_init__(self) -> None:
        rows, width = self.rows, self.width
        room = FIRST_MASK + 1
        while room < rows + rows // 4 + 2:
            room *= 2
        self.codes = np.empty(width * rows, np.int32)
        self.sizes = np.ones(width, np.int64)
        self.starts = np.empty(width * rows, np.int64)
        self.lengths = np.empty(width * rows, np.int32)
        hashes = np.empty(width * rows, np.uint32)
        masks = np.full(width, FIRST_MASK, np.int64)
        table = np.zeros(width * room, np.int32)
        self.tables = (table, room, masks, self.sizes, self.starts, self.lengths, hashes)
        self.ends = np.empty(rows, np.int64)
        self.comments = np.empty(2 * rows, np.int64)
        self.newdoc = np.empty(rows, np.uint8)
        self.faults = np.zeros(MOST * FAULT_SIZE, np.int64)
        self.out = np.zeros(OUT_SIZE, np.int64)

    def raise_faults(self, path: str, data: Bytes, words: dict[int, Callable[..., str]], *more: Fault) -> None:
        """Raise what the scan found wrong, and more that the caller found, if anything."""
        faults = describe(path, data, self.faults, words)
        unlisted = int(self.out[FAULTS]) - len(faults)
        if 0 < self.out[CRLF] < self.out[LINES]:
            message = "another line end than the line before; expected LF or CR LF"
            faults.append(Fault(path, _odd_line(data), message))
        faults += more
        if faults:
            raise CorpusError(faults[:MOST], unlisted=unlisted + len(faults[MOST:]))

    def columns(self, data: Bytes, names: Sequence[str], words: int) -> dict[str, Column]:
        """Every column with its vocabulary, cut to the words there are."""
        made = {}
        for i, name in enumerate(names):
            base, size = i * self.rows, int(self.sizes[i])
            starts, lengths = self.starts[base : base + size], self.lengths[base : base + size]
            lengths[0] = 1
            blob = np.empty(int(lengths.sum(dtype=np.int64)) + BLOB_PADDING, np.uint8)
            blob[-BLOB_PADDING:] = 0
            offsets = np.empty(size + 1, np.int64)
            gather(data, starts, lengths, size, blob, offsets)
            made[name] = Column(self.codes[base : base + words], Vocabulary(blob, offsets))
        return made

    def sentence_offsets(self) -> Indices:
        offsets = np.zeros(int(self.out[SENTENCES]) + 1, np.int64)
        offsets[1:] = self.ends[: len(offsets) - 1]
        return offsets

    def sentence_comments(self, data: Bytes) -> Comments:
        """What stood before each sentence, copied out of the file."""
        sentences = int(self.out[SENTENCES])
        spans = self.comments[: 2 * sentences].reshape(-1, 2)
        offsets = np.zeros(sentences + 1, np.int64)
        np.cumsum(spans[:, 1] - spans[:, 0], out=offsets[1:])
        raw = data.data
        blob = b"".join([raw[a:b] for a, b in spans.tolist() if b > a])
        return Comments(np.frombuffer(blob, np.uint8), offsets, data[int(self.out[TAIL]) :].tobytes())


def _odd_line(data: Bytes) -> int:
    """The first line whose end differs from the first line's."""
    newlines = np.flatnonzero(data == 10)
    crlf = data[np.maximum(newlines - 1, 0)] == 13
    return int(np.argmax(crlf != crlf[0])) + 1


LENIENT = {"multiple-roots": k.MULTIPLE_ROOTS, "missing-heads": k.MISSING_HEADS}


def read_conllu(path: str, buffer: Bytes, *, lenient: frozenset[str], format: str = "conllu") -> Corpus:
    """A corpus from the bytes of one file; `buffer` has padding behind them."""
    size = len(buffer) - PADDING
    data = checked_text(path, buffer)
    bits = sum(bit for name, bit in LENIENT.items() if name in lenient)
    room, heads, extras = _scan_conllu(data, bits)
    missing = data[size:].tobytes()
    early = []
    if room.out[k.UNFINISHED]:
        if "final-newline" not in lenient:
            message = "the file does not end with an empty line; expected one after the last word"
            early.append(Fault(path, int(room.out[k.LINES]), message))
        newline = b"\r\n" if room.out[k.CRLF] else b"\n"
        missing += newline
        whole = np.concatenate([data, np.frombuffer(newline + bytes(PADDING), np.uint8)])
        data = whole[: len(whole) - PADDING]
        room, heads, extras = _scan_conllu(data, bits)
    room.raise_faults(path, data, FAULT_WORDS, *early)
    words, crlf = int(room.out[k.WORDS]), bool(room.out[k.CRLF])
    has_heads = words == 0 or heads[:words].max() >= 0
    return Corpus(
        name=path,
        columns=room.columns(data, k.STRING_COLUMNS, words),
        offsets=room.sentence_offsets(),
        heads=heads[:words] if has_heads else None,
        extras=extras,
        comments=room.sentence_comments(data),
        newdoc=room.newdoc[: int(room.out[k.SENTENCES])].astype(bool),
        layout=Layout(format, crlf=crlf, missing_end=missing),
        parts=(Part(path, 0),),
    )


def _scan_conllu(data: Bytes, lenient: int) -> tuple[Room, np.ndarray, Extras]:
    rows = count_lines(data) + 1
    width = len(k.STRING_COLUMNS)
    room = Room(rows, width)
    heads, marks = np.empty(rows, np.int32), np.empty(rows + 2, np.int32)
    at, span, ends = np.empty(rows, np.int64), np.empty(rows, np.int32), np.empty(rows, np.int64)
    k.scan(data, lenient, room.codes, heads, rows, *room.tables, at, span, ends, room.ends, room.comments,
           room.newdoc, marks, room.faults, room.out)  # fmt: skip
    count = int(room.out[k.EXTRAS])
    codes = room.codes.reshape(width, rows)[:, rows - count :][:, ::-1].T.copy()
    extras = Extras(at[:count].copy(), span[:count].copy(), codes, ends[: int(room.out[k.SENTENCES])].copy())
    return room, heads, extras


SEPARATORS = {"tab": "\t", "space": " "}
USUAL_NAMES = {2: ("form", "tag"), 3: ("form", "xpos", "chunk"), 4: ("form", "xpos", "chunk", "ner")}


def read_columns(
    path: str, buffer: Bytes, *, names: Sequence[str] | None = None, separator: str | None = None
) -> Corpus:
    """A corpus from a file with a word a line and an empty line after each sentence."""
    size = len(buffer) - PADDING
    data = checked_text(path, buffer)
    first, number = _first_line(data)
    separator = separator or ("\t" if "\t" in first else " ")
    width = first.count(separator) + 1 if first else len(names or ("form",))
    if names is None:
        names = USUAL_NAMES.get(width) or ("form", *(f"column{i}" for i in range(2, width + 1)))
    elif len(names) != width:
        raise CorpusError(
            [Fault(path, number, f"{pluralize(width, 'column')}; expected {len(names)}: {', '.join(names)}")]
        )
    room = _scan_columns(data, separator, width)
    missing = data[size:].tobytes()
    if room.out[k.UNFINISHED] and not room.out[k.FAULTS]:
        newline = b"\r\n" if room.out[k.CRLF] else b"\n"
        missing += newline
        whole = np.concatenate([data, np.frombuffer(newline + bytes(PADDING), np.uint8)])
        data = whole[: len(whole) - PADDING]
        room = _scan_columns(data, separator, width)
    room.raise_faults(path, data, COLUMN_WORDS)
    return _make_corpus(path, data, room, names, Layout("columns", bool(room.out[k.CRLF]), separator, missing))


def read_tagged(path: str, buffer: Bytes, *, mark: str = "_") -> Corpus:
    """A corpus from text with a sentence a line, each token a word, a mark and a tag."""
    if len(mark.encode()) != 1 or mark.isspace():
        raise InputError(f"tag mark {mark!r}; expected one character such as '_' or '/'")
    size = len(buffer) - PADDING
    data = checked_text(path, buffer)
    rows = int(np.count_nonzero((data == 32) | (data == 10))) + 1
    room = Room(rows, 2)
    kernels.scan_tagged(data, ord(mark), room.codes, rows, *room.tables, room.ends, room.comments, room.newdoc,
                        room.faults, room.out)  # fmt: skip
    room.raise_faults(path, data, tagged_words(mark))
    missing = data[size:].tobytes()
    return _make_corpus(path, data, room, ("form", "tag"), Layout("tagged", bool(room.out[k.CRLF]), mark, missing))


def _scan_columns(data: Bytes, separator: str, width: int) -> Room:
    rows = count_lines(data) + 1
    room = Room(rows, width)
    kernels.scan_columns(data, ord(separator), width, room.codes, rows, *room.tables, room.ends, room.comments,
                         room.newdoc, room.faults, room.out)  # fmt: skip
    return room


def _first_line(data: Bytes) -> tuple[str, int]:
    """The first line with a word, and its number: it says how many columns there are, and what parts them."""
    for number, line in enumerate(data[: 1 << 20].tobytes().split(b"\n"), start=1):
        text = line.decode("utf-8", "replace").rstrip("\r")
        if text and not text.startswith("-DOCSTART-"):
            return text, number
    return "", 0


def _make_corpus(path: str, data: Bytes, room: Room, names: Sequence[str], layout: Layout) -> Corpus:
    sentences = int(room.out[k.SENTENCES])
    none = Extras(
        np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, len(names)), np.int32), np.zeros(sentences, np.int64)
    )
    return Corpus(
        name=path,
        columns=room.columns(data, names, int(room.out[k.WORDS])),
        offsets=room.sentence_offsets(),
        heads=None,
        extras=none,
        comments=room.sentence_comments(data),
        newdoc=room.newdoc[:sentences].astype(bool),
        layout=layout,
        parts=(Part(path, 0),),
    )
