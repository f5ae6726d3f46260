"""A corpus as arrays for networks: codes of words, casing, characters and labels.

Initial vectors of a word, character or label are drawn from a hash of the string, so that a network is the same
whatever else is in the vocabularies.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Column, Indices, Vocabulary, ranges, recode

if TYPE_CHECKING:
    from jax import Array

UNKNOWN = 0  # the code of unknown words and characters
AFFIX_LENGTHS = (1, 2, 3, 4)  # in characters, of prefixes and of suffixes
BUCKETS = 1 << 12  # what affixes and features are hashed to; 0 stands for none
MOST_FEATURES = 12  # of a word
LONGEST_WORD = 16  # characters that are looked at: the first and the last half
SMALL = 64  # arrays are padded to at least this size

Arrays = Mapping[str, NDArray[np.generic]]


class Text(NamedTuple):
    """A text on the device; P splits, N words, V word types, F forms, C characters, L labels."""

    words: Array  # (N,)
    forms: Array
    cases: Array
    labels: Array
    starts: Array  # of each sentence
    lengths: Array
    spellings: Array  # (F, LONGEST_WORD) characters of each form, -1 after its end
    affixes: Array  # (F, 2 * len(AFFIX_LENGTHS)) buckets of each form's prefixes and suffixes
    train_counts: Array  # (P, V) 0: not in train, 1: once, 2: more often
    known_characters: Array  # (P, C) whether a character is in train
    known_labels: Array  # (P, L) whether a label is in train
    extra: dict[str, Array]  # of each word, for some networks: tags, heads


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """The words and characters that have vectors; code 0 of both stands for the unknown."""

    words: tuple[str, ...]
    characters: tuple[str, ...]
    keys: Mapping[str, str] = field(default_factory=dict)  # forms whose word is not the normalized form

    @classmethod
    def of(cls, forms: Iterable[str], keys: Mapping[str, str] | None = None) -> Lexicon:
        """All words and characters of some forms."""
        forms, keys = list(forms), keys or {}
        words = sorted({keys.get(form) or normalize_form(form) for form in forms})
        return cls(("", *words), ("", *sorted(set("".join(forms)))), keys)

    def codes(self, forms: Sequence[str]) -> NDArray[np.int32]:
        """The word of each form; 0 for unknown ones."""
        index = {word: code for code, word in enumerate(self.words)}
        codes = (index.get(self.keys.get(form) or normalize_form(form), UNKNOWN) for form in forms)
        return np.fromiter(codes, np.int32, len(forms))

    def spellings(self, forms: Sequence[str]) -> NDArray[np.int32]:
        """The characters of each form: (F, LONGEST_WORD)."""
        index = {letter: code for code, letter in enumerate(self.characters)}
        half = LONGEST_WORD // 2
        rows = np.full((len(forms), LONGEST_WORD), -1, np.int32)
        for row, form in zip(rows, forms, strict=True):
            letters = form if len(form) <= LONGEST_WORD else form[:half] + form[-half:]
            row[: len(letters)] = [index.get(letter, UNKNOWN) for letter in letters]
        return rows


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """Arrays of a text on the host, and the strings that codes stand for."""

    arrays: Arrays
    lexicon: Lexicon
    labels: tuple[str, ...]
    extra: Arrays = field(default_factory=dict)  # see Text
    tags: tuple[str, ...] = ()
    kinds: Mapping[str, int] = field(default_factory=dict)  # which of `extra` are labels too, and their first code

    @property
    def words(self) -> tuple[str, ...]:
        return self.lexicon.words

    @property
    def characters(self) -> tuple[str, ...]:
        return self.lexicon.characters

    def knowledge(
        self, trains: Sequence[Indices], vectors: NDArray[np.floating] | None = None
    ) -> dict[str, NDArray[np.generic]]:
        """What networks that train on these sentences, one list per split, know of words, characters and labels.

        Words that have a row in `vectors`, which is not NaN, are known to all.
        """
        counts = np.zeros((len(trains), len(self.words)), np.int8)
        characters = np.zeros((len(trains), len(self.characters)), bool)
        labels = np.zeros((len(trains), len(self.labels)), bool)
        for split, sentences in enumerate(trains):
            tokens = np.zeros(len(self.arrays["words"]), bool)
            tokens[tokens_of(self.arrays["starts"], self.arrays["lengths"], sentences)] = True
            counts[split] = np.minimum(np.bincount(self.arrays["words"][tokens], minlength=len(self.words)), 2)
            letters: Indices = np.unique(self.arrays["spellings"][np.unique(self.arrays["forms"][tokens])])
            characters[split, letters[letters >= 0]] = True
            labels[split, np.unique(self.arrays["labels"][tokens])] = True
            for name, first in self.kinds.items():
                labels[split, first + np.unique(self.extra[name][tokens])] = True
        counts[:, UNKNOWN] = 2
        if vectors is not None:
            counts[:, ~np.isnan(vectors[:, 0])] = 2
        return {"train_counts": counts, "known_characters": characters, "known_labels": labels}


@dataclass(frozen=True, slots=True)
class PaddingSizes:
    """The least sizes that the arrays of a text are padded to."""

    tokens: int = SMALL
    sentences: int = SMALL
    words: int = SMALL
    characters: int = SMALL
    labels: int = 1
    tags: int = 1


# Where compiling takes longer than training: small treebanks then share their programs.
ACCELERATOR_PADDING = PaddingSizes(1 << 16, sentences=1 << 12, words=1 << 14, characters=256, labels=64, tags=32)


def device_arrays(encoding: Encoding, knowledge: Arrays, padding: PaddingSizes) -> dict[str, Any]:
    """All arrays of a `Text`, padded to sizes that many texts share, so that they can share programs."""
    least: dict[str, tuple[int, ...]] = {
        "starts": (padding.sentences,), "lengths": (padding.sentences,), "spellings": (padding.words,),
        "affixes": (padding.words,), "train_counts": (1, padding.words), "known_characters": (1, padding.characters),
        "known_labels": (1, padding.labels),
    }  # fmt: skip

    def pad(arrays: Arrays) -> dict[str, Any]:
        return {name: _pad(array, least.get(name, (padding.tokens,))) for name, array in arrays.items()}

    return {**pad(encoding.arrays), **pad(knowledge), "extra": pad(encoding.extra)}


def encode_corpora(
    corpora: Sequence[Corpus], labels: NDArray[np.integer], names: Sequence[str], lexicon: Lexicon | None = None
) -> Encoding:
    """Arrays of concatenated corpora, with the label code of every word."""
    forms = distinct_forms(corpora)
    lexicon = lexicon or Lexicon.of(forms)
    codes = encode_columns([corpus.column("form") for corpus in corpora], forms)
    lengths = np.concatenate([np.diff(corpus.offsets).astype(np.int32) for corpus in corpora])
    cases = np.fromiter(map(casing, forms), np.int32, len(forms))
    arrays: dict[str, NDArray[np.generic]] = {
        "words": lexicon.codes(forms)[codes],
        "forms": codes,
        "cases": cases[codes],
        "labels": np.asarray(labels, np.int32),
        "starts": (np.cumsum(lengths) - lengths).astype(np.int32),
        "lengths": lengths,
        "spellings": lexicon.spellings(forms),
        "affixes": affix_buckets(forms),
    }
    return Encoding(arrays, lexicon, tuple(names))


def distinct_forms(corpora: Sequence[Corpus]) -> list[str]:
    """All distinct forms of some corpora, sorted."""
    return distinct_strings([corpus.column("form") for corpus in corpora])


def distinct_strings(columns: Sequence[Column]) -> list[str]:
    """All distinct strings that occur in some columns, sorted."""
    return sorted({column.vocabulary[code] for column in columns for code in np.unique(column.codes).tolist()})


def encode_columns(columns: Sequence[Column], strings: Sequence[str]) -> NDArray[np.int32]:
    """The index of every word's string among `strings`, for concatenated columns; -1 where it is missing."""
    vocabulary = Vocabulary.of(strings)
    return np.concatenate([recode(column, vocabulary) for column in columns])


def round_up(size: int, least: int = SMALL) -> int:
    """A size that many texts share: at most an eighth more, from 16 on."""
    size = max(size, least)
    step = 1 << max(1, (size - 1).bit_length() - 4)
    return -(-size // step) * step


def _pad(array: NDArray[np.generic], least: tuple[int, ...]) -> NDArray[np.generic]:
    """An array with zeros after the end of its first axes, one per least size."""
    widths = [(0, round_up(size, smallest) - size) for size, smallest in zip(array.shape, least, strict=False)]
    return np.pad(array, widths + [(0, 0)] * (array.ndim - len(widths)))


def tokens_of(starts: NDArray[np.generic], lengths: NDArray[np.generic], sentences: Indices) -> Indices:
    """Positions of all words of some sentences."""
    return ranges(starts[sentences].astype(np.int64), lengths[sentences].astype(np.int64))


def normalize_form(form: str) -> str:
    """A form in lower case with digits replaced by 0, as its vector is looked up."""
    return "".join("0" if letter.isdigit() else letter for letter in form.lower())


def casing(form: str) -> int:
    """What a word looks like, in the seven kinds of Reimers & Gurevych; 0 is for padding."""
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


def affix_buckets(forms: Sequence[str]) -> NDArray[np.int32]:
    """The buckets of each form's prefixes and suffixes: (F, 2 * len(AFFIX_LENGTHS)); 0 where a form is shorter."""
    affixes = [
        affix if size <= len(form) else ""
        for form in map(normalize_form, forms)
        for size in AFFIX_LENGTHS
        for affix in (f"<{form[:size]}", f">{form[-size:]}")
    ]
    return buckets_of(affixes).reshape(len(forms), 2 * len(AFFIX_LENGTHS))


def feature_buckets(columns: Sequence[Column]) -> NDArray[np.int32]:
    """The buckets of every word's features, such as `Case=Nom|Number=Sing`: (N, MOST_FEATURES)."""
    strings = distinct_strings(columns)
    parts = [[part for part in string.split("|") if part not in ("_", "")] for string in strings]
    rows = [[*features[:MOST_FEATURES], *[""] * (MOST_FEATURES - len(features))] for features in parts]
    buckets = buckets_of([part for row in rows for part in row]).reshape(len(strings), MOST_FEATURES)
    return buckets[encode_columns(columns, strings)]


def buckets_of(strings: Sequence[str]) -> NDArray[np.int32]:
    """The bucket of every string; 0 for empty ones."""
    buckets = 1 + hash_strings(strings) % (BUCKETS - 1)
    return np.where([bool(string) for string in strings], buckets, 0).astype(np.int32)


def hash_strings(strings: Sequence[str]) -> NDArray[np.uint32]:
    """A 32-bit hash of every string."""
    return np.array([zlib.crc32(string.encode("utf-8", "surrogatepass")) for string in strings], np.uint32)
