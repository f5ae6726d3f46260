from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from deadheat.errors import InputError
from deadheat.kernels.statistics import grow_tree
from deadheat.ranking.importance import Codes, Partition, factor_importance
from deadheat.stats.checks import Values


def shares(found: object) -> dict[tuple[str, ...], float]:
    return {item.factors: item.share for item in (*found.main, *found.pairs)}  # type: ignore[attr-defined]


def full_design(*levels: int, repeats: int = 1) -> list[Codes]:
    combinations = np.array(list(product(*map(range, levels))) * repeats)
    return list(combinations.T)


def test_a_balanced_design_is_decomposed_exactly_by_hand() -> None:
    # Score = 3 a + 1 b + 2 ab with a, b in -1, 1: squares 9, 1 and 4 of 14.
    a, b = full_design(2, 2, repeats=2)
    x, y = 2.0 * a - 1, 2.0 * b - 1
    result = factor_importance([("a", a), ("b", b)], 3 * x + y + 2 * x * y, rng=np.random.default_rng(0))
    assert result.method == "exact"
    assert shares(result) == pytest.approx({("a",): 9 / 14, ("b",): 1 / 14, ("a", "b"): 4 / 14})
    assert result.noise == 0
    assert np.isnan(result.explained)


def test_noise_is_the_share_of_variance_within_configurations() -> None:
    rng = np.random.default_rng(0)
    a, b = full_design(40, 50, repeats=2)
    effect = rng.normal(size=2000)[50 * a + b]
    result = factor_importance([("a", a), ("b", b)], effect + rng.normal(size=4000), rng=rng)
    assert result.noise == pytest.approx(0.5, abs=0.04)


def test_what_seeds_would_give_is_subtracted_from_exact_shares_by_hand() -> None:
    # Means 1 and 4, squares about their mean 2.25; within cells 4 on 2 degrees of freedom, so 2 a run. Of 2.25 chance
    # has 1 x 2 / 4, which leaves 1.75 beside 2.
    scores = np.array([0.0, 3, 2, 5])
    result = factor_importance([("a", np.array([0, 1, 0, 1]))], scores, rng=np.random.default_rng(0))
    assert shares(result) == pytest.approx({("a",): 1.75 / 3.75})
    assert result.noise == pytest.approx(2 / 3.75)


def test_exact_shares_and_noise_are_the_true_ones_on_average() -> None:
    # a is +-1, b has effects -1, 0, 1 times 0.5, they interact by 0.5; noise 1.
    rng = np.random.default_rng(0)
    a, b = full_design(2, 3, repeats=4)
    x, y = 2.0 * a - 1, b - 1.0
    true = {("a",): 1.0, ("b",): 0.25 * 2 / 3, ("a", "b"): 0.25 * 2 / 3}
    whole = sum(true.values()) + 1
    sums, runs = dict.fromkeys(true, 0.0), 300
    for _ in range(runs):
        result = factor_importance(
            [("a", a), ("b", b)], x + 0.5 * y + 0.5 * x * y + rng.normal(size=24), rng=np.random.default_rng(0)
        )
        assert sum(shares(result).values()) + result.noise >= 1 - 1e-12
        for name, share in shares(result).items():
            sums[name] += share / runs
    assert sums == pytest.approx({name: value / whole for name, value in true.items()}, abs=0.03)


def test_pure_noise_with_repeats_is_not_put_down_to_factors() -> None:
    rng = np.random.default_rng(0)
    factors = list(zip("abc", full_design(2, 2, 2, repeats=5), strict=True))
    result = [factor_importance(factors, rng.normal(size=40), rng=np.random.default_rng(0)) for _ in range(100)]
    assert np.mean([item.main[0].share for item in result]) < 0.06
    assert np.mean([item.noise for item in result]) > 0.85


def leaf_marks(rng: np.random.Generator, levels: list[int]) -> tuple[np.ndarray, Values]:
    """A random tree over the combinations of some factors' levels."""
    starts = np.concatenate([[0], np.cumsum(levels)])
    leaves = [np.ones(starts[-1], bool)]
    for _ in range(6):
        mark = leaves.pop(int(rng.integers(len(leaves))))
        factor = int(rng.integers(len(levels)))
        own = np.flatnonzero(mark[starts[factor] : starts[factor + 1]]) + starts[factor]
        if len(own) < 2:
            leaves.append(mark)
            continue
        left = rng.permutation(own)[: rng.integers(1, len(own))]
        first, second = mark.copy(), mark.copy()
        first[np.setdiff1d(own, left)] = False
        second[left] = False
        leaves += [first, second]
    return np.array(leaves), rng.normal(size=len(leaves))


@pytest.mark.parametrize("seed", range(20))
def test_a_tree_is_decomposed_as_the_table_of_all_its_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = rng.integers(2, 5, size=3).tolist()
    starts = np.concatenate([[0], np.cumsum(levels)])
    marks, values = leaf_marks(rng, levels)
    table = np.empty(levels)
    for cell in product(*map(range, levels)):
        inside = marks[:, [start + level for start, level in zip(starts[:-1], cell, strict=True)]].all(axis=1)
        assert inside.sum() == 1
        table[cell] = values[inside][0]
    result = Partition.of(marks, values, starts)
    expected = factor_importance(
        list(zip("abc", full_design(*levels), strict=True)), table.ravel(), rng=np.random.default_rng(0)
    )
    exact = shares(expected)
    assert result.main().tolist() == pytest.approx([exact[(name,)] for name in "abc"])
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert result.pairs(pairs) == pytest.approx([exact["abc"[f], "abc"[g]] for f, g in pairs])


def grown(codes: list[Codes], scores: Values, weights: Values, *, least: int, ordered: bool) -> Values:
    """What a tree that considers all factors fits to every run."""
    size = len(scores)
    starts = np.concatenate([[0], np.cumsum([item.max() + 1 for item in codes])]).astype(np.int64)
    width = int(starts[-1])
    fitted = np.empty(size)
    leaves = grow_tree(
        np.concatenate(codes).astype(np.int32), scores, weights, np.arange(size), starts,
        np.full(len(codes), ordered, np.uint8), least, 1024, np.zeros(1, np.uint64), np.empty(width), np.empty(width),
        np.empty(width, np.int64), np.empty(width, np.uint8), np.empty(3 * size + 6, np.int64),
        np.empty((size + 2) * width, np.uint8), np.empty(size + 2), fitted,
    )  # fmt: skip
    assert leaves >= len(np.unique(fitted))
    return fitted


@pytest.mark.parametrize("seed", range(5))
def test_trees_over_numbers_are_those_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, 12, 300) for _ in range(4)]
    scores = np.sin(codes[0]) + 0.3 * codes[1] * (codes[2] > 4) + 0.1 * rng.normal(size=300)
    scores -= scores.mean()
    weights = rng.integers(0, 3, 300).astype(float)
    theirs = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    drawn = np.repeat(np.arange(300), weights.astype(int))  # the leaf's size is the weight of its runs
    theirs.fit(np.stack(codes, axis=1)[drawn], scores[drawn])
    ours = grown(codes, scores, weights, least=5, ordered=True)
    np.testing.assert_allclose(ours[weights > 0], theirs.predict(np.stack(codes, axis=1))[weights > 0], atol=1e-12)


def test_levels_without_a_run_go_where_their_number_belongs_or_to_the_heavier_side() -> None:
    codes = np.repeat([0, 1, 4, 2], [5, 5, 5, 1])
    scores, weights = np.repeat([-1.0, -1.0, 2.0, 0.0], [5, 5, 5, 1]), np.repeat([1.0, 0.0], [15, 1])
    assert grown([codes], scores, weights, least=5, ordered=True)[-1] == 2
    assert grown([codes], scores, weights, least=5, ordered=False)[-1] == -1


def squares(scores: Values, side: np.ndarray) -> float:
    return sum(float(((scores[part] - scores[part].mean()) ** 2).sum()) for part in (side, ~side))


def test_levels_of_text_are_parted_in_the_best_of_all_ways() -> None:
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(5), 8)  # leaves of 16 runs or more: the only split is of two levels from three
    ways = [np.isin(codes, pair) for pair in combinations(range(5), 2)]
    for _ in range(30):
        scores = rng.normal(size=40) + rng.normal(size=5)[codes]
        fitted = grown([codes], scores - scores.mean(), np.ones(40), least=16, ordered=False)
        assert len(np.unique(fitted)) == 2
        reached = float(((scores - scores.mean() - fitted) ** 2).sum())
        assert reached == pytest.approx(min(squares(scores, side) for side in ways))


def test_machine_code_and_python_grow_the_same_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    factors = [("a", rng.integers(0, 4, 60)), ("b", rng.integers(0, 3, 60)), ("c", rng.integers(0, 2, 60))]
    scores = rng.normal(size=60) + factors[0][1]
    native = factor_importance(factors, scores, rng=np.random.default_rng(1), ordered=["b"], trees=4)
    monkeypatch.setattr("deadheat.ranking.importance.grow_tree", grow_tree.python)
    with np.errstate(over="ignore"):
        python = factor_importance(factors, scores, rng=np.random.default_rng(1), ordered=["b"], trees=4)
    assert native == replace(python, noise=native.noise)


def test_a_forest_finds_what_an_unbalanced_design_was_made_with() -> None:
    rng = np.random.default_rng(7)
    a, b, c, d = (rng.integers(0, levels, 3000) for levels in (3, 4, 2, 5))
    effect_a, effect_b = np.array([-1.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.0, 1.0])
    scores = effect_a[a] + effect_b[b] + np.where(c == 1, 0.7, -0.7) * effect_a[a] + 0.1 * rng.normal(size=3000)
    whole = effect_a.var() + effect_b.var() + 0.49 * effect_a.var()
    factors = [("a", a), ("b", b), ("c", c), ("d", d)]
    result = factor_importance(factors, scores, rng=np.random.default_rng(0))
    expected = {
        ("a",): effect_a.var() / whole,
        ("b",): effect_b.var() / whole,
        ("a", "c"): 0.49 * effect_a.var() / whole,
    }
    assert result.method == "forest"
    assert result.explained == pytest.approx(1 - 0.01 / (whole + 0.01), abs=0.02)
    for name, share in shares(result).items():
        assert share == pytest.approx(expected.get(name, 0), abs=0.03), name
    assert [item.factors[0] for item in result.main[:2]] == ["a", "b"]


def test_a_forest_explains_nothing_where_there_is_nothing() -> None:
    rng = np.random.default_rng(8)
    factors = [(name, rng.integers(0, 5, 400)) for name in "abc"]
    result = factor_importance(factors, rng.normal(size=400), rng=np.random.default_rng(0))
    assert result.explained < 0.02


def test_the_seed_decides() -> None:
    rng = np.random.default_rng(9)
    factors = [(name, rng.integers(0, 5, 200)) for name in "abc"]
    scores = rng.normal(size=200)
    same = [factor_importance(factors, scores, rng=np.random.default_rng(4)) for _ in range(2)]
    assert repr(same[0]) == repr(same[1])
    assert same[0].main != factor_importance(factors, scores, rng=np.random.default_rng(5)).main


def test_what_does_not_vary_is_refused() -> None:
    flat, half = np.zeros(4, int), np.array([0, 0, 1, 1])
    with pytest.raises(InputError, match="no factor has two levels"):
        factor_importance([("a", flat)], np.arange(4.0), rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="all scores are the same"):
        factor_importance([("a", half)], np.ones(4), rng=np.random.default_rng(0))
