"""Comparisons on a table of scores: systems by data sets."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from deadheat.analyses.compare import Comparison
from deadheat.analyses.contest import Settings, choose_test, contests, tied
from deadheat.analyses.score import Score
from deadheat.errors import InputError, NameUnknown
from deadheat.metrics.metric import FIELDS, Counts, Metric, Sums, Values, ratio
from deadheat.stats.intervals import bootstrap
from deadheat.stats.ranks import critical_difference

DECIMALS = 6  # at most; scores are compared as integers, so that all swaps can be counted
Table = dict[str, dict[str, float]]  # system -> data set -> score


def read_scores(path: str | os.PathLike[str], *, metric: str = "") -> Table:
    """A table from a CSV or TSV file, plain or gzipped.

    Long: columns `system`, `score` and `dataset` (or `treebank`), and `metric` where there are several. Wide: the
    first column names data sets, the others are systems.
    """
    rows = _rows(str(path))
    if not rows:
        raise InputError(f"{path}: an empty table; expected a header and scores")
    header = [cell.strip().lower() for cell in rows[0]]
    where = next((header.index(name) for name in ("dataset", "treebank", "data set", "corpus") if name in header), None)
    found: Table = {}
    if where is not None and "system" in header and "score" in header:
        kinds = sorted({row[header.index("metric")] for row in rows[1:]}) if "metric" in header else [""]
        wanted = _wanted(str(path), kinds, metric)
        for line, row in enumerate(rows[1:], start=2):
            if "metric" in header and row[header.index("metric")] != wanted:
                continue
            system, name = row[header.index("system")], row[where]
            if name in found.setdefault(system, {}):
                raise InputError(f"{path}:{line}: a second score of {system} on {name}; expected one")
            found[system][name] = _number(str(path), line, row[header.index("score")])
        return found
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise InputError(f"{path}:{line}: {len(row)} columns; expected {len(rows[0])} as in the header")
        for system, cell in zip(rows[0][1:], row[1:], strict=True):
            if cell.strip():
                found.setdefault(system.strip(), {})[row[0]] = _number(str(path), line, cell)
    return found


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
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode()
    except (OSError, UnicodeDecodeError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read ({reason.lower()})") from error
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
    """Compare systems by their scores on the same data sets, paired by data set.

    Every data set counts the same: the value is the mean score.

    Examples
    --------
    >>> table = {"A": {"en": 90, "de": 85, "fi": 80, "ta": 60}, "B": {"en": 89, "de": 84, "fi": 78, "ta": 61}}
    >>> found = compare_scores(table)
    >>> print(found.test, found.pairs[0].difference, found.pairs[0].p)
    permutation-exact 0.75 0.5
    """
    settings = settings or Settings()
    table = dict(scores) if isinstance(scores, Mapping) else read_scores(scores, metric=metric)
    if len(table) < 2:
        raise InputError(f"{len(table)} system; expected at least two to compare")
    names, dropped = _common(table, missing)
    unit = _scale([found[name] for found in table.values() for name in names])
    counts: dict[str, Counts] = {}
    for system, found in table.items():
        whole = np.array([round(found[name] * unit) for name in names], np.int64)
        if whole.min() < 0:
            raise InputError(f"{system}: a negative score; expected none below zero")
        counts[system] = np.stack([whole, np.full_like(whole, unit), np.full_like(whole, unit)], axis=1)
    measure = Metric(metric or "mean", metric or "mean score", _no_counts, mean_score, FIELDS)
    test, reason = choose_test(list(counts.values()))
    if settings.test:
        test, reason = settings.test, "asked for"
    rows = tuple(_row(name, each, measure, settings) for name, each in counts.items())
    pairs = contests(counts, mean_score, settings, reference=reference)
    values = {row.file: row.value for row in rows}
    ranks = None
    if len(table) > 2 and len(names) > 1:
        scores_SD = np.array([[found[name] for name in names] for found in table.values()])
        ranks = critical_difference(scores_SD, names=list(table), datasets=names, alpha=settings.alpha)
    notes = (f"{dropped} data sets without a score of every system left out",) if dropped else ()
    return Comparison(
        measure.label,
        "data set",
        test,
        reason,
        settings,
        rows,
        pairs,
        tied(values, counts, mean_score, settings, pairs),
        ranks=ranks,
        notes=notes,
    )


def mean_score(sums: Sums) -> Values:
    """Summed scores over summed units: their mean."""
    return ratio(sums[..., 0], sums[..., 1], empty=np.nan)


def _no_counts(_: object) -> Counts:
    raise AssertionError("scores of a table are not counted")


def _row(name: str, counts_NF: Counts, measure: Metric, settings: Settings) -> Score:
    rng = np.random.default_rng(settings.seed)
    interval = bootstrap(counts_NF, mean_score, rng=rng, level=1 - settings.alpha)
    total = counts_NF.sum(axis=0)
    return Score(name, measure, float(mean_score(total)), interval, total, counts_NF)


def _scale(scores: list[float]) -> int:
    """The power of ten that makes integers of all scores."""
    for decimals in range(DECIMALS):
        if all(abs(score * 10**decimals - round(score * 10**decimals)) < 1e-7 for score in scores):
            return int(10**decimals)
    return int(10**DECIMALS)


def _common(table: Mapping[str, Mapping[str, float]], missing: str) -> tuple[list[str], int]:
    """Data sets that every system has a score on, and how many were left out."""
    everywhere = list(dict.fromkeys(name for found in table.values() for name in found))
    lacking = [(system, name) for system, found in table.items() for name in everywhere if name not in found]
    if lacking and missing == "refuse":
        system, name = lacking[0]
        more = f", the first of {len(lacking)} missing scores" if len(lacking) > 1 else ""
        raise InputError(f"{system} has no score on {name}{more}; expected one, or to drop such data sets")
    absent = {name for _, name in lacking}
    return [name for name in everywhere if name not in absent], len(absent)
