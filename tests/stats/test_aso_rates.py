"""How often equal systems are found to differ: the table, and where it comes from."""

import math

import numpy as np
import pytest

from deadheat.stats.aso import ALPHAS, NULL_RATES, TAUS, aso, nearest_null_rates
from deadheat.stats.intervals import normal_quantile

SIMULATIONS = 100_000  # behind every entry


def null_rates(
    runs: int, *, simulations: int, rng: np.random.Generator, resamples: int = 1000
) -> dict[float, tuple[float, ...]]:
    """Rates by alpha; entry n of the table is null_rates(n, simulations=SIMULATIONS, rng=np.random.default_rng(n))."""
    quantiles = np.array([normal_quantile(alpha) for alpha in ALPHAS])
    hits = np.zeros((len(ALPHAS), len(TAUS)), dtype=np.int64)
    for _ in range(simulations):
        result = aso(*rng.standard_normal((2, runs)), resamples=resamples, rng=rng)
        hits += (result.ratio - result.deviation * quantiles)[:, None] < TAUS
    return {alpha: tuple((row / simulations).tolist()) for alpha, row in zip(ALPHAS, hits, strict=True)}


def test_the_table_is_complete_and_in_order() -> None:
    assert list(NULL_RATES) == [3, 5, 10, 20, 50]
    for runs, by_alpha in NULL_RATES.items():
        assert tuple(by_alpha) == ALPHAS
        for narrow, wide in by_alpha.values():
            assert 0 < narrow < wide < 1
        for at in range(len(TAUS)):
            rates = [rates[at] for rates in by_alpha.values()]
            assert rates == sorted(rates, reverse=True), runs


def test_no_alpha_brings_the_rate_below_that_of_complete_separation() -> None:
    for runs, by_alpha in NULL_RATES.items():
        separation = 1 / math.comb(2 * runs, runs)
        for rates in by_alpha.values():
            assert min(rates) > separation - 4 * math.sqrt(separation / SIMULATIONS)


@pytest.mark.parametrize(
    ("runs", "alpha", "entry"),
    [((5, 5), 0.05, (5, 0.05)), ((3, 8), 0.05, (5, 0.05)), ((2, 2), 0.9, (3, 0.05)), ((400, 90), 1e-9, (50, 0.0001))],
)
def test_the_nearest_entry_is_found(runs: tuple[int, int], alpha: float, entry: tuple[int, float]) -> None:
    rates = nearest_null_rates(runs, alpha)
    assert [(item.runs, item.alpha) for item in rates] == [entry, entry]
    assert [item.tau for item in rates] == list(TAUS)
    assert tuple(item.rate for item in rates) == NULL_RATES[entry[0]][entry[1]]


def test_a_result_says_how_often_equal_systems_would_look_like_this() -> None:
    scores = np.random.default_rng(1).normal(size=(2, 5))
    result = aso(*scores, comparisons=5, rng=np.random.default_rng(0))
    assert result.null_rates == nearest_null_rates((5, 5), 0.01)
    assert result.separation == pytest.approx(1 / 252)
    assert f"eps_min < 0.5 in {100 * NULL_RATES[5][0.01][1]:.1f} %" in str(result)


def test_a_rate_is_that_of_the_test_itself() -> None:
    rng, again = np.random.default_rng(4), np.random.default_rng(4)
    rates = null_rates(4, simulations=60, resamples=50, rng=rng)
    for alpha in ALPHAS[:1]:
        bounds = []
        for _ in range(60):
            a, b = again.standard_normal((2, 4))
            bounds.append(aso(a, b, alpha=alpha, resamples=50, rng=again).bound)
        assert rates[alpha] == tuple(float(np.mean(np.array(bounds) < tau)) for tau in TAUS)


@pytest.mark.slow
def test_the_table_can_be_made_again() -> None:
    simulations = 10_000
    rates = null_rates(5, simulations=simulations, rng=np.random.default_rng(2026))
    for alpha, row in rates.items():
        for rate, expected in zip(row, NULL_RATES[5][alpha], strict=True):
            error = math.sqrt(expected * (1 - expected) * (1 / simulations + 1 / SIMULATIONS))
            assert abs(rate - expected) < 4 * error
