"""Wilson's interval and the normal quantile: by hand, by a published table, beside scipy, by coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deadheat.errors import InputError
from deadheat.stats import Interval, wilson
from deadheat.stats.intervals import normal_quantile

# Newcombe (1998), Statistics in Medicine 17, table I, method 3 (the score method without continuity correction).
NEWCOMBE = {
    (81, 263): (0.2553, 0.3662),
    (15, 148): (0.0624, 0.1605),
    (0, 20): (0.0000, 0.1611),
    (1, 29): (0.0061, 0.1718),
}


@pytest.mark.parametrize(("correct", "total"), NEWCOMBE)
def test_wilsons_interval_is_that_of_the_published_examples(correct: int, total: int) -> None:
    result = wilson(correct, total)
    assert (round(result.low, 4), round(result.high, 4)) == NEWCOMBE[correct, total]


def test_wilsons_interval_by_hand() -> None:
    # z = 2 has the level erf(sqrt 2): for 1 of 2 the bounds are (1/2 + 1 -/+ 2 sqrt(1/8 + 1/4)) / 3.
    result = wilson(1, 2, level=math.erf(math.sqrt(2)))
    reach = 2 * math.sqrt(3 / 8)
    assert [result.low, result.high] == pytest.approx([(1.5 - reach) / 3, (1.5 + reach) / 3])


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("total", [1, 2, 7, 50, 1000, 25_097])
def test_wilsons_interval_is_that_of_scipy(total: int, level: float) -> None:
    for correct in sorted({0, 1, total // 3, total // 2, total - 1, total}):
        expected = stats.binomtest(correct, total).proportion_ci(level, method="wilson")
        result = wilson(correct, total, level=level)
        assert result.low == pytest.approx(expected.low, abs=1e-12)
        assert result.high == pytest.approx(expected.high, abs=1e-12)


def test_the_interval_of_none_right_begins_at_exactly_zero_and_of_all_right_ends_at_exactly_one() -> None:
    for total in (1, 3, 17, 1000, 123_457):
        assert wilson(0, total).low == 0.0
        assert wilson(total, total).high == 1.0
        assert 0 < wilson(0, total).high < 1
        assert 0 < wilson(total, total).low < 1


def test_of_nothing_tried_nothing_is_known() -> None:
    nothing = wilson(0, 0)
    assert math.isnan(nothing.low)
    assert math.isnan(nothing.high)
    assert (nothing.level, nothing.method) == (0.95, "wilson")


@pytest.mark.parametrize(("correct", "total"), [(-1, 5), (6, 5), (1, 0), (0, -1)])
def test_more_right_than_there_is_is_refused(correct: int, total: int) -> None:
    with pytest.raises(InputError, match=f"wilson: {correct} correct of {total}; expected between 0 and {total}"):
        wilson(correct, total)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95.0, math.nan])
def test_a_level_is_between_zero_and_one(level: float) -> None:
    with pytest.raises(InputError, match=f"level {level}; expected between 0 and 1, such as 0.95"):
        wilson(1, 2, level=level)


@given(st.integers(1, 10**6), st.floats(0, 1), st.floats(0.01, 0.9999))
def test_at_its_bounds_the_score_test_just_rejects(total: int, share: float, level: float) -> None:
    correct = round(share * total)
    result, z = wilson(correct, total, level=level), normal_quantile((1 + level) / 2)
    observed = correct / total
    assert 0 <= result.low <= observed <= result.high <= 1
    for bound in (result.low, result.high):
        distance = z * math.sqrt(bound * (1 - bound) / total)
        assert abs(bound - observed) == pytest.approx(distance, abs=1e-7)


@given(st.integers(1, 10**6), st.floats(0, 1))
def test_right_and_wrong_change_places(total: int, share: float) -> None:
    correct = round(share * total)
    result, mirrored = wilson(correct, total), wilson(total - correct, total)
    assert result.low == pytest.approx(1 - mirrored.high, abs=1e-12)
    assert result.high == pytest.approx(1 - mirrored.low, abs=1e-12)


def test_the_normal_quantile_is_that_of_scipy() -> None:
    low = [1e-300, 1e-100, 1e-20, 1e-9, 0.001, 0.025, 0.2, 0.4999]
    probabilities = [*low, 0.6, 0.95, 0.975, 0.999, 1 - 1e-9, 1 - 1e-15]
    for probability in probabilities:
        assert normal_quantile(probability) == pytest.approx(float(stats.norm.ppf(probability)), rel=1e-12)
    assert normal_quantile(0.975) == pytest.approx(1.959963984540054, abs=1e-14)
    assert normal_quantile(0.5) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize(
    ("level", "shown"), [(0.95, "95"), (0.9, "90"), (0.999, "99.9"), (0.975, "97.5"), (0.99999, "99.999"), (0.07, "7")]
)
def test_an_interval_prints_with_its_level_and_its_method(level: float, shown: str) -> None:
    assert str(Interval(0.12345, 1.0, level, "wilson")) == f"[0.1235, 1.0000] ({shown} % wilson)"


@pytest.mark.parametrize(("total", "rate"), [(30, 0.5), (100, 0.1), (263, 0.3), (1000, 0.92)])
def test_wilsons_interval_covers_the_truth_as_often_as_it_says(total: int, rate: float) -> None:
    # The chance of every outcome is known: no simulation, no error. Wilson's coverage swings about its level.
    coverage = sum(
        float(stats.binom.pmf(correct, total, rate))
        for correct in range(total + 1)
        if wilson(correct, total).low <= rate <= wilson(correct, total).high
    )
    assert 0.93 < coverage < 0.97


def test_wilsons_interval_covers_the_truth_in_simulated_data() -> None:
    rng = np.random.default_rng(20260101)
    trials, hits = 3000, 0
    for rate in rng.uniform(0.05, 0.95, size=trials):
        total = int(rng.integers(20, 2000))
        result = wilson(int(rng.binomial(total, rate)), total)
        hits += result.low <= rate <= result.high
    assert compatible(hits, trials, low=0.945, high=0.96)


def compatible(hits: int, trials: int, *, low: float, high: float) -> bool:
    """Whether so many hits are likely for some rate between two: no tail has a chance below one in ten thousand."""
    return bool(stats.binom.sf(hits - 1, trials, high) > 1e-4 and stats.binom.cdf(hits, trials, low) > 1e-4)
