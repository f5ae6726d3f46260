"""From corpora to networks: what taggers and parsers have in common.

A *lesson* is what a group of networks learns from one text. With it, one network is trained that reads any corpus, or
many that read parts of the corpus they learn from.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import jax
import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus, take
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError
from deadheat.neural.batches import in_order, rows_to_label
from deadheat.neural.config import Course, Numbers, Shape
from deadheat.neural.devices import settle, stack_size
from deadheat.neural.encoder import Weights
from deadheat.neural.jobs import Done, Order
from deadheat.neural.programs import Ground, programs, tidy
from deadheat.neural.stack import Job, Splits, Trained, train_all
from deadheat.neural.text import Encoding, Lexicon, forms_of, rounded
from deadheat.neural.vectors import Pretrained

Predicted = NDArray[np.integer]  # a row a word


class Recipe(Protocol):
    """What every recipe has."""

    @property
    def group(self) -> Hashable: ...
    @property
    def vectors(self) -> str: ...
    @property
    def shape(self) -> Shape: ...
    @property
    def numbers(self) -> Numbers: ...
    @property
    def course(self) -> Course: ...


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """What a group of networks learns: a text with its gold, how good a prediction is, and how one is written."""

    shape: Shape
    encoding: Encoding
    judge: Callable[[Predicted, Indices], float]  # predictions for some sentences -> score
    written: Callable[[Corpus, Predicted], Corpus]
    read: Callable[[Corpus, Lexicon], Encoding]  # another corpus, without its gold


LessonOf = Callable[[Any, Sequence[Corpus], Splits, Lexicon], Lesson]  # of a recipe and corpora, one behind the other
VariantOf = Callable[[Any, Corpus, Indices], Hashable]  # what besides the recipe's group keeps orders apart


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A trained network; it reads any corpus."""

    recipe: Recipe
    lesson: Lesson = field(repr=False)
    weights: Weights = field(repr=False)
    lexicon: Lexicon = field(repr=False)
    knowledge: Mapping[str, NDArray[np.generic]] = field(repr=False)
    trained: Trained = field(repr=False)

    def predict(self, corpus: Corpus) -> Corpus:
        """The same words with what the network makes of them."""
        if not corpus.words:
            return self.lesson.written(corpus, np.zeros((0, 3), np.int32))
        known = self._reading(corpus) if self.recipe.vectors else self
        shape = self.lesson.shape
        ground = Ground.knowing(shape, self.lesson.read(corpus, known.lexicon), known.knowledge)
        made = programs(shape, 1)
        weights = jax.tree.map(lambda each: each[None], known.weights)
        found = {}
        rows = rows_to_label(ground.lengths, np.arange(corpus.sentences))
        for step, row in rows.items():
            own = row[None].astype(np.int32)
            given = made.give_labels(weights, np.zeros(1, np.int32), own, ground.text, words=step.words)
            outputs = jax.tree.map(lambda each: np.asarray(each)[0], given)
            found[step] = made.network.decoded(shape, outputs, ground.lengths[row] * (row >= 0))
        return self.lesson.written(corpus, in_order(rows, found, ground.lengths))

    def _reading(self, corpus: Corpus) -> Model:
        """The same network, which knows all words of a corpus that the file of vectors has."""
        found = Pretrained.of(self.recipe.vectors, forms_of([corpus]))
        known = set(self.lexicon.words)
        new = tuple(sorted({key for key in found.keys.values() if key not in known and key in found}))
        lexicon = Lexicon((*self.lexicon.words, *new), self.lexicon.characters, {**found.keys, **self.lexicon.keys})
        before = len(self.lexicon.words)
        table = np.zeros((rounded(len(lexicon.words)), self.lesson.shape.word_size), np.float32)
        table[:before] = np.asarray(self.weights["words"])[:before]
        table[before : len(lexicon.words)] = found.rows(lexicon)[before:]
        seen = np.pad(np.asarray(self.knowledge["seen"]), ((0, 0), (0, len(new))), constant_values=2)
        return replace(
            self, lexicon=lexicon, weights={**self.weights, "words": table}, knowledge={**self.knowledge, "seen": seen}
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Class:
    """Networks that train together: a lesson, and the splits it is taught on."""

    lesson: Lesson
    splits: Splits
    rows: NDArray[np.float32] | None  # word vectors

    @classmethod
    def of(cls, lesson_of: LessonOf, recipe: Recipe, corpora: Sequence[Corpus], splits: Splits) -> _Class:
        forms = forms_of(corpora)
        found = Pretrained.of(recipe.vectors, forms) if recipe.vectors else None
        lexicon = Lexicon.of(forms, found.keys if found else None)
        lesson = lesson_of(recipe, corpora, splits, lexicon)
        if found is not None:
            lesson = replace(lesson, shape=replace(lesson.shape, word_size=found.vectors.size))
        return cls(lesson, splits, found.rows(lexicon) if found else None)

    def knowledge(self) -> dict[str, NDArray[np.generic]]:
        given = None if self.rows is None else ~np.isnan(self.rows[:, 0])
        return self.lesson.encoding.knowledge(self.splits.trains, given)

    def run(self, jobs: Mapping[int, Job]) -> Iterator[tuple[int, Trained]]:
        """Train in stacks as large as the device allows."""
        settle()
        tidy()
        ground = Ground.knowing(self.lesson.shape, self.lesson.encoding, self.knowledge(), self.rows)
        size = stack_size(self.lesson.shape, ground.text, ground.lengths)
        yield from train_all(ground, self.splits, self._judge, jobs, size=size)

    def _judge(self, split: int, predicted: Predicted) -> float:
        tune = self.splits.tunes[split]
        assert tune is not None
        return self.lesson.judge(predicted, tune)


def train_one(lesson_of: LessonOf, recipe: Recipe, train: Corpus, tune: Corpus | None, seed: int) -> Model:
    """A network that learns from train; tune, where there is one, picks the epoch."""
    corpora = [train, tune] if tune is not None and tune.words else [train]
    ends = np.cumsum([corpus.sentences for corpus in corpora])
    tunes = np.arange(ends[0], ends[1]) if len(corpora) > 1 else None
    taught = _Class.of(lesson_of, recipe, corpora, Splits([with_words(train, np.arange(ends[0]))], [tunes]))
    ((_, done),) = taught.run({0: Job(recipe.numbers, seed, 0, recipe.course)})
    if done.failed:
        raise InputError(f"{train.name}: the network came to nothing, {done.failed}; expected a smaller rate or a norm")
    weights = jax.tree.map(np.asarray, done.weights)
    return Model(recipe, taught.lesson, weights, taught.lesson.encoding.lexicon, taught.knowledge(), done)


def train_orders(
    lesson_of: LessonOf, corpus: Corpus, orders: Sequence[Order], variant_of: VariantOf = lambda *_: None
) -> Iterator[tuple[int, Done]]:
    """Train networks that read parts of the corpus that they learn from; each comes with the number of its order.

    Orders may be of several groups: those of one train together.
    """
    groups: dict[Hashable, list[int]] = {}
    variants: dict[Hashable, Hashable] = {}
    for number, order in enumerate(orders):
        kind = (order.recipe.group, order.train.tobytes())
        if kind not in variants:
            variants[kind] = variant_of(order.recipe, corpus, order.train)
        groups.setdefault((order.recipe.group, variants[kind]), []).append(number)
    for numbers in groups.values():
        places: dict[bytes, int] = {}
        own = [places.setdefault(_bytes(orders[number]), len(places)) for number in numbers]
        first = [orders[numbers[own.index(split)]] for split in range(len(places))]
        taught = _Class.of(lesson_of, first[0].recipe, [corpus], _splits(corpus, first))
        jobs = {
            number: Job(orders[number].recipe.numbers, orders[number].seed, split, orders[number].recipe.course)
            for number, split in zip(numbers, own, strict=True)
        }
        for number, done in taught.run(jobs):
            yield number, _done(corpus, taught, done)


def with_words(corpus: Corpus, sentences: Indices) -> Indices:
    """Sentences that there is something to learn from."""
    found = sentences[np.diff(corpus.offsets)[sentences] > 0]
    if not len(found):
        raise InputError(f"{corpus.name}: no words in train; expected some to learn from")
    return found


def _splits(corpus: Corpus, orders: Sequence[Order]) -> Splits:
    names = list(dict.fromkeys(name for order in orders for name in order.parts))
    return Splits(
        [with_words(corpus, np.sort(order.train)) for order in orders],
        [_sorted(order.tune) for order in orders],
        {name: [_sorted(order.parts.get(name)) for order in orders] for name in names},
    )


def _done(corpus: Corpus, taught: _Class, trained: Trained) -> Done:
    predictions = {}
    for name, predicted in trained.labels.items():
        sentences = taught.splits.parts[name][trained.job.split]
        assert sentences is not None
        predictions[name] = taught.lesson.written(take(corpus, sentences), predicted)
    return Done(
        predictions, trained.epoch, trained.epochs, trained.score, trained.curve, trained.losses, trained.failed
    )


def _sorted(sentences: Indices | None) -> Indices | None:
    return None if sentences is None or not len(sentences) else np.sort(sentences)


def _bytes(order: Order) -> bytes:
    """What tells splits apart."""
    parts = [order.train, order.tune if order.tune is not None else np.empty(0, np.int64), *order.parts.values()]
    return b"|".join([",".join(order.parts).encode(), *(np.asarray(each, np.int64).tobytes() for each in parts)])
