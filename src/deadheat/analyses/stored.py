"""All that can be said of a store without its corpora: what the study found, and what its scores say besides.

The tests between systems were done when the study came to its end, and stand in the store. From the scores follow the
distributions over seeds, the ranking over corpora and how much of a test set would have been enough.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from deadheat.analyses.rank import rank
from deadheat.analyses.run import KEYS
from deadheat.analyses.seeds import seeds
from deadheat.analyses.size import study as size_study
from deadheat.analyses.size_counts import TestSet
from deadheat.analyses.tables import compare_scores
from deadheat.documents import plain
from deadheat.errors import InputError
from deadheat.metrics import METRICS
from deadheat.metrics.metric import GOLD
from deadheat.ranking.sizes_sampling import CountedSet
from deadheat.study.ledger import Ledger
from deadheat.study.store import Store
from deadheat.tables.runs import Runs

Document = dict[str, Any]
PREFERRED = ("test", "dev", "tune")
STANDARD = "standard."
# Beyond these the page would be long and the tests many; the commands of the same names have no such limits.
MOST_SEED_CORPORA, MOST_SEED_SYSTEMS, MOST_SIZE_CORPORA = 6, 12, 6
FEW_DATA_SETS, FEWEST_TO_TEST, FEWEST_TO_SIZE = 3, 5, 3
SAMPLES = 100_000  # subsets of corpora


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """A store that was read: the study's own result, its rows, and what was worked out from them."""

    path: Path
    study: Document | None  # what `deadheat run` found at its end; None if it never came to it
    scores: pl.DataFrame = field(repr=False)  # systems under their labels
    runs: pl.DataFrame = field(repr=False)
    provenance: tuple[Document, ...]  # of every machine and version that ran some of it
    documents: tuple[Document, ...]  # seeds, rank, compare, size, ledger: those there is something to say of

    @property
    def name(self) -> str:
        """What the study is called."""
        return str((self.study or {}).get("study") or self.path.stem)


def stored(path: str | os.PathLike[str], *, ledger: Ledger | None = None, alpha: float = 0.05) -> Stored:
    """Read a store and work out what its scores say."""
    with Store.read(path) as store:
        study, scores, runs = store.result(), store.scores(), store.runs()
        keys = study.pop(KEYS, None) if study else None
        if keys is not None:  # there may be runs of other studies
            scores, runs = (frame.filter(pl.col("key").is_in(keys)) for frame in (scores, runs))
        labels = (study or {}).get("systems") or {}
        runs = runs.with_columns(pl.col("system").replace(labels))
        scores = scores.with_columns(pl.col("system").replace(labels))
        main = Main.of(study, scores)
        documents = [] if main is None else [*main.seeds(alpha), *main.ranks(alpha), *main.sizes(store)]
        made_with = tuple(store.provenances())
    if ledger is not None and study is not None:
        documents += _looks(ledger, study)
    return Stored(Path(path), study, scores, runs, made_with, tuple(plain(each) for each in documents))


@dataclass(frozen=True, slots=True, eq=False)
class Main:
    """The scores that the questions are asked of: one part, one metric, and of each corpus one way to split it."""

    path: str
    part: str
    metric: str
    scores: pl.DataFrame

    @classmethod
    def of(cls, study: Document | None, scores: pl.DataFrame) -> Main | None:
        """Test before dev, the first metric of the study, the standard split before others; None without scores."""
        known = scores["part"].unique().to_list()
        part = next((name for name in (*PREFERRED, *sorted(known)) if name in known), None)
        if part is None:
            return None
        blocks = [block for block in (study or {}).get("blocks", []) if block["part"] == part and block["metrics"]]
        own = scores.filter(pl.col("part") == part)
        metric = blocks[0]["metrics"][0] if blocks else own["metric"][0]
        own = own.filter((pl.col("metric") == metric) & pl.col("value").is_not_nan())
        standard = pl.col("split").str.starts_with(STANDARD)
        order = own.with_columns(
            pl.struct((~standard).alias("other"), "split").rank("dense").over("corpus").alias("choice")
        )
        return cls("the store", part, metric, order.filter(pl.col("choice") == 1).drop("choice"))

    def seeds(self, alpha: float) -> Iterator[Document]:
        """Distributions over seeds, on the first split of each corpus."""
        first = self.scores.filter(pl.col("number") == pl.col("number").min().over("corpus"))
        counts = first.group_by("corpus", "system").len()
        if not counts.height or int(counts["len"].max()) < 2:  # type: ignore[arg-type]
            return
        corpora = counts.filter(pl.col("len") > 1)["corpus"].unique(maintain_order=True).sort().to_list()
        if len(corpora) > MOST_SEED_CORPORA or counts["system"].n_unique() > MOST_SEED_SYSTEMS:
            return
        table = first.filter(pl.col("corpus").is_in(corpora)).select(
            "system", "corpus", pl.col("seed").cast(pl.Float64), pl.col("value").alias("score")
        )
        runs = Runs(self.path, table, np.zeros(0, np.int64))
        found = seeds(runs, score="score", system="system", by="corpus", ignore=["seed"], alpha=alpha)
        yield found.to_dict() | {"part": self.part, "metric": self.metric}

    def ranks(self, alpha: float) -> Iterator[Document]:
        """The ranking over corpora, where there are some, and tests over them, where there are more."""
        means = self.scores.group_by("system", "corpus").agg(pl.col("value").mean())
        table: dict[str, dict[str, float]] = {}
        for system, corpus, value in means.sort("system", "corpus").iter_rows():
            table.setdefault(system, {})[corpus] = value
        common = set.intersection(*(set(row) for row in table.values())) if table else set()
        if len(table) < 2 or len(common) < FEW_DATA_SETS:
            return
        whole = {system: {corpus: row[corpus] for corpus in sorted(common)} for system, row in table.items()}
        yield rank(whole, metric=self.metric, samples=SAMPLES).to_dict() | {"part": self.part}
        if len(common) >= FEWEST_TO_TEST:
            yield compare_scores(whole, metric=self.metric).to_dict() | {"part": self.part}

    def sizes(self, store: Store) -> Iterator[Document]:
        """How much of each corpus's test part would have ranked the systems as all of it does."""
        first = self.scores.filter(pl.col("number") == pl.col("number").min().over("corpus"))
        sets = [counted for _, own in _by_corpus(first) if (counted := self._counted(store, own)) is not None]
        if sets and self.part == PREFERRED[0]:
            yield size_study([TestSet(each) for each in sets[:MOST_SIZE_CORPORA]], None).to_dict()

    def _counted(self, store: Store, own: pl.DataFrame) -> CountedSet | None:
        if own["system"].n_unique() < FEWEST_TO_SIZE:
            return None
        try:
            counts = store.counts(own["key"].to_list(), part=self.part, metric=self.metric)
        except InputError:  # runs without counts, or of other units: there is nothing to sample
            return None
        lengths = counts[0, :, GOLD]
        if int(lengths.sum()) != int(own["words"][0]):  # what is counted is not words, but chunks or the like
            return None
        some = lengths > 0
        return CountedSet(
            str(own["corpus"][0]), tuple(own["system"]), lengths[some], counts[:, some], METRICS.make(self.metric)
        )


def _by_corpus(frame: pl.DataFrame) -> Iterator[tuple[Any, pl.DataFrame]]:
    yield from frame.group_by("corpus", maintain_order=True)


def _looks(ledger: Ledger, study: Document) -> list[Document]:
    """What the ledger knows of the study's test sets, as far as it can be read."""
    wanted: Sequence[str] = [each["hash"] for each in study.get("test_sets", [])]
    try:
        found = [each for each in ledger.tallies() if each.test_set in set(wanted)]
    except InputError:
        return []
    return [{"kind": "ledger", "test_sets": [each.to_dict() for each in found]}] if found else []
