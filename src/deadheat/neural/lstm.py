"""A bidirectional LSTM layer whose backward pass computes the recurrent weights' gradient once, after the scan.

Automatic differentiation of a scan adds to the gradient of the recurrent weights at every step: it reads and writes an
array of the weights' size once per word. Here the backward scan keeps only what each step passes on, and one product
over all steps gives the gradient at the end.

Shapes: B sentences, T words, D inputs, U units, two directions; `4 * U` are the input, forget, cell and output gates.

There are three versions. `bilstm_fused` has a kernel of its own for the words of a sentence, for NVIDIA GPUs.
`bilstm_joint` runs both directions in one scan, for other accelerators and for many units, where a step costs the same
whatever it computes. `bilstm_separate` runs them one by one, with plain products and no copies, for a CPU.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from deadheat.neural import fused, rng
from deadheat.neural.devices import on_accelerator
from deadheat.neural.rng import Key

DIRECTIONS, GATES = fused.DIRECTIONS, fused.GATES
FORWARD, BACKWARD = 1, -1
CLOSED = -1e9  # input of a gate where there is no word: it stays closed, and nothing is learned from it


class LSTMWeights(NamedTuple):
    """Weights of both directions."""

    inputs: Array  # (2, D, 4U)
    recurrent: Array  # (2, U, 4U)
    bias: Array  # (2, 4U)


def init_lstm(key: Key, inputs: int, units: int) -> LSTMWeights:
    """Glorot's uniform weights for inputs, orthogonal ones for units, and a bias of 1 for the forget gate."""
    bound = (6.0 / (inputs + units)) ** 0.5
    weights = rng.symmetric(rng.make_key(key, 0), (DIRECTIONS, inputs, GATES * units), bound)
    square, _ = jnp.linalg.qr(rng.normal(rng.make_key(key, 1), (DIRECTIONS, GATES, units, units)))
    recurrent = jnp.moveaxis(square, 1, 2).reshape(DIRECTIONS, units, GATES * units)
    bias = jnp.zeros((DIRECTIONS, GATES, units)).at[:, 1].set(1.0).reshape(DIRECTIONS, GATES * units)
    return LSTMWeights(weights, recurrent, bias)


def init_varied(key: Key, positions: Array, inputs: Array | int, units: Array, padded: int) -> LSTMWeights:
    """The weights that `init_lstm` draws for so many inputs and units, which may be traced, among zeros.

    `positions` (D,) say which input a row is for; those from `inputs` on are padding.
    """
    bound = (6.0 / (inputs + units)) ** 0.5
    whole, unit, gate = units.astype(jnp.uint32), jnp.arange(padded), jnp.arange(GATES)[:, None]
    direction = jnp.arange(DIRECTIONS)[:, None, None, None]
    row = direction * inputs + positions[:, None, None]
    drawn = bound * (2.0 * rng.uniform_at(rng.make_key(key, 0), (row * GATES + gate) * whole + unit) - 1.0)
    real = unit < units
    weights = jnp.where((positions < inputs)[:, None, None] & real, drawn, 0.0)
    square = (((direction * GATES + gate[:, :, None]) * whole) + unit[:, None]) * whole + unit
    inside = real[:, None] & real
    # Padding is an identity beside the network's own matrix, so that both are factored by themselves.
    numbers = jnp.where(inside, rng.normal_at(rng.make_key(key, 1), square), jnp.eye(padded))
    factors = jnp.where(inside, jnp.linalg.qr(numbers)[0], 0.0)
    recurrent = jnp.moveaxis(factors, 1, 2).reshape(DIRECTIONS, padded, GATES * padded)
    bias = jnp.zeros((DIRECTIONS, GATES, padded)).at[:, 1].set(jnp.where(real, 1.0, 0.0))
    return LSTMWeights(weights.reshape(DIRECTIONS, len(positions), -1), recurrent, bias.reshape(DIRECTIONS, -1))


def bilstm(weights: LSTMWeights, x: Array, lengths: Array, mask: Array | None = None) -> Array:
    """Outputs (B, T, 2U) of both directions for inputs (B, T, D); they are arbitrary after a sentence's end.

    `mask` (1 or T, 2, B, U) scales the units before they enter the next step, for dropout of recurrent units.
    """
    if mask is None:
        mask = jnp.ones((1, DIRECTIONS, x.shape[0], weights.recurrent.shape[1]), x.dtype)
    if not on_accelerator():
        return bilstm_separate(weights, x, lengths, mask)
    units = weights.recurrent.shape[1]
    return (bilstm_fused if fused.is_supported(units) else bilstm_joint)(weights, x, lengths, mask)


def bilstm_fused(weights: LSTMWeights, x: Array, lengths: Array, mask: Array) -> Array:
    """Both directions in one kernel."""
    return fused.layer(*weights, x, lengths, _by_word(mask, lengths, x.shape[1]))


def bilstm_joint(weights: LSTMWeights, x: Array, lengths: Array, mask: Array) -> Array:
    """Both directions in one scan, the second over reversed sentences."""
    back = reversed_positions(lengths, x.shape[1])
    both = jnp.stack([x, jnp.take_along_axis(x, back[:, :, None], axis=1)])  # (2, B, T, D)
    gates = jnp.einsum("dbti,dig->tdbg", both, weights.inputs) + weights.bias[:, None]
    states = recurrence(gates, weights.recurrent, mask)  # (T, 2, B, U)
    forward = jnp.moveaxis(states[:, 0], 0, 1)
    backward = jnp.take_along_axis(jnp.moveaxis(states[:, 1], 0, 1), back[:, :, None], axis=1)
    return jnp.concatenate([forward, backward], axis=-1)


def bilstm_separate(weights: LSTMWeights, x: Array, lengths: Array, mask: Array) -> Array:
    """One direction after the other; the gates of the second stay closed until it reaches the last word."""
    words = x.shape[1]
    by_word = jnp.moveaxis(x, 1, 0)
    present = (jnp.arange(words)[:, None] < lengths)[:, :, None]
    mask = _by_word(mask, lengths, words)
    states = []
    for at, direction in enumerate((FORWARD, BACKWARD)):
        gates = matmul(by_word, weights.inputs[at])
        recurrent, bias = weights.recurrent[at], weights.bias[at]
        states.append(lstm_direction(gates, recurrent, bias, mask[:, at], present, direction))
    return jnp.moveaxis(jnp.concatenate(states, axis=-1), 0, 1)


def _by_word(mask: Array, lengths: Array, words: int) -> Array:
    """A mask whose steps are words: those of the second direction count from the end of each sentence."""
    if len(mask) == 1:
        return mask
    back = reversed_positions(lengths, words).T[:, :, None]
    return jnp.stack([mask[:, 0], jnp.take_along_axis(mask[:, 1], back, axis=0)], axis=1)


@jax.custom_vjp
def matmul(x: Array, weights: Array) -> Array:
    """A product of many rows and weights, whose gradient needs no transposed copy of the rows."""
    return x @ weights


def _matmul_backward(saved: tuple[Array, Array], gradient: Array) -> tuple[Array, Array]:
    x, weights = saved
    return gradient @ weights.T, x.reshape(-1, x.shape[-1]).T @ gradient.reshape(-1, gradient.shape[-1])


matmul.defvjp(lambda x, weights: (x @ weights, (x, weights)), _matmul_backward)


def reversed_positions(lengths: Array, words: int) -> Array:
    """Indices (B, T) that reverse each sentence and leave its padding."""
    positions = jnp.arange(words)
    reverse = lengths[:, None] - 1 - positions
    return jnp.where(reverse >= 0, reverse, positions)


@jax.custom_vjp
def recurrence(gates: Array, recurrent: Array, mask: Array) -> Array:
    """States (T, 2, B, U) from the inputs of the gates (T, 2, B, 4U)."""
    return _recurrence_forward(gates, recurrent, mask)[0]


def _recurrence_forward(gates: Array, recurrent: Array, mask: Array) -> tuple[Array, tuple[Array, ...]]:
    start = jnp.zeros((DIRECTIONS, gates.shape[2], recurrent.shape[1]), gates.dtype)

    def step(carry: tuple[Array, Array], inputs: tuple[Array, Array | None]) -> tuple[tuple[Array, Array], Any]:
        state, cell = carry
        entering, scale = inputs
        entering = entering + jnp.einsum("dbu,dug->dbg", state * (mask[0] if scale is None else scale), recurrent)
        i, f, g, o = jnp.split(entering, GATES, axis=-1)
        i, f, g, o = jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)
        cell = f * cell + i * g
        state = o * jnp.tanh(cell)
        return (state, cell), (state, cell, jnp.concatenate([i, f, g, o], axis=-1))

    _, (states, cells, active) = lax.scan(step, (start, start), (gates, None if len(mask) == 1 else mask))
    return states, (states, cells, active, recurrent, mask)


def _recurrence_backward(saved: tuple[Array, ...], gradient: Array) -> tuple[Array, Array, Array]:
    states, cells, active, recurrent, mask = saved
    start = jnp.zeros_like(states[0])

    def step(carry: tuple[Array, Array], inputs: Any) -> tuple[tuple[Array, Array], Array]:
        from_state, from_cell = carry
        to_output, cell, previous, gates, scale = inputs
        to_gates, to_previous = step_backward(to_output + from_state, from_cell, cell, previous, gates)
        back = jnp.einsum("dbg,dug->dbu", to_gates, recurrent) * (mask[0] if scale is None else scale)
        return (back, to_previous), to_gates

    before = jnp.concatenate([start[None], cells[:-1]])
    inputs = (gradient, cells, before, active, None if len(mask) == 1 else mask)
    _, to_gates = lax.scan(step, (start, start), inputs, reverse=True)
    entered = jnp.concatenate([start[None], states[:-1]]) * mask
    to_recurrent = jnp.einsum("tdbu,tdbg->dug", entered, to_gates)
    return to_gates, to_recurrent, jnp.zeros_like(mask)  # the mask is not learned


def step_backward(to_state: Array, from_cell: Array, cell: Array, previous: Array, gates: Array) -> tuple[Array, Array]:
    """The gradients of one step's gate inputs, and of the cell before it."""
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
def lstm_direction(gates: Array, recurrent: Array, bias: Array, mask: Array, present: Array, direction: int) -> Array:
    """States (T, B, U) of one direction from the inputs of the gates (T, B, 4U); zeros where there is no word."""
    return _direction_forward(gates, recurrent, bias, mask, present, direction)[0]


def _direction_forward(
    gates: Array, recurrent: Array, bias: Array, mask: Array, present: Array, direction: int
) -> tuple[Array, tuple[Array, ...]]:
    start = jnp.zeros((gates.shape[1], recurrent.shape[0]), gates.dtype)
    constant = len(mask) == 1
    # One hyperbolic tangent for all gates: tanh(x / 2) / 2 + 1 / 2 is the sigmoid of x.
    scale = jnp.repeat(jnp.array([0.5, 0.5, 1.0, 0.5], gates.dtype), recurrent.shape[0])

    def step(carry: tuple[Array, Array], inputs: Any) -> tuple[tuple[Array, Array], tuple[Array, Array, Array]]:
        state, cell = carry
        entering, word, step_mask = inputs
        summed = (state * (mask[0] if constant else step_mask)) @ recurrent + jnp.where(word, entering + bias, CLOSED)
        active = jnp.tanh(summed * scale) * scale + (1 - scale)
        i, f, g, o = jnp.split(active, GATES, axis=-1)
        cell = f * cell + i * g
        state = o * jnp.tanh(cell)
        return (state, cell), (state, cell, active)

    inputs = (gates, present, None if constant else mask)
    _, (states, cells, active) = lax.scan(step, (start, start), inputs, reverse=direction == BACKWARD)
    return states, (states, cells, active, recurrent, mask)


def _direction_backward(
    direction: int, saved: tuple[Array, ...], gradient: Array
) -> tuple[Array, Array, Array, Array, None]:
    states, cells, active, recurrent, mask = saved
    start = jnp.zeros_like(states[0])
    constant = len(mask) == 1

    def step(carry: tuple[Array, Array], inputs: Any) -> tuple[tuple[Array, Array], Array]:
        from_state, from_cell = carry
        to_output, cell, previous, gates, step_mask = inputs
        to_gates, to_previous = step_backward(to_output + from_state, from_cell, cell, previous, gates)
        return ((to_gates @ recurrent.T) * (mask[0] if constant else step_mask), to_previous), to_gates

    inputs = (gradient, cells, _previous(cells, direction), active, None if constant else mask)
    _, to_gates = lax.scan(step, (start, start), inputs, reverse=direction == FORWARD)
    before = (_previous(states, direction) * mask).reshape(-1, states.shape[-1])
    to_recurrent = before.T @ to_gates.reshape(-1, to_gates.shape[-1])
    return to_gates, to_recurrent, to_gates.sum(axis=(0, 1)), jnp.zeros_like(mask), None


def _previous(values: Array, direction: int) -> Array:
    """The values of the previous step; zeros for the first."""
    start = jnp.zeros_like(values[:1])
    return jnp.concatenate([start, values[:-1]] if direction == FORWARD else [values[1:], start])


lstm_direction.defvjp(_direction_forward, _direction_backward)
