"""How the scores of items become the score of a system: a value of summed statistics, as for every other metric.

The first three statistics of an item are its part of the numerator, and twice its size, so that the weight of an item
or of a cluster of items is known wherever statistics are summed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deadheat.metrics.metric import FIELDS, Sums, Values, f1, ratio


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A name, the names of the statistics, and what turns their sums into a score."""

    name: str
    fields: tuple[str, ...]
    value: Callable[[Sums], Values]
    signed: bool = False  # whether a score may be below 0


def _mean(sums: Sums) -> Values:
    return ratio(sums[..., 0], sums[..., 1], empty=np.nan)


def _perplexity(sums: Sums) -> Values:
    values: Values = np.exp(-ratio(sums[..., 0], sums[..., 1], empty=np.nan))
    return values


def _bits(sums: Sums) -> Values:
    values: Values = -ratio(sums[..., 0], sums[..., 1], empty=np.nan) / np.log(2)
    return values


MEAN = Aggregate("mean", ("score", "items", "items"), _mean)
PERPLEXITY = Aggregate("perplexity", ("log-likelihood", "words", "words"), _perplexity)
BITS = Aggregate("bits", ("log-likelihood", "bytes", "bytes"), _bits)
F1 = Aggregate("f1", FIELDS, f1)
AGGREGATES = {aggregate.name: aggregate for aggregate in (MEAN, PERPLEXITY, BITS, F1)}
