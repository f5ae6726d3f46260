"""What is read off sorted scores, resample after resample: violation of order between two, the interquartile mean.

Scores are sorted once; a resample is then how often each of them was drawn, and stays sorted.
"""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel
from deadheat.kernels.resampling import GOLDEN, HALF, LOW_HALF, scramble


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
    is room for as many numbers as there are scores.
    """
    size = scores.size
    cut = size // 4
    for resample in range(means.size):
        for at in range(size):
            drawn[at] = 0
        state = scramble(key[0] + GOLDEN * np.uint64(resample + 1))
        for data_set in range(starts.size - 1):
            start = starts[data_set]
            left = starts[data_set + 1] - start
            runs = np.uint64(left)
            while left > 0:
                state += GOLDEN
                number = scramble(state)
                drawn[places[start + np.int64(((number & LOW_HALF) * runs) >> HALF)]] += 1
                if left > 1:
                    drawn[places[start + np.int64(((number >> HALF) * runs) >> HALF)]] += 1
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
