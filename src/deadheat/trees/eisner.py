"""The best projective tree with one root, from scores of arcs."""

from __future__ import annotations

import numpy as np

from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.kernels.eisner import ROOM_PER_WORD, SQUARES, find_projective_trees
from deadheat.trees.scores import Scores, arc_scores


def best_projective_trees(scores: Scores, offsets: Indices) -> Codes:
    """The best tree without crossing arcs of every sentence; takes and gives what `best_trees` does.

    Notes
    -----
    Eisner's algorithm (1996) over the words, and the best word to hang from the root last; cubic in the length of
    a sentence. Of equal trees the same one is found everywhere.

    Examples
    --------
    >>> scores = np.zeros((5, 5))
    >>> scores[[1, 2, 3, 4], [3, 4, 0, 3]] = 9      # arcs 3 -> 1 and 4 -> 2 cross
    >>> scores[2, 3] = 5
    >>> best_projective_trees(scores.ravel(), np.array([0, 4]))
    array([3, 3, 0, 3], dtype=int32)
    """
    arcs = arc_scores(scores, offsets)
    heads = np.empty(arcs.words, np.int32)
    squares = np.empty(SQUARES * arcs.longest**2 + 1)
    items = np.empty(ROOM_PER_WORD * (arcs.longest + 1), np.int32)
    unfit = find_projective_trees(arcs.flat, arcs.starts, arcs.widths, arcs.offsets, squares, items, heads)
    if unfit >= 0:
        raise arcs.refuse(unfit)
    return heads
