"""How the ranking of systems varies over subsets of data sets.

A system's score on a subset is the mean over its data sets. The system with the highest has rank 1; systems with equal
means share the better rank. Means are compared as integers, so that ties are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError
from deadheat.kernels.subsets import BLOCK, find_samples, rank_samples, rank_samples_wide
from deadheat.ranking.design import Design, Indices, Key
from deadheat.ranking.integers import WholeScores
from deadheat.stats.checks import Values, check_number

AT_A_TIME = 1 << 16  # samples a call; changes nothing but memory
QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True, slots=True, eq=False)
class Tau:
    """Kendall's tau-b between the rankings of subsets and the ranking on all data sets: each value and how often."""

    values: Values  # growing; NaN for subsets that leave all systems level is not among them
    counts: NDArray[np.int64]
    undefined: int

    @property
    def mean(self) -> float:
        return float(np.average(self.values, weights=self.counts)) if len(self.values) else math.nan

    @property
    def sd(self) -> float:
        if not len(self.values):
            return math.nan
        return math.sqrt(float(np.average((self.values - self.mean) ** 2, weights=self.counts)))

    def quantile(self, share: float) -> float:
        return weighted_quantile(self.values, self.counts, share) if len(self.values) else math.nan

    def __str__(self) -> str:
        return f"tau {self.mean:.3f} ± {self.sd:.3f}, least {self.quantile(0):.3f}"

    def to_dict(self) -> dict[str, float | int]:
        named = {"min": 0.0, "lower_quartile": 0.25, "median": 0.5, "upper_quartile": 0.75, "max": 1.0}
        found = {name: self.quantile(share) for name, share in named.items()}
        return {"mean": self.mean, "sd": self.sd, **found, "undefined": self.undefined}


@dataclass(frozen=True, slots=True, eq=False)
class SubsetRanks:
    """Ranks of all systems over many subsets.

    counts_SS[s, r] is in how many subsets system s had rank r + 1, earliest_SS the first sample that gave it (-1 if
    none), wins_SS[s, t] in how many s was ahead of t.
    """

    design: Design
    key: Key
    samples: int
    counts_SS: NDArray[np.int64]
    earliest_SS: NDArray[np.int64]
    wins_SS: NDArray[np.int64]
    tau: Tau

    @property
    def best_S(self) -> Indices:
        found: Indices = 1 + (self.counts_SS > 0).argmax(axis=1)
        return found

    @property
    def worst_S(self) -> Indices:
        found: Indices = self.counts_SS.shape[1] - (self.counts_SS[:, ::-1] > 0).argmax(axis=1)
        return found

    @property
    def mean_S(self) -> Values:
        found: Values = self.counts_SS @ self._ranks / self.samples
        return found

    @property
    def sd_S(self) -> Values:
        squares = self.counts_SS @ self._ranks**2 / self.samples
        return np.sqrt(np.maximum(squares - self.mean_S**2, 0))

    @property
    def chances_SS(self) -> Values:
        """The chance of each place, a row a system."""
        return self.counts_SS / self.samples

    @property
    def _ranks(self) -> Values:
        return np.arange(1.0, self.counts_SS.shape[1] + 1)

    def quantiles(self, system: int, shares: tuple[float, ...] = QUARTILES) -> tuple[float, ...]:
        """Quantiles of a system's rank over the subsets, between neighbours where one falls between."""
        return tuple(weighted_quantile(self._ranks, self.counts_SS[system], share) for share in shares)

    def subset_with_rank(self, system: int, rank: int) -> Indices:
        """The data sets of the first sample in which a system had this rank."""
        number = int(self.earliest_SS[system, rank - 1])
        assert number >= 0, f"no sample gives system {system} rank {rank}"
        subset: Indices = self.design.draw(self.key, [number])[0]
        return subset

    def __str__(self) -> str:
        stable = int((self.best_S == self.worst_S).sum())
        return f"{self.samples:,} subsets of {self.design.size}: {stable} systems with one rank in all; {self.tau}"


def rank_over_subsets(
    scores: WholeScores, design: Design, *, samples: int, rng: np.random.Generator | None = None, key: Key | None = None
) -> SubsetRanks:
    """Rank systems on many subsets of data sets.

    Parameters
    ----------
    scores
        From `whole_scores`.
    design
        How subsets are drawn; one that lists all of them does so, whatever `samples` is.
    rng, key
        What the subsets depend on: a generator, from which one key is drawn, or the key itself, to draw the same again.

    Examples
    --------
    >>> from deadheat.ranking.design import every_subset
    >>> from deadheat.ranking.integers import whole_scores
    >>> table = whole_scores([[90, 80, 70], [80, 80, 71], [60, 60, 95]])
    >>> found = rank_over_subsets(table, every_subset(3, 2), samples=3)
    >>> found.mean_S, found.best_S, found.worst_S
    (array([1.66666667, 2.33333333, 2.        ]), array([1, 2, 1]), array([3, 3, 3]))
    """
    check_number("rank_over_subsets", "samples", samples, least=1)
    if design.datasets != scores.datasets:
        raise InputError(f"subsets of {design.datasets} data sets; expected of the {scores.datasets} that have scores")
    key = _key(rng) if key is None else key
    samples = math.comb(design.datasets, design.size) if design.lists_all else samples
    above_DS, wide = _narrowed(scores, design.size)
    systems = scores.systems
    whole_S = scores.above_SD.sum(axis=1)
    signs = np.sign(whole_S[:, None] - whole_S).astype(np.int32).ravel()
    counts, earliest, wins = (np.zeros(systems * systems, np.int64) for _ in range(3))
    earliest -= 1
    sums = np.empty(systems * BLOCK, above_DS.dtype)
    ranks = np.empty(systems * BLOCK, np.int32)
    agreed, ordered = (np.empty(min(samples, AT_A_TIME), np.int32) for _ in range(2))
    places: dict[int, int] = {}
    fixed = (above_DS.ravel(), np.empty(systems, above_DS.dtype), sums, ranks, signs, counts, earliest, wins)
    room, run = design.arguments(), rank_samples_wide if wide else rank_samples
    for first in range(0, samples, AT_A_TIME):
        now = min(AT_A_TIME, samples - first)
        run(key, first, design.kind, design.size, systems, *room, *fixed, agreed[:now], ordered[:now])
        _tally(places, agreed[:now], ordered[:now])
    counts_SS, earliest_SS, wins_SS = (each.reshape(systems, systems) for each in (counts, earliest, wins))
    tau = _tau(places, int(np.abs(signs).sum()) // 2)
    return SubsetRanks(design, key, samples, counts_SS, earliest_SS, wins_SS, tau)


def samples_with_rank(
    found: SubsetRanks, scores: WholeScores, system: int, rank: int, *, most: int, rng: np.random.Generator
) -> Indices:
    """Numbers of samples in which a system has a rank: the first `most` of them, or any where all subsets are listed.

    The first of a list are subsets of the first data sets, and would say more of their order than of the rank.
    """
    above_DS = np.ascontiguousarray(scores.above_SD.T)
    hits = int(found.counts_SS[system, rank - 1])
    listed = found.design.lists_all
    wanted = np.sort(rng.choice(hits, min(most, hits), replace=False)) if listed else np.arange(min(most, hits))
    numbers = np.empty(len(wanted), np.int64)
    first = max(int(found.earliest_SS[system, rank - 1]), 0)
    row = np.empty(scores.systems, np.int64)
    design = found.design
    filled = find_samples(
        found.key, first, found.samples - first, design.kind, design.size, *design.arguments(),
        above_DS.ravel(), row, system, rank - 1, wanted, numbers,
    )  # fmt: skip
    assert filled == len(wanted)
    return rng.permutation(numbers) if listed else numbers


def weighted_quantile(values: Values, counts: NDArray[np.int64], share: float) -> float:
    """The quantile of values that occur so often each, between neighbours in proportion (R's type 7).

    Examples
    --------
    >>> weighted_quantile(np.array([1.0, 2.0]), np.array([2, 2]), 0.5)
    1.5
    """
    total = int(counts.sum())
    place = share * (total - 1)
    below = math.floor(place)
    until = np.cumsum(counts)
    low, high = (float(values[np.searchsorted(until, at, side="right")]) for at in (below, min(below + 1, total - 1)))
    return low + (place - below) * (high - low)


def _key(rng: np.random.Generator | None) -> Key:
    rng = np.random.default_rng(0) if rng is None else rng
    return rng.integers(0, 2**64, size=1, dtype=np.uint64)


def _narrowed(scores: WholeScores, size: int) -> tuple[NDArray[np.int32] | NDArray[np.int64], bool]:
    """Scores a row a data set, in 32 bits where every sum fits."""
    greatest = int(scores.above_SD.max())
    if greatest * size > np.iinfo(np.int64).max:
        raise InputError(f"scores that differ by {greatest:,} steps; expected fewer, or fewer decimals")
    wide = greatest * size > np.iinfo(np.int32).max
    above_DS = np.ascontiguousarray(scores.above_SD.T)
    return (above_DS if wide else above_DS.astype(np.int32)), wide


def _tally(places: dict[int, int], agreed_B: NDArray[np.int32], ordered_B: NDArray[np.int32]) -> None:
    """Count samples by (sum of agreements, pairs ordered), packed into one number."""
    packed, counts = np.unique((agreed_B.astype(np.int64) << 32) | ordered_B, return_counts=True)
    for each, count in zip(packed.tolist(), counts.tolist(), strict=True):
        places[each] = places.get(each, 0) + count


def _tau(places: dict[int, int], whole: int) -> Tau:
    """Tau-b is the sum of agreements over the root of (pairs ordered here) x (pairs ordered on all data sets)."""
    packed = np.array(sorted(places), np.int64)
    counts = np.array([places[each] for each in packed.tolist()], np.int64)
    agreed, ordered = packed >> 32, packed & 0xFFFFFFFF
    defined = (ordered > 0) & (whole > 0)
    values = agreed[defined] / np.sqrt(ordered[defined] * float(whole)) if whole else np.empty(0)
    order = np.argsort(values, kind="stable")
    return Tau(values[order], counts[defined][order], int(counts[~defined].sum()))
