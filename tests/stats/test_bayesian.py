"""The Bayesian signed-rank test: by its definition, by baycomp, by symmetry."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.errors import InputError
from deadheat.kernels.statistics import pair_mass
from deadheat.stats import differences
from deadheat.stats.differences import bayesian_signed_rank

A = [0.91, 0.85, 0.78, 0.93, 0.88, 0.81, 0.95, 0.70]
B = [0.89, 0.86, 0.75, 0.93, 0.85, 0.805, 0.94, 0.72]
PAIRS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=7)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def plain(a: list[float], b: list[float], weights: list[float], rope: float) -> tuple[float, float]:
    """The chances of left and right by their definition; the last weight is that of the prior."""
    z = [*(y - x for x, y in zip(a, b, strict=True)), 0.0]
    left = right = 0.0
    for first, v in zip(z, weights, strict=True):
        for second, w in zip(z, weights, strict=True):
            left += v * w * np.heaviside(-2 * rope - first - second, 0.5)
            right += v * w * np.heaviside(first + second - 2 * rope, 0.5)
    return left, right


@given(PAIRS, st.integers(0, 6), st.integers(0, 99))
@settings(max_examples=60)
def test_the_chances_are_those_of_the_definition(pairs: list[tuple[int, int]], rope: int, seed: int) -> None:
    a, b = ([float(value) for value in column] for column in zip(*pairs, strict=True))
    weights = rng(seed).dirichlet([1.0] * len(a) + [0.6])
    z = np.append(np.subtract(b, a), 0.0)
    expected = plain(a, b, weights.tolist(), rope / 2)
    left, right = (differences._mass_beyond(item, weights[None], rope / 2, 1e-12)[0] for item in (z, -z))
    assert (left, right) == pytest.approx(expected, abs=1e-12)


# baycomp 1.0.3: SignedRankTest.probs(np.array(A), np.array(B), rope, nsamples=200_000, random_state=1); without a
# region it leaves out the middle.
@pytest.mark.parametrize(
    ("rope", "expected"),
    [(0.0, (0.90844, 0.0, 0.09157)), (0.004, (0.89692, 0.01498, 0.08810)), (0.012, (0.25608, 0.74296, 0.00097))],
)
def test_baycomp_agrees(rope: float, expected: tuple[float, float, float]) -> None:
    result = bayesian_signed_rank(A, B, rope=rope, prior=0.5, samples=100_000, rng=rng())
    # Five standard deviations of the difference of two shares.
    for mine, theirs in zip((result.left, result.equivalent, result.right), expected, strict=True):
        assert abs(mine - theirs) < 5 * math.sqrt(max(theirs, 1e-5) * (1 - theirs) * (1 / 100_000 + 1 / 200_000))


def test_weights_have_the_moments_of_the_dirichlet_distribution() -> None:
    # With differences 1 and -1 and no region, right = w1² + 2 w1 w0 + (w0² + 2 w1 w2) / 2 by hand; Dirichlet(1, 1, s)
    # has E[w_i w_j] = a_i a_j / (t (t + 1)) and E[w_i²] = a_i (a_i + 1) / (t (t + 1)), t = 2 + s.
    s = 0.6
    t = (2 + s) * (3 + s)
    result = bayesian_signed_rank([0, 1], [1, 0], rope=0, prior=s, samples=100_000, rng=rng())
    mean = result.theta_B3.mean(axis=0)
    assert mean[2] == pytest.approx((2 + 2 * s + s * (s + 1) / 2 + 1) / t, abs=0.004)
    assert mean[0] == pytest.approx(mean[2], abs=0.008)


def test_without_a_prior_the_weights_are_those_of_the_bayesian_bootstrap() -> None:
    # Of two data sets with opposite differences, left = w² + w (1 - w) = w, since their sum lies on the edge; and the
    # weight of one of two is uniform.
    result = bayesian_signed_rank([1, 0], [0, 1], rope=0, prior=0, samples=50_000, rng=rng())
    for bound in (0.1, 0.25, 0.5, 0.9):
        assert (result.theta_B3[:, 0] < bound).mean() == pytest.approx(bound, abs=0.012)


@given(PAIRS, st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.integers(0, 9))
@settings(max_examples=40)
def test_swapping_the_systems_swaps_left_and_right_exactly(
    pairs: list[tuple[int, int]], rope: float, seed: int
) -> None:
    a, b = (np.array(column) / 7 for column in zip(*pairs, strict=True))
    there = bayesian_signed_rank(a, b, rope=rope, samples=300, rng=rng(seed))
    back = bayesian_signed_rank(b, a, rope=rope, samples=300, rng=rng(seed))
    assert (there.left, there.equivalent, there.right) == (back.right, back.equivalent, back.left)
    np.testing.assert_array_equal(there.theta_B3, back.theta_B3[:, ::-1])


@given(PAIRS, st.sampled_from([0.0, 1.0, 2.5]))
@settings(max_examples=40)
def test_probabilities_add_up_and_scale_does_not_matter(pairs: list[tuple[int, int]], rope: float) -> None:
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    result = bayesian_signed_rank(a, b, rope=rope, samples=200, rng=rng())
    scaled = bayesian_signed_rank(a * 4, b * 4, rope=rope * 4, samples=200, rng=rng())
    assert result.left + result.equivalent + result.right == pytest.approx(1)
    np.testing.assert_array_equal(result.theta_B3, scaled.theta_B3)


def test_equal_systems_are_equivalent_or_halves() -> None:
    within = bayesian_signed_rank(A, A, rope=0.01, samples=100, rng=rng())
    assert (within.left, within.equivalent, within.right) == (0, 1, 0)
    without = bayesian_signed_rank(A, A, rope=0, samples=100, rng=rng())
    assert (without.left, without.equivalent, without.right) == (0.5, 0, 0.5)


def test_a_difference_that_reaches_the_edge_but_for_rounding_is_on_it() -> None:
    a, b = np.array([0.91, 0.30, 0.58]), np.array([0.90, 0.29, 0.57])
    assert (a - b > 0.01).all()
    with_prior = bayesian_signed_rank(a, b, rope=0.01, prior=0, samples=50, rng=rng())
    np.testing.assert_allclose(with_prior.theta_B3, [[0.5, 0.5, 0.0]] * 50, atol=1e-12)


def test_more_samples_keep_the_old_ones_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    many = bayesian_signed_rank(A, B, samples=1000, rng=rng()).theta_B3
    np.testing.assert_array_equal(bayesian_signed_rank(A, B, samples=100, rng=rng()).theta_B3, many[:100])
    for block in (1, 100, 4000):
        monkeypatch.setattr(differences, "BLOCK", block)
        np.testing.assert_array_equal(bayesian_signed_rank(A, B, samples=1000, rng=rng()).theta_B3, many)


def test_the_kernel_in_plain_python_gives_the_same() -> None:
    order, below, reached = np.array([2, 0, 1]), np.array([2, 1, 0]), np.array([3, 2, 1])
    outcomes = []
    for function in (pair_mass, pair_mass.python):
        mass = np.empty(4)
        function(rng().random(12), order, below, reached, np.empty(4), mass)
        outcomes.append(mass.tolist())
    assert outcomes[0] == outcomes[1]


def test_other_seeds_give_other_samples() -> None:
    zero, one = (bayesian_signed_rank(A, B, samples=100, rng=rng(seed)).theta_B3 for seed in (0, 1))
    assert not np.isin(zero[:, 0], one[:, 0]).any()


def test_one_data_set_gives_no_probabilities() -> None:
    result = bayesian_signed_rank([0.9], [0.8], rng=rng())
    assert math.isnan(result.left)
    assert "one data set" in str(result)


def test_a_result_prints_as_one_line() -> None:
    result = bayesian_signed_rank(A, B, samples=1000, rng=rng())
    assert "\n" not in str(result)


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        ([0.1, 0.2], [0.1], {}, "2 and 1 scores"),
        ([0.1, math.nan], [0.1, 0.2], {}, "first system: score 2 is nan"),
        ([0.1, 0.2], [0.1, 0.2], {"rope": -0.1}, "rope -0.1"),
        ([0.1, 0.2], [0.1, 0.2], {"rope": math.nan}, "rope nan"),
        ([0.1, 0.2], [0.1, 0.2], {"prior": math.inf}, "prior inf"),
        ([0.1, 0.2], [0.1, 0.2], {"samples": 0}, "samples 0"),
    ],
)
def test_wrong_input_is_refused(a: list[float], b: list[float], options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=f"{message}.*; expected"):
        bayesian_signed_rank(a, b, rng=rng(), **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_equal_systems_are_called_different_about_as_often_as_the_probability_says() -> None:
    # Without a region the posterior of a symmetric difference is about uniform: left > 0.95 in about 5 of 100.
    chance, simulations = rng(3), 1000
    hits = sum(
        bayesian_signed_rank(*chance.normal(size=(2, 20)), rope=0, samples=2000, rng=chance).left > 0.95
        for _ in range(simulations)
    )
    assert 0.02 * simulations < hits < 0.08 * simulations
