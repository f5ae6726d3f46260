"""The BiLSTM-CNN-CRF tagger as functions of one network; stacks are made of them by `vmap`.

Word vectors, casing and characters enter up to three bidirectional LSTM layers; a softmax or a random field labels the
words (Huang et al. 2015, Ma & Hovy 2016, Lample et al. 2016, with the options of Reimers & Gurevych 2017).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from deadheat.neural import chance
from deadheat.neural.chance import Key, drawn_rows
from deadheat.neural.characters import character_vectors, initial_characters
from deadheat.neural.crf import CRFWeights, best_sequences, negative_log_likelihood
from deadheat.neural.lstm import DIRECTIONS, bilstm, initial_lstm
from deadheat.neural.shape import CASES, Numbers, Shape
from deadheat.neural.text import UNKNOWN, Text

IMPOSSIBLE = -1e4  # score of a label that training has not seen
Weights = dict[str, Any]


class Marks(NamedTuple):
    """Numbers that stand for strings, from which their first vectors are drawn."""

    words: Array
    characters: Array
    labels: Array


class Batch(NamedTuple):
    """Sentences side by side: B of them, T words each, of which `lengths` count."""

    words: Array
    forms: Array
    cases: Array
    labels: Array
    lengths: Array
    inside: Array  # whether there is a word: (B, T)


def initial_weights(key: Key, shape: Shape, marks: Marks, vectors: Array | None = None) -> Weights:
    """A network before training. Words that `vectors` (V, size) has no row for (NaN) are drawn like all others."""
    keys = [chance.key(key, number) for number in range(5)]
    words = drawn_rows(keys[0], marks.words, shape.word_size)
    if vectors is not None:
        words = jnp.where(jnp.isnan(vectors), words, vectors)
    weights: Weights = {"words": words.at[UNKNOWN].set(drawn_rows(keys[0], marks.words[:1], shape.word_size)[0])}
    if shape.case_size:
        weights["cases"] = 0.1 * chance.normal(keys[1], (CASES, shape.case_size))
    if shape.characters != "none":
        weights["characters"] = initial_characters(keys[2], shape, marks.characters)
    inputs = shape.inputs
    for at, units in enumerate(shape.units):
        weights[f"layer{at}"] = initial_lstm(chance.key(keys[3], at), inputs, units)
        inputs = DIRECTIONS * units
    columns = drawn_rows(keys[4], marks.labels, inputs) * (inputs / (inputs + 20.0)) ** 0.5
    weights["output"] = (columns.T, jnp.zeros(len(marks.labels)))
    if shape.classifier == "crf":
        labels = len(marks.labels)
        weights["crf"] = CRFWeights(jnp.zeros((labels, labels)), jnp.zeros(labels), jnp.zeros(labels))
    return weights


def gathered(text: Text, sentences: Array, words: int) -> Batch:
    """Sentences by their numbers, cut or filled up to so many words; -1 stands for none."""
    real = sentences >= 0
    lengths = jnp.where(real, text.lengths[sentences], 0)
    at = jnp.arange(words)
    inside = at < lengths[:, None]
    places = jnp.where(inside, text.starts[sentences][:, None] + at, 0)
    return Batch(text.words[places], text.forms[places], text.cases[places], text.labels[places], lengths, inside)


def label_scores(
    weights: Weights, shape: Shape, text: Text, split: Array, batch: Batch, numbers: Numbers, key: Key | None
) -> Array:
    """Scores (B, T, L) of all labels; with a key, as in training: words are replaced and units dropped."""
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
    state = dropped_outputs(jnp.concatenate(x, axis=-1), shape, numbers, key, 1)
    for at, units in enumerate(shape.units):
        kept = kept_units(shape, numbers, key, 2 + 2 * at, (batch.words.shape[1], len(batch.lengths), units))
        state = bilstm(weights[f"layer{at}"], state, batch.lengths, kept)
        state = dropped_outputs(state, shape, numbers, key, 3 + 2 * at)
    output, bias = weights["output"]
    scores: Array = state @ output + bias + jnp.where(text.possible[split], 0.0, IMPOSSIBLE)
    return scores


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


def loss(
    weights: Weights, shape: Shape, text: Text, split: Array, batch: Batch, numbers: Numbers, key: Key | None
) -> Array:
    """The mean over words of how unlikely the gold labels are."""
    scores = label_scores(weights, shape, text, split, batch, numbers, key)
    words = jnp.maximum(jnp.sum(batch.inside), 1)
    if shape.classifier == "crf":
        unlikely = negative_log_likelihood(weights["crf"], scores, batch.lengths, batch.labels)
        return jnp.sum(jnp.where(batch.lengths > 0, unlikely, 0)) / words
    gold = jnp.take_along_axis(scores, batch.labels[:, :, None], axis=2)[:, :, 0]
    return jnp.sum(jnp.where(batch.inside, jax.nn.logsumexp(scores, axis=-1) - gold, 0)) / words


def best_labels(weights: Weights, shape: Shape, text: Text, split: Array, batch: Batch) -> Array:
    """The label of each word: (B, T)."""
    scores = label_scores(weights, shape, text, split, batch, Numbers(0.0), None)
    if shape.classifier == "crf":
        return best_sequences(weights["crf"], scores, batch.lengths)
    return jnp.argmax(scores, axis=-1)
