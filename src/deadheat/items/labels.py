"""Gold labels of items and predicted ones, from tables: accuracy, F1 and the correlation as statistics of items."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypedDict, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from deadheat.errors import InputError
from deadheat.items.aggregates import F1, Aggregate
from deadheat.items.columns import NAMES, named
from deadheat.items.detection import GOLD_NAMES, ITEM_NAMES, PREDICTED_NAMES
from deadheat.items.options import RUNS
from deadheat.items.squad import LEAST
from deadheat.items.table import ItemMetric, ItemTable, encode, item_table
from deadheat.metrics.metric import FIELDS, Sums, Values, ratio
from deadheat.tables.frames import is_frame
from deadheat.tables.table import Table, read_table
from deadheat.text import join_names, pluralize

Source: TypeAlias = str | os.PathLike[str] | Any  # a file, or a DataFrame
LARGEST = 30_000_000  # numbers of one system, for metrics that need three of every label and item


class LabelColumns(TypedDict, total=False):
    """The columns of tables of labels, where their names do not tell."""

    item: str
    gold_column: str
    predicted: Sequence[str]
    cluster: str


def read_labels(
    gold: Source | None, predictions: Mapping[str, Source | Sequence[Source]], **columns: Unpack[LabelColumns]
) -> ItemTable:
    """Items with gold labels and the predictions of systems, each of one run or several; None is gold beside them.

    Items without a prediction have no score. All predictions have the same gold labels.
    """
    chosen, name = list(columns.get("predicted", ())), columns.get("item", "")
    sources = [
        (system, str(run), source)
        for system, runs in predictions.items()
        for run, source in enumerate(runs if isinstance(runs, list | tuple) and not is_frame(runs) else [runs], start=1)
    ]
    first = read_table(sources[0][2] if gold is None else gold)
    truth = _gold(first, columns)
    frames = []
    for system, run, source in sources:
        table = first if source is (sources[0][2] if gold is None else gold) else read_table(source)
        if gold is None and table is not first:
            _check_gold(table, _gold(table, columns), first.path, truth)
        items = _items(table, name, truth["item"], first.path)
        for column in chosen or [_predicted(table, items.name)]:
            column = _column(table, column)
            title = system if len(chosen) < 2 else column if len(sources) == 1 else f"{system} {column}"
            guesses = pl.DataFrame({"item": items, "predicted": table.texts(column)})
            frames.append(
                _joined(table, guesses, truth, first.path).with_columns(system=pl.lit(title), repeat=pl.lit(run))
            )
    scored = _item_table(first.path, pl.concat(frames), columns.get("cluster") or named(first, NAMES["cluster"]))
    return replace(scored, hashes=_contents(truth), paths=(first.path,))


def read_gold(source: Source, **columns: Unpack[LabelColumns]) -> ItemTable:
    """The items of a table of gold labels, without any scores."""
    table = read_table(source)
    truth = _gold(table, columns)
    frame = truth.select("item", system=pl.lit(""), score=pl.lit(None, pl.Float64))
    return item_table(table.path, frame, hashes=_contents(truth), paths=(table.path,))


def _contents(truth: pl.DataFrame) -> pl.DataFrame:
    """Gold labels as the content of items."""
    return truth.select(task=pl.lit(""), item="item", name=pl.lit(""), hash="gold")


def _column(table: Table, wanted: str) -> str:
    """A column by its name, or by its number from 1, or from -1 for the last."""
    names = table.frame.columns
    if wanted.removeprefix("-").isdecimal() and wanted not in names and 1 <= abs(int(wanted[:9])) <= len(names):
        return names[int(wanted) - (int(wanted) > 0)]
    return table.column(wanted)


def _gold(table: Table, columns: LabelColumns) -> pl.DataFrame:
    """The items of a table with their gold labels, and what they belong to."""
    wanted = columns.get("gold_column", "")
    gold = _column(table, wanted) if wanted else named(table, GOLD_NAMES)
    if not gold:
        listed = ", ".join(table.frame.columns)
        raise InputError(f"{table.path}: no column of gold labels among {listed}; expected --gold to name it")
    cluster = columns.get("cluster", "")
    cluster = table.column(cluster) if cluster else named(table, NAMES["cluster"])
    frame = pl.DataFrame(
        {"item": _items(table, columns.get("item", "")).rename("item"), "gold": table.names(gold, "gold label")}
    )
    return frame.with_columns(table.texts(cluster).alias("cluster")) if cluster else frame


def _items(table: Table, name: str, known: pl.Series | None = None, gold: str = "") -> pl.Series:
    """The items of a table, each once, and all of them among the known ones."""
    column = table.column(name) if name else named(table, ITEM_NAMES)
    if not column:
        listed = ", ".join(table.frame.columns)
        raise InputError(f"{table.path}: no column of items among {listed}; expected --item to name it")
    items = table.names(column, "item")
    if items.n_unique() < len(items):
        row = int((~items.is_first_distinct()).arg_true()[0])
        before = table.location(int((items == items[row]).arg_true()[0])).rpartition(":")[2].strip()
        where = f"line {before}" if len(table.lines) else before
        raise InputError(f"{table.location(row)}: item {items[row]} is also in {where}; expected every item once")
    if known is not None:
        others = (~items.is_in(known.implode())).arg_true()
        if len(others):
            row = int(others[0])
            raise InputError(f"{table.location(row)}: item {items[row]} is not in {gold}; expected only its items")
    return items


def _predicted(table: Table, item: str) -> str:
    """The column of predictions: by its name, or the only one beside the items."""
    others = [name for name in table.frame.columns if name != item]
    column = named(table, PREDICTED_NAMES) or (others[0] if len(others) == 1 else "")
    if not column:
        listed = ", ".join(table.frame.columns)
        raise InputError(f"{table.path}: no column of predictions among {listed}; expected --predicted to name it")
    return column


def _check_gold(table: Table, other: pl.DataFrame, path: str, truth: pl.DataFrame) -> None:
    """Raise unless the gold labels of a file are those of the first."""
    pairs = other.select("item", other="gold").join(truth, on="item", how="left", maintain_order="left")
    wrong = (pairs["other"] != pairs["gold"]).fill_null(value=False).arg_true()
    if len(wrong):
        row = int(wrong[0])
        _, found, expected = pairs.select("item", "other", "gold").row(row)
        problem = f"gold label {found!r} of item {pairs['item'][row]}"
        raise InputError(f"{table.location(row)}: {problem}; expected {expected!r} as in {path}")


def _joined(table: Table, guesses: pl.DataFrame, truth: pl.DataFrame, path: str) -> pl.DataFrame:
    frame = truth.join(guesses, on="item", how="left", maintain_order="left")
    number = frame.height - frame["predicted"].null_count()
    if number < LEAST * truth.height:
        problem = f"predictions for {pluralize(number, 'item')} of {truth.height:,} in {path}"
        raise InputError(f"{table.path}: {problem}; expected at least half")
    labels, known = (sorted(set(frame[name].drop_nulls())) for name in ("predicted", "gold"))
    if not set(labels) & set(known):
        problem = f"labels {join_names(labels, 3)}, but {join_names(known, 3)} in {path}"
        raise InputError(f"{table.path}: {problem}; expected the same labels")
    return frame


def _item_table(source: str, frame: pl.DataFrame, cluster: str) -> ItemTable:
    """One row per item, run, system and metric; in `strict`, items without a prediction count as wrong."""
    codes, labels = encode(pl.concat([frame["gold"], frame["predicted"].drop_nulls()]))
    gold_N, missing = codes[: frame.height], frame["predicted"].is_null().to_numpy()
    predicted_N = np.full(frame.height, -1)
    predicted_N[~missing] = codes[frame.height :]
    right_N = gold_N == predicted_N
    base = frame.drop("gold", "predicted")
    scores = pl.Series("score", np.where(missing, np.nan, right_N)).fill_nan(None)
    simple_NF = np.stack([right_N, np.ones(len(missing)), ~missing], axis=1).astype(float)
    statistics, notes = {"Micro-F1": (F1, simple_NF)}, []
    if frame.height * 3 * len(labels) <= LARGEST:
        one_hot = np.eye(len(labels) + 1)[:, :-1]  # the last row is of no prediction
        by_label = [one_hot[np.where(right_N, gold_N, -1)], one_hot[gold_N], one_hot[predicted_N]]
        counts_NF = np.hstack([simple_NF[:, :2], simple_NF[:, 1:2], *by_label])
        fields = (*FIELDS, *(f"{what} {label}" for what in FIELDS for label in labels))
        macro, mcc = Aggregate("macro-f1", fields, macro_f1), Aggregate("mcc", fields, correlation, signed=True)
        statistics = {"Macro-F1": (macro, counts_NF), **statistics, "MCC": (mcc, counts_NF)}
    else:
        size = f"{len(labels):,} labels and {frame.height:,} predictions"
        notes.append(f"{source}: macro-F1 and MCC are left out for {size}")
    parts = [base.with_columns(scores, metric=pl.lit("Accuracy"))]
    parts += [_counted(base, name, counts_NF, missing) for name, (_, counts_NF) in statistics.items()]
    metrics = {name: ItemMetric(name, aggregate=aggregate) for name, (aggregate, _) in statistics.items()}
    table = item_table(source, pl.concat(parts, how="diagonal"), metrics=metrics, repeats=RUNS, cluster=cluster)
    return table.with_notes(*notes)


def _counted(base: pl.DataFrame, metric: str, counts_NF: Values, missing: NDArray[np.bool_]) -> pl.DataFrame:
    strict = pl.Series("strict", counts_NF).arr.to_list()
    counts = pl.when(pl.Series(~missing)).then(strict).alias("counts")
    return base.with_columns(counts, strict, metric=pl.lit(metric), score=pl.lit(None, dtype=pl.Float64))


def _by_label(sums: Sums) -> tuple[Values, Values, Values]:
    """Of every label: how often it is right, in gold, and predicted."""
    labels = (sums.shape[-1] - len(FIELDS)) // len(FIELDS)
    parts = (np.asarray(sums[..., 3 + i * labels : 3 + (i + 1) * labels], float) for i in range(3))
    right, gold, predicted = parts
    return right, gold, predicted


def macro_f1(sums: Sums) -> Values:
    """The mean F1 of the labels that occur in gold or in the prediction."""
    right, gold, predicted = _by_label(sums)
    scores = ratio(2 * right, gold + predicted, empty=0.0).sum(axis=-1)
    return ratio(scores, np.count_nonzero(gold + predicted, axis=-1), empty=np.nan)


def correlation(sums: Sums) -> Values:
    """The correlation of gold and predicted labels R_K (Gorodkin 2004), Matthews' of two; 0 without variation."""
    _, gold, predicted = _by_label(sums)
    right, items = np.asarray(sums[..., 0], float), np.asarray(sums[..., 1], float)
    none = items - predicted.sum(axis=-1)
    covariance = right * items - (gold * predicted).sum(axis=-1)
    variances = (items**2 - (predicted**2).sum(axis=-1) - none**2) * (items**2 - (gold**2).sum(axis=-1))
    return ratio(covariance, np.sqrt(np.maximum(variances, 0)), empty=0.0)
