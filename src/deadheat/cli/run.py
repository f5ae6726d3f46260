"""`deadheat run STUDY.toml`"""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path

from deadheat.cli.looking import add_ledger, ledger_entry
from deadheat.cli.options import Parser, announce_compiling, print_json, say, show
from deadheat.questions.run import left_to_run, run_plan
from deadheat.report.plan import plan_view
from deadheat.report.terminal import print_blocks
from deadheat.study.engine.local import cores
from deadheat.study.engine.running import planned_evaluations
from deadheat.study.engine.worker import WorkerError
from deadheat.study.plan.cells import DONE
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import searches_of
from deadheat.study.store.store import Store

EXAMPLES = """\
examples:
  deadheat run study.toml --plan                    what will run; nothing runs
  deadheat run study.toml                           run it, or go on where it was stopped
  deadheat run study.toml --set splits.times=3      with another value
  deadheat run study.toml --retry-failed            and what failed once more"""

FAILURES = 10  # that are listed


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
        notify=lambda message: say([message]),
    )
    result = done.result
    show(result, as_json=arguments.json)
    notes = [note for search in result.searches for note in search.notes]
    failed = [str(cell) for cell in result.failed[:FAILURES]]
    more = [f"{len(result.failed) - FAILURES:,} more failed"] if len(result.failed) > FAILURES else []
    say([*notes, *done.summary.notes, *failed, *more, f"{done.summary}; results in {path}"])
    return 0


def _plan(plan: Plan, path: Path, arguments: argparse.Namespace) -> int:
    with Store.read(path) if path.exists() else contextlib.nullcontext() as store:
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
        print_blocks(
            plan_view(
                plan,
                missing=len(cells),
                finals=len(finals),
                evaluations=sum(looks.values()),
                test_sets=len(looks),
                seconds=seconds,
            )
        )
    return 0


def _estimate(plan: Plan, store: Store, cells: int) -> float | None:
    """Seconds for the cells that are left, from the time that those of the store took; None if it holds none."""
    times = store.runs().filter(status=DONE)["wall_s"]
    if not len(times) or not cells:
        return None
    workers = plan.study.engine.workers or cores()
    return cells * float(str(times.mean())) / workers
