from __future__ import annotations

import math

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.ranking import selected_subsets as module
from deadheat.ranking.integers import IntegerScores, integer_scores
from deadheat.ranking.selected_subsets import (
    RankChange,
    exact_subset,
    greedy_subset,
    named_subsets,
    rank_without_each,
    representative,
)
from deadheat.stats.agreement import kendall
from tests.ranking.tables import all_subsets, plain_ranks, small_table


def pairs_alike(scores: IntegerScores, subset: list[int]) -> int:
    """Pairs that are ordered, and ordered alike, on all data sets and on the subset, by a loop."""
    everything = list(range(scores.datasets))
    whole, part = plain_ranks(scores, everything), plain_ranks(scores, subset)
    systems = range(scores.systems)
    return sum(whole[a] < whole[b] and part[a] < part[b] for a in systems for b in systems)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("listed", [10**6, 0])
def test_the_exact_subset_is_the_best_of_all(seed: int, listed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LISTED", listed)  # 0: by integer programming
    rng = np.random.default_rng(seed)
    scores = small_table(seed, systems=5, datasets=8, values=30)
    size = int(rng.integers(1, 6))
    start = greedy_subset(scores, size)
    subset, bound = exact_subset(scores, start)
    best = max(pairs_alike(scores, subset) for subset in all_subsets(8, size))
    assert pairs_alike(scores, subset.tolist()) == bound == best
    assert pairs_alike(scores, start.tolist()) <= best
    assert len(set(subset.tolist())) == len(set(start.tolist())) == size


@pytest.mark.parametrize("seed", range(8))
def test_no_single_exchange_improves_the_greedy_subset(seed: int) -> None:
    scores = small_table(seed, systems=6, datasets=9, values=40)
    chosen = greedy_subset(scores, 4).tolist()
    rest = [position for position in range(9) if position not in chosen]
    reached = pairs_alike(scores, chosen)
    for out in chosen:
        for into in rest:
            assert pairs_alike(scores, [position for position in chosen if position != out] + [into]) <= reached


def test_all_data_sets_represent_themselves() -> None:
    scores = small_table(0, datasets=5, values=50)
    result = representative(scores, "abcde", 5, rng=np.random.default_rng(0))
    for subset in result.subsets:
        assert subset.datasets == tuple("abcde")
        assert subset.agreeing == subset.bound == subset.pairs
        assert subset.tau == 1
    assert (result.held_out, result.fitted, result.random) == (1, 1, 1)


def test_the_counts_of_a_representative_subset_are_those_of_a_loop() -> None:
    scores = small_table(2, systems=6, datasets=8, values=30)
    greedy, exact = representative(
        scores, [str(column) for column in range(8)], 3, rng=np.random.default_rng(0)
    ).subsets
    for subset in (greedy, exact):
        columns = [int(name) for name in subset.datasets]
        assert subset.agreeing == pairs_alike(scores, columns) <= subset.bound
        ranks, whole = plain_ranks(scores, columns), plain_ranks(scores, list(range(8)))
        assert subset.tau == pytest.approx(kendall([-rank for rank in ranks], [-rank for rank in whole]))
    assert (greedy.method, exact.method) == ("greedy", "exact")
    assert greedy.agreeing <= exact.agreeing == exact.bound


def test_what_is_fitted_to_noise_does_not_hold_for_other_systems() -> None:
    rng = np.random.default_rng(0)
    noise = integer_scores(rng.integers(0, 10_000, (24, 40)))
    result = representative(noise, list(map(str, range(40))), 4, rng=rng, time_limit=1)
    assert result.fitted > result.random + 0.3
    assert result.held_out == pytest.approx(result.random, abs=0.06)


def test_subsets_chosen_without_a_system_see_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = small_table(3, systems=6, datasets=8, values=50)
    seen: list[set[tuple[int, ...]]] = []

    def spy(given: IntegerScores, size: int) -> object:
        seen.append({tuple(row) for row in given.above_SD.tolist()})
        return greedy_subset(given, size)

    monkeypatch.setattr(module, "greedy_subset", spy)
    representative(scores, "abcdefgh", 3, rng=np.random.default_rng(0), halvings=2)
    everything = {tuple(row) for row in scores.above_SD.tolist()}
    assert seen[0] == everything  # all systems for the answer itself
    for one, other in (seen[1:3], seen[3:5]):
        assert one | other == everything
        assert not one & other


def test_sizes_that_are_none_and_too_few_systems_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="a representative subset of 9 of 7 data sets; expected between 1 and 7"):
        representative(small_table(0), "abcdefg", 9, rng=rng)
    with pytest.raises(InputError, match="3 systems; expected at least 4, so that half of them can be held out"):
        representative(small_table(0, systems=3), "abcdefg", 2, rng=rng)


def test_leaving_one_out_gives_the_ranking_on_the_rest() -> None:
    scores = small_table(7, systems=6, datasets=6, values=5)
    systems, datasets = list("abcdef"), [f"d{i}" for i in range(6)]
    result = rank_without_each(scores, systems, datasets)
    assert sorted(item.dataset for item in result) == datasets
    assert [item.swapped for item in result] == sorted((item.swapped for item in result), reverse=True)
    whole = plain_ranks(scores, list(range(6)))
    for item in result:
        rest = [position for position in range(6) if datasets[position] != item.dataset]
        now = plain_ranks(scores, rest)
        changes = {
            RankChange(name, before, after)
            for name, before, after in zip(systems, whole, now, strict=True)
            if before != after
        }
        assert set(item.changes) == changes
        assert item.swapped == sum(whole[a] < whole[b] and now[a] > now[b] for a in range(6) for b in range(6))
        assert item.tau == pytest.approx(kendall([-rank for rank in now], [-rank for rank in whole]))


def test_leaving_one_of_one_out_is_refused() -> None:
    with pytest.raises(InputError, match="2 systems on 1 data set; expected at least two of each"):
        rank_without_each(integer_scores([[1], [2]]), ["a", "b"], ["d"])


SCORES = np.array([[98.0, 50.0, 70.0], [99.0, 90.0, 60.0], [99.0, 40.0, 70.0]])
SYSTEMS, DATASETS = ["a", "b", "c"], ["en", "kk", "ta"]


def test_error_reductions_are_averaged_over_data_sets_as_in_the_paper() -> None:
    # 98 to 99 removes 50 % of errors, 50 to 90 80 %: 65 % on average, where the averages would say 78.8 %.
    (result,) = named_subsets(SCORES, SYSTEMS, DATASETS, {"two": ["en", "kk"]})
    values = {(item.reference, item.system): item.share for item in result.error_reductions}
    assert values["a", "b"] == pytest.approx(0.65)
    assert values["b", "a"] == pytest.approx((-1 / 1 - 40 / 10) / 2)
    assert len(values) == 6


def test_a_subset_has_its_means_ranks_and_agreement_with_all() -> None:
    low, all_three = named_subsets(SCORES, SYSTEMS, DATASETS, {"low": ["kk", "ta"], "all": DATASETS})
    assert [(row.system, row.mean, row.rank) for row in low.systems] == [("b", 75, 1), ("a", 60, 2), ("c", 55, 3)]
    assert all_three.tau == 1


def test_equal_means_share_the_better_rank_whatever_their_last_bits() -> None:
    scores = np.array([[0.1, 0.2], [0.3, 0.0], [0.15, 0.1]])  # 0.1 + 0.2 is not 0.3 in floating point
    (result,) = named_subsets(scores, SYSTEMS, ["x", "y"], {"both": ["x", "y"]})
    assert [row.rank for row in result.systems] == [1, 1, 3]


@pytest.mark.parametrize("perfect", [None, 1.0, 100.0, 300.0])
def test_error_reductions_are_the_same_whatever_the_scale_of_the_scores(perfect: float | None) -> None:
    scores = SCORES * ((perfect or 1.0) / 100)
    (result,) = named_subsets(scores, SYSTEMS, DATASETS, {"two": ["en", "kk"]}, perfect=perfect)
    assert {(e.reference, e.system): e.share for e in result.error_reductions}["a", "b"] == pytest.approx(0.65)


def test_a_reference_without_errors_has_no_error_reduction() -> None:
    scores = np.array([[100.0, 50.0], [90.0, 40.0]])
    (result,) = named_subsets(scores, ["a", "b"], ["x", "y"], {"all": ["x", "y"]})
    values = {item.reference: item.share for item in result.error_reductions}
    assert math.isnan(values["a"])
    assert values["b"] == pytest.approx((10 / 10 + 10 / 60) / 2)


def test_scores_above_100_need_the_perfect_score() -> None:
    (without,) = named_subsets(SCORES * 3, SYSTEMS, DATASETS, {"all": DATASETS})
    assert all(math.isnan(item.share) for item in without.error_reductions)
    with pytest.raises(InputError, match="a perfect score of 50 with scores up to 99; expected at least that"):
        named_subsets(SCORES, SYSTEMS, DATASETS, {"all": DATASETS}, perfect=50)


def test_members_without_scores_are_left_out_and_listed() -> None:
    (result,) = named_subsets(SCORES, SYSTEMS, DATASETS, {"two": ["en", "sa", "kk"]})
    assert (result.datasets, result.absent) == (("en", "kk"), ("sa",))
    assert {row.system: row.mean for row in result.systems} == {"a": 74, "b": 94.5, "c": 69.5}


def test_a_subset_without_any_scores_and_one_with_twins_are_refused() -> None:
    with pytest.raises(InputError, match=r"subset odd: no scores on any of its 2 data sets; did you mean 'en'\?"):
        named_subsets(SCORES, SYSTEMS, DATASETS, {"odd": ["enn", "xx"]})
    with pytest.raises(InputError, match="subset odd: en twice; expected each data set once"):
        named_subsets(SCORES, SYSTEMS, DATASETS, {"odd": ["en", "kk", "en"]})
