"""Is it the method or the seed."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from deadheat.charts.chart import Figure as Drawing
from deadheat.charts.comparisons import PairCell, PairMatrix
from deadheat.charts.curves import Gap, GapPlot
from deadheat.charts.distributions import Sample, ViolinPlot
from deadheat.ranking.seeds import SystemPair
from deadheat.report.model import (
    DAGGER,
    DOUBLE_DAGGER,
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
    View,
    Words,
    best_cells,
    count,
    names,
    score,
    text,
)
from deadheat.report.verdict import verdict_block
from deadheat.report.words import correction_words
from deadheat.results.format import (
    COUNT,
    P_VALUE,
    Format,
    Kind,
    Scale,
    interval_format,
    number_format,
    points_format,
    score_format,
)
from deadheat.results.runs import SeedBlock, Seeds, SystemRuns
from deadheat.results.verdict import State
from deadheat.text import slug

VIOLINS, SERIES, MATRIX = 30, 8, 40  # systems in a figure
POINTS = 600  # in a figure of dev and test scores
ROWS = 15  # of a table that is not folded
STATISTIC = number_format(2)
PROBABILITY = number_format(3)
SEED_INTERVAL = Format(Kind.INTERVAL, Scale(1.0, 0))
MARKS = {State.NOT_SHOWN: DAGGER, State.TOO_FEW: DOUBLE_DAGGER}


def view(result: Seeds) -> View:
    """The verdict, scores over seeds, dev and test scores, all pairs, and how much seeds alone change scores."""
    headline = "" if result.verdict else _headline(result)
    return (verdict_block(result.verdict, headline=headline), *_blocks(result), Signature(result.signature))


def _headline(result: Seeds) -> Words:
    """A sentence about the variation between seeds, where there are no systems to compare."""
    medians = [block.differences.median for block in result.blocks if block.differences]
    if not medians:
        return "There are no two systems to compare, and no configuration was run twice."
    low, high = score(min(medians), result.scale), score(max(medians), result.scale)
    apart = text("{}", low) if len(medians) == 1 else text("{} to {}", low, high)
    said = f"Two runs of the same configuration differ by a median of {{}}{result.scale.points} {{}}."
    return text(said, apart, result.metric)


def _blocks(result: Seeds) -> Iterator[Block]:
    yield Heading(text(f"{{}} over {_over(result)}", result.metric), detail=True)
    yield Paragraph(
        "Each shape shows the distribution of a system's scores over its runs, the box their middle half, and the line "
        "their median. Where two distributions overlap, a single run of each may show either system ahead.",
        detail=True,
    )
    for block in result.blocks:
        yield Figure(_violins(result, block))
    yield _system_table(result)
    if result.settings:
        yield Note(text("Runs that agree in {} differ by their seeds alone.", names(result.settings, limit=40)))
    if result.dev:
        yield from _dev_test(result)
    if any(block.pairs for block in result.blocks):
        yield from _pairs(result)
    if any(block.differences for block in result.blocks):
        yield from _differences(result)
    for note in result.notes:
        yield Note(note)


def _over(result: Seeds) -> str:
    """What scores are over: seeds, or runs that differ in more than their seeds."""
    return "seeds" if all(block.differences and block.unit == "seed" for block in result.blocks) else "runs"


def _title(words: str, result: Seeds, block: SeedBlock) -> str:
    return f"{words}: {result.by} {block.level}" if block.level else words


def _table(
    result: Seeds, columns: tuple[Column, ...], rows: list[tuple[Content, ...]], caption: Words, name: str = ""
) -> Table:
    """A table whose rows begin with the level, which is left out where there are no levels."""
    levels = (Column(result.by), *columns)
    return Table(levels, tuple(rows), name, caption, labels=2, folded=len(rows) > ROWS).without_unnamed()


def _correction(result: Seeds) -> str:
    sizes = {len(block.pairs) for block in result.blocks}
    return correction_words(result.correction, sizes.pop() if len(sizes) == 1 else None, noun="pair")


def _system_table(result: Seeds) -> Table:
    form = score_format(result.scale)
    rows: list[tuple[Content, ...]] = []
    for block in result.blocks:
        best, *others = block.ranked()
        states = [block.state(best.system, other.system, result.alpha) for other in others]
        marks = ["", *(MARKS.get(state, "") for state in states)]
        means = best_cells([row.summary.mean for row in block.ranked()], form, marks=marks)
        for row, mean in zip(block.ranked(), means, strict=True):
            numbers = row.summary
            scores = numbers.minimum, numbers.median, numbers.maximum
            rows.append((block.level, row.system, numbers.n, *scores, mean, numbers.sd))
    columns = (
        Column(result.by),
        Column(result.system or "system"),
        Column("runs", COUNT),
        *(Column(heading, form) for heading in ("min", "median", "max", "mean", "SD")),
    )
    part = f" on the {result.part} set" if result.part else ""
    how = f"(Mann-Whitney test, p-values {_correction(result)}, alpha {result.alpha:g})"
    return Table(
        columns,
        tuple(rows),
        name="seeds",
        caption=text(f"{{}}{result.scale.unit}{part} over runs; SD: standard deviation.", result.metric),
        marks=(
            Mark(DAGGER, f"not shown to differ from the best {how}"),
            Mark(DOUBLE_DAGGER, f"too few runs to show any difference from the best {how}"),
        ),
        labels=2,
        folded=len(rows) > ROWS,
    ).without_unnamed()


def _violins(result: Seeds, block: SeedBlock) -> Drawing:
    systems, factor = block.ranked()[:VIOLINS], result.scale.factor
    samples = tuple(Sample(row.system, tuple(factor * value for value in _all_scores(row))) for row in systems)
    title = _title(f"{result.metric} over {_over(result)}", result, block)
    if len(block.systems) > VIOLINS:
        title += f" ({VIOLINS} systems with the highest means)"
    return Drawing(slug("seeds", block.level), ViolinPlot(samples, title, f"{result.metric}{result.scale.unit}"))


def _all_scores(row: SystemRuns) -> tuple[float, ...]:
    """The scores of all runs; where there are very many, as many interpolated between quantiles."""
    if row.scores:
        return row.scores
    grid = np.linspace(0, 1, len(row.quantiles))
    return tuple(np.interp(np.linspace(0, 1, row.summary.n), grid, row.quantiles).tolist())


def _dev_test(result: Seeds) -> Iterator[Block]:
    yield Heading("Development and test scores", detail=True)
    yield Paragraph(
        "Does the run with the best development score also do best on the test set? Where the correlation over runs is "
        "low, the run selected on the development set is hardly better than a run drawn at random, whose expected "
        "score is the mean.",
        detail=True,
    )
    rows: list[tuple[Content, ...]] = []
    for block in result.blocks:
        if drawing := _gaps(result, block):
            yield Figure(drawing)
        for row in block.ranked():
            found = row.dev_test
            assert found is not None
            correlations = found.pearson.statistic, found.spearman.statistic, found.spearman_interval.bounds
            scores = found.selected, found.mean, found.best
            rows.append((block.level, row.system, *correlations, found.spearman.p, *scores))
    form = score_format(result.scale)
    columns = (
        Column(result.system or "system"),
        Column("Pearson's r", STATISTIC),
        Column("Spearman's rho", STATISTIC),
        Column("95% CI (rho)", interval_format(STATISTIC.scale)),
        Column("p (rho)", P_VALUE),
        *(Column(heading, form) for heading in ("best on dev", "mean", "best")),
    )
    said = "Correlation of {} and {}; {} of the run with the best {}, of all runs on average, and of the best run."
    caption = text(said, result.dev, result.score, result.score, result.dev)
    yield _table(result, columns, rows, caption)


def _gaps(result: Seeds, block: SeedBlock) -> Drawing | None:
    """Dev and test score of every run; of many runs, evenly from the lowest test score to the highest."""
    systems = [row for row in block.ranked() if row.dev_scores][:SERIES]
    if not systems:
        return None
    points = []
    for row in systems:
        runs = sorted(zip(row.scores, row.dev_scores, strict=True))
        number = min(len(runs), max(2, POINTS // len(systems)))
        selected = [runs[i] for i in np.linspace(0, len(runs) - 1, number).round().astype(int).tolist()]
        factors = result.dev_scale.factor, result.scale.factor
        points += [Gap(row.system, factors[0] * dev, factors[1] * test) for test, dev in selected]
    title = _title("Development and test scores of runs", result, block)
    axes = f"{result.dev}{result.dev_scale.unit}", f"{result.metric}{result.scale.unit}"
    return Drawing(slug("seeds-dev-test", block.level), GapPlot(tuple(points), title, *axes))


def _pairs(result: Seeds) -> Iterator[Block]:
    pairs = [pair for block in result.blocks for pair in block.pairs]
    significant = Shown(sum(bool(pair.winner) for pair in pairs), COUNT)
    yield Heading("Differences between systems", detail=True)
    said = text("{} of {} of systems differ significantly.", significant, count(len(pairs), "pair"))
    yield Paragraph(said, detail=True)
    for block in result.blocks:
        if 3 <= len(block.systems) <= MATRIX:
            yield Figure(_matrix(result, block))
    yield _pair_table(result)
    yield Note(
        "Outcomes are those of the Mann-Whitney test (MW): which system tends to score higher. The Kolmogorov-Smirnov "
        "test (KS) finds any difference between distributions, the Brown-Forsythe test (SD) a difference in spread. "
        "ASO: bound eps_min of almost stochastic order; the closer to 0, the surer that the system is better over the "
        "whole distribution."
    )
    if any(block.unit == "configuration" for block in result.blocks):
        yield Note(
            "Some systems were run with several configurations. Their pairs compare the means of configurations."
        )
    yield Heading("Seeds needed", detail=True)
    yield _power_table(result)


def outcome(pair: SystemPair, alpha: float) -> Cell:
    """What the Mann-Whitney test of a pair says, in words."""
    if pair.winner:
        return Cell(text("{} is better", pair.winner), tone="good")
    return Cell((State.TOO_FEW if pair.smallest_p > alpha else State.NOT_SHOWN).value, tone="muted")


def _pair_table(result: Seeds) -> Table:
    columns = (
        Column("pair"),
        Column("difference", points_format(result.scale)),
        Column("P(A > B)", PROBABILITY),
        *(Column(f"p ({test})", P_VALUE) for test in ("MW", "KS", "SD")),
        *(Column(f"ASO {side}", STATISTIC) for side in "AB"),
        Column("outcome"),
    )
    rows: list[tuple[Content, ...]] = [
        (
            block.level,
            text("{} - {}", pair.a, pair.b),
            pair.difference,
            pair.a_better,
            pair.mann_whitney_p_corrected,
            pair.kolmogorov_smirnov_p_corrected,
            pair.brown_forsythe_p_corrected,
            pair.aso_a.bound,
            pair.aso_b.bound,
            outcome(pair, result.alpha),
        )
        for block in result.blocks
        for pair in block.pairs
    ]
    corrected = f", {_correction(result)}" if len(rows) > 1 else ""
    unit = "run" if all(block.unit == "seed" for block in result.blocks) else "run or configuration"
    caption = text(
        f"Differences of mean {{}}, A minus B; P(A > B): probability that a {unit} of A scores higher. p-values of the "
        f"Mann-Whitney (MW), Kolmogorov-Smirnov (KS) and Brown-Forsythe (SD) tests{corrected}; alpha {result.alpha:g}.",
        result.metric,
    )
    return _table(result, columns, rows, caption, "seed-pairs")


def _matrix(result: Seeds, block: SeedBlock) -> Drawing:
    factor, alpha = result.scale.factor, result.alpha
    cells = []
    for pair in block.pairs:
        p, words = pair.mann_whitney_p_corrected, str(outcome(pair, alpha).value)
        cells.append(PairCell(pair.a, pair.b, factor * pair.difference, p, bool(pair.winner), words))
    title = _title(f"Differences of mean {result.metric}, row minus column", result, block)
    points = ", in points" if result.scale.is_percent else ""
    systems = tuple(row.system for row in block.ranked())
    return Drawing(
        slug("seeds-pairs", block.level), PairMatrix(systems, tuple(cells), title, f"{result.metric}{points}")
    )


def _power_table(result: Seeds) -> Table:
    rows: list[tuple[Content, ...]] = []
    for block in result.blocks:
        for pair in block.pairs:
            power = pair.power
            seeds: Content = "too many" if math.isinf(power.seeds) else power.seeds
            bounds: Content = (power.seeds_low, power.seeds_high)
            if math.isinf(power.seeds_high):
                low = Shown(power.seeds_low, COUNT)
                bounds = "too many" if math.isinf(power.seeds_low) else text("{} or more", low)
            numbers = power.simulated, power.power_now, power.detectable_difference
            rows.append((block.level, text("{} - {}", pair.a, pair.b), power.difference, seeds, bounds, *numbers))
    units = {f"{block.unit}s" for block in result.blocks if block.pairs}
    unit = units.pop() if len(units) == 1 else "runs"
    columns = (
        Column("pair"),
        Column("difference", points_format(result.scale)),
        Column(f"{unit} needed", COUNT),
        Column("95% CI", SEED_INTERVAL),
        Column("simulated power", PROBABILITY),
        Column("power now", PROBABILITY),
        Column("smallest detectable difference", score_format(result.scale)),
    )
    comparisons = {pair.power.comparisons for block in result.blocks for pair in block.pairs}
    divided = "" if comparisons == {1} else " / number of pairs" if len(comparisons) > 1 else f" / {comparisons.pop()}"
    caption = (
        f"{unit.capitalize()} of each system that find the difference with power {result.target:g} (Welch's test, "
        f"alpha {result.alpha:g}{divided}); the interval is due to the uncertain standard deviations. Power now and "
        f"smallest detectable difference: with the {unit} at hand."
    )
    return _table(result, columns, rows, caption)


def _differences(result: Seeds) -> Iterator[Block]:
    yield Heading("Differences between seeds", detail=True)
    yield Paragraph(
        "Runs that agree in all settings differ by their seeds alone. A difference between two systems with one run "
        "each means little unless it is larger than the difference between two such runs.",
        detail=True,
    )
    rows: list[tuple[Content, ...]] = []
    for block in result.blocks:
        if found := block.differences:
            numbers = found.median, found.p95, found.maximum
            ranges = found.range_median, found.range_p95, found.range_maximum
            rows.append((block.level, "two random seeds", found.configurations, *numbers))
            rows.append((block.level, "all seeds, max - min", found.configurations, *ranges))
    form = score_format(result.scale)
    columns = (
        Column("difference between"),
        Column("configurations", COUNT),
        *(Column(heading, form) for heading in ("median", "95% quantile", "max")),
    )
    points = ", in points" if result.scale.is_percent else ""
    caption = text(f"Differences in {{}} between runs of the same configuration{points}.", result.metric)
    yield _table(result, columns, rows, caption)
