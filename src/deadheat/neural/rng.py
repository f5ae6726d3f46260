"""Random numbers for networks: each is a hash of a key and a position.

The same key gives the same numbers alone and in a stack, on every device. The hash is a few integer operations, where
jax's own generators take longer to compile than the layers they serve. It is good enough for dropout and initial
weights; for statistics use `deadheat.splits.drawing`.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

Key = Array  # a 32-bit integer


def mix_bits(x: Any) -> Any:
    """A 32-bit integer from another; every bit depends on all (Wellons' `lowbias32`)."""
    x = (x ^ (x >> 16)) * jnp.uint32(0x7FEB352D)
    x = (x ^ (x >> 15)) * jnp.uint32(0x846CA68B)
    return x ^ (x >> 16)


def make_key(*parts: Array | int) -> Key:
    """A key from integers; their order matters."""
    key: Array = jnp.uint32(0x9E3779B9)
    for part in parts:
        key = mix_bits(key * jnp.uint32(31) + jnp.asarray(part).astype(jnp.uint32) + jnp.uint32(0x85EBCA6B))
    return key


def uniform(key: Key, shape: tuple[int, ...]) -> Array:
    """Uniform numbers in [0, 1)."""
    return _fraction(key, lax.iota(jnp.uint32, math.prod(shape)).reshape(shape))


def uniform_at(key: Key, positions: Array) -> Array:
    """The uniform numbers that have these positions in an array that `uniform` draws."""
    return _fraction(key, positions.astype(jnp.uint32))


def symmetric(key: Key, shape: tuple[int, ...], bound: float) -> Array:
    """Uniform numbers in [-bound, bound)."""
    return bound * (2.0 * uniform(key, shape) - 1.0)


def normal(key: Key, shape: tuple[int, ...]) -> Array:
    """Standard normal numbers (Box & Muller)."""
    radius = jnp.sqrt(-2.0 * jnp.log1p(-uniform(make_key(key, 0), shape)))
    return radius * jnp.cos(2.0 * math.pi * uniform(make_key(key, 1), shape))


def normal_at(key: Key, positions: Array) -> Array:
    """The normal numbers that have these positions in an array that `normal` draws."""
    radius = jnp.sqrt(-2.0 * jnp.log1p(-uniform_at(make_key(key, 0), positions)))
    return radius * jnp.cos(2.0 * math.pi * uniform_at(make_key(key, 1), positions))


def dropout_mask(key: Key, drop: Array | float, shape: tuple[int, ...]) -> Array:
    """Zeros for dropped units, 1 / (1 - drop) for the others."""
    return dropout_mask_at(key, drop, lax.iota(jnp.uint32, math.prod(shape)).reshape(shape))


def dropout_mask_at(key: Key, drop: Array | float, positions: Array) -> Array:
    """The part of a dropout mask at these positions."""
    return jnp.where(uniform_at(key, positions) >= drop, 1.0 / (1.0 - drop), 0.0)


def random_rows(key: Key, hashes: Array, size: int) -> Array:
    """A row of small numbers per hash, which depends on the key and the hash only."""
    return random_rows_at(key, hashes, lax.iota(jnp.uint32, size), size)


def random_rows_at(key: Key, hashes: Array, positions: Array, size: Array | int) -> Array:
    """The columns at these positions of rows of so many numbers."""
    bound = (3.0 / size) ** 0.5
    rows = mix_bits(hashes.astype(jnp.uint32) ^ key)[:, None]
    drawn: Array = bound * (2.0 * _fraction(rows, positions.astype(jnp.uint32)) - 1.0)
    return drawn


def _fraction(key: Array, position: Array) -> Array:
    """The number in [0, 1) of a position; two rounds of mixing make neighbouring keys independent."""
    bits = mix_bits(mix_bits(position + key) ^ mix_bits(key ^ jnp.uint32(0x5BD1E995)))
    fraction: Array = (bits >> 8).astype(jnp.float32) * jnp.float32(2.0**-24)
    return fraction
