"""Which differences between systems are real: on files of predictions, or on a table of scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from deadheat.arguments import Argument
from deadheat.corpus import Corpus
from deadheat.corpus.reading import ReadingOptions
from deadheat.errors import InputError
from deadheat.metrics import METRICS, Metric, Pair
from deadheat.metrics import align as align_words
from deadheat.metrics.metric import FIELDS, Counts, Sums, Values, ratio
from deadheat.questions import inputs
from deadheat.questions.pairwise import agreement, over_common_units, pairwise_verdict, run_tests
from deadheat.questions.score import Group, IntervalSettings, default_metric, group_scores, notes_on, score_of
from deadheat.results.compare import AverageRanks, Comparison, PairwiseSettings
from deadheat.results.format import PERCENT, Scale
from deadheat.results.score import Score
from deadheat.stats.intervals import bootstrap
from deadheat.stats.paired import TESTS
from deadheat.stats.ranks import critical_difference
from deadheat.study.ledger.ledger import LedgerEntry
from deadheat.tables.matrix import ScoreSource, ScoreTable, open_scores
from deadheat.text import pluralize

DECIMALS = 6  # scores of so many decimals are compared as they stand, as integers, so that the exact test applies
FINEST, GREATEST = 1e-8, 1e12  # differences and scores that integers can hold
DIGITS = 9  # finer scores are rounded to so many digits of their range

TestName: TypeAlias = Annotated[
    str, Argument(f"significance test: {', '.join(TESTS)} (default: the one that fits the data)", metavar="NAME")
]


def compare(  # noqa: PLR0913 (the options of the command)
    gold: inputs.CorpusSources,
    systems: Mapping[str, inputs.CorpusSource],
    *,
    metric: inputs.MetricName = "",
    unit: inputs.Unit = "sentence",
    test: TestName = "",
    correction: inputs.Correction = "holm",
    alpha: inputs.Alpha = 0.05,
    reference: inputs.Reference = "",
    train: inputs.Train = None,
    align: inputs.Align = "text",
    resamples: inputs.Resamples = 10_000,
    seed: inputs.Seed = 0,
    ledger_entry: LedgerEntry | None = None,
    **reading: Unpack[ReadingOptions],
) -> Comparison:
    r"""Compare systems on one test set.

    Parameters
    ----------
    systems
        Predictions by the name of their system, two or more.
    metric
        By default LAS for trees, else the first metric that `deadheat.score` would show.
    unit
        What is resampled or permuted: `sentence`, `document`, or `token` where the metric counts words.
    test, correction, alpha
        The significance test (by default the one that fits the data), the correction for several tests, and the level.
    reference
        Test every system against this one alone.
    train
        The training file: accuracy on unknown words is added, for metrics of tags.
    ledger_entry
        Where to record the evaluation of a test set, see `docs/ledger.md`; nothing is recorded without it.

    Examples
    --------
    >>> import deadheat
    >>> gold = deadheat.read(text="a_X b_Y c_Z\n" * 20)
    >>> good, bad = deadheat.read(text="a_X b_Y c_X\n" * 20), deadheat.read(text="a_X b_X c_X\n" * 20)
    >>> deadheat.compare(gold, {"good": good, "bad": bad})
    <Comparison: good is better than bad by 33.33 points of Accuracy (tag) (95% CI [+33.33, +33.33], p = 1.9e-06).>
    """
    settings = PairwiseSettings(test, correction, alpha, resamples, seed)
    aligned = align_systems(gold, systems, metric, unit, align, reading, ledger_entry)
    measure, pairs = aligned.metric, aligned.pairs
    intervals = IntervalSettings(wilson=False, level=1 - alpha, resamples=resamples, seed=seed)
    groups = {pair.predicted.name: Group("", measure, measure.counts(pair)) for pair in pairs}
    rows = [row for name, group in groups.items() for row in group_scores(name, [group], intervals)]
    notes = [note for pair, row in zip(pairs, rows, strict=True) for note in notes_on(pair, unit, [row])]
    counts, unit_name = aligned.common_counts([group.counts_NF for group in groups.values()])
    comparison = _compare_counts(counts, measure, unit_name, rows, settings, reference)
    extra_scores, agreed = tuple[Score, ...](), None
    if all(pair.same_words for pair in pairs):
        extra_scores = _extra_scores(pairs, measure, train, reading, replace(intervals, wilson=True))
        agreed = agreement(aligned.gold, aligned.systems, measure)
        if agreed is not None and aligned.notes:
            agreed = replace(agreed, sentences=())  # no sentences of gold that is sealed are kept
    comparison = replace(
        comparison, dataset=aligned.gold.name, align=align, extra_scores=extra_scores, agreement=agreed
    )
    recorded = inputs.record(
        ledger_entry, aligned.gold, list(aligned.systems.values()), [measure.name], comparison.signature
    )
    all_notes = dict.fromkeys([*recorded.notes, *aligned.notes, *notes])
    return replace(comparison, notes=tuple(all_notes), evaluations=recorded.tallies)


def _compare_counts(
    counts: Mapping[str, Counts],
    metric: Metric,
    unit: str,
    rows: Sequence[Score],
    settings: PairwiseSettings,
    reference: str,
    scale: Scale = PERCENT,
) -> Comparison:
    """Test every two systems by their counts over the same units."""
    scores, units = {row.system: row.value for row in rows}, len(next(iter(counts.values())))
    settings, reason, pairs, tied = run_tests(counts, scores, metric.value, settings, reference=reference)
    verdict = pairwise_verdict(
        pairs, scores, metric=metric.label, source=f"{unit}s", units=units, alpha=settings.alpha, scale=scale
    )
    outcome = (settings, reason, tuple(rows), pairs, tied, verdict)
    return Comparison(metric.label, metric.name, unit, units, *outcome, scale=scale, reference=reference)


@dataclass(frozen=True, slots=True, eq=False)
class AlignedSystems:
    """Predictions of several systems, aligned with the same gold."""

    gold: Corpus
    systems: Mapping[str, Corpus]
    metric: Metric
    pairs: Sequence[Pair]
    notes: tuple[str, ...]  # on labels that are sealed

    def common_counts(self, counts: Sequence[Counts]) -> tuple[dict[str, Counts], str]:
        """Counts of every system over the units that all share, and what such a unit is."""
        counts = [counts_NF[:, :3] for counts_NF in counts]
        if self.pairs[0].units.name == "token":
            if any(counts_NF[:, 1].max(initial=0) > 1 for counts_NF in counts):
                problem = "the metric counts more than one item per token"
                raise InputError(f"{problem}; expected sentences or documents as units")
            return dict(zip(self.systems, counts, strict=True)), "token"
        shared, _ = over_common_units(counts, self.pairs)
        kinds = {pair.units.name for pair in self.pairs}
        return dict(zip(self.systems, shared, strict=True)), kinds.pop() if len(kinds) == 1 else "block"


def align_systems(
    gold: inputs.CorpusSources,
    systems: Mapping[str, inputs.CorpusSource],
    metric: str,
    unit: str,
    align: str,
    reading: ReadingOptions,
    ledger_entry: LedgerEntry | None,
) -> AlignedSystems:
    """Read gold and the predictions of two systems or more, and align their words."""
    labelled, notes = inputs.unseal(gold, reading, ledger_entry)
    _check_number(len(systems))
    for name, source in systems.items():
        inputs.check_prediction(name, labelled, source)
    gold_corpus, *others = inputs.open_corpora([labelled, *systems.values()], reading)
    corpora = {name: replace(corpus, name=name) for name, corpus in zip(systems, others, strict=True)}
    if unit == "document" and not gold_corpus.has_documents:
        raise InputError(f"{gold_corpus.name}: no document marks; expected them to compare by document")
    pairs = [align_words(gold_corpus, corpus, by=align, unit=unit) for corpus in corpora.values()]
    measure = METRICS.make(metric or default_metric(pairs[0]))
    return AlignedSystems(gold_corpus, corpora, measure, pairs, notes)


def _check_number(systems: int) -> None:
    if systems < 2:
        raise InputError(f"{pluralize(systems, 'system')}; expected at least two to compare")


def _extra_scores(
    pairs: Sequence[Pair],
    metric: Metric,
    train: inputs.CorpusSources | None,
    reading: ReadingOptions,
    intervals: IntervalSettings,
) -> tuple[Score, ...]:
    """For tags: accuracy on whole sentences and, given the training file, on unknown words."""
    column = metric.compares
    if column in ("", "head", "tree") or metric.base == "chunks":
        return ()
    metrics = [METRICS.make(f"sentence-accuracy(column={column!r})")]
    training = None
    if train is not None:
        metrics.append(METRICS.make(f"unknown(column={column!r})"))
        training = inputs.open_corpus(train, reading)
    scores: list[Score] = []
    for pair in pairs:
        # These are by sentence whatever the unit of the comparison is.
        by_sentence = align_words(pair.gold, pair.predicted, by=pair.alignment, training=training)
        groups = [Group("", extra, extra.counts(by_sentence)) for extra in metrics]
        scores += group_scores(pair.predicted.name, groups, intervals)
    return tuple(scores)


def compare_scores(  # noqa: PLR0913 (the options of the command)
    scores: ScoreSource,
    *,
    metric: inputs.MetricName = "",
    test: TestName = "",
    correction: inputs.Correction = "holm",
    alpha: inputs.Alpha = 0.05,
    reference: inputs.Reference = "",
    missing: inputs.Missing = "refuse",
    resamples: inputs.Resamples = 10_000,
    seed: inputs.Seed = 0,
) -> Comparison:
    """Compare systems by their scores on the same data sets, paired by data set; more is better.

    Every data set has the same weight: the score of a system is its mean.

    Examples
    --------
    >>> table = {"A": {"en": 90, "de": 85, "fi": 80, "ta": 60}, "B": {"en": 89, "de": 84, "fi": 78, "ta": 61}}
    >>> compare_scores(table)
    <Comparison: A is ahead of B by 0.75 in mean score, but there are too few data sets to tell whether it is better.>
    """
    settings = PairwiseSettings(test, correction, alpha, resamples, seed)
    if isinstance(scores, Mapping):
        _check_number(len(scores))
    table = open_scores(scores, metric, missing=missing)
    _check_number(len(table.systems))
    _check_range(table.scores_SD)
    whole_SD, unit, lowest, notes = _integers(table.scores_SD)
    counts = {
        system: np.stack([row, np.full_like(row, unit), np.full_like(row, unit)], axis=1)
        for system, row in zip(table.systems, whole_SD, strict=True)
    }
    measure = Metric(metric or "mean", metric or "mean score", _not_counted, mean_above(lowest), FIELDS)
    rows = [_mean_score(name, counts_NF, measure, settings) for name, counts_NF in counts.items()]
    scale = Scale.of(table.scores_SD.ravel().tolist())
    comparison = _compare_counts(counts, measure, "data set", rows, settings, reference, scale)
    if table.dropped:
        notes = (*notes, f"{pluralize(len(table.dropped), 'data set')} without a score of every system left out")
    ranks = _average_ranks(table, alpha) if len(table.systems) > 2 and len(table.datasets) > 1 else None
    return replace(comparison, ranks=ranks, notes=notes)


def _average_ranks(table: ScoreTable, alpha: float) -> AverageRanks:
    ranks = critical_difference(table.scores_SD, names=table.systems, datasets=table.datasets, alpha=alpha)
    pairs, friedman = ranks.pairs, ranks.friedman
    averages, p_values = tuple(pairs.average_ranks_S.tolist()), tuple(map(tuple, pairs.p_values_SS.tolist()))
    diagram = (pairs.method, pairs.names, averages, ranks.cliques, pairs.critical_difference)
    return AverageRanks(*diagram, friedman.p, alpha, pairs.data_sets, p_values, friedman.f, friedman.chi_square)


def _check_range(scores_SD: Values) -> None:
    spread, greatest = float(np.ptp(scores_SD)), float(np.abs(scores_SD).max())
    finest = max(FINEST, 2e-10 * scores_SD.shape[1])  # integers hold the sum over all data sets
    if 0 < spread < finest or not greatest <= GREATEST:
        problem = f"scores up to {greatest:.3g} that differ by {spread:.3g} at most"
        expected = f"differences of {finest:g} or more and scores up to {GREATEST:g}"
        raise InputError(f"{problem}; expected {expected}: multiply all scores by the same number")


def mean_above(lowest: float) -> Callable[[Sums], Values]:
    """The mean of scores that were counted from the lowest one on."""
    return lambda sums: lowest + ratio(sums[..., 0], sums[..., 1], empty=np.nan)


def _integers(scores_SD: Values) -> tuple[NDArray[np.int64], int, float, tuple[str, ...]]:
    """Scores as integers above the lowest, what 1 became, the lowest, and a note if digits were lost."""
    lowest = float(scores_SD.min())
    spread = float(scores_SD.max()) - lowest
    for decimals in range(DECIMALS + 1):
        unit = int(10**decimals)
        exact = np.abs(scores_SD * unit - np.round(scores_SD * unit)) < 1e-6 * max(1.0, abs(lowest) + spread)
        if exact.all() and (unit * spread > 1 or not spread):
            low = round(lowest * unit)
            return np.round(scores_SD * unit).astype(np.int64) - low, unit, low / unit, ()
    unit = int(10 ** max(0, DIGITS - math.ceil(math.log10(spread))))
    whole = np.round((scores_SD - lowest) * unit).astype(np.int64)
    return whole, unit, lowest, (f"scores are compared to {DIGITS} digits of their range",)


def _not_counted(_: object) -> Counts:
    raise AssertionError("scores of a table are not counted")


def _mean_score(name: str, counts_NF: Counts, measure: Metric, settings: PairwiseSettings) -> Score:
    rng = np.random.default_rng(settings.seed)
    interval = bootstrap(counts_NF, measure.value, rng=rng, level=1 - settings.alpha, resamples=settings.resamples)
    return score_of(name, measure, counts_NF.sum(axis=0), interval)
