"""Train many networks of one shape in one compiled program.

Networks have slots. All take a step together, each with its own sentences, numbers and chance; after each epoch those
that are finished leave and others take their slots. On a CPU a stack of one is the fastest, and is not stacked at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Indices
from deadheat.neural import batches
from deadheat.neural.batches import NONE, PREDICTED, Slot, in_order, rows_to_label
from deadheat.neural.config import Course, Numbers
from deadheat.neural.devices import accelerated
from deadheat.neural.encoder import Weights
from deadheat.neural.programs import Ground, programs

Judge = Callable[[int, NDArray[np.integer]], float]  # split, labels of tune's words in order -> score


@dataclass(frozen=True, slots=True)
class Job:
    """One network to train: its numbers, its seed, its split, and how long."""

    numbers: Numbers
    seed: int
    split: int
    course: Course = field(default_factory=Course)


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
    parts: Mapping[str, Sequence[Indices | None]] = field(default_factory=dict)

    @property
    def learned(self) -> Indices:
        """All sentences whose gold somebody sees: those of train and of tune."""
        return np.unique(np.concatenate([each for each in (*self.trains, *self.tunes) if each is not None]))


@dataclass(slots=True, eq=False)
class _Slot:
    """A network that trains."""

    job: Job
    at: int  # its number among the jobs
    epoch: int = 0
    updates: int = 0
    best: float = -math.inf
    best_epoch: int = 0
    curve: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)

    @property
    def numbers(self) -> Numbers:
        """Those of the job, with the rate that is left by now."""
        own = self.job.numbers
        return own._replace(rate=own.rate * self.job.course.decay ** (self.updates / 1000))

    @property
    def ended(self) -> bool:
        """Whether this network has been trained long enough."""
        tuned = any(not math.isnan(each) for each in self.curve)
        course = self.job.course
        return self.epoch >= course.epochs or (tuned and self.epoch - self.best_epoch >= course.patience)


class Stack:
    """Networks in training; `run` trains all jobs and gives each as soon as it is finished."""

    def __init__(self, ground: Ground, splits: Splits, judge: Judge | None, *, size: int) -> None:
        self.ground, self.splits, self.judge = ground, splits, judge
        self.programs = programs(ground.shape, size)
        self.groups = [batches.by_length(ground.lengths, train, ground.shape.batch) for train in splits.trains]
        self.schedule = batches.schedule(self.groups, ground.shape.batch)
        self.slots: list[_Slot | None] = [None] * size
        self.weights: Weights | None = None
        self.state: Any = None
        self.best: Weights | None = None

    @property
    def size(self) -> int:
        """How many networks there is room for."""
        return len(self.slots)

    def after_epoch(self) -> None:
        """Called after each epoch; for those who want to watch, or to end early."""

    def run(self, jobs: Mapping[int, Job]) -> Iterator[tuple[int, Trained]]:
        """Train jobs by their numbers; each comes with its own as soon as it is finished."""
        waiting = sorted(jobs.items(), reverse=True)
        while waiting or any(self.slots):
            self._enter(waiting)
            if accelerated() and not hasattr(self.programs.network, "take_step"):
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
        lengths = {
            step.words for own in labelled if own is not None for step in rows_to_label(self.ground.lengths, own)
        }
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
            rows.append({} if own is None else rows_to_label(self.ground.lengths, own))
        where = self._split_numbers()
        empty = np.full(PREDICTED, NONE, np.int64)
        steps = sorted({step for each in rows for step in each}, key=lambda step: (step.words, step.number))
        found = []
        for step in steps:
            ids = np.stack([each.get(step, empty) for each in rows]).astype(np.int32)
            found.append(self.programs.give_labels(weights, where, ids, self.ground.text, words=step.words))
        made = [jax.tree.map(np.asarray, each) for each in found]
        return {
            place: self._in_order(own, {step: _of(made[at], place) for at, step in enumerate(steps) if step in own})
            for place, own in enumerate(rows)
            if own
        }

    def _in_order(self, rows: Mapping[Slot, Indices], made: Mapping[Slot, Any]) -> NDArray[np.integer]:
        """What a network says of its sentences, word by word, from what came from the device."""
        lengths, shape, network = self.ground.lengths, self.ground.shape, self.programs.network
        found = {step: network.decoded(shape, made[step], lengths[row] * (row != NONE)) for step, row in rows.items()}
        return in_order(rows, found, lengths)

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
        return slot.ended or not math.isfinite(slot.losses[-1])

    def _numbers(self) -> Numbers:
        """The numbers of all networks, side by side; those of an empty slot are never used."""
        own = [Numbers(0.0) if slot is None else slot.numbers for slot in self.slots]
        return Numbers(*(jnp.asarray(column, jnp.float32) for column in zip(*own, strict=True)))

    def _seeds(self) -> NDArray[np.uint32]:
        return np.array([0 if slot is None else slot.job.seed & 0xFFFFFFFF for slot in self.slots], np.uint32)

    def _split_numbers(self) -> NDArray[np.int32]:
        return np.array([0 if slot is None else slot.job.split for slot in self.slots], np.int32)


def _of(made: Any, place: int) -> Any:
    """What one network of a stack gave."""
    return jax.tree.map(lambda each: each[place], made)


def train_all(
    ground: Ground, splits: Splits, judge: Judge | None, jobs: Mapping[int, Job], *, size: int
) -> Iterator[tuple[int, Trained]]:
    """Train jobs by their numbers in stacks of at most `size`; where memory runs out, in stacks of half that size.

    Networks that were in training then begin anew, and become what they would have become.
    """
    waiting = dict(jobs)
    while waiting:
        size = min(size, len(waiting))
        try:
            for at, done in Stack(ground, splits, judge, size=size).run(waiting):
                del waiting[at]
                yield at, done
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            if size == 1:
                at = min(waiting)
                why = "the device has too little memory for one such network"
                yield at, Trained(waiting.pop(at), 0, 0, math.nan, {}, failed=why)
            size = max(1, size // 2)
