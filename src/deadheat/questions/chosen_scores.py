"""The scores that questions are asked of, out of all that there are: one part, one metric, one way to split a corpus.

The same questions are asked of a store and of a table of somebody else's: what seeds change, and what the choice of
data sets does to the ranking. What is too much for a page is left out, and that is said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from deadheat.documents import Document
from deadheat.errors import InputError
from deadheat.questions.contest import Settings
from deadheat.questions.rank import rank
from deadheat.questions.seeds import seeds
from deadheat.questions.tables import compare_scores
from deadheat.tables.runs import Runs
from deadheat.text import pluralize

PREFERRED = ("test", "dev", "tune")  # parts
STANDARD = "standard."
FEW_CORPORA = 3
# Beyond these a page would be long and slow to make: two systems on one corpus take 0.03 s over seeds, two systems over
# corpora 6 ms, and a heat map of ranks grows with the square of the systems. The commands have no such limits.
MOST_SEED_CORPORA, MOST_SEED_SYSTEMS, MOST_RANKED = 6, 8, 40
SAMPLES = 100_000  # subsets of corpora
MOST_NAMED = 4
ALONE = "p-values are corrected for their pairs alone"


@dataclass(frozen=True, slots=True)
class Answers:
    """What was found, and what was not looked into, with the reason."""

    documents: tuple[Document, ...] = ()
    notes: tuple[str, ...] = ()

    def __add__(self, other: Answers) -> Answers:
        return Answers(self.documents + other.documents, self.notes + other.notes)


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """Scores on one part by one metric: columns system, corpus, number (of the split), seed, value, and perhaps key.

    `things` is what a corpus is called in notes, and `column` in documents; nothing where there is but one.
    """

    path: str
    part: str
    metric: str
    scores: pl.DataFrame
    things: str = "corpora"
    column: str = "corpus"

    @classmethod
    def of(cls, path: str, scores: pl.DataFrame, *, metric: str = "") -> Chosen | None:
        """Test before dev, the first metric unless one is named, the standard split before others; None of nothing.

        Scores have the columns of `Store.scores()`; where there is also `split_seed`, splits of one seed are taken.
        """
        known = scores["part"].unique().to_list()
        part = next((name for name in (*PREFERRED, *sorted(known)) if name in known), None)
        if part is None:
            return None
        own = scores.filter(pl.col("part") == part)
        metric = metric or own["metric"][0]
        own = own.filter((pl.col("metric") == metric) & pl.col("value").is_not_nan())
        other = (~pl.col("split").str.starts_with(STANDARD)).alias("other")
        ways = [other, "split", *(["split_seed"] if "split_seed" in own.columns else [])]
        chosen = pl.struct(ways).rank("dense").over("corpus") == 1
        return cls(path, part, metric, own.filter(chosen))

    def first_splits(self) -> pl.DataFrame:
        """The scores on the first split of every corpus, which differ by system and seed alone."""
        return self.scores.filter(pl.col("number") == pl.col("number").min().over("corpus"))

    def over_seeds(self, alpha: float) -> Answers:
        """Distributions over seeds on the first split of each corpus, of the systems that have several runs there."""
        first = self.first_splits().with_columns(pl.len().over("corpus", "system").alias("runs"))
        repeated = first.filter(pl.col("runs") > 1)
        corpora = repeated["corpus"].unique(maintain_order=True).to_list()
        if not corpora:
            return Answers()
        if len(corpora) > MOST_SEED_CORPORA:
            told = f"distributions over seeds are shown of {MOST_SEED_CORPORA} {self.things} at most, and there are"
            return Answers(notes=(f"{told} {len(corpora):,}; deadheat seeds has no such limit",))
        notes = []
        means = repeated.group_by("system").agg(pl.col("value").mean()).sort(["value", "system"], descending=True)
        names = means["system"].to_list()
        if len(names) > MOST_SEED_SYSTEMS:
            told = f"over seeds the {MOST_SEED_SYSTEMS} systems of the highest mean are compared, of {len(names):,}"
            notes.append(f"{told}; {ALONE}; deadheat seeds has no such limit")
            repeated = repeated.filter(pl.col("system").is_in(names[:MOST_SEED_SYSTEMS]))
        single = [name for name in first["system"].unique(maintain_order=True).to_list() if name not in set(names)]
        if single:
            notes.append(f"over seeds nothing is said of {_listed(single)}: one run each")
        by = [pl.col("corpus").alias(self.column)] if self.column else []
        table = repeated.select("system", *by, score="value")
        runs = Runs(self.path, table, np.zeros(0, np.int64))
        found = seeds(runs, score="score", system="system", by=self.column, alpha=alpha)
        ways = [way for way in repeated["split"].unique(maintain_order=True).to_list() if way]  # tables name none
        scope = f"runs are those on the first split of each corpus ({_listed(ways)})" if ways else ""
        document = found.to_dict()
        document["notes"] = [*document["notes"], *filter(None, [scope])]
        return Answers((document | {"part": self.part, "metric": self.metric},), tuple(notes))

    def over_corpora(self, alpha: float) -> Answers:
        """The ranking over corpora, where there are some, and tests over them, where there are more."""
        table = self.means()
        rows = list(table.values())
        if len(rows) < 2:
            return Answers()
        common = set(rows[0]).intersection(*rows[1:])
        if len(common) < FEW_CORPORA:
            every = {name for row in rows for name in row}
            if len(every) < FEW_CORPORA:
                return Answers()
            told = f"no ranking over {self.things}: of {len(every):,}, {len(common):,} have a score of every system"
            return Answers(notes=(f"{told}; expected at least {FEW_CORPORA}",))
        averages = {name: float(np.mean([row[each] for each in sorted(common)])) for name, row in table.items()}
        best = sorted(averages, key=lambda name: (-averages[name], name))[:MOST_RANKED]
        notes = []
        if len(best) < len(table):
            told = f"over {self.things} the {MOST_RANKED} systems of the highest mean are ranked and compared"
            notes.append(f"{told}, of {len(table):,}; {ALONE}; deadheat rank and compare have no such limit")
        kept = {name: row for name, row in table.items() if name in set(best)}
        found = rank(kept, metric=self.metric, samples=SAMPLES, missing="drop").to_dict() | {"part": self.part}
        return Answers((found,), tuple(notes)) + self._tested(kept, len(common), alpha)

    def _tested(self, table: dict[str, dict[str, float]], common: int, alpha: float) -> Answers:
        """Tests over corpora, if there are enough of them for any difference to be significant."""
        pairs = math.comb(len(table), 2)
        if 2.0 ** (1 - common) * pairs > alpha:  # what the exact test gives at best, corrected
            told = f"no test over {self.things}: {common:,} are too few for any of {pluralize(pairs, 'difference')}"
            return Answers(notes=(f"{told} to be significant at {alpha:g}",))
        try:
            found = compare_scores(table, metric=self.metric, missing="drop", settings=Settings(alpha=alpha))
        except InputError as error:  # scores of a size that cannot be tested can still be ranked
            return Answers(notes=(f"no test over {self.things}: {error}",))
        shares = all(0 <= value <= 1 for row in table.values() for value in row.values())
        return Answers((found.to_dict() | {"part": self.part, "scale": 100.0 if shares else found.scale},))

    def means(self) -> dict[str, dict[str, float]]:
        """The mean score of every system on every corpus, over seeds and over the splits on which all systems ran."""
        systems = pl.col("system").n_unique()
        everywhere = systems.over("corpus", "number") == systems.over("corpus")
        means = self.scores.filter(everywhere).group_by("system", "corpus").agg(pl.col("value").mean())
        found: dict[str, dict[str, float]] = {}
        for system, corpus, value in means.sort("system", "corpus").iter_rows():
            found.setdefault(system, {})[corpus] = value
        return found


def _listed(names: Sequence[str]) -> str:
    more = f" and {pluralize(len(names) - MOST_NAMED, 'other')}" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"
