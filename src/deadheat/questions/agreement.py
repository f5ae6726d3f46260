"""Where systems disagree: agreement, what they could reach together, and the sentences to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.metrics import Metric
from deadheat.metrics.universal import main_label
from deadheat.results.compare import Agreement, DisputedSentence
from deadheat.stats.agreement import alpha, lowest_agreement, majority, oracle

SENTENCES = 5  # that are kept to look at


@dataclass(frozen=True, slots=True, eq=False)
class _Labels:
    """One number per word, of gold and of each system; equal where the label is the same."""

    kind: str
    gold_N: Indices
    systems_SN: Indices
    names: Sequence[str]  # what the low part of a number stands for; the head is its high part

    def text(self, number: int) -> str:
        """A label as a person reads it."""
        head, label = divmod(int(number), max(1, len(self.names)))
        if self.kind == "head":
            return str(number)
        return f"{head}:{self.names[label]}" if self.kind == "head and relation" else self.names[label]


def agreement(gold: Corpus, systems: Mapping[str, Corpus], metric: Metric) -> Agreement | None:
    """Agreement of systems on the labels a metric compares; None where there are none."""
    labels = _labels(gold, list(systems.values()), metric)
    if labels is None or not gold.words:
        return None
    right_SN = labels.systems_SN == labels.gold_N
    votes = majority(labels.systems_SN)
    disputed = lowest_agreement(labels.systems_SN, gold.offsets, count=SENTENCES)
    return Agreement(
        labels.kind,
        alpha(labels.systems_SN).alpha,
        float(np.mean(oracle(right_SN))),
        float(np.mean(votes == labels.gold_N)) if len(systems) > 2 else float("nan"),
        tuple(_sentence(gold, systems, labels, sentence, value) for sentence, value in disputed),
    )


def _sentence(
    gold: Corpus, systems: Mapping[str, Corpus], labels: _Labels, sentence: int, value: float
) -> DisputedSentence:
    start, end = int(gold.offsets[sentence]), int(gold.offsets[sentence + 1])
    forms = gold.column("form")
    path, line = gold.line_of_word(start)
    return DisputedSentence(
        sentence + 1,
        f"{path}:{line}",
        float(value),
        tuple(forms.vocabulary[code] for code in forms.codes[start:end].tolist()),
        tuple(labels.text(number) for number in labels.gold_N[start:end]),
        {
            name: tuple(labels.text(number) for number in labels.systems_SN[i, start:end])
            for i, name in enumerate(systems)
        },
    )


def _labels(gold: Corpus, systems: Sequence[Corpus], metric: Metric) -> _Labels | None:
    """The labels that a metric compares: heads, heads with relations, or a column; None if it compares none."""
    corpora = [gold, *systems]
    if not metric.compares:
        return None
    if metric.compares in ("head", "tree"):
        heads = np.stack([corpus.trees.astype(np.int64) for corpus in corpora])
        if metric.compares == "head":
            return _Labels("head", heads[0], heads[1:], ())
        codes, names = _shared_codes(corpora, "deprel", main=True)
        both = heads * len(names) + codes
        return _Labels("head and relation", both[0], both[1:], names)
    codes, names = _shared_codes(corpora, metric.compares, main=False)
    return _Labels(metric.compares, codes[0], codes[1:], names)


def _shared_codes(corpora: Sequence[Corpus], column: str, *, main: bool) -> tuple[Indices, list[str]]:
    """A column of all corpora in codes of one vocabulary; of relations perhaps without their subtypes."""
    numbers: dict[str, int] = {}
    rows = []
    for corpus in corpora:
        values = corpus.column(column)
        strings = [main_label(string) if main else string for string in values.vocabulary.strings]
        renumber: Codes = np.array([numbers.setdefault(string, len(numbers)) for string in strings], np.int32)
        rows.append(renumber[values.codes].astype(np.int64))
    return np.stack(rows), list(numbers)
