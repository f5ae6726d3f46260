"""`deadheat run STUDY.toml`"""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

from deadheat.analyses.study import study_result
from deadheat.cli.looking import add_ledger, look
from deadheat.cli.options import Parser, announce_compiling, print_json, say
from deadheat.report.study import plan_text, study_text
from deadheat.study.cells import DONE, Outcome
from deadheat.study.local import cores
from deadheat.study.plan import Plan
from deadheat.study.progress import Progress
from deadheat.study.running import Ran, local_executor, missing_cells, planned_looks, run_study
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
    plan = Plan.of(arguments.study, arguments.set)
    path = arguments.store or plan.store_path
    if arguments.plan:
        return _plan(plan, path, arguments)
    failures: list[Outcome] = []
    ran = Ran(len(plan.cells), 0, 0)
    with Store.open(path, create=True) as store:
        store.set_study(plan.text)
        waiting = len(missing_cells(plan, store, retry_failed=arguments.retry_failed))
        if waiting:
            ran = _run(plan, store, waiting, failures, arguments)
        result = study_result(plan, store)
    if arguments.json:
        print_json({**result.to_dict(), "store": str(path), "failed": [_failed(plan, each) for each in failures]})
    else:
        print(study_text(result))
    say([*ran.notes, *(_failed_line(plan, each) for each in failures[:MOST_SHOWN]), f"{ran}; results in {path}"])
    return 0


def _run(plan: Plan, store: Store, waiting: int, failures: list[Outcome], arguments: argparse.Namespace) -> Ran:
    """Run the cells that wait; failures are gathered."""
    workers = plan.study.engine.workers or cores()
    with (
        local_executor(plan, arguments.set, store.path) as executor,
        Progress(waiting, workers=workers, quiet=arguments.quiet) as progress,
    ):

        def told(outcome: Outcome, left: int) -> None:
            bad = outcome.status != DONE
            progress.finished(outcome.wall_s, running=min(left, workers), failed=bad)
            failures.extend([outcome] if bad else [])

        return run_study(
            plan, store, executor=executor, look=look(arguments), retry_failed=arguments.retry_failed, told=told
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


def _failed(plan: Plan, outcome: Outcome) -> dict[str, object]:
    cell = outcome.cell
    return {
        "key": cell.key,
        "system": plan.labels.get(cell.system, cell.system),
        "corpus": cell.corpus,
        "split": cell.split,
        "number": cell.number,
        "seed": cell.seed,
        "status": outcome.status,
        "error": outcome.error,
    }


def _failed_line(plan: Plan, outcome: Outcome) -> str:
    cell = outcome.cell
    name = plan.labels.get(cell.system, cell.system)
    return f"{name} on split {cell.number} of {cell.corpus}, seed {cell.seed}: {outcome.status} ({outcome.error})"
