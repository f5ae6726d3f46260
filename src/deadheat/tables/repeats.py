"""Repeated rows in tables of runs: every copy of a row would count as one more run.

Equal scores prove nothing: accuracies on one test set have few possible values, so two runs often agree in all digits.
What is refused and what is a note is explained in `docs/seeds.md`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from deadheat.errors import InputError
from deadheat.tables.matrix import are_copies
from deadheat.tables.table import Runs
from deadheat.text import join_names, pluralize

# Words in names of columns that identify a run, or measure it, or, for columns of numbers, are results of it.
RUN_NAMES, FIXED_SEEDS = frozenset({"seed", "run", "uuid"}), frozenset({"split", "data"})
MEASUREMENTS = frozenset("host date time timestamp duration seconds minutes".split())
IDENTITIES = RUN_NAMES | MEASUREMENTS | {"id", "hash"}
RESULTS = frozenset(
    "f1 acc accuracy score loss las uas clas mlas blex bleu precision recall perplexity epoch epochs".split()
)
PARTS = frozenset("dev test valid validation tune best max min mean".split())  # results where there is no other word
COUNT = ""  # the name of a column that no table has
MANY = 5  # so many runs of a system are not all there twice by chance
EXPECTED = "expected every run once, or a column seed or run that tells runs apart"


def words_of(name: str) -> set[str]:
    """The words in the name of a column: `Test_F1`, `trainSeconds`, `split seed`."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+", name)}


def is_result(runs: Runs, name: str) -> bool:
    """Whether a column of numbers is named like a result of a run."""
    words = words_of(name)
    return runs.is_number(name) and bool(words & RESULTS or words <= PARTS)


def is_run_name(name: str) -> bool:
    """Whether a column names runs: seed, run_id, ..."""
    words = words_of(name)
    return bool(words & RUN_NAMES) and not words & (MEASUREMENTS | FIXED_SEEDS)


def check_repeats(
    runs: Runs,
    roles: Sequence[str],
    scores: Collection[str],
    *,
    settings: Iterable[str] = (),
    ignore: Iterable[str] | None = None,
) -> tuple[str, ...]:
    """Raise if runs are in the table more than once; return a note if some may be.

    Parameters
    ----------
    roles
        The columns of systems, data sets, ... of which errors speak; empty ones are skipped.
    scores
        Columns of scores, in which a repeated run may differ.
    settings, ignore
        Columns that are settings whatever their names, and columns that do not name runs; None where none can be named.
    """
    columns, roles = runs.frame.columns, [name for name in roles if name]
    required, ignored = ({runs.column(name) for name in names} for names in (settings, ignore or ()))
    fixed = {*roles, *scores, *required}
    names = [name for name in columns if name not in fixed | ignored and is_run_name(name)]
    numbering = [name for name in columns if name not in {*fixed, *names} and _is_numbering(runs.frame[name])]
    key = [
        name
        for name in columns
        if name in {*roles, *required} or not (name in scores or is_result(runs, name) or words_of(name) & MEASUREMENTS)
    ]
    if names:
        has_name = runs.frame.select(pl.any_horizontal(pl.col(names).is_not_null())).to_series()
        repeat = _first_repeat(runs.frame.select(key), has_name)
        if repeat:
            run = _described(runs, repeat[1], [*roles, *names])
            remedy = "" if ignore is None else f", or --ignore {names[0]} if it is not the name of a run"
            problem = f"a second run with {run} (the first is in {runs.line(repeat[0])})"
            raise InputError(f"{runs.location(repeat[1])}: {problem}; expected every run once{remedy}")
    copies = _Copies(runs, roles, [name for name in key if name not in {*names, *numbering}], tuple(numbering))
    if not names:
        return copies.check()
    if numbering:
        copies.refuse()
    return copies.renumbered(names)


def _is_numbering(series: pl.Series) -> bool:
    """Whether a column numbers the rows: all its values are different integers."""
    if series.dtype != pl.Float64 or series.null_count() or not series.is_unique().all():
        return False
    return bool((series == series.round()).all())


@dataclass(frozen=True, slots=True)
class _Copies:
    """Rows that are equal in all columns but those that number the rows."""

    runs: Runs
    roles: Sequence[str]
    key: Sequence[str]  # columns of what is run, without names and numbers of runs
    numbering: tuple[str, ...] = ()

    @property
    def rows(self) -> pl.DataFrame:
        return self.runs.frame.drop(self.numbering)

    def check(self) -> tuple[str, ...]:
        """Raise if rows are copies, where no column names runs; return a note if they may be."""
        if (problem := self.refuse()) is None:
            return ()
        first, row, distinct = problem
        extra = self.runs.frame.height - distinct.height
        if self.numbering and 2 * extra < self.runs.frame.height:  # equal scores of runs with numbers
            return ()
        rows = "1 row is the same as another" if extra == 1 else f"{pluralize(extra, 'row')} are the same as others"
        rows += self._but
        where = f"({self.runs.line(row)} as {self.runs.line(first)})"
        counted = "counts as a run of its own" if extra == 1 else "count as runs of their own"
        return (f"{rows} {where} and {counted}; a column seed or run would tell runs apart",)

    def refuse(self) -> tuple[int, int, pl.DataFrame] | None:
        """Raise if rows are certainly copies; else a row, one that is equal to it, and the distinct rows."""
        rows = self.rows
        if not rows.width or not (repeat := _first_repeat(rows, rows.is_duplicated())):
            return None
        first, row = repeat
        problem = f"{self.runs.location(row)}: the same row as in {self.runs.line(first)}{self._but}"
        distinct = _counted(rows)
        unique = [name for name in rows.columns if words_of(name) & IDENTITIES and distinct[name].is_unique().all()]
        if unique and not self.numbering:
            raise InputError(f"{problem}, {_described(self.runs, row, unique[:1])}; {EXPECTED}")
        times, whose = self._times(distinct, chance=bool(self.numbering))
        if whose:
            raise InputError(f"{self.runs.path}: all rows of {whose} are there {times} times{self._but}; {EXPECTED}")
        if times > 1:
            raise InputError(f"{problem}, and all rows are there {times} times; {EXPECTED}")
        return first, row, distinct

    def renumbered(self, names: Sequence[str]) -> tuple[str, ...]:
        """A note if the scores of runs with different names are copies: they may be, or the seed has no effect."""
        distinct = _counted(self.rows.drop(names))
        groups = distinct.select(self.key).n_unique() if self.key else 1
        times, whose = self._times(distinct, chance=True)
        if times == 1 or distinct.height == groups:  # the same score with every seed is no copy
            return ()
        scores = (
            f"all scores{f' of {whose}' if whose else ''} are there {times} times, under other values of {names[0]}"
        )
        return (f"{scores}; copies of runs would count as runs of their own, so expected every run once",)

    @property
    def _but(self) -> str:
        return f" but for {join_names(self.numbering)}" if self.numbering else ""

    def _times(self, distinct: pl.DataFrame, *, chance: bool) -> tuple[int, str]:
        """How often all rows are there, or all of a system, which is then named.

        Where `chance` makes rows equal, since scores have few values, it has to be unlikely that it makes all of them.
        """
        times = math.gcd(*distinct[COUNT].to_list())
        if times > 1 and distinct.height > 1 and (not chance or are_copies(times, distinct.height)):
            return times, ""
        groups = (
            distinct.group_by(self.key, maintain_order=True).agg(pl.col(COUNT))
            if self.key
            else distinct.select(pl.col(COUNT).implode())
        )
        for index, counts in enumerate(groups[COUNT].to_list()):
            times = math.gcd(*counts)
            if times > 1 and (are_copies(times, len(counts)) if chance else len(counts) >= MANY):
                return times, ", ".join(f"{name} {groups[name][index]}" for name in self.roles or self.key)
        return 1, ""


def _counted(rows: pl.DataFrame) -> pl.DataFrame:
    """The distinct rows, and how often each is there."""
    return rows.group_by(pl.all(), maintain_order=True).len(name=COUNT)


def _first_repeat(frame: pl.DataFrame, among: pl.Series) -> tuple[int, int] | None:
    """A row, and the first one after it that is equal to it."""
    candidates = (frame.is_duplicated() & among).arg_true()
    seen: dict[tuple[object, ...], int] = {}
    for row, values in zip(candidates.to_list(), frame[candidates].iter_rows(), strict=True):
        first = seen.setdefault(values, row)
        if first != row:
            return first, row
    return None


def _described(runs: Runs, row: int, names: Sequence[str]) -> str:
    """The cells of a row with their columns: `system A, seed 1`."""
    cells = [(name, runs.frame[name][row]) for name in names]
    return ", ".join(f"{name} {cell:g}" if isinstance(cell, float) else f"{name} {cell}" for name, cell in cells)
