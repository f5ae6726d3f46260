"""Rank: whether another choice of data sets would change the ranking of the systems."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations, repeat
from typing import Annotated, TypeAlias

import numpy as np

from deadheat.arguments import Argument, whole_number
from deadheat.errors import InputError, NameUnknown
from deadheat.questions.inputs import (
    Alpha,
    DatasetColumn,
    Margin,
    MetricName,
    Missing,
    ScoreColumn,
    Seed,
    SystemColumn,
)
from deadheat.ranking.anomalies import Attributes, find_anomalies
from deadheat.ranking.borda import borda_ranking
from deadheat.ranking.exact import TIME_LIMIT, Extreme, SubsetCounts, count_sums, extreme_ranks
from deadheat.ranking.integers import IntegerScores, integer_scores, ranks_of
from deadheat.ranking.pair_means import PairMean, selected_pairs
from deadheat.ranking.selected_subsets import NamedSubset, named_subsets, rank_without_each
from deadheat.ranking.selected_subsets import representative as find_representative
from deadheat.ranking.subsets import (
    MANY_SYSTEMS,
    SAMPLES,
    Design,
    OnProgress,
    SubsetRanks,
    default_samples,
    every_subset,
    free,
    metric_stability,
    one_per_group,
    rank_over_subsets,
    stratified,
)
from deadheat.results.format import Scale, metric_label
from deadheat.results.rank import CORRECTION, ExtremeRank, PairOrder, Ranking, SystemRanks
from deadheat.results.verdict import Claim, Evidence, Verdict, judge, margin_of
from deadheat.stats.checks import check_alpha
from deadheat.study.ledger.ledger import LedgerEntry
from deadheat.tables.matrix import ScoreSource, ScoreTable, TableOptions, open_scores
from deadheat.text import pluralize

SUBSET_SIZE = 10
SOURCE = "data sets like these"
Path = str | os.PathLike[str]


def _metric_list(names: str) -> list[str]:
    """Metrics that the command line names; an empty list means all."""
    return [] if names == "all" else [name for name in names.split(",") if name]


Samples: TypeAlias = Annotated[
    int | None,
    Argument(
        f"number of random subsets (default: {SAMPLES}, and fewer for more than {MANY_SYSTEMS} systems)",
        metavar="N",
        parse=whole_number,
    ),
]
StabilityMetrics: TypeAlias = Annotated[
    Sequence[str] | None,
    Argument("compare the stability of the rankings by these: las,blex or all", metavar="NAMES", parse=_metric_list),
]
SubsetSize: TypeAlias = Annotated[
    int | None,
    Argument(
        "data sets per subset (default: 10, or half of fewer than 20; with --one-per the number of groups)",
        metavar="K",
        parse=whole_number,
    ),
]
AttributeTable: TypeAlias = Annotated[
    Path | Attributes | None, Argument("a table of attributes of the data sets", metavar="FILE")
]
AnomalousSystems: TypeAlias = Annotated[
    Sequence[str], Argument("examine the best and worst subsets of this system", metavar="SYSTEM", repeat=True)
]
SubsetTable: TypeAlias = Annotated[
    Path | Mapping[str, Sequence[str]] | None, Argument("a table of named subsets: subset, treebank", metavar="FILE")
]
RepresentativeSize: TypeAlias = Annotated[
    int | None, Argument("find K data sets that rank the systems as all of them do", metavar="K", parse=whole_number)
]


def rank(  # noqa: PLR0913 (the options of the command)
    scores: ScoreSource,
    *,
    metric: MetricName = "",
    metrics: StabilityMetrics = None,
    subset_size: SubsetSize = None,
    samples: Samples = None,
    attributes: AttributeTable = None,
    stratify: Annotated[str, Argument("draw subsets in proportion to its values", metavar="ATTRIBUTE")] = "",
    one_per: Annotated[str, Argument("draw one data set for each of its values", metavar="ATTRIBUTE")] = "",
    exact: Annotated[bool, Argument("also count pairs and find the best and worst ranks over all subsets")] = False,
    time_limit: Annotated[float, Argument("time limit of each search of --exact", metavar="SECONDS")] = TIME_LIMIT,
    anomalies: AnomalousSystems = (),
    subsets: SubsetTable = None,
    perfect: Annotated[float | None, Argument("score without errors (default: 1 or 100)", metavar="SCORE")] = None,
    leave_one_out: Annotated[bool, Argument("rank without each data set in turn")] = False,
    representative: RepresentativeSize = None,
    alpha: Alpha = 0.05,
    margin: Margin = None,
    seed: Seed = 0,
    system: SystemColumn = "",
    dataset: DatasetColumn = "",
    score: ScoreColumn = "",
    missing: Missing = "refuse",
    on_progress: OnProgress | None = None,
    ledger_entry: LedgerEntry | None = None,
) -> Ranking:
    """What a ranking shows for data sets like these, and how it changes on subsets of them; higher scores are better.

    The best system is compared with each other one, and each with the next, by Student's t-test of their mean
    difference over data sets, corrected for all pairs of systems. Ranks on subsets describe these data sets.

    Parameters
    ----------
    scores
        A file with a table of scores, or the scores of each system by data set. Or scores of items, of which the mean
        on every task is taken.
    metrics
        Compare how stable the ranking is by each of these metrics; an empty list means all metrics of the table.
    subset_size, samples
        Data sets per subset (by default 10, or half of them if there are fewer than 20) and number of random subsets
        (by default a million, and fewer for more than 200 systems); if there are no more subsets than that, each is
        taken once.
    attributes, stratify, one_per
        A table of attributes of the data sets, and an attribute: draw subsets in proportion to its values, or one data
        set per value.
    exact, time_limit
        Count pairs over all subsets, and find the best and worst rank that any subset gives, in so many seconds each.
    anomalies
        Systems whose best and worst subsets are examined.
    subsets, perfect
        Named subsets, as a table or as data sets by subset; and the score without errors, for error reductions.
    representative
        Find this many data sets that rank the systems as all do.
    alpha, margin
        Significance level of the tests over data sets, and how many points count as equal: 0.5 for percentages by
        default, 0 for no margin.
    system, dataset, score, missing
        Columns of the table, and what to do with data sets that lack a score: "refuse" or "drop".
    on_progress
        Called now and then with what is counted, how many of them are done, and how many there are.
    ledger_entry
        Where to record the evaluation of items that are a test set; tables of scores are not recorded.

    Examples
    --------
    >>> table = {"A": {"en": 90, "de": 80, "fi": 70}, "B": {"en": 80, "de": 80, "fi": 71}}
    >>> ranking = rank(table, subset_size=2)
    >>> ranking.systems[0].system, round(ranking.systems[0].shares[0], 3)  # first on two of three subsets
    ('A', 0.667)
    >>> ranking.verdict.claims[0].evidence[0].state.value
    'not told apart'
    """
    options: TableOptions = {"system": system, "dataset": dataset, "score": score, "missing": missing}
    scores, about_items = _of_items(scores, metric, missing, ledger_entry)
    metric = "" if about_items is not None else metric
    tables = {} if metrics is None else _tables(scores, metrics, options)
    # Of several metrics, the ranking itself is by the first that is named; by LAS if all of them are compared.
    first = next((name for name in tables if not metrics and name.lower() == "las"), next(iter(tables), ""))
    table = tables[first] if first and not metric else open_scores(scores, metric, **options)
    if len(table.systems) < 2:
        raise InputError(f"{pluralize(len(table.systems), 'system')}; expected at least two to rank")
    attributes = _attributes(attributes, table)
    samples = default_samples(len(table.systems)) if samples is None else samples
    design = _design(table, subset_size, samples, attributes, stratify, one_per)
    if (exact or anomalies) and not design.uniform:
        problem = "exact results and anomalies are for all subsets of a size"
        raise InputError(f"{problem}; expected neither strata nor one data set per group with them")
    integers, scale = integer_scores(table.scores_SD), Scale.of(table.scores_SD.ravel().tolist())
    check_alpha(alpha)
    margin_of(margin, scale)
    examined = [_find_system(name, table.systems) for name in anomalies]
    named = _named_subsets(subsets, table, perfect)
    rng = np.random.default_rng(seed)
    ranks = rank_over_subsets(integers, design, samples=samples, rng=rng, on_progress=on_progress)
    order: list[int] = np.argsort(-integers.sums_S, kind="stable").tolist()
    pairs = _pairs(table, integers, ranks, order, exact=exact)
    search = partial(extreme_ranks, time_limit=time_limit, on_progress=on_progress)
    extremes = search(integers, design.size, sampled=ranks) if exact else None
    examine = partial(find_anomalies, ranks, integers, datasets=table.datasets, attributes=attributes, rng=rng)
    return Ranking(
        metric=table.metric,
        systems=_systems(table, integers, ranks, order, extremes),
        pairs=pairs,
        tau=ranks.tau,
        datasets=len(table.datasets),
        subset_size=design.size,
        samples=ranks.samples,
        design=design.name,
        scale=scale,
        alpha=alpha,
        margin=margin_of(margin, scale),
        verdict=_verdict(table, integers, order, scale, alpha=alpha, margin=margin),
        grouped_by=stratify or one_per,
        seed=seed,
        all_subsets=math.comb(integers.datasets, design.size) if exact else None,
        anomalies=tuple(examine(system, name=table.systems[system]) for system in examined),
        subsets=named,
        leave_one_out=rank_without_each(integers, table.systems, table.datasets) if leave_one_out else (),
        representative=None
        if representative is None
        else find_representative(integers, table.datasets, representative, rng=rng, time_limit=time_limit),
        metrics=tuple(metric_stability(name, integer_scores(other.scores_SD), ranks) for name, other in tables.items()),
        borda=borda_ranking(integers, table.systems, design, samples=samples, rng=np.random.default_rng([seed, 1])),
        notes=(*(about_items or ()), *_notes(table, integers, ranks, named, pairs)),
    )


def _verdict(
    table: ScoreTable,
    integers: IntegerScores,
    order: Sequence[int],
    scale: Scale,
    *,
    alpha: float,
    margin: float | None,
) -> Verdict:
    """Claims about the best system against each other one, and about the other neighbours in the ranking."""
    names, equal = [table.systems[system] for system in order], margin_of(margin, scale)
    metric = metric_label(table.metric) if table.metric else "mean score"
    possible = 1.0 if scale.is_percent else math.inf

    def claim(pair: PairMean) -> Claim:
        bounds = pair.low, pair.high
        state = judge(bounds, margin=equal, alpha=alpha, detectable=pair.detectable, possible=possible)
        numbers = pair.difference, *bounds, pair.p, integers.datasets, pair.ahead, equal, pair.detectable
        return Claim(
            names[pair.first], names[pair.second], metric, (Evidence(SOURCE, state, *numbers),), "", scale, alpha
        )

    pairs = selected_pairs(integers, order, alpha=alpha, correction=CORRECTION)
    return Verdict(tuple(map(claim, pairs)), systems=len(names))


def _attributes(attributes: Path | Attributes | None, table: ScoreTable) -> Attributes:
    if attributes is None:
        return {}
    if isinstance(attributes, Mapping):
        return attributes
    from deadheat.tables.scores import read_attributes

    return read_attributes(attributes, table.datasets)


def _design(
    table: ScoreTable, size: int | None, samples: int, attributes: Attributes, stratify: str, one_per: str
) -> Design:
    datasets = len(table.datasets)
    if stratify and one_per:
        raise InputError(f"strata by {stratify} and one data set per {one_per}; expected only one of them")
    if one_per:
        return one_per_group(_labels(attributes, one_per), size)
    if size is None:
        size = SUBSET_SIZE if datasets >= 2 * SUBSET_SIZE else max(1, datasets // 2)
    if stratify:
        return stratified(_labels(attributes, stratify), size)
    few = 1 <= size <= datasets and math.comb(datasets, size) <= samples
    return every_subset(datasets, size) if few else free(datasets, size)


def _labels(attributes: Attributes, name: str) -> tuple[str, ...]:
    if not attributes:
        raise InputError(f"groups by {name}, but no attributes; expected a table of them (--attributes)")
    if name not in attributes:
        raise NameUnknown("attribute", name, attributes)
    values = attributes[name]
    return values if isinstance(values, tuple) else tuple(f"{value:g}" for value in values.tolist())


def _find_system(name: str, systems: Sequence[str]) -> int:
    """The index of the system with this name, or of the only one whose name starts with it."""
    if name in systems:
        return systems.index(name)
    matches = [index for index, system in enumerate(systems) if system.lower().startswith(name.lower())]
    if len(matches) == 1:
        return matches[0]
    raise NameUnknown("system", name, systems)


def _systems(
    table: ScoreTable,
    integers: IntegerScores,
    ranks: SubsetRanks,
    order: Sequence[int],
    extremes: Sequence[tuple[Extreme, Extreme]] | None,
) -> tuple[SystemRanks, ...]:
    columns = (ranks_of(integers.sums_S), table.scores_SD.mean(axis=1), ranks.best_S, ranks.worst_S, ranks.mean_S)
    sd_S, shares_SS = ranks.sd_S, ranks.shares_SS
    rows = []
    for system in order:
        rank, score, best, worst, mean = (column_S[system].item() for column_S in columns)
        lower, median, upper = ranks.quartiles(system)
        possible = [
            ExtremeRank(end.rank, end.bound, tuple(table.datasets[column] for column in end.subset.tolist()))
            for end in (extremes[system] if extremes is not None else ())
        ]
        spread = (median, float(sd_S[system]), lower, upper, tuple(shares_SS[system].tolist()))
        rows.append(SystemRanks(table.systems[system], rank, score, best, worst, mean, *spread, *possible))
    return tuple(rows)


def _pairs(
    table: ScoreTable, integers: IntegerScores, ranks: SubsetRanks, order: Sequence[int], *, exact: bool
) -> tuple[PairOrder, ...]:
    names = [table.systems[system] for system in order]
    first, second = np.triu_indices(len(order), 1)
    ordered = np.asarray(order)
    wins_P, losses_P = (ranks.wins_SS[ordered[a], ordered[b]] for a, b in ((first, second), (second, first)))
    counts_P = wins_P, losses_P, ranks.samples - wins_P - losses_P
    shares = zip(*((count_P / ranks.samples).tolist() for count_P in counts_P), strict=True)
    counts: Iterable[SubsetCounts | None] = repeat(None)
    if exact:
        above_SD = integers.above_SD[ordered]
        counts = [count_sums(above_SD[a] - above_SD[b], ranks.design.size) for a, b in zip(first, second, strict=True)]
    return tuple(
        PairOrder(better, worse, ahead, behind, tied, count)
        for (better, worse), (ahead, behind, tied), count in zip(combinations(names, 2), shares, counts, strict=False)
    )


def _named_subsets(
    subsets: Path | Mapping[str, Sequence[str]] | None, table: ScoreTable, perfect: float | None
) -> tuple[NamedSubset, ...]:
    if subsets is None:
        return ()
    if not isinstance(subsets, Mapping):
        from deadheat.tables.scores import read_subsets

        subsets = read_subsets(subsets)
    return named_subsets(table.scores_SD, table.systems, table.datasets, subsets, perfect=perfect)


def _of_items(
    scores: ScoreSource, metric: str, missing: str, entry: LedgerEntry | None
) -> tuple[ScoreSource, list[str] | None]:
    """Mean scores of systems on tasks and notes on them, where the source has scores of items; else None for notes."""
    from deadheat.items.table import ItemTable
    from deadheat.questions.item_ledger import record_items
    from deadheat.questions.item_means import mean_scores, open_source

    source = open_source(scores)
    if not isinstance(source, ItemTable):
        return source, None
    table, notes = mean_scores(source, metric, missing=missing)
    recorded = record_items(entry, source, [table.metric], "rank")
    return table, [*recorded.notes, *notes]


def _tables(scores: ScoreSource, metrics: Sequence[str], options: TableOptions) -> dict[str, ScoreTable]:
    """The scores by several metrics, for comparing how stable the rankings are."""
    if isinstance(scores, ScoreTable | Mapping):
        raise InputError("metrics to compare, but scores of one; expected a file with a column of metrics")
    from deadheat.tables.scores import read_score_tables

    return read_score_tables(scores, metrics=metrics, **options)


def _notes(
    table: ScoreTable,
    integers: IntegerScores,
    ranks: SubsetRanks,
    named: Sequence[NamedSubset],
    pairs: Sequence[PairOrder],
) -> tuple[str, ...]:
    notes = [*table.notes]
    notes += [
        f"subset {subset.name}: no scores on {', '.join(subset.absent)}; left out" for subset in named if subset.absent
    ]
    if table.dropped:
        notes.append(f"{pluralize(len(table.dropped), 'data set')} left out because some system has no score on them")
    if not integers.exact:
        notes.append("scores are rounded to 9 digits of their range, so a tie may be missed")
    undecided = max((pair.exact.undecided / pair.exact.total for pair in pairs if pair.exact), default=0.0)
    if undecided:
        problem = f"the order of some pairs is undecided on up to {100 * undecided:.1g}% of all subsets"
        notes.append(f"{problem}: their scores have too many digits to count all sums, and the shares are lower bounds")
    if ranks.tau.undefined:
        notes.append(f"{pluralize(ranks.tau.undefined, 'subset')} on which all systems are tied are not part of tau")
    return tuple(notes)
