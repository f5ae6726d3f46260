"""Rows of a store as tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from deadheat.study.schema import Broken

if TYPE_CHECKING:
    import polars as pl

_RUNS = """
SELECT key, corpus, split, split_seed, number, system, seed, setup, status, started, wall_s, cpu_s, peak_mb, error
FROM runs ORDER BY id
"""
# SQLite keeps no NaN; a value that is missing comes as a number that is told apart.
_SCORES = """
SELECT s.run, s.part, s.metric, ifnull(s.value, 0.0), s.value IS NULL, s.sentences, s.words, s.units, s.fields
FROM scores s ORDER BY s.run
"""
_SCORE_TYPES = [
    ("run", "i8"), ("part", "i8"), ("metric", "i8"), ("value", "f8"), ("missing", "?"), ("sentences", "i8"),
    ("words", "i8"), ("units", "i8"), ("fields", "i8"),
]  # fmt: skip


def runs_frame(connection: sqlite3.Connection) -> pl.DataFrame:
    """One row a cell, in the order in which they came; `started` is in UTC."""
    import polars as pl

    schema: dict[str, Any] = {
        "key": pl.String, "corpus": pl.Int64, "split": pl.Int64, "split_seed": pl.Int64, "number": pl.Int64,
        "system": pl.Int64, "seed": pl.Int64, "setup": pl.String, "status": pl.String, "started": pl.Float64,
        "wall_s": pl.Float64, "cpu_s": pl.Float64, "peak_mb": pl.Float64, "error": pl.String,
    }  # fmt: skip
    frame = _frame(connection.execute(_RUNS).fetchall(), schema)
    started = (pl.col("started") * 1000).round().cast(pl.Int64).cast(pl.Datetime("ms"))
    return _named(connection, frame.with_columns(started), ("corpus", "split", "system"))


def scores_frame(connection: sqlite3.Connection) -> pl.DataFrame:
    """One row a run, part and metric; the units and fields of its counts are 0 if there are none."""
    import polars as pl

    try:
        rows = np.fromiter(connection.execute(_SCORES), dtype=_SCORE_TYPES)
    except (TypeError, ValueError, OverflowError):
        raise Broken("a score that is not of numbers") from None
    rows["value"][rows["missing"]] = np.nan
    scores = pl.DataFrame({name: np.ascontiguousarray(rows[name]) for name, _ in _SCORE_TYPES if name != "missing"})
    schema: dict[str, Any] = {
        "run": pl.Int64, "key": pl.String, "corpus": pl.Int64, "split": pl.Int64, "number": pl.Int64,
        "system": pl.Int64, "seed": pl.Int64, "setup": pl.String,
    }  # fmt: skip
    named = "SELECT id, key, corpus, split, number, system, seed, setup FROM runs WHERE status = 'done' ORDER BY id"
    runs = _frame(connection.execute(named).fetchall(), schema)
    joined = runs.join(scores, on="run", how="inner", maintain_order="right").drop("run")
    return _named(connection, joined, ("corpus", "split", "system", "part", "metric"))


def _frame(rows: Sequence[tuple[Any, ...]], schema: dict[str, Any]) -> pl.DataFrame:
    """Rows as columns; SQLite would keep text where a number belongs, and that is refused here."""
    import polars as pl

    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    made = {}
    for (name, kind), values in zip(schema.items(), columns, strict=True):
        try:
            made[name] = pl.Series(name, values, kind, strict=True)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            raise Broken(f"a value of {name} is not of its kind") from None
    return pl.DataFrame(made)


def _named(connection: sqlite3.Connection, frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The names that numbers stand for."""
    import polars as pl

    names = dict(connection.execute("SELECT id, name FROM names").fetchall())
    if not all(isinstance(number, int) and isinstance(name, str) for number, name in names.items()):
        raise Broken("a name that is no text")
    top = max(names, default=0)
    listed = pl.Series([names.get(number) for number in range(top + 1)], dtype=pl.String)
    for name in columns:
        numbers = frame[name]
        if frame.height and not (int(numbers.min()) >= 0 and int(numbers.max()) <= top):  # type: ignore[arg-type]
            raise Broken(f"a number of {name} stands for nothing")
        frame = frame.with_columns(listed.gather(numbers).alias(name))
        if frame[name].null_count():
            raise Broken(f"a number of {name} stands for nothing")
    return frame
