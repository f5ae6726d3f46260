"""In how many of all subsets one system is ahead of another: counted, not sampled.

The subsets of k data sets with a positive sum of score differences are counted by dynamic programming over the data
sets, on integers. All pairs of 26 systems on 82 data sets, each over 2.1 million million subsets, take half a second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.errors import InputError
from deadheat.kernels.subsets import count_signs
from deadheat.ranking.integers import Whole, WholeScores
from deadheat.stats.checks import Values
from deadheat.text import pluralize

EXACT = 2**53  # numbers of subsets up to this are counted exactly in floating point
MOST_CELLS = 1 << 27  # of the table of sums, a gigabyte


@dataclass(frozen=True, slots=True)
class SignCounts:
    """Subsets with a sum above, of and below a threshold, of all; beyond 2^53 right to about 12 digits."""

    above: int
    level: int
    below: int
    total: int

    @property
    def exact(self) -> bool:
        return self.total <= EXACT

    def __str__(self) -> str:
        shares = f"{self.above / self.total:.4f} above, {self.below / self.total:.4f} below"
        return f"{shares}, {self.level / self.total:.4f} level, of {self.total:,} subsets"


@dataclass(frozen=True, slots=True)
class ExactPair:
    """Of all subsets, in how many system a is ahead of b, level with it, behind it."""

    a: str
    b: str
    subsets: SignCounts

    @property
    def chance(self) -> float:
        """That a is ahead."""
        return self.subsets.above / self.subsets.total

    def __str__(self) -> str:
        return f"{self.a} ahead of {self.b} in {self.chance:.4%} of {self.subsets.total:,} subsets"

    def to_dict(self) -> dict[str, Any]:
        found = self.subsets
        numbers = {"a_ahead": found.above, "b_ahead": found.below, "level": found.level, "subsets": found.total}
        chances = {"p_a": self.chance, "p_b": found.below / found.total, "p_level": found.level / found.total}
        return {"a": self.a, "b": self.b, **numbers, **chances, "exact": found.exact}


def count_sums(values: Whole, size: int, *, threshold: int = 0) -> SignCounts:
    """How many of all subsets of `size` values have a sum above, of and below a threshold.

    Notes
    -----
    Values are taken in the order of their absolute size. With the first t decided, a sum of j of them stays in the
    table only while what is still to come could change its side; all others are counted with their completions.

    Examples
    --------
    >>> print(count_sums(np.array([3, -2, -1, 1]), 2))
    0.5000 above, 0.3333 below, 0.1667 level, of 6 subsets
    """
    if not 1 <= size <= len(values):
        raise InputError(
            f"subsets of {size} of {pluralize(len(values), 'value')}; expected between 1 and {len(values)}"
        )
    total = math.comb(len(values), size)
    if total > 1e300:
        raise InputError(f"subsets of {size} of {len(values)} are too many to count; expected fewer than 10^300")
    ordered = np.ascontiguousarray(values[np.argsort(-np.abs(values), kind="stable")], np.int64)
    least, most = _partial_sums(ordered, size)
    backwards = _partial_sums(ordered[::-1], size)
    before_least, before_most = (np.ascontiguousarray(each[::-1]) - threshold for each in backwards)
    completions = _binomials(len(values), size)
    half = _half_width(least, most, before_least, before_most, completions)
    if (size + 1) * (2 * half + 1) > MOST_CELLS:
        raise InputError(f"sums of {size} scores spread over {2 * half + 1:,} steps; expected scores of fewer digits")
    room, totals = np.empty((size + 1) * (2 * half + 1)), np.empty(3)
    still, before = (least.ravel(), most.ravel()), (before_least.ravel(), before_most.ravel())
    count_signs(ordered, size, -threshold, *still, *before, completions.ravel(), room, totals)
    above, level, below = (int(each) for each in totals)
    return SignCounts(above, level, below, total)


def exact_pairs(scores: WholeScores, systems: tuple[str, ...], size: int) -> tuple[ExactPair, ...]:
    """Of every pair of systems, in how many of all subsets of this size each is ahead.

    Examples
    --------
    >>> from deadheat.ranking.integers import whole_scores
    >>> (pair,) = exact_pairs(whole_scores([[90, 80, 70], [89, 81, 71]]), ("A", "B"), 2)
    >>> pair.subsets.above, pair.subsets.level, pair.subsets.below
    (0, 2, 1)
    """
    found = []
    for a in range(scores.systems):
        for b in range(a + 1, scores.systems):
            subsets = count_sums(scores.above_SD[a] - scores.above_SD[b], size)
            found.append(ExactPair(systems[a], systems[b], subsets))
    return tuple(found)


def _partial_sums(values: Whole, size: int) -> tuple[Whole, Whole]:
    """Row t, column m: the least and the greatest sum of m of the values from t on; far off where there are fewer."""
    far = (2**62) // max(size, 1)
    places = np.arange(len(values))
    here = places >= np.arange(len(values) + 1)[:, None]
    rising = np.sort(np.where(here, values, far), axis=1)[:, :size]
    falling = -np.sort(-np.where(here, values, -far), axis=1)[:, :size]
    none = np.zeros((len(values) + 1, 1), np.int64)
    least, most = (np.cumsum(np.concatenate([none, each], axis=1), axis=1) for each in (rising, falling))
    return least, most


def _binomials(count: int, size: int) -> Values:
    """Row t, column m: how many ways there are to choose m of the values from t on."""
    return np.array([[float(math.comb(count - t, m)) for m in range(size + 1)] for t in range(count + 1)])


def _half_width(least: Whole, most: Whole, before_least: Whole, before_most: Whole, completions: Values) -> int:
    """The greatest absolute sum that is both reached and undecided at any time."""
    low, high = np.maximum(-most[:, ::-1], before_least), np.minimum(-least[:, ::-1], before_most)
    time, chosen = np.indices(low.shape)
    open_ = (low <= high) & (chosen <= time) & (completions[:, ::-1] > 0)
    return int(np.where(open_, np.maximum(np.abs(low), np.abs(high)), 0).max())
