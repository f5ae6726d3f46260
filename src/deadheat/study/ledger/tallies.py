"""What the lines of a ledger say about a test set; values of other types, which somebody typed, are left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from deadheat.results.ledger import LedgerLine, Tally
from deadheat.study.ledger.hash_chain import parse_events
from deadheat.study.ledger.overlap import test_sets_of
from deadheat.study.ledger.verification import clean

EVALUATION = "look"  # the event in the file
MAX_BUDGET = 1 << 53  # what JSON readers can represent
_TIME = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z")


def events_about(data: bytes, test_set: str) -> list[dict[str, Any]]:
    """Lines on a test set, and on those that it shared sentences with when it was guarded."""
    events = [event for event in parse_events(data, test_set) if test_set in test_sets_of(event)]
    return _with_included(test_set, events, lambda: parse_events(data))


def events_by_test_set(data: bytes) -> dict[str, list[dict[str, Any]]]:
    """The same for every test set, in the order of their first lines."""
    everything = list(parse_events(data, '"test_set"'))
    events: dict[str, list[dict[str, Any]]] = {}
    for event in everything:
        for test_set in dict.fromkeys(test_sets_of(event)):
            events.setdefault(test_set, []).append(event)
    return {test_set: _with_included(test_set, lines, lambda: everything) for test_set, lines in events.items()}


def _with_included(
    test_set: str, events: list[dict[str, Any]], everything: Callable[[], Iterable[dict[str, Any]]]
) -> list[dict[str, Any]]:
    lists = [event.get("includes") for event in events if event.get("test_set") == test_set]
    includes = {item for items in lists if isinstance(items, list) for item in items if isinstance(item, str)}
    if not includes:
        return events
    wanted = includes | {test_set}
    return [event for event in everything() if not wanted.isdisjoint(test_sets_of(event))]


def evaluation_time(event: Mapping[str, Any]) -> str:
    """When a line was written; empty if that is no time."""
    time = clean(event.get("time"))
    return time if _TIME.fullmatch(time) else ""


def ledger_line(event: Mapping[str, Any]) -> LedgerLine:
    """A line as `deadheat ledger show` lists it."""
    kind, metrics = clean(event.get("event")), event.get("metrics")
    return LedgerLine(
        time=evaluation_time(event),
        user=clean(event.get("user")),
        event="evaluation" if kind == EVALUATION else kind,
        system=clean(event.get("system")),
        prediction=clean(event.get("prediction")),
        metrics=tuple(map(clean, metrics)) if isinstance(metrics, list) else (),
        purpose=clean(event.get("purpose")),
        budget=_budget(event),
        over_budget=clean(event.get("over_budget")),
    )


def tally_of(test_set: str, events: Iterable[Mapping[str, Any]], look: str = "") -> Tally:
    """Count the lines of `events_about` a test set; `look` is the one that was just recorded."""
    lines = list(events)
    evaluations = [event for event in lines if event.get("event") == EVALUATION]
    its_own = [event for event in lines if event.get("test_set") == test_set]
    guards = [event for event in its_own if event.get("event") in ("guard", "seal")]
    named = guards or [event for event in its_own if "text" not in event] or its_own or [{}]
    budgets = [budget for event in guards if (budget := _budget(event)) is not None]
    times = [time for event in evaluations if (time := evaluation_time(event))]
    looks = list(dict.fromkeys(map(_look_of, evaluations)))
    return Tally(
        name=clean(named[-1].get("name")),
        test_set=test_set,
        evaluations=len(evaluations),
        systems=_systems(evaluations),
        predictions=len({clean(event.get("prediction")) for event in evaluations}),
        users=tuple(dict.fromkeys(clean(event.get("user")) for event in evaluations)),
        first=times[0] if times else "",
        last=times[-1] if times else "",
        guarded=bool(guards),
        budget=budgets[-1] if budgets else None,
        over_budget=sum("over_budget" in event for event in evaluations),
        sealed=any(event.get("event") == "seal" for event in guards),
        looks=len(looks),
        look=looks.index(look) + 1 if look in looks else 0,
    )


def _budget(event: Mapping[str, Any]) -> int | None:
    budget = event.get("budget")
    return budget if type(budget) is int and 0 <= budget < MAX_BUDGET else None


def _look_of(event: Mapping[str, Any]) -> str:
    """The look that a line belongs to; older lines have none, and one look was written within a second."""
    return clean(event.get("look")) or f"{clean(event.get('time'))} {clean(event.get('settings'))}"


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
        (("name", clean(event.get("system"))), ("prediction", clean(event.get("prediction")))) for event in evaluations
    ]
    for name, prediction in nodes:
        parents[root(prediction)] = root(name)
    names: dict[tuple[str, str], str] = {}
    for name, _ in nodes:
        names.setdefault(root(name), name[1])
    return tuple(names.values())
