"""Agreement between systems on labels, and between rankings of systems.

Labels are nominal codes, one row per system and one column per item (`labels_SN`); -1 is a missing label. Rankings are
given as scores, the greatest first; if all systems are tied, the correlation is NaN. The time of rank correlations is
quadratic in the number of systems: a thousand rankings of 80 take 7 ms, one of 10,000 items 0.1 s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.kernels.statistics import agreement_sums, tau_sums
from deadheat.stats.checks import Values

MISSING = -1
RANKED_BY = ("both", "first", "second")


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
    starts, items = np.asarray(offsets), labels.shape[1]
    if starts.ndim != 1 or not len(starts) or starts.dtype.kind not in "iu":
        raise InputError(f"offsets: {_describe(starts)}; expected the starts of the groups and the number of items")
    if starts[0] != 0 or starts[-1] != items or (starts[1:] < starts[:-1]).any():
        bounds = f"from {starts[0]} to {starts[-1]}"
        raise InputError(f"offsets: {bounds}; expected increasing numbers from 0 to {items}, the number of items")
    alphas, counts = _alphas(labels, np.ascontiguousarray(starts, dtype=np.int64))
    return GroupAgreement(alphas, counts[:, 2].copy(), counts[:, 3].copy())


def lowest_agreement(labels_SN: ArrayLike, offsets: ArrayLike, *, count: int = 5) -> list[tuple[int, float]]:
    """Return the groups with disagreement and their alpha, the lowest first, then those with most disagreeing items."""
    if count < 1:
        raise InputError(f"lowest_agreement: count {count}; expected at least 1")
    groups = alpha_by_group(labels_SN, offsets)
    # Equal fractions may differ in the last bits, which would hide the second criterion.
    order = np.lexsort([-groups.disagreeing_G, np.round(groups.alpha_G, 12)])
    order = order[groups.disagreeing_G[order] > 0][:count]
    return list(zip(order.tolist(), groups.alpha_G[order].tolist(), strict=True))


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


def _describe(array: NDArray[Any]) -> str:
    return f"an array of {array.dtype} of shape {array.shape}"


def kendall(first_S: ArrayLike, second_S: ArrayLike) -> float:
    """Return Kendall's tau-b of two rankings; see `kendall_rows`.

    Examples
    --------
    >>> print(round(kendall([12, 2, 1, 12, 2], [1, 4, 7, 1, 0]), 4))
    -0.4714
    """
    return float(kendall_rows(*_one_row(first_S, second_S))[0])


def kendall_rows(first_BS: ArrayLike, second: ArrayLike) -> Values:
    """Return Kendall's tau-b of each row with one ranking, or with the same row of another matrix.

    (C - D) / √((C + D + T_x)(C + D + T_y)), with C pairs of systems in the same order, D in opposite order, T_x tied in
    the second ranking only and T_y in the first only (Kendall 1945). NaN where all are tied.
    """
    first, others = _check_rankings(first_BS, second)
    sums_B6 = _pair_sums(first, others, np.ones(first.shape[1]))
    return _ratio(sums_B6[:, :3])


def weighted_kendall(first_S: ArrayLike, second_S: ArrayLike, *, ranked_by: str = "both") -> float:
    """Return Vigna's weighted tau of two rankings; see `weighted_kendall_rows`.

    Examples
    --------
    >>> print(round(weighted_kendall([12, 2, 1, 12, 2], [1, 4, 7, 1, 0]), 4))
    -0.5669
    """
    return float(weighted_kendall_rows(*_one_row(first_S, second_S), ranked_by=ranked_by)[0])


def weighted_kendall_rows(first_BS: ArrayLike, second: ArrayLike, *, ranked_by: str = "both") -> Values:
    """Return the top-weighted Kendall's tau of each row with one ranking, or with the same row of another matrix.

    As tau-b, but a pair of systems of ranks r and s (from 0) counts 1/(r + 1) + 1/(s + 1) (Vigna 2015, the additive
    hyperbolic weigher). Ranks come from the first ranking, ties broken by the second ("first"), the other way round
    ("second"), or tau is the mean of both ("both"). Equals `scipy.stats.weightedtau`. NaN where all are tied.
    """
    if ranked_by not in RANKED_BY:
        raise NameUnknown("ranking to take ranks from", ranked_by, RANKED_BY)
    first, others = _check_rankings(first_BS, second)
    sums_B6 = _pair_sums(first, others, 1 / np.arange(1.0, first.shape[1] + 1))
    by_first, by_second = _ratio(sums_B6[:, :3]), _ratio(sums_B6[:, 3:])
    return {"both": (by_first + by_second) / 2, "first": by_first, "second": by_second}[ranked_by]


def spearman(first_S: ArrayLike, second_S: ArrayLike) -> float:
    """Return Spearman's rho of two rankings; see `spearman_rows`.

    Examples
    --------
    >>> print(round(spearman([1, 2, 3, 4], [1, 3, 2, 4]), 4))
    0.8
    """
    return float(spearman_rows(*_one_row(first_S, second_S))[0])


def spearman_rows(first_BS: ArrayLike, second: ArrayLike) -> Values:
    """Return Spearman's rho of each row with one ranking, or with the same row of another matrix.

    The correlation of mean ranks (Spearman 1904). Sums of doubled ranks are integers and so exact. NaN where all are
    tied.
    """
    first, others = _check_rankings(first_BS, second)
    middle = first.shape[1] + 1
    x, y = doubled_ranks(first) - middle, doubled_ranks(others) - middle
    product = (x * y).sum(axis=1)
    return _ratio(np.stack([product, (x * x).sum(axis=1), np.broadcast_to((y * y).sum(axis=1), len(x))], axis=1))


def doubled_ranks(values_BN: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return twice the mean rank of every value in its row, an integer; 2 is the smallest value."""
    order = np.argsort(values_BN, axis=1, kind="stable")
    ordered = np.take_along_axis(values_BN, order, axis=1)
    positions = np.arange(values_BN.shape[1])
    step = ordered[:, 1:] != ordered[:, :-1]
    edge = np.ones((len(values_BN), 1), dtype=bool)
    begins, ends = np.concatenate([edge, step], axis=1), np.concatenate([step, edge], axis=1)
    first = np.maximum.accumulate(np.where(begins, positions, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, positions, len(positions))[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(values_BN.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, first + last + 2, axis=1)
    return ranks


def _pair_sums(first_BS: Values, second_BS: Values, weights_S: Values) -> Values:
    rows, size = first_BS.shape
    sums = np.empty(6 * rows)
    step = size if len(second_BS) == rows else 0
    tau_sums(first_BS.ravel(), second_BS.ravel(), rows, size, step, weights_S, sums)
    return sums.reshape(rows, 6)


def _ratio(sums_B3: NDArray[np.float64] | NDArray[np.int64]) -> Values:
    """Return u / √(v w) of columns (u, v, w), NaN where v or w is 0."""
    product, x, y = sums_B3.astype(np.float64).T
    with np.errstate(invalid="ignore"):
        ratio: Values = np.clip(product / np.sqrt(x * y), -1, 1)
    return ratio


def _one_row(first_S: ArrayLike, second_S: ArrayLike) -> tuple[Values, Values]:
    first, second = np.asarray(first_S, dtype=np.float64), np.asarray(second_S, dtype=np.float64)
    if first.ndim != 1 or second.ndim != 1:
        raise InputError(f"rankings: arrays of shapes {first.shape} and {second.shape}; expected one score per system")
    return first[None], second


def _check_rankings(first_BS: ArrayLike, second: ArrayLike) -> tuple[Values, Values]:
    """Return both as matrices; the second may have one row."""
    first = np.ascontiguousarray(first_BS, dtype=np.float64)
    others = np.ascontiguousarray(second, dtype=np.float64)
    fits = first.ndim == 2 and (others.shape == first.shape or others.shape == first.shape[1:])
    if not fits:
        expected = "rankings in rows, and one or as many rankings of the same systems"
        raise InputError(f"rankings: arrays of shapes {first.shape} and {others.shape}; expected {expected}")
    if first.shape[1] < 2:
        raise InputError(f"rankings: of {first.shape[1]} systems; expected at least 2")
    others = others.reshape(-1, first.shape[1])
    for which, scores in (("first", first), ("second", others)):
        wrong = np.argwhere(~np.isfinite(scores))
        if len(wrong):
            row, system = wrong[0]
            where = f"{which} rankings, row {row + 1}, system {system + 1}"
            raise InputError(f"{where}: score {scores[row, system]}; expected a finite number")
    return first, others
