from __future__ import annotations

import math
from collections import Counter
from itertools import accumulate, combinations, pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.errors import InputError
from deadheat.kernels import subsets as kernels
from deadheat.ranking import subsets as module
from deadheat.ranking.integers import IntegerScores, integer_scores
from deadheat.ranking.subsets import (
    Design,
    SubsetRanks,
    every_subset,
    free,
    one_per_group,
    rank_over_subsets,
    samples_with_rank,
    stratified,
    weighted_quantile,
)
from deadheat.stats.agreement import kendall
from tests.ranking.tables import all_subsets, every_rank, plain_ranks, small_table

SHAPES = [(2, 3, 1), (3, 5, 2), (5, 7, 3), (6, 6, 6), (4, 8, 5), (9, 6, 4)]
KEY = np.array([20_221_012], np.uint64)


def of(seed: int, systems: int, datasets: int, size: int) -> tuple[IntegerScores, SubsetRanks]:
    scores = small_table(seed, systems=systems, datasets=datasets)
    return scores, rank_over_subsets(scores, every_subset(datasets, size), samples=1)


@pytest.mark.parametrize(("systems", "datasets", "size"), SHAPES)
def test_ranks_over_all_subsets_are_those_of_a_loop(systems: int, datasets: int, size: int) -> None:
    scores, result = of(3, systems, datasets, size)
    ranks_BS = every_rank(scores, size)
    expected = np.array([[(ranks_BS[:, s] == r).sum() for r in range(1, systems + 1)] for s in range(systems)])
    assert result.samples == len(ranks_BS) == math.comb(datasets, size)
    assert (result.counts_SS == expected).all()
    assert (result.best_S == ranks_BS.min(axis=0)).all()
    assert (result.worst_S == ranks_BS.max(axis=0)).all()
    assert result.mean_S == pytest.approx(ranks_BS.mean(axis=0))
    assert result.sd_S == pytest.approx(ranks_BS.std(axis=0))
    for system in range(systems):
        assert result.quartiles(system) == pytest.approx(np.quantile(ranks_BS[:, system], (0.25, 0.5, 0.75)).tolist())


@pytest.mark.parametrize(("systems", "datasets", "size"), SHAPES)
def test_who_beats_whom_is_that_of_a_loop(systems: int, datasets: int, size: int) -> None:
    scores, result = of(4, systems, datasets, size)
    ranks_BS = every_rank(scores, size)
    assert (result.wins_SS == (ranks_BS[:, :, None] < ranks_BS[:, None, :]).sum(axis=0)).all()


@pytest.mark.parametrize(("systems", "datasets", "size"), SHAPES)
def test_tau_is_that_of_every_subset_one_by_one(systems: int, datasets: int, size: int) -> None:
    scores, result = of(5, systems, datasets, size)
    whole = scores.above_SD.sum(axis=1)
    taus = [kendall(scores.above_SD[:, subset].sum(axis=1), whole) for subset in all_subsets(datasets, size)]
    defined = sorted(tau for tau in taus if not math.isnan(tau))
    assert result.tau.undefined == len(taus) - len(defined)
    tau = result.tau
    quantiles = (tau.min, tau.lower_quartile, tau.median, tau.upper_quartile, tau.max)
    assert quantiles == pytest.approx(np.quantile(defined, (0, 0.25, 0.5, 0.75, 1)))
    assert result.tau.mean == pytest.approx(np.mean(defined))
    assert result.tau.sd == pytest.approx(np.std(defined))


def test_a_table_that_leaves_all_level_has_no_tau() -> None:
    result = rank_over_subsets(integer_scores([[1, 2], [1, 2]]), every_subset(2, 1), samples=5)
    assert math.isnan(result.tau.mean)
    assert result.tau.undefined == 2
    assert result.counts_SS.tolist() == [[2, 0], [2, 0]]


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(2, 8), st.data())
def test_sampled_ranks_are_those_of_the_subsets_that_were_drawn(
    seed: int, systems: int, datasets: int, data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, datasets))
    scores, design = small_table(seed, systems=systems, datasets=datasets), free(datasets, size)
    result = rank_over_subsets(scores, design, samples=300, key=KEY)
    drawn = design.draw(KEY, range(300))
    ranks_BS = np.array([plain_ranks(scores, subset) for subset in drawn.tolist()])
    for system in range(systems):
        assert result.counts_SS[system].tolist() == [(ranks_BS[:, system] == r).sum() for r in range(1, systems + 1)]
        best = int(result.best_S[system])
        assert result.earliest_SS[system, best - 1] == (ranks_BS[:, system] == best).argmax()
        assert plain_ranks(scores, result.subset_with_rank(system, best).tolist())[system] == best


def test_scores_too_fine_for_32_bits_are_ranked_alike() -> None:
    scores = small_table(1)
    fine = IntegerScores(scores.above_SD * 10**9, 1.0, exact=True)
    a, b = (rank_over_subsets(item, free(7, 3), samples=5000, key=KEY) for item in (scores, fine))
    assert (a.counts_SS == b.counts_SS).all()
    assert (a.wins_SS == b.wins_SS).all()


def test_more_samples_keep_the_old_ones() -> None:
    scores, design = small_table(2, datasets=20), free(20, 5)
    assert (design.draw(KEY, range(1000))[:100] == design.draw(KEY, range(100))).all()
    few, many = (rank_over_subsets(scores, design, samples=n, key=KEY) for n in (1000, 3000))
    rest = [plain_ranks(scores, subset) for subset in design.draw(KEY, range(1000, 3000)).tolist()]
    added = [[sum(ranks[s] == r for ranks in rest) for r in range(1, 6)] for s in range(5)]
    assert (many.counts_SS == few.counts_SS + np.array(added)).all()


def test_how_many_samples_are_done_at_a_time_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, design = small_table(2, datasets=20), free(20, 5)
    whole = rank_over_subsets(scores, design, samples=2000, key=KEY)
    monkeypatch.setattr(module, "SAMPLES_PER_CALL", 333)
    parts = rank_over_subsets(scores, design, samples=2000, key=KEY)
    for one, other in ((whole.counts_SS, parts.counts_SS), (whole.earliest_SS, parts.earliest_SS)):
        assert (one == other).all()
    assert whole.tau == parts.tau


def test_the_seed_decides_the_subsets() -> None:
    scores, design = small_table(2, datasets=20), free(20, 5)
    same, again, other = (
        rank_over_subsets(scores, design, samples=500, rng=np.random.default_rng(seed)).counts_SS for seed in (7, 7, 8)
    )
    assert (same == again).all()
    assert (same != other).any()


def test_samples_of_a_rank_are_found_again() -> None:
    scores, design = small_table(6, datasets=12), free(12, 4)
    result = rank_over_subsets(scores, design, samples=2000, key=KEY)
    ranks_BS = np.array([plain_ranks(scores, subset) for subset in design.draw(KEY, range(2000)).tolist()])
    for rank in np.flatnonzero(result.counts_SS[2]) + 1:
        expected = np.flatnonzero(ranks_BS[:, 2] == rank)
        for most in (10_000, 3):
            again = samples_with_rank(result, scores, 2, int(rank), most=most, rng=np.random.default_rng(0))
            assert again.tolist() == expected[:most].tolist()


@pytest.mark.slow
def test_of_listed_subsets_with_a_rank_all_are_as_likely_to_be_shown_and_to_come_first() -> None:
    scores, result = of(6, 5, 8, 3)
    listed = result.design.draw(KEY, range(result.samples)).tolist()
    expected = [number for number, subset in enumerate(listed) if plain_ranks(scores, subset)[2] == 2]
    assert len(expected) > 5
    rngs = [np.random.default_rng(seed) for seed in range(4000)]
    shown = [samples_with_rank(result, scores, 2, 2, most=2, rng=rng).tolist() for rng in rngs]
    assert all(len(set(item)) == 2 for item in shown)
    pairs: dict[tuple[int, ...], float] = dict.fromkeys(permutations(expected, 2), 1 / math.perm(len(expected), 2))
    assert chi_square_is_small(Counter(map(tuple, shown)), pairs, 4000)
    everything = samples_with_rank(result, scores, 2, 2, most=100, rng=rngs[0])
    assert sorted(everything.tolist()) == expected


def chi_square_is_small(seen: Counter[tuple[int, ...]], chances: dict[tuple[int, ...], float], samples: int) -> bool:
    """Pearson's statistic below its mean plus five standard deviations, and nothing drawn that has no chance."""
    assert set(seen) <= set(chances)
    statistic = sum((seen[key] - samples * p) ** 2 / (samples * p) for key, p in chances.items())
    freedom = len(chances) - 1
    return statistic <= freedom + 5 * math.sqrt(2 * freedom)


def counted(design: Design, samples: int) -> Counter[tuple[int, ...]]:
    return Counter(map(tuple, design.draw(KEY, range(samples)).tolist()))


@pytest.mark.parametrize(("datasets", "size"), [(6, 1), (6, 3), (7, 5), (5, 5)])
def test_free_subsets_are_equally_likely(datasets: int, size: int) -> None:
    chances = dict.fromkeys(combinations(range(datasets), size), 1 / math.comb(datasets, size))
    assert chi_square_is_small(counted(free(datasets, size), 40_000), chances, 40_000)


def stratified_chances(labels: str, size: int) -> dict[tuple[int, ...], float]:
    """By the rule: groups in any order, a common offset out of N rounds the shares, any choice within groups."""
    groups = [[i for i, label in enumerate(labels) if label == name] for name in dict.fromkeys(labels)]
    total = len(labels)
    chances: dict[tuple[int, ...], float] = {}
    for order, offset in product(permutations(groups), range(total)):
        until = [(size * end + offset) // total for end in accumulate(map(len, order), initial=0)]
        quotas = [b - a for a, b in pairwise(until)]
        parts: list[tuple[int, ...]] = [()]
        for group, quota in zip(order, quotas, strict=True):
            parts = [(*part, *more) for part in parts for more in combinations(group, quota)]
        for part in parts:
            key = tuple(sorted(part))
            chances[key] = chances.get(key, 0.0) + 1 / len(parts) / total / math.factorial(len(groups))
    return chances


@pytest.mark.parametrize(("labels", "size"), [("aabbbb", 3), ("abababc", 3), ("aaaabbc", 4), ("abcdef", 2)])
def test_stratified_subsets_have_the_chances_of_their_rule(labels: str, size: int) -> None:
    chances = stratified_chances(labels, size)
    for item in range(len(labels)):
        assert sum(p for key, p in chances.items() if item in key) == pytest.approx(size / len(labels))
    assert chi_square_is_small(counted(stratified(labels, size), 40_000), chances, 40_000)


def test_groups_of_one_data_set_meet_whatever_their_places_in_the_table() -> None:
    chances: dict[tuple[int, ...], float] = dict.fromkeys(combinations(range(20), 2), 1 / 190)
    assert chi_square_is_small(counted(stratified(range(20), 2), 40_000), chances, 40_000)


@pytest.mark.slow
def test_another_order_of_the_table_changes_stratified_subsets_by_chance_alone() -> None:
    labels, order = "aaabbcccddef", np.random.default_rng(3).permutation(12)
    one = counted(stratified(labels, 4), 40_000)
    moved = stratified([labels[position] for position in order], 4).draw(KEY, range(40_000))
    other = Counter(tuple(sorted(row)) for row in order[moved].tolist())
    # Subsets of two samples of one distribution: (n - m)^2 / (n + m) has a mean of 1.
    squares = [(one[key] - other[key]) ** 2 / (one[key] + other[key]) for key in set(one) | set(other)]
    assert sum(squares) <= len(squares) + 5 * math.sqrt(2 * len(squares))


def test_strata_that_divide_evenly_always_give_their_share() -> None:
    drawn = stratified("aaaabbbbbbbb", 3).draw(KEY, range(500))
    assert ((drawn < 4).sum(axis=1) == 1).all()


@pytest.mark.parametrize(("labels", "size"), [("aabbbc", None), ("aabbbc", 2), ("aaaa", 1), ("abcd", 3)])
def test_one_data_set_a_group_has_the_chances_of_its_rule(labels: str, size: int | None) -> None:
    groups = [[i for i, label in enumerate(labels) if label == name] for name in dict.fromkeys(labels)]
    chances: dict[tuple[int, ...], float] = {}
    chosen = list(combinations(groups, size or len(groups)))
    for some in chosen:
        for subset in np.array(np.meshgrid(*some)).reshape(len(some), -1).T.tolist():
            chances[tuple(sorted(subset))] = 1 / len(chosen) / math.prod(map(len, some))
    assert chi_square_is_small(counted(one_per_group(labels, size), 40_000), chances, 40_000)


def test_every_subset_comes_once() -> None:
    drawn = every_subset(9, 4).draw(KEY, range(math.comb(9, 4)))
    assert sorted(map(tuple, drawn.tolist())) == list(combinations(range(9), 4))


def test_nearly_all_of_many_data_sets_can_be_listed() -> None:
    drawn = every_subset(70, 68).draw(KEY, range(math.comb(70, 68)))
    assert len({tuple(row) for row in drawn.tolist()}) == math.comb(70, 2)


@pytest.mark.parametrize("design", [free(9, 4), stratified("aaabbbccc", 4), one_per_group("aaabbbccc")])
def test_compiled_draws_are_those_of_plain_python(design: Design) -> None:
    drawn = np.empty(20 * design.size, np.int64)
    with np.errstate(over="ignore"):
        kernels.draw_samples.python(KEY, np.arange(20), design.kind, design.size, *design.arguments(), drawn)
    assert design.draw(KEY, range(20)).ravel().tolist() == drawn.tolist()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6).filter(any), st.floats(0, 1))
def test_quantiles_of_counts_are_those_of_the_values_written_out(counts: list[int], share: float) -> None:
    values = np.arange(len(counts), dtype=float)
    expected = np.quantile(np.repeat(values, counts), share)
    assert weighted_quantile(values, np.array(counts), share) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("size", [0, 4])
def test_a_subset_larger_than_all_or_empty_is_refused(size: int) -> None:
    for make in (free, every_subset, lambda n, k: stratified("aab"[:n], k), lambda n, k: one_per_group("abc"[:n], k)):
        with pytest.raises(InputError, match=f"subsets of {size}"):
            make(3, size)


def test_no_samples_are_refused() -> None:
    with pytest.raises(InputError, match="samples 0; expected a whole number, at least 1"):
        rank_over_subsets(small_table(0), free(7, 2), samples=0)


def test_a_design_for_other_data_sets_is_refused() -> None:
    with pytest.raises(InputError, match="subsets of 6 data sets; expected the 7"):
        rank_over_subsets(small_table(0), free(6, 2), samples=10)


def test_progress_counts_samples_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = integer_scores(np.arange(12.0).reshape(3, 4) % 5)
    expected = rank_over_subsets(scores, free(4, 2), samples=2500)
    monkeypatch.setattr(module, "PAIRS_PER_CALL", 1000 * scores.systems**2)
    done: list[tuple[int, int]] = []
    ranks = rank_over_subsets(scores, free(4, 2), samples=2500, on_progress=lambda _, *numbers: done.append(numbers))
    assert done == [(1000, 2500), (2000, 2500), (2500, 2500)]
    assert (ranks.counts_SS == expected.counts_SS).all()
    assert (ranks.wins_SS == expected.wins_SS).all()
    assert ranks.tau == expected.tau
