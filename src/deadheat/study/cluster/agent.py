"""An agent on a node of a cluster: it unpacks the study and runs cells in worker processes of its node.

One agent has the cores of a node, and one more each GPU. Ray starts it, carries cells and results, and notices its
death. Worker processes, time limits, logs and measurements are those of `LocalExecutor`.
"""

from __future__ import annotations

import os
import platform
import socket
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from deadheat.errors import InputError
from deadheat.study.cluster.packing import Package, Unpacked
from deadheat.study.engine.executor import LocalExecutor
from deadheat.study.engine.running import CellRunner, save_prediction
from deadheat.study.engine.training import CellResult, StackedExecutor, train_cell
from deadheat.study.engine.worker import TaskResult, pickled
from deadheat.study.plan.cells import Cell, PredictionFile
from deadheat.study.plan.plan import Plan
from deadheat.study.store.recording import TEXT, compress, record_prediction
from deadheat.version import __version__

PACKAGES = ("numpy", "numba", "jax", "jaxlib")  # that can change a number
STEP_S = 1.0  # how long an agent waits for a result before it answers


@dataclass(frozen=True, slots=True, eq=False)
class NodeResult(CellResult):
    """The result of a cell with its predictions, which no disk has yet: compressed, by part."""

    contents: dict[str, bytes]


@dataclass(slots=True)
class NodeRunner(CellRunner):
    """Runs cells on a node of a cluster: predictions are part of their results."""

    def run(self, cell: Cell) -> CellResult:
        assert self.plan is not None
        self.plan.check_unchanged(cell)
        contents: dict[str, bytes] = {}
        result = train_cell(self.plan, cell, partial(keep, contents, cell))
        return NodeResult(result.scores, result.predictions, contents)


def keep(contents: dict[str, bytes], cell: Cell, part: str, data: bytes) -> PredictionFile:
    """Keep a prediction in memory, as the study will write it; of a cell that is repeated, only its hash is kept."""
    if cell.repeated:
        return save_prediction(Path(), cell, part, data)
    contents[part] = compress(data, level=TEXT)
    return record_prediction(cell.key, part, data)


def versions() -> dict[str, str]:
    """The versions that have to be the same on all nodes."""
    installed = {"Deadheat": __version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            installed[name] = "not installed"
    return installed


class StepReport(NamedTuple):
    """What an agent answers: results, compressed, and its running cells with their age in seconds."""

    results: list[bytes]
    active: list[tuple[str, float, str]]


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """What an agent is started with."""

    package: Package
    text: str  # of the study file
    kept: Mapping[str, str]  # hashes of earlier code that stand for those of now
    workers: int
    limit_s: float | None
    stacks: bool  # whether networks are trained together, in the agent itself
    hidden: Sequence[str] = ()  # folders of the machine where the study runs, which Ray lets nodes import from


def driver_folders() -> tuple[str, ...]:
    """The folders that Ray puts first in the search path of nodes: the current one, and that of the script."""
    return os.path.abspath(os.curdir), os.path.dirname(os.path.realpath(sys.argv[0]))


def hide_folders(folders: Sequence[str]) -> None:
    """Import nothing from these folders any more, so that code is what was sent or is installed.

    On the machine where the study runs they exist, and would give the files of now. Those of $PYTHONPATH stay, and so
    does that of Deadheat, at the end: it may run from a checkout.
    """
    package = str(Path(__file__).parents[3])
    hidden = {"", *folders}.difference(os.environ.get("PYTHONPATH", "").split(os.pathsep))
    needed = [package] if package in hidden and package in sys.path else []
    sys.path[:] = [*(folder for folder in sys.path if folder not in hidden), *needed]


class Paused(Exception):
    """Nothing has finished for a while."""


class Agent:
    """Runs cells on a node; an actor of Ray. Errors are returned, since Ray wraps those that are raised."""

    def __init__(self) -> None:
        self._executor: LocalExecutor[Cell, CellResult] | None = None
        self._stacks: StackedExecutor | None = None
        self._stacked: Iterator[TaskResult[CellResult]] | None = None
        self._contents: dict[str, dict[str, bytes]] = {}  # predictions of a stack

    def versions(self) -> dict[str, str]:
        """The versions of this node."""
        return versions()

    def start(self, setup: AgentSetup) -> str:
        """Unpack the study and load it; returns what is wrong with it."""
        import ray

        if not setup.stacks and not ray.get_gpu_ids():  # or they would all use the first
            os.environ |= {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""}
        hide_folders(setup.hidden)
        try:
            self._files = Unpacked(setup.package, ray.get)
            path = self._files.folder / setup.package.study
            runner = NodeRunner(path, setup.text, setup.package.overrides, Path(), setup.kept)
            self._executor = LocalExecutor(
                runner.run, workers=setup.workers, limit_s=setup.limit_s, prepare=runner.prepare_process
            )
            if setup.stacks:
                self._start_stacks(path, setup)
        except InputError as error:
            return str(error)
        return ""

    def _start_stacks(self, path: Path, setup: AgentSetup) -> None:
        """Make what trains networks together, in this process: it has the GPU."""
        assert self._executor is not None
        os.chdir(path.parent)
        plan = Plan.of(path, setup.package.overrides, setup.kept)
        self._stacks = StackedExecutor(plan, self._keep, self._executor)

    def _keep(self, cell: Cell, part: str, data: bytes) -> PredictionFile:
        return keep(self._contents.setdefault(cell.key, {}), cell, part, data)

    def step(self, cells: Sequence[tuple[str, Cell]], *, stack: bool) -> StepReport:
        """Start more cells, and return what has finished: as soon as something has, or after about a second.

        The cells of a stack train together. An agent that trains a stack runs nothing else meanwhile.
        """
        executor = self._stacks if stack else self._executor
        assert executor is not None
        for name, cell in cells:
            executor.submit(name, cell)
        results = self._stacked_results() if stack else self._plain_results()
        now = time.time()
        return StepReport(
            [packed(replace(result, host=socket.gethostname())) for result in results],
            [(task.name, now - task.started, task.detail) for task in executor.active()],
        )

    def _plain_results(self) -> list[TaskResult[CellResult]]:
        assert self._executor is not None
        results: list[TaskResult[CellResult]] = []
        asked = time.monotonic()

        def pause() -> None:
            if time.monotonic() - asked >= STEP_S / 2:
                raise Paused

        with suppress(Paused):
            for result in self._executor.results(on_wait=pause):
                results.append(result)
                if not self._executor.ready:
                    break
        return results

    def _stacked_results(self) -> list[TaskResult[CellResult]]:
        """The next result. To drop the iteration would end the training of the stack, so it is kept."""
        assert self._stacks is not None
        self._stacked = self._stacked or self._stacks.results()
        result = next(self._stacked, None)
        if result is None:
            self._stacked = None
            return []
        if result.value is None:
            return [result]
        contents = self._contents.pop(result.name, {})
        return [replace(result, value=NodeResult(result.value.scores, result.value.predictions, contents))]

    def close(self) -> None:
        """End all workers."""
        if self._executor is not None:
            self._executor.close()
            self._files.close()


def packed(result: TaskResult[CellResult]) -> bytes:
    """A result on its way to the study."""
    return compress(pickled(result))
