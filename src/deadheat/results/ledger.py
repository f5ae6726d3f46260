"""How often test sets were evaluated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from deadheat.results.base import Result
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LedgerReport(Result):
    """How often test sets were evaluated; of a single one, every line of the ledger."""

    kind: ClassVar[str] = "ledger"

    test_sets: tuple[Tally, ...]
    ledger: str = ""  # its path
    lines: tuple[LedgerLine, ...] = ()

    def signature_parts(self) -> Iterable[str]:
        return "ledger", pluralize(len(self.test_sets), "test set")
