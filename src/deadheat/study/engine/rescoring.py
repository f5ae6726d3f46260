"""Score stored predictions by metrics that a study asks for only now; nothing is trained again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from deadheat.corpus import take
from deadheat.errors import InputError
from deadheat.metrics import METRICS, align
from deadheat.study.engine.executor import LocalExecutor
from deadheat.study.engine.running import (
    Callbacks,
    CellRunner,
    EvaluationRecorder,
    check_importable,
    missing_scores,
    plan_provenance,
)
from deadheat.study.engine.training import CellResult, failed_metrics, read_back, score_part
from deadheat.study.engine.worker import TaskResult
from deadheat.study.ledger.ledger import LedgerEntry
from deadheat.study.plan.cells import DONE, FAILED, Cell, Outcome, PartScores, PredictionFile
from deadheat.study.plan.plan import Plan
from deadheat.study.store.provenance import provenance
from deadheat.study.store.recording import predictions_folder, read_prediction
from deadheat.study.store.store import Store
from deadheat.text import pluralize
from deadheat.tracebacks import describe_error

IN_PROCESS = 50  # cells; starting worker processes for fewer would take longer than scoring them
BATCH, BATCH_S = 100, 1.0  # cells, and seconds, whose scores are stored together: each commit waits for the disk
LISTED = 3  # cells with the same problem
MISSING_FILE = "its predictions are missing"


@dataclass(frozen=True, slots=True)
class RescoringTask:
    """A cell that is done and lacks scores, with its predictions of the parts that lack them."""

    cell: Cell  # `scored` are these parts
    metrics: Mapping[str, tuple[str, ...]]  # the missing ones, by part
    predictions: dict[str, PredictionFile]


@dataclass(frozen=True, slots=True)
class UnreadablePrediction:
    """Why a cell cannot be scored from what is stored."""

    problem: str


Rescored = CellResult | UnreadablePrediction


@dataclass(frozen=True, slots=True)
class RescoringSummary:
    """How the cells ended that were to be scored again, by their keys."""

    scored: frozenset[str] = frozenset()
    unreadable: Mapping[str, str] = field(default_factory=dict)  # they need training; with what is wrong
    failed: Mapping[str, str] = field(default_factory=dict)  # a metric failed, or the process; with the error
    notes: tuple[str, ...] = ()


def rescoring_tasks(plan: Plan, store: Store, cells: Iterable[Cell]) -> list[RescoringTask]:
    """Those of some cells that lack scores only, and have predictions of all parts that lack them."""
    done = store.done()
    candidates = [cell for cell in cells if cell.key in done]
    if not candidates:
        return []
    missing, files = missing_scores(plan, store, candidates), store.prediction_files()
    tasks: list[RescoringTask] = []
    for cell in candidates:
        metrics: dict[str, tuple[str, ...]] = {}
        for part, metric in missing.get(cell.key, ()):
            metrics[part] = (*metrics.get(part, ()), metric)
        stored = files.get(cell.key, {})
        if metrics and metrics.keys() <= stored.keys():
            predictions = {part: stored[part] for part in metrics}
            tasks.append(RescoringTask(replace(cell, scored=tuple(metrics)), metrics, predictions))
    return tasks


def planned_rescoring(plan: Plan, store: Store, cells: Iterable[Cell]) -> list[RescoringTask]:
    """What a run would score again, if its predictions have not changed."""
    return [task for task in rescoring_tasks(plan, store, cells) if _has_files(task, store.path)]


def _has_files(task: RescoringTask, store: Path) -> bool:
    """Whether all files of its predictions exist; what is in them is checked when they are read."""
    folder = predictions_folder(store)
    return all((folder / prediction.file).is_file() for prediction in task.predictions.values())


def rescore_cells(
    plan: Plan,
    store: Store,
    tasks: Sequence[RescoringTask],
    *,
    ledger_entry: LedgerEntry | None = None,
    callbacks: Callbacks | None = None,
) -> RescoringSummary:
    """Score stored predictions and add the scores to their cells.

    An evaluation of a test set is written to the ledger before its scores are stored, as for a cell that is trained.
    """
    cells = {task.cell.key: task.cell for task in tasks}
    ready = [task for task in tasks if _has_files(task, store.path)]
    unreadable = dict.fromkeys(cells.keys() - {task.cell.key for task in ready}, MISSING_FILE)
    failed: dict[str, str] = {}
    saver = _ScoreSaver(plan, store, EvaluationRecorder.of(plan, ledger_entry))
    for result in _results(plan, store.path, ready, callbacks.on_wait if callbacks else None):
        match result.value:
            case CellResult() as value:
                saver.add(cells[result.name], value)
                if error := failed_metrics(value):
                    failed[result.name] = error
            case UnreadablePrediction(problem):
                unreadable[result.name] = problem
            case None:
                failed[result.name] = f"scoring its predictions failed ({result.error})"
        if callbacks is not None:
            usage = (result.started, result.wall_s, result.cpu_s, result.peak_mb)
            callbacks.on_outcome(
                Outcome(cells[result.name], FAILED if result.name in failed else result.status, *usage)
            )
    saver.save()
    notes = [*saver.notes]
    notes += _problem_notes(plan, cells, unreadable, "{}; it is trained again", "are trained again")
    notes += unscored_notes(plan, cells, failed)
    return RescoringSummary(frozenset(saver.saved - failed.keys()), unreadable, failed, tuple(dict.fromkeys(notes)))


class _ScoreSaver:
    """Records evaluations in the ledger, then stores their scores, some cells at a time."""

    def __init__(self, plan: Plan, store: Store, recorder: EvaluationRecorder) -> None:
        self._store, self._recorder = store, recorder
        self._made_with = provenance(plan.path.parent) | plan_provenance(plan)
        self._waiting: list[tuple[Cell, CellResult]] = []
        self._since = time.perf_counter()
        self.saved: set[str] = set()
        self.notes: list[str] = []

    def add(self, cell: Cell, result: CellResult) -> None:
        self._waiting.append((cell, result))
        if len(self._waiting) >= BATCH or time.perf_counter() - self._since > BATCH_S:
            self.save()

    def save(self) -> None:
        """Store what is waiting; if the ledger refuses a cell, those before it."""
        recorded: dict[str, tuple[PartScores, ...]] = {}
        try:
            for cell, result in self._waiting:
                self.notes += self._recorder.record(cell, result)
                recorded[cell.key] = tuple(scores for scores in result.scores if scores.values)
        finally:
            self._store.add_scores({key: scores for key, scores in recorded.items() if scores}, self._made_with)
            self.saved |= recorded.keys()
            self._waiting.clear()
            self._since = time.perf_counter()


def rescore_cell(plan: Plan, task: RescoringTask, folder: Path) -> Rescored:
    """The missing scores of a cell, equal to those that it would have had after its training."""
    cell = task.cell
    if plan.hashes.get(cell.corpus) != cell.corpus_hash:
        raise InputError(f"corpus {cell.corpus}: changed while the study was running; expected no change")
    corpus, partition = plan.materials[cell.corpus].corpus, plan.partition(cell)
    try:
        predictions = {
            part: read_back(read_prediction(folder, file), corpus) for part, file in task.predictions.items()
        }
    except InputError as error:
        return UnreadablePrediction(str(error).partition("\n")[0])
    train = take(corpus, plan.training_sentences(cell))
    scores = []
    for part, predicted in predictions.items():
        pair = align(take(corpus, partition.parts[part]), predicted, training=train)
        scores.append(score_part(part, pair, [METRICS.make(name) for name in task.metrics[part]]))
    return CellResult(tuple(scores), task.predictions)


@dataclass(slots=True)
class Rescorer:
    """Scores cells in a worker process, which reads the study itself."""

    runner: CellRunner

    def prepare(self) -> None:
        """Read the study and its corpora."""
        self.runner.prepare_process()

    def run(self, task: RescoringTask) -> Rescored:
        """The missing scores of one cell."""
        assert self.runner.plan is not None
        return rescore_cell(self.runner.plan, task, self.runner.folder)


def _results(
    plan: Plan, store: Path, tasks: Sequence[RescoringTask], on_wait: Callable[[], None] | None
) -> Iterator[TaskResult[Rescored]]:
    """Each task once: in this process if they are few, else in workers of this machine."""
    folder = predictions_folder(store).absolute()
    if len(tasks) <= IN_PROCESS:
        yield from (_result_here(plan, task, folder) for task in tasks)
        return
    check_importable(plan)
    runner = CellRunner(plan.path.absolute(), plan.text, plan.overrides, folder, plan.kept)
    rescorer, engine = Rescorer(runner), plan.study.engine
    with LocalExecutor[RescoringTask, Rescored](
        rescorer.run, workers=engine.workers, limit_s=engine.limit, prepare=rescorer.prepare
    ) as executor:
        for task in tasks:
            executor.submit(task.cell.key, task)
        yield from executor.results(on_wait)


def _result_here(plan: Plan, task: RescoringTask, folder: Path) -> TaskResult[Rescored]:
    try:
        with contextlib.chdir(plan.path.parent):  # files that a metric names are relative to the study
            return TaskResult(task.cell.key, DONE, rescore_cell(plan, task, folder))
    except Exception as error:
        return TaskResult(task.cell.key, FAILED, error=describe_error(error))


def unscored_notes(plan: Plan, cells: Mapping[str, Cell], errors: Mapping[str, str]) -> Iterator[str]:
    """Notes on cells that some metric could not score."""
    yield from _problem_notes(plan, cells, errors, "{}", "could not be scored")


def _problem_notes(
    plan: Plan, cells: Mapping[str, Cell], problems: Mapping[str, str], message: str, others: str
) -> Iterator[str]:
    """One line for each of the first cells with a problem, in the order of the study, and one for all others."""
    keys = [key for key in cells if key in problems]
    for key in keys[:LISTED]:
        yield f"{describe(plan, cells[key])}: {message.format(problems[key])}"
    if len(keys) > LISTED:
        yield f"{pluralize(len(keys) - LISTED, 'more cell')} {others} for such reasons"


def describe(plan: Plan, cell: Cell) -> str:
    """A cell in words."""
    return f"{plan.label_of(cell.system)} on split {cell.number} of {cell.corpus}, seed {cell.seed}"
