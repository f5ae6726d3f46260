"""How good each system is by its scores on single items, with confidence intervals."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from deadheat.errors import InputError
from deadheat.items.labels import LabelColumns
from deadheat.items.predictions import open_predictions
from deadheat.items.table import ItemTable
from deadheat.metrics import Metric
from deadheat.metrics.metric import Values
from deadheat.questions import inputs
from deadheat.questions.item_counts import CountedItems, count_items, select_metric
from deadheat.questions.item_ledger import record_items
from deadheat.questions.score import Group, IntervalSettings, group_scores, score_of
from deadheat.results.score import Score, Scores, ScoreSettings
from deadheat.stats.estimates import RunScores
from deadheat.study.ledger.ledger import LedgerEntry


@dataclass(frozen=True, slots=True)
class ItemScoring:
    """How items are scored, and where the evaluation of a test set is recorded."""

    unit: str
    errors: str
    intervals: IntervalSettings
    ledger_entry: LedgerEntry | None = None


def score_predictions(
    gold: Any,
    files: Sequence[Any],
    columns: LabelColumns,
    metrics: Sequence[str],
    options: ItemScoring,
) -> Scores:
    """Score predictions about items; without their files, they are columns of those of gold."""
    sources = files or inputs.sources_of(gold)
    systems = {
        os.fspath(file) if isinstance(file, str | os.PathLike) else f"{at}": file for at, file in enumerate(sources, 1)
    }
    table = open_predictions(gold if files else None, systems, **columns)
    return score_items(table, metrics, options)


def score_items(table: ItemTable, metrics: Sequence[str], options: ItemScoring) -> Scores:
    """Score every system on the items that it has, by all metrics of the table or those that are named."""
    names = [select_metric(table, name)[0].name for name in metrics] or table.metric_names
    intervals = options.intervals
    rows, notes, units = list[Score](), [*table.notes], list[str]()
    for system in table.systems:
        of_system = table.only(system=[system])
        for name in names:
            counted = count_items(of_system, metric=name, unit=options.unit, unscored=options.errors)
            rows.append(_score(system, counted, intervals))
            notes += counted.notes
            units.append(counted.unit)
    items = table.frame["item"].n_unique()
    sampling = ("", units[0], intervals.method, intervals.level, intervals.resamples, intervals.seed)
    settings = ScoreSettings(tuple(names), 0, 0, *sampling, items=items)
    result = Scores(tuple(rows), settings)
    recorded = record_items(options.ledger_entry, table, names, result.signature)
    return replace(result, notes=tuple(dict.fromkeys([*recorded.notes, *notes])), evaluations=recorded.tallies)


def _score(system: str, counted: CountedItems, intervals: IntervalSettings) -> Score:
    (dataset,), metric = counted.datasets, counted.metric
    counts_RNF = np.asarray(dataset.counts[system], float)
    if len(counts_RNF) > 1:
        raise InputError(f"{system}: {len(counts_RNF)} runs; expected one prediction")

    def no_counts(pair: object) -> NoReturn:
        raise NotImplementedError("items are counted already")

    measure = Metric(metric.name, metric.name, no_counts, metric.aggregate.value, metric.aggregate.fields)
    if metric.aggregate.signed and intervals.method != "bootstrap":
        estimate = RunScores.of(counts_RNF, measure.value).estimate().estimate
        return score_of(system, measure, _whole(counts_RNF[0].sum(axis=0)), estimate.interval(intervals.level))
    counts_NF = _whole(counts_RNF[0])
    row = group_scores(system, [Group("", measure, counts_NF)], intervals)[0]
    is_whole = counts_NF.dtype.kind == "i"  # otherwise nothing is just right or wrong
    return row if is_whole else replace(row, correct=0, gold=0, predicted=0, precision=math.nan, recall=math.nan)


def _whole(counts: Values) -> Any:
    """Counts as integers, if they are whole numbers."""
    whole = np.round(counts).astype(np.int64)
    return whole if np.array_equal(whole, counts) else counts
