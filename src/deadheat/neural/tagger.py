"""The BiLSTM-CNN-CRF tagger

A linear-chain conditional random field: the score of a sequence, the sum over all, and the best one.

Shapes: B sentences, T words, L labels. `moves[a, b]` is the score of b after a; `first` and `last` those of a label at
the ends of a sentence. What follows the end of a sentence does not count.

The BiLSTM-CNN-CRF tagger as functions of one network; stacks are made of them by `vmap`.

Word vectors, casing and characters enter up to three bidirectional LSTM layers; a softmax or a random field labels the
words (Huang et al. 2015, Ma & Hovy 2016, Lample et al. 2016, with the options of Reimers & Gurevych 2017).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from numpy.typing import NDArray

from deadheat.neural.config import Numbers, Shape
from deadheat.neural.encoder import Batch, Marks, Weights, barred, initial_encoder, layered, word_vectors
from deadheat.neural.rng import Key, drawn_rows
from deadheat.neural.text import Text

LEAST = 1e-37  # of a sum of shifted exponentials: what is less is lost in single precision, and its logarithm none


class CRFWeights(NamedTuple):
    """Scores of neighbours and of ends."""

    moves: Array  # (L, L)
    first: Array  # (L,)
    last: Array  # (L,)


def log_partition(weights: CRFWeights, scores: Array, lengths: Array) -> Array:
    """The logarithm of the sum over all label sequences, for each sentence: (B,)."""

    def step(reached: Array, now: tuple[Array, Array]) -> tuple[Array, None]:
        emitted, at = now
        # Through a product of matrices of shifted exponentials: the inner sum is then the work of matrix units.
        top = jnp.max(reached, axis=-1, keepdims=True)
        summed = jnp.log(jnp.maximum(jnp.exp(reached - top) @ carried, LEAST)) + top + highest
        return jnp.where((at < lengths)[:, None], summed + emitted, reached), None

    highest = jnp.max(weights.moves, axis=0)
    carried = jnp.exp(weights.moves - highest)
    turned = jnp.moveaxis(scores, 1, 0)
    start = weights.first + turned[0]
    reached, _ = lax.scan(step, start, (turned[1:], jnp.arange(1, scores.shape[1])))
    return jax.nn.logsumexp(reached + weights.last, axis=-1)


def sequence_score(weights: CRFWeights, scores: Array, lengths: Array, labels: Array) -> Array:
    """The score of one label sequence a sentence: (B,)."""
    words = scores.shape[1]
    inside = jnp.arange(words) < lengths[:, None]
    emitted = jnp.take_along_axis(scores, labels[:, :, None], axis=2)[:, :, 0]
    moved = weights.moves[labels[:, :-1], labels[:, 1:]]
    end = jnp.take_along_axis(labels, jnp.maximum(lengths - 1, 0)[:, None], axis=1)[:, 0]
    total = jnp.sum(jnp.where(inside, emitted, 0), axis=1) + jnp.sum(jnp.where(inside[:, 1:], moved, 0), axis=1)
    return total + weights.first[labels[:, 0]] + weights.last[end]


def negative_log_likelihood(weights: CRFWeights, scores: Array, lengths: Array, labels: Array) -> Array:
    """How unlikely the labels of each sentence are: (B,)."""
    return log_partition(weights, scores, lengths) - sequence_score(weights, scores, lengths, labels)


def best_sequences(weights: CRFWeights, scores: Array, lengths: Array) -> Array:
    """The labels of the best sequence of each sentence (Viterbi): (B, T); zeros after its end."""
    words = scores.shape[1]
    turned = jnp.moveaxis(scores, 1, 0)

    def step(reached: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
        emitted, at = now
        through = reached[:, :, None] + weights.moves
        inside = (at < lengths)[:, None]
        stay = jnp.broadcast_to(jnp.arange(reached.shape[1]), reached.shape)
        origin = jnp.where(inside, jnp.argmax(through, axis=1), stay)
        return jnp.where(inside, jnp.max(through, axis=1) + emitted, reached), origin

    reached, origins = lax.scan(step, weights.first + turned[0], (turned[1:], jnp.arange(1, words)))
    end = jnp.argmax(reached + weights.last, axis=-1)

    def back(label: Array, origin: Array) -> tuple[Array, Array]:
        previous = jnp.take_along_axis(origin, label[:, None], axis=1)[:, 0]
        return previous, label

    first, rest = lax.scan(back, end, origins, reverse=True)
    labels = jnp.concatenate([first[:, None], jnp.moveaxis(rest, 0, 1)], axis=1)
    return jnp.where(jnp.arange(words) < lengths[:, None], labels, 0)


def initial_weights(key: Key, shape: Shape, marks: Marks, vectors: Array | None = None) -> Weights:
    """A network before training. Words that `vectors` (V, size) has no row for (NaN) are drawn like all others."""
    weights, inputs = initial_encoder(key, shape, marks, vectors)
    columns = drawn_rows(chance.key(key, 4), marks.labels, inputs) * (inputs / (inputs + 20.0)) ** 0.5
    weights["output"] = (columns.T, jnp.zeros(len(marks.labels)))
    if shape.classifier == "crf":
        labels = len(marks.labels)
        weights["crf"] = CRFWeights(jnp.zeros((labels, labels)), jnp.zeros(labels), jnp.zeros(labels))
    return weights


def label_scores(
    weights: Weights, shape: Shape, text: Text, split: Array, batch: Batch, numbers: Numbers, key: Key | None
) -> Array:
    """Scores (B, T, L) of all labels; with a key, as in training: words are replaced and units dropped."""
    x = word_vectors(weights, shape, text, split, batch, numbers, key)
    state = layered(weights, shape, x, batch.lengths, numbers, key)
    output, bias = weights["output"]
    scores: Array = state @ output + bias + barred(text.possible[split])
    return scores


def loss(
    weights: Weights, shape: Shape, text: Text, split: Array, batch: Batch, numbers: Numbers, key: Key | None
) -> Array:
    """The mean over words of how unlikely the gold labels are."""
    scores = label_scores(weights, shape, text, split, batch, numbers, key)
    words = jnp.maximum(jnp.sum(batch.inside), 1)
    if shape.classifier == "crf":
        unlikely = negative_log_likelihood(weights["crf"], scores, batch.lengths, batch.labels)
        return jnp.sum(jnp.where(batch.lengths > 0, unlikely, 0)) / words
    gold = jnp.take_along_axis(scores, batch.labels[:, :, None], axis=2)[:, :, 0]
    return jnp.sum(jnp.where(batch.inside, jax.nn.logsumexp(scores, axis=-1) - gold, 0)) / words


def outputs(weights: Weights, shape: Shape, text: Text, split: Array, batch: Batch) -> Array:
    """The label of each word: (B, T)."""
    scores = label_scores(weights, shape, text, split, batch, Numbers(0.0), None)
    if shape.classifier == "crf":
        return best_sequences(weights["crf"], scores, batch.lengths).astype(jnp.int16)
    return jnp.argmax(scores, axis=-1).astype(jnp.int16)


def decoded(shape: Shape, made: Any, lengths: NDArray[np.integer]) -> NDArray[np.integer]:
    """Labels (B, T) from what came from the device, which are labels already."""
    del shape, lengths
    return np.asarray(made)
