"""Train networks: one that labels any corpus, or many that label parts of the corpus they learn from."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import jax
import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus, take
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError
from deadheat.neural import fused
from deadheat.neural.config import NetworkConfig, OnStep, TrainJob, TrainResult, merge_shapes
from deadheat.neural.devices import configure_jax, on_accelerator, stack_size, trim_programs
from deadheat.neural.encoder import Weights
from deadheat.neural.labels import Predicted
from deadheat.neural.programs import DeviceData, free_programs, programs
from deadheat.neural.stack import Splits, StackJob, TrainedNetwork, predict_parts, train_all
from deadheat.neural.tasks import Task, make_task, task_variant
from deadheat.neural.text import Arrays, Lexicon, distinct_forms, round_up
from deadheat.neural.vectors import PretrainedVectors


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A trained network; it labels any corpus."""

    config: NetworkConfig
    task: Task = field(repr=False)
    weights: Weights = field(repr=False)
    lexicon: Lexicon = field(repr=False)
    knowledge: Arrays = field(repr=False)
    trained: TrainedNetwork = field(repr=False)

    def predict(self, corpus: Corpus) -> Corpus:
        """The corpus with the network's labels."""
        if not corpus.words:
            return self.task.write(corpus, np.zeros((0, 3), np.int32))
        model = self._with_words_of(corpus) if self.config.vectors else self
        encoding = self.task.encode(corpus, model.lexicon)
        data = DeviceData.of(self.task.shape, encoding, model.knowledge)
        weights = jax.tree.map(lambda leaf: leaf[None], model.weights)
        everything = [np.arange(corpus.sentences)]
        labels = predict_parts(programs(self.task.shape, 1), data, weights, np.zeros(1, np.int32), everything)
        return self.task.write(corpus, labels[0])

    def _with_words_of(self, corpus: Corpus) -> Model:
        """The same network, which also knows all words of a corpus that the file of vectors has."""
        pretrained = PretrainedVectors.of(self.config.vectors, distinct_forms([corpus]))
        words = self.lexicon.words
        new = tuple(sorted({key for key in pretrained.keys.values() if key in pretrained.vectors} - set(words)))
        lexicon = Lexicon((*words, *new), self.lexicon.characters, {**pretrained.keys, **self.lexicon.keys})
        table = np.zeros((round_up(len(lexicon.words)), self.task.shape.word_size), np.float32)
        table[: len(words)] = np.asarray(self.weights["words"])[: len(words)]
        table[len(words) : len(lexicon.words)] = pretrained.rows(lexicon)[len(words) :]
        counts = np.pad(np.asarray(self.knowledge["train_counts"]), ((0, 0), (0, len(new))), constant_values=2)
        weights, knowledge = {**self.weights, "words": table}, {**self.knowledge, "train_counts": counts}
        return replace(self, lexicon=lexicon, weights=weights, knowledge=knowledge)


@dataclass(frozen=True, slots=True, eq=False)
class _TrainingGroup:
    """Networks that train together: a task, and its splits."""

    task: Task
    splits: Splits
    vectors: NDArray[np.float32] | None

    @classmethod
    def of(cls, config: NetworkConfig, corpora: Sequence[Corpus], splits: Splits) -> _TrainingGroup:
        forms = distinct_forms(corpora)
        if not config.vectors:
            return cls(make_task(config, corpora, splits, Lexicon.of(forms)), splits, None)
        pretrained = PretrainedVectors.of(config.vectors, forms)
        lexicon = Lexicon.of(forms, pretrained.keys)
        task = make_task(config, corpora, splits, lexicon)
        task = replace(task, shape=replace(task.shape, word_size=pretrained.size))
        return cls(task, splits, pretrained.rows(lexicon))

    @property
    def knowledge(self) -> Arrays:
        """What the networks of each split know."""
        return self.task.encoding.knowledge(self.splits.trains, self.vectors)

    def run(self, jobs: Mapping[int, StackJob], on_step: OnStep | None = None) -> Iterator[tuple[int, TrainedNetwork]]:
        """Train in stacks as large as the device allows."""
        configure_jax()
        trim_programs()
        free_programs()
        data = DeviceData.of(self.task.shape, self.task.encoding, self.knowledge, self.vectors)
        size = stack_size(self.task.shape, data.text, data.lengths)
        yield from train_all(data, self.splits, self._score_tune, jobs, size=size, on_step=on_step)

    def result(self, corpus: Corpus, network: TrainedNetwork) -> TrainResult:
        """A trained network with its predictions as corpora."""
        predictions = {}
        for name, predicted in network.labels.items():
            sentences = self.splits.parts[name][network.job.split]
            assert sentences is not None
            predictions[name] = self.task.write(take(corpus, sentences), predicted)
        return TrainResult(
            predictions, network.epoch, network.epochs, network.score, network.curve, network.losses, network.failed
        )

    def _score_tune(self, split: int, predicted: Predicted) -> float:
        tune = self.splits.tunes[split]
        assert tune is not None
        return self.task.score(predicted, tune)


def train_one(config: NetworkConfig, train: Corpus, tune: Corpus | None, seed: int) -> Model:
    """Train a network; tune, where there is one, picks the epoch."""
    config = config.for_words(train.words)
    corpora = [train, tune] if tune is not None and tune.words else [train]
    ends = np.cumsum([corpus.sentences for corpus in corpora])
    tunes = np.arange(ends[0], ends[1]) if len(corpora) > 1 else None
    group = _TrainingGroup.of(config, corpora, Splits([with_words(train, np.arange(ends[0]))], [tunes]))
    ((_, network),) = group.run({0: StackJob(config.hyper, seed, 0, config.schedule)})
    if network.failed:
        raise InputError(f"{train.name}: training failed, {network.failed}; expected a smaller rate or a norm")
    weights = jax.tree.map(np.asarray, network.weights)
    return Model(config, group.task, weights, group.task.encoding.lexicon, group.knowledge, network)


def train_jobs(
    corpus: Corpus, jobs: Sequence[TrainJob], on_step: OnStep | None = None
) -> Iterator[tuple[int, TrainResult]]:
    """Train networks that label parts of the corpus they learn from; yields the index of each job and its result.

    Jobs may be of several groups; those of one group train together. The size of a job's training part may decide on
    its configuration, and so on its group.
    """
    lengths = np.diff(corpus.offsets)
    jobs = [replace(job, config=job.config.for_words(int(lengths[job.train].sum()))) for job in jobs]
    groups: dict[Hashable, list[int]] = {}
    variants: dict[Hashable, Hashable] = {}
    mixed = on_accelerator() and fused.is_available()
    for number, job in enumerate(jobs):
        alike = job.config.family if mixed else job.config.group
        kind = (alike, job.train.tobytes())
        if kind not in variants:
            variants[kind] = task_variant(job.config, corpus, job.train)
        groups.setdefault((alike, variants[kind]), []).append(number)
    for numbers in groups.values():
        split_numbers: dict[bytes, int] = {}
        splits = [split_numbers.setdefault(_split_key(jobs[number]), len(split_numbers)) for number in numbers]
        first = [jobs[numbers[splits.index(split)]] for split in range(len(split_numbers))]
        config, networks = first[0].config, [jobs[number].config for number in numbers]
        shapes = list(dict.fromkeys(network.shape for network in networks))
        if len(shapes) > 1:
            config = replace(config, shape=merge_shapes(shapes))
        layers = len(config.shape.units)
        group = _TrainingGroup.of(config, [corpus], _splits(corpus, first))
        stack_jobs = {
            number: StackJob(
                network.hyper, jobs[number].seed, split, network.schedule,
                network.shape.variant(layers) if len(shapes) > 1 else None,
            )
            for number, network, split in zip(numbers, networks, splits, strict=True)
        }  # fmt: skip
        for number, network in group.run(stack_jobs, on_step):
            yield number, group.result(corpus, network)


def with_words(corpus: Corpus, sentences: Indices) -> Indices:
    """The sentences that are not empty; at least one."""
    usable = sentences[np.diff(corpus.offsets)[sentences] > 0]
    if not len(usable):
        raise InputError(f"{corpus.name}: no words in train; expected some to learn from")
    return usable


def _splits(corpus: Corpus, jobs: Sequence[TrainJob]) -> Splits:
    def in_order(sentences: Indices | None) -> Indices | None:
        return None if sentences is None or not len(sentences) else np.sort(sentences)

    names = list(dict.fromkeys(name for job in jobs for name in job.parts))
    return Splits(
        [with_words(corpus, np.sort(job.train)) for job in jobs],
        [in_order(job.tune) for job in jobs],
        {name: [in_order(job.parts.get(name)) for job in jobs] for name in names},
    )


def _split_key(job: TrainJob) -> bytes:
    """Jobs with equal keys have the same split."""
    parts = [job.train, job.tune if job.tune is not None else np.empty(0, np.int64), *job.parts.values()]
    return b"|".join([",".join(job.parts).encode(), *(np.asarray(part, np.int64).tobytes() for part in parts)])
