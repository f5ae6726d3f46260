"""Stacks of networks with different units, layers, dropout, optimizers and classifiers: each is what it is alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="deadheat[neural] is not installed")

import jax.numpy as jnp  # noqa: E402
import optax  # noqa: E402

from deadheat.neural import fused, rng, training  # noqa: E402
from deadheat.neural.config import (  # noqa: E402
    OPTIMIZERS,
    RATES,
    HyperParams,
    Shape,
    TaggerConfig,
    TrainJob,
    TrainSchedule,
    merge_shapes,
)
from deadheat.neural.devices import parameter_count  # noqa: E402
from deadheat.neural.lstm import init_lstm, init_varied  # noqa: E402
from deadheat.neural.programs import optimizer  # noqa: E402
from deadheat.neural.updates import init_moments, update_weights  # noqa: E402
from tests.neural.tiny import corpus_of, force_stacks, rows_of, split_of  # noqa: E402

SHAPE = Shape(units=(5,), word_size=8, case_size=2, characters="none", classifier="softmax", batch=8)
SHAPES = [
    replace(SHAPE, optimizer="adam"),
    replace(SHAPE, units=(4, 7), classifier="crf", optimizer="sgd", dropout="naive", dropped="outputs"),
    replace(SHAPE, units=(3, 6, 2), optimizer="rmsprop", dropout="naive"),
    replace(SHAPE, units=(17,), classifier="crf", optimizer="nadam", dropped="recurrent"),
    replace(SHAPE, units=(6, 6), optimizer="adadelta", dropout="none"),
]
"""Every value of every setting that may differ within a stack, but for two more optimizers."""


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_rules_in_one_program_are_those_of_each_optimizer(name: str) -> None:
    draws = np.random.default_rng(0)
    weights = {"a": jnp.asarray(draws.normal(size=(3, 4)), jnp.float32), "b": jnp.zeros(2)}
    hyper = HyperParams(RATES[name])
    method = optimizer(name, hyper)
    one, state = weights, method.init(weights)
    other, moments = weights, init_moments(weights)
    for _ in range(4):
        gradients = {"a": jnp.asarray(draws.normal(size=(3, 4)), jnp.float32), "b": jnp.array([0.0, 1e-4])}
        changes, state = method.update(gradients, state, one)
        one = optax.apply_updates(one, changes)
        other, moments = update_weights(other, gradients, moments, hyper, jnp.asarray(OPTIMIZERS.index(name)))
    for key in weights:
        np.testing.assert_allclose(other[key], one[key], rtol=2e-5, atol=1e-7)
    assert np.asarray(other["b"])[0] == 0  # as padding, which has no gradient


@pytest.mark.parametrize(("inputs", "units", "padded"), [(4, 3, 16), (5, 16, 16)])
def test_initial_weights_are_the_same_among_padding(inputs: int, units: int, padded: int) -> None:
    key = rng.make_key(7)
    expected = jax.jit(init_lstm, static_argnums=(1, 2))(key, inputs, units)
    positions = jnp.append(jnp.arange(inputs), inputs)  # a row of padding
    call = jax.jit(init_varied, static_argnums=4)
    weights = call(key, positions, jnp.asarray(inputs), jnp.asarray(units), padded)
    for name, rows in (("inputs", inputs), ("recurrent", units), ("bias", None)):
        whole, real = (np.asarray(getattr(each, name)) for each in (weights, expected))
        by_gate = whole.reshape(*whole.shape[:-1], 4, padded)
        part = by_gate[:, :rows] if rows else by_gate
        np.testing.assert_allclose(part[..., :units].reshape(real.shape), real, rtol=1e-5, atol=1e-6)
        assert np.count_nonzero(by_gate) == np.count_nonzero(part[..., :units])


def test_shapes_merge_into_one_that_has_room_for_all() -> None:
    merged = merge_shapes(SHAPES)
    assert (merged.units, merged.classifier, merged.dropout, merged.varied) == ((32, 32, 32), "crf", "naive", True)
    assert merge_shapes(SHAPES[:1]).units == (16,)
    assert merge_shapes(SHAPES[:2]).dropout == "variational"  # naive dropout of outputs needs no masks of units
    assert {shape.family for shape in SHAPES} == {SHAPE.family}
    assert replace(SHAPE, units=(129,)).family == replace(SHAPE, units=(129,))
    assert replace(SHAPE, batch=16).family != SHAPE.family


def test_the_memory_of_a_stack_is_that_of_its_padding() -> None:
    padded = replace(SHAPE, units=(32, 32, 32), classifier="crf")
    variant = len(jax.tree.leaves(padded.variant(3)))
    assert parameter_count(merge_shapes(SHAPES), 70, 9, 5) == parameter_count(padded, 70, 9, 5) + variant


def trained(jobs: list[TrainJob], monkeypatch: pytest.MonkeyPatch, *, mixed: bool) -> dict[int, Any]:
    """Train jobs, in one stack or each as its own shape."""
    monkeypatch.setattr(training, "on_accelerator", lambda: mixed)
    monkeypatch.setattr(fused, "is_available", lambda: mixed)
    force_stacks(monkeypatch, len(jobs) if mixed else 1)
    return dict(training.train_jobs(corpus_of(rows_of()), jobs))


def test_different_networks_of_one_stack_are_what_they_are_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = split_of(0).parts
    jobs = [
        TrainJob(
            TaggerConfig(
                shape=shape, hyper=HyperParams(RATES[shape.optimizer] * 5, 0.3), schedule=TrainSchedule(2, 2),
                column="tag", scheme="as-is",
            ),
            seed, parts["train"], parts["dev"], {"test": parts["test"]},
        )
        for seed, shape in enumerate(SHAPES)
    ]  # fmt: skip
    together, alone = (trained(jobs, monkeypatch, mixed=mixed) for mixed in (True, False))
    assert sorted(together) == sorted(alone) == list(range(len(jobs)))
    for number, network in alone.items():
        other = together[number]
        assert other.losses == pytest.approx(network.losses, rel=1e-4)
        assert other.curve == pytest.approx(network.curve)
        predicted, expected = (each.predictions["test"].column("tag").strings() for each in (other, network))
        assert predicted == expected
