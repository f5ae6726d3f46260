"""The bootstrap: its weights, its exact distribution on small data, and how often it covers the truth."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from deadheat.errors import InputError
from deadheat.kernels.resampling import GOLDEN, draw_weights, scramble, sum_draws
from deadheat.stats import Interval, bootstrap
from deadheat.stats.intervals import percentiles, resampled_sums

KEY = np.array([0x1234_5678_9ABC_DEF0], np.uint64)


def weights_of(units: int, resamples: int, *, first: int = 0, key: NDArray[np.uint64] = KEY) -> NDArray[np.float64]:
    result = np.full(resamples * units, -1.0)
    draw_weights(key, first, resamples, units, result)
    return result.reshape(resamples, units)


def rate(sums: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(sums[..., 0] / sums[..., 1])


def test_the_generator_is_splitmix64() -> None:
    # The first outputs for the seed 1234567, as many implementations give them.
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    published += [16408922859458223821]
    with np.errstate(over="ignore"):
        states = [np.uint64(1234567) + GOLDEN * np.uint64(i) for i in range(1, 6)]
        assert [int(scramble(state)) for state in states] == published


@pytest.mark.parametrize("units", [1, 2, 3, 10, 101, 1000])
def test_each_resample_draws_as_many_units_as_there_are(units: int) -> None:
    weights = weights_of(units, 200)
    assert (weights.sum(axis=1) == units).all()
    assert (weights >= 0).all()
    assert np.array_equal(weights, np.round(weights))


def test_a_resample_depends_on_the_key_and_its_number_alone() -> None:
    everything = weights_of(37, 100)
    assert np.array_equal(weights_of(37, 30), everything[:30])
    assert np.array_equal(weights_of(37, 20, first=55), everything[55:75])
    assert not np.array_equal(weights_of(37, 100, key=KEY + np.uint64(1)), everything)
    assert len(np.unique(everything, axis=0)) == 100


@pytest.mark.parametrize("units", [1, 2, 5, 64])
def test_the_kernel_does_the_same_in_plain_python(units: int) -> None:
    result = np.full(9 * units, -1.0)
    with np.errstate(over="ignore"):
        draw_weights.python(KEY, 3, 9, units, result)
    assert np.array_equal(result.reshape(9, units), weights_of(units, 9, first=3))


@pytest.mark.parametrize("units", [2, 3, 4])
def test_weights_of_few_units_are_multinomial(units: int) -> None:
    # Every outcome and its probability: units! / prod(weights!) / units^units.
    draws = 20_000
    weights = weights_of(units, draws).astype(int)
    outcomes = [item for item in product(range(units + 1), repeat=units) if sum(item) == units]
    chances = [float(stats.multinomial.pmf(item, units, [1 / units] * units)) for item in outcomes]
    observed = [int((weights == item).all(axis=1).sum()) for item in outcomes]
    assert sum(observed) == draws
    assert stats.chisquare(observed, [draws * chance for chance in chances]).pvalue > 0.001


@pytest.mark.parametrize("units", [7, 200])
def test_no_unit_is_favoured_and_none_goes_with_another(units: int) -> None:
    draws = 5000
    weights = weights_of(units, draws)
    assert stats.chisquare(weights.sum(axis=0)).pvalue > 0.001
    # Weights have variance 1 - 1/N, and those of different units correlate by -1/(N - 1).
    assert weights.var(axis=0).mean() == pytest.approx(1 - 1 / units, abs=0.02)
    between = np.asarray(np.corrcoef(weights.T))[np.triu_indices(units, 1)]
    assert between.mean() == pytest.approx(-1 / (units - 1), abs=0.005)
    assert np.abs(between).max() < 6 / math.sqrt(draws) + 1 / (units - 1)
    following = float(np.asarray(np.corrcoef(weights[:-1].ravel(), weights[1:].ravel()))[0, 1])
    assert abs(following) < 5 / math.sqrt(weights.size)


def exact_values(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The value of every one of the N^N resamples."""
    everything = np.array(list(product(range(len(counts)), repeat=len(counts))))
    return rate(counts[everything].sum(axis=1))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("units", [2, 3, 4, 5])
def test_sampled_values_have_the_distribution_of_all_resamples(units: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    gold = rng.integers(1, 30, size=units)
    counts = np.stack([rng.integers(0, gold + 1), gold], axis=1)
    exact = np.sort(exact_values(counts))
    draws = 20_000
    sampled = np.sort(rate(resampled_sums(counts, resamples=draws, rng=np.random.default_rng(seed))))
    # Dvoretzky, Kiefer and Wolfowitz: farther apart than this once in a million.
    bound = math.sqrt(math.log(2e6) / (2 * draws))
    for value in np.unique(exact):
        shares = [np.searchsorted(side, value + 1e-9, side="right") / len(side) for side in (exact, sampled)]
        assert abs(shares[0] - shares[1]) < bound
    assert set(np.round(np.unique(sampled), 9)) <= set(np.round(np.unique(exact), 9))
    for level in (0.5, 0.9):
        result = bootstrap(counts, rate, rng=np.random.default_rng(seed), level=level, resamples=draws)
        for value, share in ((result.low, (1 - level) / 2), (result.high, (1 + level) / 2)):
            around = [np.quantile(exact, share + side * bound, method="inverted_cdf") for side in (-1, 1)]
            assert around[0] - 1e-9 <= value <= around[1] + 1e-9


COUNTS = np.random.default_rng(1).integers(0, 50, size=(83, 3))


def test_more_resamples_keep_the_old_ones() -> None:
    few, many = (resampled_sums(COUNTS, resamples=size, rng=np.random.default_rng(5)) for size in (40, 200))
    assert np.array_equal(many[:40], few)


@pytest.mark.parametrize("block", [1, 7, 150])
@pytest.mark.parametrize("words", [1, 2])
def test_the_size_of_a_block_changes_nothing(block: int, words: int) -> None:
    rows = np.random.default_rng(2).integers(0, 99, 83 * words).astype(np.uint64)
    parts = []
    for first in range(0, 150, block):
        parts.append(np.empty(min(block, 150 - first) * words, np.uint64))
        sum_draws(KEY, first, min(block, 150 - first), 83, rows, parts[-1])
    whole = np.empty(150 * words, np.uint64)
    sum_draws(KEY, 0, 150, 83, rows, whole)
    assert np.array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("most", [1, 50, 10**9, 2**44])
@pytest.mark.parametrize("units", [2, 83])
def test_sums_are_right_however_large_the_counts_are(most: int, units: int) -> None:
    counts = np.random.default_rng(3).integers(0, most, size=(units, 7), endpoint=True)
    key = np.random.default_rng(5).integers(0, 2**64, size=1, dtype=np.uint64)
    expected = weights_of(units, 30, key=key).astype(object) @ counts.astype(object)
    result = resampled_sums(counts, resamples=30, rng=np.random.default_rng(5))
    assert result.tolist() == expected.astype(float).tolist()


def test_fields_that_are_equal_are_summed_once_and_given_twice() -> None:
    doubled = COUNTS[:, [0, 1, 0, 2, 1]]
    single, double = (resampled_sums(item, resamples=20, rng=np.random.default_rng(5)) for item in (COUNTS, doubled))
    assert np.array_equal(double, single[:, [0, 1, 0, 2, 1]])


def test_large_counts_are_summed_exactly() -> None:
    counts = np.full((101, 2), 2**40 + 1)
    sums = resampled_sums(counts, resamples=5, rng=np.random.default_rng(0))
    assert (sums == 101 * (2**40 + 1)).all()


def test_one_number_is_taken_from_the_generator() -> None:
    rng, other = np.random.default_rng(9), np.random.default_rng(9)
    resampled_sums(COUNTS, resamples=10, rng=rng)
    other.integers(0, 2**64, size=1, dtype=np.uint64)
    assert rng.random() == other.random()


def test_an_interval_is_the_middle_of_the_resampled_values() -> None:
    counts = COUNTS[:, :2] + np.array([0, 50])
    values = rate(resampled_sums(counts, resamples=999, rng=np.random.default_rng(2)))
    result = bootstrap(counts, rate, rng=np.random.default_rng(2), level=0.8, resamples=999)
    # 999 values in order: the hundredth from either end has a tenth of 998 steps beyond it, or a little less.
    ordered = np.sort(values)
    assert ordered[99] <= result.low <= ordered[100]
    assert ordered[898] <= result.high <= ordered[899]
    assert result == Interval(result.low, result.high, 0.8, "bootstrap")


def test_units_that_are_all_alike_leave_no_doubt() -> None:
    result = bootstrap(np.array([[3, 4]] * 20), rate, rng=np.random.default_rng(0))
    assert (result.low, result.high) == (0.75, 0.75)


@pytest.mark.parametrize("units", [0, 1])
def test_fewer_than_two_units_tell_nothing(units: int) -> None:
    result = bootstrap(np.ones((units, 2), np.int64), rate, rng=np.random.default_rng(0))
    assert math.isnan(result.low)
    assert math.isnan(result.high)
    assert result.method == "bootstrap"


def test_values_that_are_not_numbers_take_no_part() -> None:
    values = np.array([0.0, math.nan, 1.0, 2.0, math.nan, 3.0, 4.0])
    assert percentiles(values, level=0.5) == Interval(1.0, 3.0, 0.5, "bootstrap")
    assert math.isnan(percentiles(np.full(3, math.nan), level=0.5).low)


def test_a_level_is_between_zero_and_one() -> None:
    with pytest.raises(InputError, match=r"level 95; expected between 0 and 1, such as 0\.95"):
        bootstrap(COUNTS, rate, rng=np.random.default_rng(0), level=95)


def simulated(rng: np.random.Generator, units: int) -> NDArray[np.int64]:
    """Sentences of some difficulty each: words of one are right together more often than words of two."""
    words = rng.integers(1, 40, size=units)
    return np.stack([rng.binomial(words, rng.beta(6, 1.5, size=units)), words], axis=1)


@pytest.mark.slow
def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    # The truth is the mean of beta(6, 1.5), for length and difficulty have nothing to do with each other.
    truth, trials, hits = 6 / 7.5, 1500, 0
    for seed in range(trials):
        rng = np.random.default_rng([2026, seed])
        result = bootstrap(simulated(rng, 150), rate, rng=rng, resamples=400)
        hits += result.low <= truth <= result.high
    # A percentile interval of 400 resamples and 150 units covers a little less than its level.
    assert stats.binom.cdf(hits, trials, 0.93) > 1e-4
    assert stats.binom.sf(hits - 1, trials, 0.955) > 1e-4


@pytest.mark.slow
def test_the_interval_covers_the_truth_for_every_level_and_size() -> None:
    truth, trials = 6 / 7.5, 1200
    for units, level in ((50, 0.9), (400, 0.95), (1000, 0.5)):
        hits = 0
        for seed in range(trials):
            rng = np.random.default_rng([units, seed])
            result = bootstrap(simulated(rng, units), rate, rng=rng, level=level, resamples=600)
            hits += result.low <= truth <= result.high
        short = 1.5 / units  # what percentile intervals lack on few units
        assert stats.binom.cdf(hits, trials, level - short) > 1e-4, (units, level, hits)
        assert stats.binom.sf(hits - 1, trials, level + 0.01) > 1e-4, (units, level, hits)
