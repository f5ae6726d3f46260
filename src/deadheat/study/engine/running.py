"""Run what a study lacks: cells go out to workers, outcomes come in one by one and are stored at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from deadheat.corpus import take
from deadheat.corpus.corpus import text_hash
from deadheat.errors import InputError
from deadheat.study.engine.executor import Executor, Finished
from deadheat.study.engine.local import LocalExecutor
from deadheat.study.engine.training import StackedExecutor, Worked, work
from deadheat.study.ledger.ledger import Look, Scored, Watched
from deadheat.study.plan.cells import DONE, Cell, Outcome
from deadheat.study.plan.plan import Plan
from deadheat.study.store.recording import predictions_folder, provenance, write_prediction
from deadheat.study.store.store import Store
from deadheat.systems import SYSTEMS
from deadheat.text import pluralize

TEST = "test"
Told = Callable[[Outcome, int], None]  # an outcome, and how many cells are left


@dataclass(slots=True)
class Workplace:
    """What a worker process has: the study, read anew by itself, and the folder for predictions."""

    path: Path
    text: str
    overrides: tuple[str, ...]
    folder: Path
    plan: Plan | None = field(default=None, repr=False)

    def prepare(self) -> None:
        """Read the study and its corpora."""
        self.plan = Plan.of(self.path, self.overrides)
        if self.plan.text != self.text:
            raise InputError(f"{self.path}: it changed while the study was starting; expected it to stay")

    def begin(self) -> None:
        """Prepare a process that stands in the study's folder: what the study names is relative to it, programs too."""
        os.chdir(self.path.parent)
        self.prepare()

    def run(self, cell: Cell) -> Worked:
        """Train and score one cell; its predictions are kept before it is reported."""
        assert self.plan is not None
        self.plan.check_unchanged(cell)
        return work(self.plan, cell, lambda part, data: write_prediction(self.folder, cell.key, part, data))


@dataclass(frozen=True, slots=True)
class RunSummary:
    """How a run went: cells that were there already, and those that ran, by how they ended."""

    there: int
    done: int = 0
    failed: int = 0
    given_up: int = 0  # failed before, and were not tried again
    notes: tuple[str, ...] = ()

    def __add__(self, other: RunSummary) -> RunSummary:
        sums = (getattr(self, name) + getattr(other, name) for name in ("there", "done", "failed", "given_up"))
        there, done, failed, given_up = sums
        return RunSummary(there, done, failed, given_up, tuple(dict.fromkeys((*self.notes, *other.notes))))

    def __str__(self) -> str:
        parts = [f"{pluralize(self.done, 'cell')} run"]
        parts += [f"{self.there:,} there already"] if self.there else []
        parts += [f"{self.failed:,} failed"] if self.failed else []
        parts += [f"{self.given_up:,} failed before (--retry-failed runs them again)"] if self.given_up else []
        return ", ".join(parts)


def missing_cells(plan: Plan, store: Store | None, *, retry_failed: bool = False) -> list[Cell]:
    """Cells that the store does not hold, or not with all scores that the study asks for.

    Those that failed before are among them only if they are to be tried again.
    """
    if store is None:
        return list(plan.cells)
    there = _complete(plan, store)
    failed = set() if retry_failed else set(store.failed())
    return [cell for cell in plan.cells if cell.key not in there and cell.key not in failed]


def _complete(plan: Plan, store: Store) -> set[str]:
    """Keys of the cells that have every score the study asks for."""
    done = store.done()
    if not done:
        return done
    scored: dict[str, set[tuple[str, str]]] = {}
    for key, part, metric, *_ in store.counted().iter_rows():
        scored.setdefault(key, set()).add((part, metric))
    wanted: dict[tuple[Any, ...], set[tuple[str, str]]] = {}
    complete = set()
    for cell in plan.cells:
        kind = (cell.corpus, cell.split, cell.split_seed, cell.system, cell.scored)
        if kind not in wanted:
            names = [metric.name for metric in plan.metrics_of(cell.system)]
            wanted[kind] = {(part, name) for part in plan.scored_parts(cell) for name in names}
        if wanted[kind] <= scored.get(cell.key, set()):
            complete.add(cell.key)
    return complete & done


def failed_cells(plan: Plan, store: Store) -> list[tuple[Cell, str, str]]:
    """Cells of the plan that came to nothing, how they ended, and why."""
    failed = store.failed()
    found = [cell for cell in plan.cells if cell.key in failed]
    if not found:
        return []
    runs = store.runs()
    errors = dict(zip(runs["key"], runs["error"], strict=True))
    return [(cell, failed[cell.key], errors[cell.key]) for cell in found]


def planned_looks(plan: Plan, cells: Sequence[Cell]) -> dict[Watched, int]:
    """How often each test set would be looked at."""
    found: dict[tuple[str, str, int, int], Watched] = {}
    looks: dict[Watched, int] = {}
    for cell in cells:
        place = (cell.corpus, cell.split, cell.split_seed, cell.number)
        if TEST not in plan.scored_parts(cell):
            continue
        if place not in found:
            corpus, partition = plan.materials[cell.corpus].corpus, plan.partition(cell)
            found[place] = watched(cell, text_hash(take(corpus, partition.parts[TEST])))
        looks[found[place]] = looks.get(found[place], 0) + 1
    return looks


def watched(cell: Cell, text: str) -> Watched:
    """The test part of a cell's split, as the ledger knows it."""
    return Watched(f"{cell.corpus}, {cell.split.partition('.v')[0]} {cell.number}, test", text)


def run_study(
    plan: Plan,
    store: Store,
    *,
    executor: Executor[Cell, Worked],
    look: Look | None = None,
    retry_failed: bool = False,
    again: Sequence[Cell] = (),
    told: Told | None = None,
) -> RunSummary:
    """Run the cells that the store lacks, and some again; whatever happens, what was finished is in the store.

    A look at a test set is written to the ledger before its scores are stored: one that is cut off in between is run,
    and counted, again. What is run again takes the place of what was there when it is done, and not before.
    """
    cells = list(dict.fromkeys([*missing_cells(plan, store, retry_failed=retry_failed), *again]))
    before = ran_before(plan, store, cells)
    there = store.done()
    cells = _with_earlier_parts(plan, store, cells, there)
    if look is not None:
        check_budgets(plan, cells, look)
    made_with = provenance(plan.path.parent) | ({"set": list(plan.overrides)} if plan.overrides else {})
    by_key = {cell.key: cell for cell in cells}
    for cell in cells:
        executor.submit(cell.key, cell)
    done = failed = 0
    notes: list[str] = []
    for finished in executor.results():
        cell = by_key[finished.name]
        if finished.value is not None and look is not None:
            notes += _recorded(cell, finished.value, look, plan)
        outcome = _outcome(cell, finished, made_with)
        put = store.replace if finished.name in there and outcome.status == DONE else store.add
        put(outcome)
        done, failed = done + (outcome.status == DONE), failed + (outcome.status != DONE)
        if told is not None:
            told(outcome, len(cells) - done - failed)
    return replace(before, done=done, failed=failed, notes=tuple(dict.fromkeys(notes)))


def _with_earlier_parts(plan: Plan, store: Store, cells: Sequence[Cell], there: set[str]) -> list[Cell]:
    """Cells that are run again are also scored on the parts that they were scored on before, which would be lost."""
    if there.isdisjoint(cell.key for cell in cells):
        return list(cells)
    scored: dict[str, dict[str, None]] = {}
    for key, part, *_ in store.counted().iter_rows():
        scored.setdefault(key, {})[part] = None
    return [
        replace(cell, scored=tuple(dict.fromkeys([*scored[cell.key], *plan.scored_parts(cell)])))
        if cell.key in there and cell.key in scored
        else cell
        for cell in cells
    ]


def ran_before(plan: Plan, store: Store, cells: Sequence[Cell] = ()) -> RunSummary:
    """How a study stands before some cells run."""
    failed = store.failed()
    running = {cell.key for cell in cells}
    given_up = sum(cell.key in failed for cell in plan.cells if cell.key not in running)
    return RunSummary(len(plan.cells) - len(running) - given_up, given_up=given_up)


def local_executor(plan: Plan, store: Path) -> Executor[Cell, Worked]:
    """Worker processes of this machine, as the study asks for them; and stacks of networks where it can train them."""
    folder = predictions_folder(store).absolute()
    place = Workplace(plan.path.absolute(), plan.text, plan.overrides, folder)
    engine = plan.study.engine
    workers = LocalExecutor(place.run, workers=engine.workers, limit_s=engine.limit, prepare=place.begin)
    if not stacks_pay(plan):
        return workers
    return StackedExecutor(plan, lambda cell, part, data: write_prediction(folder, cell.key, part, data), workers)


def stacks_pay(plan: Plan) -> bool:
    """Whether the study has networks that can train together, and this machine an accelerator to train them on."""
    if plan.study.engine.device == "cpu" or all(
        SYSTEMS.make(name).together is None for name in {cell.system for cell in plan.cells}
    ):
        return False
    try:
        from deadheat.neural.devices import accelerated
    except ModuleNotFoundError:  # each network says by itself what is missing
        return False
    return accelerated()


def check_budgets(plan: Plan, cells: Iterable[Cell], look: Look) -> None:
    """Refuse before anything runs what a budget of the ledger would not allow; without one, cells are not asked for."""
    limited = {each.test_set: each for each in look.ledger.tallies() if each.left is not None}
    if not limited or look.over_budget:
        return
    for test_set, looks in planned_looks(plan, [*cells]).items():
        tally = limited.get(test_set.hash)
        if tally is not None and tally.left is not None and looks > tally.left:
            raise InputError(
                f"{test_set.name} ({tally.name}): {pluralize(looks, 'look')} planned, {max(tally.left, 0):,} left of a "
                f'budget of {tally.budget:,} (ledger {look.ledger.path}); expected --over-budget "reason", or '
                'evaluate = ["dev"]'
            )


def _recorded(cell: Cell, worked: Worked, look: Look, plan: Plan) -> tuple[str, ...]:
    if TEST not in worked.texts:
        return ()
    scores = next(each for each in worked.scores if each.part == TEST)
    prediction = str(worked.predictions.get(TEST, {}).get("sha256", ""))
    made_from = "|".join(filter(None, (cell.system, str(cell.seed), cell.setup, cell.vectors)))
    scored = Scored(plan.label_of(cell.system), prediction, tuple(scores.values), made_from)
    purpose = look.purpose or f"study {plan.study.name or plan.path.name}"
    recorded = look.ledger.record(
        [watched(cell, worked.texts[TEST])], [scored], purpose=purpose, over_budget=look.over_budget
    )
    return recorded.notes if not recorded.tallies else ()


def _outcome(cell: Cell, finished: Finished[Worked], made_with: dict[str, Any]) -> Outcome:
    value = finished.value
    return Outcome(
        cell,
        finished.status,
        finished.started,
        finished.wall_s,
        finished.cpu_s,
        finished.peak_mb,
        finished.log,
        finished.error,
        value.scores if value is not None else (),
        value.predictions if value is not None else {},
        made_with,
    )
