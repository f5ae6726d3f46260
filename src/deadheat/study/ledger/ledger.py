"""The ledger of looks at test sets: who scored which system on which test set, when, and how many times are left.

A test set is spent a little every time somebody looks at a score on it. "Let's assume that there is a threshold N that
limits the number of times we can re-use the same split for evaluation" (van der Goot 2021): the ledger counts, and
keeps to the N that a person set.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadheat.corpus.corpus import Corpus, Part, text_hash
from deadheat.errors import InputError, reason
from deadheat.study.ledger.hash_chain import Chain, Verification, events_of
from deadheat.text import pluralize

SHORT = 12  # characters of a hash that are shown
_TEST_NAME = re.compile(r"(?:^|[-_.])test(?:[-_.]|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Watched:
    """A test set that is counted: the name of its file, and the hash of its text."""

    name: str
    hash: str

    @classmethod
    def of(cls, corpus: Corpus) -> Watched:
        """A corpus of one file."""
        path = corpus.parts[0].path if corpus.parts else corpus.name
        return cls(os.path.basename(path), text_hash(corpus))


@dataclass(frozen=True, slots=True)
class Scored:
    """One system scored on a test set: its name, the hash of its prediction, the metrics, and the settings."""

    system: str
    prediction: str
    metrics: tuple[str, ...]
    settings: str  # all that the numbers depend on besides; its hash is kept


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the ledger says after looks were written to it, and what a person should be told."""

    tallies: tuple[Tally, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ledger:
    """A ledger file; it comes into being with its first line.

    Examples
    --------
    >>> import tempfile
    >>> ledger = Ledger.at(tempfile.mkdtemp() + "/ledger.jsonl")
    >>> _ = ledger.guard(Watched("test.conllu", "ab" * 32), budget=3)
    >>> print(ledger.record([Watched("test.conllu", "ab" * 32)], [Scored("mine", "cd" * 32, ("LAS",), "")]).tallies[0])
    evaluated on this test set 1 time, 1 system (ledger); 2 looks left of 3
    """

    path: Path

    @classmethod
    def at(cls, path: str | os.PathLike[str] = "") -> Ledger:
        """The ledger of this path, else of `$DEADHEAT_LEDGER`, else the user's own."""
        if chosen := os.fspath(path) or os.environ.get("DEADHEAT_LEDGER", ""):
            return cls(Path(chosen))
        data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
        return cls(Path(data) / "deadheat" / "ledger.jsonl")

    @property
    def chain(self) -> Chain:
        return Chain(self.path)

    def read(self) -> bytes:
        """All lines, as they stand."""
        try:
            return self.chain.read()
        except OSError as error:
            raise InputError(f"{self.path}: the ledger cannot be read ({reason(error)})") from error

    def events(self, mention: str = "") -> list[dict[str, Any]]:
        """All lines as values, or those that mention a hash."""
        return list(events_of(self.read(), mention))

    def verify(self) -> Verification:
        """Whether every line is as it was written and where it was written."""
        try:
            return self.chain.verify()
        except OSError as error:
            raise InputError(f"{self.path}: the ledger cannot be read ({reason(error)})") from error

    def tallies(self) -> tuple[Tally, ...]:
        """Every test set that was looked at or guarded, in the order of their first lines."""
        own: dict[str, list[dict[str, Any]]] = {}
        for event in self.events():
            if "test_set" in event:
                own.setdefault(str(event["test_set"]), []).append(event)
        return tuple(tally(test_set, events) for test_set, events in own.items())

    def tally(self, test_set: str) -> Tally:
        """What is known of one test set."""
        return tally(test_set, self.events(test_set))

    def guard(self, watched: Watched, *, budget: int | None = None) -> tuple[str, ...]:
        """Count every look at a test set from now on, whatever its name, and refuse those past the budget.

        A later budget replaces the earlier one; both stay in the ledger. Returns what a person should be told.
        """
        return self.add("guard", watched, **({} if budget is None else {"budget": budget}))

    def add(self, event: str, watched: Watched, **more: Any) -> tuple[str, ...]:
        """Write a line about a test set; returns what had to be mended."""
        if more.get("budget", 0) < 0:
            raise InputError(f"a budget of {more['budget']} looks; expected 0 or more")
        line = {"event": event, **_stamp(), "test_set": watched.hash, "name": watched.name, **more}
        try:
            return self.chain.append(lambda _: [line], repair=_repair())
        except OSError as error:
            raise InputError(f"{self.path}: the ledger cannot be written ({reason(error)})") from error

    def watched(self, corpus: Corpus) -> tuple[Watched, ...]:
        """The files of a corpus that are test sets: by their names, or because the ledger knows their text."""
        parts = corpus.parts or (Part(corpus.name, 0),)
        data = self.read()
        if not data and not any(is_test_name(part.path) for part in parts):
            return ()
        ends = [*(part.first for part in parts[1:]), corpus.sentences]
        found: dict[str, Watched] = {}
        for part, end in zip(parts, ends, strict=True):
            if part.first == end:
                continue
            known = Watched(os.path.basename(part.path), text_hash(corpus, first=part.first, last=end))
            if is_test_name(part.path) or known.hash.encode() in data:
                found[known.hash] = known
        return tuple(found.values())

    def record(
        self, watched: Sequence[Watched], scored: Sequence[Scored], *, purpose: str = "", over_budget: str = ""
    ) -> Recorded:
        """Write one look a system and test set, all or none.

        Raises
        ------
        InputError
            If a budget does not allow it and no reason is given to go over it, or if a guarded test set is looked at
            and the ledger cannot be written.
        """
        known: dict[str, list[dict[str, Any]]] = {}

        def looks(data: bytes) -> list[dict[str, Any]]:
            for each in watched:
                known[each.hash] = list(events_of(data, each.hash))
                beyond = _check_budget(self.path, each, tally(each.hash, known[each.hash]), len(scored), over_budget)
                known[each.hash] += [_look(each, one, purpose, over_budget if beyond else "") for one in scored]
            return [look for own in known.values() for look in own[-len(scored) :]]

        try:
            repairs = self.chain.append(looks, repair=_repair())
        except OSError as error:
            problem = f"{self.path}: the ledger cannot be written ({reason(error)})"
            if any(self.tally(each.hash).guarded for each in watched):
                raise InputError(f"{problem}; expected to, because the test set is guarded") from error
            return Recorded(notes=(f"{problem}; this look was not recorded",))
        tallies = tuple(tally(each.hash, known[each.hash]) for each in watched)
        shown = [str(each) if len(tallies) == 1 else f"{each.name}: {each}" for each in tallies]
        return Recorded(tallies, (*repairs, *shown))


@dataclass(frozen=True, slots=True)
class Look:
    """That a score is a look at a test set: the ledger to write it to, what it is for, and why if past the budget."""

    ledger: Ledger
    purpose: str = ""
    over_budget: str = ""


def is_test_name(path: str) -> bool:
    """Whether a file is called a test set: `test` is a word of its name.

    Examples
    --------
    >>> [is_test_name(name) for name in ("en_ewt-ud-test.conllu", "0/Test.conllu.gz", "latest.conllu", "test/a.conllu")]
    [True, True, False, False]
    """
    return _TEST_NAME.search(os.path.basename(path)) is not None


def _check_budget(path: Path, watched: Watched, before: Tally, more: int, over_budget: str) -> bool:
    """Whether looks go past the budget; refused unless there is a reason."""
    if before.left is None or more <= before.left:
        return False
    if over_budget.strip():
        return True
    raise InputError(
        f"{watched.name}: {pluralize(more, 'look')} asked for, {max(before.left, 0):,} left of a budget of "
        f'{before.budget:,} (ledger {path}); expected --over-budget "reason" to look all the same'
    )


def _look(watched: Watched, scored: Scored, purpose: str, over_budget: str) -> dict[str, Any]:
    look = {
        "event": "look",
        **_stamp(),
        "test_set": watched.hash,
        "name": watched.name,
        "system": scored.system,
        "prediction": scored.prediction,
        "settings": hashlib.sha256(scored.settings.encode()).hexdigest()[:16],
        "purpose": purpose,
        "metrics": list(scored.metrics),
    }
    return look | ({"over_budget": over_budget} if over_budget else {})


def _stamp() -> dict[str, str]:
    return {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "user": _user()}


def _repair() -> dict[str, str]:
    return {"event": "repair", **_stamp()}


def _user() -> str:
    """The owner of the process, as the system knows them; `$USER` could say anything."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"uid {os.geteuid()}"


@dataclass(frozen=True, slots=True)
class Tally:
    """What the ledger knows of one test set."""

    name: str
    test_set: str
    looks: int = 0
    systems: tuple[str, ...] = ()  # a name for each
    predictions: int = 0
    users: tuple[str, ...] = ()
    first: str = ""
    last: str = ""
    guarded: bool = False
    budget: int | None = None
    over_budget: int = 0  # looks that were taken past the budget, with a reason
    sealed: bool = False

    @property
    def left(self) -> int | None:
        """How many looks are left of the budget; below 0 past it, None without one."""
        return None if self.budget is None else self.budget - self.looks

    def __str__(self) -> str:
        told = f"evaluated on this test set {pluralize(self.looks, 'time')}, {pluralize(len(self.systems), 'system')}"
        if self.left is None:
            return f"{told} (ledger)"
        left = f"{pluralize(max(self.left, 0), 'look')} left of {self.budget:,}"
        return f"{told} (ledger); {left}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the commands print them under `--json`."""
        return {
            "name": self.name,
            "test_set": self.test_set,
            "looks": self.looks,
            "systems": list(self.systems),
            "predictions": self.predictions,
            "users": list(self.users),
            "first": self.first,
            "last": self.last,
            "guarded": self.guarded,
            "budget": self.budget,
            "over_budget": self.over_budget,
            "sealed": self.sealed,
        }


def tally(test_set: str, events: Iterable[Mapping[str, Any]]) -> Tally:
    """Count the lines of one test set."""
    own = [event for event in events if event.get("test_set") == test_set]
    looks = [event for event in own if event.get("event") == "look"]
    guards = [event for event in own if event.get("event") in ("guard", "seal")]
    budgets = [event["budget"] for event in guards if isinstance(event.get("budget"), int)]
    times = [str(event.get("time", "")) for event in looks]
    return Tally(
        name=str((guards or looks or [{}])[-1].get("name", "")),
        test_set=test_set,
        looks=len(looks),
        systems=_systems(looks),
        predictions=len({str(event.get("prediction", "")) for event in looks}),
        users=tuple(dict.fromkeys(str(event.get("user", "")) for event in looks)),
        first=times[0] if times else "",
        last=times[-1] if times else "",
        guarded=bool(guards),
        budget=budgets[-1] if budgets else None,
        over_budget=sum("over_budget" in event for event in looks),
        sealed=any(event.get("event") == "seal" for event in guards),
    )


def _systems(looks: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """One name a system. Looks are at the same system if its name or its prediction is the same.

    A file that is first scored and then compared under a name is one system, and so is a name with new predictions.
    """
    parents: dict[tuple[str, str], tuple[str, str]] = {}

    def root(node: tuple[str, str]) -> tuple[str, str]:
        while parents.setdefault(node, node) != node:
            parents[node] = parents[parents[node]]  # keeps the ways short
            node = parents[node]
        return node

    nodes = [(("name", str(look.get("system", ""))), ("prediction", str(look.get("prediction", "")))) for look in looks]
    for name, prediction in nodes:
        parents[root(prediction)] = root(name)
    found: dict[tuple[str, str], str] = {}
    for name, _ in nodes:
        found.setdefault(root(name), name[1])
    return tuple(found.values())
