"""Whoever is killed, and whoever comes at the same time: a store has every outcome that was told, whole and once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.study.store.recording import write_prediction
from deadheat.study.store.store import Store
from tests.study.store_outcomes import cell, counts, outcome

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 30
HOLD = """
import os, sys, time
from deadheat.study.store.store import Store
from tests.study.store_outcomes import outcome
store = Store.open(sys.argv[1], create=True)
store.add(outcome(0))
tried, say = os.pipe()
child = os.fork()
if child == 0:
    try:
        store.add(outcome(1))
    except Exception as error:
        sys.stdout.write(f"{error}\\n")
    sys.stdout.flush()
    os.write(say, b".")
    time.sleep(60)
os.read(tried, 1)
sys.stdout.write(f"{child}\\n")
sys.stdout.flush()
time.sleep(60)
"""


class Killer:
    """Starts writers and kills them; one process that has all the imports and forks."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.study.store_outcomes"]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert self._line() == "ready"

    def kill(self, path: Path, seconds: float, *, since: str = "start") -> list[str]:
        """Keys that a writer told before it was killed, so long after its start or after it `told` the first."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{since} {seconds} {path}\n")
        return self._line().split()

    def close(self) -> None:
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip("\n")


@pytest.fixture
def killer() -> Iterator[Killer]:
    made = Killer()
    yield made
    made.close()


def test_a_writer_that_is_killed_loses_nothing_that_it_told(tmp_path: Path, killer: Killer) -> None:
    path, rng = tmp_path / "study.db", np.random.default_rng(0)
    told: list[str] = []
    torn = 0
    for number in range(ROUNDS):
        told += killer.kill(path, float(rng.uniform(0, 0.07)), since="told" if number % 2 else "start")
        torn += (tmp_path / "study.db-wal").exists()
        if not path.exists() or number % 3:  # in between, the next writer finds what the last one left
            continue
        with Store.read(path) as store:
            keys = store.runs()["key"].to_list()
            assert len(keys) == len(set(keys))
            assert set(told) <= store.done() == set(keys)
            assert len(keys) <= len(set(told)) + ROUNDS  # what was committed but could not be told any more
            assert keys == [cell(number).key for number in range(len(keys))]
    assert len(told) == len(set(told)) >= ROUNDS // 2
    assert torn >= ROUNDS // 2
    with Store.open(path) as store:
        assert store.verify() == []
        keys = store.runs()["key"].to_list()
        found = store.counts(keys, part="test", metric="upos.v1")
        assert np.array_equal(found, np.stack([counts(number) for number in range(len(keys))]))
        assert [store.outcome_log(key) for key in keys] == [f"log of {number}\n" for number in range(len(keys))]
    assert not (tmp_path / "study.db-wal").exists()


def test_a_store_that_was_being_made_can_be_made_again(tmp_path: Path, killer: Killer) -> None:
    missing = 0
    for number, delay in enumerate(np.linspace(0, 0.06, 2 * ROUNDS)):
        path = tmp_path / f"{number}.db"
        told = killer.kill(path, float(delay))
        missing += not path.exists()
        with Store.open(path, create=True) as store:
            assert store.done() >= set(told)
            assert store.verify() == []
    assert missing > 0


def test_a_store_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    program = "import sys\nfrom tests.study.store_outcomes import write_until_killed\n"
    program += "write_until_killed(sys.argv[1], lambda line: (sys.stdout.write(line), sys.stdout.flush()))"
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as writer:
        try:
            assert writer.stdout is not None
            told = {writer.stdout.readline().strip()}
            heights = []
            with Store.read(path) as store:
                for _ in range(25):
                    told.add(writer.stdout.readline().strip())
                    frame, scores = store.runs(), store.scores()
                    assert told <= set(frame["key"])
                    assert set(frame["key"]) <= set(scores["key"])
                    assert store.counts(frame["key"].to_list(), part="test", metric="upos.v1").shape[0] == frame.height
                    heights.append(frame.height)
            assert heights == sorted(heights)
            assert heights[-1] > heights[0]
        finally:
            writer.kill()


def test_a_second_writer_is_told_who_the_first_is_and_a_dead_one_is_in_nobodys_way(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        refused, child = holder.stdout.readline(), int(holder.stdout.readline())
        try:
            assert refused == f"{path}: opened by another process; expected only that process to write to it\n"
            host = os.uname().nodename
            with pytest.raises(InputError) as caught:
                Store.open(path)
            assert str(caught.value).startswith(
                f"{path}: another study writes to it (process {holder.pid} on {host} since "
            )
            assert str(caught.value).endswith("); expected one at a time")
            with Store.read(path) as reader:
                assert reader.done() == {cell(0).key}
            holder.kill()
            holder.wait()
            os.kill(child, 0)  # the copy of the holder is alive, and does not hold
            with Store.open(path) as store:
                assert store.done() == {cell(0).key}
        finally:
            os.kill(child, signal.SIGKILL)
            holder.kill()


def test_a_process_is_kept_from_writing_twice_too(tmp_path: Path) -> None:
    path, link = tmp_path / "study.db", tmp_path / "link.db"
    link.symlink_to(path)
    with Store.open(path, create=True) as store:
        for each in (path, link):
            with pytest.raises(
                InputError, match="already open for writing in this process; expected one writer at a time"
            ):
                Store.open(each)
        store.add(outcome(1))
    with Store.open(link) as again:
        assert again.predictions == tmp_path / "study.db.predictions"
        assert again.done() == {cell(1).key}


def test_a_failed_opening_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    path.write_bytes(b"no database")
    for _ in range(2):
        with pytest.raises(InputError, match="not a store"):
            Store.open(path)


def test_what_killed_workers_left_is_cleared_away(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with Store.open(path, create=True) as store:
        kept = write_prediction(store.predictions, cell(1).key, "test", b"mine")
        left = store.predictions / "unfinished" / "half"
        left.write_bytes(b"ha")
    with Store.read(path):
        assert left.exists()
    with Store.open(path) as store:
        assert not left.exists()
        assert (store.predictions / kept.file).exists()
