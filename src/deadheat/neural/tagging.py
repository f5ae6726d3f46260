"""Training taggers: the labels of a column, with chunks in the requested scheme.

Labels as networks learn them: tags as they are, chunks in the wanted scheme; and back to those of the corpus.

What taggers learn: the labels of a column, chunks in the wanted scheme.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.corpus import Corpus
from deadheat.corpus.transforms import with_labels
from deadheat.corpus.vocabulary import Column, Indices, Vocabulary
from deadheat.errors import InputError
from deadheat.neural.config import AS_IS, TaggerRecipe
from deadheat.neural.jobs import Done, Order
from deadheat.neural.schemes import f1_of, recode, scheme_of
from deadheat.neural.stack import Splits
from deadheat.neural.text import Encoding, Lexicon, codes_among, encoded, strings_of, tokens_of
from deadheat.neural.training import Lesson, Model, Predicted
from deadheat.neural.training import train_one as train_one_of
from deadheat.neural.training import train_orders as train_orders_of

Codes = NDArray[np.integer]


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Label strings of a text: for every word a code, with where sentences begin and how long they are."""

    codes: Codes
    strings: Sequence[str]
    starts: Indices
    lengths: Indices

    @classmethod
    def of(cls, corpora: Sequence[Corpus], name: str) -> Labels:
        """Those of a column of some corpora, one behind the other."""
        columns = [corpus.column(name) for corpus in corpora]
        lengths = np.concatenate([np.diff(corpus.offsets).astype(np.int64) for corpus in corpora])
        strings = strings_of(columns)
        return cls(codes_among(columns, strings), strings, np.cumsum(lengths) - lengths, lengths)

    def part(self, sentences: Indices) -> tuple[Codes, Indices]:
        """Codes of some sentences' words, and the offsets of these sentences."""
        codes = self.codes[tokens_of(self.starts, self.lengths, sentences)]
        return codes, np.concatenate([[0], np.cumsum(self.lengths[sentences])])

    def scheme(self, sentences: Indices) -> str | None:
        """The scheme that these sentences are labelled in; None for plain tags."""
        return scheme_of(self.strings, *self.part(sentences))


@dataclass(frozen=True, slots=True, eq=False)
class Labelling:
    """What networks learn: a code for every word of the sentences they may see, 0 for all others."""

    names: tuple[str, ...]
    source: str | None  # the scheme of the corpus; None for plain tags
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, labels: Labels, sentences: Indices, *, source: str | None, scheme: str) -> Labelling:
        """Labels of these sentences in a scheme; others are not looked at."""
        own, offsets = labels.part(sentences)
        if source is not None:
            found, names = recode(own, labels.strings, offsets, target=source if scheme == AS_IS else scheme)
        elif scheme == AS_IS:
            used = np.flatnonzero(np.bincount(own))
            names = tuple(labels.strings[code] for code in used.tolist())
            found = np.searchsorted(used, own).astype(np.int32)
        else:
            raise InputError(f"scheme={scheme!r}: the labels are no chunks; expected some such as B-NP, or 'as-is'")
        codes = np.zeros(len(labels.codes), np.int32)
        codes[tokens_of(labels.starts, labels.lengths, sentences)] = found
        return cls(names, source, codes)

    def score(self, gold: Codes, predicted: Codes, offsets: Indices) -> float:
        """How good predicted labels are: F1 of chunks, or the share of words."""
        if self.source is not None:
            return f1_of(gold, predicted, self.names, offsets)
        return float((gold == predicted).mean()) if len(gold) else 0.0

    def column(self, predicted: Codes, offsets: Indices) -> Column:
        """Predicted labels as the corpus writes them; sequences that cannot be are mended as conlleval reads them."""
        names, codes = self.names, predicted
        if self.source is not None:
            codes, names = recode(predicted, names, offsets, target=self.source)
        return Column(np.asarray(codes, np.int32), Vocabulary.of(list(names)))


@dataclass(frozen=True, slots=True, eq=False)
class ColumnTask:
    """Labels of one column: how good predicted ones are, and how they are written."""

    name: str
    labels: Labels
    labelling: Labelling

    def judge(self, predicted: Predicted, sentences: Indices) -> float:
        """F1 of chunks, or the share of words."""
        gold, offsets = replace(self.labels, codes=self.labelling.codes).part(sentences)
        return self.labelling.score(gold, predicted, offsets)

    def written(self, corpus: Corpus, predicted: Predicted) -> Corpus:
        """The corpus with predicted labels in the column."""
        corpus.column(self.name)
        if not corpus.words:
            return corpus
        return with_labels(corpus, self.name, self.labelling.column(predicted, corpus.offsets))

    def read(self, corpus: Corpus, lexicon: Lexicon) -> Encoding:
        """Another corpus, without its labels."""
        corpus.column(self.name)
        return encoded([corpus], np.zeros(corpus.words, np.int32), self.labelling.names, lexicon)


def train_one(recipe: TaggerRecipe, train: Corpus, tune: Corpus | None, seed: int) -> Model:
    """A tagger that learns from train; tune, where there is one, picks the epoch."""
    return train_one_of(lesson_of, recipe, train, tune, seed)


def train_orders(corpus: Corpus, orders: Sequence[Order]) -> Iterator[tuple[int, Done]]:
    """Train taggers that label parts of the corpus that they learn from."""
    return train_orders_of(lesson_of, corpus, orders, variant_of)


def lesson_of(recipe: TaggerRecipe, corpora: Sequence[Corpus], splits: Splits, lexicon: Lexicon) -> Lesson:
    """What taggers of a recipe learn from some corpora."""
    labels = _labels(recipe, corpora)
    source = labels.scheme(splits.trains[0])
    column = ColumnTask(
        recipe.column, labels, Labelling.of(labels, splits.learned, source=source, scheme=recipe.scheme)
    )
    encoding = encoded(corpora, column.labelling.codes, column.labelling.names, lexicon)
    return Lesson(recipe.shape, encoding, column.judge, column.written, column.read)


def variant_of(recipe: TaggerRecipe, corpus: Corpus, train: Indices) -> Hashable:
    """The scheme of the training sentences, by which chunks are written."""
    return _labels(recipe, [corpus]).scheme(np.sort(train))


def _labels(recipe: TaggerRecipe, corpora: Sequence[Corpus]) -> Labels:
    return Labels.of(corpora, recipe.column)
