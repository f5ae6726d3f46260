"""Checks of scores and settings, shared by all statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InputError

Values: TypeAlias = NDArray[np.float64]
ScoreLists: TypeAlias = Sequence[ArrayLike] | NDArray[Any]

LEAST_ALPHA = 1e-12  # quantiles farther out in the tails are not computed with certainty
BLOCK = 1 << 19  # numbers drawn at a time, to save memory


def check_scores(where: str, scores: ArrayLike) -> Values:
    """Return the scores of some runs as an array; raise unless they are finite numbers in one dimension."""
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{where}: not a row of numbers; expected one score per run") from None
    if values.ndim != 1:
        raise InputError(f"{where}: an array of {values.ndim} dimensions; expected one score per run")
    if not len(values):
        raise InputError(f"{where}: no scores; expected at least one")
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise InputError(f"{where}: score {bad[0] + 1} is {values[bad[0]]}; expected finite numbers")
    return values


def check_score_lists(where: str, scores: ScoreLists, item: str) -> list[Values]:
    """Check several rows of scores, one per `item` (system, data set), perhaps of different lengths."""
    if isinstance(scores, np.ndarray) and scores.ndim == 0:
        raise InputError(f"{where}: a single number; expected a row of scores per {item}")
    if not len(scores):
        raise InputError(f"{where}: no {item}s; expected at least one")
    return [check_scores(f"{where}, {item} {i + 1}", row) for i, row in enumerate(scores)]


def check_two_systems(where: str, first: ArrayLike, second: ArrayLike) -> tuple[Values, Values]:
    """Check the scores of two systems."""
    return check_scores(f"{where}, first system", first), check_scores(f"{where}, second system", second)


def check_finite(what: str, values: Values) -> None:
    """Raise if an array has an infinite or missing number; the message has its position."""
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        position = ", ".join(str(i + 1) for i in wrong[0])
        raise InputError(f"{what} {position}: {values[tuple(wrong[0])]}; expected a finite number")


def check_number(where: str, name: str, value: object, *, least: int) -> None:
    """Raise unless a setting is an integer of some size."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{where}: {name} {value!r}; expected a whole number, at least {least}")


def check_level(level: float) -> None:
    """Raise unless a confidence level is between 0 and 1."""
    if not 0 < level < 1:
        raise InputError(f"level {level}; expected between 0 and 1, such as 0.95")


def distinct_names(names: Sequence[str] | None, count: int, kind: str) -> tuple[str, ...]:
    """Return the names if they are distinct and as many as needed; numbered names if there are none."""
    result = tuple(f"{kind} {i + 1}" for i in range(count)) if names is None else tuple(names)
    if len(result) != count or len(set(result)) != count:
        raise InputError(f"{kind} names: {len(set(result))} different ones; expected {count}")
    return result


def check_alpha(alpha: float) -> None:
    """Raise unless a significance level is between 0 and 1."""
    if not 0 < alpha < 1:
        raise InputError(f"alpha {alpha}; expected between 0 and 1, such as 0.05")
    if alpha < LEAST_ALPHA:
        raise InputError(f"alpha {alpha}; expected at least {LEAST_ALPHA:g}, such as 0.05")
