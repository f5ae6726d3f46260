"""How much test data is sufficient: rankings on samples of a test set, compared with the ranking on all of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

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


@dataclass(frozen=True, slots=True)
class CrossSizes:
    """Rankings on samples of one test set, compared with the ranking on all of another: one curve per strategy."""

    source: str  # the test set that is sampled
    target: str
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


def cross_curves(sets: Sequence[CountedSet], settings: SizeSettings) -> tuple[CrossSizes, ...]:
    """Curves for every ordered pair of different test sets; none if they do not have the same runs in the same order.

    A sample of the source is compared with all of the target, which it is no part of: so tau does not tend to 1.
    """
    if len({counted.systems for counted in sets}) != 1:
        return ()
    systems = sets[0].systems
    wholes, samples = [], []
    for counted in sets:
        scores_R = counted.metric.value(counted.counts_RNF.sum(axis=1))
        wholes.append(_side(scores_R[None, None], systems, settings))
        sampled = [sampled_scores(counted, strategy, settings) for strategy in settings.strategies]
        samples.append([(item, _side(item.scores_MBR, systems, settings, item.wholes)) for item in sampled])
    return tuple(
        CrossSizes(
            sets[source].name,
            sets[target].name,
            tuple(_curve(sampled, side, wholes[target], settings) for sampled, side in samples[source]),
        )
        for source, target in permutations(range(len(sets)), 2)
    )


def size_curve(sampled: SampledScores, systems: Sequence[str], settings: SizeSettings) -> SizeCurve:
    """Tau of the samples of one strategy, and the agreement of significance if systems have several runs."""
    samples = _side(sampled.scores_MBR, systems, settings, sampled.wholes)
    return _curve(sampled, samples, _side(sampled.against_MBR, systems, settings), settings)


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One side of a comparison of rankings: scores of what is ranked, and eps_min of every pair of systems by size."""

    scores_MBS: Values
    systems: int  # with at least two runs
    bounds_M: tuple[Values, ...]  # draws by systems by systems; empty without significance


def _side(scores_MBR: Values, systems: Sequence[str], settings: SizeSettings, wholes: Sequence[bool] = ()) -> _Side:
    scores_MBS = ranked_scores(scores_MBR, systems, settings.runs)
    rows = runs_of_systems(systems)
    if not settings.aso_draws or len(rows) < 2:
        return _Side(scores_MBS, len(rows), ())
    draws = [1 if whole else settings.aso_draws for whole in wholes or [False] * len(scores_MBR)]
    bounds = (
        aso_bounds(scores_BR[:n], rows, seed=settings.seed) for scores_BR, n in zip(scores_MBR, draws, strict=True)
    )
    return _Side(scores_MBS, len(rows), tuple(bounds))


def _curve(sampled: SampledScores, samples: _Side, against: _Side, settings: SizeSettings) -> SizeCurve:
    points = []
    for at, tau_B in enumerate(_taus_by_size(samples.scores_MBS, against.scores_MBS)):
        aso = None
        if samples.bounds_M:
            bounds_BSS, others_BSS = samples.bounds_M[at], against.bounds_M[min(at, len(against.bounds_M) - 1)]
            aso = _aso_agreement(samples.systems, *aso_differences(bounds_BSS, others_BSS[: len(bounds_BSS)]))
        units = float(sampled.units_M[at])
        points.append(size_point(sampled.sizes[at], units, tau_B, settings, whole=sampled.wholes[at], aso=aso))
    return SizeCurve(sampled.strategy, tuple(points), sufficient_size(points, settings.confidence))


def sample_taus(sampled: SampledScores, systems: Sequence[str], settings: SizeSettings) -> list[Values]:
    """Weighted Kendall's tau of each draw, for every size; NaN for a sample on which all systems are tied."""
    sides = (ranked_scores(scores, systems, settings.runs) for scores in (sampled.scores_MBR, sampled.against_MBR))
    return _taus_by_size(*sides)


def _taus_by_size(scores_MBS: Values, against_MBS: Values) -> list[Values]:
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


def runs_of_systems(systems: Sequence[str]) -> list[NDArray[np.intp]]:
    """Positions of the runs of every system that has at least two."""
    rows = (np.flatnonzero(np.array(systems) == name) for name in dict.fromkeys(systems))
    return [row for row in rows if len(row) > 1]


def aso_bounds(scores_BR: Values, rows: Sequence[NDArray[np.intp]], *, seed: int) -> Values:
    """eps_min of every ordered pair of systems in every draw; NaN for a draw in which some run has no score.

    The resamples of runs are the same for every draw, so that two samples with the same scores agree entirely.
    """
    bounds_BSS = np.full((len(scores_BR), len(rows), len(rows)), math.nan)
    for bounds_SS, scores_R in zip(bounds_BSS, scores_BR, strict=True):
        scores = [scores_R[row] for row in rows]
        if all(np.isfinite(values).all() for values in scores):
            bounds_SS[:] = aso_matrix(scores, rng=np.random.default_rng(seed), resamples=ASO_RESAMPLES).bound_SS
    return bounds_BSS


def aso_differences(bounds_BSS: Values, others_BSS: Values) -> tuple[Values, Values]:
    """Disagreement and distance of every draw (see `AsoAgreement`); NaN where bounds are missing."""
    pairs = ~np.eye(bounds_BSS.shape[1], dtype=bool)
    bounds, others = bounds_BSS[:, pairs], np.broadcast_to(others_BSS, bounds_BSS.shape)[:, pairs]
    distance_B = np.abs(bounds - others).mean(axis=1)
    disagreement_B = ((bounds < ASO_THRESHOLD) != (others < ASO_THRESHOLD)).mean(axis=1)
    return np.where(np.isnan(distance_B), math.nan, disagreement_B), distance_B


def _aso_agreement(systems: int, disagreement_B: Values, distance_B: Values) -> AsoAgreement:
    defined = ~np.isnan(distance_B)
    means = (
        float(values_B[defined].mean()) if defined.any() else math.nan for values_B in (disagreement_B, distance_B)
    )
    return AsoAgreement(len(distance_B), systems, *means)
