"""The encoder all networks share: vectors of words, casing, characters and tags, and BiLSTM layers.

A vector of each word from its characters: a convolution with the maximum over places, or an LSTM's two ends.

What a network makes of the words of a sentence: vectors of words, casing, characters and tags into BiLSTM layers.

All networks begin so; taggers and parsers differ in what follows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from deadheat.neural.config import CASES, Numbers, Shape
from deadheat.neural.devices import accelerated
from deadheat.neural.lstm import DIRECTIONS, bilstm, initial_lstm
from deadheat.neural.rng import Key, drawn_rows
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


Weights = dict[str, Any]
IMPOSSIBLE = -1e4  # score of a label that training has not seen


class Marks(NamedTuple):
    """Numbers that stand for strings, from which their first vectors are drawn."""

    words: Array
    characters: Array
    labels: Array
    tags: Array | None = None


class Batch(NamedTuple):
    """Sentences side by side: B of them, T words each, of which `lengths` count."""

    words: Array
    forms: Array
    cases: Array
    labels: Array
    lengths: Array
    inside: Array  # whether there is a word: (B, T)
    more: dict[str, Array]


def gathered(text: Text, split: Array, sentences: Array, words: int) -> Batch:
    """Sentences by their numbers, cut or filled up to so many words; -1 stands for none."""
    real = sentences >= 0
    lengths = jnp.where(real, text.lengths[sentences], 0)
    at = jnp.arange(words)
    inside = at < lengths[:, None]
    places = jnp.where(inside, text.starts[sentences][:, None] + at, 0)
    more = {name: (each if each.ndim == 1 else each[split])[places] for name, each in text.more.items()}
    return Batch(text.words[places], text.forms[places], text.cases[places], text.labels[places], lengths, inside, more)


def initial_encoder(key: Key, shape: Shape, marks: Marks, vectors: Array | None = None) -> tuple[Weights, int]:
    """Weights of all layers before training, and how many numbers they make of a word.

    Words that `vectors` (V, size) has no row for (NaN) are drawn like all others.
    """
    keys = [chance.key(key, number) for number in range(4)]
    words = drawn_rows(keys[0], marks.words, shape.word_size)
    if vectors is not None:
        words = jnp.where(jnp.isnan(vectors), words, vectors)
    weights: Weights = {"words": words.at[UNKNOWN].set(drawn_rows(keys[0], marks.words[:1], shape.word_size)[0])}
    if shape.case_size:
        weights["cases"] = 0.1 * chance.normal(keys[1], (CASES, shape.case_size))
    if shape.characters != "none":
        weights["characters"] = initial_characters(keys[2], shape, marks.characters)
    if shape.tag_size:
        assert marks.tags is not None
        # Of variance 1: parsers learn several times faster than from vectors as short as those of words.
        weights["tags"] = shape.tag_size**0.5 * drawn_rows(chance.key(key, 5), marks.tags, shape.tag_size)
    inputs = shape.inputs
    for at, units in enumerate(shape.units):
        weights[f"layer{at}"] = initial_lstm(chance.key(keys[3], at), inputs, units)
        inputs = DIRECTIONS * units
    return weights, inputs


def word_vectors(
    weights: Weights, shape: Shape, text: Text, split: Array, batch: Batch, numbers: Numbers, key: Key | None
) -> Array:
    """What is known of each word by itself: (B, T, inputs); with a key, as in training: rare words are replaced."""
    seen = text.seen[split][batch.words]
    unknown = seen == 0
    if key is not None:
        replaced = chance.uniform(chance.key(key, 0), batch.words.shape) < numbers.replaced
        unknown |= (seen == 1) & replaced
    table = weights["words"]
    if shape.fixed_words:
        table = jax.lax.stop_gradient(table)
    x = [table[jnp.where(unknown, UNKNOWN, batch.words)]]
    if shape.case_size:
        x.append(jax.nn.one_hot(jnp.where(batch.inside, batch.cases, 0), CASES) @ weights["cases"])
    if shape.characters != "none":
        x.append(character_vectors(weights["characters"], shape, text, split, batch.forms))
    if shape.tag_size:
        x.append(weights["tags"][batch.more["tags"]])
    if key is not None and shape.omits:
        x = some_omitted(x, numbers, chance.key(key, 50))
    return jnp.concatenate(x, axis=-1)


def some_omitted(x: list[Array], numbers: Numbers, key: Key) -> list[Array]:
    """Vectors of a word, each left out at times; those that stay make up for them (Dozat & Manning 2017)."""
    there = chance.uniform(key, (len(x), *x[0].shape[:2], 1)) >= numbers.omitted
    scale = len(x) / jnp.maximum(there.sum(axis=0), 1)
    return [each * (own * scale) for each, own in zip(x, there, strict=True)]


def layered(weights: Weights, shape: Shape, x: Array, lengths: Array, numbers: Numbers, key: Key | None) -> Array:
    """What the layers make of vectors (B, T, inputs): (B, T, 2U); with a key, units are dropped."""
    sentences, words, _ = x.shape
    state = dropped_outputs(x, shape, numbers, key, 1)
    for at, units in enumerate(shape.units):
        kept = kept_units(shape, numbers, key, 2 + 2 * at, (words, sentences, units))
        state = bilstm(weights[f"layer{at}"], state, lengths, kept)
        state = dropped_outputs(state, shape, numbers, key, 3 + 2 * at)
    return state


def barred(possible: Array) -> Array:
    """What is added to the scores of labels so that impossible ones are never chosen: (L,)."""
    return jnp.where(possible, 0.0, IMPOSSIBLE)


def dropped_outputs(x: Array, shape: Shape, numbers: Numbers, key: Key | None, place: int) -> Array:
    """What a layer passes on: a part is dropped, by the sentence (variational) or by the word (naive)."""
    if key is None or shape.dropout == "none" or shape.dropped == "recurrent":
        return x
    sentences, words, size = x.shape
    mask = (sentences, 1, size) if shape.dropout == "variational" else (sentences, words, size)
    return x * chance.kept(chance.key(key, place), numbers.drop, mask)


def kept_units(
    shape: Shape, numbers: Numbers, key: Key | None, place: int, sizes: tuple[int, int, int]
) -> Array | None:
    """What is kept of the units from word to word; None where nothing is dropped."""
    if key is None or shape.dropout == "none" or shape.dropped == "outputs":
        return None
    words, sentences, units = sizes
    steps = 1 if shape.dropout == "variational" else words
    return chance.kept(chance.key(key, place), numbers.drop, (steps, DIRECTIONS, sentences, units))
