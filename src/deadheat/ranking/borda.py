"""Borda counts: systems ranked by how many others they beat on every data set, whatever the differences are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from deadheat.ranking.integers import Integers, IntegerScores, ranks_of
from deadheat.ranking.subsets import Design, rank_over_subsets

SAMPLES = 100_000  # subsets at most; the share of a winner is then off by 0.3 points


@dataclass(frozen=True, slots=True)
class BordaRow:
    """A system: its Borda count over all data sets, the rank by it, and by the mean score."""

    system: str
    count: float
    rank: int
    mean_rank: int
    first: float  # share of the subsets on which it has the highest count


@dataclass(frozen=True, slots=True)
class BordaRanking:
    """The ranking by Borda counts, and on which share of subsets the winner stays."""

    systems: tuple[BordaRow, ...]  # highest count first
    samples: int

    @property
    def changes(self) -> int:
        """How many systems have another rank than by the mean score."""
        return sum(row.rank != row.mean_rank for row in self.systems)


def doubled_counts(above_SD: Integers) -> Integers:
    """Twice the Borda count of every system on every data set: two for each system that it beats, one for each tie.

    Examples
    --------
    >>> doubled_counts(np.array([[3, 1], [2, 1], [2, 5]])).tolist()
    [[4, 1], [1, 1], [1, 4]]
    """
    points: Integers = np.zeros_like(above_SD)
    for scores_D in above_SD:  # a system at a time, since all pairs of hundreds of systems need much memory
        points += 2 * (above_SD > scores_D) + (above_SD == scores_D)
    return points - 1  # a system ties with itself


def borda_ranking(
    integers: IntegerScores, systems: Sequence[str], design: Design, *, samples: int, rng: Generator
) -> BordaRanking:
    """Rank systems by their Borda counts on all data sets and on subsets of them.

    Notes
    -----
    On a data set, a system has a point for every system that scores lower, and half a point for every one that scores
    the same; the Borda count is the sum over data sets. Subsets are drawn as for the ranking by means.
    """
    doubled_SD = doubled_counts(integers.above_SD)
    points = replace(integers, above_SD=doubled_SD - doubled_SD.min(axis=0))
    ranks = rank_over_subsets(points, design, samples=min(samples, SAMPLES), rng=rng)
    sums_S = doubled_SD.sum(axis=1)
    columns = (sums_S / 2, ranks_of(sums_S), ranks_of(integers.sums_S), ranks.shares_SS[:, 0])
    rows = (BordaRow(name, *(column_S[at].item() for column_S in columns)) for at, name in enumerate(systems))
    return BordaRanking(tuple(sorted(rows, key=lambda row: (row.rank, row.mean_rank))), ranks.samples)
