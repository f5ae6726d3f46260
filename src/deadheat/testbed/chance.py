"""Luck that is the same everywhere.

Every draw comes from `random.Random.random`, the one stream that Python promises never to change, so a text
depends on its key alone: not on the platform, the version of Python, or the order of a set.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate
from statistics import NormalDist
from typing import Generic, TypeVar

T = TypeVar("T")

STANDARD_NORMAL = NormalDist()

# `random` may return 0.0, where the normal quantile is infinite.
SMALLEST_DRAW = 2.0**-54


class Chance:
    """A stream of draws named by its key: the same key gives the same draws, another key other ones."""

    __slots__ = ("random",)

    def __init__(self, *key: str | int) -> None:
        name = "\x1f".join(str(part) for part in key)
        number = int.from_bytes(sha256(name.encode()).digest(), "big")
        self.random = random.Random(number).random

    def happens(self, probability: float) -> bool:
        """Whether an event of this probability happens."""
        return self.random() < probability

    def below(self, bound: int) -> int:
        """A whole number from 0 to `bound - 1`, all equally likely."""
        return int(self.random() * bound)

    def choose(self, items: Sequence[T]) -> T:
        """One of the items, all equally likely."""
        return items[int(self.random() * len(items))]

    def draw(self, weighted: Weighted[T]) -> T:
        """One of the items, by their weights."""
        place = bisect_right(weighted.cumulative, self.random() * weighted.cumulative[-1], 0, weighted.last)
        return weighted.items[place]

    def normal(self) -> float:
        """A draw from the standard normal distribution."""
        return STANDARD_NORMAL.inv_cdf(self.random() or SMALLEST_DRAW)


@dataclass(frozen=True, slots=True)
class Weighted(Generic[T]):
    """Items with the cumulative sums of their weights, ready to be drawn from."""

    items: tuple[T, ...]
    cumulative: tuple[float, ...]
    last: int


def weighted(items: Iterable[T], weights: Iterable[float]) -> Weighted[T]:
    """Items to be drawn in proportion to their weights.

    Examples
    --------
    >>> coin = weighted(["heads", "tails"], [3, 1])
    >>> chance = Chance("a biased coin")
    >>> sum(chance.draw(coin) == "heads" for _ in range(1000))
    724
    """
    items = tuple(items)
    cumulative = tuple(accumulate(weights))
    assert len(items) == len(cumulative) > 0
    return Weighted(items, cumulative, len(items) - 1)


def zipfian(items: Sequence[T], *, exponent: float, shift: float = 2.7) -> Weighted[T]:
    """Items by rank, the r-th with weight `1 / (r + shift) ** exponent`: Zipf's law as Mandelbrot put it."""
    return weighted(items, ((rank + shift) ** -exponent for rank in range(1, len(items) + 1)))
