"""What systems said of each word: labels to agree or disagree on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Codes, Indices
from deadheat.metrics import Metric
from deadheat.metrics.universal import main_label

HEAD_METRICS = ("uas", "ucm")
TREE_METRICS = ("las", "clas", "mlas", "blex", "attachment", "lcm", "label", "relation")


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


def labels_of(gold: Corpus, systems: Sequence[Corpus], metric: Metric) -> Labels:
    """The labels that a metric compares: heads, heads with relations, or a column."""
    base = metric.name.partition(".v")[0].partition("-")[0]
    everyone = [gold, *systems]
    if base in HEAD_METRICS:
        heads = np.stack([corpus.trees.astype(np.int64) for corpus in everyone])
        return Labels("head", heads[0], heads[1:], ())
    if base in TREE_METRICS:
        codes, names = _shared(everyone, "deprel", cut=True)
        heads = np.stack([corpus.trees.astype(np.int64) for corpus in everyone])
        both = heads * len(names) + codes
        return Labels("head and relation", both[0], both[1:], names)
    column = _column(metric, gold)
    codes, names = _shared(everyone, column, cut=False)
    return Labels(column, codes[0], codes[1:], names)


def _column(metric: Metric, gold: Corpus) -> str:
    named = metric.name.partition("column='")[2].partition("'")[0]
    base = metric.name.partition(".v")[0]
    defaults = {"xpos": "xpos", "lemmas": "lemma", "ufeats": "feats", "chunks": "chunk"}
    wanted = named or defaults.get(base, "upos")
    return wanted if wanted in gold.columns else [name for name in gold.columns if name != "form"][-1]


def _shared(corpora: Sequence[Corpus], column: str, *, cut: bool) -> tuple[Indices, list[str]]:
    numbers: dict[str, int] = {}
    rows = []
    for corpus in corpora:
        found = corpus.column(column)
        strings = [main_label(each) if cut else each for each in found.vocabulary.strings]
        renumber: Codes = np.array([numbers.setdefault(each, len(numbers)) for each in strings], np.int32)
        rows.append(renumber[found.codes].astype(np.int64))
    return np.stack(rows), list(numbers)
