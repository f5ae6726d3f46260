"""Run a study to its end: train and test what its store lacks, then compute its result."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, TypeAlias

from deadheat.arguments import Argument
from deadheat.errors import InputError
from deadheat.questions.search import search_result
from deadheat.questions.study import scores_of, study_result
from deadheat.results.study import FailedCell, StudyResult, TestSet
from deadheat.study.cluster.engine import ENGINES, MakeExecutor, engine_of
from deadheat.study.engine import running
from deadheat.study.engine.estimate import RemainingWork
from deadheat.study.engine.executor import Executor, cores
from deadheat.study.engine.progress import Progress
from deadheat.study.engine.rescoring import (
    IN_PROCESS,
    RescoringTask,
    describe,
    rescore_cells,
    rescoring_tasks,
    unscored_notes,
)
from deadheat.study.engine.running import Callbacks, RunSummary
from deadheat.study.engine.seed_checks import Repetitions, cells_to_repeat, repeat_cells, repetition_notes
from deadheat.study.engine.training import CellResult
from deadheat.study.ledger.ledger import LedgerEntry
from deadheat.study.plan.cells import DONE, FAILED, Cell, Outcome
from deadheat.study.plan.changed_code import changed_code, keep_code
from deadheat.study.plan.file_checks import check_files
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import pending_cells, run_search, searches_of, tested_cells
from deadheat.study.store.store import Store

Overrides: TypeAlias = Annotated[
    Sequence[str], Argument("override a value of the study file", flag="--set", metavar="KEY=VALUE", repeat=True)
]
StorePath: TypeAlias = Annotated[
    str | os.PathLike[str] | None,
    Argument("file for the results (default: STUDY.sqlite beside the study file)", metavar="FILE", parse=Path),
]
Engine: TypeAlias = Annotated[
    str | None, Argument("where cells run (default: as the study file says, or local)", choices=ENGINES)
]
Address: TypeAlias = Annotated[
    str | None,
    Argument("Ray cluster: HOST:PORT, ray://HOST:PORT, or auto, that of this machine (default)", metavar="ADDRESS"),
]
OpenExecutor = Callable[[], Executor[Cell, CellResult]]  # the one of a run, which is started when it is first needed


@dataclass(frozen=True, slots=True, eq=False)
class StudyRun:
    """A study that was run: its result, how the run went, and where the store is."""

    plan: Plan
    store: Path
    result: StudyResult
    summary: RunSummary

    def __str__(self) -> str:
        return str(self.result)


def run(  # noqa: PLR0913 - options of the command
    study: str | os.PathLike[str],
    *,
    overrides: Overrides = (),
    store: StorePath = None,
    retry_failed: Annotated[bool, Argument("run failed cells again")] = False,
    keep_old: Annotated[bool, Argument("keep cells that were run before your code changed")] = False,
    engine: Engine = None,
    address: Address = None,
    ledger_entry: LedgerEntry | None = None,
    quiet: bool = True,
    on_message: Callable[[str], None] | None = None,
) -> StudyRun:
    """Train and test all of a study; cells that are in its store are not run again.

    Parameters
    ----------
    study
        The study file.
    overrides
        Other values for it, as `splits.times=3`.
    store
        Where results go; beside the study file by default.
    retry_failed
        Run failed cells once more.
    keep_old
        Where a user's code has changed, count the cells that were run before the change, instead of running them again.
    engine
        `local` for this machine, `ray` for a cluster; by default what the study file says.
    address
        The Ray cluster: `HOST:PORT`, `ray://HOST:PORT`, or `auto` for that of this machine.
    ledger_entry
        Where evaluations at test sets are recorded, and why they are taken.
    quiet
        Show no progress.
    on_message
        Called with messages that a person should see before the end.
    """
    plan = Plan.of(Path(study), overrides)
    check_files(plan)
    path = Path(store) if store is not None else plan.store_path
    return run_plan(
        plan,
        path,
        retry_failed=retry_failed,
        keep_old=keep_old,
        ledger_entry=ledger_entry,
        quiet=quiet,
        on_message=on_message,
        executor=engine_of(plan, path, engine=engine, address=address, on_message=on_message),
    )


def run_plan(  # noqa: PLR0913 - options of the command
    plan: Plan,
    path: Path | None = None,
    *,
    retry_failed: bool = False,
    keep_old: bool = False,
    ledger_entry: LedgerEntry | None = None,
    quiet: bool = True,
    on_message: Callable[[str], None] | None = None,
    executor: MakeExecutor | None = None,
) -> StudyRun:
    """Run a plan; see `run`. By default cells run on the engine of the study file."""
    path = path or plan.store_path
    exists = path.exists()
    if exists:
        with Store.read(path) as store:
            plan, messages = with_earlier_code(plan, store, keep_old=keep_old)
        if on_message is not None:
            for message in messages:
                on_message(message)
    executor = executor or engine_of(plan, path, on_message=on_message)
    searches = searches_of(plan)
    if ledger_entry is not None and not exists:  # a study that is refused leaves no store behind
        running.check_budgets(plan, _left(plan, None), ledger_entry)
    with Store.open(path, create=True) as store, ExitStack() as stack:
        if ledger_entry is not None and exists and searches:
            running.check_budgets(plan, _left(plan, store, retry_failed=retry_failed), ledger_entry)
        store.check_rows(replaced="result")
        store.set_study(plan.text)
        tally = _Tally(store, dict.fromkeys(cell.key for cell in plan.cells))
        # One for the whole run: a search or a repetition must not pay for its start each time.
        open_executor = cache(lambda: stack.enter_context(executor(plan, store.path)))
        run_missing = partial(_run, tally=tally, open_executor=open_executor, ledger_entry=ledger_entry, quiet=quiet)
        run_missing(plan, retry_failed=retry_failed)
        result = study_result(plan, store)
        if result.damaged:
            damaged = [cell for cell in plan.cells if cell.key in result.damaged]
            for cell in damaged:
                if on_message is not None:
                    on_message(f"{describe(plan, cell)}: its predictions have changed; it runs again")
            run_missing(plan, again=damaged)
            result = study_result(plan, store)
        failures = running.failed_cells(plan, store)

        def run_cells(cells: Sequence[Cell]) -> None:
            if cells:
                selected = replace(plan, selection=tuple(cells))
                tally.statuses = dict.fromkeys(cell.key for cell in cells) | tally.statuses
                run_missing(selected, retry_failed=retry_failed)
                failures.extend(running.failed_cells(selected, store))

        results = []
        for search in searches:
            outcome = run_search(search, run_cells, lambda: scores_of(store))
            results.append(search_result(outcome, store, scores_of(store)))
        evaluations = running.planned_evaluations(plan, [*plan.cells, *tested_cells(searches)])
        result = replace(
            result,
            failed=tuple(_failed(plan, cell, status, error) for cell, status, error in failures),
            test_sets=tuple(TestSet(test_set.name, test_set.hash) for test_set in evaluations),
            store=str(path),
            searches=tuple(results),
        )
        repetitions = _check_seeds(plan, tally, open_executor, quiet=quiet)
        notes = (*result.notes, *repetition_notes(plan, repetitions))
        result = replace(result, repeated=dict(sorted(repetitions.same.items())), notes=notes)
        summary = tally.summary()
        store.set_result(result)
    return StudyRun(plan, path, result, summary)


def _check_seeds(plan: Plan, tally: _Tally, open_executor: OpenExecutor, *, quiet: bool) -> Repetitions:
    """Whether users' systems predict the same when they are trained again: what is known, and what is found out now."""
    try:
        before = tally.store.result()
    except InputError:  # by an earlier version, say: it is replaced
        before = None
    known = {name: same for name, same in (before.repeated if before else {}).items() if name in plan.systems}
    new = [key for key, status in tally.statuses.items() if status == DONE]
    failed: Mapping[str, str] = {}
    if cells := cells_to_repeat(plan, tally.store, new, known):
        executor, hashes = open_executor(), tally.store.prediction_hashes()
        work = remaining_work(plan, tally.store, cells, executor.workers)
        with Progress(work, plan.label_of, done="trained again to check its seed", quiet=quiet) as progress:
            repetitions = repeat_cells(executor, cells, hashes, progress)
        known, failed = {**known, **repetitions.same}, repetitions.failed
    return Repetitions(known, failed)


@dataclass(slots=True, eq=False)
class _Tally:
    """How the cells of a study ended: each counts once, however often it was run."""

    store: Store
    statuses: dict[str, str | None]  # by key; None if it was not run
    notes: dict[str, None] = field(default_factory=dict)
    rescored: set[str] = field(default_factory=set)
    unscored: dict[str, str] = field(default_factory=dict)  # errors of metrics, by cell

    def summary(self) -> RunSummary:
        ran, done = Counter(self.statuses.values()), self.store.done()
        present = {key for key, status in self.statuses.items() if status is None and key in done}
        rescored = len(present & self.rescored)
        failed = ran.total() - ran[None] - ran[DONE] + sum(self.statuses[key] == DONE for key in self.unscored)
        counts = (len(present) - rescored, ran[DONE], failed, ran[None] - len(present))
        return RunSummary(*counts, tuple(self.notes), rescored, self.unscored)


def with_earlier_code(plan: Plan, store: Store, *, keep_old: bool) -> tuple[Plan, list[str]]:
    """The plan, with the code that its cells in the store were run with if that is kept, and what has changed."""
    changes = changed_code(plan, store, running.missing_cells(plan, store))
    if keep_old:
        messages = [change.kept for change in changes]
        return keep_code(plan, store, changes), messages
    return plan, [f"{change}; --keep-old keeps those that were run before" for change in changes]


def left_to_run(plan: Plan, store: Store | None, *, retry_failed: bool = False) -> tuple[list[Cell], list[Cell]]:
    """What a run would train now, and final networks of searches: as many as there may be while winners are unknown."""

    def missing(cells: Sequence[Cell]) -> list[Cell]:
        return running.missing_cells(replace(plan, selection=tuple(cells)), store, retry_failed=retry_failed)

    cells, finals = running.missing_cells(plan, store, retry_failed=retry_failed), list[Cell]()
    searches = searches_of(plan)
    values = scores_of(store) if store is not None and searches else {}
    for search in searches:
        first, last = pending_cells(search, missing, lambda: values)
        cells, finals = [*cells, *first], [*finals, *last]
    return cells, finals


def failed_before(plan: Plan, store: Store, cells: Sequence[Cell]) -> int:
    """How many cells failed, and are not among those that a run would train now."""
    searched = (cell for search in searches_of(plan) for cell in search.first_cells())
    planned = {cell.key for cell in (*plan.cells, *searched)}
    return len(planned & store.failed().keys() - {cell.key for cell in cells})


def remaining_work(plan: Plan, store: Store, cells: Sequence[Cell], workers: int = 0) -> RemainingWork:
    """Cells of a plan that are left to run, and the time that they need by that of others in the store."""
    return RemainingWork.after(store, cells, workers=workers or plan.study.engine.workers or cores())


def _left(plan: Plan, store: Store | None, *, retry_failed: bool = False) -> Iterator[Cell]:
    """The cells that are left to run, computed when the first is needed."""
    for cells in left_to_run(plan, store, retry_failed=retry_failed):
        yield from cells


def _failed(plan: Plan, cell: Cell, status: str, error: str) -> FailedCell:
    system = plan.label_of(cell.system)
    return FailedCell(cell.key, system, cell.corpus, cell.split, cell.number, cell.seed, status, error)


def _run(
    plan: Plan,
    *,
    tally: _Tally,
    open_executor: OpenExecutor,
    ledger_entry: LedgerEntry | None,
    quiet: bool,
    retry_failed: bool = False,
    again: Sequence[Cell] = (),
) -> None:
    """Run the cells that are missing, and some again; those that lack scores only are scored, and not trained."""
    store = tally.store
    missing = running.missing_cells(plan, store, retry_failed=retry_failed)
    if tally.unscored:
        missing = [cell for cell in missing if cell.key not in tally.unscored]
    if tasks := rescoring_tasks(plan, store, missing):
        if ledger_entry is not None:
            rescored = {task.cell.key: task.cell for task in tasks}
            running.check_budgets(plan, [rescored.get(cell.key, cell) for cell in missing], ledger_entry)
        missing = _rescore(plan, tasks, missing, tally, ledger_entry, quiet=quiet)
    cells = list(dict.fromkeys([*missing, *again]))
    if not cells:
        return
    executor = open_executor()
    work = remaining_work(plan, store, cells, executor.workers)
    stored = running.summary_before(plan, store, cells).stored
    with Progress(work, plan.label_of, stored=stored, quiet=quiet) as progress:

        def finished(outcome: Outcome) -> None:
            tally.statuses[outcome.cell.key] = outcome.status
            progress.finished(outcome, executor.active)

        summary = running.run_study(
            plan,
            store,
            executor=executor,
            ledger_entry=ledger_entry,
            retry_failed=retry_failed,
            cells=cells,
            callbacks=Callbacks(finished, lambda: progress.tick(executor.active)),
        )
        tally.notes |= dict.fromkeys(summary.notes)
        tally.notes |= dict.fromkeys(unscored_notes(plan, {cell.key: cell for cell in cells}, summary.unscored))
        tally.unscored |= summary.unscored


def _rescore(
    plan: Plan,
    tasks: Sequence[RescoringTask],
    missing: Sequence[Cell],
    tally: _Tally,
    ledger_entry: LedgerEntry | None,
    *,
    quiet: bool,
) -> list[Cell]:
    """Score stored predictions, always on this machine; returns the cells that have to be trained."""
    work = RemainingWork([task.cell for task in tasks], workers=plan.study.engine.workers or cores())
    with Progress(work, plan.label_of, done="scored", quiet=quiet or len(tasks) <= IN_PROCESS) as progress:
        callbacks = Callbacks(progress.finished, progress.tick)
        summary = rescore_cells(plan, tally.store, tasks, ledger_entry=ledger_entry, callbacks=callbacks)
    tally.rescored |= summary.scored
    tally.unscored |= summary.failed
    tally.statuses |= dict.fromkeys(summary.failed, FAILED)
    tally.notes |= dict.fromkeys(summary.notes)
    return [cell for cell in missing if cell.key not in summary.scored and cell.key not in summary.failed]
