"""Which differences between systems are real, over units, runs and data sets; on files of predictions."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Annotated, Any, TypeAlias, Unpack

import numpy as np

from deadheat.arguments import Argument
from deadheat.corpus.reading import ReadingOptions
from deadheat.errors import InputError, NameUnknown
from deadheat.metrics import METRICS, Metric, Pair
from deadheat.metrics import align as align_words
from deadheat.metrics.metric import GOLD, Values
from deadheat.questions import inputs
from deadheat.questions.columns import GoldColumn, PredictedColumns, split_columns
from deadheat.questions.counting import CountedRuns, count_runs
from deadheat.questions.designs import (
    Prediction,
    by_dataset,
    expand_patterns,
    is_about_items,
    match_pattern,
    missing_combinations,
)
from deadheat.questions.joint import (
    CountedDataset,
    JointScores,
    PairEstimates,
    joint_verdict,
    pair_estimates,
    score_interval,
    shown_pairs,
    tied_systems,
)
from deadheat.questions.pairwise import agreement, discordant, odds_ratio, pair_p
from deadheat.questions.score import (
    AUTO,
    Group,
    IntervalSettings,
    group_scores,
    reading_given,
    refuse_for_items,
    score_of,
)
from deadheat.results.compare import AverageRanks, Comparison, DatasetScores, PairwiseSettings
from deadheat.results.format import PERCENT, Scale, unit_names
from deadheat.results.ledger import look_note
from deadheat.results.score import Score
from deadheat.stats.estimates import Estimate
from deadheat.stats.looks import spent_level
from deadheat.stats.paired import CLUSTERED_T, TESTS
from deadheat.stats.ranks import critical_difference
from deadheat.study.ledger.ledger import LedgerEntry
from deadheat.text import pluralize

TestName: TypeAlias = Annotated[
    str,
    Argument(
        f"another significance test, for one run each: {', '.join(TESTS[1:])} (default: the clustered t-test)",
        metavar="NAME",
    ),
]
SpendAlpha: TypeAlias = Annotated[
    bool, Argument("test at the share of alpha that is left for this look at the test set, by the ledger")
]
Runs: TypeAlias = inputs.CorpusSource | Sequence[inputs.CorpusSource]
Systems: TypeAlias = Mapping[str, Runs | Mapping[str, Runs]] | str | Sequence[str] | Sequence[Prediction]


def compare(  # noqa: PLR0913 (the options of the command)
    gold: inputs.CorpusSources | Mapping[str, inputs.CorpusSources],
    systems: Systems = (),
    *,
    predicted: PredictedColumns = (),
    gold_column: GoldColumn = "",
    metric: inputs.MetricName = "",
    unit: inputs.AnyUnit = AUTO,
    test: TestName = "",
    correction: inputs.Correction = "holm",
    alpha: inputs.Alpha = 0.05,
    margin: inputs.Margin = None,
    reference: inputs.Reference = "",
    train: inputs.Train = None,
    align: inputs.Align = "text",
    resamples: inputs.Resamples = 10_000,
    seed: inputs.Seed = 0,
    spend_alpha: SpendAlpha = False,
    ledger_entry: LedgerEntry | None = None,
    **reading: Unpack[ReadingOptions],
) -> Comparison:
    r"""Compare systems on one test set or many, by one run each or several.

    Parameters
    ----------
    gold
        The gold corpus; several by the names of their data sets; or a pattern such as `gold/{dataset}.conllu`.
    systems
        Predictions by the name of their system, two systems or more: one prediction, a list with one for each run, a
        pattern of their files such as `pred/*.conllu`, or any of these for every data set. Or patterns such as
        `pred/{dataset}/{system}.{run}.conllu`; or a list of predictions, which say themselves what they are
        (`deadheat.questions.designs`).
    predicted, gold_column
        Columns of column files, by name or number. Where gold is "", it is a column of the files of the predictions.
    metric
        By default LAS for trees, else the first metric that `deadheat.score` would show.
    unit
        What varies between test sets: `document` where several are marked, else `sentence`; or `token`.
    test, correction, alpha
        Another significance test than the clustered t-test, for one run each on one test set; the correction for
        several tests, and the level.
    margin
        Differences up to this many points count as equal: 0.5 for percentages by default, 0 for no margin.
    reference
        Test every system against this one alone.
    train
        The training file: accuracy on unknown words is added, for metrics of tags on one test set.
    spend_alpha
        Test at the level that is left for this look at the test set, see `deadheat.stats.looks.spent_level`.
    ledger_entry
        Where to record the evaluation of a test set, see `docs/ledger.md`; nothing is recorded without it.

    Examples
    --------
    >>> import deadheat
    >>> gold = deadheat.read(text="a_X b_Y c_Z\n" * 20)
    >>> good, bad = deadheat.read(text="a_X b_Y c_X\n" * 20), deadheat.read(text="a_X b_X c_X\n" * 20)
    >>> deadheat.compare(gold, {"good": good, "bad": bad})  # doctest: +NORMALIZE_WHITESPACE
    <Comparison: This run of good is better than this run of bad by 33.33 points of Accuracy (tag)
    (95% CI [+33.33, +33.33], p = 1.9e-06).>
    """
    settings = PairwiseSettings(test, correction, alpha, resamples, seed, margin)
    if not systems:
        _refuse_items(gold)
    predictions = _design(gold, systems)
    columns = [predicted] if isinstance(predicted, str) else list(predicted)
    if is_about_items(predictions, [*columns, gold_column]):
        from deadheat.questions.item_comparison import compare_predictions

        refuse_for_items(train=train, align=align != "text", **reading_given(reading))
        chosen = {"metric": metric, "unit": unit, "test": test, "correction": correction, "alpha": alpha}
        chosen |= {"margin": margin, "reference": reference, "resamples": resamples, "seed": seed}
        chosen |= {"spend_alpha": spend_alpha, "ledger_entry": ledger_entry}
        return compare_predictions(predictions, {"predicted": columns, "gold_column": gold_column}, **chosen)
    if columns:
        predictions = split_columns(predictions, columns, gold_column, reading)
    check_number(len({prediction.system for prediction in predictions}))
    groups, counted = by_dataset(predictions), list[CountedRuns]()
    if train is not None and len(groups) > 1:
        raise InputError("training files with several data sets; expected them with one data set only")
    for rows in groups.values():
        name = counted[0].metric.name if counted else metric
        counted.append(count_runs(rows, name, unit=unit, align=align, ledger_entry=ledger_entry, reading=reading))
    measure = counted[0].metric
    datasets = [item.dataset for item in counted]
    comparison = compare_counts(datasets, measure, settings, reference=reference)
    recorded = [
        item for runs in counted for item in runs.record(ledger_entry, f"{comparison.signature} | align {align}")
    ]
    tallies = tuple(tally for item in recorded for tally in item.tallies)
    look = max((tally.look for tally in tallies), default=0)
    if spend_alpha and look:
        settings = replace(settings, alpha=spent_level(alpha, look))
        comparison = compare_counts(datasets, measure, settings, reference=reference)
    if len(counted) == 1:
        single = counted[0]
        comparison = replace(comparison, dataset=single.gold.name, **_details(single, train, reading, settings))
    looks = look_note(tallies, min((pair.p_corrected for pair in comparison.pairs), default=math.nan), alpha=alpha)
    if spend_alpha and look:
        looks = f"look {look} at this test set, tested at alpha {settings.alpha:.4f} of {alpha:g} (alpha spending)"
    notes = [*(note for item in recorded for note in item.notes), *([looks] if looks else [])]
    notes += [*missing_combinations(predictions), *(note for item in counted for note in item.notes)]
    if len(counted) == 1 and counted[0].is_sealed and comparison.agreement is not None:
        notes.append(f"{comparison.dataset}: its sentences are not shown, because its labels are sealed")
    return replace(comparison, align=align, notes=tuple(dict.fromkeys(notes)), evaluations=tallies)


def _refuse_items(gold: object) -> None:
    """Raise if what is given without systems has scores of items, which have another function."""
    from deadheat.items.detection import is_table
    from deadheat.items.sources import holds_logs
    from deadheat.tables.frames import is_frame

    path = os.fspath(gold) if isinstance(gold, str | os.PathLike) else ""
    if is_frame(gold) or (os.path.exists(path) and (is_table(path) or holds_logs(path))):
        where, call = (path, repr(path)) if path else (f"a table ({type(gold).__name__})", "table")
        expected = f"gold and predictions, or deadheat.compare_items({call}) for scores of items"
        raise InputError(f"{where}: no predictions to compare; expected {expected}")


def _design(gold: inputs.CorpusSources | Mapping[str, inputs.CorpusSources], systems: Systems) -> list[Prediction]:
    """Which prediction is of which system, run and data set."""
    if not isinstance(systems, Mapping):
        rows = [systems] if isinstance(systems, str) else list(systems)
        patterns = [row for row in rows if isinstance(row, str)]
        if not patterns:
            return [row for row in rows if isinstance(row, Prediction)]
        if not isinstance(gold, str):
            raise InputError("patterns of predictions without one of gold; expected a pattern such as {dataset}.conllu")
        return match_pattern(gold, patterns)
    golds = gold if isinstance(gold, Mapping) else {"": gold}
    predictions = []
    for system, runs in systems.items():
        for dataset, sources in (runs if isinstance(runs, Mapping) else {"": runs}).items():
            if dataset not in golds:
                raise NameUnknown(f"data set of {system}", dataset, list(golds))
            for number, source in enumerate(expand_patterns(sources, golds[dataset]), start=1):
                predictions.append(Prediction(dataset, golds[dataset], system, str(number), source))
    order = {name: at for at, name in enumerate(golds)}
    return sorted(predictions, key=lambda prediction: order[prediction.dataset])


def compare_counts(
    datasets: Sequence[CountedDataset],
    metric: Metric,
    settings: PairwiseSettings,
    *,
    reference: str = "",
    scale: Scale = PERCENT,
    shared_runs: bool = False,
) -> Comparison:
    """Compare systems by the counts of their runs over the units of one data set or several."""
    settings = replace(settings, test=settings.test or CLUSTERED_T)
    joint = JointScores.of(datasets, metric.value, shared_runs=shared_runs)
    for (_, system), runs in joint.scores.items():
        if np.isnan(runs.mean):
            raise InputError(f"{system}: no score, because there is nothing to get right; expected something to count")
    means = joint.means()
    pairs = [pair for a, b in combinations(joint.systems, 2) if (pair := pair_estimates(joint, a, b)) is not None]
    if not pairs:
        raise InputError("no data set with scores of two systems; expected at least one to compare them on")
    if settings.test != CLUSTERED_T:
        pairs = [_named_test(pair, datasets, metric, settings) for pair in pairs]
    tests, every = shown_pairs(pairs, settings, reference, joint.systems, scale)
    scores = {system: estimate.value for system, estimate in means.items()}
    level, several = 1 - settings.alpha, len(datasets) > 1
    units = sum(dataset.units for dataset in datasets)
    unit = " or ".join(dict.fromkeys(dataset.unit for dataset in datasets))
    rows = tuple(_score_row(system, joint, metric, means[system], level, scale) for system in joint.systems)
    source = unit_names(unit) + " and runs" * any(runs.runs > 1 for runs in joint.scores.values())
    verdict = joint_verdict(tests, scores, settings, metric=metric.label, source=source, units=units, scale=scale)
    tied = tied_systems(scores, every, settings.alpha)
    summaries = joint.summaries(level, scale)
    outcome = (settings, _reason(settings, summaries), rows, tests, tied, verdict)
    ranks = _joint_ranks(summaries, joint.systems, settings.alpha) if several and len(joint.systems) > 2 else None
    comparison = Comparison(metric.label, metric.name, unit, units, *outcome, scale=scale, reference=reference)
    return replace(comparison, datasets=summaries, ranks=ranks)


def _score_row(system: str, joint: JointScores, metric: Metric, mean: Estimate, level: float, scale: Scale) -> Score:
    """The mean score of a system, and the sum of the counts of its runs."""
    of_system = [dataset for dataset in joint.datasets if system in dataset.counts]
    total = np.sum([dataset.counts[system].sum(axis=(0, 1)) for dataset in of_system], axis=0)
    interval = score_interval(mean, sum(dataset.units for dataset in of_system), level, scale)
    return replace(score_of(system, metric, total, interval), value=mean.value)


def _named_test(
    pair: PairEstimates, datasets: Sequence[CountedDataset], metric: Metric, settings: PairwiseSettings
) -> PairEstimates:
    """A pair with the p-value of a test that was asked for by name."""
    counts = [datasets[0].counts[name] for name in (pair.a, pair.b)]
    if len(datasets) > 1 or max(map(len, counts)) > 1:
        several = "several data sets" if len(datasets) > 1 else "several runs"
        raise InputError(f"{settings.test} with {several}; expected one run each on one data set, or no --test")
    first_NF, second_NF = counts[0][0], counts[1][0]
    named = pair_p(first_NF, second_NF, metric.value, settings)
    items = discordant(first_NF, second_NF) if settings.test.startswith("mcnemar") else None
    right_alone = (*items, int(first_NF[:, GOLD].sum())) if items else None
    return replace(pair, named=named, odds_ratio=odds_ratio(first_NF, second_NF), right_alone=right_alone)


def _reason(settings: PairwiseSettings, datasets: Sequence[DatasetScores]) -> str:
    """Why this test."""
    if settings.test != CLUSTERED_T:
        return "asked for"
    runs = any(row.runs > 1 for dataset in datasets for row in dataset.systems)
    parts = [f"{unit}s" for unit in dict.fromkeys(dataset.unit for dataset in datasets)] + ["runs"] * runs
    return f"its error comes from {' and '.join(parts)}"


def _joint_ranks(datasets: Sequence[DatasetScores], systems: Sequence[str], alpha: float) -> AverageRanks | None:
    """Average ranks over the data sets that all systems have."""
    complete = [dataset for dataset in datasets if len(dataset.systems) == len(systems)]
    if len(complete) < 2:
        return None
    scores_SD = np.array([[dataset[system].mean for dataset in complete] for system in systems])
    return average_ranks(systems, [dataset.dataset for dataset in complete], scores_SD, alpha)


def average_ranks(systems: Sequence[str], datasets: Sequence[str], scores_SD: Values, alpha: float) -> AverageRanks:
    """Average ranks over data sets, and the groups of systems whose ranks do not differ."""
    ranks = critical_difference(scores_SD, names=systems, datasets=datasets, alpha=alpha)
    pairs, friedman = ranks.pairs, ranks.friedman
    averages, p_values = tuple(pairs.average_ranks_S.tolist()), tuple(map(tuple, pairs.p_values_SS.tolist()))
    diagram = (pairs.method, pairs.names, averages, ranks.cliques, pairs.critical_difference)
    return AverageRanks(*diagram, friedman.p, ranks.friedman_method, alpha, pairs.data_sets, p_values)


def _details(
    single: CountedRuns, train: inputs.CorpusSources | None, reading: ReadingOptions, settings: PairwiseSettings
) -> dict[str, Any]:
    """What a comparison on one test set shows beside the differences, by the first run of every system."""
    pairs = single.first_runs
    if not all(pair.same_words for pair in pairs):
        return {}
    extra = _extra_scores(pairs, single.metric, train, reading, IntervalSettings(level=1 - settings.alpha))
    agreed = agreement(single.gold, {pair.predicted.name: pair.predicted for pair in pairs}, single.metric)
    if agreed is not None and single.is_sealed:
        agreed = replace(agreed, sentences=())  # no sentences of gold that is sealed are kept
    return {"extra_scores": extra, "agreement": agreed}


def check_number(systems: int, where: str = "") -> None:
    """Refuse a single system."""
    if systems < 2:
        raise InputError(f"{where}{pluralize(systems, 'system')}; expected at least two to compare")


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
