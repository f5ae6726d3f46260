"""Scores of systems by data sets, complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.text import pluralize

Numbers = NDArray[np.float64]
MISSING = ("refuse", "drop")


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Every system's score on every data set, by one metric."""

    metric: str  # "" where the table names none
    systems: tuple[str, ...]  # in the order of their first appearance, as the data sets
    datasets: tuple[str, ...]
    scores_SD: Numbers  # finite, complete
    dropped: tuple[str, ...] = ()  # data sets left out because a system has no score on them

    def __str__(self) -> str:
        shape = f"{pluralize(len(self.systems), 'system')} on {pluralize(len(self.datasets), 'data set')}"
        return f"{self.metric or 'scores'}: {shape}"


def score_table(scores: Mapping[str, Mapping[str, float]], *, metric: str = "", missing: str = "refuse") -> ScoreTable:
    """A table of the scores of each system by data set.

    Examples
    --------
    >>> print(score_table({"A": {"en": 90, "de": 85}, "B": {"en": 89, "de": 84}}, metric="LAS"))
    LAS: 2 systems on 2 data sets
    """
    datasets = list(dict.fromkeys(name for found in scores.values() for name in found))
    scores_SD = np.array([[found.get(name, np.nan) for name in datasets] for found in scores.values()], float)
    scores_SD = scores_SD.reshape(len(scores), len(datasets))
    lacking_SD = np.array([[name not in found for name in datasets] for found in scores.values()], bool)
    wrong_SD = ~np.isfinite(scores_SD) & ~lacking_SD.reshape(scores_SD.shape)
    if wrong_SD.any():
        row, place = np.argwhere(wrong_SD)[0]
        raise InputError(f"{list(scores)[row]} on {datasets[place]}: a score that is no number; expected one")
    return complete("", metric, list(scores), datasets, scores_SD, missing)


def complete(
    where: str, metric: str, systems: Sequence[str], datasets: Sequence[str], scores_SD: Numbers, missing: str
) -> ScoreTable:
    """The table, if no score is missing (NaN), or without the data sets that lack one."""
    if missing not in MISSING:
        raise NameUnknown("way with missing scores", missing, MISSING)
    lacking_SD = np.isnan(scores_SD)
    if lacking_SD.any() and missing == "refuse":
        system, dataset = np.argwhere(lacking_SD)[0]
        more = f", the first of {lacking_SD.sum()} missing scores" if lacking_SD.sum() > 1 else ""
        told = f"{systems[system]} has no score on {datasets[dataset]}{more}"
        raise InputError(f"{where}{told}; expected one, or to drop such data sets (--missing drop)")
    kept = ~lacking_SD.any(axis=0)
    if not kept.any():
        raise InputError(f"{where}no data set has a score of every system; expected at least two")
    names = np.array(datasets, object)
    return ScoreTable(metric, tuple(systems), tuple(names[kept]), scores_SD[:, kept], tuple(names[~kept]))
