"""Temporary files of tasks: none is left, whatever is killed, and those of another run are never touched."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest

from deadheat.study.engine import fork_server
from deadheat.study.engine.executor import MAX_FAILED_STARTS, LocalExecutor
from deadheat.study.engine.worker import WorkerError
from deadheat.study.engine.workspace import Workspace
from deadheat.study.plan.cells import DONE, KILLED, TIMED_OUT
from tests.study.test_local_deaths import start_study
from tests.study.worker_checks import LIMIT_S, PATIENCE_S, alive, eventually, jump_clock_when, on_linux, run, run_one
from tests.study.worker_tasks import behave

pytestmark = on_linux


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files of this test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_the_files_of_a_task_that_is_killed_or_takes_too_long_are_removed(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LocalExecutor[Any, Any](behave, workers=1, limit_s=LIMIT_S) as executor:
        (folder,) = temporary.iterdir()
        killed = run_one(executor, "fills_a_folder", "dies_of", 9)
        assert (killed.status, list(folder.rglob("model"))) == (KILLED, [])
        jump_clock_when(monkeypatch, lambda: list(folder.rglob("model")))
        slow = run_one(executor, "fills_a_folder", "sleeps", 60)
        assert (slow.status, list(folder.rglob("model"))) == (TIMED_OUT, [])
        done = run_one(executor, "fills_a_folder", "square", 3)
        assert done.status == DONE
        assert str(done.value).startswith(str(folder))
    assert list(temporary.iterdir()) == []


def test_a_study_that_is_killed_leaves_no_files(temporary: Path, tmp_path: Path) -> None:
    study, pids = start_study(tmp_path)
    assert len(list(temporary.iterdir())) == 1
    study.kill()
    study.communicate(timeout=PATIENCE_S)
    assert eventually(lambda: not any(map(alive, pids)))
    assert eventually(lambda: list(temporary.iterdir()) == [])


def test_what_a_study_leaves_that_is_killed_with_its_fork_server_is_removed_by_the_next(
    temporary: Path, tmp_path: Path
) -> None:
    study, pids = start_study(tmp_path)
    os.kill(pids[-1], signal.SIGSTOP)
    study.kill()
    os.kill(pids[-1], signal.SIGKILL)
    study.communicate(timeout=PATIENCE_S)
    assert eventually(lambda: not any(map(alive, pids)))
    (left,) = temporary.iterdir()
    workspace = Workspace()
    assert list(temporary.iterdir()) == [workspace.path]
    assert left != workspace.path
    workspace.close()


def test_the_files_of_a_run_that_is_alive_and_of_others_are_not_removed(temporary: Path, tmp_path: Path) -> None:
    (temporary / "deadheat-run-file").write_text("no folder")
    (tmp_path / "elsewhere").mkdir()
    (temporary / "deadheat-run-link").symlink_to(tmp_path / "elsewhere")
    (temporary / "deadheat-mine").mkdir()
    first = Workspace()
    (first.path / "0").mkdir()
    second = Workspace()
    assert (first.path / "0").is_dir()
    first.close()
    second.close()
    assert len(list(temporary.iterdir())) == 3
    assert (tmp_path / "elsewhere").is_dir()


def test_a_fork_server_that_is_killed_while_it_loads_is_started_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    monkeypatch.setenv("DIES_UNTIL", str(marker))
    with LocalExecutor[Any, Any](behave, workers=1, prepare=prepare_after_deaths) as executor:
        assert len(marker.read_text()) == 12
        assert [result.value for result in run(executor, ("square", 2), ("square", 3))] == [4, 9]


def test_a_fork_server_that_is_always_killed_ends_the_run_with_a_clear_message(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[object] = []
    original = fork_server.ForkServer._load

    def load(server: fork_server.ForkServer, job: bytes, *, load_in_workers: bool) -> bool:
        starts.append(server)
        server._process.kill()
        return original(server, job, load_in_workers=load_in_workers)

    monkeypatch.setattr(fork_server.ForkServer, "_load", load)
    with pytest.raises(
        WorkerError, match=r"killed 25 times in a row while it loaded the work; finished cells are kept"
    ):
        LocalExecutor[Any, Any](behave, workers=1)
    assert len(starts) == MAX_FAILED_STARTS
    assert list(temporary.iterdir()) == []


def prepare_after_deaths() -> None:
    """Dies eleven times of a signal."""
    marker = Path(os.environ["DIES_UNTIL"])
    with marker.open("a") as file:
        file.write(".")
    if len(marker.read_text()) <= 11:
        os.kill(os.getpid(), signal.SIGKILL)
