"""Student's t distribution: against scipy, by closed forms, and by what must hold."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from deadheat.stats.student import student_quantile, student_tail

FREEDOM = [0.5, 1, 1.4, 2, 3.7, 10, 29.5, 99.9, 100.1, 1000, 99_999, 100_001, 1e8]
PROBABILITIES = [1e-6, 0.025, 0.4, 0.5001, 0.9, 0.975, 0.995, 0.99999, 1 - 1e-9]


@pytest.mark.parametrize("freedom", FREEDOM)
def test_scipy_gives_the_same_quantiles_and_tails(freedom: float) -> None:
    for probability in PROBABILITIES:
        expected = float(special.stdtrit(freedom, probability))
        # For very many degrees of freedom, scipy is exact to nine digits.
        assert student_quantile(probability, freedom) == pytest.approx(expected, rel=1e-11 if freedom < 1e6 else 1e-8)
    for t in (1e-4, 0.3, 1.0, 1.96, 4.0, 15.0, 200.0) if freedom < 1e5 else ():
        expected = float(special.stdtr(freedom, -t))
        assert student_tail(t, freedom) == pytest.approx(expected, rel=1e-10, abs=1e-290)


@given(st.floats(0.51, 0.999999))
def test_closed_forms_for_one_and_two_degrees_of_freedom(probability: float) -> None:
    assert student_quantile(probability, 1) == pytest.approx(math.tan(math.pi * (probability - 0.5)), rel=1e-9)
    centre = 2 * probability - 1
    expected = centre * math.sqrt(2 / (1 - centre**2))
    assert student_quantile(probability, 2) == pytest.approx(expected, rel=1e-9)


@given(st.floats(0.001, 0.999), st.floats(1, 1e7))
def test_it_is_symmetric_and_increases(probability: float, freedom: float) -> None:
    value = student_quantile(probability, freedom)
    assert student_quantile(1 - probability, freedom) == pytest.approx(-value, rel=1e-6, abs=1e-12)
    assert student_quantile(probability + 0.0005, freedom) > value


def test_limits() -> None:
    assert abs(student_quantile(0.5, 7)) < 1e-15
    assert student_quantile(0.975, math.inf) == pytest.approx(1.959963984540054)
    assert student_tail(0.0, 3) == 0.5
    for probability, freedom in ((0.0, 3.0), (1.0, 3.0), (0.9, 0.0), (math.nan, 3.0), (0.9, math.nan)):
        assert math.isnan(student_quantile(probability, freedom))
