"""`deadheat size GOLD NAME=PRED NAME=PRED ...`"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from deadheat.cli.looking import add_ledger, ledger_entry
from deadheat.cli.options import Parser, add_reading, print_json, reading, say, whole_number
from deadheat.errors import InputError
from deadheat.metrics.pair import ALIGNMENTS
from deadheat.questions.size import size, size_of_counts, size_of_sets
from deadheat.questions.size_counts import SUFFIX
from deadheat.questions.size_study import SizeStudy
from deadheat.ranking.sizes_settings import AGAINST, SEEDS, SIZES, SizeSettings, parse_sizes
from deadheat.splits.sampling import WAYS
from deadheat.terminal.size import size_text

DEFAULTS = SizeSettings()
EXAMPLES = """\
examples:
  deadheat size gold.conllu A=a.conllu B=b.conllu C=c.conllu
  deadheat size gold.conllu A=a.run1.conllu A=a.run2.conllu B=b.run1.conllu B=b.run2.conllu    runs of two systems
  deadheat size gold.conllu A=a.conllu B=b.conllu --against rest --threshold 0.8
  deadheat size gold.conllu A=a.conllu B=b.conllu --save counts.npz && deadheat size counts.npz --draws 1000
  deadheat size --sets sets.csv          several test sets: columns set, gold, system, prediction"""


def parser() -> argparse.ArgumentParser:
    made = Parser("size", "How much test data is enough to rank systems?", epilog=EXAMPLES)
    made.add_argument("files", metavar="COUNTS", nargs="*", help="GOLD NAME=PRED NAME=PRED ..., or saved counts (.npz)")
    made.add_argument("--sets", metavar="FILE", help="a table of test sets: set, gold, system, prediction")
    made.add_argument("-m", "--metric", default="", metavar="NAME", help="what ranks (default: LAS for trees)")
    sizes = ",".join(map(str, SIZES))
    made.add_argument("--sizes", default=f"{sizes},all", metavar="WORDS", help=f"sizes (default: {sizes},all)")
    made.add_argument("--ways", default=",".join(WAYS), metavar="NAMES", help=f"of {', '.join(WAYS)} (default: all)")
    made.add_argument("--draws", type=whole_number, default=DEFAULTS.draws, help="random samples a size (default: 100)")
    made.add_argument(
        "--threshold", type=float, default=DEFAULTS.threshold, metavar="TAU", help="tau that is enough (default: 0.9)"
    )
    made.add_argument(
        "--confidence", type=float, default=DEFAULTS.confidence, help="share of draws that reach it (default: 0.95)"
    )
    made.add_argument("--seeds", choices=SEEDS, default="average", help="runs of a system (default: average)")
    made.add_argument("--against", choices=AGAINST, default="all", help="the ranking to agree with (default: on all)")
    made.add_argument(
        "--aso-draws",
        type=whole_number,
        default=DEFAULTS.aso_draws,
        metavar="N",
        help="draws a size to compare significance over runs in (default: 20; 0: none)",
    )
    made.add_argument("--save", default="", metavar="FILE", help="save the counts (.npz)")
    made.add_argument(
        "--align", choices=ALIGNMENTS, default="text", help="align words by text (default) or by position"
    )
    made.add_argument("--seed", type=whole_number, default=0, help="seed of the draws (default: 0)")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    add_ledger(made)
    add_reading(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    sizes, whole = parse_sizes(arguments.sizes)
    settings = SizeSettings(
        sizes,
        whole,
        tuple(way.strip() for way in arguments.ways.split(",") if way.strip()),
        arguments.draws,
        arguments.seeds,
        arguments.against,
        arguments.threshold,
        arguments.confidence,
        arguments.seed,
        arguments.aso_draws,
    )
    found = _study(arguments, settings)
    if arguments.json:
        print_json(found.to_dict())
    else:
        print(size_text(found))
    say(found.notes)
    return 0


def _study(arguments: argparse.Namespace, settings: SizeSettings) -> SizeStudy:
    files: list[str] = arguments.files
    saved = [each for each in files if each.endswith(SUFFIX) and "=" not in each]
    if (arguments.sets or saved) and arguments.save:
        raise InputError("deadheat size: --save is for GOLD NAME=PRED ...; expected it without --sets and saved counts")
    if arguments.sets:
        if files:
            raise InputError(f"deadheat size: {files[0]} beside --sets; expected files or a table of them, not both")
        return size_of_sets(
            arguments.sets,
            metric=arguments.metric,
            settings=settings,
            align_by=arguments.align,
            ledger_entry=ledger_entry(arguments),
            **reading(arguments),
        )
    if saved:
        other = next((each for each in files if each not in saved), None)
        if other is not None:
            told = f"{other} beside saved counts; expected one or the other"
            raise InputError(f"deadheat size: {told}")
        return size_of_counts(saved, metric=arguments.metric, settings=settings, ledger_entry=ledger_entry(arguments))
    if len(files) < 2:
        shown = f"{files[0]} alone" if files else "no files"
        told = f"expected GOLD NAME=PRED NAME=PRED ..., counts that were saved ({SUFFIX}), or --sets FILE"
        raise InputError(f"deadheat size: {shown}; {told}")
    return size(
        files[0],
        _runs(files[1:]),
        metric=arguments.metric,
        settings=settings,
        align_by=arguments.align,
        save=arguments.save,
        ledger_entry=ledger_entry(arguments),
        **reading(arguments),
    )


def _runs(systems: Sequence[str]) -> dict[str, list[str]]:
    """Files by the names given to them as NAME=FILE; a name that comes again has one run more."""
    found: dict[str, list[str]] = {}
    for each in systems:
        name, equals, path = each.partition("=")
        if not (name and equals and path):
            raise InputError(f"deadheat size: {each!r}; expected NAME=FILE, such as A={each}")
        found.setdefault(name, []).append(path)
    return found
