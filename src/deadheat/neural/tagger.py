"""Networks that label words: the BiLSTM-CNN-CRF tagger, and parsing as labelling words with brackets.

A softmax or a linear-chain conditional random field labels the words (Huang et al. 2015, Ma & Hovy 2016, Lample et al.
2016, with the options of Reimers & Gurevych 2017). The bracketing parser (Strzyz, Vilares & Gómez-Rodríguez 2020) gives
each word three labels by three softmaxes. All its labels are in one list: relations, then those of plane 1 and of plane
2, so that initial weights depend on the strings only, and labels that are not in train are impossible. Codes count from
the beginning of each kind. Functions are of one network; stacks are made of them by `vmap`.

Shapes: B sentences, T words, L labels.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from deadheat.neural import encoder, rng
from deadheat.neural.config import BracketShape, HyperParams, Shape, Variant
from deadheat.neural.encoder import Batch, StringHashes, Weights
from deadheat.neural.lstm import DIRECTIONS
from deadheat.neural.rng import Key, random_rows

SMALLEST = 1e-37  # a smaller sum of shifted exponentials is lost in single precision
PLANES = ("plane1", "plane2")  # their codes in the extra columns of a text; those of relations are its labels


class CRFWeights(NamedTuple):
    """Scores of a label b after a, `moves[a, b]`, and of labels at the two ends of a sentence."""

    moves: Array  # (L, L)
    first: Array  # (L,)
    last: Array  # (L,)


def init_weights(
    key: Key, shape: Shape, hashes: StringHashes, vectors: Array | None = None, variant: Variant | None = None
) -> Weights:
    """Initial weights. Words without a row in `vectors` (V, size), which is NaN, are drawn like all others."""
    labels = len(hashes.labels)
    if isinstance(shape, BracketShape):
        expected = shape.relations + sum(shape.planes)
        assert labels >= expected, f"{labels} labels; expected {expected}: relations, then both planes"
    weights, inputs = encoder.init_encoder(key, shape, hashes, vectors, variant)
    if shape.varied:
        units = encoder.last_units(weights["variant"])
        positions, states = encoder.unit_positions(units, shape.units[-1]), DIRECTIONS * units
        columns = rng.random_rows_at(rng.make_key(key, 4), hashes.labels, positions, states)
        columns = jnp.where(positions < states, columns, 0.0) * (states / (states + 20.0)) ** 0.5
    else:
        columns = random_rows(rng.make_key(key, 4), hashes.labels, inputs) * (inputs / (inputs + 20.0)) ** 0.5
    weights["output"] = (columns.T, jnp.zeros(labels))
    if shape.classifier == "crf":
        weights["crf"] = CRFWeights(jnp.zeros((labels, labels)), jnp.zeros(labels), jnp.zeros(labels))
    return weights


def label_scores(weights: Weights, shape: Shape, batch: Batch, hyper: HyperParams, key: Key | None) -> Array:
    """Scores (B, T, L) of all labels; with a key, as in training, words are replaced and units dropped."""
    x = encoder.word_vectors(weights, shape, batch, hyper, key)
    states = encoder.run_layers(weights, shape, x, batch.lengths, hyper, key)
    output, bias = weights["output"]
    scores: Array = states @ output + bias + encoder.label_mask(batch.text.known_labels[batch.split])
    return scores


def loss(weights: Weights, shape: Shape, batch: Batch, hyper: HyperParams, key: Key | None) -> Array:
    """The negative log-likelihood of the gold labels, all kinds together, per word."""
    scores = label_scores(weights, shape, batch, hyper, key)
    if isinstance(shape, BracketShape):
        gold = [*(batch.extra[name] for name in PLANES), batch.labels]
        kinds = zip(shape.kinds, gold, strict=True)
        losses = sum(
            (encoder.cross_entropy(scores[:, :, kind], codes) for kind, codes in kinds), jnp.zeros(batch.inside.shape)
        )
        return encoder.mean_over_words(losses, batch)
    if shape.classifier == "softmax":
        return encoder.mean_over_words(encoder.cross_entropy(scores, batch.labels), batch)
    losses = negative_log_likelihood(weights["crf"], scores, batch.lengths, batch.labels)
    joint: Array = jnp.sum(jnp.where(batch.lengths > 0, losses, 0)) / jnp.maximum(jnp.sum(batch.inside), 1)
    if not shape.varied:
        return joint
    single = encoder.mean_over_words(encoder.cross_entropy(scores, batch.labels), batch)
    return jnp.where(jax.lax.stop_gradient(weights["variant"].crf) > 0, joint, single)


def outputs(weights: Weights, shape: Shape, batch: Batch) -> Array:
    """The label of each word, (B, T), or its labels of plane 1 and plane 2 and its relation, (B, T, 3)."""
    scores = label_scores(weights, shape, batch, HyperParams(0.0), None)
    if isinstance(shape, BracketShape):
        labels = jnp.stack([jnp.argmax(scores[:, :, kind], axis=-1) for kind in shape.kinds], axis=-1)
    elif shape.classifier == "crf":
        labels = best_sequences(weights["crf"], scores, batch.lengths)
        if shape.varied:
            labels = jnp.where(weights["variant"].crf > 0, labels, jnp.argmax(scores, axis=-1))
    else:
        labels = jnp.argmax(scores, axis=-1)
    return labels.astype(jnp.int16)


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
