"""Which tasks systems have in common: two systems are compared on those, and not on fewer than half of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import combinations

from deadheat.errors import InputError
from deadheat.questions.joint import CountedDataset
from deadheat.results.compare import LEAST_SHARED
from deadheat.text import join_names, pluralize

SHOWN = 5  # names in a message


def check_shared_tasks(source: str, datasets: Sequence[CountedDataset]) -> list[str]:
    """Notes on tasks that some systems lack; systems that cannot be compared at all are refused."""
    systems = list(dict.fromkeys(system for dataset in datasets for system in dataset.counts))
    tasks = {name: {dataset.name for dataset in datasets if name in dataset.counts} for name in systems}
    pairs = list(combinations(systems, 2))
    enough = [pair for pair in pairs if _share(tasks, pair) >= LEAST_SHARED]
    if pairs and not enough:
        a, b = max(pairs, key=lambda pair: _share(tasks, pair))
        raise InputError(f"{source}: {_problem(datasets, tasks, a, b)}; expected scores on at least half of all tasks")
    notes = []
    for system in systems:
        missing = [dataset.name for dataset in datasets if dataset.name not in tasks[system]]
        if missing:
            notes.append(f"{system} has no scores on {join_names(missing, SHOWN)}")
    few = [pair for pair in pairs if pair not in enough]
    for a, b in few[:SHOWN]:
        shared, union = tasks[a] & tasks[b], tasks[a] | tasks[b]
        notes.append(f"{a} and {b} share {pluralize(len(shared), 'task')} of {len(union):,}")
    if len(few) > SHOWN:
        notes.append(f"{pluralize(len(few) - SHOWN, 'more pair')} of systems that share fewer than half of their tasks")
    return notes


def _share(tasks: Mapping[str, Set[str]], pair: tuple[str, str]) -> float:
    first, second = (tasks[name] for name in pair)
    return len(first & second) / len(first | second)


def _problem(datasets: Sequence[CountedDataset], tasks: Mapping[str, Set[str]], a: str, b: str) -> str:
    shared = tasks[a] & tasks[b]
    only = " and " if shared else ", "
    alone = only.join(
        f"{join_names(names, SHOWN)} of {name}{' only' * bool(shared)}"
        for name, other in ((a, b), (b, a))
        if (names := [item.name for item in datasets if item.name in tasks[name] - tasks[other]])
    )
    if not shared:
        return f"no task with scores of both {a} and {b} ({alone})"
    have = "tasks has" if len(shared) == 1 else "tasks have"
    return f"{len(shared):,} of {len(tasks[a] | tasks[b]):,} {have} scores of both {a} and {b} ({alone})"
