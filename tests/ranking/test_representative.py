from __future__ import annotations

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.ranking.integers import WholeScores, whole_scores
from deadheat.ranking.selected_subsets import exact_subset, greedy_subset, leave_one_out, representative
from deadheat.ranking.selected_subsets import representative as module
from deadheat.stats.rankings import kendall
from tests.ranking.tables import all_subsets, plain_ranks, small_table


def pairs_alike(scores: WholeScores, subset: list[int]) -> int:
    """Pairs that are ordered, and ordered alike, on all data sets and on the subset, by a loop."""
    everything = list(range(scores.datasets))
    whole, part = plain_ranks(scores, everything), plain_ranks(scores, subset)
    systems = range(scores.systems)
    return sum(whole[a] < whole[b] and part[a] < part[b] for a in systems for b in systems)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("listed", [10**6, 0])
def test_the_exact_subset_is_the_best_of_all(seed: int, listed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LISTED", listed)  # 0: by integer programming
    rng = np.random.default_rng(seed)
    scores = small_table(seed, systems=5, datasets=8, values=30)
    size = int(rng.integers(1, 6))
    start = greedy_subset(scores, size)
    found = exact_subset(scores, size, start=start)
    best = max(pairs_alike(scores, subset) for subset in all_subsets(8, size))
    assert found.agreeing == pairs_alike(scores, found.subset.tolist()) == found.bound == best
    assert found.proved
    assert start.agreeing == pairs_alike(scores, start.subset.tolist()) <= best
    assert len(set(found.subset.tolist())) == len(set(start.subset.tolist())) == size


@pytest.mark.parametrize("seed", range(8))
def test_no_single_exchange_improves_the_greedy_subset(seed: int) -> None:
    scores = small_table(seed, systems=6, datasets=9, values=40)
    chosen = greedy_subset(scores, 4).subset.tolist()
    rest = [place for place in range(9) if place not in chosen]
    reached = pairs_alike(scores, chosen)
    for out in chosen:
        for into in rest:
            assert pairs_alike(scores, [place for place in chosen if place != out] + [into]) <= reached


def test_all_data_sets_represent_themselves() -> None:
    scores = small_table(0, datasets=5, values=50)
    found = representative(scores, 5, rng=np.random.default_rng(0))
    assert found.exact.agreeing == found.exact.pairs
    assert (found.exact.tau, found.held_out, found.fitted, found.random) == (1, 1, 1, 1)


def test_what_is_fitted_to_noise_does_not_hold_for_other_systems() -> None:
    rng = np.random.default_rng(0)
    noise = whole_scores(rng.integers(0, 10_000, (24, 40)))
    found = representative(noise, 4, rng=rng, time_limit=1)
    assert found.fitted > found.random + 0.3
    assert found.held_out == pytest.approx(found.random, abs=0.06)


def test_subsets_chosen_without_a_system_see_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = small_table(3, systems=6, datasets=8, values=50)
    seen: list[set[tuple[int, ...]]] = []

    def spy(given: WholeScores, size: int) -> object:
        seen.append({tuple(row) for row in given.above_SD.tolist()})
        return greedy_subset(given, size)

    monkeypatch.setattr(module, "greedy_subset", spy)
    representative(scores, 3, rng=np.random.default_rng(0), halvings=2)
    everything = {tuple(row) for row in scores.above_SD.tolist()}
    assert seen[0] == everything  # all systems for the answer itself
    for one, other in (seen[1:3], seen[3:5]):
        assert one | other == everything
        assert not one & other


def test_sizes_that_are_none_and_too_few_systems_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="a representative subset of 9 of 7 data sets; expected between 1 and 7"):
        representative(small_table(0), 9, rng=rng)
    with pytest.raises(InputError, match="3 systems; expected at least 4, so that half of them can be held out"):
        representative(small_table(0, systems=3), 2, rng=rng)


def test_leaving_one_out_gives_the_ranking_on_the_rest() -> None:
    scores = small_table(7, systems=6, datasets=6, values=5)
    systems, datasets = list("abcdef"), [f"d{i}" for i in range(6)]
    found = leave_one_out(scores, systems, datasets)
    assert sorted(each.dataset for each in found) == datasets
    assert [each.swapped for each in found] == sorted((each.swapped for each in found), reverse=True)
    whole = plain_ranks(scores, list(range(6)))
    for each in found:
        rest = [place for place in range(6) if datasets[place] != each.dataset]
        now = plain_ranks(scores, rest)
        assert each.moved == {
            name: (before, after) for name, before, after in zip(systems, whole, now, strict=True) if before != after
        }
        assert each.swapped == sum(whole[a] < whole[b] and now[a] > now[b] for a in range(6) for b in range(6))
        assert each.tau == pytest.approx(kendall([-rank for rank in now], [-rank for rank in whole]))


def test_leaving_one_of_one_out_is_refused() -> None:
    with pytest.raises(InputError, match="2 systems on 1 data set; expected at least two of each"):
        leave_one_out(whole_scores([[1], [2]]), ["a", "b"], ["d"])
