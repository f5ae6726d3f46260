"""What the paragraph says about studies and searches."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import fmean

from deadheat.paper.methods import (
    NOTHING,
    OF_SYSTEMS,
    best_sentences,
    cite,
    cited_correction,
    cited_splits,
    cited_test,
    evidence_text,
    listing,
    pairs_sentences,
    plain,
    split_words,
    system_list,
)
from deadheat.report.model import Text, count, interval, join_text, names, points, score, text
from deadheat.report.views.search import protocol, search_verdict
from deadheat.report.views.study import seeds_text
from deadheat.results.format import interval_name
from deadheat.results.search import SearchResult
from deadheat.results.study import PairOverSplits, StudyBlock, StudyCorpus, StudyResult, SystemScores, ranking
from deadheat.results.verdict import State

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
        for blocks in by_metric.values():
            yield from _protocol(result, blocks, several=len(by_metric) > 1)
            yield from _outcomes(result, blocks)
        yield from (plain(f"{note[:1].upper()}{note[1:]}.") for note in part_notes(result, [part]))
    for search in result.searches:
        yield from search_sentences(search)
    if not result.blocks and not result.searches:
        yield plain("The study has no results.")
    yield from _left_out(result)


def part_notes(result: StudyResult, parts: Sequence[str]) -> list[str]:
    """The notes about a part, such as that systems were tuned on it."""
    return [note for note in result.notes if any(note.startswith(f"{part} ") for part in parts)]


def system_names(result: StudyResult) -> dict[str, str]:
    """The systems of a study, with their names and settings where these are known."""
    planned = {system.label: system.name for system in result.systems}
    return planned or {row.system: "" for block in result.blocks for row in block.systems}


def _cite_systems(systems: Iterable[str]) -> Text:
    bases = [system.partition(".v")[0] for system in systems]
    return cite(*(OF_SYSTEMS[base] for base in bases if base in OF_SYSTEMS))


def _trained(result: StudyResult) -> Text:
    systems = system_names(result)
    sizes = {corpus.name: corpus for corpus in result.corpora}
    corpora: dict[tuple[str, int], dict[str, int]] = {}  # and numbers of splits, by strategy and seed
    for block in result.blocks:
        corpora.setdefault((block.split, block.seed), {})[block.corpus] = block.splits
    by_corpora: dict[tuple[str, ...], list[Text]] = {}
    for (strategy, seed), numbers in corpora.items():
        splits = cited_splits(strategy, sorted(set(numbers.values())), seed)
        by_corpora.setdefault(tuple(numbers), []).append(splits)
    designs = [
        text("{} of {}", join_text(splits, " and "), _corpora_text(group, sizes))
        for group, splits in by_corpora.items()
    ]
    trained = text("We trained {}{}", system_list(list(systems)), _cite_systems(systems.values()))
    return text("{} on {}.", trained, join_text(designs, "; and on "))


def _corpora_text(corpora: Sequence[str], sizes: dict[str, StudyCorpus] | None = None) -> Text:
    if len(corpora) > CORPORA:
        return text("each of {} corpora ({})", len(corpora), names(corpora))
    items = []
    for corpus in corpora:
        item = text("{}", corpus)
        if sizes and corpus in sizes:
            item += text(" ({}, {})", count(sizes[corpus].sentences, "sentence"), count(sizes[corpus].words, "word"))
        items.append(item)
    return plain("each of " if len(corpora) > 1 else "") + listing(items)


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
        groups.append(
            text("{} {} trained {}", names(labels), plain("was" if len(labels) == 1 else "were"), plain(times))
        )
    if len(groups) == 1 and len(result.systems) > 1:
        groups = [Text(("Each was trained ", groups[0].pieces[-1]))]
    if groups:
        yield join_text(groups, "; ") + "."


def _protocol(result: StudyResult, blocks: Sequence[StudyBlock], *, several: bool) -> Iterator[Text]:
    """What is reported and how systems were tested."""
    systems = dict.fromkeys(row.system for block in blocks for row in block.ranked)
    of = text(" of {}", names(list(systems))) if several else NOTHING
    yield text("We report {} on {}{}.", result.metric_name(blocks[0].metrics[0]), blocks[0].part, of)
    for tested, single in (([block for block in blocks if (block.splits == 1) is one], one) for one in (True, False)):
        pairs = [pair for block in tested for pair in block.pairs]
        if not pairs:
            continue
        tests = "/".join(dict.fromkeys(test for pair in pairs for test in pair.test.split("/")))
        test = cited_test(tests, " or ".join(dict.fromkeys(f"{pair.unit}s" for pair in pairs)))
        seeds = ", by the first seed of each," if any(block.has_more_seeds for block in tested) else ""
        numbers = {len(block.pairs) for block in tested}
        corrected = cited_correction(result.correction, numbers.pop() if len(numbers) == 1 else None, noun="pair")
        alpha = f"at alpha {result.alpha:g}"
        if single:
            where = " on the single split" if len(tested) < len(blocks) else ""
            yield text(f"Systems were compared{where}{seeds} with {{}} {alpha}, with p-values {{}}.", test, corrected)
            continue
        yield text(
            f"Over splits, systems were compared with the corrected resampled t-test{{}} {alpha}, with p-values {{}}.",
            cite("nadeau-bengio-2003"),
            corrected,
        )
        splits = {block.splits for block in tested}
        by_split = cited_correction(result.correction, splits.pop() if len(splits) == 1 else None, noun="split")
        yield text(f"On each split they were compared{seeds} with {{}}, with p-values {{}}.", test, by_split)


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
    return text(
        f"{{}}{{}} had the {highest} {{}}, {{}}, followed by {{}}.",
        where,
        ranked[0].system,
        metric,
        best,
        listing(others),
    )


def _score(result: StudyResult, row: SystemScores) -> Text:
    value = score(row.mean, result.scale)
    if row.runs > 1:
        return text("{} (SD {} over {})", value, score(row.sd, result.scale), count(row.runs, "run"))
    return text("{} (95% CI {})", value, interval(row.interval, result.scale)) if row.interval else text("{}", value)


def _opponent(result: StudyResult, pair: PairOverSplits, best: str) -> tuple[State, Text]:
    """The other system of a pair, with the test on all splits and how often single splits showed a difference."""
    state, test, scale = pair.state(result.alpha), pair.overall, result.scale
    ahead: int | None = test.ahead
    better, worse, difference, bounds = pair.significant, pair.reversed, test.difference, (test.low, test.high)
    other = pair.b
    if pair.b == best:
        state = {State.SHOWN: State.OPPOSITE, State.OPPOSITE: State.SHOWN}.get(state, state)
        # On how many splits the second system is ahead is not known where scores may be equal.
        other, ahead, better, worse = pair.a, None, worse, better
        difference, bounds = -difference, (-bounds[1], -bounds[0])
    confidence = NOTHING
    if not math.isnan(bounds[0]):
        confidence = plain(f"{interval_name(result.alpha)} ") + text("{}", interval(bounds, scale, signed=True))
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
        tested = count(len(pairs), "data set")
        mean = text("{}", points(gap, result.scale)) + unit
        yield text("Of {}, {} was compared with {} ({} on average): {}.", tested, a, b, mean, outcome)


def _left_out(result: StudyResult) -> Iterator[Text]:
    failed = result.failed_systems
    missing = max(result.missing, len(failed))
    if missing:
        counts = Counter((cell.system, cell.status) for cell in failed)
        reasons = [text("{}: {} {}", system, n, status) for (system, status), n in counts.items()]
        runs = text("{} of {}", missing, count(result.cells, "run"))
        have = "has no result and is left out" if missing == 1 else "have no result and are left out"
        yield text("{} {}{}.", runs, plain(have), text(" ({})", listing(reasons)) if reasons else NOTHING)
    if result.damaged:
        runs = text("{}", count(len(result.damaged), "run"))
        yield text("The predictions of {} could not be read and are left out of the comparisons.", runs)


def search_sentences(result: SearchResult) -> Iterator[Text]:
    """How settings were chosen, what the winners have on test, and how far dev was from that."""
    numbers: dict[tuple[str, int], Counter[str]] = {}
    for dataset in result.datasets:
        numbers.setdefault((dataset.split, dataset.split_seed), Counter())[dataset.corpus] += 1
    designs = []
    for (strategy, seed), corpora in numbers.items():
        splits = cited_splits(strategy, sorted(set(corpora.values())), seed)
        designs.append(text("{} of {}", splits, _corpora_text(list(corpora))))
    system = text("{}{}", result.system, _cite_systems(candidate.system for candidate in result.candidates[:1]))
    tried = text("{}, of {}; {} each", METHODS[result.method], names(result.varied), count(len(result.seeds), "seed"))
    candidates = count(len(result.candidates), "setting")
    yield text("We searched {} of {} ({}) on {}.", candidates, system, tried, join_text(designs, "; and on "))
    template = "The settings with the highest {} on {} of each split won{}."
    yield text(template, result.metric_name, result.selected_on, cite("van-der-goot-2021"))
    _, setups = protocol(result)
    yield setups
    difference = result.difference("test")
    if result.compared and difference is not None:
        corrected = cited_correction(result.correction, len(result.compared), noun="data set")
        template = f"Setups were compared on test with {{}} at alpha {result.alpha:g}, with p-values {{}}."
        yield text(template, cited_test("bootstrap", "sentences"), corrected)
        means = [score(mean, result.scale) for mean in (difference.first, difference.second)]
        yield text("On test, the winners have a mean {} of {} and {}.", result.metric_name, *means)
    verdict = search_verdict(result)
    yield from (join_text([sentence]) for sentence in (verdict.headline, *verdict.remarks))
