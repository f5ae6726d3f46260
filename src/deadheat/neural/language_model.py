"""Character language models: an LSTM that reads a text forward or backward and predicts the next character.

They are trained by truncated backpropagation through time. The text is cut into streams of equal length, which are read
side by side, a window at a time; the state is carried from window to window. One line in twenty is held out, to report
how many bits the model needs per character.

Shapes: T characters of a window, B streams, E numbers per character, U units, V characters; `4 * U` are the gates.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from numpy.typing import NDArray

from deadheat.neural import lstm, rng
from deadheat.neural.config import HyperParams
from deadheat.neural.contextual import DIRECTIONS, LanguageModelSettings
from deadheat.neural.devices import compile_program, configure_jax
from deadheat.neural.encoder import take_rows
from deadheat.neural.programs import clip_gradients, optimizer
from deadheat.neural.raw_text import NEWLINE
from deadheat.neural.text import UNKNOWN, hash_strings, round_up

WINDOW = 64  # characters that gradients go back through
STREAMS = 16  # read side by side, unless the text is too short for them
LEAST_WINDOWS = 4  # of every stream
HELD_OUT = 20  # one line of so many
SEEN_ONCE = 1  # characters that are as rare as this are unknown, so that the unknown one is learned
LARGEST_NORM = 1.0  # of a gradient
NO_TARGET = -1
IMPOSSIBLE = -1e9

Codes = NDArray[np.int32]


class Weights(NamedTuple):
    """Weights of a language model."""

    table: Array  # (V, E)
    inputs: Array  # (E, 4U)
    recurrent: Array  # (U, 4U)
    bias: Array  # (4U,)
    output: Array  # (U, V)
    output_bias: Array  # (V,)


class State(NamedTuple):
    """What an LSTM remembers: (B, U) each."""

    output: Array
    cell: Array


@dataclass(frozen=True, slots=True, eq=False)
class LanguageModel:
    """A trained language model of one direction."""

    direction: str
    characters: tuple[str, ...]  # by code; the first is the unknown one
    bits: float  # per character of the lines that were held out; NaN if there were none
    weights: Weights = field(repr=False)

    def __str__(self) -> str:
        bits = "no line was held out" if math.isnan(self.bits) else f"{self.bits:.3f} bits per character held out"
        return f"{self.direction} language model of {len(self.characters):,} characters: {bits}"


def train_language_model(text: str, settings: LanguageModelSettings, direction: str) -> LanguageModel:
    """Train a language model on a text of lines; the same inputs give the same model on the same device."""
    configure_jax()
    lines = text.split(NEWLINE)
    held_out = lines[HELD_OUT - 1 :: HELD_OUT]
    learned = [line for number, line in enumerate(lines) if (number + 1) % HELD_OUT]
    characters = known_characters(NEWLINE.join(learned))
    codes = encode(learned, characters, direction)
    streams = cut_streams(codes)
    seed = np.uint32(settings.seed & 0xFFFFFFFF)
    hashes = np.resize(hash_strings(characters), round_up(len(characters)))
    program = programs(settings.units, settings.character_size)
    weights, state = program.start(seed, hashes, np.int32(len(characters)), np.uint32(DIRECTIONS.index(direction)))
    updates, number = settings.epochs * len(streams), 0
    for _ in range(settings.epochs):
        carried = start_state(streams.shape[2], settings.units)
        for window in streams:
            rate = np.float32(settings.rate * (1 - number / updates))
            chance = seed, np.uint32(number), np.float32(settings.drop)
            weights, state, carried = program.step(weights, state, carried, window, rate, chance)
            number += 1
    bits = bits_per_character(weights, encode(held_out, characters, direction)) if held_out else math.nan
    return LanguageModel(direction, characters, bits, jax.tree.map(np.asarray, weights))


def known_characters(text: str) -> tuple[str, ...]:
    """The characters of a text that have codes, after the unknown one: a new line, and those that are seen twice."""
    points, counts = np.unique(code_points(text), return_counts=True)
    often = points[counts > SEEN_ONCE].tolist()
    return ("", *sorted({NEWLINE, *map(chr, often)}))


def code_points(text: str) -> NDArray[np.uint32]:
    """The Unicode code point of every character."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def encode(lines: list[str], characters: tuple[str, ...], direction: str) -> Codes:
    """The codes of a text in the order of reading, with a new line before and after every line."""
    text = NEWLINE.join(["", *lines, ""])
    points = code_points(text if direction == DIRECTIONS[0] else text[::-1])
    known = np.array([ord(letter) for letter in characters[1:]], np.uint32)  # sorted
    at = np.minimum(np.searchsorted(known, points), len(known) - 1)
    return np.where(known[at] == points, at + 1, UNKNOWN).astype(np.int32)


def cut_streams(codes: Codes) -> Codes:
    """Windows (W, T + 1, B) of streams side by side: the last character of each window begins the next one.

    The ends of streams are padded with NO_TARGET, which is neither read for its own sake nor predicted.
    """
    moves = len(codes) - 1
    streams = max(1, min(STREAMS, moves // (LEAST_WINDOWS * WINDOW)))
    length = -(-moves // streams)
    windows = -(-length // WINDOW)
    cut = np.full((streams, windows * WINDOW + 1), NO_TARGET, np.int32)
    for row, start in zip(cut, range(0, moves, length), strict=False):
        part = codes[start : start + length + 1]
        row[: len(part)] = part
    at = np.arange(windows)[:, None] * WINDOW + np.arange(WINDOW + 1)
    return np.ascontiguousarray(np.moveaxis(cut[:, at], 0, 2))


def init_weights(key: rng.Key, hashes: Array, characters: Array | int, size: int, units: int) -> Weights:
    """Initial weights for hashes of so many characters; there may be more hashes, so that texts share programs."""
    layer = lstm.init_lstm(rng.make_key(key, 0), size, units)
    table = size**0.5 * rng.random_rows(rng.make_key(key, 1), hashes, size)
    output = rng.random_rows(rng.make_key(key, 2), hashes, units).T
    bias = jnp.where(jnp.arange(len(hashes)) < characters, 0.0, IMPOSSIBLE)
    return Weights(table, layer.inputs[0], layer.recurrent[0], layer.bias[0], output, bias)


def start_state(streams: int, units: int) -> State:
    """The state before the first character."""
    zeros = np.zeros((2, streams, units), np.float32)
    return State(*map(jnp.asarray, zeros))


def run(weights: Weights, codes: Array, start: State, mask: Array | float = 1.0) -> tuple[Array, State]:
    """States (T, B, U) after every character (T, B), and the last one; `mask` scales the vectors of characters."""
    gates = lstm.matmul(take_rows(weights.table, codes) * mask, weights.inputs) + weights.bias
    states, cell = _recurrence(gates, weights.recurrent, start)
    return states, State(states[-1], cell)


@jax.custom_vjp
def _recurrence(gates: Array, recurrent: Array, start: State) -> tuple[Array, Array]:
    """States and the last cell; gradients go through the states, and not into the window before."""
    return _recurrence_forward(gates, recurrent, start)[0]


def _recurrence_forward(gates: Array, recurrent: Array, start: State) -> tuple[tuple[Array, Array], Any]:
    scale = jnp.repeat(jnp.array([0.5, 0.5, 1.0, 0.5], gates.dtype), len(recurrent))

    def step(carry: State, entering: Array) -> tuple[State, tuple[Array, Array, Array]]:
        # One hyperbolic tangent for all gates: tanh(x / 2) / 2 + 1 / 2 is the sigmoid of x.
        active = jnp.tanh((entering + carry.output @ recurrent) * scale) * scale + (1 - scale)
        i, f, g, o = jnp.split(active, lstm.GATES, axis=-1)
        cell = f * carry.cell + i * g
        state = o * jnp.tanh(cell)
        return State(state, cell), (state, cell, active)

    _, (states, cells, active) = lax.scan(step, start, gates)
    return (states, cells[-1]), (states, cells, active, recurrent, start)


def _recurrence_backward(saved: Any, gradients: tuple[Array, Array]) -> tuple[Array, Array, State]:
    states, cells, active, recurrent, start = saved
    zeros = jnp.zeros_like(start.cell)

    def step(carry: tuple[Array, Array], inputs: Any) -> tuple[tuple[Array, Array], Array]:
        to_output, cell, previous, gates = inputs
        to_gates, to_previous = lstm.step_backward(to_output + carry[0], carry[1], cell, previous, gates)
        return (to_gates @ recurrent.T, to_previous), to_gates

    before = jnp.concatenate([start.cell[None], cells[:-1]])
    _, to_gates = lax.scan(step, (zeros, zeros), (gradients[0], cells, before, active), reverse=True)
    entered = jnp.concatenate([start.output[None], states[:-1]]).reshape(-1, states.shape[-1])
    to_recurrent = entered.T @ to_gates.reshape(-1, to_gates.shape[-1])
    return to_gates, to_recurrent, State(zeros, zeros)


_recurrence.defvjp(_recurrence_forward, _recurrence_backward)


def loss(weights: Weights, window: Array, start: State, drop: Array | float, key: rng.Key) -> tuple[Array, State]:
    """The mean negative log-likelihood of a window's characters but the first, and the state after it."""
    codes, targets = window[:-1], window[1:]
    size, units = weights.inputs.shape[0], weights.recurrent.shape[0]
    masks = [rng.dropout_mask(rng.make_key(key, at), drop, (*codes.shape, n)) for at, n in enumerate((size, units))]
    states, carried = run(weights, codes, start, masks[0])
    losses = _losses(weights, states * masks[1], targets)
    return jnp.sum(losses) / jnp.maximum(jnp.sum(targets >= 0), 1), carried


def _losses(weights: Weights, states: Array, targets: Array) -> Array:
    """The negative log-likelihood of every target; 0 where there is none."""
    scores = lstm.matmul(states, weights.output) + weights.output_bias
    chosen = jnp.take_along_axis(scores, jnp.maximum(targets, 0)[..., None], axis=-1)[..., 0]
    return jnp.where(targets >= 0, jax.nn.logsumexp(scores, axis=-1) - chosen, 0.0)


def bits_per_character(weights: Weights, codes: Codes) -> float:
    """How many bits a model needs per character of a text."""
    windows = cut_streams(codes)
    units, size = len(weights.recurrent), len(weights.inputs)
    carried, total = start_state(windows.shape[2], units), 0.0
    for window in windows:
        lost, carried = programs(units, size).score(weights, window, carried)
        total += float(lost)
    return total / max(int((windows[:, 1:] >= 0).sum()), 1) / math.log(2)


class Programs(NamedTuple):
    """The compiled programs of language models."""

    start: Any
    step: Any
    score: Any


@functools.cache
def programs(units: int, size: int) -> Programs:
    """Programs for models of so many units and numbers per character."""

    def start(seed: Array, hashes: Array, characters: Array, direction: Array) -> tuple[Weights, Any]:
        weights = init_weights(rng.make_key(2, seed, direction), hashes, characters, size, units)
        return weights, optimizer("adam", HyperParams(0.0)).init(weights)

    def step(
        weights: Weights, state: Any, carried: State, window: Array, rate: Array, chance: tuple[Array, Array, Array]
    ) -> tuple[Weights, Any, State]:
        seed, number, drop = chance
        key = rng.make_key(3, seed, number)
        gradients, carried = jax.grad(loss, has_aux=True)(weights, window, carried, drop, key)
        gradients = clip_gradients(gradients, HyperParams(rate, clip=math.inf, norm=LARGEST_NORM))
        updates, state = optimizer("adam", HyperParams(rate)).update(gradients, state, weights)
        return jax.tree.map(jnp.add, weights, updates), state, carried

    def score(weights: Weights, window: Array, carried: State) -> tuple[Array, State]:
        states, carried = run(weights, window[:-1], carried)
        return jnp.sum(_losses(weights, states, window[1:])), carried

    return Programs(compile_program(start), compile_program(step, donate_argnums=(0, 1, 2)), compile_program(score))
