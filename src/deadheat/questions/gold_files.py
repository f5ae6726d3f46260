"""Several gold files of one data set: they may differ, but not in what a metric compares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Indices
from deadheat.errors import InputError
from deadheat.metrics import Metric
from deadheat.metrics import align as align_words
from deadheat.text import join_names

HEAD, RELATION = "head", "deprel"
# Columns beside `Metric.compares` that decide what is right, or which words count.
OTHER_COLUMNS = {
    "alltags": ("xpos", "feats"), "mlas": ("upos", "feats"), "blex": ("lemma",),
    "uas-ptb": ("xpos",), "las-ptb": ("xpos",),
}  # fmt: skip
NAMES = {RELATION: "relation", "upos": "tag", "xpos": "tag", "feats": "features"}


def check_same_annotation(golds: Sequence[tuple[Corpus, Sequence[str]]], metric: Metric) -> list[str]:
    """Raise if gold files, each with the systems scored against it, are not the same to a metric; notes on the words.

    They are the same if the first one is scored against the others as it is against itself: a difference in subtypes
    of relations is none to a metric that leaves them out.
    """
    (first, first_systems), *others = golds
    notes = []
    for gold, systems in others:
        if metric.compares:
            _check(first, gold, metric)
        if _differing(first, gold, "form").any():
            names = [join_names(dict.fromkeys(row)) for row in (systems, first_systems)]
            notes.append(f"the gold files of {names[0]} have other word forms than those of {names[1]}")
    return notes


def _check(first: Corpus, gold: Corpus, metric: Metric) -> None:
    itself, other = (metric.counts(align_words(corpus, first, by="position")) for corpus in (first, gold))
    sentences = np.flatnonzero((itself != other).any(axis=1))
    differing = {name: _differing(first, gold, name) for name in _columns(metric)}
    for sentence in sentences.tolist():
        words = slice(*first.offsets[sentence : sentence + 2].tolist())
        wrong = [(int(np.argmax(flags[words])), name) for name, flags in differing.items() if flags[words].any()]
        if not wrong:  # the words that count differ by their forms
            continue
        at, name = min(wrong, key=lambda pair: pair[0])
        word = words.start + at
        here, there = (":".join(map(str, corpus.line_of_word(word))) for corpus in (gold, first))
        problem = f"{NAMES.get(name, name)} {_value(gold, name, word)}, and {_value(first, name, word)} in {there}"
        raise InputError(f"{here}: {problem}; expected the same annotation for all systems")


def _columns(metric: Metric) -> Iterator[str]:
    """The columns of gold that a metric looks at."""
    yield from (HEAD, RELATION) if metric.compares == "tree" else (metric.compares,)
    yield from OTHER_COLUMNS.get(metric.base, ())


def _differing(first: Corpus, gold: Corpus, name: str) -> Indices:
    """Whether a word has another value in two corpora of the same sentences."""
    if name == HEAD:
        return np.asarray(first.trees != gold.trees)
    here, there = first.column(name), gold.column(name)
    return np.asarray(here.codes != here.vocabulary.codes_of(there.vocabulary)[there.codes])


def _value(corpus: Corpus, name: str, word: int) -> str:
    if name == HEAD:
        return str(corpus.trees[word])
    column = corpus.column(name)
    return repr(column.vocabulary[int(column.codes[word])])
