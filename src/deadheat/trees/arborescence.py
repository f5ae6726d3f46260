"""The best tree with one root, from scores of arcs."""

from __future__ import annotations

import numpy as np

from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.kernels.arborescence import ROOM_PER_WORD, find_arborescences
from deadheat.trees.scores import Scores, arc_scores


def best_trees(scores: Scores, offsets: Indices) -> Codes:
    """The best tree of every sentence, projective or not: the head of every word, 0 for the one child of the root.

    Parameters
    ----------
    scores
        Squares of scores, row d for the heads of word d: flat, or padded to one size (see `arc_scores`). All must be
        finite; an arc that should not be taken has a very low one, say -1e9.
    offsets
        The first word of every sentence, and the number of words.

    Notes
    -----
    Exact: no tree with one root scores better. Chosen among equal heads is always the lowest, so that the result
    is the same everywhere. Time is quadratic in the length of a sentence; where the best head of each word gives a tree
    already, nothing else is done.

    Examples
    --------
    >>> scores = np.zeros((3, 3))
    >>> scores[1] = [5, 0, 4]            # word 1: the root, or word 2
    >>> scores[2] = [6, 1, 0]            # word 2: the root, or word 1
    >>> best_trees(scores.ravel(), np.array([0, 2]))
    array([2, 0], dtype=int32)
    """
    arcs = arc_scores(scores, offsets)
    size = arcs.longest + 1
    heads = np.empty(arcs.words, np.int32)
    rows, entries = np.empty(size * size), np.empty(size * size, np.int32)
    weights, room = np.empty(2 * size), np.empty(ROOM_PER_WORD * size, np.int32)
    unfit = find_arborescences(
        arcs.flat, arcs.starts, arcs.widths, arcs.offsets, rows, entries, weights, room, heads
    )  # fmt: skip
    if unfit >= 0:
        raise arcs.refuse(unfit)
    return heads
