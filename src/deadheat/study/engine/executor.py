"""Executors run the tasks of a study; this one on the cores of this machine.

Its worker processes can crash, hang or be killed without harm to others.
"""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, Pipe, wait
from typing import IO, Any, Generic, NamedTuple, Protocol, Self, TypeVar

from deadheat.errors import InputError
from deadheat.study.engine.fork_server import (
    Command,
    Died,
    ForkServer,
    ServerKilled,
    check_ready,
    log_file,
)
from deadheat.study.engine.worker import (
    LOG_BYTES,
    Ready,
    Report,
    Task,
    TaskResult,
    WorkerError,
    cause_of_death,
    is_from_script,
    log_tail,
    pickled,
    take_messages,
)
from deadheat.study.engine.workspace import Workspace
from deadheat.study.plan.cells import DONE, FAILED, KILLED, TIMED_OUT
from deadheat.tracebacks import describe_error

T = TypeVar("T")
R = TypeVar("R")
T_contra = TypeVar("T_contra", contravariant=True)

AHEAD = 2  # results per worker that may wait for a slow caller before no more tasks are started
CHECK_S = 1.0  # between two checks of the logs
LOG_LIMIT = 32 << 20  # bytes after which the beginning of a log is dropped while its task runs
LOST = KILLED, "killed together with the fork server"
MAX_FAILED_STARTS = 25  # workers, or fork servers, that may die in a row before they are ready


class ActiveTask(NamedTuple):
    """A task that runs now."""

    name: str
    started: float  # seconds since 1970
    detail: str = ""  # how far it is, of a stack of networks
    node: str = ""  # of a cluster


class Executor(Protocol[T_contra, R]):
    """Runs tasks: on the cores of this machine, or elsewhere."""

    @property
    def workers(self) -> int: ...  # that can run tasks at once
    def submit(self, name: str, task: T_contra) -> None:
        """Append a task to the queue; it may start at once."""

    def results(self, on_wait: Callable[[], None] | None = None) -> Iterator[TaskResult[R]]:
        """Each submitted task once, in the order in which they finish; ends when none is left.

        Tasks may be submitted between two results. An interrupted iteration can be continued by another. `on_wait` is
        called about once a second while no task finishes.
        """

    def active(self) -> list[ActiveTask]:
        """The tasks that run now."""

    def cancel(self) -> None:
        """Drop queued tasks and stop running ones. Running tasks are reported as killed, queued ones not at all."""

    def close(self) -> None:
        """Stop everything and release processes and files; nothing more is reported."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *error: Any) -> None: ...


def cores() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(slots=True, eq=False)
class Worker:
    """A worker process, as the study sees it."""

    number: int
    channel: Connection
    log: IO[bytes]
    pid: int = 0  # until it is ready
    task: Task | None = None
    started: float = 0.0
    clock: float = 0.0
    cpu_s: float = 0.0  # before its task
    retiring: bool = False  # sends no more messages
    end_reason: tuple[str, str] | None = None  # status and message, if we end it

    @property
    def busy(self) -> bool:
        """Whether it runs a task and is not being ended."""
        return self.task is not None and self.end_reason is None

    def begin(self, task: Task) -> bool:
        """Send it a task; False if it is dead."""
        self.started, self.clock = time.time(), time.perf_counter()  # first: the task may begin before this goes on
        try:
            self.channel.send_bytes(task.pickled)
        except OSError:
            self.retiring = True
            return False
        self.task = task
        return True

    def result(self, task: Task, report: Report) -> TaskResult[Any]:
        """The result of its task, from its report."""
        result, self.cpu_s, retiring = report
        self.task, self.retiring = None, retiring or self.end_reason is not None
        if result.status != DONE:
            return replace(result, name=task.name)
        try:
            return replace(result, name=task.name, value=pickle.loads(result.value or b""))
        except Exception as problem:
            error = f"the result cannot be read: {describe_error(problem)}"
            return replace(result, name=task.name, status=FAILED, value=None, error=error)

    def result_of_death(self, task: Task, death: Died | None) -> TaskResult[Any]:
        """The result of its task if the worker died first."""
        status, error = self.end_reason or (cause_of_death(death.exit_code) if death else LOST)
        wall = time.perf_counter() - self.clock
        cpu, peak = (max(0.0, death.cpu_s - self.cpu_s), death.peak_mb) if death else (0.0, 0.0)
        return TaskResult(task.name, status, None, error, log_tail(self.log.fileno()), self.started, wall, cpu, peak)

    def shorten_log(self) -> None:
        """Keep a task that never stops printing from filling the disk."""
        log = self.log.fileno()
        size = os.fstat(log).st_size
        if size > LOG_LIMIT:
            end = os.pread(log, LOG_BYTES, size - LOG_BYTES)
            os.ftruncate(log, 0)
            os.write(log, end)

    def kill_group(self) -> None:
        """Kill what is left of its process group after the fork server is gone."""
        if self.pid:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        self.channel.close()
        self.log.close()


class LocalExecutor(Generic[T, R]):
    """Runs `work` on every task, in worker processes.

    Workers are forked from a process that holds a copy of `work`, sent by pickle, and has called `prepare`. What
    `prepare` loads is shared by all of them. If both are methods of one object, `prepare` can store on it what `work`
    needs. Both have to be defined in a module that can be imported.

    A task that raises, crashes, exits, is killed or takes too long is reported with its output, and the others go on.
    Processes that it leaves running are ended with it.

    Parameters
    ----------
    work
        Called with a task; its result is sent back by pickle.
    workers
        How many tasks run at once; 0 means one per core. Numeric libraries get one thread in each.
    limit_s
        Seconds after which a task is ended.
    prepare
        Called once before any task; or once in each worker if it starts threads, since then nothing can be forked.
        If it raises InputError, so does the executor; after other errors, or if workers keep dying, WorkerError.

    Examples
    --------
    >>> with LocalExecutor(abs, workers=2) as executor:
    ...     for task in (-1, "x"):
    ...         executor.submit(f"abs of {task}", task)
    ...     sorted((result.name, result.status, result.value, result.error) for result in executor.results())
    [('abs of -1', 'done', 1, ''), ('abs of x', 'failed', None, "TypeError: bad operand type for abs(): 'str'")]
    """

    def __init__(
        self,
        work: Callable[[T], R],
        *,
        workers: int = 0,
        limit_s: float | None = None,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        if workers < 0:
            raise InputError(f"workers: {workers}; expected 1 or more, or 0 for one per core")
        if limit_s is not None and not limit_s > 0:
            raise InputError(f"limit_s: {limit_s}; expected seconds above 0, or None")
        if is_from_script(work) or is_from_script(prepare):
            raise InputError("workers: the work is defined in the script that was started; expected a module to import")
        try:
            self._job = pickled((work, prepare))
        except Exception as error:
            problem = f"workers: the work cannot be sent to them ({describe_error(error)})"
            raise InputError(f"{problem}; expected functions of a module") from error
        self.workers = workers or cores()  # tasks that can run at once
        self.shared = True  # whether workers share what `prepare` has loaded
        self._limit_s = limit_s
        self._queue: deque[Task] = deque()
        self._finished: deque[TaskResult[R]] = deque()
        self._closed = False
        self._workers: dict[int, Worker] = {}
        self._started = self._failed_starts = 0
        self._checked = time.perf_counter()
        self._workspace = Workspace()
        try:
            self._start_server()
        except BaseException:
            self._workspace.close()
            raise

    @property
    def running(self) -> int:
        """How many tasks run at the moment."""
        return sum(worker.task is not None for worker in self._workers.values())

    @property
    def ready(self) -> int:
        """How many results can be fetched without waiting."""
        return len(self._finished)

    @property
    def pids(self) -> tuple[int, ...]:
        """The worker processes."""
        return tuple(worker.pid for worker in self._workers.values() if worker.pid)

    def submit(self, name: str, task: T) -> None:
        if self._closed:
            raise ValueError("submit: the executor is closed")
        self._queue.append(Task(name, pickled(task)))

    def results(self, on_wait: Callable[[], None] | None = None) -> Iterator[TaskResult[R]]:
        while self._finished or self._queue or self.running:
            self._assign_tasks()
            self._finished.extend(self._step(wait_first=not self._finished))
            if self._finished:
                self._assign_tasks()
                yield self._finished.popleft()
            elif on_wait is not None:
                on_wait()

    def active(self) -> list[ActiveTask]:
        workers = self._workers.values()
        return [ActiveTask(worker.task.name, worker.started) for worker in workers if worker.task is not None]

    def cancel(self) -> None:
        self._queue.clear()
        for worker in self._workers.values():
            if worker.busy:
                worker.end_reason = KILLED, "cancelled"
                self._server.send(Command("end", worker.number))

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._queue.clear()
        self._finished.clear()
        clean = False
        try:
            clean = self._server.close()
        finally:
            for worker in self._workers.values():
                if not clean:
                    worker.kill_group()
                worker.close()
            self._workers.clear()
            self._workspace.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def _start_server(self) -> None:
        """Start the fork server; if it is killed while it loads the work, start another."""
        for failed in range(1, MAX_FAILED_STARTS + 1):
            try:
                self._server = ForkServer(self._job, self._workspace.path, load_in_workers=not self.shared)
                if not self._server.threaded:
                    return
                self._server.kill()
                self.shared = False
                self._server = ForkServer(self._job, self._workspace.path, load_in_workers=True)
                return
            except ServerKilled as error:
                if failed == MAX_FAILED_STARTS:
                    problem = f"the fork server was killed {failed} times in a row while it loaded the work"
                    raise WorkerError(f"workers: {problem}; finished cells are kept\n{error}") from None

    def _assign_tasks(self) -> None:
        """Start as many workers as there are tasks, and give each idle one a task."""
        if len(self._finished) >= AHEAD * self.workers:
            return
        staying = sum(not worker.retiring for worker in self._workers.values())
        for _ in range(staying, min(self.running + len(self._queue), self.workers)):
            channel, remote = Pipe()
            worker = Worker(self._started, channel, log_file())
            self._started += 1
            self._workers[worker.number] = worker
            with remote:
                self._server.send(Command("start", worker.number), remote.fileno(), worker.log.fileno())
        idle = [worker for worker in self._workers.values() if worker.pid and not worker.task and not worker.retiring]
        while self._queue and idle:
            if idle.pop().begin(self._queue[0]):
                self._queue.popleft()

    def _step(self, *, wait_first: bool) -> Iterator[TaskResult[Any]]:
        """Handle all events, after waiting for the first; yields finished tasks."""
        workers = {worker.channel: worker for worker in self._workers.values() if not worker.retiring}
        for channel in wait([self._server.channel, *workers], self._timeout() if wait_first else 0):
            if channel is self._server.channel:
                yield from self._read_server()
            elif (worker := workers[channel]).number in self._workers:  # type: ignore[index]
                yield from self._read_worker(worker)
        self._check_workers()

    def _timeout(self) -> float:
        clocks = [worker.clock for worker in self._workers.values() if worker.busy]
        if not clocks or self._limit_s is None:
            return CHECK_S
        return max(0.0, min(CHECK_S, min(clocks) + self._limit_s - time.perf_counter()))

    def _check_workers(self) -> None:
        """End tasks that take too long, shorten logs."""
        now = time.perf_counter()
        if self._limit_s is not None:
            for worker in self._workers.values():
                if worker.busy and now - worker.clock >= self._limit_s:
                    worker.end_reason = TIMED_OUT, f"not finished after {self._limit_s:g} s"
                    self._server.send(Command("kill", worker.number))
        if now - self._checked >= CHECK_S:
            self._checked = now
            for worker in self._workers.values():
                worker.shorten_log()

    def _read_worker(self, worker: Worker) -> Iterator[TaskResult[Any]]:
        messages, is_gone = take_messages(worker.channel)
        for message in messages:
            if isinstance(message, Ready):
                check_ready(message)
                worker.pid, self._failed_starts = message.pid, 0
            else:
                assert worker.task is not None
                yield worker.result(worker.task, message)
        if is_gone:  # dead or dying: the fork server will report how
            worker.retiring = True

    def _read_server(self) -> Iterator[TaskResult[Any]]:
        deaths, is_gone = take_messages(self._server.channel)
        for death in deaths:
            yield from self._remove(self._workers[death.number], death)
        if is_gone:
            yield from self._restart()

    def _remove(self, worker: Worker, death: Died | None) -> Iterator[TaskResult[Any]]:
        """Remove a dead worker, after reading its last messages."""
        yield from self._read_worker(worker)
        if worker.task is not None:
            yield worker.result_of_death(worker.task, death)
        elif not worker.pid:
            self._failed_starts += 1
        del self._workers[worker.number]
        log = log_tail(worker.log.fileno())
        worker.close()
        self._workspace.remove(worker.number)
        if self._failed_starts > MAX_FAILED_STARTS:
            _, cause = cause_of_death(death.exit_code) if death else LOST
            raise WorkerError(f"workers: {self._failed_starts} died before they were ready; the last: {cause}\n{log}")

    def _restart(self) -> Iterator[TaskResult[Any]]:
        """The fork server is dead and its workers with it: start over."""
        for worker in list(self._workers.values()):
            worker.kill_group()
            yield from self._remove(worker, None)
        self._server.kill()
        self._start_server()
