"""What a metric is: a row of integers per unit, and the value of a sum of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.metrics.pair import Pair
from deadheat.registry import Registry

Counts: TypeAlias = NDArray[np.int64]  # units by fields
Sums: TypeAlias = NDArray[np.int64] | NDArray[np.float64]  # ... by fields; resampled sums are floats
Values: TypeAlias = NDArray[np.float64]

CORRECT, GOLD, PREDICTED = range(3)
FIELDS = ("correct", "gold", "predicted")


@dataclass(frozen=True, slots=True)
class Metric:
    """A named, versioned measure.

    `name` holds its settings and is stored with every number; `label` is what tables show. The first three
    fields of every metric are correct, gold and predicted. `value` turns sums of rows, along the last axis, into
    numbers, so that a thousand resamples are one call. `compares` is what of a word must be right: a column, `head`,
    or `tree` (head and relation); empty where it is nothing of a word.
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
        return self.name.partition(".v")[0]

    def __str__(self) -> str:
        return self.name


def ratio(part: NDArray[np.generic], whole: NDArray[np.generic], *, empty: float) -> Values:
    """Divide part by whole, and give `empty` where there is nothing to divide by."""
    part, whole = np.asarray(part, float), np.asarray(whole, float)
    quotient: Values = np.divide(part, whole, out=np.full(np.broadcast(part, whole).shape, empty), where=whole != 0)
    return quotient


def f1(counts: Sums) -> Values:
    """2 correct / (gold + predicted); 0 where there is nothing, as the official evaluation has it."""
    return ratio(2 * counts[..., CORRECT], counts[..., GOLD] + counts[..., PREDICTED], empty=0.0)


def precision(counts: Sums) -> Values:
    """Share of what was predicted: correct / predicted."""
    return ratio(counts[..., CORRECT], counts[..., PREDICTED], empty=0.0)


def recall(counts: Sums) -> Values:
    """Share of what there is: correct / gold."""
    return ratio(counts[..., CORRECT], counts[..., GOLD], empty=0.0)


def accuracy(counts: Sums) -> Values:
    """Share of what there is, correct / gold; NaN where there is nothing to get right."""
    return ratio(counts[..., CORRECT], counts[..., GOLD], empty=np.nan)


def is_proportion(counts_NF: Counts) -> bool:
    """Whether counts are so many right of so many tried, in every unit: then a Wilson interval holds.

    An F1 whose totals happen to be equal is not: in some unit as much is predicted too many as is missing elsewhere.
    """
    correct, gold, predicted = (counts_NF[..., field] for field in (CORRECT, GOLD, PREDICTED))
    return bool(np.all(gold == predicted) and np.all((correct >= 0) & (correct <= gold)))


def error_reduction(worse: float, better: float) -> float:
    """The share of errors of one system that another does not make; negative if it makes more.

    Examples
    --------
    >>> round(error_reduction(0.90, 0.92), 6)
    0.2
    """
    return float("nan") if worse >= 1 else (better - worse) / (1 - worse)


METRICS: Registry[Metric] = Registry("metric", "las, las.v1 or las.v1(subtypes=True)")
