"""Searches over the settings of a system: which settings won, and what they are worth on test."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

from deadheat.results.base import Result
from deadheat.results.format import PERCENT, Scale
from deadheat.results.verdict import NO_CLAIMS, Verdict

TUNE, DEV, TEST, TRAIN_AND_TUNE = "tune", "dev", "test", "train+tune"
NAN = math.nan


@dataclass(frozen=True, slots=True)
class Candidate:
    """Settings that were tried, and the system that has them."""

    system: str  # its name with all settings
    settings: Mapping[str, str]  # those that were searched


@dataclass(frozen=True, slots=True)
class Winner:
    """The settings that won on one data set in one setup, and how their final network scores."""

    setup: str
    system: str
    settings: Mapping[str, str]
    candidates: int  # settings that had a score
    search_dev: float  # mean score of the networks of the search on dev
    dev: float  # of the final network
    test: float

    @property
    def gap(self) -> float:
        """Test score of the final network minus the dev score in the search."""
        return self.test - self.search_dev

    @property
    def optimism(self) -> float:
        """Dev score minus test score of the final network."""
        return self.dev - self.test


@dataclass(frozen=True, slots=True)
class SettingScores:
    """The scores of all settings on one data set in one setup, each the mean over its seeds."""

    setup: str
    candidates: tuple[int, ...]  # indices of those that have scores
    dev: tuple[float, ...]
    test: tuple[float, ...]  # empty where only winners were tested
    wins_again: float  # chance that another sample of the selection part picks the same settings
    wins_test: float  # chance that the settings that win are also the best on test, both parts sampled anew
    best_on_test: bool | None  # whether no setting does better on test than the winner
    rho: float  # Spearman's correlation of dev and test


@dataclass(frozen=True, slots=True)
class SearchDataset:
    """One split of a corpus: the winner of every setup, and the test of the first two on the test part."""

    name: str  # the corpus, with its split where there are several
    corpus: str
    split: str
    split_seed: int
    number: int
    winners: tuple[Winner, ...]
    scores: tuple[SettingScores, ...]
    differing: int | None = None  # settings in which the winners differ; None for a single setup
    p: float = NAN  # of the difference on test, over its sentences
    p_corrected: float = NAN

    def winner(self, setup: str) -> Winner | None:
        """The winner of a setup, if it has one."""
        return next((winner for winner in self.winners if winner.setup == setup), None)

    def value(self, setup: str, quantity: str) -> float:
        """A score or a difference of the winner of a setup: search_dev, dev, test, gap or optimism."""
        winner = self.winner(setup)
        return NAN if winner is None else float(getattr(winner, quantity))

    def has(self, setups: Sequence[str], quantity: str) -> bool:
        """Whether the winners of all setups have a quantity."""
        return not any(math.isnan(self.value(setup, quantity)) for setup in setups)


@dataclass(frozen=True, slots=True)
class SetupDifference:
    """Two setups over data sets: means and mean difference, tested by permutation and by a paired bootstrap.

    The bootstrap is that of van der Goot (2021). On six data sets without a difference it finds one in 13 of 100 cases
    at alpha 0.05, on ten in 10, on twenty in 7; the permutation test in no more than 5.
    """

    quantity: str  # test, gap or optimism
    first: float
    second: float
    difference: float
    datasets: int
    p: float  # of the permutation test; NaN where there are too few data sets
    p_bootstrap: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SearchResult(Result):
    """What a search found: the settings that won, their scores on test, and how far dev was from test."""

    kind: ClassVar[str] = "search"

    system: str  # what it is called in the study
    metric: str
    metric_name: str
    method: str  # grid, random or optuna
    setups: tuple[str, ...]  # what picks epochs: tune, dev or both
    varied: tuple[str, ...]  # names of the settings that were searched
    candidates: tuple[Candidate, ...]
    seeds: tuple[int, ...]
    trained: int  # networks of the search
    failed: int  # networks of the search
    failed_finals: int  # networks of winners
    tested_networks: int  # networks that were scored on test
    selected_on: str  # the part that picked settings
    final: str  # what winners of setup tune learn from at the end
    all_tested: bool  # whether all networks were scored on test, not only those of winners
    alpha: float
    correction: str
    datasets: tuple[SearchDataset, ...]
    differences: tuple[SetupDifference, ...]
    verdict: Verdict = NO_CLAIMS
    scale: Scale = PERCENT
    keys: tuple[str, ...] = ()  # of all its cells in the store

    @property
    def run_label(self) -> str:
        """What its networks are called among the runs of a study."""
        return f"{self.system}, searched"

    @property
    def has_winners(self) -> bool:
        return any(dataset.winners for dataset in self.datasets)

    @property
    def tested(self) -> tuple[SearchDataset, ...]:
        """The data sets on which the winners of all setups have a score on test."""
        return tuple(dataset for dataset in self.datasets if dataset.has(self.setups, TEST))

    @property
    def compared(self) -> tuple[SearchDataset, ...]:
        """The data sets on which the setups were tested against each other."""
        return tuple(dataset for dataset in self.datasets if not math.isnan(dataset.p))

    def mean(self, setup: str, quantity: str, datasets: Sequence[SearchDataset] = ()) -> float:
        """The mean of a quantity over the data sets (all by default) on which the winners of all setups have it."""
        values = [row.value(setup, quantity) for row in datasets or self.datasets if row.has(self.setups, quantity)]
        return fmean(values) if values else NAN

    def difference(self, quantity: str) -> SetupDifference | None:
        """How two setups differ in a quantity over data sets."""
        return next((row for row in self.differences if row.quantity == quantity), None)

    def significant(self) -> tuple[int, int]:
        """On how many data sets the setups differ significantly on test: before and after correction."""
        compared = self.compared
        after = sum(dataset.p_corrected <= self.alpha for dataset in compared)
        return sum(dataset.p <= self.alpha for dataset in compared), after

    @property
    def adds_tune(self) -> bool:
        """Whether final networks of setup tune learn from tune as well."""
        return TUNE in self.setups and self.final == TRAIN_AND_TUNE

    @property
    def retrained(self) -> tuple[str, ...]:
        """The setups whose winners were trained once more; final networks of the others are networks of the search."""
        if not self.has_winners:
            return ()
        if not self.all_tested:
            return self.setups
        shared = DEV in self.setups and self.method != "optuna"  # which may have tried others there
        return (TUNE,) if self.adds_tune and not shared else ()

    def signature_parts(self) -> Iterable[str]:
        yield f"search of {self.system}, {self.method}, {len(self.candidates)} settings"
        yield from (f"{self.metric} on {self.selected_on}", f"epochs by {' and '.join(self.setups)}")
        yield f"seeds {' '.join(map(str, self.seeds))}"
        if len(self.setups) > 1:
            yield from ("paired bootstrap over sentences", self.correction, f"alpha {self.alpha:g}")
