"""Schemes of tagging chunks: conversion, detection, and F1 to choose models by.

Chunks are read by conlleval's rules (`deadheat.metrics.chunking`), whatever the scheme. Invalid sequences are repaired
as the score repairs them, and then written in the target scheme: the chunks never change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError
from deadheat.metrics import chunking
from deadheat.metrics.chunking import SCHEMES, B, E, I, O, Prefixes, S, Types, find_chunks, split_tags, written
from deadheat.metrics.metric import f1

Codes: TypeAlias = NDArray[np.integer]

TARGETS = ("bio", "iob1", "iobes", "bilou")
CONLLEVAL = "conlleval"


def recode(
    codes: Codes, names: Sequence[str], offsets: ArrayLike, *, target: str
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Labels of the same chunks in another scheme: `bio` (IOB2), `iob1`, `iobes` (BIOES) or `bilou`.

    Names that no word has may be anything. `offsets` are the first words of sentences, and the number of words.
    Returns a code for every word, and the labels that occur: `O` first, then by type.
    """
    bounds = _bounds(offsets)
    numbers = {"": 0}
    prefix, types = _parts(codes, names, CONLLEVAL, numbers)
    prefix = written(find_chunks(prefix, types, bounds), target, prefix != O, bounds)
    # One number for prefix and type, in the order of the new names: O, then type by type.
    kinds = sorted(numbers)
    ranks = np.empty(len(kinds), np.int32)
    ranks[[numbers[kind] for kind in kinds]] = np.arange(len(kinds))
    joined = np.where(prefix == O, 0, ranks[types] * (S + 1) + prefix)
    used = np.flatnonzero(np.bincount(joined, minlength=1))
    new_codes = np.zeros(len(kinds) * (S + 1), np.int32)
    new_codes[used] = np.arange(len(used))
    single, end = ("U", "L") if target == "bilou" else ("S", "E")
    letters = {O: "O", B: "B", I: "I", E: end, S: single}
    parts = ((letters[number % (S + 1)], kinds[number // (S + 1)]) for number in used.tolist())
    new_names = tuple(f"{letter}-{kind}" if kind and letter != "O" else letter for letter, kind in parts)
    return new_codes[joined], new_names


def scheme_of(names: Sequence[str], codes: Codes, offsets: ArrayLike) -> str | None:
    """The scheme of labels: `bio`, `iob1`, `iobes`, `bilou`, or None if they are plain tags.

    Labels of chunks are `O` and a prefix with a type after a hyphen; without types they are at least `O`, `B` and `I`.
    Letters identify `iobes` and `bilou`. Labels with `B` and `I` only are in the scheme that would write the same
    chunks with fewer changes, and `bio` if both need equally many.
    """
    used = [names[code] for code in np.flatnonzero(np.bincount(codes)).tolist()]
    parts = {name.partition("-") for name in used}
    letters = {letter for letter, _, _ in parts if letter != "O"}
    typed = all(kind for letter, _, kind in parts if letter != "O")
    plain = any(kind for letter, _, kind in parts if letter == "O")
    if not letters or plain or not (typed or {"O", "B", "I"} <= set(used)):
        return None
    scheme = next((scheme for scheme in TARGETS if letters <= set(SCHEMES[scheme])), None)
    if scheme != "bio":
        return scheme
    bounds = _bounds(offsets)
    prefix, types = _parts(codes, names, "bio", {"": 0})
    chunks = find_chunks(prefix, types, bounds)

    def changes(scheme: str) -> int:
        return int(np.count_nonzero(prefix != written(chunks, scheme, prefix != O, bounds)))

    return min(("bio", "iob1"), key=changes)


def f1_of(gold: Codes, predicted: Codes, names: Sequence[str], offsets: ArrayLike) -> float:
    """Chunk F1 of conlleval, as in `chunks.v1`, from codes of labels in any scheme; 0 where there are no chunks."""
    bounds = _bounds(offsets)
    first, second = (find_chunks(*_parts(codes, names, CONLLEVAL, {"": 0}), bounds) for codes in (gold, predicted))
    correct = np.count_nonzero(chunking.in_both(first, second, len(gold)))
    return float(f1(np.array([correct, len(first.first), len(second.first)])))


def _parts(codes: Codes, names: Sequence[str], scheme: str, numbers: dict[str, int]) -> tuple[Prefixes, Types]:
    """Prefix and type of every word; a label that the scheme does not have is an error if a word has it."""
    prefixes, types = split_tags(names, scheme, numbers)
    prefix = prefixes[codes]
    if (prefix == chunking.INVALID).any():
        word = int(np.argmax(prefix == chunking.INVALID))
        raise InputError(f"word {word + 1}: label {names[codes[word]]!r}; {chunking.describe_scheme(scheme)}")
    return prefix, types[codes]


def _bounds(offsets: ArrayLike) -> Indices:
    """Where sentences begin and end, without empty ones, which have no first word."""
    return np.unique(np.asarray(offsets, np.int64))
