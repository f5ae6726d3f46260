"""How subsets of data sets are drawn: freely, in proportion to groups, one of each group, or all of them in turn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError
from deadheat.kernels.subsets import EVERY_SUBSET, ONE_PER_GROUP, STRATIFIED, draw_samples
from deadheat.text import pluralize

Indices = NDArray[np.int64]
Key = NDArray[np.uint64]
LARGEST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """A way to draw subsets; sample b depends on the key and on b alone."""

    name: str
    kind: int
    size: int
    starts: Indices  # data sets of group g: pool[starts[g]:starts[g + 1]]
    pool: Indices
    binomials: Indices

    @property
    def datasets(self) -> int:
        return len(self.pool)

    @property
    def lists_all(self) -> bool:
        return self.kind == EVERY_SUBSET

    @property
    def uniform(self) -> bool:
        """Whether every subset of the size is as likely as any other."""
        return self.lists_all or (self.kind == STRATIFIED and len(self.starts) == 2)

    def arguments(self) -> tuple[Indices, Indices, Indices, Indices, Indices, Indices]:
        """What kernels need of it: starts, pool, groups, binomials, and room for a draw."""
        groups = np.arange(len(self.starts) - 1)
        room = np.empty(self.datasets, np.int64)
        return self.starts, self.pool.copy(), groups, self.binomials, room, np.empty(self.size, np.int64)

    def draw(self, key: Key, numbers: Sequence[int] | Indices) -> Indices:
        """The data sets of these samples, in growing order, a row a sample.

        Examples
        --------
        >>> every_subset(4, 2).draw(np.zeros(1, np.uint64), range(6)).tolist()
        [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]
        """
        wanted = np.asarray(numbers, np.int64)
        drawn = np.empty(len(wanted) * self.size, np.int64)
        draw_samples(key, wanted, self.kind, self.size, *self.arguments(), drawn)
        return drawn.reshape(-1, self.size)


def free(datasets: int, size: int) -> Design:
    """Every subset of the size is equally likely."""
    _check_size(datasets, size)
    return Design("free", STRATIFIED, size, np.array([0, datasets]), np.arange(datasets), np.zeros(1, np.int64))


def every_subset(datasets: int, size: int) -> Design:
    """All subsets of the size in turn: sample b is the b-th of them."""
    _check_size(datasets, size)
    table = [[min(math.comb(n, j + 1), LARGEST) for n in range(datasets)] for j in range(size)]
    binomials = np.array(table, np.int64).ravel()
    return Design("all", EVERY_SUBSET, size, np.array([0, datasets]), np.arange(datasets), binomials)


def stratified(labels: Sequence[object], size: int) -> Design:
    """Each group gives its share of the subset, rounded up or down by chance; all data sets are equally likely.

    Groups are taken in another order in every draw, so that those of one size are alike in all respects.
    """
    _check_size(len(labels), size)
    starts, pool = _grouped(labels)
    return Design("stratified", STRATIFIED, size, starts, pool, np.zeros(1, np.int64))


def one_per_group(labels: Sequence[object], size: int | None = None) -> Design:
    """One data set of every group, or of as many groups as asked for."""
    starts, pool = _grouped(labels)
    groups = len(starts) - 1
    size = groups if size is None else size
    if not 1 <= size <= groups:
        raise InputError(f"subsets of {size} with one data set a group; expected between 1 and {groups}, the groups")
    return Design("one per group", ONE_PER_GROUP, size, starts, pool, np.zeros(1, np.int64))


def _grouped(labels: Sequence[object]) -> tuple[Indices, Indices]:
    """Where groups start, and data sets by group, in the order in which groups first appear."""
    known = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    codes = np.array([known[label] for label in labels], np.int64)
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(known)))])
    return starts, np.argsort(codes, kind="stable")


def _check_size(datasets: int, size: int) -> None:
    if not 1 <= size <= datasets:
        known = pluralize(datasets, "data set")
        raise InputError(f"subsets of {size:,} of {known}; expected between 1 and {datasets:,}")
