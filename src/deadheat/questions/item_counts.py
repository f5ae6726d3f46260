"""Item tables as counts: the same units for all systems, runs or attempts, items or clusters of items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.items.options import RUNS
from deadheat.items.table import ItemMetric, ItemTable, encode
from deadheat.metrics.metric import Values
from deadheat.questions.inputs import OMIT, ZERO
from deadheat.questions.joint import CountedDataset
from deadheat.stats.aggregates import pass_at_k
from deadheat.text import pluralize

ITEM, AUTO = "item", "auto"
FEW_CLUSTERS = 10
LEAST_SHARED = 0.5  # of the items of a task
SHOWN_METRICS = 8
MAIN_METRICS = "score by first metric"  # of every task, where tasks have different ones


@dataclass(frozen=True, slots=True, eq=False)
class CountedItems:
    """The tasks of a table as counts, by one metric, and what a reader should know about them."""

    metric: ItemMetric
    unit: str
    datasets: tuple[CountedDataset, ...]
    unscored: int  # answers to shared items that have no score: left out, or counted as wrong
    notes: tuple[str, ...]
    shared_runs: bool = False  # a run is one model on all tasks
    zero_is_wrong: bool = True  # items without a score can be counted as wrong


def count_items(
    table: ItemTable, *, metric: str = "", unit: str = AUTO, unscored: str = OMIT, pass_at: int = 0
) -> CountedItems:
    """Count every task of a table by one metric."""
    chosen, rows, notes = select_metric(table, metric)
    clusters = bool(rows["cluster"].null_count() < len(rows))
    unit = (table.cluster or "cluster" if clusters else ITEM) if unit == AUTO else unit
    if unit not in (ITEM, "cluster"):
        _, rows, _ = select_metric(table.clustered_by(unit), metric)
        if rows["cluster"].null_count() == len(rows):
            raise InputError(f"{table.source}: no {unit} of any item with {chosen.name}; expected --unit {ITEM}")
    elif unit == "cluster" and not clusters:
        raise InputError(f"{table.source}: no clusters of items; expected --unit to name a column of them")
    several = rows["task"].n_unique() > 1
    tasks = rows.partition_by("task", maintain_order=True, include_key=True) if several else [rows]
    counted = [_Task.of(task, table, chosen, unscored, pass_at).counted(unit) for task in tasks]
    datasets = tuple(dataset for dataset, _, _ in counted)
    notes += [note for _, _, more in counted for note in more]
    alone = [dataset.name for dataset in datasets if dataset.unit != unit]
    if alone:
        notes.append(f"tasks without {unit}, of which the items are the units: {_listed(alone)}")
    if unit == ITEM and table.fields:
        notes.append(f"items may belong together: {' or '.join(f'--unit {name}' for name in table.fields)}")
    separate = _separate_runs(rows) if several and table.repeats == RUNS else ""
    if separate:
        notes.append(f"runs differ between tasks, and are taken for separate models: {separate}")
    unscored_items = sum(number for _, number, _ in counted)
    shared_runs = table.repeats == RUNS and not separate
    zero_is_wrong = not _zero_problem(rows, chosen)
    return CountedItems(chosen, unit, datasets, unscored_items, tuple(notes), shared_runs, zero_is_wrong)


def without_options(notes: Sequence[str], *options: str) -> list[str]:
    """Notes for a question that does not have these options: without the notes, or the ends of notes, on them."""
    for option in options:
        notes = [note.partition(f"; --{option}")[0] for note in notes]
        notes = [note for note in notes if f"--{option} " not in note]
    return list(notes)


def _separate_runs(rows: pl.DataFrame) -> str:
    """The first system that does not have the same runs on all tasks; "" where all have."""
    runs = rows.group_by("system", "task", maintain_order=True).agg(pl.col("repeat").unique().sort().str.join("\n"))
    numbers = runs.group_by("system", maintain_order=True).agg(pl.col("repeat").n_unique())
    return next((system for system, number in numbers.iter_rows() if number > 1), "")


def select_metric(table: ItemTable, metric: str) -> tuple[ItemMetric, pl.DataFrame, list[str]]:
    """The metric that is asked for and its rows; else the first, or that of every task, and a note on the others."""
    names, frame = table.metric_names, table.frame
    metric = "" if metric == MAIN_METRICS else metric
    if len(names) == 1 and not metric:
        return table.metric(names[0]), frame, []
    if metric:
        name = _metric_named(table, metric)
        return table.metric(name), frame.filter(pl.col("metric") == name), []
    firsts = dict(frame.group_by("task", maintain_order=True).agg(pl.col("metric").first()).iter_rows())
    shares = {task: name for task, name in firsts.items() if _is_share(table, task, name)}
    others = f"--metric also takes {_listed([name for name in names if name != names[0]])}"
    if len(set(firsts.values())) == 1 or len(shares) < 2:
        return table.metric(names[0]), frame.filter(pl.col("metric") == names[0]), [f"metric {names[0]}; {others}"]
    kept = frame.filter(pl.col("metric") == pl.col("task").replace_strict(shares, default=None, return_dtype=pl.String))
    by_task = ", ".join(f"{name} on {task}" for task, name in list(shares.items())[:SHOWN_METRICS])
    notes = [f"the first metric of every task: {by_task}; --metric takes one of {_listed(names)}"]
    if len(shares) < len(firsts):
        left = _listed([f"{task} ({name})" for task, name in firsts.items() if task not in shares])
        notes.append(f"tasks left out because their first metric is no share: {left}")
    return ItemMetric(MAIN_METRICS), kept, notes


def _metric_named(table: ItemTable, metric: str) -> str:
    """The metric of this name, in any case, or the only one of this name with a filter, as `acc` for `acc,none`."""
    names, wanted = table.metric_names, metric.lower()
    filtered = [name for name in names if name.lower().partition(",")[0] == wanted]
    matches = [name for name in names if name == metric] or [name for name in names if name.lower() == wanted]
    if not matches and len(filtered) > 1:
        listed = _listed(filtered)
        raise InputError(f"{table.source}: metric {metric} with several filters; expected one of {listed}")
    if not (matches or filtered):
        raise NameUnknown(f"{table.source}: metric", metric, names)
    return (matches or filtered)[0]


def _is_share(table: ItemTable, task: str, metric: str) -> bool:
    """Whether scores by a metric are between 0 and 1 and higher is better, so that tasks can be averaged."""
    known = table.metric(metric)
    if known.lower_is_better or known.aggregate.name != "mean":
        return False
    scores = table.frame.filter((pl.col("task") == task) & (pl.col("metric") == metric))["score"].drop_nulls()
    return bool(len(scores)) and bool(((scores >= 0) & (scores <= 1)).all())


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:SHOWN_METRICS])}{', ...' * (len(names) > SHOWN_METRICS)}"


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """One task: statistics of every system, repeat and item; NaN where there is no score."""

    name: str
    where: str
    systems: Sequence[str]
    items: Sequence[str]
    statistics: dict[str, Values]  # by system: repeats, items, fields
    present_SI: NDArray[np.bool_]  # whether the system was asked this item at all
    clusters: pl.Series  # of the items
    is_fixed: bool  # repeats are attempts of the same system
    answers: _Unscored

    @classmethod
    def of(cls, rows: pl.DataFrame, table: ItemTable, metric: ItemMetric, unscored: str, pass_at: int) -> _Task:
        name = rows["task"][0]
        (system_N, systems), (item_N, items), (repeat_N, repeats) = (
            encode(rows[key]) for key in ("system", "item", "repeat")
        )
        repeat_N = np.argsort(np.argsort(repeats))[repeat_N]  # in the same order on all tasks
        shape = (len(systems), len(items), len(repeats))
        _refuse_repeated(
            rows, np.ravel_multi_index((system_N, item_N, repeat_N), shape), math.prod(shape), table.source
        )
        values_NF = _statistics(rows, metric)
        missing = np.zeros(shape, bool)
        missing[system_N, item_N, repeat_N] = np.isnan(values_NF[:, 0])
        problem = _zero_problem(rows, metric)
        if unscored == ZERO and problem:
            raise InputError(f"{table.source}: --errors zero with {metric.name}{problem}")
        if unscored == ZERO and _has_strict(rows):
            values_NF = _stacked(rows["strict"])
        elif unscored == ZERO:
            values_NF = np.nan_to_num(values_NF, nan=0.0)
        all_SIRF = np.full((*shape, values_NF.shape[1]), np.nan)
        all_SIRF[system_N, item_N, repeat_N] = values_NF
        asked = np.zeros(shape, bool)
        asked[system_N, item_N, repeat_N] = True
        statistics = {}
        for at, system in enumerate(systems):
            used = asked[at].any(axis=0)  # repeats of this system
            runs_RIF = all_SIRF[at][:, used].swapaxes(0, 1)
            if table.repeats != RUNS:
                runs_RIF = (_pass_rate(runs_RIF, pass_at) if pass_at else _mean_attempt(runs_RIF))[None]
            statistics[system] = _with_sizes(runs_RIF)
        if pass_at and table.repeats == RUNS:
            raise InputError(f"{table.source}: pass@{pass_at} of runs; expected attempts (--repeats attempts)")
        clusters = _clusters(rows["cluster"], item_N, items, table, name)
        where = f"{table.source}: {name}" if name else table.source
        present_SI = np.asarray(asked.any(axis=2))
        answers = _Unscored(missing, asked, unscored == ZERO, not problem)
        return cls(name, where, systems, items, statistics, present_SI, clusters, table.repeats != RUNS, answers)

    def counted(self, unit: str) -> tuple[CountedDataset, int, list[str]]:
        """The task as counts of its units, how many items were not scored, and notes."""
        shared = self._shared_items()
        scored_SI = np.array([np.isfinite(values[..., 0]).all(axis=0) for values in self.statistics.values()])
        kept = shared & scored_SI.all(axis=0)
        if not kept.any():
            raise InputError(f"{self.where}: no item with a score of every system; expected some")
        notes = self._notes_on(shared, scored_SI)
        counts = {system: values[:, kept] for system, values in self.statistics.items()}
        if self.clusters.null_count() == len(self.clusters):  # other tasks have the column
            unit = ITEM
        if unit != ITEM:
            counts, few = self._by_cluster(counts, kept, unit)
            notes += few
        unscored = int(np.count_nonzero(self.answers.missing_SIR[:, shared]))
        return CountedDataset(self.name, unit, counts, is_fixed=self.is_fixed), unscored, notes

    def _shared_items(self) -> NDArray[np.bool_]:
        """The items that all systems were asked; too few of them are refused."""
        shared: NDArray[np.bool_] = np.asarray(self.present_SI.all(axis=0))
        number, items = int(shared.sum()), len(shared)
        if number < LEAST_SHARED * items:
            numbers = [f"{name} {int(row.sum()):,}" for name, row in zip(self.systems, self.present_SI, strict=True)]
            listed = ", ".join(sorted(set(numbers))[:5])
            problem = f"{pluralize(number, 'item')} of {items:,} that all systems were asked ({listed})"
            raise InputError(f"{self.where}: {problem}; expected at least half")
        return shared

    def _notes_on(self, shared: NDArray[np.bool_], scored_SI: NDArray[np.bool_]) -> list[str]:
        where, notes = f"{self.name}: " if self.name else "", []
        if not shared.all():
            number = int(np.count_nonzero(~shared))
            notes.append(
                f"{where}{pluralize(number, 'item')} that not all systems were asked left out of {len(shared):,}"
            )
        return notes + [f"{where}{note}" for note in self.answers.notes(self.systems, shared, scored_SI)]

    def _by_cluster(
        self, counts: dict[str, Values], kept: NDArray[np.bool_], unit: str
    ) -> tuple[dict[str, Values], list[str]]:
        chosen = self.clusters.filter(pl.Series(kept))
        if chosen.null_count():
            item = self.items[int(np.flatnonzero(kept)[int(chosen.is_null().arg_true()[0])])]
            raise InputError(f"{self.where}: item {item} has no {unit}; expected one for every item")
        codes, names = encode(chosen)
        number = len(names)
        summed = {}
        for system, values_RIF in counts.items():
            sums = np.zeros((len(values_RIF), number, values_RIF.shape[2]))
            for run, values_IF in enumerate(values_RIF):
                np.add.at(sums[run], codes, values_IF)
            summed[system] = sums
        few = number < FEW_CLUSTERS
        where = f"{self.name}: " if self.name else ""
        note = f"{where}{pluralize(number, unit)} only, which show only large differences; --unit item asks about more"
        return summed, [f"{note} items of the same {unit}s, not about others"] if few else []


@dataclass(frozen=True, slots=True, eq=False)
class _Unscored:
    """Which answers have no score, and what becomes of them."""

    missing_SIR: NDArray[np.bool_]
    asked_SIR: NDArray[np.bool_]
    is_zero: bool  # they count as wrong
    can_be_zero: bool

    def notes(self, systems: Sequence[str], shared: NDArray[np.bool_], scored_SI: NDArray[np.bool_]) -> list[str]:
        """How many of each system: items without any score, and attempts at items that have others."""
        items_SI = shared & (self.missing_SIR.sum(axis=2) == self.asked_SIR.sum(axis=2)) & self.asked_SIR.any(axis=2)
        items_SI |= shared & ~scored_SI
        attempts_SIR = self.missing_SIR & (shared & ~items_SI)[..., None]
        outcomes = ("left out of all systems", "left out")
        if self.is_zero:
            outcomes = ("count as wrong", "count as wrong")
        hint = "; --errors zero counts them as wrong" * (self.can_be_zero and not self.is_zero)
        notes = []
        numbers = (("items", items_SI.sum(axis=1)), ("attempts", attempts_SIR.sum(axis=(1, 2))))
        for (what, number_S), outcome in zip(numbers, outcomes, strict=True):
            listed = [
                f"{number:,} of {name}" for name, number in zip(systems, number_S.tolist(), strict=True) if number
            ]
            if listed:
                notes.append(f"{what} without a score {outcome}: {', '.join(listed)}{hint}")
        return notes


def _zero_problem(rows: pl.DataFrame, metric: ItemMetric) -> str:
    """Why items without a score cannot be counted as wrong; "" if they can."""
    if _has_strict(rows):
        return ""
    if metric.lower_is_better or metric.aggregate.name != "mean":
        return "; expected a mean for which higher is better"
    lowest = rows["score"].min()
    if isinstance(lowest, float) and lowest < 0:
        return f", which goes down to {lowest:g}; expected scores of which 0 is the lowest"
    return ""


def _has_strict(rows: pl.DataFrame) -> bool:
    """Whether there are statistics that count items without a score as wrong."""
    return "strict" in rows.columns and rows["strict"].null_count() == 0


def _refuse_repeated(rows: pl.DataFrame, cells_N: NDArray[np.int64], cells: int, source: str) -> None:
    """Raise if an item has two scores of one system and repeat."""
    scores = np.bincount(cells_N, minlength=cells)
    most = int(scores.max(initial=0))
    if most > 1:
        row = rows.row(int(np.argmax(cells_N == int(scores.argmax()))), named=True)
        what = " ".join(f"{name} {row[name]}" for name in ("task", "item", "repeat", "system") if row[name])
        expected = "one, or a column that tells runs or attempts apart (run, seed, epoch)"
        raise InputError(f"{source}: {most} scores of {what}; expected {expected}")


def _statistics(rows: pl.DataFrame, metric: ItemMetric) -> Values:
    """The statistics of every row; of a mean the score alone."""
    if "counts" in rows.columns and rows["counts"].null_count() < len(rows):
        values_NF = np.full((len(rows), len(metric.aggregate.fields)), np.nan)
        values_NF[rows["counts"].is_not_null().to_numpy()] = _stacked(rows["counts"].drop_nulls())
        return values_NF
    return rows["score"].fill_null(np.nan).to_numpy()[:, None]


def _with_sizes(values_RIF: Values) -> Values:
    """Statistics as they are; a score alone with its size, which is that of one item."""
    if values_RIF.shape[-1] > 1:
        return values_RIF
    statistics_RIF = np.ones((*values_RIF.shape[:-1], 3))
    statistics_RIF[..., 0] = values_RIF[..., 0]
    statistics_RIF[np.isnan(values_RIF[..., 0])] = np.nan
    return statistics_RIF


def _stacked(lists: pl.Series) -> Values:
    values: Values = lists.list.to_array(len(lists[0])).to_numpy().astype(float)
    return values


def _mean_attempt(attempts_RIF: Values) -> Values:
    """The mean over the attempts that were scored; NaN where none was."""
    if len(attempts_RIF) == 1:
        only: Values = attempts_RIF[0]
        return only
    scored = np.isfinite(attempts_RIF[..., :1])
    number = scored.sum(axis=0)
    total = np.where(scored, attempts_RIF, 0.0).sum(axis=0)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _pass_rate(attempts_RIF: Values, k: int) -> Values:
    """The chance that one of k attempts is right, by item."""
    scores_RI = attempts_RIF[..., 0]
    scored = np.isfinite(scores_RI)
    if not np.isin(scores_RI[scored], (0.0, 1.0)).all():
        raise InputError(f"pass@{k} of scores that are not just 0 or 1; expected right or wrong answers")
    most = int(scored.sum(axis=0).max(initial=0))
    if k > most > 0:
        raise InputError(f"pass@{k} of items with {pluralize(most, 'attempt')} at most; expected a smaller number")
    rate = pass_at_k(scored.sum(axis=0), np.where(scored, scores_RI, 0).sum(axis=0), k)
    return rate[:, None]


def _clusters(
    clusters: pl.Series, item_N: NDArray[np.int64], items: Sequence[str], table: ItemTable, task: str
) -> pl.Series:
    """The cluster of every item, which has to be the same for all systems."""
    if clusters.null_count() == len(clusters):
        return pl.Series("cluster", [None], dtype=pl.String).new_from_index(0, len(items))
    cluster_N, names = encode(clusters)
    cluster_I = np.zeros(len(items), np.int64)
    cluster_I[item_N] = cluster_N
    wrong = np.flatnonzero(cluster_I[item_N] != cluster_N)
    if len(wrong):
        row = int(wrong[0])
        item, both = items[item_N[row]], sorted((int(cluster_N[row]), int(cluster_I[item_N[row]])))
        problem = f"item {item} of {task or 'the table'} belongs to {names[both[0]]} and to {names[both[1]]}"
        raise InputError(f"{table.source}: {problem}; expected one {table.cluster or 'cluster'} for every item")
    return pl.Series("cluster", names, dtype=pl.String).gather(cluster_I)
