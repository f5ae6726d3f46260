"""The workbench: train and score one cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.corpus import Column, Corpus, Vocabulary, take, to_bytes
from deadheat.corpus.identity import text_hash
from deadheat.corpus.labels import with_labels
from deadheat.errors import InputError
from deadheat.metrics import Metric, align
from deadheat.neural.jobs import BatchTrainer, TrainJob, TrainResult
from deadheat.study.cells import Cell, PartScores
from deadheat.study.plan import Plan
from deadheat.systems import SYSTEMS, System

Keep = Callable[[str, bytes], dict[str, Any]]  # part and bytes of a prediction -> the file it went to


@dataclass(frozen=True, slots=True, eq=False)
class Worked:
    """What a cell gives: its scores, the files of its predictions, and the hashes of the texts, by part."""

    scores: tuple[PartScores, ...]
    predictions: dict[str, dict[str, Any]]
    texts: dict[str, str]


def work(plan: Plan, cell: Cell, keep: Keep | None = None) -> Worked:
    """Train a system on train (and tune), and score it on the parts that are asked for.

    Training sees train and tune and nothing else, and prediction sees no labels.
    """
    corpus, partition = plan.materials[cell.corpus].corpus, plan.partition(cell)
    system = SYSTEMS.make(cell.system)
    if system.batch_trainer is not None:
        # By the numbers of sentences, so that programs that were compiled for one split serve the others.
        ((_, done),) = system.batch_trainer.train(corpus, [order_of(plan, cell, system.batch_trainer)])
        return examined(plan, cell, done, keep)
    tune_part = plan.tune_part(partition, cell)
    train = take(corpus, plan.learned(cell))
    model = system.train(train, take(corpus, partition.parts[tune_part]) if tune_part else None, cell.seed)
    predictions = {
        part: model.predict(unlabelled(take(corpus, partition.parts[part]), system)) for part in plan.scored_parts(cell)
    }
    return scored(plan, cell, predictions, keep)


def order_of(plan: Plan, cell: Cell, batch_trainer: BatchTrainer) -> TrainJob:
    """A cell as a training among many."""
    partition = plan.partition(cell)
    tune_part = plan.tune_part(partition, cell)
    tune = partition.parts[tune_part] if tune_part else None
    parts = {part: partition.parts[part] for part in plan.scored_parts(cell)}
    return TrainJob(batch_trainer.config, cell.seed, plan.learned(cell), tune, parts)


def examined(plan: Plan, cell: Cell, done: TrainResult, keep: Keep | None = None) -> Worked:
    """The scores of one training among many, if something came of it."""
    if done.failed:
        raise InputError(f"{cell.system}, seed {cell.seed}: the network came to nothing, {done.failed}")
    return scored(plan, cell, done.predictions, keep)


def scored(plan: Plan, cell: Cell, predicted: Mapping[str, Corpus], keep: Keep | None = None) -> Worked:
    """The scores of predictions, part by part."""
    corpus, partition = plan.materials[cell.corpus].corpus, plan.partition(cell)
    train = take(corpus, plan.learned(cell))
    scores: list[PartScores] = []
    predictions: dict[str, dict[str, Any]] = {}
    texts: dict[str, str] = {}
    for part, labelled in predicted.items():
        gold = take(corpus, partition.parts[part])
        scores.append(part_scores(part, gold, labelled, train, plan.metrics_of(cell.system)))
        texts[part] = text_hash(gold)
        if keep is not None:
            predictions[part] = keep(part, to_bytes(labelled))
    return Worked(tuple(scores), predictions, texts)


def part_scores(part: str, gold: Corpus, predicted: Corpus, train: Corpus, metrics: list[Metric]) -> PartScores:
    """Counts of every sentence by every metric."""
    pair = align(gold, predicted, training=train)
    counts = {metric.name: metric.counts(pair)[:, :3] for metric in metrics}
    values = {metric.name: float(metric.value(counts[metric.name].sum(axis=0))) for metric in metrics}
    return PartScores(part, gold.sentences, gold.words, values, counts)


def unlabelled(gold: Corpus, system: System) -> Corpus:
    """The corpus without what the system is to predict."""
    column = str(system.settings.get("column", "upos"))
    return with_labels(gold, column, Column(np.zeros(gold.words, np.int32), Vocabulary.of(["_"])))
