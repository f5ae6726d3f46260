"""BLEU and chrF of translations that a log holds beside their references: statistics of segments, and their score.

The n-grams of BLEU depend on its tokenizer, and so they are counted by sacrebleu, if it is installed. chrF needs none:
it counts the characters without spaces.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from deadheat.items.aggregates import Aggregate
from deadheat.items.logs.decoding import NotANumber
from deadheat.metrics.metric import Sums, Values

BLEU_ORDER, CHRF_ORDER, BETA = 4, 6, 2


def _bleu(sums: Sums) -> Values:
    """BLEU of a corpus with exponential smoothing, sacrebleu's default."""
    sums = np.asarray(sums, float)
    reference, hypothesis = sums[..., 1], sums[..., 2]
    matches = [sums[..., 0], *np.moveaxis(sums[..., 3:6], -1, 0)]
    totals = [hypothesis, *np.moveaxis(sums[..., 6:9], -1, 0)]
    logarithm, smoothing = np.zeros(sums.shape[:-1]), np.ones(sums.shape[:-1])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for match, total in zip(matches, totals, strict=True):
            smoothing = np.where(match > 0, smoothing, 2 * smoothing)
            precision = np.where(match > 0, match, 1 / smoothing) / total
            logarithm = logarithm + np.where(total > 0, np.log(precision), -np.inf) / BLEU_ORDER
        brevity = np.where(hypothesis < reference, np.exp(1 - reference / hypothesis), 1.0)
        matched = sum(matches) > 0
        return np.where(matched, 100 * brevity * np.exp(logarithm), 0.0)


def _chrf(sums: Sums) -> Values:
    """chrF2 of a corpus: precision and recall are averages over the orders that both texts have."""
    sums = np.asarray(sums, float)
    match, reference, hypothesis = (sums[..., start::3] for start in range(3))
    both = (reference > 0) & (hypothesis > 0)
    orders = np.maximum(both.sum(axis=-1), 1)
    precision, recall = (
        np.divide(match, size, out=np.zeros_like(match), where=both).sum(axis=-1) / orders
        for size in (hypothesis, reference)
    )
    size = BETA**2 * precision + recall
    score: Values = np.divide((1 + BETA**2) * precision * recall, size, out=np.zeros_like(size), where=size > 0)
    return 100 * score


BLEU = Aggregate(
    "bleu",
    ("matches", "reference words", "words", *(f"{what} {n}" for what in ("matches", "n-grams") for n in (2, 3, 4))),
    _bleu,
)
CHRF = Aggregate(
    "chrf",
    tuple(f"{what} {n}" for n in range(1, CHRF_ORDER + 1) for what in ("matches", "reference n-grams", "n-grams")),
    _chrf,
)


def translation_statistics(name: str) -> tuple[Aggregate, Callable[[str, Sequence[str]], list[float]]] | None:
    """The aggregate of a metric of translations, and what counts a hypothesis and its references."""
    return {"bleu": (BLEU, bleu_statistics), "chrf": (CHRF, chrf_statistics)}.get(name)


def bleu_statistics(hypothesis: str, references: Sequence[str]) -> list[float]:
    """What BLEU counts in a segment, by sacrebleu."""
    score = _sacrebleu().sentence_score(hypothesis, list(references))
    return [score.counts[0], score.ref_len, score.sys_len, *score.counts[1:], *score.totals[1:]]


@cache
def _sacrebleu() -> Any:
    try:
        return importlib.import_module("sacrebleu").BLEU(effective_order=True)  # which the statistics do not depend on
    except ImportError:
        raise NotANumber("sacrebleu counts it, which is not installed (pip install deadheat[translation])") from None


def chrf_statistics(hypothesis: str, references: Sequence[str]) -> list[float]:
    """What chrF counts in a segment: common n-grams of characters, those of the reference, and those of the text.

    Of several references, the one counts that gives the best score.
    """
    candidates = [_common_ngrams("".join(hypothesis.split()), "".join(text.split())) for text in references]
    return max(candidates, key=lambda counts: float(_chrf(np.array(counts))))


def _common_ngrams(hypothesis: str, reference: str) -> list[float]:
    counts: list[float] = []
    for order in range(1, CHRF_ORDER + 1):
        ours, theirs = (
            Counter(text[start : start + order] for start in range(len(text) - order + 1))
            for text in (hypothesis, reference)
        )
        total = ours.total() if theirs else 0  # as sacrebleu counts
        counts += [(ours & theirs).total(), theirs.total(), total]
    return counts
