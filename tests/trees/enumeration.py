"""Every small tree, and trees and scores at random: what the obvious versions in the tests go through."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Codes, Indices

Heads = Sequence[int]


def is_single_root_tree(heads: Heads) -> bool:
    if list(heads).count(0) != 1 or not all(0 <= head <= len(heads) for head in heads):
        return False
    for start in range(1, len(heads) + 1):
        word, steps = start, 0
        while word and steps <= len(heads):
            word, steps = heads[word - 1], steps + 1
        if word:
            return False
    return True


def crosses(heads: Heads, one: int, other: int) -> bool:
    """Whether the arcs of two words cross; that of the root's child leads to a root left of all words."""
    (a, b), (c, d) = (sorted((word, heads[word - 1])) for word in (one, other))
    return a < c < b < d or c < a < d < b


def crossing_pairs(heads: Heads) -> list[tuple[int, int]]:
    """Pairs of words whose arcs, from words and not from the root, cross."""
    words = [word for word in range(1, len(heads) + 1) if heads[word - 1]]
    return [(one, other) for one in words for other in words if one < other and crosses(heads, one, other)]


def is_projective(heads: Heads) -> bool:
    words = range(1, len(heads) + 1)
    return not any(crosses(heads, one, other) for one in words for other in words)


@cache
def every_tree(words: int) -> tuple[tuple[int, ...], ...]:
    """All trees with one root."""
    choices = [[head for head in range(words + 1) if head != word] for word in range(1, words + 1)]
    return tuple(filter(is_single_root_tree, product(*choices)))


@cache
def every_projective_tree(words: int) -> tuple[tuple[int, ...], ...]:
    return tuple(filter(is_projective, every_tree(words)))


def together(trees: Iterable[Heads]) -> tuple[Codes, Indices]:
    """Trees as a corpus has them: all heads in a line, and where each sentence begins."""
    found = list(trees)
    offsets = np.cumsum([0, *map(len, found)]).astype(np.int64)
    return np.array([head for heads in found for head in heads], np.int32), offsets


def apart(heads: Codes, offsets: Indices) -> list[list[int]]:
    return [part.tolist() for part in np.split(heads, offsets[1:-1])]


def score(square: NDArray[np.float64], heads: Heads) -> float:
    return float(sum(square[word, head] for word, head in enumerate(heads, start=1)))


def best_score(square: NDArray[np.float64], trees: Sequence[Heads]) -> float:
    """The score of the best of some trees over the same words."""
    heads = np.array(trees)
    return float(square[np.arange(1, len(square)), heads].sum(axis=1).max())


def random_tree(words: int, rng: np.random.Generator) -> list[int]:
    """Each word hangs from one that comes before it in a random order of the words."""
    order = rng.permutation(words) + 1
    heads = [0] * words
    for place in range(1, words):
        heads[order[place] - 1] = int(order[rng.integers(place)])
    return heads
