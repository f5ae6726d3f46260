"""How much test data is sufficient: rankings on samples of a test set, compared with the ranking on all of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.ranking.size_samples import (
    CountedSet,
    SampledScores,
    SizeSettings,
    check_systems,
    mean_scores,
    ranked_names,
    ranked_scores,
    sampled_scores,
)
from deadheat.stats.agreement import weighted_kendall_rows
from deadheat.stats.aso import aso_matrix
from deadheat.stats.checks import Values
from deadheat.stats.intervals import wilson

CLOSE = 1e-12  # rounding error allowed when tau is compared with the threshold
ASO_THRESHOLD = 0.5  # an eps_min below it means that a system is better, as in van der Goot et al. (2024)
ASO_RESAMPLES = 200


@dataclass(frozen=True, slots=True)
class AsoAgreement:
    """How far almost stochastic order over runs differs between samples and the data they are compared with.

    `disagreement` is the share of ordered pairs of systems for which eps_min < 0.5 on one side only, `distance` the
    mean absolute difference of eps_min; both are means over draws.
    """

    draws: int
    systems: int  # with at least two runs
    disagreement: float
    distance: float


@dataclass(frozen=True, slots=True)
class SizePoint:
    """Samples of one size, and weighted Kendall's tau of their rankings with the ranking they are compared with."""

    words: int
    whole: bool  # the size is the whole test set
    units: float  # in a sample, on average
    draws: int
    tau: float  # mean over draws
    low: float  # the middle of the draws lies between low and high, as many as the confidence says
    high: float
    undefined: int  # draws without a tau, because all systems are tied
    reached: int  # draws whose tau is at least the threshold
    share_low: float  # Wilson's 95% interval for the share of all possible draws that reach the threshold
    share_high: float
    aso: AsoAgreement | None = None

    @property
    def share(self) -> float:
        """Of draws that reach the threshold."""
        return self.reached / self.draws


@dataclass(frozen=True, slots=True)
class SizeCurve:
    """One sampling strategy, from the smallest size to the largest."""

    strategy: str
    points: tuple[SizePoint, ...]
    sufficient: int | None  # the smallest sufficient size in words; None if no size is, or there is a single draw

    @property
    def draws(self) -> int:
        return self.points[0].draws

    @property
    def samples(self) -> list[SizePoint]:
        """The sizes below the whole test set."""
        return [point for point in self.points if not point.whole]

    def at(self, words: int) -> SizePoint | None:
        """The samples of a size, if there are any."""
        return next((point for point in self.samples if point.words == words), None)


@dataclass(frozen=True, slots=True)
class SystemScore:
    """A system and its score on a whole test set."""

    system: str
    score: float


@dataclass(frozen=True, slots=True)
class SetSizes:
    """A test set, or all of them together: the ranking on all of it, and one curve per sampling strategy."""

    name: str
    words: int
    units: int
    unit: str
    systems: tuple[SystemScore, ...]  # best first
    curves: tuple[SizeCurve, ...]


def size_curves(sets: Sequence[CountedSet], settings: SizeSettings) -> tuple[list[SetSizes], SetSizes | None]:
    """Curves for every test set and, if several have the same runs, for the mean score over all of them."""
    for counted in sets:
        check_systems(counted.systems, settings.runs, counted.name)
    results, scores_DS, samples = [], [], []
    for counted in sets:
        sampled = [sampled_scores(counted, strategy, settings) for strategy in settings.strategies]
        curves = tuple(size_curve(scores, counted.systems, settings) for scores in sampled)
        scores_S = ranked_scores(counted.metric.value(counted.counts_RNF.sum(axis=1)), counted.systems, settings.runs)
        systems = _ranking(ranked_names(counted.systems, settings.runs), scores_S)
        results.append(SetSizes(counted.name, counted.words, len(counted.lengths_N), counted.unit, systems, curves))
        scores_DS.append(scores_S)
        samples.append(sampled)
    if len(sets) < 2 or len({counted.systems for counted in sets}) > 1:
        return results, None
    averages = [mean_scores(same) for same in zip(*samples, strict=True)]
    curves = tuple(size_curve(scores, sets[0].systems, settings) for scores in averages)
    systems = _ranking(ranked_names(sets[0].systems, settings.runs), np.mean(scores_DS, axis=0))
    words, units = sum(result.words for result in results), sum(result.units for result in results)
    kinds = {result.unit for result in results}
    unit = kinds.pop() if len(kinds) == 1 else "block"
    return results, SetSizes("overall", words, units, unit, systems, curves)


def _ranking(names: Sequence[str], scores_S: Values) -> tuple[SystemScore, ...]:
    return tuple(SystemScore(names[at], float(scores_S[at])) for at in np.argsort(-scores_S, kind="stable"))


def size_curve(sampled: SampledScores, systems: Sequence[str], settings: SizeSettings) -> SizeCurve:
    """Tau of the samples of one strategy, and the agreement of significance if systems have several runs."""
    points = []
    for at, tau_B in enumerate(sample_taus(sampled, systems, settings)):
        aso = None
        if settings.aso_draws:
            draws = 1 if sampled.wholes[at] else settings.aso_draws
            opposite = min(at, len(sampled.against_MBR) - 1)
            sides = sampled.scores_MBR[at, :draws], sampled.against_MBR[opposite, :draws]
            aso = _aso_agreement(compare_aso(*sides, systems, seed=settings.seed))
        units = float(sampled.units_M[at])
        points.append(size_point(sampled.sizes[at], units, tau_B, settings, whole=sampled.wholes[at], aso=aso))
    return SizeCurve(sampled.strategy, tuple(points), sufficient_size(points, settings.confidence))


def sample_taus(sampled: SampledScores, systems: Sequence[str], settings: SizeSettings) -> list[Values]:
    """Weighted Kendall's tau of each draw, for every size; NaN for a sample on which all systems are tied."""
    scores_MBS = ranked_scores(sampled.scores_MBR, systems, settings.runs)
    against_MBS = ranked_scores(sampled.against_MBR, systems, settings.runs)
    return [_taus(scores_BS, against_MBS[min(at, len(against_MBS) - 1)]) for at, scores_BS in enumerate(scores_MBS)]


def size_point(
    words: int,
    units: float,
    tau_B: Values,
    settings: SizeSettings,
    *,
    whole: bool = False,
    aso: AsoAgreement | None = None,
) -> SizePoint:
    """Summarize the taus of all draws of a size; a draw without a tau does not reach the threshold."""
    defined = tau_B[~np.isnan(tau_B)]
    tau = float(defined.mean()) if len(defined) else math.nan
    low = high = math.nan
    if len(defined) > 1:
        tails = (1 - settings.confidence) / 2, (1 + settings.confidence) / 2
        low, high = np.quantile(defined, tails).tolist()
    draws, reached = len(tau_B), int(np.count_nonzero(tau_B >= settings.threshold - CLOSE))
    share = wilson(reached, draws).bounds
    return SizePoint(words, whole, units, draws, tau, low, high, draws - len(defined), reached, *share, aso)


def sufficient_size(points: Sequence[SizePoint], confidence: float) -> int | None:
    """The smallest size from which on tau reaches the threshold in the required share of draws.

    The whole test set does not count: its tau with itself is 1 whatever the data. Nor does a single draw, which says
    nothing about others.
    """
    smallest = None
    for point in reversed(points):
        if point.whole:
            continue
        if point.draws < 2 or point.reached < confidence * point.draws - CLOSE:
            break
        smallest = point.words
    return smallest


def _taus(scores_BS: Values, against_BS: Values) -> Values:
    """Weighted tau of each row; NaN if some system has no score on the sample."""
    others_BS = np.broadcast_to(against_BS, scores_BS.shape)
    defined = np.isfinite(scores_BS).all(axis=1) & np.isfinite(others_BS).all(axis=1)
    tau_B = np.full(len(scores_BS), math.nan)
    if defined.any():
        tau_B[defined] = weighted_kendall_rows(scores_BS[defined], others_BS[defined])
    return tau_B


def compare_aso(
    scores_BR: Values, against_BR: Values, systems: Sequence[str], *, seed: int
) -> tuple[int, Values, Values] | None:
    """How many systems have at least two runs, and disagreement and distance (see `AsoAgreement`) of every draw.

    They are NaN for a draw in which some run has no score; all is None with fewer than two such systems. The resamples
    of runs are the same for every sample, so that two samples with the same scores agree entirely.
    """
    rows = [np.flatnonzero(np.array(systems) == name) for name in dict.fromkeys(systems)]
    rows = [row for row in rows if len(row) > 1]
    if len(rows) < 2:
        return None
    pairs = ~np.eye(len(rows), dtype=bool)
    disagreement_B, distance_B = np.full(len(scores_BR), math.nan), np.full(len(scores_BR), math.nan)
    others = [_aso_bounds(scores_R, rows, seed) for scores_R in against_BR]
    for draw, scores_R in enumerate(scores_BR):
        bounds, other = _aso_bounds(scores_R, rows, seed), others[draw if len(others) > 1 else 0]
        if bounds is None or other is None:
            continue
        disagreement_B[draw] = np.mean((bounds < ASO_THRESHOLD)[pairs] != (other < ASO_THRESHOLD)[pairs])
        distance_B[draw] = np.mean(np.abs(bounds - other)[pairs])
    return len(rows), disagreement_B, distance_B


def _aso_agreement(differences: tuple[int, Values, Values] | None) -> AsoAgreement | None:
    if differences is None:
        return None
    systems, *by_draw = differences
    defined = (values_B[~np.isnan(values_B)] for values_B in by_draw)
    means = (float(values.mean()) if len(values) else math.nan for values in defined)
    return AsoAgreement(len(by_draw[0]), systems, *means)


def _aso_bounds(scores_R: Values, rows: Sequence[NDArray[np.intp]], seed: int) -> Values | None:
    """eps_min of every ordered pair of systems; None if a run has no score."""
    scores = [scores_R[row] for row in rows]
    if not all(np.isfinite(values).all() for values in scores):
        return None
    return aso_matrix(scores, rng=np.random.default_rng(seed), resamples=ASO_RESAMPLES).bound_SS
