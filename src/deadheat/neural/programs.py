"""Compiled programs

From gradients to weights: clipping, normalisation, and optimizers whose constants may differ in a stack.

The compiled programs of a stack, and the ground they stand on: text and strings on the device.
"""

from __future__ import annotations

import functools
import gc
import importlib
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jax.flatten_util import ravel_pytree
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Indices
from deadheat.neural.config import Numbers, Shape
from deadheat.neural.devices import accelerated, as_program, pieces_in_use
from deadheat.neural.encoder import Marks, Weights, gathered
from deadheat.neural.text import ROOMY, Encoding, Room, Text, device_arrays, marks, rounded


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


FULL = 0.5  # of the pieces of memory a process may have
Luck = tuple[Array, Array]  # the seed, and how many updates there were
Where = tuple[Array, Array]  # the split, and the sentences of a batch


def room() -> Room:
    """What texts are filled up to on this device."""
    return ROOMY if accelerated() else Room()


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What all networks of a stack share: shape, text, and strings as numbers."""

    shape: Shape
    text: Text
    marks: Marks
    lengths: NDArray[np.integer]
    vectors: Array | None = None

    @classmethod
    def of(
        cls, shape: Shape, encoding: Encoding, trains: Sequence[Indices], vectors: NDArray[np.floating] | None = None
    ) -> Ground:
        """Put a text where networks train; `vectors` has a row for every word, of NaN where it has none."""
        given = None if vectors is None else ~np.isnan(vectors[:, 0])
        return cls.knowing(shape, encoding, encoding.knowledge(trains, given), vectors)

    @classmethod
    def knowing(
        cls,
        shape: Shape,
        encoding: Encoding,
        knowledge: Mapping[str, NDArray[np.generic]],
        vectors: NDArray[np.floating] | None = None,
    ) -> Ground:
        """Put a text where networks are that know these words, characters and labels."""
        text: dict[str, Any] = jax.tree.map(jnp.asarray, device_arrays(encoding, knowledge, room()))
        strings = (encoding.words, encoding.characters, encoding.labels)
        sizes = [text[name].shape[1] for name in ("seen", "legible", "possible")]
        drawn = (jnp.asarray(np.resize(marks(each), size)) for each, size in zip(strings, sizes, strict=True))
        if vectors is not None:
            vectors = np.pad(vectors, ((0, sizes[0] - len(vectors)), (0, 0)), constant_values=np.nan)
        known = None if vectors is None else jnp.asarray(vectors, jnp.float32)
        tags = None
        if encoding.tags:
            tags = jnp.asarray(np.resize(marks(encoding.tags), rounded(len(encoding.tags), room().tags)))
        words, characters, labels = drawn
        own = Marks(words, characters, labels, tags)
        return cls(shape, Text(**text), own, np.asarray(encoding.arrays["lengths"]), known)


class Programs:
    """The compiled programs of a stack of one size; made when first used, or ahead of time."""

    def __init__(self, shape: Shape, size: int) -> None:
        self.shape, self.size = shape, size
        self.network: Any = importlib.import_module(shape.network)
        program = functools.partial(as_program, tuned=shape.tuned)
        self.step = program(self._over_stack(self._step), static_argnames=("words",), donate_argnums=(0, 1))
        self.slope = program(self._over_stack(self._slope), static_argnames=("words",))
        self.move = program(self._over_stack(self._move, shared=0), donate_argnums=(0, 1))
        self.label = program(self._over_stack(self._label), static_argnames=("words",))
        self.begin = program(self._over_stack(self._begin, shared=2))
        self.swap = program(_swapped, donate_argnums=(0,))
        self.besides: Any = None  # what a network has that goes back and forth between host and device
        self._ready: dict[tuple[str, int, Hashable], Callable[..., Any]] = {}

    def take_step(self, *given: Any, words: int) -> Any:
        """One step of every network with sentences of so many words.

        On a CPU in two programs, of which the second is the same for all lengths: compiling takes long there. Networks
        that go back and forth between host and device know themselves how to take a step.
        """
        if hasattr(self.network, "take_step"):
            return self.network.take_step(self, *given, words=words)
        if not accelerated():
            weights, state, luck, numbers, where, text = given
            value, slopes = self.slope(weights, luck, numbers, where, text, words=words)
            return (*self.move(weights, state, slopes, numbers, where), value)
        ready = self._ready.get(("step", words, _sizes(given[-1])))
        return ready(*given) if ready is not None else self.step(*given, words=words)

    def give_labels(self, *given: Any, words: int) -> Any:
        """The labels that every network gives to sentences of so many words."""
        if hasattr(self.network, "give_labels"):
            return self.network.give_labels(self, *given, words=words)
        ready = self._ready.get(("label", words, _sizes(given[-1])))
        return ready(*given) if ready is not None else self.label(*given, words=words)

    def prepare(self, wanted: Sequence[tuple[str, int, tuple[Any, ...]]]) -> None:
        """Compile programs side by side, ahead of time: each by its name, its number of words and its arguments."""
        missing = [each for each in wanted if (each[0], each[1], _sizes(each[2][-1])) not in self._ready]
        lowered = [getattr(self, name).lower(*given, words=words) for name, words, given in missing]
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            made = list(threads.map(lambda each: each.compile(), lowered))
        for (name, words, given), program in zip(missing, made, strict=True):
            self._ready[name, words, _sizes(given[-1])] = program

    def _over_stack(self, call: Callable[..., Any], shared: int = 1) -> Callable[..., Any]:
        """The program for every network of the stack; its last arguments are common to all."""

        @functools.wraps(call)
        def over(*given: Any, words: int = 0) -> Any:
            bound = functools.partial(call, words=words)
            if self.size == 1:
                alone, common = given[: len(given) - shared], given[len(given) - shared :]
                own = [jax.tree.map(lambda each: each[0], arg) for arg in alone]
                return jax.tree.map(lambda each: each[None], bound(*own, *common))
            axes = (0,) * (len(given) - shared) + (None,) * shared
            return jax.vmap(bound, in_axes=axes)(*given)

        return over

    def _begin(self, seed: Array, marks: Marks, vectors: Array | None, *, words: int) -> tuple[Weights, Any]:
        del words
        weights = self.network.initial_weights(chance.key(0, seed), self.shape, marks, vectors)
        return weights, optimizer(self.shape.optimizer, Numbers(0.0)).init(_in_line(weights)[0])

    def _step(self, weights: Weights, state: Any, luck: Luck, numbers: Numbers, where: Where, text: Text, *,
              words: int) -> tuple[Weights, Any, Array]:  # fmt: skip
        """One update; a network without sentences stays as it is."""
        value, slopes = self._slope(weights, luck, numbers, where, text, words=words)
        return (*self._move(weights, state, slopes, numbers, where), value)

    def _slope(self, weights: Weights, luck: Luck, numbers: Numbers, where: Where, text: Text, *,
               words: int) -> tuple[Array, Weights]:  # fmt: skip
        """How unlikely the gold labels are, and which way is down."""
        (seed, count), (split, sentences) = luck, where
        key = chance.key(1, seed, count)
        batch = gathered(text, split, sentences, words)
        value, slopes = jax.value_and_grad(self.network.loss)(weights, self.shape, text, split, batch, numbers, key)
        return jnp.where(jnp.any(sentences >= 0), value, 0.0), slopes

    def _move(
        self, weights: Weights, state: Any, slopes: Weights, numbers: Numbers, where: Where, *, words: int = 0
    ) -> tuple[Weights, Any]:
        """Weights and the optimizer's memory after an update."""
        del words
        (line, back), (down, _) = _in_line(weights), _in_line(slopes)
        updates, new_state = optimizer(self.shape.optimizer, numbers).update(tamed(down, numbers), state, line)
        moved = (optax.apply_updates(line, updates), new_state)
        if self.size > 1:  # alone, it is not called without sentences
            busy = jnp.any(where[1] >= 0)
            moved = jax.tree.map(lambda new, old: jnp.where(busy, new, old), moved, (line, state))
        return back(moved[0]), moved[1]

    def _label(self, weights: Weights, split: Array, sentences: Array, text: Text, *, words: int) -> Any:
        return self.network.outputs(weights, self.shape, text, split, gathered(text, split, sentences, words))


def _sizes(text: Text) -> Hashable:
    """What tells texts apart that need programs of their own."""
    return tuple(each.shape for each in jax.tree.leaves(text))


@functools.lru_cache(maxsize=8)
def programs(shape: Shape, size: int) -> Programs:
    """The programs of a stack, made once."""
    return Programs(shape, size)


def tidy() -> None:
    """Let go of all programs if they fill half of the room a process has for them; those in use go when they end.

    They are on disk, from where those that are needed again come back in a moment.
    """
    if pieces_in_use() > FULL:
        programs.cache_clear()
        jax.clear_caches()  # type: ignore[no-untyped-call]
        gc.collect()


def _in_line(weights: Weights) -> tuple[Any, Callable[[Any], Weights]]:
    """All weights in one line, and the way back: to an accelerator they are one array and a few programs less."""
    return ravel_pytree(weights) if accelerated() else (weights, lambda same: same)


def _swapped(old: Any, new: Any, which: Array) -> Any:
    """The old trees with the new ones in some slots."""
    choose = lambda a, b: jnp.where(which.reshape(-1, *(1,) * (a.ndim - 1)), b, a)  # noqa: E731
    return jax.tree.map(choose, old, new)
