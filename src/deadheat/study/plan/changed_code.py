"""Cells that are new because a user's code has changed since they were run."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from deadheat.registry import code_of, digest_of, with_digest
from deadheat.splits import STRATEGIES
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.plan import Plan
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
    """The code of missing cells of which the store has results of an earlier state; of several states, the largest."""
    missing = [cell for cell in missing if code_of(cell.system) or code_of(cell.split)]
    if not missing:
        return []
    done, states = store.done(), _states(store)
    missing = [cell for cell in missing if cell.key not in done]  # the others lack scores only
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    examples: dict[tuple[str, str], str] = {}
    for cell in missing:
        for earlier in _earlier(cell, states):
            if earlier.key in done:
                for now, before in ((cell.system, earlier.system), (cell.split, earlier.split)):
                    if now != before:
                        counts[code_of(now)][digest_of(before)] += 1
                        examples.setdefault((code_of(now), digest_of(before)), earlier.key)
    changes = []
    for name, states_of_code in counts.items():
        before, cells = max(states_of_code.items(), key=lambda item: item[1])
        files = _changed_files(plan, name, store.provenance(examples[name, before]))
        changes.append(ChangedCode(name, before, cells, files))
    return changes


def kept_code(changes: Iterable[ChangedCode]) -> dict[str, str]:
    """What a plan needs to count the cells of earlier code as those of the code of now."""
    return {change.name: change.before for change in changes}


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
