"""Corrections of p-values for multiple testing, and the systems tied with the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from deadheat.errors import InputError, NameUnknown
from deadheat.stats.checks import Values, check_alpha, distinct_names


@dataclass(frozen=True, slots=True)
class TiedWithBest:
    """The best systems, and those not significantly different from one of them, by decreasing value."""

    best: tuple[str, ...]
    tied: tuple[str, ...]
    alpha: float

    def __str__(self) -> str:
        return f"{', '.join(self.best)} best, tied with {', '.join(self.tied) or 'none'} (alpha {self.alpha:g})"


def none(p_values: ArrayLike) -> Values:
    """Return the p-values unchanged."""
    return _check_p_values(p_values).copy()


def bonferroni(p_values: ArrayLike) -> Values:
    """Return Bonferroni-corrected p-values, which control the family-wise error rate.

    Notes
    -----
    min(1, m p) for m tests (Dunn 1961). `holm` is uniformly more powerful.

    Examples
    --------
    >>> bonferroni([0.01, 0.04, 0.5])
    array([0.03, 0.12, 1.  ])
    """
    checked = _check_p_values(p_values)
    return np.minimum(1.0, checked * len(checked))


def holm(p_values: ArrayLike) -> Values:
    """Return p-values corrected by Holm's step-down method, which control the family-wise error rate.

    Notes
    -----
    With the m p-values in increasing order, the i-th is multiplied by m - i + 1, and they are made increasing (Holm
    1979). Valid under any dependence.

    Examples
    --------
    >>> holm([0.04, 0.01, 0.03])
    array([0.06, 0.03, 0.06])
    """
    checked = _check_p_values(p_values)
    order = np.argsort(checked, kind="stable")
    steps = np.arange(len(checked), 0, -1)
    corrected: Values = np.minimum(1.0, np.maximum.accumulate(checked[order] * steps))
    return corrected[np.argsort(order)]


def benjamini_hochberg(p_values: ArrayLike) -> Values:
    """Return p-values corrected by Benjamini and Hochberg's method, which control the false discovery rate.

    Notes
    -----
    With the m p-values in increasing order, the i-th is multiplied by m / i, and they are made increasing (Benjamini
    and Hochberg 1995). Valid for independent and positively dependent tests.

    Examples
    --------
    >>> benjamini_hochberg([0.04, 0.01, 0.03])
    array([0.04, 0.03, 0.04])
    """
    checked = _check_p_values(p_values)
    order = np.argsort(checked, kind="stable")
    raised = checked[order] * (len(checked) / np.arange(1, len(checked) + 1))
    corrected: Values = np.minimum(1.0, np.minimum.accumulate(raised[::-1])[::-1])
    return corrected[np.argsort(order)]


CORRECTIONS: Mapping[str, Callable[[ArrayLike], Values]] = MappingProxyType(
    {"bonferroni": bonferroni, "holm": holm, "bh": benjamini_hochberg, "none": none}
)


def correct(p_values: ArrayLike, method: str) -> Values:
    """Correct p-values by a method of `CORRECTIONS`."""
    if method not in CORRECTIONS:
        raise NameUnknown("correction", method, CORRECTIONS)
    return CORRECTIONS[method](p_values)


def correct_defined(p_values: ArrayLike, method: str) -> Values:
    """Correct p-values of the tests that could be made; the others are NaN, and do not count."""
    corrected = np.array(p_values, dtype=np.float64)
    defined = ~np.isnan(corrected)
    corrected[defined] = correct(corrected[defined], method)
    return corrected


def decision_levels(p_values: ArrayLike, method: str, alpha: float) -> Values:
    """Return the level at which each test is decided: p is at most this exactly where corrected p is at most alpha.

    A confidence interval at 1 minus this level agrees with the corrected p-value. NaN where p is.

    Examples
    --------
    >>> decision_levels([0.04, 0.01, 0.03], "holm", 0.06).round(4).tolist()
    [0.04, 0.02, 0.03]
    """
    array = np.array(p_values, dtype=np.float64)
    defined = ~np.isnan(array)
    positive = np.maximum(array[defined], 1e-300)
    scale = max(1, len(positive))  # so that no corrected p-value is cut off at 1
    array[defined] = alpha * (positive / scale) / correct(positive / scale, method)
    return array


def partial_conjunction(p_values: ArrayLike, alpha: float) -> int:
    """Return on how many data sets at least there is an effect, given one p-value for each.

    Notes
    -----
    Of n p-values in increasing order, the hypothesis that fewer than u of them have an effect has Bonferroni's p-value
    (n - u + 1) p_(u), made increasing in u; the estimate is the greatest u at which it is at most alpha. It exceeds the
    true number with probability alpha at most, whatever the dependence (Benjamini and Heller 2008; Dror et al. 2017).

    Examples
    --------
    >>> partial_conjunction([0.001, 0.2, 0.004, 0.01], 0.05)
    3
    """
    ordered = np.sort(_check_p_values(p_values))
    bounds = np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))
    return int(np.count_nonzero(bounds <= alpha))


def tied_with_best(
    p_values_SS: ArrayLike, values_S: ArrayLike, *, alpha: float = 0.05, names: Sequence[str] | None = None
) -> TiedWithBest:
    """Return the systems tied with the best, given corrected p-values of all pairs; higher values are better.

    Notes
    -----
    A system is tied if its p-value with a system of the highest value is above alpha. That does not mean that it is
    equally good: with too little data, all systems are tied.

    Examples
    --------
    >>> p = [[1, 0.4, 0.01], [0.4, 1, 0.03], [0.01, 0.03, 1]]
    >>> print(tied_with_best(p, [0.91, 0.90, 0.85], names=["a", "b", "c"]))
    a best, tied with b (alpha 0.05)
    """
    p_SS, values = np.asarray(p_values_SS, dtype=np.float64), np.asarray(values_S, dtype=np.float64)
    check_alpha(alpha)
    if values.ndim != 1 or not len(values) or p_SS.shape != (len(values), len(values)):
        shapes = f"shapes {p_SS.shape} and {values.shape}"
        raise InputError(f"tied_with_best: {shapes}; expected p-values of all pairs of systems and a value of each")
    systems = distinct_names(names, len(values), "system")
    for system, value in zip(systems, values.tolist(), strict=True):
        if not math.isfinite(value):
            raise InputError(f"value of {system}: {value}; expected a finite number")
    for first, second in np.argwhere(~((p_SS >= 0) & (p_SS <= 1) & (p_SS == p_SS.T))).tolist():
        pair = f"p-value of {systems[first]} and {systems[second]}"
        raise InputError(f"{pair}: {p_SS[first, second]}; expected between 0 and 1, and a symmetric matrix")
    best = values == values.max()
    tied = (p_SS[best] > alpha).any(axis=0) & ~best
    order = np.argsort(-values, kind="stable").tolist()
    return TiedWithBest(tuple(systems[s] for s in order if best[s]), tuple(systems[s] for s in order if tied[s]), alpha)


def _check_p_values(p_values: ArrayLike) -> Values:
    array = np.asarray(p_values, dtype=np.float64)
    if array.ndim != 1:
        raise InputError(f"p-values: an array of {array.ndim} dimensions; expected one p-value per test")
    wrong = np.flatnonzero(~((array >= 0) & (array <= 1)))
    if len(wrong):
        raise InputError(f"p-value {wrong[0] + 1} of {len(array)}: {array[wrong[0]]}; expected between 0 and 1")
    return array
