"""The BiLSTM-CNN-CRF tagger as functions of one network; stacks are made of them by `vmap`.

A softmax or a linear-chain conditional random field labels the words (Huang et al. 2015, Ma & Hovy 2016, Lample et al.
2016, with the options of Reimers & Gurevych 2017). Shapes: B sentences, T words, L labels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from numpy.typing import NDArray

from deadheat.neural import rng
from deadheat.neural.config import HyperParams, Shape
from deadheat.neural.encoder import Batch, StringHashes, Weights, init_encoder, label_mask, run_layers, word_vectors
from deadheat.neural.rng import Key, random_rows
from deadheat.neural.text import Text

SMALLEST = 1e-37  # a smaller sum of shifted exponentials is lost in single precision


class CRFWeights(NamedTuple):
    """Scores of a label b after a, `moves[a, b]`, and of labels at the two ends of a sentence."""

    moves: Array  # (L, L)
    first: Array  # (L,)
    last: Array  # (L,)


def init_weights(key: Key, shape: Shape, hashes: StringHashes, vectors: Array | None = None) -> Weights:
    """Initial weights. Words without a row in `vectors` (V, size), which is NaN, are drawn like all others."""
    weights, inputs = init_encoder(key, shape, hashes, vectors)
    columns = random_rows(rng.make_key(key, 4), hashes.labels, inputs) * (inputs / (inputs + 20.0)) ** 0.5
    labels = len(hashes.labels)
    weights["output"] = (columns.T, jnp.zeros(labels))
    if shape.classifier == "crf":
        weights["crf"] = CRFWeights(jnp.zeros((labels, labels)), jnp.zeros(labels), jnp.zeros(labels))
    return weights


def label_scores(
    weights: Weights, shape: Shape, text: Text, split: Array, batch: Batch, hyper: HyperParams, key: Key | None
) -> Array:
    """Scores (B, T, L) of all labels; with a key, as in training, words are replaced and units dropped."""
    x = word_vectors(weights, shape, text, split, batch, hyper, key)
    states = run_layers(weights, shape, x, batch.lengths, hyper, key)
    output, bias = weights["output"]
    scores: Array = states @ output + bias + label_mask(text.known_labels[split])
    return scores


def loss(
    weights: Weights, shape: Shape, text: Text, split: Array, batch: Batch, hyper: HyperParams, key: Key | None
) -> Array:
    """The negative log-likelihood of the gold labels, per word."""
    scores = label_scores(weights, shape, text, split, batch, hyper, key)
    words = jnp.maximum(jnp.sum(batch.inside), 1)
    if shape.classifier == "crf":
        losses = negative_log_likelihood(weights["crf"], scores, batch.lengths, batch.labels)
        return jnp.sum(jnp.where(batch.lengths > 0, losses, 0)) / words
    gold = jnp.take_along_axis(scores, batch.labels[:, :, None], axis=2)[:, :, 0]
    return jnp.sum(jnp.where(batch.inside, jax.nn.logsumexp(scores, axis=-1) - gold, 0)) / words


def outputs(weights: Weights, shape: Shape, text: Text, split: Array, batch: Batch) -> Array:
    """The label of each word: (B, T)."""
    scores = label_scores(weights, shape, text, split, batch, HyperParams(0.0), None)
    if shape.classifier == "crf":
        return best_sequences(weights["crf"], scores, batch.lengths).astype(jnp.int16)
    return jnp.argmax(scores, axis=-1).astype(jnp.int16)


def decode(shape: Shape, outputs: Any, lengths: NDArray[np.integer]) -> NDArray[np.integer]:
    """Labels (B, T): the outputs as they are."""
    del shape, lengths
    return np.asarray(outputs)


def log_partition(weights: CRFWeights, scores: Array, lengths: Array) -> Array:
    """The logarithm of the sum over all label sequences of each sentence: (B,)."""

    def step(total: Array, inputs: tuple[Array, Array]) -> tuple[Array, None]:
        emitted, position = inputs
        # A product of matrices of shifted exponentials, so that matrix units compute the inner sum.
        top = jnp.max(total, axis=-1, keepdims=True)
        summed = jnp.log(jnp.maximum(jnp.exp(total - top) @ moves, SMALLEST)) + top + highest
        return jnp.where((position < lengths)[:, None], summed + emitted, total), None

    highest = jnp.max(weights.moves, axis=0)
    moves = jnp.exp(weights.moves - highest)
    by_word = jnp.moveaxis(scores, 1, 0)
    start = weights.first + by_word[0]
    total, _ = lax.scan(step, start, (by_word[1:], jnp.arange(1, scores.shape[1])))
    return jax.nn.logsumexp(total + weights.last, axis=-1)


def sequence_score(weights: CRFWeights, scores: Array, lengths: Array, labels: Array) -> Array:
    """The score of one label sequence per sentence: (B,)."""
    inside = jnp.arange(scores.shape[1]) < lengths[:, None]
    emitted = jnp.take_along_axis(scores, labels[:, :, None], axis=2)[:, :, 0]
    moved = weights.moves[labels[:, :-1], labels[:, 1:]]
    end = jnp.take_along_axis(labels, jnp.maximum(lengths - 1, 0)[:, None], axis=1)[:, 0]
    total = jnp.sum(jnp.where(inside, emitted, 0), axis=1) + jnp.sum(jnp.where(inside[:, 1:], moved, 0), axis=1)
    return total + weights.first[labels[:, 0]] + weights.last[end]


def negative_log_likelihood(weights: CRFWeights, scores: Array, lengths: Array, labels: Array) -> Array:
    """The negative log-likelihood of each sentence's labels: (B,)."""
    return log_partition(weights, scores, lengths) - sequence_score(weights, scores, lengths, labels)


def best_sequences(weights: CRFWeights, scores: Array, lengths: Array) -> Array:
    """The best label sequence of each sentence (Viterbi): (B, T), with zeros after its end."""
    words = scores.shape[1]
    by_word = jnp.moveaxis(scores, 1, 0)

    def step(best: Array, inputs: tuple[Array, Array]) -> tuple[Array, Array]:
        emitted, position = inputs
        through = best[:, :, None] + weights.moves
        inside = (position < lengths)[:, None]
        same = jnp.broadcast_to(jnp.arange(best.shape[1]), best.shape)
        origin = jnp.where(inside, jnp.argmax(through, axis=1), same)
        return jnp.where(inside, jnp.max(through, axis=1) + emitted, best), origin

    best, origins = lax.scan(step, weights.first + by_word[0], (by_word[1:], jnp.arange(1, words)))
    end = jnp.argmax(best + weights.last, axis=-1)

    def back(label: Array, origin: Array) -> tuple[Array, Array]:
        return jnp.take_along_axis(origin, label[:, None], axis=1)[:, 0], label

    first, rest = lax.scan(back, end, origins, reverse=True)
    labels = jnp.concatenate([first[:, None], jnp.moveaxis(rest, 0, 1)], axis=1)
    return jnp.where(jnp.arange(words) < lengths[:, None], labels, 0)
