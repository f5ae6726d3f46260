"""Accuracy of tags: by word, by sentence, on known, unknown and ambiguous words, and by class."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deadheat.corpus import Corpus
from deadheat.errors import InputError
from deadheat.metrics.attachment import sentence_counts
from deadheat.metrics.metric import METRICS, Counts, Metric, accuracy, f1
from deadheat.metrics.pair import Flags, Pair
from deadheat.metrics.universal import aligned_counts, main_label


def _on(pair: Pair, column: str, words: Flags) -> Counts:
    total = pair.units.of_gold(words)
    return np.stack([pair.units.of_gold(pair.equal(column) & words), total, total], axis=1)


@METRICS.add("accuracy.v1")
def token_accuracy(*, column: str = "upos") -> Metric:
    """Words with the right value in a column, of all words."""

    def counts(pair: Pair) -> Counts:
        pair.require_same_words("accuracy.v1")
        return _on(pair, column, np.ones(pair.gold.words, bool))

    return Metric("accuracy.v1", f"Accuracy ({column})", counts, accuracy, compares=column)


@METRICS.add("sentence-accuracy.v1")
def sentence_accuracy(*, column: str = "upos") -> Metric:
    """Sentences with every value of a column right."""

    def counts(pair: Pair) -> Counts:
        pair.require_same_words("sentence-accuracy.v1")
        right = pair.equal(column)
        whole = np.add.reduceat(~right, pair.gold.offsets[:-1], dtype=np.int64) == 0 if pair.gold.sentences else right
        return sentence_counts(pair, np.asarray(whole))

    return Metric("sentence-accuracy.v1", f"Sentence accuracy ({column})", counts, accuracy, compares=column)


def _training(pair: Pair, metric: str) -> Corpus:
    if pair.training is None:
        raise InputError(f"{metric}: no training file; expected one, to tell known words from unknown ones")
    return pair.training


def known_words(pair: Pair, metric: str) -> Flags:
    """Flag gold words whose form occurs in the training file; case matters."""
    forms, seen = pair.gold.column("form"), _training(pair, metric).column("form")
    codes = seen.vocabulary.codes_of(forms.vocabulary)
    occurs = seen.frequencies() > 0  # the vocabulary also has the forms of multiword tokens, and `_`
    return np.asarray(((codes >= 0) & occurs[codes])[forms.codes])


def ambiguous_words(pair: Pair, metric: str, column: str) -> Flags:
    """Flag gold words whose form occurs in the training file with two or more values of a column."""
    training = _training(pair, metric)
    forms, tags = training.column("form"), training.column(column)
    combined = np.unique(forms.codes.astype(np.int64) * len(tags.vocabulary) + tags.codes)
    values = np.bincount(combined // len(tags.vocabulary), minlength=len(forms.vocabulary))
    gold = pair.gold.column("form")
    codes = forms.vocabulary.codes_of(gold.vocabulary)
    return np.asarray(((codes >= 0) & (values[codes] > 1))[gold.codes])


def _word_class(name: str, label: str, description: str, select: Callable[[Pair, str], Flags]) -> None:
    def maker(*, column: str = "upos") -> Metric:
        def counts(pair: Pair) -> Counts:
            pair.require_same_words(name)
            return _on(pair, column, select(pair, column))

        return Metric(name, f"{label} words ({column})", counts, accuracy, compares=column)

    maker.__doc__ = description
    METRICS.add(name)(maker)


_word_class(
    *("known.v1", "Known", "Accuracy on words that occur in the training file."),
    lambda pair, _: known_words(pair, "known.v1"),
)
_word_class(
    *("unknown.v1", "Unknown", "Accuracy on words that do not occur in the training file; NaN if there are none."),
    lambda pair, _: ~known_words(pair, "unknown.v1"),
)
_word_class(
    *("ambiguous.v1", "Ambiguous", "Accuracy on words with several values in the training file."),
    lambda pair, column: ambiguous_words(pair, "ambiguous.v1", column),
)


def _has(corpus: Corpus, column: str, label: str, *, subtypes: bool) -> Flags:
    values = corpus.column(column)
    return np.asarray(
        values.vocabulary.which(lambda value: (value if subtypes else main_label(value)) == label)[values.codes]
    )


@METRICS.add("tag.v1")
def tag(*, label: str = "", column: str = "upos") -> Metric:
    """Precision, recall and F1 of one tag."""

    def counts(pair: Pair) -> Counts:
        within = _has(pair.gold, column, label, subtypes=True), _has(pair.predicted, column, label, subtypes=True)
        return aligned_counts(pair, pair.equal(column), within)[:, :3]

    return Metric("tag.v1", label, counts, f1, compares=column)


@METRICS.add("relation.v1")
def relation(*, label: str = "", subtypes: bool = False) -> Metric:
    """Precision, recall and F1 of the arcs of one relation: head and relation right."""

    def counts(pair: Pair) -> Counts:
        sides = (pair.gold, pair.predicted)
        gold, predicted = (_has(side, "deprel", label, subtypes=subtypes) for side in sides)
        right = pair.heads_equal & pair.equal("deprel", str if subtypes else main_label)
        return aligned_counts(pair, right, (gold, predicted))[:, :3]

    return Metric("relation.v1", label, counts, f1, compares="tree")
