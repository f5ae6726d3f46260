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
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadheat.corpus.corpus import Corpus
from deadheat.errors import InputError, reason
from deadheat.results.ledger import LedgerLine, PeriodCounts, Tally
from deadheat.study.ledger.hash_chain import HashChain, parse_events
from deadheat.study.ledger.overlap import ITEM, StoredTestSets, test_sets_of
from deadheat.study.ledger.overlap import LedgerTestSet as LedgerTestSet
from deadheat.study.ledger.tallies import (
    EVALUATION,
    MAX_BUDGET,
    evaluation_time,
    events_about,
    events_by_test_set,
    ledger_line,
    tally_of,
)
from deadheat.study.ledger.verification import ACCEPTED, REPAIR, Verification, clean
from deadheat.text import pluralize

SEALED = "sealed"  # folder of sealed labels beside a ledger
SHORT = 12  # characters of a hash in tables
PERIODS = {"year": 4, "month": 7}  # characters of a time
_TEST_NAME = re.compile(r"(?:^|[-_.])test(?:[-_.]|$)", re.IGNORECASE)


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
    warnings: tuple[str, ...] = ()  # those of the notes that are on the ledger itself


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
        return events_about(self.read(), test_set) if test_set else list(parse_events(self.read()))

    def lines(self, test_set: str) -> tuple[LedgerLine, ...]:
        """All lines about the test set with this hash."""
        return tuple(map(ledger_line, self.events(test_set)))

    def verify(self) -> Verification:
        """Check that every line is unchanged and follows the line before."""
        with self._input_errors("read"):
            return self.chain.verify()

    @property
    def warnings(self) -> tuple[str, ...]:
        """A note for everybody who uses the ledger, if lines were edited or deleted."""
        with self._input_errors("read"):
            warning = self.chain.verify(parse=False).warning
        return (warning,) if warning else ()

    @contextlib.contextmanager
    def _input_errors(self, verb: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(f"{self.path}: the ledger cannot be {verb} ({reason(error)})") from error

    def tallies(self) -> tuple[Tally, ...]:
        """Every test set that was evaluated on or guarded, in the order of their first lines."""
        return tuple(tally_of(test_set, events) for test_set, events in events_by_test_set(self.read()).items())

    def tally(self, test_set: str) -> Tally:
        """The tally of the test set with this hash."""
        return tally_of(test_set, self.events(test_set))

    def sealed_texts(self) -> frozenset[str]:
        """Hashes of the test sets whose labels are sealed, and of the texts that were evaluated as parts of them."""
        sealed = {tally.test_set for tally in self.tallies() if tally.sealed}
        lines = [event for event in self.events() if not sealed.isdisjoint(test_sets_of(event))] if sealed else []
        return frozenset(sealed | {clean(event.get(key)) for event in lines for key in ("test_set", "text")}) - {""}

    def sealed_predictions(self) -> frozenset[str]:
        """Hashes of the predictions that were evaluated on test sets whose labels are sealed."""
        sealed = self.sealed_texts()
        events = self.events() if sealed else []
        return frozenset(clean(event.get("prediction")) for event in events if sealed & {*test_sets_of(event)}) - {""}

    def find(self, test_set: LedgerTestSet) -> LedgerTestSet:
        """The test set of the ledger that a text is, or is a part of; else the text itself."""
        return StoredTestSets.of(self.read()).find(test_set, is_test=True) or test_set

    def periods(self, by: str = "year", test_sets: Container[str] | None = None) -> tuple[PeriodCounts, ...]:
        """Evaluations of every test set, or of those with these hashes, by year or by month in which there were any."""
        counts: dict[str, Counter[str]] = {}
        for event in self.events():
            test_set, when = next(test_sets_of(event), ""), evaluation_time(event)[: PERIODS[by]]
            if event.get("event") == EVALUATION and test_set and when and (test_sets is None or test_set in test_sets):
                counts.setdefault(when, Counter())[test_set] += 1
        return tuple(PeriodCounts(period, tuple(counts[period].values())) for period in sorted(counts))

    def guard(self, test_set: LedgerTestSet, *, budget: int | None = None) -> tuple[str, ...]:
        """Count every evaluation of a test set from now on, whatever its name, and refuse those beyond the budget.

        Earlier evaluations of texts that share sentences with it count, too. A later budget replaces the earlier one;
        both stay in the ledger. Returns notes for the user.
        """
        return self.add("guard", test_set, **({} if budget is None else {"budget": budget}))

    def add(self, event: str, test_set: LedgerTestSet, **fields: Any) -> tuple[str, ...]:
        """Write a line about a test set; returns notes about repairs of the file."""
        if not 0 <= fields.get("budget", 0) < MAX_BUDGET:
            raise InputError(f"a budget of {fields['budget']} evaluations; expected 0 or more, less than 2^53")

        def line(data: bytes) -> list[dict[str, Any]]:
            stored = StoredTestSets.of(data)
            includes = list(stored.overlapping(test_set))
            about = {"test_set": test_set.hash, "name": test_set.name, **({"includes": includes} if includes else {})}
            return [{"event": event, **_stamp(), **about, **fields, **_sentences(test_set, stored)}]

        with self._input_errors("written"):
            return self._append(line)

    def repair(self, purpose: str) -> tuple[str, ...]:
        """Accept the lines as they are, in a line that says who did so and why; `verify` still reports it.

        Returns notes for the user: the faults that are accepted.
        """
        faults = self.verify()
        if not faults.faults:
            raise InputError(f"{self.path}: the hash chain is intact; expected a changed ledger to repair")
        line = {"event": REPAIR, **_stamp(), "reason": "accepted", "purpose": purpose, ACCEPTED: ""}
        with self._input_errors("written"):
            self._append(lambda _: [line])
        return tuple(str(faults).splitlines())

    def _append(self, make: Callable[[bytes], Sequence[Mapping[str, Any]]]) -> tuple[str, ...]:
        return self.chain.append(make, repair={"event": REPAIR, **_stamp()})

    def test_sets_in(self, corpus: Corpus) -> tuple[LedgerTestSet, ...]:
        """The test sets that an evaluation on a corpus counts for.

        These are files by their names, those whose text is in the ledger, and those that share at least a quarter of
        their words in sentences with a test set of the ledger, or have a quarter of its words; also together.
        """
        data = self.read()
        if not data and not any(is_test_name(path) for path, _, _ in corpus.files):
            return ()
        files = [file for file in corpus.files if file[1] < file[2]]
        stored = StoredTestSets.of(data)
        found = [
            stored.find(LedgerTestSet.of(corpus, path, first, end), is_test=is_test_name(path))
            for path, first, end in files
        ]
        if len(files) > 1 and stored.sets:
            found.append(stored.find(LedgerTestSet.of(corpus, corpus.name), is_test=False))
        return tuple(single for test_set in stored.resolve(filter(None, found)) for single in test_set.singly())

    def test_sets_of(self, make: Callable[[], LedgerTestSet], *, is_test: bool) -> tuple[LedgerTestSet, ...]:
        """The test sets that an evaluation on items counts for; items are not looked at where there can be none."""
        stored = StoredTestSets.of(self.read())
        if not is_test and all(sentences.unit != ITEM for _, sentences in stored.sets.values()):
            return ()
        found = stored.find(make(), is_test=is_test)
        return tuple(single for test_set in stored.resolve(filter(None, [found])) for single in test_set.singly())

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
            If a budget does not allow it and `over_budget` gives no reason, or if a test set is guarded and the ledger
            cannot be written, or has faults.
        """
        lines: list[dict[str, Any]] = []
        before: dict[str, list[dict[str, Any]]] = {}
        notes: list[str] = []
        look_hash = _look_hash(
            look or repr(sorted((item.prediction, item.metrics, item.settings) for item in evaluations))
        )

        def new_lines(data: bytes) -> list[dict[str, Any]]:
            stored = StoredTestSets.of(data)
            for test_set in stored.resolve(test_sets):
                before.update({digest: events_about(data, digest) for digest in test_set.all})
                tallies = [tally_of(digest, before[digest]) for digest in test_set.all]
                self._check_intact(test_set, tallies, data)
                beyond = [self._is_beyond_budget(test_set, tally, len(evaluations), over_budget) for tally in tallies]
                why = over_budget if any(beyond) else ""
                new = [_evaluation_line(test_set, evaluation, look_hash, purpose, why) for evaluation in evaluations]
                lines.extend([new[0] | _sentences(test_set, stored), *new[1:]] if new else [])
                notes.extend(test_set.notes)
            return lines

        try:
            repairs = self._append(new_lines)
        except OSError as error:
            problem = f"{self.path}: the ledger cannot be written ({reason(error)})"
            known = StoredTestSets.of(self.read()).resolve(test_sets)
            if any(self.tally(digest).guarded for test_set in known for digest in test_set.all):
                raise InputError(f"{problem}; expected to, because the test set is guarded") from error
            return RecordedEvaluations(notes=(f"{problem}; this evaluation was not recorded",))
        tallies = tuple(
            tally_of(digest, [*events, *(line for line in lines if digest in test_sets_of(line))], look_hash)
            for digest, events in before.items()
        )
        counts = [str(tally) if len(tallies) == 1 else f"ledger: {tally.describe(tally.name)}" for tally in tallies]
        return RecordedEvaluations(tallies, (*repairs, *notes, *counts), repairs)

    def _check_intact(self, test_set: LedgerTestSet, tallies: Sequence[Tally], data: bytes) -> None:
        """Refuse to evaluate a guarded test set by a ledger in which anything may have been changed."""
        if any(tally.guarded for tally in tallies) and (faults := self.chain.check(data).faults):
            raise InputError(
                f"{test_set.name}: guarded, but the ledger was changed ({faults[0]}); expected an unchanged one, or "
                "'deadheat ledger repair --reason \"...\"' to accept it as it is, after deadheat ledger --verify"
            )

    def _is_beyond_budget(self, test_set: LedgerTestSet, before: Tally, more: int, over_budget: str) -> bool:
        """Whether evaluations exceed the budget; refused without a reason."""
        if before.left is None or more <= before.left:
            return False
        if over_budget.strip():
            return True
        name = test_set.name if before.name in ("", test_set.name) else f"{test_set.name} ({before.name})"
        raise InputError(
            f"{name}: {pluralize(more, 'evaluation')} requested, {max(before.left, 0):,} left of a budget of "
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
        **({"text": test_set.text} if test_set.text else {}),
        **({"also": list(test_set.also)} if test_set.also else {}),
        "system": evaluation.system,
        "prediction": evaluation.prediction,
        "settings": hashlib.sha256(evaluation.settings.encode()).hexdigest()[:16],
        "look": look,
        "purpose": purpose,
        "metrics": list(evaluation.metrics),
    }
    return line | ({"over_budget": over_budget} if over_budget else {})


def _sentences(test_set: LedgerTestSet, stored: StoredTestSets) -> dict[str, Any]:
    """The sentences of a test set, for the first line about it."""
    if test_set.sentences is None or not test_set.is_file or test_set.text or test_set.hash in stored.sets:
        return {}
    return test_set.sentences.fields()


def _look_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _stamp() -> dict[str, str]:
    return {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "user": _user()}


def _user() -> str:
    """The owner of the process according to the system; `$USER` could say anything."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"uid {os.geteuid()}"
