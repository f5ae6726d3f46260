"""Tables in CSV, TSV, JSONL or Parquet with line numbers, and tables of runs with typed columns."""

from __future__ import annotations

import csv
import io
import math
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.files import read_content, size_limit
from deadheat.tables.excel import is_workbook, read_workbook
from deadheat.tables.frames import NAME, frame_of, is_frame
from deadheat.tables.json_rows import read_rows
from deadheat.tables.matrix import DataFrame, is_in_range, range_expected
from deadheat.tables.parquet import PARQUET, json_text, read_parquet

Path: TypeAlias = str | os.PathLike[str] | DataFrame
Numbers = NDArray[np.float64]
Lines = NDArray[np.int64]
# Names by which columns are recognised, in any case.
SYSTEMS = ("system", "model", "parser", "tagger", "team", "method", "classifier")
DATASETS = ("dataset", "data set", "data_set", "treebank", "corpus", "task")
SCORES = ("score", "value")
METRICS = ("metric", "measure")
SUBSETS = ("subset", "sample", "selection", "paper", "study")
CELL = 16  # bytes in memory
NEWLINE, QUOTE, RETURN = map(ord, '\n"\r')


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows of a file. Text is stripped, empty cells are null, and columns are text until numbers are needed.

    `lines` has the line of each row; it is empty for Parquet.
    """

    path: str
    frame: pl.DataFrame
    lines: Lines

    def location(self, row: int) -> str:
        """Return the location of a row: `scores.csv:17`, or `scores.parquet: row 17`."""
        return f"{self.path}:{self.lines[row]}" if len(self.lines) else f"{self.path}: row {row + 1}"

    def line(self, row: int) -> str:
        """Return where a row is in the file: `line 17`, or `row 17`."""
        return f"line {self.lines[row]}" if len(self.lines) else f"row {row + 1}"

    def column(self, name: str) -> str:
        """Return the column of this name in its own spelling; case matters only if it is the only difference."""
        columns = self.frame.columns
        matches = [name] if name in columns else [column for column in columns if column.lower() == name.lower()]
        if len(matches) != 1:
            raise NameUnknown(f"{self.path}: column", name, columns)
        return matches[0]

    def optional(self, name: str) -> str:
        """Return the column of this name; "" where none is named."""
        return self.column(name) if name else ""

    def find(self, name: str, names: Iterable[str], *, what: str, option: str = "") -> str:
        """Return the column that is asked for, else the only one of these names or ""; raise if there are several."""
        if name:
            return self.column(name)
        matches = [column for column in self.frame.columns if column.lower() in names]
        if len(matches) > 1:
            problem = f"columns {' and '.join(matches[:2])} could both be {what}"
            expected = f"one to be named by {option}" if option else "one of them only"
            raise InputError(f"{self.path}: {problem}; expected {expected}")
        return matches[0] if matches else ""

    def texts(self, name: str) -> pl.Series:
        """Return a column as text, with null for empty cells."""
        series = self.frame[name]
        return series if series.dtype == pl.String else series.cast(pl.String)

    def names(self, name: str, kind: str) -> pl.Series:
        """Return a column as text in which no cell may be empty."""
        texts = self.texts(name)
        if texts.null_count():
            row = int(texts.is_null().arg_true()[0])
            raise InputError(f"{self.location(row)}: no {kind}; expected a name in column {name}")
        return texts

    def texts_or(self, name: str, default: str) -> pl.Series:
        """Return a column as text, with a default for empty cells; without a name, the default in every row."""
        if name:
            return self.texts(name).fill_null(default)
        return pl.Series([default]).new_from_index(0, self.frame.height)

    def numbers(self, name: str, *, what: str = "") -> pl.Series:
        """Return a column as numbers of a sensible size, with null for empty cells; raise for any other cell."""
        series = self.frame[name]
        numbers = series.cast(pl.Float64, strict=False)
        values = numbers.fill_null(np.nan).to_numpy()
        wrong = np.flatnonzero(series.is_not_null().to_numpy() & ~is_in_range(values))
        if len(wrong):
            row = int(wrong[0])
            problem = f"{what or name} {str(series[row])!r}; {range_expected(values[row])}"
            raise InputError(f"{self.location(row)}: {problem}")
        return numbers


@dataclass(frozen=True, slots=True, eq=False)
class Runs(Table):
    """A table with one row per run. Columns are Float64 where every cell is a finite number or empty, else text."""

    def __len__(self) -> int:
        return self.frame.height

    def distinct(self, **roles: str) -> None:
        """Raise if a column has two roles."""
        taken: dict[str, str] = {}
        for role, name in roles.items():
            if name and name in taken:
                raise InputError(
                    f"{self.path}: column {name} is both {taken[name]} and {role}; expected different ones"
                )
            taken[name] = role

    def scores(self, name: str) -> Numbers:
        """Return a column in which every cell must be a number."""
        column = self.column(name)
        series = self.numbers(column)
        empty = series.is_null().arg_true()
        if len(empty):
            raise InputError(f"{self.location(int(empty[0]))}: {column} is empty; expected a number")
        return series.to_numpy()

    def is_number(self, name: str) -> bool:
        """Return whether a column has numbers."""
        return self.frame[self.column(name)].dtype == pl.Float64

    def codes(self, name: str, *, by_size: bool = False) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Return the number of each run's value, and the values in order of first appearance.

        With `by_size`, numbers are sorted by size. An empty cell is the value "", which all runs have without a name.
        """
        if not name:
            return np.zeros(len(self), np.int64), ("",)
        series = self.frame[self.column(name)]
        if series.dtype == pl.Float64:
            values, firsts, inverse = np.unique(
                series.fill_null(np.nan).to_numpy(), return_index=True, return_inverse=True
            )
            order = np.arange(len(values)) if by_size else np.argsort(firsts)
            texts = tuple("" if math.isnan(value) else _short(value) for value in values[order].tolist())
            return np.argsort(order)[inverse], texts
        distinct = series.fill_null("").unique(maintain_order=True)
        return codes_of(series.fill_null(""), distinct), tuple(distinct.to_list())

    def where(self, conditions: Iterable[str]) -> Runs:
        """Return the runs that meet all conditions COLUMN=VALUE; several values of one column are alternatives."""
        wanted: dict[str, list[str]] = {}
        for condition in conditions:
            name, equals, value = condition.partition("=")
            if not equals:
                raise InputError(f"{self.path}: condition {condition!r}; expected COLUMN=VALUE")
            wanted.setdefault(self.column(name.strip()), []).append(value.strip())
        kept = np.ones(len(self), bool)
        for name, values in wanted.items():
            codes, distinct = self.codes(name)
            kept &= np.isin(codes, [_index_of(f"{self.path}: {name}", value, distinct) for value in values])
        if not kept.any():
            combined = " and ".join(f"{name}={'|'.join(values)}" for name, values in wanted.items())
            raise InputError(f"{self.path}: no run has {combined}; expected conditions that some runs meet")
        return Runs(self.path, self.frame.filter(kept), self.lines[kept] if len(self.lines) else self.lines)


def open_runs(runs: Path | Runs) -> Runs:
    """Return runs as they are, or read them from a file."""
    return runs if isinstance(runs, Runs) else read_runs(runs)


def read_runs(path: Path) -> Runs:
    """Read runs from a table in CSV, TSV, JSONL or Parquet, plain or compressed."""
    return as_runs(read_table(path))


def as_runs(table: Table, kept: pl.Series | None = None) -> Runs:
    """Return a table, or some of its rows, with the columns typed."""
    frame = pl.DataFrame([_typed(series) for series in table.frame])
    if kept is None or kept.all():
        return Runs(table.path, frame, table.lines)
    return Runs(table.path, frame.filter(kept), table.lines[kept.to_numpy()] if len(table.lines) else table.lines)


def _typed(series: pl.Series) -> pl.Series:
    if series.dtype != pl.String:
        return series.cast(pl.String) if series.dtype == pl.Boolean else series.cast(pl.Float64)
    first = series.drop_nulls().head(1).cast(pl.Float64, strict=False)
    if not first.is_finite().any():  # most columns of text are recognised by their first cell
        return series
    numbers = series.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == series.null_count() and numbers.drop_nulls().is_finite().all() else series


def codes_of(series: pl.Series, distinct: pl.Series) -> NDArray[np.int64]:
    """Return the position of each text among distinct ones."""
    return series.cast(pl.Enum(distinct)).to_physical().to_numpy().astype(np.int64)


def _short(value: float) -> str:
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)


def _index_of(where: str, value: str, values: Sequence[str]) -> int:
    """Return the index of a value; numbers may be written in any form."""
    for form in (value, _number_form(value)):
        if form in values:
            return values.index(form)
    lowered = [name.lower() for name in values]
    if lowered.count(value.lower()) == 1:
        return lowered.index(value.lower())
    raise NameUnknown(where, value, values)


def _number_form(value: str) -> str:
    try:
        return _short(float(value))
    except ValueError:
        return value


def read_table(path: Path, content: bytes | None = None) -> Table:
    """Read CSV, TSV, JSONL or Parquet, plain or compressed, detected from the contents; or a DataFrame, as it is.

    A stream, which can be read only once, may have been read before: its `content`, decompressed.
    """
    if isinstance(path, Table):
        return path
    if is_frame(path):
        return _table(NAME, frame_of(path), np.empty(0, np.int64))
    name, raw = os.fspath(path), read_content(path) if content is None else content
    if raw.startswith(PARQUET):
        frame = read_parquet(name, raw)
        _check_header(name, frame.columns)
        return _table(name, frame, np.empty(0, np.int64))
    if is_workbook(raw):
        return _table(name, read_workbook(name, raw), np.empty(0, np.int64))
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        raw.decode()
    except UnicodeDecodeError:
        raise InputError(f"{name}: not a table of text; expected CSV, TSV, JSONL or Parquet") from None
    if not raw or raw.isspace():
        raise InputError(f"{name}: an empty table; expected a header and rows")
    if raw[:4096].lstrip().startswith((b"{", b"[{", b"[\n", b"[\r", b"[ ")):
        return _json(name, raw)
    return _separated(name, raw)


def _separated(path: str, raw: bytes) -> Table:
    raw = raw if b"\n" in raw else raw.replace(b"\r", b"\n")
    raw = raw if raw.endswith(b"\n") else raw + b"\n"
    text = np.frombuffer(raw, np.uint8)
    newlines = np.flatnonzero(text == NEWLINE)
    outside = _outside_quotes(path, raw, text)
    ends = newlines if outside is None else newlines[outside[newlines]]
    starts = np.concatenate([[0], ends[:-1] + 1])
    lines = np.searchsorted(newlines, starts) + 1
    kept = np.flatnonzero((ends > starts) & ~((ends == starts + 1) & (text[starts] == RETURN)))  # without empty lines
    top = int(kept[0])
    first = raw[starts[top] : ends[top]].decode()
    separator = next((mark for mark in "\t,;" if mark in first), ",")
    where = f"{path}:{lines[top]}"
    try:
        header = [cell.strip() for cell in next(csv.reader(io.StringIO(first), delimiter=separator))]
    except csv.Error as error:
        problem = f"no header ({str(error).partition(' - ')[0]})"
        raise InputError(f"{where}: {problem}; expected names of columns") from None
    _check_header(where, header)
    separators = np.flatnonzero(text == ord(separator))
    separators = separators if outside is None else separators[outside[separators]]
    widths = 1 + np.diff(np.searchsorted(separators, ends), prepend=0)
    ragged = kept[widths[kept] != len(header)]
    if len(ragged):
        row = int(ragged[0])
        raise InputError(f"{path}:{lines[row]}: {widths[row]} columns; expected {len(header)} as in the header")
    gaps = len(kept) < len(starts) - top
    body = b"".join(raw[starts[row] : ends[row] + 1] for row in kept[1:]) if gaps else raw[ends[top] + 1 :]
    frame = _cells_of(path, body, separator, header)
    if frame.height != len(kept) - 1:
        raise InputError(f"{path}: ambiguous quotes; expected quotes around whole cells")
    edges = [f" {separator}", f"{separator} ", " \n", "\n ", " \r", "\n\r"]
    padded = outside is not None or any(edge.encode() in raw for edge in edges)
    return _table(path, frame, lines[kept[1:]], padded=padded)


def _cells_of(path: str, body: bytes, separator: str, header: Sequence[str]) -> pl.DataFrame:
    schema = dict.fromkeys(header, pl.String)
    if not body:
        return pl.DataFrame(schema=schema)
    quote = chr(QUOTE) if QUOTE in body else None
    try:
        return pl.read_csv(body, has_header=False, separator=separator, quote_char=quote, schema=schema)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{path}: ambiguous quotes; expected quotes around whole cells") from error


def _outside_quotes(path: str, raw: bytes, text: NDArray[np.uint8]) -> NDArray[np.bool_] | None:
    """Return which bytes are outside quoted cells; None if all are."""
    if QUOTE not in raw:
        return None
    inside = (np.cumsum(text == QUOTE) & 1).astype(bool)
    if inside[-1]:
        line = raw.count(b"\n", 0, raw.rindex(b'"')) + 1
        raise InputError(f"{path}:{line}: unclosed quote; expected a closing one")
    return ~inside


def _check_header(where: str, header: Sequence[str]) -> None:
    if "" in header:
        raise InputError(f"{where}: column {header.index('') + 1} has no name; expected one for every column")
    twice = next((name for name, number in Counter(header).items() if number > 1), None)
    if twice is not None:
        raise InputError(f"{where}: two columns are named {twice}; expected a name for each")


def _json(path: str, raw: bytes) -> Table:
    rows, lines = read_rows(path, raw)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    _check_header(path, columns)
    if CELL * len(rows) * len(columns) > size_limit(len(raw)):
        shape = f"{len(rows):,} rows by {len(columns):,} columns"
        raise InputError(f"{path}: {shape}, most of them empty; expected fewer, or a larger --max-size")
    frame = pl.DataFrame(
        {name: pl.Series([json_text(row.get(name)) for row in rows], dtype=pl.String) for name in columns}
    )
    return _table(path, frame, np.array(lines, np.int64))


def _table(path: str, frame: pl.DataFrame, lines: Lines, *, padded: bool = True) -> Table:
    if not frame.height:
        raise InputError(f"{path}: an empty table; expected a header and rows")
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    if texts and padded:
        stripped = pl.col(texts).str.strip_chars()
        frame = frame.with_columns(pl.when(stripped != "").then(stripped))
    return Table(path, frame, lines)
