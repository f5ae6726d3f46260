"""Commands on predictions: score, compare, power, size."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from deadheat.arguments import add_arguments, values_of
from deadheat.cli.options import (
    Parser,
    add_json,
    add_ledger,
    add_reading,
    ledger_entry,
    named_files,
    one_file_each,
    reading,
    show,
)
from deadheat.errors import InputError
from deadheat.results.base import Result

if TYPE_CHECKING:
    from deadheat.ranking.size_samples import SizeSettings

SCORE_EXAMPLES = """\
examples:
  deadheat score gold.conllu mine.conllu theirs.conllu
  deadheat score gold.conllu mine.conllu --metric las --by genre
  deadheat score gold.txt mine.txt --columns form,xpos,chunk -m chunks
  deadheat score gold.conllu mine.conllu --train train.conllu -m "unknown(column='upos')"
'deadheat metrics' lists all metrics."""
COMPARE_EXAMPLES = """\
examples:
  deadheat compare gold.conllu A=a.conllu B=b.conllu C=c.conllu
  deadheat compare gold.conllu A=a.conllu B=b.conllu --metric upos --unit token --train train.conllu
  deadheat compare gold.conllu A=a.conllu B=b.conllu --test bootstrap --unit document
  deadheat compare --scores scores.csv          a table of systems by data sets"""
POWER_EXAMPLES = """\
examples:
  deadheat power gold.conllu A=a.conllu B=b.conllu --size 5000
  deadheat power --accuracies 0.970 0.968 --agreement 0.98 --size 25000"""
SIZE_EXAMPLES = """\
examples:
  deadheat size gold.conllu A=a.conllu B=b.conllu C=c.conllu
  deadheat size gold.conllu A=a.run1.conllu A=a.run2.conllu B=b.run1.conllu B=b.run2.conllu    runs of two systems
  deadheat size gold.conllu A=a.conllu B=b.conllu --against rest --threshold 0.8
  deadheat size gold.conllu A=a.conllu B=b.conllu --save counts.npz && deadheat size counts.npz --draws 1000
  deadheat size --sets sets.csv          several test sets: columns set, gold, system, prediction"""


def score_parser() -> argparse.ArgumentParser:
    from deadheat.questions.score import score

    parser = Parser("score", "How good is each prediction, with confidence intervals?", epilog=SCORE_EXAMPLES)
    parser.add_argument("gold", metavar="GOLD", help="the gold file (a folder: all of its files; -: standard input)")
    parser.add_argument("predictions", metavar="PRED", nargs="+", help="predictions of the same text")
    add_arguments(parser, score)
    add_json(parser)
    add_ledger(parser)
    add_reading(parser)
    return parser


def run_score(arguments: argparse.Namespace) -> int:
    from deadheat.questions.score import score

    options = values_of(score, arguments) | reading(arguments)
    result = score(arguments.gold, arguments.predictions, ledger_entry=ledger_entry(arguments), **options)
    return show(result, as_json=arguments.json)


def compare_parser() -> argparse.ArgumentParser:
    from deadheat.questions.compare import compare, compare_scores

    parser = Parser("compare", "Which differences between systems are real?", epilog=COMPARE_EXAMPLES)
    parser.add_argument("gold", metavar="GOLD", nargs="?", help="the gold file")
    parser.add_argument("systems", metavar="NAME=PRED", nargs="*", help="predictions, each with the name of its system")
    parser.add_argument("--scores", metavar="TABLE", help="a table of scores instead of files, paired by data set")
    add_arguments(parser, compare)
    add_arguments(parser, compare_scores)
    add_json(parser)
    add_ledger(parser)
    add_reading(parser)
    return parser


def run_compare(arguments: argparse.Namespace) -> int:
    return show(_comparison(arguments), as_json=arguments.json)


def _comparison(arguments: argparse.Namespace) -> Result:
    from deadheat.questions.compare import compare, compare_scores

    if arguments.scores:
        if arguments.gold:
            raise InputError(f"deadheat compare: {arguments.gold} beside --scores; expected files or a table, not both")
        if arguments.train or arguments.unit != "sentence" or arguments.align != "text":
            raise InputError("deadheat compare: --train, --unit and --align are for files; expected none with --scores")
        return compare_scores(arguments.scores, **values_of(compare_scores, arguments))
    if not arguments.gold:
        raise InputError("deadheat compare: no files; expected GOLD NAME=PRED NAME=PRED ..., or --scores TABLE")
    options = values_of(compare, arguments) | reading(arguments)
    systems = one_file_each("compare", arguments.systems)
    return compare(arguments.gold, systems, ledger_entry=ledger_entry(arguments), **options)


def power_parser() -> argparse.ArgumentParser:
    from deadheat.questions.power import power

    parser = Parser("power", "Could this test set have shown the difference?", epilog=POWER_EXAMPLES)
    parser.add_argument("gold", metavar="GOLD", nargs="?", help="the gold file")
    parser.add_argument("systems", metavar="NAME=PRED", nargs="*", help="two predictions")
    parser.add_argument("--accuracies", type=float, nargs=2, metavar="P", help="assumed accuracies, instead of files")
    parser.add_argument("--agreement", type=float, help="share of items on which both are right or both wrong")
    add_arguments(parser, power)
    add_json(parser)
    add_ledger(parser)
    add_reading(parser)
    return parser


def run_power(arguments: argparse.Namespace) -> int:
    from deadheat.questions.power import assumed_power, power

    if arguments.accuracies:
        if arguments.gold or arguments.units is None or arguments.agreement is None:
            raise InputError("deadheat power: --accuracies needs --size and --agreement, and no files")
        result = assumed_power(
            arguments.units,
            *arguments.accuracies,
            agreement=arguments.agreement,
            alpha=arguments.alpha,
            target=arguments.target,
            seed=arguments.seed,
        )
        return show(result, as_json=arguments.json)
    if not arguments.gold:
        raise InputError("deadheat power: no files; expected GOLD NAME=PRED NAME=PRED, or --accuracies")
    options = values_of(power, arguments) | reading(arguments)
    systems = one_file_each("power", arguments.systems)
    result = power(arguments.gold, systems, ledger_entry=ledger_entry(arguments), **options)
    return show(result, as_json=arguments.json)


def size_parser() -> argparse.ArgumentParser:
    from deadheat.questions.size import size
    from deadheat.ranking.size_samples import SIZES, STRATEGIES, SizeSettings

    parser = Parser("size", "How much test data is sufficient to rank systems?", epilog=SIZE_EXAMPLES)
    parser.add_argument(
        "files", metavar="COUNTS", nargs="*", help="GOLD NAME=PRED NAME=PRED ..., or saved counts (.npz)"
    )
    parser.add_argument("--sets", metavar="FILE", help="a table of test sets: set, gold, system, prediction")
    sizes = f"{','.join(map(str, SIZES))},all"
    parser.add_argument("--sizes", default=sizes, metavar="WORDS", help=f"sizes (default: {sizes})")
    strategies = ",".join(STRATEGIES)
    parser.add_argument(
        "--strategies", "--ways", default=strategies, metavar="NAMES", help=f"sampling (default: {strategies})"
    )
    parser.add_argument("--save", default="", metavar="FILE", help="save the counts (.npz)")
    add_arguments(parser, size)
    add_arguments(parser, SizeSettings)
    add_json(parser)
    add_ledger(parser)
    add_reading(parser)
    return parser


def run_size(arguments: argparse.Namespace) -> int:
    from deadheat.ranking.size_samples import SizeSettings, parse_sizes

    sizes, whole = parse_sizes(arguments.sizes)
    strategies = tuple(name.strip() for name in arguments.strategies.split(",") if name.strip())
    settings = SizeSettings(sizes, whole, strategies, **values_of(SizeSettings, arguments))
    return show(_size(arguments, settings), as_json=arguments.json)


def _size(arguments: argparse.Namespace, settings: SizeSettings) -> Result:
    from deadheat.questions.size import size, size_of_counts, size_of_sets
    from deadheat.questions.size_counts import SUFFIX

    files: list[str] = arguments.files
    saved = [file for file in files if file.endswith(SUFFIX) and "=" not in file]
    if (arguments.sets or saved) and arguments.save:
        raise InputError("deadheat size: --save is for GOLD NAME=PRED ...; expected it without --sets and saved counts")
    options = values_of(size, arguments) | {"settings": settings, "ledger_entry": ledger_entry(arguments)}
    if arguments.sets:
        if files:
            raise InputError(f"deadheat size: {files[0]} beside --sets; expected files or a table of them, not both")
        return size_of_sets(arguments.sets, **options, **reading(arguments))
    if saved:
        other = next((file for file in files if file not in saved), None)
        if other is not None:
            raise InputError(f"deadheat size: {other} beside saved counts; expected one or the other")
        return size_of_counts(saved, metric=arguments.metric, settings=settings, ledger_entry=ledger_entry(arguments))
    if len(files) < 2:
        problem = f"{files[0]} alone" if files else "no files"
        expected = f"expected GOLD NAME=PRED NAME=PRED ..., saved counts ({SUFFIX}), or --sets FILE"
        raise InputError(f"deadheat size: {problem}; {expected}")
    return size(files[0], named_files("size", files[1:]), save=arguments.save, **options, **reading(arguments))
