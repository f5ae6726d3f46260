"""Scores of runs: against plain Python, the paired t-test and Welch's, and what must hold of all."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from deadheat.errors import InputError
from deadheat.stats.estimates import (
    RunScores,
    run_freedom,
    welch_estimate,
)
from tests.stats.worlds import accuracy, f1

Counts = NDArray[np.int64]


Table = list[list[tuple[int, int, int]]]  # runs, units, fields


def array(table: Table) -> Counts:
    return np.array(table, dtype=np.int64)


def plain_accuracy(units: list[tuple[int, int, int]]) -> float:
    return sum(unit[0] for unit in units) / max(sum(unit[1] for unit in units), 1)


def plain_variance(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


def plain_influences(table: Table) -> list[list[float]]:
    """For every run and unit, N - 1 times the mean of all scores without one unit, minus the score without this one."""
    rows = []
    for units in table:
        without = [plain_accuracy(units[:n] + units[n + 1 :]) for n in range(len(units))]
        mean = sum(without) / len(without)
        rows.append([(len(units) - 1) * (mean - score) for score in without])
    return rows


def plain_interaction(rows: list[list[float]]) -> float:
    """The mean square of what neither the run nor the unit explains, in a two-way table."""
    runs, units = len(rows), len(rows[0])
    grand = sum(map(sum, rows)) / (runs * units)
    of_run = [sum(row) / units for row in rows]
    of_unit = [sum(row[n] for row in rows) / runs for n in range(units)]
    squares = [(rows[r][n] - of_run[r] - of_unit[n] + grand) ** 2 for r in range(runs) for n in range(units)]
    return sum(squares) / ((runs - 1) * (units - 1))


def plain_difference(first: Table, second: Table, *, fixed: bool = False) -> tuple[float, float, float]:
    """Value, standard error and degrees of freedom of a difference, one step after the other.

    `fixed`: the system with a single run would always give the same one.
    """
    units = len(first[0])
    sides = [(table, plain_influences(table), [plain_accuracy(run) for run in table]) for table in (first, second)]
    value = sum(sides[0][2]) / len(first) - sum(sides[1][2]) / len(second)
    means = [[sum(row[n] for row in rows) / len(rows) for n in range(units)] for _, rows, _ in sides]
    of_units = plain_variance([a - b for a, b in zip(*means, strict=True)]) / units
    words = [
        sum(sum(run[n][1] + run[n][2] for run in table) / len(table) for table in (first, second)) for n in range(units)
    ]
    unequal = sum(
        any(
            sum(run[n][field] for run in first) / len(first) != sum(run[n][field] for run in second) / len(second)
            for field in range(3)
        )
        for n in range(units)
    )
    effective = min(sum(words) ** 2 / sum(size**2 for size in words), unequal or units)
    parts, shared = [(of_units, effective - 1)], 0.0
    several = [side for side in sides if len(side[0]) > 1]
    for table, rows, scores in several:
        runs = len(table)
        borrowed = len(several) == 1 and not fixed  # the other system's single run varies like these
        shares = 1 / runs + (1 if borrowed else 0)
        parts.append((plain_variance(scores) * shares, runs - 1))
        shared += plain_interaction(rows) / units * shares
    variance = max(of_units, sum(part for part, _ in parts) - shared)
    spread = sum(part**2 / freedom for part, freedom in parts)
    freedom = max(1.0, variance**2 / spread)
    numbers = [len(table) for table in (first, second) if not (fixed and len(table) == 1)]
    return value, math.sqrt(variance), min(freedom, run_freedom(*numbers)) if several else freedom


def drawn(seed: int, runs: int, units: int = 9, *, spread: float = 0.1) -> Table:
    """Runs of a system on the same units of unequal sizes; the sizes do not depend on the seed."""
    sizes, rng = np.random.default_rng(99).integers(2, 30, units), np.random.default_rng(seed)
    shares = (0.75 + rng.normal(0, spread, units)).clip(0.05, 0.95)
    return [
        [
            (int(rng.binomial(size, share)), int(size), int(size))
            for size, share in zip(sizes, (shares + rng.normal(0, spread / 2)).clip(0.05, 0.95), strict=True)
        ]
        for _ in range(runs)
    ]


def runs_of(table: Table) -> RunScores:
    return RunScores.of(array(table), accuracy)


class TestRuns:
    @pytest.mark.parametrize(("runs", "others"), [(1, 1), (2, 2), (3, 5), (5, 3), (1, 4), (4, 1)])
    @pytest.mark.parametrize("seed", range(5))
    def test_a_difference_is_that_of_plain_arithmetic(self, runs: int, others: int, seed: int) -> None:
        first, second = drawn(seed, runs), drawn(seed + 100, others)
        result = runs_of(first).minus(runs_of(second)).estimate
        expected = plain_difference(first, second)
        assert (result.value, result.error, result.freedom) == pytest.approx(expected, rel=1e-9)

    @pytest.mark.parametrize("seed", range(3))
    def test_a_system_without_chance_adds_no_variance_of_runs(self, seed: int) -> None:
        first, second = drawn(seed, 4), drawn(seed + 100, 1)
        fixed = replace(runs_of(second), is_fixed=True)
        result = runs_of(first).minus(fixed).estimate
        expected = plain_difference(first, second, fixed=True)
        assert (result.value, result.error, result.freedom) == pytest.approx(expected, rel=1e-9)
        turned = fixed.minus(runs_of(first)).estimate
        assert (turned.value, turned.error, turned.freedom) == pytest.approx(
            (-result.value, result.error, result.freedom), rel=1e-12
        )
        assert result.error <= runs_of(first).minus(runs_of(second)).estimate.error

    def test_one_run_each_on_units_of_equal_size_is_the_paired_t_test(self) -> None:
        rng = np.random.default_rng(1)
        right = rng.binomial(20, 0.8, (2, 40))
        first, second = (np.stack([row, np.full(40, 20), np.full(40, 20)], axis=1)[None] for row in right)
        result = RunScores.of(first, accuracy).minus(RunScores.of(second, accuracy)).estimate
        different = int(np.count_nonzero(right[0] != right[1]))
        expected = stats.ttest_rel(right[0] / 20, right[1] / 20)
        assert result.value / result.error == pytest.approx(expected.statistic)
        assert result.freedom == different - 1  # units on which nothing differs tell nothing about the spread
        assert result.p == pytest.approx(2 * stats.t.sf(abs(expected.statistic), different - 1))

    def test_runs_that_differ_on_the_whole_and_not_by_unit_are_welchs_test(self) -> None:
        """All units of a run have the same share, so that all error comes from the runs."""
        first, second = ([[(right, 100, 100)] * 30 for right in rights] for rights in ([80, 84, 85], [70, 75, 77, 71]))
        result = runs_of(first).minus(runs_of(second)).estimate
        expected = welch_estimate(np.array([0.80, 0.84, 0.85]), np.array([0.70, 0.75, 0.77, 0.71]))
        assert (result.value, result.error, result.freedom) == pytest.approx(
            (expected.value, expected.error, expected.freedom)
        )

    @given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 4), st.randoms())
    def test_swapping_negates_and_the_order_of_units_and_runs_is_nothing(
        self, seed: int, runs: int, others: int, random: Any
    ) -> None:
        first, second = drawn(seed, runs, 6), drawn(seed + 1, others, 6)
        result = runs_of(first).minus(runs_of(second)).estimate
        turned = runs_of(second).minus(runs_of(first)).estimate
        expected = (result.value, result.error, result.freedom)
        assert (-turned.value, turned.error, turned.freedom) == pytest.approx(expected, rel=1e-9, abs=1e-15)
        order = random.sample(range(6), 6)
        mixed = [[[run[n] for n in order] for run in random.sample(table, len(table))] for table in (first, second)]
        result = runs_of(mixed[0]).minus(runs_of(mixed[1])).estimate
        assert (result.value, result.error, result.freedom) == pytest.approx(expected, rel=1e-9, abs=1e-15)

    @given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 4), st.integers(2, 3))
    def test_the_same_runs_again_change_nothing_about_units_and_do_not_widen_runs(
        self, seed: int, runs: int, others: int, times: int
    ) -> None:
        first, second = drawn(seed, runs, 6), drawn(seed + 1, others, 6)
        once = runs_of(first).minus(runs_of(second))
        again = runs_of(first * times).minus(runs_of(second * times))
        assert again.value == pytest.approx(once.value, abs=1e-15)
        assert again.variance_of("units") == pytest.approx(once.variance_of("units"), rel=1e-9)
        if min(runs, others) > 1:
            assert again.variance_of("runs") <= once.variance_of("runs") * (1 + 1e-12)

    @given(st.integers(0, 1000), st.integers(1, 3))
    def test_a_system_does_not_differ_from_itself(self, seed: int, runs: int) -> None:
        table = drawn(seed, runs)
        result = runs_of(table).minus(runs_of(table)).estimate
        assert (result.value, result.p) == (0.0, 1.0)

    @given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 4))
    def test_the_error_is_never_below_that_of_the_units(self, seed: int, runs: int, others: int) -> None:
        result = runs_of(drawn(seed, runs)).minus(runs_of(drawn(seed + 7, others)))
        assert result.estimate.error >= math.sqrt(result.variance_of("units")) * (1 - 1e-12)
        assert result.estimate.freedom >= 1

    def test_the_mean_score_of_runs_is_that_of_plain_arithmetic(self) -> None:
        table = drawn(3, 4)
        rows, scores = plain_influences(table), [plain_accuracy(run) for run in table]
        of_units = plain_variance([sum(row[n] for row in rows) / 4 for n in range(9)]) / 9
        of_runs, shared = plain_variance(scores) / 4, plain_interaction(rows) / (4 * 9)
        result = runs_of(table).estimate().estimate
        assert result.value == pytest.approx(sum(scores) / 4)
        assert result.error == pytest.approx(math.sqrt(max(of_units, of_units + of_runs - shared)))
        one = runs_of(table[:1]).estimate()
        assert [part.source for part in one.parts] == ["units"]

    def test_influences_sum_to_zero_and_are_those_of_any_metric(self) -> None:
        """F1 without one unit, by hand for three units."""
        counts = array([[(2, 3, 4), (5, 5, 6), (0, 1, 2)]])
        without = [2 * 5 / (6 + 8), 2 * 2 / (4 + 6), 2 * 7 / (8 + 10)]
        mean = sum(without) / 3
        result = RunScores.of(counts, f1)
        assert result.scores_R.tolist() == [pytest.approx(2 * 7 / (9 + 12))]
        assert result.influence_N.tolist() == pytest.approx([2 * (mean - score) for score in without])

    def test_too_few_units_have_no_error(self) -> None:
        single = runs_of([[(3, 4, 4)]]).minus(runs_of([[(2, 4, 4)]]))
        assert (single.value, math.isnan(single.estimate.error)) == (0.25, True)
        heavy = [[(9_000, 10_000, 10_000), (1, 2, 2)]]
        assert math.isnan(runs_of(heavy).minus(runs_of([[(8_000, 10_000, 10_000), (0, 2, 2)]])).estimate.p)

    def test_a_single_unit_that_differs_shows_nothing(self) -> None:
        same = [(5, 10, 10)] * 50
        result = runs_of([[*same, (10, 10, 10)]]).minus(runs_of([[*same, (0, 10, 10)]])).estimate
        assert (result.value, result.error) == pytest.approx((1 / 51, 1.5 / 51))
        assert result.p > 0.4

    @pytest.mark.parametrize("units", [20, 400])
    def test_systems_that_never_differ_may_differ_by_what_was_not_seen(self, units: int) -> None:
        """About the rule of three: nothing in N units means at most 3 / N of them."""
        counts = [[(5, 10, 10)] * units]
        interval = runs_of(counts).minus(runs_of(counts)).estimate.interval()
        assert interval.high == pytest.approx(3 / units, rel=0.06)
        assert interval.low == -interval.high

    def test_other_units_and_other_shapes_are_refused(self) -> None:
        with pytest.raises(InputError, match="9 and 8 units; expected the same units"):
            runs_of(drawn(0, 1)).minus(runs_of(drawn(0, 1, 8)))
        with pytest.raises(InputError, match="expected runs, units and fields"):
            RunScores.of(array(drawn(0, 1))[0], accuracy)

    def test_few_runs_limit_the_degrees_of_freedom_however_many_units_there_are(self) -> None:
        """Two runs each may have four degrees of freedom; five or more are limited by Satterthwaite's alone."""
        first, second = (drawn(seed, 2, 200) for seed in (1, 2))
        result = runs_of(first).minus(runs_of(second))
        parts = tuple(
            replace(part, variance=part.variance / 1e6 if part.source == "runs" else part.variance)
            for part in result.parts
        )
        result = replace(result, parts=parts)  # hardly any variance over runs
        assert replace(result, most_freedom=math.inf).estimate.freedom > 100
        assert (result.most_freedom, result.estimate.freedom) == (4, 4)
        single = runs_of(first[:1]).minus(runs_of(second[:1]))
        assert (single.most_freedom, single.estimate.freedom > 100) == (math.inf, True)

    @given(st.integers(1, 12), st.integers(1, 12))
    def test_the_limit_is_that_of_either_order_and_at_least_what_the_fewer_runs_have(
        self, runs: int, others: int
    ) -> None:
        limit = run_freedom(runs, others)
        assert limit == run_freedom(others, runs)
        assert limit >= min(runs, others) - 1
        assert run_freedom(runs, runs) <= run_freedom(runs + 1, runs + 1)

    @pytest.mark.slow
    @pytest.mark.parametrize("run_sd", [0.0, 0.05, 0.2])
    @pytest.mark.parametrize(("runs", "others"), [(1, 1), (2, 2), (3, 3), (3, 4), (1, 5), (2, 8)])
    def test_equal_systems_are_told_apart_in_one_of_twenty_cases(self, runs: int, others: int, run_sd: float) -> None:
        """Units and runs vary; of one run each, the difference of these two runs is tested."""
        worlds, shown = 300, 0
        for world in range(worlds):
            rng = np.random.default_rng([5, world])
            hard = rng.normal(1.5, 0.7, 80)
            spread = 0.0 if runs == others == 1 else run_sd
            sides = []
            for number in (runs, others):
                own = hard + rng.normal(0, 0.4, 80)
                chance = 1 / (1 + np.exp(-(own + rng.normal(0, spread, (number, 1)))))
                right = rng.binomial(15, chance)
                total = np.full_like(right, 15)
                sides.append(RunScores.of(np.stack([right, total, total], axis=2), accuracy))
            shown += sides[0].minus(sides[1]).estimate.p <= 0.05
        assert shown <= stats.binom.ppf(1 - 1e-4, worlds, 0.062)
