"""`deadheat rank SCORES`"""

from __future__ import annotations

import argparse

from deadheat.cli.options import Parser, announce_compiling, print_json, say, whole_number
from deadheat.errors import InputError
from deadheat.questions.rank import SAMPLES, rank
from deadheat.ranking.extremes import TIME_LIMIT
from deadheat.tables.matrix import MISSING
from deadheat.terminal.rank import ranking_text

EXAMPLES = """\
examples:
  deadheat rank scores.csv --metric las                       a million random subsets of 10 data sets
  deadheat rank scores.csv --metric las --exact               and what holds over all of them
  deadheat rank scores.csv --metric las --subsets papers.csv  subsets with a name (columns subset, treebank)
  deadheat rank scores.csv --metric las --attributes treebanks.csv --one-per family
  deadheat rank scores.csv --metric las --attributes treebanks.csv --anomalies Stanford
  deadheat rank scores.csv --metrics las,blex                 which metric ranks more steadily
A table has the columns metric, treebank (or dataset), system and score, or a row a data set and a column a system."""


def parser() -> argparse.ArgumentParser:
    made = Parser("rank", "Would another choice of data sets change the ranking?", epilog=EXAMPLES)
    made.add_argument(
        "scores", metavar="SCORES", help="a table of scores (CSV, TSV, JSONL, Parquet; -: standard input)"
    )
    made.add_argument("-m", "--metric", default="", metavar="NAME", help="the metric, where the table has several")
    made.add_argument(
        "--metrics", default=None, metavar="NAMES", help="compare the stability by these, as las,blex; or all"
    )
    made.add_argument("--exact", action="store_true", help="count pairs and find extremes over all subsets")
    made.add_argument(
        "--time-limit", type=float, default=TIME_LIMIT, metavar="SECONDS", help="for each search (default: 60)"
    )
    made.add_argument(
        "--anomalies", action="append", default=[], metavar="SYSTEM", help="look into its extreme subsets"
    )
    made.add_argument("--subsets", metavar="FILE", help="a table of named subsets: subset, treebank")
    made.add_argument("--perfect", type=float, metavar="SCORE", help="the score without errors (default: 1 or 100)")
    made.add_argument("--leave-one-out", action="store_true", help="the ranking without each data set")
    made.add_argument(
        "--representative", type=whole_number, metavar="K", help="K data sets that rank the systems as all do"
    )
    made.add_argument("--seed", type=whole_number, default=0, help="seed of the subsets (default: 0)")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    _add_drawing(made)
    _add_columns(made)
    return made


def _add_drawing(made: argparse.ArgumentParser) -> None:
    group = made.add_argument_group("drawing subsets")
    group.add_argument(
        "--subset-size",
        type=whole_number,
        metavar="K",
        help="data sets a subset (default: 10, or half of fewer than 20; with --one-per as many as there are groups)",
    )
    group.add_argument(
        "--samples", type=whole_number, default=SAMPLES, metavar="N", help="random subsets (default: 1000000)"
    )
    group.add_argument("--attributes", metavar="FILE", help="a table of what is known of each data set")
    group.add_argument("--stratify", default="", metavar="ATTRIBUTE", help="draw in proportion to its values")
    group.add_argument("--one-per", default="", metavar="ATTRIBUTE", help="draw one data set of each of its values")


def _add_columns(made: argparse.ArgumentParser) -> None:
    group = made.add_argument_group("reading")
    group.add_argument("--system", default="", metavar="COLUMN", help="column of systems")
    group.add_argument("--dataset", default="", metavar="COLUMN", help="column of data sets")
    group.add_argument("--score", default="", metavar="COLUMN", help="column of scores")
    group.add_argument("--missing", choices=MISSING, default="refuse", help="data sets that lack a score")


def run(arguments: argparse.Namespace) -> int:
    if arguments.anomalies and not arguments.attributes:
        raise InputError("deadheat rank: --anomalies without attributes of data sets; expected --attributes FILE")
    if arguments.scores == "-" and arguments.metrics is not None:
        raise InputError("deadheat rank: --metrics reads the table twice; expected a file and not standard input")
    announce_compiling()
    found = rank(
        arguments.scores,
        metric=arguments.metric,
        subset_size=arguments.subset_size,
        samples=arguments.samples,
        attributes=arguments.attributes,
        stratify=arguments.stratify,
        one_per=arguments.one_per,
        exact=arguments.exact,
        time_limit=arguments.time_limit,
        anomalous=arguments.anomalies,
        subsets=arguments.subsets,
        perfect=arguments.perfect,
        left_out=arguments.leave_one_out,
        representative_size=arguments.representative,
        metrics=_metrics(arguments.metrics),
        seed=arguments.seed,
        system=arguments.system,
        dataset=arguments.dataset,
        score=arguments.score,
        missing=arguments.missing,
    )
    if arguments.json:
        print_json(found.to_dict())
    else:
        print(ranking_text(found))
    say(found.notes)
    return 0


def _metrics(given: str | None) -> list[str] | None:
    if given is None:
        return None
    return [] if given == "all" else [name for name in given.split(",") if name]
