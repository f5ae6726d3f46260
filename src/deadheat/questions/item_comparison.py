"""The comparison of the systems of an item table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from deadheat.errors import InputError
from deadheat.items.predictions import open_predictions
from deadheat.items.table import ItemMetric, ItemTable
from deadheat.metrics import Metric
from deadheat.metrics.metric import Counts, Sums, Values
from deadheat.questions import inputs
from deadheat.questions.compare import check_number, compare_counts
from deadheat.questions.compare_items import compare_items
from deadheat.questions.designs import Prediction
from deadheat.questions.item_counts import CountedItems, count_items
from deadheat.questions.joint import CountedDataset
from deadheat.questions.shared_tasks import check_shared_tasks
from deadheat.results.compare import Comparison, DatasetScores, PairwiseSettings, RunSummary
from deadheat.results.format import Scale
from deadheat.results.score import Score
from deadheat.stats.intervals import Interval
from deadheat.stats.paired import CLUSTERED_T
from deadheat.text import pluralize


def compare_predictions(predictions: Sequence[Prediction], columns: Mapping[str, Any], **options: Any) -> Comparison:
    """Compare predictions of labels or answers; the options are those of `compare_items`."""
    datasets = list(dict.fromkeys(prediction.dataset for prediction in predictions))
    if len(datasets) > 1:
        raise InputError(f"labels of items in {pluralize(len(datasets), 'data set')}; expected one data set")
    systems: dict[str, list[Any]] = {}
    for prediction in predictions:
        systems.setdefault(prediction.system, []).append(prediction.predicted)
    gold = predictions[0].gold
    table = open_predictions(None if isinstance(gold, str) and not gold else gold, systems, **columns)
    return compare_items(table, **options)


BY_ITEM = ("mean", "f1")  # aggregates of which a test of single items says something
WHOLE_TESTS = ("bootstrap", "randomization", CLUSTERED_T)


@dataclass(frozen=True, slots=True)
class ItemSettings:
    """What is compared on a table of items."""

    metric: str
    unit: str
    errors: str
    repeats: str
    pass_at: int


def compare_table(
    table: ItemTable, settings: PairwiseSettings, chosen: ItemSettings, *, reference: str = ""
) -> Comparison:
    """Compare all systems of a table."""
    if chosen.repeats != "auto":
        table = replace(table, repeats=chosen.repeats)
    check_number(len(table.systems), f"{table.source}: ")
    options: dict[str, Any] = {"metric": chosen.metric, "unit": chosen.unit, "pass_at": chosen.pass_at}
    counted = count_items(table, unscored=chosen.errors, **options)
    lacking = check_shared_tasks(table.source, counted.datasets)
    comparison = _compare(counted, settings, reference, chosen.pass_at)
    notes = [*table.notes, *counted.notes, *lacking]
    if counted.unscored and counted.zero_is_wrong:
        notes += _otherwise(table, comparison, settings, reference, chosen.errors, **options)
    return replace(comparison, notes=tuple(dict.fromkeys(notes)))


def _compare(counted: CountedItems, settings: PairwiseSettings, reference: str, pass_at: int) -> Comparison:
    """Compare by counts; where lower scores are better, by scores that are turned round, and turn the result back."""
    metric = counted.metric
    datasets: Sequence[CountedDataset] = counted.datasets
    scale = scale_of(counted)
    turn = _Turn(1.0 if scale.is_percent else 0.0) if metric.lower_is_better else None
    label = f"pass@{pass_at}" if pass_at else metric.name
    measure = _measure(label, metric, turn)
    if settings.test:
        _check_test(settings.test, metric)
        datasets = _as_integers(datasets)
        if turn and scale.is_percent:  # right items are counted, not wrong ones
            datasets, measure = list(map(_right_for_wrong, datasets)), _measure(label, metric, None)
    comparison = compare_counts(
        datasets, measure, settings, reference=reference, scale=scale, shared_runs=counted.shared_runs
    )
    comparison = replace(comparison, systems=tuple(map(_without_counts, comparison.systems)))
    return turn.comparison(comparison) if turn else comparison


def _check_test(test: str, metric: ItemMetric) -> None:
    """Refuse tests of single items for metrics that are no mean over items."""
    if metric.aggregate.name not in BY_ITEM and test not in WHOLE_TESTS:
        problem = f"{test} compares single items, and {metric.name} is no mean of their scores"
        raise InputError(f"{problem}; expected {' or '.join(WHOLE_TESTS)}, or no --test")


def _measure(label: str, metric: ItemMetric, turn: _Turn | None) -> Metric:
    def value(sums: Sums) -> Values:
        values = metric.aggregate.value(sums)
        return turn.top - values if turn else values

    def no_counts(pair: object) -> NoReturn:
        raise NotImplementedError("items are counted already")

    return Metric(label, label, no_counts, value, metric.aggregate.fields)


def scale_of(counted: CountedItems) -> Scale:
    """Percent where all scores of items are shares."""
    if counted.metric.aggregate.name == "mean":
        sums = [values[..., :2] for dataset in counted.datasets for values in dataset.counts.values()]
        scores = np.concatenate([(pair[..., 0] / pair[..., 1]).ravel() for pair in sums])
        return Scale.of([float(scores.min()), float(scores.max())])
    sums = [values.sum(axis=(0, 1)) for dataset in counted.datasets for values in dataset.counts.values()]
    return Scale.of([float(counted.metric.aggregate.value(total)) for total in sums])


def _right_for_wrong(dataset: CountedDataset) -> CountedDataset:
    """The same with what is missing to 1 in place of every score."""

    def turned(counts: Counts | Values) -> Counts | Values:
        return np.concatenate([counts[..., 1:2] - counts[..., :1], counts[..., 1:]], axis=-1)

    return replace(dataset, counts={name: turned(values) for name, values in dataset.counts.items()})


def _as_integers(datasets: Sequence[CountedDataset]) -> Sequence[CountedDataset]:
    """Counts as integers, which tests by name need: right or wrong as it is, other scores in small steps."""
    whole = []
    for dataset in datasets:
        counts = dataset.counts
        if any(np.any(values != np.round(values)) for values in counts.values()):
            raise InputError("a test by name needs scores that are whole numbers, such as 0 and 1; expected no --test")
        whole.append(
            replace(dataset, counts={name: np.round(values).astype(np.int64) for name, values in counts.items()})
        )
    return whole


def _without_counts(row: Score) -> Score:
    """A score of items has no words that are right."""
    return replace(row, correct=0, gold=0, predicted=0, precision=math.nan, recall=math.nan)


@dataclass(frozen=True, slots=True)
class _Turn:
    """Scores of which lower ones are better, subtracted from 0, or shares from 1, so that higher is better."""

    top: float

    def comparison(self, result: Comparison) -> Comparison:
        """The result with the scores as they were; differences say by how much a system is better."""
        systems = tuple(
            replace(row, value=self.top - row.value, interval=self._interval(row.interval)) for row in result.systems
        )
        datasets = tuple(self._dataset(dataset) for dataset in result.datasets)
        return replace(result, systems=systems, datasets=datasets, lower_is_better=True)

    def _interval(self, interval: Interval) -> Interval:
        return replace(interval, low=self.top - interval.high, high=self.top - interval.low)

    def _dataset(self, dataset: DatasetScores) -> DatasetScores:
        return replace(dataset, systems=tuple(map(self._runs, dataset.systems)))

    def _runs(self, runs: RunSummary) -> RunSummary:
        scores = tuple(self.top - score for score in runs.scores)
        return replace(runs, mean=self.top - runs.mean, interval=self._interval(runs.interval), scores=scores)


def _otherwise(
    table: ItemTable, result: Comparison, settings: PairwiseSettings, reference: str, errors: str, **chosen: Any
) -> list[str]:
    """A note where the verdict on a pair is another one if items without a score are treated the other way."""
    other_way = inputs.ZERO if errors == inputs.OMIT else inputs.OMIT
    try:
        other = _compare(count_items(table, unscored=other_way, **chosen), settings, reference, chosen["pass_at"])
    except InputError:  # no item with a score of every system
        return []
    alpha, notes = settings.alpha, []
    for pair, again in zip(result.pairs, other.pairs, strict=True):
        winners = pair.winner(alpha), again.winner(alpha)
        if winners[0] != winners[1]:
            now, then = (f"{winner} is better" if winner else "they are not told apart" for winner in winners)
            ways = "without the items that have no score", "if these count as wrong (--errors zero)"
            if errors == inputs.ZERO:
                ways = "with these items as wrong", "if they are left out (--errors omit)"
            notes.append(f"{pair.a} and {pair.b}: {now} {ways[0]}, but {then} {ways[1]}")
    return notes
