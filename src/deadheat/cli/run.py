"""`deadheat run STUDY.toml`

Under `--json`: `kind` ("study"), `study`, `correction`, `alpha`, `systems` (names with settings, and what they are
called here), `seeds` (of each), `corpora` (`corpus`, `sentences`, `words`), `strategies` (`split`, `times`, `seed`),
`cells`, `missing` (cells without a result), `damaged` (keys), `notes`, `failed` (cells with their `status` and
`error`), `test_sets` (`name`, `hash`), `store`, `searches` (each of kind "search": `datasets` with their `winners` and
`spreads`, `between` setups), and `blocks`, one a corpus, way to split and part. A block has
`corpus`, `split`, `seed`, `part`, `splits`, `numbers` (of the splits), `train_words` (of each), `metrics`, `systems`
(`system`, `metric`, `runs`, `mean`, `sd`, `least`, `most`, `interval`, `by_split`), `pairs` (`a`, `b`, `test`,
`difference`, `splits`, `ahead`, `significant`, `reversed`, `p`, `p_corrected`), `agreement` (as of `deadheat compare`,
one a split and column). Under `--plan --json`: `cells`, `to_run`, `finals` (of searches, at most), `looks`,
`test_sets`, `seconds`, `store`.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path

from deadheat.cli.looking import add_ledger, ledger_entry
from deadheat.cli.options import Parser, announce_compiling, print_json, say
from deadheat.questions.run import left_to_run, named, run_plan
from deadheat.study.engine.local import cores
from deadheat.study.engine.running import planned_evaluations
from deadheat.study.engine.worker import WorkerError
from deadheat.study.plan.cells import DONE
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import searches_of
from deadheat.study.store.store import Store
from deadheat.terminal.search import search_text
from deadheat.terminal.study import plan_text, study_text

EXAMPLES = """\
examples:
  deadheat run study.toml --plan                    what will run; nothing runs
  deadheat run study.toml                           run it, or go on where it was stopped
  deadheat run study.toml --set splits.times=3      with another value
  deadheat run study.toml --retry-failed            and what failed once more"""

MOST_SHOWN = 10  # failures


def parser() -> argparse.ArgumentParser:
    made = Parser(
        "run", "Run a study: train and test all of it; what is in the store is not run again.", epilog=EXAMPLES
    )
    made.add_argument("study", metavar="STUDY.toml", type=Path, help="the study file ('deadheat init' writes one)")
    made.add_argument("--plan", action="store_true", help="say what will run, and run nothing")
    made.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a value of the study file"
    )
    made.add_argument("--store", type=Path, metavar="FILE", help="where results go (default: STUDY.sqlite beside it)")
    made.add_argument("--retry-failed", action="store_true", help="run failed cells again")
    made.add_argument("--quiet", action="store_true", help="no progress")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    add_ledger(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    announce_compiling()
    try:
        return _study(arguments)
    except WorkerError as error:  # nothing that the study file could change
        print(f"deadheat run: {str(error).strip()}", file=sys.stderr)
        return 1


def _study(arguments: argparse.Namespace) -> int:
    plan = Plan.of(arguments.study, arguments.set)
    path = arguments.store or plan.store_path
    if arguments.plan:
        return _plan(plan, path, arguments)
    done = run_plan(
        plan,
        path,
        retry_failed=arguments.retry_failed,
        ledger_entry=ledger_entry(arguments),
        quiet=arguments.quiet,
        on_message=lambda note: say([note]),
    )
    if arguments.json:
        print_json(done.to_dict())
    else:
        shown = [study_text(done.result)] if done.result.blocks or done.result.missing else []
        print("\n\n".join([*shown, *map(search_text, done.searches)]))
    failed = [f"{named(plan, cell)}: {status} ({error})" for cell, status, error in done.failures[:MOST_SHOWN]]
    more = [f"{len(done.failures) - MOST_SHOWN:,} more failed"] if len(done.failures) > MOST_SHOWN else []
    found = [note for search in done.searches for note in search.notes]
    say([*done.result.notes, *found, *done.summary.notes, *failed, *more, f"{done.summary}; results in {path}"])
    return 0


def _plan(plan: Plan, path: Path, arguments: argparse.Namespace) -> int:
    there = path.exists()
    with Store.read(path) if there else contextlib.nullcontext() as store:
        cells, finals = left_to_run(plan, store, retry_failed=arguments.retry_failed)
        seconds = _estimate(plan, store, len(cells) + len(finals)) if store is not None else None
    looks = planned_evaluations(plan, [*cells, *finals])
    if arguments.json:
        print_json(
            {
                "cells": len(plan.cells) + sum(len(search.first_cells()) for search in searches_of(plan)),
                "to_run": len(cells),
                "finals": len(finals),
                "looks": sum(looks.values()),
                "test_sets": len(looks),
                "seconds": seconds,
                "store": str(path),
            }
        )
    else:
        print(plan_text(plan, len(cells), len(finals), sum(looks.values()), len(looks), seconds))
    return 0


def _estimate(plan: Plan, store: Store, waiting: int) -> float | None:
    """Seconds for the cells that wait, from what those of the store took; None if it holds none."""
    took = store.runs().filter(status=DONE)["wall_s"]
    if not len(took) or not waiting:
        return None
    mean = took.mean()
    workers = plan.study.engine.workers or cores()
    return waiting * float(str(mean)) / workers
