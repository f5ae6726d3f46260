"""Bayesian signed-rank test: the probability that one system is better on another data set, or that neither is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from deadheat.errors import InputError
from deadheat.kernels.statistics import pair_mass
from deadheat.stats.checks import BLOCK, Values, check_number, check_scores

ROUNDING = 8 * float(np.finfo(np.float64).eps)
ONE_DATA_SET = "one data set is not enough"


@dataclass(frozen=True, slots=True, eq=False)
class SignedRankPosterior:
    """The probabilities that A is better (left), that both are practically equivalent, and that B is better (right).

    `theta_B3` has one row per sample of the posterior, with the probabilities that a pair of data sets favours A,
    neither, or B. `note` says why the probabilities are NaN, if they are.
    """

    left: float
    equivalent: float
    right: float
    rope: float
    prior: float
    datasets: int
    theta_B3: Values = field(repr=False)
    note: str = ""

    def __str__(self) -> str:
        if self.note:
            return f"no probabilities: {self.note}"
        return (
            f"P(A better) = {self.left:.4f}, P(within {self.rope:g}) = {self.equivalent:.4f}, "
            f"P(B better) = {self.right:.4f} ({self.datasets} data sets, {len(self.theta_B3):,} samples)"
        )


def bayesian_signed_rank(
    a_D: ArrayLike,
    b_D: ArrayLike,
    *,
    rng: np.random.Generator,
    rope: float = 0.01,
    prior: float = 0.6,
    samples: int = 50_000,
) -> SignedRankPosterior:
    """Bayesian signed-rank test of two systems on several data sets, with a region of practical equivalence.

    Parameters
    ----------
    a_D, b_D
        The scores of both systems, one per data set.
    rope
        Differences up to this are practically equivalent; 0 for no such region.
    prior
        Strength s of the prior, a data set without a difference; 0 is the Bayesian bootstrap.

    Notes
    -----
    Let z_1..z_n be the differences b - a and z_0 = 0. The posterior of a Dirichlet process gives them weights w ~
    Dirichlet(s, 1, ..., 1), drawn as gamma variates over their sum, and with them the probabilities

        θ_left = Σ_i Σ_j w_i w_j H(-2 rope - z_i - z_j),   θ_right = Σ_i Σ_j w_i w_j H(z_i + z_j - 2 rope)

    that the mean of two differences is outside of the region on either side; H(0) = 1/2. The probability of left,
    equivalent or right is how often it is the greatest of the three θ, over `samples` draws (Benavoli, Corani, Demšar &
    Zaffalon 2017). Ties are shared, so that swapping the systems swaps left and right exactly. NaN with one data set.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = [0.91, 0.85, 0.78, 0.93, 0.88, 0.81], [0.89, 0.84, 0.75, 0.93, 0.85, 0.79]
    >>> print(bayesian_signed_rank(a, b, rope=0.005, rng=np.random.default_rng(0)))
    P(A better) = 0.9894, P(within 0.005) = 0.0106, P(B better) = 0.0000 (6 data sets, 50,000 samples)
    """
    where = "bayesian_signed_rank"
    first, second = check_scores(f"{where}, first system", a_D), check_scores(f"{where}, second system", b_D)
    if len(first) != len(second):
        raise InputError(f"{where}: {len(first)} and {len(second)} scores; expected both systems on every data set")
    for name, value in (("rope", rope), ("prior", prior)):
        if not 0 <= value < math.inf:
            raise InputError(f"{where}: {name} {value}; expected zero or more")
    check_number(where, "samples", samples, least=1)
    if len(first) < 2:
        nothing = np.empty((0, 3))
        return SignedRankPosterior(math.nan, math.nan, math.nan, rope, prior, len(first), nothing, ONE_DATA_SET)
    slack = ROUNDING * float(np.abs([first, second]).max())
    theta_B3 = _sample(second - first, rope, slack, prior=prior, samples=samples, rng=rng)
    greatest = theta_B3 == theta_B3.max(axis=1, keepdims=True)
    left, equivalent, right = (greatest / greatest.sum(axis=1, keepdims=True)).mean(axis=0).tolist()
    return SignedRankPosterior(left, equivalent, right, rope, prior, len(first), theta_B3)


def _sample(
    differences: Values, rope: float, slack: float, *, prior: float, samples: int, rng: np.random.Generator
) -> Values:
    """Draw θ of left, equivalent and right; sample b depends on two numbers from `rng` and on b only."""
    z = np.append(differences, 0.0)
    # Two generators, so that the result does not depend on the size of blocks.
    of_data, of_prior = (np.random.default_rng(int(key)) for key in rng.integers(0, 2**64, size=2, dtype=np.uint64))
    theta_B3 = np.empty((samples, 3))
    rows = max(1, BLOCK // len(z))
    for start in range(0, samples, rows):
        size = min(rows, samples - start)
        weights = np.empty((size, len(z)))
        weights[:, :-1] = of_data.standard_exponential((size, len(differences)))
        weights[:, -1] = of_prior.standard_gamma(prior, size)
        left, right = _mass_beyond(z, weights, rope, slack), _mass_beyond(-z, weights, rope, slack)
        theta_B3[start : start + size] = np.stack([left, np.maximum(0.0, 1 - (left + right)), right], axis=1)
    return theta_B3


def _mass_beyond(z: Values, weights: Values, rope: float, slack: float) -> Values:
    """Return the weighted share of pairs with a sum below -2 rope, plus half of those equal to it.

    In the order of z, the partners of a difference with a sum below a bound come first, so their weight is a cumulative
    sum.
    """
    order = np.argsort(z, kind="stable")
    ordered = z[order]
    below = np.searchsorted(ordered, -2 * rope - slack - ordered, side="left")
    reached = np.searchsorted(ordered, -2 * rope + slack - ordered, side="right")
    mass = np.empty(len(weights))
    pair_mass(weights.reshape(-1), order, below, reached, np.empty(len(z) + 1), mass)
    return mass
