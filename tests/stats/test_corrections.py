"""Corrected p-values: by hand, by statsmodels, by obvious versions, and what must hold of all."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy.stats import binom

from deadheat.errors import InputError, NameUnknown
from deadheat.stats.corrections import (
    CORRECTIONS,
    benjamini_hochberg,
    bonferroni,
    correct,
    correct_defined,
    decision_levels,
    holm,
    none,
    partial_conjunction,
    tied_with_best,
)

P_VALUES = [0.01, 0.04, 0.03, 0.005, 0.5, 0.03, 0.9, 0.0001]
# statsmodels 0.15: `multipletests(P_VALUES, method=...)[1]` with bonferroni, holm, fdr_bh
BY_STATSMODELS = {
    "bonferroni": [0.08, 0.32, 0.24, 0.04, 1.0, 0.24, 1.0, 0.0008],
    "holm": [0.06, 0.15, 0.15, 0.035, 1.0, 0.15, 1.0, 0.0008],
    "bh": [0.0266666667, 0.0533333333, 0.048, 0.02, 0.5714285714, 0.048, 0.9, 0.0008],
}

p_lists = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.02, 0.05, 1.0])), max_size=12)


def obvious_holm(p_values: list[float]) -> list[float]:
    """The largest, over all p-values no larger, of that p-value times the tests not yet rejected before it."""
    corrected = []
    for mine in p_values:
        ordered = sorted(p_values)
        smaller = [other * (len(ordered) - position) for position, other in enumerate(ordered) if other <= mine]
        corrected.append(min(1.0, max(smaller)))
    return corrected


def obvious_bh(p_values: list[float]) -> list[float]:
    """The least share of false discoveries at any threshold that lets this test pass."""
    corrected = []
    for mine in p_values:
        thresholds = [other for other in p_values if other >= mine]
        shares = [other * len(p_values) / sum(third <= other for third in p_values) for other in thresholds]
        corrected.append(min(1.0, *shares))
    return corrected


@pytest.mark.parametrize("method", BY_STATSMODELS)
def test_statsmodels_gives_the_same(method: str) -> None:
    assert correct(P_VALUES, method) == pytest.approx(BY_STATSMODELS[method], abs=1e-10)


def test_three_p_values_by_hand() -> None:
    assert bonferroni([0.02, 0.01, 0.4]).tolist() == pytest.approx([0.06, 0.03, 1.0])
    assert holm([0.02, 0.01, 0.4]).tolist() == pytest.approx([0.04, 0.03, 0.4])
    assert benjamini_hochberg([0.02, 0.01, 0.4]).tolist() == pytest.approx([0.03, 0.03, 0.4])
    assert none([0.02, 0.01, 0.4]).tolist() == [0.02, 0.01, 0.4]


def test_a_later_p_value_is_never_corrected_to_less() -> None:
    # Alone 0.02 times 1 would pass 0.025; the 0.015 before it, times 2, is 0.03.
    assert holm([0.02, 0.015]).tolist() == pytest.approx([0.03, 0.03])


@given(p_lists)
def test_holm_and_benjamini_hochberg_are_the_obvious_versions(p_values: list[float]) -> None:
    assert holm(p_values).tolist() == pytest.approx(obvious_holm(p_values), rel=1e-12)
    assert benjamini_hochberg(p_values).tolist() == pytest.approx(obvious_bh(p_values), rel=1e-12)


@given(p_lists, st.sampled_from(sorted(CORRECTIONS)), st.integers(0, 1000))
def test_corrected_p_values_keep_the_order_of_the_tests(p_values: list[float], method: str, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(p_values))
    shuffled = correct(np.array(p_values)[order], method)
    assert shuffled.tolist() == correct(p_values, method)[order].tolist()


@given(p_lists, st.sampled_from(sorted(CORRECTIONS)))
def test_order_ties_and_bounds_hold(p_values: list[float], method: str) -> None:
    corrected = correct(p_values, method)
    given, order = np.array(p_values), np.argsort(p_values, kind="stable")
    assert (np.diff(corrected[order]) >= 0).all()
    assert (corrected >= given * (1 - 1e-15)).all()
    assert (corrected <= 1).all()
    for value in set(p_values):
        assert len(set(corrected[given == value].tolist())) == 1


@given(p_lists)
def test_bonferroni_is_never_below_holm_nor_holm_below_benjamini_and_hochberg(p_values: list[float]) -> None:
    assert (bonferroni(p_values) >= holm(p_values)).all()
    assert (holm(p_values) >= benjamini_hochberg(p_values) * (1 - 1e-15)).all()


@pytest.mark.parametrize("function", CORRECTIONS.values(), ids=CORRECTIONS)
def test_a_single_p_value_and_the_input_are_left_unchanged(function: Callable[[ArrayLike], np.ndarray]) -> None:
    assert function([]).tolist() == []
    assert function([0.3]).tolist() == [0.3]
    given = np.array(P_VALUES)
    function(given)[:] = 0
    assert given.tolist() == P_VALUES


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan"), float("inf")])
def test_what_is_no_p_value_is_refused_with_its_position(wrong: float) -> None:
    with pytest.raises(InputError, match=r"p-value 2 of 3: .*; expected between 0 and 1"):
        holm([0.5, wrong, 0.1])


def test_a_matrix_of_p_values_and_an_unknown_correction_are_refused() -> None:
    with pytest.raises(InputError, match="2 dimensions"):
        holm([[0.1, 0.2]])
    with pytest.raises(NameUnknown, match="did you mean 'bonferroni'"):
        correct([0.1], "bonferoni")


@given(p_lists, st.sampled_from(sorted(CORRECTIONS)), st.sampled_from([0.01, 0.05, 0.2]))
def test_p_is_at_most_its_level_exactly_where_corrected_p_is_at_most_alpha(
    p_values: list[float], method: str, alpha: float
) -> None:
    corrected, levels = correct(p_values, method), decision_levels(p_values, method, alpha)
    for p, value, level in zip(p_values, corrected.tolist(), levels.tolist(), strict=True):
        assert 0 < level <= alpha * (1 + 1e-12)
        if abs(value - alpha) > 1e-12:
            assert (p <= level) == (value <= alpha)


@given(p_lists, st.floats(0.001, 0.5))
def test_the_levels_of_single_step_methods_do_not_depend_on_the_p_values(p_values: list[float], alpha: float) -> None:
    number = len(p_values)
    assert decision_levels(p_values, "none", alpha).tolist() == pytest.approx([alpha] * number)
    assert decision_levels(p_values, "bonferroni", alpha).tolist() == pytest.approx([alpha / max(1, number)] * number)


def test_the_levels_of_step_methods_by_hand() -> None:
    """Holm tests 0.01 at a third of 0.05, 0.02 at a half, and 0.4 at all of it; BH at one, two and three thirds."""
    assert decision_levels([0.02, 0.4, 0.01], "holm", 0.05).tolist() == pytest.approx([0.05 / 2, 0.05, 0.05 / 3])
    assert decision_levels([0.01, 0.04, 0.4], "bh", 0.05).tolist() == pytest.approx([0.05 / 3, 0.05 * 2 / 3, 0.05])


def test_tests_that_could_not_be_made_have_no_level_and_do_not_count() -> None:
    p_values = [0.01, float("nan"), 0.02]
    assert correct_defined(p_values, "bonferroni")[[0, 2]].tolist() == [0.02, 0.04]
    assert decision_levels(p_values, "bonferroni", 0.05)[[0, 2]].tolist() == pytest.approx([0.025, 0.025])
    assert np.isnan([correct_defined(p_values, "holm")[1], decision_levels(p_values, "holm", 0.05)[1]]).all()
    assert decision_levels([], "holm", 0.05).tolist() == []


def plain_partial_conjunction(p_values: list[float], alpha: float) -> int:
    """The greatest u such that for every v up to u, in every n - v + 1 of the tests some p passes Bonferroni's bound.

    If fewer than v data sets have an effect, some n - v + 1 have none: Bonferroni over each such subset must reject.
    """
    number = len(p_values)

    def is_rejected(v: int) -> bool:
        size = number - v + 1
        return all(size * min(subset) <= alpha for subset in combinations(p_values, size))

    return max((u for u in range(number + 1) if all(is_rejected(v) for v in range(1, u + 1))), default=0)


@given(
    st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.001, 0.01, 0.02, 0.05])), max_size=7),
    st.sampled_from([0.01, 0.05, 0.2]),
)
def test_partial_conjunction_is_bonferroni_over_all_subsets(p_values: list[float], alpha: float) -> None:
    assert partial_conjunction(p_values, alpha) == plain_partial_conjunction(p_values, alpha)


def test_partial_conjunction_rarely_exceeds_the_true_number_of_effects() -> None:
    rng, worlds, true = np.random.default_rng(0), 2000, 3
    exceeded = 0
    for _ in range(worlds):
        p_values = np.concatenate([rng.random(true) * 1e-6, rng.random(7)])
        exceeded += partial_conjunction(p_values, 0.05) > true
    assert binom.ppf(1e-4, worlds, 0.03) <= exceeded <= binom.ppf(1 - 1e-4, worlds, 0.05)


def test_the_systems_tied_with_the_best_are_named_from_the_best_down() -> None:
    p_values = [[1, 0.01, 0.2, 0.9], [0.01, 1, 0.5, 0.03], [0.2, 0.5, 1, 0.06], [0.9, 0.03, 0.06, 1]]
    result = tied_with_best(p_values, [0.8, 0.7, 0.75, 0.9], names=["a", "b", "c", "d"])
    assert (result.best, result.tied) == (("d",), ("a", "c"))
    assert str(result) == "d best, tied with a, c (alpha 0.05)"
    assert tied_with_best(p_values, [0.8, 0.7, 0.75, 0.9], alpha=0.06).tied == ("system 1",)
    assert (
        str(tied_with_best(p_values, [0.8, 0.7, 0.75, 0.9], alpha=0.95)) == "system 4 best, tied with none (alpha 0.95)"
    )


def test_two_systems_of_the_highest_value_are_both_best() -> None:
    p_values = [[1, 1, 0.01], [1, 1, 0.3], [0.01, 0.3, 1]]
    result = tied_with_best(p_values, [0.9, 0.9, 0.8], names=["a", "b", "c"])
    assert (result.best, result.tied) == (("a", "b"), ("c",))


SQUARE = [[1, 0.2], [0.2, 1]]


@pytest.mark.parametrize(
    ("p_values", "values", "options", "message"),
    [
        ([[1, 0.2], [0.3, 1]], [1, 2], {}, "p-value of system 1 and system 2: 0.2; expected .* a symmetric matrix"),
        ([[1, float("nan")], [0.3, 1]], [1, 2], {}, "p-value of system 1 and system 2: nan"),
        (SQUARE, [1, float("nan")], {}, "value of system 2: nan; expected a finite number"),
        (SQUARE, [1, 2, 3], {}, r"shapes \(2, 2\) and \(3,\)"),
        ([], [], {}, "shapes"),
        *(([[1.0]], [1.0], {"alpha": alpha}, "alpha") for alpha in (0.0, 1.0, float("nan"))),
        *((SQUARE, [1, 2], {"names": names}, "system names") for names in (["a"], ["a", "a"], ["a", "b", "c"])),
    ],
)
def test_what_cannot_be_compared_with_the_best_is_refused(
    p_values: object, values: list[float], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        tied_with_best(np.array(p_values, dtype=float), values, **options)
