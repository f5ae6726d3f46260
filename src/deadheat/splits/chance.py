"""Chance for splits: the same numbers on every machine and with every version of numpy.

Numpy keeps the bits of its generators the same from version to version, but not what its methods make of them. So
these functions use the bits alone.
"""

from __future__ import annotations

import numpy as np

from deadheat.corpus.vocabulary import Indices


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
