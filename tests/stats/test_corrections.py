"""Corrected p-values: by hand, by statsmodels, by obvious versions, and what must hold of all."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from deadheat.errors import InputError, NameUnknown
from deadheat.stats.corrections import CORRECTIONS, benjamini_hochberg, bonferroni, correct, holm, none, tied_with_best

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
