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
    size = np.uint64(units)
    for row in range(resamples):
        base = row * units
        for unit in range(units):
            weights[base + unit] = 0.0
        state = scramble(key[0] + GOLDEN * np.uint64(first + row + 1))
        left = units
        while left > 0:
            state += GOLDEN
            number = scramble(state)
            weights[base + np.int64(((number & LOW_HALF) * size) >> HALF)] += 1.0
            if left > 1:
                weights[base + np.int64(((number >> HALF) * size) >> HALF)] += 1.0
            left -= 2
    return 0


@kernel("u8 int int int u8 u8")
def sum_draws(key, first, resamples, units, rows, sums):
    """Fill `sums` with what the units add up to that `draw_weights` would draw, one row a resample.

    A unit's row is as many 64-bit numbers as `rows` has for each, and each may hold several counts side by side.
    """
    size = np.uint64(units)
    words = len(rows) // units
    for row in range(resamples):
        state = scramble(key[0] + GOLDEN * np.uint64(first + row + 1))
        if words == 1:
            one, two = np.uint64(0), np.uint64(0)
            for _ in range(units // 2):
                state += GOLDEN
                number = scramble(state)
                one += rows[np.int64(((number & LOW_HALF) * size) >> HALF)]
                two += rows[np.int64(((number >> HALF) * size) >> HALF)]
            if units % 2:
                number = scramble(state + GOLDEN)
                one += rows[np.int64(((number & LOW_HALF) * size) >> HALF)]
            sums[row] = one + two
            continue
        for word in range(words):
            sums[row * words + word] = np.uint64(0)
        left = units
        while left > 0:
            state += GOLDEN
            number = scramble(state)
            at = np.int64(((number & LOW_HALF) * size) >> HALF) * words
            for word in range(words):
                sums[row * words + word] += rows[at + word]
            if left > 1:
                at = np.int64(((number >> HALF) * size) >> HALF) * words
                for word in range(words):
                    sums[row * words + word] += rows[at + word]
            left -= 2
    return 0
