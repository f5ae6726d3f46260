"""Scores of predictions, with confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deadheat.metrics.universal import OFFICIAL
from deadheat.results.base import Result
from deadheat.results.ledger import Tally
from deadheat.stats.intervals import Interval
from deadheat.version import __version__


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
    interval: str  # "auto": Wilson's for proportions, else the bootstrap; or "bootstrap"
    level: float
    resamples: int
    seed: int
    by: str = ""
    training_words: int | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores(Result):
    """All scores of a call."""

    kind: ClassVar[str] = "score"

    rows: tuple[Score, ...]
    settings: ScoreSettings
    notes: tuple[str, ...] = ()
    evaluations: tuple[Tally, ...] = ()  # of the test sets so far, this one included

    @property
    def signature(self) -> str:
        """All that the numbers depend on, to quote in a paper."""
        settings = self.settings
        official = settings.metrics == tuple(f"{name}.v1" for name in OFFICIAL)
        method = "wilson or bootstrap" if settings.interval == "auto" else "bootstrap"
        parts = [
            f"deadheat {__version__}",
            "conll18.v1" if official else " ".join(settings.metrics),
            f"sentences {settings.sentences}",
            f"words {settings.words}",
            f"align {settings.align}",
            *([f"by {settings.by}"] if settings.by else []),
            *([] if settings.training_words is None else [f"training words {settings.training_words}"]),
            f"unit {settings.unit}",
            f"{settings.level:.4g} {method} {settings.resamples}",
            f"seed {settings.seed}",
        ]
        return " | ".join(parts)

    def __getitem__(self, metric: str) -> Score:
        """The first score of a metric, by its label (`LAS`) or name (`las`)."""
        from deadheat.metrics import METRICS

        wanted = METRICS.make(metric).name if metric.lower() == metric else metric
        for row in self.rows:
            if wanted in (row.metric, row.name):
                return row
        raise KeyError(metric)
