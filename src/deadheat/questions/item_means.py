"""Item tables as tables of scores: the score of every system on every task."""

from __future__ import annotations

import os
from typing import Any, Unpack

import numpy as np

from deadheat.errors import InputError
from deadheat.items.columns import has_items, is_battles
from deadheat.items.logs.mteb import is_mteb, read_mteb
from deadheat.items.logs.read import is_log
from deadheat.items.options import ItemColumns
from deadheat.items.sources import holds_logs, open_items
from deadheat.items.table import ItemTable
from deadheat.metrics import METRICS
from deadheat.questions.item_counts import ITEM, count_items, without_options
from deadheat.tables.frames import is_frame
from deadheat.tables.matrix import ScoreTable, complete
from deadheat.tables.table import Table, read_table


def open_source(source: Any, *, partial: bool = False, **columns: Unpack[ItemColumns]) -> Any:
    """What a source holds: scores of items, scores of tasks (MTEB), or else a table; other sources as they are."""
    if isinstance(source, str | os.PathLike) and os.path.exists(source):
        path = os.fspath(source)
        if not is_log(path) and is_mteb(path):
            return read_mteb([path])
        if holds_logs(path):
            return open_items(path, partial=partial, **columns)
    if isinstance(source, str | os.PathLike) or (is_frame(source) and not (isinstance(source, dict) and not source)):
        source = read_table(source)
    is_items = isinstance(source, Table) and has_items(source, columns) and not is_battles(source)
    return open_items(source, partial=partial, **columns) if is_items else source


def mean_scores(table: ItemTable, metric: str = "", *, missing: str = "refuse") -> tuple[ScoreTable, list[str]]:
    """The score of every system on every task, and notes on them; several runs are averaged."""
    counted = count_items(table, metric=metric, unit=ITEM)
    if counted.metric.lower_is_better:
        raise InputError(f"{table.source}: lower {counted.metric.name} is better; expected a metric to rank by")
    systems = list(dict.fromkeys(system for dataset in counted.datasets for system in dataset.counts))
    scores_SD = np.full((len(systems), len(counted.datasets)), np.nan)
    for column, dataset in enumerate(counted.datasets):
        for system, counts_RNF in dataset.counts.items():
            scores_SD[systems.index(system), column] = counted.metric.aggregate.value(counts_RNF.sum(axis=1)).mean()
    names = [dataset.name for dataset in counted.datasets]
    label = counted.metric.name
    label = f"mean {label}" if label in {name.partition(".v")[0] for name in METRICS} else label  # not that of tags
    scores = complete(f"{table.source}: ", label, systems, names, scores_SD, missing)
    return scores, list(dict.fromkeys([*table.notes, *without_options(counted.notes, "unit", "errors")]))
