"""What a search found: who won in which setup, what that is worth on test, and how far dev flattered it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deadheat.metrics import Metric
from deadheat.questions.contest import Settings, pair_p
from deadheat.questions.search_spread import Spread, spread_of
from deadheat.questions.tables import compare_scores
from deadheat.stats.corrections import correct
from deadheat.study.plan.cells import Cell
from deadheat.study.search.search import DEV, TEST, CorpusSplit, Pick, SearchOutcome, Values, mean_score
from deadheat.study.store.store import Store
from deadheat.text import pluralize

NONE = float("nan")
PERCENT = 100.0
FEWEST = 6  # data sets: with fewer, all may differ in the same direction by chance in more than 5 of 100 cases


@dataclass(frozen=True, slots=True)
class Winner:
    """The settings that won on one data set in one setup, and what became of them."""

    setup: str
    system: str
    settings: Mapping[str, Any]  # those that were searched
    among: int
    searched: float  # score of the search's networks on dev
    dev: float  # of the final network
    test: float

    @property
    def gap(self) -> float:
        """What test adds to the score on dev that was seen in the search."""
        return self.test - self.searched

    @property
    def optimism(self) -> float:
        """What dev says beyond test of the same, final network."""
        return self.dev - self.test

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "setup": self.setup, "system": self.system, "settings": dict(self.settings), "among": self.among,
            "searched": self.searched, "dev": self.dev, "test": self.test, "gap": self.gap, "optimism": self.optimism,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class DataSet:
    """One split of a corpus: the winner of every setup, and what tells the first two apart on test."""

    place: CorpusSplit
    winners: tuple[Winner, ...]
    spreads: tuple[Spread, ...]
    differing: int | None = None  # settings in which the winners differ; None of a single setup
    p: float = NONE  # of the difference on test, over its sentences; NaN where a winner has no score
    p_corrected: float = NONE

    def winner(self, setup: str) -> Winner | None:
        """The winner of a setup, if it has one."""
        return next((each for each in self.winners if each.setup == setup), None)

    def tested(self, setups: Sequence[str]) -> bool:
        """Whether the winners of all setups have a score on test."""
        winners = [self.winner(setup) for setup in setups]
        return all(each is not None and not np.isnan(each.test) for each in winners)

    def to_dict(self, numbers: Mapping[str, int]) -> dict[str, Any]:
        """Plain values, with the numbers of systems among those that were tried for their names."""
        return {
            "corpus": self.place.corpus, "split": self.place.split, "seed": self.place.split_seed,
            "number": self.place.number, "winners": [each.to_dict() for each in self.winners],
            "differing": self.differing, "p": self.p, "p_corrected": self.p_corrected,
            "spreads": [each.to_dict(numbers) for each in self.spreads],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Between:
    """Two setups over data sets: the mean difference of something, tested by swaps and by a paired bootstrap.

    The bootstrap is the paper's. On six data sets without a difference it finds one in 13 of 100 cases at alpha 0.05,
    on ten in 10, on twenty in 7; swaps in no more than 5.
    """

    what: str  # test, gap or optimism
    first: float  # mean of the first setup
    second: float
    difference: float
    p: float  # over swaps of the setups; NaN where there are too few data sets
    p_bootstrap: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        names = ("what", "first", "second", "difference", "p", "p_bootstrap")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found."""

    label: str
    metric: str
    setups: tuple[str, ...]
    varied: tuple[str, ...]
    tried: Mapping[str, Mapping[str, Any]]  # the settings that are searched, by the system that has them
    method: str
    seeds: tuple[int, ...]
    trained: int  # networks of the search
    failed: int  # of them
    looks: int  # networks that were scored on test
    setting: str  # the part that picked
    final: str
    alpha: float
    correction: str
    datasets: tuple[DataSet, ...]
    between: tuple[Between, ...]
    notes: tuple[str, ...] = ()
    tested: str = "winner"  # or all: who was looked at on test
    failed_finals: int = 0  # networks of winners, also those that are networks of the search
    keys: tuple[str, ...] = ()  # of all networks; for the store, which may hold others that are called the same

    @property
    def settings(self) -> int:
        """How many were tried."""
        return len(self.tried)

    def __str__(self) -> str:
        told = f"{self.label}: {pluralize(self.settings, 'setting')} on {pluralize(len(self.datasets), 'data set')}"
        return f"{told}, {pluralize(self.trained, 'network')}, {pluralize(self.looks, 'look')} at test"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        plain = ("label", "metric", "method", "settings", "trained", "failed", "failed_finals", "looks", "setting",
                 "final", "tested", "alpha", "correction")  # fmt: skip
        numbers = {system: number for number, system in enumerate(self.tried)}
        return {
            "kind": "search",
            **{name: getattr(self, name) for name in plain},
            "seeds": list(self.seeds),
            "setups": list(self.setups),
            "varied": list(self.varied),
            "tried": [{"system": system, "settings": dict(own)} for system, own in self.tried.items()],
            "datasets": [each.to_dict(numbers) for each in self.datasets],
            "between": [each.to_dict() for each in self.between],
            "notes": list(self.notes),
        }


def search_result(searched: SearchOutcome, store: Store, values: Values) -> SearchResult:
    """Read what a store holds of a search, and compare its setups."""
    search, entry = searched.search, searched.search.entry
    compared = search.plan.study.compare
    picks = {(pick.corpus_split, pick.setup): pick for pick in searched.picks}
    datasets = []
    for place in search.corpus_splits:
        own = [picks[place, setup] for setup in entry.setups if (place, setup) in picks]
        winners = tuple(_winner(pick, values, search.metric) for pick in own)
        spreads = tuple(spread_of(search, store, values, place, setup) for setup in entry.setups)
        differing, p = None, NONE
        if len(own) > 1:
            differing = sum(own[0].settings[name] != own[1].settings[name] for name in own[0].settings)
            if not any(np.isnan(winner.test) for winner in winners):
                p = _p(store, own[0].finals[0], own[1].finals[0], searched)
        datasets.append(DataSet(place, winners, spreads, differing, p))
    datasets = _corrected(datasets, compared.correction)
    looked = {cell.key for cell in searched.cells if TEST in cell.scored}
    there = {key for key, part, _ in values if part == TEST}
    first = {cell.key for cell in search.first_cells()}
    failures = set(store.failed())
    failed, finals = len(first & failures), {cell.key for pick in searched.picks for cell in pick.finals}
    notes = _notes(searched, datasets, failed, len(finals & failures))
    return SearchResult(
        search.label, search.metric.name, entry.setups, tuple(entry.space.varied), search.candidates, entry.method,
        tuple(search.seeds), len(first & {key for key, _, _ in values}), failed, len(looked & there), entry.setting,
        entry.final, compared.alpha, compared.correction, tuple(datasets), tuple(_between(datasets, entry.setups)),
        tuple(notes), tested=entry.tested, failed_finals=len(finals & failures),
        keys=tuple(dict.fromkeys(cell.key for cell in searched.cells)),
    )  # fmt: skip


def _winner(pick: Pick, values: Values, metric: Metric) -> Winner:
    scores = [
        mean_score(values, cells, part, metric)
        for cells, part in ((pick.networks, DEV), (pick.finals, DEV), (pick.finals, TEST))
    ]
    return Winner(pick.setup, pick.system, pick.settings, pick.among, *scores)


def _p(store: Store, first: Cell, second: Cell, searched: SearchOutcome) -> float:
    """A paired bootstrap over the sentences of test; 1 if it is one network."""
    metric = searched.search.metric
    if first.key == second.key:
        return 1.0
    counts = store.counts([first.key, second.key], part=TEST, metric=metric.name)
    alpha = searched.search.plan.study.compare.alpha
    return pair_p(counts[0], counts[1], metric.value, "bootstrap", Settings(alpha=alpha))[0]


def _corrected(datasets: Sequence[DataSet], correction: str) -> list[DataSet]:
    known = [each for each in datasets if not np.isnan(each.p)]
    corrected = iter(correct([each.p for each in known], correction)) if known else iter(())
    return [each if np.isnan(each.p) else replace(each, p_corrected=float(next(corrected))) for each in datasets]


def _between(datasets: Sequence[DataSet], setups: Sequence[str]) -> list[Between]:
    """The first two setups over data sets, by what their winners have on test, and by how dev and test differ."""
    if len(setups) < 2:
        return []
    pairs = [(each.winner(setups[0]), each.winner(setups[1])) for each in datasets]
    found = []
    for what in (TEST, "gap", "optimism"):
        both = [(getattr(a, what), getattr(b, what)) for a, b in pairs if a is not None and b is not None]
        known = PERCENT * np.array([each for each in both if not np.isnan(each).any()]).reshape(-1, 2)
        first, second = known.mean(axis=0) if len(known) else (NONE, NONE)
        found.append(Between(what, float(first), float(second), float(first - second), *_over_datasets(known)))
    return found


def _over_datasets(known_D2: np.ndarray[Any, Any]) -> tuple[float, float]:
    """By swaps, and by a paired bootstrap."""
    if len(known_D2) < FEWEST:
        return NONE, NONE
    if not np.any(known_D2[:, 0] != known_D2[:, 1]):
        return 1.0, 1.0
    table = {name: {str(i): float(f"{x:.8f}") for i, x in enumerate(known_D2[:, at])} for at, name in enumerate("ab")}
    by_swaps, by_draws = (compare_scores(table, settings=Settings(test=test)).pairs[0].p for test in ("", "bootstrap"))
    return by_swaps, by_draws


def _notes(searched: SearchOutcome, datasets: Sequence[DataSet], failed: int, failed_finals: int) -> list[str]:
    entry = searched.search.entry
    notes = []
    if failed:
        notes.append(f"{pluralize(failed, 'network')} of the search failed, and settings of theirs are left out there")
    lacking = sum(len(each.winners) < len(entry.setups) for each in datasets)
    if lacking:
        told = f"{pluralize(lacking, 'data set')} without a winner in every setup"
        notes.append(f"{told}: no network of theirs has a score")
    if failed_finals:
        without = sum(any(np.isnan(winner.test) for winner in each.winners) for each in datasets)
        lack = f"{pluralize(without, 'data set')} {'lacks' if without == 1 else 'lack'} a score on test"
        notes.append(f"{pluralize(failed_finals, 'final network')} failed: {lack}")
    tested = sum(each.tested(entry.setups) for each in datasets)
    if len(entry.setups) > 1 and tested < FEWEST:
        told = pluralize(tested, "data set") + (
            "" if tested == len(datasets) else " with scores of both setups on test"
        )
        notes.append(f"{told}; expected {FEWEST} or more for a test over data sets")
    if DEV in entry.setups:
        notes.append("dev picked epochs and settings in setup dev: its scores on dev are too good to compare by")
    if entry.final == "train+tune" and "tune" in entry.setups:
        notes.append("winners of setup tune learned from tune as well at the end: their gap is also what that is worth")
    return notes
