"""A search over the settings of a system: which networks are trained, which settings win, and the final networks.

A *setup* is the part that selects epochs. With `tune`, networks are trained on train, tune selects the epoch, and dev,
which training has not seen, the settings. With `dev`, as is common, networks are trained on train and tune, and dev
selects both (van der Goot 2021). Winners are trained again, and only they are evaluated on test.
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
from deadheat.registry import base_name
from deadheat.study.plan.cells import Cell, CorpusSplit
from deadheat.study.plan.entries import SearchEntry
from deadheat.study.plan.plan import Plan
from deadheat.study.plan.toml_lines import line_of
from deadheat.study.search.space import Settings
from deadheat.systems import SYSTEMS

TUNE, DEV, TEST, BOTH = "tune", "dev", "test", "train+tune"
SAMPLERS = {"tpe": "TPESampler", "random": "RandomSampler", "cmaes": "CmaEsSampler", "gp": "GPSampler",
            "qmc": "QMCSampler"}  # fmt: skip
PRUNERS = {"none": "NopPruner", "median": "MedianPruner", "halving": "SuccessiveHalvingPruner",
           "hyperband": "HyperbandPruner"}  # fmt: skip
NEEDED = {"cmaes": "cmaes", "gp": "torch"}  # packages besides Optuna, by sampler

Values = Mapping[tuple[str, str, str], float]  # scores by cell key, part and metric
Round = tuple[CorpusSplit, str]  # a split in a setup; each has its own winner
Trials = Mapping[Round, Mapping[str, Settings]]  # settings by system
RunCells = Callable[[Sequence[Cell]], None]  # trains the missing ones
ReadValues = Callable[[], Values]
FindMissing = Callable[[Sequence[Cell]], list[Cell]]


@dataclass(frozen=True, slots=True, eq=False)
class Pick:
    """The settings that won on a split in a setup."""

    corpus_split: CorpusSplit
    setup: str
    system: str  # with all its settings
    settings: Settings  # those that were searched
    score: float  # the mean of its networks on the part that selects
    among: int  # how many had a score
    networks: tuple[Cell, ...]  # of the search
    finals: tuple[Cell, ...]


@dataclass(frozen=True, eq=False)
class Search:
    """One search of a study."""

    plan: Plan
    entry: SearchEntry
    trials: Trials | None = None  # if the settings are not known beforehand

    @property
    def label(self) -> str:
        """The name of the system in tables."""
        return self.entry.label or base_name(next(iter(self.candidates)))

    @cached_property
    def candidates(self) -> dict[str, Settings]:
        """Settings by the name of the system with these settings; ties go to the first."""
        if self.trials is not None:
            return {system: settings for trials in self.trials.values() for system, settings in trials.items()}
        space = self.entry.space  # with Optuna, settings that it might try
        chosen = space.all() if self.entry.method == "grid" else space.sample(self.entry.samples, self.entry.seed)
        return dict(self.system_with(settings) for settings in chosen)

    def candidates_of(self, split: CorpusSplit, setup: str) -> Mapping[str, Settings]:
        """The candidates on one split in one setup."""
        return self.candidates if self.trials is None else self.trials[split, setup]

    def system_with(self, settings: Settings) -> tuple[str, Settings]:
        """The name of the system with these settings, and those of them that are searched."""
        searched = {name: settings[name] for name in self.entry.space.varied}
        return self.plan.system(self.entry.system, settings).name, searched

    @property
    def rounds(self) -> list[Round]:
        """Every split in every setup."""
        return [(split, setup) for split in self.plan.corpus_splits for setup in self.entry.setups]

    @cached_property
    def seeds(self) -> list[int]:
        """The seeds of every network; one if the seed has no effect."""
        system = SYSTEMS.make(next(iter(self.candidates)))
        return self.plan.study.seeds_of(self.entry) if system.seeded else [0]

    @cached_property
    def metric(self) -> Metric:
        """The metric that selects: the named one, or the first of the system's."""
        metrics = self.plan.metrics_of(next(iter(self.candidates)))
        name = self.entry.metric
        matching = [metric for metric in metrics if not name or metric.is_called(name)]
        if not matching:
            names = ", ".join(metric.name for metric in metrics)
            raise InputError(f"search: metric {name!r} is not in the study; the study has {names}")
        return matching[0]

    def cells(self, split: CorpusSplit, setup: str, system: str) -> list[Cell]:
        """The networks of a candidate, one per seed."""
        scored = ((TUNE, DEV) if setup == TUNE else (DEV,)) + ((TEST,) if self.entry.tested == "all" else ())
        return self._cells(split, system, learned="" if setup == TUNE else BOTH, tune=setup, scored=scored)

    def cells_of(self, split: CorpusSplit, setup: str) -> list[Cell]:
        """The networks of one round."""
        return [cell for system in self.candidates_of(split, setup) for cell in self.cells(split, setup, system)]

    def first_cells(self) -> list[Cell]:
        """All networks that are trained before a winner is selected."""
        return [cell for split, setup in self.rounds for cell in self.cells_of(split, setup)]

    def final_cells(self, split: CorpusSplit, setup: str, system: str) -> list[Cell]:
        """The networks of a winner, which are evaluated on test.

        They are trained anew even if the search has trained the same: the scores that selected them must not change,
        and on an accelerator a second training differs in the last digits. If all networks of the search are tested,
        those of them that were trained in this way are the final ones.
        """
        by_tune = setup == TUNE and self.entry.final != BOTH
        in_search = by_tune or setup == DEV or (DEV in self.entry.setups and self.entry.method != "optuna")
        final = not (in_search and self.entry.tested == "all")
        if by_tune:
            return self._cells(split, system, learned="", tune=TUNE, scored=(TUNE, DEV, TEST), final=final)
        return self._cells(split, system, learned=BOTH, tune=DEV, scored=(DEV, TEST), final=final)

    def possible_finals(self, rounds: Sequence[Round] | None = None) -> list[Cell]:
        """The largest possible number of final networks, of some rounds or of all; two may have the same winner.

        Networks of the search that are tested already are not trained again.
        """
        names = list(self.candidates)
        cells: dict[Cell, None] = {}
        for split, setup in self.rounds if rounds is None else rounds:
            system = names[self.entry.setups.index(setup) % len(names)]
            cells |= dict.fromkeys(cell for cell in self.final_cells(split, setup, system) if cell.final)
        return list(cells)

    def scores(self, values: Values, split: CorpusSplit, setup: str, part: str) -> dict[str, float]:
        """The mean over seeds of every candidate on a part; NaN if a network has no score."""
        return {
            system: mean_score(values, self.cells(split, setup, system), part, self.metric)
            for system in self.candidates_of(split, setup)
        }

    def pick(self, values: Values, split: CorpusSplit, setup: str) -> Pick | None:
        """The best settings, the first of them if tied; None if no candidate has a score."""
        all_scores = self.scores(values, split, setup, self.entry.setting)
        scores = {system: score for system, score in all_scores.items() if not math.isnan(score)}
        if not scores:
            return None
        system = max(scores, key=scores.__getitem__)
        networks, finals = self.cells(split, setup, system), self.final_cells(split, setup, system)
        winner = (system, self.candidates[system], scores[system])
        return Pick(split, setup, *winner, len(scores), tuple(networks), tuple(finals))

    def picks(self, values: Values) -> list[Pick]:
        """The winners of all rounds."""
        return [pick for split, setup in self.rounds if (pick := self.pick(values, split, setup)) is not None]

    def check(self) -> None:
        """Refuse a search that cannot be run."""
        if self.entry.setting == TUNE and DEV in self.entry.setups:
            raise InputError('search: setting = "tune" selects on training data; expected epoch = "tune"')
        if self.entry.method == "optuna":
            _check_optuna(self.entry)
        for split in self.plan.corpus_splits:
            if split.number:
                continue
            parts = self.plan.partition(split).parts
            missing = [part for part in ("train", TUNE, DEV, TEST) if part not in parts]
            if missing:
                problem = f"search: {split} has no part {missing[0]}; it has {', '.join(parts)}"
                raise InputError(f"{problem}; expected sizes of train, tune, dev and test")
        _ = self.metric

    def _cells(self, split: CorpusSplit, system: str, **setup: Any) -> list[Cell]:
        vectors = self.plan.vectors_of(system)
        return [self.plan.cell(split, system, seed, vectors=vectors, **setup) for seed in self.seeds]


@dataclass(frozen=True, slots=True, eq=False)
class SearchOutcome:
    """A finished search, with the settings that were tried and those that won."""

    search: Search
    picks: tuple[Pick, ...]

    @property
    def cells(self) -> list[Cell]:
        """All networks of the search and of its winners."""
        return [*self.search.first_cells(), *self.finals]

    @property
    def finals(self) -> list[Cell]:
        """The networks of the winners, each once."""
        return list(dict.fromkeys(cell for pick in self.picks for cell in pick.finals))


def mean_score(values: Values, cells: Sequence[Cell], part: str, metric: Metric) -> float:
    """The mean score of some networks on a part; NaN if one has no score."""
    scores = [values.get((cell.key, part, metric.name), math.nan) for cell in cells]
    return sum(scores) / len(scores)


def searches_of(plan: Plan) -> list[Search]:
    """The searches of a study, checked."""
    searches = [Search(plan, entry) for entry in plan.study.search]
    for i, search in enumerate(searches):
        try:
            search.check()
        except InputError as error:
            raise StudyError([Fault(str(plan.path), line_of(plan.text, ["search", i]), str(error))]) from error
    return searches


def tested_cells(searches: Sequence[Search]) -> list[Cell]:
    """The largest possible number of networks of searches that are evaluated on test."""
    cells = []
    for search in searches:
        cells += [cell for cell in search.first_cells() if TEST in cell.scored]
        cells += search.possible_finals()
    return cells


def run_search(search: Search, run: RunCells, read: ReadValues) -> SearchOutcome:
    """Train candidates, select winners, and train these; stored networks are not trained again."""
    if search.entry.method == "optuna":
        search = replace(
            search,
            trials={(split, setup): _run_trials(search, run, read, split, setup) for split, setup in search.rounds},
        )
    else:
        run(search.first_cells())
    outcome = SearchOutcome(search, tuple(search.picks(read())))
    run(outcome.finals)
    return outcome


def pending_cells(search: Search, find_missing: FindMissing, read: ReadValues) -> tuple[list[Cell], list[Cell]]:
    """What a run would train now: networks of the search, and final ones.

    While winners are unknown, it is the largest possible number of final ones.
    """
    batches: list[list[Cell]] = []
    outcome = run_search(search, lambda cells: batches.append(find_missing(cells)), read)
    missing = {cell.key: cell for batch in batches[:-1] for cell in batch}
    undecided = [
        (split, setup)
        for split, setup in search.rounds
        if any(cell.key in missing for cell in outcome.search.cells_of(split, setup))
    ]
    decided = [pick for pick in outcome.picks if (pick.corpus_split, pick.setup) not in undecided]
    finals = find_missing(list(dict.fromkeys(cell for pick in decided for cell in pick.finals)))
    finals = [cell for cell in finals if cell.key not in missing]
    return list(missing.values()), [*finals, *search.possible_finals(undecided)]


def _check_optuna(entry: SearchEntry) -> None:
    """Refuse a search whose packages are not installed."""
    if find_spec("optuna") is None:
        raise InputError('search: method = "optuna" needs Optuna; expected pip install "deadheat[search]"')
    needed = NEEDED.get(entry.sampler)
    if needed is not None and find_spec(needed) is None:
        raise InputError(f'search: sampler = "{entry.sampler}" needs {needed}; expected pip install {needed}')


def import_optuna() -> Any:
    """Optuna, without its messages about every trial."""
    optuna = importlib.import_module("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _run_trials(search: Search, run: RunCells, read: ReadValues, split: CorpusSplit, setup: str) -> dict[str, Settings]:
    """Run an Optuna study of its own for one round; its pruner may stop after each seed.

    Networks and scores are in the store as those of any search. With the same seed and the same scores Optuna suggests
    the same settings, so a stopped search continues where it was.
    """
    entry, optuna = search.entry, import_optuna()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = getattr(optuna.samplers, SAMPLERS[entry.sampler])(seed=entry.seed)
    pruner = getattr(optuna.pruners, PRUNERS[entry.pruner])()
    study = optuna.create_study(direction="maximize", sampler=sampler, pruner=pruner)
    trials: dict[str, Settings] = {}
    for _ in range(entry.samples):
        trial = study.ask()
        system, settings = search.system_with(_suggest_settings(search, trial))
        trials[system] = settings
        one = replace(search, trials={(split, setup): {system: settings}})
        scores: list[float] = []
        for step, cell in enumerate(one.cells(split, setup, system)):
            run([cell])
            scores.append(read().get((cell.key, entry.setting, one.metric.name), math.nan))
            trial.report(sum(scores) / len(scores), step)
            if trial.should_prune():
                break
        mean = sum(scores) / len(scores)
        if math.isnan(mean):
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        elif len(scores) < len(search.seeds):
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        else:
            study.tell(trial, mean)
    return trials


def _suggest_settings(search: Search, trial: Any) -> Settings:
    space = search.entry.space
    settings: Settings = {}
    for name, value in space.settings.items():
        if name in space.ranges:
            interval = space.ranges[name]
            suggest = trial.suggest_int if interval.is_integer else trial.suggest_float
            settings[name] = suggest(name, interval.low, interval.high, log=interval.log)
        else:
            settings[name] = trial.suggest_categorical(name, value) if isinstance(value, list) else value
    return settings
