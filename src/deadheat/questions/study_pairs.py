"""Pairs of systems in a study: estimates on every split by all seeds, and on all splits together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from deadheat.corpus import Corpus, read, take
from deadheat.corpus.reading import reading_options
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError
from deadheat.metrics import Metric, Pair, align
from deadheat.metrics.metric import Counts
from deadheat.questions.counting import over_common_units, stack_runs, sum_documents
from deadheat.questions.pairwise import agreement, pair_p
from deadheat.questions.score import DOCUMENT, MIN_DOCUMENTS, SENTENCE, TOKEN
from deadheat.results.compare import Agreement, PairwiseSettings
from deadheat.results.study import NAN, OverallTest, PairOverSplits
from deadheat.stats.checks import Values
from deadheat.stats.corrections import correct_defined
from deadheat.stats.differences import resampled_estimate
from deadheat.stats.estimates import Estimate, RunScores, effective_units
from deadheat.stats.paired import CLUSTERED_T
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from deadheat.systems import SYSTEMS

MCNEMAR = "mcnemar"
PairName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class SplitTest:
    """Two systems on one split."""

    test: str
    unit: str
    p: float
    difference: float
    favours: float  # above 0 if the test favours the first system


@dataclass(slots=True, eq=False)
class PairRecord:
    """What is known of two systems on the splits so far."""

    tests: list[SplitTest] = field(default_factory=list)
    single: Estimate | None = None  # by units and seeds, of the last split
    about_runs: bool = False  # both systems have one run, and another seed might give another result


class PairTests:
    """Tests of every two systems with the same first metric, split by split; it holds predictions of one split."""

    def __init__(self, plan: Plan, store: Store, part: str, ranked: Sequence[str]) -> None:
        self._plan, self._store, self._part = plan, store, part
        self._rank = {label: rank for rank, label in reversed(list(enumerate(ranked)))}
        self._records: dict[PairName, PairRecord] = {}
        self._pooled: dict[str, Values] = {}  # counts of documents by system, means over seeds, sums over splits
        self._values: dict[str, Metric] = {}
        self._documents_split = False  # whether some document is in train and in the part that is scored
        self.intervals: dict[str, tuple[float, float]] = {}  # of every system, of the last split
        self.agreement: list[Agreement] = []

    def add(self, cells: Sequence[Cell]) -> Iterator[str]:
        """Test systems on one split, by all seeds; yields the keys of cells without readable predictions."""
        by_metric: dict[str, dict[str, list[Cell]]] = {}
        for cell in cells:
            systems = by_metric.setdefault(self._plan.metrics[cell.system][0].name, {})
            systems.setdefault(self._plan.labels[cell.system], []).append(cell)
        for systems in by_metric.values():
            yield from self._add(dict(sorted(systems.items(), key=lambda item: self._rank[item[0]])))

    def _add(self, systems: Mapping[str, Sequence[Cell]]) -> Iterator[str]:
        first = next(iter(systems.values()))[0]
        metric, corpus = self._plan.metrics[first.system][0], self._plan.materials[first.corpus].corpus
        parts = self._plan.partition(first).parts
        gold, train = take(corpus, parts[self._part]), take(corpus, parts["train"])
        test = self._plan.study.compare.test
        unit = TOKEN if test.startswith(MCNEMAR) else SENTENCE
        predicted: dict[str, Corpus] = {}
        aligned: dict[str, Pair] = {}
        for label, cells in systems.items():
            try:
                predicted[label] = self._prediction(cells[0], corpus)
                aligned[label] = align(gold, predicted[label], training=train, unit=unit)
            except InputError:
                predicted.pop(label, None)
                yield cells[0].key
        counts, codes = self._counts({name: systems[name] for name in aligned}, gold, corpus, train, metric)
        documents = _document_codes(corpus, parts[self._part], codes)
        self._pool(counts, documents, corpus, parts, metric)
        by_document = self._by_document(counts, documents, metric)
        kind = SENTENCE if by_document is None else DOCUMENT
        fixed = {label for label, cells in systems.items() if not SYSTEMS.make(cells[0].system).seeded}
        runs = by_document or {label: RunScores.of(rows, metric.value) for label, rows in counts.items()}
        runs = {label: replace(scores, is_fixed=label in fixed) for label, scores in runs.items()}
        for label, scores in runs.items():
            self.intervals[label] = scores.estimate().estimate.bounded_interval(scores.units).bounds
        for a, b in combinations(runs, 2):
            estimate = runs[a].minus(runs[b]).estimate
            if math.isnan(estimate.value):
                continue
            record = self._records.setdefault((a, b), PairRecord())
            record.single = estimate
            record.about_runs = runs[a].runs == runs[b].runs == 1 and not {a, b} <= fixed
            split = SplitTest(CLUSTERED_T, kind, estimate.p, estimate.value, estimate.value)
            if test and test != CLUSTERED_T:
                first_NF, second_NF = (metric.counts(aligned[name])[:, : metric.width] for name in (a, b))
                settings = PairwiseSettings(test, alpha=self._plan.study.compare.alpha)
                p, favours = pair_p(first_NF, second_NF, metric.value, settings)
                gap = float(metric.value(first_NF.sum(axis=0)) - metric.value(second_NF.sum(axis=0)))
                split = SplitTest(test, unit, p, gap, favours)
            record.tests.append(split)
        if len(predicted) > 1:
            agreed = agreement(gold, predicted, metric)
            self.agreement += [] if agreed is None else [agreed]

    def _prediction(self, cell: Cell, corpus: Corpus) -> Corpus:
        return read(text=self._store.prediction(cell.key, self._part).decode(), **reading_options(corpus))

    def _counts(
        self, systems: Mapping[str, Sequence[Cell]], gold: Corpus, corpus: Corpus, train: Corpus, metric: Metric
    ) -> tuple[dict[str, Counts], Indices]:
        """Counts of all seeds by sentence, or by block where predictions have other sentences; and their sentences."""
        counts = {
            label: self._store.counts([cell.key for cell in cells], part=self._part, metric=metric.name)[
                :, :, : metric.width
            ]
            for label, cells in systems.items()
        }
        if all(rows.shape[1] == gold.sentences for rows in counts.values()):
            return counts, np.arange(gold.sentences)
        labels = [label for label, cells in systems.items() for _ in cells]
        predictions = [self._prediction(cell, corpus) for cells in systems.values() for cell in cells]
        pairs = [align(gold, prediction, training=train) for prediction in predictions]
        shared, common = over_common_units([metric.counts(pair)[:, : metric.width] for pair in pairs], pairs)
        return stack_runs(labels, shared), common

    def _by_document(
        self, counts: Mapping[str, Counts], documents: Indices | None, metric: Metric
    ) -> dict[str, RunScores] | None:
        """The scores with documents as units, where enough of them are marked."""
        if documents is None:
            return None
        sums = {label: sum_documents(rows, documents) for label, rows in counts.items()}
        sizes = next(iter(sums.values())).mean(axis=0)[:, 1] if sums else np.zeros(0)
        if effective_units(sizes) < MIN_DOCUMENTS:
            return None
        return {label: RunScores.of(rows, metric.value) for label, rows in sums.items()}

    def _pool(
        self,
        counts: Mapping[str, Counts],
        documents: Indices | None,
        corpus: Corpus,
        parts: Mapping[str, Indices],
        metric: Metric,
    ) -> None:
        """Add the counts of a split to those of every document of the corpus, means over seeds."""
        if documents is None:
            return
        present, number = np.unique(documents), int(corpus.documents.max(initial=0)) + 1
        self._documents_split |= bool(np.isin(present, corpus.documents[parts["train"]]).any())
        for label, rows in counts.items():
            pooled = self._pooled.setdefault(label, np.zeros((number, rows.shape[2])))
            pooled[present] += sum_documents(rows, documents).mean(axis=0)
            self._values[label] = metric

    def pairs(self) -> Iterator[tuple[PairName, PairRecord]]:
        """All pairs, the better systems first."""
        for pair in sorted(self._records, key=lambda pair: (self._rank[pair[0]], self._rank[pair[1]])):
            yield pair, self._records[pair]

    def over_splits(self, pair: PairName, differences_P: Values, test_share: float) -> Estimate:
        """The mean difference over random splits."""
        if not self._documents_split or not set(pair) <= self._pooled.keys():
            return resampled_estimate(differences_P, test_share)
        counts = [self._pooled[name] for name in pair]
        used = counts[0].any(axis=1) | counts[1].any(axis=1)
        first, second = (RunScores.of(rows[None, used], self._values[pair[0]].value) for rows in counts)
        pooled = first.minus(second).estimate
        enough = effective_units(counts[0][used, 1]) >= MIN_DOCUMENTS
        return resampled_estimate(differences_P, test_share, pooled if enough else None)


def _document_codes(corpus: Corpus, sentences: Indices, units: Indices) -> Indices | None:
    """The document of every unit, by its first sentence; None where none are marked."""
    return corpus.documents[sentences[units]].astype(np.int64) if corpus.has_documents else None


def pair_over_splits(
    pair: PairName, tests: Sequence[SplitTest], correction: str, alpha: float, overall: OverallTest | None = None
) -> PairOverSplits:
    """Two systems on every split; `overall` is the test of all splits together."""
    p = [test.p for test in tests]
    corrected = [float(value) for value in correct_defined(p, correction)]
    # A split counts for the system that the test favours: rank tests may side with the lower score.
    clear = [test.favours for test, value in zip(tests, corrected, strict=True) if value <= alpha]
    better, worse = (sum(sign * direction > 0 for direction in clear) for sign in (1, -1))
    gaps = [test.difference for test in tests]
    names, difference = "/".join(dict.fromkeys(test.test for test in tests)), float(np.mean(gaps))
    ahead = sum(gap > 0 for gap in gaps)
    single = p[0] if len(tests) == 1 else NAN
    overall = overall or OverallTest(difference, NAN, NAN, single, single, len(tests), ahead)
    counts = (len(tests), ahead, better, worse)
    return PairOverSplits(*pair, names, tests[0].unit, difference, *counts, tuple(p), tuple(corrected), overall)
