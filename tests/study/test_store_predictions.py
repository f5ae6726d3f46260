"""Predictions beside a store, and what a run was made with."""

from __future__ import annotations

import re
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import pytest

from deadheat.errors import InputError
from deadheat.study.store.recording import compress, write_prediction
from deadheat.study.store.store import Store
from tests.study.store_outcomes import cell, outcome

TEXT = b"1\tDogs\tdog\tNOUN\n2\tbark\tbark\tVERB\n\n" * 50
KEY = cell(1).key


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with one run and its prediction."""
    made = tmp_path / "study.db"
    with Store.open(made, create=True) as store:
        kept = write_prediction(store.predictions, KEY, "test", TEXT)
        assert store.add(outcome(1, predictions={"test": kept}))
    return made


def file_of(path: Path) -> Path:
    return path.parent / "study.db.predictions" / KEY[:2] / f"{KEY}.test.zst"


def flip(data: bytes) -> bytes:
    return data[:-10] + bytes([data[-10] ^ 1]) + data[-9:]


def test_a_prediction_is_small_and_where_it_is_said_to_be(path: Path) -> None:
    assert file_of(path).stat().st_size < len(TEXT) / 10
    with Store.read(path) as store:
        assert store.prediction(KEY, "test") == TEXT
        assert store.verify() == []


CHANGES: dict[str, tuple[Callable[[bytes], bytes | None], str]] = {
    "gone": (lambda data: None, "cannot be read (no such file)"),
    "cut off": (lambda data: data[:-3], "changed since it was written"),
    "empty": (lambda data: b"", "changed since it was written"),
    "one bit": (flip, "changed since it was written"),
    "plain text": (lambda data: TEXT, "changed since it was written"),
    "longer": (lambda data: compress(TEXT + b"x"), "changed since it was written (1,701 bytes; expected 1,700)"),
    "other": (lambda data: compress(TEXT[::-1]), "changed since it was written; expected content with the hash"),
    "followed by more": (lambda data: data + data, "changed since it was written"),
}


@pytest.mark.parametrize(("change", "message"), CHANGES.values(), ids=CHANGES)
def test_a_prediction_that_changed_is_refused_and_listed(
    path: Path, change: Callable[[bytes], bytes | None], message: str
) -> None:
    assert len(TEXT) == 1700
    file = file_of(path)
    data = change(file.read_bytes())
    file.unlink()
    if data is not None:
        file.write_bytes(data)
    with Store.read(path) as store:
        with pytest.raises(InputError, match=re.escape(f"{file}: {message}")) as caught:
            store.prediction(KEY, "test")
        assert store.verify() == [str(caught.value)]


def test_a_prediction_that_never_was_is_refused(path: Path) -> None:
    with Store.read(path) as store:
        with pytest.raises(InputError, match="prediction of part 'dev' is unknown; expected one of test"):
            store.prediction(KEY, "dev")
        with pytest.raises(InputError, match="no run ffff; expected the key of one"):
            store.prediction("ffff", "test")


def test_a_file_outside_the_folder_is_not_read(path: Path) -> None:
    (path.parent / "secret").write_bytes(compress(TEXT))
    file = file_of(path)
    file.unlink()
    file.symlink_to(path.parent / "secret")
    with Store.read(path) as store, pytest.raises(InputError, match="outside the store's folder"):
        store.prediction(KEY, "test")


@pytest.mark.parametrize(("key", "part"), [("../ab", "test"), ("", "test"), ("ab", "a/b"), ("ab", ".."), ("ab", "")])
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, key: str, part: str) -> None:
    with pytest.raises(InputError, match="expected only letters, digits"):
        write_prediction(tmp_path, key, part, TEXT)
    assert list(tmp_path.iterdir()) == []


def test_a_prediction_written_again_replaces_the_first(tmp_path: Path) -> None:
    first = write_prediction(tmp_path, "ab12", "test", TEXT)
    again = write_prediction(tmp_path, "ab12", "test", b"")
    assert (first.file, again.bytes) == (again.file, 0)
    assert sum(file.is_file() for file in tmp_path.rglob("*")) == 1


def test_a_store_moves_with_its_predictions(path: Path) -> None:
    there = path.parent / "elsewhere"
    there.mkdir()
    for file in (path, path.with_name("study.db.predictions")):
        file.rename(there / file.name.replace("study", "other"))
    with Store.read(there / "other.db") as store:
        assert store.prediction(KEY, "test") == TEXT


def write_many(folder: Path, part: str) -> None:
    for number in range(50):
        write_prediction(folder, cell(number).key, part, TEXT)


def test_worker_processes_write_side_by_side(tmp_path: Path) -> None:
    workers = [
        get_context("spawn").Process(target=write_many, args=(tmp_path, part)) for part in ("test", "dev", "test")
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert len(list(tmp_path.rglob("*.zst"))) == 100
    assert list((tmp_path / "unfinished").iterdir()) == []
