"""A search over the settings of a system: what is trained first, which settings win, and what is trained last.

A *setup* is what picks epochs. By `tune`: networks learn from train, tune picks the epoch, and dev, which training has
not seen, the settings. By `dev`, as is common: networks learn from train and tune, and dev picks both (van der Goot
2021). Winners are trained once more, and only they are looked at on test.
"""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any

from deadheat.errors import Fault, InputError, StudyError
from deadheat.metrics import Metric
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.plan import Plan
from deadheat.study.plan.study_file import SearchEntry, line_of
from deadheat.study.search.space import Settings
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


Run = Callable[[Sequence[Cell]], None]  # train what is not there yet
Read = Callable[[], Values]
Missing = Callable[[Sequence[Cell]], list[Cell]]  # those of some networks that are not there yet


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """A search that has come to its end, with the settings that were tried and those that won."""

    search: Search
    picks: tuple[Pick, ...]

    @property
    def cells(self) -> list[Cell]:
        """All networks of the search and of its winners."""
        return [*self.search.first_cells(), *(cell for pick in self.picks for cell in pick.finals)]


def run_search(search: Search, run: Run, read: Read) -> Searched:
    """Train, pick, and train the winners; what is there already is not trained again."""
    if search.entry.method == "optuna":
        search = run_trials(search, run, read)
    else:
        run(search.first_cells())
    picks = search.picks(read())
    run(list(dict.fromkeys(cell for pick in picks for cell in pick.finals)))
    return Searched(search, tuple(picks))


def waiting(search: Search, missing: Missing, read: Read) -> tuple[list[Cell], list[Cell]]:
    """What a run would train now: networks of the search, and final ones.

    Of the final ones it is as many as there may be where networks are missing, and winners not known.
    """
    found: list[list[Cell]] = []
    searched = run_search(search, lambda cells: found.append(missing(cells)), read)
    lacking = {cell.key: cell for own in found[:-1] for cell in own}
    undecided = [
        (place, setup)
        for place, setup in search.rounds
        if any(cell.key in lacking for cell in searched.search.cells_of(place, setup))
    ]
    known = [pick for pick in searched.picks if (pick.place, pick.setup) not in undecided]
    won = missing(list(dict.fromkeys(cell for pick in known for cell in pick.finals)))
    finals = [cell for cell in won if cell.key not in lacking]
    return list(lacking.values()), [*finals, *search.stand_ins(undecided)]


SAMPLERS = {"tpe": "TPESampler", "random": "RandomSampler", "cmaes": "CmaEsSampler", "gp": "GPSampler",
            "qmc": "QMCSampler"}  # fmt: skip
PRUNERS = {"none": "NopPruner", "median": "MedianPruner", "halving": "SuccessiveHalvingPruner",
           "hyperband": "HyperbandPruner"}  # fmt: skip
NEEDED = {"cmaes": "cmaes", "gp": "torch"}  # by samplers, besides Optuna


def check_installed(entry: SearchEntry) -> None:
    """Refuse a search whose programs are not there."""
    if find_spec("optuna") is None:
        raise InputError('search: method = "optuna" needs Optuna; expected pip install "deadheat[search]"')
    needed = NEEDED.get(entry.sampler)
    if needed is not None and find_spec(needed) is None:
        raise InputError(f'search: sampler = "{entry.sampler}" needs {needed}; expected pip install {needed}')


def optuna() -> Any:
    """Optuna, which does not tell of every trial."""
    found = importlib.import_module("optuna")
    found.logging.set_verbosity(found.logging.ERROR)
    return found


def run_trials(search: Search, run: Run, read: Read) -> Search:
    """Let Optuna try as many settings as the search may, on every split and in every setup."""
    return search.having({(place, setup): _trials(search, run, read, place, setup) for place, setup in search.rounds})


def _trials(search: Search, run: Run, read: Read, place: Place, setup: str) -> dict[str, Settings]:
    entry, library = search.entry, optuna()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", library.exceptions.ExperimentalWarning)
        sampler = getattr(library.samplers, SAMPLERS[entry.sampler])(seed=entry.seed)
    pruner = getattr(library.pruners, PRUNERS[entry.pruner])()
    study = library.create_study(direction="maximize", sampler=sampler, pruner=pruner)
    tried: dict[str, Settings] = {}
    for _ in range(entry.samples):
        trial = study.ask()
        system, settings = search.named(_suggested(search, trial))
        tried[system] = settings
        one = search.having({(place, setup): {system: settings}})
        scores: list[float] = []
        for step, cell in enumerate(one.cells(place, setup, system)):
            run([cell])
            scores.append(read().get((cell.key, entry.setting, one.metric.name), math.nan))
            trial.report(sum(scores) / len(scores), step)
            if trial.should_prune():
                break
        mean = sum(scores) / len(scores)
        if math.isnan(mean):
            study.tell(trial, state=library.trial.TrialState.FAIL)
        elif len(scores) < len(search.seeds):
            study.tell(trial, state=library.trial.TrialState.PRUNED)
        else:
            study.tell(trial, mean)
    return tried


def _suggested(search: Search, trial: Any) -> Settings:
    space = search.entry.space
    made: Settings = {}
    for name, value in space.given.items():
        if name in space.ranges:
            own = space.ranges[name]
            suggest = trial.suggest_int if own.whole else trial.suggest_float
            made[name] = suggest(name, own.low, own.high, log=own.log)
        else:
            made[name] = trial.suggest_categorical(name, value) if isinstance(value, list) else value
    return made
