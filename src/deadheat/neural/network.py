"""The BiLSTM-CNN-CRF tagger as functions of one network; stacks are made of them by `vmap`.

Word vectors, casing and characters enter up to three bidirectional LSTM layers; a softmax or a random field labels the
words (Huang et al. 2015, Ma & Hovy 2016, Lample et al. 2016, with the options of Reimers & Gurevych 2017).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from deadheat.neural import chance
from deadheat.neural.chance import Key, drawn_rows
from deadheat.neural.crf import CRFWeights, best_sequences, negative_log_likelihood
from deadheat.neural.encoder import Batch, Marks, Weights, barred, initial_encoder, layered, word_vectors
from deadheat.neural.shape import Numbers, Shape
from deadheat.neural.text import Text


def initial_weights(key: Key, shape: Shape, marks: Marks, vectors: Array | None = None) -> Weights:
    """A network before training. Words that `vectors` (V, size) has no row for (NaN) are drawn like all others."""
    weights, inputs = initial_encoder(key, shape, marks, vectors)
    columns = drawn_rows(chance.key(key, 4), marks.labels, inputs) * (inputs / (inputs + 20.0)) ** 0.5
    weights["output"] = (columns.T, jnp.zeros(len(marks.labels)))
    if shape.classifier == "crf":
        labels = len(marks.labels)
        weights["crf"] = CRFWeights(jnp.zeros((labels, labels)), jnp.zeros(labels), jnp.zeros(labels))
    return weights


def label_scores(
    weights: Weights, shape: Shape, text: Text, split: Array, batch: Batch, numbers: Numbers, key: Key | None
) -> Array:
    """Scores (B, T, L) of all labels; with a key, as in training: words are replaced and units dropped."""
    x = word_vectors(weights, shape, text, split, batch, numbers, key)
    state = layered(weights, shape, x, batch.lengths, numbers, key)
    output, bias = weights["output"]
    scores: Array = state @ output + bias + barred(text.possible[split])
    return scores


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


def outputs(weights: Weights, shape: Shape, text: Text, split: Array, batch: Batch) -> Array:
    """The label of each word: (B, T)."""
    scores = label_scores(weights, shape, text, split, batch, Numbers(0.0), None)
    if shape.classifier == "crf":
        return best_sequences(weights["crf"], scores, batch.lengths).astype(jnp.int16)
    return jnp.argmax(scores, axis=-1).astype(jnp.int16)


def decoded(shape: Shape, made: Any, lengths: NDArray[np.integer]) -> NDArray[np.integer]:
    """Labels (B, T) from what came from the device, which are labels already."""
    del shape, lengths
    return np.asarray(made)
