"""Commands that answer a question about predictions or scores of items: score, compare, power, size."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from deadheat.arguments import arguments_of, values_of
from deadheat.cli.options import (
    FULL,
    JSON,
    LEDGER_OPTIONS,
    READING_OPTIONS,
    Parser,
    ledger_entry,
    reading,
    refuse_options,
    say_lines,
    show,
)
from deadheat.errors import InputError
from deadheat.results.base import Result
from deadheat.text import pluralize

if TYPE_CHECKING:
    from deadheat.questions.designs import Prediction
    from deadheat.ranking.size_samples import SizeSettings
    from deadheat.results.compare import Comparison

CORPUS_OPTIONS = (*READING_OPTIONS, *LEDGER_OPTIONS)
GOLD = "the gold file; all files of a folder; - for standard input"
TO_SHOW = "--difference 0.5, the difference to show in points"
SCORE_EXAMPLES = """\
examples:
  deadheat score gold.conllu mine.conllu theirs.conllu
  deadheat score gold.conllu mine.conllu --metric las --by genre
  deadheat score gold.txt mine.txt --columns form,xpos,chunk -m chunks
  deadheat score mine.txt --predicted -1          gold and predicted labels in the last two columns
  deadheat score gold.conllu mine.conllu --train train.conllu -m "unknown(column='upos')"
'deadheat metrics' lists all metrics."""
COMPARE_EXAMPLES = """\
examples:
  deadheat compare gold.conllu A=a.conllu B=b.conllu C=c.conllu
  deadheat compare gold.conllu A=a.conllu B=b.conllu --metric upos --unit token --train train.conllu
  deadheat compare gold.conllu A=a.run1.conllu A=a.run2.conllu B='b.run*.conllu'       several runs of each
  deadheat compare 'gold/{dataset}.conllu' 'pred/{dataset}/{system}.{run}.conllu'      several data sets and runs
  deadheat compare gold.conllu A=a.conllu B=b.conllu --margin 0.2                      equal within 0.2 points?
  deadheat compare --scores scores.csv          a table of scores by system and data set"""
POWER_EXAMPLES = """\
examples:
  deadheat power gold.conllu A=a.conllu B=b.conllu --difference 0.5
  deadheat power gold.conllu A=a.run1.conllu A=a.run2.conllu B=b.run1.conllu B=b.run2.conllu --difference 0.5 --runs 5
  deadheat power items.csv --difference 2 --attempts 4        a table of scores of items, or logs of evaluations
  deadheat power --accuracies 0.970 0.968 --agreement 0.98 --units 25000
  deadheat power --accuracies 0.970 0.968 --agreement 0.98 --units 25000 --design-effect 2 --runs 5 --run-sd 0.1
With files, --difference is the true difference that should be shown; the observed one is not used, only the noise."""
SIZE_EXAMPLES = """\
examples:
  deadheat size gold.conllu A=a.conllu B=b.conllu C=c.conllu
  deadheat size gold.conllu A=a.run1.conllu A=a.run2.conllu 'B=b.run*.conllu'      several runs per system
  deadheat size gold.conllu A=a.conllu B=b.conllu --against rest --threshold 0.8
  deadheat size gold.conllu A=a.conllu B=b.conllu --save counts.npz && deadheat size counts.npz --draws 1000
  deadheat size 'gold/{dataset}.conllu' 'pred/{dataset}/{system}.{run}.conllu'     several test sets
  deadheat size items.csv          how many items are enough: a table of scores of items, or logs of evaluations
  deadheat size --sets sets.csv          several test sets: columns set, gold, system, prediction"""


def score_parser() -> argparse.ArgumentParser:
    from deadheat.questions.score import score

    parser = Parser("score", epilog=SCORE_EXAMPLES)
    parser.add_argument("gold", metavar="GOLD", help=GOLD)
    parser.add_argument("predictions", metavar="PRED", nargs="*", help="predictions for the same text")
    parser.add_argument("--full", action="store_true", help=FULL)
    return parser.add_options(score, json=JSON, ledger=True, reading=True)


def run_score(arguments: argparse.Namespace) -> int:
    from deadheat.questions.score import score

    if not (arguments.predictions or arguments.predicted):
        expected = "a file of predictions, or --predicted to name a column; see deadheat score --help"
        raise InputError(f"deadheat score: {arguments.gold} alone; expected {expected}")
    options = values_of(score, arguments) | reading(arguments)
    result = score(arguments.gold, arguments.predictions, ledger_entry=ledger_entry(arguments), **options)
    return show(result, as_json=arguments.json, full=arguments.full)


def compare_parser() -> argparse.ArgumentParser:
    from deadheat.cli.items import add_item_options
    from deadheat.questions.compare import compare
    from deadheat.questions.compare_items import compare_items
    from deadheat.questions.compare_scores import compare_scores

    parser = Parser("compare", epilog=COMPARE_EXAMPLES)
    parser.add_argument(
        "gold",
        metavar="GOLD",
        nargs="?",
        help=f"{GOLD}; or a pattern with {{dataset}}; or a table or logs with scores of items",
    )
    parser.add_argument(
        "systems", metavar="NAME=PRED", nargs="*", help="a system's name and its prediction, once per run; or patterns"
    )
    parser.add_argument("--sets", metavar="FILE", help="a table of predictions: set, gold, system, prediction, run")
    parser.add_argument("--scores", metavar="TABLE", help="a table of scores, of items or of whole data sets")
    parser.add_argument("--full", action="store_true", help=FULL)
    gate = parser.add_argument_group("checks of builds")
    gate.add_argument(
        "--fail-if-worse",
        metavar="NAME",
        help="exit code 1 if this system is shown to be worse than another one, unless by no more than the margin",
    )
    gate.add_argument("--markdown", action="store_true", help="print the result as Markdown, for a pull request")
    parser.add_options(compare, compare_items, compare_scores, json=JSON, ledger=True, reading=True)
    add_item_options(parser)
    return parser


def run_compare(arguments: argparse.Namespace) -> int:
    from deadheat.reporting.gate import gate_line

    result, system = _comparison(arguments), arguments.fail_if_worse
    has_failed = bool(system) and result.is_worse(system)
    show(result, as_json=arguments.json, as_markdown=arguments.markdown, full=arguments.full)
    if system:  # apart from the Markdown before it, where both are one comment
        say_lines([*([""] if arguments.markdown else []), gate_line(result, system)])
    return int(has_failed)


def _comparison(arguments: argparse.Namespace) -> Comparison:
    from deadheat.cli.items import named_files, open_unnamed
    from deadheat.questions.compare import compare
    from deadheat.questions.designs import (
        Prediction,
        is_about_items,
        is_pattern,
        match_pattern,
        named_runs,
        read_sets_table,
    )

    given = [*filter(None, [arguments.gold, arguments.sets and "--sets", arguments.scores and "--scores"])]
    if len(given) > 1:
        raise InputError(f"deadheat compare: {given[0]} beside {given[1]}; expected only one of files and tables")
    if not given:
        raise InputError(
            "deadheat compare: no files; expected GOLD NAME=PRED NAME=PRED ..., a table or logs with scores of items, "
            "--sets or --scores TABLE"
        )
    if arguments.scores:
        return _of_scores(arguments)
    files = [arguments.gold, *arguments.systems] if arguments.gold else []
    own_gold = bool(arguments.predicted and files) and (len(files) == 1 or not _is_file(files[0]))
    if files and not own_gold and not is_pattern(files[0]) and not any("=" in file for file in files[1:]):
        return _of_items(arguments, open_unnamed("compare", arguments, files))
    if files and not own_gold and not _is_file(files[0]):
        named = named_files("compare", files)
        return _of_items(arguments, {name: runs[0] if len(runs) == 1 else runs for name, runs in named.items()})
    gold, systems = ("", files) if own_gold else (arguments.gold or "", arguments.systems)
    if arguments.sets:
        predictions = read_sets_table(arguments.sets)
    elif own_gold and _is_file(files[0]):
        predictions = [Prediction("", "", files[0], "1", files[0])]
    elif is_pattern(gold):
        predictions = match_pattern(gold, systems) if systems else []
    else:
        try:
            predictions = named_runs(gold, systems)
        except InputError as error:
            raise InputError(f"deadheat compare: {error}") from None
    labels = [*arguments.predicted, arguments.gold_column]
    if arguments.item or arguments.cluster or is_about_items(predictions, labels):
        return _of_labels(arguments, predictions)
    refuse_options(arguments, compare, "scores of items", compare_parser(), CORPUS_OPTIONS)
    options = values_of(compare, arguments) | reading(arguments) | {"ledger_entry": ledger_entry(arguments)}
    return compare(gold, predictions, **options)


def _of_labels(arguments: argparse.Namespace, predictions: Sequence[Prediction]) -> Comparison:
    """The comparison of labels of items, or of answers."""
    from deadheat.questions.compare_items import compare_items
    from deadheat.questions.item_comparison import compare_predictions

    columns = {name: getattr(arguments, name) for name in ("item", "cluster", "gold_column", "predicted")}
    refuse_options(arguments, compare_items, "files of predictions", compare_parser(), [*columns, *LEDGER_OPTIONS])
    options = values_of(compare_items, arguments) | {"ledger_entry": ledger_entry(arguments)}
    return compare_predictions(predictions, columns, **options)


def _is_file(argument: str) -> bool:  # and not NAME=FILE
    return "=" not in argument or os.path.exists(argument)


def _of_scores(arguments: argparse.Namespace) -> Comparison:
    """The comparison on a table of scores: of items if it has a column of items, else of data sets."""
    from deadheat.cli.items import item_reading
    from deadheat.items.table import ItemTable
    from deadheat.questions.compare_scores import compare_scores
    from deadheat.questions.item_means import open_source

    source = open_source(arguments.scores, **item_reading(arguments))
    if isinstance(source, ItemTable):
        return _of_items(arguments, source)
    refuse_options(arguments, compare_scores, "files or scores of items", compare_parser())
    return compare_scores(source, **values_of(compare_scores, arguments))


def _of_items(arguments: argparse.Namespace, source: object) -> Comparison:
    from deadheat.cli.items import item_options, item_reading
    from deadheat.questions.compare_items import compare_items

    refuse_options(arguments, compare_items, "files of predictions", compare_parser(), item_options())
    options = values_of(compare_items, arguments) | item_reading(arguments)
    return compare_items(source, ledger_entry=ledger_entry(arguments), **options)


def power_parser() -> argparse.ArgumentParser:
    from deadheat.cli.items import add_item_options
    from deadheat.questions.power import power
    from deadheat.questions.power_items import power_items

    parser = Parser("power", epilog=POWER_EXAMPLES)
    parser.add_argument("gold", metavar="GOLD", nargs="?", help=f"{GOLD}; or a table or logs with scores of items")
    systems = "two systems' names and predictions; a name may be repeated for several runs"
    parser.add_argument("systems", metavar="NAME=PRED", nargs="*", help=systems)
    parser.add_argument("--accuracies", type=float, nargs=2, metavar="P", help="assumed accuracies, instead of files")
    parser.add_argument(
        "--agreement", type=float, metavar="SHARE", help="share of items on which both are right or both are wrong"
    )
    parser.add_argument(
        "--design-effect", type=float, metavar="X", help="with --accuracies: variance relative to independent items"
    )
    parser.add_argument(
        "--run-sd", type=float, metavar="POINTS", help="with --accuracies: standard deviation of scores over runs"
    )
    parser.add_options(power, power_items, json=JSON, ledger=True, reading=True)
    add_item_options(parser)
    return parser


def run_power(arguments: argparse.Namespace) -> int:
    from deadheat.cli.items import item_options, item_reading, item_source, named_systems
    from deadheat.questions.power import power
    from deadheat.questions.power_items import power_items

    if arguments.accuracies:
        refuse_options(arguments, power, "scores of items", power_parser())
        return show(_assumed_power(arguments), as_json=arguments.json)
    if not arguments.gold:
        expected = f"GOLD NAME=PRED NAME=PRED or scores of items, and {TO_SHOW}; or --accuracies"
        raise InputError(f"deadheat power: no files; expected {expected}")
    given = [flag for flag in ("agreement", "design_effect", "run_sd") if getattr(arguments, flag) is not None]
    if given:
        flag = given[0].replace("_", "-")
        raise InputError(
            f"deadheat power: --{flag} with files; expected it with --accuracies, since files are measured"
        )
    lacks_difference = arguments.difference is None
    try:
        source = item_source("power", arguments, [arguments.gold, *arguments.systems])
        systems = named_systems("power", arguments.gold, arguments.systems) if source is None else {}
    except InputError as error:
        if not lacks_difference:
            raise
        raise InputError(f"{error}; and {TO_SHOW}") from None
    if lacks_difference and source is None and len(systems) != 2:
        problem = f"{pluralize(len(systems), 'system')} and no --difference"
        raise InputError(f"deadheat power: {problem}; expected two, and {TO_SHOW}")
    if lacks_difference:
        raise InputError(f"deadheat power: no --difference; expected {TO_SHOW}")
    if source is not None:
        refuse_options(arguments, power_items, "files of predictions", power_parser(), item_options())
        options = values_of(power_items, arguments) | item_reading(arguments)
        return show(power_items(source, ledger_entry=ledger_entry(arguments), **options), as_json=arguments.json)
    refuse_options(arguments, power, "scores of items", power_parser(), CORPUS_OPTIONS)
    options = values_of(power, arguments) | reading(arguments)
    result = power(arguments.gold, systems, ledger_entry=ledger_entry(arguments), **options)
    return show(result, as_json=arguments.json)


def _assumed_power(arguments: argparse.Namespace) -> Result:
    from deadheat.questions.power import assumed_power

    if arguments.gold or arguments.units is None or arguments.agreement is None:
        raise InputError("deadheat power: --accuracies needs --units and --agreement, and no files")
    given = [flag for flag in ("difference", "documents", "metric") if getattr(arguments, flag)]
    given += ["unit"] * (arguments.unit != "auto")
    if given:
        raise InputError(f"deadheat power: --{given[0]} with --accuracies; expected it with files only")
    options = {name: getattr(arguments, name) for name in ("agreement", "runs", "run_sd", "alpha", "target", "seed")}
    options |= {} if arguments.design_effect is None else {"design_effect": arguments.design_effect}
    return assumed_power(arguments.units, *arguments.accuracies, **options)


def size_parser() -> argparse.ArgumentParser:
    from deadheat.cli.items import add_item_options
    from deadheat.questions.size import size
    from deadheat.questions.size_items import size_items
    from deadheat.ranking.size_samples import SIZES, STRATEGIES, SizeSettings

    parser = Parser("size", epilog=SIZE_EXAMPLES)
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="*",
        help="GOLD NAME=PRED NAME=PRED ..., or counts that were saved (.npz), or a table or logs with scores of items",
    )
    parser.add_argument("--sets", metavar="FILE", help="a table of test sets: set, gold, system, prediction")
    sizes, strategies = f"{','.join(map(str, SIZES))},all", ",".join(STRATEGIES)
    parser.add_argument("--sizes", default=sizes, metavar="WORDS", help=f"sizes in words, or items (default: {sizes})")
    parser.add_argument(
        "--strategies", "--ways", default=strategies, metavar="NAMES", help=f"how to sample (default: {strategies})"
    )
    parser.add_argument("--save", default="", metavar="FILE", help="save the counts for later (.npz)")
    parser.add_options(size, SizeSettings, size_items, json=JSON, ledger=True, reading=True)
    add_item_options(parser)
    return parser


def run_size(arguments: argparse.Namespace) -> int:
    return show(_size(arguments), as_json=arguments.json)


def _size(arguments: argparse.Namespace) -> Result:
    from deadheat.cli.items import item_source, named_systems
    from deadheat.questions.designs import is_pattern, match_pattern
    from deadheat.questions.size import SUFFIX, size, size_of_counts, size_of_sets
    from deadheat.ranking.size_samples import SizeSettings, parse_sizes

    sizes, whole = parse_sizes(arguments.sizes)
    strategies = tuple(name.strip() for name in arguments.strategies.split(",") if name.strip())
    settings = SizeSettings(sizes, whole, strategies, **values_of(SizeSettings, arguments))
    files: list[str] = arguments.files
    saved = [file for file in files if file.endswith(SUFFIX) and "=" not in file]
    patterns = bool(files) and is_pattern(files[0])
    if (arguments.sets or saved or patterns) and arguments.save:
        raise InputError("deadheat size: --save is for one test set; expected it with GOLD NAME=PRED ... only")
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
    if not files:
        expected = f"GOLD NAME=PRED NAME=PRED ..., saved counts ({SUFFIX}), scores of items, or --sets FILE"
        raise InputError(f"deadheat size: no files; expected {expected}")
    source = item_source("size", arguments, files)
    if source is not None:
        return _size_of_items(arguments, source, settings)
    refuse_options(arguments, size, "scores of items", size_parser(), [*_size_options(), *CORPUS_OPTIONS, "save"])
    if patterns:
        return size_of_sets(match_pattern(files[0], files[1:]), **options, **reading(arguments))
    systems = named_systems("size", files[0], files[1:])
    return size(files[0], systems, save=arguments.save, **options, **reading(arguments))


def _size_of_items(arguments: argparse.Namespace, source: object, settings: SizeSettings) -> Result:
    from deadheat.cli.items import item_options, item_reading
    from deadheat.questions.size_items import size_items
    from deadheat.ranking.size_samples import ITEM_SIZES

    parser = size_parser()
    refuse_options(arguments, size_items, "files of predictions", parser, [*item_options(), *_size_options()])
    if arguments.sizes == parser.get_default("sizes"):
        settings = replace(settings, sizes=ITEM_SIZES)
    options = {name: getattr(arguments, name) for name in ("metric", "errors")} | item_reading(arguments)
    return size_items(source, settings=settings, ledger_entry=ledger_entry(arguments), **options)


def _size_options() -> list[str]:
    """Options of samples, which do not depend on what is sampled."""
    from deadheat.ranking.size_samples import SizeSettings

    return [*arguments_of(SizeSettings), "files", "sizes", "strategies"]
