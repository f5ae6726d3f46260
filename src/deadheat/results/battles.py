"""Rankings of systems by comparisons of two at a time, as in arenas."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from deadheat.results.base import Result
from deadheat.results.compare import PairwiseSettings, PairwiseTest
from deadheat.results.format import Scale
from deadheat.results.verdict import Verdict
from deadheat.stats.intervals import Interval
from deadheat.text import pluralize

ELO = Scale(1.0, 1)  # how strengths are shown


@dataclass(frozen=True, slots=True)
class SystemStrength:
    """A system: its strength in Elo points relative to the mean of all, and its battles."""

    system: str
    strength: float
    interval: Interval
    rank: int
    wins: int
    ties: int
    losses: int

    @property
    def battles(self) -> int:
        return self.wins + self.ties + self.losses


@dataclass(frozen=True, slots=True)
class PairBattles:
    """Two systems: how often each is preferred where they met, and the expected score of the first, ties as half."""

    a: str
    b: str
    wins: int
    ties: int
    losses: int
    expected: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BattleRanking(Result):
    """Strengths of systems by Bradley and Terry's model, every pair tested, and a verdict."""

    kind: ClassVar[str] = "battles"

    systems: tuple[SystemStrength, ...]  # strongest first
    pairs: tuple[PairwiseTest, ...]  # differences in Elo points
    met: tuple[PairBattles, ...]  # of the same pairs
    tied: tuple[str, ...]  # the strongest, and those that are not significantly different from it
    verdict: Verdict
    settings: PairwiseSettings
    battles: int
    clusters: int
    cluster: str  # what battles that belong together share, such as a prompt; "battle" where nothing is known
    unbounded: tuple[str, ...] = ()  # systems that won or lost everything against these, and have no strength
    scale: Scale = ELO

    def signature_parts(self) -> Iterable[str]:
        settings = self.settings
        yield from ("Bradley-Terry", "ties as half wins", pluralize(len(self.systems), "system"))
        yield from (pluralize(self.battles, "battle"), f"units {self.clusters} ({self.cluster})")
        yield from (f"{settings.correction}, {pluralize(len(self.pairs), 'test')}", f"alpha {settings.alpha:g}")
        yield "" if not settings.margin or math.isnan(settings.margin) else f"margin {settings.margin:g}"
