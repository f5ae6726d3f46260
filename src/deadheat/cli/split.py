"""`deadheat split CORPUS... --strategy NAME --out DIR` and `deadheat split --check DIR`"""

from __future__ import annotations

import argparse
import inspect
from typing import Any

from deadheat.cli.options import Parser, add_reading, reading, say, show, whole_number
from deadheat.errors import InputError
from deadheat.questions.splits import leak_report, split_report
from deadheat.splits import STRATEGIES, split
from deadheat.splits.folder import check_folder, write_splits

EXAMPLES = """\
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


def parser() -> argparse.ArgumentParser:
    question = "Make honest splits of a corpus, or check what leaks in some."
    made = Parser("split", question, epilog=f"{_listed()}\n\n{EXAMPLES}")
    made.add_argument("corpus", metavar="CORPUS", nargs="*", help="files or folders of one corpus; - is standard input")
    made.add_argument("--strategy", metavar="NAME", help="how to split, as random or \"random(unit='document')\"")
    made.add_argument("--times", type=whole_number, default=1, metavar="N", help="how many splits (default: 1)")
    made.add_argument(
        "--seed", type=whole_number, default=0, help="split i depends on the seed and i alone (default: 0)"
    )
    made.add_argument("--out", metavar="DIR", help="a new or empty folder to write to; without it nothing is written")
    made.add_argument(
        "--documents",
        default="auto",
        metavar="RULE",
        help="how documents are found: newdoc, sent_id, sent_id:REGEX, none, or auto (default)",
    )
    made.add_argument(
        "--nested",
        action="append",
        default=[],
        metavar="SIZES",
        help="smaller sets inside a part, as 'test=100,500 words'",
    )
    made.add_argument("--check", metavar="DIR", help="verify a folder of splits and report what leaks")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    group = made.add_argument_group("settings of the strategies")
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
    add_reading(made)
    return made


def _check_alone(arguments: argparse.Namespace) -> None:
    """Refuse what says how to split where nothing is split."""
    usual = parser().parse_args([])
    for name in ("corpus", "strategy", "times", "seed", "out", "documents", "nested", *_settings()):
        if getattr(arguments, name) != getattr(usual, name):
            shown = "CORPUS" if name == "corpus" else f"--{name.replace('_', '-')}"
            raise InputError(f"deadheat split: --check and {shown}; expected --check with its folder alone")


def run(arguments: argparse.Namespace) -> int:
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
