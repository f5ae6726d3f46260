"""How much of a test set is sufficient to rank systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from deadheat.ranking.size_samples import SizeSettings
from deadheat.ranking.sizes import SetSizes
from deadheat.results.base import Result
from deadheat.results.format import Scale
from deadheat.results.ledger import Tally
from deadheat.text import pluralize


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SizeStudy(Result):
    """Rankings on samples of test sets, compared with the rankings on all of them or on the rest."""

    kind: ClassVar[str] = "size"

    metric: str
    metric_name: str
    settings: SizeSettings
    sets: tuple[SetSizes, ...]
    scale: Scale
    overall: SetSizes | None = None  # by the mean score over all test sets
    # Tau of the rankings on any two whole test sets, if systems are the same.
    between: tuple[tuple[float, ...], ...] = ()
    runs: int = 0
    align: str = ""
    notes: tuple[str, ...] = ()
    evaluations: tuple[Tally, ...] = ()

    def sufficient_everywhere(self) -> Mapping[str, int | None]:
        """For each strategy, the smallest size that is sufficient on every test set; None if some set has none."""
        sizes: dict[str, int | None] = {}
        for at, strategy in enumerate(self.settings.strategies):
            smallest = [test_set.curves[at].sufficient for test_set in self.sets]
            sizes[strategy] = None if None in smallest else max(size for size in smallest if size is not None)
        return sizes

    def signature_parts(self) -> Iterable[str]:
        settings = self.settings
        return (
            self.metric_name,
            self.align and f"align {self.align}",
            f"{pluralize(len(self.sets), 'test set')}, {pluralize(self.runs, 'run')}",
            f"runs {settings.runs}",
            f"weighted tau against {settings.against}",
            f"{settings.draws} draws of {' '.join(settings.strategies)}",
            f"tau >= {settings.threshold:g} in {100 * settings.confidence:g}%",
            f"seed {settings.seed}",
        )
