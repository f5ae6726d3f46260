"""Comparisons of systems on the same units: scores, every pair tested, and a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from deadheat.errors import InputError, NameUnknown
from deadheat.results.base import Result
from deadheat.results.format import PERCENT, Scale
from deadheat.results.ledger import Tally
from deadheat.results.score import Score
from deadheat.results.verdict import State, Verdict, state_of
from deadheat.stats.checks import check_alpha
from deadheat.stats.corrections import correct
from deadheat.stats.intervals import Interval
from deadheat.stats.paired import TESTS
from deadheat.text import pluralize


@dataclass(frozen=True, slots=True)
class PairwiseSettings:
    """How systems are tested against each other."""

    test: str = ""  # empty: the one that fits the data
    correction: str = "holm"
    alpha: float = 0.05
    resamples: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.test and self.test not in TESTS:
            raise NameUnknown("test", self.test, TESTS)
        check_alpha(self.alpha)
        if self.resamples < 1:
            raise InputError(f"{self.resamples} resamples; expected at least 1")
        correct([], self.correction)


@dataclass(frozen=True, slots=True)
class PairwiseTest:
    """Two systems: the difference, its interval, and how surprising it is if neither is better."""

    a: str
    b: str
    test: str
    difference: float  # score of a minus score of b
    interval: Interval
    p: float
    p_corrected: float
    direction: float  # above 0 if the test favours a, below 0 if b: rank tests may side with the lower score
    error_reduction: float  # of the worse system's errors, the share that the better one avoids
    odds_ratio: float  # items only a has right to items only b has right; NaN where items are not right or wrong
    smallest_p: float = 0.0  # the smallest corrected p-value that so few units could give

    def __str__(self) -> str:
        tested = f"{self.test} p = {self.p:.4g}, corrected {self.p_corrected:.4g}"
        return f"{self.a} - {self.b}: {self.difference:+.4f} {self.interval}, {tested}"

    def state(self, alpha: float) -> State:
        """What the test says about the claim that the system with the higher score is better."""
        direction = self.direction if self.difference >= 0 else -self.direction
        return state_of(p=self.p_corrected, alpha=alpha, direction=direction, smallest_p=self.smallest_p)

    def winner(self, alpha: float) -> str:
        """The system that is shown to be better, after correction; empty if neither is."""
        if self.state(alpha) not in (State.SHOWN, State.OPPOSITE):
            return ""
        return self.a if self.direction > 0 else self.b


@dataclass(frozen=True, slots=True)
class DisputedSentence:
    """A sentence with the labels of gold and of every system, word by word."""

    sentence: int  # counted from 1
    location: str  # file and line
    alpha: float  # agreement of the systems on it
    words: tuple[str, ...]
    gold: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far systems agree, what they could reach together, and the sentences they disagree on most."""

    labels: str  # what was compared: upos, head, "head and relation"
    alpha: float  # Krippendorff's
    oracle: float  # share of words that some system has right
    majority: float  # share of words that a vote has right; NaN for two systems, who cannot vote
    sentences: tuple[DisputedSentence, ...] = ()


@dataclass(frozen=True, slots=True)
class AverageRanks:
    """Average ranks of systems over data sets, and groups of systems whose ranks do not differ significantly."""

    method: str  # nemenyi or wilcoxon-holm
    systems: tuple[str, ...]
    ranks: tuple[float, ...]
    groups: tuple[tuple[str, ...], ...]
    critical_difference: float | None
    friedman_p: float  # of the F statistic
    alpha: float
    datasets: int
    p_values: tuple[tuple[float, ...], ...] = ()  # of every two systems, in their order
    friedman_f: float = math.nan
    friedman_chi_square: float = math.nan


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(Result):
    """Scores of systems on the same units, every pair tested, and who is not shown to be worse than the best."""

    kind: ClassVar[str] = "compare"

    metric: str
    metric_name: str
    unit: str
    units: int
    settings: PairwiseSettings  # with the test that was chosen
    reason: str  # why this test
    systems: tuple[Score, ...]
    pairs: tuple[PairwiseTest, ...]
    tied: tuple[str, ...]  # the best system, and those that are not significantly different from it
    verdict: Verdict
    scale: Scale = PERCENT
    dataset: str = ""  # the name of the gold file, where files were compared
    align: str = ""  # of words, likewise
    reference: str = ""
    extra_scores: tuple[Score, ...] = ()  # of the same systems: unknown words, whole sentences
    agreement: Agreement | None = None
    ranks: AverageRanks | None = None  # over data sets, for three systems or more
    evaluations: tuple[Tally, ...] = ()

    @property
    def test(self) -> str:
        return self.settings.test

    @property
    def ranked(self) -> list[Score]:
        """Systems from the best to the worst."""
        return sorted(self.systems, key=lambda row: -row.value)

    def signature_parts(self) -> Iterable[str]:
        settings = self.settings
        return (
            self.metric_name,
            self.align and f"align {self.align}",
            f"units {self.units} ({self.unit})",
            settings.test,
            f"{settings.correction}, {pluralize(len(self.pairs), 'test')}",
            f"alpha {settings.alpha:g}",
            f"bootstrap intervals, {settings.resamples} resamples",
            f"seed {settings.seed}",
        )
