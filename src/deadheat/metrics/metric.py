"""What a metric is: a row of integers per unit, and the value of a sum of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError
from deadheat.metrics.pair import Pair
from deadheat.registry import Registry, base_name, with_digest

Counts: TypeAlias = NDArray[np.int64]  # units by fields
Sums: TypeAlias = NDArray[np.int64] | NDArray[np.float64]  # ... by fields; resampled sums are floats
Values: TypeAlias = NDArray[np.float64]

CORRECT, GOLD, PREDICTED = range(3)
FIELDS = ("correct", "gold", "predicted")
ALIGNED_FIELDS = (*FIELDS, "aligned")  # a value is computed from the first three


@dataclass(frozen=True, slots=True)
class Metric:
    """A named, versioned metric.

    `name` includes its settings and is stored with every number; `label` is for tables. The first three fields of the
    counts are correct, gold and predicted. `value` turns sums of rows, along the last axis, into scores, so that
    a thousand resamples are one call. `compares` is the annotation that must be right: a column, `head`, or `tree`
    (head and relation); empty for metrics of segmentation.

    What functions from outside Deadheat return is checked whenever they are called.
    """

    name: str
    label: str
    counts: Callable[[Pair], Counts]
    value: Callable[[Sums], Values]
    fields: tuple[str, ...] = FIELDS
    compares: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name = with_digest(self.name, "")
        counts = self.counts.function if isinstance(self.counts, CheckedCounts) else self.counts
        value = self.value.function if isinstance(self.value, CheckedValue) else self.value
        if _is_users(counts):
            object.__setattr__(self, "counts", CheckedCounts(name, counts, self.fields))
        if _is_users(value):
            object.__setattr__(self, "value", CheckedValue(name, value))

    @property
    def is_users(self) -> bool:
        """Whether it has a function from outside Deadheat, which may fail whatever the prediction."""
        return isinstance(self.counts, CheckedCounts) or isinstance(self.value, CheckedValue)

    @property
    def width(self) -> int:
        """How many columns of the counts a value is computed from."""
        return len(FIELDS) if self.fields == ALIGNED_FIELDS else len(self.fields)

    @property
    def base(self) -> str:
        """The name without version and settings."""
        return base_name(self.name)

    def is_called(self, name: str) -> bool:
        """Whether a name means this metric; its version and the hash of its code may be left out."""
        return name.lower() in {known.lower() for known in (self.name, with_digest(self.name, ""), self.base)}

    def __str__(self) -> str:
        return self.name


def _is_users(function: object) -> bool:
    """Whether a function is defined outside of Deadheat."""
    return str(getattr(function, "__module__", "")).partition(".")[0] != "deadheat"


@dataclass(frozen=True, slots=True)
class CheckedCounts:
    """Counts of a user's metric: refused unless there is a row of integers for every unit."""

    name: str
    function: Callable[[Pair], Any]
    fields: tuple[str, ...]

    def __call__(self, pair: Pair) -> Counts:
        rows = _call_users(f"{self.name}: its counts failed", self.function, pair, type_of=None)
        unit = pair.units.name
        expected = f"expected integers of shape {(len(pair.units), len(self.fields))}, a row per {unit}"
        expected += f": {', '.join(self.fields)}"
        if len(self.fields) < len(FIELDS):
            raise InputError(f"{self.name}: fields {self.fields}; expected {', '.join(FIELDS)} and possibly more")
        if rows.dtype.kind not in "biuf":
            raise InputError(f"{self.name}: its counts are {_kind(rows)}; {expected}")
        if rows.shape != (len(pair.units), len(self.fields)):
            raise InputError(f"{self.name}: its counts have shape {rows.shape}; {expected}")
        if rows.dtype.kind == "f":
            raise InputError(f"{self.name}: its counts are {rows.dtype}; {expected}")
        counts = rows.astype(np.int64)
        if counts.size and int(counts.min()) < 0:
            row = int(np.argmax((counts < 0).any(axis=1)))
            raise InputError(
                f"{self.name}: its counts of {unit} {row + 1} are {counts[row].tolist()}; expected 0 or more"
            )
        return counts


@dataclass(frozen=True, slots=True)
class CheckedValue:
    """The value of a user's metric: refused unless there is a number for every sum of rows."""

    name: str
    function: Callable[[Sums], Any]

    def __call__(self, sums: Sums) -> Values:
        values = _call_users(f"{self.name}: its value failed", self.function, sums, type_of=float)
        if values.shape != sums.shape[:-1]:
            expected = f"expected {sums.shape[:-1]}, a number for every sum of rows along the last axis"
            raise InputError(
                f"{self.name}: its value of sums of shape {sums.shape} has shape {values.shape}; {expected}"
            )
        return values


def _call_users(
    problem: str, function: Callable[[Any], Any], argument: object, *, type_of: type | None
) -> NDArray[Any]:
    """The array that a user's function returns; an error in it is one line."""
    from deadheat.tracebacks import describe_error  # not needed unless it fails

    try:
        result = function(argument)
        array = np.asarray(result, type_of)
    except Exception as error:
        raise InputError(f"{problem} ({describe_error(error)})") from error
    if result is None:
        raise InputError(f"{problem} (it returned None)")
    return array


def _kind(rows: NDArray[Any]) -> str:
    """What was returned instead of an array of numbers."""
    return f"{type(rows.item()).__name__!r}" if rows.ndim == 0 else f"an array of {rows.dtype}"


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
