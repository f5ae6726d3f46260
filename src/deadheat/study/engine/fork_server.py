"""The fork server: a single-threaded process that loads what all workers need, forks them, and never runs a task.

It ends workers together with whatever their tasks started, and reports to the study how they died. When the study is
gone it ends them all. `docs/design/engine.md` gives the reasons. `ForkServer` is the study's side of it.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.reduction import recv_handle, send_handle
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from deadheat.errors import InputError
from deadheat.study.engine.worker import (
    ADOPT_ORPHANS,
    PARENT_DEATH_SIGNAL,
    Ready,
    WorkerError,
    become_worker,
    cause_of_death,
    child_pids,
    log_tail,
    prctl,
    serve,
)
from deadheat.study.engine.workspace import enter
from deadheat.study.plan.cells import KILLED
from deadheat.tracebacks import describe_error

# One process per core: libraries that start as many threads in each would slow each other down.
_LIBRARIES = ("BLIS", "MKL", "NUMBA", "NUMEXPR", "OMP", "OPENBLAS", "RAYON")
ONE_THREAD = dict.fromkeys((f"{name}_NUM_THREADS" for name in _LIBRARIES), "1")
ONE_THREAD |= {"NPROC": "1", "POLARS_MAX_THREADS": "1", "VECLIB_MAXIMUM_THREADS": "1"}  # NPROC is for jax
# The same for compiled networks, unless the user has set these flags.
XLA_FLAGS = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
GRACE_S = 2.0  # between asking a worker to end and killing it
THREADS = "threads"  # sent instead of Ready when loading the job has started threads
_GROUP_S = 1.0  # for the last processes of a killed group to disappear
_EXIT_S = GRACE_S + 2.0  # for the fork server to end its workers and itself
_MAIN = """\
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from deadheat.study.engine.fork_server import main
main()
"""

LoadedJob = tuple[Ready, Callable[[Any], Any] | None]


class ServerKilled(WorkerError):
    """The fork server was killed from outside while it loaded the work; it may succeed the next time."""


class Command(NamedTuple):
    """What the study wants: a worker forked (its socket and log follow), ended or killed; or all ended."""

    action: Literal["start", "end", "kill", "quit"]
    number: int = 0


@dataclass(frozen=True, slots=True)
class Died:
    """A worker is gone, and so are the processes it had started."""

    number: int
    exit_code: int  # negative: the signal
    cpu_s: float
    peak_mb: float


def log_file() -> IO[bytes]:
    """An append-only file without a name; it is gone with the last process that has it open."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
    fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_APPEND)
    return file


class ForkServer:
    """A running fork server. It loads the job itself, unless every worker is to load it (`load_in_workers`)."""

    def __init__(self, job: bytes, workspace: Path, *, load_in_workers: bool) -> None:
        self._log = log_file()
        self.channel, remote = Pipe()
        environment = {"PYTHONHASHSEED": "0", "XLA_FLAGS": XLA_FLAGS, **os.environ, **ONE_THREAD}
        environment["TMPDIR"] = str(workspace)
        options = [f"-W{option}" for option in sys.warnoptions]
        arguments = [json.dumps(sys.path), str(remote.fileno()), str(os.getpid()), str(workspace)]
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-P", *options, "-c", _MAIN, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env=environment,
            pass_fds=[remote.fileno()],
            start_new_session=True,  # Ctrl-C is for the study, which then ends the workers
        )
        remote.close()
        try:
            self.threaded = self._load(job, load_in_workers=load_in_workers)
        except BaseException:
            self.kill()
            raise

    def _load(self, job: bytes, *, load_in_workers: bool) -> bool:
        """Load the job; whether that has started threads, so that no worker can be forked."""
        try:
            self.channel.send((job, load_in_workers))
            answer = self.channel.recv()
        except (EOFError, OSError):
            self._process.wait()
            log = log_tail(self._log.fileno())
            status, cause = cause_of_death(self._process.returncode)
            kind = ServerKilled if status == KILLED else WorkerError
            raise kind(f"workers: the fork server ended while it loaded the work: {cause}\n{log}") from None
        check_ready(answer, log=log_tail(self._log.fileno()))
        return bool(answer == THREADS)

    def send(self, command: Command, *descriptors: int) -> None:
        with suppress(OSError):  # it is dead: its socket shows that too
            self.channel.send(command)
            for descriptor in descriptors:
                send_handle(self.channel, descriptor, None)

    def close(self) -> bool:
        """End all workers, with some time to clean up; whether all of them are certainly gone."""
        self.send(Command("quit"))
        try:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_EXIT_S)
        finally:
            self.kill()
        return self._process.returncode == 0

    def kill(self) -> None:
        """Kill the fork server; workers do not outlive it."""
        self._process.kill()
        self._process.wait()
        self.channel.close()
        self._log.close()


def check_ready(answer: Any, *, log: str = "") -> None:
    """Raise the error that kept a worker or the fork server from loading the job."""
    if not isinstance(answer, Ready) or not answer.error:
        return
    if answer.is_input:
        raise InputError(answer.error)
    raise WorkerError(f"workers: the work could not be loaded; {answer.error}\n{log}".rstrip())


def main() -> None:
    """Run the fork server: receive the job from the study, load it, fork workers."""
    study = int(sys.argv[3])
    prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)  # nobody watches the socket while the job is loaded
    if os.getppid() != study:
        return
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    with Connection(int(sys.argv[2])) as control:
        job, load_in_workers = control.recv()
        answer, work = (Ready(os.getpid()), None) if load_in_workers else load_job(job)
        has_threads = not answer.error and _thread_count() > 1
        control.send(THREADS if has_threads else answer)
        if answer.error or has_threads:
            return
        gc.collect()
        gc.freeze()  # or the collector would write to every shared page
        prctl(PARENT_DEATH_SIGNAL, 0)
        ForkLoop(control, study, lambda: (Ready(os.getpid()), work) if work is not None else load_job(job)).run()
        shutil.rmtree(sys.argv[4], ignore_errors=True)  # the study may have been killed


def load_job(job: bytes) -> LoadedJob:
    """Unpickle the work and prepare it, or say why not."""
    try:
        work, prepare = pickle.loads(job)
        if prepare is not None:
            prepare()
    except InputError as error:
        return Ready(os.getpid(), str(error), is_input=True), None
    except BaseException as error:
        traceback.print_exc()
        return Ready(os.getpid(), describe_error(error)), None
    return Ready(os.getpid()), work


def _thread_count() -> int:
    """The threads of this process, those of libraries included."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return threading.active_count()


class ForkLoop:
    """Forks and reaps workers, inside the fork server."""

    def __init__(self, control: Connection, study: int, load: Callable[[], LoadedJob]) -> None:
        self._control, self._load = control, load
        self._pids: dict[int, int] = {}  # of workers, by number
        self._deadlines: dict[int, float] = {}  # when a worker that was asked to end is killed, by number
        self._quitting = False
        self._wakeup, wakeup = os.pipe()
        for end in (self._wakeup, wakeup):
            os.set_blocking(end, False)
        self._descriptors = [control.fileno(), self._wakeup, wakeup]
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        prctl(ADOPT_ORPHANS, 1)
        self._watched = [control.fileno(), self._wakeup]
        # The socket shows that the study is gone, unless the study has forked: then a copy of it stays open.
        with suppress(AttributeError, OSError):
            study_exit = os.pidfd_open(study)
            self._descriptors.append(study_exit)
            self._watched.append(study_exit)

    def run(self) -> None:
        """Serve the study until it says to quit, or is gone."""
        while self._pids or not self._quitting:
            next_deadline = min(self._deadlines.values(), default=None)
            timeout_s = None if next_deadline is None else max(0.0, next_deadline - time.monotonic())
            ready = set(wait(self._watched, timeout_s))
            if self._wakeup in ready:
                with suppress(BlockingIOError):
                    os.read(self._wakeup, 4096)
            self._reap()
            if self._control.fileno() in ready:
                try:
                    self._handle(self._control.recv())
                    continue  # the study is alive, or its last messages come first
                except (EOFError, OSError, RuntimeError):  # the end, or a command whose files never came
                    break
            if ready - {self._wakeup}:
                break
            for number, deadline in list(self._deadlines.items()):
                if time.monotonic() >= deadline:
                    self._signal(number, signal.SIGKILL)
                    del self._deadlines[number]
        for number in self._pids:
            self._signal(number, signal.SIGKILL)
        while self._pids:
            self._reap(announce=False)
            time.sleep(0.001)

    def _handle(self, command: Command) -> None:
        if command.action == "start":
            self._fork(command.number)
        elif command.action == "kill":
            self._signal(command.number, signal.SIGKILL)
        else:
            self._quitting = command.action == "quit"
            for number in list(self._pids) if self._quitting else [command.number]:
                self._signal(number, signal.SIGTERM)
                self._deadlines[number] = time.monotonic() + GRACE_S

    def _fork(self, number: int) -> None:
        channel, log = recv_handle(self._control), recv_handle(self._control)
        for descriptor in (channel, log):
            os.set_inheritable(descriptor, False)
        parent = os.getpid()
        pid = os.fork()
        if pid:
            self._pids[number] = pid
            os.close(channel)
            os.close(log)
            return
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            for descriptor in self._descriptors:
                os.close(descriptor)
            become_worker(log, parent)
            enter(sys.argv[4], number)
            self._work(Connection(channel), log)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def _work(self, channel: Connection, log: int) -> None:
        answer, work = self._load()
        if answer.error and not answer.is_input:
            answer = replace(answer, error=f"{answer.error}\n{log_tail(log)}")
        channel.send(answer)
        if work is not None:
            serve(channel, log, work)

    def _signal(self, number: int, sent: signal.Signals) -> None:
        """Signal a worker and its group; it is not reaped yet, so the pid is still its own."""
        if number not in self._pids:  # it has died already
            return
        pid = self._pids[number]
        for kill in (os.killpg, os.kill):  # it may not lead a group yet
            with suppress(ProcessLookupError, PermissionError):
                kill(pid, sent)

    def _reap(self, *, announce: bool = True) -> None:
        """Reap dead processes; for a worker, kill its group first, then report to the study."""
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
            died = _reap_group(number, dead.si_pid)
            del self._pids[number]
            self._deadlines.pop(number, None)
            if announce:
                with suppress(OSError):  # no reader: the loop will see the end of the socket
                    self._control.send(died)
        # Processes that left the group of a dead worker are our children now.
        for pid in set(child_pids()).difference(self._pids.values()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _reap_group(number: int, pid: int) -> Died:
    """Reap a dead worker and the killed processes of its group; adds up what they used."""
    _, status, usage = os.wait4(pid, 0)
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss
    deadline = time.monotonic() + _GROUP_S
    with suppress(ChildProcessError):
        while time.monotonic() < deadline:
            reaped, _, usage = os.wait4(-pid, os.WNOHANG)
            if not reaped:
                time.sleep(0.0005)
                continue
            cpu += usage.ru_utime + usage.ru_stime
            peak = max(peak, usage.ru_maxrss)
    unit = 1 if sys.platform == "darwin" else 1024
    return Died(number, os.waitstatus_to_exitcode(status), cpu, peak * unit / 1e6)
