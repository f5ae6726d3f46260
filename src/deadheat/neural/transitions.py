"""A transition-based parser: arc-hybrid with swaps, by the states of a BiLSTM (Kiperwasser & Goldberg 2016).

Sentences take transitions side by side on the host, as scores (`transition_scores`) decide. In training a network is
led astray on purpose where it would have made the mistake itself (de Lhoneux, Stymne & Nivre 2017), and then learns
from all states in which the right transition did not win by 1. A stack's states have one row per network and sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from deadheat.neural import rng
from deadheat.neural.config import HyperParams
from deadheat.neural.devices import compile_program, on_accelerator
from deadheat.neural.encoder import Weights, make_batch
from deadheat.neural.programs import BatchIndex, Programs, RngState
from deadheat.neural.text import Text
from deadheat.neural.transition_scores import (
    ARCS,
    NONE,
    MarginStates,
    OracleInput,
    Rows,
    Scorer,
    choose_best,
    choose_in_training,
    first_layer,
    init_weights,
    make_scorer,
    margin_loss,
    relation_count,
    rows_of,
    score_states,
    transition_kinds,
)
from deadheat.trees import archybrid
from deadheat.trees.archybrid import States

__all__ = ["init_weights", "predict_batch", "train_step"]

SWAPS = 2  # allowed per word of a sentence
MAX_STEPS = 2 + 2 * SWAPS  # per word: it is shifted and attached, and after a swap shifted again
# Gradients are computed for portions of one state per four words, at least 64.
WORDS_PER_STATE, MIN_STATES = 4, 64
GUIDED_UPDATES = 500  # updates before a network is led astray: its own mistakes are of no use before that


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """Codes of labelled transitions, one per row; NONE in `taken` where a sentence is finished."""

    right: Rows  # the best of those that cost the least
    wrong: Rows  # the best of all others
    taken: Rows  # one of the two
    close: NDArray[np.bool_]  # whether the right one wins by less than 1


Oracle = Callable[[int, OracleInput], Choices]  # the number of the step comes first
Policy = Callable[[Rows, NDArray[np.bool_]], Rows]  # from positions and what is legal to the best code, or NONE


def train_step(programs: Programs, *args: Any, words: int) -> tuple[Weights, Any, Array]:
    """One update of every network of a stack, and the losses per word before it."""
    weights, state, rng_state, hyper, index, text = args
    value, gradients = loss_gradient(programs, weights, rng_state, hyper, index, text, words=words)
    return (*programs.update(weights, state, gradients, hyper, index), value)


def loss_gradient(programs: Programs, *args: Any, words: int) -> tuple[Array, Weights]:
    """The loss and its gradient for every network of a stack, from one pass over the sentences."""
    weights, rng_state, hyper, index, text = args
    compiled = transition_programs(programs)
    scorer, draws, total, back = compiled.encode(weights, rng_state, hyper, index, text, words=words)
    states, relations = _initial_states(text, np.asarray(index[1]), words, with_gold=True)
    size, batch = index[1].shape
    choose = partial(compiled.choose_in_training, scorer) if on_accelerator() else _on_host(_choose_in_training, scorer)
    draws = np.asarray(draws)

    def oracle(step: int, state: OracleInput) -> Choices:
        by_network = OracleInput(*(array.reshape(size, batch, *array.shape[1:]) for array in state))
        right, wrong, taken, close = np.asarray(choose(by_network, draws[:, step])).reshape(-1, 4).T
        return Choices(right, wrong, taken, close > 0)

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
    compiled = transition_programs(programs)
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
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    gold = None if heads is None else heads[np.arange(heads.shape[1]) < lengths[:, None]].astype(np.int32)
    return archybrid.start(offsets, gold=gold, longest=words, swaps_per_word=SWAPS)


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
        choices = oracle(step, OracleInput(positions, archybrid.costs(states), relation))
        archybrid.apply(states, kind[choices.taken], relations_of(choices.taken, relations))
        close = np.flatnonzero(choices.close)
        rows.append(close)
        close_states.append((positions[close], choices.right[close], choices.wrong[close]))
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
        over, program = programs.over_stack, partial(compile_program, tuned=self.shape.tuned)
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
        scorer, back = jax.vjp(lambda w: make_scorer(w, self.shape, text, split, batch, hyper, key), weights)
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
        return make_scorer(weights, self.shape, text, split, batch, HyperParams(0.0), None)


def transition_programs(programs: Programs) -> TransitionPrograms:
    """The programs of a stack, created once."""
    if programs.extra_programs is None:
        programs.extra_programs = TransitionPrograms(programs)
    own: TransitionPrograms = programs.extra_programs
    return own
