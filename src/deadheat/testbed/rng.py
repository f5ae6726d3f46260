"""Reproducible random draws.

All draws come from `random.Random.random`, whose output Python guarantees never to change, so a text depends on its key
only, and not on the platform, the version of Python, or the order of a set.
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


class Rng:
    """A random generator seeded by a key of strings and integers."""

    __slots__ = ("random",)

    def __init__(self, *key: str | int) -> None:
        name = "\x1f".join(str(part) for part in key)
        number = int.from_bytes(sha256(name.encode()).digest(), "big")
        self.random = random.Random(number).random

    def happens(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.random() < probability

    def below(self, bound: int) -> int:
        """Return an integer from 0 to `bound - 1`, all equally likely."""
        return int(self.random() * bound)

    def choose(self, items: Sequence[T]) -> T:
        """Return one of the items, all equally likely."""
        return items[int(self.random() * len(items))]

    def draw(self, weighted: Weighted[T]) -> T:
        """Return one of the items by their weights."""
        index = bisect_right(weighted.cumulative, self.random() * weighted.cumulative[-1], 0, weighted.last)
        return weighted.items[index]

    def normal(self) -> float:
        """Draw from the standard normal distribution."""
        return STANDARD_NORMAL.inv_cdf(self.random() or SMALLEST_DRAW)


@dataclass(frozen=True, slots=True)
class Weighted(Generic[T]):
    """Items with the cumulative sums of their weights."""

    items: tuple[T, ...]
    cumulative: tuple[float, ...]
    last: int


def weighted(items: Iterable[T], weights: Iterable[float]) -> Weighted[T]:
    """Prepare items to be drawn in proportion to their weights."""
    items = tuple(items)
    return Weighted(items, tuple(accumulate(weights)), len(items) - 1)


def zipfian(items: Sequence[T], *, exponent: float, shift: float = 2.7) -> Weighted[T]:
    """Prepare items by rank, with weights `1 / (rank + shift) ** exponent` (Zipf-Mandelbrot)."""
    return weighted(items, ((rank + shift) ** -exponent for rank in range(1, len(items) + 1)))
