"""Results of studies: scores of systems over splits and seeds, tests of every pair, and what was run."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from deadheat.registry import base_name
from deadheat.results.base import Result
from deadheat.results.compare import Agreement, Comparison
from deadheat.results.format import PERCENT, Scale
from deadheat.results.search import SearchResult
from deadheat.results.verdict import NO_CLAIMS, State, Verdict, judge
from deadheat.stats.paired import NAMED_TESTS

NAN = math.nan
PARTS = ("test", "dev", "tune")  # in the order in which they are shown, then others
RANDOM = ("random", "kfold", "rand", "rand-seq", "ud")


@dataclass(frozen=True, slots=True)
class SystemScores:
    """One system by one metric on one part, over the splits and seeds of a strategy."""

    system: str
    metric: str
    runs: int  # that have a score; there is none where there is nothing to get right
    mean: float
    sd: float  # NaN for a single run
    min: float
    max: float
    interval: tuple[float, float] | None = None  # 95%, by units and seeds, where there is a single split
    by_split: tuple[float, ...] = ()  # means over seeds; NaN where no run has a score
    by_run: tuple[tuple[float, ...], ...] = ()  # scores of all seeds of each split, where there are several


@dataclass(frozen=True, slots=True)
class OverallTest:
    """Two systems on all splits of a block together, by the means over seeds.

    Over several splits this is the corrected resampled t-test; where documents are marked, but were split up, the
    error over documents is taken if it is greater. On a single split it is the clustered t-test over units and seeds.
    """

    difference: float
    low: float  # as wide as the correction asks for
    high: float
    p: float
    p_corrected: float  # for the number of pairs on all corpora
    splits: int
    ahead: int  # splits on which the first system has the higher mean
    margin: float = NAN
    detectable: float = NAN
    possible: float = math.inf  # the greatest difference that there could be
    about_runs: bool = False  # one split and one seed each: the difference is that of two trained models


@dataclass(frozen=True, slots=True)
class PairOverSplits:
    """Two systems, the first better on average: the test on every split, and on all together."""

    a: str
    b: str
    test: str  # on every split
    unit: str  # of that test: document, sentence, or token where that was asked for
    difference: float  # mean over splits
    splits: int
    ahead: int
    significant: int  # splits on which a is better after correction for the number of splits
    reversed: int  # splits on which b is
    p: tuple[float, ...]
    p_corrected: tuple[float, ...]
    overall: OverallTest

    def state(self, alpha: float) -> State:
        """What all splits together say about the claim that the first system is better."""
        test, named = self.overall, dict[str, float]()
        sizes = {"detectable": test.detectable, "possible": test.possible}
        if self.splits == 1 and self.test in NAMED_TESTS:  # rank tests may side with the lower score
            named = {"p": test.p_corrected, "direction": self.significant - self.reversed or self.difference}
        return judge((test.low, test.high), margin=test.margin, alpha=alpha, **sizes, **named)

    def winner(self, alpha: float) -> str:
        """The system that is shown to be better; empty if neither is."""
        return {State.SHOWN: self.a, State.OPPOSITE: self.b}.get(self.state(alpha), "")


@dataclass(frozen=True, slots=True)
class StudyBlock:
    """The splits that one strategy makes of one corpus, scored on one part."""

    corpus: str
    split: str  # name of the strategy with its settings
    seed: int  # of the splits
    part: str
    numbers: tuple[int, ...]  # of the splits
    metrics: tuple[str, ...]
    systems: tuple[SystemScores, ...]  # by the first metric, best first; then by the others
    pairs: tuple[PairOverSplits, ...] = ()
    agreement: tuple[Agreement, ...] = ()  # for each split and column, where there are several systems
    train_words: tuple[int, ...] = ()  # of each split
    part_words: tuple[int, ...] = ()  # of the part that is scored

    @property
    def splits(self) -> int:
        return len(self.numbers)

    @property
    def strategy(self) -> str:
        """The strategy without its version and settings."""
        return base_name(self.split)

    @property
    def is_standard(self) -> bool:
        """Whether the parts are those of the corpus."""
        return self.strategy == "standard"

    @property
    def is_random(self) -> bool:
        """Whether these are several random splits."""
        return self.strategy in RANDOM and self.splits > 1

    @property
    def split_label(self) -> str:
        """How the corpus was split, without versions: `random(unit='document'), seed 3`."""
        seed = f", seed {self.seed}" if self.seed else ""
        return re.sub(r"\.v\d+\b", "", self.split) + seed

    @property
    def has_more_seeds(self) -> bool:
        """Whether some system ran more than once on a split."""
        return any(row.runs > self.splits for row in self.systems)

    def first_metrics(self) -> dict[str, str]:
        """The metric that each system is compared by, which is its first."""
        return {row.system: row.metric for row in reversed(self.systems)}

    def by_metric(self) -> list[StudyBlock]:
        """One block for the systems of every first metric, which is then the first of its metrics."""
        firsts = self.first_metrics()
        blocks = []
        for metric in dict.fromkeys(metric for metric in self.metrics if metric in firsts.values()):
            rows = tuple(row for row in self.systems if firsts[row.system] == metric)
            metrics = tuple(dict.fromkeys([metric, *(row.metric for row in rows)]))
            pairs = tuple(pair for pair in self.pairs if firsts[pair.a] == metric == firsts[pair.b])
            blocks.append(replace(self, metrics=metrics, systems=rows, pairs=pairs))
        return blocks

    @property
    def ranked(self) -> list[SystemScores]:
        """The systems by the first metric, best first."""
        return [row for row in self.systems if row.metric == self.metrics[0]]

    def ranked_by(self, metric: str) -> list[SystemScores]:
        """The systems that are compared by a metric, best first."""
        firsts = self.first_metrics()
        return [row for row in self.systems if row.metric == metric == firsts[row.system]]

    def scores(self, system: str, metric: str) -> SystemScores | None:
        """The scores of a system by a metric."""
        return next((row for row in self.systems if (row.system, row.metric) == (system, metric)), None)


@dataclass(frozen=True, slots=True)
class StudyCorpus:
    """A corpus of a study."""

    name: str
    sentences: int
    words: int


@dataclass(frozen=True, slots=True)
class StudySplits:
    """A strategy, and how many splits it makes."""

    split: str
    times: int
    seed: int


@dataclass(frozen=True, slots=True)
class StudySystem:
    """A system of a study, and what it is called there."""

    label: str
    name: str  # with settings
    seeds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FailedCell:
    """A cell that has no result, and why."""

    key: str
    system: str
    corpus: str
    split: str
    number: int
    seed: int
    status: str
    error: str

    def __str__(self) -> str:
        return f"{self.system} on split {self.number} of {self.corpus}, seed {self.seed}: {self.status} ({self.error})"


@dataclass(frozen=True, slots=True)
class TestSet:
    """A test part that was scored, by the hash of its labels."""

    __test__: ClassVar[bool] = False  # no class of tests

    name: str
    hash: str


@dataclass(frozen=True, slots=True)
class SystemRuns:
    """How many cells of a system were run, and what they took."""

    system: str
    done: int
    failed: int
    cpu_s: float  # mean per finished cell
    peak_mb: float  # of the largest


@dataclass(frozen=True, slots=True)
class RunOverview:
    """What the cells of a study took together."""

    cells: int
    done: int
    cpu_s: float
    wall_s: float  # of all cells one after the other
    peak_mb: float  # of the largest
    started: str  # of the first cell, in UTC; empty if there is none
    systems: tuple[SystemRuns, ...]


@dataclass(frozen=True, slots=True)
class Provenance:
    """What cells were run with."""

    host: str
    user: str
    platform: str
    processors: int
    versions: Mapping[str, str]  # of deadheat, python and packages
    revision: str = ""  # of the code around it
    changed: bool = False  # whether files differed from that revision


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StudyResult(Result):
    """What a study found, block by block, what was planned, and what was run."""

    kind: ClassVar[str] = "study"
    schema: ClassVar[int] = 2

    name: str
    blocks: tuple[StudyBlock, ...]
    metric_names: Mapping[str, str]  # what metrics are called in tables
    correction: str = "holm"
    alpha: float = 0.05
    verdict: Verdict = NO_CLAIMS
    scale: Scale = PERCENT
    comparisons: tuple[Comparison, ...] = ()  # over all corpora, one for each strategy that several of them share
    margin: float | None = None  # points within which systems are equal; None: the default
    hypothesis: str = ""  # stated before the study ran, as "A > B"
    corpora: tuple[StudyCorpus, ...] = ()
    strategies: tuple[StudySplits, ...] = ()
    systems: tuple[StudySystem, ...] = ()
    cells: int = 0  # of the plan
    missing: int = 0  # cells of the plan without a result
    damaged: tuple[str, ...] = ()  # keys of cells whose predictions are gone or changed; they are not compared
    failed: tuple[FailedCell, ...] = ()
    test_sets: tuple[TestSet, ...] = ()
    store: str = ""
    searches: tuple[SearchResult, ...] = ()
    finished: bool = True  # whether `deadheat run` came to its end
    keys: tuple[str, ...] = ()  # of the cells of the plan, searches not counted
    runs: RunOverview | None = None
    provenance: tuple[Provenance, ...] = ()
    repeated: Mapping[str, bool] = field(default_factory=dict)  # by system: the same predictions with the same seed?

    def metric_name(self, metric: str) -> str:
        """What a metric is called in tables."""
        return self.metric_names.get(metric, metric)

    @property
    def corpus_names(self) -> list[str]:
        """The corpora that have results."""
        return list(dict.fromkeys(block.corpus for block in self.blocks))

    @property
    def parts(self) -> list[str]:
        """The parts that are scored, test first."""
        parts = list(dict.fromkeys(block.part for block in self.blocks))
        return sorted(parts, key=lambda part: PARTS.index(part) if part in PARTS else len(PARTS))

    @property
    def failed_systems(self) -> list[FailedCell]:
        """The failed cells of systems; those of searches are counted in their results."""
        if not self.searches:
            return list(self.failed)
        labels = {system.label for system in self.systems}
        return [cell for cell in self.failed if cell.system in labels]

    def signature_parts(self) -> Iterable[str]:
        pairs = [pair for block in self.blocks for pair in block.pairs]
        yield from (f"study {self.name}", *dict.fromkeys(test for pair in pairs for test in pair.test.split("/")))
        if any(pair.overall.splits > 1 for pair in pairs):
            yield "corrected resampled t-test over splits"
        if pairs:
            yield from (self.correction, f"alpha {self.alpha:g}")


def ranking(blocks: Sequence[StudyBlock]) -> tuple[list[str], list[str]]:
    """Systems by their mean over blocks of one metric, the best first, and those that some block lacks."""
    means: dict[str, list[float]] = {}
    for block in blocks:
        for row in block.ranked:
            if not math.isnan(row.mean):
                means.setdefault(row.system, []).append(row.mean)
    whole = {system: math.fsum(rows) / len(rows) for system, rows in means.items() if len(rows) == len(blocks)}
    order = sorted(whole, key=lambda system: (-whole[system], system))
    return order, [system for system in means if system not in whole]
