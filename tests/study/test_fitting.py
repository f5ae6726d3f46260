"""Tasks start when a machine has what they need, here as on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from deadheat.study.cluster.executor import ignore
from deadheat.study.cluster.fleet import AgentNeeds, _shares
from deadheat.study.engine.fitting import FittingExecutor, TaskQueue, machine
from deadheat.study.engine.running import local_executor
from deadheat.study.engine.worker import TaskResult
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.needs import Resources, needs_of
from deadheat.study.plan.plan import Plan
from tests.study.study_cases import SerialExecutor, study_file

KINDS = [Resources(1), Resources(2), Resources(1, gpus=0.5), Resources(1, memory=4e9), Resources(3, 1e9, 1)]
TOTAL = Resources(3, 5e9, 1)


class Recorder(SerialExecutor[int, int]):
    """Notes which tasks it has at the same time."""

    def __init__(self) -> None:
        super().__init__(lambda task: task)
        self.present: dict[str, Resources] = {}
        self.most = Resources()

    def submit(self, name: str, task: int) -> None:
        super().submit(name, task)
        self.present[name] = KINDS[task].at_most(TOTAL)
        total = sum(self.present.values(), Resources())
        assert TOTAL.covers(total)
        self.most = total

    def results(self, on_wait: Callable[[], None] | None = None) -> Iterator[TaskResult[int]]:
        for result in super().results(on_wait):
            del self.present[result.name]
            yield result


@given(st.lists(st.integers(0, len(KINDS) - 1), max_size=40))
def test_no_more_runs_at_once_than_there_is_and_every_task_once(kinds: list[int]) -> None:
    executor = FittingExecutor(Recorder(), TOTAL, lambda task: KINDS[task])
    for number, kind in enumerate(kinds):
        executor.submit(str(number), kind)
    results = list(executor.results())
    assert sorted((int(result.name), result.value) for result in results) == list(enumerate(kinds))


def test_the_first_task_that_fits_is_taken() -> None:
    queue = TaskQueue[int](lambda task: KINDS[task])
    for number, kind in enumerate([1, 4, 0, 1, 2]):
        queue.append(str(number), kind)
    assert len(queue) == 5
    taken = [task.name if (task := queue.take(Resources(cores, gpus=0.5))) else "" for cores in (1, 1, 1, 2, 9, 9)]
    assert taken == ["2", "4", "", "0", "3", ""]
    assert queue.kinds() == {KINDS[4]: 1}
    task = queue.take(Resources(2), total=Resources(2))
    assert task is not None
    assert task.needs == Resources(2)


def test_cells_of_one_machine_share_one_gpu() -> None:
    """As the page on clusters says: one at a time with a whole GPU each, two with half a GPU each."""
    for gpus, at_once in ((1.0, 1), (0.5, 2), (4.0, 1)):
        needs, free = Resources(1, gpus=gpus), machine(8)
        queue = TaskQueue[int](dict.fromkeys(range(3), needs).__getitem__)
        for number in range(3):
            queue.append(str(number), number)
        running = 0
        while (task := queue.take(free, machine(8))) is not None:
            free -= task.needs
            running += 1
        assert running == at_once


def shares(node: Resources, **needs: Any) -> list[Resources]:
    defaults: dict[str, Any] = {"cell": Resources(), "has_memory": False, "workers": 0, "has_stacks": False}
    return list(_shares(node, AgentNeeds(**(defaults | needs))))


def test_a_node_is_divided_into_agents() -> None:
    node = Resources(16, 64e9, 4)
    assert shares(node) == [Resources(16)]
    assert shares(node, workers=6) == [Resources(6)]
    assert shares(node, has_stacks=True) == [*4 * [Resources(1, gpus=1)], Resources(12)]
    assert shares(node, cell=Resources(3, gpus=2)) == [*2 * [Resources(3, gpus=2)], Resources(10)]
    assert shares(node, cell=Resources(2, gpus=0.5)) == [*4 * [Resources(4, gpus=1)]]
    assert shares(node, cell=Resources(2, 8e9, 1), has_memory=True) == [*4 * [Resources(2, 8e9, 1)], Resources(8, 32e9)]
    assert shares(Resources(16), cell=Resources(1, gpus=1)) == [Resources(16)]
    assert shares(Resources(0, gpus=1)) == []


def test_a_study_file_says_what_its_systems_need(tmp_path: Path) -> None:
    path = study_file(tmp_path, "unigram")
    search = "[[search]]\nsystem = 'perceptron'\nepochs = [1, 2]\nneeds = { memory = '2 GB' }\n"
    entry = "[[systems]]\nname = 'perceptron'\nepochs = [3, 4]\nneeds = { cores = 2, gpus = 0.5 }\n"
    path.write_text(path.read_text() + entry + search)
    plan = Plan.of(path)
    needs = needs_of(plan)
    by_system = {cell.system: needs(cell) for cell in plan.cells}
    two = Resources(2, 0, 0.5)
    assert by_system == {"unigram.v1": Resources(1), "perceptron.v2(epochs=3)": two, "perceptron.v2(epochs=4)": two}
    candidate = Cell("small", "", "random.v1", 0, 0, plan.system("perceptron", {"epochs": 2}).name, 0)
    assert needs(candidate) == Resources(1, 2 << 30)
    assert str(needs(candidate)) == "1 core, 2 GB of memory"
    with local_executor(plan, tmp_path / "study.sqlite") as executor:
        assert isinstance(executor, FittingExecutor)
    ignore("nothing")
