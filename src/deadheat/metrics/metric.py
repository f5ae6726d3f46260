"""What a metric is: a row of integers per unit, and the value of a sum of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.metrics.pair import Pair
from deadheat.registry import Registry, base_name, with_digest

Counts: TypeAlias = NDArray[np.int64]  # units by fields
Sums: TypeAlias = NDArray[np.int64] | NDArray[np.float64]  # ... by fields; resampled sums are floats
Values: TypeAlias = NDArray[np.float64]

CORRECT, GOLD, PREDICTED = range(3)
FIELDS = ("correct", "gold", "predicted")


@dataclass(frozen=True, slots=True)
class Metric:
    """A named, versioned metric.

    `name` includes its settings and is stored with every number; `label` is for tables. The first three fields of the
    counts are correct, gold and predicted. `value` turns sums of rows, along the last axis, into scores, so that
    a thousand resamples are one call. `compares` is the annotation that must be right: a column, `head`, or `tree`
    (head and relation); empty for metrics of segmentation.
    """

    name: str
    label: str
    counts: Callable[[Pair], Counts]
    value: Callable[[Sums], Values]
    fields: tuple[str, ...] = FIELDS
    compares: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """The name without version and settings."""
        return base_name(self.name)

    def is_called(self, name: str) -> bool:
        """Whether a name means this metric; its version and the hash of its code may be left out."""
        return name.lower() in {known.lower() for known in (self.name, with_digest(self.name, ""), self.base)}

    def __str__(self) -> str:
        return self.name


def ratio(part: NDArray[np.generic], whole: NDArray[np.generic], *, empty: float) -> Values:
    """Divide part by whole; `empty` where whole is 0."""
    part, whole = np.asarray(part, float), np.asarray(whole, float)
    quotient: Values = np.divide(part, whole, out=np.full(np.broadcast(part, whole).shape, empty), where=whole != 0)
    return quotient


def f1(counts: Sums) -> Values:
    """Return 2 correct / (gold + predicted); 0 where both are 0, as in the official evaluation."""
    return ratio(2 * counts[..., CORRECT], counts[..., GOLD] + counts[..., PREDICTED], empty=0.0)


def precision(counts: Sums) -> Values:
    """Return correct / predicted."""
    return ratio(counts[..., CORRECT], counts[..., PREDICTED], empty=0.0)


def recall(counts: Sums) -> Values:
    """Return correct / gold."""
    return ratio(counts[..., CORRECT], counts[..., GOLD], empty=0.0)


def accuracy(counts: Sums) -> Values:
    """Return correct / gold; NaN where gold is 0."""
    return ratio(counts[..., CORRECT], counts[..., GOLD], empty=np.nan)


def is_proportion(counts_NF: Counts) -> bool:
    """Return whether gold equals predicted in every unit, so that a Wilson interval applies.

    It does not apply to an F1 whose totals merely happen to be equal.
    """
    correct, gold, predicted = (counts_NF[..., field] for field in (CORRECT, GOLD, PREDICTED))
    return bool(np.all(gold == predicted) and np.all((correct >= 0) & (correct <= gold)))


def error_reduction(worse: float, better: float) -> float:
    """Return the share of errors of one system that another avoids; negative if it makes more."""
    return float("nan") if worse >= 1 else (better - worse) / (1 - worse)


METRICS: Registry[Metric] = Registry("metric", "las, las.v1 or las.v1(subtypes=True)", made=Metric, group="metrics")


def register(description: str, metric: Metric) -> None:
    """Register a metric that has no settings."""

    def make() -> Metric:
        return metric

    make.__doc__ = description
    METRICS.add(metric.name)(make)
