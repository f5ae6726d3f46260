"""The recurrence of an LSTM in one kernel per network and direction, for NVIDIA GPUs (Pallas with its Triton back end).

A scan of ordinary operations reads the recurrent weights and writes all gates to memory at every word. Here a program
keeps the weights of one direction of one network on its multiprocessor for a whole batch of sentences. Products have
operands of 16 bits and sums of 32: float16 forward, which has the precision of TF32 and more range than states and
weights need, and bfloat16 backward, since gradients are small.

Shapes: B sentences, T words, two directions, 4 gates, P units padded to a power of two. Padding has weights of zero, so
that its states and all its gradients are zero. Sentences stay in their order: the second direction begins with the last
word of each, and where there is no word states and gradients are zero.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.experimental import pallas as pl

from deadheat.neural.config import LEAST_UNITS, MOST_UNITS

DIRECTIONS, GATES = 2, 4
LEAST_ROWS, MOST_ROWS = 16, 32  # sentences of a program: matrix units have at least 16 rows
ALIGNMENT = 16  # the number of features is padded to a multiple of this
WIDE, NARROW = 8, 4  # warps of a program with many units, and with few
FORWARD_TYPE, BACKWARD_TYPE = jnp.float16, jnp.bfloat16


def is_supported(units: int) -> bool:
    """Whether this device runs the kernel for so many units."""
    return units <= MOST_UNITS and is_available()


@functools.cache
def is_available() -> bool:
    """Whether the largest kernels can be compiled: it takes a second, once per process."""
    if jax.default_backend() != "gpu":
        return False
    shapes = [
        (DIRECTIONS, 1, GATES * MOST_UNITS), (DIRECTIONS, MOST_UNITS, GATES * MOST_UNITS),
        (DIRECTIONS, GATES * MOST_UNITS), (MOST_ROWS, 2, 1), (MOST_ROWS,), (1, DIRECTIONS, MOST_ROWS, MOST_UNITS),
    ]  # fmt: skip
    arrays = [array_type(shape, jnp.int32 if len(shape) == 1 else jnp.float32) for shape in shapes]
    try:
        jax.jit(jax.grad(lambda *args: layer(*args).sum(), argnums=(0, 1, 2, 3))).lower(*arrays).compile()
    except Exception:  # whatever is missing, memory or Triton, there is a scan
        return False
    return True


def array_type(shape: tuple[int, ...], kind: Any) -> Any:
    """An array's shape and type."""
    return jax.ShapeDtypeStruct(shape, kind)  # type: ignore[no-untyped-call]


def padded_units(units: int) -> int:
    """The next power of two that a kernel can have."""
    return max(LEAST_UNITS, 1 << (units - 1).bit_length())


@jax.custom_vjp
def layer(inputs: Array, recurrent: Array, bias: Array, x: Array, lengths: Array, mask: Array) -> Array:
    """Outputs (B, T, 2U) of both directions for inputs (B, T, D), zeros after a sentence's end.

    Weights are those of `deadheat.neural.lstm.LSTMWeights`; `mask` (1 or T, 2, B, U) scales the units that enter a
    step. Its gradient is not computed.
    """
    return _layer_forward(inputs, recurrent, bias, x, lengths, mask)[0]


def _layer_forward(
    inputs: Array, recurrent: Array, bias: Array, x: Array, lengths: Array, mask: Array
) -> tuple[Array, tuple[Array, ...]]:
    (sentences, words, _), units = x.shape, recurrent.shape[1]
    missing, extra = -sentences % rows_of(sentences), padded_units(units) - units
    features = _features(jnp.pad(x, ((0, missing), (0, 0), (0, 0))), FORWARD_TYPE)
    gates = jnp.einsum("btd,dwgu->btwgu", features, _columns(inputs, features.shape[-1], FORWARD_TYPE))
    square = jnp.pad(_by_gate(recurrent), ((0, 0), (0, extra), (0, 0), (0, extra)))
    biases = jnp.pad(_by_gate(bias), ((0, 0), (0, 0), (0, extra)))
    mask = jnp.pad(mask, ((0, 0), (0, 0), (0, missing), (0, extra)))
    lengths = jnp.pad(lengths, (0, missing))
    states, *saved = recurrence(gates, square, biases, mask, lengths)
    outputs = states[:sentences, :, :, :units].reshape(sentences, words, -1)
    return outputs, (x, lengths, mask, inputs, square, *saved)


def _layer_backward(saved: tuple[Array, ...], gradient: Array) -> tuple[Any, ...]:
    x, lengths, mask, inputs, square, sums, cells, entered = saved
    (sentences, words, size), units = x.shape, inputs.shape[2] // GATES
    missing, extra = len(lengths) - sentences, square.shape[1] - units
    by_direction = gradient.reshape(sentences, words, DIRECTIONS, units)
    by_direction = jnp.pad(by_direction, ((0, missing), (0, 0), (0, 0), (0, extra)))
    to_gates, to_bias = recurrence_backward(by_direction, sums, cells, square, mask, lengths)
    # The product of both directions with both takes less time than bringing them into an order for two products.
    crossed = _product("btvp,btwgu->vpwgu", entered, to_gates)
    to_recurrent = jnp.stack([crossed[way, :, way] for way in range(DIRECTIONS)])[:, :units, :, :units]
    to_gates, features = to_gates[:sentences], _features(x, BACKWARD_TYPE)
    columns = _columns(inputs, features.shape[-1], BACKWARD_TYPE)
    to_x = _product("btwgu,dwgu->btd", to_gates, columns)[:, :, :size]
    to_inputs = _product("btd,btwgu->wdgu", features, to_gates)[:, :size, :, :units]
    return (
        to_inputs.reshape(inputs.shape),
        to_recurrent.reshape(DIRECTIONS, units, GATES * units),
        to_bias[:, :, :units].reshape(DIRECTIONS, GATES * units),
        to_x,
        None,
        jnp.zeros_like(mask[:, :, :sentences, :units]),  # the mask is not learned
    )


layer.defvjp(_layer_forward, _layer_backward)


def _features(x: Array, kind: Any) -> Array:
    """Inputs with as many features as matrix units like."""
    return jnp.pad(x, ((0, 0), (0, 0), (0, -x.shape[-1] % ALIGNMENT))).astype(kind)


def _columns(inputs: Array, size: int, kind: Any) -> Array:
    """Input weights (2, D, 4U) as (size, 2, 4, P)."""
    split = jnp.moveaxis(_by_gate(inputs), 1, 0)
    units = split.shape[-1]
    widths = ((0, size - len(split)), (0, 0), (0, 0), (0, padded_units(units) - units))
    return jnp.pad(split, widths).astype(kind)


def _by_gate(weights: Array) -> Array:
    """Weights (..., 4U) as (..., 4, U)."""
    return weights.reshape(*weights.shape[:-1], GATES, -1)


def _product(subscripts: str, one: Array, other: Array) -> Array:
    """A product of 16-bit arrays with sums of 32 bits."""
    result: Array = jnp.einsum(subscripts, one, other, preferred_element_type=jnp.float32)
    return result


def recurrence(gates: Array, recurrent: Array, bias: Array, mask: Array, lengths: Array) -> tuple[Array, ...]:
    """States (B, T, 2, P) from the inputs of gates (B, T, 2, 4, P), and what the backward pass needs.

    Weights are (2, P, 4, P), biases (2, 4, P), and `mask` (1 or T, 2, B, P) scales the units that enter a step. The
    second to fourth results are the sums in the gates, the cells, and the units that entered, like states.
    """
    sentences, words, _, _, units = gates.shape
    grid = _Grid(sentences, words, units, len(mask))
    outputs = [
        (grid.states, (sentences, words, DIRECTIONS, units), jnp.float32),
        (grid.gates, gates.shape, FORWARD_TYPE),
        (grid.states, (sentences, words, DIRECTIONS, units), FORWARD_TYPE),
        (grid.states, (sentences, words, DIRECTIONS, units), BACKWARD_TYPE),
    ]
    kernel = functools.partial(_forward_kernel, words=words, steps=len(mask), tanh=_tanh())
    inputs = [grid.lengths, grid.gates, grid.weights, grid.bias, grid.mask]
    results: tuple[Array, ...] = grid.call(kernel, inputs, outputs)(
        lengths, gates.astype(FORWARD_TYPE), recurrent.astype(FORWARD_TYPE), bias, mask
    )
    return results


def recurrence_backward(
    gradient: Array, sums: Array, cells: Array, recurrent: Array, mask: Array, lengths: Array
) -> tuple[Array, Array]:
    """Gradients of the inputs of gates (B, T, 2, 4, P), and of biases (2, 4, P), from that of the states."""
    sentences, words, _, _, units = sums.shape
    grid = _Grid(sentences, words, units, len(mask))
    blocks = sentences // grid.rows
    bias = pl.BlockSpec((None, None, GATES, units), lambda direction, block: (block, direction, 0, 0))
    outputs = [
        (grid.gates, sums.shape, BACKWARD_TYPE),
        (bias, (blocks, DIRECTIONS, GATES, units), jnp.float32),
    ]
    kernel = functools.partial(_backward_kernel, words=words, steps=len(mask), tanh=_tanh())
    inputs = [grid.lengths, grid.states, grid.gates, grid.states, grid.weights, grid.mask]
    to_gates, to_bias = grid.call(kernel, inputs, outputs)(
        lengths, gradient, sums, cells, recurrent.astype(BACKWARD_TYPE), mask
    )
    return to_gates, to_bias.sum(axis=0)


class _Grid:
    """How arrays are cut into the blocks of programs: by direction, and by rows of sentences."""

    def __init__(self, sentences: int, words: int, units: int, steps: int) -> None:
        self.rows = rows_of(sentences)
        assert sentences % self.rows == 0, f"{sentences} sentences; expected a multiple of {self.rows}"
        rows = self.rows
        self.units, self.grid = units, (DIRECTIONS, sentences // rows)
        self.lengths = pl.BlockSpec((rows,), lambda _, block: (block,))
        self.gates = pl.BlockSpec((rows, words, None, GATES, units), lambda way, block: (block, 0, way, 0, 0))
        self.states = pl.BlockSpec((rows, words, None, units), lambda way, block: (block, 0, way, 0))
        self.weights = pl.BlockSpec((None, units, GATES, units), lambda way, _: (way, 0, 0, 0))
        self.bias = pl.BlockSpec((None, GATES, units), lambda way, _: (way, 0, 0))
        self.mask = pl.BlockSpec((steps, None, rows, units), lambda way, block: (0, way, block, 0))

    def call(self, kernel: Callable[..., None], inputs: Any, outputs: Any) -> Callable[..., Any]:
        """The kernel over all blocks."""
        return call(kernel, self.grid, inputs, outputs, warps=WIDE if self.units > 64 else NARROW)


def call(
    kernel: Callable[..., None], grid: tuple[int, ...], inputs: Any, outputs: Any, *, warps: int
) -> Callable[..., Any]:
    """A kernel as a function of arrays; on a CPU it is interpreted, for tests."""
    options: dict[str, Any] = {"interpret": True}
    if jax.default_backend() != "cpu":
        from jax.experimental.pallas import triton

        options = {"compiler_params": triton.CompilerParams(num_warps=warps, num_stages=1)}
    specs, shapes = [spec for spec, _, _ in outputs], [array_type(*array) for _, *array in outputs]
    return pl.pallas_call(kernel, grid=grid, in_specs=inputs, out_specs=specs, out_shape=shapes, **options)


def rows_of(sentences: int) -> int:
    """How many sentences a program has."""
    return LEAST_ROWS if sentences <= LEAST_ROWS else MOST_ROWS


def _tanh() -> Callable[[Array], Array]:
    """The hyperbolic tangent of GPUs, whose error of 2**-11 is that of the products."""
    if jax.default_backend() == "cpu":
        return jnp.tanh
    from jax.experimental.pallas import triton

    return triton.approx_tanh


def dot(rows: Array, columns: Array, *, transposed: bool = False) -> Array:
    """A product in a kernel, with sums of 32 bits."""
    dimensions = (((1,), (int(transposed),)), ((), ()))
    product: Array = lax.dot_general(rows, columns, dimensions, preferred_element_type=jnp.float32)
    return product


def _gate_values(sums: list[Array], tanh: Callable[[Array], Array]) -> list[Array]:
    """Input, forget, cell and output gates."""
    i, f, g, o = sums
    return [0.5 + 0.5 * tanh(0.5 * i), 0.5 + 0.5 * tanh(0.5 * f), tanh(g), 0.5 + 0.5 * tanh(0.5 * o)]


def _forward_kernel(  # noqa: PLR0913 (an argument per array)
    lengths_ref: Any, gates_ref: Any, weights_ref: Any, bias_ref: Any, mask_ref: Any, states_ref: Any, sums_ref: Any,
    cells_ref: Any, entered_ref: Any, *, words: int, steps: int, tanh: Callable[[Array], Array],
) -> None:  # fmt: skip
    direction = pl.program_id(0)
    lengths = lengths_ref[:][:, None]
    weights = [weights_ref[:, gate, :] for gate in range(GATES)]
    biases = [bias_ref[gate, :][None, :] for gate in range(GATES)]
    constant = mask_ref[0] if steps == 1 else None

    def position(step: Any) -> Any:  # arithmetic, as Triton takes a choice between two constants wrongly
        return step + direction * (words - 1 - 2 * step)

    def load(at: Any) -> list[Array]:
        return [gates_ref[:, at, gate, :] for gate in range(GATES)]

    def step(number: Any, carry: Any) -> Any:
        state, cell, inputs = carry
        at = position(number)
        following = load(position(jnp.minimum(number + 1, words - 1)))  # meanwhile
        entering = state * (mask_ref[at] if constant is None else constant)
        entered_ref[:, at, :] = entering.astype(BACKWARD_TYPE)
        entering = entering.astype(FORWARD_TYPE)
        sums = [
            dot(entering, weight) + bias + known.astype(jnp.float32)
            for weight, bias, known in zip(weights, biases, inputs, strict=True)
        ]
        for gate, value in enumerate(sums):
            sums_ref[:, at, gate, :] = value.astype(FORWARD_TYPE)
        i, f, g, o = _gate_values(sums, tanh)
        inside = at < lengths
        cell = jnp.where(inside, f * cell + i * g, 0.0)
        state = jnp.where(inside, o * tanh(cell), 0.0)
        cells_ref[:, at, :] = cell.astype(FORWARD_TYPE)
        states_ref[:, at, :] = state
        return state, cell, following

    start = jnp.zeros((lengths.shape[0], states_ref.shape[-1]), jnp.float32)
    lax.fori_loop(0, words, step, (start, start, load(position(0))))


def _backward_kernel(  # noqa: PLR0913 (an argument per array)
    lengths_ref: Any, gradient_ref: Any, sums_ref: Any, cells_ref: Any, weights_ref: Any, mask_ref: Any,
    to_gates_ref: Any, to_bias_ref: Any, *, words: int, steps: int, tanh: Callable[[Array], Array],
) -> None:  # fmt: skip
    direction = pl.program_id(0)
    lengths = lengths_ref[:][:, None]
    weights = [weights_ref[:, gate, :] for gate in range(GATES)]
    constant = mask_ref[0] if steps == 1 else None

    def position(step: Any) -> Any:
        return words - 1 - step + direction * (2 * step - words + 1)

    def load(number: Any) -> Any:
        """Of a step: the gradient of its state, the sums in its gates, and the cell of the step before it."""
        at, before = position(number), position(jnp.minimum(number + 1, words - 1))
        previous = jnp.where(number == words - 1, 0.0, cells_ref[:, before, :].astype(jnp.float32))
        return gradient_ref[:, at, :], [sums_ref[:, at, gate, :] for gate in range(GATES)], previous

    def step(number: Any, carry: Any) -> Any:
        from_state, from_cell, to_biases, cell, (to_output, sums, previous) = carry
        at = position(number)
        following = load(jnp.minimum(number + 1, words - 1))
        i, f, g, o = _gate_values([value.astype(jnp.float32) for value in sums], tanh)
        inside = at < lengths
        squashed = tanh(cell)
        to_state = jnp.where(inside, to_output + from_state, 0.0)
        to_cell = jnp.where(inside, from_cell + to_state * o * (1 - squashed * squashed), 0.0)
        to_gates = [
            to_cell * g * i * (1 - i),
            to_cell * previous * f * (1 - f),
            to_cell * i * (1 - g * g),
            to_state * squashed * o * (1 - o),
        ]
        products = jnp.zeros_like(from_state)
        for gate, (value, weight) in enumerate(zip(to_gates, weights, strict=True)):
            rounded = value.astype(BACKWARD_TYPE)
            to_gates_ref[:, at, gate, :] = rounded
            products += dot(rounded, weight, transposed=True)
        to_biases = [total + value.sum(axis=0) for total, value in zip(to_biases, to_gates, strict=True)]
        scale = mask_ref[at] if constant is None else constant
        return products * scale, to_cell * f, to_biases, previous, following

    start = jnp.zeros((lengths.shape[0], cells_ref.shape[-1]), jnp.float32)
    none = [jnp.zeros((cells_ref.shape[-1],), jnp.float32) for _ in range(GATES)]
    last = cells_ref[:, position(0), :].astype(jnp.float32)
    _, _, to_biases, _, _ = lax.fori_loop(0, words, step, (start, start, none, last, load(0)))
    for gate, value in enumerate(to_biases):
        to_bias_ref[gate, :] = value
