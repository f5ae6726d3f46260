"""The result of a study: scores over splits and seeds, every pair of systems tested, and a verdict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np

from deadheat.questions.study_corpora import BlockPair, PairSummary, over_corpora
from deadheat.questions.study_pairs import PairName, PairTests, pair_over_splits
from deadheat.registry import with_digest
from deadheat.results.compare import RESAMPLED_T, Comparison, PairwiseSettings
from deadheat.results.format import Scale
from deadheat.results.study import (
    NAN,
    PARTS,
    OverallTest,
    PairOverSplits,
    StudyBlock,
    StudyCorpus,
    StudyResult,
    StudySplits,
    StudySystem,
    SystemScores,
    ranking,
)
from deadheat.results.verdict import TARGET_POWER, Claim, Evidence, Verdict, margin_of, reverse
from deadheat.stats.corrections import correct_defined, decision_levels
from deadheat.stats.paired import CLUSTERED_T
from deadheat.study.engine.running import missing_scores
from deadheat.study.engine.seed_checks import equal_seeds
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from deadheat.systems import SYSTEMS
from deadheat.text import join_names, pluralize

MAX_RUNS = 1500  # of a block: of more, only the means of splits are kept
ALL_PAIRS = 3  # systems up to which all pairs are claims; of more, neighbours in the ranking
MAX_PAIRS, MAX_CLAIMS = 6, 24  # claims about one corpus, and about all


def study_result(plan: Plan, store: Store) -> StudyResult:
    """Read the scores of a study from its store, and test every pair of systems.

    All seeds of a system enter. Systems are compared with those that are scored by the same first metric, and p-values
    are corrected for all pairs of a strategy and part, over all corpora.
    """
    plan, missing, unscored = _without_missing_scores(plan, store)
    groups: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in plan.cells:
        if cell.key not in missing:
            groups.setdefault((cell.corpus, cell.split, cell.split_seed), []).append(cell)
    values = scores_of(store) if groups else {}
    damaged: dict[str, None] = {}
    estimates: dict[BlockPair, PairSummary] = {}
    blocks: list[StudyBlock] = []
    for cells in groups.values():
        for part in plan.scored_parts(cells[0]):
            block, pairs = _block(plan, store, values, cells, part, damaged)
            estimates |= {(len(blocks), a, b): summary for (a, b), summary in pairs.items()}
            blocks.append(block)
    metrics = {metric.name: metric.label for rows in plan.metrics.values() for metric in rows}
    entry, scale = plan.study.compare, scale_of(blocks)
    hypothesis = plan.study.hypothesis
    settings = PairwiseSettings(CLUSTERED_T, entry.correction, entry.alpha, margin=hypothesis.margin)
    single = hypothesis.systems if len({block.corpus for block in blocks}) == 1 else None
    blocks = _corrected(blocks, estimates, replace(settings, planned=single), scale)
    settings = replace(settings, planned=hypothesis.systems)
    comparisons = over_corpora(blocks, estimates, settings, metrics, scale)
    verdict, unranked = study_verdict(blocks, comparisons, metrics, scale, settings)
    tune_parts = {plan.tune_part(plan.partition(cells[0])) for cells in groups.values()}
    tuned = [plan.labels[name] for name in plan.systems if SYSTEMS.make(name).tuned]
    notes = [
        f"{part} was used in training {', '.join(tuned)}, so scores on it are too good to compare systems by"
        for part in dict.fromkeys(block.part for block in blocks)
        if part in tune_parts and tuned
    ]
    notes += equal_seeds(plan, [cell for cells in groups.values() for cell in cells], store.prediction_hashes())
    notes += [*(note for block in blocks for note in _block_notes(block)), *unranked, *unscored]
    name, keys = plan.study.name or plan.path.stem, tuple(cell.key for cell in plan.cells)
    planned = (
        tuple(StudyCorpus(name, item.corpus.sentences, item.corpus.words) for name, item in plan.materials.items()),
        tuple(StudySplits(strategy.name, times, seed) for strategy, times, seed in plan.strategies),
        tuple(StudySystem(plan.labels[name], name, tuple(seeds)) for name, seeds in plan.systems.items()),
        len(plan.cells),
    )
    question = (comparisons, settings.margin, hypothesis.primary)
    tests = (entry.correction, entry.alpha, verdict, scale, *question)
    return StudyResult(
        name, tuple(blocks), metrics, *tests, *planned, len(missing), tuple(damaged), notes=tuple(notes), keys=keys
    )


def _without_missing_scores(plan: Plan, store: Store) -> tuple[Plan, set[str], list[str]]:
    """The plan without metrics that no cell has scores by, the cells that cannot be shown, and what scores are missing.

    A cell is shown if it has scores by the first metric of its system: systems are compared by that.
    """
    done = store.done()
    cells = [cell for cell in plan.cells if cell.key in done]
    lacking = missing_scores(plan, store, cells) if cells else {}
    expected = Counter(metric.name for cell in cells for metric in plan.metrics[cell.system]) if lacking else Counter()
    absent = Counter(name for scores in lacking.values() for name in {metric for _, metric in scores})
    notes = [
        f"{with_digest(name, '')}: {number:,} of {pluralize(expected[name], 'cell')} have no score by it"
        for name, number in absent.items()
    ]
    if left_out := frozenset(name for name, number in absent.items() if number == expected[name]):
        plan = replace(plan, left_out=left_out)
    firsts = {system: metrics[0].name if metrics else "" for system, metrics in plan.metrics.items()}
    shown = {
        cell.key
        for cell in cells
        if firsts[cell.system] and firsts[cell.system] not in {metric for _, metric in lacking.get(cell.key, ())}
    }
    return plan, {cell.key for cell in plan.cells} - shown, notes


def scores_of(store: Store) -> dict[tuple[str, str, str], float]:
    """Every score, by the key of its cell, part and metric."""
    rows = store.scores().select("key", "part", "metric", "value").iter_rows()
    return {(key, part, metric): value for key, part, metric, value in rows}


def scale_of(blocks: Sequence[StudyBlock]) -> Scale:
    """One scale for all scores of a study."""
    return Scale.of(end for block in blocks for row in block.systems for end in (row.min, row.max))


def _block_notes(block: StudyBlock) -> Iterator[str]:
    """Splits that repeat, and systems whose mean is over fewer splits than that of others."""
    where = f"{block.corpus}, {block.split_label}, {block.part}"
    distinct = max((pair.overall.splits for pair in block.pairs), default=block.splits)
    common = max((pair.splits for pair in block.pairs), default=block.splits)
    if distinct < common:
        repeated = f"{common - distinct:,} of {common:,} splits repeat others"
        yield f"{where}: {repeated} and are not counted in tests over splits"
    for row in block.systems:
        missing = int(np.isnan(row.by_split).sum())
        if row.metric == block.metrics[0] and 0 < missing < block.splits:
            of_all = f"{row.system} has no score on {missing:,} of {pluralize(block.splits, 'split')}"
            yield f"{where}: {of_all}, so its mean cannot be compared with those over all splits"


def _block(
    plan: Plan,
    store: Store,
    values: Mapping[tuple[str, str, str], float],
    cells: Sequence[Cell],
    part: str,
    damaged: dict[str, None],
) -> tuple[StudyBlock, dict[PairName, PairSummary]]:
    by_system: dict[str, list[Cell]] = {system: [] for system in plan.systems}
    by_number: dict[int, list[Cell]] = {}
    for cell in cells:
        by_system[cell.system].append(cell)
        by_number.setdefault(cell.number, []).append(cell)
    numbers = tuple(by_number)
    rows = []
    for system, runs in by_system.items():
        for metric in plan.metrics[system] if runs else []:
            scores = [(cell.number, values.get((cell.key, part, metric.name))) for cell in runs]
            known = [(number, value) for number, value in scores if value is not None]
            if known:
                rows.append(system_scores(plan.labels[system], metric.name, known, numbers))
    rows = sort_systems(rows)
    tests = PairTests(plan, store, part, [row.system for row in rows])
    lengths = plan.materials[cells[0].corpus].lengths
    words: dict[str, list[int]] = {"train": [], part: []}
    partitions: dict[tuple[bytes, ...], int] = {}  # where there is little to draw from, splits may repeat
    for at, of_split in enumerate(by_number.values()):
        damaged |= dict.fromkeys(tests.add(of_split))
        parts = plan.partition(of_split[0]).parts
        partitions.setdefault(tuple(np.sort(parts[name]).tobytes() for name in words), at)
        for name, of_part in words.items():
            of_part.append(int(lengths[parts[name]].sum()))
    first = cells[0]
    # Sentences of the first split are enough to look at; those of all would be most of the result.
    agreed = tuple(item if not at else replace(item, sentences=()) for at, item in enumerate(tests.agreement))
    metrics, sizes = tuple(dict.fromkeys(row.metric for row in rows)), (tuple(words["train"]), tuple(words[part]))
    splits = (first.corpus, first.split, first.split_seed, part, numbers)
    block = StudyBlock(*splits, metrics, tuple(rows), (), agreed, *sizes)
    if len(numbers) == 1:
        firsts = block.first_metrics()
        rows = [
            replace(row, interval=tests.intervals.get(row.system)) if row.metric == firsts[row.system] else row
            for row in rows
        ]
        block = replace(block, systems=tuple(rows))
    return block, dict(_pair_summaries(block, tests, list(partitions.values())))


def _pair_summaries(
    block: StudyBlock, tests: PairTests, distinct: Sequence[int]
) -> Iterator[tuple[PairName, PairSummary]]:
    """Every pair on all distinct splits together."""
    rows, firsts = {(row.system, row.metric): row for row in block.systems}, block.first_metrics()
    share = sum(block.part_words) / max(1, sum(block.train_words))
    for pair, record in tests.pairs():
        of_splits = tuple(record.tests)
        if block.splits == 1:
            assert record.single is not None
            ahead = int(record.single.value > 0)
            yield pair, PairSummary(record.single, of_splits, 1, ahead, record.about_runs)
            continue
        a, b = (np.array(rows[name, firsts[name]].by_split)[distinct] for name in pair)
        gaps = (a - b)[np.isfinite(a - b)]
        estimate = tests.over_splits(pair, gaps, share)
        yield pair, PairSummary(estimate, of_splits, len(gaps), int(np.count_nonzero(gaps > 0)), about_runs=False)


def system_scores(
    system: str,
    metric: str,
    scores: Sequence[tuple[int, float]],
    numbers: Sequence[int],
    interval: tuple[float, float] | None = None,
) -> SystemScores:
    """The scores of one system by one metric, given with the numbers of their splits."""
    by_number: dict[int, list[float]] = {number: [] for number in numbers}
    for number, value in scores:
        by_number[number].append(value)
    by_run = tuple(tuple(values) for values in by_number.values())
    finite = np.array([value for _, value in scores if not math.isnan(value)])
    defined = ([value for value in values if not math.isnan(value)] for values in by_run)
    means = tuple(float(np.mean(values)) if values else NAN for values in defined)
    several = any(len(values) > 1 for values in by_run) and len(scores) <= MAX_RUNS
    kept = by_run if several else ()
    if not len(finite):
        return SystemScores(system, metric, 0, NAN, NAN, NAN, NAN, interval, means, kept)
    sd = float(np.std(finite, ddof=1)) if len(finite) > 1 else NAN
    ends = float(finite.min()), float(finite.max())
    return SystemScores(system, metric, len(finite), float(finite.mean()), sd, *ends, interval, means, kept)


def sort_systems(rows: Sequence[SystemScores]) -> list[SystemScores]:
    """By metric in order of appearance, then the best first; scores of runs only where they are few."""
    metrics = list(dict.fromkeys(row.metric for row in rows))
    ordered = sorted(rows, key=lambda row: (metrics.index(row.metric), math.isnan(row.mean), -row.mean))
    runs = {metric: sum(row.runs for row in rows if row.metric == metric) for metric in metrics}
    return [replace(row, by_run=()) if runs[row.metric] > MAX_RUNS else row for row in ordered]


def _corrected(
    blocks: Sequence[StudyBlock],
    estimates: Mapping[BlockPair, PairSummary],
    settings: PairwiseSettings,
    scale: Scale,
) -> list[StudyBlock]:
    """Blocks with their pairs: p-values corrected for all pairs of a part, strategy and metric, over all corpora.

    A pair that was planned is tested alone.
    """
    families: dict[tuple[str, str, str, bool], list[BlockPair]] = {}
    for at, a, b in estimates:
        block, alone = blocks[at], {a, b} == set(settings.planned or ())
        families.setdefault((block.part, block.split_label, block.first_metrics()[a], alone), []).append((at, a, b))
    margin, tested = margin_of(settings.margin, scale), dict[BlockPair, PairOverSplits]()
    for keys in families.values():
        p = [_p_value(estimates[key]) for key in keys]
        corrected = correct_defined(p, settings.correction).tolist()
        levels = decision_levels(p, settings.correction, settings.alpha).tolist()
        for key, raw, value, level in zip(keys, p, corrected, levels, strict=True):
            summary = estimates[key]
            estimate, level = summary.estimate, level if level == level else settings.alpha
            detectable = estimate.detectable(level, TARGET_POWER)
            most = 1.0 if scale.is_percent else math.inf
            low, high = estimate.interval(1 - level).bounds
            bounds = (max(low, -most), min(high, most), raw, value)
            counts = (summary.splits, summary.ahead)
            row = {row.system: row.mean for row in blocks[key[0]].systems[::-1]}
            possible = 1 - min(row[key[1]], row[key[2]]) if scale.is_percent else math.inf
            sizes = (margin, detectable, possible)
            overall = OverallTest(estimate.value, *bounds, *counts, *sizes, about_runs=summary.about_runs)
            pair = key[1:]
            tested[key] = pair_over_splits(pair, summary.tests, settings.correction, settings.alpha, overall)
    return [
        replace(block, pairs=tuple(tested[key] for key in estimates if key[0] == at)) for at, block in enumerate(blocks)
    ]


def _p_value(summary: PairSummary) -> float:
    """Of a single split that of its test, which may have been asked for by name."""
    return summary.tests[0].p if summary.splits == 1 == len(summary.tests) else summary.estimate.p


def study_verdict(
    blocks: Sequence[StudyBlock],
    comparisons: Sequence[Comparison],
    metric_names: Mapping[str, str],
    scale: Scale,
    settings: PairwiseSettings,
) -> tuple[Verdict, list[str]]:
    """Claims about the systems, on test if it was scored; and who is not ranked.

    On one corpus: neighbours in the ranking, with the evidence of random splits first. On several: all of them
    together, and others like them. A pair that was planned comes first.
    """
    alpha, planned = settings.alpha, settings.planned
    tested = [block for block in blocks if block.pairs]
    part = next((name for name in PARTS if any(block.part == name for block in tested)), "")
    groups: dict[tuple[str, str], list[StudyBlock]] = {}
    for block in tested:
        for one in block.by_metric() if block.part == part or not part else []:
            if one.pairs:
                groups.setdefault((one.corpus, one.metrics[0]), []).append(one)
    claims: list[Claim] = []
    notes, pairs, systems = [], 0, 0
    for (corpus, metric), of_corpus in groups.items():
        order, unranked = ranking(of_corpus)
        if unranked:
            notes.append(f"{corpus}: not ranked for lack of a score on some strategy: {join_names(unranked)}")
        pairs, systems = pairs + math.comb(len(order), 2), max(systems, len(order))
        chosen = combinations(order, 2) if len(order) <= ALL_PAIRS else pairwise(order)
        for a, b in _first(planned, list(chosen), order)[:MAX_PAIRS]:
            evidence = tuple(_evidence(of_corpus, a, b, alpha))
            if evidence:
                about_runs = all(_about_runs(block, a, b) for block in of_corpus)
                label = metric_names.get(metric, metric)
                if evidence[0].difference < 0:  # what decides may have another order than the mean of all splits
                    a, b, evidence = b, a, tuple(map(reverse, evidence))
                is_planned = {a, b} == set(planned or ())
                claims.append(Claim(a, b, label, evidence, corpus, scale, alpha, about_runs, is_planned))
    of_part = [comparison for comparison in comparisons if comparison.dataset == part]
    over = sorted(of_part, key=lambda comparison: comparison.test != RESAMPLED_T)
    if over:
        joint = over[0].verdict
        return joint, notes
    return Verdict(tuple(claims[:MAX_CLAIMS]), max(pairs - len(claims[:MAX_CLAIMS]), 0), systems), notes


def _first(planned: PairName | None, chosen: list[PairName], order: Sequence[str]) -> list[PairName]:
    """The pairs with the planned one in front, the better system first."""
    if planned is None or not set(planned) <= set(order):
        return chosen
    a, b = sorted(planned, key=order.index)
    return [(a, b), *(pair for pair in chosen if pair != (a, b))]


def _about_runs(block: StudyBlock, a: str, b: str) -> bool:
    return any(pair.overall.about_runs for pair in block.pairs if {pair.a, pair.b} == {a, b})


def _evidence(blocks: Sequence[StudyBlock], a: str, b: str, alpha: float) -> Iterator[Evidence]:
    """What each strategy shows: several splits by all of them, a single one by its documents or sentences."""
    for block in sorted(blocks, key=lambda block: block.splits == 1):
        pair = next((pair for pair in block.pairs if {pair.a, pair.b} == {a, b}), None)
        if pair is None:
            continue
        several = block.splits > 1
        alike = sum((other.splits > 1) == several for other in blocks) > 1
        source = ("splits" if several else f"{pair.unit}s") + (f" ({block.split_label})" if alike else "")
        test = pair.overall
        bounds = (test.low, test.high, test.p_corrected)
        counts = (test.splits, test.ahead) if several else (0, None)
        evidence = Evidence(source, pair.state(alpha), test.difference, *bounds, *counts)
        evidence = replace(evidence, margin=test.margin, detectable=test.detectable)
        yield evidence if pair.a == a else reverse(evidence)
