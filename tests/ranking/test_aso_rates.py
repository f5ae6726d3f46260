"""How often some pair of several equal systems is found to differ: the table, and where it comes from."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.ranking.aso_rates import ALPHAS, FALSE_ALARMS, RESAMPLES, RUNS, SYSTEMS, aso_false_alarms
from deadheat.stats.aso import TAUS, aso, aso_matrix
from deadheat.stats.checks import Values
from deadheat.stats.intervals import normal_quantile

TABLES = {2: 10_000, 3: 10_000, 5: 10_000, 10: 2000, 20: 500}  # simulated for each number of systems


def false_alarms(systems: int, runs: int, *, tables: int) -> Values:
    """Rates by alpha and threshold; an entry of the table is what this gives for `TABLES[systems]` tables."""
    rng = np.random.default_rng([systems, runs])
    pairs = math.comb(systems, 2)
    quantiles = np.array([normal_quantile(alpha / pairs) for alpha in ALPHAS])
    hits = np.zeros((len(ALPHAS), len(TAUS)))
    for _ in range(tables):
        order = aso_matrix(rng.standard_normal((systems, runs)), rng=rng, resamples=RESAMPLES)
        bounds = order.ratio_SS - quantiles[:, None, None] * order.deviation_SS
        hits += np.nanmin(bounds, axis=(1, 2))[:, None] < TAUS
    return hits / tables


def test_the_table_is_complete_and_in_order() -> None:
    assert tuple(FALSE_ALARMS) == SYSTEMS
    for by_runs in FALSE_ALARMS.values():
        assert tuple(by_runs) == RUNS
        for rates in by_runs.values():
            assert len(rates) == len(ALPHAS)
            assert all(0 < narrow <= wide <= 1 for narrow, wide in rates)
            assert [narrow for narrow, _ in rates] == sorted((narrow for narrow, _ in rates), reverse=True)
    for runs in RUNS:  # more systems, more false alarms
        by_systems = [FALSE_ALARMS[systems][runs][ALPHAS.index(0.05)][0] for systems in SYSTEMS]
        assert by_systems == sorted(by_systems)


def test_rates_are_those_of_the_table_and_interpolated_between_its_entries() -> None:
    exact = aso_false_alarms([5] * 5, 0.05)
    assert exact is not None
    assert (exact.below_02, exact.below_05) == pytest.approx(FALSE_ALARMS[5][5][1])
    assert (exact.systems, exact.fewest_runs, exact.most_runs, exact.alpha) == (5, 5, 5, 0.05)
    between = aso_false_alarms([7] * 5, 0.05)
    assert between is not None
    assert FALSE_ALARMS[5][10][1][0] < between.below_02 < FALSE_ALARMS[5][5][1][0]
    outside = aso_false_alarms([1000] * 60, 1e-4)
    assert outside is not None
    assert (outside.alpha, outside.below_02) == pytest.approx((0.01, FALSE_ALARMS[20][50][2][0]))
    assert aso_false_alarms([1, 5], 0.05) is None
    with pytest.raises(InputError, match="expected at least two"):
        aso_false_alarms([5], 0.05)


def test_some_entries_can_be_made_again_quickly() -> None:
    for systems, runs in ((2, 5), (3, 3)):
        rates = false_alarms(systems, runs, tables=300)
        expected = np.array(FALSE_ALARMS[systems][runs])
        assert (abs(rates - expected) < 4 * np.sqrt(expected * (1 - expected) / 300) + 0.005).all()


@pytest.mark.slow
@pytest.mark.parametrize("runs", [[5] * 5, [7] * 4, [3, 4, 6, 8]])
def test_equal_systems_alarm_as_often_as_is_said_in_a_loop_over_single_pairs(runs: list[int]) -> None:
    """An independent loop over `aso` of one pair after the other, also between and beside the entries of the table."""
    said = aso_false_alarms(runs, 0.05)
    assert said is not None
    rng, tables, alarms = np.random.default_rng(1), 1000, np.zeros(2)
    pairs = [(i, j) for i in range(len(runs)) for j in range(len(runs)) if i != j]
    for _ in range(tables):
        scores = [rng.standard_normal(number) for number in runs]
        bounds = [aso(scores[i], scores[j], rng=rng, comparisons=len(pairs) // 2).bound for i, j in pairs]
        alarms += [min(bounds) < 0.2, min(bounds) < 0.5]
    # Interpolation and unequal numbers of runs add some points to the error of the simulation, 1.5 points.
    assert alarms / tables == pytest.approx([said.below_02, said.below_05], abs=0.06)
