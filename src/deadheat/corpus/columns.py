"""Read column files (CoNLL-2000, CoNLL-2003, two-column tagged text) and `word_TAG` text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deadheat.corpus.corpus import Corpus, Extras, Layout, Part
from deadheat.corpus.faults import COLUMN_WORDS, tagged_words
from deadheat.corpus.scanning import Room, checked_text, count_lines
from deadheat.corpus.source import PADDING
from deadheat.corpus.vocabulary import Bytes
from deadheat.errors import CorpusError, Fault, InputError
from deadheat.kernels import columns as kernels
from deadheat.kernels import conllu as k
from deadheat.text import pluralize

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
    return _corpus(path, data, room, names, Layout("columns", bool(room.out[k.CRLF]), separator, missing))


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
    return _corpus(path, data, room, ("form", "tag"), Layout("tagged", bool(room.out[k.CRLF]), mark, missing))


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


def _corpus(path: str, data: Bytes, room: Room, names: Sequence[str], layout: Layout) -> Corpus:
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
