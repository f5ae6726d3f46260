"""Chance for networks: numbers that are a hash of a key and their place.

The same key gives the same numbers alone and in a stack, on every device. The hash is a few operations on whole
numbers, where the generators that come with jax take longer to compile than the layers they serve. It is good enough to
drop units and to draw first weights; for statistics, `deadheat.splits.drawing` has better.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

Key = Array  # a whole number of 32 bits


def mixed(x: Any) -> Any:
    """A whole number of 32 bits from another: every bit depends on all (Wellons' `lowbias32`)."""
    x = (x ^ (x >> 16)) * jnp.uint32(0x7FEB352D)
    x = (x ^ (x >> 15)) * jnp.uint32(0x846CA68B)
    return x ^ (x >> 16)


def key(*parts: Array | int) -> Key:
    """A key from whole numbers, in their order."""
    found: Array = jnp.uint32(0x9E3779B9)
    for part in parts:
        found = mixed(found * jnp.uint32(31) + jnp.asarray(part).astype(jnp.uint32) + jnp.uint32(0x85EBCA6B))
    return found


def uniform(own: Key, shape: tuple[int, ...]) -> Array:
    """Numbers from 0 to less than 1."""
    place = lax.iota(jnp.uint32, math.prod(shape)).reshape(shape)
    return _share(own, place)


def between(own: Key, shape: tuple[int, ...], bound: float) -> Array:
    """Numbers from -bound to bound."""
    return bound * (2.0 * uniform(own, shape) - 1.0)


def normal(own: Key, shape: tuple[int, ...]) -> Array:
    """Numbers that are normally distributed (Box & Muller)."""
    radius = jnp.sqrt(-2.0 * jnp.log1p(-uniform(key(own, 0), shape)))
    return radius * jnp.cos(2.0 * math.pi * uniform(key(own, 1), shape))


def kept(own: Key, drop: Array | float, shape: tuple[int, ...]) -> Array:
    """What is kept when a share is dropped, scaled so that the sum stays the same on average."""
    return jnp.where(uniform(own, shape) >= drop, 1.0 / (1.0 - drop), 0.0)


def drawn_rows(own: Key, marks: Array, size: int) -> Array:
    """A row of small numbers for every mark, which depends on the key and the mark alone."""
    bound = (3.0 / size) ** 0.5
    rows = mixed(marks.astype(jnp.uint32) ^ own)[:, None]
    drawn: Array = bound * (2.0 * _share(rows, lax.iota(jnp.uint32, size)) - 1.0)
    return drawn


def _share(own: Array, place: Array) -> Array:
    """The share that belongs to a place; two rounds, so that neighbouring keys have nothing in common."""
    found = mixed(mixed(place + own) ^ mixed(own ^ jnp.uint32(0x5BD1E995)))
    share: Array = (found >> 8).astype(jnp.float32) * jnp.float32(2.0**-24)
    return share
