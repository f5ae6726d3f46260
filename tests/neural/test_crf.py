"""The random field against listing every sequence."""

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="deadheat[neural] is not installed")

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

from deadheat.neural.tagger import CRFWeights, best_sequences, log_partition, negative_log_likelihood  # noqa: E402


def drawn(seed: int, sentences: int, words: int, labels: int, spread: float = 1.0) -> tuple[CRFWeights, np.ndarray]:
    rng = np.random.default_rng(seed)
    weights = CRFWeights(*(jnp.asarray(spread * rng.normal(size=size)) for size in ((labels, labels), labels, labels)))
    return weights, spread * rng.normal(size=(sentences, words, labels))


def listed(weights: CRFWeights, scores: np.ndarray, length: int) -> dict[tuple[int, ...], float]:
    moves, first, last = (np.asarray(each, float) for each in weights)
    found = {}
    for labels in product(range(scores.shape[-1]), repeat=length):
        total = first[labels[0]] + last[labels[-1]] + sum(scores[at, label] for at, label in enumerate(labels))
        found[labels] = float(total + sum(moves[a, b] for a, b in pairwise(labels)))
    return found


@pytest.mark.parametrize("spread", [1.0, 30.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_sum_and_the_best_sequence_are_those_of_all_listed_sequences(seed: int, spread: float) -> None:
    lengths = np.array([1, 2, 4, 5])
    weights, scores = drawn(seed, 4, 5, 3, spread)
    sums = jax.jit(log_partition)(weights, jnp.asarray(scores), jnp.asarray(lengths))
    best = np.asarray(jax.jit(best_sequences)(weights, jnp.asarray(scores), jnp.asarray(lengths)))
    for at, length in enumerate(lengths.tolist()):
        found = listed(weights, scores[at], length)
        values = np.array(list(found.values()))
        assert float(sums[at]) == pytest.approx(values.max() + np.log(np.exp(values - values.max()).sum()), rel=1e-5)
        assert tuple(best[at, :length].tolist()) == max(found, key=found.__getitem__)
        assert not best[at, length:].any()


def test_the_likelihoods_of_all_sequences_sum_to_one() -> None:
    weights, scores = drawn(5, 1, 3, 3)
    lengths = jnp.array([3])
    likelihood = jax.jit(negative_log_likelihood)
    chances = [
        float(np.exp(-likelihood(weights, jnp.asarray(scores), lengths, jnp.asarray([labels]))[0]))
        for labels in product(range(3), repeat=3)
    ]
    assert sum(chances) == pytest.approx(1.0, rel=1e-5)


def test_what_follows_the_end_of_a_sentence_changes_nothing() -> None:
    weights, scores = drawn(7, 2, 6, 4)
    lengths, labels = jnp.array([3, 4]), jnp.zeros((2, 6), int)
    changed = scores.copy()
    changed[0, 3:] = 1e3
    changed[1, 4:] = -1e3
    for call in map(jax.jit, (log_partition, best_sequences)):
        assert np.array_equal(call(weights, jnp.asarray(scores), lengths), call(weights, jnp.asarray(changed), lengths))
    one, two = (
        jax.jit(negative_log_likelihood)(weights, jnp.asarray(each), lengths, labels) for each in (scores, changed)
    )
    assert np.array_equal(one, two)


def test_the_gradient_is_that_of_finite_differences() -> None:
    with jax.enable_x64(True):
        weights, scores = drawn(11, 3, 4, 3)
        lengths, labels = jnp.array([1, 3, 4]), jnp.asarray(np.random.default_rng(1).integers(3, size=(3, 4)))

        def loss(weights: CRFWeights, scores: Any) -> Any:
            return negative_log_likelihood(weights, scores, lengths, labels).sum()

        weights = CRFWeights(*(jnp.asarray(each, jnp.float64) for each in weights))
        check_grads(jax.jit(loss), (weights, jnp.asarray(scores, jnp.float64)), order=1, modes=["rev"])  # type: ignore[no-untyped-call]


def test_a_sure_sequence_has_no_loss_and_its_gradient_is_finite() -> None:
    weights = CRFWeights(jnp.zeros((3, 3)), jnp.zeros(3), jnp.zeros(3))
    scores = jnp.full((1, 4, 3), -200.0).at[:, :, 1].set(200.0)
    labels = jnp.ones((1, 4), int)

    def loss_of(moves: Any) -> Any:
        return negative_log_likelihood(weights._replace(moves=moves), scores, jnp.array([4]), labels).sum()

    loss, gradients = jax.jit(jax.value_and_grad(loss_of))(weights.moves)
    assert float(loss) == pytest.approx(0.0, abs=1e-4)
    assert np.isfinite(gradients).all()
