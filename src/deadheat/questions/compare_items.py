"""Which differences between systems are real, on scores of single items: tables, DataFrames, logs of evaluations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, NoReturn, TypeAlias

import numpy as np

from deadheat.arguments import Argument
from deadheat.errors import InputError
from deadheat.items.columns import ItemColumns
from deadheat.items.predictions import open_predictions
from deadheat.items.sources import ItemSource, open_items
from deadheat.items.table import ATTEMPTS, RUNS, ItemMetric, ItemTable
from deadheat.metrics import Metric
from deadheat.metrics.metric import Counts, Sums, Values
from deadheat.questions import inputs
from deadheat.questions.compare import TestName, check_number, compare_counts
from deadheat.questions.designs import Prediction
from deadheat.questions.item_counts import AUTO, CountedItems, count_items
from deadheat.questions.joint import CountedDataset
from deadheat.results.compare import Comparison, DatasetScores, PairwiseSettings, RunSummary
from deadheat.results.format import Scale
from deadheat.results.score import Score
from deadheat.stats.intervals import Interval
from deadheat.text import pluralize

Repeats: TypeAlias = Annotated[
    str,
    Argument("what repeats are: systems trained again, or attempts at the same item", choices=("auto", RUNS, ATTEMPTS)),
]
PassAt: TypeAlias = Annotated[int, Argument("compare the chance that one of K attempts is right", metavar="K")]


def compare_items(  # noqa: PLR0913 (the options of the command)
    items: ItemSource,
    *,
    metric: inputs.MetricName = "",
    unit: inputs.AnyUnit = AUTO,
    errors: inputs.Errors = inputs.OMIT,
    repeats: Repeats = "auto",
    pass_at: PassAt = 0,
    test: TestName = "",
    correction: inputs.Correction = "holm",
    alpha: inputs.Alpha = 0.05,
    margin: inputs.Margin = None,
    reference: inputs.Reference = "",
    resamples: inputs.Resamples = 10_000,
    seed: inputs.Seed = 0,
    item: inputs.ItemColumn = "",
    system: inputs.SystemColumn = "",
    score: inputs.ScoreColumn = "",
    run: inputs.RunColumn = "",
    task: inputs.DatasetOption = "",
    cluster: inputs.ClusterColumn = "",
) -> Comparison:
    """Compare systems by their scores on the same items, of one task or several.

    Parameters
    ----------
    items
        A table with a row for every item and system, or a row for every item and a column for every system: a file, a
        DataFrame, rows, or columns. Or logs of evaluations: files and folders, perhaps by the names of their systems.
    metric
        One of the metrics of the table, by default the first.
    unit
        `item`; or the column that says what items belong together, such as `passage`, which is taken where it is
        declared.
    errors
        Items without a score are left out of all systems (`omit`) or count as wrong (`zero`).
    repeats
        Whether repeated scores of an item are `runs`, of a system that was trained again, or `attempts` of the same
        one. By default columns called `run` or `seed` are runs.
    pass_at
        Compare the chance that one of so many attempts is right, instead of their mean.
    test, correction, alpha, margin, reference, resamples, seed
        As in `deadheat.compare`.
    item, system, score, run, task, cluster
        The columns of a table, where their names do not tell.

    Examples
    --------
    >>> rows = [{"item": i, "model": name, "correct": int(i % 5 < right)} for i in range(60)
    ...         for name, right in {"large": 4, "small": 2}.items()]
    >>> compare_items(rows)  # doctest: +NORMALIZE_WHITESPACE
    <Comparison: large is better than small by 40.00 points of correct (95% CI [+27.24, +52.76], p = 5.1e-08).>
    """
    settings = PairwiseSettings(test, correction, alpha, resamples, seed, margin)
    columns: ItemColumns = {
        "item": item,
        "system": system,
        "score": score,
        "run": run,
        "task": task,
        "cluster": cluster,
    }
    table = open_items(items, **columns)
    if repeats != "auto":
        table = replace(table, repeats=repeats)
    check_number(len(table.systems))
    counted = count_items(table, metric=metric, unit=unit, unscored=errors, pass_at=pass_at)
    comparison = _compare(counted, settings, reference, pass_at)
    notes = [*table.notes, *counted.notes]
    if counted.unscored and errors == inputs.OMIT and not counted.metric.lower_is_better:
        notes += _if_wrong(table, comparison, settings, reference, metric=metric, unit=unit, pass_at=pass_at)
    return replace(comparison, notes=tuple(dict.fromkeys(notes)))


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


def _compare(counted: CountedItems, settings: PairwiseSettings, reference: str, pass_at: int) -> Comparison:
    """Compare by counts; where lower scores are better, by scores that are turned round, and turn the result back."""
    metric = counted.metric
    datasets: Sequence[CountedDataset] = counted.datasets
    scale = scale_of(counted)
    turn = _Turn(1.0 if scale.is_percent else 0.0) if metric.lower_is_better else None
    label = f"pass@{pass_at}" if pass_at else metric.name
    measure = _measure(label, metric, turn)
    if settings.test:
        datasets = _as_integers(datasets)
        if turn and scale.is_percent:  # right items are counted, not wrong ones
            datasets, measure = list(map(_right_for_wrong, datasets)), _measure(label, metric, None)
    comparison = compare_counts(
        datasets, measure, settings, reference=reference, scale=scale, shared_runs=counted.shared_runs
    )
    comparison = replace(comparison, systems=tuple(map(_without_counts, comparison.systems)))
    return turn.comparison(comparison) if turn else comparison


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


def _if_wrong(
    table: ItemTable, result: Comparison, settings: PairwiseSettings, reference: str, **chosen: Any
) -> list[str]:
    """A note where the verdict on a pair would be another if items without a score counted as wrong."""
    try:
        other = _compare(count_items(table, unscored=inputs.ZERO, **chosen), settings, reference, chosen["pass_at"])
    except InputError:  # no mean
        return []
    alpha, notes = settings.alpha, []
    for pair, again in zip(result.pairs, other.pairs, strict=True):
        winners = pair.winner(alpha), again.winner(alpha)
        if winners[0] != winners[1]:
            now, then = (f"{winner} is better" if winner else "they are not told apart" for winner in winners)
            notes.append(
                f"{pair.a} and {pair.b}: {now} without the items that have no score, but {then} if these count as "
                "wrong (--errors zero)"
            )
    return notes
