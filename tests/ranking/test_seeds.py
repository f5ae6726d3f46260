from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deadheat.errors import InputError
from deadheat.ranking.seed_power import fixed_freedom, mean_difference, seeds_needed, simulate_welch, welch_power
from deadheat.ranking.seeds import density, dev_test, run_range, seed_differences, system_pairs
from deadheat.stats.checks import Values
from deadheat.stats.corrections import holm


def test_a_density_is_the_mean_of_bumps_over_the_scores() -> None:
    scores = np.array([0.1, 0.4, 0.45, 0.7])
    result = density(scores)
    spread = min(scores.std(ddof=1), (np.quantile(scores, 0.75) - np.quantile(scores, 0.25)) / 1.34)
    assert result.bandwidth == pytest.approx(0.9 * spread * 4**-0.2)
    kernel = stats.gaussian_kde(scores, bw_method=result.bandwidth / scores.std(ddof=1))
    np.testing.assert_allclose(result.density, kernel(result.scores))
    assert np.trapezoid(result.density, result.scores) == pytest.approx(1, abs=0.005)


@pytest.mark.parametrize("scores", [[0.5], [0.5, 0.5, 0.5]])
def test_scores_that_do_not_vary_have_no_density(scores: list[float]) -> None:
    assert len(density(scores).scores) == 0


def test_a_density_survives_equal_quartiles() -> None:
    assert density([0.5, 0.5, 0.5, 0.5, 0.5, 0.9]).bandwidth > 0


def test_pairs_have_the_tests_of_scipy_corrected_by_holm() -> None:
    rng = np.random.default_rng(0)
    runs = {"a": rng.normal(0, 1, 12), "b": rng.normal(1, 2, 9), "c": rng.normal(0.5, 1, 15)}
    result = system_pairs(runs, rng=np.random.default_rng(1))
    assert [(pair.a, pair.b) for pair in result] == [("a", "b"), ("a", "c"), ("b", "c")]
    expected: dict[str, Callable[[Values, Values], float]] = {
        "mann_whitney": lambda x, y: stats.mannwhitneyu(x, y, method="exact").pvalue,
        "kolmogorov_smirnov": lambda x, y: stats.ks_2samp(x, y).pvalue,
        "brown_forsythe": lambda x, y: stats.levene(x, y, center="median").pvalue,
    }
    for name, test in expected.items():
        p_values = holm([test(runs[pair.a], runs[pair.b]) for pair in result])
        assert [getattr(pair, f"{name}_p_corrected") for pair in result] == pytest.approx(list(p_values))
    tested = [stats.ttest_ind(runs[pair.a], runs[pair.b], equal_var=False) for pair in result]
    uncorrected = [test.pvalue for test in tested]
    assert [pair.means.p for pair in result] == pytest.approx(uncorrected)
    assert [pair.means.p_corrected for pair in result] == pytest.approx(list(holm(uncorrected)))
    for pair, test in zip(result, tested, strict=True):
        level = pair.means.interval.level  # the smallest p-value is tested at 0.05 / 3, the largest at 0.05
        assert pair.means.interval.bounds == pytest.approx(tuple(test.confidence_interval(level)))
        assert bool(pair.winner) == (pair.means.p_corrected <= 0.05)
    assert min(1 - pair.means.interval.level for pair in result) == pytest.approx(0.05 / 3)
    for pair in result:
        x, y = runs[pair.a], runs[pair.b]
        assert pair.a_better == pytest.approx(np.mean(x[:, None] > y[None, :]))
        assert pair.difference == pytest.approx(x.mean() - y.mean())
        assert pair.aso_a.ratio + pair.aso_b.ratio == pytest.approx(1)
        assert pair.aso_a.comparisons == 3


def test_one_run_of_a_system_leaves_what_needs_more_without_a_number() -> None:
    (pair,) = system_pairs({"a": [0.5], "b": [0.6]}, rng=np.random.default_rng(0))
    assert math.isnan(pair.brown_forsythe_p_corrected)
    assert pair.mann_whitney_p_corrected == 1
    assert pair.difference == pytest.approx(-0.1)
    assert all(map(math.isnan, (pair.means.p_corrected, pair.means.interval.low, pair.detectable)))
    assert pair.winner == ""
    assert system_pairs({"a": [0.5]}, rng=np.random.default_rng(0)) == ()


def test_the_winner_is_who_has_the_higher_mean() -> None:
    low, high = np.arange(10.0), np.arange(20.0, 30.0)
    (pair,) = system_pairs({"low": low, "high": high}, rng=np.random.default_rng(0))
    assert pair.winner == "high"
    (pair,) = system_pairs({"high": high, "low": low}, rng=np.random.default_rng(0))
    assert pair.winner == "high"
    (pair,) = system_pairs({"high": high, "low": low}, rng=np.random.default_rng(0), alpha=1e-12)
    assert pair.winner == ""


def test_three_runs_that_are_far_apart_are_shown_to_differ() -> None:
    (pair,) = system_pairs({"a": [90.1, 90.2, 90.3], "b": [88.1, 88.0, 88.2]}, rng=np.random.default_rng(0))
    # Standard deviations of 0.1: the error is 0.1 √(2/3) = 0.0816, t = 2.1 / 0.0816 on 4 degrees of freedom.
    assert pair.means.p == pytest.approx(2 * stats.t.sf(2.1 / 0.0816497, 4), rel=1e-4)
    assert pair.means.interval.bounds == pytest.approx((2.1 - 2.7764 * 0.08165, 2.1 + 2.7764 * 0.08165), abs=1e-4)
    assert pair.winner == "a"


def test_best_and_worst_run_are_as_far_apart_as_tables_of_the_range_say() -> None:
    scores = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    result = run_range(scores)
    sd = scores.std(ddof=1)
    # d2(5) = 2.326 of control charts, and the upper 5 % point of the studentized range, 3.858.
    assert (result.runs, result.observed) == (5, 4.0)
    assert (result.expected, result.p95) == pytest.approx((2.326 * sd, 3.858 * sd), abs=0.001)
    assert result.p95 == pytest.approx(sd * stats.studentized_range.ppf(0.95, 5, np.inf), rel=1e-4)
    with pytest.raises(InputError, match="one run; expected at least two"):
        run_range([0.5])


def test_the_range_of_normal_scores_is_as_expected() -> None:
    ranges = np.ptp(np.random.default_rng(12).normal(size=(40_000, 12)), axis=1)
    unit = run_range(np.random.default_rng(0).normal(size=12))
    sd = unit.expected / 3.258  # d2(12)
    assert ranges.mean() == pytest.approx(3.258, abs=0.02)
    assert (ranges <= unit.p95 / sd).mean() == pytest.approx(0.95, abs=0.005)


@pytest.mark.parametrize("sizes", [(2, 5), (2, 50), (3, 20), (5, 20), (10, 50)])
@pytest.mark.parametrize("level", [0.05, 0.05 / 45])
@pytest.mark.parametrize("ratio", [0.01, 0.25, 1.0, 4.0, 100.0])
def test_equal_means_of_unequal_numbers_of_runs_are_found_no_more_often_than_the_level(
    sizes: tuple[int, int], level: float, ratio: float
) -> None:
    rate = welch_power(0.0, (ratio, 1.0), sizes, level, freedom=fixed_freedom(sizes, level))
    assert rate <= 1.25 * level or not 0.25 <= ratio <= 4
    if freedom := fixed_freedom(sizes, level):
        assert freedom == min(sizes) - 1
        assert rate <= level * (1 + 1e-6)


def test_welchs_degrees_of_freedom_are_kept_where_they_will_do() -> None:
    assert fixed_freedom((5, 5), 0.05 / 45) is None
    assert fixed_freedom((20, 50), 0.05) is None
    rng = np.random.default_rng(13)
    few, many = rng.normal(size=2), rng.normal(size=50)
    estimate = mean_difference(few, many, 0.05)
    assert estimate.freedom == 1
    assert welch_power(0.0, (1.0, 1.0), (2, 50), 0.05) > 0.12
    rate = np.mean([mean_difference(rng.normal(size=2), many, 0.05).p <= 0.05 for many in rng.normal(size=(2000, 50))])
    assert rate <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2000)


def test_two_seeds_of_a_configuration_by_hand() -> None:
    # Differences: first 2; second 1, 3, 4, of a third of the weight each; the last has one run.
    keys, scores = np.array([7, 5, 7, 5, 5, 9]), [10.0, 0, 12, 1, 4, 99]
    result = seed_differences(keys, scores)
    assert (result.configurations, result.runs) == (2, 5)
    # Half the weight is reached at 2 (1/6 + 1/2), 95 % at 4.
    assert (result.median, result.p95, result.maximum) == (2, 4, 4)
    assert (result.range_median, result.range_p95, result.range_maximum) == (2, 4, 4)
    with pytest.raises(InputError, match="every configuration has one run"):
        seed_differences(np.array([0, 1]), [1.0, 2.0])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=2, max_size=15))
def test_quantiles_are_those_of_listing_every_pair_as_often_as_it_counts(runs: list[tuple[int, int]]) -> None:
    keys, scores = np.array([key for key, _ in runs]), np.array([float(score) for _, score in runs])
    gaps = [
        [abs(a - b) for a, b in combinations(scores[keys == key], 2)] for key in range(4) if (keys == key).sum() > 1
    ]
    if not gaps:
        return
    common = math.lcm(*map(len, gaps))
    listed = sorted(gap for item in gaps for gap in item for _ in range(common // len(item)))
    result = seed_differences(keys, scores)
    assert result.median == listed[math.ceil(0.5 * len(listed)) - 1]
    assert result.p95 == listed[math.ceil(0.95 * len(listed) - 1e-9) - 1]
    assert result.maximum == listed[-1]


def test_correlations_of_dev_and_test_are_those_of_scipy() -> None:
    rng = np.random.default_rng(2)
    dev = rng.normal(size=30)
    test = 0.5 * dev + rng.normal(size=30)
    result = dev_test(dev, test)
    linear = stats.pearsonr(dev, test)
    assert result.pearson.statistic == pytest.approx(linear.statistic)
    assert result.pearson.p == pytest.approx(linear.pvalue)
    assert result.pearson_interval.bounds == pytest.approx(tuple(linear.confidence_interval(0.95)))
    ranks = stats.spearmanr(dev, test)
    assert result.spearman.statistic == pytest.approx(ranks.statistic)
    assert result.spearman.p == pytest.approx(ranks.pvalue)


@pytest.mark.slow
def test_the_interval_of_spearmans_rho_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    true = 6 / math.pi * math.asin(0.9 / 2)  # of a binormal with correlation 0.9
    inside = 0
    for _ in range(1000):
        x, y = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], size=40).T
        low, high = dev_test(x, y).spearman_interval.bounds
        inside += low <= true <= high
    assert 0.93 <= inside / 1000 <= 0.97


def test_the_run_selected_on_dev_by_hand() -> None:
    result = dev_test([3, 5, 4, 5], [0.9, 0.7, 0.8, 0.6])
    assert (result.best_dev, result.selected, result.mean, result.best) == pytest.approx((5, 0.65, 0.75, 0.9))
    few = dev_test([1, 2], [1, 2])
    assert math.isnan(few.pearson.p)
    assert math.isnan(few.pearson_interval.low)
    with pytest.raises(InputError, match="2 dev and 3 test scores"):
        dev_test([1, 2], [1, 2, 3])


@pytest.mark.parametrize(
    ("gap", "sds", "sizes", "alpha"),
    [
        (5.0, (1.0, 1.0), (2, 2), 0.05),
        (3.0, (1.0, 1.0), (3, 3), 0.05),
        (2.0, (1.0, 1.0), (5, 5), 0.05),
        (0.0, (1.0, 1.0), (4, 4), 0.05),
        (60.0, (1.0, 1.0), (2, 2), 0.001),
        (2.0, (0.5, 2.0), (4, 9), 0.01),
        (3.0, (1.0, 10.0), (2, 50), 0.05),
        (1.0, (1.0, 1.0), (17, 17), 0.05 / 15),
    ],
)
def test_power_is_the_share_of_normal_samples_in_which_scipys_test_finds_the_difference(
    gap: float, sds: tuple[float, float], sizes: tuple[int, int], alpha: float
) -> None:
    rng, simulations = np.random.default_rng(0), 40_000
    x, y = (rng.normal(0, sd, (simulations, size)) for sd, size in zip(sds, sizes, strict=True))
    hits = stats.ttest_ind(x + gap, y, axis=1, equal_var=False).pvalue <= alpha
    result = welch_power(gap, (sds[0] ** 2, sds[1] ** 2), sizes, alpha)
    assert result == pytest.approx(hits.mean(), abs=4 * 0.5 / math.sqrt(simulations))


def test_power_with_one_system_that_does_not_vary_is_that_of_students_test() -> None:
    # Welch's degrees of freedom are then those of the other system, and the statistic is noncentral t.
    shift, bound = 1.3 * math.sqrt(6), stats.t.ppf(0.975, 5)
    expected = stats.nct.sf(bound, 5, shift) + stats.nct.cdf(-bound, 5, shift)
    assert welch_power(1.3, (1.0, 0.0), (6, 9), 0.05) == pytest.approx(expected, abs=1e-7)


@given(
    st.floats(0, 2000),
    st.floats(1e-150, 1e6),
    st.floats(0, 100),
    st.integers(2, 60),
    st.integers(2, 60),
    st.floats(1e-5, 0.2),
)
def test_power_is_a_chance_and_grows_with_the_difference(
    shift: float, variance: float, ratio: float, n: int, m: int, alpha: float
) -> None:
    error = math.sqrt(variance / n + variance * ratio / m)
    powers = [welch_power(error * item, (variance, variance * ratio), (n, m), alpha) for item in (shift, shift + 0.5)]
    assert 0 <= powers[0] <= powers[1] + 1e-6 <= 1 + 2e-6


def test_pairs_that_share_alpha_need_more_seeds() -> None:
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=8), rng.normal(size=8)
    alone, shared = (seeds_needed(a, b, rng=rng, difference=1.0, comparisons=pairs) for pairs in (1, 15))
    assert shared.seeds > alone.seeds
    variances = float(a.var(ddof=1)), float(b.var(ddof=1))
    assert shared.power_now == welch_power(1.0, variances, (8, 8), 0.05 / 15)
    far = seeds_needed(a, b, rng=rng, difference=1000.0, comparisons=15)
    assert (far.seeds, far.power_now) == pytest.approx((2, 1))


@pytest.mark.slow
def test_the_interval_of_the_seeds_holds_those_of_the_true_spread_as_often_as_it_says() -> None:
    rng = np.random.default_rng(9)
    true = seeds_needed([-1, 0, 1], [-1, 0, 1], rng=rng, difference=1.0).seeds  # standard deviations of 1
    inside = 0
    for _ in range(200):
        result = seeds_needed(*rng.normal(size=(2, 6)), rng=rng, difference=1.0, simulations=1)
        assert result.seeds_low <= result.seeds <= result.seeds_high
        inside += result.seeds_low <= true <= result.seeds_high
    assert 0.91 <= inside / 200 <= 0.99


def test_draws_that_do_not_vary_find_nothing() -> None:
    # Of two runs each, a quarter of the draws of two seeds has no spread in either system.
    a, b = np.array([0.1, 0.7]), np.array([5.0, 6.0])
    assert simulate_welch(a, b, 1e6, 2, rng=np.random.default_rng(10), simulations=4000) == pytest.approx(
        0.75, abs=0.03
    )
    assert math.isnan(seeds_needed([1.0, 1.0], [2.0, 2.0], rng=np.random.default_rng(0)).simulated)


@pytest.mark.slow
@pytest.mark.parametrize(("sds", "gap"), [((1.0, 1.0), 0.9), ((0.5, 2.0), 1.3)])
def test_so_many_seeds_find_the_difference_as_often_as_was_asked(sds: tuple[float, float], gap: float) -> None:
    """Runs whose spread is exactly that of the populations; then fresh normal scores, tested by scipy's Welch test."""
    rng = np.random.default_rng(4)
    samples = [sd * (x - x.mean()) / x.std(ddof=1) for sd, x in zip(sds, rng.normal(size=(2, 30)), strict=True)]
    result = seeds_needed(*samples, rng=rng, difference=gap)
    seeds = int(result.seeds)
    hits = 0
    for _ in range(2000):
        x, y = sds[0] * rng.normal(size=seeds) + gap, sds[1] * rng.normal(size=seeds)
        hits += stats.ttest_ind(x, y, equal_var=False).pvalue <= 0.05
    assert hits / 2000 == pytest.approx(result.power, abs=0.03)
    assert result.simulated == pytest.approx(result.power, abs=0.04)
    fewer = welch_power(gap, (sds[0] ** 2, sds[1] ** 2), (seeds - 1, seeds - 1), 0.05)
    assert fewer < 0.8 <= result.power


def test_resampling_without_a_difference_keeps_the_level() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=40), rng.normal(size=40)
    assert simulate_welch(a, b, 0.0, 20, rng=rng, simulations=4000) == pytest.approx(0.05, abs=0.015)


def test_the_smallest_difference_is_found_with_the_wanted_power() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=12), rng.normal(size=7)
    result = seeds_needed(a, b, rng=rng)
    variances = float(a.var(ddof=1)), float(b.var(ddof=1))
    assert welch_power(result.detectable_difference, variances, (12, 7), 0.05) == pytest.approx(0.8, abs=1e-5)
    assert result.power_now == pytest.approx(welch_power(result.difference, variances, (12, 7), 0.05))


def test_seeds_that_cannot_be_computed_are_nan_or_infinite() -> None:
    rng = np.random.default_rng(7)
    assert math.isnan(seeds_needed([1.0], [2.0, 3.0], rng=rng).seeds)
    assert math.isinf(seeds_needed([1.0, 2.0], [2.0, 1.0], rng=rng).seeds)
    constant = seeds_needed([1.0, 1.0], [2.0, 2.0], rng=rng)
    assert (constant.seeds, constant.power_now) == (4, 0)  # random signs of 2 n - 2 runs: 2^-6 is the first below 0.05
    assert math.isinf(seeds_needed([1.0, 2.0], [2.0, 1.0], rng=rng, difference=1e-9).seeds)
    with pytest.raises(InputError, match="difference 0; expected a number other than 0"):
        seeds_needed([1.0, 2.0], [2.0, 1.0], rng=rng, difference=0.0)
    with pytest.raises(InputError, match=r"alpha 0\.05 and power 1\.5; expected both between 0 and 1"):
        seeds_needed([1.0, 2.0], [2.0, 1.0], rng=rng, target=1.5)


def test_differences_of_very_many_runs_need_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    keys, scores = rng.integers(0, 3, 4000), rng.normal(80, 1, 4000)
    exact = seed_differences(keys, scores)
    monkeypatch.setattr("deadheat.ranking.seeds.MOST_PAIRS", 100_000)
    thinned = seed_differences(keys, scores)
    assert (thinned.configurations, thinned.runs) == (exact.configurations, exact.runs)
    assert thinned.maximum == exact.maximum
    assert thinned.median == pytest.approx(exact.median, rel=0.02)
    assert thinned.p95 == pytest.approx(exact.p95, rel=0.02)
    monkeypatch.undo()
    assert seed_differences(np.zeros(300_000, int), np.zeros(300_000)).maximum == 0
