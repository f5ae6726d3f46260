"""A study as its store has it: the result of its last run, or what there is so far, with what its cells took."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from deadheat.errors import InputError
from deadheat.metrics import METRICS
from deadheat.questions.study import scale_of, sort_systems, system_scores
from deadheat.results.search import SearchResult
from deadheat.results.study import (
    FailedCell,
    Provenance,
    RunOverview,
    StudyBlock,
    StudyResult,
    SystemRuns,
)
from deadheat.study.plan.cells import DONE, Cell
from deadheat.study.store.store import Store
from deadheat.text import pluralize

PACKAGES = ("deadheat", "python", "numpy", "scipy", "numba")


@dataclass(frozen=True, slots=True, eq=False)
class StoredStudy:
    """The result of a study, and the rows of its store that are its own, with systems under their labels."""

    result: StudyResult
    scores: pl.DataFrame = field(repr=False)  # of its systems
    runs: pl.DataFrame = field(repr=False)  # of its systems, and of its searches under their `run_label`
    notes: tuple[str, ...] = ()  # what is left out


def read_study(store: Store) -> StoredStudy:
    """Read the result of a study, and add what its cells took and were run with.

    If the study was never run to its end, the result has the scores that there are, without tests.

    Raises
    ------
    InputError
        If the result is from a version of Deadheat that this one cannot read.
    """
    result, scores, runs = store.result(), store.scores(), store.runs()
    notes: list[str] = []
    if result is not None:  # there may be runs of other studies
        own = pl.col("key").is_in(list(result.keys))
        searches = _search_rows(runs.filter(~own), result.searches)
        others = runs.height - searches.height
        scores, runs = scores.filter(own), runs.filter(own)
        others -= runs.height
        if others:
            cells = f"the store has {pluralize(others, 'more cell')}, of another study or run since the end of this one"
            notes.append(f"{cells}; they are not part of this report")
    else:
        keys = _unfinished_search(runs, store.study())
        of_search = pl.col("key").is_in(keys)
        searches = runs.filter(of_search)
        scores, runs = scores.filter(~of_search), runs.filter(~of_search)
        result = _unfinished(store.path.stem, scores, runs)
        if keys:
            networks = f"a search has {pluralize(len(keys), 'network')} so far, whose scores are not shown"
            notes.append(f"{networks}: settings are picked when all of them are there")
    labels = {system.name: system.label for system in result.systems}
    runs, scores = (frame.with_columns(pl.col("system").replace(labels)) for frame in (runs, scores))
    runs = pl.concat([runs, searches])
    records = store.provenances() if not notes else _provenances_of(store, runs["key"].to_list())
    result = replace(result, runs=run_overview(runs), provenance=tuple(map(_provenance, records)))
    return StoredStudy(result, scores, runs, tuple(notes))


def run_overview(runs: pl.DataFrame) -> RunOverview | None:
    """What the cells of a store took; None if there are none."""
    if not runs.height:
        return None
    done = pl.col("status") == DONE
    rows = runs.group_by("system", maintain_order=True).agg(
        done.sum().alias("done"),
        (~done).sum().alias("failed"),
        pl.col("cpu_s").filter(done).mean(),
        pl.col("peak_mb").filter(done).max(),
    )
    systems = tuple(
        SystemRuns(name, finished, failed, _number(cpu), _number(peak))
        for name, finished, failed, cpu, peak in rows.iter_rows()
    )
    cpu_s, wall_s = (float(runs[name].sum()) for name in ("cpu_s", "wall_s"))
    started = runs["started"].min()
    return RunOverview(
        runs.height,
        runs.filter(done).height,
        cpu_s,
        wall_s,
        _number(runs["peak_mb"].max()),
        "" if started is None else str(started)[:16],
        systems,
    )


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _provenances_of(store: Store, keys: Sequence[str]) -> list[dict[str, Any]]:
    """What some cells were run with, each way once."""
    records: list[dict[str, Any]] = []
    for key in keys:
        record = store.provenance(key)
        if record not in records:
            records.append(record)
    return records


def _provenance(record: Mapping[str, Any]) -> Provenance:
    return Provenance(
        str(record.get("host", "")),
        str(record.get("user", "")),
        str(record.get("platform", "")),
        int(record.get("processors") or 0),
        {name: str(record[name]) for name in PACKAGES if record.get(name)},
        str(record.get("revision", "")),
        bool(record.get("changed")),
    )


def _search_rows(runs: pl.DataFrame, searches: Sequence[SearchResult]) -> pl.DataFrame:
    """The runs of searches, each once, under the names of these."""
    names: dict[str, str] = {}
    for search in reversed(searches):
        names |= dict.fromkeys(search.keys, search.run_label)
    rows = runs.filter(pl.col("key").is_in(list(names)))
    return rows.with_columns(pl.col("key").replace_strict(names, return_dtype=pl.String).alias("system"))


def _unfinished_search(runs: pl.DataFrame, text: str) -> list[str]:
    """Keys of the networks of a search in a study that was never run to its end; `text` is the study file."""
    try:
        study = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return []
    if not study.get("search"):
        return []
    tune = str(study.get("tune") or "auto")
    setup = "" if tune == "auto" else Cell("", "", "", 0, 0, "", 0, tune=tune).setup
    rows = runs.filter(pl.col("setup") != setup) if study.get("systems") else runs
    return [str(key) for key in rows["key"]]


def _unfinished(name: str, scores: pl.DataFrame, runs: pl.DataFrame) -> StudyResult:
    """A study that was not run to its end: scores without tests, and cells that failed."""
    blocks = tuple(_blocks(scores, runs))
    failed = tuple(
        FailedCell(*row) for row in runs.filter(pl.col("status") != DONE).select(*FailedCell.__slots__).iter_rows()
    )
    metrics = {metric: _label(metric) for block in blocks for metric in block.metrics}
    return StudyResult(
        name, blocks, metrics, scale=scale_of(blocks), failed=failed, finished=False, keys=tuple(runs["key"])
    )


def _label(metric: str) -> str:
    try:
        return METRICS.make(metric).label
    except InputError:  # a metric of somebody else's
        return metric.partition(".v")[0]


def _blocks(scores: pl.DataFrame, runs: pl.DataFrame) -> list[StudyBlock]:
    joined = scores.filter(pl.col("value").is_not_nan()).join(
        runs.select("key", "split_seed"), on="key", how="left", maintain_order="left"
    )
    place = ["corpus", "split", "split_seed", "part"]
    blocks = []
    for where, rows in joined.partition_by(*place, as_dict=True, maintain_order=True).items():
        corpus, split, seed, part = where
        numbers = tuple(sorted(rows["number"].unique().to_list()))
        systems = sort_systems(
            [
                system_scores(system, metric, list(own.select("number", "value").iter_rows()), numbers)
                for (metric, system), own in rows.partition_by(
                    "metric", "system", as_dict=True, maintain_order=True
                ).items()
            ]
        )
        metrics = tuple(dict.fromkeys(row.metric for row in systems))
        blocks.append(StudyBlock(corpus, split, seed, part, numbers, metrics, tuple(systems)))
    return blocks
