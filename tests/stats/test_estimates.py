"""Estimates: against scipy and Wilson's formula, by hand, and what must hold of all."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq

from deadheat.errors import InputError
from deadheat.stats.estimates import (
    Estimate,
    RunsEstimate,
    VariancePart,
    average,
    average_elsewhere,
    effective_units,
    mean_estimate,
    run_share,
    welch_estimate,
)
from deadheat.stats.intervals import wilson

Values = NDArray[np.float64]


samples = st.lists(st.integers(-1000, 1000), min_size=2, max_size=12).map(lambda rows: np.array(rows) / 100)


estimates = st.builds(Estimate, st.floats(-5, 5), st.floats(0.01, 3), st.floats(1, 200))


class TestOneEstimate:
    @given(samples.filter(lambda values: np.ptp(values) > 0))
    def test_a_mean_is_scipys_one_sample_t_test(self, values: Values) -> None:
        expected = stats.ttest_1samp(values, 0.0)
        result = mean_estimate(values)
        assert result.p == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-300)
        for level in (0.9, 0.95, 0.999):
            interval = expected.confidence_interval(level)
            assert result.interval(level).bounds == pytest.approx((interval.low, interval.high), rel=1e-9, abs=1e-12)

    @pytest.mark.filterwarnings("ignore:Precision loss:RuntimeWarning")  # scipy's, about samples that are constant
    @given(samples, samples)
    def test_a_difference_of_means_is_scipys_welch_test(self, first: Values, second: Values) -> None:
        if np.ptp(first) + np.ptp(second) == 0:
            return
        expected = stats.ttest_ind(first, second, equal_var=False)
        result = welch_estimate(first, second)
        assert result.value == pytest.approx(first.mean() - second.mean(), abs=1e-12)
        assert (result.p, result.freedom) == pytest.approx((expected.pvalue, expected.df), rel=1e-9, abs=1e-300)
        interval = expected.confidence_interval(0.95)
        assert result.interval().bounds == pytest.approx((interval.low, interval.high), rel=1e-9, abs=1e-12)

    @given(estimates, st.floats(0.001, 0.5))
    def test_an_interval_excludes_zero_exactly_where_p_is_at_most_alpha(self, estimate: Estimate, alpha: float) -> None:
        low, high = estimate.interval(1 - alpha).bounds
        if abs(estimate.p - alpha) > 1e-9:
            assert (low > 0 or high < 0) == (estimate.p < alpha)
        assert (low + high) / 2 == pytest.approx(estimate.value, abs=1e-9 * (high - low))

    @pytest.mark.parametrize("freedom", [1, 2.5, 4, 19, 299, 1e5])
    @pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.005, 0.8), (0.05, 0.95)])
    def test_the_detectable_difference_is_shown_with_the_power_by_the_noncentral_t(
        self, freedom: float, alpha: float, power: float
    ) -> None:
        shift = Estimate(0.0, 2.0, freedom).detectable(alpha, power) / 2.0
        bound = stats.t.ppf(1 - alpha / 2, freedom)
        assert stats.nct.sf(bound, freedom, shift) == pytest.approx(power, abs=1e-5)

    def test_a_detectable_difference_is_shown_as_often_as_it_says_in_simulated_samples(self) -> None:
        rng = np.random.default_rng(0)
        sizes = (20_000, 8)
        shift = Estimate(0.0, 1 / math.sqrt(8), 7).detectable(0.05, 0.8)
        samples_BN = rng.normal(shift, 1.0, sizes)
        t_B = samples_BN.mean(axis=1) / (samples_BN.std(axis=1, ddof=1) / math.sqrt(8))
        shown = int(np.count_nonzero(t_B > stats.t.ppf(0.975, 7)))
        assert stats.binom.ppf(1e-4, sizes[0], 0.8) <= shown <= stats.binom.ppf(1 - 1e-4, sizes[0], 0.8)

    def test_for_very_many_degrees_of_freedom_all_is_normal(self) -> None:
        estimate = Estimate(1.0, 0.5, math.inf)
        assert estimate.p == pytest.approx(2 * stats.norm.sf(2.0))
        assert estimate.interval().bounds == pytest.approx((1 - 0.5 * 1.959963985, 1 + 0.5 * 1.959963985))
        assert estimate.detectable() == pytest.approx(0.5 * (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)), rel=1e-4)

    @pytest.mark.parametrize(
        "unknown",
        [
            Estimate(0.1, math.nan, math.nan),
            Estimate(math.nan, 0.1, 3),
            Estimate(0.1, 0.1, math.nan),
            Estimate(1, 1, 0),
        ],
    )
    def test_what_cannot_be_estimated_is_nan(self, unknown: Estimate) -> None:
        bounds = (*unknown.interval().bounds, *unknown.bounded_interval(10).bounds)
        assert all(map(math.isnan, (unknown.p, unknown.detectable(), *bounds)))

    def test_units_that_all_agree_have_the_probability_of_random_signs(self) -> None:
        """Of 9 units with random signs, all agree with probability 2 / 2⁹; that is 8 degrees of freedom."""
        constant = mean_estimate(np.full(9, 0.25))
        assert (constant.value, constant.error, constant.freedom) == (0.25, 0.0, 8)
        assert constant.p == 2 / 2**9
        assert constant.interval(1 - 2 / 2**9).bounds == (0.25, 0.25)
        assert all(map(math.isnan, constant.interval(1 - 1.9 / 2**9).bounds))
        assert mean_estimate(np.zeros(9)).p == 1.0
        assert mean_estimate(np.zeros(9)).interval().bounds == (0.0, 0.0)

    def test_rounding_errors_are_no_variation(self) -> None:
        thirds = np.array([0.1 + 0.2, 0.3, 0.6 - 0.3])
        assert len(set(thirds.tolist())) > 1
        assert mean_estimate(thirds).error == 0.0
        assert welch_estimate(thirds + 0.1, thirds).error == 0.0

    def test_one_value_has_no_error(self) -> None:
        assert mean_estimate(np.array([0.5])).value == 0.5
        assert math.isnan(mean_estimate(np.array([0.5])).p)
        assert math.isnan(mean_estimate(np.zeros(0)).value)
        assert math.isnan(welch_estimate(np.array([0.5]), np.array([0.4, 0.3])).p)

    @given(estimates)
    def test_the_other_way_round_all_is_negated(self, estimate: Estimate) -> None:
        low, high = estimate.interval().bounds
        turned = estimate.negated()
        assert turned.interval().bounds == pytest.approx((-high, -low))
        assert (turned.p, turned.detectable()) == (estimate.p, estimate.detectable())

    @pytest.mark.parametrize("wrong", [0.0, 1.0, 95.0])
    def test_wrong_levels_are_refused(self, wrong: float) -> None:
        for function in (Estimate(1, 1, 1).interval, lambda level: Estimate(1, 1, 1).bounded_interval(3, level)):
            with pytest.raises(InputError, match="level"):
                function(wrong)
        with pytest.raises(InputError, match="alpha"):
            Estimate(1, 1, 1).detectable(wrong)


class TestBoundedInterval:
    @pytest.mark.parametrize(("correct", "total"), [(1, 12), (50, 60), (81, 263), (999, 1000)])
    @pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
    def test_independent_trials_have_wilsons_interval(self, correct: int, total: int, level: float) -> None:
        share = correct / total
        estimate = Estimate(share, math.sqrt(share * (1 - share) / total), math.inf)
        expected = wilson(correct, total, level=level).bounds
        assert estimate.bounded_interval(total, level).bounds == pytest.approx(expected, rel=1e-9)

    @pytest.mark.parametrize(("correct", "total"), [(0, 20), (20, 20)])
    def test_no_error_in_so_many_units_is_wilsons_interval_of_as_many_trials(self, correct: int, total: int) -> None:
        estimate = Estimate(correct / total, 0.0, math.inf)
        assert estimate.bounded_interval(total).bounds == pytest.approx(wilson(correct, total).bounds, rel=1e-9)

    def test_its_ends_are_where_a_t_test_of_the_score_is_just_significant(self) -> None:
        """Wilson's definition: the shares q with (p - q)² = t² q (1 - q) / n, found by bisection."""
        share, error, freedom = 0.93, 0.02, 6.5
        trials, quantile = share * (1 - share) / error**2, stats.t.ppf(0.975, freedom)

        def distance(q: float) -> float:
            return abs(share - q) - float(quantile) * math.sqrt(q * (1 - q) / trials)

        expected = brentq(distance, 0.2, share - 1e-9), brentq(distance, share + 1e-9, 1 - 1e-12)
        assert Estimate(share, error, freedom).bounded_interval(50).bounds == pytest.approx(expected, rel=1e-6)

    @given(st.integers(0, 10_000), st.integers(0, 6000), st.floats(1, 100), st.integers(2, 1000))
    def test_it_holds_the_score_and_stays_between_0_and_1(
        self, value_in_hundredths: int, error_in_hundredths: int, freedom: float, units: int
    ) -> None:
        value, error = value_in_hundredths / 10_000, error_in_hundredths / 10_000
        low, high = Estimate(value, error, freedom).bounded_interval(units).bounds
        assert 0 <= low <= value + 1e-12
        assert value - 1e-12 <= high <= 1

    @given(st.floats(0.01, 0.99), st.floats(0.001, 0.3), st.floats(1, 100))
    def test_errors_are_the_mirror_image_of_scores(self, value: float, error: float, freedom: float) -> None:
        low, high = Estimate(value, error, freedom).bounded_interval(10).bounds
        mirrored = Estimate(1 - value, error, freedom).bounded_interval(10).bounds
        assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)

    def test_a_score_that_no_unit_changes_has_as_many_trials_as_units_and_one_outside_has_none(self) -> None:
        """Ten units without any spread: Wilson's interval of 5 right of 10, with Student's quantile."""
        square = stats.t.ppf(0.975, 9) ** 2
        reach = math.sqrt(square * (0.25 / 10 + square / 400)) / (1 + square / 10)
        assert Estimate(0.5, 0.0, 9).bounded_interval(10).bounds == pytest.approx((0.5 - reach, 0.5 + reach))
        assert all(map(math.isnan, Estimate(1.2, 0.1, 9).bounded_interval(10).bounds))
        assert all(map(math.isnan, Estimate(1.0, 0.0, 9).bounded_interval(0).bounds))


def parts(units: float, runs: float) -> RunsEstimate:
    return RunsEstimate(0.1, (VariancePart("units", units, 10), VariancePart("runs", runs, 2)))


class TestSeveralDataSets:
    def test_the_average_by_hand(self) -> None:
        """Variances 0.04 on 4 and 0.09 on 9 degrees of freedom: 0.13 / 4, and 0.13² / (0.04²/4 + 0.09²/9) = 13."""
        result = average([Estimate(1.0, 0.2, 4), Estimate(2.0, 0.3, 9)])
        assert result.value == 1.5
        assert result.error == pytest.approx(math.sqrt(0.13) / 2)
        assert result.freedom == pytest.approx(13.0)

    def test_the_average_of_equal_estimates_is_as_many_times_as_precise(self) -> None:
        result = average([Estimate(0.5, 0.2, 6)] * 4)
        assert (result.value, result.error, result.freedom) == pytest.approx((0.5, 0.1, 24))

    def test_the_average_without_error_or_of_nothing(self) -> None:
        exact = average([Estimate(0.5, 0.0, 6), Estimate(0.3, 0.0, 4)])
        assert (exact.value, exact.error, exact.freedom) == (0.4, 0.0, 4)
        unknown = average([Estimate(0.5, 0.1, 6), Estimate(0.3, math.nan, math.nan)])
        assert (unknown.value, math.isnan(unknown.error)) == (0.4, True)
        assert math.isnan(average([]).value)

    def test_other_data_sets_by_hand(self) -> None:
        """Differences 1, 2 and 6: their mean 3 has the standard error √7 / √3, on two degrees of freedom."""
        rows = [Estimate(value, 0.1, 50) for value in (1.0, 2.0, 6.0)]
        result = average_elsewhere(rows)
        assert result is not None
        assert (result.value, result.error, result.freedom) == pytest.approx((3.0, math.sqrt(7 / 3), 2))
        assert result.p == pytest.approx(stats.ttest_1samp([1, 2, 6], 0).pvalue)

    def test_other_data_sets_are_never_known_better_than_these(self) -> None:
        rows = [Estimate(value, 1.0, 3) for value in (1.0, 1.01, 0.99)]
        result, here = average_elsewhere(rows), average(rows)
        assert result is not None
        assert result.error == here.error
        assert result.freedom == min(2, here.freedom)
        assert average_elsewhere(rows[:1]) is None

    @given(st.lists(estimates, min_size=2, max_size=6))
    def test_what_is_shown_of_others_is_shown_of_these(self, rows: list[Estimate]) -> None:
        here, elsewhere = average(rows), average_elsewhere(rows)
        assert elsewhere is not None
        assert elsewhere.p >= here.p * (1 - 1e-9)
        low, high = here.interval().bounds
        assert elsewhere.interval().low <= low + 1e-9
        assert elsewhere.interval().high >= high - 1e-9

    @given(st.lists(estimates, min_size=1, max_size=5))
    def test_the_order_of_data_sets_is_nothing(self, rows: list[Estimate]) -> None:
        result = average(rows)
        for mixed in list(permutations(rows))[:6]:
            other = average(mixed)
            assert (other.value, other.error, other.freedom) == pytest.approx(
                (result.value, result.error, result.freedom)
            )

    def test_the_share_of_runs_in_the_variance(self) -> None:
        assert run_share([parts(3.0, 1.0)]) == 0.25
        assert run_share([parts(3.0, 1.0), parts(1.0, 3.0)]) == 0.5
        assert run_share([replace(parts(3.0, 1.0), shared=2.0)]) == 0.5  # what both have is in the runs
        assert math.isnan(run_share([RunsEstimate(0.1, (VariancePart("units", 3.0, 10),))]))


class TestEffectiveUnits:
    @given(st.integers(1, 50), st.floats(0.1, 1000))
    def test_units_of_equal_size_are_as_many_as_there_are(self, number: int, size: float) -> None:
        assert effective_units(np.full(number, size)) == pytest.approx(number)

    @given(st.lists(st.integers(1, 1000), min_size=1, max_size=20))
    def test_it_is_one_over_the_sum_of_squared_shares(self, sizes: list[int]) -> None:
        total = sum(sizes)
        result = effective_units(np.array(sizes, dtype=float))
        assert result == pytest.approx(1 / sum((size / total) ** 2 for size in sizes))
        assert 1 - 1e-9 <= result <= len(sizes) + 1e-9

    def test_empty_units_are_counted_where_all_are_empty(self) -> None:
        assert effective_units(np.zeros(4)) == 4
        assert effective_units(np.array([5.0, 5.0, 0.0])) == 2
