"""Size: how much test data is sufficient to rank systems."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deadheat.corpus import Corpus
from deadheat.errors import InputError
from deadheat.metrics import METRICS
from deadheat.questions.arguments import Align, MetricName
from deadheat.questions.inputs import CorpusSource
from deadheat.questions.size_counts import (
    AnyPath,
    Prediction,
    TestSet,
    check_target,
    count_test_set,
    listed_sets,
    load_counts,
    save_counts,
)
from deadheat.ranking.size_samples import SIZES, SizeSettings
from deadheat.ranking.sizes import AsoDraws, SampledSet, SampledSize, size_curves
from deadheat.results.format import Scale
from deadheat.results.size import AsoAgreement, SetSizes, SizeCurve, SizePoint, SizeStudy, SystemScore
from deadheat.stats.agreement import weighted_kendall_rows
from deadheat.stats.checks import Values
from deadheat.stats.intervals import wilson
from deadheat.study.ledger.ledger import LedgerEntry
from deadheat.text import pluralize

PART_OF_THE_WHOLE = (
    "a sample is part of the whole test set, so tau approaches 1 as it grows, whatever the data; "
    "--against rest ranks on the sentences outside the sample instead"
)


def size(
    gold: CorpusSource | Sequence[CorpusSource],
    systems: Mapping[str, CorpusSource | Sequence[CorpusSource]],
    *,
    metric: MetricName = "",
    settings: SizeSettings | None = None,
    align: Align = "text",
    save: AnyPath = "",
    ledger_entry: LedgerEntry | None = None,
    **reading: Any,
) -> SizeStudy:
    r"""How much of a test set is sufficient to rank systems as all of it does.

    Parameters
    ----------
    systems
        The prediction of each system by its name, or the predictions of its runs.
    metric
        By default LAS for trees, else the first metric that `deadheat.score` would show.
    settings
        Sizes in words, sampling strategies, draws, how runs are treated, threshold and confidence.
    save
        A file to save the counts to, for `size_of_counts`.
    ledger_entry
        Where to record the evaluation of a test set, see `docs/ledger.md`; nothing is recorded without it.

    Notes
    -----
    A sample is part of the whole, so tau tends to 1 as it grows, whatever the data. With `settings.against` "rest" its
    ranking is compared with that on the sentences outside the sample. See `docs/sizes.md`.

    Examples
    --------
    >>> import deadheat
    >>> gold = deadheat.read(text="a_X b_Y\n" * 60)
    >>> good, bad = deadheat.read(text="a_X b_Y\n" * 60), deadheat.read(text="a_X b_Y\na_X b_X\na_Y b_Y\n" * 20)
    >>> settings = SizeSettings(sizes=(2, 20, 60), strategies=("rand",))
    >>> size(gold, {"good": good, "bad": bad}, settings=settings).sets[0].curves[0].sufficient
    20
    """
    if save:
        check_target(save)
    predictions = [Prediction(name, gold, run) for name, runs in systems.items() for run in _runs(runs)]
    _check_systems(predictions, settings or SizeSettings())
    test_set = count_test_set(
        "", predictions, metric=metric, align_by=align, ledger_entry=ledger_entry, reading=reading
    )
    result = study_sizes([test_set], settings, ledger_entry=ledger_entry, align=align)
    if save:
        save_counts(test_set, save)
    return result


def size_of_sets(
    listing: AnyPath,
    *,
    metric: str = "",
    settings: SizeSettings | None = None,
    align: str = "text",
    ledger_entry: LedgerEntry | None = None,
    **reading: Any,
) -> SizeStudy:
    """How much is sufficient on several test sets, from a table with the columns set, gold, system and prediction."""
    test_sets: list[TestSet] = []
    for name, predictions in listed_sets(listing).items():
        _check_systems(predictions, settings or SizeSettings(), name)
        chosen = test_sets[0].counted.metric.name if test_sets else metric
        test_sets.append(
            count_test_set(name, predictions, metric=chosen, align_by=align, ledger_entry=ledger_entry, reading=reading)
        )
    return study_sizes(test_sets, settings, ledger_entry=ledger_entry, align=align)


def size_of_counts(
    paths: AnyPath | Sequence[AnyPath],
    *,
    metric: str = "",
    settings: SizeSettings | None = None,
    ledger_entry: LedgerEntry | None = None,
) -> SizeStudy:
    """How much is sufficient, from saved counts: one test set per file."""
    files = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    test_sets = [load_counts(path) for path in files]
    for path, test_set in zip(files, test_sets, strict=True):
        stored = test_set.counted.metric.name
        if metric and METRICS.make(metric).name != stored:
            raise InputError(f"{os.fspath(path)}: counts of {stored}; expected {METRICS.make(metric).name}")
    return study_sizes(test_sets, settings, ledger_entry=ledger_entry)


def study_sizes(
    test_sets: Sequence[TestSet],
    settings: SizeSettings | None = None,
    *,
    ledger_entry: LedgerEntry | None = None,
    align: str = "",
) -> SizeStudy:
    """Compute the curves, and record the evaluations before anybody sees them."""
    settings = settings or SizeSettings()
    counted = [test_set.counted for test_set in test_sets]
    metrics = {test_set.metric.name: test_set.metric for test_set in counted}
    if len(metrics) > 1:
        raise InputError(f"counts of {' and of '.join(metrics)}; expected one metric for all test sets")
    names = [test_set.name for test_set in counted]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise InputError(f"two test sets are named {repeated}; expected a different name for each")
    sampled, overall = size_curves(counted, settings)
    notes = [note for test_set in test_sets for note in test_set.notes] + _notes(sampled, settings)
    if len(sampled) > 1 and overall is None:
        notes.append(
            "no overall ranking, because the test sets do not have the same systems and runs in the same order"
        )
    same_systems = len(sampled) > 1 and len({sample.systems for sample in sampled}) == 1
    scores_DS = np.stack([sample.scores_S for sample in sampled]) if same_systems else None
    metric = counted[0].metric
    result = SizeStudy(
        metric.label,
        metric.name,
        settings,
        tuple(_set_sizes(sample, settings) for sample in sampled),
        Scale.of(score for sample in sampled for score in sample.scores_S.tolist()),
        _set_sizes(overall, settings) if overall is not None else None,
        () if scores_DS is None else tuple(tuple(weighted_kendall_rows(scores_DS, row).tolist()) for row in scores_DS),
        sum(len(test_set.systems) for test_set in counted),
        align,
    )
    recorded = [item for test_set in test_sets for item in test_set.record(ledger_entry, result.signature)]
    ledger_notes = [note for item in recorded for note in item.notes]
    return replace(
        result,
        notes=tuple(dict.fromkeys([*ledger_notes, *notes])),
        evaluations=tuple(tally for item in recorded for tally in item.tallies),
    )


def _set_sizes(sample: SampledSet, settings: SizeSettings) -> SetSizes:
    order = np.argsort(-sample.scores_S, kind="stable").tolist()
    systems = tuple(SystemScore(sample.systems[at], float(sample.scores_S[at])) for at in order)
    curves = []
    for curve in sample.curves:
        smallest = curve.smallest_sufficient(threshold=settings.threshold, confidence=settings.confidence)
        points = tuple(_point(point, settings) for point in curve.points)
        curves.append(SizeCurve(curve.strategy, points, smallest.words if smallest is not None else None))
    return SetSizes(sample.name, sample.words, sample.units, sample.unit, systems, tuple(curves))


def _point(point: SampledSize, settings: SizeSettings) -> SizePoint:
    defined = point.tau_B[~np.isnan(point.tau_B)]
    low = high = math.nan
    if len(defined) > 1:
        tails = (1 - settings.confidence) / 2, (1 + settings.confidence) / 2
        low, high = np.quantile(defined, tails).tolist()
    draws, reached = len(point.tau_B), point.reached(settings.threshold)
    return SizePoint(
        point.words,
        point.whole,
        point.units,
        draws,
        float(defined.mean()) if len(defined) else math.nan,
        low,
        high,
        draws - len(defined),
        reached,
        *wilson(reached, draws).bounds,
        _aso(point.aso) if point.aso is not None else None,
    )


def _aso(aso: AsoDraws) -> AsoAgreement:
    defined = ~np.isnan(aso.disagreement_B)
    if not defined.any():
        return AsoAgreement(len(defined), aso.systems, math.nan, math.nan, math.nan)
    shares: Values = aso.disagreement_B[defined]
    distance = float(aso.distance_B[defined].mean())
    return AsoAgreement(len(defined), aso.systems, float(shares.mean()), distance, float(shares.max()))


def _runs(runs: CorpusSource | Sequence[CorpusSource]) -> list[CorpusSource]:
    return [runs] if isinstance(runs, str | os.PathLike | Corpus) else list(runs)


def _check_systems(predictions: Sequence[Prediction], settings: SizeSettings, where: str = "") -> None:
    """Check the number of systems before any file is read."""
    ranked = len(predictions if settings.runs == "separate" else {prediction.system for prediction in predictions})
    if ranked < 2:
        problem = f"{pluralize(ranked, 'system')}; expected at least two to rank"
        raise InputError(f"{where}: {problem}" if where else problem)


def _notes(sampled: Sequence[SampledSet], settings: SizeSettings) -> list[str]:
    notes = [] if settings.against == "rest" else [PART_OF_THE_WHOLE]
    for sample in sampled:
        name = sample.name
        sizes = {point.words for point in sample.curves[0].points if not point.whole}
        beyond = [f"{words:,}" for words in settings.sizes if words not in sizes]
        if beyond and settings.against == "rest":
            notes.append(
                f"{name}: {', '.join(beyond)} words left out, because the rest would be smaller than the sample"
            )
        elif beyond and settings.sizes != SIZES:
            notes.append(f"{name}: {', '.join(beyond)} words are shown as all, because there are only {sample.words:,}")
        if len(set(sample.scores_S.tolist())) == 1:
            notes.append(f"{name}: all systems have the same score, so there is no ranking to agree with")
        if sample.unit == "block":
            notes.append(f"{name}: sampled in {sample.units:,} blocks between common sentence boundaries")
    return notes
