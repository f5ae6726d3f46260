"""How many items are enough to rank systems: rankings on samples of the items of every task."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, NoReturn, Unpack

import numpy as np

from deadheat.errors import InputError
from deadheat.items.options import ItemColumns, ItemSource
from deadheat.items.sources import open_items
from deadheat.items.table import ItemMetric
from deadheat.metrics import Metric
from deadheat.questions import inputs
from deadheat.questions.item_counts import ITEM, count_items, without_options
from deadheat.questions.item_ledger import record_items
from deadheat.questions.joint import CountedDataset
from deadheat.questions.size import study_test_sets
from deadheat.ranking.size_samples import ITEM_SIZES, CountedSet, SizeSettings
from deadheat.results.rank import SizeStudy
from deadheat.study.ledger.ledger import LedgerEntry


def size_items(
    items: ItemSource,
    *,
    metric: inputs.MetricName = "",
    settings: SizeSettings | None = None,
    errors: inputs.Errors = inputs.OMIT,
    ledger_entry: LedgerEntry | None = None,
    partial: inputs.Partial = False,
    **columns: Unpack[ItemColumns],
) -> SizeStudy:
    """How many items of a benchmark rank the systems as all of its items do.

    Parameters
    ----------
    items, metric, errors, partial, columns
        As in `deadheat.compare_items`. Every task is a test set of its own; attempts at an item are averaged.
    settings, ledger_entry
        As in `deadheat.size`, with sizes in items.

    Examples
    --------
    >>> rows = [{"item": i, "model": name, "correct": int(i % 10 < right)} for i in range(200)
    ...         for name, right in {"large": 9, "small": 3}.items()]
    >>> study = size_items(rows, settings=SizeSettings(sizes=(5, 20, 50), strategies=("rand",)))
    >>> study.sets[0].curves[0].sufficient
    5
    """
    table = open_items(items, partial=partial, **columns)
    counted = count_items(table, metric=metric, unit=ITEM, unscored=errors)
    if counted.metric.lower_is_better:
        problem = f"lower {counted.metric.name} is better"
        raise InputError(f"{table.source}: {problem}; expected a metric of which higher scores are better")
    measure = _measure(counted.metric)
    sets = [_counted_set(dataset, measure, table.source) for dataset in counted.datasets]
    study = study_test_sets(sets, settings or SizeSettings(ITEM_SIZES))
    recorded = record_items(ledger_entry, table, [counted.metric.name], study.signature)
    notes = tuple(dict.fromkeys([*recorded.notes, *table.notes, *without_options(counted.notes, "unit"), *study.notes]))
    return replace(study, notes=notes, evaluations=recorded.tallies)


def _counted_set(dataset: CountedDataset, measure: Metric, source: str) -> CountedSet:
    systems = tuple(system for system, counts_RNF in dataset.counts.items() for _ in counts_RNF)
    counts_RNF = np.concatenate([np.asarray(counts, float) for counts in dataset.counts.values()])
    whole = np.round(counts_RNF).astype(np.int64)
    counts: Any = whole if np.array_equal(whole, counts_RNF) else counts_RNF
    name = dataset.name or os.path.basename(source)
    return CountedSet(name, systems, np.ones(dataset.units, np.int64), counts, measure, ITEM)


def _measure(metric: ItemMetric) -> Metric:
    def no_counts(pair: object) -> NoReturn:
        raise NotImplementedError("items are counted already")

    return Metric(metric.name, metric.name, no_counts, metric.aggregate.value, metric.aggregate.fields)
