"""How many networks are thought to fit."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

from deadheat.neural.config import AttentionShape, Shape
from deadheat.neural.devices import networks_that_fit, prediction_activations, training_activations

USUAL: dict[str, Any] = {"words": 10_000, "characters": 100, "labels": 50, "longest": 64, "memory": 64 << 30}
GROWING = [
    ("words", 20_000), ("characters", 400), ("labels", 200), ("longest", 256), ("memory", 32 << 30),
]  # fmt: skip


@pytest.mark.parametrize("shape", [Shape(), Shape(characters="lstm", batch=256), AttentionShape(tag_size=50)])
@pytest.mark.parametrize(("what", "value"), GROWING)
def test_fewer_fit_where_each_is_larger_or_there_is_less_memory(shape: Shape, what: str, value: int) -> None:
    assert 1 <= networks_that_fit(shape, **{**USUAL, what: value}) < networks_that_fit(shape, **USUAL)


def test_one_is_always_tried() -> None:
    assert networks_that_fit(Shape(units=(4000, 4000)), **{**USUAL, "memory": 1 << 20}) == 1


def test_what_fits_is_what_the_larger_of_both_phases_takes() -> None:
    small = Shape(units=(100,), characters="cnn", batch=8, classifier="softmax")
    assert prediction_activations(small, 64) > training_activations(
        small, 64, 10, 5
    )  # 128 sentences are labelled at once, of 8 it learns
    large = Shape(units=(100,), characters="cnn", batch=64, classifier="softmax")
    assert training_activations(large, 64, 100, 5) > prediction_activations(large, 64)


def test_characters_cost_memory_only_where_they_are_looked_at() -> None:
    without = Shape(characters="none")
    assert training_activations(without, 64, 10, 5) == training_activations(without, 64, 1000, 5)
    # A row of ones and zeros for each of 16 characters a word and each of three places of a filter.
    more = training_activations(Shape(), 64, 11, 5) - training_activations(Shape(), 64, 10, 5)
    assert more == 32 * 64 * 16 * 3
