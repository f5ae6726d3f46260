"""Mean differences over data sets: scipy, by hand, and error rates of a ranking's own verdict."""

from __future__ import annotations

import math
import time
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy import stats

from deadheat.questions.rank import rank
from deadheat.ranking.integers import integer_scores
from deadheat.ranking.pair_means import PairMean, selected_pairs
from deadheat.results.verdict import State


def table_of(scores: np.ndarray) -> dict[str, dict[str, float]]:
    return {f"s{i}": {f"d{j}": float(score) for j, score in enumerate(row)} for i, row in enumerate(scores)}


def pairs_of(scores: np.ndarray, alpha: float = 0.05) -> list[PairMean]:
    integers = integer_scores(scores)
    order = np.argsort(-integers.sums_S, kind="stable").tolist()
    return selected_pairs(integers, order, alpha=alpha, correction="holm")


def test_scipy_gives_the_same_p_values_which_are_corrected_for_all_pairs() -> None:
    scores = np.round(np.random.default_rng(0).normal(80, 5, (5, 9)), 2) - np.arange(5)[:, None]
    ranked = scores[np.argsort(-scores.mean(axis=1))]
    every = list(combinations(range(5), 2))
    p_values = {(a, b): stats.ttest_rel(ranked[a], ranked[b]).pvalue for a, b in every}
    steps = enumerate(sorted(p_values, key=lambda pair: p_values[pair]))
    corrected = dict(zip(sorted(p_values, key=lambda pair: p_values[pair]), np.maximum.accumulate(
        [min(1.0, (10 - step) * p_values[pair]) for step, pair in steps]
    ).tolist(), strict=True))  # fmt: skip
    found = pairs_of(scores)
    assert [(pair.first, pair.second) for pair in found] == [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 3), (3, 4)]
    for pair in found:
        gaps = ranked[pair.first] - ranked[pair.second]
        assert pair.difference == pytest.approx(gaps.mean())
        assert pair.p == pytest.approx(corrected[pair.first, pair.second])
        assert (pair.low > 0) is (pair.p <= 0.05)
        assert pair.low + pair.high == pytest.approx(2 * pair.difference)
        assert pair.ahead == (gaps > 0).sum()


def test_one_pair_has_the_usual_interval() -> None:
    (pair,) = pairs_of(np.array([[3.0, 5.0, 8.0, 9.0], [2.0, 4.5, 6.0, 8.5]]))
    # Differences 1, 0.5, 2 and 0.5: mean 1, standard error sqrt(0.5 / 4).
    reach = stats.t.ppf(0.975, 3) * math.sqrt(0.5 / 4)
    assert (pair.low, pair.high) == pytest.approx((1 - reach, 1 + reach))
    # At the detectable difference, the noncentral t is significant in four of five cases.
    assert stats.nct.sf(stats.t.ppf(0.975, 3), 3, pair.detectable / math.sqrt(0.5 / 4)) == pytest.approx(0.8)


def test_differences_without_variation_and_single_data_sets() -> None:
    (same,) = pairs_of(np.array([[0.3, 0.5], [0.3, 0.5]]))
    assert (same.difference, same.low, same.high, same.p) == (0, 0, 0, 1)
    (shifted,) = pairs_of(np.array([[0.4, 0.6, 0.8], [0.3, 0.5, 0.7]]))  # as many equal signs have probability 1/4
    assert (shifted.difference, shifted.p) == pytest.approx((0.1, 0.25))
    assert math.isnan(shifted.low)
    (single,) = pairs_of(np.array([[0.4], [0.3]]))
    assert single.difference == pytest.approx(0.1)
    assert all(math.isnan(number) for number in (single.low, single.high, single.p, single.detectable))


def test_the_verdict_compares_the_best_with_all_and_neighbours_with_each_other() -> None:
    rng = np.random.default_rng(1)
    scores = np.round(
        rng.normal(0.8, 0.05, 12) + rng.normal(0, 0.002, (4, 12)) - 0.1 * np.array([[0], [1], [1], [2]]), 4
    )
    found = rank(table_of(scores), samples=50)
    names = [row.system for row in found.systems]
    claimed = [(claim.better, claim.worse) for claim in found.verdict.claims]
    assert claimed == [(names[0], name) for name in names[1:]] + list(pairwise(names))[1:]
    states = {pair: claim.evidence[0].state for pair, claim in zip(claimed, found.verdict.claims, strict=True)}
    assert states[names[0], names[1]] is State.SHOWN
    assert states[names[1], names[2]] is State.EQUAL  # within 0.5 points
    strict = rank(table_of(scores), samples=50, margin=0)
    assert math.isnan(strict.margin)
    assert strict.verdict.claims[3].evidence[0].state is State.NOT_SHOWN


def test_the_share_of_subsets_makes_nothing_shown() -> None:
    """On every subset A is ahead, and the difference over three data sets has p = 0.1."""
    found = rank({"A": {"x": 91, "y": 85.2, "z": 77.4}, "B": {"x": 89, "y": 85, "z": 77}}, subset_size=2)
    assert found.pairs[0].ahead == 1
    assert found.verdict.claims[0].evidence[0].state is State.NOT_SHOWN


@pytest.mark.slow
@pytest.mark.parametrize("datasets", [3, 6, 20])
@pytest.mark.parametrize("systems", [2, 10])
@pytest.mark.parametrize("kind", ["normal", "t3"])
def test_equal_systems_are_rarely_shown_to_differ(kind: str, systems: int, datasets: int) -> None:
    """Of 600 tables at 0.05, more than 47 show something by chance once in a thousand times."""
    rng = np.random.default_rng(systems * datasets)
    shown = 0
    for _ in range(600):
        shape = systems, datasets
        noise = rng.normal(0, 3, shape) if kind == "normal" else 3 * rng.standard_t(3, shape)
        found = rank(table_of(np.round(rng.normal(70, 9, datasets) + noise, 2)), subset_size=1, samples=1)
        shown += any(claim.evidence[0].state is State.SHOWN for claim in found.verdict.claims)
    assert shown <= 47


@pytest.mark.slow
def test_a_thousand_systems_take_seconds() -> None:
    scores = np.round(np.random.default_rng(0).normal(70, 5, (1000, 20)), 2)
    started = time.process_time()
    assert len(pairs_of(scores)) == 1997
    assert time.process_time() - started < 5
