"""Is it the method or the seed."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from deadheat.charts.chart import Figure as Drawing
from deadheat.charts.curves import Gap, GapPlot
from deadheat.charts.distributions import Sample, ViolinPlot
from deadheat.charts.pairs import PairCell, PairMatrix
from deadheat.ranking.seeds import SystemPair
from deadheat.report.latex import slug
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
    Text,
    View,
    Words,
    best_cells,
    count,
    name,
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
from deadheat.results.seeds import SeedBlock, Seeds, SystemRuns
from deadheat.results.verdict import State
from deadheat.text import pluralize

VIOLINS, SERIES, MATRIX = 30, 8, 40  # systems in a figure
POINTS = 600  # in a figure of dev and test scores
ROWS = 15  # of a table that is not folded
COUNTS = Format(Kind.INTERVAL, Scale(1.0, 0))
CORRELATION = number_format(2)
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
    what = text("{}{} {}", apart, Text((result.scale.points,)), result.metric)
    return text("Two runs of the same configuration differ by a median of {}.", what)


def _blocks(result: Seeds) -> Iterator[Block]:
    yield Heading(text("{} over {}", result.metric, Text((_unit_noun(result),))), detail=True)
    yield Paragraph(
        "Each shape shows the distribution of a system's scores over its runs, the box their middle half, and the line their "
        "median. Where two distributions overlap, a single run of each may show either system ahead.",
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


def _unit_noun(result: Seeds) -> str:
    """What scores are over: seeds, or runs that differ in more than their seeds."""
    return "seeds" if all(block.differences and block.unit == "seed" for block in result.blocks) else "runs"


def _levels(result: Seeds) -> tuple[Column, ...]:
    return (Column(result.by),) if result.by else ()


def _level(result: Seeds, block: SeedBlock) -> tuple[str, ...]:
    return (block.level,) if result.by else ()


def _title(words: str, result: Seeds, block: SeedBlock) -> str:
    return f"{words}: {result.by} {block.level}" if block.level else words


def _table(result: Seeds, columns: tuple[Column, ...], rows: list[tuple[Content, ...]], **options: object) -> Table:
    folded = len(rows) > ROWS
    return Table((*_levels(result), *columns), tuple(rows), labels=1 + bool(result.by), folded=folded, **options)  # type: ignore[arg-type]


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
            rows.append((*_level(result, block), row.system, numbers.n, *scores, mean, numbers.sd))
    columns = (
        Column(result.system or "system"),
        Column("runs", COUNT),
        *(Column(heading, form) for heading in ("min", "median", "max", "mean", "SD")),
    )
    how = f"(Mann-Whitney test, p-values {_correction(result)}, alpha {result.alpha:g})"
    return _table(
        result,
        columns,
        rows,
        name="seeds",
        caption=text("{}{} over runs; SD: standard deviation.", result.metric, Text((result.scale.unit,))),
        marks=(
            Mark(DAGGER, f"not shown to differ from the best {how}"),
            Mark(DOUBLE_DAGGER, f"too few runs to show any difference from the best {how}"),
        ),
    )


def _violins(result: Seeds, block: SeedBlock) -> Drawing:
    factor = result.scale.factor
    samples = tuple(
        Sample(row.system, tuple(factor * value for value in _all_scores(row))) for row in block.ranked()[:VIOLINS]
    )
    title = _title(f"{result.metric} over {_unit_noun(result)}", result, block)
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
        "Does the run with the best development score also do best on the test set? Where the correlation over runs is low, "
        "the run selected on the development set is hardly better than a run drawn at random, whose expected score is the mean.",
        detail=True,
    )
    rows: list[tuple[Content, ...]] = []
    for block in result.blocks:
        if figure := _gaps(result, block):
            yield Figure(figure)
        for row in block.ranked():
            found = row.dev_test
            assert found is not None
            correlations = found.pearson.statistic, found.spearman.statistic, found.spearman_interval.bounds
            scores = found.selected, found.mean, found.best
            rows.append((*_level(result, block), row.system, *correlations, found.spearman.p, *scores))
    form = score_format(result.scale)
    columns = (
        Column(result.system or "system"),
        Column("Pearson's r", CORRELATION),
        Column("Spearman's rho", CORRELATION),
        Column("95% CI (rho)", interval_format(CORRELATION.scale)),
        Column("p (rho)", P_VALUE),
        Column("best on dev", form),
        Column("mean", form),
        Column("best", form),
    )
    caption = text("Correlation of {} and {}; {} of the run with the best {}, of all runs on average, and of the best run.",
                   result.dev, result.score, result.score, result.dev)  # fmt: skip
    yield _table(result, columns, rows, caption=caption)


def _gaps(result: Seeds, block: SeedBlock) -> Drawing | None:
    """Dev against test score of every run; of many runs, evenly from the lowest test score to the highest."""
    shown = [row for row in block.ranked() if row.dev_scores][:SERIES]
    if not shown:
        return None
    points = []
    for row in shown:
        pairs = sorted(zip(row.scores, row.dev_scores, strict=True))
        limit = max(2, POINTS // len(shown))
        selected = np.unique(np.linspace(0, len(pairs) - 1, min(limit, len(pairs))).round().astype(int)).tolist()
        points += [
            Gap(row.system, result.dev_scale.factor * dev, result.scale.factor * test)
            for test, dev in map(pairs.__getitem__, selected)
        ]
    title = _title("Development and test scores of runs", result, block)
    axes = f"{result.dev}{result.dev_scale.unit}", f"{result.metric}{result.scale.unit}"
    return Drawing(slug("seeds-dev-test", block.level), GapPlot(tuple(points), title, *axes))


def _pairs(result: Seeds) -> Iterator[Block]:
    pairs = [pair for block in result.blocks for pair in block.pairs]
    significant = sum(bool(pair.winner) for pair in pairs)
    yield Heading("Differences between systems", detail=True)
    yield Paragraph(
        text("{} of {} of systems differ significantly.", Shown(significant, COUNT), count(len(pairs), "pair")),
        detail=True,
    )
    for block in result.blocks:
        if 3 <= len(block.systems) <= MATRIX:
            yield Figure(_matrix(result, block))
    yield _pair_table(result)
    yield Note(
        "Outcomes are those of the Mann-Whitney test (MW): which system tends to score higher. The Kolmogorov-Smirnov test (KS) "
        "finds any difference between distributions, the Brown-Forsythe test (SD) a difference in spread. ASO: bound eps_min of "
        "almost stochastic order; the closer to 0, the surer that the system is better over the whole distribution."
    )
    yield Heading("Seeds needed", detail=True)
    yield _power_table(result)
    if any(block.unit == "configuration" for block in result.blocks):
        yield Note(
            "Some systems were run with several configurations. Their pairs compare the means of configurations."
        )


def outcome(pair: SystemPair, alpha: float) -> Cell:
    """What the Mann-Whitney test of a pair says, in words."""
    if pair.winner:
        return Cell(text("{} is better", pair.winner), tone="good")
    return Cell((State.TOO_FEW if pair.smallest_p > alpha else State.NOT_SHOWN).value, tone="muted")


def _pair_table(result: Seeds) -> Table:
    columns = (
        Column("pair"),
        Column("difference", points_format(result.scale)),
        Column("P(A > B)", number_format(3)),
        *(Column(f"p ({test})", P_VALUE) for test in ("MW", "KS", "SD")),
        *(Column(f"ASO {side}", CORRELATION) for side in "AB"),
        Column("outcome"),
    )
    rows: list[tuple[Content, ...]] = [
        (
            *_level(result, block),
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
    caption = text(
        "Differences of mean {}, A minus B; P(A > B): probability that {} of A scores higher. p-values of the Mann-Whitney "
        "(MW), Kolmogorov-Smirnov (KS) and Brown-Forsythe (SD) tests{}; alpha {}.",
        result.metric,
        Text(("a run" if all(block.unit == "seed" for block in result.blocks) else "a run or configuration",)),
        Text((corrected,)),
        Text((f"{result.alpha:g}",)),
    )
    return _table(result, columns, rows, name="seed-pairs", caption=caption)


def _matrix(result: Seeds, block: SeedBlock) -> Drawing:
    cells = tuple(
        PairCell(
            pair.a,
            pair.b,
            result.scale.factor * pair.difference,
            pair.mann_whitney_p_corrected,
            bool(pair.winner),
            str(outcome(pair, result.alpha).value),
        )
        for pair in block.pairs
    )
    title = _title(f"Differences of mean {result.metric}, row minus column", result, block)
    points = ", in points" if result.scale.is_percent else ""
    systems = tuple(row.system for row in block.ranked())
    return Drawing(slug("seeds-pairs", block.level), PairMatrix(systems, cells, title, f"{result.metric}{points}"))


def _power_table(result: Seeds) -> Table:
    rows: list[tuple[Content, ...]] = []
    for block in result.blocks:
        for pair in block.pairs:
            power = pair.power
            rows.append(
                (
                    *_level(result, block),
                    text("{} - {}", pair.a, pair.b),
                    power.difference,
                    _seeds(power.seeds),
                    _seed_interval(power.seeds_low, power.seeds_high),
                    power.simulated,
                    power.power_now,
                    power.detectable_difference,
                )
            )
    units = {f"{block.unit}s" for block in result.blocks if block.pairs}
    unit = units.pop() if len(units) == 1 else "runs"
    power_format = number_format(3)
    columns = (
        Column("pair"),
        Column("difference", points_format(result.scale)),
        Column(f"{unit} needed", COUNT),
        Column("95% CI", COUNTS),
        Column("simulated power", power_format),
        Column("power now", power_format),
        Column("smallest detectable difference", score_format(result.scale)),
    )
    comparisons = {pair.power.comparisons for block in result.blocks for pair in block.pairs}
    divided = "" if comparisons == {1} else " / number of pairs" if len(comparisons) > 1 else f" / {comparisons.pop()}"
    caption = (
        f"{unit.capitalize()} of each system needed to find the difference with power {result.target:g}, by Welch's test at alpha "
        f"{result.alpha:g}{divided}; the interval is that of the standard deviations. Power now, and the smallest detectable "
        f"difference, are those of the {unit} at hand."
    )
    return _table(result, columns, rows, caption=caption)


def _seeds(number: float) -> Content:
    return "too many" if math.isinf(number) else number


def _seed_interval(low: float, high: float) -> Content:
    if math.isinf(low):
        return "too many"
    return text("{} or more", Shown(low, COUNT)) if math.isinf(high) else (low, high)


def _differences(result: Seeds) -> Iterator[Block]:
    yield Heading("Differences between seeds", detail=True)
    yield Paragraph(
        "Runs that agree in all settings differ by their seeds alone. A difference between two systems with one run each means "
        "little unless it is larger than the difference between two such runs.",
        detail=True,
    )
    rows: list[tuple[Content, ...]] = []
    for block in result.blocks:
        if found := block.differences:
            two = found.median, found.p95, found.maximum
            spread = found.range_median, found.range_p95, found.range_maximum
            for label, numbers in (("two random seeds", two), ("all seeds, max - min", spread)):
                rows.append((*_level(result, block), label, found.configurations, *numbers))
    form = score_format(result.scale)
    columns = (
        Column("difference between"),
        Column("configurations", COUNT),
        *(Column(heading, form) for heading in ("median", "95% quantile", "max")),
    )
    points = ", in points" if result.scale.is_percent else ""
    caption = text("Differences in {} between runs of the same configuration{}.", result.metric, Text((points,)))
    yield _table(result, columns, rows, caption=caption)
