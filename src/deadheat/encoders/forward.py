"""The forward pass of encoders of BERT's family in jax. Shapes: B windows, P pieces, H numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from deadheat.encoders.weights import Architecture, Weights
from deadheat.neural.devices import configure_jax, on_accelerator

ROWS, MORE_ROWS = 32, 128  # windows at once, on a CPU and on an accelerator
FORBIDDEN = -1e9
GELU_TANH = ("gelu_new", "gelu_pytorch_tanh")


def encode(weights: Weights, pieces: Array, present: Array, *, shape: Architecture, every: bool) -> Array:
    """The vectors of pieces (B, P) after the last layer (B, P, 1, H), or after embeddings and every layer."""
    table = weights["words"]
    at = shape.first_position + jnp.arange(pieces.shape[1])
    x = table[pieces] + weights["positions"][at]
    if "type" in weights:
        x = x + weights["type"]
    x = normalize(x, weights["norm"], shape.epsilon)
    if "projection" in weights:
        x = apply(x, weights["projection"])
    mask = jnp.where(present, 0.0, FORBIDDEN)[:, None, None, :]

    def layer(x: Array, layer_weights: Weights) -> tuple[Array, Any]:
        x = run_layer(layer_weights, x, mask, shape)
        return x, x if every else None

    last, states = jax.lax.scan(layer, x, weights["layers"])
    if not every:
        return last[:, :, None]
    return jnp.moveaxis(jnp.concatenate([x[None], states]), 0, 2)


def run_layer(weights: Weights, x: Array, mask: Array, shape: Architecture) -> Array:
    """Attention and two linear layers, each with what it was given added, and normalized."""
    sentences, pieces, size = x.shape
    parts = (apply(x, weights[name]).reshape(sentences, pieces, shape.heads, -1) for name in ("query", "key", "value"))
    query, key, value = parts
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / (size // shape.heads) ** 0.5
    read = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores + mask, axis=-1), value)
    attended = apply(read.reshape(sentences, pieces, size), weights["attention"])
    x = normalize(x + attended, weights["attention_norm"], shape.epsilon)
    inner = activation(shape.activation)(apply(x, weights["inner"]))
    return normalize(x + apply(inner, weights["outer"]), weights["outer_norm"], shape.epsilon)


def apply(x: Array, weights: tuple[Array, Array]) -> Array:
    """A linear layer."""
    matrix, bias = weights
    return x @ matrix + bias


def normalize(x: Array, weights: tuple[Array, Array], epsilon: float) -> Array:
    """Numbers of every word with mean 0 and variance 1, scaled and shifted."""
    scale, shift = weights
    centered = x - x.mean(axis=-1, keepdims=True)
    variance = (centered**2).mean(axis=-1, keepdims=True)
    return centered * jax.lax.rsqrt(variance + epsilon) * scale + shift


def activation(name: str) -> Callable[[Array], Array]:
    """An activation by its name in Hugging Face's configurations."""
    if name in GELU_TANH:
        return partial(jax.nn.gelu, approximate=True)
    if name == "gelu":
        return partial(jax.nn.gelu, approximate=False)
    return jax.nn.relu if name == "relu" else jax.nn.silu


class Encoder:
    """An encoder on the device."""

    def __init__(self, weights: Weights, shape: Architecture, *, every: bool) -> None:
        configure_jax()
        self.vocabulary = len(weights["words"])
        self.weights: Any = jax.tree.map(jnp.asarray, weights)
        self.run = _program(shape, every)

    def __call__(self, pieces: NDArray[np.int32], present: NDArray[np.bool_]) -> NDArray[np.float32]:
        """The vectors of pieces (B, P) in every layer that is asked for: (B, P, layers, H)."""
        with jax.default_matmul_precision("highest"):  # on a GPU it would be 10 bits by default
            return np.asarray(self.run(self.weights, pieces, present))

    @staticmethod
    def rows() -> int:
        """Windows at once."""
        return MORE_ROWS if on_accelerator() else ROWS


@lru_cache(maxsize=8)
def _program(shape: Architecture, every: bool) -> Any:  # noqa: FBT001 (a key of the cache)
    return jax.jit(partial(encode, shape=shape, every=every))
