"""Agreement between systems: Krippendorff's alpha, the sentences with the least agreement, majority vote and oracle.

Labels are nominal codes, one row per system and one column per item (`labels_SN`); -1 is a missing label.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InputError
from deadheat.kernels.statistics import agreement_sums
from deadheat.stats.checks import Values

MISSING = -1


@dataclass(frozen=True, slots=True)
class Agreement:
    """Krippendorff's alpha: 1 for perfect agreement, 0 for agreement by chance.

    `compared` counts the items with labels of two or more systems, `disagreeing` those of them with different labels,
    `labels` the different labels on them.
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


@dataclass(frozen=True, slots=True, eq=False)
class GroupAgreement:
    """Krippendorff's alpha of every group of items; NaN where no item of the group has two labels."""

    alpha_G: Values
    compared_G: NDArray[np.int64]
    disagreeing_G: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GroupAlpha:
    """The agreement on one group of items; groups are numbered from 0."""

    group: int
    alpha: float
    compared: int
    disagreeing: int

    def __str__(self) -> str:
        return f"group {self.group}: alpha {self.alpha:.4f}, {self.disagreeing} of {self.compared} items disagreed on"


def alpha(labels_SN: ArrayLike) -> Agreement:
    """Return Krippendorff's alpha of nominal labels.

    Notes
    -----
    1 - D_o / D_e. Of the m_u systems that label item u, n_uc give it the label c; items of fewer than two labels are
    left out; n = Σ_u m_u and n_c = Σ_u n_uc. The disagreement seen is D_o = 1 - Σ_u Σ_c n_uc (n_uc - 1) / (m_u - 1) n,
    that expected by chance D_e = 1 - Σ_c n_c (n_c - 1) / n(n - 1) (Krippendorff 2011). Where there is only one
    label both are 0 and alpha is undefined; here it is 1, because all labels agree. NaN if no labels can be compared.

    Examples
    --------
    >>> print(alpha([[0, 0, 1, 1, 2], [0, 0, 1, 2, 2], [0, 1, 1, -1, 2]]))
    Krippendorff's alpha 0.6000; 3 systems, 2 of 5 items disagreed on
    """
    labels = _check_labels(labels_SN)
    systems, items = labels.shape
    alphas, counts = _alphas(labels, np.array([0, items]))
    compared, disagreeing, kinds = counts[0, 2:].tolist()
    return Agreement(float(alphas[0]), systems, items, compared, disagreeing, kinds)


def alpha_by_group(labels_SN: ArrayLike, offsets: ArrayLike) -> GroupAgreement:
    """Return Krippendorff's alpha of every group of consecutive items, such as the words of each sentence.

    `offsets` are the starts of the groups and the number of items, like those of a corpus. Chance agreement depends on
    the labels of the group only.
    """
    labels = _check_labels(labels_SN)
    alphas, counts = _alphas(labels, _check_offsets(offsets, labels.shape[1]))
    return GroupAgreement(alphas, counts[:, 2].copy(), counts[:, 3].copy())


def lowest_agreement(labels_SN: ArrayLike, offsets: ArrayLike, *, count: int = 5) -> tuple[GroupAlpha, ...]:
    """Return the groups with disagreement, by increasing alpha, then by decreasing number of disagreeing items."""
    if count < 1:
        raise InputError(f"lowest_agreement: count {count}; expected at least 1")
    groups = alpha_by_group(labels_SN, offsets)
    # Equal fractions may differ in the last bits, which would hide the second criterion.
    order = np.lexsort([-groups.disagreeing_G, np.round(groups.alpha_G, 12)])
    order = order[groups.disagreeing_G[order] > 0][:count]
    columns = (groups.alpha_G, groups.compared_G, groups.disagreeing_G)
    rows = zip(order.tolist(), *(column[order].tolist() for column in columns), strict=True)
    return tuple(GroupAlpha(*row) for row in rows)


def oracle(correct_SN: ArrayLike) -> NDArray[np.bool_]:
    """Flag the items that at least one system gets right."""
    correct = np.asarray(correct_SN)
    if correct.ndim != 2 or not len(correct) or not ((correct == 0) | (correct == 1)).all():
        raise InputError(f"oracle: {_describe(correct)}; expected right (1) or wrong (0), one row per system")
    right: NDArray[np.bool_] = np.logical_or.reduce(correct.astype(bool), axis=0)
    return right


def majority(labels_SN: ArrayLike) -> NDArray[np.int32]:
    """Return the most frequent label of each item; -1 where there is none.

    Ties are broken in favour of the first system that gives one of the labels, so put the best system first.
    """
    labels = _check_labels(labels_SN)
    votes_SN = np.stack([(labels == row).sum(axis=0) for row in labels])
    votes_SN[labels == MISSING] = 0
    chosen: NDArray[np.int32] = np.take_along_axis(labels, votes_SN.argmax(axis=0)[None], axis=0)[0]
    return chosen


def _alphas(labels_SN: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Values, NDArray[np.int64]]:
    """Return alpha and the counts of the kernel for each group."""
    groups = len(offsets) - 1
    codes = labels_SN
    if labels_SN.max(initial=0) > labels_SN.size:  # codes from a large vocabulary would need a large table
        codes = np.unique(labels_SN, return_inverse=True)[1].reshape(labels_SN.shape).astype(np.int32)
        codes -= np.int32((labels_SN == MISSING).any())
    agreeing, sums = np.empty(groups), np.empty(5 * groups, dtype=np.int64)
    workspace = np.zeros(2 * (int(codes.max(initial=0)) + 1), dtype=np.int64)
    agreement_sums(codes.ravel(), len(codes), offsets, workspace, agreeing, sums)
    counts = sums.reshape(groups, 5)
    total, pairs = counts[:, 0], counts[:, 1]
    different = total * (total - 1) - pairs
    with np.errstate(divide="ignore", invalid="ignore"):
        alphas = 1 - (total - 1) * (total - agreeing) / different
    alphas[different == 0] = 1.0
    alphas[total == 0] = math.nan
    return alphas, counts


def _check_labels(labels_SN: ArrayLike) -> NDArray[np.int32]:
    labels = np.asarray(labels_SN)
    if labels.ndim != 2 or not len(labels) or labels.dtype.kind not in "iub":
        raise InputError(f"labels: {_describe(labels)}; expected integer codes, one row per system")
    if labels.size and not -1 <= int(labels.min()) <= int(labels.max()) < 2**31:
        wrong = int(labels.min()) if labels.min() < -1 else int(labels.max())
        raise InputError(f"labels: code {wrong}; expected -1 for no label, or 0 to {2**31 - 1}")
    return np.ascontiguousarray(labels, dtype=np.int32)


def _check_offsets(offsets: ArrayLike, items: int) -> NDArray[np.int64]:
    result = np.asarray(offsets)
    if result.ndim != 1 or not len(result) or result.dtype.kind not in "iu":
        raise InputError(f"offsets: {_describe(result)}; expected the starts of the groups and the number of items")
    if result[0] != 0 or result[-1] != items or (result[1:] < result[:-1]).any():
        bounds = f"from {result[0]} to {result[-1]}"
        raise InputError(f"offsets: {bounds}; expected increasing numbers from 0 to {items}, the number of items")
    return np.ascontiguousarray(result, dtype=np.int64)


def _describe(array: NDArray[Any]) -> str:
    return f"an array of {array.dtype} of shape {array.shape}"
