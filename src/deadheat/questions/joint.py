"""One comparison of systems over units, runs and data sets: estimates for every pair, and what they say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice

import numpy as np

from deadheat.errors import NameUnknown
from deadheat.metrics.metric import Counts, Values, error_reduction
from deadheat.results.compare import (
    DatasetScores,
    PairElsewhere,
    PairOnDataset,
    PairwiseSettings,
    PairwiseTest,
    RunSummary,
)
from deadheat.results.format import PERCENT, Scale
from deadheat.results.verdict import Claim, Evidence, Verdict, margin_of
from deadheat.stats.corrections import partial_conjunction, tied_with_best
from deadheat.stats.estimates import Estimate, RunScores, RunsEstimate, average, average_elsewhere, run_share
from deadheat.stats.families import Family
from deadheat.stats.intervals import Interval, Value, tango

ALL_PAIRS = 3  # systems up to which all pairs are claims; of more, those with the best
DESIGN_SYSTEMS = 5  # that the design effect is computed from
THESE, LIKE_THESE = "these data sets", "data sets like these"


@dataclass(frozen=True, slots=True, eq=False)
class CountedDataset:
    """Counts of the runs of all systems over the same units of one data set."""

    name: str
    unit: str
    counts: Mapping[str, Counts | Values]  # runs, units, fields
    sentences: int = 0
    documents: int = 0  # 0 where they are not marked
    other_counts: Mapping[str, Counts] | None = None  # by sentence where the units are documents, and the reverse
    is_fixed: bool = False  # the systems are as they are, and would not be trained again

    @property
    def units(self) -> int:
        return int(next(iter(self.counts.values())).shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class JointScores:
    """Scores of every system on every data set, with the influence of units and runs."""

    datasets: Sequence[CountedDataset]
    value: Value
    scores: Mapping[tuple[str, str], RunScores]  # by data set and system
    systems: tuple[str, ...]
    shared_runs: bool = False  # a run is one model on all data sets; otherwise one trained on each

    @classmethod
    def of(cls, datasets: Sequence[CountedDataset], value: Value, *, shared_runs: bool = False) -> JointScores:
        """From the counts of every data set."""
        systems = tuple(dict.fromkeys(system for dataset in datasets for system in dataset.counts))
        scores = {
            (dataset.name, system): RunScores.of(counts_RNF, value, is_fixed=dataset.is_fixed)
            for dataset in datasets
            for system, counts_RNF in dataset.counts.items()
        }
        return cls(datasets, value, scores, systems, shared_runs and len(datasets) > 1)

    def differences(self, a: str, b: str) -> dict[str, RunsEstimate]:
        """The difference of two systems on every data set that both have."""
        names = [dataset.name for dataset in self.datasets if {a, b} <= dataset.counts.keys()]
        return {name: self.scores[name, a].minus(self.scores[name, b]) for name in names}

    def means(self) -> dict[str, Estimate]:
        """The mean score of every system over the data sets that all have, or over its own if there are none."""
        common = {dataset.name for dataset in self.datasets if set(self.systems) <= dataset.counts.keys()}
        means = {}
        for system in self.systems:
            by_dataset = {name: runs for (name, other), runs in self.scores.items() if other == system}
            kept = [runs for name, runs in by_dataset.items() if name in common or not common]
            means[system] = average([runs.estimate().estimate for runs in kept])
            if self.shared_runs and _same_runs(kept):
                means[system] = RunScores.joined(kept).estimate().estimate
        return means

    def summaries(self, level: float, scale: Scale = PERCENT) -> tuple[DatasetScores, ...]:
        """The scores of all runs on every data set."""
        rows = []
        for dataset in self.datasets:
            systems = tuple(summarize(name, self.scores[dataset.name, name], level, scale) for name in dataset.counts)
            sizes = (dataset.sentences, dataset.documents, self.design_effect(dataset))
            rows.append(DatasetScores(dataset.name, dataset.unit, dataset.units, systems, *sizes))
        return tuple(rows)

    def design_effect(self, dataset: CountedDataset) -> float:
        """Variance of a difference by documents over that by sentences, on average over pairs of the first systems."""
        if dataset.other_counts is None:
            return math.nan
        names = list(dataset.counts)[:DESIGN_SYSTEMS]
        chosen = {name: self.scores[dataset.name, name] for name in names}
        other = {name: RunScores.of(dataset.other_counts[name], self.value) for name in names}
        variances = np.array(
            [
                [side[a].minus(side[b]).variance_of("units") for side in (chosen, other)]
                for a, b in combinations(names, 2)
            ]
        )
        coarse, fine = variances.T if dataset.unit == "document" else variances.T[::-1]
        defined = (fine > 0) & np.isfinite(coarse)
        return float(np.mean(coarse[defined] / fine[defined])) if defined.any() else math.nan


def summarize(system: str, runs: RunScores, level: float, scale: Scale = PERCENT) -> RunSummary:
    """The mean of a system's runs with its interval."""
    sd = float(runs.scores_R.std(ddof=1)) if runs.runs > 1 else math.nan
    interval = score_interval(runs.estimate().estimate, runs.units, level, scale)
    return RunSummary(system, runs.mean, sd, interval, tuple(runs.scores_R.tolist()))


def score_interval(estimate: Estimate, units: float, level: float, scale: Scale) -> Interval:
    """The interval of a score; a share does not leave 0 to 1."""
    return estimate.bounded_interval(units, level) if scale.is_percent else estimate.interval(level)


@dataclass(frozen=True, slots=True, eq=False)
class PairEstimates:
    """Two systems: the estimates of their difference before any correction."""

    a: str
    b: str
    scores: tuple[float, float]
    here: Estimate  # over the data sets at hand
    elsewhere: Estimate | None = None  # over data sets like these
    by_dataset: Mapping[str, Estimate] = field(default_factory=dict)  # where there are several
    run_share: float = math.nan
    about_runs: bool = False
    named: tuple[float, float] | None = None  # p-value and direction of a test that was asked for by name
    odds_ratio: float = math.nan
    right_alone: tuple[int, int, int] | None = None  # items that one of them alone has right, of so many; for McNemar


def pair_estimates(joint: JointScores, a: str, b: str) -> PairEstimates | None:
    """The estimates of one pair; None where no data set has both systems."""
    differences = joint.differences(a, b)
    if not differences:
        return None
    scores = [math.fsum(joint.scores[name, system].mean for name in differences) for system in (a, b)]
    means = (scores[0] / len(differences), scores[1] / len(differences))
    single = any(all(joint.scores[name, system].has_one_run for system in (a, b)) for name in differences)
    here = None
    of_a, of_b = ([joint.scores[name, system] for name in differences] for system in (a, b))
    if joint.shared_runs and _same_runs(of_a) and _same_runs(of_b):
        here = RunScores.joined(of_a).minus(RunScores.joined(of_b)).estimate
    pair = over_datasets(a, b, means, {name: item.estimate for name, item in differences.items()}, here)
    return replace(pair, run_share=run_share(list(differences.values())), about_runs=single)


def _same_runs(parts: Sequence[RunScores]) -> bool:
    return len({part.runs for part in parts}) == 1


def over_datasets(
    a: str, b: str, scores: tuple[float, float], estimates: Mapping[str, Estimate], joint: Estimate | None = None
) -> PairEstimates:
    """One pair from its estimates on every data set: on average over these, and over others like these.

    `joint` is the estimate over these where those on the data sets are not independent.
    """
    rows = list(estimates.values())
    here = joint or (average(rows) if len(rows) > 1 else rows[0])
    elsewhere = average_elsewhere(rows, here)
    if elsewhere is not None and math.isnan(here.error):  # it is unknown on some data set; between them it is greater
        here = elsewhere
    return PairEstimates(a, b, scores, here, elsewhere, estimates if len(rows) > 1 else {})


def corrected_pairs(
    pairs: Sequence[PairEstimates],
    settings: PairwiseSettings,
    *,
    scale: Scale = PERCENT,
) -> tuple[PairwiseTest, ...]:
    """Pairs with p-values corrected for their number, and intervals that agree with them.

    A pair that was planned is tested alone, and comes first.
    """
    alone = [pair for pair in pairs if {pair.a, pair.b} == set(settings.planned or ())]
    if alone and len(pairs) > 1:
        rest = [pair for pair in pairs if pair not in alone]
        return (*corrected_pairs(alone, settings, scale=scale), *corrected_pairs(rest, settings, scale=scale))
    alpha, correction, most = settings.alpha, settings.correction, 1.0 if scale.is_percent else math.inf
    named = None if all(pair.named is None for pair in pairs) else [_p_value(pair) for pair in pairs]
    here = Family.of([pair.here for pair in pairs], correction, alpha, p_values=named)
    others = [pair.elsewhere or Estimate(math.nan, math.nan, math.nan) for pair in pairs]
    elsewhere = Family.of(others, correction, alpha)
    single = [item for pair in pairs for item in pair.by_dataset.values()]
    on_datasets = Family.of(single, correction, alpha)
    rows = (
        PairOnDataset(name, item.value, *numbers)
        for (name, item), *numbers in zip(
            (row for pair in pairs for row in pair.by_dataset.items()),
            on_datasets.intervals(most),
            on_datasets.p_P.tolist(),
            on_datasets.corrected_P.tolist(),
            strict=True,
        )
    )
    far = map(PairElsewhere, elsewhere.intervals(most), *_columns(elsewhere))
    margin, tests = margin_of(settings.margin, scale), []
    level = alpha if correction == "none" else alpha / max(1, len(pairs))
    columns = zip(here.intervals(most), *_columns(here), far, strict=True)
    for pair, (interval, p, corrected, detectable, other) in zip(pairs, columns, strict=True):
        gap, by_dataset = pair.scores[0] - pair.scores[1], tuple(islice(rows, len(pair.by_dataset)))
        in_favour = [row.p if row.difference * gap > 0 else 1.0 for row in by_dataset if not math.isnan(row.p)]
        bounds = tango(*pair.right_alone, level=interval.level) if pair.right_alone else interval
        tests.append(
            PairwiseTest(
                *(pair.a, pair.b, settings.test, gap, bounds, p, corrected),
                direction=gap if pair.named is None else pair.named[1],
                error_reduction=error_reduction(*sorted(pair.scores)) if scale.is_percent else math.nan,
                odds_ratio=pair.odds_ratio,
                margin=margin,
                detectable=detectable,
                possible=1 - min(pair.scores) if scale.is_percent else math.inf,
                run_share=pair.run_share,
                about_runs=pair.about_runs,
                elsewhere=other if pair.elsewhere else None,
                by_dataset=by_dataset,
                shown_on=partial_conjunction(in_favour, level) if in_favour else 0,
            )
        )
    return tuple(tests)


def _columns(family: Family) -> tuple[list[float], list[float], list[float]]:
    return family.p_P.tolist(), family.corrected_P.tolist(), family.detectable_P.tolist()


def _p_value(pair: PairEstimates) -> float:
    return pair.here.p if pair.named is None else pair.named[0]


def shown_pairs(
    pairs: Sequence[PairEstimates], settings: PairwiseSettings, reference: str, systems: Sequence[str], scale: Scale
) -> tuple[tuple[PairwiseTest, ...], tuple[PairwiseTest, ...]]:
    """The pairs that are shown, which may be those with a reference alone, and all pairs."""
    every = corrected_pairs(pairs, settings, scale=scale)
    if not reference:
        return every, every
    if reference not in systems:
        raise NameUnknown("reference", reference, list(systems))
    chosen = corrected_pairs([pair for pair in pairs if reference in (pair.a, pair.b)], settings, scale=scale)
    return tuple(pair.turned() if pair.b == reference else pair for pair in chosen), every


def tied_systems(scores: Mapping[str, float], pairs: Sequence[PairwiseTest], alpha: float) -> tuple[str, ...]:
    """The best system and those that are not shown to differ from it, by all pairs."""
    p_values = {frozenset((pair.a, pair.b)): pair.p_corrected for pair in pairs}
    p_SS = np.array([[1.0 if a == b else p_values.get(frozenset((a, b)), 1.0) for b in scores] for a in scores])
    p_SS = np.where(np.isnan(p_SS), 1.0, p_SS)
    outcome = tied_with_best(p_SS, list(scores.values()), alpha=alpha, names=list(scores))
    return (*outcome.best, *outcome.tied)


def joint_verdict(
    pairs: Sequence[PairwiseTest],
    scores: Mapping[str, float],
    settings: PairwiseSettings,
    *,
    metric: str,
    source: str,
    units: int,
    scale: Scale,
) -> Verdict:
    """Claims about the pairs that matter: all of three systems, else the best against the others.

    `source` is what was sampled, in the plural ("sentences", "documents and runs"), and `units` how many there are.
    """
    order = sorted(scores, key=lambda name: -scores[name])
    position = {name: at for at, name in enumerate(order)}
    chosen, claims = list(pairs), []
    if len(order) > ALL_PAIRS and len(pairs) == len(order) * (len(order) - 1) // 2:
        planned = set(settings.planned or ())
        chosen = [pair for pair in pairs if order[0] in (pair.a, pair.b) or {pair.a, pair.b} == planned]
    chosen.sort(key=lambda pair: sorted((position[pair.a], position[pair.b])))
    for pair in chosen:
        ahead = pair if (pair.difference, -position[pair.a]) >= (0, -position[pair.b]) else pair.turned()
        evidence = _evidence(ahead, source, units, settings.alpha)
        flags = (pair.about_runs and not pair.by_dataset, {pair.a, pair.b} == set(settings.planned or ()))
        claims.append(Claim(ahead.a, ahead.b, metric, evidence, "", scale, settings.alpha, *flags))
    claims.sort(key=lambda claim: not claim.is_planned)
    return Verdict(tuple(claims), omitted=len(pairs) - len(claims), systems=len(order))


def _evidence(pair: PairwiseTest, source: str, units: int, alpha: float) -> tuple[Evidence, ...]:
    """What a pair shows on these data sets and, where there are several, about others like them."""
    several = len(pair.by_dataset)
    name = THESE if several else source
    numbers = (pair.difference, *pair.interval.bounds, pair.p_corrected, several or units)
    ahead = pair.ahead_on if several else None
    evidence = Evidence(name, pair.state(alpha), *numbers, ahead, margin=pair.margin, detectable=pair.detectable)
    if pair.elsewhere is None:
        return (evidence,)
    other = pair.elsewhere
    numbers = (pair.difference, *other.interval.bounds, other.p_corrected, several)
    state, detectable = pair.state_elsewhere(), other.detectable
    return evidence, Evidence(LIKE_THESE, state, *numbers, margin=pair.margin, detectable=detectable)
