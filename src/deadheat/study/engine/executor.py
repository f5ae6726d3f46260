"""The interface between a study and the machines that run its cells: submit tasks, receive results."""

from __future__ import annotations

import resource
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from deadheat.study.engine.worker import describe_error, peak_memory_mb
from deadheat.study.plan.cells import DONE, FAILED

T = TypeVar("T")
R = TypeVar("R")
T_contra = TypeVar("T_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class TaskResult(Generic[R]):
    """How one task ended.

    `status` is one of the constants of `deadheat.study.plan.cells`. `failed` is the task's own fault and would happen
    again: an exception, a crash, an exit. `killed` came from outside (out of memory, a person, `cancel`) and may not
    happen again. `log` holds the last 64 KB that the task and its children printed.
    """

    name: str
    status: str
    value: R | None = None
    error: str = ""
    log: str = ""
    started: float = 0.0  # seconds since 1970
    wall_s: float = 0.0
    cpu_s: float = 0.0  # of the task and its child processes
    peak_mb: float = 0.0  # resident memory of its largest process


class Executor(Protocol[T_contra, R]):
    """Runs tasks: on the cores of this machine, or elsewhere."""

    def submit(self, name: str, task: T_contra) -> None:
        """Append a task to the queue; it may start at once."""
        ...

    def results(self) -> Iterator[TaskResult[R]]:
        """Each submitted task once, in the order in which they finish; ends when none is left.

        Tasks may be submitted between two results. An interrupted iteration can be continued by another.
        """
        ...

    def cancel(self) -> None:
        """Drop queued tasks and stop running ones. Running tasks are reported as killed, queued ones not at all."""
        ...

    def close(self) -> None:
        """Stop everything and release processes and files; nothing more is reported."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class SerialExecutor(Generic[T, R]):
    """Runs one task after the other in this process, for tests and debugging; nothing is isolated or captured.

    Examples
    --------
    >>> with SerialExecutor(lambda task: 10 // task) as executor:
    ...     for task in (5, 0):
    ...         executor.submit(str(task), task)
    ...     [(result.name, result.status, result.value, result.error) for result in executor.results()]
    [('5', 'done', 2, ''), ('0', 'failed', None, 'ZeroDivisionError: integer division or modulo by zero')]
    """

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
