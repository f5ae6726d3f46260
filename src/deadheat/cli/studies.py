"""Commands on studies: init, run, export, verify."""

from __future__ import annotations

import argparse
import contextlib
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from deadheat.arguments import given_options
from deadheat.cli.interrupts import interruptible
from deadheat.cli.options import (
    JSON,
    Parser,
    add_ledger_file,
    announce_compiling,
    ledger_beside,
    ledger_entry,
    print_json,
    print_lines,
    reading,
    report_worker_errors,
    say,
    say_lines,
    show,
)
from deadheat.cli.slurm import add_slurm_options, check_slurm_options, run_on_slurm
from deadheat.corpus.documents import sort_by_part
from deadheat.corpus.reading import expand, read
from deadheat.corpus.writing import write_bytes
from deadheat.errors import InputError
from deadheat.files import STDIN
from deadheat.questions.run import failed_before, left_to_run, remaining_work, run, run_plan, with_earlier_code
from deadheat.reporting.plan import WorkLeft, plan_view
from deadheat.reporting.terminal import print_blocks
from deadheat.reporting.views import headline
from deadheat.results.study import FailedCell, StudyResult
from deadheat.screen import visible
from deadheat.study.cluster.engine import engine_of
from deadheat.study.engine.rescoring import planned_rescoring
from deadheat.study.engine.running import planned_evaluations
from deadheat.study.ledger.ledger import Ledger
from deadheat.study.plan.file_checks import check_files
from deadheat.study.plan.plan import Plan
from deadheat.study.plan.protocols import PROTOCOLS
from deadheat.study.plan.starter import starter_study
from deadheat.study.search.search import searches_of
from deadheat.study.store.store import Store, open_store
from deadheat.study.store.tables import FORMATS, TABLES, format_of, sealed_counts, write_table, write_text
from deadheat.text import pluralize

INIT_EXAMPLES = """\
examples:
  deadheat init UD_English-EWT                                       three taggers on random splits
  deadheat init --protocol random-splits UD_English-EWT              the experiment of a paper, by name
  deadheat init --protocol treebank-subsets UD_* --out subsets.toml

protocols:
{protocols}"""
RUN_EXAMPLES = """\
examples:
  deadheat run study.toml --plan                    show what would run
  deadheat run study.toml                           run it, or continue where it was stopped
  deadheat run study.toml --set splits.times=3      with another value
  deadheat run study.toml --retry-failed            run failed cells again
  deadheat run study.toml --engine ray              on all nodes of the Ray cluster of this machine
  deadheat run study.toml --slurm --nodes 4         as a job of Slurm on four nodes"""
EXPORT_EXAMPLES = """\
examples:
  deadheat export study.sqlite                                        all scores as CSV
  deadheat export study.sqlite --out scores.parquet                   the format follows from the file name
  deadheat export study.sqlite --table runs --format jsonl            status, time and memory of every run
  deadheat export study.sqlite --table counts --out counts.parquet    one row per run, metric and sentence"""
LISTED_FAILURES = 10  # kinds of them
CELLS_FAILED = 1  # the exit code
_VARYING = re.compile(r"\S*/deadheat-run-\S*|\d+")  # in errors of one kind: temporary files, and numbers


def init_parser() -> argparse.ArgumentParser:
    protocols = "\n".join(f"  {name:<19}  {protocol.paper}" for name, protocol in PROTOCOLS.items())
    examples = INIT_EXAMPLES.format(protocols=protocols)
    parser = Parser("init", "Write a study file to start from, for some corpora.", epilog=examples)
    parser.add_argument("corpora", metavar="CORPUS", nargs="+", help="files or folders, one corpus each")
    parser.add_argument(
        "--protocol", choices=tuple(PROTOCOLS), default="", metavar="NAME", help="the experiment of a paper (see below)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("study.toml"), metavar="FILE", help="the study file (default: study.toml)"
    )
    return parser.add_options(reading=True)


def run_init(arguments: argparse.Namespace) -> int:
    if arguments.out.exists():
        raise InputError(f"{arguments.out}: exists already; expected a new name (--out)")
    if STDIN in arguments.corpora:
        raise InputError("standard input cannot be read again by a study; expected files or folders")
    options = reading(arguments)
    corpora = [(path, read(sort_by_part(expand(path)), **options)) for path in arguments.corpora]
    write_bytes(arguments.out, starter_study(corpora, arguments.out, options, arguments.protocol).encode())
    print_lines(f"{arguments.out}: edit it, then run: deadheat run {shlex.quote(str(arguments.out))} --plan")
    return 0


def run_parser() -> argparse.ArgumentParser:
    question = "Train and test all systems of a study. Cells that are in its store are not run again."
    parser = Parser("run", question, epilog=RUN_EXAMPLES)
    parser.add_argument("study", metavar="STUDY.toml", type=Path, help="the study file ('deadheat init' writes one)")
    parser.add_argument("--plan", action="store_true", help="show what would run, and run nothing")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_options(run, json=JSON, ledger=True)
    add_slurm_options(parser)
    return parser


def run_run(arguments: argparse.Namespace) -> int:
    announce_compiling(quiet=arguments.quiet)
    check_slurm_options(arguments)
    plan = Plan.of(arguments.study, arguments.overrides)
    check_files(plan)
    path = arguments.store or plan.store_path
    if arguments.plan:
        return _plan(plan, path, arguments)
    if arguments.slurm:
        return run_on_slurm(plan, run_parser(), arguments)
    with interruptible(lambda: _kept(plan, path, keep_old=arguments.keep_old), _command(arguments)):
        return report_worker_errors("run", lambda: _run(plan, path, arguments))


def _kept(plan: Plan, path: Path, *, keep_old: bool) -> str:
    """What an interrupted run leaves in the store."""
    if not path.exists():
        return "no cell was run"
    with Store.read(path) as store:
        plan, _ = with_earlier_code(plan, store, keep_old=keep_old)
        done = store.done()
    number, cells = len(done), pluralize(len(done), "finished cell")
    if not searches_of(plan):
        number = len(plan.cells)
        cells = f"{len(done.intersection(cell.key for cell in plan.cells)):,} of {pluralize(number, 'cell')}"
    return f"{cells} {'is' if number == 1 else 'are'} kept in {path}"


def _run(plan: Plan, path: Path, arguments: argparse.Namespace) -> int:
    done = run_plan(
        plan,
        path,
        retry_failed=arguments.retry_failed,
        keep_old=arguments.keep_old,
        ledger_entry=ledger_entry(arguments),
        quiet=arguments.quiet,
        on_message=lambda message: say([message]),
        executor=engine_of(
            plan, path, engine=arguments.engine, address=arguments.address, on_message=lambda text: say([text])
        ),
    )
    result = done.result
    show(result, as_json=arguments.json)
    notes = [note for search in result.searches for note in search.notes]
    failed = list(_failures(result.failed))
    if failed:
        failed.append(f"to run failed cells again: {_command(arguments, retry_failed=True)}")
    say([*notes, *done.summary.notes, *failed, f"{done.summary}; results in {path}"])
    say_lines(_closing(result, path, arguments))
    return CELLS_FAILED if result.failed or done.summary.failed else 0


def _command(arguments: argparse.Namespace, *, retry_failed: bool = False) -> str:
    """The command that was given, in the same words wherever it is shown; or the one that runs failed cells again."""
    again = argparse.Namespace(**vars(arguments) | {"retry_failed": retry_failed or arguments.retry_failed})
    return shlex.join(["deadheat", "run", str(arguments.study), *given_options(run_parser(), again)])


def _closing(result: StudyResult, path: Path, arguments: argparse.Namespace) -> Iterator[str]:
    """What a person looks for after many tables: the verdict, and how to read it all."""
    yield f"verdict: {headline(result)}"
    if result.blocks or result.searches:
        ledger = ["--ledger", arguments.ledger] if arguments.ledger else []
        yield f"page: {shlex.join(['deadheat', 'report', str(path), *ledger])}"


def _failures(failed: Sequence[FailedCell]) -> Iterator[str]:
    """The first failure of each kind; errors that differ in numbers or temporary files only are of one kind."""
    kinds: dict[tuple[str, str], list[FailedCell]] = {}
    for cell in failed:
        kinds.setdefault((cell.status, _VARYING.sub("0", cell.error.partition("\n")[0])), []).append(cell)
    for first, *others in islice(kinds.values(), LISTED_FAILURES):
        yield f"{first}{f' and {len(others):,} more like it' if others else ''}"
    if len(kinds) > LISTED_FAILURES:
        yield f"{len(kinds) - LISTED_FAILURES:,} more kinds of failure"


def _plan(plan: Plan, path: Path, arguments: argparse.Namespace) -> int:
    with Store.read(path) if path.exists() else contextlib.nullcontext() as store:
        plan, changes = with_earlier_code(plan, store, keep_old=arguments.keep_old) if store else (plan, [])
        cells, finals = left_to_run(plan, store, retry_failed=arguments.retry_failed)
        tasks = planned_rescoring(plan, store, [*cells, *finals]) if store is not None else []
        rescored = {task.cell.key: task.cell for task in tasks}
        evaluated = [rescored.get(cell.key, cell) for cell in [*cells, *finals]]
        planned = len(plan.cells) + sum(len(search.first_cells()) for search in searches_of(plan))
        failed = failed_before(plan, store, cells) if store is not None else 0
        stored = planned - len(cells) - failed
        cells, finals = ([cell for cell in group if cell.key not in rescored] for group in (cells, finals))
        seconds = remaining_work(plan, store, [*cells, *finals]).seconds_left() if store is not None else None
    by_test_set = planned_evaluations(plan, evaluated, ledger_entry(arguments).ledger)
    counts = {"finals": len(finals), "evaluations": sum(by_test_set.values()), "test_sets": len(by_test_set)}
    if arguments.json:
        to_do = {"cells": planned, "to_run": len(cells), "to_score": len(tasks), "failed": failed}
        print_json({**to_do, **counts, "seconds": seconds or None, "store": str(path)})
    else:
        metrics = tuple(dict.fromkeys(metric for task in tasks for names in task.metrics.values() for metric in names))
        amounts = WorkLeft(planned, len(cells), stored, len(tasks), metrics, failed)
        print_blocks(plan_view(plan, amounts, **counts, seconds=seconds or None))
    say(changes)
    return 0


def export_parser() -> argparse.ArgumentParser:
    parser = Parser("export", "Export the runs, scores or counts of a store as a table.", epilog=EXPORT_EXAMPLES)
    parser.add_argument("store", metavar="STORE", help="the store of a study, which may still be running")
    parser.add_argument("--table", choices=TABLES, default=TABLES[0], help=f"what to export (default: {TABLES[0]})")
    parser.add_argument("--format", choices=FORMATS, default="", help="default: by the name of FILE, or else csv")
    parser.add_argument("--out", default="", metavar="FILE", help="the file to write (default: standard output)")
    add_ledger_file(parser)
    return parser


def run_export(arguments: argparse.Namespace) -> int:
    format = format_of(arguments.out, arguments.format)
    if format == "parquet" and not arguments.out:
        raise InputError("deadheat export: Parquet is not text; expected --out FILE")
    with open_store(arguments.store) as store:
        store.check_rows()
        ledger = Ledger.at(arguments.ledger or ledger_beside([arguments.store]))
        hidden = sealed_counts(store, ledger) if arguments.table == "counts" else frozenset()
        if arguments.out:
            write_table(store, arguments.table, format, arguments.out, hidden=hidden)
        else:
            write_text(store, arguments.table, format, sys.stdout, hidden=hidden)
    if hidden:
        runs = pluralize(len({key for key, _ in hidden}), "run")
        say([f"counts of {runs} on sealed test sets are left out: those of every sentence say much about its labels"])
    return 0


def verify_parser() -> argparse.ArgumentParser:
    about = (
        "Check that a store is as it was written: its file, every row, every count and every prediction against their "
        "checksums, and every score against its counts. Exit code 2 if something has changed."
    )
    parser = Parser("verify", about, epilog="example:\n  deadheat verify study.sqlite")
    parser.add_argument("store", metavar="STORE", help="the store of a study, which may still be running")
    return parser.add_options(json="print the number of faults by kind as JSON")


def run_verify(arguments: argparse.Namespace) -> int:
    with open_store(arguments.store) as store:
        check = store.check()
    faults = {kind: len(names) for kind, names in check.by_kind().items()}
    if arguments.json:
        print_json({"store": arguments.store, **check.rows, "faults": faults, "notes": check.notes})
    elif not faults:
        print(visible(str(check)))
        say(check.notes)
    if faults:
        raise InputError(str(check))
    return 0
