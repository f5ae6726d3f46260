"""Options of commands that score on test sets, and the look at a test set that they stand for."""

from __future__ import annotations

import argparse

from deadheat.errors import InputError
from deadheat.study.ledger.ledger import Ledger, LedgerEntry


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """Where looks at test sets are recorded, and how."""
    group = parser.add_argument_group(
        "ledger", "scores on a file named test, or guarded by 'deadheat ledger guard', are counted"
    )
    add_ledger_file(group)
    group.add_argument("--purpose", default="", metavar="TEXT", help="what this look is for, for the ledger")
    group.add_argument("--over-budget", metavar="REASON", help="look although the budget is spent, and record why")


def add_ledger_file(parser: argparse._ActionsContainer) -> None:
    """The one option that `deadheat ledger` has too."""
    parser.add_argument(
        "--ledger", default="", metavar="FILE", help="the ledger (default: $DEADHEAT_LEDGER, else the user's own)"
    )


def ledger_entry(arguments: argparse.Namespace) -> LedgerEntry:
    """The look that the options describe."""
    over_budget = arguments.over_budget
    if over_budget is not None and not over_budget.strip():
        raise InputError("--over-budget without a reason; expected why the test set is looked at once more")
    return LedgerEntry(Ledger.at(arguments.ledger), arguments.purpose, over_budget or "")
