"""Complete tables of scores: systems by data sets (without polars, which takes 0.3 s to import)."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.text import join_names, pluralize

Numbers = NDArray[np.float64]
MISSING = ("refuse", "drop")
# Sizes of scores other than 0: beyond the greatest they have no decimals, and powers of much larger or smaller ones
# overflow or are 0.
SMALLEST, GREATEST = 1e-60, 1e15
LOW = 2  # a median percentage that is certainly no share


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """The score of every system on every data set, by one metric."""

    metric: str  # "" where the table names none
    systems: tuple[str, ...]  # in order of first appearance, like the data sets
    datasets: tuple[str, ...]
    scores_SD: Numbers  # finite, complete
    dropped: tuple[str, ...] = ()  # data sets left out because a system has no score on them

    def __str__(self) -> str:
        shape = f"{pluralize(len(self.systems), 'system')} on {pluralize(len(self.datasets), 'data set')}"
        return f"{self.metric or 'scores'}: {shape}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on scores that seem to be on another scale than the others, or copies of others."""
        by_system, by_dataset = (
            zip(names, rows, strict=True)
            for names, rows in ((self.systems, self.scores_SD), (self.datasets, self.scores_SD.T))
        )
        copies = copied_datasets(self.datasets, self.scores_SD)
        notes = (f"{copies}; if they are copies, they count too often",) if copies else ()
        return mixed_scales(by_system, "of") + mixed_scales(by_dataset, "on") + notes


def mixed_scales(groups: Iterable[tuple[str, Numbers]], preposition: str) -> tuple[str, ...]:
    """A note on groups of scores that are shares where others are percentages; it cannot be more, scores may be low."""
    shares, percentages = list[str](), list[float]()
    for name, scores in groups:
        if scores.min() >= 0 and scores.max() <= 1:
            shares += [name] * bool((scores % 1).any())
        elif scores.min() >= 0 and scores.max() <= 100 and np.median(scores) > LOW:
            percentages.append(float(scores.max()))
    if not shares or not percentages:
        return ()
    which = f"all scores {preposition} {join_names(shares, limit=4)} are between 0 and 1"
    return (f"{which}, and others reach {max(percentages):.6g}; if they are shares, multiply them by 100",)


def are_copies(times: int, distinct: int) -> bool:
    """Whether so many different rows are each there a multiple of so many times, which chance does not do.

    Equal scores alone prove nothing, since accuracies on one test set have few possible values.

    Examples
    --------
    >>> are_copies(8, 6), are_copies(2, 6), are_copies(2, 20), are_copies(1, 1000)
    (True, False, True, False)
    """
    return distinct * math.log(times) > math.log(1e5)


def copied_datasets(datasets: Sequence[str], scores_SD: Numbers) -> str:
    """How often the scores on all data sets are there under other names; empty if once."""
    _, firsts, inverse, counts = np.unique(
        scores_SD.T, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    times = int(np.gcd.reduce(counts)) if len(counts) else 1
    if not are_copies(times, len(counts)):
        return ""
    first = int(firsts[inverse.ravel()[0]])
    other = datasets[int(np.flatnonzero(inverse.ravel() == inverse.ravel()[first])[1])]
    return f"the scores on all data sets are there {times} times, under other names ({other} as {datasets[first]})"


DataFrame: TypeAlias = Any  # of polars, pandas or pyarrow, a list of rows, or a dictionary of columns
ScoreSource: TypeAlias = str | os.PathLike[str] | ScoreTable | Mapping[str, Mapping[str, float]] | DataFrame


class TableOptions(TypedDict, total=False):
    """Which columns of a long table are read, and what happens to data sets that lack a score."""

    system: str
    dataset: str
    score: str
    missing: str


def open_scores(scores: ScoreSource, metric: str, **options: Unpack[TableOptions]) -> ScoreTable:
    """Return a table as it is, from the scores of each system by data set, or from a file."""
    if isinstance(scores, ScoreTable):
        return scores
    if isinstance(scores, Mapping) and all(isinstance(by_dataset, Mapping) for by_dataset in scores.values()):
        return score_table(scores, metric=metric, missing=options.get("missing", "refuse"))
    from deadheat.tables.scores import read_score_table

    return read_score_table(scores, metric=metric, **options)


def is_in_range(numbers: Numbers) -> NDArray[np.bool_]:
    """Whether numbers are 0 or of a size that scores may have."""
    sizes = np.abs(numbers)
    possible: NDArray[np.bool_] = (sizes == 0) | ((sizes >= SMALLEST) & (sizes <= GREATEST))
    return possible


def range_expected(value: float) -> str:
    """What was expected instead of a number that is not finite, too large or too small."""
    if not np.isfinite(value):
        return "expected a number"
    return f"expected at most {GREATEST:g}" if abs(value) > 1 else f"expected 0, or {SMALLEST:g} or more"


def score_table(scores: Mapping[str, Mapping[str, float]], *, metric: str = "", missing: str = "refuse") -> ScoreTable:
    """Make a table from the scores of each system by data set."""
    datasets = list(dict.fromkeys(name for by_dataset in scores.values() for name in by_dataset))
    scores_SD = np.array([[by_dataset.get(name, np.nan) for name in datasets] for by_dataset in scores.values()], float)
    scores_SD = scores_SD.reshape(len(scores), len(datasets))
    for row, column in np.argwhere(~is_in_range(scores_SD)):
        system, name = list(scores)[row], datasets[column]
        if name in scores[system]:
            value = scores[system][name]
            problem = f"score {value:g}" if np.isfinite(value) else "score is not finite"
            raise InputError(f"{system} on {name}: {problem}; {range_expected(value)}")
    return complete("", metric, list(scores), datasets, scores_SD, missing)


def complete(
    where: str, metric: str, systems: Sequence[str], datasets: Sequence[str], scores_SD: Numbers, missing: str
) -> ScoreTable:
    """Return the table if no score is missing (NaN), or without the data sets that lack one."""
    if missing not in MISSING:
        raise NameUnknown("missing", missing, MISSING)
    missing_SD = np.isnan(scores_SD)
    if missing_SD.any() and missing == "refuse":
        system, dataset = np.argwhere(missing_SD)[0]
        more = f", the first of {missing_SD.sum()} missing scores" if missing_SD.sum() > 1 else ""
        problem = f"{systems[system]} has no score on {datasets[dataset]}{more}"
        raise InputError(f"{where}{problem}; expected one, or --missing drop to leave out such data sets")
    kept = ~missing_SD.any(axis=0)
    if not kept.any():
        raise InputError(f"{where}no data set has scores of all systems; expected at least one")
    if all(name.isdecimal() for name in datasets) and (copies := copied_datasets(datasets, scores_SD[:, kept])):
        raise InputError(f"{where}{copies}; expected every data set once")
    names = np.array(datasets, object)
    return ScoreTable(metric, tuple(systems), tuple(names[kept]), scores_SD[:, kept], tuple(names[~kept]))
