"""Several looks at one test set: what they do to a p-value, and how alpha can be spent on them."""

from __future__ import annotations

from deadheat.errors import InputError
from deadheat.stats.checks import check_alpha


def spent_level(alpha: float, look: int) -> float:
    """Return the level at which a look is tested so that all looks together have an error rate of at most alpha.

    Notes
    -----
    alpha / (k (k + 1)) at look k. Over the first k looks these sum to alpha (1 - 1 / (k + 1)), so the number of looks
    need not be known beforehand. By Bonferroni's inequality it holds whatever the dependence between looks.

    Examples
    --------
    >>> [round(spent_level(0.05, look), 4) for look in (1, 2, 3, 7)]
    [0.025, 0.0083, 0.0042, 0.0009]
    """
    check_alpha(alpha)
    _check_looks(look)
    return alpha / (look * (look + 1))


def look_bound(p: float, looks: int) -> float:
    """Return a bound of the p-value if each of so many looks was a chance to stop: min(1, k p); NaN stays NaN.

    Examples
    --------
    >>> look_bound(0.003, 7), look_bound(0.2, 7)
    (0.021, 1.0)
    """
    _check_looks(looks)
    return looks * p if looks * p < 1 or p != p else 1.0


def _check_looks(looks: int) -> None:
    if looks < 1:
        raise InputError(f"look {looks}; expected at least 1")
