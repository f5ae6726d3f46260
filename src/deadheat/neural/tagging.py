"""What taggers learn: the labels of a column, chunks in the wanted scheme."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deadheat.corpus import Corpus
from deadheat.corpus.transforms import with_labels
from deadheat.corpus.vocabulary import Indices
from deadheat.neural.labelling import Labelling, Labels
from deadheat.neural.orders import Done, Order
from deadheat.neural.recipe import TaggerRecipe
from deadheat.neural.stack import Splits
from deadheat.neural.text import Encoding, Lexicon, encoded
from deadheat.neural.training import Lesson, Model, Predicted
from deadheat.neural.training import train_one as train_one_of
from deadheat.neural.training import train_orders as train_orders_of


@dataclass(frozen=True, slots=True, eq=False)
class Column:
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
    column = Column(recipe.column, labels, Labelling.of(labels, splits.learned, source=source, scheme=recipe.scheme))
    encoding = encoded(corpora, column.labelling.codes, column.labelling.names, lexicon)
    return Lesson(recipe.shape, encoding, column.judge, column.written, column.read)


def variant_of(recipe: TaggerRecipe, corpus: Corpus, train: Indices) -> Hashable:
    """The scheme of the training sentences, by which chunks are written."""
    return _labels(recipe, [corpus]).scheme(np.sort(train))


def _labels(recipe: TaggerRecipe, corpora: Sequence[Corpus]) -> Labels:
    return Labels.of(corpora, recipe.column)
