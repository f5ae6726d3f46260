"""Choosing data sets by integer programming: how many of some sums can be positive, and how few."""

from __future__ import annotations

import ctypes
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from deadheat.ranking.integers import Indices, Whole

STEADY = 1e-6  # what the solver takes for a whole number may be off by so much


def ahead_in_most(leads_TD: Whole, size: int, *, time_limit: float, fewest: bool = False) -> tuple[Indices, int]:
    """A subset of columns that makes most (or fewest) row sums positive, and a bound on how many (or few) can be.

    Notes
    -----
    For row t let d_t be its sum over the chosen columns, and y_t = 1 if that is positive. The fewest are min Σ y_t with
    d_t <= M_t y_t, where M_t is the sum of the row's k greatest numbers; the most are max Σ y_t with
    d_t >= 1 - (1 - m_t)(1 - y_t), where m_t is the sum of its k least. Rows that are always or never positive are
    settled beforehand.

    Examples
    --------
    >>> ahead_in_most(np.array([[1, -2, 3], [-1, 2, 2]]), 1, time_limit=10)
    (array([2]), 2)
    """
    ordered_TD = np.sort(leads_TD, axis=1)
    least_T, most_T = ordered_TD[:, :size].sum(axis=1), ordered_TD[:, -size:].sum(axis=1)
    always, open_ = int((least_T > 0).sum()), (least_T <= 0) & (most_T > 0)
    if not open_.any():
        return np.arange(size), always
    subset, ahead = _solved(leads_TD[open_], least_T[open_], most_T[open_], size, time_limit=time_limit, fewest=fewest)
    return subset, always + (math.ceil(ahead - STEADY) if fewest else math.floor(ahead + STEADY))


def _solved(
    leads_TD: Whole, least_T: Whole, most_T: Whole, size: int, *, time_limit: float, fewest: bool
) -> tuple[Indices, float]:
    from scipy.optimize import Bounds, LinearConstraint, milp

    rows, datasets = leads_TD.shape
    switch_T = -most_T if fewest else least_T - 1
    lead_rows = np.concatenate([leads_TD, np.diag(switch_T)], axis=1).astype(float)
    lead_rows /= np.abs(switch_T)[:, None]
    edge_T = (np.zeros(rows) if fewest else least_T) / np.abs(switch_T)
    far = np.full(rows, np.inf)
    limits = (-far, edge_T) if fewest else (edge_T, far)
    chosen_row = np.concatenate([np.ones(datasets), np.zeros(rows)])[None]
    cost = np.concatenate([np.zeros(datasets), np.full(rows, 1.0 if fewest else -1.0)])
    with _silent():
        solved = milp(
            cost,
            constraints=[LinearConstraint(lead_rows, *limits), LinearConstraint(chosen_row, size, size)],
            integrality=np.ones(len(cost)),
            bounds=Bounds(0, 1),
            options={"time_limit": time_limit},
        )
    told = solved.mip_dual_bound
    bound = float(told) if told is not None and math.isfinite(told) else (0.0 if fewest else -float(rows))
    subset = np.arange(size) if solved.x is None else np.sort(np.argsort(-solved.x[:datasets], kind="stable")[:size])
    return subset, bound if fewest else -bound


@contextmanager
def _silent() -> Iterator[None]:
    """Keep the solver from printing: now and then it writes a line of its own past all its settings."""
    try:
        kept = os.dup(1)
    except OSError:  # nothing to print to
        yield
        return
    library = ctypes.CDLL(None)
    sys.stdout.flush()
    library.fflush(None)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        library.fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
