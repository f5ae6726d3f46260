"""What parsers learn: heads and relations; and what they read besides words: tags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.transforms import with_trees
from deadheat.corpus.vocabulary import Column, Indices, Vocabulary
from deadheat.metrics.universal import main_label
from deadheat.neural.brackets import label_names, trees_of
from deadheat.neural.config import AS_IS, BracketShape, ParserRecipe
from deadheat.neural.jobs import Done, Order
from deadheat.neural.programs import room
from deadheat.neural.stack import Splits
from deadheat.neural.tagging import Labelling, Labels
from deadheat.neural.text import Encoding, Lexicon, codes_among, encoded, rounded, strings_of, tokens_of
from deadheat.neural.training import Lesson, Model, Predicted
from deadheat.neural.training import train_one as train_one_of
from deadheat.neural.training import train_orders as train_orders_of
from deadheat.trees import bracketing

ROOT = "root"
NO_TAG = ""  # what tags of other corpora become that training has not seen


@dataclass(frozen=True, slots=True, eq=False)
class Gold:
    """Trees of a text: heads, codes of relations, and where sentences begin and how long they are."""

    heads: NDArray[np.int32]
    relations: NDArray[np.int32]
    names: tuple[str, ...]  # of relations
    starts: Indices
    lengths: Indices

    @classmethod
    def of(cls, corpora: Sequence[Corpus], learned: Indices) -> Gold:
        """Trees of these sentences; others are not looked at."""
        labels = Labels.of(corpora, "deprel")
        relations = Labelling.of(labels, learned, source=None, scheme=AS_IS)
        inside = tokens_of(labels.starts, labels.lengths, learned)
        heads = np.zeros(len(labels.codes), np.int32)
        heads[inside] = np.concatenate([corpus.trees for corpus in corpora])[inside]
        return cls(heads, relations.codes, relations.names, labels.starts, labels.lengths)

    def part(self, sentences: Indices) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Heads and relations of some sentences' words."""
        inside = tokens_of(self.starts, self.lengths, sentences)
        return self.heads[inside], self.relations[inside]

    def offsets(self, sentences: Indices) -> Indices:
        """Where each of some sentences begins when they stand one behind the other."""
        return np.concatenate([[0], np.cumsum(self.lengths[sentences])])

    def las(self, predicted: Predicted, sentences: Indices) -> float:
        """The share of words with the right head and relation; subtypes of relations do not count."""
        heads, relations = self.part(sentences)
        _, main = np.unique([main_label(name) for name in self.names], return_inverse=True)
        right = (predicted[:, 0] == heads) & (main[predicted[:, 1]] == main[relations])
        return float(right.mean()) if len(right) else 0.0


def train_one(recipe: ParserRecipe, train: Corpus, tune: Corpus | None, seed: int) -> Model:
    """A parser that learns from train; tune, where there is one, picks the epoch by LAS."""
    return train_one_of(lesson_of, recipe, train, tune, seed)


def train_orders(corpus: Corpus, orders: Sequence[Order]) -> Iterator[tuple[int, Done]]:
    """Train parsers that read parts of the corpus that they learn from."""
    return train_orders_of(lesson_of, corpus, orders)


def lesson_of(recipe: ParserRecipe, corpora: Sequence[Corpus], splits: Splits, lexicon: Lexicon) -> Lesson:
    """What parsers of a recipe learn from some corpora."""
    gold = Gold.of(corpora, splits.learned)
    tags = (NO_TAG, *strings_of([corpus.column(recipe.tags) for corpus in corpora])) if recipe.tags else ()
    encoding = encoded(corpora, gold.relations, gold.names, lexicon)
    more: dict[str, NDArray[np.generic]] = {"heads": gold.heads}
    shape, way = recipe.shape, _Trees(gold)
    if isinstance(shape, BracketShape):
        planes = bracketing.encode(gold.heads, np.append(gold.starts, gold.lengths.sum())).planes
        more = {"plane1": planes[0].codes, "plane2": planes[1].codes}
        vocabularies = planes[0].vocabulary, planes[1].vocabulary
        least = room().labels
        sizes = [rounded(len(each), least) if least > 1 else len(each) for each in (gold.names, *vocabularies)]
        shape = replace(shape, relations=sizes[0], planes=(sizes[1], sizes[2]))
        kinds = {name: kind.start for name, kind in zip(more, shape.kinds, strict=False)}
        encoding = replace(encoding, labels=label_names(gold.names, vocabularies, sizes), kinds=kinds)
        way = _Brackets(gold, vocabularies)
    if tags:
        more["tags"] = tag_codes(corpora, recipe.tags, tags)
    return Lesson(
        shape,
        replace(encoding, more=more, tags=tags),
        way.judge,
        way.written,
        partial(read, recipe.tags, tags, gold.names, tuple(more)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Trees:
    """Predictions that are heads and relations."""

    gold: Gold

    def judge(self, predicted: Predicted, sentences: Indices) -> float:
        return self.gold.las(self.trees(predicted, self.gold.offsets(sentences)), sentences)

    def written(self, corpus: Corpus, predicted: Predicted) -> Corpus:
        found = self.trees(predicted, corpus.offsets)
        relations = Column(found[:, 1].astype(np.int32), Vocabulary.of(list(self.gold.names)))
        return with_trees(corpus, found[:, 0].astype(np.int32), relations)

    def trees(self, predicted: Predicted, offsets: Indices) -> Predicted:
        """Heads and codes of relations."""
        del offsets
        return predicted


@dataclass(frozen=True, slots=True, eq=False)
class _Brackets(_Trees):
    """Predictions that are brackets of two planes, and relations."""

    planes: tuple[Vocabulary, Vocabulary]

    def trees(self, predicted: Predicted, offsets: Indices) -> Predicted:
        if not len(predicted):
            return predicted[:, :2]
        roots = [at for at, name in enumerate(self.gold.names) if main_label(name) == ROOT]
        return cast(Predicted, trees_of(predicted, self.planes, roots, offsets))


def read(
    column: str, tags: tuple[str, ...], names: tuple[str, ...], more: tuple[str, ...], corpus: Corpus, lexicon: Lexicon
) -> Encoding:
    """Another corpus, without its trees."""
    nothing = np.zeros(corpus.words, np.int32)
    encoding = encoded([corpus], nothing, names, lexicon)
    own: dict[str, NDArray[np.generic]] = dict.fromkeys(more, nothing)
    if tags:
        own["tags"] = tag_codes([corpus], column, tags)
    return replace(encoding, more=own, tags=tags)


def tag_codes(corpora: Sequence[Corpus], column: str, tags: Sequence[str]) -> NDArray[np.int32]:
    """The tag of every word as a number; 0 for those that are not among the tags."""
    return np.maximum(codes_among([corpus.column(column) for corpus in corpora], tags), 0)
