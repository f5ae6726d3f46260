"""Tasks on the cores of this machine: worker processes that can crash, hang or be killed without harm to the others."""

from __future__ import annotations

import os
import pickle
import selectors
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Generic, Self, TypeVar

from deadheat.errors import InputError
from deadheat.study.engine.executor import Finished, WorkersFailed
from deadheat.study.engine.fork_server import Died, Nursery, Started, check, kill_group, log_file
from deadheat.study.engine.worker import LOG_BYTES, Inbox, Ready, Report, described, pickled, send, tail
from deadheat.study.plan.cells import DONE, FAILED, KILLED, TIMED_OUT

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
            job = pickled((work, prepare))
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
        self._waiting.append(Task(name, pickled(task)))

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


LOOK_S = 1.0  # how often logs are looked at
LOG_LIMIT = 32 << 20  # bytes after which the beginning of a log is dropped while its task runs
IN_VAIN = 25  # workers that may die in a row before they are ready
CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGSYS, signal.SIGTRAP}


@dataclass(frozen=True, slots=True)
class Task:
    """A task as it is sent to a worker."""

    name: str
    pickled: bytes


@dataclass(slots=True, eq=False)
class Worker:
    """A worker as the study sees it."""

    number: int
    inbox: Inbox
    log: IO[bytes]
    pid: int = 0
    ready: bool = False
    task: Task | None = None
    started: float = 0.0
    clock: float = 0.0
    cpu_s: float = 0.0  # before its task
    leaving: bool = False
    verdict: tuple[str, str] | None = None  # why we end it

    @property
    def idle(self) -> bool:
        """Whether it can take a task."""
        return self.ready and self.task is None and not self.leaving

    @property
    def at_work(self) -> bool:
        """Whether it runs a task and has not begun to send a result."""
        return self.task is not None and self.verdict is None and not self.inbox.begun

    def begin(self, task: Task) -> bool:
        """Send it a task; False if it is dead."""
        try:
            send(self.inbox.channel, task.pickled)
        except OSError:
            self.leaving = True
            return False
        self.task, self.started, self.clock = task, time.time(), time.perf_counter()
        return True

    def reported(self, task: Task, report: Report) -> Finished[Any]:
        """What it says became of its task."""
        self.task, self.cpu_s = None, report.cpu_total_s
        self.leaving = report.retiring or self.verdict is not None
        value, error = None, report.error
        if not error:
            try:
                value = pickle.loads(report.value)
            except Exception as problem:
                error = f"the result cannot be read: {described(problem)}"
        status = FAILED if error else DONE
        measured = (report.started, report.wall_s, report.cpu_s, report.peak_mb)
        return Finished(task.name, status, value, error, report.log, *measured)

    def died(self, task: Task, death: Died | None) -> Finished[Any]:
        """What became of its task, now that it is dead."""
        status, error = self.verdict or cause(death)
        wall = time.perf_counter() - self.clock
        cpu, peak = (max(0.0, death.cpu_s - self.cpu_s), death.peak_mb) if death else (0.0, 0.0)
        return Finished(task.name, status, None, error, tail(self.log.fileno()), self.started, wall, cpu, peak)

    def shorten_log(self) -> None:
        """Keep a task that never stops printing from filling the disk."""
        log = self.log.fileno()
        size = os.fstat(log).st_size
        if size > LOG_LIMIT:
            end = os.pread(log, LOG_BYTES, size - LOG_BYTES)
            os.ftruncate(log, 0)
            os.write(log, end)


def cause(death: Died | None) -> tuple[str, str]:
    """The status and the words for a death that was not our doing."""
    if death is None:
        return KILLED, "killed together with the process that workers are forked from"
    if death.exit_code >= 0:
        return FAILED, f"the process ended itself with exit code {death.exit_code}"
    number = -death.exit_code
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    if number in CRASHES:
        return FAILED, f"the process crashed with {name}"
    reason = " (as the system does when memory runs out)" if number == signal.SIGKILL else ""
    return KILLED, f"killed by {name}{reason}"


class Pool:
    """Up to `size` workers that live on from task to task."""

    def __init__(self, job: bytes, *, size: int, limit_s: float | None, log_folder: str | None) -> None:
        self.size = size
        self._job, self._limit_s, self._log_folder = job, limit_s, log_folder
        self._workers: dict[int, Worker] = {}
        self._started = 0
        self._in_vain = 0
        self._looked = time.perf_counter()
        self.apart = False  # whether each worker loads the job by itself
        self._selector = selectors.DefaultSelector()
        self._open_nursery()

    def _open_nursery(self) -> None:
        self._nursery = Nursery(self._job, apart=self.apart, log_folder=self._log_folder)
        if self._nursery.threaded:
            self._nursery.kill()
            self.apart = True
            self._nursery = Nursery(self._job, apart=True, log_folder=self._log_folder)
        self._selector.register(self._nursery, selectors.EVENT_READ)

    @property
    def running(self) -> int:
        """How many tasks run."""
        return sum(worker.task is not None for worker in self._workers.values())

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes of the workers."""
        return tuple(worker.pid for worker in self._workers.values() if worker.pid)

    def give(self, task: Task) -> bool:
        """Hand a task to an idle worker, if there is one."""
        return any(worker.begin(task) for worker in self._workers.values() if worker.idle)

    def grow(self, wanted: int) -> None:
        """Start workers until there are as many as wanted, or as many as there may be."""
        staying = sum(not worker.leaving for worker in self._workers.values())
        for _ in range(staying, min(wanted, self.size)):
            ours, theirs = socket.socketpair()
            worker = Worker(self._started, Inbox(ours), log_file(self._log_folder))
            self._started += 1
            self._workers[worker.number] = worker
            self._selector.register(ours, selectors.EVENT_READ, worker)
            with theirs:
                self._nursery.start(worker.number, theirs, worker.log)

    def step(self, *, wait: bool) -> Iterator[Finished[Any]]:
        """Take in what has happened, after waiting for something to happen; the tasks that have finished."""
        for key, _ in self._selector.select(self._patience() if wait else 0):
            worker = key.data
            if worker is None:
                yield from self._heard_from_nursery()
            elif worker.number in self._workers:
                yield from self._heard_from(worker)
        self._look_after()

    def stop(self, why: str) -> None:
        """Stop what runs."""
        for worker in self._workers.values():
            if worker.at_work:
                worker.verdict = KILLED, why
                self._nursery.end(worker.number, at_once=False)

    def close(self) -> None:
        """End all workers and what their tasks have started."""
        clean = False
        try:
            clean = self._nursery.close()
        finally:
            self._selector.close()
            for worker in self._workers.values():
                if not clean:
                    kill_group(worker.pid)
                _discard(worker)
            self._workers.clear()

    def _patience(self) -> float | None:
        """How long to wait at most."""
        clocks = [worker.clock for worker in self._workers.values() if worker.at_work]
        if not clocks or self._limit_s is None:
            return LOOK_S
        return max(0.0, min(LOOK_S, min(clocks) + self._limit_s - time.perf_counter()))

    def _look_after(self) -> None:
        """End tasks that take too long, shorten logs."""
        now = time.perf_counter()
        if self._limit_s is not None:
            for worker in self._workers.values():
                if worker.at_work and now - worker.clock >= self._limit_s:
                    worker.verdict = TIMED_OUT, f"not finished after {self._limit_s:g} s"
                    self._nursery.end(worker.number, at_once=True)
        if now - self._looked >= LOOK_S:
            self._looked = now
            for worker in self._workers.values():
                worker.shorten_log()

    def _heard_from(self, worker: Worker) -> Iterator[Finished[Any]]:
        for message in worker.inbox.take():
            match message:
                case Ready():
                    check(message)
                    worker.ready, self._in_vain = True, 0
                case Report():
                    assert worker.task is not None
                    yield worker.reported(worker.task, message)
        if worker.inbox.ended:  # it is dead or dying: the template will tell how
            worker.leaving = True
            self._unregister(worker.inbox.channel)

    def _heard_from_nursery(self) -> Iterator[Finished[Any]]:
        for message in self._nursery.inbox.take():
            match message:
                case Started(number, pid):
                    self._workers[number].pid = pid
                case Died(number):
                    yield from self._buried(self._workers[number], message)
        if self._nursery.inbox.ended:
            yield from self._all_lost()

    def _buried(self, worker: Worker, death: Died | None) -> Iterator[Finished[Any]]:
        """Take leave of a dead worker; its last words count."""
        yield from self._heard_from(worker)
        if worker.task is not None:
            yield worker.died(worker.task, death)
        elif not worker.ready:
            self._in_vain += 1
        self._unregister(worker.inbox.channel)
        del self._workers[worker.number]
        said = tail(worker.log.fileno())
        _discard(worker)
        if self._in_vain > IN_VAIN:
            how = cause(death)[1]
            raise WorkersFailed(f"workers: {self._in_vain} died before they were ready; the last: {how}\n{said}")

    def _all_lost(self) -> Iterator[Finished[Any]]:
        """The template is dead and its workers with it: start over."""
        self._unregister(self._nursery)
        for worker in list(self._workers.values()):
            kill_group(worker.pid)
            yield from self._buried(worker, None)
        self._nursery.kill()
        self._open_nursery()

    def _unregister(self, channel: socket.socket | Nursery) -> None:
        if channel in self._selector.get_map():
            self._selector.unregister(channel)


def _discard(worker: Worker) -> None:
    worker.inbox.channel.close()
    worker.log.close()
