"""Read CoNLL-U, and CoNLL-X, whose ten columns are read the same way."""

from __future__ import annotations

import numpy as np

from deadheat.corpus.corpus import Corpus, Extras, Layout, Part
from deadheat.corpus.faults import WORDS as FAULT_WORDS
from deadheat.corpus.scanning import Room, checked_text, count_lines
from deadheat.corpus.source import PADDING
from deadheat.corpus.vocabulary import Bytes
from deadheat.errors import Fault
from deadheat.kernels import conllu as k

LENIENT = {"multiple-roots": k.MULTIPLE_ROOTS, "missing-heads": k.MISSING_HEADS}


def read_conllu(path: str, buffer: Bytes, *, lenient: frozenset[str], format: str = "conllu") -> Corpus:
    """A corpus from the bytes of one file; `buffer` has padding behind them."""
    size = len(buffer) - PADDING
    data = checked_text(path, buffer)
    bits = sum(bit for name, bit in LENIENT.items() if name in lenient)
    room, heads, extras = _scan(data, bits)
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
        room, heads, extras = _scan(data, bits)
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


def _scan(data: Bytes, lenient: int) -> tuple[Room, np.ndarray, Extras]:
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
