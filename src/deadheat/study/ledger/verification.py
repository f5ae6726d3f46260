"""What is wrong with the lines of a hash chain, with its head, and what somebody has accepted of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadheat.errors import Fault
from deadheat.text import pluralize

START = "0" * 64  # what the first line follows
PREVIOUS = "previous"
REPAIR, NO_HEAD = "repair", "no head"  # an event, and one of its reasons
ACCEPTED = "content"  # the hash of all that precedes a line which accepts it
LISTED = 3  # faults of a kind
HEAD_LOST = "the head file was missing when this line was written; lines before it may have been deleted"
EMPTY = "empty; nothing was written to it yet, or it was emptied and its head and lock files were deleted"
EMPTIED = "empty and without its head file, but it has been in use; its lines were deleted"
_HEAD = re.compile(r"(\d{1,15}) ([0-9a-f]{64})\s*")
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Head:
    """The number of lines of a chain, and the hash of the last."""

    lines: int
    last: str

    @classmethod
    def parse(cls, data: bytes) -> Head | None:
        """The head in a head file; None if it is broken."""
        match = _HEAD.fullmatch(data.decode("ascii", "replace"))
        return cls(int(match[1]), match[2]) if match else None


@dataclass(frozen=True, slots=True)
class Verification:
    """The hashes of the lines of a chain, and its faults if any."""

    path: Path
    hashes: tuple[str, ...]
    faults: tuple[Fault, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: Path, data: bytes, head: Head | None, *, parse: bool = True) -> Verification:
        """Check complete lines; without `parse`, lines that follow the one before are not parsed, which is faster."""
        lines = data.split(b"\n")[:-1]
        hashes = [hashlib.sha256(line).hexdigest() for line in lines]
        faults: list[Fault] = []
        notes: list[str] = []
        accepts = f'"{ACCEPTED}":"'.encode()
        so_far = hashlib.sha256() if accepts in data else None
        for number, (line, before) in enumerate(zip(lines, [START, *hashes], strict=False), start=1):
            if so_far is not None:
                event = parse_line(line) if accepts in line else {}
                if event.get("event") == REPAIR and event.get(ACCEPTED) == so_far.hexdigest():
                    notes.append(f"{path}:{number}: {_acceptance(event, len(faults))}")
                    faults = []
                    so_far.update(line + b"\n")
                    continue
                so_far.update(line + b"\n")
            if problem := _line_problem(number, line, before, parse=parse):
                faults.append(Fault(str(path), number, problem))
        if problem := head_problem(head, data):
            faults.append(Fault(str(path), 0, problem))
        return cls(path, tuple(hashes), tuple(faults), tuple(notes))

    @property
    def last(self) -> str:
        return self.hashes[-1] if self.hashes else START

    @property
    def warning(self) -> str:
        """A line for everybody who uses a ledger with faults; empty without any."""
        if not self.faults:
            return ""
        more = f" and {pluralize(len(self.faults) - 1, 'more fault')}" if len(self.faults) > 1 else ""
        return f"{self.faults[0]}{more}; evaluations may be missing here (deadheat ledger --verify)"

    def find(self, start: str) -> int:
        """The number of the line whose hash begins with `start`, or 0."""
        return next((number for number, digest in enumerate(self.hashes, start=1) if digest.startswith(start)), 0)

    def __str__(self) -> str:
        if self.faults:
            return "\n".join(self._fault_lines())
        if not self.hashes:
            return f"{self.path}: no lines"
        return f"{self.path}: {pluralize(len(self.hashes), 'line')}, hash chain intact; last hash {self.last}"

    def _fault_lines(self) -> Iterator[str]:
        """The first faults of every kind, and how many more there are."""
        kinds: dict[str, list[Fault]] = {}
        for fault in self.faults:
            kinds.setdefault(fault.message.rpartition("; ")[2], []).append(fault)
        for faults in kinds.values():
            yield from map(str, faults[:LISTED])
            if (more := len(faults) - LISTED) > 0:
                yield f"{self.path}: {pluralize(more, 'more error')} like that in line {faults[0].line}"


def parse_line(line: bytes) -> dict[str, Any]:
    """A line as a dictionary; empty if it is none."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):  # no JSON, no text, numbers with too many digits; nested too deeply
        return {}
    return event if isinstance(event, dict) else {}


def last_hash(data: bytes) -> str:
    """The hash of the last line."""
    if not data:
        return START
    return hashlib.sha256(data[data.rfind(b"\n", 0, len(data) - 1) + 1 : -1]).hexdigest()


def head_problem(head: Head | None, data: bytes) -> str:
    """How the lines contradict their head; empty if they do not."""
    count = data.count(b"\n")
    if head is None:
        return "" if count == 0 else "its head file is missing or broken; expected a number of lines and a hash in it"
    if count < head.lines:
        return f"{pluralize(count, 'line')}; the head file says {head.lines:,}: lines were deleted at the end"
    if count > head.lines:
        data = b"".join(line + b"\n" for line in data.split(b"\n")[: head.lines])
    if head.lines == 0 or last_hash(data) == head.last:
        return ""
    return f"line {head.lines} is not the one of the head file; it was edited or replaced"


def _line_problem(number: int, line: bytes, before: str, *, parse: bool) -> str:
    """What is wrong with a line that should follow a line of this hash."""
    suspicious = parse or f'"{NO_HEAD}"'.encode() in line
    if not suspicious and line.endswith(f'"{PREVIOUS}":"{before}"}}'.encode()):
        return ""
    event = parse_line(line)
    if PREVIOUS not in event:
        return f"not a line of a ledger; expected a JSON object with {PREVIOUS!r}"
    if event[PREVIOUS] == before:
        return HEAD_LOST if event.get("event") == REPAIR and event.get("reason") == NO_HEAD else ""
    previous = str(event[PREVIOUS])[:12] if _HASH.fullmatch(str(event[PREVIOUS])) else "no hash"
    expected = f"line {number - 1} ({before[:12]})" if number > 1 else "nothing, as the first line"
    return f"follows {previous}, expected {expected}; a line was edited, deleted or moved here"


def _acceptance(event: dict[str, Any], faults: int) -> str:
    who, when, why = (clean(event.get(key)) for key in ("user", "time", "purpose"))
    return f"{pluralize(faults, 'fault')} before this line, accepted by {who} on {when}: {why}"


def clean(value: object) -> str:
    """A text of a ledger as it can be printed; empty if it is none."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else ""
