"""HyperParams that networks take for chance: they look like it, and follow from a key and a place alone."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

import jax
import jax.numpy as jnp
from jax import Array

from deadheat.neural import rng

NUMBERS = 1 << 16
# Each test below is passed by true chance but for so often; there are fewer than 500 of them, and all are repeatable.
RARE = 1e-7
FAR = float(stats.norm.isf(RARE / 2))  # standard errors
MASK = 0xFFFFFFFF
Values = NDArray[np.floating]
# One program each: to compile every operation by itself takes longer.
uniform = jax.jit(rng.uniform, static_argnums=1)
dropout_mask = jax.jit(rng.dropout_mask, static_argnums=2)
random_rows = jax.jit(rng.random_rows, static_argnums=2)
key_of = jax.jit(rng.make_key)
mix_bits = jax.jit(rng.mix_bits)


def plain_mixed(x: int) -> int:
    """Wellons' lowbias32 in whole numbers of any size."""
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & MASK
    x = ((x ^ (x >> 15)) * 0x846CA68B) & MASK
    return x ^ (x >> 16)


def plain_key(*parts: int) -> int:
    found = 0x9E3779B9
    for part in parts:
        found = plain_mixed((found * 31 + part + 0x85EBCA6B) & MASK)
    return found


def plain_uniform(key: int, size: int) -> list[float]:
    own = plain_mixed(key ^ 0x5BD1E995)
    return [(plain_mixed(plain_mixed((place + key) & MASK) ^ own) >> 8) / 2**24 for place in range(size)]


def drawn(*parts: int, size: int = NUMBERS) -> Values:
    return np.asarray(uniform(key_of(*parts), (size,)), np.float64)


def all_drawn(keys: NDArray[np.uint32], size: int) -> Values:
    """A row for every key."""
    return np.asarray(jax.jit(jax.vmap(lambda key: rng.uniform(key, (size,))))(jnp.asarray(keys)), np.float64)


def keys_of(*parts: NDArray[np.integer] | int) -> NDArray[np.uint32]:
    wide = np.broadcast_arrays(*parts)
    return np.asarray(jax.jit(jax.vmap(rng.make_key))(*(jnp.asarray(each, jnp.uint32) for each in wide)))


def assert_level(values: Values, bins: int = 256) -> None:
    """Values from 0 to 1 fall into all bins alike; neither too unlike nor too well."""
    counts = np.bincount((values * bins).astype(int).ravel(), minlength=bins)
    assert len(counts) == bins
    at_least = stats.chisquare(counts).pvalue
    assert RARE / 2 < at_least < 1 - RARE / 2


def assert_unrelated(one: Values, other: Values, bins: int = 16) -> None:
    """Pairs fall into all squares of a grid alike, and have no correlation."""
    assert_level(((one * bins).astype(int) * bins + (other * bins).astype(int) + 0.5) / bins**2, bins**2)
    assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < FAR / math.sqrt(one.size)


def test_the_hash_is_the_one_it_is_said_to_be() -> None:
    assert [int(mix_bits(np.uint32(each))) for each in (0, 1, 77, MASK)] == [
        plain_mixed(each) for each in (0, 1, 77, MASK)
    ]
    assert int(key_of(1, 2, 3)) == plain_key(1, 2, 3)
    assert uniform(key_of(5), (3, 4)).ravel().tolist() == plain_uniform(plain_key(5), 12)


def test_one_number_in_gives_one_number_out() -> None:
    # Both steps of lowbias32 can be undone, so no two numbers may become one.
    some = np.arange(NUMBERS, dtype=np.uint32)
    assert len(np.unique(np.asarray(mix_bits(some)))) == NUMBERS


@pytest.mark.parametrize("parts", [(0,), (1,), (0, 0), (1, 0, 0), (1, 0, 1), (1, 7, 2000)])
def test_numbers_are_level_and_places_have_nothing_in_common(parts: tuple[int, ...]) -> None:
    values = drawn(*parts)
    assert values.min() >= 0
    assert values.max() < 1
    assert_level(values)
    for step in (1, 2, 16, 100):
        assert_unrelated(values[:-step], values[step:])


@pytest.mark.parametrize("apart", [1, 2, 1 << 16, 1 << 31])
@pytest.mark.parametrize("shift", [0, 1, 2])
def test_neighbouring_keys_have_nothing_in_common(apart: int, shift: int) -> None:
    # A key is added to the place, so that those of one key, shifted by a place, could be those of the next.
    first = np.uint32(123_456_789)
    one, other = all_drawn(np.array([first, first + np.uint32(apart)]), NUMBERS)
    assert_unrelated(one[shift:], other[: NUMBERS - shift])


def test_seeds_and_updates_have_keys_of_their_own() -> None:
    seeds, updates = np.meshgrid(np.arange(256), np.arange(256), indexing="ij")
    keys = keys_of(1, seeds.ravel(), updates.ravel())
    # Of 65,536 numbers of 32 bits, 0.5 pairs are the same on average; six would be by chance once in a million.
    assert len(keys) - len(np.unique(keys)) < 6
    first = all_drawn(keys, 2)
    assert_level(first[:, 0])
    assert_unrelated(first[:, 0], first[:, 1])
    grid = first[:, 0].reshape(256, 256)
    assert_unrelated(grid[:-1], grid[1:])  # neighbouring seeds
    assert_unrelated(grid[:, :-1], grid[:, 1:])  # neighbouring updates


def test_the_order_of_parts_matters() -> None:
    assert len({int(key_of(*parts)) for parts in ((1, 2), (2, 1), (1, 2, 0), (0, 1, 2), (12,))}) == 5


def test_masks_of_neighbouring_updates_and_layers_are_independent() -> None:
    drop, size = 0.25, 20_000
    shape = (size,)
    masks = [np.asarray(dropout_mask(key_of(key_of(1, 0, at), place), drop, shape)) > 0
             for at in (0, 1) for place in (1, 2)]  # fmt: skip
    both = (1 - drop) ** 2
    bound = FAR * math.sqrt(both * (1 - both) / size)
    for at, one in enumerate(masks):
        for other in masks[at + 1 :]:
            assert abs((one & other).mean() - both) < bound


def test_a_stack_draws_what_each_network_draws_alone() -> None:
    def draw(key: Array, drop: Array) -> tuple[Array, Array, Array]:
        drawn = rng.normal(key, (7,)), rng.random_rows(key, jnp.arange(6), 5)
        return rng.dropout_mask(key, drop, (3, 1, 5)), *drawn

    keys = keys_of(1, np.arange(4), 9)
    drops = np.array([0.0, 0.1, 0.5, 0.9], np.float32)
    masks, normal, rows = jax.jit(jax.vmap(draw))(keys, drops)
    draw_alone = jax.jit(draw)
    for at in range(4):
        alone = draw_alone(keys[at], drops[at])
        assert np.array_equal(masks[at], alone[0])
        assert np.allclose(normal[at], alone[1], rtol=1e-6, atol=1e-6)
        assert np.array_equal(rows[at], alone[2])


@pytest.mark.parametrize("drop", [0.05, 0.25, 0.5, 0.9])
def test_what_is_kept_is_scaled_so_that_the_mean_stays(drop: float) -> None:
    found = np.asarray(dropout_mask(key_of(3, 1), drop, (NUMBERS,)), np.float64)
    assert np.unique(found) == pytest.approx([0, 1 / (1 - drop)], rel=1e-6)
    # A kept unit counts 1 / (1 - p) with probability 1 - p: the variance is p / (1 - p).
    assert abs(found.mean() - 1) < FAR * math.sqrt(drop / (1 - drop) / NUMBERS)


def test_when_nothing_is_dropped_everything_stays_as_it_is() -> None:
    assert np.array_equal(dropout_mask(key_of(3, 2), 0.0, (NUMBERS,)), np.ones(NUMBERS))


def test_normal_numbers_are_normal() -> None:
    values = np.asarray(jax.jit(rng.normal, static_argnums=1)(key_of(8), (NUMBERS,)), np.float64)
    assert stats.kstest(values, "norm").pvalue > RARE
    assert_unrelated(stats.norm.cdf(values[:-1]), stats.norm.cdf(values[1:]))


def test_numbers_between_bounds_are_level() -> None:
    values = np.asarray(rng.symmetric(rng.make_key(4), (NUMBERS,), 0.3), np.float64)
    assert np.abs(values).max() <= 0.3
    assert_level(np.clip(values / 0.6 + 0.5, 0, 1 - 1e-9))


def test_a_row_depends_on_its_mark_and_the_key_alone() -> None:
    key = key_of(0, 3)
    hashes = np.random.default_rng(0).integers(0, MASK, 50, np.uint32)
    rows = np.asarray(random_rows(key, jnp.asarray(hashes), 7))
    order = np.random.default_rng(1).permutation(50)[:20]
    assert np.array_equal(random_rows(key, jnp.asarray(hashes[order]), 7), rows[order])
    assert len(np.unique(rows, axis=0)) == 50
    assert not (np.asarray(random_rows(key_of(0, 4), jnp.asarray(hashes), 7)) == rows).any()


def test_rows_have_the_variance_that_is_one_over_their_size() -> None:
    size = 32
    rows = np.asarray(random_rows(key_of(0, 0), jnp.arange(2048), size), np.float64)
    bound = math.sqrt(3 / size)
    assert np.abs(rows).max() <= bound
    assert_level(np.clip(rows / (2 * bound) + 0.5, 0, 1 - 1e-9))
    # The square of a number level from -b to b has the mean b^2 / 3 and the variance 4 b^4 / 45.
    assert abs((rows**2).mean() - 1 / size) < FAR * math.sqrt(4 * bound**4 / 45 / rows.size)
    assert_unrelated(rows[:-1] / (2 * bound) + 0.5, rows[1:] / (2 * bound) + 0.5)  # neighbouring hashes
    assert_unrelated(rows[:, :-1] / (2 * bound) + 0.5, rows[:, 1:] / (2 * bound) + 0.5)  # neighbouring places
