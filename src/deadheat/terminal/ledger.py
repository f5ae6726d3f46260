"""The ledger on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deadheat.study.ledger.ledger import SHORT, Tally
from deadheat.terminal.tables import Toned, prose, table
from deadheat.text import pluralize

MOST_METRICS = 3  # named in a row


def ledger_table(tallies: Sequence[Tally]) -> str:
    """One row a test set."""
    header = "test set,hash,first look,last look,users,sealed,looks,systems,predictions,left".split(",")
    rows = [
        [
            each.name,
            each.test_set[:SHORT],
            minute(each.first) or "-",
            minute(each.last) or "-",
            ", ".join(each.users) or "-",
            "yes" if each.sealed else "no",
            f"{each.evaluations:,}",
            f"{len(each.systems):,}",
            f"{each.predictions:,}",
            _left(each),
        ]
        for each in tallies
    ]
    return table(header, rows, left=6)


def looks_table(tally: Tally, events: Sequence[Mapping[str, Any]]) -> str:
    """One row a line of the ledger about a test set, and what they come to."""
    rows = [
        [
            minute(str(event.get("time", ""))),
            str(event.get("user", "")),
            str(event.get("event", "")),
            str(event.get("system", "-")),
            str(event.get("prediction", "-"))[:SHORT],
            _metrics(event),
            _remark(event),
        ]
        for event in events
    ]
    header = ["time", "user", "event", "system", "prediction", "metrics", "remark"]
    told = f"{tally.name} {tally.test_set[:SHORT]}: {tally.describe()}"
    return f"{table(header, rows, left=len(header))}\n\n{prose(told)}"


def minute(time: str) -> str:
    """A time without its seconds."""
    return time[:16].replace("T", " ")


def _metrics(event: Mapping[str, Any]) -> str:
    names = [str(name) for name in event.get("metrics", ())]
    return " ".join(names if len(names) <= MOST_METRICS else [names[0], f"and {len(names) - 1} more"]) or "-"


def _left(tally: Tally) -> str:
    if tally.left is None:
        return "no budget"
    left = f"{max(tally.left, 0):,} of {tally.budget:,}"
    return left if tally.left > 0 else Toned(left, "alarm")


def _remark(event: Mapping[str, Any]) -> str:
    told = [str(event["purpose"])] if event.get("purpose") else []
    told += [f"budget {pluralize(event['budget'], 'look')}"] if isinstance(event.get("budget"), int) else []
    told += [f"over budget: {event['over_budget']}"] if event.get("over_budget") else []
    return " ".join("; ".join(told).split()) or "-"  # on one line, whatever was typed
