"""What is wrong with a study that only its corpora show: columns, parts and metrics that do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from deadheat.corpus import take
from deadheat.errors import InputError, nearest
from deadheat.metrics import METRICS
from deadheat.neural.config import missing_package
from deadheat.splits import Partition
from deadheat.study.plan.cells import TRAIN, CorpusSplit
from deadheat.study.plan.checks import Mistake, shorten
from deadheat.study.plan.entries import exists
from deadheat.study.search.space import grid
from deadheat.systems import SYSTEMS
from deadheat.systems.system import TREES

if TYPE_CHECKING:
    from deadheat.study.plan.plan import Plan

TREE_COLUMNS = ("head", "deprel", "tree")


def find_mistakes(plan: Plan) -> Iterator[Mistake]:
    """What can be checked only now: metrics without a system, columns and parts that corpora lack."""
    systems = [SYSTEMS.make(entry.name, **grid(entry.settings)[0]) for entry in plan.study.systems]
    searched = plan.searched
    predictions = {name: SYSTEMS.make(name).predicts for name in [*plan.systems, *(system.name for system in searched)]}
    predicted = {name for names in predictions.values() for name in names or ("",)}
    predicted |= set(TREE_COLUMNS) if TREES in predicted else set()
    for i, metric in enumerate(map(METRICS.make, plan.study.metrics)):
        if not predicted & {"", metric.compares}:
            yield ("metrics", i), f"{metric.name} scores nothing that a system predicts; expected it to"
    for system, columns in predictions.items():
        if not plan.metrics_of(system):
            yield ("metrics",), f"none scores {', '.join(columns)}, which {system} predicts; expected one"
        for name, material in plan.materials.items():
            names = list(material.corpus.columns)
            if TREES in columns and material.corpus.heads is None:
                yield ("systems",), f"{system}: corpus {name} has words without heads; expected trees to learn from"
            for column in columns:
                if column != TREES and column not in names:
                    yield ("systems",), f"{system}: corpus {name} has no column {column!r}; {nearest(column, names)}"
    for table, entries in (("systems", systems), ("search", searched)):
        for i, entry in enumerate(entries):
            if entry.batch_trainer is not None and (message := missing_package(entry.name.partition("(")[0])):
                yield (table, i), message
    yield from _label_mistakes(plan)
    yield from _vector_mistakes(plan)
    yield from _split_mistakes(plan)
    yield from _hypothesis_mistakes(plan)


def _label_mistakes(plan: Plan) -> Iterator[Mistake]:
    """Labels of the study file that tables could not show: one of two systems, or two of one system."""
    entries = plan.study.systems
    labels: dict[str, tuple[int, str]] = {}
    systems: dict[str, int] = {}
    for i, system, label in plan.labelled:
        first, other = labels.setdefault(label, (i, system))
        if other != system and (entries[i].label or entries[first].label):
            problem = f"systems {first} and {i} have the same label {label!r}"
            yield ("systems", i if entries[i].label else first, "label"), f"{problem}; expected each label once"
            return
        first = systems.setdefault(system, i)
        names = [entries[first].label, entries[i].label]
        if names[0] != names[1]:
            problem = f"systems {first} and {i} are the same, {system}, with labels {names[0]!r} and {names[1]!r}"
            yield ("systems", i), f"{problem}; expected one label"
            return


def _vector_mistakes(plan: Plan) -> Iterator[Mistake]:
    """Word vector files that do not exist."""
    for table, entries in (("systems", plan.study.systems), ("search", plan.study.search)):
        for i, entry in enumerate(entries):
            files = entry.settings.get("vectors", "")
            for file in files if isinstance(files, list) else [files]:
                if file and not exists(plan.path.parent / str(file)):
                    name = shorten(str(file))
                    yield (table, i, "vectors"), f"vectors {name!r}: no such file; expected word vectors"


def _split_mistakes(plan: Plan) -> Iterator[Mistake]:
    """Corpora that are unknown, or cannot be split as the study says."""
    for i, entry in enumerate(plan.study.splits):
        for name in entry.corpora:
            if name not in plan.materials:
                yield ("splits", i, "corpora"), f"corpus {name!r} is unknown; {nearest(name, list(plan.materials))}"
    for name in plan.materials:
        if not plan.strategies_of(name):
            yield ("corpora", name), f"no split strategy for corpus {name}; expected one in [[splits]]"
        for i, (strategy, _, seed) in enumerate(plan.strategies):
            if not plan.study.splits[i].applies_to(name):
                continue
            try:
                partition = plan.partition(CorpusSplit(name, strategy.name, seed, 0))
                plan.tune_part(partition)
                plan.evaluated_parts(partition, name)
                _check_labels(plan, partition, name)
            except InputError as error:
                yield ("splits", i), f"corpus {name}, {strategy.name}: {error}"


def _check_labels(plan: Plan, partition: Partition, corpus: str) -> None:
    """Refuse a training part with more labels than a system can learn."""
    for system in map(SYSTEMS.make, plan.systems):
        column, most = str(system.settings.get("column", "")), system.most_labels
        whole = plan.materials[corpus].corpus
        if most and column in whole.columns and len(whole.column(column).vocabulary) > most:
            labels = int(np.count_nonzero(take(whole, partition.parts[TRAIN]).column(column).frequencies()))
            if labels > most:
                problem = f"column {column!r} has {labels:,} labels in {TRAIN}"
                raise InputError(f"{problem}; {system.name} expected {most:,} at most")


def _hypothesis_mistakes(plan: Plan) -> Iterator[Mistake]:
    """A hypothesis about systems or a metric that the study does not have."""
    labels, names = list(plan.labels.values()), plan.study.hypothesis.systems or ()
    unknown = [name for name in names if name not in labels]
    for name in unknown:
        expected = nearest(name, labels) if labels else "expected it in [[systems]]"
        yield ("hypothesis", "primary"), f"hypothesis: system {name!r} is unknown; {expected}"
    if names and not unknown and plan.hypothesis_metric is None:
        metric = plan.study.hypothesis.metric or "the first metric of one system"
        does = f"{metric} does not score both {names[0]} and {names[1]}"
        yield ("hypothesis", "metric"), f"hypothesis: {does}; expected a metric of both"
