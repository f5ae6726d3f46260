"""The averaged perceptron tagger of Collins (2002): Ratnaparkhi's features, Viterbi, averaged weights."""

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
from deadheat.systems.features import EncodedCorpus, Encoder, Templates, training_tags
from deadheat.systems.system import SYSTEMS, System, check_at_least

Weights: TypeAlias = NDArray[np.float32]
Totals: TypeAlias = NDArray[np.float64]

MAX_TAGS = {2: 500, 3: 150}  # by order: every tag triple has a weight


@dataclass(frozen=True, slots=True, eq=False)
class TaggerWeights:
    """Weights of features, found through the slots of their rows, and of tag pairs and triples."""

    slots: Codes
    features: Weights
    moves: Weights


@dataclass(frozen=True, slots=True, eq=False)
class PerceptronState:
    """Weights in training. Totals sum up changes times the visit they happened at, so that averages need no sums.

    A row of features gets a slot of `stride` weights with its first update.
    """

    stride: int
    slots: Codes
    features: Weights
    totals: Totals
    moves: Weights
    move_totals: Totals
    counts: Indices  # of visits, and of slots in use

    @classmethod
    def of(cls, rows: int, stride: int, moves: int) -> PerceptronState:
        """All weights 0."""
        size = rows * stride
        slots, counts = np.zeros(rows, np.int32), np.zeros(2, np.int64)
        features, transitions = np.zeros(size, np.float32), np.zeros(moves, np.float32)
        return cls(stride, slots, features, np.zeros(size), transitions, np.zeros(moves), counts)

    def average(self) -> TaggerWeights:
        """The average of the weights over all visits so far."""
        visits = max(1, int(self.counts[CLOCK]))
        used = (int(self.counts[USED]) + 1) * self.stride
        features = self.features[:used] - self.totals[:used] / visits
        moves = self.moves - self.move_totals / visits
        return TaggerWeights(self.slots.copy(), features.astype(np.float32), moves.astype(np.float32))


@dataclass(frozen=True, slots=True, eq=False)
class PerceptronTagger:
    """A trained perceptron."""

    encoder: Encoder
    order: int
    weights: TaggerWeights

    def predict(self, corpus: Corpus) -> Corpus:
        """The same words with the best sequence of tags for each sentence."""
        tags = best_tags(self.encoder, self.encoder.encode(corpus), self.order, self.weights)
        return with_labels(corpus, self.encoder.column, Column(tags, self.encoder.tags))


@dataclass(slots=True, eq=False)
class Learner:
    """Trains weights; their average is in `state`."""

    encoder: Encoder
    text: EncodedCorpus
    gold: Codes
    order: int
    state: PerceptronState = field(init=False)

    def __post_init__(self) -> None:
        tags = len(self.encoder.tags)
        self.state = PerceptronState.of(self.encoder.index.size, tags, move_count(tags, self.order))

    def learn(self, sentences: Indices) -> None:
        """Visit these sentences once, in this order."""
        scores, best, back, out = workspace(self.encoder, self.text, self.order)
        dictionary, tags, state = self.encoder.dictionary, len(self.encoder.tags), self.state
        learn_sentences(sentences, self.text.offsets, self.text.rows, self.encoder.index.width, self.text.lists,
                        dictionary.starts, dictionary.tags, tags, self.order, state.slots, state.features,
                        state.moves, scores, best, back, out, self.gold, state.totals, state.move_totals,
                        state.counts)  # fmt: skip


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
        tags = training_tags(train, column, "perceptron.v1", most=MAX_TAGS[order])
        encoder = Encoder.of(train, tags, column, Templates(), least=dictionary)
        learner = Learner(encoder, encoder.encode(train), encoder.gold(train), order)
        if tune is not None and tune.words:
            orders = epoch_orders(train.sentences, epochs, seed, shuffle=shuffle)
            return PerceptronTagger(encoder, order, _best_epoch(learner, orders, tune, patience))
        for sentences in epoch_orders(train.sentences, untuned, seed, shuffle=shuffle):
            learner.learn(sentences)
        return PerceptronTagger(encoder, order, learner.state.average())

    return System("perceptron.v1", train, seeded=shuffle, tuned=True)


def _best_epoch(learner: Learner, orders: Iterator[Indices], tune: Corpus, patience: int) -> TaggerWeights:
    """Train until accuracy on tune has not risen for some epochs; returns the weights of the first best epoch."""
    encoder = learner.encoder
    text, gold = encoder.encode(tune), encoder.gold(tune)
    best, weights, since = -1, learner.state.average(), 0
    for sentences in orders:
        learner.learn(sentences)
        current = learner.state.average()
        correct = int(np.count_nonzero(best_tags(encoder, text, learner.order, current) == gold))
        since += 1
        if correct > best:
            best, weights, since = correct, current, 0
        if since == patience:
            break
    return weights


def best_tags(encoder: Encoder, text: EncodedCorpus, order: int, weights: TaggerWeights) -> Codes:
    """The best sequence of tags for each sentence, by Viterbi."""
    scores, best, back, out = workspace(encoder, text, order)
    predicted = np.zeros(len(text.lists), np.int32)
    tag_sentences(text.offsets, text.rows, encoder.index.width, text.lists, encoder.dictionary.starts,
                  encoder.dictionary.tags, len(encoder.tags), order, weights.slots, weights.features, weights.moves,
                  scores, best, back, out, predicted)  # fmt: skip
    return predicted


def workspace(encoder: Encoder, text: EncodedCorpus, order: int) -> tuple[Weights, Weights, NDArray[np.int16], Codes]:
    """Arrays that decoding writes to: scores of tags, best scores, back pointers, a sequence."""
    tags = len(encoder.tags)
    states = tags ** (order - 1)
    return (
        np.empty(tags, np.float32),
        np.empty(2 * states, np.float32),
        np.zeros(text.longest * states, np.int16),
        np.empty(text.longest, np.int32),
    )


def move_count(tags: int, order: int) -> int:
    """How many weights tag pairs, and for order 3 triples, have."""
    pairs = (tags + 1) * tags
    return pairs + (tags + 1) * pairs if order == 3 else pairs


def epoch_orders(sentences: int, epochs: int, seed: int, *, shuffle: bool) -> Iterator[Indices]:
    """The order of the sentences in each epoch; that of epoch e depends on (seed, e) alone."""
    for epoch in range(epochs):
        yield permutation(sentences, rng=generator(seed, epoch)) if shuffle else np.arange(sentences)
