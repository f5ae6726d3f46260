"""What the paragraph says about comparisons of systems on one test set or many."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from deadheat.paper.methods import (
    NOTHING,
    best_sentences,
    cite,
    cited_correction,
    cited_test,
    clustered_error,
    evidence_text,
    margin_sentences,
    pairs_sentences,
    system_list,
    widened,
)
from deadheat.reporting.model import Text, count, interval, join_text, names, number, p_value, score, text
from deadheat.results.compare import AverageRanks, Comparison, PairwiseTest
from deadheat.results.format import interval_name, unit_names
from deadheat.results.ledger import Tally
from deadheat.results.verdict import State, opposite
from deadheat.stats.intervals import Interval
from deadheat.stats.paired import NAMED_TESTS
from deadheat.text import pluralize

DATASETS = 12  # that are named


def comparison_sentences(result: Comparison) -> Iterator[Text]:
    """What was compared, how, and what it shows on the data sets at hand and about others like them."""
    several, units = len(result.datasets) > 1, unit_names(result.unit)
    size = text("{}", count(result.units, result.unit)) + named_test_sets(result.evaluations, " of {}")
    if several:
        listed = names([dataset.dataset for dataset in result.datasets], limit=DATASETS)
        size = text("{} ({})", count(len(result.datasets), "data set"), listed)
    systems = system_list([row.system for row in result.ranked]) + _runs(result)
    test = cited_test(result.test, units)
    corrected = correction_text(result)
    template = f"We compared {{}} by {{}} on {{}} with {{}} at alpha {result.settings.alpha:g}, with p-values {{}}."
    yield text(template, systems, result.metric, size, test, corrected)
    if result.datasets:
        opening = "The standard error of a difference is"
        if result.test in NAMED_TESTS:
            opening = "Intervals of differences are by Student's t, with the standard error"
        yield clustered_error(opening, units, runs=result.runs > 1, several=several)
    yield from margin_sentences(result.settings.margin, result.scale)
    if several:
        yield from scope_sentences("data sets")
    single = [pair.about_runs for pair in result.pairs]
    if any(single):
        which = "Each system has one run" if all(single) else "Where both systems have one run"
        yield text(f"{which}{':' if all(single) else ','} what is shown is shown of these trained models.")
    where = named_test_sets(result.evaluations, "On {}, ") if not several else NOTHING
    yield from outcome_sentences(result, "data sets", where=where)
    if result.ranks is not None:
        yield _average_ranks(result.ranks)


def named_test_sets(evaluations: Sequence[Tally], template: str) -> Text:
    """The names of test sets, where the ledger has them."""
    return text(template, names([test_set.name for test_set in evaluations])) if evaluations else NOTHING


def correction_text(result: Comparison) -> Text:
    """How the p-values of all pairs were corrected; a pair that was planned is not counted."""
    tests = [len(result.pairs) - len(_planned(result)) or 1]
    corrected = cited_correction(result.settings.correction, tests)
    return corrected + widened(result.settings.correction, tests)


def _planned(result: Comparison) -> list[PairwiseTest]:
    return [pair for pair in result.pairs if {pair.a, pair.b} == set(result.settings.planned or ())]


def _runs(result: Comparison) -> Text:
    """`, with 3 to 5 runs each`, where some system has several."""
    numbers = sorted({row.runs for dataset in result.datasets for row in dataset.systems})
    if not numbers or numbers == [1]:
        return NOTHING
    least = f"{numbers[0]} to " if len(numbers) > 1 else ""
    return text(f", with {least}{pluralize(numbers[-1], 'run')} each,")


def scope_sentences(noun: str) -> Iterator[Text]:
    """How differences on several data sets or corpora were put together."""
    words = (
        f"Differences were averaged over {noun}, each with the same weight. For {noun} like these, the standard error "
    )
    words += (
        f"is that of the mean of the differences if it is greater, on as many degrees of freedom as {noun} minus 1."
    )
    yield text(words)
    template = f"The least number of {noun} on which a system is better is by the test of partial conjunctions{{}}."
    yield text(template, cite("benjamini-heller-2008", "dror-etal-2017"))


def outcome_sentences(result: Comparison, noun: str, *, where: Text = NOTHING) -> Iterator[Text]:
    """Who has the highest score and what is shown about the others, here and elsewhere."""
    best, alpha, several = result.ranked[0], result.settings.alpha, len(result.datasets) > 1
    averaged = _averaged_over(result, noun) if several else where
    where = text(f"On these {noun}, ") if several else where
    words = f"{{}}{{}} had the {'highest mean' if several else 'highest'} {{}} ({{}})."
    yield text(words, averaged, best.system, result.metric, score(best.value, result.scale))
    of_best = [
        pair if pair.a == best.system else pair.turned() for pair in result.pairs if best.system in (pair.a, pair.b)
    ]
    groups = [of_best]
    for pair in _planned(result):
        if best.system not in (pair.a, pair.b):
            groups.insert(0, [pair if pair.difference >= 0 else pair.turned()])
    units = unit_names(result.unit)
    for pairs in groups:
        here = [_outcome(result, pair, noun) for pair in pairs]
        elsewhere = [_outcome_elsewhere(result, pair) for pair in pairs if pair.elsewhere is not None]
        first = pairs[0].a if pairs else best.system
        yield from best_sentences(first, here, units, where=where)
        yield from best_sentences(first, elsewhere, noun, where=text(f"For {noun} like these, "))
    states: list[State] = [pair.state(alpha) for pair in result.pairs]
    yield from pairs_sentences(states, units, where=where)


def _averaged_over(result: Comparison, noun: str) -> Text:
    """The data sets that mean scores are over: those that all systems have, if there are such."""
    complete = sum(len(dataset.systems) == len(result.systems) for dataset in result.datasets)
    if 0 < complete < len(result.datasets):
        return text(f"On the {{}} {noun} with scores of all systems, ", complete)
    return text(f"On these {{}} {noun}, ", len(result.datasets))


def _outcome(result: Comparison, pair: PairwiseTest, noun: str) -> tuple[State, Text]:
    """What is shown about the first system of a pair on the data sets at hand."""
    state, is_ahead = pair.state(result.settings.alpha), pair.difference >= 0
    remark = _by_dataset(pair, noun) if is_ahead else NOTHING
    opponent = _opponent(result, pair, pair.interval, pair.p_corrected, remark)
    return state if is_ahead else opposite(state), opponent


def _outcome_elsewhere(result: Comparison, pair: PairwiseTest) -> tuple[State, Text]:
    """The same about others like them."""
    assert pair.elsewhere is not None
    state = pair.state_elsewhere()
    opponent = _opponent(result, pair, pair.elsewhere.interval, pair.elsewhere.p_corrected)
    return state if pair.difference >= 0 else opposite(state), opponent


def _opponent(
    result: Comparison, pair: PairwiseTest, bounds: Interval, p_corrected: float, remark: Text = NOTHING
) -> Text:
    confidence = NOTHING
    if not math.isnan(bounds.low):
        shown = interval(bounds.bounds, result.scale, signed=True)
        confidence = text(f"{interval_name(result.settings.alpha)} {{}}", shown)
    numbers = (pair.difference, result.scale, p_corrected)
    return evidence_text(pair.b, *numbers, interval_text=confidence, remark=remark)


def _by_dataset(pair: PairwiseTest, noun: str) -> Text:
    """On how many data sets the first system is ahead, and on how many at least it is better."""
    if not pair.by_dataset:
        return NOTHING
    ahead = text(f"higher on {{}} of {{}} {noun}", pair.ahead_on, len(pair.by_dataset))
    return join_text([ahead, text("better on at least {}", pair.shown_on)], ", ")


def _average_ranks(ranks: AverageRanks) -> Text:
    differ = text("differ" if ranks.friedman_p <= ranks.alpha else "are not shown to differ")
    groups = join_text([text("{}", names(group)) for group in ranks.groups], " and those of ")
    equal = text("the ranks of {} do not differ", groups) if groups else text("all ranks differ")
    test = text("Wilcoxon's test of every pair, corrected by Holm's method")
    if ranks.critical_difference is not None:
        test = text("Nemenyi's test (critical difference {})", number(ranks.critical_difference, 2))
    template = "By Friedman's test the ranks over {} {} ({}); by {}, {} significantly{}."
    datasets, p = count(ranks.datasets, "data set"), p_value(ranks.friedman_p)
    return text(template, datasets, differ, p, test, equal, cite("demsar-2006"))
