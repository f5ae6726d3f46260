"""A study from Python: one call runs what is missing, says what was found, and keeps it in the store."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

import deadheat
from deadheat.corpus import take
from deadheat.corpus.corpus import text_hash
from deadheat.errors import InputError
from deadheat.questions.run import StudyRun, run
from deadheat.study.engine.running import planned_evaluations
from deadheat.study.ledger.ledger import Ledger, LedgerEntry, LedgerTestSet
from deadheat.study.plan.plan import Plan
from deadheat.study.store.recording import predictions_folder
from deadheat.study.store.store import Store
from tests.study.study_cases import study_file

DELETES = "[[systems]]\nname = 'command'\nshell = true\npredict = 'rm -f study.sqlite; cat'\n"
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
    assert str(first) == str(first.result)
    assert first.summary.notes == ()


def test_what_failed_is_named_with_its_reason(first: StudyRun) -> None:
    cells = first.result.failed
    assert [(cell.system, cell.number, cell.seed, cell.status) for cell in cells] == [
        ("broken", 0, 0, "failed"),
        ("broken", 1, 0, "failed"),
    ]
    assert all("exit code 1" in cell.error for cell in cells)
    assert str(cells[0]).startswith("broken on split 0 of small, seed 0: failed (")


def test_the_store_keeps_the_result_and_its_keys(first: StudyRun) -> None:
    with Store.read(first.store) as store:
        assert store.result() == first.result
        assert store.study() == first.plan.text
    assert first.result.keys == tuple(cell.key for cell in first.plan.cells)


def test_a_result_of_version_0_1_says_how_to_get_a_new_one(first: StudyRun, path: Path, tmp_path: Path) -> None:
    store = Path(shutil.copy(first.store, tmp_path / "old.sqlite"))
    shutil.copytree(predictions_folder(first.store), predictions_folder(store))
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE results SET text = ?", ('{"kind": "study", "blocks": []}',))
    connection.close()
    with Store.read(store) as old, pytest.raises(InputError, match=r"written by Deadheat 0\.1; run deadheat run"):
        old.result()
    again = run(path, store=store)
    assert again.summary.done == 0
    assert replace(again.result, store=first.result.store) == first.result


def test_test_sets_are_those_that_the_ledger_would_count(first: StudyRun) -> None:
    looked = planned_evaluations(first.plan, first.plan.cells)
    sets = first.result.test_sets
    assert [(item.name, item.hash) for item in sets] == [(item.name, item.hash) for item in looked]
    assert [item.name for item in sets] == ["small, random 0, test", "small, random 1, test"]


def test_a_second_call_runs_nothing_and_finds_the_same(first: StudyRun, path: Path, tmp_path: Path) -> None:
    ledger = Ledger.at(tmp_path / "ledger.jsonl")
    again = run(path, ledger_entry=LedgerEntry(ledger))
    assert str(again.summary) == "0 cells run, 4 already in the store, 2 failed before (--retry-failed runs them again)"
    assert again.result == first.result
    assert not ledger.path.exists()  # nobody looked


def test_overrides_and_another_store_make_another_study(first: StudyRun, path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    result = run(path, overrides=["splits.times=1", "systems.2.predict='true'"], store=other)
    assert (result.store, str(result.summary)) == (other, "2 cells run, 1 failed")
    with Store.read(first.store) as store:
        assert store.result() is not None
        assert store.runs().height == 6


def test_a_damaged_prediction_is_reported_and_its_cell_runs_again(first: StudyRun, path: Path, tmp_path: Path) -> None:
    store = Path(shutil.copy(first.store, tmp_path / "damaged.sqlite"))
    shutil.copytree(predictions_folder(first.store), predictions_folder(store))
    victim = min(predictions_folder(store).rglob("*test*"))
    victim.write_bytes(b"spoiled")
    printed: list[str] = []
    after = run(path, store=store, on_message=printed.append)
    (line,) = printed
    assert line.endswith("of small, seed 0: its predictions have changed; it runs again")
    assert after.summary.done == 1
    assert after.result == replace(first.result, store=str(store))
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


def test_a_guarded_text_is_guarded_under_any_part(tmp_path: Path) -> None:
    path = study_file(tmp_path, times=1, more='evaluate = ["dev"]')
    ledger, plan = Ledger.at(tmp_path / "ledger.jsonl"), Plan.of(path)
    dev = take(plan.materials["small"].corpus, plan.partition(plan.cells[0]).parts["dev"])
    ledger.guard(LedgerTestSet("held-out", text_hash(dev)), budget=1)
    with pytest.raises(
        InputError,
        match=r"random 0, dev \(held-out\): 2 evaluations planned, 1 left of a budget of 1.* other parts \(evaluate\)$",
    ):
        run(path, ledger_entry=LedgerEntry(ledger))
    assert not path.with_suffix(".sqlite").exists()
    run(path, ledger_entry=LedgerEntry(ledger, over_budget="because"))
    tally = ledger.tally(text_hash(dev))
    assert (tally.evaluations, tally.looks, tally.over_budget) == (2, 1, 1)


def test_each_cell_counts_once_however_often_it_is_run(first: StudyRun, path: Path, tmp_path: Path) -> None:
    store = Path(shutil.copy(first.store, tmp_path / "damaged.sqlite"))
    shutil.copytree(predictions_folder(first.store), predictions_folder(store))
    min(predictions_folder(store).rglob("*test*")).write_bytes(b"spoiled")
    after = run(path, store=store)
    assert str(after.summary) == "1 cell run, 3 already in the store, 2 failed before (--retry-failed runs them again)"
    min(predictions_folder(store).rglob("*test*")).write_bytes(b"spoiled")
    more = run(path, overrides=["splits.times=3"], store=store)
    assert str(more.summary) == (
        "3 cells run, 3 already in the store, 1 failed, 2 failed before (--retry-failed runs them again)"
    )


def test_a_corpus_under_two_names_is_refused(tmp_path: Path) -> None:
    path = study_file(tmp_path)
    (tmp_path / "same.conllu").write_bytes((tmp_path / "small.conllu").read_bytes())
    path.write_text("[corpora.again]\nfiles = 'same.conllu'\n" + path.read_text())
    with pytest.raises(InputError, match=r"study\.toml:\d+: corpora again and small have the same text; expected each"):
        Plan.of(path)


def test_a_store_that_is_deleted_while_cells_run_is_an_error(tmp_path: Path) -> None:
    path = study_file(tmp_path, "majority")
    path.write_text(path.read_text().replace("[engine]", f"{DELETES}[engine]"))
    with pytest.raises(InputError, match=r"study\.sqlite: deleted or replaced while it was open"):
        run(path)
