"""Random orders, samples and allocations that are the same on every machine and with every version of numpy.

Numpy keeps the bits of its generators the same from version to version, but not the output of their methods. So these
functions use raw bits only.

Samples of a size in words are chosen from sentences in their order as in van der Goot et al. (2024): the last sentences
(SEQ), a random sample (RAND), or a run from a random start (RAND_SEQ). Each gives an order of sentences, of which as
many are taken from the front as reach the size. Sentences are never cut, so a sample exceeds its size by less than one
sentence. Smaller samples of one order are subsets of larger ones.

Allocation gives units to parts so that parts have their sizes and strata are in proportion. Units of equal size
(sentences counted as one each) are allocated exactly: every part gets its number of units, and of every stratum its
share, rounded up or down; all units have the same chance of every part. Other units (documents) are shuffled and lined
up so that all strata are spread evenly, each from a random start, and the line is cut into parts. Documents are so
uneven that a part of 10 % may get 8 or 12. Therefore single units are then moved or exchanged between parts, within a
stratum, until all amounts are within bounds. Each step is the one that most reduces

    sum over parts and strata of (actual - target)^2 / target  +  the same over parts,

where the second sum has a greater weight if not all bounds can be met: the sizes of parts come before the shares of
strata. The unit to move is chosen from a random sample, so that the split stays as random as the bounds allow.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.errors import InputError

PART_TOLERANCE, STRATUM_TOLERANCE = 0.02, 0.05  # relative to the target amount
PART_WEIGHT = 25.0  # of part sizes against strata, where not all bounds can be met
CANDIDATES = 48  # units of a part that are considered for a move
ENOUGH = 1.5  # times the needs of a part must be available in units small enough for it
WORTHWHILE = 0.01  # relative improvement for a kind of move to be tried again
KICKS = 4  # restarts from a local optimum
SAMPLING_METHODS = ("seq", "rand", "rand-seq")

Amounts = NDArray[np.float64]
Cell = tuple[int, int]


def generator(seed: int, number: int) -> np.random.Generator:
    """Return the generator of split `number` of a seed."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(number,))))


def permutation(size: int, *, rng: np.random.Generator) -> Indices:
    """Return a random permutation: the order of 64 random bits per item.

    Two of a million items are equal, and keep their order, with a probability of one in thirty million.
    """
    return np.argsort(rng.bit_generator.random_raw(size), kind="stable")


def below(bound: int, *, rng: np.random.Generator) -> int:
    """Return a random integer from 0 to `bound` - 1."""
    limit = (1 << 64) // bound * bound
    while True:
        number = int(rng.bit_generator.random_raw())
        if number < limit:
            return number % bound


def round_table(rows_G: Indices, columns_P: Indices, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Round the table of row sum x column sum / total to integers at random, keeping all sums of rows and columns.

    Every cell is rounded up or down, and its expectation is its unrounded value. This is controlled rounding after Cox
    (1987): cells that are not integers form cycles through the table; along a cycle, an amount is moved from every
    second cell to the others until one is an integer, in a random direction that keeps expectations. All arithmetic is
    in integers and exact.
    """
    total = int(rows_G.sum())
    whole_GP, left_GP = np.divmod(np.multiply.outer(rows_G, columns_P), max(total, 1))
    strata = len(rows_G)
    left = {(g, p): int(left_GP[g, p]) for g, p in np.argwhere(left_GP).tolist()}
    near: list[dict[int, None]] = [{} for _ in range(strata + len(columns_P))]  # rows, then columns
    for g, p in left:
        near[g][strata + p] = near[strata + p][g] = None
    for start in range(strata):
        while near[start]:
            cycle = [(min(a, b), max(a, b) - strata) for a, b in _find_cycle(near, start)]
            for g, p in _shift_cycle(left, cycle, total, rng):
                whole_GP[g, p] += left.pop((g, p)) // total
                del near[g][strata + p], near[strata + p][g]
    return whole_GP


def _find_cycle(near: list[dict[int, None]], start: int) -> list[Cell]:
    """Find a cycle from a node; a node with an edge has at least two, because sums are integers."""
    path, position = [start], {start: 0}
    while True:
        here = path[-1]
        to = next(node for node in near[here] if len(path) < 2 or node != path[-2])
        path.append(to)
        if to in position:
            nodes = path[position[to] :]
            return list(pairwise(nodes))
        position[to] = len(path) - 1


def _shift_cycle(left: dict[Cell, int], cycle: list[Cell], total: int, rng: np.random.Generator) -> list[Cell]:
    """Move an amount along a cycle in a random direction; return the cells that became integers."""
    gives, takes = cycle[::2], cycle[1::2]
    most = min(*(left[cell] for cell in gives), *(total - left[cell] for cell in takes))
    back = min(*(left[cell] for cell in takes), *(total - left[cell] for cell in gives))
    step = most if below(most + back, rng=rng) < back else -back
    for cell in gives:
        left[cell] -= step
    for cell in takes:
        left[cell] += step
    return [cell for cell in cycle if left[cell] in (0, total)]


def sentences_reaching(lengths: Indices, words: int) -> int:
    """Return how many of the first sentences reach so many words; all of them if there are too few words."""
    return min(int(np.searchsorted(np.cumsum(lengths), words)) + 1, len(lengths)) if words > 0 else 0


def sampling_order(method: str, lengths: Indices, words: int, *, rng: np.random.Generator) -> Indices:
    """Order sentences for samples of up to so many words.

    `seq`: from the last one backwards. `rand`: in random order. `rand-seq`: in their original order from a random
    start that leaves enough words; sentences before the start are left out.
    """
    total = int(lengths.sum())
    if words > total:
        raise InputError(f"{words:,} words requested; there are {total:,} to choose from")
    if method == "seq":
        return np.arange(len(lengths))[::-1]
    if method == "rand":
        return permutation(len(lengths), rng=rng)
    assert method == "rand-seq", method
    before = np.cumsum(lengths) - lengths
    starts = int(np.count_nonzero(total - before >= words))
    return np.arange(below(starts, rng=rng), len(lengths))


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


class _Allocation:
    """Actual and target amounts of every stratum in every part; changes `parts_U` in place."""

    def __init__(
        self, weights_U: Indices, strata_U: Codes, parts_U: Codes, amounts_P: Amounts, rng: np.random.Generator
    ) -> None:
        self.weights_U, self.strata_U, self.parts_U, self.amounts_P = weights_U, strata_U, parts_U, amounts_P
        self.rng, self.part_weight = rng, 1.0
        amounts_GP = self._amounts_GP()
        sizes_G = amounts_GP.sum(axis=1)
        self.targets_GP: Amounts = np.maximum(np.outer(sizes_G, amounts_P) / sizes_G.sum(), 1e-9)
        self.excess_GP = amounts_GP - self.targets_GP
        self.limits_GP = self._limits()
        for unit in np.flatnonzero(weights_U > self.limits_GP[strata_U, parts_U]).tolist():
            self._move(unit, int(np.argmax(self.limits_GP[strata_U[unit]])))

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
