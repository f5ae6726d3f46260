"""A table of scores that somebody else made, read as if it were a store: runs of systems on data sets."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from deadheat.analyses.stored import Main, Stored
from deadheat.documents import plain
from deadheat.errors import InputError
from deadheat.tables.names import DATASETS, METRICS, SCORES, SYSTEMS
from deadheat.tables.runs import Runs, read_runs

PART = "test"


def tabled(path: str | os.PathLike[str], *, metric: str = "", alpha: float = 0.05) -> Stored:
    """Read a table with columns of systems, scores, and perhaps data sets and metrics; rows that agree are runs.

    Wide tables have data sets in the first column and systems in the others.
    """
    runs = read_runs(path)
    system, score = (
        runs.guess(names, what=what, option="") for names, what in ((SYSTEMS, "systems"), (SCORES, "scores"))
    )
    frame = _long(runs, system, score) if system and score else _wide(runs)
    known = frame["metric"].unique(maintain_order=True).to_list()
    if metric:
        found = [each for each in known if each.lower() == metric.lower()]
        if not found:
            raise InputError(f"{runs.path}: no score by {metric!r}; expected one of {', '.join(known)}")
        frame = frame.filter(pl.col("metric") == found[0])
    main = Main.of(None, frame)
    documents = [] if main is None else [*main.seeds(alpha), *main.ranks(alpha)]
    return Stored(Path(path), None, frame, pl.DataFrame(), (), tuple(plain(each) for each in documents))


def _long(runs: Runs, system: str, score: str) -> pl.DataFrame:
    dataset = runs.guess(DATASETS, what="data sets", option="")
    metric = runs.guess(METRICS, what="metrics", option="")
    runs.numbers(score)  # refuses a cell that is none, with its line
    names = {
        "system": pl.col(system).cast(pl.String).fill_null("?"),
        "corpus": pl.col(dataset).cast(pl.String).fill_null("?") if dataset else pl.lit("all"),
        "metric": pl.col(metric).cast(pl.String).fill_null("score") if metric else pl.lit(score),
        "value": pl.col(score),
    }
    return _as_scores(runs.frame.select(**names))


def _wide(runs: Runs) -> pl.DataFrame:
    first, *systems = runs.frame.columns
    if not systems or any(not runs.is_number(name) for name in systems):
        told = "columns system and score, or data sets in the first column and a column of scores for each system"
        raise InputError(f"{runs.path}: no table of scores; expected {told}")
    long = runs.frame.with_columns(pl.col(first).cast(pl.String)).unpivot(
        on=systems, index=first, variable_name="system", value_name="value"
    )
    return _as_scores(
        long.select("system", pl.col(first).fill_null("?").alias("corpus"), pl.lit("score").alias("metric"), "value")
    )


def _as_scores(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows as a store has them; those that agree in all but their score are told apart by their number."""
    alike = ["system", "corpus", "metric"]
    frame = frame.filter(pl.col("value").is_not_null())
    return frame.with_columns(
        pl.lit("").alias("key"),
        pl.lit("given").alias("split"),
        pl.lit(0, pl.Int64).alias("number"),
        (pl.int_range(pl.len()).over(alike)).cast(pl.Int64).alias("seed"),
        pl.lit(PART).alias("part"),
    )
