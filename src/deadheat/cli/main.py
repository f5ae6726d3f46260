"""`deadheat COMMAND ...`: find the command, run it, turn wrong input into one clear line and exit code 2.

An unexpected error is a bug of Deadheat: one line with the path of a saved traceback, and exit code 1.

Only the command that is asked for is imported, so that `deadheat --help` starts at once
(`docs/design/command-line.md`).
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from deadheat.errors import InputError, nearest, reason
from deadheat.screen import message
from deadheat.version import __version__

if TYPE_CHECKING:
    import argparse

# What a person asks, by command.
COMMANDS = {
    "demo": "show what Deadheat does, on generated corpora, in a minute",
    "score": "how good is each prediction, with confidence intervals",
    "compare": "which differences between systems are real",
    "power": "could this test set have shown the difference",
    "rank": "would another choice of data sets change the ranking",
    "size": "how much test data is enough to rank systems",
    "seeds": "is it the method or the seed",
    "contrast": "which option wins when all other settings are equal",
    "init": "write a study file to start from",
    "run": "train and test all systems of a study, or continue where it was stopped",
    "report": "one page to read, figures to print, tables and text for a paper",
    "export": "export the runs, scores or counts of a study as a table",
    "verify": "is the store of a study as it was written",
    "merge": "put the stores of a study that was run in pieces together",
    "split": "split a corpus, or check what leaks between the parts of splits",
    "ledger": "how often was this test set evaluated, and by whom",
    "info": "what is in a corpus, and what is missing",
    "metrics": "all metrics, and what they count",
    "systems": "all systems that a study can train, and their settings",
    "convert": "check a corpus and write it joined, repaired or compressed",
    "testbed": "generate treebanks and predictions with known true scores",
    "completion": "complete commands, options and names in bash, zsh or fish",
}
# Where the commands are: `NAME_parser` makes the parser, `run_NAME` runs the command.
MODULES = {
    "questions": ("score", "compare", "power", "size"),
    "tables": ("rank", "seeds", "contrast"),
    "studies": ("init", "run", "export", "verify"),
    "stores": ("merge",),
    "pages": ("report", "demo"),
    "corpora": ("info", "convert", "testbed", "split"),
    "registries": ("metrics", "systems"),
    "ledger": ("ledger",),
    "completion": ("completion",),
}
EXAMPLES = """\
examples:
  deadheat demo
  deadheat score gold.conllu mine.conllu theirs.conllu
  deadheat score gold.conllu mine.conllu --metric las --by genre
  deadheat compare gold.conllu mine=mine.conllu theirs=theirs.conllu
  deadheat info train.conllu dev.conllu"""
START = """\
Deadheat: a win, or a dead heat? Trustworthy comparisons of language-processing systems.

What do you have?
  nothing yet              deadheat demo
  predictions              deadheat compare gold.conllu A=a.conllu B=b.conllu
  of several data sets     deadheat compare 'gold/{dataset}.conllu' 'pred/{dataset}/{system}.conllu'
  a table of scores        deadheat compare --scores scores.csv
  logs of evaluations      deadheat compare logs/
  corpora, for a study     deadheat init train.conllu dev.conllu test.conllu --out study.toml
  a study file             deadheat run study.toml

'deadheat --help' lists all commands; 'deadheat help compare' explains one."""
BUG, WRONG_INPUT, INTERRUPTED = 1, 2, 130
LONGEST_PROBLEM = 300  # characters of an unexpected error that are printed


def help_text() -> str:
    """The page that `deadheat --help` shows."""
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:<{width}}  {question}" for name, question in COMMANDS.items())
    return (
        "Deadheat: a win, or a dead heat? Trustworthy comparisons of language-processing systems.\n\n"
        "usage: deadheat COMMAND [ARGUMENTS]\n\n"
        f"commands:\n{commands}\n\n{EXAMPLES}\n\n"
        "'deadheat help COMMAND' shows the options of a command. Every command that prints results takes --json."
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (it lasts as long as the program)
    # Kernels use one core, and starting a thread pool costs more than most commands need altogether.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    program_name = f"deadheat {given[0]}" if given and given[0] in COMMANDS else "deadheat"
    try:
        code = _run(given)
        sys.stdout.flush()
        return code
    except InputError as error:
        return _refuse(error.on_command_line())
    except BrokenPipeError:  # the reader of our output has seen enough, as `head` does
        discard_output()
        return 0
    except OSError as error:
        return _refuse(f"{program_name}: {_system_problem(error)}")
    except MemoryError:
        return _refuse(f"{program_name}: not enough memory for this input")
    except KeyboardInterrupt as interrupt:
        return _say_interrupted(interrupt)
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # panics of compiled libraries are no Exceptions
        return _report_bug(program_name, error)


def _run(given: Sequence[str]) -> int:
    if not given:
        print(START)
        return 0
    if given[0] == "help" and len(given) > 1:
        given = [given[1], "--help"]
    if given[0] in ("-h", "--help", "help"):
        print(help_text())
        return 0
    if given[0] in ("-V", "--version"):
        print(f"deadheat {__version__}")
        return 0
    name = given[0]
    if name not in COMMANDS:
        raise InputError(f"deadheat: {name!r} is not a command; {nearest(name, [*COMMANDS, 'help'])}")
    module = import_module(_module_name(name))
    arguments = getattr(module, f"{name}_parser")().parse_args(given[1:])
    code: int = getattr(module, f"run_{name}")(arguments)
    return code


def _system_problem(error: OSError) -> str:
    """What the operating system refused: to write our output, or to use some file."""
    if error.filename is None:
        discard_output()
        return f"the output cannot be written ({reason(error)})"
    return f"{os.fsdecode(error.filename)}: {reason(error)}"


def _say_interrupted(interrupt: KeyboardInterrupt) -> int:
    from deadheat.cli.interrupts import Interrupted

    if not isinstance(interrupt, Interrupted):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    lines = f"interrupted: {interrupt.kept}\nthe same command goes on: {interrupt.command}"
    print(message(lines), file=sys.stderr)
    return interrupt.code


def discard_output() -> None:
    """Forget output that cannot be written, so that it is not tried again at exit."""
    with suppress(OSError, ValueError):  # a ValueError is standard output without a file, as in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_bug(program_name: str, error: BaseException) -> int:
    """Save the traceback of an unexpected error; a person reads one line."""
    import tempfile
    import traceback

    problem = " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST_PROBLEM]
    place = "its traceback could not be saved"
    with suppress(OSError):
        file, path = tempfile.mkstemp(prefix="deadheat-error-", suffix=".txt")
        with open(file, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.writelines([f"deadheat {__version__}, Python {sys.version}\n", *traceback.format_exception(error)])
        place = f"please report it with the traceback in {path}"
    print(message(f"{program_name}: a bug in Deadheat ({problem}); {place}"), file=sys.stderr)
    return BUG


def program() -> int:
    """Run a command as a program of its own, with few garbage collections: they would take a tenth of a short run."""
    gc.set_threshold(50_000)
    try:
        return main()
    finally:
        gc.freeze()  # nothing is collected at exit


def command_parser(name: str) -> argparse.ArgumentParser:
    """The parser of a command."""
    parser: argparse.ArgumentParser = getattr(import_module(_module_name(name)), f"{name}_parser")()
    return parser


def _module_name(command: str) -> str:
    return f"deadheat.cli.{next(module for module, names in MODULES.items() if command in names)}"


def _refuse(problem: str) -> int:
    print(message(problem), file=sys.stderr)
    return WRONG_INPUT


if __name__ == "__main__":
    sys.exit(program())
