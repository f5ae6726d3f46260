"""Tables of runs: one row per run, with columns of settings, ids and results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.tables.table import Lines, Numbers, Path, Table, read_table

__all__ = ["Path", "Runs", "read_runs"]


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Runs with typed columns: Float64 where every cell is a finite number or empty, else text."""

    path: str
    frame: pl.DataFrame
    lines: Lines  # empty for Parquet

    def __len__(self) -> int:
        return self.frame.height

    @property
    def _table(self) -> Table:
        return Table(self.path, self.frame, self.lines)

    def place(self, row: int) -> str:
        """Return the location of a row: `runs.tsv:17`."""
        return self._table.place(row)

    def column(self, name: str) -> str:
        """Return the column of this name in its own spelling."""
        return self._table.column(name)

    def guess(self, names: Iterable[str], *, what: str, option: str) -> str:
        """Return the only column with one of these names, or the empty string."""
        return self._table.guess(names, what=what, option=option)

    def distinct(self, **roles: str) -> None:
        """Raise if a column has two roles."""
        taken: dict[str, str] = {}
        for role, name in roles.items():
            if name and name in taken:
                raise InputError(
                    f"{self.path}: column {name} is both {taken[name]} and {role}; expected different ones"
                )
            taken[name] = role

    def numbers(self, name: str) -> Numbers:
        """Return a column in which every cell must be a number."""
        column = self.column(name)
        series = self._table.numbers(column)
        empty = series.is_null().arg_true()
        if len(empty):
            raise InputError(f"{self.place(int(empty[0]))}: {column} is empty; expected a number")
        return series.to_numpy()

    def is_number(self, name: str) -> bool:
        """Return whether a column has numbers."""
        return self.frame[self.column(name)].dtype == pl.Float64

    def codes(self, name: str, *, by_size: bool = False) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Return the number of each run's value, and the values in order of first appearance.

        With `by_size`, numbers are sorted by size. An empty cell is the value "".
        """
        series = self.frame[self.column(name)]
        if series.dtype == pl.Float64:
            values, firsts, inverse = np.unique(
                series.fill_null(np.nan).to_numpy(), return_index=True, return_inverse=True
            )
            order = np.arange(len(values)) if by_size else np.argsort(firsts)
            places = np.empty(len(order), np.int64)
            places[order] = np.arange(len(order))
            return places[inverse], tuple(
                "" if math.isnan(value) else _short(value) for value in values[order].tolist()
            )
        texts = series.fill_null("")
        distinct = texts.unique(maintain_order=True)
        return texts.cast(pl.Enum(distinct)).to_physical().to_numpy().astype(np.int64), tuple(distinct.to_list())

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
        return self.take(np.flatnonzero(kept))

    def take(self, rows: NDArray[np.int64]) -> Runs:
        """Select runs by row."""
        return Runs(self.path, self.frame[rows], self.lines[rows] if len(self.lines) else self.lines)


def read_runs(path: Path) -> Runs:
    """Read runs from a table in CSV, TSV, JSONL or Parquet, plain or compressed."""
    table = read_table(path)
    typed = [_typed(series) for series in table.frame]
    return Runs(table.path, pl.DataFrame(typed), table.lines)


def _typed(series: pl.Series) -> pl.Series:
    if series.dtype != pl.String:
        return series.cast(pl.String) if series.dtype == pl.Boolean else series.cast(pl.Float64)
    first = series.first(ignore_nulls=True)
    if not isinstance(first, str) or not _is_number(first):
        return series
    numbers = series.cast(pl.Float64, strict=False)
    same = numbers.null_count() == series.null_count()
    return numbers if same and np.isfinite(numbers.drop_nulls().to_numpy()).all() else series


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


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
