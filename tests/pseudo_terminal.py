"""A terminal without a person: a command runs in it, and what the person would see can be read."""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

COMMAND = [sys.executable, "-m", "deadheat.cli.main"]
SETTINGS = ("COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "PYTHONIOENCODING")
LIMIT_S = 60
CODE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")


@dataclass(frozen=True)
class Shown:
    """What a command wrote to its terminal, and how it ended."""

    written: str
    code: int

    @property
    def screen(self) -> Screen:
        """What a person sees in the end."""
        return Screen().after(self.written)

    @property
    def lines(self) -> list[str]:
        """Its lines, however long they are."""
        return self.screen.lines


@dataclass
class Screen:
    """Follows what is written as a terminal of endless width does; what it does not know is a mistake."""

    lines: list[str] = field(default_factory=lambda: [""])
    row: int = 0
    at: int = 0
    cursor: bool = True

    def after(self, written: str) -> Screen:
        place = 0
        while place < len(written):
            if code := CODE.match(written, place):
                self._obey(code[1], code[2])
                place = code.end()
                continue
            character = written[place]
            place += 1
            if character == "\n":
                self.row += 1
                self.lines += [""] * (self.row == len(self.lines))
                self.at = 0
            elif character == "\r":
                self.at = 0
            else:
                assert unicodedata.category(character) != "Cc", repr(written[place - 20 : place + 20])
                line = self.lines[self.row].ljust(self.at)
                self.lines[self.row] = line[: self.at] + character + line[self.at + 1 :]
                self.at += 1
        return self

    def _obey(self, numbers: str, letter: str) -> None:
        if letter == "A":
            assert numbers in ("", "1")
            assert self.row
            self.row -= 1
        elif letter in "JK":
            assert numbers in ("", "0")
            self.lines[self.row] = self.lines[self.row][: self.at]
            if letter == "J":
                del self.lines[self.row + 1 :]
        elif numbers == "?25":
            self.cursor = letter == "h"
        else:
            assert letter == "m", (numbers, letter)


def on_terminal(
    *arguments: object,
    columns: int = 80,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    interrupt: Callable[[str], bool] | None = None,
) -> Shown:
    """Run a command in a terminal; press Ctrl-C as soon as what it has written is as `interrupt` says."""
    own = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    own |= {"TERM": "xterm", "LC_ALL": "C.UTF-8", **(environment or {})}
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=own,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # its keys are ours to press
    )
    os.close(theirs)
    written = b""
    try:
        while data := _read(ours):
            written += data
            if interrupt is not None and interrupt(written.decode(errors="replace")):
                os.write(ours, b"\x03")
                interrupt = None
        code = process.wait(timeout=LIMIT_S)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return Shown(written.decode().replace("\r\n", "\n"), code)


def _read(terminal: int) -> bytes:
    """What was written next; nothing when everybody has left the terminal."""
    ready, _, _ = select.select([terminal], [], [], LIMIT_S)
    assert ready, "the command is silent"
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # as Linux says it
        return b""
