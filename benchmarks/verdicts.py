"""The first tables of docs/calibration.md: how often verdicts err, and what they find; `python -m benchmarks.verdicts`.

Whole comparisons of simulated experiments go through the functions behind the commands. Takes about ten minutes with
1,000 worlds a row; `--worlds 200` is faster. `--command` goes through `deadheat compare FILE --json` instead, on items.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.timing import table
from deadheat.questions.pairwise import pair_p
from deadheat.results.compare import Comparison, PairwiseSettings
from tests.questions.item_worlds import BY_COMMAND, ItemDesign, compared_by_command, naive_wins, wins
from tests.questions.item_worlds import DESIGNS as ITEM_DESIGNS
from tests.questions.item_worlds import compared as compared_items
from tests.questions.test_power_items import EFFECTS, SIMULATED, planned, simulated
from tests.questions.test_verdict_calibration import any_win_over_splits
from tests.questions.verdict_worlds import (
    DESIGNS,
    DESIGNS_ELSEWHERE,
    METRIC,
    SPLIT_DESIGNS,
    Design,
    SplitDesign,
    any_win,
    any_win_elsewhere,
    compared,
    draw,
    rate,
    splits_estimates,
    true_score,
)

COVERAGE = [
    Design("3 documents", sentences=100, documents=3, document_sd=0.3),
    Design("5 documents", sentences=150, documents=5, document_sd=0.3),
    Design("10 documents", sentences=200, documents=10, document_sd=0.3),
    Design("30 documents", sentences=400, documents=30, document_sd=0.3),
    Design("60 sentences", sentences=60),
    Design("300 sentences", sentences=300),
    Design("300 sentences, score near 100", sentences=300, base=5.0),
    Design("150 sentences, 5 runs", sentences=150, runs=5, run_sd=0.2),
]


def percent(number: int, worlds: int) -> str:
    return f"{100 * number / worlds:.1f}"


def first_runs_by_sentence(design: Design, rng: np.random.Generator, effect: float) -> bool:
    """What was usual: the first runs alone, by sentence, with the exact permutation test."""
    dataset = draw(design, rng, effect=effect)[0]
    counts = dataset.other_counts if dataset.unit == "document" and dataset.other_counts else dataset.counts
    first, second = (counts[name][0] for name in ("s0", "s1"))
    return pair_p(first, second, METRIC.value, PairwiseSettings("permutation-exact"))[0] <= 0.05


def usual_rate(design: Design, worlds: int, effect: float) -> str:
    return percent(rate(lambda rng: first_runs_by_sentence(design, rng, effect), worlds), worlds)


def elsewhere_row(design: Design, worlds: int) -> list[str]:
    """Errors about other data sets, where systems are equal on average over all of them."""
    return [design.name, percent(rate(lambda rng: any_win_elsewhere(compared(design, rng)), worlds), worlds)]


def row(design: Design, worlds: int) -> list[str]:
    """Errors and power of the verdict, and of the usual test where there is one data set and two systems."""
    effect = 0.15

    def wins(verdict: Callable[[Comparison], bool], effect: float) -> str:
        return percent(rate(lambda rng: verdict(compared(design, rng, effect=effect)), worlds), worlds)

    usual = ["-", "-"]
    if design.datasets == 1 and design.systems == 2:
        usual = [usual_rate(design, worlds, shift) for shift in (0.0, effect)]
    elsewhere = wins(any_win_elsewhere, 0.0) if design.datasets > 1 else "-"
    return [design.name, wins(any_win, 0.0), elsewhere, wins(any_win, effect), *usual]


def split_row(design: SplitDesign, worlds: int) -> list[str]:
    """Errors and power over random splits."""
    false = rate(lambda rng: any_win_over_splits(design, rng), worlds)
    found = (
        rate(lambda rng: splits_estimates(design, rng, effect=0.01)[0].p <= 0.05, worlds) if design.systems == 2 else 0
    )
    return [design.name, percent(false, worlds), percent(found, worlds) if design.systems == 2 else "-"]


def coverage_row(design: Design, worlds: int) -> list[str]:
    """How often the interval of a score has the truth in it, and that of the difference."""
    truth, score, difference = true_score(design), 0, 0
    for world in range(worlds):
        result = compared(design, np.random.default_rng([9, world]))
        score += result.systems[0].interval.low <= truth <= result.systems[0].interval.high
        difference += result.pairs[0].interval.low <= 0 <= result.pairs[0].interval.high
    return [design.name, percent(score, worlds), percent(difference, worlds)]


def power_row(design: ItemDesign, effect: float, worlds: int) -> list[str]:
    """Power as `power` plans it from a pilot, and as `compare` has it."""
    return [design.name, f"{100 * planned(design, effect).power:.1f}", f"{100 * simulated(design, effect, worlds):.1f}"]


def item_row(design: ItemDesign, worlds: int) -> list[str]:
    """Errors and power on scores of items, and the errors of a test that takes every answer for an item."""
    false = rate(lambda rng: wins(compared_items(design, rng)), worlds)
    usual = rate(lambda rng: naive_wins(design, rng), worlds)
    found = rate(lambda rng: wins(compared_items(design, rng, effect=0.5)), worlds)
    return [design.name, percent(false, worlds), percent(usual, worlds), percent(found, worlds)]


def command_row(design: ItemDesign, worlds: int) -> list[str]:
    """Errors of the command on files, and of the function on the same worlds."""
    with TemporaryDirectory(prefix="deadheat-verdicts-") as name:
        by_command = rate(lambda rng: wins(compared_by_command(design, rng, Path(name))), worlds)
    by_function = rate(lambda rng: wins(compared_items(design, rng)), worlds)
    return [design.name, percent(by_command, worlds), percent(by_function, worlds)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--command", action="store_true", help="scores of items alone, by the command and files")
    options = parser.parse_args()
    worlds: int = options.worlds
    if options.command:
        heads = ["two equal models", "false wins, deadheat compare FILE", "compare_items"]
        rows = [command_row(design, worlds) for design in ITEM_DESIGNS if design.name in BY_COMMAND]
        print(table(heads, rows))
        return
    heads = ["equal systems", "false wins", "for others", "power", "usual: false wins", "usual: power"]
    print(table(heads, [row(design, worlds) for design in DESIGNS]))
    rows = [elsewhere_row(design, worlds) for design in DESIGNS_ELSEWHERE]
    print(table(["equal over all data sets, not on these", "false wins for others"], rows))
    designs = [*SPLIT_DESIGNS, SplitDesign("20 splits, 10 systems", systems=10)]
    print(table(["random splits", "false wins", "power"], [split_row(design, worlds) for design in designs]))
    planned_rows = [power_row(design, effect, worlds) for design, effect in zip(SIMULATED, EFFECTS, strict=True)]
    print(table(["scores of items", "planned power", "simulated"], planned_rows))
    heads = ["two equal models", "false wins", "usual: false wins", "power"]
    print(table(heads, [item_row(design, worlds) for design in ITEM_DESIGNS]))
    print(table(["95% intervals", "score", "difference"], [coverage_row(design, worlds) for design in COVERAGE]))


if __name__ == "__main__":
    main()
