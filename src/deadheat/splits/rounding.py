"""Round a table of shares to whole numbers, at random, without changing a sum."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Indices
from deadheat.splits.chance import below

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
