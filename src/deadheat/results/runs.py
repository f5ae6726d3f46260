"""Runs of systems: distributions of scores over seeds, and options of a factor compared over configurations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from deadheat.errors import NameUnknown
from deadheat.ranking.aso_rates import AsoFalseAlarms
from deadheat.ranking.contrasts import OptionComparison
from deadheat.ranking.importance import Importance
from deadheat.ranking.seeds import Density, DevTest, RunRange, SeedDifferences, SystemPair
from deadheat.results.base import Result
from deadheat.results.format import PERCENT, Scale
from deadheat.results.verdict import State, Verdict, judge, opposite, state_of
from deadheat.stats.distributions import Summary


@dataclass(frozen=True, slots=True)
class SystemRuns:
    """Scores of one system over its runs."""

    system: str
    summary: Summary
    compared: int  # how many values pairs are compared by: runs, or configurations
    compared_mean: float
    density: Density
    scores: tuple[float, ...]  # of every run, in order; empty if there are more than 2,000
    quantiles: tuple[float, ...] = ()  # instead of more than 2,000 scores: 201, evenly from minimum to maximum
    dev_scores: tuple[float, ...] = ()  # of the same runs as `scores`
    dev_test: DevTest | None = None
    range: RunRange | None = None  # of several runs of one configuration


@dataclass(frozen=True, slots=True)
class SeedBlock:
    """The systems on one level of `by`.

    Pairs compare runs, and `unit` is "seed". Where a system has several configurations, some of which were run several
    times, they compare the means of configurations, and `unit` is "configuration".
    """

    level: str  # empty without `by`
    unit: str
    systems: tuple[SystemRuns, ...]
    pairs: tuple[SystemPair, ...]
    differences: SeedDifferences | None  # between runs of one configuration; None where each has one run
    aso_false_alarms: AsoFalseAlarms | None = None  # of as many equal systems; None where there are no pairs

    def __getitem__(self, system: str) -> SystemRuns:
        for row in self.systems:
            if row.system == system:
                return row
        raise NameUnknown("system", system, [row.system for row in self.systems])

    def ranked(self) -> list[SystemRuns]:
        """Systems by the means that are compared, the best first."""
        return sorted(self.systems, key=lambda row: -row.compared_mean)

    def pair(self, a: str, b: str) -> SystemPair:
        """Two of the systems, in whichever order they were tested."""
        return next(pair for pair in self.pairs if {pair.a, pair.b} == {a, b})

    def state(self, better: str, worse: str, margin: float) -> State:
        """What the runs say about the claim that one system scores higher than another on this test set."""
        pair = self.pair(better, worse)
        state = judge(pair.means.interval.bounds, margin=margin)
        return state if pair.a == better else opposite(state)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Seeds(Result):
    """Systems compared by their scores over seeds, on one test set."""

    kind: ClassVar[str] = "seeds"
    schema: ClassVar[int] = 2

    score: str  # the column of scores, of development scores, of systems, and of levels
    dev: str
    system: str
    by: str
    settings: tuple[str, ...]  # columns in which runs of one configuration agree, besides the system
    alpha: float
    correction: str
    margin: float  # differences up to this are as good as none; NaN if there is no margin
    target: float  # power for which the number of seeds is computed
    resamples: int
    seed: int
    blocks: tuple[SeedBlock, ...]
    verdict: Verdict
    scale: Scale = PERCENT
    dev_scale: Scale = PERCENT
    metric: str = ""  # what the scores are; the name of their column if nothing else is known
    part: str = ""  # of the corpora that was scored, where known: test, dev

    def __getitem__(self, level: str) -> SeedBlock:
        for block in self.blocks:
            if block.level == level:
                return block
        raise NameUnknown("block", level, [block.level for block in self.blocks])

    def signature_parts(self) -> Iterable[str]:
        margin = "" if math.isnan(self.margin) else f"margin {self.margin * self.scale.factor:g}"
        tests = "welch", self.correction, f"alpha {self.alpha:g}", margin, f"power {self.target:g}"
        by = self.by and f"by {self.by}"
        return "seeds", self.metric, by, *tests, f"{self.resamples} resamples", f"seed {self.seed}"


@dataclass(frozen=True, slots=True)
class ContrastBlock:
    """The options among the runs of one level of `by` and of the second factor."""

    level: str  # empty without `by`
    second_level: str
    comparison: OptionComparison

    def state(self, option: str, alpha: float) -> State:
        """What the sign test says about the claim that the option with most wins is better than this one."""
        best = self.comparison.best
        pair = self.comparison.pair(best, option)
        direction = pair.a_better - pair.b_better if pair.a == best else pair.b_better - pair.a_better
        return state_of(p=pair.sign_p_corrected, alpha=alpha, direction=direction, smallest_p=pair.smallest_p)


@dataclass(frozen=True, slots=True)
class AverageWins:
    """The mean over all levels of `by`, each with equal weight, of the share of configurations that an option wins."""

    second_level: str  # empty without a second factor
    option: str
    wins: float
    levels: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Contrast(Result):
    """Which option of a factor wins over configurations that agree in every other setting."""

    kind: ClassVar[str] = "contrast"
    schema: ClassVar[int] = 2

    factor: str  # empty where only the importance of settings was computed
    score: str
    by: str
    second: str
    settings: tuple[str, ...]  # columns in which paired runs agree
    unpaired: tuple[str, ...]  # columns in which they may differ
    repeats: str
    ties: str
    alpha: float
    correction: str
    seed: int
    runs: int
    blocks: tuple[ContrastBlock, ...]
    importance: Mapping[str, Importance]  # by level of `by`; empty if it was not asked for
    verdict: Verdict
    scale: Scale = PERCENT
    averages: tuple[AverageWins, ...] = ()  # of the options that several levels of `by` have in common, best first

    def __getitem__(self, level: str) -> OptionComparison:
        """The options on a level of `by`, where there is no second factor."""
        for block in self.blocks:
            if block.level == level:
                return block.comparison
        raise NameUnknown("block", level, [block.level for block in self.blocks])

    def signature_parts(self) -> Iterable[str]:
        yield from ("contrast", self.score, self.by and f"by {self.by}", self.second and f"second {self.second}")
        if self.factor:
            yield from (f"factor {self.factor}", f"repeats {self.repeats}", f"ties {self.ties}", "sign test")
            yield from (self.correction, f"alpha {self.alpha:g}")
        if self.importance:
            yield from ("importance", f"seed {self.seed}")
