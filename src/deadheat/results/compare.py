"""Comparisons of systems on the same units: scores, every pair tested, and a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from deadheat.errors import InputError, NameUnknown
from deadheat.results.base import Result
from deadheat.results.format import PERCENT, Scale
from deadheat.results.ledger import Tally
from deadheat.results.score import Score
from deadheat.results.verdict import State, Verdict, judge, margin_of
from deadheat.stats.checks import check_alpha
from deadheat.stats.corrections import correct
from deadheat.stats.intervals import Interval
from deadheat.stats.paired import NAMED_TESTS, TESTS
from deadheat.text import pluralize

LEAST_SHARED = 0.5  # of the data sets of two systems, for a check to rely on their comparison
RESAMPLED_T = "corrected-resampled-t"  # of studies over random splits; nobody asks for it by name


@dataclass(frozen=True, slots=True)
class PairwiseSettings:
    """How systems are tested against each other."""

    test: str = ""  # empty: the clustered t-test
    correction: str = "holm"
    alpha: float = 0.05
    resamples: int = 10_000
    seed: int = 0
    margin: float | None = None  # in points as they are shown; None: the default of the scale
    planned: tuple[str, str] | None = None  # two systems whose comparison was planned, and is tested alone

    def __post_init__(self) -> None:
        if self.test and self.test not in (*TESTS, RESAMPLED_T):
            raise NameUnknown("test", self.test, TESTS)
        check_alpha(self.alpha)
        if self.resamples < 1:
            raise InputError(f"{self.resamples} resamples; expected at least 1")
        correct([], self.correction)
        margin_of(self.margin, PERCENT)


@dataclass(frozen=True, slots=True)
class PairOnDataset:
    """The difference of two systems on one of several data sets."""

    dataset: str
    difference: float
    interval: Interval
    p: float
    p_corrected: float  # for all pairs on all data sets


@dataclass(frozen=True, slots=True)
class PairElsewhere:
    """What the data sets say about other data sets like them."""

    interval: Interval
    p: float
    p_corrected: float
    detectable: float


@dataclass(frozen=True, slots=True)
class PairwiseTest:
    """Two systems: the difference, its interval, and how surprising it is if neither is better.

    On several data sets, this is the mean difference over these data sets; `elsewhere` is about others like them.
    """

    a: str
    b: str
    test: str
    difference: float  # score of a minus score of b, means over runs and data sets
    interval: Interval  # as wide as the correction asks for, so that it agrees with `p_corrected`
    p: float
    p_corrected: float
    direction: float  # above 0 if the test favours a, below 0 if b: rank tests may side with the lower score
    error_reduction: float  # of the worse system's errors, the share that the better one avoids
    odds_ratio: float = math.nan  # items only a has right to items only b has right; NaN if not just right or wrong
    margin: float = math.nan  # within which two systems count as equal; NaN without one
    detectable: float = math.nan  # the smallest difference that the data would show with power 0.8
    possible: float = math.inf  # the greatest difference that there could be
    run_share: float = math.nan  # of the variance, the share that comes from the runs; NaN if a system has one run
    elsewhere: PairElsewhere | None = None
    by_dataset: tuple[PairOnDataset, ...] = ()
    about_runs: bool = False  # both systems have one run: the difference is that of two trained models
    shown_on: int = 0  # at least on so many data sets the system that is ahead is better (partial conjunction)

    def __str__(self) -> str:
        tested = f"{self.test} p = {self.p:.4g}, corrected {self.p_corrected:.4g}"
        return f"{self.a} - {self.b}: {self.difference:+.4f} {self.interval}, {tested}"

    def state(self, alpha: float) -> State:
        """What the test says about the claim that the system with the higher score is better."""
        sign = 1.0 if self.difference >= 0 else -1.0
        low, high = self.interval.bounds if sign > 0 else (-self.interval.high, -self.interval.low)
        named = {} if self.test not in NAMED_TESTS else {"p": self.p_corrected, "direction": sign * self.direction}
        sizes = {"detectable": self.detectable, "possible": self.possible}
        return judge((low, high), margin=self.margin, alpha=alpha, **named, **sizes)

    def state_elsewhere(self) -> State:
        """The same about other data sets."""
        assert self.elsewhere is not None
        low, high = self.elsewhere.interval.bounds
        bounds = (low, high) if self.difference >= 0 else (-high, -low)
        return judge(bounds, margin=self.margin, detectable=self.elsewhere.detectable, possible=self.possible)

    def winner(self, alpha: float) -> str:
        """The system that is shown to be better, after correction; empty if neither is."""
        state = self.state(alpha)
        if state not in (State.SHOWN, State.OPPOSITE):
            return ""
        return self.a if (self.difference >= 0) == (state is State.SHOWN) else self.b

    @property
    def is_within_margin(self) -> bool:
        """Whether the difference is shown to be so small that the two count as equal."""
        return max(abs(bound) for bound in self.interval.bounds) <= self.margin

    @property
    def ahead_on(self) -> int:
        """Data sets on which the system that is ahead on average has the higher score."""
        return sum(row.difference * self.difference > 0 for row in self.by_dataset)

    def turned(self) -> PairwiseTest:
        """The same test with the two systems in the other order."""
        elsewhere = self.elsewhere and replace(self.elsewhere, interval=_turned(self.elsewhere.interval))
        return replace(
            self,
            a=self.b,
            b=self.a,
            difference=-self.difference,
            interval=_turned(self.interval),
            direction=-self.direction,
            odds_ratio=1 / self.odds_ratio if self.odds_ratio else math.inf,
            elsewhere=elsewhere,
            by_dataset=tuple(
                replace(row, difference=-row.difference, interval=_turned(row.interval)) for row in self.by_dataset
            ),
        )


def _turned(interval: Interval) -> Interval:
    return replace(interval, low=-interval.high, high=-interval.low)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The runs of one system on one data set."""

    system: str
    mean: float
    sd: float  # NaN for a single run
    interval: Interval  # of the mean, by units and runs
    scores: tuple[float, ...]  # of every run

    @property
    def runs(self) -> int:
        return len(self.scores)


@dataclass(frozen=True, slots=True)
class DatasetScores:
    """The scores of all systems on one data set, and the units that are compared."""

    dataset: str
    unit: str
    units: int
    systems: tuple[RunSummary, ...]
    sentences: int = 0
    documents: int = 0  # 0 where they are not marked
    design_effect: float = math.nan  # variance of a difference by documents over that by sentences

    def __getitem__(self, system: str) -> RunSummary:
        for row in self.systems:
            if row.system == system:
                return row
        raise NameUnknown("system", system, [row.system for row in self.systems])


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
    friedman_p: float
    friedman_method: str  # exact, or Iman and Davenport's form of the test
    alpha: float
    datasets: int
    p_values: tuple[tuple[float, ...], ...] = ()  # of every two systems, in their order


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(Result):
    """Scores of systems over runs and data sets, every pair tested, and who is not shown to be worse than the best."""

    kind: ClassVar[str] = "compare"
    schema: ClassVar[int] = 2

    metric: str
    metric_name: str
    unit: str
    units: int
    settings: PairwiseSettings  # with the test that was used
    reason: str  # why this test and these units
    systems: tuple[Score, ...]
    pairs: tuple[PairwiseTest, ...]
    tied: tuple[str, ...]  # the best system, and those that are not significantly different from it
    verdict: Verdict
    scale: Scale = PERCENT
    dataset: str = ""  # the name of the gold file, where files of one test set were compared
    align: str = ""  # of words, likewise
    reference: str = ""
    datasets: tuple[DatasetScores, ...] = ()  # one for files of one test set, none for a table of scores
    extra_scores: tuple[Score, ...] = ()  # of the same systems: unknown words, whole sentences
    agreement: Agreement | None = None
    ranks: AverageRanks | None = None  # over data sets, for three systems or more
    evaluations: tuple[Tally, ...] = ()
    lower_is_better: bool = False  # of the scores; differences say by how much the first system is better

    @property
    def test(self) -> str:
        return self.settings.test

    @property
    def ranked(self) -> list[Score]:
        """Systems from the best to the worst."""
        return sorted(self.systems, key=lambda row: row.value if self.lower_is_better else -row.value)

    @property
    def runs(self) -> int:
        """The largest number of runs of a system on a data set."""
        return max((row.runs for dataset in self.datasets for row in dataset.systems), default=1)

    def is_worse(self, system: str) -> bool:
        """Whether another system is shown to be better than this one; a loss shown to be within the margin is none.

        Raises
        ------
        InputError
            If the system could not be compared with any other, or only on fewer than half of their data sets.
        """
        names = [row.system for row in self.systems]
        if system not in names:
            raise NameUnknown("system", system, names)
        pairs = [pair for pair in self.pairs if system in (pair.a, pair.b)]
        if not any(math.isfinite(pair.p) for pair in pairs):
            problem = f"{system} could not be compared with any system"
            raise InputError(f"{problem}; expected scores on several {self.unit}s that another system has, too")
        if not any(self._shares_half(pair.a, pair.b) for pair in pairs):
            problem = f"{system} shares fewer than half of the tasks or data sets with every other system"
            raise InputError(f"{problem}; expected scores on the same ones")
        alpha = self.settings.alpha
        return any(pair.winner(alpha) not in ("", system) and not pair.is_within_margin for pair in pairs)

    def _shares_half(self, a: str, b: str) -> bool:
        systems = [{row.system for row in dataset.systems} for dataset in self.datasets]
        either, both = (sum(bool(test) for test in tests) for tests in (
            [{a, b} & names for names in systems], [{a, b} <= names for names in systems],
        ))  # fmt: skip
        return both >= LEAST_SHARED * either

    def signature_parts(self) -> Iterable[str]:
        settings = self.settings
        datasets = len(self.datasets)
        runs = sorted({row.runs for dataset in self.datasets for row in dataset.systems})
        resampled = settings.test in ("bootstrap", "randomization")
        margin = margin_of(settings.margin, self.scale) * self.scale.factor
        return (
            f"{self.metric_name}{', lower is better' * self.lower_is_better}",
            self.align and f"align {self.align}",
            f"data sets {datasets}" if datasets > 1 else "",
            f"runs {'-'.join(map(str, runs))}" if runs and runs != [1] else "",
            f"units {self.units} ({self.unit})",
            settings.test,
            f"{settings.correction}, {pluralize(len(self.pairs), 'test')}",
            f"alpha {settings.alpha:g}",
            "" if math.isnan(margin) else f"margin {margin:g}",
            f"{settings.resamples} resamples | seed {settings.seed}" if resampled else "",
        )
