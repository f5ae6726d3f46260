"""What a store says without its corpora: the result of its study, and what else its scores show.

The tests between systems were made when the study came to its end, and are in the store. From the scores follow the
distributions over seeds, the ranking over corpora, and how much test data would have been enough. A store without a
result, as one that was merged, has scores only: which of its cells belong together, the study file says.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from deadheat.errors import InputError
from deadheat.metrics import METRICS
from deadheat.metrics.metric import GOLD
from deadheat.questions.size import TestSet, study_sizes
from deadheat.questions.study import scale_of, sort_systems, system_scores
from deadheat.questions.table_report import PARTS, ScoreSelection, SourceReport
from deadheat.ranking.size_samples import SIZES, CountedSet, SizeSettings
from deadheat.registry import base_name
from deadheat.results.ledger import LedgerReport
from deadheat.results.search import SearchResult
from deadheat.results.study import FailedCell, Provenance, RunOverview, StudyBlock, StudyResult, StudySystem, SystemRuns
from deadheat.study.ledger.ledger import Ledger
from deadheat.study.plan.cells import DONE, Cell
from deadheat.study.plan.protocols import PROTOCOLS
from deadheat.study.plan.toml_lines import parse_toml
from deadheat.study.store.database import StoreError
from deadheat.study.store.store import Store
from deadheat.text import pluralize

# Beyond these a page is not worth the wait; deadheat size has no such limits.
SIZE_CORPORA, SIZE_RUNS, ORDERED_SYSTEMS, SIZE_SYSTEMS = 6, 5, 8, 3
NO_LIMIT = "deadheat size has no such limit"
PACKAGES = ("deadheat", "python", "numpy", "scipy", "numba")


def store_report(path: str | os.PathLike[str], *, ledger: Ledger | None = None) -> SourceReport:
    """Read a store and answer what its scores can answer, and how often the ledger has its test sets evaluated."""
    with Store.read(Path(path)) as store:
        store.check_rows()
        study = read_study(store)
        result = study.result
        report = SourceReport(result.name, (result,), study.notes, _protocol(store))
        selection = _selection(store, study) if result.finished else None
        if selection is not None:
            report += selection.over_seeds(result.alpha) + selection.over_corpora(
                result.alpha, tests=not result.comparisons
            )
            report += _sizes(selection, store)
    return report if ledger is None else report + _evaluations(ledger, result)


def _protocol(store: Store) -> str:
    """Which paper's experiment the study file says it follows."""
    protocol = PROTOCOLS.get(str(_study_table(store.study()).get("protocol", "")))
    if protocol is None:
        return ""
    return f'The study follows the experiment of {protocol.paper}, "{protocol.title}" (protocol {protocol.name}).'


def _study_table(text: str) -> Mapping[str, Any]:
    """A study file as it was stored; empty if it cannot be read."""
    try:
        return parse_toml(text)
    except ValueError:
        return {}


def _selection(store: Store, study: StoredStudy) -> ScoreSelection | None:
    """The scores that are shown, in an order that does not depend on which cell was ready first."""
    result, scores = study.result, study.scores
    seeded = scores.join(study.runs.select("key", "split_seed"), on="key", how="left", maintain_order="left")
    part = next((name for name in PARTS if name in scores["part"].unique().to_list()), "")
    metric = next((block.metrics[0] for block in result.blocks if block.part == part and block.metrics), "")
    label = result.metric_name(metric) if metric else ""
    selection = ScoreSelection.of(str(store.path), seeded, metric=metric, label=label)
    if selection is None:
        return None
    corpora = [corpus.name for corpus in result.corpora]
    systems = [system.label for system in result.systems]
    order = [_order("corpus", corpora), "corpus", "number", _order("system", systems), "system", "seed"]
    return replace(selection, scores=selection.scores.sort(order, maintain_order=True))


def _order(column: str, names: Sequence[str]) -> pl.Expr:
    positions = {name: position for position, name in enumerate(names)}
    return pl.col(column).replace_strict(positions, default=len(positions), return_dtype=pl.Int64)


def _sizes(selection: ScoreSelection, store: Store) -> SourceReport:
    """How much of each corpus's test part would have ranked the systems as all of it does."""
    if selection.part != PARTS[0]:
        return SourceReport()
    first = selection.first_splits()
    few = first.filter(pl.int_range(pl.len()).over("corpus", "system") < SIZE_RUNS)
    notes = []
    if few.height < first.height:
        notes.append(f"how much test data is enough is computed from {SIZE_RUNS} runs per system; {NO_LIMIT}")
    corpora = few.partition_by("corpus", maintain_order=True)
    counted = (_counts(selection, store, rows) for rows in corpora)
    sets = list(islice((item for item in counted if item is not None), SIZE_CORPORA))
    if not sets:
        return SourceReport()
    if len(corpora) > SIZE_CORPORA:
        limit = f"how much test data is enough is computed for the first {SIZE_CORPORA} of {len(corpora):,} corpora"
        notes.append(f"{limit}; {NO_LIMIT}")
    settings = SizeSettings()
    if any(len(item.systems) > len(set(item.systems)) > ORDERED_SYSTEMS for item in sets):  # by far the slowest part
        settings = replace(settings, aso_draws=0)
        notes.append(
            f"almost stochastic order by size of the test set is left out: more than {ORDERED_SYSTEMS} systems"
        )
    return SourceReport(results=(study_sizes([TestSet(item) for item in sets], settings),), notes=tuple(notes))


def _counts(selection: ScoreSelection, store: Store, rows: pl.DataFrame) -> CountedSet | None:
    """Counts per sentence of the runs on one corpus; None where there are none to sample."""
    if rows["system"].n_unique() < SIZE_SYSTEMS:
        return None
    try:
        metric = METRICS.make(selection.metric)
        counts = store.counts(rows["key"].to_list(), part=selection.part, metric=selection.metric)
    except StoreError:
        raise
    except InputError:  # runs without counts or of other units, or a metric of somebody else's
        return None
    lengths = counts[0, :, GOLD]
    words = int(lengths.sum())
    if words != int(rows["words"][0]) or words <= SIZES[0]:  # the metric does not count words, or there are very few
        return None
    filled = lengths > 0
    return CountedSet(str(rows["corpus"][0]), tuple(rows["system"]), lengths[filled], counts[:, filled], metric)


def _evaluations(ledger: Ledger, study: StudyResult) -> SourceReport:
    """What the ledger knows about the study's test sets, as far as it can be read."""
    hashes = {test_set.hash for test_set in study.test_sets}
    try:
        entries = tuple(entry for entry in ledger.tallies() if entry.test_set in hashes) if hashes else ()
        periods = ledger.periods(test_sets=hashes) if entries else ()
        warnings = ledger.warnings if entries else ()
    except InputError as error:
        return SourceReport(notes=(f"the number of evaluations of the test sets is unknown: {error}",))
    report = LedgerReport(entries, periods=periods)
    return SourceReport(results=(report,), notes=warnings) if entries else SourceReport()


@dataclass(frozen=True, slots=True, eq=False)
class StoredStudy:
    """The result of a study, and the rows of its store that are its own, with systems under their labels."""

    result: StudyResult
    scores: pl.DataFrame = field(repr=False)  # of its systems
    runs: pl.DataFrame = field(repr=False)  # of its systems, and of its searches under their `run_label`
    notes: tuple[str, ...] = ()  # what is left out


def read_study(store: Store) -> StoredStudy:
    """Read the result of a study, and add what its cells took and were run with.

    If the study was never run to its end, the result has the scores that there are, without tests, and systems have the
    labels that their runs recorded.
    """
    result, scores, runs = store.result(), store.scores(), store.runs()
    notes: list[str] = []
    if result is not None:  # there may be runs of other studies
        in_plan = pl.col("key").is_in(list(result.keys))
        searches = _search_rows(runs.filter(~in_plan), result.searches)
        others = runs.filter(~in_plan).height - searches.height
        scores, runs = scores.filter(in_plan), runs.filter(in_plan)
        if others:
            cells = f"the store has {pluralize(others, 'more cell')}, of another study or run since the end of this one"
            notes.append(f"{cells}; they are not part of this report")
    else:
        keys = _unfinished_search(runs, store.study())
        of_search = pl.col("key").is_in(keys)
        searches = runs.filter(of_search)
        scores, runs = scores.filter(~of_search), runs.filter(~of_search)
        result = _unfinished(store, scores, runs)
        if keys:
            networks = f"a search has {pluralize(len(keys), 'network')} so far, whose scores are not shown"
            notes.append(f"{networks}: settings are picked when all of them are there")
    labels = {system.name: system.label for system in result.systems}
    runs, scores = (frame.with_columns(pl.col("system").replace(labels)) for frame in (runs, scores))
    runs = pl.concat([runs, searches])
    records = [store.provenance(key) for key in runs["key"]] if notes else store.provenances()
    provenance = [_provenance(record) for at, record in enumerate(records) if record not in records[:at]]
    provenance = [item for at, item in enumerate(provenance) if item not in provenance[:at]]  # they show less
    result = replace(result, runs=run_overview(runs), provenance=tuple(provenance))
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
    peak, started = _number(runs["peak_mb"].max()), runs["started"].min()
    first = "" if started is None else str(started)[:16]
    return RunOverview(runs.height, runs.filter(done).height, cpu_s, wall_s, peak, first, systems)


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _provenance(record: Mapping[str, Any]) -> Provenance:
    host, user, platform, revision = (str(record.get(name, "")) for name in ("host", "user", "platform", "revision"))
    processors, changed = int(record.get("processors") or 0), bool(record.get("changed"))
    versions = {name: str(record[name]) for name in PACKAGES if record.get(name)}
    return Provenance(host, user, platform, processors, versions, revision, changed)


def _search_rows(runs: pl.DataFrame, searches: Sequence[SearchResult]) -> pl.DataFrame:
    """The runs of searches, each once, under the names of these."""
    names: dict[str, str] = {}
    for search in reversed(searches):
        names |= dict.fromkeys(search.keys, search.run_label)
    rows = runs.filter(pl.col("key").is_in(list(names)))
    return rows.with_columns(pl.col("key").replace_strict(names, return_dtype=pl.String).alias("system"))


def _unfinished_search(runs: pl.DataFrame, text: str) -> list[str]:
    """Keys of the networks of a search in a study that was never run to its end; `text` is the study file."""
    study = _study_table(text)
    if not study.get("search"):
        return []
    tune = str(study.get("tune") or "auto")
    setup = "" if tune == "auto" else Cell("", "", "", 0, 0, "", 0, tune=tune).setup
    rows = runs.filter(pl.col("setup") != setup) if study.get("systems") else runs
    return [str(key) for key in rows["key"]]


def _unfinished(store: Store, scores: pl.DataFrame, runs: pl.DataFrame) -> StudyResult:
    """A study that was not run to its end: scores without tests, and cells that failed."""
    labels = store.labels(runs["system"])
    seeds = runs.group_by("system").agg(pl.col("seed").unique().sort()).sort("system")
    systems = tuple(StudySystem(labels[name], name, tuple(values)) for name, values in seeds.iter_rows())
    runs, scores = (frame.with_columns(pl.col("system").replace(labels)) for frame in (runs, scores))
    blocks = _blocks(scores, runs)
    failures = runs.filter(pl.col("status") != DONE).select(*FailedCell.__slots__)
    failed = tuple(FailedCell(*row) for row in failures.iter_rows())
    metrics = {metric: _label(metric) for block in blocks for metric in block.metrics}
    return StudyResult(
        store.path.stem,
        blocks,
        metrics,
        scale=scale_of(blocks),
        systems=systems,
        failed=failed,
        store=str(store.path),
        finished=False,
        keys=tuple(runs["key"]),
    )


def _label(metric: str) -> str:
    try:
        return METRICS.make(metric).label
    except InputError:  # a metric of somebody else's
        return base_name(metric)


def _blocks(scores: pl.DataFrame, runs: pl.DataFrame) -> tuple[StudyBlock, ...]:
    seeded = scores.filter(pl.col("value").is_not_nan()).join(
        runs.select("key", "split_seed"), on="key", how="left", maintain_order="left"
    )
    blocks = []
    for (corpus, split, seed, part), rows in _groups(seeded, "corpus", "split", "split_seed", "part"):
        numbers = tuple(sorted(rows["number"].unique().to_list()))
        systems = sort_systems(
            [
                system_scores(system, metric, list(values.select("number", "value").iter_rows()), numbers)
                for (metric, system), values in _groups(rows, "metric", "system")
            ]
        )
        metrics = tuple(dict.fromkeys(row.metric for row in systems))
        blocks.append(StudyBlock(corpus, split, seed, part, numbers, metrics, tuple(systems)))
    return tuple(blocks)


def _groups(frame: pl.DataFrame, *columns: str) -> Iterable[tuple[tuple[Any, ...], pl.DataFrame]]:
    return frame.partition_by(*columns, as_dict=True, maintain_order=True).items()
