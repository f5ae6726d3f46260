"""Ctrl-C and SIGTERM: a study ends with its workers, and says what is kept."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

INTERRUPTED, TERMINATED = 130, 143  # as shells report them: 128 and the signal


class Interrupted(KeyboardInterrupt):
    """A command was interrupted that can go on where it was."""

    def __init__(self, kept: str, command: str, code: int) -> None:
        super().__init__(kept)
        self.kept, self.command, self.code = kept, command, code


class _Terminated(KeyboardInterrupt):
    """SIGTERM was sent, as by a scheduler."""


@contextlib.contextmanager
def interruptible(kept: Callable[[], str], command: str) -> Iterator[None]:
    """End a command on Ctrl-C and on SIGTERM with a message on what is kept, which is computed then."""
    try:
        with _sigterm_interrupts():
            yield
    except KeyboardInterrupt as interrupt:
        code = TERMINATED if isinstance(interrupt, _Terminated) else INTERRUPTED
        raise Interrupted(kept(), command, code) from None


@contextlib.contextmanager
def _sigterm_interrupts() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # others cannot handle signals
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: Any) -> None:
    del frame
    signal.signal(number, signal.SIG_IGN)  # a second one must not disturb the end
    raise _Terminated
