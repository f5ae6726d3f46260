"""Names and types of item tables that the signatures of questions need, without polars, which takes 0.3 s to import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypedDict

RUNS, ATTEMPTS = "runs", "attempts"  # what repeats are: systems trained again, or the same system asked again
# An ItemTable; files and folders of tables and logs, perhaps by the names of their systems; a DataFrame, rows, columns.
ItemSource: TypeAlias = Any


class ItemColumns(TypedDict, total=False):
    """The columns of an item table, where their names do not say it."""

    item: str
    system: str
    score: str
    run: str
    task: str
    cluster: str
    metric_column: str
    ignore: Sequence[str]  # of a table with a column per system: columns that are none
