"""Options that commands share, and how results leave the program."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn, Self

from deadheat.arguments import add_arguments, arguments_of
from deadheat.cli.main import COMMANDS, discard_output
from deadheat.corpus.formats import REMEDIES
from deadheat.corpus.readers import FORMATS
from deadheat.errors import InputError, nearest
from deadheat.files import OPTION, VARIABLE
from deadheat.kernels import native
from deadheat.results.base import Result
from deadheat.screen import encodable, encoding, is_terminal, message, visible
from deadheat.study.ledger.ledger import Ledger, LedgerEntry
from deadheat.text import capitalize, parse_size

# Options of commands with several kinds of sources that do not depend on the question.
GENERAL_OPTIONS = (
    "help", "max_size", "gold", "systems", "sets", "scores", "fail_if_worse", "markdown", "json", "accuracies",
    "agreement", "design_effect", "run_sd", "full",
)  # fmt: skip
LEDGER_OPTIONS = ("ledger", "purpose", "over_budget")  # of evaluations of test sets
READING_OPTIONS = ("format", "columns", "separator", "lenient")  # of corpora
JSON = "print the result as JSON"
COMPILING = "compiling kernels, once on this machine, 5 to 20 s"
LEDGER = "ledger.jsonl"  # the name of one beside a store
FULL = "print all tables, also where there are many"
MOST_LINES = 40  # of a result that is printed without --full
WITHOUT_FILES = ("demo", "metrics", "testbed", "init", "completion")  # commands that read no files of others


class Parser(argparse.ArgumentParser):
    """An argument parser whose mistakes are wrong input: one line, exit code 2."""

    def __init__(self, command: str, description: str = "", *, epilog: str = "") -> None:
        super().__init__(
            prog=f"deadheat {command}",
            description=description or f"{capitalize(COMMANDS[command])}?",
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

        if command not in WITHOUT_FILES:
            self.add_argument_group("limits").add_argument(
                OPTION,
                type=_size,
                metavar="SIZE",
                help="most bytes that a compressed file or a pipe may hold, such as 8G (default: 2G, and for "
                "compressed files 250 times their size)",
            )

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        return self.parse_intermixed_args(args, namespace)  # files may follow options that follow files

    def print_help(self, file: Any = None) -> None:
        print(self.format_help(), end="", file=file)  # argparse ignores a full disk

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        sys.stdout.flush()  # here an error is still reported
        super().exit(status, message)

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{self.prog}: {message}{self._suggestion(message)}; see {self.prog} --help")

    def _suggestion(self, message: str) -> str:
        """The option that was probably meant by the first one that does not exist, if any is close."""
        _, is_unknown, words = message.partition("unrecognized arguments: ")
        option = words.split(" ")[0].partition("=")[0]
        if not is_unknown or not option.startswith("--"):
            return ""
        suggestion = nearest(option, [name for name in self._option_string_actions if name.startswith("--")])
        return f"; {suggestion}" if suggestion.startswith("did you mean") else ""

    def add_options(
        self, *functions: Callable[..., Any], json: str = "", ledger: bool = False, reading: bool = False
    ) -> Self:
        """Add the declared arguments of functions, `--json`, and the options of the ledger and of reading corpora."""
        for function in functions:
            add_arguments(self, function)
        if json:
            self.add_argument("--json", action="store_true", help=json)
        if ledger:
            group = self.add_argument_group(
                "ledger", "evaluations are recorded if a file is named test or guarded ('deadheat ledger guard')"
            )
            add_ledger_file(group)
            group.add_argument("--purpose", default="", metavar="TEXT", help="what this evaluation is for")
            group.add_argument(
                "--over-budget", metavar="REASON", help="evaluate although the budget is used up, and record why"
            )
        if reading:
            self._add_reading()
        return self

    def _add_reading(self) -> None:
        group = self.add_argument_group("reading")
        group.add_argument(
            "--format",
            default="auto",
            metavar="NAME",
            help=f"format of all files: {', '.join(FORMATS)}, or a reader such as mine.py:reader (default: detected)",
        )
        group.add_argument("--columns", metavar="NAMES", help="column names of column files, such as form,xpos,chunk")
        group.add_argument(
            "--separator", metavar="CHAR", help="column separator (tab, space, ...), or separator of word and tag"
        )
        for mode in REMEDIES:
            group.add_argument(
                f"--{mode}",
                action="append_const",
                dest="lenient",
                const=mode,
                help=REMEDIES[mode].effect.replace("accepts", "accept"),
            )


def _size(text: str) -> str:
    """Set the limit for this process and those it starts."""
    if parse_size(text) is None:
        raise argparse.ArgumentTypeError(f"{text!r}; expected a size such as 8G")
    os.environ[VARIABLE] = text
    return text


def reading(arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `deadheat.read`."""
    announce_compiling()
    return {
        "format": arguments.format,
        "columns": arguments.columns.split(",") if arguments.columns else None,
        "separator": arguments.separator,
        "lenient": arguments.lenient or (),
    }


def add_ledger_file(parser: argparse._ActionsContainer) -> None:
    """The option that `deadheat ledger` and `deadheat report` have, too."""
    parser.add_argument(
        "--ledger", default="", metavar="FILE", help="the ledger (default: $DEADHEAT_LEDGER, or else that of the user)"
    )


def ledger_beside(sources: Sequence[str]) -> str:
    """The ledger in the folder of a source, as the demo has one; empty if there is none."""
    ledgers = [path for source in sources if (path := Path(source).parent / LEDGER).is_file()]
    return str(ledgers[0]) if ledgers else ""


def ledger_entry(arguments: argparse.Namespace) -> LedgerEntry:
    """How to record evaluations of test sets."""
    over_budget = arguments.over_budget
    if over_budget is not None and not over_budget.strip():
        raise InputError("--over-budget without a reason; expected why the test set is evaluated once more")
    return LedgerEntry(Ledger.at(arguments.ledger), arguments.purpose, over_budget or "")


def announce_compiling(*, quiet: bool = False) -> None:
    """Say why a first run takes longer: once, and on a terminal which kernel it is, in a line that disappears."""
    if quiet:
        return
    process, is_drawn, is_said = os.getpid(), is_terminal(sys.stderr), False

    def announce(name: str, problem: str) -> None:
        nonlocal is_said
        if is_drawn:
            text = f"{COMPILING}: {name} ... " if name else ""
            sys.stderr.write(f"\r\x1b[K{text}")
        if name and not is_said and (problem or not is_drawn) and os.getpid() == process:
            sys.stderr.write(f"{COMPILING}{f' ({message(problem)})' * bool(problem)}\n")
            is_said = True
        sys.stderr.flush()

    native.announce = announce


def report_worker_errors(command: str, run: Callable[[], int]) -> int:
    """Report workers that fail for a reason that is not in the study."""
    from deadheat.study.engine.worker import WorkerError

    try:
        return run()
    except WorkerError as error:
        print(f"deadheat {command}: {str(error).strip()}", file=sys.stderr)
        return 1


def show(result: Result, *, as_json: bool, as_markdown: bool = False, full: bool = True) -> int:
    """Print a result and its notes, also to a reader who stops reading, as `head` does; returns the exit code.

    Without `full`, a long result is its verdict and the tables that there is room for.
    """
    if as_json and as_markdown:
        raise InputError("--json with --markdown; expected one of them")
    try:
        if as_json:
            print(result.to_json(indent=1))
        elif as_markdown:
            print(result.to_markdown())
        else:
            from deadheat.reporting.terminal import print_blocks
            from deadheat.reporting.views import brief_view

            print_blocks(brief_view(result, full=full), most_lines=None if full else MOST_LINES)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
        as_markdown = False
    if not as_markdown:  # which has the notes
        say(result.notes)
    return 0


def report_progress(*, seconds: float = 3.0) -> Callable[[str, int, int], None]:
    """Say how much of a long computation is done, and how long the rest takes: after some seconds, then less often."""
    starts: dict[str, float] = {}
    following: dict[str, float] = {}
    last = time.monotonic()

    def on_progress(what: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        start, last = starts.setdefault(what, last), now  # what is counted now began when the last had ended
        if now >= following.setdefault(what, start + seconds) and done < total:
            left = (now - start) * (total - done) / done
            sys.stderr.write(f"{done:,} of {total:,} {what}, about {left:,.0f} s left\n")
            following[what] = now + (now - start)

    return on_progress


def print_json(document: dict[str, Any]) -> None:
    """Print an object that is not the result of a question."""
    import json

    print(json.dumps(document, ensure_ascii=False, indent=1))


def print_lines(*lines: str) -> None:
    """Print lines that may contain names; control characters in them are escaped."""
    for line in lines:
        print(encodable(visible(line), encoding(sys.stdout)))


def say(notes: Sequence[str]) -> None:
    """Print notes on standard error, after the results."""
    say_lines(f"note: {note}" for note in notes)


def say_lines(lines: Iterable[str]) -> None:
    """Print lines on standard error, after the results."""
    sys.stdout.flush()
    for line in lines:
        sys.stderr.write(f"{message(line)}\n")  # one call, since other processes may write there too


def refuse_options(
    arguments: argparse.Namespace,
    question: Callable[..., Result],
    others: str,
    parser: argparse.ArgumentParser,
    also: Sequence[str] = (),
) -> None:
    """Refuse options that a question does not have, and which are for something else."""
    defaults = {action.dest: action.default for action in parser._actions}
    known = {*arguments_of(question), *GENERAL_OPTIONS, *also}
    for name, default in defaults.items():
        if name not in known and getattr(arguments, name, default) != default:
            flag = name.replace("_", "-")
            raise InputError(f"{parser.prog}: --{flag} is for {others}; expected none here")
