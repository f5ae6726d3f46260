"""A search over the settings of a system: what is trained first, which settings win, and what is trained last.

A *setup* is what picks epochs. By `tune`: networks learn from train, tune picks the epoch, and dev, which training has
not seen, the settings. By `dev`, as is common: networks learn from train and tune, and dev picks both (van der Goot
2021). Winners are trained once more, and only they are looked at on test.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from deadheat.errors import Fault, InputError, StudyError
from deadheat.metrics import Metric
from deadheat.study.cells import Cell
from deadheat.study.config import SearchEntry
from deadheat.study.places import line_of
from deadheat.study.plan import Plan
from deadheat.study.space import Settings
from deadheat.systems import SYSTEMS

TUNE, DEV, TEST, BOTH = "tune", "dev", "test", "train+tune"
Values = Mapping[tuple[str, str, str], float]  # scores by the key of a cell, part and metric
Round = tuple["Place", str]  # a split in a setup
Tried = Mapping[Round, Mapping[str, Settings]]  # settings by system


@dataclass(frozen=True, slots=True)
class Place:
    """A split of a corpus, on which settings win or lose."""

    corpus: str
    split: str
    split_seed: int
    number: int

    def __str__(self) -> str:
        return f"{self.corpus}, {self.split.partition('.v')[0]} {self.number}"


@dataclass(frozen=True, slots=True, eq=False)
class Pick:
    """The settings that won on a split in a setup: the mean score of their networks on the part that picked them."""

    place: Place
    setup: str
    system: str  # with all its settings
    settings: Settings  # those that were searched
    score: float
    among: int  # how many had a score
    networks: tuple[Cell, ...]  # of the search
    finals: tuple[Cell, ...]


@dataclass(frozen=True, eq=False)
class Search:
    """One search of a study."""

    plan: Plan
    entry: SearchEntry
    tried: Tried | None = None  # where that is not known beforehand

    @property
    def label(self) -> str:
        """What the system is called in tables."""
        return self.entry.label or SYSTEMS.make(next(iter(self.candidates))).name.partition(".v")[0]

    @cached_property
    def candidates(self) -> dict[str, Settings]:
        """Settings by the name of the system that has them, in the order in which ties are decided."""
        if self.tried is not None:
            return {system: settings for own in self.tried.values() for system, settings in own.items()}
        space = self.entry.space  # of one that Optuna drives, settings as it might try them
        drawn = space.all() if self.entry.method == "grid" else space.drawn(self.entry.samples, self.entry.seed)
        return dict(self.named(settings) for settings in drawn)

    def candidates_of(self, place: Place, setup: str) -> Mapping[str, Settings]:
        """Those that were tried on one split in one setup."""
        return self.candidates if self.tried is None else self.tried[place, setup]

    def named(self, settings: Settings) -> tuple[str, Settings]:
        """The system with these settings, and those of them that are searched."""
        searched = {name: settings[name] for name in self.entry.space.varied}
        return SYSTEMS.make(self.entry.system, **settings).name, searched

    @property
    def places(self) -> list[Place]:
        """Every split of every corpus."""
        return [
            Place(corpus, strategy.name, seed, number)
            for corpus in self.plan.materials
            for strategy, times, seed in self.plan.strategies_of(corpus)
            for number in range(times)
        ]

    @cached_property
    def seeds(self) -> list[int]:
        """Of every network; one where the seed changes nothing."""
        made = SYSTEMS.make(next(iter(self.candidates)))
        return self.plan.study.seeds_of(self.entry) if made.seeded else [0]

    @cached_property
    def metric(self) -> Metric:
        """What picks: the one that is named, or the first of the system's."""
        known = self.plan.metrics_of(next(iter(self.candidates)))
        wanted = self.entry.metric
        found = [each for each in known if not wanted or wanted.lower() in (each.name, each.base)]
        if not found:
            raise InputError(f"search: metric {wanted!r} picks; the study has {', '.join(each.name for each in known)}")
        return found[0]

    def cells(self, place: Place, setup: str, system: str) -> list[Cell]:
        """The networks of some settings, as they are before anything is picked."""
        scored = ((TUNE, DEV) if setup == TUNE else (DEV,)) + ((TEST,) if self.entry.tested == "all" else ())
        return self._cells(place, system, learned="" if setup == TUNE else BOTH, tune=setup, scored=scored)

    def first_cells(self) -> list[Cell]:
        """All networks that are trained before anything is picked."""
        return [cell for place, setup in self.rounds for cell in self.cells_of(place, setup)]

    def cells_of(self, place: Place, setup: str) -> list[Cell]:
        """Those of one split in one setup."""
        return [cell for system in self.candidates_of(place, setup) for cell in self.cells(place, setup, system)]

    def final_cells(self, place: Place, setup: str, system: str) -> list[Cell]:
        """The networks of a winner, which are looked at on test.

        They are networks of their own, also where they learn as those of the search did: what was picked by must stay
        as it was, and on an accelerator a network that is trained again is not the same to the last digit. If all
        networks of the search were looked at on test, those among them that learned in this way are the final ones.
        """
        by_tune = setup == TUNE and self.entry.final != BOTH
        among = by_tune or setup == DEV or (DEV in self.entry.setups and self.entry.method != "optuna")
        final = not (among and self.entry.tested == "all")
        if by_tune:
            return self._cells(place, system, learned="", tune=TUNE, scored=(TUNE, DEV, TEST), final=final)
        return self._cells(place, system, learned=BOTH, tune=DEV, scored=(DEV, TEST), final=final)

    @property
    def rounds(self) -> list[Round]:
        """Every split in every setup: each has a winner of its own."""
        return [(place, setup) for place in self.places for setup in self.entry.setups]

    def stand_ins(self, rounds: Sequence[Round] | None = None) -> list[Cell]:
        """As many final networks as may be trained at most, of some rounds or of all: two may have the same winner.

        A network of the search that was looked at already is not trained again.
        """
        names = list(self.candidates)
        found: dict[Cell, None] = {}
        for place, setup in self.rounds if rounds is None else rounds:
            system = names[self.entry.setups.index(setup) % len(names)]
            found |= dict.fromkeys(each for each in self.final_cells(place, setup, system) if each.final)
        return list(found)

    def scores(self, values: Values, place: Place, setup: str, part: str) -> dict[str, float]:
        """The mean over seeds of every candidate on a part; NaN where a network has no score."""
        found = {}
        for system in self.candidates_of(place, setup):
            cells = self.cells(place, setup, system)
            found[system] = mean_score(values, cells, part, self.metric)
        return found

    def pick(self, values: Values, place: Place, setup: str) -> Pick | None:
        """The best settings; the first of them where several are; None if no network has a score."""
        scores = {
            system: score
            for system, score in self.scores(values, place, setup, self.entry.setting).items()
            if not math.isnan(score)
        }
        if not scores:
            return None
        system = max(scores, key=scores.__getitem__)
        networks, finals = self.cells(place, setup, system), self.final_cells(place, setup, system)
        return Pick(
            place, setup, system, self.candidates[system], scores[system], len(scores), tuple(networks), tuple(finals)
        )

    def picks(self, values: Values) -> list[Pick]:
        """Who won, on every split and in every setup."""
        found = [self.pick(values, place, setup) for place, setup in self.rounds]
        return [each for each in found if each is not None]

    def having(self, tried: Tried) -> Search:
        """The same search with the settings that were tried."""
        return replace(self, tried=tried)

    def check(self) -> None:
        """Refuse what cannot be searched so."""
        if self.entry.setting == TUNE and DEV in self.entry.setups:
            raise InputError('search: setting = "tune" picks by what was learned from; expected epoch = "tune"')
        if self.entry.method == "optuna":
            from deadheat.study.optuna_search import check_installed

            check_installed(self.entry)
        for place in self.places:
            if place.number:
                continue
            cell = self._cells(place, "", learned="", tune="", scored=())[0]
            parts = self.plan.partition(cell).parts
            missing = [part for part in ("train", TUNE, DEV, TEST) if part not in parts]
            if missing:
                told = f"search: {place} has no part {missing[0]}; it has {', '.join(parts)}"
                raise InputError(f"{told}; expected sizes of train, tune, dev and test")
        _ = self.metric

    def _cells(
        self, place: Place, system: str, *, learned: str, tune: str, scored: tuple[str, ...], final: bool = False
    ) -> list[Cell]:
        where = (place.corpus, self.plan.hashes[place.corpus], place.split, place.split_seed, place.number)
        seeds: Sequence[int] = self.seeds if system else [0]
        vectors = self.plan.vectors_of(system)
        return [Cell(*where, system, seed, tune, learned, scored, vectors, final) for seed in seeds]


def mean_score(values: Values, cells: Sequence[Cell], part: str, metric: Metric) -> float:
    """The mean of some networks on a part; NaN where one has no score."""
    own = [values.get((cell.key, part, metric.name), math.nan) for cell in cells]
    return sum(own) / len(own)


def searches_of(plan: Plan) -> list[Search]:
    """The searches of a study, if they can be made."""
    found = [Search(plan, entry) for entry in plan.study.search]
    for at, search in enumerate(found):
        try:
            search.check()
        except InputError as error:
            raise StudyError([Fault(str(plan.path), line_of(plan.text, ["search", at]), str(error))]) from error
    return found


def tested_cells(searches: Sequence[Search]) -> list[Cell]:
    """Networks of searches that would be looked at on test: as many as there may be, not those that there will be."""
    found = []
    for search in searches:
        found += [cell for cell in search.first_cells() if TEST in cell.scored]
        found += search.stand_ins()
    return found
