"""Units dealt out: every part its amount and every stratum its share, and all as likely as they should be."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from deadheat.splits.drawing import allocate, below, generator, permutation, round_table

counts = st.lists(st.integers(0, 40), min_size=1, max_size=12)


@st.composite
def margins(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Sums of rows, and of columns with the same total."""
    rows = draw(counts)
    cuts = sorted(draw(st.lists(st.integers(0, sum(rows)), max_size=9)))
    return rows, [b - a for a, b in zip([0, *cuts], [*cuts, sum(rows)], strict=True)]


@given(margins(), st.integers(0, 99))
def test_rounding_keeps_all_sums_and_every_cell_within_one(made: tuple[list[int], list[int]], seed: int) -> None:
    rows, columns = (np.array(item) for item in made)
    table = round_table(rows, columns, rng=generator(seed, 0))
    assert table.sum(axis=1).tolist() == made[0]
    assert table.sum(axis=0).tolist() == made[1]
    shares = np.outer(rows, columns) / max(1, rows.sum())
    assert np.all(table >= np.floor(shares - 1e-9))
    assert np.all(table <= np.ceil(shares + 1e-9))


def test_every_cell_is_its_share_on_average() -> None:
    rows, columns, times = np.array([1, 1, 2, 3, 10]), np.array([12, 3, 2]), 1000
    shares = np.outer(rows, columns) / 17
    result = sum(round_table(rows, columns, rng=generator(7, i)) for i in range(times))
    over = result - times * np.floor(shares)
    for cell in product(range(5), range(3)):
        chance = shares[cell] % 1
        assert 1e-6 < binom.cdf(over[cell], times, chance) < 1 - 1e-6, (cell, over[cell] / times, chance)


def parts_by_stratum(parts: np.ndarray, strata: np.ndarray, amount: int) -> np.ndarray:
    return np.array([np.bincount(parts[strata == item], minlength=amount) for item in range(int(strata.max()) + 1)])


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.integers(1, 9), st.integers(0, 99))
def test_strata_of_equal_units_are_within_one_unit_of_their_share(strata: list[int], weight: int, seed: int) -> None:
    _, codes = np.unique(strata, return_inverse=True)
    shares = np.array([0.7, 0.2, 0.1])
    weights = np.full(len(codes), weight)
    parts = allocate(weights, codes.astype(np.int32), shares * weights.sum(), rng=generator(seed, 0))
    sizes = np.bincount(parts, minlength=3)
    assert np.all(np.abs(np.cumsum(sizes) - np.cumsum(shares) * len(codes)) <= 0.5 + 1e-9)
    expected = np.outer(np.bincount(codes), sizes / len(codes))
    assert np.all(np.abs(parts_by_stratum(parts, codes, 3) - expected) < 1)


@pytest.mark.parametrize("strata", [[0] * 40, [0] * 20 + [1] * 17 + [2] * 2 + [3], [0] * 30 + list(range(1, 11))])
def test_every_one_of_equal_units_is_as_likely_in_every_part(strata: list[int]) -> None:
    times, codes = 500, np.array(strata, np.int32)
    amounts = np.array([28.0, 8.0, 4.0])
    hits = np.zeros((3, len(codes)), int)
    for i in range(times):
        hits[allocate(np.ones(len(codes), int), codes, amounts, rng=generator(3, i)), np.arange(len(codes))] += 1
    for part, share in enumerate(amounts / 40):
        low, high = binom.ppf([1e-6, 1 - 1e-6], times, share)
        assert np.all((low <= hits[part]) & (hits[part] <= high)), (part, hits[part])


def test_pairs_of_equal_units_meet_as_often_as_they_should() -> None:
    times, together = 800, np.zeros((10, 10), int)
    for i in range(times):
        test = allocate(np.ones(10, int), np.zeros(10, np.int32), np.array([7.0, 3.0]), rng=generator(1, i)) == 1
        together += np.outer(test, test)
    low, high = binom.ppf([1e-7, 1 - 1e-7], times, 3 / 10 * 2 / 9)
    pairs = together[np.triu_indices(10, 1)]
    assert np.all((low <= pairs) & (pairs <= high))


unequal = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 3)), min_size=1, max_size=60)


@settings(max_examples=30)
@given(unequal, st.integers(0, 99))
def test_unequal_units_are_all_dealt_out_and_no_worse_than_a_unit(units: list[tuple[int, int]], seed: int) -> None:
    weights = np.array([weight for weight, _ in units])
    _, strata = np.unique([stratum for _, stratum in units], return_inverse=True)
    amounts = np.array([0.8, 0.1, 0.1]) * weights.sum()
    parts = allocate(weights, strata.astype(np.int32), amounts, rng=generator(seed, 0))
    assert len(parts) == len(weights)
    assert set(parts.tolist()) <= {0, 1, 2}
    has = np.bincount(parts, weights, 3)
    assert np.all(np.abs(has - amounts) <= weights.max() * len(amounts))


@pytest.mark.parametrize("seed", range(8))
def test_many_unequal_units_are_within_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, strata = rng.integers(1, 40, 400), rng.integers(0, 4, 400).astype(np.int32)
    amounts = np.array([0.7, 0.1, 0.1, 0.1]) * weights.sum()
    parts = allocate(weights, strata, amounts, rng=generator(seed, 0))
    has_GP = np.array([np.bincount(parts[strata == item], weights[strata == item], 4) for item in range(4)])
    assert np.all(np.abs(has_GP.sum(axis=0) / amounts - 1) <= 0.02)
    assert np.all(np.abs(has_GP / np.outer(has_GP.sum(axis=1), [0.7, 0.1, 0.1, 0.1]) - 1) <= 0.05)


def test_where_units_are_too_large_sizes_come_before_shares() -> None:
    """One stratum is a single unit of half of all: the parts get their amounts from the other one."""
    weights, strata = np.array([300] + [5] * 60), np.array([0] + [1] * 60, np.int32)
    for seed in range(20):
        parts = allocate(weights, strata, np.array([480.0, 60.0, 60.0]), rng=generator(seed, 0))
        assert parts[0] == 0
        assert np.all(np.abs(np.bincount(parts, weights, 3) - [480, 60, 60]) <= 5)


def test_nothing_and_one_unit_can_be_dealt_out() -> None:
    none = np.zeros(0, np.int64)
    assert len(allocate(none, none.astype(np.int32), np.array([1.0, 1.0]), rng=generator(0, 0))) == 0
    assert allocate(np.array([9]), np.zeros(1, np.int32), np.array([1.0, 8.0]), rng=generator(0, 0)).tolist() == [1]


def test_shuffles_have_every_order_alike() -> None:
    times = 1200
    orders = [tuple(permutation(4, rng=generator(5, i)).tolist()) for i in range(times)]
    low, high = binom.ppf([1e-6, 1 - 1e-6], times, 1 / 24)
    result = {order: orders.count(order) for order in set(orders)}
    assert len(result) == 24
    assert all(low <= item <= high for item in result.values())


def test_numbers_below_a_bound_are_all_alike_and_fit() -> None:
    rng = generator(1, 0)
    result = np.bincount([below(7, rng=rng) for _ in range(3500)], minlength=7)
    low, high = binom.ppf([1e-6, 1 - 1e-6], 3500, 1 / 7)
    assert len(result) == 7
    assert np.all((low <= result) & (result <= high))
    assert below(1, rng=rng) == 0
    assert 0 <= below(2**63 + 1, rng=rng) <= 2**63


def test_chance_is_what_it_was() -> None:
    """A split that was published must come again, on other machines and with other versions of numpy."""
    assert generator(3, 1).bit_generator.random_raw(2).tolist() == [1850873042092917132, 11667821788946643541]
    assert permutation(8, rng=generator(0, 0)).tolist() == [6, 3, 1, 4, 5, 2, 7, 0]


def test_no_two_seeds_and_numbers_give_the_same_chance() -> None:
    firsts = [
        int(generator(seed, number).bit_generator.random_raw())
        for seed in (0, 1, 5, 2**32 + 5, 2**64)
        for number in range(4)
    ]
    assert len(set(firsts)) == len(firsts)
