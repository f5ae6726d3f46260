"""Commands on corpora: info, metrics, convert, testbed, split."""

from __future__ import annotations

import argparse
import inspect
import sys
from pathlib import Path
from typing import Any

from deadheat.arguments import whole_number
from deadheat.cli.options import Parser, add_json, add_reading, print_json, reading, say, show
from deadheat.corpus import read, to_bytes, write
from deadheat.corpus.info import info
from deadheat.errors import InputError
from deadheat.metrics import METRICS
from deadheat.questions.splits import leak_report, split_report
from deadheat.report.model import Column, Table
from deadheat.report.terminal import print_blocks
from deadheat.splits import STRATEGIES, split
from deadheat.splits.folder import check_folder, write_splits
from deadheat.testbed import LANGUAGES, write_testbed

SPLIT_EXAMPLES = """\
examples:
  deadheat split treebank/ --strategy random --times 20 --out splits
  deadheat split treebank/ --strategy random --unit document --stratify genre --times 20 --out splits
  deadheat split treebank/ --strategy ud-tune --out with-tune
  deadheat split treebank/ --strategy rand --words 20000 --nested "dev=1000,5000,10000 words" --out sizes
  deadheat split --check splits          are the files as they were written, and what leaks
  deadheat split --check treebank/       what leaks between the treebank's own parts"""

SETTINGS = {
    "sizes": "of the parts: 80/10/10, or train=rest,dev=10%%,test=10000 words",
    "unit": "what is not cut: sentence, document or block",
    "stratify": "what every part has in proportion: genre, file, a comment or a column",
    "block": "sentences a block",
    "folds": "how many folds",
    "dev_fold": "whether the next fold is dev",
    "sample": "sentences of train where all else is test: 0, or 20 to 50",
    "by": "how test is unlike train: length or words",
    "end": "by length, test has the long or the short sentences",
    "ngram": "by words, runs of so many words are compared",
    "train": "words of train",
    "words": "words of the evaluation part; 0: all that is left",
    "part": "name of the evaluation part: dev, test or tune",
    "tune": "sentences of tune",
    "dev": "sentences of dev",
    "test": "sentences of test",
    "last": "sentences of train that become dev where there is none",
}


def _settings() -> dict[str, list[tuple[str, Any]]]:
    """Every setting of any strategy, with the strategies that have it and their defaults."""
    found: dict[str, list[tuple[str, Any]]] = {}
    for name in STRATEGIES:
        for setting, parameter in inspect.signature(STRATEGIES[name]).parameters.items():
            found.setdefault(setting, []).append((name.partition(".v")[0], parameter.default))
    return found


def _listed() -> str:
    """The strategies, each with what it is for."""
    names = [name.partition(".v")[0] for name in STRATEGIES]
    width = max(map(len, names))
    told = [(inspect.getdoc(STRATEGIES[name]) or "").partition("\n")[0] for name in STRATEGIES]
    return "strategies:\n" + "\n".join(f"  {name:<{width}}  {line}" for name, line in zip(names, told, strict=True))


def info_parser() -> argparse.ArgumentParser:
    parser = Parser("info", "What is in a corpus, and what is missing. Several files are one corpus.")
    parser.add_argument("files", metavar="FILE", nargs="+", help="files or folders; - is standard input")
    add_json(parser)
    add_reading(parser)
    return parser


def run_info(arguments: argparse.Namespace) -> int:
    found = info(read(arguments.files, **reading(arguments)))
    if arguments.json:
        print_json(found.to_dict())
    else:
        print(found)
    return 0


def metrics_parser() -> argparse.ArgumentParser:
    parser = Parser("metrics", "Which metrics there are, what each counts, and its settings.")
    add_json(parser)
    return parser


def run_metrics(arguments: argparse.Namespace) -> int:
    metrics: list[dict[str, Any]] = []
    for name in METRICS:
        maker = METRICS[name]
        settings = {key: parameter.default for key, parameter in inspect.signature(maker).parameters.items()}
        metrics.append({"name": name, "counts": (maker.__doc__ or "").strip().splitlines()[0], "settings": settings})
    if arguments.json:
        print_json({"metrics": metrics})
        return 0
    rows = tuple(
        (metric["name"], metric["counts"], ", ".join(f"{key}={value!r}" for key, value in metric["settings"].items()))
        for metric in metrics
    )
    print_blocks([Table((Column("metric"), Column("what it counts"), Column("settings")), rows, labels=3)])
    return 0


def convert_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "convert",
        "Read a corpus strictly and write it again, byte for byte: checked, joined, compressed (by the name's ending:\n"
        ".gz, .xz, .zst) or, with --mend, with the newline its end lacked.",
    )
    parser.add_argument("files", metavar="IN", nargs="+", help="files or folders; - is standard input")
    parser.add_argument("out", metavar="OUT", help="the file to write; - is standard output")
    parser.add_argument("--mend", action="store_true", help="end the file as its format wants it")
    add_reading(parser)
    return parser


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
        "Make treebanks of invented languages, and predictions of simulated systems whose true accuracy is known\n"
        "(truth.json). The same settings give the same bytes everywhere.",
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="a new or empty folder to write to")
    parser.add_argument("--sentences", type=int, default=3000, metavar="N", help="sentences a treebank (default: 3000)")
    parser.add_argument("--language", action="append", choices=tuple(LANGUAGES), help="one language; may be repeated")
    parser.add_argument("--seed", type=whole_number, default=0, help="seed of the texts (default: 0)")
    parser.add_argument(
        "--seeds", type=int, default=3, metavar="N", help="predictions a system, seeds 0 to N-1 (default: 3)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace files that are there")
    return parser


def run_testbed(arguments: argparse.Namespace) -> int:
    files = write_testbed(
        Path(arguments.out),
        sentences=arguments.sentences,
        seed=arguments.seed,
        languages=arguments.language,
        seeds=range(arguments.seeds),
        overwrite=arguments.overwrite,
    )
    print(f"{len(files)} files in {arguments.out}")
    return 0


def split_parser() -> argparse.ArgumentParser:
    question = "Make honest splits of a corpus, or check what leaks in some."
    parser = Parser("split", question, epilog=f"{_listed()}\n\n{SPLIT_EXAMPLES}")
    parser.add_argument(
        "corpus", metavar="CORPUS", nargs="*", help="files or folders of one corpus; - is standard input"
    )
    parser.add_argument("--strategy", metavar="NAME", help="how to split, as random or \"random(unit='document')\"")
    parser.add_argument("--times", type=whole_number, default=1, metavar="N", help="how many splits (default: 1)")
    parser.add_argument(
        "--seed", type=whole_number, default=0, help="split i depends on the seed and i alone (default: 0)"
    )
    parser.add_argument("--out", metavar="DIR", help="a new or empty folder to write to; without it nothing is written")
    parser.add_argument(
        "--documents",
        default="auto",
        metavar="RULE",
        help="how documents are found: newdoc, sent_id, sent_id:REGEX, none, or auto (default)",
    )
    parser.add_argument(
        "--nested",
        action="append",
        default=[],
        metavar="SIZES",
        help="smaller sets inside a part, as 'test=100,500 words'",
    )
    parser.add_argument("--check", metavar="DIR", help="verify a folder of splits and report what leaks")
    add_json(parser)
    group = parser.add_argument_group("settings of the strategies")
    for setting, uses in _settings().items():
        flag, default = f"--{setting.replace('_', '-')}", uses[0][1]
        defaults = "; ".join(f"{name}: {value!r}" for name, value in uses)
        told = f"{SETTINGS[setting]} ({defaults})"
        if isinstance(default, bool):
            group.add_argument(flag, action=argparse.BooleanOptionalAction, dest=setting, default=None, help=told)
        else:
            number = isinstance(default, int)
            kind = whole_number if number else str
            group.add_argument(flag, dest=setting, type=kind, metavar="N" if number else "NAME", help=told)
    add_reading(parser)
    return parser


def _check_alone(arguments: argparse.Namespace) -> None:
    """Refuse what says how to split where nothing is split."""
    defaults = split_parser().parse_args([])
    for name in ("corpus", "strategy", "times", "seed", "out", "documents", "nested", *_settings()):
        if getattr(arguments, name) != getattr(defaults, name):
            shown = "CORPUS" if name == "corpus" else f"--{name.replace('_', '-')}"
            raise InputError(f"deadheat split: --check and {shown}; expected --check with its folder alone")


def run_split(arguments: argparse.Namespace) -> int:
    if arguments.check:
        _check_alone(arguments)
        return show(leak_report(check_folder(arguments.check, **reading(arguments))), as_json=arguments.json)
    if not arguments.corpus or not arguments.strategy:
        missing = "CORPUS" if not arguments.corpus else "--strategy"
        raise InputError(f"deadheat split: no {missing}; expected CORPUS... --strategy NAME, or --check DIR")
    settings = {name: getattr(arguments, name) for name in _settings() if getattr(arguments, name) is not None}
    splits = split(
        arguments.corpus,
        arguments.strategy,
        times=arguments.times,
        seed=arguments.seed,
        documents=arguments.documents,
        nested=arguments.nested,
        settings=settings,
        **reading(arguments),
    )
    if arguments.out:
        write_splits(splits, arguments.out)
    code = show(split_report(splits), as_json=arguments.json)
    say([] if arguments.out else ["nothing was written; --out DIR writes the splits"])
    return code
