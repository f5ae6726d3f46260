from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.errors import InputError
from deadheat.ranking import exact
from deadheat.ranking.exact import NEARLY_ONE, SubsetCounts, count_sums, extreme_rank, extreme_ranks, positive_rows
from deadheat.ranking.integers import IntegerScores, integer_scores
from deadheat.ranking.subsets import every_subset, free, rank_over_subsets
from tests.ranking.tables import all_subsets, every_rank, plain_ranks, small_table


@settings(max_examples=150)
@given(st.lists(st.integers(-6, 6), min_size=1, max_size=9), st.integers(-8, 8), st.data())
def test_signs_of_sums_are_counted_as_by_going_through_all(
    values: list[int], threshold: int, data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, len(values)))
    sums = [sum(values[position] for position in subset) for subset in all_subsets(len(values), size)]
    result = count_sums(np.array(values), size, threshold=threshold)
    assert result.total == len(sums)
    assert result.above == sum(item > threshold for item in sums)
    assert result.level == sum(item == threshold for item in sums)
    assert result.below == sum(item < threshold for item in sums)


def test_large_and_uneven_values_are_counted_exactly() -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.integers(-9000, 9000, 6), rng.integers(-100, 100, 12)])
    sums = [int(values[subset].sum()) for subset in all_subsets(18, 6)]
    result = count_sums(values, 6)
    assert (result.above, result.level) == (sum(s > 0 for s in sums), sum(s == 0 for s in sums))
    assert result.exact


def test_by_hand_over_more_subsets_than_could_be_gone_through() -> None:
    # 40 values of 1 and 42 of -1: the sum of ten is positive when six or more are 1.
    values = np.array([1] * 40 + [-1] * 42)
    result = count_sums(values, 10)
    assert result.above == sum(math.comb(40, i) * math.comb(42, 10 - i) for i in range(6, 11))
    assert result.level == math.comb(40, 5) * math.comb(42, 5)
    assert result.above + result.level + result.below == math.comb(82, 10) == 2_139_280_241_670


def test_numbers_beyond_floating_point_are_marked_as_inexact_and_are_nearly_right() -> None:
    values = np.array([1] * 40 + [-1] * 42)
    result = count_sums(values, 41)
    assert not result.exact
    expected = Fraction(sum(math.comb(40, i) * math.comb(42, 41 - i) for i in range(21, 41)), math.comb(82, 41))
    assert result.above / result.total == pytest.approx(float(expected), rel=1e-12)


@settings(max_examples=150)
@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=10), st.integers(-(10**6), 10**6), st.data())
def test_counts_on_a_grid_are_bounds_of_the_counts_of_all(
    values: list[int], threshold: int, data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, len(values)))
    sums = [sum(values[position] for position in subset) for subset in all_subsets(len(values), size)]
    threshold = data.draw(st.sampled_from([threshold, sums[0]]))  # a tie, too
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "MOST_CELLS", 500)
        patch.setattr(exact, "GRID_CELLS", 300)
        result = count_sums(np.array(values), size, threshold=threshold)
    above, level = sum(item > threshold for item in sums), sums.count(threshold)
    for least, count in ((result.above, above), (result.level, level), (result.below, len(sums) - above - level)):
        assert least <= count <= least + result.undecided
    assert result.above + result.level + result.below + result.undecided == result.total == len(sums)


def test_scores_of_many_digits_are_counted_with_few_undecided() -> None:
    values = np.random.default_rng(0).integers(-(10**9), 10**9, 18)
    sums = [int(values[subset].sum()) for subset in all_subsets(18, 7)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "MOST_CELLS", 1 << 20)
        patch.setattr(exact, "GRID_CELLS", 1 << 18)
        result = count_sums(values, 7)
    assert result.level == 0
    assert result.undecided < 1e-3 * result.total
    assert 0 <= sum(item > 0 for item in sums) - result.above <= result.undecided


def test_many_fine_scores_over_many_data_sets_are_counted() -> None:
    result = count_sums(np.random.default_rng(0).integers(-(10**9), 10**9, 60), 20)
    assert result.undecided < 1e-3 * result.total
    assert min(result.above, result.below) > 0


@pytest.mark.parametrize(("systems", "datasets", "size"), [(3, 5, 2), (5, 7, 3), (4, 8, 5), (6, 6, 6)])
def test_pairs_are_counted_as_over_all_subsets(systems: int, datasets: int, size: int) -> None:
    scores = small_table(8, systems=systems, datasets=datasets)
    listed = rank_over_subsets(scores, every_subset(datasets, size), samples=1)
    for a, b in combinations(range(systems), 2):
        counts = count_sums(scores.above_SD[a] - scores.above_SD[b], size)
        assert (counts.above, counts.below) == (listed.wins_SS[a, b], listed.wins_SS[b, a])
        assert counts.level == listed.samples - listed.wins_SS[a, b] - listed.wins_SS[b, a]


def test_nearly_all_subsets_are_not_a_share_of_one() -> None:
    assert SubsetCounts(10**20 - 1, 1, 0, 10**20).shares[0] == NEARLY_ONE < 1
    assert SubsetCounts(10**20, 0, 0, 10**20).shares == (1, 0, 0)


@pytest.mark.parametrize("seed", range(12))
def test_extremes_are_those_of_all_subsets_and_their_subsets_prove_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    systems, datasets = int(rng.integers(2, 7)), int(rng.integers(3, 9))
    size = int(rng.integers(1, datasets + 1))
    scores = small_table(seed, systems=systems, datasets=datasets, values=4)
    ranks_BS = every_rank(scores, size)
    for system, (best, worst) in enumerate(extreme_ranks(scores, size)):
        assert (best.rank, worst.rank) == (ranks_BS[:, system].min(), ranks_BS[:, system].max())
        for item in (best, worst):
            assert item.rank == item.bound
            assert len(set(item.subset.tolist())) == size
            assert plain_ranks(scores, item.subset.tolist())[system] == item.rank


def test_a_search_that_is_stopped_keeps_what_was_sampled_and_a_bound_that_holds() -> None:
    rng = np.random.default_rng(1)
    scores = IntegerScores(rng.integers(0, 3000, (20, 60)), 100.0, exact=True)
    sampled = rank_over_subsets(scores, free(60, 10), samples=20_000, rng=rng)
    for system, (best, worst) in enumerate(extreme_ranks(scores, 10, sampled=sampled, time_limit=1e-3)):
        assert best.bound <= best.rank <= sampled.best_S[system]
        assert worst.bound >= worst.rank >= sampled.worst_S[system]
        for extreme in (best, worst):
            assert plain_ranks(scores, extreme.subset.tolist())[system] == extreme.rank


def test_the_solver_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(3)
    for _ in range(3):
        extreme_rank(IntegerScores(rng.integers(0, 3000, (12, 40)), 100.0, exact=True), 0, 8, worst=True)
    assert capfd.readouterr().out == ""


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 6), st.data())
def test_most_and_fewest_positive_sums_are_those_of_all_subsets(
    seed: int, rows: int, columns: int, data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, columns))
    leads = np.random.default_rng(seed).integers(-3, 4, (rows, columns))
    counts = [int((leads[:, subset].sum(axis=1) > 0).sum()) for subset in all_subsets(columns, size)]
    for fewest, expected in ((False, max(counts)), (True, min(counts))):
        subset, bound = positive_rows(leads, size, time_limit=10, fewest=fewest)
        assert bound == expected
        assert int((leads[:, subset].sum(axis=1) > 0).sum()) == expected


def test_sizes_and_time_limits_that_are_none_are_refused() -> None:
    scores = integer_scores([[1, 2], [2, 1]])
    with pytest.raises(InputError, match="subsets of 3 of 2 data sets; expected between 1 and 2"):
        extreme_rank(scores, 0, 3)
    with pytest.raises(InputError, match="time limit 0; expected more than 0 seconds"):
        extreme_rank(scores, 0, 1, time_limit=0)
    with pytest.raises(InputError, match="subsets of 0 of 2 data sets"):
        count_sums(np.array([1, 2]), 0)
