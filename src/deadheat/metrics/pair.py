"""Gold and prediction side by side: which words correspond, and the units that are counted."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Codes, Indices, shared_keys
from deadheat.errors import AlignmentError, InputError, NameUnknown
from deadheat.kernels.alignment import align_words
from deadheat.text import pluralize


def without_spaces(form: str) -> str:
    """A form without characters of Unicode category Zs, as the official evaluation compares text."""
    if form.isascii():
        return form.replace(" ", "")
    return "".join(c for c in form if unicodedata.category(c) != "Zs")


@dataclass(frozen=True, eq=False)
class Surface:
    """The text of a corpus without spaces, and the place in it of each word, token and sentence.

    Words of a multiword token all have its place. A token is a multiword token or a word outside of one.
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

    def word_at(self, place: int) -> int:
        """The word that covers a place in the text, or the last one."""
        return min(int(np.searchsorted(self.ends, place, side="right")), self.corpus.words - 1)


def surface(corpus: Corpus) -> Surface:
    """Spell a corpus out."""
    form, extras = corpus.column("form"), corpus.extras
    stripped = [without_spaces(string) for string in form.vocabulary.strings]
    lengths = np.array([len(each) for each in stripped], np.int64)
    multiword = extras.span > 0
    at, span = extras.at[multiword], extras.span[multiword].astype(np.int64)
    first = np.ones(corpus.words, bool)
    inside = np.repeat(at, span) + np.arange(span.sum()) - np.repeat(np.cumsum(span) - span, span)
    in_multiword = np.zeros(corpus.words, bool)
    in_multiword[inside] = True
    first[inside] = False
    first[at] = True
    codes = form.codes.copy()
    if len(at):
        codes[at] = extras.codes[multiword, list(corpus.columns).index("form")]
    word_lengths = np.where(first, lengths[codes], 0)
    ends = np.cumsum(word_lengths)
    starts = ends - word_lengths
    token_starts, token_ends = starts[first], ends[first]
    starts[inside], ends[inside] = np.repeat(starts[at], span), np.repeat(ends[at], span)
    text = "".join([stripped[code] for code in codes[first].tolist()])
    return Surface(corpus, text, starts, ends, in_multiword, token_starts, token_ends)


def check_same_text(gold: Surface, predicted: Surface) -> None:
    """Raise if two corpora do not spell the same text, with the first place where they part."""
    if gold.text == predicted.text:
        return
    place = _first_difference(gold.text, predicted.text)
    where = [_place(each, place) for each in (predicted, gold)]
    shown = [repr(each.text[place : place + 20]) for each in (predicted, gold)]
    raise AlignmentError(
        f"{where[0]}: the words do not spell the text of {where[1]}: {shown[0]} against {shown[1]}; expected the same "
        "characters, spaces aside (--align position does not compare words)"
    )


def _place(side: Surface, place: int) -> str:
    if not side.corpus.words:
        return f"{side.corpus.name} (empty)"
    path, line = side.corpus.line_of_word(side.word_at(place))
    return f"{path}:{line}"


def _first_difference(a: str, b: str) -> int:
    low, high = 0, min(len(a), len(b))
    while low < high:  # the longest common prefix, by halving
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


T = TypeVar("T")
Flags = NDArray[np.bool_]
ALIGNMENTS = ("text", "position")
UNITS = ("sentence", "document", "token")


@dataclass(frozen=True, eq=False)
class Units:
    """Consecutive stretches of both corpora that hold the same text: the rows of every table of counts.

    `sentence` units are gold sentences. Where the prediction has other sentence boundaries they are `block`s:
    the shortest runs of sentences that begin and end at the same place on both sides.
    """

    name: str
    gold: Indices  # first word of each unit
    predicted: Indices
    gold_sentences: Indices  # first sentence of each unit
    predicted_sentences: Indices

    def __len__(self) -> int:
        return len(self.gold)

    def of_gold(self, flags: NDArray[np.generic]) -> Indices:
        """Sum a number a gold word over units."""
        return _sums(flags, self.gold)

    def of_predicted(self, flags: NDArray[np.generic]) -> Indices:
        """Sum a number a predicted word over units."""
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
        """What `make` says of this pair, worked out once; metrics share what they have in common this way."""
        if make not in self._memory:
            self._memory[make] = make(self)
        return cast(T, self._memory[make])

    @cached_property
    def gold_of_predicted(self) -> Indices:
        """For every predicted word the gold word it is aligned to, or -1; one more -1 at the end, for no word."""
        found = np.full(self.predicted.words + 1, -1, np.int64)
        found[self.predicted_words] = self.gold_words
        return found

    def at_gold(self, column: NDArray[np.generic]) -> NDArray[np.generic]:
        """A column of the gold corpus at the aligned words."""
        return column if self.same_words else column[self.gold_words]

    def at_predicted(self, column: NDArray[np.generic]) -> NDArray[np.generic]:
        """A column of the prediction at the aligned words."""
        return column if self.same_words else column[self.predicted_words]

    def on_gold(self, aligned: Flags) -> Flags:
        """Flags of aligned words as flags of gold words."""
        if self.same_words:
            return aligned
        flags = np.zeros(self.gold.words, bool)
        flags[self.gold_words] = aligned
        return flags

    def equal(self, column: str, key: Callable[[str], object] | None = None) -> Flags:
        """For aligned words whether a column is equal, as it stands or by what `key` makes of it."""
        if key is not None:
            gold, predicted = self.keys(column, key)
            return np.asarray(self.at_gold(gold) == self.at_predicted(predicted))
        gold_column, predicted_column = self.gold.column(column), self.predicted.column(column)
        renumbered = gold_column.vocabulary.codes_of(predicted_column.vocabulary)[predicted_column.codes]
        return np.asarray(self.at_gold(gold_column.codes) == self.at_predicted(renumbered))

    def keys(self, column: str, key: Callable[[str], object]) -> tuple[Codes, Codes]:
        """What `key` makes of a column of both corpora, the same thing by the same number."""
        gold, predicted = self.gold.column(column), self.predicted.column(column)
        of_gold, of_predicted = shared_keys(gold.vocabulary, predicted.vocabulary, key)
        return of_gold[gold.codes], of_predicted[predicted.codes]

    @cached_property
    def heads_equal(self) -> Flags:
        """For aligned words whether both are roots or their heads are aligned to each other."""
        if self.same_words:
            return np.asarray(self.gold.trees == self.predicted.trees)
        gold_head = self.gold.head_words[self.gold_words]
        predicted_head = self.predicted.head_words[self.predicted_words]
        both_roots = (gold_head < 0) & (predicted_head < 0)
        return np.asarray(both_roots | ((gold_head >= 0) & (self.gold_of_predicted[predicted_head] == gold_head)))

    def require_same_words(self, metric: str) -> None:
        """For metrics that are defined only where the words are the same."""
        if not self.same_words:
            raise InputError(f"{self.predicted.name}: {metric} is defined for the gold file's words; these are others")


def align(
    gold: Corpus,
    predicted: Corpus,
    *,
    by: str = "text",
    unit: str = "sentence",
    training: Corpus | None = None,
) -> Pair:
    r"""Align a prediction to gold.

    Parameters
    ----------
    by
        `text`: both spell the same characters, spaces aside; sentence boundaries and tokens may differ, and words
        are aligned as the official Universal Dependencies evaluation does. `position`: the nth word is the nth
        word, whatever the forms; sentences must have the same lengths.
    unit
        `sentence`, `document` (of the gold corpus) or `token` (for metrics that count words).

    Examples
    --------
    >>> from deadheat.corpus import read
    >>> gold, guess = read(text="a_X b_Y\n"), read(text="a_X b_X\n")
    >>> align(gold, guess).equal("tag").tolist()
    [True, False]
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
    """Whether sentences, multiword tokens and all forms are the same: then alignment is trivial."""
    if not np.array_equal(gold.offsets, predicted.offsets):
        return False
    forms, others = gold.column("form"), predicted.column("form")
    renumber = forms.vocabulary.codes_of(others.vocabulary)
    if not np.array_equal(forms.codes, renumber[others.codes]):
        return False
    sides = []
    for corpus in (gold, predicted):
        multiword = corpus.extras.span > 0
        codes = corpus.extras.codes[multiword, list(corpus.columns).index("form")]
        sides.append((corpus.extras.at[multiword], corpus.extras.span[multiword], codes))
    (at, span, form), (other_at, other_span, other_form) = sides
    return (
        np.array_equal(at, other_at) and np.array_equal(span, other_span) and np.array_equal(form, renumber[other_form])
    )


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
    path, line = predicted.line_of_word(int(predicted.offsets[odd]))
    raise AlignmentError(
        f"{path}:{line}: sentence {odd + 1} has {pluralize(others[odd], 'word')}; expected {sizes[odd]} as in "
        f"{gold.name}, to align by position"
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
    """A number a word, equal for equal lower-cased forms; only words of multiword tokens keep their spaces."""
    form = side.corpus.column("form")
    written, stripped = (
        np.array(
            [numbers.setdefault(key(string).lower(), len(numbers)) for string in form.vocabulary.strings],
            np.int32,
        )
        for key in (str, without_spaces)
    )
    return np.where(side.in_multiword, written[form.codes], stripped[form.codes])


def _same_units(gold: Corpus, unit: str) -> Units:
    if unit == "document":
        sentences = np.flatnonzero(np.diff(gold.documents, prepend=-1))
        words = gold.offsets[sentences]
        return Units(unit, words, words, sentences, sentences)
    if unit == "token":
        words = np.arange(gold.words)
        return Units(unit, words, words, gold.sentence_of_word, gold.sentence_of_word)
    starts, every = gold.offsets[:-1], np.arange(gold.sentences)
    return Units("sentence", starts, starts, every, every)


def _common_units(gold: Surface, predicted: Surface, *, unit: str) -> Units:
    """Cut both corpora at the places where sentences (or documents) end on both sides."""
    wanted = gold.sentence_ends
    if unit == "document":
        documents = gold.corpus.documents
        wanted = wanted[np.flatnonzero(np.diff(documents, append=documents[-1:] + 1))]
    cuts = np.intersect1d(wanted, predicted.sentence_ends)
    sentences = [np.searchsorted(side.sentence_ends, cuts, side="left") + 1 for side in (gold, predicted)]
    first = [np.concatenate([[0], each[:-1]]).astype(np.int64)[: len(cuts)] for each in sentences]
    words = [side.corpus.offsets[each] for side, each in zip((gold, predicted), first, strict=True)]
    name = "sentence" if unit == "sentence" and len(cuts) == gold.corpus.sentences else "block"
    if unit == "document" and len(cuts) == len(wanted):
        name = "document"
    return Units(name, words[0], words[1], first[0], first[1])
