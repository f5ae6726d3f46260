from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from deadheat.errors import InputError
from deadheat.study.engine import executor as local
from deadheat.study.engine.executor import ActiveTask, LocalExecutor, cores
from deadheat.study.engine.worker import LOG_BYTES, Meter, WorkerError
from deadheat.study.plan.cells import DONE, FAILED, TIMED_OUT
from tests.study import worker_tasks
from tests.study.worker_checks import PATIENCE_S, goes_on, on_linux, run, run_one
from tests.study.worker_tasks import Loader, behave


def test_two_thousand_tasks_are_each_reported_once_with_their_value(executor: LocalExecutor[Any, Any]) -> None:
    results = run(executor, *[("square", number) for number in range(2000)])
    assert [result.value for result in results] == [number * number for number in range(2000)]
    assert {result.status for result in results} == {DONE}
    assert all(not result.error and not result.log for result in results)


def test_as_many_tasks_as_there_are_workers_run_at_the_same_time(tmp_path: Path) -> None:
    with LocalExecutor[Any, Any](behave, workers=3) as executor:
        found = run(executor, *[("waits_for_others", str(tmp_path), 3)] * 3)
        assert [result.status for result in found] == [DONE] * 3
        assert len(executor.pids) == executor.workers == 3


def test_the_default_is_a_worker_for_each_core() -> None:
    with LocalExecutor(behave) as executor:
        assert executor.workers == cores() == len(os.sched_getaffinity(0))


def test_no_more_workers_are_started_than_there_are_tasks() -> None:
    with LocalExecutor[Any, Any](behave, workers=50) as executor:
        assert len(run(executor, ("sleeps", 0.1), ("sleeps", 0.1))) == 2
        assert len(executor.pids) == 2


def test_an_exception_is_told_in_a_line_and_its_traceback_is_in_the_log(executor: LocalExecutor[Any, Any]) -> None:
    result = run_one(executor, "raises", "seven is not eight")
    assert (result.status, result.value, result.error) == (FAILED, None, "ValueError: seven is not eight")
    assert result.log.startswith("before the error\nTraceback (most recent call last):\n")
    assert "in raises\n" in result.log
    assert result.log.endswith("ValueError: seven is not eight\n")
    assert goes_on(executor)


@pytest.mark.parametrize(
    ("task", "error"),
    [
        (("raises_something_that_cannot_be_told",), "Mute"),
        (("asks_to_leave", 3), "SystemExit: 3"),
        (("unpicklable",), "the result cannot be sent: "),
        (("falls_apart",), "the result cannot be read: ValueError: invalid literal"),
    ],
)
def test_exits_unprintable_exceptions_and_results_that_cannot_be_sent_or_read_are_failures(
    executor: LocalExecutor[Any, Any], task: tuple[Any, ...], error: str
) -> None:
    result = run_one(executor, *task)
    assert result.status == FAILED
    assert result.error.startswith(error)
    assert ("Traceback" in result.log) == (task != ("falls_apart",))
    assert goes_on(executor)


def test_all_that_is_printed_is_in_the_log_of_its_task_and_nowhere_else(
    executor: LocalExecutor[Any, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    ways = ["by print", "to stderr", "to descriptor 1", "by printf", "by a child"]
    results = run(executor, *[("prints_everywhere", f"word{number}") for number in range(6)])
    for number, result in enumerate(results):
        assert sorted(result.log.splitlines()) == sorted(f"word{number} {suffix}" for suffix in ways)
    assert capfd.readouterr() == ("", "")


def test_a_task_can_spoil_the_streams_only_for_itself() -> None:
    with LocalExecutor[Any, Any](behave, workers=1) as executor:
        spoilt, printed = run(executor, ("spoils_the_streams",), ("prints_everywhere", "x"))
        assert spoilt.status == printed.status == DONE
        assert len(printed.log.splitlines()) == 5


def test_of_a_long_log_the_end_is_kept(executor: LocalExecutor[Any, Any]) -> None:
    result = run_one(executor, "prints_much", 100_000)
    first, rest = result.log.split("\n")
    assert first == f"({100_011 - LOG_BYTES:,} bytes before this are left out)"
    assert len(rest) == LOG_BYTES
    assert rest.endswith("x last")


def test_a_task_that_never_stops_printing_does_not_fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "LOG_LIMIT", 1 << 20)
    monkeypatch.setattr(local, "CHECK_S", 0.001)
    sizes: list[int] = []
    shorten = local.Worker.shorten_log

    def watched(worker: local.Worker) -> None:
        shorten(worker)
        sizes.append(os.fstat(worker.log.fileno()).st_size)

    monkeypatch.setattr(local.Worker, "shorten_log", watched)
    with LocalExecutor[Any, Any](behave, workers=1, limit_s=1) as executor:
        result = run_one(executor, "prints_for_ever")
    assert result.status == TIMED_OUT
    assert result.log.count("y") >= LOG_BYTES - 2
    assert max(sizes) < 1 << 28  # without shortening it would be gigabytes
    assert any(later < earlier for earlier, later in pairwise(sizes))


def test_large_tasks_and_results_cross(executor: LocalExecutor[Any, Any]) -> None:
    size = 12 * (1 << 20)
    large = bytes(range(256)) * (size // 256)
    results = run(executor, *[("many_bytes", size)] * 4, *[("length", large)] * 2)
    assert all(result.value == large for result in results[:4])
    assert [result.value for result in results[4:]] == [size] * 2


def test_a_task_that_cannot_be_pickled_is_refused_at_once(executor: LocalExecutor[Any, Any]) -> None:
    with pytest.raises((AttributeError, TypeError), match="pickle"):
        executor.submit("lambda", lambda: None)
    assert goes_on(executor)


def test_cpu_time_is_that_of_the_task_and_its_children() -> None:
    with LocalExecutor[Any, Any](behave, workers=1) as executor:
        asleep, burning, childs, again = run(
            executor, ("sleeps", 0.3), ("burns", 0.3), ("lets_a_child_burn", 0.3), ("sleeps", 0.0)
        )
        assert asleep.cpu_s < 0.3 <= asleep.wall_s
        assert burning.cpu_s >= 0.3
        assert childs.cpu_s >= 0.3
        assert again.cpu_s < 0.3  # not that of earlier tasks
        assert burning.started >= asleep.started + 0.3
        assert abs(again.started - time.time()) < PATIENCE_S


@on_linux
def test_cpu_time_of_an_ended_task_is_that_of_its_children_too_and_not_of_earlier_tasks() -> None:
    with LocalExecutor[Any, Any](behave, workers=1, limit_s=1.5) as executor:
        childs, asleep = run(executor, ("does_not_look_after_a_child_that_burns",), ("sleeps", 60))
    assert asleep.cpu_s < childs.cpu_s  # the task itself sleeps
    assert childs.status == asleep.status == TIMED_OUT


@on_linux
def test_memory_is_that_of_the_task_alone() -> None:
    with LocalExecutor[Any, Any](behave, workers=1) as executor:
        little, much, little_again = run(executor, ("holds", 1), ("holds", 150), ("holds", 1))
        childs, after = run(executor, ("lets_a_child_hold", 150), ("lets_a_child_hold", 1))
    assert little.peak_mb < 60
    assert 300 < much.peak_mb < 380  # the bytes and their copy
    assert little_again.peak_mb < 60
    assert 150 < childs.peak_mb < 220
    assert after.peak_mb < 60


def test_memory_that_an_earlier_peak_hides_is_unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("deadheat.study.engine.worker.CLEAR_REFS", tmp_path / "no" / "clear_refs")
    assert Meter().stop()[2] == 0.0
    monkeypatch.undo()
    assert Meter().stop()[2] > 0.0


def test_a_worker_serves_many_tasks_but_not_with_a_thread_that_one_left() -> None:
    with LocalExecutor[Any, Any](behave, workers=1) as executor:
        results = run(executor, ("pid",), ("pid",), ("leaves_a_thread",), ("pid",), ("pid",))
    pids = [result.value for result in results]
    assert pids[0] == pids[1] == pids[2] != pids[3] == pids[4]


def test_numeric_libraries_get_one_thread(executor: LocalExecutor[Any, Any]) -> None:
    result: Any = run_one(executor, "threads_of_libraries").value
    for library in ("OPENBLAS_NUM", "OMP_NUM", "MKL_NUM", "NUMEXPR_NUM", "NUMBA_NUM", "POLARS_MAX"):
        assert result[f"{library}_THREADS"] == "1"


def test_sets_of_words_have_the_same_order_in_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    orders = []
    for _ in range(2):
        with LocalExecutor[Any, Any](behave, workers=1) as executor:
            orders.append(run_one(executor, "order_of_a_set").value)
    assert orders[0] == orders[1]


@pytest.mark.parametrize("threaded", [False, True])
def test_what_is_prepared_is_loaded_once_and_shared_unless_it_starts_threads(*, threaded: bool) -> None:
    loader = Loader(threaded=threaded)
    with LocalExecutor(loader.work, workers=2, prepare=loader.load) as executor:
        for number in range(8):
            executor.submit(str(number), 0.05)
        values = [result.value for result in executor.results() if result.value is not None]
        assert executor.shared != threaded
    assert len(values) == 8
    assert len({pid for _, pid in values}) <= 2  # a thread from before a task does not retire its worker
    if threaded:
        assert all(loaded_by == pid for loaded_by, pid in values)
    else:
        assert len({loaded_by for loaded_by, _ in values}) == 1
        assert all(loaded_by not in (0, pid, os.getpid()) for loaded_by, pid in values)
    assert loader.loaded_by == 0


def test_wrong_input_that_is_found_while_preparing_is_raised_as_such() -> None:
    with pytest.raises(InputError, match=r"^a.conllu:3: no head; expected a number$"):
        LocalExecutor(behave, prepare=worker_tasks.prepare_with_wrong_input)


def test_a_failure_to_prepare_is_raised_with_its_log() -> None:
    with pytest.raises(WorkerError, match="OSError: no such corpus") as caught:
        LocalExecutor(behave, prepare=worker_tasks.prepare_badly)
    assert "half prepared" in str(caught.value)
    assert "in prepare_badly" in str(caught.value)


def test_dying_while_preparing_is_raised_with_its_log() -> None:
    with pytest.raises(WorkerError, match="ended itself with exit code 7\ndying while loading"):
        LocalExecutor(behave, prepare=worker_tasks.prepare_by_dying)


def test_workers_that_die_while_they_load_are_not_started_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUDY", str(os.getpid()))
    with LocalExecutor[Any, Any](behave, workers=2, prepare=worker_tasks.prepare_by_dying_apart) as executor:
        executor.submit("never", ("pid",))
        with pytest.raises(WorkerError, match=r"died before they were ready; .* exit code 7"):
            list(executor.results())


def test_work_that_cannot_be_sent_is_refused() -> None:
    with pytest.raises(InputError, match=r"^workers: the work cannot be sent .*; expected functions of a module$"):
        LocalExecutor(lambda task: task)


@pytest.mark.parametrize("work", ["work", "Job().run", "partial(work)", "Job()"])
def test_work_of_a_script_is_refused(work: str) -> None:
    script = f"""
from functools import partial
from deadheat.errors import InputError
from deadheat.study.engine.executor import LocalExecutor
def work(task): ...
class Job:
    def run(self, task): ...
    def __call__(self, task): ...
try:
    LocalExecutor({work})
except InputError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("workers: the work is defined in the script that was started; expected ")


def test_files_in_the_current_folder_hide_no_module_of_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("json", "types", "pickle", "tempfile"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not a module of Python')\n")
    monkeypatch.chdir(tmp_path)
    executor: LocalExecutor[int, int] = LocalExecutor(abs, workers=1)
    with executor:
        executor.submit("one", -1)
        assert [result.value for result in executor.results()] == [1]


@pytest.mark.parametrize("wrong", [{"workers": -1}, {"limit_s": 0.0}, {"limit_s": float("nan")}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="; expected "):
        LocalExecutor(behave, **wrong)


def test_tasks_can_be_submitted_while_results_come(executor: LocalExecutor[Any, Any]) -> None:
    executor.submit("1", ("square", 1))
    results = []
    for result in executor.results():
        results.append(result.value)
        if len(results) < 20:
            executor.submit(str(len(results) + 1), ("square", len(results) + 1))
    assert results == [number * number for number in range(1, 21)]


def test_what_runs_is_known_while_results_are_waited_for(executor: LocalExecutor[Any, Any], tmp_path: Path) -> None:
    seen: list[ActiveTask] = []

    def on_wait() -> None:
        seen.extend(executor.active())
        if seen:
            (tmp_path / "another").touch()  # which the task waits for

    executor.submit("waiting", ("waits_for_others", str(tmp_path), 2))
    before = time.time()
    (result,) = executor.results(on_wait)
    assert result.status == DONE
    assert {(task.name, task.detail) for task in seen} == {("waiting", "")}
    assert before <= seen[0].started <= result.started
    assert executor.active() == []


def test_an_iteration_that_was_broken_off_can_be_taken_up(executor: LocalExecutor[Any, Any]) -> None:
    for number in range(10):
        executor.submit(str(number), ("square", number))
    first = next(iter(executor.results()))
    results = {result.name: result.value for result in [first, *executor.results()]}
    assert results == {str(number): number * number for number in range(10)}


def test_nothing_is_warned_of_though_the_study_has_threads(recwarn: pytest.WarningsRecorder) -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    with LocalExecutor[Any, Any](behave, workers=2) as executor:
        assert goes_on(executor)
    stop.set()
    thread.join()
    assert not recwarn.list
