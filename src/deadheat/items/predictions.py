"""Predictions about single items, scored: labels in tables, answers to questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from deadheat.items.labels import LabelColumns, Source, read_labels
from deadheat.items.table import ItemTable


def open_predictions(
    gold: Source | None, systems: Mapping[str, Source | Sequence[Source]], **columns: Unpack[LabelColumns]
) -> ItemTable:
    """The scores of all items; without a source of gold it is in those of the systems."""
    return read_labels(gold, systems, **columns)
