"""The executor of a study on a Ray cluster: it keeps the agents of all nodes busy, and retries what died with one."""

from __future__ import annotations

import pickle
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import zstandard

from deadheat.errors import InputError
from deadheat.neural.config import BatchTrainer
from deadheat.study.cluster.agent import AgentSetup, NodeResult, StepReport, driver_folders
from deadheat.study.cluster.connection import Connection
from deadheat.study.cluster.fleet import ONE_CORE, READY, START_S, AgentNeeds, Fleet, NodeAgent
from deadheat.study.cluster.packing import pack
from deadheat.study.engine.executor import ActiveTask
from deadheat.study.engine.fitting import QueuedTask, TaskQueue
from deadheat.study.engine.training import CellResult
from deadheat.study.engine.worker import TaskResult
from deadheat.study.plan.cells import KILLED, Cell
from deadheat.study.plan.needs import Resources, entries, needs_of
from deadheat.study.plan.plan import Plan
from deadheat.study.store.recording import predictions_folder, write_compressed
from deadheat.systems import SYSTEMS
from deadheat.tracebacks import describe_error

TRIES = 3  # of a cell whose process or node dies
MAX_STACK = 512  # networks that train together on one GPU
WAIT_S = 1.0
WRITERS = 16  # threads that write predictions: most of the time they wait for the disk
MAX_REQUESTED = 1_000  # cells of one kind that an autoscaler is asked for nodes for
REQUEST_S = 15.0


def ignore(message: str) -> None:
    """Show no message."""


def write_predictions(
    results: Sequence[TaskResult[CellResult]], folder: Path, pool: ThreadPoolExecutor
) -> list[TaskResult[CellResult]]:
    """Write the predictions that came with results, several at a time; returns the results without them."""
    values = [result.value for result in results if isinstance(result.value, NodeResult)]
    files = [(value.predictions[part], data) for value in values for part, data in value.contents.items()]
    list(pool.map(lambda file: write_compressed(folder, *file), files))  # raises the first error
    return [
        replace(result, value=CellResult(result.value.scores, result.value.predictions)) if result.value else result
        for result in results
    ]


class RayExecutor:
    """Runs the cells of a plan on the nodes of a cluster.

    A cell whose node or worker process is killed runs again; the third time it has an agent for itself, so that the
    cells beside one that kills its node are not blamed for it. Results are written by this process alone.
    """

    def __init__(
        self, plan: Plan, store: Path, connection: Connection, *, on_message: Callable[[str], None] = ignore
    ) -> None:
        self._plan, self._connection, self._on_message = plan, connection, on_message
        self._folder = predictions_folder(store).absolute()
        self._needs = needs_of(plan)
        self._queue = TaskQueue[Cell](self._needs_now)
        self._suspects: deque[QueuedTask[Cell]] = deque()
        self._stacks: dict[Any, dict[str, Cell]] = {}  # cells that train together, by name
        self._trainers: dict[str, BatchTrainer | None] = {}
        self._tries: Counter[str] = Counter()
        self._unwritten: list[TaskResult[CellResult]] = []
        self._finished: deque[TaskResult[CellResult]] = deque()
        self._pool = ThreadPoolExecutor(WRITERS)
        self._unfinished: set[str] = set()
        self._idle_since: float | None = None
        self._requested = float("-inf")
        engine = plan.study.engine
        package = pack(plan, connection.ray.put)
        setup = AgentSetup(package, plan.text, dict(plan.kept), workers=1, limit_s=engine.limit, stacks=False)
        setup = replace(setup, hidden=driver_folders())
        self._fleet = Fleet(connection, setup, self._agent_needs(), on_message)

    @property
    def workers(self) -> int:
        """How many cells can run at once."""
        limit = self._plan.study.engine.workers
        return int(sum(min(node.resources.cores, limit or node.resources.cores) for node in self._connection.nodes()))

    def submit(self, name: str, task: Cell) -> None:
        self._unfinished.add(name)
        trainer = self._trainer(task.system)
        if trainer is None:
            self._queue.append(name, task)
        else:
            self._stacks.setdefault((task.corpus, trainer.group), {})[name] = task

    def results(self, on_wait: Callable[[], None] | None = None) -> Iterator[TaskResult[CellResult]]:
        while self._unfinished or self._unwritten or self._finished:
            for agent in self._fleet.check():
                self._lose(agent, f"node {agent.node.name} was lost")
            self._assign()
            self._collect()
            self._assign()  # first: nodes work while predictions are written
            self._write()
            if not self._finished:
                self._check_stuck()
                if on_wait is not None:
                    on_wait()
            while self._finished:
                yield self._finished.popleft()

    def active(self) -> list[ActiveTask]:
        return [task for agent in self._fleet.agents for task in agent.active if task.name in agent.tasks]

    def cancel(self) -> None:
        waiting = set(self._unfinished)
        for agent in list(self._fleet.agents):
            self._fleet.remove(agent)
            for name in agent.tasks:
                waiting.discard(name)
                self._finish(TaskResult(name, KILLED, None, "cancelled"))
        self._queue.clear()
        self._suspects.clear()
        self._stacks.clear()
        self._unfinished -= waiting

    def close(self) -> None:
        self._unfinished.clear()
        self._unwritten.clear()
        self._finished.clear()
        self._pool.shutdown()
        self._fleet.close()
        self._request(Counter())
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def _agent_needs(self) -> AgentNeeds:
        """What agents have to reserve, from all that the study may run."""
        needs = [Resources.of(entry.needs) for entry in entries(self._plan)]
        cells = [need for need in needs if need.gpus]
        largest = Resources(
            max((need.cores for need in cells), default=0),
            max((need.memory for need in cells), default=0),
            max((need.gpus for need in cells), default=0),
        )
        names = [*self._plan.systems, *(system.name for system in self._plan.searched)]
        stacks = any(self._trainer(name) is not None for name in names)
        return AgentNeeds(largest, any(need.memory for need in needs), self._plan.study.engine.workers, stacks)

    def _trainer(self, system: str) -> BatchTrainer | None:
        """What trains networks of a system together, unless the study wants them on cores."""
        if system not in self._trainers:
            on_cores = self._plan.study.engine.device == "cpu"
            self._trainers[system] = None if on_cores else SYSTEMS.make(system).batch_trainer
        return self._trainers[system]

    def _needs_now(self, cell: Cell) -> Resources:
        """What a cell needs; a network that can do without a GPU needs none."""
        needs = self._needs(cell)
        return needs if self._trainer(cell.system) is None else replace(needs, gpus=0.0)

    def _assign(self) -> None:
        """Give cells to all agents that can take some, one after the other, and ask busy ones for results."""
        if self._stacks and not self._fleet.has_gpus and self._fleet.agents:
            for stack in self._stacks.values():
                for name, cell in stack.items():
                    self._queue.append(name, cell)
            self._stacks.clear()
        agents = {id(agent): (agent, self._begin_alone(agent)) for agent in self._fleet.ready}
        more = [pair for pair in agents.values() if not pair[0].stack and not pair[0].alone]
        while more:
            more = [(agent, tasks) for agent, tasks in more if self._take(agent, tasks)]
        for agent, tasks in agents.values():
            if tasks or agent.tasks:
                agent.begin(tasks, stack=agent.stack)

    def _begin_alone(self, agent: NodeAgent) -> list[QueuedTask[Cell]]:
        """What an agent without cells is given if nothing may run beside it: a stack, or a cell on its last try."""
        if agent.tasks:
            return []
        agent.stack = agent.alone = False
        tasks: list[QueuedTask[Cell]] = []
        if self._stacks and agent.total.gpus:
            agent.stack, tasks = True, self._take_stack()
        elif suspect := next((task for task in self._suspects if agent.total.covers(task.needs)), None):
            self._suspects.remove(suspect)
            agent.alone, tasks = True, [suspect]
        for task in tasks:
            agent.add(task)
        return tasks

    def _take_stack(self) -> list[QueuedTask[Cell]]:
        """Cells that train together, so many that every GPU gets some."""
        group, cells = next(iter(self._stacks.items()))
        gpus = sum(agent.total.gpus > 0 for agent in self._fleet.agents)
        names = list(cells)[: min(MAX_STACK, -(-len(cells) // gpus))]
        tasks = [QueuedTask(0, name, cells.pop(name), Resources()) for name in names]
        if not cells:
            del self._stacks[group]
        return tasks

    def _take(self, agent: NodeAgent, tasks: list[QueuedTask[Cell]]) -> bool:
        """Take one more cell for an agent, if it has what the cell needs."""
        task = self._queue.take(agent.free)
        if task is None and agent.free.cores > -agent.lookahead:
            task = self._queue.take(ONE_CORE)
        if task is None:
            return False
        agent.add(task)
        tasks.append(task)
        return True

    def _collect(self) -> None:
        """Wait for answers, and handle all that have arrived."""
        calls = {agent.call: agent for agent in self._fleet.agents if agent.call is not None}
        if not calls:
            time.sleep(WAIT_S / 10)
            return
        ray = self._connection.ray
        ready = self._connection.wait(list(calls), number=1, timeout=WAIT_S)
        if ready and len(calls) > 1:
            ready = self._connection.wait(list(calls), number=len(calls), timeout=0)
        for call in ready:
            agent = calls[call]
            try:
                answer = ray.get(call)
            except ray.exceptions.RayError as error:
                self._fail(agent, error)
                continue
            if agent.state != READY:
                self._fleet.advance(agent, answer)
            else:
                self._take_report(agent, answer)

    def _take_report(self, agent: NodeAgent, report: StepReport) -> None:
        agent.answer(report)
        for compressed in report.results:
            result: TaskResult[CellResult] = pickle.loads(zstandard.decompress(compressed))
            task = agent.take(result.name)
            agent.learn(result.wall_s)
            if result.status == KILLED:
                self._retry(task, result, stack=agent.stack)
            else:
                self._finish(result)

    def _finish(self, result: TaskResult[CellResult]) -> None:
        """Report a result, once its predictions are written."""
        if result.name in self._unfinished:
            self._unfinished.discard(result.name)
            self._unwritten.append(result)

    def _write(self) -> None:
        """Write the predictions of all results that have arrived."""
        results, self._unwritten = self._unwritten, []
        self._finished.extend(write_predictions(results, self._folder, self._pool))

    def _fail(self, agent: NodeAgent, error: Exception) -> None:
        """Drop an agent that is dead, or that has raised an error."""
        text = describe_error(getattr(error, "cause", None) or error)
        if agent.tasks and not isinstance(error, self._connection.ray.exceptions.RayTaskError):
            text = "the agent died"
            self._fleet.remove(agent)
        else:
            self._fleet.fail(agent, text)
        self._lose(agent, f"node {agent.node.name}: {text.splitlines()[0]}")

    def _lose(self, agent: NodeAgent, reason: str) -> None:
        """Queue the cells of a lost agent again."""
        for task in [agent.take(name) for name in list(agent.tasks)]:
            started = time.time() - (time.monotonic() - agent.called)
            self._retry(task, TaskResult(task.name, KILLED, None, reason, started=started), stack=agent.stack)

    def _retry(self, task: QueuedTask[Cell], result: TaskResult[CellResult], *, stack: bool) -> None:
        """Run a cell again that was killed, or report it after the last try."""
        self._tries[task.name] += 1
        if self._tries[task.name] >= TRIES:
            self._finish(replace(result, error=f"{result.error} ({TRIES} tries)"))
        elif stack:
            self.submit(task.name, task.task)
        elif self._tries[task.name] == TRIES - 1:
            self._suspects.append(task)
        else:
            self._queue.append(task.name, task.task)

    def _check_stuck(self) -> None:
        """Ask for more nodes, and give up if none comes for cells that fit on no node."""
        if time.monotonic() - self._requested > REQUEST_S:
            self._request(self._demand())
        if not self._fleet.settled or any(agent.tasks for agent in self._fleet.agents) or not self._unfinished:
            self._idle_since = None
            return
        needs = next(iter(self._demand()), ONE_CORE)
        if self._idle_since is None:
            self._idle_since = time.monotonic()
            self._on_message(f"waiting for a node with {needs}")
        if time.monotonic() - self._idle_since > START_S:
            raise InputError(f"cluster: no node has {needs}, which a cell needs; expected one; finished cells are kept")

    def _demand(self) -> Counter[Resources]:
        """How many cells of each kind of needs have not finished."""
        waiting = [suspect.needs for suspect in self._suspects]
        running = [task.needs for agent in self._fleet.agents if not agent.stack for task in agent.tasks.values()]
        stacks = [agent.total for agent in self._fleet.agents if agent.stack and agent.tasks]
        stacks += [Resources(cores=1, gpus=1)] * len(self._stacks)
        return Counter(self._queue.kinds()) + Counter([*waiting, *stacks, *running])

    def _request(self, demand: Counter[Resources]) -> None:
        """Ask an autoscaler, if there is one, for nodes."""
        self._requested = time.monotonic()
        bundles = [
            {name: amount for name, amount in (("CPU", one.cores), ("memory", one.memory), ("GPU", one.gpus)) if amount}
            for one, number in demand.items()
            for _ in range(min(MAX_REQUESTED, number))
        ]
        with suppress(Exception):
            from ray.autoscaler.sdk import request_resources

            request_resources(bundles=bundles)
