"""UAS and LAS as other tools count them, each under its own name, so that a number says how it was counted.

They differ in which words count (punctuation by form, tag or relation) and in whether subtypes of relations matter.
All but spaCy's are defined for gold words only.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import numpy as np

from deadheat.corpus import Corpus
from deadheat.errors import InputError, NameUnknown
from deadheat.metrics.metric import METRICS, Counts, Metric, accuracy, f1
from deadheat.metrics.pair import Flags, Pair
from deadheat.metrics.universal import main_label

PENN_PUNCTUATION = frozenset(["``", "''", ":", ",", "."])
SPACY_IGNORED = frozenset(["p", "punct"])
LABELS: dict[str, Callable[[str], object] | None] = {"full": str, "main": main_label, "none": None}


def is_punctuation(form: str) -> bool:
    """Return whether a form has only characters of Unicode categories P*."""
    return bool(form) and all(unicodedata.category(c).startswith("P") for c in form)


def _kept(column: str, drop: Callable[[str], bool]) -> Callable[[Corpus], Flags]:
    def kept(corpus: Corpus) -> Flags:
        values = corpus.column(column)
        return np.asarray(~values.vocabulary.which(drop)[values.codes])

    return kept


PUNCTUATION: dict[str, Callable[[Corpus], Flags]] = {
    "counted": lambda corpus: np.ones(corpus.words, bool),
    "form": _kept("form", is_punctuation),
    "upos": _kept("upos", lambda tag: tag == "PUNCT"),
    "deprel": _kept("deprel", lambda relation: main_label(relation) == "punct"),
    "penn": _kept("xpos", PENN_PUNCTUATION.__contains__),
}


def _right(pair: Pair, labels: str) -> Flags:
    key = LABELS[labels]
    return pair.heads_equal if key is None else np.asarray(pair.heads_equal & pair.equal("deprel", key))


def _accuracy_counts(pair: Pair, right: Flags, kept: Flags) -> Counts:
    total = pair.units.of_gold(kept)
    return np.stack([pair.units.of_gold(right & kept), total, total], axis=1)


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

    def counts(pair: Pair) -> Counts:
        pair.require_same_words("attachment.v1")
        return _accuracy_counts(pair, _right(pair, labels), PUNCTUATION[punctuation](pair.gold))

    label = "UAS (" if labels == "none" else f"LAS ({labels} labels, "
    label += f"punctuation {punctuation})"
    return Metric("attachment.v1", label, counts, accuracy, compares="head" if labels == "none" else "tree")


def _preset(name: str, label: str, description: str, labels: str, punctuation: str) -> None:
    def maker() -> Metric:
        def counts(pair: Pair) -> Counts:
            pair.require_same_words(f"{name}.v1")
            return _accuracy_counts(pair, _right(pair, labels), PUNCTUATION[punctuation](pair.gold))

        return Metric(f"{name}.v1", label, counts, accuracy, compares="head" if labels == "none" else "tree")

    maker.__doc__ = description
    METRICS.add(f"{name}.v1")(maker)


for _tool, _label, _punctuation, _words in (
    ("supar", "SuPar", "form", "words that are not all punctuation characters"),
    ("conllx", "CoNLL-X", "form", "words that are not all punctuation characters, as eval.pl without -p"),
    ("machamp", "MaChAmp", "counted", "all words"),
    ("ptb", "PTB", "penn", "words whose gold XPOS is not one of the five Penn punctuation tags"),
):
    _preset(f"uas-{_tool}", f"UAS ({_label})", f"Right heads of {_words}.", "none", _punctuation)
    _preset(f"las-{_tool}", f"LAS ({_label})", f"Right heads and full relations of {_words}.", "full", _punctuation)


@METRICS.add("label-conllx.v1")
def label_conllx() -> Metric:
    """Right full relations, whatever the heads, of words that are not all punctuation, as in eval.pl."""

    def counts(pair: Pair) -> Counts:
        pair.require_same_words("label-conllx.v1")
        return _accuracy_counts(pair, pair.equal("deprel"), PUNCTUATION["form"](pair.gold))

    return Metric("label-conllx.v1", "Label accuracy (CoNLL-X)", counts, accuracy, compares="deprel")


def _complete(name: str, label: str, labels: str) -> None:
    def maker() -> Metric:
        def counts(pair: Pair) -> Counts:
            pair.require_same_words(f"{name}.v1")
            wrong = ~_right(pair, labels) & PUNCTUATION["form"](pair.gold)
            right = (
                np.add.reduceat(wrong, pair.gold.offsets[:-1], dtype=np.int64) == 0 if pair.gold.sentences else wrong
            )
            return sentence_counts(pair, np.asarray(right))

        return Metric(f"{name}.v1", label, counts, accuracy, compares="head" if labels == "none" else "tree")

    maker.__doc__ = "Sentences with every word right, as SuPar counts words."
    METRICS.add(f"{name}.v1")(maker)


_complete("ucm-supar", "UCM (SuPar)", "none")
_complete("lcm-supar", "LCM (SuPar)", "full")


def sentence_counts(pair: Pair, right: Flags) -> Counts:
    """Count right sentences per unit."""
    if pair.units.name == "token":
        raise InputError("a metric of whole sentences with tokens as units; expected sentences or documents")
    starts = pair.units.gold_sentences
    total = np.diff(starts, append=pair.gold.sentences)
    correct = np.add.reduceat(right, starts, dtype=np.int64) if len(starts) else total
    return np.stack([correct, total, total], axis=1)


def _spacy(name: str, label: str, *, labelled: bool) -> None:
    def maker() -> Metric:
        def counts(pair: Pair) -> Counts:
            columns = pair.gold.column("deprel"), pair.predicted.column("deprel")
            gold, predicted = (~c.vocabulary.which(lambda r: r.lower() in SPACY_IGNORED)[c.codes] for c in columns)
            right = pair.heads_equal & np.asarray(pair.at_gold(gold)) & np.asarray(pair.at_predicted(predicted))
            if labelled:
                right &= pair.equal("deprel", str.lower)
            units = pair.units
            parts = units.of_gold(pair.on_gold(right)), units.of_gold(gold), units.of_predicted(predicted)
            return np.stack(parts, axis=1)

        return Metric(f"{name}.v1", label, counts, f1, compares="tree" if labelled else "head")

    maker.__doc__ = (
        "F1 over the sets of gold and predicted arcs, each without those labelled p or punct, as spaCy counts."
    )
    METRICS.add(f"{name}.v1")(maker)


_spacy("uas-spacy", "UAS (spaCy)", labelled=False)
_spacy("las-spacy", "LAS (spaCy)", labelled=True)
