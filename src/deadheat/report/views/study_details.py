"""Sections of a study: corpora one by one or together, dev against test, and scores by the size of train."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from deadheat.charts.curves import Curve, CurvePlot, Gap, GapPlot
from deadheat.charts.distributions import Sample, ViolinPlot
from deadheat.report import model as m
from deadheat.report.views.study_families import Family, families, family_blocks, over
from deadheat.results.format import COUNT, NAME, number_format
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
    """Mean scores of systems on corpora, split by one strategy; NaN where there is none."""

    part: str
    split_label: str
    families: tuple[Family, ...]  # one per corpus
    systems: tuple[str, ...]  # best first by the average
    means_SD: NDArray[np.float64]

    @property
    def corpora(self) -> list[str]:
        return [family.corpus for family in self.families]

    @property
    def metric_name(self) -> str:
        return self.families[0].metric_name

    @property
    def common(self) -> NDArray[np.bool_]:
        """Corpora on which every system has a score; all if there are none."""
        whole = np.asarray(np.isfinite(self.means_SD).all(axis=0))
        return whole if whole.any() else np.ones(len(self.families), bool)

    @property
    def averages(self) -> NDArray[np.float64]:
        values = self.means_SD[:, self.common]
        finite = np.isfinite(values)
        sums, counts = np.where(finite, values, 0).sum(axis=1), finite.sum(axis=1)
        averages: NDArray[np.float64] = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
        return averages

    @property
    def firsts(self) -> list[int]:
        """On how many corpora each system has the highest score, alone or with others."""
        values = np.where(np.isfinite(self.means_SD), self.means_SD, -np.inf)
        counts: list[int] = ((values == values.max(axis=0)) & np.isfinite(self.means_SD)).sum(axis=1).tolist()
        return counts

    @property
    def taus(self) -> NDArray[np.float64]:
        """Kendall's tau of the ranking on each corpus with that by the average; NaN where some system has no score."""
        taus = np.full(len(self.families), np.nan)
        whole = np.isfinite(self.means_SD).all(axis=0)
        if whole.any() and len(self.systems) > 1:
            taus[whole] = kendall_rows(self.means_SD[:, whole].T, self.averages)
        return taus

    @property
    def unlike(self) -> list[tuple[Family, float]]:
        """The corpora that rank systems least like the average, with their tau."""
        taus = self.taus
        order = [i for i in np.argsort(taus, kind="stable").tolist() if np.isfinite(taus[i])]
        return [(self.families[i], float(taus[i])) for i in order[:UNLIKE]]


def _overviews(result: StudyResult, part: str) -> list[_Overview]:
    """One for every metric and strategy, the standard split first."""
    grouped: dict[tuple[str, str], list[Family]] = {}
    for corpus in result.corpus_names:
        for family in families(result, corpus, part):
            for block in sorted(family.blocks, key=lambda block: not block.is_standard):
                grouped.setdefault((family.metric, block.split_label), []).append(replace(family, blocks=(block,)))
    overviews = []
    for (_, split_label), members in list(grouped.items())[:STRATEGIES]:
        rows: dict[str, dict[int, float]] = {}
        for at, family in enumerate(members):
            for row in family.blocks[0].ranked:
                if not math.isnan(row.mean):
                    rows.setdefault(row.system, {})[at] = row.mean
        means_SD = np.full((len(rows), len(members)), np.nan)
        for system, means in enumerate(rows.values()):
            means_SD[system, list(means)] = list(means.values())
        names = tuple(rows)
        unsorted = _Overview(part, split_label, tuple(members), names, means_SD)
        order = np.argsort(-unsorted.averages, kind="stable").tolist()
        systems = tuple(names[i] for i in order)
        overviews.append(replace(unsorted, systems=systems, means_SD=means_SD[order]))
    return overviews


def _many_corpora(result: StudyResult) -> Iterator[m.Block]:
    """All corpora together, and then those that rank systems least like the average."""
    overviews = {part: _overviews(result, part) for part in result.parts}
    for part in result.parts:
        for overview in overviews[part]:
            yield from _overview_blocks(result, overview)
    unlike = [family for family, _ in overviews[result.parts[0]][0].unlike]
    for family in unlike:
        whole = next(one for one in families(result, family.corpus, family.part) if one.metric == family.metric)
        yield from family_blocks(whole, folded=True, detail=True)
    if DEV in overviews and TEST in overviews:
        yield from _gap_over_corpora(result, overviews[DEV][0], overviews[TEST][0])
    yield from _learning_blocks(result, [family.corpus for family in unlike])


def _overview_blocks(result: StudyResult, overview: _Overview) -> Iterator[m.Block]:
    corpora, metric = f"{len(overview.families):,} corpora", overview.metric_name
    scale, averages, firsts = result.scale, overview.averages, overview.firsts
    yield m.Heading(f"{corpora}: {metric} on {overview.part}")
    yield m.explanation(
        f"On {corpora} ({{}}), {{}} has the highest average {{}} on {{}}, {{}}, and the highest score on {{}} of them.",
        overview.split_label,
        overview.systems[0],
        metric,
        overview.part,
        m.score(float(averages[0]), scale),
        firsts[0],
    )
    taus = overview.taus
    finite = taus[np.isfinite(taus)]
    if len(finite):
        same = int(np.count_nonzero(finite >= 1))
        unlike = [m.text("{} ({})", family.corpus, m.number(tau)) for family, tau in overview.unlike]
        yield m.explanation(
            f"On {{}} of {len(finite):,} corpora the systems have the same order as by the average. The corpora least "
            "like the average, by Kendall's tau (1: same order), are {}.",
            same,
            m.join_text(unlike, ", "),
        )
    factor = scale.factor
    samples = tuple(
        Sample(system, tuple((factor * row[np.isfinite(row)]).tolist()))
        for system, row in zip(overview.systems, overview.means_SD, strict=True)
    )
    title = f"{metric} on {overview.part}: each system over {corpora}"
    figure = slug("study", overview.part, metric, "corpora", overview.split_label)
    yield m.figure(figure, ViolinPlot(samples, title, f"{metric}{scale.unit}"))
    yield _summary_table(result, overview)
    rows = [
        (corpus, *means, tau)
        for corpus, means, tau in zip(overview.corpora, overview.means_SD.T.tolist(), taus.tolist(), strict=True)
    ]
    columns = (m.Column("corpus"), *m.columns(scale.score, *overview.systems), m.Column("tau", number_format()))
    caption = f"Mean {metric}{scale.unit} on every corpus, and Kendall's tau with the ranking by the average."
    yield m.Table(columns, rows, slug("study-corpora", overview.part, overview.split_label), caption, folded=True)
    if not overview.common.all():
        whole = int(np.count_nonzero(overview.common))
        yield m.Note(f"Averages are over the {whole:,} corpora on which every system has a score.")


def _summary_table(result: StudyResult, overview: _Overview) -> m.Table:
    rows: list[m.Row] = []
    for system, row, average, firsts in zip(
        overview.systems, overview.means_SD, overview.averages.tolist(), overview.firsts, strict=True
    ):
        finite = np.flatnonzero(np.isfinite(row))
        if not len(finite):
            rows.append((system, *[None] * 5))
            continue
        low, high = finite[np.argmin(row[finite])], finite[np.argmax(row[finite])]
        ends = [m.text("{} ({})", m.score(float(row[i]), result.scale), overview.corpora[i]) for i in (low, high)]
        rows.append((system, average, *ends, firsts, len(finite)))
    columns = [m.Column("system"), *m.columns(result.scale.score, "average", "min", "max")]
    columns += m.columns(COUNT, "first on", "corpora")
    caption = f"{overview.metric_name}{result.scale.unit} on {overview.part}, over corpora ({overview.split_label})."
    return m.Table(columns, rows, slug("study-overview", overview.part, overview.split_label), caption)


def _gap_blocks(result: StudyResult, corpora: Sequence[str]) -> Iterator[m.Block]:
    """The same runs on dev and on test."""
    figures, rows = [], list[m.Row]()
    gaps: dict[str, list[float]] = {}
    for corpus in corpora:
        on_dev = {family.metric: family for family in families(result, corpus, DEV)}
        for family in families(result, corpus, TEST):
            if family.metric not in on_dev:
                continue
            dev_blocks = {(block.split, block.seed): block for block in on_dev[family.metric].blocks}
            drawn: list[Gap] = []
            for block in family.blocks:
                dev = dev_blocks.get((block.split, block.seed))
                if dev is not None:
                    rows += _gap_rows(family, dev, block, gaps)
                    drawn += _gap_points(family, dev, block)
            if drawn:
                title = f"{corpus}: {family.metric_name} on dev and on test"
                figures.append(m.figure(family.file("dev-and-test"), _gap_plot(result, family, drawn, title)))
    if not rows:
        return
    yield m.Heading("Dev against test", detail=True)
    means = sorted(((fmean(values), system) for system, values in gaps.items()), reverse=True)[:SYSTEMS]
    listed = m.join_text([m.text("{} {}", m.name(system), m.points(gap, result.scale)) for gap, system in means], ", ")
    yield m.explanation("Dev score minus test score, on average: {}.", listed)
    yield m.explanation(f"Each point is a run. {GAP_READING}")
    yield from figures
    columns = [*m.columns(NAME, "corpus", "split", "system"), m.Column("runs", COUNT)]
    columns += [*m.columns(result.scale.score, "dev", "test"), m.Column("dev - test", result.scale.difference)]
    caption = "Means over splits and seeds."
    yield m.Table(columns, rows, caption=caption, labels=3, folded=len(rows) > ROWS, detail=True)


GAP_READING = (
    "Below the line, test is lower than dev. A system whose settings or epochs were picked on dev looks better there "
    "than it is, and one part of a corpus may be harder than another."
)


def _gap_rows(family: Family, dev: StudyBlock, test: StudyBlock, gaps: dict[str, list[float]]) -> Iterator[m.Row]:
    for row in test.ranked:
        other = dev.scores(row.system, family.metric)
        if other is not None and not math.isnan(row.mean) and not math.isnan(other.mean):
            gap = other.mean - row.mean
            gaps.setdefault(row.system, []).append(gap)
            yield family.corpus, test.split_label, row.system, row.runs, other.mean, row.mean, gap


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


def _gap_plot(result: StudyResult, family: Family, drawn: Sequence[Gap], title: str) -> GapPlot:
    axes = [f"{family.metric_name} on {part}{result.scale.unit}" for part in (DEV, TEST)]
    return GapPlot(tuple(drawn), title, *axes)


def _gap_over_corpora(result: StudyResult, dev: _Overview, test: _Overview) -> Iterator[m.Block]:
    """The same over many corpora: a point is the mean of a system on one of them."""
    systems = {system: at for at, system in enumerate(dev.systems)}
    columns = {corpus: at for at, corpus in enumerate(dev.corpora)}
    rows: list[m.Row] = []
    drawn: list[Gap] = []
    for system, row in zip(test.systems, test.means_SD, strict=True):
        if system not in systems:
            continue
        pairs = [
            (corpus, float(dev.means_SD[systems[system], columns[corpus]]), float(value))
            for corpus, value in zip(test.corpora, row, strict=True)
            if corpus in columns
        ]
        pairs = [(corpus, x, y) for corpus, x, y in pairs if math.isfinite(x) and math.isfinite(y)]
        gaps = [x - y for _, x, y in pairs]
        if gaps:
            rows.append((system, len(gaps), fmean(gaps), (min(gaps), max(gaps))))
        if len(rows) <= SYSTEMS:
            factor = result.scale.factor
            drawn += [Gap(system, factor * x, factor * y, corpus) for corpus, x, y in pairs]
    if not rows:
        return
    yield m.Heading("Dev against test", detail=True)
    yield m.explanation(f"Each point is the mean of a system on one corpus. {GAP_READING}")
    title = f"{test.metric_name} on dev and on test"
    plot = _gap_plot(result, test.families[0], drawn, title)
    yield m.figure(slug("study", test.metric_name, "dev-and-test"), plot)
    table_columns = (
        m.Column("system"),
        m.Column("corpora", COUNT),
        m.Column("mean of dev - test", result.scale.difference),
        m.Column("min-max", result.scale.difference_interval),
    )
    yield m.Table(table_columns, rows, detail=True)


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
