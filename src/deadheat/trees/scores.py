"""Scores of all arcs of many sentences, as decoders read them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError
from deadheat.kernels.arborescence import MOST
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
    def words(self) -> int:
        return int(self.offsets[-1])

    @property
    def longest(self) -> int:
        return int(np.diff(self.offsets).max(initial=0))

    def refuse(self, sentence: int) -> InputError:
        """What is wrong with a sentence that has a score no decoder can use."""
        size, width = int(self.offsets[sentence + 1] - self.offsets[sentence]), int(self.widths[sentence])
        begin = int(self.starts[sentence])
        square = self.flat[begin : begin + size * width + size + 1]
        for word in range(1, size + 1):
            for head in range(size + 1):
                value = square[word * width + head]
                if head != word and not abs(value) < MOST:
                    where = f"scores of sentence {sentence}"
                    return InputError(f"{where}: the arc from {head} to {word} has {value}; expected a finite number")
        raise AssertionError("all scores of the sentence are numbers")


def arc_scores(scores: Scores, offsets: Indices) -> ArcScores:
    """Lay out scores for the decoders.

    Parameters
    ----------
    scores
        Either all squares one after the other, flat: (n + 1) x (n + 1) numbers for a sentence of n words; or a batch
        padded to the longest sentence or beyond, of shape (sentences, N + 1, N + 1). In a square, row d has the scores
        of the heads of word d; row 0, the diagonal and padding are not looked at.
    offsets
        The first word of every sentence, and the number of words, as `Corpus.offsets`.
    """
    lengths = np.diff(offsets)
    longest = int(lengths.max(initial=0))
    flat = np.ascontiguousarray(scores, np.float64)
    if flat.ndim == 1:
        widths = lengths + 1
        bounds = np.concatenate([[0], np.cumsum(widths * widths)])
        if len(flat) != bounds[-1]:
            expected = f"expected {pluralize(int(bounds[-1]), 'number')} for {pluralize(len(lengths), 'sentence')}"
            raise InputError(f"scores: {pluralize(len(flat), 'number')}; {expected}")
        return ArcScores(flat, bounds[:-1].astype(np.int64), widths.astype(np.int64), offsets)
    size = flat.shape[-1]
    if flat.ndim != 3 or flat.shape[:2] != (len(lengths), size) or size <= longest:
        expected = f"expected ({len(lengths)}, N, N) with N at least {longest + 1}"
        raise InputError(f"scores: an array of shape {flat.shape}; {expected}")
    starts = np.arange(len(lengths), dtype=np.int64) * size * size
    return ArcScores(flat.ravel(), starts, np.full(len(lengths), size, np.int64), offsets)
