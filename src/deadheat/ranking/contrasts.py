"""Which option of a factor wins over configurations that agree in everything else (Reimers & Gurevych 2017).

Axes: N runs, C configurations, O options.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InputError, NameUnknown
from deadheat.stats.checks import Values
from deadheat.stats.corrections import correct, correct_defined
from deadheat.stats.differences import paired_differences, sign_test, signed_rank_rows
from deadheat.stats.distributions import paired_brown_forsythe

Codes = NDArray[np.int64]
REPEATS = ("mean", "each")
TIES = ("most", "share")
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
MAX_KEY = 2**62  # keys of configurations are renumbered before they overflow


@dataclass(frozen=True, slots=True)
class Option:
    """Scores of one option over all configurations."""

    option: str
    wins: float  # share of configurations in which no other option is better
    median_difference: float  # over configurations, of this option's score minus that of the best option
    mean: float
    median: float
    sd: float  # over configurations; NaN with one
    difference_quantiles: tuple[float, ...]  # minimum, 5, 25, 50, 75 and 95% quantile, maximum


@dataclass(frozen=True, slots=True)
class OptionPair:
    """Tests of two options on the means of configurations; p-values are corrected for all pairs of options."""

    a: str
    b: str
    a_better: int
    b_better: int
    median_difference: float  # a minus b
    sign_p: float
    sign_p_corrected: float
    smallest_p: float  # the smallest corrected p-value that the sign test can give with so many configurations
    wilcoxon_p: float
    wilcoxon_p_corrected: float
    spread_p: float  # of an equal spread of scores over configurations; NaN with fewer than five
    spread_p_corrected: float


@dataclass(frozen=True, slots=True)
class OptionComparison:
    """The options of a factor, compared over configurations."""

    options: tuple[Option, ...]
    pairs: tuple[OptionPair, ...]
    best: str  # the option that wins most often
    tied: int  # configurations in which several options share the highest score
    configurations: int
    pairings: int  # as many as configurations; more where each of several runs is paired

    def __getitem__(self, option: str) -> Option:
        for row in self.options:
            if row.option == option:
                return row
        raise NameUnknown("option", option, [row.option for row in self.options])

    def pair(self, a: str, b: str) -> OptionPair:
        """Two of the options, in whichever order they were tested."""
        return next(pair for pair in self.pairs if {pair.a, pair.b} == {a, b})

    def ranked(self) -> list[Option]:
        """Options by their wins, the best first."""
        rest = [row for row in self.options if row.option != self.best]
        return [self[self.best], *sorted(rest, key=lambda row: (-row.wins, -row.median_difference))]


def contrast_options(
    scores_CO: ArrayLike,
    options: Sequence[str],
    *,
    means_CO: ArrayLike | None = None,
    correction: str = "holm",
    ties: str = "most",
) -> OptionComparison:
    """Compare options by their scores in the same configurations.

    Where `scores_CO` has a row for each of several runs of a configuration, `means_CO` has one per configuration. Runs
    of one configuration are not independent, so that tests, means and standard deviations use these.

    An option wins a configuration if its score there is the highest. Where several share it, the win goes to the one
    that wins most of the others, as in Reimers and Gurevych's tables (`ties` "most"), or is shared as well ("share").
    The best option is the one with most wins, and of several the one with the higher mean. Pairs are tested by the sign
    test and by Wilcoxon's signed-rank test, and p-values are corrected for all pairs, so that they also hold for the
    option that was selected because it won. Whether the scores of two options vary equally over configurations is
    tested by the paired form of the Brown-Forsythe test.
    """
    scores = np.asarray(scores_CO, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] != len(options) or len(options) < 2 or not len(scores):
        expected = f"one row per configuration and one column for each of at least two options ({len(options)})"
        raise InputError(f"contrast: an array of shape {scores.shape}; expected {expected}")
    means = scores if means_CO is None else np.asarray(means_CO, dtype=np.float64)
    if means.ndim != 2 or means.shape[1] != len(options) or not len(means):
        raise InputError(f"contrast: means of shape {means.shape}; expected columns as of the scores, {scores.shape}")
    rounded = paired_differences(scores, np.zeros_like(scores))  # equal in decimals is equal
    top_CO = rounded == rounded.max(axis=1, keepdims=True)
    tied_C = top_CO.sum(axis=1) > 1
    means_O = means.mean(axis=0)
    wins_O = _wins(top_CO, means_O, ties)
    best = max(range(len(options)), key=lambda option: (round(float(wins_O[option]), 12), means_O[option]))
    differences_CO = rounded - rounded[:, [best]]
    sds_O = means.std(axis=0, ddof=1) if len(means) > 1 else np.full(len(options), np.nan)
    columns = (wins_O, np.median(differences_CO, axis=0), means_O, np.median(scores, axis=0), sds_O)
    quantiles_OQ = np.quantile(differences_CO, QUANTILES, axis=0).T.tolist()
    rows = zip(options, *(column.tolist() for column in columns), map(tuple, quantiles_OQ), strict=True)
    return OptionComparison(
        tuple(Option(*row) for row in rows),
        _pairs(rounded, paired_differences(means, np.zeros_like(means)), options, correction),
        options[best],
        int(tied_C.sum()),
        len(means),
        len(scores),
    )


def _wins(top_CO: NDArray[np.bool_], means_O: Values, ties: str) -> Values:
    """The share of configurations that each option wins."""
    if ties not in TIES:
        raise NameUnknown("option for ties", ties, TIES)
    if ties == "share":
        shared: Values = (top_CO / top_CO.sum(axis=1, keepdims=True)).mean(axis=0)
        return shared
    clear_O = top_CO[top_CO.sum(axis=1) == 1].sum(axis=0)
    order = np.lexsort((-means_O, -clear_O))  # most wins first, and of equally many the higher mean
    winners_C = order[top_CO[:, order].argmax(axis=1)]
    return np.bincount(winners_C, minlength=len(means_O)) / len(top_CO)


def _pairs(scores_CO: Values, means_CO: Values, options: Sequence[str], correction: str) -> tuple[OptionPair, ...]:
    indices = list(combinations(range(len(options)), 2))
    differences = np.stack([paired_differences(means_CO[:, a], means_CO[:, b]) for a, b in indices])
    signs = [sign_test(row) for row in differences]
    sign_p = [float(test.p) for test in signs]
    rank_p = [float(test.p) for test in signed_rank_rows(differences)]
    spread_p = [paired_brown_forsythe(means_CO[:, a], means_CO[:, b]).p for a, b in indices]
    smallest = correct([min(1.0, 2.0 ** (1 - len(means_CO)))] * len(indices), correction)
    corrected = zip(*(correct_defined(p_values, correction) for p_values in (sign_p, rank_p, spread_p)), strict=True)
    return tuple(
        OptionPair(
            options[a],
            options[b],
            a_better=int(signs[k].positive),
            b_better=int(signs[k].negative),
            median_difference=float(np.median(paired_differences(scores_CO[:, a], scores_CO[:, b]))),
            sign_p=sign_p[k],
            sign_p_corrected=float(by_sign),
            smallest_p=float(smallest[k]),
            wilcoxon_p=rank_p[k],
            wilcoxon_p_corrected=float(by_rank),
            spread_p=spread_p[k],
            spread_p_corrected=float(by_spread),
        )
        for k, ((a, b), (by_sign, by_rank, by_spread)) in enumerate(zip(indices, corrected, strict=True))
    )


def configuration_keys(settings: Sequence[Codes], runs: int) -> Codes:
    """One number per run, the same for two runs if and only if they agree in every setting."""
    keys, count = np.zeros(runs, np.int64), 1
    for codes in settings:
        levels = int(codes.max(initial=0)) + 1
        if count > MAX_KEY // levels:
            keys, count = _renumber(keys)
        keys = keys * levels + codes
        count *= levels
    return _renumber(keys)[0]


def _renumber(keys: Codes) -> tuple[Codes, int]:
    values, indices = np.unique(keys, return_inverse=True)
    return indices.astype(np.int64), len(values)


def paired_scores(
    keys_N: Codes, options_N: Codes, scores_N: Values, *, options: int, repeats: str = "mean"
) -> tuple[Values, NDArray[np.int64]]:
    """Scores by configuration and option, of the configurations that have all options; and each one's first run.

    Several runs of a configuration and option (seeds) are averaged, or, with `repeats` "each", kept: the i-th run
    of one option is then paired with the i-th of every other, as many as all of them have.
    """
    if repeats not in REPEATS:
        raise NameUnknown("option for repeated runs", repeats, REPEATS)
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
