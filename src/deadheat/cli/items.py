"""Options of all commands that take scores of items: what the columns of a table are, and which logs are accepted."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from deadheat.arguments import add_arguments, arguments_of
from deadheat.cli.options import LEDGER_OPTIONS
from deadheat.errors import InputError
from deadheat.items.options import ItemColumns

if TYPE_CHECKING:
    from deadheat.questions.inputs import CorpusSource


def add_item_options(parser: argparse.ArgumentParser) -> None:
    """The same options in every command; those that a command has anyway are not offered twice."""
    from deadheat.questions.inputs import item_columns

    taken = {action.dest for action in parser._actions}
    group = parser.add_argument_group("scores of items", "tables with a row per item, and logs of evaluations")
    add_arguments(group, item_columns, skip=["task"] if "dataset" in taken else [])
    if "partial" not in taken:
        partial = "accept logs of runs that did not finish, and repeats with only some of the items"
        group.add_argument("--partial", action="store_true", help=partial)


def item_options() -> list[str]:
    """The names of these options, and those of the ledger, which knows items."""
    from deadheat.questions.inputs import item_columns

    return [*arguments_of(item_columns), "partial", *LEDGER_OPTIONS]


def item_reading(arguments: argparse.Namespace) -> dict[str, Any]:
    """How to read scores of items, as the command line says."""
    from deadheat.questions.inputs import item_columns

    given = {name: getattr(arguments, name, "") for name in arguments_of(item_columns)}
    given["task"] = given["task"] or getattr(arguments, "dataset", "")
    given["ignore"] = tuple(given["ignore"])
    return {**item_columns(**given), "partial": arguments.partial}


def open_unnamed(command: str, arguments: argparse.Namespace, files: Sequence[str]) -> Any:
    """Tables or logs without names of systems; what is something else is refused."""
    from deadheat.items.columns import has_items, is_battles
    from deadheat.items.detection import has_labels, is_table
    from deadheat.items.sources import holds_logs
    from deadheat.tables.table import read_table

    first, columns = files[0], cast(ItemColumns, item_reading(arguments))
    is_file = os.path.isfile(first) and not columns.get("item")
    if is_file and (has_labels(first) or not (is_table(first) or holds_logs(first))):
        problem, expected = f"{first} alone", "GOLD NAME=PRED NAME=PRED ..."
        if len(files) > 1:
            problem, expected = f"{files[-1]!r}", f"NAME=FILE, such as A={files[1]}"
        raise InputError(f"deadheat {command}: {problem}; expected {expected}, or scores of items")
    if len(files) > 1 or holds_logs(first):
        return files
    table = read_table(first)
    if not has_items(table, columns) and not is_battles(table):
        listed = ", ".join(table.frame.columns)
        other = f", or --scores {first} for scores of whole data sets" if command == "compare" else ""
        raise InputError(f"{first}: no column of items among {listed}; expected --item to name it{other}")
    return table


def item_source(command: str, arguments: argparse.Namespace, files: Sequence[str]) -> Any:
    """What a command on files has of items: tables and logs, or labels as a table of items; None for corpora."""
    from deadheat.items.predictions import open_predictions
    from deadheat.questions.designs import is_about_items, is_pattern, named_runs

    first = files[0]
    if "=" in first and not os.path.exists(first):
        return {name: runs[0] if len(runs) == 1 else runs for name, runs in named_files(command, files).items()}
    if is_pattern(first):
        return None
    if not any("=" in file for file in files[1:]):
        return open_unnamed(command, arguments, files)
    predictions = named_runs(first, files[1:])
    if not (arguments.item or arguments.cluster or is_about_items(predictions)):
        return None
    systems = named_systems(command, first, files[1:])
    columns = {name: value for name in ("item", "cluster") if (value := getattr(arguments, name))}
    return open_predictions(first, systems, **columns)


def named_files(command: str, arguments: Sequence[str]) -> dict[str, list[str]]:
    """Files by the names given to them as NAME=FILE; a name that is repeated, or a pattern, has several runs."""
    from deadheat.questions.designs import files_matching

    files: dict[str, list[str]] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not (name and equals and path):
            raise InputError(f"deadheat {command}: {argument!r}; expected NAME=FILE, such as A={argument}")
        files.setdefault(name, []).extend(files_matching(path, problem=f"{argument}: no file matches"))
    return files


def named_systems(command: str, gold: str, arguments: Sequence[str]) -> dict[str, list[CorpusSource]]:
    """The predictions of one data set by the names given to them as NAME=FILE, also of patterns and folders."""
    from deadheat.questions.designs import named_runs

    systems: dict[str, list[CorpusSource]] = {}
    try:
        for prediction in named_runs(gold, arguments):
            systems.setdefault(prediction.system, []).append(prediction.predicted)
    except InputError as error:
        raise InputError(f"deadheat {command}: {error}") from None
    return systems
