"""Predictions of systems, aligned with gold and counted over the units that all of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from deadheat.corpus import Corpus
from deadheat.corpus.reading import ReadingOptions
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError, NameUnknown
from deadheat.metrics import METRICS, Metric, Pair
from deadheat.metrics import align as align_words
from deadheat.metrics.metric import Counts
from deadheat.questions import inputs
from deadheat.questions.columns import check_columns
from deadheat.questions.designs import Prediction
from deadheat.questions.gold_files import check_same_annotation
from deadheat.questions.joint import CountedDataset
from deadheat.questions.score import (
    AUTO,
    DOCUMENT,
    FEW_DOCUMENTS,
    MIN_DOCUMENTS,
    SENTENCE,
    TOKEN,
    check_gold,
    default_metric,
    notes_on,
)
from deadheat.stats.estimates import effective_units
from deadheat.study.ledger.ledger import LedgerEntry, RecordedEvaluations
from deadheat.text import pluralize


@dataclass(frozen=True, slots=True, eq=False)
class CountedRuns:
    """The runs of all systems on one data set: corpora, alignments and counts."""

    dataset: CountedDataset
    metric: Metric
    gold: Corpus  # of the first prediction
    pairs: Mapping[str, tuple[Pair, ...]]  # the runs of every system
    golds: tuple[tuple[Corpus, tuple[Corpus, ...]], ...]  # every gold file with the predictions scored against it
    starts: Indices  # the first gold sentence of each unit, or of each sentence that documents consist of
    notes: tuple[str, ...] = ()
    is_sealed: bool = False

    @property
    def first_runs(self) -> list[Pair]:
        """The first run of every system."""
        return [runs[0] for runs in self.pairs.values()]

    def record(self, entry: LedgerEntry | None, settings: str) -> list[RecordedEvaluations]:
        """Record an evaluation of every run in the ledger, if gold is a test set."""
        return [inputs.record(entry, gold, runs, [self.metric.name], settings) for gold, runs in self.golds]


def count_runs(
    predictions: Sequence[Prediction],
    metric: str,
    *,
    unit: str = AUTO,
    align: str = "text",
    ledger_entry: LedgerEntry | None = None,
    reading: ReadingOptions,
) -> CountedRuns:
    """Read the predictions of one data set, and count every run over the units that all share.

    Runs may have different gold files, as long as these have the same sentences and are the same to the metric: some
    parsers come with a gold file in which columns that they do not predict are changed.
    """
    if unit not in inputs.UNITS:
        raise NameUnknown("unit", unit, inputs.UNITS)
    for prediction in predictions:
        inputs.check_prediction(prediction.system, prediction.gold, prediction.predicted)
    sources = {inputs.key_of(prediction.gold): prediction.gold for prediction in predictions}
    unsealed = [inputs.unseal(gold, reading, ledger_entry) for gold in sources.values()]
    predicted = [prediction.predicted for prediction in predictions]
    corpora = inputs.open_corpora([*(gold for gold, _ in unsealed), *predicted], reading)
    golds, first = dict(zip(sources, corpora, strict=False)), corpora[0]
    for gold in golds.values():
        if not np.array_equal(gold.offsets, first.offsets):
            expected = "expected the same sentences in all gold files of a data set"
            raise InputError(f"{gold.name}: other sentences than {first.name}; {expected}")
    runs = [
        replace(corpus, name=prediction.system)
        for prediction, corpus in zip(predictions, corpora[len(golds) :], strict=True)
    ]
    gold_of_run = [golds[inputs.key_of(prediction.gold)] for prediction in predictions]
    if unit == DOCUMENT and not first.has_documents:
        raise InputError(f"{first.name}: no document marks; expected them to compare by document")
    fine = TOKEN if unit == TOKEN else SENTENCE
    pairs = [align_words(gold, run, by=align, unit=fine) for gold, run in zip(gold_of_run, runs, strict=True)]
    for pair, source in zip(pairs, predicted, strict=True):
        if not isinstance(source, Corpus):
            check_columns(pair, reading)
    measure = METRICS.find(metric or default_metric(pairs[0]))
    for gold in golds.values():
        check_gold(gold, [measure])
    by_gold = tuple(
        (gold, tuple(run for run, of_run in zip(runs, gold_of_run, strict=True) if of_run is gold))
        for gold in golds.values()
    )
    gold_notes = check_same_annotation([(gold, [run.name for run in own]) for gold, own in by_gold], measure)
    counts = [measure.counts(pair)[:, : measure.width] for pair in pairs]
    dataset, starts, unit_notes = _counted(predictions[0].dataset or first.name, first, unit, pairs, counts)
    notes = dict.fromkeys(note for _, sealing in unsealed for note in sealing)
    is_sealed = bool(notes) or any(inputs.is_sealed(ledger_entry, gold) for gold in golds.values())
    notes |= dict.fromkeys(
        [*unit_notes, *gold_notes, *(note for pair in pairs for note in notes_on(pair, SENTENCE, [measure]))]
    )
    by_system: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_system.setdefault(pair.predicted.name, []).append(pair)
    grouped = {name: tuple(rows) for name, rows in by_system.items()}
    return CountedRuns(dataset, measure, first, grouped, by_gold, starts, tuple(notes), is_sealed)


def _counted(
    name: str, gold: Corpus, unit: str, pairs: Sequence[Pair], counts: Sequence[Counts]
) -> tuple[CountedDataset, Indices, list[str]]:
    """The counts of every system over documents, sentences or tokens; their sentences; and why not over documents."""
    systems = [pair.predicted.name for pair in pairs]
    if unit == TOKEN:
        if any(counts_NF[:, 1].max(initial=0) > 1 for counts_NF in counts):
            raise InputError("the metric counts more than one item per token; expected sentences or documents as units")
        return CountedDataset(name, TOKEN, stack_runs(systems, counts), gold.sentences), np.zeros(0, np.int64), []
    shared, common = over_common_units(counts, pairs)
    if not len(common):
        raise InputError(f"{gold.name}: no sentences; expected some to compare")
    fine = SENTENCE if len(common) == gold.sentences else "block"
    sentences = stack_runs(systems, shared)
    if not gold.has_documents:
        return CountedDataset(name, fine, sentences, gold.sentences), common, []
    present, codes = np.unique(gold.documents[common], return_inverse=True)
    number, documents = len(present), {system: sum_documents(rows, codes) for system, rows in sentences.items()}
    effective = effective_units(np.bincount(codes, np.diff(gold.offsets[common], append=gold.words)).astype(float))
    chosen = DOCUMENT if unit == DOCUMENT or (unit == AUTO and effective >= MIN_DOCUMENTS) else fine
    counted, other = (documents, sentences) if chosen == DOCUMENT else (sentences, documents)
    notes = []
    about = "about more sentences of these documents, not about other documents"
    if unit == AUTO and chosen != DOCUMENT and number > 1:
        notes.append(f"{name}: one of {number:,} documents outweighs the others, so {fine}s are compared: {about}")
    elif unit == AUTO and chosen == DOCUMENT and effective < FEW_DOCUMENTS:
        few = f"{pluralize(number, 'document')}, which weigh as much as {effective:.1f} of equal size"
        notes.append(f"{name}: {few}, show only large differences; --unit sentence asks {about}")
    dataset = CountedDataset(name, chosen, counted, gold.sentences, number, other if number > 1 else None)
    return dataset, common, notes


def stack_runs(systems: Sequence[str], counts: Sequence[Counts]) -> dict[str, Counts]:
    """Counts of the runs of every system."""
    runs: dict[str, list[Counts]] = {}
    for system, counts_NF in zip(systems, counts, strict=True):
        runs.setdefault(system, []).append(counts_NF)
    return {system: np.stack(rows) for system, rows in runs.items()}


def sum_documents(counts_RNF: Counts, codes_N: Indices) -> Counts:
    """Counts of sentences summed over documents, in the order of their codes."""
    order = np.argsort(codes_N, kind="stable")
    starts = np.flatnonzero(np.diff(codes_N[order], prepend=-1))
    sums: Counts = np.add.reduceat(counts_RNF[:, order], starts, axis=1)
    return sums


def over_common_units(counts: Sequence[Counts], pairs: Sequence[Pair]) -> tuple[list[Counts], Indices]:
    """Counts of every system over the units that all share, and the first gold sentence of each unit.

    Systems with sentence boundaries of their own have blocks of their own; cut where all of them and gold begin a
    sentence, the same row is the same text for everybody.
    """
    common = reduce(np.intersect1d, [pair.units.gold_sentences for pair in pairs])
    if not len(common):
        return list(counts), common
    starts = [np.searchsorted(pair.units.gold_sentences, common) for pair in pairs]
    return [np.add.reduceat(counts_NF, rows, axis=0) for counts_NF, rows in zip(counts, starts, strict=True)], common
