"""The encoder that all networks share: vectors of words, casing, characters and tags, and BiLSTM layers.

Characters become a vector by a convolution with max pooling (Ma & Hovy 2016) or by the two ends of an LSTM (Lample et
al. 2016).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from deadheat.neural import fused_characters, rng
from deadheat.neural.config import CASES, HyperParams, Shape, Variant
from deadheat.neural.devices import on_accelerator
from deadheat.neural.lstm import DIRECTIONS, bilstm, init_lstm, init_varied
from deadheat.neural.rng import Key, random_rows
from deadheat.neural.text import BUCKETS, UNKNOWN, Text

Weights = dict[str, Any]
IMPOSSIBLE = -1e4  # score of a label that is not in train
NO_CHARACTER = -1
LOWEST = -1e9


class StringHashes(NamedTuple):
    """Hashes of strings, from which their initial vectors are drawn."""

    words: Array
    characters: Array
    labels: Array
    tags: Array | None = None


class Batch(NamedTuple):
    """B sentences of a text, padded to T words, as the networks of one split see them; `lengths` are the real ones."""

    text: Text
    split: Array
    words: Array
    forms: Array
    cases: Array
    labels: Array
    lengths: Array
    inside: Array  # whether there is a word: (B, T)
    extra: dict[str, Array]


def make_batch(text: Text, split: Array, sentences: Array, words: int) -> Batch:
    """Sentences by their numbers, padded to so many words; -1 stands for none."""
    lengths = jnp.where(sentences >= 0, text.lengths[sentences], 0)
    offsets = jnp.arange(words)
    inside = offsets < lengths[:, None]
    at = jnp.where(inside, text.starts[sentences][:, None] + offsets, 0)
    extra = {name: array[at] for name, array in text.extra.items()}
    words_at, forms, cases, labels = (column[at] for column in (text.words, text.forms, text.cases, text.labels))
    return Batch(text, split, words_at, forms, cases, labels, lengths, inside, extra)


def init_encoder(
    key: Key, shape: Shape, hashes: StringHashes, vectors: Array | None = None, variant: Variant | None = None
) -> tuple[Weights, int]:
    """Initial weights of all layers, and the size of their output.

    A variant of the network is kept among the weights, where nothing changes it. Words without a row in `vectors`
    (V, size), which is NaN, are drawn like all others.
    """
    keys = [rng.make_key(key, number) for number in range(4)]
    weights: Weights = {}
    if shape.word_size:
        words = random_rows(keys[0], hashes.words, shape.word_size)
        if vectors is not None:
            words = jnp.where(jnp.isnan(vectors), words, vectors)
        weights["words"] = words.at[UNKNOWN].set(random_rows(keys[0], hashes.words[:1], shape.word_size)[0])
    if shape.case_size:
        weights["cases"] = 0.1 * rng.normal(keys[1], (CASES, shape.case_size))
    if shape.characters != "none":
        weights["characters"] = _init_characters(keys[2], shape, hashes.characters)
    if shape.affix_size:
        weights["affixes"] = jnp.zeros((BUCKETS, shape.affix_size))  # those that are not in train add nothing
    if shape.morphology_size:
        weights["morphology"] = jnp.zeros((BUCKETS, shape.morphology_size))
    if shape.tag_size:
        assert hashes.tags is not None
        # Of variance 1: parsers learn several times faster than from vectors as short as those of words.
        weights["tags"] = shape.tag_size**0.5 * random_rows(rng.make_key(key, 5), hashes.tags, shape.tag_size)
    if shape.feature_size:
        weights["features"] = {"layers": jnp.zeros(shape.feature_layers), "scale": jnp.ones(())}
    inputs = shape.inputs
    if shape.varied:
        weights |= _init_varied(keys[3], shape, variant or shape.variant(len(shape.units)))
        return weights, DIRECTIONS * shape.units[-1]
    for layer, units in enumerate(shape.units):
        weights[f"layer{layer}"] = init_lstm(rng.make_key(keys[3], layer), inputs, units)
        inputs = DIRECTIONS * units
    return weights, inputs


def _init_varied(key: Key, shape: Shape, variant: Variant) -> Weights:
    """The layers of a variant, padded to the units and layers of its stack, and the variant itself."""
    variant = jax.tree.map(lambda number: jnp.asarray(number, jnp.float32), variant)
    weights: Weights = {"variant": variant}
    positions, inputs = jnp.arange(shape.inputs), jnp.asarray(shape.inputs)
    for layer, (padded, units) in enumerate(zip(shape.units, variant.units, strict=True)):
        weights[f"layer{layer}"] = init_varied(rng.make_key(key, layer), positions, inputs, units.astype(int), padded)
        positions, inputs = unit_positions(units, padded), DIRECTIONS * units.astype(int)
    return weights


def unit_positions(units: Array, padded: int) -> Array:
    """Where the states of both directions would be without padding; that of padding is the number of states."""
    unit, units = jnp.arange(padded), units.astype(int)
    positions = jnp.arange(DIRECTIONS)[:, None] * units + unit
    return jnp.where(unit < units, positions, DIRECTIONS * units).reshape(-1)


def last_units(variant: Variant) -> Array:
    """The units of a network's last layer."""
    last: Array = variant.units[0]
    for units in variant.units[1:]:
        last = jnp.where(units > 0, units, last)
    return last


def _init_characters(key: Key, shape: Shape, hashes: Array) -> Weights:
    """Vectors of characters, and the filters or the LSTM over them."""
    weights: Weights = {"table": random_rows(rng.make_key(key, 0), hashes, shape.character_size)}
    filter_key = rng.make_key(key, 1)
    if shape.characters == "lstm":
        weights["lstm"] = init_lstm(filter_key, shape.character_size, shape.filters)
        return weights
    bound = (6.0 / (shape.width * shape.character_size + shape.filters)) ** 0.5
    weights["filters"] = rng.symmetric(filter_key, (shape.width, shape.character_size, shape.filters), bound)
    weights["bias"] = jnp.zeros(shape.filters)
    return weights


def word_vectors(weights: Weights, shape: Shape, batch: Batch, hyper: HyperParams, key: Key | None) -> Array:
    """The vector of each word by itself: (B, T, inputs). With a key, as in training, rare words are replaced."""
    text, split = batch.text, batch.split
    x: list[Array] = []
    if shape.word_size:
        counts = text.train_counts[split][batch.words]
        unknown = counts == 0
        if key is not None:
            replaced = rng.uniform(rng.make_key(key, 0), batch.words.shape) < hyper.replaced
            unknown |= (counts == 1) & replaced
        table = weights["words"]
        if shape.fixed_words:
            table = jax.lax.stop_gradient(table)
        x.append(table[jnp.where(unknown, UNKNOWN, batch.words)])
    if shape.case_size:
        x.append(jax.nn.one_hot(jnp.where(batch.inside, batch.cases, 0), CASES) @ weights["cases"])
    if shape.characters != "none":
        spellings = text.spellings[batch.forms]  # (B, T, C)
        present = spellings >= 0
        codes = jnp.where(present & text.known_characters[split][spellings], spellings, UNKNOWN)
        by_character = _by_lstm if shape.characters == "lstm" else _by_filters
        x.append(by_character(weights["characters"], shape, codes, present))
    if shape.affix_size:
        x.append(_sum_rows(weights["affixes"], text.affixes[batch.forms], batch.inside))
    if shape.tag_size:
        x.append(weights["tags"][batch.extra["tags"]])
    if shape.morphology_size:
        x.append(_sum_rows(weights["morphology"], batch.extra["morphology"], batch.inside))
    if shape.feature_size:
        x.append(mix_layers(weights["features"], batch.extra["features"]))
    if key is not None and shape.omits:
        x = omit_vectors(x, hyper, rng.make_key(key, 50))
    return jnp.concatenate(x, axis=-1)


def mix_layers(weights: Weights, features: Array) -> Array:
    """Scaled averages of layers (B, T, L, F), weighted by a learned softmax (Peters et al. 2018): (B, T, F)."""
    shares = weights["scale"] * jax.nn.softmax(weights["layers"])
    mixed: Array = jnp.einsum("btlf,l->btf", features.astype(jnp.float32), shares)
    return mixed


def _sum_rows(table: Array, buckets: Array, inside: Array) -> Array:
    """The sum (B, T, size) of rows of a table by their buckets (B, T, K), of which 0 stands for none."""
    used = (buckets > 0) & inside[..., None]
    return jnp.where(used[..., None], table[buckets], 0.0).sum(axis=2)


def omit_vectors(x: list[Array], hyper: HyperParams, key: Key) -> list[Array]:
    """Vectors of a word, each dropped at random; the others are scaled up to compensate (Dozat & Manning 2017)."""
    kept = rng.uniform(key, (len(x), *x[0].shape[:2], 1)) >= hyper.omitted
    scale = len(x) / jnp.maximum(kept.sum(axis=0), 1)
    return [vector * (mask * scale) for vector, mask in zip(x, kept, strict=True)]


def _by_filters(weights: Weights, shape: Shape, codes: Array, present: Array) -> Array:
    """The maximum of every filter over the positions of a word.

    The response of a filter to a character in each of its positions is computed once per character, so that a word only
    adds up rows of small tables.
    """
    responses = jnp.einsum("ce,wef->wcf", weights["table"], weights["filters"])
    reach, length = shape.width // 2, codes.shape[-1]
    if on_accelerator() and fused_characters.is_supported(shape.filters, shape.width):
        letters = jnp.where(present, codes, NO_CHARACTER).reshape(-1, length)
        best = fused_characters.best_responses(responses, letters).reshape(*codes.shape[:-1], -1)
        return jnp.where(present.any(axis=2)[..., None], best + weights["bias"], 0.0)
    pad = ((0, 0), (0, 0), (reach, reach))
    padded = jnp.pad(jnp.where(present, codes, NO_CHARACTER), pad, constant_values=NO_CHARACTER)
    windows = (take_rows(responses[at], padded[:, :, at : at + length]) for at in range(shape.width))
    best = jnp.max(jnp.where(present[..., None], sum(windows) + weights["bias"], LOWEST), axis=2)
    return jnp.where(present.any(axis=2)[..., None], best, 0.0)


def _by_lstm(weights: Weights, shape: Shape, codes: Array, present: Array) -> Array:
    """The last state of each direction."""
    sentences, words, length = codes.shape
    lengths = present.sum(axis=2).reshape(-1)
    states = bilstm(weights["lstm"], take_rows(weights["table"], codes.reshape(-1, length)), lengths)
    end = jnp.maximum(lengths - 1, 0)[:, None, None]
    forward = jnp.take_along_axis(states[:, :, : shape.filters], end, axis=1)[:, 0]
    both = jnp.concatenate([forward, states[:, 0, shape.filters :]], axis=-1)
    return jnp.where((lengths > 0)[:, None], both, 0.0).reshape(sentences, words, -1)


def take_rows(table: Array, codes: Array) -> Array:
    """Rows of a small table; zeros for NO_CHARACTER."""
    return take_rows_by_product(table, codes) if on_accelerator() else _take_rows(table, codes)


def _take_rows(table: Array, codes: Array) -> Array:
    return jnp.where((codes >= 0)[..., None], table[codes], 0.0)


def _take_rows_backward(saved: tuple[Array, Array], gradients: Array) -> tuple[Array, None]:
    """The table's gradient as a product with one-hot rows: on a GPU, many additions to few addresses are slow."""
    table, codes = saved
    ones = jax.nn.one_hot(codes.reshape(-1), len(table), dtype=table.dtype)  # a code below zero is a row of zeros
    return ones.T @ gradients.reshape(-1, gradients.shape[-1]), None


take_rows_by_product = jax.custom_vjp(_take_rows)
take_rows_by_product.defvjp(lambda table, codes: (_take_rows(table, codes), (table, codes)), _take_rows_backward)


def run_layers(weights: Weights, shape: Shape, x: Array, lengths: Array, hyper: HyperParams, key: Key | None) -> Array:
    """The BiLSTM layers' states (B, T, 2U) for vectors (B, T, inputs); with a key, units are dropped."""
    if shape.varied:
        return _run_varied(weights, shape, x, lengths, hyper, key)
    sentences, words, _ = x.shape
    states = drop_outputs(x, shape, hyper, key, 1)
    for layer, units in enumerate(shape.units):
        mask = recurrent_mask(shape, hyper, key, 2 + 2 * layer, (words, sentences, units))
        states = bilstm(weights[f"layer{layer}"], states, lengths, mask)
        states = drop_outputs(states, shape, hyper, key, 3 + 2 * layer)
    return states


def _run_varied(weights: Weights, shape: Shape, x: Array, lengths: Array, hyper: HyperParams, key: Key | None) -> Array:
    """The states of a network that has a variant; layers that it does not have pass their input on."""
    variant: Variant = jax.lax.stop_gradient(weights["variant"])
    states = _drop_varied(x, variant, jnp.arange(shape.inputs), shape.inputs, hyper, key, 1)
    for layer, (padded, units) in enumerate(zip(shape.units, variant.units, strict=True)):
        mask = _varied_mask(shape, variant, units, (len(x), x.shape[1], padded), hyper, key, 2 + 2 * layer)
        above = bilstm(weights[f"layer{layer}"], states, lengths, mask)
        size = DIRECTIONS * units.astype(int)
        above = _drop_varied(above, variant, unit_positions(units, padded), size, hyper, key, 3 + 2 * layer)
        states = above if not layer else jnp.where(units > 0, above, states)
    return states


def _drop_varied(
    x: Array, variant: Variant, positions: Array, size: Array | int, hyper: HyperParams, key: Key | None, position: int
) -> Array:
    """Dropout of outputs whose features have these positions among so many."""
    if key is None:
        return x
    sentences, words, _ = x.shape
    naive = variant.naive.astype(int)
    row = jnp.arange(sentences)[:, None] * jnp.where(naive, words, 1) + jnp.arange(words) * naive
    at = row[:, :, None] * size + positions
    return x * rng.dropout_mask_at(rng.make_key(key, position), hyper.drop * variant.outputs, at)


def _varied_mask(
    shape: Shape, variant: Variant, units: Array, sizes: tuple[int, int, int], hyper: HyperParams, key: Key | None,
    position: int,
) -> Array | None:  # fmt: skip
    """The dropout mask of recurrent units."""
    if key is None:
        return None
    sentences, words, padded = sizes
    steps = jnp.arange(words if shape.dropout == "naive" else 1) * variant.naive.astype(int)
    row = (steps[:, None, None] * DIRECTIONS + jnp.arange(DIRECTIONS)[:, None]) * sentences + jnp.arange(sentences)
    at = row[..., None] * units.astype(int) + jnp.arange(padded)
    return rng.dropout_mask_at(rng.make_key(key, position), hyper.drop * variant.recurrent, at)


def run_layers_with_root(weights: Weights, shape: Shape, batch: Batch, hyper: HyperParams, key: Key | None) -> Array:
    """States (B, T + 1, 2U) of the root, which is a learned vector before the first word, and of all words."""
    x = word_vectors(weights, shape, batch, hyper, key)
    root = jnp.broadcast_to(weights["root"], (len(x), 1, x.shape[2]))
    lengths = jnp.where(batch.lengths > 0, batch.lengths + 1, 0)
    return run_layers(weights, shape, jnp.concatenate([root, x], axis=1), lengths, hyper, key)


def label_mask(known_labels: Array) -> Array:
    """What is added to scores of labels so that unknown ones are never chosen: (L,)."""
    return jnp.where(known_labels, 0.0, IMPOSSIBLE)


def cross_entropy(scores: Array, gold: Array) -> Array:
    """The negative log-likelihood (B, T) of gold codes (B, T), given scores (B, T, C)."""
    return jax.nn.logsumexp(scores, axis=-1) - jnp.take_along_axis(scores, gold[:, :, None], axis=2)[:, :, 0]


def mean_over_words(losses: Array, batch: Batch) -> Array:
    """The mean of losses (B, T) over real words."""
    return jnp.sum(jnp.where(batch.inside, losses, 0.0)) / jnp.maximum(jnp.sum(batch.inside), 1)


def drop_outputs(x: Array, shape: Shape, hyper: HyperParams, key: Key | None, position: int) -> Array:
    """Dropout of a layer's outputs, with one mask per sentence (variational) or per word (naive)."""
    if key is None or shape.dropout == "none" or shape.dropped == "recurrent":
        return x
    sentences, words, size = x.shape
    mask = (sentences, 1, size) if shape.dropout == "variational" else (sentences, words, size)
    return x * rng.dropout_mask(rng.make_key(key, position), hyper.drop, mask)


def recurrent_mask(
    shape: Shape, hyper: HyperParams, key: Key | None, position: int, sizes: tuple[int, int, int]
) -> Array | None:
    """The dropout mask of recurrent units; None where nothing is dropped."""
    if key is None or shape.dropout == "none" or shape.dropped == "outputs":
        return None
    words, sentences, units = sizes
    steps = 1 if shape.dropout == "variational" else words
    return rng.dropout_mask(rng.make_key(key, position), hyper.drop, (steps, DIRECTIONS, sentences, units))
