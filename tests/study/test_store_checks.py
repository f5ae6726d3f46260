"""Any change of a store is found: each row, count, score and file is compared with what was written."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.questions.run import run_plan
from deadheat.study.plan.plan import Plan
from deadheat.study.store import database
from deadheat.study.store.store import Store
from tests.cli.running import Commands
from tests.study.study_cases import in_this_process, study_file
from tests.study.test_store_broken import ROW_0, SCHEMA_0

FLIPS = 1500


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of six runs, with predictions and a result."""
    path = study_file(tmp_path_factory.mktemp("study"), "majority unigram", "name = 'a study'")
    return run_plan(Plan.of(path), executor=in_this_process).store


@pytest.fixture
def path(written: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change; its predictions are those of the original."""
    copy = tmp_path / written.name
    copy.write_bytes(written.read_bytes())
    copy.with_name(f"{copy.name}.predictions").symlink_to(written.with_name(f"{written.name}.predictions"))
    return copy


@pytest.fixture
def commands(capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(capsys)


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


def verify(path: Path) -> list[str]:
    with Store.read(path) as store:
        return store.verify()


def data(path: Path) -> str:
    """All that a store holds."""
    with Store.read(path) as store:
        shapes = store.count_shapes().rows()
        counts = [store.counts([key], part=part, metric=metric).tolist() for key, part, metric, *_ in shapes]
        texts = [(store.outcome_log(key), store.provenance(key)) for key in sorted(store.done())]
        predictions = [store.prediction(key, part) for key in sorted(store.done()) for part in ("dev", "test")]
        tables = (store.runs().rows(), store.scores().rows(), store.studies(), str(store.result()))
        return repr((*tables, shapes, counts, texts, predictions))


def flip(path: Path, original: bytes, seed: int) -> str:
    """What comes of one changed bit: it is found, the store cannot be read, or all data are the same."""
    rng = np.random.default_rng(seed)
    position, bit = int(rng.integers(len(original))), int(rng.integers(8))
    changed = bytearray(original)
    changed[position] ^= 1 << bit
    path.write_bytes(changed)
    try:
        faults = verify(path)
    except InputError as error:
        return "unreadable" if "\n" not in str(error) else str(error)
    return "found" if faults else "same"


def flips(path: Path, written: Path, numbers: range) -> Counter[str]:
    before, original = data(written), written.read_bytes()
    results: Counter[str] = Counter()
    for number in numbers:
        result = flip(path, original, number)
        results[result] += 1
        if result == "same":
            assert data(path) == before, number
    assert set(results) <= {"found", "unreadable", "same"}, results
    return results


def test_every_bit_that_changes_data_is_found(path: Path, written: Path) -> None:
    results = flips(path, written, range(200))
    assert results["found"] > 40
    assert verify(written) == []


@pytest.mark.slow
def test_every_one_of_many_bits_that_change_data_is_found(path: Path, written: Path) -> None:
    results = flips(path, written, range(FLIPS))
    sys.stdout.write(f"{dict(results)} of {FLIPS}\n")
    assert results["found"] > results["unreadable"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE scores SET value = value + 0.01 WHERE rowid_is_first",
        "UPDATE scores SET value = NULL",
        "UPDATE scores SET sentences = sentences + 1",
        "DELETE FROM scores WHERE part = (SELECT max(part) FROM scores)",
        "UPDATE runs SET seed = 5",
        "UPDATE runs SET wall_s = 5.0 WHERE id = 2",
        "UPDATE runs SET status = 'failed' WHERE id = 2",
        "DELETE FROM runs WHERE id = 2",
        "UPDATE names SET name = 'other' WHERE id = 1",
        "UPDATE provenance SET text = replace(text, 'numpy', 'numpie')",
        "UPDATE studies SET text = 'name = \"b study\"'",
        "UPDATE results SET text = replace(text, '0.', '0.9')",
        "DELETE FROM results",
        "UPDATE predictions SET bytes = 5",
        "DELETE FROM predictions",
        "DELETE FROM checksums WHERE kind = 'run' AND id = 2",
        "UPDATE checksums SET digest = x'00' WHERE id = 1",
    ],
)
def test_changed_rows_are_found_and_not_reported_on(commands: Commands, path: Path, statement: str) -> None:
    assert verify(path) == []
    change(path, statement.replace(" WHERE rowid_is_first", " WHERE run = 1"))
    assert verify(path)
    assert "verify" in commands.refused("export", path)
    assert "changed since" in commands.refused("report", path, "--out", path.with_name("page.html"))
    assert not path.with_name("page.html").exists()


def test_scores_are_compared_with_their_counts_even_without_checksums(path: Path) -> None:
    change(path, "UPDATE checksums SET digest = x''")
    assert verify(path) == []
    change(path, "UPDATE scores SET value = value - 0.001 WHERE run = 1")
    assert all("differs from its counts" in line for line in verify(path))
    assert len(verify(path)) > 0


def test_verify_prints_one_line_or_one_per_kind_of_fault(commands: Commands, path: Path) -> None:
    done = commands("verify", path)
    assert (done.code, done.out, done.err) == (
        0, f"{path}: unchanged (6 runs, 36 scores, 12 predictions)\n", ""
    )  # fmt: skip
    change(path, "UPDATE runs SET wall_s = wall_s + 1")
    change(path, "UPDATE scores SET value = 2.0 WHERE run = 1")
    done = commands("verify", path)
    assert done.code == 2
    first, second = done.err.splitlines()
    assert first.startswith(f"{path}: changed rows: 6 (run ")
    assert first.endswith(" and 3 more)")
    assert second.startswith(f"{path}: scores that differ from their counts: 6 (")
    done = commands("verify", path, "--json")
    assert done.code == 2
    faults = {"changed rows": 6, "scores that differ from their counts": 6}
    assert json.loads(done.out)["faults"] == faults


def test_verify_says_what_it_could_not_check_in_an_older_store(commands: Commands, tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript(f"{SCHEMA_0}{ROW_0}PRAGMA application_id={database.APPLICATION};")
    for _ in range(2):  # as it is, and migrated
        done = commands("verify", old)
        assert done.code == 0, done.err
        assert "8 rows from an earlier version have no checksum" in done.err
        Store.open(old).close()
    assert commands("export", old).code == 0


@pytest.mark.parametrize("new", [None, b"another file"])
def test_a_store_that_is_deleted_or_replaced_while_it_is_written_is_an_error(path: Path, new: bytes | None) -> None:
    with Store.open(path) as store:
        store.set_study("a = 1")
        path.unlink()
        if new is not None:
            path.write_bytes(new)
        with pytest.raises(InputError, match="deleted or replaced while it was open"):
            store.set_study("a = 2")


KINDS = [f'{{"schema": 1, "kind": {kind}}}' for kind in ('["study"]', '"score"', '"study"')]


@pytest.mark.parametrize("text", ["[" * 100_000, "[]", "5", '{"schema": 1}', *KINDS])
def test_a_stored_result_of_another_type_is_one_line(commands: Commands, path: Path, text: str) -> None:
    change(path, f"UPDATE results SET text = '{text}'")
    change(path, "UPDATE checksums SET digest = x''")
    message = commands.refused("report", path, "--out", path.with_name("page.html"))
    assert message.startswith(f"{path}: ")


@pytest.mark.parametrize("started", [1e300, -1e300, 1e15, -1])
def test_impossible_times_of_runs_are_one_line(commands: Commands, path: Path, started: float) -> None:
    change(path, f"UPDATE runs SET started = {started}")
    change(path, "UPDATE checksums SET digest = x''")
    assert "started" in commands.refused("export", path, "--table", "runs")


def test_counts_that_were_replaced_by_others_are_not_read(path: Path, commands: Commands, tmp_path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        columns = connection.execute("SELECT id, kind, units FROM columns ORDER BY id").fetchall()
    number, other = next((a, b) for a, *one in columns for b, *two in columns if a < b and one == two)
    change(path, f"UPDATE columns SET data = (SELECT data FROM columns WHERE id = {other}) WHERE id = {number}")
    problem = f"column {number} of counts: changed since they were written"
    assert problem in commands("export", path, "--table", "counts").err
    refused = commands.refused("export", path, "--table", "counts", "--out", tmp_path / "counts.csv")
    assert problem in refused
    assert not (tmp_path / "counts.csv").exists()


def test_a_report_does_not_read_counts_that_were_replaced(commands: Commands, tmp_path: Path) -> None:
    study = study_file(tmp_path, "majority unigram hmm", "evaluate = ['test']", sentences=400)
    store = run_plan(Plan.of(study), executor=in_this_process).store
    assert commands("report", store, "--out", tmp_path / "page.html").code == 0
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute("SELECT id, kind, units, fingerprint FROM columns ORDER BY id").fetchall()
    for number, kind, units, _ in rows:
        others = [row[0] for row in rows if row[1:3] == (kind, units) and row[0] != number]
        if others:
            change(
                store,
                f"UPDATE columns SET data = (SELECT data FROM columns WHERE id = {others[0]}) WHERE id = {number}",
            )
    message = commands.refused("report", store, "--out", tmp_path / "page.html")
    assert "of counts: changed since they were written" in message


@pytest.mark.parametrize("kind", ["circle", "pipe", "device", "folder", "nothing"])
def test_a_prediction_that_is_no_file_is_a_fault(kind: str, path: Path, commands: Commands, tmp_path: Path) -> None:
    folder = path.with_name(f"{path.name}.predictions")
    original = folder.resolve()
    folder.unlink()
    shutil.copytree(original, folder)
    prediction = min(folder.glob("*/*.zst"))
    prediction.unlink()
    match kind:
        case "circle":
            prediction.symlink_to(prediction.name)
        case "pipe":
            os.mkfifo(prediction)
        case "device":
            prediction.symlink_to("/dev/zero")
        case "folder":
            prediction.mkdir()
    message = commands.refused("verify", path)
    assert f"changed predictions: 1 ({prediction.relative_to(folder)})" in message


def test_a_store_that_is_a_link_in_a_circle_is_refused(commands: Commands, tmp_path: Path) -> None:
    study = study_file(tmp_path)
    (tmp_path / "study.sqlite").symlink_to("study.sqlite")
    for command in (["run", study], ["report", study], ["verify", tmp_path / "study.sqlite"]):
        assert "bug" not in commands.refused(*command)
