"""All update rules as one elementwise program, whose coefficients are those of a network's optimizer.

Every rule here divides a mean or a gradient by a root, with a first and a second moment m and v of the gradient g:

    v <- a v + b g^2        m <- c m + d g        w <- w - rate (e m + f g) / (sqrt(h v + i) + j)

Adadelta keeps the squares of its updates in m, and multiplies by their root. Stacks of networks with different
optimizers use this; others use optax, and tests compare both.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from deadheat.neural.config import OPTIMIZERS, HyperParams
from deadheat.neural.encoder import Weights

# By optimizer: a, b, c, d, i and j above; whether moments are corrected for their start; Nesterov's momentum.
RULES = {
    "sgd": (0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0, 0),
    "adagrad": (1.0, 1.0, 0.0, 0.0, 1e-7, 0.0, 0, 0),
    "adadelta": (0.95, 0.05, 0.95, 0.05, 1e-6, 0.0, 0, 0),
    "rmsprop": (0.9, 0.1, 0.0, 0.0, 1e-7, 0.0, 0, 0),
    "adam": (0.999, 0.001, 0.9, 0.1, 0.0, 1e-8, 1, 0),
    "nadam": (0.999, 0.001, 0.9, 0.1, 0.0, 1e-8, 1, 1),
    "adam-short": (0.9, 0.1, 0.9, 0.1, 0.0, 1e-8, 1, 0),
}
ADADELTA = OPTIMIZERS.index("adadelta")


class Moments(NamedTuple):
    """The state of all rules: the number of updates, and two arrays like the weights."""

    updates: Array
    first: Weights
    second: Weights


def init_moments(weights: Weights) -> Moments:
    """The state before the first update."""
    return Moments(
        jnp.zeros((), jnp.int32), jax.tree.map(jnp.zeros_like, weights), jax.tree.map(jnp.zeros_like, weights)
    )


def update_weights(
    weights: Weights, gradients: Weights, moments: Moments, hyper: HyperParams, optimizer: Array
) -> tuple[Weights, Moments]:
    """Weights and state after an update; `optimizer` is an index of OPTIMIZERS and may be traced."""
    number, count = optimizer.astype(jnp.int32), moments.updates + 1
    keep, add, keep_first, add_first, inner, outer, corrected, nesterov = jnp.asarray(
        [RULES[name] for name in OPTIMIZERS], jnp.float32
    )[number]
    second_scale = jnp.where(corrected > 0, 1 / (1 - keep**count), 1.0)
    with_first = jnp.where(nesterov > 0, keep_first / (1 - keep_first ** (count + 1)), 1 / (1 - keep_first**count))
    first_scale = jnp.where(corrected > 0, with_first, 0.0)
    plain_scale = jnp.where(corrected > 0, jnp.where(nesterov > 0, add_first / (1 - keep_first**count), 0.0), 1.0)
    is_adadelta = number == ADADELTA

    def update(weight: Array, gradient: Array, first: Array, second: Array) -> tuple[Array, Array, Array]:
        second = keep * second + add * gradient**2
        mean = keep_first * first + add_first * gradient
        root = jnp.sqrt(second_scale * second + inner) + outer
        numerator = jnp.where(
            is_adadelta, jnp.sqrt(first + inner) * gradient, first_scale * mean + plain_scale * gradient
        )
        change = numerator / root
        first = jnp.where(is_adadelta, keep_first * first + add_first * change**2, mean)
        return weight - hyper.rate * change, first, second

    leaves, structure = jax.tree.flatten(weights)
    others = (jax.tree.leaves(tree) for tree in (gradients, moments.first, moments.second))
    updated = zip(*map(update, leaves, *others), strict=True)
    new, first, second = (jax.tree.unflatten(structure, list(column)) for column in updated)
    return new, Moments(count, first, second)
