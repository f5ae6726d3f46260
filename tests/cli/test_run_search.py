"""`deadheat run` of a study with a search: what is planned is what happens, and what is refused costs nothing."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deadheat.errors import InputError
from deadheat.study.engine.running import planned_evaluations
from deadheat.study.ledger.ledger import Ledger
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import searches_of
from deadheat.study.search.search import tested_cells as cells_to_look_at
from deadheat.study.store.store import Store
from tests.cli.running import Commands
from tests.study.search_cases import FOUR, METRIC, search_file

TWO = f"{FOUR}epoch = ['tune', 'dev']\n"


def looks_in(ledger: Path) -> list[str]:
    """The test set of every look."""
    return [str(event["test_set"]) for event in Ledger(ledger).events() if event["event"] == "look"]


def keys_on_test(store: Path) -> set[str]:
    with Store.read(store) as found:
        return set(found.scores().filter(part="test")["key"].to_list())


@pytest.mark.parametrize(
    "more", ["", "tested = 'all'\n", "final = 'train'\n"], ids=["winners alone", "all tested", "on train alone"]
)
def test_what_is_planned_is_what_happens(commands: Commands, tmp_path: Path, ledger_path: Path, more: str) -> None:
    study = search_file(tmp_path, f"{TWO}seeds = 2\n{more}", times=2)
    planned = json.loads(commands("run", study, "--plan", "--json").out)
    told = commands("run", study, "--plan").out
    assert not study.with_suffix(".sqlite").exists()
    assert not ledger_path.exists()
    outcome = commands("run", study, "--quiet", "--json")
    assert outcome.code == 0
    (found,) = json.loads(outcome.out)["searches"]
    # Four settings, two seeds, two setups and two splits.
    assert planned["cells"] == planned["to_run"] == found["trained"] == 32
    finals = f"; then at most {planned['finals']} final networks" if planned["finals"] else ""
    assert f"32 cells: 32 to run{finals}; {planned['evaluations']} evaluations of 2 test sets." in told
    ran = cells_run(outcome.err)
    most = int(re.search(r"at most (\d+) trainings?", told)[1])  # type: ignore[index]
    assert planned["finals"] == most
    looks = looks_in(ledger_path)
    assert len(looks) == found["tested_networks"] == len(keys_on_test(study.with_suffix(".sqlite")))
    same = sum(
        each["winners"][0]["system"] == each["winners"][1]["system"]
        for each in found["datasets"]
        if "final" not in more
    )
    if "all" in more:
        assert (ran, most, len(looks), planned["evaluations"]) == (32, 0, 32, 32)
    else:  # two seeds, two splits, two setups, but once where both setups have one winner
        assert (most, planned["evaluations"]) == (8, 8)
        assert (ran, len(looks)) == (32 + 8 - 2 * same, 8 - 2 * same)
    again = commands("run", study, "--quiet", "--json")
    assert again.out == outcome.out
    assert re.search(r"note: 0 cells run, \d+ already in the store", again.err)
    assert looks_in(ledger_path) == looks
    after = json.loads(commands("run", study, "--plan", "--json").out)
    assert (after["to_run"], after["finals"], after["evaluations"], after["test_sets"]) == (0, 0, 0, 0)


def test_the_tables_and_notes_of_a_search_are_printed(commands: Commands, tmp_path: Path) -> None:
    study = search_file(tmp_path, TWO)
    done = commands("run", study, "--quiet")
    assert done.code == 0
    assert done.out.startswith("Whether tune or dev picks the epochs of perceptron ")
    assert "Cost: 8 networks for 4 settings; " in done.out
    notes = done.err.splitlines()
    assert notes[0] == "note: 1 data set; expected 6 or more for a test over data sets"
    assert notes[1].startswith("note: dev picked epochs and settings in setup dev")


def test_the_store_has_no_score_on_test_but_those_of_winners(commands: Commands, tmp_path: Path) -> None:
    study = search_file(tmp_path, f"{TWO}seeds = 2\n", times=2)
    (result,) = json.loads(commands("run", study, "--quiet", "--json").out)["searches"]
    (search,) = searches_of(Plan.of(study))
    places = {(place.corpus, place.number): place for place in search.plan.corpus_splits}
    winners = {
        cell.key
        for each in result["datasets"]
        for winner in each["winners"]
        for cell in search.final_cells(places[each["corpus"], each["number"]], winner["setup"], winner["system"])
    }
    assert keys_on_test(study.with_suffix(".sqlite")) == winners
    with Store.read(study.with_suffix(".sqlite")) as store:
        values = {
            (row["key"], row["part"]): row["value"]
            for row in store.scores().filter(metric=METRIC).iter_rows(named=True)
        }
    for each in result["datasets"]:
        for winner in each["winners"]:
            cells = search.cells(places[each["corpus"], each["number"]], winner["setup"], winner["system"])
            assert winner["search_dev"] == pytest.approx(sum(values[cell.key, "dev"] for cell in cells) / 2)


def test_settings_that_fail_are_left_out_and_told(commands: Commands, tmp_path: Path) -> None:
    """A program whose settings are its commands: one of them does not work."""
    search = "system = 'command'\ntrain = 'true'\npredict = ['false', 'sh noun.sh']\n"
    study = search_file(tmp_path, search)
    (tmp_path / "noun.sh").write_text("""awk 'BEGIN { FS = OFS = "\\t" } NF == 10 { $4 = "NOUN" } { print }'\n""")
    done = commands("run", study, "--quiet")
    assert done.code == 1
    assert "predict=sh noun.sh" in done.out
    assert "note: 1 network of the search failed; their settings are left out on those data sets" in done.err
    assert re.search(r"predict='false'\).* on split 0 of small, seed 0: failed", done.err)
    (found,) = json.loads(commands("run", study, "--quiet", "--json").out)["searches"]
    assert (len(found["candidates"]), found["trained"], found["failed"], found["tested_networks"]) == (2, 1, 1, 1)


def test_a_budget_refuses_before_anything_is_trained(commands: Commands, tmp_path: Path, ledger_path: Path) -> None:
    study = search_file(tmp_path, TWO)
    plan = Plan.of(study)
    (test_set,) = planned_evaluations(plan, cells_to_look_at(searches_of(plan)))
    Ledger(ledger_path).guard(test_set, budget=1)
    before = {each.name for each in tmp_path.iterdir()}
    told = commands.refused("run", study)
    assert told.startswith(
        "small, random 0, test (small, random 0, test): 2 evaluations planned, 1 left of a budget of 1"
    )
    assert {each.name for each in tmp_path.iterdir()} == before
    Store.open(plan.store_path, create=True).close()  # as if it had been begun
    assert commands.refused("run", study) == told
    with Store.read(plan.store_path) as store:
        assert not store.runs().height
    Ledger(ledger_path).guard(test_set, budget=2)
    assert commands("run", study, "--quiet").code == 0
    assert len(looks_in(ledger_path)) <= 2
    assert commands("run", study, "--quiet").code == 0  # nothing is left to look at


@pytest.mark.parametrize(
    ("search", "sizes", "expected"),
    [
        (TWO, "60/20/20", "search: small, random 0 has no part tune; it has train, dev, test; expected sizes of"),
        (
            f"{TWO}setting = 'tune'\n",
            "40/20/20/20",
            'search: setting = "tune" selects on training data; expected',
        ),
        (
            f"{TWO}metric = 'las'\n",
            "40/20/20/20",
            "search: metric 'las' is not in the study; the study has accuracy.v1, ",
        ),
        ("system = 'perceptron'\nepochs = []\n", "40/20/20/20", "search: epochs has no values; expected at least one"),
        (
            "system = 'perceptron'\nepohcs = [1, 2]\n",
            "40/20/20/20",
            "setting of perceptron.v2 'epohcs' is unknown; did",
        ),
        (
            "system = 'perceptron'\nmethod = 'random'\nepochs = {low = 2}\n",
            "40/20/20/20",
            "search: epochs = {'low': 2}; expected a range such as {low = 0.001, high = 0.01}",
        ),
    ],
)
@pytest.mark.parametrize("option", ["--plan", "--quiet"])
def test_what_cannot_be_searched_is_one_line_with_its_place(
    commands: Commands, tmp_path: Path, search: str, sizes: str, expected: str, option: str
) -> None:
    study = search_file(tmp_path, search, sizes=sizes)
    told = commands.refused("run", study, option)
    assert re.match(rf"{study}:\d+: ", told)
    assert expected in told
    with_place = int(told.removeprefix(f"{study}:").partition(":")[0])
    assert with_place > study.read_text().splitlines().index("[search]")


@pytest.mark.slow
def test_a_search_by_optuna_asks_the_same_when_it_goes_on(commands: Commands, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    text = "system = 'perceptron'\nmethod = 'optuna'\nsamples = 4\nepochs = {low = 1, high = 9}\npruner = 'median'\n"
    study = search_file(tmp_path, f"{text}seeds = 2\n")
    first = commands("run", study, "--quiet", "--json")
    assert first.code == 0
    again = commands("run", study, "--quiet", "--json")
    assert again.out == first.out
    assert "note: 0 cells run" in again.err


@pytest.mark.slow
def test_a_search_that_is_killed_goes_on_where_it_was(commands: Commands, tmp_path: Path, ledger_path: Path) -> None:
    """The command is killed when some networks are there: a second one trains the others, and test is spent once."""
    whole = commands("run", search_file(tmp_path / "whole", TWO, times=2), "--quiet", "--json")
    study, own = search_file(tmp_path / "killed", TWO, times=2), tmp_path / "own.jsonl"
    command = [sys.executable, "-m", "deadheat.cli.main", "run", str(study), "--quiet", "--ledger", str(own)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    store = study.with_suffix(".sqlite")
    while running.poll() is None and done_in(store) < 3:
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.wait()
    there = done_in(store)
    assert 3 <= there < 16, "it was expected to be killed before any winner was known"
    assert not own.exists()
    again = commands("run", study, "--quiet", "--json", "--ledger", own)
    assert json.loads(again.out)["searches"] == json.loads(whole.out)["searches"]
    assert len(looks_in(own)) == len(looks_in(ledger_path))
    assert cells_run(again.err) == cells_run(whole.err) - there


def cells_run(notes: str) -> int:
    (found,) = re.findall(r"note: (\d+) cells? run", notes)
    return int(found)


def done_in(store: Path) -> int:
    try:
        with Store.read(store) as found:
            return len(found.done())
    except InputError:  # it is just being made
        return 0


def test_a_search_that_cannot_be_made_is_refused_before_systems_are_trained(commands: Commands, tmp_path: Path) -> None:
    study = search_file(tmp_path, f"{TWO}[[systems]]\nname = 'unigram'\n", sizes="60/20/20")
    assert "has no part tune" in commands.refused("run", study, "--quiet", "--ledger", tmp_path / "own.jsonl")
    assert not study.with_suffix(".sqlite").exists()
