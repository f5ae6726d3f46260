"""A transition-based parser: arc-hybrid with swaps, by the states of a BiLSTM (Kiperwasser & Goldberg 2016).

Sentences take transitions side by side on the host, as scores decide. In training a network is led astray on purpose
where it would have made the mistake itself (de Lhoneux, Stymne & Nivre 2017), and then learns from all states in which
the right transition did not win by 1. A stack's states have one row per network and sentence.

Transitions are scored by the encoder's states of twelve words: three of the stack and one of the buffer, each with its
outermost descendants. Two networks of one hidden layer score the four transitions, and the transitions with relations;
a labelled transition has the sum. What the hidden layer gets from a word in each of the twelve positions is computed
once for all words of a batch, so that scoring a state only adds up twelve rows.

A labelled transition has a code: SHIFT and SWAP first, then LEFT with each of L relations, then RIGHT with each.
Functions with an argument `xp` do the same by jax.numpy and by numpy. Shapes: B sentences, T words, L relations,
C = 2 + 2L labelled transitions, K states, H hidden units.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import offsets_of
from deadheat.neural import rng
from deadheat.neural.config import HyperParams, TransitionShape
from deadheat.neural.devices import compile_program, on_accelerator
from deadheat.neural.encoder import StringHashes, Weights, init_encoder, label_mask, make_batch, run_layers_with_root
from deadheat.neural.programs import BatchIndex, Programs, RngState
from deadheat.neural.rng import Key, random_rows
from deadheat.neural.text import Text
from deadheat.trees import archybrid
from deadheat.trees.archybrid import LEFT, NEVER, RIGHT, SHIFT, STAY, SWAP, States

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
SWAPS = 2  # allowed per word of a sentence
MAX_STEPS = 2 + 2 * SWAPS  # per word: it is shifted and attached, and after a swap shifted again
# Gradients are computed for portions of one state per four words, at least 64.
WORDS_PER_STATE, MIN_STATES = 4, 64
GUIDED_UPDATES = 500  # updates before a network is led astray: its own mistakes are of no use before that


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


# From the number of a step and the states to the choices of `choose_in_training`, (R, 4).
Oracle = Callable[[int, OracleInput], Rows]
Policy = Callable[[Rows, NDArray[np.bool_]], Rows]  # from positions and what is legal to the best code, or NONE


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


def train_step(programs: Programs, *args: Any, words: int) -> tuple[Weights, Any, Array]:
    """One update of every network of a stack, and the losses per word before it."""
    weights, state, rng_state, hyper, index, text = args
    value, gradients = loss_gradient(programs, weights, rng_state, hyper, index, text, words=words)
    return (*programs.update(weights, state, gradients, hyper, index), value)


def loss_gradient(programs: Programs, *args: Any, words: int) -> tuple[Array, Weights]:
    """The loss and its gradient for every network of a stack, from one pass over the sentences."""
    weights, rng_state, hyper, index, text = args
    compiled = programs.extra
    scorer, draws, total, back = compiled.encode(weights, rng_state, hyper, index, text, words=words)
    states, relations = _initial_states(text, np.asarray(index[1]), words, with_gold=True)
    size, batch = index[1].shape
    choose = partial(compiled.choose_in_training, scorer) if on_accelerator() else _on_host(_choose_in_training, scorer)
    draws = np.asarray(draws)

    def oracle(step: int, state: OracleInput) -> Rows:
        by_network = OracleInput(*(array.reshape(size, batch, *array.shape[1:]) for array in state))
        return np.asarray(choose(by_network, draws[:, step])).reshape(-1, 4)

    rows, margin_states = follow_oracle(states, relations, relation_count(scorer.bias.shape[1]), oracle)
    for portion in portions(rows, margin_states, size, batch, max(MIN_STATES, batch * words // WORDS_PER_STATE)):
        total = compiled.add_gradient(total, scorer, MarginStates(*map(jnp.asarray, portion)))
    counts = np.maximum(states.lengths.reshape(size, batch).sum(axis=1), 1).astype(np.float32)
    value, gradients = compiled.finish_gradient(back, total, counts)
    return value, gradients


def predict_batch(
    programs: Programs, weights: Weights, split: Array, sentences: Array, text: Text, *, words: int
) -> NDArray[np.int32]:
    """The head and the relation of each word, (networks, B, T, 2), by the best legal transitions."""
    compiled = programs.extra
    scorer = compiled.encode_to_predict(weights, split, sentences, text, words=words)
    states, _ = _initial_states(text, np.asarray(sentences), words, with_gold=False)
    size, batch = sentences.shape
    choose = partial(compiled.choose_best, scorer) if on_accelerator() else _on_host(_choose_best, scorer)

    def policy(positions: Rows, legal: NDArray[np.bool_]) -> Rows:
        return np.asarray(choose(positions.reshape(size, batch, -1), legal.reshape(size, batch, -1))).reshape(-1)

    follow_policy(states, relation_count(scorer.bias.shape[1]), policy)
    trees = np.stack([states.attached[:, 1:], states.labels[:, 1:]], axis=-1)
    return np.maximum(trees, 0).reshape(size, batch, words, 2)


def _initial_states(text: Text, rows: Rows, words: int, *, with_gold: bool) -> tuple[States, Rows]:
    """The sentences of all networks before their first transition, and the gold relations of their words."""
    sentences = rows.reshape(-1)
    starts, lengths, labels = (np.asarray(array) for array in (text.starts, text.lengths, text.labels))
    sizes = np.where(sentences >= 0, lengths[sentences], 0)
    positions = np.arange(words)
    tokens = np.where(positions < sizes[:, None], starts[sentences][:, None] + positions, 0)
    heads = np.asarray(text.extra["heads"])[tokens] if with_gold else None
    return start_states(sizes, words=words, heads=heads), labels[tokens]


def start_states(lengths: NDArray[np.integer], *, words: int, heads: NDArray[np.integer] | None = None) -> States:
    """Sentences of at most so many words before their first transition; `heads` (R, T) are those of gold trees."""
    gold = None if heads is None else heads[np.arange(heads.shape[1]) < lengths[:, None]].astype(np.int32)
    return archybrid.start(offsets_of(lengths), gold=gold, longest=words, swaps_per_word=SWAPS)


def follow_oracle(
    states: States, gold: NDArray[np.integer], relations: int, oracle: Oracle
) -> tuple[NDArray[np.int64], tuple[Rows, Rows, Rows]]:
    """Let all sentences take the transitions of an oracle to their ends; `gold` (R, T) has relations of words.

    Returns the rows of the states in which the right transition did not win by 1, and of each its positions and the
    codes of the best right and wrong transitions.
    """
    everyone, kind = np.arange(len(states)), transition_kinds(relations)
    rows, close_states = [np.empty(0, np.int64)], [(archybrid.features(states)[:0], *np.empty((2, 0), np.int32))]
    step = 0
    while not archybrid.finished(states).all():
        positions = archybrid.features(states)
        relation = gold[everyone, positions[:, 0] - 1]  # without s0 that of another word, which is then not used
        right, wrong, taken, is_close = oracle(step, OracleInput(positions, archybrid.costs(states), relation)).T
        archybrid.apply(states, kind[taken], relations_of(taken, relations))
        close = np.flatnonzero(is_close)
        rows.append(close)
        close_states.append((positions[close], right[close], wrong[close]))
        step += 1
    positions, right, wrong = (np.concatenate(column) for column in zip(*close_states, strict=True))
    return np.concatenate(rows), (positions, right, wrong)


def follow_policy(states: States, relations: int, policy: Policy) -> None:
    """Let all sentences take the transitions of a policy to their ends."""
    kind = transition_kinds(relations)
    while not archybrid.finished(states).all():
        taken = policy(archybrid.features(states), archybrid.legal(states))
        archybrid.apply(states, kind[taken], relations_of(taken, relations))


def relations_of(codes: NDArray[np.integer], relations: int) -> Rows:
    """The relation of each code, if it has one."""
    return ((codes - ARCS) % relations).astype(np.int32)


def portions(
    rows: NDArray[np.int64], states: tuple[Rows, Rows, Rows], networks: int, batch: int, most: int
) -> list[list[Rows]]:
    """The fields of `MarginStates`, at most so many states per network at a time, with an axis of networks in front.

    Sentences are NONE where there is no state. There is at least one portion.
    """
    owner, sentence = np.divmod(rows, batch)
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=networks)
    number = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    n_portions = max(1, -(-int(counts.max(initial=0)) // most))
    at = owner[order], number // most, number % most
    fields = []
    for values, empty in ((sentence, NONE), *((array, 0) for array in states)):
        field = np.full((networks, n_portions, most, *values.shape[1:]), empty, np.int32)
        field[at] = values[order]
        fields.append(field)
    return [[field[:, portion] for field in fields] for portion in range(n_portions)]


def _choose_in_training(scorer: Scorer, state: OracleInput, draws: Any, *, xp: Any = jnp) -> Any:
    return choose_in_training(score_states(scorer, state.positions, xp=xp), state, draws, xp=xp)


def _choose_best(scorer: Scorer, positions: Any, legal: Any, *, xp: Any = jnp) -> Any:
    return choose_best(score_states(scorer, positions, xp=xp), legal, xp=xp)


def _on_host(call: Callable[..., Any], scorer: Scorer) -> Callable[..., Any]:
    """The same by numpy, network by network: XLA's gathers and argmaxes for a CPU are several times slower."""
    host = jax.tree.map(np.asarray, scorer)
    scorers = [jax.tree.map(itemgetter(network), host) for network in range(len(host.rows))]

    def of_networks(*args: Any) -> Any:
        with np.errstate(all="ignore"):  # a network that failed is detected by its loss
            choices = (call(one, *jax.tree.map(itemgetter(at), args), xp=np) for at, one in enumerate(scorers))
            return np.stack(list(choices))

    return of_networks


class TransitionPrograms:
    """The compiled programs of a stack, besides those that all networks have."""

    def __init__(self, programs: Programs) -> None:
        self.shape: Any = programs.shape
        over, program = programs.over_stack, compile_program
        self.encode = program(over(self._encode), static_argnames=("words",))
        self.choose_in_training = program(over(_choose_in_training, shared=0))
        self.add_gradient = program(over(self._add_gradient, shared=0), donate_argnums=(0,))
        self.finish_gradient = program(over(self._finish_gradient, shared=0))
        self.encode_to_predict = program(over(self._encode_to_predict), static_argnames=("words",))
        self.choose_best = program(over(_choose_best, shared=0))

    def _encode(
        self, weights: Weights, rng_state: RngState, hyper: HyperParams, index: BatchIndex, text: Text, *, words: int
    ) -> Any:
        """The scorer, random numbers for every step, a gradient of zeros, and the backward pass of the encoder."""
        (seed, count), (split, sentences) = rng_state, index
        batch = make_batch(text, split, sentences, words)
        key = rng.make_key(1, seed, count)

        def make_scorer(weights: Weights) -> Scorer:
            states = run_layers_with_root(weights, self.shape, batch, hyper, key)
            return scorer_of(weights, states, text.known_labels[split])

        scorer, back = jax.vjp(make_scorer, weights)
        draws = rng.uniform(rng.make_key(2, seed, count), (MAX_STEPS * words, len(sentences)))
        draws = jnp.where(count < GUIDED_UPDATES, -1.0, draws)
        return scorer, draws, (jnp.zeros(()), jax.tree.map(jnp.zeros_like, scorer)), back

    def _add_gradient(self, total: tuple[Array, Scorer], scorer: Scorer, states: MarginStates) -> Any:
        """The loss and gradient so far, plus those of some more states."""
        at = rows_of(jnp.maximum(states.sentences, 0), states.positions, scorer.rows.shape[1])
        args = scorer.columns, scorer.bias, first_layer(scorer, at)
        loss, (columns, bias, inputs) = jax.value_and_grad(margin_loss, (0, 1, 2))(*args, states)
        before, gradients = total
        spread = jnp.broadcast_to(inputs[:, None], (*at.shape, inputs.shape[1]))
        rows = gradients.rows.reshape(-1, gradients.rows.shape[-1]).at[at].add(spread).reshape(gradients.rows.shape)
        return before + loss, Scorer(rows, gradients.columns + columns, gradients.bias + bias)

    def _finish_gradient(self, back: Any, total: tuple[Array, Scorer], count: Array) -> tuple[Array, Weights]:
        """The loss per word, and its gradient with respect to all weights."""
        value, gradients = jax.tree.map(lambda leaf: leaf / count, total)
        (to_weights,) = back(gradients)
        return value, to_weights

    def _encode_to_predict(self, weights: Weights, split: Array, sentences: Array, text: Text, *, words: int) -> Scorer:
        batch = make_batch(text, split, sentences, words)
        states = run_layers_with_root(weights, self.shape, batch, HyperParams(0.0), None)
        return scorer_of(weights, states, text.known_labels[split])
