"""Bradley and Terry's model: by hand, against a general optimiser, and by simulation."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import binom

from deadheat.errors import InputError
from deadheat.stats.bradley_terry import POINTS, Battles, BradleyTerry, bradley_terry, expected_score
from deadheat.stats.corrections import holm

FEW, MANY = 150, 2000


def two_systems(wins: int, ties: int, losses: int) -> Battles:
    number = wins + ties + losses
    outcomes = np.repeat([1.0, 0.5, 0.0], [wins, ties, losses])
    return Battles(("A", "B"), np.zeros(number, int), np.ones(number, int), outcomes, np.arange(number))


def drawn(
    rng: np.random.Generator,
    strengths: np.ndarray,
    prompts: int,
    *,
    per_prompt: int = 1,
    prompt_sd: float = 0.0,
    tie_share: float = 0.25,
) -> Battles:
    """Battles whose expected score is that of the strengths, in logits; some prompts suit some systems."""
    systems = len(strengths)
    pairs = np.array([(i, j) for i in range(systems) for j in range(i)])
    prompt_N = np.repeat(np.arange(prompts), per_prompt)
    first_N, second_N = pairs[rng.integers(len(pairs), size=len(prompt_N))].T
    swap_N = rng.random(len(prompt_N)) < 0.5
    first_N, second_N = np.where(swap_N, second_N, first_N), np.where(swap_N, first_N, second_N)
    signs = rng.choice([-1, 1], size=(prompts, systems)) * prompt_sd
    # The mean over prompts is what strengths are: shares are shifted, not logits.
    chance_N = expit(strengths[first_N] - strengths[second_N])
    room_N = np.minimum(chance_N, 1 - chance_N)
    chance_N = chance_N + room_N * (signs[prompt_N, first_N] - signs[prompt_N, second_N]) / 2
    tied_N = rng.random(len(prompt_N)) < tie_share * 2 * np.minimum(chance_N, 1 - chance_N)
    tie_chance_N = tie_share * 2 * np.minimum(chance_N, 1 - chance_N)
    win_N = rng.random(len(prompt_N)) < (chance_N - tie_chance_N / 2) / (1 - tie_chance_N)
    names = tuple(map(str, range(systems)))
    return Battles(names, first_N, second_N, np.where(tied_N, 0.5, win_N.astype(float)), prompt_N)


def test_two_systems_by_hand() -> None:
    # Score (60 + 20 / 2) / 100 = 0.7, odds 7 to 3. Residuals 0.3, -0.2 and -0.7; information 100 * 0.7 * 0.3 = 21.
    estimate = bradley_terry(two_systems(60, 20, 20)).difference(0, 1)
    assert estimate.value == pytest.approx(400 * math.log10(7 / 3))
    squares = 60 * 0.3**2 + 20 * 0.2**2 + 20 * 0.7**2
    assert estimate.error == pytest.approx(POINTS * math.sqrt(squares * (100 / 99) ** 2) / 21)
    assert estimate.freedom == 99
    assert expected_score(estimate.value) == pytest.approx(0.7)


def test_without_ties_the_error_is_that_of_the_logit() -> None:
    estimate = bradley_terry(two_systems(75, 0, 25)).difference(0, 1)
    assert estimate.error == pytest.approx(POINTS * math.sqrt(1 / 75 + 1 / 25) * 100 / 99)


def test_strengths_are_those_of_a_general_optimiser() -> None:
    for seed in range(5):
        battles = drawn(np.random.default_rng(seed), np.array([0.0, 0.5, -1.0, 2.0, 0.3]), 150)

        def loss(free_S: np.ndarray, battles: Battles = battles) -> float:
            strengths = np.append(free_S, 0.0)
            gap = strengths[battles.first_N] - strengths[battles.second_N]
            return float(-(battles.outcome_N * gap - np.logaddexp(0, gap)).sum())

        found = np.append(minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x, 0.0)
        fit = bradley_terry(battles)
        assert fit.strengths_S == pytest.approx(POINTS * (found - found.mean()), abs=1e-3)
        assert fit.strengths_S.sum() == pytest.approx(0, abs=1e-9)


def test_errors_are_those_of_the_jackknife_over_prompts() -> None:
    battles = drawn(np.random.default_rng(1), np.array([0.0, 0.5, -0.5]), 250, per_prompt=3, prompt_sd=0.8)
    fit, left_out = bradley_terry(battles), []
    for prompt in range(250):
        kept = battles.cluster_N != prompt
        clusters = np.unique(battles.cluster_N[kept], return_inverse=True)[1]
        sides = battles.first_N[kept], battles.second_N[kept]
        left_out.append(bradley_terry(Battles(battles.systems, *sides, battles.outcome_N[kept], clusters)).strengths_S)
    spread = np.array(left_out) - np.mean(left_out, axis=0)
    jackknife = 249 / 250 * spread.T @ spread
    assert fit.covariance_SS == pytest.approx(jackknife, rel=0.05, abs=0.05 * jackknife.max())


def test_the_side_and_the_order_of_systems_do_not_matter() -> None:
    battles = drawn(np.random.default_rng(2), np.array([0.0, 1.0, -0.5, 0.2]), 100)
    turned = Battles(battles.systems, battles.second_N, battles.first_N, 1 - battles.outcome_N, battles.cluster_N)
    fit, again, part = bradley_terry(battles), bradley_terry(turned), bradley_terry(battles.only([3, 1, 0, 2]))
    assert again.strengths_S == pytest.approx(fit.strengths_S)
    assert again.covariance_SS == pytest.approx(fit.covariance_SS)
    assert part.strengths_S == pytest.approx(fit.strengths_S[[3, 1, 0, 2]])


def test_the_same_judgment_made_twice_is_no_more_evidence() -> None:
    battles = drawn(np.random.default_rng(3), np.array([0.0, 0.5, -0.5]), 300)
    sides = np.repeat(battles.first_N, 2), np.repeat(battles.second_N, 2)
    twice = Battles(battles.systems, *sides, np.repeat(battles.outcome_N, 2), np.repeat(battles.cluster_N, 2))
    once, double = (bradley_terry(item).difference(0, 1) for item in (battles, twice))
    assert double.value == pytest.approx(once.value)
    assert double.error == pytest.approx(once.error, rel=0.01)
    assert double.freedom == once.freedom


def test_systems_that_win_everything_have_no_strength() -> None:
    first, second = np.array([0, 0, 1, 2, 1]), np.array([1, 2, 2, 1, 0])
    battles = Battles(("A", "B", "C"), first, second, np.array([1.0, 1, 1, 1, 0]), np.arange(5))
    assert battles.comparable() == [[1, 2], [0]]
    assert battles.is_connected()
    with pytest.raises(InputError, match="without a common scale"):
        bradley_terry(battles)
    assert bradley_terry(battles.only([1, 2])).strengths_S == pytest.approx([0, 0])
    tied = Battles(("A", "B", "C"), first, second, np.array([1.0, 0.5, 1, 1, 0]), np.arange(5))
    assert np.isfinite(bradley_terry(tied).strengths_S).all()
    apart = Battles(("A", "B", "C", "D"), np.array([0, 1, 2, 3]), np.array([1, 0, 3, 2]), np.ones(4), np.arange(4))
    assert not apart.is_connected()


def test_strong_differences_converge() -> None:
    fit = bradley_terry(two_systems(10**6, 0, 1))
    assert fit.difference(0, 1).value == pytest.approx(400 * 6)
    chain = [(i, i + 1, 10**4, 1) for i in range(8)]
    rows = [(a, b, float(win)) for a, b, wins, losses in chain for win in [1] * wins + [0] * losses]
    a, b, outcome = (np.array(column) for column in zip(*rows, strict=True))
    fit = bradley_terry(Battles(tuple("ABCDEFGHI"), a, b, outcome.astype(float), np.arange(len(rows))))
    assert np.diff(fit.strengths_S) == pytest.approx(np.full(8, -1600), rel=1e-6)


WORLDS = {
    "4 systems, 200 prompts": ([0.0, 0.0, 0.0, 0.0], {"prompts": 200}),
    "6 systems, 150 prompts x 2": ([0.0] * 6, {"prompts": 150, "per_prompt": 2, "prompt_sd": 0.8}),
    "3 systems, 40 prompts x 6": ([0.0] * 3, {"prompts": 40, "per_prompt": 6, "prompt_sd": 0.9}),
    "3 systems, 25 prompts": ([0.0] * 3, {"prompts": 25}),
    "5 uneven systems, 400 prompts": ([1.0, 0.5, 0.0, -0.5, -1.5], {"prompts": 400, "prompt_sd": 0.5}),
}


def outcomes(name: str, worlds: int) -> tuple[int, int, int]:
    """How many intervals of strengths and of a difference cover the truth, and worlds in which some pair is wrong."""
    strengths, design = WORLDS[name]
    truth = POINTS * (np.array(strengths) - np.mean(strengths))
    strength = difference = false = 0
    for world in range(worlds):
        battles = drawn(np.random.default_rng([7, world]), np.array(strengths), **design)  # type: ignore[arg-type]
        if len(battles.comparable()) > 1:
            continue
        fit: BradleyTerry = bradley_terry(battles)
        low, high = fit.strength(0).interval().bounds
        strength += low <= truth[0] <= high
        low, high = fit.difference(0, 1).interval().bounds
        difference += low <= truth[0] - truth[1] <= high
        pairs = [(i, j) for i in range(len(strengths)) for j in range(i)]
        p_values = [fit.difference(i, j).p for i, j in pairs if strengths[i] == strengths[j]]
        false += bool(p_values) and min(holm(p_values)) <= 0.05
    return strength, difference, false


@pytest.mark.parametrize("name", WORLDS)
def test_intervals_cover_and_equal_systems_seldom_win(name: str) -> None:
    strength, difference, false = outcomes(name, FEW)
    assert min(strength, difference) >= binom.ppf(0.001, FEW, 0.94)
    assert false <= binom.ppf(0.999, FEW, 0.06)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_intervals_cover_and_equal_systems_seldom_win_in_many_worlds(name: str) -> None:
    strength, difference, false = outcomes(name, MANY)
    assert min(strength, difference) >= binom.ppf(0.001, MANY, 0.94)
    assert false <= binom.ppf(0.999, MANY, 0.055)


def test_battles_without_regard_to_prompts_err() -> None:
    strengths, wrong = np.zeros(3), 0
    for world in range(FEW):
        battles = drawn(np.random.default_rng([7, world]), strengths, 40, per_prompt=6, prompt_sd=0.9)
        independent = replace(battles, cluster_N=np.arange(240))
        wrong += bradley_terry(independent).difference(0, 1).p <= 0.05
    assert wrong > binom.ppf(0.999, FEW, 0.06)
