"""`deadheat run`: what it prints, what it refuses, and what it leaves behind."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deadheat.study.engine.running import planned_evaluations
from deadheat.study.ledger.ledger import Ledger
from deadheat.study.plan.plan import Plan
from deadheat.study.store.recording import predictions_folder
from deadheat.study.store.store import Store
from tests.cli.running import Commands
from tests.study.study_cases import corpus_text, study_file


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return study_file(tmp_path, times=2)


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study that has run."""
    path = study_file(tmp_path_factory.mktemp("ready"), times=2)
    environment = {**os.environ, "DEADHEAT_LEDGER": str(path.parent / "ledger.jsonl")}
    command = [sys.executable, "-m", "deadheat.cli.main", "run", str(path)]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return path.parent


@pytest.fixture
def done(ready: Path, tmp_path: Path) -> Path:
    """The file of a study that has run."""
    shutil.copytree(ready, tmp_path / "done")
    return tmp_path / "done" / "study.toml"


def files(folder: Path) -> set[str]:
    return {str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()}


def test_a_plan_says_what_will_run_and_runs_nothing(commands: Commands, study: Path, ledger_path: Path) -> None:
    before = files(study.parent)
    shown = commands("run", study, "--plan")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.split("\n") == [
        "corpus  sentences  words",
        f"small          30    {Plan.of(study).materials['small'].corpus.words}",
        "",
        "split      times  seed",
        "random.v1      2  0",
        "",
        "system    name         seeds",
        "majority  majority.v1  0",
        "unigram   unigram.v1   0",
        "",
        "4 cells: 4 to run; 4 evaluations of 2 test sets.",
        "",
    ]
    assert (
        "4 cells: 4 to run; no test set is evaluated."
        in commands("run", study, "--plan", "--set", 'evaluate=["dev"]').out
    )
    assert files(study.parent) == before
    assert not ledger_path.exists()


def test_a_plan_knows_what_is_there_already(commands: Commands, done: Path) -> None:
    planned = json.loads(commands("run", done, "--plan", "--json", "--set", "splits.times=5").out)
    seconds = planned.pop("seconds")
    assert planned == {
        "cells": 10, "to_run": 6, "to_score": 0, "failed": 0, "finals": 0, "evaluations": 6, "test_sets": 3,
        "store": str(done.with_suffix(".sqlite")),
    }  # fmt: skip
    assert seconds > 0
    assert "4 cells: 0 to run, 4 in the store; no test set is evaluated." in commands("run", done, "--plan").out
    assert "10 cells: 6 to run, 4 in the store" in commands("run", done, "--plan", "--set", "splits.times=5").out


def test_a_plan_counts_cells_that_failed_before(commands: Commands, study: Path) -> None:
    failing = ["--set", 'systems=[{name = "majority"}, {name = "command", predict = "false"}]']
    assert commands("run", study, "--quiet", *failing).code == 1
    before = "4 cells: 0 to run, 2 in the store, 2 failed before (--retry-failed runs them again)"
    assert before in commands("run", study, "--plan", *failing).out
    assert json.loads(commands("run", study, "--plan", "--json", *failing).out)["failed"] == 2
    assert "4 cells: 2 to run, 2 in the store; " in commands("run", study, "--plan", "--retry-failed", *failing).out


def test_progress_and_notes_go_to_stderr_and_results_to_stdout(commands: Commands, study: Path) -> None:
    first = commands("run", study)
    assert first.code == 0
    assert first.out.startswith("On small, unigram is ")
    store = study.with_suffix(".sqlite")
    verdict = first.out.partition("\n")[0]
    closing = f"verdict: {verdict}\npage: deadheat report {store}\n"
    assert re.fullmatch(
        rf"(\d of 4 done.*\n)+{re.escape(f'note: 4 cells run; results in {store}')}\n{re.escape(closing)}", first.err
    )
    second = commands("run", study)
    assert second.out == first.out
    assert second.err == f"note: 0 cells run, 4 already in the store; results in {store}\n{closing}"
    more = commands("run", study, "--set", "splits.times=3", "--quiet")
    assert more.err.startswith(f"note: 2 cells run, 4 already in the store; results in {store}\nverdict: ")
    assert commands("run", study, "--json").err == second.err


def test_json_is_the_same_again(commands: Commands, done: Path) -> None:
    first, second = commands("run", done, "--json"), commands("run", done, "--json")
    assert (first.code, first.out) == (0, second.out)
    result = json.loads(first.out)
    assert list(result)[:2] == ["kind", "schema"]
    assert (result["missing"], result["damaged"], result["failed"]) == (0, [], [])
    assert [block["part"] for block in result["blocks"]] == ["dev", "test"]


def test_every_evaluation_is_in_the_ledger(commands: Commands, study: Path, ledger_path: Path) -> None:
    commands("run", study, "--set", 'evaluate=["dev"]', "--quiet")
    assert not ledger_path.exists()
    commands("run", study, "--quiet", "--purpose", "for the table")
    looks = [event for event in Ledger(ledger_path).events() if event["event"] == "look"]
    assert len(looks) == 4
    assert {look["purpose"] for look in looks} == {"for the table"}
    commands("run", study, "--quiet")
    assert len(Ledger(ledger_path).events()) == 4


def test_a_budget_that_is_too_small_refuses_before_anything_is_made(
    commands: Commands, study: Path, ledger_path: Path
) -> None:
    plan = Plan.of(study)
    Ledger(ledger_path).guard(next(iter(planned_evaluations(plan, plan.cells))), budget=1)
    before = files(study.parent)
    told = commands.refused("run", study)
    assert "small, random 0, test" in told
    assert "2 evaluations planned, 1 left of a budget of 1" in told
    assert files(study.parent) == before
    assert commands("run", study, "--quiet", "--over-budget", "the reviewers want it").code == 0


def test_all_mistakes_of_a_study_file_are_told(commands: Commands, study: Path) -> None:
    study.write_text(study.read_text().replace("'majority'", "'majorty'").replace("times = 2", "tims = 2"))
    outcome = commands("run", study)
    assert (outcome.code, outcome.out) == (2, "")
    first, second = outcome.err.rstrip("\n").split("\n")
    assert first.startswith(f"{study}:6: setting of random.v1 'tims' is unknown")
    assert second == f"{study}:8: system 'majorty' is unknown; did you mean 'majority'?"
    assert files(study.parent) == {"study.toml", "small.conllu", "noun.sh"}


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("seeds", "--set seeds; expected as"),
        ("systems.7.name=hmm", "no entry '7'"),
        ("splits.times.x=1", "is not inside a table"),
    ],
)
def test_overrides_that_lead_nowhere_are_refused(commands: Commands, study: Path, option: str, told: str) -> None:
    assert told in commands.refused("run", study, "--set", option)


FAILING = """[[systems]]
name = "command"
label = "mine"
train = "sh {0}/train.sh"
predict = "sh {0}/noun.sh"
"""


def test_a_cell_that_fails_is_told_each_time_and_run_again_when_asked(commands: Commands, study: Path) -> None:
    folder = study.parent
    (folder / "train.sh").write_text(f"test -e {folder}/well || {{ echo it is not well >&2; exit 3; }}\n")
    study.write_text(study.read_text() + FAILING.format(folder))
    first = commands("run", study, "--json", "--quiet")
    assert first.code == 1
    result = json.loads(first.out)
    assert result["missing"] == 2
    assert [(each["system"], each["number"], each["status"]) for each in result["failed"]] == [
        ("mine", 0, "failed"),
        ("mine", 1, "failed"),
    ]
    assert "it is not well" in result["failed"][0]["error"]
    assert "note: mine on split 0 of small, seed 0: failed (" in first.err
    assert "split 1" not in first.err
    assert " and 1 more like it\n" in first.err
    assert f"note: to run failed cells again: deadheat run {study} --quiet --retry-failed --json\n" in first.err
    again = commands("run", study, "--json", "--quiet")
    assert (again.code, again.out) == (1, first.out)
    assert "0 cells run, 4 already in the store, 2 failed before (--retry-failed runs them again)" in again.err
    (folder / "well").touch()
    assert json.loads(commands("run", study, "--json", "--quiet").out) == result
    mended = commands("run", study, "--json", "--quiet", "--retry-failed")
    assert mended.code == 0
    assert "note: 2 cells run, 4 already in the store; results in" in mended.err
    found = json.loads(mended.out)
    assert (found["missing"], found["failed"]) == (0, [])
    assert {each["system"] for each in found["blocks"][0]["systems"]} == {"majority", "unigram", "mine"}


def flipped(data: bytes) -> bytes:
    return data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]


@pytest.mark.parametrize("damage", [flipped, lambda data: b"", lambda data: data[:10], None])
def test_a_damaged_prediction_is_told_and_its_cell_run_again(
    commands: Commands, done: Path, damage: Callable[[bytes], bytes] | None
) -> None:
    before = json.loads(commands("run", done, "--json").out)
    victim = Plan.of(done).cells[1]
    file = predictions_folder(done.with_suffix(".sqlite")) / victim.key[:2] / f"{victim.key}.test.zst"
    if damage is None:
        file.unlink()
    else:
        file.write_bytes(damage(file.read_bytes()))
    mended = commands("run", done, "--json", "--quiet")
    assert json.loads(mended.out) == before
    assert mended.err.split("\n")[:2] == [
        "note: unigram on split 0 of small, seed 0: its predictions have changed; it runs again",
        f"note: 1 cell run, 3 already in the store; results in {done.with_suffix('.sqlite')}",
    ]
    assert commands("run", done).err.startswith("note: 0 cells run")
    with Store.read(done.with_suffix(".sqlite")) as store:
        assert store.verify() == []


def test_a_changed_corpus_is_run_anew_and_the_old_results_stay(commands: Commands, done: Path) -> None:
    (done.parent / "small.conllu").write_text(corpus_text(30, seed=1))
    assert "note: 4 cells run; results" in commands("run", done, "--quiet").err
    with Store.read(done.with_suffix(".sqlite")) as store:
        assert len(store.done()) == 8


def test_a_store_of_a_newer_version_is_refused(commands: Commands, done: Path) -> None:
    store = done.with_suffix(".sqlite")
    with sqlite3.connect(store) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    kept = store.read_bytes()
    for options in ([], ["--plan"], ["--retry-failed"]):
        assert "a store of layout 99; this version of Deadheat knows" in commands.refused("run", done, *options)
    assert store.read_bytes() == kept


def test_what_is_no_store_is_not_written_over(commands: Commands, study: Path) -> None:
    text = study.read_text()
    assert "not a store" in commands.refused("run", study, "--set", "store='study.toml'")
    assert study.read_text() == text


def test_results_go_outside_the_folder_only_when_told(commands: Commands, study: Path, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.sqlite"
    told = commands.refused("run", study, "--set", f"store='../{outside.name}'")
    assert "is outside the study's folder; expected --store to name it" in told
    assert not outside.exists()
    assert commands("run", study, "--store", outside, "--quiet").code == 0
    assert outside.exists()
    assert not study.with_suffix(".sqlite").exists()


def test_a_folder_that_cannot_be_written_to_is_refused(commands: Commands, study: Path) -> None:
    (study.parent / "file").write_text("")
    before = files(study.parent)
    told = commands.refused("run", study, "--store", study.parent / "file" / "study.sqlite")
    assert "file/study.sqlite" in told
    assert files(study.parent) == before


def test_two_runs_at_once_are_refused(commands: Commands, done: Path) -> None:
    with Store.open(done.with_suffix(".sqlite")):
        told = commands.refused("run", done)
    assert str(done.with_suffix(".sqlite")) in told
    assert commands("run", done, "--quiet").code == 0


def limited(path: Path, size: int | None, **options: Any) -> subprocess.CompletedProcess[str]:
    """`deadheat run` where no file may become larger, as on a disk that is full."""

    def limit() -> None:
        if size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    environment = {**os.environ, "DEADHEAT_LEDGER": str(path.parent / "ledger.jsonl")}
    command = [sys.executable, "-m", "deadheat.cli.main", "run", path.name, "--json", "--quiet"]
    return subprocess.run(
        command, cwd=path.parent, env=environment, preexec_fn=limit, capture_output=True, text=True, **options
    )


def test_a_full_disk_is_one_line_and_the_next_run_goes_on(tmp_path: Path) -> None:
    whole = limited(study_file(tmp_path / "whole", times=8), None)
    path = study_file(tmp_path / "study", times=8)
    refused = limited(path, 20_000)  # not even an empty store
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert refused.stderr.startswith("study.sqlite: cannot be")
    assert not path.with_suffix(".sqlite").exists()
    broken = limited(path, 150_000)  # some cells
    assert (broken.returncode, broken.stdout, broken.stderr.count("\n")) == (2, "", 1), broken.stderr
    assert broken.stderr.startswith("study.sqlite: cannot be written")
    with Store.read(path.with_suffix(".sqlite")) as store:
        assert 0 < len(store.done()) < 16
        assert store.verify() == []
    resumed = limited(path, None)
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout) == json.loads(whole.stdout)


def test_no_name_of_a_study_reaches_a_shell(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "$(touch a) `touch b`; touch c #"
    path = study_file(folder, times=1)
    monkeypatch.chdir(folder)
    odd = "x; touch d | $(touch e) `touch f` && touch g.conllu"
    (folder / odd).write_text((folder / "small.conllu").read_text())
    program = (
        '[[systems]]\nname = "command"\nlabel = "; touch h"\ntrain = "cp {train} {model}"\npredict = "sh noun.sh"\n'
    )
    path.write_text(
        path.read_text().replace("small.conllu", odd).replace("corpora.small", 'corpora."; touch i"') + program
    )
    store = folder / "; touch j.sqlite"
    ran = commands("run", path, "--quiet", "--store", store, "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["missing"] == 0
    for override in ("systems.0.name='majority; touch k'", "splits.strategy='random; touch l'"):
        commands.refused("run", path, "--set", override)
    made = {each.name for each in (*tmp_path.iterdir(), *folder.iterdir())}
    assert not made & {*"abcdefhijkl", "g.conllu"}


def test_a_study_is_found_wherever_one_stands(
    commands: Commands, done: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(done.parent)
    beside = commands("run", "study.toml").out
    monkeypatch.chdir(tmp_path)
    above = commands("run", "done/study.toml")
    assert above.out == beside
    assert above.err.startswith("note: 0 cells run, 4 already in the store; results in done/study.sqlite\n")
    assert above.err.endswith("page: deadheat report done/study.sqlite\n")


def test_programs_are_found_beside_the_study_wherever_one_stands(
    commands: Commands, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.write_text(study.read_text() + "[[systems]]\nname = 'command'\npredict = 'sh noun.sh'\n")
    (study.parent / "elsewhere").mkdir()
    monkeypatch.chdir(study.parent / "elsewhere")
    ran = commands("run", "../study.toml", "--json", "--quiet")
    assert json.loads(ran.out)["failed"] == []
    assert study.with_suffix(".sqlite").exists()


def test_a_plan_shows_the_hypothesis_and_the_roles_of_corpora(commands: Commands, study: Path) -> None:
    stated = ['hypothesis={primary="unigram > majority", margin=0.5}', "corpora.small.role=develop"]
    lines = commands("run", study, "--plan", *(word for value in stated for word in ("--set", value))).out.split("\n")
    assert lines[0] == "Primary hypothesis: unigram > majority by Accuracy (upos)."
    assert lines[2] == "Margin: differences of at most 0.5 points count as none."
    assert lines[4].split() == ["corpus", "sentences", "words", "role"]
    assert lines[5].endswith("develop")
    assert lines[7] == "Corpora to develop on are scored on dev and never on test; the others on test."
    assert lines[-2].endswith("no test set is evaluated.")
