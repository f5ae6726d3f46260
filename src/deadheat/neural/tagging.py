"""Taggers from a corpus: one that labels any text, or many at once that label parts of the corpus they learn from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus, take
from deadheat.corpus.labels import with_labels
from deadheat.errors import InputError
from deadheat.neural.batches import in_order, rows_to_label
from deadheat.neural.devices import settle
from deadheat.neural.encoder import Weights
from deadheat.neural.labelling import Labelling, Labels
from deadheat.neural.memory import stack_size
from deadheat.neural.orders import Done, Indices, Order
from deadheat.neural.pretrained import Pretrained
from deadheat.neural.programs import Ground, programs
from deadheat.neural.recipe import TaggerRecipe
from deadheat.neural.shape import Shape
from deadheat.neural.stack import Job, Splits, Trained, train_all
from deadheat.neural.text import Encoding, Lexicon, encoded, forms_of, rounded


@dataclass(frozen=True, slots=True, eq=False)
class Tagger:
    """A trained network; it labels any corpus."""

    recipe: TaggerRecipe
    shape: Shape
    weights: Weights = field(repr=False)
    lexicon: Lexicon = field(repr=False)
    knowledge: Mapping[str, NDArray[np.generic]] = field(repr=False)
    labelling: Labelling = field(repr=False)
    trained: Trained = field(repr=False)

    def predict(self, corpus: Corpus) -> Corpus:
        """The same words with the labels of the best sequences, or of each word."""
        corpus.column(self.recipe.column)
        if not corpus.words:
            return corpus
        known = self._reading(corpus) if self.recipe.vectors else self
        encoding = encoded([corpus], np.zeros(corpus.words, np.int32), known.labelling.names, known.lexicon)
        ground = Ground.knowing(known.shape, encoding, known.knowledge)
        rows = rows_to_label(ground.lengths, np.arange(corpus.sentences))
        label = programs(known.shape, 1).label
        weights = jax.tree.map(lambda each: each[None], known.weights)
        found = {
            step: np.asarray(label(weights, np.zeros(1, np.int32), row[None].astype(np.int32), ground.text,
                                   words=step.words))[0]
            for step, row in rows.items()
        }  # fmt: skip
        labels = self.labelling.column(in_order(rows, found, ground.lengths), corpus.offsets)
        return with_labels(corpus, self.recipe.column, labels)

    def _reading(self, corpus: Corpus) -> Tagger:
        """The same tagger, who knows all words of a corpus that the file of vectors has."""
        found = Pretrained.of(self.recipe.vectors, forms_of([corpus]))
        known = set(self.lexicon.words)
        new = tuple(sorted({key for key in found.keys.values() if key not in known and _has(found, key)}))
        lexicon = Lexicon((*self.lexicon.words, *new), self.lexicon.characters, {**found.keys, **self.lexicon.keys})
        table = np.zeros((rounded(len(lexicon.words)), self.shape.word_size), np.float32)
        before = len(self.lexicon.words)
        table[:before] = np.asarray(self.weights["words"])[:before]
        table[before : len(lexicon.words)] = found.rows(lexicon)[before:]
        seen = np.pad(np.asarray(self.knowledge["seen"]), ((0, 0), (0, len(new))), constant_values=2)
        return replace(
            self, lexicon=lexicon, weights={**self.weights, "words": table}, knowledge={**self.knowledge, "seen": seen}
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """Networks that train together: one shape, one text, one way to write labels, several splits."""

    shape: Shape
    encoding: Encoding
    labelling: Labelling
    splits: Splits
    rows: NDArray[np.float32] | None  # word vectors
    labels: Labels

    @classmethod
    def of(cls, recipe: TaggerRecipe, corpora: Sequence[Corpus], labels: Labels, splits: Splits) -> _Task:
        """Prepare what the networks of some splits share."""
        learned = [each for each in (*splits.trains, *splits.tunes) if each is not None]
        source = labels.scheme(splits.trains[0])
        labelling = Labelling.of(labels, np.unique(np.concatenate(learned)), source=source, scheme=recipe.scheme)
        forms = forms_of(corpora)
        found = Pretrained.of(recipe.vectors, forms) if recipe.vectors else None
        lexicon = Lexicon.of(forms, found.keys if found else None)
        shape = replace(recipe.shape, word_size=found.vectors.size) if found else recipe.shape
        encoding = encoded(corpora, labelling.codes, labelling.names, lexicon)
        return cls(shape, encoding, labelling, splits, found.rows(lexicon) if found else None, labels)

    def judge(self, split: int, predicted: NDArray[np.integer]) -> float:
        """The score of labels for the tune part of a split."""
        tune = self.splits.tunes[split]
        assert tune is not None
        labels = replace(self.labels, codes=self.labelling.codes)
        gold, offsets = labels.part(tune)
        return self.labelling.score(gold, predicted, offsets)

    def run(self, jobs: Mapping[int, Job]) -> Iterator[tuple[int, Trained]]:
        """Train in stacks as large as the device allows."""
        settle()
        ground = Ground.of(self.shape, self.encoding, self.splits.trains, self.rows)
        size = stack_size(self.shape, ground.text, ground.lengths)
        yield from train_all(ground, self.splits, self.judge, jobs, size=size)


def train_one(recipe: TaggerRecipe, train: Corpus, tune: Corpus | None, seed: int) -> Tagger:
    """A tagger that learns from train; tune, where there is one, picks the epoch."""
    corpora = [train, tune] if tune is not None and tune.words else [train]
    labels = _labels(recipe, corpora)
    ends = np.cumsum([corpus.sentences for corpus in corpora])
    tunes = np.arange(ends[0], ends[1]) if len(corpora) > 1 else None
    splits = Splits([_with_words(labels, np.arange(ends[0]), train)], [tunes])
    task = _Task.of(recipe, corpora, labels, splits)
    ((_, done),) = task.run({0: Job(recipe.numbers, seed, 0, recipe.course)})
    if done.failed:
        raise InputError(f"{train.name}: the network came to nothing, {done.failed}; expected a smaller rate or a norm")
    given = None if task.rows is None else ~np.isnan(task.rows[:, 0])
    knowledge = task.encoding.knowledge(splits.trains, given)
    weights = jax.tree.map(np.asarray, done.weights)
    return Tagger(recipe, task.shape, weights, task.encoding.lexicon, knowledge, task.labelling, done)


def train_orders(corpus: Corpus, orders: Sequence[Order]) -> Iterator[tuple[int, Done]]:
    """Train networks that label parts of the corpus that they learn from; each comes with the number of its order.

    Orders may be of several groups: those of one train together.
    """
    for numbers in _groups(corpus, orders).values():
        recipe = orders[numbers[0]].recipe
        labels = _labels(recipe, [corpus])
        places: dict[bytes, int] = {}
        own = [places.setdefault(_bytes(orders[number]), len(places)) for number in numbers]
        first = [orders[numbers[own.index(split)]] for split in range(len(places))]
        names = list(dict.fromkeys(name for order in first for name in order.parts))
        splits = Splits(
            [_with_words(labels, np.sort(order.train), corpus) for order in first],
            [None if order.tune is None else np.sort(order.tune) for order in first],
            {name: [_sorted(order.parts.get(name)) for order in first] for name in names},
        )
        task = _Task.of(recipe, [corpus], labels, splits)
        jobs = {
            number: Job(orders[number].recipe.numbers, orders[number].seed, split, orders[number].recipe.course)
            for number, split in zip(numbers, own, strict=True)
        }
        for number, done in task.run(jobs):
            yield number, _done(corpus, recipe.column, task, done)


def _done(corpus: Corpus, column: str, task: _Task, trained: Trained) -> Done:
    predictions = {}
    for name, labels in trained.labels.items():
        sentences = task.splits.parts[name][trained.job.split]
        assert sentences is not None
        own = take(corpus, sentences)
        predictions[name] = with_labels(own, column, task.labelling.column(labels, own.offsets))
    return Done(
        predictions, trained.epoch, trained.epochs, trained.score, trained.curve, trained.losses, trained.failed
    )


def _groups(corpus: Corpus, orders: Sequence[Order]) -> dict[Any, list[int]]:
    """Numbers of orders that train together: of one recipe's group, and labelled in one scheme."""
    found: dict[Any, list[int]] = {}
    schemes: dict[tuple[str, bytes], str | None] = {}
    for number, order in enumerate(orders):
        place = (order.recipe.column, order.train.tobytes())
        if place not in schemes:
            schemes[place] = _labels(order.recipe, [corpus]).scheme(np.sort(order.train))
        found.setdefault((order.recipe.group, schemes[place]), []).append(number)
    return found


def _labels(recipe: TaggerRecipe, corpora: Sequence[Corpus]) -> Labels:
    lengths = np.concatenate([np.diff(corpus.offsets).astype(np.int64) for corpus in corpora])
    return Labels.of([corpus.column(recipe.column) for corpus in corpora], lengths)


def _with_words(labels: Labels, sentences: Indices, corpus: Corpus) -> Indices:
    """Sentences that there is something to learn from."""
    found = sentences[labels.lengths[sentences] > 0]
    if not len(found):
        raise InputError(f"{corpus.name}: no words in train; expected some to learn from")
    return found


def _has(found: Pretrained, key: str) -> bool:
    return bool(found.vectors.found[found.place[key]])


def _sorted(sentences: Indices | None) -> Indices | None:
    return None if sentences is None else np.sort(sentences)


def _bytes(order: Order) -> bytes:
    """What tells splits apart."""
    parts = [order.train, order.tune if order.tune is not None else np.empty(0, np.int64), *order.parts.values()]
    return b"|".join([",".join(order.parts).encode(), *(np.asarray(each, np.int64).tobytes() for each in parts)])
