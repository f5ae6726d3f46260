"""How much test data is sufficient: rankings on samples of a test set, compared with the ranking on all of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError
from deadheat.ranking.size_samples import (
    CountedSet,
    SampledScores,
    SizeSettings,
    mean_scores,
    ranked_names,
    ranked_scores,
    sampled_scores,
)
from deadheat.stats.agreement import weighted_kendall_rows
from deadheat.stats.aso import aso_matrix
from deadheat.stats.checks import Values
from deadheat.text import pluralize

CLOSE = 1e-12  # rounding error allowed when tau is compared with the threshold
ASO_THRESHOLD = 0.5  # an eps_min below it means that a system is better, as in van der Goot et al. (2024)
ASO_RESAMPLES = 200


@dataclass(frozen=True, slots=True, eq=False)
class AsoDraws:
    """How far almost stochastic order on samples differs from that on the data they are compared with, per draw.

    `disagreement` is the share of ordered pairs of systems for which eps_min < 0.5 on one side only; `distance` is the
    mean absolute difference of eps_min. NaN for a draw in which some run has no score.
    """

    disagreement_B: Values
    distance_B: Values
    systems: int  # with at least two runs


@dataclass(frozen=True, slots=True, eq=False)
class SampledSize:
    """Samples of one size: weighted Kendall's tau of each draw, NaN for a sample on which all systems are tied."""

    words: int
    whole: bool  # the size is the whole test set
    units: float
    tau_B: Values
    aso: AsoDraws | None = None

    def reached(self, threshold: float) -> int:
        """Draws whose tau is at least the threshold; a sample without a tau does not reach it."""
        return int(np.count_nonzero(self.tau_B >= threshold - CLOSE))


@dataclass(frozen=True, slots=True, eq=False)
class SampledCurve:
    """The samples of one strategy, from the smallest size to the largest."""

    strategy: str
    points: tuple[SampledSize, ...]

    @property
    def draws(self) -> int:
        """Samples of each size."""
        return len(self.points[0].tau_B)

    def smallest_sufficient(self, *, threshold: float, confidence: float) -> SampledSize | None:
        """The smallest size from which on tau is at least the threshold in the required share of draws.

        The whole test set does not count: its tau with itself is 1 whatever the data. Nor does a single draw, which
        says nothing about others.
        """
        if self.draws < 2:
            return None
        smallest = None
        for point in reversed(self.points):
            if point.whole:
                continue
            if point.reached(threshold) < confidence * len(point.tau_B) - CLOSE:
                break
            smallest = point
        return smallest


@dataclass(frozen=True, slots=True, eq=False)
class SampledSet:
    """A test set, or the mean over several: the scores on all of it, and one curve per sampling strategy."""

    name: str
    words: int
    units: int
    unit: str
    systems: tuple[str, ...]  # as ranked
    scores_S: Values
    curves: tuple[SampledCurve, ...]


def size_curves(sets: Sequence[CountedSet], settings: SizeSettings) -> tuple[list[SampledSet], SampledSet | None]:
    """Curves for every test set and, if several have the same runs, for the mean score over all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from deadheat.metrics import METRICS
    >>> right = np.random.default_rng(0).random((3, 400)) < [[0.9], [0.8], [0.7]]
    >>> counts = np.stack([right, np.ones_like(right), np.ones_like(right)], axis=2).astype(np.int64)
    >>> words = CountedSet("words", ("a", "b", "c"), np.ones(400, np.int64), counts, METRICS.make("upos"))
    >>> (curves,), _ = size_curves([words], SizeSettings(sizes=(20, 200), strategies=("rand",)))
    >>> [(point.words, round(float(np.nanmean(point.tau_B)), 2)) for point in curves.curves[0].points]
    [(20, 0.64), (200, 0.99), (400, 1.0)]
    """
    for counted in sets:
        ranked = len(ranked_names(counted.systems, settings.runs))
        if ranked < 2:
            problem = f"{pluralize(ranked, 'system')}; expected at least two to rank"
            raise InputError(f"{counted.name}: {problem}" if counted.name else problem)
    results, samples = [], []
    for counted in sets:
        own = [sampled_scores(counted, strategy, settings) for strategy in settings.strategies]
        curves = tuple(size_curve(sampled, counted.systems, settings) for sampled in own)
        scores = ranked_scores(counted.metric.value(counted.counts_RNF.sum(axis=1)), counted.systems, settings.runs)
        names = ranked_names(counted.systems, settings.runs)
        units = len(counted.lengths_N)
        results.append(SampledSet(counted.name, counted.words, units, counted.unit, names, scores, curves))
        samples.append(own)
    if len(sets) < 2 or len({counted.systems for counted in sets}) > 1:
        return results, None
    averages = [mean_scores(same) for same in zip(*samples, strict=True)]
    curves = tuple(size_curve(sampled, sets[0].systems, settings) for sampled in averages)
    mean = np.mean([result.scores_S for result in results], axis=0)
    words, units = sum(result.words for result in results), sum(result.units for result in results)
    kinds = {result.unit for result in results}
    unit = kinds.pop() if len(kinds) == 1 else "block"
    return results, SampledSet("overall", words, units, unit, results[0].systems, mean, curves)


def size_curve(sampled: SampledScores, systems: Sequence[str], settings: SizeSettings) -> SampledCurve:
    """Tau of every sample, and the agreement of significance by almost stochastic order if systems have runs."""
    scores_MBS = ranked_scores(sampled.scores_MBR, systems, settings.runs)
    against_MBS = ranked_scores(sampled.against_MBR, systems, settings.runs)
    points = []
    for at, (words, whole) in enumerate(zip(sampled.sizes, sampled.wholes, strict=True)):
        opposite = min(at, len(against_MBS) - 1)
        tau_B = _taus(scores_MBS[at], against_MBS[opposite])
        aso = None
        if settings.aso_draws:
            draws = 1 if whole else settings.aso_draws
            sides = sampled.scores_MBR[at, :draws], sampled.against_MBR[opposite, :draws]
            aso = compare_aso(*sides, systems, seed=settings.seed)
        points.append(SampledSize(words, whole, float(sampled.units_M[at]), tau_B, aso))
    return SampledCurve(sampled.strategy, tuple(points))


def _taus(scores_BS: Values, against_BS: Values) -> Values:
    """Weighted tau of each row; NaN if some system has no score on the sample."""
    others_BS = np.broadcast_to(against_BS, scores_BS.shape)
    defined = np.isfinite(scores_BS).all(axis=1) & np.isfinite(others_BS).all(axis=1)
    tau_B = np.full(len(scores_BS), math.nan)
    if defined.any():
        tau_B[defined] = weighted_kendall_rows(scores_BS[defined], others_BS[defined])
    return tau_B


def compare_aso(scores_BR: Values, against_BR: Values, systems: Sequence[str], *, seed: int) -> AsoDraws | None:
    """Compare both sides draw by draw; None unless two systems have at least two runs.

    The resamples of runs are the same for every sample, so that two samples with the same scores agree entirely.

    Examples
    --------
    >>> import numpy as np
    >>> names, apart, mixed = ["a", "a", "b", "b"], [0.9, 0.91, 0.7, 0.71], [0.7, 0.9, 0.8, 0.9]
    >>> compare_aso(np.array([apart, mixed]), np.array([apart]), names, seed=0).disagreement_B
    array([0. , 0.5])
    """
    repeated = [name for name in dict.fromkeys(systems) if list(systems).count(name) > 1]
    if len(repeated) < 2:
        return None
    rows = [np.flatnonzero(np.array(systems) == name) for name in repeated]
    pairs = ~np.eye(len(repeated), dtype=bool)
    disagreement_B, distance_B = np.full(len(scores_BR), math.nan), np.full(len(scores_BR), math.nan)
    others = [_aso_bounds(scores_R, rows, seed) for scores_R in against_BR]
    for draw, scores_R in enumerate(scores_BR):
        bounds, other = _aso_bounds(scores_R, rows, seed), others[draw if len(others) > 1 else 0]
        if bounds is None or other is None:
            continue
        disagreement_B[draw] = np.mean((bounds < ASO_THRESHOLD)[pairs] != (other < ASO_THRESHOLD)[pairs])
        distance_B[draw] = np.mean(np.abs(bounds - other)[pairs])
    return AsoDraws(disagreement_B, distance_B, len(repeated))


def _aso_bounds(scores_R: Values, rows: Sequence[NDArray[np.intp]], seed: int) -> Values | None:
    """eps_min of every ordered pair of systems; None if a run has no score."""
    scores = [scores_R[row] for row in rows]
    if not all(np.isfinite(values).all() for values in scores):
        return None
    return aso_matrix(scores, rng=np.random.default_rng(seed), resamples=ASO_RESAMPLES).bound_SS
