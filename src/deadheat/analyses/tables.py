"""Comparisons on a table of scores: systems by data sets."""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deadheat.analyses.compare import Comparison
from deadheat.analyses.contest import Settings, verdict
from deadheat.analyses.score import Score
from deadheat.errors import InputError, NameUnknown, counted
from deadheat.metrics.metric import FIELDS, Counts, Metric, Sums, Values, ratio
from deadheat.stats.intervals import bootstrap
from deadheat.stats.ranks import critical_difference

DECIMALS = 6  # scores of so many decimals are compared as they stand, as integers, so that all swaps can be counted
MOST_DIGITS = 9  # finer ones are rounded to so many digits of their range
MISSING = ("refuse", "drop")
DATA_SET_NAMES = ("dataset", "treebank", "data set", "corpus")
SYSTEM_NAMES = ("system", "model", "tagger", "parser")
Table = dict[str, dict[str, float]]  # system -> data set -> score


def read_scores(path: str | os.PathLike[str], *, metric: str = "") -> Table:
    """A table from a CSV or TSV file, plain or gzipped.

    Long: columns `system`, `score` and `dataset` (or `treebank`), and `metric` where there are several. Wide: the
    first column names data sets, the others are systems.
    """
    rows = _rows(str(path))
    if not rows:
        raise InputError(f"{path}: an empty table; expected a header and scores")
    for line, row in enumerate(rows[1:], start=2):
        _check_width(str(path), line, row, rows[0])
    header = [cell.strip().lower() for cell in rows[0]]
    where = next((header.index(name) for name in DATA_SET_NAMES if name in header), None)
    if where is not None and "system" in header and "score" in header:
        return _long(str(path), header, where, rows, metric)
    return _wide(str(path), header, rows)


def _long(path: str, header: list[str], where: int, rows: list[list[str]], metric: str) -> Table:
    kinds = sorted({row[header.index("metric")] for row in rows[1:]}) if "metric" in header else [""]
    wanted = _wanted(path, kinds, metric)
    found: Table = {}
    for line, row in enumerate(rows[1:], start=2):
        cell = row[header.index("score")]
        if ("metric" in header and row[header.index("metric")] != wanted) or not cell.strip():
            continue
        system, name = row[header.index("system")], row[where]
        if name in found.setdefault(system, {}):
            raise InputError(f"{path}:{line}: a second score of {system} on {name}; expected one")
        found[system][name] = _number(path, line, cell)
    return found


def _wide(path: str, header: list[str], rows: list[list[str]]) -> Table:
    if header[0] in SYSTEM_NAMES:
        told = f"systems in rows (the first column is {rows[0][0]!r})"
        raise InputError(f"{path}:1: {told}; expected data sets in rows and systems in columns, or a long table")
    systems = [cell.strip() for cell in rows[0][1:]]
    if len(set(systems)) < len(systems):
        twice = next(name for name in systems if systems.count(name) > 1)
        raise InputError(f"{path}:1: two columns are named {twice}; expected a name for each system")
    found: Table = {system: {} for system in systems}
    seen: set[str] = set()
    for line, row in enumerate(rows[1:], start=2):
        if row[0] in seen:
            raise InputError(f"{path}:{line}: a second row of {row[0]}; expected one")
        seen.add(row[0])
        for system, cell in zip(systems, row[1:], strict=True):
            if cell.strip():
                found[system][row[0]] = _number(path, line, cell)
    return found


def _check_width(path: str, line: int, row: list[str], header: list[str]) -> None:
    if len(row) != len(header):
        raise InputError(f"{path}:{line}: {len(row)} columns; expected {len(header)} as in the header")


def _wanted(path: str, kinds: list[str], metric: str) -> str:
    if metric:
        for kind in kinds:
            if kind.lower() == metric.lower():
                return kind
        raise NameUnknown(f"{path}: metric", metric, kinds)
    if len(kinds) > 1:
        raise InputError(f"{path}: several metrics ({', '.join(kinds)}); expected one to be named by --metric")
    return kinds[0]


def _rows(path: str) -> list[list[str]]:
    try:
        raw = Path(path).read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read ({reason.lower()})") from error
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a table of text; expected CSV or TSV") from None
    first = text.partition("\n")[0]
    return [row for row in csv.reader(io.StringIO(text), delimiter="\t" if "\t" in first else ",") if row]


def _number(path: str, line: int, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        raise InputError(f"{path}:{line}: score {cell!r}; expected a number")
    return value


def compare_scores(
    scores: str | os.PathLike[str] | Mapping[str, Mapping[str, float]],
    *,
    settings: Settings | None = None,
    metric: str = "",
    reference: str = "",
    missing: str = "refuse",
) -> Comparison:
    """Compare systems by their scores on the same data sets, paired by data set; more is better.

    Every data set counts the same: the value is the mean score.

    Examples
    --------
    >>> table = {"A": {"en": 90, "de": 85, "fi": 80, "ta": 60}, "B": {"en": 89, "de": 84, "fi": 78, "ta": 61}}
    >>> found = compare_scores(table)
    >>> print(found.test, found.pairs[0].difference, found.pairs[0].p)
    permutation-exact 0.75 0.5
    """
    settings = settings or Settings()
    if missing not in MISSING:
        raise NameUnknown("way with missing scores", missing, MISSING)
    table = dict(scores) if isinstance(scores, Mapping) else read_scores(scores, metric=metric)
    if len(table) < 2:
        raise InputError(f"{counted(len(table), 'system')}; expected at least two to compare")
    names, dropped = _common(table, missing)
    scores_SD = np.array([[found[name] for name in names] for found in table.values()], float)
    if not np.isfinite(scores_SD).all():
        system, name = np.argwhere(~np.isfinite(scores_SD))[0]
        raise InputError(f"{list(table)[system]} on {names[name]}: a score that is no number; expected one")
    whole_SD, unit, lowest, notes = _whole(scores_SD)
    counts = {
        system: np.stack([row, np.full_like(row, unit), np.full_like(row, unit)], axis=1)
        for system, row in zip(table, whole_SD, strict=True)
    }
    mean = mean_above(lowest)
    measure = Metric(metric or "mean", metric or "mean score", _no_counts, mean, FIELDS)
    rows = tuple(_row(name, each, measure, settings) for name, each in counts.items())
    found = verdict(counts, {row.file: row.value for row in rows}, mean, settings, reference=reference)
    ranks = None
    if len(table) > 2 and len(names) > 1:
        ranks = critical_difference(scores_SD, names=list(table), datasets=names, alpha=settings.alpha)
    if dropped:
        notes = (*notes, f"{counted(dropped, 'data set')} without a score of every system left out")
    return Comparison(
        measure.label,
        "data set",
        found.reason,
        found.settings,
        rows,
        found.pairs,
        found.tied,
        len(names),
        scale=1.0,
        ranks=ranks,
        notes=notes,
    )


def mean_above(lowest: float) -> Callable[[Sums], Values]:
    """The mean of scores that were counted from the lowest one on."""

    def mean(sums: Sums) -> Values:
        return lowest + ratio(sums[..., 0], sums[..., 1], empty=np.nan)

    return mean


def _whole(scores_SD: Values) -> tuple[NDArray[np.int64], int, float, tuple[str, ...]]:
    """Scores as integers above the lowest, what 1 became, the lowest, and a note if digits were lost."""
    lowest = float(scores_SD.min())
    spread = float(scores_SD.max()) - lowest
    for decimals in range(DECIMALS + 1):
        unit = int(10**decimals)
        exact = np.abs(scores_SD * unit - np.round(scores_SD * unit)) < 1e-6 * max(1.0, abs(lowest) + spread)
        if exact.all() and (unit * spread > 1 or not spread):
            low = round(lowest * unit)
            return np.round(scores_SD * unit).astype(np.int64) - low, unit, low / unit, ()
    unit = int(10 ** max(0, MOST_DIGITS - math.ceil(math.log10(spread))))
    whole = np.round((scores_SD - lowest) * unit).astype(np.int64)
    return whole, unit, lowest, (f"scores are compared to {MOST_DIGITS} digits of their range",)


def _no_counts(_: object) -> Counts:
    raise AssertionError("scores of a table are not counted")


def _row(name: str, counts_NF: Counts, measure: Metric, settings: Settings) -> Score:
    rng = np.random.default_rng(settings.seed)
    interval = bootstrap(counts_NF, measure.value, rng=rng, level=1 - settings.alpha, resamples=settings.resamples)
    total = counts_NF.sum(axis=0)
    return Score(name, measure, float(measure.value(total)), interval, total, counts_NF)


def _common(table: Mapping[str, Mapping[str, float]], missing: str) -> tuple[list[str], int]:
    """Data sets that every system has a score on, and how many were left out."""
    everywhere = list(dict.fromkeys(name for found in table.values() for name in found))
    lacking = [(system, name) for system, found in table.items() for name in everywhere if name not in found]
    if lacking and missing == "refuse":
        system, name = lacking[0]
        more = f", the first of {len(lacking)} missing scores" if len(lacking) > 1 else ""
        raise InputError(
            f"{system} has no score on {name}{more}; expected one, or to drop such data sets (--missing drop)"
        )
    absent = {name for _, name in lacking}
    kept = [name for name in everywhere if name not in absent]
    if not kept:
        raise InputError("no data set has a score of every system; expected at least two")
    return kept, len(absent)
