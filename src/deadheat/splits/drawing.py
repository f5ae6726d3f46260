"""Random orders, samples and roundings that are the same on every machine and with every version of numpy.

Numpy keeps the bits of its generators the same from version to version, but not the output of their methods. So these
functions use raw bits only.

Samples of a size in words are chosen from sentences in their order as in van der Goot et al. (2024): the last sentences
(SEQ), a random sample (RAND), or a run from a random start (RAND_SEQ). Each gives an order of sentences, of which as
many are taken from the front as reach the size. Sentences are never cut, so a sample exceeds its size by less than one
sentence. Smaller samples of one order are subsets of larger ones.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError


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


Cell = tuple[int, int]


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


SAMPLING_METHODS = ("seq", "rand", "rand-seq")


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
