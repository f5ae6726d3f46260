"""Which differences between systems are real, on a table of scores by system and data set."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError
from deadheat.metrics.metric import Counts, Sums, Values, ratio
from deadheat.questions import inputs
from deadheat.questions.compare import TestName, average_ranks, check_number
from deadheat.questions.joint import PairEstimates, joint_verdict, score_interval, shown_pairs, tied_systems
from deadheat.questions.pairwise import pair_p
from deadheat.results.compare import Comparison, PairwiseSettings
from deadheat.results.format import Scale
from deadheat.results.score import Score
from deadheat.stats.estimates import mean_estimate
from deadheat.stats.families import mean_estimates
from deadheat.stats.paired import CLUSTERED_T
from deadheat.tables.matrix import ScoreSource, ScoreTable, open_scores
from deadheat.text import pluralize

DECIMALS = 6  # scores of so many decimals are compared as they stand, as integers, so that the exact test applies
FINEST, GREATEST = 1e-8, 1e12  # differences and scores that integers can hold
DIGITS = 9  # finer scores are rounded to so many digits of their range


def compare_scores(  # noqa: PLR0913 (the options of the command)
    scores: ScoreSource,
    *,
    metric: inputs.MetricName = "",
    test: TestName = "",
    correction: inputs.Correction = "holm",
    alpha: inputs.Alpha = 0.05,
    margin: inputs.Margin = None,
    reference: inputs.Reference = "",
    missing: inputs.Missing = "refuse",
    resamples: inputs.Resamples = 10_000,
    seed: inputs.Seed = 0,
) -> Comparison:
    """Compare systems by their scores on the same data sets, paired by data set; more is better.

    Every data set has the same weight: the score of a system is its mean. The data sets stand for others like them:
    differences vary from one to the next, and Student's t says how far their mean may be from that over all such data
    sets.

    Examples
    --------
    >>> table = {"A": {"en": 90, "de": 85, "fi": 80, "ta": 60}, "B": {"en": 89, "de": 84, "fi": 78, "ta": 61}}
    >>> compare_scores(table)  # doctest: +NORMALIZE_WHITESPACE
    <Comparison: A and B are not told apart: A is ahead by 0.75 in mean score (95% CI [-1.25, +2.75], p = 0.3189).
    These data sets would show a difference of 2.68 with power 80%; a difference of more than 2.75 is ruled out.>
    """
    settings = PairwiseSettings(test or CLUSTERED_T, correction, alpha, resamples, seed, margin)
    if isinstance(scores, Mapping):
        check_number(len(scores))
    table = open_scores(scores, metric, missing=missing)
    check_number(len(table.systems))
    _check_range(table.scores_SD)
    scale = Scale.of(table.scores_SD.ravel().tolist())
    pairs, notes = _pairs(table, settings)
    tests, every = shown_pairs(pairs, settings, reference, table.systems, scale)
    label, datasets = metric or "mean score", len(table.datasets)
    rows = tuple(
        _mean_score(system, label, row, scale, 1 - alpha)
        for system, row in zip(table.systems, table.scores_SD, strict=True)
    )
    means = {row.system: row.value for row in rows}
    verdict = joint_verdict(tests, means, settings, metric=label, source="data sets", units=datasets, scale=scale)
    reason = "asked for" if test else "differences are paired by data set"
    outcome = (settings, reason, rows, tests, tied_systems(means, every, alpha), verdict)
    comparison = Comparison(label, metric or "mean", "data set", datasets, *outcome, scale=scale, reference=reference)
    if table.dropped:
        notes = (*notes, f"{pluralize(len(table.dropped), 'data set')} without a score of every system left out")
    several = len(table.systems) > 2 and datasets > 1
    ranks = average_ranks(table.systems, table.datasets, table.scores_SD, alpha) if several else None
    return replace(comparison, ranks=ranks, notes=(*table.notes, *notes))


def _pairs(table: ScoreTable, settings: PairwiseSettings) -> tuple[list[PairEstimates], tuple[str, ...]]:
    """The mean difference of every pair over data sets; with the p-value of a test that was asked for by name."""
    means, pairs = table.scores_SD.mean(axis=1).tolist(), list[PairEstimates]()
    whole_SD, unit, lowest, notes = _integers(table.scores_SD)
    if settings.test == CLUSTERED_T:
        notes = ()
    elif len(table.datasets) < 2:
        raise InputError("1 data set; expected at least two to compare systems")
    rows = (mean_estimates(row_D - table.scores_SD[i + 1 :]) for i, row_D in enumerate(table.scores_SD[:-1]))
    for (i, j), estimate in zip(combinations(range(len(means)), 2), chain.from_iterable(rows), strict=True):
        named = None
        if settings.test != CLUSTERED_T:
            first, second = (_as_counts(whole_SD[at], unit) for at in (i, j))
            named = pair_p(first, second, mean_above(lowest), settings)
        pairs.append(PairEstimates(table.systems[i], table.systems[j], (means[i], means[j]), estimate, named=named))
    return pairs, notes


def _as_counts(whole_D: NDArray[np.int64], unit: int) -> Counts:
    return np.stack([whole_D, np.full_like(whole_D, unit), np.full_like(whole_D, unit)], axis=1)


def _mean_score(system: str, label: str, scores_D: Values, scale: Scale, level: float) -> Score:
    mean = mean_estimate(scores_D)
    interval = score_interval(mean, len(scores_D), level, scale)
    return Score(system, label, "mean", mean.value, interval, 0, 0, 0, math.nan, math.nan)


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
