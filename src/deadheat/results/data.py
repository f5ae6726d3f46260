"""How test sets were split off, and what they can show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from deadheat.results.base import Result
from deadheat.splits.leaks import Leak

Curve: TypeAlias = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class PartSize:
    """A part of a split, or a smaller set inside of one."""

    name: str
    sentences: int
    words: int
    documents: int | None = None  # None where they are not known


@dataclass(frozen=True, slots=True)
class SplitSizes:
    """One split of a corpus."""

    name: str
    parts: tuple[PartSize, ...]
    nested: tuple[PartSize, ...] = ()
    left_out: PartSize | None = None  # sentences in no part
    shared_documents: Mapping[str, int] | None = None  # by `train/test`; None where documents are not known


@dataclass(frozen=True, slots=True)
class SplitLeaks:
    """What leaks between the parts of one split."""

    name: str
    leaks: tuple[Leak, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SplitReport(Result):
    """Splits that were made (`splits`), or checked (`leaks`)."""

    kind: ClassVar[str] = "split"

    corpus: str  # its name, or the folder that was checked
    sentences: int = 0
    words: int = 0
    strategy: str = ""  # with its settings
    seed: int = 0
    document_rule: str = ""
    documents: int = 0
    splits: tuple[SplitSizes, ...] = ()
    leaks: tuple[SplitLeaks, ...] = ()
    verified: int = 0  # files whose hash is that of the manifest
    notes: tuple[str, ...] = ()

    def signature_parts(self) -> Iterable[str]:
        how = [f"{len(self.splits)} x {self.strategy}", f"seed {self.seed}"] if self.splits else []
        return "split", self.corpus, *how


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

    def signature_parts(self) -> Iterable[str]:
        units = f"units {self.units} ({self.unit})"
        return self.metric, units, f"alpha {self.alpha:g}", f"target {self.target:g}"
