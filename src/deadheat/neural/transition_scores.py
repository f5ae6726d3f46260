"""Scores of transitions, and the choice among them: functions of one network, of the device or of the host.

Transitions are scored by the encoder's states of twelve words: three of the stack and one of the buffer, each with the
outermost words below it. Two networks of one hidden layer score the four transitions, and those with relations; a
labelled transition has the sum. To score a state only twelve rows are added up, since what the hidden layer gets of a
word in each of the twelve places is worked out once for all words of a batch.

Functions with an argument `xp` do the same by jax.numpy and by numpy. Shapes: B sentences, T words, L relations,
C = 2 + 2L labelled transitions, K states, H hidden units.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from deadheat.neural.config import Numbers, TransitionShape
from deadheat.neural.encoder import Batch, Marks, Weights, barred, initial_encoder, layered, word_vectors
from deadheat.neural.rng import Key, drawn_rows
from deadheat.neural.text import Text
from deadheat.neural.transitions import ARCS, NONE, PLACES, Question, Rows, kinds
from deadheat.trees.archybrid import LEFT, NEVER, RIGHT, SHIFT, SWAP

FORBIDDEN = -1e9
# What may be best: transitions without relations, arcs with the gold relation, arcs with the best other one.
CANDIDATES = np.array([SHIFT, SWAP, LEFT, RIGHT, LEFT, RIGHT])
IS_GOLD = np.array([True, True, True, True, False, False])
SWAP_CODE = 1
SURE = 0.9  # how often a network that is right, but not by 1, is not led astray


class Scorer(NamedTuple):
    """What is needed to score transitions in any state of some sentences."""

    rows: Array  # (B, T + 2, 12, 2H): what the hidden units get of the root, of words, and of no word, in each place
    columns: Array  # (2H, C)
    bias: Array


class Batched(NamedTuple):
    """States in which to learn, and the codes of the best right and wrong transitions; K of each."""

    sentences: Array  # NONE: no state
    places: Array  # (K, 12)
    right: Array
    wrong: Array


def initial_weights(key: Key, shape: TransitionShape, marks: Marks, vectors: Array | None = None) -> Weights:
    """A parser before training."""
    weights, states = initial_encoder(key, shape, marks, vectors)
    own = [chance.key(key, 6 + number) for number in range(6)]
    hidden, bound = shape.hidden, (3.0 / shape.hidden) ** 0.5
    weights["root"] = chance.between(own[0], (shape.inputs,), (3.0 / shape.inputs) ** 0.5)
    weights["nowhere"] = chance.between(own[1], (states,), (3.0 / states) ** 0.5)
    weights["places"] = chance.between(own[2], (states, PLACES, 2 * hidden), (6.0 / (PLACES * states + hidden)) ** 0.5)
    weights["bias"] = jnp.zeros(2 * hidden)
    weights["kinds"] = chance.between(own[3], (hidden, 4), bound), jnp.zeros(4)
    arcs = [drawn_rows(chance.key(own[4], side), marks.labels, hidden).T for side in range(2)]
    columns = jnp.concatenate([chance.between(own[5], (hidden, ARCS), bound), *arcs], axis=1)
    weights["labelled"] = columns, jnp.zeros(columns.shape[1])
    return weights


def scorer(
    weights: Weights, shape: TransitionShape, text: Text, split: Array, batch: Batch, numbers: Numbers, key: Key | None
) -> Scorer:
    """Read sentences; with a key, as in training: words are replaced and units dropped."""
    x = word_vectors(weights, shape, text, split, batch, numbers, key)
    root = jnp.broadcast_to(weights["root"], (len(x), 1, x.shape[2]))
    lengths = jnp.where(batch.lengths > 0, batch.lengths + 1, 0)
    states = layered(weights, shape, jnp.concatenate([root, x], axis=1), lengths, numbers, key)
    return scorer_of(weights, states, text.possible[split])


def scorer_of(weights: Weights, states: Array, possible: Array) -> Scorer:
    """What scores transitions, from states (B, T + 1, 2U) of the root and of all words, and possible relations."""
    nowhere = jnp.broadcast_to(weights["nowhere"], (len(states), 1, states.shape[2]))
    rows = jnp.einsum("bts,sph->btph", jnp.concatenate([states, nowhere], axis=1), weights["places"])
    rows = rows.at[:, :, 0].add(weights["bias"])  # every state has one word, or none, in the first place
    (for_kinds, kind_bias), (labelled, labelled_bias) = weights["kinds"], weights["labelled"]
    kind = kinds(len(possible))[:-1]
    arcs = barred(possible)
    excluded = jnp.concatenate([jnp.zeros(ARCS), arcs, arcs])
    columns = jnp.concatenate([for_kinds[:, kind], labelled])
    return Scorer(rows, columns, kind_bias[kind] + labelled_bias + excluded)


def rows_of(sentences: Any, places: Any, words: int, *, xp: Any = jnp) -> Any:
    """Which rows (K, 12) of a scorer's, all in a line, belong to the places of states of these sentences."""
    at = sentences[:, None] * words + xp.where(places < 0, words - 1, places)
    return at * PLACES + xp.arange(PLACES)


def first_layer(known: Scorer, at: Any, *, xp: Any = jnp) -> Any:
    """What reaches the hidden units (K, 2H) in states with these rows."""
    rows = known.rows.reshape(-1, known.rows.shape[-1])
    return xp.sum(xp.take(rows, at, axis=0, mode="clip"), axis=1)


def last_layer(known: Scorer, added: Any, *, xp: Any = jnp) -> Any:
    """Scores (K, C) of all labelled transitions, from what reaches the hidden units."""
    return xp.tanh(added) @ known.columns + known.bias


def scores(known: Scorer, places: Any, *, xp: Any = jnp) -> Any:
    """Scores (B, C) of all labelled transitions in a state of each sentence."""
    at = rows_of(xp.arange(len(places)), places, known.rows.shape[1], xp=xp)
    return last_layer(known, first_layer(known, at, xp=xp), xp=xp)


def loss_of(columns: Array, bias: Array, added: Array, states: Batched) -> Array:
    """How much is missing until every right transition is ahead by 1, given what reaches the hidden units."""
    apart = jax.nn.one_hot(states.right, len(bias)) - jax.nn.one_hot(states.wrong, len(bias))
    ahead = jnp.sum((jnp.tanh(added) @ columns + bias) * apart, axis=1)
    return jnp.sum(jnp.where(states.sentences >= 0, jnp.maximum(0.0, 1.0 - ahead), 0.0))


def chosen(found: Any, seen: Question, draws: Any, *, xp: Any = jnp) -> Any:
    """The best right code, the best wrong one, the one to take, and whether the right one is ahead by less than 1.

    Right are the transitions that cost the least; an arc, if it has the gold relation of its word as well. Where a
    swap is right it is taken, and where it is wrong it is not: costs are not meant for what follows a wrong one.
    """
    relations = relations_among(found.shape[1])
    assert relations > 1, "texts have room for two relations at least"
    others = xp.where(
        xp.arange(relations) == seen.gold[:, None, None], FORBIDDEN, found[:, ARCS:].reshape(-1, 2, relations)
    )
    gold, other = seen.gold[:, None], xp.argmax(others, axis=2)
    codes = xp.concatenate([0 * gold, 0 * gold, gold, gold, other], axis=1) + _firsts(relations)
    everyone = xp.arange(len(found))[:, None]
    score = found[everyone, codes]
    cost = xp.take(seen.costs, CANDIDATES, axis=1)
    least = xp.min(cost, axis=1, keepdims=True)
    is_right = (cost == least) & IS_GOLD
    is_wrong = (cost < NEVER) & ~is_right
    for_right, for_wrong = xp.where(is_right, score, FORBIDDEN), xp.where(is_wrong, score, FORBIDDEN)
    right, wrong = xp.argmax(for_right, axis=1), xp.argmax(for_wrong, axis=1)
    ahead = xp.max(for_right, axis=1) - xp.max(for_wrong, axis=1)
    is_open = least[:, 0] < NEVER
    close = is_open & ~(ahead >= 1.0)  # if that is no number, its loss shall be none
    sure = (draws < 0.0) | ((ahead > 0.0) & (draws < SURE))
    swaps = (right == SWAP_CODE) | (wrong == SWAP_CODE)
    astray = close & xp.any(is_wrong, axis=1) & ~sure & ~swaps
    three = codes[everyone, xp.stack([right, wrong, xp.where(astray, wrong, right)], axis=1)]
    return xp.concatenate([xp.where(is_open[:, None], three, NONE), close[:, None]], axis=1).astype(np.int32)


def best(found: Any, legal: Any, *, xp: Any = jnp) -> Any:
    """The code of the best legal transition, or NONE."""
    allowed = xp.where(legal[:, _kinds(found.shape[1])], found, FORBIDDEN)
    return xp.where(xp.any(legal, axis=1), xp.argmax(allowed, axis=1), NONE).astype(np.int32)


def relations_among(codes: int) -> int:
    """How many relations there are, if there are so many codes."""
    return (codes - ARCS) // 2


def _firsts(relations: int) -> Rows:
    """The codes of candidates with the first relation."""
    return np.array([0, SWAP_CODE, ARCS, ARCS + relations, ARCS, ARCS + relations], np.int32)


def _kinds(codes: int) -> Rows:
    return kinds(relations_among(codes))[:-1]
