from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from deadheat.study.engine.executor import LocalExecutor
from deadheat.study.engine.worker import log_tail
from deadheat.study.plan.cells import DONE, FAILED, KILLED, TIMED_OUT
from tests.study.worker_checks import (
    LIMIT_S,
    PATIENCE_S,
    alive,
    eventually,
    goes_on,
    jump_clock_when,
    on_linux,
    parent_of,
    run,
    run_one,
    written_pid,
)
from tests.study.worker_tasks import behave

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("task", "status", "error", "log"),
    [
        (("leaves", 3), FAILED, "the process ended itself with exit code 3", "about to leave"),
        (("leaves", 0), FAILED, "the process ended itself with exit code 0", "about to leave"),
        (("dies_of", 9), KILLED, "killed by SIGKILL (as the system does when memory runs out)", "signal 9 comes\n"),
        (("dies_of", 15), KILLED, "killed by SIGTERM", "signal 15 comes\n"),
        (("dies_of", 2), KILLED, "killed by SIGINT", "signal 2 comes\n"),
        (("dies_of", 11), FAILED, "the process crashed with SIGSEGV", "signal 11 comes\n"),
        (("dies_of", 6), FAILED, "the process crashed with SIGABRT", "signal 6 comes\n"),
        (("reads_address_zero",), FAILED, "the process crashed with SIGSEGV", "in reads_address_zero"),
    ],
)
def test_the_death_of_a_process_is_reported_with_its_cause_and_log(
    executor: LocalExecutor[Any, Any], task: tuple[Any, ...], status: str, error: str, log: str
) -> None:
    result = run_one(executor, *task)
    assert (result.status, result.error) == (status, error)
    assert log in result.log
    assert ("Segmentation fault" in result.log) == ("SIGSEGV" in error)
    assert result.wall_s < PATIENCE_S
    assert goes_on(executor)


def test_the_others_go_on_when_some_crash(executor: LocalExecutor[Any, Any]) -> None:
    bad: list[tuple[Any, ...]] = [("leaves", 3), ("raises", "x"), ("dies_of", 9), ("dies_of", 11)]
    results = run(executor, *[("square", number) if number % 5 else bad[number // 5 % 4] for number in range(100)])
    assert [result.value for result in results if result.status == DONE] == [n * n for n in range(100) if n % 5]
    assert [result.status for result in results if result.status != DONE] == [FAILED, FAILED, KILLED, FAILED] * 5


def test_an_endless_task_is_ended_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    with LocalExecutor[Any, Any](behave, workers=2, limit_s=LIMIT_S) as executor:
        executor.submit("slow", ("never_ends",))
        executor.submit("quick", ("square", 2))
        results = executor.results()
        assert next(results).name == "quick"
        (worker,) = (worker for worker in executor._workers.values() if worker.task is not None)
        jump_clock_when(monkeypatch, lambda: log_tail(worker.log.fileno()) == "an endless task\n")
        (slow,) = results
        assert (slow.status, slow.error) == (TIMED_OUT, "not finished after 3600 s")
        assert slow.log == "an endless task\n"
        assert slow.wall_s >= LIMIT_S
        assert slow.cpu_s > 0
        assert goes_on(executor)


def test_time_that_the_caller_takes_is_not_counted_against_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    with LocalExecutor[Any, Any](behave, workers=2, limit_s=LIMIT_S) as executor:
        for number in range(3):
            executor.submit(str(number), ("many_bytes", 2_000_000))  # more than a socket holds
        results = executor.results()
        first = next(results)
        channels = [worker.channel for worker in executor._workers.values() if worker.task is not None]
        assert eventually(lambda: len(select.select(channels, [], [], 0)[0]) == len(channels))
        jump_clock_when(monkeypatch, lambda: True)
        assert [result.status for result in (first, *results)] == [DONE] * 3


@on_linux
@pytest.mark.parametrize("session", ["same session", "own session"])
def test_children_of_a_task_that_is_ended_are_ended(
    tmp_path: Path, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    jump_clock_when(monkeypatch, lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    with LocalExecutor[Any, Any](behave, workers=1, limit_s=LIMIT_S) as executor:
        assert run_one(executor, "forks_a_sleeper", str(tmp_path / "pid"), session, "wait").status == TIMED_OUT
        child = written_pid(tmp_path / "pid")
        assert eventually(lambda: not alive(child))


@on_linux
@pytest.mark.parametrize("session", ["same session", "own session"])
def test_children_that_a_finished_task_leaves_behind_are_ended(
    executor: LocalExecutor[Any, Any], tmp_path: Path, session: str
) -> None:
    assert run_one(executor, "forks_a_sleeper", str(tmp_path / "pid"), session, "return").status == DONE
    assert not alive(written_pid(tmp_path / "pid"))


@on_linux
def test_not_even_a_daemon_outlives_its_task(executor: LocalExecutor[Any, Any], tmp_path: Path) -> None:
    assert run_one(executor, "starts_a_daemon", str(tmp_path / "pid")).status == DONE
    assert not alive(written_pid(tmp_path / "pid"))


def test_cancelling_forgets_what_waits_and_stops_what_runs(executor: LocalExecutor[Any, Any]) -> None:
    executor.submit("first", ("sleeps", 0.2))
    for number in range(10):
        executor.submit(str(number), ("sleeps", 60))
    results = executor.results()
    assert next(results).name == "first"
    assert eventually(lambda: executor.running == 2)
    executor.cancel()
    stopped = list(results)
    assert {result.name for result in stopped} == {"0", "1"}
    assert {(result.status, result.error) for result in stopped} == {(KILLED, "cancelled")}
    assert goes_on(executor)


@on_linux
def test_a_worker_that_ignores_a_request_to_end_is_killed(tmp_path: Path) -> None:
    with LocalExecutor[Any, Any](behave, workers=2) as executor:
        executor.submit("deaf", ("ignores_requests", str(tmp_path / "pid")))
        executor.submit("quick", ("sleeps", 0.5))
        assert next(executor.results()).name == "quick"
        deaf = written_pid(tmp_path / "pid")
        assert alive(deaf)
        started = time.monotonic()
    assert eventually(lambda: not alive(deaf))
    assert time.monotonic() - started > 1.5


@on_linux
def test_after_closing_no_process_is_left(tmp_path: Path) -> None:
    executor = LocalExecutor[Any, Any](behave, workers=3)
    for number in range(6):
        executor.submit(str(number), ("sleeps_known_by", str(tmp_path / str(number)), 60))
    threading.Timer(0.2, lambda: os.kill(written_pid(tmp_path / "0"), signal.SIGKILL)).start()
    assert next(executor.results()).name == "0"
    pids = executor.pids
    executor.close()
    assert len(pids) >= 2
    assert eventually(lambda: not any(map(alive, pids)))
    assert list(executor.results()) == []
    with pytest.raises(ValueError, match="closed"):
        executor.submit("late", ("pid",))
    executor.close()


@on_linux
def test_every_task_is_reported_once_while_workers_are_killed_from_outside() -> None:
    chance = random.Random(20)
    killed = 0
    with LocalExecutor[Any, Any](behave, workers=3) as executor:
        for _ in range(20):
            for number in range(200):
                executor.submit(str(number), ("square", number))
            results = []
            for result in executor.results():
                results.append(result)
                if chance.random() < 0.05 and executor.pids:
                    try:
                        os.kill(chance.choice(executor.pids), signal.SIGKILL)
                    except ProcessLookupError:  # it was killed before, and we have not heard of it
                        continue
            assert sorted(int(result.name) for result in results) == list(range(200))
            assert all(result.value == int(result.name) ** 2 for result in results if result.status == DONE)
            assert {result.status for result in results} <= {DONE, KILLED}
            killed += sum(result.status == KILLED for result in results)
    assert killed


@on_linux
def test_the_death_of_the_fork_server_is_survived(tmp_path: Path) -> None:
    with LocalExecutor[Any, Any](behave, workers=2) as executor:
        executor.submit("running", ("forks_a_sleeper", str(tmp_path / "pid"), "same session", "wait"))
        for number in range(50):
            executor.submit(str(number), ("square", number))
        results = []
        for result in executor.results():
            results.append(result)
            if len(results) == 10:
                sleeper = written_pid(tmp_path / "pid")
                worker = parent_of(sleeper)
                os.kill(parent_of(worker), signal.SIGKILL)
        assert sorted(result.name for result in results) == sorted(["running", *map(str, range(50))])
        (lost,) = (result for result in results if result.name == "running")
        assert lost.status == KILLED
        assert sum(result.status == DONE for result in results) >= 48
        assert eventually(lambda: not alive(worker) and not alive(sleeper))


SCRIPT = """
import os, sys, time
from deadheat.study.engine.executor import LocalExecutor
from tests.study.worker_tasks import behave
with LocalExecutor(behave, workers=3) as executor:
    for number in range(9):
        executor.submit(str(number), ("sleeps_known_by", f"{sys.argv[1]}/{number}", 60))
    if sys.argv[2] == "forks" and not os.fork():
        os.closerange(0, 3)
        with open(f"{sys.argv[1]}/fork", "w") as file:
            file.write(str(os.getpid()))
        time.sleep(60)
        os._exit(0)
    try:
        for each in executor.results():
            print(each)
    except KeyboardInterrupt:
        print("interrupted")
        raise SystemExit(130)
"""


def start_study(folder: Path, then: str = "") -> tuple[subprocess.Popen[str], list[int]]:
    """A study in a process of its own, with the pids of its three workers and its fork server."""
    study = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(folder), then],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    pids = [written_pid(folder / str(number)) for number in range(3)]
    fork_server = parent_of(pids[0])
    assert fork_server != study.pid
    return study, [*pids, fork_server]


@on_linux
def test_ctrl_c_ends_a_study_and_its_workers_cleanly(tmp_path: Path) -> None:
    study, pids = start_study(tmp_path)
    os.killpg(study.pid, signal.SIGINT)  # as a terminal does
    out, err = study.communicate(timeout=PATIENCE_S)
    assert (study.returncode, out, err) == (130, "interrupted\n", "")
    assert eventually(lambda: not any(map(alive, pids)))


@on_linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_worker_outlives_a_study_that_is_killed(tmp_path: Path, number: int) -> None:
    study, pids = start_study(tmp_path)
    study.send_signal(number)
    study.communicate(timeout=PATIENCE_S)
    assert eventually(lambda: not any(map(alive, pids)))


@on_linux
def test_no_worker_outlives_a_killed_study_of_which_a_child_holds_the_same_sockets(tmp_path: Path) -> None:
    study, pids = start_study(tmp_path, "forks")
    child = written_pid(tmp_path / "fork")
    study.kill()
    study.communicate(timeout=PATIENCE_S)
    try:
        assert eventually(lambda: not any(map(alive, pids)))
        assert alive(child)
    finally:
        os.kill(child, signal.SIGKILL)


@on_linux
def test_no_worker_outlives_the_fork_server_even_if_the_study_hangs(tmp_path: Path) -> None:
    study, pids = start_study(tmp_path)
    study.send_signal(signal.SIGSTOP)
    os.kill(pids[-1], signal.SIGKILL)
    assert eventually(lambda: not any(map(alive, pids)))
    study.kill()
    study.communicate(timeout=PATIENCE_S)
