"""`deadheat contrast RUNS --factor F --score S`"""

from __future__ import annotations

import argparse

from deadheat.cli.options import Parser, announce_compiling, show, whole_number
from deadheat.errors import InputError
from deadheat.questions.contrast import contrast
from deadheat.ranking.contrasts import REPEATS, TIES

EXAMPLES = """\
examples:
  deadheat contrast runs.tsv --factor Decoder --score Test_F1 --by Dataset
  deadheat contrast runs.tsv --factor Embeddings --score Test_F1 --by Dataset --where Setting=SingleTask
  deadheat contrast runs.tsv --factor Decoder --score Test_F1 --second LSTM-Layers
  deadheat contrast runs.tsv --score Test_F1 --importance"""


def parser() -> argparse.ArgumentParser:
    made = Parser(
        "contrast", "Which option wins over configurations that agree in every other setting?", epilog=EXAMPLES
    )
    made.add_argument("runs", metavar="RUNS", help="a table of runs (CSV, TSV, JSONL, Parquet; -: standard input)")
    made.add_argument("--factor", default="", metavar="COL", help="the column whose options are compared")
    made.add_argument("--score", required=True, metavar="COL", help="the column of scores; higher is better")
    made.add_argument("--by", default="", metavar="COL", help="compare separately for each level of this column")
    made.add_argument("--second", default="", metavar="COL", help="a second factor: a table for each of its levels")
    made.add_argument(
        "--where", action="append", default=[], metavar="COL=VALUE", help="only runs with this value (repeatable)"
    )
    made.add_argument("--option", action="append", default=[], metavar="NAME", help="only these options of the factor")
    made.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="COL",
        help="paired runs may differ in this column (repeatable)",
    )
    made.add_argument(
        "--setting",
        action="append",
        default=[],
        metavar="COL",
        help="a column that is a setting although its name looks like a result",
    )
    made.add_argument(
        "--repeats",
        choices=REPEATS,
        default="mean",
        help="runs of one configuration: use their mean (default), or pair each (tests use means)",
    )
    made.add_argument(
        "--ties",
        choices=TIES,
        default="most",
        help="ties: the win goes to the option with most wins (default), or is shared",
    )
    made.add_argument("--alpha", type=float, default=0.05, help="significance level (default: 0.05)")
    made.add_argument(
        "--correct", default="holm", metavar="NAME", help="correction: bonferroni, holm (default), bh or none"
    )
    made.add_argument("--importance", action="store_true", help="how much of the variance each setting explains")
    made.add_argument(
        "--seed", type=whole_number, default=0, help="seed of the forest behind --importance (default: 0)"
    )
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def run(arguments: argparse.Namespace) -> int:
    announce_compiling()
    if not arguments.factor and not arguments.importance:
        raise InputError("deadheat contrast: no factor; expected --factor COL, or --importance")
    result = contrast(
        arguments.runs,
        score=arguments.score,
        factor=arguments.factor,
        by=arguments.by,
        second=arguments.second,
        where=arguments.where,
        ignore=arguments.ignore,
        settings=arguments.setting,
        options=arguments.option,
        repeats=arguments.repeats,
        ties=arguments.ties,
        alpha=arguments.alpha,
        correction=arguments.correct,
        importance=arguments.importance,
        seed=arguments.seed,
    )
    return show(result, as_json=arguments.json)
