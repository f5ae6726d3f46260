"""Predictions about single items, scored: labels in tables, and answers to questions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Unpack

from deadheat.errors import InputError
from deadheat.items.detection import is_squad
from deadheat.items.labels import LabelColumns, Source, read_labels
from deadheat.items.squad import read_squad
from deadheat.items.table import ItemTable


def open_predictions(
    gold: Source | None, systems: Mapping[str, Source | Sequence[Source]], **columns: Unpack[LabelColumns]
) -> ItemTable:
    """The scores of all items; without a source of gold it is in those of the systems."""
    if not is_squad(gold):
        return read_labels(gold, systems, **columns)
    flags = {"item": "item", "cluster": "cluster", "gold_column": "gold", "predicted": "predicted"}
    given = next((flag for name, flag in flags.items() if columns.get(name)), None)
    if given:
        raise InputError(f"{os.fspath(gold)}: --{given} with a SQuAD file; expected none")  # type: ignore[arg-type]
    lists = {name: list(runs) if isinstance(runs, list | tuple) else [runs] for name, runs in systems.items()}
    return read_squad(os.fspath(gold), lists)  # type: ignore[arg-type]
