"""Transition-based parser

Sentences that take transitions side by side, on the host: as someone chooses them who sees places and costs.

A labelled transition has a code: SHIFT and SWAP come first, then LEFT with each of L relations, then RIGHT with each.
Nothing here needs jax. R rows are the sentences of all networks of a stack, one network after the other.

A transition-based parser: arc-hybrid with swaps, by the states of a BiLSTM (Kiperwasser & Goldberg 2016).

Sentences take transitions on the host (`transition_rollout`), as scores (`transition_scores`) say. In training a
network goes astray on purpose, where it would have done so itself (de Lhoneux, Stymne & Nivre 2017), and then learns
from all states in which the right transition was not ahead by 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from deadheat.neural.config import Numbers, TransitionShape
from deadheat.neural.devices import accelerated, as_program
from deadheat.neural.encoder import Weights, gathered
from deadheat.neural.programs import Luck, Programs, Where
from deadheat.neural.text import Text
from deadheat.neural.transition_scores import (
    Batched,
    Scorer,
    best,
    chosen,
    first_layer,
    initial_weights,
    loss_of,
    relations_among,
    rows_of,
    scorer,
    scores,
)
from deadheat.trees import archybrid
from deadheat.trees.archybrid import LEFT, RIGHT, SHIFT, STAY, SWAP, States

ARCS = 2  # codes below have no relation
PLACES = 12  # words that a state is told by
SWAPS = 2  # a sentence may have so many for each of its words
NONE = -1

Rows = NDArray[np.int32]


class Question(NamedTuple):
    """What a teacher is asked in training; arrays of the host or of the device."""

    places: Any  # (R, 12): see `archybrid.features`
    costs: Any  # (R, 4): see `archybrid.costs`
    gold: Any  # the relation of s0


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Codes of labelled transitions, one a row; NONE in `taken` where a sentence is finished."""

    right: Rows  # the best of those that cost the least
    wrong: Rows  # the best of all others
    taken: Rows  # one of the two
    close: NDArray[np.bool_]  # whether the right one is ahead by less than 1


Teacher = Callable[[int, Question], Choice]  # the number of the step comes first
Parser = Callable[[Rows, NDArray[np.bool_]], Rows]  # from places and what is legal to the best code, or NONE


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """States in which the right transition was not far enough ahead: K of them."""

    rows: NDArray[np.int64]
    places: Rows
    right: Rows
    wrong: Rows

    def __len__(self) -> int:
        return len(self.rows)

    def of_networks(self, networks: int, batch: int, most: int) -> list[tuple[Rows, Rows, Rows, Rows]]:
        """Portions of at most so many states a network: sentences, NONE where there is no state, and the rest.

        Their arrays have an axis of networks in front. There is at least one portion.
        """
        owner, sentence = np.divmod(self.rows, batch)
        order = np.argsort(owner, kind="stable")
        counts = np.bincount(owner, minlength=networks)
        number = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        portions = max(1, -(-int(counts.max(initial=0)) // most))
        at = owner[order], number // most, number % most
        sentences = np.full((networks, portions, most), NONE, np.int32)
        sentences[at] = sentence[order]
        filled = [sentences]
        for each in (self.places, self.right, self.wrong):
            room = np.zeros((networks, portions, most, *each.shape[1:]), np.int32)
            room[at] = each[order]
            filled.append(room)
        return [(a[:, p], b[:, p], c[:, p], d[:, p]) for p in range(portions) for a, b, c, d in [filled]]


def kinds(relations: int) -> Rows:
    """The transition that each code stands for, and STAY for NONE.

    Examples
    --------
    >>> kinds(2).tolist()
    [0, 3, 1, 1, 2, 2, -1]
    """
    return np.concatenate([[SHIFT, SWAP], np.repeat([LEFT, RIGHT], relations), [STAY]]).astype(np.int32)


def relations_of(codes: NDArray[np.integer], relations: int) -> Rows:
    """The relation of each code, if it has one.

    Examples
    --------
    >>> relations_of(np.array([2, 3, 4, 5]), 2).tolist()
    [0, 1, 0, 1]
    """
    return ((codes - ARCS) % relations).astype(np.int32)


def begin(lengths: NDArray[np.integer], *, words: int, heads: NDArray[np.integer] | None = None) -> States:
    """Sentences of so many words before their first transition; `heads` (R, T) are those of gold trees."""
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    gold = None if heads is None else heads[np.arange(heads.shape[1]) < lengths[:, None]].astype(np.int32)
    return archybrid.start(offsets, gold=gold, longest=words, swaps_per_word=SWAPS)


def learn(states: States, gold: NDArray[np.integer], relations: int, teacher: Teacher) -> Lessons:
    """Let all sentences take the transitions a teacher says, to their ends; `gold` (R, T) has relations of words."""
    everyone, kind = np.arange(len(states)), kinds(relations)
    rows, places, right, wrong = [], [], [], []
    step = 0
    while not archybrid.finished(states).all():
        seen = archybrid.features(states)
        relation = gold[everyone, seen[:, 0] - 1]  # without s0 that of another word, which no transition then has
        choice = teacher(step, Question(seen, archybrid.costs(states), relation))
        archybrid.apply(states, kind[choice.taken], relations_of(choice.taken, relations))
        close = np.flatnonzero(choice.close)
        rows.append(close)
        places.append(seen[close])
        right.append(choice.right[close])
        wrong.append(choice.wrong[close])
        step += 1
    if not rows:
        nothing = np.empty(0, np.int32)
        return Lessons(np.empty(0, np.int64), np.empty((0, PLACES), np.int32), nothing, nothing)
    return Lessons(np.concatenate(rows), np.concatenate(places), np.concatenate(right), np.concatenate(wrong))


def parse(states: States, relations: int, parser: Parser) -> None:
    """Let all sentences take transitions to their ends."""
    kind = kinds(relations)
    while not archybrid.finished(states).all():
        taken = parser(archybrid.features(states), archybrid.legal(states))
        archybrid.apply(states, kind[taken], relations_of(taken, relations))


__all__ = ["decoded", "give_labels", "initial_weights", "take_step"]

MOST_STEPS = 2 + 2 * SWAPS  # a word: it is shifted and attached, and after a swap shifted again
# A gradient is taken of one state for each so many words, or of a few; and that as often as need be.
PORTION, FEW = 4, 64
GUIDED = 500  # updates before a network is led astray: what it would do itself is of no use before that


def decoded(shape: TransitionShape, made: Any, lengths: NDArray[np.integer]) -> NDArray[np.integer]:
    """The head and the relation of each word, (B, T, 2), which they are already."""
    del shape, lengths
    return np.asarray(made)


def take_step(programs: Programs, *given: Any, words: int) -> tuple[Weights, Any, Array]:
    """One update of every network of a stack, and the losses before it, by the word."""
    weights, state, luck, numbers, where, text = given
    value, slopes = slope(programs, weights, luck, numbers, where, text, words=words)
    return (*programs.move(weights, state, slopes, numbers, where), value)


def slope(programs: Programs, *given: Any, words: int) -> tuple[Array, Weights]:
    """Which way is down for every network of a stack: a rollout, and the gradient of what it met."""
    weights, luck, numbers, where, text = given
    own = compiled(programs)
    known, draws, total, back = own.read(weights, luck, numbers, where, text, words=words)
    states, relations = _sentences(text, np.asarray(where[1]), words, taught=True)
    size, batch = where[1].shape
    choose = partial(own.teach, known) if accelerated() else _on_host(_teach, known)
    draws_of_steps = np.asarray(draws)

    def teacher(step: int, question: Question) -> Choice:
        there = Question(*(each.reshape(size, batch, *each.shape[1:]) for each in question))
        found = np.asarray(choose(there, draws_of_steps[:, step]))
        right, wrong, taken, close = found.reshape(-1, 4).T
        return Choice(right, wrong, taken, close > 0)

    lessons = learn(states, relations, relations_among(known.bias.shape[1]), teacher)
    for portion in lessons.of_networks(size, batch, max(FEW, batch * words // PORTION)):
        total = own.gather(total, known, Batched(*map(jnp.asarray, portion)))
    counts = np.maximum(states.lengths.reshape(size, batch).sum(axis=1), 1).astype(np.float32)
    value, slopes = own.down(back, total, counts)
    return value, slopes


def give_labels(
    programs: Programs, weights: Weights, split: Array, sentences: Array, text: Text, *, words: int
) -> NDArray[np.int32]:
    """The head and the relation of each word, (networks, B, T, 2), by the best legal transitions."""
    own = compiled(programs)
    known = own.look(weights, split, sentences, text, words=words)
    states, _ = _sentences(text, np.asarray(sentences), words, taught=False)
    size, batch = sentences.shape
    choose = partial(own.follow, known) if accelerated() else _on_host(_follow, known)

    def parser(places: Rows, legal: NDArray[np.bool_]) -> Rows:
        return np.asarray(choose(places.reshape(size, batch, -1), legal.reshape(size, batch, -1))).reshape(-1)

    parse(states, relations_among(known.bias.shape[1]), parser)
    found = np.stack([states.attached[:, 1:], states.labels[:, 1:]], axis=-1)
    return np.maximum(found, 0).reshape(size, batch, words, 2)


def _teach(known: Scorer, seen: Question, draws: Any, *, words: int = 0, xp: Any = jnp) -> Any:
    del words
    return chosen(scores(known, seen.places, xp=xp), seen, draws, xp=xp)


def _follow(known: Scorer, places: Any, legal: Any, *, words: int = 0, xp: Any = jnp) -> Any:
    del words
    return best(scores(known, places, xp=xp), legal, xp=xp)


def _on_host(call: Callable[..., Any], known: Scorer) -> Callable[..., Any]:
    """The same by numpy, network by network: the compiler's gathers and argmaxes for a CPU are several times slower."""
    host = jax.tree.map(np.asarray, known)
    own = [jax.tree.map(itemgetter(at), host) for at in range(len(host.rows))]

    def of_networks(*given: Any) -> Any:
        with np.errstate(all="ignore"):  # a network that came to nothing is found out by its loss
            return np.stack([call(each, *jax.tree.map(itemgetter(at), given), xp=np) for at, each in enumerate(own)])

    return of_networks


class Compiled:
    """The compiled programs of a stack, apart from those that all networks have."""

    def __init__(self, programs: Programs) -> None:
        self.shape: Any = programs.shape
        over, program = programs._over_stack, partial(as_program, tuned=self.shape.tuned)
        self.read = program(over(self._read), static_argnames=("words",))
        self.teach = program(over(_teach, shared=0))
        self.gather = program(over(self._gather, shared=0), donate_argnums=(0,))
        self.down = program(over(self._down, shared=0))
        self.look = program(over(self._look), static_argnames=("words",))
        self.follow = program(over(_follow, shared=0))

    def _read(self, weights: Weights, luck: Luck, numbers: Numbers, where: Where, text: Text, *, words: int) -> Any:
        """What scores transitions in training, chance for every step, a sum to begin with, and the way back."""
        (seed, count), (split, sentences) = luck, where
        batch = gathered(text, split, sentences, words)
        key = chance.key(1, seed, count)
        known, back = jax.vjp(lambda own: scorer(own, self.shape, text, split, batch, numbers, key), weights)
        draws = chance.uniform(chance.key(2, seed, count), (MOST_STEPS * words, len(sentences)))
        draws = jnp.where(count < GUIDED, -1.0, draws)
        return known, draws, (jnp.zeros(()), jax.tree.map(jnp.zeros_like, known)), back

    def _gather(self, total: tuple[Array, Scorer], known: Scorer, states: Batched, *, words: int) -> Any:
        """A sum with the loss in some more states, and with its gradient."""
        del words
        at = rows_of(jnp.maximum(states.sentences, 0), states.places, known.rows.shape[1])
        given = known.columns, known.bias, first_layer(known, at)
        loss, (columns, bias, added) = jax.value_and_grad(loss_of, (0, 1, 2))(*given, states)
        before, slopes = total
        spread = jnp.broadcast_to(added[:, None], (*at.shape, added.shape[1]))
        rows = slopes.rows.reshape(-1, slopes.rows.shape[-1]).at[at].add(spread).reshape(slopes.rows.shape)
        return before + loss, Scorer(rows, slopes.columns + columns, slopes.bias + bias)

    def _down(self, back: Any, total: tuple[Array, Scorer], count: Array, *, words: int) -> tuple[Array, Weights]:
        """The loss and its gradient by all weights, by the word."""
        del words
        value, slopes = jax.tree.map(lambda each: each / count, total)
        (found,) = back(slopes)
        return value, found

    def _look(self, weights: Weights, split: Array, sentences: Array, text: Text, *, words: int) -> Scorer:
        batch = gathered(text, split, sentences, words)
        return scorer(weights, self.shape, text, split, batch, Numbers(0.0), None)


def compiled(programs: Programs) -> Compiled:
    """The programs of a stack, made once."""
    if programs.besides is None:
        programs.besides = Compiled(programs)
    own: Compiled = programs.besides
    return own


def _sentences(text: Text, rows: Rows, words: int, *, taught: bool) -> tuple[States, Rows]:
    """The sentences of all networks before their first transition, and the gold relations of their words."""
    sentences = rows.reshape(-1)
    starts, lengths, labels = (np.asarray(each) for each in (text.starts, text.lengths, text.labels))
    own = np.where(sentences >= 0, lengths[sentences], 0)
    at = np.arange(words)
    inside = np.where(at < own[:, None], starts[sentences][:, None] + at, 0)
    heads = np.asarray(text.more["heads"])[inside] if taught else None
    return begin(own, words=words, heads=heads), labels[inside]
