"""The worker processes of an executor: hand out tasks, hear results, deadlines and deaths, replace the dead."""

from __future__ import annotations

import os
import pickle
import selectors
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from deadheat.study import worker_messages as messages
from deadheat.study.cells import DONE, FAILED, KILLED, TIMED_OUT
from deadheat.study.executor import Finished, WorkersFailed
from deadheat.study.worker import LOG_BYTES, Ready, Report, described, tail
from deadheat.study.worker_nursery import Nursery, check, kill_group, log_file
from deadheat.study.worker_template import Died, Started

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
    inbox: messages.Inbox
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
            messages.send(self.inbox.channel, task.pickled)
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
            worker = Worker(self._started, messages.Inbox(ours), log_file(self._log_folder))
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
