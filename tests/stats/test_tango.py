"""Tango's score interval: published examples, another program, by enumeration, and in comparisons."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import multinomial, norm

from deadheat.errors import InputError
from deadheat.items.table import ItemMetric, item_table
from deadheat.questions.compare_items import compare_items
from deadheat.results.verdict import State
from deadheat.stats.intervals import tango
from deadheat.stats.paired import mcnemar

# Worked examples of Fagerland, Lydersen and Laake (airway hyper-responsiveness, complete response) as the R packages
# ratesci and contingencytables have them, and scoreci.mp(25, 28, 618) of PropCIs, which subtracts the first proportion.
PUBLISHED = [
    (1, 7, 21, 0.95, -0.517, -0.026, 5e-4),
    (6, 16, 161, 0.95, -0.1240, -0.0054, 5e-5),
    (28, 25, 618, 0.90, -0.0148, 0.0247, 5e-5),
]
# R 4.6.1, PropCIs 0.3.0: scoreci.mp(only_second, only_first, items, level)
PROPCIS = [
    (7, 0, 14, 0.95, 0.17703378200531006, 0.73200792074203491),
    (0, 0, 14, 0.95, -0.21531081199645996, 0.21531075239181519),
    (3, 2, 14, 0.95, -0.26107772759028841, 0.38899629882403786),
    (13, 1, 14, 0.95, 0.37062617710658474, 0.97455562864031109),
    (14, 0, 14, 0.95, 0.56937837600708008, 1),
    (0, 14, 14, 0.95, -1, -0.56937843561172485),
    (10, 3, 50, 0.95, -0.0014977478981018086, 0.28547489047050478),
    (1, 1, 2, 0.95, -0.81093764305114746, 0.81093758344650269),
    (25, 12, 200, 0.95, 0.005635504722595221, 0.12694109946489335),
    (2, 9, 20, 0.90, -0.5665505409240722, -0.084052941203117348),
    (4, 1, 28, 0.90, -0.030010823692594266, 0.25619741635663168),
]


@pytest.mark.parametrize(("first", "second", "items", "level", "low", "high", "rounding"), PUBLISHED)
def test_published_examples(
    first: int, second: int, items: int, level: float, low: float, high: float, rounding: float
) -> None:
    assert tango(first, second, items, level=level).bounds == pytest.approx((low, high), abs=rounding)


@pytest.mark.parametrize(("first", "second", "items", "level", "low", "high"), PROPCIS)
def test_another_program(first: int, second: int, items: int, level: float, low: float, high: float) -> None:
    assert tango(first, second, items, level=level).bounds == pytest.approx((low, high), abs=3e-7)


def likelihood_score(gap: float, first: int, second: int, items: int) -> float:
    """The score statistic with the constrained maximum likelihood found numerically, without a formula for it."""

    def slope(q: float) -> float:  # of the log-likelihood, q the chance that only the second is right
        rest = 1 - 2 * q - gap
        return first / (q + gap) + second / q - 2 * (items - first - second) / rest

    low, high = max(0.0, -gap), (1 - gap) / 2
    q = brentq(slope, low + 1e-13, high - 1e-13, xtol=1e-15)
    return (first - second - items * gap) / math.sqrt(items * (2 * q + gap * (1 - gap)))


@given(st.integers(1, 25), st.integers(1, 25), st.integers(1, 60))
def test_at_its_ends_the_score_statistic_is_the_normal_quantile(first: int, second: int, neither: int) -> None:
    items = first + second + neither
    interval = tango(first, second, items)
    assert likelihood_score(interval.low, first, second, items) == pytest.approx(norm.ppf(0.975), abs=1e-5)
    assert likelihood_score(interval.high, first, second, items) == pytest.approx(norm.ppf(0.025), abs=1e-5)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 80))
def test_it_excludes_zero_where_the_asymptotic_test_is_significant(first: int, second: int, neither: int) -> None:
    items = first + second + neither
    if not items:
        return
    low, high = tango(first, second, items).bounds
    p = mcnemar(first, second, method="asymptotic").p
    assert (low > 0 or high < 0) == (p < 0.05)
    assert -1 <= low <= (first - second) / items <= high <= 1
    assert tango(second, first, items).bounds == pytest.approx((-high, -low))


def test_its_interval_seldom_disagrees_with_the_mid_p_test() -> None:
    cases = [(b, c) for b in range(31) for c in range(31 - b)]
    different = [
        (b, c) for b, c in cases if (mcnemar(b, c).p <= 0.05) != (tango(b, c, 30).low * tango(b, c, 30).high > 0)
    ]
    assert len(cases) == 496
    assert {tuple(sorted(case, reverse=True)) for case in different} == {(4, 0), (15, 6), (18, 8)}


@pytest.mark.parametrize("items", [10, 20, 30])
def test_it_covers_the_truth_by_enumeration(items: int) -> None:
    cases = [(b, c) for b in range(items + 1) for c in range(items + 1 - b)]
    bounds = np.array([tango(b, c, items).bounds for b, c in cases])
    covered = []
    for discordant in np.linspace(0.05, 0.9, 8):
        for gap in discordant * np.linspace(0, 0.95, 6):
            chances = [(discordant + gap) / 2, (discordant - gap) / 2, 1 - discordant]
            weights = multinomial.pmf([(b, c, items - b - c) for b, c in cases], items, chances)
            covered.append(weights[(bounds[:, 0] <= gap + 1e-9) & (gap - 1e-9 <= bounds[:, 1])].sum())
    assert min(covered) > 0.925
    assert 0.95 < np.mean(covered) < 0.98


def test_bad_counts_are_refused_and_no_items_have_no_interval() -> None:
    for first, second, items in ((-1, 0, 5), (3, 3, 5)):
        with pytest.raises(InputError, match="expected at most as many"):
            tango(first, second, items)
    assert all(map(math.isnan, tango(0, 0, 0).bounds))


def answers(only_first: int, only_second: int, items: int, *, column: str = "correct") -> pl.DataFrame:
    rows = []
    for item in range(items):
        a = item < only_first or item >= only_first + only_second
        rows += [{"item": item, "model": "A", column: int(a)}]
        rows += [{"item": item, "model": "B", column: int(item >= only_first)}]
    return pl.DataFrame(rows)


def test_a_mcnemar_test_comes_with_this_interval() -> None:
    for test in ("mcnemar-midp", "mcnemar-exact"):
        (pair,) = compare_items(answers(1, 7, 21), test=test).pairs
        assert pair.interval.bounds == pytest.approx((-0.517, -0.026), abs=5e-4)
        assert pair.interval.method == "tango"
    (pair,) = compare_items(answers(1, 7, 21)).pairs
    assert pair.interval.method == "t"
    (pair,) = compare_items(answers(1, 7, 21), test="sign").pairs
    assert pair.interval.method == "t"


def test_several_pairs_have_wider_intervals() -> None:
    third = answers(3, 3, 40).filter(model="A").with_columns(model=pl.lit("C"))
    result = compare_items(pl.concat([answers(12, 2, 40), third]), test="mcnemar-midp")
    (pair,) = (pair for pair in result.pairs if {pair.a, pair.b} == {"A", "B"})
    assert pair.interval.level > 0.95
    assert pair.interval.bounds == tango(12, 2, 40, level=pair.interval.level).bounds


def test_errors_of_which_fewer_are_better_are_turned_round() -> None:
    frame = answers(12, 2, 40).with_columns(system=pl.col("model"), score=1 - pl.col("correct"), metric=pl.lit("error"))
    table = item_table("items", frame, metrics={"error": ItemMetric("error", lower_is_better=True)})
    right, wrong = (compare_items(items, test="mcnemar-midp").pairs[0] for items in (answers(12, 2, 40), table))
    assert wrong.interval == right.interval
    assert wrong.difference == pytest.approx(right.difference) == 0.25
    assert wrong.odds_ratio == right.odds_ratio == 6
    assert (wrong.p, wrong.winner(0.05)) == (right.p, "A")


def test_systems_that_agree_on_many_items_are_equal() -> None:
    result = compare_items(answers(0, 0, 5000), test="mcnemar-midp")
    assert result.pairs[0].state(0.05) is State.EQUAL
    assert result.pairs[0].interval.high == pytest.approx(
        norm.ppf(0.975) ** 2 / (5000 + norm.ppf(0.975) ** 2), rel=1e-6
    )
