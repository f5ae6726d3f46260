"""Lattice paths: in what order the scores of two systems may stand."""

from __future__ import annotations

from deadheat.kernels.native import kernel


@kernel("i8 int int int f8 f8")
def crossing_probability(ends, runs_a, runs_b, distance, row, probability):
    """The chance that two empirical distribution functions come at least distance / (runs_a runs_b) apart.

    A path of runs_a steps up and runs_b to the right, all equally likely, stands for the order of the scores;
    row[b] is the chance to be at (a, b) without having been too far from the diagonal. Scores that are tied are no
    steps of their own: ends[k] says whether the kth smallest score is the last of its value. All that is added is
    positive, so that small chances are as exact as large ones.
    """
    probability[0] = 0.0
    for b in range(runs_b + 1):
        row[b] = 0.0
    row[0] = 1.0
    for a in range(runs_a + 1):
        for b in range(runs_b + 1):
            if a + b > 0:
                left = runs_a + runs_b - a - b + 1
                here = row[b] * (runs_a - a + 1) if a > 0 else 0.0
                if b > 0:
                    here += row[b - 1] * (runs_b - b + 1)
                here /= left
                if ends[a + b - 1] and abs(a * runs_b - b * runs_a) >= distance:
                    probability[0] += here
                    here = 0.0
                row[b] = here
    return 0
