"""What the paragraph says about studies and searches."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from deadheat.paper.comparison_paragraph import correction_text, outcome_sentences, scope_sentences
from deadheat.paper.methods import (
    NOTHING,
    OF_SYSTEMS,
    best_sentences,
    cite,
    cite_each,
    cited_correction,
    cited_splits,
    cited_test,
    clustered_error,
    evidence_text,
    margin_sentences,
    pairs_sentences,
    split_words,
    system_list,
    widened,
)
from deadheat.reporting.model import Text, count, interval, join_text, listing, names, points, score, text
from deadheat.reporting.views.search import protocol, search_verdict
from deadheat.reporting.views.study import seeds_text
from deadheat.reporting.views.study_families import pairs_corrected_together
from deadheat.results.compare import Comparison
from deadheat.results.format import interval_name, unit_names
from deadheat.results.search import SearchResult
from deadheat.results.study import PairOverSplits, StudyBlock, StudyCorpus, StudyResult, SystemScores, ranking
from deadheat.results.verdict import State, opposite
from deadheat.stats.paired import CLUSTERED_T
from deadheat.text import capitalize

BLOCKS, NEIGHBOURS, SYSTEMS, CORPORA = 3, 4, 5, 3  # that are described one by one
METHODS = {"grid": "all combinations", "random": "drawn at random", "optuna": "proposed by Optuna"}


def study_sentences(result: StudyResult) -> Iterator[Text]:
    """What was trained on what, how it was compared, what that shows, and what failed."""
    if result.blocks:
        yield _trained(result)
        yield from _seeds(result)
        part = result.parts[0]
        by_metric: dict[str, list[StudyBlock]] = {}
        for block in result.blocks:
            for single in block.by_metric() if block.part == part else []:
                by_metric.setdefault(single.metrics[0], []).append(single)
        for metric, blocks in by_metric.items():
            joint = [item for item in result.comparisons if (item.dataset, item.metric_name) == (part, metric)]
            yield from _protocol(result, blocks, several=len(by_metric) > 1)
            yield from _over_corpora(joint)
            yield from _outcomes(result, blocks)
        yield from (Text((f"{capitalize(note)}.",)) for note in part_notes(result, [part]))
    for search in result.searches:
        yield from search_sentences(search)
    if not result.blocks and not result.searches:
        yield text("The study has no results.")
    yield from _left_out(result)


def part_notes(result: StudyResult, parts: Sequence[str]) -> list[str]:
    """The notes about a part, such as that systems were tuned on it."""
    return [note for note in result.notes if any(note.startswith(f"{part} ") for part in parts)]


def system_names(result: StudyResult) -> dict[str, str]:
    """The systems of a study, with their names and settings where these are known."""
    planned = {system.label: system.name for system in result.systems}
    return planned or {row.system: "" for block in result.blocks for row in block.systems}


def _trained(result: StudyResult) -> Text:
    systems = system_names(result)
    numbers: dict[tuple[str, int], dict[str, int]] = {}
    for block in result.blocks:
        numbers.setdefault((block.split, block.seed), {})[block.corpus] = block.splits
    cited = cite_each(OF_SYSTEMS, systems.values())
    return text("We trained {}{} on {}.", system_list(list(systems)), cited, _designs(numbers, result.corpora))


def _designs(numbers: Mapping[tuple[str, int], Mapping[str, int]], sizes: Iterable[StudyCorpus] = ()) -> Text:
    """How corpora were split, from the number of splits of each by strategies with their seeds."""
    by_corpora: dict[tuple[str, ...], list[Text]] = {}
    for (strategy, seed), splits in numbers.items():
        cited = cited_splits(strategy, sorted(set(splits.values())), seed)
        by_corpora.setdefault(tuple(splits), []).append(cited)
    size_texts = {
        corpus.name: text(" ({}, {})", count(corpus.sentences, "sentence"), count(corpus.words, "word"))
        for corpus in sizes
    }
    designs = []
    for group, words in by_corpora.items():
        corpora = text("each of {} corpora ({})", len(group), names(group))
        if len(group) <= CORPORA:
            corpora = listing([text("{}{}", corpus, size_texts.get(corpus)) for corpus in group])
            corpora = text("each of {}", corpora) if len(group) > 1 else corpora
        designs.append(text("{} of {}", join_text(words, " and "), corpora))
    return join_text(designs, "; and on ")


def _seeds(result: StudyResult) -> Iterator[Text]:
    where = " on each split" if any(block.splits > 1 for block in result.blocks) else ""
    systems: dict[tuple[int, ...], list[str]] = {}
    for system in result.systems:
        systems.setdefault(system.seeds, []).append(system.label)
    groups = []
    for seeds, labels in systems.items():
        times = f"once{where} (seed {seeds[0]})"
        if len(seeds) > 1:
            times = f"with {len(seeds)} seeds ({seeds_text(seeds)}){where}"
        every = len(systems) == 1 and len(labels) > 1
        trained = f"{'was' if len(labels) == 1 else 'were'} trained {times}"
        groups.append(text(f"Each was trained {times}") if every else text(f"{{}} {trained}", names(labels)))
    if groups:
        yield join_text(groups, "; ") + "."


def _protocol(result: StudyResult, blocks: Sequence[StudyBlock], *, several: bool) -> Iterator[Text]:
    """What is reported and how systems were tested."""
    systems = dict.fromkeys(row.system for block in blocks for row in block.ranked)
    of = text(" of {}", names(list(systems))) if several else NOTHING
    yield text("We report {} on {}{}.", result.metric_name(blocks[0].metrics[0]), blocks[0].part, of)
    for single in (True, False):
        tested = [block for block in blocks if (block.splits == 1) is single and block.pairs]
        if tested:
            yield from (_single_split if single else _over_splits)(result, blocks, tested)
    pairs = [pair for block in blocks for pair in block.pairs]
    if pairs:
        yield from margin_sentences(result.margin, result.scale)
    if _planned(result) & {frozenset((pair.a, pair.b)) for pair in pairs}:
        corpora = " over all corpora" if len(result.corpus_names) > 1 else ""
        yield text(f"{{}} was planned before the study ran, and was tested alone{corpora}.", result.hypothesis)


def _planned(result: StudyResult) -> set[frozenset[str]]:
    """The pair that was planned, if it was compared."""
    return {frozenset((claim.better, claim.worse)) for claim in result.verdict.claims if claim.is_planned}


def _single_split(result: StudyResult, blocks: Sequence[StudyBlock], tested: Sequence[StudyBlock]) -> Iterator[Text]:
    where = " on the single split" if len(tested) < len(blocks) else ""
    numbers = {pairs_corrected_together(result, block) for block in tested}
    corrected = cited_correction(result.correction, numbers, noun="pair") + widened(result.correction, numbers)
    test, seeds = _split_test(tested)
    template = f"Systems were compared{where}{seeds} with {{}} at alpha {result.alpha:g}, with p-values {{}}."
    yield text(template, test, corrected)
    yield from _split_error(tested)
    if any(pair.overall.about_runs for block in tested for pair in block.pairs):
        yield text("With one seed each, what is shown is shown of these trained models.")


def _over_splits(result: StudyResult, blocks: Sequence[StudyBlock], tested: Sequence[StudyBlock]) -> Iterator[Text]:
    numbers = {pairs_corrected_together(result, block) for block in tested}
    corrected = cited_correction(result.correction, numbers, noun="pair") + widened(result.correction, numbers)
    over = "Over splits, systems were compared with the corrected resampled t-test{}"
    yield text(f"{over} at alpha {result.alpha:g}, with p-values {{}}.", cite("nadeau-bengio-2003"), corrected)
    if any(_splits_documents(block) for block in tested):
        yield text("Where documents were split up, the standard error over documents was used if it was greater.")
    test, seeds = _split_test(tested)
    by_split = cited_correction(result.correction, (block.splits for block in tested), noun="split")
    yield text(f"On each split they were compared{seeds} with {{}}, with p-values {{}}.", test, by_split)
    if len(tested) == len(blocks):
        yield from _split_error(tested)


def _splits_documents(block: StudyBlock) -> bool:
    """Whether documents are marked and sentences of one may be in train and in test."""
    return any(pair.unit == "document" for pair in block.pairs) and "unit='document'" not in block.split


def _tests(blocks: Sequence[StudyBlock]) -> list[str]:
    pairs = [pair for block in blocks for pair in block.pairs]
    return list(dict.fromkeys(test for pair in pairs for test in pair.test.split("/")))


def _units(blocks: Sequence[StudyBlock]) -> str:
    return unit_names("/".join(dict.fromkeys(pair.unit for block in blocks for pair in block.pairs)))


def _split_test(blocks: Sequence[StudyBlock]) -> tuple[Text, str]:
    """The test on single splits, and the seeds that it is about where there are several."""
    tests, seeds = _tests(blocks), ""
    if any(block.has_more_seeds for block in blocks):
        seeds = ", by all seeds," if tests == [CLUSTERED_T] else ", by the first seed of each,"
    return cited_test("/".join(tests), _units(blocks)), seeds


def _split_error(blocks: Sequence[StudyBlock]) -> Iterator[Text]:
    """Where the error of the clustered t-test on single splits comes from."""
    if _tests(blocks) == [CLUSTERED_T]:
        runs = any(block.has_more_seeds for block in blocks)
        yield clustered_error("The standard error of a difference on one split is", _units(blocks), runs=runs)


def _over_corpora(comparisons: Sequence[Comparison]) -> Iterator[Text]:
    """All corpora together, and others like them."""
    if comparisons:
        yield from scope_sentences("corpora")
    for comparison in sorted(comparisons, key=lambda item: item.unit != "split"):
        splits = "over splits" if comparison.unit == "split" else "on single splits"
        yield text(f"Over all corpora, {splits}, p-values are {{}}.", correction_text(comparison))
        yield from outcome_sentences(comparison, "corpora")


def _outcomes(result: StudyResult, blocks: Sequence[StudyBlock]) -> Iterator[Text]:
    if len(blocks) > BLOCKS:
        yield from _over_blocks(result, blocks)
        return
    for block in blocks:
        where = _where(block, blocks)
        yield _scores(result, block, where)
        ranked = [row for row in block.ranked if not math.isnan(row.mean)]
        if len(ranked) < 2 or not block.pairs:
            continue
        best, units = ranked[0].system, "splits" if block.splits > 1 else f"{block.pairs[0].unit}s"
        for pair in block.pairs if len(result.corpus_names) == 1 else ():
            if best not in (pair.a, pair.b) and frozenset((pair.a, pair.b)) in _planned(result):
                yield from best_sentences(pair.a, [_opponent(result, pair, pair.a)], units, where=where)
        others = [_opponent(result, pair, best) for pair in block.pairs if best in (pair.a, pair.b)]
        yield from best_sentences(best, others, units, where=where)
        yield from pairs_sentences([pair.state(result.alpha) for pair in block.pairs], units, where=where)


def _where(block: StudyBlock, blocks: Sequence[StudyBlock]) -> Text:
    """What distinguishes a block from the others: the corpus, the strategy, the seed."""
    if len(blocks) == 1:
        return NOTHING
    parts = [text("{}", block.corpus)] if len({other.corpus for other in blocks}) > 1 else []
    same = [other for other in blocks if other.corpus == block.corpus]
    if len(same) > 1:
        seed = len([other for other in same if other.split == block.split]) > 1
        strategy = str(split_words(block.split, [block.splits], block.seed)).partition(" (")[0]
        parts.append(text("{}", strategy) + (f" with seed {block.seed}" if seed else ""))
    return text("On {}, ", join_text(parts, " and "))


def _scores(result: StudyResult, block: StudyBlock, where: Text) -> Text:
    metric = result.metric_name(block.metrics[0])
    ranked = [row for row in block.ranked if not math.isnan(row.mean)]
    if not ranked:
        return where + ("no system has a score." if where else "No system has a score.")
    best = _score(result, ranked[0])
    if len(ranked) == 1:
        return text("{}{} had {} {}.", where, ranked[0].system, metric, best)
    others = [text("{} with {}", row.system, _score(result, row)) for row in ranked[1:SYSTEMS]]
    others += [text("{}", count(len(ranked) - SYSTEMS, "other"))] if len(ranked) > SYSTEMS else []
    highest = "highest mean" if ranked[0].runs > 1 else "highest"
    template = f"{{}}{{}} had the {highest} {{}}, {{}}, followed by {{}}."
    return text(template, where, ranked[0].system, metric, best, listing(others))


def _score(result: StudyResult, row: SystemScores) -> Text:
    value, parts = score(row.mean, result.scale), list[Text]()
    if row.runs > 1:
        parts.append(text("SD {} over {}", score(row.sd, result.scale), count(row.runs, "run")))
    if row.interval:
        parts.append(text("95% CI {}", interval(row.interval, result.scale)))
    return text("{} ({})", value, join_text(parts, ", ")) if parts else text("{}", value)


def _opponent(result: StudyResult, pair: PairOverSplits, best: str) -> tuple[State, Text]:
    """The other system of a pair, with the test on all splits and how often single splits showed a difference."""
    state, test, scale = pair.state(result.alpha), pair.overall, result.scale
    ahead: int | None = test.ahead
    better, worse, difference, bounds = pair.significant, pair.reversed, test.difference, (test.low, test.high)
    other = pair.b
    if pair.b == best:
        state = opposite(state)
        # On how many splits the second system is ahead is not known where scores may be equal.
        other, ahead, better, worse = pair.a, None, worse, better
        difference, bounds = -difference, (-bounds[1], -bounds[0])
    confidence = NOTHING
    if not math.isnan(bounds[0]):
        confidence = text(f"{interval_name(result.alpha)} {{}}", interval(bounds, scale, signed=True))
    counts: list[Text] = []
    if pair.splits > 1:
        counts += [] if ahead is None else [text("higher on {} of {}", ahead, count(test.splits, "split"))]
        counts.append(text("significantly better on {}", better))
        counts += [text("significantly worse on {}", worse)] if worse else []
    remark = join_text(counts, ", ")
    return state, evidence_text(other, difference, scale, test.p_corrected, interval_text=confidence, remark=remark)


def _over_blocks(result: StudyResult, blocks: Sequence[StudyBlock]) -> Iterator[Text]:
    """Neighbours in the ranking over many data sets: how often each is shown to be better."""
    order, _ = ranking(blocks)
    several = count(len(blocks), "data set")
    if order:
        means = [fmean(row.mean for block in blocks for row in block.ranked if row.system == name) for name in order]
        scores = [text("{} ({})", name, score(mean, result.scale)) for name, mean in zip(order, means, strict=True)]
        metric = result.metric_name(blocks[0].metrics[0])
        yield text("By mean {} over {}, the order is {}.", metric, several, listing(scores))
    for a, b in list(pairwise(order))[:NEIGHBOURS]:
        pairs = [pair for block in blocks for pair in block.pairs if {pair.a, pair.b} == {a, b}]
        if not pairs:
            continue
        states = [_opponent(result, pair, a)[0] for pair in pairs]
        gap = fmean(pair.overall.difference if pair.a == a else -pair.overall.difference for pair in pairs)
        outcome = text("significantly better on {}", states.count(State.SHOWN))
        if State.OPPOSITE in states:
            outcome += text(", significantly worse on {}", states.count(State.OPPOSITE))
        if State.TOO_FEW in states:
            outcome += text(", and there was too little to tell on {}", states.count(State.TOO_FEW))
        unit = " points" if result.scale.is_percent else ""
        template = f"Of {{}}, {{}} was compared with {{}} ({{}}{unit} on average): {{}}."
        yield text(template, count(len(pairs), "data set"), a, b, points(gap, result.scale), outcome)


def _left_out(result: StudyResult) -> Iterator[Text]:
    failed = result.failed_systems
    missing = max(result.missing, len(failed))
    if missing:
        counts = Counter((cell.system, cell.status) for cell in failed)
        reasons = [text("{}: {} {}", system, n, status) for (system, status), n in counts.items()]
        runs = text("{} of {}", missing, count(result.cells, "run"))
        have = "has no result and is left out" if missing == 1 else "have no result and are left out"
        yield text(f"{{}} {have}{{}}.", runs, text(" ({})", listing(reasons)) if reasons else None)
    if result.damaged:
        template = "The predictions of {} could not be read and are left out of the comparisons."
        yield text(template, count(len(result.damaged), "run"))


def search_sentences(result: SearchResult) -> Iterator[Text]:
    """How settings were chosen, what the winners have on test, and how far dev was from that."""
    numbers: dict[tuple[str, int], Counter[str]] = {}
    for dataset in result.datasets:
        numbers.setdefault((dataset.split, dataset.split_seed), Counter())[dataset.corpus] += 1
    cited = cite_each(OF_SYSTEMS, (candidate.system for candidate in result.candidates[:1]))
    tried = text("{}, of {}; {} each", METHODS[result.method], names(result.varied), count(len(result.seeds), "seed"))
    candidates = count(len(result.candidates), "setting")
    yield text("We searched {} of {}{} ({}) on {}.", candidates, result.system, cited, tried, _designs(numbers))
    template = "The settings with the highest {} on {} of each split won{}."
    yield text(template, result.metric_name, result.selected_on, cite("van-der-goot-2021"))
    _, setups = protocol(result)
    yield setups
    difference = result.difference("test")
    if result.compared and difference is not None:
        corrected = cited_correction(result.correction, [len(result.compared)], noun="data set")
        template = f"Setups were compared on test with {{}} at alpha {result.alpha:g}, with p-values {{}}."
        yield text(template, cited_test("bootstrap", "sentences"), corrected)
        means = [score(mean, result.scale) for mean in (difference.first, difference.second)]
        yield text("On test, the winners have a mean {} of {} and {}.", result.metric_name, *means)
    verdict = search_verdict(result)
    yield from (join_text([sentence]) for sentence in (verdict.headline, *verdict.remarks))
