"""Perceptron taggers with averaged weights.

`perceptron.v2` is that of Collins (2002), Viterbi over tag pairs or triples, with affixes of up to five letters and a
margin by which gold tags have to win in training. `lookahead.v1` (Tsuruoka, Miyao and Kazama 2011) takes one tag after
the other, each by the best sequence for the words ahead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.transforms import with_labels
from deadheat.corpus.vocabulary import Codes, Column, Indices
from deadheat.errors import InputError
from deadheat.kernels.lookahead import LANES, TRIPLES, insert_keys, learn_ahead, tag_ahead
from deadheat.kernels.perceptron import CLOCK, USED, learn_sentences, tag_sentences
from deadheat.splits.drawing import generator, permutation
from deadheat.systems.features import EncodedCorpus, Encoder, Templates, training_tags
from deadheat.systems.system import SYSTEMS, System, check_at_least

Weights: TypeAlias = NDArray[np.float32]
Floats: TypeAlias = NDArray[np.float64]

PERCEPTRON = "perceptron.v2"
MAX_TAGS = {2: 5000, 3: 150}  # of Viterbi, by order: every tag pair or triple has a weight
MAX_TAGS_AHEAD = 5000  # every tag pair has a weight
FIRST_TRIPLES = 1 << 12  # that there is room for at first
TEMPLATES = Templates(pairs=((-1, 0), (0, 1)), prefixes=5, suffixes=5, normal=True)
LOOKAHEAD_TEMPLATES = Templates(
    pairs=((-1, 0), (0, 1), (-1, 1)), prefixes=10, suffixes=10, shapes=("digit", "hyphen", "upper", "capitals"),
    normal=True,
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class TaggerWeights:
    """Weights of features, found through the slots of their rows, and of tag pairs and triples."""

    slots: Codes
    features: Weights
    moves: Weights
    triples: Triples | None = None  # of lookahead


@dataclass(slots=True, eq=False)
class Triples:
    """Weights of tag triples in a hash table, and a bound of the weights of each tag pair after whatever tag."""

    keys: Indices
    weights: Weights
    totals: Floats
    bounds: Weights

    @classmethod
    def empty(cls, size: int, bounds: Weights) -> Triples:
        return cls(np.zeros(size, np.int64), np.zeros(size, np.float32), np.zeros(size), bounds)

    def pairs(self, tags: int) -> tuple[Indices, Indices]:
        """The slots in use, and where the weights of the last two tags of each triple are."""
        used = np.flatnonzero(self.keys)
        key, z = np.divmod(self.keys[used] - 1, tags)
        return used, z * _padded(tags) + key % (tags + 1)

    def renew_bounds(self, moves: Weights, tags: int) -> None:
        """Bounds as low as they can be: they do not fall when weights do."""
        used, pairs = self.pairs(tags)
        self.bounds[:] = moves
        np.maximum.at(self.bounds, pairs, moves[pairs] + self.weights[used])

    def averaged(self, moves: Weights, move_totals: Floats, visits: int, tags: int) -> Triples:
        """Averages, to be used in place of those of pairs."""
        used, pairs = self.pairs(tags)
        result = Triples.empty(len(self.keys), (moves - move_totals / visits).astype(np.float32))
        sums, totals = moves[pairs] + self.weights[used], move_totals[pairs] + self.totals[used]
        result.keys[:], result.weights[used] = self.keys, sums - totals / visits
        np.maximum.at(result.bounds, pairs, result.weights[used])
        return result

    def grown(self, size: int) -> Triples:
        """The same in a table with room for more."""
        used, result = np.flatnonzero(self.keys), Triples.empty(size, self.bounds)
        slots = np.empty(len(used), np.int64)
        insert_keys(self.keys[used], result.keys, slots)
        result.weights[slots], result.totals[slots] = self.weights[used], self.totals[used]
        return result


@dataclass(frozen=True, slots=True)
class Viterbi:
    """The best sequence of tags for each sentence, with weights of tag pairs (order 2) or also triples (order 3)."""

    order: int
    margin: int = 0  # by which the gold tags have to win in training, per word that differs

    def stride(self, tags: int) -> int:
        return tags

    def move_count(self, tags: int) -> int:
        pairs = (tags + 1) * tags
        return pairs + (tags + 1) * pairs if self.order == 3 else pairs

    def learn(self, learner: Learner, sentences: Indices) -> None:
        encoder, text = learner.encoder, learner.text
        learn_sentences(sentences, text.offsets, text.rows, encoder.index.width, text.lists, encoder.dictionary.starts,
                        encoder.dictionary.tags, len(encoder.tags), self.order, self.margin, learner.slots,
                        learner.features, learner.moves, *self._workspace(encoder, text), learner.gold, learner.totals,
                        learner.move_totals, learner.counts)  # fmt: skip

    def tags(self, encoder: Encoder, text: EncodedCorpus, weights: TaggerWeights) -> Codes:
        predicted = np.zeros(len(text.lists), np.int32)
        tag_sentences(text.offsets, text.rows, encoder.index.width, text.lists, encoder.dictionary.starts,
                      encoder.dictionary.tags, len(encoder.tags), self.order, weights.slots, weights.features,
                      weights.moves, *self._workspace(encoder, text)[:3], predicted)  # fmt: skip
        return predicted

    def _workspace(self, encoder: Encoder, text: EncodedCorpus) -> tuple[Weights, Weights, NDArray[np.int16], Codes]:
        """Arrays that decoding writes to: scores of tags, best scores, back pointers, a sequence."""
        states = len(encoder.tags) ** (self.order - 1)
        scores, best = np.empty(len(encoder.tags), np.float32), np.empty(2 * states, np.float32)
        return scores, best, np.zeros(text.longest * states, np.int16), np.empty(text.longest, np.int32)


@dataclass(frozen=True, slots=True)
class Lookahead:
    """One tag after the other, each the first of the best sequence for `depth` more words."""

    depth: int
    margin: int = 0  # by which the gold tag has to win in training

    def stride(self, tags: int) -> int:
        return _padded(tags)

    def move_count(self, tags: int) -> int:
        return tags * _padded(tags)

    def learn(self, learner: Learner, sentences: Indices) -> None:
        encoder, text, tags = learner.encoder, learner.text, len(learner.encoder.tags)
        leaf = np.empty(2 * (self.depth + 1), np.int32)
        triples = learner.triples or Triples.empty(FIRST_TRIPLES, np.zeros_like(learner.moves))
        triples.renew_bounds(learner.moves, tags)
        while True:
            done = learn_ahead(sentences, text.offsets, text.rows, encoder.index.width, tags, learner.stride,
                               self.depth, self.margin, learner.gold, learner.slots, learner.features, learner.totals,
                               learner.moves, learner.move_totals, triples.bounds, triples.keys, triples.weights,
                               triples.totals, *self._workspace(tags), leaf, learner.counts)  # fmt: skip
            learner.triples, sentences = triples, sentences[done:]
            if not len(sentences):
                return
            learner.make_room(text.longest * encoder.index.width)
            most = 2 * (int(learner.counts[TRIPLES]) + 2 * (self.depth + 1) * text.longest)
            while len(triples.keys) < most:
                triples = triples.grown(2 * len(triples.keys))

    def tags(self, encoder: Encoder, text: EncodedCorpus, weights: TaggerWeights) -> Codes:
        tags, predicted, triples = len(encoder.tags), np.zeros(len(text.lists), np.int32), weights.triples
        assert triples is not None
        tag_ahead(text.offsets, text.rows, encoder.index.width, tags, self.stride(tags), self.depth, weights.slots,
                  weights.features, weights.moves, triples.bounds, triples.keys, triples.weights,
                  *self._workspace(tags), predicted)  # fmt: skip
        return predicted

    def _workspace(self, tags: int) -> tuple[Weights, Weights, Weights, Weights, Codes]:
        """Arrays that search writes to: scores of words, what may follow, what is promised, best scores, tags."""
        levels, stride = self.depth + 1, self.stride(tags)
        scores, follows, promises = (np.zeros(levels * stride, np.float32) for _ in range(3))
        return scores, follows, promises, np.zeros(2 * levels + 1, np.float32), np.zeros(2 * levels + 2, np.int32)


def _padded(tags: int) -> int:
    """All tags and the one before a sentence, and as many more as make whole lanes."""
    return (tags // LANES + 1) * LANES


@dataclass(frozen=True, slots=True, eq=False)
class PerceptronTagger:
    """A trained perceptron."""

    encoder: Encoder
    search: Viterbi | Lookahead
    weights: TaggerWeights

    def predict(self, corpus: Corpus) -> Corpus:
        """The corpus with the tags that the search finds."""
        tags = self.search.tags(self.encoder, self.encoder.encode(corpus), self.weights)
        return with_labels(corpus, self.encoder.column, Column(tags, self.encoder.tags))


class Learner:
    """Weights in training. Totals sum up changes times the visit they happened at, so that averages need no sums.

    A row of features gets a slot of `stride` weights with its first update.
    """

    def __init__(self, encoder: Encoder, search: Viterbi | Lookahead, train: Corpus) -> None:
        self.encoder, self.search = encoder, search
        self.text, self.gold = encoder.encode(train), encoder.gold(train)
        tags, rows = len(encoder.tags), encoder.index.size
        self.stride, moves = search.stride(tags), search.move_count(tags)
        self.slots, room = np.zeros(rows, np.int32), (rows if isinstance(search, Viterbi) else 0) * self.stride
        self.features, self.totals = np.zeros(room, np.float32), np.zeros(room)
        self.moves, self.move_totals = np.zeros(moves, np.float32), np.zeros(moves)
        self.triples: Triples | None = None
        self.counts = np.zeros(3, np.int64)  # of visits, of slots in use, and of triples

    def learn(self, sentences: Indices) -> None:
        """Visit these sentences once, in this order."""
        self.search.learn(self, sentences)

    def make_room(self, rows: int) -> None:
        """Let there be room for the weights of so many more rows."""
        needed = (int(self.counts[USED]) + 1 + rows) * self.stride
        if needed > len(self.features):
            more = max(needed, min(2 * len(self.features), (len(self.slots) + 1) * self.stride)) - len(self.features)
            self.features, self.totals = (
                np.concatenate([old, np.zeros(more, old.dtype)]) for old in (self.features, self.totals)
            )

    def tagger(self) -> PerceptronTagger:
        """The tagger with the average of the weights over all visits so far."""
        visits = max(1, int(self.counts[CLOCK]))
        used = (int(self.counts[USED]) + 1) * self.stride
        features = self.features[:used] - self.totals[:used] / visits
        moves = self.moves - self.move_totals / visits
        average = self.triples and self.triples.averaged(self.moves, self.move_totals, visits, len(self.encoder.tags))
        weights = TaggerWeights(self.slots.copy(), features.astype(np.float32), moves.astype(np.float32), average)
        return PerceptronTagger(self.encoder, self.search, weights)


@SYSTEMS.add(PERCEPTRON)
def perceptron(  # noqa: PLR0913 (each is a setting)
    *,
    column: str = "upos",
    order: int = 2,
    epochs: int = 30,
    patience: int = 5,
    untuned: int = 10,
    dictionary: int = 5,
    margin: int = 40,
    shuffle: bool = True,
) -> System:
    """Collins' averaged perceptron tagger, trained with a margin.

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
    margin
        By how much the gold tags have to beat other sequences in training, for each word whose tag differs; 0 updates
        weights after mistakes only, as Collins does.
    shuffle
        Visit the sentences in an order drawn by the seed; else as they stand, and the seed changes nothing.
    """
    check_at_least(PERCEPTRON, 1, epochs=epochs, patience=patience, untuned=untuned)
    check_at_least(PERCEPTRON, 0, dictionary=dictionary, margin=margin)
    if order not in (2, 3):
        raise InputError(f"{PERCEPTRON}: order={order}; expected 2 (tag pairs) or 3 (triples)")

    def train(train: Corpus, tune: Corpus | None, seed: int) -> PerceptronTagger:
        tags = training_tags(train, column, PERCEPTRON, most=MAX_TAGS[order])
        encoder = Encoder.of(train, tags, column, TEMPLATES, least=dictionary)
        learner = Learner(encoder, Viterbi(order, margin), train)
        if tune is not None and tune.words:
            return _best_epoch(learner, epoch_orders(train.sentences, epochs, seed, shuffle=shuffle), tune, patience)
        for sentences in epoch_orders(train.sentences, untuned, seed, shuffle=shuffle):
            learner.learn(sentences)
        return learner.tagger()

    return System(PERCEPTRON, train, tuned=True, most_labels=MAX_TAGS[order], randomness="seed" if shuffle else "none")


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

    def train(train: Corpus, _tune: Corpus | None, seed: int) -> PerceptronTagger:
        tags = training_tags(train, column, "lookahead.v1", most=MAX_TAGS_AHEAD)
        encoder = Encoder.of(train, tags, column, LOOKAHEAD_TEMPLATES, least=0)
        learner = Learner(encoder, Lookahead(depth, margin), train)
        for sentences in epoch_orders(train.sentences, epochs, seed, shuffle=True):
            learner.learn(sentences)
        return learner.tagger()

    return System("lookahead.v1", train, most_labels=MAX_TAGS_AHEAD)


def _best_epoch(learner: Learner, orders: Iterator[Indices], tune: Corpus, patience: int) -> PerceptronTagger:
    """Train until accuracy on tune has not risen for some epochs; returns the tagger of the first best epoch."""
    text, gold = learner.encoder.encode(tune), learner.encoder.gold(tune)
    best, tagger, since = -1, learner.tagger(), 0
    for sentences in orders:
        learner.learn(sentences)
        current = learner.tagger()
        correct = int(np.count_nonzero(learner.search.tags(learner.encoder, text, current.weights) == gold))
        since += 1
        if correct > best:
            best, tagger, since = correct, current, 0
        if since == patience:
            break
    return tagger


def epoch_orders(sentences: int, epochs: int, seed: int, *, shuffle: bool) -> Iterator[Indices]:
    """The order of the sentences in each epoch; that of epoch e depends on (seed, e) alone."""
    for epoch in range(epochs):
        yield permutation(sentences, rng=generator(seed, epoch)) if shuffle else np.arange(sentences)
