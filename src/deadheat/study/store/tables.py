"""The tables of a store: as data frames, as arrays of counts, and as files in CSV, JSON lines or Parquet.

In files, counts have one row per unit and are written in blocks: two hundred million rows need the memory of one block.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat.corpus.writing import replace_file
from deadheat.errors import InputError, NameUnknown, reason
from deadheat.metrics.metric import FIELDS
from deadheat.screen import spreadsheet_cell
from deadheat.study.plan.cells import DONE
from deadheat.study.store.database import CorruptStore
from deadheat.study.store.recording import fingerprint, unpack
from deadheat.text import pluralize

if TYPE_CHECKING:
    import polars as pl

    from deadheat.study.ledger.ledger import Ledger
    from deadheat.study.store.store import Store

TABLES = ("scores", "runs", "counts")
FORMATS = ("csv", "jsonl", "parquet")
SUFFIXES = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
BLOCK = 1_000_000  # rows
TEST, STANDARD = "test", "standard."
KeyParts: TypeAlias = frozenset[tuple[str, str]]  # keys of runs, and parts
LATEST = 253_402_300_799  # seconds since 1970: the end of the year 9999
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
    frame = _read_frame(connection, schema, "FROM runs ORDER BY id")
    if not frame["started"].is_between(0, LATEST).all():
        raise CorruptStore("a value of started is not a time")
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
        "id": pl.Int64, "key": pl.String, "corpus": pl.Int64, "split": pl.Int64, "number": pl.Int64,
        "system": pl.Int64, "seed": pl.Int64, "setup": pl.String,
    }  # fmt: skip
    runs = _read_frame(connection, schema, "FROM runs WHERE status = 'done' ORDER BY id").rename({"id": "run"})
    joined = runs.join(scores, on="run", how="inner", maintain_order="right").drop("run")
    return _replace_ids(connection, joined, ("corpus", "split", "system", "part", "metric"))


def _read_frame(connection: sqlite3.Connection, schema: dict[str, Any], source: str) -> pl.DataFrame:
    """Typed columns; SQLite would accept text where a number belongs, and that is refused here."""
    import polars as pl

    rows = connection.execute(f"SELECT {', '.join(schema)} {source}").fetchall()
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    series: dict[str, pl.Series] = {}
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
        if not ids.is_between(0, top).all() or (text := by_id.gather(ids)).null_count():
            raise CorruptStore(f"an id of {column} has no name")
        frame = frame.with_columns(text.alias(column))
    return frame


@dataclass(frozen=True, slots=True)
class CountsQuery:
    """Which counts: of these runs, on this part, by this metric, and which fields if not all."""

    keys: Sequence[str]
    part: str
    metric: str
    fields: Sequence[int] | None = None


def read_counts(connection: sqlite3.Connection, path: Path, query: CountsQuery, dtype: DTypeLike) -> NDArray[Any]:
    """An array of runs by units by fields, in the order of the keys."""
    rows = _column_ids(connection, path, query)
    if (fields := query.fields) is not None:
        for row in rows:
            if not fields or not all(0 <= field < len(row) for field in fields):
                expected = f"expected some of 0 to {len(row) - 1}"
                raise InputError(f"{path}: fields {list(fields)} of {query.metric}; {expected}")
        rows = [tuple(row[field] for field in fields) for row in rows]
    columns = _read_columns(connection, {number for row in rows for number in row})
    _check_shapes(path, query, rows, columns)
    units, n_fields = (len(columns[rows[0][0]]), len(rows[0])) if rows else (0, 0)
    needed = np.result_type(*(column.dtype for column in columns.values())) if columns else np.dtype("u1")
    if not np.can_cast(needed, dtype):
        raise InputError(f"{path}: counts of {query.metric} need {needed}; expected a type that fits, not {dtype}")
    counts_RNF = np.empty((len(rows), units, n_fields), dtype)
    for counts_NF, row in zip(counts_RNF, rows, strict=True):
        for field, number in enumerate(row):
            counts_NF[:, field] = columns[number]
    return counts_RNF


def _column_ids(connection: sqlite3.Connection, path: Path, query: CountsQuery) -> list[tuple[int, ...]]:
    """The ids of the columns of every run."""
    names = dict(connection.execute("SELECT name, id FROM names WHERE name IN (?, ?)", (query.part, query.metric)))
    part, metric = names.get(query.part, 0), names.get(query.metric, 0)
    sql = """SELECT r.key, s.columns FROM runs r JOIN scores s ON s.run = r.id
             WHERE s.part = ? AND s.metric = ? AND r.key IN (SELECT value FROM json_each(?))"""
    columns: dict[str, str] = dict(connection.execute(sql, (part, metric, json.dumps(query.keys))).fetchall())
    for key in query.keys:
        if not columns.get(key):
            _check_name(connection, path, "part", query.part)
            _check_name(connection, path, "metric", query.metric)
            raise InputError(f"{path}: run {key} {_why_no_counts(connection, key, query)}")
    try:
        return [tuple(map(int, columns[key].split())) for key in query.keys]
    except ValueError:
        raise CorruptStore("a score without references to its counts") from None


def _read_columns(connection: sqlite3.Connection, ids: set[int]) -> dict[int, NDArray[np.integer]]:
    columns: dict[int, NDArray[np.integer]] = {}
    sql = "SELECT id, fingerprint, kind, units, data FROM columns WHERE id IN (SELECT value FROM json_each(?))"
    for number, identity, kind, *stored in connection.execute(sql, (json.dumps(sorted(ids)),)):
        try:
            columns[number] = unpack(kind, *stored)
            if fingerprint(kind, columns[number].tobytes()) != identity:
                raise ValueError("changed since they were written")
        except (TypeError, ValueError) as error:
            raise CorruptStore(f"column {number} of counts: {error}") from None
    if missing := ids - set(columns):
        raise CorruptStore(f"column {min(missing)} of counts is missing")
    return columns


def _check_shapes(
    path: Path, query: CountsQuery, rows: Sequence[Sequence[int]], columns: dict[int, NDArray[np.integer]]
) -> None:
    for key, row in zip(query.keys, rows, strict=True):
        if len({len(columns[number]) for number in row}) > 1:
            raise CorruptStore(f"columns of run {key} differ in length")
        units, first = len(columns[row[0]]), len(columns[rows[0][0]])
        if units != first or len(row) != len(rows[0]):
            shape = f"run {key} has {pluralize(units, 'unit')} by {pluralize(len(row), 'field')}"
            other = f"run {query.keys[0]} {first:,} by {len(rows[0])}"
            raise InputError(f"{path}: {shape}, {other}; expected runs on the same sentences")


def _check_name(connection: sqlite3.Connection, path: Path, kind: str, name: str) -> None:
    """Refuse a part or metric that no run has, with the nearest one."""
    sql = f"SELECT name FROM names WHERE id IN (SELECT DISTINCT {kind} FROM scores)"
    names = [row[0] for row in connection.execute(sql)]
    if name not in names:
        raise NameUnknown(f"{path}: {kind}", name, names)


def _why_no_counts(connection: sqlite3.Connection, key: str, query: CountsQuery) -> str:
    status = connection.execute("SELECT status FROM runs WHERE key = ?", (key,)).fetchone()
    if status is None:
        return "is unknown; expected the key of a run"
    if status[0] != DONE:
        return f"has no counts ({status[0]}); expected runs that are done"
    return f"has no counts of {query.metric} on {query.part}; expected runs that were scored by it"


def format_of(path: str, chosen: str = "") -> str:
    """The chosen format, or else the one of the file name."""
    if chosen or not path:
        return chosen or FORMATS[0]
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: unknown format; expected a name that ends in {', '.join(SUFFIXES)}, or --format")
    return SUFFIXES[suffix]


def sealed_counts(store: Store, ledger: Ledger) -> KeyParts:
    """The runs and parts whose counts of every sentence would tell sealed labels.

    They are known by their predictions, which the ledger has, and by the test sets of the study. Another split of the
    same corpus may have the same sentences in any part, but for the standard one.
    """
    sealed, predictions = ledger.sealed_texts(), ledger.sealed_predictions()
    if not sealed:
        return frozenset()
    parts = {
        (key, part)
        for key, hashes in store.prediction_hashes().items()
        for part, digest in hashes.items()
        if digest in predictions
    }
    result = store.result()
    # A test set of a study is called `CORPUS, SPLIT NUMBER, test`.
    names = [test_set.name for test_set in result.test_sets if test_set.hash in sealed] if result else []
    hidden = {corpus for corpus in store.runs()["corpus"].unique() if any(n.startswith(f"{corpus}, ") for n in names)}
    rows = store.count_shapes().join(store.runs().select("key", "corpus", "split"), on="key")
    for key, part, corpus, split in rows.select("key", "part", "corpus", "split").iter_rows():
        if corpus in hidden and (part == TEST or not split.startswith(STANDARD)):
            parts.add((key, part))
    return frozenset(parts)


def blocks(store: Store, table: str, hidden: KeyParts = frozenset()) -> Iterator[pl.DataFrame]:
    """The rows of a table: one frame, or several for counts; at least one, for its header.

    Counts of `hidden` runs and parts are left out.
    """
    import polars as pl

    if table == "counts":
        yield from _count_blocks(store, hidden)
    else:
        frame = _with_labels(store, store.runs() if table == "runs" else store.scores())
        unknown = [pl.col("peak_mb").replace(0.0, None)] if table == "runs" else []
        yield frame.with_columns(pl.selectors.float().fill_nan(None)).with_columns(unknown)


def _with_labels(store: Store, frame: pl.DataFrame) -> pl.DataFrame:
    """The runs with what systems are called in the study; their names with all settings are a column of their own."""
    names = frame["system"]
    labels = store.labels(names.unique())
    return frame.with_columns(names.replace_strict(labels, return_dtype=names.dtype), name=names)


def write_text(store: Store, table: str, format: str, out: IO[str], *, hidden: KeyParts = frozenset()) -> None:
    """Write a table as CSV, safe to open in a spreadsheet, or JSON lines; NaN becomes an empty cell, or null."""
    for number, frame in enumerate(blocks(store, table, hidden)):
        if format == "csv":
            out.write(_for_spreadsheets(frame).write_csv(include_header=number == 0))
        else:
            out.write(frame.write_ndjson())


def _for_spreadsheets(frame: pl.DataFrame) -> pl.DataFrame:
    """Texts that are no formulas and have no control characters."""
    import polars as pl

    changed: list[pl.Series] = []
    for column in frame.select(pl.selectors.string()):
        safe = {text: spreadsheet_cell(text) for text in column.unique().drop_nulls()}
        if any(text != cell for text, cell in safe.items()):
            changed.append(column.replace(safe))
    return frame.with_columns(changed)


def write_table(store: Store, table: str, format: str, path: str, *, hidden: KeyParts = frozenset()) -> None:
    """Write a table to a file, in whole or not at all."""
    import polars as pl

    target = Path(os.path.realpath(path))
    if target == Path(os.path.realpath(store.path)):
        raise InputError(f"{path}: the store itself; expected another file to write to")
    try:
        with replace_file(target) as scratch:
            if format == "parquet":
                _write_parquet(store, table, scratch, hidden)
            else:
                with scratch.open("w", encoding="utf-8", newline="") as out:
                    write_text(store, table, format, out, hidden=hidden)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({reason(error)})") from error
    except pl.exceptions.PolarsError as error:  # a full disk, for example
        message = str(error).partition("\n")[0].lower()
        raise InputError(f"{path}: cannot be written ({message})") from error


def _write_parquet(store: Store, table: str, path: Path, hidden: KeyParts) -> None:
    from polars.io.plugins import register_io_source

    # Polars requests blocks from threads of its own, one at a time.
    with store.read(store.path, any_thread=True) as reader:
        frames = blocks(reader, table, hidden)
        first = next(frames)

        def source(
            columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, size: int | None
        ) -> Iterator[pl.DataFrame]:
            assert columns is None
            assert predicate is None
            yield first
            yield from frames

        register_io_source(source, schema=first.schema).sink_parquet(path)


def _count_blocks(store: Store, hidden: KeyParts) -> Iterator[pl.DataFrame]:
    """Counts of every run, part and metric, one row per unit; metrics with more fields add columns."""
    import polars as pl

    shapes = store.count_shapes()
    if hidden:
        pairs = pl.DataFrame(sorted(hidden), schema={"key": pl.String, "part": pl.String}, orient="row")
        shapes = shapes.join(pairs, on=["key", "part"], how="anti", maintain_order="left")
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
