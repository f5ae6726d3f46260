"""Schemes of tagging chunks: conversion, detection, and F1 to choose models by.

Chunks are read by conlleval's rules (`deadheat.metrics.chunking`), whatever the scheme. Invalid sequences are repaired
as the score repairs them, and then written in the target scheme: the chunks never change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError, NameUnknown
from deadheat.metrics.chunking import (
    SCHEMES,
    INVALID,
    B,
    E,
    I,
    O,
    Prefixes,
    S,
    Types,
    describe_scheme,
    in_both,
    find_chunks,
    split_tags,
    written,
)
from deadheat.metrics.metric import f1

Codes: TypeAlias = NDArray[np.integer]

TARGETS = ("bio", "iob1", "iobes", "bilou")
CONLLEVAL = "conlleval"


class RecodedLabels(NamedTuple):
    """A code for every word, and the labels that occur: `O` first, then by type."""

    codes: NDArray[np.int32]
    names: tuple[str, ...]


def recode(codes: Codes, names: Sequence[str], offsets: ArrayLike, *, target: str) -> RecodedLabels:
    """Labels of the same chunks in another scheme.

    Parameters
    ----------
    codes
        One label per word, as an index into `names`.
    names
        The labels, in any scheme; names that no word has may be anything.
    offsets
        The first word of every sentence, and the number of words.
    target
        `bio` (IOB2), `iob1`, `iobes` (BIOES) or `bilou`.

    Examples
    --------
    >>> import numpy as np
    >>> recoded = recode(np.array([1, 2, 0, 1]), ["O", "B-X", "I-X"], [0, 4], target="iobes")
    >>> recoded.codes.tolist(), recoded.names
    ([1, 2, 0, 3], ('O', 'B-X', 'E-X', 'S-X'))
    """
    if target not in TARGETS:
        raise NameUnknown("target scheme", target, TARGETS)
    bounds = _bounds(offsets, len(codes))
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
    spellings = (_label(letters[number % (S + 1)], kinds[number // (S + 1)]) for number in used.tolist())
    return RecodedLabels(new_codes[joined], tuple(spellings))


def scheme_of(names: Sequence[str], codes: Codes, offsets: ArrayLike) -> str | None:
    """The scheme of labels: `bio`, `iob1`, `iobes`, `bilou`, or None if they are plain tags.

    Labels of chunks are `O` and a prefix with a type after a hyphen; without types they are at least `O`, `B` and `I`.
    Letters identify `iobes` and `bilou`. Labels with `B` and `I` only are in the scheme that would write the same
    chunks with fewer changes, and `bio` if both need equally many.
    """
    _check_codes(codes, names)
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
    bounds = _bounds(offsets, len(codes))
    prefix, types = _parts(codes, names, "bio", {"": 0})
    chunks = find_chunks(prefix, types, bounds)
    changes = {
        scheme: np.count_nonzero(prefix != written(chunks, scheme, prefix != O, bounds)) for scheme in ("bio", "iob1")
    }
    return min(changes, key=changes.__getitem__)


def f1_of(gold: Codes, predicted: Codes, names: Sequence[str], offsets: ArrayLike) -> float:
    """Chunk F1 of conlleval, as in `chunks.v1`, from codes of labels in any scheme; 0 where there are no chunks."""
    if len(gold) != len(predicted):
        raise InputError(f"{len(predicted):,} predicted labels; expected {len(gold):,} as in gold")
    bounds = _bounds(offsets, len(gold))
    first, second = (find_chunks(*_parts(codes, names, CONLLEVAL, {"": 0}), bounds) for codes in (gold, predicted))
    correct = np.count_nonzero(in_both(first, second, len(gold)))
    return float(f1(np.array([correct, len(first.first), len(second.first)])))


def _parts(codes: Codes, names: Sequence[str], scheme: str, numbers: dict[str, int]) -> tuple[Prefixes, Types]:
    """Prefix and type of every word; a label that the scheme does not have is an error if a word has it."""
    _check_codes(codes, names)
    prefixes, types = split_tags(names, scheme, numbers)
    prefix = prefixes[codes]
    if (prefix == INVALID).any():
        word = int(np.argmax(prefix == INVALID))
        raise InputError(f"word {word + 1}: label {names[codes[word]]!r}; {describe_scheme(scheme)}")
    return prefix, types[codes]


def _check_codes(codes: Codes, names: Sequence[str]) -> None:
    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < len(names):
        raise InputError(f"codes of labels from {codes.min()} to {codes.max()}; expected 0 to {len(names) - 1}")


def _bounds(offsets: ArrayLike, words: int) -> Indices:
    """Where sentences begin and end, without empty ones, which have no first word."""
    bounds = np.asarray(offsets, np.int64)
    sizes = np.diff(bounds)
    if len(bounds) < 1 or bounds[0] != 0 or bounds[-1] != words or (sizes < 0).any():
        raise InputError(f"offsets of sentences; expected them to rise from 0 to {words:,}, the number of words")
    return np.asarray(bounds[np.append(True, sizes > 0)])


def _label(letter: str, kind: str) -> str:
    return f"{letter}-{kind}" if kind and letter != "O" else letter
