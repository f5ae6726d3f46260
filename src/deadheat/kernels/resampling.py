"""Bootstrap weights: how often each unit is drawn in a resample.

Resample b depends on (key, b) alone, so that more resamples keep the old ones and block sizes change nothing.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
LOW_HALF, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


@helper
def scramble(state):
    """The output function of splitmix64 (Steele, Lea and Flood 2014)."""
    state = (state ^ (state >> np.uint64(30))) * FIRST_FACTOR
    state = (state ^ (state >> np.uint64(27))) * SECOND_FACTOR
    return state ^ (state >> np.uint64(31))


@kernel("u8 int int int f8")
def draw_weights(key, first, resamples, units, weights):
    """Fill one row a resample, first.. onwards, with the number of times each of `units` units is drawn.

    Each 64-bit number gives two draws: a half h picks unit h * units / 2^32. The chance of a unit is off by less
    than units / 2^32 of itself.
    """
    for row in range(resamples):
        base = row * units
        for unit in range(units):
            weights[base + unit] = 0.0
        state = scramble(key[0] + GOLDEN * np.uint64(first + row + 1))
        size = np.uint64(units)
        left = units
        while left > 0:
            state += GOLDEN
            number = scramble(state)
            weights[base + np.int64(((number & LOW_HALF) * size) >> HALF)] += 1.0
            if left > 1:
                weights[base + np.int64(((number >> HALF) * size) >> HALF)] += 1.0
            left -= 2
    return 0
