"""What a study found: how systems stand over splits and seeds, and on how many splits a difference holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from deadheat.analyses.contest import Settings, choose_test, pair_p
from deadheat.analyses.disagreement import Disagreement, disagreement
from deadheat.corpus import Corpus, read, take
from deadheat.corpus.reading import as_read
from deadheat.errors import counted
from deadheat.metrics import Metric, align
from deadheat.metrics.metric import CORRECT, GOLD, Counts
from deadheat.stats.corrections import correct
from deadheat.stats.intervals import wilson
from deadheat.study.bench import wanted_metrics
from deadheat.study.cells import Cell
from deadheat.study.plan import Plan
from deadheat.study.store import Store
from deadheat.systems import SYSTEMS

MCNEMAR = "mcnemar"


@dataclass(frozen=True, slots=True)
class Standing:
    """One system by one metric on one part, over the splits and seeds of a strategy."""

    system: str
    metric: str
    runs: int
    mean: float
    sd: float  # NaN for a single run
    least: float
    most: float
    interval: tuple[float, float] | None  # Wilson's, where there is a single run

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"interval": None if self.interval is None else list(self.interval)}


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
    part: str
    splits: int
    metrics: tuple[str, ...]
    standings: tuple[Standing, ...]  # of the first metric, best first; then the others
    pairs: tuple[PairOverSplits, ...]
    agreement: tuple[Disagreement, ...]  # one a split; empty for a single system

    def __str__(self) -> str:
        return f"{self.corpus}, {self.split}, {self.part}: {counted(self.splits, 'split')}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "corpus": self.corpus,
            "split": self.split,
            "part": self.part,
            "splits": self.splits,
            "metrics": list(self.metrics),
            "systems": [each.to_dict() for each in self.standings],
            "pairs": [each.to_dict() for each in self.pairs],
            "agreement": [each.to_dict() for each in self.agreement],
        }


@dataclass(frozen=True, slots=True)
class StudyResult:
    """What a study found, block by block."""

    name: str
    blocks: tuple[Block, ...]
    correction: str
    alpha: float
    missing: int  # cells of the plan without a result

    def __str__(self) -> str:
        return "\n".join(map(str, self.blocks))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the command prints them under `--json`."""
        return {
            "study": self.name,
            "correction": self.correction,
            "alpha": self.alpha,
            "missing": self.missing,
            "blocks": [block.to_dict() for block in self.blocks],
        }


def study_result(plan: Plan, store: Store) -> StudyResult:
    """Read what a store holds of a study, and test every pair of systems on every split.

    Where a system has several seeds, its first seed is compared, and all of them stand in the table of scores.
    """
    done = store.done()
    cells = [cell for cell in plan.cells if cell.key in done]
    groups: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.corpus, cell.split, cell.split_seed), []).append(cell)
    blocks = [
        _block(plan, store, own, part) for own in groups.values() for part in plan.evaluated(plan.partition(own[0]))
    ]
    entry = plan.study.compare
    missing = len(plan.cells) - len(cells)
    return StudyResult(plan.study.name or plan.path.stem, tuple(blocks), entry.correction, entry.alpha, missing)


def _block(plan: Plan, store: Store, cells: Sequence[Cell], part: str) -> Block:
    metrics = {cell.system: wanted_metrics(plan, SYSTEMS.make(cell.system)) for cell in cells}
    standings = [
        _standing(plan, store, [cell for cell in cells if cell.system == system], part, metric)
        for system, own in metrics.items()
        for metric in own
    ]
    names = list(dict.fromkeys(each.metric for each in standings))
    standings.sort(key=lambda each: (names.index(each.metric), -each.mean))
    ranked = [each.system for each in standings if each.metric == names[0]]
    numbers = sorted({cell.number for cell in cells})
    compared = {number: _compared(plan, store, cells, number, part) for number in numbers}
    tested = [name for name in ranked if any(name in own.counts for own in compared.values())]
    pairs = [_pair(plan, a, b, [compared[number] for number in numbers]) for a, b in combinations(tested, 2)]
    agreement = tuple(own.agreement for own in compared.values() if own.agreement is not None)
    first = cells[0]
    return Block(first.corpus, first.split, part, len(numbers), tuple(names), tuple(standings), tuple(pairs), agreement)


def _standing(plan: Plan, store: Store, cells: Sequence[Cell], part: str, metric: Metric) -> Standing:
    sums = np.array([store.counts([cell.key], part=part, metric=metric.name)[0].sum(axis=0) for cell in cells])
    values = metric.value(sums)
    interval = None
    if len(cells) == 1 and sums[0, CORRECT] <= sums[0, GOLD] == sums[0, 2] and sums[0, GOLD]:
        interval = wilson(int(sums[0, CORRECT]), int(sums[0, GOLD])).bounds
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
    label = plan.labels.get(cells[0].system, cells[0].system)
    return Standing(
        label, metric.name, len(values), float(values.mean()), sd, float(values.min()), float(values.max()), interval
    )


@dataclass(frozen=True, slots=True)
class _Split:
    """The systems of one split, by what they are tested on."""

    metric: Metric
    test: str
    counts: dict[str, Counts]
    agreement: Disagreement | None


def _compared(plan: Plan, store: Store, cells: Sequence[Cell], number: int, part: str) -> _Split:
    """First seeds of the systems whose first metric is that of the first system, on one split."""
    firsts: dict[str, Cell] = {}
    for cell in cells:
        if cell.number == number:
            firsts.setdefault(cell.system, cell)
    metric = wanted_metrics(plan, SYSTEMS.make(next(iter(firsts))))[0]
    own = {
        plan.labels.get(system, system): cell
        for system, cell in firsts.items()
        if wanted_metrics(plan, SYSTEMS.make(system))[0].name == metric.name
    }
    any_cell = next(iter(firsts.values()))
    corpus = plan.materials[any_cell.corpus].corpus
    gold = take(corpus, plan.partition(any_cell).parts[part])
    predicted = {name: _prediction(store, cell, part, corpus) for name, cell in own.items()}
    test = plan.study.compare.test or (f"{MCNEMAR}-midp" if metric.base == "accuracy" else "")
    unit = "token" if test.startswith(MCNEMAR) else "sentence"
    counts = {name: metric.counts(align(gold, each, unit=unit))[:, :3] for name, each in predicted.items()}
    agreement = disagreement(gold, predicted, metric) if len(predicted) > 1 else None
    return _Split(metric, test or choose_test(list(counts.values()))[0], counts, agreement)


def _prediction(store: Store, cell: Cell, part: str, like: Corpus) -> Corpus:
    text = store.prediction(cell.key, part).decode()
    return read(text=text, **as_read(like))


def _pair(plan: Plan, a: str, b: str, splits: Sequence[_Split]) -> PairOverSplits:
    entry = plan.study.compare
    both = [each for each in splits if a in each.counts and b in each.counts]
    settings = Settings(alpha=entry.alpha)
    p, gaps = [], []
    for each in both:
        first, second, value = each.counts[a], each.counts[b], each.metric.value
        p.append(pair_p(first, second, value, each.test, settings)[0])
        gaps.append(float(value(first.sum(axis=0)) - value(second.sum(axis=0))))
    corrected = [float(each) for each in correct(p, entry.correction)]
    clear = [(gap, q) for gap, q in zip(gaps, corrected, strict=True) if q <= entry.alpha]
    return PairOverSplits(
        a,
        b,
        both[0].test,
        float(np.mean(gaps)),
        len(both),
        sum(gap > 0 for gap in gaps),
        sum(gap > 0 for gap, _ in clear),
        sum(gap < 0 for gap, _ in clear),
        tuple(p),
        tuple(corrected),
    )
