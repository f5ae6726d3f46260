"""What a network learns of corpora, labels of a column or trees, and how its predictions are scored and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.transforms import with_labels, with_trees
from deadheat.corpus.vocabulary import Column, Indices, Vocabulary
from deadheat.finetuning.config import FinetuningConfig
from deadheat.neural.config import AS_IS
from deadheat.neural.labels import Labels, Predicted, TargetLabels, labelled_attachment


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """Gold labels of the sentences that a network may see, and heads if it parses; 0 for all others."""

    config: FinetuningConfig
    labels: Labels
    names: TargetLabels
    known: NDArray[np.bool_]  # which labels are in train
    heads: NDArray[np.int32] | None

    @classmethod
    def of(cls, config: FinetuningConfig, corpora: Sequence[Corpus], train: Indices, tune: Indices | None) -> Targets:
        """The targets of concatenated corpora."""
        labels = Labels.of(corpora, "deprel" if config.parses else config.column)
        learned = np.unique(np.concatenate([train, tune])) if tune is not None else np.sort(train)
        source = None if config.parses else labels.scheme(np.sort(train))
        names = TargetLabels.of(labels, learned, source=source, scheme=AS_IS if config.parses else config.scheme)
        labels = replace(labels, codes=names.codes)
        known = np.zeros(len(names.names), bool)
        known[labels.part(train)[0]] = True
        heads = None
        if config.parses:
            words = labels.tokens(learned)
            heads = np.zeros(len(labels.codes), np.int32)
            heads[words] = np.concatenate([corpus.trees for corpus in corpora])[words]
        return cls(config, labels, names, known, heads)

    def gold(self, sentences: Indices) -> dict[str, NDArray[np.int64]]:
        """Gold labels, and heads if there are any, of some sentences as rows, padded by 0."""
        lengths = np.diff(self.labels.offsets)[sentences]
        places = np.arange(int(lengths.max())) < lengths[:, None]
        words = self.labels.tokens(sentences)
        rows = (
            {"labels": self.labels.codes} if self.heads is None else {"labels": self.labels.codes, "heads": self.heads}
        )
        padded = {name: np.zeros(places.shape, np.int64) for name in rows}
        for name, codes in rows.items():
            padded[name][places] = codes[words]
        return padded

    def score(self, predicted: Predicted, sentences: Indices) -> float:
        """Accuracy, F1 of chunks or the labelled attachment score of predictions for some sentences."""
        gold, offsets = self.labels.part(sentences)
        if self.heads is None:
            return self.names.score(gold, predicted[:, 0], offsets)
        return labelled_attachment(self.heads[self.labels.tokens(sentences)], gold, predicted, self.names.names)

    def write(self, corpus: Corpus, predicted: Predicted) -> Corpus:
        """The corpus with predicted labels or trees."""
        if not self.config.parses:
            corpus.column(self.config.column)
            if not corpus.words:
                return corpus
            return with_labels(corpus, self.config.column, self.names.column(predicted[:, 0], corpus.offsets))
        relations = Column(np.ascontiguousarray(predicted[:, 1], np.int32), Vocabulary.of(list(self.names.names)))
        return with_trees(corpus, np.ascontiguousarray(predicted[:, 0], np.int32), relations)
