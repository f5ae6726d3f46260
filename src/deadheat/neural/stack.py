"""Train many networks of one shape in one compiled program.

Networks have slots. All take a step together, each with its own sentences, hyperparameters and random numbers. After
each epoch those that are finished leave, and others take their slots. On a CPU a stack of one is the fastest.
"""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Indices
from deadheat.neural import batches
from deadheat.neural.batches import NONE, PREDICTION_BATCH, BatchKey, join_in_order, prediction_batches
from deadheat.neural.config import HyperParams, OnStep, TrainSchedule, Variant
from deadheat.neural.devices import on_accelerator
from deadheat.neural.encoder import Weights
from deadheat.neural.programs import DeviceData, Programs, programs

BATCHES_AHEAD = 16  # started before the first of them is decoded: an accelerator works on them meanwhile
TuneScore = Callable[[int, NDArray[np.integer]], float]  # split, labels of tune's words in order -> score


@dataclass(frozen=True, slots=True)
class StackJob:
    """One network to train: its hyperparameters, seed, split and schedule."""

    hyper: HyperParams
    seed: int
    split: int
    schedule: TrainSchedule = field(default_factory=TrainSchedule)
    variant: Variant | None = None  # if networks of the stack have different shapes


@dataclass(frozen=True, slots=True, eq=False)
class TrainedNetwork:
    """A network at its best epoch; `failed` says why there is none."""

    job: StackJob
    epoch: int  # from 1
    epochs: int  # that were trained
    score: float  # on tune; NaN without
    weights: Weights = field(repr=False)
    labels: Mapping[str, NDArray[np.integer]] = field(default_factory=dict, repr=False)  # of the parts
    curve: tuple[float, ...] = ()
    losses: tuple[float, ...] = ()
    failed: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """Sentences of every split: to learn from, to score epochs on, and parts that are labelled at the end."""

    trains: Sequence[Indices]
    tunes: Sequence[Indices | None]
    parts: Mapping[str, Sequence[Indices | None]] = field(default_factory=dict)

    @property
    def learned(self) -> Indices:
        """All sentences whose gold labels are used: those of train and tune."""
        return np.unique(np.concatenate([part for part in (*self.trains, *self.tunes) if part is not None]))


@dataclass(slots=True, eq=False)
class _ActiveNetwork:
    """A network in training."""

    job: StackJob
    number: int  # of the job
    epoch: int = 0
    updates: int = 0
    best: float = -math.inf
    best_epoch: int = 0
    curve: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)

    @property
    def hyper(self) -> HyperParams:
        """The job's hyperparameters with the learning rate that is left."""
        decay = self.job.schedule.decay ** (self.updates / 1000)
        return self.job.hyper._replace(rate=self.job.hyper.rate * decay)

    @property
    def epochs_left(self) -> int:
        """The largest number of epochs that may follow."""
        return self.job.schedule.epochs - self.epoch

    @property
    def finished(self) -> bool:
        """Whether training is over, or has failed."""
        schedule = self.job.schedule
        tuned = any(not math.isnan(score) for score in self.curve)
        ended = self.epoch >= schedule.epochs or (tuned and self.epoch - self.best_epoch >= schedule.patience)
        return ended or not math.isfinite(self.losses[-1])


class Stack:
    """Networks in training; `run` trains all jobs and yields each as soon as it is finished."""

    def __init__(
        self,
        data: DeviceData,
        splits: Splits,
        tune_score: TuneScore | None,
        *,
        size: int,
        on_step: OnStep | None = None,
    ) -> None:
        self.data, self.splits, self.tune_score, self.on_step = data, splits, tune_score, on_step
        self.programs = programs(data.shape, size)
        self.groups = [batches.group_by_length(data.lengths, train, data.shape.batch) for train in splits.trains]
        self.schedule = batches.schedule(self.groups, data.shape.batch)
        self.slots: list[_ActiveNetwork | None] = [None] * size
        self.weights: Weights | None = None
        self.state: Any = None
        self.best: Weights | None = None

    @property
    def size(self) -> int:
        """The number of slots."""
        return len(self.slots)

    @property
    def active(self) -> list[tuple[int, _ActiveNetwork]]:
        """The networks in training, with their slots."""
        return [(slot, network) for slot, network in enumerate(self.slots) if network is not None]

    def after_epoch(self) -> None:
        """Called after each epoch; to be overridden for monitoring."""

    def run(self, jobs: Mapping[int, StackJob]) -> Iterator[tuple[int, TrainedNetwork]]:
        """Train jobs by their numbers; yields the number and the network as soon as it is finished."""
        waiting = sorted(jobs.items(), reverse=True)
        while waiting or any(self.slots):
            self._start_jobs(waiting)
            self._report_step()
            if on_accelerator() and not hasattr(self.programs.network, "train_step"):
                self.compile()
            self._run_epoch()
            self.after_epoch()
            yield from self._finish_jobs()

    def _start_jobs(self, waiting: list[tuple[int, StackJob]]) -> None:
        """Fill free slots with waiting jobs."""
        started = np.zeros(self.size, bool)
        for slot, network in enumerate(self.slots):
            if network is None and waiting:
                number, job = waiting.pop()
                self.slots[slot] = _ActiveNetwork(job, number)
                started[slot] = True
        if not started.any():
            return
        variants = self._variants()
        fresh = self.programs.init_networks(self._seeds(), variants, self.data.hashes, self.data.vectors)
        if self.weights is None:
            (self.weights, self.state), self.best = fresh, jax.tree.map(jnp.copy, fresh[0])
        else:
            self.weights, self.state = self.programs.select((self.weights, self.state), fresh, jnp.asarray(started))

    def compile(self) -> None:
        """Compile all programs ahead of time, in parallel, which pays off on machines with many cores."""
        common = (self._seeds(), np.zeros(self.size, np.int32)), self._hyper()
        text, split = self.data.text, self._split_numbers()
        needed: list[tuple[str, int, tuple[Any, ...]]] = []
        for words in sorted({key.words for key in self.schedule}):
            rows = np.zeros((self.size, self.data.shape.batch), np.int32)
            needed.append(("step", words, (self.weights, self.state, *common, (split, rows), text)))
        parts = [*self.splits.tunes, *(part for per_split in self.splits.parts.values() for part in per_split)]
        keys = {key for part in parts if part is not None for key in prediction_batches(self.data.lengths, part)}
        for words in sorted({key.words for key in keys}):
            rows = np.zeros((self.size, PREDICTION_BATCH), np.int32)
            needed.append(("label", words, (self.weights, split, rows, text)))
        self.programs.prepare(needed)

    def _run_epoch(self) -> None:
        """One pass over the training sentences of every network, and a score on tune."""
        size = self.data.shape.batch
        epochs: list[dict[BatchKey, Indices]] = [{} for _ in self.slots]
        counts = np.zeros(self.size, np.int32)
        for slot, network in self.active:
            job = network.job
            epochs[slot] = batches.epoch_batches(self.groups[job.split], size, job.seed, network.epoch)
            counts[slot] = network.updates
        hyper, seeds, split = self._hyper(), self._seeds(), self._split_numbers()
        empty = np.full(size, NONE, np.int64)
        losses = []
        for key in self.schedule:
            rows = np.stack([epoch.get(key, empty) for epoch in epochs]).astype(np.int32)
            if not (rows >= 0).any():
                continue
            self.weights, self.state, loss = self.programs.train_step(
                self.weights, self.state, (seeds, counts.copy()), hyper, (split, rows), self.data.text, words=key.words
            )
            counts += (rows >= 0).any(axis=1)
            losses.append(loss)
            self._report_step()
        total = np.asarray(jnp.sum(jnp.stack(losses), axis=0)) if losses else np.zeros(self.size)
        for slot, network in self.active:
            network.losses.append(float(total[slot]) / max(int(counts[slot]) - network.updates, 1))
            network.epoch, network.updates = network.epoch + 1, int(counts[slot])
        self._score_tune()

    def _report_step(self) -> None:
        """Report the epoch of the network that has the most epochs left."""
        if self.on_step is not None and self.active:
            last = max((network for _, network in self.active), key=lambda network: network.epochs_left)
            self.on_step(last.epoch + 1, last.job.schedule.epochs)

    def _score_tune(self) -> None:
        """Score every network on its tune part, and keep the best weights so far."""
        labels = self.predict(self.weights, self.splits.tunes) if self.tune_score is not None else {}
        better = np.zeros(self.size, bool)
        for slot, network in self.active:
            score = math.nan
            if slot in labels and self.tune_score is not None:
                score = self.tune_score(network.job.split, labels[slot])
            network.curve.append(score)
            if math.isnan(score) or score > network.best:
                better[slot] = True
                network.best, network.best_epoch = (network.best if math.isnan(score) else score), network.epoch
        self.best = self.programs.select(self.best, self.weights, jnp.asarray(better))

    def predict(self, weights: Weights | None, sentences: Sequence[Indices | None]) -> dict[int, NDArray[np.integer]]:
        """The labels of each network, by its slot, for the sentences of its split."""
        parts = [None if network is None else sentences[network.job.split] for network in self.slots]
        return predict_parts(self.programs, self.data, weights, self._split_numbers(), parts)

    def _finish_jobs(self) -> Iterator[tuple[int, TrainedNetwork]]:
        """Yield the networks that are finished, and those that failed."""
        finished = [(slot, network) for slot, network in self.active if network.finished]
        if not finished:
            return
        parts = {name: self.predict(self.best, sentences) for name, sentences in self.splits.parts.items()}
        for slot, network in finished:
            loss, epoch = network.losses[-1], network.epoch
            failed = "" if math.isfinite(loss) else f"its loss is {loss} in epoch {epoch}"
            weights = jax.tree.map(lambda leaf, slot=slot: leaf[slot], self.best)
            labels = {name: labels[slot] for name, labels in parts.items() if slot in labels}
            score = network.best if math.isfinite(network.best) else math.nan
            yield network.number, TrainedNetwork(
                network.job, network.best_epoch, epoch, score, weights, {} if failed else labels,
                tuple(network.curve), tuple(network.losses), failed,
            )  # fmt: skip
            self.slots[slot] = None

    def _hyper(self) -> HyperParams:
        """The hyperparameters of all networks as arrays; those of an empty slot are never used."""
        rows = [HyperParams(0.0) if network is None else network.hyper for network in self.slots]
        return HyperParams(*(jnp.asarray(column, jnp.float32) for column in zip(*rows, strict=True)))

    def _variants(self) -> Variant | None:
        """The variants of all networks as arrays, if they have any; that of an empty slot is never used."""
        if not self.data.shape.varied:
            return None
        empty = self.data.shape.variant(len(self.data.shape.units))
        rows = [empty if network is None else network.job.variant for network in self.slots]
        variants: Variant = jax.tree.map(lambda *numbers: jnp.asarray(numbers, jnp.float32), *rows)
        return variants

    def _seeds(self) -> NDArray[np.uint32]:
        return np.array([0 if network is None else network.job.seed & 0xFFFFFFFF for network in self.slots], np.uint32)

    def _split_numbers(self) -> NDArray[np.int32]:
        return np.array([0 if network is None else network.job.split for network in self.slots], np.int32)


def predict_parts(
    compiled: Programs, data: DeviceData, weights: Weights | None, splits: NDArray[np.int32],
    parts: Sequence[Indices | None],
) -> dict[int, NDArray[np.integer]]:  # fmt: skip
    """Labels by each network of a stack for its part of the sentences, word by word in their order."""
    rows = [{} if part is None else prediction_batches(data.lengths, part) for part in parts]
    labels: list[dict[BatchKey, NDArray[np.integer]]] = [{} for _ in rows]

    def decode(key: BatchKey, outputs: Any) -> None:
        outputs = jax.tree.map(np.asarray, outputs)
        for slot, batch in enumerate(rows):
            if key in batch:
                output = jax.tree.map(itemgetter(slot), outputs)
                labels[slot][key] = compiled.decode(output, data.lengths[batch[key]] * (batch[key] != NONE))

    empty = np.full(PREDICTION_BATCH, NONE, np.int64)
    running: deque[tuple[BatchKey, Any]] = deque()
    for key in sorted(set().union(*rows)):
        ids = np.stack([batch.get(key, empty) for batch in rows]).astype(np.int32)
        running.append((key, compiled.predict_batch(weights, splits, ids, data.text, words=key.words)))
        if len(running) > BATCHES_AHEAD:
            decode(*running.popleft())
    for key, outputs in running:
        decode(key, outputs)
    return {slot: join_in_order(rows[slot], decoded, data.lengths) for slot, decoded in enumerate(labels) if decoded}


def train_all(
    data: DeviceData, splits: Splits, tune_score: TuneScore | None, jobs: Mapping[int, StackJob], *, size: int,
    on_step: OnStep | None = None,
) -> Iterator[tuple[int, TrainedNetwork]]:  # fmt: skip
    """Train jobs by their numbers in stacks of at most `size`; where memory runs out, in stacks of half that size.

    Networks that were in training then start again, and become what they would have become.
    """
    waiting = dict(jobs)
    while waiting:
        size = min(size, len(waiting))
        try:
            for number, network in Stack(data, splits, tune_score, size=size, on_step=on_step).run(waiting):
                del waiting[number]
                yield number, network
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            if size == 1:
                number = min(waiting)
                failed = "the device has too little memory for one such network"
                yield number, TrainedNetwork(waiting.pop(number), 0, 0, math.nan, {}, failed=failed)
                continue
            sys.stderr.write(f"note: no memory for {size} networks at once; going on with {size // 2}\n")
            size //= 2
