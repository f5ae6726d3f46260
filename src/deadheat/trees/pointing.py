"""Trees with one root from scores of arcs, by words that choose their heads from left to right."""

from __future__ import annotations

import numpy as np

from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.errors import InputError
from deadheat.kernels.pointing import find_pointed_trees
from deadheat.trees.scores import Scores, arc_scores


def beam_trees(scores: Scores, offsets: Indices, *, beam: int) -> Codes:
    """The tree that a left-to-right pointer parser finds in every sentence; takes and gives what `best_trees` does.

    Parameters
    ----------
    scores, offsets
        As for `best_trees`.
    beam
        How many partial assignments are kept from word to word, at least one; with one, each word takes its best head.

    Notes
    -----
    Words choose their heads one after the other (Fernández-González and Gómez-Rodríguez 2019). A head that closes a
    cycle is not chosen, nor a second child of the root; what is left can always become a tree with one root (see
    `deadheat.kernels.pointing`). The assignments with the largest sums of log-probabilities are kept. These are the
    sums of scores less, for each word, the logarithm of the sum of its row's exponentials; which is the same for all
    assignments, because they have heads for the same words. So scores are added as they are.

    Of equal sums the one whose words before this one did better is taken, then the one with the lower head. Time is
    quadratic in the length of a sentence, times the beam, but for walks from heads upwards.

    Examples
    --------
    >>> scores = np.zeros((3, 3))
    >>> scores[1] = [5, 0, 4]            # word 1: the root, or word 2
    >>> scores[2] = [6, 1, 0]            # word 2: the root, or word 1
    >>> [beam_trees(scores.ravel(), np.array([0, 2]), beam=beam).tolist() for beam in (1, 2)]
    [[0, 1], [2, 0]]
    """
    if beam < 1:
        raise InputError(f"beam={beam}; expected at least 1")
    arcs = arc_scores(scores, offsets)
    heads = np.empty(arcs.words, np.int32)
    room = np.empty(2 * beam * (arcs.longest + 1), np.int32)
    sums, choices = np.empty(2 * beam), np.empty(2 * beam, np.int64)
    unfit = find_pointed_trees(arcs.flat, arcs.starts, arcs.widths, arcs.offsets, beam, room, sums, choices, heads)
    if unfit >= 0:
        raise arcs.refuse(unfit)
    return heads
