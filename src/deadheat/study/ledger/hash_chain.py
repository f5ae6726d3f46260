"""An append-only file of JSON lines, each with the hash of the line before, so that no edit goes unnoticed.

Writers take turns by a lock file. The head file beside it holds the number of lines and the hash of the last one,
because a chain alone does not show that its last lines are gone. The head is written after the lines: a writer that is
killed in between leaves a file that is longer than its head says, which is valid; a shorter file is not.
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

START = "0" * 64  # what the first line follows
PREVIOUS = "previous"


@dataclass(frozen=True, slots=True)
class Head:
    """The number of lines of a chain, and the hash of the last."""

    lines: int
    last: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The hashes of the lines of a chain, and its faults if any."""

    path: Path
    hashes: tuple[str, ...]
    faults: tuple[Fault, ...]
    notes: tuple[str, ...] = ()

    @property
    def last(self) -> str:
        return self.hashes[-1] if self.hashes else START

    def find(self, start: str) -> int:
        """The number of the line whose hash begins with `start`, or 0."""
        return next((number for number, digest in enumerate(self.hashes, start=1) if digest.startswith(start)), 0)

    def __str__(self) -> str:
        if self.faults:
            return "\n".join(map(str, self.faults))
        return f"{self.path}: {pluralize(len(self.hashes), 'line')}, hash chain intact; last hash {self.last}"


@dataclass(frozen=True, slots=True)
class HashChain:
    """The file with its neighbours, `FILE.head` and `FILE.lock`."""

    path: Path

    def read(self) -> bytes:
        """The complete lines, without a last one that a killed writer left incomplete."""
        data = self._raw()
        if data and not data.endswith(b"\n"):  # perhaps a writer is in the middle of it
            with contextlib.suppress(OSError), self._locked():
                data = self._raw()
        return data[: data.rfind(b"\n") + 1]

    def append(
        self, make: Callable[[bytes], Sequence[Mapping[str, Any]]], *, repair: Mapping[str, Any]
    ) -> tuple[str, ...]:
        """Append what `make` returns for the lines so far; nobody else writes in between.

        `repair` holds the fields of a line that is written if the file or its head has to be repaired first. Returns
        notes for the user about such repairs.

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
            repairs, notes = _repairs(raw, data, head)
            previous = _last_hash(data)
            if head is not None and (problem := _head_problem(head, data)):
                notes.append(f"{problem}; evaluations may be missing here (deadheat ledger --verify)")
                # The hash of the head, and not that of the remaining lines: the break stays visible in the chain.
                previous = head.last
            if head is None and not data:
                self._write_head(Head(0, START))
            lines = _chain_lines([*({**repair, **fields} for fields in repairs), *events], previous)
            self._write(lines, len(data), Head(data.count(b"\n") + lines.count(b"\n"), _last_hash(lines)))
        return tuple(f"{self.path}: {note}" for note in notes)

    def verify(self) -> Verification:
        """Check every line; nothing is written."""
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):  # no lock file: nobody has ever written here
                stack.enter_context(self._locked(create=False))
            raw, head = self._raw(), self._head()
        data = raw[: raw.rfind(b"\n") + 1]
        lines = data.split(b"\n")[:-1]
        hashes = [hashlib.sha256(line).hexdigest() for line in lines]
        faults = [
            Fault(str(self.path), number, problem)
            for number, (line, before) in enumerate(zip(lines, [START, *hashes], strict=False), start=1)
            if (problem := _line_problem(number, line, before))
        ]
        if problem := _head_problem(head, data):
            faults.append(Fault(str(self.path), 0, problem))
        note = f"{self.path}: an incomplete last line, from a killed writer; the next evaluation repairs it"
        return Verification(self.path, tuple(hashes), tuple(faults), (note,) if len(raw) > len(data) else ())

    def _raw(self) -> bytes:
        if self.path.exists() and not self.path.is_file():  # reading a pipe would block
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
            lines, last = self._neighbour("head").read_text().split()
            return Head(int(lines), last)
        except (FileNotFoundError, ValueError):  # a head that is not text is a ValueError too
            return None

    def _write_head(self, head: Head) -> None:
        scratch = self._neighbour("head.new")  # one name: only the holder of the lock writes it
        scratch.write_text(f"{head.lines} {head.last}\n")
        scratch.replace(self._neighbour("head"))

    def _write(self, lines: bytes, keep: int, head: Head) -> None:
        """Cut off an incomplete line, append lines, then write the head; a failure leaves the earlier lines."""
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            os.ftruncate(file, keep)
            try:
                written = os.write(file, lines)
                while written < len(lines):  # a full disk fails only on the second attempt
                    written += os.write(file, lines[written:])
                os.fsync(file)
                self._write_head(head)
            except OSError:
                os.ftruncate(file, keep)
                raise
        finally:
            os.close(file)

    def _neighbour(self, suffix: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{suffix}")

    @contextlib.contextmanager
    def _locked(self, *, create: bool = True) -> Iterator[None]:
        flags = os.O_RDWR | os.O_CREAT if create else os.O_RDONLY
        file = os.open(self._neighbour("lock"), flags, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)  # released when the process ends, however it ends
            yield
        finally:
            os.close(file)


def parse_events(data: bytes, mention: str = "") -> Iterator[dict[str, Any]]:
    """The lines as dictionaries, or only those in which a string occurs: the others are not parsed."""
    needle = mention.encode()
    position = data.find(needle) if needle else 0
    while 0 <= position < len(data):
        start, end = data.rfind(b"\n", 0, position) + 1, data.find(b"\n", position)
        end = len(data) if end < 0 else end
        with contextlib.suppress(ValueError):
            event = json.loads(data[start:end])
            if isinstance(event, dict):
                yield event
        position = data.find(needle, end + 1) if needle else end + 1


def _chain_lines(events: Sequence[Mapping[str, Any]], previous: str) -> bytes:
    lines = []
    for event in events:
        text = json.dumps({**event, PREVIOUS: previous}, ensure_ascii=False, separators=(",", ":"))
        line = text.encode("utf-8", "backslashreplace")  # file names that are not text stay valid JSON
        previous = hashlib.sha256(line).hexdigest()
        lines.append(line + b"\n")
    return b"".join(lines)


def _repairs(raw: bytes, data: bytes, head: Head | None) -> tuple[list[dict[str, Any]], list[str]]:
    """The fields of lines that record repairs, and notes for the user."""
    repairs: list[dict[str, Any]] = []
    notes: list[str] = []
    if len(raw) > len(data):
        repairs.append({"reason": "torn last line", "torn": raw[len(data) :].decode("utf-8", "backslashreplace")})
        notes.append("the last line was incomplete, from a killed writer; it is kept in a line of its own")
    if data and head is None:
        repairs.append({"reason": "no head"})
        notes.append("its head file was missing or broken; made again, which is recorded")
    return repairs, notes


def _last_hash(data: bytes) -> str:
    if not data:
        return START
    return hashlib.sha256(data[data.rfind(b"\n", 0, len(data) - 1) + 1 : -1]).hexdigest()


def _line_problem(number: int, line: bytes, before: str) -> str:
    """What is wrong with a line that should follow a line of this hash."""
    try:
        previous = json.loads(line)[PREVIOUS]
    except (ValueError, KeyError, TypeError):
        return f"not a line of a ledger; expected a JSON object with {PREVIOUS!r}"
    if previous == before:
        return ""
    expected = f"line {number - 1} ({before[:12]})" if number > 1 else "nothing, as the first line"
    return f"follows {str(previous)[:12]}, expected {expected}; a line was edited, deleted or moved here"


def _head_problem(head: Head | None, data: bytes) -> str:
    """How the lines contradict their head; empty if they do not."""
    count = data.count(b"\n")
    if head is None:
        return "" if count == 0 else "its head file is missing or broken; expected a number of lines and a hash in it"
    if count < head.lines:
        return f"{pluralize(count, 'line')}; the head file says {head.lines:,}: lines were deleted at the end"
    if count > head.lines:
        data = b"".join(line + b"\n" for line in data.split(b"\n")[: head.lines])
    if head.lines == 0 or _last_hash(data) == head.last:
        return ""
    return f"line {head.lines} is not the one of the head file; it was edited or replaced"
