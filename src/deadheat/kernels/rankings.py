"""Two rankings compared pair by pair, for many rankings at once."""

from __future__ import annotations

import numpy as np

from deadheat.kernels.native import helper, kernel


@helper
def twins_before(x, y, first, second, i):
    """How many earlier items equal item i in both rankings."""
    count = 0
    for j in range(i):
        count += np.int64(x[first + j] == x[first + i]) & np.int64(y[second + j] == y[second + i])
    return count


@kernel("f8 f8 int int int f8 f8")
def tau_sums(x, y, rows, size, step, weights, sums):
    """Fill six sums a row: those of Kendall's tau weighted by the rank in x, then those weighted by the rank in y.

    Each three are the sums over pairs of (weight of one + weight of the other) times: 1 if both rankings order the
    pair alike, -1 if not; 1 if x orders it; 1 if y orders it. Row b of x stands against row b of y, or with `step` 0
    against the only one. `weights` has the weight of every rank, the greatest value first; ranks in x are broken by
    y, and the other way round. A sum over pairs of (u + v) is a sum over items of u times what the item has with all
    others, so the inner loop only counts.
    """
    for row in range(rows):
        first = row * size
        second = row * step
        for k in range(6):
            sums[6 * row + k] = 0.0
        for i in range(size):
            xi = x[first + i]
            yi = y[second + i]
            alike = np.int64(0)
            by_x = np.int64(0)
            by_y = np.int64(0)
            ahead_x = np.int64(0)
            ahead_y = np.int64(0)
            twins = np.int64(0)
            for j in range(size):
                more_x = np.int64(x[first + j] > xi)
                less_x = np.int64(x[first + j] < xi)
                more_y = np.int64(y[second + j] > yi)
                less_y = np.int64(y[second + j] < yi)
                differ_x = more_x | less_x
                differ_y = more_y | less_y
                alike += (more_x - less_x) * (more_y - less_y)
                by_x += differ_x
                by_y += differ_y
                ahead_x += more_x + (more_y & (1 - differ_x))
                ahead_y += more_y + (more_x & (1 - differ_y))
                twins += 1 - (differ_x | differ_y)
            if twins > 1:
                before = twins_before(x, y, first, second, i)
                ahead_x += before
                ahead_y += before
            sums[6 * row] += weights[ahead_x] * alike
            sums[6 * row + 1] += weights[ahead_x] * by_x
            sums[6 * row + 2] += weights[ahead_x] * by_y
            sums[6 * row + 3] += weights[ahead_y] * alike
            sums[6 * row + 4] += weights[ahead_y] * by_x
            sums[6 * row + 5] += weights[ahead_y] * by_y
    return 0
