"""What holds over all subsets of data sets, not only over a sample of them.

- For a pair of systems: on how many subsets one is ahead of the other, counted by dynamic programming on integers. All
  pairs of 26 systems on 82 data sets, each over 2.1 trillion subsets, take half a second.
- For a system: the best and the worst rank that any subset gives it, by integer programming, with such a subset.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from deadheat.errors import InputError
from deadheat.kernels.subsets import count_signs
from deadheat.ranking.integers import Indices, Integers, IntegerScores, ranks_of
from deadheat.ranking.subsets import OnProgress, SubsetRanks, check_size
from deadheat.stats.checks import Values

EXACT = 2**53  # counts up to this are exact in floating point
MOST_CELLS = 1 << 27  # of the table of sums, a gigabyte
GRID_CELLS = 1 << 22  # of the table of sums on a grid
TIME_LIMIT = 60.0  # seconds for each search
TOLERANCE = 1e-6  # of the solver, for integers
NEARLY_ONE = 1 - 2**-53


@dataclass(frozen=True, slots=True)
class SubsetCounts:
    """How many subsets have a sum above, at and below a threshold; above 2^53 subsets, right to about 12 digits.

    For values of many digits these are lower bounds, and any of them may have some of the undecided subsets on top.
    """

    above: int
    level: int
    below: int
    total: int
    undecided: int = 0

    @property
    def exact(self) -> bool:
        return self.total <= EXACT

    @property
    def shares(self) -> tuple[float, float, float]:
        """The shares above, below and level. Nearly all subsets are never rounded to all of them."""
        above, below, level = (count / self.total for count in (self.above, self.below, self.level))
        return (min(above, NEARLY_ONE) if self.above < self.total else above), below, level


def count_sums(values: Integers, size: int, *, threshold: int = 0) -> SubsetCounts:
    """How many of all subsets of `size` values have a sum above, at and below a threshold.

    If the values have too many digits for a table of all sums, they are rounded to a grid: v = g w + r. A sum is above
    the threshold if g times the sum of w is above it even with the `size` lowest remainders, and below it likewise.
    """
    check_size(len(values), size)
    total = math.comb(len(values), size)
    if total > 1e300:
        raise InputError(f"subsets of {size} of {len(values)} are too many to count; expected fewer than 10^300")
    counts, step = _count(values, size, threshold, MOST_CELLS), 1
    if counts is not None:
        return SubsetCounts(*counts, total)
    above = below = None
    while above is None or below is None:
        step *= 2
        whole = (values + step // 2) // step
        rest = np.sort(values - step * whole)
        lowest, highest = int(rest[:size].sum()), int(rest[-size:].sum())
        above = _count(whole, size, (threshold - lowest) // step, GRID_CELLS)
        below = _count(whole, size, -((highest - threshold) // step), GRID_CELLS)
    return SubsetCounts(above[0], 0, below[2], total, max(0, total - above[0] - below[2]))


def _count(values: Integers, size: int, threshold: int, most: int) -> tuple[int, int, int] | None:
    """How many sums are above, at and below the threshold; None if the table of sums would have too many cells.

    Values are processed in the order of their absolute size. After the first t of them, a sum of j values stays in the
    table only while the remaining values could change its side; all other sums are counted with their completions.
    """
    ordered = np.ascontiguousarray(values[np.argsort(-np.abs(values), kind="stable")], np.int64)
    lowest, highest = _partial_sums(ordered, size)
    backwards = _partial_sums(ordered[::-1], size)
    before_lowest, before_highest = (np.ascontiguousarray(sums[::-1]) - threshold for sums in backwards)
    completions = np.array(
        [[float(math.comb(len(values) - t, m)) for m in range(size + 1)] for t in range(len(values) + 1)]
    )
    half = _half_width(lowest, highest, before_lowest, before_highest, completions)
    if (size + 1) * (2 * half + 1) > most:
        return None
    table, totals = np.empty((size + 1) * (2 * half + 1)), np.empty(3)
    remaining, before = (lowest.ravel(), highest.ravel()), (before_lowest.ravel(), before_highest.ravel())
    count_signs(ordered, size, -threshold, *remaining, *before, completions.ravel(), table, totals)
    above, level, below = (int(count) for count in totals)
    return above, level, below


def _partial_sums(values: Integers, size: int) -> tuple[Integers, Integers]:
    """Row t, column m: the lowest and highest sum of m of the values from t on; far off if there are fewer values."""
    far = (2**62) // max(size, 1)
    remaining = np.arange(len(values)) >= np.arange(len(values) + 1)[:, None]
    ascending = np.sort(np.where(remaining, values, far), axis=1)[:, :size]
    descending = -np.sort(-np.where(remaining, values, -far), axis=1)[:, :size]
    none = np.zeros((len(values) + 1, 1), np.int64)
    lowest, highest = (np.cumsum(np.concatenate([none, sums], axis=1), axis=1) for sums in (ascending, descending))
    return lowest, highest


def _half_width(
    lowest: Integers, highest: Integers, before_lowest: Integers, before_highest: Integers, completions: Values
) -> int:
    """The largest absolute sum that is both reachable and undecided at any step."""
    low, high = np.maximum(-highest[:, ::-1], before_lowest), np.minimum(-lowest[:, ::-1], before_highest)
    step, chosen = np.indices(low.shape)
    undecided = (low <= high) & (chosen <= step) & (completions[:, ::-1] > 0)
    return int(np.where(undecided, np.maximum(np.abs(low), np.abs(high)), 0).max())


@dataclass(frozen=True, slots=True, eq=False)
class Extreme:
    """The best (or worst) rank that a search found for a system, a bound that no subset exceeds, and the subset."""

    rank: int
    bound: int
    subset: Indices


def extreme_rank(
    scores: IntegerScores, system: int, size: int, *, worst: bool = False, time_limit: float = TIME_LIMIT
) -> Extreme:
    """The best (or worst) rank of a system over all subsets of this size.

    The rank is 1 plus the number of other systems whose leads have a positive sum; see `positive_rows`. It is computed
    again, in integers, on the subset that the solver returns.
    """
    check_size(scores.datasets, size)
    if not time_limit > 0:
        raise InputError(f"time limit {time_limit:g}; expected more than 0 seconds")
    leads_TD = np.delete(scores.above_SD, system, axis=0) - scores.above_SD[system]
    subset, ahead = positive_rows(leads_TD, size, time_limit=time_limit, fewest=not worst)
    rank, bound = int(ranks_of(scores.above_SD[:, subset].sum(axis=1))[system]), 1 + ahead
    # The solver's tolerance may let it promise more than integers allow; no subset goes beyond the bound.
    return Extreme(rank, max(rank, bound) if worst else min(rank, bound), subset)


def extreme_ranks(
    scores: IntegerScores,
    size: int,
    *,
    sampled: SubsetRanks | None = None,
    time_limit: float = TIME_LIMIT,
    on_progress: OnProgress | None = None,
) -> list[tuple[Extreme, Extreme]]:
    """The best and worst rank of every system; if a search stops early, at least as extreme as in the sample.

    `on_progress` is called after every system.
    """
    extremes = []
    for system in range(scores.systems):
        best, worst = (
            extreme_rank(scores, system, size, worst=worst, time_limit=time_limit) for worst in (False, True)
        )
        if sampled is not None:
            low, high = int(sampled.best_S[system]), int(sampled.worst_S[system])
            if low < best.rank:
                best = Extreme(low, min(low, best.bound), sampled.subset_with_rank(system, low))
            if high > worst.rank:
                worst = Extreme(high, max(high, worst.bound), sampled.subset_with_rank(system, high))
        extremes.append((best, worst))
        if on_progress is not None:
            on_progress("systems", system + 1, scores.systems)
    return extremes


def positive_rows(leads_TD: Integers, size: int, *, time_limit: float, fewest: bool = False) -> tuple[Indices, int]:
    """A subset of columns that makes most (or fewest) row sums positive, and a bound on how many (or few) can be.

    Let d_t be the sum of row t over the chosen columns, and y_t = 1 if it is positive. The fewest are min Σ y_t with
    d_t <= M_t y_t, where M_t is the sum of the k largest numbers of the row; the most are max Σ y_t with
    d_t >= 1 - (1 - m_t)(1 - y_t), where m_t is the sum of its k smallest. Rows that are always or never positive are
    handled separately.
    """
    ordered_TD = np.sort(leads_TD, axis=1)
    lowest_T, highest_T = ordered_TD[:, :size].sum(axis=1), ordered_TD[:, -size:].sum(axis=1)
    always, undecided = int((lowest_T > 0).sum()), (lowest_T <= 0) & (highest_T > 0)
    if not undecided.any():
        return np.arange(size), always
    subset, bound = _solve(
        leads_TD[undecided], lowest_T[undecided], highest_T[undecided], size, time_limit=time_limit, fewest=fewest
    )
    return subset, always + (math.ceil(bound - TOLERANCE) if fewest else math.floor(bound + TOLERANCE))


def _solve(
    leads_TD: Integers, lowest_T: Integers, highest_T: Integers, size: int, *, time_limit: float, fewest: bool
) -> tuple[Indices, float]:
    from scipy.optimize import Bounds, LinearConstraint, milp

    rows, datasets = leads_TD.shape
    switch_T = -highest_T if fewest else lowest_T - 1
    lead_rows = np.concatenate([leads_TD, np.diag(switch_T)], axis=1).astype(float)
    lead_rows /= np.abs(switch_T)[:, None]
    edge_T = (np.zeros(rows) if fewest else lowest_T) / np.abs(switch_T)
    far = np.full(rows, np.inf)
    limits = (-far, edge_T) if fewest else (edge_T, far)
    chosen_row = np.concatenate([np.ones(datasets), np.zeros(rows)])[None]
    cost = np.concatenate([np.zeros(datasets), np.full(rows, 1.0 if fewest else -1.0)])
    with _silence():
        solution = milp(
            cost,
            constraints=[LinearConstraint(lead_rows, *limits), LinearConstraint(chosen_row, size, size)],
            integrality=np.ones(len(cost)),
            bounds=Bounds(0, 1),
            options={"time_limit": time_limit},
        )
    dual = solution.mip_dual_bound
    bound = float(dual) if dual is not None and math.isfinite(dual) else (0.0 if fewest else -float(rows))
    subset = np.arange(size)
    if solution.x is not None:
        subset = np.sort(np.argsort(-solution.x[:datasets], kind="stable")[:size])
    return subset, bound if fewest else -bound


@contextmanager
def _silence() -> Iterator[None]:
    """Suppress what the solver prints: occasionally it writes a line regardless of its options."""
    try:
        saved = os.dup(1)
    except OSError:  # there is no standard output
        yield
        return
    library = ctypes.CDLL(None)
    sys.stdout.flush()
    library.fflush(None)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        yield
    finally:
        library.fflush(None)
        os.dup2(saved, 1)
        os.close(saved)
        os.close(null)
