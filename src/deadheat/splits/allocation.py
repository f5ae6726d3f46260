"""Deal out units of unequal size so that every part gets its amount, and every stratum its share of it, at once.

Where units are alike (sentences counted as one each), every part gets its number of units, to the nearest, and of
every stratum its share, rounded up or down; all units have the same chance of every part. Others (documents, say) are
shuffled, lined up so that all strata run through the line evenly, each from a random start, and the line is cut where
the parts end. Documents are lumpy, so that this alone misses: a part of 10 % may get 8 or 12. Therefore single units
are then moved or exchanged between parts, within a stratum, until all amounts are within bounds. Each step is the one
that mends most of

    sum over parts and strata of (has - should have)^2 / should have  +  the same over parts,

where the second sum counts for more if not all bounds can be kept at once: the sizes of parts come before the shares
of strata. And among the units that would do, one near the ideal is taken from a random handful: the split stays as
random as the bounds allow.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.splits.drawing import below, proportional, shuffled

OF_PART, OF_STRATUM = 0.02, 0.05  # how far from what it should have a part, and a stratum in a part, may be
PARTS_FIRST = 25.0  # so much more the amount of a part counts than its proportions, where not both can be had
HANDFUL = 48  # units of a part that are looked at for a move
ENOUGH = 1.5  # times what a part needs must be there in units small enough for it
WORTHWHILE = 0.01  # of what is amiss, for a move to be worth more of its kind
KICKS = 4  # times to go on from where no move helps
Amounts = NDArray[np.float64]


def allocate(weights_U: Indices, strata_U: Codes, amounts_P: Amounts, *, rng: np.random.Generator) -> Codes:
    """The part of every unit. The amounts sum to all weights; the order of the line is random.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> parts = allocate(np.ones(10, int), np.array([0] * 5 + [1] * 5, np.int32), np.array([6.0, 2.0, 2.0]), rng=rng)
    >>> [int(np.sum((parts == p) & (np.arange(10) < 5))) for p in range(3)]
    [3, 1, 1]
    """
    largest = int(weights_U.max(initial=1))
    if np.all(weights_U == largest):
        return _dealt_alike(strata_U, amounts_P / largest, rng)
    line = _lined_up(weights_U, strata_U, rng)
    middles = np.cumsum(weights_U[line]) - weights_U[line] / 2
    parts_U = np.empty(len(weights_U), np.int32)
    parts_U[line] = np.searchsorted(np.cumsum(amounts_P)[:-1], middles, side="right")
    _Table(weights_U, strata_U, parts_U, amounts_P, rng).mend()
    return parts_U


def _dealt_alike(strata_U: Codes, amounts_P: Amounts, rng: np.random.Generator) -> Codes:
    """Units of one size: so many of every stratum to every part as `proportional` says, at random."""
    ends = np.searchsorted(np.arange(len(strata_U)) + 0.5, np.cumsum(amounts_P)[:-1])
    sizes_P = np.diff([0, *ends, len(strata_U)])
    counts_GP = proportional(np.bincount(strata_U, minlength=1), sizes_P, rng=rng)
    order = shuffled(len(strata_U), rng=rng)
    parts_U = np.empty(len(strata_U), np.int32)
    parts_U[order[np.argsort(strata_U[order], kind="stable")]] = np.repeat(
        np.tile(np.arange(len(sizes_P)), len(counts_GP)), counts_GP.reshape(-1)
    )
    return parts_U


def _lined_up(weights_U: Indices, strata_U: Codes, rng: np.random.Generator) -> Indices:
    """All units in one line in which every stratum is spread evenly, and random within each.

    A stratum runs through the line from a random place on, and from the start again: else its first and last units
    would have their places for certain, and the only unit of a stratum would always be in the middle.
    """
    order = shuffled(len(weights_U), rng=rng)
    by_stratum = order[np.argsort(strata_U[order], kind="stable")]
    weights, strata = weights_U[by_stratum], strata_U[by_stratum]
    sizes = np.bincount(strata, weights)
    starts = np.concatenate([[0], np.cumsum(sizes)])[strata]
    within = (np.cumsum(weights) - weights / 2 - starts) / np.maximum(sizes[strata], 1)
    phases = rng.bit_generator.random_raw(len(sizes)) / 2.0**64
    return by_stratum[np.argsort((within + phases[strata]) % 1.0, kind="stable")]


@dataclass(slots=True, eq=False)
class _Table:
    """What every part has of every stratum against what it should have; changes `parts_U` in place."""

    weights_U: Indices
    strata_U: Codes
    parts_U: Codes
    amounts_P: Amounts
    rng: np.random.Generator
    parts_first: float = 1.0
    aims_GP: Amounts = field(init=False)
    excess_GP: Amounts = field(init=False)
    limits_GP: Amounts = field(init=False)

    def __post_init__(self) -> None:
        has_GP = self._has_GP()
        sizes_G = has_GP.sum(axis=1)
        self.aims_GP = np.maximum(np.outer(sizes_G, self.amounts_P) / sizes_G.sum(), 1e-9)
        self.excess_GP = has_GP - self.aims_GP
        self.limits_GP = self._limits()
        for unit in np.flatnonzero(self.weights_U > self.limits_GP[self.strata_U, self.parts_U]).tolist():
            self._move(unit, int(np.argmax(self.limits_GP[self.strata_U[unit]])))

    def _has_GP(self) -> Amounts:
        strata, parts = int(self.strata_U.max()) + 1, len(self.amounts_P)
        cells = self.strata_U.astype(np.int64) * parts + self.parts_U
        return np.bincount(cells, self.weights_U, strata * parts).reshape(strata, parts).astype(np.float64)

    def _limits(self) -> Amounts:
        """The largest unit that a part may have of a stratum: none that is by itself more than its amount.

        No limit for the part that should have most, nor where the units below the limit would not fill the part
        and all that are smaller.
        """
        limits_GP = (1 + OF_STRATUM) * self.aims_GP
        for stratum, limits_P in enumerate(limits_GP):
            weights = self.weights_U[self.strata_U == stratum]
            for part, limit in enumerate(limits_P):
                needed = self.aims_GP[stratum][self.aims_GP[stratum] <= self.aims_GP[stratum, part]].sum()
                if weights[weights <= limit].sum() < ENOUGH * needed:
                    limits_P[part] = np.inf
            limits_P[np.argmax(self.amounts_P)] = np.inf
        return limits_GP

    def mend(self) -> None:
        """Move units until all is within bounds; if that is never so, the best state met is kept."""
        best, kept = np.inf, self.parts_U.copy()
        for _ in range(KICKS):
            self._descend()
            misfit = self._misfit()
            if misfit < best:
                best, kept = misfit, self.parts_U.copy()
            if not self._out_of_bounds().any():
                return
            self._kick()
        self.parts_U[:] = kept
        self.excess_GP = self._has_GP() - self.aims_GP
        self.parts_first = PARTS_FIRST
        self._descend()

    def _descend(self) -> None:
        tried_GPP = np.zeros((*self.aims_GP.shape, len(self.amounts_P)), bool)
        while self._out_of_bounds().any():
            before = self._misfit()
            step = self._most_useful(tried_GPP)
            if step is None:
                return
            if self._exchange(*step) and self._misfit() < (1 - WORTHWHILE) * before:
                tried_GPP[step[0]] = False
            else:
                tried_GPP[step] = True

    def _misfit(self) -> float:
        of_parts = self.excess_GP.sum(axis=0) ** 2 / self.aims_GP.sum(axis=0)
        return float((self.excess_GP**2 / self.aims_GP).sum() + self.parts_first * of_parts.sum())

    def _kick(self) -> None:
        """Where no exchange of two helps, move one unit that makes the worst place worse: others can follow it."""
        relative_GP = np.abs(self.excess_GP) / self.aims_GP
        stratum, part = divmod(int(np.argmax(relative_GP)), relative_GP.shape[1])
        largest = int(np.argmax(np.where(np.arange(len(self.amounts_P)) == part, -1.0, self.amounts_P)))
        giver, taker = (part, largest) if self.excess_GP[stratum, part] > 0 else (largest, part)
        units = self._movable(stratum, giver, taker)
        if len(units):
            # Large units are what stands in the way, so a unit is picked in proportion to its weight.
            at = below(int(self.weights_U[units].sum()), rng=self.rng)
            unit = units[np.searchsorted(np.cumsum(self.weights_U[units]), at, side="right")]
            self._move(int(unit), taker)

    def _movable(self, stratum: int, giver: int, taker: int) -> Indices:
        """Units of a stratum in one part that may be in another."""
        here = (self.strata_U == stratum) & (self.parts_U == giver)
        return np.flatnonzero(here & (self.weights_U <= self.limits_GP[stratum, taker]))

    def _move(self, unit: int, taker: int) -> None:
        stratum, weight = self.strata_U[unit], self.weights_U[unit]
        self.excess_GP[stratum, self.parts_U[unit]] -= weight
        self.excess_GP[stratum, taker] += weight
        self.parts_U[unit] = taker

    def _out_of_bounds(self) -> NDArray[np.bool_]:
        """Strata of parts that have too much or too little, all of a part where its total is so."""
        of_parts = np.abs(self.excess_GP.sum(axis=0)) > OF_PART * self.aims_GP.sum(axis=0)
        return np.asarray((np.abs(self.excess_GP) > OF_STRATUM * self.aims_GP) | of_parts)

    def _ideal_GPP(self) -> tuple[Amounts, Amounts]:
        """For stratum g from part p to part q: the weight whose move would mend most, and how much that is."""
        relative_GP = self.excess_GP / self.aims_GP
        totals_P = self.aims_GP.sum(axis=0)
        relative_P = self.excess_GP.sum(axis=0) / totals_P
        pull_GP = relative_GP + self.parts_first * relative_P
        stiff_GP = 1 / self.aims_GP + self.parts_first / totals_P
        stiff_GPP = stiff_GP[:, :, None] + stiff_GP[:, None, :]
        move_GPP = (pull_GP[:, :, None] - pull_GP[:, None, :]) / stiff_GPP
        return move_GPP, np.where(move_GPP > 0, move_GPP**2 * stiff_GPP, 0.0)

    def _most_useful(self, tried_GPP: NDArray[np.bool_]) -> tuple[int, int, int] | None:
        _, gain_GPP = self._ideal_GPP()
        wrong_GP = self._out_of_bounds()
        gain_GPP[tried_GPP | ~(wrong_GP[:, :, None] | wrong_GP[:, None, :])] = 0.0
        best = int(np.argmax(gain_GPP))
        if gain_GPP.flat[best] <= 0:
            return None
        g, p, q = np.unravel_index(best, gain_GPP.shape)
        return int(g), int(p), int(q)

    def _exchange(self, stratum: int, giver: int, taker: int) -> bool:
        """Move a unit from one part to another, perhaps for a smaller one, if that mends anything."""
        ideal = float(self._ideal_GPP()[0][stratum, giver, taker])
        mine, theirs = self._movable(stratum, giver, taker), self._movable(stratum, taker, giver)
        mine = mine[shuffled(len(mine), rng=self.rng)[:HANDFUL]]
        theirs = theirs[shuffled(len(theirs), rng=self.rng)]
        theirs = theirs[np.argsort(self.weights_U[theirs], kind="stable")]
        # In exchange for nothing, or for the unit next below or above the one that would make it ideal.
        weights = np.concatenate([[0], self.weights_U[theirs]])
        if not len(mine):
            return False
        at = np.searchsorted(weights, self.weights_U[mine] - ideal)
        options = np.stack([np.zeros_like(at), np.maximum(at - 1, 0), np.minimum(at, len(weights) - 1)])
        moved = self.weights_U[mine] - weights[options]
        flat = int(np.argmin(np.abs(moved - ideal)))
        if not 0.1 * ideal < float(moved.flat[flat]) < 1.9 * ideal:  # beyond 0 and 2 it would make things worse
            return False
        option, unit = divmod(flat, len(mine))
        self._move(int(mine[unit]), taker)
        back = int(options[option, unit])
        if back:
            self._move(int(theirs[back - 1]), giver)
        return True
