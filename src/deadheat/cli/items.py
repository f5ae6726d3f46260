"""Options of all commands that take scores of items: which columns of a table mean what, and which logs are accepted."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

from deadheat.arguments import add_arguments, arguments_of
from deadheat.errors import InputError


def add_item_options(parser: argparse.ArgumentParser) -> None:
    """The same options in every command; those that a command has anyway are not offered twice."""
    from deadheat.questions.inputs import item_columns

    taken = {action.dest for action in parser._actions}
    group = parser.add_argument_group("scores of items", "tables with a row per item, and logs of evaluations")
    add_arguments(group, item_columns, skip=["task"] if "dataset" in taken else [])
    if "partial" not in taken:
        group.add_argument("--partial", action="store_true", help="accept logs of runs that did not finish")


def item_options() -> list[str]:
    """The names of these options."""
    from deadheat.questions.inputs import item_columns

    return [*arguments_of(item_columns), "partial"]


def item_reading(arguments: argparse.Namespace) -> dict[str, Any]:
    """How to read scores of items, as the command line says."""
    from deadheat.questions.inputs import item_columns

    given = {name: getattr(arguments, name, "") for name in arguments_of(item_columns)}
    given["task"] = given["task"] or getattr(arguments, "dataset", "")
    given["ignore"] = tuple(given["ignore"])
    return {**item_columns(**given), "partial": arguments.partial}


def open_unnamed(arguments: argparse.Namespace, files: Sequence[str]) -> Any:
    """Tables or logs without names of systems, to be compared; what is something else is refused."""
    from deadheat.items.columns import has_items, is_battles
    from deadheat.items.detection import is_item_source, is_table
    from deadheat.items.sources import holds_logs
    from deadheat.tables.table import read_table

    first, reading = files[0], item_reading(arguments)
    is_labelled = len(files) > 1 and os.path.isfile(first) and is_item_source(first)
    if not reading.get("item") and os.path.isfile(first) and (is_labelled or not (is_table(first) or holds_logs(first))):
        example = f", such as A={files[1]}" if len(files) > 1 else " for every system"
        raise InputError(f"deadheat compare: {files[-1]!r}; expected NAME=FILE{example}, or scores of items")
    if len(files) > 1 or holds_logs(first):
        return files
    table = read_table(first)
    if not has_items(table, reading) and not is_battles(table):
        listed = ", ".join(table.frame.columns)
        expected = f"expected --item to name it, or --scores {first} for scores of whole data sets"
        raise InputError(f"{first}: no column of items among {listed}; {expected}")
    return table
