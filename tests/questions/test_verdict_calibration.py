"""Verdicts err as rarely as they say: whole comparisons of simulated experiments, through the commands' own functions.

Equal systems "win" in at most 5% of the worlds, and intervals cover the truth in 93 to 97%, as far as the number of
worlds can tell. `python -m benchmarks.verdicts` prints the table of docs/calibration.md.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from deadheat.questions.joint import PairEstimates, corrected_pairs
from deadheat.results.compare import PairwiseSettings
from deadheat.results.verdict import State
from tests.questions.verdict_worlds import (
    DESIGNS,
    DESIGNS_ELSEWHERE,
    SPLIT_DESIGNS,
    Design,
    SplitDesign,
    any_win,
    any_win_elsewhere,
    compared,
    rate,
    splits_estimates,
    true_score,
)

FEW, MANY = 60, 1000
SETTINGS = PairwiseSettings("clustered-t")


def at_most(worlds: int, share: float = 0.05) -> int:
    """The most worlds in which something of this share happens, but for one case in a thousand."""
    return int(binom.ppf(0.999, worlds, share))


def name(design: Design | SplitDesign) -> str:
    return design.name


def any_win_over_splits(design: SplitDesign, rng: np.random.Generator) -> bool:
    """Whether a study would call some system better, of all pairs, after correction."""
    names = itertools.combinations(map(str, range(design.systems)), 2)
    estimates = splits_estimates(design, rng)
    pairs = [PairEstimates(a, b, (item.value, 0.0), item) for (a, b), item in zip(names, estimates, strict=True)]
    return any(pair.winner(0.05) for pair in corrected_pairs(pairs, SETTINGS))


@pytest.mark.parametrize("design", DESIGNS, ids=name)
def test_equal_systems_seldom_win(design: Design) -> None:
    wins = rate(lambda rng: any_win(compared(design, rng)), FEW)
    assert wins <= at_most(FEW)


@pytest.mark.parametrize(("at", "effect"), [(3, 1.4), (4, 2.7), (5, 2.7)])
def test_documents_have_the_design_effect_that_their_world_is_named_by(at: int, effect: float) -> None:
    effects = [
        compared(DESIGNS[at], np.random.default_rng([6, world])).datasets[0].design_effect for world in range(60)
    ]
    assert f"design effect {effect}" in DESIGNS[at].name
    assert np.nanmean(effects) == pytest.approx(effect, rel=0.2)


@pytest.mark.parametrize("design", DESIGNS_ELSEWHERE, ids=name)
def test_systems_that_are_equal_on_average_over_all_data_sets_seldom_win_there(design: Design) -> None:
    wins = rate(lambda rng: any_win_elsewhere(compared(design, rng)), FEW)
    assert wins <= at_most(FEW)


@pytest.mark.parametrize("design", SPLIT_DESIGNS, ids=name)
def test_equal_systems_seldom_win_over_splits(design: SplitDesign) -> None:
    assert rate(lambda rng: any_win_over_splits(design, rng), FEW) <= at_most(FEW)


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS, ids=name)
def test_equal_systems_win_in_5_percent_of_many_worlds(design: Design) -> None:
    results = [compared(design, np.random.default_rng([1, world])) for world in range(MANY)]
    assert sum(map(any_win, results)) <= at_most(MANY)
    if design.datasets > 1:
        assert sum(map(any_win_elsewhere, results)) <= at_most(MANY)


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS_ELSEWHERE, ids=name)
def test_systems_that_are_equal_on_average_win_in_5_percent_of_many_worlds(design: Design) -> None:
    assert rate(lambda rng: any_win_elsewhere(compared(design, rng)), MANY, seed=1) <= at_most(MANY)


@pytest.mark.slow
@pytest.mark.parametrize("design", [*SPLIT_DESIGNS, SplitDesign("20 splits, 10 systems", systems=10)], ids=name)
def test_equal_systems_win_over_splits_in_5_percent_of_many_worlds(design: SplitDesign) -> None:
    worlds = MANY if design.systems == 2 else MANY // 2
    assert rate(lambda rng: any_win_over_splits(design, rng), worlds, seed=1) <= at_most(worlds)


@pytest.mark.parametrize(
    ("design", "worlds"),
    [
        (Design("sentences", systems=2, sentences=100), 400),
        (Design("5 documents", systems=2, sentences=150, documents=5, document_sd=0.3), 400),
        (Design("20 documents", systems=2, sentences=300, documents=20, document_sd=0.3), 400),
        (Design("high scores", systems=2, sentences=100, base=4.5), 400),
        (Design("5 runs", systems=2, runs=5, run_sd=0.2, sentences=150), 300),
    ],
    ids=lambda value: value.name if isinstance(value, Design) else "",
)
def test_intervals_of_scores_cover_the_truth(design: Design, worlds: int) -> None:
    truth, hits = true_score(design), 0
    for world in range(worlds):
        row = compared(design, np.random.default_rng([2, world])).systems[0]
        hits += row.interval.low <= truth <= row.interval.high
    # Fewer than 93% or more than 98.5% would be seen but for one case in a thousand.
    assert binom.ppf(0.001, worlds, 0.93) <= hits <= binom.ppf(0.999, worlds, 0.985)


@pytest.mark.parametrize("datasets", [3, 6])
def test_systems_that_differ_are_told_apart_more_often_with_more_runs_and_data_sets(datasets: int) -> None:
    design = Design("", runs=3, run_sd=0.05, datasets=datasets, sentences=120)
    wins = rate(lambda rng: any_win(compared(design, rng, effect=0.25)), 40)
    fewer = rate(lambda rng: any_win(compared(replace(design, datasets=1), rng, effect=0.25)), 40)
    assert wins > fewer


def test_a_verdict_is_equal_only_within_the_margin_and_seldom_wrongly() -> None:
    """Systems whose true difference is the margin are called equal in at most 2.5%: two one-sided tests."""
    design = Design("", sentences=1500, sentence_sd=0.3)
    effect, worlds = 0.045, 150
    many = [true_score(design), true_score(replace(design, base=design.base + effect))]
    margin = 100 * (many[1] - many[0])
    equal = 0
    for world in range(worlds):
        comparison = compared(design, np.random.default_rng([3, world]), effect=effect)
        pair = replace(comparison.pairs[0], margin=margin / 100)
        equal += pair.state(0.05) is State.EQUAL
    assert equal <= binom.ppf(0.999, worlds, 0.025)
    close = [compared(design, np.random.default_rng([4, world])).pairs[0] for world in range(30)]
    assert sum(replace(pair, margin=0.05).state(0.05) is State.EQUAL for pair in close) > 25


@pytest.mark.parametrize("design", DESIGNS[:10], ids=name)
def test_the_interval_excludes_zero_exactly_where_p_is_significant(design: Design) -> None:
    for world in range(15):
        for pair in compared(design, np.random.default_rng([5, world]), effect=0.1).pairs:
            excludes = pair.interval.low > 0 or pair.interval.high < 0
            assert excludes == (pair.p_corrected <= 0.05)
            assert math.isnan(pair.detectable) or pair.detectable > 0
