"""How far systems agree with each other: Krippendorff's alpha, the sentences they disagree on, votes and oracles.

Labels are codes, one row a system and one column an item (`labels_SN`); -1 is no label. Codes are names and nothing
more: 3 is no nearer to 4 than to 40.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InputError
from deadheat.kernels.statistics import agreement_sums
from deadheat.stats.intervals import Values

MISSING = -1


@dataclass(frozen=True, slots=True)
class Agreement:
    """Krippendorff's alpha of some systems: 1 if they always agree, 0 if no more than by chance.

    `compared` counts the items that two systems or more have labelled, `disagreeing` those of them with different
    labels, `labels` the different labels on them.
    """

    alpha: float
    systems: int
    items: int
    compared: int
    disagreeing: int
    labels: int

    def __str__(self) -> str:
        value = "undefined (no item has two labels)" if math.isnan(self.alpha) else f"{self.alpha:.4f}"
        counts = f"{self.disagreeing} of {self.compared} items disagreed on"
        return f"Krippendorff's alpha {value}; {self.systems} systems, {counts}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "alpha": None if math.isnan(self.alpha) else self.alpha,
            "systems": self.systems,
            "items": self.items,
            "compared": self.compared,
            "disagreeing": self.disagreeing,
            "labels": self.labels,
        }


@dataclass(frozen=True, slots=True, eq=False)
class GroupAgreement:
    """Krippendorff's alpha in every group of items; NaN where no item of the group has two labels."""

    alpha_G: Values
    compared_G: NDArray[np.int64]
    disagreeing_G: NDArray[np.int64]

    def __str__(self) -> str:
        defined = self.alpha_G[~np.isnan(self.alpha_G)]
        if not len(defined):
            return f"alpha in {len(self.alpha_G)} groups: undefined in all"
        spread = f"median {np.median(defined):.4f}, lowest {defined.min():.4f}"
        left = len(self.alpha_G) - len(defined)
        return f"alpha in {len(defined)} groups: {spread}" + (f"; undefined in {left}" if left else "")

    def to_dict(self) -> dict[str, Any]:
        return {
            "alpha": [None if math.isnan(value) else value for value in self.alpha_G.tolist()],
            "compared": self.compared_G.tolist(),
            "disagreeing": self.disagreeing_G.tolist(),
        }


@dataclass(frozen=True, slots=True)
class GroupAlpha:
    """One group of items, counted from 0, and how far systems agree on it."""

    group: int
    alpha: float
    compared: int
    disagreeing: int

    def __str__(self) -> str:
        return f"group {self.group}: alpha {self.alpha:.4f}, {self.disagreeing} of {self.compared} items disagreed on"

    def to_dict(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "alpha": self.alpha,
            "compared": self.compared,
            "disagreeing": self.disagreeing,
        }


def alpha(labels_SN: ArrayLike) -> Agreement:
    """Krippendorff's alpha of systems that label the same items, for labels that are names.

    Notes
    -----
    1 - D_o / D_e. Of the m_u systems that label item u, n_uc give it the label c; items of fewer than two labels are
    left out; n = Σ_u m_u and n_c = Σ_u n_uc. The disagreement seen is D_o = 1 - Σ_u Σ_c n_uc (n_uc - 1) / (m_u - 1) n,
    that expected by chance D_e = 1 - Σ_c n_c (n_c - 1) / n(n - 1) (Krippendorff 2011). Where there is but one label
    both are 0 and Krippendorff leaves alpha undefined; here it is 1, because all labels that can be compared agree.
    NaN if none can.

    Examples
    --------
    >>> print(alpha([[0, 0, 1, 1, 2], [0, 0, 1, 2, 2], [0, 1, 1, -1, 2]]))
    Krippendorff's alpha 0.6000; 3 systems, 2 of 5 items disagreed on
    """
    labels = _checked(labels_SN)
    systems, items = labels.shape
    alphas, counts = _alphas(labels, np.array([0, items]))
    compared, disagreeing, kinds = counts[0, 2:].tolist()
    return Agreement(float(alphas[0]), systems, items, compared, disagreeing, kinds)


def alpha_by_group(labels_SN: ArrayLike, offsets: ArrayLike) -> GroupAgreement:
    """Krippendorff's alpha within every group of consecutive items, such as the words of each sentence.

    Parameters
    ----------
    labels_SN
        Codes, a row a system.
    offsets
        Where each group begins, and last the number of items: a corpus's `offsets`. A group may be empty.

    Notes
    -----
    As `alpha`, each group by itself: what agreement chance would give depends on the labels of the group alone.

    Examples
    --------
    >>> alpha_by_group([[0, 1, 2, 0, 0], [0, 1, 2, 0, 1]], [0, 3, 5]).alpha_G
    array([1., 0.])
    """
    labels = _checked(labels_SN)
    alphas, counts = _alphas(labels, _checked_offsets(offsets, labels.shape[1]))
    return GroupAgreement(alphas, counts[:, 2].copy(), counts[:, 3].copy())


def lowest_agreement(labels_SN: ArrayLike, offsets: ArrayLike, *, count: int = 5) -> tuple[GroupAlpha, ...]:
    """The groups systems agree on least: lowest alpha first, then more items disagreed on, then their order.

    Groups without an item of two labels are left out, and so are those without disagreement.

    Examples
    --------
    >>> for each in lowest_agreement([[0, 1, 2, 0, 0], [0, 1, 2, 0, 1]], [0, 3, 5]):
    ...     print(each)
    group 1: alpha 0.0000, 1 of 2 items disagreed on
    """
    if count < 1:
        raise InputError(f"lowest_agreement: count {count}; expected at least 1")
    found = alpha_by_group(labels_SN, offsets)
    # What is the same fraction may differ in the last bits, and would hide the second criterion.
    order = np.lexsort([-found.disagreeing_G, np.round(found.alpha_G, 12)])
    order = order[found.disagreeing_G[order] > 0][:count]
    columns = (found.alpha_G, found.compared_G, found.disagreeing_G)
    rows = zip(order.tolist(), *(column[order].tolist() for column in columns), strict=True)
    return tuple(GroupAlpha(*row) for row in rows)


def oracle(correct_SN: ArrayLike) -> NDArray[np.bool_]:
    """Which items at least one system gets right: what a perfect choice between them would reach.

    Examples
    --------
    >>> oracle([[True, False, False], [True, True, False]])
    array([ True,  True, False])
    """
    correct = np.asarray(correct_SN)
    if correct.ndim != 2 or not len(correct) or not ((correct == 0) | (correct == 1)).all():
        raise InputError(f"oracle: {_described(correct)}; expected right (1) or wrong (0), a row a system")
    right: NDArray[np.bool_] = np.logical_or.reduce(correct.astype(bool), axis=0)
    return right


def majority(labels_SN: ArrayLike) -> NDArray[np.int32]:
    """The label that most systems give each item, more than half or not; -1 where none gives one.

    Notes
    -----
    Of labels with as many votes, the one wins that the earliest of the systems gives: put the best system first.

    Examples
    --------
    >>> majority([[0, 1, 2], [0, 3, 3], [1, 3, 4]])
    array([0, 3, 2], dtype=int32)
    """
    labels = _checked(labels_SN)
    votes_SN = np.stack([(labels == row).sum(axis=0) for row in labels])
    votes_SN[labels == MISSING] = 0
    chosen: NDArray[np.int32] = np.take_along_axis(labels, votes_SN.argmax(axis=0)[None], axis=0)[0]
    return chosen


def _alphas(labels_SN: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Values, NDArray[np.int64]]:
    """Alpha, and the counts of the kernel, in each group."""
    groups = len(offsets) - 1
    codes = labels_SN
    if labels_SN.max(initial=0) > labels_SN.size:  # codes from a large vocabulary would need a large table
        codes = np.unique(labels_SN, return_inverse=True)[1].reshape(labels_SN.shape).astype(np.int32)
        codes -= np.int32((labels_SN == MISSING).any())
    agreeing, sums = np.empty(groups), np.empty(5 * groups, dtype=np.int64)
    room = np.zeros(2 * (int(codes.max(initial=0)) + 1), dtype=np.int64)
    agreement_sums(codes.ravel(), len(codes), offsets, room, agreeing, sums)
    counts = sums.reshape(groups, 5)
    total, pairs = counts[:, 0], counts[:, 1]
    different = total * (total - 1) - pairs
    with np.errstate(divide="ignore", invalid="ignore"):
        alphas = 1 - (total - 1) * (total - agreeing) / different
    alphas[different == 0] = 1.0
    alphas[total == 0] = math.nan
    return alphas, counts


def _checked(labels_SN: ArrayLike) -> NDArray[np.int32]:
    given = np.asarray(labels_SN)
    if given.ndim != 2 or not len(given) or given.dtype.kind not in "iub":
        raise InputError(f"labels: {_described(given)}; expected integer codes, a row a system")
    if given.size and not -1 <= int(given.min()) <= int(given.max()) < 2**31:
        wrong = int(given.min()) if given.min() < -1 else int(given.max())
        raise InputError(f"labels: code {wrong}; expected -1 for no label, or 0 to {2**31 - 1}")
    return np.ascontiguousarray(given, dtype=np.int32)


def _checked_offsets(offsets: ArrayLike, items: int) -> NDArray[np.int64]:
    given = np.asarray(offsets)
    if given.ndim != 1 or not len(given) or given.dtype.kind not in "iu":
        raise InputError(f"offsets: {_described(given)}; expected where each group begins and the last one ends")
    if given[0] != 0 or given[-1] != items or (given[1:] < given[:-1]).any():
        bounds = f"from {given[0]} to {given[-1]}"
        raise InputError(f"offsets: {bounds}; expected from 0 to {items}, the number of items, never less than before")
    return np.ascontiguousarray(given, dtype=np.int64)


def _described(array: NDArray[Any]) -> str:
    return f"an array of {array.dtype} of shape {array.shape}"
