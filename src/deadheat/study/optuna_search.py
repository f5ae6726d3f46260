"""Searches that Optuna drives: its samplers say what to try next, its pruners what to give up; deadheat[search].

There is one study of Optuna's for every split and setup. Networks and scores are in the store as those of any search,
and Optuna's memory is made of them: asked again with the same seed and told the same scores, it says the same. So a
search that was stopped goes on where it was. A pruner looks after each seed of some settings, and spares the others.
"""

from __future__ import annotations

import importlib
import math
import warnings
from importlib.util import find_spec
from typing import Any

from deadheat.errors import InputError
from deadheat.study.config import SearchEntry
from deadheat.study.search import Place, Search
from deadheat.study.searching import Read, Run
from deadheat.study.space import Settings

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
