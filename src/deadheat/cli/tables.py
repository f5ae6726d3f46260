"""Commands on tables of scores and runs: rank, seeds, contrast."""

from __future__ import annotations

import argparse

from deadheat.arguments import add_arguments, values_of
from deadheat.cli.options import Parser, add_json, announce_compiling, show
from deadheat.errors import InputError

TABLE = "(CSV, TSV, JSONL, Parquet; -: standard input)"
RANK_EXAMPLES = """\
examples:
  deadheat rank scores.csv --metric las                       a million random subsets of 10 data sets
  deadheat rank scores.csv --metric las --exact               also over all of them
  deadheat rank scores.csv --metric las --subsets papers.csv  named subsets (columns subset, treebank)
  deadheat rank scores.csv --metric las --attributes treebanks.csv --one-per family
  deadheat rank scores.csv --metric las --attributes treebanks.csv --anomalies Stanford
  deadheat rank scores.csv --metrics las,blex                 which metric gives a more stable ranking
A table has the columns metric, treebank (or dataset), system and score, or one row per data set and one column per
system."""
SEEDS_EXAMPLES = """\
examples:
  deadheat seeds runs.csv --system system --score test --dev dev
  deadheat seeds runs.csv --system system --score test --difference 0.002
  deadheat seeds runs.tsv --score Test_F1 --dev Dev_F1 --by Dataset"""
CONTRAST_EXAMPLES = """\
examples:
  deadheat contrast runs.tsv --factor Decoder --score Test_F1 --by Dataset
  deadheat contrast runs.tsv --factor Embeddings --score Test_F1 --by Dataset --where Setting=SingleTask
  deadheat contrast runs.tsv --factor Decoder --score Test_F1 --second LSTM-Layers
  deadheat contrast runs.tsv --score Test_F1 --importance"""


def rank_parser() -> argparse.ArgumentParser:
    from deadheat.questions.rank import rank

    parser = Parser("rank", "Would another choice of data sets change the ranking?", epilog=RANK_EXAMPLES)
    parser.add_argument("scores", metavar="SCORES", help=f"a table of scores {TABLE}")
    add_arguments(parser, rank)
    add_json(parser)
    return parser


def run_rank(arguments: argparse.Namespace) -> int:
    from deadheat.questions.rank import rank

    if arguments.anomalies and not arguments.attributes:
        raise InputError("deadheat rank: --anomalies without attributes of data sets; expected --attributes FILE")
    if arguments.scores == "-" and arguments.metrics is not None:
        raise InputError("deadheat rank: --metrics reads the table twice; expected a file and not standard input")
    announce_compiling()
    return show(rank(arguments.scores, **values_of(rank, arguments)), as_json=arguments.json)


def seeds_parser() -> argparse.ArgumentParser:
    from deadheat.questions.seeds import seeds

    parser = Parser("seeds", "Is it the method or the seed?", epilog=SEEDS_EXAMPLES)
    parser.add_argument("runs", metavar="RUNS", help=f"a table of runs {TABLE}")
    add_arguments(parser, seeds)
    add_json(parser)
    return parser


def run_seeds(arguments: argparse.Namespace) -> int:
    from deadheat.questions.seeds import seeds

    announce_compiling()
    return show(seeds(arguments.runs, **values_of(seeds, arguments)), as_json=arguments.json)


def contrast_parser() -> argparse.ArgumentParser:
    from deadheat.questions.contrast import contrast

    question = "Which option wins over configurations that agree in every other setting?"
    parser = Parser("contrast", question, epilog=CONTRAST_EXAMPLES)
    parser.add_argument("runs", metavar="RUNS", help=f"a table of runs {TABLE}")
    add_arguments(parser, contrast)
    add_json(parser)
    return parser


def run_contrast(arguments: argparse.Namespace) -> int:
    from deadheat.questions.contrast import contrast

    announce_compiling()
    if not arguments.factor and not arguments.importance:
        raise InputError("deadheat contrast: no factor; expected --factor COLUMN, or --importance")
    return show(contrast(arguments.runs, **values_of(contrast, arguments)), as_json=arguments.json)
