"""Which data sets matter: how the ranking changes when one of them is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.errors import InputError
from deadheat.ranking.integers import WholeScores, ranks_of
from deadheat.stats.rankings import kendall
from deadheat.text import pluralize


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The ranking without one data set, against the ranking on all."""

    dataset: str
    tau: float
    swapped: int  # pairs of systems whose order turns round
    moved: dict[str, tuple[int, int]]  # rank on all data sets and without this one, of the systems whose rank changes

    def __str__(self) -> str:
        moves = ", ".join(f"{system} {before} to {after}" for system, (before, after) in self.moved.items())
        return f"without {self.dataset}: {moves or 'no change'}"

    def to_dict(self) -> dict[str, Any]:
        moved = [{"system": name, "rank": before, "without": after} for name, (before, after) in self.moved.items()]
        return {"data_set": self.dataset, "tau": self.tau, "swapped": self.swapped, "moved": moved}


def leave_one_out(scores: WholeScores, systems: Sequence[str], datasets: Sequence[str]) -> tuple[LeftOut, ...]:
    """How the ranking changes without each data set, those that change most first.

    Examples
    --------
    >>> from deadheat.ranking.integers import whole_scores
    >>> found = leave_one_out(whole_scores([[90, 80, 70], [80, 80, 71]]), ["A", "B"], ["en", "de", "fi"])
    >>> print(found[0])
    without en: A 1 to 2, B 2 to 1
    """
    if scores.datasets < 2 or scores.systems < 2:
        shape = f"{pluralize(scores.systems, 'system')} on {pluralize(scores.datasets, 'data set')}"
        raise InputError(f"{shape}; expected at least two of each to leave one out")
    all_S = scores.above_SD.sum(axis=1)
    ranks_S = ranks_of(all_S)
    order = np.sign(all_S[:, None] - all_S)
    best_first: list[int] = np.argsort(ranks_S, kind="stable").tolist()
    found = []
    for place, name in enumerate(datasets):
        rest_S = all_S - scores.above_SD[:, place]
        now_S = ranks_of(rest_S)
        swapped = int((order * np.sign(rest_S[:, None] - rest_S) < 0).sum()) // 2
        moved = {systems[s]: (int(ranks_S[s]), int(now_S[s])) for s in best_first if ranks_S[s] != now_S[s]}
        found.append(LeftOut(name, kendall(rest_S, all_S), swapped, moved))
    return tuple(sorted(found, key=lambda each: (-each.swapped, -len(each.moved))))
