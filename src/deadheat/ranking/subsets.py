"""How the ranking of systems varies over subsets of data sets.

A system's score on a subset is its mean over the data sets of the subset. The highest mean has rank 1; systems with
equal means share the better rank. Means are compared as integers, so that ties are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError, check_work
from deadheat.kernels import subsets as kernels
from deadheat.ranking.integers import Indices, IntegerScores, ranks_of
from deadheat.stats.checks import Values, check_number
from deadheat.text import pluralize

SAMPLES = 1_000_000
# With more systems than these, fewer subsets are the default: time grows with the square of the systems.
MANY_SYSTEMS, FEWEST_SAMPLES = 200, 10_000
SAMPLES_PER_CALL, PAIRS_PER_CALL = 1 << 16, 1 << 34  # affect memory, and how often progress is reported
QUARTILES = (0.25, 0.5, 0.75)
Key = NDArray[np.uint64]
OnProgress = Callable[[str, int, int], None]  # what is counted, how many are done, and how many there are
LARGEST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """How subsets are drawn; sample b depends on the key and on b alone."""

    name: str
    kind: int
    size: int
    starts: Indices  # data sets of group g: pool[starts[g]:starts[g + 1]]
    pool: Indices
    binomials: Indices

    @property
    def datasets(self) -> int:
        return len(self.pool)

    @property
    def lists_all(self) -> bool:
        return self.kind == kernels.EVERY_SUBSET

    @property
    def uniform(self) -> bool:
        """Whether all subsets of the size are equally likely."""
        return self.lists_all or (self.kind == kernels.STRATIFIED and len(self.starts) == 2)

    def arguments(self) -> tuple[Indices, Indices, Indices, Indices, Indices, Indices]:
        """What the kernels need: starts, pool, groups, binomials, and work space."""
        groups = np.arange(len(self.starts) - 1)
        touched = np.empty(self.datasets, np.int64)
        return self.starts, self.pool.copy(), groups, self.binomials, touched, np.empty(self.size, np.int64)

    def draw(self, key: Key, numbers: Sequence[int] | Indices) -> Indices:
        """The data sets of the samples with these numbers, in ascending order, one row per sample."""
        samples = np.asarray(numbers, np.int64)
        subsets = np.empty(len(samples) * self.size, np.int64)
        kernels.draw_samples(key, samples, self.kind, self.size, *self.arguments(), subsets)
        return subsets.reshape(-1, self.size)


def free(datasets: int, size: int) -> Design:
    """All subsets of the size are equally likely."""
    check_size(datasets, size)
    return Design("free", kernels.STRATIFIED, size, np.array([0, datasets]), np.arange(datasets), np.zeros(1, np.int64))


def every_subset(datasets: int, size: int) -> Design:
    """All subsets of the size in turn: sample b is the b-th of them."""
    check_size(datasets, size)
    table = [[min(math.comb(n, j + 1), LARGEST) for n in range(datasets)] for j in range(size)]
    binomials = np.array(table, np.int64).ravel()
    return Design("all", kernels.EVERY_SUBSET, size, np.array([0, datasets]), np.arange(datasets), binomials)


def stratified(labels: Sequence[object], size: int) -> Design:
    """Each group contributes its share of the subset, rounded up or down at random; all data sets are equally likely.

    The order of the groups is shuffled for every sample, so that groups of the same size are treated alike.
    """
    check_size(len(labels), size)
    starts, pool = _groups(labels)
    return Design("stratified", kernels.STRATIFIED, size, starts, pool, np.zeros(1, np.int64))


def one_per_group(labels: Sequence[object], size: int | None = None) -> Design:
    """One data set from every group, or from `size` random groups."""
    starts, pool = _groups(labels)
    groups = len(starts) - 1
    size = groups if size is None else size
    if not 1 <= size <= groups:
        expected = f"expected between 1 and {groups}, the number of groups"
        raise InputError(f"subsets of {size} with one data set per group; {expected}")
    return Design("one per group", kernels.ONE_PER_GROUP, size, starts, pool, np.zeros(1, np.int64))


def _groups(labels: Sequence[object]) -> tuple[Indices, Indices]:
    """Where each group starts, and the data sets by group, groups in order of first appearance."""
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    codes = np.array([numbers[label] for label in labels], np.int64)
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(numbers)))])
    return starts, np.argsort(codes, kind="stable")


def check_size(datasets: int, size: int) -> None:
    """Refuse subsets of no data set, or of more than there are."""
    if not 1 <= size <= datasets:
        total = pluralize(datasets, "data set")
        raise InputError(f"subsets of {size:,} of {total}; expected between 1 and {datasets:,}")


@dataclass(frozen=True, slots=True)
class TauSummary:
    """Kendall's tau-b between the rankings on subsets and the ranking on all data sets."""

    mean: float
    sd: float
    min: float
    lower_quartile: float
    median: float
    upper_quartile: float
    max: float
    undefined: int  # subsets on which all systems are tied; not in the other numbers


@dataclass(frozen=True, slots=True, eq=False)
class SubsetRanks:
    """Ranks of all systems over many subsets.

    counts_SS[s, r] is the number of subsets on which system s has rank r + 1, earliest_SS the first sample with that
    rank (-1 if there is none), wins_SS[s, t] the number of subsets on which s is ahead of t.
    """

    design: Design
    key: Key
    samples: int
    counts_SS: NDArray[np.int64]
    earliest_SS: NDArray[np.int64]
    wins_SS: NDArray[np.int64]
    tau: TauSummary

    @property
    def best_S(self) -> Indices:
        best: Indices = 1 + (self.counts_SS > 0).argmax(axis=1)
        return best

    @property
    def worst_S(self) -> Indices:
        worst: Indices = self.counts_SS.shape[1] - (self.counts_SS[:, ::-1] > 0).argmax(axis=1)
        return worst

    @property
    def mean_S(self) -> Values:
        mean: Values = self.counts_SS @ self._ranks / self.samples
        return mean

    @property
    def sd_S(self) -> Values:
        squares = self.counts_SS @ self._ranks**2 / self.samples
        return np.sqrt(np.maximum(squares - self.mean_S**2, 0))

    @property
    def shares_SS(self) -> Values:
        """The share of subsets on which a system (row) has each rank (column)."""
        return self.counts_SS / self.samples

    @property
    def _ranks(self) -> Values:
        return np.arange(1.0, self.counts_SS.shape[1] + 1)

    def quartiles(self, system: int) -> tuple[float, float, float]:
        """Lower quartile, median and upper quartile of a system's rank."""
        lower, median, upper = (weighted_quantile(self._ranks, self.counts_SS[system], share) for share in QUARTILES)
        return lower, median, upper

    def subset_with_rank(self, system: int, rank: int) -> Indices:
        """The data sets of the first sample on which a system has this rank."""
        number = int(self.earliest_SS[system, rank - 1])
        assert number >= 0, f"no sample gives system {system} rank {rank}"
        subset: Indices = self.design.draw(self.key, [number])[0]
        return subset


def rank_over_subsets(
    scores: IntegerScores,
    design: Design,
    *,
    samples: int,
    rng: np.random.Generator | None = None,
    key: Key | None = None,
    on_progress: OnProgress | None = None,
) -> SubsetRanks:
    """Rank systems on many subsets of data sets; a design that lists all subsets ignores their number.

    The subsets depend on one key: it is drawn from the generator, or given to draw the same subsets again.
    `on_progress` is called now and then.
    """
    check_number("rank_over_subsets", "samples", samples, least=1)
    if design.datasets != scores.datasets:
        raise InputError(f"subsets of {design.datasets} data sets; expected the {scores.datasets} that have scores")
    if key is None:
        key = (rng or np.random.default_rng(0)).integers(0, 2**64, size=1, dtype=np.uint64)
    samples = math.comb(design.datasets, design.size) if design.lists_all else samples
    check_work("samples", samples, nanoseconds=50 + scores.systems * (scores.systems + design.size) / 2)
    above_DS, wide = _narrow(scores, design.size)
    systems = scores.systems
    sums_S = scores.sums_S
    signs = np.sign(sums_S[:, None] - sums_S).astype(np.int32).ravel()
    counts, earliest, wins = (np.zeros(systems * systems, np.int64) for _ in range(3))
    earliest -= 1
    sums = np.empty(systems * kernels.BLOCK, above_DS.dtype)
    ranks = np.empty(systems * kernels.BLOCK, np.int32)
    agreed, ordered = (np.empty(min(samples, SAMPLES_PER_CALL), np.int32) for _ in range(2))
    tally: dict[int, int] = {}
    fixed = (above_DS.ravel(), np.empty(systems, above_DS.dtype), sums, ranks, signs, counts, earliest, wins)
    arguments, run = design.arguments(), kernels.rank_samples_wide if wide else kernels.rank_samples
    block = max(kernels.BLOCK, min(SAMPLES_PER_CALL, PAIRS_PER_CALL // systems**2))
    for first in range(0, samples, block):
        now = min(block, samples - first)
        run(key, first, design.kind, design.size, systems, *arguments, *fixed, agreed[:now], ordered[:now])
        _count_pairs(tally, agreed[:now], ordered[:now])
        if on_progress is not None:
            on_progress("subsets", first + now, samples)
    counts_SS, earliest_SS, wins_SS = (array.reshape(systems, systems) for array in (counts, earliest, wins))
    tau = _tau(tally, int(np.abs(signs).sum()) // 2)
    return SubsetRanks(design, key, samples, counts_SS, earliest_SS, wins_SS, tau)


def samples_with_rank(
    ranks: SubsetRanks, scores: IntegerScores, system: int, rank: int, *, most: int, rng: np.random.Generator
) -> Indices:
    """Numbers of samples on which a system has a rank: the first `most`, or random ones where all subsets are listed.

    The first subsets of a list consist of the first data sets; they depend on the order of the table.
    """
    above_DS = np.ascontiguousarray(scores.above_SD.T)
    hits = int(ranks.counts_SS[system, rank - 1])
    design = ranks.design
    wanted = np.arange(min(most, hits))
    if design.lists_all:
        wanted = np.sort(rng.choice(hits, min(most, hits), replace=False))
    numbers = np.empty(len(wanted), np.int64)
    first = max(int(ranks.earliest_SS[system, rank - 1]), 0)
    row = np.empty(scores.systems, np.int64)
    filled = kernels.find_samples(
        ranks.key, first, ranks.samples - first, design.kind, design.size, *design.arguments(),
        above_DS.ravel(), row, system, rank - 1, wanted, numbers,
    )  # fmt: skip
    assert filled == len(wanted)
    return rng.permutation(numbers) if design.lists_all else numbers


def weighted_quantile(values: Values, counts: NDArray[np.int64], share: float) -> float:
    """The quantile of values with frequencies, by linear interpolation (R's type 7)."""
    total = int(counts.sum())
    position = share * (total - 1)
    below = math.floor(position)
    until = np.cumsum(counts)
    low, high = (float(values[np.searchsorted(until, at, side="right")]) for at in (below, min(below + 1, total - 1)))
    return low + (position - below) * (high - low)


@dataclass(frozen=True, slots=True)
class MetricStability:
    """Spread of ranks over subsets by one metric; less spread and a tau closer to 1 mean a more stable ranking."""

    metric: str
    mean_sd: float  # of a system's rank, averaged over systems
    mean_quartile_range: float
    tau: TauSummary
    swapped: float  # share of pairs of systems that a subset orders differently from all data sets
    top: float  # share of subsets on which a system that is best on all data sets is first


def default_samples(systems: int) -> int:
    """A million, but no more than take some seconds.

    Examples
    --------
    >>> [default_samples(systems) for systems in (26, 200, 1000, 5000)]
    [1000000, 1000000, 40000, 10000]
    """
    return min(SAMPLES, max(FEWEST_SAMPLES, SAMPLES * MANY_SYSTEMS**2 // max(systems, 1) ** 2))


def metric_stability(metric: str, scores: IntegerScores, like: SubsetRanks) -> MetricStability:
    """How the ranking by a metric varies over the subsets of another ranking."""
    if scores.datasets != like.design.datasets:
        expected = f"expected {like.design.datasets}, so that subsets are the same for all metrics"
        raise InputError(f"{metric}: scores on {scores.datasets} data sets; {expected}")
    ranks = rank_over_subsets(scores, like.design, samples=like.samples, key=like.key)
    sums_S = scores.sums_S
    worse, better = np.nonzero(sums_S[:, None] < sums_S)
    ranges = [upper - lower for lower, _, upper in map(ranks.quartiles, range(scores.systems))]
    return MetricStability(
        metric,
        float(ranks.sd_S.mean()),
        float(np.mean(ranges)),
        ranks.tau,
        float(ranks.wins_SS[worse, better].mean() / ranks.samples) if len(worse) else 0.0,
        float(ranks.shares_SS[ranks_of(sums_S) == 1, 0].mean()),
    )


def _narrow(scores: IntegerScores, size: int) -> tuple[NDArray[np.int32] | NDArray[np.int64], bool]:
    """Scores with one row per data set, in 32 bits if every sum fits."""
    largest = int(scores.above_SD.max())
    if largest * size > np.iinfo(np.int64).max:
        raise InputError(f"scores that differ by {largest:,} steps; expected fewer, or fewer decimals")
    wide = largest * size > np.iinfo(np.int32).max
    above_DS = np.ascontiguousarray(scores.above_SD.T)
    return (above_DS if wide else above_DS.astype(np.int32)), wide


def _count_pairs(tally: dict[int, int], agreed_B: NDArray[np.int32], ordered_B: NDArray[np.int32]) -> None:
    """Count samples by (sum of agreements, pairs ordered), packed into one number."""
    packed, counts = np.unique((agreed_B.astype(np.int64) << 32) | ordered_B, return_counts=True)
    for number, count in zip(packed.tolist(), counts.tolist(), strict=True):
        tally[number] = tally.get(number, 0) + count


def _tau(tally: dict[int, int], ordered_pairs: int) -> TauSummary:
    """Tau-b is the sum of agreements over the root of (pairs ordered here) x (pairs ordered on all data sets)."""
    packed = np.array(sorted(tally), np.int64)
    counts = np.array([tally[number] for number in packed.tolist()], np.int64)
    agreed, ordered = packed >> 32, packed & 0xFFFFFFFF
    defined = (ordered > 0) & (ordered_pairs > 0)
    undefined = int(counts[~defined].sum())
    if not defined.any():
        nan = math.nan
        return TauSummary(nan, nan, nan, nan, nan, nan, nan, undefined)
    values, weights = agreed[defined] / np.sqrt(ordered[defined] * float(ordered_pairs)), counts[defined]
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    mean = float(np.average(values, weights=weights))
    sd = math.sqrt(float(np.average((values - mean) ** 2, weights=weights)))
    low, lower, median, upper, high = (weighted_quantile(values, weights, share) for share in (0.0, *QUARTILES, 1.0))
    return TauSummary(mean, sd, low, lower, median, upper, high, undefined)
