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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deadheat.errors import Fault
from deadheat.study.ledger.verification import (
    ACCEPTED,
    EMPTIED,
    EMPTY,
    NO_HEAD,
    PREVIOUS,
    START,
    Head,
    Verification,
    head_problem,
    last_hash,
    parse_line,
)


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
        was_used = self._was_used()
        with self._locked():
            raw, head = self._raw(), self._head()
            data = raw[: raw.rfind(b"\n") + 1]
            emptied = was_used and self._is_empty(raw, head)
            if self._is_empty(raw, head):
                self._write_head(Head(0, START))
            events = list(make(data))
            if not events:
                return ()
            check = Verification.of(self.path, data, head, parse=False)
            repairs, notes = _repairs(raw, data, head, emptied=emptied)
            notes = [f"{self.path}: {note}" for note in notes]
            notes += [check.warning] if head is not None and check.faults else []
            previous = last_hash(data)
            if head is None and not data:
                self._write_head(Head(0, START))
            elif head is not None and head_problem(head, data):
                # The hash of the head, and not that of the remaining lines: the break stays visible in the chain.
                previous = head.last
            lines = _chain_lines([*({**repair, **fields} for fields in repairs), *events], previous, data)
            self._write(lines, len(data), Head(data.count(b"\n") + lines.count(b"\n"), last_hash(lines)))
        return tuple(notes)

    def check(self, data: bytes) -> Verification:
        """Check the lines that `append` hands out, without parsing all of them."""
        return Verification.of(self.path, data, self._head(), parse=False)

    def verify(self, *, parse: bool = True) -> Verification:
        """Check every line; nothing is written. Without `parse` it is faster, see `Verification.of`."""
        was_used = self._was_used()
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):  # no lock file: nobody has ever written here
                stack.enter_context(self._locked(create=False))
            raw, head = self._raw(), self._head()
        data = raw[: raw.rfind(b"\n") + 1]
        result = Verification.of(self.path, data, head, parse=parse)
        if self._is_empty(raw, head):
            if was_used:
                return replace(result, faults=(Fault(str(self.path), 0, EMPTIED),))
            return replace(result, notes=(f"{self.path}: {EMPTY}",))
        note = f"{self.path}: an incomplete last line, from a killed writer; the next evaluation repairs it"
        return replace(result, notes=(*result.notes, note)) if len(raw) > len(data) else result

    def _raw(self) -> bytes:
        data = _read_plain(self.path)
        if data and f'"{PREVIOUS}"'.encode() not in data:
            raise OSError(errno.EINVAL, "not a ledger", str(self.path))
        return data

    def _head(self) -> Head | None:
        return Head.parse(_read_plain(self._neighbour("head")))

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

    def _was_used(self) -> bool:
        """Whether somebody has written here before: then there is a lock file, and the head was written with it."""
        return self._neighbour("lock").exists()

    def _is_empty(self, raw: bytes, head: Head | None) -> bool:
        """Whether there is an empty file without a head: a new one, or one that lost its lines and its head."""
        return head is None and not raw and self.path.exists()

    def _neighbour(self, suffix: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{suffix}")

    @contextlib.contextmanager
    def _locked(self, *, create: bool = True) -> Iterator[None]:
        flags = os.O_RDWR | os.O_CREAT if create else os.O_RDONLY | os.O_NONBLOCK  # a pipe would block
        file = os.open(self._neighbour("lock"), flags, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)  # released when the process ends, however it ends
            yield
        finally:
            os.close(file)


def parse_events(data: bytes, mention: str = "") -> Iterator[dict[str, Any]]:
    """The lines as dictionaries, or only those in which a string occurs: the others are not parsed."""
    return filter(None, map(parse_line, find_lines(data, mention)))


def find_lines(data: bytes, mention: str) -> Iterator[bytes]:
    """The lines in which a string occurs; all lines for an empty string."""
    needle = mention.encode()
    position = data.find(needle) if needle else 0
    while 0 <= position < len(data):
        start, end = data.rfind(b"\n", 0, position) + 1, data.find(b"\n", position)
        end = len(data) if end < 0 else end
        yield data[start:end]
        position = data.find(needle, end + 1) if needle else end + 1


def _read_plain(path: Path) -> bytes:
    """The contents of a file, empty if there is none; reading a pipe or a device could block."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a plain file", str(path))
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _chain_lines(events: Sequence[Mapping[str, Any]], previous: str, before: bytes) -> bytes:
    """Events as lines, each with the hash of the line before; one that accepts what precedes it, with its hash."""
    lines = b""
    for event in events:
        accepted = {ACCEPTED: hashlib.sha256(before + lines).hexdigest()} if ACCEPTED in event else {}
        text = json.dumps({**event, **accepted, PREVIOUS: previous}, ensure_ascii=False, separators=(",", ":"))
        line = text.encode("utf-8", "backslashreplace")  # file names that are not text stay valid JSON
        previous = hashlib.sha256(line).hexdigest()
        lines += line + b"\n"
    return lines


def _repairs(raw: bytes, data: bytes, head: Head | None, *, emptied: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """The fields of lines that record repairs, and notes for the user."""
    repairs: list[dict[str, Any]] = []
    notes: list[str] = []
    if len(raw) > len(data):
        repairs.append({"reason": "torn last line", "torn": raw[len(data) :].decode("utf-8", "backslashreplace")})
        notes.append("the last line was incomplete, from a killed writer; it is kept in a line of its own")
    if (data or emptied) and head is None:
        repairs.append({"reason": NO_HEAD})
        notes.append("its head file was missing or broken; made again, which is recorded (deadheat ledger --verify)")
    return repairs, notes
