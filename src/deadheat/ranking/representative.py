"""A few data sets whose ranking agrees with the ranking on all of them, and whether it does so for other systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError
from deadheat.ranking.design import every_subset, free
from deadheat.ranking.integers import Indices, Whole, WholeScores
from deadheat.ranking.solving import ahead_in_most
from deadheat.stats.rankings import kendall
from deadheat.text import pluralize

LISTED = 2_000_000  # up to so many subsets are all tried
AT_A_TIME = 1 << 14
HALVINGS, RANDOM = 10, 1000


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A subset, and how many of the pairs that all data sets order it orders alike; no subset exceeds `bound`."""

    subset: Indices
    agreeing: int
    bound: int
    pairs: int
    tau: float

    @property
    def proved(self) -> bool:
        return self.agreeing == self.bound

    def to_dict(self, datasets: Sequence[str]) -> dict[str, Any]:
        names = [datasets[place] for place in self.subset]
        counts = {"agreeing": self.agreeing, "bound": self.bound, "pairs": self.pairs}
        return {"subset": names, **counts, "proved": self.proved, "tau": self.tau}


@dataclass(frozen=True, slots=True, eq=False)
class Representative:
    """Subsets of k data sets that rank as all do, and the share of pairs they order alike for systems not looked at.

    Half of the systems choose, by turns and several times over: `fitted` is over pairs of those that chose, `held_out`
    over pairs of the others, `random` over the latter with random subsets of the same size.
    """

    size: int
    greedy: Choice
    exact: Choice
    halvings: int
    fitted: float
    held_out: float
    random: float

    def __str__(self) -> str:
        shares = f"held-out systems {self.held_out:.3f}, random subsets {self.random:.3f}"
        return f"{self.exact.agreeing} of {self.exact.pairs} pairs with {pluralize(self.size, 'data set')}; {shares}"

    def to_dict(self, datasets: Sequence[str]) -> dict[str, Any]:
        shares = {"fitted": self.fitted, "held_out": self.held_out, "random": self.random}
        return {
            "size": self.size,
            "greedy": self.greedy.to_dict(datasets),
            "exact": self.exact.to_dict(datasets),
            "halvings": self.halvings,
            **shares,
        }


def representative(
    scores: WholeScores, size: int, *, rng: np.random.Generator, halvings: int = HALVINGS, time_limit: float = 60.0
) -> Representative:
    """The data sets that rank systems most as all do, found greedily and exactly, and tested on held-out systems.

    Examples
    --------
    >>> from deadheat.ranking.integers import whole_scores
    >>> table = whole_scores([[90, 80, 60], [70, 75, 80], [60, 65, 40], [50, 55, 70]])
    >>> print(representative(table, 1, rng=np.random.default_rng(0)))
    5 of 6 pairs with 1 data set; held-out systems 0.700, random subsets 0.802
    """
    if not 1 <= size <= scores.datasets:
        known = pluralize(scores.datasets, "data set")
        raise InputError(f"a representative subset of {size} of {known}; expected between 1 and {scores.datasets}")
    if scores.systems < 4:
        raise InputError(
            f"{pluralize(scores.systems, 'system')}; expected at least 4, so that half of them can be held out"
        )
    chosen = greedy_subset(scores, size)
    best = exact_subset(scores, size, start=chosen, time_limit=time_limit)
    shares = _held_out(scores, size, rng, halvings)
    return Representative(size, chosen, best, halvings, *shares)


def greedy_subset(scores: WholeScores, size: int) -> Choice:
    """Add the data set that helps most, one at a time; then exchange single ones as long as that helps."""
    leads_PD = _leads(scores)
    chosen: list[int] = []
    for _ in range(size):
        rest = [place for place in range(scores.datasets) if place not in chosen]
        chosen.append(_best(leads_PD, [[*chosen, each] for each in rest])[-1])
    value = _merit(leads_PD, [chosen])[0]
    while True:
        rest = [place for place in range(scores.datasets) if place not in chosen]
        exchanged = [[*chosen[:at], *chosen[at + 1 :], each] for at in range(size) for each in rest]
        if not exchanged:
            break
        candidate = _best(leads_PD, exchanged)
        if _merit(leads_PD, [candidate])[0] <= value:
            break
        chosen, value = candidate, _merit(leads_PD, [candidate])[0]
    return _choice(scores, np.sort(np.array(chosen)), len(leads_PD))


def exact_subset(scores: WholeScores, size: int, *, start: Choice, time_limit: float = 60.0) -> Choice:
    """The subset that orders most pairs alike: all are tried if they are few, else by integer programming."""
    leads_PD = _leads(scores)
    if start.proved:
        return start
    total = math.comb(scores.datasets, size)
    if total <= LISTED:
        subset = _best_of_all(leads_PD, scores.datasets, size, total)
        found = _choice(scores, subset, 0)
        return Choice(subset, found.agreeing, found.agreeing, found.pairs, found.tau)
    subset, bound = ahead_in_most(leads_PD, size, time_limit=time_limit)
    found = _choice(scores, subset, bound)
    better = start if start.agreeing > found.agreeing else found
    return Choice(better.subset, better.agreeing, max(bound, better.agreeing), better.pairs, better.tau)


def _leads(scores: WholeScores) -> Whole:
    """On every data set, the lead of the better system of each pair that all data sets order."""
    all_S = scores.above_SD.sum(axis=1)
    better, worse = np.nonzero(all_S[:, None] > all_S)
    return scores.above_SD[better] - scores.above_SD[worse]


def _merit(leads_PD: Whole, subsets: list[list[int]]) -> list[tuple[int, float]]:
    """Pairs ordered alike, then closeness of the mean leads to those on all data sets; more is better."""
    size = len(subsets[0])
    sums_CP = leads_PD.T[np.array(subsets)].sum(axis=1)
    distance_C = ((sums_CP / size - leads_PD.mean(axis=1)) ** 2).sum(axis=1)
    return list(zip((sums_CP > 0).sum(axis=1).tolist(), (-distance_C).tolist(), strict=True))


def _best(leads_PD: Whole, subsets: list[list[int]]) -> list[int]:
    merits = _merit(leads_PD, subsets)
    return subsets[max(range(len(subsets)), key=merits.__getitem__)]


def _best_of_all(leads_PD: Whole, datasets: int, size: int, total: int) -> Indices:
    design, key = every_subset(datasets, size), np.zeros(1, np.uint64)
    most, best = -1, np.arange(size)
    for first in range(0, total, AT_A_TIME):
        subsets_BK = design.draw(key, range(first, min(first + AT_A_TIME, total)))
        agreeing_B = _agreeing(leads_PD, subsets_BK)
        if int(agreeing_B.max()) > most:
            most, best = int(agreeing_B.max()), subsets_BK[agreeing_B.argmax()]
    return best


def _agreeing(leads_PD: Whole, subsets_BK: Indices) -> NDArray[np.int64]:
    sums_BP = np.zeros((len(subsets_BK), len(leads_PD)), np.int64)
    for column_B in subsets_BK.T:
        sums_BP += leads_PD.T[column_B]
    agreeing_B: NDArray[np.int64] = (sums_BP > 0).sum(axis=1)
    return agreeing_B


def _choice(scores: WholeScores, subset: Indices, bound: int) -> Choice:
    leads_PD = _leads(scores)
    agreeing = int((leads_PD[:, subset].sum(axis=1) > 0).sum())
    sums_S = scores.above_SD[:, subset].sum(axis=1)
    return Choice(subset, agreeing, bound, len(leads_PD), kendall(sums_S, scores.above_SD.sum(axis=1)))


def _held_out(scores: WholeScores, size: int, rng: np.random.Generator, halvings: int) -> tuple[float, float, float]:
    """Shares of pairs ordered alike by subsets chosen by half of the systems: their pairs, the others', by chance."""
    key = rng.integers(0, 2**64, size=1, dtype=np.uint64)
    random_BK = free(scores.datasets, size).draw(key, range(RANDOM))
    totals = np.zeros(5)
    for _ in range(halvings):
        shuffled = rng.permutation(scores.systems)
        halves = [_only(scores, part) for part in np.array_split(shuffled, 2)]
        for seen, unseen in (halves, halves[::-1]):
            chosen = greedy_subset(seen, size)
            leads_PD = _leads(unseen)
            alike = int((leads_PD[:, chosen.subset].sum(axis=1) > 0).sum())
            by_chance = float(_agreeing(leads_PD, random_BK).mean())
            totals += [chosen.agreeing, chosen.pairs, alike, by_chance, len(leads_PD)]
    fitted, pairs, held_out, random, others = totals.tolist()
    return (fitted / pairs if pairs else math.nan, held_out / others, random / others) if others else (math.nan,) * 3


def _only(scores: WholeScores, systems: Indices) -> WholeScores:
    return WholeScores(scores.above_SD[systems], scores.unit, scores.exact)
