"""How often test sets were evaluated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from deadheat.results.base import Result
from deadheat.results.format import P_VALUE, show
from deadheat.stats.looks import look_bound, spent_level
from deadheat.text import pluralize


@dataclass(frozen=True, slots=True)
class Tally:
    """What the ledger holds on one test set."""

    name: str
    test_set: str
    evaluations: int = 0
    systems: tuple[str, ...] = ()  # one name for each
    predictions: int = 0
    users: tuple[str, ...] = ()
    first: str = ""
    last: str = ""
    guarded: bool = False
    budget: int | None = None
    over_budget: int = 0  # evaluations beyond the budget, with a reason
    sealed: bool = False
    looks: int = 0  # distinct commands and studies; one that is repeated with the same predictions counts once
    look: int = 0  # the number of the look that was just recorded; 0 without one

    @property
    def left(self) -> int | None:
        """The evaluations left of the budget, negative beyond it; None without a budget."""
        return None if self.budget is None else self.budget - self.evaluations

    def describe(self, name: str = "this test set") -> str:
        """The evaluations so far, in a line."""
        so_far = f"{pluralize(self.evaluations, 'evaluation')} of {name} so far"
        left = "" if self.left is None else f"; {max(self.left, 0):,} left of a budget of {self.budget:,}"
        return f"{so_far}, {pluralize(len(self.systems), 'system')}{left}"

    def __str__(self) -> str:
        return f"ledger: {self.describe()}"


def look_note(tallies: Iterable[Tally], p: float, *, alpha: float = 0.05) -> str:
    """What earlier looks at a test set mean for the smallest corrected p-value of a result; empty for a first look.

    Of several test sets, the one with the most looks counts.

    Examples
    --------
    >>> look_note([Tally("test.conllu", "ab" * 32, looks=7, look=7)], 0.003)[:86]
    'look 7 at this test set: if any of them could have been the last, p is at most 0.0210;'
    """
    most = max(tallies, key=lambda tally: tally.looks, default=None)
    if most is None or most.looks < 2:
        return ""
    look = most.look or most.looks
    number = f"look {look}" if look == most.looks else f"look {look} of {most.looks}"
    level = show(spent_level(alpha, look), P_VALUE)
    spending = f"--spend-alpha tests this look at {level} instead of {alpha:g}"
    if not p <= alpha:
        return f"{number} at this test set; {spending}"
    bound = show(look_bound(p, most.looks), P_VALUE)
    return f"{number} at this test set: if any of them could have been the last, p is at most {bound}; {spending}"


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """One line of the ledger."""

    time: str
    user: str
    event: str
    system: str = ""
    prediction: str = ""  # hash of its contents
    metrics: tuple[str, ...] = ()
    purpose: str = ""
    budget: int | None = None
    over_budget: str = ""  # the reason to evaluate past the budget


@dataclass(frozen=True, slots=True)
class PeriodCounts:
    """How many evaluations there were in a year or a month."""

    period: str  # 2026, or 2026-05
    counts: tuple[int, ...]  # of each test set, or of each row of a table


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LedgerReport(Result):
    """How often test sets were evaluated; of a single one, every line of the ledger."""

    kind: ClassVar[str] = "ledger"
    schema: ClassVar[int] = 2

    test_sets: tuple[Tally, ...]
    ledger: str = ""  # its path
    lines: tuple[LedgerLine, ...] = ()
    periods: tuple[PeriodCounts, ...] = ()  # in order
    by: str = "year"  # or month: the length of the periods
    counted: str = "test set"  # what the counts of a period are of; else a row of a table

    def signature_parts(self) -> Iterable[str]:
        return "ledger", pluralize(len(self.test_sets), "test set")
