"""The workbench: train and score one cell."""

from __future__ import annotations

import contextlib
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from deadheat.corpus import Column, Corpus, Vocabulary, take, to_bytes
from deadheat.corpus.corpus import text_hash
from deadheat.corpus.transforms import with_labels
from deadheat.errors import InputError
from deadheat.metrics import Metric, align
from deadheat.neural.jobs import Done, Order, Together
from deadheat.study.engine.executor import Executor, Finished
from deadheat.study.engine.worker import described, largest_mb
from deadheat.study.plan.cells import DONE, FAILED, Cell, PartScores
from deadheat.study.plan.plan import Plan
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
    if system.together is not None:
        # By the numbers of sentences, so that programs that were compiled for one split serve the others.
        ((_, done),) = system.together.train(corpus, [order_of(plan, cell, system.together)])
        return examined(plan, cell, done, keep)
    tune_part = plan.tune_part(partition, cell)
    train = take(corpus, plan.learned(cell))
    model = system.train(train, take(corpus, partition.parts[tune_part]) if tune_part else None, cell.seed)
    predictions = {
        part: model.predict(unlabelled(take(corpus, partition.parts[part]), system)) for part in plan.scored_parts(cell)
    }
    return scored(plan, cell, predictions, keep)


def order_of(plan: Plan, cell: Cell, together: Together) -> Order:
    """A cell as a training among many."""
    partition = plan.partition(cell)
    tune_part = plan.tune_part(partition, cell)
    tune = partition.parts[tune_part] if tune_part else None
    parts = {part: partition.parts[part] for part in plan.scored_parts(cell)}
    return Order(together.recipe, cell.seed, plan.learned(cell), tune, parts)


def examined(plan: Plan, cell: Cell, done: Done, keep: Keep | None = None) -> Worked:
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


KeepOfCell = Callable[[Cell, str, bytes], dict[str, Any]]
Group = dict[str, tuple[Cell, Together]]  # cells that train together, by name; those that are finished leave it


class StackedExecutor:
    """Trains cells whose systems can train together, group by group, in this process, and reports each by itself.

    Groups are found from the cells: those of one corpus whose settings differ in numbers alone. A network that fails is
    reported and the others go on; an error that ends a group is reported for each of its cells that is not finished.
    What is no network waits for the executor `rest`.
    """

    def __init__(self, plan: Plan, keep: KeepOfCell | None, rest: Executor[Cell, Worked]) -> None:
        self._plan, self._keep, self._rest = plan, keep, rest
        self._groups: dict[Any, Group] = {}

    def submit(self, name: str, task: Cell) -> None:
        """Put a cell where it belongs."""
        together = SYSTEMS.make(task.system).together
        if together is None:
            self._rest.submit(name, task)
        else:
            self._groups.setdefault((task.corpus, together.group), {})[name] = (task, together)

    def results(self) -> Iterator[Finished[Worked]]:
        """Each cell once: networks as they leave their stack, then the rest."""
        while self._groups:
            place, group = next(iter(self._groups.items()))
            yield from self._trained(group)
            if not group:  # nothing has been added to it meanwhile
                self._groups.pop(place, None)
        yield from self._rest.results()

    def cancel(self) -> None:
        self._forget()
        self._rest.cancel()

    def close(self) -> None:
        self._forget()
        self._rest.close()

    def __enter__(self) -> Self:
        self._rest.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._forget()
        self._rest.__exit__(kind, error, trace)

    def _forget(self) -> None:
        for group in self._groups.values():
            group.clear()  # the one that trains ends with this
        self._groups.clear()

    def _trained(self, group: Group) -> Iterator[Finished[Worked]]:
        all_of_it = list(group.items())
        first, together = all_of_it[0][1]
        corpus = self._plan.materials[first.corpus].corpus
        started, clock, cpu = time.time(), time.perf_counter(), time.process_time()

        def finished(name: str, value: Worked | None, error: str = "", log: str = "") -> Finished[Worked]:
            del group[name]
            wall, share = time.perf_counter() - clock, (time.process_time() - cpu) / len(all_of_it)
            status = FAILED if error else DONE
            return Finished(name, status, value, error, log, started, wall, share, largest_mb())

        try:
            for cell, _ in group.values():
                self._plan.check_unchanged(cell)
            orders = [order_of(self._plan, cell, own) for _, (cell, own) in all_of_it]
            arriving = together.train(corpus, orders)
            while group and (each := _next(arriving, self._plan.path.parent)) is not None:
                at, done = each
                name, (cell, _) = all_of_it[at]
                try:
                    value = examined(self._plan, cell, done, self._keeper(cell))
                except Exception as error:
                    yield finished(name, None, described(error))
                else:
                    yield finished(name, value)
            assert not any(name in group for name, _ in all_of_it), "a network has not been heard of"
        except Exception as error:
            for name in [name for name, _ in all_of_it if name in group]:
                yield finished(name, None, described(error), traceback.format_exc())

    def _keeper(self, cell: Cell) -> Callable[[str, bytes], dict[str, Any]] | None:
        keep = self._keep
        return None if keep is None else lambda part, data: keep(cell, part, data)


def _next(arriving: Iterator[Any], folder: Path) -> Any:
    """What comes next, worked out in the study's folder, to which the files that settings name are relative."""
    with contextlib.chdir(folder):
        return next(arriving, None)
