"""Which option wins over all configurations, and which settings matter."""

from __future__ import annotations

import math
from collections.abc import Iterator

from deadheat.charts.chart import Figure as Drawing
from deadheat.charts.comparisons import IntervalPlot, IntervalRow
from deadheat.ranking.importance import FactorShare, Importance
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
    Signature,
    Table,
    Text,
    View,
    Words,
    count,
    join_text,
    names,
    share,
    text,
)
from deadheat.report.verdict import verdict_block
from deadheat.report.words import correction_words
from deadheat.results.format import COUNT, P_VALUE, SHARE, points_format, score_format
from deadheat.results.runs import Contrast, ContrastBlock
from deadheat.results.verdict import State
from deadheat.text import slug

SETTINGS = 10  # settings, and pairs of settings, in a table of importance
SMALLEST_SHARE = 0.005  # of two settings together
LEVELS = 4  # in the headline
NOISE = "noise between runs of the same settings"
MARKS = {State.NOT_SHOWN: DAGGER, State.TOO_FEW: DOUBLE_DAGGER}


def view(result: Contrast) -> View:
    """The verdict, the options with their wins and differences, and the importance of settings."""
    headline = "" if result.verdict else _headline(result)
    return (verdict_block(result.verdict, headline=headline), *_blocks(result), Signature(result.signature))


def _headline(result: Contrast) -> Words:
    """The setting that matters most, where no options are compared."""
    parts: list[Words] = []
    for level, found in result.importance.items():
        if not found.is_chance:
            first = found.main[0]
            where = text(" on {}", level) if level else Text(())
            parts.append(text("{} ({}{})", first.factors[0], share(first.share), where))
    if not parts:
        return "The shares of all settings are chance: the forest does not predict the scores of unseen runs."
    more = f" and {len(parts) - LEVELS} more" if len(parts) > LEVELS else ""
    said = f"Setting that explains most of the variance of {{}}: {{}}{more}."
    return text(said, result.score, join_text(parts[:LEVELS], ", "))


def _blocks(result: Contrast) -> Iterator[Block]:
    if result.blocks:
        yield from _options(result)
    if result.importance:
        yield from _importance(result)
    for note in result.notes:
        yield Note(note)


def _options(result: Contrast) -> Iterator[Block]:
    yield Heading(text("Options of {}", result.factor), detail=True)
    yield Paragraph(
        "In a configuration, the runs of all options agree in every other setting, and the option with the highest "
        "score wins. The figure shows how much the other options differ from the one with most wins: the median over "
        "configurations, and the range of the middle 90% of them. This range is not a confidence interval; it shows "
        "how far the difference depends on the other settings.",
        detail=True,
    )
    for block in result.blocks:
        yield Figure(_difference_plot(result, block))
    yield _option_table(result)
    yield _configuration_table(result)
    settings = names(result.settings, limit=40) if result.settings else "no setting"
    unpaired = text("; not paired on {}", names(result.unpaired, limit=40)) if result.unpaired else Text(())
    yield Paragraph(text("Runs are paired on {}{}.", settings, unpaired))
    if result.repeats == "each":
        reason = "because runs of one configuration are not independent"
        yield Note(f"Tests use the means of configurations, {reason}.", detail=False)
    yield Note(
        "p (sign) and p (Wilcoxon): tests of the difference to the option with most wins. p (SD): Pitman-Morgan test "
        "of equal standard deviations over configurations. The Brown-Forsythe test compares the standard deviations of "
        "all options, and assumes that options are independent."
    )


def _level_columns(result: Contrast) -> tuple[Column, Column]:
    return Column(result.by), Column(result.second)


def _option_table(result: Contrast) -> Table:
    """Options of every block, the best first; the others are tested against it."""
    rows: list[tuple[Content, ...]] = []
    for block in result.blocks:
        comparison = block.comparison
        for row in comparison.ranked():
            wins = Cell(row.wins, strong=True)
            tests: tuple[float | None, ...] = (None, None, None)
            difference = None if row.option == comparison.best else row.median_difference
            if row.option != comparison.best:
                pair = comparison.pair(comparison.best, row.option)
                wins = Cell(row.wins, mark=MARKS.get(block.state(row.option, result.alpha), ""))
                tests = pair.sign_p_corrected, pair.wilcoxon_p_corrected, pair.pitman_morgan_p_corrected
            rows.append((block.level, block.second_level, row.option, wins, difference, row.median, row.sd, *tests))
    form = score_format(result.scale)
    columns = (
        *_level_columns(result),
        Column(result.factor),
        Column("wins", SHARE),
        Column("median difference", points_format(result.scale)),
        Column("median", form),
        Column("SD", form),
        *(Column(f"p ({test})", P_VALUE) for test in ("sign", "Wilcoxon", "SD")),
    )
    sizes = {len(block.comparison.pairs) for block in result.blocks}
    corrected = correction_words(result.correction, sizes.pop() if len(sizes) == 1 else None, noun="pair")
    how = f"(sign test on configurations, p-values {corrected}, alpha {result.alpha:g})"
    several = f" ({corrected})" if any(len(block.comparison.pairs) > 1 for block in result.blocks) else ""
    caption = (
        f"Share of configurations that each option of {{}} wins; scores: {{}}{result.scale.unit}. Differences and "
    )
    caption += f"p-values{several} are relative to the option with most wins."
    return Table(
        columns,
        tuple(rows),
        name="contrast",
        caption=text(caption, result.factor, result.score),
        marks=(
            Mark(DAGGER, f"not shown to differ from the option with most wins {how}"),
            Mark(DOUBLE_DAGGER, f"too few configurations to show any difference from it {how}"),
        ),
        labels=3,
    ).without_unnamed()


def _configuration_table(result: Contrast) -> Table:
    columns = (
        *_level_columns(result),
        Column("configurations", COUNT),
        Column("runs of each option" if result.repeats == "each" else "", COUNT),
        Column("ties for the highest score", COUNT),
        Column("p (Brown-Forsythe)", P_VALUE),
    )
    rows: list[tuple[Content, ...]] = []
    for block in result.blocks:
        found = block.comparison
        numbers = found.configurations, found.pairings, found.tied, found.spread.p
        rows.append((block.level, block.second_level, *numbers))
    return Table(columns, tuple(rows), labels=2).without_unnamed()


def _difference_plot(result: Contrast, block: ContrastBlock) -> Drawing:
    factor, best = result.scale.factor, block.comparison.best
    rows = []
    for row in block.comparison.ranked()[1:]:
        _, low, _, median, _, high, _ = row.difference_quantiles
        note = "median and middle 90% of configurations"
        rows.append(IntervalRow(row.option, factor * median, factor * low, factor * high, note))
    levels = (result.by, block.level), (result.second, block.second_level)
    where = ", ".join(f"{column} {level}" for column, level in levels if column)
    title = f"Differences to {best}, options of {result.factor}{f': {where}' if where else ''}"
    points = ", in points" if result.scale.is_percent else ""
    plot = IntervalPlot(tuple(rows), title, f"{result.score} minus that of {best}{points}", zero=True)
    return Drawing(slug("contrast", result.factor, block.level, block.second_level), plot)


def _importance(result: Contrast) -> Iterator[Block]:
    yield Heading("Which settings matter", detail=True)
    yield Paragraph(
        "The share of a setting is how much of the variance of scores, over all combinations of settings, it explains; "
        "the share of two settings joined by x is what they explain together beyond each alone.",
        detail=True,
    )
    rows: list[tuple[Content, ...]] = []
    for level, found in result.importance.items():
        shares = _shares(found)
        yield Figure(_share_plot(level, shares))
        rows += [(level, " x ".join(row.factors), row.share) for row in shares]
    columns = Column(result.by), Column("setting"), Column("share", SHARE)
    caption = text("Variance of {} explained by each setting.", result.score)
    yield Table(columns, tuple(rows), name="importance", caption=caption, labels=2).without_unnamed()
    for level, found in result.importance.items():
        where = text("{}: ", level) if level else Text(())
        yield Paragraph(text("{}{}, {}.", where, count(found.runs, "run"), _method(found)))


def _shares(found: Importance) -> list[FactorShare]:
    shares = [*found.main[:SETTINGS], *(pair for pair in found.pairs[:SETTINGS] if pair.share >= SMALLEST_SHARE)]
    if found.method == "exact" and math.isfinite(found.noise):
        shares.append(FactorShare((NOISE,), found.noise))
    return shares


def _share_plot(level: str, shares: list[FactorShare]) -> Drawing:
    rows = tuple(IntervalRow(" x ".join(row.factors), 100 * row.share, math.nan, math.nan) for row in shares)
    largest = max(shares, key=lambda row: row.share)
    description = f"{len(rows)} shares. The largest is that of {' x '.join(largest.factors)}: {share(largest.share)}."
    title = f"Which settings matter{f': {level}' if level else ''}"
    axis = "share of the variance of scores, in percent"
    return Drawing(slug("contrast-importance", level), IntervalPlot(rows, title, axis, description=description))


def _method(found: Importance) -> Text:
    repeated = math.isfinite(found.noise)
    if found.method == "exact":
        often = "equally often" if repeated else "once, so shares include chance"
        return Text((f"exact decomposition: every combination was run {often}",))
    said = "by a forest of regression trees, which explains {} of the variance of unseen runs"
    words = text(said, share(found.explained)) + (": the shares are chance" if found.is_chance else "")
    return words + (text("; {} of the variance is within configurations", share(found.noise)) if repeated else "")
