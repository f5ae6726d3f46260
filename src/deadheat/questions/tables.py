"""Comparisons on a table of scores: systems by data sets."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError
from deadheat.metrics.metric import FIELDS, Counts, Metric, Sums, Values, ratio
from deadheat.questions.compare import Comparison
from deadheat.questions.contest import Settings, verdict
from deadheat.questions.score import Score
from deadheat.stats.intervals import bootstrap
from deadheat.stats.ranks import critical_difference
from deadheat.tables.matrix import ScoreTable, score_table
from deadheat.text import pluralize

DECIMALS = 6  # scores of so many decimals are compared as they stand, as integers, so that all swaps can be counted
FINEST, GREATEST = 1e-8, 1e12  # differences and scores that integers can hold
MOST_DIGITS = 9  # finer ones are rounded to so many digits of their range


def compare_scores(
    scores: str | os.PathLike[str] | Mapping[str, Mapping[str, float]],
    *,
    settings: Settings | None = None,
    metric: str = "",
    reference: str = "",
    missing: str = "refuse",
) -> Comparison:
    """Compare systems by their scores on the same data sets, paired by data set; more is better.

    Every data set counts the same: the value is the mean score.

    Examples
    --------
    >>> table = {"A": {"en": 90, "de": 85, "fi": 80, "ta": 60}, "B": {"en": 89, "de": 84, "fi": 78, "ta": 61}}
    >>> found = compare_scores(table)
    >>> print(found.test, found.pairs[0].difference, found.pairs[0].p)
    permutation-exact 0.75 0.5
    """
    settings = settings or Settings()
    table = _table(scores, metric, missing)
    scores_SD = table.scores_SD
    _check_reach(scores_SD)
    whole_SD, unit, lowest, notes = _whole(scores_SD)
    counts = {
        system: np.stack([row, np.full_like(row, unit), np.full_like(row, unit)], axis=1)
        for system, row in zip(table.systems, whole_SD, strict=True)
    }
    mean = mean_above(lowest)
    measure = Metric(metric or "mean", metric or "mean score", _no_counts, mean, FIELDS)
    rows = tuple(_row(name, each, measure, settings) for name, each in counts.items())
    found = verdict(counts, {row.file: row.value for row in rows}, mean, settings, reference=reference)
    ranks = None
    if len(table.systems) > 2 and len(table.datasets) > 1:
        ranks = critical_difference(scores_SD, names=table.systems, datasets=table.datasets, alpha=settings.alpha)
    least = 2.0 ** (1 - len(table.datasets)) * len(found.pairs)
    if least > settings.alpha:
        told = f"{pluralize(len(table.datasets), 'data set')} and {pluralize(len(found.pairs), 'pair')}"
        notes = (*notes, f"too few to tell: with {told} no corrected p-value can be {settings.alpha:g} or less")
    if table.dropped:
        notes = (*notes, f"{pluralize(len(table.dropped), 'data set')} without a score of every system left out")
    return Comparison(
        measure.label,
        "data set",
        found.reason,
        found.settings,
        rows,
        found.pairs,
        found.tied,
        len(table.datasets),
        scale=1.0,
        ranks=ranks,
        notes=notes,
    )


def _table(scores: str | os.PathLike[str] | Mapping[str, Mapping[str, float]], metric: str, missing: str) -> ScoreTable:
    if isinstance(scores, Mapping):
        _check_rivals(len(scores))
        return score_table(scores, metric=metric, missing=missing)
    from deadheat.tables.scores import read_score_table  # polars takes 0.3 s to import

    table = read_score_table(scores, metric=metric, missing=missing)
    _check_rivals(len(table.systems))
    return table


def _check_rivals(systems: int) -> None:
    if systems < 2:
        raise InputError(f"{pluralize(systems, 'system')}; expected at least two to compare")


def _check_reach(scores_SD: Values) -> None:
    spread, greatest = float(np.ptp(scores_SD)), float(np.abs(scores_SD).max())
    finest = max(FINEST, 2e-10 * scores_SD.shape[1])  # integers hold the sum over all data sets
    if 0 < spread < finest or not greatest <= GREATEST:
        told = f"scores up to {greatest:.3g} that differ by {spread:.3g} at most"
        expected = f"differences of {finest:g} or more and scores up to {GREATEST:g}"
        raise InputError(f"{told}; expected {expected}: multiply all scores by the same number")


def mean_above(lowest: float) -> Callable[[Sums], Values]:
    """The mean of scores that were counted from the lowest one on."""

    def mean(sums: Sums) -> Values:
        return lowest + ratio(sums[..., 0], sums[..., 1], empty=np.nan)

    return mean


def _whole(scores_SD: Values) -> tuple[NDArray[np.int64], int, float, tuple[str, ...]]:
    """Scores as integers above the lowest, what 1 became, the lowest, and a note if digits were lost."""
    lowest = float(scores_SD.min())
    spread = float(scores_SD.max()) - lowest
    for decimals in range(DECIMALS + 1):
        unit = int(10**decimals)
        exact = np.abs(scores_SD * unit - np.round(scores_SD * unit)) < 1e-6 * max(1.0, abs(lowest) + spread)
        if exact.all() and (unit * spread > 1 or not spread):
            low = round(lowest * unit)
            return np.round(scores_SD * unit).astype(np.int64) - low, unit, low / unit, ()
    unit = int(10 ** max(0, MOST_DIGITS - math.ceil(math.log10(spread))))
    whole = np.round((scores_SD - lowest) * unit).astype(np.int64)
    return whole, unit, lowest, (f"scores are compared to {MOST_DIGITS} digits of their range",)


def _no_counts(_: object) -> Counts:
    raise AssertionError("scores of a table are not counted")


def _row(name: str, counts_NF: Counts, measure: Metric, settings: Settings) -> Score:
    rng = np.random.default_rng(settings.seed)
    interval = bootstrap(counts_NF, measure.value, rng=rng, level=1 - settings.alpha, resamples=settings.resamples)
    total = counts_NF.sum(axis=0)
    return Score(name, measure, float(measure.value(total)), interval, total, counts_NF)
