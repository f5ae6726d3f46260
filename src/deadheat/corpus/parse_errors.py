"""Error messages for what the scanners find wrong in a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from deadheat.corpus.vocabulary import Bytes, Indices
from deadheat.errors import Fault
from deadheat.kernels import columns as column_kernels
from deadheat.kernels import conllu as k
from deadheat.text import pluralize

# By kind of error: a function of the data, where the line starts, and two numbers that the scanner left.
Messages: TypeAlias = dict[int, Callable[[Bytes, int, int, int], str]]

MAX_LISTED = 20  # errors listed per file
EXCERPT = 40  # characters of a line quoted in a message


def excerpt(data: Bytes, start: int, end: int | None = None) -> str:
    """Quote the beginning of a line."""
    stop = start
    while stop < len(data) and data[stop] not in (10, 13) and stop - start <= 4 * EXCERPT and stop != end:
        stop += 1
    text = data[start:stop].tobytes().decode("utf-8", "replace")
    return repr(text if len(text) <= EXCERPT else text[:EXCERPT] + "...")


def field_of(data: Bytes, start: int, index: int) -> str:
    """Quote one tab-separated field of a line."""
    for _ in range(index):
        start = _next(data, start, b"\t\n") + 1
    return excerpt(data, start, _next(data, start, b"\t\n\r"))


def _next(data: Bytes, start: int, stops: bytes) -> int:
    """Return the position of the next of some bytes; vectorized, because a line may be a gigabyte long."""
    wanted = np.zeros(256, bool)
    wanted[list(stops)] = True
    for block in range(start, len(data), 1 << 16):
        hits = wanted[data[block : block + (1 << 16)]]
        if hits.any():
            return block + int(np.argmax(hits))
    return len(data)


def _columns(data: Bytes, start: int, count: int, _: int) -> str:
    stop = _next(data, start, b"\n")
    if stop - start <= EXCERPT and not data[start:stop].tobytes().strip():
        return "a line of white space; expected an empty line after a sentence"
    return f"{pluralize(count, 'tab-separated column')}; expected 10 in {excerpt(data, start)}"


def _empty_sentence(data: Bytes, start: int, has_nodes: int, _: int) -> str:
    what = "only empty nodes" if has_nodes else "no words (two empty lines in a row, or comments alone)"
    return f"a sentence with {what}; expected at least one word"


CONLLU_MESSAGES: Messages = {
    k.COLUMNS: _columns,
    k.WORD_ID: lambda data, start, _, __: f"word id {field_of(data, start, 0)}; expected a plain number from 1 on",
    k.WORD_ORDER: lambda data, start, _, due: f"word id {field_of(data, start, 0)} out of order; expected {due}",
    k.HEAD_SYNTAX: lambda data, start, _, __: (
        f"HEAD {field_of(data, start, 6)} of word {field_of(data, start, 0)}; expected 0 or the number of a word"
    ),
    k.EXTRA_HEAD: lambda data, start, _, __: (
        f"HEAD {field_of(data, start, 6)} of {field_of(data, start, 0)}, which is no word; expected '_'"
    ),
    k.HEAD_RANGE: lambda data, start, word, packed: (
        f"word {word} has head {packed // 10**9}; the sentence has {pluralize(packed % 10**9, 'word')}"
    ),
    k.CYCLE: lambda data, start, word, head: f"word {word} (head {head}) is on a cycle; expected a tree",
    k.ROOTS: lambda data, start, word, roots: (
        f"word {word} is a second root of {roots}; expected one root per sentence (--multiple-roots accepts more)"
    ),
    k.SOME_HEADS: lambda data, start, word, missing: (
        f"{pluralize(missing, 'word')} without a head; expected heads for all words of the sentence or for none"
    ),
    k.EMPTY_FORM: lambda data, start, _, __: f"empty FORM of {field_of(data, start, 0)}; expected a word",
    k.EMPTY_SENTENCE: _empty_sentence,
    k.COMMENT_INSIDE: lambda data, start, _, __: (
        f"a comment inside a sentence, {excerpt(data, start)}; expected comments before its first word"
    ),
    k.RANGE_ID: lambda data, start, _, __: (
        f"multiword token id {field_of(data, start, 0)}; expected two numbers as 3-4"
    ),
    k.RANGE_ORDER: lambda data, start, _, due: (
        f"multiword token {field_of(data, start, 0)} out of order or overlapping; expected one from {due} on"
    ),
    k.RANGE_UNFINISHED: lambda data, start, last, size: (
        f"a multiword token reaches to word {last}; the sentence has {pluralize(size, 'word')}"
    ),
    k.EMPTY_NODE_ID: lambda data, start, _, packed: (
        f"empty node id {field_of(data, start, 0)}; expected {packed // 10**9}.{packed % 10**9 + 1}"
    ),
    k.LONE_RETURN: lambda data, start, _, __: (
        f"a carriage return inside the line {excerpt(data, start)}; expected none"
    ),
}

COLUMN_MESSAGES: Messages = {
    **CONLLU_MESSAGES,
    k.COLUMNS: lambda data, start, count, width: (
        f"{pluralize(count, 'column')}; expected {width} in {excerpt(data, start)}"
    ),
    k.EMPTY_FORM: lambda data, start, _, __: f"an empty word in {excerpt(data, start)}; expected a word in column 1",
    k.EMPTY_SENTENCE: lambda data, start, _, __: "a sentence without words; expected one empty line between sentences",
}


def tagged_messages(mark: str) -> Messages:
    """Return the messages for tagged text with this separator of word and tag."""

    def no_tag(data: Bytes, start: int, token: int, at: int) -> str:
        quoted = excerpt(data, at, _next(data, at, b" \n"))
        return f"token {token}, {quoted}; expected the form word{mark}TAG"

    def no_words(data: Bytes, start: int, _: int, __: int) -> str:
        return "an empty line; expected a sentence on every line"

    return {**COLUMN_MESSAGES, column_kernels.NO_TAG: no_tag, k.EMPTY_SENTENCE: no_words}


def describe_faults(path: str, data: Bytes, numbers: Indices, messages: Messages) -> list[Fault]:
    """Turn the numbers that a scanner left into errors with messages."""
    rows = numbers.reshape(-1, k.FAULT_SIZE).tolist()
    return [
        Fault(path, line, messages[kind](data, start, detail, more)) for kind, line, start, detail, more in rows if kind
    ]
