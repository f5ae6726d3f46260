"""Student's t distribution without scipy, whose import takes longer than it takes to score a prediction."""

from __future__ import annotations

import math

from deadheat.stats.intervals import normal_quantile

NEARLY_NORMAL = 1e5  # degrees of freedom from which on an expansion about the normal quantile is exact to 12 digits
STEPS = 100
TINY = 1e-300


def student_quantile(probability: float, freedom: float) -> float:
    """Return the quantile of Student's t distribution.

    Newton's method on the logarithms of t and of its tail: the curve is concave, and so it converges from anywhere.

    Examples
    --------
    >>> round(student_quantile(0.975, 4), 6), round(student_quantile(0.025, 4), 6)
    (2.776445, -2.776445)
    """
    if not (0 < probability < 1 and freedom > 0):
        return math.nan
    tail, sign = (1 - probability, 1) if probability > 0.5 else (probability, -1)
    t = -normal_quantile(tail)
    if freedom > NEARLY_NORMAL or t <= 0:
        return sign * (t + (t**3 + t) / (4 * freedom) + (5 * t**5 + 16 * t**3 + 3 * t) / (96 * freedom**2))
    for _ in range(STEPS):
        reached = student_tail(t, freedom)
        factor = math.exp((math.log(reached) - math.log(tail)) * reached / (t * _density(t, freedom)))
        t *= factor
        if abs(factor - 1) < 1e-15:
            break
    return sign * t


def student_tail(t: float, freedom: float) -> float:
    """Return the probability of a t above a number that is not negative.

    Half the regularized incomplete beta function I_x(ν/2, 1/2) at x = ν / (ν + t²), by its continued fraction.

    Examples
    --------
    >>> round(student_tail(2.776445, 4), 6)
    0.025
    """
    x, rest = freedom / (freedom + t * t), t * t / (freedom + t * t)
    a, b = freedom / 2, 0.5
    if rest == 0:
        return 0.5
    log_x = -math.log1p(t * t / freedom)
    scale = math.exp(a * log_x + b * math.log(rest) - _log_beta(a))
    if x < (a + 1) / (a + b + 2):
        return scale * _continued_fraction(x, a, b) / (2 * a)
    return 0.5 - scale * _continued_fraction(rest, b, a) / (2 * b)


def _density(t: float, freedom: float) -> float:
    return math.exp(-(freedom + 1) / 2 * math.log1p(t * t / freedom) - _log_beta(freedom / 2)) / math.sqrt(freedom)


def _log_beta(a: float) -> float:
    """The logarithm of B(a, 1/2); for large a by Stirling's series, in which nothing cancels out."""
    if a < 50:
        return math.lgamma(a) + math.lgamma(0.5) - math.lgamma(a + 0.5)
    return 0.5 * math.log(math.pi / a) + 1 / (8 * a) - 1 / (192 * a**3) + 1 / (640 * a**5)


def _continued_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or TINY)
    value = d
    for m in range(1, 100_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + term * d or TINY)
            c = 1 + term / c or TINY
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
