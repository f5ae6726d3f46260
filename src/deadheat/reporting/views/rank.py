"""How much the ranking depends on the choice of data sets."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import replace

from deadheat.charts.ranks import RankBoxes, RankHeatmap, RankRow
from deadheat.ranking.anomalies import Anomalies, ExtremeSubsets
from deadheat.ranking.selected_subsets import LeaveOneOut, NamedSubset, RepresentativeSubsets
from deadheat.ranking.subsets import MetricStability
from deadheat.reporting import model as m
from deadheat.reporting.verdict import MARKS, verdict_block
from deadheat.reporting.views.rank_borda import borda_blocks
from deadheat.results.format import (
    CORRECTION_NAMES,
    COUNT,
    NAME,
    P_VALUE,
    PERCENT,
    RANK,
    SHARE,
    correction_words,
    interval_name,
    metric_label,
    number_format,
)
from deadheat.results.rank import CORRECTION, PairOrder, Ranking, SystemRanks

CLOSEST, LISTED = 10, 1000  # pairs in the table of those that change their order most often, and in that of all
FOLDED = 30  # systems from which on the table of differences is folded
ROWS = 10  # data sets to leave out, and attributes, in a table that is not folded
REDUCTIONS = 4  # systems whose error reductions are shown
CHANGES = 6  # ranks that change without a data set
TAU = number_format(3)


def view(result: Ranking) -> Iterator[m.Block]:
    """What holds over data sets, the ranks over subsets of them, and whatever else was asked for."""
    yield verdict_block(result.verdict, headline=_headline(result), remarks=tuple(_remarks(result)))
    yield from _differences(result)
    yield from _ranks(result)
    yield from _pairs(result)
    if result.borda is not None:
        yield from borda_blocks(result.borda, subsets_text(replace(result, samples=result.borda.samples)))
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


def _headline(result: Ranking) -> m.Words:
    """That several systems share the first rank; otherwise the claims say who is better."""
    tied = [row.system for row in result.systems if row.rank == 1]
    if len(tied) < 2:
        return ""
    return m.text("{} share the first rank on all {} together.", m.names(tied), m.count(result.datasets, "data set"))


def _remarks(result: Ranking) -> Iterator[m.Text]:
    """On how many subsets the first system is first, and neighbours in the ranking keep their order."""
    first, *others = result.systems
    if len(others) > 1 and others[0].rank > 1:
        yield m.text("{} is first on {} of {}.", first.system, m.share(first.shares[0]), subsets_text(result))
    subsets = subsets_text(result)
    if result.all_subsets is not None:
        subsets = m.text("all {} of {}", m.count(result.all_subsets, "subset"), result.subset_size)
    shares = [pair.shares[0] for pair in result.neighbours]
    if len(shares) == 1:
        yield m.text("{} is ahead of {} on {} of {}.", first.system, others[0].system, m.share(shares[0]), subsets)
    elif min(shares) == max(shares):
        yield m.text("Neighbours in the ranking keep their order on {} of {}.", m.share(shares[0]), subsets)
    else:
        words = "Neighbours in the ranking keep their order on {} to {} of {}."
        yield m.text(words, m.share(min(shares)), m.share(max(shares)), subsets)


def _differences(result: Ranking) -> Iterator[m.Block]:
    """Each system against the next and against the best, over data sets."""
    if not result.has_tests:
        return
    yield m.Heading("Differences over data sets", detail=True)
    if len(result.systems) > 2:
        yield _difference_table(result)
    yield m.Note(
        "The data sets are taken for a random sample of those of interest, each with equal weight: Student's t-test of "
        "the mean difference. Which systems are compared was seen in the same scores, and so p-values and intervals "
        "are corrected for all pairs of systems."
    )


def _difference_table(result: Ranking) -> m.Table:
    claims = {(claim.better, claim.worse): claim.evidence[0] for claim in result.verdict.claims}
    names = [row.system for row in result.systems]
    rows: list[m.Row] = []
    for at, system in enumerate(names):
        cells: list[m.Content] = []
        for pair in ((system, names[at + 1]) if at + 1 < len(names) else None, (names[0], system) if at else None):
            evidence = claims[pair] if pair else None
            if evidence is None:
                cells += [None, None, None]
            else:
                difference = m.Cell(evidence.difference, mark=MARKS[evidence.state])
                cells += [difference, (evidence.low, evidence.high), evidence.p]
        rows.append((system, *cells))
    columns = [m.Column("system")]
    for heading in ("above next", "below best"):
        columns += [m.Column(heading, result.scale.difference), m.Column("CI", result.scale.difference_interval)]
        columns += [m.Column("p", P_VALUE)]
    corrected = correction_words(CORRECTION, len(result.pairs), noun="pair")
    caption = m.text(
        f"Mean differences{{}} over all {{}}{result.scale.in_points}: {interval_name(result.alpha)} and p-values by "
        f"Student's t-test over data sets, {corrected}.",
        m.text(" of {}", metric_label(result.metric)) if result.metric else None,
        m.count(result.datasets, "data set"),
    )
    marks = (
        m.Mark(m.EQUALS, "equal within the margin"),
        m.Mark(m.DAGGER, "not told apart"),
        m.Mark(m.DOUBLE_DAGGER, "too few data sets to show any difference"),
    )
    return m.Table(columns, rows, "rank-differences", caption, marks, folded=len(rows) > FOLDED)


def subsets_text(result: Ranking) -> m.Text:
    """The subsets that ranks are over: `1,000,000 random subsets of 10`."""
    size = result.subset_size
    if result.lists_all:
        if result.samples == 1:
            return m.text("the only subset of {}", size)
        return m.text("all {} of {}", m.count(result.samples, "subset"), size)
    design = ", one data set per {}" if result.design == "one per group" else ", stratified by {}"
    groups = m.text(design, result.grouped_by) if result.grouped_by else None
    return m.text("{} of {}{}", m.count(result.samples, "random subset"), size, groups)


def _ranks(result: Ranking) -> Iterator[m.Block]:
    yield m.Heading("Ranks on subsets of the data sets", detail=True)
    loosest = max(result.systems, key=lambda row: row.worst - row.best)
    if loosest.worst > loosest.best:
        spread = (m.Shown(rank, RANK) for rank in (loosest.best, loosest.worst))
        yield m.explanation("The rank of {} varies most, from {} to {}.", loosest.system, *spread)
    fixed = [row.system for row in result.systems if row.best == row.worst]
    if fixed:
        yield m.explanation("Always the same rank: {}.", m.names(fixed))
    subsets = subsets_text(result)
    yield m.figure("rank-boxes", RankBoxes(tuple(map(_box, result.systems)), f"Ranks on {subsets}"))
    systems, shares = tuple(row.system for row in result.systems), tuple(row.shares for row in result.systems)
    title = f"How often each system has each rank, on {subsets}"
    yield m.figure("rank-shares", RankHeatmap(systems, shares, title))
    yield _rank_table(result)
    yield m.Note(
        "A system's score on a subset is its mean over the data sets; systems with equal means share the better rank."
    )


def _box(row: SystemRanks) -> RankRow:
    possible = (end.rank if end else None for end in (row.possible_best, row.possible_worst))
    quartiles = row.lower_quartile, row.median, row.upper_quartile
    return RankRow(row.system, row.best, *quartiles, row.worst, row.mean, *possible)


def _rank_table(result: Ranking) -> m.Table:
    rows, form, exact = result.systems, result.scale.score, result.all_subsets is not None
    metric = metric_label(result.metric) if result.metric else "score"
    columns = (
        m.Column("system"),
        m.Column("rank", RANK),
        m.Column(metric, form),
        *m.columns(number_format(2), "mean rank", "SD"),
        *m.columns(RANK, "median", "quartiles", "range", "possible" if exact else ""),
        *m.columns(SHARE, "first", "ahead of next"),
    )
    ahead = [pair.shares[0] for pair in result.neighbours]
    scores = m.best_cells([row.score for row in rows], form)
    means = m.best_cells([row.mean for row in rows], number_format(2), lowest=True)
    cells: list[m.Row] = []
    for row, mean_score, mean_rank, next_share in zip(rows, scores, means, [*ahead, None], strict=True):
        possible = None
        if row.possible_best is not None and row.possible_worst is not None:
            proved = row.possible_best.proved and row.possible_worst.proved
            possible = m.Cell((row.possible_best.rank, row.possible_worst.rank), mark="" if proved else m.DAGGER)
        spread = row.sd, row.median, (row.lower_quartile, row.upper_quartile), (row.best, row.worst), possible
        cells.append((row.system, row.rank, mean_score, mean_rank, *spread, row.shares[0], next_share))
    possible_ranks = " possible: the same over all subsets of this size;" if exact else ""
    caption = m.text(
        "Ranks{}. Rank and score are on all {}, the other columns on {}. SD: standard deviation of the rank; range: "
        f"best and worst rank;{possible_ranks} first, ahead of next: share of the subsets.",
        m.text(" by {}", metric) if result.metric else None,
        m.count(result.datasets, "data set"),
        subsets_text(result),
    )
    unproved = m.Mark(m.DAGGER, "the search was stopped, so a better or worse rank may be possible")
    return m.Table(columns, cells, "ranks", caption, (unproved,)).without_unnamed()


def _pairs(result: Ranking) -> Iterator[m.Block]:
    yield m.Heading("Pairs of systems", detail=True)
    tau = result.tau
    if tau.mean == tau.mean:
        yield m.paragraph(
            "Kendall's tau between the rankings on subsets and the ranking on all data sets (1: the same order, "
            "0: unrelated, -1: reversed): mean {}, SD {}, median {}, minimum {}.",
            *(m.number(value) for value in (tau.mean, tau.sd, tau.median, tau.min)),
        )
    counted = result.all_subsets is not None or result.lists_all
    closest = heapq.nsmallest(CLOSEST, result.pairs, key=lambda pair: -pair.shares[1])
    yield _pair_table(closest, "Pairs of systems, those whose order changes most often first.")
    if len(result.pairs) > CLOSEST:
        caption = (
            "All pairs." if len(result.pairs) <= LISTED else f"The first {LISTED:,} of {len(result.pairs):,} pairs."
        )
        yield _pair_table(result.pairs[:LISTED], caption, detail=True)
    how = "counted over all subsets of this size" if counted else "estimated from the random subsets"
    yield m.Note(
        f"The shares are {how}. They describe these data sets; they are no test of what other data sets would show."
    )


def _pair_table(pairs: Sequence[PairOrder], caption: str, *, detail: bool = False) -> m.Table:
    columns = (m.Column("better - worse on all data sets"), *m.columns(SHARE, "ahead", "behind", "tied"))
    rows = tuple((m.text("{} - {}", pair.better, pair.worse), *pair.shares) for pair in pairs)
    return m.Table(columns, rows, caption=caption, folded=detail, detail=detail)


def _extremes(result: Ranking) -> Iterator[m.Block]:
    ends = [end for row in result.systems for end in (row.possible_best, row.possible_worst) if end is not None]
    unproved = sum(not end.proved for end in ends)
    yield m.Heading("Ranks on any subset")
    yield m.paragraph(
        "Over all {}, {} of {} best and worst ranks are more extreme than on the subsets above.{}",
        m.count(result.all_subsets or 0, "subset"),
        sum(1 for _ in result.missed()),
        len(ends),
        m.text(" {} of them are not proved, because the search was stopped.", unproved) if unproved else None,
    )
    rows: list[m.Row] = [
        (row.system, row.possible_worst.rank, m.names(row.possible_worst.subset, limit=result.subset_size))
        for row in result.systems
        if row.possible_worst is not None
    ]
    columns = (m.Column("system"), m.Column("worst rank", RANK), m.Column("for example on"))
    yield m.Table(columns, rows, folded=len(rows) > ROWS)


def _anomalies(result: Ranking, anomalies: Anomalies) -> Iterator[m.Block]:
    """What is overrepresented in the subsets that give a system its best and its worst rank."""
    yield m.Heading(m.text("Where {} ranks best and worst", anomalies.system))
    for name, end in (("best", anomalies.best), ("worst", anomalies.worst)):
        yield m.paragraph(
            f"{{}} has its {name} rank, {{}}, on {{}} of {{}}, for example on {{}}.",
            anomalies.system,
            m.Shown(end.rank, RANK),
            end.count,
            m.count(result.samples, "subset"),
            m.names(end.subsets[0], limit=12),
        )
        if end.tests:
            yield _attribute_table(anomalies.system, name, end)
        else:
            yield m.Paragraph("There is no attribute to test: none has a value that several data sets share.")
    corrected = CORRECTION_NAMES.get(anomalies.correction, anomalies.correction)
    yield m.Note(
        "For a value, the table shows its share among the data sets of these subsets and among all data sets; for a "
        "number, the means. The p-value is the probability of a share at least as high (for a number, of a mean at "
        "least as different) if the attribute were assigned to data sets at random. p-values of a system are corrected "
        f"together by {corrected}."
    )


def _attribute_table(system: str, name: str, end: ExtremeSubsets) -> m.Table:
    rows: list[m.Row] = []
    for test in sorted(end.tests, key=lambda test: test.p)[:ROWS]:
        label = m.text("{} = {}", test.attribute, test.value) if test.value else m.text("mean {}", test.attribute)
        form = SHARE if test.value else number_format(1)
        values = (m.Cell(value, format=form) for value in (test.observed, test.expected))
        rows.append((label, *values, test.p, test.p_corrected))
    columns = [m.Column("attribute"), *m.columns(SHARE, "these subsets", "all data sets")]
    columns += m.columns(P_VALUE, "p", "p (corrected)")
    caption = m.text(f"{{}} with the {name} rank of {{}}.", m.count(len(end.subsets), "subset"), system)
    return m.Table(columns, rows, caption=caption)


def _named_subsets(result: Ranking) -> Iterator[m.Block]:
    scale, systems = result.scale, [row.system for row in result.systems]
    yield m.Heading("Named subsets")
    ranks = m.columns(scale.score, *(f"{system} (rank)" for system in systems))
    columns = (m.Column("subset"), m.Column("data sets", COUNT), *ranks, m.Column("tau", TAU))
    rows: list[m.Row] = []
    for subset in result.subsets:
        cells = [m.text("{} ({})", m.score(row.mean, scale), m.Shown(row.rank, RANK)) for row in subset.systems]
        rows.append((subset.name, len(subset.datasets), *cells, subset.tau))
    caption = "Mean scores and ranks on named subsets, and Kendall's tau with the ranking on all data sets."
    yield m.Table(columns, rows, "subsets", caption)
    if len(systems) <= REDUCTIONS:
        yield _error_reductions(result.subsets, systems)


def _error_reductions(subsets: Sequence[NamedSubset], systems: Sequence[str]) -> m.Table:
    pairs = [(worse, better) for at, better in enumerate(systems) for worse in systems[at + 1 :]]
    columns = (m.Column("subset"), *m.columns(PERCENT.score, *(f"{better} over {worse}" for worse, better in pairs)))
    rows: list[m.Row] = []
    for subset in subsets:
        shares = {(item.reference, item.system): item.share for item in subset.error_reductions}
        rows.append((subset.name, *(shares.get(pair) for pair in pairs)))
    caption = "Error reduction in percent: errors of the second system that the first avoids, averaged over data sets."
    return m.Table(columns, rows, name="error-reductions", caption=caption)


def _leave_one_out(results: Sequence[LeaveOneOut]) -> Iterator[m.Block]:
    changing, total = [item for item in results if item.changes], m.count(len(results), "data set")
    yield m.Heading("Without one data set")
    if not changing:
        yield m.paragraph("Leaving out any one of {} does not change the ranking.", total)
        return
    yield m.paragraph("Leaving out one data set changes the ranking for {} of {}.", len(changing), total)
    yield _leave_one_out_table(changing[:ROWS], "The most influential data sets." if len(changing) > ROWS else "")
    if len(changing) > ROWS:
        yield _leave_one_out_table(changing, "All data sets that change the ranking.", detail=True)


def _leave_one_out_table(results: Sequence[LeaveOneOut], caption: str, *, detail: bool = False) -> m.Table:
    columns = [*m.columns(NAME, "without", "ranks that change"), m.Column("pairs swapped", COUNT), m.Column("tau", TAU)]
    rows: list[m.Row] = []
    for item in results:
        changes = [
            m.text("{} {} to {}", change.system, m.Shown(change.rank, RANK), m.Shown(change.without, RANK))
            for change in item.changes[:CHANGES]
        ]
        if len(item.changes) > CHANGES:
            changes.append(m.text("{} more", len(item.changes) - CHANGES))
        rows.append((item.dataset, m.join_text(changes, ", "), item.swapped, item.tau))
    return m.Table(columns, rows, caption=caption, labels=2, folded=detail, detail=detail)


def _representative(result: RepresentativeSubsets) -> Iterator[m.Block]:
    yield m.Heading("Few data sets that rank as all do")
    columns = m.columns(NAME, "search", "data sets")
    columns += [*m.columns(COUNT, "pairs in the same order", "at most", "of"), m.Column("tau", TAU)]
    rows: list[m.Row] = [
        (item.method, m.names(item.datasets, limit=result.size), item.agreeing, item.bound, item.pairs, item.tau)
        for item in result.subsets
    ]
    yield m.Table(columns, rows, labels=2)
    yield m.paragraph(
        "These data sets are fitted to these systems. Chosen by a random half of the systems ({}), such subsets "
        "order {} of the pairs of that half as all data sets do, and {} of the pairs of the other half; random "
        "subsets of the same size order {} of the latter.",
        m.count(result.halvings, "halving"),
        m.share(result.fitted),
        m.share(result.held_out),
        m.share(result.random),
    )


def _metrics(metrics: Sequence[MetricStability]) -> Iterator[m.Block]:
    by_sd = sorted(metrics, key=lambda item: item.mean_sd)
    yield m.Heading("Stability by metric")
    if len(by_sd) > 1:
        words = "On the same subsets, ranks by {} vary least (SD {}, averaged over systems) and ranks by {} most ({})."
        yield m.paragraph(words, *(x for item in (by_sd[0], by_sd[-1]) for x in (item.metric, m.number(item.mean_sd))))
    top = max(metrics, key=lambda item: item.top)
    if top is not by_sd[0]:
        yield m.paragraph(
            "But the first system stays first most often by {}, on {} of the subsets.", top.metric, m.share(top.top)
        )
    columns = [m.Column("metric"), m.Column("SD of ranks", TAU), m.Column("interquartile range", number_format(2))]
    columns += [m.Column("tau", TAU), *m.columns(SHARE, "pairs swapped", "same first")]
    rows = tuple(
        (item.metric, item.mean_sd, item.mean_quartile_range, item.tau.mean, item.swapped, item.top) for item in by_sd
    )
    caption = "How stable the ranking is by each metric, the most stable first. Means over systems and subsets."
    yield m.Table(columns, rows, name="metric-stability", caption=caption)
