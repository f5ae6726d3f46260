"""A paragraph for the experimental section: what was done, what it shows, and what to cite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch

from deadheat.paper.methods import (
    NOTHING,
    best_sentences,
    bibtex,
    cite,
    cited_correction,
    cited_splits,
    cited_test,
    evidence_text,
    listing,
    pairs_sentences,
    plain,
    system_list,
)
from deadheat.paper.study_paragraph import search_sentences, study_sentences
from deadheat.ranking.sizes import SetSizes
from deadheat.report.latex import words
from deadheat.report.model import (
    Citation,
    Shown,
    Text,
    Verdict,
    count,
    interval,
    join_text,
    names,
    number,
    p_value,
    score,
    share,
    size_of,
    text,
)
from deadheat.report.views import view
from deadheat.report.views.rank import subsets_text
from deadheat.results.base import Result
from deadheat.results.compare import AverageRanks, Comparison
from deadheat.results.data import Power, SplitReport
from deadheat.results.format import COUNT, PERCENT
from deadheat.results.ledger import LedgerReport, Tally
from deadheat.results.rank import Ranking, SizeStudy
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

    sentences: tuple[Text, ...]

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
        return tuple(dict.fromkeys(key for piece in pieces if isinstance(piece, Citation) for key in piece.keys))

    def bibtex(self) -> str:
        """The entries of what is cited."""
        return bibtex(self.keys)


def paragraph(results: Iterable[Result]) -> ExperimentParagraph:
    """State what was done and what came of it.

    Examples
    --------
    >>> import deadheat
    >>> table = {"A": {"en": 0.9, "de": 0.8, "fi": 0.7}, "B": {"en": 0.8, "de": 0.7, "fi": 0.75}}
    >>> print(paragraph([deadheat.compare_scores(table)]).sentences[2])
    There were too few data sets to tell whether A is better than B (+5.00 points, p = 0.5000).
    """
    results = list(results)
    ordered = sorted(results, key=lambda result: ORDER.index(result.kind) if result.kind in ORDER else len(ORDER))
    sentences = [sentence for result in ordered for sentence in sentences_about(result)]
    sentences += evaluation_sentences(results)
    if sentences:
        sentences.append(text("The analysis was done with Deadheat {}.", join_names(versions(results))))
    return ExperimentParagraph(tuple(sentences))


def versions(results: Iterable[Result]) -> list[str]:
    """The versions of Deadheat that made the results."""
    found: list[str] = []
    for result in results:
        if isinstance(result, StudyResult):
            recorded = [item.versions["deadheat"] for item in result.provenance if "deadheat" in item.versions]
            found += recorded or [result.version]
        else:
            found.append(result.version if isinstance(result, SearchResult) else __version__)
    return list(dict.fromkeys(found))


@singledispatch
def sentences_about(result: Result) -> Iterator[Text]:
    """What is said about one result; nothing about tables of scores and the ledger."""
    return iter(())


sentences_about.register(study_sentences)
sentences_about.register(search_sentences)


@sentences_about.register
def _split(result: SplitReport) -> Iterator[Text]:
    if not result.splits:
        return
    splits = cited_splits(result.strategy, [len(result.splits)], result.seed)
    size = text("{}, {}", count(result.sentences, "sentence"), count(result.words, "word"))
    yield text("We made {} of {} ({}).", splits, result.corpus, size)


def _test_sets(evaluations: Sequence[Tally], template: str) -> Text:
    """The names of test sets, where the ledger has them."""
    return text(template, names([test_set.name for test_set in evaluations])) if evaluations else NOTHING


@sentences_about.register
def _scores(result: Scores) -> Iterator[Text]:
    rows = [row for row in result.rows if not row.group]
    if not rows:
        return
    settings, metrics = result.settings, list(dict.fromkeys(row.metric for row in rows))
    main = "LAS" if "LAS" in metrics else metrics[0]
    own = [row for row in rows if row.metric == main]
    size = text("{} ({})", count(settings.sentences, "sentence"), count(settings.words, "word"))
    size += _test_sets(result.evaluations, " of {}")
    yield text("We scored {} on {} by {}.", count(len(own), "system"), size, names(metrics))
    values = []
    for row in own[:SYSTEMS]:
        known = row.interval.low == row.interval.low
        bounds = text(" {}", interval(row.interval.bounds, PERCENT)) if known else NOTHING
        values.append(text("{} has {}{}", row.system, score(row.value, PERCENT), bounds))
    values += [text("{}", count(len(own) - SYSTEMS, "more system"))] if len(own) > SYSTEMS else []
    yield text("By {}{}, {}.", main, _test_sets(result.evaluations, " on {}"), listing(values))
    level, how = f"{100 * settings.level:.4g}%", plain("by bootstrap") + cite("efron-1979")
    if settings.interval == "auto":
        how = text("Wilson's{}, or {} where a score is not a proportion", cite("wilson-1927"), how)
    yield text("Intervals are {} confidence intervals, {}.", level, how)


@sentences_about.register
def _comparison(result: Comparison) -> Iterator[Text]:
    ranked, settings, units = result.ranked, result.settings, f"{result.unit}s"
    size = text("{}", count(result.units, result.unit)) + _test_sets(result.evaluations, " of {}")
    corrected = cited_correction(settings.correction, len(result.pairs))
    template = f"We compared {{}} by {{}} on {{}} with {{}} at alpha {settings.alpha:g}, with p-values {{}}."
    systems = system_list([row.system for row in ranked])
    yield text(template, systems, result.metric, size, cited_test(result.test, units), corrected)
    best, where = ranked[0].system, _test_sets(result.evaluations, "On {}, ")
    yield text("{}{} had the highest {} ({}).", where, best, result.metric, score(ranked[0].value, result.scale))
    others = []
    for pair in result.pairs:
        if best in (pair.a, pair.b):
            sign, other = (1, pair.b) if pair.a == best else (-1, pair.a)
            opponent = evidence_text(other, sign * pair.difference, result.scale, pair.p_corrected)
            others.append((pair.state(settings.alpha), opponent))
    yield from best_sentences(best, others, units, where=where)
    yield from pairs_sentences([pair.state(settings.alpha) for pair in result.pairs], units, where=where)
    if result.ranks is not None:
        yield _average_ranks(result.ranks)


def _average_ranks(ranks: AverageRanks) -> Text:
    differ = plain("differ" if ranks.friedman_p <= ranks.alpha else "are not shown to differ")
    groups = join_text([text("{}", names(group)) for group in ranks.groups], " and those of ")
    equal = text("the ranks of {} do not differ", groups) if groups else plain("all ranks differ")
    test = plain("Wilcoxon's test of every pair, corrected by Holm's method")
    if ranks.critical_difference is not None:
        test = text("Nemenyi's test (critical difference {})", number(ranks.critical_difference, 2))
    template = "By Friedman's test the ranks over {} {} ({}); by {}, {} significantly{}."
    datasets, p = count(ranks.datasets, "data set"), p_value(ranks.friedman_p)
    return text(template, datasets, differ, p, test, equal, cite("demsar-2006"))


@sentences_about.register
def _seeds(result: Seeds) -> Iterator[Text]:
    blocks = result.blocks
    rows = [row for block in blocks for row in block.systems]
    numbers = sorted({row.summary.n for row in rows})
    runs = text("{} to ", Shown(numbers[0], COUNT)) if len(numbers) > 1 else NOTHING
    runs += text("{}", count(numbers[-1], "run")) + (" each" if len(rows) > 1 else "")
    metric = text("{}", result.metric) + (text(" on {}", result.part) if result.part else NOTHING)
    systems = system_list(list(dict.fromkeys(row.system for row in rows)))
    template = "Over {}, we compared the distributions of {} of {}{}."
    yield text(template, runs, metric, systems, cite("reimers-gurevych-2017"))
    sizes = {len(block.pairs) for block in blocks} - {0}
    if sizes:
        means = any(block.unit == "configuration" for block in blocks)
        what = plain("the means of configurations" if means else "runs")
        corrected = cited_correction(result.correction, sizes.pop() if len(sizes) == 1 else None)
        template = f"The Mann-Whitney test{{}} of {{}} was used at alpha {result.alpha:g}, with p-values {{}}."
        yield text(template, cite("mann-whitney-1947"), what, corrected)
    for block in blocks[:DATASETS]:
        yield from _seed_block(result, block)
    yield from _more(len(blocks))


def _seed_block(result: Seeds, block: SeedBlock) -> Iterator[Text]:
    where = text("On {}, ", block.level) if block.level else NOTHING
    ranked, units = block.ranked(), "runs" if block.unit == "seed" else "configurations"
    scores = []
    for row in ranked:
        spread = text("SD {}", score(row.summary.sd, result.scale)) if row.summary.n > 1 else plain("one run")
        scores.append(text("{} ({}, {})", row.system, score(row.summary.mean, result.scale), spread))
    if len(ranked) == 1:
        yield (
            text("{}the mean {} was {}.", where, result.metric, scores[0])
            if where
            else text("The mean {} was {}.", result.metric, scores[0])
        )
        return
    yield text("{}{} had the highest mean, followed by {}.", where, scores[0], listing(scores[1:]))
    best, others = ranked[0], []
    for row in ranked[1:]:
        pair = block.pair(best.system, row.system)
        gap = best.compared_mean - row.compared_mean
        opponent = evidence_text(row.system, gap, result.scale, pair.mann_whitney_p_corrected)
        others.append((block.state(best.system, row.system, result.alpha), opponent))
    yield from best_sentences(best.system, others, units, where=where)
    states = [block.state(pair.a, pair.b, result.alpha) for pair in block.pairs]
    yield from pairs_sentences(states, units, where=where)


@sentences_about.register
def _contrast(result: Contrast) -> Iterator[Text]:
    blocks = result.blocks
    if not blocks:
        return
    options = dict.fromkeys(option.option or "(empty)" for block in blocks for option in block.comparison.options)
    factor = text("{} ({})", result.factor, names(list(options)))
    runs = text(" that agree in {}", names(result.settings)) if result.settings else NOTHING
    runs += cite("reimers-gurevych-2017")
    pairs = {len(block.comparison.pairs) for block in blocks}
    corrected = cited_correction(result.correction, pairs.pop() if len(pairs) == 1 else None)
    template = f"Pairs were tested with the sign test on configurations at alpha {result.alpha:g}, with p-values {{}}."
    yield text("We compared the options of {} by {} over runs{}.", factor, result.score, runs)
    yield text(template, corrected)
    for block in blocks[:DATASETS]:
        yield from _contrast_block(result, block)
    yield from _more(len(blocks))


def _more(datasets: int) -> Iterator[Text]:
    if datasets > DATASETS:
        yield text("The tables show {}.", count(datasets - DATASETS, "more data set"))


def _contrast_block(result: Contrast, block: ContrastBlock) -> Iterator[Text]:
    level = "/".join(filter(None, (block.level, block.second_level)))
    where = text("On {}, ", level) if level else NOTHING
    found = block.comparison
    best = next(option for option in found.options if option.option == found.best)
    label = best.option or "(empty)"
    won = text("{} of {}", share(best.wins), count(found.configurations, "configuration"))
    yield text("{}{} had the highest score in {}.", where, label, won)
    others = []
    for option in found.options:
        if option is not best:
            p = found.pair(best.option, option.option).sign_p_corrected
            gap = -option.median_difference
            opponent = evidence_text(option.option or "(empty)", gap, result.scale, p, statistic=" at the median")
            others.append((block.state(option.option, result.alpha), opponent))
    yield from best_sentences(label, others, "configurations", where=where)


def _headline(result: Result) -> tuple[Text, ...]:
    """What the view of a result says first, and its remarks."""
    verdict = next(block for block in view(result) if isinstance(block, Verdict))
    return tuple(join_text([sentence]) for sentence in (verdict.headline, *verdict.remarks))


@sentences_about.register
def _ranking(result: Ranking) -> Iterator[Text]:
    systems = text("{}", count(len(result.systems), "system"))
    systems += text(" by {}", result.metric) if result.metric else NOTHING
    datasets = count(result.datasets, "data set")
    yield text("We ranked {} on {}, and on {}{}.", systems, datasets, subsets_text(result), cite("alonso-etal-2022"))
    headline, *remarks = _headline(result)
    yield headline
    tau = result.tau
    if tau.mean == tau.mean:
        between = "between the rankings on a subset and on all data sets"
        template = f"Kendall's tau{{}} {between} is {{}} on average (SD {{}}, minimum {{}})."
        yield text(template, cite("kendall-1938"), number(tau.mean), number(tau.sd), number(tau.min))
    yield from remarks


@sentences_about.register
def _sizes(result: SizeStudy) -> Iterator[Text]:
    reference = "all of it" if result.settings.against == "all" else "the rest"
    template = (
        f"We ranked the systems by {{}} on samples of the test data and on {reference}, and compared the rankings by "
    )
    yield text(template + "weighted tau{}.", result.metric, cite("vigna-2015", "van-der-goot-etal-2024"))
    template = "A size is sufficient if tau is at least {} in at least {} of the draws, then and at all larger sizes."
    yield text(template, number(result.settings.threshold, 2), share(result.settings.confidence))
    if len(result.sets) > 1:
        yield _headline(result)[0]
    yield from map(_set_size, result.sets[:DATASETS])
    yield from _more(len(result.sets))


def _set_size(test_set: SetSizes) -> Text:
    answers = []
    for curve in test_set.curves:
        if curve.sufficient is not None:
            answer = text("{} are sufficient", count(curve.sufficient, "word"))
        elif curve.draws == 1:
            answer = plain("one sample per size is too few to tell")
        else:
            answer = plain("no size tried is sufficient")
        answers.append(text("with samples by {}, {}", curve.strategy, answer))
    return text("Of {} ({}): {}.", test_set.name, count(test_set.words, "word"), join_text(answers, "; "))


@sentences_about.register
def _power(result: Power) -> Iterator[Text]:
    yield from _headline(result)
    template = f"At alpha {result.alpha:g}, the smallest detectable difference at a power of {{}} is {{}} points."
    yield text(template, share(result.target), size_of(result.smallest, PERCENT))


def evaluations_of(results: Iterable[Result]) -> list[Tally]:
    """What the ledger knows of every test set that was evaluated; each once, with the highest count."""
    found: dict[str, Tally] = {}
    for result in results:
        match result:
            case Scores() | Comparison() | SizeStudy():
                test_sets = result.evaluations
            case LedgerReport():
                test_sets = result.test_sets
            case _:
                test_sets = ()
        for test_set in test_sets:
            if test_set.evaluations >= max(1, found.get(test_set.test_set, test_set).evaluations):
                found[test_set.test_set] = test_set
    return list(found.values())


def evaluation_sentences(results: Iterable[Result]) -> Iterator[Text]:
    """How often the test sets were evaluated, by the ledger."""
    found = evaluations_of(results)
    if not found:
        return
    over = sum(test_set.over_budget for test_set in found)
    past = text("; {} of these evaluations exceeded the budget", Shown(over, COUNT)) if over else NOTHING
    total = sum(test_set.evaluations for test_set in found)
    if len(found) == 1:
        systems = f" with {pluralize(len(found[0].systems), 'system')}" if found[0].systems else ""
        who = text("the test set {} has", found[0].name)
        times = plain("once" if total == 1 else f"{total:,} times") + systems
    else:
        who = text("the {} have", count(len(found), "test set"))
        most = max(test_set.evaluations for test_set in found)
        times = text("{} in all and each at most {}", count(total, "time"), count(most, "time"))
    yield text("According to the ledger, {} been evaluated {} so far, this analysis included{}.", who, times, past)
