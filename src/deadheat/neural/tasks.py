"""What networks learn from corpora, labels of a column or trees, and how their predictions are scored and written.

Taggers learn chunks in the scheme that is asked for, and predict them in that of the corpus. Parsers learn heads and
relations, and may read tags and morphological features besides words.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.transforms import with_labels, with_trees
from deadheat.corpus.vocabulary import Column, Indices, Vocabulary
from deadheat.metrics.universal import main_label
from deadheat.neural import programs, text
from deadheat.neural.config import AS_IS, BracketShape, NetworkConfig, ParserConfig, Shape, TaggerConfig
from deadheat.neural.features import FeatureSource
from deadheat.neural.labels import Labels, Predicted, TargetLabels, labelled_attachment
from deadheat.neural.stack import Splits
from deadheat.neural.tagger import PLANES
from deadheat.neural.text import Encoding, Lexicon, distinct_strings, encode_columns, encode_corpora
from deadheat.trees import bracketing

ROOT = "root"
NO_TAG = ""  # stands for tags that training has not seen


@dataclass(frozen=True, slots=True, eq=False)
class TaggingTask:
    """The labels of one column."""

    shape: Shape
    encoding: Encoding
    column: str
    labels: Labels
    targets: TargetLabels
    features: FeatureSource | None = None

    @classmethod
    def of(cls, config: TaggerConfig, corpora: Sequence[Corpus], splits: Splits, lexicon: Lexicon) -> TaggingTask:
        labels = Labels.of(corpora, config.column)
        source = labels.scheme(splits.trains[0])
        targets = TargetLabels.of(labels, splits.learned, source=source, scheme=config.scheme)
        encoding = encode_corpora(corpora, targets.codes, targets.names, lexicon)
        encoding = with_features(encoding, config.features, corpora)
        labels = replace(labels, codes=targets.codes)
        return cls(config.shape, encoding, config.column, labels, targets, config.features)

    def score(self, predicted: Predicted, sentences: Indices) -> float:
        """F1 of chunks, or accuracy, of predictions for some sentences."""
        gold, offsets = self.labels.part(sentences)
        return self.targets.score(gold, predicted, offsets)

    def write(self, corpus: Corpus, predicted: Predicted) -> Corpus:
        """The corpus with predicted labels."""
        corpus.column(self.column)
        if not corpus.words:
            return corpus
        return with_labels(corpus, self.column, self.targets.column(predicted, corpus.offsets))

    def encode(self, corpus: Corpus, lexicon: Lexicon) -> Encoding:
        """Another corpus, without its labels."""
        corpus.column(self.column)
        encoding = encode_corpora([corpus], np.zeros(corpus.words, np.int32), self.targets.names, lexicon)
        return with_features(encoding, self.features, [corpus])


@dataclass(frozen=True, slots=True, eq=False)
class ParsingTask:
    """Heads and relations; with `planes`, predictions are brackets of two planes and relations."""

    shape: Shape
    encoding: Encoding
    labels: Labels  # relations
    heads: NDArray[np.int32]
    tag_column: str
    morphology: str
    planes: tuple[Vocabulary, Vocabulary] | None = None
    features: FeatureSource | None = None

    @classmethod
    def of(cls, config: ParserConfig, corpora: Sequence[Corpus], splits: Splits, lexicon: Lexicon) -> ParsingTask:
        labels = Labels.of(corpora, "deprel")
        relations = TargetLabels.of(labels, splits.learned, source=None, scheme=AS_IS)
        inside = labels.tokens(splits.learned)
        heads = np.zeros(len(labels.codes), np.int32)
        heads[inside] = np.concatenate([corpus.trees for corpus in corpora])[inside]
        tags = (NO_TAG, *distinct_strings([corpus.column(config.tags) for corpus in corpora])) if config.tags else ()
        encoding = encode_corpora(corpora, relations.codes, relations.names, lexicon)
        encoding = replace(encoding, extra={"heads": heads}, tags=tags)
        labels = Labels(relations.codes, relations.names, labels.offsets)
        task = cls(config.shape, encoding, labels, heads, config.tags, config.morphology, features=config.features)
        if isinstance(config.shape, BracketShape):
            task = task._with_brackets(config.shape)
        extra = {**task.encoding.extra, **task._inputs(corpora)}
        task = replace(task, encoding=replace(task.encoding, extra=extra))
        return replace(task, encoding=with_features(task.encoding, config.features, corpora))

    @property
    def relations(self) -> Sequence[str]:
        return self.labels.strings

    def _inputs(self, corpora: Sequence[Corpus]) -> dict[str, NDArray[np.generic]]:
        """Tags and features of every word, where they are read."""
        inputs: dict[str, NDArray[np.generic]] = {}
        if self.tag_column:
            inputs["tags"] = tag_codes(corpora, self.tag_column, self.encoding.tags)
        if self.morphology:
            inputs["morphology"] = text.feature_buckets([corpus.column(self.morphology) for corpus in corpora])
        return inputs

    def _with_brackets(self, shape: BracketShape) -> ParsingTask:
        """The same trees as brackets."""
        planes = bracketing.encode(self.heads, self.labels.offsets)
        vocabularies = planes[0].vocabulary, planes[1].vocabulary
        least = programs.padding_sizes().labels
        counts = [len(self.relations), *map(len, vocabularies)]
        sizes = [text.round_up(count, least) if least > 1 else count for count in counts]
        shape = replace(shape, relations=sizes[0], planes=(sizes[1], sizes[2]))
        encoding = replace(
            self.encoding,
            extra={name: plane.codes for name, plane in zip(PLANES, planes, strict=True)},
            labels=label_names(self.relations, vocabularies, sizes),
            kinds={name: kind.start for name, kind in zip(PLANES, shape.kinds, strict=False)},
        )
        return replace(self, shape=shape, encoding=encoding, planes=vocabularies)

    def score(self, predicted: Predicted, sentences: Indices) -> float:
        """The labelled attachment score of predictions for some sentences; subtypes of relations do not count."""
        gold, offsets = self.labels.part(sentences)
        heads = self.heads[self.labels.tokens(sentences)]
        return labelled_attachment(heads, gold, self.trees(predicted, offsets), self.relations)

    def write(self, corpus: Corpus, predicted: Predicted) -> Corpus:
        """The corpus with predicted trees."""
        trees = self.trees(predicted, corpus.offsets)
        relations = Column(trees[:, 1].astype(np.int32), Vocabulary.of(list(self.relations)))
        return with_trees(corpus, trees[:, 0].astype(np.int32), relations)

    def trees(self, predicted: Predicted, offsets: Indices) -> Predicted:
        """Heads and codes of relations."""
        if self.planes is None or not len(predicted):
            return predicted[:, :2]
        roots = [code for code, name in enumerate(self.relations) if main_label(name) == ROOT]
        return decode_brackets(predicted, self.planes, roots, offsets)

    def encode(self, corpus: Corpus, lexicon: Lexicon) -> Encoding:
        """Another corpus, without its trees."""
        zeros = np.zeros(corpus.words, np.int32)
        extra: dict[str, NDArray[np.generic]] = dict.fromkeys(self.encoding.extra, zeros)
        encoding = encode_corpora([corpus], zeros, self.relations, lexicon)
        encoding = replace(encoding, extra={**extra, **self._inputs([corpus])}, tags=self.encoding.tags)
        return with_features(encoding, self.features, [corpus])


Task: TypeAlias = TaggingTask | ParsingTask


def make_task(config: NetworkConfig, corpora: Sequence[Corpus], splits: Splits, lexicon: Lexicon) -> Task:
    """What networks learn from concatenated corpora."""
    if (source := config.features) is not None:
        config = replace(config, shape=replace(config.shape, feature_size=source.size, feature_layers=source.layers))
    if isinstance(config, ParserConfig):
        return ParsingTask.of(config, corpora, splits, lexicon)
    assert isinstance(config, TaggerConfig)
    return TaggingTask.of(config, corpora, splits, lexicon)


def task_variant(config: NetworkConfig, corpus: Corpus, train: Indices) -> Hashable:
    """Networks of one group with different variants train separately: the scheme in which a tagger writes chunks."""
    return Labels.of([corpus], config.column).scheme(np.sort(train)) if isinstance(config, TaggerConfig) else None


def with_features(encoding: Encoding, source: FeatureSource | None, corpora: Sequence[Corpus]) -> Encoding:
    """A text with the features of its words, if there is a source of them."""
    if source is None:
        return encoding
    return replace(encoding, extra={**encoding.extra, "features": source.features(corpora)})


def tag_codes(corpora: Sequence[Corpus], column: str, tags: Sequence[str]) -> NDArray[np.int32]:
    """The tag of every word as a code; 0 for those that are not among the tags."""
    return np.maximum(encode_columns([corpus.column(column) for corpus in corpora], tags), 0)


def label_names(
    relations: Sequence[str], planes: tuple[Vocabulary, Vocabulary], sizes: Sequence[int] | None = None
) -> tuple[str, ...]:
    """Names of all labels in order: relations, plane 1 (`1<`), plane 2 (`2<`); each kind padded by "" to its size."""
    kinds = list(relations), *([f"{number}{label}" for label in plane] for number, plane in enumerate(planes, 1))
    sizes = sizes or [len(names) for names in kinds]
    return tuple(name for names, size in zip(kinds, sizes, strict=True) for name in names + [""] * (size - len(names)))


def decode_brackets(
    codes: Predicted, planes: tuple[Vocabulary, Vocabulary], roots: Sequence[int], offsets: Indices
) -> NDArray[np.int32]:
    """The head and the relation of every word, (N, 2), from codes of plane 1, plane 2 and relations, (N, 3).

    `roots` are the relations that mark a root. Labels that make no tree are repaired
    (`deadheat.trees.bracketing.decode`); relations stay as they are.
    """
    first, second = (Column(np.ascontiguousarray(codes[:, plane], np.int32), planes[plane]) for plane in (0, 1))
    is_root = np.isin(codes[:, 2], roots)
    heads = bracketing.decode((first, second), is_root, np.ascontiguousarray(offsets, np.int64))
    return np.stack([heads, codes[:, 2].astype(np.int32)], axis=1)
