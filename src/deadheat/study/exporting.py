"""The tables of a store in files that other programs read: CSV, JSON lines, Parquet.

Counts are long, a row a unit, and are written in blocks: two hundred million rows need no more memory than one block.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

from deadheat.errors import InputError, reason
from deadheat.metrics.metric import FIELDS
from deadheat.study.schema import open_reading
from deadheat.study.store import Store

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
