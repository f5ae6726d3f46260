"""Run a study to its end: train and test what its store lacks, then say what was found."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from deadheat.questions.search import SearchResult, search_result
from deadheat.questions.study import StudyResult, scores_of, study_result
from deadheat.study.engine.executor import Executor
from deadheat.study.engine.local import cores
from deadheat.study.engine.progress import Progress
from deadheat.study.engine.running import (
    RunSummary,
    check_budgets,
    failed_cells,
    local_executor,
    missing_cells,
    planned_evaluations,
    run_study,
    summary_before,
)
from deadheat.study.engine.training import CellResult
from deadheat.study.ledger.ledger import LedgerEntry
from deadheat.study.plan.cells import DONE, Cell, Outcome
from deadheat.study.plan.plan import Plan
from deadheat.study.search.search import pending_cells, run_search, searches_of, tested_cells
from deadheat.study.store.store import Store

Executing = Callable[[Plan, Path], Executor[Cell, CellResult]]  # of a plan and the place of its store
KEYS = "keys"  # of the study's cells, and of each search's, in what the store keeps: it may hold cells of other studies
Failure = tuple[Cell, str, str]  # a cell, how it ended, and why


@dataclass(frozen=True, slots=True, eq=False)
class StudyRun:
    """A study that was run: what it found, how the run went, what failed, and where the results are."""

    plan: Plan
    store: Path
    result: StudyResult
    summary: RunSummary
    failures: tuple[Failure, ...]
    searches: tuple[SearchResult, ...] = ()

    def __str__(self) -> str:
        return str(self.result)

    def to_dict(self) -> dict[str, Any]:
        """All that the study found, what failed, and which test sets were looked at for it."""
        looked = planned_evaluations(self.plan, [*self.plan.cells, *tested_cells(searches_of(self.plan))])
        test_sets = [{"name": each.name, "hash": each.hash} for each in looked]
        failed = [
            {
                "key": cell.key,
                "system": self.plan.label_of(cell.system),
                "corpus": cell.corpus,
                "split": cell.split,
                "number": cell.number,
                "seed": cell.seed,
                "status": status,
                "error": error,
            }
            for cell, status, error in self.failures
        ]
        searches = [each.to_dict() for each in self.searches]
        besides = {"failed": failed, "test_sets": test_sets, "store": str(self.store), "searches": searches}
        return {**self.result.to_dict(), **besides}


def run(
    study: str | os.PathLike[str],
    *,
    overrides: Sequence[str] = (),
    store: str | os.PathLike[str] | None = None,
    retry_failed: bool = False,
    ledger_entry: LedgerEntry | None = None,
    quiet: bool = True,
    on_message: Callable[[str], None] | None = None,
) -> StudyRun:
    """Train and test all of a study; what is in its store is not run again.

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
    ledger_entry
        Where looks at test sets are recorded, and why they are taken.
    quiet
        Show no progress.
    on_message
        What hears of things that a person should know before the end.
    """
    return run_plan(
        Plan.of(Path(study), overrides),
        Path(store) if store is not None else None,
        retry_failed=retry_failed,
        ledger_entry=ledger_entry,
        quiet=quiet,
        on_message=on_message,
    )


def run_plan(
    plan: Plan,
    path: Path | None = None,
    *,
    retry_failed: bool = False,
    ledger_entry: LedgerEntry | None = None,
    quiet: bool = True,
    on_message: Callable[[str], None] | None = None,
    executor: Executing = local_executor,
) -> StudyRun:
    """Run a plan; see `run`. Cells run where `executor` says: in processes of this machine, if nothing else."""
    path = path or plan.store_path
    searches, there = searches_of(plan), path.exists()
    if ledger_entry is not None and not there:  # nothing is made of a study that is refused
        check_budgets(plan, _left(plan, None), ledger_entry)
    with Store.open(path, create=True) as store:
        if ledger_entry is not None and there and searches:
            check_budgets(plan, _left(plan, store, retry_failed=retry_failed), ledger_entry)
        store.set_study(plan.text)
        summary = _run(plan, store, executor, ledger_entry=ledger_entry, retry_failed=retry_failed, quiet=quiet)
        result = study_result(plan, store)
        if result.damaged:
            for cell in result.damaged:
                if on_message is not None:
                    on_message(f"{named(plan, cell)}: its predictions are not what they were; it runs again")
            summary = _run(plan, store, executor, ledger_entry=ledger_entry, quiet=quiet, again=result.damaged)
            result = study_result(plan, store)
        failures = failed_cells(plan, store)
        found = []
        for search in searches:
            once = _Once(plan, store, executor, ledger_entry, quiet, retry_failed)
            searched = run_search(search, once.run, lambda: scores_of(store))
            found.append(search_result(searched, store, scores_of(store)))
            summary = summary + once.summary
            failures += once.failures
        study_run = StudyRun(plan, path, result, summary, tuple(failures), tuple(found))
        kept = [{**each.to_dict(), KEYS: list(each.keys)} for each in found]
        store.set_result({**study_run.to_dict(), "searches": kept, KEYS: [cell.key for cell in plan.cells]})
    return study_run


def left_to_run(plan: Plan, store: Store | None, *, retry_failed: bool = False) -> tuple[list[Cell], list[Cell]]:
    """What a run would train now, and final networks of searches: as many as there may be while winners are unknown."""

    def missing(cells: Sequence[Cell]) -> list[Cell]:
        return missing_cells(replace(plan, selection=tuple(cells)), store, retry_failed=retry_failed)

    found, finals = missing_cells(plan, store, retry_failed=retry_failed), list[Cell]()
    searches = searches_of(plan)
    values = scores_of(store) if store is not None and searches else {}
    for search in searches:
        first, last = pending_cells(search, missing, lambda: values)
        found, finals = [*found, *first], [*finals, *last]
    return found, finals


def _left(plan: Plan, store: Store | None, *, retry_failed: bool = False) -> Iterator[Cell]:
    """The cells that are left to run, worked out when the first is asked for."""
    for own in left_to_run(plan, store, retry_failed=retry_failed):
        yield from own


def named(plan: Plan, cell: Cell) -> str:
    """A cell in words."""
    return f"{plan.label_of(cell.system)} on split {cell.number} of {cell.corpus}, seed {cell.seed}"


@dataclass(slots=True)
class _Once:
    """Runs cells of a search, each at most once; how that went is added up."""

    plan: Plan
    store: Store
    executor: Executing
    ledger_entry: LedgerEntry | None
    quiet: bool
    retry_failed: bool
    summary: RunSummary = field(default_factory=lambda: RunSummary(0))
    failures: list[Failure] = field(default_factory=list)

    def run(self, cells: Sequence[Cell]) -> None:
        """Train what is not there yet."""
        if not cells:
            return
        own = replace(self.plan, selection=tuple(cells))
        self.summary += _run(
            own,
            self.store,
            self.executor,
            ledger_entry=self.ledger_entry,
            quiet=self.quiet,
            retry_failed=self.retry_failed,
        )
        self.failures += failed_cells(own, self.store)


def _run(
    plan: Plan,
    store: Store,
    executing: Executing,
    *,
    ledger_entry: LedgerEntry | None,
    quiet: bool,
    retry_failed: bool = False,
    again: Sequence[Cell] = (),
) -> RunSummary:
    """Run the cells that wait, and some again."""
    lacking = missing_cells(plan, store, retry_failed=retry_failed)
    if not lacking and not again:
        return summary_before(plan, store)
    workers = plan.study.engine.workers or cores()
    with (
        executing(plan, store.path) as executor,
        Progress(len(lacking) + len(again), workers=workers, quiet=quiet) as progress,
    ):

        def finished(outcome: Outcome, left: int) -> None:
            progress.finished(outcome.wall_s, running=min(left, workers), failed=outcome.status != DONE)

        return run_study(
            plan,
            store,
            executor=executor,
            ledger_entry=ledger_entry,
            retry_failed=retry_failed,
            again=again,
            on_outcome=finished,
        )
