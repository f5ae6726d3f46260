"""Scores that are added from stored predictions are those that training with the metric would have given."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

import pytest

from deadheat.errors import InputError
from deadheat.questions.run import StudyRun, run_plan
from deadheat.study.engine import rescoring
from deadheat.study.engine.running import RunSummary, planned_evaluations
from deadheat.study.ledger.ledger import Ledger, LedgerEntry
from deadheat.study.plan.plan import Plan
from deadheat.study.store.recording import predictions_folder
from deadheat.study.store.store import Store
from tests.cli.running import Commands
from tests.study.study_cases import in_this_process, study_file

TAGGING = ["metrics=['unknown', 'upos', 'sentence-accuracy', 'known']"]
CODE = """
import numpy as np
from deadheat import Metric, System, take
from deadheat.corpus.transforms import with_trees

def parser():
    def train(train, tune, seed):
        return Parser(seed)
    return System("parser", train, trees=True)

class Parser:
    def __init__(self, seed):
        self.seed = seed
    def predict(self, corpus):
        rng = np.random.default_rng(self.seed)
        first = np.zeros(corpus.words, bool)
        first[corpus.offsets[:-1]] = True
        place = np.arange(corpus.words) - np.repeat(corpus.offsets[:-1], np.diff(corpus.offsets))
        heads = np.where(first, 0, 1 + rng.integers(0, np.maximum(place, 1)))
        return with_trees(corpus, heads, corpus.column("deprel"))

def root():
    def counts(pair):
        roots, _ = pair.which("deprel", lambda name: name == "root")
        rows = pair.units.of_gold(pair.heads_equal & roots)
        return np.stack([rows, np.ones_like(rows), np.ones_like(rows)], axis=1)
    return Metric("root", "Roots", counts, lambda sums: sums[..., 0] / sums[..., 1], compares="head")
"""


def never(plan: Plan, store: Path) -> NoReturn:
    raise AssertionError("something is trained")


def ran(study: Path, *overrides: str, executor: Any = in_this_process, **options: Any) -> StudyRun:
    return run_plan(Plan.of(study, overrides), executor=executor, **options)


def scored_again(path: Path, *overrides: str, **options: Any) -> RunSummary:
    """Run a study in which nothing has to be trained."""
    return ran(path, *overrides, executor=never, **options).summary


def contents(path: Path) -> dict[str, dict[str, Any]]:
    """All scores with their counts, and the hashes of predictions, by run; what is stored in another order is equal."""
    with Store.read(path.with_suffix(".sqlite")) as store:
        assert store.verify() == []
        by_key: dict[str, dict[str, Any]] = {}
        scores = store.scores().select("key", "part", "metric", "value", "sentences", "words")
        for key, part, metric, value, *sizes in scores.iter_rows():
            counts = store.counts([key], part=part, metric=metric)
            row = (float(value).hex(), *sizes, counts.shape, counts.tobytes())
            by_key.setdefault(key, {})[f"{metric} on {part}"] = row
        for key, files in store.prediction_files().items():
            by_key[key]["predictions"] = files
        return by_key


def rows(path: Path, table: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path.with_suffix(".sqlite"))) as connection:
        return connection.execute(f"SELECT * FROM {table}").fetchall()


def study(folder: Path, kind: str) -> Path:
    """A study of taggers, or of a parser."""
    folder.mkdir()
    (folder / "mine.py").write_text(CODE)
    if kind == "taggers":
        return study_file(folder, "majority unigram hmm perceptron", times=2)
    return study_file(folder, "mine.py:parser", "seeds = 2", times=2)


CASES = {
    "taggers": (["metrics=['accuracy']"], TAGGING),
    "parser": (["metrics=['uas']"], ["metrics=['clas', 'las(subtypes=True)', 'ucm-supar', 'mine.py:root']"]),
}


@pytest.mark.parametrize("workers", [True, False])
@pytest.mark.parametrize("kind", CASES)
def test_scores_are_those_of_training_with_the_metric_from_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, *, workers: bool
) -> None:
    before, more = CASES[kind]
    path, fresh = study(tmp_path / "a", kind), study(tmp_path / "b", kind)
    ran(path, *before)
    old, runs = contents(path), rows(path, "runs")
    if workers:
        monkeypatch.setattr(rescoring, "IN_PROCESS", 0)
    summary = scored_again(path, *more)
    assert summary == RunSummary(0, rescored=len(old))
    ran(fresh, *more)
    both = contents(path)
    assert {
        key: {name: row for name, row in of_run.items() if row != old[key].get(name)} for key, of_run in both.items()
    } == {
        key: {name: row for name, row in of_run.items() if name != "predictions"}
        for key, of_run in contents(fresh).items()
    }
    assert all(old[key].items() <= both[key].items() for key in old)
    columns = [at for at, (_, name, *_) in enumerate(table_info(path)) if name != "provenance"]
    assert [[row[at] for at in columns] for row in rows(path, "runs")] == [[row[at] for at in columns] for row in runs]
    assert scored_again(path, *more) == RunSummary(len(old))


def table_info(path: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path.with_suffix(".sqlite"))) as connection:
        return connection.execute("PRAGMA table_info(runs)").fetchall()


def test_the_result_is_that_of_a_study_that_had_the_metric_from_the_start(tmp_path: Path) -> None:
    path, fresh = study(tmp_path / "a", "taggers"), study(tmp_path / "b", "taggers")
    ran(path, "metrics=['accuracy']")
    assert str(ran(path, *TAGGING, executor=never).result) == str(ran(fresh, *TAGGING).result)


def test_the_log_stays_and_the_provenance_says_what_was_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = study_file(tmp_path, "unigram", times=1)
    ran(path, "metrics=['accuracy']")
    [cell] = Plan.of(path).cells
    with Store.read(path.with_suffix(".sqlite")) as store:
        log, first = store.outcome_log(cell.key), store.provenance(cell.key)
    monkeypatch.setattr("deadheat.study.store.provenance.__version__", "99")
    scored_again(path, "metrics=['upos', 'unknown']")
    with Store.read(path.with_suffix(".sqlite")) as store:
        assert store.outcome_log(cell.key) == log
        provenance = store.provenance(cell.key)
    (added,) = provenance.pop("added_scores")
    assert provenance == first
    assert added == {
        "parts": ["dev", "test"],
        "metrics": ["upos.v1", "unknown.v1"],
        "deadheat": "99",
        "set": ["metrics=['upos', 'unknown']"],
    }


def test_a_part_that_was_predicted_is_scored_and_another_one_is_trained_for(tmp_path: Path) -> None:
    path = study_file(tmp_path, "unigram", times=1)
    ran(path, "metrics=['accuracy']")
    assert scored_again(path, "metrics=['upos']", "evaluate=['dev']") == RunSummary(0, rescored=1)
    assert scored_again(path, "metrics=['upos']") == RunSummary(0, rescored=1)
    other = study_file(tmp_path / "other", "unigram", times=1)
    ran(other, "metrics=['accuracy']", "evaluate=['dev']")
    assert ran(other, "metrics=['accuracy']").summary == RunSummary(0, done=1)


def damage(path: Path, keys: Sequence[str], *, delete: bool) -> None:
    for key in keys:
        file = predictions_folder(path.with_suffix(".sqlite")) / key[:2] / f"{key}.test.zst"
        file.unlink() if delete else file.write_bytes(file.read_bytes()[:-1])


@pytest.mark.parametrize("delete", [True, False])
def test_cells_whose_predictions_are_damaged_are_trained_with_a_note(tmp_path: Path, *, delete: bool) -> None:
    path = study_file(tmp_path, "majority unigram", times=3)
    ran(path, "metrics=['accuracy']")
    cells = Plan.of(path).cells
    damage(path, [cell.key for cell in cells[:5]], delete=delete)
    summary = ran(path, "metrics=['upos']").summary
    assert (summary.done, summary.rescored, summary.stored) == (5, 1, 0)
    assert len(summary.notes) == 4
    problem = "its predictions are missing" if delete else "changed since it was written"
    assert summary.notes[0].startswith("majority on split 0 of small, seed 0: ")
    assert problem in summary.notes[0]
    assert summary.notes[0].endswith("; it is trained again")
    assert summary.notes[3] == "2 more cells are trained again for such reasons"
    assert all("upos.v1 on test" in of_run for of_run in contents(path).values())


def test_a_metric_that_fails_is_reported_and_nothing_is_trained(tmp_path: Path) -> None:
    path = study(tmp_path / "a", "parser")
    ran(path, "metrics=['uas']")
    before = contents(path)
    code = path.parent / "mine.py"
    bad = "\ndef bad():\n    def counts(pair):\n        raise ValueError('not today')\n"
    more = "    return Metric('bad', 'Bad', counts, lambda sums: sums[..., 0], compares='head')\n"
    (path.parent / "bad.py").write_text(code.read_text() + bad + more)
    summary = scored_again(path, "metrics=['uas', 'bad.py:bad']")
    assert (summary.failed, summary.rescored) == (len(before), 0)
    assert summary.notes[0].endswith(": bad.py:bad: its counts failed (bad.py line 31: ValueError: not today)")
    assert summary.notes[-1] == "1 more cell could not be scored for such reasons"
    assert contents(path) == before


def test_a_metric_whose_code_has_changed_scores_stored_predictions(tmp_path: Path) -> None:
    path = study(tmp_path / "a", "parser")
    ran(path, "metrics=['uas', 'mine.py:root']")
    code = path.parent / "mine.py"
    (path.parent / "root.py").write_text(code.read_text())
    more = "metrics=['uas', 'root.py:root']"
    assert scored_again(path, more).rescored == 4
    (path.parent / "root.py").write_text(
        code.read_text().replace('"root"\n', '"dep"\n').replace('== "root"', '== "dep"')
    )
    assert scored_again(path, more).rescored == 4
    by_metric = {name: row for of_run in contents(path).values() for name, row in of_run.items() if "on test" in name}
    values = [row[0] for name, row in by_metric.items() if name.startswith("root.py:root@")]
    assert len(set(values)) == len(values) == 2


def test_cells_that_lack_scores_are_not_called_new_because_code_has_changed(tmp_path: Path) -> None:
    path = study(tmp_path / "a", "parser")
    ran(path, "metrics=['uas']")
    code = path.parent / "mine.py"
    code.write_text(code.read_text() + "# another state\n")
    messages: list[str] = []
    ran(path, "metrics=['uas']", on_message=messages.append)
    assert [message.partition(";")[0] for message in messages] == ["4 cells are new because mine.py changed"]
    messages.clear()
    assert scored_again(path, "metrics=['las']", on_message=messages.append).rescored == 4
    assert messages == []


def test_kept_cells_of_earlier_code_are_scored_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = study(tmp_path / "a", "parser")
    ran(path, "metrics=['uas']")
    code = path.parent / "mine.py"
    code.write_text(code.read_text() + "# another state\n")
    assert scored_again(path, "metrics=['las']", keep_old=True).rescored == 4
    monkeypatch.setattr(rescoring, "IN_PROCESS", 0)
    assert scored_again(path, "metrics=['clas']", keep_old=True).rescored == 4


def looks(path: Path) -> list[dict[str, Any]]:
    return [event for event in Ledger(path).events() if event["event"] == "look"]


def test_an_evaluation_is_recorded_before_its_scores_are_stored(
    tmp_path: Path, ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, entry = study_file(tmp_path, "unigram", times=2), LedgerEntry(Ledger(ledger_path))
    ran(path, "metrics=['accuracy']", ledger_entry=entry)
    assert len(looks(ledger_path)) == 2

    def full(*_: Any) -> None:
        assert looks(ledger_path)[-1]["metrics"] == ["upos.v1"]
        raise InputError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Store, "add_scores", full)
        with pytest.raises(InputError, match="the disk is full"):
            scored_again(path, "metrics=['upos']", ledger_entry=entry)
    assert len(looks(ledger_path)) == 4
    assert all("upos.v1 on test" not in of_run for of_run in contents(path).values())
    scored_again(path, "metrics=['upos']", ledger_entry=entry)
    events = looks(ledger_path)
    assert len(events) == 6
    assert len({event["look"] for event in events}) == 1
    assert {event["prediction"] for event in events[:2]} == {event["prediction"] for event in events[4:]}
    assert [event["metrics"] for event in events] == [["accuracy.v1"]] * 2 + [["upos.v1"]] * 4
    scored_again(path, "metrics=['upos', 'unknown']", "evaluate=['dev']", ledger_entry=entry)
    assert len(looks(ledger_path)) == 6


def test_a_budget_counts_predictions_that_are_scored_again(tmp_path: Path, ledger_path: Path) -> None:
    path, entry = study_file(tmp_path, "majority unigram", times=1), LedgerEntry(Ledger(ledger_path))
    plan = ran(path, "metrics=['accuracy']", ledger_entry=entry).plan
    (test_set,) = planned_evaluations(plan, plan.cells)
    entry.ledger.guard(test_set, budget=3)
    before = contents(path)
    with pytest.raises(InputError, match="2 evaluations planned, 1 left of a budget of 3"):
        scored_again(path, "metrics=['upos']", ledger_entry=entry)
    assert contents(path) == before
    assert scored_again(path, "metrics=['upos']", "evaluate=['dev']", ledger_entry=entry).rescored == 2
    over = LedgerEntry(Ledger(ledger_path), over_budget="to compare with others")
    assert scored_again(path, "metrics=['upos']", ledger_entry=over).rescored == 2


def test_rows_that_changed_are_not_written_over(tmp_path: Path) -> None:
    path = study_file(tmp_path, "unigram", times=1)
    ran(path, "metrics=['accuracy']")
    store = path.with_suffix(".sqlite")
    [cell] = Plan.of(path).cells
    with Store.open(store) as opened:
        with closing(sqlite3.connect(store)) as connection:
            connection.execute("UPDATE runs SET wall_s = 7")
            connection.commit()
        with pytest.raises(InputError, match="has changed"):
            opened.add_scores({cell.key: ()}, {})
        with pytest.raises(InputError, match="no run that is done"):
            opened.add_scores({"ffff": ()}, {})


@pytest.fixture
def commands(capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(capsys)


def test_progress_counts_cells_that_are_scored(
    tmp_path: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = study_file(tmp_path, "majority unigram", times=2)
    ran(path, "metrics=['accuracy']")
    monkeypatch.setattr("deadheat.questions.run.IN_PROCESS", 0)
    run = commands("run", path, "--set", "metrics=['upos']")
    assert run.code == 0
    assert re.match(r"(.*\n)*4 of 4 scored, .*took .*\nnote: 0 cells run, 4 scored again; results in ", run.err), (
        run.err
    )


def test_the_plan_and_the_summary_count_the_cells_that_are_only_scored(tmp_path: Path, commands: Commands) -> None:
    path = study_file(tmp_path, "majority unigram", times=2)
    ran(path, "metrics=['accuracy']")
    more = ["--set", "metrics=['upos', 'accuracy']"]
    planned = commands("run", path, "--plan", *more).out
    assert "4 cells: 0 to run, 4 to score by upos.v1; 4 evaluations of 2 test sets." in planned
    planned = commands("run", path, "--plan", *more, "--set", "splits.times=3").out
    assert "6 cells: 2 to run, 4 to score by upos.v1; 6 evaluations of 3 test sets" in planned
    amounts = json.loads(commands("run", path, "--plan", "--json", *more).out)
    assert (amounts["to_run"], amounts["to_score"], amounts["evaluations"], amounts["seconds"]) == (0, 4, 4, None)
    damage(path, [Plan.of(path).cells[0].key], delete=True)
    assert "4 cells: 1 to run, 3 to score by upos.v1;" in commands("run", path, "--plan", *more).out
    run = commands("run", path, "--quiet", *more)
    assert "note: 1 cell run, 3 scored again; results in" in run.err
    assert "4 cells: 0 to run, 4 in the store;" in commands("run", path, "--plan", *more).out
