"""A table of scores that somebody else made: runs of systems on data sets, and what can be said of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from deadheat.documents import plain
from deadheat.errors import InputError, NameUnknown
from deadheat.questions.chosen_scores import Answers, Chosen
from deadheat.questions.sources import Tabled
from deadheat.tables.names import DATASETS, METRICS, SCORES, SYSTEMS
from deadheat.tables.table import Table, read_table

ALPHA = 0.05
TEST, ONLY = "test", "all"
SEEDS = ("seed", "run", "key", "split_seed")  # columns that may differ between runs of one system on one data set
SIZES = ("sentences", "words")
UNNAMED = "score"  # what a score is called whose table does not say
MOST_NAMED = 6
EXPECTED = (
    f"expected columns of systems ({', '.join(SYSTEMS[:3])}, ...) and of scores ({', '.join(SCORES)}, or the one that "
    "--metric names), or data sets in the first column and a column of scores for each system"
)


def tabled(path: str | os.PathLike[str], *, metric: str = "") -> Tabled:
    """Read a table of scores; rows that agree in system, data set and metric are runs.

    Long tables have a column of systems and one of scores, and perhaps of data sets and of metrics. Wide tables have
    data sets in the first column and systems in the others. Where there are columns `part`, `split` and `number`, as in
    what `deadheat export` writes, test is taken before dev, and the standard split before others.

    Parameters
    ----------
    metric
        Which of several; the first of the table by default.

    Raises
    ------
    InputError
        If it is no table of scores, or a score is no number, with its line.
    """
    table = read_table(path)
    system, score = table.guess(SYSTEMS, what="systems"), table.guess(SCORES, what="scores")
    if system and not score and metric.lower() in [name.lower() for name in table.frame.columns]:
        score = table.column(metric)
    frame, column, ignored = _long(table, system, score) if system and score else _wide(table)
    known = frame["metric"].unique(maintain_order=True).to_list()
    if not known:
        raise InputError(f"{table.path}: no score in any row; expected some")
    wanted = _metric(table, metric, known)
    chosen = Chosen.of(table.path, frame, metric=wanted)
    assert chosen is not None  # there are rows
    parts = frame["part"].unique(maintain_order=True).to_list()
    notes = [*_ignored(ignored), *_others("by", wanted, known), *_others("on", chosen.part, parts)]
    if not chosen.scores.height:
        raise InputError(f"{table.path}: no score by {wanted} on {chosen.part}; expected some")
    by = f"{column} (data set)" if column in ("system", "score") else column
    named = replace(chosen, things="data sets", column=by)
    answers = Answers(notes=tuple(notes)) + named.over_seeds(ALPHA) + named.over_corpora(ALPHA)
    return _tabled(Path(path), named, answers)


def _tabled(path: Path, chosen: Chosen, answers: Answers) -> Tabled:
    """The scores that were chosen as an array, best system first."""
    found = chosen.scores.group_by("system", "corpus", maintain_order=True).agg(pl.col("value").mean(), pl.len())
    systems, datasets = (found[name].unique(maintain_order=True).to_list() for name in ("system", "corpus"))
    rows, columns = (
        found[name].replace_strict({each: i for i, each in enumerate(names)}, return_dtype=pl.Int64).to_numpy()
        for name, names in (("system", systems), ("corpus", datasets))
    )
    means_SD, runs_SD = np.full((len(systems), len(datasets)), np.nan), np.zeros((len(systems), len(datasets)), int)
    means_SD[rows, columns], runs_SD[rows, columns] = found["value"].to_numpy(), found["len"].to_numpy()
    whole = np.isfinite(means_SD).all(axis=0)
    known = np.isfinite(means_SD) & (whole if whole.any() else np.ones(len(datasets), bool))
    averages = np.where(known, means_SD, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    order = np.argsort(-np.where(known.any(axis=1), averages, -np.inf), kind="stable")
    documents = tuple(plain(each) for each in answers.documents)
    return Tabled(
        path,
        chosen.metric,
        chosen.column,
        tuple(systems[place] for place in order),
        tuple(datasets),
        means_SD[order],
        runs_SD[order],
        documents,
        answers.notes,
    )


def _long(table: Table, system: str, score: str) -> tuple[pl.DataFrame, str, list[str]]:
    """One row a score; what data sets are called; columns that are not looked at."""
    dataset = table.guess(DATASETS, what="data sets")
    metric = table.guess(METRICS, what="metrics")
    part, split, number = (table.guess((name,), what=f"{name}s") for name in ("part", "split", "number"))
    split, number = (split, number) if split and number else ("", "")
    used = {system, score, dataset, metric, part, split, number}
    ignored = [name for name in table.frame.columns if name not in used and name.lower() not in (*SEEDS, *SIZES)]
    columns = {
        "system": _names(table, system, "system"),
        "corpus": _names(table, dataset, "data set") if dataset else _same(table, ONLY),
        "metric": table.texts(metric).fill_null(UNNAMED) if metric else _same(table, _measure(score)),
        "part": table.texts(part).fill_null(TEST) if part else _same(table, TEST),
        "split": table.texts(split).fill_null("") if split else _same(table, ""),
        "number": table.numbers(number).fill_null(0) if number else pl.repeat(0.0, table.frame.height, eager=True),
        "value": table.numbers(score, what="score"),
    }
    frame = pl.DataFrame({name: each.alias(name) for name, each in columns.items()})
    return frame.filter(pl.col("value").is_not_null()), dataset, ignored


def _measure(score: str) -> str:
    return UNNAMED if score.lower() in SCORES else score


def _wide(table: Table) -> tuple[pl.DataFrame, str, list[str]]:
    metric = table.guess(METRICS, what="metrics")
    columns = [name for name in table.frame.columns if name != metric]
    dataset, systems = columns[0], columns[1:]
    if dataset.lower() in SYSTEMS:
        told = f"systems in rows (the first column is {dataset!r}), and no column of scores"
        raise InputError(f"{table.path}: {told}; {EXPECTED}")
    if not systems:
        raise InputError(f"{table.path}: one column, {dataset}; {EXPECTED}")
    if not any(_is_numeric(table.frame[name]) for name in systems):
        raise InputError(f"{table.path}: no column of scores; {EXPECTED}")
    values = [table.numbers(name, what=f"score of {name}") for name in systems]
    names = _names(table, dataset, "data set")
    metrics = table.texts(metric).fill_null(UNNAMED) if metric else _same(table, UNNAMED)
    frame = pl.DataFrame(
        {
            "system": pl.Series(np.repeat(np.array(systems, object), table.frame.height), dtype=pl.String),
            "corpus": pl.concat([names.alias("corpus")] * len(systems)),
            "metric": pl.concat([metrics.alias("metric")] * len(systems)),
            "value": pl.concat([each.alias("value") for each in values]),
        }
    ).with_columns(part=pl.lit(TEST), split=pl.lit(""), number=pl.lit(0.0))
    return frame.filter(pl.col("value").is_not_null()), dataset, []


def _is_numeric(series: pl.Series) -> bool:
    """Whether some cell is a number: a column of which none is holds no scores with a mistake, but something else."""
    return bool(series.cast(pl.Float64, strict=False).is_not_null().any())


def _same(table: Table, value: str) -> pl.Series:
    return pl.Series([value]).new_from_index(0, table.frame.height)


def _names(table: Table, column: str, kind: str) -> pl.Series:
    """A column in which every row needs a name."""
    texts = table.texts(column)
    if texts.null_count():
        row = int(texts.is_null().arg_true()[0])
        raise InputError(f"{table.place(row)}: no {kind}; expected a name in column {column}")
    return texts


def _metric(table: Table, metric: str, known: Sequence[str]) -> str:
    if not metric:
        return known[0]
    for found in (metric, *(each for each in known if each.lower() == metric.lower())):
        if found in known:
            return found
    raise NameUnknown(f"{table.path}: metric", metric, known)


def _others(how: str, chosen: str, known: Sequence[str]) -> list[str]:
    others = [each for each in known if each != chosen]
    return [f"scores are {how} {chosen}; the table also has {_listed(others)}"] if others else []


def _ignored(columns: Sequence[str]) -> list[str]:
    if not columns:
        return []
    told = f"{'column' if len(columns) == 1 else 'columns'} {_listed(columns)} not looked at"
    return [f"{told}: rows that agree in system, data set and metric are taken for runs of one system"]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"
