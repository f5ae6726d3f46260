"""How much the ranking depends on the choice of data sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deadheat.charts.chart import Figure as Drawing
from deadheat.charts.ranks import RankBoxes, RankHeatmap, RankRow
from deadheat.ranking.anomalies import Anomalies, AttributeTest, ExtremeSubsets
from deadheat.ranking.selected_subsets import LeaveOneOut, NamedSubset
from deadheat.ranking.subsets import MetricStability
from deadheat.report.model import (
    DAGGER,
    Block,
    Cell,
    Column,
    Content,
    Figure,
    Heading,
    Mark,
    Note,
    Paragraph,
    Shown,
    Signature,
    Table,
    Text,
    Verdict,
    View,
    best_cells,
    count,
    join_text,
    names,
    number,
    score,
    share,
    text,
)
from deadheat.report.words import CORRECTIONS, metric_label
from deadheat.results.format import COUNT, P_VALUE, PERCENT, RANK, SHARE, number_format, score_format
from deadheat.results.rank import PairOrder, Ranking, RepresentativeSubsets, SystemRanks

STABLE = 0.95  # share of subsets from which on an order is called stable
CLOSEST = 10  # pairs in the table of those that change their order most often
ROWS = 10  # data sets to leave out, and attributes, in a table that is not folded
REDUCTIONS = 4  # systems whose error reductions are shown
CHANGES = 6  # ranks that change without a data set
TAU = number_format(3)


def view(result: Ranking) -> View:
    """The ranks of all systems over subsets, how stable the order of pairs is, and whatever else was asked for."""
    verdict = Verdict(_headline(result), remarks=(_stable_pairs(result),))
    return (verdict, *_blocks(result), Signature(result.signature))


def _headline(result: Ranking) -> Text:
    datasets = count(result.datasets, "data set")
    tied = [row.system for row in result.systems if row.rank == 1]
    if len(tied) > 1:
        return text("{} share the first rank on all {} together.", names(tied), datasets)
    first = result.systems[0]
    often = share(first.shares[0])
    return text("{} is first on all {} together and on {} of {}.", first.system, datasets, often, subsets_text(result))


def _stable_pairs(result: Ranking) -> Text:
    neighbours = result.neighbours
    stable = sum(pair.shares[0] >= STABLE for pair in neighbours)
    subsets = subsets_text(result)
    if result.all_subsets is not None:
        subsets = text("all {} of {}", count(result.all_subsets, "subset"), Shown(result.subset_size, COUNT))
    keep = "keeps its" if stable == 1 else "keep their"
    return text(
        f"{{}} of {{}} in the ranking {keep} order on at least {STABLE:.0%} of {{}}.",
        Shown(stable, COUNT),
        count(len(neighbours), "neighbouring pair"),
        subsets,
    )


def subsets_text(result: Ranking) -> Text:
    """The subsets that ranks are over: `1,000,000 random subsets of 10`."""
    size = Shown(result.subset_size, COUNT)
    if result.lists_all:
        if result.samples == 1:
            return text("the only subset of {}", size)
        return text("all {} of {}", count(result.samples, "subset"), size)
    drawn = text("{} of {}", count(result.samples, "random subset"), size)
    if not result.grouped_by:
        return drawn
    return drawn + text(
        ", one data set per {}" if result.design == "one per group" else ", stratified by {}", result.grouped_by
    )


def _blocks(result: Ranking) -> Iterator[Block]:
    yield from _ranks(result)
    yield from _pairs(result)
    if result.all_subsets is not None:
        yield from _extremes(result)
    for anomalies in result.anomalies:
        yield from _anomalies(result, anomalies)
    if result.subsets:
        yield from _named_subsets(result)
    if result.leave_one_out:
        yield from _leave_one_out(result.leave_one_out)
    if result.representative is not None:
        yield from _representative(result.representative)
    if result.metrics:
        yield from _metrics(result.metrics)


def _ranks(result: Ranking) -> Iterator[Block]:
    yield Heading("Ranks on subsets of the data sets", detail=True)
    loosest = max(result.systems, key=lambda row: row.worst - row.best)
    if loosest.worst > loosest.best:
        spread = (Shown(rank, RANK) for rank in (loosest.best, loosest.worst))
        yield Paragraph(text("The rank of {} varies most, from {} to {}.", loosest.system, *spread), detail=True)
    fixed = [row.system for row in result.systems if row.best == row.worst]
    if fixed:
        yield Paragraph(text("Always the same rank: {}.", names(fixed)), detail=True)
    subsets = subsets_text(result)
    yield Figure(Drawing("rank-boxes", RankBoxes(tuple(map(_box, result.systems)), f"Ranks on {subsets}")))
    systems, shares = tuple(row.system for row in result.systems), tuple(row.shares for row in result.systems)
    title = f"How often each system has each rank, on {subsets}"
    yield Figure(Drawing("rank-shares", RankHeatmap(systems, shares, title)))
    yield _rank_table(result)
    yield Note(
        "A system's score on a subset is its mean over the data sets; systems with equal means share the better rank."
    )
    for note in result.notes:
        yield Note(note)


def _box(row: SystemRanks) -> RankRow:
    best, worst = (end.rank if end is not None else None for end in (row.possible_best, row.possible_worst))
    quartiles = row.lower_quartile, row.median, row.upper_quartile
    return RankRow(row.system, row.best, *quartiles, row.worst, row.mean, best, worst)


def _rank_table(result: Ranking) -> Table:
    rows, exact = result.systems, result.all_subsets is not None
    form = score_format(result.scale)
    metric = metric_label(result.metric) if result.metric else "score"
    columns = (
        Column("system"),
        Column("rank", RANK),
        Column(metric, form),
        *(Column(name, number_format(2)) for name in ("mean rank", "SD")),
        *(Column(name, RANK) for name in ("median", "quartiles", "range", *(["possible"] if exact else []))),
        *(Column(name, SHARE) for name in ("first", "ahead of next")),
    )
    ahead = [pair.shares[0] for pair in result.neighbours]
    scores = best_cells([row.score for row in rows], form)
    means = best_cells([row.mean for row in rows], number_format(2), lowest=True)
    cells: list[tuple[Content, ...]] = []
    for row, mean_score, mean_rank, next_share in zip(rows, scores, means, [*ahead, None], strict=True):
        possible: tuple[Content, ...] = ()
        if row.possible_best is not None and row.possible_worst is not None:
            proved = row.possible_best.proved and row.possible_worst.proved
            bounds = (row.possible_best.rank, row.possible_worst.rank)
            possible = (Cell(bounds, mark="" if proved else DAGGER),)
        quartiles, extremes = (row.lower_quartile, row.upper_quartile), (row.best, row.worst)
        spread = (mean_rank, row.sd, row.median, quartiles, extremes, *possible)
        cells.append((row.system, row.rank, mean_score, *spread, row.shares[0], next_share))
    of_metric = text(" by {}", metric) if result.metric else Text(())
    caption = text(
        "Ranks{}. Rank and score are on all {}, the other columns on {}. SD: standard deviation of the rank; range: "
        "best and worst rank;{} first, ahead of next: share of the subsets.",
        of_metric,
        count(result.datasets, "data set"),
        subsets_text(result),
        Text((" possible: the same over all subsets of this size;",)) if exact else Text(()),
    )
    unproved = Mark(DAGGER, "the search was stopped, so a better or worse rank may be possible")
    return Table(columns, tuple(cells), name="ranks", caption=caption, marks=(unproved,))


def _pairs(result: Ranking) -> Iterator[Block]:
    yield Heading("Pairs of systems", detail=True)
    tau = result.tau
    if tau.mean == tau.mean:
        yield Paragraph(
            text(
                "Kendall's tau between the rankings on subsets and the ranking on all data sets (1: the same order, "
                "0: unrelated, -1: reversed): mean {}, SD {}, median {}, minimum {}.",
                *(number(value) for value in (tau.mean, tau.sd, tau.median, tau.min)),
            )
        )
    counted = result.all_subsets is not None or result.lists_all
    closest = sorted(result.pairs, key=lambda pair: -pair.shares[1])[:CLOSEST]
    yield _pair_table(closest, "Pairs of systems, those whose order changes most often first.")
    if len(result.pairs) > CLOSEST:
        yield _pair_table(result.pairs, "All pairs.", detail=True)
    how = "counted over all subsets of this size" if counted else "estimated from the random subsets"
    yield Note(
        f"The shares are {how}. They describe these data sets; they are no test of what other data sets would show."
    )


def _pair_table(pairs: Sequence[PairOrder], caption: str, *, detail: bool = False) -> Table:
    columns = (
        Column("better - worse on all data sets"),
        *(Column(name, SHARE) for name in ("ahead", "behind", "tied")),
    )
    rows = tuple((text("{} - {}", pair.better, pair.worse), *pair.shares) for pair in pairs)
    return Table(columns, rows, caption=caption, folded=detail, detail=detail)


def _extremes(result: Ranking) -> Iterator[Block]:
    ends = [end for row in result.systems for end in (row.possible_best, row.possible_worst) if end is not None]
    unproved = sum(not end.proved for end in ends)
    yield Heading("Ranks on any subset")
    yield Paragraph(
        text(
            "Over all {}, {} of {} best and worst ranks are more extreme than on the subsets above.",
            count(result.all_subsets or 0, "subset"),
            Shown(sum(1 for _ in result.missed()), COUNT),
            Shown(len(ends), COUNT),
        )
        + (
            text(" {} of them are not proved, because the search was stopped.", Shown(unproved, COUNT))
            if unproved
            else ""
        )
    )
    rows: list[tuple[Content, ...]] = [
        (row.system, row.possible_worst.rank, names(row.possible_worst.subset, limit=result.subset_size))
        for row in result.systems
        if row.possible_worst is not None
    ]
    columns = (Column("system"), Column("worst rank", RANK), Column("for example on"))
    yield Table(columns, tuple(rows), folded=len(rows) > ROWS)


def _anomalies(result: Ranking, anomalies: Anomalies) -> Iterator[Block]:
    """What is overrepresented in the subsets that give a system its best and its worst rank."""
    yield Heading(text("Where {} ranks best and worst", anomalies.system))
    for name, end in (("best", anomalies.best), ("worst", anomalies.worst)):
        yield Paragraph(
            text(
                "{} has its {} rank, {}, on {} of {}, for example on {}.",
                anomalies.system,
                Text((name,)),
                Shown(end.rank, RANK),
                Shown(end.count, COUNT),
                count(result.samples, "subset"),
                names(end.subsets[0], limit=12),
            )
        )
        if end.tests:
            yield _attribute_table(anomalies.system, name, end)
        else:
            yield Paragraph("There is no attribute to test: none has a value that several data sets share.")
    corrected = CORRECTIONS.get(anomalies.correction, anomalies.correction)
    yield Note(
        "For a value, the table shows its share among the data sets of these subsets and among all data sets; for a "
        "number, the means. The p-value is the probability of a share at least as high (for a number, of a mean at "
        "least as different) if the attribute were assigned to data sets at random. p-values of a system are corrected "
        f"together by {corrected}."
    )


def _attribute_table(system: str, name: str, end: ExtremeSubsets) -> Table:
    tests = sorted(end.tests, key=lambda test: test.p)[:ROWS]
    columns = (
        Column("attribute"),
        *(Column(name, SHARE) for name in ("these subsets", "all data sets")),
        *(Column(name, P_VALUE) for name in ("p", "p (corrected)")),
    )
    rows = tuple((*_attribute_cells(test), test.p, test.p_corrected) for test in tests)
    caption = text("{} with the {} rank of {}.", count(len(end.subsets), "subset"), Text((name,)), system)
    return Table(columns, rows, caption=caption)


def _attribute_cells(test: AttributeTest) -> tuple[Content, ...]:
    if test.value:
        return text("{} = {}", test.attribute, test.value), test.observed, test.expected
    mean = number_format(1)
    return text("mean {}", test.attribute), Cell(test.observed, format=mean), Cell(test.expected, format=mean)


def _named_subsets(result: Ranking) -> Iterator[Block]:
    subsets, scale = result.subsets, result.scale
    systems = [row.system for row in result.systems]
    yield Heading("Named subsets")
    columns = (
        Column("subset"),
        Column("data sets", COUNT),
        *(Column(f"{system} (rank)", score_format(scale)) for system in systems),
        Column("tau", TAU),
    )
    rows: list[tuple[Content, ...]] = [
        (
            subset.name,
            len(subset.datasets),
            *(text("{} ({})", score(row.mean, scale), Shown(row.rank, RANK)) for row in subset.systems),
            subset.tau,
        )
        for subset in subsets
    ]
    caption = "Mean scores and ranks on named subsets, and Kendall's tau with the ranking on all data sets."
    yield Table(columns, tuple(rows), name="subsets", caption=caption)
    if len(systems) <= REDUCTIONS:
        yield _error_reductions(subsets, systems)


def _error_reductions(subsets: Sequence[NamedSubset], systems: Sequence[str]) -> Table:
    pairs = [(worse, better) for at, better in enumerate(systems) for worse in systems[at + 1 :]]
    columns = (Column("subset"), *(Column(f"{better} over {worse}", score_format(PERCENT)) for worse, better in pairs))
    rows: list[tuple[Content, ...]] = []
    for subset in subsets:
        shares = {(item.reference, item.system): item.share for item in subset.error_reductions}
        rows.append((subset.name, *(shares.get(pair) for pair in pairs)))
    caption = "Error reduction in percent: errors of the second system that the first avoids, averaged over data sets."
    return Table(columns, tuple(rows), name="error-reductions", caption=caption)


def _leave_one_out(results: Sequence[LeaveOneOut]) -> Iterator[Block]:
    changing = [item for item in results if item.changes]
    yield Heading("Without one data set")
    total = count(len(results), "data set")
    if not changing:
        yield Paragraph(text("Leaving out any one of {} does not change the ranking.", total))
        return
    yield Paragraph(
        text("Leaving out one data set changes the ranking for {} of {}.", Shown(len(changing), COUNT), total)
    )
    yield _leave_one_out_table(changing[:ROWS], "The most influential data sets." if len(changing) > ROWS else "")
    if len(changing) > ROWS:
        yield _leave_one_out_table(changing, "All data sets that change the ranking.", detail=True)


def _leave_one_out_table(results: Sequence[LeaveOneOut], caption: str, *, detail: bool = False) -> Table:
    columns = (Column("without"), Column("ranks that change"), Column("pairs swapped", COUNT), Column("tau", TAU))
    rows: list[tuple[Content, ...]] = []
    for item in results:
        changes = [
            text("{} {} to {}", change.system, Shown(change.rank, RANK), Shown(change.without, RANK))
            for change in item.changes[:CHANGES]
        ]
        if len(item.changes) > CHANGES:
            changes.append(text("{} more", Shown(len(item.changes) - CHANGES, COUNT)))
        rows.append((item.dataset, join_text(changes, ", "), item.swapped, item.tau))
    return Table(columns, tuple(rows), caption=caption, labels=2, folded=detail, detail=detail)


def _representative(result: RepresentativeSubsets) -> Iterator[Block]:
    yield Heading("Few data sets that rank as all do")
    columns = (
        Column("search"),
        Column("data sets"),
        *(Column(name, COUNT) for name in ("pairs in the same order", "at most", "of")),
        Column("tau", TAU),
    )
    rows: list[tuple[Content, ...]] = [
        (item.method, names(item.datasets, limit=result.size), item.agreeing, item.bound, item.pairs, item.tau)
        for item in result.subsets
    ]
    yield Table(columns, tuple(rows), labels=2)
    yield Paragraph(
        text(
            "These data sets are fitted to these systems. Chosen by a random half of the systems ({}), such subsets "
            "order {} of the pairs of that half as all data sets do, and {} of the pairs of the other half; random "
            "subsets of the same size order {} of the latter.",
            count(result.halvings, "halving"),
            share(result.fitted),
            share(result.held_out),
            share(result.random),
        )
    )


def _metrics(metrics: Sequence[MetricStability]) -> Iterator[Block]:
    by_sd = sorted(metrics, key=lambda item: item.mean_sd)
    yield Heading("Stability by metric")
    stable, loose = by_sd[0], by_sd[-1]
    if len(by_sd) > 1:
        extremes = (stable.metric, number(stable.mean_sd), loose.metric, number(loose.mean_sd))
        least = "On the same subsets, ranks by {} vary least (SD {}, averaged over systems) and ranks by {} most ({})."
        yield Paragraph(text(least, *extremes))
    top = max(metrics, key=lambda item: item.top)
    if top is not stable:
        yield Paragraph(
            text("But the first system stays first most often by {}, on {} of the subsets.", top.metric, share(top.top))
        )
    columns = (
        Column("metric"),
        Column("SD of ranks", number_format(3)),
        Column("interquartile range", number_format(2)),
        Column("tau", TAU),
        *(Column(name, SHARE) for name in ("pairs swapped", "same first")),
    )
    rows = tuple(
        (item.metric, item.mean_sd, item.mean_quartile_range, item.tau.mean, item.swapped, item.top) for item in by_sd
    )
    caption = "How stable the ranking is by each metric, the most stable first. Means over systems and subsets."
    yield Table(columns, rows, name="metric-stability", caption=caption)
