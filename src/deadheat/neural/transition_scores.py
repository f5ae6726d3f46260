"""Scores of transitions, and the choice among them: functions of one network, on the device or on the host.

Transitions are scored by the encoder's states of twelve words: three of the stack and one of the buffer, each with its
outermost descendants. Two networks of one hidden layer score the four transitions, and the transitions with relations;
a labelled transition has the sum. What the hidden layer gets from a word in each of the twelve positions is computed
once for all words of a batch, so that scoring a state only adds up twelve rows.

A labelled transition has a code: SHIFT and SWAP first, then LEFT with each of L relations, then RIGHT with each.
Functions with an argument `xp` do the same by jax.numpy and by numpy. Shapes: B sentences, T words, L relations,
C = 2 + 2L labelled transitions, K states, H hidden units.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from deadheat.neural import rng
from deadheat.neural.config import HyperParams, TransitionShape
from deadheat.neural.encoder import Batch, StringHashes, Weights, init_encoder, label_mask, run_layers_with_root
from deadheat.neural.rng import Key, random_rows
from deadheat.neural.text import Text
from deadheat.trees.archybrid import LEFT, NEVER, RIGHT, SHIFT, STAY, SWAP

Rows = NDArray[np.int32]

ARCS = 2  # codes below have no relation
POSITIONS = 12  # words that describe a state
NONE = -1
FORBIDDEN = -1e9
# Candidates for the best: transitions without relations, arcs with the gold relation, arcs with the best other one.
CANDIDATES = np.array([SHIFT, SWAP, LEFT, RIGHT, LEFT, RIGHT])
IS_GOLD = np.array([True, True, True, True, False, False])
SWAP_CODE = 1
SURE = 0.9  # how often a correct choice within the margin is followed


class OracleInput(NamedTuple):
    """What decides a transition in training, besides scores; arrays of the host or of the device."""

    positions: Any  # (K, 12): see `archybrid.features`
    costs: Any  # (K, 4): see `archybrid.costs`
    gold: Any  # the relation of s0


class Scorer(NamedTuple):
    """What is needed to score transitions in any state of some sentences."""

    rows: Array  # (B, T + 2, 12, 2H): what the hidden units get from the root, words, and no word, in each position
    columns: Array  # (2H, C)
    bias: Array


class MarginStates(NamedTuple):
    """States to learn from, and the codes of the best right and wrong transitions; K of each."""

    sentences: Array  # NONE: no state
    positions: Array  # (K, 12)
    right: Array
    wrong: Array


def transition_kinds(relations: int) -> Rows:
    """The transition of each code, and STAY for NONE."""
    return np.concatenate([[SHIFT, SWAP], np.repeat([LEFT, RIGHT], relations), [STAY]]).astype(np.int32)


def relation_count(codes: int) -> int:
    """The number of relations, if there are so many codes."""
    return (codes - ARCS) // 2


def init_weights(key: Key, shape: TransitionShape, hashes: StringHashes, vectors: Array | None = None) -> Weights:
    """Initial weights."""
    weights, states = init_encoder(key, shape, hashes, vectors)
    keys = [rng.make_key(key, 6 + number) for number in range(6)]
    hidden, bound = shape.hidden, (3.0 / shape.hidden) ** 0.5
    weights["root"] = rng.symmetric(keys[0], (shape.inputs,), (3.0 / shape.inputs) ** 0.5)
    weights["nowhere"] = rng.symmetric(keys[1], (states,), (3.0 / states) ** 0.5)
    input_bound = (6.0 / (POSITIONS * states + hidden)) ** 0.5
    weights["places"] = rng.symmetric(keys[2], (states, POSITIONS, 2 * hidden), input_bound)
    weights["bias"] = jnp.zeros(2 * hidden)
    weights["kinds"] = rng.symmetric(keys[3], (hidden, 4), bound), jnp.zeros(4)
    arcs = [random_rows(rng.make_key(keys[4], side), hashes.labels, hidden).T for side in range(2)]
    columns = jnp.concatenate([rng.symmetric(keys[5], (hidden, ARCS), bound), *arcs], axis=1)
    weights["labelled"] = columns, jnp.zeros(columns.shape[1])
    return weights


def make_scorer(
    weights: Weights,
    shape: TransitionShape,
    text: Text,
    split: Array,
    batch: Batch,
    hyper: HyperParams,
    key: Key | None,
) -> Scorer:
    """Encode sentences; with a key, as in training, words are replaced and units dropped."""
    states = run_layers_with_root(weights, shape, text, split, batch, hyper, key)
    return scorer_of(weights, states, text.known_labels[split])


def scorer_of(weights: Weights, states: Array, known_labels: Array) -> Scorer:
    """What scores transitions, from states (B, T + 1, 2U) of the root and all words, and the known relations."""
    nowhere = jnp.broadcast_to(weights["nowhere"], (len(states), 1, states.shape[2]))
    rows = jnp.einsum("bts,sph->btph", jnp.concatenate([states, nowhere], axis=1), weights["places"])
    rows = rows.at[:, :, 0].add(weights["bias"])  # every state has one word, or none, in the first position
    (for_kinds, kind_bias), (labelled, labelled_bias) = weights["kinds"], weights["labelled"]
    kind = transition_kinds(len(known_labels))[:-1]
    arcs = label_mask(known_labels)
    mask = jnp.concatenate([jnp.zeros(ARCS), arcs, arcs])
    columns = jnp.concatenate([for_kinds[:, kind], labelled])
    return Scorer(rows, columns, kind_bias[kind] + labelled_bias + mask)


def rows_of(sentences: Any, positions: Any, words: int, *, xp: Any = jnp) -> Any:
    """Indices (K, 12) of a scorer's flattened rows for states of these sentences."""
    at = sentences[:, None] * words + xp.where(positions < 0, words - 1, positions)
    return at * POSITIONS + xp.arange(POSITIONS)


def first_layer(scorer: Scorer, at: Any, *, xp: Any = jnp) -> Any:
    """The input of the hidden units (K, 2H) in states with these rows."""
    rows = scorer.rows.reshape(-1, scorer.rows.shape[-1])
    return xp.sum(xp.take(rows, at, axis=0, mode="clip"), axis=1)


def score_states(scorer: Scorer, positions: Any, *, xp: Any = jnp) -> Any:
    """Scores (B, C) of all labelled transitions in a state of each sentence."""
    at = rows_of(xp.arange(len(positions)), positions, scorer.rows.shape[1], xp=xp)
    return xp.tanh(first_layer(scorer, at, xp=xp)) @ scorer.columns + scorer.bias


def margin_loss(columns: Array, bias: Array, inputs: Array, states: MarginStates) -> Array:
    """The hinge loss of states in which every right transition should win by 1, given the hidden units' inputs."""
    difference = jax.nn.one_hot(states.right, len(bias)) - jax.nn.one_hot(states.wrong, len(bias))
    ahead = jnp.sum((jnp.tanh(inputs) @ columns + bias) * difference, axis=1)
    return jnp.sum(jnp.where(states.sentences >= 0, jnp.maximum(0.0, 1.0 - ahead), 0.0))


def choose_in_training(scores: Any, state: OracleInput, draws: Any, *, xp: Any = jnp) -> Any:
    """The best right code, the best wrong one, the one to take, and whether the right one wins by less than 1.

    Right are the transitions with the least cost; an arc also needs the gold relation. Where a swap is right it is
    taken, and where it is wrong it is not, because costs are not defined after a wrong one.
    """
    relations = relation_count(scores.shape[1])
    assert relations > 1, "texts are padded to two relations at least"
    others = xp.where(
        xp.arange(relations) == state.gold[:, None, None], FORBIDDEN, scores[:, ARCS:].reshape(-1, 2, relations)
    )
    gold, other = state.gold[:, None], xp.argmax(others, axis=2)
    first = np.array([0, SWAP_CODE, ARCS, ARCS + relations, ARCS, ARCS + relations], np.int32)
    codes = xp.concatenate([0 * gold, 0 * gold, gold, gold, other], axis=1) + first
    everyone = xp.arange(len(scores))[:, None]
    score = scores[everyone, codes]
    cost = xp.take(state.costs, CANDIDATES, axis=1)
    least = xp.min(cost, axis=1, keepdims=True)
    is_right = (cost == least) & IS_GOLD
    is_wrong = (cost < NEVER) & ~is_right
    for_right, for_wrong = xp.where(is_right, score, FORBIDDEN), xp.where(is_wrong, score, FORBIDDEN)
    right, wrong = xp.argmax(for_right, axis=1), xp.argmax(for_wrong, axis=1)
    ahead = xp.max(for_right, axis=1) - xp.max(for_wrong, axis=1)
    is_open = least[:, 0] < NEVER
    close = is_open & ~(ahead >= 1.0)  # also if it is NaN, so that the loss is NaN
    sure = (draws < 0.0) | ((ahead > 0.0) & (draws < SURE))
    swaps = (right == SWAP_CODE) | (wrong == SWAP_CODE)
    astray = close & xp.any(is_wrong, axis=1) & ~sure & ~swaps
    three = codes[everyone, xp.stack([right, wrong, xp.where(astray, wrong, right)], axis=1)]
    return xp.concatenate([xp.where(is_open[:, None], three, NONE), close[:, None]], axis=1).astype(np.int32)


def choose_best(scores: Any, legal: Any, *, xp: Any = jnp) -> Any:
    """The code of the best legal transition, or NONE."""
    kinds = transition_kinds(relation_count(scores.shape[1]))[:-1]
    allowed = xp.where(legal[:, kinds], scores, FORBIDDEN)
    return xp.where(xp.any(legal, axis=1), xp.argmax(allowed, axis=1), NONE).astype(np.int32)
