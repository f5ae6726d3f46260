"""Parsing as sequence labelling: brackets in two planes and relations (Strzyz, Vilares & Gómez-Rodríguez 2020).

Each word gets three labels by three softmaxes over the same BiLSTM states. All labels are in one list, relations first,
then those of plane 1 and of plane 2 (`label_names`), so that initial weights depend on the strings only, and labels
that are not in train are impossible. Codes count from the beginning of each kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Column, Indices, Vocabulary
from deadheat.neural import rng
from deadheat.neural.config import BracketShape, HyperParams
from deadheat.neural.encoder import (
    Batch,
    StringHashes,
    Weights,
    drop_outputs,
    init_encoder,
    label_mask,
    run_layers,
    word_vectors,
)
from deadheat.neural.rng import Key, random_rows
from deadheat.neural.text import Text
from deadheat.trees import bracketing

LEAK = 0.1  # slope of the leaky rectifier below 0
PLANES = ("plane1", "plane2")  # their codes in the extra columns of a text; those of relations are its labels


def label_names(
    relations: Sequence[str], planes: tuple[Vocabulary, Vocabulary], sizes: Sequence[int] | None = None
) -> tuple[str, ...]:
    """Names of all labels in order; the same brackets are different labels in the two planes.

    With sizes, relations and the labels of each plane are padded to so many.

    Examples
    --------
    >>> planes = Vocabulary.of([".", "<"]), Vocabulary.of(["."])
    >>> label_names(("det", "root"), planes)
    ('det', 'root', '1.', '1<', '2.')
    >>> label_names(("det", "root"), planes, (3, 2, 2))
    ('det', 'root', '', '1.', '1<', '2.', '')
    """
    first, second = planes
    kinds = list(relations), [f"1{label}" for label in first], [f"2{label}" for label in second]
    sizes = sizes or [len(names) for names in kinds]
    return tuple(name for names, size in zip(kinds, sizes, strict=True) for name in names + [""] * (size - len(names)))


def init_weights(key: Key, shape: BracketShape, hashes: StringHashes, vectors: Array | None = None) -> Weights:
    """Initial weights."""
    labels = shape.relations + sum(shape.planes)
    assert len(hashes.labels) >= labels, f"{len(hashes.labels)} labels; expected {labels}: relations, then both planes"
    weights, inputs = init_encoder(key, shape, hashes, vectors)
    if shape.hidden:
        bound = (6.0 / (inputs + shape.hidden)) ** 0.5
        hidden = rng.symmetric(rng.make_key(key, 6), (inputs, shape.hidden), bound)
        weights["hidden"] = (hidden, jnp.zeros(shape.hidden))
        inputs = shape.hidden
    columns = random_rows(rng.make_key(key, 4), hashes.labels, inputs) * (inputs / (inputs + 20.0)) ** 0.5
    weights["output"] = (columns.T, jnp.zeros(len(hashes.labels)))
    return weights


def label_scores(
    weights: Weights, shape: BracketShape, text: Text, split: Array, batch: Batch, hyper: HyperParams, key: Key | None
) -> list[Array]:
    """Scores (B, T, labels) for plane 1, plane 2 and relations; with a key, as in training."""
    x = word_vectors(weights, shape, text, split, batch, hyper, key)
    states = run_layers(weights, shape, x, batch.lengths, hyper, key)
    if shape.hidden:
        weight, bias = weights["hidden"]
        hidden = states @ weight + bias
        states = drop_outputs(jnp.where(hidden > 0, hidden, LEAK * hidden), shape, hyper, key, 40)
    output, bias = weights["output"]
    scores = states @ output + bias + label_mask(text.known_labels[split])
    return [scores[:, :, kind] for kind in shape.kinds]


def loss(
    weights: Weights, shape: BracketShape, text: Text, split: Array, batch: Batch, hyper: HyperParams, key: Key | None
) -> Array:
    """The negative log-likelihood of the gold labels, all three together, per word."""
    gold = [*(batch.extra[name] for name in PLANES), batch.labels]
    losses = jnp.zeros(batch.inside.shape)
    for scores, codes in zip(label_scores(weights, shape, text, split, batch, hyper, key), gold, strict=True):
        gold_scores = jnp.take_along_axis(scores, codes[:, :, None], axis=2)[:, :, 0]
        losses += jax.nn.logsumexp(scores, axis=-1) - gold_scores
    return jnp.sum(jnp.where(batch.inside, losses, 0.0)) / jnp.maximum(jnp.sum(batch.inside), 1)


def outputs(weights: Weights, shape: BracketShape, text: Text, split: Array, batch: Batch) -> Array:
    """Codes of each word's labels of plane 1 and plane 2, and its relation: (B, T, 3)."""
    kinds = label_scores(weights, shape, text, split, batch, HyperParams(0.0), None)
    return jnp.stack([jnp.argmax(scores, axis=-1) for scores in kinds], axis=-1).astype(jnp.int16)


def decode(shape: BracketShape, outputs: Any, lengths: NDArray[np.integer]) -> NDArray[np.integer]:
    """The codes as they are; `decode_brackets` makes trees of them."""
    del shape, lengths
    return np.asarray(outputs)


def decode_brackets(
    codes: NDArray[np.integer], planes: tuple[Vocabulary, Vocabulary], roots: Sequence[int], offsets: Indices
) -> NDArray[np.int32]:
    """The head and the relation of every word, (N, 2), from codes of plane 1, plane 2 and relations, (N, 3).

    `roots` are the relations that mark a root. Labels that make no tree are repaired
    (`deadheat.trees.bracketing.decode`); relations stay as they are.
    """
    first, second = (Column(np.ascontiguousarray(codes[:, plane], np.int32), planes[plane]) for plane in (0, 1))
    is_root = np.isin(codes[:, 2], roots)
    heads = bracketing.decode((first, second), is_root, np.ascontiguousarray(offsets, np.int64))
    return np.stack([heads, codes[:, 2].astype(np.int32)], axis=1)
