"""The workbench: train and score one cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.corpus import Column, Corpus, Vocabulary, take, to_bytes
from deadheat.corpus.identity import text_hash
from deadheat.metrics import Metric, align
from deadheat.study.cells import Cell, PartScores
from deadheat.study.plan import Plan
from deadheat.systems import SYSTEMS, System
from deadheat.systems.system import with_labels

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
    tune_part = plan.tune_part(partition)
    train = take(corpus, partition.parts["train"])
    model = system.train(train, take(corpus, partition.parts[tune_part]) if tune_part else None, cell.seed)
    scores: list[PartScores] = []
    predictions: dict[str, dict[str, Any]] = {}
    texts: dict[str, str] = {}
    for part in plan.evaluated(partition):
        gold = take(corpus, partition.parts[part])
        predicted = model.predict(unlabelled(gold, system))
        scores.append(part_scores(part, gold, predicted, train, plan.metrics[cell.system]))
        texts[part] = text_hash(gold)
        if keep is not None:
            predictions[part] = keep(part, to_bytes(predicted))
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
