"""The corrected resampled t-test: two systems over several splits of one corpus, which share sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deadheat.errors import InputError
from deadheat.stats.checks import check_alpha

MIN_EQUAL = 5  # splits: as many equal differences are taken for a difference, fewer show nothing


@dataclass(frozen=True, slots=True)
class ResampledT:
    """The mean difference over splits, its confidence interval, and the p-value of no difference."""

    difference: float
    low: float
    high: float
    t: float
    degrees_of_freedom: int
    p: float

    def __str__(self) -> str:
        tested = f"t({self.degrees_of_freedom}) = {self.t:.3f}, p = {self.p:.4g}"
        return f"{self.difference:+.4f} [{self.low:+.4f}, {self.high:+.4f}], {tested}"


def corrected_resampled_t(differences_P: ArrayLike, *, test_share: float, alpha: float = 0.05) -> ResampledT:
    """Test whether two systems differ on average over random splits of the same data.

    Parameters
    ----------
    differences_P
        The difference of the two systems on each split.
    test_share
        Size of the test part divided by that of the training part, n_test / n_train.
    alpha
        The interval covers the true difference with probability 1 - alpha.

    Returns
    -------
    ResampledT
        With fewer than two splits, interval and p-value are NaN.

    Notes
    -----
    With k differences of mean d and variance s² (divisor k - 1)::

        t = d / sqrt((1 / k + n_test / n_train) s²)

    has about a t distribution with k - 1 degrees of freedom if the systems are equally good (Nadeau and Bengio 2003,
    *Machine Learning* 52). The training sets of the splits overlap, so that the differences depend on each other; the
    ordinary t-test, which lacks the term n_test / n_train, rejects far too often. If all differences are equal but
    not zero, the variance cannot be estimated: p is 0 for five splits or more, and NaN for fewer.

    Examples
    --------
    >>> print(corrected_resampled_t([0.02, 0.01, 0.03, 0.02, 0.02], test_share=0.25))
    +0.0200 [+0.0068, +0.0332], t(4) = 4.216, p = 0.01352
    """
    differences = np.asarray(differences_P, dtype=np.float64)
    check_alpha(alpha)
    if differences.ndim != 1 or not np.isfinite(differences).all():
        raise InputError("corrected_resampled_t: expected one finite difference per split")
    if not test_share > 0:
        raise InputError(f"test_share {test_share}; expected the size of test divided by that of train, above 0")
    count, nan = len(differences), math.nan
    mean = float(differences.mean()) if count else nan
    if count < 2:
        return ResampledT(mean, nan, nan, nan, max(count - 1, 0), nan)
    from scipy.special import stdtr, stdtrit

    freedom = count - 1
    error = math.sqrt((1 / count + test_share) * float(differences.var(ddof=1)))
    if np.ptp(differences) == 0:
        if mean == 0:
            return ResampledT(0.0, 0.0, 0.0, 0.0, freedom, 1.0)
        t, p = (math.copysign(math.inf, mean), 0.0) if count >= MIN_EQUAL else (nan, nan)
        return ResampledT(mean, mean, mean, t, freedom, p)
    t = mean / error
    reach = float(stdtrit(freedom, 1 - alpha / 2)) * error
    return ResampledT(mean, mean - reach, mean + reach, t, freedom, float(2 * stdtr(freedom, -abs(t))))
