"""The convolution over characters with its maximum in one kernel, for NVIDIA GPUs (Pallas with its Triton back end).

A filter's responses to each character in each of its positions are in a small table per network. Ordinary operations
write the sums of three rows for every character of every word to memory. Here a program keeps the maximum so far and
its position, and the gradient of the table is a product of one-hot rows with what the maximum lets through.

Shapes: N words, L characters of a word, W positions in a filter, C characters, F filters.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.experimental import pallas as pl

from deadheat.neural import fused
from deadheat.neural.fused import BACKWARD_TYPE

WORDS = 64  # of a block
PARTS = 4  # programs that share the words of a network in the backward pass
CHARACTERS = 128  # rows of the table's gradient that a program has
LEAST_FILTERS, MOST_FILTERS = 16, 64
LOWEST = -1e9


def is_supported(filters: int, width: int) -> bool:
    """Whether this device runs the kernel for so many filters."""
    return filters <= MOST_FILTERS and width <= 3 and fused.is_available()


@jax.custom_vjp
def best_responses(responses: Array, codes: Array) -> Array:
    """The largest response of every filter to a word (N, F), zeros for words without characters.

    `responses` are (W, C, F), and `codes` of characters (N, L), -1 for none.
    """
    return _forward(responses, codes)[0]


def _forward(responses: Array, codes: Array) -> tuple[Array, tuple[Any, ...]]:
    width, characters, filters = responses.shape
    words, length = codes.shape
    padded = max(LEAST_FILTERS, 1 << (filters - 1).bit_length())
    # A last row of zeros is for positions without a character.
    table = jnp.pad(responses, ((0, 0), (0, 1), (0, padded - filters))).reshape(-1, padded)
    reach = width // 2
    rows = jnp.where(codes >= 0, codes, characters)
    rows = jnp.pad(rows, ((0, -words % (WORDS * PARTS)), (reach, reach)), constant_values=characters)
    block = pl.BlockSpec((WORDS, padded), lambda block: (block, 0))
    best, positions = fused.call(
        functools.partial(_forward_kernel, length=length, width=width, characters=characters),
        grid=(len(rows) // WORDS,),
        inputs=[
            pl.BlockSpec((WORDS, rows.shape[1]), lambda block: (block, 0)), pl.BlockSpec(table.shape, lambda _: (0, 0)),
        ],
        outputs=[(block, (len(rows), padded), jnp.float32), (block, (len(rows), padded), jnp.int32)],
        warps=fused.NARROW,
    )(rows, table)  # fmt: skip
    return best[:words, :filters], (rows, positions, responses)


def _backward(saved: tuple[Any, ...], gradient: Array) -> tuple[Array, None]:
    rows, positions, responses = saved
    width, characters, filters = responses.shape
    total, padded = positions.shape
    gradient = jnp.pad(gradient, ((0, total - len(gradient)), (0, padded - filters)))
    part, blocks = total // PARTS, -(-characters // CHARACTERS)
    spread = pl.BlockSpec((part, padded), lambda _, part: (part, 0))
    (tables,) = fused.call(
        functools.partial(_backward_kernel, length=rows.shape[1] - 2 * (width // 2), width=width),
        grid=(blocks, PARTS),
        inputs=[pl.BlockSpec((part, rows.shape[1]), lambda _, part: (part, 0)), spread, spread],
        outputs=[
            (
                pl.BlockSpec((None, width, CHARACTERS, padded), lambda block, part: (part, 0, block, 0)),
                (PARTS, width, blocks * CHARACTERS, padded),
                jnp.float32,
            )
        ],
        warps=fused.NARROW,
    )(rows, positions, gradient)
    return tables.sum(axis=0)[:, :characters, :filters], None


best_responses.defvjp(_forward, _backward)


def _forward_kernel(
    rows_ref: Any, table_ref: Any, best_ref: Any, positions_ref: Any, *, length: int, width: int, characters: int
) -> None:
    def step(position: Any, carry: Any) -> Any:
        best, at = carry
        response = jnp.zeros_like(best)
        for offset in range(width):
            response += table_ref[offset * (characters + 1) + rows_ref[:, position + offset], :]
        middle = rows_ref[:, position + width // 2][:, None]
        response = jnp.where(middle < characters, response, LOWEST)
        better = response > best
        return jnp.where(better, response, best), jnp.where(better, position, at)

    start = jnp.full(best_ref.shape, LOWEST, jnp.float32), jnp.zeros(best_ref.shape, jnp.int32)
    best, positions_ref[...] = lax.fori_loop(0, length, step, start)
    best_ref[...] = jnp.where(best > LOWEST, best, 0.0)


def _backward_kernel(
    rows_ref: Any, positions_ref: Any, gradient_ref: Any, tables_ref: Any, *, length: int, width: int
) -> None:
    first = pl.program_id(0) * CHARACTERS
    characters = first + lax.broadcasted_iota(jnp.int32, (CHARACTERS, WORDS), 0)
    steps = gradient_ref.shape[0] // WORDS

    def step(number: Any, totals: Any) -> Any:
        block, position = lax.div(number, length), lax.rem(number, length)
        words = pl.ds(block * WORDS, WORDS)
        middle = rows_ref[words, position + width // 2][None, :]
        ones = jnp.where(middle == characters, 1.0, 0.0).astype(BACKWARD_TYPE)
        gradient, positions = gradient_ref[words, :], positions_ref[words, :]
        passed = [
            jnp.where(positions == position + width // 2 - offset, gradient, 0.0).astype(BACKWARD_TYPE)
            for offset in range(width)
        ]
        return [total + fused.dot(ones, rows) for total, rows in zip(totals, passed, strict=True)]

    start = [jnp.zeros((CHARACTERS, gradient_ref.shape[1]), jnp.float32) for _ in range(width)]
    for offset, total in enumerate(lax.fori_loop(0, steps * length, step, start)):
        tables_ref[offset, :, :] = total
