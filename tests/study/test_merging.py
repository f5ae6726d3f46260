"""A merged store is the one that a study in one piece would have written, or there is none."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deadheat import merge_stores
from deadheat.errors import InputError
from deadheat.questions.store_report import store_report
from deadheat.study.engine.running import RunSummary
from deadheat.study.plan.cells import FAILED, Outcome, PartScores
from deadheat.study.plan.plan import Plan
from deadheat.study.store import merge_writing
from deadheat.study.store.database import APPLICATION
from deadheat.study.store.recording import predictions_folder, write_prediction
from deadheat.study.store.store import Store
from tests.study.store_outcomes import cell, counts, outcome
from tests.study.study_cases import study_file
from tests.study.test_rescoring import contents, never, ran
from tests.study.test_store_broken import ROW_0, SCHEMA_0

KEY = cell(1).key


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    return study_file(folder, "unigram perceptron", "metrics = ['accuracy', 'unknown']", times=2)


def files(folder: Path) -> set[str]:
    """All files of a folder, without locks of stores that were written to."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.suffix != ".lock" and path.is_file()}


def pieces(study: Path) -> list[Path]:
    """Two stores of one study: other seeds, and one cell in both."""
    stores = [study.with_name(name) for name in ("a.sqlite", "b.sqlite")]
    for store, seeds in zip(stores, ("[0, 1]", "[1, 2]"), strict=True):
        ran(study, f"seeds={seeds}", path=store)
    return stores


def made(path: Path, *outcomes: Outcome, predictions: bytes = b"") -> Path:
    """A store with these outcomes, all with the same prediction."""
    with Store.open(path, create=True) as store:
        for one in outcomes:
            if predictions:
                file = write_prediction(store.predictions, one.cell.key, "test", predictions)
                one = Outcome(one.cell, one.status, scores=one.scores, predictions={"test": file})
            store.add(one)
    return path


def scored(number: int, metric: str = "upos.v1", change: int = 0) -> Outcome:
    """An outcome by some metric; `change` of its words are wrong besides."""
    rows = counts(number) - np.array([1, 0, 0]) * (np.arange(300)[:, None] < change)
    value = float(rows[:, 0].sum() / rows[:, 1].sum())
    return outcome(number, scores=(PartScores("test", 300, int(rows[:, 1].sum()), {metric: value}, {metric: rows}),))


def test_pieces_of_a_study_are_the_whole_study(study: Path, tmp_path: Path) -> None:
    stores, whole = pieces(study), tmp_path / "study" / "whole.sqlite"
    ran(study, "seeds=3", path=whole)
    before = {path: path.read_bytes() for path in stores}
    merged = merge_stores(stores, tmp_path / "all.sqlite")
    assert str(merged) == f"{tmp_path}/all.sqlite: 8 cells (6 in {stores[0]}, 6 in {stores[1]}; 4 in several)"
    assert contents(tmp_path / "all.sqlite") == contents(whole)
    assert {path: path.read_bytes() for path in stores} == before
    report = store_report(tmp_path / "all.sqlite")
    [unfinished] = report.results[:1]
    rows = [row for block in unfinished.blocks for row in block.systems]  # type: ignore[attr-defined]
    assert {(row.system, row.runs) for row in rows if row.metric == "accuracy.v1"} == {
        ("unigram", 2),
        ("perceptron", 6),
    }
    again = ran(study, "seeds=3", path=tmp_path / "all.sqlite", executor=never)
    assert again.summary == RunSummary(8)
    assert str(again.result) == str(ran(study, "seeds=3", path=whole, executor=never).result)
    assert ran(study, "seeds=4", path=tmp_path / "all.sqlite").summary == RunSummary(8, done=2)


def test_metrics_of_the_same_cells_are_united(study: Path, tmp_path: Path) -> None:
    for name, metrics in (("a", "['accuracy', 'upos']"), ("b", "['upos', 'unknown']")):
        ran(study, f"metrics={metrics}", path=study.with_name(f"{name}.sqlite"))
    ran(study, "metrics=['accuracy', 'upos', 'unknown']", path=study.with_name("whole.sqlite"))
    merge_stores([study.with_name(f"{name}.sqlite") for name in "ab"], study.with_name("all.sqlite"))
    assert contents(study.with_name("all.sqlite")) == contents(study.with_name("whole.sqlite"))
    with Store.read(study.with_name("all.sqlite")) as store:
        [added] = store.provenance(Plan.of(study).cells[0].key)["added_scores"]
    assert (added["parts"], added["metrics"]) == (["dev", "test"], ["unknown.v1"])


def test_a_cell_that_is_done_wins_over_one_that_failed(tmp_path: Path) -> None:
    a = made(tmp_path / "a.db", outcome(1, status=FAILED), outcome(2, status=FAILED), outcome(3))
    b = made(tmp_path / "b.db", outcome(1), outcome(2, status=FAILED), outcome(3, status=FAILED))
    merged = merge_stores([a, b], tmp_path / "all.db")
    assert (merged.cells, merged.shared, merged.failed) == (3, 3, 1)
    with Store.read(tmp_path / "all.db") as store:
        assert store.done() == {cell(1).key, cell(3).key}
        assert store.outcome_log(KEY) == "log of 1\n"
        assert store.verify() == []
    assert str(merged).endswith("; 3 in several; 1 failed)")


@pytest.mark.parametrize("preferred", [None, 0, 1])
def test_cells_that_differ_are_named_and_nothing_is_written(tmp_path: Path, preferred: int | None) -> None:
    stores = [
        made(tmp_path / f"{name}.db", scored(1, change=change), scored(2), predictions=b"same")
        for name, change in (("a", 0), ("b", 2))
    ]
    out, before = tmp_path / "all.db", files(tmp_path)
    values = [scored(1, change=change).scores[0].values["upos.v1"] for change in (0, 2)]
    if preferred is None:
        with pytest.raises(InputError) as caught:
            merge_stores(stores, out)
        lines = str(caught.value).split("\n")
        words = "perceptron on split 1 of english, seed 1: upos.v1 on test differs"
        assert lines[0] == f"{words}: {values[0]!r} in {stores[0]}, {values[1]!r} in {stores[1]}"
        assert lines[1:] == ["nothing was written; expected equal cells, or --prefer STORE to take those of one store"]
        assert files(tmp_path) == before
        return
    merged = merge_stores(stores, out, prefer=[stores[preferred]])
    [note] = merged.notes
    assert len(merged.conflicts) == 1
    assert note.endswith(f"{values[preferred]!r} in {stores[preferred]}, {values[1 - preferred]!r} in "
                         f"{stores[1 - preferred]}; the first was taken")  # fmt: skip
    with Store.read(out) as store:
        [value] = store.scores().filter(key=KEY)["value"]
        assert value == values[preferred]
        assert store.verify() == []


def test_other_counts_and_other_predictions_are_conflicts_too(tmp_path: Path) -> None:
    rows = counts(1)[::-1]
    other = outcome(
        1, scores=(PartScores("test", 300, int(rows[:, 1].sum()), scored(1).scores[0].values, {"upos.v1": rows}),)
    )
    stores = [made(tmp_path / "a.db", scored(1)), made(tmp_path / "b.db", other)]
    with pytest.raises(InputError, match=r"upos\.v1 on test has the same value, 0\.\d+, in .*, but from different s"):
        merge_stores(stores, tmp_path / "all.db")
    stores = [made(tmp_path / f"{text}.db", scored(1, metric), predictions=text.encode())
              for text, metric in (("c", "upos.v1"), ("d", "xpos.v1"))]  # fmt: skip
    with pytest.raises(
        InputError, match=r"seed 1: the prediction of test differs: 2e7d2c03a950 in .*c\.db, 18ac3e7343f0 in"
    ):
        merge_stores(stores, tmp_path / "all.db")


def test_a_store_that_agrees_with_the_preferred_one_still_adds_scores(tmp_path: Path) -> None:
    a, b = made(tmp_path / "a.db", scored(1)), made(tmp_path / "b.db", scored(1, change=1))
    c = made(tmp_path / "c.db", scored(1, "xpos.v1"))
    merge_stores([b, a, c], tmp_path / "all.db", prefer=[a])
    with Store.read(tmp_path / "all.db") as store:
        assert store.counts([KEY], part="test", metric="upos.v1")[0].tolist() == counts(1).tolist()
        assert set(store.scores()["metric"]) == {"upos.v1", "xpos.v1"}


def prediction(store: Path) -> Path:
    return predictions_folder(store) / KEY[:2] / f"{KEY}.test.zst"


def test_predictions_are_linked_or_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stores = [made(tmp_path / f"{name}.db", scored(number), predictions=b"text") for number, name in enumerate("ab")]
    merge_stores(stores, tmp_path / "linked.db")
    assert prediction(tmp_path / "linked.db").samefile(prediction(stores[1]))

    def other_device(*_: Any) -> None:
        raise OSError(18, "invalid cross-device link")

    monkeypatch.setattr(os, "link", other_device)
    merge_stores(stores, tmp_path / "copied.db")
    assert not prediction(tmp_path / "copied.db").samefile(prediction(stores[1]))
    for name in ("linked.db", "copied.db"):
        with Store.read(tmp_path / name) as store:
            assert store.prediction(KEY, "test") == b"text"
            assert store.verify() == []


def test_a_prediction_that_changed_is_taken_from_another_store_or_refused(tmp_path: Path) -> None:
    stores = [made(tmp_path / f"{name}.db", scored(1), predictions=b"text") for name in "ab"]
    prediction(stores[0]).write_bytes(b"")
    merge_stores(stores, tmp_path / "all.db")
    with Store.read(tmp_path / "all.db") as store:
        assert store.verify() == []
    prediction(stores[1]).unlink()
    before = files(tmp_path)
    with pytest.raises(
        InputError, match=r"test\.zst: changed since it was written .*; expected it unchanged; deadheat"
    ):
        merge_stores(stores, tmp_path / "more.db")
    assert files(tmp_path) == before


@pytest.mark.parametrize("statement", ["UPDATE runs SET seed = 5", "UPDATE columns SET data = x'00'"])
def test_a_store_with_changed_rows_is_refused(tmp_path: Path, statement: str) -> None:
    stores = [made(tmp_path / f"{name}.db", scored(number)) for number, name in enumerate("ab")]
    with closing(sqlite3.connect(stores[1])) as connection:
        connection.execute(statement)
        connection.commit()
    before = files(tmp_path)
    with pytest.raises(InputError, match=r"b\.db: (1 row \(run .*\) changed|broken \(counts: )"):
        merge_stores(stores, tmp_path / "all.db")
    assert files(tmp_path) == before


def stop(*_: Any) -> None:
    os._exit(9)


def no_space(*_: Any) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("where", [(merge_writing, "link_or_copy"), (os, "link"), (Path, "rename")])
def test_a_merge_that_is_killed_leaves_no_store_and_can_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: tuple[Any, str]
) -> None:
    stores = [made(tmp_path / f"{name}.db", scored(number), predictions=b"text") for number, name in enumerate("ab")]
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(*where, stop)
        with Store.open(tmp_path / "other.db", create=True):
            merge_stores(stores, tmp_path / "all.db")
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert not (tmp_path / "all.db").exists()
    assert not predictions_folder(tmp_path / "all.db").exists()
    assert merge_stores(stores, tmp_path / "all.db").cells == 2
    assert not (tmp_path / "all.db.merging").exists()
    with Store.read(tmp_path / "all.db") as store:
        assert store.verify() == []


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stores = [made(tmp_path / f"{name}.db", scored(number), predictions=b"text") for number, name in enumerate("ab")]
    before = files(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "link", no_space)
        patched.setattr(shutil, "copyfile", no_space)
        with pytest.raises(InputError, match=r"all\.db: cannot be written \(no space left on device\); nothing of it"):
            merge_stores(stores, tmp_path / "all.db")
    assert files(tmp_path) == before


@pytest.mark.parametrize("limit", [40_000, 200_000])
def test_a_file_that_must_not_grow_is_one_line_and_leaves_nothing(tmp_path: Path, limit: int) -> None:
    large = replace(scored(1), log=os.urandom(200_000).hex())
    stores = [made(tmp_path / "a.db", scored(0)), made(tmp_path / "b.db", large)]
    before, unlimited = files(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, unlimited[1]))
    try:
        with pytest.raises(InputError, match=r"/all\.db: cannot be written \(disk I/O error\); nothing of it was kept"):
            merge_stores(stores, tmp_path / "all.db")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    assert files(tmp_path) == before


def _link(path: Path) -> list[Path]:
    (path / "link.db").symlink_to(path / "a.db")
    return [path / "a.db", path / "link.db"]


def _text(path: Path) -> list[Path]:
    (path / "text.db").write_text("no store")
    return [path / "a.db", path / "text.db"]


WRONG: dict[str, tuple[Callable[[Path], list[Path]], str, str]] = {
    "twice": (lambda path: [path / "a.db", path / "a.db"], "new.db", "a.db: the same file as .*expected each"),
    "link": (_link, "new.db", "link.db: the same file as .*a.db"),
    "one": (lambda path: [path / "a.db"], "new.db", "1 store to merge; expected two or more"),
    "missing": (lambda path: [path / "a.db", path / "z.db"], "new.db", "z.db: no such store"),
    "text": (_text, "new.db", "text.db: not a store"),
    "exists": (lambda path: [path / "a.db", path / "b.db"], "b.db", "b.db: exists already; expected a new name"),
    "predictions": (lambda path: [path / "a.db", path / "b.db"], "old.db", "old.db.predictions: exists already"),
    "no folder": (lambda path: [path / "a.db", path / "b.db"], "no/new.db", "new.db: cannot be written"),
}  # fmt: skip


@pytest.mark.parametrize(("stores", "out", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_merged_is_refused(
    tmp_path: Path, stores: Callable[[Path], list[Path]], out: str, message: str
) -> None:
    for number, name in enumerate("ab"):
        made(tmp_path / f"{name}.db", scored(number))
    (tmp_path / "old.db.predictions").mkdir()
    paths = stores(tmp_path)
    before = files(tmp_path)
    with pytest.raises(InputError, match=message):
        merge_stores(paths, tmp_path / out)
    assert files(tmp_path) == before


def test_only_stores_that_are_merged_can_be_preferred(tmp_path: Path) -> None:
    stores = [made(tmp_path / f"{name}.db", scored(number)) for number, name in enumerate("abc")]
    with pytest.raises(InputError, match=r"c\.db: none of the stores to merge; expected to prefer one of .*a\.db and"):
        merge_stores(stores[:2], tmp_path / "all.db", prefer=[stores[2]])


def test_study_files_are_united_and_differences_are_a_note(tmp_path: Path) -> None:
    same = "metrics = ['las']\nseeds = {}\n[[systems]]\nname = 'hmm'\nseeds = {}\n"
    stores = [made(tmp_path / f"{name}.db", scored(number)) for number, name in enumerate("abc")]
    for path, texts in zip(stores, ([same.format(1, 2), "x = 1"], [same.format(3, 4)], []), strict=True):
        with Store.open(path) as store:
            for text in reversed(texts):
                store.set_study(text)
    assert merge_stores(stores, tmp_path / "same.db").notes == ()
    with Store.read(tmp_path / "same.db") as store:
        assert [text for _, text in store.studies()] == ["x = 1", same.format(1, 2), same.format(3, 4)]
        assert store.verify() == []
    with Store.open(stores[2]) as store:
        store.set_study(same.format(1, 1).replace("hmm", "unigram"))
    [note] = merge_stores(stores, tmp_path / "other.db").notes
    assert note.startswith(f"the study files of {stores[0]} and {stores[2]} differ in systems; continue with")


def test_stores_of_earlier_versions_are_read_and_not_vouched_for(tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", made(tmp_path / "new.db", scored(1))
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript(f"{SCHEMA_0}{ROW_0}PRAGMA application_id={APPLICATION}")
    content = old.read_bytes()
    assert merge_stores([old, new], tmp_path / "all.db").cells == 2
    assert old.read_bytes() == content
    with Store.read(tmp_path / "all.db") as store, Store.read(old) as before:
        check = store.check()
        assert check.faults == ()
        [note] = check.notes
        assert "from an earlier version have no checksum" in note
        assert before.runs().rows()[0] in store.runs().rows()
