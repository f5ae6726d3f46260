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


def whole_number(text: str) -> int:
    """An argument that is 0 or more."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r}; expected a whole number, 0 or more")
    return int(text)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How corpora are read."""
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--format",
        choices=("auto", *FORMATS),
        default="auto",
        help="format of all files (default: by content)",
    )
    group.add_argument("--columns", metavar="NAMES", help="names of the columns of column files, as form,xpos,chunk")
    group.add_argument(
        "--separator", metavar="CHAR", help="column separator (tab, space, ...), or what separates word and tag"
    )
    for mode in LENIENT_MODES:
        group.add_argument(f"--{mode}", action="append_const", dest="lenient", const=mode, help=_LENIENT_HELP[mode])


_LENIENT_HELP = {
    "multiple-roots": "accept sentences with several roots",
    "missing-heads": "accept _ for the heads of a sentence",
    "final-newline": "accept a file that lacks its last empty line",
}


def reading(arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `deadheat.read` that the options stand for."""
    announce_compiling()
    return {
        "format": arguments.format,
        "columns": arguments.columns.split(",") if arguments.columns else None,
        "separator": arguments.separator,
        "lenient": arguments.lenient or (),
    }


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


def print_json(result: dict[str, Any]) -> None:
    """One object on standard output; what is not a number is null."""
    from deadheat.documents import to_json

    print(to_json(result, indent=1))


def say(notes: Sequence[str]) -> None:
    """Remarks for a person, away from the results and after them."""
    sys.stdout.flush()
    for note in notes:
        sys.stderr.write(f"note: {visible(note)}\n")  # in one piece: others may write to the same place
