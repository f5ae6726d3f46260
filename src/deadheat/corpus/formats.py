"""Parse CoNLL-U, CoNLL-X, column files (CoNLL-2000, CoNLL-2003, ...) and `word_TAG` text."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.corpus import Comments, Corpus, Extras, Layout, Part
from deadheat.corpus.parse_errors import (
    COLUMN_MESSAGES,
    CONLLU_MESSAGES,
    MAX_LISTED,
    Messages,
    describe_faults,
    tagged_messages,
)
from deadheat.corpus.vocabulary import PADDING as BLOB_PADDING
from deadheat.corpus.vocabulary import Bytes, Codes, Column, Indices, Vocabulary
from deadheat.errors import CorpusError, Fault, InputError
from deadheat.kernels import columns as kernels
from deadheat.kernels import conllu as k
from deadheat.kernels.interning import FIRST_MASK, gather
from deadheat.text import pluralize

PADDING = 16  # kernels read ahead; a missing final newline is put there too
BOM = b"\xef\xbb\xbf"
LENIENT = {"multiple-roots": k.MULTIPLE_ROOTS, "missing-heads": k.MISSING_HEADS}
SEPARATORS = {"tab": "\t", "space": " "}
USUAL_NAMES = {2: ("form", "tag"), 3: ("form", "xpos", "chunk"), 4: ("form", "xpos", "chunk", "ner")}


def check_text(path: str, buffer: Bytes) -> Bytes:
    """Return the bytes without their padding; raise unless they are UTF-8 text.

    A missing final newline is written into the padding, so that scanners need no special case at the end.
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
    """Count lines in blocks, so that no second array of the size of the file is made."""
    block = 1 << 20
    return sum(int(np.count_nonzero(data[start : start + block] == 10)) for start in range(0, len(data), block))


@dataclass(slots=True)
class ScanBuffers:
    """Arrays that a scanner fills, large enough for a file of so many lines."""

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
        slots = FIRST_MASK + 1
        while slots < rows + rows // 4 + 2:
            slots *= 2
        self.codes = np.empty(width * rows, np.int32)
        self.sizes = np.ones(width, np.int64)
        self.starts = np.empty(width * rows, np.int64)
        self.lengths = np.empty(width * rows, np.int32)
        hashes = np.empty(width * rows, np.uint32)
        masks = np.full(width, FIRST_MASK, np.int64)
        table = np.zeros(width * slots, np.int32)
        self.tables = (table, slots, masks, self.sizes, self.starts, self.lengths, hashes)
        self.ends = np.empty(rows, np.int64)
        self.comments = np.empty(2 * rows, np.int64)
        self.newdoc = np.empty(rows, np.uint8)
        self.faults = np.zeros(MAX_LISTED * k.FAULT_SIZE, np.int64)
        self.out = np.zeros(k.OUT_SIZE, np.int64)

    def raise_faults(self, path: str, data: Bytes, messages: Messages, *more: Fault) -> None:
        """Raise the errors that the scan found, and those of the caller, if there are any."""
        faults = describe_faults(path, data, self.faults, messages)
        unlisted = int(self.out[k.FAULTS]) - len(faults)
        if 0 < self.out[k.CRLF] < self.out[k.LINES]:
            message = "line ends in LF and CR LF are mixed; expected one of them throughout"
            faults.append(Fault(path, _odd_line(data), message))
        faults += more
        if faults:
            raise CorpusError(faults[:MAX_LISTED], unlisted=unlisted + len(faults[MAX_LISTED:]))

    def columns(self, data: Bytes, names: Sequence[str], words: int) -> dict[str, Column]:
        """Return every column with its vocabulary, cut to the number of words."""
        columns = {}
        for i, name in enumerate(names):
            base, size = i * self.rows, int(self.sizes[i])
            starts, lengths = self.starts[base : base + size], self.lengths[base : base + size]
            lengths[0] = 1
            blob = np.empty(int(lengths.sum(dtype=np.int64)) + BLOB_PADDING, np.uint8)
            blob[-BLOB_PADDING:] = 0
            offsets = np.empty(size + 1, np.int64)
            gather(data, starts, lengths, size, blob, offsets)
            columns[name] = Column(self.codes[base : base + words], Vocabulary(blob, offsets))
        return columns

    def sentence_offsets(self) -> Indices:
        offsets = np.zeros(int(self.out[k.SENTENCES]) + 1, np.int64)
        offsets[1:] = self.ends[: len(offsets) - 1]
        return offsets

    def sentence_comments(self, data: Bytes) -> Comments:
        """Return the lines before each sentence."""
        sentences = int(self.out[k.SENTENCES])
        spans = self.comments[: 2 * sentences].reshape(-1, 2)
        offsets = np.zeros(sentences + 1, np.int64)
        np.cumsum(spans[:, 1] - spans[:, 0], out=offsets[1:])
        raw = data.data
        blob = b"".join([raw[a:b] for a, b in spans.tolist() if b > a])
        return Comments(np.frombuffer(blob, np.uint8), offsets, data[int(self.out[k.TAIL]) :].tobytes())


def _odd_line(data: Bytes) -> int:
    """Return the first line whose end differs from that of the first line."""
    newlines = np.flatnonzero(data == 10)
    crlf = data[np.maximum(newlines - 1, 0)] == 13
    return int(np.argmax(crlf != crlf[0])) + 1


def _close_sentence(data: Bytes, *, crlf: bool) -> tuple[Bytes, bytes]:
    """Append the empty line that the last sentence lacks; also return its bytes."""
    newline = b"\r\n" if crlf else b"\n"
    whole = np.concatenate([data, np.frombuffer(newline + bytes(PADDING), np.uint8)])
    return whole[: len(whole) - PADDING], newline


def read_conllu(path: str, buffer: Bytes, *, lenient: frozenset[str], format: str = "conllu") -> Corpus:
    """Parse the bytes of a CoNLL-U or CoNLL-X file; `buffer` ends with padding."""
    size = len(buffer) - PADDING
    data = check_text(path, buffer)
    bits = sum(bit for name, bit in LENIENT.items() if name in lenient)
    buffers, heads, extras = _scan_conllu(data, bits)
    missing = data[size:].tobytes()
    end_faults = []
    if buffers.out[k.UNFINISHED]:
        if "final-newline" not in lenient:
            message = "no empty line at the end of the file; expected one after the last sentence"
            end_faults.append(Fault(path, int(buffers.out[k.LINES]), message))
        data, newline = _close_sentence(data, crlf=bool(buffers.out[k.CRLF]))
        missing += newline
        buffers, heads, extras = _scan_conllu(data, bits)
    buffers.raise_faults(path, data, CONLLU_MESSAGES, *end_faults)
    words, crlf = int(buffers.out[k.WORDS]), bool(buffers.out[k.CRLF])
    has_heads = words == 0 or heads[:words].max() >= 0
    return Corpus(
        name=path,
        columns=buffers.columns(data, k.STRING_COLUMNS, words),
        offsets=buffers.sentence_offsets(),
        heads=heads[:words] if has_heads else None,
        extras=extras,
        comments=buffers.sentence_comments(data),
        newdoc=buffers.newdoc[: int(buffers.out[k.SENTENCES])].astype(bool),
        layout=Layout(format, crlf=crlf, missing_end=missing),
        parts=(Part(path, 0),),
    )


def _scan_conllu(data: Bytes, lenient: int) -> tuple[ScanBuffers, np.ndarray, Extras]:
    rows = count_lines(data) + 1
    width = len(k.STRING_COLUMNS)
    buffers = ScanBuffers(rows, width)
    heads, marks = np.empty(rows, np.int32), np.empty(rows + 2, np.int32)
    at, span, ends = np.empty(rows, np.int64), np.empty(rows, np.int32), np.empty(rows, np.int64)
    k.scan(data, lenient, buffers.codes, heads, rows, *buffers.tables, at, span, ends, buffers.ends, buffers.comments,
           buffers.newdoc, marks, buffers.faults, buffers.out)  # fmt: skip
    count = int(buffers.out[k.EXTRAS])
    codes = buffers.codes.reshape(width, rows)[:, rows - count :][:, ::-1].T.copy()
    extras = Extras(at[:count].copy(), span[:count].copy(), codes, ends[: int(buffers.out[k.SENTENCES])].copy())
    return buffers, heads, extras


def read_columns(
    path: str, buffer: Bytes, *, names: Sequence[str] | None = None, separator: str | None = None
) -> Corpus:
    """Parse a file with one word per line and an empty line after each sentence."""
    size = len(buffer) - PADDING
    data = check_text(path, buffer)
    first, number = _first_line(data)
    separator = separator or ("\t" if "\t" in first else " ")
    width = first.count(separator) + 1 if first else len(names or ("form",))
    if names is None:
        names = USUAL_NAMES.get(width) or ("form", *(f"column{i}" for i in range(2, width + 1)))
    elif len(names) != width:
        raise CorpusError(
            [Fault(path, number, f"{pluralize(width, 'column')}; expected {len(names)}: {', '.join(names)}")]
        )
    buffers = _scan_columns(data, separator, width)
    missing = data[size:].tobytes()
    if buffers.out[k.UNFINISHED] and not buffers.out[k.FAULTS]:
        data, newline = _close_sentence(data, crlf=bool(buffers.out[k.CRLF]))
        missing += newline
        buffers = _scan_columns(data, separator, width)
    buffers.raise_faults(path, data, COLUMN_MESSAGES)
    return _make_corpus(path, data, buffers, names, Layout("columns", bool(buffers.out[k.CRLF]), separator, missing))


def read_tagged(path: str, buffer: Bytes, *, mark: str = "_") -> Corpus:
    """Parse text with one sentence per line, in which every token is a word, a separator and a tag."""
    if len(mark.encode()) != 1 or mark.isspace():
        raise InputError(f"tag separator {mark!r}; expected one character such as '_' or '/'")
    size = len(buffer) - PADDING
    data = check_text(path, buffer)
    rows = int(np.count_nonzero((data == 32) | (data == 10))) + 1
    buffers = ScanBuffers(rows, 2)
    kernels.scan_tagged(data, ord(mark), buffers.codes, rows, *buffers.tables, buffers.ends, buffers.comments,
                        buffers.newdoc, buffers.faults, buffers.out)  # fmt: skip
    buffers.raise_faults(path, data, tagged_messages(mark))
    missing = data[size:].tobytes()
    return _make_corpus(
        path, data, buffers, ("form", "tag"), Layout("tagged", bool(buffers.out[k.CRLF]), mark, missing)
    )


def _scan_columns(data: Bytes, separator: str, width: int) -> ScanBuffers:
    rows = count_lines(data) + 1
    buffers = ScanBuffers(rows, width)
    kernels.scan_columns(data, ord(separator), width, buffers.codes, rows, *buffers.tables, buffers.ends,
                         buffers.comments, buffers.newdoc, buffers.faults, buffers.out)  # fmt: skip
    return buffers


def _first_line(data: Bytes) -> tuple[str, int]:
    """Return the first line with a word, which tells columns and separator, and its line number."""
    for number, line in enumerate(data[: 1 << 20].tobytes().split(b"\n"), start=1):
        text = line.decode("utf-8", "replace").rstrip("\r")
        if text and not text.startswith("-DOCSTART-"):
            return text, number
    return "", 0


def _make_corpus(path: str, data: Bytes, buffers: ScanBuffers, names: Sequence[str], layout: Layout) -> Corpus:
    sentences = int(buffers.out[k.SENTENCES])
    no_extras = Extras(
        np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, len(names)), np.int32), np.zeros(sentences, np.int64)
    )
    return Corpus(
        name=path,
        columns=buffers.columns(data, names, int(buffers.out[k.WORDS])),
        offsets=buffers.sentence_offsets(),
        heads=None,
        extras=no_extras,
        comments=buffers.sentence_comments(data),
        newdoc=buffers.newdoc[:sentences].astype(bool),
        layout=layout,
        parts=(Part(path, 0),),
    )
