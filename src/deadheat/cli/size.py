"""`deadheat size GOLD NAME=PRED NAME=PRED ...`"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from deadheat.cli.looking import add_ledger, ledger_entry
from deadheat.cli.options import Parser, add_reading, reading, show, whole_number
from deadheat.errors import InputError
from deadheat.metrics.pair import ALIGNMENTS
from deadheat.questions.size import size, size_of_counts, size_of_sets
from deadheat.questions.size_counts import SUFFIX
from deadheat.ranking.size_samples import AGAINST, SEEDS, SIZES, STRATEGIES, SizeSettings, parse_sizes
from deadheat.results.size import SizeStudy

DEFAULTS = SizeSettings()
EXAMPLES = """\
examples:
  deadheat size gold.conllu A=a.conllu B=b.conllu C=c.conllu
  deadheat size gold.conllu A=a.run1.conllu A=a.run2.conllu B=b.run1.conllu B=b.run2.conllu    runs of two systems
  deadheat size gold.conllu A=a.conllu B=b.conllu --against rest --threshold 0.8
  deadheat size gold.conllu A=a.conllu B=b.conllu --save counts.npz && deadheat size counts.npz --draws 1000
  deadheat size --sets sets.csv          several test sets: columns set, gold, system, prediction"""


def parser() -> argparse.ArgumentParser:
    parser = Parser("size", "How much test data is sufficient to rank systems?", epilog=EXAMPLES)
    parser.add_argument(
        "files", metavar="COUNTS", nargs="*", help="GOLD NAME=PRED NAME=PRED ..., or saved counts (.npz)"
    )
    parser.add_argument("--sets", metavar="FILE", help="a table of test sets: set, gold, system, prediction")
    parser.add_argument(
        "-m", "--metric", default="", metavar="NAME", help="what systems are ranked by (default: LAS for trees)"
    )
    sizes = ",".join(map(str, SIZES))
    parser.add_argument("--sizes", default=f"{sizes},all", metavar="WORDS", help=f"sizes (default: {sizes},all)")
    parser.add_argument(
        "--strategies",
        "--ways",
        default=",".join(STRATEGIES),
        metavar="NAMES",
        help=f"sampling strategies: some of {', '.join(STRATEGIES)} (default: all)",
    )
    parser.add_argument(
        "--draws", type=whole_number, default=DEFAULTS.draws, help="random samples of each size (default: 100)"
    )
    parser.add_argument(
        "--threshold", type=float, default=DEFAULTS.threshold, metavar="TAU", help="the tau to reach (default: 0.9)"
    )
    parser.add_argument(
        "--confidence",
        type=float,
        default=DEFAULTS.confidence,
        help="the share of draws that must reach it (default: 0.95)",
    )
    parser.add_argument(
        "--seeds", choices=SEEDS, default="average", help="how runs of a system are ranked (default: average)"
    )
    parser.add_argument(
        "--against",
        choices=AGAINST,
        default="all",
        help="compare with the ranking on all data, or on the rest (default: all)",
    )
    parser.add_argument(
        "--aso-draws",
        type=whole_number,
        default=DEFAULTS.aso_draws,
        metavar="N",
        help="draws per size for which significance over runs is compared (default: 20; 0: none)",
    )
    parser.add_argument("--save", default="", metavar="FILE", help="save the counts (.npz)")
    parser.add_argument(
        "--align", choices=ALIGNMENTS, default="text", help="align words by text (default) or by position"
    )
    parser.add_argument("--seed", type=whole_number, default=0, help="seed of the draws (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_ledger(parser)
    add_reading(parser)
    return parser


def run(arguments: argparse.Namespace) -> int:
    sizes, whole = parse_sizes(arguments.sizes)
    settings = SizeSettings(
        sizes,
        whole,
        tuple(name.strip() for name in arguments.strategies.split(",") if name.strip()),
        arguments.draws,
        arguments.seeds,
        arguments.against,
        arguments.threshold,
        arguments.confidence,
        arguments.seed,
        arguments.aso_draws,
    )
    return show(_study(arguments, settings), as_json=arguments.json)


def _study(arguments: argparse.Namespace, settings: SizeSettings) -> SizeStudy:
    files: list[str] = arguments.files
    saved = [file for file in files if file.endswith(SUFFIX) and "=" not in file]
    if (arguments.sets or saved) and arguments.save:
        raise InputError("deadheat size: --save is for GOLD NAME=PRED ...; expected it without --sets and saved counts")
    if arguments.sets:
        if files:
            raise InputError(f"deadheat size: {files[0]} beside --sets; expected files or a table of them, not both")
        return size_of_sets(
            arguments.sets,
            metric=arguments.metric,
            settings=settings,
            align=arguments.align,
            ledger_entry=ledger_entry(arguments),
            **reading(arguments),
        )
    if saved:
        other = next((file for file in files if file not in saved), None)
        if other is not None:
            raise InputError(f"deadheat size: {other} beside saved counts; expected one or the other")
        return size_of_counts(saved, metric=arguments.metric, settings=settings, ledger_entry=ledger_entry(arguments))
    if len(files) < 2:
        problem = f"{files[0]} alone" if files else "no files"
        expected = f"expected GOLD NAME=PRED NAME=PRED ..., saved counts ({SUFFIX}), or --sets FILE"
        raise InputError(f"deadheat size: {problem}; {expected}")
    return size(
        files[0],
        _runs(files[1:]),
        metric=arguments.metric,
        settings=settings,
        align=arguments.align,
        save=arguments.save,
        ledger_entry=ledger_entry(arguments),
        **reading(arguments),
    )


def _runs(systems: Sequence[str]) -> dict[str, list[str]]:
    """Files by their names in NAME=FILE; a name that is repeated has several runs."""
    runs: dict[str, list[str]] = {}
    for argument in systems:
        name, equals, path = argument.partition("=")
        if not (name and equals and path):
            raise InputError(f"deadheat size: {argument!r}; expected NAME=FILE, such as A={argument}")
        runs.setdefault(name, []).append(path)
    return runs
