"""Commands on studies: init, run, export."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import string
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.cli.options import (
    JSON,
    Parser,
    announce_compiling,
    ledger_entry,
    print_json,
    reading,
    report_worker_errors,
    say,
    show,
)
from deadheat.corpus.corpus import Corpus
from deadheat.corpus.documents import part_from_name, sort_by_part
from deadheat.corpus.reading import STDIN, expand, read
from deadheat.corpus.writing import write_bytes
from deadheat.errors import InputError
from deadheat.questions.run import left_to_run, run, run_plan
from deadheat.reporting.plan import plan_view
from deadheat.reporting.terminal import print_blocks
from deadheat.splits import STRATEGIES, Partition
from deadheat.splits.strategy import Material
from deadheat.study.engine.executor import cores
from deadheat.study.engine.running import planned_evaluations
from deadheat.study.plan.cells import DONE
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import searches_of
from deadheat.study.store.store import Store, open_store
from deadheat.study.store.tables import FORMATS, TABLES, format_of, write_table, write_text
from deadheat.systems import SYSTEMS

RUN_EXAMPLES = """\
examples:
  deadheat run study.toml --plan                    show what would run
  deadheat run study.toml                           run it, or continue where it was stopped
  deadheat run study.toml --set splits.times=3      with another value
  deadheat run study.toml --retry-failed            run failed cells again"""
EXPORT_EXAMPLES = """\
examples:
  deadheat export study.sqlite                                        all scores as CSV
  deadheat export study.sqlite --out scores.parquet                   the format follows from the file name
  deadheat export study.sqlite --table runs --format jsonl            status, time and memory of every run
  deadheat export study.sqlite --table counts --out counts.parquet    one row per run, metric and sentence"""
LISTED_FAILURES = 10
TIMES, SIZES = 20, "80/10/10"
BARE_KEY = frozenset(string.ascii_letters + string.digits + "_-")  # characters of TOML keys without quotes
STUDY = """\
# A study: every system, with every setting and seed, on every split of every corpus.
#   deadheat run {file} --plan     what will run
#   deadheat run {file}            run it; if it is stopped or killed, run it again to continue
name = {name}

# Files or folders, relative to this file. Also: format, columns, separator, lenient, documents.
{corpora}
# The split strategy with its settings ('deadheat split --help'): {strategies}.
# For several strategies, use [[splits]] instead of [splits].
[splits]
{splits}

# Systems: {systems}; any other program: command.
# A list of values stands for each of them: epochs = [5, 10].
[[systems]]
name = "unigram"
column = {column}

[[systems]]
name = "hmm"
column = {column}

[[systems]]
name = "perceptron"
column = {column}
# seeds = 5        # seeds 0 to 4 for this system only

# On each split every pair of systems is tested; p-values are corrected for the number of splits.
[compare]
correction = "bonferroni"
alpha = 0.05

[engine]
workers = 0        # one per core
# limit = 3600     # seconds per cell
"""


def init_parser() -> argparse.ArgumentParser:
    parser = Parser("init", "Write a study file to start from, for some corpora.")
    parser.add_argument("corpora", metavar="CORPUS", nargs="+", help="files or folders, one corpus each")
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
    write_bytes(arguments.out, starter_study(corpora, arguments.out, options).encode())
    print(f"{arguments.out}: edit it, then run: deadheat run {shlex.quote(str(arguments.out))} --plan")
    return 0


def starter_study(corpora: Sequence[tuple[str, Corpus]], target: Path, options: Mapping[str, Any] = {}) -> str:
    """The text of a study file for some corpora, each with its path, all read with the same options."""
    entries: dict[str, list[str]] = {}
    option_lines = [f"{key} = {quote_toml(value)}" for key, value in options.items() if value and value != "auto"]
    for path, _ in corpora:
        base = (
            "".join(c if c in BARE_KEY else "-" for c in Path(path).name.split(".")[0].replace("-ud", "")) or "corpus"
        )
        copies = (base if copy == 1 else f"{base}-{copy}" for copy in count(1))
        name = next(name for name in copies if name not in entries)
        entries[name] = [
            f"[corpora.{name}]",
            f"files = {quote_toml(os.path.relpath(path, target.parent))}",
            *option_lines,
            "",
        ]
    read = [corpus for _, corpus in corpora]
    return STUDY.format(
        file=shlex.quote(target.name) if target.name.isprintable() else "STUDY.toml",
        name=quote_toml(target.stem),
        corpora="\n".join(line for entry in entries.values() for line in entry),
        strategies=_base_names(STRATEGIES),
        splits=_split_lines(read),
        systems=_base_names(name for name in SYSTEMS if not name.startswith("command.")),
        column=quote_toml(_label_column(read)),
    )


def _base_names(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(name.partition(".v")[0] for name in names))


def quote_toml(value: str | Sequence[str]) -> str:
    r"""Write a string, or a list of strings, as TOML."""
    if not isinstance(value, str):
        return f"[{', '.join(map(quote_toml, value))}]"
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{value!r}: a name that is not valid Unicode; expected one that a study file can hold"
        ) from None
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _label_column(corpora: Sequence[Corpus]) -> str:
    """The column to predict: tags if there are any, else the last column with several labels in all corpora."""
    first = corpora[0]
    others = ["xpos", "feats"] if first.layout.format in ("conllu", "conllx") else list(first.columns)[::-1]
    for name in ["upos", *others]:
        if name != "form" and all(_labels(corpus, name) > 1 for corpus in corpora):
            return name
    names = first.name if len(corpora) == 1 else f"{first.name} and others"
    raise InputError(f"{names}: no column with several labels; expected one to predict")


def _labels(corpus: Corpus, name: str) -> int:
    return int(np.count_nonzero(corpus.columns[name].frequencies())) if name in corpus.columns else 0


def _split_lines(corpora: Sequence[Corpus]) -> str:
    """Random splits, by whole documents if there are enough; the files' own parts as a comment."""
    problems = {unit: _split_problem(corpora, unit) for unit in ("document", "sentence")}
    if all(problems.values()):
        raise InputError(f"{problems['sentence']}; expected a corpus that is large enough to be split")
    lines = ['strategy = "random"', f"times = {TIMES}", f"sizes = {quote_toml(SIZES)}"]
    lines += [] if problems["document"] else ['unit = "document"']
    if all(part_from_name(part.path) for corpus in corpora for part in corpus.parts):
        lines.append("# strategy = 'standard'     # the files' own parts, instead of the lines above")
    return "\n".join(lines)


def _split_problem(corpora: Sequence[Corpus], unit: str) -> str:
    """Why the corpora cannot be split by this unit; empty if they can."""
    strategy = STRATEGIES.make("random", sizes=SIZES, unit=unit)
    for corpus in corpora:
        material = Material(corpus)
        try:
            for number in range(TIMES):
                Partition(str(number), strategy.draw(material, 0, number).parts, corpus.sentences)
        except InputError as error:
            return f"{corpus.name}: {error}" if corpus.name not in str(error) else str(error)
    return ""


def run_parser() -> argparse.ArgumentParser:
    question = "Train and test all systems of a study. Cells that are in its store are not run again."
    parser = Parser("run", question, epilog=RUN_EXAMPLES)
    parser.add_argument("study", metavar="STUDY.toml", type=Path, help="the study file ('deadheat init' writes one)")
    parser.add_argument("--plan", action="store_true", help="show what would run, and run nothing")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    return parser.add_options(run, json=JSON, ledger=True)


def run_run(arguments: argparse.Namespace) -> int:
    announce_compiling()
    plan = Plan.of(arguments.study, arguments.overrides)
    path = arguments.store or plan.store_path
    if arguments.plan:
        return _plan(plan, path, arguments)
    return report_worker_errors("run", lambda: _run(plan, path, arguments))


def _run(plan: Plan, path: Path, arguments: argparse.Namespace) -> int:
    done = run_plan(
        plan,
        path,
        retry_failed=arguments.retry_failed,
        ledger_entry=ledger_entry(arguments),
        quiet=arguments.quiet,
        on_message=lambda message: say([message]),
    )
    result = done.result
    show(result, as_json=arguments.json)
    notes = [note for search in result.searches for note in search.notes]
    failed = [str(cell) for cell in result.failed[:LISTED_FAILURES]]
    if len(result.failed) > LISTED_FAILURES:
        failed.append(f"{len(result.failed) - LISTED_FAILURES:,} more failed")
    say([*notes, *done.summary.notes, *failed, f"{done.summary}; results in {path}"])
    return 0


def _plan(plan: Plan, path: Path, arguments: argparse.Namespace) -> int:
    with Store.read(path) if path.exists() else contextlib.nullcontext() as store:
        cells, finals = left_to_run(plan, store, retry_failed=arguments.retry_failed)
        seconds = _estimate(plan, store, len(cells) + len(finals)) if store is not None else None
    by_test_set = planned_evaluations(plan, [*cells, *finals])
    counts = {"finals": len(finals), "evaluations": sum(by_test_set.values()), "test_sets": len(by_test_set)}
    if arguments.json:
        planned = len(plan.cells) + sum(len(search.first_cells()) for search in searches_of(plan))
        print_json({"cells": planned, "to_run": len(cells), **counts, "seconds": seconds, "store": str(path)})
    else:
        print_blocks(plan_view(plan, missing=len(cells), **counts, seconds=seconds))
    return 0


def _estimate(plan: Plan, store: Store, cells: int) -> float | None:
    """Seconds for the cells that are left, from the times of those in the store; None if it holds none."""
    times = store.runs().filter(status=DONE)["wall_s"]
    if not len(times) or not cells:
        return None
    return cells * float(str(times.mean())) / (plan.study.engine.workers or cores())


def export_parser() -> argparse.ArgumentParser:
    parser = Parser("export", "Export the runs, scores or counts of a store as a table.", epilog=EXPORT_EXAMPLES)
    parser.add_argument("store", metavar="STORE", help="the store of a study, which may still be running")
    parser.add_argument("--table", choices=TABLES, default=TABLES[0], help=f"what to export (default: {TABLES[0]})")
    parser.add_argument("--format", choices=FORMATS, default="", help="default: by the name of FILE, or else csv")
    parser.add_argument("--out", default="", metavar="FILE", help="the file to write (default: standard output)")
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
