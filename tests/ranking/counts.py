"""Counts of made-up systems, to sample from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deadheat.metrics import METRICS
from deadheat.ranking.size_samples import CountedSet, SizeSettings, sampled_scores
from deadheat.ranking.sizes import SizeCurve, sample_taus, size_curves


def counted_set(
    correct_RN: NDArray[np.int64], lengths: NDArray[np.int64], systems: tuple[str, ...], metric: str = "las"
) -> CountedSet:
    """Systems with the gold words, so that gold and predicted totals are the lengths."""
    totals = np.broadcast_to(lengths, correct_RN.shape)
    counts = np.stack([correct_RN, totals, totals], axis=2).astype(np.int64)
    return CountedSet("made up", systems, lengths, counts, METRICS.make(metric))


def made_up(*, runs: tuple[int, ...], units: int, seed: int = 0, name: str = "made up") -> CountedSet:
    """Systems of a few runs each, with predicted totals of their own, as chunks have."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 15, units)
    accuracy = np.repeat(np.linspace(0.6, 0.8, len(runs)), runs) + rng.normal(0, 0.01, sum(runs))
    correct = rng.binomial(lengths, accuracy[:, None])
    predicted = correct + rng.integers(0, 5, correct.shape)
    counts = np.stack([correct, np.broadcast_to(lengths, correct.shape), predicted], axis=2)
    names = tuple(f"s{system}" for system, many in enumerate(runs) for _ in range(many))
    return CountedSet(name, names, lengths, counts, METRICS.make("las"))


def curve_of(counted: CountedSet, settings: SizeSettings) -> SizeCurve:
    (sizes,), overall = size_curves([counted], settings)
    assert overall is None
    (curve,) = sizes.curves
    return curve


def taus_of(counted: CountedSet, settings: SizeSettings) -> list[NDArray[np.float64]]:
    """Tau of every draw, for each size of the only strategy."""
    (strategy,) = settings.strategies
    return sample_taus(sampled_scores(counted, strategy, settings), counted.systems, settings)
