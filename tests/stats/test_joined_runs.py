"""Runs that are one model on all data sets: by hand, and by simulated evaluations of equal models."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from deadheat.questions.compare_items import compare_items
from deadheat.stats.checks import Values
from deadheat.stats.estimates import Estimate, RunScores, RunsEstimate, average

FEW, MANY = 300, 4000


def mean(sums: Values) -> Values:
    values: Values = sums[..., 0] / sums[..., 1]
    return values


def runs_of(right_RN: Values) -> RunScores:
    """The runs of a system on one data set, from right and wrong answers."""
    ones = np.ones_like(right_RN)
    return RunScores.of(np.stack([right_RN, ones, ones], axis=-1), mean)


FIRST = {"A": np.array([[1.0, 1, 0], [1, 0, 0]]), "B": np.array([[0.0, 1, 0], [0, 0, 0]])}
SECOND = {"A": np.array([[1.0, 1, 1, 0], [1, 1, 0, 0]]), "B": np.array([[0.0, 1, 1, 0], [1, 1, 0, 1]])}


def joined(name: str) -> RunScores:
    return RunScores.joined([runs_of(FIRST[name]), runs_of(SECOND[name])])


def test_two_small_data_sets_by_hand() -> None:
    a, b = joined("A"), joined("B")
    # Runs of A: (2/3 + 3/4) / 2 = 17/24 and (1/3 + 2/4) / 2 = 10/24. Runs of B: (1/3 + 2/4) / 2 and (0 + 3/4) / 2.
    assert a.scores_R.tolist() == pytest.approx([17 / 24, 10 / 24])
    assert b.scores_R.tolist() == pytest.approx([10 / 24, 9 / 24])
    difference = a.minus(b)
    assert difference.value == pytest.approx((17 + 10 - 10 - 9) / 48)
    # Over runs: variances of two scores are half of their squared difference, and are divided by two runs.
    assert difference.variance_of("runs") == pytest.approx((7 / 24) ** 2 / 4 + (1 / 24) ** 2 / 4)
    # Over units: mean differences of items are 1, 0, 0 on the first data set and 1/2, 0, 0, -1/2 on the second.
    on_first, on_second = (1 - 1 / 3) / 2 / 3, (2 / 4) / 3 / 4  # sample variances divided by the number of items
    assert difference.variance_of("units") == pytest.approx((on_first + on_second) / 4)
    by_set = [sum(runs_of(counts[name]).shared_variance for name in "AB") for counts in (FIRST, SECOND)]
    assert difference.shared == pytest.approx(sum(by_set) / 4)


def test_a_single_data_set_is_as_it_is() -> None:
    a, b = runs_of(SECOND["A"]), runs_of(SECOND["B"])
    estimate, again = a.minus(b), RunScores.joined([a]).minus(RunScores.joined([b]))
    assert again.value == pytest.approx(estimate.value)
    assert [part.variance for part in again.parts] == pytest.approx([part.variance for part in estimate.parts])
    assert again.estimate.freedom == pytest.approx(estimate.estimate.freedom)


def test_a_data_set_of_one_item_says_nothing_about_items() -> None:
    one = {name: runs_of(counts[:, :1]) for name, counts in FIRST.items()}
    a, b = (RunScores.joined([one[name], runs_of(SECOND[name])]) for name in "AB")
    assert np.isnan(a.minus(b).estimate.error)
    assert np.isnan(a.estimate().estimate.error)


def answers(rng: np.random.Generator, sizes: list[int], runs: int, run_sd: float) -> list[dict[str, RunScores]]:
    """Answers of two equal methods: some runs are better than others, on all data sets."""
    run_SR = 0.7 + run_sd * rng.normal(size=(2, runs))
    datasets = []
    for size in sizes:
        easy_N, own_SN = rng.normal(scale=0.2, size=size), rng.normal(scale=0.1, size=(2, size))
        chance_SRN = np.clip(run_SR[:, :, None] + easy_N + own_SN[:, None], 0, 1)
        right_SRN = (rng.random(chance_SRN.shape) < chance_SRN).astype(float)
        datasets.append({name: runs_of(right_SRN[at]) for at, name in enumerate("AB")})
    return datasets


def as_one_model(datasets: list[dict[str, RunScores]]) -> Estimate:
    a, b = (RunScores.joined([scores[name] for scores in datasets]) for name in "AB")
    return a.minus(b).estimate


def as_separate_models(datasets: list[dict[str, RunScores]]) -> Estimate:
    differences: list[RunsEstimate] = [scores["A"].minus(scores["B"]) for scores in datasets]
    return average([difference.estimate for difference in differences])


WORLDS = {
    "5 x 60 items, 3 runs": ([60] * 5, 3),
    "20 x 5 items, 4 runs": ([5] * 20, 4),
    "uneven, 3 runs": ([8, 30, 200], 3),
}


def false_wins(sizes: list[int], runs: int, worlds: int, *, run_sd: float = 0.05) -> tuple[int, int]:
    """In how many worlds equal methods differ significantly, with runs as one model and as separate ones."""
    wins = np.zeros(2, int)
    for world in range(worlds):
        datasets = answers(np.random.default_rng([3, world]), sizes, runs, run_sd)
        wins += [as_one_model(datasets).p <= 0.05, as_separate_models(datasets).p <= 0.05]
    return int(wins[0]), int(wins[1])


@pytest.mark.parametrize("name", WORLDS)
def test_equal_methods_seldom_win(name: str) -> None:
    assert false_wins(*WORLDS[name], FEW)[0] <= binom.ppf(0.999, FEW, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_equal_methods_win_in_a_twentieth_of_many_worlds_at_most(name: str) -> None:
    assert false_wins(*WORLDS[name], MANY)[0] <= binom.ppf(0.999, MANY, 0.055)


def test_averages_over_data_sets_err_where_runs_are_shared() -> None:
    one_model, separate = false_wins([60] * 5, 3, FEW)
    assert separate > binom.ppf(0.999, FEW, 0.1) > one_model


def test_variances_over_many_small_data_sets_are_not_too_small() -> None:
    rng, variances, values = np.random.default_rng(1), list[float](), list[float]()
    for _ in range(1500):
        datasets = answers(rng, [4] * 15, 1, 0.0)
        a, b = (RunScores.joined([scores[name] for scores in datasets]) for name in "AB")
        variances.append(a.minus(b).variance_of("units"))
        values.append(a.mean - b.mean)
    assert np.mean(variances) == pytest.approx(np.var(values), rel=0.12)  # 4/3 of what it was without its correction


def table(order: list[int], *, names: str = "123") -> pl.DataFrame:
    """Three seeds on two tasks; the rows of the second task in some order of seeds, which may have other names."""
    rng = np.random.default_rng(0)
    rows = []
    for task, seeds in (("x", [0, 1, 2]), ("y", order)):
        right = rng.random((2, 3, 30)) < np.array([0.3, 0.5, 0.8])[:, None]
        for seed in seeds:
            label = names[seed] if task == "y" else "123"[seed]
            for at, system in enumerate("AB"):
                rows += [
                    {"task": task, "item": i, "seed": label, "model": system, "correct": int(right[at, seed, i])}
                    for i in range(30)
                ]
    return pl.DataFrame(rows)


def test_runs_are_the_same_models_whatever_the_order_of_the_rows() -> None:
    first, other = (compare_items(table(order)) for order in ([0, 1, 2], [2, 0, 1]))
    assert other == first


def test_runs_of_other_names_are_other_models() -> None:
    result = compare_items(table([0, 1, 2], names="456"))
    assert any("runs differ between tasks" in note for note in result.notes)
    assert not any("runs differ" in note for note in compare_items(table([2, 1, 0])).notes)
