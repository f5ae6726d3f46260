"""Run reports of SWE-bench: `<model>.<run>.json`, with the identifiers of instances by what became of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from deadheat.compression import without_suffix
from deadheat.errors import InputError
from deadheat.items.logs.decoding import decode, shorten
from deadheat.items.logs.files import LogFile
from deadheat.items.logs.log import Harness, Log, log_of

NAME = "SWE-bench"
METRIC, REPOSITORY = "resolved", "repo"


class _Report(msgspec.Struct):
    resolved_ids: list[str]
    total_instances: int = 0
    submitted_ids: list[str] = []
    completed_ids: list[str] = []
    unresolved_ids: list[str] = []
    incomplete_ids: list[str] = []
    empty_patch_ids: list[str] = []
    error_ids: list[str] = []

    @property
    def all_ids(self) -> list[str]:
        parts = (self.submitted_ids, self.completed_ids, self.resolved_ids, self.unresolved_ids)
        failed = (self.incomplete_ids, self.empty_patch_ids, self.error_ids)
        return sorted({name for part in (*parts, *failed) for name in part})


def matches(file: LogFile) -> bool:
    """Whether a file is a run report."""
    return {"total_instances", "resolved_instances"} <= file.keys[1]


def read(files: Sequence[LogFile], *, partial: bool) -> Iterator[Log]:
    """One log per file: what is not resolved has failed, whatever the reason."""
    for file in files:
        report = decode(file.read(), _Report, file.path)
        names = report.all_ids
        if len(names) < report.total_instances:
            problem = f"{len(names):,} of {report.total_instances:,} instances are named"
            raise InputError(f"{file.path}: {problem}; expected all of them")
        resolved = set(report.resolved_ids)
        rows = [(shorten(name), "1", {METRIC: name in resolved}) for name in names]
        repositories = [shorten(name.rpartition("-")[0].replace("__", "/") or name) for name in names]
        stem = without_suffix(file.name).removesuffix(".json")
        system = stem.rpartition(".")[0] or stem
        yield log_of(file.path, NAME, NAME, system, rows, {REPOSITORY: repositories})


HARNESS = Harness(NAME, matches, read)
