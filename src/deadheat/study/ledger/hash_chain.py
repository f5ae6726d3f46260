"""A file of JSON lines that only grows: each line has the hash of the line before, so that no edit goes unnoticed.

Writers take turns by a lock file. Beside the file lies its head, the number of lines and the hash of the last one,
because a chain alone cannot tell that its last lines are gone. The head is written after the lines: a writer that is
killed in between leaves a file that is longer than its head, and that is in order; a file that is shorter is not.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadheat.errors import Fault
from deadheat.text import pluralize

BEGINNING = "0" * 64  # what the first line follows
PREVIOUS = "previous"


@dataclass(frozen=True, slots=True)
class Head:
    """How many lines a chain has, and the hash of the last."""

    lines: int
    last: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What is wrong with a chain; nothing, it is to be hoped."""

    path: Path
    head: Head  # of the file as it is
    faults: tuple[Fault, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.faults:
            return "\n".join(map(str, self.faults))
        return f"{self.path}: {pluralize(self.head.lines, 'line')}, unbroken; last {self.head.last}"


@dataclass(frozen=True, slots=True)
class Chain:
    """The file and its neighbours, `FILE.head` and `FILE.lock`."""

    path: Path

    def read(self) -> bytes:
        """The whole lines; a last one that was torn by a killed writer is left out."""
        data = self._raw()
        if data and not data.endswith(b"\n"):  # perhaps a writer is in the middle of it
            with contextlib.suppress(OSError), self._locked():
                data = self._raw()
        return data[: data.rfind(b"\n") + 1]

    def append(
        self, make: Callable[[bytes], Sequence[Mapping[str, Any]]], *, repair: Mapping[str, Any]
    ) -> tuple[str, ...]:
        """Add what `make` makes of the lines so far; nobody else writes in between.

        `repair` is what a line says, besides what was mended, if the file or its head has to be mended first. Returns
        what was mended, for a person to be told.

        Raises
        ------
        OSError
            If a file cannot be written; then nothing was added.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._locked():
            raw, head = self._raw(), self._head()
            data = raw[: raw.rfind(b"\n") + 1]
            events = list(make(data))
            if not events:
                return ()
            mended, told = _mended(raw, data, head, self.path)
            problem = _against_head(head, data) if head is not None else ""
            told += [f"{self.path}: {problem}; looks may be missing here (deadheat ledger --verify)"] if problem else []
            if head is None and not data:
                self._write_head(Head(0, BEGINNING))
            lines = _chained([*({**repair, **each} for each in mended), *events], _end(data, head))
            self._write(lines, len(data), Head(data.count(b"\n") + lines.count(b"\n"), _last(lines)))
        return tuple(told)

    def verify(self) -> Verification:
        """Look at every line; nothing is written."""
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):  # without a lock file nobody has ever written here
                stack.enter_context(self._locked(create=False))
            raw, head = self._raw(), self._head()
        data = raw[: raw.rfind(b"\n") + 1]
        lines = data.split(b"\n")[:-1]
        hashes = [hashlib.sha256(line).hexdigest() for line in lines]
        faults = [
            Fault(str(self.path), number, problem)
            for number, (line, before) in enumerate(zip(lines, [BEGINNING, *hashes], strict=False), start=1)
            if (problem := _problem(number, line, before))
        ]
        problem = _against_head(head, hashes)
        faults += [Fault(str(self.path), 0, problem)] if problem else []
        torn = f"{self.path}: a torn last line, as a killed writer leaves it; the next look mends it"
        found = Head(len(hashes), hashes[-1] if hashes else BEGINNING)
        return Verification(self.path, found, tuple(faults), (torn,) if len(raw) > len(data) else ())

    def find(self, start: str) -> int:
        """The number of the line whose hash begins so, or 0."""
        hashes = (hashlib.sha256(line).hexdigest() for line in self.read().split(b"\n")[:-1])
        return next((number for number, each in enumerate(hashes, start=1) if each.startswith(start)), 0)

    def _raw(self) -> bytes:
        if self.path.exists() and not self.path.is_file():  # reading a pipe would wait for ever
            raise OSError(errno.EINVAL, "not a plain file", str(self.path))
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return b""
        if data and f'"{PREVIOUS}"'.encode() not in data:
            raise OSError(errno.EINVAL, "not a ledger", str(self.path))
        return data

    def _head(self) -> Head | None:
        try:
            lines, last = self._beside("head").read_text().split()
            return Head(int(lines), last)
        except (FileNotFoundError, ValueError):  # a head that is not text is a ValueError too
            return None

    def _write_head(self, head: Head) -> None:
        scratch = self._beside("head.new")  # one name: only who holds the lock writes it
        scratch.write_text(f"{head.lines} {head.last}\n")
        scratch.replace(self._beside("head"))

    def _write(self, lines: bytes, keep: int, head: Head) -> None:
        """Cut off a torn line, add whole ones, then the head; on failure the file is as it was, less the torn line."""
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            os.ftruncate(file, keep)
            try:
                written = os.write(file, lines)
                while written < len(lines):  # a full disk tells so on the second attempt
                    written += os.write(file, lines[written:])
                os.fsync(file)
                self._write_head(head)
            except OSError:
                os.ftruncate(file, keep)
                raise
        finally:
            os.close(file)

    def _beside(self, suffix: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{suffix}")

    @contextlib.contextmanager
    def _locked(self, *, create: bool = True) -> Iterator[None]:
        flags = os.O_RDWR | os.O_CREAT if create else os.O_RDONLY
        file = os.open(self._beside("lock"), flags, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)  # released when the process ends, however it ends
            yield
        finally:
            os.close(file)


def events_of(data: bytes, mention: str = "") -> Iterator[dict[str, Any]]:
    """The lines as values, or only those in which a string occurs: the others are not parsed."""
    wanted = mention.encode()
    at = data.find(wanted) if wanted else 0
    while 0 <= at < len(data):
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        end = len(data) if end < 0 else end
        with contextlib.suppress(ValueError):
            event = json.loads(data[start:end])
            if isinstance(event, dict):
                yield event
        at = data.find(wanted, end + 1) if wanted else end + 1


def _chained(events: Sequence[Mapping[str, Any]], previous: str) -> bytes:
    lines = []
    for event in events:
        text = json.dumps({**event, PREVIOUS: previous}, ensure_ascii=False, separators=(",", ":"))
        line = text.encode("utf-8", "backslashreplace")  # file names that are not text stay valid JSON
        previous = hashlib.sha256(line).hexdigest()
        lines.append(line + b"\n")
    return b"".join(lines)


def _mended(raw: bytes, data: bytes, head: Head | None, path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Lines that say what was mended, and the same for a person."""
    mended: list[dict[str, Any]] = []
    told: list[str] = []
    if len(raw) > len(data):
        mended.append({"reason": "torn last line", "torn": raw[len(data) :].decode("utf-8", "backslashreplace")})
        told.append(f"{path}: the last line was torn by a killed writer; cut off, and kept in a line of its own")
    if data and head is None:
        mended.append({"reason": "no head"})
        told.append(f"{path}: its head file was missing or broken; made again, and that is recorded")
    return mended, told


def _end(data: bytes, head: Head | None) -> str:
    """The hash that the next line has to name.

    Where lines that the head knows of are gone or changed, it is the head's and not that of what is left: the break
    stays in the chain for all to see.
    """
    if head is None or _against_head(head, data) == "":
        return _last(data)
    return head.last


def _last(data: bytes) -> str:
    if not data:
        return BEGINNING
    return hashlib.sha256(data[data.rfind(b"\n", 0, len(data) - 1) + 1 : -1]).hexdigest()


def _problem(number: int, line: bytes, before: str) -> str:
    """What is wrong with a line that should follow a line of this hash."""
    try:
        event = json.loads(line)
        said = event[PREVIOUS]
    except (ValueError, KeyError, TypeError):
        return f"not a line of a ledger; expected a JSON object with {PREVIOUS!r}"
    if said == before:
        return ""
    expected = f"line {number - 1} ({before[:12]})" if number > 1 else "nothing, as the first line"
    return f"follows {str(said)[:12]}, expected {expected}; a line was edited, dropped or moved here"


def _against_head(head: Head | None, found: bytes | Sequence[str]) -> str:
    """How the file contradicts its head; nothing if it does not. `found` are the lines, or their hashes."""
    count = found.count(b"\n") if isinstance(found, bytes) else len(found)
    if head is None:
        return "" if count == 0 else "its head file is missing or broken; expected a number of lines and a hash in it"
    if count < head.lines:
        return f"{pluralize(count, 'line')}; the head knows of {head.lines:,}: lines were dropped at the end"
    if head.lines == 0:
        return ""
    if isinstance(found, bytes):
        at_head = _last(found) if count == head.lines else _last(_first_lines(found, head.lines))
    else:
        at_head = found[head.lines - 1]
    if at_head != head.last:
        return f"line {head.lines} is not the one the head knows; it was edited or replaced"
    return ""


def _first_lines(data: bytes, lines: int) -> bytes:
    return b"".join(line + b"\n" for line in data.split(b"\n")[:lines])
