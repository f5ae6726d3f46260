"""The LSTM layer against a loop over words and against automatic differentiation."""

from functools import partial
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="deadheat[neural] is not installed")

import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

from deadheat.neural import lstm  # noqa: E402
from deadheat.neural.lstm import (  # noqa: E402
    LSTMWeights,
    bilstm,
    bilstm_joint,
    bilstm_separate,
    init_lstm,
    lstm_direction,
    recurrence,
)
from deadheat.neural.rng import make_key  # noqa: E402

SENTENCES, WORDS, INPUTS, UNITS = 3, 5, 4, 6
# One program compiles faster than its operations one by one.
initial = jax.jit(init_lstm, static_argnums=(1, 2))
compiled = {layer: jax.jit(layer) for layer in (bilstm_joint, bilstm_separate, bilstm)}


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


def by_hand(weights: LSTMWeights, x: np.ndarray, direction: int, kept: np.ndarray) -> np.ndarray:
    """One direction of one sentence, word by word."""
    w, u, b = (np.asarray(each, float)[direction] for each in weights)
    h, c, out = np.zeros(UNITS), np.zeros(UNITS), []
    for t, word in enumerate(x if direction == 0 else x[::-1]):
        i, f, g, o = np.split(word @ w + b + (h * kept[t % len(kept)]) @ u, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    return np.array(out if direction == 0 else out[::-1])


@pytest.mark.parametrize("layer", [bilstm_joint, bilstm_separate])
@pytest.mark.parametrize("steps", [1, WORDS])
def test_both_directions_are_those_of_a_loop_over_the_words_of_each_sentence(layer: Any, steps: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(SENTENCES, WORDS, INPUTS))
    lengths = np.array([5, 1, 3])
    kept = rng.integers(0, 2, size=(steps, 2, SENTENCES, UNITS)) / 0.5
    weights = initial(make_key(1), INPUTS, UNITS)
    found = np.asarray(
        compiled[layer](weights, jnp.asarray(x, jnp.float32), jnp.asarray(lengths), jnp.asarray(kept, jnp.float32))
    )
    for at, length in enumerate(lengths.tolist()):
        for direction in (0, 1):
            expected = by_hand(weights, x[at, :length], direction, kept[:, direction, at])
            got = found[at, :length, direction * UNITS : (direction + 1) * UNITS]
            assert np.allclose(got, expected, atol=1e-5)


@pytest.mark.parametrize("steps", [1, WORDS])
def test_one_direction_at_a_time_learns_what_both_together_learn(steps: int) -> None:
    keys = jax.random.split(jax.random.key(7), 3)
    weights = initial(make_key(2), INPUTS, UNITS)
    x = jax.random.normal(keys[0], (SENTENCES, WORDS, INPUTS))
    lengths = jnp.array([5, 0, 3])
    kept = jax.random.bernoulli(keys[1], 0.5, (steps, 2, SENTENCES, UNITS)) / 0.5
    there = (jnp.arange(WORDS) < lengths[:, None])[:, :, None]
    weight = jax.random.normal(keys[2], (SENTENCES, WORDS, 2 * UNITS)) * there

    def loss(layer: Any, weights: Any, x: Any) -> Any:
        return jnp.sum(weight * layer(weights, x, lengths, kept))

    one, two = (
        jax.tree.leaves(jax.jit(jax.grad(partial(loss, layer), argnums=(0, 1)))(weights, x))
        for layer in (bilstm_joint, bilstm_separate)
    )
    assert any(float(jnp.abs(each).max()) > 0.1 for each in one)
    for each, other in zip(one, two, strict=True):
        assert np.allclose(each, other, rtol=1e-4, atol=1e-5)


def test_nothing_is_learned_from_what_follows_the_end_of_a_sentence() -> None:
    weights = initial(make_key(3), INPUTS, UNITS)
    x = jax.random.normal(jax.random.key(8), (SENTENCES, WORDS, INPUTS))
    lengths = jnp.array([5, 1, 3])
    after = (jnp.arange(WORDS) >= lengths[:, None])[:, :, None]
    other = jnp.where(after, 100.0, x)
    kept = jnp.ones((1, 2, SENTENCES, UNITS))
    assert np.array_equal(
        compiled[bilstm_separate](weights, x, lengths, kept), compiled[bilstm_separate](weights, other, lengths, kept)
    )
    slope = jax.jit(jax.grad(lambda x: jnp.sum(bilstm_separate(weights, x, lengths, kept))))(x)
    assert not np.asarray(slope * after).any()
    assert np.asarray(slope).any()


def test_without_dropout_nothing_is_scaled() -> None:
    weights = initial(make_key(4), INPUTS, UNITS)
    x = jax.random.normal(jax.random.key(9), (SENTENCES, WORDS, INPUTS))
    lengths = jnp.array([5, 1, 3])
    plain = compiled[bilstm_separate](weights, x, lengths, jnp.ones((1, 2, SENTENCES, UNITS)))
    assert np.allclose(compiled[bilstm](weights, x, lengths), plain, atol=1e-6)


@pytest.mark.parametrize("steps", [1, WORDS])
def test_the_gradient_of_our_own_is_that_of_automatic_differentiation(steps: int) -> None:
    keys = jax.random.split(jax.random.key(3), 4)
    entering = jax.random.normal(keys[0], (WORDS, 2, SENTENCES, 4 * UNITS))
    recurrent = jax.random.normal(keys[1], (2, UNITS, 4 * UNITS)) * 0.3
    kept = jax.random.bernoulli(keys[2], 0.5, (steps, 2, SENTENCES, UNITS)) / 0.5
    weight = jax.random.normal(keys[3], (WORDS, 2, SENTENCES, UNITS))

    def loss(call: Any, entering: Any, recurrent: Any) -> Any:
        return jnp.sum(weight * call(entering, recurrent, kept))

    calls = (recurrence, lambda *given: lstm._recurrence_forward(*given)[0])
    ours, plain = (jax.jit(jax.grad(partial(loss, call), argnums=(0, 1)))(entering, recurrent) for call in calls)
    for one, other in zip(ours, plain, strict=True):
        assert np.allclose(one, other, rtol=1e-4, atol=1e-5)


def test_the_gradient_is_that_of_finite_differences() -> None:
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(5), 2)
        entering = jax.random.normal(keys[0], (3, 2, 2, 4 * 3), jnp.float64)
        recurrent = jax.random.normal(keys[1], (2, 3, 4 * 3), jnp.float64)
        kept = jnp.ones((1, 2, 2, 3), jnp.float64)
        call = jax.jit(lambda e, r: recurrence(e, r, kept))
        check_grads(call, (entering, recurrent), order=1, modes=["rev"])  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("way", [lstm.FORWARD, lstm.BACKWARD])
def test_the_gradient_of_one_direction_is_that_of_finite_differences(way: int) -> None:
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(6), 3)
        entering = jax.random.normal(keys[0], (3, 2, 4 * 3), jnp.float64)
        recurrent = jax.random.normal(keys[1], (3, 4 * 3), jnp.float64)
        bias = jax.random.normal(keys[2], (4 * 3,), jnp.float64)
        kept = jnp.array([0.0, 2.0, 2.0]) * jnp.ones((1, 2, 3), jnp.float64)
        there = jnp.array([[True, True], [True, True], [True, False]])[:, :, None]
        call = jax.jit(lambda e, r, b: lstm_direction(e, r, b, kept, there, way))
        check_grads(call, (entering, recurrent, bias), order=1, modes=["rev"])  # type: ignore[no-untyped-call]


def test_the_recurrent_gradient_is_taken_once_and_not_at_every_step() -> None:
    def steps(call: Any) -> bool:
        def loss(r: Any) -> Any:
            return call(jnp.ones((7, 2, 3, 4 * UNITS)), r, jnp.ones((1, 2, 3, UNITS))).sum()

        made = jax.make_jaxpr(jax.grad(loss))(jnp.ones((2, UNITS, 4 * UNITS)))
        scans = [e for e in made.jaxpr.eqns if e.primitive is lax.scan_p]
        carried = [v.aval.shape for e in scans for v in e.outvars[: e.params["num_carry"]]]
        return (2, UNITS, 4 * UNITS) in carried

    assert steps(lambda *a: lstm._recurrence_forward(*a)[0])
    assert not steps(recurrence)


def test_a_forget_gate_starts_open_and_recurrent_weights_are_orthogonal() -> None:
    weights = initial(make_key(0), INPUTS, UNITS)
    assert np.array_equal(np.asarray(weights.bias).reshape(2, 4, UNITS)[:, 1], np.ones((2, UNITS)))
    square = np.asarray(weights.recurrent[0, :, UNITS : 2 * UNITS])
    assert np.allclose(square @ square.T, np.eye(UNITS), atol=1e-5)
