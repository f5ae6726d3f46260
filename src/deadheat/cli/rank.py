"""`deadheat rank SCORES`"""

from __future__ import annotations

import argparse

from deadheat.cli.options import Parser, announce_compiling, show, whole_number
from deadheat.errors import InputError
from deadheat.questions.rank import SAMPLES, rank
from deadheat.ranking.exact import TIME_LIMIT
from deadheat.tables.matrix import MISSING

EXAMPLES = """\
examples:
  deadheat rank scores.csv --metric las                       a million random subsets of 10 data sets
  deadheat rank scores.csv --metric las --exact               also over all of them
  deadheat rank scores.csv --metric las --subsets papers.csv  named subsets (columns subset, treebank)
  deadheat rank scores.csv --metric las --attributes treebanks.csv --one-per family
  deadheat rank scores.csv --metric las --attributes treebanks.csv --anomalies Stanford
  deadheat rank scores.csv --metrics las,blex                 which metric gives a more stable ranking
A table has the columns metric, treebank (or dataset), system and score, or one row per data set and one column per
system."""


def parser() -> argparse.ArgumentParser:
    parser = Parser("rank", "Would another choice of data sets change the ranking?", epilog=EXAMPLES)
    parser.add_argument(
        "scores", metavar="SCORES", help="a table of scores (CSV, TSV, JSONL, Parquet; -: standard input)"
    )
    parser.add_argument("-m", "--metric", default="", metavar="NAME", help="the metric, if the table has several")
    parser.add_argument(
        "--metrics", default=None, metavar="NAMES", help="compare the stability by these, as las,blex; or all"
    )
    parser.add_argument(
        "--exact", action="store_true", help="count pairs, and find the best and worst ranks, over all subsets"
    )
    parser.add_argument(
        "--time-limit", type=float, default=TIME_LIMIT, metavar="SECONDS", help="for each search (default: 60)"
    )
    parser.add_argument(
        "--anomalies", action="append", default=[], metavar="SYSTEM", help="examine its best and worst subsets"
    )
    parser.add_argument("--subsets", metavar="FILE", help="a table of named subsets: subset, treebank")
    parser.add_argument("--perfect", type=float, metavar="SCORE", help="the score without errors (default: 1 or 100)")
    parser.add_argument("--leave-one-out", action="store_true", help="rank without each data set in turn")
    parser.add_argument(
        "--representative", type=whole_number, metavar="K", help="find K data sets that rank the systems as all do"
    )
    parser.add_argument("--seed", type=whole_number, default=0, help="seed of the subsets (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    drawing = parser.add_argument_group("drawing subsets")
    drawing.add_argument(
        "--subset-size",
        type=whole_number,
        metavar="K",
        help="data sets per subset (default: 10, or half of fewer than 20; with --one-per the number of groups)",
    )
    drawing.add_argument(
        "--samples", type=whole_number, default=SAMPLES, metavar="N", help="random subsets (default: 1000000)"
    )
    drawing.add_argument("--attributes", metavar="FILE", help="a table of attributes of the data sets")
    drawing.add_argument("--stratify", default="", metavar="ATTRIBUTE", help="draw in proportion to its values")
    drawing.add_argument("--one-per", default="", metavar="ATTRIBUTE", help="draw one data set per value")
    reading = parser.add_argument_group("reading")
    reading.add_argument("--system", default="", metavar="COLUMN", help="column of systems")
    reading.add_argument("--dataset", default="", metavar="COLUMN", help="column of data sets")
    reading.add_argument("--score", default="", metavar="COLUMN", help="column of scores")
    reading.add_argument(
        "--missing", choices=MISSING, default="refuse", help="what to do with data sets that lack a score"
    )
    return parser


def run(arguments: argparse.Namespace) -> int:
    if arguments.anomalies and not arguments.attributes:
        raise InputError("deadheat rank: --anomalies without attributes of data sets; expected --attributes FILE")
    if arguments.scores == "-" and arguments.metrics is not None:
        raise InputError("deadheat rank: --metrics reads the table twice; expected a file and not standard input")
    announce_compiling()
    result = rank(
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
    return show(result, as_json=arguments.json)


def _metrics(names: str | None) -> list[str] | None:
    if names is None:
        return None
    return [] if names == "all" else [name for name in names.split(",") if name]
