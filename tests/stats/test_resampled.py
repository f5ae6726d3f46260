"""The corrected resampled t-test: by hand, against scipy, and its error rate on simulated splits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from deadheat.errors import InputError
from deadheat.stats.differences import corrected_resampled_t, resampled_estimate
from deadheat.stats.estimates import Estimate


def test_five_differences_by_hand() -> None:
    # mean 3, variance (4 + 1 + 0 + 1 + 4) / 4 = 2.5; (1/5 + 1/4) 2.5 = 1.125; t = 3 / 1.0607 = 2.8284.
    result = corrected_resampled_t([1, 2, 3, 4, 5], test_share=0.25)
    assert (result.difference, result.degrees_of_freedom) == (3, 4)
    assert result.t == pytest.approx(3 / math.sqrt(1.125))
    assert result.p == pytest.approx(2 * stats.t.sf(2.8284271247, 4))
    reach = 2.7764451052 * math.sqrt(1.125)  # the 97.5% quantile of t with 4 degrees of freedom, from a table
    assert (result.low, result.high) == pytest.approx((3 - reach, 3 + reach))


def test_without_the_correction_it_is_the_ordinary_t_test() -> None:
    differences = np.random.default_rng(0).normal(0.3, 1, 12)
    result, ordinary = corrected_resampled_t(differences, test_share=1e-12), stats.ttest_1samp(differences, 0)
    interval = ordinary.confidence_interval(0.95)
    assert (result.t, result.p, result.low, result.high) == pytest.approx(
        (ordinary.statistic, ordinary.pvalue, interval.low, interval.high)
    )


def test_the_interval_excludes_zero_where_the_test_rejects() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        result = corrected_resampled_t(rng.normal(0.8, 1, 8), test_share=0.2, alpha=0.1)
        assert (result.p <= 0.1) == (result.low > 0 or result.high < 0)


@pytest.mark.parametrize(
    ("differences", "p"),
    [([], math.nan), ([0.1], math.nan), ([0.1] * 4, 2 / 2**4), ([0.1] * 6, 2 / 2**6), ([0.0] * 3, 1.0)],
)
def test_too_few_differences_tell_nothing_and_equal_ones_as_much_as_signs_that_agree(
    differences: list[float], p: float
) -> None:
    """Of k random signs, all agree with probability 2 / 2^k; the interval is a point once that is at most alpha."""
    result = corrected_resampled_t(differences, test_share=0.1)
    assert result.p == pytest.approx(p, nan_ok=True)
    assert math.isnan(result.low) == (not (p <= 0.05 or p == 1))


def test_documents_that_were_split_up_decide_where_their_error_is_greater() -> None:
    differences = np.array([0.01, 0.03, 0.02])
    plain = resampled_estimate(differences, 0.25)
    assert plain.error == pytest.approx(0.01 * math.sqrt(1 / 3 + 0.25))
    greater = resampled_estimate(differences, 0.25, Estimate(0.5, 0.3, 17.5))
    assert (greater.value, greater.error, greater.freedom) == (plain.value, 0.3, 17.5)
    for smaller in (Estimate(0.5, plain.error / 2, 17.5), Estimate(0.5, math.nan, math.nan)):
        assert resampled_estimate(differences, 0.25, smaller) == plain


def test_swapping_the_systems_turns_the_result_around() -> None:
    forth, back = (corrected_resampled_t([s * 0.1, s * 0.3, s * 0.2], test_share=0.5) for s in (1, -1))
    assert (back.difference, back.low, back.high, back.t) == (-forth.difference, -forth.high, -forth.low, -forth.t)
    assert back.p == forth.p


@pytest.mark.parametrize("wrong", [{"test_share": 0.0}, {"test_share": math.nan}, {"alpha": 1.0}])
def test_wrong_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        corrected_resampled_t([0.1, 0.2], **{"test_share": 0.1, **wrong})
    with pytest.raises(InputError, match="finite"):
        corrected_resampled_t([0.1, math.nan], test_share=0.1)


def test_error_rate_on_random_splits_of_simulated_corpora() -> None:
    """Two equally good systems differ on single sentences by chance, and are scored on 20 test parts of one corpus.

    Test parts overlap, so that 20 of them say little more than the corpus does once. The ordinary t-test takes them for
    independent and rejects far too often; the corrected one rejects about as often as it says.
    """
    rng = np.random.default_rng(7)
    corpora, splits, size, test = 2000, 20, 60, 12
    rejected = {1e-12: 0, test / (size - test): 0}
    for _ in range(corpora):
        sentences = rng.normal(size=size)
        parts = rng.random((splits, size)).argsort(axis=1)[:, :test]
        differences = sentences[parts].mean(axis=1)
        for share in rejected:
            rejected[share] += corrected_resampled_t(differences, test_share=share).p <= 0.05
    ordinary, corrected = rejected.values()
    assert ordinary / corpora > 0.3
    assert stats.binomtest(corrected, corpora, 0.05).pvalue > 0.001
