"""Allocate units of unequal size to parts so that parts have their sizes and strata are in proportion.

Units of equal size (sentences counted as one each) are allocated exactly: every part gets its number of units, and of
every stratum its share, rounded up or down; all units have the same chance of every part. Other units (documents) are
shuffled and lined up so that all strata are spread evenly, each from a random start, and the line is cut into parts.
Documents are so uneven that a part of 10 % may get 8 or 12. Therefore single units are then moved or exchanged between
parts, within a stratum, until all amounts are within bounds. Each step is the one that most reduces

    sum over parts and strata of (actual - target)^2 / target  +  the same over parts,

where the second sum has a greater weight if not all bounds can be met: the sizes of parts come before the shares of
strata. The unit to move is chosen from a random sample, so that the split stays as random as the bounds allow.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.splits.drawing import below, permutation, round_table

PART_TOLERANCE, STRATUM_TOLERANCE = 0.02, 0.05  # relative to the target amount
PART_WEIGHT = 25.0  # of part sizes against strata, where not all bounds can be met
CANDIDATES = 48  # units of a part that are considered for a move
ENOUGH = 1.5  # times the needs of a part must be available in units small enough for it
WORTHWHILE = 0.01  # relative improvement for a kind of move to be tried again
KICKS = 4  # restarts from a local optimum
Amounts = NDArray[np.float64]


def allocate(weights_U: Indices, strata_U: Codes, amounts_P: Amounts, *, rng: np.random.Generator) -> Codes:
    """Return the part of every unit; the amounts sum to the sum of all weights."""
    largest = int(weights_U.max(initial=1))
    if np.all(weights_U == largest):
        return _allocate_equal(strata_U, amounts_P / largest, rng)
    line = _line_up(weights_U, strata_U, rng)
    middles = np.cumsum(weights_U[line]) - weights_U[line] / 2
    parts_U = np.empty(len(weights_U), np.int32)
    parts_U[line] = np.searchsorted(np.cumsum(amounts_P)[:-1], middles, side="right")
    _Allocation(weights_U, strata_U, parts_U, amounts_P, rng).improve()
    return parts_U


def _allocate_equal(strata_U: Codes, amounts_P: Amounts, rng: np.random.Generator) -> Codes:
    """Allocate units of equal size at random, with `round_table` counts of every stratum in every part."""
    ends = np.searchsorted(np.arange(len(strata_U)) + 0.5, np.cumsum(amounts_P)[:-1])
    sizes_P = np.diff([0, *ends, len(strata_U)])
    counts_GP = round_table(np.bincount(strata_U, minlength=1), sizes_P, rng=rng)
    order = permutation(len(strata_U), rng=rng)
    parts_U = np.empty(len(strata_U), np.int32)
    parts_U[order[np.argsort(strata_U[order], kind="stable")]] = np.repeat(
        np.tile(np.arange(len(sizes_P)), len(counts_GP)), counts_GP.reshape(-1)
    )
    return parts_U


def _line_up(weights_U: Indices, strata_U: Codes, rng: np.random.Generator) -> Indices:
    """Order all units so that every stratum is spread evenly, in random order.

    A stratum starts at a random position and wraps around; otherwise the only unit of a stratum would always be in the
    middle.
    """
    order = permutation(len(weights_U), rng=rng)
    by_stratum = order[np.argsort(strata_U[order], kind="stable")]
    weights, strata = weights_U[by_stratum], strata_U[by_stratum]
    sizes = np.bincount(strata, weights)
    starts = np.concatenate([[0], np.cumsum(sizes)])[strata]
    within = (np.cumsum(weights) - weights / 2 - starts) / np.maximum(sizes[strata], 1)
    phases = rng.bit_generator.random_raw(len(sizes)) / 2.0**64
    return by_stratum[np.argsort((within + phases[strata]) % 1.0, kind="stable")]


@dataclass(slots=True, eq=False)
class _Allocation:
    """Actual and target amounts of every stratum in every part; changes `parts_U` in place."""

    weights_U: Indices
    strata_U: Codes
    parts_U: Codes
    amounts_P: Amounts
    rng: np.random.Generator
    part_weight: float = 1.0
    targets_GP: Amounts = field(init=False)
    excess_GP: Amounts = field(init=False)
    limits_GP: Amounts = field(init=False)

    def __post_init__(self) -> None:
        amounts_GP = self._amounts_GP()
        sizes_G = amounts_GP.sum(axis=1)
        self.targets_GP = np.maximum(np.outer(sizes_G, self.amounts_P) / sizes_G.sum(), 1e-9)
        self.excess_GP = amounts_GP - self.targets_GP
        self.limits_GP = self._limits()
        for unit in np.flatnonzero(self.weights_U > self.limits_GP[self.strata_U, self.parts_U]).tolist():
            self._move(unit, int(np.argmax(self.limits_GP[self.strata_U[unit]])))

    def _amounts_GP(self) -> Amounts:
        strata, parts = int(self.strata_U.max()) + 1, len(self.amounts_P)
        cells = self.strata_U.astype(np.int64) * parts + self.parts_U
        return np.bincount(cells, self.weights_U, strata * parts).reshape(strata, parts).astype(np.float64)

    def _limits(self) -> Amounts:
        """Return the largest unit of a stratum that a part may have: none that exceeds its target amount.

        There is no limit for the largest part, nor where the units below the limit would not fill the part and all
        smaller parts.
        """
        limits_GP = (1 + STRATUM_TOLERANCE) * self.targets_GP
        for stratum, limits_P in enumerate(limits_GP):
            weights = self.weights_U[self.strata_U == stratum]
            for part, limit in enumerate(limits_P):
                needed = self.targets_GP[stratum][self.targets_GP[stratum] <= self.targets_GP[stratum, part]].sum()
                if weights[weights <= limit].sum() < ENOUGH * needed:
                    limits_P[part] = np.inf
            limits_P[np.argmax(self.amounts_P)] = np.inf
        return limits_GP

    def improve(self) -> None:
        """Move units until all amounts are within bounds; if that fails, keep the best allocation."""
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
        self.excess_GP = self._amounts_GP() - self.targets_GP
        self.part_weight = PART_WEIGHT
        self._descend()

    def _descend(self) -> None:
        tried_GPP = np.zeros((*self.targets_GP.shape, len(self.amounts_P)), bool)
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
        of_parts = self.excess_GP.sum(axis=0) ** 2 / self.targets_GP.sum(axis=0)
        return float((self.excess_GP**2 / self.targets_GP).sum() + self.part_weight * of_parts.sum())

    def _kick(self) -> None:
        """Leave a local optimum: move one unit that makes the worst cell worse, so that others can follow."""
        relative_GP = np.abs(self.excess_GP) / self.targets_GP
        stratum, part = divmod(int(np.argmax(relative_GP)), relative_GP.shape[1])
        largest = int(np.argmax(np.where(np.arange(len(self.amounts_P)) == part, -1.0, self.amounts_P)))
        giver, taker = (part, largest) if self.excess_GP[stratum, part] > 0 else (largest, part)
        units = self._movable(stratum, giver, taker)
        if len(units):
            # Large units are the obstacle, so units are chosen in proportion to their weight.
            at = below(int(self.weights_U[units].sum()), rng=self.rng)
            unit = units[np.searchsorted(np.cumsum(self.weights_U[units]), at, side="right")]
            self._move(int(unit), taker)

    def _movable(self, stratum: int, giver: int, taker: int) -> Indices:
        """Return the units of a stratum that may move from one part to another."""
        here = (self.strata_U == stratum) & (self.parts_U == giver)
        return np.flatnonzero(here & (self.weights_U <= self.limits_GP[stratum, taker]))

    def _move(self, unit: int, taker: int) -> None:
        stratum, weight = self.strata_U[unit], self.weights_U[unit]
        self.excess_GP[stratum, self.parts_U[unit]] -= weight
        self.excess_GP[stratum, taker] += weight
        self.parts_U[unit] = taker

    def _out_of_bounds(self) -> NDArray[np.bool_]:
        """Flag cells out of bounds; all cells of a part whose total is out of bounds."""
        of_parts = np.abs(self.excess_GP.sum(axis=0)) > PART_TOLERANCE * self.targets_GP.sum(axis=0)
        return np.asarray((np.abs(self.excess_GP) > STRATUM_TOLERANCE * self.targets_GP) | of_parts)

    def _ideal_GPP(self) -> tuple[Amounts, Amounts]:
        """Return for each stratum, giver and taker the best weight to move, and the improvement."""
        relative_GP = self.excess_GP / self.targets_GP
        totals_P = self.targets_GP.sum(axis=0)
        relative_P = self.excess_GP.sum(axis=0) / totals_P
        pull_GP = relative_GP + self.part_weight * relative_P
        stiff_GP = 1 / self.targets_GP + self.part_weight / totals_P
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
        """Move a unit from one part to another, perhaps in exchange for a smaller one, if that helps."""
        ideal = float(self._ideal_GPP()[0][stratum, giver, taker])
        mine, theirs = self._movable(stratum, giver, taker), self._movable(stratum, taker, giver)
        mine = mine[permutation(len(mine), rng=self.rng)[:CANDIDATES]]
        theirs = theirs[permutation(len(theirs), rng=self.rng)]
        theirs = theirs[np.argsort(self.weights_U[theirs], kind="stable")]
        # In exchange for nothing, or for the next smaller or larger unit than the ideal one.
        weights = np.concatenate([[0], self.weights_U[theirs]])
        if not len(mine):
            return False
        at = np.searchsorted(weights, self.weights_U[mine] - ideal)
        options = np.stack([np.zeros_like(at), np.maximum(at - 1, 0), np.minimum(at, len(weights) - 1)])
        moved = self.weights_U[mine] - weights[options]
        flat = int(np.argmin(np.abs(moved - ideal)))
        if not 0.1 * ideal < float(moved.flat[flat]) < 1.9 * ideal:  # outside of 0 to 2 it would make things worse
            return False
        option, unit = divmod(flat, len(mine))
        self._move(int(mine[unit]), taker)
        back = int(options[option, unit])
        if back:
            self._move(int(theirs[back - 1]), giver)
        return True
