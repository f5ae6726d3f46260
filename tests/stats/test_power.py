from __future__ import annotations

from math import inf, isnan

import numpy as np
import pytest
from numpy.typing import NDArray

from deadheat.errors import InputError
from deadheat.stats.power import mcnemar_power, paired_power, simulate_mcnemar_power


def share(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(sums[..., 0] / sums[..., 1])


@pytest.mark.parametrize(("items", "b", "c"), [(500, 0.08, 0.04), (2000, 0.05, 0.04), (300, 0.2, 0.1)])
def test_the_closed_form_agrees_with_simulation(items: int, b: float, c: float) -> None:
    formula = mcnemar_power(items, b, c).power
    simulated = simulate_mcnemar_power(items, b, c, rng=np.random.default_rng(0), simulations=4000)
    assert formula == pytest.approx(simulated, abs=0.03)


def test_the_needed_size_and_the_smallest_difference_have_the_wanted_power() -> None:
    result = mcnemar_power(1000, 0.06, 0.04)
    assert mcnemar_power(int(result.needed), 0.06, 0.04).power == pytest.approx(0.8, abs=0.001)
    half, gap = 0.05, result.smallest / 2
    assert mcnemar_power(1000, half + gap, half - gap).power == pytest.approx(0.8, abs=1e-6)


def test_equal_systems_never_differ_significantly() -> None:
    result = mcnemar_power(100, 0.05, 0.05)
    assert result.needed == inf
    assert result.power == pytest.approx(0.05, abs=1e-9)
    assert isnan(mcnemar_power(2, 0.05, 0.05).smallest)
    assert mcnemar_power(100, 0, 0).power == 0


def test_power_on_units_agrees_with_its_simulation_and_with_new_test_sets() -> None:
    rng = np.random.default_rng(1)
    population = 40_000
    gold = rng.integers(5, 25, population)
    hard = rng.beta(8, 2, population)
    first, second = (np.stack([rng.binomial(gold, hard * q), gold, gold], axis=1) for q in (1.0, 0.985))
    result = paired_power(first, second, share, rng=rng, units=800, simulations=1000)
    assert result.power == pytest.approx(result.simulated, abs=0.05)
    rejected = 0
    for _ in range(400):  # test sets drawn from the population, each tested by a z-test of the mean difference
        some = rng.integers(0, population, 800)
        gaps = first[some, 0] - second[some, 0]
        rejected += abs(gaps.sum()) > 1.96 * np.sqrt((gaps**2).sum() - gaps.sum() ** 2 / 800)
    assert result.power == pytest.approx(rejected / 400, abs=0.08)


def test_power_rises_with_size() -> None:
    rng = np.random.default_rng(2)
    gold = np.full(300, 10)
    first, second = (np.stack([rng.binomial(10, p, 300), gold, gold], axis=1) for p in (0.9, 0.88))
    powers = [paired_power(first, second, share, rng=rng, units=n, simulations=10).power for n in (100, 300, 3000)]
    assert powers == sorted(powers)


def test_systems_that_never_differ_have_no_power() -> None:
    counts = np.stack([np.arange(1, 11), np.full(10, 12), np.full(10, 12)], axis=1)
    result = paired_power(counts, counts, share, rng=np.random.default_rng(0))
    assert (result.power, result.needed) == (0, inf)


@pytest.mark.parametrize("wrong", [{"alpha": 0.0}, {"alpha": 1.5}, {"target": 1.0}])
def test_levels_outside_zero_and_one_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="expected between 0 and 1"):
        mcnemar_power(100, 0.1, 0.05, **wrong)


def test_impossible_chances_are_refused() -> None:
    with pytest.raises(InputError, match="sum to at most 1"):
        mcnemar_power(100, 0.7, 0.5)
