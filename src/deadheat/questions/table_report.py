"""Reports on scores: how much seeds and the choice of data sets matter, in a table or among the scores of a store.

A report answers questions about one part, one metric and one splitting strategy for each corpus. What would be too much
for a page is left out, and a note says so.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from deadheat.errors import InputError
from deadheat.questions.compare_scores import compare_scores
from deadheat.questions.rank import rank
from deadheat.questions.seeds import seeds
from deadheat.results.base import Result
from deadheat.results.format import Scale
from deadheat.results.rank import Ranking
from deadheat.results.score import ScoreTable, SystemMeans
from deadheat.tables.matrix import mixed_scales
from deadheat.tables.repeats import check_repeats
from deadheat.tables.scores import RUN_COLUMNS, find_metric, refuse_run_columns, stack_systems
from deadheat.tables.table import DATASETS, METRICS, SCORES, SYSTEMS, Runs, Table, as_runs, read_table
from deadheat.text import join_names

ALPHA = 0.05
PARTS = ("test", "dev", "tune")  # the first that there is is shown
TEST, ALL = PARTS[0], "all"
STANDARD = "standard."
FEW_CORPORA = 3
# Beyond these a page would be long and slow to make: two systems on one corpus take 0.03 s over seeds, two systems over
# corpora 6 ms, and a heat map of ranks grows with the square of the systems. The commands have no such limits.
SEED_CORPORA, SEED_SYSTEMS, RANKED_SYSTEMS = 6, 8, 40
SAMPLES = 100_000  # subsets of corpora
PAIRS_ALONE = "p-values are corrected for their pairs alone"
UNNAMED = "score"  # what a score is called whose table does not say
EXPECTED = (
    f"expected columns of systems ({', '.join(SYSTEMS[:3])}, ...) and of scores ({', '.join(SCORES)}, or the one that "
    "--metric names), or data sets in the first column and a column of scores for each system"
)


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What a store or a table says: results, the main one first, and notes on what was left out."""

    name: str = ""
    results: tuple[Result, ...] = ()
    notes: tuple[str, ...] = ()
    protocol: str = ""  # the paper whose experiment a study follows, in a sentence
    warnings: tuple[str, ...] = ()  # what may be wrong with the scores; the page has it, too

    def __add__(self, other: SourceReport) -> SourceReport:
        results, notes, warnings = (
            self.results + other.results,
            self.notes + other.notes,
            self.warnings + other.warnings,
        )
        return SourceReport(self.name or other.name, results, notes, self.protocol or other.protocol, warnings)


def _note(note: str) -> SourceReport:
    return SourceReport(notes=(note,))


@dataclass(frozen=True, slots=True, eq=False)
class ScoreSelection:
    """Scores on one part by one metric: columns system, corpus, number (of the split), seed, value, and perhaps key.

    `noun` is what corpora are called in notes, and `column` in results; empty where there is only one.
    """

    path: str
    part: str
    metric: str
    label: str  # of the metric
    scores: pl.DataFrame
    noun: str = "corpora"
    column: str = "corpus"

    @classmethod
    def of(cls, path: str, scores: pl.DataFrame, *, metric: str = "", label: str = "") -> ScoreSelection | None:
        """Test before dev, the first metric unless one is named, the standard split before others; None without any.

        Scores have the columns of `Store.scores()`; where there is also `split_seed`, splits of one seed are taken.
        """
        parts = scores["part"].unique().to_list()
        part = next((name for name in (*PARTS, *sorted(parts)) if name in parts), None)
        if part is None:
            return None
        rows = scores.filter(pl.col("part") == part)
        metric = metric or rows["metric"][0]
        rows = rows.filter((pl.col("metric") == metric) & pl.col("value").is_not_nan())
        other = (~pl.col("split").str.starts_with(STANDARD)).alias("other")
        strategy = [other, "split", *(["split_seed"] if "split_seed" in rows.columns else [])]
        first_strategy = pl.struct(strategy).rank("dense").over("corpus") == 1
        return cls(path, part, metric, label or metric, rows.filter(first_strategy))

    def first_splits(self) -> pl.DataFrame:
        """The scores on the first split of every corpus, which differ by system and seed alone."""
        return self.scores.filter(pl.col("number") == pl.col("number").min().over("corpus"))

    def over_seeds(self, alpha: float) -> SourceReport:
        """Distributions over seeds on the first split of each corpus, of the systems that have several runs there."""
        first = self.first_splits().with_columns(pl.len().over("corpus", "system").alias("runs"))
        repeated = first.filter(pl.col("runs") > 1)
        corpora = repeated["corpus"].unique(maintain_order=True).to_list()
        if not corpora:
            return SourceReport()
        no_limit = "deadheat seeds has no such limit"
        if len(corpora) > SEED_CORPORA:
            limit = f"distributions over seeds are shown for at most {SEED_CORPORA} {self.noun}"
            return _note(f"{limit}, and there are {len(corpora):,}; {no_limit}")
        notes = []
        means = repeated.group_by("system").agg(pl.col("value").mean()).sort(["value", "system"], descending=True)
        names = means["system"].to_list()
        if len(names) > SEED_SYSTEMS:
            limit = f"over seeds, the {SEED_SYSTEMS} systems with the highest means of {len(names):,} are compared"
            notes.append(f"{limit}; {PAIRS_ALONE}; {no_limit}")
            repeated = repeated.filter(pl.col("system").is_in(names[:SEED_SYSTEMS]))
        single = [name for name in first["system"].unique(maintain_order=True).to_list() if name not in names]
        if single:
            notes.append(f"no distributions over seeds of {join_names(single, limit=4)}: one run each")
        by = [pl.col("corpus").alias(self.column)] if self.column else []
        table = repeated.select("system", *by, score="value").with_columns(run=pl.row_index())
        runs = Runs(self.path, table, np.zeros(0, np.int64))
        result = seeds(runs, score="score", system="system", by=self.column, alpha=alpha, metric=self.label)
        strategies = [name for name in repeated["split"].unique(maintain_order=True).to_list() if name]
        if strategies:
            scope = f"runs are those on the first split of each corpus ({join_names(strategies, limit=4)})"
            result = replace(result, notes=(*result.notes, scope))
        return SourceReport(results=(replace(result, part=self.part),), notes=tuple(notes))

    def over_corpora(self, alpha: float, *, tests: bool = True) -> SourceReport:
        """The ranking over corpora, where there are some, and tests over them, unless there are better ones."""
        table = self.means()
        rows = list(table.values())
        if len(rows) < 2:
            return SourceReport()
        common = set(rows[0]).intersection(*rows[1:])
        if len(common) < FEW_CORPORA:
            every = {name for row in rows for name in row}
            if len(every) < FEW_CORPORA:
                return SourceReport()
            reason = f"of {len(every):,} {self.noun}, {len(common):,} have a score of every system"
            return _note(f"no ranking over {self.noun}: {reason}; expected at least {FEW_CORPORA}")
        averages = {name: float(np.mean([row[corpus] for corpus in sorted(common)])) for name, row in table.items()}
        best = sorted(averages, key=lambda name: (-averages[name], name))[:RANKED_SYSTEMS]
        notes = []
        if len(best) < len(table):
            limit = f"the {RANKED_SYSTEMS} systems with the highest means of {len(table):,} are ranked and compared"
            notes.append(f"over {self.noun}, {limit}; {PAIRS_ALONE}; deadheat rank and compare have no such limit")
        kept = {name: row for name, row in table.items() if name in best}
        ranking = rank(kept, metric=self.label, samples=SAMPLES, missing="drop")
        report = SourceReport(results=(ranking,), notes=tuple(notes))
        return report + self._tests(kept, alpha) if tests else report

    def _tests(self, table: dict[str, dict[str, float]], alpha: float) -> SourceReport:
        """Every pair of systems over corpora."""
        try:
            return SourceReport(results=(compare_scores(table, metric=self.label, missing="drop", alpha=alpha),))
        except InputError as error:  # scores of a size that cannot be tested can still be ranked
            return _note(f"no test over {self.noun}: {error}")

    def means(self) -> dict[str, dict[str, float]]:
        """The mean score of every system on every corpus, over seeds and over the splits on which all systems ran."""
        systems = pl.col("system").n_unique()
        everywhere = systems.over("corpus", "number") == systems.over("corpus")
        means = self.scores.filter(everywhere).group_by("system", "corpus").agg(pl.col("value").mean())
        table: dict[str, dict[str, float]] = {}
        for system, corpus, value in means.sort("system", "corpus").iter_rows():
            table.setdefault(system, {})[corpus] = value
        return table


def table_report(source: str | os.PathLike[str] | Table, *, name: str = "", metric: str = "") -> SourceReport:
    """Read a table of scores; rows that agree in system, data set and metric are runs.

    Long tables have a column of systems and one of scores, and perhaps of data sets and of metrics. Wide tables have
    data sets in the first column and systems in the others. Where there are columns `part`, `split` and `number`, as in
    what `deadheat export` writes, test is taken before dev, and the standard split before others. Of several metrics
    the first is taken by default.
    """
    table = read_table(source)
    system, score = table.find("", SYSTEMS, what="systems"), table.find("", SCORES, what="scores")
    if system and not score and metric.lower() in [name.lower() for name in table.frame.columns]:
        score = table.column(metric)
    frame, column, notes, warnings = _long(table, system, score) if system and score else _wide(table)
    metrics = frame["metric"].unique(maintain_order=True).to_list()
    if not metrics:
        raise InputError(f"{table.path}: no score in any row; expected some")
    wanted = find_metric(table, metric, metrics)
    selection = ScoreSelection.of(table.path, frame, metric=wanted)
    assert selection is not None  # there are rows
    if not selection.scores.height:
        raise InputError(f"{table.path}: no score by {wanted} on {selection.part}; expected some")
    parts = frame["part"].unique(maintain_order=True).to_list()
    for preposition, chosen, names in (("by", wanted, metrics), ("on", selection.part, parts)):
        others = [name for name in names if name != chosen]
        if others:
            notes.append(f"scores are {preposition} {chosen}; the table also has {join_names(others, limit=6)}")
    by = f"{column} (data set)" if column in ("system", "score") else column
    selection = replace(selection, noun="data sets", column=by)
    answers = selection.over_seeds(ALPHA) + selection.over_corpora(ALPHA)
    scales = _scale_notes(selection)
    said = {note for result in answers.results for note in result.notes}
    summary = replace(_summary(selection), notes=tuple(note for note in scales if note not in said))
    ranking = tuple(note for result in answers.results if isinstance(result, Ranking) for note in result.notes)
    everything = tuple(dict.fromkeys((*warnings, *scales, *ranking)))
    name = name or Path(table.path).stem
    return SourceReport(name, (summary,), (*notes, *warnings), warnings=everything) + answers


def _scale_notes(selection: ScoreSelection) -> tuple[str, ...]:
    """Notes on systems or data sets whose scores seem to be on another scale than the others."""
    notes: tuple[str, ...] = ()
    for column, preposition in (("system", "of"), ("corpus", "on")):
        groups = selection.scores.group_by(column, maintain_order=True).agg(pl.col("value"))
        notes += mixed_scales(((name, np.array(values)) for name, values in groups.iter_rows()), preposition)
    return notes


def _summary(selection: ScoreSelection) -> ScoreTable:
    """The mean of every system on every data set, best system first."""
    means = selection.scores.group_by("system", "corpus", maintain_order=True).agg(pl.col("value").mean(), pl.len())
    datasets = means["corpus"].unique(maintain_order=True).to_list()
    cells = {(system, corpus): (value, runs) for system, corpus, value, runs in means.iter_rows()}
    systems = []
    for system in means["system"].unique(maintain_order=True).to_list():
        values, runs = zip(*(cells.get((system, name), (math.nan, 0)) for name in datasets), strict=True)
        systems.append(SystemMeans(system, values, runs))
    scale = Scale.of(selection.scores["value"].to_list())
    return ScoreTable(selection.metric, selection.column, tuple(datasets), tuple(systems), scale).by_average()


def _long(table: Table, system: str, score: str) -> tuple[pl.DataFrame, str, list[str], tuple[str, ...]]:
    """One row per score; the column of data sets; notes on what is left out; what may be wrong with the scores."""
    dataset, metric = table.find("", DATASETS, what="data sets"), table.find("", METRICS, what="metrics")
    part, split, number = (table.find("", [name], what=f"{name}s") for name in ("part", "split", "number"))
    split, number = (split, number) if split and number else ("", "")
    columns = {
        "system": table.names(system, "system"),
        "corpus": table.names(dataset, "data set") if dataset else table.texts_or("", ALL),
        "metric": table.texts_or(metric, UNNAMED if metric or score.lower() in SCORES else score),
        "part": table.texts_or(part, TEST),
        "split": table.texts_or(split, ""),
        "number": table.numbers(number).fill_null(0) if number else pl.repeat(0.0, table.frame.height, eager=True),
        "value": table.numbers(score, what="score"),
    }
    used = {system, score, dataset, metric, part, split, number}
    ignored = [name for name in table.frame.columns if name not in used and name.lower() not in RUN_COLUMNS]
    notes = []
    if ignored:
        noun = "column" if len(ignored) == 1 else "columns"
        meaning = "rows that agree in system, data set and metric count as runs of one system"
        notes.append(f"{noun} {join_names(ignored, limit=6)} ignored: {meaning}")
    repeats = check_repeats(as_runs(table, kept=columns["value"].is_not_null()), [system, dataset], [score])
    return pl.DataFrame(columns).drop_nulls("value"), dataset, notes, repeats


def _wide(table: Table) -> tuple[pl.DataFrame, str, list[str], tuple[str, ...]]:
    metric = table.find("", METRICS, what="metrics")
    dataset, *systems = [name for name in table.frame.columns if name != metric] or [metric]
    if dataset.lower() in SYSTEMS:
        raise InputError(f"{table.path}: systems in rows (first column {dataset!r}), no column of scores; {EXPECTED}")
    if not systems:
        raise InputError(f"{table.path}: one column, {dataset}; {EXPECTED}")
    if not any(table.frame[name].cast(pl.Float64, strict=False).is_not_null().any() for name in systems):
        raise InputError(f"{table.path}: no column of scores; {EXPECTED}")
    refuse_run_columns(table, systems)
    scores = {name: table.numbers(name, what=f"score of {name}") for name in systems}
    rows = pl.DataFrame({"corpus": table.names(dataset, "data set"), "metric": table.texts_or(metric, UNNAMED)})
    rows = rows.with_columns(part=pl.lit(TEST), split=pl.lit(""), number=pl.lit(0.0))
    repeats = check_repeats(as_runs(table), [dataset], systems)
    return stack_systems(rows, scores).rename({"score": "value"}).drop_nulls("value"), dataset, [], repeats
