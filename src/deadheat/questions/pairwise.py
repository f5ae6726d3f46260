"""Every two systems against each other, on counts of the same units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from deadheat.errors import InputError, NameUnknown
from deadheat.metrics.metric import CORRECT, GOLD, PREDICTED, Counts, error_reduction
from deadheat.results.compare import PairwiseSettings, PairwiseTest
from deadheat.results.format import PERCENT, Scale
from deadheat.results.verdict import Claim, Evidence, Verdict
from deadheat.stats.checks import Values
from deadheat.stats.corrections import correct, tied_with_best
from deadheat.stats.differences import paired_differences, sign_test, signed_rank
from deadheat.stats.intervals import Value, difference
from deadheat.stats.paired import (
    FEW,
    check_pair,
    is_additive,
    mcnemar,
    paired_bootstrap,
    permutation_exact,
    randomization,
    scores_of,
)

FINEST = 1 << 22  # differences that add up to more are not enumerated unless asked for: it would take seconds
ALL_PAIRS, LEADER_PAIRS = 3, 8  # systems up to which all pairs are claims, and claims about the best of more


@dataclass(frozen=True, slots=True)
class PairwiseTests:
    """Every test that was made, why this one, and which systems are not significantly different from the best."""

    settings: PairwiseSettings  # with the test that was chosen
    reason: str
    pairs: tuple[PairwiseTest, ...]
    tied: tuple[str, ...]


def choose_test(counts: Sequence[Counts]) -> tuple[str, str]:
    """The test that fits the data, and why."""
    if all(is_additive(counts[0], other) for other in counts):
        if all(_are_items(counts_NF) for counts_NF in counts):
            return "mcnemar-midp", "every unit is either right or wrong"
        correct_counts = [counts_NF[:, CORRECT] for counts_NF in counts]
        gaps = [first - second for first, second in combinations(correct_counts, 2)]
        if all(np.count_nonzero(gap) <= FEW or int(np.abs(gap).sum()) < FINEST for gap in gaps):
            return "permutation-exact", "every unit has the same total for all systems, so the exact test applies"
        return "randomization", "the differences are too fine to enumerate all permutations, so they are sampled"
    return "randomization", "totals differ between the systems, so permutations are sampled"


def run_tests(
    counts: Mapping[str, Counts],
    scores: Mapping[str, float],
    value: Value,
    settings: PairwiseSettings,
    *,
    reference: str = "",
) -> PairwiseTests:
    """Choose a test unless one is given, test every two systems, and say which are tied with the best."""
    if reference and reference not in counts:
        raise NameUnknown("reference", reference, list(counts))
    for name, counts_NF in counts.items():
        if np.isnan(value(counts_NF.sum(axis=0).astype(float))):
            raise InputError(f"{name}: no score, because there is nothing to get right; expected something to count")
    test, reason = (settings.test, "asked for") if settings.test else choose_test(list(counts.values()))
    settings = replace(settings, test=test)
    raw = [_test_pair(a, b, counts[a], counts[b], value, settings) for a, b in combinations(counts, 2)]
    every = _corrected(raw, settings, counts)
    if reference:
        own = [_turned(pair) if pair.b == reference else pair for pair in raw if reference in (pair.a, pair.b)]
        pairs = _corrected(own, settings, counts)
    else:
        pairs = every
    return PairwiseTests(settings, reason, pairs, _tied(scores, every, settings))


def _corrected(
    pairs: Sequence[PairwiseTest], settings: PairwiseSettings, counts: Mapping[str, Counts]
) -> tuple[PairwiseTest, ...]:
    """Pairs with p-values corrected for their number, and the smallest that so few units could give."""
    corrected = correct([pair.p for pair in pairs], settings.correction)
    units = len(next(iter(counts.values())))
    smallest = 0.0 if units > 60 else 2.0 ** (1 - units) * (1 if settings.correction == "none" else len(pairs))
    return tuple(
        replace(pair, p_corrected=float(p), smallest_p=min(1.0, smallest))
        for pair, p in zip(pairs, corrected, strict=True)
    )


def _turned(pair: PairwiseTest) -> PairwiseTest:
    """The same test with the two systems in the other order."""
    bounds = replace(pair.interval, low=-pair.interval.high, high=-pair.interval.low)
    odds = 1 / pair.odds_ratio if pair.odds_ratio else float("inf")
    return replace(
        pair,
        a=pair.b,
        b=pair.a,
        difference=-pair.difference,
        interval=bounds,
        direction=-pair.direction,
        odds_ratio=odds,
    )


def _test_pair(
    a: str, b: str, first_NF: Counts, second_NF: Counts, value: Value, settings: PairwiseSettings
) -> PairwiseTest:
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
    p, direction = pair_p(first_NF, second_NF, value, settings)
    if direction is None:
        direction = gap
    return PairwiseTest(a, b, settings.test, gap, interval, p, p, direction, error_reduction(*sorted(scores)), odds)


def pair_p(first_NF: Counts, second_NF: Counts, value: Value, settings: PairwiseSettings) -> tuple[float, float | None]:
    """The p-value, and which system the test favours where the difference of the scores does not tell."""
    rng = np.random.default_rng([settings.seed, 1])
    test = settings.test
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
    gaps = paired_differences(*(_unit_scores(counts_NF, value) for counts_NF in (first_NF, second_NF)))
    ranked = sign_test(gaps) if test == "sign" else signed_rank(gaps)
    return ranked.p, float(ranked.positive - ranked.negative)


def _unit_scores(counts_NF: Counts, value: Value) -> Values:
    """The score of every unit alone; where there is nothing to find and nothing was predicted, all is right."""
    empty = (counts_NF[:, GOLD] == 0) & (counts_NF[:, PREDICTED] == 0)
    return np.where(empty, 1.0, value(np.where(empty[:, None], 1, counts_NF).astype(float)))


def _are_items(counts_NF: Counts) -> bool:
    """Whether every unit is one item, right or wrong, or none."""
    return bool(counts_NF.max(initial=0) <= 1)


def _discordant(first_NF: Counts, second_NF: Counts) -> tuple[int, int] | None:
    """Items that one system alone has right; None where units are more than one item."""
    if not is_additive(first_NF, second_NF) or not (_are_items(first_NF) and _are_items(second_NF)):
        return None
    a, b = first_NF[:, CORRECT] > 0, second_NF[:, CORRECT] > 0
    return int(np.count_nonzero(a & ~b)), int(np.count_nonzero(b & ~a))


def _tied(scores: Mapping[str, float], pairs: Sequence[PairwiseTest], settings: PairwiseSettings) -> tuple[str, ...]:
    p_values = {frozenset((pair.a, pair.b)): pair.p_corrected for pair in pairs}
    p_SS = [[1.0 if a == b else p_values[frozenset((a, b))] for b in scores] for a in scores]
    outcome = tied_with_best(p_SS, list(scores.values()), alpha=settings.alpha, names=list(scores))
    return (*outcome.best, *outcome.tied)


def pairwise_verdict(
    pairs: Sequence[PairwiseTest],
    scores: Mapping[str, float],
    *,
    metric: str,
    source: str,
    units: int,
    alpha: float,
    scale: Scale = PERCENT,
    dataset: str = "",
) -> Verdict:
    """Claims about the pairs that matter: all of three systems, else the best against the others.

    Parameters
    ----------
    source
        What was sampled, in the plural: "sentences", "data sets".
    units
        How many of them there are.
    """
    order = sorted(scores, key=lambda name: -scores[name])
    position = {name: at for at, name in enumerate(order)}
    ranked = sorted(pairs, key=lambda pair: sorted((position[pair.a], position[pair.b])))
    complete = len(pairs) == len(order) * (len(order) - 1) // 2
    chosen = ranked
    if complete and len(order) > ALL_PAIRS:
        chosen = [pair for pair in ranked if order[0] in (pair.a, pair.b)][:LEADER_PAIRS]
    claims = tuple(_claim(pair, metric, source, units, alpha, scale, dataset, position) for pair in chosen)
    return Verdict(claims, omitted=len(pairs) - len(claims), systems=len(order))


def _claim(  # noqa: PLR0913 (what a claim is made of)
    pair: PairwiseTest,
    metric: str,
    source: str,
    units: int,
    alpha: float,
    scale: Scale,
    dataset: str,
    position: Mapping[str, int],
) -> Claim:
    ahead = pair if position[pair.a] <= position[pair.b] else _turned(pair)
    low, high = ahead.interval.bounds
    evidence = Evidence(source, pair.state(alpha), ahead.difference, low, high, ahead.p_corrected, units)
    return Claim(ahead.a, ahead.b, metric, (evidence,), dataset, scale, alpha)
