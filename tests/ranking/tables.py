"""Small tables of scores, and the obvious way to do everything with them: go through all subsets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from deadheat.ranking.integers import IntegerScores, integer_scores


def small_table(seed: int, *, systems: int = 5, datasets: int = 7, values: int = 6) -> IntegerScores:
    """Random scores from so few values that many subsets have ties."""
    rng = np.random.default_rng(seed)
    return integer_scores(rng.integers(0, values, (systems, datasets)))


def all_subsets(datasets: int, size: int) -> Iterator[list[int]]:
    return (list(item) for item in combinations(range(datasets), size))


def plain_ranks(scores: IntegerScores, subset: list[int]) -> list[int]:
    """1 and the number of systems ahead, by a loop."""
    sums = [sum(int(row[position]) for position in subset) for row in scores.above_SD]
    return [1 + sum(other > own for other in sums) for own in sums]


def every_rank(scores: IntegerScores, size: int) -> NDArray[np.int64]:
    """Ranks of all systems, a row a subset."""
    return np.array([plain_ranks(scores, subset) for subset in all_subsets(scores.datasets, size)])
