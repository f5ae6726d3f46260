"""The best and the worst rank that any subset of data sets can give a system, with the subset that proves it.

A sample shows only what it happens to draw. Integer programming finds the extremes over all subsets: a choice of data
sets, and for every rival whether it is ahead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deadheat.errors import InputError
from deadheat.ranking.integers import Indices, WholeScores, ranks_of
from deadheat.ranking.solving import ahead_in_most
from deadheat.ranking.subsets import SubsetRanks

TIME_LIMIT = 60.0  # seconds a problem


@dataclass(frozen=True, slots=True, eq=False)
class Extreme:
    """A rank that a subset gives a system, and the bound that no subset passes; proved where they are equal."""

    rank: int
    bound: int
    subset: Indices

    @property
    def proved(self) -> bool:
        return self.rank == self.bound

    @property
    def gap(self) -> int:
        """Ranks between what was found and what may be possible."""
        return abs(self.rank - self.bound)

    def __str__(self) -> str:
        return f"{self.rank}" if self.proved else f"{self.rank} (perhaps {self.bound})"

    def to_dict(self, datasets: tuple[str, ...]) -> dict[str, Any]:
        names = [datasets[place] for place in self.subset]
        return {"rank": self.rank, "bound": self.bound, "proved": self.proved, "gap": self.gap, "subset": names}


def rank_on(scores: WholeScores, system: int, subset: Indices) -> int:
    """The rank of a system on a subset of data sets."""
    return int(ranks_of(scores.above_SD[:, subset].sum(axis=1))[system])


def extreme_rank(
    scores: WholeScores, system: int, size: int, *, worst: bool = False, time_limit: float = TIME_LIMIT
) -> Extreme:
    """The best (or worst) rank of a system over all subsets of this size.

    Notes
    -----
    The rank is 1 and the number of rivals whose leads have a positive sum; see `ahead_in_most`. It is counted again, in
    integers, on the subset that the solver returns.

    Examples
    --------
    >>> from deadheat.ranking.integers import whole_scores
    >>> table = whole_scores([[90, 80, 70], [80, 80, 71], [60, 60, 95]])
    >>> print(extreme_rank(table, 0, 2), extreme_rank(table, 0, 2, worst=True))
    1 3
    """
    if not 1 <= size <= scores.datasets:
        raise InputError(f"subsets of {size} of {scores.datasets} data sets; expected between 1 and {scores.datasets}")
    if not time_limit > 0:
        raise InputError(f"time limit {time_limit:g}; expected more than 0 seconds")
    leads_TD = np.delete(scores.above_SD, system, axis=0) - scores.above_SD[system]
    subset, ahead = ahead_in_most(leads_TD, size, time_limit=time_limit, fewest=not worst)
    found, bound = rank_on(scores, system, subset), 1 + ahead
    # The solver's tolerance may let it promise more than integers allow; what a subset shows is never beyond the bound.
    return Extreme(found, max(found, bound) if worst else min(found, bound), subset)


def extreme_ranks(
    scores: WholeScores, size: int, *, sampled: SubsetRanks | None = None, time_limit: float = TIME_LIMIT
) -> tuple[tuple[Extreme, Extreme], ...]:
    """The best and the worst rank of every system; where the solver stops early, at least what a sample shows."""
    return tuple(
        (
            _at_least(extreme_rank(scores, system, size, time_limit=time_limit), sampled, system, worst=False),
            _at_least(
                extreme_rank(scores, system, size, worst=True, time_limit=time_limit), sampled, system, worst=True
            ),
        )
        for system in range(scores.systems)
    )


def _at_least(found: Extreme, sampled: SubsetRanks | None, system: int, *, worst: bool) -> Extreme:
    if sampled is None:
        return found
    seen = int((sampled.worst_S if worst else sampled.best_S)[system])
    if (seen > found.rank) if worst else (seen < found.rank):
        bound = max(seen, found.bound) if worst else min(seen, found.bound)
        return replace(found, rank=seen, bound=bound, subset=sampled.subset_with_rank(system, seen))
    return found
