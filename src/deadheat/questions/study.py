"""The result of a study: scores over splits and seeds, every pair of systems tested, and a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np

from deadheat.corpus import Corpus, read, take
from deadheat.corpus.reading import reading_options
from deadheat.errors import InputError
from deadheat.metrics import Metric, Pair, align
from deadheat.metrics.metric import CORRECT, GOLD, PREDICTED
from deadheat.questions.pairwise import agreement, choose_test, pair_p
from deadheat.results.compare import Agreement, PairwiseSettings
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
from deadheat.results.verdict import Claim, Evidence, Verdict, reverse
from deadheat.stats.corrections import correct, correct_defined
from deadheat.stats.differences import corrected_resampled_t
from deadheat.stats.intervals import wilson
from deadheat.study.engine.running import missing_cells
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.plan import Plan
from deadheat.study.store.store import Store
from deadheat.systems import SYSTEMS
from deadheat.text import join_names, pluralize

MCNEMAR = "mcnemar"
MAX_RUNS = 1500  # of a block: of more, only the means of splits are kept
ALL_PAIRS = 3  # systems up to which all pairs are claims; of more, neighbours in the ranking
MAX_PAIRS, MAX_CLAIMS = 4, 24  # claims about one corpus, and about all

SplitTest = tuple[str, str, float, float, float]  # test, unit, p, difference, and which system the test favours


def study_result(plan: Plan, store: Store) -> StudyResult:
    """Read the scores of a study from its store, and test every pair of systems on every split.

    Where a system has several seeds, its first seed is tested on each split. Systems are compared with those that are
    scored by the same first metric.
    """
    missing = {cell.key for cell in missing_cells(plan, store, retry_failed=True)}
    groups: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in plan.cells:
        if cell.key not in missing:
            groups.setdefault((cell.corpus, cell.split, cell.split_seed), []).append(cell)
    values = scores_of(store) if groups else {}
    damaged: dict[str, None] = {}
    blocks = tuple(
        _block(plan, store, values, cells, part, damaged)
        for cells in groups.values()
        for part in plan.scored_parts(cells[0])
    )
    metrics = {metric.name: metric.label for rows in plan.metrics.values() for metric in rows}
    entry, scale = plan.study.compare, scale_of(blocks)
    verdict, unranked = study_verdict(blocks, metrics, scale, entry.alpha)
    tune_parts = {plan.tune_part(plan.partition(cells[0])) for cells in groups.values()}
    tuned = [plan.labels[name] for name in plan.systems if SYSTEMS.make(name).tuned]
    notes = [
        f"{part} was used in training {', '.join(tuned)}, so scores on it are too good to compare systems by"
        for part in dict.fromkeys(block.part for block in blocks)
        if part in tune_parts and tuned
    ]
    notes += [*(note for block in blocks for note in _block_notes(block)), *unranked]
    name, keys = plan.study.name or plan.path.stem, tuple(cell.key for cell in plan.cells)
    planned = (
        tuple(StudyCorpus(name, item.corpus.sentences, item.corpus.words) for name, item in plan.materials.items()),
        tuple(StudySplits(strategy.name, times, seed) for strategy, times, seed in plan.strategies),
        tuple(StudySystem(plan.labels[name], name, tuple(seeds)) for name, seeds in plan.systems.items()),
        len(plan.cells),
    )
    tests = (entry.correction, entry.alpha, verdict, scale)
    return StudyResult(
        name, blocks, metrics, *tests, *planned, len(missing), tuple(damaged), notes=tuple(notes), keys=keys
    )


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
) -> StudyBlock:
    by_system: dict[str, list[Cell]] = {system: [] for system in plan.systems}
    by_number: dict[int, list[Cell]] = {}
    for cell in cells:
        by_system[cell.system].append(cell)
        by_number.setdefault(cell.number, []).append(cell)
    numbers = tuple(by_number)
    rows = []
    for system, runs in by_system.items():
        for metric in plan.metrics[system] if runs else []:
            scores = [(cell.number, values[cell.key, part, metric.name]) for cell in runs]
            interval = _interval(store, runs, part, metric) if len(numbers) == 1 else None
            rows.append(system_scores(plan.labels[system], metric.name, scores, numbers, interval))
    rows = sort_systems(rows)
    tests = _PairTests(plan, store, part, [row.system for row in rows])
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
    block = StudyBlock(*splits, metrics, tuple(rows), tests.pairs(), agreed, *sizes)
    entry, distinct = plan.study.compare, list(partitions.values())
    return replace(block, pairs=_overall(block, distinct, entry.correction, entry.alpha))


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


def _interval(store: Store, cells: Sequence[Cell], part: str, metric: Metric) -> tuple[float, float] | None:
    """Wilson's interval of a share, of several seeds that of their mean; None if the score is no share."""
    sums_RF = store.counts([cell.key for cell in cells], part=part, metric=metric.name).sum(axis=1)
    totals = {*sums_RF[:, GOLD].tolist(), *sums_RF[:, PREDICTED].tolist()}
    if len(totals) > 1 or 0 in totals:
        return None
    return wilson(round(float(sums_RF[:, CORRECT].mean())), totals.pop()).bounds


class _PairTests:
    """Tests of every two systems with the same first metric, split by split; it holds predictions of one split."""

    def __init__(self, plan: Plan, store: Store, part: str, ranked: Sequence[str]) -> None:
        self._plan, self._store, self._part = plan, store, part
        self._rank = {label: rank for rank, label in reversed(list(enumerate(ranked)))}
        self._tests: dict[tuple[str, str], list[SplitTest]] = {}
        self.agreement: list[Agreement] = []

    def add(self, cells: Sequence[Cell]) -> Iterator[str]:
        """Test the first seeds of systems on one split; yields the keys of cells without readable predictions."""
        by_metric: dict[str, dict[str, Cell]] = {}
        for cell in cells:
            systems = by_metric.setdefault(self._plan.metrics[cell.system][0].name, {})
            systems.setdefault(self._plan.labels[cell.system], cell)
        for systems in by_metric.values():
            if len(systems) > 1:
                yield from self._add(dict(sorted(systems.items(), key=lambda item: self._rank[item[0]])))

    def _add(self, systems: Mapping[str, Cell]) -> Iterator[str]:
        first = next(iter(systems.values()))
        metric, corpus = self._plan.metrics[first.system][0], self._plan.materials[first.corpus].corpus
        parts = self._plan.partition(first).parts
        gold, train = take(corpus, parts[self._part]), take(corpus, parts["train"])
        entry = self._plan.study.compare
        test = entry.test or (f"{MCNEMAR}-midp" if metric.base == "accuracy" else "")
        unit = "token" if test.startswith(MCNEMAR) else "sentence"
        predicted: dict[str, Corpus] = {}
        aligned: dict[str, Pair] = {}
        for label, cell in systems.items():
            try:
                prediction = read(text=self._store.prediction(cell.key, self._part).decode(), **reading_options(corpus))
                aligned[label] = align(gold, prediction, training=train, unit=unit)
                predicted[label] = prediction
            except InputError:
                yield cell.key
        if len(predicted) < 2:
            return
        counts = {label: metric.counts(pair)[:, :3] for label, pair in aligned.items()}
        settings = PairwiseSettings(test or choose_test(list(counts.values()))[0], alpha=entry.alpha)
        values = {label: float(metric.value(counts_NF.sum(axis=0))) for label, counts_NF in counts.items()}
        for a, b in combinations(predicted, 2):
            gap = values[a] - values[b]
            if not math.isnan(gap):
                p, favours = pair_p(counts[a], counts[b], metric.value, settings)
                self._tests.setdefault((a, b), []).append((settings.test, unit, p, gap, favours))
        agreed = agreement(gold, predicted, metric)
        self.agreement += [] if agreed is None else [agreed]

    def pairs(self) -> tuple[PairOverSplits, ...]:
        """All pairs, the better systems first."""
        ranked = sorted(self._tests, key=lambda pair: (self._rank[pair[0]], self._rank[pair[1]]))
        entry = self._plan.study.compare
        return tuple(pair_over_splits(a, b, self._tests[a, b], entry.correction, entry.alpha) for a, b in ranked)


def pair_over_splits(a: str, b: str, tests: Sequence[SplitTest], correction: str, alpha: float) -> PairOverSplits:
    """Two systems on every split; the test of all splits together is that of a single split."""
    names, units, p, gaps, favours = zip(*tests, strict=True)
    corrected = [float(value) for value in correct(p, correction)]
    # A split counts for the system that the test favours: rank tests may side with the lower score.
    clear = [direction for direction, value in zip(favours, corrected, strict=True) if value <= alpha]
    better, worse = (sum(sign * direction > 0 for direction in clear) for sign in (1, -1))
    test, difference, ahead = "/".join(dict.fromkeys(names)), float(np.mean(gaps)), sum(gap > 0 for gap in gaps)
    single = p[0] if len(tests) == 1 else NAN
    overall = OverallTest(difference, NAN, NAN, single, single, len(tests), ahead)
    counts = (len(tests), ahead, better, worse)
    return PairOverSplits(a, b, test, units[0], difference, *counts, tuple(p), tuple(corrected), overall)


def _overall(block: StudyBlock, distinct: Sequence[int], correction: str, alpha: float) -> tuple[PairOverSplits, ...]:
    """Pairs tested on all distinct splits together, with p-values corrected for the number of pairs of each metric."""
    pairs, firsts = list(block.pairs), block.first_metrics()
    if block.splits > 1:
        rows = {(row.system, row.metric): row for row in block.systems}
        share = sum(block.part_words) / sum(block.train_words)
        for at, pair in enumerate(pairs):
            a, b = (np.array(rows[name, firsts[pair.a]].by_split)[distinct] for name in (pair.a, pair.b))
            gaps = (a - b)[np.isfinite(a - b)]
            test = corrected_resampled_t(gaps, test_share=share, alpha=alpha)
            ahead = int(np.count_nonzero(gaps > 0))
            overall = OverallTest(test.difference, test.low, test.high, test.p, test.p, len(gaps), ahead)
            pairs[at] = replace(pair, overall=overall)
    tested = []
    for metric in block.metrics:
        of_metric = [pair for pair in pairs if firsts[pair.a] == metric]
        corrected = correct_defined([pair.overall.p for pair in of_metric], correction).tolist()
        for pair, p in zip(of_metric, corrected, strict=True):
            tested.append(replace(pair, overall=replace(pair.overall, p_corrected=p)))
    return tuple(tested)


def study_verdict(
    blocks: Sequence[StudyBlock], metric_names: Mapping[str, str], scale: Scale, alpha: float
) -> tuple[Verdict, list[str]]:
    """Claims about neighbours in the ranking on each corpus, on test if it was scored; and who is not ranked."""
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
        for a, b in list(chosen)[:MAX_PAIRS]:
            evidence = tuple(_evidence(of_corpus, a, b, alpha))
            if evidence:
                claims.append(Claim(a, b, metric_names.get(metric, metric), evidence, corpus, scale, alpha))
    return Verdict(tuple(claims[:MAX_CLAIMS]), max(pairs - len(claims[:MAX_CLAIMS]), 0), systems), notes


def _evidence(blocks: Sequence[StudyBlock], a: str, b: str, alpha: float) -> Iterator[Evidence]:
    """What each strategy shows: a single split by the test on its sentences or tokens, several by all of them."""
    for block in sorted(blocks, key=lambda block: block.splits > 1):
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
        yield evidence if pair.a == a else reverse(evidence)
