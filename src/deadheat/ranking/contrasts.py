"""Which option of a factor wins over configurations that agree in everything else (Reimers & Gurevych 2017).

Axes: N runs, C configurations, O options.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.stats.checks import Values
from deadheat.stats.corrections import correct
from deadheat.stats.distributions import DistributionTest, brown_forsythe
from deadheat.stats.wilcoxon import paired_differences, sign_test, signed_rank_rows
from deadheat.text import pluralize

Codes = NDArray[np.int64]
REPEATS = ("mean", "each")
TIES = ("most", "share")
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)  # that are told of differences
ROOM = 2**62  # keys of configurations are renumbered before they outgrow an integer


@dataclass(frozen=True, slots=True)
class Option:
    """How one option did over all configurations; more is better."""

    option: str
    wins: float  # share of configurations in which no other option is better
    median_delta: float  # median over configurations of this option's score less that of the best option
    mean: float
    median: float
    sd: float  # over configurations; NaN with one

    def __str__(self) -> str:
        return f"{self.option}: wins {self.wins:.1%}, median difference {self.median_delta:+.4f}, sd {self.sd:.4f}"


@dataclass(frozen=True, slots=True)
class OptionPair:
    """Two options over the same configurations, of which the means over runs are tested, and p-values are corrected.

    Pitman and Morgan's test is of whether the two vary equally over configurations; NaN with fewer than three.
    """

    a: str
    b: str
    a_better: int
    b_better: int
    median_delta: float  # a less b
    sign_p: float
    sign_p_corrected: float
    wilcoxon_p: float
    wilcoxon_p_corrected: float
    pitman_morgan_p: float
    pitman_morgan_p_corrected: float


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """The options of a factor over configurations, with the scores they rest on."""

    options: tuple[Option, ...]
    pairs: tuple[OptionPair, ...]
    best: str  # the option that wins most often
    spread: DistributionTest  # whether the options' scores vary equally over configurations
    tied: int  # configurations in which several options share the highest score
    scores_CO: Values  # a row a configuration, or a run of one where each run is paired
    means_CO: Values  # always a row a configuration: what is tested

    @property
    def configurations(self) -> int:
        return len(self.means_CO)

    @property
    def delta_quantiles_OQ(self) -> Values:
        """Over configurations, the quantiles of each option's score less that of the best option, by `QUANTILES`."""
        best = [each.option for each in self.options].index(self.best)
        rounded = paired_differences(self.scores_CO, np.zeros_like(self.scores_CO))
        quantiles: Values = np.quantile(rounded - rounded[:, [best]], QUANTILES, axis=0).T
        return quantiles

    def pair(self, a: str, b: str) -> OptionPair:
        """Two of the options, in whichever order they were tested."""
        return next(each for each in self.pairs if {each.a, each.b} == {a, b})

    def __str__(self) -> str:
        wins = ", ".join(f"{each.option} {each.wins:.1%}" for each in self.options)
        return f"{pluralize(self.configurations, 'configuration')}: {wins}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        quantiles = zip(self.options, self.delta_quantiles_OQ.tolist(), strict=True)
        return {
            "configurations": self.configurations,
            "tied": self.tied,
            "best": self.best,
            "options": [asdict(each) | {"delta_quantiles": told} for each, told in quantiles],
            "pairs": [asdict(each) for each in self.pairs],
            "spread": self.spread.to_dict(),
        }


def contrast_options(
    scores_CO: ArrayLike,
    options: Sequence[str],
    *,
    means_CO: ArrayLike | None = None,
    correction: str = "holm",
    ties: str = "most",
) -> Contrast:
    """Compare options by their scores in the same configurations.

    Parameters
    ----------
    means_CO
        A row a configuration, where `scores_CO` has one for each of several runs of it. Runs of one configuration are
        not independent of each other, so that tests, means and standard deviations rest on these; wins, medians and
        differences on `scores_CO`.

    Notes
    -----
    An option wins a configuration if its score there is the highest. Where several share it, the win goes to the one
    that wins most of the others, as in Reimers and Gurevych's tables (`ties` "most"), or is shared as well ("share").
    The best option is the one with most wins, and of several the one of the higher mean. Pairs are tested by signs and
    by Wilcoxon's signed ranks, and the p-values are corrected for all pairs, so that they hold also for the option
    that was chosen because it won. Spread is tested by Brown and Forsythe's test of all options, which takes the
    options for independent and so misses much, and for each pair by that of Pitman (1939) and Morgan (1939), which does
    not: a and b vary equally if and only if a + b and a - b do not correlate. It trusts scores to be about normal.

    Examples
    --------
    >>> print(contrast_options([[0.91, 0.90], [0.85, 0.86], [0.70, 0.66]], ["CRF", "Softmax"]))
    3 configurations: CRF 66.7%, Softmax 33.3%
    """
    scores = np.asarray(scores_CO, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] != len(options) or len(options) < 2 or not len(scores):
        expected = f"a row a configuration and a column for each of at least two options ({len(options)})"
        raise InputError(f"contrast: an array of shape {scores.shape}; expected {expected}")
    means = scores if means_CO is None else np.asarray(means_CO, dtype=np.float64)
    if means.ndim != 2 or means.shape[1] != len(options) or not len(means):
        raise InputError(f"contrast: means of shape {means.shape}; expected columns as of the scores, {scores.shape}")
    rounded = paired_differences(scores, np.zeros_like(scores))  # equal in decimals is equal
    top_CO = rounded == rounded.max(axis=1, keepdims=True)
    tied_C = top_CO.sum(axis=1) > 1
    means_O = means.mean(axis=0)
    wins_O = _wins(top_CO, means_O, ties)
    best = max(range(len(options)), key=lambda place: (round(float(wins_O[place]), 12), means_O[place]))
    deltas_O = np.median(rounded - rounded[:, [best]], axis=0)
    sds_O = means.std(axis=0, ddof=1) if len(means) > 1 else np.full(len(options), np.nan)
    columns = zip(options, wins_O, deltas_O, means_O, np.median(scores, axis=0), sds_O, strict=True)
    return Contrast(
        tuple(Option(name, *map(float, numbers)) for name, *numbers in columns),
        _pairs(rounded, paired_differences(means, np.zeros_like(means)), options, correction),
        options[best],
        brown_forsythe(*means.T),
        int(tied_C.sum()),
        scores,
        means,
    )


def _wins(top_CO: NDArray[np.bool_], means_O: Values, ties: str) -> Values:
    """The share of configurations that each option wins."""
    if ties not in TIES:
        raise NameUnknown("way with ties", ties, TIES)
    if ties == "share":
        shared: Values = (top_CO / top_CO.sum(axis=1, keepdims=True)).mean(axis=0)
        return shared
    clear_O = top_CO[top_CO.sum(axis=1) == 1].sum(axis=0)
    order = np.lexsort((-means_O, -clear_O))  # most wins first, and of equally many the higher mean
    winners_C = order[top_CO[:, order].argmax(axis=1)]
    return np.bincount(winners_C, minlength=len(means_O)) / len(top_CO)


def _pairs(scores_CO: Values, means_CO: Values, options: Sequence[str], correction: str) -> tuple[OptionPair, ...]:
    places = list(combinations(range(len(options)), 2))
    differences = np.stack([paired_differences(means_CO[:, a], means_CO[:, b]) for a, b in places])
    signs = [sign_test(row) for row in differences]
    ranks = signed_rank_rows(differences)
    sign_p, rank_p = ([float(test.p) for test in tests] for tests in (signs, ranks))
    spread_p = [_pitman_morgan(means_CO[:, a], means_CO[:, b]) for a, b in places]
    spread_corrected = spread_p if math.isnan(spread_p[0]) else correct(spread_p, correction)
    corrected = zip(correct(sign_p, correction), correct(rank_p, correction), spread_corrected, strict=True)
    return tuple(
        OptionPair(
            options[a],
            options[b],
            a_better=signs[k].positive,
            b_better=signs[k].negative,
            median_delta=float(np.median(paired_differences(scores_CO[:, a], scores_CO[:, b]))),
            sign_p=sign_p[k],
            sign_p_corrected=float(by_sign),
            wilcoxon_p=rank_p[k],
            wilcoxon_p_corrected=float(by_rank),
            pitman_morgan_p=spread_p[k],
            pitman_morgan_p_corrected=float(by_spread),
        )
        for k, ((a, b), (by_sign, by_rank, by_spread)) in enumerate(zip(places, corrected, strict=True))
    )


def _pitman_morgan(first_C: Values, second_C: Values) -> float:
    """Two-sided p of whether paired scores vary equally: whether their sums and differences correlate."""
    freedom = len(first_C) - 2
    if freedom < 1:
        return math.nan
    sums, differences = paired_differences(first_C, -second_C), paired_differences(first_C, second_C)
    if np.ptp(sums) == 0 or np.ptp(differences) == 0:
        return 1.0
    r = float(np.corrcoef(sums, differences)[0, 1])
    from scipy.special import stdtr

    t = r * math.sqrt(freedom / (1 - r * r)) if r * r < 1 else math.inf
    return float(2 * stdtr(freedom, -abs(t)))


def configuration_keys(settings: Sequence[Codes], runs: int) -> Codes:
    """One number a run, the same for two runs if and only if they agree in every setting.

    Examples
    --------
    >>> configuration_keys([np.array([0, 0, 1, 0]), np.array([2, 0, 2, 2])], 4).tolist()
    [1, 0, 2, 1]
    """
    keys, count = np.zeros(runs, np.int64), 1
    for codes in settings:
        levels = int(codes.max(initial=0)) + 1
        if count > ROOM // levels:
            keys, count = _renumbered(keys)
        keys = keys * levels + codes
        count *= levels
    return _renumbered(keys)[0]


def _renumbered(keys: Codes) -> tuple[Codes, int]:
    values, places = np.unique(keys, return_inverse=True)
    return places.astype(np.int64), len(values)


def paired_scores(
    keys_N: Codes, options_N: Codes, scores_N: Values, *, options: int, repeats: str = "mean"
) -> tuple[Values, NDArray[np.int64]]:
    """Scores by configuration and option, of the configurations that have all options; and each one's first run.

    Several runs of a configuration and option (seeds) are averaged, or, with `repeats` "each", kept: the i-th run
    of one option is then paired with the i-th of every other, as many as all of them have.

    Examples
    --------
    >>> keys, options = np.array([0, 0, 1, 0, 1]), np.array([0, 1, 0, 0, 0])
    >>> paired_scores(keys, options, np.array([3.0, 7.0, 1.0, 5.0, 2.0]), options=2)[0].tolist()
    [[4.0, 7.0]]
    >>> paired_scores(keys, options, np.array([3.0, 7.0, 1.0, 5.0, 2.0]), options=2, repeats="each")[0].tolist()
    [[3.0, 7.0]]
    """
    if repeats not in REPEATS:
        raise NameUnknown("way with repeated runs", repeats, REPEATS)
    keys, firsts = np.unique(keys_N, return_index=True)
    cells_N = np.searchsorted(keys, keys_N) * options + options_N
    counts_CO = np.bincount(cells_N, minlength=len(keys) * options).reshape(-1, options)
    whole = np.flatnonzero(counts_CO.min(axis=1, initial=len(keys_N)) > 0)
    order = np.argsort(cells_N, kind="stable")
    if repeats == "mean":
        sums = np.bincount(cells_N, scores_N, minlength=counts_CO.size).reshape(-1, options)
        return sums[whole] / counts_CO[whole], firsts[whole]
    starts_CO = (np.cumsum(counts_CO.ravel()) - counts_CO.ravel()).reshape(-1, options)[whole]
    shared = counts_CO[whole].min(axis=1, initial=len(keys_N))
    rows = np.repeat(np.arange(len(whole)), shared)
    nth = np.arange(len(rows)) - np.repeat(np.cumsum(shared) - shared, shared)
    return scores_N[order[starts_CO[rows] + nth[:, None]]], firsts[whole][rows]
