"""Rows of a store as tables."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from deadheat.errors import InputError, reason
from deadheat.metrics.metric import FIELDS
from deadheat.study.store.database import Broken, open_reading

if TYPE_CHECKING:
    import polars as pl

    from deadheat.study.store.store import Store

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


TABLES = ("scores", "runs", "counts")
FORMATS = ("csv", "jsonl", "parquet")
SUFFIXES = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
BLOCK = 1_000_000  # rows


def format_of(path: str, chosen: str = "") -> str:
    """The format that was chosen, else the one that the name of a file says.

    Examples
    --------
    >>> format_of("runs.parquet"), format_of("runs.txt", "jsonl"), format_of("")
    ('parquet', 'jsonl', 'csv')
    """
    if chosen or not path:
        return chosen or FORMATS[0]
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: format unknown; expected a name that ends in {', '.join(SUFFIXES)}, or --format")
    return SUFFIXES[suffix]


def blocks(store: Store, table: str) -> Iterator[pl.DataFrame]:
    """The rows of a table, in one frame or, of counts, in many; there is always one, if only for its header."""
    import polars as pl

    if table == "counts":
        yield from _counts(store)
    else:
        yield (store.runs() if table == "runs" else store.scores()).with_columns(pl.selectors.float().fill_nan(None))


def write_text(store: Store, table: str, format: str, out: IO[str]) -> None:
    """Write a table as CSV or JSON lines; what is not a number is empty, or null."""
    for number, frame in enumerate(blocks(store, table)):
        if format == "csv":
            out.write(frame.write_csv(include_header=number == 0))
        else:
            out.write(frame.write_ndjson())


def write_table(store: Store, table: str, format: str, path: str) -> None:
    """Write a table to a file, whole or not at all."""
    import polars as pl

    target = Path(os.path.realpath(path))
    if target == Path(os.path.realpath(store.path)):
        raise InputError(f"{path}: the store itself; expected another file to write to")
    scratch = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        try:
            if format == "parquet":
                _sink_parquet(store, table, scratch)
            else:
                with scratch.open("w", encoding="utf-8", newline="") as out:
                    write_text(store, table, format, out)
            scratch.replace(target)
        finally:
            with contextlib.suppress(OSError):
                scratch.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({reason(error)})") from error
    except pl.exceptions.PolarsError as error:  # so Polars tells of a full disk
        said = str(error).partition("\n")[0].lower()
        raise InputError(f"{path}: cannot be written ({said})") from error


def _sink_parquet(store: Store, table: str, path: Path) -> None:
    from polars.io.plugins import register_io_source

    from deadheat.study.store.store import Store

    # Polars asks for blocks from threads of its own, one at a time.
    mine = Store(store.path, open_reading(store.path, any_thread=True), None)
    frames = blocks(mine, table)
    first = next(frames)

    def source(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, size: int | None
    ) -> Iterator[pl.DataFrame]:
        assert columns is None
        assert predicate is None
        yield first
        yield from frames

    with mine:
        register_io_source(source, schema=first.schema).sink_parquet(path)


def _counts(store: Store) -> Iterator[pl.DataFrame]:
    """Counts of every run, part and metric, a row a unit; a metric with more fields than others has more columns."""
    import polars as pl

    counted = store.counted()
    most = max(len(FIELDS), int(counted["fields"].max() or 0))  # type: ignore[arg-type]
    names = [*FIELDS, *(f"field_{number}" for number in range(len(FIELDS) + 1, most + 1))]
    texts = dict.fromkeys(("key", "part", "metric"), pl.String)
    schema: dict[str, type[pl.DataType]] = {**texts, "unit": pl.Int64, **dict.fromkeys(names, pl.Int64)}
    yield pl.DataFrame(schema=schema)
    for (part, metric, units), group in counted.group_by("part", "metric", "units", maintain_order=True):
        keys, size = group["key"], int(units)
        step = max(BLOCK // max(size, 1), 1)
        for some in (keys[start : start + step] for start in range(0, len(keys), step)):
            counts_RNF = store.counts(some.to_list(), part=str(part), metric=str(metric))
            made = {
                "key": some.gather(np.repeat(np.arange(len(some)), size)),
                "part": pl.Series([part]).new_from_index(0, len(some) * size),
                "metric": pl.Series([metric]).new_from_index(0, len(some) * size),
                "unit": np.tile(np.arange(size), len(some)),
                **{name: counts_RNF[:, :, field].ravel() for field, name in enumerate(names[: counts_RNF.shape[2]])},
            }
            yield pl.DataFrame(made).with_columns(
                pl.lit(None, pl.Int64).alias(name) for name in schema if name not in made
            )
