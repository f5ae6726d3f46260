"""A vector of each word from its characters: a convolution with the maximum over places, or an LSTM's two ends."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from deadheat.neural import chance
from deadheat.neural.chance import Key, drawn_rows
from deadheat.neural.devices import accelerated
from deadheat.neural.lstm import bilstm, initial_lstm
from deadheat.neural.shape import Shape
from deadheat.neural.text import UNKNOWN, Text

NOBODY = -1  # where there is no character
NOTHING = -1e9  # below every score: what is not there is no maximum


def initial_characters(key: Key, shape: Shape, marks: Array) -> dict[str, Any]:
    """Vectors of characters, and the filters or the LSTM over them."""
    table_key, filter_key = chance.key(key, 0), chance.key(key, 1)
    weights: dict[str, Any] = {"table": drawn_rows(table_key, marks, shape.character_size)}
    if shape.characters == "lstm":
        weights["lstm"] = initial_lstm(filter_key, shape.character_size, shape.filters)
        return weights
    seen = shape.width * shape.character_size
    limit = (6.0 / (seen + shape.filters)) ** 0.5
    size = (shape.width, shape.character_size, shape.filters)
    weights["filters"] = chance.between(filter_key, size, limit)
    weights["bias"] = jnp.zeros(shape.filters)
    return weights


def character_vectors(weights: dict[str, Any], shape: Shape, text: Text, split: Array, forms: Array) -> Array:
    """Vectors (B, T, size) of the words with these forms."""
    spelled = text.spelled[forms]  # (B, T, C)
    there = spelled >= 0
    codes = jnp.where(there & text.legible[split][spelled], spelled, UNKNOWN)
    if shape.characters == "lstm":
        return _by_lstm(weights, codes, there)
    return _by_filters(weights, shape, codes, there)


def _by_filters(weights: dict[str, Any], shape: Shape, codes: Array, there: Array) -> Array:
    """Every filter's best answer over the places of a word (Ma & Hovy 2016).

    What a filter says of a character in each of its places is worked out once a character, so that a word only adds up
    rows of small tables.
    """
    said = jnp.einsum("ce,wef->wcf", weights["table"], weights["filters"])
    reach, places = shape.width // 2, codes.shape[-1]
    around = jnp.pad(jnp.where(there, codes, NOBODY), ((0, 0), (0, 0), (reach, reach)), constant_values=NOBODY)
    summed = sum(picked(said[at], around[:, :, at : at + places]) for at in range(shape.width)) + weights["bias"]
    best = jnp.max(jnp.where(there[..., None], summed, NOTHING), axis=2)
    return jnp.where(there.any(axis=2)[..., None], best, 0.0)


def picked(table: Array, codes: Array) -> Array:
    """Rows of a small table, zeros for nobody."""
    return rows_by_products(table, codes) if accelerated() else _rows(table, codes)


def _rows(table: Array, codes: Array) -> Array:
    return jnp.where((codes >= 0)[..., None], table[codes], 0.0)


def _rows_forward(table: Array, codes: Array) -> tuple[Array, tuple[Array, Array]]:
    return _rows(table, codes), (table, codes)


def _rows_backward(kept: tuple[Array, Array], slopes: Array) -> tuple[Array, None]:
    """What the table learns: on a GPU a product with ones and zeros, where there are many additions to few places."""
    table, codes = kept
    ones = jax.nn.one_hot(codes.reshape(-1), len(table), dtype=table.dtype)  # a code below zero is a row of zeros
    return ones.T @ slopes.reshape(-1, slopes.shape[-1]), None


rows_by_products = jax.custom_vjp(_rows)
rows_by_products.defvjp(_rows_forward, _rows_backward)


def _by_lstm(weights: dict[str, Any], codes: Array, there: Array) -> Array:
    """The last state of each direction (Lample et al. 2016)."""
    sentences, words, places = codes.shape
    table = weights["table"]
    rows = picked(table, codes.reshape(-1, places))
    lengths = there.sum(axis=2).reshape(-1)
    states = bilstm(weights["lstm"], rows, lengths)
    units = states.shape[-1] // 2
    end = jnp.maximum(lengths - 1, 0)[:, None, None]
    forward = jnp.take_along_axis(states[:, :, :units], end, axis=1)[:, 0]
    both = jnp.concatenate([forward, states[:, 0, units:]], axis=-1)
    return jnp.where((lengths > 0)[:, None], both, 0.0).reshape(sentences, words, -1)
