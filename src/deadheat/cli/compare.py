"""`deadheat compare GOLD A=PRED B=PRED ...`"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from deadheat.cli.looking import add_ledger, ledger_entry
from deadheat.cli.options import Parser, add_reading, reading, show, whole_number
from deadheat.errors import InputError
from deadheat.metrics.pair import ALIGNMENTS, UNITS
from deadheat.questions.compare import compare, compare_scores
from deadheat.stats.paired import TESTS

EXAMPLES = """\
examples:
  deadheat compare gold.conllu A=a.conllu B=b.conllu C=c.conllu
  deadheat compare gold.conllu A=a.conllu B=b.conllu --metric upos --unit token --train train.conllu
  deadheat compare gold.conllu A=a.conllu B=b.conllu --test bootstrap --unit document
  deadheat compare --scores scores.csv          a table of systems by data sets"""


def parser() -> argparse.ArgumentParser:
    made = Parser("compare", "Which differences between systems are real?", epilog=EXAMPLES)
    made.add_argument("gold", metavar="GOLD", nargs="?", help="the gold file")
    made.add_argument("systems", metavar="NAME=PRED", nargs="*", help="predictions, each with the name of its system")
    made.add_argument("--scores", metavar="TABLE", help="a table of scores in place of files, paired by data set")
    made.add_argument("--missing", choices=("refuse", "drop"), default="refuse", help="data sets that lack a score")
    made.add_argument(
        "-m", "--metric", action="append", default=[], metavar="NAME", help="what to compare (default: LAS for trees)"
    )
    made.add_argument("--unit", choices=UNITS, default="sentence", help="what is swapped or drawn (default: sentence)")
    made.add_argument("--test", default="", metavar="NAME", help=f"one of {', '.join(TESTS)} (default: what fits)")
    made.add_argument(
        "--correction", "--correct", default="holm", metavar="NAME", help="bonferroni, holm (default), bh or none"
    )
    made.add_argument("--alpha", type=float, default=0.05, help="level of the tests (default: 0.05)")
    made.add_argument("--reference", default="", metavar="NAME", help="test every system against this one alone")
    made.add_argument("--train", nargs="+", metavar="FILE", help="training files, for accuracy on unknown words")
    made.add_argument(
        "--align", choices=ALIGNMENTS, default="text", help="align words by text (default) or by position"
    )
    made.add_argument("--resamples", type=int, default=10_000, metavar="N", help="resamples (default: 10000)")
    made.add_argument("--seed", type=whole_number, default=0, help="seed of the resamples (default: 0)")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    add_ledger(made)
    add_reading(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    if len(arguments.metric) > 1:
        raise InputError(f"deadheat compare: {len(arguments.metric)} metrics; expected one at a time")
    metric = arguments.metric[0] if arguments.metric else ""
    testing: dict[str, Any] = {
        "metric": metric,
        "test": arguments.test,
        "correction": arguments.correction,
        "alpha": arguments.alpha,
        "reference": arguments.reference,
        "resamples": arguments.resamples,
        "seed": arguments.seed,
    }
    if arguments.scores:
        if arguments.gold:
            raise InputError(f"deadheat compare: {arguments.gold} beside --scores; expected files or a table, not both")
        if arguments.train or arguments.unit != "sentence" or arguments.align != "text":
            raise InputError("deadheat compare: --train, --unit and --align are for files; expected none with --scores")
        found = compare_scores(
            arguments.scores,
            missing=arguments.missing,
            **testing,
        )
    else:
        if not arguments.gold:
            raise InputError("deadheat compare: no files; expected GOLD NAME=PRED NAME=PRED ..., or --scores TABLE")
        found = compare(
            arguments.gold,
            named("compare", arguments.systems),
            unit=arguments.unit,
            train=arguments.train,
            align=arguments.align,
            ledger_entry=ledger_entry(arguments),
            **testing,
            **reading(arguments),
        )
    return show(found, as_json=arguments.json)


def named(command: str, systems: Sequence[str]) -> dict[str, str]:
    """Files by the names given to them as NAME=FILE."""
    found: dict[str, str] = {}
    for each in systems:
        name, equals, path = each.partition("=")
        if not (name and equals and path):
            raise InputError(f"deadheat {command}: {each!r}; expected NAME=FILE, such as A={each}")
        if name in found:
            raise InputError(f"deadheat {command}: two systems are named {name}; expected a name for each")
        found[name] = path
    return found
