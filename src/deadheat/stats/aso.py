"""Almost stochastic order: whether one system scores higher than another at (almost) all quantiles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InputError, check_work
from deadheat.kernels.resampling import draw_weights, violation_sums
from deadheat.stats.checks import BLOCK, ScoreLists, Values, check_number, check_score_lists, check_two_systems
from deadheat.stats.intervals import normal_quantile

TAUS = (0.2, 0.5)
ALPHAS = (0.05, 0.01, 0.001, 0.0001)

# Runs of either system -> alpha -> how often the bound lies below 0.2 and below 0.5 where both systems have the same
# normal distribution, by 100,000 simulations (tests/stats/test_aso_rates.py). The standard error is at most 0.0013.
NULL_RATES: Mapping[int, Mapping[float, tuple[float, ...]]] = {
    3: {0.05: (0.09092, 0.21628), 0.01: (0.07333, 0.14507), 0.001: (0.06659, 0.11111), 0.0001: (0.06255, 0.09736)},
    5: {0.05: (0.05530, 0.19720), 0.01: (0.03871, 0.11555), 0.001: (0.03017, 0.07804), 0.0001: (0.02611, 0.06228)},
    10: {0.05: (0.03520, 0.18990), 0.01: (0.02033, 0.09927), 0.001: (0.01328, 0.05842), 0.0001: (0.01030, 0.04216)},
    20: {0.05: (0.02759, 0.18478), 0.01: (0.01437, 0.09246), 0.001: (0.00803, 0.05176), 0.0001: (0.00568, 0.03465)},
    50: {0.05: (0.02126, 0.17829), 0.01: (0.00992, 0.08676), 0.001: (0.00487, 0.04416), 0.0001: (0.00329, 0.02832)},
}


@dataclass(frozen=True, slots=True)
class NullRate:
    """How often the bound of equal systems is below tau, with so many runs and this alpha."""

    runs: int
    alpha: float
    tau: float
    rate: float

    def __str__(self) -> str:
        return f"eps_min < {self.tau:g} in {100 * self.rate:.1f} %"


def nearest_null_rates(runs: tuple[int, int], alpha: float) -> tuple[NullRate, ...]:
    """Return the entries nearest to the harmonic mean of two numbers of runs and to alpha, one for each of TAUS."""
    mean = 2 / (1 / runs[0] + 1 / runs[1])
    entry = min(NULL_RATES, key=lambda key: abs(math.log(key / mean)))
    level = min(ALPHAS, key=lambda key: abs(math.log(key / alpha)))
    rates = NULL_RATES[entry][level]
    return tuple(NullRate(entry, level, tau, rate) for tau, rate in zip(TAUS, rates, strict=True))


ONE_RUN = "a system with one run has no spread to resample"


@dataclass(frozen=True, slots=True)
class Aso:
    """Almost stochastic order of system A over B.

    `ratio` is 0 if A is better at all quantiles, 1 if B is; `bound` is an upper confidence bound of the true ratio at
    level 1 - alpha / comparisons, so a small bound is evidence for A. `deviation` is the bootstrap standard deviation
    of the ratio. `null_rates` are the nearest entries of a table of false positive rates.
    """

    ratio: float
    bound: float
    deviation: float
    runs: tuple[int, int]
    alpha: float
    comparisons: int
    resamples: int
    null_rates: tuple[NullRate, ...]
    note: str = ""

    @property
    def separation(self) -> float:
        """The false positive rate that no alpha can avoid: the probability that all runs of A are above all of B."""
        return 1 / math.comb(sum(self.runs), self.runs[0])

    def __str__(self) -> str:
        if self.note:
            return f"eps = {self.ratio:.3f}, no bound: {self.note}"
        entry = self.null_rates[0]
        return (
            f"eps = {self.ratio:.3f}, eps_min = {self.bound:.3f} at {_level(self.alpha, self.comparisons)}, "
            f"{self.runs[0]} and {self.runs[1]} runs (equal systems, {entry.runs} runs, alpha {entry.alpha:g}: "
            f"{', '.join(map(str, self.null_rates))})"
        )


@dataclass(frozen=True, slots=True, eq=False)
class AsoMatrix:
    """Almost stochastic order of all pairs; row A, column B as `Aso` of A and B, NaN on the diagonal."""

    ratio_SS: Values
    bound_SS: Values
    deviation_SS: Values
    runs: tuple[int, ...]
    alpha: float
    comparisons: int
    resamples: int

    def better(self, *, tau: float) -> NDArray[np.bool_]:
        """Return whether A (row) is almost better than B (column): its bound is below tau."""
        return self.bound_SS < tau

    def pair(self, first: int, second: int) -> Aso:
        """Return one pair of systems, with the correction for all pairs."""
        if first == second:
            raise InputError(f"system {first} and itself; expected two systems")
        matrices = self.ratio_SS, self.bound_SS, self.deviation_SS
        ratio, bound, deviation = (float(matrix[first, second]) for matrix in matrices)
        runs = self.runs[first], self.runs[second]
        rates = nearest_null_rates(runs, self.alpha / self.comparisons)
        note = "" if min(runs) > 1 else ONE_RUN
        return Aso(ratio, bound, deviation, runs, self.alpha, self.comparisons, self.resamples, rates, note)

    @property
    def null_rates(self) -> tuple[NullRate, ...]:
        """False positive rates of the two systems with the fewest runs, in one direction."""
        first, second = sorted(self.runs)[:2]
        return nearest_null_rates((first, second), self.alpha / self.comparisons)

    def __str__(self) -> str:
        systems = len(self.runs)
        directions = systems * (systems - 1)
        counts = [
            f"eps_min < {entry.tau:g} for {np.count_nonzero(self.better(tau=entry.tau))} "
            f"({directions * entry.rate:.1f} if all were equal)"
            for entry in self.null_rates
        ]
        return (
            f"{systems} systems, {directions // 2} pairs at {_level(self.alpha, self.comparisons)}: {', '.join(counts)}"
        )


def aso(
    a: ArrayLike, b: ArrayLike, *, rng: Generator, alpha: float = 0.05, comparisons: int = 1, resamples: int = 1000
) -> Aso:
    """Test for almost stochastic order of two systems by the scores of their runs.

    Parameters
    ----------
    a, b
        Scores of the runs of each system; higher is better, and the numbers of runs may differ.
    alpha
        Probability that the bound is below the true ratio.
    comparisons
        Number of comparisons; each has alpha / comparisons (Bonferroni).

    Notes
    -----
    With F⁻¹ and G⁻¹ the quantile functions of A's and B's scores, the violation ratio is

        ε = ∫ over {t: F⁻¹(t) < G⁻¹(t)} of (F⁻¹ - G⁻¹)² dt  /  ∫ over (0, 1) of (F⁻¹ - G⁻¹)² dt.

    Empirical quantile functions are step functions, so the integrals are computed exactly as sums, without a grid.
    ε(A, B) + ε(B, A) = 1; equal samples have 1/2. The bound is

        ε_min = ε - √((n + m) / nm) σ̂ Φ⁻¹(α),  within 0 and 1,

    where σ̂² is the variance of √(nm / (n + m)) (ε* - ε) over bootstrap resamples, so that √((n + m) / nm) σ̂ is the
    standard deviation of ε*. Φ⁻¹(α) is negative, so this is an upper bound. A is considered better where ε_min < τ
    (del Barrio, Cuesta-Albertos & Matrán 2018; Dror, Shlomov & Reichart 2019, with τ = 0.5; Ulmer, Hardmeier &
    Frellsen 2022 advise 0.2). NaN with one run.

    The bound is asymptotically valid for systems that differ. For equal systems the ratio is undefined, and its
    estimate has no normal limit: at τ = 0.5 and alpha = 0.05, the false positive rate is still 18 % with 50 runs.
    `null_rates` gives it for about as many runs. Where every run of A is above every run of B, the bootstrap has no
    spread, so no alpha brings the false positive rate below `separation`.

    Examples
    --------
    >>> import numpy as np
    >>> print(aso([0.912, 0.915, 0.909, 0.918], [0.907, 0.911, 0.905, 0.910], rng=np.random.default_rng(0)))
    eps = 0.000, eps_min = 0.082 at 95 %, 4 and 4 runs (equal systems, 5 runs, alpha 0.05: eps_min < 0.2 in 5.5 %, ...)
    """
    scores = check_two_systems("aso", a, b)
    return aso_matrix(scores, rng=rng, alpha=alpha, comparisons=comparisons, resamples=resamples).pair(0, 1)


def aso_matrix(
    scores_SR: ScoreLists, *, rng: Generator, alpha: float = 0.05, comparisons: int | None = None, resamples: int = 1000
) -> AsoMatrix:
    """Test for almost stochastic order of all pairs of systems, corrected for their number.

    Parameters
    ----------
    scores_SR
        One row of scores per system; rows may have different lengths.
    comparisons
        Divisor of alpha; by default the number of pairs. A pair is one comparison, although either system may win it,
        as in Ulmer et al. (2022). `null_rates` has the remaining false positive rates.

    Notes
    -----
    See `aso`. Each bound has confidence 1 - alpha / comparisons. A system is resampled once for all its pairs; resample
    b of system s depends on one number from `rng` and b only.

    Examples
    --------
    >>> import numpy as np
    >>> scores = [[0.91, 0.92, 0.91, 0.93], [0.90, 0.92, 0.91, 0.91], [0.84, 0.85, 0.83, 0.86]]
    >>> result = aso_matrix(scores, rng=np.random.default_rng(0))
    >>> print(result)
    3 systems, 3 pairs at 98.3333 %: eps_min < 0.2 for 2 (0.2 if all were equal), eps_min < 0.5 for 3 (0.7 if all...)
    >>> result.better(tau=0.2).tolist()
    [[False, False, True], [False, False, True], [False, False, False]]
    """
    scores = check_score_lists("aso_matrix", scores_SR, "system")
    systems = len(scores)
    if systems < 2:
        raise InputError("aso_matrix: one system; expected at least two to compare")
    if comparisons is None:
        comparisons = systems * (systems - 1) // 2
    if not 0 < alpha < 1:
        raise InputError(f"aso: alpha {alpha}; expected between 0 and 1, such as 0.05")
    check_number("aso", "comparisons", comparisons, least=1)
    check_number("aso", "resamples", resamples, least=2)
    check_work("resamples", resamples, nanoseconds=10 * (len(scores) - 1) * sum(map(len, scores)))
    ratio_P, deviation_P = _ratios(scores, resamples=resamples, rng=rng)
    ratio_SS = _square(systems, ratio_P, 1 - ratio_P)
    deviation_SS = _square(systems, deviation_P, deviation_P)
    bound_SS: Values = np.clip(ratio_SS - deviation_SS * normal_quantile(alpha / comparisons), 0, 1)
    runs = tuple(map(len, scores))
    return AsoMatrix(ratio_SS, bound_SS, deviation_SS, runs, alpha, comparisons, resamples)


def _ratios(scores: Sequence[Values], *, resamples: int, rng: Generator) -> tuple[Values, Values]:
    """Return the violation ratio of every pair and its bootstrap standard deviation, NaN with one run."""
    flat = np.concatenate([np.sort(values) for values in scores])
    # The ratio does not depend on scale; a power of two is exact and keeps the squares in range.
    flat = np.ldexp(flat, -np.frexp(np.abs(flat).max())[1])
    starts = np.cumsum([0, *map(len, scores)], dtype=np.int64)
    first_P, second_P = np.triu_indices(len(scores), 1)
    ratio_P, zeros_P = np.zeros(len(first_P)), np.zeros(len(first_P))
    # The observed ratios are those of one resample in which every score is drawn once.
    violation_sums(flat, starts, np.ones_like(flat), 1, zeros_P, ratio_P, np.zeros_like(zeros_P))
    keys_S = rng.integers(0, 2**64, size=len(scores), dtype=np.uint64)
    sums_P, squares_P = np.zeros_like(ratio_P), np.zeros_like(ratio_P)
    rows = max(1, min(resamples, BLOCK // len(flat)))
    weights = np.empty(rows * len(flat))
    for first in range(0, resamples, rows):
        size = min(rows, resamples - first)
        for system, (start, end) in enumerate(pairwise(starts)):
            block = weights[start * size : end * size]
            draw_weights(keys_S[system : system + 1], first, size, end - start, block)
        violation_sums(flat, starts, weights, size, ratio_P, sums_P, squares_P)
    deviation_P = np.sqrt(np.maximum(0.0, squares_P - sums_P**2 / resamples) / (resamples - 1))
    runs_S = np.diff(starts)
    deviation_P[(runs_S[first_P] < 2) | (runs_S[second_P] < 2)] = math.nan
    return ratio_P, deviation_P


def _square(systems: int, above_P: Values, below_P: Values) -> Values:
    """Make a matrix from the pairs above and below its diagonal, which is NaN."""
    table_SS = np.full((systems, systems), math.nan)
    upper = np.triu_indices(systems, 1)
    table_SS[upper] = above_P
    table_SS.T[upper] = below_P
    return table_SS


def _level(alpha: float, comparisons: int) -> str:
    return f"{100 * (1 - alpha / comparisons):.6g} %"
