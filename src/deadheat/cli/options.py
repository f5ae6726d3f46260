"""Options that commands share, and how results leave the program."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from deadheat.corpus.reading import FORMATS, LENIENT_MODES
from deadheat.errors import InputError
from deadheat.kernels import native
from deadheat.results.base import Result
from deadheat.screen import visible
from deadheat.study.ledger.ledger import Ledger, LedgerEntry

_LENIENT_HELP = {
    "multiple-roots": "accept sentences with several roots",
    "missing-heads": "accept _ for the heads of a sentence",
    "final-newline": "accept a file that lacks its last empty line",
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose mistakes are wrong input: one line, exit code 2."""

    def __init__(self, command: str, question: str, *, epilog: str = "") -> None:
        super().__init__(
            prog=f"deadheat {command}",
            description=question,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{self.prog}: {message}; see {self.prog} --help")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Every command that prints a result can print it as JSON."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How corpora are read."""
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--format", choices=("auto", *FORMATS), default="auto", help="format of all files (default: by content)"
    )
    group.add_argument("--columns", metavar="NAMES", help="names of the columns of column files, as form,xpos,chunk")
    group.add_argument(
        "--separator", metavar="CHAR", help="column separator (tab, space, ...), or what separates word and tag"
    )
    for mode in LENIENT_MODES:
        group.add_argument(f"--{mode}", action="append_const", dest="lenient", const=mode, help=_LENIENT_HELP[mode])


def reading(arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `deadheat.read` that the options stand for."""
    announce_compiling()
    return {
        "format": arguments.format,
        "columns": arguments.columns.split(",") if arguments.columns else None,
        "separator": arguments.separator,
        "lenient": arguments.lenient or (),
    }


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """Where evaluations of test sets are recorded."""
    group = parser.add_argument_group(
        "ledger", "evaluations of a file named test, or guarded by 'deadheat ledger guard', are recorded"
    )
    add_ledger_file(group)
    group.add_argument("--purpose", default="", metavar="TEXT", help="what this evaluation is for")
    group.add_argument("--over-budget", metavar="REASON", help="evaluate although the budget is spent, and record why")


def add_ledger_file(parser: argparse._ActionsContainer) -> None:
    """The option that `deadheat ledger` and `deadheat report` have, too."""
    parser.add_argument(
        "--ledger", default="", metavar="FILE", help="the ledger (default: $DEADHEAT_LEDGER, else the user's own)"
    )


def ledger_entry(arguments: argparse.Namespace) -> LedgerEntry:
    """What is recorded with an evaluation of a test set."""
    over_budget = arguments.over_budget
    if over_budget is not None and not over_budget.strip():
        raise InputError("--over-budget without a reason; expected why the test set is evaluated once more")
    return LedgerEntry(Ledger.at(arguments.ledger), arguments.purpose, over_budget or "")


def named_files(command: str, arguments: Sequence[str]) -> dict[str, list[str]]:
    """Files by the names given to them as NAME=FILE; a name that is repeated has several runs."""
    files: dict[str, list[str]] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not (name and equals and path):
            raise InputError(f"deadheat {command}: {argument!r}; expected NAME=FILE, such as A={argument}")
        files.setdefault(name, []).append(path)
    return files


def one_file_each(command: str, arguments: Sequence[str]) -> dict[str, str]:
    """Files by the names given to them as NAME=FILE, one per name."""
    files = named_files(command, arguments)
    for name, paths in files.items():
        if len(paths) > 1:
            raise InputError(f"deadheat {command}: two systems are named {name}; expected a name for each")
    return {name: paths[0] for name, paths in files.items()}


def announce_compiling() -> None:
    """Tell a person why a first run takes longer."""
    if sys.stderr.isatty():
        native.announce = lambda message: print(message, file=sys.stderr)


def show(result: Result, *, as_json: bool) -> int:
    """Print a result and its notes; returns the exit code."""
    if as_json:
        print(result.to_json(indent=1))
    else:
        from deadheat.report.terminal import print_result

        print_result(result)
    say(getattr(result, "notes", ()))
    return 0


def print_json(document: dict[str, Any]) -> None:
    """One object that is no result of a question, on standard output."""
    import json

    print(json.dumps(document, ensure_ascii=False, indent=1))


def say(notes: Sequence[str]) -> None:
    """Remarks for a person, away from the results and after them."""
    sys.stdout.flush()
    for note in notes:
        sys.stderr.write(f"note: {visible(note)}\n")  # in one piece: others may write to the same place
