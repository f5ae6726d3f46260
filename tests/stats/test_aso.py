"""Almost stochastic order: the ratio, the bound, the correction, chance."""

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from deadheat.errors import InputError
from deadheat.kernels.resampling import draw_weights, violation_sums
from deadheat.stats import aso as module
from deadheat.stats.aso import aso, aso_matrix
from deadheat.stats.intervals import normal_quantile

SCORES = st.lists(st.integers(-40, 40), min_size=1, max_size=7)
SEVERAL = st.lists(st.lists(st.integers(-9, 9), min_size=2, max_size=5), min_size=2, max_size=4)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def violation_ratio(a: ArrayLike, b: ArrayLike) -> float:
    return aso(a, b, resamples=2, rng=rng()).ratio


def exact_ratio(a: list[int], b: list[int]) -> Fraction:
    """The definition, in fractions: both quantile functions on every piece between points i/n and j/m."""
    points = sorted({Fraction(i, len(a)) for i in range(len(a) + 1)} | {Fraction(j, len(b)) for j in range(len(b) + 1)})
    below = total = Fraction(0)
    for start, end in pairwise(points):
        middle = (start + end) / 2
        gap = sorted(a)[math.ceil(middle * len(a)) - 1] - sorted(b)[math.ceil(middle * len(b)) - 1]
        total += (end - start) * gap**2
        below += (end - start) * gap**2 * (gap < 0)
    return below / total if total else Fraction(1, 2)


def test_a_ratio_worked_out_by_hand() -> None:
    # Quantile functions of (1, 5) and (2, 3, 3) on (0, 1/3), (1/3, 1/2), (1/2, 1): gaps -1, -2, +2.
    below, above = 1 / 3 * 1 + 1 / 6 * 4, 1 / 2 * 4
    assert violation_ratio([5, 1], [3, 2, 3]) == pytest.approx(below / (below + above), abs=1e-15)


@given(SCORES, SCORES)
def test_the_ratio_is_the_integral_of_its_definition(a: list[int], b: list[int]) -> None:
    assert violation_ratio(a, b) == pytest.approx(float(exact_ratio(a, b)), abs=1e-14)


@given(SCORES, SCORES)
def test_the_ratios_of_both_directions_add_up_to_one(a: list[int], b: list[int]) -> None:
    assert violation_ratio(a, b) + violation_ratio(b, a) == pytest.approx(1, abs=1e-14)


@given(SCORES, SCORES, st.floats(0.01, 100), st.floats(-100, 100))
def test_location_and_scale_do_not_matter(a: list[int], b: list[int], scale: float, shift: float) -> None:
    moved = violation_ratio(scale * np.array(a) + shift, scale * np.array(b) + shift)
    assert moved == pytest.approx(violation_ratio(a, b), abs=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_squares_stay_in_range(scale: float) -> None:
    assert violation_ratio([scale, 5 * scale], [2 * scale, 3 * scale, 3 * scale]) == pytest.approx(1 / 3, abs=1e-14)


@given(SCORES, SCORES, st.integers(2, 4))
def test_samples_repeated_as_a_whole_have_the_same_ratio(a: list[int], b: list[int], times: int) -> None:
    assert violation_ratio(a * times, b) == pytest.approx(violation_ratio(a, b), abs=1e-13)


def test_no_tail_of_the_distribution_is_left_out() -> None:
    # All of the difference lies in the last, or in the first, of 1,000 scores; a grid of 0.005 sees neither.
    low, high = [0.0] * 999 + [1.0], [0.0] * 1000
    assert violation_ratio(low, high) == 0
    assert violation_ratio(high, low) == 1
    assert violation_ratio([-1.0] + [0.0] * 999, high) == 1


def test_identical_samples_violate_the_order_by_half() -> None:
    scores = [0.90, 0.91, 0.95]
    assert violation_ratio(scores, scores) == 0.5
    assert aso(scores, scores, rng=rng()).ratio == 0.5
    assert aso(scores, scores, rng=rng()).bound > 0.5
    constant = aso([0.9] * 4, [0.9] * 3, rng=rng())
    assert (constant.ratio, constant.deviation, constant.bound) == (0.5, 0, 0.5)


def test_systems_that_never_meet_need_no_confidence_term() -> None:
    better, worse = [0.95, 0.96, 0.97], [0.90, 0.91, 0.92]
    assert aso(better, worse, rng=rng()).bound == 0
    assert aso(worse, better, rng=rng()).bound == 1


def test_every_resample_listed_gives_the_deviation() -> None:
    a, b = [1, 4, 6], [2, 3]
    ratios = [float(exact_ratio(list(x), list(y))) for x in product(a, repeat=3) for y in product(b, repeat=2)]
    result = aso(a, b, resamples=200_000, rng=rng())
    assert result.deviation == pytest.approx(np.std(ratios), rel=0.01)
    assert result.bound == pytest.approx(result.ratio - result.deviation * normal_quantile(0.05), abs=1e-12)


def test_the_resamples_are_those_of_the_weights() -> None:
    a, b, resamples = [1, 4, 6, 2], [2, 3, 5], 50
    keys = rng(3).integers(0, 2**64, size=2, dtype=np.uint64)
    drawn = []
    for key, scores in zip(keys, (a, b), strict=True):
        weights = np.empty(resamples * len(scores))
        draw_weights(np.array([key]), 0, resamples, len(scores), weights)
        rows = weights.reshape(resamples, -1).astype(int)
        drawn.append([np.repeat(sorted(scores), row).tolist() for row in rows])
    ratios = [float(exact_ratio(x, y)) for x, y in zip(*drawn, strict=True)]
    assert aso(a, b, resamples=resamples, rng=rng(3)).deviation == pytest.approx(np.std(ratios, ddof=1), rel=1e-10)


def test_deepsig_agrees_where_its_grid_is_fine_enough() -> None:
    # deepsig 1.2.8, seeds 10,000 s: compute_violation_ratio(scores_a=a, scores_b=b, dt=1e-5) is 0.033125, and
    # aso(a, b, seed=10_000 * s, num_bootstrap_iterations=2000) for s = 1..5 is 0.3439 0.3275 0.3440 0.3545 0.3544.
    a = [0.912, 0.915, 0.909, 0.918, 0.905, 0.911, 0.920, 0.900]
    b = [0.907, 0.911, 0.905, 0.910, 0.913, 0.902, 0.908, 0.906, 0.909, 0.904]
    result = aso(a, b, resamples=50_000, rng=rng())
    assert result.ratio == pytest.approx(0.033125, abs=1e-5)
    assert result.bound == pytest.approx(0.345, abs=0.02)


@given(SEVERAL, st.integers(0, 9))
@settings(max_examples=30)
def test_a_matrix_holds_what_its_pairs_hold(scores: list[list[int]], seed: int) -> None:
    result = aso_matrix(scores, resamples=20, rng=rng(seed))
    pairs = len(scores) * (len(scores) - 1) // 2
    assert result.comparisons == pairs
    z = normal_quantile(0.05 / pairs)
    for i, j in product(range(len(scores)), repeat=2):
        if i == j:
            assert np.isnan(result.bound_SS[i, j])
            continue
        assert result.ratio_SS[i, j] == pytest.approx(violation_ratio(scores[i], scores[j]), abs=1e-14)
        assert result.deviation_SS[i, j] == result.deviation_SS[j, i]
        bound = np.clip(result.ratio_SS[i, j] - z * result.deviation_SS[i, j], 0, 1)
        assert result.bound_SS[i, j] == pytest.approx(bound, abs=1e-14)
        assert result.pair(i, j).bound == result.bound_SS[i, j]


def test_two_systems_in_a_matrix_are_one_comparison() -> None:
    a, b = rng(1).normal(0.90, 0.01, 6), rng(2).normal(0.91, 0.01, 6)
    matrix = aso_matrix([a, b], rng=rng())
    assert matrix.pair(0, 1) == aso(a, b, rng=rng())
    assert 0 < matrix.bound_SS[1, 0] < 1


def test_more_comparisons_make_the_bound_stricter() -> None:
    a, b = rng(1).normal(0.91, 0.01, 20), rng(2).normal(0.90, 0.01, 20)
    bounds = [aso(a, b, comparisons=m, rng=rng()).bound for m in (1, 2, 10, 100)]
    assert bounds == sorted(set(bounds))
    assert aso(a, b, comparisons=10, rng=rng()).bound == pytest.approx(aso(a, b, alpha=0.005, rng=rng()).bound)
    alone = aso_matrix([a, b], rng=rng())
    among = aso_matrix([a, b, *rng(3).normal(0.9, 0.01, (4, 20))], rng=rng())
    assert among.bound_SS[0, 1] > alone.bound_SS[0, 1]
    assert among.deviation_SS[0, 1] == alone.deviation_SS[0, 1]


def test_a_system_more_leaves_the_resamples_of_the_others_alone() -> None:
    scores = rng(1).normal(0.9, 0.01, (5, 4))
    few, many = aso_matrix(scores[:4], rng=rng()), aso_matrix(scores, rng=rng())
    np.testing.assert_array_equal(few.deviation_SS, many.deviation_SS[:4, :4])


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 19])
def test_the_size_of_blocks_changes_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = [rng(1).normal(size=n) for n in (3, 5, 4)]
    expected = aso_matrix(scores, resamples=100, rng=rng())
    monkeypatch.setattr(module, "BLOCK", block)
    np.testing.assert_array_equal(aso_matrix(scores, resamples=100, rng=rng()).deviation_SS, expected.deviation_SS)


def test_the_kernel_in_plain_python_gives_the_same() -> None:
    flat, starts, rows = np.sort(rng(1).normal(size=4)).repeat(2), np.array([0, 3, 8]), 6
    weights = np.empty(rows * 8)
    for system, units in enumerate((3, 5)):
        position = weights[starts[system] * rows : starts[system + 1] * rows]
        draw_weights(np.array([system], dtype=np.uint64), 0, rows, units, position)
    outcomes = []
    for function in (violation_sums, violation_sums.python):
        sums, squares = np.zeros(1), np.zeros(1)
        assert function(flat, starts, weights, rows, np.array([0.3]), sums, squares) == 1
        outcomes.append((sums[0], squares[0]))
    assert outcomes[0] == outcomes[1]


def test_seeds_that_follow_each_other_are_independent() -> None:
    # Where seed s + 1 repeated all but one of the resamples of seed s, the correlation would be near 1.
    a, b = rng(1).normal(size=6), rng(2).normal(size=6)
    deviations = np.array([aso(a, b, resamples=30, rng=rng(seed)).deviation for seed in range(400)])
    correlation = np.corrcoef(deviations[:-1], deviations[1:])[0, 1]
    assert abs(correlation) < 4 / math.sqrt(400)
    assert len(np.unique(deviations)) == 400


def test_chance_comes_from_the_generator_alone() -> None:
    a, b = rng(1).normal(size=6), rng(2).normal(size=6)
    assert aso(a, b, rng=rng(0)) == aso(a, b, rng=rng(0))
    assert aso(a, b, rng=rng(0)).deviation != aso(a, b, rng=rng(1)).deviation


def test_one_run_has_a_ratio_but_no_bound() -> None:
    result = aso([0.9], [0.8, 0.85], rng=rng())
    assert result.ratio == 0
    assert math.isnan(result.bound)
    assert "one run" in str(result)
    matrix = aso_matrix([[0.9], [0.8, 0.85], [0.7, 0.9]], rng=rng())
    assert np.isnan(matrix.bound_SS[0]).all()
    assert not np.isnan(matrix.bound_SS[1, 2])


def test_a_result_prints_as_one_line() -> None:
    result = aso([0.912, 0.915, 0.909], [0.907, 0.911, 0.910], rng=rng())
    assert "\n" not in str(result)
    matrix = aso_matrix(rng(1).normal(size=(4, 5)), rng=rng())
    assert "4 systems, 6 pairs" in str(matrix)


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        ([], [1.0], {}, "first system: no scores"),
        ([1.0], [1.0, math.nan], {}, "second system: score 2 is nan"),
        ([math.inf], [1.0], {}, "first system: score 1 is inf"),
        ([[1.0]], [1.0], {}, "2 dimensions"),
        (["x"], [1.0], {}, "not a row of numbers"),
        ([1, 2], [1, 2], {"alpha": 0}, "alpha 0"),
        ([1, 2], [1, 2], {"alpha": math.nan}, "alpha nan"),
        ([1, 2], [1, 2], {"comparisons": 0}, "comparisons 0"),
        ([1, 2], [1, 2], {"resamples": 1}, "resamples 1"),
        ([1, 2], [1, 2], {"resamples": 10.0}, "resamples 10.0"),
    ],
)
def test_wrong_input_is_refused(a: list[float], b: list[float], options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        aso(a, b, rng=rng(), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[1.0, 2.0]], "one system"),
        ([], "no systems"),
        ([[1.0], [math.nan]], "system 2: score 1"),
        ([1.0, 2.0], "0 dim"),
    ],
)
def test_a_wrong_matrix_is_refused(scores: list[list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        aso_matrix(scores, rng=rng())


def test_a_system_is_not_compared_with_itself() -> None:
    with pytest.raises(InputError, match="expected two systems"):
        aso_matrix([[1, 2], [3, 4]], rng=rng()).pair(1, 1)
