"""Parsers by deep biaffine attention: which word is the head of which (Dozat & Manning 2017).

A biaffine parser lets the encoder's states of all words score each other. A pointer parser (Fernández-González &
Gómez-Rodríguez 2019) reads them once more from left to right: the states of that decoder point at heads. A vector that
is learned stands for the root at the beginning of every sentence.

Shapes: B sentences, T words, L relations; arcs are (B, T + 1, T + 1), dependent by head, with the root as number 0.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from numpy.typing import NDArray

from deadheat.neural.config import AttentionShape, Numbers
from deadheat.neural.encoder import (
    Batch,
    Marks,
    Weights,
    barred,
    dropped_outputs,
    initial_encoder,
    layered,
    word_vectors,
)
from deadheat.neural.lstm import ONWARD, initial_lstm, one_way, product
from deadheat.neural.rng import Key
from deadheat.neural.text import Text
from deadheat.trees import beam_trees, best_projective_trees, best_trees

FORBIDDEN = -1e9
LEAK = 0.1  # slope of the rectifier below 0
ARC_DEPENDENT, ARC_HEAD, RELATION_DEPENDENT, RELATION_HEAD = range(4)


def initial_weights(key: Key, shape: AttentionShape, marks: Marks, vectors: Array | None = None) -> Weights:
    """A parser before training; biaffine weights are zeros, as their authors have them."""
    weights, states = initial_encoder(key, shape, marks, vectors)
    weights["root"] = chance.between(chance.key(key, 6), (shape.inputs,), (3.0 / shape.inputs) ** 0.5)
    pointing = states
    if shape.decoder:
        weights["decoder"] = jax.tree.map(lambda each: each[0], initial_lstm(chance.key(key, 7), states, shape.decoder))
        pointing = shape.decoder
    sizes = ((pointing, shape.arc_size), (states, shape.arc_size), (pointing, shape.relation_size),
             (states, shape.relation_size))  # fmt: skip
    weights["views"] = [_initial_view(chance.key(key, 8, at), *size) for at, size in enumerate(sizes)]
    weights["arcs"] = jnp.zeros((shape.arc_size + 1, shape.arc_size))
    weights["relations"] = jnp.zeros((len(marks.labels), shape.relation_size + 1, shape.relation_size + 1))
    return weights


def _initial_view(key: Key, inputs: int, size: int) -> tuple[Array, Array]:
    square, _ = jnp.linalg.qr(chance.normal(key, (max(inputs, size), min(inputs, size))))
    return (square if inputs >= size else square.T), jnp.zeros(size)


def views(
    weights: Weights, shape: AttentionShape, text: Text, split: Array, batch: Batch, numbers: Numbers, key: Key | None
) -> list[Array]:
    """What each position, the root the first, is as a dependent and as a head: for arcs, and for relations."""
    x = word_vectors(weights, shape, text, split, batch, numbers, key)
    root = jnp.broadcast_to(weights["root"], (len(x), 1, x.shape[2]))
    lengths = jnp.where(batch.lengths > 0, batch.lengths + 1, 0)
    states = layered(weights, shape, jnp.concatenate([root, x], axis=1), lengths, numbers, key)
    pointing = states
    if shape.decoder:
        pointing = dropped_outputs(_read_on(weights["decoder"], states), shape, numbers, key, 30)
    found = []
    for at, (weight, bias) in enumerate(weights["views"]):
        seen = product(pointing if at in (ARC_DEPENDENT, RELATION_DEPENDENT) else states, weight) + bias
        found.append(dropped_outputs(jnp.where(seen > 0, seen, LEAK * seen), shape, numbers, key, 40 + at))
    return found


def _read_on(weights: Any, states: Array) -> Array:
    """The states of an LSTM that reads from left to right: (B, T + 1, U)."""
    entering = jnp.moveaxis(states, 1, 0) @ weights.inputs
    everything = jnp.ones((1, entering.shape[1], weights.recurrent.shape[0]), states.dtype)
    there = jnp.ones((*entering.shape[:2], 1), bool)
    found = one_way(entering, weights.recurrent, weights.bias, everything, there, ONWARD)
    return jnp.moveaxis(found, 0, 1)


def arc_scores(weights: Weights, seen: list[Array], batch: Batch) -> Array:
    """Scores of all arcs; no word is its own head, and none has its head behind the end."""
    scores = jnp.einsum("bdi,ij,bhj->bdh", _with_one(seen[ARC_DEPENDENT]), weights["arcs"], seen[ARC_HEAD])
    places = jnp.arange(scores.shape[1])
    allowed = (places <= batch.lengths[:, None])[:, None, :] & (places[:, None] != places)
    return jnp.where(allowed, scores, FORBIDDEN)


def loss(
    weights: Weights, shape: AttentionShape, text: Text, split: Array, batch: Batch, numbers: Numbers, key: Key | None
) -> Array:
    """The mean over words of how unlikely the gold head is, and the gold relation given that head."""
    seen = views(weights, shape, text, split, batch, numbers, key)
    heads = jnp.where(batch.inside, batch.more["heads"], 0)  # one beyond the batch's words would be no number
    arcs = arc_scores(weights, seen, batch)[:, 1:]
    unlikely = jax.nn.logsumexp(arcs, axis=-1) - jnp.take_along_axis(arcs, heads[:, :, None], axis=2)[:, :, 0]
    dependents = _with_one(seen[RELATION_DEPENDENT])[:, 1:]
    governors = jnp.take_along_axis(_with_one(seen[RELATION_HEAD]), heads[:, :, None], axis=1)
    scores = relation_scores(dependents, weights["relations"], governors)
    scores += barred(text.possible[split])
    gold = jnp.take_along_axis(scores, batch.labels[:, :, None], axis=2)[:, :, 0]
    unlikely += jax.nn.logsumexp(scores, axis=-1) - gold
    return jnp.sum(jnp.where(batch.inside, unlikely, 0.0)) / jnp.maximum(jnp.sum(batch.inside), 1)


@jax.custom_vjp
def relation_scores(dependents: Array, weights: Array, governors: Array) -> Array:
    """How well each relation fits between words and their heads: (B, T, L) from (B, T, I), (L, I, I), (B, T, I).

    What passes back to a word with every relation is the largest array of a step; automatic differentiation would make
    it twice, once for each way that it lies.
    """
    return _relations_forward(dependents, weights, governors)[0]


def _relations_forward(dependents: Array, weights: Array, governors: Array) -> tuple[Array, tuple[Array, ...]]:
    sentences, words, size = dependents.shape
    side_by_side = jnp.moveaxis(weights, 0, 1).reshape(size, -1)
    met = (dependents.reshape(-1, size) @ side_by_side).reshape(sentences * words, -1, size)
    scores = jnp.einsum("nlj,nj->nl", met, governors.reshape(-1, size))
    return scores.reshape(sentences, words, -1), (dependents, side_by_side, governors, met)


def _relations_backward(saved: tuple[Array, ...], wanted: Array) -> tuple[Array, Array, Array]:
    dependents, side_by_side, governors, met = saved
    shape, size, relations = dependents.shape, dependents.shape[2], wanted.shape[2]
    asked = wanted.reshape(-1, relations)
    to_met = (asked[:, :, None] * governors.reshape(-1, 1, size)).reshape(len(asked), -1)
    to_met = lax.optimization_barrier(to_met)  # type: ignore[no-untyped-call]
    to_weights = (dependents.reshape(-1, size).T @ to_met).reshape(size, relations, size)
    to_governors = jnp.einsum("nl,nlj->nj", asked, met)
    return (to_met @ side_by_side.T).reshape(shape), jnp.moveaxis(to_weights, 1, 0), to_governors.reshape(shape)


relation_scores.defvjp(_relations_forward, _relations_backward)


def outputs(weights: Weights, shape: AttentionShape, text: Text, split: Array, batch: Batch) -> tuple[Array, Array]:
    """Scores of all arcs, and the best relation of each: (B, T + 1, T + 1)."""
    seen = views(weights, shape, text, split, batch, Numbers(0.0), None)
    possible = barred(text.possible[split])
    governors = _with_one(seen[RELATION_HEAD])

    def of_dependent(dependent: Array) -> Array:  # (B, R + 1); one place after the other bounds the memory
        scores = jnp.einsum("blj,bhj->bhl", jnp.einsum("bi,lij->blj", dependent, weights["relations"]), governors)
        return jnp.argmax(scores + possible, axis=-1).astype(jnp.int16)

    best = jax.lax.map(of_dependent, jnp.moveaxis(_with_one(seen[RELATION_DEPENDENT]), 1, 0))
    return arc_scores(weights, seen, batch), jnp.moveaxis(best, 0, 1)


def decoded(shape: AttentionShape, made: Any, lengths: NDArray[np.integer]) -> NDArray[np.integer]:
    """The head and the relation of each word, (B, T, 2): the best tree with one root."""
    arcs, relations = made
    real = np.flatnonzero(lengths)
    found = np.zeros((len(lengths), arcs.shape[1] - 1, 2), np.int32)
    offsets = np.concatenate([[0], np.cumsum(lengths[real])])
    heads = _trees(shape, np.asarray(arcs)[real], offsets)
    sentence = np.repeat(real, lengths[real])
    word = np.arange(len(heads)) - np.repeat(offsets[:-1], lengths[real])
    found[sentence, word, 0] = heads
    found[sentence, word, 1] = np.asarray(relations)[sentence, word + 1, heads]
    return found


def _trees(shape: AttentionShape, arcs: NDArray[np.floating], offsets: NDArray[np.int64]) -> NDArray[np.integer]:
    if shape.trees == "projective":
        return best_projective_trees(arcs, offsets)
    if shape.trees == "beam":
        return beam_trees(arcs, offsets, beam=shape.beam)
    return best_trees(arcs, offsets)


def _with_one(x: Array) -> Array:
    return jnp.concatenate([x, jnp.ones((*x.shape[:-1], 1), x.dtype)], axis=-1)
