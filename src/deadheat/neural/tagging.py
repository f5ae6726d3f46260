"""Training taggers: the labels of a column, with chunks in the requested scheme, and back to those of the corpus."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.transforms import with_labels
from deadheat.corpus.vocabulary import Column, Indices, Vocabulary
from deadheat.errors import InputError
from deadheat.neural import training
from deadheat.neural.config import AS_IS, TaggerConfig
from deadheat.neural.jobs import TrainJob, TrainResult
from deadheat.neural.schemes import f1_of, recode, scheme_of
from deadheat.neural.stack import Splits
from deadheat.neural.text import Encoding, Lexicon, distinct_strings, encode_columns, encode_corpora, tokens_of
from deadheat.neural.training import Model, Predicted, Task

Codes = NDArray[np.integer]


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Label strings of a text: a code for every word, and where sentences begin and how long they are."""

    codes: Codes
    strings: Sequence[str]
    starts: Indices
    lengths: Indices

    @classmethod
    def of(cls, corpora: Sequence[Corpus], name: str) -> Labels:
        """The labels of a column of concatenated corpora."""
        columns = [corpus.column(name) for corpus in corpora]
        lengths = np.concatenate([np.diff(corpus.offsets).astype(np.int64) for corpus in corpora])
        strings = distinct_strings(columns)
        return cls(encode_columns(columns, strings), strings, np.cumsum(lengths) - lengths, lengths)

    def part(self, sentences: Indices) -> tuple[Codes, Indices]:
        """Codes of some sentences' words, and the offsets of these sentences."""
        codes = self.codes[tokens_of(self.starts, self.lengths, sentences)]
        return codes, np.concatenate([[0], np.cumsum(self.lengths[sentences])])

    def scheme(self, sentences: Indices) -> str | None:
        """The scheme of these sentences' labels; None for plain tags."""
        return scheme_of(self.strings, *self.part(sentences))


@dataclass(frozen=True, slots=True, eq=False)
class TargetLabels:
    """What networks learn: a code for every word of the sentences they may see, 0 for all others."""

    names: tuple[str, ...]
    source: str | None  # the scheme of the corpus; None for plain tags
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, labels: Labels, sentences: Indices, *, source: str | None, scheme: str) -> TargetLabels:
        """Labels of these sentences in a scheme; others are not looked at."""
        old, offsets = labels.part(sentences)
        if source is not None:
            new, names = recode(old, labels.strings, offsets, target=source if scheme == AS_IS else scheme)
        elif scheme == AS_IS:
            used = np.flatnonzero(np.bincount(old))
            names = tuple(labels.strings[code] for code in used.tolist())
            new = np.searchsorted(used, old).astype(np.int32)
        else:
            raise InputError(f"scheme={scheme!r}: the labels are no chunks; expected some such as B-NP, or 'as-is'")
        codes = np.zeros(len(labels.codes), np.int32)
        codes[tokens_of(labels.starts, labels.lengths, sentences)] = new
        return cls(names, source, codes)

    def score(self, gold: Codes, predicted: Codes, offsets: Indices) -> float:
        """F1 of chunks, or accuracy."""
        if self.source is not None:
            return f1_of(gold, predicted, self.names, offsets)
        return float((gold == predicted).mean()) if len(gold) else 0.0

    def column(self, predicted: Codes, offsets: Indices) -> Column:
        """Predicted labels in the scheme of the corpus; invalid sequences are repaired as conlleval reads them."""
        names, codes = self.names, predicted
        if self.source is not None:
            codes, names = recode(predicted, names, offsets, target=self.source)
        return Column(np.asarray(codes, np.int32), Vocabulary.of(list(names)))


@dataclass(frozen=True, slots=True, eq=False)
class _ColumnTask:
    """The labels of one column: how predictions are scored and written."""

    name: str
    labels: Labels
    targets: TargetLabels

    def score(self, predicted: Predicted, sentences: Indices) -> float:
        gold, offsets = replace(self.labels, codes=self.targets.codes).part(sentences)
        return self.targets.score(gold, predicted, offsets)

    def write(self, corpus: Corpus, predicted: Predicted) -> Corpus:
        corpus.column(self.name)
        if not corpus.words:
            return corpus
        return with_labels(corpus, self.name, self.targets.column(predicted, corpus.offsets))

    def encode(self, corpus: Corpus, lexicon: Lexicon) -> Encoding:
        corpus.column(self.name)
        return encode_corpora([corpus], np.zeros(corpus.words, np.int32), self.targets.names, lexicon)


def train_one(config: TaggerConfig, train: Corpus, tune: Corpus | None, seed: int) -> Model:
    """Train a tagger; tune, where there is one, picks the epoch."""
    return training.train_one(make_task, config, train, tune, seed)


def train_jobs(corpus: Corpus, jobs: Sequence[TrainJob]) -> Iterator[tuple[int, TrainResult]]:
    """Train taggers that label parts of the corpus they learn from."""
    return training.train_jobs(make_task, corpus, jobs, task_variant)


def make_task(config: TaggerConfig, corpora: Sequence[Corpus], splits: Splits, lexicon: Lexicon) -> Task:
    """What taggers learn from some corpora."""
    labels = Labels.of(corpora, config.column)
    source = labels.scheme(splits.trains[0])
    targets = TargetLabels.of(labels, splits.learned, source=source, scheme=config.scheme)
    column = _ColumnTask(config.column, labels, targets)
    encoding = encode_corpora(corpora, targets.codes, targets.names, lexicon)
    return Task(config.shape, encoding, column.score, column.write, column.encode)


def task_variant(config: TaggerConfig, corpus: Corpus, train: Indices) -> Hashable:
    """The scheme of the training sentences, in which chunks are written."""
    return Labels.of([corpus], config.column).scheme(np.sort(train))
