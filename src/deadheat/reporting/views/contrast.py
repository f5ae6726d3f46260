"""Which option wins over all configurations, and which settings matter."""

from __future__ import annotations

import math
from collections.abc import Iterator

from deadheat.charts.comparisons import IntervalPlot, IntervalRow
from deadheat.ranking.importance import FactorShare, Importance
from deadheat.reporting import model as m
from deadheat.reporting.verdict import MARKS, mark_meanings, verdict_block
from deadheat.results.format import COUNT, P_VALUE, SHARE, correction_words
from deadheat.results.runs import Contrast, ContrastBlock
from deadheat.text import slug

SETTINGS = 10  # settings, and pairs of settings, in a table of importance
SMALLEST_SHARE = 0.005  # of two settings together
LEVELS = 4  # in the headline
AVERAGE = "average"  # the level of rows with means over levels
NOISE = "noise between runs of the same settings"


def view(result: Contrast) -> Iterator[m.Block]:
    """The verdict, the options with their wins and differences, and the importance of settings."""
    yield verdict_block(result.verdict, headline="" if result.verdict else _headline(result))
    if result.blocks:
        yield from _options(result)
    if result.importance:
        yield from _importance(result)


def _headline(result: Contrast) -> m.Words:
    """The setting that matters most, where no options are compared."""
    parts: list[m.Words] = []
    for level, importance in result.importance.items():
        if not importance.is_chance:
            first = importance.main[0]
            where = m.text(" on {}", level) if level else None
            parts.append(m.text("{} ({}{})", first.factors[0], m.share(first.share), where))
    if not parts:
        return "The shares of all settings are chance: the forest does not predict the scores of unseen runs."
    more = f" and {len(parts) - LEVELS} more" if len(parts) > LEVELS else ""
    words = f"Setting that explains the largest share of the variance of {{}}: {{}}{more}."
    return m.text(words, result.score, m.join_text(parts[:LEVELS], ", "))


def _options(result: Contrast) -> Iterator[m.Block]:
    yield m.Heading(m.text("Options of {}", result.factor), detail=True)
    yield m.explanation(
        "In a configuration, the runs of all options agree in every other setting, and the option with the highest "
        "score wins. The figure shows how much the other options differ from the one with most wins: the median over "
        "configurations, and the range of the middle 90% of them. This range is not a confidence interval; it shows "
        "how far the difference depends on the other settings."
    )
    for block in result.blocks:
        yield _difference_figure(result, block)
    yield _option_table(result)
    yield _configuration_table(result)
    settings = m.names(result.settings, limit=40) if result.settings else "no setting"
    unpaired = m.text("; not paired on {}", m.names(result.unpaired, limit=40)) if result.unpaired else None
    yield m.paragraph("Runs are paired on {}{}.", settings, unpaired)
    if result.repeats == "each":
        reason = "because runs of one configuration are not independent"
        yield m.Note(f"Tests use the means of configurations, {reason}.", detail=False)
    yield m.Note(
        "p (sign) and p (Wilcoxon): tests of the difference to the option with most wins. p (spread): paired "
        "Brown-Forsythe test of whether scores of the two options are equally far from their medians. It needs five "
        "configurations."
    )


def _option_table(result: Contrast) -> m.Table:
    """Options of every block, the best first; the others are tested against it."""
    rows: list[m.Row] = []
    for block in result.blocks:
        best = block.comparison.best
        for row in block.comparison.ranked():
            cells: list[m.Content] = [m.Cell(row.wins, strong=True), None, row.median, row.sd, None, None, None]
            if row.option != best:
                pair = block.comparison.pair(best, row.option)
                wins = m.Cell(row.wins, mark=MARKS[block.state(row.option, result.alpha)])
                tests = pair.sign_p_corrected, pair.wilcoxon_p_corrected, pair.spread_p_corrected
                cells = [wins, row.median_difference, row.median, row.sd, *tests]
            rows.append((block.level, block.second_level, row.option, *cells))
    rows += _average_rows(result)
    columns = (
        *map(m.Column, (result.by, result.second, result.factor)),
        m.Column("wins", SHARE),
        m.Column("median difference", result.scale.difference),
        *m.columns(result.scale.score, "median", "SD"),
        *m.columns(P_VALUE, "p (sign)", "p (Wilcoxon)", "p (spread)"),
    )
    sizes = {len(block.comparison.pairs) for block in result.blocks}
    corrected = correction_words(result.correction, sizes.pop() if len(sizes) == 1 else None, noun="pair")
    test = f" (sign test on configurations, p-values {corrected}, alpha {result.alpha:g})"
    several = f" ({corrected})" if any(len(block.comparison.pairs) > 1 for block in result.blocks) else ""
    average = m.text(f" {AVERAGE.capitalize()}: mean over all levels of {{}}.", result.by) if result.averages else None
    caption = m.text(
        f"Share of configurations that each option of {{}} wins; scores: {{}}{result.scale.unit}. Differences and "
        f"p-values{several} are relative to the option with most wins.{{}}",
        result.factor,
        result.score,
        average,
    )
    marks = mark_meanings(test, "configurations", best="the option with most wins")
    return m.Table(columns, rows, "contrast", caption, marks, labels=3).without_unnamed()


def _average_rows(result: Contrast) -> list[m.Row]:
    """Mean wins over the levels, the highest in bold."""
    highest: dict[str, float] = {}
    for row in result.averages:
        highest.setdefault(row.second_level, row.wins)  # the best comes first
    return [
        (AVERAGE, row.second_level, row.option, m.Cell(row.wins, strong=row.wins == highest[row.second_level]))
        + (None,) * 6
        for row in result.averages
    ]


def _configuration_table(result: Contrast) -> m.Table:
    runs = "runs of each option" if result.repeats == "each" else ""
    columns = (
        *map(m.Column, (result.by, result.second)),
        *m.columns(COUNT, "configurations", runs, "ties for the highest score"),
    )
    rows: list[m.Row] = []
    for block in result.blocks:
        options = block.comparison
        numbers = options.configurations, options.pairings, options.tied
        rows.append((block.level, block.second_level, *numbers))
    return m.Table(columns, rows, labels=2).without_unnamed()


def _difference_figure(result: Contrast, block: ContrastBlock) -> m.Figure:
    factor, best = result.scale.factor, block.comparison.best
    rows = []
    for row in block.comparison.ranked()[1:]:
        _, low, _, median, _, high, _ = row.difference_quantiles
        note = "median and middle 90% of configurations"
        rows.append(IntervalRow(row.option, factor * median, factor * low, factor * high, note))
    levels = (result.by, block.level), (result.second, block.second_level)
    where = ", ".join(f"{column} {level}" for column, level in levels if column)
    title = f"Differences to {best}, options of {result.factor}{f': {where}' if where else ''}"
    axis = f"{result.score} minus that of {best}{result.scale.in_points}"
    plot = IntervalPlot(tuple(rows), title, axis, zero=True)
    return m.figure(slug("contrast", result.factor, block.level, block.second_level), plot)


def _importance(result: Contrast) -> Iterator[m.Block]:
    yield m.Heading("Which settings matter", detail=True)
    yield m.explanation(
        "The share of a setting is how much of the variance of scores, over all combinations of settings, it explains; "
        "the share of two settings joined by x is what they explain together beyond each alone."
    )
    rows: list[m.Row] = []
    for level, importance in result.importance.items():
        shares = _shares(importance)
        yield _share_figure(level, shares)
        rows += [(level, " x ".join(row.factors), row.share) for row in shares]
    columns = m.Column(result.by), m.Column("setting"), m.Column("share", SHARE)
    caption = m.text("Variance of {} explained by each setting.", result.score)
    yield m.Table(columns, rows, name="importance", caption=caption, labels=2).without_unnamed()
    for level, importance in result.importance.items():
        where = m.text("{}: ", level) if level else None
        yield m.paragraph("{}{}, {}.", where, m.count(importance.runs, "run"), _method(importance))


def _shares(importance: Importance) -> list[FactorShare]:
    pairs = [pair for pair in importance.pairs[:SETTINGS] if pair.share >= SMALLEST_SHARE]
    noise = importance.method == "exact" and math.isfinite(importance.noise)
    return [*importance.main[:SETTINGS], *pairs, *([FactorShare((NOISE,), importance.noise)] if noise else [])]


def _share_figure(level: str, shares: list[FactorShare]) -> m.Figure:
    rows = tuple(IntervalRow(" x ".join(row.factors), 100 * row.share, math.nan, math.nan) for row in shares)
    largest = max(shares, key=lambda row: row.share)
    description = f"{len(rows)} shares. The largest is that of {' x '.join(largest.factors)}: {m.share(largest.share)}."
    title = f"Which settings matter{f': {level}' if level else ''}"
    axis = "share of the variance of scores, in percent"
    return m.figure(slug("contrast-importance", level), IntervalPlot(rows, title, axis, description=description))


def _method(importance: Importance) -> m.Text:
    repeated = math.isfinite(importance.noise)
    if importance.method == "exact":
        often = "equally often" if repeated else "once, so shares include chance"
        return m.text(f"exact decomposition: every combination was run {often}")
    chance = ": the shares are chance" if importance.is_chance else ""
    within = m.text("; {} of the variance is within configurations", m.share(importance.noise)) if repeated else None
    words = f"by a forest of regression trees, which explains {{}} of the variance of unseen runs{chance}{{}}"
    return m.text(words, m.share(importance.explained), within)
