"""The ledger: who evaluated which system on which test set, when, and how many evaluations are left.

A test set wears out a little with every evaluation. "Let's assume that there is a threshold N that limits the number of
times we can re-use the same split for evaluation" (van der Goot 2021): the ledger counts evaluations, and enforces the
N that a person has set.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pwd
import re
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadheat.corpus.corpus import Corpus, text_hash
from deadheat.errors import InputError, reason
from deadheat.results.ledger import LedgerLine, PeriodCounts, Tally
from deadheat.study.ledger.hash_chain import HashChain, Verification, parse_events
from deadheat.text import pluralize

SEALED = "sealed"  # folder of sealed labels beside a ledger
SHORT = 12  # characters of a hash in tables
EVALUATION = "look"  # the event in the file
PERIODS = {"year": 4, "month": 7}  # characters of a time
_TEST_NAME = re.compile(r"(?:^|[-_.])test(?:[-_.]|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LedgerTestSet:
    """A test set in the ledger: the name of its file, and the hash of its text."""

    name: str
    hash: str

    @classmethod
    def of(cls, corpus: Corpus) -> LedgerTestSet:
        """The test set of a corpus of one file."""
        path = corpus.parts[0].path if corpus.parts else corpus.name
        return cls(os.path.basename(path), text_hash(corpus))


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One system evaluated on a test set."""

    system: str
    prediction: str  # the hash of it
    metrics: tuple[str, ...]
    settings: str  # all else that the scores depend on; its hash is recorded


@dataclass(frozen=True, slots=True)
class RecordedEvaluations:
    """The tallies after evaluations were recorded, and notes for the user."""

    tallies: tuple[Tally, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ledger:
    """A ledger file; it is created with its first line.

    Examples
    --------
    >>> import tempfile
    >>> ledger = Ledger.at(tempfile.mkdtemp() + "/ledger.jsonl")
    >>> test_set = LedgerTestSet("test.conllu", "ab" * 32)
    >>> _ = ledger.guard(test_set, budget=3)
    >>> print(ledger.record([test_set], [Evaluation("mine", "cd" * 32, ("LAS",), "")]).tallies[0])
    ledger: 1 evaluation of this test set so far, 1 system; 2 left of a budget of 3
    """

    path: Path

    @classmethod
    def at(cls, path: str | os.PathLike[str] = "") -> Ledger:
        """The ledger at this path, else at `$DEADHEAT_LEDGER`, else the user's own."""
        if chosen := os.fspath(path) or os.environ.get("DEADHEAT_LEDGER", ""):
            return cls(Path(chosen))
        data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
        return cls(Path(data) / "deadheat" / "ledger.jsonl")

    @property
    def chain(self) -> HashChain:
        return HashChain(self.path)

    @property
    def has_sealed(self) -> bool:
        """Whether there are sealed labels beside the ledger."""
        return (self.path.parent / SEALED).is_dir()

    def read(self) -> bytes:
        """All lines, as they are in the file."""
        with self._input_errors("read"):
            return self.chain.read()

    def events(self, test_set: str = "") -> list[dict[str, Any]]:
        """All lines as dictionaries, or those about the test set with this hash."""
        return [event for event in parse_events(self.read(), test_set) if test_set in ("", event.get("test_set"))]

    def lines(self, test_set: str) -> tuple[LedgerLine, ...]:
        """All lines about the test set with this hash."""
        return tuple(map(_line, self.events(test_set)))

    def verify(self) -> Verification:
        """Check that every line is unchanged and follows the line before."""
        with self._input_errors("read"):
            return self.chain.verify()

    @contextlib.contextmanager
    def _input_errors(self, verb: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(f"{self.path}: the ledger cannot be {verb} ({reason(error)})") from error

    def tallies(self) -> tuple[Tally, ...]:
        """Every test set that was evaluated on or guarded, in the order of their first lines."""
        by_test_set: dict[str, list[dict[str, Any]]] = {}
        for event in self.events():
            if "test_set" in event:
                by_test_set.setdefault(str(event["test_set"]), []).append(event)
        return tuple(_tally(test_set, events) for test_set, events in by_test_set.items())

    def tally(self, test_set: str) -> Tally:
        """The tally of the test set with this hash."""
        return _tally(test_set, self.events(test_set))

    def periods(self, by: str = "year", test_sets: Container[str] | None = None) -> tuple[PeriodCounts, ...]:
        """Evaluations of every test set, or of those with these hashes, by year or by month in which there were any."""
        counts: dict[str, Counter[str]] = {}
        for event in self.events():
            test_set, when = str(event.get("test_set", "")), str(event.get("time", ""))[: PERIODS[by]]
            if event.get("event") == EVALUATION and when and (test_sets is None or test_set in test_sets):
                counts.setdefault(when, Counter())[test_set] += 1
        return tuple(PeriodCounts(period, tuple(counts[period].values())) for period in sorted(counts))

    def guard(self, test_set: LedgerTestSet, *, budget: int | None = None) -> tuple[str, ...]:
        """Count every evaluation of a test set from now on, whatever its name, and refuse those beyond the budget.

        A later budget replaces the earlier one; both stay in the ledger. Returns notes for the user.
        """
        return self.add("guard", test_set, **({} if budget is None else {"budget": budget}))

    def add(self, event: str, test_set: LedgerTestSet, **fields: Any) -> tuple[str, ...]:
        """Write a line about a test set; returns notes about repairs of the file."""
        if fields.get("budget", 0) < 0:
            raise InputError(f"a budget of {fields['budget']} evaluations; expected 0 or more")
        line = {"event": event, **_stamp(), "test_set": test_set.hash, "name": test_set.name, **fields}
        with self._input_errors("written"):
            return self._append(lambda _: [line])

    def _append(self, make: Callable[[bytes], Sequence[Mapping[str, Any]]]) -> tuple[str, ...]:
        return self.chain.append(make, repair={"event": "repair", **_stamp()})

    def test_sets_in(self, corpus: Corpus) -> tuple[LedgerTestSet, ...]:
        """The files of a corpus that are test sets: by their names, or because the ledger has their text."""
        data = self.read()
        if not data and not any(is_test_name(path) for path, _, _ in corpus.files):
            return ()
        test_sets: dict[str, LedgerTestSet] = {}
        for path, first, end in corpus.files:
            if first == end:
                continue
            test_set = LedgerTestSet(os.path.basename(path), text_hash(corpus, first=first, last=end))
            if is_test_name(path) or test_set.hash.encode() in data:
                test_sets[test_set.hash] = test_set
        return tuple(test_sets.values())

    def record(
        self,
        test_sets: Sequence[LedgerTestSet],
        evaluations: Sequence[Evaluation],
        *,
        purpose: str = "",
        over_budget: str = "",
        look: str = "",
    ) -> RecordedEvaluations:
        """Write one line per evaluation and test set, all or none.

        Parameters
        ----------
        look
            What these evaluations belong to, such as a study. By default they are a look of their own, unless the same
            predictions were evaluated together before with the same metrics and settings: that is the same look.

        Raises
        ------
        InputError
            If a budget does not allow it and `over_budget` gives no reason, or if the ledger cannot be written and a
            test set is guarded.
        """
        events: dict[str, list[dict[str, Any]]] = {}
        look_hash = _look_hash(
            look or repr(sorted((item.prediction, item.metrics, item.settings) for item in evaluations))
        )

        def new_lines(data: bytes) -> list[dict[str, Any]]:
            lines: list[dict[str, Any]] = []
            for test_set in {test_set.hash: test_set for test_set in test_sets}.values():
                before = list(parse_events(data, test_set.hash))
                beyond = self._is_beyond_budget(test_set, _tally(test_set.hash, before), len(evaluations), over_budget)
                why = over_budget if beyond else ""
                new = [_evaluation_line(test_set, evaluation, look_hash, purpose, why) for evaluation in evaluations]
                events[test_set.hash] = before + new
                lines += new
            return lines

        try:
            repairs = self._append(new_lines)
        except OSError as error:
            problem = f"{self.path}: the ledger cannot be written ({reason(error)})"
            if any(self.tally(test_set.hash).guarded for test_set in test_sets):
                raise InputError(f"{problem}; expected to, because the test set is guarded") from error
            return RecordedEvaluations(notes=(f"{problem}; this evaluation was not recorded",))
        tallies = tuple(_tally(test_set.hash, events[test_set.hash], look_hash) for test_set in test_sets)
        counts = [str(tally) if len(tallies) == 1 else f"ledger: {tally.describe(tally.name)}" for tally in tallies]
        return RecordedEvaluations(tallies, (*repairs, *counts))

    def _is_beyond_budget(self, test_set: LedgerTestSet, before: Tally, more: int, over_budget: str) -> bool:
        """Whether evaluations exceed the budget; refused without a reason."""
        if before.left is None or more <= before.left:
            return False
        if over_budget.strip():
            return True
        raise InputError(
            f"{test_set.name}: {pluralize(more, 'evaluation')} requested, {max(before.left, 0):,} left of a budget of "
            f'{before.budget:,} (ledger {self.path}); expected --over-budget "reason" to evaluate nevertheless'
        )


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """How to record an evaluation: the ledger, its purpose, and the reason if it exceeds the budget."""

    ledger: Ledger
    purpose: str = ""
    over_budget: str = ""


def is_test_name(path: str) -> bool:
    """Whether a file is named as a test set: `test` is a word of its name.

    Examples
    --------
    >>> [is_test_name(name) for name in ("en_ewt-ud-test.conllu", "0/Test.conllu.gz", "latest.conllu", "test/a.conllu")]
    [True, True, False, False]
    """
    return _TEST_NAME.search(os.path.basename(path)) is not None


def _evaluation_line(
    test_set: LedgerTestSet, evaluation: Evaluation, look: str, purpose: str, over_budget: str
) -> dict[str, Any]:
    line = {
        "event": EVALUATION,
        **_stamp(),
        "test_set": test_set.hash,
        "name": test_set.name,
        "system": evaluation.system,
        "prediction": evaluation.prediction,
        "settings": hashlib.sha256(evaluation.settings.encode()).hexdigest()[:16],
        "look": look,
        "purpose": purpose,
        "metrics": list(evaluation.metrics),
    }
    return line | ({"over_budget": over_budget} if over_budget else {})


def _look_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _look_of(event: Mapping[str, Any]) -> str:
    """The look that a line belongs to; older lines have none, and one look was written within a second."""
    return str(event.get("look") or f"{event.get('time')} {event.get('settings')}")


def _stamp() -> dict[str, str]:
    return {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "user": _user()}


def _user() -> str:
    """The owner of the process according to the system; `$USER` could say anything."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"uid {os.geteuid()}"


def _line(event: Mapping[str, Any]) -> LedgerLine:
    kind, budget = str(event.get("event", "")), event.get("budget")
    return LedgerLine(
        time=str(event.get("time", "")),
        user=str(event.get("user", "")),
        event="evaluation" if kind == EVALUATION else kind,
        system=str(event.get("system", "")),
        prediction=str(event.get("prediction", "")),
        metrics=tuple(map(str, event.get("metrics") or ())),
        purpose=str(event.get("purpose") or ""),
        budget=budget if isinstance(budget, int) else None,
        over_budget=str(event.get("over_budget") or ""),
    )


def _tally(test_set: str, events: Iterable[Mapping[str, Any]], look: str = "") -> Tally:
    """Count the lines of one test set; `look` is the one that was just recorded."""
    lines = [event for event in events if event.get("test_set") == test_set]
    evaluations = [event for event in lines if event.get("event") == EVALUATION]
    guards = [event for event in lines if event.get("event") in ("guard", "seal")]
    budgets = [event["budget"] for event in guards if isinstance(event.get("budget"), int)]
    times = [str(event.get("time", "")) for event in evaluations]
    looks = list(dict.fromkeys(map(_look_of, evaluations)))
    return Tally(
        name=str((guards or evaluations or [{}])[-1].get("name", "")),
        test_set=test_set,
        evaluations=len(evaluations),
        systems=_systems(evaluations),
        predictions=len({str(event.get("prediction", "")) for event in evaluations}),
        users=tuple(dict.fromkeys(str(event.get("user", "")) for event in evaluations)),
        first=times[0] if times else "",
        last=times[-1] if times else "",
        guarded=bool(guards),
        budget=budgets[-1] if budgets else None,
        over_budget=sum("over_budget" in event for event in evaluations),
        sealed=any(event.get("event") == "seal" for event in guards),
        looks=len(looks),
        look=looks.index(look) + 1 if look in looks else 0,
    )


def _systems(evaluations: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """One name per system. Evaluations are of the same system if its name or its prediction is the same.

    A file that is first scored and then compared under a name is one system, and so is a name with new predictions.
    """
    parents: dict[tuple[str, str], tuple[str, str]] = {}

    def root(node: tuple[str, str]) -> tuple[str, str]:
        while parents.setdefault(node, node) != node:
            parents[node] = parents[parents[node]]  # keeps paths short
            node = parents[node]
        return node

    nodes = [
        (("name", str(event.get("system", ""))), ("prediction", str(event.get("prediction", ""))))
        for event in evaluations
    ]
    for name, prediction in nodes:
        parents[root(prediction)] = root(name)
    names: dict[tuple[str, str], str] = {}
    for name, _ in nodes:
        names.setdefault(root(name), name[1])
    return tuple(names.values())
