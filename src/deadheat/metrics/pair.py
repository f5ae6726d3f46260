"""A gold corpus and a prediction, aligned: which words correspond, and the units that are counted."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Codes, Indices, ranges, shared_keys
from deadheat.errors import AlignmentError, InputError, NameUnknown
from deadheat.kernels.alignment import align_words
from deadheat.text import pluralize


def without_spaces(form: str) -> str:
    """Remove characters of Unicode category Zs, as the official evaluation does."""
    if form.isascii():
        return form.replace(" ", "")
    return "".join(c for c in form if unicodedata.category(c) != "Zs")


@dataclass(frozen=True, eq=False)
class Surface:
    """The text of a corpus without spaces, and the character positions of words, tokens and sentences.

    A token is a multiword token or a word outside of one. Words of a multiword token have the position of the token.
    """

    corpus: Corpus
    text: str
    starts: Indices
    ends: Indices
    in_multiword: NDArray[np.bool_]
    token_starts: Indices
    token_ends: Indices

    @property
    def sentence_ends(self) -> Indices:
        return self.ends[self.corpus.offsets[1:] - 1]

    @property
    def sentence_starts(self) -> Indices:
        return self.starts[self.corpus.offsets[:-1]]


def multiword_spans(corpus: Corpus) -> tuple[Indices, Indices, Codes]:
    """Return the first word of every multiword token, its number of words, and the code of its form."""
    extras = corpus.extras
    multiword = extras.span > 0
    forms = extras.codes[multiword, list(corpus.columns).index("form")]
    return extras.at[multiword], extras.span[multiword].astype(np.int64), forms


def multiword_tokens(corpus: Corpus) -> tuple[NDArray[np.bool_], Indices]:
    """Flag the words that begin a token; also return the words of multiword tokens."""
    at, span, _ = multiword_spans(corpus)
    inside = ranges(at, span)
    first = np.ones(corpus.words, bool)
    first[inside] = False
    first[at] = True
    return first, inside


def surface(corpus: Corpus) -> Surface:
    """Find the text of a corpus, and the positions in it."""
    form = corpus.column("form")
    stripped = [without_spaces(string) for string in form.vocabulary.strings]
    lengths = np.array([len(string) for string in stripped], np.int64)
    at, span, token_forms = multiword_spans(corpus)
    first, inside = multiword_tokens(corpus)
    in_multiword = np.zeros(corpus.words, bool)
    in_multiword[inside] = True
    codes = form.codes.copy()
    codes[at] = token_forms
    word_lengths = np.where(first, lengths[codes], 0)
    ends = np.cumsum(word_lengths)
    starts = ends - word_lengths
    token_starts, token_ends = starts[first], ends[first]
    starts[inside], ends[inside] = np.repeat(starts[at], span), np.repeat(ends[at], span)
    text = "".join([stripped[code] for code in codes[first].tolist()])
    return Surface(corpus, text, starts, ends, in_multiword, token_starts, token_ends)


def check_same_text(gold: Surface, predicted: Surface) -> None:
    """Raise unless two corpora have the same text; the error names the first difference."""
    if gold.text == predicted.text:
        return
    same = (a == b for a, b in zip(gold.text, predicted.text, strict=False))
    position = next((i for i, equal in enumerate(same) if not equal), min(len(gold.text), len(predicted.text)))
    where = [_location(side, position) for side in (predicted, gold)]
    quoted = [repr(side.text[position : position + 20]) for side in (predicted, gold)]
    raise AlignmentError(
        f"{where[0]}: the text differs from {where[1]}: {quoted[0]} instead of {quoted[1]}; expected the same "
        "characters, apart from spaces (--align position does not compare words)"
    )


def _location(side: Surface, position: int) -> str:
    if not side.corpus.words:
        return f"{side.corpus.name} (empty)"
    word = min(int(np.searchsorted(side.ends, position, side="right")), side.corpus.words - 1)
    path, line = side.corpus.line_of_word(word)
    return f"{path}:{line}"


T = TypeVar("T")
Flags = NDArray[np.bool_]
ALIGNMENTS = ("text", "position")
UNITS = ("sentence", "document", "token")


@dataclass(frozen=True, eq=False)
class Units:
    """Consecutive pieces of both corpora with the same text: the rows of every table of counts.

    `sentence` units are gold sentences. Where the prediction has other sentence boundaries, units are `block`s: the
    shortest runs of sentences that begin and end at the same position in both corpora.
    """

    name: str
    gold: Indices  # first word of each unit
    predicted: Indices
    gold_sentences: Indices  # first sentence of each unit

    def __len__(self) -> int:
        return len(self.gold)

    def of_gold(self, flags: NDArray[np.generic]) -> Indices:
        """Sum a number per gold word over units."""
        return _sums(flags, self.gold)

    def of_predicted(self, flags: NDArray[np.generic]) -> Indices:
        """Sum a number per predicted word over units."""
        return _sums(flags, self.predicted)


def _sums(values: NDArray[np.generic], starts: Indices) -> Indices:
    if not len(starts):
        return np.zeros(0, np.int64)
    return np.add.reduceat(values, starts, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Pair:
    """A gold corpus and a prediction of it, aligned. Made by `align`."""

    gold: Corpus
    predicted: Corpus
    gold_words: Indices  # aligned words: gold_words[i] is predicted_words[i]
    predicted_words: Indices
    same_words: bool  # word i of the one is word i of the other
    alignment: str
    units: Units
    surfaces: tuple[Surface, Surface] | None = None
    training: Corpus | None = None

    @cached_property
    def _memory(self) -> dict[object, object]:
        return {}

    def once(self, make: Callable[[Pair], T]) -> T:
        """Return `make(self)`, computed once, so that metrics share what they have in common."""
        if make not in self._memory:
            self._memory[make] = make(self)
        return cast(T, self._memory[make])

    @cached_property
    def gold_of_predicted(self) -> Indices:
        """The gold word of every predicted word, or -1; the last entry, for "no word", is -1."""
        gold_words = np.full(self.predicted.words + 1, -1, np.int64)
        gold_words[self.predicted_words] = self.gold_words
        return gold_words

    def at_gold(self, column: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return a gold column at the aligned words."""
        return column if self.same_words else column[self.gold_words]

    def at_predicted(self, column: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return a predicted column at the aligned words."""
        return column if self.same_words else column[self.predicted_words]

    def on_gold(self, aligned: Flags) -> Flags:
        """Turn flags of aligned words into flags of gold words."""
        if self.same_words:
            return aligned
        flags = np.zeros(self.gold.words, bool)
        flags[self.gold_words] = aligned
        return flags

    def which(self, column: str, holds: Callable[[str], bool]) -> tuple[Flags, Flags]:
        """Flag the gold and the predicted words whose string in a column meets a condition."""
        return self.gold.column(column).which(holds), self.predicted.column(column).which(holds)

    def equal(self, column: str, key: Callable[[str], object] | None = None) -> Flags:
        """Return for aligned words whether a column, or a key of it, is equal; computed once."""
        if (column, key) not in self._memory:
            gold, predicted = self.gold.column(column), self.predicted.column(column)
            if key is None:
                codes, others = gold.codes, gold.vocabulary.codes_of(predicted.vocabulary)
            else:
                keys, others = shared_keys(gold.vocabulary, predicted.vocabulary, key)
                codes = keys[gold.codes]
            self._memory[column, key] = np.asarray(self.at_gold(codes) == self.at_predicted(others[predicted.codes]))
        return cast(Flags, self._memory[column, key])

    @cached_property
    def heads_equal(self) -> Flags:
        """For aligned words, whether both are roots or their heads are aligned to each other."""
        if self.same_words:
            return np.asarray(self.gold.trees == self.predicted.trees)
        gold_head = self.gold.head_words[self.gold_words]
        predicted_head = self.predicted.head_words[self.predicted_words]
        both_roots = (gold_head < 0) & (predicted_head < 0)
        return np.asarray(both_roots | ((gold_head >= 0) & (self.gold_of_predicted[predicted_head] == gold_head)))


def align(
    gold: Corpus, predicted: Corpus, *, by: str = "text", unit: str = "sentence", training: Corpus | None = None
) -> Pair:
    """Align a prediction to gold.

    By `text`: both have the same characters, apart from spaces; sentence boundaries and tokens may differ, and words
    are aligned as in the official Universal Dependencies evaluation. By `position`: word n is aligned to word n,
    whatever the forms; sentences must have the same lengths. The unit is a gold `sentence` or `document`, or a `token`.
    """
    if by not in ALIGNMENTS:
        raise NameUnknown("alignment", by, ALIGNMENTS)
    if unit not in UNITS:
        raise NameUnknown("unit", unit, UNITS)
    if by == "position":
        _check_same_lengths(gold, predicted)
    if by == "position" or _same_tokens(gold, predicted):
        everything = np.arange(gold.words)
        units = _same_units(gold, unit)
        return Pair(gold, predicted, everything, everything, True, by, units, None, training)
    sides = surface(gold), surface(predicted)
    check_same_text(*sides)
    if unit == "token":
        raise InputError(f"{predicted.name}: other tokens than {gold.name}; expected the same ones to count in tokens")
    words = _aligned_words(*sides)
    return Pair(gold, predicted, *words, False, by, _common_units(*sides, unit=unit), sides, training)


def _same_tokens(gold: Corpus, predicted: Corpus) -> bool:
    """Return whether sentences, multiword tokens and all forms are the same: then alignment is trivial."""
    if not np.array_equal(gold.offsets, predicted.offsets):
        return False
    forms, others = gold.column("form"), predicted.column("form")
    renumber = forms.vocabulary.codes_of(others.vocabulary)
    if not np.array_equal(forms.codes, renumber[others.codes]):
        return False
    (at, span, token_forms), (other_at, other_span, other_forms) = multiword_spans(gold), multiword_spans(predicted)
    if not (np.array_equal(at, other_at) and np.array_equal(span, other_span)):
        return False
    return np.array_equal(token_forms, renumber[other_forms])


def _check_same_lengths(gold: Corpus, predicted: Corpus) -> None:
    if np.array_equal(gold.offsets, predicted.offsets):
        return
    if gold.sentences != predicted.sentences:
        raise AlignmentError(
            f"{predicted.name}: {pluralize(predicted.sentences, 'sentence')}; expected {gold.sentences:,} as in "
            f"{gold.name}, to align by position"
        )
    sizes, others = np.diff(gold.offsets), np.diff(predicted.offsets)
    odd = int(np.argmax(sizes != others))
    raise AlignmentError(
        f"{predicted.location(odd)}: sentence {odd + 1} has {pluralize(others[odd], 'word')}; expected {sizes[odd]} "
        f"as in {gold.name}, to align by position"
    )


def _aligned_words(gold: Surface, predicted: Surface) -> tuple[Indices, Indices]:
    numbers: dict[str, int] = {}
    sides = [
        (side.starts, side.ends, side.in_multiword.view(np.uint8), _lowered(side, numbers))
        for side in (gold, predicted)
    ]
    most = min(gold.corpus.words, predicted.corpus.words)
    into = np.empty(most, np.int64), np.empty(most, np.int64)
    scratch = 1 << 14
    while True:
        aligned = align_words(*sides[0], *sides[1], np.empty(scratch, np.int32), *into)
        if aligned >= 0:
            return into[0][:aligned], into[1][:aligned]
        scratch = -aligned


def _lowered(side: Surface, numbers: dict[str, int]) -> Codes:
    """Number lower-cased forms, equal ones alike; only words of multiword tokens keep their spaces."""
    form = side.corpus.column("form")
    written, stripped = (
        np.array(
            [numbers.setdefault(key(string).lower(), len(numbers)) for string in form.vocabulary.strings], np.int32
        )
        for key in (str, without_spaces)
    )
    return np.where(side.in_multiword, written[form.codes], stripped[form.codes])


def _same_units(gold: Corpus, unit: str) -> Units:
    if unit == "document":
        sentences = np.flatnonzero(np.diff(gold.documents, prepend=-1))
        words = gold.offsets[sentences]
        return Units(unit, words, words, sentences)
    if unit == "token":
        words = np.arange(gold.words)
        return Units(unit, words, words, gold.sentence_of_word)
    starts = gold.offsets[:-1]
    return Units("sentence", starts, starts, np.arange(gold.sentences))


def _common_units(gold: Surface, predicted: Surface, *, unit: str) -> Units:
    """Cut both corpora where sentences (or documents) end in both."""
    wanted = gold.sentence_ends
    if unit == "document":
        documents = gold.corpus.documents
        wanted = wanted[np.flatnonzero(np.diff(documents, append=documents[-1:] + 1))]
    cuts = np.intersect1d(wanted, predicted.sentence_ends)
    sentences = [np.searchsorted(side.sentence_ends, cuts, side="left") + 1 for side in (gold, predicted)]
    first = [np.concatenate([[0], ends[:-1]]).astype(np.int64)[: len(cuts)] for ends in sentences]
    words = [side.corpus.offsets[starts] for side, starts in zip((gold, predicted), first, strict=True)]
    name = "sentence" if unit == "sentence" and len(cuts) == gold.corpus.sentences else "block"
    if unit == "document" and len(cuts) == len(wanted):
        name = "document"
    return Units(name, words[0], words[1], first[0])
