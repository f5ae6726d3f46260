"""A corpus as arrays for networks: codes of words, their casing, characters and labels.

Everything a network learns about a word, character or label starts from a number that depends on the string alone, so
that a network is the same whatever else stands in the vocabularies around it.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jax import Array
from numpy.typing import NDArray

from deadheat.corpus.corpus import Corpus
from deadheat.errors import InputError

UNKNOWN = 0  # word, character and (in predictions) nothing else
LONGEST_WORD = 16  # characters that are looked at: the first and the last half
Indices = NDArray[np.int64]


class Text(NamedTuple):
    """What stays on the device; P splits, V words, F forms, C characters, L labels."""

    words: Array  # of each token
    forms: Array
    cases: Array
    labels: Array
    starts: Array  # of each sentence
    lengths: Array
    spelled: Array  # (F, LONGEST_WORD) characters of each form, -1 after its end
    seen: Array  # (P, V) 0: not in train, 1: once, 2: more often
    legible: Array  # (P, C) whether a character is in train
    possible: Array  # (P, L) whether a label is in train


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """Arrays of a corpus on the host, and the strings that codes stand for."""

    arrays: Mapping[str, NDArray[np.generic]]
    words: tuple[str, ...]  # normalised; 0 is the unknown word
    characters: tuple[str, ...]  # 0 is the unknown character
    labels: tuple[str, ...]

    @property
    def word_marks(self) -> NDArray[np.uint32]:
        """A number for every word that depends on it alone."""
        return marks(self.words)

    @property
    def character_marks(self) -> NDArray[np.uint32]:
        return marks(self.characters)

    @property
    def label_marks(self) -> NDArray[np.uint32]:
        return marks(self.labels)

    def text(self, trains: Sequence[Indices]) -> dict[str, NDArray[np.generic]]:
        """All arrays of a `Text` for networks that train on these sentences, a list a split."""
        own = self.arrays
        seen = np.zeros((len(trains), len(self.words)), np.int8)
        legible = np.zeros((len(trains), len(self.characters)), bool)
        possible = np.zeros((len(trains), len(self.labels)), bool)
        for at, sentences in enumerate(trains):
            inside = np.zeros(len(own["words"]), bool)
            inside[tokens_of(own["starts"], own["lengths"], sentences)] = True
            counts = np.bincount(own["words"][inside], minlength=len(self.words))
            seen[at] = np.minimum(counts, 2)
            letters = np.unique(own["spelled"][np.unique(own["forms"][inside])])
            legible[at, letters[letters >= 0]] = True
            possible[at, np.unique(own["labels"][inside])] = True
        seen[:, UNKNOWN] = 2
        return {**own, "seen": seen, "legible": legible, "possible": possible}


def encoded(corpus: Corpus, labels: NDArray[np.integer], names: Sequence[str]) -> Encoding:
    """Arrays of a corpus with the label code of every token."""
    if not corpus.words:
        raise InputError(f"{corpus.name}: no words; expected some to learn from")
    forms = corpus.column("form")
    lengths = np.diff(np.append(corpus.offsets[: corpus.sentences], corpus.words)).astype(np.int32)
    if int(lengths.min()) < 1:
        raise InputError(f"{corpus.name}: an empty sentence; expected words in every one")
    normal = [normalised(form) for form in forms.vocabulary.strings]
    distinct = sorted(set(normal))
    code = {word: at + 1 for at, word in enumerate(distinct)}
    words = ("", *distinct)
    letters = sorted({letter for form in forms.vocabulary.strings for letter in form})
    letter_code = {letter: at + 1 for at, letter in enumerate(letters)}
    # Characters are of the form as it stands; each form is a row.
    spelled = np.full((len(forms.vocabulary), LONGEST_WORD), -1, np.int32)
    for at, form in enumerate(forms.vocabulary.strings):
        row = [letter_code[letter] for letter in _shown(form)]
        spelled[at, : len(row)] = row
    word_of_form = np.array([code[word] for word in normal], np.int32)
    case_of_form = np.array([casing(form) for form in forms.vocabulary.strings], np.int32)
    arrays: dict[str, NDArray[np.generic]] = {
        "words": word_of_form[forms.codes],
        "forms": forms.codes.astype(np.int32),
        "cases": case_of_form[forms.codes],
        "labels": np.asarray(labels, np.int32),
        "starts": corpus.offsets[: corpus.sentences].astype(np.int32),
        "lengths": lengths,
        "spelled": spelled,
    }
    return Encoding(arrays, words, ("", *letters), tuple(names))


def tokens_of(starts: NDArray[np.generic], lengths: NDArray[np.generic], sentences: Indices) -> Indices:
    """Places of all tokens of some sentences."""
    own = np.asarray(lengths)[sentences].astype(np.int64)
    ends = np.cumsum(own)
    return (
        np.arange(int(ends[-1]) if len(ends) else 0)
        - np.repeat(ends - own, own)
        + np.repeat(np.asarray(starts)[sentences].astype(np.int64), own)
    )


def normalised(form: str) -> str:
    """A word as its vector is looked up: lower case, digits made alike.

    Examples
    --------
    >>> normalised("Room"), normalised("1,250")
    ('room', '0,000')
    """
    lowered = form.lower()
    return "".join("0" if letter.isdigit() else letter for letter in lowered)


def casing(form: str) -> int:
    """What a word looks like: after Reimers & Gurevych's seven kinds, and a padding kind of 0.

    Examples
    --------
    >>> [casing(form) for form in ("12", "a12345", "dog", "USA", "Dog", "B2B", "!")]
    [1, 2, 3, 4, 5, 6, 7]
    """
    digits = sum(letter.isdigit() for letter in form)
    if digits == len(form):
        return 1
    if 2 * digits > len(form):
        return 2
    if form.islower() and not digits:
        return 3
    if form.isupper() and not digits:
        return 4
    if form[:1].isupper() and not digits:
        return 5
    return 6 if digits else 7


def marks(strings: Sequence[str]) -> NDArray[np.uint32]:
    """A number for every string, the same everywhere and always."""
    return np.array([zlib.crc32(each.encode("utf-8", "surrogatepass")) for each in strings], np.uint32)


def _shown(form: str) -> str:
    if len(form) <= LONGEST_WORD:
        return form
    half = LONGEST_WORD // 2
    return form[:half] + form[-half:]
