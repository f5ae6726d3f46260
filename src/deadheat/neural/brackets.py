"""Parsing as labelling words: brackets in two planes and relations (Strzyz, Vilares & Gómez-Rodríguez 2020).

Each word gets three labels by three softmaxes over the same BiLSTM states. All labels stand in one list, relations
first, then those of plane 1 and of plane 2 (`label_names`): so that first weights depend on the strings alone, and
labels of any kind that are not in a network's train part are impossible to it. Codes count from the beginning of each
kind.
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
from deadheat.neural.config import BracketShape, Numbers
from deadheat.neural.encoder import (
    Batch,
    Marks,
    Weights,
    barred,
    dropped_outputs,
    initial_encoder,
    layered,
    word_vectors,
)
from deadheat.neural.rng import Key, drawn_rows
from deadheat.neural.text import Text
from deadheat.trees import bracketing

LEAK = 0.1  # slope of the rectifier below 0
PLANES = ("plane1", "plane2")  # their codes in what comes with a text; those of relations are its labels


def label_names(
    relations: Sequence[str], planes: tuple[Vocabulary, Vocabulary], sizes: Sequence[int] | None = None
) -> tuple[str, ...]:
    """Names of all labels in their order; the same brackets are different labels in the two planes.

    With sizes, relations and the labels of each plane are filled up to so many.

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
    wanted = sizes or [len(each) for each in kinds]
    return tuple(name for own, size in zip(kinds, wanted, strict=True) for name in own + [""] * (size - len(own)))


def initial_weights(key: Key, shape: BracketShape, marks: Marks, vectors: Array | None = None) -> Weights:
    """A parser before training."""
    labels = shape.relations + sum(shape.planes)
    assert len(marks.labels) >= labels, f"{len(marks.labels)} labels; expected {labels}: relations, then both planes"
    weights, inputs = initial_encoder(key, shape, marks, vectors)
    if shape.hidden:
        bound = (6.0 / (inputs + shape.hidden)) ** 0.5
        weights["hidden"] = (chance.between(chance.key(key, 6), (inputs, shape.hidden), bound), jnp.zeros(shape.hidden))
        inputs = shape.hidden
    columns = drawn_rows(chance.key(key, 4), marks.labels, inputs) * (inputs / (inputs + 20.0)) ** 0.5
    weights["output"] = (columns.T, jnp.zeros(len(marks.labels)))
    return weights


def label_scores(
    weights: Weights, shape: BracketShape, text: Text, split: Array, batch: Batch, numbers: Numbers, key: Key | None
) -> list[Array]:
    """Scores (B, T, labels) for plane 1, plane 2 and relations; with a key, as in training."""
    x = word_vectors(weights, shape, text, split, batch, numbers, key)
    state = layered(weights, shape, x, batch.lengths, numbers, key)
    if shape.hidden:
        weight, bias = weights["hidden"]
        seen = state @ weight + bias
        state = dropped_outputs(jnp.where(seen > 0, seen, LEAK * seen), shape, numbers, key, 40)
    output, bias = weights["output"]
    scores = state @ output + bias + barred(text.possible[split])
    return [scores[:, :, kind] for kind in shape.kinds]


def loss(
    weights: Weights, shape: BracketShape, text: Text, split: Array, batch: Batch, numbers: Numbers, key: Key | None
) -> Array:
    """The mean over words of how unlikely the gold labels are, all three together."""
    gold = [*(batch.more[name] for name in PLANES), batch.labels]
    unlikely = jnp.zeros(batch.inside.shape)
    for scores, codes in zip(label_scores(weights, shape, text, split, batch, numbers, key), gold, strict=True):
        own = jnp.take_along_axis(scores, codes[:, :, None], axis=2)[:, :, 0]
        unlikely += jax.nn.logsumexp(scores, axis=-1) - own
    return jnp.sum(jnp.where(batch.inside, unlikely, 0.0)) / jnp.maximum(jnp.sum(batch.inside), 1)


def outputs(weights: Weights, shape: BracketShape, text: Text, split: Array, batch: Batch) -> Array:
    """Codes of the labels of each word, of plane 1, plane 2 and the relation: (B, T, 3)."""
    scores = label_scores(weights, shape, text, split, batch, Numbers(0.0), None)
    return jnp.stack([jnp.argmax(each, axis=-1) for each in scores], axis=-1).astype(jnp.int16)


def decoded(shape: BracketShape, made: Any, lengths: NDArray[np.integer]) -> NDArray[np.integer]:
    """The same codes: what brackets they stand for, and so the trees, `trees_of` has to be told."""
    del shape, lengths
    return np.asarray(made)


def trees_of(
    codes: NDArray[np.integer], planes: tuple[Vocabulary, Vocabulary], roots: Sequence[int], offsets: Indices
) -> NDArray[np.int32]:
    r"""The head and the relation of every word: (N, 2).

    Parameters
    ----------
    codes
        A row a word: its labels of plane 1 and plane 2, and its relation.
    planes
        What the labels of both planes stand for.
    roots
        Relations that mark a root.
    offsets
        The first word of every sentence, and the number of words.

    Notes
    -----
    Labels that make no tree are mended (`deadheat.trees.bracketing.decode`); relations stay as they are.

    Examples
    --------
    >>> planes = Vocabulary.of([".", "<\\"]), Vocabulary.of(["."])
    >>> trees_of(np.array([[0, 0, 0], [1, 0, 1]]), planes, [1], np.array([0, 2])).tolist()
    [[2, 0], [0, 1]]
    """
    labels = [Column(np.ascontiguousarray(codes[:, at], np.int32), planes[at]) for at in (0, 1)]
    found = bracketing.decode(
        (labels[0], labels[1]), np.isin(codes[:, 2], roots), np.ascontiguousarray(offsets, np.int64)
    )
    return np.stack([found.heads, codes[:, 2].astype(np.int32)], axis=1)
