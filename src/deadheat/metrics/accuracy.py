"""Accuracy on gold words: tags, and UAS and LAS as other tools count them, each under its own name.

Tools differ in which words count (punctuation by form, tag or relation) and in whether subtypes of relations matter.
All metrics but spaCy's are defined for gold words only.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import partial

import numpy as np

from deadheat.corpus import Corpus
from deadheat.errors import InputError, NameUnknown
from deadheat.metrics.metric import METRICS, Counts, Metric, Sums, Values, accuracy, f1, register
from deadheat.metrics.pair import Flags, Pair
from deadheat.metrics.universal import aligned_counts, main_label

PENN_PUNCTUATION = frozenset(["``", "''", ":", ",", "."])
SPACY_IGNORED = frozenset(["p", "punct"])
LABELS: dict[str, Callable[[str], object] | None] = {"full": str, "main": main_label, "none": None}


def is_punctuation(form: str) -> bool:
    """Return whether a form has only characters of Unicode categories P*."""
    return bool(form) and all(unicodedata.category(c).startswith("P") for c in form)


def _kept(column: str, drop: Callable[[str], bool]) -> Callable[[Corpus], Flags]:
    return lambda corpus: ~corpus.column(column).which(drop)


PUNCTUATION: dict[str, Callable[[Corpus], Flags]] = {
    "counted": lambda corpus: np.ones(corpus.words, bool),
    "form": _kept("form", is_punctuation),
    "upos": _kept("upos", lambda tag: tag == "PUNCT"),
    "deprel": _kept("deprel", lambda relation: main_label(relation) == "punct"),
    "penn": _kept("xpos", PENN_PUNCTUATION.__contains__),
}


def gold_word_metric(
    name: str, label: str, compares: str, counts: Callable[[Pair], Counts], value: Callable[[Sums], Values] = accuracy
) -> Metric:
    """Return a metric that is defined for gold words only."""

    def checked(pair: Pair) -> Counts:
        if not pair.same_words:
            raise InputError(
                f"{pair.predicted.name}: other words than {pair.gold.name}; {name} expected the gold words"
            )
        return counts(pair)

    return Metric(name, label, checked, value, compares=compares)


def accuracy_counts(pair: Pair, right: Flags, kept: Flags) -> Counts:
    """Count right words among those that are kept."""
    total = pair.units.of_gold(kept)
    return np.stack([pair.units.of_gold(right & kept), total, total], axis=1)


def sentence_counts(pair: Pair, wrong: Flags) -> Counts:
    """Count sentences without a wrong word."""
    if pair.units.name == "token":
        raise InputError("a metric of whole sentences with tokens as units; expected sentences or documents")
    starts = pair.units.gold_sentences
    total = np.diff(starts, append=pair.gold.sentences)
    if not len(starts):
        return np.stack([total] * 3, axis=1)
    right = np.add.reduceat(wrong, pair.gold.offsets[:-1], dtype=np.int64) == 0
    return np.stack([np.add.reduceat(right, starts, dtype=np.int64), total, total], axis=1)


def _attachment(name: str, label: str, labels: str, punctuation: str, *, whole_sentences: bool = False) -> Metric:
    def counts(pair: Pair) -> Counts:
        right, kept = pair.heads_equal, PUNCTUATION[punctuation](pair.gold)
        if (key := LABELS[labels]) is not None:
            right = right & pair.equal("deprel", key)
        return sentence_counts(pair, ~right & kept) if whole_sentences else accuracy_counts(pair, right, kept)

    return gold_word_metric(name, label, "head" if labels == "none" else "tree", counts)


@METRICS.add("attachment.v1")
def attachment(*, labels: str = "full", punctuation: str = "counted") -> Metric:
    """Right heads and relations, with a choice of conventions.

    `labels`: `full`, `main` (without subtypes) or `none` (heads only). `punctuation`: `counted`, or left out by
    `form` (only characters of Unicode P*), `upos` (PUNCT), `deprel` (punct) or `penn` (the five Penn tags).
    """
    if labels not in LABELS:
        raise NameUnknown("attachment.v1: labels", labels, list(LABELS))
    if punctuation not in PUNCTUATION:
        raise NameUnknown("attachment.v1: punctuation", punctuation, list(PUNCTUATION))
    label = "UAS (" if labels == "none" else f"LAS ({labels} labels, "
    return _attachment("attachment.v1", f"{label}punctuation {punctuation})", labels, punctuation)


for _tool, _name, _punctuation, _words in (
    ("supar", "SuPar", "form", "words that are not all punctuation characters"),
    ("conllx", "CoNLL-X", "form", "words that are not all punctuation characters, as eval.pl without -p"),
    ("machamp", "MaChAmp", "counted", "all words"),
    ("ptb", "PTB", "penn", "words whose gold XPOS is not one of the five Penn punctuation tags"),
):
    register(f"Right heads of {_words}.", _attachment(f"uas-{_tool}.v1", f"UAS ({_name})", "none", _punctuation))
    register(
        f"Right heads and full relations of {_words}.",
        _attachment(f"las-{_tool}.v1", f"LAS ({_name})", "full", _punctuation),
    )


for _name, _label, _labels in (("ucm-supar.v1", "UCM (SuPar)", "none"), ("lcm-supar.v1", "LCM (SuPar)", "full")):
    register(
        "Sentences with every word right, as SuPar counts words.",
        _attachment(_name, _label, _labels, "form", whole_sentences=True),
    )


register(
    "Right full relations, whatever the heads, of words that are not all punctuation, as in eval.pl.",
    gold_word_metric(
        *("label-conllx.v1", "Label accuracy (CoNLL-X)", "deprel"),
        lambda pair: accuracy_counts(pair, pair.equal("deprel"), PUNCTUATION["form"](pair.gold)),
    ),
)


def _spacy_counts(pair: Pair, *, labelled: bool) -> Counts:
    gold, predicted = pair.which("deprel", lambda relation: relation.lower() not in SPACY_IGNORED)
    right = pair.heads_equal & np.asarray(pair.at_gold(gold)) & np.asarray(pair.at_predicted(predicted))
    if labelled:
        right &= pair.equal("deprel", str.lower)
    units = pair.units
    return np.stack([units.of_gold(pair.on_gold(right)), units.of_gold(gold), units.of_predicted(predicted)], axis=1)


for _name, _compares in (("UAS", "head"), ("LAS", "tree")):
    _counts = partial(_spacy_counts, labelled=_compares == "tree")
    register(
        "F1 over the sets of gold and predicted arcs, each without those labelled p or punct, as spaCy counts.",
        Metric(f"{_name.lower()}-spacy.v1", f"{_name} (spaCy)", _counts, f1, compares=_compares),
    )


@METRICS.add("accuracy.v1")
def token_accuracy(*, column: str = "upos") -> Metric:
    """Words with the right value in a column, of all words."""

    def counts(pair: Pair) -> Counts:
        return accuracy_counts(pair, pair.equal(column), np.ones(pair.gold.words, bool))

    return gold_word_metric("accuracy.v1", f"Accuracy ({column})", column, counts)


@METRICS.add("sentence-accuracy.v1")
def sentence_accuracy(*, column: str = "upos") -> Metric:
    """Sentences with every value of a column right."""

    def counts(pair: Pair) -> Counts:
        return sentence_counts(pair, ~pair.equal(column))

    return gold_word_metric("sentence-accuracy.v1", f"Sentence accuracy ({column})", column, counts)


def known_words(training: Corpus, gold: Corpus, _: str) -> Flags:
    """Flag gold words whose form occurs in the training file; case matters."""
    forms, seen = gold.column("form"), training.column("form")
    codes = seen.vocabulary.codes_of(forms.vocabulary)
    occurs = seen.frequencies() > 0  # the vocabulary also has the forms of multiword tokens, and `_`
    return np.asarray(((codes >= 0) & occurs[codes])[forms.codes])


def ambiguous_words(training: Corpus, gold: Corpus, column: str) -> Flags:
    """Flag gold words whose form occurs in the training file with two or more values of a column."""
    seen, tags, forms = training.column("form"), training.column(column), gold.column("form")
    combined = np.unique(seen.codes.astype(np.int64) * len(tags.vocabulary) + tags.codes)
    values = np.bincount(combined // len(tags.vocabulary), minlength=len(seen.vocabulary))
    codes = seen.vocabulary.codes_of(forms.vocabulary)
    return np.asarray(((codes >= 0) & (values[codes] > 1))[forms.codes])


def _word_class(name: str, description: str, select: Callable[[Corpus, Corpus, str], Flags]) -> None:
    def make(*, column: str = "upos") -> Metric:
        def counts(pair: Pair) -> Counts:
            if pair.training is None:
                raise InputError(f"{name}.v1: no training file; expected one, to tell known words from unknown ones")
            return accuracy_counts(pair, pair.equal(column), select(pair.training, pair.gold, column))

        return gold_word_metric(f"{name}.v1", f"{name.title()} words ({column})", column, counts)

    make.__doc__ = description
    METRICS.add(f"{name}.v1")(make)


_word_class("known", "Accuracy on words that occur in the training file.", known_words)
_word_class(
    *("unknown", "Accuracy on words that do not occur in the training file; NaN if there are none."),
    lambda training, gold, column: ~known_words(training, gold, column),
)
_word_class("ambiguous", "Accuracy on words with several values in the training file.", ambiguous_words)


@METRICS.add("tag.v1")
def tag(*, label: str = "", column: str = "upos") -> Metric:
    """Precision, recall and F1 of one tag."""

    def counts(pair: Pair) -> Counts:
        return aligned_counts(pair, pair.equal(column), pair.which(column, label.__eq__))[:, :3]

    return Metric("tag.v1", label, counts, f1, compares=column)


@METRICS.add("relation.v1")
def relation(*, label: str = "", subtypes: bool = False) -> Metric:
    """Precision, recall and F1 of the arcs of one relation: head and relation right."""
    key: Callable[[str], str] = str if subtypes else main_label

    def counts(pair: Pair) -> Counts:
        arcs = pair.which("deprel", lambda value: key(value) == label)
        return aligned_counts(pair, pair.heads_equal & pair.equal("deprel", key), arcs)[:, :3]

    return Metric("relation.v1", label, counts, f1, compares="tree")
