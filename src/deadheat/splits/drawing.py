"""Random orders, samples and roundings that are the same on every machine and with every version of numpy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError


def generator(seed: int, number: int) -> np.random.Generator:
    """What split `number` of a seed is drawn with: it depends on these two alone, and no other two give the same."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(number,))))


def shuffled(size: int, *, rng: np.random.Generator) -> Indices:
    """The numbers below `size` in random order, all orders alike.

    They are sorted by 64 random bits each; that two of a million are equal, which would keep their order, has a
    chance of one to thirty million.
    """
    return np.argsort(rng.bit_generator.random_raw(size), kind="stable")


def below(bound: int, *, rng: np.random.Generator) -> int:
    """A random number from 0 to `bound` - 1, all alike."""
    limit = (1 << 64) // bound * bound
    while True:
        number = int(rng.bit_generator.random_raw())
        if number < limit:
            return number % bound


Cell = tuple[int, int]


def proportional(rows_G: Indices, columns_P: Indices, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """A table with these sums of rows and columns, each cell the whole number next below or above its share.

    The share of a cell is row sum x column sum / total, and a cell is on average what its share is. This is
    controlled rounding after Cox (1987): cells that are not whole form cycles through the table; along a cycle, an
    amount is taken from every second cell and given to the others until one is whole, in a direction that is chosen
    so that no cell gains or loses on average. All is counted in parts of the total, so nothing is ever inexact.

    Examples
    --------
    >>> import numpy as np
    >>> proportional(np.array([5, 5]), np.array([6, 2, 2]), rng=np.random.default_rng(0))
    array([[3, 1, 1],
           [3, 1, 1]])
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
            cycle = [(min(a, b), max(a, b) - strata) for a, b in _cycle(near, start)]
            for g, p in _shifted(left, cycle, total, rng):
                whole_GP[g, p] += left.pop((g, p)) // total
                del near[g][strata + p], near[strata + p][g]
    return whole_GP


def _cycle(near: list[dict[int, None]], start: int) -> list[Cell]:
    """Edges that lead round, on the way from a node; every node that has an edge has two, for sums are whole."""
    path, place = [start], {start: 0}
    while True:
        here = path[-1]
        to = next(node for node in near[here] if len(path) < 2 or node != path[-2])
        path.append(to)
        if to in place:
            nodes = path[place[to] :]
            return list(pairwise(nodes))
        place[to] = len(path) - 1


def _shifted(left: dict[Cell, int], cycle: list[Cell], total: int, rng: np.random.Generator) -> list[Cell]:
    """Take from every second cell and give to the others, or the other way round; returns those that became whole."""
    gives, takes = cycle[::2], cycle[1::2]
    most = min(*(left[cell] for cell in gives), *(total - left[cell] for cell in takes))
    back = min(*(left[cell] for cell in takes), *(total - left[cell] for cell in gives))
    step = most if below(most + back, rng=rng) < back else -back
    for cell in gives:
        left[cell] -= step
    for cell in takes:
        left[cell] += step
    return [cell for cell in cycle if left[cell] in (0, total)]


WAYS = ("seq", "rand", "rand-seq")


def reaching(lengths: Indices, words: int) -> int:
    """How many of these sentences, from the first on, are needed to have so many words; all of them if too few.

    Examples
    --------
    >>> import numpy as np
    >>> [reaching(np.array([3, 4, 5]), words) for words in (0, 3, 4, 12, 99)]
    [0, 1, 2, 3, 3]
    """
    return min(int(np.searchsorted(np.cumsum(lengths), words)) + 1, len(lengths)) if words > 0 else 0


def in_order_of(way: str, lengths: Indices, words: int, *, rng: np.random.Generator) -> Indices:
    """Sentences in the order in which one way takes them, for samples of up to so many words.

    `seq`: from the last one backwards. `rand`: in random order. `rand-seq`: in their own order from a random start,
    all starts alike that leave enough words; what lies before the start is not in it.

    Examples
    --------
    >>> import numpy as np
    >>> in_order_of("seq", np.array([3, 4, 5]), 6, rng=np.random.default_rng(0))
    array([2, 1, 0])
    """
    total = int(lengths.sum())
    if words > total:
        raise InputError(f"{words:,} words asked; there are {total:,} to choose from")
    if way == "seq":
        return np.arange(len(lengths))[::-1]
    if way == "rand":
        return shuffled(len(lengths), rng=rng)
    assert way == "rand-seq", way
    before = np.cumsum(lengths) - lengths
    starts = int(np.count_nonzero(total - before >= words))
    return np.arange(below(starts, rng=rng), len(lengths))
