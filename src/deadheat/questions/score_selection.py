"""The scores that a report answers questions about: one part, one metric, one splitting strategy for each corpus.

The same questions are asked of a store and of a table of scores: how much seeds change, and how much the choice of data
sets changes the ranking. What would be too much for a page is left out, and a note says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from deadheat.errors import InputError
from deadheat.questions.compare import compare_scores
from deadheat.questions.rank import rank
from deadheat.questions.seeds import seeds
from deadheat.results.base import Result
from deadheat.tables.runs import Runs
from deadheat.text import join_names, pluralize

PARTS = ("test", "dev", "tune")  # the first that there is is shown
STANDARD = "standard."
FEW_CORPORA = 3
# Beyond these a page would be long and slow to make: two systems on one corpus take 0.03 s over seeds, two systems over
# corpora 6 ms, and a heat map of ranks grows with the square of the systems. The commands have no such limits.
SEED_CORPORA, SEED_SYSTEMS, RANKED_SYSTEMS = 6, 8, 40
SAMPLES = 100_000  # subsets of corpora
OWN_PAIRS = "p-values are corrected for their pairs alone"


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What a store or a table says: results, the main one first, and notes on what was left out."""

    name: str = ""
    results: tuple[Result, ...] = ()
    notes: tuple[str, ...] = ()

    def __add__(self, other: SourceReport) -> SourceReport:
        return SourceReport(self.name or other.name, self.results + other.results, self.notes + other.notes)


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
            notes.append(f"{limit}; {OWN_PAIRS}; {no_limit}")
            repeated = repeated.filter(pl.col("system").is_in(names[:SEED_SYSTEMS]))
        single = [name for name in first["system"].unique(maintain_order=True).to_list() if name not in set(names)]
        if single:
            notes.append(f"no distributions over seeds of {join_names(single, limit=4)}: one run each")
        by = [pl.col("corpus").alias(self.column)] if self.column else []
        table = repeated.select("system", *by, score="value")
        runs = Runs(self.path, table, np.zeros(0, np.int64))
        result = seeds(runs, score="score", system="system", by=self.column, alpha=alpha, metric=self.label)
        strategies = [name for name in repeated["split"].unique(maintain_order=True).to_list() if name]
        scope = (
            [f"runs are those on the first split of each corpus ({join_names(strategies, limit=4)})"]
            if strategies
            else []
        )
        result = replace(result, part=self.part, notes=(*result.notes, *scope))
        return SourceReport(results=(result,), notes=tuple(notes))

    def over_corpora(self, alpha: float) -> SourceReport:
        """The ranking over corpora, where there are some, and tests over them, where there are more."""
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
            limit = (
                f"over {self.noun}, the {RANKED_SYSTEMS} systems with the highest means of {len(table):,} are ranked"
            )
            notes.append(f"{limit} and compared; {OWN_PAIRS}; deadheat rank and compare have no such limit")
        kept = {name: row for name, row in table.items() if name in set(best)}
        ranking = rank(kept, metric=self.label, samples=SAMPLES, missing="drop")
        return SourceReport(results=(ranking,), notes=tuple(notes)) + self._tests(kept, len(common), alpha)

    def _tests(self, table: dict[str, dict[str, float]], common: int, alpha: float) -> SourceReport:
        """Tests over corpora, if there are enough of them for any difference to be significant."""
        pairs = math.comb(len(table), 2)
        if 2.0 ** (1 - common) * pairs > alpha:  # the smallest corrected p-value of the exact test
            reason = (
                f"{common:,} are too few for any of {pluralize(pairs, 'difference')} to be significant at {alpha:g}"
            )
            return _note(f"no test over {self.noun}: {reason}")
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
