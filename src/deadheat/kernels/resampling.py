"""Resampling: bootstrap draws, random swaps of two systems' counts, and statistics of resampled scores.

Resample b depends on (key, b) only, so that more resamples keep the old ones and block sizes change nothing.

Swaps: units come in groups of eight. For every group a table holds, for each of the 256 subsets of its units, the sum
of their differences; a random byte picks the entry. Sorted scores: a resample is how often each score was drawn.
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
def draw_two(state, size):
    """Two draws from `size` units: a half h of a 64-bit number picks unit h * size / 2^32."""
    number = scramble(state)
    return np.int64(((number & LOW_HALF) * size) >> HALF), np.int64(((number >> HALF) * size) >> HALF)


@kernel("u8 int int int f8")
def draw_weights(key, first, resamples, units, weights):
    """Fill one row a resample, first.. onwards, with the number of times each of `units` units is drawn.

    The chance of a unit is off by less than units / 2^32 of itself.
    """
    size = np.uint64(units)
    for row in range(resamples):
        base = row * units
        weights[base : base + units] = 0.0
        state = scramble(key[0] + GOLDEN * np.uint64(first + row + 1))
        left = units
        while left > 0:
            state += GOLDEN
            one, two = draw_two(state, size)
            weights[base + one] += 1.0
            if left > 1:
                weights[base + two] += 1.0
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
                left, right = draw_two(state, size)
                one += rows[left]
                two += rows[right]
            if units % 2:
                one += rows[draw_two(state + GOLDEN, size)[0]]
            sums[row] = one + two
            continue
        base = row * words
        sums[base : base + words] = 0
        for drawn in range(0, units, 2):
            state += GOLDEN
            left, right = draw_two(state, size)
            for word in range(words):
                sums[base + word] += rows[left * words + word]
                if drawn + 1 < units:
                    sums[base + word] += rows[right * words + word]
    return 0


@kernel("i8 int int i8")
def tabulate(differences, units, fields, tables):
    """Fill the tables: entry (group, choice, field) is the sum over the units of a group that a byte chooses."""
    groups = (units + 7) // 8
    for group in range(groups):
        base = group * 256 * fields
        tables[base : base + fields] = 0
        for choice in range(1, 256):
            bit = 0
            while not (choice >> bit) & 1:
                bit += 1
            unit = group * 8 + bit
            rest = base + (choice & (choice - 1)) * fields
            for field in range(fields):
                value = differences[unit * fields + field] if unit < units else 0
                tables[base + choice * fields + field] = tables[rest + field] + value
    return groups


@kernel("u8 int int int int i8 i8")
def swap_sums(key, first, resamples, groups, fields, tables, sums):
    """Fill one row a resample, first.. onwards, with the summed differences of the units that are swapped in it."""
    for row in range(resamples):
        state = scramble(key[0] + GOLDEN * np.uint64(first + row + 1))
        base = row * fields
        for field in range(fields):
            sums[base + field] = 0
        group = np.int64(0)
        while group < groups:
            state += GOLDEN
            bits = scramble(state)
            last = min(group + 8, groups)
            while group < last:
                entry = (group * 256 + np.int64(bits & np.uint64(255))) * fields
                for field in range(fields):
                    sums[base + field] += tables[entry + field]
                bits >>= np.uint64(8)
                group += 1
    return 0


@helper
def violation_ratio(scores, weights, first, second):
    """The share of the squared distance between two quantile functions where the first lies below the second.

    `first` and `second` are (start in scores, runs, start in weights). Score i of n is the quantile function over a
    width of weight_i / n; in units of 1 / nm all widths are whole numbers, and the breakpoints of both are merged.
    """
    start_a, runs_a, weights_a = first
    start_b, runs_b, weights_b = second
    width_a, width_b = np.float64(runs_b), np.float64(runs_a)
    left = width_a * width_b
    a = b = 0
    left_a, left_b = weights[weights_a] * width_a, weights[weights_b] * width_b
    below = above = 0.0
    while left > 0.0:
        while left_a == 0.0:
            a += 1
            left_a = weights[weights_a + a] * width_a
        while left_b == 0.0:
            b += 1
            left_b = weights[weights_b + b] * width_b
        width = min(left_a, left_b)
        gap = scores[start_a + a] - scores[start_b + b]
        if gap < 0.0:
            below += width * gap * gap
        else:
            above += width * gap * gap
        left_a -= width
        left_b -= width
        left -= width
    # Two equal distributions violate the order either way, and equally.
    return below / (below + above) if below + above > 0.0 else 0.5


@kernel("f8 i8 f8 int f8 f8 f8")
def violation_sums(scores, starts, weights, rows, centres, sums, squares):
    """Add up, over resamples, how far the violation ratio of each pair of systems lies from its centre, and squares.

    The sorted scores of system s are scores[starts[s]:starts[s + 1]], its weights one row a resample from
    starts[s] * rows on. Pairs are (0, 1), (0, 2), ..., (1, 2), ...
    """
    systems = starts.size - 1
    pair = 0
    for a in range(systems):
        runs_a = starts[a + 1] - starts[a]
        for b in range(a + 1, systems):
            runs_b = starts[b + 1] - starts[b]
            for row in range(rows):
                first = (starts[a], runs_a, starts[a] * rows + row * runs_a)
                second = (starts[b], runs_b, starts[b] * rows + row * runs_b)
                distance = violation_ratio(scores, weights, first, second) - centres[pair]
                sums[pair] += distance
                squares[pair] += distance * distance
            pair += 1
    return pair


@kernel("u8 f8 i8 i8 i8 f8")
def resampled_interquartile_means(key, scores, places, starts, drawn, means):
    """Fill `means`, one a resample, with the interquartile mean after drawing runs anew within each data set.

    `scores` are all scores, sorted; the runs of data set d are at places[starts[d]:starts[d + 1]] of them. `drawn`
    is workspace, as long as there are scores.
    """
    size = scores.size
    cut = size // 4
    for resample in range(means.size):
        drawn[:] = 0
        state = scramble(key[0] + GOLDEN * np.uint64(resample + 1))
        for data_set in range(starts.size - 1):
            start = starts[data_set]
            runs = starts[data_set + 1] - start
            left = runs
            while left > 0:
                state += GOLDEN
                one, two = draw_two(state, np.uint64(runs))
                drawn[places[start + one]] += 1
                if left > 1:
                    drawn[places[start + two]] += 1
                left -= 2
        total = 0.0
        seen = 0
        for at in range(size):
            kept = min(seen + drawn[at], size - cut) - max(seen, cut)
            seen += drawn[at]
            if kept > 0:
                total += kept * scores[at]
        means[resample] = total / (size - 2 * cut)
    return 0
