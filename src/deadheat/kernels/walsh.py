"""Sums over pairs of differences with weights, for the Bayesian signed-rank test."""

from __future__ import annotations

from deadheat.kernels.native import kernel


@kernel("f8 i8 i8 i8 f8 f8")
def pair_mass(weights, order, below, reached, upto, mass):
    """Fill `mass`, one a row of weights, with the share of pairs whose sum lies below a bound, and half of those on it.

    `order` sorts the differences; the ith smallest is below the bound together with the below[i] smallest, and below
    or on it with the reached[i] smallest. `upto` is room for one number more than there are differences.
    """
    size = order.size
    for row in range(mass.size):
        base = row * size
        running = 0.0
        upto[0] = 0.0
        for i in range(size):
            running += weights[base + order[i]]
            upto[i + 1] = running
        total = 0.0
        for i in range(size):
            total += weights[base + order[i]] * (upto[below[i]] + upto[reached[i]])
        mass[row] = total / (2.0 * running * running)
    return 0
