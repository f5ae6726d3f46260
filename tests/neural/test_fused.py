"""Kernels for NVIDIA GPUs, interpreted on a CPU: against the scans and operations that they replace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="deadheat[neural] is not installed")

import jax.numpy as jnp  # noqa: E402

from deadheat.neural import encoder, fused, fused_characters  # noqa: E402
from deadheat.neural.config import Shape  # noqa: E402
from deadheat.neural.lstm import bilstm_fused, bilstm_separate, init_lstm  # noqa: E402
from deadheat.neural.rng import make_key  # noqa: E402

NETWORKS, SENTENCES, WORDS, INPUTS, UNITS = 2, 3, 4, 5, 6
# Products have operands of 11 bits forward and of 8 backward.
FORWARD_ERROR, BACKWARD_ERROR = 2e-3, 1e-2


def error(one: Any, other: Any) -> float:
    """The relative error of an array."""
    return float(jnp.linalg.norm(one - other) / jnp.linalg.norm(other))


def outputs_and_gradients(layer: Callable[..., Any], steps: int) -> tuple[Any, list[Any]]:
    """What a layer gives for a stack of two networks, one of which has an empty sentence, and what it learns."""
    rng = np.random.default_rng(0)
    weights = jax.vmap(lambda seed: init_lstm(make_key(seed), INPUTS, UNITS))(jnp.arange(NETWORKS))
    x = jnp.asarray(rng.normal(size=(NETWORKS, SENTENCES, WORDS, INPUTS)), jnp.float32)
    lengths = jnp.array([[WORDS, 1, 3], [2, 0, WORDS]])
    mask = jnp.asarray(rng.integers(0, 2, (NETWORKS, steps, 2, SENTENCES, UNITS)) / 0.5, jnp.float32)
    inside = (jnp.arange(WORDS) < lengths[:, :, None])[..., None]
    weight = jnp.asarray(rng.normal(size=(NETWORKS, SENTENCES, WORDS, 2 * UNITS)), jnp.float32) * inside

    def loss(weights: Any, x: Any) -> tuple[Any, Any]:
        states = jax.vmap(layer)(weights, x, lengths, mask)
        return jnp.sum(states * weight), jnp.where(inside, states, 0.0)

    gradients, states = jax.jit(jax.grad(loss, argnums=(0, 1), has_aux=True))(weights, x)
    return states, jax.tree.leaves(gradients)


@pytest.mark.parametrize("steps", [1, WORDS])
def test_the_kernel_of_a_layer_gives_and_learns_what_scans_do(steps: int) -> None:
    states, gradients = outputs_and_gradients(bilstm_fused, steps)
    expected, expected_gradients = outputs_and_gradients(bilstm_separate, steps)
    assert error(states, expected) < FORWARD_ERROR
    for one, other in zip(gradients, expected_gradients, strict=True):
        assert error(one, other) < BACKWARD_ERROR


def test_the_kernel_of_characters_gives_and_learns_what_ordinary_operations_do(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    shape = Shape(character_size=4, filters=5)
    codes = jnp.asarray(rng.integers(0, 200, (2, 3, 16)))
    present = jnp.arange(16) < jnp.array([[0, 1, 16], [5, 2, 9]])[:, :, None]
    weights = encoder._init_characters(make_key(3), shape, jnp.arange(200, dtype=jnp.uint32) * 977)
    weights = jax.tree.map(lambda leaf: jnp.stack([leaf, 2 * leaf]), weights)
    weight = jnp.asarray(rng.normal(size=(2, 3, 5)), jnp.float32)

    def loss(weights: Any) -> tuple[Any, Any]:
        vectors = jax.vmap(lambda network: encoder._by_filters(network, shape, codes, present))(weights)
        return jnp.sum(vectors * weight), vectors

    expected_gradients, expected = jax.jit(jax.grad(loss, has_aux=True))(weights)
    monkeypatch.setattr(encoder, "on_accelerator", lambda: True)
    monkeypatch.setattr(fused_characters, "is_supported", lambda *_: True)
    gradients, vectors = jax.jit(jax.grad(lambda weights: loss(weights), has_aux=True))(weights)
    assert np.allclose(vectors, expected, atol=1e-6)
    for one, other in zip(jax.tree.leaves(gradients), jax.tree.leaves(expected_gradients), strict=True):
        assert error(one, other) < BACKWARD_ERROR


def test_kernels_can_be_lowered_for_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")

    def lowered(function: Any, *shapes: Any) -> str:
        arrays = [jax.ShapeDtypeStruct(shape, jnp.int32 if whole else jnp.float32) for shape, whole in shapes]
        traced = jax.jit(jax.grad(lambda *args: function(*args).sum())).trace(*arrays)
        return str(traced.lower(lowering_platforms=("cuda",)).as_text())

    layer = [((2, 40, 400), 0), ((2, 100, 400), 0), ((2, 400), 0), ((33, 5, 40), 0), ((33,), 1), ((1, 2, 33, 100), 0)]
    assert lowered(fused.layer, *layer).count("triton") >= 2
    characters = [((3, 256, 30), 0), ((100, 16), 1)]
    assert lowered(fused_characters.best_responses, *characters).count("triton") >= 2


def test_only_networks_that_fit_into_a_multiprocessor_have_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not fused.is_available()  # there is no GPU here
    monkeypatch.setattr(fused, "is_available", lambda: True)
    assert [fused.is_supported(units) for units in (1, 128, 129)] == [True, True, False]
    cases = [(30, 3), (64, 3), (65, 3), (30, 5)]
    assert [fused_characters.is_supported(*case) for case in cases] == [True, True, False, False]
    assert [fused.padded_units(units) for units in (1, 16, 17, 100, 128)] == [16, 16, 32, 128, 128]
