from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.stats import binom

from deadheat.errors import InputError
from deadheat.ranking.anomalies import Attributes, Presence, anomalies, hypergeometric_tail
from deadheat.ranking.integers import whole_scores
from deadheat.ranking.subsets import every_subset, free, rank_over_subsets
from deadheat.stats.corrections import holm
from tests.ranking.tables import plain_ranks, small_table

KEY = np.array([5], np.uint64)
LABELS = ("x", "x", "x", "y", "y", "y", "y", "z", "w", "")


@pytest.mark.parametrize(("population", "marked", "drawn"), [(10, 3, 4), (9, 9, 2), (8, 0, 8), (12, 5, 6)])
def test_tails_are_counted_by_going_through_all_subsets(population: int, marked: int, drawn: int) -> None:
    counts = [sum(place < marked for place in subset) for subset in combinations(range(population), drawn)]
    for least in range(-1, drawn + 2):
        expected = sum(count >= least for count in counts) / len(counts)
        assert hypergeometric_tail(population, marked, drawn, least) == pytest.approx(expected)


def test_published_tails_are_those_of_one_data_set_more_than_the_text_says() -> None:
    # Alonso-Alonso et al. (2022) give 0.00214 for "6 or more" of 21 low-resource treebanks among 10 of 82, 0.01538 for
    # "5 or more", and 0.00043 for 6 or more of 17 Slavic ones. Those are the chances of more than 6, 5 and 6.
    def tail(marked: int, least: int) -> float:
        ways = sum(math.comb(marked, i) * math.comb(82 - marked, 10 - i) for i in range(least, 11))
        return ways / math.comb(82, 10)

    for marked, least in ((21, 5), (21, 6), (21, 7), (17, 6), (17, 7)):
        assert hypergeometric_tail(82, marked, 10, least) == pytest.approx(tail(marked, least), rel=1e-14)
    assert hypergeometric_tail(82, 21, 10, 7) == pytest.approx(0.00214, abs=5e-6)
    assert hypergeometric_tail(82, 21, 10, 6) == pytest.approx(0.01538, abs=5e-6)
    assert hypergeometric_tail(82, 17, 10, 7) == pytest.approx(0.000421, abs=5e-7)  # not the 0.00043 in print
    assert hypergeometric_tail(82, 21, 10, 5) == pytest.approx(0.07196, abs=5e-6)
    assert hypergeometric_tail(82, 17, 10, 6) == pytest.approx(0.00434, abs=5e-6)


def test_more_marked_than_there_are_is_refused() -> None:
    with pytest.raises(InputError, match="11 marked and 3 drawn of 10"):
        hypergeometric_tail(10, 11, 3, 1)


def by_name(presence: tuple[Presence, ...]) -> dict[tuple[str, str], Presence]:
    return {(each.attribute, each.value): each for each in presence}


def test_for_one_subset_p_is_the_hypergeometric_tail() -> None:
    scores = small_table(1, datasets=10)
    found = rank_over_subsets(scores, free(10, 4), samples=500, key=KEY)
    rng = np.random.default_rng(0)
    made = anomalies(found, scores, 0, name="a", attributes={"group": LABELS}, rng=rng, most=1)
    for end in (made.best, made.worst):
        (subset,) = end.subsets_BK.tolist()
        assert plain_ranks(scores, subset)[0] == end.rank
        presence = by_name(end.presence)
        assert set(presence) == {("group", "x"), ("group", "y")}  # values of one data set, or none, are not tested
        for (_, value), each in presence.items():
            here = sum(LABELS[place] == value for place in subset)
            marked = LABELS.count(value)
            assert (each.observed, each.expected, each.datasets) == (here / 4, marked / 10, marked)
            assert each.p == pytest.approx(hypergeometric_tail(10, marked, 4, here))
            assert (each.example, each.p_example) == (here, hypergeometric_tail(10, marked, 4, here))


def test_for_several_subsets_p_is_counted_over_all_placings_of_the_attribute() -> None:
    scores = small_table(2, datasets=8)
    found = rank_over_subsets(scores, every_subset(8, 3), samples=1)
    labels = ("x", "x", "x", "y", "y", "y", "y", "y")
    made = anomalies(found, scores, 1, name="b", attributes={"group": labels}, rng=np.random.default_rng(0))
    for end in (made.best, made.worst):
        often = np.bincount(end.subsets_BK.ravel(), minlength=8)
        assert len(end.subsets_BK) == round(end.share * 56)
        present = often[:3].sum()
        sums = [often[list(some)].sum() for some in combinations(range(8), 3)]
        expected = sum(each >= present for each in sums) / len(sums)
        assert by_name(end.presence)["group", "x"].p == pytest.approx(expected)


def test_numbers_are_compared_by_their_mean_over_all_orders() -> None:
    scores = small_table(3, datasets=6)
    found = rank_over_subsets(scores, every_subset(6, 2), samples=1)
    sizes = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    made = anomalies(found, scores, 0, name="a", attributes={"size": sizes}, rng=np.random.default_rng(0))
    (each,) = made.best.presence
    often = np.bincount(made.best.subsets_BK.ravel(), minlength=6)
    observed, mean = often @ sizes / often.sum(), sizes.mean()
    means = [often @ np.array(order) / often.sum() for order in permutations(sizes)]
    expected = np.mean([abs(one - mean) >= abs(observed - mean) - 1e-12 for one in means])
    assert [each.observed, each.expected] == pytest.approx([observed, mean])
    assert each.p == pytest.approx(expected, abs=0.02)


def test_a_column_of_zeros_and_ones_counts_as_two_values() -> None:
    scores = small_table(4, datasets=6)
    found = rank_over_subsets(scores, every_subset(6, 2), samples=1)
    attributes: Attributes = {"low": np.array([0.0, 1, 0, 1, 0, 1]), "name": tuple("abcdef")}
    made = anomalies(found, scores, 0, name="a", attributes=attributes, rng=np.random.default_rng(0))
    assert set(by_name(made.best.presence)) == {("low", "0"), ("low", "1")}  # names are all different: nothing to test
    zero, one = made.best.presence
    assert zero.observed + one.observed == pytest.approx(1)


def test_p_values_of_both_ends_are_corrected_together() -> None:
    scores = small_table(5, datasets=10)
    found = rank_over_subsets(scores, free(10, 4), samples=500, key=KEY)
    made = anomalies(found, scores, 0, name="a", attributes={"group": LABELS}, rng=np.random.default_rng(0))
    both = (*made.best.presence, *made.worst.presence)
    assert [each.p_corrected for each in both] == holm([each.p for each in both]).tolist()


def test_an_attribute_that_decides_the_rank_is_found() -> None:
    rng = np.random.default_rng(6)
    labels = ("slavic",) * 8 + ("other",) * 22
    base = rng.integers(0, 100, (6, 30))
    base[0, :8] += 150
    base[0, 8:] -= 60
    scores = whole_scores(base)
    found = rank_over_subsets(scores, free(30, 6), samples=20_000, rng=rng)
    made = anomalies(found, scores, 0, name="a", attributes={"family": labels}, rng=rng)
    best, worst = by_name(made.best.presence), by_name(made.worst.presence)
    assert best["family", "slavic"].p_corrected < 0.001
    assert worst["family", "other"].p_corrected < 0.001
    assert worst["family", "slavic"].p_corrected > 0.5


def test_where_all_subsets_are_listed_the_order_of_the_data_sets_says_nothing() -> None:
    # Scores are noise, and the data sets of a family stand side by side: the first subsets of a list are of one family.
    tries, families = 300, ("x",) * 5 + ("y",) * 5 + ("z",) * 5
    found_wrongly = odd_examples = 0
    for seed in range(tries):
        rng = np.random.default_rng(seed)
        scores = whole_scores(rng.integers(0, 10_000, (3, 15)))
        found = rank_over_subsets(scores, every_subset(15, 4), samples=1)
        made = anomalies(found, scores, 0, name="a", attributes={"family": families}, rng=rng, most=20)
        found_wrongly += any(each.p_corrected <= 0.05 for each in (*made.best.presence, *made.worst.presence))
        odd_examples += by_name(made.best.presence)["family", "x"].p_example <= hypergeometric_tail(15, 5, 4, 3)
    assert found_wrongly <= binom.isf(1e-4, tries, 0.05)
    assert odd_examples <= binom.isf(1e-4, tries, hypergeometric_tail(15, 5, 4, 3))
