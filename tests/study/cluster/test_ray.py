"""A study on several nodes gives what it gives on one machine, whatever happens to the nodes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deadheat.questions.run import run_plan
from deadheat.study.cluster import executor, fleet
from deadheat.study.cluster.executor import RayExecutor
from deadheat.study.cluster.packing import Package, pack
from deadheat.study.engine.executor import ActiveTask
from deadheat.study.engine.training import CellResult
from deadheat.study.engine.worker import TaskResult
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from tests.study.cluster.cluster_cases import LocalCluster, cluster_study, contents, worker_processes
from tests.study.test_stacking import network, stacked, study_of, submit

pytestmark = pytest.mark.slow
SYSTEMS = "majority unigram hmm perceptron mine.py:tagger"
METRICS = "metrics = ['accuracy', 'mine.py:right']\nseeds = 2\n"
COMMAND = "[[systems]]\nname = 'command'\npredict = 'sh noun.sh'\n"


def test_the_store_is_the_same_on_one_machine_and_on_any_number_of_nodes(tmp_path: Path, cluster: LocalCluster) -> None:
    path = cluster_study(tmp_path, SYSTEMS, METRICS)
    path.write_text(path.read_text() + COMMAND)
    local = run_plan(Plan.of(path), tmp_path / "local.sqlite")
    expected = contents(local.store)
    assert len(expected["runs"]) == 3 * 7
    assert "'accuracy.v1'" in expected["scores"]
    assert "'mine.py:right@" in expected["scores"]
    for cores in ([1], [1, 1], [2, 2]):
        while len(cluster.nodes) < len(cores):
            cluster.add(cores[len(cluster.nodes)])
        store = tmp_path / f"{len(cores)}-{sum(cores)}.sqlite"
        run = cluster.run(path, store)
        assert str(run.summary) == "21 cells run"
        assert contents(store) == expected
        assert replace(run.result, store="").to_json() == replace(local.result, store="").to_json()
        if cores == [1, 1]:
            cluster.remove_all()
    assert cluster.run(path, store).summary.stored == 21


def test_own_code_that_was_edited_makes_new_cells_on_all_nodes(tmp_path: Path, cluster: LocalCluster) -> None:
    cluster.add(2)
    path = cluster_study(tmp_path, "mine.py:tagger", times=2)
    store = tmp_path / "study.sqlite"
    before = cluster.run(path, store).plan.cells
    (tmp_path / "rules.py").write_text("SUFFIXES = {'s': 'VERB'}\n")
    run = cluster.run(path, store)
    assert run.summary.done == 2
    assert not {cell.key for cell in before} & {cell.key for cell in run.plan.cells}

    # Cells of the earlier code are kept on request, and new ones have its name on the nodes, too.
    (tmp_path / "rules.py").write_text("SUFFIXES = {'s': 'ADJ'}\n")
    path.write_text(path.read_text().replace("times = 2", "times = 3"))
    messages: list[str] = []
    kept = cluster.run(path, store, keep_old=True, on_message=messages.append)
    assert (kept.summary.stored, kept.summary.done) == (2, 1)
    assert {cell.system for cell in kept.plan.cells} <= {
        cell.system for plan in (before, run.plan.cells) for cell in plan
    }


def test_nodes_import_what_was_sent_and_not_what_lies_where_the_study_runs(
    tmp_path: Path, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The current folder is that of the study, and Ray lets nodes import from it. A helper changes once it is sent."""
    cluster.add(1)
    path = cluster_study(tmp_path / "study", "mine.py:tagger", times=1)
    monkeypatch.chdir(path.parent)
    expected = contents(run_plan(Plan.of(path), tmp_path / "local.sqlite").store)

    def pack_and_change(*arguments: Any) -> Package:
        package = pack(*arguments)
        (path.parent / "rules.py").write_text("raise ImportError('the live folder')\n")
        return package

    monkeypatch.setattr(executor, "pack", pack_and_change)
    run = cluster.run(path)
    assert str(run.summary) == "1 cell run", run.result.failed
    assert contents(run.store) == expected


def test_what_is_trained_again_to_check_its_seed_leaves_the_store_as_it_is(
    tmp_path: Path, cluster: LocalCluster
) -> None:
    cluster.add(1)
    path = cluster_study(tmp_path, "mine.py:guesses", times=1)
    run = cluster.run(path)
    assert list(run.result.repeated.values()) == [False]
    assert contents(run.store)["runs"]


def test_a_cell_that_kills_its_worker_or_its_node_is_recorded_after_three_tries(
    tmp_path: Path, cluster: LocalCluster
) -> None:
    for _ in range(2):
        cluster.add(2)
    path = cluster_study(tmp_path, "mine.py:kills_worker mine.py:kills_agent unigram", times=2)
    run = cluster.run(path)
    assert (run.summary.done, run.summary.failed) == (2, 4)
    with Store.read(run.store) as store:
        rows = list(store.runs().select("system", "status", "error").iter_rows())
        logs = [log for log in (store.outcome_log(key) for key in store.failed()) if log]
    failed = [(name.partition("@")[0], status, error) for name, status, error in rows if status != "done"]
    assert {status for _, status, _ in failed} == {"killed"}
    for name, _, error in failed:
        reason = "killed by SIGKILL" if name == "mine.py:kills_worker" else "the agent died"
        assert reason in error
        assert error.endswith("(3 tries)")
    assert logs == 2 * ["the end is near\n"]


class Killer:
    """Kills nodes and their workers at random when a study gets a result; a killed node is replaced."""

    def __init__(self, cluster: LocalCluster, seed: int, *, kills: int) -> None:
        self.cluster, self.rng, self.kills = cluster, np.random.default_rng(seed), kills

    def install(self, patch: pytest.MonkeyPatch) -> None:
        finish = RayExecutor._finish

        def finish_and_strike(executor: RayExecutor, result: TaskResult[CellResult]) -> None:
            finish(executor, result)
            self.strike()

        patch.setattr(RayExecutor, "_finish", finish_and_strike)

    def strike(self) -> None:
        if self.kills and self.rng.random() < 0.1:
            self.kills -= 1
            if self.rng.random() < 0.5:
                self.cluster.kill(self.cluster.nodes[int(self.rng.integers(len(self.cluster.nodes)))])
                self.cluster.add(2)
            elif workers := worker_processes():
                os.kill(workers[int(self.rng.integers(len(workers)))], signal.SIGKILL)


def study_with_deaths(folder: Path, cluster: LocalCluster, *, times: int, rounds: int, kills: int) -> None:
    """Run a study again and again while its nodes and workers are killed; the store must always be the same."""
    path = cluster_study(folder, "majority unigram hmm", times=times)
    path.write_text(path.read_text() + "[[systems]]\nname = 'mine.py:tagger'\nseconds = 0.05\nlength = [1, 2]\n")
    expected = contents(run_plan(Plan.of(path), folder / "local.sqlite").store)
    for number in range(rounds):
        while len(cluster.nodes) < 3:
            cluster.add(2)
        killer = Killer(cluster, number, kills=kills)
        with pytest.MonkeyPatch.context() as patch:
            killer.install(patch)
            run = cluster.run(path, folder / f"{number}.sqlite")
        assert run.summary.done == len(expected["runs"]), run.summary
        assert contents(run.store) == expected
        assert killer.kills < kills, "nothing was killed"


def test_nothing_is_lost_or_doubled_while_nodes_and_workers_die(
    tmp_path: Path, cluster: LocalCluster, capfd: pytest.CaptureFixture[str]
) -> None:
    study_with_deaths(tmp_path, cluster, times=10, rounds=1, kills=3)
    assert capfd.readouterr().out == ""


@pytest.mark.long
def test_ten_studies_of_five_hundred_cells_survive_the_deaths_of_nodes(tmp_path: Path, cluster: LocalCluster) -> None:
    study_with_deaths(tmp_path, cluster, times=100, rounds=10, kills=8)


def test_a_study_waits_for_nodes_and_uses_those_that_come_later(
    tmp_path: Path, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet, "CHECK_S", 0.2)
    messages: list[str] = []

    def on_message(message: str) -> None:
        messages.append(message)
        cluster.add(1)

    run = cluster.run(cluster_study(tmp_path), on_message=on_message)
    assert run.summary.done == 6
    assert messages == ["waiting for a node with 1 core"]


@pytest.mark.parametrize("gpus", [0, 1])
def test_cells_see_the_devices_that_they_need(tmp_path: Path, cluster: LocalCluster, gpus: int) -> None:
    cluster.add(3, gpus=2)
    path = cluster_study(tmp_path, "unigram", times=2)
    path.write_text(path.read_text() + f"[[systems]]\nname = 'mine.py:shows_devices'\nneeds = {{ gpus = {gpus} }}\n")
    run = cluster.run(path)
    assert run.summary.done == 4
    with Store.read(run.store) as store:
        logs = [store.outcome_log(cell.key) for cell in run.plan.cells if "shows_devices" in cell.system]
    assert set(logs) <= ({"devices: 0\n", "devices: 1\n"} if gpus else {"devices: \n"})


def test_running_cells_are_listed_with_their_node(tmp_path: Path, cluster: LocalCluster) -> None:
    cluster.add(2)
    path = cluster_study(tmp_path, "unigram", times=2)
    path.write_text(path.read_text() + "[[systems]]\nname = 'mine.py:tagger'\nseconds = 2.5\n")
    seen: list[ActiveTask] = []
    results = RayExecutor.results

    def watched(self: RayExecutor, on_wait: Callable[[], None] | None = None) -> Iterator[TaskResult[CellResult]]:
        del on_wait
        return results(self, on_wait=lambda: seen.extend(self.active()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RayExecutor, "results", watched)
        run = cluster.run(path)
    slow = {cell.key for cell in run.plan.cells if "tagger" in cell.system}
    assert slow & {task.name for task in seen}
    assert all(task.started > 1.7e9 and task.node and not task.detail for task in seen)


def test_cells_wait_for_the_cores_and_the_memory_that_they_need(tmp_path: Path, cluster: LocalCluster) -> None:
    """On three cores, a cell that needs two never runs beside two others."""
    cluster.add(3)
    path = cluster_study(tmp_path, "unigram", times=2)
    entry = "[[systems]]\nname = 'mine.py:tagger'\nseconds = 0.5\n"
    needs = "length = [1, 2]\nneeds = { cores = 2, memory = '100 MB' }\n"
    path.write_text(path.read_text() + entry + "length = [3, 4]\n" + entry + needs)
    run = cluster.run(path)
    assert run.summary.done == 10
    with Store.read(run.store) as store:
        rows = list(store.runs().select("system", "started", "wall_s").iter_rows())
    spans = [
        (started.timestamp(), started.timestamp() + wall_s, 2 if "length=1" in name or "(seconds" in name else 1)
        for name, started, wall_s in rows
    ]
    for moment in (start for start, _, _ in spans):
        assert sum(cores for start, end, cores in spans if start <= moment < end - 0.01) <= 3


def test_networks_train_together_where_a_node_has_a_gpu(tmp_path: Path, cluster: LocalCluster) -> None:
    """The node says that it has one: its networks train in stacks, in the agent, and are the same as here."""
    pytest.importorskip("jax", reason="deadheat[neural] is not installed")
    plan = study_of(tmp_path, network(epochs=2), network(epochs=2, seeds=1, rate=[0.01, 0.02]))
    kept: dict[tuple[str, str], bytes] = {}
    expected = {result.name: result.value for result in submit(stacked(plan, kept), plan.cells)}
    cluster.add(2, gpus=1)
    run = cluster.run(plan.path)
    assert run.summary.done == len(plan.cells) == 8
    with Store.read(run.store) as store:
        assert store.verify() == []
        for (key, part), text in kept.items():
            assert store.prediction(key, part) == text
        wall = store.runs()["peak_mb"].to_list()
    assert set(expected) == {cell.key for cell in plan.cells}
    assert set(wall) == {0.0}, "the networks trained one by one"
