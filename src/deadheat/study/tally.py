"""What the lines of a ledger come to for one test set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadheat.text import pluralize


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
