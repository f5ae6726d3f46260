"""What systems said of each word: labels to agree or disagree on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.metrics import Metric
from deadheat.metrics.universal import main_label


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """One number a word: of gold and of each system, equal where the label is the same."""

    kind: str
    gold_N: Indices
    systems_SN: Indices
    names: Sequence[str]  # what a word's part of the number stands for; heads are before it

    def text(self, number: int) -> str:
        """A label as a person reads it."""
        head, name = divmod(int(number), max(1, len(self.names)))
        if self.kind == "head":
            return str(number)
        return f"{head}:{self.names[name]}" if self.kind == "head and relation" else self.names[name]


def labels_of(gold: Corpus, systems: Sequence[Corpus], metric: Metric) -> Labels | None:
    """The labels that a metric compares: heads, heads with relations, or a column; None if it compares none."""
    everyone = [gold, *systems]
    if not metric.compares:
        return None
    if metric.compares in ("head", "tree"):
        heads = np.stack([corpus.trees.astype(np.int64) for corpus in everyone])
        if metric.compares == "head":
            return Labels("head", heads[0], heads[1:], ())
        codes, names = _shared(everyone, "deprel", cut=True)
        both = heads * len(names) + codes
        return Labels("head and relation", both[0], both[1:], names)
    codes, names = _shared(everyone, metric.compares, cut=False)
    return Labels(metric.compares, codes[0], codes[1:], names)


def _shared(corpora: Sequence[Corpus], column: str, *, cut: bool) -> tuple[Indices, list[str]]:
    numbers: dict[str, int] = {}
    rows = []
    for corpus in corpora:
        found = corpus.column(column)
        strings = [main_label(each) if cut else each for each in found.vocabulary.strings]
        renumber: Codes = np.array([numbers.setdefault(each, len(numbers)) for each in strings], np.int32)
        rows.append(renumber[found.codes].astype(np.int64))
    return np.stack(rows), list(numbers)
