"""The compiled programs of a stack of networks, and the data on the device that they share."""

from __future__ import annotations

import functools
import gc
import importlib
import os
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from numpy.typing import NDArray

from deadheat.neural import rng
from deadheat.neural import text as texts
from deadheat.neural.config import HyperParams, Shape, Variant
from deadheat.neural.devices import compile_program, memory_map_usage, on_accelerator
from deadheat.neural.encoder import StringHashes, Weights, make_batch
from deadheat.neural.text import ACCELERATOR_PADDING, Arrays, Encoding, PaddingSizes, Text
from deadheat.neural.updates import init_moments, update_weights

MAP_LIMIT = 0.5  # share of the memory maps of a process above which programs are freed
RngState = tuple[Array, Array]  # the seed and the number of updates so far
BatchIndex = tuple[Array, Array]  # the split and the sentences of a batch


def padding_sizes() -> PaddingSizes:
    """The sizes that texts are padded to on this device."""
    return ACCELERATOR_PADDING if on_accelerator() else PaddingSizes()


def optimizer(kind: str, hyper: HyperParams) -> optax.GradientTransformation:
    """An optimizer; its learning rate may be traced."""
    makers = {
        "sgd": optax.sgd,
        "adagrad": lambda rate: optax.adagrad(rate, initial_accumulator_value=0.0, eps=1e-7),
        "adadelta": lambda rate: optax.adadelta(rate, rho=0.95, eps=1e-6),
        "rmsprop": lambda rate: optax.rmsprop(rate, decay=0.9, eps=1e-7),
        "adam": lambda rate: optax.adam(rate, eps=1e-8),
        "nadam": lambda rate: optax.nadam(rate, eps=1e-8),
        "adam-short": lambda rate: optax.adam(rate, b2=0.9, eps=1e-8),
    }
    method: optax.GradientTransformation = makers[kind](hyper.rate)
    return method


def clip_gradients(gradients: Any, hyper: HyperParams) -> Any:
    """Gradients with every component clipped, and then scaled down to the largest norm allowed."""
    clipped = jax.tree.map(lambda leaf: jnp.clip(leaf, -hyper.clip, hyper.clip), gradients)
    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(clipped)))
    scale = jnp.minimum(1.0, hyper.norm / jnp.maximum(norm, 1e-12))
    return jax.tree.map(lambda leaf: leaf * scale, clipped)


@dataclass(frozen=True, slots=True, eq=False)
class DeviceData:
    """What all networks of a stack share: shape, text, and hashes of strings."""

    shape: Shape
    text: Text
    hashes: StringHashes
    lengths: NDArray[np.integer]
    vectors: Array | None = None

    @classmethod
    def of(
        cls, shape: Shape, encoding: Encoding, knowledge: Arrays, vectors: NDArray[np.floating] | None = None
    ) -> DeviceData:
        """Put a text on the device, with what networks know of it; a row of `vectors` is NaN where there is none."""
        text = Text(**jax.tree.map(jnp.asarray, texts.device_arrays(encoding, knowledge, padding_sizes())))

        def hashes_of(strings: Sequence[str], size: int) -> Array:
            return jnp.asarray(np.resize(texts.hash_strings(strings), size))

        tags, words = encoding.tags, text.train_counts.shape[1]
        hashes = StringHashes(
            hashes_of(encoding.words, words),
            hashes_of(encoding.characters, text.known_characters.shape[1]),
            hashes_of(encoding.labels, text.known_labels.shape[1]),
            hashes_of(tags, texts.round_up(len(tags), padding_sizes().tags)) if tags else None,
        )
        table = None
        if vectors is not None:
            padding = (0, words - len(vectors)), (0, 0)
            table = jnp.asarray(np.pad(vectors, padding, constant_values=np.nan), jnp.float32)
        return cls(shape, text, hashes, np.asarray(encoding.arrays["lengths"]), table)


class Programs:
    """The compiled programs of a stack of one size; compiled when first used, or ahead of time."""

    def __init__(self, shape: Shape, size: int) -> None:
        self.shape, self.size = shape, size
        self.network: Any = importlib.import_module(shape.network)
        program = compile_program
        self.step = program(self.over_stack(self._step), static_argnames=("words",), donate_argnums=(0, 1))
        self.gradient = program(self.over_stack(self._gradient), static_argnames=("words",))
        self.update = program(self.over_stack(self._update, shared=0), donate_argnums=(0, 1))
        self.label = program(self.over_stack(self._label), static_argnames=("words",))
        self.init_networks = program(self.over_stack(self._init_network, shared=2))
        self.select = program(_select, donate_argnums=(0,))
        # Of a network that alternates between host and device.
        self.extra: Any = self.network.TransitionPrograms(self) if hasattr(self.network, "TransitionPrograms") else None
        self._compiled: dict[tuple[str, int, Hashable], Callable[..., Any]] = {}

    def train_step(self, *args: Any, words: int) -> Any:
        """One step of every network with sentences of so many words.

        On a CPU there are two programs, the second of which is the same for all lengths, since compiling takes long
        there. Networks that alternate between host and device have a `train_step` of their own.
        """
        if hasattr(self.network, "train_step"):
            return self.network.train_step(self, *args, words=words)
        if not on_accelerator():
            weights, state, rng_state, hyper, index, text = args
            value, gradients = self.gradient(weights, rng_state, hyper, index, text, words=words)
            return (*self.update(weights, state, gradients, hyper, index), value)
        compiled = self._compiled.get(("step", words, _sizes(args[-1])))
        return compiled(*args) if compiled is not None else self.step(*args, words=words)

    def predict_batch(self, *args: Any, words: int) -> Any:
        """The labels that every network gives to sentences of so many words."""
        if hasattr(self.network, "predict_batch"):
            return self.network.predict_batch(self, *args, words=words)
        compiled = self._compiled.get(("label", words, _sizes(args[-1])))
        return compiled(*args) if compiled is not None else self.label(*args, words=words)

    def decode(self, outputs: Any, lengths: NDArray[np.integer]) -> NDArray[np.integer]:
        """The labels of one network's sentences, from its outputs on the host."""
        decoded: NDArray[np.integer] = (
            self.network.decode(self.shape, outputs, lengths) if hasattr(self.network, "decode") else outputs
        )
        return decoded

    def prepare(self, programs: Sequence[tuple[str, int, tuple[Any, ...]]]) -> None:
        """Compile programs in parallel, ahead of time: each by its name, number of words and arguments."""
        missing = {(name, words, _sizes(args[-1])): args for name, words, args in programs}
        missing = {key: args for key, args in missing.items() if key not in self._compiled}
        lowered = [getattr(self, name).lower(*args, words=words) for (name, words, _), args in missing.items()]
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            compiled = threads.map(lambda program: program.compile(), lowered)
            self._compiled |= dict(zip(missing, compiled, strict=True))

    def over_stack(self, call: Callable[..., Any], shared: int = 1) -> Callable[..., Any]:
        """The program for every network of the stack; its last arguments are common to all."""

        @functools.wraps(call)
        def over(*args: Any, words: int = 0) -> Any:
            bound = functools.partial(call, words=words) if words else call
            single = len(args) - shared
            if self.size == 1:
                first = (jax.tree.map(lambda leaf: leaf[0], arg) for arg in args[:single])
                return jax.tree.map(lambda leaf: leaf[None], bound(*first, *args[single:]))
            return jax.vmap(bound, in_axes=(0,) * single + (None,) * shared)(*args)

        return over

    def _init_network(
        self, seed: Array, variant: Variant | None, hashes: StringHashes, vectors: Array | None
    ) -> tuple[Weights, Any]:
        key = rng.make_key(0, seed)
        if variant is not None:
            weights = self.network.init_weights(key, self.shape, hashes, vectors, variant)
            return weights, init_moments(weights)
        weights = self.network.init_weights(key, self.shape, hashes, vectors)
        return weights, optimizer(self.shape.optimizer, HyperParams(0.0)).init(weights)

    def _step(self, weights: Weights, state: Any, rng_state: RngState, hyper: HyperParams, index: BatchIndex,
              text: Text, *, words: int) -> tuple[Weights, Any, Array]:  # fmt: skip
        """One update; a network without sentences stays as it is."""
        value, gradients = self._gradient(weights, rng_state, hyper, index, text, words=words)
        return (*self._update(weights, state, gradients, hyper, index), value)

    def _gradient(self, weights: Weights, rng_state: RngState, hyper: HyperParams, index: BatchIndex, text: Text, *,
                  words: int) -> tuple[Array, Weights]:  # fmt: skip
        """The loss and its gradient."""
        (seed, count), (split, sentences) = rng_state, index
        key = rng.make_key(1, seed, count)
        batch = make_batch(text, split, sentences, words)
        value, gradients = jax.value_and_grad(self.network.loss)(weights, self.shape, batch, hyper, key)
        return jnp.where(jnp.any(sentences >= 0), value, 0.0), gradients

    def _update(
        self, weights: Weights, state: Any, gradients: Weights, hyper: HyperParams, index: BatchIndex
    ) -> tuple[Weights, Any]:
        """Weights and the optimizer's state after an update."""
        gradients = clip_gradients(gradients, hyper)
        updated: tuple[Weights, Any]
        if self.shape.varied:
            updated = update_weights(weights, gradients, state, hyper, weights["variant"].optimizer)
        else:
            updates, new_state = optimizer(self.shape.optimizer, hyper).update(gradients, state, weights)
            updated = optax.apply_updates(weights, updates), new_state
        if self.size > 1:  # a single network is not called without sentences
            busy = jnp.any(index[1] >= 0)
            updated = jax.tree.map(lambda new, old: jnp.where(busy, new, old), updated, (weights, state))
        return updated

    def _label(self, weights: Weights, split: Array, sentences: Array, text: Text, *, words: int) -> Any:
        return self.network.outputs(weights, self.shape, make_batch(text, split, sentences, words))


def _sizes(text: Text) -> Hashable:
    """Texts with different sizes need different programs."""
    return tuple(leaf.shape for leaf in jax.tree.leaves(text))


@functools.lru_cache(maxsize=8)
def programs(shape: Shape, size: int) -> Programs:
    """The programs of a stack, created once."""
    return Programs(shape, size)


def free_programs() -> None:
    """Free all programs if they take half of the memory maps of the process; those in use are freed later.

    They are cached on disk, from where those that are needed again are loaded quickly.
    """
    if memory_map_usage() > MAP_LIMIT:
        programs.cache_clear()
        jax.clear_caches()  # type: ignore[no-untyped-call]
        gc.collect()


def _select(old: Any, new: Any, which: Array) -> Any:
    """The old trees with the new ones in some slots."""
    choose = lambda a, b: jnp.where(which.reshape(-1, *(1,) * (a.ndim - 1)), b, a)  # noqa: E731
    return jax.tree.map(choose, old, new)
