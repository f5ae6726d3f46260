"""What all readers share: room for a scan, checks of the bytes, and the corpus made of the outcome."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.corpus import Comments
from deadheat.corpus.faults import MOST, describe
from deadheat.corpus.source import PADDING
from deadheat.corpus.vocabulary import PADDING as BLOB_PADDING
from deadheat.corpus.vocabulary import Bytes, Codes, Column, Indices, Vocabulary
from deadheat.errors import CorpusError, Fault
from deadheat.kernels.conllu import CRLF, FAULT_SIZE, FAULTS, LINES, OUT_SIZE, SENTENCES, TAIL
from deadheat.kernels.interning import FIRST_MASK, gather

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
