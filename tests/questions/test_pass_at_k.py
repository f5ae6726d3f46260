"""pass@k: by listing all subsets of attempts, and in comparisons."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.stats import hypergeom
from scipy.stats import t as student

from deadheat.errors import InputError
from deadheat.questions.compare_items import compare_items
from deadheat.stats.aggregates import pass_at_k


@pytest.mark.parametrize("attempts", range(1, 8))
def test_it_is_the_share_of_all_choices_of_k_attempts_with_a_right_one(attempts: int) -> None:
    for correct in range(attempts + 1):
        answers = [1] * correct + [0] * (attempts - correct)
        for k in range(1, attempts + 1):
            choices = list(combinations(answers, k))
            expected = sum(map(any, choices)) / len(choices)
            (value,) = pass_at_k(np.array([attempts]), np.array([correct]), k)
            assert value == pytest.approx(expected, abs=1e-15)


def test_it_is_that_of_the_hypergeometric_distribution_for_many_attempts() -> None:
    attempts, correct = np.array([200, 1000, 1000, 10_000]), np.array([3, 1, 999, 17])
    values = pass_at_k(attempts.astype(float), correct.astype(float), 100)
    assert values == pytest.approx(1 - hypergeom.pmf(0, attempts, correct, 100), rel=1e-12)


def test_its_mean_over_repeated_attempts_is_the_chance_of_k_fresh_ones() -> None:
    rng, chance, k = np.random.default_rng(0), 0.3, 3
    values = pass_at_k(np.full(40_000, 5), rng.binomial(5, chance, 40_000).astype(float), k)
    assert values.mean() == pytest.approx(1 - (1 - chance) ** k, abs=4 * values.std() / 200)


def answers(items: int = 40, attempts: int = 5) -> tuple[pl.DataFrame, np.ndarray]:
    rng = np.random.default_rng(2)
    right_SIK = (
        rng.random((2, items, attempts)) < rng.random(items)[None, :, None] * np.array([0.9, 0.5])[:, None, None]
    )
    system, item, attempt = (axis.ravel() for axis in np.indices(right_SIK.shape))
    columns = {"item": item, "model": np.array(["A", "B"])[system], "epoch": attempt, "correct": right_SIK.ravel()}
    return pl.DataFrame(columns), right_SIK


@pytest.mark.parametrize("k", [1, 2, 4, 5])
def test_systems_are_compared_by_it(k: int) -> None:
    frame, right_SIK = answers()
    result = compare_items(frame, pass_at=k)
    rates_SI = np.array([[np.mean([any(c) for c in combinations(item, k)]) for item in system] for system in right_SIK])
    assert [row.value for row in result.systems] == pytest.approx(rates_SI.mean(axis=1).tolist())
    assert result.metric == f"pass@{k}"
    (pair,) = result.pairs
    assert pair.difference == pytest.approx(rates_SI[0].mean() - rates_SI[1].mean())
    error = np.std(rates_SI[0] - rates_SI[1], ddof=1) / np.sqrt(rates_SI.shape[1])
    differ = np.count_nonzero(rates_SI[0] != rates_SI[1])
    assert (pair.interval.high - pair.interval.low) / 2 == pytest.approx(student.ppf(0.975, differ - 1) * error)
    assert pair.p == pytest.approx(2 * student.sf(abs(pair.difference) / error, differ - 1))


def test_an_item_with_fewer_attempts_than_k_has_no_score() -> None:
    frame, _ = answers()
    fewer = frame.filter(~((pl.col("item") == 7) & (pl.col("epoch") > 1)))
    result = compare_items(fewer, pass_at=3)
    assert result.units == 39
    assert any("items without a score left out of all systems: 1 of A, 1 of B" in note for note in result.notes)
    assert compare_items(fewer, pass_at=2).units == 40


def test_too_many_attempts_and_grades_are_refused() -> None:
    frame, _ = answers()
    with pytest.raises(InputError, match="pass@6 of items with 5 attempts at most; expected a smaller number"):
        compare_items(frame, pass_at=6)
    with pytest.raises(InputError, match="pass@-1; expected at least 1 attempt"):
        compare_items(frame, pass_at=-1)
    with pytest.raises(InputError, match="pass@2 of scores that are not just 0 or 1"):
        compare_items(frame.with_columns(pl.col("correct").cast(float) / 2), pass_at=2)
    with pytest.raises(InputError, match="pass@2 of runs; expected attempts"):
        compare_items(frame.rename({"epoch": "seed"}), pass_at=2)
