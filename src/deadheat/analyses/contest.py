"""Every two systems against each other, on counts of the same units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from deadheat.errors import InputError, NameUnknown
from deadheat.metrics.metric import CORRECT, GOLD, PREDICTED, Counts, error_reduction
from deadheat.stats.checks import Values, check_alpha
from deadheat.stats.corrections import correct, tied_with_best
from deadheat.stats.intervals import Interval, Value, difference
from deadheat.stats.paired import (
    FEW,
    TESTS,
    check_pair,
    is_additive,
    mcnemar,
    paired_bootstrap,
    permutation_exact,
    randomization,
    scores_of,
)
from deadheat.stats.wilcoxon import paired_differences, sign_test, signed_rank

FINEST = 1 << 22  # differences that add up to more are not counted exactly unless asked for: it would take seconds


@dataclass(frozen=True, slots=True)
class Settings:
    """How systems are tested against each other."""

    test: str = ""  # empty: chosen by the kind of data
    correction: str = "holm"
    alpha: float = 0.05
    resamples: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.test and self.test not in TESTS:
            raise NameUnknown("test", self.test, TESTS)
        check_alpha(self.alpha)
        if self.resamples < 1:
            raise InputError(f"{self.resamples} resamples; expected at least 1")
        correct([], self.correction)


@dataclass(frozen=True, slots=True)
class Contest:
    """Two systems: the difference, its interval, and how surprising it is if neither is better."""

    a: str
    b: str
    test: str
    difference: float
    interval: Interval
    p: float
    p_corrected: float
    direction: float  # above 0 if the test speaks for a, below if for b
    error_reduction: float  # of the worse system's errors, the share the better one does not make
    odds_ratio: float  # items only a has right to items only b has right; NaN where items are not right or wrong

    def winner(self, alpha: float) -> str:
        """The system that is better at this level, after correction; empty for a dead heat."""
        if self.p_corrected > alpha or not self.direction:
            return ""
        return self.a if self.direction > 0 else self.b

    def __str__(self) -> str:
        tested = f"{self.test} p = {self.p:.4g}, corrected {self.p_corrected:.4g}"
        return f"{self.a} - {self.b}: {self.difference:+.4f} {self.interval}, {tested}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "a": self.a,
            "b": self.b,
            "test": self.test,
            "difference": self.difference,
            "low": self.interval.low,
            "high": self.interval.high,
            "p": self.p,
            "p_corrected": self.p_corrected,
            "error_reduction": self.error_reduction,
            "odds_ratio": self.odds_ratio,
        }


def choose_test(counts: Sequence[Counts]) -> tuple[str, str]:
    """The test that fits the data, and why."""
    if all(is_additive(counts[0], other) for other in counts):
        if all(_items(each) for each in counts):
            return "mcnemar-midp", "every unit is right or wrong"
        gaps = [first - second for first, second in combinations([each[:, CORRECT] for each in counts], 2)]
        if all(np.count_nonzero(gap) <= FEW or int(np.abs(gap).sum()) < FINEST for gap in gaps):
            return "permutation-exact", "the systems share their totals in every unit, so that all swaps can be counted"
        return "randomization", "the differences are too fine to count all swaps, so that swaps are sampled"
    return "randomization", "totals differ between the systems, so that swaps are sampled"


def contests(
    counts: Mapping[str, Counts], value: Value, settings: Settings, *, reference: str = ""
) -> tuple[Contest, ...]:
    """Test every two systems, or each against a reference, and correct for how many tests there are."""
    if reference and reference not in counts:
        raise NameUnknown("reference", reference, list(counts))
    for name, each in counts.items():
        if np.isnan(value(each.sum(axis=0).astype(float))):
            raise InputError(f"{name}: no score, because there is nothing to get right; expected something to count")
    names = [(reference, name) for name in counts if name != reference] if reference else combinations(counts, 2)
    test = settings.test or choose_test(list(counts.values()))[0]
    found = [_contest(a, b, counts[a], counts[b], value, test, settings) for a, b in names]
    corrected = correct([each.p for each in found], settings.correction)
    return tuple(replace(each, p_corrected=float(p)) for each, p in zip(found, corrected, strict=True))


def _contest(
    a: str, b: str, first_NF: Counts, second_NF: Counts, value: Value, test: str, settings: Settings
) -> Contest:
    check_pair(first_NF, second_NF)
    scores = scores_of(first_NF, second_NF, value).tolist()
    gap = scores[0] - scores[1]
    interval = difference(
        first_NF,
        second_NF,
        value,
        rng=np.random.default_rng(settings.seed),
        level=1 - settings.alpha,
        resamples=settings.resamples,
    )
    items = _discordant(first_NF, second_NF)
    odds = mcnemar(*items).odds_ratio if items else float("nan")
    p, direction = pair_p(first_NF, second_NF, value, test, settings)
    if direction is None:
        direction = gap
    return Contest(a, b, test, gap, interval, p, p, direction, error_reduction(*sorted(scores)), odds)


def pair_p(
    first_NF: Counts, second_NF: Counts, value: Value, test: str, settings: Settings
) -> tuple[float, float | None]:
    """The p-value, and whom the test speaks for where that is not told by the difference."""
    rng = np.random.default_rng([settings.seed, 1])
    if test.startswith("mcnemar"):
        items = _discordant(first_NF, second_NF)
        if items is None:
            raise InputError(f"{test}: units are not just right or wrong; expected tokens as units, or another test")
        return mcnemar(*items, method=test.removeprefix("mcnemar-")).p, None
    if test == "bootstrap":
        return paired_bootstrap(first_NF, second_NF, value, rng=rng, resamples=settings.resamples).p, None
    if test == "randomization":
        return randomization(first_NF, second_NF, value, rng=rng, resamples=settings.resamples).p, None
    if test == "permutation-exact":
        return permutation_exact(first_NF, second_NF).p, None
    gaps = paired_differences(*(_unit_scores(counts, value) for counts in (first_NF, second_NF)))
    ranked = sign_test(gaps) if test == "sign" else signed_rank(gaps)
    return ranked.p, float(ranked.positive - ranked.negative)


def _unit_scores(counts_NF: Counts, value: Value) -> Values:
    """The score of every unit alone; where there is nothing to find and nothing was found, all is right."""
    empty = (counts_NF[:, GOLD] == 0) & (counts_NF[:, PREDICTED] == 0)
    return np.where(empty, 1.0, value(np.where(empty[:, None], 1, counts_NF).astype(float)))


def _items(counts_NF: Counts) -> bool:
    """Whether every unit is one item, right or wrong, or none."""
    return bool(counts_NF.max(initial=0) <= 1)


def _discordant(first_NF: Counts, second_NF: Counts) -> tuple[int, int] | None:
    """Items that one system alone has right; None where units are more than one item."""
    if not is_additive(first_NF, second_NF) or not (_items(first_NF) and _items(second_NF)):
        return None
    a, b = first_NF[:, CORRECT] > 0, second_NF[:, CORRECT] > 0
    return int(np.count_nonzero(a & ~b)), int(np.count_nonzero(b & ~a))


@dataclass(frozen=True, slots=True)
class Verdict:
    """Every test that was made, why this one, and who is tied with the best."""

    settings: Settings  # with the test that was chosen
    reason: str
    pairs: tuple[Contest, ...]
    tied: tuple[str, ...]


def verdict(
    counts: Mapping[str, Counts], values: Mapping[str, float], value: Value, settings: Settings, *, reference: str = ""
) -> Verdict:
    """Choose a test unless one is asked for, make it, and say who is tied with the best, from tests of all pairs."""
    test, reason = (settings.test, "asked for") if settings.test else choose_test(list(counts.values()))
    settled = replace(settings, test=test)
    every = contests(counts, value, settled)
    pairs = contests(counts, value, settled, reference=reference) if reference else every
    return Verdict(settled, reason, pairs, _tied(values, every, settled))


def _tied(values: Mapping[str, float], found: Sequence[Contest], settings: Settings) -> tuple[str, ...]:
    known = {frozenset((each.a, each.b)): each.p_corrected for each in found}
    p_SS = [[1.0 if a == b else known[frozenset((a, b))] for b in values] for a in values]
    outcome = tied_with_best(p_SS, list(values.values()), alpha=settings.alpha, names=list(values))
    return (*outcome.best, *outcome.tied)
