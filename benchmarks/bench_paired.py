"""Paired tests against scipy's: CPU time in one run, and memory for a very large one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.timing import cpu, peak_memory, table
from deadheat.metrics.metric import accuracy
from deadheat.stats.paired import paired_bootstrap, permutation_exact, randomization

RESAMPLES = 100_000
SCALED = 5_000  # resamples the peers are run with; their time is scaled up
MEMORY = """
import numpy as np
from deadheat.metrics.metric import accuracy
from deadheat.stats.paired import paired_bootstrap, randomization
rng = np.random.default_rng(0)
gold = rng.integers(1, 30, 1_000_000)
a, b = (np.stack([rng.binomial(gold, p), gold, gold], axis=1) for p in (0.85, 0.849))
randomization(a, b, accuracy, rng=rng, resamples={resamples})
paired_bootstrap(a, b, accuracy, rng=rng, resamples=20)
"""


def sentences(count: int) -> tuple[Any, Any]:
    """Counts of two systems on sentences of 1 to 30 words."""
    rng = np.random.default_rng(0)
    gold = rng.integers(1, 30, count)
    first, second = (np.stack([rng.binomial(gold, p), gold, gold], axis=1) for p in (0.85, 0.845))
    return first, second


def tokens(count: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    one = np.ones(count, np.int64)
    first, second = (np.stack([(rng.random(count) < p).astype(np.int64), one, one], axis=1) for p in (0.9, 0.898))
    return first, second


def theirs_randomization(first: Any, second: Any, resamples: int) -> None:
    from scipy.stats import permutation_test

    def statistic(a: Any, b: Any, axis: int) -> Any:
        return a.sum(axis=axis) - b.sum(axis=axis)

    permutation_test(
        (first[:, 0], second[:, 0]),
        statistic,
        permutation_type="samples",
        n_resamples=resamples,
        batch=500,
        vectorized=True,
    )


def theirs_bootstrap(first: Any, second: Any, resamples: int) -> None:
    from scipy.stats import bootstrap

    total = first[:, 1].sum()

    def statistic(a: Any, b: Any, axis: int) -> Any:
        return (a.sum(axis=axis) - b.sum(axis=axis)) / total

    data = (first[:, 0], second[:, 0])
    bootstrap(data, statistic, paired=True, n_resamples=resamples, batch=500, method="percentile", vectorized=True)


def main() -> None:
    rng = np.random.default_rng(0)
    a, b = sentences(2000)
    x, y = tokens(25_000)
    works: list[tuple[str, Callable[[], object], Callable[[], object], float]] = [
        (
            "randomization, 2,000 sentences, 100,000 resamples",
            lambda: randomization(a, b, accuracy, rng=rng, resamples=RESAMPLES),
            lambda: theirs_randomization(a, b, SCALED),
            RESAMPLES / SCALED,
        ),
        (
            "exact permutation, 25,000 tokens (scipy: 10,000 resamples)",
            lambda: permutation_exact(x, y),
            lambda: theirs_randomization(x, y, 1000),
            10,
        ),
        (
            "paired bootstrap, 2,000 sentences, 100,000 resamples",
            lambda: paired_bootstrap(a, b, accuracy, rng=rng, resamples=RESAMPLES),
            lambda: theirs_bootstrap(a, b, SCALED),
            RESAMPLES / SCALED,
        ),
    ]
    rows = []
    for name, ours, theirs, scale in works:
        own, other = cpu(ours, repeats=3), cpu(theirs, repeats=1) * scale
        rows.append([name, f"{1000 * own:.1f}", f"{1000 * other:.0f}", f"{other / own:.0f}"])
    print(table(["work", "ours, ms CPU", "scipy, ms CPU", "times faster"], rows))
    used = peak_memory(MEMORY.format(resamples=2000))
    print(f"memory for 1,000,000 units, drawn in blocks: {used / 1e6:.0f} MB in all, whatever the number of resamples")


if __name__ == "__main__":
    main()
