"""A bidirectional LSTM layer whose backward pass computes the recurrent weights' gradient once, after the scan.

Automatic differentiation of a scan adds to the gradient of the recurrent weights at every step: it reads and writes an
array of the weights' size as often as there are words. Here the scan backwards keeps only what each step passes on, and
one product over all steps gives the gradient at the end.

Shapes: B sentences, T words, D inputs, U units, two directions; `4 * U` are the input, forget, cell and output gates.

The layer is written twice. `together` takes both directions in one scan, for machines on which a step costs the same
whatever it computes; `apart` takes them one by one, with plain products and no copies, for a CPU.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from deadheat.neural.devices import accelerated
from deadheat.neural.rng import Key

DIRECTIONS, GATES = 2, 4
ONWARD, BACK = 1, -1
CLOSED = -1e9  # what enters a gate where there is no word: it stays shut, and nothing is learned from it


class LSTMWeights(NamedTuple):
    """Weights of both directions."""

    inputs: Array  # (2, D, 4U)
    recurrent: Array  # (2, U, 4U)
    bias: Array  # (2, 4U)


def initial_lstm(key: Key, inputs: int, units: int) -> LSTMWeights:
    """Glorot's uniform weights for inputs, orthogonal ones for units, and a forget gate that starts open."""
    bound = (6.0 / (inputs + units)) ** 0.5
    weights = chance.between(chance.key(key, 0), (DIRECTIONS, inputs, GATES * units), bound)
    square, _ = jnp.linalg.qr(chance.normal(chance.key(key, 1), (DIRECTIONS, GATES, units, units)))
    recurrent = jnp.moveaxis(square, 1, 2).reshape(DIRECTIONS, units, GATES * units)
    bias = jnp.zeros((DIRECTIONS, GATES, units)).at[:, 1].set(1.0).reshape(DIRECTIONS, GATES * units)
    return LSTMWeights(weights, recurrent, bias)


def bilstm(weights: LSTMWeights, x: Array, lengths: Array, kept: Array | None = None) -> Array:
    """Outputs (B, T, 2U) of both directions for inputs (B, T, D); after a sentence's end they mean nothing.

    `kept` scales the units before they enter the next step: (1 or T, 2, B, U), for dropout of recurrent units.
    """
    if kept is None:
        kept = jnp.ones((1, DIRECTIONS, x.shape[0], weights.recurrent.shape[1]), x.dtype)
    way = together if accelerated() else apart
    return way(weights, x, lengths, kept)


def together(weights: LSTMWeights, x: Array, lengths: Array, kept: Array) -> Array:
    """Both directions in one scan, the second over sentences that are turned around."""
    back = reversal(lengths, x.shape[1])
    both = jnp.stack([x, jnp.take_along_axis(x, back[:, :, None], axis=1)])  # (2, B, T, D)
    entering = jnp.einsum("dbti,dig->tdbg", both, weights.inputs) + weights.bias[:, None]
    found = recurrence(entering, weights.recurrent, kept)  # (T, 2, B, U)
    forward = jnp.moveaxis(found[:, 0], 0, 1)
    backward = jnp.take_along_axis(jnp.moveaxis(found[:, 1], 0, 1), back[:, :, None], axis=1)
    return jnp.concatenate([forward, backward], axis=-1)


def apart(weights: LSTMWeights, x: Array, lengths: Array, kept: Array) -> Array:
    """One direction after the other; the second reads from the last word, and its gates are shut until there is one."""
    words = x.shape[1]
    turned = jnp.moveaxis(x, 1, 0)
    there = (jnp.arange(words)[:, None] < lengths)[:, :, None]
    if len(kept) > 1:  # its steps count from the end of each sentence
        back = reversal(lengths, words).T[:, :, None]
        kept = jnp.stack([kept[:, 0], jnp.take_along_axis(kept[:, 1], back, axis=0)], axis=1)
    found = [
        one_way(product(turned, weights.inputs[at]), weights.recurrent[at], weights.bias[at], kept[:, at], there, way)
        for at, way in enumerate((ONWARD, BACK))
    ]
    return jnp.moveaxis(jnp.concatenate(found, axis=-1), 0, 1)


@jax.custom_vjp
def product(x: Array, weights: Array) -> Array:
    """A product of many rows and weights; the gradient of the weights is one product of two matrices as they lie.

    Automatic differentiation would turn the larger one around first.
    """
    return x @ weights


def _product_forward(x: Array, weights: Array) -> tuple[Array, tuple[Array, Array]]:
    return x @ weights, (x, weights)


def _product_backward(saved: tuple[Array, Array], wanted: Array) -> tuple[Array, Array]:
    x, weights = saved
    return wanted @ weights.T, x.reshape(-1, x.shape[-1]).T @ wanted.reshape(-1, wanted.shape[-1])


product.defvjp(_product_forward, _product_backward)


def reversal(lengths: Array, words: int) -> Array:
    """Places that turn each sentence around and leave what follows its end: (B, T)."""
    at = jnp.arange(words)
    turned = lengths[:, None] - 1 - at
    return jnp.where(turned >= 0, turned, at)


@jax.custom_vjp
def recurrence(entering: Array, recurrent: Array, kept: Array) -> Array:
    """States (T, 2, B, U) from what enters the gates (T, 2, B, 4U)."""
    return _forward(entering, recurrent, kept)[0]


def _forward(entering: Array, recurrent: Array, kept: Array) -> tuple[Array, tuple[Array, Array]]:
    sentences, units = entering.shape[2], recurrent.shape[1]
    start = jnp.zeros((DIRECTIONS, sentences, units), entering.dtype)
    steady = kept.shape[0] == 1

    def step(carried: tuple[Array, Array], now: tuple[Array, Array | None]) -> tuple[tuple[Array, Array], Any]:
        state, cell = carried
        entered, scale = now
        gates = entered + jnp.einsum("dbu,dug->dbg", state * (kept[0] if scale is None else scale), recurrent)
        i, f, g, o = _opened(gates)
        cell = f * cell + i * g
        state = o * jnp.tanh(cell)
        return (state, cell), (state, cell, jnp.concatenate([i, f, g, o], axis=-1))

    _, (states, cells, opened) = lax.scan(step, (start, start), (entering, None if steady else kept))
    return states, (cells, opened)


def _opened(gates: Array) -> tuple[Array, Array, Array, Array]:
    i, f, g, o = jnp.split(gates, GATES, axis=-1)
    return jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)


def _recurrence_forward(entering: Array, recurrent: Array, kept: Array) -> tuple[Array, tuple[Array, ...]]:
    states, (cells, opened) = _forward(entering, recurrent, kept)
    return states, (states, cells, opened, recurrent, kept)


def _recurrence_backward(saved: tuple[Array, ...], wanted: Array) -> tuple[Array, Array, Array]:
    states, cells, opened, recurrent, kept = saved
    start = jnp.zeros_like(states[0])
    steady = kept.shape[0] == 1
    before = jnp.concatenate([start[None], cells[:-1]])

    def step(carried: tuple[Array, Array], now: Any) -> tuple[tuple[Array, Array], Array]:
        from_state, from_cell = carried
        asked, cell, previous, gates, scale = now
        to_gates, to_previous = _passed_back(asked + from_state, from_cell, cell, previous, gates)
        back = jnp.einsum("dbg,dug->dbu", to_gates, recurrent) * (kept[0] if scale is None else scale)
        return (back, to_previous), to_gates

    inputs = (wanted, cells, before, opened, None if steady else kept)
    _, to_gates = lax.scan(step, (start, start), inputs, reverse=True)
    entered = jnp.concatenate([start[None], states[:-1]]) * kept
    to_recurrent = jnp.einsum("tdbu,tdbg->dug", entered, to_gates)
    return to_gates, to_recurrent, jnp.zeros_like(kept)  # what is dropped is not learned


def _passed_back(to_state: Array, from_cell: Array, cell: Array, previous: Array, gates: Array) -> tuple[Array, Array]:
    """Of one step: the gradients of what entered its gates, and of the cell before it."""
    i, f, g, o = jnp.split(gates, GATES, axis=-1)
    squashed = jnp.tanh(cell)
    to_cell = from_cell + to_state * o * (1 - squashed**2)
    to_gates = jnp.concatenate(
        [
            to_cell * g * i * (1 - i),
            to_cell * previous * f * (1 - f),
            to_cell * i * (1 - g**2),
            to_state * squashed * o * (1 - o),
        ],
        axis=-1,
    )
    return to_gates, to_cell * f


recurrence.defvjp(_recurrence_forward, _recurrence_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(5,))
def one_way(entering: Array, recurrent: Array, bias: Array, kept: Array, there: Array, way: int) -> Array:
    """States (T, B, U) of one direction from what enters the gates (T, B, 4U); zeros where there is no word."""
    return _one_way(entering, recurrent, bias, kept, there, way)[0]


def _one_way(
    entering: Array, recurrent: Array, bias: Array, kept: Array, there: Array, way: int
) -> tuple[Array, Array, Array]:
    """States, cells and open gates of every step."""
    start = jnp.zeros((entering.shape[1], recurrent.shape[0]), entering.dtype)
    steady = kept.shape[0] == 1
    # One hyperbolic tangent for all gates: that of half of x, halved and raised by a half, is the sigmoid of x.
    scale = jnp.repeat(jnp.array([0.5, 0.5, 1.0, 0.5], entering.dtype), recurrent.shape[0])

    def step(carried: tuple[Array, Array], now: Any) -> tuple[tuple[Array, Array], tuple[Array, Array, Array]]:
        state, cell = carried
        entered, word, own = now
        gates = (state * (kept[0] if steady else own)) @ recurrent + jnp.where(word, entered + bias, CLOSED)
        opened = jnp.tanh(gates * scale) * scale + (1 - scale)
        i, f, g, o = jnp.split(opened, GATES, axis=-1)
        cell = f * cell + i * g
        state = o * jnp.tanh(cell)
        return (state, cell), (state, cell, opened)

    inputs = (entering, there, None if steady else kept)
    _, (states, cells, opened) = lax.scan(step, (start, start), inputs, reverse=way == BACK)
    return states, cells, opened


def _one_way_forward(
    entering: Array, recurrent: Array, bias: Array, kept: Array, there: Array, way: int
) -> tuple[Array, tuple[Array, ...]]:
    states, cells, opened = _one_way(entering, recurrent, bias, kept, there, way)
    return states, (states, cells, opened, recurrent, kept)


def _one_way_backward(way: int, saved: tuple[Array, ...], wanted: Array) -> tuple[Array, Array, Array, Array, None]:
    states, cells, opened, recurrent, kept = saved
    start = jnp.zeros_like(states[0])
    steady = kept.shape[0] == 1

    def step(carried: tuple[Array, Array], now: Any) -> tuple[tuple[Array, Array], Array]:
        from_state, from_cell = carried
        asked, cell, previous, gates, own = now
        to_gates, to_previous = _passed_back(asked + from_state, from_cell, cell, previous, gates)
        return ((to_gates @ recurrent.T) * (kept[0] if steady else own), to_previous), to_gates

    inputs = (wanted, cells, _before(cells, way), opened, None if steady else kept)
    _, to_gates = lax.scan(step, (start, start), inputs, reverse=way == ONWARD)
    before = (_before(states, way) * kept).reshape(-1, states.shape[-1])
    to_recurrent = before.T @ to_gates.reshape(-1, to_gates.shape[-1])
    return to_gates, to_recurrent, to_gates.sum(axis=(0, 1)), jnp.zeros_like(kept), None


def _before(values: Array, way: int) -> Array:
    """What each step found: the values of the step before it, and zeros at first."""
    start = jnp.zeros_like(values[:1])
    return jnp.concatenate([start, values[:-1]] if way == ONWARD else [values[1:], start])


one_way.defvjp(_one_way_forward, _one_way_backward)
