"""Whether a sample of a test set finds the same differences significant, by almost stochastic order over runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.stats.aso import aso_matrix
from deadheat.stats.checks import Values

TAU = 0.5  # below which a bound stands for a better system, in van der Goot et al. (2024)
RESAMPLES = 200


@dataclass(frozen=True, slots=True, eq=False)
class AsoAgreement:
    """How far almost stochastic order on samples is from that on the other side, a number a draw.

    `disagreement` is the share of ordered pairs of systems for which one side has eps_min < 0.5 and the other has not;
    `distance` is the mean of |eps_min - eps_min|. NaN for a draw in which some run has no score.
    """

    disagreement_B: Values
    distance_B: Values
    systems: int  # with two runs or more

    @property
    def disagreement(self) -> float:
        return _mean(self.disagreement_B)

    @property
    def distance(self) -> float:
        return _mean(self.distance_B)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        draws = len(self.disagreement_B)
        found = {"draws": draws, "systems": self.systems, "disagreement": self.disagreement, "distance": self.distance}
        known = self.disagreement_B[~np.isnan(self.disagreement_B)]
        most = float(known.max()) if len(known) else math.nan
        return found | {"most_disagreement": most}


def aso_agreement(scores_BR: Values, against_BR: Values, systems: Sequence[str], *, seed: int) -> AsoAgreement | None:
    """Compare the two sides draw by draw; None unless two systems have two runs or more.

    Resamples of runs are the same for every sample, so that two samples with the same scores agree entirely.

    Examples
    --------
    >>> import numpy as np
    >>> names, apart, mixed = ["a", "a", "b", "b"], [0.9, 0.91, 0.7, 0.71], [0.7, 0.9, 0.8, 0.9]
    >>> aso_agreement(np.array([apart, mixed]), np.array([apart]), names, seed=0).disagreement_B
    array([0. , 0.5])
    """
    several = [name for name in dict.fromkeys(systems) if list(systems).count(name) > 1]
    if len(several) < 2:
        return None
    rows = [np.flatnonzero(np.array(systems) == name) for name in several]
    apart = ~np.eye(len(several), dtype=bool)
    disagreement_B, distance_B = np.full(len(scores_BR), math.nan), np.full(len(scores_BR), math.nan)
    others = [_bounds(scores_R, rows, seed) for scores_R in against_BR]
    for draw, scores_R in enumerate(scores_BR):
        mine, other = _bounds(scores_R, rows, seed), others[draw if len(others) > 1 else 0]
        if mine is None or other is None:
            continue
        disagreement_B[draw] = np.mean((mine < TAU)[apart] != (other < TAU)[apart])
        distance_B[draw] = np.mean(np.abs(mine - other)[apart])
    return AsoAgreement(disagreement_B, distance_B, len(several))


def _bounds(scores_R: Values, rows: Sequence[Any], seed: int) -> Values | None:
    """eps_min of every two systems; None where a run has no score."""
    own = [scores_R[each] for each in rows]
    if not all(np.isfinite(each).all() for each in own):
        return None
    return aso_matrix(own, rng=np.random.default_rng(seed), resamples=RESAMPLES).bound_SS


def _mean(values_B: Values) -> float:
    known = values_B[~np.isnan(values_B)]
    return float(known.mean()) if len(known) else math.nan
