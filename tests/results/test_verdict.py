"""States of evidence, and claims of several results put together."""

import math

import pytest

from deadheat.results.format import PLAIN
from deadheat.results.verdict import Claim, Evidence, State, Verdict, merge_claims, reverse, state_of

SHOWN, NOT, OPPOSITE, FEW = State.SHOWN, State.NOT_SHOWN, State.OPPOSITE, State.TOO_FEW


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


def test_claims_about_a_pair_become_one_with_all_the_evidence() -> None:
    sentences, runs = Evidence("sentences", SHOWN, 0.02, 0.01, 0.03, 0.001), Evidence("runs", NOT, 0.01)
    other = claim("A", "C", sentences)
    assert merge_claims([claim("A", "B", sentences), other, claim("A", "B", runs)]) == (
        claim("A", "B", sentences, runs),
        other,
    )
    apart = [claim("A", "B", runs, dataset="en"), claim("A", "B", runs), claim("A", "B", runs, metric="UAS")]
    assert merge_claims(apart) == tuple(apart)


def test_where_claims_disagree_the_first_decides_and_the_other_is_turned_around() -> None:
    first, second = Evidence("sentences", SHOWN, 0.02), Evidence("runs", SHOWN, 0.01, 0.005, 0.015, 0.01, 10, 8)
    (merged,) = merge_claims([claim("A", "B", first), claim("B", "A", second)])
    assert merged == claim("A", "B", first, Evidence("runs", OPPOSITE, -0.01, -0.015, -0.005, 0.01, 10, 2))
    assert not merged.is_shown
    assert merged.sources(OPPOSITE) == ["runs"]


@pytest.mark.parametrize("state", State)
def test_turning_around_twice_changes_nothing(state: State) -> None:
    evidence = Evidence("runs", state, 0.01, -0.005, 0.015, 0.01, 10, 8)
    assert reverse(reverse(evidence)) == evidence
    assert reverse(evidence).state is {SHOWN: OPPOSITE, OPPOSITE: SHOWN}.get(state, state)
    assert reverse(Evidence("runs", state)).ahead is None


def test_a_claim_is_shown_only_if_all_its_evidence_shows_it() -> None:
    states = {
        (SHOWN,): True,
        (SHOWN, SHOWN): True,
        (SHOWN, FEW): False,
        (SHOWN, NOT): False,
        (OPPOSITE,): False,
        (): False,
    }
    for given, expected in states.items():
        assert claim("A", "B", *(Evidence(str(i), state) for i, state in enumerate(given))).is_shown is expected


def test_sources_are_in_order_of_appearance() -> None:
    one, two = Evidence("runs", SHOWN), Evidence("sentences", NOT)
    verdict = Verdict((claim("A", "B", one), Claim("A", "C", "F1", (two, one), scale=PLAIN)))
    assert verdict.sources == ["runs", "sentences"]
    assert (bool(verdict), bool(Verdict())) == (True, False)
