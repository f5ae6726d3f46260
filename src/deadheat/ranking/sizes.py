"""How much test data is enough: systems ranked on samples of a test set against their ranking on all of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.errors import InputError
from deadheat.ranking.sizes_aso import AsoAgreement, aso_agreement
from deadheat.ranking.sizes_sampling import CountedSet, SampledScores, averaged, ranked_scores, sampled_scores
from deadheat.ranking.sizes_settings import SizeSettings
from deadheat.stats.checks import Values
from deadheat.stats.intervals import Interval, wilson
from deadheat.stats.rankings import weighted_kendall_rows
from deadheat.text import pluralize

CLOSE = 1e-12  # what a tau may lack of the threshold by rounding


@dataclass(frozen=True, slots=True, eq=False)
class SizePoint:
    """Samples of one size: weighted Kendall's tau of each draw, NaN where a sample puts all systems level."""

    size: int
    whole: bool  # the size is everything there is
    units: float
    tau_B: Values
    aso: AsoAgreement | None = None

    @property
    def undefined(self) -> int:
        """Draws without a tau."""
        return int(np.count_nonzero(np.isnan(self.tau_B)))

    @property
    def mean(self) -> float:
        """The mean of the draws that have a tau; NaN if none has."""
        known = self.tau_B[~np.isnan(self.tau_B)]
        return float(known.mean()) if len(known) else math.nan

    def interval(self, level: float) -> Interval:
        """Where the middle of the draws lies, as many as `level` says; NaN with one draw."""
        known = self.tau_B[~np.isnan(self.tau_B)]
        if len(known) < 2:
            return Interval(math.nan, math.nan, level, "draws")
        low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
        return Interval(float(low), float(high), level, "draws")

    def reached(self, threshold: float) -> int:
        """Draws whose tau is at least this; a sample that orders nothing does not reach it."""
        return int(np.count_nonzero(self.tau_B >= threshold - CLOSE))

    def share(self, threshold: float) -> Interval:
        """Where the share of all possible draws whose tau is at least this lies, by Wilson's 95 % interval."""
        return wilson(self.reached(threshold), len(self.tau_B))

    def to_dict(self, settings: SizeSettings) -> dict[str, Any]:
        """Plain values. `low` and `high` are of the draws, `share_low` and `share_high` Wilson's for the share."""
        low, high = self.interval(settings.confidence).bounds
        hits, draws = self.reached(settings.threshold), len(self.tau_B)
        share_low, share_high = self.share(settings.threshold).bounds
        shares = {"share": hits / draws, "share_low": share_low, "share_high": share_high}
        found = {"words": self.size, "all": self.whole, "units": self.units, "draws": draws, "tau": self.mean}
        found |= {"low": low, "high": high, "undefined": self.undefined, "reached": hits, **shares}
        return found | {"aso": self.aso.to_dict() if self.aso else None}


@dataclass(frozen=True, slots=True, eq=False)
class SizeCurve:
    """One way of sampling, from the smallest size to the largest."""

    way: str
    points: tuple[SizePoint, ...]

    @property
    def draws(self) -> int:
        """Samples of each size."""
        return len(self.points[0].tau_B)

    def smallest(self, *, threshold: float, confidence: float) -> SizePoint | None:
        """The smallest size from which on tau is at least the threshold in so large a share of the draws.

        Everything there is does not count: its tau with itself is 1 whatever the data. Nor does a single draw, which
        tells nothing of others.
        """
        if self.draws < 2:
            return None
        found = None
        for point in reversed(self.points):
            if point.whole:
                continue
            if point.reached(threshold) < confidence * len(point.tau_B) - CLOSE:
                break
            found = point
        return found


def size_curve(sampled: SampledScores, systems: Sequence[str], settings: SizeSettings) -> SizeCurve:
    """Tau of every sample, and how far significance by almost stochastic order agrees where systems have runs."""
    scores_MBS = ranked_scores(sampled.scores_MBR, systems, settings.seeds)
    against_MBS = ranked_scores(sampled.against_MBR, systems, settings.seeds)
    points = []
    for at, (size, whole) in enumerate(zip(sampled.sizes, sampled.wholes, strict=True)):
        opposite = min(at, len(against_MBS) - 1)
        tau_B = _taus(scores_MBS[at], against_MBS[opposite])
        aso = None
        if settings.aso_draws:
            few = 1 if whole else settings.aso_draws
            aso = aso_agreement(
                sampled.scores_MBR[at, :few], sampled.against_MBR[opposite, :few], systems, seed=settings.seed
            )
        points.append(SizePoint(size, whole, float(sampled.units_M[at]), tau_B, aso))
    return SizeCurve(sampled.way, tuple(points))


def _taus(scores_BS: Values, against_BS: Values) -> Values:
    """Weighted tau of each row; NaN where a sample has no score for somebody."""
    others_BS = np.broadcast_to(against_BS, scores_BS.shape)
    known = np.isfinite(scores_BS).all(axis=1) & np.isfinite(others_BS).all(axis=1)
    tau_B = np.full(len(scores_BS), math.nan)
    if known.any():
        tau_B[known] = weighted_kendall_rows(scores_BS[known], others_BS[known])
    return tau_B


@dataclass(frozen=True, slots=True, eq=False)
class SetSizes:
    """A test set (or the mean over several): its ranking on everything, and one curve a way of sampling."""

    name: str
    words: int
    units: int
    unit: str
    systems: tuple[str, ...]  # as ranked
    scores_S: Values  # on everything
    curves: tuple[SizeCurve, ...]

    @property
    def order(self) -> list[int]:
        """Systems from the best to the worst on everything."""
        order: list[int] = np.argsort(-self.scores_S, kind="stable").tolist()
        return order

    def __str__(self) -> str:
        return f"{self.name}: {pluralize(self.words, 'word')}, {pluralize(len(self.systems), 'system')}"


def size_curves(sets: Sequence[CountedSet], settings: SizeSettings) -> tuple[tuple[SetSizes, ...], SetSizes | None]:
    """Curves of every test set and, where several have the same runs, of the mean score over all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from deadheat.metrics import METRICS
    >>> right = np.random.default_rng(0).random((3, 400)) < [[0.9], [0.8], [0.7]]
    >>> counts = np.stack([right, np.ones_like(right), np.ones_like(right)], axis=2).astype(np.int64)
    >>> words = CountedSet("words", ("a", "b", "c"), np.ones(400, np.int64), counts, METRICS.make("upos"))
    >>> (found,), _ = size_curves([words], SizeSettings(sizes=(20, 200), ways=("rand",)))
    >>> [(point.size, round(point.mean, 2)) for point in found.curves[0].points]
    [(20, 0.64), (200, 0.99), (400, 1.0)]
    """
    for each in sets:
        ranked = each.ranked(settings.seeds)
        if len(ranked) < 2:
            told = f"{pluralize(len(ranked), 'system')}; expected at least two to rank"
            raise InputError(f"{each.name}: {told}" if each.name else told)
    found, samples = [], []
    for each in sets:
        own = [sampled_scores(each, way, settings) for way in settings.ways]
        curves = tuple(size_curve(sampled, each.systems, settings) for sampled in own)
        whole = ranked_scores(each.metric.value(each.counts_RNF.sum(axis=1)), each.systems, settings.seeds)
        names = each.ranked(settings.seeds)
        found.append(SetSizes(each.name, each.words, len(each.lengths_N), each.unit, names, whole, curves))
        samples.append(own)
    if len(sets) < 2 or len({each.systems for each in sets}) > 1:
        return tuple(found), None
    together = [averaged(same) for same in zip(*samples, strict=True)]
    curves = tuple(size_curve(sampled, sets[0].systems, settings) for sampled in together)
    mean = np.mean([each.scores_S for each in found], axis=0)
    words, units = sum(each.words for each in found), sum(each.units for each in found)
    kinds = {each.unit for each in found}
    unit = kinds.pop() if len(kinds) == 1 else "block"
    return tuple(found), SetSizes("overall", words, units, unit, found[0].systems, mean, curves)
