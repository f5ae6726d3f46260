"""Subsets that give a system its best and its worst rank, and what is in them more often than by chance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from deadheat.errors import InputError
from deadheat.ranking.exact import count_sums
from deadheat.ranking.integers import Indices, WholeScores
from deadheat.ranking.subsets import SubsetRanks, samples_with_rank
from deadheat.stats.checks import Values
from deadheat.stats.corrections import correct

Attributes: TypeAlias = Mapping[str, tuple[str, ...] | Values]
MOST_SUBSETS = 100  # of those with the same extreme rank
PERMUTATIONS = 9999


@dataclass(frozen=True, slots=True)
class Presence:
    """How much of an attribute is in some subsets, against all data sets; p says how easily chance would do it.

    Of a value (`family=Slavic`) the share of the data sets that have it; of a number the mean, and `value` is empty.
    `example` is how many of the first subset's data sets have the value, `p_example` the hypergeometric chance of as
    many in a random subset; of a number both are NaN.
    """

    attribute: str
    value: str
    datasets: int
    observed: float
    expected: float
    p: float
    p_corrected: float = math.nan
    example: float = math.nan
    p_example: float = math.nan

    def __str__(self) -> str:
        name = f"{self.attribute}={self.value}" if self.value else self.attribute
        return f"{name} {self.observed:.3g} (all: {self.expected:.3g}, p = {self.p_corrected:.2g})"

    def to_dict(self) -> dict[str, Any]:
        named = {"attribute": self.attribute, "value": self.value or None, "data_sets": self.datasets}
        tested = {"p": self.p, "p_corrected": self.p_corrected}
        example = {"example": self.example, "p_example": self.p_example}
        return {**named, "observed": self.observed, "expected": self.expected, **tested, **example}


@dataclass(frozen=True, slots=True, eq=False)
class Outliers:
    """Some of the subsets in which a system has one extreme rank, and what is in them."""

    rank: int
    share: float  # of all samples that give it this rank
    subsets_BK: Indices
    presence: tuple[Presence, ...]

    def to_dict(self, datasets: Sequence[str]) -> dict[str, Any]:
        subsets = [[datasets[place] for place in subset] for subset in self.subsets_BK]
        presence = [each.to_dict() for each in self.presence]
        return {"rank": self.rank, "share": self.share, "subsets": subsets, "presence": presence}


@dataclass(frozen=True, slots=True, eq=False)
class Anomalies:
    """Where a system does unusually well and unusually badly."""

    system: str
    best: Outliers
    worst: Outliers
    correction: str

    def __str__(self) -> str:
        return f"{self.system}: rank {self.best.rank} to {self.worst.rank}"

    def to_dict(self, datasets: Sequence[str]) -> dict[str, Any]:
        ends = {"best": self.best.to_dict(datasets), "worst": self.worst.to_dict(datasets)}
        return {"system": self.system, **ends, "correction": self.correction}


def hypergeometric_tail(population: int, marked: int, drawn: int, least: int) -> float:
    """The chance that a random subset has at least so many of the marked data sets.

    Notes
    -----
    Σ C(K, i) C(N - K, n - i) / C(N, n) for i from `least` on, added up in whole numbers.

    Examples
    --------
    >>> print(round(hypergeometric_tail(82, 21, 10, 6), 5))
    0.01538
    """
    if not (0 <= marked <= population and 0 <= drawn <= population):
        raise InputError(f"{marked} marked and {drawn} drawn of {population}; expected neither to be more than all")
    ways = sum(
        math.comb(marked, i) * math.comb(population - marked, drawn - i) for i in range(max(least, 0), drawn + 1)
    )
    return ways / math.comb(population, drawn)


def anomalies(  # noqa: PLR0913 (what a table of scores and its attributes consist of)
    found: SubsetRanks,
    scores: WholeScores,
    system: int,
    *,
    name: str,
    attributes: Attributes,
    rng: np.random.Generator,
    most: int = MOST_SUBSETS,
    correction: str = "holm",
) -> Anomalies:
    """What is over-represented in the sampled subsets that give a system its best and its worst rank.

    Notes
    -----
    The subsets of one rank have many data sets in common and are no independent draws. So the attribute is what is
    shuffled: p is the chance that as many data sets, drawn at random, are as often in these subsets as those with the
    attribute are; it is counted exactly. For one subset this is the hypergeometric tail. Values of a single data set
    are not tested, nor are columns in which every data set has its own. Numbers are compared by their mean, two-sided,
    with 9,999 shuffles.

    All this is of `most` subsets: the first sampled, or any `most` where all are listed, so that neither says anything
    of the order of the data sets.
    """
    ends = []
    for rank in (int(found.best_S[system]), int(found.worst_S[system])):
        numbers = samples_with_rank(found, scores, system, rank, most=most, rng=rng)
        subsets_BK = found.design.draw(found.key, numbers)
        presence = tuple(_presences(subsets_BK, attributes, scores.datasets, rng))
        ends.append(Outliers(rank, found.counts_SS[system, rank - 1] / found.samples, subsets_BK, presence))
    tested = correct([each.p for end in ends for each in end.presence], correction).tolist()
    first = len(ends[0].presence)
    best, worst = (
        replace(end, presence=tuple(replace(p, p_corrected=q) for p, q in zip(end.presence, corrected, strict=True)))
        for end, corrected in zip(ends, (tested[:first], tested[first:]), strict=True)
    )
    return Anomalies(name, best, worst, correction)


def _presences(
    subsets_BK: Indices, attributes: Attributes, datasets: int, rng: np.random.Generator
) -> Iterator[Presence]:
    often_D = np.bincount(subsets_BK.ravel(), minlength=datasets)
    for attribute, values in attributes.items():
        labels = _labels(values)
        if labels is None:
            assert isinstance(values, np.ndarray)
            yield _mean_presence(often_D, attribute, values, rng)
            continue
        known = dict.fromkeys(label for label in labels if label)
        if len(known) == len(labels):
            continue
        for value in known:
            marked_D = np.array([label == value for label in labels])
            if 1 < marked_D.sum() < len(labels):
                found = _value_presence(often_D, attribute, value, marked_D)
                example = int(marked_D[subsets_BK[0]].sum())
                p_example = hypergeometric_tail(datasets, found.datasets, subsets_BK.shape[1], example)
                yield replace(found, example=float(example), p_example=p_example)


def _labels(values: tuple[str, ...] | Values) -> tuple[str, ...] | None:
    """The values of an attribute as text, unless they are numbers of which there are more than two."""
    if isinstance(values, tuple):
        return values
    if len(np.unique(values[np.isfinite(values)])) > 2:
        return None
    return tuple(f"{value:g}" if math.isfinite(value) else "" for value in values.tolist())


def _value_presence(often_D: Indices, attribute: str, value: str, marked_D: np.ndarray) -> Presence:
    marked, present = int(marked_D.sum()), int(often_D[marked_D].sum())
    counts = count_sums(often_D.astype(np.int64), marked, threshold=present)
    p = (counts.above + counts.level) / counts.total
    observed, expected = present / often_D.sum(), marked / len(marked_D)
    return Presence(attribute, value, marked, float(observed), expected, min(p, 1.0))


def _mean_presence(often_D: Indices, attribute: str, values_D: Values, rng: np.random.Generator) -> Presence:
    there = np.isfinite(values_D)
    numbers, weights = values_D[there], often_D[there].astype(float)
    if not weights.any():
        return Presence(attribute, "", int(there.sum()), math.nan, float(numbers.mean()), 1.0)
    weights /= weights.sum()
    expected, observed = float(numbers.mean()), float(weights @ numbers)
    shuffled = rng.permuted(np.broadcast_to(numbers, (PERMUTATIONS, len(numbers))), axis=1) @ weights
    # A shuffle that gives the same mean may miss it in the last digits.
    hits = int((np.abs(shuffled - expected) >= abs(observed - expected) * (1 - 1e-12)).sum())
    return Presence(attribute, "", int(there.sum()), observed, expected, (1 + hits) / (1 + PERMUTATIONS))
