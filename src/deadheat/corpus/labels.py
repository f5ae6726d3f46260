"""Other labels for the words of a corpus."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deadheat.corpus.corpus import Corpus
from deadheat.corpus.vocabulary import Codes, Column, Vocabulary


def with_labels(corpus: Corpus, name: str, labels: Column) -> Corpus:
    """A corpus with other labels in one column of its words; empty nodes and multiword tokens keep theirs.

    Those share the vocabulary of the column, so new labels are put behind the old ones.
    """
    old = corpus.column(name).vocabulary
    if len(corpus.extras):
        place = old.codes_of(labels.vocabulary)
        new = np.flatnonzero(place < 0)
        place[new] = len(old) + np.arange(len(new))
        both = Vocabulary.of([*old.strings, *(labels.vocabulary[code] for code in new.tolist())]) if len(new) else old
        labels = Column(place[labels.codes], both)
    return replace(corpus, columns={**corpus.columns, name: labels})


def with_trees(corpus: Corpus, heads: Codes, relations: Column) -> Corpus:
    """A corpus with other heads and relations of its words."""
    return replace(with_labels(corpus, "deprel", relations), heads=np.asarray(heads, np.int32))
