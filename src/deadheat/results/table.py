"""A table of scores that somebody else made: the mean of every system on every data set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

from deadheat.results.base import Result
from deadheat.results.format import PERCENT, Scale
from deadheat.version import __version__


@dataclass(frozen=True, slots=True)
class SystemMeans:
    """One system of a table: its mean score and the number of runs on every data set."""

    system: str
    means: tuple[float, ...]  # NaN where there is no score
    runs: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoreTable(Result):
    """Mean scores of systems on data sets, the best system first."""

    kind: ClassVar[str] = "table"

    metric: str
    column: str  # of data sets; empty where the table has none
    datasets: tuple[str, ...]
    systems: tuple[SystemMeans, ...]
    scale: Scale = PERCENT
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> list[int]:
        """Indices of the data sets on which every system has a score."""
        return [at for at in range(len(self.datasets)) if all(row.means[at] == row.means[at] for row in self.systems)]

    def average(self, row: SystemMeans) -> float:
        """The mean over the data sets that all systems have, or over the system's own where there are none."""
        values = [row.means[at] for at in self.complete] or [mean for mean in row.means if mean == mean]
        return fmean(values) if values else math.nan

    def firsts(self) -> list[int]:
        """On how many data sets each system has the highest score, alone or with others."""
        best = [
            max((row.means[at] for row in self.systems if row.means[at] == row.means[at]), default=math.nan)
            for at in range(len(self.datasets))
        ]
        return [sum(mean == top for mean, top in zip(row.means, best, strict=True)) for row in self.systems]

    @property
    def missing(self) -> int:
        """Pairs of a system and a data set without a score."""
        return sum(mean != mean for row in self.systems for mean in row.means)

    @property
    def signature(self) -> str:
        return f"deadheat {__version__} | {self.metric} | {len(self.systems)} systems | {len(self.datasets)} data sets"
