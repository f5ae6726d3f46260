"""Rankings of systems: how much they depend on the choice of data sets, and on the size of test sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

from deadheat.ranking.anomalies import Anomalies
from deadheat.ranking.borda import BordaRanking
from deadheat.ranking.exact import SubsetCounts
from deadheat.ranking.selected_subsets import LeaveOneOut, NamedSubset, RepresentativeSubsets
from deadheat.ranking.size_samples import SizeSettings
from deadheat.ranking.sizes import CrossSizes, SetSizes
from deadheat.ranking.subsets import MetricStability, TauSummary
from deadheat.results.base import Result
from deadheat.results.format import Scale
from deadheat.results.ledger import Tally
from deadheat.results.verdict import Verdict
from deadheat.text import pluralize

CORRECTION = "holm"  # of the tests over data sets


@dataclass(frozen=True, slots=True)
class ExtremeRank:
    """The best (or worst) rank that a search over all subsets found, and a bound that no subset exceeds."""

    rank: int
    bound: int
    subset: tuple[str, ...]  # data sets that give this rank

    @property
    def proved(self) -> bool:
        return self.rank == self.bound


@dataclass(frozen=True, slots=True)
class SystemRanks:
    """A system: rank and mean score on all data sets, then its ranks over the subsets."""

    system: str
    rank: int
    score: float
    best: int
    worst: int
    mean: float
    median: float
    sd: float
    lower_quartile: float
    upper_quartile: float
    shares: tuple[float, ...]  # of subsets on which it has rank 1, 2, ...
    possible_best: ExtremeRank | None = None  # over all subsets, if asked for
    possible_worst: ExtremeRank | None = None


@dataclass(frozen=True, slots=True)
class PairOrder:
    """Two systems, the better on all data sets first: on which shares of the subsets it is ahead, behind and tied."""

    better: str
    worse: str
    ahead: float
    behind: float
    tied: float
    exact: SubsetCounts | None = None  # over all subsets, if asked for: above is ahead

    @property
    def shares(self) -> tuple[float, float, float]:
        """Ahead, behind and tied, over all subsets if they were counted."""
        return (self.ahead, self.behind, self.tied) if self.exact is None else self.exact.shares


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ranking(Result):
    """A ranking of systems on all data sets, what it shows for others like them, and how it changes on subsets."""

    kind: ClassVar[str] = "rank"
    schema: ClassVar[int] = 2

    metric: str  # "" if the table names none
    systems: tuple[SystemRanks, ...]  # best first
    pairs: tuple[PairOrder, ...]  # all, in the order of the ranking
    tau: TauSummary
    datasets: int
    subset_size: int
    samples: int
    design: str  # all, free, stratified or one per group
    scale: Scale
    alpha: float
    margin: float  # within which two systems count as equal; NaN without one
    verdict: Verdict  # the best against each other system, and the other neighbours in the ranking
    grouped_by: str = ""  # the attribute that subsets are stratified by, or have one data set per value of
    seed: int = 0
    all_subsets: int | None = None  # how many there are, where all were counted
    anomalies: tuple[Anomalies, ...] = ()
    subsets: tuple[NamedSubset, ...] = ()
    leave_one_out: tuple[LeaveOneOut, ...] = ()
    representative: RepresentativeSubsets | None = None
    metrics: tuple[MetricStability, ...] = ()
    borda: BordaRanking | None = None

    @property
    def lists_all(self) -> bool:
        """Whether the subsets are all there are of their size, not a sample."""
        return self.design == "all"

    @property
    def neighbours(self) -> list[PairOrder]:
        """The pairs of systems that follow each other in the ranking."""
        starts = accumulate(
            range(len(self.systems) - 1, 1, -1), initial=0
        )  # of the pairs of each system with those below
        return [self.pairs[start] for start in starts]

    @property
    def has_tests(self) -> bool:
        """Whether there are data sets enough for a test of mean differences over them."""
        return any(not math.isnan(claim.evidence[0].p) for claim in self.verdict.claims)

    def missed(self) -> Iterator[ExtremeRank]:
        """The possible ranks that no sampled subset gives."""
        for row in self.systems:
            for sampled, possible in ((row.best, row.possible_best), (row.worst, row.possible_worst)):
                if possible is not None and possible.rank != sampled:
                    yield possible

    def signature_parts(self) -> Iterable[str]:
        subsets = "all subsets" if self.lists_all else f"{self.samples:,} subsets ({self.design})"
        by = f" by {self.grouped_by}" if self.grouped_by else ""
        is_random = not self.lists_all or self.anomalies or self.representative is not None
        yield from (self.metric, pluralize(len(self.systems), "system"), pluralize(self.datasets, "data set"))
        yield from (f"{subsets}{by} of {self.subset_size}", "ties share the better rank")
        if self.has_tests:
            margin = "" if math.isnan(self.margin) else f"margin {self.scale.factor * self.margin:g}"
            yield from ("t-test over data sets", CORRECTION, f"alpha {self.alpha:g}", margin)
        yield f"seed {self.seed}" if is_random else ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SizeStudy(Result):
    """Rankings on samples of test sets, compared with the rankings on all of them or on the rest."""

    kind: ClassVar[str] = "size"
    schema: ClassVar[int] = 2

    metric: str
    metric_name: str
    settings: SizeSettings
    sets: tuple[SetSizes, ...]
    scale: Scale
    overall: SetSizes | None = None  # by the mean score over all test sets
    # Tau of the rankings on any two whole test sets, if systems are the same.
    between: tuple[tuple[float, ...], ...] = ()
    runs: int = 0
    align: str = ""
    evaluations: tuple[Tally, ...] = ()
    cross: tuple[CrossSizes, ...] = ()  # every ordered pair of test sets, if asked for

    @property
    def measure(self) -> str:
        """What sizes are counted in."""
        return "item" if all(test_set.unit == "item" for test_set in self.sets) else "word"

    def signature_parts(self) -> Iterable[str]:
        settings = self.settings
        return (
            self.metric_name,
            self.align and f"align {self.align}",
            f"{pluralize(len(self.sets), 'test set')}, {pluralize(self.runs, 'run')}",
            f"runs {settings.runs}",
            f"weighted tau against {settings.against}",
            f"{settings.draws} draws of {' '.join(settings.strategies)}",
            f"tau >= {settings.threshold:g} in {100 * settings.confidence:g}%",
            f"seed {settings.seed}",
        )
