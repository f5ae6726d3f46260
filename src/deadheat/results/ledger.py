"""What the ledger knows about test sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deadheat.results.base import Result
from deadheat.text import pluralize
from deadheat.version import __version__


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

    test_sets: tuple[Evaluations, ...]
    ledger: str = ""  # its path
    lines: tuple[LedgerLine, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        return f"deadheat {__version__} | ledger | {pluralize(len(self.test_sets), 'test set')}"
