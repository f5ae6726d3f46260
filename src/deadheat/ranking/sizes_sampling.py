"""Samples of a test set of every size, and the scores of every system on them.

A sample of M words is drawn as van der Goot et al. (2024) draw it (`deadheat.splits.drawing`). The counts of its
sentences add up to the counts of every system on it, so that all samples of all sizes are one product of a table of
zeros and ones with the table of counts. Sums of integers in float64 are exact, whatever the order of addition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError
from deadheat.metrics.metric import Counts, Metric
from deadheat.ranking.sizes_settings import SizeSettings
from deadheat.splits.drawing import generator, sampling_order, sentences_reaching
from deadheat.stats.checks import Values

BLOCK = 1 << 22  # weights at a time, so that memory stays small
DECIMALS = 12  # mean scores that are equal to so many are ties; the order of addition moves the sixteenth


@dataclass(frozen=True, slots=True, eq=False)
class CountedSet:
    """Counts of every run of every system on the units of one test set; runs of one system share its name."""

    name: str
    systems: tuple[str, ...]  # of each run
    lengths_N: Indices  # gold words of each unit
    counts_RNF: Counts
    metric: Metric
    unit: str = "sentence"

    def __post_init__(self) -> None:
        where, counts = self.name or "counts", self.counts_RNF
        if counts.ndim != 3 or counts.shape[:2] != (len(self.systems), len(self.lengths_N)) or counts.shape[2] < 3:
            shape = f"{len(self.systems)} runs by {len(self.lengths_N)} units by 3 fields or more"
            raise InputError(f"{where}: counts of shape {counts.shape}; expected {shape}")
        if not len(self.lengths_N) or int(self.lengths_N.min()) < 1:
            raise InputError(f"{where}: a unit without words, or no unit; expected at least one word in each")
        if not np.issubdtype(counts.dtype, np.integer) or int(counts.min()) < 0:
            raise InputError(f"{where}: counts of type {counts.dtype}, or below zero; expected whole numbers from 0 on")
        empty = np.flatnonzero(~np.isfinite(self.metric.value(counts.sum(axis=1))))
        if len(empty):
            told = "no score, because there is nothing to get right; expected something to count"
            raise InputError(f"{where}: {self.systems[empty[0]]}: {told}")

    @property
    def words(self) -> int:
        return int(self.lengths_N.sum())

    def ranked(self, seeds: str) -> tuple[str, ...]:
        """What is ranked: the systems, or every run of them under a name of its own."""
        return ranked_names(self.systems, seeds)

    def sizes(self, settings: SizeSettings) -> list[int]:
        """Sizes that are sampled here: below all words, or leaving as many as they take; last, if wanted, all words."""
        if settings.against == "rest":
            found = [size for size in settings.sizes if 2 * size <= self.words]
        else:
            found = [size for size in settings.sizes if size < self.words]
        if not found:
            most = self.words // 2 if settings.against == "rest" else self.words - 1
            told = f"no size asked for is at most {most:,} words"
            raise InputError(f"{self.name or 'counts'}: {told}; there are {self.words:,}, expected a smaller size")
        beyond = settings.whole or settings.sizes[-1] >= self.words
        return [*found, self.words] if settings.against == "all" and beyond else found


def ranked_names(systems: Sequence[str], seeds: str) -> tuple[str, ...]:
    """Each system once, or each of its runs as `name run 1`, ...

    Examples
    --------
    >>> ranked_names(["a", "a", "b"], "average"), ranked_names(["a", "a", "b"], "separate")
    (('a', 'b'), ('a run 1', 'a run 2', 'b'))
    """
    if seeds == "average":
        return tuple(dict.fromkeys(systems))
    seen = [systems[:at].count(name) + 1 for at, name in enumerate(systems)]
    return tuple(
        f"{name} run {run}" if systems.count(name) > 1 else name for name, run in zip(systems, seen, strict=True)
    )


def ranked_scores(scores_xR: Values, systems: Sequence[str], seeds: str) -> Values:
    """Scores of what is ranked along the last axis: means over the runs of a system, or those of the runs."""
    if seeds == "separate":
        return scores_xR
    names = np.array(systems)
    means = [np.sort(scores_xR[..., names == name], axis=-1).mean(axis=-1) for name in dict.fromkeys(systems)]
    return np.round(np.stack(means, axis=-1), DECIMALS)


@dataclass(frozen=True, slots=True, eq=False)
class SampledScores:
    """Scores of every run on samples of one way: sizes by draws by runs, and those that they are held against.

    `against_MBR` has one size and one draw where that is the whole test set.
    """

    way: str
    sizes: tuple[int, ...]
    wholes: tuple[bool, ...]  # which sizes are everything
    units_M: Values  # how many units a sample has, on average
    scores_MBR: Values
    against_MBR: Values

    def at(self, places: Sequence[int]) -> SampledScores:
        """Some of the sizes."""
        chosen = list(places)
        return SampledScores(
            self.way,
            tuple(self.sizes[place] for place in chosen),
            tuple(self.wholes[place] for place in chosen),
            self.units_M[chosen],
            self.scores_MBR[chosen],
            self.against_MBR[chosen] if self.against_MBR.shape == self.scores_MBR.shape else self.against_MBR,
        )


def sample_weights(lengths_N: Indices, way: str, sizes: Sequence[int], *, draw: int, seed: int) -> NDArray[np.float64]:
    """One draw: a row a size, 1 for each sentence in the sample. It depends on the seed and its number alone.

    Samples of `seq` and `rand` grow: a smaller one lies within a larger one. A run of `rand-seq` has a start of its
    own for every size, because fewer starts leave enough words for a longer one.

    Examples
    --------
    >>> import numpy as np
    >>> sample_weights(np.array([3, 4, 5]), "seq", [5, 6], draw=0, seed=0)
    array([[0., 0., 1.],
           [0., 1., 1.]])
    """
    weights_MN = np.zeros((len(sizes), len(lengths_N)))
    order = sampling_order(way, lengths_N, sizes[-1], rng=generator(seed, draw))
    for size, weights_N in zip(sizes, weights_MN, strict=True):
        if way == "rand-seq":
            order = sampling_order(way, lengths_N, size, rng=generator(seed, draw))
        weights_N[order[: sentences_reaching(lengths_N[order], size)]] = 1.0
    return weights_MN


def sampled_scores(given: CountedSet, way: str, settings: SizeSettings) -> SampledScores:
    """Scores of every run on every sample of one way."""
    sizes = given.sizes(settings)
    draws = 1 if way == "seq" else settings.draws
    runs, units, fields = given.counts_RNF.shape
    table = np.ascontiguousarray(given.counts_RNF.transpose(1, 0, 2), dtype=np.float64).reshape(units, runs * fields)
    sums_BMx = np.empty((draws, len(sizes), runs * fields))
    units_M = np.zeros(len(sizes))
    step = max(1, BLOCK // (len(sizes) * units))
    for first in range(0, draws, step):
        block = range(first, min(first + step, draws))
        drawn = [sample_weights(given.lengths_N, way, sizes, draw=draw, seed=settings.seed) for draw in block]
        sums_BMx[first : block.stop] = (np.concatenate(drawn) @ table).reshape(len(block), len(sizes), -1)
        units_M += np.sum(drawn, axis=(0, 2))
    sums = sums_BMx.reshape(draws, len(sizes), runs, fields).transpose(1, 0, 2, 3)
    everything = table.sum(axis=0).reshape(1, 1, runs, fields)
    against = everything - sums if settings.against == "rest" else everything
    value = given.metric.value
    wholes = tuple(size == given.words for size in sizes)
    return SampledScores(way, tuple(sizes), wholes, units_M / draws, value(sums), value(against))


def averaged(samples: Sequence[SampledScores]) -> SampledScores:
    """Mean scores over several test sets, from samples of the same size of each; other sizes are left out.

    There is a common size, because one that the smallest set has is in all. Every set has the same runs in the same
    order. Everything is a size of its own, whatever that is for each set.
    """
    labels = [[0 if whole else size for size, whole in zip(each.sizes, each.wholes, strict=True)] for each in samples]
    common = [label for label in labels[0] if all(label in others for others in labels)]
    words = sum(each.sizes[-1] for each in samples)
    cut = [each.at([own.index(label) for label in common]) for each, own in zip(samples, labels, strict=True)]
    return SampledScores(
        samples[0].way,
        tuple(label or words for label in common),
        tuple(not label for label in common),
        np.sum([each.units_M for each in cut], axis=0),
        np.mean([each.scores_MBR for each in cut], axis=0),
        np.mean([each.against_MBR for each in cut], axis=0),
    )
