"""Baselines for taggers: the most frequent label for all words, and the most frequent label of each word."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.transforms import with_labels
from deadheat.corpus.vocabulary import Codes, Column, Vocabulary, recode
from deadheat.systems.features import seen_strings
from deadheat.systems.system import SYSTEMS, System, training_labels


@SYSTEMS.add("majority.v1")
def majority(*, column: str = "upos") -> System:
    r"""Every word gets the most frequent label; ties go to the first by name.

    Examples
    --------
    >>> from deadheat.corpus import read, to_bytes
    >>> train = read(text="the_DT heat_NN\nthe_DT dead_JJ\n")
    >>> model = SYSTEMS.make("majority(column='tag')").train(train, None, 0)
    >>> to_bytes(model.predict(read(text="a_? heat_?\n")))
    b'a_DT heat_DT\n'
    """

    def train(train: Corpus, tune: Corpus | None, seed: int) -> Lookup:
        labels, codes = sorted_labels(training_labels(train, column, "majority.v1"))
        return Lookup(column, labels, Vocabulary.of([]), np.empty(0, np.int32), np.bincount(codes).argmax())

    return System("majority.v1", train, randomness="none")


@SYSTEMS.add("unigram.v1")
def unigram(*, column: str = "upos") -> System:
    r"""Every word gets its most frequent label, unseen words the most frequent of all.

    Words are compared by their forms, including case; ties go to the first label by name.

    Examples
    --------
    >>> from deadheat.corpus import read, to_bytes
    >>> train = read(text="the_DT heat_NN\nthe_DT dead_JJ\n")
    >>> model = SYSTEMS.make("unigram(column='tag')").train(train, None, 0)
    >>> to_bytes(model.predict(read(text="a_? heat_?\n")))
    b'a_DT heat_NN\n'
    """

    def train(train: Corpus, tune: Corpus | None, seed: int) -> Lookup:
        labels, codes = sorted_labels(training_labels(train, column, "unigram.v1"))
        forms, size = train.column("form"), np.int64(len(labels))
        pairs, counts = np.unique(forms.codes * size + codes, return_counts=True)
        pairs = pairs[np.lexsort((-pairs, counts))]  # the most frequent last, and of ties the first label
        label_of_form = np.full(len(forms.vocabulary), -1, np.int32)
        label_of_form[pairs // size] = pairs % size  # the last assignment stays
        return Lookup(column, labels, forms.vocabulary, label_of_form, np.bincount(codes).argmax())

    return System("unigram.v1", train, randomness="none")


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """One label per form. Unseen forms have -1 and get the default label."""

    column: str
    labels: Vocabulary
    forms: Vocabulary
    label_of_form: Codes
    default: np.integer

    def predict(self, corpus: Corpus) -> Corpus:
        """The corpus with the label of every form."""
        forms = corpus.column("form")
        index = self.forms.codes_of(forms.vocabulary)
        labels = np.append(self.label_of_form, np.int32(-1))[index]  # index -1 is the one appended
        labels = np.where(labels < 0, self.default, labels).astype(np.int32)
        return with_labels(corpus, self.column, Column(labels[forms.codes], self.labels))


def sorted_labels(column: Column) -> tuple[Vocabulary, Codes]:
    """The labels that occur, sorted, and each word's label among them.

    Codes of a corpus follow the order in which labels first occur; sorted, they are the same for the same sentences.
    """
    labels = seen_strings(column)
    return labels, recode(column, labels)
