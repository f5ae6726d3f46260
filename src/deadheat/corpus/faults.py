"""The words for what the scanners find: where, what is wrong, what was expected."""

from __future__ import annotations

from collections.abc import Callable

from deadheat.corpus.vocabulary import Bytes, Indices
from deadheat.errors import Fault
from deadheat.kernels import columns as column_kernels
from deadheat.kernels import conllu as k

MOST = 20  # faults listed of one file
SHOWN = 40  # characters of a line shown in a message


def excerpt(data: Bytes, start: int, end: int | None = None) -> str:
    """The beginning of a line, quoted, for a message."""
    stop = start
    while stop < len(data) and data[stop] not in (10, 13) and stop - start < 4 * SHOWN and stop != end:
        stop += 1
    text = data[start:stop].tobytes().decode("utf-8", "replace")
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")


def field_of(data: Bytes, start: int, index: int) -> str:
    """One tab-separated field of a line, quoted."""
    for _ in range(index):
        while data[start] not in (9, 10):
            start += 1
        start += 1
    stop = start
    while data[stop] not in (9, 10, 13):
        stop += 1
    return excerpt(data, start, stop)


def _columns(data: Bytes, start: int, found: int, _: int) -> str:
    line = excerpt(data, start)
    if not line.strip("'\" "):
        return "a line of blanks; a sentence ends with an empty line"
    columns = "column" if found == 1 else "columns"
    return f"{found} tab-separated {columns}; expected 10 in {line}"


def _empty_sentence(data: Bytes, start: int, opened: int, _: int) -> str:
    what = "only empty nodes" if opened else "no words (two empty lines in a row, or comments alone)"
    return f"a sentence with {what}; expected at least one word"


WORDS: dict[int, Callable[[Bytes, int, int, int], str]] = {
    k.COLUMNS: _columns,
    k.WORD_ID: lambda data, start, _, __: f"word id {field_of(data, start, 0)}; expected a number",
    k.WORD_ORDER: lambda data, start, _, due: f"word id {field_of(data, start, 0)} out of order; expected {due}",
    k.HEAD_SYNTAX: lambda data, start, _, __: (
        f"HEAD {field_of(data, start, 6)} of word {field_of(data, start, 0)}; expected 0 or the number of a word"
    ),
    k.EXTRA_HEAD: lambda data, start, _, __: (
        f"HEAD {field_of(data, start, 6)} of {field_of(data, start, 0)}, which is no word; expected '_'"
    ),
    k.HEAD_RANGE: lambda data, start, word, packed: (
        f"word {word} has head {packed // 10**9}; the sentence has {packed % 10**9} words"
    ),
    k.CYCLE: lambda data, start, word, head: f"word {word} (head {head}) is on a cycle; expected a tree",
    k.ROOTS: lambda data, start, word, roots: f"word {word} is a second root of {roots}; expected one root a sentence",
    k.SOME_HEADS: lambda data, start, word, missing: f"{missing} words without a head among words that have one",
    k.EMPTY_FORM: lambda data, start, _, __: f"empty FORM of {field_of(data, start, 0)}; expected a word",
    k.EMPTY_SENTENCE: _empty_sentence,
    k.COMMENT_INSIDE: lambda data, start, _, __: (
        f"a comment inside a sentence, {excerpt(data, start)}; comments stand before its first word"
    ),
    k.RANGE_ID: lambda data, start, _, __: f"multiword token id {field_of(data, start, 0)}; expected two numbers as 3-4",
    k.RANGE_ORDER: lambda data, start, _, due: (
        f"multiword token {field_of(data, start, 0)} out of place; expected a range that starts at {due}"
    ),
    k.RANGE_UNFINISHED: lambda data, start, last, size: (
        f"a multiword token reaches to word {last}; the sentence has {size} words"
    ),
    k.EMPTY_NODE_ID: lambda data, start, _, due: f"empty node id {field_of(data, start, 0)}; expected {due}.1 or the next",
    k.LONE_RETURN: lambda data, start, _, __: f"a carriage return inside the line {excerpt(data, start)}; expected none",
}

COLUMN_WORDS: dict[int, Callable[[Bytes, int, int, int], str]] = {
    **WORDS,
    k.COLUMNS: lambda data, start, found, width: f"{found} columns; expected {width} in {excerpt(data, start)}",
    k.EMPTY_FORM: lambda data, start, _, __: f"an empty word in {excerpt(data, start)}; expected a word in column 1",
    k.EMPTY_SENTENCE: lambda data, start, _, __: "a sentence without words; expected one empty line between sentences",
    column_kernels.NO_TAG: lambda data, start, token, at: (
        f"token {token}, {excerpt(data, at).split(' ')[0].strip(chr(39))!r}, is not of the form word_TAG"
    ),
}


def describe(path: str, data: Bytes, found: Indices, words: dict[int, Callable[..., str]]) -> list[Fault]:
    """Faults with their words, from the numbers a scanner left."""
    rows = found.reshape(-1, k.FAULT_SIZE).tolist()
    return [Fault(path, line, words[kind](data, start, detail, more)) for kind, line, start, detail, more in rows if kind]
