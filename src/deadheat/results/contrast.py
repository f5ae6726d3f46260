"""Options of a factor compared over configurations, and how much each setting matters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from deadheat.errors import NameUnknown
from deadheat.ranking.contrasts import OptionComparison
from deadheat.ranking.importance import Importance
from deadheat.results.base import Result
from deadheat.results.format import PERCENT, Scale
from deadheat.results.verdict import State, Verdict, state_of
from deadheat.version import __version__


@dataclass(frozen=True, slots=True)
class ContrastBlock:
    """The options among the runs of one level of `by` and of the second factor."""

    level: str  # empty without `by`
    second_level: str
    comparison: OptionComparison

    def state(self, option: str, alpha: float) -> State:
        """What the sign test says about the claim that the option with most wins is better than this one."""
        best = self.comparison.best
        pair = self.comparison.pair(best, option)
        direction = pair.a_better - pair.b_better if pair.a == best else pair.b_better - pair.a_better
        return state_of(p=pair.sign_p_corrected, alpha=alpha, direction=direction, smallest_p=pair.smallest_p)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Contrast(Result):
    """Which option of a factor wins over configurations that agree in every other setting."""

    kind: ClassVar[str] = "contrast"

    factor: str  # empty where only the importance of settings was computed
    score: str
    by: str
    second: str
    settings: tuple[str, ...]  # columns in which paired runs agree
    unpaired: tuple[str, ...]  # columns in which they may differ
    repeats: str
    ties: str
    alpha: float
    correction: str
    seed: int
    runs: int
    blocks: tuple[ContrastBlock, ...]
    importance: Mapping[str, Importance]  # by level of `by`; empty if it was not asked for
    verdict: Verdict
    scale: Scale = PERCENT
    notes: tuple[str, ...] = ()

    def __getitem__(self, level: str) -> OptionComparison:
        """The options on a level of `by`, where there is no second factor."""
        for block in self.blocks:
            if block.level == level:
                return block.comparison
        raise NameUnknown("block", level, [block.level for block in self.blocks])

    @property
    def signature(self) -> str:
        """All that the numbers depend on, to quote in a paper."""
        parts = [f"deadheat {__version__}", "contrast", self.score]
        parts += [f"{name} {column}" for name, column in (("by", self.by), ("second", self.second)) if column]
        if self.factor:
            parts += [f"factor {self.factor}", f"repeats {self.repeats}", f"ties {self.ties}", "sign test"]
            parts += [self.correction, f"alpha {self.alpha:g}"]
        parts += ["importance", f"seed {self.seed}"] if self.importance else []
        return " | ".join(parts)
