"""An executor without processes, for tests that do not need them."""

from __future__ import annotations

import resource
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Generic, Self, TypeVar

from deadheat.study.engine.executor import TaskResult
from deadheat.study.engine.worker import describe_error, peak_memory_mb
from deadheat.study.plan.cells import DONE, FAILED

T = TypeVar("T")
R = TypeVar("R")


class SerialExecutor(Generic[T, R]):
    """Runs one task after the other in this process; nothing is isolated or captured."""

    def __init__(self, work: Callable[[T], R], *, prepare: Callable[[], None] | None = None) -> None:
        self._work = work
        self._queue: deque[tuple[str, T]] = deque()
        if prepare is not None:
            prepare()

    def submit(self, name: str, task: T) -> None:
        self._queue.append((name, task))

    def results(self) -> Iterator[TaskResult[R]]:
        while self._queue:
            yield self._run(*self._queue.popleft())

    def cancel(self) -> None:
        self._queue.clear()

    def close(self) -> None:
        self.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def _run(self, name: str, task: T) -> TaskResult[R]:
        started, clock, cpu = time.time(), time.perf_counter(), _cpu_seconds()
        value, status, problem, log = None, DONE, "", ""
        try:
            value = self._work(task)
        except (Exception, SystemExit) as error:
            status, problem, log = FAILED, describe_error(error), traceback.format_exc()
        wall = time.perf_counter() - clock
        return TaskResult(name, status, value, problem, log, started, wall, _cpu_seconds() - cpu, peak_memory_mb())


def _cpu_seconds() -> float:
    """CPU time of this process and of the children it has waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
