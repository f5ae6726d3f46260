"""Training parsers: heads and relations to learn, and tags to read besides words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.transforms import with_trees
from deadheat.corpus.vocabulary import Column, Indices, Vocabulary
from deadheat.metrics.universal import main_label
from deadheat.neural import training
from deadheat.neural.brackets import PLANES, decode_brackets, label_names
from deadheat.neural.config import AS_IS, BracketShape, ParserConfig
from deadheat.neural.jobs import TrainJob, TrainResult
from deadheat.neural.programs import padding_sizes
from deadheat.neural.stack import Splits
from deadheat.neural.tagging import Labels, TargetLabels
from deadheat.neural.text import (
    Encoding,
    Lexicon,
    distinct_strings,
    encode_columns,
    encode_corpora,
    round_up,
    tokens_of,
)
from deadheat.neural.training import Model, Predicted, Task
from deadheat.trees import bracketing

ROOT = "root"
NO_TAG = ""  # stands for tags that training has not seen


@dataclass(frozen=True, slots=True, eq=False)
class GoldTrees:
    """Trees of a text: heads, codes of relations, and where sentences begin and how long they are."""

    heads: NDArray[np.int32]
    relations: NDArray[np.int32]
    names: tuple[str, ...]  # of relations
    starts: Indices
    lengths: Indices

    @classmethod
    def of(cls, corpora: Sequence[Corpus], learned: Indices) -> GoldTrees:
        """Trees of these sentences; others are not looked at."""
        labels = Labels.of(corpora, "deprel")
        relations = TargetLabels.of(labels, learned, source=None, scheme=AS_IS)
        inside = tokens_of(labels.starts, labels.lengths, learned)
        heads = np.zeros(len(labels.codes), np.int32)
        heads[inside] = np.concatenate([corpus.trees for corpus in corpora])[inside]
        return cls(heads, relations.codes, relations.names, labels.starts, labels.lengths)

    def las(self, predicted: Predicted, sentences: Indices) -> float:
        """The labelled attachment score; subtypes of relations do not count."""
        inside = tokens_of(self.starts, self.lengths, sentences)
        _, main = np.unique([main_label(name) for name in self.names], return_inverse=True)
        right = (predicted[:, 0] == self.heads[inside]) & (main[predicted[:, 1]] == main[self.relations[inside]])
        return float(right.mean()) if len(right) else 0.0


def train_one(config: ParserConfig, train: Corpus, tune: Corpus | None, seed: int) -> Model:
    """Train a parser; tune, where there is one, picks the epoch by LAS."""
    return training.train_one(make_task, config, train, tune, seed)


def train_jobs(corpus: Corpus, jobs: Sequence[TrainJob]) -> Iterator[tuple[int, TrainResult]]:
    """Train parsers that parse parts of the corpus they learn from."""
    return training.train_jobs(make_task, corpus, jobs)


def make_task(config: ParserConfig, corpora: Sequence[Corpus], splits: Splits, lexicon: Lexicon) -> Task:
    """What parsers learn from some corpora."""
    gold = GoldTrees.of(corpora, splits.learned)
    tags = (NO_TAG, *distinct_strings([corpus.column(config.tags) for corpus in corpora])) if config.tags else ()
    encoding = encode_corpora(corpora, gold.relations, gold.names, lexicon)
    extra: dict[str, NDArray[np.generic]] = {"heads": gold.heads}
    shape, trees = config.shape, _TreeTask(gold)
    if isinstance(shape, BracketShape):
        planes = bracketing.encode(gold.heads, np.append(gold.starts, gold.lengths.sum()))
        extra = {name: plane.codes for name, plane in zip(PLANES, planes, strict=True)}
        vocabularies = planes[0].vocabulary, planes[1].vocabulary
        least = padding_sizes().labels
        counts = [len(gold.names), *map(len, vocabularies)]
        sizes = [round_up(count, least) if least > 1 else count for count in counts]
        shape = replace(shape, relations=sizes[0], planes=(sizes[1], sizes[2]))
        kinds = {name: kind.start for name, kind in zip(PLANES, shape.kinds, strict=False)}
        encoding = replace(encoding, labels=label_names(gold.names, vocabularies, sizes), kinds=kinds)
        trees = _BracketTask(gold, vocabularies)
    if tags:
        extra["tags"] = tag_codes(corpora, config.tags, tags)
    encode = partial(_encode, config.tags, tags, gold.names, tuple(extra))
    return Task(shape, replace(encoding, extra=extra, tags=tags), trees.score, trees.write, encode)


@dataclass(frozen=True, slots=True, eq=False)
class _TreeTask:
    """Predictions that are heads and relations."""

    gold: GoldTrees

    def score(self, predicted: Predicted, sentences: Indices) -> float:
        offsets = np.concatenate([[0], np.cumsum(self.gold.lengths[sentences])])
        return self.gold.las(self.trees(predicted, offsets), sentences)

    def write(self, corpus: Corpus, predicted: Predicted) -> Corpus:
        trees = self.trees(predicted, corpus.offsets)
        relations = Column(trees[:, 1].astype(np.int32), Vocabulary.of(list(self.gold.names)))
        return with_trees(corpus, trees[:, 0].astype(np.int32), relations)

    def trees(self, predicted: Predicted, offsets: Indices) -> Predicted:
        """Heads and codes of relations."""
        del offsets
        return predicted


@dataclass(frozen=True, slots=True, eq=False)
class _BracketTask(_TreeTask):
    """Predictions that are brackets of two planes, and relations."""

    planes: tuple[Vocabulary, Vocabulary]

    def trees(self, predicted: Predicted, offsets: Indices) -> Predicted:
        if not len(predicted):
            return predicted[:, :2]
        roots = [code for code, name in enumerate(self.gold.names) if main_label(name) == ROOT]
        return cast(Predicted, decode_brackets(predicted, self.planes, roots, offsets))


def _encode(
    column: str, tags: tuple[str, ...], names: tuple[str, ...], extra: tuple[str, ...], corpus: Corpus, lexicon: Lexicon
) -> Encoding:
    """Another corpus, without its trees."""
    zeros = np.zeros(corpus.words, np.int32)
    arrays: dict[str, NDArray[np.generic]] = dict.fromkeys(extra, zeros)
    if tags:
        arrays["tags"] = tag_codes([corpus], column, tags)
    return replace(encode_corpora([corpus], zeros, names, lexicon), extra=arrays, tags=tags)


def tag_codes(corpora: Sequence[Corpus], column: str, tags: Sequence[str]) -> NDArray[np.int32]:
    """The tag of every word as a code; 0 for those that are not among the tags."""
    return np.maximum(encode_columns([corpus.column(column) for corpus in corpora], tags), 0)
