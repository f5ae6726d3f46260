from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import permutation_test

from deadheat.errors import InputError
from deadheat.stats import paired
from deadheat.stats.paired import PairedTest, lattice_p, mcnemar, paired_bootstrap, permutation_exact, randomization

Counts = NDArray[np.int64]


def share(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(sums[..., 0] / sums[..., 1])


def f1(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(2 * sums[..., 0] / (sums[..., 1] + sums[..., 2]))


def fresh(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def table(correct: Any, gold: Any, predicted: Any = None) -> Counts:
    return np.stack([correct, gold, gold if predicted is None else predicted], axis=1).astype(np.int64)


def simulated(seed: int, units: int, *, better: float = 0.0) -> tuple[Counts, Counts]:
    rng = fresh(seed)
    gold = rng.integers(1, 12, units)
    return table(rng.binomial(gold, 0.8 + better), gold), table(rng.binomial(gold, 0.8), gold)


SAMPLED: list[Callable[..., PairedTest]] = [paired_bootstrap, randomization]


@pytest.mark.parametrize("test", SAMPLED)
def test_a_system_against_its_own_copy_has_p_one(test: Callable[..., PairedTest]) -> None:
    first, _ = simulated(1, 50)
    assert test(first, first.copy(), f1, rng=fresh(), resamples=500).p == 1
    assert permutation_exact(first, first.copy()).p == 1


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=10))
@settings(max_examples=150)
def test_exact_permutation_is_all_sign_flips(gaps: list[int]) -> None:
    observed = abs(sum(gaps))
    flips = [
        abs(sum(s * g for s, g in zip(signs, gaps, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(gaps))
    ]
    assert lattice_p(np.array(gaps)) == pytest.approx(np.mean([item >= observed for item in flips]), rel=1e-12)


@given(st.integers(0, 300), st.integers(0, 300))
def test_exact_permutation_of_right_or_wrong_items_is_the_exact_mcnemar_test(b: int, c: int) -> None:
    gaps = np.array([1] * b + [-1] * c + [0, 0])
    assert lattice_p(gaps) == pytest.approx(mcnemar(b, c, method="exact").p, rel=1e-9)


@pytest.mark.parametrize("scale", [1, 10**8])
def test_few_units_are_counted_however_fine_their_differences_are(scale: int) -> None:
    gaps = scale * np.array([3, -5, 8, 0, 13, -2, 21, 34]) + np.array([0, 1, 0, 0, 0, 0, 0, -1])
    sums = [abs(int(gaps @ signs)) for signs in itertools.product((1, -1), repeat=len(gaps))]
    assert lattice_p(gaps) == pytest.approx(np.mean([item >= abs(int(gaps.sum())) for item in sums]), rel=1e-12)


def test_exact_permutation_by_fourier_transform_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    gaps = fresh(5).integers(-9, 10, 3000)
    direct = lattice_p(gaps)
    monkeypatch.setattr(paired, "DIRECT_LIMIT", 0)
    assert lattice_p(gaps) == pytest.approx(direct, abs=1e-12)


def test_the_smallest_p_values_are_right_to_many_digits() -> None:
    assert lattice_p(np.ones(900, np.int64)) == pytest.approx(2.0**-899, rel=1e-9)


def test_randomization_approaches_the_exact_test() -> None:
    first, second = simulated(2, 300, better=0.02)
    exact = permutation_exact(first, second).p
    sampled = randomization(first, second, share, rng=fresh(), resamples=40_000).p
    assert sampled == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 40_000))


def test_randomization_of_a_metric_that_is_not_additive_is_all_swaps() -> None:
    rng = fresh(3)
    gold = rng.integers(2, 6, 9)
    predicted = [gold + rng.integers(-1, 2, 9) for _ in range(2)]
    first, second = (table(rng.binomial(np.minimum(gold, item), 0.7), gold, item) for item in predicted)
    observed = abs(f1(first.sum(0)) - f1(second.sum(0)))
    hits: float = 0
    for swap in itertools.product((False, True), repeat=9):
        mask = np.array(swap)[:, None]
        a, b = np.where(mask, second, first).sum(0), np.where(mask, first, second).sum(0)
        hits += float(abs(f1(a) - f1(b)) >= observed - 1e-12)
    exact = hits / 2**9
    sampled = randomization(first, second, f1, rng=fresh(), resamples=40_000).p
    assert sampled == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 40_000) + 1e-4)


def test_randomization_agrees_with_scipy() -> None:
    first, second = simulated(4, 60, better=0.03)

    def statistic(a: NDArray[np.int64], b: NDArray[np.int64], axis: int) -> Any:
        return a.sum(axis=axis) - b.sum(axis=axis)

    data = (first[:, 0], second[:, 0])
    theirs = permutation_test(
        data, statistic, permutation_type="samples", n_resamples=20_000, rng=fresh(), vectorized=True
    )
    ours = randomization(first, second, share, rng=fresh(), resamples=20_000)
    assert ours.p == pytest.approx(theirs.pvalue, abs=0.02)


def test_a_constant_gain_on_every_item_is_found_by_the_paired_bootstrap() -> None:
    rng = fresh(6)
    gold = np.full(500, 20)
    base = rng.integers(5, 15, 500)
    result = paired_bootstrap(table(base + 1, gold), table(base, gold), share, rng=fresh(), resamples=999)
    assert result.p == 1 / 1000


@pytest.mark.parametrize("test", SAMPLED)
def test_sampled_p_values_are_never_zero(test: Callable[..., PairedTest]) -> None:
    gold = np.full(200, 10)
    assert test(table(gold, gold), table(gold * 0, gold), share, rng=fresh(), resamples=99).p == 0.01


@pytest.mark.parametrize("test", SAMPLED)
def test_block_sizes_change_nothing(test: Callable[..., PairedTest], monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = simulated(7, 120, better=0.01)
    whole = test(first, second, f1, rng=fresh(1), resamples=1000)
    monkeypatch.setattr(paired, "BLOCK", 77)
    assert test(first, second, f1, rng=fresh(1), resamples=1000) == whole


@pytest.mark.parametrize("test", SAMPLED)
def test_seed_zero_is_a_seed_and_the_global_generator_is_left_alone(test: Callable[..., PairedTest]) -> None:
    first, second = simulated(8, 60, better=0.01)
    np.random.seed(3)  # noqa: NPY002 (it is watched, not used)
    state = np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    runs = {test(first, second, f1, rng=fresh(0), resamples=500).p for _ in range(3)}
    assert len(runs) == 1
    assert np.random.get_state()[1].tolist() == state  # type: ignore[index]  # noqa: NPY002
    assert test(first, second, f1, rng=fresh(1), resamples=500).p not in runs


@pytest.mark.parametrize("test", SAMPLED)
def test_swapping_systems_turns_the_difference_alone(test: Callable[..., PairedTest]) -> None:
    first, second = simulated(9, 80, better=0.02)
    one = test(first, second, f1, rng=fresh(), resamples=800)
    other = test(second, first, f1, rng=fresh(), resamples=800)
    assert one.p == other.p
    assert one.difference == pytest.approx(-other.difference)


def test_units_on_which_both_are_equal_do_not_matter_to_swaps() -> None:
    first, second = simulated(10, 40, better=0.05)
    same = table(np.full(30, 3), np.full(30, 4))
    longer, longest = (np.concatenate([item, same]) for item in (first, second))
    short = randomization(first, second, lambda sums: sums[..., 0], rng=fresh(), resamples=500)
    assert randomization(longer, longest, lambda sums: sums[..., 0], rng=fresh(), resamples=500).p == short.p


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (np.ones((3, 3), int), np.ones((4, 3), int), "expected the same units"),
        (np.ones((1, 3), int), np.ones((1, 3), int), "expected at least two"),
        (-np.ones((3, 3), int), np.ones((3, 3), int), "a negative count"),
        (np.ones((3, 3)), np.ones((3, 3)), "expected integers"),
    ],
)
def test_invalid_counts_are_refused(first: Counts, second: Counts, message: str) -> None:
    with pytest.raises(InputError, match=message):
        paired_bootstrap(first, second, share, rng=fresh())


def test_exact_permutation_needs_the_same_totals() -> None:
    first, second = simulated(11, 10)
    second[0, 2] += 1
    with pytest.raises(InputError, match="additive"):
        permutation_exact(first, second)


@pytest.mark.parametrize("test", SAMPLED)
def test_resamples_without_a_score_do_not_speak_against_chance(test: Callable[..., PairedTest]) -> None:
    """Of twenty units one alone has an item: drawn without it, there is nothing to compare."""
    gold = np.array([1] + [0] * 19)
    first, second = table(gold, gold), table(gold * 0, gold)
    with np.errstate(invalid="ignore", divide="ignore"):
        assert test(first, second, share, rng=fresh(), resamples=999).p > 0.3
        assert np.isnan(test(first * 0, second * 0, share, rng=fresh(), resamples=99).p)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int32, np.uint64])
def test_the_type_of_integer_does_not_matter(kind: Any) -> None:
    first, second = simulated(12, 60, better=0.05)
    wide = [randomization(first, second, share, rng=fresh(), resamples=500).p, permutation_exact(first, second).p]
    a, b = first.astype(kind), second.astype(kind)
    assert [randomization(a, b, share, rng=fresh(), resamples=500).p, permutation_exact(a, b).p] == wide


@pytest.mark.parametrize("scale", [100.0, 1e6])
def test_the_scale_of_scores_does_not_matter(scale: float) -> None:
    first, second = simulated(13, 80, better=0.01)

    def scaled(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return scale * share(sums)

    usual = paired_bootstrap(first, second, share, rng=fresh(), resamples=500)
    assert paired_bootstrap(first, second, scaled, rng=fresh(), resamples=500).p == usual.p
