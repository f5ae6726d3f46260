from __future__ import annotations

from math import inf, isnan

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from deadheat.errors import InputError
from deadheat.stats.estimates import RunScores
from deadheat.stats.noise import Noise, RunNoise
from deadheat.stats.power import mcnemar_power, plan_power, simulate_mcnemar_power


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


def paired_t_power(effect: float, units: int, alpha: float) -> float:
    """Power of the paired t-test as statsmodels' TTestPower and R's power.t.test compute it."""
    bound, shift = stats.t.isf(alpha / 2, units - 1), effect * units**0.5
    return float(stats.nct.sf(bound, units - 1, shift) + stats.nct.cdf(-bound, units - 1, shift))


@pytest.mark.parametrize(
    ("units", "effect", "alpha"),
    [(10, 1.1, 0.05), (25, 0.5, 0.05), (400, 0.1, 0.01), (4, 2.0, 0.1), (60, 0.2, 0.1), (34, 0.5, 0.05)],
)
def test_units_alone_have_the_power_of_the_paired_t_test(units: int, effect: float, alpha: float) -> None:
    noise = Noise(units, units, 1.0, units - 1, (RunNoise(1), RunNoise(1)))
    result = plan_power(noise, effect, rng=np.random.default_rng(0), alpha=alpha)
    assert result.power == pytest.approx(paired_t_power(effect, units, alpha), abs=1e-9)
    assert paired_t_power(result.smallest, units, alpha) == pytest.approx(0.8, abs=1e-9)
    needed = int(result.needed)
    assert needed == 2 or paired_t_power(effect, needed - 1, alpha) < 0.8
    assert paired_t_power(effect, needed, alpha) >= 0.8


def test_published_powers_of_the_one_sample_t_test() -> None:
    one = Noise(60, 60, 1.0, 59, (RunNoise(1), RunNoise(1)))
    # pwr.t.test(d=0.2, n=60, sig.level=0.10, type="one.sample") in the manual of the R package pwr
    assert plan_power(one, 0.2, rng=np.random.default_rng(0), alpha=0.1).power == pytest.approx(0.4555818, abs=1e-7)
    # The paired t-test with an effect of 0.5 in the manual of G*Power: 34 pairs, actual power 0.807778
    result = plan_power(one, 0.5, rng=np.random.default_rng(0), units=34)
    assert (result.needed, round(result.power, 6)) == (34, 0.807778)


def world(
    noise: Noise, gap: float, units: int, runs: tuple[int, int], rng: np.random.Generator
) -> tuple[RunScores, RunScores]:
    """Runs of two systems on new units: scores of a unit have what both systems share, a unit's part and a run's."""
    shared, own = rng.normal(0, 1, units), rng.normal(0, noise.per_unit**0.5, units)
    scores = []
    for system, number, mean in zip(noise.systems, runs, (gap + shared + own, shared), strict=True):
        between = rng.normal(0, system.between**0.5, (number, 1))
        values = mean + between + rng.normal(0, system.on_units**0.5, (number, units))
        scores.append(RunScores.of(np.stack([values, np.ones_like(values), np.ones_like(values)], axis=-1), share))
    return scores[0], scores[1]


WORLDS = [  # units, runs, variances: per unit, between runs, of runs on units; difference
    (40, (1, 1), 1.0, 0.0, 0.0, 0.45),
    (60, (5, 5), 1.0, 0.02, 1.0, 0.45),
    (60, (3, 3), 1.0, 0.05, 0.5, 0.6),
    (100, (2, 2), 0.5, 0.05, 0.5, 0.8),
    (200, (10, 4), 0.5, 0.01, 2.0, 0.25),
]


@pytest.mark.parametrize(("units", "runs", "per_unit", "between", "on_units", "gap"), WORLDS)
def test_power_is_the_share_of_experiments_whose_p_value_is_at_most_alpha(
    units: int, runs: tuple[int, int], per_unit: float, between: float, on_units: float, gap: float
) -> None:
    rng, simulations = np.random.default_rng(1), 2000
    first, second = (RunNoise(number, between, on_units) for number in runs)
    noise = Noise(units, units, per_unit, units - 1, (first, second))
    result = plan_power(noise, gap, rng=rng)
    hits = sum(
        one.minus(other).estimate.p <= 0.05
        for one, other in (world(noise, gap, units, runs, rng) for _ in range(simulations))
    )
    error = (result.power * (1 - result.power) / simulations) ** 0.5
    assert hits / simulations == pytest.approx(result.power, abs=3 * error + 0.005)
    assert result.simulated == pytest.approx(result.power, abs=3 * (0.25 / 10_000) ** 0.5)


def test_noise_is_measured_and_gives_back_the_estimate_it_came_from() -> None:
    rng = np.random.default_rng(2)
    truth = Noise(400, 400, 1.0, 399, (RunNoise(6, 0.03, 0.5), RunNoise(4, 0.03, 0.5)))
    pair = world(truth, 0.0, 400, (6, 4), rng)
    measured, observed = Noise.of(*pair), pair[0].minus(pair[1])
    design = measured.design(observed.value, 400, (6, 4))
    assert design.estimate.error == pytest.approx(observed.estimate.error)
    assert design.estimate.freedom == pytest.approx(observed.estimate.freedom)
    assert design.shared == pytest.approx(observed.shared)
    many = [Noise.of(*world(truth, 0.0, 400, (6, 4), rng)) for _ in range(300)]
    assert np.mean([noise.per_unit for noise in many]) == pytest.approx(1.0, abs=0.02)
    assert np.mean([noise.systems[0].on_units for noise in many]) == pytest.approx(0.5, abs=0.01)
    assert np.mean([noise.systems[0].between for noise in many]) == pytest.approx(0.03, abs=0.004)


def test_the_interval_of_the_needed_units_covers_the_true_number() -> None:
    rng, covered = np.random.default_rng(3), 0
    truth = Noise(30, 30, 1.0, 29, (RunNoise(1), RunNoise(1)))
    needed = plan_power(truth, 0.3, rng=rng).needed
    for _ in range(200):
        result = plan_power(Noise.of(*world(truth, 0.0, 30, (1, 1), rng)), 0.3, rng=rng)
        covered += result.needed_low <= needed <= result.needed_high
    assert 0.91 <= covered / 200 <= 0.99  # 95% but for three standard errors


def test_no_number_of_units_makes_up_for_noise_between_few_runs() -> None:
    runs = RunNoise(3, 0.01)
    result = plan_power(Noise(100, 100, 1.0, 99, (runs, runs)), 0.1, rng=np.random.default_rng(0))
    assert result.needed == inf
    assert result.by_units == ()
    many = plan_power(Noise(100, 100, 1.0, 99, (runs, runs)), 0.1, rng=np.random.default_rng(0), runs=(40, 40))
    assert many.needed < inf
    assert many.run_share == pytest.approx(2 * 0.01 / 40 / (2 * 0.01 / 40 + 1 / 100))


def test_power_rises_with_units_runs_and_difference() -> None:
    noise = Noise(100, 60, 1.0, 59, (RunNoise(4, 0.01, 0.3), RunNoise(4, 0.01, 0.3)))

    def power(units: int, runs: int, gap: float) -> float:
        return plan_power(noise, gap, rng=np.random.default_rng(0), units=units, runs=(runs, runs)).power

    for cases in (
        [(50, 4, 0.3), (100, 4, 0.3), (1000, 4, 0.3)],
        [(100, 2, 0.3), (100, 4, 0.3), (100, 20, 0.3)],
        [(100, 4, 0.1), (100, 4, 0.3), (100, 4, 30)],
    ):
        powers = [power(*case) for case in cases]
        assert powers == sorted(powers)
    assert power(100, 4, 30) == pytest.approx(1)


def test_a_design_effect_divides_the_items() -> None:
    clustered, independent = mcnemar_power(1000, 0.06, 0.04, design_effect=2), mcnemar_power(500, 0.06, 0.04)
    assert (clustered.power, clustered.smallest) == (independent.power, independent.smallest)
    assert clustered.needed == pytest.approx(2 * independent.needed, abs=2)


def test_what_cannot_be_planned_is_refused() -> None:
    noise, rng = Noise(100, 20, 1.0, 19, (RunNoise(1), RunNoise(1))), np.random.default_rng(0)
    with pytest.raises(InputError, match="difference 0; expected a number other than 0"):
        plan_power(noise, 0.0, rng=rng)
    with pytest.raises(InputError, match=r"5 units, which weigh as much as 1.0 equal ones"):
        plan_power(noise, 0.1, units=5, rng=rng)


@pytest.mark.parametrize("wrong", [{"alpha": 0.0}, {"alpha": 1.5}, {"target": 1.0}])
def test_levels_outside_zero_and_one_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="expected between 0 and 1"):
        mcnemar_power(100, 0.1, 0.05, **wrong)


def test_impossible_chances_are_refused() -> None:
    with pytest.raises(InputError, match="sum to at most 1"):
        mcnemar_power(100, 0.7, 0.5)
