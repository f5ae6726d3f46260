"""Families of tests: the same as one estimate at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deadheat.stats.corrections import correct_defined, decision_levels
from deadheat.stats.estimates import Estimate, mean_estimate
from deadheat.stats.families import Family, mean_estimates

CASES = [
    Estimate(0.1, 0.05, 9),
    Estimate(-0.3, 0.02, 9),
    Estimate(0.0, 0.0, 4),
    Estimate(0.2, 0.0, 4),  # no variation: p is 1/16
    Estimate(0.2, 0.0, 90),
    Estimate(0.4, math.nan, 3),
    Estimate(math.nan, math.nan, math.nan),
    Estimate(1.0, 0.6, 1),  # quantiles that are far out
    Estimate(1e-3, 0.4, 1e8),
    Estimate(0.1, 0.05, 0),
]


@pytest.mark.parametrize("method", ["holm", "bonferroni", "bh", "none"])
@pytest.mark.parametrize("alpha", [0.05, 1e-4])
def test_a_family_is_each_of_its_estimates_alone(method: str, alpha: float) -> None:
    family = Family.of(CASES, method, alpha)
    p_values = [estimate.p for estimate in CASES]
    levels = decision_levels(p_values, method, alpha)
    np.testing.assert_array_equal(family.p_P, p_values)
    np.testing.assert_array_equal(family.corrected_P, correct_defined(p_values, method))
    for at, (estimate, found) in enumerate(zip(CASES, family.intervals(), strict=True)):
        level = alpha if math.isnan(levels[at]) else float(levels[at])
        interval = estimate.interval(1 - level)
        expected = (interval.low, interval.high, estimate.detectable(level))
        np.testing.assert_array_equal((family.low_P[at], family.high_P[at], family.detectable_P[at]), expected)
        np.testing.assert_array_equal(
            (found.low, found.high, found.level), (interval.low, interval.high, interval.level)
        )
    bounded = np.array([interval.bounds for interval in family.intervals(0.25)])
    np.testing.assert_array_equal(
        bounded, np.stack([np.maximum(family.low_P, -0.25), np.minimum(family.high_P, 0.25)]).T
    )
    odd = np.arange(len(CASES)) % 2 == 1
    values, errors, freedom = np.array([(item.value, item.error, item.freedom) for item in CASES]).T
    some = Family.of_arrays(values, errors, freedom, method, alpha, shown=odd)
    np.testing.assert_array_equal(some.low_P, np.where(odd, family.low_P, math.nan))
    np.testing.assert_array_equal(some.detectable_P, np.where(odd, family.detectable_P, math.nan))


def test_tests_that_were_asked_for_by_name_decide_how_wide_intervals_are() -> None:
    named = [0.01, 0.2, 0.04]
    family = Family.of(CASES[:3], "holm", 0.05, p_values=named)
    levels = decision_levels(named, "holm", 0.05)
    assert family.corrected_P.tolist() == correct_defined(named, "holm").tolist()
    interval = CASES[0].interval(1 - float(levels[0]))
    assert (family.low_P[0], family.high_P[0]) == (interval.low, interval.high)


@pytest.mark.parametrize("datasets", [1, 2, 7, 300])
def test_means_of_rows_are_those_of_each_row(datasets: int) -> None:
    rows = np.random.default_rng(datasets).normal(size=(40, datasets))
    rows[0], rows[1], rows[2] = 0.0, 0.3, 0.1 + 0.2
    for row, estimate in zip(rows, mean_estimates(rows), strict=True):
        expected = mean_estimate(row)
        np.testing.assert_array_equal(
            (estimate.value, estimate.error, estimate.freedom), (expected.value, expected.error, expected.freedom)
        )
