"""What any tagger must beat: the commonest label for all words, and the commonest label of each word."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.transforms import with_labels
from deadheat.corpus.vocabulary import Codes, Column, Indices, Vocabulary
from deadheat.systems.system import SYSTEMS, System, checked_training


@SYSTEMS.add("majority.v1")
def majority(*, column: str = "upos") -> System:
    r"""Every word gets the commonest label; of equally common ones the first by name.

    Examples
    --------
    >>> from deadheat.corpus import read, to_bytes
    >>> train = read(text="the_DT heat_NN\nthe_DT dead_JJ\n")
    >>> model = SYSTEMS.make("majority(column='tag')").train(train, None, 0)
    >>> to_bytes(model.predict(read(text="a_? heat_?\n")))
    b'a_DT heat_DT\n'
    """

    def train(train: Corpus, tune: Corpus | None, seed: int) -> Lookup:
        labels, codes = sorted_labels(checked_training(train, column, "majority.v1"))
        commonest = int(np.argmax(np.bincount(codes)))
        return Lookup(column, labels, Vocabulary.of([]), np.empty(0, np.int32), commonest)

    return System("majority.v1", train, seeded=False)


@SYSTEMS.add("unigram.v1")
def unigram(*, column: str = "upos") -> System:
    r"""Every word gets its commonest label, words that were not seen the commonest of all.

    Words are told apart by their forms, case and all; of equally common labels the first by name is taken.

    Examples
    --------
    >>> from deadheat.corpus import read, to_bytes
    >>> train = read(text="the_DT heat_NN\nthe_DT dead_JJ\n")
    >>> model = SYSTEMS.make("unigram(column='tag')").train(train, None, 0)
    >>> to_bytes(model.predict(read(text="a_? heat_?\n")))
    b'a_DT heat_NN\n'
    """

    def train(train: Corpus, tune: Corpus | None, seed: int) -> Lookup:
        labels, codes = sorted_labels(checked_training(train, column, "unigram.v1"))
        forms = train.column("form")
        commonest = int(np.argmax(np.bincount(codes)))
        return Lookup(column, labels, forms.vocabulary, _commonest_of_each(forms, codes, len(labels)), commonest)

    return System("unigram.v1", train, seeded=False)


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """A label a form. Forms that were not seen have -1 and get the common label."""

    column: str
    labels: Vocabulary
    forms: Vocabulary
    label_of_form: Codes
    common: int

    def predict(self, corpus: Corpus) -> Corpus:
        """The corpus with the label of every form."""
        forms = corpus.column("form")
        place = self.forms.codes_of(forms.vocabulary)
        known = np.append(self.label_of_form, np.int32(-1))[place]  # place -1 is the one appended
        chosen = np.where(known < 0, np.int32(self.common), known)
        return with_labels(corpus, self.column, Column(chosen[forms.codes], self.labels))


def sorted_labels(column: Column) -> tuple[Vocabulary, Codes]:
    """The labels that occur, by name, and the number of each word's label among them.

    How a corpus numbers its labels says where they first stood; sorted, they are the same for the same sentences.
    """
    occurring = np.flatnonzero(column.frequencies()).tolist()
    names = {column.vocabulary[code]: code for code in occurring}
    number = np.full(len(column.vocabulary), -1, np.int32)
    for rank, name in enumerate(sorted(names)):
        number[names[name]] = rank
    return Vocabulary.of(sorted(names)), number[column.codes]


def _commonest_of_each(forms: Column, labels: Codes, size: int) -> Codes:
    """The commonest label of every form, the first of equally common ones; -1 for forms without any."""
    pairs, counts = np.unique(forms.codes * np.int64(size) + labels, return_counts=True)
    order: Indices = np.lexsort((-pairs, counts))  # commonest last, and of equally common ones the first label
    chosen = np.full(len(forms.vocabulary), -1, np.int32)
    chosen[pairs[order] // size] = pairs[order] % size  # the last assignment stays
    return chosen
