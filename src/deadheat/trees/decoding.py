"""Trees with one root from arc scores: the best ones, the best projective ones, and by beam search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Codes, Indices, offsets_of
from deadheat.errors import InputError
from deadheat.kernels import decoding as kernels
from deadheat.text import pluralize

Scores = NDArray[np.float32] | NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ArcScores:
    """The arc from `head` to `word` of sentence s scores `flat[starts[s] + word * widths[s] + head]`."""

    flat: NDArray[np.float64]
    starts: Indices
    widths: Indices
    offsets: Indices

    @property
    def longest(self) -> int:
        return int(np.diff(self.offsets).max(initial=0))

    def decode(self, kernel: Callable[..., int], *arguments: object) -> Codes:
        """The heads that a kernel finds, given its own arguments; a score that it cannot use is an error."""
        heads = np.empty(int(self.offsets[-1]), np.int32)
        unfit = kernel(self.flat, self.starts, self.widths, self.offsets, *arguments, heads)
        if unfit >= 0:
            raise self.refuse(unfit)
        return heads

    def refuse(self, sentence: int) -> InputError:
        """What is wrong with a sentence that has a score no decoder can use."""
        size, width = int(self.offsets[sentence + 1] - self.offsets[sentence]), int(self.widths[sentence])
        words, heads = np.mgrid[1 : size + 1, : size + 1]
        scores = self.flat[int(self.starts[sentence]) + words * width + heads]
        word, head = np.argwhere(~(np.abs(scores) < kernels.SCORE_LIMIT) & (heads != words))[0]
        arc = f"the arc from {head} to {word + 1} has {scores[word, head]}"
        return InputError(f"scores of sentence {sentence}: {arc}; expected a finite number")


def arc_scores(scores: Scores, offsets: Indices) -> ArcScores:
    """Lay out scores for the decoders.

    They are either all squares one after the other, flat: (n + 1) x (n + 1) numbers for a sentence of n words; or a
    batch padded to the longest sentence or beyond, (sentences, N + 1, N + 1). In a square, row d has the scores of the
    heads of word d; row 0, the diagonal and padding are not looked at.
    """
    lengths = np.diff(offsets)
    longest = int(lengths.max(initial=0))
    flat = np.ascontiguousarray(scores, np.float64)
    if flat.ndim == 1:
        widths = lengths + 1
        bounds = offsets_of(widths * widths)
        if len(flat) != bounds[-1]:
            expected = f"expected {pluralize(int(bounds[-1]), 'number')} for {pluralize(len(lengths), 'sentence')}"
            raise InputError(f"scores: {pluralize(len(flat), 'number')}; {expected}")
        return ArcScores(flat, bounds[:-1], widths.astype(np.int64), offsets)
    size = flat.shape[-1]
    if flat.ndim != 3 or flat.shape[:2] != (len(lengths), size) or size <= longest:
        expected = f"expected ({len(lengths)}, N, N) with N at least {longest + 1}"
        raise InputError(f"scores: an array of shape {flat.shape}; {expected}")
    starts = np.arange(len(lengths), dtype=np.int64) * size * size
    return ArcScores(flat.ravel(), starts, np.full(len(lengths), size, np.int64), offsets)


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
    rows, entries = np.empty(size * size), np.empty(size * size, np.int32)
    weights, workspace = np.empty(2 * size), np.empty(kernels.CONTRACTION_ARRAYS * size, np.int32)
    return arcs.decode(kernels.find_arborescences, rows, entries, weights, workspace)


def best_projective_trees(scores: Scores, offsets: Indices) -> Codes:
    """The best tree without crossing arcs of every sentence; takes and gives what `best_trees` does.

    Notes
    -----
    Eisner's algorithm (1996) over the words, and the best word to hang from the root last; cubic in the length of
    a sentence. Of equal trees the same one is found everywhere.
    """
    arcs = arc_scores(scores, offsets)
    squares = np.empty(kernels.SQUARES * arcs.longest**2 + 1)
    items = np.empty(kernels.SPAN_ITEMS * (arcs.longest + 1), np.int32)
    return arcs.decode(kernels.find_projective_trees, squares, items)


def beam_trees(scores: Scores, offsets: Indices, *, beam: int) -> Codes:
    """The tree that a left-to-right pointer parser finds in every sentence; takes and gives what `best_trees` does.

    Parameters
    ----------
    scores, offsets
        As those of `best_trees`.
    beam
        How many partial assignments are kept from word to word, at least one; with one, each word takes its best head.

    Notes
    -----
    Words choose their heads one after the other (Fernández-González and Gómez-Rodríguez 2019). A head that closes a
    cycle is not chosen, nor a second child of the root; what is left can always become a tree with one root (see
    `deadheat.kernels.decoding`). The assignments with the largest sums of log-probabilities are kept. These are the
    sums of scores less, for each word, the logarithm of the sum of its row's exponentials; which is the same for all
    assignments, because they have heads for the same words. So scores are added as they are.

    Of equal sums the one whose words before this one did better is taken, then the one with the lower head. Time is
    quadratic in the length of a sentence, times the beam, but for walks from heads upwards.
    """
    if beam < 1:
        raise InputError(f"beam={beam}; expected at least 1")
    arcs = arc_scores(scores, offsets)
    workspace = np.empty(2 * beam * (arcs.longest + 1), np.int32)
    sums, choices = np.empty(2 * beam), np.empty(2 * beam, np.int64)
    return arcs.decode(kernels.find_pointed_trees, beam, workspace, sums, choices)
