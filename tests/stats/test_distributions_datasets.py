"""Runs on several data sets: the interquartile mean and the probability of improvement."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from deadheat.errors import InputError
from deadheat.kernels.resampling import resampled_interquartile_means
from deadheat.stats import aggregates
from deadheat.stats.aggregates import interquartile_mean, probability_of_improvement

ROWS = st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=4), min_size=1, max_size=4)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def resampled(rows: list[list[float]], resamples: int, key: int) -> np.ndarray:
    """Interquartile means of resamples, from the kernel as the module calls it."""
    flat = np.concatenate(rows)
    order = np.argsort(flat, kind="stable")
    positions = np.empty(len(flat), dtype=np.int64)
    positions[order] = np.arange(len(flat))
    starts = np.cumsum([0, *map(len, rows)])
    means = np.empty(resamples)
    drawn = np.empty_like(positions)
    resampled_interquartile_means(np.array([key], dtype=np.uint64), flat[order], positions, starts, drawn, means)
    return means


def test_an_interquartile_mean_worked_out_by_hand() -> None:
    # Of 1 2 3 4 5 6 7 8 9 the lowest and the highest two are left out: 3 4 5 6 7.
    assert interquartile_mean([[9, 1, 5], [2, 8, 4], [3, 6, 7]], rng=rng()).value == 5


@given(ROWS)
def test_the_interquartile_mean_is_the_trimmed_mean_of_scipy(rows: list[list[int]]) -> None:
    expected = stats.trim_mean(np.concatenate(rows), 0.25)
    assert interquartile_mean(rows, resamples=5, rng=rng()).value == pytest.approx(expected, abs=1e-12)


def test_every_resample_listed_gives_the_distribution_of_the_interquartile_mean() -> None:
    rows = [[1.0, 5.0], [2.0, 9.0], [4.0, 3.0]]
    every = [
        np.sort(np.concatenate(draw))[1:-1].mean() for draw in product(*(list(product(r, repeat=2)) for r in rows))
    ]
    means = resampled(rows, 100_000, key=1)
    values, counts = np.unique(np.round(means, 9), return_counts=True)
    expected, share = np.unique(np.round(every, 9), return_counts=True)
    np.testing.assert_array_equal(values, expected)
    # A count is off by five standard deviations at most.
    chance = share / len(every)
    assert (np.abs(counts - 100_000 * chance) < 5 * np.sqrt(100_000 * chance * (1 - chance))).all()


def test_resamples_stay_within_data_sets() -> None:
    rows = [[10.0] * 5, [20.0] * 5, [30.0] * 5, [40.0] * 5]
    assert set(resampled(rows, 200, key=0)) == {25.0}


def test_resamples_in_plain_python_are_the_same() -> None:
    rows = [[1.0, 5.0, 2.5], [2.0, 9.0], [4.0, 3.0, 8.0, 7.0]]
    expected = resampled(rows, 30, key=7)
    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore"):
        patch.setitem(globals(), "resampled_interquartile_means", resampled_interquartile_means.python)
        np.testing.assert_array_equal(resampled(rows, 30, key=7), expected)


def test_more_resamples_keep_the_old_ones() -> None:
    rows = [[1.0, 5.0, 2.5], [2.0, 9.0]]
    np.testing.assert_array_equal(resampled(rows, 10, key=3), resampled(rows, 100, key=3)[:10])


def test_the_order_of_runs_and_data_sets_does_not_move_the_mean() -> None:
    scores = rng(1).normal(size=(6, 4))
    moved = scores[::-1, ::-1]
    first, second = (interquartile_mean(item, resamples=20_000, rng=rng()) for item in (scores, moved))
    assert first.value == pytest.approx(second.value, abs=1e-12)
    assert first.interval.low == pytest.approx(second.interval.low, abs=0.03)


def test_an_interval_of_the_interquartile_mean_is_like_that_of_rliable() -> None:
    # From rliable 1.2.0 after np.random.seed(0), by get_interval_estimates({"a": scores.T}, f, reps=20_000) with f the
    # function from x to np.array([metrics.aggregate_iqm(x)]).
    scores = rng(42).normal(0.8, 0.05, (20, 5)) + np.linspace(-0.1, 0.1, 20)[:, None]
    result = interquartile_mean(scores, resamples=20_000, rng=rng())
    assert result.value == pytest.approx(0.80039534, abs=1e-8)
    assert (result.interval.low, result.interval.high) == pytest.approx((0.79154933, 0.80919809), abs=5e-4)


@given(ROWS, ROWS)
@settings(max_examples=50)
def test_the_probability_of_improvement_counts_pairs(a: list[list[int]], b: list[list[int]]) -> None:
    sets = min(len(a), len(b))
    expected = [np.mean([(x > y) + (x == y) / 2 for x in a[d] for y in b[d]]) for d in range(sets)]
    result = probability_of_improvement(a[:sets], b[:sets], resamples=5, rng=rng())
    assert result.by_dataset == pytest.approx(expected, abs=1e-12)
    assert result.value == pytest.approx(np.mean(expected), abs=1e-12)


def test_every_resample_listed_gives_the_interval_of_the_improvement() -> None:
    a, b = [1, 4, 6], [2, 5]
    every = [
        np.mean([(x > y) + (x == y) / 2 for x in draw for y in other])
        for draw in product(a, repeat=3)
        for other in product(b, repeat=2)
    ]
    share_B = aggregates._resampled_win_shares(
        np.array(a, dtype=float), np.array(b, dtype=float), rng().integers(0, 2**64, 2, dtype=np.uint64), 100_000
    )
    assert set(np.round(share_B, 9)) == set(np.round(every, 9))
    assert share_B.mean() == pytest.approx(np.mean(every), abs=5 * np.std(every) / math.sqrt(100_000))
    assert share_B.std() == pytest.approx(np.std(every), rel=0.02)


def test_swapped_systems_have_the_other_probability() -> None:
    a, b = rng(1).normal(0.5, 1, (4, 5)), rng(2).normal(0, 1, (4, 6))
    there, back = (probability_of_improvement(x, y, resamples=20_000, rng=rng()) for x, y in ((a, b), (b, a)))
    assert there.value == pytest.approx(1 - back.value)
    assert there.interval.low == pytest.approx(1 - back.interval.high, abs=0.01)


def test_one_data_set_may_come_alone() -> None:
    a, b = [3.0, 1.0, 2.0], np.array([1.0, 2.0])
    assert probability_of_improvement(a, b, rng=rng()) == probability_of_improvement([a], [b], rng=rng())


@pytest.mark.parametrize("block", [1, 13, 1 << 19])
def test_the_size_of_blocks_changes_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = rng(1).normal(size=(3, 5)), rng(2).normal(size=(3, 4))
    expected = probability_of_improvement(a, b, resamples=100, rng=rng())
    monkeypatch.setattr(aggregates, "BLOCK", block)
    assert probability_of_improvement(a, b, resamples=100, rng=rng()) == expected


def test_a_data_set_with_one_run_leaves_no_interval() -> None:
    mean = interquartile_mean([[0.9, 0.8], [0.7]], rng=rng())
    assert mean.value == pytest.approx(0.8)
    improvement = probability_of_improvement([0.9], [0.8, 0.85], rng=rng())
    assert improvement.value == 1
    for result in (mean, improvement):
        assert math.isnan(result.interval.low)
        assert "one run" in str(result)


def test_results_print_as_one_line() -> None:
    scores = rng(1).normal(size=(3, 4))
    for result in (interquartile_mean(scores, rng=rng()), probability_of_improvement(scores, scores, rng=rng())):
        assert "\n" not in str(result)


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([], {}, "interquartile_mean: no data sets"),
        ([[0.1, 0.2], []], {}, "data set 2: no scores"),
        ([[0.1, math.nan]], {}, "data set 1: score 2 is nan"),
        ([[0.1, 0.2]], {"level": 1}, "level 1"),
        ([[0.1, 0.2]], {"resamples": 0}, "resamples 0"),
    ],
)
def test_wrong_scores_of_data_sets_are_refused(
    scores: list[list[float]], options: dict[str, int], message: str
) -> None:
    with pytest.raises(InputError, match=f"{message}.*; expected"):
        interquartile_mean(scores, rng=rng(), **options)


def test_systems_on_different_data_sets_are_refused() -> None:
    with pytest.raises(InputError, match="2 and 1 data sets"):
        probability_of_improvement([[1, 2], [3, 4]], [[1, 2]], rng=rng())


@pytest.mark.slow
def test_intervals_of_the_interquartile_mean_hold_the_true_value_about_as_often_as_claimed() -> None:
    # With 10 runs a percentile interval is known to be short: between 88 and 97 of 100, not 95.
    chance, hits, simulations = rng(9), 0, 500
    positions = np.linspace(0, 1, 12)[:, None]
    true = interquartile_mean(positions + chance.normal(0, 0.05, (12, 20_000)), resamples=2, rng=rng()).value
    for _ in range(simulations):
        result = interquartile_mean(positions + chance.normal(0, 0.05, (12, 10)), resamples=500, rng=chance)
        hits += result.interval.low <= true <= result.interval.high
    assert 0.88 * simulations < hits < 0.98 * simulations
