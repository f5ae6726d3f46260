"""Sections of a study: corpora one by one or together, dev against test, and scores by the size of train."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from statistics import fmean
from typing import cast

import numpy as np

from deadheat.charts.curves import Curve, CurvePlot, Gap, GapPlot
from deadheat.charts.distributions import Sample, ViolinPlot
from deadheat.reporting import model as m
from deadheat.reporting.views.study_families import Family, families, family_blocks, over
from deadheat.results.format import COUNT, NAME, number_format
from deadheat.results.score import ScoreTable, SystemMeans
from deadheat.results.study import StudyBlock, StudyResult
from deadheat.stats.agreement import kendall_rows
from deadheat.text import slug

DEV, TEST = "dev", "test"
CORPORA = 6  # that are shown one by one; of more, all together and those that rank systems least like the average
STRATEGIES = 3  # that are shown together for many corpora
UNLIKE = 3  # corpora with sections of their own
SYSTEMS = 8  # that a figure distinguishes
ROWS = 30  # of a table that is not folded
SIZE_RATIO = 1.25  # how many times as many words of train make another size


def evidence_blocks(result: StudyResult) -> Iterator[m.Block]:
    """Scores and pairs, dev against test, and scores by the size of train."""
    corpora = result.corpus_names
    if len(corpora) > CORPORA:
        yield from _many_corpora(result)
        return
    first = None
    for part in result.parts:
        for corpus in corpora:
            for family in families(result, corpus, part):
                first = first or (corpus, part)
                yield from family_blocks(family, folded=(corpus, part) != first)
    yield from _gap_blocks(result, corpora)
    yield from _learning_blocks(result, corpora)


@dataclass(frozen=True, slots=True, eq=False)
class _Overview:
    """Mean scores of systems on many corpora, split by one strategy."""

    part: str
    split_label: str
    families: tuple[Family, ...]  # one per corpus
    table: ScoreTable

    def taus(self) -> list[float]:
        """Kendall's tau of the ranking on each corpus with that by the average; NaN where some system has no score."""
        table, taus = self.table, np.full(len(self.families), np.nan)
        if table.complete and len(table.systems) > 1:
            means_SD = np.array([row.means for row in table.systems])
            taus[table.complete] = kendall_rows(means_SD[:, table.complete].T, np.array(table.averages))
        return cast(list[float], taus.tolist())

    def unlike(self) -> list[tuple[Family, float]]:
        """The corpora that rank systems least like the average, with their tau."""
        taus = [pair for pair in zip(self.families, self.taus(), strict=True) if math.isfinite(pair[1])]
        return sorted(taus, key=itemgetter(1))[:UNLIKE]


def _overviews(result: StudyResult, part: str) -> list[_Overview]:
    """One for every metric and strategy, the standard split first."""
    grouped: dict[tuple[str, str], list[Family]] = {}
    for corpus in result.corpus_names:
        for family in families(result, corpus, part):
            for block in sorted(family.blocks, key=lambda block: not block.is_standard):
                grouped.setdefault((family.metric, block.split_label), []).append(replace(family, blocks=(block,)))
    overviews = []
    for (_, split_label), members in list(grouped.items())[:STRATEGIES]:
        scores = {(row.system, family.corpus): row for family in members for row in family.blocks[0].ranked}
        corpora = tuple(family.corpus for family in members)
        systems = []
        for system in dict.fromkeys(row.system for row in scores.values() if not math.isnan(row.mean)):
            rows = [scores.get((system, corpus)) for corpus in corpora]
            means = tuple(math.nan if row is None else row.mean for row in rows)
            systems.append(SystemMeans(system, means, tuple(0 if row is None else row.runs for row in rows)))
        table = ScoreTable(members[0].metric_name, "corpus", corpora, tuple(systems), result.scale)
        overviews.append(_Overview(part, split_label, tuple(members), table.by_average()))
    return overviews


def _many_corpora(result: StudyResult) -> Iterator[m.Block]:
    """All corpora together, and then those that rank systems least like the average."""
    overviews = {part: _overviews(result, part) for part in result.parts}
    for part in result.parts:
        for overview in overviews[part]:
            yield from _overview_blocks(result, overview)
    unlike = [family for family, _ in overviews[result.parts[0]][0].unlike()]
    for family in unlike:
        whole = next(one for one in families(result, family.corpus, family.part) if one.metric == family.metric)
        yield from family_blocks(whole, folded=True, detail=True)
    if DEV in overviews and TEST in overviews:
        yield from _gap_over_corpora(result, overviews[DEV][0].table, overviews[TEST][0].table)
    yield from _learning_blocks(result, [family.corpus for family in unlike])


def _overview_blocks(result: StudyResult, overview: _Overview) -> Iterator[m.Block]:
    table, scale, taus = overview.table, result.scale, overview.taus()
    corpora, metric = f"{len(table.datasets):,} corpora", table.metric
    yield m.Heading(f"{corpora}: {metric} on {overview.part}")
    yield m.explanation(
        f"On {corpora} ({{}}), {{}} has the highest average {{}} on {{}}, {{}}, and the highest score on {{}} of them.",
        overview.split_label,
        table.systems[0].system,
        metric,
        overview.part,
        m.score(table.averages[0], scale),
        table.firsts()[0],
    )
    finite = [tau for tau in taus if math.isfinite(tau)]
    if finite:
        unlike = [m.text("{} ({})", family.corpus, m.number(tau)) for family, tau in overview.unlike()]
        yield m.explanation(
            f"On {{}} of {len(finite):,} corpora the systems have the same order as by the average. The corpora least "
            "like the average, by Kendall's tau (1: same order), are {}.",
            sum(tau >= 1 for tau in finite),
            m.join_text(unlike, ", "),
        )
    samples = tuple(
        Sample(row.system, tuple(scale.factor * mean for mean in row.means if mean == mean)) for row in table.systems
    )
    title = f"{metric} on {overview.part}: each system over {corpora}"
    name = slug("study", overview.part, metric, "corpora", overview.split_label)
    yield m.figure(name, ViolinPlot(samples, title, f"{metric}{scale.unit}"))
    yield _summary_table(overview)
    systems = m.columns(scale.score, *(row.system for row in table.systems))
    columns = (m.Column("corpus"), *systems, m.Column("tau", number_format()))
    rows = list(zip(table.datasets, *(row.means for row in table.systems), taus, strict=True))
    caption = f"Mean {metric}{scale.unit} on every corpus, and Kendall's tau with the ranking by the average."
    yield m.Table(columns, rows, slug("study-corpora", overview.part, overview.split_label), caption, folded=True)
    if 0 < len(table.complete) < len(table.datasets):
        yield m.Note(f"Averages are over the {len(table.complete):,} corpora on which every system has a score.")


def _summary_table(overview: _Overview) -> m.Table:
    table, mean = overview.table, itemgetter(0)
    rows: list[m.Row] = []
    for row, average, firsts in zip(table.systems, table.averages, table.firsts(), strict=True):
        scores = [pair for pair in zip(row.means, table.datasets, strict=True) if pair[0] == pair[0]]
        ends = [
            m.text("{} ({})", m.score(score, table.scale), corpus)
            for score, corpus in (min(scores, key=mean), max(scores, key=mean))
        ]
        rows.append((row.system, average, *ends, firsts, len(scores)))
    columns = [m.Column("system"), *m.columns(table.scale.score, "average", "min", "max")]
    columns += m.columns(COUNT, "first on", "corpora")
    caption = f"{table.metric}{table.scale.unit} on {overview.part}, over corpora ({overview.split_label})."
    return m.Table(columns, rows, slug("study-overview", overview.part, overview.split_label), caption)


GAP_READING = (
    "Below the line, test is lower than dev. A system whose settings or epochs were picked on dev looks better there "
    "than it is, and one part of a corpus may be harder than another."
)


def _gap_blocks(result: StudyResult, corpora: Sequence[str]) -> Iterator[m.Block]:
    """The same runs on dev and on test."""
    figures, rows, gaps = list[m.Figure](), list[m.Row](), dict[str, list[float]]()
    for corpus in corpora:
        on_dev = {
            (family.metric, block.split, block.seed): block
            for family in families(result, corpus, DEV)
            for block in family.blocks
        }
        for family in families(result, corpus, TEST):
            points: list[Gap] = []
            for block in family.blocks:
                dev = on_dev.get((family.metric, block.split, block.seed))
                points += _gap_points(family, dev, block) if dev is not None else []
                for row in block.ranked:
                    other = dev.scores(row.system, family.metric) if dev is not None else None
                    if other is not None and not math.isnan(gap := other.mean - row.mean):
                        gaps.setdefault(row.system, []).append(gap)
                        rows.append((corpus, block.split_label, row.system, row.runs, other.mean, row.mean, gap))
            if points:
                plot = _gap_plot(result, family.metric_name, points, f"{corpus}: ")
                figures.append(m.figure(family.file("dev-and-test"), plot))
    if not rows:
        return
    yield m.Heading("Dev against test", detail=True)
    means = sorted(((fmean(values), system) for system, values in gaps.items()), reverse=True)[:SYSTEMS]
    listed = m.join_text([m.text("{} {}", system, m.points(gap, result.scale)) for gap, system in means], ", ")
    yield m.explanation("Dev score minus test score, on average: {}.", listed)
    yield m.explanation(f"Each point is a run. {GAP_READING}")
    yield from figures
    columns = [*m.columns(NAME, "corpus", "split", "system"), m.Column("runs", COUNT)]
    columns += [*m.columns(result.scale.score, "dev", "test"), m.Column("dev - test", result.scale.difference)]
    caption = "Means over splits and seeds."
    yield m.Table(columns, rows, caption=caption, labels=3, folded=len(rows) > ROWS, detail=True)


def _gap_points(family: Family, dev: StudyBlock, test: StudyBlock) -> Iterator[Gap]:
    """One for every run, or for every split where there are scores of splits only."""
    factor = family.result.scale.factor
    if dev.numbers != test.numbers:
        return
    for row in test.ranked[:SYSTEMS]:
        other = dev.scores(row.system, family.metric)
        if other is None:
            continue
        runs = bool(row.by_run and other.by_run)
        for at, split in enumerate(test.numbers):
            dev_scores, test_scores = ((item.by_run[at] if runs else (item.by_split[at],)) for item in (other, row))
            for run, (x, y) in enumerate(zip(dev_scores, test_scores, strict=True)):
                if math.isfinite(x) and math.isfinite(y):
                    note = f"split {split}, run {run}" if runs else f"split {split}"
                    yield Gap(row.system, factor * x, factor * y, note)


def _gap_plot(result: StudyResult, metric: str, points: Sequence[Gap], corpus: str = "") -> GapPlot:
    axes = [f"{metric} on {part}{result.scale.unit}" for part in (DEV, TEST)]
    return GapPlot(tuple(points), f"{corpus}{metric} on dev and on test", *axes)


def _gap_over_corpora(result: StudyResult, dev: ScoreTable, test: ScoreTable) -> Iterator[m.Block]:
    """The same over many corpora: a point is the mean of a system on one of them."""
    factor = result.scale.factor
    on_dev = {row.system: dict(zip(dev.datasets, row.means, strict=True)) for row in dev.systems}
    rows: list[m.Row] = []
    points: list[Gap] = []
    for row in test.systems:
        dev_means, test_means = on_dev.get(row.system, {}), zip(test.datasets, row.means, strict=True)
        means = [(corpus, dev_means.get(corpus, math.nan), mean) for corpus, mean in test_means]
        means = [(corpus, x, y) for corpus, x, y in means if math.isfinite(x) and math.isfinite(y)]
        gaps = [x - y for _, x, y in means]
        if gaps:
            rows.append((row.system, len(gaps), fmean(gaps), (min(gaps), max(gaps))))
        if len(rows) <= SYSTEMS:
            points += [Gap(row.system, factor * x, factor * y, corpus) for corpus, x, y in means]
    if not rows:
        return
    yield m.Heading("Dev against test", detail=True)
    yield m.explanation(f"Each point is the mean of a system on one corpus. {GAP_READING}")
    yield m.figure(slug("study", test.metric, "dev-and-test"), _gap_plot(result, test.metric, points))
    columns = [m.Column("system"), m.Column("corpora", COUNT), m.Column("mean of dev - test", result.scale.difference)]
    columns.append(m.Column("min-max", result.scale.difference_interval))
    yield m.Table(columns, rows, detail=True)


def _learning_blocks(result: StudyResult, corpora: Sequence[str]) -> Iterator[m.Block]:
    """Scores against the words of train, on corpora that were split into several sizes."""
    figures, rows = [], list[m.Row]()
    for corpus in corpora:
        for family in families(result, corpus, result.parts[0]):
            if sized := _sized(family):
                name = slug("study", corpus, family.metric_name, "learning")
                figures.append(m.figure(name, _curves(family, sized)))
            for words, block in sized:
                rows += [(corpus, words, row.system, row.mean, over(block)) for row in block.ranked]
    if not figures:
        return
    yield m.Heading("Scores by the size of train", detail=True)
    yield m.explanation(
        "Means over splits and seeds, with bands from the lowest to the highest score. Strategies that differ in the "
        "size of train may differ in their test sets as well, which may explain small steps."
    )
    yield from figures
    columns = [m.Column("corpus"), m.Column("words of train", COUNT), m.Column("system")]
    columns += [m.Column("mean", result.scale.score), m.Column("on")]
    yield m.Table(columns, rows, folded=True, detail=True)


def _sized(family: Family) -> list[tuple[float, StudyBlock]]:
    """Blocks of one strategy by their mean words of train, the smallest first; none if they hardly differ."""
    strategies: dict[str, list[tuple[float, StudyBlock]]] = {}
    for block in family.blocks:
        if block.train_words:
            strategies.setdefault(block.strategy, []).append((fmean(block.train_words), block))
    for sized in strategies.values():
        sized.sort(key=lambda item: item[0])
        if 0 < SIZE_RATIO * sized[0][0] <= sized[-1][0]:
            return sized
    return []


def _curves(family: Family, sized: Sequence[tuple[float, StudyBlock]]) -> CurvePlot:
    factor = family.result.scale.factor
    rows: dict[str, list[tuple[float, ...]]] = {}
    for words, block in sized:
        for row in block.ranked:
            if not math.isnan(row.mean):
                rows.setdefault(row.system, []).append((words, factor * row.mean, factor * row.min, factor * row.max))
    best = sorted(rows, key=lambda system: -rows[system][-1][1])[:SYSTEMS]
    curves = tuple(Curve(system, *map(tuple, zip(*rows[system], strict=True))) for system in best)
    few = f", the first {SYSTEMS} systems" if len(rows) > SYSTEMS else ""
    title = f"{family.corpus}, {family.part}: {family.metric_name} by words of train{few}"
    return CurvePlot(curves, title, "words of train", family.axis, log_x=True)
