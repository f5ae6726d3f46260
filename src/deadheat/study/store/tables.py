"""The tables of a store: as data frames, and as files in CSV, JSON lines or Parquet.

Counts have one row per unit and are written in blocks: two hundred million rows need the memory of one block.
"""

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
from deadheat.study.store.database import CorruptStore

if TYPE_CHECKING:
    import polars as pl

    from deadheat.study.store.store import Store

TABLES = ("scores", "runs", "counts")
FORMATS = ("csv", "jsonl", "parquet")
SUFFIXES = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
BLOCK = 1_000_000  # rows
_RUNS = """
SELECT key, corpus, split, split_seed, number, system, seed, setup, status, started, wall_s, cpu_s, peak_mb, error
FROM runs ORDER BY id
"""
# SQLite has no NaN: a value that is missing has a flag of its own.
_SCORES = """
SELECT s.run, s.part, s.metric, ifnull(s.value, 0.0), s.value IS NULL, s.sentences, s.words, s.units, s.fields
FROM scores s ORDER BY s.run
"""
_SCORE_TYPES = [
    ("run", "i8"), ("part", "i8"), ("metric", "i8"), ("value", "f8"), ("missing", "?"), ("sentences", "i8"),
    ("words", "i8"), ("units", "i8"), ("fields", "i8"),
]  # fmt: skip


def runs_frame(connection: sqlite3.Connection) -> pl.DataFrame:
    """One row per cell, in the order in which they were stored; `started` is in UTC."""
    import polars as pl

    schema: dict[str, Any] = {
        "key": pl.String, "corpus": pl.Int64, "split": pl.Int64, "split_seed": pl.Int64, "number": pl.Int64,
        "system": pl.Int64, "seed": pl.Int64, "setup": pl.String, "status": pl.String, "started": pl.Float64,
        "wall_s": pl.Float64, "cpu_s": pl.Float64, "peak_mb": pl.Float64, "error": pl.String,
    }  # fmt: skip
    frame = _frame(connection.execute(_RUNS).fetchall(), schema)
    started = (pl.col("started") * 1000).round().cast(pl.Int64).cast(pl.Datetime("ms"))
    return _replace_ids(connection, frame.with_columns(started), ("corpus", "split", "system"))


def scores_frame(connection: sqlite3.Connection) -> pl.DataFrame:
    """One row per run, part and metric; without counts, its units and fields are 0."""
    import polars as pl

    try:
        rows = np.fromiter(connection.execute(_SCORES), dtype=_SCORE_TYPES)
    except (TypeError, ValueError, OverflowError):
        raise CorruptStore("a score that is not a number") from None
    rows["value"][rows["missing"]] = np.nan
    scores = pl.DataFrame({name: np.ascontiguousarray(rows[name]) for name, _ in _SCORE_TYPES if name != "missing"})
    schema: dict[str, Any] = {
        "run": pl.Int64, "key": pl.String, "corpus": pl.Int64, "split": pl.Int64, "number": pl.Int64,
        "system": pl.Int64, "seed": pl.Int64, "setup": pl.String,
    }  # fmt: skip
    sql = "SELECT id, key, corpus, split, number, system, seed, setup FROM runs WHERE status = 'done' ORDER BY id"
    runs = _frame(connection.execute(sql).fetchall(), schema)
    joined = runs.join(scores, on="run", how="inner", maintain_order="right").drop("run")
    return _replace_ids(connection, joined, ("corpus", "split", "system", "part", "metric"))


def _frame(rows: Sequence[tuple[Any, ...]], schema: dict[str, Any]) -> pl.DataFrame:
    """Rows as a typed frame; SQLite would accept text where a number belongs, and that is refused here."""
    import polars as pl

    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    series = {}
    for (name, kind), values in zip(schema.items(), columns, strict=True):
        try:
            series[name] = pl.Series(name, values, kind, strict=True)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            raise CorruptStore(f"a value of {name} has the wrong type") from None
    return pl.DataFrame(series)


def _replace_ids(connection: sqlite3.Connection, frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Replace the ids of names by the names."""
    import polars as pl

    names = dict(connection.execute("SELECT id, name FROM names").fetchall())
    if not all(isinstance(number, int) and isinstance(name, str) for number, name in names.items()):
        raise CorruptStore("a name that is not text")
    top = max(names, default=0)
    by_id = pl.Series([names.get(number) for number in range(top + 1)], dtype=pl.String)
    for column in columns:
        ids = frame[column]
        if frame.height and not (int(ids.min()) >= 0 and int(ids.max()) <= top):  # type: ignore[arg-type]
            raise CorruptStore(f"an id of {column} has no name")
        frame = frame.with_columns(by_id.gather(ids).alias(column))
        if frame[column].null_count():
            raise CorruptStore(f"an id of {column} has no name")
    return frame


def format_of(path: str, chosen: str = "") -> str:
    """The chosen format, or else the one of the file name."""
    if chosen or not path:
        return chosen or FORMATS[0]
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: unknown format; expected a name that ends in {', '.join(SUFFIXES)}, or --format")
    return SUFFIXES[suffix]


def blocks(store: Store, table: str) -> Iterator[pl.DataFrame]:
    """The rows of a table: one frame, or several for counts; at least one, for its header."""
    import polars as pl

    if table == "counts":
        yield from _count_blocks(store)
    else:
        yield (store.runs() if table == "runs" else store.scores()).with_columns(pl.selectors.float().fill_nan(None))


def write_text(store: Store, table: str, format: str, out: IO[str]) -> None:
    """Write a table as CSV or JSON lines; NaN becomes an empty cell, or null."""
    for number, frame in enumerate(blocks(store, table)):
        if format == "csv":
            out.write(frame.write_csv(include_header=number == 0))
        else:
            out.write(frame.write_ndjson())


def write_table(store: Store, table: str, format: str, path: str) -> None:
    """Write a table to a file, in whole or not at all."""
    import polars as pl

    target = Path(os.path.realpath(path))
    if target == Path(os.path.realpath(store.path)):
        raise InputError(f"{path}: the store itself; expected another file to write to")
    scratch = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        try:
            if format == "parquet":
                _write_parquet(store, table, scratch)
            else:
                with scratch.open("w", encoding="utf-8", newline="") as out:
                    write_text(store, table, format, out)
            scratch.replace(target)
        finally:
            with contextlib.suppress(OSError):
                scratch.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({reason(error)})") from error
    except pl.exceptions.PolarsError as error:  # a full disk, for example
        message = str(error).partition("\n")[0].lower()
        raise InputError(f"{path}: cannot be written ({message})") from error


def _write_parquet(store: Store, table: str, path: Path) -> None:
    from polars.io.plugins import register_io_source

    # Polars requests blocks from threads of its own, one at a time.
    with store.read(store.path, any_thread=True) as reader:
        frames = blocks(reader, table)
        first = next(frames)

        def source(
            columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, size: int | None
        ) -> Iterator[pl.DataFrame]:
            assert columns is None
            assert predicate is None
            yield first
            yield from frames

        register_io_source(source, schema=first.schema).sink_parquet(path)


def _count_blocks(store: Store) -> Iterator[pl.DataFrame]:
    """Counts of every run, part and metric, one row per unit; metrics with more fields add columns."""
    import polars as pl

    shapes = store.count_shapes()
    n_fields = max(len(FIELDS), int(shapes["fields"].max() or 0))  # type: ignore[arg-type]
    names = [*FIELDS, *(f"field_{number}" for number in range(len(FIELDS) + 1, n_fields + 1))]
    texts = dict.fromkeys(("key", "part", "metric"), pl.String)
    schema: dict[str, type[pl.DataType]] = {**texts, "unit": pl.Int64, **dict.fromkeys(names, pl.Int64)}
    yield pl.DataFrame(schema=schema)
    for (part, metric, units), group in shapes.group_by("part", "metric", "units", maintain_order=True):
        keys, size = group["key"], int(units)
        step = max(BLOCK // max(size, 1), 1)
        for block in (keys[start : start + step] for start in range(0, len(keys), step)):
            counts_RNF = store.counts(block.to_list(), part=str(part), metric=str(metric))
            columns = {
                "key": block.gather(np.repeat(np.arange(len(block)), size)),
                "part": pl.Series([part]).new_from_index(0, len(block) * size),
                "metric": pl.Series([metric]).new_from_index(0, len(block) * size),
                "unit": np.tile(np.arange(size), len(block)),
                **{name: counts_RNF[:, :, field].ravel() for field, name in enumerate(names[: counts_RNF.shape[2]])},
            }
            yield pl.DataFrame(columns).with_columns(
                pl.lit(None, pl.Int64).alias(name) for name in schema if name not in columns
            )
