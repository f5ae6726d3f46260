"""The study's side of the template process: start it, have it fork and end workers, hear from it."""

from __future__ import annotations

import gc
import json
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from deadheat.errors import InputError
from deadheat.study.engine.executor import WorkersFailed
from deadheat.study.engine.worker import (
    Inbox,
    Ready,
    adopt_orphans,
    children,
    described,
    die_with_parent,
    receive,
    send,
    serve,
    settle,
    tail,
)

# As many processes as cores: a library that starts as many threads in each would only get in its own way.
ONE_THREAD = dict.fromkeys(
    (
        "BLIS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NPROC",  # of jax
        "NUMBA_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "POLARS_MAX_THREADS",
        "RAYON_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)
# The same for compiled networks, where nobody has set these flags.
XLA_FLAGS = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
_START = """\
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from deadheat.study.engine.fork_server import main
main()
"""
GRACE_S = 2.0  # between asking a worker to end and ending it
_LEAVE_S = GRACE_S + 2.0  # for the template to end its workers and itself


def log_file(folder: str | None) -> IO[bytes]:
    """A file without a name, to whose end everybody writes; it is gone with the last process that has it open."""
    import fcntl

    file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (whoever asks for it closes it)
    fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_APPEND)
    return file


class Nursery:
    """A template process that has loaded a job, or that lets each worker load it (`apart`)."""

    def __init__(self, job: bytes, *, apart: bool, log_folder: str | None) -> None:
        self._log = log_file(log_folder)
        control, theirs = socket.socketpair()
        self._control = control
        self.inbox = Inbox(control)
        surroundings = {"PYTHONHASHSEED": "0", "XLA_FLAGS": XLA_FLAGS, **os.environ, **ONE_THREAD}
        options = [f"-W{option}" for option in sys.warnoptions]
        arguments = [json.dumps(sys.path), str(theirs.fileno()), str(os.getpid())]
        self._process = subprocess.Popen(
            [sys.executable, "-u", *options, "-c", _START, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env=surroundings,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # Ctrl-C is for the study, which then ends the workers
        )
        theirs.close()
        try:
            self.threaded = self._threaded(job, apart=apart)
        except BaseException:
            self.kill()
            raise

    def _threaded(self, job: bytes, *, apart: bool) -> bool:
        """Whether loading the job has started threads, so that no worker can be forked."""
        try:
            send(self._control, (job, apart))
            answer, _ = receive(self._control)
        except (EOFError, OSError):
            self._process.wait()
            said = tail(self._log.fileno())
            raise WorkersFailed(f"the template of the workers ended with {self._process.returncode}\n{said}") from None
        check(answer, log=tail(self._log.fileno()))
        return bool(answer == THREADS)

    def fileno(self) -> int:
        """So that it can be waited for."""
        return self._control.fileno()

    def start(self, number: int, channel: socket.socket, log: IO[bytes]) -> None:
        """Fork a worker that talks through a channel and prints to a log."""
        self._send(Start(number), [channel.fileno(), log.fileno()])

    def end(self, number: int, *, at_once: bool) -> None:
        """End a worker and what its task has started."""
        self._send(End(number, at_once))

    def close(self) -> bool:
        """End all workers, with some time for them to put things in order; whether all of them are gone for certain."""
        self._send(Quit())
        try:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LEAVE_S)
        finally:
            self.kill()
        return self._process.returncode == 0

    def kill(self) -> None:
        """End the template; workers do not outlive it."""
        self._process.kill()
        self._process.wait()
        self._control.close()
        self._log.close()

    def _send(self, message: object, descriptors: list[int] | None = None) -> None:
        with suppress(OSError):  # it is dead: its socket says so too
            send(self._control, message, descriptors or [])


def check(answer: Any, *, log: str = "") -> None:
    """Raise what kept a worker or the template from loading the job."""
    if not isinstance(answer, Ready) or not answer.error:
        return
    if answer.is_input:
        raise InputError(answer.error)
    raise WorkersFailed(f"workers: the work could not be loaded; {answer.error}\n{log}".rstrip())


def kill_group(pid: int) -> None:
    """Kill what is left of a worker's group after its template is gone; 0 is a worker that never was."""
    if pid:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


_GROUP_S = 1.0  # for the last processes of a group to be gone after they were killed

THREADS = "threads"  # what the template says instead of Ready when loading has started threads

Loaded = tuple[Ready, Callable[[Any], Any] | None]


@dataclass(frozen=True, slots=True)
class Start:
    """Fork a worker; its socket and its log come with the message."""

    number: int


@dataclass(frozen=True, slots=True)
class End:
    """End a worker: at once, or with some time to put things in order."""

    number: int
    at_once: bool


@dataclass(frozen=True, slots=True)
class Quit:
    """End all workers, and then yourself."""


@dataclass(frozen=True, slots=True)
class Started:
    """A worker was forked."""

    number: int
    pid: int


@dataclass(frozen=True, slots=True)
class Died:
    """A worker is gone, and so is what it had started."""

    number: int
    exit_code: int  # negative: the signal
    cpu_s: float
    peak_mb: float


def main() -> None:
    """Take the job from the study, load it, fork workers."""
    study = int(sys.argv[3])
    die_with_parent()  # loading can take a while, in which nobody looks at the socket
    if os.getppid() != study:
        return
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    with socket.socket(fileno=int(sys.argv[2])) as control:
        (job, apart), _ = receive(control)
        answer, work = (Ready(), None) if apart else attempted(job)
        started_threads = not answer.error and threads() > 1
        send(control, THREADS if started_threads else answer)
        if answer.error or started_threads:
            return
        gc.collect()
        gc.freeze()  # or the collector would write to every shared page
        die_with_parent(0)
        Template(control, study, lambda: (Ready(), work) if work is not None else attempted(job)).run()


def attempted(job: bytes) -> Loaded:
    """Load what a worker calls with each task and make it ready, or say why not."""
    try:
        work, prepare = pickle.loads(job)
        if prepare is not None:
            prepare()
    except BaseException as error:
        if isinstance(error, InputError):
            return Ready(str(error), is_input=True), None
        traceback.print_exc()
        return Ready(described(error)), None
    return Ready(), work


def threads() -> int:
    """How many threads this process has, those of libraries included."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        import threading

        return threading.active_count()


class Template:
    """Forks workers and buries them."""

    def __init__(self, control: socket.socket, study: int, load: Callable[[], Loaded]) -> None:
        self._control, self._load = control, load
        self._pids: dict[int, int] = {}  # of the workers, by number
        self._patience: dict[int, float] = {}  # when a worker that was asked to end is killed, by number
        self._quitting = False
        self._wakeup, wakeup = os.pipe()
        for end in (self._wakeup, wakeup):
            os.set_blocking(end, False)
        self._descriptors = [control.fileno(), self._wakeup, wakeup]
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        adopt_orphans()
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._poll.register(self._wakeup, select.POLLIN)
        # The socket tells that the study is gone, unless it has forked: then a copy of it stays open.
        with suppress(AttributeError, OSError):
            gone = os.pidfd_open(study)
            self._descriptors.append(gone)
            self._poll.register(gone, select.POLLIN)

    def run(self) -> None:
        """Serve the study until it says to quit, or is gone."""
        while self._pids or not self._quitting:
            ready = {descriptor for descriptor, _ in self._poll.poll(self._timeout_ms())}
            if self._wakeup in ready:
                with suppress(BlockingIOError):
                    os.read(self._wakeup, 4096)
            self._bury()
            if self._control.fileno() in ready:
                try:
                    self._obey(*receive(self._control, descriptors=2))
                    continue  # the study lives, or its last words come first
                except (EOFError, OSError):
                    break
            if ready - {self._wakeup}:
                break
            self._lose_patience()
        for number in self._pids:
            self._signal(number, signal.SIGKILL)
        while self._pids:
            self._bury(announce=False)
            time.sleep(0.001)

    def _timeout_ms(self) -> float | None:
        if not self._patience:
            return None
        return max(0.0, min(self._patience.values()) - time.monotonic()) * 1000 + 1

    def _obey(self, message: object, descriptors: list[int]) -> None:
        match message:
            case Start(number):
                self._fork(number, *descriptors)
            case End(number, at_once):
                self._end(number, at_once=at_once)
            case Quit():
                self._quitting = True
                for number in self._pids:
                    self._end(number, at_once=False)

    def _tell(self, message: object) -> None:
        with suppress(OSError):  # nobody listens: the end of the socket will be noticed
            send(self._control, message)

    def _fork(self, number: int, channel: int, log: int) -> None:
        here = os.getpid()
        pid = os.fork()
        if pid:
            self._pids[number] = pid
            os.close(channel)
            os.close(log)
            self._tell(Started(number, pid))
            return
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            for descriptor in self._descriptors:
                os.close(descriptor)
            settle(log, here)
            self._work(socket.socket(fileno=channel), log)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def _work(self, channel: socket.socket, log: int) -> None:
        answer, work = self._load()
        if answer.error and not answer.is_input:
            answer = Ready(f"{answer.error}\n{tail(log)}")
        send(channel, answer)
        if work is not None:
            serve(channel, log, work)

    def _end(self, number: int, *, at_once: bool) -> None:
        if number not in self._pids:  # it has died, and the study will hear of it
            return
        self._signal(number, signal.SIGKILL if at_once else signal.SIGTERM)
        if not at_once:
            self._patience[number] = time.monotonic() + GRACE_S

    def _lose_patience(self) -> None:
        for number, until in list(self._patience.items()):
            if time.monotonic() >= until:
                del self._patience[number]
                self._signal(number, signal.SIGKILL)

    def _signal(self, number: int, sent: signal.Signals) -> None:
        """To a worker and all of its group; it is not reaped yet, so the number is still its own."""
        pid = self._pids[number]
        for kill in (os.killpg, os.kill):  # it may not lead a group yet
            with suppress(ProcessLookupError, PermissionError):
                kill(pid, sent)

    def _bury(self, *, announce: bool = True) -> None:
        """Reap who has died; of a worker, first end its group, then tell the study."""
        numbers = {pid: number for number, pid in self._pids.items()}
        while True:
            try:
                dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                break
            if dead is None:
                break
            if dead.si_pid not in numbers:
                os.waitpid(dead.si_pid, 0)
                continue
            number = numbers.pop(dead.si_pid)
            self._signal(number, signal.SIGKILL)
            died = buried(number, dead.si_pid)
            del self._pids[number]
            self._patience.pop(number, None)
            if announce:
                self._tell(died)
        # Whoever left the group of a worker is our child now that the worker is dead.
        for pid in set(children()).difference(self._pids.values()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def buried(number: int, pid: int) -> Died:
    """Reap a dead worker, then the killed processes of its group, which are our children now; what they used in all."""
    _, status, used = os.wait4(pid, 0)
    cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss
    until = time.monotonic() + _GROUP_S
    with suppress(ChildProcessError):
        while time.monotonic() < until:
            reaped, _, used = os.wait4(-pid, os.WNOHANG)
            if not reaped:
                time.sleep(0.0005)
                continue
            cpu += used.ru_utime + used.ru_stime
            peak = max(peak, used.ru_maxrss)
    unit = 1 if sys.platform == "darwin" else 1024
    return Died(number, os.waitstatus_to_exitcode(status), cpu, peak * unit / 1e6)
