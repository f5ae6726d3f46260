"""How long the cells that are left will take, learned from finished cells of the same system."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from statistics import fmean
from typing import Self

from deadheat.errors import InputError
from deadheat.registry import base_name
from deadheat.study.engine.executor import ActiveTask
from deadheat.study.plan.cells import DONE, Cell, Outcome
from deadheat.study.store.store import Store
from deadheat.systems import SYSTEMS

WINDOW = 50  # last cells of a kind that an estimate is made from
TRIMMED = 0.1  # share of the quickest and of the slowest of them that is ignored
Kind = tuple[str, str]  # the system and the corpus of cells that take about the same time


def trimmed_mean(values: Sequence[float]) -> float:
    """The mean without a tenth of the values at each end, so that one odd cell does not count."""
    cut = int(TRIMMED * len(values))
    return fmean(sorted(values)[cut : len(values) - cut])


class RemainingWork:
    """The cells that are left to run by `workers`, and the time that they need."""

    def __init__(self, cells: Iterable[Cell], *, workers: int) -> None:
        self.cells = {cell.key: cell for cell in cells}  # all that were to run
        self.left = Counter((cell.system, cell.corpus) for cell in self.cells.values())
        self._workers = max(1, workers)
        self._seconds: dict[str | Kind, deque[float]] = defaultdict(lambda: deque(maxlen=WINDOW))
        self._means: dict[Kind, float | None] = {}
        self._stacked: set[str] = set()  # systems whose networks were trained in stacks

    @classmethod
    def after(cls, store: Store, cells: Iterable[Cell], *, workers: int) -> Self:
        """The cells that are left, with the times of those in a store."""
        work = cls(cells, workers=workers)
        if work.cells:
            runs = store.runs().filter(status=DONE)
            for system, corpus, *usage in runs.select("system", "corpus", "wall_s", "cpu_s", "peak_mb").iter_rows():
                work._learn((system, corpus), *usage)
        return work

    def finish(self, outcome: Outcome) -> None:
        """Remove a cell that was run, and learn from its time."""
        cell = outcome.cell
        self.left[cell.system, cell.corpus] -= 1
        self._learn((cell.system, cell.corpus), outcome.wall_s, outcome.cpu_s, outcome.peak_mb)

    def _learn(self, kind: Kind, wall_s: float, cpu_s: float, peak_mb: float) -> None:
        system, _ = kind
        # Networks of a stack are trained together, and have only their processor time for themselves.
        if not peak_mb and _can_stack(system):
            self._stacked.add(system)
            wall_s = cpu_s
        for level in _levels(kind):
            self._seconds[level].append(wall_s)
        self._means.clear()

    def seconds_per_cell(self, kind: Kind) -> float | None:
        """The estimated time of a cell: that of its system on its corpus, of its system, of all; None if unknown."""
        if kind not in self._means:
            known = next((self._seconds[level] for level in _levels(kind) if level in self._seconds), None)
            self._means[kind] = self._mean_of_systems() if known is None else trimmed_mean(known)
        return self._means[kind]

    def _mean_of_systems(self) -> float | None:
        means = [trimmed_mean(values) for level, values in self._seconds.items() if isinstance(level, tuple)]
        return fmean(means) if means else None

    def seconds_left(self, active: Sequence[ActiveTask] = (), now: float = 0.0) -> float | None:
        """The estimated time until all is done; None if no cell has finished yet.

        All remaining time is shared by the workers, but a cell takes its time however many could run beside it.
        """
        waiting, shared, alone, longest = self.left.copy(), 0.0, 0.0, 0.0
        oldest: dict[Kind, float] = {}
        for kind, age in self._running(active, now):
            oldest[kind] = max(age, oldest.get(kind, 0.0))
            if (seconds := self.seconds_per_cell(kind)) is not None and waiting[kind]:
                waiting[kind] -= 1
                rest = max(0.0, seconds - age)
                shared, longest = shared + rest, max(longest, rest)
        for kind, count in (+waiting).items():
            seconds = self.seconds_per_cell(kind)
            if seconds is None:
                return None
            if kind[0] not in self._seconds:  # a guess from other systems, until one of its own takes longer
                seconds = max(seconds, oldest.get(kind, 0.0))
            if kind[0] in self._stacked:
                alone += count * seconds
            else:
                shared, longest = shared + count * seconds, max(longest, seconds)
        return alone + max(shared / self._workers, longest)

    def _running(self, active: Sequence[ActiveTask], now: float) -> Iterator[tuple[Kind, float]]:
        """The kinds and ages of running cells, but for stacks."""
        for task in active:
            cell = self.cells.get(task.name)
            if cell is not None and cell.system not in self._stacked:
                yield (cell.system, cell.corpus), max(0.0, now - task.started)


def _levels(kind: Kind) -> tuple[str | Kind, ...]:
    """What the time of a cell is learned from, the most similar cells first."""
    system, _ = kind
    return kind, system, f"{base_name(system)} with any settings"


@cache
def _can_stack(system: str) -> bool:
    try:
        return SYSTEMS.make(system).batch_trainer is not None
    except InputError:  # of a store whose code is not loaded
        return False
