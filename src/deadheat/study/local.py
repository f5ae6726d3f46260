"""Tasks on the cores of this machine: worker processes that can crash, hang or be killed without harm to the others."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Generic, Self, TypeVar

from deadheat.errors import InputError
from deadheat.study import worker_messages as messages
from deadheat.study.executor import Finished
from deadheat.study.worker import described
from deadheat.study.worker_pool import Pool, Task

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 2  # results a worker that may wait for a slow caller before no more tasks are started


def cores() -> int:
    """The processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class LocalExecutor(Generic[T, R]):
    """Runs `work` on every task, in worker processes.

    Workers are forked from a process that holds a copy of `work`, sent by pickle, and has called `prepare`: what that
    loads is shared by all of them. Give methods of one object for the two, and `prepare` can leave what it loads
    where `work` finds it. Both have to belong to a module that can be imported.

    A task that raises, crashes, ends its process, is killed or takes too long is reported with what it printed, and
    the others go on. Processes that it leaves running are ended with it.

    Parameters
    ----------
    work
        Called with a task; what it returns comes back by pickle.
    workers
        How many tasks run at once; 0 means one for each core. Numeric libraries get one thread in each.
    limit_s
        Seconds after which a task is ended.
    prepare
        Called once before any task; or once in each worker, if it starts threads, for then nothing can be forked.
    log_folder
        Where what tasks print is kept while they run, in files without names; else where temporary files are.

    Raises
    ------
    InputError
        If `prepare` raises one, or `work` cannot be sent.
    WorkersFailed
        If `prepare` fails otherwise, or workers die again and again while they start.

    Examples
    --------
    >>> with LocalExecutor(abs, workers=2) as executor:
    ...     for task in (-1, "x"):
    ...         executor.submit(f"abs of {task}", task)
    ...     sorted((each.name, each.status, each.value, each.error) for each in executor.results())
    [('abs of -1', 'done', 1, ''), ('abs of x', 'failed', None, "TypeError: bad operand type for abs(): 'str'")]
    """

    def __init__(
        self,
        work: Callable[[T], R],
        *,
        workers: int = 0,
        limit_s: float | None = None,
        prepare: Callable[[], None] | None = None,
        log_folder: str | os.PathLike[str] | None = None,
    ) -> None:
        if workers < 0:
            raise InputError(f"workers: {workers}; expected 1 or more, or 0 for one for each core")
        if limit_s is not None and not limit_s > 0:
            raise InputError(f"limit_s: {limit_s}; expected seconds above 0, or None")
        if _is_of_the_script(work) or _is_of_the_script(prepare):
            raise InputError("workers: the work is defined in the script that was started; expected a module to import")
        try:
            job = messages.pickled((work, prepare))
        except Exception as error:
            problem = f"workers: the work cannot be sent to them ({described(error)})"
            raise InputError(f"{problem}; expected functions of a module") from error
        folder = None if log_folder is None else os.fspath(log_folder)
        self._waiting: deque[Task] = deque()
        self._finished: deque[Finished[R]] = deque()
        self._closed = False
        self._pool = Pool(job, size=workers or cores(), limit_s=limit_s, log_folder=folder)

    @property
    def workers(self) -> int:
        """How many tasks can run at once."""
        return self._pool.size

    @property
    def running(self) -> int:
        """How many tasks run at the moment."""
        return self._pool.running

    @property
    def shared(self) -> bool:
        """Whether workers share what `prepare` has loaded; else each of them loads it."""
        return not self._pool.apart

    @property
    def pids(self) -> tuple[int, ...]:
        """The worker processes."""
        return self._pool.pids

    def submit(self, name: str, task: T) -> None:
        """Put a task at the end of the queue; it starts when results are asked for."""
        if self._closed:
            raise ValueError("submit: the executor is closed")
        self._waiting.append(Task(name, messages.pickled(task)))

    def results(self) -> Iterator[Finished[R]]:
        """Each submitted task once, in the order in which they finish; ends when none is left.

        Tasks may be submitted between two results. While the caller looks at one, workers go on with their tasks.
        """
        while self._finished or self._waiting or self._pool.running:
            self._hand_out()
            self._finished.extend(self._pool.step(wait=not self._finished))
            if self._finished:
                self._hand_out()
                yield self._finished.popleft()

    def cancel(self) -> None:
        """Forget what waits, stop what runs. What ran is reported as killed; what waited is not reported."""
        self._waiting.clear()
        self._pool.stop("cancelled")

    def close(self) -> None:
        """End all workers, also those with a task, and what their tasks have started."""
        if not self._closed:
            self._closed = True
            self._waiting.clear()
            self._finished.clear()
            self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _hand_out(self) -> None:
        if len(self._finished) >= AHEAD * self._pool.size:
            return
        self._pool.grow(self._pool.running + len(self._waiting))
        while self._waiting and self._pool.give(self._waiting[0]):
            self._waiting.popleft()


def _is_of_the_script(function: object) -> bool:
    """Whether a function, method or partial comes from a script, which other processes do not import."""
    inner = getattr(function, "func", function)
    owner = getattr(inner, "__self__", inner)
    return "__main__" in (getattr(inner, "__module__", ""), type(owner).__module__)
