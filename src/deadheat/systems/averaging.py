"""Weights of a perceptron in the course of training, averaged over all visits without being summed at each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.kernels.perceptron import CLOCK, USED

Weights: TypeAlias = NDArray[np.float32]
Totals: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TaggerWeights:
    """Weights of features, found through the slots of their rows, and of tag pairs and triples."""

    slots: Codes
    features: Weights
    moves: Weights


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """What training changes: weights, what each was moved by times the visit it happened at, and what was counted.

    A row of features gets its place among the weights, `stride` numbers, with its first update.
    """

    stride: int
    slots: Codes
    features: Weights
    totals: Totals
    moves: Weights
    move_totals: Totals
    state: Indices

    @classmethod
    def of(cls, rows: int, stride: int, moves: int) -> Course:
        """The start: all weights 0."""
        size = rows * stride
        return cls(
            stride,
            np.zeros(rows, np.int32),
            np.zeros(size, np.float32),
            np.zeros(size),
            np.zeros(moves, np.float32),
            np.zeros(moves),
            np.zeros(2, np.int64),
        )

    def averaged(self) -> TaggerWeights:
        """The average of the weights over all visits so far."""
        visits = max(1, int(self.state[CLOCK]))
        used = (int(self.state[USED]) + 1) * self.stride
        features = self.features[:used] - self.totals[:used] / visits
        moves = self.moves - self.move_totals / visits
        return TaggerWeights(self.slots.copy(), features.astype(np.float32), moves.astype(np.float32))
