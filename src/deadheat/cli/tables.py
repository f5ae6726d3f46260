"""Commands that answer a question about tables: rank, seeds, contrast."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from deadheat.arguments import add_arguments, arguments_of, values_of
from deadheat.cli.items import add_item_options, item_options, item_reading
from deadheat.cli.options import (
    JSON,
    Parser,
    announce_compiling,
    ledger_entry,
    refuse_options,
    report_progress,
    show,
)
from deadheat.errors import InputError
from deadheat.results.base import Result

RANK_EXAMPLES = """\
examples:
  deadheat rank scores.csv --metric las                       a million random subsets of 10 data sets
  deadheat rank scores.csv --metric las --exact               also over all subsets
  deadheat rank scores.csv --metric las --subsets papers.csv  named subsets (columns subset, treebank)
  deadheat rank scores.csv --metric las --attributes treebanks.csv --one-per family
  deadheat rank scores.csv --metric las --attributes treebanks.csv --anomalies Stanford
  deadheat rank scores.csv --metrics las,blex                 which metric gives a more stable ranking
  deadheat rank battles.csv                                   which of two was preferred: model_a, model_b, winner
A table has the columns metric, treebank (or dataset), system and score, or one row per data set and one column per
system; or it has battles."""
SEEDS_EXAMPLES = """\
examples:
  deadheat seeds runs.csv --system system --score test --dev dev
  deadheat seeds runs.csv --system system --score test --difference 0.002
  deadheat seeds runs.tsv --score Test_F1 --dev Dev_F1 --by Dataset
  deadheat seeds items.csv                      scores of items by several runs: columns item, system, seed, score"""
CONTRAST_EXAMPLES = """\
examples:
  deadheat contrast runs.tsv --factor Decoder --option CRF --option Softmax --score Test_F1 --by Dataset
  deadheat contrast runs.tsv --factor Embeddings --score Test_F1 --by Dataset --where Setting=SingleTask
  deadheat contrast runs.tsv --factor Decoder --option CRF --option Softmax --score Test_F1 --second LSTM-Layers
  deadheat contrast runs.tsv --score Test_F1 --importance"""


def _table_parser(name: str, table: str, examples: str, *, ledger: bool = False) -> argparse.ArgumentParser:
    """The parser of a question about a table, which may have items of a test set."""
    parser = Parser(name, epilog=examples)
    help_text = f"a table of {table} (CSV, TSV, JSONL or Parquet; - for standard input)"
    parser.add_argument(table, metavar=table.upper(), help=help_text)
    return parser.add_options(_question(name), json=JSON, ledger=ledger)


def _answer(name: str, table: str, arguments: argparse.Namespace, **more: Any) -> int:
    announce_compiling()
    question = _question(name)
    options = values_of(question, arguments) | more
    return show(question(getattr(arguments, table), **options), as_json=arguments.json)


def _question(name: str) -> Callable[..., Result]:
    question: Callable[..., Result] = getattr(import_module(f"deadheat.questions.{name}"), name)
    return question


contrast_parser = partial(_table_parser, "contrast", "runs", CONTRAST_EXAMPLES)


def seeds_parser() -> argparse.ArgumentParser:
    parser = _table_parser("seeds", "runs", SEEDS_EXAMPLES, ledger=True)
    add_item_options(parser)
    return parser


def run_seeds(arguments: argparse.Namespace) -> int:
    from deadheat.items.table import ItemTable
    from deadheat.questions.item_runs import open_item_runs
    from deadheat.questions.seeds import seeds

    runs = arguments.runs = open_item_runs(arguments.runs, **item_reading(arguments))
    if not isinstance(runs, ItemTable):
        refuse_options(arguments, seeds, "scores of items", seeds_parser(), ["runs"])
    return _answer("seeds", "runs", arguments, ledger_entry=ledger_entry(arguments))


def rank_parser() -> argparse.ArgumentParser:
    from deadheat.questions.rank import rank
    from deadheat.questions.rank_battles import rank_battles

    parser = _table_parser("rank", "scores", RANK_EXAMPLES, ledger=True)
    battles = parser.add_argument_group("battles", "tables with the columns model_a, model_b and winner")
    add_arguments(battles, rank_battles, skip=list(arguments_of(rank)))
    add_item_options(parser)
    return parser


def run_rank(arguments: argparse.Namespace) -> int:
    from deadheat.items.columns import is_battles
    from deadheat.items.table import ItemTable
    from deadheat.questions.item_means import open_source
    from deadheat.questions.rank import rank
    from deadheat.questions.rank_battles import rank_battles
    from deadheat.tables.table import Table

    if arguments.anomalies and not arguments.attributes:
        raise InputError("deadheat rank: --anomalies without attributes of data sets; expected --attributes FILE")
    if arguments.scores == "-" and arguments.metrics is not None:
        raise InputError("deadheat rank: --metrics reads the table twice; expected a file and not standard input")
    source = arguments.scores = open_source(arguments.scores, **item_reading(arguments))
    if isinstance(source, Table) and is_battles(source):
        refuse_options(arguments, rank_battles, "tables of scores", rank_parser())
        return show(rank_battles(arguments.scores, **values_of(rank_battles, arguments)), as_json=arguments.json)
    also = item_options() if isinstance(source, ItemTable) else ()
    refuse_options(arguments, rank, "battles or scores of items", rank_parser(), also)
    more = {"ledger_entry": ledger_entry(arguments), "on_progress": report_progress()}
    return _answer("rank", "scores", arguments, **more)


def run_contrast(arguments: argparse.Namespace) -> int:
    if not arguments.factor and not arguments.importance:
        raise InputError("deadheat contrast: no factor; expected --factor COLUMN, or --importance")
    return _answer("contrast", "runs", arguments)
