"""Which data sets are overrepresented in the subsets that give a system its best and its worst rank."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from deadheat.errors import InputError
from deadheat.ranking.exact import count_sums
from deadheat.ranking.integers import Indices, IntegerScores
from deadheat.ranking.subsets import SubsetRanks, samples_with_rank
from deadheat.stats.checks import Values
from deadheat.stats.corrections import correct

Attributes: TypeAlias = Mapping[str, tuple[str, ...] | Values]
MOST_SUBSETS = 100  # of those with the same extreme rank
PERMUTATIONS = 9999


@dataclass(frozen=True, slots=True)
class AttributeTest:
    """How frequent an attribute of data sets is in some subsets, compared with all data sets.

    For a value (`family=Slavic`), `observed` and `expected` are shares of data sets; for a number they are means, and
    `value` is empty. `example` is how many data sets of the first subset have the value, and `p_example` the
    hypergeometric probability of at least as many in a random subset; both are NaN for a number.
    """

    attribute: str
    value: str
    datasets: int  # with the value
    observed: float
    expected: float
    p: float
    p_corrected: float = math.nan
    example: float = math.nan
    p_example: float = math.nan


@dataclass(frozen=True, slots=True)
class ExtremeSubsets:
    """Some of the subsets on which a system has its best (or worst) rank, and tests of what is frequent in them."""

    rank: int
    count: int  # of sampled subsets with this rank
    subsets: tuple[tuple[str, ...], ...]
    tests: tuple[AttributeTest, ...]


@dataclass(frozen=True, slots=True)
class Anomalies:
    """Where a system does unusually well and unusually badly."""

    system: str
    best: ExtremeSubsets
    worst: ExtremeSubsets
    correction: str


def hypergeometric_tail(population: int, marked: int, drawn: int, least: int) -> float:
    """The probability that a random subset contains at least `least` of the marked data sets, summed in integers."""
    if not (0 <= marked <= population and 0 <= drawn <= population):
        raise InputError(f"{marked} marked and {drawn} drawn of {population}; expected at most {population} of each")
    favourable = sum(
        math.comb(marked, i) * math.comb(population - marked, drawn - i) for i in range(max(least, 0), drawn + 1)
    )
    return favourable / math.comb(population, drawn)


def find_anomalies(  # noqa: PLR0913
    ranks: SubsetRanks,
    scores: IntegerScores,
    system: int,
    *,
    name: str,
    datasets: Sequence[str],
    attributes: Attributes,
    rng: np.random.Generator,
    most: int = MOST_SUBSETS,
    correction: str = "holm",
) -> Anomalies:
    """What is overrepresented in the sampled subsets that give a system its best and its worst rank.

    Notes
    -----
    The subsets with one rank share many data sets and are not independent. So the attribute is permuted over the data
    sets: p is the probability that as many random data sets occur in these subsets at least as often as those with the
    attribute, and it is exact. For a single subset it is the hypergeometric tail. Values that only one data set has are
    not tested, nor are columns in which all values differ. Numbers are compared by their mean, two-sided, with 9,999
    permutations.

    At most `most` subsets are used: the first samples, or random ones if all subsets are listed, so that the result
    does not depend on the order of the data sets.
    """
    ends = []
    for rank in (int(ranks.best_S[system]), int(ranks.worst_S[system])):
        numbers = samples_with_rank(ranks, scores, system, rank, most=most, rng=rng)
        subsets_BK = ranks.design.draw(ranks.key, numbers)
        tests = tuple(_attribute_tests(subsets_BK, attributes, scores.datasets, rng))
        names = tuple(tuple(datasets[column] for column in subset) for subset in subsets_BK.tolist())
        ends.append(ExtremeSubsets(rank, int(ranks.counts_SS[system, rank - 1]), names, tests))
    corrected = iter(correct([test.p for end in ends for test in end.tests], correction).tolist())
    best, worst = (
        replace(end, tests=tuple(replace(test, p_corrected=next(corrected)) for test in end.tests)) for end in ends
    )
    return Anomalies(name, best, worst, correction)


def _attribute_tests(
    subsets_BK: Indices, attributes: Attributes, datasets: int, rng: np.random.Generator
) -> Iterator[AttributeTest]:
    counts_D = np.bincount(subsets_BK.ravel(), minlength=datasets)
    for attribute, values in attributes.items():
        labels = _labels(values)
        if labels is None:
            assert isinstance(values, np.ndarray)
            yield _test_mean(counts_D, attribute, values, rng)
            continue
        distinct = dict.fromkeys(label for label in labels if label)
        if len(distinct) == len(labels):
            continue
        for value in distinct:
            marked_D = np.array([label == value for label in labels])
            if 1 < marked_D.sum() < len(labels):
                yield _test_value(subsets_BK, counts_D, attribute, value, marked_D)


def _labels(values: tuple[str, ...] | Values) -> tuple[str, ...] | None:
    """The values of an attribute as text; None for numbers with more than two different values."""
    if isinstance(values, tuple):
        return values
    if len(np.unique(values[np.isfinite(values)])) > 2:
        return None
    return tuple(f"{value:g}" if math.isfinite(value) else "" for value in values.tolist())


def _test_value(
    subsets_BK: Indices, counts_D: Indices, attribute: str, value: str, marked_D: np.ndarray
) -> AttributeTest:
    marked, present, example = (int(chosen.sum()) for chosen in (marked_D, counts_D[marked_D], marked_D[subsets_BK[0]]))
    sums = count_sums(counts_D.astype(np.int64), marked, threshold=present)
    p = (sums.above + sums.level + sums.undecided) / sums.total
    observed, expected = float(present / counts_D.sum()), marked / len(marked_D)
    p_example = hypergeometric_tail(len(marked_D), marked, subsets_BK.shape[1], example)
    return AttributeTest(
        attribute, value, marked, observed, expected, min(p, 1.0), example=float(example), p_example=p_example
    )


def _test_mean(counts_D: Indices, attribute: str, values_D: Values, rng: np.random.Generator) -> AttributeTest:
    finite = np.isfinite(values_D)
    numbers, weights = values_D[finite], counts_D[finite].astype(float)
    datasets, expected = int(finite.sum()), float(numbers.mean())
    if not weights.any():
        return AttributeTest(attribute, "", datasets, math.nan, expected, 1.0)
    weights /= weights.sum()
    observed = float(weights @ numbers)
    permuted = rng.permuted(np.broadcast_to(numbers, (PERMUTATIONS, len(numbers))), axis=1) @ weights
    # A permutation with the same mean may miss it in the last digits.
    hits = int((np.abs(permuted - expected) >= abs(observed - expected) * (1 - 1e-12)).sum())
    return AttributeTest(attribute, "", datasets, observed, expected, (1 + hits) / (1 + PERMUTATIONS))
