"""Logs of several systems and tasks as one item table."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from deadheat.errors import InputError
from deadheat.items.logs.log import CLUSTER, HASH, Log, grouping_fields, listed
from deadheat.items.table import SCHEMA, ItemMetric, ItemTable
from deadheat.text import join_names, pluralize

MOST_FIELDS = 12
SHOWN_LOGS = 4  # of those that are repeats


def merge_logs(source: str, logs: Sequence[Log], *, partial: bool = False) -> ItemTable:
    """One table of the scores of all logs; `partial` accepts repeats of a part of the items."""
    named = _qualified(logs)
    original = {log.task: before.task for before, log in zip(logs, named, strict=True)}
    logs = named
    by_task: dict[str, list[Log]] = defaultdict(list)
    for log in logs:
        by_task[log.task].append(log)
    numbered, known, hashes, notes = [], [], list[pl.DataFrame](), [note for log in logs for note in log.notes]
    tasks_with: Counter[str] = Counter()
    declared = list(dict.fromkeys(log.cluster for log in logs if log.cluster))
    for task, members in by_task.items():
        repeated, more = _numbered(task, members, partial=partial)
        numbered += repeated
        notes += more
        items = _items(task, members)
        if any(log.cluster for log in members):
            cluster = pl.col(CLUSTER) if CLUSTER in items.columns else pl.lit(None, pl.String)
        else:  # where other tasks declare clusters, every item of this one is a cluster of its own
            cluster = pl.col("item") if declared else pl.lit(None, pl.String)
        names = [name for name in grouping_fields(items) if name not in declared]
        tasks_with.update(names)
        hashes.append(_hashes(task, original[task], items, members))
        known.append(items.select(pl.lit(task).alias("task"), "item", cluster.alias(CLUSTER), *names))
    fields = [name for name, _ in tasks_with.most_common(MOST_FIELDS)]
    if len(tasks_with) > MOST_FIELDS:
        notes.append(f"{MOST_FIELDS} of {len(tasks_with)} fields may be units of items: those of most tasks")
    keys = ["task", "item", CLUSTER]
    parts = [part.select(name for name in part.columns if name in {*keys, *fields}) for part in known]
    described = pl.concat(parts, how="diagonal")
    frame = _rows(numbered).join(described, on=["task", "item"], how="left", maintain_order="left")
    columns = [*SCHEMA, *fields, *(["counts"] if "counts" in frame.columns else [])]
    return ItemTable(
        source,
        frame.select(columns),
        metrics=_metrics(logs),
        cluster=declared[0] if len(declared) == 1 else "cluster" if declared else "",
        fields=tuple(fields),
        notes=tuple(dict.fromkeys(notes)),
        hashes=pl.concat(hashes),
    )


def _hashes(task: str, name: str, items: pl.DataFrame, logs: Sequence[Log]) -> pl.DataFrame:
    """The hash of the content of every item of a task that has one."""
    parts = [log.items.select("item", HASH).drop_nulls() for log in logs if HASH in log.items.columns]
    known = pl.concat(parts).unique("item") if parts else pl.DataFrame(schema={"item": pl.String, HASH: pl.String})
    joined = items.select("item").join(known, on="item", how="left")
    return joined.select(pl.lit(task).alias("task"), "item", pl.lit(name).alias("name"), HASH)


def _qualified(logs: Sequence[Log]) -> list[Log]:
    """Tasks of the same name in different harnesses are different tasks."""
    harnesses: dict[str, set[str]] = defaultdict(set)
    for log in logs:
        harnesses[log.task].add(log.harness)
    return [
        replace(log, task=f"{log.task} ({log.harness})".strip()) if len(harnesses[log.task]) > 1 else log
        for log in logs
    ]


def _rows(logs: Sequence[Log]) -> pl.DataFrame:
    """The scores of all logs with their tasks and systems."""
    rows = np.repeat(np.arange(len(logs)), [len(log.scores) for log in logs])
    tasks = pl.Series("task", [log.task for log in logs]).gather(rows)
    systems = pl.Series("system", [log.system for log in logs]).gather(rows)
    return pl.concat([log.scores for log in logs], how="diagonal").with_columns(tasks, systems)


def _numbered(task: str, logs: Sequence[Log], *, partial: bool) -> tuple[list[Log], list[str]]:
    """The logs of one task, in which a further log of the same system and metrics has further repeats; and notes."""
    by_system: dict[str, list[Log]] = defaultdict(list)
    numbered = []
    several: dict[str, list[str]] = {}
    for log in logs:
        before = [other for other in by_system[log.system] if other.metrics.keys() & log.metrics.keys()]
        if before:
            if not partial:
                _refuse_other_items(before[0], log)
            several.setdefault(log.system, [before[0].path]).append(log.path)
            last = max(int(label) for other in before for label in other.scores["repeat"].unique())
            labels = log.scores["repeat"].unique(maintain_order=True)
            further = [str(last + number) for number in range(1, len(labels) + 1)]
            repeat = pl.col("repeat").replace_strict(labels, further, return_dtype=pl.String)
            log = replace(log, scores=log.scores.with_columns(repeat))
        by_system[log.system].append(log)
        numbered.append(log)
    what = f"of {task} " if task else ""
    notes = [
        f"{len(paths):,} logs {what}by {system} are repeats: {_told_apart(paths)}" for system, paths in several.items()
    ]
    return numbered, notes


def _refuse_other_items(first: Log, log: Log) -> None:
    """Raise if two logs of a system on a task are not of the same items, so that one is a part, or another test set."""
    here, there = (set(one.items["item"]) for one in (log, first))
    if here != there:
        what = " ".join(filter(None, [log.task and f"of {log.task}", f"by {log.system}"]))
        both = f" ({len(here & there):,} in both)" if len(here) == len(there) else ""
        problem = f"{pluralize(len(here), 'item')} {what}, and {len(there):,} in {first.path}{both}"
        expected = "the same items in both: name one of the files, or pass --partial"
        raise InputError(f"{log.path}: {problem}; expected {expected}")


def _told_apart(paths: Sequence[str]) -> str:
    """The folders of files, or the files where folders have several, without what all paths begin with."""
    folders = [os.path.dirname(path) or os.curdir for path in paths]
    names = folders if len(set(folders)) == len(paths) else paths
    start = os.path.commonpath([os.path.dirname(os.path.abspath(name)) for name in names])
    return join_names((os.path.relpath(name, start) for name in names), SHOWN_LOGS)


def _items(task: str, logs: Sequence[Log]) -> pl.DataFrame:
    """What the logs of a task know about its items, which must have the same content in all of them."""
    items = pl.concat([log.items for log in logs], how="diagonal")
    if HASH in items.columns:
        contents = items.select("item", HASH).drop_nulls().unique(maintain_order=True)
        differing = contents.filter(pl.col("item").is_duplicated())["item"].unique(maintain_order=True)
        if len(differing):
            raise InputError(_contents_differ(task, logs, differing[0], len(differing)))
    if any(log.is_ordered for log in logs):
        sizes = {log.path: len(log.items) for log in logs}
        if len(set(sizes.values())) > 1:
            least, most = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
            problem = f"{pluralize(sizes[least], 'segment')}, and {sizes[most]:,} in {most}"
            raise InputError(f"{least}: {problem}; expected scores of the same segments")
    others = [name for name in items.columns if name not in ("item", HASH)]
    return items.group_by("item", maintain_order=True).agg(pl.col(others).drop_nulls().first())


def _contents_differ(task: str, logs: Sequence[Log], item: str, number: int) -> str:
    hashes: dict[str, str] = {}
    for log in logs:
        if HASH in log.items.columns:
            for value in log.items.filter(pl.col("item") == item)[HASH].drop_nulls():
                hashes.setdefault(value, log.path)
    first, second, *_ = [*hashes.values(), ""]
    more = f", the first of {number:,} such items" if number > 1 else ""
    where = f"item {item} of {task}" if task else f"item {item}"
    return f"{second or first}: {where} is another one than in {first}{more}; expected the same items"


def _metrics(logs: Sequence[Log]) -> dict[str, ItemMetric]:
    metrics: dict[str, tuple[ItemMetric, str]] = {}
    for log in logs:
        for name, metric in log.metrics.items():
            known, path = metrics.setdefault(name, (metric, log.path))
            if known != metric:
                problem = f"{name} is another metric than in {path} (direction or aggregation)"
                raise InputError(f"{log.path}: {problem}; expected logs that agree, or to be compared by themselves")
    return {name: metric for name, (metric, _) in metrics.items()}


def renamed(logs: Sequence[Log], name: str, path: str) -> list[Log]:
    """Logs of one system under the name that is given for their path."""
    systems = list(dict.fromkeys(log.system for log in logs))
    if len(systems) > 1:
        raise InputError(f"{path}: logs of {listed(systems)}; expected one system, or no name for it ({name})")
    return [replace(log, system=name) for log in logs]


def refuse_copies(logs: Sequence[Log], sizes: Mapping[str, int]) -> None:
    """Raise if two logs of a system on a task are the same run."""
    runs: dict[tuple[object, ...], list[Log]] = defaultdict(list)
    for log in logs:
        for key in _identities(log, sizes):
            for first in runs[key]:
                if key[0] == "run" or _equal_files(first.path, log.path):
                    raise InputError(f"{log.path}: the same log as {first.path}; expected every log once")
            runs[key].append(log)


def _identities(log: Log, sizes: Mapping[str, int]) -> Iterator[tuple[object, ...]]:
    if log.identity:
        yield "run", log.identity, log.task, log.system
    yield "file", sizes.get(log.path), log.task, log.system, frozenset(log.metrics)


def _equal_files(first: str, second: str) -> bool:
    import filecmp

    return filecmp.cmp(first, second, shallow=False)
