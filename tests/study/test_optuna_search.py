"""Searches that Optuna drives: what it asks is what a second run asks, and pruned settings are spared."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from deadheat.study.plan.cells import Cell
from deadheat.study.search.search import Search, import_optuna, pending_cells
from tests.study.search_cases import FOUR, NAMES, Killed, World, refusal, search_file, search_of

pytest.importorskip("optuna")

SPACE = "system = 'perceptron'\nmethod = 'optuna'\nepochs = {low = 1, high = 40, log = true}\norder = [2, 3]\n"
TWO = f"{SPACE}epoch = ['tune', 'dev']\n"


def settings_of(cell: Cell) -> dict[str, int]:
    """Epochs and order, from the name of a system; what is not in it is as by default."""
    inside = cell.system.partition("(")[2].rstrip(")")
    return {"epochs": 10, "order": 2} | {
        key: int(value) for key, value in (each.split("=") for each in inside.split(", ") if each)
    }


def hill(cell: Cell, part: str) -> float:
    """Best at 12 epochs and order 3, a little worse with every seed."""
    del part
    own = settings_of(cell)
    return 0.9 - abs(own["epochs"] - 12) / 100 - (own["order"] == 2) / 50 - cell.seed / 1000


def asked(search: Search) -> list[list[str]]:
    """The systems that were tried, on every split in every setup."""
    assert search.trials is not None
    return [list(own) for own in search.trials.values()]


@pytest.mark.parametrize("sampler", ["tpe", "random", "qmc"])
def test_as_many_settings_are_tried_as_the_search_may_and_the_best_of_them_wins(tmp_path: Path, sampler: str) -> None:
    search = search_of(tmp_path, f"{TWO}samples = 12\nsampler = '{sampler}'\n", times=2)
    world = World(hill)
    outcome = world.run_plan(search)
    tried = outcome.search.trials
    assert tried is not None
    assert list(tried) == [(split, setup) for split in search.plan.corpus_splits for setup in ("tune", "dev")]
    assert all(4 < len(own) <= 12 for own in tried.values())  # the same settings may be asked for twice
    for pick in outcome.picks:
        own = [cell for cell in world.trained if cell.number == pick.corpus_split.number and cell.tune == pick.setup]
        assert pick.score == max(
            hill(cell, "dev") for cell in own if cell.system in tried[pick.corpus_split, pick.setup]
        )
    assert all(1 <= own["epochs"] <= 40 for own in outcome.search.candidates.values())


@pytest.mark.parametrize(
    "text", [TWO, f"{TWO}sampler = 'random'\npruner = 'median'\nseeds = 3\n", f"{TWO}final = 'train'\n"]
)
def test_a_second_run_asks_the_same_and_trains_nothing(tmp_path: Path, text: str) -> None:
    search = search_of(tmp_path, f"{text}samples = 10\n", times=2)
    world = World(hill)
    first = world.run_plan(search)
    trained = len(world.trained)
    second = world.run_plan(search)
    assert len(world.trained) == trained
    assert asked(second.search) == asked(first.search)
    assert [(pick.system, pick.score, pick.among) for pick in second.picks] == [
        (pick.system, pick.score, pick.among) for pick in first.picks
    ]


@pytest.mark.parametrize("seed", [13, 15, 21, 27])  # with which settings are given up that win elsewhere
def test_what_was_given_up_does_not_win_because_it_won_in_the_other_setup(tmp_path: Path, seed: int) -> None:
    """The final networks of one setup learn as those of the other, and are none of its networks."""

    def chance(cell: Cell, part: str) -> float:
        name = f"{seed} {cell.system} {cell.seed} {cell.tune} {part}"
        return int(hashlib.sha256(name.encode()).hexdigest()[:6], 16) / 16**6

    text = "pruner = 'median'\nseeds = 4\nsamples = 12\ntested = 'all'\nepochs = [1, 2, 3]\norder = [2, 3]\n"
    search = search_of(tmp_path, f"system = 'perceptron'\nmethod = 'optuna'\nepoch = ['tune', 'dev']\n{text}")
    world = World(chance)
    first, second = world.run_plan(search), world.run_plan(search)
    assert [(pick.system, pick.score, pick.among) for pick in second.picks] == [
        (pick.system, pick.score, pick.among) for pick in first.picks
    ]


def test_a_search_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    search = search_of(tmp_path, f"{SPACE}samples = 8\nseeds = 2\n")
    whole = World(hill)
    wanted = whole.run_plan(search)
    for most in (1, 5, len(whole.trained) - 1):
        world = World(hill, most=most)
        with pytest.raises(Killed):
            world.run_plan(search)
        world.most = None
        assert asked(world.run_plan(search).search) == asked(wanted.search)
        assert [cell.key for cell in world.trained] == [cell.key for cell in whole.trained]


def test_what_waits_is_known_when_all_of_it_was_asked(tmp_path: Path) -> None:
    search = search_of(tmp_path, f"{SPACE}samples = 8\nseeds = 2\nsampler = 'random'\npruner = 'median'\n")
    world = World(hill)
    first, last = pending_cells(search, world.missing, world.read)
    assert 0 < len(first) <= 16
    assert len(last) == 2  # a winner with two seeds
    world.run_plan(search)
    assert len(world.trained) <= len(first) + len(last)
    assert pending_cells(search, world.missing, world.read) == ([], [])


def test_winners_of_one_setup_are_no_candidates_of_the_other(tmp_path: Path) -> None:
    """The final network of the winner by tune is what a network by dev would be; dev has not tried it, though."""
    search = search_of(tmp_path, f"{FOUR}epoch = ['tune', 'dev']\n")
    (split,) = search.plan.corpus_splits
    settings = search.candidates
    tried = replace(search, trials={
        (split, "tune"): {name: settings[name] for name in NAMES[:2]},
        (split, "dev"): {name: settings[name] for name in NAMES[2:]},
    })  # fmt: skip
    assert [(cell.tune, cell.system) for cell in tried.first_cells()] == [
        *(("tune", name) for name in NAMES[:2]),
        *(("dev", name) for name in NAMES[2:]),
    ]
    world = World(lambda cell, part: 0.9 - NAMES.index(cell.system) / 10)  # the first is the best of all
    world.run(tried.first_cells())
    before = tried.picks(world.values)
    assert [pick.system for pick in before] == [NAMES[0], NAMES[2]]
    world.run([cell for pick in before for cell in pick.finals])
    assert [(pick.system, pick.among) for pick in tried.picks(world.values)] == [(NAMES[0], 2), (NAMES[2], 2)]
    assert list(tried.candidates) == NAMES


def test_a_pruner_spares_the_later_seeds_of_bad_settings(tmp_path: Path) -> None:
    text = f"{SPACE}samples = 30\nseeds = 4\nsampler = 'random'\n"
    whole, pruned = World(hill), World(hill)
    every = whole.run_plan(search_of(tmp_path / "whole", text))
    some = pruned.run_plan(search_of(tmp_path / "pruned", f"{text}pruner = 'median'\n"))
    assert asked(some.search) == asked(every.search)  # a random sampler asks the same, whatever it is told
    assert len(pruned.trained) < len(whole.trained)
    seeds: dict[str, int] = {}
    for cell in pruned.trained:
        seeds[cell.system] = seeds.get(cell.system, 0) + 1
    stopped = [name for name, count in seeds.items() if count < 4]
    assert stopped
    (pick,), (best,) = some.picks, every.picks
    assert (pick.system, pick.score) == (best.system, best.score)
    assert pick.among == len(asked(some.search)[0]) - len(stopped)  # what was given up cannot win


def test_settings_that_fail_are_told_to_optuna_and_left_out(tmp_path: Path) -> None:
    search = search_of(tmp_path, f"{SPACE}samples = 10\nsampler = 'random'\n")
    world = World(hill, fails=lambda cell: settings_of(cell)["order"] == 3)
    outcome = world.run_plan(search)
    (pick,) = outcome.picks
    assert pick.settings["order"] == 2
    names = [name for name, own in outcome.search.candidates.items() if own["order"] == 2]
    assert pick.among == len(names) < len(outcome.search.candidates)


def test_without_optuna_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = search_file(tmp_path, SPACE)
    line = path.read_text().splitlines().index("[search]") + 1
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert refusal(path) == (
        f'{path}:{line}: search: method = "optuna" needs Optuna; expected pip install "deadheat[search]"'
    )


@pytest.mark.parametrize(("sampler", "needed"), [("cmaes", "cmaes"), ("gp", "torch")])
def test_a_sampler_that_needs_more_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sampler: str, needed: str
) -> None:
    path = search_file(tmp_path, f"{SPACE}sampler = '{sampler}'\n")
    monkeypatch.setitem(sys.modules, needed, None)
    assert refusal(path).endswith(f'search: sampler = "{sampler}" needs {needed}; expected pip install {needed}')


def test_optuna_is_not_loaded_for_other_searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    World(hill).run_plan(search_of(tmp_path, "system = 'perceptron'\nepochs = [1, 2]\n"))
    assert importlib.util.find_spec("optuna") is None


def test_samplers_and_pruners_are_optunas_own(tmp_path: Path) -> None:
    from deadheat.study.search.search import PRUNERS, SAMPLERS

    library = import_optuna()
    assert all(hasattr(library.samplers, name) for name in SAMPLERS.values())
    assert all(hasattr(library.pruners, name) for name in PRUNERS.values())
    entry = search_of(tmp_path, SPACE).entry
    kinds = type(entry).model_fields
    assert set(kinds["sampler"].annotation.__args__) == set(SAMPLERS)  # type: ignore[union-attr]
    assert set(kinds["pruner"].annotation.__args__) == set(PRUNERS)  # type: ignore[union-attr]
