"""Made-up test sets on which two systems are equally good."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


def accuracy(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(sums[..., 0] / np.maximum(sums[..., 1], 1))


def f1(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(2 * sums[..., 0] / np.maximum(sums[..., 1] + sums[..., 2], 1))


@dataclass(frozen=True)
class World:
    """How test sets come about: so many units of so many tokens, how far errors are shared, and how units differ."""

    name: str
    units: int
    longest: int  # tokens of a unit: 1 to this
    shared: float  # the share of tokens on which the systems do the same
    spread: float  # standard deviation of a unit's own difficulty, in logits, for both systems
    own: float  # ... and of its difficulty for one system alone

    @property
    def items(self) -> bool:
        return self.longest == 1

    def true_score(self) -> float:
        """The expected share of tokens that a system has right, by a large sample."""
        first, _ = draw(
            World(self.name, 200_000, self.longest, self.shared, self.spread, self.own), np.random.default_rng(0)
        )
        return float(first[:, 0].sum() / first[:, 1].sum())


WORLDS = [
    World("tokens", 400, 1, 0.8, 0.0, 0.0),
    World("few tokens", 60, 1, 0.7, 0.0, 0.0),
    World("sentences", 150, 25, 0.7, 0.0, 0.0),
    World("hard sentences", 150, 25, 0.7, 1.0, 0.3),
    World("documents", 100, 120, 0.5, 0.8, 0.6),
]


def draw(world: World, rng: np.random.Generator, *, by: str = "unit") -> tuple[Counts, Counts]:
    """Counts of two equally good systems, one row a unit or one row a token."""
    size = rng.integers(1, world.longest + 1, world.units)
    unit = np.repeat(np.arange(world.units), size)
    hard = rng.normal(0, world.spread, world.units)
    chance = [1 / (1 + np.exp(-(1.5 + hard + rng.normal(0, world.own, world.units))))[unit] for _ in range(2)]
    common, draws = rng.random(len(unit)), rng.random((2, len(unit)))
    together = rng.random(len(unit)) < world.shared
    right = [np.where(together, common, own) < p for own, p in zip(draws, chance, strict=True)]
    if by == "token":
        one = np.ones(len(unit), np.int64)
        first, second = (np.stack([item.astype(np.int64), one, one], axis=1) for item in right)
        return first, second
    first, second = (np.stack([np.bincount(unit, item, world.units).astype(np.int64), size, size], 1) for item in right)
    return first, second
