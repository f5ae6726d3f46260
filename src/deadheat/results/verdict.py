"""Verdicts: for each pair of systems that matters, what each kind of evidence shows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum

from deadheat.errors import InputError
from deadheat.results.format import PERCENT, Scale

DEFAULT_MARGIN = 0.5  # points, for percentages; other scores have no default
TARGET_POWER = 0.8  # with which the smallest detectable difference is found


class State(Enum):
    """What one kind of evidence says about the claim that one system is better than another."""

    SHOWN = "shown"  # the interval of the difference is beyond zero
    EQUAL = "equal within the margin"  # it is within the margin: a dead heat
    NOT_SHOWN = "not told apart"
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
    margin: float = math.nan  # differences up to this are as good as none; NaN if none was stated
    detectable: float = math.nan  # the smallest difference that these data would show with power 0.8

    @property
    def equal_within(self) -> float:
        """The smallest margin within which the two are shown to be equal."""
        return max(abs(self.low), abs(self.high))


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
    about_runs: bool = False  # of one run each: what is shown is shown of these trained models, not of the methods
    is_planned: bool = False  # stated before the data were seen, and tested alone

    @property
    def is_shown(self) -> bool:
        """Whether the first evidence, which decides, shows the claim, and no other shows the opposite."""
        states = [evidence.state for evidence in self.evidence]
        return states[:1] == [State.SHOWN] and State.OPPOSITE not in states

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


def margin_of(points: float | None, scale: Scale) -> float:
    """A margin as scores are stored, from points as they are shown; by default 0.5 points of percentages, else none."""
    if points is None:
        points = DEFAULT_MARGIN if scale.is_percent else 0.0
    if not 0 <= points < math.inf:
        raise InputError(f"margin {points:g}; expected 0 (none) or more")
    return points / scale.factor if points else math.nan


def judge(
    bounds: tuple[float, float],
    *,
    margin: float = math.nan,
    p: float = math.nan,
    alpha: float = 0.05,
    direction: float = math.nan,
    detectable: float = math.nan,
    possible: float = math.inf,
) -> State:
    """What an interval of the difference says about the claim that the first system is better.

    Parameters
    ----------
    bounds
        The confidence interval, as wide as the correction for several tests asks for.
    margin
        Two systems are equal if the interval is within it on both sides (two one-sided tests).
    p, alpha, direction
        The corrected p-value of a test that was asked for by name, which then decides instead of the interval, and
        whom the test favours: above 0 the first system.
    detectable, possible
        The smallest difference that the data would show with power 0.8, and the greatest that there can be.
    """
    low, high = bounds
    if (math.isnan(low) or math.isnan(high)) and not (p <= alpha and direction):
        return State.TOO_FEW
    direction = low + high if math.isnan(direction) else direction
    if low > 0 or high < 0 if math.isnan(p) else p <= alpha and direction != 0:
        return State.SHOWN if direction > 0 else State.OPPOSITE
    if max(abs(low), abs(high)) <= margin:
        return State.EQUAL
    return State.TOO_FEW if detectable > possible else State.NOT_SHOWN


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
