from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.stats import binom

from deadheat.errors import InputError
from deadheat.ranking.anomalies import Anomalies, Attributes, AttributeTest, find_anomalies, hypergeometric_tail
from deadheat.ranking.integers import IntegerScores, integer_scores
from deadheat.ranking.subsets import SubsetRanks, every_subset, free, rank_over_subsets
from deadheat.stats.corrections import holm
from tests.ranking.tables import plain_ranks, small_table

KEY = np.array([5], np.uint64)
LABELS = ("x", "x", "x", "y", "y", "y", "y", "z", "w", "")


@pytest.mark.parametrize(("population", "marked", "drawn"), [(10, 3, 4), (9, 9, 2), (8, 0, 8), (12, 5, 6)])
def test_tails_are_counted_by_going_through_all_subsets(population: int, marked: int, drawn: int) -> None:
    counts = [sum(position < marked for position in subset) for subset in combinations(range(population), drawn)]
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


def by_name(tests: tuple[AttributeTest, ...]) -> dict[tuple[str, str], AttributeTest]:
    return {(item.attribute, item.value): item for item in tests}


def anomalies(
    found: SubsetRanks,
    scores: IntegerScores,
    system: int,
    *,
    attributes: Attributes,
    rng: np.random.Generator,
    most: int = 100,
) -> Anomalies:
    """Data sets are named by their numbers."""
    names = [str(column) for column in range(scores.datasets)]
    return find_anomalies(found, scores, system, name="a", datasets=names, attributes=attributes, rng=rng, most=most)


def indices(subsets: tuple[tuple[str, ...], ...]) -> list[list[int]]:
    return [[int(name) for name in subset] for subset in subsets]


def test_for_one_subset_p_is_the_hypergeometric_tail() -> None:
    scores = small_table(1, datasets=10)
    result = rank_over_subsets(scores, free(10, 4), samples=500, key=KEY)
    rng = np.random.default_rng(0)
    made = anomalies(result, scores, 0, attributes={"group": LABELS}, rng=rng, most=1)
    for end in (made.best, made.worst):
        (subset,) = indices(end.subsets)
        assert plain_ranks(scores, subset)[0] == end.rank
        tests = by_name(end.tests)
        assert set(tests) == {("group", "x"), ("group", "y")}  # values of one data set, or none, are not tested
        for (_, value), item in tests.items():
            here = sum(LABELS[position] == value for position in subset)
            marked = LABELS.count(value)
            assert (item.observed, item.expected, item.datasets) == (here / 4, marked / 10, marked)
            assert item.p == pytest.approx(hypergeometric_tail(10, marked, 4, here))
            assert (item.example, item.p_example) == (here, hypergeometric_tail(10, marked, 4, here))


def test_for_several_subsets_p_is_counted_over_all_placings_of_the_attribute() -> None:
    scores = small_table(2, datasets=8)
    result = rank_over_subsets(scores, every_subset(8, 3), samples=1)
    labels = ("x", "x", "x", "y", "y", "y", "y", "y")
    made = anomalies(result, scores, 1, attributes={"group": labels}, rng=np.random.default_rng(0))
    for end in (made.best, made.worst):
        often = np.bincount(np.ravel(indices(end.subsets)), minlength=8)
        assert len(end.subsets) == end.count
        present = often[:3].sum()
        sums = [often[list(some)].sum() for some in combinations(range(8), 3)]
        expected = sum(item >= present for item in sums) / len(sums)
        assert by_name(end.tests)["group", "x"].p == pytest.approx(expected)


def test_numbers_are_compared_by_their_mean_over_all_orders() -> None:
    scores = small_table(3, datasets=6)
    result = rank_over_subsets(scores, every_subset(6, 2), samples=1)
    sizes = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    made = anomalies(result, scores, 0, attributes={"size": sizes}, rng=np.random.default_rng(0))
    (item,) = made.best.tests
    often = np.bincount(np.ravel(indices(made.best.subsets)), minlength=6)
    observed, mean = often @ sizes / often.sum(), sizes.mean()
    means = [often @ np.array(order) / often.sum() for order in permutations(sizes)]
    expected = np.mean([abs(one - mean) >= abs(observed - mean) - 1e-12 for one in means])
    assert [item.observed, item.expected] == pytest.approx([observed, mean])
    assert item.p == pytest.approx(expected, abs=0.02)


def test_a_column_of_zeros_and_ones_counts_as_two_values() -> None:
    scores = small_table(4, datasets=6)
    result = rank_over_subsets(scores, every_subset(6, 2), samples=1)
    attributes: Attributes = {"low": np.array([0.0, 1, 0, 1, 0, 1]), "name": tuple("abcdef")}
    made = anomalies(result, scores, 0, attributes=attributes, rng=np.random.default_rng(0))
    assert set(by_name(made.best.tests)) == {("low", "0"), ("low", "1")}  # names are all different: nothing to test
    zero, one = made.best.tests
    assert zero.observed + one.observed == pytest.approx(1)


def test_p_values_of_both_ends_are_corrected_together() -> None:
    scores = small_table(5, datasets=10)
    result = rank_over_subsets(scores, free(10, 4), samples=500, key=KEY)
    made = anomalies(result, scores, 0, attributes={"group": LABELS}, rng=np.random.default_rng(0))
    both = (*made.best.tests, *made.worst.tests)
    assert [item.p_corrected for item in both] == holm([item.p for item in both]).tolist()


def test_an_attribute_that_decides_the_rank_is_found() -> None:
    rng = np.random.default_rng(6)
    labels = ("slavic",) * 8 + ("other",) * 22
    base = rng.integers(0, 100, (6, 30))
    base[0, :8] += 150
    base[0, 8:] -= 60
    scores = integer_scores(base)
    result = rank_over_subsets(scores, free(30, 6), samples=20_000, rng=rng)
    made = anomalies(result, scores, 0, attributes={"family": labels}, rng=rng)
    best, worst = by_name(made.best.tests), by_name(made.worst.tests)
    assert best["family", "slavic"].p_corrected < 0.001
    assert worst["family", "other"].p_corrected < 0.001
    assert worst["family", "slavic"].p_corrected > 0.5


def test_where_all_subsets_are_listed_the_order_of_the_data_sets_says_nothing() -> None:
    # Scores are noise, and the data sets of a family stand side by side: the first subsets of a list are of one family.
    tries, families = 300, ("x",) * 5 + ("y",) * 5 + ("z",) * 5
    found_wrongly = odd_examples = 0
    for seed in range(tries):
        rng = np.random.default_rng(seed)
        scores = integer_scores(rng.integers(0, 10_000, (3, 15)))
        result = rank_over_subsets(scores, every_subset(15, 4), samples=1)
        made = anomalies(result, scores, 0, attributes={"family": families}, rng=rng, most=20)
        found_wrongly += any(item.p_corrected <= 0.05 for item in (*made.best.tests, *made.worst.tests))
        odd_examples += by_name(made.best.tests)["family", "x"].p_example <= hypergeometric_tail(15, 5, 4, 3)
    assert found_wrongly <= binom.isf(1e-4, tries, 0.05)
    assert odd_examples <= binom.isf(1e-4, tries, hypergeometric_tail(15, 5, 4, 3))
