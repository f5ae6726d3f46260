"""Commands on corpora: info, convert, testbed, split."""

from __future__ import annotations

import argparse
import inspect
import sys
from pathlib import Path
from typing import Any

from deadheat.arguments import values_of, whole_number
from deadheat.cli.options import JSON, Parser, print_json, print_lines, reading, say, show
from deadheat.corpus import read, to_bytes, write
from deadheat.corpus.info import info
from deadheat.errors import InputError
from deadheat.questions.treebanks import has_treebanks, treebank_sizes
from deadheat.results.data import SplitReport
from deadheat.splits import STRATEGIES, split
from deadheat.splits.folder import check_folder, write_splits
from deadheat.testbed import write_evaluations, write_testbed

SPLIT_EXAMPLES = """\
examples:
  deadheat split treebank/ --strategy random --times 20 --out splits
  deadheat split treebank/ --strategy random --unit document --stratify genre --times 20 --out splits
  deadheat split treebank/ --strategy ud-tune --out with-tune
  deadheat split treebank/ --strategy rand --words 20000 --nested "dev=1000,5000,10000 words" --out sizes
  deadheat split --check splits          are the files unchanged, and what leaks between the parts?
  deadheat split --check treebank/       what leaks between the parts of a treebank?"""

SETTINGS = {
    "sizes": "sizes of the parts: 80/10/10, or train=rest,dev=10%%,test=10000 words",
    "unit": "what is never divided: sentence, document or block",
    "stratify": "keep the proportions of these in every part: genre, file, a comment or a column",
    "block": "sentences per block",
    "folds": "number of folds",
    "dev_fold": "use the next fold as dev",
    "sample": "sentences of train if all others are test: 0 (off), or 20 to 50",
    "by": "how test differs from train: length or words",
    "end": "if it differs by length: test has the long or the short sentences",
    "ngram": "if it differs by words: length of the n-grams that are compared",
    "train": "words of train",
    "words": "words of the evaluation part (0: all that are left)",
    "part": "name of the evaluation part: dev, test or tune",
    "tune": "sentences of tune",
    "dev": "sentences of dev",
    "test": "sentences of test",
    "last": "sentences at the end of train that become dev if there is none",
}


def _settings() -> dict[str, dict[str, Any]]:
    """The settings of all strategies: the default of each strategy that has it."""
    defaults: dict[str, dict[str, Any]] = {}
    for name in STRATEGIES:
        for setting, parameter in inspect.signature(STRATEGIES[name]).parameters.items():
            defaults.setdefault(setting, {})[name.partition(".v")[0]] = parameter.default
    return defaults


def _strategies() -> str:
    """The strategies, each with the first line of its documentation."""
    lines = {name.partition(".v")[0]: (inspect.getdoc(STRATEGIES[name]) or "").split("\n")[0] for name in STRATEGIES}
    width = max(map(len, lines))
    return "strategies:\n" + "\n".join(f"  {name:<{width}}  {line}" for name, line in lines.items())


def info_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "info",
        "What is in a corpus, and what is missing? Several files form one corpus. For a folder of treebanks, with a\n"
        "folder for each: how large are their parts?",
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="files or folders; - is standard input")
    return parser.add_options(json=JSON, reading=True)


def run_info(arguments: argparse.Namespace) -> int:
    if len(arguments.files) == 1 and has_treebanks(arguments.files[0]):
        return show(treebank_sizes(arguments.files[0], **reading(arguments)), as_json=arguments.json)
    summary = info(read(arguments.files, **reading(arguments)))
    if arguments.json:
        print_json(summary.to_dict())
    else:
        print_lines(str(summary))
    return 0


def convert_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "convert",
        "Read a corpus strictly and write it unchanged: checked, several files joined, and compressed if OUT ends in\n"
        ".gz, .xz or .zst. With --mend, a missing empty line at the end is added.",
    )
    parser.add_argument("files", metavar="IN", nargs="+", help="files or folders; - is standard input")
    parser.add_argument("out", metavar="OUT", help="the file to write; - is standard output")
    parser.add_argument("--mend", action="store_true", help="add the empty line that is missing at the end")
    return parser.add_options(reading=True)


def run_convert(arguments: argparse.Namespace) -> int:
    options = reading(arguments)
    if arguments.mend:
        options["lenient"] = (*options["lenient"], "final-newline")
    corpus = read(arguments.files, **options)
    if arguments.out == "-":
        sys.stdout.buffer.write(to_bytes(corpus, mend=arguments.mend))
    else:
        write(corpus, arguments.out, mend=arguments.mend)
    return 0


def testbed_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "testbed",
        "Generate treebanks of invented languages, and predictions of simulated systems whose true accuracy is known\n"
        "(truth.json). The same settings give the same bytes on every machine.",
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="a new or empty folder to write to")
    parser.add_argument(
        "--seeds", type=int, default=3, metavar="N", help="predictions per system, seeds 0 to N-1 (default: 3)"
    )
    parser.add_argument(
        "--evaluations",
        action="store_true",
        help="answers of simulated models to benchmarks instead, as a table and as logs",
    )
    return parser.add_options(write_testbed)


def run_testbed(arguments: argparse.Namespace) -> int:
    if arguments.evaluations:
        files = write_evaluations(Path(arguments.out), seed=arguments.seed, overwrite=arguments.overwrite)
        print(f"{len(files)} files in {arguments.out}")
        return 0
    options = values_of(write_testbed, arguments)
    files = write_testbed(Path(arguments.out), **options, seeds=range(arguments.seeds))
    print_lines(f"{len(files)} files in {arguments.out}")
    return 0


def split_parser() -> argparse.ArgumentParser:
    question = "Split a corpus, or check what leaks between the parts of splits."
    parser = Parser("split", question, epilog=f"{_strategies()}\n\n{SPLIT_EXAMPLES}")
    parser.add_argument(
        "corpus", metavar="CORPUS", nargs="*", help="files or folders of one corpus; - is standard input"
    )
    parser.add_argument("--strategy", metavar="NAME", help="how to split: random, or \"random(unit='document')\", ...")
    parser.add_argument("--out", metavar="DIR", help="a new or empty folder to write to (default: write nothing)")
    parser.add_argument("--check", metavar="DIR", help="verify a folder of splits and report what leaks")
    parser.add_options(split, json=JSON)
    group = parser.add_argument_group("settings of the strategies")
    for setting, defaults in _settings().items():
        flag, default = f"--{setting.replace('_', '-')}", next(iter(defaults.values()))
        strategies: dict[str, list[str]] = {}
        for name, value in defaults.items():
            strategies.setdefault(repr(value), []).append(name)
        shown = "; ".join(f"{value} for {', '.join(names)}" for value, names in strategies.items())
        options: dict[str, Any] = {"dest": setting, "help": f"{SETTINGS[setting]} (default: {shown})"}
        if isinstance(default, bool):
            options |= {"action": argparse.BooleanOptionalAction, "default": None}
        else:
            options |= {"type": whole_number, "metavar": "N"} if isinstance(default, int) else {"metavar": "TEXT"}
        group.add_argument(flag, **options)
    return parser.add_options(reading=True)


def _check_alone(arguments: argparse.Namespace) -> None:
    """Refuse options of splitting beside --check."""
    defaults = split_parser().parse_args([])
    for name in ("corpus", "strategy", "times", "seed", "out", "documents", "nested", *_settings()):
        if getattr(arguments, name) != getattr(defaults, name):
            shown = "CORPUS" if name == "corpus" else f"--{name.replace('_', '-')}"
            raise InputError(f"deadheat split: --check and {shown}; expected --check with its folder alone")


def run_split(arguments: argparse.Namespace) -> int:
    if arguments.check:
        _check_alone(arguments)
        return show(SplitReport.of_check(check_folder(arguments.check, **reading(arguments))), as_json=arguments.json)
    if not arguments.corpus or not arguments.strategy:
        missing = "CORPUS" if not arguments.corpus else "--strategy"
        raise InputError(f"deadheat split: no {missing}; expected CORPUS... --strategy NAME, or --check DIR")
    settings = {name: getattr(arguments, name) for name in _settings() if getattr(arguments, name) is not None}
    options = values_of(split, arguments) | reading(arguments)
    splits = split(arguments.corpus, arguments.strategy, settings=settings, **options)
    if arguments.out:
        write_splits(splits, arguments.out)
    code = show(SplitReport.of(splits), as_json=arguments.json)
    say([] if arguments.out else ["nothing was written; --out DIR writes the splits"])
    return code
