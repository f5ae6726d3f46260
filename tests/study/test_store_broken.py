"""What is not a store, a broken one, one from another time: one clear line, and the file as it was."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.study.store import database as schema
from deadheat.study.store.store import Store
from tests.study.store_outcomes import cell, counts, outcome

# The layout before version 1: no memory of runs, no study files.
SCHEMA_0 = (
    schema.TABLES.replace(", peak_mb REAL NOT NULL DEFAULT 0", "")
    .replace(",\n    setup TEXT NOT NULL DEFAULT ''", "")
    .partition("CREATE TABLE studies")[0]
)
ROW_0 = """
INSERT INTO names VALUES (1, 'english'), (2, '0f'), (3, 'random.v1'), (4, 'hmm.v1'), (5, 'test'), (6, 'upos.v1');
INSERT INTO provenance VALUES (1, '{"host": "old"}');
INSERT INTO runs VALUES (1, 'ab12', 1, 2, 3, 0, 0, 4, 9, 'done', 1.5e9, 2.0, 1.0, '', 1);
INSERT INTO scores VALUES (1, 5, 6, 0.5, 2, 11, 0, 0, '');
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with ten runs, closed."""
    made = tmp_path / "study.db"
    with Store.open(made, create=True) as store:
        store.add_many(outcome(number) for number in range(10))
    return made


@pytest.fixture
def old(tmp_path: Path) -> Path:
    made = tmp_path / "old.db"
    assert "peak_mb" not in SCHEMA_0
    assert "setup" not in SCHEMA_0
    with closing(sqlite3.connect(made)) as connection:
        connection.executescript(f"{SCHEMA_0}{ROW_0}PRAGMA application_id={schema.APPLICATION};PRAGMA journal_mode=WAL")
    return made


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_store_of_a_newer_version_is_refused_and_not_touched(path: Path) -> None:
    newest = schema.VERSION
    change(path, f"PRAGMA user_version={newest + 1}")
    before = path.read_bytes()
    expected = (
        f"{path}: a store of layout {newest + 1}; this version of Deadheat knows layouts up to {newest}, "
        "expected the version that wrote it or a later one"
    )
    assert refused(lambda: Store.open(path)) == expected
    assert refused(lambda: Store.open(path, create=True)) == expected
    assert refused(lambda: Store.read(path)) == expected
    assert path.read_bytes() == before


def test_a_store_of_an_older_version_is_brought_up_to_date_when_it_is_written(old: Path) -> None:
    with Store.open(old) as store:
        assert store.done() == {"ab12"}
        assert store.runs()["peak_mb"].to_list() == [0.0]
        assert store.study() == ""
        assert store.result() is None
        store.set_study("a = 1")
        store.add(outcome(1, peak_mb=5.0))
    with closing(sqlite3.connect(old)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
    with Store.open(old) as store:
        assert store.study() == "a = 1"
        assert store.runs()["peak_mb"].to_list() == [0.0, 5.0]
        assert store.scores()["system"].to_list() == ["hmm.v1", "perceptron.v2"]
        assert np.array_equal(store.counts([cell(1).key], part="test", metric="upos.v1")[0], counts(1))


def test_a_store_of_an_older_version_is_read_and_stays_as_it_is(old: Path) -> None:
    before = old.read_bytes()
    with Store.read(old) as store:
        assert store.runs().row(0, named=True)["peak_mb"] == 0.0
        assert store.provenance("ab12") == {"host": "old"}
        assert store.study() == ""
    assert old.read_bytes() == before


def test_an_old_store_and_a_new_one_have_the_same_tables(old: Path, path: Path) -> None:
    Store.open(old).close()
    listed = []
    for store_path in (old, path):
        with closing(sqlite3.connect(store_path)) as connection:
            tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            listed.append({name: connection.execute(f"PRAGMA table_info({name})").fetchall() for name in tables})
    assert listed[0] == listed[1]


def test_a_migration_that_fails_leaves_the_old_store(old: Path) -> None:
    change(old, "CREATE TABLE studies (other INTEGER)")
    before = old.read_bytes()
    assert "table studies already exists" in refused(lambda: Store.open(old))
    assert old.read_bytes() == before


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("key,corpus\n" * 1000)
    (tmp_path / "folder").mkdir()
    change(tmp_path / "other.db", "CREATE TABLE runs (id)")
    for name, message in {
        "empty": "an empty file",
        "text": "not a store",
        "folder": "not a file",
        "other.db": "a database, but not a store",
        "absent": "no such store",
    }.items():
        expected = f"{tmp_path / name}: {message}; expected a store that deadheat run wrote"
        assert refused(lambda: Store.read(tmp_path / name)) == expected  # noqa: B023
        assert refused(lambda: Store.open(tmp_path / name)) == expected  # noqa: B023
    assert not (tmp_path / "absent.lock").exists()
    assert "no such file or directory" in refused(lambda: Store.open(tmp_path / "no" / "where.db", create=True))


def test_the_log_of_a_store_that_is_gone_is_not_taken_for_another_ones(path: Path) -> None:
    (path.parent / "new.db-wal").write_bytes(b"something")
    message = refused(lambda: Store.open(path.parent / "new.db", create=True))
    assert message.endswith("new.db: missing, but its last changes are in new.db-wal; expected both files, or neither")
    assert (path.parent / "new.db-wal").read_bytes() == b"something"


def add_ten(path: Path) -> None:
    with Store.open(path) as store:
        store.add_many(outcome(number) for number in range(100, 110))


def use(path: Path) -> None:
    """All that can be asked of a store."""
    with Store.read(path) as store:
        keys = [*store.done(), *store.failed()]
        store.runs()
        store.scores()
        store.counts([cell(number).key for number in range(10)], part="test", metric="upos.v1")
        for key in keys:
            store.outcome_log(key)
            store.provenance(key)
        store.study()


def verify(path: Path) -> list[str]:
    with Store.read(path) as store:
        return store.verify()


@pytest.mark.parametrize("kept", [16, 99, 100, 1000, 4096, 20_000])
def test_a_store_that_is_cut_off_is_refused_in_one_line(path: Path, kept: int) -> None:
    assert path.stat().st_size > kept
    path.write_bytes(path.read_bytes()[:kept])
    message = refused(lambda: use(path))
    assert message.startswith(f"{path}: ")
    assert "store" in message
    refused(lambda: add_ten(path))


@pytest.mark.parametrize("seed", range(60))
def test_bytes_that_were_overwritten_give_clear_lines_or_nothing(path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = bytearray(path.read_bytes())
    start = int(rng.integers(0, len(data) - 500))
    length = int(rng.choice([1, 30, 500]))
    data[start : start + length] = rng.bytes(length)
    path.write_bytes(data)
    messages: list[str] = []
    for call in (use, verify):
        try:
            messages += call(path) or []
        except InputError as error:
            messages.append(str(error))
    assert [line for line in messages if "\n" in line or not line.startswith(f"{path}: ")] == []


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE columns SET data = x'00'", "column 1 of counts"),
        ("UPDATE columns SET kind = '|O'", "integers of kind '|O'"),
        ("UPDATE columns SET units = 5", "bytes; expected 5"),
        ("UPDATE columns SET units = 'five'", "column 1 of counts"),
        ("DELETE FROM columns", "column 1 of counts is missing"),
        ("UPDATE scores SET columns = 'x'", "a score without references to its counts"),
        ("UPDATE scores SET words = 'many'", "a score that is not a number"),
        ("UPDATE runs SET wall_s = 'long'", "a value of wall_s has the wrong type"),
        ("UPDATE runs SET corpus = 99", "an id of corpus has no name"),
        ("UPDATE runs SET system = -1", "an id of system has no name"),
        ("DELETE FROM names WHERE name = 'english'", "an id of corpus has no name"),
        ("UPDATE logs SET size = 3", "log of run"),
        ("UPDATE provenance SET text = '[1'", "provenance of run"),
        ("DROP TABLE logs", "no such table: logs"),
    ],
)
def test_rows_that_say_what_cannot_be_are_refused(path: Path, statement: str, message: str) -> None:
    use(path)
    change(path, statement)
    assert message in refused(lambda: use(path))


def test_verify_lists_every_column_that_changed(path: Path) -> None:
    change(path, "UPDATE columns SET fingerprint = x'01' WHERE id = 2", "DELETE FROM columns WHERE id = 1")
    messages = verify(path)
    assert f"{path}: column 2 of counts has changed" in messages
    assert sum("lacks counts" in line for line in messages) >= 1


def test_a_store_can_be_copied_with_its_log(path: Path) -> None:
    with Store.open(path) as store:
        store.add(outcome(10))
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", path.with_name(f"copy.db{end}"))
    with Store.read(path.with_name("copy.db")) as copy:
        assert cell(10).key in copy.done()
