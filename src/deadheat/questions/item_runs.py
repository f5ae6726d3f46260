"""Scores of items as runs: the mean score of every run over the items, which is what `seeds` compares."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
import polars as pl

from deadheat.errors import InputError
from deadheat.items.columns import NAMES, has_items, is_battles, named
from deadheat.items.detection import ITEM_NAMES, plain_name
from deadheat.items.options import RUNS, ItemColumns
from deadheat.items.sources import holds_logs, open_items
from deadheat.items.table import ItemTable
from deadheat.questions.item_counts import ITEM, CountedItems, count_items, without_options
from deadheat.tables.table import Runs, Table, as_runs, read_table
from deadheat.text import join_names

TASK = "task"
SETTINGS = ("prompt", "sentence")  # in tables of runs these may be settings: they are items only if named by --item


@dataclass(frozen=True, slots=True, eq=False)
class ItemRuns:
    """Runs that were computed from scores of items."""

    runs: Runs  # columns system, task, run, score
    metric: str
    notes: tuple[str, ...]


def open_item_runs(source: Any, *, partial: bool = False, **columns: Unpack[ItemColumns]) -> ItemTable | Runs:
    """What `seeds` is asked about: scores of items, or a table with one row per run."""
    if isinstance(source, ItemTable | Runs):
        return source
    if isinstance(source, str | os.PathLike) and holds_logs(os.fspath(source)):
        return open_items(source, partial=partial, **columns)
    table = read_table(source)
    return open_items(table, **columns) if _has_items(table, columns) else as_runs(table)


def _has_items(table: Table, columns: ItemColumns) -> bool:
    """Whether rows are about items: the column is named, or has every item in several rows, of several systems."""
    if columns.get("item"):
        return True
    column = named(table, [name for name in ITEM_NAMES if name not in SETTINGS])
    if not column or not has_items(table, columns) or is_battles(table):
        return False
    items, system = table.frame[column].n_unique(), named(table, NAMES["system"])
    is_shared = not system or table.frame.select(column, system).n_unique() > items
    return plain_name(column).startswith("item") or (2 * items <= table.frame.height and is_shared)


def runs_of_items(table: ItemTable, metric: str = "", *, by_task: bool = False) -> ItemRuns:
    """The score of every run over the items that all runs of all systems have; tasks are averaged, or kept apart."""
    counted = count_items(replace(table, repeats=RUNS), metric=metric, unit=ITEM)
    if counted.metric.lower_is_better:
        problem = f"lower {counted.metric.name} is better"
        raise InputError(f"{table.source}: {problem}; expected a metric of which higher scores are better")
    rows = _by_task(counted) if by_task else _over_tasks(table.source, counted)
    frame = pl.DataFrame(rows, schema=["task", "system", "run", "score"], orient="row")
    if frame.group_by("task", "system").len()["len"].max() == 1:
        several = not by_task and any(len(runs) > 1 for item in counted.datasets for runs in item.counts.values())
        expected = "expected several: a column run, seed or epoch, or several logs"
        expected = f"some systems have several on single tasks (--by {TASK})" if several else expected
        raise InputError(f"{table.source}: one run of every system; {expected}")
    notes = tuple(dict.fromkeys([*table.notes, *without_options(counted.notes, "unit", "errors")]))
    return ItemRuns(Runs(table.source, frame, np.empty(0, np.int64)), counted.metric.name, notes)


def _by_task(counted: CountedItems) -> list[tuple[str, str, str, float]]:
    value = counted.metric.aggregate.value
    return [
        (dataset.name, system, str(run), score)
        for dataset in counted.datasets
        for system, counts_RNF in dataset.counts.items()
        for run, score in enumerate(value(counts_RNF.sum(axis=1)).tolist(), start=1)
    ]


def _over_tasks(source: str, counted: CountedItems) -> list[tuple[str, str, str, float]]:
    """The mean over the tasks that all systems have."""
    systems = list(dict.fromkeys(system for dataset in counted.datasets for system in dataset.counts))
    shared = [dataset for dataset in counted.datasets if len(dataset.counts) == len(systems)]
    if not shared:
        raise InputError(f"{source}: no task with scores of all systems; expected one, or --by {TASK}")
    rows = []
    for system in systems:
        numbers = {dataset.name: len(dataset.counts[system]) for dataset in shared}
        if len(set(numbers.values())) > 1:
            listed = join_names([f"{number} on {name}" for name, number in numbers.items()], 3)
            raise InputError(f"{source}: runs of {system} differ between tasks ({listed}); expected --by {TASK}")
        scores_TR = [counted.metric.aggregate.value(dataset.counts[system].sum(axis=1)) for dataset in shared]
        rows += [("", system, str(run), score) for run, score in enumerate(np.mean(scores_TR, axis=0).tolist(), 1)]
    return rows
