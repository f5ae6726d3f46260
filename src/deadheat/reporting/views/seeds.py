"""Whether systems differ over runs, and how much seeds alone change their scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from deadheat.charts.comparisons import PairCell, PairMatrix
from deadheat.charts.curves import Gap, GapPlot
from deadheat.charts.distributions import Sample, ViolinPlot
from deadheat.ranking.seeds import SystemPair
from deadheat.reporting import model as m
from deadheat.reporting.verdict import MARKS, mark_meanings, verdict_block
from deadheat.reporting.views.seeds_verdict import REMARK, headline
from deadheat.results.format import COUNT, P_VALUE, Format, Kind, Scale, correction_words, interval_name, number_format
from deadheat.results.runs import SeedBlock, Seeds, SystemRuns
from deadheat.text import slug

VIOLINS, SERIES, MATRIX = 30, 8, 40  # systems in a figure
POINTS = 600  # in a figure of dev and test scores
ROWS = 15  # of a table that is not folded
STATISTIC = number_format(2)
PROBABILITY = number_format(3)
SEED_INTERVAL = Format(Kind.INTERVAL, Scale(1.0, 0))


def view(result: Seeds) -> Iterator[m.Block]:
    """The verdict, scores over seeds, dev and test scores, all pairs, and how much seeds alone change scores."""
    remarks = [REMARK] if result.verdict else []
    yield verdict_block(result.verdict, headline=headline(result), remarks=remarks)
    yield m.Heading(m.text(f"{{}} over {_over(result)}", result.metric), detail=True)
    yield m.explanation(
        "Each shape shows the distribution of a system's scores over its runs, the box their middle half, and the line "
        "their median. Where two distributions overlap, a single run of each may show either system ahead."
    )
    yield from (_violins(result, block) for block in result.blocks)
    yield _system_table(result)
    if any(row.range for block in result.blocks for row in block.systems):
        yield from _ranges(result)
    if result.settings:
        yield m.Note(m.text("Runs that agree in {} differ by their seeds alone.", m.names(result.settings, limit=40)))
    if result.dev:
        yield from _dev_test(result)
    if any(block.pairs for block in result.blocks):
        yield from _pairs(result)
    if any(block.differences for block in result.blocks):
        yield from _differences(result)


def _over(result: Seeds) -> str:
    """What scores are over: seeds, or runs that differ in more than their seeds."""
    return "seeds" if all(block.differences and block.unit == "seed" for block in result.blocks) else "runs"


def _title(words: str, result: Seeds, block: SeedBlock) -> str:
    return f"{words}: {result.by} {block.level}" if block.level else words


def _table(result: Seeds, columns: Sequence[m.Column], rows: Sequence[m.Row], caption: m.Words) -> m.Table:
    """A table whose rows begin with the level, which is left out where there are no levels."""
    levels = (m.Column(result.by), *columns)
    return m.Table(levels, rows, caption=caption, labels=2, folded=len(rows) > ROWS).without_unnamed()


def _correction(result: Seeds) -> str:
    sizes = {len(block.pairs) for block in result.blocks}
    return correction_words(result.correction, sizes.pop() if len(sizes) == 1 else None, noun="pair")


def _system_table(result: Seeds) -> m.Table:
    form = result.scale.score
    rows: list[m.Row] = []
    for block in result.blocks:
        ranked = block.ranked()
        states = [block.state(ranked[0].system, other.system, result.margin) for other in ranked[1:]]
        marks = ["", *(MARKS[state] for state in states)]
        means = m.best_cells([row.summary.mean for row in ranked], form, marks=marks)
        for row, mean in zip(ranked, means, strict=True):
            scores = row.summary
            numbers = scores.n, scores.minimum, scores.median, scores.maximum, mean, scores.sd
            rows.append((block.level, row.system, *numbers))
    columns = [m.Column(result.system or "system"), m.Column("runs", COUNT)]
    columns += m.columns(form, "min", "median", "max", "mean", "SD")
    part = f" on the {result.part} set" if result.part else ""
    caption = m.text(f"{{}}{result.scale.unit}{part} over runs; SD: standard deviation.", result.metric)
    test = f" on this test set (Welch's test, p-values {_correction(result)}, alpha {result.alpha:g})"
    return replace(_table(result, columns, rows, caption), name="seeds", marks=mark_meanings(test, "runs"))


def _ranges(result: Seeds) -> Iterator[m.Block]:
    yield m.Heading("Best and worst run", detail=True)
    yield m.explanation(
        "The more runs a system has, the farther apart are its best and its worst, by chance alone. That the best run "
        "differs from the worst says nothing unless they are farther apart than that."
    )
    rows: list[m.Row] = [
        (block.level, row.system, gap.runs, gap.observed, gap.expected, gap.p95)
        for block in result.blocks
        for row in block.ranked()
        if (gap := row.range)
    ]
    columns = [m.Column(result.system or "system"), m.Column("runs", COUNT)]
    columns += m.columns(result.scale.score, "best - worst", "expected", "95% quantile")
    caption = m.text(
        f"Best minus worst run in {{}}{result.scale.in_points}, and what to expect of as many equal runs: the mean and "
        "the 95% quantile of the range of normal scores with this SD.",
        result.metric,
    )
    yield _table(result, columns, rows, caption)


def _violins(result: Seeds, block: SeedBlock) -> m.Figure:
    systems, factor = block.ranked()[:VIOLINS], result.scale.factor
    samples = tuple(Sample(row.system, tuple(factor * value for value in _all_scores(row))) for row in systems)
    title = _title(f"{result.metric} over {_over(result)}", result, block)
    if len(block.systems) > VIOLINS:
        title += f" ({VIOLINS} systems with the highest means)"
    return m.figure(slug("seeds", block.level), ViolinPlot(samples, title, f"{result.metric}{result.scale.unit}"))


def _all_scores(row: SystemRuns) -> tuple[float, ...]:
    """The scores of all runs; where there are very many, as many interpolated between quantiles."""
    if row.scores:
        return row.scores
    grid = np.linspace(0, 1, len(row.quantiles))
    return tuple(np.interp(np.linspace(0, 1, row.summary.n), grid, row.quantiles).tolist())


def _dev_test(result: Seeds) -> Iterator[m.Block]:
    yield m.Heading("Development and test scores", detail=True)
    yield m.explanation(
        "Does the run with the best development score also do best on the test set? Where the correlation over runs is "
        "low, the run selected on the development set is hardly better than a run drawn at random, whose expected "
        "score is the mean."
    )
    rows: list[m.Row] = []
    for block in result.blocks:
        yield from _gaps(result, block)
        for row in block.ranked():
            test = row.dev_test
            assert test is not None
            correlations = test.pearson.statistic, test.spearman.statistic, test.spearman_interval.bounds
            scores = test.selected, test.mean, test.best
            rows.append((block.level, row.system, *correlations, test.spearman.p, *scores))
    columns = (
        m.Column(result.system or "system"),
        *m.columns(STATISTIC, "Pearson's r", "Spearman's rho"),
        m.Column("95% CI (rho)", STATISTIC.scale.interval),
        m.Column("p (rho)", P_VALUE),
        *m.columns(result.scale.score, "best on dev", "mean", "best"),
    )
    words = "Correlation of {} and {}; {} of the run with the best {}, of all runs on average, and of the best run."
    caption = m.text(words, result.dev, result.score, result.score, result.dev)
    yield _table(result, columns, rows, caption)


def _gaps(result: Seeds, block: SeedBlock) -> Iterator[m.Figure]:
    """Dev and test score of every run; of many runs, evenly from the lowest test score to the highest."""
    systems = [row for row in block.ranked() if row.dev_scores][:SERIES]
    points = []
    for row in systems:
        runs = sorted(zip(row.scores, row.dev_scores, strict=True))
        number = min(len(runs), max(2, POINTS // len(systems)))
        for i in np.linspace(0, len(runs) - 1, number).round().astype(int).tolist():
            test, dev = runs[i]
            points.append(Gap(row.system, result.dev_scale.factor * dev, result.scale.factor * test))
    if points:
        title = _title("Development and test scores of runs", result, block)
        axes = f"{result.dev}{result.dev_scale.unit}", f"{result.metric}{result.scale.unit}"
        yield m.figure(slug("seeds-dev-test", block.level), GapPlot(tuple(points), title, *axes))


def _pairs(result: Seeds) -> Iterator[m.Block]:
    pairs = [pair for block in result.blocks for pair in block.pairs]
    significant = sum(bool(pair.winner) for pair in pairs)
    yield m.Heading("Differences between systems", detail=True)
    yield m.explanation(
        "{} of {} of systems are shown to differ on this test set.", significant, m.count(len(pairs), "pair")
    )
    for block in result.blocks:
        if 3 <= len(block.systems) <= MATRIX:
            yield _matrix(result, block)
    yield _pair_table(result)
    yield _distribution_table(result)
    yield m.Note(
        "Outcomes are those of Welch's test of the mean scores. The other tests describe the distributions: "
        "Mann-Whitney (MW) asks which system tends to score higher, Kolmogorov-Smirnov (KS) finds any difference, "
        "Brown-Forsythe (SD) a difference in spread. ASO: bound eps_min of almost stochastic order; the closer to 0, "
        "the more one system is ahead over the whole distribution."
    )
    if any(block.unit == "configuration" for block in result.blocks):
        yield m.Note(
            "Some systems were run with several configurations. Their pairs compare the means of configurations."
        )
    yield m.Heading("Seeds needed", detail=True)
    yield _power_table(result)


def _outcome(block: SeedBlock, pair: SystemPair, margin: float) -> m.Cell:
    """What Welch's test of a pair says about this test set, in words."""
    if pair.winner:
        return m.Cell(m.text("{} scores higher", pair.winner), tone="good")
    return m.Cell(block.state(pair.a, pair.b, margin).value, tone="muted")


def _pair_table(result: Seeds) -> m.Table:
    level = interval_name(result.alpha)
    columns = [m.Column("pair"), m.Column("difference", result.scale.difference)]
    columns += [m.Column(level, result.scale.difference_interval), m.Column("p", P_VALUE), m.Column("outcome")]
    rows: list[m.Row] = []
    for block in result.blocks:
        for pair in block.pairs:
            means = pair.means
            numbers = pair.difference, means.interval.bounds, means.p_corrected, _outcome(block, pair, result.margin)
            rows.append((block.level, m.text("{} - {}", pair.a, pair.b), *numbers))
    several = any(len(block.pairs) > 1 for block in result.blocks)
    corrected = f", both {_correction(result)}" if several else ""
    margin = None
    if not math.isnan(result.margin):
        unit = " points" if result.scale.is_percent else ""
        margin = m.text(f"; differences up to {{}}{unit} count as equal", m.size_of(result.margin, result.scale))
    caption = m.text(
        f"Differences of mean {{}} on this test set, A minus B, with {level} and p-values of Welch's test{corrected}; "
        f"alpha {result.alpha:g}{{}}.",
        result.metric,
        margin,
    )
    return replace(_table(result, columns, rows, caption), name="seed-pairs")


def _distribution_table(result: Seeds) -> m.Table:
    columns = [m.Column("pair"), m.Column("P(A > B)", PROBABILITY)]
    columns += [*m.columns(P_VALUE, "p (MW)", "p (KS)", "p (SD)"), *m.columns(STATISTIC, "ASO A", "ASO B")]
    rows: list[m.Row] = []
    for block in result.blocks:
        for pair in block.pairs:
            p_values = (
                pair.mann_whitney_p_corrected,
                pair.kolmogorov_smirnov_p_corrected,
                pair.brown_forsythe_p_corrected,
            )
            numbers = pair.a_better, *p_values, pair.aso_a.bound, pair.aso_b.bound
            rows.append((block.level, m.text("{} - {}", pair.a, pair.b), *numbers))
    corrected = f", {_correction(result)}" if any(len(block.pairs) > 1 for block in result.blocks) else ""
    unit = "run" if all(block.unit == "seed" for block in result.blocks) else "run or configuration"
    caption = (
        f"Distributions. P(A > B): probability that a {unit} of A scores higher. p-values of the Mann-Whitney (MW), "
        f"Kolmogorov-Smirnov (KS) and Brown-Forsythe (SD) tests{corrected}. ASO: bound eps_min of almost stochastic "
        f"order in favour of A and of B{_false_alarms(result)}."
    )
    return _table(result, columns, rows, caption)


def _false_alarms(result: Seeds) -> str:
    """How often equal systems have a bound below the thresholds that are in use."""
    alarms = [block.aso_false_alarms for block in result.blocks if block.aso_false_alarms]
    if not alarms or not all(math.isfinite(item.below_02 + item.below_05) for item in alarms):
        return ""
    systems = _from_to([item.systems for item in alarms])
    runs = _from_to([number for item in alarms for number in (item.fewest_runs, item.most_runs)])
    below = [
        _from_to([round(100 * rate) for rate in rates])
        for rates in ([item.below_02 for item in alarms], [item.below_05 for item in alarms])
    ]
    words = f"some bound would be below 0.2 in about {below[0]}% of tables, and below 0.5 in {below[1]}%"
    return f"; if {systems} systems with {runs} runs each were equal, {words}"


def _from_to(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _matrix(result: Seeds, block: SeedBlock) -> m.Figure:
    cells = []
    for pair in block.pairs:
        p, words = pair.means.p_corrected, str(_outcome(block, pair, result.margin).value)
        cells.append(PairCell(pair.a, pair.b, result.scale.factor * pair.difference, p, bool(pair.winner), words))
    title = _title(f"Differences of mean {result.metric}, row minus column", result, block)
    systems = tuple(row.system for row in block.ranked())
    plot = PairMatrix(systems, tuple(cells), title, f"{result.metric}{result.scale.in_points}")
    return m.figure(slug("seeds-pairs", block.level), plot)


def _power_table(result: Seeds) -> m.Table:
    rows: list[m.Row] = []
    for block in result.blocks:
        for pair in block.pairs:
            power = pair.power
            low, high = power.seeds_low, power.seeds_high
            seeds = "too many" if math.isinf(power.seeds) else power.seeds
            bounds: m.Content = (low, high)
            if math.isinf(high):
                bounds = "too many" if math.isinf(low) else m.text("{} or more", m.Shown(low, COUNT))
            numbers = power.simulated, power.power_now, power.detectable_difference
            rows.append((block.level, m.text("{} - {}", pair.a, pair.b), power.difference, seeds, bounds, *numbers))
    units = {f"{block.unit}s" for block in result.blocks if block.pairs}
    unit = units.pop() if len(units) == 1 else "runs"
    columns = (
        m.Column("pair"),
        m.Column("difference", result.scale.difference),
        m.Column(f"{unit} needed", COUNT),
        m.Column("95% CI", SEED_INTERVAL),
        *m.columns(PROBABILITY, "simulated power", "power now"),
        m.Column("smallest detectable difference", result.scale.score),
    )
    comparisons = {pair.power.comparisons for block in result.blocks for pair in block.pairs}
    divided = "" if comparisons == {1} else " / number of pairs" if len(comparisons) > 1 else f" / {comparisons.pop()}"
    caption = (
        f"{unit.capitalize()} of each system that find the difference with power {result.target:g} (Welch's test, "
        f"alpha {result.alpha:g}{divided}); the interval is due to the uncertain standard deviations. Power now and "
        f"smallest detectable difference: with the {unit} at hand."
    )
    return _table(result, columns, rows, caption)


def _differences(result: Seeds) -> Iterator[m.Block]:
    yield m.Heading("Differences between seeds", detail=True)
    yield m.explanation(
        "Runs that agree in all settings differ by their seeds alone. A difference between two systems with one run "
        "each means little unless it is larger than the difference between two such runs."
    )
    rows: list[m.Row] = []
    for block in result.blocks:
        if gaps := block.differences:
            ranges = gaps.range_median, gaps.range_p95, gaps.range_maximum
            rows.append((block.level, "two random seeds", gaps.configurations, gaps.median, gaps.p95, gaps.maximum))
            rows.append((block.level, "all seeds, max - min", gaps.configurations, *ranges))
    columns = [m.Column("difference between"), m.Column("configurations", COUNT)]
    columns += m.columns(result.scale.score, "median", "95% quantile", "max")
    words = f"Differences in {{}} between runs of the same configuration{result.scale.in_points}."
    caption = m.text(words, result.metric)
    yield _table(result, columns, rows, caption)
