"""Verdicts: for each pair of systems that matters, what each kind of evidence shows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from deadheat.results.format import PERCENT, Scale


class State(Enum):
    """What one kind of evidence says about the claim that one system is better than another."""

    SHOWN = "shown"
    NOT_SHOWN = "not shown"
    OPPOSITE = "the opposite"
    TOO_FEW = "cannot be shown with so few"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one kind of evidence says about a claim.

    `source` names the evidence by what is sampled: "sentences", "documents", "tokens", "runs", "splits", "data sets",
    "sizes" or "settings". Numbers that the evidence does not have are NaN.
    """

    source: str
    state: State
    difference: float = math.nan  # score of the claimed winner minus that of the other
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan  # corrected
    count: int = 0  # how many sentences, runs, splits, ... there are
    ahead: int | None = None  # on how many of them the claimed winner is ahead, where that says something


@dataclass(frozen=True, slots=True)
class Claim:
    """`better` scores higher than `worse`, and what the evidence says about whether it is better."""

    better: str
    worse: str
    metric: str
    evidence: tuple[Evidence, ...]
    dataset: str = ""  # named where a result covers several, or a page several results
    scale: Scale = PERCENT
    alpha: float = 0.05  # level of the tests; intervals are at 1 - alpha

    @property
    def is_shown(self) -> bool:
        """Whether some evidence shows the claim and none speaks against it or leaves it open."""
        return bool(self.evidence) and all(evidence.state is State.SHOWN for evidence in self.evidence)

    def sources(self, state: State) -> list[str]:
        """The kinds of evidence in a state."""
        return [evidence.source for evidence in self.evidence if evidence.state is state]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The claims that a result bears on, the most important first."""

    claims: tuple[Claim, ...] = ()
    omitted: int = 0  # pairs that are left to the tables
    systems: int = 0  # that were compared

    def __bool__(self) -> bool:
        return bool(self.claims)

    @property
    def sources(self) -> list[str]:
        """The kinds of evidence that any claim has, in order of appearance."""
        return list(dict.fromkeys(evidence.source for claim in self.claims for evidence in claim.evidence))


NO_CLAIMS = Verdict()


def state_of(*, p: float, alpha: float, direction: float, smallest_p: float = 0.0) -> State:
    """What a test says about the claim that the first system is better.

    Parameters
    ----------
    p
        The corrected p-value.
    direction
        Above 0 if the test favours the system that is claimed to be better.
    smallest_p
        The smallest corrected p-value that data of this size could give at all.
    """
    if math.isnan(p) or smallest_p > alpha:
        return State.TOO_FEW
    if p > alpha or not direction:
        return State.NOT_SHOWN
    return State.SHOWN if direction > 0 else State.OPPOSITE


def merge_claims(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Claims about the same pair on the same data set and metric become one with all the evidence.

    Where two of them disagree about who is ahead, the first decides, and the evidence of the other is turned around.
    """
    merged: dict[tuple[frozenset[str], str, str], Claim] = {}
    for claim in claims:
        key = frozenset((claim.better, claim.worse)), claim.dataset, claim.metric
        first = merged.get(key)
        if first is None:
            merged[key] = claim
            continue
        evidence = claim.evidence if claim.better == first.better else tuple(map(reverse, claim.evidence))
        merged[key] = replace(first, evidence=(*first.evidence, *evidence))
    return tuple(map(_oriented, merged.values()))


def _oriented(claim: Claim) -> Claim:
    """The claim that the system with the higher score is better, by the first evidence that has a difference."""
    differences = (evidence.difference for evidence in claim.evidence if math.isfinite(evidence.difference))
    if next(differences, 0.0) >= 0:
        return claim
    evidence = tuple(map(reverse, claim.evidence))
    return replace(claim, better=claim.worse, worse=claim.better, evidence=evidence)


def opposite(state: State) -> State:
    """What the same evidence says about the opposite claim."""
    return {State.SHOWN: State.OPPOSITE, State.OPPOSITE: State.SHOWN}.get(state, state)


def reverse(evidence: Evidence) -> Evidence:
    """The same evidence about the opposite claim."""
    return replace(
        evidence,
        state=opposite(evidence.state),
        difference=-evidence.difference,
        low=-evidence.high,
        high=-evidence.low,
        ahead=None if evidence.ahead is None else evidence.count - evidence.ahead,
    )
