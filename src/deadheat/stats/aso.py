"""Almost stochastic order: whether one system's scores are above another's, quantile by quantile, or nearly so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InputError
from deadheat.kernels.resampling import draw_weights, violation_sums
from deadheat.stats.aso_rates import ALPHAS, TAUS, NullRate, nearest_null_rates
from deadheat.stats.intervals import normal_quantile
from deadheat.stats.scores import BLOCK, ScoreLists, Values, check_number, check_score_lists, check_scores

ONE_RUN = "a system with one run has no spread to resample"


@dataclass(frozen=True, slots=True)
class Aso:
    """How far system A is from being better than B run by run.

    `ratio` is 0 if A is better all the way, 1 if B is; `bound` lies above the true ratio with confidence
    1 - alpha / comparisons, so that a small bound speaks for A. `deviation` is the bootstrap standard deviation
    of the ratio. `null_rates` are the nearest entries of a table of false alarms.
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
        """The chance that equal systems are taken to differ whatever alpha is: all of A's runs above all of B's."""
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

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "ratio": self.ratio,
            "bound": self.bound,
            "deviation": self.deviation,
            "runs": list(self.runs),
            "alpha": self.alpha,
            "comparisons": self.comparisons,
            "resamples": self.resamples,
            "separation": self.separation,
            "null_rates": [asdict(each) for each in self.null_rates],
            "note": self.note,
        }


@dataclass(frozen=True, slots=True, eq=False)
class AsoMatrix:
    """Almost stochastic order of every two systems; row A, column B as `Aso` of A and B. No system meets itself."""

    ratio_SS: Values
    bound_SS: Values
    deviation_SS: Values
    runs: tuple[int, ...]
    alpha: float
    comparisons: int
    resamples: int

    def better(self, *, tau: float) -> NDArray[np.bool_]:
        """Row A, column B: whether A is better than B, almost: its bound lies below tau."""
        return self.bound_SS < tau

    def pair(self, first: int, second: int) -> Aso:
        """Two of the systems alone, with the correction for all."""
        if first == second:
            raise InputError(f"system {first} and itself; expected two systems")
        outcome = self.ratio_SS, self.bound_SS, self.deviation_SS
        return _result(
            *(float(table[first, second]) for table in outcome),
            runs=(self.runs[first], self.runs[second]),
            alpha=self.alpha,
            comparisons=self.comparisons,
            resamples=self.resamples,
        )

    @property
    def null_rates(self) -> tuple[NullRate, ...]:
        """False alarms of a pair in one direction: of the two systems with the fewest runs, where there are most."""
        first, second = sorted(self.runs)[:2]
        return nearest_null_rates((first, second), self.alpha / self.comparisons)

    def __str__(self) -> str:
        systems = len(self.runs)
        directions = systems * (systems - 1)
        counts = [
            f"eps_min < {each.tau:g} for {np.count_nonzero(self.better(tau=each.tau))} "
            f"({directions * each.rate:.1f} if all were equal)"
            for each in self.null_rates
        ]
        return (
            f"{systems} systems, {directions // 2} pairs at {_level(self.alpha, self.comparisons)}: {', '.join(counts)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "ratio": self.ratio_SS.tolist(),
            "bound": self.bound_SS.tolist(),
            "deviation": self.deviation_SS.tolist(),
            "runs": list(self.runs),
            "alpha": self.alpha,
            "comparisons": self.comparisons,
            "resamples": self.resamples,
            "null_rates": [asdict(each) for each in self.null_rates],
        }


def aso(
    a: ArrayLike,
    b: ArrayLike,
    *,
    rng: np.random.Generator,
    alpha: float = 0.05,
    comparisons: int = 1,
    resamples: int = 1000,
) -> Aso:
    """Almost stochastic order of two systems by the scores of their runs.

    Parameters
    ----------
    a, b
        Scores of the runs of either system; more is better, and their numbers may differ.
    alpha
        The bound lies below the true ratio with this chance.
    comparisons
        Of how many comparisons this is one; each then has alpha / comparisons (Bonferroni).

    Notes
    -----
    With F⁻¹ and G⁻¹ the quantile functions of A's and B's scores, the violation ratio is

        ε = ∫ over {t: F⁻¹(t) < G⁻¹(t)} of (F⁻¹ - G⁻¹)² dt  /  ∫ over (0, 1) of (F⁻¹ - G⁻¹)² dt.

    Empirical quantile functions are constant between the points i/n and j/m, so that the integrals are sums, and are
    computed as such: no grid, and no part of (0, 1) is left out. ε(A, B) + ε(B, A) = 1; samples without a difference
    have 1/2. The bound is

        ε_min = ε - √((n + m) / nm) σ̂ Φ⁻¹(α),  within 0 and 1,

    where σ̂² is the variance of √(nm / (n + m)) (ε* - ε) over bootstrap resamples, so that √((n + m) / nm) σ̂ is the
    standard deviation of ε*, and Φ⁻¹(α) is negative: it is an upper bound. A is taken to be better where ε_min < τ
    (del Barrio, Cuesta-Albertos & Matrán 2018; Dror, Shlomov & Reichart 2019, with τ = 0.5; Ulmer, Hardmeier &
    Frellsen 2022 advise 0.2). NaN with one run.

    The bound holds for many runs of systems that differ. Of equal ones the ratio is not defined, and its estimate has
    no normal limit: at τ = 0.5 and alpha = 0.05, 50 runs still give a false claim in 18 of 100 cases. `null_rates` says
    how often that happens with about as many runs. Where every run of A is above every run of B there is no spread to
    resample, so that no alpha brings it below `separation`.

    Examples
    --------
    >>> import numpy as np
    >>> print(aso([0.912, 0.915, 0.909, 0.918], [0.907, 0.911, 0.905, 0.910], rng=np.random.default_rng(0)))
    eps = 0.000, eps_min = 0.082 at 95 %, 4 and 4 runs (equal systems, 5 runs, alpha 0.05: eps_min < 0.2 in 5.5 %, ...)
    """
    scores = [check_scores("aso, first system", a), check_scores("aso, second system", b)]
    _check_settings(alpha, comparisons, resamples)
    ratio_P, deviation_P = _ratios(scores, resamples=resamples, rng=rng)
    ratio, deviation = float(ratio_P[0]), float(deviation_P[0])
    return _result(
        ratio,
        float(_bound(ratio_P, deviation_P, alpha / comparisons)[0]),
        deviation,
        runs=(len(scores[0]), len(scores[1])),
        alpha=alpha,
        comparisons=comparisons,
        resamples=resamples,
    )


def aso_matrix(
    scores_SR: ScoreLists,
    *,
    rng: np.random.Generator,
    alpha: float = 0.05,
    comparisons: int | None = None,
    resamples: int = 1000,
) -> AsoMatrix:
    """Almost stochastic order of every two of several systems, corrected for their number.

    Parameters
    ----------
    scores_SR
        A row of scores a system; rows may be of different lengths.
    comparisons
        What alpha is divided by: the number of pairs, unless another is given. A pair is one comparison here, though
        either system may win it, as in Ulmer et al. (2022). `null_rates` says how often equal systems are told apart
        all the same.

    Notes
    -----
    See `aso`. Each bound has confidence 1 - alpha / comparisons, so that more systems make every bound stricter. A
    system is resampled once for all its pairs; resample b of system s depends on one number from `rng` and b alone.

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
    _check_settings(alpha, comparisons, resamples)
    ratio_P, deviation_P = _ratios(scores, resamples=resamples, rng=rng)
    ratio_SS = _square(systems, ratio_P, 1 - ratio_P)
    deviation_SS = _square(systems, deviation_P, deviation_P)
    bound_SS = _bound(ratio_SS, deviation_SS, alpha / comparisons)
    runs = tuple(map(len, scores))
    return AsoMatrix(ratio_SS, bound_SS, deviation_SS, runs, alpha, comparisons, resamples)


def violation_ratio(a: ArrayLike, b: ArrayLike) -> float:
    """The violation ratio ε of two samples: 0 if A is better all the way, 1 if B is; see `aso`.

    Examples
    --------
    The quantile functions of (1, 4) and (2, 3) differ by -1, then by 1.

    >>> violation_ratio([1, 4], [2, 3])
    0.5
    """
    scores = [check_scores("violation_ratio, first system", a), check_scores("violation_ratio, second system", b)]
    return float(_observed(*_flat(scores))[0])


def null_rates(
    runs: int, *, simulations: int, rng: np.random.Generator, resamples: int = 1000
) -> dict[float, tuple[float, ...]]:
    """How often `aso` finds an order between two samples of one normal distribution: alpha -> a rate for each of TAUS.

    Notes
    -----
    The rate is that of one direction; either system is found to be better twice as often. The ratio does not change
    with location and scale, so that any normal distribution gives the same.

    Examples
    --------
    >>> import numpy as np
    >>> null_rates(5, simulations=100, rng=np.random.default_rng(0))[0.05]
    (0.06, 0.21)
    """
    check_number("null_rates", "runs", runs, least=2)
    check_number("null_rates", "simulations", simulations, least=1)
    quantiles = np.array([normal_quantile(alpha) for alpha in ALPHAS])
    hits = np.zeros((len(ALPHAS), len(TAUS)), dtype=np.int64)
    for _ in range(simulations):
        ratio_P, deviation_P = _ratios(list(rng.standard_normal((2, runs))), resamples=resamples, rng=rng)
        hits += (ratio_P - deviation_P * quantiles)[:, None] < TAUS
    return {alpha: tuple((row / simulations).tolist()) for alpha, row in zip(ALPHAS, hits, strict=True)}


def _check_settings(alpha: float, comparisons: int, resamples: int) -> None:
    if not 0 < alpha < 1:
        raise InputError(f"aso: alpha {alpha}; expected between 0 and 1, such as 0.05")
    check_number("aso", "comparisons", comparisons, least=1)
    check_number("aso", "resamples", resamples, least=2)


def _ratios(scores: Sequence[Values], *, resamples: int, rng: np.random.Generator) -> tuple[Values, Values]:
    """The violation ratio of every pair of systems and its bootstrap standard deviation, NaN with one run."""
    flat, starts = _flat(scores)
    ratio_P = _observed(flat, starts)
    keys_S = rng.integers(0, 2**64, size=len(scores), dtype=np.uint64)
    sums_P, squares_P = np.zeros_like(ratio_P), np.zeros_like(ratio_P)
    rows = max(1, min(resamples, BLOCK // len(flat)))
    weights = np.empty(rows * len(flat))
    for first in range(0, resamples, rows):
        size = min(rows, resamples - first)
        for system, (start, end) in enumerate(pairwise(starts)):
            place = weights[start * size : end * size]
            draw_weights(keys_S[system : system + 1], first, size, end - start, place)
        violation_sums(flat, starts, weights, size, ratio_P, sums_P, squares_P)
    deviation_P = np.sqrt(np.maximum(0.0, squares_P - sums_P**2 / resamples) / (resamples - 1))
    runs_S = np.diff(starts)
    first_P, second_P = np.triu_indices(len(scores), 1)
    deviation_P[(runs_S[first_P] < 2) | (runs_S[second_P] < 2)] = math.nan
    return ratio_P, deviation_P


def _flat(scores: Sequence[Values]) -> tuple[Values, NDArray[np.int64]]:
    """All scores in one row, sorted within systems and scaled, and where each system starts."""
    flat = np.concatenate([np.sort(each) for each in scores])
    starts = np.cumsum([0, *map(len, scores)], dtype=np.int64)
    # The ratio does not change with scale; a power of two changes no digit, and keeps the squares in range.
    return np.ldexp(flat, -np.frexp(np.abs(flat).max())[1]), starts


def _observed(flat: Values, starts: NDArray[np.int64]) -> Values:
    """The violation ratio of every pair: what one resample gives in which every score is drawn once."""
    pairs = (len(starts) - 1) * (len(starts) - 2) // 2
    ratio_P = np.zeros(pairs)
    violation_sums(flat, starts, np.ones_like(flat), 1, np.zeros(pairs), ratio_P, np.zeros(pairs))
    return ratio_P


def _bound(ratio: Values, deviation: Values, alpha: float) -> Values:
    bound: Values = np.clip(ratio - deviation * normal_quantile(alpha), 0, 1)
    return bound


def _square(systems: int, above_P: Values, below_P: Values) -> Values:
    """A table of systems by systems from the pairs above and below its diagonal, which is NaN."""
    table_SS = np.full((systems, systems), math.nan)
    upper = np.triu_indices(systems, 1)
    table_SS[upper] = above_P
    table_SS.T[upper] = below_P
    return table_SS


def _result(
    ratio: float,
    bound: float,
    deviation: float,
    *,
    runs: tuple[int, int],
    alpha: float,
    comparisons: int,
    resamples: int,
) -> Aso:
    rates = nearest_null_rates(runs, alpha / comparisons)
    return Aso(ratio, bound, deviation, runs, alpha, comparisons, resamples, rates, "" if min(runs) > 1 else ONE_RUN)


def _level(alpha: float, comparisons: int) -> str:
    return f"{100 * (1 - alpha / comparisons):.6g} %"
