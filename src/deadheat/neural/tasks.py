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
from deadheat.corpus.vocabulary import Column, Indices, Vocabulary, offsets_of
from deadheat.errors import InputError
from deadheat.metrics.universal import main_label
from deadheat.neural import programs, text
from deadheat.neural.config import AS_IS, BracketShape, NetworkConfig, ParserConfig, Shape, TaggerConfig
from deadheat.neural.schemes import f1_of, recode, scheme_of
from deadheat.neural.stack import Splits
from deadheat.neural.tagger import PLANES
from deadheat.neural.text import Encoding, Lexicon, distinct_strings, encode_columns, encode_corpora, tokens_of
from deadheat.trees import bracketing

Codes: TypeAlias = NDArray[np.integer]
Predicted: TypeAlias = NDArray[np.integer]  # one row per word

ROOT = "root"
NO_TAG = ""  # stands for tags that training has not seen


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Label strings of a text: a code for every word, and the first word of every sentence and the number of words."""

    codes: Codes
    strings: Sequence[str]
    offsets: Indices

    @classmethod
    def of(cls, corpora: Sequence[Corpus], name: str) -> Labels:
        """The labels of a column of concatenated corpora."""
        columns = [corpus.column(name) for corpus in corpora]
        strings = distinct_strings(columns)
        offsets = offsets_of(np.concatenate([np.diff(corpus.offsets) for corpus in corpora]))
        return cls(encode_columns(columns, strings), strings, offsets)

    def tokens(self, sentences: Indices) -> Indices:
        """Positions of all words of some sentences."""
        return tokens_of(self.offsets, np.diff(self.offsets), sentences)

    def part(self, sentences: Indices) -> tuple[Codes, Indices]:
        """Codes of some sentences' words, and the offsets of these sentences."""
        return self.codes[self.tokens(sentences)], offsets_of(np.diff(self.offsets)[sentences])

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
        codes[labels.tokens(sentences)] = new
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
class TaggingTask:
    """The labels of one column."""

    shape: Shape
    encoding: Encoding
    column: str
    labels: Labels
    targets: TargetLabels

    @classmethod
    def of(cls, config: TaggerConfig, corpora: Sequence[Corpus], splits: Splits, lexicon: Lexicon) -> TaggingTask:
        labels = Labels.of(corpora, config.column)
        source = labels.scheme(splits.trains[0])
        targets = TargetLabels.of(labels, splits.learned, source=source, scheme=config.scheme)
        encoding = encode_corpora(corpora, targets.codes, targets.names, lexicon)
        return cls(config.shape, encoding, config.column, replace(labels, codes=targets.codes), targets)

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
        return encode_corpora([corpus], np.zeros(corpus.words, np.int32), self.targets.names, lexicon)


@dataclass(frozen=True, slots=True, eq=False)
class ParsingTask:
    """Heads and relations; with `planes`, predictions are brackets of two planes and relations."""

    shape: Shape
    encoding: Encoding
    labels: Labels  # relations
    heads: NDArray[np.int32]
    tag_column: str
    feature_column: str
    planes: tuple[Vocabulary, Vocabulary] | None = None

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
        task = cls(config.shape, encoding, labels, heads, config.tags, config.features)
        if isinstance(config.shape, BracketShape):
            task = task._with_brackets(config.shape)
        extra = {**task.encoding.extra, **task._inputs(corpora)}
        return replace(task, encoding=replace(task.encoding, extra=extra))

    @property
    def relations(self) -> Sequence[str]:
        return self.labels.strings

    def _inputs(self, corpora: Sequence[Corpus]) -> dict[str, NDArray[np.generic]]:
        """Tags and features of every word, where they are read."""
        inputs: dict[str, NDArray[np.generic]] = {}
        if self.tag_column:
            inputs["tags"] = tag_codes(corpora, self.tag_column, self.encoding.tags)
        if self.feature_column:
            inputs["features"] = text.feature_buckets([corpus.column(self.feature_column) for corpus in corpora])
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
        trees = self.trees(predicted, offsets)
        _, main = np.unique([main_label(name) for name in self.relations], return_inverse=True)
        right = (trees[:, 0] == self.heads[self.labels.tokens(sentences)]) & (main[trees[:, 1]] == main[gold])
        return float(right.mean()) if len(right) else 0.0

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
        return replace(encoding, extra={**extra, **self._inputs([corpus])}, tags=self.encoding.tags)


Task: TypeAlias = TaggingTask | ParsingTask


def make_task(config: NetworkConfig, corpora: Sequence[Corpus], splits: Splits, lexicon: Lexicon) -> Task:
    """What networks learn from concatenated corpora."""
    if isinstance(config, ParserConfig):
        return ParsingTask.of(config, corpora, splits, lexicon)
    assert isinstance(config, TaggerConfig)
    return TaggingTask.of(config, corpora, splits, lexicon)


def task_variant(config: NetworkConfig, corpus: Corpus, train: Indices) -> Hashable:
    """Networks of one group with different variants train separately: the scheme in which a tagger writes chunks."""
    return Labels.of([corpus], config.column).scheme(np.sort(train)) if isinstance(config, TaggerConfig) else None


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
