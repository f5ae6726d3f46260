"""Statistical power: could a test set have shown a difference?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from deadheat.results.base import Result
from deadheat.version import __version__

Curve: TypeAlias = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Power(Result):
    """The probability that a test finds a difference of this size, and what would be needed to find it."""

    kind: ClassVar[str] = "power"

    difference: float
    units: int
    alpha: float
    power: float  # by the normal approximation
    simulated: float  # by simulation; NaN without one
    smallest: float  # the smallest detectable difference: found with the target power
    needed: float  # units that are needed to find this difference with the target power; infinite if none are enough
    target: float = 0.8
    by_units: Curve = ()  # sizes of a test set, and the power of each to find this difference
    by_difference: Curve = ()  # differences, and the power of this test set to find each
    systems: tuple[str, ...] = ()
    metric: str = ""
    unit: str = "unit"
    notes: tuple[str, ...] = ()

    @property
    def is_sufficient(self) -> bool:
        return self.power >= self.target

    @property
    def is_reachable(self) -> bool:
        """Whether some number of units has the target power."""
        return math.isfinite(self.needed)

    @property
    def signature(self) -> str:
        metric = [self.metric] if self.metric else []
        settings = [f"units {self.units} ({self.unit})", f"alpha {self.alpha:g}", f"target {self.target:g}"]
        return " | ".join([f"deadheat {__version__}", *metric, *settings])
