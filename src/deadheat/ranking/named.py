"""Subsets of data sets that have a name: macro-averages, the ranking they give, and error reductions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.errors import InputError, nearest
from deadheat.ranking.integers import Indices, ranks_of, whole_scores
from deadheat.stats.checks import Values
from deadheat.stats.rankings import kendall
from deadheat.text import pluralize


@dataclass(frozen=True, slots=True)
class ErrorReduction:
    """The share of the reference's errors that a system avoids, averaged over data sets."""

    reference: str
    system: str
    share: float  # up to 1; below 0 where the system makes more errors
    perfect: float

    @property
    def value(self) -> float:
        """The share on the scale of the scores."""
        return self.perfect * self.share

    def __str__(self) -> str:
        return f"{self.system} avoids {100 * self.share:.2f} % of the errors of {self.reference}"

    def to_dict(self) -> dict[str, Any]:
        return {"reference": self.reference, "system": self.system, "value": self.value}


@dataclass(frozen=True, slots=True, eq=False)
class NamedSubset:
    """What a subset of data sets says of all systems."""

    name: str
    datasets: tuple[str, ...]
    systems: tuple[str, ...]
    mean_S: Values
    rank_S: Indices
    tau: float  # with the ranking on all data sets
    error_reductions: tuple[ErrorReduction, ...]
    absent: tuple[str, ...] = ()  # data sets of the subset that have no scores

    def __str__(self) -> str:
        order = np.argsort(self.rank_S, kind="stable")
        listed = ", ".join(f"{self.rank_S[s]} {self.systems[s]} {self.mean_S[s]:.2f}" for s in order)
        return f"{self.name} ({pluralize(len(self.datasets), 'data set')}): {listed}"

    def to_dict(self) -> dict[str, Any]:
        rows = zip(self.systems, self.mean_S.tolist(), self.rank_S.tolist(), strict=True)
        return {
            "subset": self.name,
            "data_sets": list(self.datasets),
            "absent": list(self.absent),
            "systems": [{"system": system, "mean": mean, "rank": rank} for system, mean, rank in rows],
            "tau": self.tau,
            "error_reductions": [each.to_dict() for each in self.error_reductions],
        }


def named_subsets(
    scores_SD: Values,
    systems: Sequence[str],
    datasets: Sequence[str],
    subsets: Mapping[str, Sequence[str]],
    *,
    perfect: float | None = None,
) -> tuple[NamedSubset, ...]:
    """Means, ranks and error reductions on each of some subsets of the data sets.

    Members of a subset that have no scores are left out of it, and listed in `absent`.

    Parameters
    ----------
    perfect
        The score without errors; None takes 1 if no score is above it, 100 if none is above that.

    Notes
    -----
    The error reduction of a system against a reference is the mean over data sets of (score - reference) / (perfect -
    reference), times `perfect`. Every system is a reference for every other, those first that are worse on all data
    sets together. It is undefined where the reference makes no error.

    Examples
    --------
    >>> scores = np.array([[98.0, 50.0], [99.0, 90.0]])
    >>> (found,) = named_subsets(scores, ["old", "new"], ["en", "kk"], {"both": ["en", "kk"]})
    >>> print(found, "|", found.error_reductions[0])
    both (2 data sets): 1 new 94.50, 2 old 74.00 | new avoids 65.00 % of the errors of old
    """
    whole = whole_scores(scores_SD)
    all_S = whole.above_SD.sum(axis=1)
    order = np.argsort(all_S, kind="stable").tolist()
    pairs = [(worse, better) for at, worse in enumerate(order) for better in order[at + 1 :]]
    pairs += [(better, worse) for worse, better in pairs]
    top = _perfect(scores_SD, perfect)
    places = {name: place for place, name in enumerate(datasets)}
    found = []
    for name, members in subsets.items():
        chosen, absent = _members(name, members, places)
        sums_S = whole.above_SD[:, chosen].sum(axis=1)
        mean_S = scores_SD[:, chosen].mean(axis=1)
        tau = kendall(sums_S, all_S) if len(systems) > 1 else math.nan
        reductions = tuple(
            ErrorReduction(systems[of], systems[by], _reduction(scores_SD[:, chosen], of, by, top), top)
            for of, by in pairs
        )
        names = tuple(datasets[place] for place in chosen)
        found.append(NamedSubset(name, names, tuple(systems), mean_S, ranks_of(sums_S), tau, reductions, absent))
    return tuple(found)


def _members(name: str, members: Sequence[str], places: Mapping[str, int]) -> tuple[list[int], tuple[str, ...]]:
    """Places of the members that have scores, and names of those that have none."""
    twice = [member for at, member in enumerate(members) if member in members[:at]]
    if twice:
        raise InputError(f"subset {name}: {twice[0]} twice; expected each data set once")
    chosen = [places[member] for member in members if member in places]
    if not chosen:
        guess = nearest(members[0], tuple(places)) if members else "expected at least one data set"
        raise InputError(f"subset {name}: no scores on any of its {len(members)} data sets; {guess}")
    return chosen, tuple(member for member in members if member not in places)


def _perfect(scores_SD: Values, given: float | None) -> float:
    highest = float(scores_SD.max())
    if given is None:
        return 1.0 if highest <= 1 else 100.0 if highest <= 100 else math.nan
    if not given >= highest:
        raise InputError(f"a perfect score of {given:g} with scores up to {highest:g}; expected at least that")
    return given


def _reduction(scores_SD: Values, reference: int, system: int, perfect: float) -> float:
    errors_D = perfect - scores_SD[reference]
    saved_D = scores_SD[system] - scores_SD[reference]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = float((saved_D / errors_D).mean())
    return mean if math.isfinite(mean) else math.nan
