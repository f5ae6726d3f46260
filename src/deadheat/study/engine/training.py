"""Train and score one cell, or many networks together in stacks on an accelerator."""

from __future__ import annotations

import contextlib
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from deadheat.corpus import Column, Corpus, Vocabulary, read, take, to_bytes
from deadheat.corpus.reading import reading_options
from deadheat.corpus.transforms import with_labels
from deadheat.errors import InputError
from deadheat.metrics import Metric, Pair, align
from deadheat.metrics.metric import Counts
from deadheat.neural.config import BatchTrainer, TrainJob, TrainResult
from deadheat.registry import digest_of
from deadheat.study.engine.executor import ActiveTask, Executor
from deadheat.study.engine.worker import TaskResult
from deadheat.study.plan.cells import DONE, FAILED, Cell, PartScores, PredictionFile
from deadheat.study.plan.plan import Plan
from deadheat.systems import SYSTEMS, System
from deadheat.systems.system import TREE_COLUMNS, TREES
from deadheat.text import pluralize
from deadheat.tracebacks import describe_error

SavePart = Callable[[str, bytes], PredictionFile]  # from part and bytes
SaveCellPart = Callable[[Cell, str, bytes], PredictionFile]
Group = dict[str, tuple[Cell, BatchTrainer]]  # cells that train together, by name; finished ones are removed


@dataclass(frozen=True, slots=True, eq=False)
class CellResult:
    """The result of a cell: its scores, and the files of its predictions by part."""

    scores: tuple[PartScores, ...]
    predictions: dict[str, PredictionFile]


def train_cell(plan: Plan, cell: Cell, save: SavePart | None = None) -> CellResult:
    """Train a system and score it on the parts that the study evaluates.

    Training sees train and tune and nothing else, and prediction sees no labels.
    """
    corpus, partition = plan.materials[cell.corpus].corpus, plan.partition(cell)
    system = SYSTEMS.make(cell.system)
    if system.batch_trainer is not None:
        # By sentence numbers, so that programs compiled for one split can be used for the others.
        ((_, training),) = system.batch_trainer.train(corpus, [training_job(plan, cell, system.batch_trainer)])
        return score_training(plan, cell, training, save)
    tune_part = plan.tune_part(partition, cell)
    train = take(corpus, plan.training_sentences(cell))
    model = system.train(train, take(corpus, partition.parts[tune_part]) if tune_part else None, cell.seed)
    predictions = {
        part: model.predict(_without_labels(take(corpus, partition.parts[part]), system))
        for part in plan.scored_parts(cell)
    }
    return score_predictions(plan, cell, predictions, save)


def training_job(plan: Plan, cell: Cell, trainer: BatchTrainer) -> TrainJob:
    """A cell as one of many trainings of a stack."""
    partition = plan.partition(cell)
    tune_part = plan.tune_part(partition, cell)
    tune = partition.parts[tune_part] if tune_part else None
    parts = {part: partition.parts[part] for part in plan.scored_parts(cell)}
    return TrainJob(trainer.config, cell.seed, plan.training_sentences(cell), tune, parts)


def score_training(plan: Plan, cell: Cell, training: TrainResult, save: SavePart | None = None) -> CellResult:
    """The scores of one training of a stack; raises InputError if it failed."""
    if training.failed:
        raise InputError(f"{cell.system}, seed {cell.seed}: training failed, {training.failed}")
    return score_predictions(plan, cell, training.predictions, save)


def score_predictions(
    plan: Plan, cell: Cell, predictions: Mapping[str, Corpus], save: SavePart | None = None
) -> CellResult:
    """The scores of predictions, by part; the predictions are saved first, so that a metric that fails loses none."""
    corpus, partition = plan.materials[cell.corpus].corpus, plan.partition(cell)
    train, metrics = take(corpus, plan.training_sentences(cell)), plan.metrics_of(cell.system)
    pairs: dict[str, Pair] = {}
    files: dict[str, PredictionFile] = {}
    for part, predicted in predictions.items():
        data = checked_bytes(predicted, corpus, is_users=bool(digest_of(cell.system)))
        pairs[part] = align(take(corpus, partition.parts[part]), predicted, training=train)
        if save is not None:
            files[part] = save(part, data)
    return CellResult(tuple(score_part(part, pair, metrics) for part, pair in pairs.items()), files)


def score_part(part: str, pair: Pair, metrics: Sequence[Metric]) -> PartScores:
    """The scores and counts of a prediction by some metrics; one of a user that fails leaves those of the others."""
    values: dict[str, float] = {}
    counts: dict[str, Counts] = {}
    failed: dict[str, str] = {}
    for metric in metrics:
        try:
            counts_NF = metric.counts(pair)[:, : metric.width]
            values[metric.name] = float(metric.value(counts_NF.sum(axis=0)))
            counts[metric.name] = counts_NF
        except InputError as error:
            if not metric.is_users:
                raise
            failed[metric.name] = str(error)
    return PartScores(part, pair.gold.sentences, pair.gold.words, values, counts, failed)


def failed_metrics(result: CellResult) -> str:
    """The errors of the metrics that gave no score, in one line; empty if all gave one."""
    return "; ".join(dict.fromkeys(error for scores in result.scores for error in scores.failed.values()))


def checked_bytes(predicted: object, corpus: Corpus, *, is_users: bool) -> bytes:
    """A prediction as it is saved; refused if it could not be read back, since nothing could be computed from it."""
    if not isinstance(predicted, Corpus):
        raise InputError(f"predict returned {type(predicted).__name__!r}; expected a corpus")
    _check_heads(predicted)
    if predicted.layout.separator == "\t":
        _check_labels(predicted)
    data = to_bytes(predicted)
    if is_users:
        read_back(data, corpus)
    return data


def read_back(data: bytes, corpus: Corpus) -> Corpus:
    """A saved prediction; one that reading would change is refused, since its scores might differ."""
    try:
        predicted = read(text=data.decode(errors="surrogatepass"), **reading_options(corpus))
    except InputError as error:
        problem = str(error).partition("\n")[0]
        raise InputError(f"the prediction cannot be read back ({problem}); expected {corpus.name}'s format") from error
    if to_bytes(predicted) != data:
        raise InputError(f"the prediction cannot be read back as it was written; expected {corpus.name}'s format")
    return replace(predicted, name=corpus.name)


def _check_heads(predicted: Corpus) -> None:
    """Refuse heads that are no word of the sentence."""
    if predicted.heads is None:
        return
    lengths = np.repeat(np.diff(predicted.offsets), np.diff(predicted.offsets))
    for word in np.flatnonzero(predicted.heads > lengths)[:1].tolist():
        sentence, number = _place(predicted, word)
        head = f"head {predicted.heads[word]} of word {number}"
        raise InputError(f"sentence {sentence}: {head} is outside the sentence; expected at most {lengths[word]}")


def _check_labels(predicted: Corpus) -> None:
    """Refuse strings that would be several columns or lines."""
    for name, column in predicted.columns.items():
        if np.isin(column.vocabulary.blob, np.frombuffer(b"\t\n", np.uint8)).any():
            broken = column.which(lambda string: "\t" in string or "\n" in string)
            for word in np.flatnonzero(broken)[:1].tolist():
                sentence, number = _place(predicted, word)
                label = column.vocabulary.strings[column.codes[word]]
                problem = f"{name} {label!r} of word {number} has a tab or a line break"
                raise InputError(f"sentence {sentence}: {problem}; expected a label without")


def _place(corpus: Corpus, word: int) -> tuple[int, int]:
    """The number of the sentence of a word, and its number in it, from 1."""
    sentence = int(corpus.sentence_of_word[word])
    return sentence + 1, word - int(corpus.offsets[sentence]) + 1


def _without_labels(gold: Corpus, system: System) -> Corpus:
    """The corpus without what the system predicts: columns, and for trees heads, relations and enhanced graphs."""
    nothing = Column(np.zeros(gold.words, np.int32), Vocabulary.of(["_"]))
    predicts = system.predicts or ("upos",)
    for column in (*predicts, *(TREE_COLUMNS if TREES in predicts else ())):
        gold = with_labels(gold, column, nothing) if column in gold.columns else gold
    if TREES in predicts and gold.heads is not None:
        gold = replace(gold, heads=np.full(gold.words, -1, np.int32))
    return gold


class StackedExecutor:
    """Trains cells whose systems can train together, group by group, in this process, and reports each separately.

    A group holds the cells of one corpus whose settings differ in numbers only. A network that fails is reported and
    the others go on. An error that ends a group is reported for each of its unfinished cells. Other systems go to the
    executor `rest`.
    """

    def __init__(self, plan: Plan, save: SaveCellPart | None, rest: Executor[Cell, CellResult]) -> None:
        self._plan, self._save, self._rest = plan, save, rest
        self._groups: dict[Any, Group] = {}
        self._stack: ActiveTask | None = None  # the group that trains now, by the name of one of its cells

    @property
    def workers(self) -> int:
        return self._rest.workers

    def submit(self, name: str, task: Cell) -> None:
        """Add a cell to its group, or to the other executor."""
        trainer = SYSTEMS.make(task.system).batch_trainer
        if trainer is None:
            self._rest.submit(name, task)
        else:
            self._groups.setdefault((task.corpus, trainer.group), {})[name] = (task, trainer)

    def results(self, on_wait: Callable[[], None] | None = None) -> Iterator[TaskResult[CellResult]]:
        """Each cell once: networks as they finish, then the rest."""
        while self._groups:
            key, group = next(iter(self._groups.items()))
            try:
                yield from self._train(group, on_wait)
            finally:
                self._stack = None
            if not group:  # nothing was added to it meanwhile
                self._groups.pop(key, None)
        yield from self._rest.results(on_wait)

    def active(self) -> list[ActiveTask]:
        """The stack that trains now as one task, and those of the other executor."""
        return [*filter(None, [self._stack]), *self._rest.active()]

    def cancel(self) -> None:
        for group in self._groups.values():
            group.clear()  # ends the training of the current one
        self._groups.clear()
        self._rest.cancel()

    def close(self) -> None:
        self.cancel()
        self._rest.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def _train(self, group: Group, on_wait: Callable[[], None] | None) -> Iterator[TaskResult[CellResult]]:
        members = list(group.items())
        first, trainer = members[0][1]
        corpus = self._plan.materials[first.corpus].corpus
        started, clock, cpu = time.time(), time.perf_counter(), time.process_time()
        self._stack = ActiveTask(members[0][0], started)

        def on_step(epoch: int, epochs: int) -> None:
            done = f"{sum(name not in group for name, _ in members):,} of {pluralize(len(members), 'network')} done"
            self._stack = ActiveTask(members[0][0], started, f"epoch {epoch} of {epochs}, {done}")
            if on_wait is not None:
                on_wait()

        def result(name: str, value: CellResult | None, error: str = "", log: str = "") -> TaskResult[CellResult]:
            del group[name]
            wall, cpu_share = time.perf_counter() - clock, (time.process_time() - cpu) / len(members)
            status = FAILED if error else DONE
            return TaskResult(name, status, value, error, log, started, wall, cpu_share)  # memory is that of all

        try:
            for cell, _ in group.values():
                self._plan.check_unchanged(cell)
            jobs = [training_job(self._plan, cell, system) for _, (cell, system) in members]
            trainings = trainer.train(corpus, jobs, on_step)
            while group and (finished := self._next(trainings)) is not None:
                index, training = finished
                name, (cell, _) = members[index]
                try:
                    save = None if self._save is None else partial(self._save, cell)
                    value = score_training(self._plan, cell, training, save)
                except Exception as error:
                    yield result(name, None, describe_error(error))
                else:
                    yield result(name, value)
            assert not any(name in group for name, _ in members), "a network has no result"
        except Exception as error:
            for name in [name for name, _ in members if name in group]:
                yield result(name, None, describe_error(error), traceback.format_exc())

    def _next(self, trainings: Iterator[tuple[int, TrainResult]]) -> tuple[int, TrainResult] | None:
        """The next finished training, computed in the study's folder, which file names in settings are relative to."""
        with contextlib.chdir(self._plan.path.parent):
            return next(trainings, None)
