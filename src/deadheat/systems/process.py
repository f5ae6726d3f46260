"""Run a program with bounded output: of a log the end is kept, and a prediction that is far too long ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

KEPT, LOG_LIMIT = 1 << 20, 16 << 20  # bytes from the end of a log that are kept when it has grown to the limit
POLL_S = 0.05  # between two checks of the output


class TooMuchOutput(Exception):
    """A program printed more than it may."""


@dataclass(slots=True, eq=False)
class Output:
    """A file for what a program prints, with a limit on its size; without one it is a log, of which the end is kept."""

    path: Path
    limit: int | None = None
    dropped: int = 0  # bytes

    def check(self, file: int) -> None:
        """Shorten a log that is too long; raises TooMuchOutput beyond the limit."""
        size = os.fstat(file).st_size
        if self.limit is not None and size > self.limit:
            raise TooMuchOutput
        if self.limit is None and size > LOG_LIMIT:
            end = os.pread(file, KEPT, size - KEPT)
            os.ftruncate(file, 0)
            os.write(file, end)
            self.dropped += size - len(end)


def run_program(
    arguments: Sequence[str],
    *,
    stdin: Path | None,
    outputs: tuple[Output, Output],
    environment: Mapping[str, str],
    limit_s: float | None,
) -> int:
    """Run a program to its end, with files for its standard output and error; returns its exit code.

    Raises
    ------
    OSError, ValueError
        If it cannot be started.
    subprocess.TimeoutExpired, TooMuchOutput
        If it took too long or printed too much; it was ended with all that it started in its group.
    """
    deadline = None if limit_s is None else time.monotonic() + limit_s
    with ExitStack() as files:
        source = files.enter_context(open(stdin or os.devnull, "rb"))
        opened = [files.enter_context(open(output.path, "w+b", opener=_opener)) for output in outputs]
        process = subprocess.Popen(arguments, stdin=source, stdout=opened[0], stderr=opened[1], env=environment,
                                   start_new_session=True)  # fmt: skip
        try:
            while not _wait(process):
                for output, file in zip(outputs, opened, strict=True):
                    output.check(file.fileno())
                if deadline is not None and time.monotonic() >= deadline:
                    raise subprocess.TimeoutExpired(list(arguments), limit_s or 0)
            outputs[0].check(opened[0].fileno())
        finally:
            if process.returncode is None:  # too late, too much, or we are ourselves being stopped
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # with all that it started in its group
                process.wait()
    return process.returncode


def _opener(path: str, flags: int) -> int:
    """Programs append to their output, so that they continue at the end when it is shortened."""
    return os.open(path, flags | os.O_APPEND, 0o600)


def _wait(process: subprocess.Popen[bytes]) -> bool:
    """Wait for the end of a program or for a moment; whether it has ended."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        with suppress(subprocess.TimeoutExpired):
            process.wait(POLL_S)
    else:
        wait([descriptor], POLL_S)
        os.close(descriptor)
    return process.poll() is not None
