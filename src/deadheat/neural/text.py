"""A corpus as arrays for networks: codes of words, their casing, characters and labels.

Everything a network learns about a word, character or label starts from a number that depends on the string alone, so
that a network is the same whatever else stands in the vocabularies around it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Column, Indices, Vocabulary, recode

if TYPE_CHECKING:
    from jax import Array

UNKNOWN = 0  # word, character and (in predictions) nothing else
LONGEST_WORD = 16  # characters that are looked at: the first and the last half
SMALL = 64  # words, sentences and so on: what is smaller is filled up to it


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
    more: dict[str, Array]  # of each token, for some networks: tags, heads; (N) or, where splits differ, (P, N)


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """The words and characters that have vectors; number 0 of both stands for what has none."""

    words: tuple[str, ...]
    characters: tuple[str, ...]
    keys: Mapping[str, str] = field(default_factory=dict)  # forms whose word is not the form made normal

    @classmethod
    def of(cls, forms: Iterable[str], keys: Mapping[str, str] | None = None) -> Lexicon:
        """Everything that occurs in some forms."""
        forms, keys = list(forms), keys or {}
        words = sorted({keys.get(form) or normalised(form) for form in forms})
        return cls(("", *words), ("", *sorted(set("".join(forms)))), keys)

    def codes(self, forms: Sequence[str]) -> NDArray[np.int32]:
        """The word of each form; unknown ones have 0."""
        numbers = {word: at for at, word in enumerate(self.words)}
        found = (numbers.get(self.keys.get(form) or normalised(form), UNKNOWN) for form in forms)
        return np.fromiter(found, np.int32, len(forms))

    def spelled(self, forms: Sequence[str]) -> NDArray[np.int32]:
        """The characters of each form as it stands: (F, LONGEST_WORD)."""
        numbers = {letter: at for at, letter in enumerate(self.characters)}
        rows = np.full((len(forms), LONGEST_WORD), -1, np.int32)
        for at, form in enumerate(forms):
            row = [numbers.get(letter, UNKNOWN) for letter in _shown(form)]
            rows[at, : len(row)] = row
        return rows


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """Arrays of a text on the host, and the strings that codes stand for."""

    arrays: Mapping[str, NDArray[np.generic]]
    lexicon: Lexicon
    labels: tuple[str, ...]
    more: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)  # see Text
    tags: tuple[str, ...] = ()
    kinds: Mapping[str, int] = field(default_factory=dict)  # what of `more` are labels too, and where those begin

    @property
    def words(self) -> tuple[str, ...]:
        return self.lexicon.words

    @property
    def characters(self) -> tuple[str, ...]:
        return self.lexicon.characters

    def knowledge(
        self, trains: Sequence[Indices], given: NDArray[np.bool_] | None = None
    ) -> dict[str, NDArray[np.generic]]:
        """What networks that train on these sentences, a list a split, know of words, characters and labels.

        Words that are `given` a vector are known to all.
        """
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
            for name, first in self.kinds.items():
                possible[at, first + np.unique(self.more[name][inside])] = True
        seen[:, UNKNOWN] = 2
        if given is not None:
            seen[:, given] = 2
        return {"seen": seen, "legible": legible, "possible": possible}


@dataclass(frozen=True, slots=True)
class Room:
    """The least that a text is filled up to."""

    tokens: int = SMALL
    sentences: int = SMALL
    words: int = SMALL
    characters: int = SMALL
    labels: int = 1
    tags: int = 1


# Where compiling takes longer than training: small treebanks then share their programs.
ROOMY = Room(tokens=1 << 16, sentences=1 << 12, words=1 << 14, characters=256, labels=64, tags=32)


def device_arrays(encoding: Encoding, knowledge: Mapping[str, NDArray[np.generic]], room: Room) -> dict[str, Any]:
    """All arrays of a `Text`, filled up to sizes that many texts share, so that programs need not be made anew."""
    least = {"starts": room.sentences, "lengths": room.sentences, "spelled": room.words}
    filled: dict[str, Any] = {
        name: _filled(each, (least.get(name, room.tokens),)) for name, each in encoding.arrays.items()
    }
    known = {"seen": room.words, "legible": room.characters, "possible": room.labels}
    filled |= {name: _filled(each, (1, known[name])) for name, each in knowledge.items()}
    more = {
        name: _filled(each, (room.tokens,) if each.ndim == 1 else (1, room.tokens))
        for name, each in encoding.more.items()
    }
    return filled | {"more": more}


def encoded(
    corpora: Sequence[Corpus], labels: NDArray[np.integer], names: Sequence[str], lexicon: Lexicon | None = None
) -> Encoding:
    """Arrays of some corpora, one behind the other, with the label code of every token of them."""
    forms = forms_of(corpora)
    lexicon = lexicon or Lexicon.of(forms)
    codes = codes_among([corpus.column("form") for corpus in corpora], forms)
    lengths = np.concatenate([np.diff(corpus.offsets).astype(np.int32) for corpus in corpora])
    cases = np.fromiter(map(casing, forms), np.int32, len(forms))
    arrays: dict[str, NDArray[np.generic]] = {
        "words": lexicon.codes(forms)[codes],
        "forms": codes,
        "cases": cases[codes],
        "labels": np.asarray(labels, np.int32),
        "starts": (np.cumsum(lengths) - lengths).astype(np.int32),
        "lengths": lengths,
        "spelled": lexicon.spelled(forms),
    }
    return Encoding(arrays, lexicon, tuple(names))


def forms_of(corpora: Sequence[Corpus]) -> list[str]:
    """All words of some corpora, each once, in the order of the alphabet."""
    return strings_of([corpus.column("form") for corpus in corpora])


def strings_of(columns: Sequence[Column]) -> list[str]:
    """All strings that occur in some columns, each once, in the order of the alphabet."""
    return sorted({column.vocabulary[code] for column in columns for code in np.unique(column.codes).tolist()})


def codes_among(columns: Sequence[Column], strings: Sequence[str]) -> NDArray[np.int32]:
    """The place of every word's string among some, of columns one behind the other; -1 for those that are not there."""
    among = Vocabulary.of(strings)
    return np.concatenate([recode(column, among) for column in columns])


def rounded(size: int, least: int = SMALL) -> int:
    """A size that many texts share: at most an eighth more, from 16 on.

    Examples
    --------
    >>> [rounded(size, 1) for size in (0, 1, 5, 17, 1000, 43_000)], rounded(5)
    ([2, 2, 6, 18, 1024, 45056], 64)
    """
    size = max(size, least)
    step = 1 << max(1, (size - 1).bit_length() - 4)
    return -(-size // step) * step


def _filled(array: NDArray[np.generic], least: tuple[int, ...]) -> NDArray[np.generic]:
    """An array with zeros (none, false) behind its end along its first axes, as many as there are least sizes."""
    sizes = zip(array.shape, least, strict=False)
    grown = [(0, rounded(size, own) - size) for size, own in sizes]
    return np.pad(array, grown + [(0, 0)] * (array.ndim - len(grown)))


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
