"""Change a value inside a file that stays well-formed: JSON, a store, saved counts, a Parquet table."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

DEEP, NESTED = 5000, "nested"
ROWS, LONG = 50_000, "x" * 5000
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63,
    10**30,
    0.5,
    -0.0,
    1e308,
    -1e308,
    1e-320,
    float("nan"),
    float("inf"),
    "",
    "NaN",
    "x",
    "a\nb",
    "\x1b[2J",
    "\ud800",
    "<b>&",
    "=1+1",
    "x" * 5000,
    [],
    {},
    [None],
    [[]],
    {"": None},
    {"kind": "score"},
    [1e308, -1e308],
    [0] * 1000,
)


def _odd(rng: np.random.Generator) -> Any:
    value = VALUES[int(rng.integers(len(VALUES)))]
    if rng.random() < 0.02:
        value = []
        for _ in range(DEEP // 10):
            value = [value]
    return value


def change_json(path: Path, rng: np.random.Generator) -> None:
    """Replace, remove or repeat one value, anywhere."""
    document = json.loads(path.read_bytes())
    places: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        node = waiting.pop()
        items = (
            list(node.items()) if isinstance(node, dict) else list(enumerate(node)) if isinstance(node, list) else []
        )
        places += [(node, key) for key, _ in items]
        waiting += [value for _, value in items]
    parent, key = places[int(rng.integers(len(places)))]
    choice = rng.random()
    if choice < 0.03:
        parent[key], depth = NESTED, int(rng.choice([100, 900, 100_000]))
        deep = ("[" * depth + "]" * depth) if rng.random() < 0.5 else ('{"a":' * depth + "1" + "}" * depth)
        path.write_text(json.dumps(document).replace(f'"{NESTED}"', deep))
        return
    if choice < 0.75:
        parent[key] = _odd(rng)
    elif choice < 0.9:
        del parent[key]
    elif isinstance(parent, list):
        parent *= 2
    else:
        parent[f"{key}x"] = parent[key]
    path.write_text(json.dumps(document), encoding="utf-8")


def change_store(path: Path, rng: np.random.Generator) -> None:
    """Set one column of one row or of all rows of a table to another value, or delete a row or a table."""
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        tables = [
            name
            for (name,) in store.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
            )
        ]
        table = tables[int(rng.integers(len(tables)))]
        columns = [name for _, name, *_ in store.execute(f"PRAGMA table_info('{table}')")]
        column = columns[int(rng.integers(len(columns)))]
        row = (
            f"WHERE rowid = (SELECT rowid FROM '{table}' LIMIT 1 OFFSET {int(rng.integers(4))})"
            if rng.random() < 0.7
            else ""
        )
        choice = rng.random()
        with suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):
            if choice < 0.85:
                value = _odd(rng)
                as_text = isinstance(value, list | dict)
                stored = json.dumps(value) if as_text and rng.random() < 0.5 else rng.bytes(20) if as_text else value
                store.execute(f"UPDATE '{table}' SET {column} = ? {row}", (stored,))
            elif choice < 0.97:
                store.execute(f"DELETE FROM '{table}' {row}")
            else:
                store.execute(f"DROP TABLE '{table}'")
            if rng.random() < 0.5:  # as if a version without checksums had written it
                store.execute("DELETE FROM checksums WHERE kind = 'result' AND id NOT IN (SELECT id FROM results)")
                store.execute("UPDATE checksums SET digest = x''")


def change_counts(path: Path, rng: np.random.Generator) -> None:
    """Give one array of an .npz file another shape, type or value."""
    with np.load(path) as loaded:
        arrays = {name: loaded[name] for name in loaded.files}
    name = list(arrays)[int(rng.integers(len(arrays)))]
    array = arrays[name]
    changes: tuple[Callable[[], Any], ...] = (
        lambda: array[:0],
        lambda: array.ravel(),
        lambda: array[..., None],
        lambda: array.astype(str),
        lambda: np.full(array.shape, _odd(rng), dtype=object).astype(str),
        lambda: np.full_like(array, -1) if array.dtype.kind in "iu" else array,
        lambda: np.array(2**62),
        lambda: array.astype(float) * np.nan if array.dtype.kind in "iuf" else array,
        lambda: np.concatenate([np.atleast_1d(array)] * 3),
        lambda: np.array(["\x1b[2J"] * 3),
    )
    with suppress(ValueError, TypeError, IndexError):
        arrays[name] = changes[int(rng.integers(len(changes)))]()
    file = io.BytesIO()
    np.savez(file, **arrays)
    path.write_bytes(file.getvalue())


def _bomb(table: pl.DataFrame, name: str, rng: np.random.Generator) -> pl.DataFrame:
    """Many rows that need few bytes in a file."""
    values = [
        pl.Series([LONG]),
        pl.Series([LONG], dtype=pl.Categorical),
        pl.Series([LONG.encode()]),
        pl.Series([[LONG] * 2]),
        pl.Series([{"a": {LONG: [0] * 50}}]),
        pl.Series([0]),
        pl.Series([[0.5] * 50]),
    ]
    column = values[int(rng.integers(len(values)))].new_from_index(0, ROWS).alias(name)
    return table.drop(name).head(1).join(column.to_frame(), how="cross")


def change_parquet(path: Path, rng: np.random.Generator) -> None:
    """Give a column another type, name or value, or so many rows that they need much memory."""
    table = pl.read_parquet(path)
    name = table.columns[int(rng.integers(table.width))]
    if rng.random() < 0.15:
        _bomb(table, name, rng).write_parquet(path, compression="zstd")
        return
    odd: list[Any] = [
        pl.lit(None),
        pl.lit(float("nan")),
        pl.lit(1e308),
        pl.lit("x"),
        pl.lit([1, 2]),
        pl.lit(True),
        pl.lit(b"\xff\x00"),
        pl.lit(0).cast(pl.Datetime),
        pl.lit("a").cast(pl.Categorical),
        pl.lit(1).cast(pl.Decimal(10, 2)),
        pl.struct(pl.col(name).alias("x")),
        pl.col(name).cast(pl.Float32, strict=False),
        pl.lit(2**63),
        pl.lit(0).cast(pl.Duration),
        pl.lit("").alias("\n"),
    ]
    column = odd[int(rng.integers(len(odd)))].alias(name)
    with suppress(pl.exceptions.PolarsError):
        table = table.with_columns(
            column
            if rng.random() < 0.6
            else pl.when(pl.int_range(pl.len()) == 2).then(column).otherwise(pl.col(name)).alias(name)
        )
    with suppress(pl.exceptions.PolarsError, UnicodeEncodeError):
        if rng.random() < 0.2:
            other = {name: str(VALUES[int(rng.integers(17, 25))])}
            table = table.rename(other) if rng.random() < 0.5 else table.clear()
        table.write_parquet(path)


CHANGES: Mapping[str, Callable[[Path, np.random.Generator], None]] = {
    ".json": change_json,
    ".sqlite": change_store,
    ".npz": change_counts,
    ".parquet": change_parquet,
}
