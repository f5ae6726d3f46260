"""Checks of scores and settings, shared by all statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InputError

Values: TypeAlias = NDArray[np.float64]
ScoreLists: TypeAlias = Sequence[ArrayLike] | NDArray[Any]

BLOCK = 1 << 19  # numbers drawn at a time, so that memory stays small


def check_scores(where: str, scores: ArrayLike) -> Values:
    """The scores of some runs as a row of finite numbers, or an error that says what they are instead."""
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{where}: not a row of numbers; expected one score a run") from None
    if values.ndim != 1:
        raise InputError(f"{where}: an array of {values.ndim} dimensions; expected one score a run")
    if not len(values):
        raise InputError(f"{where}: no scores; expected at least one")
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise InputError(f"{where}: score {bad[0] + 1} is {values[bad[0]]}; expected finite numbers")
    return values


def check_score_lists(where: str, scores: ScoreLists, each: str) -> list[Values]:
    """Several rows of scores, one per `each` (system, data set); they may be of different lengths."""
    if isinstance(scores, np.ndarray) and scores.ndim == 0:
        raise InputError(f"{where}: a single number; expected a row of scores a {each}")
    if not len(scores):
        raise InputError(f"{where}: no {each}s; expected at least one")
    return [check_scores(f"{where}, {each} {i + 1}", row) for i, row in enumerate(scores)]


def check_number(where: str, name: str, value: object, *, least: int) -> None:
    """Raise unless a setting is a whole number of some size."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{where}: {name} {value!r}; expected a whole number, at least {least}")
