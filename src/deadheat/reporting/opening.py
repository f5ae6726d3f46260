"""Tables and logs as what a report shows: comparisons of items, rankings, and reports on tables of scores."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from deadheat.errors import InputError
from deadheat.items.columns import is_battles
from deadheat.items.sources import holds_logs
from deadheat.items.table import ItemTable
from deadheat.questions.compare_items import compare_items
from deadheat.questions.item_means import open_source
from deadheat.questions.rank import rank
from deadheat.questions.rank_battles import rank_battles
from deadheat.questions.table_report import SourceReport, table_report
from deadheat.results.base import Result
from deadheat.study.ledger.ledger import Ledger, LedgerEntry
from deadheat.tables.table import Table

ItemReading: TypeAlias = Mapping[str, Any]  # options of `open_items`


def has_scores(path: Path, start: bytes) -> bool:
    """Whether a file is a log of an evaluation, or an array of rows."""
    return start.lstrip().startswith(b"[") or holds_logs(os.fspath(path))


def refuse_columns(path: Path, reading: ItemReading) -> None:
    """Refuse columns of items where there are none."""
    given = next((name.replace("_", "-") for name, value in reading.items() if value), None)
    if given:
        raise InputError(f"{path}: --{given} for what has no scores of items; expected none")


def open_table(
    source: Any, path: Path, ledger: Ledger | None, metric: str, reading: ItemReading
) -> SourceReport | Result:
    """The comparison of scores of items, the ranking of battles or of scores of tasks, or a report on a table."""
    opened = open_source(source, **reading)
    if isinstance(opened, ItemTable):
        entry = None if ledger is None else LedgerEntry(ledger, "report")
        return compare_items(opened, metric=metric, ledger_entry=entry)
    refuse_columns(path, reading)
    if not isinstance(opened, Table):
        return rank(opened, metric=metric)
    return rank_battles(opened) if is_battles(opened) else table_report(opened, name=path.stem, metric=metric)
