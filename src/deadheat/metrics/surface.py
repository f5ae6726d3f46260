"""The characters of a corpus, and where in them its tokens, words and sentences lie."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import AlignmentError


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
