"""Networks of a study in stacks: cells go in and come out one by one, as if each had been trained by itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")

from deadheat.corpus import Corpus, read, take
from deadheat.errors import StudyError
from deadheat.neural import training
from deadheat.neural.config import OnStep, TrainJob, TrainResult
from deadheat.study.engine import running
from deadheat.study.engine.executor import ActiveTask
from deadheat.study.engine.running import missing_cells, run_study
from deadheat.study.engine.training import CellResult, StackedExecutor, train_cell
from deadheat.study.engine.worker import TaskResult
from deadheat.study.plan.cells import DONE, FAILED, Cell, PredictionFile
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from tests.neural.tiny import TAGS, TINY, force_stacks, rows_of
from tests.study.study_cases import ROOT, SerialExecutor

HEAD = """\
seeds = 2
evaluate = ['dev', 'test']
[corpora.small]
files = 'small.tsv'
format = 'columns'
columns = ['form', 'tag', 'chunk']
separator = "\\t"
[splits]
strategy = 'random'
times = 2
"""
OTHER = "[[systems]]\nname = 'perceptron'\ncolumn = 'tag'\nepochs = 2\nseeds = 1\n"


def network(**changes: Any) -> str:
    """A tiny network as an entry of a study; a list of values stands for each of them."""
    settings = "".join(f"{name} = {json.dumps(value)}\n" for name, value in {**TINY, **changes}.items())
    return f"[[systems]]\nname = 'bilstm'\n{settings}"


def study_of(folder: Path, *systems: str, head: str = HEAD) -> Plan:
    text = "".join("".join("\t".join(row) + "\n" for row in rows) + "\n" for rows in rows_of())
    (folder / "small.tsv").write_text(text)
    (folder / "study.toml").write_text(head + "".join(systems))
    return Plan.of(folder / "study.toml")


Kept = dict[tuple[str, str], bytes]


def stacked(plan: Plan, kept: Kept | None = None) -> StackedExecutor:
    """An executor as on a machine with an accelerator, with everything else in this process too."""

    def keep(cell: Cell, part: str, data: bytes) -> PredictionFile:
        assert kept is not None
        kept[cell.key, part] = data
        return PredictionFile(f"{cell.key}-{part}", "", len(data))

    rest: SerialExecutor[Cell, CellResult] = SerialExecutor(lambda cell: train_cell(plan, cell))
    return StackedExecutor(plan, keep if kept is not None else None, rest)


def submit(executor: StackedExecutor, cells: Sequence[Cell]) -> Iterator[TaskResult[CellResult]]:
    for cell in cells:
        executor.submit(cell.key, cell)
    return executor.results()


def results(plan: Plan, kept: Kept | None = None) -> list[TaskResult[CellResult]]:
    with stacked(plan, kept) as executor:
        return list(submit(executor, plan.cells))


@pytest.fixture
def taught(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[TrainJob]]:
    """In place of networks, those that know the answer, the last first; with what was asked for, call by call."""
    calls: list[Sequence[TrainJob]] = []

    def train(
        corpus: Corpus, orders: Sequence[TrainJob], on_step: OnStep | None = None
    ) -> Iterator[tuple[int, TrainResult]]:
        calls.append(orders)
        for number in reversed(range(len(orders))):
            yield number, knowing(corpus, orders[number])

    monkeypatch.setattr(training, "train_jobs", train)
    return calls


def knowing(corpus: Corpus, order: TrainJob, failed: str = "") -> TrainResult:
    predictions = {} if failed else {name: take(corpus, sentences) for name, sentences in order.parts.items()}
    return TrainResult(predictions, 1, 1, 1.0, (1.0,), (0.1,), failed)


def train_by(patch: pytest.MonkeyPatch, train: Callable[[Corpus, int, TrainJob], TrainResult]) -> None:
    """In place of networks, what a function gives for the number and the job of each."""
    patch.setattr(
        training,
        "train_jobs",
        lambda corpus, jobs, on_step: ((number, train(corpus, number, job)) for number, job in enumerate(jobs)),
    )


@pytest.mark.slow
def test_cells_in_stacks_give_what_each_gives_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = study_of(tmp_path, network(rate=[0.05, 0.02]), OTHER)
    assert len(plan.cells) == 10
    with monkeypatch.context() as patch:
        force_stacks(patch, 3)
        kept: Kept = {}
        finished = {result.name: result for result in results(plan, kept)}
    assert [result.status for result in finished.values()] == [DONE] * 10
    alone: Kept = {}
    for cell in plan.cells:

        def keep(part: str, data: bytes, key: str = cell.key) -> PredictionFile:
            alone[key, part] = data
            return PredictionFile("", "", len(data))

        expected = train_cell(plan, cell, keep)
        value = finished[cell.key].value
        assert value is not None
        for one, other in zip(value.scores, expected.scores, strict=True):
            assert (one.part, one.sentences, one.words) == (other.part, other.sentences, other.words)
            assert one.values == pytest.approx(other.values, nan_ok=True)
            assert all(np.array_equal(one.counts[name], other.counts[name]) for name in other.counts)
    networks = {cell.key for cell in plan.cells if cell.system.startswith("bilstm")}
    assert kept == {place: data for place, data in alone.items() if place[0] in networks}


def test_networks_that_differ_in_numbers_alone_are_trained_in_one_go(
    tmp_path: Path, taught: list[Sequence[TrainJob]]
) -> None:
    plan = study_of(tmp_path, network(rate=[0.05, 0.02], drop=[0.1, 0.3], epochs=[3, 4]), network(batch=[4, 16]), OTHER)
    finished = results(plan)
    assert sorted(result.name for result in finished) == sorted(cell.key for cell in plan.cells)
    assert {result.status for result in finished} == {DONE}
    # Two splits and two seeds: of eight settings together, and of each of two sizes of batches.
    assert [len(orders) for orders in taught] == [32, 4, 4]
    first = taught[0]
    assert {(order.seed, order.config.hyper.rate, order.config.schedule.epochs) for order in first} == {
        (seed, rate, epochs) for seed in (0, 1) for rate in (0.05, 0.02) for epochs in (3, 4)
    }
    assert len({order.train.tobytes() for order in first}) == 2
    for order in first:
        assert order.tune is not None
        assert set(order.parts) == {"dev", "test"}
        assert np.array_equal(order.tune, order.parts["dev"])
        assert not set(order.train.tolist()) & {*order.tune.tolist(), *order.parts["test"].tolist()}


def test_cells_come_one_by_one_in_the_order_they_finish_and_the_rest_after_them(
    tmp_path: Path, taught: list[Sequence[TrainJob]]
) -> None:
    plan = study_of(tmp_path, OTHER, network())
    kept: Kept = {}
    with stacked(plan, kept) as executor:
        arriving = submit(executor, plan.cells)
        first = next(arriving)
        networks = [cell.key for cell in plan.cells if cell.system.startswith("bilstm")]
        assert first.name == networks[-1]
        assert {key for key, _ in kept} == {first.name}  # nothing was waited for
        assert first.value is not None
        assert {scores.part for scores in first.value.scores} == {"dev", "test"}
        assert {scores.values["accuracy.v1(column='tag')"] for scores in first.value.scores} == {1.0}
        names = [result.name for result in arriving]
    others = [cell.key for cell in plan.cells if not cell.system.startswith("bilstm")]
    assert names == [*networks[-2::-1], *others]


def test_a_network_that_fails_is_a_failed_cell_and_the_others_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = "its loss is nan in epoch 2"
    train_by(monkeypatch, lambda corpus, _, job: knowing(corpus, job, problem if job.seed == 1 else ""))
    plan = study_of(tmp_path, network(), OTHER)
    by_key = {cell.key: cell for cell in plan.cells}
    for result in results(plan):
        cell = by_key[result.name]
        if cell.system.startswith("bilstm") and cell.seed == 1:
            message = f"{cell.system}, seed 1: training failed, {problem}"
            assert (result.status, result.value, result.error) == (FAILED, None, message)
        else:
            assert (result.status, result.error) == (DONE, "")


def test_an_error_ends_its_group_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def train(corpus: Corpus, number: int, job: TrainJob) -> TrainResult:
        if number == 1 and job.config.shape.batch == 4:
            raise RuntimeError("the device is gone")
        return knowing(corpus, job)

    train_by(monkeypatch, train)
    plan = study_of(tmp_path, network(batch=4), network(batch=16), OTHER)
    finished = results(plan)
    assert sorted(result.name for result in finished) == sorted(cell.key for cell in plan.cells)
    failed = [result for result in finished if result.status == FAILED]
    assert len(failed) == 3  # the first of that group was finished
    assert {result.error for result in failed} == {"RuntimeError: the device is gone"}
    assert all("Traceback" in result.log for result in failed)


def test_networks_are_trained_in_the_folder_of_the_study_and_nothing_else_is_done_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders: list[str] = []

    def train(corpus: Corpus, number: int, job: TrainJob) -> TrainResult:
        folders.append(os.getcwd())
        return knowing(corpus, job)

    train_by(monkeypatch, train)
    (tmp_path / "inner").mkdir()
    plan = study_of(tmp_path / "inner", network())
    before = os.getcwd()
    with stacked(plan) as executor:
        assert {os.getcwd() for _ in submit(executor, plan.cells)} == {before}
    assert set(folders) == {str(tmp_path / "inner")}


def test_an_iteration_that_was_broken_off_can_be_taken_up_by_another(
    tmp_path: Path, taught: list[Sequence[TrainJob]]
) -> None:
    plan = study_of(tmp_path, network(), OTHER)
    with stacked(plan) as executor:
        submit(executor, plan.cells)
        first = [next(executor.results()).name for _ in range(2)]
        names = first + [result.name for result in executor.results()]
    assert sorted(names) == sorted(cell.key for cell in plan.cells)
    assert [len(orders) for orders in taught] == [4, 3, 2]  # what was not finished, once more


def test_cells_may_be_added_while_others_train(tmp_path: Path, taught: list[Sequence[TrainJob]]) -> None:
    plan = study_of(tmp_path, network())
    with stacked(plan) as executor:
        arriving = submit(executor, plan.cells[:1])
        names = [next(arriving).name]
        submit(executor, plan.cells[1:])
        names += [result.name for result in arriving]
    assert sorted(names) == sorted(cell.key for cell in plan.cells)
    assert [len(orders) for orders in taught] == [1, 3]


def test_a_network_that_is_never_heard_of_is_a_failed_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "train_jobs", lambda corpus, orders, on_step: iter([(1, knowing(corpus, orders[1]))]))
    plan = study_of(tmp_path, network())
    finished = results(plan)
    assert sorted(result.status for result in finished) == [DONE, FAILED, FAILED, FAILED]
    assert "a network has no result" in finished[-1].error


def test_a_stack_is_one_task_that_says_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = study_of(tmp_path, network(), OTHER)
    first = next(cell.key for cell in plan.cells if cell.system.startswith("bilstm"))
    seen: list[list[ActiveTask]] = []

    def train(corpus: Corpus, jobs: Sequence[TrainJob], on_step: OnStep) -> Iterator[tuple[int, TrainResult]]:
        for number, job in enumerate(jobs):
            on_step(number + 1, 9)
            yield number, knowing(corpus, job)

    monkeypatch.setattr(training, "train_jobs", train)
    with stacked(plan) as executor:
        for cell in plan.cells:
            executor.submit(cell.key, cell)
        results = list(executor.results(lambda: seen.append(executor.active())))
        assert executor.active() == []
    assert [[(task.name, task.detail) for task in tasks] for tasks in seen] == [
        [(first, f"epoch {number + 1} of 9, {number} of 4 networks done")] for number in range(4)
    ]
    assert {task.started for tasks in seen for task in tasks} == {results[0].started}


@pytest.mark.parametrize("finished", [0, 1])
def test_cancelled_cells_are_not_trained_and_a_training_that_runs_ends(
    tmp_path: Path, taught: list[Sequence[TrainJob]], finished: int
) -> None:
    plan = study_of(tmp_path, network(batch=[4, 16]), OTHER)
    with stacked(plan) as executor:
        arriving = submit(executor, plan.cells)
        for _ in range(finished):
            next(arriving)
        executor.cancel()
        assert list(arriving) == []
    assert len(taught) == finished


def test_a_study_stores_what_comes_from_stacks_and_goes_on_where_it_was(
    tmp_path: Path, taught: list[Sequence[TrainJob]]
) -> None:
    plan = study_of(tmp_path, network(), OTHER)
    with Store.open(plan.store_path, create=True) as store:
        with stacked(plan) as executor:
            assert run_study(plan, store, executor=executor).done == 6
        assert missing_cells(plan, store) == []
        more = Plan.of(plan.path, ["seeds=3"])
        with stacked(more) as executor:
            summary = run_study(more, store, executor=executor)
        assert (summary.stored, summary.done) == (6, 2)
        assert [[order.seed for order in orders] for orders in taught] == [[0, 1, 0, 1], [2, 2]]


def test_stacks_are_for_networks_on_an_accelerator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = study_of(tmp_path, network(), OTHER)
    assert not running.use_stacks(plan)  # tests run on the processor
    monkeypatch.setattr("deadheat.neural.devices.on_accelerator", lambda: True)
    assert running.use_stacks(plan)
    assert not running.use_stacks(Plan.of(plan.path, ["engine.device='cpu'"]))
    assert not running.use_stacks(study_of(tmp_path, OTHER))


def run_command(folder: Path, *options: str) -> tuple[dict[str, Any], str]:
    command = [sys.executable, "-m", "deadheat.cli.main", "run", "inner/study.toml", "--json", "--quiet", *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_cells_are_known_by_what_is_in_the_file_of_vectors(tmp_path: Path) -> None:
    (tmp_path / "small.vec").write_text("the 0.1 0.2\n")
    first = study_of(tmp_path, network(vectors="small.vec"), OTHER).cells
    assert study_of(tmp_path, network(vectors="small.vec"), OTHER).cells == first
    (tmp_path / "small.vec").write_text("the 0.1 0.3\n")
    others = [cell for cell in study_of(tmp_path, network(vectors="small.vec"), OTHER).cells if cell not in first]
    assert [cell.system for cell in others] == [cell.system for cell in first if "small.vec" in cell.system]
    assert others


@pytest.mark.parametrize("more", ["", "[search]\nsystem = 'bilstm'\nvectors = ['there.vec', 'missing.vec']\n"])
def test_all_files_of_vectors_must_be_there(tmp_path: Path, more: str) -> None:
    (tmp_path / "there.vec").write_text("the 0.1 0.2\n")
    with pytest.raises(StudyError, match=r"study.toml:\d+: vectors 'missing.vec': no such file; expected word vectors"):
        study_of(tmp_path, OTHER if more else network(vectors=["there.vec", "missing.vec"]), more)


@pytest.mark.slow
def test_a_study_of_networks_runs_in_worker_processes_and_is_not_run_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inner").mkdir()
    rng = np.random.default_rng(0)
    rows = [" ".join([word.lower(), *(f"{weight:.3f}" for weight in rng.normal(size=8))]) for word in TAGS]
    (tmp_path / "inner" / "small.vec").write_text("\n".join(rows) + "\n")
    head = HEAD.replace("seeds = 2", "seeds = 1").replace("times = 2", "times = 1")
    plan = study_of(tmp_path / "inner", network(vectors="small.vec"), OTHER, head=head)
    finished, message = run_command(tmp_path)
    assert (finished["cells"], finished["missing"], finished["failed"]) == (2, 0, [])
    assert "2 cells run;" in message
    with Store.read(plan.store_path) as store:
        cell = next(cell for cell in plan.cells if "vectors='small.vec'" in cell.system)
        predicted = read(
            text=store.prediction(cell.key, "test").decode(), format="columns", columns=["form", "tag", "chunk"],
            separator="\t",
        )  # fmt: skip
        monkeypatch.chdir(tmp_path / "inner")
        [score] = [result for result in train_cell(plan, cell).scores if result.part == "test"]
        gold = take(plan.materials["small"].corpus, plan.partition(cell).parts["test"]).column("tag").strings()
    right = np.mean([a == b for a, b in zip(gold, predicted.column("tag").strings(), strict=True)])
    assert score.values["accuracy.v1(column='tag')"] == pytest.approx(float(right))
    again, message = run_command(tmp_path)
    assert "0 cells run, 2 already in the store;" in message
    assert again["blocks"] == finished["blocks"]
