"""From gradients to weights: clipping, normalisation, and optimizers whose constants may differ in a stack."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax

from deadheat.neural.shape import Numbers


def optimizer(kind: str, numbers: Numbers) -> optax.GradientTransformation:
    """A method of optimization; its learning rate may be traced."""
    makers = {
        "sgd": optax.sgd,
        "adagrad": lambda rate: optax.adagrad(rate, initial_accumulator_value=0.0, eps=1e-7),
        "adadelta": lambda rate: optax.adadelta(rate, rho=0.95, eps=1e-6),
        "rmsprop": lambda rate: optax.rmsprop(rate, decay=0.9, eps=1e-7),
        "adam": lambda rate: optax.adam(rate, eps=1e-8),
        "nadam": lambda rate: optax.nadam(rate, eps=1e-8),
        "adam-short": lambda rate: optax.adam(rate, b2=0.9, eps=1e-8),
    }
    made: optax.GradientTransformation = makers[kind](numbers.rate)
    return made


def tamed(gradients: Any, numbers: Numbers) -> Any:
    """Gradients with every component within the clipping threshold, and then their norm within the other.

    Examples
    --------
    >>> [round(float(each), 3) for each in tamed([jnp.array(3.0), jnp.array(-4.0)], Numbers(0.1, norm=1.0))]
    [0.6, -0.8]
    >>> [round(float(each), 3) for each in tamed([jnp.array(3.0), jnp.array(-4.0)], Numbers(0.1, clip=3.5, norm=1e9))]
    [3.0, -3.5]
    """
    clipped = jax.tree.map(lambda each: jnp.clip(each, -numbers.clip, numbers.clip), gradients)
    length = jnp.sqrt(sum(jnp.sum(each**2) for each in jax.tree.leaves(clipped)))
    scale = jnp.minimum(1.0, numbers.norm / jnp.maximum(length, 1e-12))
    return jax.tree.map(lambda each: each * scale, clipped)
