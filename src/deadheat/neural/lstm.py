"""A bidirectional LSTM layer whose backward pass computes the recurrent weights' gradient once, after the scan.

Automatic differentiation of a scan adds to the gradient of the recurrent weights at every step: it reads and writes an
array of the weights' size as often as there are words. Here the scan backwards keeps only what each step passes on, and
one product over all steps gives the gradient at the end.

Shapes: B sentences, T words, D inputs, U units, two directions; `4 * U` are the input, forget, cell and output gates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from deadheat.neural import chance
from deadheat.neural.chance import Key

DIRECTIONS, GATES = 2, 4


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
    sentences, words, _ = x.shape
    units = weights.recurrent.shape[1]
    back = reversal(lengths, words)
    both = jnp.stack([x, jnp.take_along_axis(x, back[:, :, None], axis=1)])  # (2, B, T, D)
    entering = jnp.einsum("dbti,dig->tdbg", both, weights.inputs) + weights.bias[:, None]
    scale = jnp.ones((1, DIRECTIONS, sentences, units), x.dtype) if kept is None else kept
    found = recurrence(entering, weights.recurrent, scale)  # (T, 2, B, U)
    forward = jnp.moveaxis(found[:, 0], 0, 1)
    backward = jnp.take_along_axis(jnp.moveaxis(found[:, 1], 0, 1), back[:, :, None], axis=1)
    return jnp.concatenate([forward, backward], axis=-1)


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
        i, f, g, o = jnp.split(gates, GATES, axis=-1)
        squashed = jnp.tanh(cell)
        to_state = asked + from_state
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
        back = jnp.einsum("dbg,dug->dbu", to_gates, recurrent) * (kept[0] if scale is None else scale)
        return (back, to_cell * f), to_gates

    inputs = (wanted, cells, before, opened, None if steady else kept)
    _, to_gates = lax.scan(step, (start, start), inputs, reverse=True)
    entered = jnp.concatenate([start[None], states[:-1]]) * kept
    to_recurrent = jnp.einsum("tdbu,tdbg->dug", entered, to_gates)
    return to_gates, to_recurrent, jnp.zeros_like(kept)  # what is dropped is not learned


recurrence.defvjp(_recurrence_forward, _recurrence_backward)
