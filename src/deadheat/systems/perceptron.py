"""The averaged perceptron tagger of Collins (2002): Ratnaparkhi's features, Viterbi, averaged weights.

Weights of a perceptron in the course of training, averaged over all visits without being summed at each.

The averaged perceptron tagger of Collins (2002): Ratnaparkhi's features, Viterbi, weights averaged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.transforms import with_labels
from deadheat.corpus.vocabulary import Codes, Column, Indices
from deadheat.errors import InputError
from deadheat.kernels.perceptron import CLOCK, USED, learn_sentences, tag_sentences
from deadheat.splits.drawing import generator, permutation
from deadheat.systems.features import Encoded, Encoder, Templates, tags_to_learn
from deadheat.systems.system import SYSTEMS, System, check_at_least

Weights: TypeAlias = NDArray[np.float32]
Totals: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TaggerWeights:
    """Weights of features, found through the slots of their rows, and of tag pairs and triples."""

    slots: Codes
    features: Weights
    moves: Weights


@dataclass(frozen=True, slots=True, eq=False)
class PerceptronState:
    """What training changes: weights, what each was moved by times the visit it happened at, and what was counted.

    A row of features gets its place among the weights, `stride` numbers, with its first update.
    """

    stride: int
    slots: Codes
    features: Weights
    totals: Totals
    moves: Weights
    move_totals: Totals
    state: Indices

    @classmethod
    def of(cls, rows: int, stride: int, moves: int) -> PerceptronState:
        """The start: all weights 0."""
        size = rows * stride
        return cls(
            stride,
            np.zeros(rows, np.int32),
            np.zeros(size, np.float32),
            np.zeros(size),
            np.zeros(moves, np.float32),
            np.zeros(moves),
            np.zeros(2, np.int64),
        )

    def averaged(self) -> TaggerWeights:
        """The average of the weights over all visits so far."""
        visits = max(1, int(self.state[CLOCK]))
        used = (int(self.state[USED]) + 1) * self.stride
        features = self.features[:used] - self.totals[:used] / visits
        moves = self.moves - self.move_totals / visits
        return TaggerWeights(self.slots.copy(), features.astype(np.float32), moves.astype(np.float32))


MOST_TAGS = {2: 500, 3: 150}  # by order: a triple of tags has a weight each


@dataclass(frozen=True, slots=True, eq=False)
class PerceptronTagger:
    """A trained perceptron."""

    encoder: Encoder
    order: int
    weights: TaggerWeights

    def predict(self, corpus: Corpus) -> Corpus:
        """The same words with the best sequence of tags for each sentence."""
        found = best_tags(self.encoder, self.encoder.encode(corpus), self.order, self.weights)
        return with_labels(corpus, self.encoder.column, Column(found, self.encoder.tags))


@dataclass(slots=True, eq=False)
class Learner:
    """Weights in the course of training; `averaged` may be asked for after any pass."""

    encoder: Encoder
    text: Encoded
    gold: Codes
    order: int
    course: PerceptronState = field(init=False)

    def __post_init__(self) -> None:
        tags = len(self.encoder.tags)
        self.course = PerceptronState.of(self.encoder.index.size, tags, n_moves(tags, self.order))

    def learn(self, sentences: Indices) -> None:
        """Visit these sentences once, in this order."""
        scores, best, back, out = room(self.encoder, self.text, self.order)
        dictionary, tags, course = self.encoder.dictionary, len(self.encoder.tags), self.course
        learn_sentences(sentences, self.text.offsets, self.text.rows, self.encoder.index.width, self.text.lists,
                        dictionary.starts, dictionary.tags, tags, self.order, course.slots, course.features,
                        course.moves, scores, best, back, out, self.gold, course.totals, course.move_totals,
                        course.state)  # fmt: skip

    def averaged(self) -> TaggerWeights:
        """The average of the weights over all visits of sentences so far."""
        return self.course.averaged()


@SYSTEMS.add("perceptron.v1")
def perceptron(
    *,
    column: str = "upos",
    order: int = 2,
    epochs: int = 30,
    patience: int = 5,
    untuned: int = 10,
    dictionary: int = 5,
    shuffle: bool = True,
) -> System:
    """Collins' averaged perceptron tagger.

    Parameters
    ----------
    column
        What to learn.
    order
        2 for weights of tag pairs, 3 for those of triples too.
    epochs, patience
        With tune: the epoch with the best accuracy there, of at most so many, until so many bring nothing better.
    untuned
        How many epochs there are without tune.
    dictionary
        Words seen so often take only tags that they were seen with; 0 lets all words take all tags.
    shuffle
        Visit the sentences in an order drawn by the seed; else as they stand, and the seed changes nothing.
    """
    check_at_least("perceptron.v1", 1, epochs=epochs, patience=patience, untuned=untuned)
    check_at_least("perceptron.v1", 0, dictionary=dictionary)
    if order not in (2, 3):
        raise InputError(f"perceptron.v1: order={order}; expected 2 (tag pairs) or 3 (triples)")

    def train(train: Corpus, tune: Corpus | None, seed: int) -> PerceptronTagger:
        tags = tags_to_learn(train, column, "perceptron.v1", most=MOST_TAGS[order])
        encoder = Encoder.of(train, tags, column, Templates(), least=dictionary)
        learner = Learner(encoder, encoder.encode(train), encoder.gold(train), order)
        if tune is not None and tune.words:
            orders = visiting_orders(train.sentences, epochs, seed, shuffle=shuffle)
            return PerceptronTagger(encoder, order, _best_epoch(learner, orders, tune, patience))
        for sentences in visiting_orders(train.sentences, untuned, seed, shuffle=shuffle):
            learner.learn(sentences)
        return PerceptronTagger(encoder, order, learner.averaged())

    return System("perceptron.v1", train, seeded=shuffle, tuned=True)


def _best_epoch(learner: Learner, orders: Iterator[Indices], tune: Corpus, patience: int) -> TaggerWeights:
    """Train until accuracy on tune has not risen for some epochs, and give the weights of the first best one."""
    encoder = learner.encoder
    text, gold = encoder.encode(tune), encoder.gold(tune)
    best, weights, since = -1, learner.averaged(), 0
    for sentences in orders:
        learner.learn(sentences)
        now = learner.averaged()
        correct = int(np.count_nonzero(best_tags(encoder, text, learner.order, now) == gold))
        since += 1
        if correct > best:
            best, weights, since = correct, now, 0
        if since == patience:
            break
    return weights


def best_tags(encoder: Encoder, text: Encoded, order: int, weights: TaggerWeights) -> Codes:
    """The best sequence of tags for each sentence, by Viterbi."""
    scores, best, back, out = room(encoder, text, order)
    found = np.zeros(len(text.lists), np.int32)
    tag_sentences(text.offsets, text.rows, encoder.index.width, text.lists, encoder.dictionary.starts,
                  encoder.dictionary.tags, len(encoder.tags), order, weights.slots, weights.features, weights.moves,
                  scores, best, back, out, found)  # fmt: skip
    return found


def room(encoder: Encoder, text: Encoded, order: int) -> tuple[Weights, Weights, NDArray[np.int16], Codes]:
    """What decoding writes to: scores of tags, best scores, back pointers, a sequence."""
    tags = len(encoder.tags)
    states = tags ** (order - 1)
    return (
        np.empty(tags, np.float32),
        np.empty(2 * states, np.float32),
        np.zeros(text.longest * states, np.int16),
        np.empty(text.longest, np.int32),
    )


def n_moves(tags: int, order: int) -> int:
    """How many weights tag pairs, and for order 3 triples, have."""
    pairs = (tags + 1) * tags
    return pairs + (tags + 1) * pairs if order == 3 else pairs


def visiting_orders(sentences: int, epochs: int, seed: int, *, shuffle: bool) -> Iterator[Indices]:
    """The order of the sentences in each epoch; that of epoch e depends on (seed, e) alone."""
    for epoch in range(epochs):
        yield permutation(sentences, rng=generator(seed, epoch)) if shuffle else np.arange(sentences)
