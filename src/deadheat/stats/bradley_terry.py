"""Strengths of systems from comparisons of two at a time, by Bradley and Terry's model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InputError
from deadheat.stats.checks import Values
from deadheat.stats.estimates import Estimate

POINTS = 400 / math.log(10)  # Elo points per unit of the logit: 400 points are odds of ten to one
STEPS, HALVINGS, TOLERANCE = 200, 60, 1e-10
Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Battles:
    """Comparisons of two systems: 1 where the first is preferred, 0 the second, 1/2 neither."""

    systems: tuple[str, ...]
    first_N: Indices
    second_N: Indices
    outcome_N: Values
    cluster_N: Indices  # battles with the same prompt, which are not independent

    def only(self, kept: Sequence[int]) -> Battles:
        """The battles among some of the systems."""
        number_S = np.full(len(self.systems), -1)
        number_S[list(kept)] = np.arange(len(kept))
        first_N, second_N = number_S[self.first_N], number_S[self.second_N]
        among_N = (first_N >= 0) & (second_N >= 0)
        names = tuple(self.systems[at] for at in kept)
        clusters = np.unique(self.cluster_N[among_N], return_inverse=True)[1]
        return Battles(names, first_N[among_N], second_N[among_N], self.outcome_N[among_N], clusters)

    def wins(self) -> Values:
        """Wins of every system over every other one, ties as half wins."""
        wins_SS = np.zeros((len(self.systems), len(self.systems)))
        np.add.at(wins_SS, (self.first_N, self.second_N), self.outcome_N)
        np.add.at(wins_SS, (self.second_N, self.first_N), 1 - self.outcome_N)
        return wins_SS

    def comparable(self) -> list[list[int]]:
        """Groups of systems that won against and lost to each other, directly or over others; largest first.

        Only within a group do strengths have a maximum of the likelihood (Ford 1957).
        """
        from scipy.sparse.csgraph import connected_components

        number, group_S = connected_components(self.wins() > 0, directed=True, connection="strong")
        groups = [np.flatnonzero(group_S == group).tolist() for group in range(number)]
        return sorted(groups, key=len, reverse=True)

    def is_connected(self) -> bool:
        """Whether every two systems met, directly or over others."""
        from scipy.sparse.csgraph import connected_components

        return bool(connected_components(self.wins() > 0, directed=False)[0] == 1)


@dataclass(frozen=True, slots=True, eq=False)
class BradleyTerry:
    """Strengths in Elo points, whose mean is 0, with their covariance and the clusters in which each system occurs."""

    strengths_S: Values
    covariance_SS: Values
    clusters_S: Indices

    def strength(self, system: int) -> Estimate:
        """The strength of a system, relative to the mean of all."""
        return self._estimate(np.eye(len(self.strengths_S))[system], float(self.clusters_S[system]))

    def difference(self, first: int, second: int) -> Estimate:
        """The difference of two strengths."""
        unit_SS = np.eye(len(self.strengths_S))
        clusters = float(min(self.clusters_S[first], self.clusters_S[second]))
        return self._estimate(unit_SS[first] - unit_SS[second], clusters)

    def _estimate(self, weights_S: Values, clusters: float) -> Estimate:
        value = float(weights_S @ self.strengths_S)
        if clusters < 2:
            return Estimate(value, math.nan, math.nan)
        variance = float(weights_S @ self.covariance_SS @ weights_S)
        return Estimate(value, math.sqrt(max(0.0, variance)), clusters - 1)


def expected_score(difference: float) -> float:
    """The chance to be preferred, ties counted as half, at a difference in Elo points.

    Examples
    --------
    >>> round(expected_score(100), 3)
    0.64
    """
    return 0.5 * (1 + math.tanh(difference / POINTS / 2))


def bradley_terry(battles: Battles) -> BradleyTerry:
    """Fit the strengths of systems by maximum likelihood, with errors that allow for clusters.

    Notes
    -----
    The chance that i is preferred to j is 1 / (1 + exp(s_j - s_i)); a tie is half a win of both (Bradley and Terry
    1952). The expected score, wins and half of the ties, is then logistic in the difference of strengths, whatever the
    share of ties: an M-estimate, whose covariance is the sandwich H⁻¹ (Σ_c g_c g_cᵀ) H⁻¹ over clusters c, with
    g_c the sum of the score vectors of their battles and H the information, times C / (C - 1) N / (N - S + 1). The
    degrees of freedom of a difference are the clusters in which the rarer of both systems occurs, minus 1.

    Examples
    --------
    >>> import numpy as np
    >>> outcomes = np.repeat([1.0, 0.5, 0.0], [60, 20, 20])
    >>> first, second = np.zeros(100, int), np.ones(100, int)
    >>> fit = bradley_terry(Battles(("A", "B"), first, second, outcomes, np.arange(100)))
    >>> estimate = fit.difference(0, 1)
    >>> round(estimate.value, 1), str(estimate.interval())
    (147.2, '[80.8716, 213.5099] (95 % t)')
    """
    from scipy.sparse import csr_array

    wins_SS = battles.wins()
    systems, number = len(battles.systems), len(battles.outcome_N)
    if systems < 2 or len(battles.comparable()) > 1:
        raise InputError("battles: systems without a common scale; expected each to win and lose against the others")
    met_SS, mean_SS = wins_SS + wins_SS.T, np.full((systems, systems), 1 / systems)
    strengths_S = np.zeros(systems)
    for _ in range(STEPS):
        chance_SS = _chances(strengths_S)
        slope_S = (wins_SS - met_SS * chance_SS).sum(axis=1)
        inverse_SS = np.linalg.inv(_information(met_SS, chance_SS) + mean_SS)
        step_S = inverse_SS @ slope_S
        before = _log_likelihood(wins_SS, strengths_S)
        for _ in range(HALVINGS):
            if _log_likelihood(wins_SS, strengths_S + step_S) >= before - 1e-12 * abs(before):
                break
            step_S = step_S / 2
        strengths_S = strengths_S + step_S
        if float(np.abs(step_S).max()) < TOLERANCE:
            break
    chance_SS = _chances(strengths_S)
    rest_N = battles.outcome_N - chance_SS[battles.first_N, battles.second_N]
    clusters = int(battles.cluster_N.max()) + 1
    columns = np.concatenate([battles.first_N, battles.second_N])
    places = np.tile(battles.cluster_N, 2), columns
    slopes_CS = csr_array((np.concatenate([rest_N, -rest_N]), places), shape=(clusters, systems))
    inverse_SS = np.linalg.inv(_information(met_SS, chance_SS) + mean_SS)
    factor = clusters / max(1, clusters - 1) * number / max(1, number - systems + 1)
    covariance_SS = POINTS**2 * factor * inverse_SS @ (slopes_CS.T @ slopes_CS).toarray() @ inverse_SS
    occurs_CS = csr_array((np.ones(2 * number), places), shape=(clusters, systems))
    occurs_S = np.bincount(occurs_CS.indices, minlength=systems)
    strengths_S = strengths_S - strengths_S.mean()
    return BradleyTerry(POINTS * strengths_S, covariance_SS, occurs_S)


def _chances(strengths_S: Values) -> Values:
    from scipy.special import expit

    chances: Values = expit(strengths_S[:, None] - strengths_S)
    return chances


def _information(met_SS: Values, chance_SS: Values) -> Values:
    weights_SS = met_SS * chance_SS * (1 - chance_SS)
    information: Values = np.diag(weights_SS.sum(axis=1)) - weights_SS
    return information


def _log_likelihood(wins_SS: Values, strengths_S: Values) -> float:
    from scipy.special import log_expit

    return float((wins_SS * log_expit(strengths_S[:, None] - strengths_S)).sum())
