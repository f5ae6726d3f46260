"""Repeated rows in tables of runs: every copy of a row would count as one more run.

Equal scores prove nothing: accuracies on one test set have few possible values, so two runs often agree in all digits.
What is refused and what is a note is explained in `docs/seeds.md`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence

import polars as pl

from deadheat.errors import InputError
from deadheat.tables.table import Runs
from deadheat.text import pluralize

# Words in names of columns that identify a run, or measure it, or, for columns of numbers, are results of it.
RUN_NAMES, FIXED_SEEDS = frozenset({"seed", "run", "uuid"}), frozenset({"split", "data"})
MEASUREMENTS = frozenset("host date time timestamp duration seconds minutes".split())
IDENTITIES = RUN_NAMES | MEASUREMENTS | {"id", "hash"}
RESULTS = frozenset(
    "f1 acc accuracy score loss las uas clas mlas blex bleu precision recall perplexity epoch epochs".split()
)
PARTS = frozenset("dev test valid validation tune best max min mean".split())  # results where there is no other word
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
    fixed = {*roles, *scores, *required, *ignored}
    names = [name for name in columns if name not in fixed and is_run_name(name)]
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
        return ()
    return _check_copies(runs, roles, key)


def _check_copies(runs: Runs, roles: Sequence[str], key: Sequence[str]) -> tuple[str, ...]:
    """Rows that are equal in all columns, where no column names runs."""
    copies = runs.frame.is_duplicated()
    repeat = _first_repeat(runs.frame, copies)
    if not repeat:
        return ()
    first, row = repeat
    problem = f"{runs.location(row)}: the same row as in {runs.line(first)}"
    distinct = runs.frame.group_by(pl.all(), maintain_order=True).len(name="")
    unique = [name for name in distinct.columns if words_of(name) & IDENTITIES and distinct[name].is_unique().all()]
    if unique:
        raise InputError(f"{problem}, {_described(runs, row, unique[:1])}; {EXPECTED}")
    times = math.gcd(*distinct[""].to_list())
    if times > 1 and distinct.height > 1:
        raise InputError(f"{problem}, and all rows are there {times} times; {EXPECTED}")
    groups = (
        distinct.group_by(key, maintain_order=True).agg(pl.col("")) if key else distinct.select(pl.col("").implode())
    )
    for index, counts in enumerate(groups[""].to_list()):
        times = math.gcd(*counts)
        if times > 1 and len(counts) >= MANY:
            whose = ", ".join(f"{name} {groups[name][index]}" for name in roles or key)
            raise InputError(f"{runs.path}: all rows of {whose} are there {times} times; {EXPECTED}")
    extra = runs.frame.height - distinct.height
    rows = "1 row is the same as another" if extra == 1 else f"{pluralize(extra, 'row')} are the same as others"
    where = f"({runs.line(row)} as {runs.line(first)})"
    counted = "counts as a run of its own" if extra == 1 else "count as runs of their own"
    return (f"{rows} {where} and {counted}; a column seed or run would tell runs apart",)


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
