"""Samples of a test set of every size, and the scores of every system on them.

Samples of M words are drawn as in van der Goot et al. (2024); see `deadheat.splits.drawing`. The counts of a system on
a sample are the sum of its counts on the sentences, so all samples of all sizes are one product of a matrix of zeros
and ones with the matrix of counts. Sums of integers in float64 are exact, whatever the order of addition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from deadheat.arguments import Argument, whole_number
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError, NameUnknown, check_work
from deadheat.metrics.metric import Counts, Metric
from deadheat.splits.drawing import SAMPLING_METHODS, generator, sampling_order, sentences_reaching
from deadheat.stats.checks import Values, check_number
from deadheat.text import pluralize

SIZES = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)  # those of van der Goot et al. (2024)
ITEM_SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
STRATEGIES = SAMPLING_METHODS
AGAINST = ("all", "rest")
RUNS = ("average", "separate")
EXPECTED_SIZES = "increasing numbers of words, such as 100,200,500, and optionally all at the end"
ITEM = "item"  # a unit whose scores need not be counts
BLOCK = 1 << 22  # weights per block, which limits memory
DECIMALS = 12  # mean scores that agree to this many decimals are ties; the order of addition changes the sixteenth


@dataclass(frozen=True, slots=True)
class SizeSettings:
    """How samples of a test set are drawn, which ranking theirs is compared with, and what counts as sufficient."""

    sizes: tuple[int, ...] = SIZES  # in words
    whole: bool = True  # include the whole test set as the last size, except against the rest
    strategies: tuple[str, ...] = STRATEGIES
    draws: Annotated[int, Argument("random samples of each size", metavar="N", parse=whole_number)] = 100
    runs: Annotated[
        str, Argument("rank systems by the mean of their runs, or every run", aliases=("--seeds",), choices=RUNS)
    ] = "average"
    against: Annotated[
        str, Argument("compare with the ranking on all data, or on what is not in the sample", choices=AGAINST)
    ] = "all"
    threshold: Annotated[float, Argument("weighted Kendall's tau to reach", metavar="TAU")] = 0.9
    confidence: Annotated[float, Argument("share of the draws that must reach it", metavar="SHARE")] = 0.95
    seed: Annotated[int, Argument("seed of the draws", metavar="N", parse=whole_number)] = 0
    aso_draws: Annotated[
        int, Argument("draws per size on which significance over runs is compared", metavar="N", parse=whole_number)
    ] = 20
    cross: Annotated[bool, Argument("also compare samples of each test set with the ranking on every other one")] = (
        False
    )

    def __post_init__(self) -> None:
        if not self.sizes or self.sizes[0] < 1 or any(a >= b for a, b in zip(self.sizes, self.sizes[1:], strict=False)):
            shown = ",".join(map(str, self.sizes))
            raise InputError(f"sizes {shown!r}; expected {EXPECTED_SIZES}")
        for strategy in self.strategies:
            if strategy not in STRATEGIES:
                raise NameUnknown("sampling strategy", strategy, STRATEGIES)
        if not self.strategies or len(set(self.strategies)) < len(self.strategies):
            names = ",".join(self.strategies)
            raise InputError(f"sampling strategies {names!r}; expected some of {', '.join(STRATEGIES)}, each once")
        for name, value, choices in (("runs", self.runs, RUNS), ("against", self.against, AGAINST)):
            if value not in choices:
                raise NameUnknown(name, value, choices)
        check_number("size", "draws", self.draws, least=1)
        check_number("size", "aso draws", self.aso_draws, least=0)
        if not -1 < self.threshold <= 1:
            raise InputError(f"threshold {self.threshold}; expected a tau above -1 and at most 1, such as 0.9")
        if not 0 < self.confidence < 1:
            raise InputError(f"confidence {self.confidence}; expected between 0 and 1, such as 0.95")


def parse_sizes(text: str) -> tuple[tuple[int, ...], bool]:
    """Sizes in words, and whether the whole test set is one of them."""
    parts = [part.strip().replace("_", "") for part in text.split(",")]
    whole = parts[-1].lower() == "all"
    numbers = parts[:-1] if whole else parts
    if not numbers or not all(part.isascii() and part.isdigit() and len(part) <= 15 for part in numbers):
        raise InputError(f"sizes {text!r}; expected {EXPECTED_SIZES}")
    return tuple(map(int, numbers)), whole


@dataclass(frozen=True, slots=True, eq=False)
class CountedSet:
    """Counts of every run of every system on the units of one test set; runs of one system share its name."""

    name: str
    systems: tuple[str, ...]  # one name per run
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
        integers = np.issubdtype(counts.dtype, np.integer) and int(counts.min()) >= 0
        if not (integers or (self.unit == ITEM and np.isfinite(counts).all())):
            raise InputError(f"{where}: counts of type {counts.dtype}, or negative; expected integers from 0 on")
        undefined = np.flatnonzero(~np.isfinite(self.metric.value(counts.sum(axis=1))))
        if len(undefined):
            problem = "no score, because all counts are zero; expected something to count"
            raise InputError(f"{where}: {self.systems[undefined[0]]}: {problem}")

    @property
    def words(self) -> int:
        return int(self.lengths_N.sum())

    @property
    def measures(self) -> str:
        """What sizes are counted in."""
        return "items" if self.unit == ITEM else "words"

    def sizes(self, settings: SizeSettings) -> list[int]:
        """Sizes sampled here: below all words, or at most half of them against the rest; last, if wanted, all words."""
        most = self.words // 2 if settings.against == "rest" else self.words - 1
        sizes = [size for size in settings.sizes if size <= most]
        if not sizes:
            problem = f"all sizes are larger than {most:,} {self.measures}"
            raise InputError(f"{self.name or 'counts'}: {problem}; there are {self.words:,}, expected a smaller size")
        beyond = settings.whole or settings.sizes[-1] >= self.words
        return [*sizes, self.words] if settings.against == "all" and beyond else sizes


def ranked_names(systems: Sequence[str], runs: str) -> tuple[str, ...]:
    """The names of what is ranked: each system once, or each of its runs as `name run 1`, ..."""
    if runs == "average":
        return tuple(dict.fromkeys(systems))
    numbers = [systems[:at].count(name) + 1 for at, name in enumerate(systems)]
    return tuple(
        f"{name} run {number}" if systems.count(name) > 1 else name
        for name, number in zip(systems, numbers, strict=True)
    )


def check_systems(systems: Sequence[str], runs: str, where: str = "") -> None:
    """Refuse to rank fewer than two systems."""
    ranked = len(ranked_names(systems, runs))
    if ranked < 2:
        problem = f"{pluralize(ranked, 'system')}; expected at least two to rank"
        raise InputError(f"{where}: {problem}" if where else problem)


def ranked_scores(scores_xR: Values, systems: Sequence[str], runs: str) -> Values:
    """Scores of what is ranked, along the last axis: means over the runs of a system, or those of the runs."""
    if runs == "separate":
        return scores_xR
    names = np.array(systems)
    means = [np.sort(scores_xR[..., names == name], axis=-1).mean(axis=-1) for name in dict.fromkeys(systems)]
    return np.round(np.stack(means, axis=-1), DECIMALS)


@dataclass(frozen=True, slots=True, eq=False)
class SampledScores:
    """Scores of every run on the samples of one strategy, and those they are compared with: sizes by draws by runs.

    `against_MBR` has one size and one draw if they are compared with the whole test set.
    """

    strategy: str
    sizes: tuple[int, ...]
    wholes: tuple[bool, ...]  # which sizes are the whole test set
    units_M: Values  # mean number of units in a sample
    scores_MBR: Values
    against_MBR: Values


def sample_weights(
    lengths_N: Indices, strategy: str, sizes: Sequence[int], *, draw: int, seed: int
) -> NDArray[np.float64]:
    """One draw: one row per size, 1 for each sentence in the sample. It depends on the seed and its number alone.

    Samples of `seq` and `rand` grow: a smaller one is part of a larger one. For `rand-seq` every size has its own
    random start, because fewer starts leave enough words for a longer sample.
    """
    weights_MN = np.zeros((len(sizes), len(lengths_N)))
    order = sampling_order(strategy, lengths_N, sizes[-1], rng=generator(seed, draw))
    for size, weights_N in zip(sizes, weights_MN, strict=True):
        if strategy == "rand-seq":
            order = sampling_order(strategy, lengths_N, size, rng=generator(seed, draw))
        weights_N[order[: sentences_reaching(lengths_N[order], size)]] = 1.0
    return weights_MN


def sampled_scores(counted: CountedSet, strategy: str, settings: SizeSettings) -> SampledScores:
    """Scores of every run on every sample of one strategy."""
    sizes = counted.sizes(settings)
    draws = 1 if strategy == "seq" else settings.draws
    runs, units, fields = counted.counts_RNF.shape
    per_size = 5000 + units * (50 + runs * fields / 4)
    check_work("draws", draws, nanoseconds=len(sizes) * per_size, size=24 * len(sizes) * runs * fields)
    table = np.ascontiguousarray(counted.counts_RNF.transpose(1, 0, 2), dtype=np.float64).reshape(units, runs * fields)
    sums_BMx = np.empty((draws, len(sizes), runs * fields))
    units_M = np.zeros(len(sizes))
    step = max(1, BLOCK // (len(sizes) * units))
    for first in range(0, draws, step):
        block = range(first, min(first + step, draws))
        weights = [sample_weights(counted.lengths_N, strategy, sizes, draw=draw, seed=settings.seed) for draw in block]
        sums_BMx[first : block.stop] = (np.concatenate(weights) @ table).reshape(len(block), len(sizes), -1)
        units_M += np.sum(weights, axis=(0, 2))
    sums = sums_BMx.reshape(draws, len(sizes), runs, fields).transpose(1, 0, 2, 3)
    whole = table.sum(axis=0).reshape(1, 1, runs, fields)
    against = whole - sums if settings.against == "rest" else whole
    value = counted.metric.value
    wholes = tuple(size == counted.words for size in sizes)
    return SampledScores(strategy, tuple(sizes), wholes, units_M / draws, value(sums), value(against))


def mean_scores(samples: Sequence[SampledScores]) -> SampledScores:
    """Mean scores over several test sets, from samples of the same size of each; other sizes are left out.

    There is a common size, because the smallest size of the smallest set is in all. Every set has the same runs in the
    same order. The whole test set is a common size, whatever its number of words.
    """
    labels = [
        [0 if whole else size for size, whole in zip(sample.sizes, sample.wholes, strict=True)] for sample in samples
    ]
    common = [label for label in labels[0] if all(label in others for others in labels)]
    words = sum(sample.sizes[-1] for sample in samples)
    rows = [[of_sample.index(label) for label in common] for of_sample in labels]
    against = [
        sample.against_MBR[row] if sample.against_MBR.shape == sample.scores_MBR.shape else sample.against_MBR
        for sample, row in zip(samples, rows, strict=True)
    ]
    return SampledScores(
        samples[0].strategy,
        tuple(label or words for label in common),
        tuple(not label for label in common),
        np.sum([sample.units_M[row] for sample, row in zip(samples, rows, strict=True)], axis=0),
        np.mean([sample.scores_MBR[row] for sample, row in zip(samples, rows, strict=True)], axis=0),
        np.mean(against, axis=0),
    )
