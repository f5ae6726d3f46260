"""Run the missing cells of a study: cells go out to workers, outcomes are stored as they come in."""

from __future__ import annotations

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from deadheat.corpus import Corpus, take
from deadheat.errors import InputError
from deadheat.metrics import METRICS
from deadheat.study.engine.executor import Executor, LocalExecutor, cores
from deadheat.study.engine.fitting import FittingExecutor, machine
from deadheat.study.engine.training import CellResult, StackedExecutor, failed_metrics, train_cell
from deadheat.study.engine.worker import TaskResult
from deadheat.study.ledger.ledger import Evaluation, Ledger, LedgerEntry, LedgerTestSet
from deadheat.study.plan.cells import DONE, Cell, CorpusSplit, Outcome, PartScores, PredictionFile
from deadheat.study.plan.changed_code import code_hashes
from deadheat.study.plan.needs import declares_needs, needs_of
from deadheat.study.plan.plan import Plan
from deadheat.study.store.provenance import package_versions, provenance
from deadheat.study.store.recording import predictions_folder, write_prediction
from deadheat.study.store.store import Store
from deadheat.systems import SYSTEMS
from deadheat.systems.recipe import is_of_recipe
from deadheat.text import pluralize

TEST = "test"


class Callbacks(NamedTuple):
    """Called when a cell is stored, and about once a second while none finishes."""

    on_outcome: Callable[[Outcome], None]
    on_wait: Callable[[], None] | None = None


@dataclass(slots=True)
class CellRunner:
    """Runs cells in a worker process: it reads the study itself, and knows the folder for predictions."""

    path: Path
    text: str
    overrides: tuple[str, ...]
    folder: Path
    kept: Mapping[str, str] = field(default_factory=dict)
    plan: Plan | None = field(default=None, repr=False)

    def prepare(self) -> None:
        """Read the study and its corpora."""
        self.plan = Plan.of(self.path, self.overrides, self.kept)
        if self.plan.text != self.text:
            raise InputError(f"{self.path}: changed while the study was starting; expected no change")

    def prepare_process(self) -> None:
        """Prepare, in the study's folder: paths and programs in the study are relative to it."""
        os.chdir(self.path.parent)
        self.prepare()

    def run(self, cell: Cell) -> CellResult:
        """Train and score one cell; its predictions are saved before it is reported."""
        assert self.plan is not None
        self.plan.check_unchanged(cell)
        return train_cell(self.plan, cell, partial(save_prediction, self.folder, cell))


def save_prediction(folder: Path, cell: Cell, part: str, data: bytes) -> PredictionFile:
    """Write a prediction of a cell; of one that is repeated, only its hash is kept."""
    if cell.repeated:
        return PredictionFile("", hashlib.sha256(data).hexdigest(), len(data))
    return write_prediction(folder, cell.key, part, data)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """How many cells were in the store already, and how the others ended."""

    stored: int
    done: int = 0
    failed: int = 0
    skipped: int = 0  # failed before, and not run again
    notes: tuple[str, ...] = ()
    rescored: int = 0  # not trained: scores were added from their stored predictions
    unscored: Mapping[str, str] = field(default_factory=dict)  # errors of metrics, by cell; they count as failed

    def __str__(self) -> str:
        parts = [f"{pluralize(self.done, 'cell')} run"]
        parts += [f"{self.rescored:,} scored again"] if self.rescored else []
        parts += [f"{self.stored:,} already in the store"] if self.stored else []
        failed = self.failed - len(self.unscored)
        parts += [f"{failed:,} failed"] if failed else []
        parts += [f"{len(self.unscored):,} not scored by a metric that failed"] if self.unscored else []
        parts += [f"{self.skipped:,} failed before (--retry-failed runs them again)"] if self.skipped else []
        return ", ".join(parts)


def missing_cells(plan: Plan, store: Store | None, *, retry_failed: bool = False) -> list[Cell]:
    """Cells that the store lacks, wholly or in part, without those that failed unless they are to be retried."""
    if store is None:
        return list(plan.cells)
    present = _complete_keys(plan, store) | (set() if retry_failed else set(store.failed()))
    return [cell for cell in plan.cells if cell.key not in present]


def _complete_keys(plan: Plan, store: Store) -> set[str]:
    """Keys of the cells that have every score that the study needs."""
    done = store.done()
    return done - missing_scores(plan, store, plan.cells).keys() if done else done


def missing_scores(plan: Plan, store: Store, cells: Iterable[Cell]) -> dict[str, list[tuple[str, str]]]:
    """The parts and metrics that the study needs and the store lacks, by the keys of cells that lack some."""
    stored = _stored_scores(store)
    needed: dict[tuple[Any, ...], list[tuple[str, str]]] = {}
    missing: dict[str, list[tuple[str, str]]] = {}
    for cell in cells:
        kind = (cell.corpus, cell.split, cell.split_seed, cell.system, cell.scored)
        if kind not in needed:
            metrics = [metric.name for metric in plan.metrics_of(cell.system)]
            needed[kind] = [(part, metric) for part in plan.scored_parts(cell) for metric in metrics]
        scores = set(stored.get(cell.key, ()))
        if lacking := [score for score in needed[kind] if score not in scores]:
            missing[cell.key] = lacking
    return missing


def _stored_scores(store: Store) -> dict[str, list[tuple[str, str]]]:
    """The parts and metrics that have counts, by key."""
    scores: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for key, part, metric, *_ in store.count_shapes().iter_rows():
        scores[key].append((part, metric))
    return scores


def failed_cells(plan: Plan, store: Store) -> list[tuple[Cell, str, str]]:
    """Cells of the plan that failed, each with its status and error."""
    failed = store.failed()
    errors = dict(store.runs().select("key", "error").iter_rows()) if failed else {}
    return [(cell, failed[cell.key], errors[cell.key]) for cell in plan.cells if cell.key in failed]


def planned_evaluations(plan: Plan, cells: Sequence[Cell], ledger: Ledger | None = None) -> dict[LedgerTestSet, int]:
    """How often each test set would be evaluated on: parts called test, and others that are one in the ledger."""
    evaluations: Counter[LedgerTestSet] = Counter()
    parts = Counter((cell.corpus_split, part) for cell in cells for part in plan.scored_parts(cell))
    for (split, part), times in parts.items():
        for test_set in _test_sets(plan, split, part, ledger):
            evaluations[test_set] += times
    return evaluations


def _test_sets(plan: Plan, split: CorpusSplit, part: str, ledger: Ledger | None) -> tuple[LedgerTestSet, ...]:
    """The test sets that a part of a split is, as the ledger identifies them.

    A part that is not test, but test of another split of the study, as in cross-validation, counts if it is guarded.
    """
    if part != TEST and ledger is None:
        return ()
    text = _text_of(plan, split, part)
    test_sets = ledger.test_sets_in(text) if ledger is not None else ()
    if part == TEST:
        return test_sets or (replace(LedgerTestSet.of(text), name=text.name),)
    if not test_sets or ledger is None:
        return ()
    tested = _tested_texts(plan)
    return tuple(item for item in test_sets if item.hash not in tested or ledger.tally(item.hash).guarded)


def _text_of(plan: Plan, split: CorpusSplit, part: str) -> Corpus:
    text = take(plan.materials[split.corpus].corpus, plan.partition(split).parts[part])
    return replace(text, name=f"{split}, {part}")


@lru_cache(maxsize=1)
def _tested_texts(plan: Plan) -> frozenset[str]:
    """The hashes of all test parts of a study."""
    splits = (split for split in plan.corpus_splits if TEST in plan.partition(split).parts)
    return frozenset(LedgerTestSet.of(_text_of(plan, split, TEST)).hash for split in splits)


def run_study(
    plan: Plan,
    store: Store,
    *,
    executor: Executor[Cell, CellResult],
    ledger_entry: LedgerEntry | None = None,
    retry_failed: bool = False,
    cells: Sequence[Cell] | None = None,
    callbacks: Callbacks | None = None,
) -> RunSummary:
    """Run the missing cells, or these; whatever happens, finished cells are in the store.

    An evaluation of a test set is written to the ledger before its scores are stored: one that is interrupted in
    between is run, and counted, again. A cell that is run again replaces the old one only when it is done.
    """
    if cells is None:
        cells = missing_cells(plan, store, retry_failed=retry_failed)
    before = summary_before(plan, store, cells)
    stored = store.done()
    cells = _with_stored_parts(plan, store, cells, stored)
    if ledger_entry is not None:
        check_budgets(plan, cells, ledger_entry)
    made_with = provenance(plan.path.parent) | plan_provenance(plan)
    recorder = EvaluationRecorder.of(plan, ledger_entry)
    by_key = {cell.key: cell for cell in cells}
    for cell in cells:
        executor.submit(cell.key, cell)
    done = failed = 0
    notes: list[str] = []
    unscored: dict[str, str] = {}
    for result in executor.results(callbacks.on_wait if callbacks else None):
        cell = by_key[result.name]
        if result.value is not None:
            notes += recorder.record(cell, result.value)
            if error := failed_metrics(result.value):
                unscored[cell.key] = error
        outcome = _outcome(cell, result, made_with)
        save = store.replace if result.name in stored and outcome.status == DONE else store.add
        save(outcome)
        done, failed = done + (outcome.status == DONE), failed + (outcome.status != DONE)
        if callbacks is not None:
            callbacks.on_outcome(outcome)
    failed += len(unscored)
    return replace(before, done=done, failed=failed, notes=tuple(dict.fromkeys(notes)), unscored=unscored)


def plan_provenance(plan: Plan) -> dict[str, Any]:
    """What a plan adds to the provenance of its runs: overrides, labels, and users' code with what it imports."""
    entries = {
        "set": list(plan.overrides),
        "labels": {name: label for name, label in plan.labels.items() if label != name},
        "code": code_hashes(plan),
        "packages": package_versions(file for file in plan.code_files if not is_of_recipe(file)),
        "programs": plan.program_packages,
        "kept": dict(plan.kept),
    }
    return {name: value for name, value in entries.items() if value}


def _with_stored_parts(plan: Plan, store: Store, cells: Sequence[Cell], stored: set[str]) -> list[Cell]:
    """Cells that are run again are also scored on the parts that have scores already, which would be lost."""
    if stored.isdisjoint(cell.key for cell in cells):
        return list(cells)
    scores = _stored_scores(store)
    return [
        replace(cell, scored=tuple(dict.fromkeys([*(part for part, _ in scores[cell.key]), *plan.scored_parts(cell)])))
        if cell.key in stored and cell.key in scores
        else cell
        for cell in cells
    ]


def summary_before(plan: Plan, store: Store, cells: Sequence[Cell] = ()) -> RunSummary:
    """The summary of a study before some cells run."""
    failed = store.failed()
    running = {cell.key for cell in cells}
    skipped = sum(cell.key in failed for cell in plan.cells if cell.key not in running)
    return RunSummary(len(plan.cells) - len(running) - skipped, skipped=skipped)


def local_executor(plan: Plan, store: Path) -> Executor[Cell, CellResult]:
    """Worker processes of this machine, with stacks of networks where it has an accelerator for them."""
    check_importable(plan)
    folder = predictions_folder(store).absolute()
    runner = CellRunner(plan.path.absolute(), plan.text, plan.overrides, folder, plan.kept)
    engine = plan.study.engine
    workers: Executor[Cell, CellResult]
    workers = LocalExecutor(runner.run, workers=engine.workers, limit_s=engine.limit, prepare=runner.prepare_process)
    if declares_needs(plan):
        workers = FittingExecutor(workers, machine(engine.workers or cores()), needs_of(plan))
    if not use_stacks(plan):
        return workers
    return StackedExecutor(plan, partial(save_prediction, folder), workers)


def check_importable(plan: Plan) -> None:
    """Refuse systems and metrics that worker processes would not know."""
    for registry, names in ((SYSTEMS, plan.systems), (METRICS, plan.study.metrics)):
        for name in names:
            registry.check_importable(name)


def use_stacks(plan: Plan) -> bool:
    """Whether the study has networks that train in this process, and this machine an accelerator for them."""
    if plan.study.engine.device == "cpu":
        return False
    trainers = [SYSTEMS.make(name).batch_trainer for name in {cell.system for cell in plan.cells}]
    return any(has_accelerator(extra) for extra in {trainer.extra for trainer in trainers if trainer is not None})


def has_accelerator(extra: str) -> bool:
    """Whether what an extra installs finds an accelerator; without it, each network reports what is missing."""
    try:
        if extra == "finetuning":
            from deadheat.finetuning.devices import on_accelerator
        else:
            from deadheat.neural.devices import on_accelerator
    except ModuleNotFoundError:
        return False
    return on_accelerator()


def check_budgets(plan: Plan, cells: Iterable[Cell], ledger_entry: LedgerEntry) -> None:
    """Refuse a study that a budget of the ledger does not allow; without a budget, `cells` is not iterated."""
    limited = {tally.test_set: tally for tally in ledger_entry.ledger.tallies() if tally.left is not None}
    if not limited or ledger_entry.over_budget:
        return
    for test_set, evaluations in planned_evaluations(plan, [*cells], ledger_entry.ledger).items():
        tally = limited.get(test_set.hash)
        if tally is not None and tally.left is not None and evaluations > tally.left:
            part = test_set.name.rpartition(", ")[2]
            example = ', as with evaluate = ["dev"]' if part == TEST else " (evaluate)"
            raise InputError(
                f"{test_set.name} ({tally.name}): {pluralize(evaluations, 'evaluation')} planned, "
                f"{max(tally.left, 0):,} left of a budget of {tally.budget:,} (ledger {ledger_entry.ledger.path}); "
                f'expected --over-budget "reason", or to evaluate other parts{example}'
            )


@dataclass(frozen=True, slots=True)
class EvaluationRecorder:
    """Records evaluations of test sets in the ledger, if there is one; called before their scores are stored."""

    plan: Plan
    ledger_entry: LedgerEntry | None
    look: str
    test_sets_of: Callable[[CorpusSplit, str], tuple[LedgerTestSet, ...]]

    @classmethod
    def of(cls, plan: Plan, ledger_entry: LedgerEntry | None) -> EvaluationRecorder:
        # All cells of a study are one look, also if it is resumed; with another seed or system it is another look.
        look = "\n".join(sorted(cell.key for cell in plan.cells)) if ledger_entry is not None else ""
        test_sets_of = cache(partial(_test_sets, plan, ledger=ledger_entry.ledger if ledger_entry else None))
        return cls(plan, ledger_entry, look, test_sets_of)

    def record(self, cell: Cell, result: CellResult) -> list[str]:
        """Write one line per part that is a test set; returns notes for the user."""
        if self.ledger_entry is None:
            return []
        notes: list[str] = []
        for scores in result.scores:
            if scores.values and (test_sets := self.test_sets_of(cell.corpus_split, scores.part)):
                evaluation = _evaluation(self.plan, cell, result, scores)
                notes += _record_evaluation(test_sets, evaluation, self.ledger_entry, self.plan, self.look)
        return notes


def _evaluation(plan: Plan, cell: Cell, result: CellResult, scores: PartScores) -> Evaluation:
    prediction = result.predictions[scores.part].sha256 if scores.part in result.predictions else ""
    settings = "|".join(filter(None, (cell.system, str(cell.seed), cell.setup, cell.vectors)))
    return Evaluation(plan.label_of(cell.system), prediction, tuple(scores.values), settings)


def _record_evaluation(
    test_sets: Sequence[LedgerTestSet], evaluation: Evaluation, ledger_entry: LedgerEntry, plan: Plan, look: str
) -> tuple[str, ...]:
    purpose = ledger_entry.purpose or f"study {plan.study.name or plan.path.name}"
    recorded = ledger_entry.ledger.record(
        test_sets, [evaluation], purpose=purpose, over_budget=ledger_entry.over_budget, look=look
    )
    return recorded.notes if not recorded.tallies else recorded.warnings


def _outcome(cell: Cell, result: TaskResult[CellResult], made_with: dict[str, Any]) -> Outcome:
    value = result.value or CellResult((), {})
    made_with = made_with | {"host": result.host} if result.host else made_with
    usage = (result.started, result.wall_s, result.cpu_s, result.peak_mb)
    return Outcome(cell, result.status, *usage, result.log, result.error, value.scores, value.predictions, made_with)
