"""Chunks (phrases, entities) in tagged words: by conlleval's rules, or strictly by a scheme.

conlleval's rules repair invalid sequences: `O I-X` opens a chunk, `B-X I-Y` are two. Under a strict scheme, a chunk
counts only if its tags are exactly those of the scheme.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import CorpusError, Fault, NameUnknown
from deadheat.metrics.accuracy import gold_word_metric
from deadheat.metrics.metric import METRICS, Counts, Metric, f1
from deadheat.metrics.pair import Flags, Pair

O, B, I, E, S = range(5)  # noqa: E741 (the letters of the schemes)
INVALID = -1
PREFIXES = {"B": B, "I": I, "E": E, "S": S, "L": E, "U": S}
SCHEMES = {"conlleval": "BIESLU", "iob1": "BI", "bio": "BI", "iobes": "BIES", "bilou": "BILU"}

Prefixes: TypeAlias = NDArray[np.int8]
Types: TypeAlias = NDArray[np.int32]
Number = TypeVar("Number", bound=np.integer)


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """First and last word (of the corpus) of each chunk, and its type."""

    first: Indices
    last: Indices
    types: Types

    def keep(self, which: Flags) -> Chunks:
        return Chunks(self.first[which], self.last[which], self.types[which])


def chunks_of(corpus: Corpus, column: str, scheme: str, numbers: dict[str, int]) -> Chunks:
    """Find the chunks of a corpus; new types are added to `numbers`."""
    prefix, types = _read_tags(corpus, column, scheme, numbers)
    chunks = find_chunks(prefix, types, corpus.offsets)
    if scheme == "conlleval":
        return chunks
    # Keep only chunks with exactly the tags of the scheme.
    wrong = np.concatenate([[0], np.cumsum(prefix != written(chunks, scheme, prefix != O, corpus.offsets))])
    return chunks.keep(np.asarray(wrong[chunks.last + 1] == wrong[chunks.first]))


def _read_tags(corpus: Corpus, column: str, scheme: str, numbers: dict[str, int]) -> tuple[Prefixes, Types]:
    values = corpus.column(column)
    tags = values.vocabulary.strings
    prefixes, types = split_tags(tags, scheme, numbers)
    for code in np.flatnonzero(prefixes == INVALID).tolist():
        if (at := np.flatnonzero(values.codes == code)).size:
            path, line = corpus.line_of_word(int(at[0]))
            raise CorpusError([Fault(path, line, f"{column} {tags[code]!r}; {describe_scheme(scheme)}")])
    return prefixes[values.codes], types[values.codes]


def split_tags(tags: Sequence[str], scheme: str, numbers: dict[str, int]) -> tuple[Prefixes, Types]:
    """Split tags into prefixes (`INVALID` where the scheme has no such tag) and numbers of types."""
    allowed = ("O", *SCHEMES[scheme])
    parts = [tag.partition("-") for tag in tags]
    prefixes = [PREFIXES.get(letter, O) if letter in allowed else INVALID for letter, _, _ in parts]
    types = [numbers.setdefault(kind, len(numbers)) for _, _, kind in parts]
    return np.array(prefixes, np.int8), np.array(types, np.int32)


def describe_scheme(scheme: str) -> str:
    """Describe the tags of a scheme for an error message."""
    return f"expected O, {', '.join(f'{letter}-TYPE' for letter in SCHEMES[scheme])} under {scheme}"


def find_chunks(prefix: Prefixes, types: Types, offsets: Indices) -> Chunks:
    """Find chunks by conlleval's rules; `offsets` are the starts of sentences and the end of the last one."""
    first = _opens(_shifted(prefix, offsets), _shifted(types, offsets), prefix, types)
    # A chunk ends before a word outside of chunks and before a word that opens another one, as the first word of a
    # sentence does.
    inside = prefix != O
    next_opens = np.append(first[1:] | ~inside[1:], True)
    at = np.flatnonzero(first)
    return Chunks(at, np.flatnonzero(inside & next_opens), types[at])


def _shifted(values: NDArray[Number], offsets: Indices) -> NDArray[Number]:
    """Return the value of the previous word; O (or the first type) at the beginning of a sentence."""
    before = np.concatenate([values[:1] * 0, values[:-1]])
    before[offsets[:-1]] = 0
    return before


def _opens(before: Prefixes, before_type: Types, prefix: Prefixes, types: Types) -> Flags:
    """Return where conlleval starts a chunk, with S and E as in the versions in circulation."""
    fresh = (prefix == B) | (prefix == S)
    after_end = (before == O) | (before == E) | (before == S)
    return np.asarray((prefix != O) & (fresh | after_end | (before_type != types)))


def written(chunks: Chunks, scheme: str, inside: Flags, offsets: Indices) -> Prefixes:
    """Return the prefixes of all words under a scheme; `inside` flags the words of chunks."""
    prefix = np.where(inside, np.int8(I), np.int8(O))
    if scheme == "iob1":
        follows = np.zeros(len(chunks.first), bool)
        follows[1:] = (chunks.last[:-1] + 1 == chunks.first[1:]) & (chunks.types[:-1] == chunks.types[1:])
        follows &= ~np.isin(chunks.first, offsets[:-1])
        prefix[chunks.first[follows]] = B
    else:
        prefix[chunks.first] = B
        if scheme in ("iobes", "bilou"):
            prefix[chunks.last] = E
            prefix[chunks.first[chunks.first == chunks.last]] = S
    return prefix


def in_both(gold: Chunks, predicted: Chunks, words: int) -> Flags:
    """Flag the gold chunks that are predicted with the same first word, last word and type."""
    # Chunks of one corpus all have different first words, so they can be looked up by them.
    at = np.full(words + 1, -1)
    at[predicted.first] = np.arange(len(predicted.first))
    other = at[gold.first]
    same = other >= 0
    same[same] = (gold.last[same] == predicted.last[other[same]]) & (gold.types[same] == predicted.types[other[same]])
    return np.asarray(same)


@METRICS.add("chunks.v1")
def chunks(*, column: str = "chunk", scheme: str = "conlleval", label: str = "") -> Metric:
    """F1 of chunks with the same first word, last word and type.

    `scheme`: `conlleval` repairs invalid sequences; `iob1`, `bio`, `iobes` and `bilou` are strict. `label`: one type
    only.
    """
    if scheme not in SCHEMES:
        raise NameUnknown("chunks.v1: scheme", scheme, list(SCHEMES))

    def counts(pair: Pair) -> Counts:
        numbers: dict[str, int] = {"": 0}
        sides = [chunks_of(corpus, column, scheme, numbers) for corpus in (pair.gold, pair.predicted)]
        if label:
            wanted = numbers.get(label, -1)
            sides = [side.keep(side.types == wanted) for side in sides]
        gold, predicted = sides
        same = in_both(gold, predicted, pair.gold.words)
        columns = []
        for first in (gold.first[same], gold.first, predicted.first):
            flags = np.zeros(pair.gold.words, np.int64)
            flags[first] = 1
            columns.append(pair.units.of_gold(flags))
        return np.stack(columns, axis=1)

    rules = "" if scheme == "conlleval" else f", {scheme}"
    return gold_word_metric("chunks.v1", label or f"Chunk F1 ({column}{rules})", column, counts, f1)
