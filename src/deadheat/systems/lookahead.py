"""Tagging with lookahead (Tsuruoka, Miyao and Kazama 2011): a perceptron that looks ahead before each tag."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.transforms import with_labels
from deadheat.corpus.vocabulary import Codes, Column, Indices
from deadheat.kernels.lookahead import LANES, learn_ahead, tag_ahead
from deadheat.systems.features import EncodedCorpus, Encoder, Templates, training_tags
from deadheat.systems.perceptron import PerceptronState, TaggerWeights, Weights, epoch_orders
from deadheat.systems.system import SYSTEMS, System, check_at_least

TEMPLATES = Templates(
    pairs=((-1, 0), (0, 1), (-1, 1)),
    prefixes=10,
    suffixes=10,
    shapes=("digit", "hyphen", "upper", "capitals"),
    normal=True,
)
MAX_TAGS = 150  # every tag triple has a weight


@dataclass(frozen=True, slots=True, eq=False)
class LookaheadTagger:
    """A trained perceptron with lookahead."""

    encoder: Encoder
    depth: int
    weights: TaggerWeights

    def predict(self, corpus: Corpus) -> Corpus:
        """The same words, tagged one after the other."""
        tags = tags_ahead(self.encoder, self.encoder.encode(corpus), self.depth, self.weights)
        return with_labels(corpus, self.encoder.column, Column(tags, self.encoder.tags))


@dataclass(slots=True, eq=False)
class LookaheadLearner:
    """Trains weights; their average is in `state`."""

    encoder: Encoder
    text: EncodedCorpus
    gold: Codes
    depth: int
    margin: int
    state: PerceptronState = field(init=False)

    def __post_init__(self) -> None:
        tags = len(self.encoder.tags)
        self.state = PerceptronState.of(self.encoder.index.size, stride_of(tags), (tags + 1) * tags * stride_of(tags))

    def learn(self, sentences: Indices) -> None:
        """Visit these sentences once, in this order."""
        tags, state = len(self.encoder.tags), self.state
        future, spare, firsts = workspace(tags, self.depth)
        leaf = np.empty(2 * (self.depth + 1), np.int32)
        learn_ahead(sentences, self.text.offsets, self.text.rows, self.encoder.index.width, tags, state.stride,
                    self.depth, self.margin, self.gold, state.slots, state.features, state.totals, state.moves,
                    state.move_totals, future, spare, firsts, leaf, state.counts)  # fmt: skip


@SYSTEMS.add("lookahead.v1")
def lookahead(*, column: str = "upos", depth: int = 2, epochs: int = 7, margin: int = 40) -> System:
    """A perceptron with lookahead. Tune is not used: it trains for a given number of epochs.

    Parameters
    ----------
    column
        What to learn.
    depth
        How many words ahead are looked at before a tag is taken.
    epochs
        How often training visits every sentence, in an order drawn by the seed.
    margin
        By how much the gold tag has to beat all others in training.
    """
    check_at_least("lookahead.v1", 0, depth=depth, margin=margin)
    check_at_least("lookahead.v1", 1, epochs=epochs)

    def train(train: Corpus, _tune: Corpus | None, seed: int) -> LookaheadTagger:
        tags = training_tags(train, column, "lookahead.v1", most=MAX_TAGS)
        encoder = Encoder.of(train, tags, column, TEMPLATES, least=0)
        learner = LookaheadLearner(encoder, encoder.encode(train), encoder.gold(train), depth, margin)
        for sentences in epoch_orders(train.sentences, epochs, seed, shuffle=True):
            learner.learn(sentences)
        return LookaheadTagger(encoder, depth, learner.state.average())

    return System("lookahead.v1", train)


def tags_ahead(encoder: Encoder, text: EncodedCorpus, depth: int, weights: TaggerWeights) -> Codes:
    """The tag of every word, each chosen by the best leaf after the tags before it."""
    tags = len(encoder.tags)
    future, spare, firsts = workspace(tags, depth)
    predicted = np.zeros(len(text.lists), np.int32)
    tag_ahead(text.offsets, text.rows, encoder.index.width, tags, stride_of(tags), depth, weights.slots,
              weights.features, weights.moves, future, spare, firsts, predicted)  # fmt: skip
    return predicted


def stride_of(tags: int) -> int:
    """The distance between the weights of two features: all tags and the one before a sentence, padded."""
    return (tags // LANES + 1) * LANES


def workspace(tags: int, depth: int) -> tuple[Weights, Weights, Weights]:
    """Arrays that search writes to: scores of the words ahead and what may follow, twice, and of each first tag."""
    stride = stride_of(tags)
    levels = max(1, depth - 1)
    future = np.zeros((depth + 1) * stride + levels * tags * stride, np.float32)
    return future, np.zeros(tags * stride, np.float32), np.empty(tags, np.float32)
