"""`deadheat score GOLD PRED...`"""

from __future__ import annotations

import argparse

from deadheat.cli.looking import add_ledger, ledger_entry
from deadheat.cli.options import Parser, add_reading, reading, show, whole_number
from deadheat.metrics.pair import ALIGNMENTS, UNITS
from deadheat.questions.groups import KINDS
from deadheat.questions.score import INTERVALS, score

EXAMPLES = """\
examples:
  deadheat score gold.conllu a.conllu b.conllu          the 13 metrics of CoNLL 2018 for each file
  deadheat score gold.conllu a.conllu -m las -m las-supar
  deadheat score gold.conllu a.conllu -m upos --train train.conllu --by genre
  deadheat score gold.txt a.txt -m "chunks(scheme='bio')" --columns form,xpos,chunk
'deadheat metrics' lists all metrics."""


def parser() -> argparse.ArgumentParser:
    made = Parser("score", "How good is each prediction, with intervals.", epilog=EXAMPLES)
    made.add_argument("gold", metavar="GOLD", help="the gold file (a folder: all of its files; -: standard input)")
    made.add_argument("predictions", metavar="PRED", nargs="+", help="predictions of the same text")
    made.add_argument("-m", "--metric", action="append", default=[], metavar="NAME", help="a metric; may be repeated")
    made.add_argument(
        "--train", nargs="+", metavar="FILE", help="training files, to tell known words from unknown ones"
    )
    made.add_argument("--by", choices=KINDS, default="", help="break the scores down")
    made.add_argument(
        "--align", choices=ALIGNMENTS, default="text", help="align words by text (default) or by position"
    )
    made.add_argument("--unit", choices=UNITS, default="sentence", help="what the bootstrap draws (default: sentence)")
    made.add_argument("--interval", choices=INTERVALS, default="auto", help="auto: Wilson's for proportions (default)")
    made.add_argument("--level", type=float, default=0.95, help="level of the intervals (default: 0.95)")
    made.add_argument("--resamples", type=int, default=1000, metavar="N", help="bootstrap resamples (default: 1000)")
    made.add_argument("--seed", type=whole_number, default=0, help="seed of the bootstrap (default: 0)")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    add_ledger(made)
    add_reading(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    scores = score(
        arguments.gold,
        arguments.predictions,
        metrics=arguments.metric,
        train=arguments.train,
        by=arguments.by,
        align=arguments.align,
        unit=arguments.unit,
        interval=arguments.interval,
        level=arguments.level,
        resamples=arguments.resamples,
        seed=arguments.seed,
        ledger_entry=ledger_entry(arguments),
        **reading(arguments),
    )
    return show(scores, as_json=arguments.json)
