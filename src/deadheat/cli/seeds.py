"""`deadheat seeds RUNS --system COL --score COL`"""

from __future__ import annotations

import argparse

from deadheat.cli.options import Parser, announce_compiling, show, whole_number
from deadheat.questions.seeds import seeds

EXAMPLES = """\
examples:
  deadheat seeds runs.csv --system system --score test --dev dev
  deadheat seeds runs.csv --system system --score test --difference 0.002
  deadheat seeds runs.tsv --score Test_F1 --dev Dev_F1 --by Dataset"""


def parser() -> argparse.ArgumentParser:
    made = Parser("seeds", "Is it the method or the seed?", epilog=EXAMPLES)
    made.add_argument("runs", metavar="RUNS", help="a table of runs (CSV, TSV, JSONL, Parquet; -: standard input)")
    made.add_argument("--system", default="", metavar="COL", help="the column of systems (default: by its name)")
    made.add_argument("--score", required=True, metavar="COL", help="the column of test scores; higher is better")
    made.add_argument("--dev", default="", metavar="COL", help="the column of development scores")
    made.add_argument("--by", default="", metavar="COL", help="compare separately for each level of this column")
    made.add_argument(
        "--where", action="append", default=[], metavar="COL=VALUE", help="only runs with this value (repeatable)"
    )
    made.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="COL",
        help="runs of one configuration may differ in this column (repeatable)",
    )
    made.add_argument(
        "--setting",
        action="append",
        default=[],
        metavar="COL",
        help="a column that is a setting although its name looks like a result",
    )
    made.add_argument(
        "--difference",
        type=float,
        metavar="D",
        help="difference for which the seeds needed are computed (default: the observed one)",
    )
    made.add_argument("--target", type=float, default=0.8, help="power with which it should be found (default: 0.8)")
    made.add_argument("--alpha", type=float, default=0.05, help="significance level (default: 0.05)")
    made.add_argument(
        "--correct", default="holm", metavar="NAME", help="correction: bonferroni, holm (default), bh or none"
    )
    made.add_argument("--resamples", type=int, default=1000, metavar="N", help="bootstrap resamples (default: 1000)")
    made.add_argument("--seed", type=whole_number, default=0, help="seed of the resamples (default: 0)")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def run(arguments: argparse.Namespace) -> int:
    announce_compiling()
    result = seeds(
        arguments.runs,
        score=arguments.score,
        system=arguments.system,
        dev=arguments.dev,
        by=arguments.by,
        where=arguments.where,
        ignore=arguments.ignore,
        settings=arguments.setting,
        difference=arguments.difference,
        alpha=arguments.alpha,
        target=arguments.target,
        correction=arguments.correct,
        resamples=arguments.resamples,
        seed=arguments.seed,
    )
    return show(result, as_json=arguments.json)
