"""Samples of one test set, compared with the ranking on another: against loops and scipy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from deadheat.ranking.size_samples import SizeSettings, sample_weights
from deadheat.ranking.sizes import ASO_RESAMPLES, cross_curves
from deadheat.stats.aso import aso_matrix
from deadheat.stats.checks import Values
from tests.ranking.counts import curve_of, made_up


def test_a_sample_of_one_set_is_compared_with_all_of_another() -> None:
    """Every tau and eps_min by a loop over draws, from sums over the sentences of the sample."""
    first, second = (made_up(runs=(3, 2, 3), units=60, seed=seed, name=f"set{seed}") for seed in (1, 2))
    settings = SizeSettings((40, 90), draws=6, aso_draws=3, seed=5)
    crossed = cross_curves([first, second], settings)
    assert [(item.source, item.target) for item in crossed] == [("set1", "set2"), ("set2", "set1")]
    names, value = np.array(first.systems), first.metric.value

    def means(scores: Values) -> Values:
        return np.array([scores[names == name].mean() for name in dict.fromkeys(first.systems)])

    def bounds(scores: Values) -> Values:
        rows = [scores[names == name] for name in dict.fromkeys(first.systems)]
        return aso_matrix(rows, rng=np.random.default_rng(5), resamples=ASO_RESAMPLES).bound_SS

    target = value(second.counts_RNF.sum(axis=1))
    off_diagonal = ~np.eye(3, dtype=bool)
    for curve in crossed[0].curves:
        draws = 1 if curve.strategy == "seq" else 6
        for at, size in enumerate((40, 90)):
            taus, distances, differ = [], [], []
            for draw in range(draws):
                weights = sample_weights(first.lengths_N, curve.strategy, [40, 90, first.words], draw=draw, seed=5)[at]
                scores = value(first.counts_RNF[:, weights > 0].sum(axis=1))
                taus.append(stats.weightedtau(means(scores), means(target)).statistic)
                if draw < 3:
                    sides = bounds(scores)[off_diagonal], bounds(target)[off_diagonal]
                    distances.append(np.abs(sides[0] - sides[1]).mean())
                    differ.append(((sides[0] < 0.5) != (sides[1] < 0.5)).mean())
            point = curve.points[at]
            assert (point.words, point.draws) == (size, draws)
            assert point.tau == pytest.approx(np.mean(taus))
            assert point.aso is not None
            assert (point.aso.distance, point.aso.disagreement) == pytest.approx((np.mean(distances), np.mean(differ)))
        whole = curve.points[-1]
        between = stats.weightedtau(means(value(first.counts_RNF.sum(axis=1))), means(target)).statistic
        assert whole.whole
        assert whole.tau == pytest.approx(between)


def test_sets_with_other_systems_are_not_compared_across() -> None:
    one, other = made_up(runs=(2, 2), units=40), made_up(runs=(2, 1), units=40, name="other")
    assert cross_curves([one, other], SizeSettings((20,), draws=2)) == ()
    same = [replace(one, name=name) for name in ("x", "y")]
    settings = SizeSettings((20,), draws=4, strategies=("rand",))
    for item in cross_curves(same, settings):  # a copy of the set is as good as the set itself
        assert item.curves == (curve_of(one, settings),)
