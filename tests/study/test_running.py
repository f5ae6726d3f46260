"""Running a study: every cell once, each failure by itself, every look at a test set before its scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deadheat.corpus import read
from deadheat.corpus.corpus import text_hash
from deadheat.errors import InputError
from deadheat.study.engine import running
from deadheat.study.engine.running import (
    Callbacks,
    CellRunner,
    RunSummary,
    failed_cells,
    missing_cells,
    planned_evaluations,
    run_study,
    summary_before,
)
from deadheat.study.engine.training import train_cell
from deadheat.study.ledger.ledger import Ledger, LedgerEntry, LedgerTestSet
from deadheat.study.plan.cells import DONE, FAILED, KILLED, TIMED_OUT, Outcome
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from tests.study.study_cases import SEEN, corpus_text, odd_systems, parallel, serial, study_file


@pytest.fixture(autouse=True)
def _odd_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    odd_systems(monkeypatch)


def ran(path: Path, *overrides: str, **options: Any) -> RunSummary:
    """Run a study in this process, in the store beside it."""
    plan = Plan.of(path, overrides)
    with Store.open(plan.store_path, create=True) as store, serial(plan, store) as executor:
        return run_study(plan, store, executor=executor, **options)


def looks(ledger: Path) -> list[dict[str, Any]]:
    return [event for event in Ledger(ledger).events() if event["event"] == "look"]


def cells_of(path: Path) -> list[tuple[str, int, int, str]]:
    with Store.read(path.with_suffix(".sqlite")) as store:
        runs = store.runs()
        return sorted(zip(runs["system"], runs["number"], runs["seed"], runs["status"], strict=True))


def test_what_is_in_the_store_is_not_run_again(tmp_path: Path) -> None:
    path = study_file(tmp_path)
    assert ran(path) == RunSummary(0, done=6)
    assert ran(path) == RunSummary(6)
    assert ran(path, "splits.times=4") == RunSummary(6, done=2)
    assert ran(path, "systems.1.column=['upos', 'xpos']") == RunSummary(6, done=3)
    assert len(cells_of(path)) == 11
    (tmp_path / "small.conllu").write_text(corpus_text(30, seed=1))
    assert ran(path) == RunSummary(0, done=6)
    assert len(cells_of(path)) == 17


def test_scores_and_predictions_are_those_of_the_system_alone(tmp_path: Path) -> None:
    path = study_file(tmp_path, "unigram", times=1)
    ran(path)
    plan = Plan.of(path)
    [cell] = plan.cells
    scores = {each.part: each for each in train_cell(plan, cell).scores}
    with Store.read(plan.store_path) as store:
        for part, each in scores.items():
            gold = plan.partition(cell).parts[part]
            predicted = read(text=store.prediction(cell.key, part).decode())
            assert predicted.sentences == len(gold) == each.sentences
            for metric, counts in each.counts.items():
                assert store.counts([cell.key], part=part, metric=metric)[0].tolist() == counts.tolist()
            right = each.counts["accuracy.v1"].sum(axis=0)
            assert each.values["accuracy.v1"] == right[0] / right[1]


@pytest.mark.parametrize(("tune", "tuned"), [("auto", "dev"), ("dev", "dev"), ("none", None)])
def test_training_sees_train_and_tune_and_prediction_sees_no_labels(
    tmp_path: Path, tune: str, tuned: str | None
) -> None:
    path = study_file(tmp_path, "witness", f"tune = {tune!r}\nseeds = [3, 8]", times=2)
    SEEN.clear()
    ran(path)
    plan = Plan.of(path)
    assert len(SEEN) == len(plan.cells) == 4
    for cell, seen in zip(plan.cells, SEEN, strict=True):
        parts = {name: frozenset(map(int, numbers)) for name, numbers in plan.partition(cell).parts.items()}
        assert seen["seed"] == cell.seed
        assert seen["train"] == parts["train"]
        assert seen["tune"] == (parts[tuned] if tuned else None)
        assert seen["predict"] == [parts["dev"], parts["test"]]
        assert seen["labels"] == {"_"}


def test_a_cell_that_is_run_again_for_another_part_keeps_what_it_was_scored_on(tmp_path: Path) -> None:
    path = study_file(tmp_path, "unigram", times=1)
    ran(path, "evaluate=['dev']")
    assert str(ran(path, "evaluate=['test']")).startswith("1 cell run")
    with Store.read(Plan.of(path).store_path) as store:
        assert set(store.scores()["part"]) == {"dev", "test"}
    assert str(ran(path, "evaluate=['dev']")) == "0 cells run, 1 already in the store"


def test_every_look_at_a_test_part_is_counted_and_none_at_another(tmp_path: Path, ledger_path: Path) -> None:
    path = study_file(tmp_path)
    ledger_entry = LedgerEntry(Ledger(ledger_path))
    ran(path, "evaluate=['dev']", ledger_entry=ledger_entry)
    assert not ledger_path.exists()
    ran(path, "evaluate=['test']", ledger_entry=ledger_entry)
    plan = Plan.of(path)
    assert planned_evaluations(plan, plan.cells) == {
        LedgerTestSet(f"small, random {number}, test", test_set): 2
        for number, test_set in enumerate(dict.fromkeys(each["test_set"] for each in looks(ledger_path)))
    }
    assert sorted((each["system"], each["name"]) for each in looks(ledger_path)) == sorted(
        (system, f"small, random {number}, test") for system in ("majority", "unigram") for number in range(3)
    )
    assert {each["purpose"] for each in looks(ledger_path)} == {"study study.toml"}
    ran(path, "evaluate=['test']", ledger_entry=ledger_entry)
    assert len(looks(ledger_path)) == 6


def test_the_look_is_written_before_the_scores(
    tmp_path: Path, ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = study_file(tmp_path, times=1)

    def full(store: Store, outcome: Outcome) -> bool:
        assert looks(ledger_path)[-1]["system"] == outcome.cell.system.partition(".")[0]
        raise InputError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Store, "add", full)
        with pytest.raises(InputError, match="the disk is full"):
            ran(path, ledger_entry=LedgerEntry(Ledger(ledger_path)))
    assert len(looks(ledger_path)) == 1
    assert cells_of(path) == []

    def refused(*_: Any, **__: Any) -> None:
        raise InputError("no look is left")

    monkeypatch.setattr(Ledger, "record", refused)
    with pytest.raises(InputError, match="no look is left"):
        ran(path, ledger_entry=LedgerEntry(Ledger(ledger_path)))
    assert cells_of(path) == []


def test_a_changed_ledger_is_a_note_of_the_run(tmp_path: Path, ledger_path: Path) -> None:
    path = study_file(tmp_path)
    ledger = Ledger(ledger_path)
    for number in range(2):
        ledger.guard(LedgerTestSet(f"other {number}", "ab" * 32))
    assert not ran(path, ledger_entry=LedgerEntry(ledger)).notes
    ledger_path.write_text(ledger_path.read_text().replace("other 0", "another"))
    notes = ran(path, "splits.times=4", ledger_entry=LedgerEntry(ledger)).notes
    assert notes
    assert all("deadheat ledger --verify" in note for note in notes)


def test_a_budget_that_the_plan_would_exceed_refuses_before_anything_runs(tmp_path: Path, ledger_path: Path) -> None:
    path = study_file(tmp_path)
    plan, ledger = Plan.of(path), Ledger(ledger_path)
    split_2 = next(test_set for test_set in planned_evaluations(plan, plan.cells) if " 2, " in test_set.name)
    ledger.guard(split_2, budget=1)
    SEEN.clear()
    with pytest.raises(
        InputError, match=r"random 2, test .*2 evaluations planned, 1 left of a budget of 1 .*--over-budget"
    ):
        ran(path, ledger_entry=LedgerEntry(ledger))
    assert cells_of(path) == []
    assert ran(path, "splits.times=2", ledger_entry=LedgerEntry(ledger)).done == 4
    assert ran(path, ledger_entry=LedgerEntry(ledger, over_budget="we have to")).done == 2
    assert [each.get("over_budget") for each in looks(ledger_path)] == [None] * 5 + ["we have to"]


ENDS = [("raises", FAILED), ("exits", FAILED), ("is_killed", KILLED), ("hangs", TIMED_OUT)]


def test_a_cell_that_ends_badly_is_recorded_and_the_others_go_on(tmp_path: Path) -> None:
    path = study_file(tmp_path, times=1)
    marker = tmp_path / "mended"
    odd = "".join(f"[[systems]]\nname = 'odd'\ndoes = '{does}'\nmarker = '{marker}'\n" for does, _ in ENDS)
    path.write_text(path.read_text() + odd)
    plan = Plan.of(path)

    def go(*, retry: bool = False) -> RunSummary:
        with Store.open(plan.store_path, create=True) as store, parallel(plan, store, limit_s=3) as executor:
            return run_study(plan, store, executor=executor, retry_failed=retry)

    assert go() == RunSummary(0, done=2, failed=4)
    with Store.read(plan.store_path) as store:
        failed = {cell.system: (cell, status, error) for cell, status, error in failed_cells(plan, store)}
        by_deed = {does: failed[f"odd.v1(does='{does}', marker='{marker}')"] for does, _ in ENDS}
        assert {does: status for does, (_, status, _) in by_deed.items()} == dict(ENDS)
        assert by_deed["raises"][2] == "ValueError: this cannot be learned"
        assert "3" in by_deed["exits"][2]
        log = store.outcome_log(by_deed["raises"][0].key)
        assert log.startswith("on my way\n")
        assert "study_cases.py" in log
        assert store.outcome_log(by_deed["is_killed"][0].key) == "the end is near\n"
        assert missing_cells(plan, store) == []
    assert go() == RunSummary(2, skipped=4)
    marker.touch()
    assert go(retry=True) == RunSummary(2, done=4)
    assert {status for *_, status in cells_of(path)} == {DONE}


def test_scores_that_a_study_asks_for_only_later_are_made(tmp_path: Path) -> None:
    path = study_file(tmp_path, times=2)
    ran(path, "evaluate=['dev']")
    more = ["metrics=['accuracy', 'upos']"]
    assert ran(path, *more) == RunSummary(0, done=4)
    with Store.read(path.with_suffix(".sqlite")) as store:
        assert set(store.scores()["metric"]) == {"accuracy.v1", "upos.v1"}
        assert set(store.scores()["part"]) == {"dev", "test"}
        assert store.verify() == []
    assert len(cells_of(path)) == 4
    assert ran(path, "metrics=['upos']", "evaluate=['test']") == RunSummary(4)  # less is already in the store


def test_a_cell_that_is_done_stays_if_it_fails_when_run_again(tmp_path: Path) -> None:
    path = study_file(tmp_path, "odd", times=1)
    marker = tmp_path / "well"
    path.write_text(path.read_text().replace("name = 'odd'", f"name = 'odd'\ndoes = 'raises'\nmarker = '{marker}'"))
    marker.touch()
    ran(path, "evaluate=['dev']")
    before = cells_of(path)
    marker.unlink()
    assert ran(path) == RunSummary(0, failed=1)
    assert cells_of(path) == before == [(before[0][0], 0, 0, DONE)]


def test_a_corpus_or_study_that_changes_meanwhile_is_told(tmp_path: Path) -> None:
    path = study_file(tmp_path, times=1)
    plan = Plan.of(path)
    runner = CellRunner(path, plan.text, (), tmp_path / "p")
    (tmp_path / "small.conllu").write_text(corpus_text(30, seed=1))
    runner.prepare()
    with pytest.raises(InputError, match="corpus small: changed while the study was running"):
        runner.run(plan.cells[0])
    path.write_text(plan.text + "# changed\n")
    with pytest.raises(InputError, match=r"study\.toml: changed while the study was starting"):
        runner.prepare()


def test_vectors_that_change_meanwhile_are_told(tmp_path: Path) -> None:
    path = study_file(tmp_path, times=1)
    path.write_text(path.read_text() + "[[systems]]\nname = 'bilstm'\nvectors = 'small.vec'\n")
    (tmp_path / "small.vec").write_text("the 0.1 0.2\n")
    plan = Plan.of(path)
    cell = next(each for each in plan.cells if each.vectors)
    plan.check_unchanged(cell)
    (tmp_path / "small.vec").write_text("the 0.1 0.25\n")
    with pytest.raises(InputError, match=r"word vectors of bilstm.*: changed while the study was running"):
        plan.check_unchanged(cell)
    (tmp_path / "small.vec").unlink()
    with pytest.raises(InputError, match=r"small.vec: no such file or directory; expected word vectors"):
        plan.check_unchanged(cell)


def test_every_outcome_is_reported(tmp_path: Path) -> None:
    path = study_file(tmp_path)
    outcomes: list[str] = []
    ran(path, callbacks=Callbacks(lambda outcome: outcomes.append(outcome.status)))
    assert outcomes == [DONE] * 6


def test_how_a_run_went_is_one_line() -> None:
    assert str(RunSummary(0, done=1)) == "1 cell run"
    assert str(RunSummary(1_200, done=3, failed=2)) == "3 cells run, 1,200 already in the store, 2 failed"
    assert str(RunSummary(0, skipped=2)) == "0 cells run, 2 failed before (--retry-failed runs them again)"


def test_the_overrides_are_kept_with_the_runs(tmp_path: Path) -> None:
    path = study_file(tmp_path, times=1)
    ran(path, "splits.seed=3")
    [cell, _] = Plan.of(path, ["splits.seed=3"]).cells
    with Store.read(path.with_suffix(".sqlite")) as store:
        assert store.provenance(cell.key)["set"] == ["splits.seed=3"]


def test_a_test_part_is_known_to_the_ledger_by_its_words(tmp_path: Path, ledger_path: Path) -> None:
    path = study_file(tmp_path, "majority", times=1)
    ran(path, ledger_entry=LedgerEntry(Ledger(ledger_path), purpose="to see"))
    plan = Plan.of(path)
    [cell] = plan.cells
    with Store.read(plan.store_path) as store:
        predicted = read(text=store.prediction(cell.key, "test").decode())
    [ledger_entry] = looks(ledger_path)
    assert ledger_entry["test_set"] == text_hash(predicted)
    assert ledger_entry["purpose"] == "to see"
    assert ledger_entry["metrics"] == ["accuracy.v1", "unknown.v1", "sentence-accuracy.v1"]


def test_nothing_of_a_store_or_study_is_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = study_file(tmp_path)
    ran(path)

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("something was unpickled")

    for name in ("pickle.loads", "pickle.load", "pickle.Unpickler", "marshal.loads", "builtins.eval", "builtins.exec"):
        monkeypatch.setattr(name, never)
    plan = Plan.of(path)
    with Store.read(plan.store_path) as store:
        assert missing_cells(plan, store) == []
        assert str(summary_before(plan, store)) == "0 cells run, 6 already in the store"
        for cell in plan.cells:
            assert store.prediction(cell.key, "test")
            assert store.counts([cell.key], part="test", metric="accuracy.v1").size
            assert store.provenance(cell.key)["deadheat"]
        assert store.verify() == []


def test_budgets_are_not_looked_up_where_there_are_none(
    tmp_path: Path, ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan.of(study_file(tmp_path))

    def never(*_: Any) -> None:
        raise AssertionError("test sets were hashed for nothing")

    monkeypatch.setattr(running, "planned_evaluations", never)
    running.check_budgets(plan, plan.cells, LedgerEntry(Ledger(ledger_path)))
