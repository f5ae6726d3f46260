"""Features of words as integers: what a word is, looks like, and stands beside.

Every feature of the training text has a row, and a word is the list of its rows, one per template; row 0 stands for no
feature. A model adds up the weights of the rows. Strings are looked up, never codes, so that a model does not depend on
what else the vocabularies of its training corpus contain. Unseen features are row 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Codes, Column, Indices, Vocabulary, recode
from deadheat.errors import InputError
from deadheat.systems.system import training_labels

MARGIN = 2  # positions beyond either end of a sentence that templates may look at
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Templates:
    """Which features a word has: words and pairs of words around it, its first and last letters, its shape."""

    words: tuple[int, ...] = (0, -1, 1, -2, 2)
    pairs: tuple[tuple[int, int], ...] = ((-1, 0), (0, 1), (-2, -1), (1, 2))
    prefixes: int = 4
    suffixes: int = 4
    shapes: tuple[str, ...] = ("digit", "hyphen", "upper")
    normal: bool = False  # the word in lower case with all digits alike

    def of_form(self, form: str) -> list[str]:
        """The features that a word has by itself; empty where it has none."""
        length, lowered = len(form), form.lower()
        features = ["<" + form[:size] if size <= length else "" for size in range(1, self.prefixes + 1)]
        features += [">" + form[-size:] if size <= length else "" for size in range(1, self.suffixes + 1)]
        holds = {
            "digit": _DIGIT.search(form) is not None,
            "hyphen": "-" in form,
            "upper": form != lowered,
            "capitals": form != lowered and form == form.upper(),
        }
        features += [shape if holds[shape] else "" for shape in self.shapes]
        if self.normal:
            features.append("=" + _DIGIT.sub("#", lowered))
        return features


@dataclass(frozen=True, slots=True, eq=False)
class FeatureIndex:
    """The features of a training corpus and their rows."""

    templates: Templates
    forms: Vocabulary
    of_forms: dict[str, int]
    pairs: dict[int, Indices]  # sorted keys of the pairs of words that training saw, by their distance

    @classmethod
    def of(cls, corpus: Corpus, templates: Templates) -> FeatureIndex:
        """Number the features of a corpus."""
        forms = seen_strings(corpus.column("form"))
        of_forms: dict[str, int] = {"": 0}
        for form in forms:
            for feature in templates.of_form(form):
                of_forms.setdefault(feature, len(of_forms))
        padded, _ = _padded(corpus, forms)
        distances = {second - first for first, second in templates.pairs}
        pairs = {distance: np.unique(_keys(padded, distance, len(forms))) for distance in distances}
        return cls(templates, forms, of_forms, pairs)

    @property
    def size(self) -> int:
        """The number of rows, row 0 among them."""
        of_pairs = sum(len(self.pairs[second - first]) for first, second in self.templates.pairs)
        return len(self.of_forms) + len(self.templates.words) * (len(self.forms) + 2) + of_pairs

    @property
    def width(self) -> int:
        """The number of rows of a word, one per template."""
        return len(self.templates.of_form("")) + len(self.templates.words) + len(self.templates.pairs)

    def rows(self, corpus: Corpus) -> Codes:
        """The rows of every word of a corpus, one word after the other."""
        padded, positions = _padded(corpus, self.forms)
        blocks = [self._rows_of_forms(corpus)]
        base, size = len(self.of_forms), len(self.forms) + 2
        for offset in self.templates.words:
            codes = padded[positions + offset]
            blocks.append(np.where(codes < size, base + codes, 0)[:, None])
            base += size
        numbers = {}  # of every pair among those that training saw; -1 for others
        for distance, seen in self.pairs.items():
            keys = _keys(padded, distance, len(self.forms))
            at = np.minimum(np.searchsorted(seen, keys), len(seen) - 1)
            numbers[distance] = np.where(seen[at] == keys, at, -1)
        for first, second in self.templates.pairs:
            number = numbers[second - first][positions + first]
            blocks.append(np.where(number >= 0, base + number, 0)[:, None])
            base += len(self.pairs[second - first])
        return np.concatenate(blocks, axis=1, dtype=np.int32, casting="unsafe").ravel()

    def _rows_of_forms(self, corpus: Corpus) -> Codes:
        column = corpus.column("form")
        used = np.flatnonzero(column.frequencies())
        strings = column.vocabulary.strings
        rows = [self.of_forms.get(feature, 0) for code in used for feature in self.templates.of_form(strings[code])]
        index = np.zeros(len(strings), np.int64)
        index[used] = np.arange(len(used))
        table = np.array(rows, np.int32).reshape(len(used), len(self.templates.of_form("")))
        return np.take(table, index[column.codes], axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class TagDictionary:
    """The tags that frequent words were seen with; a word may take no others. List 0 has all tags.

    The tags of list l are `tags[starts[l] : starts[l + 1]]`, and `lists` has the list of every known form.
    """

    tags: Codes
    starts: Indices
    lists: Codes

    @classmethod
    def of(cls, words: Codes, gold: Codes, sizes: tuple[int, int], *, least: int) -> TagDictionary:
        """From the form and the tag of every word, and how many of both there are; `least` 0 makes no lists."""
        n_forms, n_tags = sizes
        frequencies = np.bincount(words, minlength=n_forms)
        frequent = (frequencies >= least) if least > 0 else np.zeros(n_forms, bool)
        seen = np.unique(words.astype(np.int64) * n_tags + gold)
        forms, tags = seen // n_tags, seen % n_tags
        kept = frequent[forms]
        lists = np.where(frequent, np.cumsum(frequent), 0).astype(np.int32)
        counts = np.bincount(lists[forms[kept]], minlength=int(frequent.sum()) + 1)
        counts[0] = n_tags
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        return cls(np.concatenate([np.arange(n_tags), tags[kept]]).astype(np.int32), starts, lists)


@dataclass(frozen=True, slots=True, eq=False)
class EncodedCorpus:
    """A corpus as a model sees it: rows of every word, its list of tags, and where sentences begin and end."""

    rows: Codes
    lists: Codes
    offsets: Indices

    @property
    def longest(self) -> int:
        """Words of the longest sentence, or 1."""
        return int(np.diff(self.offsets).max(initial=1))


@dataclass(frozen=True, slots=True, eq=False)
class Encoder:
    """What training learns about words and tags before it learns weights."""

    column: str
    tags: Vocabulary
    index: FeatureIndex
    dictionary: TagDictionary

    @classmethod
    def of(cls, corpus: Corpus, tags: Vocabulary, column: str, templates: Templates, *, least: int) -> Encoder:
        """From a training corpus; words seen `least` times get a list of tags."""
        index = FeatureIndex.of(corpus, templates)
        words = recode(corpus.column("form"), index.forms)
        gold = recode(corpus.column(column), tags)
        sizes = (len(index.forms), len(tags))
        return cls(column, tags, index, TagDictionary.of(words, gold, sizes, least=least))

    def encode(self, corpus: Corpus) -> EncodedCorpus:
        """Words as rows; labels are ignored."""
        words = recode(corpus.column("form"), self.index.forms)
        lists = np.where(words >= 0, self.dictionary.lists[words], 0).astype(np.int32)
        return EncodedCorpus(self.index.rows(corpus), lists, corpus.offsets)

    def gold(self, corpus: Corpus) -> Codes:
        """The label of every word by its number among the tags; -1 for one that training did not see."""
        return recode(corpus.column(self.column), self.tags)


def training_tags(train: Corpus, column: str, system: str, *, most: int) -> Vocabulary:
    """The labels of a training corpus, sorted; an error if there are too many."""
    tags = seen_strings(training_labels(train, column, system))
    if len(tags) > most:
        raise InputError(
            f"{train.name}: column {column!r} has {len(tags):,} labels; {system} expected {most:,} at most"
        )
    return tags


def seen_strings(column: Column) -> Vocabulary:
    """The strings that occur in a column, sorted."""
    strings = column.vocabulary.strings
    return Vocabulary.of(sorted(strings[code] for code in np.flatnonzero(column.frequencies())))


def _padded(corpus: Corpus, forms: Vocabulary) -> tuple[Indices, Indices]:
    """Words by their form with marks around each sentence, and the position of every word among them.

    Codes from `len(forms)` on are: before the sentence, after it, unknown.
    """
    positions = np.arange(corpus.words) + MARGIN * (2 * corpus.sentence_of_word + 1)
    padded = np.full(corpus.words + 2 * MARGIN * corpus.sentences, len(forms), np.int64)
    ends = corpus.offsets[1:] + MARGIN * (2 * np.arange(corpus.sentences) + 1)
    for after in range(MARGIN):
        padded[ends + after] = len(forms) + 1
    words = recode(corpus.column("form"), forms)
    padded[positions] = np.where(words >= 0, words, len(forms) + 2)
    return padded, positions


def _keys(padded: Indices, distance: int, forms: int) -> NDArray[np.int64]:
    """A number for every pair of words at this distance, by the position of the first."""
    return padded[:-distance] * (forms + 3) + padded[distance:]
