"""Train many networks of one shape in one compiled program.

Networks have slots. All take a step together, each with its own sentences, numbers and chance; after each epoch those
that are finished leave and others take their slots. On a CPU a stack of one is the fastest, and is not stacked at all.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from numpy.typing import NDArray

from deadheat.neural import batches
from deadheat.neural.batches import NONE, Indices, Slot
from deadheat.neural.network import Marks, Weights, best_labels, gathered, initial_weights, loss
from deadheat.neural.shape import Numbers, Shape
from deadheat.neural.text import Encoding, Text
from deadheat.neural.updates import optimizer, tamed

Judge = Callable[[int, NDArray[np.integer]], float]  # split, labels of tune's words in order -> score
PREDICTED = 128  # sentences labelled at once
COARSE = 2  # only every second length is used to label, for fewer programs


@dataclass(frozen=True, slots=True)
class Job:
    """One network to train: its numbers, its seed and its split."""

    numbers: Numbers
    seed: int
    split: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Course:
    """How long to train: at most so many epochs, and no more than `patience` without a better score on tune."""

    epochs: int = 50
    patience: int = 5


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A network at its best epoch; `failed` says why there is none."""

    job: Job
    epoch: int  # from 1
    epochs: int  # that were trained
    score: float  # on tune; NaN without
    weights: Weights = field(repr=False)
    labels: Mapping[str, NDArray[np.integer]] = field(default_factory=dict, repr=False)  # of the parts asked for
    curve: tuple[float, ...] = ()
    losses: tuple[float, ...] = ()
    failed: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """Sentences of every split: to learn from, to judge epochs by, and parts that are labelled at the end."""

    trains: Sequence[Indices]
    tunes: Sequence[Indices | None]
    parts: Mapping[str, Sequence[Indices]] = field(default_factory=dict)


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
        """Put a text where networks train."""
        arrays = {name: jnp.asarray(each) for name, each in encoding.text(trains).items()}
        marks = Marks(*map(jnp.asarray, (encoding.word_marks, encoding.character_marks, encoding.label_marks)))
        lengths = np.asarray(encoding.arrays["lengths"])
        return cls(shape, Text(**arrays), marks, lengths, None if vectors is None else jnp.asarray(vectors))


class Programs:
    """The compiled programs of a stack of one size; made when first used, or ahead of time."""

    def __init__(self, shape: Shape, size: int) -> None:
        self.shape, self.size = shape, size
        self.step = jax.jit(self._over_stack(self._step), static_argnames=("words",), donate_argnums=(0, 1))
        self.label = jax.jit(self._over_stack(self._label), static_argnames=("words",))
        self.begin = jax.jit(self._over_stack(self._begin, shared=2))
        self.swap = jax.jit(_swapped, donate_argnums=(0,))
        self._ready: dict[tuple[str, int, int], Callable[..., Any]] = {}

    def take_step(self, *given: Any, words: int) -> Any:
        """One step of every network with sentences of so many words."""
        ready = self._ready.get(("step", words, id(given[-1])))
        return ready(*given) if ready is not None else self.step(*given, words=words)

    def give_labels(self, *given: Any, words: int) -> Any:
        """The labels that every network gives to sentences of so many words."""
        ready = self._ready.get(("label", words, id(given[-1])))
        return ready(*given) if ready is not None else self.label(*given, words=words)

    def prepare(self, wanted: Sequence[tuple[str, int, tuple[Any, ...]]]) -> None:
        """Compile programs side by side, ahead of time: each by its name, its number of words and its arguments."""
        missing = [each for each in wanted if (each[0], each[1], id(each[2][-1])) not in self._ready]
        lowered = [getattr(self, name).lower(*given, words=words) for name, words, given in missing]
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            made = list(threads.map(lambda each: each.compile(), lowered))
        for (name, words, given), program in zip(missing, made, strict=True):
            self._ready[name, words, id(given[-1])] = program

    def _over_stack(self, call: Callable[..., Any], shared: int = 1) -> Callable[..., Any]:
        """The program for every network of the stack; its last arguments are common to all."""

        @functools.wraps(call)
        def over(*given: Any, words: int = 0) -> Any:
            bound = functools.partial(call, words=words)
            if self.size == 1:
                own = [jax.tree.map(lambda each: each[0], arg) for arg in given[:-shared]]
                return jax.tree.map(lambda each: each[None], bound(*own, *given[-shared:]))
            axes = (0,) * (len(given) - shared) + (None,) * shared
            return jax.vmap(bound, in_axes=axes)(*given)

        return over

    def _begin(self, seed: Array, marks: Marks, vectors: Array | None, *, words: int) -> tuple[Weights, Any]:
        del words
        weights = initial_weights(jax.random.fold_in(jax.random.key(0), seed), self.shape, marks, vectors)
        return weights, optimizer(self.shape.optimizer, Numbers(0.0)).init(weights)

    def _step(
        self, weights: Weights, state: Any, chance: tuple[Array, Array], numbers: Numbers, where: tuple[Array, Array],
        text: Text, *, words: int,
    ) -> tuple[Weights, Any, Array]:  # fmt: skip
        """One update; a network without sentences stays as it is."""
        (seed, count), (split, sentences) = chance, where
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(1), seed), count)
        batch = gathered(text, sentences, words)
        value, slopes = jax.value_and_grad(loss)(weights, self.shape, text, split, batch, numbers, key)
        updates, new_state = optimizer(self.shape.optimizer, numbers).update(tamed(slopes, numbers), state, weights)
        moved = (optax.apply_updates(weights, updates), new_state)
        busy = jnp.any(sentences >= 0)
        kept = jax.tree.map(lambda new, old: jnp.where(busy, new, old), moved, (weights, state))
        return (*kept, jnp.where(busy, value, 0.0))

    def _label(self, weights: Weights, split: Array, sentences: Array, text: Text, *, words: int) -> Array:
        found = best_labels(weights, self.shape, text, split, gathered(text, sentences, words))
        return found.astype(jnp.int16)


@functools.lru_cache(maxsize=8)
def programs(shape: Shape, size: int) -> Programs:
    """The programs of a stack, made once."""
    return Programs(shape, size)


def _swapped(old: Any, new: Any, which: Array) -> Any:
    """The old trees with the new ones in some slots."""
    choose = lambda a, b: jnp.where(which.reshape(-1, *(1,) * (a.ndim - 1)), b, a)  # noqa: E731
    return jax.tree.map(choose, old, new)


@dataclass(slots=True, eq=False)
class _Slot:
    """A network that trains."""

    job: Job
    at: int  # its place among the jobs
    epoch: int = 0
    updates: int = 0
    best: float = -math.inf
    best_epoch: int = 0
    curve: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)

    def ends(self, course: Course) -> bool:
        """Whether this network has been trained long enough."""
        tuned = any(not math.isnan(each) for each in self.curve)
        return self.epoch >= course.epochs or (tuned and self.epoch - self.best_epoch >= course.patience)


class Stack:
    """Networks in training; `run` trains all jobs and gives each as soon as it is finished."""

    def __init__(self, ground: Ground, splits: Splits, course: Course, judge: Judge | None, *, size: int) -> None:
        self.ground, self.splits, self.course, self.judge = ground, splits, course, judge
        self.programs = programs(ground.shape, size)
        self.groups = [batches.by_length(ground.lengths, train) for train in splits.trains]
        self.schedule = batches.schedule(self.groups, ground.shape.batch)
        self.slots: list[_Slot | None] = [None] * size
        self.weights: Weights | None = None
        self.state: Any = None
        self.best: Weights | None = None
        self.after_epoch: Callable[[], None] = lambda: None  # called after each epoch

    @property
    def size(self) -> int:
        """How many networks there is room for."""
        return len(self.slots)

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Trained]]:
        """Train jobs; each comes with its place among them."""
        waiting = list(enumerate(jobs))[::-1]
        while waiting or any(self.slots):
            self._enter(waiting)
            if jax.default_backend() != "cpu":
                self.compile()
            self._epoch()
            self.after_epoch()
            yield from self._leave()

    def _enter(self, waiting: list[tuple[int, Job]]) -> None:
        """Fill free slots with networks that wait."""
        entering = []
        for place, slot in enumerate(self.slots):
            if slot is None and waiting:
                at, job = waiting.pop()
                self.slots[place] = _Slot(job, at)
                entering.append(place)
        if not entering:
            return
        fresh = self.programs.begin(self._seeds(), self.ground.marks, self.ground.vectors)
        if self.weights is None:
            (self.weights, self.state), self.best = fresh, jax.tree.map(jnp.copy, fresh[0])
            return
        which = np.zeros(self.size, bool)
        which[entering] = True
        self.weights, self.state = self.programs.swap((self.weights, self.state), fresh, jnp.asarray(which))

    def compile(self) -> None:
        """Make all programs ahead of time, side by side, which pays on machines with many cores."""
        batch = self.ground.shape.batch
        counts = np.zeros(self.size, np.int32)
        common = (self._seeds(), counts), self._numbers()
        text, where = self.ground.text, self._split_numbers()
        wanted: list[tuple[str, int, tuple[Any, ...]]] = []
        for words in sorted({step.words for step in self.schedule}):
            rows = np.zeros((self.size, batch), np.int32)
            wanted.append(("step", words, (self.weights, self.state, *common, (where, rows), text)))
        labelled = [*self.splits.tunes, *(each for own in self.splits.parts.values() for each in own)]
        lengths = {step.words for own in labelled if own is not None for step in _rows(self.ground.lengths, own)}
        for words in sorted(lengths):
            rows = np.zeros((self.size, PREDICTED), np.int32)
            wanted.append(("label", words, (self.weights, where, rows, text)))
        self.programs.prepare(wanted)

    def _epoch(self) -> None:
        """One pass over the training sentences of every network, and a look at tune."""
        own = [
            {} if slot is None else batches.epoch(self.groups[slot.job.split], self.ground.shape.batch,
                                                 slot.job.seed, slot.epoch)
            for slot in self.slots
        ]  # fmt: skip
        numbers, seeds, where = self._numbers(), self._seeds(), self._split_numbers()
        empty = np.full(self.ground.shape.batch, NONE, np.int64)
        counts = np.array([0 if slot is None else slot.updates for slot in self.slots], np.int32)
        losses = []
        for step in self.schedule:
            rows = np.stack([each.get(step, empty) for each in own]).astype(np.int32)
            if not (rows >= 0).any():
                continue
            self.weights, self.state, found = self.programs.take_step(
                self.weights, self.state, (seeds, counts.copy()), numbers, (where, rows), self.ground.text,
                words=step.words,
            )  # fmt: skip
            counts += (rows >= 0).any(axis=1)
            losses.append(found)
        total = np.asarray(jnp.sum(jnp.stack(losses), axis=0)) if losses else np.zeros(self.size)
        for place, slot in enumerate(self.slots):
            if slot is not None:
                done = int(counts[place]) - slot.updates
                slot.epoch, slot.updates = slot.epoch + 1, int(counts[place])
                slot.losses.append(float(total[place]) / max(done, 1))
        self._judged()

    def _judged(self) -> None:
        """Score every network on its tune part, and keep those weights that are the best so far."""
        tuned = [slot is not None and self.splits.tunes[slot.job.split] is not None for slot in self.slots]
        found = self.labelled(self.weights, self.splits.tunes) if self.judge is not None and any(tuned) else {}
        better = np.zeros(self.size, bool)
        for place, slot in enumerate(self.slots):
            if slot is None:
                continue
            score = float("nan")
            if place in found and self.judge is not None:
                score = self.judge(slot.job.split, found[place])
            slot.curve.append(score)
            if math.isnan(score) or score > slot.best:
                better[place] = True
                slot.best, slot.best_epoch = (slot.best if math.isnan(score) else score), slot.epoch
        self.best = self.programs.swap(self.best, self.weights, jnp.asarray(better))

    def labelled(self, weights: Weights | None, sentences: Sequence[Indices | None]) -> dict[int, NDArray[np.integer]]:
        """The labels that each network gives to the sentences of its split, word by word in their order."""
        rows: list[dict[Slot, Indices]] = []
        for slot in self.slots:
            own = None if slot is None else sentences[slot.job.split]
            rows.append({} if own is None else _rows(self.ground.lengths, own))
        where = self._split_numbers()
        empty = np.full(PREDICTED, NONE, np.int64)
        steps = sorted({step for each in rows for step in each}, key=lambda step: (step.words, step.number))
        found = []
        for step in steps:
            ids = np.stack([each.get(step, empty) for each in rows]).astype(np.int32)
            found.append(self.programs.give_labels(weights, where, ids, self.ground.text, words=step.words))
        made = [np.asarray(each) for each in found]
        return {
            place: _in_order(own, {step: made[at][place] for at, step in enumerate(steps) if step in own}, self.ground)
            for place, own in enumerate(rows)
            if own
        }

    def _leave(self) -> Iterator[tuple[int, Trained]]:
        """Give out the networks that are finished, and those that went wrong."""
        done = [p for p, slot in enumerate(self.slots) if slot is not None and self._finished(slot)]
        if not done:
            return
        parts = {name: self.labelled(self.best, own) for name, own in self.splits.parts.items()}
        for place in done:
            slot = self.slots[place]
            assert slot is not None and self.best is not None
            wrong = "" if math.isfinite(slot.losses[-1]) else f"its loss is {slot.losses[-1]} in epoch {slot.epoch}"
            weights = jax.tree.map(lambda each, place=place: each[place], self.best)
            labels = {name: own[place] for name, own in parts.items() if place in own}
            score = slot.best if math.isfinite(slot.best) else float("nan")
            yield slot.at, Trained(
                slot.job, slot.best_epoch, slot.epoch, score, weights, {} if wrong else labels, tuple(slot.curve),
                tuple(slot.losses), wrong,
            )  # fmt: skip
            self.slots[place] = None

    def _finished(self, slot: _Slot) -> bool:
        return slot.ends(self.course) or not math.isfinite(slot.losses[-1])

    def _numbers(self) -> Numbers:
        """The numbers of all networks, side by side; those of an empty slot are never used."""
        own = [Numbers(0.0) if slot is None else slot.job.numbers for slot in self.slots]
        return Numbers(*(jnp.asarray(column, jnp.float32) for column in zip(*own, strict=True)))

    def _seeds(self) -> NDArray[np.uint32]:
        return np.array([0 if slot is None else slot.job.seed & 0xFFFFFFFF for slot in self.slots], np.uint32)

    def _split_numbers(self) -> NDArray[np.int32]:
        return np.array([0 if slot is None else slot.job.split for slot in self.slots], np.int32)


def _rows(lengths: NDArray[np.integer], sentences: Indices) -> dict[Slot, Indices]:
    """Sentences to be labelled, in rows of one length, which is one of a few."""
    coarse = batches.LENGTHS[COARSE - 1 :: COARSE]
    top = [next((each for each in coarse if words <= each), batches.length_of(words)) for words in range(
        int(lengths.max(initial=0)) + 1)]  # fmt: skip
    filled = np.array(top)[lengths[sentences]]
    found: dict[Slot, Indices] = {}
    for words in np.unique(filled):
        for at, row in enumerate(batches.filled(sentences[filled == words], PREDICTED)):
            found[Slot(int(words), at)] = row
    return found


def _in_order(
    rows: Mapping[Slot, Indices], labels: Mapping[Slot, NDArray[np.integer]], ground: Ground
) -> NDArray[np.integer]:
    """Labels word by word, in the order of the sentences' numbers."""
    sentences = np.concatenate([row[row != NONE] for row in rows.values()])
    pieces = {}
    for step, row in rows.items():
        for at, sentence in enumerate(row.tolist()):
            if sentence != NONE:
                pieces[sentence] = labels[step][at, : ground.lengths[sentence]]
    return np.concatenate([pieces[sentence] for sentence in np.sort(sentences).tolist()])
