"""The labels that networks learn, for the sentences that they may see, and how predictions for them are scored.

Nothing here imports jax: networks in PyTorch learn the same labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.corpus import Corpus
from deadheat.corpus.vocabulary import Column, Indices, Vocabulary, offsets_of
from deadheat.errors import InputError
from deadheat.metrics.universal import main_label
from deadheat.neural.config import AS_IS
from deadheat.neural.schemes import f1_of, recode, scheme_of
from deadheat.neural.text import distinct_strings, encode_columns, tokens_of

Codes: TypeAlias = NDArray[np.integer]
Predicted: TypeAlias = NDArray[np.integer]  # one row per word


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


def labelled_attachment(heads: Codes, relations: Codes, trees: Predicted, names: Sequence[str]) -> float:
    """The labelled attachment score of trees, a head and a relation per word; subtypes of relations do not count."""
    _, main = np.unique([main_label(name) for name in names], return_inverse=True)
    right = (trees[:, 0] == heads) & (main[trees[:, 1]] == main[relations])
    return float(right.mean()) if len(right) else 0.0
