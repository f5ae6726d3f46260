"""A paragraph for the experimental section: what was done, what it shows, and what to cite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from deadheat.paper.methods import (
    NOTHING,
    best_sentences,
    cited_correction,
    cited_splits,
    cited_test,
    evidence_text,
    listing,
    pairs_sentences,
    system_list,
)
from deadheat.paper.references import bibtex, cite
from deadheat.paper.study_paragraph import search_sentences, study_sentences
from deadheat.report.latex import words
from deadheat.report.model import (
    Citation,
    Shown,
    Text,
    Verdict,
    count,
    interval,
    join_text,
    name,
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
from deadheat.results.contrast import Contrast, ContrastBlock
from deadheat.results.format import COUNT, PERCENT
from deadheat.results.ledger import Evaluations, LedgerReport
from deadheat.results.power import Power
from deadheat.results.rank import Ranking
from deadheat.results.score import Scores
from deadheat.results.search import SearchResult
from deadheat.results.seeds import SeedBlock, Seeds
from deadheat.results.size import SetSizes, SizeStudy
from deadheat.results.split import SplitReport
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
    >>> for sentence in paragraph([deadheat.compare_scores(table)]).sentences:
    ...     print(sentence)
    We compared 2 systems (A and B) by score on 3 data sets with the exact permutation test on data sets at alpha 0.05, \
with p-values of a single test.
    A had the highest score (80.00).
    There were too few data sets to tell whether A is better than B (+5.00 points).
    The analysis was done with Deadheat 0.1.0.
    """
    results = list(results)
    ordered = sorted(results, key=lambda result: ORDER.index(result.kind) if result.kind in ORDER else len(ORDER))
    sentences = [sentence for result in ordered for sentence in result_sentences(result)]
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


def result_sentences(result: Result) -> Iterator[Text]:  # noqa: PLR0911 (one for each kind of result)
    """What is said about one result; nothing about tables of scores, which others rest on."""
    match result:
        case SplitReport():
            return _split(result)
        case StudyResult():
            return study_sentences(result)
        case SearchResult():
            return search_sentences(result)
        case Scores():
            return _scores(result)
        case Comparison():
            return _comparison(result)
        case Seeds():
            return _seeds(result)
        case Contrast():
            return _contrast(result)
        case Ranking():
            return _ranking(result)
        case SizeStudy():
            return _sizes(result)
        case Power():
            return _power(result)
    return iter(())


def _split(result: SplitReport) -> Iterator[Text]:
    if not result.splits:
        return
    splits = cited_splits(result.strategy, [len(result.splits)], result.seed)
    size = text("{}, {}", count(result.sentences, "sentence"), count(result.words, "word"))
    yield text("We made {} of {} ({}).", splits, result.corpus, size)


def _test_sets(evaluations: Sequence[Evaluations], template: str) -> Text:
    """The names of test sets, where the ledger has them."""
    return text(template, names([test_set.name for test_set in evaluations])) if evaluations else NOTHING


def _scores(result: Scores) -> Iterator[Text]:
    rows = [row for row in result.rows if not row.group]
    if not rows:
        return
    settings, metrics = result.settings, list(dict.fromkeys(row.metric for row in rows))
    main = "LAS" if "LAS" in metrics else metrics[0]
    yield text(
        "We scored {} on {} ({}){} by {}.",
        count(len({row.system for row in rows}), "system"),
        count(settings.sentences, "sentence"),
        count(settings.words, "word"),
        _test_sets(result.evaluations, " of {}"),
        names(metrics),
    )
    own = [row for row in rows if row.metric == main]
    values = [text("{} has {}", row.system, score(row.value, PERCENT)) for row in own[:SYSTEMS]]
    for at, row in enumerate(own[:SYSTEMS]):
        if row.interval.low == row.interval.low:
            values[at] += text(" {}", interval(row.interval.bounds, PERCENT))
    if len(own) > SYSTEMS:
        values.append(text("{}", count(len(own) - SYSTEMS, "more system")))
    yield text("By {}{}, {}.", main, _test_sets(result.evaluations, " on {}"), listing(values))
    methods = {
        "auto": Text(("Wilson's",)) + cite("wilson-1927") + ", or by bootstrap" + cite("efron-1979")
        + " where a score is not a proportion",
        "bootstrap": Text(("by bootstrap",)) + cite("efron-1979"),
    }  # fmt: skip
    if settings.interval in methods:
        level = f"{100 * settings.level:.4g}%"
        yield text("Intervals are {} confidence intervals, {}.", level, methods[settings.interval])


def _comparison(result: Comparison) -> Iterator[Text]:
    ranked, settings, units = result.ranked, result.settings, f"{result.unit}s"
    yield text(
        "We compared {} by {} on {}{} with {} at alpha {}, with p-values {}.",
        system_list([row.system for row in ranked]),
        result.metric,
        count(result.units, result.unit),
        _test_sets(result.evaluations, " of {}"),
        cited_test(result.test, units),
        f"{settings.alpha:g}",
        cited_correction(settings.correction, len(result.pairs)),
    )
    best, where = ranked[0].system, _test_sets(result.evaluations, "On {}, ")
    yield text("{}{} had the highest {} ({}).", where, best, result.metric, score(ranked[0].value, result.scale))
    others = []
    for pair in result.pairs:
        if best in (pair.a, pair.b):
            sign, other = (1, pair.b) if pair.a == best else (-1, pair.a)
            state = pair.state(settings.alpha)
            others.append((state, evidence_text(other, sign * pair.difference, result.scale, pair.p_corrected)))
    yield from best_sentences(best, others, units, where=where)
    yield from pairs_sentences([pair.state(settings.alpha) for pair in result.pairs], units, where=where)
    if result.ranks is not None:
        yield _average_ranks(result.ranks)


def _average_ranks(ranks: AverageRanks) -> Text:
    differ = "differ" if ranks.friedman_p <= ranks.alpha else "are not shown to differ"
    groups = [text("{}", names(group)) for group in ranks.groups]
    same = text("the ranks of {} do not differ significantly", join_text(groups, "; of ")) if groups else NOTHING
    test = Text(("Wilcoxon's test of every pair, corrected by Holm's method",))
    if ranks.critical_difference is not None:
        test = text("Nemenyi's test (critical difference {})", number(ranks.critical_difference, 2))
    return text(
        "By Friedman's test the ranks over {} {} ({}); by {}, {}{}.",
        count(ranks.datasets, "data set"),
        Text((differ,)),
        p_value(ranks.friedman_p),
        test,
        same or Text(("the ranks of all systems differ significantly",)),
        cite("demsar-2006"),
    )


def _seeds(result: Seeds) -> Iterator[Text]:
    blocks = result.blocks
    rows = [row for block in blocks for row in block.systems]
    runs = sorted({row.summary.n for row in rows})
    several = text("{} to ", Shown(runs[0], COUNT)) if len(runs) > 1 else NOTHING
    yield text(
        "Over {}{}{}, we compared the distributions of {}{} of {}{}.",
        several,
        count(runs[-1], "run"),
        Text((" each" if len(rows) > 1 else "",)),
        result.metric,
        text(" on {}", result.part) if result.part else NOTHING,
        system_list(list(dict.fromkeys(row.system for row in rows))),
        cite("reimers-gurevych-2017"),
    )
    sizes = {len(block.pairs) for block in blocks} - {0}
    if sizes:
        means = any(block.unit == "configuration" for block in blocks)
        yield text(
            "The Mann-Whitney test{} of {} was used at alpha {}, with p-values {}.",
            cite("mann-whitney-1947"),
            Text(("the means of configurations" if means else "runs",)),
            f"{result.alpha:g}",
            cited_correction(result.correction, sizes.pop() if len(sizes) == 1 else None),
        )
    for block in blocks[:DATASETS]:
        yield from _seed_block(result, block)
    if len(blocks) > DATASETS:
        yield text("The tables show {}.", count(len(blocks) - DATASETS, "more data set"))


def _seed_block(result: Seeds, block: SeedBlock) -> Iterator[Text]:
    where = text("On {}, ", block.level) if block.level else NOTHING
    ranked, units = block.ranked(), "runs" if block.unit == "seed" else "configurations"
    scores = []
    for row in ranked:
        spread = text("SD {}", score(row.summary.sd, result.scale)) if row.summary.n > 1 else Text(("one run",))
        scores.append(text("{} ({}, {})", row.system, score(row.summary.mean, result.scale), spread))
    if len(ranked) == 1:
        yield text("{}the mean {} was {}.", where, result.metric, scores[0]) if where else text(
            "The mean {} was {}.", result.metric, scores[0]
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


def _contrast(result: Contrast) -> Iterator[Text]:
    blocks = result.blocks
    if not blocks:
        return
    options = dict.fromkeys(option.option or "(empty)" for block in blocks for option in block.comparison.options)
    pairs = {len(block.comparison.pairs) for block in blocks}
    yield text(
        "We compared the options of {} ({}) by {} over runs{}{} with the sign test on configurations at alpha {}, with "
        "p-values {}.",
        result.factor,
        names(list(options)),
        result.score,
        text(" that agree in {}", names(result.settings)) if result.settings else NOTHING,
        cite("reimers-gurevych-2017"),
        f"{result.alpha:g}",
        cited_correction(result.correction, pairs.pop() if len(pairs) == 1 else None),
    )
    for block in blocks[:DATASETS]:
        yield from _contrast_block(result, block)
    if len(blocks) > DATASETS:
        yield text("The tables show {}.", count(len(blocks) - DATASETS, "more data set"))


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


def _ranking(result: Ranking) -> Iterator[Text]:
    yield text(
        "We ranked {}{} on {}, and on {}{}.",
        count(len(result.systems), "system"),
        text(" by {}", result.metric) if result.metric else NOTHING,
        count(result.datasets, "data set"),
        subsets_text(result),
        cite("alonso-etal-2022"),
    )
    headline, *remarks = _headline(result)
    yield headline
    tau = result.tau
    if tau.mean == tau.mean:
        yield text(
            "Kendall's tau{} between the ranking on a subset and that on all data sets is {} on average (SD {}, minimum {}).",
            cite("kendall-1938"),
            number(tau.mean),
            number(tau.sd),
            number(tau.min),
        )
    yield from remarks
    stable = sum(row.best == row.worst for row in result.systems)
    systems = count(len(result.systems), "system")
    yield text("{} of {} had the same rank on every subset.", Shown(stable, COUNT) if stable else name("None"), systems)


def _sizes(result: SizeStudy) -> Iterator[Text]:
    reference = "all of it" if result.settings.against == "all" else "the rest"
    yield text(
        "We ranked the systems by {} on samples of the test data and on {}, and compared the rankings by weighted tau{}.",
        result.metric,
        Text((reference,)),
        cite("vigna-2015", "van-der-goot-etal-2024"),
    )
    headline, *remarks = _headline(result)
    yield from remarks
    yield headline
    for test_set in result.sets[:DATASETS]:
        yield _set_size(test_set)
    if len(result.sets) > DATASETS:
        yield text("The tables show {}.", count(len(result.sets) - DATASETS, "more test set"))


def _set_size(test_set: SetSizes) -> Text:
    answers = []
    for curve in test_set.curves:
        if curve.sufficient is not None:
            answer = text("{} are sufficient", count(curve.sufficient, "word"))
        elif curve.draws == 1:
            answer = Text(("one sample per size is too few to tell",))
        else:
            answer = Text(("no size tried is sufficient",))
        answers.append(text("with samples by {}, {}", curve.strategy, answer))
    return text("Of {} ({}): {}.", test_set.name, count(test_set.words, "word"), join_text(answers, "; "))


def _power(result: Power) -> Iterator[Text]:
    yield from _headline(result)
    yield text(
        "At alpha {}, the smallest detectable difference at a power of {} is {} points.",
        f"{result.alpha:g}",
        share(result.target),
        size_of(result.smallest, PERCENT),
    )


def evaluations_of(results: Iterable[Result]) -> list[Evaluations]:
    """What the ledger knows of every test set that was evaluated; each once, with the highest count."""
    found: dict[str, Evaluations] = {}
    for result in results:
        match result:
            case Scores() | Comparison() | SizeStudy():
                test_sets = result.evaluations
            case LedgerReport():
                test_sets = result.test_sets
            case _:
                test_sets = ()
        for test_set in test_sets:
            if test_set.count >= max(1, found.get(test_set.test_set, test_set).count):
                found[test_set.test_set] = test_set
    return list(found.values())


def evaluation_sentences(results: Iterable[Result]) -> Iterator[Text]:
    """How often the test sets were evaluated, by the ledger."""
    found = evaluations_of(results)
    if not found:
        return
    over = sum(test_set.over_budget for test_set in found)
    past = text("; {} of these evaluations exceeded the budget", Shown(over, COUNT)) if over else NOTHING
    total = sum(test_set.count for test_set in found)
    if len(found) == 1:
        systems = f" with {pluralize(len(found[0].systems), 'system')}" if found[0].systems else ""
        who = text("the test set {} has", found[0].name)
        times = Text(("once" if total == 1 else f"{total:,} times",)) + systems
    else:
        who = text("the {} have", count(len(found), "test set"))
        most = max(test_set.count for test_set in found)
        times = text("{} in all and each at most {}", count(total, "time"), count(most, "time"))
    yield text("According to the ledger, {} been evaluated {} so far, this analysis included{}.", who, times, past)
