"""Logs of evaluation harnesses as one item table. What a file is, is told by its content."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from deadheat.errors import InputError
from deadheat.items.logs import helm, inspect_ai, lighteval, lm_eval, mteb, promptfoo, segments, swebench
from deadheat.items.logs.files import LogFile, walk
from deadheat.items.logs.log import Harness, Log
from deadheat.items.logs.merge import merge_logs, refuse_copies, renamed
from deadheat.items.table import ItemTable, join_sources

PathLike: TypeAlias = str | os.PathLike[str]


HARNESSES = (
    *(lm_eval.HARNESS, inspect_ai.HARNESS, helm.HARNESS, lighteval.HARNESS, promptfoo.HARNESS, swebench.HARNESS),
    *segments.HARNESSES,
)
KNOWN = ", ".join(harness.name for harness in HARNESSES)


def is_log(path: PathLike) -> bool:
    """Whether a path is a log of scores of items, or a folder that has one."""
    return any(harness_of(LogFile.open(name)) for name in walk(os.fspath(path)))


def harness_of(file: LogFile) -> Harness | None:
    """The harness that wrote a file; None if it is no log."""
    return next((harness for harness in HARNESSES if file.head and harness.matches(file)), None)


def read_logs(
    paths: PathLike | Sequence[PathLike],
    *,
    systems: Mapping[str, str] | Mapping[os.PathLike[str], str] | None = None,
    partial: bool = False,
) -> ItemTable:
    """Read logs of evaluation harnesses: files, and folders with their subfolders.

    Items are paired by their own identifiers. Several logs of one system and task are repeats, of the same items.

    Parameters
    ----------
    paths
        Files and folders. What is no log in a folder is passed over.
    systems
        The names of systems by path, for those that should not be called as their logs call them. A path here need
        not be in `paths`.
    partial
        Whether to accept logs of runs that did not finish, and repeats of a part of the items.
    """
    names = {os.fspath(path): name for path, name in (systems or {}).items()}
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    every = list(dict.fromkeys([*(os.fspath(path) for path in given), *names]))
    if not every:
        raise InputError("no logs; expected files or folders")
    files: list[tuple[str, LogFile, Harness]] = [entry for path in every for entry in _find(path)]
    _refuse_same(files)
    logs: list[Log] = []
    order = {file.path: number for number, (_, file, _) in enumerate(files)}
    for harness in dict.fromkeys(harness for _, _, harness in files):
        logs += harness.read([file for _, file, wrote in files if wrote is harness], partial=partial)
    logs.sort(key=lambda log: order[log.path])
    owners = {file.path: path for path, file, _ in files}
    for path, name in names.items():
        mine = renamed([log for log in logs if owners[log.path] == path], name, path)
        rest = iter(mine)
        logs = [next(rest) if owners[log.path] == path else log for log in logs]
    refuse_copies(logs, {file.path: os.path.getsize(file.path) for _, file, _ in files})
    return merge_logs(join_sources(every), logs, partial=partial)


def _find(path: str) -> list[tuple[str, LogFile, Harness]]:
    """The logs of a file or folder: the path that was given, the file, and what wrote it."""
    files, aggregates = [], ""
    for name in walk(path):
        file = LogFile.open(name)
        harness = harness_of(file)
        if harness:
            files.append((path, file, harness))
        elif mteb.matches(file):
            aggregates = name
    if len({harness.name for _, _, harness in files}) > 1:  # lines of numbers may be anything
        files = [entry for entry in files if entry[2].name != segments.SACREBLEU]
    if not files and aggregates:
        raise InputError(
            f"{aggregates}: scores of whole tasks (MTEB); expected scores of items (`rank` compares tasks)"
        )
    if not files:
        raise InputError(f"{path}: no log that is known; expected one of {KNOWN}")
    return files


def _refuse_same(files: Sequence[tuple[str, LogFile, Harness]]) -> None:
    """Raise if a file is given twice, by itself or with its folder."""
    seen: dict[str, str] = {}
    for _, file, _ in files:
        first = seen.setdefault(os.path.realpath(file.path), file.path)
        if first is not file.path:  # even where the text is equal
            other = "" if first == file.path else f" and as {first}"
            raise InputError(f"{file.path}: given twice{other}; expected every log once")
