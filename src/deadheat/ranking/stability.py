"""How stable the ranking is by each of several metrics, on the same subsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.errors import InputError
from deadheat.ranking.integers import WholeScores, ranks_of
from deadheat.ranking.subsets import SubsetRanks, Tau, rank_over_subsets


@dataclass(frozen=True, slots=True, eq=False)
class MetricStability:
    """Spread of ranks over subsets by one metric; less spread and a tau nearer to 1 are steadier."""

    metric: str
    mean_sd: float  # of a system's rank, averaged over systems
    mean_quartile_range: float
    tau: Tau
    swapped: float  # share of pairs that a subset orders the other way than all data sets do
    top: float  # share of subsets in which a system that is best on all data sets is first

    def __str__(self) -> str:
        return f"{self.metric}: sd of ranks {self.mean_sd:.3f}, {self.tau}, pairs swapped {self.swapped:.3f}"

    def to_dict(self) -> dict[str, Any]:
        spread = {"mean_sd": self.mean_sd, "mean_quartile_range": self.mean_quartile_range}
        shares = {"swapped": self.swapped, "top": self.top}
        return {"metric": self.metric, **spread, "tau": self.tau.to_dict(), **shares}


def metric_stability(metric: str, scores: WholeScores, like: SubsetRanks) -> MetricStability:
    """How the ranking by a metric varies over the same subsets that another ranking was looked at on."""
    if scores.datasets != like.design.datasets:
        told = f"{metric}: scores on {scores.datasets} data sets"
        raise InputError(f"{told}; expected {like.design.datasets}, so that subsets are the same for all metrics")
    found = rank_over_subsets(scores, like.design, samples=like.samples, key=like.key)
    all_S = scores.above_SD.sum(axis=1)
    worse, better = np.nonzero(all_S[:, None] < all_S)
    ranges = [upper - lower for lower, _, upper in map(found.quantiles, range(scores.systems))]
    first_S = ranks_of(all_S) == 1
    return MetricStability(
        metric,
        float(found.sd_S.mean()),
        float(np.mean(ranges)),
        found.tau,
        float(found.wins_SS[worse, better].mean() / found.samples) if len(worse) else 0.0,
        float(found.chances_SS[first_S, 0].mean()),
    )
