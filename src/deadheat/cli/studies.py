"""Commands on studies: init, run, export."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
from pathlib import Path

from deadheat.cli.options import (
    Parser,
    add_json,
    add_ledger,
    add_reading,
    announce_compiling,
    ledger_entry,
    print_json,
    reading,
    say,
    show,
)
from deadheat.corpus.documents import sort_by_part
from deadheat.corpus.reading import STDIN, expand, read
from deadheat.corpus.writing import write_bytes
from deadheat.errors import InputError
from deadheat.questions.run import left_to_run, run_plan
from deadheat.report.plan import plan_view
from deadheat.report.terminal import print_blocks
from deadheat.study.engine.local import cores
from deadheat.study.engine.running import planned_evaluations
from deadheat.study.engine.worker import WorkerError
from deadheat.study.plan.cells import DONE
from deadheat.study.plan.plan import Plan
from deadheat.study.plan.starter import starter_study
from deadheat.study.search.search import searches_of
from deadheat.study.store.store import Store, open_store
from deadheat.study.store.tables import FORMATS, TABLES, format_of, write_table, write_text

RUN_EXAMPLES = """\
examples:
  deadheat run study.toml --plan                    what will run; nothing runs
  deadheat run study.toml                           run it, or continue where it was stopped
  deadheat run study.toml --set splits.times=3      with another value
  deadheat run study.toml --retry-failed            run failed cells again"""
EXPORT_EXAMPLES = """\
examples:
  deadheat export study.db                                        every score, as CSV
  deadheat export study.db --out scores.parquet                   the format is what the name says
  deadheat export study.db --table runs --format jsonl            how every run ended, and what it took
  deadheat export study.db --table counts --out counts.parquet    one row per run, metric and sentence"""
FAILURES = 10  # that are listed


def init_parser() -> argparse.ArgumentParser:
    parser = Parser("init", "Write a study file to begin with, for the corpora it is pointed at.")
    parser.add_argument("corpora", metavar="CORPUS", nargs="+", help="a file or folder; each is a corpus of its own")
    parser.add_argument("--out", type=Path, default=Path("study.toml"), metavar="FILE", help="default: study.toml")
    add_reading(parser)
    return parser


def run_init(arguments: argparse.Namespace) -> int:
    if arguments.out.exists():
        raise InputError(f"{arguments.out}: exists already; expected a new name (--out)")
    if STDIN in arguments.corpora:
        raise InputError("standard input cannot be read again by a study; expected files or folders")
    options = reading(arguments)
    corpora = [(path, read(sort_by_part(expand(path)), **options)) for path in arguments.corpora]
    write_bytes(arguments.out, starter_study(corpora, arguments.out, options).encode())
    print(f"{arguments.out}: edit it, then run: deadheat run {shlex.quote(str(arguments.out))} --plan")
    return 0


def run_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "run", "Run a study: train and test all of it; what is in the store is not run again.", epilog=RUN_EXAMPLES
    )
    parser.add_argument("study", metavar="STUDY.toml", type=Path, help="the study file ('deadheat init' writes one)")
    parser.add_argument("--plan", action="store_true", help="say what will run, and run nothing")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a value of the study file"
    )
    parser.add_argument("--store", type=Path, metavar="FILE", help="where results go (default: STUDY.sqlite beside it)")
    parser.add_argument("--retry-failed", action="store_true", help="run failed cells again")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_json(parser)
    add_ledger(parser)
    return parser


def run_run(arguments: argparse.Namespace) -> int:
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
    evaluations = planned_evaluations(plan, [*cells, *finals])
    if arguments.json:
        print_json(
            {
                "cells": len(plan.cells) + sum(len(search.first_cells()) for search in searches_of(plan)),
                "to_run": len(cells),
                "finals": len(finals),
                "evaluations": sum(evaluations.values()),
                "test_sets": len(evaluations),
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
                evaluations=sum(evaluations.values()),
                test_sets=len(evaluations),
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


def export_parser() -> argparse.ArgumentParser:
    parser = Parser("export", "The runs of a store as a table that other programs read.", epilog=EXPORT_EXAMPLES)
    parser.add_argument("store", metavar="STORE", help="the file that deadheat run wrote; it may be running still")
    parser.add_argument("--table", choices=TABLES, default=TABLES[0], help=f"what to export (default: {TABLES[0]})")
    parser.add_argument("--format", choices=FORMATS, default="", help="default: by the name of FILE, else CSV")
    parser.add_argument("--out", default="", metavar="FILE", help="a file to write to (default: standard output)")
    return parser


def run_export(arguments: argparse.Namespace) -> int:
    format = format_of(arguments.out, arguments.format)
    if format == "parquet" and not arguments.out:
        raise InputError("deadheat export: Parquet is not text; expected --out FILE")
    with open_store(arguments.store) as store:
        if arguments.out:
            write_table(store, arguments.table, format, arguments.out)
        else:
            write_text(store, arguments.table, format, sys.stdout)
    return 0
