"""A search from its first network to its last: what is trained, what is looked at, and what a second run does."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from deadheat.study.engine.running import failed_cells, run_study
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import pending_cells, run_search, searches_of
from deadheat.study.store.store import Store
from tests.study.search_cases import FOUR, NAMES, Killed, World, by_setting, search_file, search_of
from tests.study.study_cases import odd_systems, serial
from tests.study.test_search import combinations

TWO = f"{FOUR}epoch = ['tune', 'dev']\n"


def uneven(cell: Cell, part: str) -> float:
    """Tune picks the second settings where tune picks epochs, dev the third; where dev picks epochs, the fourth."""
    wins = {("tune", "tune"): 1, ("tune", "dev"): 2}.get((cell.tune, part), 3)
    return 0.9 if NAMES.index(cell.system) == wins else 0.5


def expected(text: str) -> tuple[int, int]:
    """Trainings beyond the first ones, and looks at test, where winners of the two setups differ."""
    setups = ["tune", "dev"] if "['tune', 'dev']" in text else ["tune"] if "epoch = 'tune'" in text else ["dev"]
    first = 4 * len(setups)
    if "tested = 'winner'" in text:
        return len(setups), len(setups)  # every winner is trained once more, and is what is looked at
    if setups == ["tune"] and "final = 'train+tune'" in text:
        return 1, first + 1  # a network of another kind than those of the search
    return 0, first  # the winners are networks of the search, which were looked at already


@pytest.mark.parametrize("text", combinations())
def test_only_winners_are_looked_at_unless_all_are(tmp_path: Path, text: str) -> None:
    search = search_of(tmp_path, text)
    world = World(uneven)
    outcome = world.run_plan(search)
    more, looks = expected(text)
    assert len(world.trained) == len(search.first_cells()) + more
    assert len(world.looks) == looks
    winners = {"tune": NAMES[1] if "setting = 'tune'" in text else NAMES[2], "dev": NAMES[3]}
    assert {pick.setup: pick.system for pick in outcome.picks} == {
        pick.setup: winners[pick.setup] for pick in outcome.picks
    }
    assert [pick.setup for pick in outcome.picks] == list(search.entry.setups)
    for pick in outcome.picks:
        assert all(("test" in cell.scored) for cell in pick.finals)
        assert {(cell.key, "test", "accuracy.v1") for cell in pick.finals} <= set(world.values)


@pytest.mark.parametrize("text", combinations())
def test_a_second_run_trains_nothing_and_picks_the_same(tmp_path: Path, text: str) -> None:
    search = search_of(tmp_path, text)
    world = World(uneven)
    first = world.run_plan(search)
    done, values = len(world.trained), dict(world.values)
    second = world.run_plan(search)
    assert len(world.trained) == done
    assert world.values == values
    assert [(pick.corpus_split, pick.setup, pick.system, pick.score, pick.among) for pick in first.picks] == [
        (pick.corpus_split, pick.setup, pick.system, pick.score, pick.among) for pick in second.picks
    ]


@pytest.mark.parametrize("text", [TWO, f"{TWO}final = 'train'\n", f"{TWO}tested = 'all'\n"])
def test_a_run_that_is_killed_anywhere_goes_on_where_it_was(tmp_path: Path, text: str) -> None:
    search = search_of(tmp_path, text)
    whole = World(uneven)
    wanted = whole.run_plan(search)
    for most in range(len(whole.trained)):
        world = World(uneven, most=most)
        with pytest.raises(Killed):
            world.run_plan(search)
        world.most = None
        outcome = world.run_plan(search)
        assert [(cell.key, cell.scored) for cell in world.trained] == [
            (cell.key, cell.scored) for cell in whole.trained
        ]
        assert [pick.system for pick in outcome.picks] == [pick.system for pick in wanted.picks]
        assert world.values == whole.values


@pytest.mark.parametrize("text", combinations())
def test_what_waits_is_what_then_is_trained(tmp_path: Path, text: str) -> None:
    search = search_of(tmp_path, text)
    whole = World(uneven)
    whole.run_plan(search)
    for most in range(len(whole.trained) + 1):
        world = World(uneven, most=most)
        with contextlib.suppress(Killed):
            world.run_plan(search)
        world.most = None
        first, last = pending_cells(search, world.missing, world.read)
        before = len(world.trained)
        world.run_plan(search)
        then = [(cell.key, cell.scored) for cell in world.trained[before:]]
        assert [(cell.key, cell.scored) for cell in first] == then[: len(first)]
        assert len(then) == len(first) + len(last)  # winners differ here, so that as many as may be are trained
        if not first:
            assert [(cell.key, cell.scored) for cell in last] == then


@pytest.mark.parametrize("tested", ["winner", "all"])
def test_splits_that_are_decided_wait_for_nothing_when_others_are_added(tmp_path: Path, tested: str) -> None:
    text = f"{TWO}tested = '{tested}'\n"
    world = World(uneven)
    world.run_plan(search_of(tmp_path, text, times=1))
    more, before = search_of(tmp_path, text, times=2), len(world.trained)
    first, last = pending_cells(more, world.missing, world.read)
    world.run_plan(more)
    assert (len(first), len(last)) == (8, 0 if tested == "all" else 2)
    assert len(world.trained) == before + len(first) + len(last)


def test_winners_may_be_others_when_settings_are_added(tmp_path: Path) -> None:
    world = World(lambda cell, _: 0.9 if "epochs=3" in cell.system else 0.5)
    world.run_plan(search_of(tmp_path, "system = 'perceptron'\nepochs = [1, 2]\n"))
    more, before = search_of(tmp_path, "system = 'perceptron'\nepochs = [1, 2, 3]\n"), len(world.trained)
    first, last = pending_cells(more, world.missing, world.read)
    world.run_plan(more)
    assert (len(first), len(last), len(world.trained) - before) == (1, 1, 2)


def test_test_is_not_scored_before_the_winner_is_known(tmp_path: Path) -> None:
    search = search_of(tmp_path, TWO, times=2)
    world = World(uneven)
    world.run_plan(search)
    first = len(search.first_cells())
    assert not any("test" in cell.scored for cell in world.trained[:first])
    assert all("test" in cell.scored for cell in world.trained[first:])
    assert len(world.trained) == first + 4  # two splits, two setups


def test_a_winner_of_both_setups_is_trained_and_looked_at_once(tmp_path: Path) -> None:
    search = search_of(tmp_path, f"{TWO}seeds = 2\n")
    world = World(by_setting(0.1, 0.8, 0.3, 0.2))
    outcome = world.run_plan(search)
    assert [pick.system for pick in outcome.picks] == [NAMES[1], NAMES[1]]
    assert outcome.picks[0].finals == outcome.picks[1].finals
    assert len(world.trained) == len(search.first_cells()) + 2  # one for each seed
    assert len(world.looks) == 2


@pytest.mark.parametrize("text", [TWO, f"{TWO}final = 'train'\n", FOUR])
def test_a_winner_that_does_worse_when_it_is_trained_again_stays_the_winner(tmp_path: Path, text: str) -> None:
    def unsteady(cell: Cell, part: str) -> float:  # as on an accelerator, where sums differ in their last digits
        return 0.4 if "test" in cell.scored else uneven(cell, part)

    search, world = search_of(tmp_path, text), World(unsteady)
    first = world.run_plan(search)
    done = len(world.trained)
    second = world.run_plan(search)
    assert len(world.trained) == done
    assert [(pick.system, pick.score) for pick in first.picks] == [(pick.system, 0.9) for pick in second.picks]


def test_winners_that_learn_from_train_alone_are_two_networks(tmp_path: Path) -> None:
    world = World(by_setting(0.1, 0.8, 0.3, 0.2))
    outcome = world.run_plan(search_of(tmp_path, f"{TWO}final = 'train'\n"))
    assert [pick.system for pick in outcome.picks] == [NAMES[1], NAMES[1]]
    assert outcome.picks[0].finals != outcome.picks[1].finals
    assert len(world.looks) == 2


def test_settings_that_fail_are_left_out_and_the_others_go_on(tmp_path: Path) -> None:
    search = search_of(tmp_path)
    world = World(by_setting(0.1, 0.8, 0.3, 0.2), fails=lambda cell: cell.system == NAMES[1])
    (pick,) = world.run_plan(search).picks
    assert (pick.system, pick.among) == (NAMES[2], 3)


def test_where_everything_fails_nobody_wins_and_nothing_is_looked_at(tmp_path: Path) -> None:
    world = World(by_setting(0.1, 0.8, 0.3, 0.2), fails=lambda _: True)
    assert world.run_plan(search_of(tmp_path)).picks == ()
    assert not world.trained


def test_a_random_search_trains_what_it_draws(tmp_path: Path) -> None:
    text = (
        "system = 'perceptron'\nmethod = 'random'\nsamples = 3\nseed = 4\nepochs = {low = 1, high = 30, log = true}\n"
    )
    search = search_of(tmp_path, f"{text}order = [2, 3]\n")
    assert list(search.candidates) == list(search_of(tmp_path / "again", f"{text}order = [2, 3]\n").candidates)
    world = World(lambda cell, part: float(list(search.candidates).index(cell.system)))
    (pick,) = world.run_plan(search).picks
    assert len(world.trained) == 3 + 1
    assert pick.system == list(search.candidates)[2]
    assert set(pick.settings) == {"epochs", "order"}
    assert 1 <= pick.settings["epochs"] <= 30


def test_all_of_it_is_the_same_in_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With real training: what a store holds after each step, and which settings failed."""
    odd_systems(monkeypatch)
    text = "system = 'odd'\ndoes = ['nothing', 'raises']\nepoch = ['tune', 'dev']\nseeds = 2\n"
    plan = Plan.of(search_file(tmp_path, text))
    (search,) = searches_of(plan)
    parts: list[set[str]] = []
    with Store.open(tmp_path / "store.sqlite", create=True) as store:

        def run(cells: object) -> None:
            selected = replace(plan, selection=tuple(cells))  # type: ignore[arg-type]
            run_study(selected, store, executor=serial(selected, store))
            parts.append(set(store.scores()["part"].to_list()))

        def read() -> dict[tuple[str, str, str], float]:
            rows = store.scores().select("key", "part", "metric", "value").iter_rows()
            return {(key, part, metric): value for key, part, metric, value in rows}

        outcome = run_search(search, run, read)
        assert parts == [{"tune", "dev"}, {"tune", "dev", "test"}]
        assert [(pick.setup, pick.system, pick.among) for pick in outcome.picks] == [
            ("tune", "odd.v1", 1),
            ("dev", "odd.v1", 1),
        ]
        failed = failed_cells(replace(plan, selection=tuple(search.first_cells())), store)
        assert len(failed) == 4  # two setups and two seeds
        assert {cell.system for cell, _, _ in failed} == {"odd.v1(does='raises')"}
        assert all("this cannot be learned" in why for _, _, why in failed)
        tested = store.scores().filter(part="test", metric="accuracy.v1")
        assert sorted(tested["key"].to_list()) == sorted({cell.key for pick in outcome.picks for cell in pick.finals})
        assert tested.height == 2  # the winner is the same in both setups: its two seeds
