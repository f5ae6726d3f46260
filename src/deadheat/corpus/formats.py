"""Parse CoNLL-U, CoNLL-X, column files (CoNLL-2000, CoNLL-2003, ...) and `word_TAG` text."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from deadheat.corpus.corpus import Comments, Corpus, Extras, Layout, Part
from deadheat.corpus.vocabulary import PADDING as BLOB_PADDING
from deadheat.corpus.vocabulary import Bytes, Codes, Column, Vocabulary, offsets_of
from deadheat.errors import CorpusError, Fault, InputError, Remedy
from deadheat.kernels import scanning as k
from deadheat.kernels.strings import FIRST_MASK, gather
from deadheat.text import pluralize

PADDING = 16  # kernels read ahead; a missing final newline is put there too
BOM = b"\xef\xbb\xbf"
LENIENT = {"multiple-roots": k.MULTIPLE_ROOTS, "missing-heads": k.MISSING_HEADS}
REMEDIES = {
    mode: Remedy(f"--{mode}", f"lenient=[{mode!r}]", f"accepts {what}")
    for mode, what in {
        "multiple-roots": "sentences with several roots",
        "missing-heads": "sentences with _ instead of heads",
        "final-newline": "files without an empty line at the end",
    }.items()
}
SEPARATORS = {"tab": "\t", "space": " "}
USUAL_NAMES = {2: ("form", "tag"), 3: ("form", "xpos", "chunk"), 4: ("form", "xpos", "chunk", "ner")}
EXCERPT = 40  # characters of a line quoted in a message

Messages: TypeAlias = dict[int, str]  # by kind of error; `_describe` has the values that a message may quote

NO_END = "no empty line at the end of the file; expected one after the last sentence"
WHITE_SPACE = "a line of white space; expected an empty line after a sentence"
CONLLU_MESSAGES: Messages = {
    k.COLUMNS: "{tabbed}; expected 10 in {text}",
    k.WORD_ID: "word id {id}; expected a plain number from 1 on",
    k.WORD_ORDER: "word id {id} out of order; expected {more}",
    k.HEAD_SYNTAX: "HEAD {head} of word {id}; expected 0 or the number of a word",
    k.EXTRA_HEAD: "HEAD {head} of {id}, which is no word; expected '_'",
    k.HEAD_RANGE: "word {detail} has head {high}; the sentence has {words}",
    k.CYCLE: "word {detail} (head {more}) is on a cycle; expected a tree",
    k.ROOTS: "word {detail} is a second root of {more}; expected one root per sentence",
    k.SOME_HEADS: "{words} without a head; expected heads for all words of the sentence or for none",
    k.EMPTY_FORM: "empty FORM of {id}; expected a word",
    k.EMPTY_SENTENCE: "a sentence with {content}; expected at least one word",
    k.COMMENT_INSIDE: "a comment inside a sentence, {text}; expected comments before its first word",
    k.RANGE_ID: "multiword token id {id}; expected two numbers as 3-4",
    k.RANGE_ORDER: "multiword token {id} out of order or overlapping; expected one from {more} on",
    k.RANGE_UNFINISHED: "a multiword token reaches to word {detail}; the sentence has {words}",
    k.EMPTY_NODE_ID: "empty node id {id}; expected {high}.{next}",
    k.LONE_RETURN: "a carriage return inside the line {text}; expected none",
}
COLUMN_MESSAGES: Messages = {
    k.COLUMNS: "{columns}; expected {more} in {text}",
    k.EMPTY_FORM: "an empty word in {text}; expected a word in column 1",
    k.EMPTY_SENTENCE: "a sentence without words; expected one empty line between sentences",
    k.LONE_RETURN: CONLLU_MESSAGES[k.LONE_RETURN],
}
TAGGED_MESSAGES: Messages = {
    k.EMPTY_SENTENCE: "an empty line; expected a sentence on every line",
    k.LONE_RETURN: CONLLU_MESSAGES[k.LONE_RETURN],
    k.NO_TAG: "token {detail}, {text}; expected the form word{mark}TAG",
}


def _describe(data: Bytes, messages: Messages, mark: str, kind: int, start: int, detail: int, more: int) -> str:
    """Return the message for an error in the line from `start` on, of which the scanner left two numbers."""
    line = data[start : min(_next(data, start, b"\n"), start + EXCERPT + 1)].tobytes()
    if messages is CONLLU_MESSAGES and kind == k.COLUMNS and len(line) <= EXCERPT and not line.strip():
        return WHITE_SPACE
    token = (more, _next(data, more, b" \n")) if kind == k.NO_TAG else (start, None)
    return messages[kind].format(
        id=_field(data, start, 0),
        head=_field(data, start, 6),
        text=_excerpt(data, *token),
        content="only empty nodes" if detail else "no words (two empty lines in a row, or comments alone)",
        columns=pluralize(detail, "column"),
        tabbed=pluralize(detail, "tab-separated column"),
        words=pluralize(more % 10**9, "word"),
        detail=detail,
        more=more,
        high=more // 10**9,
        next=more % 10**9 + 1,
        mark=mark,
    )


def _excerpt(data: Bytes, start: int, end: int | None = None) -> str:
    """Quote the beginning of a line."""
    stop = min(_next(data, start, b"\r\n"), start + 4 * EXCERPT + 1, len(data) if end is None else end)
    text = data[start:stop].tobytes().decode("utf-8", "replace")
    return repr(text if len(text) <= EXCERPT else text[:EXCERPT] + "...")


def _field(data: Bytes, start: int, index: int) -> str:
    """Quote one tab-separated field of a line."""
    for _ in range(index):
        start = _next(data, start, b"\t\n") + 1
    return _excerpt(data, start, _next(data, start, b"\t\n\r"))


def _next(data: Bytes, start: int, stops: bytes) -> int:
    """Return the position of the next of some bytes; vectorized, because a line may be a gigabyte long."""
    wanted = np.zeros(256, bool)
    wanted[list(stops)] = True
    for block in range(start, len(data), 1 << 16):
        hits = wanted[data[block : block + (1 << 16)]]
        if hits.any():
            return block + int(np.argmax(hits))
    return len(data)


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


class Scan:
    """The arrays that a scanner fills, large enough for a file of so many rows, and the corpus that they make."""

    def __init__(self, data: Bytes, rows: int, width: int) -> None:
        slots = 1 << max(FIRST_MASK.bit_length(), (rows + rows // 4 + 1).bit_length())
        self.data, self.rows = data, rows
        self.codes = np.empty(width * rows, np.int32)
        self.sizes = np.ones(width, np.int64)
        self.starts = np.empty(width * rows, np.int64)
        self.lengths = np.empty(width * rows, np.int32)
        table, hashes = np.zeros(width * slots, np.int32), np.empty(width * rows, np.uint32)
        masks = np.full(width, FIRST_MASK, np.int64)
        self.tables = (table, slots, masks, self.sizes, self.starts, self.lengths, hashes)
        self.sentences = (np.empty(rows, np.int64), np.empty(2 * rows, np.int64), np.empty(rows, np.uint8))
        self.faults = np.zeros(k.FAULTS_SIZE, np.int64)
        self.out = np.zeros(k.OUT_SIZE, np.int64)
        self.heads: Codes | None = None
        self.extras: Extras | None = None

    def corpus(self, path: str, names: Sequence[str], layout: Layout, messages: Messages, *faults: Fault) -> Corpus:
        """Return the corpus, or raise the errors that the scan found and those of the caller."""
        self._raise_faults(path, messages, layout.separator, faults)
        count, words = int(self.out[k.SENTENCES]), int(self.out[k.WORDS])
        ends, comments, newdoc = self.sentences
        offsets = np.zeros(count + 1, np.int64)
        offsets[1:] = ends[:count]
        spans = comments[: 2 * count].reshape(-1, 2)
        blob = b"".join([self.data.data[a:b] for a, b in spans.tolist() if b > a])
        tail = self.data[int(self.out[k.TAIL]) :].tobytes()
        nothing = np.empty((0, len(names)), np.int32)
        return Corpus(
            name=path,
            columns={name: self._column(i, words) for i, name in enumerate(names)},
            offsets=offsets,
            heads=self.heads,
            extras=self.extras or Extras(offsets[:0], nothing[:, 0], nothing, np.zeros(count, np.int64)),
            comments=Comments(np.frombuffer(blob, np.uint8), offsets_of(spans[:, 1] - spans[:, 0]), tail),
            newdoc=newdoc[:count].astype(bool),
            layout=layout,
            parts=(Part(path, 0),),
        )

    def _raise_faults(self, path: str, messages: Messages, mark: str, more: Sequence[Fault]) -> None:
        rows = self.faults.reshape(-1, k.FAULT_SIZE)[: self.out[k.LISTED]].tolist()
        faults = [
            Fault(path, line, _describe(self.data, messages, mark, kind, *details)) for kind, line, *details in rows
        ]
        first: dict[int, Fault] = {}
        for (kind, *_), fault in zip(rows, faults, strict=True):
            first.setdefault(kind, fault)
        unlisted = {fault: max(0, int(self.out[k.KINDS + kind]) - k.LISTED_PER_KIND) for kind, fault in first.items()}
        modes = ["multiple-roots"] if k.ROOTS in first else []
        modes += ["missing-heads"] if any(fault.message.startswith("HEAD '_' of word") for fault in faults) else []
        if 0 < self.out[k.CRLF] < self.out[k.LINES]:
            newlines = np.flatnonzero(self.data == 10)
            crlf = self.data[np.maximum(newlines - 1, 0)] == 13
            message = "line ends in LF and CR LF are mixed; expected one of them throughout"
            faults.append(Fault(path, int(np.argmax(crlf != crlf[0])) + 1, message))
        modes += ["final-newline"] if NO_END in [fault.message for fault in more] else []
        faults += more
        if faults:
            raise CorpusError(faults, more=unlisted, remedies=[REMEDIES[mode] for mode in modes])

    def _column(self, i: int, words: int) -> Column:
        """Return a column with its vocabulary, cut to the number of words."""
        base, size = i * self.rows, int(self.sizes[i])
        starts, lengths = self.starts[base : base + size], self.lengths[base : base + size]
        lengths[0] = 1
        blob = np.empty(int(lengths.sum(dtype=np.int64)) + BLOB_PADDING, np.uint8)
        blob[-BLOB_PADDING:] = 0
        offsets = np.empty(size + 1, np.int64)
        gather(self.data, starts, lengths, size, blob, offsets)
        return Column(self.codes[base : base + words], Vocabulary(blob, offsets))

    def with_empty_line(self) -> Bytes:
        """Return the data with the empty line that the last sentence lacks."""
        newline = b"\r\n" if self.out[k.CRLF] else b"\n"
        return np.concatenate([self.data, np.frombuffer(newline + bytes(PADDING), np.uint8)])[:-PADDING]

    def layout(self, format: str, separator: str, size: int) -> Layout:
        """Return the layout of a file of `size` bytes, to which a newline or an empty line may have been added."""
        return Layout(format, bool(self.out[k.CRLF]), separator, self.data[size:].tobytes())


def read_conllu(path: str, buffer: Bytes, *, lenient: frozenset[str], format: str = "conllu") -> Corpus:
    """Parse the bytes of a CoNLL-U or CoNLL-X file; `buffer` ends with padding."""
    bits = sum(bit for name, bit in LENIENT.items() if name in lenient)
    scan = _scan_conllu(check_text(path, buffer), bits)
    end_faults = []
    if scan.out[k.UNFINISHED]:
        if "final-newline" not in lenient:
            end_faults.append(Fault(path, int(scan.out[k.LINES]), NO_END))
        scan = _scan_conllu(scan.with_empty_line(), bits)
    layout = scan.layout(format, "\t", len(buffer) - PADDING)
    return scan.corpus(path, k.STRING_COLUMNS, layout, CONLLU_MESSAGES, *end_faults)


def _scan_conllu(data: Bytes, lenient: int) -> Scan:
    rows = count_lines(data) + 1
    width = len(k.STRING_COLUMNS)
    scan = Scan(data, rows, width)
    heads, marks = np.empty(rows, np.int32), np.empty(rows + 2, np.int32)
    at, span, ends = np.empty(rows, np.int64), np.empty(rows, np.int32), np.empty(rows, np.int64)
    k.scan(data, lenient, scan.codes, heads, rows, *scan.tables, at, span, ends, *scan.sentences, marks, scan.faults,
           scan.out)  # fmt: skip
    words, count = int(scan.out[k.WORDS]), int(scan.out[k.EXTRAS])
    codes = scan.codes.reshape(width, rows)[:, rows - count :][:, ::-1].T.copy()
    scan.extras = Extras(at[:count].copy(), span[:count].copy(), codes, ends[: int(scan.out[k.SENTENCES])].copy())
    if words == 0 or heads[:words].max() >= 0:
        scan.heads = heads[:words]
    return scan


def read_columns(
    path: str, buffer: Bytes, *, names: Sequence[str] | None = None, separator: str | None = None
) -> Corpus:
    """Parse a file with one word per line and an empty line after each sentence."""
    data = check_text(path, buffer)
    first, number = _first_line(data)
    separator = separator or ("\t" if "\t" in first else " ")
    width = first.count(separator) + 1 if first else len(names or ("form",))
    if names is None:
        names = USUAL_NAMES.get(width) or ("form", *(f"column{i}" for i in range(2, width + 1)))
    elif len(names) != width:
        message = f"{pluralize(width, 'column')}; expected {len(names)}: {', '.join(names)}"
        raise CorpusError([Fault(path, number, message)])
    scan = _scan_columns(data, separator, width)
    if scan.out[k.UNFINISHED] and not scan.out[k.FAULTS]:
        scan = _scan_columns(scan.with_empty_line(), separator, width)
    return scan.corpus(path, names, scan.layout("columns", separator, len(buffer) - PADDING), COLUMN_MESSAGES)


def _scan_columns(data: Bytes, separator: str, width: int) -> Scan:
    scan = Scan(data, count_lines(data) + 1, width)
    k.scan_columns(data, ord(separator), width, scan.codes, scan.rows, *scan.tables, *scan.sentences, scan.faults,
                   scan.out)  # fmt: skip
    return scan


def _first_line(data: Bytes) -> tuple[str, int]:
    """Return the first line with a word, which tells columns and separator, and its line number."""
    hash_line = None  # a comment, or the word #
    for number, line in enumerate(data[: 1 << 20].tobytes().split(b"\n"), start=1):
        text = line.decode("utf-8", "replace").rstrip("\r")
        if text and not text.startswith(("-DOCSTART-", "#")):
            return text, number
        hash_line = hash_line or ((text, number) if text.startswith("#") else None)
    return hash_line or ("", 0)


def read_tagged(path: str, buffer: Bytes, *, mark: str = "_") -> Corpus:
    """Parse text with one sentence per line, in which every token is a word, a separator and a tag."""
    if len(mark.encode()) != 1 or mark.isspace():
        raise InputError(f"tag separator {mark!r}; expected one character such as '_' or '/'")
    data = check_text(path, buffer)
    scan = Scan(data, int(np.count_nonzero((data == 32) | (data == 10))) + 1, 2)
    k.scan_tagged(data, ord(mark), scan.codes, scan.rows, *scan.tables, *scan.sentences, scan.faults, scan.out)
    layout = scan.layout("tagged", mark, len(buffer) - PADDING)
    return scan.corpus(path, ("form", "tag"), layout, TAGGED_MESSAGES)
