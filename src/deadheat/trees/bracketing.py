r"""Trees as labels of words: brackets in two planes (Strzyz, Vilares and Gómez-Rodríguez 2020).

A label describes arcs of one plane: `<` says that the word before is a dependent of a later word, every `/` that it has
a dependent further on; every `\` that this word has a dependent before it, and `>` that its head is an earlier word. A
label has its brackets in this order, and is `.` if it has none. The arc from the root is in no plane: the relation of
its word marks it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Codes, Column, Indices, Vocabulary
from deadheat.errors import InputError
from deadheat.kernels.trees import CROSSING_ARRAYS, assign_planes, read_brackets

EMPTY = "."
# How often a label has each bracket, in one number: `<` and `>` once at most, the others any number of times.
_LEFTWARD, _RIGHTWARD, _HEAD_OF_RIGHT, _HEAD_OF_LEFT = 1, 2, 4, 1 << 32


def planes_of(heads: Codes, offsets: Indices) -> NDArray[np.uint8]:
    """The plane of every word's arc: 1, 2, 0 for a root's, 3 for arcs that fit into neither.

    Notes
    -----
    A connected component of crossing arcs has at most one assignment. Its first arc (by right end, then the shorter
    one) goes to plane 1, so that plane 2 is used only for arcs that cross others; this is the assignment with
    propagation of Strzyz et al. If there is none, each arc takes the first plane in which it crosses nothing.
    """
    longest = int(np.diff(offsets).max(initial=0))
    planes = np.empty(len(heads), np.uint8)
    assign_planes(heads, offsets, np.empty(CROSSING_ARRAYS * longest, np.int32), planes)
    return planes


def encode(heads: Codes, offsets: Indices) -> tuple[Column, Column]:
    r"""The bracket labels of every word of a corpus, in both planes.

    Examples
    --------
    >>> [plane.strings() for plane in encode(np.array([3, 4, 0, 3], np.int32), np.array([0, 4]))]
    [['.', '<', '\\', '/>'], ['.', '.', '<', '\\']]
    """
    planes = planes_of(heads, offsets)
    return _labels(heads, offsets, planes == 1), _labels(heads, offsets, planes == 2)


def _labels(heads: Codes, offsets: Indices, inside: NDArray[np.bool_]) -> Column:
    """The labels of one plane, the empty one first, then by how often they have each bracket."""
    words = np.flatnonzero(inside)
    starts = np.repeat(offsets[:-1], np.diff(offsets))
    others = starts[words] + heads[words] - 1
    leftward = others > words
    dependents, owners = words[leftward], others[leftward]
    keys = np.zeros(len(heads), np.int64)
    np.add.at(keys, dependents + 1, _LEFTWARD)
    np.add.at(keys, owners, _HEAD_OF_LEFT)
    dependents, owners = words[~leftward], others[~leftward]
    np.add.at(keys, dependents, _RIGHTWARD)
    np.add.at(keys, owners + 1, _HEAD_OF_RIGHT)
    distinct, codes = np.unique(np.append(keys, 0), return_inverse=True)
    return Column(codes[:-1].astype(np.int32), Vocabulary.of([_spell(key) for key in distinct.tolist()]))


def _spell(key: int) -> str:
    left, right = key & _LEFTWARD, (key & _RIGHTWARD) // _RIGHTWARD
    heading, headed = key % _HEAD_OF_LEFT // _HEAD_OF_RIGHT, key // _HEAD_OF_LEFT
    return "<" * left + "/" * heading + "\\" * headed + ">" * right or EMPTY


def decode(planes: tuple[Column, Column], roots: NDArray[np.bool_], offsets: Indices) -> Codes:
    """Trees with one root, from any labels.

    Parameters
    ----------
    planes
        The label of every word in each plane. Characters that are no brackets mean nothing.
    roots
        Whether the relation of a word is that of a root.
    offsets
        The first word of every sentence, and the number of words.

    Notes
    -----
    Labels are read from left to right, plane 1 before plane 2 at each word. Unmatched brackets are ignored; if two arcs
    lead to a word, the later one counts. Then, in this order: words marked as roots get the head 0; if there is none,
    word 1 does; of several the first stays, and the others become its dependents; so do words without a head; each
    cycle is broken at the word where a walk from the lowest word below it (or on it) enters, which becomes a dependent
    of the root word.

    Examples
    --------
    >>> labels = Column.of([".", "<", "/"]), Column.of([".", ".", "."])
    >>> decode(labels, np.array([False, True, False]), np.array([0, 3]))
    array([2, 0, 2], dtype=int32)
    """
    if not (len(planes[0]) == len(planes[1]) == len(roots) == offsets[-1]):
        sizes = f"{len(planes[0])}, {len(planes[1])} and {len(roots)}"
        raise InputError(f"bracket labels: {sizes} labels of planes 1, 2 and roots; expected {offsets[-1]} of each")
    longest = int(np.diff(offsets).max(initial=0))
    label = max(int(np.diff(plane.vocabulary.offsets).max(initial=1)) for plane in planes)
    heads, seen = np.empty(len(roots), np.int32), np.empty(longest + 4, np.int32)
    stacks = np.empty(4 * (longest * max(label, 1) + 1), np.int32)
    (one, table), (other, other_table) = ((plane.codes, plane.vocabulary) for plane in planes)
    read_brackets(one, table.blob, table.offsets, other, other_table.blob, other_table.offsets,
                           np.ascontiguousarray(roots, np.uint8), offsets, stacks, seen, heads)  # fmt: skip
    return heads
