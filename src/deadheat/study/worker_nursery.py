"""The study's side of the template process: start it, have it fork and end workers, hear from it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from typing import IO, Any

from deadheat.errors import InputError
from deadheat.study import worker_messages as messages
from deadheat.study.executor import WorkersFailed
from deadheat.study.worker import Ready, tail
from deadheat.study.worker_template import GRACE_S, THREADS, End, Quit, Start

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
from deadheat.study.worker_template import main
main()
"""
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
        self.inbox = messages.Inbox(control)
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
            messages.send(self._control, (job, apart))
            answer, _ = messages.receive(self._control)
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
            messages.send(self._control, message, descriptors or [])


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
