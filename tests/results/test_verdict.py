"""States of evidence by intervals, margins and named tests, and when a claim is shown."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadheat.errors import InputError
from deadheat.results.format import PERCENT, PLAIN
from deadheat.results.verdict import (
    Claim,
    Evidence,
    State,
    Verdict,
    judge,
    margin_of,
    opposite,
    reverse,
    state_of,
)

NAN = math.nan
SHOWN, EQUAL, NOT, OPPOSITE, FEW = State.SHOWN, State.EQUAL, State.NOT_SHOWN, State.OPPOSITE, State.TOO_FEW


@pytest.mark.parametrize(
    ("bounds", "margin", "state"),
    [
        ((0.001, 0.02), NAN, SHOWN),
        ((-0.02, -0.001), NAN, OPPOSITE),
        ((-0.01, 0.02), NAN, NOT),
        ((0.0, 0.02), NAN, NOT),  # zero is in the interval
        ((-0.02, 0.0), NAN, NOT),
        ((-0.001, 0.001), NAN, NOT),  # nothing is equal without a margin
        ((-0.004, 0.003), 0.005, EQUAL),
        ((-0.005, 0.005), 0.005, EQUAL),
        ((-0.006, 0.003), 0.005, NOT),  # one of the two one-sided tests fails
        ((-0.003, 0.006), 0.005, NOT),
        ((0.001, 0.004), 0.005, SHOWN),  # a small difference is a difference
        ((-0.004, -0.001), 0.005, OPPOSITE),
        ((NAN, NAN), 0.005, FEW),
        ((NAN, 0.02), NAN, FEW),
        ((0.0, 0.0), 0.005, EQUAL),
        ((0.0, 0.0), NAN, NOT),
    ],
)
def test_an_interval_beyond_zero_is_shown_within_the_margin_equal_and_else_not_told_apart(
    bounds: tuple[float, float], margin: float, state: State
) -> None:
    assert judge(bounds, margin=margin) is state


def test_a_named_test_decides_by_its_p_value_and_whom_it_favours() -> None:
    """The interval then only shows equality: a rank test may side with the lower score."""
    wide, within = (-0.01, 0.03), (-0.001, 0.004)
    assert judge(wide, p=0.01, direction=1) is SHOWN
    assert judge(wide, p=0.01, direction=-1) is OPPOSITE
    assert judge((0.01, 0.03), p=0.06, direction=1) is NOT
    assert judge(wide, p=0.01, direction=0) is NOT
    assert judge(wide, p=0.05, direction=1) is SHOWN
    assert judge(wide, p=0.05, alpha=0.01, direction=1) is NOT
    assert judge(within, p=0.3, direction=1, margin=0.005) is EQUAL


def test_data_that_could_not_show_the_greatest_difference_are_too_few() -> None:
    """Where 60 points are possible at most, data that need 70 can show nothing."""
    wide = (-0.5, 0.9)
    assert judge(wide, detectable=0.7, possible=0.6) is FEW
    assert judge(wide, detectable=0.5, possible=0.6) is NOT
    assert judge(wide, detectable=NAN, possible=0.6) is NOT
    assert judge((0.1, 0.9), detectable=0.7, possible=0.6) is SHOWN  # what is shown is shown


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 0.5), st.floats(0, 1))
def test_the_other_order_of_the_systems_says_the_same(
    low: float, width: float, margin: float, detectable: float
) -> None:
    high = low + width
    forward = judge((low, high), margin=margin or NAN, detectable=detectable, possible=0.5)
    assert judge((-high, -low), margin=margin or NAN, detectable=detectable, possible=0.5) is opposite(forward)


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0.001, 0.5), st.floats(1, 3))
def test_what_is_equal_stays_equal_within_wider_margins(low: float, width: float, margin: float, more: float) -> None:
    states = [judge((low, low + width), margin=size) for size in (margin, more * margin)]
    assert states[0] is not EQUAL or states[1] is EQUAL
    evidence = Evidence("sentences", states[0], low + width / 2, low, low + width)
    within = judge((low, low + width), margin=evidence.equal_within)
    assert within is (EQUAL if low <= 0 <= low + width else states[0])


def test_margins_are_in_points_and_half_a_point_by_default() -> None:
    assert margin_of(None, PERCENT) == 0.005
    assert margin_of(2, PERCENT) == 0.02
    assert margin_of(2, PLAIN) == 2
    assert math.isnan(margin_of(0, PERCENT))
    assert math.isnan(margin_of(None, PLAIN))  # what half a point is on another scale is not known
    for wrong in (-0.1, math.inf, NAN):
        with pytest.raises(InputError, match=r"margin .*; expected 0 \(none\) or more"):
            margin_of(wrong, PERCENT)


@pytest.mark.parametrize(
    ("p", "direction", "smallest", "state"),
    [
        (0.01, 1, 0.0, SHOWN),
        (0.05, 1, 0.05, SHOWN),
        (0.01, -1, 0.0, OPPOSITE),
        (0.06, 1, 0.0, NOT),
        (0.06, -1, 0.0, NOT),
        (0.01, 0, 0.0, NOT),
        (0.25, 1, 0.25, FEW),
        (1.0, 1, 0.051, FEW),
        (math.nan, 1, 0.0, FEW),
    ],
)
def test_too_few_data_are_not_a_difference_that_is_not_shown(
    p: float, direction: float, smallest: float, state: State
) -> None:
    assert state_of(p=p, alpha=0.05, direction=direction, smallest_p=smallest) is state


def claim(better: str, worse: str, *evidence: Evidence, dataset: str = "", metric: str = "LAS") -> Claim:
    return Claim(better, worse, metric, evidence, dataset)


@pytest.mark.parametrize("state", State)
def test_turning_around_twice_changes_nothing(state: State) -> None:
    evidence = Evidence("runs", state, 0.01, -0.005, 0.015, 0.01, 10, 8)
    assert reverse(reverse(evidence)) == evidence
    assert reverse(evidence).state is {SHOWN: OPPOSITE, OPPOSITE: SHOWN}.get(state, state)
    assert reverse(Evidence("runs", state)).ahead is None


def test_the_first_evidence_decides_unless_another_shows_the_opposite() -> None:
    states = {
        (SHOWN,): True,
        (SHOWN, SHOWN): True,
        (SHOWN, FEW): True,
        (SHOWN, NOT): True,
        (SHOWN, EQUAL): True,
        (SHOWN, OPPOSITE): False,
        (SHOWN, NOT, OPPOSITE): False,
        (NOT, SHOWN): False,
        (EQUAL, SHOWN): False,
        (FEW, SHOWN): False,
        (OPPOSITE,): False,
        (): False,
    }
    for kinds, expected in states.items():
        assert claim("A", "B", *(Evidence(str(i), state) for i, state in enumerate(kinds))).is_shown is expected


def test_sources_are_in_order_of_appearance() -> None:
    one, two = Evidence("runs", SHOWN), Evidence("sentences", NOT)
    verdict = Verdict((claim("A", "B", one), Claim("A", "C", "F1", (two, one), scale=PLAIN)))
    assert verdict.sources == ["runs", "sentences"]
    assert (bool(verdict), bool(Verdict())) == (True, False)
