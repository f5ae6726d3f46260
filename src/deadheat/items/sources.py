"""Whatever scores of items come in, as one item table: files of tables, logs of evaluations, DataFrames."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, Unpack

from deadheat.errors import InputError
from deadheat.items.columns import ItemColumns, find_items
from deadheat.items.table import ItemTable
from deadheat.tables.frames import is_frame
from deadheat.tables.table import Table, read_table

ItemSource: TypeAlias = ItemTable | str | os.PathLike[str] | Sequence[Any] | Mapping[str, Any] | Any


def open_items(source: ItemSource, **columns: Unpack[ItemColumns]) -> ItemTable:
    """An item table as it is, from a DataFrame or rows, or from files and folders."""
    if isinstance(source, ItemTable):
        return source
    if isinstance(source, list) and len(source) == 1 and isinstance(source[0], str):
        source = source[0]
    if isinstance(source, str | os.PathLike | Table) or is_frame(source):
        return find_items(read_table(source), columns)
    raise InputError(f"{type(source).__name__}; expected a DataFrame, rows of a table, or files")
