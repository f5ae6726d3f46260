"""The agents of a study on a cluster, as the study sees them: started on every node, dropped when the node is lost."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from deadheat.errors import InputError
from deadheat.study.cluster.agent import Agent, AgentSetup, StepReport, versions
from deadheat.study.cluster.connection import Connection, Node
from deadheat.study.engine.executor import ActiveTask
from deadheat.study.engine.fitting import QueuedTask
from deadheat.study.engine.worker import WorkerError
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.needs import Resources
from deadheat.version import __version__

CHECK_S = 3.0  # between two looks at which nodes there are
START_S = 300.0  # how long a node may take to start an agent, or a cluster to get the nodes that cells need
MAX_FAILURES = 3  # agents that may fail on a node before it is left out
AHEAD_S, MAX_AHEAD = 0.2, 8  # work that waits on a node for each of its workers: seconds, and cells
_IMPORT_ERROR = re.compile(r"(?:ModuleNotFound|Import|Attribute)Error: [^\n]*[^\n.]")
ONE_CORE = Resources(cores=1)
CALLED, LOADING, READY = "called", "loading", "ready"


class AgentNeeds(NamedTuple):
    """What agents reserve on nodes."""

    cell: Resources  # what a cell that uses a GPU needs at most; no GPUs if none uses any
    has_memory: bool  # whether cells say how much memory they need
    workers: int  # cells at once on a node; 0: one per core
    has_stacks: bool


@dataclass(slots=True, eq=False)
class NodeAgent:
    """An agent, and the cells that it has been given."""

    node: Node
    number: int  # on its node
    handle: Any
    total: Resources
    free: Resources  # negative if it has more cells than it can run at once
    state: str = CALLED
    call: Any = None  # that is in flight
    called: float = field(default_factory=time.monotonic)
    tasks: dict[str, QueuedTask[Cell]] = field(default_factory=dict)
    demanding: int = 0  # how many of them need more than one core
    active: list[ActiveTask] = field(default_factory=list)
    stack: bool = False  # whether its cells train together
    alone: bool = False  # whether it has a cell that must have no others beside it
    mean_s: float = 0.0  # of its last cells; 0: none yet

    @property
    def lookahead(self) -> int:
        """How many more cells it may be given than it has cores, so that its workers need not wait for us."""
        if not self.mean_s or self.demanding:
            return 0
        return int(min(MAX_AHEAD, AHEAD_S / self.mean_s) * self.total.cores)

    def add(self, task: QueuedTask[Cell]) -> None:
        """Count a cell that it is given."""
        self.tasks[task.name] = task
        self.free -= task.needs
        self.demanding += task.needs != ONE_CORE

    def take(self, name: str) -> QueuedTask[Cell]:
        """Take a cell back, which has finished or has to run elsewhere."""
        task = self.tasks.pop(name)
        self.free += task.needs
        self.demanding -= task.needs != ONE_CORE
        return task

    def learn(self, wall_s: float) -> None:
        """Learn how long its cells take."""
        self.mean_s = max(1e-4, 0.8 * self.mean_s + 0.2 * wall_s if self.mean_s else wall_s)

    def begin(self, tasks: list[QueuedTask[Cell]], *, stack: bool = False) -> None:
        """Send it cells that it has been given, and ask for results."""
        self.stack = stack
        self.called = time.monotonic()
        self.call = self.handle.step.remote([(task.name, task.task) for task in tasks], stack=stack)

    def answer(self, report: StepReport) -> None:
        """Take note of what it runs now."""
        now, self.call = time.time(), None
        self.active = [ActiveTask(name, now - age, detail, self.node.name) for name, age, detail in report.active]


class Fleet:
    """All agents: one for the cores of each node, and one for each GPU if cells use any."""

    def __init__(
        self,
        connection: Connection,
        setup: AgentSetup,
        needs: AgentNeeds,
        on_message: Callable[[str], None],
    ) -> None:
        self._connection, self._setup, self._needs, self._on_message = connection, setup, needs, on_message
        self.agents: list[NodeAgent] = []
        self._failures: Counter[str] = Counter()  # by node
        self._left_out: dict[str, str] = {}  # why, by node
        self._first_nodes: set[str] = set()  # those at the start
        self._gpu_seen = float("-inf")  # when a node had one
        self._checked = float("-inf")
        self._versions = versions()

    @property
    def ready(self) -> list[NodeAgent]:
        """The agents that wait for cells or for a question."""
        return [agent for agent in self.agents if agent.state == READY and agent.call is None]

    @property
    def settled(self) -> bool:
        """Whether every node has been given its agents, and all of them are ready."""
        return self._checked > float("-inf") and all(agent.state == READY for agent in self.agents)

    @property
    def has_gpus(self) -> bool:
        """Whether a node has a GPU for cells, or had one a short while ago and may come back."""
        return time.monotonic() - self._gpu_seen < START_S

    def check(self) -> list[NodeAgent]:
        """Look for new and lost nodes now and then; returns the agents that were lost."""
        if time.monotonic() - self._checked < CHECK_S:
            return []
        self._checked = time.monotonic()
        nodes = {node.id: node for node in self._connection.nodes()}
        lost = [agent for agent in self.agents if agent.node.id not in nodes]
        late = [agent for agent in self.agents if agent.state == CALLED and self._checked - agent.called > START_S]
        for agent in dict.fromkeys([*lost, *late]):
            self.remove(agent)
        for agent in late:
            self._leave_out(agent, f"node {agent.node.name}: no agent started in {START_S:.0f} s")
        self._first_nodes = self._first_nodes or set(nodes)
        present = {(agent.node.id, agent.number) for agent in self.agents}
        for node in nodes.values():
            for number, share in enumerate(_shares(node.resources, self._needs)):
                if node.id in self._left_out:
                    continue
                if share.gpus:
                    self._gpu_seen = time.monotonic()
                if (node.id, number) not in present:
                    self._start(node, number, share)
        if not self.agents and self._left_out:
            raise WorkerError(f"cluster: {next(reversed(self._left_out.values()))}; finished cells are kept")
        return lost

    def remove(self, agent: NodeAgent) -> None:
        """Drop an agent, and end it if it is alive."""
        if agent in self.agents:
            self.agents.remove(agent)
        self._checked = float("-inf")  # the node may get another one
        with suppress(Exception):
            self._connection.ray.kill(agent.handle)

    def fail(self, agent: NodeAgent, problem: str) -> None:
        """Drop an agent that has failed for no fault of its cells; in time its node is left out."""
        if agent.state == CALLED and (causes := _IMPORT_ERROR.findall(problem)):
            cause = f"Deadheat cannot be loaded ({causes[-1]})"
            self._refuse(agent, f"node {agent.node.name}: {cause}; expected Deadheat {__version__} with its packages")
            return
        self.remove(agent)
        self._failures[agent.node.id] += 1
        if self._failures[agent.node.id] >= MAX_FAILURES:
            self._leave_out(agent, f"node {agent.node.name}: {problem.splitlines()[0]}")

    def advance(self, agent: NodeAgent, answer: Any) -> None:
        """Take the next step in starting an agent, after its answer to the last one."""
        agent.call = None
        if agent.state == CALLED:
            if problem := _difference(agent.node.name, self._versions, answer):
                self._refuse(agent, problem)
                return
            agent.state = LOADING
            workers = max(1, round(agent.total.cores))
            setup = replace(self._setup, workers=workers, stacks=self._needs.has_stacks and agent.total.gpus > 0)
            agent.call = agent.handle.start.remote(setup)
        elif answer:
            self._refuse(agent, f"node {agent.node.name}: {answer}")
        else:
            agent.state = READY

    def close(self) -> None:
        for agent in list(self.agents):
            self.remove(agent)

    def _refuse(self, agent: NodeAgent, problem: str) -> None:
        """End the study if a node is wrong that was there when it started; one that came later is left out."""
        if agent.node.id in self._first_nodes:
            raise InputError(problem)
        self._leave_out(agent, problem)
        self.remove(agent)

    def _leave_out(self, agent: NodeAgent, problem: str) -> None:
        self._left_out[agent.node.id] = problem
        self._on_message(f"{problem}; this node is left out")
        for other in [other for other in self.agents if other.node.id == agent.node.id and not other.tasks]:
            self.remove(other)

    def _start(self, node: Node, number: int, share: Resources) -> None:
        ray = self._connection.ray
        handle = (
            ray.remote(Agent)
            .options(
                num_cpus=share.cores,
                num_gpus=share.gpus,
                memory=share.memory if self._needs.has_memory else None,
                max_restarts=0,
                max_task_retries=0,
                scheduling_strategy=ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node.id, soft=False),
            )
            .remote()
        )
        self.agents.append(NodeAgent(node, number, handle, share, share, call=handle.versions.remote()))


def _shares(node: Resources, needs: AgentNeeds) -> Iterator[Resources]:
    """What each agent of a node gets: those with GPUs what their cells need, and one the other cores."""
    cores = min(node.cores, needs.workers) if needs.workers else node.cores
    rest = Resources(cores, node.memory if needs.has_memory else 0)
    gpus = max(1.0, float(-(-needs.cell.gpus // 1)))  # of an agent: what one cell needs, in whole GPUs
    if (needs.cell.gpus or needs.has_stacks) and node.gpus >= gpus:
        number = int(node.gpus // gpus)
        at_once = int(gpus / needs.cell.gpus) if needs.cell.gpus else 1
        share = Resources(max(1.0, needs.cell.cores) * at_once, needs.cell.memory * at_once, gpus)
        for _ in range(number):
            if not rest.covers(replace(share, gpus=0)):
                break
            rest -= replace(share, gpus=0)
            yield share
    if rest.cores >= 1:
        yield replace(rest, cores=float(int(rest.cores)))


def _difference(node: str, ours: dict[str, str], theirs: dict[str, str]) -> str:
    """The first version that a node has and the study has not."""
    for name, version in ours.items():
        if (other := theirs.get(name, "not installed")) != version:
            return f"node {node}: {name} {other}; expected {version}, as where the study runs"
    return ""
