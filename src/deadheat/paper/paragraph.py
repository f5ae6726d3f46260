"""A paragraph for the experimental section: what was done, what it shows, and what to cite."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import singledispatch

from deadheat.paper.comparison_paragraph import comparison_sentences, named_test_sets
from deadheat.paper.methods import (
    NOTHING,
    best_sentences,
    bibtex,
    cite,
    cited_correction,
    cited_splits,
    evidence_text,
    pairs_sentences,
    system_list,
)
from deadheat.paper.study_paragraph import search_sentences, study_sentences
from deadheat.ranking.sizes import SetSizes
from deadheat.reporting import model as m
from deadheat.reporting.latex import words
from deadheat.reporting.views import view
from deadheat.reporting.views.rank import subsets_text
from deadheat.results.base import Result
from deadheat.results.compare import Comparison
from deadheat.results.data import Power, SplitReport
from deadheat.results.format import PERCENT, unit_names
from deadheat.results.ledger import LedgerReport, Tally
from deadheat.results.rank import CORRECTION, Ranking, SizeStudy
from deadheat.results.runs import Contrast, ContrastBlock, SeedBlock, Seeds
from deadheat.results.score import Scores
from deadheat.results.search import SearchResult
from deadheat.results.study import StudyResult
from deadheat.text import join_names, pluralize
from deadheat.version import __version__

# In the order in which a paper tells them.
ORDER = ("split", "study", "search", "score", "compare", "seeds", "contrast", "rank", "size", "power")
SYSTEMS, DATASETS = 5, 3  # that are described one by one


@dataclass(frozen=True, slots=True)
class ExperimentParagraph:
    """Sentences, as plain text and as LaTeX, and the publications they cite."""

    sentences: tuple[m.Text, ...]

    def __str__(self) -> str:
        return " ".join(map(str, self.sentences))

    @property
    def latex(self) -> str:
        r"""LaTeX with `\citep`, one sentence per line."""
        return "\n".join(map(words, self.sentences))

    @property
    def keys(self) -> tuple[str, ...]:
        """What is cited, in order."""
        pieces = [piece for sentence in self.sentences for piece in sentence.pieces]
        return tuple(dict.fromkeys(key for piece in pieces if isinstance(piece, m.Citation) for key in piece.keys))

    def bibtex(self) -> str:
        """The entries of what is cited."""
        return bibtex(self.keys)


def paragraph(results: Iterable[Result]) -> ExperimentParagraph:
    """State what was done and what came of it.

    Examples
    --------
    >>> import deadheat
    >>> table = {"A": {"en": 0.9, "de": 0.8, "fi": 0.7}, "B": {"en": 0.8, "de": 0.7, "fi": 0.75}}
    >>> print(paragraph([deadheat.compare_scores(table)]).sentences[3])  # doctest: +NORMALIZE_WHITESPACE
    There were too few data sets to tell whether A is better than B
    (+5.00 points, 95% CI [-16.51, +26.51], p = 0.4226).
    """
    results = list(results)
    ordered = sorted(results, key=lambda result: ORDER.index(result.kind) if result.kind in ORDER else len(ORDER))
    sentences = [sentence for result in ordered for sentence in sentences_about(result)]
    sentences += evaluation_sentences(results)
    if sentences:
        sentences.append(m.text("The analysis was done with Deadheat {}.", join_names(versions(results))))
    return ExperimentParagraph(tuple(sentences))


def versions(results: Iterable[Result]) -> list[str]:
    """The versions of Deadheat that made the results."""
    used: list[str] = []
    for result in results:
        if isinstance(result, StudyResult):
            recorded = [item.versions["deadheat"] for item in result.provenance if "deadheat" in item.versions]
            used += recorded or [result.version]
        else:
            used.append(result.version if isinstance(result, SearchResult) else __version__)
    return list(dict.fromkeys(used))


@singledispatch
def sentences_about(result: Result) -> Iterator[m.Text]:
    """What is said about one result; nothing about tables of scores and the ledger."""
    return iter(())


sentences_about.register(comparison_sentences)
sentences_about.register(study_sentences)
sentences_about.register(search_sentences)


@sentences_about.register
def _split(result: SplitReport) -> Iterator[m.Text]:
    if not result.splits:
        return
    splits = cited_splits(result.strategy, [len(result.splits)], result.seed)
    size = m.text("{}, {}", m.count(result.sentences, "sentence"), m.count(result.words, "word"))
    yield m.text("We made {} of {} ({}).", splits, result.corpus, size)


@sentences_about.register
def _scores(result: Scores) -> Iterator[m.Text]:
    rows = [row for row in result.rows if not row.group]
    if not rows:
        return
    settings, metrics = result.settings, list(dict.fromkeys(row.metric for row in rows))
    main = "LAS" if "LAS" in metrics else metrics[0]
    scores = [row for row in rows if row.metric == main]
    size = m.text("{} ({})", m.count(settings.sentences, "sentence"), m.count(settings.words, "word"))
    size += named_test_sets(result.evaluations, " of {}")
    yield m.text("We scored {} on {} by {}.", m.count(len(scores), "system"), size, m.names(metrics))
    values = []
    for row in scores[:SYSTEMS]:
        has_interval = not math.isnan(row.interval.low)
        bounds = m.text(" {}", m.interval(row.interval.bounds, PERCENT)) if has_interval else NOTHING
        values.append(m.text("{} has {}{}", row.system, m.score(row.value, PERCENT), bounds))
    values += [m.text("{}", m.count(len(scores) - SYSTEMS, "more system"))] if len(scores) > SYSTEMS else []
    yield m.text("By {}{}, {}.", main, named_test_sets(result.evaluations, " on {}"), m.listing(values))
    level, units = f"{100 * settings.level:.4g}%", unit_names(settings.unit)
    wilson, jackknife = cite("wilson-1927"), m.text(f"the jackknife{{}} over {units}", cite("miller-1974"))
    how = {
        "bootstrap": m.text(f"by bootstrap of {units}{{}}", cite("efron-1979")),
        "wilson": m.text("Wilson's{}, or by {} where a score is not a proportion", wilson, jackknife),
    }.get(settings.interval, m.text("Wilson's{} with the standard error of {}", wilson, jackknife))
    yield m.text("Intervals are {} confidence intervals, {}.", level, how)


@sentences_about.register
def _seeds(result: Seeds) -> Iterator[m.Text]:
    blocks = result.blocks
    rows = [row for block in blocks for row in block.systems]
    numbers = sorted({row.summary.n for row in rows})
    runs = m.text("{} to ", numbers[0]) if len(numbers) > 1 else NOTHING
    runs += m.text("{}", m.count(numbers[-1], "run")) + (" each" if len(rows) > 1 else "")
    metric = m.text("{}", result.metric) + (m.text(" on {}", result.part) if result.part else NOTHING)
    systems = system_list(list(dict.fromkeys(row.system for row in rows)))
    template = "Over {}, we compared the distributions of {} of {}{}."
    yield m.text(template, runs, metric, systems, cite("reimers-gurevych-2017"))
    sizes = {len(block.pairs) for block in blocks} - {0}
    if sizes:
        means = any(block.unit == "configuration" for block in blocks)
        what = m.text("the means of configurations" if means else "runs")
        corrected = cited_correction(result.correction, sizes)
        template = f"Means were compared by Welch's test{{}} of {{}} at alpha {result.alpha:g}, with p-values {{}}."
        yield m.text(template, cite("welch-1947"), what, corrected)
    for block in blocks[:DATASETS]:
        yield from _seed_block(result, block)
    yield from _more(len(blocks))
    if sizes:
        yield m.text("These differences are between runs on the same test set, and need not hold on another.")


def _seed_block(result: Seeds, block: SeedBlock) -> Iterator[m.Text]:
    where = m.text("On {}, ", block.level) if block.level else NOTHING
    ranked, units = block.ranked(), "runs" if block.unit == "seed" else "configurations"
    scores = []
    for row in ranked:
        spread = m.text("SD {}", m.score(row.summary.sd, result.scale)) if row.summary.n > 1 else m.text("one run")
        scores.append(m.text("{} ({}, {})", row.system, m.score(row.summary.mean, result.scale), spread))
    if len(ranked) == 1:
        yield m.text("{}{} mean {} was {}.", where, m.text("the" if where else "The"), result.metric, scores[0])
        return
    yield m.text("{}{} had the highest mean, followed by {}.", where, scores[0], m.listing(scores[1:]))
    best, others = ranked[0], []
    for row in ranked[1:]:
        pair = block.pair(best.system, row.system)
        gap = best.compared_mean - row.compared_mean
        opponent = evidence_text(row.system, gap, result.scale, pair.means.p_corrected)
        others.append((block.state(best.system, row.system, result.margin), opponent))
    yield from best_sentences(best.system, others, units, where=where, shown="scored significantly higher")
    states = [block.state(pair.a, pair.b, result.margin) for pair in block.pairs]
    yield from pairs_sentences(states, units, where=where)


@sentences_about.register
def _contrast(result: Contrast) -> Iterator[m.Text]:
    blocks = result.blocks
    if not blocks:
        return
    options = dict.fromkeys(option.option or "(empty)" for block in blocks for option in block.comparison.options)
    factor = m.text("{} ({})", result.factor, m.names(list(options)))
    runs = m.text(" that agree in {}", m.names(result.settings)) if result.settings else NOTHING
    runs += cite("reimers-gurevych-2017")
    corrected = cited_correction(result.correction, (len(block.comparison.pairs) for block in blocks))
    template = f"Pairs were tested with the sign test on configurations at alpha {result.alpha:g}, with p-values {{}}."
    yield m.text("We compared the options of {} by {} over runs{}.", factor, result.score, runs)
    yield m.text(template, corrected)
    for block in blocks[:DATASETS]:
        yield from _contrast_block(result, block)
    yield from _more(len(blocks))


def _more(datasets: int) -> Iterator[m.Text]:
    if datasets > DATASETS:
        yield m.text("The tables show {}.", m.count(datasets - DATASETS, "more data set"))


def _contrast_block(result: Contrast, block: ContrastBlock) -> Iterator[m.Text]:
    level = "/".join(filter(None, (block.level, block.second_level)))
    where = m.text("On {}, ", level) if level else NOTHING
    comparison = block.comparison
    best = next(option for option in comparison.options if option.option == comparison.best)
    label = best.option or "(empty)"
    won = m.text("{} of {}", m.share(best.wins), m.count(comparison.configurations, "configuration"))
    yield m.text("{}{} had the highest score in {}.", where, label, won)
    others = []
    for option in comparison.options:
        if option is not best:
            p = comparison.pair(best.option, option.option).sign_p_corrected
            gap = -option.median_difference
            opponent = evidence_text(option.option or "(empty)", gap, result.scale, p, statistic=" at the median")
            others.append((block.state(option.option, result.alpha), opponent))
    yield from best_sentences(label, others, "configurations", where=where)


def _headline(result: Result) -> tuple[m.Text, ...]:
    """What the view of a result says first, and its remarks."""
    verdict = next(block for block in view(result) if isinstance(block, m.Verdict))
    return tuple(m.join_text([sentence]) for sentence in (verdict.headline, *verdict.remarks))


@sentences_about.register
def _ranking(result: Ranking) -> Iterator[m.Text]:
    systems = m.text("{}", m.count(len(result.systems), "system"))
    systems += m.text(" by {}", result.metric) if result.metric else NOTHING
    datasets = m.count(result.datasets, "data set")
    yield m.text("We ranked {} on {}, and on {}{}.", systems, datasets, subsets_text(result), cite("alonso-etal-2022"))
    if result.has_tests:
        corrected = cited_correction(CORRECTION, [len(result.pairs)])
        words = f"Mean differences over data sets were tested with Student's t-test at alpha {result.alpha:g}, with "
        yield m.text(words + "p-values {}.", corrected)
    headline, *remarks = _headline(result)
    yield headline
    tau = result.tau
    if tau.mean == tau.mean:
        between = "between the rankings on a subset and on all data sets"
        template = f"Kendall's tau{{}} {between} is {{}} on average (SD {{}}, minimum {{}})."
        yield m.text(template, cite("kendall-1938"), m.number(tau.mean), m.number(tau.sd), m.number(tau.min))
    yield from remarks


@sentences_about.register
def _sizes(result: SizeStudy) -> Iterator[m.Text]:
    reference = "all of it" if result.settings.against == "all" else "the rest"
    template = (
        f"We ranked the systems by {{}} on samples of the test data and on {reference}, and compared the rankings by "
    )
    yield m.text(template + "weighted tau{}.", result.metric, cite("vigna-2015", "van-der-goot-etal-2024"))
    template = (
        "A size is sufficient if tau is at least {} in at least {} of the draws, at that size and all larger ones."
    )
    yield m.text(template, m.number(result.settings.threshold, 2), m.share(result.settings.confidence))
    if len(result.sets) > 1:
        yield _headline(result)[0]
    yield from map(_set_size, result.sets[:DATASETS])
    yield from _more(len(result.sets))


def _set_size(test_set: SetSizes) -> m.Text:
    answers = []
    for curve in test_set.curves:
        if curve.sufficient is not None:
            answer = m.text("{} are sufficient", m.count(curve.sufficient, "word"))
        elif curve.draws == 1:
            answer = m.text("one sample per size is too few to tell")
        else:
            answer = m.text("no size tried is sufficient")
        answers.append(m.text("with samples by {}, {}", curve.strategy, answer))
    return m.text("Of {} ({}): {}.", test_set.name, m.count(test_set.words, "word"), m.join_text(answers, "; "))


@sentences_about.register
def _power(result: Power) -> Iterator[m.Text]:
    yield from _headline(result)
    template = f"At alpha {result.alpha:g}, the smallest detectable difference at a power of {{}} is {{}} points."
    yield m.text(template, m.share(result.target), m.size_of(result.smallest, PERCENT))


def evaluations_of(results: Iterable[Result]) -> list[Tally]:
    """What the ledger knows of every test set that was evaluated; each once, with the highest count."""
    tallies: dict[str, Tally] = {}
    for result in results:
        match result:
            case Scores() | Comparison() | SizeStudy() | Power():
                test_sets = result.evaluations
            case LedgerReport():
                test_sets = result.test_sets
            case _:
                test_sets = ()
        for test_set in test_sets:
            if test_set.evaluations >= max(1, tallies.get(test_set.test_set, test_set).evaluations):
                tallies[test_set.test_set] = test_set
    return list(tallies.values())


def evaluation_sentences(results: Iterable[Result]) -> Iterator[m.Text]:
    """How often the test sets were evaluated, by the ledger."""
    tallies = evaluations_of(results)
    if not tallies:
        return
    over = sum(test_set.over_budget for test_set in tallies)
    past = m.text("; {} of these evaluations exceeded the budget", over) if over else NOTHING
    total = sum(test_set.evaluations for test_set in tallies)
    if len(tallies) == 1:
        systems = f" with {pluralize(len(tallies[0].systems), 'system')}" if tallies[0].systems else ""
        who = m.text("the test set {} has", tallies[0].name)
        times = m.text("once" if total == 1 else f"{total:,} times") + systems
    else:
        who = m.text("the {} have", m.count(len(tallies), "test set"))
        most = max(test_set.evaluations for test_set in tallies)
        times = m.text("{} in all and each at most {}", m.count(total, "time"), m.count(most, "time"))
    yield m.text("According to the ledger, {} been evaluated {} so far, this analysis included{}.", who, times, past)
