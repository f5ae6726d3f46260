"""How far two distributions of counts lie apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


def entropy(counts: Counts) -> float:
    """The bits of the distribution that counts give; 0 for no counts."""
    seen = counts[counts > 0].astype(float)
    shares = seen / seen.sum() if len(seen) else seen
    return float(-(shares * np.log2(shares)).sum())


def jensen_shannon(first: Counts, second: Counts) -> float:
    """The Jensen-Shannon divergence of two distributions in bits, each counting the same: 0 if alike, 1 if disjoint.

    Examples
    --------
    >>> import numpy as np
    >>> jensen_shannon(np.array([2, 2]), np.array([5, 5])), jensen_shannon(np.array([3, 0]), np.array([0, 4]))
    (0.0, 1.0)
    """
    if not first.sum() or not second.sum():
        return float("nan")
    p, q = first / first.sum(), second / second.sum()
    middle = (p + q) / 2
    return float(max(0.0, (_relative(p, middle) + _relative(q, middle)) / 2))


def _relative(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    seen = p > 0
    return float((p[seen] * np.log2(p[seen] / q[seen])).sum())
