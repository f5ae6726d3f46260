"""What the ledger knows about test sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deadheat.results.base import Result
from deadheat.text import pluralize


@dataclass(frozen=True, slots=True)
class Evaluations:
    """What the ledger knows about one test set."""

    name: str
    test_set: str  # hash of its contents
    count: int = 0
    systems: tuple[str, ...] = ()
    predictions: int = 0
    users: tuple[str, ...] = ()
    first: str = ""
    last: str = ""
    guarded: bool = False
    budget: int | None = None
    over_budget: int = 0  # evaluations past the budget, each with a reason
    sealed: bool = False

    @property
    def left(self) -> int | None:
        """How many evaluations are left of the budget; below 0 past it, None without one."""
        return None if self.budget is None else self.budget - self.count

    def __str__(self) -> str:
        systems = pluralize(len(self.systems), "system")
        said = f"ledger: {pluralize(self.count, 'evaluation')} of this test set so far, {systems}"
        if self.left is None:
            return said
        return f"{said}; {max(self.left, 0):,} left of a budget of {self.budget:,}"


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """One entry of the ledger."""

    time: str
    event: str
    test_set: str
    user: str = ""
    system: str = ""
    purpose: str = ""
    over_budget: str = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LedgerReport(Result):
    """How often test sets were used."""

    kind: ClassVar[str] = "ledger"

    test_sets: tuple[Evaluations, ...]
    ledger: str = ""
    lines: tuple[LedgerLine, ...] = ()
    notes: tuple[str, ...] = ()
