"""Parsers by deep biaffine attention: every word is scored as the head of every other (Dozat & Manning 2017).

A biaffine parser scores arcs from the encoder's states. A pointer parser (Fernández-González & Gómez-Rodríguez 2019)
reads the states once more from left to right, and the states of that decoder point at heads.

Shapes: B sentences, T words, L relations; arcs are (B, T + 1, T + 1), dependent by head, with the root as number 0.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import offsets_of
from deadheat.neural import encoder, rng
from deadheat.neural.config import AttentionShape, HyperParams
from deadheat.neural.encoder import Batch, StringHashes, Weights
from deadheat.neural.lstm import FORWARD, init_lstm, lstm_direction, matmul
from deadheat.neural.rng import Key
from deadheat.trees import beam_trees, best_projective_trees, best_trees

FORBIDDEN = -1e9
LEAK = 0.1  # slope of the leaky rectifier below 0
ARC_DEPENDENT, ARC_HEAD, RELATION_DEPENDENT, RELATION_HEAD = range(4)


def init_weights(key: Key, shape: AttentionShape, hashes: StringHashes, vectors: Array | None = None) -> Weights:
    """Initial weights; biaffine ones are zeros, as their authors have them."""
    weights, states = encoder.init_encoder(key, shape, hashes, vectors)
    weights["root"] = rng.symmetric(rng.make_key(key, 6), (shape.inputs,), (3.0 / shape.inputs) ** 0.5)
    pointing = states
    if shape.decoder:
        both = init_lstm(rng.make_key(key, 7), states, shape.decoder)
        weights["decoder"] = jax.tree.map(lambda leaf: leaf[0], both)
        pointing = shape.decoder
    sizes = ((pointing, shape.arc_size), (states, shape.arc_size), (pointing, shape.relation_size),
             (states, shape.relation_size))  # fmt: skip
    weights["views"] = [_init_projection(rng.make_key(key, 8, number), *size) for number, size in enumerate(sizes)]
    weights["arcs"] = jnp.zeros((shape.arc_size + 1, shape.arc_size))
    weights["relations"] = jnp.zeros((len(hashes.labels), shape.relation_size + 1, shape.relation_size + 1))
    return weights


def _init_projection(key: Key, inputs: int, size: int) -> tuple[Array, Array]:
    square, _ = jnp.linalg.qr(rng.normal(key, (max(inputs, size), min(inputs, size))))
    return (square if inputs >= size else square.T), jnp.zeros(size)


def project_states(
    weights: Weights, shape: AttentionShape, batch: Batch, hyper: HyperParams, key: Key | None
) -> list[Array]:
    """Vectors of the root and all words as dependents and as heads, for arcs and for relations."""
    states = encoder.run_layers_with_root(weights, shape, batch, hyper, key)
    pointing = states
    if shape.decoder:
        pointing = encoder.drop_outputs(_run_decoder(weights["decoder"], states), shape, hyper, key, 30)
    projections = []
    for number, (weight, bias) in enumerate(weights["views"]):
        x = matmul(pointing if number in (ARC_DEPENDENT, RELATION_DEPENDENT) else states, weight) + bias
        projections.append(encoder.drop_outputs(jnp.where(x > 0, x, LEAK * x), shape, hyper, key, 40 + number))
    return projections


def _run_decoder(weights: Any, states: Array) -> Array:
    """The states of an LSTM that reads from left to right: (B, T + 1, U)."""
    gates = jnp.moveaxis(states, 1, 0) @ weights.inputs
    mask = jnp.ones((1, gates.shape[1], weights.recurrent.shape[0]), states.dtype)
    present = jnp.ones((*gates.shape[:2], 1), bool)
    return jnp.moveaxis(lstm_direction(gates, weights.recurrent, weights.bias, mask, present, FORWARD), 0, 1)


def arc_scores(weights: Weights, projections: list[Array], batch: Batch) -> Array:
    """Scores of all arcs; no word is its own head, and padding is no head."""
    dependents = _append_one(projections[ARC_DEPENDENT])
    scores = jnp.einsum("bdi,ij,bhj->bdh", dependents, weights["arcs"], projections[ARC_HEAD])
    positions = jnp.arange(scores.shape[1])
    allowed = (positions <= batch.lengths[:, None])[:, None, :] & (positions[:, None] != positions)
    return jnp.where(allowed, scores, FORBIDDEN)


def loss(weights: Weights, shape: AttentionShape, batch: Batch, hyper: HyperParams, key: Key | None) -> Array:
    """The negative log-likelihood of the gold head, and of the gold relation given that head, per word."""
    projections = project_states(weights, shape, batch, hyper, key)
    heads = jnp.where(batch.inside, batch.extra["heads"], 0)  # an index beyond the batch would give NaN
    arcs = arc_scores(weights, projections, batch)[:, 1:]
    losses = encoder.cross_entropy(arcs, heads)
    dependents = _append_one(projections[RELATION_DEPENDENT])[:, 1:]
    governors = jnp.take_along_axis(_append_one(projections[RELATION_HEAD]), heads[:, :, None], axis=1)
    scores = relation_scores(dependents, weights["relations"], governors)
    scores += encoder.label_mask(batch.text.known_labels[batch.split])
    return encoder.mean_over_words(losses + encoder.cross_entropy(scores, batch.labels), batch)


@jax.custom_vjp
def relation_scores(dependents: Array, weights: Array, governors: Array) -> Array:
    """Scores (B, T, L) of relations between words and their heads, from (B, T, I), (L, I, I), (B, T, I).

    The gradient of a word with every relation is the largest array of a step. Automatic differentiation would create it
    twice, in two layouts.
    """
    return _relations_forward(dependents, weights, governors)[0]


def _relations_forward(dependents: Array, weights: Array, governors: Array) -> tuple[Array, tuple[Array, ...]]:
    sentences, words, size = dependents.shape
    matrix = jnp.moveaxis(weights, 0, 1).reshape(size, -1)
    products = (dependents.reshape(-1, size) @ matrix).reshape(sentences * words, -1, size)
    scores = jnp.einsum("nlj,nj->nl", products, governors.reshape(-1, size))
    return scores.reshape(sentences, words, -1), (dependents, matrix, governors, products)


def _relations_backward(saved: tuple[Array, ...], gradient: Array) -> tuple[Array, Array, Array]:
    dependents, matrix, governors, products = saved
    shape, size, relations = dependents.shape, dependents.shape[2], gradient.shape[2]
    rows = gradient.reshape(-1, relations)
    to_products = (rows[:, :, None] * governors.reshape(-1, 1, size)).reshape(len(rows), -1)
    to_products = lax.optimization_barrier(to_products)  # type: ignore[no-untyped-call]
    to_weights = (dependents.reshape(-1, size).T @ to_products).reshape(size, relations, size)
    to_governors = jnp.einsum("nl,nlj->nj", rows, products)
    return (to_products @ matrix.T).reshape(shape), jnp.moveaxis(to_weights, 1, 0), to_governors.reshape(shape)


relation_scores.defvjp(_relations_forward, _relations_backward)


def outputs(weights: Weights, shape: AttentionShape, batch: Batch) -> tuple[Array, Array]:
    """Scores of all arcs, and the best relation of each: (B, T + 1, T + 1)."""
    projections = project_states(weights, shape, batch, HyperParams(0.0), None)
    mask = encoder.label_mask(batch.text.known_labels[batch.split])
    governors = _append_one(projections[RELATION_HEAD])

    def best_relations(dependent: Array) -> Array:  # of one position, (B, I), which bounds the memory
        scores = jnp.einsum("blj,bhj->bhl", jnp.einsum("bi,lij->blj", dependent, weights["relations"]), governors)
        return jnp.argmax(scores + mask, axis=-1).astype(jnp.int16)

    best = jax.lax.map(best_relations, jnp.moveaxis(_append_one(projections[RELATION_DEPENDENT]), 1, 0))
    return arc_scores(weights, projections, batch), jnp.moveaxis(best, 0, 1)


def decode(shape: AttentionShape, outputs: Any, lengths: NDArray[np.integer]) -> NDArray[np.integer]:
    """The head and the relation of each word, (B, T, 2): the best tree with one root."""
    arcs, relations = outputs
    real = np.flatnonzero(lengths)
    decoded = np.zeros((len(lengths), arcs.shape[1] - 1, 2), np.int32)
    offsets = offsets_of(lengths[real])
    arcs = np.asarray(arcs)[real]
    if shape.trees == "beam":
        heads = beam_trees(arcs, offsets, beam=shape.beam)
    else:
        heads = (best_projective_trees if shape.trees == "projective" else best_trees)(arcs, offsets)
    sentence = np.repeat(real, lengths[real])
    word = np.arange(len(heads)) - np.repeat(offsets[:-1], lengths[real])
    decoded[sentence, word, 0] = heads
    decoded[sentence, word, 1] = np.asarray(relations)[sentence, word + 1, heads]
    return decoded


def _append_one(x: Array) -> Array:
    return jnp.concatenate([x, jnp.ones((*x.shape[:-1], 1), x.dtype)], axis=-1)
