"""The tables of docs/calibration.md: error rates and coverage on made-up test sets without a true difference.

Takes about a minute; `python -m benchmarks.calibration`.
"""

from __future__ import annotations

import numpy as np

from benchmarks.timing import table
from deadheat.questions.pairwise import pair_p
from deadheat.results.compare import PairwiseSettings
from deadheat.stats.estimates import RunScores
from deadheat.stats.intervals import bootstrap, difference
from deadheat.stats.paired import TESTS
from tests.stats.worlds import WORLDS, World, accuracy, draw

RUNS, RESAMPLES, ALPHA = 300, 500, 0.05


def error_rate(world: World, test: str, *, by: str = "unit") -> str:
    """The share of test sets on which a difference is found, in percent."""
    settings = PairwiseSettings(test, alpha=ALPHA, resamples=RESAMPLES if by == "unit" else 10)
    found = 0
    for run in range(RUNS):
        first, second = draw(world, np.random.default_rng([run, 7]), by=by)
        found += pair_p(first, second, accuracy, settings)[0] <= ALPHA
    return f"{100 * found / RUNS:.1f}"


def coverage(world: World) -> list[str]:
    """The share of test sets on which each interval holds the truth, in percent."""
    truth, hits = world.true_score(), np.zeros(5)
    for run in range(RUNS):
        rng = np.random.default_rng([run, 9])
        first, second = draw(world, rng)
        single = RunScores.of(first[None], accuracy)
        intervals = [
            (bootstrap(first, accuracy, rng=rng, resamples=RESAMPLES), truth),
            (bootstrap(first, accuracy, rng=rng, resamples=RESAMPLES, method="bca"), truth),
            (difference(first, second, accuracy, rng=rng, resamples=RESAMPLES), 0.0),
            (single.estimate().estimate.bounded_interval(len(first)), truth),
            (single.minus(RunScores.of(second[None], accuracy)).estimate.interval(), 0.0),
        ]
        hits += [interval.low <= true <= interval.high for interval, true in intervals]
    return [f"{100 * hit / RUNS:.1f}" for hit in hits]


def main() -> None:
    rows = []
    for world in WORLDS:
        skip = [test.startswith("mcnemar") and not world.items for test in TESTS]
        rows.append(
            [world.name, *("-" if no else error_rate(world, test) for test, no in zip(TESTS, skip, strict=True))]
        )
    print(table(["test sets", *TESTS], rows))
    methods = ["percentile", "bca", "bootstrapped difference", "clustered", "clustered difference"]
    print(table(["test sets", *methods], [[world.name, *coverage(world)] for world in WORLDS]))
    print(f"documents, resampled by token: {error_rate(WORLDS[-1], 'permutation-exact', by='token')}")


if __name__ == "__main__":
    main()
