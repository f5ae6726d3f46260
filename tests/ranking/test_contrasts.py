from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deadheat.errors import InputError
from deadheat.ranking.contrasts import QUANTILES, configuration_keys, contrast_options, paired_scores

# Three configurations by three options, in hundredths: option b wins the first and the last, c the second.
SCORES = [[70, 74, 71], [60, 61, 65], [50, 52, 51]]


def test_wins_medians_and_spread_by_hand() -> None:
    result = contrast_options(np.array(SCORES) / 100, ["a", "b", "c"])
    assert [item.wins for item in result.options] == pytest.approx([0, 2 / 3, 1 / 3])
    assert result.best == "b"
    # a - b: -4, -1, -2; c - b: -3, 4, -1.
    assert [row.median_difference for row in result.options] == pytest.approx([-0.02, 0, -0.01])
    assert result["a"].difference_quantiles == pytest.approx(np.quantile([-0.04, -0.01, -0.02], QUANTILES))
    assert result.options[0].sd == pytest.approx(0.1)
    assert result.options[0].median == pytest.approx(0.6)
    assert (result.configurations, result.tied) == (3, 0)


def test_pairs_are_tested_by_signs_and_ranks_and_corrected_for_all_pairs() -> None:
    result = contrast_options(SCORES, ["a", "b", "c"])
    pair = result.pair("b", "a")
    assert (pair.a, pair.b, pair.a_better, pair.b_better) == ("a", "b", 0, 3)
    assert pair.sign_p == pytest.approx(2 / 8)
    assert pair.sign_p_corrected == pair.smallest_p == pytest.approx(3 * 2 / 8)
    # a - c: -1, -5, -1; all down as well, so that Holm's second factor is of no use; b - c: 3, -4, 1.
    assert result.pair("a", "c").sign_p_corrected == pytest.approx(0.75)
    assert result.pair("b", "c").sign_p == 1
    assert result.pair("b", "c").wilcoxon_p == 1
    assert contrast_options(SCORES, ["a", "b", "c"], correction="none").pair("a", "b").sign_p_corrected == 0.25


def test_spread_of_a_pair_is_tested_by_the_distances_from_the_medians() -> None:
    scores = np.random.default_rng(1).normal(size=(9, 1)) + np.random.default_rng(2).normal(size=(9, 3)) * [1, 2, 3]
    result = contrast_options(scores, ["a", "b", "c"], correction="bonferroni")
    for pair in result.pairs:
        a, b = (scores[:, "abc".index(name)] for name in (pair.a, pair.b))
        expected = stats.ttest_rel(abs(a - np.median(a)), abs(b - np.median(b))).pvalue
        assert pair.spread_p == pytest.approx(expected, rel=1e-6)
        assert pair.spread_p_corrected == pytest.approx(min(1, 3 * expected), rel=1e-6)


def test_spread_of_a_pair_needs_five_configurations() -> None:
    rows = [[1, 2], [3, 5], [4, 7], [9, 8], [12, 2]]
    assert math.isnan(contrast_options(rows[:4], ["a", "b"]).pairs[0].spread_p)
    assert 0 < contrast_options(rows, ["a", "b"]).pairs[0].spread_p < 1
    shifted = [[score, score + 0.1] for score in (0.3, 0.5, 0.7, 0.8, 1.7)]
    assert contrast_options(shifted, ["a", "b"]).pairs[0].spread_p == 1


def rejected(tests: list[list[float]]) -> list[float]:
    """The share of p-values at or below 0.05, test by test."""
    return np.mean(np.array(tests) <= 0.05, axis=0).tolist()  # type: ignore[no-any-return]


@pytest.mark.slow
def test_spread_of_a_pair_is_reported_where_configurations_differ_much_and_rarely_where_there_is_none() -> None:
    """Of 400 tests at 0.05, more than 34 are significant by chance once in a thousand times."""
    rng = np.random.default_rng(0)
    draws: list[Callable[..., Any]] = [rng.normal, lambda size: rng.standard_t(3, size), rng.lognormal]
    for draw in draws:
        level, power = (
            rejected(
                [
                    [
                        contrast_options(2 * draw(size=(30, 1)) + draw(size=(30, 2)) * [1, sd], ["a", "b"])
                        .pairs[0]
                        .spread_p
                    ]
                    for _ in range(400)
                ]
            )[0]
            for sd in (1, 4)
        )
        assert level <= 34 / 400
        assert power > 0.5


@pytest.mark.parametrize("repeats", ["mean", "each"])
def test_runs_of_one_configuration_are_no_further_evidence(repeats: str) -> None:
    # Options differ in every configuration and not on average: tests hold their level however runs are paired.
    rng = np.random.default_rng(0)
    keys, options = np.repeat(np.arange(12), 20), np.tile(np.repeat([0, 1], 10), 12)
    tests = []
    for _ in range(300):
        scores = rng.normal(size=(12, 2))[keys, options] + rng.normal(size=240)
        means, _ = paired_scores(keys, options, scores, options=2)
        rows, _ = paired_scores(keys, options, scores, options=2, repeats=repeats)
        (pair,) = contrast_options(rows, ["a", "b"], means_CO=means).pairs
        tests.append([pair.sign_p, pair.wilcoxon_p, pair.spread_p])
    assert max(rejected(tests)) < 0.09


def test_a_shared_win_goes_to_who_wins_most_others_or_is_shared() -> None:
    scores = [[1, 3, 2], [5, 5, 4], [0, 1, 2], [0, 2, 1]]  # clear wins: b 2, c 1; the second is tied between a and b
    most = contrast_options(scores, ["a", "b", "c"])
    assert [item.wins for item in most.options] == [0, 0.75, 0.25]
    shared = contrast_options(scores, ["a", "b", "c"], ties="share")
    assert [item.wins for item in shared.options] == [0.125, 0.625, 0.25]
    assert most.tied == shared.tied == 1


def test_scores_that_are_equal_in_decimals_are_tied() -> None:
    assert contrast_options([[0.1 + 0.2, 0.3], [0.5, 0.4]], ["a", "b"]).tied == 1


def test_of_options_with_as_many_wins_the_higher_mean_is_best() -> None:
    assert contrast_options([[1, 2], [9, 3]], ["a", "b"]).best == "a"
    assert contrast_options([[1, 9], [3, 2]], ["a", "b"]).best == "b"


def table(width: int) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(st.lists(st.integers(0, 3), min_size=width, max_size=width), min_size=1, max_size=6)


@given(st.integers(2, 5).flatmap(table))
def test_the_order_of_options_and_configurations_changes_nothing(rows: list[list[int]]) -> None:
    scores = np.array(rows, float)
    names = [f"o{position}" for position in range(scores.shape[1])]
    rng = np.random.default_rng(len(rows))
    columns, order = rng.permutation(scores.shape[1]), rng.permutation(len(scores))
    usual = contrast_options(scores, names, ties="share")
    other = contrast_options(scores[order][:, columns], [names[position] for position in columns], ties="share")
    assert {item.option: item.wins for item in usual.options} == pytest.approx(
        {item.option: item.wins for item in other.options}
    )
    assert sum(item.wins for item in contrast_options(scores, names).options) == pytest.approx(1)
    for a, b in product(names, names):
        if a < b:
            assert usual.pair(a, b).wilcoxon_p == pytest.approx(other.pair(a, b).wilcoxon_p)


def test_what_cannot_be_compared_is_refused() -> None:
    for wrong in ([[1.0]], [1.0, 2.0], np.empty((0, 2))):
        with pytest.raises(InputError, match="expected one row per configuration"):
            contrast_options(wrong, ["a", "b"][: max(1, np.ndim(wrong))])
    with pytest.raises(InputError, match="option for ties 'mosst' is unknown; did you mean 'most'"):
        contrast_options(SCORES, ["a", "b", "c"], ties="mosst")
    with pytest.raises(InputError, match="option for repeated runs 'men'"):
        paired_scores(np.zeros(1, int), np.zeros(1, int), np.zeros(1), options=1, repeats="men")


LEVELS = st.lists(st.tuples(*[st.sampled_from([0, 1, 2**20, 2**40])] * 4), min_size=1, max_size=12)


@given(LEVELS)
def test_keys_are_equal_where_all_settings_are(rows: list[tuple[int, ...]]) -> None:
    columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)]
    keys = configuration_keys(columns, len(rows))
    for (i, first), (j, second) in product(enumerate(rows), repeat=2):
        assert (keys[i] == keys[j]) == (first == second)


RUNS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 100)), min_size=1, max_size=30)


@given(RUNS)
def test_runs_are_paired_as_by_hand(runs: list[tuple[int, int, int]]) -> None:
    keys, options, scores = (np.array(column) for column in zip(*runs, strict=True))
    cells: dict[int, dict[int, list[int]]] = {}
    for key, option, score in runs:
        cells.setdefault(key, {}).setdefault(option, []).append(score)
    whole = {key: result for key, result in sorted(cells.items()) if len(result) == 3}
    means = [[np.mean(result[option]) for option in range(3)] for result in whole.values()]
    item = [
        list(row) for result in whole.values() for row in zip(*(result[option] for option in range(3)), strict=False)
    ]
    paired, firsts = paired_scores(keys, options, scores.astype(float), options=3)
    np.testing.assert_allclose(paired, np.reshape(means, (-1, 3)))
    assert keys[firsts].tolist() == list(whole)
    paired, firsts = paired_scores(keys, options, scores.astype(float), options=3, repeats="each")
    assert paired.tolist() == item
    assert len(firsts) == len(item)
