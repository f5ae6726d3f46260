"""A ranking over a million subsets of data sets, against plain numpy: CPU time in one run, and memory.

And the exact answers: all pairs counted, all extremes proved.
"""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np

from benchmarks.timing import DATA, cpu, peak_memory, table
from deadheat.ranking.exact import count_sums, extreme_ranks
from deadheat.ranking.integers import IntegerScores, integer_scores
from deadheat.ranking.subsets import free, rank_over_subsets

SYSTEMS, DATASETS, SIZE, SAMPLES = 26, 82, 10, 1_000_000
SCALED = 100_000  # subsets that numpy is run with; its time is scaled up
MEMORY = f"""
import numpy as np
from deadheat.ranking.integers import integer_scores
from deadheat.ranking.subsets import free, rank_over_subsets
rng = np.random.default_rng(0)
scores = integer_scores(np.round(rng.normal(70, 10, ({SYSTEMS}, {DATASETS})), 2))
rank_over_subsets(scores, free({DATASETS}, {SIZE}), samples={SAMPLES}, rng=rng)
"""


def real_or_made() -> IntegerScores:
    """LAS of the CoNLL 2018 shared task where it lies beside us, else a made-up table of its size."""
    path = DATA / "scores" / "conll18_scores.csv.gz"
    if path.exists():
        from deadheat.tables.scores import read_score_table

        return integer_scores(read_score_table(path, metric="las").scores_SD)
    rng = np.random.default_rng(0)
    return integer_scores(np.round(rng.normal(70, 10, (SYSTEMS, DATASETS)) - np.arange(SYSTEMS)[:, None], 2))


def plain_numpy(scores: IntegerScores, samples: int) -> np.ndarray:
    """The same histogram of ranks and counts of wins, in blocks of 10,000 subsets."""
    rng = np.random.default_rng(0)
    systems = scores.systems
    counts, wins = np.zeros((systems, systems), int), np.zeros((systems, systems), int)
    for _ in range(samples // 10_000):
        chosen = np.argpartition(rng.random((10_000, scores.datasets)), SIZE, axis=1)[:, :SIZE]
        sums = scores.above_SD.T[chosen].sum(axis=1)
        ahead = sums[:, :, None] > sums[:, None, :]
        wins += ahead.sum(axis=0)
        ranks = ahead.sum(axis=1)
        for system in range(systems):
            counts[system] += np.bincount(ranks[:, system], minlength=systems)
    return counts


def main() -> None:
    scores = real_or_made()
    every_pair = list(combinations(range(scores.systems), 2))
    rng = np.random.default_rng(0)
    ours = cpu(lambda: rank_over_subsets(scores, free(DATASETS, SIZE), samples=SAMPLES, rng=rng), repeats=5)
    theirs = cpu(lambda: plain_numpy(scores, SCALED), repeats=1) * SAMPLES / SCALED
    pairs = cpu(lambda: [count_sums(scores.above_SD[a] - scores.above_SD[b], SIZE) for a, b in every_pair], repeats=3)
    start = time.process_time()
    found = extreme_ranks(scores, SIZE)
    extremes = time.process_time() - start
    proved = sum(each.rank == each.bound for both in found for each in both)
    rows = [
        ["deadheat: ranks, pairs and tau", f"{ours:.2f}", "1"],
        ["numpy: ranks and pairs", f"{theirs:.2f}", f"{theirs / ours:.0f}"],
        [f"deadheat: {len(every_pair)} pairs over all subsets, exactly", f"{pairs:.2f}", "-"],
        [f"deadheat: {proved} of {2 * scores.systems} extreme ranks over all subsets, proved", f"{extremes:.2f}", "-"],
    ]
    shape = f"{SAMPLES:,} subsets of {SIZE} of {DATASETS} data sets, {SYSTEMS} systems"
    print(table([shape, "s CPU", "times as long"], rows))
    print(f"memory for a million subsets: {peak_memory(MEMORY) / 1e6:.0f} MB in all")


if __name__ == "__main__":
    main()
