"""How much each factor matters: shares of the variance of scores over all combinations of settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError
from deadheat.kernels.resampling import draw_weights
from deadheat.kernels.statistics import grow_tree
from deadheat.stats.checks import Values, check_scores

Codes = NDArray[np.int64]
TREES = 64
MIN_LEAF = 5  # runs
CONSIDERED = 853  # of 1,024: five factors of six at each split
MAX_PAIRED = 8  # factors with the largest shares, of which every two are tried together


@dataclass(frozen=True, slots=True)
class FactorShare:
    """Of the variance of scores, the share that is due to one factor alone, or to two of them together."""

    factors: tuple[str, ...]
    share: float


@dataclass(frozen=True, slots=True)
class Importance:
    """What explains the differences between configurations, greatest share first.

    `explained` is what the forest predicts of the variance of runs it was not grown on, NaN where the decomposition is
    exact; `noise` is the share of the variance of runs that lies within configurations (seeds), NaN without repeats.
    Exact shares and `noise` are parts of the same whole. Without repeats the factors' shares include chance.
    """

    method: str  # "exact" or "forest"
    main: tuple[FactorShare, ...]
    pairs: tuple[FactorShare, ...]
    explained: float
    noise: float
    runs: int

    @property
    def is_chance(self) -> bool:
        """Whether the forest predicts nothing of runs it has not seen, so that its shares mean nothing."""
        return self.explained <= 0


def factor_importance(
    factors: Sequence[tuple[str, Codes]],
    scores_N: Values,
    *,
    rng: np.random.Generator,
    ordered: Sequence[str] = (),
    trees: int = TREES,
) -> Importance:
    """Functional analysis of variance of scores over the levels of several factors, given with that of every run.

    Levels of `ordered` factors are numbered by size: a tree divides them by a bound.

    Over all combinations of levels, each as likely as any other, the score is a sum of a mean, one function a factor,
    one a pair of factors, and so on, which do not correlate, so that their variances add up to the whole (Hoeffding
    1948; Hutter, Hoos & Leyton-Brown 2014). Where every combination was run equally often the functions are
    differences of means, and the decomposition is exact. Chance alone adds to the mean square of a function, for each
    of its degrees of freedom, the variance between runs of the same settings divided by the number of runs. Where
    there are repeats that is subtracted, down to 0 at most, and the shares are of the variance of a run, noise
    included (as in the omega squared of Hays 1963). Elsewhere a forest of regression trees stands for the score: each
    tree is grown on a bootstrap sample of the runs, considers five factors of six at each split, and leaves no fewer
    than five runs in a leaf. A tree is constant on a product of sets of levels, so that its decomposition is a sum
    over leaves, and exact; shares are the means over trees. Factors that follow each other share what they explain,
    and combinations that were never run are filled in by the trees.
    """
    scores = check_scores("factor importance", scores_N)
    used = [(name, _dense(codes)) for name, codes in factors if len(np.unique(codes)) > 1]
    if not used:
        raise InputError("factor importance: no factor has two levels; expected one that varies")
    if np.ptp(scores) == 0:
        raise InputError("factor importance: all scores are the same; expected some that differ")
    names = [name for name, _ in used]
    codes_FN = np.stack([codes for _, codes in used])
    levels = codes_FN.max(axis=1) + 1
    cells_N, counts = _cells(codes_FN, levels)
    within = _variance_within(cells_N, scores)
    if counts is not None:
        means = np.bincount(cells_N, scores) / counts
        main, pairs, noise = _exact(means.reshape(levels), within, runs=len(scores))
        explained, method = math.nan, "exact"
    else:
        noise = _noise(cells_N, scores, within)
        is_ordered = np.array([name in ordered for name in names], np.uint8)
        main, pairs, explained = _forest(codes_FN, scores, is_ordered, trees, rng)
        method = "forest"
    single = [FactorShare((name,), share) for name, share in zip(names, main, strict=True)]
    joint = [FactorShare((names[f], names[g]), share) for (f, g), share in pairs.items()]
    of_one, of_two = (tuple(sorted(shares, key=lambda row: -row.share)) for shares in (single, joint))
    return Importance(method, of_one, of_two, explained, noise, len(scores))


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """The leaves of a tree: constant on products of sets of levels, so that averages over the others are sums."""

    marks_F: tuple[Values, ...]  # a factor: leaves by levels, 1 where the leaf covers the level
    covered_LF: Values  # the share of each factor's levels that a leaf covers
    mass_L: Values  # value of the leaf above the mean, times the share of all combinations that it covers
    variance: float
    effects_F: tuple[Values, ...]  # mean of each level above that of all

    @classmethod
    def of(cls, marks_LT: NDArray[np.bool_], values_L: Values, starts: Codes) -> Partition:
        """From the levels that each leaf covers, factor after factor."""
        marks_F = tuple(marks_LT[:, a:b].astype(np.float64) for a, b in pairwise(starts))
        covered_LF = np.stack([marks.mean(axis=1) for marks in marks_F], axis=1)
        volume_L = covered_LF.prod(axis=1)
        centred_L = values_L - values_L @ volume_L
        mass_L = centred_L * volume_L
        effects_F = tuple((mass_L / covered_LF[:, f]) @ marks for f, marks in enumerate(marks_F))
        return cls(marks_F, covered_LF, mass_L, float(centred_L @ mass_L), effects_F)

    def main(self) -> Values:
        """Each factor's share of the variance; 0 of a tree without splits."""
        variances_F = np.array([float((effect**2).mean()) for effect in self.effects_F])
        return variances_F / self.variance if self.variance > 0 else variances_F

    def pairs(self, factors: Sequence[tuple[int, int]]) -> list[float]:
        """The share of the variance that two factors have together, beyond what each has alone."""
        return [self._pair(f, g) if self.variance > 0 else 0.0 for f, g in factors]

    def _pair(self, f: int, g: int) -> float:
        mass_L = self.mass_L / self.covered_LF[:, f] / self.covered_LF[:, g]
        both = self.marks_F[f].T @ (self.marks_F[g] * mass_L[:, None])
        joint = both - self.effects_F[f][:, None] - self.effects_F[g][None, :]
        return float((joint**2).mean()) / self.variance


def _dense(codes: Codes) -> Codes:
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _cells(codes_FN: Codes, levels_F: Codes) -> tuple[Codes, float | None]:
    """The configuration of every run, and how often each was run if all combinations were, equally often."""
    if math.prod(levels_F.tolist()) <= codes_FN.shape[1]:
        cells = np.ravel_multi_index(tuple(codes_FN), tuple(levels_F))
        counts = np.bincount(cells, minlength=math.prod(levels_F.tolist()))
        return cells, float(counts[0]) if (counts == counts[0]).all() else None
    return np.unique(codes_FN, axis=1, return_inverse=True)[1].ravel(), None


def _variance_within(cells_N: Codes, scores_N: Values) -> float:
    """The variance between runs of the same configuration; NaN without repeats."""
    counts = np.bincount(cells_N)
    freedom = len(cells_N) - np.count_nonzero(counts)
    residuals = scores_N - np.bincount(cells_N, scores_N)[cells_N] / counts[cells_N]
    return float((residuals**2).sum()) / freedom if freedom else math.nan


def _noise(cells_N: Codes, scores_N: Values, within: float) -> float:
    """Share of the variance of runs that lies within configurations, by the analysis of variance of one way."""
    counts = np.bincount(cells_N)
    used = counts > 0
    if math.isnan(within) or used.sum() < 2:
        return math.nan
    means = np.bincount(cells_N, scores_N)[used] / counts[used]
    between = max(0.0, float(means.var(ddof=1)) - within * float((1 / counts[used]).mean()))
    return within / (within + between) if within + between > 0 else math.nan


def _exact(means: Values, within: float, *, runs: int) -> tuple[list[float], dict[tuple[int, int], float], float]:
    """Shares of the variance of runs: of factors, of pairs, and of noise, NaN (and in the others) without repeats."""
    noise = 0.0 if math.isnan(within) else within

    def beyond_chance(effect: Values, freedom: int) -> float:
        return max(0.0, float((effect**2).mean()) - freedom * noise / runs)

    centred = means - means.mean()
    whole = beyond_chance(centred, means.size - 1) + noise
    axes = range(means.ndim)
    single = [centred.mean(axis=tuple(axis for axis in axes if axis != f)) for f in axes]
    main = [beyond_chance(effect, len(effect) - 1) / whole for effect in single]
    pairs = {}
    for f, g in combinations(axes, 2):
        both = centred.mean(axis=tuple(axis for axis in axes if axis not in (f, g)))
        joint = both - single[f][:, None] - single[g][None, :]
        pairs[f, g] = beyond_chance(joint, (len(joint) - 1) * (joint.shape[1] - 1)) / whole
    return main, pairs, within / whole


def _forest(
    codes_FN: Codes, scores_N: Values, ordered_F: NDArray[np.uint8], trees: int, rng: np.random.Generator
) -> tuple[list[float], dict[tuple[int, int], float], float]:
    size = codes_FN.shape[1]
    levels_F = codes_FN.max(axis=1) + 1
    starts = np.concatenate([[0], np.cumsum(levels_F)]).astype(np.int64)
    width = int(starts[-1])
    codes = codes_FN.astype(np.int32).ravel()
    centred = scores_N - scores_N.mean()
    keys = rng.integers(0, 2**64, size=2, dtype=np.uint64)
    weights, counts, sums, fitted = np.empty(size), np.empty(width), np.empty(width), np.empty(size)
    line, side, stack = np.empty(width, np.int64), np.empty(width, np.uint8), np.empty(3 * size + 6, np.int64)
    inside, values = np.empty((size // MIN_LEAF + 2) * width, np.uint8), np.empty(size // MIN_LEAF + 2)
    unseen, times = np.zeros(size), np.zeros(size)
    parts = []
    for tree in range(trees):
        draw_weights(keys[:1], tree, 1, size, weights)
        rows, key = np.arange(size), keys[1:] + np.uint64(tree) * np.uint64(1 << 40)
        leaves = grow_tree(
            codes, centred, weights, rows, starts, ordered_F, MIN_LEAF, CONSIDERED, key, counts, sums, line, side,
            stack, inside, values, fitted,
        )  # fmt: skip
        parts.append((inside[: leaves * width].reshape(leaves, width).astype(bool), values[:leaves].copy()))
        unseen += np.where(weights == 0, fitted, 0)
        times += weights == 0
    main = np.mean([Partition.of(*part, starts).main() for part in parts], axis=0)
    chosen = sorted(np.argsort(-main, kind="stable")[:MAX_PAIRED].tolist())
    tried = list(combinations(chosen, 2))
    shares = np.mean([Partition.of(*part, starts).pairs(tried) for part in parts], axis=0)
    pairs = dict(zip(tried, shares.tolist(), strict=True)) if tried else {}
    seen = times > 0
    residual = centred[seen] - unseen[seen] / times[seen]
    explained = 1 - float((residual**2).sum() / (centred[seen] ** 2).sum())
    return main.tolist(), pairs, explained
