"""Scores of predictions with confidence intervals, and tables of scores that somebody else made."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from deadheat.metrics.universal import OFFICIAL
from deadheat.results.base import Result
from deadheat.results.format import PERCENT, Scale
from deadheat.results.ledger import Tally
from deadheat.stats.intervals import Interval


@dataclass(frozen=True, slots=True)
class Score:
    """One metric of one system, or of a group of its units or words."""

    system: str
    metric: str  # as people call it: LAS
    name: str  # as it is registered: las.v1
    value: float
    interval: Interval
    correct: int
    gold: int
    predicted: int
    precision: float
    recall: float
    group: str = ""

    def __str__(self) -> str:
        where = f"{self.system}, {self.group}" if self.group else self.system
        return f"{self.metric} {self.value:.4f} {self.interval}, {self.correct} of {self.gold}: {where}"


@dataclass(frozen=True, slots=True)
class ScoreSettings:
    """All that scores depend on."""

    metrics: tuple[str, ...]
    sentences: int
    words: int
    align: str
    unit: str
    interval: str  # "clustered", "bootstrap", or "wilson" for proportions
    level: float
    resamples: int
    seed: int
    by: str = ""
    training_words: int | None = None
    items: int = 0  # that are no text: there are no sentences and words then


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores(Result):
    """All scores of a call."""

    kind: ClassVar[str] = "score"

    rows: tuple[Score, ...]
    settings: ScoreSettings
    evaluations: tuple[Tally, ...] = ()  # of the test sets so far, this one included

    def signature_parts(self) -> Iterable[str]:
        settings = self.settings
        official = settings.metrics == tuple(f"{name}.v1" for name in OFFICIAL)
        return (
            "conll18.v1" if official else " ".join(settings.metrics),
            *(
                [f"items {settings.items}"]
                if settings.items
                else [f"sentences {settings.sentences}", f"words {settings.words}", f"align {settings.align}"]
            ),
            settings.by and f"by {settings.by}",
            "" if settings.training_words is None else f"training words {settings.training_words}",
            f"unit {settings.unit}",
            f"{settings.level:.4g} {settings.interval} intervals",
            f"{settings.resamples} resamples | seed {settings.seed}" if settings.interval == "bootstrap" else "",
        )

    def __getitem__(self, metric: str) -> Score:
        """The first score of a metric, by its label (`LAS`) or name (`las`)."""
        from deadheat.metrics import METRICS

        wanted = METRICS.find(metric).name if metric.lower() == metric else metric
        for row in self.rows:
            if wanted in (row.metric, row.name):
                return row
        raise KeyError(metric)


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

    @property
    def complete(self) -> list[int]:
        """Indices of the data sets on which every system has a score."""
        return [at for at in range(len(self.datasets)) if all(row.means[at] == row.means[at] for row in self.systems)]

    @property
    def averages(self) -> list[float]:
        """Means over the data sets that all systems have, or over each system's own where there are none."""
        complete = self.complete
        values = [
            [row.means[at] for at in complete] or [mean for mean in row.means if mean == mean] for row in self.systems
        ]
        return [math.fsum(means) / len(means) if means else math.nan for means in values]

    def by_average(self) -> Self:
        """The same table with the system first that has the highest average."""
        averages = self.averages
        order = sorted(range(len(averages)), key=lambda i: (math.isnan(averages[i]), -averages[i]))
        return replace(self, systems=tuple(self.systems[i] for i in order))

    def firsts(self) -> list[int]:
        """On how many data sets each system has the highest score, alone or with others."""
        columns = zip(*(row.means for row in self.systems), strict=True)
        best = [max((mean for mean in means if mean == mean), default=math.nan) for means in columns]
        return [sum(mean == top for mean, top in zip(row.means, best, strict=True)) for row in self.systems]

    @property
    def missing(self) -> int:
        """Pairs of a system and a data set without a score."""
        return sum(mean != mean for row in self.systems for mean in row.means)

    def signature_parts(self) -> Iterable[str]:
        return self.metric, f"{len(self.systems)} systems", f"{len(self.datasets)} data sets"
