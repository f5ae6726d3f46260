"""Which differences between systems are real."""

from __future__ import annotations

from collections.abc import Iterator

from deadheat.charts.chart import Figure as Drawing
from deadheat.charts.chart import Plot
from deadheat.charts.comparisons import IntervalPlot, IntervalRow, PairCell, PairMatrix
from deadheat.charts.ranks import CriticalDifferenceDiagram
from deadheat.charts.sentences import DependencyTree, LabelledSentence, SystemLabels, TagRows
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
    best_cells,
    count,
    join_text,
    names,
    number,
    p_value,
    score,
    text,
)
from deadheat.report.verdict import verdict_block
from deadheat.report.words import RANK_TESTS, correction_words, name_of_test
from deadheat.results.compare import Agreement, AverageRanks, Comparison, DisputedSentence, PairwiseTest
from deadheat.results.format import (
    P_VALUE,
    PERCENT,
    RANK,
    SHARE,
    interval_format,
    interval_name,
    points_format,
    score_format,
)
from deadheat.results.verdict import State
from deadheat.text import pluralize

DRAWN = 40  # pairs or systems in a figure
ROWS = 15  # of a table that is not folded
SENTENCES, SENTENCE_SYSTEMS = 5, 6  # disputed sentences, and systems under one of them
TREES = ("head", "head and relation")  # labels that are drawn as trees
TEST_MEANINGS = {
    "permutation-exact": "all ways to swap the two systems' results are enumerated",
    "randomization": "the two systems' results are swapped at random many times",
    "bootstrap": "test sets are resampled from the one at hand",
    "mcnemar-midp": "it looks at what only one of the two systems has right",
    "mcnemar-exact": "it looks at what only one of the two systems has right",
    "wilcoxon": "it looks at the ranks of the differences, so every unit has the same weight",
    "sign": "it counts on how many units each of the two systems is better",
}


def view(result: Comparison) -> View:
    """The verdict, the scores, every pair, ranks over data sets, and where systems disagree."""
    return (verdict_block(result.verdict), *_blocks(result), Signature(result.signature))


def _blocks(result: Comparison) -> Iterator[Block]:
    yield Heading(text("{} of each system", result.metric), detail=True)
    level = interval_name(result.settings.alpha)
    yield Paragraph(
        f"Two scores may differ significantly although their intervals overlap: the tests below pair what all systems did on "
        f"the same {result.unit}s.",
        detail=True,
    )
    yield Figure(Drawing("compare-scores", _score_plot(result, level)))
    yield _score_table(result, level)
    yield Heading("Differences", detail=True)
    pairs = _ranked_pairs(result)
    if len(pairs) > 1:
        yield Paragraph(
            "The p-value is the probability of a difference at least this large if neither system is better; it is corrected for "
            'the number of pairs. "Not shown" does not mean that two systems are equally good.',
            detail=True,
        )
    yield Figure(Drawing("compare-differences", _difference_plot(result, pairs)))
    yield _pair_table(result, pairs, level)
    complete = len(pairs) == len(result.systems) * (len(result.systems) - 1) // 2
    if complete and 3 <= len(result.systems) <= DRAWN:
        yield Figure(Drawing("compare-pairs", _matrix_plot(result)))
    yield from _method_notes(result)
    if result.ranks is not None:
        yield from _ranks(result.ranks)
    if result.agreement is not None:
        yield from agreement_blocks(result.agreement)


def _score_table(result: Comparison, level: str) -> Table:
    ranked, scale = result.ranked, result.scale
    metrics = list(dict.fromkeys(row.metric for row in result.extra_scores))
    extra = {(row.system, row.metric): row.value for row in result.extra_scores}
    few = {
        name
        for pair in result.pairs
        for name in (pair.a, pair.b)
        if ranked[0].system in (pair.a, pair.b) and pair.state(result.settings.alpha) is State.TOO_FEW
    }
    marks = [
        "" if not at or row.system not in result.tied else DOUBLE_DAGGER if row.system in few else DAGGER
        for at, row in enumerate(ranked)
    ]
    cells = best_cells([row.value for row in ranked], score_format(scale), marks=marks)
    how = (
        f"({name_of_test(result.test)} on {result.unit}s, p-values "
        f"{correction_words(result.settings.correction, len(result.systems) * (len(result.systems) - 1) // 2)}, "
        f"alpha {result.settings.alpha:g})"
    )
    rows: list[tuple[Content, ...]] = [
        (row.system, cell, row.interval.bounds, *(extra.get((row.system, metric)) for metric in metrics))
        for row, cell in zip(ranked, cells, strict=True)
    ]
    return Table(
        (
            Column("system"),
            Column(result.metric, score_format(scale)),
            Column(level, interval_format(scale)),
            *(Column(metric, score_format(PERCENT)) for metric in metrics),
        ),
        tuple(rows),
        name="systems",
        marks=(
            Mark(DAGGER, f"not shown to differ from the best {how}"),
            Mark(DOUBLE_DAGGER, f"too few {result.unit}s to show any difference from the best {how}"),
        ),
    )


def _ranked_pairs(result: Comparison) -> list[PairwiseTest]:
    """Pairs of the best systems first."""
    position = {row.system: at for at, row in enumerate(result.ranked)}
    return sorted(result.pairs, key=lambda pair: sorted((position[pair.a], position[pair.b])))


def _pair_table(result: Comparison, pairs: list[PairwiseTest], level: str) -> Table:
    settings, scale = result.settings, result.scale
    percent = scale.is_percent
    columns = (
        Column("pair"),
        Column("difference", points_format(scale)),
        Column(level, interval_format(scale, signed=True)),
        *((Column("error reduction", SHARE),) if percent else ()),
        Column("p", P_VALUE),
        Column(f"p ({settings.correction})", P_VALUE),
        Column("outcome"),
    )
    rows: list[tuple[Content, ...]] = [
        (
            text("{} - {}", pair.a, pair.b),
            pair.difference,
            pair.interval.bounds,
            *((pair.error_reduction,) if percent else ()),
            pair.p,
            pair.p_corrected,
            outcome_cell(pair, settings.alpha),
        )
        for pair in pairs
    ]
    unit = "in points, " if percent else ""
    caption = f"Differences {unit}first minus second; {name_of_test(result.test)} on {result.unit}s: {result.reason}."
    return Table(columns, tuple(rows), name="pairs", caption=caption, folded=len(rows) > ROWS)


def outcome_cell(pair: PairwiseTest, alpha: float) -> Cell:
    """What the test of a pair says, in words."""
    winner = pair.winner(alpha)
    if winner:
        return Cell(text("{} is better", winner), tone="good")
    return Cell(pair.state(alpha).value, tone="muted")


def _method_notes(result: Comparison) -> Iterator[Note]:
    settings = result.settings
    meaning = TEST_MEANINGS.get(result.test, "")
    reason = f"; chosen because {result.reason}" if result.reason != "asked for" else ""
    yield Note(f"Test: {name_of_test(result.test)} on {result.unit}s{f' ({meaning})' if meaning else ''}{reason}.")
    corrected = correction_words(settings.correction, len(result.pairs))
    yield Note(
        f"Outcomes use p-values {corrected}, at alpha {settings.alpha:g}. Each interval is a bootstrap over {result.unit}s for its "
        "pair alone, so it may exclude zero where the corrected test shows nothing."
    )
    for note in result.notes:
        yield Note(note)


def _score_plot(result: Comparison, level: str) -> Plot:
    factor = result.scale.factor
    rows = tuple(
        IntervalRow(row.system, factor * row.value, factor * row.interval.low, factor * row.interval.high)
        for row in result.ranked
    )
    return IntervalPlot(rows, f"{result.metric} of each system, with {level}", f"{result.metric}{result.scale.unit}")


def _difference_plot(result: Comparison, pairs: list[PairwiseTest]) -> Plot:
    factor, best = result.scale.factor, result.ranked[0].system
    drawn = pairs if len(pairs) <= DRAWN else [pair for pair in pairs if best in (pair.a, pair.b)][:DRAWN]
    rows = tuple(
        IntervalRow(
            f"{pair.a} - {pair.b}",
            factor * pair.difference,
            factor * pair.interval.low,
            factor * pair.interval.high,
            f"{p_value(pair.p_corrected)}, {outcome_cell(pair, result.settings.alpha).value}",
        )
        for pair in drawn
    )
    points = ", in points" if result.scale.is_percent else ""
    title = f"Differences in {result.metric}, with {interval_name(result.settings.alpha)}"
    return IntervalPlot(rows, title, f"difference in {result.metric}{points}", zero=True)


def _matrix_plot(result: Comparison) -> Plot:
    alpha, factor = result.settings.alpha, result.scale.factor
    cells = tuple(
        PairCell(
            pair.a,
            pair.b,
            factor * pair.difference,
            pair.p_corrected,
            bool(pair.winner(alpha)),
            str(outcome_cell(pair, alpha).value),
        )
        for pair in result.pairs
    )
    points = ", in points" if result.scale.is_percent else ""
    systems = tuple(row.system for row in result.ranked)
    return PairMatrix(systems, cells, f"Differences in {result.metric}, row minus column", f"{result.metric}{points}")


def _ranks(ranks: AverageRanks) -> Iterator[Block]:
    """Average ranks over data sets, and systems whose ranks do not differ significantly."""
    order = sorted(range(len(ranks.systems)), key=lambda i: (ranks.ranks[i], ranks.systems[i]))
    yield Heading("Average ranks over data sets")
    apart = ""
    if ranks.critical_difference is not None:
        apart = f" Average ranks differ significantly if they are {ranks.critical_difference:.2f} or more apart."
    yield Paragraph(
        text(
            "On each of {}, the best system has rank 1. Friedman's test of equal ranks (Iman and Davenport's form): {}.",
            count(ranks.datasets, "data set"),
            p_value(ranks.friedman_p),
        )
        + apart
    )
    if 2 <= len(order) <= DRAWN:
        groups = tuple(tuple(ranks.systems.index(name) for name in group) for group in ranks.groups)
        yield Figure(
            Drawing(
                "compare-ranks",
                CriticalDifferenceDiagram(
                    ranks.systems, ranks.ranks, groups, "Average ranks over data sets", ranks.critical_difference
                ),
            )
        )
    columns = (Column("system"), Column("average rank", RANK))
    rows = tuple((ranks.systems[i], ranks.ranks[i]) for i in order)
    yield Table(columns, rows, name="ranks", folded=len(rows) > ROWS)
    if ranks.groups:
        groups_text = join_text([names(group, limit=DRAWN) for group in ranks.groups], "; ")
        yield Paragraph(text("Not shown to differ by rank ({}): {}.", _method(ranks), groups_text))


def _method(ranks: AverageRanks) -> Text:
    return Text((f"{RANK_TESTS.get(ranks.method, ranks.method)}, alpha {ranks.alpha:g}",))


def agreement_blocks(agreement: Agreement, *, label: str = "compare", about: str = "") -> Iterator[Block]:
    """Agreement, what the systems could reach together, and the sentences they disagree on most."""
    yield Heading(text("Where the systems disagree{}", Text((f" on {about}",)) if about else Text(())))
    said = text(
        "Agreement on {}: Krippendorff's alpha {}. At least one system is right on {}% of the words",
        agreement.labels,
        number(agreement.alpha, 4),
        score(agreement.oracle, PERCENT),
    )
    if agreement.majority == agreement.majority:
        said = said + text(", the majority on {}%", score(agreement.majority, PERCENT))
    yield Paragraph(said + ".")
    sentences = agreement.sentences[:SENTENCES]
    if sentences:
        yield Paragraph(
            "These are the sentences on which the systems agree least, not a fair sample. Labels that differ from gold are marked.",
            detail=True,
        )
    for at, sentence in enumerate(sentences, start=1):
        yield Figure(
            Drawing(f"{label}-disagreement-{at}", _sentence_plot(sentence, agreement.labels)),
            alternative=_sentence_table(sentence),
            detail=False,
        )
    systems = min((len(sentence.labels) for sentence in sentences), default=0)
    if systems > SENTENCE_SYSTEMS:
        yield Note(f"Each sentence shows the first {SENTENCE_SYSTEMS} of {pluralize(systems, 'system')}.")


def _sentence_plot(sentence: DisputedSentence, labels: str) -> Plot:
    systems = tuple(SystemLabels(*item) for item in list(sentence.labels.items())[:SENTENCE_SYSTEMS])
    labelled = LabelledSentence(sentence.words, sentence.gold, systems)
    title = f"{sentence.location} (alpha {sentence.alpha:.3f})"
    return DependencyTree(labelled, title) if labels in TREES else TagRows(labelled, title)


def _sentence_table(sentence: DisputedSentence) -> Table:
    """Words in a row, below them the labels of gold and, where they differ from gold, of every system."""
    columns = (Column(""), *(Column(word) for word in sentence.words))
    rows: list[tuple[Content, ...]] = [("gold", *sentence.gold)]
    for system, labels in sentence.labels.items():
        pairs = zip(labels, sentence.gold, strict=True)
        rows.append(
            (system, *(Cell(label, tone="bad") if label != gold else Cell(".", tone="muted") for label, gold in pairs))
        )
    caption = text("{} (alpha {})", sentence.location, number(sentence.alpha))
    return Table(columns, tuple(rows), caption=caption)
