"""Which differences between systems are real."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import replace

from deadheat.charts.chart import Plot
from deadheat.charts.comparisons import IntervalPlot, IntervalRow, PairCell, PairMatrix
from deadheat.charts.ranks import CriticalDifferenceDiagram
from deadheat.charts.sentences import DependencyTree, LabelledSentence, SystemLabels, TagRows
from deadheat.reporting import model as m
from deadheat.reporting.verdict import mark_meanings, outcome_cell, verdict_block
from deadheat.reporting.views.compare_datasets import dataset_table, forests, marks_against
from deadheat.results.compare import Agreement, AverageRanks, Comparison, DisputedSentence, PairwiseTest
from deadheat.results.format import (
    NAME,
    P_VALUE,
    PERCENT,
    RANK,
    RANK_TEST_NAMES,
    SHARE,
    correction_words,
    interval_name,
    name_of_test,
    unit_names,
)
from deadheat.results.verdict import margin_of
from deadheat.text import pluralize, slug

DRAWN = 40  # pairs or systems in a figure
ROWS = 15  # of a table that is not folded
LISTED = 1000  # pairs in a table
SENTENCES, SENTENCE_SYSTEMS = 5, 6  # disputed sentences, and systems under one of them
TEXT_UNITS = {"sentence", "document", "token", "block"}
TREES = ("head", "head and relation")  # labels that are drawn as trees
TEST_MEANINGS = {
    "clustered-t": "Student's t with the jackknife's standard error",
    "permutation-exact": "all ways to swap the two systems' results are enumerated",
    "randomization": "the two systems' results are swapped at random many times",
    "bootstrap": "test sets are resampled from the one at hand",
    "mcnemar-midp": "it looks at what only one of the two systems has right; intervals are Tango's",
    "mcnemar-exact": "it looks at what only one of the two systems has right; intervals are Tango's",
    "wilcoxon": "it looks at the ranks of the differences, so every unit has the same weight",
    "sign": "it counts on how many units each of the two systems is better",
}


def view(result: Comparison) -> Iterator[m.Block]:
    """The verdict, the scores, every pair, ranks over data sets, and where systems disagree."""
    yield verdict_block(result.verdict, remarks=list(_scope(result)))
    yield m.Heading(m.text("{} of each system", result.metric), detail=True)
    level = interval_name(result.settings.alpha)
    yield m.explanation(
        "Two scores may differ significantly although their intervals overlap: the tests below pair what all systems "
        f"did on the same {unit_names(result.unit)}."
    )
    yield m.figure("compare-scores", _score_plot(result, level))
    several = len(result.datasets) > 1
    yield dataset_table(result) if several else _score_table(result, level)
    yield m.Heading("Differences", detail=True)
    pairs = _ranked_pairs(result)
    if len(pairs) > 1:
        yield m.explanation(
            "The p-value is the probability of a difference at least this large if neither system is better; it is "
            "corrected for the number of pairs, and the interval is widened likewise, so that it excludes zero where "
            'the corrected p-value is significant. "Not told apart" does not mean that two systems are equally good.'
        )
    yield m.figure("compare-differences", _difference_plot(result, pairs))
    yield _pair_table(result, pairs, level)
    if several:
        yield from forests(result, pairs)
    complete = len(result.pairs) == len(result.systems) * (len(result.systems) - 1) // 2
    if complete and 3 <= len(result.systems) <= DRAWN:
        yield m.figure("compare-pairs", _matrix_plot(result))
    yield from _method_notes(result)
    if result.ranks is not None:
        yield from _ranks(result.ranks)
    if result.agreement is not None:
        yield from _agreement(result.agreement)


def over_corpora(result: Comparison, title: m.Words, *, detail: bool = False) -> Iterator[m.Block]:
    """Systems of a study over all of its corpora: scores, every pair, and differences by corpus."""
    yield m.Heading(title, detail=detail)
    pairs, file = _ranked_pairs(result), slug("study", result.dataset, result.metric, result.unit)
    yield replace(dataset_table(result), name=f"{file}-systems", detail=detail)
    table = _pair_table(result, pairs, interval_name(result.settings.alpha))
    yield replace(table, name=f"{file}-pairs", detail=detail)
    for at, block in enumerate(forests(result, pairs, file)):
        yield replace(block, detail=True) if detail or at else block


def _scope(result: Comparison) -> Iterator[m.Words]:
    """What the verdict is about, and where its noise comes from."""
    several = len(result.datasets) > 1
    if several:
        of_text = set(result.unit.split(" or ")) <= TEXT_UNITS
        vary = f"other {'texts' if of_text else unit_names(result.unit)}"
        trained = of_text or result.runs > 1
        separate = " Runs on different data sets count as separate trainings." if of_text else ""
        yield (
            f"These data sets: would {vary}{' and other runs' * trained} on the same data sets agree? Data sets like "
            f"these: would other data sets?{separate}"
        )
    if result.pairs and all(pair.about_runs for pair in result.pairs):
        models = "the verdict over these data sets" if several else "the verdict"
        yield f"Each system has one run: {models} is about these trained models, and training again may change it."
    yield from _noise(result)
    for dataset in result.datasets[:1] if not several else ():
        if not math.isnan(dataset.design_effect):
            effect = m.number(dataset.design_effect, 2)
            words = "The text has {}; the variance of a difference is {} times as large by document as by sentence."
            yield m.text(words, m.count(dataset.documents, "document"), effect)


def _noise(result: Comparison) -> Iterator[m.Text]:
    """How much of the noise comes from the runs, for the first pair."""
    pair = next((pair for pair in _ranked_pairs(result) if not math.isnan(pair.run_share)), None)
    if pair is None:
        return
    text = "text" if set(result.unit.split(" or ")) <= TEXT_UNITS else unit_names(result.unit)
    help_text = f"more runs and more {text} help about equally"
    if not 0.4 <= pair.run_share <= 0.6:
        help_text = f"more {'runs' if pair.run_share > 0.6 else text} would help most"
    share = m.share(pair.run_share)
    units = unit_names(result.unit)
    words = f"Of the noise in {{}} - {{}}, {{}} comes from the runs and the rest from the {units}: {help_text}."
    yield m.text(words, pair.a, pair.b, share)


def _score_table(result: Comparison, level: str) -> m.Table:
    ranked, scale = result.ranked, result.scale
    metrics = list(dict.fromkeys(row.metric for row in result.extra_scores))
    extra = {(row.system, row.metric): row.value for row in result.extra_scores}
    best = ranked[0].system
    marks = marks_against(result, best, [row.system for row in ranked[1:]])
    cells = m.best_cells([row.value for row in ranked], scale.score, marks=marks, lowest=result.lower_is_better)
    rows: list[m.Row] = [
        (row.system, cell, row.interval.bounds, *(extra.get((row.system, metric)) for metric in metrics))
        for row, cell in zip(ranked, cells, strict=True)
    ]
    columns = [m.Column("system"), m.Column(result.metric, scale.score), m.Column(level, scale.interval)]
    columns += m.columns(PERCENT.score, *metrics)
    corrected = correction_words(result.settings.correction, len(result.pairs))
    units = unit_names(result.unit)
    test = f"{name_of_test(result.test)} on {units}, p-values {corrected}, alpha {result.settings.alpha:g}"
    return m.Table(columns, rows, name="systems", marks=mark_meanings(f" ({test})", units))


def _ranked_pairs(result: Comparison) -> list[PairwiseTest]:
    """The first pairs, those of the best systems, and in every pair the one that is ahead; a reference stays first."""
    position = {row.system: at for at, row in enumerate(result.ranked)}
    pairs = heapq.nsmallest(LISTED, result.pairs, key=lambda pair: sorted((position[pair.a], position[pair.b])))
    return [pair if pair.difference >= 0 or result.reference else pair.turned() for pair in pairs]


def _pair_table(result: Comparison, pairs: list[PairwiseTest], level: str) -> m.Table:
    scale, several = result.scale, len(result.datasets) > 1
    columns = [m.Column("pair"), m.Column("difference", scale.difference), m.Column(level, scale.difference_interval)]
    columns.append(m.Column("error reduction" if scale.is_percent else "", SHARE))
    columns += m.columns(P_VALUE, "p", f"p ({result.settings.correction})")
    columns += m.columns(NAME, "ahead on" * several, "shown better on" * several)
    columns += [m.Column("detectable", scale.size), m.Column("outcome")]
    rows: list[m.Row] = []
    for pair in pairs:
        gap = pair.difference, pair.interval.bounds, pair.error_reduction
        of_all, counts = len(pair.by_dataset), (pair.ahead_on, pair.shown_on)
        on = [m.text("{} of {}", number, of_all) if of_all else None for number in counts]
        outcome = pair.detectable, _outcome(result, pair)
        rows.append((m.text("{} - {}", pair.a, pair.b), *gap, pair.p, pair.p_corrected, *on, *outcome))
    test = f"{name_of_test(result.test)} on {unit_names(result.unit)}: {result.reason}"
    order = "by which the first has the lower score" if result.lower_is_better else "first minus second"
    caption = f"Differences {'in points, ' if scale.is_percent else ''}{order}; {test}."
    caption += f" The first {len(pairs):,} of {len(result.pairs):,} pairs." if len(pairs) < len(result.pairs) else ""
    caption += " Intervals are widened as p-values are corrected." if len(pairs) > 1 else ""
    caption += " Detectable: the smallest difference that the data show with power 80%."
    if several:
        caption += " Shown better on: at least so many data sets, by the partial conjunction test (Dror et al. 2017)."
    return m.Table(columns, rows, "pairs", caption, folded=len(rows) > ROWS).without_unnamed()


def _outcome(result: Comparison, pair: PairwiseTest) -> m.Cell:
    return outcome_cell(pair.winner(result.settings.alpha), pair.state(result.settings.alpha))


def _method_notes(result: Comparison) -> Iterator[m.Note]:
    meaning = f" ({TEST_MEANINGS[result.test]})" if result.test in TEST_MEANINGS else ""
    reason = f"; {result.reason}" if result.reason != "asked for" else ""
    yield m.Note(f"Test: {name_of_test(result.test)} on {unit_names(result.unit)}{meaning}{reason}.")
    corrected = correction_words(result.settings.correction, len(result.pairs))
    yield m.Note(f"Outcomes use p-values {corrected}, at alpha {result.settings.alpha:g}.")
    margin = margin_of(result.settings.margin, result.scale)
    if not math.isnan(margin):
        unit = " points" if result.scale.is_percent else ""
        words = f"Two systems are equal (a dead heat) if the interval of their difference is within {{}}{unit}."
        yield m.Note(m.text(words, m.size_of(margin, result.scale)))


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
    rows = []
    for pair in drawn:
        value, low, high = factor * pair.difference, factor * pair.interval.low, factor * pair.interval.high
        note = f"{m.p_value(pair.p_corrected)}, {_outcome(result, pair).value}"
        rows.append(IntervalRow(f"{pair.a} - {pair.b}", value, low, high, note))
    title = f"Differences in {result.metric}, with {interval_name(result.settings.alpha)}"
    return IntervalPlot(tuple(rows), title, f"difference in {result.metric}{result.scale.in_points}", zero=True)


def _matrix_plot(result: Comparison) -> Plot:
    cells = []
    for pair in result.pairs:
        significant = bool(pair.winner(result.settings.alpha))
        gap, words = result.scale.factor * pair.difference, str(_outcome(result, pair).value)
        cells.append(PairCell(pair.a, pair.b, gap, pair.p_corrected, significant, words))
    systems = tuple(row.system for row in result.ranked)
    title = f"Differences in {result.metric}, row minus column"
    return PairMatrix(systems, tuple(cells), title, f"{result.metric}{result.scale.in_points}")


def _ranks(ranks: AverageRanks) -> Iterator[m.Block]:
    """Average ranks over data sets, and systems whose ranks do not differ significantly."""
    title = "Average ranks over data sets"
    yield m.Heading(title)
    words = "On each of {}, the best system has rank 1. Friedman's test of equal ranks ({}): {}."
    if ranks.critical_difference is not None:
        words += f" Average ranks differ significantly if they are {ranks.critical_difference:.2f} or more apart."
    yield m.paragraph(
        words, m.count(ranks.datasets, "data set"), m.text(ranks.friedman_method), m.p_value(ranks.friedman_p)
    )
    if 2 <= len(ranks.systems) <= DRAWN:
        groups = tuple(tuple(ranks.systems.index(name) for name in group) for group in ranks.groups)
        plot = CriticalDifferenceDiagram(ranks.systems, ranks.ranks, groups, title, ranks.critical_difference)
        yield m.figure("compare-ranks", plot)
    columns = (m.Column("system"), m.Column("average rank", RANK))
    rows = sorted(zip(ranks.systems, ranks.ranks, strict=True), key=lambda row: (row[1], row[0]))
    yield m.Table(columns, rows, "ranks", folded=len(rows) > ROWS)
    if ranks.groups:
        test = f"{RANK_TEST_NAMES.get(ranks.method, ranks.method)}, alpha {ranks.alpha:g}"
        tied = m.join_text([m.names(group, limit=DRAWN) for group in ranks.groups], "; ")
        yield m.explanation(
            f"Ranks alone, without the sizes of the differences, do not tell apart ({test}): {{}}.", tied
        )


def _agreement(agreement: Agreement) -> Iterator[m.Block]:
    """Agreement, what the systems could reach together, and the sentences they disagree on most."""
    yield m.Heading("Where the systems disagree")
    oracle, majority = m.score(agreement.oracle, PERCENT), m.score(agreement.majority, PERCENT)
    by_majority = m.text(", the majority on {}%", majority) if agreement.majority == agreement.majority else None
    words = "Agreement on {}: Krippendorff's alpha {}. At least one system is right on {}% of the words{}."
    yield m.paragraph(words, agreement.labels, m.number(agreement.alpha, 4), oracle, by_majority)
    if agreement.sentences:
        yield m.explanation(
            "These are the sentences on which the systems agree least, not a representative sample. Labels that differ "
            "from gold are marked."
        )
    yield from disputed_sentences(agreement, "compare")
    systems = min((len(sentence.labels) for sentence in agreement.sentences), default=0)
    if systems > SENTENCE_SYSTEMS:
        yield m.Note(f"Each sentence shows the first {SENTENCE_SYSTEMS} of {pluralize(systems, 'system')}.")


def disputed_sentences(agreement: Agreement, name: str, *, detail: bool = False) -> Iterator[m.Figure]:
    """The sentences that systems disagree on most, which a terminal shows as tables."""
    for at, sentence in enumerate(agreement.sentences[:SENTENCES], start=1):
        plot = _sentence_plot(sentence, agreement.labels)
        yield m.figure(f"{name}-disagreement-{at}", plot, alternative=_sentence_table(sentence), detail=detail)


def _sentence_plot(sentence: DisputedSentence, labels: str) -> Plot:
    systems = tuple(SystemLabels(*item) for item in list(sentence.labels.items())[:SENTENCE_SYSTEMS])
    labelled = LabelledSentence(sentence.words, sentence.gold, systems)
    title = f"{sentence.location} (alpha {sentence.alpha:.3f})"
    return DependencyTree(labelled, title) if labels in TREES else TagRows(labelled, title)


def _sentence_table(sentence: DisputedSentence) -> m.Table:
    """Words in a row, below them the labels of gold and, where they differ from gold, of every system."""
    rows: list[m.Row] = [("gold", *sentence.gold)]
    for system, labels in sentence.labels.items():
        cells = [
            m.Cell(label, tone="bad") if label != gold else m.Cell(".", tone="muted")
            for label, gold in zip(labels, sentence.gold, strict=True)
        ]
        rows.append((system, *cells))
    caption = m.text("{} (alpha {})", sentence.location, m.number(sentence.alpha))
    return m.Table(m.columns(NAME, "", *sentence.words), rows, caption=caption)
