"""A transition-based parser: arc-hybrid with swaps, by the states of a BiLSTM (Kiperwasser & Goldberg 2016).

Transitions are scored by the encoder's states of twelve words: three of the stack and one of the buffer, each with the
outermost words below it. Two networks of one layer score the four transitions, and those with relations; a labelled
transition has the sum. To score a state only twelve rows are added up, since what the first layer makes of a word in
each of the twelve places is worked out once for all words of a batch.

Sentences take transitions on the host (`transition_rollout`), as scores from the device say. In training a network goes
astray on purpose, where it would have done so itself (de Lhoneux, Stymne & Nivre 2017), and then learns from all states
in which the right transition was not ahead by 1.

Shapes: B sentences, T words, L relations, C = 2 + 2L labelled transitions, K states, H hidden units.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from deadheat.neural import chance
from deadheat.neural.chance import Key, drawn_rows
from deadheat.neural.encoder import Batch, Marks, Weights, gathered, initial_encoder, layered, word_vectors
from deadheat.neural.programs import Luck, Programs, Where
from deadheat.neural.shape import Numbers
from deadheat.neural.text import Text
from deadheat.neural.transition_rollout import ARCS, NONE, PLACES, Choice, Question, Rows, begin, kinds, learn, parse
from deadheat.neural.transition_shape import TransitionShape
from deadheat.trees.archybrid import NEVER, SWAP, States

FORBIDDEN = -1e9
IMPOSSIBLE = -1e4  # score of a relation that training has not seen
SURE = 0.9  # how often a network that is right, but not by 1, is not led astray
PORTION = 4  # a gradient is taken of one state for each so many words, and as often as need be


class Scorer(NamedTuple):
    """What is needed to score transitions: all that depends on the states of an encoder, and the last layer."""

    rows: Array  # (B, T + 2, 12, 2H): the root, words, and no word, in each place
    bias: Array
    kinds: tuple[Array, Array]
    labelled: tuple[Array, Array]


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
    nowhere = jnp.broadcast_to(weights["nowhere"], (len(x), 1, states.shape[2]))
    rows = jnp.einsum("bts,sph->btph", jnp.concatenate([states, nowhere], axis=1), weights["places"])
    return Scorer(rows, weights["bias"], weights["kinds"], weights["labelled"])


def scores(known: Scorer, sentences: Array, places: Array) -> Array:
    """Scores (K, C) of all labelled transitions in states of these sentences."""
    _, words, _, hidden = known.rows.shape
    at = sentences[:, None] * words + jnp.where(places < 0, words - 1, places)
    # One axis for sentences, words and places: the gradient is then thrice as fast.
    added = jnp.sum(known.rows.reshape(-1, hidden)[at * PLACES + jnp.arange(PLACES)], axis=1)
    for_kinds, for_labelled = jnp.split(jnp.tanh(added + known.bias), 2, axis=-1)
    (kind, kind_bias), (labelled, labelled_bias) = known.kinds, known.labelled
    found = for_labelled @ labelled + labelled_bias
    return found + (for_kinds @ kind + kind_bias)[:, _kinds(found.shape[1])]


def loss_of(known: Scorer, states: Batched) -> Array:
    """How much is missing until every right transition is ahead by 1."""
    found = scores(known, jnp.maximum(states.sentences, 0), states.places)
    codes = found.shape[1]
    ahead = jnp.sum((jax.nn.one_hot(states.right, codes) - jax.nn.one_hot(states.wrong, codes)) * found, axis=1)
    return jnp.sum(jnp.where(states.sentences >= 0, jnp.maximum(0.0, 1.0 - ahead), 0.0))


def chosen(found: Array, seen: Question, draws: Array) -> Array:
    """The best right and the best wrong code, the one to take, and whether the right one is ahead by less than 1.

    Right are the transitions that cost the least; an arc, if it has the gold relation of its word as well. Where a
    swap is right it is taken, and where it is wrong it is not: costs are not defined after a wrong swap.
    """
    kind = _kinds(found.shape[1])
    cost = seen.costs[:, kind]
    codes = np.arange(len(kind))
    labelled_so = (codes < ARCS) | ((codes - ARCS) % _relations(len(kind)) == seen.gold[:, None])
    legal = cost < NEVER
    is_right = legal & (cost == jnp.min(seen.costs, axis=1, keepdims=True)) & labelled_so
    right, right_score = _best(jnp.where(is_right, found, FORBIDDEN))
    wrong, wrong_score = _best(jnp.where(legal & ~is_right, found, FORBIDDEN))
    ahead = right_score - wrong_score
    close = jnp.any(legal, axis=1) & (ahead < 1.0)
    sure = (ahead > 0.0) & (draws < SURE)
    swaps = (jnp.asarray(kind)[right] == SWAP) | (jnp.asarray(kind)[wrong] == SWAP)
    taken = jnp.where(close & ~sure & ~swaps, wrong, right)
    taken = jnp.where(jnp.any(legal, axis=1), taken, NONE)
    return jnp.stack([right, wrong, taken, close.astype(jnp.int32)])


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
    known, excluded, nothing, back = own.read(weights, luck, numbers, where, text, words=words)
    states, relations = _sentences(text, np.asarray(where[1]), words, taught=True)
    size, batch = where[1].shape

    def teacher(step: int, question: Question) -> Choice:
        there = Question(*(each.reshape(size, batch, *each.shape[1:]) for each in question))
        found = np.asarray(own.teach(known, excluded, luck, there, np.int32(step)))
        right, wrong, taken, close = np.moveaxis(found, 1, 0).reshape(4, -1)
        return Choice(right, wrong, taken, close.astype(bool))

    lessons = learn(states, relations, _relations(excluded.shape[1]), teacher)
    total = nothing
    for portion in lessons.of_networks(size, batch, batch * words // PORTION):
        total = own.gather(total, known, Batched(*map(jnp.asarray, portion)))
    counts = np.maximum(states.lengths.reshape(size, batch).sum(axis=1), 1).astype(np.float32)
    value, slopes = own.down(back, total, counts)
    return value, slopes


def give_labels(
    programs: Programs, weights: Weights, split: Array, sentences: Array, text: Text, *, words: int
) -> NDArray[np.int32]:
    """The head and the relation of each word, (networks, B, T, 2), by the best legal transitions."""
    own = compiled(programs)
    known, excluded = own.look(weights, split, sentences, text, words=words)
    states, _ = _sentences(text, np.asarray(sentences), words, taught=False)
    size, batch = sentences.shape

    def parser(places: Rows, legal: NDArray[np.bool_]) -> Rows:
        found = own.follow(known, excluded, places.reshape(size, batch, -1), legal.reshape(size, batch, -1))
        return np.asarray(found).reshape(-1)

    parse(states, _relations(excluded.shape[1]), parser)
    found = np.stack([states.attached[:, 1:], states.labels[:, 1:]], axis=-1)
    return np.maximum(found, 0).reshape(size, batch, words, 2)


class Compiled:
    """The compiled programs of a stack, apart from those that all networks have."""

    def __init__(self, programs: Programs) -> None:
        self.shape: Any = programs.shape
        over = programs._over_stack
        self.read = jax.jit(over(self._read), static_argnames=("words",))
        self.teach = jax.jit(over(self._teach))
        self.gather = jax.jit(over(self._gather, shared=0), donate_argnums=(0,))
        self.down = jax.jit(over(self._down, shared=0))
        self.look = jax.jit(over(self._look), static_argnames=("words",))
        self.follow = jax.jit(over(self._follow, shared=0))

    def _read(self, weights: Weights, luck: Luck, numbers: Numbers, where: Where, text: Text, *, words: int) -> Any:
        """What scores transitions in training, relations left out, a sum to begin with, and the way back."""
        (seed, count), (split, sentences) = luck, where
        batch = gathered(text, split, sentences, words)
        key = chance.key(1, seed, count)
        known, back = jax.vjp(lambda own: scorer(own, self.shape, text, split, batch, numbers, key), weights)
        nothing = jnp.zeros(()), jax.tree.map(jnp.zeros_like, known)
        return known, _excluded(text.possible[split]), nothing, back

    def _teach(self, known: Scorer, excluded: Array, luck: Luck, seen: Question, step: Array, *, words: int) -> Array:
        del words
        found = scores(known, jnp.arange(len(seen.places)), seen.places) + excluded
        return chosen(found, seen, chance.uniform(chance.key(2, *luck, step), seen.gold.shape))

    def _gather(self, total: tuple[Array, Scorer], known: Scorer, states: Batched, *, words: int) -> Any:
        del words
        return jax.tree.map(jnp.add, total, jax.value_and_grad(loss_of)(known, states))

    def _down(self, back: Any, total: tuple[Array, Scorer], count: Array, *, words: int) -> tuple[Array, Weights]:
        del words
        value, slopes = jax.tree.map(lambda each: each / count, total)
        (found,) = back(slopes)
        return value, found

    def _look(self, weights: Weights, split: Array, sentences: Array, text: Text, *, words: int) -> Any:
        batch = gathered(text, split, sentences, words)
        known = scorer(weights, self.shape, text, split, batch, Numbers(0.0), None)
        return known, _excluded(text.possible[split])

    def _follow(self, known: Scorer, excluded: Array, places: Array, legal: Array, *, words: int) -> Array:
        del words
        found = scores(known, jnp.arange(len(places)), places) + excluded
        best, _ = _best(jnp.where(legal[:, _kinds(found.shape[1])], found, FORBIDDEN))
        return jnp.where(jnp.any(legal, axis=1), best, NONE)


@functools.lru_cache(maxsize=8)
def compiled(programs: Programs) -> Compiled:
    """The programs of a stack, made once."""
    return Compiled(programs)


def _sentences(text: Text, rows: Rows, words: int, *, taught: bool) -> tuple[States, Rows]:
    """The sentences of all networks before their first transition, and the gold relations of their words."""
    sentences = rows.reshape(-1)
    starts, lengths, labels = (np.asarray(each) for each in (text.starts, text.lengths, text.labels))
    own = np.where(sentences >= 0, lengths[sentences], 0)
    at = np.arange(words)
    inside = np.where(at < own[:, None], starts[sentences][:, None] + at, 0)
    heads = np.asarray(text.more["heads"])[inside] if taught else None
    return begin(own, words=words, heads=heads), labels[inside]


def _kinds(codes: int) -> Rows:
    return kinds(_relations(codes))[:-1]


def _relations(codes: int) -> int:
    return (codes - ARCS) // 2


def _excluded(possible: Array) -> Array:
    """What is added to the scores of labelled transitions: much is taken off relations that are not possible."""
    arcs = jnp.where(possible, 0.0, IMPOSSIBLE)
    return jnp.concatenate([jnp.zeros(ARCS), arcs, arcs])


def _best(found: Array) -> tuple[Array, Array]:
    return jnp.argmax(found, axis=1).astype(jnp.int32), jnp.max(found, axis=1)
