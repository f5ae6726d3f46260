from __future__ import annotations

from math import comb, inf, isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2

from deadheat.errors import InputError, NameUnknown
from deadheat.stats.paired import MCNEMAR_METHODS, mcnemar

counts = st.integers(0, 60)


@pytest.mark.parametrize("method", MCNEMAR_METHODS)
def test_without_discordant_items_p_is_one(method: str) -> None:
    assert mcnemar(0, 0, method=method).p == 1


@given(counts, counts)
def test_exact_is_the_binomial_test(b: int, c: int) -> None:
    expected = binomtest(b, b + c, 0.5).pvalue if b + c else 1
    assert mcnemar(b, c, method="exact").p == pytest.approx(expected, rel=1e-10)


@given(counts, counts)
def test_midp_takes_half_of_the_observed_probability_off(b: int, c: int) -> None:
    n = b + c
    if n == 0:
        return
    observed = comb(n, b) / 2**n
    exact = binomtest(b, n, 0.5).pvalue
    expected = 1 - observed / 2 if b == c else exact - observed
    assert mcnemar(b, c, method="midp").p == pytest.approx(expected, rel=1e-9)


def test_midp_of_the_worked_example_of_fagerland() -> None:
    # Fagerland, Lydersen & Laake 2013, airway data: b = 1, c = 7 gives exact 0.070, mid-p 0.039, asymptotic 0.034
    assert mcnemar(1, 7, method="exact").p == pytest.approx(0.0703, abs=5e-5)
    assert mcnemar(1, 7, method="midp").p == pytest.approx(0.0391, abs=5e-5)
    assert mcnemar(1, 7, method="asymptotic").p == pytest.approx(0.0339, abs=5e-5)


@given(counts, counts)
def test_asymptotic_tests_are_chi_square(b: int, c: int) -> None:
    if b + c == 0:
        return
    assert mcnemar(b, c, method="asymptotic").p == pytest.approx(chi2.sf((b - c) ** 2 / (b + c), 1), rel=1e-9)
    corrected = max(0, abs(b - c) - 1) ** 2 / (b + c)
    assert mcnemar(b, c, method="corrected").p == pytest.approx(chi2.sf(corrected, 1), rel=1e-9)


@given(counts, counts, st.sampled_from(MCNEMAR_METHODS))
def test_swapping_the_systems_keeps_p_and_turns_the_odds(b: int, c: int, method: str) -> None:
    one, other = mcnemar(b, c, method=method), mcnemar(c, b, method=method)
    assert one.p == other.p
    if b and c:
        assert one.odds_ratio == pytest.approx(1 / other.odds_ratio)


def test_odds_of_one_sided_tables_are_defined() -> None:
    assert mcnemar(3, 0).odds_ratio == inf
    assert mcnemar(0, 3).odds_ratio == 0
    assert isnan(mcnemar(0, 0).odds_ratio)


def test_invalid_input_is_refused() -> None:
    with pytest.raises(InputError, match="-1 and 2 discordant items"):
        mcnemar(-1, 2)
    with pytest.raises(NameUnknown, match="did you mean 'midp'"):
        mcnemar(1, 2, method="mid-p")
