"""Simulated experiments whose truth is known: systems by runs by data sets, with documents, and over random splits.

Every world is drawn from a `Design`. Systems are equally good on average; `effect` makes the first one better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from deadheat.metrics.metric import CORRECT, Metric, accuracy
from deadheat.questions.compare import compare_counts
from deadheat.questions.counting import sum_documents
from deadheat.questions.joint import CountedDataset
from deadheat.questions.score import MIN_DOCUMENTS
from deadheat.results.compare import Comparison, PairwiseSettings
from deadheat.results.verdict import State
from deadheat.stats.differences import resampled_estimate
from deadheat.stats.estimates import Estimate, RunScores, effective_units

Values = NDArray[np.float64]
Counts = NDArray[np.int64]


def _not_counted(_: object) -> Counts:
    raise AssertionError("counts are simulated")


METRIC = Metric("accuracy.v1", "Accuracy", _not_counted, accuracy)


@dataclass(frozen=True)
class Design:
    """What varies, in logits: sentences, documents and data sets for each system, and runs."""

    name: str
    systems: int = 2
    runs: int = 1
    datasets: int = 1
    sentences: int = 300
    documents: int = 0  # of uneven sizes
    document_sd: float = 0.0
    run_sd: float = 0.0
    dataset_sd: float = 0.0
    sentence_sd: float = 0.5
    tail: int = 0  # degrees of freedom of the sentences' differences; 0: normal
    base: float = 2.0


def draw(design: Design, rng: np.random.Generator, *, effect: float = 0.0) -> list[CountedDataset]:
    """One experiment."""
    return [_dataset(design, rng, f"set {number}", effect) for number in range(design.datasets)]


def _dataset(design: Design, rng: np.random.Generator, name: str, effect: float) -> CountedDataset:
    sentences = design.sentences
    lengths = rng.integers(4, 30, sentences)
    sizes = rng.lognormal(0, 0.8, max(1, design.documents))
    codes = np.sort(rng.choice(len(sizes), sentences, p=sizes / sizes.sum()))
    hard = rng.normal(0, 0.7, sentences)
    counts = {}
    for system in range(design.systems):
        own = rng.standard_t(design.tail, sentences) if design.tail else rng.normal(0, 1, sentences)
        level = design.base + hard + design.sentence_sd * own + rng.normal(0, design.dataset_sd)
        level += rng.normal(0, design.document_sd, len(sizes))[codes] + (effect if system == 0 else 0)
        runs = []
        for _ in range(design.runs):
            run = rng.normal(0, design.run_sd) + rng.normal(0, 0.3, sentences)
            correct = rng.binomial(lengths, expit(level + run))
            runs.append(np.stack([correct, lengths, lengths], axis=1))
        counts[f"s{system}"] = np.stack(runs)
    present, codes = np.unique(codes, return_inverse=True)
    words = np.bincount(codes, lengths).astype(float)
    if design.documents and effective_units(words) >= MIN_DOCUMENTS:
        documents = {system: sum_documents(rows, codes) for system, rows in counts.items()}
        return CountedDataset(name, "document", documents, sentences, len(present), counts)
    return CountedDataset(name, "sentence", counts, sentences)


def compared(design: Design, rng: np.random.Generator, *, effect: float = 0.0) -> Comparison:
    """The comparison that the command makes of one experiment."""
    return compare_counts(draw(design, rng, effect=effect), METRIC, PairwiseSettings())


def any_win(comparison: Comparison) -> bool:
    """Whether some system is said to be better than some other."""
    return any(pair.winner(0.05) for pair in comparison.pairs)


def any_win_elsewhere(comparison: Comparison) -> bool:
    """Whether that is said of other data sets."""
    return any(pair.state_elsewhere() in (State.SHOWN, State.OPPOSITE) for pair in comparison.pairs)


def rate(verdict: Callable[[np.random.Generator], bool], worlds: int, seed: int = 0) -> int:
    """In how many worlds something is said."""
    return sum(verdict(np.random.default_rng([seed, world])) for world in range(worlds))


# Equal systems: the verdict of compare about these models, these methods, these data sets.
DESIGNS = [
    Design("300 sentences, one run each"),
    Design("60 sentences, one run each", sentences=60),
    Design("heavy tails, 300 sentences", tail=2, sentence_sd=0.8),
    Design("30 documents, design effect 1.4", documents=30, document_sd=0.145),
    Design("30 documents, design effect 2.7", documents=30, document_sd=0.33),
    Design("12 documents, design effect 2.7", documents=12, document_sd=0.19),
    Design("2 runs each", runs=2, run_sd=0.08),
    Design("3 runs each", runs=3, run_sd=0.08),
    Design("10 runs each", runs=10, run_sd=0.08),
    Design("3 runs each, 30 documents", runs=3, run_sd=0.08, documents=30, document_sd=0.3),
    Design("3 data sets x 3 runs", runs=3, run_sd=0.08, datasets=3, sentences=120),
    Design("6 data sets x 3 runs", runs=3, run_sd=0.08, datasets=6, sentences=120),
    Design("20 data sets x 1 run", run_sd=0.0, datasets=20, sentences=60),
    Design("10 systems, 300 sentences", systems=10),
    Design("10 systems x 3 runs x 3 data sets", systems=10, runs=3, run_sd=0.08, datasets=3, sentences=60),
]
# Equal systems on average over all data sets, but not on these.
DESIGNS_ELSEWHERE = [
    Design("3 data sets x 3 runs", runs=3, run_sd=0.08, datasets=3, sentences=120, dataset_sd=0.2),
    Design("6 data sets x 3 runs", runs=3, run_sd=0.08, datasets=6, sentences=120, dataset_sd=0.2),
    Design("20 data sets x 1 run", run_sd=0.08, datasets=20, sentences=60, dataset_sd=0.2),
    Design("6 data sets, 10 systems", systems=10, run_sd=0.08, datasets=6, sentences=60, dataset_sd=0.2),
]


@dataclass(frozen=True)
class SplitDesign:
    """Random splits of one corpus: what a system learns from a sentence, and how its errors go together."""

    name: str
    splits: int = 20
    systems: int = 2
    sentences: int = 600
    documents: int = 40
    by_document: bool = False  # documents stay together
    document_sd: float = 0.0
    train_sd: float = 0.5
    test_share: float = 0.1
    tail: int = 0


SPLIT_DESIGNS = [
    SplitDesign("20 splits, independent sentences", documents=600),
    SplitDesign("20 splits by sentence, documents marked", document_sd=0.3),
    SplitDesign("20 splits by sentence, strong documents", document_sd=0.6),
    SplitDesign("20 splits by document", by_document=True, document_sd=0.4),
    SplitDesign("5 splits by document", splits=5, by_document=True, document_sd=0.4),
    SplitDesign("20 splits, heavy tails", documents=600, tail=3),
]


def splits_estimates(design: SplitDesign, rng: np.random.Generator, *, effect: float = 0.0) -> list[Estimate]:
    """The estimate over splits for every pair of systems, as a study makes it."""
    sentences = design.sentences
    codes = np.sort(rng.integers(0, design.documents, sentences))
    lengths = rng.integers(5, 30, sentences).astype(float)
    tails = rng.standard_t(design.tail, (design.systems, sentences)) if design.tail else None
    own = 0.04 * (rng.normal(0, 1, (design.systems, sentences)) if tails is None else tails)
    own += 0.04 * design.document_sd * rng.normal(0, 1, (design.systems, design.documents))[:, codes]
    learned = 0.04 * design.train_sd * rng.normal(0, 1, (design.systems, sentences))
    own[0] += effect
    scores, sums, total = [], np.zeros((design.systems, sentences)), np.zeros(sentences)
    share = 0.0
    for _ in range(design.splits):
        test = _test_sentences(design, codes, rng)
        noise = rng.normal(0, 0.04, (design.systems, int(test.sum())))
        right = 0.8 + own[:, test] + learned[:, ~test].mean(axis=1, keepdims=True) + noise
        scores.append((right * lengths[test]).sum(axis=1) / lengths[test].sum())
        sums[:, test] += right * lengths[test]
        total[test] += lengths[test]
        share += float(lengths[test].sum() / lengths[~test].sum()) / design.splits
    marked = design.documents < sentences and not design.by_document
    return [
        _pair(np.array(scores), sums, total, codes, share, a, b, marked=marked)
        for a in range(design.systems)
        for b in range(a + 1, design.systems)
    ]


def _test_sentences(design: SplitDesign, codes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.bool_]:
    if design.by_document:
        chosen = rng.permutation(design.documents)[: round(design.documents * design.test_share)]
        return np.isin(codes, chosen)
    test = np.zeros(design.sentences, bool)
    test[rng.permutation(design.sentences)[: round(design.sentences * design.test_share)]] = True
    return test


def _pair(
    scores_PS: Values,
    sums_SN: Values,
    total_N: Values,
    codes_N: NDArray[np.int64],
    share: float,
    a: int,
    b: int,
    *,
    marked: bool,
) -> Estimate:
    differences = scores_PS[:, a] - scores_PS[:, b]
    if not marked:
        return resampled_estimate(differences, share)
    used = np.bincount(codes_N, total_N) > 0
    rows = []
    for system in (a, b):
        counts = np.stack([np.bincount(codes_N, sums_SN[system]), *[np.bincount(codes_N, total_N)] * 2], axis=1)
        rows.append(RunScores.of(counts[None, used], accuracy))
    return resampled_estimate(differences, share, rows[0].minus(rows[1]).estimate)


def true_score(design: Design) -> float:
    """The expected score of a system, by a large sample."""
    many = replace(
        design, sentences=200_000, documents=20_000 if design.documents else 0, systems=1, runs=1, datasets=1
    )
    counts = draw(many, np.random.default_rng(1))[0].counts["s0"]
    return float(counts[..., CORRECT].sum() / counts[..., 1].sum())
