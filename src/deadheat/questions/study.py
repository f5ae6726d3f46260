"""What a study found: how systems stand over splits and seeds, and on how many splits a difference holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from deadheat.corpus import Corpus, read, take
from deadheat.corpus.reading import as_read
from deadheat.errors import InputError
from deadheat.metrics import Metric, Pair, align
from deadheat.metrics.metric import CORRECT, GOLD, PREDICTED, Values
from deadheat.pages.disagreement import disagreement
from deadheat.questions.disagreement import Disagreement
from deadheat.questions.pairwise import choose_test, pair_p
from deadheat.questions.planned import Planned
from deadheat.stats.corrections import correct
from deadheat.stats.intervals import wilson
from deadheat.study.engine.running import missing_cells
from deadheat.study.plan.cells import Cell
from deadheat.study.plan.plan import Plan
from deadheat.study.search.space import Settings
from deadheat.study.store.store import Store
from deadheat.systems import SYSTEMS
from deadheat.text import pluralize

MCNEMAR = "mcnemar"
_Split = tuple[str, float, float, float]  # what two systems have on a split: test, p, difference, whom the test favours


@dataclass(frozen=True, slots=True)
class Standing:
    """One system by one metric on one part, over the splits and seeds of a strategy."""

    system: str
    metric: str
    runs: int  # that have a score; there is none where there is nothing to get right
    mean: float
    sd: float  # NaN for a single run
    least: float
    most: float
    interval: tuple[float, float] | None  # Wilson's, where there is a single split
    by_split: tuple[float, ...] = ()  # mean over seeds, split by split in the order of the block; NaN where none ran

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        interval = None if self.interval is None else list(self.interval)
        return asdict(self) | {"interval": interval, "by_split": list(self.by_split)}


@dataclass(frozen=True, slots=True)
class PairOverSplits:
    """Two systems, the first better on average: on how many splits it is ahead, and significantly so."""

    a: str
    b: str
    test: str
    difference: float  # mean over splits
    splits: int
    ahead: int
    significant: int  # splits on which a is better after correction for the number of splits
    reversed: int  # splits on which b is
    p: tuple[float, ...]
    p_corrected: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"p": list(self.p), "p_corrected": list(self.p_corrected)}


@dataclass(frozen=True, slots=True)
class Block:
    """The splits that one strategy makes of one corpus, scored on one part."""

    corpus: str
    split: str
    seed: int  # of the splits
    part: str
    splits: int
    metrics: tuple[str, ...]
    standings: tuple[Standing, ...]  # of the first metric, best first; then the others
    pairs: tuple[PairOverSplits, ...]
    agreement: tuple[Disagreement, ...]  # one a split and column; none of a single system
    numbers: tuple[int, ...] = ()  # of the splits
    train_words: tuple[int, ...] = ()  # of each split

    def __str__(self) -> str:
        seed = f" (seed {self.seed})" if self.seed else ""
        return f"{self.corpus}, {self.split}{seed}, {self.part}: {pluralize(self.splits, 'split')}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "corpus": self.corpus,
            "split": self.split,
            "seed": self.seed,
            "part": self.part,
            "splits": self.splits,
            "numbers": list(self.numbers),
            "train_words": list(self.train_words),
            "metrics": list(self.metrics),
            "systems": [each.to_dict() for each in self.standings],
            "pairs": [each.to_dict() for each in self.pairs],
            # Sentences of the first split are enough to look at; those of all would be most of the document.
            "agreement": [each.to_dict() | ({"sentences": []} if at else {}) for at, each in enumerate(self.agreement)],
        }


@dataclass(frozen=True, slots=True)
class StudyResult:
    """What a study found, block by block, and what was asked of it."""

    name: str
    blocks: tuple[Block, ...]
    correction: str
    alpha: float
    missing: int  # cells of the plan without a result
    damaged: tuple[Cell, ...] = ()  # cells whose predictions are gone or not what they were; they are left out of pairs
    notes: tuple[str, ...] = ()
    plan: Planned | None = None

    def __str__(self) -> str:
        return "\n".join(map(str, self.blocks))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the command prints them under `--json`."""
        return {
            "kind": "study",
            "study": self.name,
            "correction": self.correction,
            "alpha": self.alpha,
            **(self.plan.to_dict() if self.plan is not None else {}),
            "missing": self.missing,
            "damaged": [cell.key for cell in self.damaged],
            "blocks": [block.to_dict() for block in self.blocks],
            "notes": list(self.notes),
        }

    def to_latex(self) -> str:
        """For every block how the systems stand, then every pair over the splits, for the booktabs package."""
        from deadheat.questions.latex import joined
        from deadheat.questions.latex_study import study_tables

        return joined(study_tables(self.to_dict()))


def study_result(plan: Plan, store: Store) -> StudyResult:
    """Read what a store holds of a study, and test every pair of systems on every split.

    Where a system has several seeds, its first seed is compared, and all of them stand in the table of scores. Systems
    are compared with those that are scored by the same first metric.
    """
    lacking = {cell.key for cell in missing_cells(plan, store, retry_failed=True)}
    groups: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in plan.cells:
        if cell.key not in lacking:
            groups.setdefault((cell.corpus, cell.split, cell.split_seed), []).append(cell)
    values = scores_of(store) if groups else {}
    damaged: dict[Cell, None] = {}
    blocks = [
        _block(plan, store, values, own, part, damaged) for own in groups.values() for part in plan.scored_parts(own[0])
    ]
    picking = {plan.tune_part(plan.partition(own[0])) for own in groups.values()}
    tuned = [plan.labels[name] for name in plan.systems if SYSTEMS.make(name).tuned]
    notes = [
        f"{part} was used in training {', '.join(tuned)}, so that scores on it are too good to compare by"
        for part in dict.fromkeys(block.part for block in blocks)
        if part in picking and tuned
    ]
    notes += [note for block in blocks for note in _unequal(block)]
    entry = plan.study.compare
    name = plan.study.name or plan.path.stem
    asked = Planned.of(plan)
    return StudyResult(
        name, tuple(blocks), entry.correction, entry.alpha, len(lacking), tuple(damaged), tuple(notes), asked
    )


def _unequal(block: Block) -> Iterator[str]:
    """Systems whose mean is over fewer splits than that of others."""
    for each in block.standings:
        lacking = int(np.isnan(each.by_split).sum())
        if each.metric == block.metrics[0] and 0 < lacking < block.splits:
            told = f"{each.system} has no score on {lacking:,} of them, and its mean is over the others"
            yield f"{block}: {told}, so that means are not alike"


def scores_of(store: Store) -> dict[tuple[str, str, str], float]:
    """Every score, by the key of its cell, part and metric."""
    rows = store.scores().select("key", "part", "metric", "value").iter_rows()
    return {(key, part, metric): value for key, part, metric, value in rows}


def _block(
    plan: Plan,
    store: Store,
    values: Mapping[tuple[str, str, str], float],
    cells: Sequence[Cell],
    part: str,
    damaged: dict[Cell, None],
) -> Block:
    own: dict[str, list[Cell]] = {system: [] for system in plan.systems}
    by_number: dict[int, list[Cell]] = {}
    for cell in cells:
        own[cell.system].append(cell)
        by_number.setdefault(cell.number, []).append(cell)
    standings = []
    for system, runs in own.items():
        for metric in plan.metrics[system] if runs else []:
            scores = np.array([values[cell.key, part, metric.name] for cell in runs])
            interval = _interval(store, runs, part, metric) if len(by_number) == 1 else None
            by_split = _means(scores, [cell.number for cell in runs], list(by_number))
            standings.append(replace(_standing(plan.labels[system], metric.name, scores, interval), by_split=by_split))
    names = list(dict.fromkeys(each.metric for each in standings))
    standings.sort(key=lambda each: (names.index(each.metric), np.isnan(each.mean), -each.mean))
    contests = _Contests(plan, store, part, [each.system for each in standings])
    lengths = plan.materials[cells[0].corpus].lengths
    train_words = []
    for each in by_number.values():
        contests.add(each, damaged)
        train_words.append(int(lengths[plan.partition(each[0]).parts["train"]].sum()))
    first = cells[0]
    return Block(
        first.corpus,
        first.split,
        first.split_seed,
        part,
        len(by_number),
        tuple(names),
        tuple(standings),
        contests.pairs(),
        tuple(contests.agreement),
        tuple(by_number),
        tuple(train_words),
    )


def _means(scores: Values, splits: Sequence[int], numbers: Sequence[int]) -> tuple[float, ...]:
    """The mean of the scores of each split that are known; NaN where none is."""
    known = ~np.isnan(scores)
    own = np.searchsorted(numbers, splits)
    sums = np.bincount(own[known], scores[known], minlength=len(numbers))
    counts = np.bincount(own[known], minlength=len(numbers))
    means: Values = np.divide(sums, counts, out=np.full(len(numbers), np.nan), where=counts > 0)
    return tuple(means.tolist())


def _standing(label: str, metric: str, scores: Values, interval: tuple[float, float] | None) -> Standing:
    known = scores[~np.isnan(scores)]
    if not len(known):
        none = float("nan")
        return Standing(label, metric, 0, none, none, none, none, interval)
    sd = float(np.std(known, ddof=1)) if len(known) > 1 else float("nan")
    return Standing(
        label, metric, len(known), float(known.mean()), sd, float(known.min()), float(known.max()), interval
    )


def _interval(store: Store, cells: Sequence[Cell], part: str, metric: Metric) -> tuple[float, float] | None:
    """Wilson's interval of a share, of several seeds that of their mean on as many words; None if the score is none."""
    sums_RF = store.counts([cell.key for cell in cells], part=part, metric=metric.name).sum(axis=1)
    totals = {*sums_RF[:, GOLD].tolist(), *sums_RF[:, PREDICTED].tolist()}
    if len(totals) > 1 or 0 in totals:
        return None
    return wilson(round(float(sums_RF[:, CORRECT].mean())), totals.pop()).bounds


class _Contests:
    """Every two systems that have their first metric in common, split by split; predictions are held of one split."""

    def __init__(self, plan: Plan, store: Store, part: str, ranked: Sequence[str]) -> None:
        self._plan, self._store, self._part = plan, store, part
        self._rank = {label: rank for rank, label in reversed(list(enumerate(ranked)))}
        self._found: dict[tuple[str, str], list[_Split]] = {}
        self.agreement: list[Disagreement] = []

    def add(self, cells: Sequence[Cell], damaged: dict[Cell, None]) -> None:
        """The first seeds of systems on one split; cells whose predictions cannot be read are told."""
        families: dict[str, dict[str, Cell]] = {}
        for cell in cells:
            family = families.setdefault(self._plan.metrics[cell.system][0].name, {})
            family.setdefault(self._plan.labels[cell.system], cell)
        for family in families.values():
            if len(family) > 1:
                in_order = sorted(family, key=self._rank.__getitem__)
                self._add({label: family[label] for label in in_order}, damaged)

    def _add(self, family: Mapping[str, Cell], damaged: dict[Cell, None]) -> None:
        first = next(iter(family.values()))
        metric, corpus = self._plan.metrics[first.system][0], self._plan.materials[first.corpus].corpus
        parts = self._plan.partition(first).parts
        gold, train = take(corpus, parts[self._part]), take(corpus, parts["train"])
        settings = Settings(alpha=self._plan.study.compare.alpha)
        test = self._plan.study.compare.test or (f"{MCNEMAR}-midp" if metric.base == "accuracy" else "")
        unit = "token" if test.startswith(MCNEMAR) else "sentence"
        predicted: dict[str, Corpus] = {}
        aligned: dict[str, Pair] = {}
        for label, cell in family.items():
            try:
                each = read(text=self._store.prediction(cell.key, self._part).decode(), **as_read(corpus))
                aligned[label] = align(gold, each, training=train, unit=unit)
                predicted[label] = each
            except InputError:
                damaged[cell] = None
        if len(predicted) < 2:
            return
        counts = {label: metric.counts(each)[:, :3] for label, each in aligned.items()}
        test = test or choose_test(list(counts.values()))[0]
        values = {label: float(metric.value(each.sum(axis=0))) for label, each in counts.items()}
        for a, b in combinations(predicted, 2):
            gap = values[a] - values[b]
            if not np.isnan(gap):
                p, direction = pair_p(counts[a], counts[b], metric.value, test, settings)
                self._found.setdefault((a, b), []).append((test, p, gap, gap if direction is None else direction))
        agreement = disagreement(gold, predicted, metric)
        self.agreement += [] if agreement is None else [agreement]

    def pairs(self) -> tuple[PairOverSplits, ...]:
        """What was found, the better systems first."""
        ranked = sorted(self._found, key=lambda pair: (self._rank[pair[0]], self._rank[pair[1]]))
        return tuple(_pair(self._plan, a, b, self._found[a, b]) for a, b in ranked)


def _pair(plan: Plan, a: str, b: str, found: Sequence[_Split]) -> PairOverSplits:
    entry = plan.study.compare
    tests, p, gaps, directions = zip(*found, strict=True)
    corrected = [float(each) for each in correct(p, entry.correction)]
    # Whom a test favours: rank tests may side with the lower score.
    clear = [direction for direction, q in zip(directions, corrected, strict=True) if q <= entry.alpha]
    return PairOverSplits(
        a,
        b,
        "/".join(dict.fromkeys(tests)),
        float(np.mean(gaps)),
        len(found),
        sum(gap > 0 for gap in gaps),
        sum(direction > 0 for direction in clear),
        sum(direction < 0 for direction in clear),
        tuple(p),
        tuple(corrected),
    )
