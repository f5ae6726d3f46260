"""`deadheat run STUDY.toml`

Under `--json`: `study`, `correction`, `alpha`, `missing` (cells without a result), `damaged` (keys), `notes`, `failed`
(cells with their `status` and `error`), `test_sets` (`name`, `hash`), `store`, and `blocks`, one a corpus, way to split
and part. A block has `corpus`, `split`, `seed`, `part`, `splits`, `metrics`, `systems` (`system`, `metric`, `runs`,
`mean`, `sd`, `least`, `most`, `interval`), `pairs` (`a`, `b`, `test`, `difference`, `splits`, `ahead`, `significant`,
`reversed`, `p`, `p_corrected`), `agreement` (as of `deadheat compare`, one a split and column). Under `--plan --json`:
`cells`, `to_run`, `looks`, `test_sets`, `seconds`, `store`.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deadheat.analyses.study import StudyResult, study_result
from deadheat.cli.looking import add_ledger, look
from deadheat.cli.options import Parser, announce_compiling, print_json, say
from deadheat.report.study import plan_text, study_text
from deadheat.study.cells import DONE, Cell, Outcome
from deadheat.study.executor import WorkersFailed
from deadheat.study.local import cores
from deadheat.study.plan import Plan
from deadheat.study.progress import Progress
from deadheat.study.running import (
    Ran,
    check_budgets,
    failed_cells,
    local_executor,
    missing_cells,
    planned_looks,
    ran_before,
    run_study,
)
from deadheat.study.store import Store

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
    except WorkersFailed as error:  # nothing that the study file could change
        print(f"deadheat run: {str(error).strip()}", file=sys.stderr)
        return 1


def _study(arguments: argparse.Namespace) -> int:
    plan = Plan.of(arguments.study, arguments.set)
    path = arguments.store or plan.store_path
    if arguments.plan:
        return _plan(plan, path, arguments)
    if not path.exists():  # nothing is made of a study that is refused
        check_budgets(plan, plan.cells, look(arguments))
    with Store.open(path, create=True) as store:
        store.set_study(plan.text)
        ran = _run(plan, store, arguments)
        result = study_result(plan, store)
        if result.damaged:
            damaged = [_named(plan, cell) for cell in result.damaged]
            say([f"{name}: its predictions are not what they were; it runs again" for name in damaged])
            ran = _run(plan, store, arguments, again=result.damaged)
            result = study_result(plan, store)
        failures = failed_cells(plan, store)
        document = _document(plan, result, failures)
        store.set_result(document)
    if arguments.json:
        print_json({**document, "store": str(path)})
    else:
        print(study_text(result))
    shown = [f"{_named(plan, cell)}: {status} ({error})" for cell, status, error in failures[:MOST_SHOWN]]
    more = [f"{len(failures) - MOST_SHOWN:,} more failed"] if len(failures) > MOST_SHOWN else []
    say([*result.notes, *ran.notes, *shown, *more, f"{ran}; results in {path}"])
    return 0


def _document(plan: Plan, result: StudyResult, failures: Sequence[tuple[Cell, str, str]]) -> dict[str, Any]:
    """All that the study found, and which test sets were looked at for it."""
    test_sets = [{"name": each.name, "hash": each.hash} for each in planned_looks(plan, plan.cells)]
    return {
        **result.to_dict(),
        "failed": [_failed(plan, *each) for each in failures],
        "test_sets": test_sets,
    }


def _run(plan: Plan, store: Store, arguments: argparse.Namespace, again: Sequence[Cell] = ()) -> Ran:
    """Run the cells that wait, and some again."""
    waiting = missing_cells(plan, store, retry_failed=arguments.retry_failed and not again)
    if not waiting and not again:
        return ran_before(plan, store)
    workers = plan.study.engine.workers or cores()
    with (
        local_executor(plan, store.path) as executor,
        Progress(len(waiting) + len(again), workers=workers, quiet=arguments.quiet) as progress,
    ):

        def told(outcome: Outcome, left: int) -> None:
            progress.finished(outcome.wall_s, running=min(left, workers), failed=outcome.status != DONE)

        return run_study(
            plan,
            store,
            executor=executor,
            look=look(arguments),
            retry_failed=arguments.retry_failed and not again,
            again=again,
            told=told,
        )


def _plan(plan: Plan, path: Path, arguments: argparse.Namespace) -> int:
    there = path.exists()
    with Store.read(path) if there else contextlib.nullcontext() as store:
        cells = missing_cells(plan, store, retry_failed=arguments.retry_failed)
        seconds = _estimate(plan, store, len(cells)) if store is not None else None
    looks = planned_looks(plan, cells)
    if arguments.json:
        print_json(
            {
                "cells": len(plan.cells),
                "to_run": len(cells),
                "looks": sum(looks.values()),
                "test_sets": len(looks),
                "seconds": seconds,
                "store": str(path),
            }
        )
    else:
        print(plan_text(plan, len(cells), sum(looks.values()), len(looks), seconds))
    return 0


def _estimate(plan: Plan, store: Store, waiting: int) -> float | None:
    """Seconds for the cells that wait, from what those of the store took; None if it holds none."""
    took = store.runs().filter(status=DONE)["wall_s"]
    if not len(took) or not waiting:
        return None
    mean = took.mean()
    workers = plan.study.engine.workers or cores()
    return waiting * float(str(mean)) / workers


def _failed(plan: Plan, cell: Cell, status: str, error: str) -> dict[str, object]:
    return {
        "key": cell.key,
        "system": plan.labels[cell.system],
        "corpus": cell.corpus,
        "split": cell.split,
        "number": cell.number,
        "seed": cell.seed,
        "status": status,
        "error": error,
    }


def _named(plan: Plan, cell: Cell) -> str:
    return f"{plan.labels[cell.system]} on split {cell.number} of {cell.corpus}, seed {cell.seed}"
