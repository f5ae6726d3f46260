"""What cells occupy while they run: cores, memory and GPUs, as their systems declare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from deadheat.study.plan.cells import Cell
from deadheat.study.plan.entries import Needs, SearchEntry, SystemEntry
from deadheat.study.plan.plan import Plan
from deadheat.study.search.space import grid
from deadheat.text import format_size, pluralize

TOLERANCE = 1e-6  # shares of a GPU need not add up exactly


@dataclass(frozen=True, slots=True)
class Resources:
    """Cores, bytes of memory and GPUs: of a machine, of what is free on it, or of what a cell needs.

    Examples
    --------
    >>> free = Resources(cores=4, gpus=1) - Resources(cores=2, gpus=0.5)
    >>> free.covers(Resources(cores=2)), free.covers(Resources(gpus=1))
    (True, False)
    """

    cores: float = 0.0
    memory: float = 0.0
    gpus: float = 0.0

    @classmethod
    def of(cls, needs: Needs) -> Self:
        return cls(needs.cores, needs.bytes, needs.gpus)

    def __add__(self, other: Resources) -> Resources:
        return Resources(self.cores + other.cores, self.memory + other.memory, self.gpus + other.gpus)

    def __sub__(self, other: Resources) -> Resources:
        return Resources(self.cores - other.cores, self.memory - other.memory, self.gpus - other.gpus)

    def covers(self, other: Resources) -> bool:
        """Whether there is enough of everything."""
        left = self - other
        return min(left.cores, left.memory, left.gpus) >= -TOLERANCE

    def at_most(self, other: Resources) -> Resources:
        """The smaller of two amounts of everything."""
        return Resources(min(self.cores, other.cores), min(self.memory, other.memory), min(self.gpus, other.gpus))

    def __str__(self) -> str:
        parts = [pluralize(round(self.cores), "core")]
        parts += [f"{format_size(round(self.memory))} of memory"] if self.memory else []
        parts += [f"{self.gpus:g} {'GPU' if self.gpus == 1 else 'GPUs'}"] if self.gpus else []
        return ", ".join(parts)


def needs_of(plan: Plan) -> Callable[[Cell], Resources]:
    """What each cell of a study needs; candidates of a search need what the search declares."""
    by_name: dict[str, Resources] = {}
    for entry in plan.study.systems:
        for settings in grid(entry.settings):
            by_name[plan.system(entry.name, settings).name] = Resources.of(entry.needs)
    by_base: dict[str, Resources] = {}
    for search in plan.study.search:
        candidate = plan.system(search.system, search.space.sample(1, search.seed)[0])
        by_base[_base(candidate.name)] = Resources.of(search.needs)
    default = Resources.of(Needs())

    def needs(cell: Cell) -> Resources:
        return by_name.get(cell.system) or by_base.get(_base(cell.system)) or default

    return needs


def _base(system: str) -> str:
    """A name without its settings and the hash of its code."""
    return system.partition("(")[0].partition("@")[0]


def declares_needs(plan: Plan) -> bool:
    """Whether any system needs more than one core."""
    return any(entry.needs != Needs() for entry in entries(plan))


def entries(plan: Plan) -> list[SystemEntry | SearchEntry]:
    """The systems of a study, and those of its searches."""
    return [*plan.study.systems, *plan.study.search]
