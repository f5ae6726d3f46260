"""A study from Python: one call runs what is missing, says what was found, and keeps it in the store."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import deadheat
from deadheat.documents import plain
from deadheat.errors import InputError
from deadheat.questions.run import KEYS, StudyRun, named, run
from deadheat.study.engine.running import planned_evaluations
from deadheat.study.ledger.ledger import Ledger, LedgerEntry, LedgerTestSet
from deadheat.study.plan.plan import Plan
from deadheat.study.store.recording import predictions_folder
from deadheat.study.store.store import Store
from tests.study.study_cases import study_file

FAILS = "[[systems]]\nname = 'command'\nlabel = 'broken'\npredict = 'false'\n"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = study_file(tmp_path_factory.mktemp("run"), times=2)
    made.write_text(made.read_text().replace("[engine]", f"{FAILS}[engine]"))
    return made


@pytest.fixture(scope="module")
def first(path: Path) -> StudyRun:
    return run(path)


def test_a_study_is_run_by_one_call(first: StudyRun, path: Path) -> None:
    assert deadheat.run is run
    assert first.store == path.with_suffix(".sqlite")
    assert (str(first.summary), len(first.plan.cells)) == ("4 cells run, 2 failed", 6)
    assert [block.part for block in first.result.blocks] == ["dev", "test"]
    assert str(first).splitlines()[1] == "small, random.v1, test: 2 splits"
    assert first.summary.notes == ()


def test_what_failed_is_named_with_its_reason(first: StudyRun) -> None:
    told = [(named(first.plan, cell), status) for cell, status, _ in first.failures]
    assert told == [(f"broken on split {number} of small, seed 0", "failed") for number in (0, 1)]
    failed = first.to_dict()["failed"]
    assert [(each["system"], each["number"], each["seed"]) for each in failed] == [("broken", 0, 0), ("broken", 1, 0)]
    assert all("exit code 1" in each["error"] for each in failed)


def test_the_store_keeps_what_was_found_and_whose_it_is(first: StudyRun) -> None:
    with Store.read(first.store) as store:
        kept = store.result()
        assert store.study() == first.plan.text
    assert kept == plain(first.to_dict()) | {KEYS: [cell.key for cell in first.plan.cells]}


def test_test_sets_are_those_that_the_ledger_would_count(first: StudyRun) -> None:
    looked = planned_evaluations(first.plan, first.plan.cells)
    expected = [{"name": each.name, "hash": each.hash} for each in looked]
    assert first.to_dict()["test_sets"] == expected
    assert [each["name"] for each in expected] == ["small, random 0, test", "small, random 1, test"]


def test_a_second_call_runs_nothing_and_finds_the_same(first: StudyRun, path: Path, tmp_path: Path) -> None:
    ledger = Ledger.at(tmp_path / "ledger.jsonl")
    again = run(path, ledger_entry=LedgerEntry(ledger))
    assert str(again.summary) == "0 cells run, 4 already in the store, 2 failed before (--retry-failed runs them again)"
    assert plain(again.to_dict()) == plain(first.to_dict())
    assert not ledger.path.exists()  # nobody looked


def test_overrides_and_another_store_make_another_study(first: StudyRun, path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    found = run(path, overrides=["splits.times=1", "systems.2.predict='true'"], store=other)
    assert (found.store, str(found.summary)) == (other, "2 cells run, 1 failed")
    with Store.read(first.store) as store:
        assert store.result() is not None
        assert store.runs().height == 6


def test_a_damaged_prediction_is_told_and_its_cell_runs_again(first: StudyRun, path: Path, tmp_path: Path) -> None:
    store = Path(shutil.copy(first.store, tmp_path / "damaged.sqlite"))
    shutil.copytree(predictions_folder(first.store), predictions_folder(store))
    victim = min(predictions_folder(store).rglob("*test*"))
    victim.write_bytes(b"spoiled")
    said: list[str] = []
    after = run(path, store=store, on_message=said.append)
    (line,) = said
    assert line.endswith("of small, seed 0: its predictions are not what they were; it runs again")
    assert after.summary.done == 1
    assert plain(after.to_dict()) == plain(first.to_dict()) | {"store": str(store)}
    assert victim.read_bytes() != b"spoiled"


def test_a_study_that_is_refused_leaves_nothing_behind(path: Path, tmp_path: Path) -> None:
    ledger = Ledger.at(tmp_path / "ledger.jsonl")
    plan = Plan.of(path)
    test_set = next(iter(planned_evaluations(plan, plan.cells)))
    ledger.guard(LedgerTestSet(test_set.name, test_set.hash), budget=1)
    store = tmp_path / "refused.sqlite"
    with pytest.raises(InputError, match="3 evaluations planned, 1 left of a budget of 1"):
        run(path, store=store, ledger_entry=LedgerEntry(ledger))
    assert not store.exists()
