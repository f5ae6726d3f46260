"""What a worker process does: take a task, run it, measure it, send back what became of it; and clean up after it."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import pickle
import resource
import signal
import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LOG_BYTES = 64 * 1024  # of what a task printed, its end
LIKELIER_VICTIM = "500"  # of 1000, when the system runs out of memory: a worker rather than the study

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_LINE_BUFFERED = 1
_C = ctypes.CDLL(None)


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker tells of a task."""

    value: bytes
    error: str  # empty if all is well
    log: str
    started: float
    wall_s: float
    cpu_s: float
    peak_mb: float
    cpu_total_s: float  # of the worker's life so far
    retiring: bool  # the worker ends now, and another takes its place


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker has loaded what it needs, or could not."""

    error: str = ""
    is_input: bool = False


def described(error: BaseException) -> str:
    """An exception in a line: its type and what it says."""
    try:
        text = str(error)
    except Exception:
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def largest_mb(who: int = resource.RUSAGE_SELF) -> float:
    """The most memory that this process, or one of its children, ever had."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(who).ru_maxrss * unit / 1e6


def process_control(option: int, value: int) -> None:
    """Linux's prctl; elsewhere nothing happens."""
    if sys.platform == "linux":
        _C.prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def die_with_parent(sent: int = signal.SIGKILL) -> None:
    """Get a signal when the thread ends that started this process; 0 takes it back."""
    process_control(_PR_SET_PDEATHSIG, sent)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends, so that none gets out of sight."""
    process_control(_PR_SET_CHILD_SUBREAPER, 1)


def children() -> list[int]:
    """The processes of which this one is the parent; none where the system does not tell."""
    found: list[int] = []
    for listing in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, listing.read_text().split())
    return found


def tail(log: int) -> str:
    """The end of a log, and how much of it that is not."""
    size = os.fstat(log).st_size
    if not size:
        return ""
    text = os.pread(log, LOG_BYTES, max(0, size - LOG_BYTES)).decode(errors="replace")
    return text if size <= LOG_BYTES else f"({size - LOG_BYTES:,} bytes before this are left out)\n{text}"


def settle(log: int, parent: int) -> None:
    """Make a process that was just forked a worker: its own session, its output in the log, bound to its parent."""
    os.setsid()
    die_with_parent()
    if os.getppid() != parent:  # it ended before we asked to be told
        os._exit(1)
    adopt_orphans()
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(each, signal.SIG_DFL)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(LIKELIER_VICTIM)
    _print_to(log)
    with suppress(ValueError):  # C's own buffer would be lost in a crash
        _C.setvbuf(ctypes.c_void_p.in_dll(_C, "stdout"), None, _LINE_BUFFERED, ctypes.c_size_t(0))
    faulthandler.enable()


def _print_to(log: int) -> None:
    """Let all that is printed go to the log, whatever an earlier task did to the streams."""
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    os.ftruncate(log, 0)


def _flush() -> None:
    with suppress(Exception):
        sys.stdout.flush()
    with suppress(Exception):
        sys.stderr.flush()
    _C.fflush(None)


class Meter:
    """CPU time and memory from one moment on."""

    def __init__(self) -> None:
        self._status = -1
        with suppress(OSError):
            # 5 resets the peak of resident memory; see proc(5).
            Path("/proc/self/clear_refs").write_text("5")
            self._status = os.open("/proc/self/status", os.O_RDONLY)
        self._self, self._children = _usage()

    def stop(self) -> tuple[float, float, float, bool]:
        """Seconds of CPU since then and in all, the peak in MB, and whether it will hide that of later tasks."""
        own, others = _usage()
        peak = self._peak_mb()
        started_some = others != self._children
        largest_child = largest_mb(resource.RUSAGE_CHILDREN) if started_some else 0.0
        cpu = own + others[0]
        return cpu - self._self - self._children[0], cpu, max(peak, largest_child), largest_child > peak

    def _peak_mb(self) -> float:
        if self._status < 0:
            return largest_mb()
        text = os.pread(self._status, 8192, 0)
        os.close(self._status)
        _, found, rest = text.partition(b"VmHWM:")
        return int(rest.split(None, 1)[0]) * 1024 / 1e6 if found else largest_mb()


def _usage() -> tuple[float, tuple[float, int]]:
    """CPU seconds of this process; those of the children it waited for, and a count that any child changes."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime, (others.ru_utime + others.ru_stime, others.ru_minflt)


def end_children() -> None:
    """End and reap what a task has started and left running."""
    while True:
        try:
            reaped, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if reaped:
            continue
        left = children()
        if not left:  # the system does not say which they are: they end with the worker
            return
        for each in left:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        os.waitpid(-1, 0)


def serve(channel: socket.socket, log: int, work: Callable[[Any], Any]) -> None:
    """Run tasks until nobody sends any."""
    threads = threading.active_count()
    while True:
        try:
            task, _ = receive(channel)
        except (EOFError, OSError):
            return
        _print_to(log)
        started, clock, meter = time.time(), time.perf_counter(), Meter()
        value, error = _performed(work, task)
        _flush()
        end_children()
        wall = time.perf_counter() - clock
        cpu, total, peak, hides = meter.stop()
        retiring = hides or threading.active_count() > threads
        send(channel, Report(value, error, tail(log), started, wall, cpu, peak, total, retiring))
        if retiring:
            return


def _performed(work: Callable[[Any], Any], task: bytes) -> tuple[bytes, str]:
    """The result of a task, pickled, or what went wrong; the traceback is printed."""
    try:
        value = work(pickle.loads(task))
    except BaseException as error:
        _print_traceback(error)
        return b"", described(error)
    try:
        return pickled(value), ""
    except Exception as error:
        _print_traceback(error)
        return b"", f"the result cannot be sent: {described(error)}"


def _print_traceback(error: BaseException) -> None:
    _flush()
    frame = error.__traceback__
    ours = (
        frame.tb_next if frame is not None and frame.tb_next is not None else frame
    )  # without the frame of the worker
    text = "".join(traceback.format_exception(type(error), error, ours))
    with suppress(OSError):
        os.write(2, text.encode(errors="backslashreplace"))


_LENGTH = struct.Struct("<Q")
_BLOCK = 1 << 20


def pickled(value: object) -> bytes:
    """A value as it crosses a socket."""
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def send(channel: socket.socket, message: object, descriptors: Sequence[int] = ()) -> None:
    """Send a message, with open files if need be; raises an OSError if nobody is left to read it."""
    payload = pickled(message)
    framed = _LENGTH.pack(len(payload)) + payload
    sent = socket.send_fds(channel, [framed], descriptors) if descriptors else 0
    channel.sendall(memoryview(framed)[sent:])


def receive(channel: socket.socket, *, descriptors: int = 0) -> tuple[Any, list[int]]:
    """Wait for a message and the open files that came with it; raises EOFError at the end."""
    head = bytearray()
    opened: list[int] = []
    if descriptors:
        # Files come with the first byte of their message, and no read goes beyond a message.
        first, opened, _, _ = socket.recv_fds(channel, _LENGTH.size, descriptors)
        for each in opened:
            os.set_inheritable(each, False)
        if not first:
            raise EOFError
        head += first
    head += _exactly(channel, _LENGTH.size - len(head))
    (length,) = _LENGTH.unpack(head)
    return pickle.loads(_exactly(channel, length)), opened


def _exactly(channel: socket.socket, length: int) -> bytearray:
    data = bytearray(length)
    view, at = memoryview(data), 0
    while at < length:
        count = channel.recv_into(view[at:])
        if not count:
            raise EOFError
        at += count
    return data


class Inbox:
    """The messages of one sender, taken as they come, without ever waiting for the rest of one."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.ended = False
        self._data = bytearray()

    @property
    def begun(self) -> bool:
        """Whether a part of a message is here."""
        return bool(self._data)

    def take(self) -> list[Any]:
        """All messages that are complete by now."""
        messages: list[Any] = []
        while not self.ended:
            try:
                block = self.channel.recv(_BLOCK, socket.MSG_DONTWAIT)
            except BlockingIOError:
                break
            except OSError:  # reset: the sender died with messages of ours unread
                block = b""
            self.ended = not block
            self._data += block
            messages += self._complete()
        return messages

    def _complete(self) -> list[Any]:
        messages, at = [], 0
        while len(self._data) - at >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._data, at)
            end = at + _LENGTH.size + length
            if len(self._data) < end:
                break
            with memoryview(self._data) as view, view[at + _LENGTH.size : end] as payload:
                messages.append(pickle.loads(payload))
            at = end
        del self._data[:at]
        return messages
