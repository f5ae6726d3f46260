"""Running tasks in the tests of workers, and looking at processes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from deadheat.study.engine import executor as executor_module
from deadheat.study.engine.executor import Executor
from deadheat.study.engine.worker import TaskResult

PATIENCE_S = 120.0
LIMIT_S = 3600.0

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and prctl")


def alive(pid: int) -> bool:
    """Whether a process exists and is more than an entry that nobody has read."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status not in "ZX"


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def eventually(happened: Callable[[], object]) -> bool:
    until = time.monotonic() + PATIENCE_S
    while not happened():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def written_pid(path: Path) -> int:
    assert eventually(lambda: path.exists() and path.read_text())
    return int(path.read_text())


def jump_clock_when(monkeypatch: pytest.MonkeyPatch, happened: Callable[[], object]) -> None:
    """Let the executor's clock jump past every limit once something has happened, however long that takes."""
    jumped: list[bool] = []

    def perf_counter() -> float:
        if not jumped and happened():
            jumped.append(True)
        return time.perf_counter() + LIMIT_S * len(jumped)

    monkeypatch.setattr(executor_module, "time", SimpleNamespace(time=time.time, perf_counter=perf_counter))


def run(executor: Executor[Any, Any], *tasks: tuple[Any, ...]) -> list[TaskResult[Any]]:
    """Run tasks and give what became of them, in their order."""
    for number, task in enumerate(tasks):
        executor.submit(str(number), task)
    results = list(executor.results())
    assert sorted(int(result.name) for result in results) == list(range(len(tasks)))
    return sorted(results, key=lambda result: int(result.name))


def run_one(executor: Executor[Any, Any], *task: Any) -> TaskResult[Any]:
    (result,) = run(executor, task)
    return result


def goes_on(executor: Executor[Any, Any]) -> bool:
    return run_one(executor, "square", 7).value == 49
