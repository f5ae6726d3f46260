"""Whatever is killed, and whenever: a study loses the cells in flight at most, and ends as if nothing had been."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deadheat.errors import InputError
from deadheat.study.store.store import Store
from tests.study.study_cases import NOUN, study_file

MARK = "DEADHEAT_KILLED"
# The first program that finds `hold` waits until it is gone; the others go on.
HOLD = "if [ -e hold ] && mkdir held 2>/dev/null; then while [ -e hold ]; do sleep 0.05; done; rmdir held; fi\n"
QUICK, PLENTY = 4, pytest.param(25, marks=pytest.mark.slow)


def killable(folder: Path, times: int = 4) -> Path:
    """A study of 16 cells, or more. It does not end as long as there is a file called `hold`: one cell waits."""
    path = study_file(folder, "majority unigram hmm", times=times)
    (folder / "noun.sh").write_text(HOLD + NOUN)
    path.write_text(path.read_text() + "[[systems]]\nname = 'command'\npredict = 'sh noun.sh 0.1'\n")
    return path


def hold(folder: Path) -> None:
    (folder / "hold").touch()


def let_go(folder: Path) -> None:
    (folder / "hold").unlink(missing_ok=True)
    with suppress(OSError):
        (folder / "held").rmdir()


@contextmanager
def started(path: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """`deadheat run` in a process of its own; all that it started can be found by a mark in their environment."""
    environment = {**os.environ, MARK: str(path.parent), "DEADHEAT_LEDGER": str(path.parent / "ledger.jsonl")}
    temporary(path).mkdir(exist_ok=True)
    environment["TMPDIR"] = str(temporary(path))
    command = [sys.executable, "-m", "deadheat.cli.main", "run", path.name, "--json", "--quiet", *options]
    process = subprocess.Popen(
        command, cwd=path.parent, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def temporary(path: Path) -> Path:
    """The folder for temporary files of a study."""
    return path.with_name("temporary")


def finished(path: Path, *options: str) -> dict[str, Any]:
    with started(path, *options) as process:
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def marked(folder: Path) -> list[int]:
    """Processes that belong to the studies of a folder."""
    wanted = f"{MARK}={folder}".encode()
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            with suppress(OSError):
                if wanted in (each / "environ").read_bytes().split(b"\0"):
                    found.append(int(each.name))
    return found


def nobody_is_left(folder: Path) -> bool:
    """Whether all processes of a study end."""
    for _ in range(2000):
        if not marked(folder):
            return True
        time.sleep(0.05)
    return False


def contents(path: Path) -> dict[str, Any]:
    """All of a store that does not depend on the time or the machine."""
    with Store.read(path.with_suffix(".sqlite")) as store:
        assert store.verify() == []
        runs = store.runs()
        keys = runs["key"].to_list()
        assert len(set(keys)) == len(keys)
        scores = sorted(store.scores().select("key", "part", "metric", "value", "sentences", "words").iter_rows())
        counts = {
            (key, part, metric): store.counts([key], part=part, metric=metric).tobytes()
            for key, part, metric, *_ in store.count_shapes().iter_rows()
        }
        texts = {(key, part): store.prediction(key, part) for key in store.done() for part in ("dev", "test")}
        statuses = dict(zip(keys, runs["status"], strict=True))
        return {"statuses": statuses, "scores": repr(scores), "counts": counts, "texts": texts}


def same(result: dict[str, Any]) -> dict[str, Any]:
    """A result without the folder that it lies in."""
    return {name: value for name, value in result.items() if name != "store"}


@dataclass(frozen=True)
class Whole:
    """The result and the store of a study that nothing happened to."""

    result: dict[str, Any]
    contents: dict[str, Any]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    path = killable(tmp_path_factory.mktemp("whole"))
    return Whole(same(finished(path)), contents(path))


def wait_for_cells(path: Path, process: subprocess.Popen[str], count: int) -> None:
    """Wait until so many cells are in the store, or the study has ended."""
    store_path = path.with_suffix(".sqlite")
    while process.poll() is None:
        if store_path.exists():
            with suppress(InputError), Store.read(store_path) as store:  # it may be in the making
                if len(store.done()) >= count:
                    return
        time.sleep(0.01)


def kill_the_study(folder: Path, rounds: int) -> int:
    """Kill it at random moments, and let it go on; returns how often it was killed with some cells done."""
    rng = np.random.default_rng(rounds)
    amid = 0
    path = killable(folder)
    done: set[str] = set()
    for number in range(rounds):
        if number % 2:
            hold(folder)
        with started(path) as process:
            if number % 4:
                wait_for_cells(path, process, min(12, len(done) + int(rng.integers(1, 4))))
            time.sleep(float(rng.uniform(0, 0.1 if number % 4 else 1)))
            process.kill()
            process.wait()
        let_go(folder)
        assert nobody_is_left(folder)
        if not path.with_suffix(".sqlite").exists():
            continue
        with Store.read(path.with_suffix(".sqlite")) as store:
            now = store.done()
            assert store.verify() == []
            assert not store.failed()
        assert done <= now, "a finished cell was lost"
        amid += 0 < len(now) < 16
        if len(now) == 16:
            put_aside(folder, number)
        done = now if len(now) < 16 else set()
    return amid


def put_aside(folder: Path, number: int) -> None:
    """Let the study begin anew."""
    for each in folder.glob("study.sqlite*"):
        each.rename(folder / f"{number}-{each.name}")


@pytest.mark.parametrize("rounds", [QUICK, PLENTY])
def test_a_study_that_is_killed_goes_on_and_ends_as_if_it_had_not(tmp_path: Path, whole: Whole, rounds: int) -> None:
    folder = tmp_path / "study"
    assert kill_the_study(folder, rounds) >= max(1, rounds // 8)
    path = folder / "study.toml"
    assert same(finished(path)) == whole.result
    assert contents(path) == whole.contents


@pytest.mark.parametrize("rounds", [QUICK // 2, PLENTY])
def test_workers_that_are_killed_cost_their_cells_alone(tmp_path: Path, whole: Whole, rounds: int) -> None:
    """Kill any process but the first one at random moments; the study itself goes on."""
    folder, rng = tmp_path / "study", np.random.default_rng(rounds)
    path = killable(folder)
    killed = 0
    for number in range(rounds):
        hold(folder)
        with started(path, "--retry-failed") as process:
            wait_for_cells(path, process, int(rng.integers(0, 12)))
            others: list[int] = []
            while not others and process.poll() is None:
                others = [pid for pid in marked(folder) if pid != process.pid]
            if others and process.poll() is None:
                with suppress(ProcessLookupError):
                    os.kill(int(rng.choice(others)), signal.SIGKILL)
                    killed += 1
            let_go(folder)
            _, err = process.communicate(timeout=600)
        assert nobody_is_left(folder)
        with Store.read(path.with_suffix(".sqlite")) as store:
            assert store.verify() == []
            assert len(store.done()) + len(store.failed()) == 16
            whole_again = not store.failed()
        assert process.returncode == (0 if whole_again else 1), err
        if whole_again:
            put_aside(folder, number)
    assert killed >= max(1, rounds // 4)
    assert same(finished(path, "--retry-failed")) == whole.result
    assert contents(path) == whole.contents


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_study_says_what_is_kept_and_leaves_nobody_behind(
    tmp_path: Path, whole: Whole, number: int, code: int
) -> None:
    path = killable(tmp_path / "study")
    hold(path.parent)
    with started(path) as process:
        wait_for_cells(path, process, 1)
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does
        else:
            os.kill(process.pid, number)
        out, err = process.communicate(timeout=600)
    let_go(path.parent)
    assert (process.returncode, out) == (code, "")
    interrupted = r"interrupted: (\d+) of 16 cells (is|are) kept in .*study\.sqlite\n"
    assert (kept := re.fullmatch(rf"{interrupted}the same command goes on: deadheat run .*study\.toml.*\n", err)), err
    assert nobody_is_left(path.parent)
    with Store.read(path.with_suffix(".sqlite")) as store:
        assert 0 < len(store.done()) == int(kept[1]) < 16
        assert not store.failed()
    assert same(finished(path)) == whole.result
    assert contents(path) == whole.contents


@pytest.mark.long
def test_nothing_is_lost_doubled_or_left_after_two_hundred_kills(tmp_path: Path) -> None:
    """Kill any process of a study of 300 cells 200 times at random moments; it is started again when it has ended."""
    undisturbed = killable(tmp_path / "undisturbed", times=75)
    expected = same(finished(undisturbed))
    path = killable(tmp_path / "study", times=75)
    kills, starts = kill_anything(path, np.random.default_rng(200), 200)
    let_go(path.parent)
    assert nobody_is_left(path.parent)
    left = len(list(temporary(path).iterdir()))
    with Store.read(path.with_suffix(".sqlite")) as store:
        counts = f"{len(store.done())} cells done, {len(store.failed())} killed"
    sys.stdout.write(f"{kills}, {starts} starts, {counts}, {left} temporary folders before the last start\n")
    assert same(finished(path, "--retry-failed")) == expected
    assert contents(path) == contents(undisturbed)
    assert list(temporary(path).iterdir()) == []
    assert list((path.parent / "study.sqlite.predictions" / "unfinished").iterdir()) == []


def kill_anything(path: Path, rng: np.random.Generator, wanted: int) -> tuple[dict[str, int], int]:
    """How often the study itself and other processes were killed, and how often it was started."""
    kills, starts, folder = {"study": 0, "others": 0}, 0, path.parent
    while sum(kills.values()) < wanted:
        starts += 1
        with started(path, "--retry-failed") as process:
            while process.poll() is None and sum(kills.values()) < wanted:
                time.sleep(float(rng.uniform(0, 0.8)))
                with suppress(InputError), Store.read(path.with_suffix(".sqlite")) as store:
                    if len(store.done()) > 280 and not (folder / "hold").exists():  # it must not end yet
                        hold(folder)
                victims = marked(folder)
                is_loading = victims in ([], [process.pid]) and rng.random() < 0.8
                if is_loading or process.poll() is not None:
                    continue
                victim = int(rng.choice(sorted(victims) or [process.pid]))
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
                    kills["study" if victim == process.pid else "others"] += 1
                with suppress(OSError):
                    (folder / "held").rmdir()  # the program that waited may be the one that was killed
        assert process.returncode in (0, 1, -signal.SIGKILL), process.returncode
    return kills, starts
