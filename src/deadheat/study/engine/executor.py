"""The seam between a study and where its cells run: submit tasks, take what became of them as it comes."""

from __future__ import annotations

import resource
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from deadheat.errors import DeadheatError
from deadheat.study.engine.worker import described, largest_mb
from deadheat.study.plan.cells import DONE, FAILED

T = TypeVar("T")
R = TypeVar("R")
T_contra = TypeVar("T_contra", contravariant=True)


class WorkersFailed(DeadheatError):
    """Workers cannot be started or kept alive, for a reason that lies in no task."""


@dataclass(frozen=True, slots=True)
class Finished(Generic[R]):
    """What became of one task.

    `status` is one of the constants of `deadheat.study.plan.cells`. `failed` is the task's own doing and would happen
    again: an exception, a crash, an exit. `killed` came from outside (the system short of memory, a person, `cancel`)
    and may go better another time. `log` holds the last 64 KB of what the task and its children printed.
    """

    name: str
    status: str
    value: R | None = None
    error: str = ""
    log: str = ""
    started: float = 0.0  # seconds since 1970
    wall_s: float = 0.0
    cpu_s: float = 0.0  # of the task and of the processes that it started
    peak_mb: float = 0.0  # resident memory of its largest process

    def __str__(self) -> str:
        problem = f": {self.error}" if self.error else ""
        return (
            f"{self.name} {self.status} in {self.wall_s:.2f} s ({self.cpu_s:.2f} s CPU, {self.peak_mb:.0f} MB){problem}"
        )


class Executor(Protocol[T_contra, R]):
    """Something that runs tasks: the processors of this machine, or of others."""

    def submit(self, name: str, task: T_contra) -> None:
        """Put a task at the end of the queue; it may run at once."""
        ...

    def results(self) -> Iterator[Finished[R]]:
        """Each submitted task once, in the order in which they finish; ends when none is left.

        Tasks may be submitted between two results. An iteration that was broken off can be taken up by another.
        """
        ...

    def cancel(self) -> None:
        """Forget what waits, stop what runs. What ran is reported as killed; what waited is not reported."""
        ...

    def close(self) -> None:
        """Stop everything and give back processes and files; nothing more is reported."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class SerialExecutor(Generic[T, R]):
    """One task after the other in this process, for tests and debugging: output is not caught, nothing is isolated.

    Examples
    --------
    >>> with SerialExecutor(lambda task: 10 // task) as executor:
    ...     for task in (5, 0):
    ...         executor.submit(str(task), task)
    ...     [(each.name, each.status, each.value, each.error) for each in executor.results()]
    [('5', 'done', 2, ''), ('0', 'failed', None, 'ZeroDivisionError: integer division or modulo by zero')]
    """

    def __init__(self, work: Callable[[T], R], *, prepare: Callable[[], None] | None = None) -> None:
        self._work = work
        self._waiting: deque[tuple[str, T]] = deque()
        if prepare is not None:
            prepare()

    def submit(self, name: str, task: T) -> None:
        self._waiting.append((name, task))

    def results(self) -> Iterator[Finished[R]]:
        while self._waiting:
            yield self._finished(*self._waiting.popleft())

    def cancel(self) -> None:
        self._waiting.clear()

    def close(self) -> None:
        self.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _finished(self, name: str, task: T) -> Finished[R]:
        started, clock, cpu = time.time(), time.perf_counter(), _cpu()
        value, status, problem, log = None, DONE, "", ""
        try:
            value = self._work(task)
        except (Exception, SystemExit) as error:
            status, problem, log = FAILED, described(error), traceback.format_exc()
        wall = time.perf_counter() - clock
        return Finished(name, status, value, problem, log, started, wall, _cpu() - cpu, largest_mb())


def _cpu() -> float:
    """Seconds of CPU of this process and the children it has waited for."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in both)
