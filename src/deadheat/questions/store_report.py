"""What a store says without its corpora: the result of the study, and what else its scores show.

The tests between systems were made when the study came to its end, and are in the store. From the scores follow the
distributions over seeds, the ranking over corpora, and how much test data would have been enough.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import polars as pl

from deadheat.errors import InputError
from deadheat.metrics import METRICS
from deadheat.metrics.metric import GOLD
from deadheat.questions.score_selection import PARTS, ScoreSelection, SourceReport
from deadheat.questions.size import study_sizes
from deadheat.questions.size_counts import TestSet
from deadheat.questions.stored_study import StoredStudy, read_study
from deadheat.ranking.size_samples import SIZES, CountedSet, SizeSettings
from deadheat.results.ledger import LedgerReport
from deadheat.results.study import StudyResult
from deadheat.study.ledger.ledger import Ledger
from deadheat.study.store.store import Store

# Beyond these there is more to compute than a page is worth pending_cells for; deadheat size has no such limits.
SIZE_CORPORA, SIZE_RUNS, ORDERED_SYSTEMS, SIZE_SYSTEMS = 6, 5, 8, 3


def store_report(path: str | os.PathLike[str], *, ledger: Ledger | None = None) -> SourceReport:
    """Read a store and answer what its scores can answer.

    Parameters
    ----------
    ledger
        Where evaluations of the study's test sets were recorded.

    Raises
    ------
    InputError
        If it is not a store, is broken, or holds a result that this version cannot read.
    """
    with Store.read(Path(path)) as store:
        study = read_study(store)
        result = study.result
        report = SourceReport(result.name, (result,), study.notes)
        selection = _selection(store, study)
        if selection is not None:
            report += selection.over_seeds(result.alpha) + selection.over_corpora(result.alpha)
            report += _sizes(selection, store)
    return report if ledger is None else report + _evaluations(ledger, result)


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
    no_limit = "deadheat size has no such limit"
    if few.height < first.height:
        notes.append(f"how much test data is enough is computed from {SIZE_RUNS} runs per system; {no_limit}")
    corpora = few.partition_by("corpus", maintain_order=True)
    counted = (_counts(selection, store, rows) for rows in corpora)
    sets = list(islice((each for each in counted if each is not None), SIZE_CORPORA))
    if not sets:
        return SourceReport()
    if len(corpora) > SIZE_CORPORA:
        limit = f"how much test data is enough is computed for the first {SIZE_CORPORA} of {len(corpora):,} corpora"
        notes.append(f"{limit}; {no_limit}")
    settings = SizeSettings()
    if any(len(each.systems) > len(set(each.systems)) > ORDERED_SYSTEMS for each in sets):  # by far the slowest part
        settings = replace(settings, aso_draws=0)
        notes.append(
            f"almost stochastic order by size of the test set is left out: more than {ORDERED_SYSTEMS} systems"
        )
    return SourceReport(results=(study_sizes([TestSet(each) for each in sets], settings),), notes=tuple(notes))


def _counts(selection: ScoreSelection, store: Store, rows: pl.DataFrame) -> CountedSet | None:
    """Counts per sentence of the runs on one corpus; None where there are none to sample."""
    if rows["system"].n_unique() < SIZE_SYSTEMS:
        return None
    try:
        metric = METRICS.make(selection.metric)
        counts = store.counts(rows["key"].to_list(), part=selection.part, metric=selection.metric)
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
    except InputError as error:
        return SourceReport(notes=(f"the number of evaluations of the test sets is unknown: {error}",))
    return SourceReport(results=(LedgerReport(entries),)) if entries else SourceReport()
