"""`deadheat power`"""

from __future__ import annotations

import argparse

from deadheat.cli.compare import named
from deadheat.cli.looking import add_ledger, ledger_entry
from deadheat.cli.options import Parser, add_reading, reading, show, whole_number
from deadheat.errors import InputError
from deadheat.metrics.pair import ALIGNMENTS, UNITS
from deadheat.questions.power import assumed_power, power

EXAMPLES = """\
examples:
  deadheat power gold.conllu A=a.conllu B=b.conllu            how likely was this test set to show the difference
  deadheat power gold.conllu A=a.conllu B=b.conllu --size 500
  deadheat power --size 25000 --accuracies 0.970 0.968 --agreement 0.98"""


def parser() -> argparse.ArgumentParser:
    made = Parser("power", "Could this test set have shown the difference?", epilog=EXAMPLES)
    made.add_argument("gold", metavar="GOLD", nargs="?", help="the gold file")
    made.add_argument("systems", metavar="NAME=PRED", nargs="*", help="two predictions")
    made.add_argument("--size", type=int, metavar="N", help="units of the test set (default: as many as there are)")
    made.add_argument("--accuracies", type=float, nargs=2, metavar="P", help="assumed accuracies, in place of files")
    made.add_argument("--agreement", type=float, help="share of items on which both are right or both wrong")
    made.add_argument("-m", "--metric", default="", metavar="NAME", help="what to compare (default: LAS for trees)")
    made.add_argument(
        "--unit", choices=UNITS, default="sentence", help="what a test set is made of (default: sentence)"
    )
    made.add_argument(
        "--align", choices=ALIGNMENTS, default="text", help="align words by text (default) or by position"
    )
    made.add_argument("--alpha", type=float, default=0.05, help="level of the test (default: 0.05)")
    made.add_argument("--power", type=float, default=0.8, help="power that is wanted (default: 0.8)")
    made.add_argument("--seed", type=whole_number, default=0, help="seed of the simulation (default: 0)")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    add_ledger(made)
    add_reading(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    shared = {"alpha": arguments.alpha, "target": arguments.power, "seed": arguments.seed}
    if arguments.accuracies:
        if arguments.gold or arguments.size is None or arguments.agreement is None:
            raise InputError("deadheat power: --accuracies needs --size and --agreement, and no files")
        first, second = arguments.accuracies
        found = assumed_power(arguments.size, first, second, agreement=arguments.agreement, **shared)
    else:
        if not arguments.gold:
            raise InputError("deadheat power: no files; expected GOLD NAME=PRED NAME=PRED, or --accuracies")
        found = power(
            arguments.gold,
            named("power", arguments.systems),
            metric=arguments.metric,
            unit=arguments.unit,
            units=arguments.size,
            align=arguments.align,
            ledger_entry=ledger_entry(arguments),
            **shared,
            **reading(arguments),
        )
    return show(found, as_json=arguments.json)
