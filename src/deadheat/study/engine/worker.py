"""A worker process: it receives tasks over a socket, runs and measures them, and sends back reports."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import pickle
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from deadheat.errors import DeadheatError
from deadheat.study.plan.cells import DONE, FAILED, KILLED
from deadheat.tracebacks import describe_error

R = TypeVar("R")

LOG_BYTES = 64 * 1024  # kept from the end of a task's output
OOM_SCORE = "500"  # of 1000: when memory runs out, the system kills a worker rather than the study

CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGSYS, signal.SIGTRAP}
PARENT_DEATH_SIGNAL = 1  # the signal that this process gets when the thread that started it ends; 0: none
CLEAR_REFS = Path("/proc/self/clear_refs")
ADOPT_ORPHANS = 36  # 1: become the parent of descendants whose own parent ends
_LINE_BUFFERED = 1
_C = ctypes.CDLL(None)


class WorkerError(DeadheatError):
    """Workers cannot be started or kept alive, for a reason that is not in a task."""


@dataclass(frozen=True, slots=True)
class TaskResult(Generic[R]):
    """How one task ended.

    A task that `failed` would fail again: an exception, a crash, an exit. One that was `killed` was ended from outside
    (out of memory, a person, `cancel`) and may succeed the next time.
    """

    name: str
    status: str  # done, failed, timed out, killed
    value: R | None = None
    error: str = ""
    log: str = ""  # the last 64 KB that the task and its children printed
    started: float = 0.0  # seconds since 1970
    wall_s: float = 0.0
    cpu_s: float = 0.0  # of the task and its child processes
    peak_mb: float = 0.0  # resident memory of its largest process; 0: unknown
    host: str = ""  # the machine that it ran on, if that is another one


class Task(NamedTuple):
    """A task as it is sent to a worker."""

    name: str
    pickled: bytes


class Report(NamedTuple):
    """A worker's report on a task."""

    result: TaskResult[bytes]  # without the name of the task; its value is pickled
    cpu_total_s: float  # since the worker started
    retiring: bool  # the worker exits now and must be replaced


@dataclass(frozen=True, slots=True)
class Ready:
    """A process has loaded the job, or failed to."""

    pid: int
    error: str = ""
    is_input: bool = False


def pickled(value: object) -> bytes:
    """A value as it is sent to another process."""
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def is_from_script(function: object) -> bool:
    """Whether a function, method or partial is defined in the main script, which other processes do not import."""
    inner = getattr(function, "func", function)
    owner = getattr(inner, "__self__", inner)
    return "__main__" in (getattr(inner, "__module__", ""), type(owner).__module__)


def take_messages(channel: Connection) -> tuple[list[Any], bool]:
    """All messages that have arrived, and whether the sender is gone."""
    messages: list[Any] = []
    try:
        while channel.poll():
            messages.append(channel.recv())
    except (EOFError, OSError):  # the end; or reset: the sender died with unread messages of ours
        return messages, True
    return messages, False


def cause_of_death(exit_code: int) -> tuple[str, str]:
    """The status and message of a task whose process ended by itself; negative codes are signals."""
    if exit_code >= 0:
        return FAILED, f"the process ended itself with exit code {exit_code}"
    number = -exit_code
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    if number in CRASHES:
        return FAILED, f"the process crashed with {name}"
    reason = " (as the system does when memory runs out)" if number == signal.SIGKILL else ""
    return KILLED, f"killed by {name}{reason}"


def peak_memory_mb(who: int = resource.RUSAGE_SELF) -> float:
    """The peak resident memory of this process, or of its largest child."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(who).ru_maxrss * unit / 1e6


def prctl(option: int, value: int) -> None:
    """Set a property of this process; Linux only."""
    if sys.platform == "linux":
        _C.prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def child_pids() -> list[int]:
    """The child processes of this one; empty if the system does not list them."""
    pids: list[int] = []
    for listing in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            pids += map(int, listing.read_text().split())
    return pids


def log_tail(log: int) -> str:
    """The end of a log, with the number of bytes before it."""
    size = os.fstat(log).st_size
    if not size:
        return ""
    text = os.pread(log, LOG_BYTES, max(0, size - LOG_BYTES)).decode(errors="replace")
    return text if size <= LOG_BYTES else f"({size - LOG_BYTES:,} bytes before this are left out)\n{text}"


def become_worker(log: int, parent: int) -> None:
    """Turn a freshly forked process into a worker: own session, output to the log, tied to its parent."""
    os.setsid()
    prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before the signal was set up
        os._exit(1)
    prctl(ADOPT_ORPHANS, 1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(OOM_SCORE)
    _redirect_output(log)
    with suppress(ValueError):  # C's own buffer would be lost in a crash
        _C.setvbuf(ctypes.c_void_p.in_dll(_C, "stdout"), None, _LINE_BUFFERED, ctypes.c_size_t(0))
    faulthandler.enable()


def _redirect_output(log: int) -> None:
    """Send all output to the log, whatever an earlier task did to the streams."""
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    os.ftruncate(log, 0)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    _C.fflush(None)


class Meter:
    """CPU time and peak memory since its creation; 0 MB if an earlier peak hides it."""

    def __init__(self) -> None:
        self._hiding_mb = peak_memory_mb()
        with suppress(OSError):
            CLEAR_REFS.write_text("5")  # resets the peak of resident memory; see proc(5)
            self._hiding_mb = 0.0
        self._cpu, self._children = _usage()

    def stop(self) -> tuple[float, float, float, bool]:
        """CPU seconds since the start and in all, peak MB, and whether a child's peak hides that of later tasks."""
        cpu, children = _usage()
        peak = peak_memory_mb()
        peak = peak if peak > self._hiding_mb else 0.0
        largest_child = peak_memory_mb(resource.RUSAGE_CHILDREN) if children != self._children else 0.0
        return cpu - self._cpu, cpu, max(peak, largest_child), largest_child > peak


def _usage() -> tuple[float, tuple[float, int]]:
    """CPU seconds of this process and its children; and those of its children, with a count that any child changes."""
    this, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    children_cpu = children.ru_utime + children.ru_stime
    return this.ru_utime + this.ru_stime + children_cpu, (children_cpu, children.ru_minflt)


def kill_children() -> None:
    """Kill and reap the processes that a task has left running."""
    while True:
        try:
            reaped, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if reaped:
            continue
        pids = child_pids()
        if not pids:  # the system does not list them: they end with the worker
            return
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        os.waitpid(-1, 0)


def serve(channel: Connection, log: int, work: Callable[[Any], Any]) -> None:
    """Run tasks until the channel is closed."""
    threads = threading.active_count()
    while True:
        try:
            task = channel.recv_bytes()
        except (EOFError, OSError):
            return
        _redirect_output(log)
        started, clock, meter = time.time(), time.perf_counter(), Meter()
        value, error = _run_task(work, task)
        _flush()
        kill_children()
        wall = time.perf_counter() - clock
        cpu, total, peak, hides_later_peaks = meter.stop()
        retiring = hides_later_peaks or threading.active_count() > threads
        status = FAILED if error else DONE
        result = TaskResult("", status, value, error, log_tail(log), started, wall, cpu, peak)
        channel.send(Report(result, total, retiring))
        if retiring:
            return


def _run_task(work: Callable[[Any], Any], task: bytes) -> tuple[bytes | None, str]:
    """The pickled result of a task, or an error message; the traceback is printed."""
    problem = ""
    try:
        value = work(pickle.loads(task))
        problem = "the result cannot be sent: "
        return pickled(value), ""
    except BaseException as error:
        _flush()
        trace = error.__traceback__ and (error.__traceback__.tb_next or error.__traceback__)  # without this frame
        text = "".join(traceback.format_exception(type(error), error, trace))
        with suppress(OSError):
            os.write(2, text.encode(errors="backslashreplace"))
        return None, f"{problem}{describe_error(error)}"
