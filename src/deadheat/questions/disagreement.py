"""Where systems disagree: agreement, ensembles, and the sentences to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.corpus import Corpus
from deadheat.metrics import Metric
from deadheat.questions.labels import Labels, labels_of
from deadheat.stats.agreement import alpha, lowest_agreement, majority, oracle

SHOWN = 5


@dataclass(frozen=True, slots=True)
class DisputedSentence:
    """A sentence with the labels of gold and of every system, word by word."""

    sentence: int  # counted from 1
    place: str
    alpha: float
    words: tuple[str, ...]
    gold: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "sentence": self.sentence,
            "place": self.place,
            "alpha": self.alpha,
            "words": list(self.words),
            "gold": list(self.gold),
            "labels": {name: list(each) for name, each in self.labels.items()},
        }


@dataclass(frozen=True, slots=True)
class Disagreement:
    """How far systems agree, what they could reach together, and the sentences they disagree on most."""

    labels: str
    alpha: float
    oracle: float  # the share of words that some system has right
    majority: float  # the share of words that a vote has right; NaN for two systems, who cannot vote
    sentences: tuple[DisputedSentence, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "labels": self.labels,
            "alpha": self.alpha,
            "oracle": self.oracle,
            "majority": self.majority,
            "sentences": [each.to_dict() for each in self.sentences],
        }


def disagreement(gold: Corpus, systems: Mapping[str, Corpus], metric: Metric) -> Disagreement | None:
    """Agreement of systems on the labels a metric compares; None where there are none."""
    labels = labels_of(gold, list(systems.values()), metric)
    if labels is None or not gold.words:
        return None
    right_SN = labels.systems_SN == labels.gold_N
    voted = majority(labels.systems_SN)
    disputed = lowest_agreement(labels.systems_SN, gold.offsets, count=SHOWN)
    return Disagreement(
        labels.kind,
        alpha(labels.systems_SN).alpha,
        float(np.mean(oracle(right_SN))),
        float(np.mean(voted == labels.gold_N)) if len(systems) > 2 else float("nan"),
        tuple(_shown(gold, systems, labels, each.group, each.alpha) for each in disputed),
    )


def _shown(
    gold: Corpus, systems: Mapping[str, Corpus], labels: Labels, sentence: int, value: float
) -> DisputedSentence:
    start, end = int(gold.offsets[sentence]), int(gold.offsets[sentence + 1])
    forms = gold.column("form")
    path, line = gold.line_of_word(start)
    return DisputedSentence(
        sentence + 1,
        f"{path}:{line}",
        value,
        tuple(forms.vocabulary[code] for code in forms.codes[start:end].tolist()),
        tuple(labels.text(each) for each in labels.gold_N[start:end]),
        {name: tuple(labels.text(each) for each in labels.systems_SN[i, start:end]) for i, name in enumerate(systems)},
    )
