"""Chunks (phrases, entities) in tagged words: conlleval's rules, or strictly by a scheme.

conlleval's rules mend broken sequences: `O I-X` opens a chunk, `B-X I-Y` are two. A strict scheme knows a chunk
only where it is written exactly as that scheme writes it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import CorpusError, Fault, NameUnknown
from deadheat.metrics.metric import Counts, Metric, f1
from deadheat.metrics.pair import Flags, Pair
from deadheat.metrics.registry import METRICS

O, B, I, E, S = range(5)  # noqa: E741 (the letters of the schemes)
PREFIXES = {"B": B, "I": I, "E": E, "S": S, "L": E, "U": S}
SCHEMES = {"conlleval": "BIESLU", "iob1": "BI", "bio": "BI", "iobes": "BIES", "bilou": "BILU"}


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """First and last word (of the corpus) of each chunk, and its type."""

    first: Indices
    last: Indices
    types: Indices

    def keep(self, which: Flags) -> Chunks:
        return Chunks(self.first[which], self.last[which], self.types[which])


def chunks_of(corpus: Corpus, column: str, scheme: str, numbers: dict[str, int]) -> Chunks:
    """The chunks of a corpus; `numbers` gives types their numbers and grows."""
    prefix, types = _read_tags(corpus, column, scheme, numbers)
    before_prefix, before_type = _shifted(prefix, corpus), _shifted(types, corpus)
    first = _opens(before_prefix, before_type, prefix, types)
    # A chunk ends where its last word is followed by a word outside, or by one that opens another chunk.
    inside = prefix != O
    next_opens = np.append(first[1:] | ~inside[1:], True)
    next_opens[corpus.offsets[1:] - 1] = True
    found = Chunks(np.flatnonzero(first), np.flatnonzero(inside & next_opens), types[first])
    return found if scheme == "conlleval" else found.keep(_written_by(scheme, found, prefix, corpus))


def _read_tags(corpus: Corpus, column: str, scheme: str, numbers: dict[str, int]) -> tuple[Indices, Indices]:
    found = corpus.column(column)
    allowed = tuple(SCHEMES[scheme])
    prefixes, types = [], []
    for code, tag in enumerate(found.vocabulary.strings):
        letter, _, kind = tag.partition("-")
        if letter != "O" and letter not in allowed and (at := np.flatnonzero(found.codes == code)).size:
            path, line = corpus.line_of_word(int(at[0]))
            wanted = ", ".join(f"{each}-TYPE" for each in allowed)
            raise CorpusError([Fault(path, line, f"{column} {tag!r}; expected O, {wanted} under {scheme}")])
        prefixes.append(PREFIXES.get(letter, O))
        types.append(numbers.setdefault(kind, len(numbers)))
    return np.array(prefixes, np.int64)[found.codes], np.array(types, np.int64)[found.codes]


def _shifted(values: Indices, corpus: Corpus) -> Indices:
    """The value of the word before; O (or the first type) at the beginning of a sentence."""
    before = np.concatenate([values[:1] * 0, values[:-1]])
    before[corpus.offsets[:-1]] = 0
    return before


def _opens(before: Indices, before_type: Indices, prefix: Indices, types: Indices) -> NDArray[np.bool_]:
    """Where conlleval starts a chunk, with S as copies in circulation have it; E before B ends a chunk, too."""
    fresh = (prefix == B) | (prefix == S)
    after_end = (before == O) | (before == E) | (before == S)
    return np.asarray((prefix != O) & (fresh | after_end | (before_type != types)))


def _written_by(scheme: str, chunks: Chunks, prefix: Indices, corpus: Corpus) -> Flags:
    """Which chunks have exactly the tags that the scheme gives them."""
    expected = np.full(corpus.words, I)
    if scheme == "iob1":
        follows = np.zeros(len(chunks.first), bool)
        follows[1:] = (chunks.last[:-1] + 1 == chunks.first[1:]) & (chunks.types[:-1] == chunks.types[1:])
        follows &= ~np.isin(chunks.first, corpus.offsets[:-1])
        expected[chunks.first[follows]] = B
    else:
        expected[chunks.first] = B
        if scheme in ("iobes", "bilou"):
            expected[chunks.last] = E
            expected[chunks.first[chunks.first == chunks.last]] = S
    wrong = np.concatenate([[0], np.cumsum(prefix != expected)])
    return np.asarray(wrong[chunks.last + 1] == wrong[chunks.first])


@METRICS.add("chunks.v1")
def chunks(*, column: str = "chunk", scheme: str = "conlleval", label: str = "") -> Metric:
    """F1 of chunks with the same first word, last word and type.

    `scheme`: `conlleval` mends broken sequences; `iob1`, `bio`, `iobes` and `bilou` are strict. `label`: one type
    alone.
    """
    if scheme not in SCHEMES:
        raise NameUnknown("chunks.v1: scheme", scheme, list(SCHEMES))

    def counts(pair: Pair) -> Counts:
        pair.require_same_words("chunks.v1")
        numbers: dict[str, int] = {"": 0}
        sides = [chunks_of(corpus, column, scheme, numbers) for corpus in (pair.gold, pair.predicted)]
        if label:
            wanted = numbers.get(label, -1)
            sides = [side.keep(side.types == wanted) for side in sides]
        # The first words of a side's chunks are all different, so chunks can be looked up by them.
        gold, predicted = sides
        at = np.full(pair.gold.words + 1, -1)
        at[predicted.first] = np.arange(len(predicted.first))
        other = at[gold.first]
        same = other >= 0
        same[same] = (gold.last[same] == predicted.last[other[same]]) & (
            gold.types[same] == predicted.types[other[same]]
        )
        columns = []
        for first in (gold.first[same], gold.first, predicted.first):
            flags = np.zeros(pair.gold.words, np.int64)
            flags[first] = 1
            columns.append(pair.units.of_gold(flags))
        return np.stack(columns, axis=1)

    rules = "" if scheme == "conlleval" else f", {scheme}"
    return Metric("chunks.v1", label or f"Chunk F1 ({column}{rules})", counts, f1, compares=column)
