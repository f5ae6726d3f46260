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


@helper
def draw(key, resample, units, weights, base):
    """Put into weights[base:] how often each unit is drawn in a resample.

    Each 64-bit number gives two draws: a half h picks unit h * units / 2^32. The chance of a unit is off by less
    than units / 2^32 of itself.
    """
    for unit in range(units):
        weights[base + unit] = 0.0
    state = scramble(key[0] + GOLDEN * np.uint64(resample + 1))
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


@kernel("u8 int int int f8")
def draw_weights(key, first, resamples, units, weights):
    """Fill one row a resample, first.. onwards, with the number of times each of `units` units is drawn."""
    for row in range(resamples):
        draw(key, first + row, units, weights, row * units)
    return 0


@kernel("u8 int int int f8 f8 f8")
def sum_resamples(key, first, resamples, units, counts, weights, sums):
    """Fill one row a resample, first.. onwards, with the sums over the drawn units of each field of `counts`.

    `counts` has a row a field, so that four sums run side by side; `weights` is room for one resample.
    """
    fields = len(counts) // units
    whole = units - units % 4
    for row in range(resamples):
        draw(key, first + row, units, weights, 0)
        for field in range(fields):
            base = field * units
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for unit in range(0, whole, 4):
                a += weights[unit] * counts[base + unit]
                b += weights[unit + 1] * counts[base + unit + 1]
                c += weights[unit + 2] * counts[base + unit + 2]
                d += weights[unit + 3] * counts[base + unit + 3]
            for unit in range(whole, units):
                a += weights[unit] * counts[base + unit]
            sums[row * fields + field] = (a + b) + (c + d)
    return 0
