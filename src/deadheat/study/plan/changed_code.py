"""Cells that are new because a user's code has changed since they were run."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from deadheat.registry import code_of, digest_of, with_digest
from deadheat.splits import STRATEGIES
from deadheat.study.plan.cells import DONE, Cell
from deadheat.study.plan.plan import KeptRuns, Plan
from deadheat.study.store.store import Store
from deadheat.systems import SYSTEMS
from deadheat.text import pluralize
from deadheat.user_code import hash_file

MAX_FILES = 3  # that a message names


@dataclass(frozen=True, slots=True)
class ChangedCode:
    """Code that has changed, and how many cells of its earlier state are in the store."""

    name: str  # with the hash of now: mine.py:tagger@3fa94c21
    before: str  # the hash of the earlier code
    cells: int
    files: tuple[str, ...]  # that have changed

    def __str__(self) -> str:
        return f"{self._cells} new because {self._files} changed"

    @property
    def kept(self) -> str:
        """What is said where the cells of the earlier code are kept."""
        return f"{self._cells} kept although {self._files} changed"

    @property
    def _cells(self) -> str:
        return f"{pluralize(self.cells, 'cell')} {'is' if self.cells == 1 else 'are'}"

    @property
    def _files(self) -> str:
        files = ", ".join(self.files[:MAX_FILES]) or self.name.partition("@")[0]
        return files + (f" and {pluralize(more, 'more file')}" if (more := len(self.files) - MAX_FILES) > 0 else "")


def changed_code(plan: Plan, store: Store, missing: Iterable[Cell]) -> list[ChangedCode]:
    """The code of missing cells of which the store has results of an earlier state; of several states, the latest."""
    missing = [cell for cell in missing if code_of(cell.system) or code_of(cell.split)]
    if not missing:
        return []
    states = _states(store)
    order = {key: number for number, key in enumerate(store.runs().filter(status=DONE)["key"])}
    missing = [cell for cell in missing if cell.key not in order]  # others only lack scores
    earlier: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))  # keys, by name and hash
    for cell in missing:
        for before in _earlier(cell, states):
            if before.key in order:
                for now, then in ((cell.system, before.system), (cell.split, before.split)):
                    if now != then:
                        earlier[code_of(now)][digest_of(then)].append(before.key)
    changes = []
    for name, keys_of in earlier.items():
        latest = {digest: max(keys, key=order.__getitem__) for digest, keys in keys_of.items()}
        digest = max(latest, key=lambda state: order[latest[state]])
        files = _changed_files(plan, name, store.provenance(latest[digest]))
        changes.append(ChangedCode(name, digest, len(keys_of[digest]), files))
    return changes


def keep_code(plan: Plan, store: Store, changes: Iterable[ChangedCode]) -> Plan:
    """The plan that counts the cells of earlier code as those of the code of now."""
    kept = {change.name: change.before for change in changes}
    recorded = [name for made_with in store.provenances()[::-1] for name in made_with.get("kept", ())]
    codes = dict.fromkeys(digest_of(str(name)) for name in recorded)
    return plan.keeping(kept, KeptRuns(frozenset(store.done()), tuple(codes)))


def code_hashes(plan: Plan) -> dict[str, str]:
    """The hash of every file of users' code, by its path from the folder of the study."""
    return {relative_path(plan, file): hash_file(file) for file in plan.code_files}


def relative_path(plan: Plan, file: Path) -> str:
    """The path of a file of code as messages name it: inside the folder of the study without that."""
    path, folder = os.path.abspath(file), os.path.abspath(plan.path.parent)
    return os.path.relpath(path, folder) if path.startswith(folder + os.sep) else path


def _states(store: Store) -> dict[str, set[str]]:
    """The hashes of code in the store, by the names that they belong to."""
    runs = store.runs().select("system", "split").unique()
    states: dict[str, set[str]] = defaultdict(set)
    for name in {name for row in runs.iter_rows() for name in row}:
        states[with_digest(name, "")].add(digest_of(name))
    return states


def _earlier(cell: Cell, states: Mapping[str, set[str]]) -> Iterator[Cell]:
    """The cell as it would be with the code of earlier states."""
    for system in states[with_digest(cell.system, "")] | {digest_of(cell.system)}:
        for split in states[with_digest(cell.split, "")] | {digest_of(cell.split)}:
            if (system, split) != (digest_of(cell.system), digest_of(cell.split)):
                yield replace(cell, system=with_digest(cell.system, system), split=with_digest(cell.split, split))


def _changed_files(plan: Plan, name: str, made_with: Mapping[str, object]) -> tuple[str, ...]:
    """The files of some code whose hash is not in the provenance of its earlier state; all if that has none."""
    before = made_with.get("code")
    recorded = before if isinstance(before, dict) else {}
    files = SYSTEMS.files_of(name) or STRATEGIES.files_of(name) or plan.files_of_command(name)
    return tuple(path for file in files if recorded.get(path := relative_path(plan, file)) != hash_file(file))
